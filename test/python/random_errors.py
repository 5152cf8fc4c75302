# ===- random_errors.py - Why a value of a random program is none -----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What is raised by NumPy's idea of a random program or network, in place of a value."""

from __future__ import annotations


class NoValueError(Exception):
    """A value that is not computed."""


class ExpectedError(NoValueError):
    """A run that needs the value ends with an error, in whose text `reason` has a match."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class MissingElementsError(ExpectedError):
    """Of slices that are missing, or of a value of which only the extents are read.

    A value of which no elements are read need not be computed, and its error goes with it.
    """


class UnclearError(NoValueError):
    """Nothing says what comes out; an error whose text `reason` matches may."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class TooLongError(NoValueError):
    """More trips or elements than a random program is worth."""
