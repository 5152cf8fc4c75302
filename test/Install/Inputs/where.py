# ===- where.py - Which package was installed -------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Imports the package that was installed below a prefix, and says what it found."""

import pathlib
import sys

(site,) = pathlib.Path(sys.argv[1]).glob("lib/python*/site-packages")
sys.path.insert(0, str(site))

import loopc  # noqa: E402

print(loopc.__version__, pathlib.Path(loopc.__file__).parent)
