# ===- test_wrong_arguments.py - Arguments of wrong kinds --------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Whatever is given for an argument: one InvalidArgument that names it."""

import gc
import os
from typing import Any

import loopc
import numpy as np
import onnx.parser
import pytest

MODEL = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    m (float[N, 2] x, int64 n) => (float[N, 2] y, float[T, N, 2] z) {
      y, z = Loop (n, "", x) <body = b (int64 i, bool c, float[N, 2] a) => (bool c, float[N, 2] d, float[N, 2] e) {
        d = Add (a, x)
        e = Identity (a)
      }>
    }""")
X = np.arange(6, dtype=np.float32).reshape(3, 2)
FEEDS = {"x": X, "n": np.array(2)}


@pytest.fixture(scope="module")
def session():
    return loopc.InferenceSession(MODEL)


@pytest.mark.parametrize(
    "names, reason",
    [
        ([3], "output_names: 3 is no name"),
        ([None], "output_names: None is no name"),
        (["\ud800"], "output_names: .* is no name"),
        (5, "expected a list of names, got int"),
        ("y", "expected a list of names, got str"),
        (np.array("y"), "expected a list of names, got ndarray"),
    ],
)
def test_output_names(session, names, reason):
    with pytest.raises(loopc.InvalidArgument, match=reason):
        session.run(names, FEEDS)


@pytest.mark.parametrize(
    "options, reason",
    [
        ({"timeout": "a"}, "timeout: expected more than 0 seconds, got 'a'"),
        ({"timeout": float("nan")}, "timeout"),
        ({"memory_limit": 2**70}, "memory_limit: expected 0 to"),
        ({"memory_limit": 1.5}, "memory_limit: expected an integer, got 1.5"),
        ({"num_threads": 2**40}, "num_threads: expected 0 to"),
        ({"num_threads": "a"}, "num_threads: expected an integer"),
        ({"num_threads": -1}, "num_threads: expected 0 to"),
    ],
)
def test_run_options(session, options, reason):
    with pytest.raises(loopc.InvalidArgument, match=reason):
        session.run(None, FEEDS, loopc.RunOptions(**options))


@pytest.mark.parametrize(
    "options, reason",
    [
        ({"opt_level": "a"}, "opt_level: expected an integer"),
        ({"opt_level": 2**40}, "opt_level: expected 0 to 3"),
        ({"graph_optimization_level": "a"}, "graph_optimization_level: expected a member"),
        ({"dims": {"N": "a"}}, "dims: 'N': expected an integer"),
        ({"dims": {"N": 2**70}}, "dims: 'N': expected 0 to"),
        ({"dims": {3: 1}}, "dims: expected a str"),
        ({"dims": [1]}, "dims: expected a dict"),
        ({"shapes": {"x": "ab"}}, "shapes: 'x': expected a list"),
        ({"shapes": {"x": [1.5, 2]}}, "shapes: 'x': expected an integer"),
        ({"shapes": "x"}, "shapes: expected a dict"),
        ({"disabled_passes": "cse"}, "disabled_passes: expected a list of names"),
        ({"disabled_passes": [1]}, "disabled_passes: expected a str"),
        ({"cpu": 3}, "cpu: expected a str, got int"),
        ({"features": []}, "features: expected a str, got list"),
        ({"base_directory": 5}, "base_directory: expected str"),
    ],
)
def test_session_options(options, reason):
    with pytest.raises(loopc.InvalidArgument, match=reason):
        loopc.InferenceSession(MODEL, loopc.SessionOptions(**options))


def test_compile_arguments(tmp_path):
    output = tmp_path / "m.o"
    for wrong, reason in (
        ({"emit": 3}, "no stage 3"),
        ({"name": 3}, "name: expected a str"),
        ({"target": b"x"}, "target: expected a str"),
        ({"opt_level": 4}, "opt_level: expected 0 to 3"),
        ({"dims": {"N": "x"}}, "dims: 'N'"),
    ):
        with pytest.raises(loopc.InvalidArgument, match=reason):
            loopc.compile(MODEL, output, **wrong)
    with pytest.raises(loopc.InvalidArgument, match="output"):
        loopc.compile(MODEL, None)
    with pytest.raises(loopc.InvalidArgument, match="path"):
        loopc.load(None)
    assert list(tmp_path.iterdir()) == []


def test_names_of_files_in_another_encoding(tmp_path):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.onnx")
    with pytest.raises(loopc.CompileError, match="cannot read"):
        loopc.InferenceSession(name)


class Producer:
    """An object with __dlpack__ that does `action` when it is asked."""

    def __init__(self, action: Any, device: Any = (1, 0)) -> None:
        self.action = action
        self.device = device

    def __dlpack__(self, **_: Any) -> Any:
        self.action()
        return X.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.device


def test_producers_that_misbehave(session):
    def leave() -> None:
        raise SystemExit(3)

    # What ends the program is no wrong argument.
    with pytest.raises(SystemExit):
        session.run(None, {**FEEDS, "x": Producer(leave)})
    with pytest.raises(loopc.InvalidArgument, match="__dlpack_device__ returned 'ab'"):
        session.run(None, {**FEEDS, "x": Producer(lambda: None, "ab")})
    feeds: dict[str, Any] = {}

    def forget() -> None:
        feeds.clear()
        gc.collect()

    feeds["x"] = Producer(forget)
    feeds["n"] = np.array(3)
    np.testing.assert_array_equal(session.run(["y"], feeds)[0], 4 * X)
    assert feeds == {}


def test_bindings(session):
    binding = session.io_binding()
    for call in (
        lambda: session.run_with_iobinding(None),
        lambda: binding.bind_ortvalue_input("x", None),
        lambda: binding.bind_ortvalue_output("y", X),
    ):
        with pytest.raises(loopc.InvalidArgument, match="expected an"):
            call()
