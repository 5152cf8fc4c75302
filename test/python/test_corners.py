# ===- test_corners.py - Operators in the corners of their definitions --------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The short form of test/fuzz/corners.py, and that it can fail."""

from __future__ import annotations

import pathlib
import sys

import numpy as np
import onnx
import pytest
from random_corners import CORNERS, Corner, Draw, corner

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))

import corners


def test_corners() -> None:
    """Some cases are, by themselves and in loops, what other engines make of them."""
    assert corners.main(["--seeds", "0:40", "--some", "8", "--places", "1"]) == 0


@pytest.mark.parametrize("name", CORNERS)
def test_models(name: str) -> None:
    """Each function makes valid models, of sets of equal shapes."""
    for seed in range(5):
        made = corner(name, seed)
        onnx.shape_inference.infer_shapes(made.model(), check_type=True, strict_mode=True)
        shapes = [{k: v.shape for k, v in one.items()} for one in made.sets]
        assert all(one == shapes[0] for one in shapes)


def test_what_is_wrong_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    """A result that no other engine has is a failure."""
    nodes = [onnx.helper.make_node("Neg", ["x"], ["y"])]
    x = np.ones(3, np.float32)
    made = Corner(nodes, [{"x": x}], {"y": onnx.TensorProto.FLOAT})
    judge = corners.Judge(None, verbose=False)
    assert judge._alone("neg", made) is not None
    assert not judge.count["alone"]
    assert judge._compare("neg", made, [x], [[-x]]) is None
    assert judge.count["alone"] == 1
    assert "neg: alone: output 0" in capsys.readouterr().out


def test_draws_are_of_the_seed() -> None:
    """Equal seeds make equal cases."""
    one, other = (Draw("x 1").values(np.float32, (3, 4)) for _ in range(2))
    np.testing.assert_array_equal(one, other)
