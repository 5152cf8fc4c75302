# ===- test_ort_ep.py - loopc as an execution provider of onnxruntime -------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models whose loops onnxruntime gives to loopc: who has which node, and the results."""

import ctypes
import importlib
import warnings

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
from onnx import numpy_helper
from ort_provider import (
    GROWTH,
    NESTED,
    assert_equal,
    assert_like_alone,
    get_nodes,
    get_ours,
    growth_feeds,
    open_claiming,
    open_session,
    parse,
)

CONTROL_FLOW = {"If", "Loop", "Scan"}
RECURRENT = {"GRU", "LSTM", "RNN"}
# The newest that onnxruntime 1.31 takes.
OPSET, IR_VERSION = 26, 11


# ----- ONNX's own tests --------------------------------------------------------


def find_operators(graph, found):
    for node in graph.node:
        found.add(node.op_type)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                find_operators(attribute.g, found)
    return found


def load_cases():
    """Those of ONNX's tests of nodes that loop, branch or are recurrent."""
    from onnx.backend.test.case import node

    with warnings.catch_warnings():
        # Making the cases overflows in NumPy on purpose.
        warnings.simplefilter("ignore")
        # All of them take ten seconds.
        for module in ("affinegrid", "gru", "if_", "linear_attention", "loop", "lstm", "rangeop",
                       "rnn", "scan", "sequence_map"):  # fmt: skip
            importlib.import_module(f"{node.__name__}.{module}")
    return {
        case.name: case
        for case in node._NodeTestCases
        if find_operators(case.model.graph, set()) & (CONTROL_FLOW | RECURRENT)
    }


CASES = load_cases()
# onnxruntime has no rows first, with another provider either: it refuses the model.
REFUSED = {"test_simple_rnn_batchwise"}
# A sequence or an optional comes out, which a provider cannot give to onnxruntime.
COLLECTIONS = {
    "test_if_opt", "test_if_seq", "test_loop13_seq", "test_loop16_seq_none",
    *(name for name in CASES if name.startswith("test_sequence_map")),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(CASES) - REFUSED))
def test_onnx_suite(name):
    case = CASES[name]
    model = onnx.ModelProto.FromString(case.model.SerializeToString())
    model.ir_version = min(model.ir_version, IR_VERSION)
    for opset in model.opset_import:
        if opset.domain == "":
            opset.version = min(opset.version, OPSET)
    session = open_session(model)
    left = set(get_nodes(session, "CPUExecutionProvider")) & (CONTROL_FLOW | RECURRENT)
    assert bool(left) == (name in COLLECTIONS)
    for inputs, outputs in case.data_sets:
        values = [
            numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else v for v in inputs
        ]
        feeds = {
            port.name: np.asarray(v) if port.type.HasField("tensor_type") else v
            for port, v in zip(model.graph.input, values, strict=True)
        }
        if any(getattr(v, "dtype", None) == ml_dtypes.bfloat16 for v in values):
            continue  # which onnxruntime takes from NumPy in no form
        assert_equal(session.run(None, feeds), outputs)


# An operator that onnxruntime has, and loopc has not.
UNSUPPORTED = NESTED.replace(
    "s0 = OPERATOR(s)", "h = com.microsoft.MurmurHash3(s)\n    s0 = Cast<to = 1>(h)"
)

# ----- what is claimed ---------------------------------------------------------


def test_captures_and_collected():
    model = parse(GROWTH)
    session = open_claiming(["Loop"], model)
    for trips, extent in ((3, 4), (0, 2), (5, 1), (2, 0)):
        feeds = growth_feeds(trips, extent)
        assert_like_alone(session, model, feeds)


def test_nested_loops_are_claimed_whole():
    model = parse(NESTED.replace("OPERATOR", "Neg"))
    session = open_claiming(["Loop"], model)
    assert get_nodes(session, "CPUExecutionProvider") == ["Add"]
    assert_like_alone(session, model, growth_feeds())


def test_what_is_refused_stays_and_what_is_in_it_is_claimed(capfd):
    model = parse(UNSUPPORTED)
    session = open_claiming(["Loop"], model, log_level=2)
    assert {"Loop", "MurmurHash3"} <= set(get_nodes(session, "CPUExecutionProvider"))
    said = capfd.readouterr().err
    assert said.count("Loop stays with onnxruntime: ") == 1
    assert "MurmurHash3" in said.split("stays with onnxruntime: ")[1].splitlines()[0]
    assert_like_alone(session, model, growth_feeds())


def first_or_both(dtype, extent):
    """An If: a, or a and b of the declared extent, one behind the other."""
    return parse(f"""
g (bool c, {dtype}[N] a, {dtype}[{extent}] b) => ({dtype}[K] r) {{
  r = If(c) <then_branch = t () => ({dtype}[N] p) {{
    p = Identity(a)
  }}, else_branch = e () => ({dtype}[K] q) {{
    q = Concat<axis = 0>(a, b)
  }}>
}}""")


def test_strings():
    model = first_or_both("string", "M")
    session = open_claiming(["If"], model)
    for chosen in (True, False):
        feeds = {
            "c": np.array(chosen),
            "a": np.array(["", "ä", "a longer text than most"], object),
            "b": np.array(["z"], object),
        }
        assert_like_alone(session, model, feeds)


@pytest.mark.parametrize("dtype", ["double", "int8", "uint16", "int64", "float16", "bool"])
def test_element_types(dtype):
    model = first_or_both(dtype, "2")
    session = open_claiming(["If"], model)
    kind = {"double": np.float64, "bool": np.bool_}.get(dtype, dtype)
    feeds = {"c": np.array(False), "a": np.arange(3).astype(kind), "b": np.ones(2).astype(kind)}
    assert_like_alone(session, model, feeds)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8e4m3fn", "float8e5m2"])
def test_element_types_that_numpy_lacks(dtype):
    model = parse(f"""
g (bool c, {dtype}[N] a) => ({dtype}[M, N] r) {{
  r = If(c) <then_branch = t () => ({dtype}[K, L] p) {{
    rows = Constant<value = int64[1] {{0}}>()
    p = Unsqueeze(a, rows)
  }}, else_branch = e () => ({dtype}[K2, L2] q) {{
    columns = Constant<value = int64[1] {{1}}>()
    q = Unsqueeze(a, columns)
  }}>
}}""", opset=21)  # fmt: skip
    session = open_claiming(["If"], model)
    number = getattr(onnx.TensorProto, dtype.upper())
    bits = np.array([0, 1, 56, 127], np.uint16 if dtype == "bfloat16" else np.uint8)
    feeds = {
        "c": onnxruntime.OrtValue.ortvalue_from_numpy(np.array(True)),
        "a": onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, number),
    }
    (result,) = session.run_with_ort_values(None, feeds)
    assert result.shape() == [1, 4] and result.element_type() == number
    pointer = ctypes.cast(result.data_ptr(), ctypes.POINTER(ctypes.c_char))
    assert pointer[: bits.nbytes] == bits.tobytes()


def test_dimensions_of_one_name_may_differ():
    # onnxruntime holds nobody to names of dimensions.
    model = first_or_both("float", "N")
    session = open_session(model)
    feeds = {"c": np.array(False), "a": np.ones(3, np.float32), "b": np.ones(2, np.float32)}
    assert session.run(None, feeds)[0].shape == (5,)


# Rows that a list holds until they are one tensor; one more list goes from loop to loop.
LISTS = """
g (int64 n, float[N] x) => (float[K] r, float[N] z) {
  t = Constant<value = bool {1}>()
  none = SequenceEmpty<dtype = 1>()
  rows = Loop<body = b (int64 i, bool k, seq(float[M]) s) => (bool k2, seq(float[M]) s2) {
    k2 = Identity(k)
    f = Cast<to = 1>(i)
    row = Add(x, f)
    s2 = SequenceInsert(s, row)
  }>(n, t, none)
  z = Neg(x)
  more = Loop<body = c (int64 i2, bool kk, seq(float[M]) u) => (bool kk2, seq(float[M]) u2) {
    kk2 = Identity(kk)
    u2 = SequenceInsert(u, z)
  }>(n, t, rows)
  r = ConcatFromSequence<axis = 0>(more)
}"""


def test_sequences_within_a_region():
    model = parse(LISTS)
    session = open_session(model)
    # Neg is computed between the loops, of what the first one has not made.
    assert get_ours(session) == ["ConcatFromSequence", "Loop", "Loop", "SequenceEmpty"]
    for trips, extent in ((1, 4), (3, 2)):
        feeds = {"n": np.array(trips), "x": np.arange(extent, dtype=np.float32)}
        assert_like_alone(session, model, feeds)


@pytest.mark.parametrize("dtype", ["float", "string"])
def test_sequences_that_the_graph_is_given(dtype):
    # The loop and the branch behind it read it, and so does an operator that stays.
    model = parse(f"""
g (seq({dtype}[N]) given, {dtype}[N] x) => ({dtype}[K] r, {dtype}[L] s, int64 count) {{
  t = Constant<value = bool {{1}}>()
  count = SequenceLength(given)
  one = Constant<value = int64 {{1}}>()
  zero = Constant<value = int64 {{0}}>()
  several = Greater(count, one)
  r = Loop<body = b (int64 i, bool k, {dtype}[M] u) => (bool k2, {dtype}[M2] v) {{
    k2 = Identity(k)
    item = SequenceAt(given, i)
    v = Concat<axis = 0>(u, item)
  }}>(count, t, x)
  s = If(several) <then_branch = p () => ({dtype}[A] a) {{
    a = SequenceAt(given, one)
  }}, else_branch = q () => ({dtype}[B] b2) {{
    b2 = Concat<axis = 0>(x, x)
  }}>
}}""")
    session = open_claiming(["If", "Loop"], model)

    def tensor(extent):
        numbers = np.arange(extent)
        return numbers.astype(str).astype(object) if dtype == "string" else np.float32(numbers)

    for extents in ((3, 2), (0, 4, 1), (5,), ()):
        # onnxruntime's Python takes no empty list.
        if extents:
            feeds = {"given": [tensor(extent) for extent in extents], "x": tensor(2)}
            assert_like_alone(session, model, feeds)


def test_sequences_that_the_graph_is_given_and_returns():
    # What is returned cannot be handed over; the nodes stay.
    model = parse("""
g (int64 n, seq(float[N]) given, float[N] x) => (seq(float[N]) r) {
  t = Constant<value = bool {1}>()
  r = Loop<body = b (int64 i, bool k, seq(float[M]) u) => (bool k2, seq(float[M]) v) {
    k2 = Identity(k)
    v = SequenceInsert(u, x)
  }>(n, t, given)
}""")
    session = open_claiming([], model)
    x = np.ones(2, np.float32)
    assert_like_alone(session, model, {"n": np.array(2), "given": [x, x + 1], "x": x})


# A branch in the graph of a map, which onnxruntime expands to a loop unless a provider has it.
MAP = """
g (float[N] x, int64 parts) => (float[K] r) {
  items = SplitToSequence(x, parts)
  mapped = SequenceMap<body = b (float[M] u) => (float[M2] v) {
    zero = Constant<value = int64[1] {0}>()
    first = Gather(u, zero)
    low = Constant<value = float[1] {2.0}>()
    several = Less(first, low)
    scalar = Squeeze(several)
    v = If(scalar) <then_branch = p () => (float[A] a) {
      a = Neg(OPERAND)
    }, else_branch = q () => (float[B] e) {
      e = Concat<axis = 0>(u, u)
    }>
  }>(items)
  r = ConcatFromSequence<axis = 0>(mapped)
}"""


@pytest.mark.parametrize("claim", ["loops", "all"])
def test_maps_of_sequences(claim):
    model = parse(MAP.replace("OPERAND", "u"))
    session = open_session(model, claim=claim)
    assert get_ours(session) == ["ConcatFromSequence", "SequenceMap", "SplitToSequence"]
    feeds = {"x": np.arange(5, dtype=np.float32), "parts": np.array(2)}
    assert_like_alone(session, model, feeds)


def test_maps_that_stay(capfd):
    # A node of their graph that was fused before they are expanded is one of an unknown domain.
    text = MAP.replace("a = Neg(OPERAND)", "h = com.microsoft.MurmurHash3(u)\n a = Cast<to = 1>(h)")
    model = parse(text.replace("v = If", "g1 = If(scalar) <then_branch = p1 () => (float[A1] a1) {\n"
                  "a1 = Abs(u)\n}, else_branch = q1 () => (float[B1] e1) {\ne1 = Exp(u)\n}>\n"
                  "v = If").replace("(u, u)", "(u, g1)"))  # fmt: skip
    session = open_session(model, log_level=2)
    assert {"Loop", "MurmurHash3"} <= set(get_nodes(session, "CPUExecutionProvider"))
    assert get_ours(session).count("If") == 1
    said = capfd.readouterr().err
    assert "SequenceMap stays with onnxruntime: " in said
    assert "cannot be assigned" not in said
    feeds = {"x": np.arange(5, dtype=np.float32), "parts": np.array(2)}
    assert_like_alone(session, model, feeds)


def test_branches_in_a_loop_with_a_list():
    # Asked for first, the branch would be taken out of the loop.
    model = parse("""
g (int64 n, float[N] x) => (float[K] r) {
  t = Constant<value = bool {1}>()
  two = Constant<value = int64 {2}>()
  none = SequenceEmpty<dtype = 1>()
  rows = Loop<body = b (int64 i, bool k, seq(float[M]) s) => (bool k2, seq(float[M]) s2) {
    k2 = Identity(k)
    early = Less(i, two)
    row = If(early) <then_branch = p () => (float[N] q) {
      q = Identity(x)
    }, else_branch = e () => (float[N] q2) {
      q2 = Neg(x)
    }>
    s2 = SequenceInsert(s, row)
  }>(n, t, none)
  r = ConcatFromSequence<axis = 0>(rows)
}""")
    session = open_claiming(["ConcatFromSequence", "Loop", "SequenceEmpty"], model)
    feeds = {"n": np.array(4), "x": np.arange(3, dtype=np.float32)}
    assert_like_alone(session, model, feeds)


def test_regions_have_what_is_between_their_nodes():
    # z is computed of the first list, and read behind it.
    model = parse(LISTS.replace("z = Neg(x)", "w = ConcatFromSequence<axis = 0>(rows) z = Neg(w)"))
    session = open_session(model)
    assert get_nodes(session, "CPUExecutionProvider") == []
    feeds = {"n": np.array(3), "x": np.arange(2, dtype=np.float32)}
    assert_like_alone(session, model, feeds)


def test_regions_need_one_another_in_one_order():
    # Each of two lists would be made before what the other one is read by.
    model = parse("""
g (int64 n, float[N] x) => (float[K] r, float[L] s) {
  t = Constant<value = bool {1}>()
  a = SequenceConstruct(x)
  b0 = SequenceConstruct(x)
  b = Loop<body = b1 (int64 i, bool k, seq(float[M]) q) => (bool k2, seq(float[M]) q2) {
    k2 = Identity(k)
    q2 = SequenceInsert(q, x)
  }>(n, t, b0)
  p = ConcatFromSequence<axis = 0>(b0)
  a1 = SequenceInsert(a, p)
  a2 = Loop<body = b2 (int64 j, bool kk, seq(float[M]) u) => (bool kk2, seq(float[M]) u2) {
    kk2 = Identity(kk)
    u2 = SequenceInsert(u, x)
  }>(n, t, a1)
  o = ConcatFromSequence<axis = 0>(a)
  b2 = SequenceInsert(b, o)
  r = ConcatFromSequence<axis = 0>(a2)
  s = ConcatFromSequence<axis = 0>(b2)
}""")
    session = open_session(model)
    assert "Loop" in get_ours(session)
    feeds = {"n": np.array(2), "x": np.arange(3, dtype=np.float32)}
    assert_like_alone(session, model, feeds)


# Two recurrent layers, and what exporters put around them; a product, which is not light.
LAYERS = """
g (float[B, T, 3] x, float[1, 16, 3] w, float[1, 16, 4] r, float[1, 16, 4] w2, float[1, 16, 4] r2,
   float[4, 4] p) => (float[B, T, 4] y, float[B, T, 4] z) {
  steps = Transpose<perm = [1, 0, 2]>(x)
  h4 = LSTM<hidden_size = 4>(steps, w, r)
  axis = Constant<value = int64[1] {1}>()
  h = Squeeze(h4, axis)
  g4 = LSTM<hidden_size = 4>(h, w2, r2)
  g = Squeeze(g4, axis)
  a = Relu(g)
  y = Transpose<perm = [1, 0, 2]>(a)
  product = MatMul(y, p)
  z = Tanh(product)
}"""


def run_both(session, model, extents):
    rng = np.random.default_rng(1)
    feeds = {name: rng.normal(0, 1, shape).astype(np.float32) for name, shape in extents.items()}
    assert_like_alone(session, model, feeds)


WEIGHTS = {"w": (1, 16, 3), "r": (1, 16, 4), "p": (4, 4)}


def test_claim_regions():
    model = parse(LAYERS)
    session = open_session(model, claim="regions")
    ours = ["LSTM", "LSTM", "Relu", "Squeeze", "Squeeze", "Transpose", "Transpose"]
    assert get_ours(session) == ours
    assert get_nodes(session, "CPUExecutionProvider") == ["MatMul", "Tanh"]
    run_both(session, model, {"x": (2, 5, 3), "w2": (1, 16, 4), "r2": (1, 16, 4), **WEIGHTS})


def test_regions_do_not_take_what_others_would_have_to_follow():
    # Add reads the loop, and a product of what the loop computes.
    model = parse("""
g (float[2, B, 3] x, float[1, 16, 3] w, float[1, 16, 4] r, float[4, 4] p) => (float[2, 1, B, 4] y) {
  h = LSTM<hidden_size = 4>(x, w, r)
  t = Tanh(h)
  m = MatMul(t, p)
  y = Add(m, t)
}""")
    session = open_claiming(["LSTM", "Tanh"], model, claim="regions")
    run_both(session, model, {"x": (2, 5, 3), **WEIGHTS})


def test_claim_all():
    model = parse(GROWTH)
    session = open_claiming(["Add", "Loop"], model, claim="all")
    assert_like_alone(session, model, growth_feeds())
    model = parse(UNSUPPORTED)
    session = open_session(model, claim="all")
    # In the outer loop's body, which stays: a region.
    assert get_ours(session) == ["Add", "Cast", "Loop"]
    assert_like_alone(session, model, growth_feeds())


def test_empty_tensors_of_wrong_extents():
    # onnxruntime's ReduceMax of (2, 0, 3) has this shape, and not the (2, 0, 1) that it declares.
    model = parse("""
g (int64 n, float[A, B, 3] x) => (float[A, B, 1] r) <int64[1] axis = {-1}> {
  t = Constant<value = bool {1}>()
  m = ReduceMax<keepdims = 1>(x, axis)
  r = Loop<body = b (int64 i, bool k, float[A, B, 1] s) => (bool k2, float[A, B, 1] s2) {
    k2 = Identity(k)
    s2 = Neg(s)
  }>(n, t, m)
}""", opset=18)  # fmt: skip
    session = open_claiming(["Loop"], model)
    for extents in ((2, 0, 3), (2, 2, 3)):
        feeds = {"n": np.array(1), "x": np.ones(extents, np.float32)}
        assert session.run(None, feeds)[0].shape == (*extents[:2], 1)
