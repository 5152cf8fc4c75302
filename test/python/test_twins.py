# ===- test_twins.py - Programs that move elements, over every type -----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The short form of test/fuzz/twins.py, and that it can fail."""

from __future__ import annotations

import pathlib
import sys

import numpy as np
from onnx import TensorProto
from random_twins import TYPES, elements, random_twin

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))

import twins


def test_twins() -> None:
    """A program over each type."""
    assert twins.main(["--seeds", f"0:{len(TYPES)}"]) == 0
    assert {random_twin(seed).elem for seed in range(len(TYPES))} == set(TYPES)


def test_what_is_wrong_is_seen() -> None:
    """Codes are bits: two zeros differ, and so do bits behind an element's own."""
    for elem, count in TYPES.items():
        codes = np.arange(min(count, 200))
        got = elements(codes, elem)
        assert twins.difference([got], [codes], elem) is None
        assert "output 0" in str(twins.difference([got[::-1]], [codes], elem))
    zeros = elements([0, 8], TensorProto.FLOAT4E2M1)
    assert twins.difference([zeros], [[0, 0]], TensorProto.FLOAT4E2M1)
