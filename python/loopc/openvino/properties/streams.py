# ===- streams.py - Runs at a time -------------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs at a time; requests decide it here."""

from loopc.openvino._properties import Property


class Num:
    """A number of streams."""

    AUTO = -1
    NUMA = -2

    def __init__(self, num: int = AUTO) -> None:
        self.num = num

    def to_integer(self) -> int:
        """The number."""
        return self.num


num = Property("NUM_STREAMS")
