# ===- exact_peer.py - Integers whose products onnxruntime adds exactly ------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Weights of 8 bits that can be compared with onnxruntime on this processor.

On x86 without VNNI it adds pairs of products of uint8 and int8 in 16 bits, with
saturation; loopc's sums are exact on every machine. Two products of 255 and a number
of 7 bits fit.
"""

import functools
from pathlib import Path
from typing import Any

import numpy as np


@functools.cache
def saturates() -> bool:
    """Whether onnxruntime's sums of products of uint8 and int8 saturate here."""
    try:
        flags = set(Path("/proc/cpuinfo").read_text().split())
    except OSError:
        return False
    return "avx2" in flags and not {"avx512_vnni", "avx_vnni"} & flags


def weight_range(dtype: Any) -> tuple[int, int]:
    """The least and the largest weight of a type of 8 bits."""
    limits = np.iinfo(dtype)
    if np.dtype(dtype) == np.int8 and saturates():
        return -64, 63
    return int(limits.min), int(limits.max)
