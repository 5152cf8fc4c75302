# ===- test_ir_programs.py - Random programs of OpenVINO IR -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The short form of test/fuzz/ir_programs.py, and what it found."""

from __future__ import annotations

import pathlib
import sys

import loopc
import numpy as np
import openvino
import openvino.opset16 as op
import pytest
from openvino_models import const, i64, loop, model, param
from random_ir_programs import IrProgram

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))

import ir_programs

#: Programs with every kind of port and every kind of control flow.
SEEDS = "0:30"


def test_programs() -> None:
    """Programs are what NumPy makes of them, with several extents each."""
    assert ir_programs.main(["--seeds", SEEDS, "--no-peer"]) == 0


def test_all_kinds_occur() -> None:
    first, end = map(int, SEEDS.split(":"))
    kinds = set().union(*(IrProgram(seed).kinds for seed in range(first, end)))
    assert kinds == {
        *("Loop", "TensorIterator", "If", "forwards", "backwards", "from anywhere"),
        *("concatenated", "concatenated backwards", "condition at first", "condition of the body"),
        *("endless", "trips of an input", "trips of an extent", "states change places"),
        *("one result, several states", "variable"),
    }


@pytest.mark.parametrize("is_open", [False, True])
def test_text_after_no_iteration(is_open: bool, tmp_path: pathlib.Path) -> None:
    """A text that nothing carries is empty if there was no iteration."""
    x, trips = param([-1 if is_open else 2], "x", np.str_), param([], "trips", np.int64)
    inner = param([-1 if is_open else 2], kind=np.str_)
    outs = loop(trips, True, results=[op.concat([inner, inner], 0)], fixed=[(inner, x)], outs=[0])
    openvino.save_model(model(outs, [x, trips]), tmp_path / "model.xml")
    session = loopc.InferenceSession(tmp_path / "model.xml")
    texts = np.array(["a", "b"], object)
    (last,) = session.run(None, {"x": texts, "trips": i64(2)})
    assert last.tolist() == ["a", "b", "a", "b"]
    (none,) = session.run(None, {"x": texts, "trips": i64(0)})
    assert none.tolist() == ([] if is_open else [""] * 4)


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize(("reduce", "neutral"), [("or", False), ("and", True)])
def test_truth_of_no_elements(
    reduce: str, neutral: bool, is_open: bool, tmp_path: pathlib.Path
) -> None:
    """Of no elements none is true, and all are."""
    x = param([2, -1 if is_open else 0], "x", np.bool_)
    node = getattr(op, f"reduce_logical_{reduce}")(x, const(i64([1])), False)
    openvino.save_model(model([node], [x]), tmp_path / "model.xml")
    session = loopc.InferenceSession(tmp_path / "model.xml")
    (found,) = session.run(None, {"x": np.zeros((2, 0), bool)})
    assert found.tolist() == [neutral, neutral]
    if is_open:
        (found,) = session.run(None, {"x": np.array([[True, True], [False, True]])})
        assert found.tolist() == [True, reduce == "or"]
