# ===- test_random_iterators.py - Random loops of OpenVINO IR ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""TensorIterators and Loops with ports of every kind, beside NumPy."""

from pathlib import Path

import loopc
import numpy as np
import openvino
import pytest
from random_iterators import random_iterator

SEEDS = range(80)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", SEEDS)
def test_iterator(seed: int, tmp_path: Path) -> None:
    made = random_iterator(seed)
    path = tmp_path / "model.xml"
    openvino.save_model(made.model, path, compress_to_fp16=False)
    for level in (0, 1, 3):
        session = loopc.InferenceSession(path, loopc.SessionOptions(opt_level=level))
        for got, want in zip(session.run(None, made.feeds), made.expected, strict=True):
            assert got.shape == want.shape
            np.testing.assert_array_equal(got, want)


def test_all_kinds_occur() -> None:
    kinds = set().union(*(random_iterator(seed).kinds for seed in SEEDS))
    assert kinds - {""} == {
        *("Loop", "TensorIterator", "one value in several ports", "invariant", "parts"),
        *("slices backwards", "from anywhere", "elements", "states change places"),
        *("concatenated", "concatenated backwards"),
    }
