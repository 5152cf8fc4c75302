# ===- test_ir_programs.py - Random programs of OpenVINO IR -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The short form of test/fuzz/ir_programs.py, and what it found."""

from __future__ import annotations

import os
import pathlib
import sys

import engines
import loopc
import numpy as np
import openvino
import openvino.opset16 as op
import pytest
import random_errors
import random_ir_programs
import random_ir_steps
from openvino_models import Slice, const, i64, loop, model, param
from random_ir_programs import IrProgram

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))

import ir_layers
import ir_programs

#: Programs with every kind of port and every kind of control flow.
SEEDS = "0:30"


def test_programs() -> None:
    """Programs are what NumPy makes of them, with several extents each."""
    assert ir_programs.main(["--seeds", SEEDS, "--no-peer", "--least", "100"]) == 0


def test_programs_that_are_not_compared() -> None:
    """A side that gives no values is a failure."""
    assert ir_programs.main(["--seeds", "0:1", "--no-peer", "--least", "100"]) == 1


def _crash(*_: object) -> engines.Outcome:
    os._exit(1)


def test_crash_of_numpys_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ir_programs, "make", _crash)
    assert ir_programs.main(["--seeds", "0:1", "--no-peer"]) == 1


VALUES = [np.zeros(2)]
TWO_CUTS = "main/TensorIterator 'T' (opset1): the inputs are cut into 2 and 3 slices"


@pytest.mark.parametrize(
    ("got", "wanted", "is_good"),
    [
        (VALUES, "same", True),
        ([np.ones(2)], "same", False),
        (VALUES, "same error", False),
        (VALUES, "unread error", True),
        (TWO_CUTS, "same error", True),
        (TWO_CUTS, "unread error", True),
        (TWO_CUTS, "same", True),  # of a loop that nobody reads
        ("main/Add 'A' (opset1): dimensions 2 and 3 do not broadcast", "same error", False),
        ("LC0100: a fault of loopc itself", "same error", False),
        ("LC0100: a fault of loopc itself", "unclear", False),
        ("LC0500: the inputs are cut into 2 and 3 slices", "same error", False),
    ],
)
def test_judged(got: list[np.ndarray] | str, wanted: str, is_good: bool) -> None:
    """What is due must come, for a reason that the program has."""
    verdict = ir_programs.judged(got, wanted, VALUES, {random_ir_programs.UNEQUAL})
    assert (verdict in ir_programs.GOOD) == is_good, verdict


@pytest.mark.parametrize("is_read", [True, False])
def test_unequal_cuts(is_read: bool) -> None:
    """An iterator over two values of other extents: NumPy's side wants the error, if it is read."""
    x, y = (random_ir_steps.Value(None, (name,), np.dtype(np.float32)) for name in "ab")
    inner = [random_ir_steps.Value(None, (1,), np.dtype(np.float32)) for _ in range(2)]
    made = random_ir_programs._Loop(False)
    made.sliced = [(p, v, Slice(0, 0, 1, 1, -1)) for p, v in zip(inner, (x, y), strict=True)]
    made.results = inner
    frame = random_ir_steps.Frame({x: lambda: np.zeros(2), y: lambda: np.zeros(3)})
    last = random_ir_steps.Value(None, (1,), np.dtype(np.float32), lambda f: made.last(f, 0))
    with pytest.raises(random_errors.ExpectedError) as info:
        last.at(frame) if is_read else last.extents_at(frame)
    assert info.value.reason == random_ir_programs.UNEQUAL
    assert isinstance(info.value, random_errors.MissingElementsError) != is_read


@pytest.mark.parametrize(
    ("error", "extents", "is_undefined"),
    [
        ("Gather 'G' (opset8): index 1 is out of range for an axis of extent 1", (1, 2), True),
        ("Gather 'G' (opset8): index 1 is out of range for an axis of extent 3", (1, 2), False),
        ("Add 'A' (opset1): index 1 is out of range for an axis of extent 1", (1, 2), False),
        ("Interpolate 'I' (opset4): axis 3 has no elements to resize", (0, 2), True),
        ("Interpolate 'I' (opset4): axis 3 has no elements to resize", (1, 2), False),
        ("Squeeze 'S' (opset1): axis 0 has extent 2, not 1, and is not squeezed", (1, 2), True),
        ("Gather 'S' (opset1): axis 0 has extent 2, not 1, and is not squeezed", (1, 2), False),
    ],
)
def test_undefined_layers(error: str, extents: tuple[int, ...], is_undefined: bool) -> None:
    """Errors that OpenVINO lacks are those of these layers, with these extents."""
    assert ir_layers.is_undefined(f"failed: main/{error}", [np.zeros(extents)]) == is_undefined


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
