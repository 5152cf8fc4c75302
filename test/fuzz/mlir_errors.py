# ===- mlir_errors.py - Why a program of MLIR has no outputs ----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What is raised by NumPy's idea of a program, in place of outputs."""

from __future__ import annotations


class RunError(Exception):
    """The program ends with an error."""


class UndefinedError(Exception):
    """MLIR does not say what the program does: shapes that a cast or a sum relies on differ.

    Or a rounding decides which way it goes.
    """
