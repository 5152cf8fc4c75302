# ===- log.py - How much is logged -------------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""How much is logged; loopc's log is Python's, "loopc"."""

from enum import Enum

from loopc.openvino._properties import Property


class Level(Enum):
    """The least that is logged."""

    NO = -1
    ERR = 0
    WARNING = 1
    INFO = 2
    DEBUG = 3
    TRACE = 4


level = Property("LOG_LEVEL")
