# ===- test_compose.py - Models joined to one ---------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""`loopc.compose` computes what its models compute one after the other."""

import importlib.util
import pathlib
import re

import loopc
import numpy as np
import onnx
import onnxruntime
import pytest


def model(text, opset=17):
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> {text}')


def run(composed, feeds, **options):
    session = loopc.InferenceSession(composed, loopc.SessionOptions(**options))
    return session.run(None, feeds)


DOUBLE = "double (float[N] x) => (float[N] y) { two = Constant <value_float = 2.0> ()  y = Mul (x, two) }"
ADD = "add (float[N] y, float[M] b) => (float[N] z) { z = Add (y, b) }"


def test_outputs_feed_inputs_of_their_name():
    composed = loopc.compose([model(DOUBLE), model(ADD)])
    assert [value.name for value in composed.graph.input] == ["x", "b"]
    assert [value.name for value in composed.graph.output] == ["z"]
    (z,) = run(composed, {"x": np.ones(3, np.float32), "b": np.full(1, 5, np.float32)})
    np.testing.assert_array_equal(z, [7, 7, 7])


def test_names_of_inner_values_do_not_meet():
    # Both have a value and a weight `w`, and dimensions N that are no equals.
    one = "one (float[N] x) => (float[N] y) <float[1] w = {3.0}> { t = Mul (x, w)  y = Neg (t) }"
    other = "other (float[N] y, float[K] x2) => (float[N] u, float[K] v) <float[1] w = {5.0}> { t = Add (y, w)  u = Neg (t)  v = Mul (x2, w) }"
    composed = loopc.compose([model(one), model(other)])
    u, v = run(composed, {"x": np.ones(2, np.float32), "x2": np.ones(4, np.float32)})
    np.testing.assert_array_equal(u, [-2, -2])
    np.testing.assert_array_equal(v, [5, 5, 5, 5])


def test_versions_of_operators_are_each_models_own():
    # ReduceSum and Squeeze take their axes as attributes in opset 11, as inputs from 13 on.
    old = "old (float[2,3] x) => (float[2] y) { y = ReduceSum <axes = [1], keepdims = 0> (x) }"
    new = "new (float[2] y) => (float z) <int64[1] axes = {0}> { z = ReduceSum <keepdims = 0> (y, axes) }"
    composed = loopc.compose([model(old, 11), model(new, 21)])
    (z,) = run(composed, {"x": np.arange(6, dtype=np.float32).reshape(2, 3)})
    assert z == 15


def test_renamed_ports_and_chosen_outputs():
    twice = loopc.compose(
        [model(DOUBLE), model(DOUBLE)], [{"y": "half"}, {"x": "half"}], outputs=["half", "y"]
    )
    half, y = run(twice, {"x": np.ones(2, np.float32)})
    np.testing.assert_array_equal(half, [2, 2])
    np.testing.assert_array_equal(y, [4, 4])


def test_shared_inputs_and_outputs_that_are_weights():
    other = "other (float[N] x) => (float[N] z, float[2] w) <float[2] w = {3.0, 4.0}> { z = Mul (x, w) }"
    composed = loopc.compose([model(DOUBLE), model(other)])
    assert [value.name for value in composed.graph.input] == ["x"]
    y, z, w = run(composed, {"x": np.ones(2, np.float32)})
    np.testing.assert_array_equal([y, z, w], [[2, 2], [3, 4], [3, 4]])


def test_overridable_initializers_stay_so():
    one = (
        "one (float[2] x, float[2] w) => (float[2] y) <float[2] w = {3.0, 4.0}> { y = Mul (x, w) }"
    )
    composed = loopc.compose([model(one), model(DOUBLE)], [{}, {"x": "y", "y": "z"}])
    x = np.ones(2, np.float32)
    np.testing.assert_array_equal(run(composed, {"x": x})[0], [6, 8])
    np.testing.assert_array_equal(run(composed, {"x": x, "w": x})[0], [2, 2])


def test_functions_of_models_do_not_meet():
    def with_function(body):
        return onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["" : 17, "own" : 1]>'
            "calls (float[N] x) => (float[N] y) { y = own.f (x) }"
            f'<domain: "own", opset_import: ["" : 17]> f (a) => (b) {{ b = {body} (a) }}'
        )

    composed = loopc.compose([with_function("Neg"), with_function("Exp")], [{"y": "m"}, {"x": "m"}])
    (y,) = run(composed, {"x": np.ones(2, np.float32)})
    np.testing.assert_allclose(y, np.exp([-1, -1]), 1e-6)


def test_loops_capture_weights():
    text = """loops (float[2] x, int64 n) => (float[2] y) <float[2] w = {0.5, 2.0}, bool go = {1}> {
      y = Loop (n, go, x) <body = step (int64 i, bool c, float[2] v) => (bool c2, float[2] v2)
        { c2 = Identity (c)  v2 = Mul (v, w) }>
    }"""
    composed = loopc.compose([model(DOUBLE), model(text)], [{}, {"x": "y", "y": "z"}])
    (z,) = run(composed, {"x": np.ones(2, np.float32), "n": np.int64(3)})
    np.testing.assert_array_equal(z, [0.25, 16])


def test_states_go_on_from_run_to_run():
    count = "count (float[1] y, float[1] before) => (float[1] total) { total = Add (y, before) }"
    composed = loopc.compose([model(DOUBLE), model(count)])
    session = loopc.InferenceSession(composed, loopc.SessionOptions(states={"before": "total"}))
    for _ in range(3):
        session.run(None, {"x": np.ones(1, np.float32)})
    np.testing.assert_array_equal(session.get_state()["before"], [6])


def test_models_from_files(tmp_path):
    onnx.save(model(DOUBLE), tmp_path / "double.onnx")
    composed = loopc.compose([tmp_path / "double.onnx", model(ADD).SerializeToString()])
    onnx.checker.check_model(composed)


def test_refused():
    integers = model("ints (int64[N] y) => (int64[N] z) { z = Neg (y) }")
    for models, names, outputs, match in (
        ([model(DOUBLE)], [{"q": "r"}], None, "model 0 has no input or output 'q'"),
        ([model(DOUBLE)], [{}, {}], None, "names: expected 1"),
        ([model(DOUBLE), integers], None, None, "'y': an input of INT64 cannot be"),
        ([model(DOUBLE), model(DOUBLE)], None, None, "output 'y' of model 1: there is an output"),
        ([model(ADD), model(DOUBLE)], None, None, "output 'y' of model 1: there is an input"),
        ([integers, model(ADD)], None, None, "inputs 'y' of INT64 and of FLOAT"),
        ([], None, None, "models: there is none"),
        (model(DOUBLE), None, None, "models: expected a list of models"),
        ([model(DOUBLE)], None, ["q"], "no model has an output 'q'; there are: 'y'"),
    ):
        with pytest.raises(loopc.InvalidArgument, match=re.escape(match)):
            loopc.compose(models, names, outputs=outputs)


def test_the_page(monkeypatch):
    spec = importlib.util.find_spec("silero_vad")
    folder = pathlib.Path(spec.origin).parent / "data"
    text = (pathlib.Path(__file__).parents[2] / "docs/Compose.md").read_text()
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(folder)
    frames = np.random.default_rng(3).normal(0, 0.3, (6, 512)).astype(np.float32)
    names = {"frames": frames, "said": []}
    exec(code + "    said.append(probability)\n", names)
    session = onnxruntime.InferenceSession("silero_vad_16k_op15.onnx")
    state, before = np.zeros((2, 1, 128), np.float32), np.zeros(64, np.float32)
    for frame, said in zip(frames, names["said"], strict=True):
        sound = np.concatenate([before, frame])[None]
        wanted, state = session.run(None, {"input": sound, "state": state, "sr": np.array(16000)})
        np.testing.assert_allclose(said, wanted, 1e-3, 1e-4)
        before = frame[-64:]
