# ===- _enums.py - Enumerations that print their names ----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The base of enumerations whose members other packages print as `Kind.NAME`."""

from enum import Enum, IntEnum


class Named(IntEnum):
    """A number that prints as onnxruntime's and TensorRT's do: LayerType.SHUFFLE."""

    __str__ = Enum.__str__
    __format__ = Enum.__format__
