# ===- __init__.py - Small models, one corner of the semantics each -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Small models, one corner of docs/Spec.md each, by theme. See registry.py."""
