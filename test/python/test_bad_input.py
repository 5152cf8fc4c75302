# ===- test_bad_input.py - Damaged input is sorted right ----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The first inputs of test/fuzz/bad_input.py end well, and what does not is found."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import onnx
import pytest

FUZZ = pathlib.Path(__file__).parents[1] / "fuzz"
sys.path.insert(0, str(FUZZ))

from bad_outcomes import Ending, of_errors, of_process  # noqa: E402
from onnx_mutants import mutant  # noqa: E402
from text_mutants import text_mutant, xml_mutant  # noqa: E402

GOOD = ("m.onnx: main/#0 Add (opset 14)", "LC0303", "the shapes do not fit")


@pytest.mark.parametrize(
    "errors, ending",
    [
        ([GOOD], Ending.REFUSED),
        ([GOOD, GOOD], Ending.BAD_ERROR),
        ([("m", "LC0301", "a"), ("m", "LC0301", "b")], Ending.REFUSED),
        ([], Ending.BAD_ERROR),
        ([("", "LC0303", "no place")], Ending.BAD_ERROR),
        ([("m", "", "no code")], Ending.BAD_ERROR),
        ([("m", "LC0303", " ")], Ending.BAD_ERROR),
        ([("m", "LC0303", "n" * 5000)], Ending.BAD_ERROR),
        ([("m", "LC0500", "failed to legalize operation 'tensor.cast'")], Ending.BAD_ERROR),
        ([("m", "LC0100", "a fault")], Ending.BAD_ERROR),
    ],
)
def test_errors(errors: list[tuple[str, str, str]], ending: Ending) -> None:
    assert of_errors(errors).ending is ending


@pytest.mark.parametrize(
    "status, printed, ending",
    [
        (0, "", Ending.FINE),
        (0, "m: error: LC0303: a", Ending.BAD_ERROR),
        (1, "m: error: LC0303: a\n  m: note: b", Ending.REFUSED),
        (1, "m: error: LC0303: a\nm: error: LC0303: b", Ending.BAD_ERROR),
        (1, "", Ending.BAD_ERROR),
        (-11, "", Ending.CRASH),
        (1, "This is a fault of loopc.", Ending.CRASH),
    ],
)
def test_processes(status: int, printed: str, ending: Ending) -> None:
    assert of_process(status, printed).ending is ending


def test_mutants_differ_and_a_seed_is_one() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21]>\nm (float[N] x) => (float[N] y) { y = Neg (x) }'
    )
    whole = model.SerializeToString()
    made = [mutant(model, seed) for seed in range(200)]
    assert made == [mutant(model, seed) for seed in range(200)]
    assert sum(data != whole for data in made) > 180
    assert len(set(made)) > 100
    text = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n"
    assert len({text_mutant(text, seed) for seed in range(100)}) > 50
    xml = '<net name="a" version="11"><layers><layer id="0" type="Parameter"/></layers></net>'
    assert len({xml_mutant(xml, seed) for seed in range(100)}) > 30


def _fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FUZZ / "bad_input.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=250)


@pytest.mark.parametrize(
    "arguments",
    [
        ("onnx", "--seeds", "0:60", "--only", "loop/"),
        ("openvino", "--seeds", "0:30", "--only", "loop/"),
        ("mlir", "--seeds", "0:40", "--only", "Dialect/Loop/invalid"),
        ("runs", "--seeds", "0:80", "--only", "loop/"),
        ("calls", "--seeds", "0:3"),
        ("passes", "--only", "Dialect/Loop/invalid"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_first_inputs(arguments: tuple[str, ...]) -> None:
    run = _fuzz(*arguments)
    assert run.returncode == 0, run.stdout + run.stderr
    assert " inputs in " in run.stdout


def test_usage() -> None:
    assert _fuzz("nothing").returncode == 2
    assert _fuzz("onnx", "--seeds", "3:1").returncode == 2
