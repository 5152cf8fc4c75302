# ===- folders.py - What a C compiler is told -------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Prints a C compiler's arguments for the package that is imported."""

import loopc

print(f"-I{loopc.get_include()}", *(f"-L{folder}" for folder in loopc.get_library_dirs()))
