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
import os
import pathlib
import platform
import re
import subprocess
import sys
import threading
import time
import types
import warnings

import loopc
import loopc.onnxruntime
import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
from onnx import numpy_helper

ROOT = pathlib.Path(__file__).parents[2]
CONTROL_FLOW = {"If", "Loop", "Scan"}
RECURRENT = {"GRU", "LSTM", "RNN"}
# The newest that onnxruntime 1.31 takes.
OPSET, IR_VERSION = 26, 11


def open_session(model, log_level=3, **options):
    """A session with the provider, which records who has which node."""
    session_options = onnxruntime.SessionOptions()
    session_options.log_severity_level = log_level
    session_options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    loopc.onnxruntime.add_provider(session_options, **options)
    if isinstance(model, onnx.ModelProto):
        model = model.SerializeToString()
    session = onnxruntime.InferenceSession(model, session_options)
    session.disable_fallback()
    return session


def parse(text, opset=17):
    head = f'<ir_version: 8, opset_import: ["" : {opset}, "com.microsoft" : 1]>\n'
    return onnx.parser.parse_model(head + text)


def get_nodes(session, provider):
    """The operators that a provider has."""
    return sorted(
        node.op_type
        for graph in session.get_provider_graph_assignment_info()
        if graph.ep_name == provider
        for node in graph.get_nodes()
    )


def get_ours(session):
    return get_nodes(session, loopc.onnxruntime.PROVIDER)


def run_alone(model, feeds):
    """By onnxruntime without the provider."""
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, feeds)


def assert_equal(got, expected):
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        if isinstance(other, list):
            assert_equal(one, other)
        elif other is None:
            assert one is None
        elif np.asarray(other).dtype.kind in "OUS":
            assert np.asarray(one).tolist() == np.asarray(other).tolist()
        else:
            assert np.shape(one) == np.shape(other)
            np.testing.assert_allclose(one, other, 1e-4, 1e-5)


# An iteration adds a captured tensor, doubles, and collects.
GROWTH = """
g (int64 n, float[N] x, float[N] y) => (float[N] r, float[T, N] c) <float[1] w = {2.0}> {
  z = Add(x, y)
  t = Constant<value = bool {1}>()
  r, c = Loop<body = b (int64 i, bool k, float[N] s) => (bool k2, float[N] s2, float[N] o) {
    k2 = Identity(k)
    s1 = Add(s, z)
    s2 = Mul(s1, w)
    o = Identity(s2)
  }>(n, t, x)
}"""


def growth_feeds(trips=3, extent=4):
    x = np.linspace(-1, 1, extent, dtype=np.float32)
    return {"n": np.array(trips), "x": x, "y": np.cos(x)}


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


# ----- what is claimed ---------------------------------------------------------


def test_captures_and_collected():
    model = parse(GROWTH)
    session = open_session(model)
    assert get_ours(session) == ["Loop"]
    for trips, extent in ((3, 4), (0, 2), (5, 1), (2, 0)):
        feeds = growth_feeds(trips, extent)
        assert_equal(session.run(None, feeds), run_alone(model, feeds))


# A loop in a loop; the outer one has an operator more.
NESTED = """
g (int64 n, float[N] x, float[N] y) => (float[N] r, float[T] c)
    <float[1] w = {2.0}, int64[1] zero = {0}> {
  z = Add(x, y)
  t = Constant<value = bool {1}>()
  r, c = Loop<body = b (int64 i, bool k, float[N] s) => (bool k2, float[N] s2, float o) {
    k2 = Identity(k)
    s0 = OPERATOR(s)
    q, s1 = Loop<body = b2 (int64 j, bool kk, float[N] u) => (bool kk2, float[N] v, float[N] v2) {
      kk2 = Identity(kk)
      v1 = Add(u, z)
      v = Mul(v1, w)
      v2 = Mul(v, s0)
    }>(n, k, s)
    s2 = Add(q, s0)
    o = ReduceSum<keepdims = 0>(s1)
  }>(n, t, x)
}"""


def test_nested_loops_are_claimed_whole():
    model = parse(NESTED.replace("OPERATOR", "Neg"))
    session = open_session(model)
    assert get_ours(session) == ["Loop"]
    assert get_nodes(session, "CPUExecutionProvider") == ["Add"]
    assert_equal(session.run(None, growth_feeds()), run_alone(model, growth_feeds()))


def test_what_is_refused_stays_and_what_is_in_it_is_claimed(capfd):
    # An operator that onnxruntime has, and loopc has not.
    model = parse(NESTED.replace("OPERATOR", "com.microsoft.SampleOp"))
    session = open_session(model, log_level=2)
    assert get_ours(session) == ["Loop"]
    assert {"Loop", "SampleOp"} <= set(get_nodes(session, "CPUExecutionProvider"))
    said = capfd.readouterr().err
    assert said.count("Loop stays with onnxruntime: ") == 1
    assert "SampleOp" in said.split("stays with onnxruntime: ")[1].splitlines()[0]
    assert_equal(session.run(None, growth_feeds()), run_alone(model, growth_feeds()))


def test_strings():
    model = parse("""
g (bool c, string[N] a, string[M] b) => (string[K] r) {
  r = If(c) <then_branch = t () => (string[N] p) {
    p = Identity(a)
  }, else_branch = e () => (string[K] q) {
    q = Concat<axis = 0>(a, b)
  }>
}""")
    session = open_session(model)
    assert get_ours(session) == ["If"]
    for chosen in (True, False):
        feeds = {
            "c": np.array(chosen),
            "a": np.array(["", "ä", "a longer text than most"], object),
            "b": np.array(["z"], object),
        }
        assert_equal(session.run(None, feeds), run_alone(model, feeds))


@pytest.mark.parametrize("dtype", ["double", "int8", "uint16", "int64", "float16", "bool"])
def test_element_types(dtype):
    model = parse(f"""
g (bool c, {dtype}[N] a, {dtype}[2] b) => ({dtype}[K] r) {{
  r = If(c) <then_branch = t () => ({dtype}[N] p) {{
    p = Identity(a)
  }}, else_branch = e () => ({dtype}[K] q) {{
    q = Concat<axis = 0>(a, b)
  }}>
}}""")
    session = open_session(model)
    assert get_ours(session) == ["If"]
    kind = {"double": np.float64, "bool": np.bool_}.get(dtype, dtype)
    feeds = {"c": np.array(False), "a": np.arange(3).astype(kind), "b": np.ones(2).astype(kind)}
    assert_equal(session.run(None, feeds), run_alone(model, feeds))


def test_dimensions_of_one_name_may_differ():
    # onnxruntime holds nobody to names of dimensions.
    model = parse("""
g (bool c, float[N] a, float[N] b) => (float[K] r) {
  r = If(c) <then_branch = t () => (float[N] p) {
    p = Identity(a)
  }, else_branch = e () => (float[K] q) {
    q = Concat<axis = 0>(a, b)
  }>
}""")
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
        assert_equal(session.run(None, feeds), run_alone(model, feeds))


def test_regions_have_what_is_between_their_nodes():
    # z is computed of the first list, and read behind it.
    model = parse(LISTS.replace("z = Neg(x)", "w = ConcatFromSequence<axis = 0>(rows) z = Neg(w)"))
    session = open_session(model)
    assert get_nodes(session, "CPUExecutionProvider") == []
    feeds = {"n": np.array(3), "x": np.arange(2, dtype=np.float32)}
    assert_equal(session.run(None, feeds), run_alone(model, feeds))


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
    assert_equal(session.run(None, feeds), run_alone(model, feeds))


def test_claim_all():
    model = parse(GROWTH)
    session = open_session(model, claim="all")
    assert get_ours(session) == ["Add", "Loop"]
    assert_equal(session.run(None, growth_feeds()), run_alone(model, growth_feeds()))
    model = parse(NESTED.replace("OPERATOR", "com.microsoft.SampleOp"))
    session = open_session(model, claim="all")
    assert get_ours(session) == ["Loop"]
    assert_equal(session.run(None, growth_feeds()), run_alone(model, growth_feeds()))


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
    session = open_session(model)
    assert get_ours(session) == ["Loop"]
    for extents in ((2, 0, 3), (2, 2, 3)):
        feeds = {"n": np.array(1), "x": np.ones(extents, np.float32)}
        assert session.run(None, feeds)[0].shape == (*extents[:2], 1)


# ----- runs --------------------------------------------------------------------

# Fails in the iteration whose number is not below the extent of x.
GATHERING = """
g (int64 n, float[N] x) => (float[T] c) {
  t = Constant<value = bool {1}>()
  c = Loop<body = b (int64 i, bool k) => (bool k2, float o) {
    k2 = Identity(k)
    o = Gather<axis = 0>(x, i)
  }>(n, t)
}"""


def test_errors_from_inside():
    session = open_session(parse(GATHERING), log_level=4)
    assert get_ours(session) == ["Loop"]
    feeds = {"n": np.array(9), "x": np.zeros(3, np.float32)}
    # onnxruntime's errors have no common base.
    with pytest.raises(Exception, match=r"body/#0 Gather .*: index 3 is out of .*iteration 3"):
        session.run(None, feeds)
    feeds["n"] = np.array(3)
    assert session.run(None, feeds)[0].shape == (3,)


# Runs as long as nobody ends it.
ENDLESS = """
g (float[N] x) => (float[N] r) {
  t = Constant<value = bool {1}>()
  n = Constant<value = int64 {9223372036854775807}>()
  r = Loop<body = b (int64 i, bool k, float[N] s) => (bool k2, float[N] s2) {
    k2 = Identity(k)
    s2 = Cos(s)
  }>(n, t, x)
}"""


def test_timeout():
    session = open_session(parse(ENDLESS), log_level=4, timeout=0.05)
    with pytest.raises(Exception, match="time"):
        session.run(None, {"x": np.ones(3, np.float32)})


def test_cancellation():
    session = open_session(parse(ENDLESS), log_level=4, timeout=60)
    errors = []

    def run():
        try:
            session.run(None, {"x": np.ones(3, np.float32)})
        except Exception as error:  # onnxruntime's errors have no common base.
            errors.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.05)
    session.set_ep_dynamic_options({"cancel": "1"})
    thread.join()
    assert len(errors) == 1 and "cancelled" in errors[0]
    with pytest.raises(Exception, match="cancelled"):
        session.run(None, {"x": np.ones(3, np.float32)})
    with pytest.raises(Exception, match="'cancel', which is 0 or 1"):
        session.set_ep_dynamic_options({"cancel": "maybe"})


def test_threads():
    model = parse(GROWTH)
    session = open_session(model)
    wrong = []

    def run(number):
        for step in range(50):
            feeds = growth_feeds(number, 1 + step % 7)
            results = session.run(None, feeds)
            if not np.array_equal(results[1], expected[number, 1 + step % 7]):
                wrong.append((number, step))

    expected = {
        (number, extent): run_alone(model, growth_feeds(number, extent))[1]
        for number in range(8)
        for extent in range(1, 8)
    }
    threads = [threading.Thread(target=run, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def read_memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_memory_is_flat():
    session = open_session(parse(GROWTH))
    feeds = growth_feeds(10, 1000)
    for _ in range(2000):
        session.run(None, feeds)
    before = read_memory()
    for _ in range(10000):
        session.run(None, feeds)
    # 44 KB of outputs a run would be 440 MB.
    assert read_memory() - before < 8e6


def reset_peak():
    """Memory at most in use from now on begins with what is in use."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def read_peak():
    with open("/proc/self/status") as file:
        (peak,) = (line.split()[1] for line in file if line.startswith("VmHWM"))
    return int(peak) * 1024


def test_inputs_are_not_copied():
    # 64 MB, of which each iteration reads a row.
    model = parse("""
g (int64 n, float[A, 1000] x) => (float[T, 1000] r) {
  t = Constant<value = bool {1}>()
  r = Loop<body = b (int64 i, bool k) => (bool k2, float[1000] row) {
    k2 = Identity(k)
    row = Gather<axis = 0>(x, i)
  }>(n, t)
}""")
    session = open_session(model, memory_limit=1000000)
    feeds = {"n": np.array(5), "x": np.ones((16000, 1000), np.float32)}
    session.run(None, feeds)
    reset_peak()
    before = read_memory()
    assert session.run(None, feeds)[0].shape == (5, 1000)
    assert read_peak() - before < 16e6


# ----- options and errors ------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"claim": "some"},
            "option 'claim' of LoopcExecutionProvider is 'some', expected loops or all",
        ),
        ({"opt_level": 4}, "option 'opt_level' .* is '4', expected 0 to 3"),
        ({"timeout": "nan"}, "option 'timeout' .* is 'nan', expected a number of seconds"),
        ({"memory_limit": -1}, "option 'memory_limit' .* is '-1', expected a number of bytes"),
        ({"device": 0}, "LoopcExecutionProvider has no option 'device': it has cache_dir, claim,"),
    ],
)
def test_wrong_options(options, message, capfd):
    # onnxruntime's Python prints the error, and makes a session without the provider.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = open_session(parse(GROWTH), **options)
    assert session.get_providers() == ["CPUExecutionProvider"]
    assert re.search(message, capfd.readouterr().out)


def test_memory_limit():
    session = open_session(parse(GROWTH), log_level=4, memory_limit=1000)
    with pytest.raises(Exception, match="out of memory"):
        session.run(None, growth_feeds(10, 1000))


def test_compile_timeout(capfd):
    # What cannot be compiled in time stays with onnxruntime. In this process nothing ends a
    # compilation that has begun.
    session = open_session(parse(GROWTH), log_level=2, compile_timeout=1e-9)
    assert get_ours(session) == []
    assert "Loop stays with onnxruntime: " in capfd.readouterr().err


def test_register_is_done_once():
    first, second = loopc.onnxruntime.register(), loopc.onnxruntime.register()
    assert len(first) == len(second) == 1
    assert first[0].ep_name == "LoopcExecutionProvider"
    assert first[0].ep_vendor == "loopc"
    assert os.path.basename(loopc.get_ep_library()) == "libloopc_ort.so"


def test_register_where_onnxruntime_is_another_module(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", loopc)
    with pytest.raises(loopc.Error, match="is loopc itself"):
        loopc.onnxruntime.register()
    monkeypatch.setitem(sys.modules, "onnxruntime", types.SimpleNamespace(__version__="1.20.1"))
    with pytest.raises(loopc.Error, match=r"needs onnxruntime 1\.27 .* onnxruntime 1\.20\.1"):
        loopc.onnxruntime.register()


@pytest.fixture
def enabled():
    loopc.onnxruntime.enable()
    yield
    loopc.onnxruntime.disable()


def test_sessions_of_others(enabled):
    model = parse(GROWTH).SerializeToString()
    session_options = onnxruntime.SessionOptions()
    ours = [loopc.onnxruntime.PROVIDER, "CPUExecutionProvider"]
    for arguments in (
        {},
        {"sess_options": session_options},
        # They have the provider now.
        {"sess_options": session_options},
        {"providers": ["CPUExecutionProvider"]},
        {"providers": [("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})]},
    ):
        session = onnxruntime.InferenceSession(model, **arguments)
        assert session.get_providers() == ours
        assert_equal(session.run(None, growth_feeds()), run_alone(parse(GROWTH), growth_feeds()))
    others = [name for name in onnxruntime.get_available_providers() if name != ours[1]][:1]
    session = onnxruntime.InferenceSession(model, providers=[*others, *ours[1:]])
    assert (loopc.onnxruntime.PROVIDER in session.get_providers()) == (not others)
    loopc.onnxruntime.disable()
    assert onnxruntime.InferenceSession(model).get_providers() == ours[1:]


PACKAGE = """
import sys, warnings, numpy as np, pathlib, importlib.util
if sys.argv[1] == "loopc":
    import loopc.onnxruntime
    loopc.onnxruntime.enable()
import onnx_asr
folder = pathlib.Path(importlib.util.find_spec("silero_vad").origin).parent
vad = onnx_asr.load_vad("silero", folder / "data")
tones = np.sin(2 * np.pi * 220 * np.arange(16000) / 16000)
tones = (tones + np.random.default_rng(0).normal(0, 0.05, 16000)).astype(np.float32)
speech = np.concatenate([tones[:8000] / 50, tones])[None]
print([list(one) for one in vad.segment_batch(speech, np.array([speech.shape[1]]), 16000)])
print("libloopc_ort" in open("/proc/self/maps").read())
"""


def test_a_package_as_it_is():
    said = [
        subprocess.run(
            [sys.executable, "-c", PACKAGE, name], check=True, capture_output=True, text=True
        ).stdout.splitlines()
        for name in ("loopc", "onnxruntime")
    ]
    assert said[0] == [said[1][0], "True"]
    assert said[1][1] == "False"


# ----- models with compiled code -----------------------------------------------


def write_context(folder, embed, model="model.onnx", **options):
    """Writes context.onnx in the folder, of model.onnx there."""
    session_options = onnxruntime.SessionOptions()
    session_options.log_severity_level = 3
    entries = {"enable": "1", "embed_mode": embed, "file_path": str(folder / "context.onnx")}
    for key, value in entries.items():
        session_options.add_session_config_entry(f"ep.context_{key}", value)
    loopc.onnxruntime.add_provider(session_options, **options)
    return onnxruntime.InferenceSession(str(folder / model), session_options)


@pytest.mark.parametrize("embed", ["0", "1"])
def test_context_models(tmp_path, embed):
    model = parse(GROWTH)
    onnx.save(model, tmp_path / "model.onnx")
    expected = run_alone(model, growth_feeds())
    assert_equal(write_context(tmp_path, embed).run(None, growth_feeds()), expected)
    # A library that is in use is replaced by another file.
    mapped = open_session(str(tmp_path / "context.onnx"))
    os.remove(tmp_path / "context.onnx")
    write_context(tmp_path, embed)
    assert_equal(mapped.run(None, growth_feeds()), expected)
    (node,) = (n for n in onnx.load(tmp_path / "context.onnx").graph.node if n.op_type != "Add")
    assert node.op_type == "EPContext" and node.domain == "com.microsoft"
    libraries = [path.name for path in tmp_path.glob("context_*")]
    assert len(libraries) == (1 if embed == "0" else 0)
    assert {path.name for path in tmp_path.iterdir()} == {"model.onnx", "context.onnx", *libraries}

    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ["context.onnx", *libraries]:
        os.rename(tmp_path / name, moved / name)
    session = open_session(str(moved / "context.onnx"))
    assert get_ours(session) == ["EPContext"]
    assert_equal(session.run(None, growth_feeds()), expected)


def load_changed(folder, change):
    """A session of context.onnx after its node is changed."""
    model = onnx.load(folder / "context.onnx")
    (node,) = (n for n in model.graph.node if n.op_type == "EPContext")
    change({a.name: a for a in node.attribute})
    return open_session(model, log_level=4)


def test_damaged_context_models(tmp_path, capfd):
    onnx.save(parse(GROWTH), tmp_path / "model.onnx")
    write_context(tmp_path, "1")

    def damage(attributes):
        code = bytearray(attributes["ep_cache_context"].s)
        code[len(code) // 2] ^= 1
        attributes["ep_cache_context"].s = bytes(code)

    def empty(attributes):
        attributes["ep_cache_context"].s = b""

    def rename(attributes):
        attributes["notes"].s = attributes["notes"].s.replace(b"0,1,2", b"0,1,7")

    def leave(name):
        def change(attributes):
            attributes["embed_mode"].i = 0
            attributes["ep_cache_context"].s = name

        return change

    for change, message in (
        (damage, "is damaged"),
        (empty, "is damaged"),
        (rename, "name the port 7"),
        (leave(b"../x.so"), "not beside the model"),
        (leave(b"/x.so"), "not beside the model"),
        (leave(b"x.so"), "the model was given as bytes"),
    ):
        with pytest.raises(Exception, match=message):
            load_changed(tmp_path, change)


def test_context_models_in_memory(tmp_path):
    model = parse(GROWTH)
    session_options = onnxruntime.SessionOptions()
    session_options.log_severity_level = 4
    loopc.onnxruntime.add_provider(session_options)

    def compile_model(embed):
        return onnxruntime.ModelCompiler(
            session_options, model.SerializeToString(), embed_compiled_data_into_model=embed
        ).compile_to_bytes()

    session = open_session(onnx.ModelProto.FromString(compile_model(True)))
    assert get_ours(session) == ["EPContext"]
    assert_equal(session.run(None, growth_feeds()), run_alone(model, growth_feeds()))
    with pytest.raises(Exception, match=r"ep\.context_file_path says where"):
        compile_model(False)


def test_context_models_for_other_machines(tmp_path, capfd):
    onnx.save(parse(GROWTH), tmp_path / "model.onnx")
    session = open_session(parse(GROWTH), log_level=2, cpu="none-such")
    assert get_ours(session) == []
    assert "Loop stays with onnxruntime: error: LC0602: 'none-such'" in capfd.readouterr().err
    if platform.machine() == "x86_64":
        write_context(tmp_path, "0", cpu="x86-64-v2")
        session = open_session(str(tmp_path / "context.onnx"))
        assert_equal(session.run(None, growth_feeds()), run_alone(parse(GROWTH), growth_feeds()))


# ----- other onnxruntimes ------------------------------------------------------


def load_by(version, get_api):
    """What the library answers an onnxruntime: the message of a status, or None."""
    said = []

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p)
    def create_status(code, message):
        said.append(message.decode())
        return 1

    nothing = ctypes.CFUNCTYPE(ctypes.c_void_p)(lambda: None)
    table = (ctypes.c_void_p * 500)(*[ctypes.cast(nothing, ctypes.c_void_p).value] * 500)
    table[0] = ctypes.cast(create_status, ctypes.c_void_p).value
    tables = {"all": ctypes.addressof(table), "none": None}
    text = ctypes.create_string_buffer(version)
    get_version = ctypes.CFUNCTYPE(ctypes.c_void_p)(lambda: ctypes.addressof(text))
    get_table = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(
        lambda number: tables["all" if number == 1 else get_api]
    )
    base = (ctypes.c_void_p * 2)(
        ctypes.cast(get_table, ctypes.c_void_p), ctypes.cast(get_version, ctypes.c_void_p)
    )
    library = ctypes.CDLL(loopc.get_ep_library())
    factories, count = (ctypes.c_void_p * 1)(), ctypes.c_size_t(7)
    library.CreateEpFactories.restype = ctypes.c_void_p
    status = library.CreateEpFactories(
        b"x", base, None, factories, ctypes.c_size_t(1), ctypes.byref(count)
    )
    assert (status == 1) == bool(said) and count.value == 0
    return said[0]


@pytest.mark.parametrize(
    ("version", "get_api", "message"),
    [
        (b"1.26.4", "all", "loopc needs onnxruntime 1.27 or a later 1.x, this is onnxruntime 1.26.4"),
        (b"2.0.0", "all", "loopc needs onnxruntime 1.27 or a later 1.x, this is onnxruntime 2.0.0"),
        (b"dev", "all", "loopc needs onnxruntime 1.27 or a later 1.x, this is onnxruntime dev"),
        (b"1.27.0", "none", "this is onnxruntime 1.27.0, which has no interface of version 1.27"),
        (b"1.31.1", "all", "this is onnxruntime 1.31.1, which was built without execution providers"),
    ],
)  # fmt: skip
def test_other_versions_are_refused(version, get_api, message):
    assert load_by(version, get_api).startswith(message)


def test_functions_are_tried():
    # The functions of a real one, but for one that says something else.
    program = """
import ctypes, glob, loopc, onnxruntime
(real,) = glob.glob(onnxruntime.__path__[0] + "/capi/libonnxruntime.so.*")
base = ctypes.CDLL(real).OrtGetApiBase
base.restype = ctypes.POINTER(ctypes.c_void_p * 2)
get_table = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(base().contents[0])
table = (ctypes.c_void_p * 424).from_buffer_copy((ctypes.c_void_p * 424).from_address(get_table(27)))
text = ctypes.create_string_buffer(b"something else")
wrong = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda status: ctypes.addressof(text))
said = []
create = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p)(table[0])
def create_status(code, message):
    said.append(message.decode())
    return create(code, message)
mine = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p)(create_status)
table[0], table[2] = (ctypes.cast(f, ctypes.c_void_p).value for f in (mine, wrong))
give = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(lambda number: ctypes.addressof(table))
other = (ctypes.c_void_p * 2)(ctypes.cast(give, ctypes.c_void_p), base().contents[1])
library = ctypes.CDLL(loopc.get_ep_library())
library.CreateEpFactories.restype = ctypes.c_void_p
count = ctypes.c_size_t(0)
library.CreateEpFactories(b"x", other, None, (ctypes.c_void_p * 1)(), ctypes.c_size_t(1), ctypes.byref(count))
print(said[-1])
"""
    result = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert "whose functions are not what loopc takes them for" in result.stdout


# ----- docs/OnnxRuntimeEP.md -----------------------------------------------------


def test_the_programs_of_the_documentation(tmp_path, monkeypatch, capsys):
    text = (ROOT / "docs/OnnxRuntimeEP.md").read_text()
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    start, report, cancel, ahead = (block for language, block in blocks if language == "python")
    _, answer = (block for language, block in blocks if not language)
    onnx.save(parse(GROWTH), tmp_path / "model.onnx")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(start, names)
    assert_equal(
        names["session"].run(None, growth_feeds()), run_alone(parse(GROWTH), growth_feeds())
    )
    exec(report, names)
    assert capsys.readouterr().out == answer
    exec(cancel, names)
    with pytest.raises(Exception, match="cancelled"):
        names["session"].run(None, growth_feeds())
    if platform.machine() == "x86_64":
        exec(ahead, names)
        session = open_session("compiled.onnx")
        assert_equal(session.run(None, growth_feeds()), run_alone(parse(GROWTH), growth_feeds()))


def test_the_documentation_has_all_options(capfd):
    text = (ROOT / "docs/OnnxRuntimeEP.md").read_text()
    rows = set(re.findall(r"^\| `(\w+)`", text, re.MULTILINE)) | {"features"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        open_session(parse(GROWTH), device=0)
    (listed,) = re.findall(r"'device': it has ([\w, ]+)", capfd.readouterr().out)
    assert set(listed.split(", ")) - {""} <= rows


# ----- what users have: the cache, and a process that compiles -------------------

WARM = """
import sys, numpy as np, onnxruntime, loopc.onnxruntime
options = loopc.onnxruntime.add_provider(onnxruntime.SessionOptions(), cache_dir=sys.argv[2])
session = onnxruntime.InferenceSession(sys.argv[1], options)
x = np.arange(4, dtype=np.float32)
print(session.run(None, {"n": np.array(2), "x": x, "y": x})[0].tolist())
maps = open("/proc/self/maps").read()
print("libloopc.so" in maps, "libLLVM" in maps, "libloopc_compiler" in maps, sys.argv[2] in maps)
"""


def test_cache_without_a_compiler_in_the_process(tmp_path):
    onnx.save(parse(GROWTH), tmp_path / "model.onnx")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LOOPC_")}
    answers = [
        subprocess.run(
            [sys.executable, "-c", WARM, "model.onnx", str(tmp_path / "cache")],
            cwd=tmp_path, env=environment | extra, check=True, capture_output=True, text=True,
        ).stdout.splitlines()
        # The second one finds the code: it could not compile.
        for extra in ({}, {"LOOPC_COMPILE": "inprocess"})
    ]  # fmt: skip
    assert answers[0] == answers[1] == ["[0.0, 16.0, 32.0, 48.0]", "True False False True"]
