# ===- test_ort_ep_models.py - Models as exporters and optimisers leave them -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Names, captures, constants and domains of what is given to loopc, beside onnxruntime alone."""

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from ort_provider import assert_equal, assert_like_alone, get_ours, open_session, parse, run_alone

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def loop(body, results="r", carried="x", head="", tail="", ports="float[2, 3] r"):
    """A loop of n trips over float[2, 3]: its body's results, operators and outputs."""
    return f"""
g (int64 n, float[2, 3] x, bool c) => ({ports}) <float[1] w = {{2.0}}, float[0] empty = {{}}> {{
  t = Constant<value = bool {{1}}>()
  {head}
  {results} = Loop<body = b {body}>(n, t, {carried})
  {tail}
}}"""


ADD = "(int64 i, bool k, float[2, 3] u) => (bool k2, float[2, 3] v) { k2 = Identity(k) v = Add(u, u) }"
PAIR = "(int64 i, bool k, float[2, 3] u, float[2, 3] v) => "

#: The model, and what loopc has of it.
MODELS = {
    "one value is yielded three times": (
        loop(PAIR + "(bool k2, float[2, 3] z, float[2, 3] z, float[2, 3] z) "
             "{ k2 = Identity(k) z = Add(u, v) }", "r, s, a", "x, x",
             ports="float[2, 3] r, float[2, 3] s, float[K, 2, 3] a"), 1),
    "carried values are swapped": (
        loop(PAIR + "(bool k2, float[2, 3] v, float[2, 3] u) { k2 = Identity(k) }", "r, s", "x, y",
             "y = Neg(x)", ports="float[2, 3] r, float[2, 3] s"), 1),
    "the condition is handed on": (
        loop("(int64 i, bool k, float[2, 3] u) => (bool k, float[2, 3] v) { v = Add(u, u) }"), 1),
    "carried results that nobody reads": (
        loop(PAIR + "(bool k2, float[2, 3] z, float[2, 3] y, float[2, 3] a) "
             "{ k2 = Identity(k) z = Add(u, v) y = Neg(z) a = Identity(z) }", "r, s, all", "x, x",
             ports="float[K, 2, 3] all"), 1),
    "a result is an output and read": (
        loop(ADD, tail="s = Neg(r) q = Identity(r)",
             ports="float[2, 3] r, float[2, 3] s, float[2, 3] q"), 1),
    "two equal loops": (
        loop(ADD, head="y = Neg(x)", tail=f"s = Loop<body = b2 {ADD}>(n, t, y)",
             ports="float[2, 3] r, float[2, 3] s"), 2),
    "captures from three graphs": (
        loop("""(int64 i, bool k, float[2, 3] u) => (bool k2, float[2, 3] z) {
  k2 = Identity(k)
  f = Cast<to = 1>(i)
  z = Loop<body = b2 (int64 j, bool kk, float[2, 3] v) => (bool kk2, float[2, 3] z2) {
    kk2 = Identity(kk)
    less = Less(i, j)
    z2 = If(less) <then_branch = p () => (float[2, 3] a) {
      a0 = Add(v, f)
      a1 = Mul(a0, w)
      a = Add(a1, x)
    }, else_branch = q () => (float[2, 3] e) {
      e0 = Cast<to = 1>(j)
      e = Sub(e0, u)
    }>
  }>(n, k, u)
}"""), 1),
    "read by branches that stay": (
        loop(ADD, tail="""s = If(c) <then_branch = p () => (float[2, 3] a) {
    a = com.microsoft.SampleOp(r)
  }, else_branch = q () => (float[2, 3] e) {
    e = If(c) <then_branch = p2 () => (float[2, 3] a2) {
      a2 = com.microsoft.SampleOp(r)
    }, else_branch = q2 () => (float[2, 3] e2) {
      e2 = Neg(r)
    }>
  }>""", ports="float[2, 3] s"), 1),
    "what is between two loops needs the first": (
        loop(ADD, tail=f"""s = Softmax(r)
  y = Add(s, r)
  q = Loop<body = b2 {ADD.replace("Add(u, u)", "Add(u, y)")}>(n, t, s)
  z = Mul(q, r)""", ports="float[2, 3] q, float[2, 3] z"), 2),
    "an operator of onnxruntime's": (
        loop(ADD.replace("Add(u, u)", "com.microsoft.Gelu(u)")), 1),
    "a constant without elements": (
        loop("(int64 i, bool k, float[M] u) => (bool k2, float[L] v) "
             "{ k2 = Identity(k) v = Concat<axis = 0>(u, empty, w) }", carried="w",
             ports="float[K] r"), 1),
}  # fmt: skip


@pytest.mark.parametrize("claim", ["loops", "regions"])
@pytest.mark.parametrize("name", MODELS)
def test_model(name, claim):
    text, count = MODELS[name]
    model = parse(text)
    session = open_session(model, claim=claim)
    assert get_ours(session).count("Loop") == count
    for trips, chosen in ((3, True), (1, False), (0, True)):
        # onnxruntime takes no inputs that the model has not; this one has all.
        assert_like_alone(session, model, {"n": np.array(trips), "x": X, "c": np.array(chosen)})


def test_functions():
    model = onnx.parser.parse_model("""
<ir_version: 9, opset_import: ["" : 17, "my" : 1]>
g (int64 n, float[2, 3] x) => (float[2, 3] r) { a = my.run(n, x) r = my.run(n, a) }
<domain: "my", opset_import: ["" : 17]>
run (m, y) => (z) {
  t = Constant<value = bool {1}>()
  z = Loop<body = b (int64 i, bool k, float[2, 3] u) => (bool k2, float[2, 3] v) {
    k2 = Identity(k)
    v = Add(u, y)
  }>(m, t, y)
}""")
    session = open_session(model)
    assert get_ours(session) == ["Loop", "Loop"]
    assert_like_alone(session, model, {"n": np.array(3), "x": X})


def make_product(folder):
    """A loop whose body has a large constant of its own, in a file beside the model."""
    weights = np.random.default_rng(0).normal(0, 1, (64, 64)).astype(np.float32)

    def port(name, kind, shape):
        return helper.make_tensor_value_info(name, kind, shape)

    body = helper.make_graph(
        [helper.make_node("Identity", ["k"], ["k2"]), helper.make_node("MatMul", ["u", "w"], ["v"])],
        "body",
        [port("i", TensorProto.INT64, []), port("k", TensorProto.BOOL, []),
         port("u", TensorProto.FLOAT, [2, 64])],
        [port("k2", TensorProto.BOOL, []), port("v", TensorProto.FLOAT, [2, 64])],
        [numpy_helper.from_array(weights, "w")],
    )  # fmt: skip
    graph = helper.make_graph(
        [helper.make_node("Loop", ["n", "", "x"], ["r"], body=body)],
        "main",
        [port("n", TensorProto.INT64, []), port("x", TensorProto.FLOAT, [2, 64])],
        [port("r", TensorProto.FLOAT, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    whole = onnx.ModelProto.FromString(model.SerializeToString())
    onnx.save(model, folder / "model.onnx", save_as_external_data=True, location="weights",
              size_threshold=0)  # fmt: skip
    return whole


@pytest.mark.parametrize("kind", ["INT4", "UINT4"])
def test_constants_of_four_bits(kind):
    """Quantized weights of a body, two of which lie in a byte."""
    number = getattr(TensorProto, kind)
    weights = helper.make_tensor("q", number, [2, 3], [0, 1, 3, 5, 6, 7])
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
g (int64 n, float[2, 3] x) => (float[2, 3] r) <float scale = {0.25}> {
  r = Loop<body = b (int64 i, bool k, float[2, 3] u) => (bool k2, float[2, 3] v) {
    k2 = Identity(k)
    w = DequantizeLinear(q, scale)
    v = Mul(u, w)
  }>(n, , x)
}""")
    model.graph.initializer.append(weights)
    session = open_session(model)
    assert get_ours(session) == ["Loop"]
    assert_like_alone(session, model, {"n": np.array(2), "x": X})


def test_constants_in_files(tmp_path):
    model = make_product(tmp_path)
    assert (tmp_path / "weights").stat().st_size == 64 * 64 * 4
    feeds = {"n": np.array(2), "x": np.ones((2, 64), np.float32)}
    session = open_session(str(tmp_path / "model.onnx"))
    assert get_ours(session) == ["Loop"]
    assert_equal(session.run(None, feeds), run_alone(model, feeds))


@pytest.mark.parametrize("claim", ["loops", "regions", "all"])
def test_constants_that_stay_in_onnxruntime(claim):
    """With a limit, larger constants are read where onnxruntime has them, by two nodes here."""
    model = parse("""
g (int64 n, float[N, 64] x) => (float[N, 64] r, float[64, 64] s) <float factor = {0.5}> {
  t = Constant<value = bool {1}>()
  r = Loop<body = b (int64 i, bool k, float[M, 64] u) => (bool k2, float[M2, 64] v) {
    k2 = Identity(k)
    p = MatMul(u, w)
    v = Mul(p, factor)
  }>(n, t, x)
  s = Loop<body = b2 (int64 j, bool kk, float[64, 64] q) => (bool kk2, float[64, 64] q2) {
    kk2 = Identity(kk)
    q2 = Add(q, w)
  }>(n, t, w)
}""")
    weights = np.random.default_rng(0).normal(0, 0.1, (64, 64)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    session = open_session(model, claim=claim, constant_limit=4096)
    assert get_ours(session).count("Loop") == 2
    assert_like_alone(session, model, {"n": np.array(2), "x": np.ones((3, 64), np.float32)})


def test_constants_that_stay_in_onnxruntime_are_not_copied(capfd):
    model = parse("""
g (int64 n, float[64] x) => (float[64] r) {
  t = Constant<value = bool {1}>()
  r = Loop<body = b (int64 i, bool k, float[64] u) => (bool k2, float[64] v) {
    k2 = Identity(k)
    row = Gather(w, i)
    v = Add(u, row)
  }>(n, t, x)
}""")
    weights = np.random.default_rng(0).normal(0, 1, (64, 64)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    feeds = {"n": np.array(3), "x": np.ones(64, np.float32)}
    for limit, places in ((0, 1), (1 << 20, 0)):
        session = open_session(model, log_level=0, constant_limit=limit)
        capfd.readouterr()
        assert_like_alone(session, model, feeds)
        assert capfd.readouterr().err.count("'w' is read at") == places


def test_constants_from_a_program():
    """Values of initializers that lie in no file, and those of inputs that have a default."""
    text = """
g (int64 n, float[2, 3] x) => (float[2, 3] r) {
  t = Constant<value = bool {1}>()
  r = Loop<body = b (int64 i, bool k, float[2, 3] u) => (bool k2, float[2, 3] v) {
    k2 = Identity(k)
    v = Add(u, w)
  }>(n, t, x)
}"""
    feeds = {"n": np.array(2), "x": X}
    model = parse(text)
    tensor = TensorProto(name="w", dims=[2, 3], data_type=1, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "nowhere"), ("offset", "0"), ("length", "24")):
        tensor.external_data.add(key=key, value=value)
    model.graph.initializer.append(tensor)
    options = onnxruntime.SessionOptions()
    given = onnxruntime.OrtValue.ortvalue_from_numpy(X)
    options.add_external_initializers(["w"], [given])
    session = open_session(model, session_options=options)
    assert get_ours(session) == ["Loop"]
    assert_equal(session.run(None, feeds), [3 * X])

    model = parse(text.replace("float[2, 3] x)", "float[2, 3] x, float[2, 3] w)"))
    model.graph.initializer.append(numpy_helper.from_array(X + 1, "w"))
    session = open_session(model)
    assert get_ours(session) == ["Loop"]
    assert_equal(session.run(None, feeds), [X + 2 * (X + 1)])
    assert_equal(session.run(None, feeds | {"w": X}), [3 * X])
