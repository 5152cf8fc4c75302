# ===- test_session.py - loopc.InferenceSession and its relatives -----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The Python surface over small models."""

import gc
import json
import pickle
import resource
import threading
import time
import warnings

import loopc
import loopc.aot
import ml_dtypes
import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest


def parse(text, opset=21):
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]>\n{text}')


ADD = parse("add (float[N,3] x, float[3] b) => (float[N,3] y) { y = Add(x, b) }")

SUM = parse("""
sum (int64 n, float[4] x) => (float[4] total, float[T,4] all) {
  keep = Constant <value: tensor = bool {1}> ()
  total, all = Loop (n, keep, x) <body = step (int64 i, bool go, float[4] before)
    => (bool more, float[4] after, float[4] copy) {
      more = Identity (go)
      after = Add (before, x)
      copy = Identity (after)
    }>
}""")

ENDLESS = parse("""
endless (float x) => (float y) {
  y = Loop ("", "", x) <body = step (int64 i, bool go, float before)
    => (bool more, float after) {
      more = Identity (go)
      after = Add (before, x)
    }>
}""")


def identity(onnx_type, rank=1):
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Identity", ["x"], ["y"])],
        "identity",
        [value("x", onnx_type, [None] * rank)],
        [value("y", onnx_type, [None] * rank)],
    )
    return onnx.helper.make_model(
        graph, ir_version=10, opset_imports=[onnx.helper.make_opsetid("", 21)]
    )


@pytest.fixture(scope="module")
def add():
    return loopc.InferenceSession(ADD)


@pytest.fixture(scope="module")
def endless():
    # The limit is for a test that fails: nothing else would end it.
    return loopc.InferenceSession(ENDLESS, loopc.SessionOptions(timeout=30))


X = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.array([10, 20, 30], np.float32)


def test_run(add):
    (y,) = add.run(None, {"x": X, "b": B})
    np.testing.assert_array_equal(y, X + B)
    assert y.dtype == np.float32


def test_loop():
    session = loopc.InferenceSession(SUM)
    x = np.array([1, 2, 3, 4], np.float32)
    for n in (0, 1, 5):
        total, collected = session.run(None, {"n": np.array(n), "x": x})
        np.testing.assert_array_equal(total, x * (n + 1))
        expected = [x * (i + 2) for i in range(n)]
        np.testing.assert_array_equal(collected, np.reshape(expected, (n, 4)))


def test_scalar_outputs_are_arrays_of_rank_0():
    session = loopc.InferenceSession(identity(onnx.TensorProto.FLOAT, rank=0))
    (y,) = session.run(None, {"x": np.array(3, np.float32)})
    assert isinstance(y, np.ndarray)
    assert y.shape == ()
    assert y == 3


def test_sources(tmp_path):
    path = tmp_path / "add.onnx"
    onnx.save(ADD, path)
    for source in (ADD, ADD.SerializeToString(), str(path), path):
        (y,) = loopc.InferenceSession(source).run(None, {"x": X, "b": B})
        np.testing.assert_array_equal(y, X + B)
    text = tmp_path / "add.onnxtxt"
    text.write_text(onnx.printer.to_text(ADD))
    assert loopc.InferenceSession(text).get_inputs()[0].name == "x"
    with pytest.raises(loopc.InvalidArgument, match="expected a path"):
        loopc.InferenceSession(3)
    with pytest.raises(loopc.InvalidArgument):
        loopc.InferenceSession("")
    with pytest.raises(loopc.CompileError) as caught:
        loopc.InferenceSession(tmp_path / "none.onnx")
    assert caught.value.code == "LC0102"


def test_describes_itself(add):
    assert add.get_inputs() == [
        loopc.NodeArg("x", "tensor(float)", ["N", 3]),
        loopc.NodeArg("b", "tensor(float)", [3]),
    ]
    (output,) = add.get_outputs()
    assert (output.name, output.type) == ("y", "tensor(float)")
    assert output.shape[1] == 3
    meta = add.get_modelmeta()
    assert meta.graph_name == "add"
    assert meta.compiler == f"loopc {loopc.__version__}"
    assert add.get_providers() == loopc.get_available_providers() == ["CPUExecutionProvider"]
    assert add.get_provider_options() == {"CPUExecutionProvider": {}}
    assert add.get_overridable_initializers() == []


def test_output_names(add):
    feeds = {"x": X, "b": B}
    assert len(add.run([], feeds)) == 1
    assert len(add.run(["y"], feeds)) == 1
    assert len(add.run(("y", "y"), feeds)) == 2
    with pytest.raises(loopc.InvalidArgument, match="no output 'z'; it has: 'y'"):
        add.run(["z"], feeds)
    with pytest.raises(loopc.InvalidArgument, match="list of names"):
        add.run("y", feeds)


def test_outputs_of_one_name():
    """A model may return a value twice, as onnxruntime takes it."""
    model = parse("twice (float[N] x) => (float[N] y, float[N] x, float[M] y) { y = Neg (x) }")
    compiled = loopc.InferenceSession(model.SerializeToString())
    given = np.array([1, -2, 3], np.float32)
    assert [port.name for port in compiled.get_outputs()] == ["y", "x", "y"]
    for got, expected in zip(
        compiled.run(None, {"x": given}), (-given, given, -given), strict=True
    ):
        np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(compiled.run(["y"], {"x": given})[0], -given)


@pytest.mark.parametrize(
    "feeds, reason",
    [
        ({"x": X}, "input 'b'.*missing"),
        ({"x": X, "b": B, "c": B}, "no input 'c'; it has: 'x', 'b'"),
        ({"x": X.astype(np.float64), "b": B}, "x"),
        ({"x": X.astype(np.int32), "b": B}, "x"),
        ({"x": X[0], "b": B}, "x"),
        ({"x": X[:, :2], "b": B}, "x"),
        ({"x": X, "b": B[:2]}, "b"),
        ({"x": [X], "b": B}, "x"),
        ({"x": (X,), "b": B}, "input 'x': .*got tuple"),
        ({1: X, "b": B}, "must be str"),
        ({"x": np.array([["a", "b", "c"]]), "b": B}, "x"),
    ],
)
def test_wrong_inputs(add, feeds, reason):
    with pytest.raises(loopc.InvalidArgument, match=reason):
        add.run(None, feeds)
    test_run(add)


def test_braces_in_the_name_of_a_node() -> None:
    """They are no places for values, in the message of a run and for the verifier."""
    model = parse("g (float[N] x, int64[K] i) => (float[K] y) { y = Gather (x, i) }")
    model.graph.node[0].name = "look {} up {*}"
    session = loopc.InferenceSession(model, loopc.SessionOptions(verify=True))
    feeds = {"x": np.arange(4, dtype=np.float32), "i": np.array([4])}
    with pytest.raises(loopc.RunError, match=r"'look \{ \} up \{ \*\}'.* extent 4\b"):
        session.run(None, feeds)


def test_errors_have_one_base():
    assert issubclass(loopc.InvalidArgument, loopc.Error)
    assert issubclass(loopc.InvalidArgument, ValueError)
    assert issubclass(loopc.CompileError, loopc.Error)
    assert issubclass(loopc.RunTimeoutError, loopc.RunError)
    assert issubclass(loopc.RunError, loopc.Error)


def test_errors_of_runs_are_pickled() -> None:
    """Pools of processes hand errors on by pickle: the status comes along."""
    status = loopc.Status.TIMEOUT
    for kind in (loopc.RunError, loopc.RunTimeoutError, loopc.DeviceError):
        error = pickle.loads(pickle.dumps(kind("too long", status)))
        assert type(error) is kind
        assert (str(error), error.status) == ("too long", status)


def test_compile_error():
    model = parse("bad (float[2] x) => (float[2] y) { y = Foo(x) }")
    with pytest.raises(loopc.CompileError) as caught:
        loopc.InferenceSession(model)
    error = caught.value
    assert error.code.startswith("LC") and len(error.code) == 6
    assert "Foo" in str(error)
    assert error.diagnostics[0].severity == loopc.Severity.ERROR
    assert "Foo" in error.location
    with pytest.raises(loopc.CompileError):
        loopc.InferenceSession(b"this is no model")
    with pytest.raises(loopc.CompileError):
        loopc.InferenceSession(b"")


@pytest.mark.parametrize(
    "name",
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
     "float16", "float32", "float64", "bfloat16"],
)  # fmt: skip
def test_element_types(name):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    session = loopc.InferenceSession(identity(onnx.helper.np_dtype_to_tensor_dtype(dtype)))
    x = np.array([0, 1, 0, 1, 1]).astype(dtype)
    for value in (x, x[::2], x[::-1], x[:0]):
        (y,) = session.run(None, {"x": value})
        assert y.dtype == dtype
        np.testing.assert_array_equal(y, value)
    with pytest.raises(loopc.InvalidArgument):
        session.run(None, {"x": x.astype(np.complex64)})


def test_strided_inputs(add):
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    for x in (base.T[:, :3], base[::-1, 1::2], np.broadcast_to(B, (5, 3)), base[:0, 3:]):
        (y,) = add.run(None, {"x": x, "b": B[::-1]})
        np.testing.assert_array_equal(y, x + B[::-1])


def test_dlpack(add):
    class Producer:
        def __dlpack__(self, **kwargs):
            return X.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return X.__dlpack_device__()

    (y,) = add.run(None, {"x": Producer(), "b": B})
    np.testing.assert_array_equal(y, X + B)


def test_inputs_are_not_written(add):
    x, b = X.copy(), B.copy()
    x.flags.writeable = b.flags.writeable = False
    (y,) = add.run(None, {"x": x, "b": b})
    y[...] = -1
    np.testing.assert_array_equal(x, X)


def test_outputs_outlive_their_session():
    session = loopc.InferenceSession(ADD)
    (y,) = session.run(None, {"x": X, "b": B})
    del session
    gc.collect()
    np.testing.assert_array_equal(y, X + B)


def test_options():
    options = loopc.SessionOptions(opt_level=0, dims={"N": 2}, verify=True)
    session = loopc.InferenceSession(ADD, options)
    assert session.get_session_options() is options
    assert session.get_inputs()[0].shape == [2, 3]
    np.testing.assert_array_equal(session.run(None, {"x": X, "b": B})[0], X + B)
    with pytest.raises(loopc.InvalidArgument, match="'x'"):
        session.run(None, {"x": X[:1], "b": B})

    named = loopc.SessionOptions()
    named.add_free_dimension_override_by_name("N", 1)
    assert loopc.InferenceSession(ADD, named).get_inputs()[0].shape == [1, 3]

    shaped = loopc.SessionOptions(shapes={"x": [4, None]})
    assert loopc.InferenceSession(ADD, shaped).get_inputs()[0].shape == [4, 3]

    for wrong in (
        {"opt_level": 4},
        {"dims": {"N": -1}},
        {"shapes": {"x": [-2, 3]}},
    ):
        with pytest.raises(loopc.InvalidArgument):
            loopc.InferenceSession(ADD, loopc.SessionOptions(**wrong))
    for wrong in ({"dims": {"Q": 1}}, {"shapes": {"q": [1]}}, {"cpu": "z80"}):
        with pytest.raises(loopc.CompileError):
            loopc.InferenceSession(ADD, loopc.SessionOptions(**wrong))


@pytest.mark.parametrize("level", list(loopc.GraphOptimizationLevel))
def test_optimization_levels(level):
    options = loopc.SessionOptions(graph_optimization_level=level)
    session = loopc.InferenceSession(SUM, options)
    x = np.ones(4, np.float32)
    np.testing.assert_array_equal(session.run(["total"], {"n": np.array(3), "x": x})[0], x * 4)


def test_ort_compat():
    model = parse("""
      first (int64 n) => (int64 count) {
        zero = Constant <value: tensor = int64 {0}> ()
        one = Constant <value: tensor = int64 {1}> ()
        count = Loop (n, "", zero) <body = step (int64 i, bool go, int64 before)
          => (bool more, int64 after) {
            more = Less (i, one)
            after = Add (before, one)
          }>
      }""")
    feeds = {"n": np.array(10)}
    with pytest.warns(UserWarning, match="LC0414.*ort_compat"):
        session = loopc.InferenceSession(model)
    assert session.run(None, feeds)[0] == 10
    compatible = loopc.SessionOptions(ort_compat=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session = loopc.InferenceSession(model, compatible)
    assert session.run(None, feeds)[0] == 2


def test_providers():
    for good in (None, ["CPUExecutionProvider"], [("CPUExecutionProvider", {})]):
        loopc.InferenceSession(ADD, providers=good)
    with pytest.warns(UserWarning, match="CUDAExecutionProvider"):
        loopc.InferenceSession(ADD, providers=["CUDAExecutionProvider", "CPUExecutionProvider"])
    with pytest.raises(loopc.InvalidArgument, match="Nowhere"):
        loopc.InferenceSession(ADD, providers=["Nowhere"])
    with pytest.raises(loopc.InvalidArgument):
        loopc.InferenceSession(ADD, provider_options=[{"a": 1}])


def test_statistics():
    session = loopc.InferenceSession(SUM)
    assert session.last_run_statistics is None
    session.run(None, {"n": np.array(3), "x": np.ones(4, np.float32)})
    few = session.last_run_statistics
    session.run(None, {"n": np.array(3000), "x": np.ones(4, np.float32)})
    many = session.last_run_statistics
    assert many.peak_bytes >= few.peak_bytes
    # What is collected grows by doubling, nothing else is allocated in the loop.
    assert many.allocations - few.allocations < 30


def test_timeout(endless):
    feeds = {"x": np.float32(1)}
    for options, session in (
        (loopc.RunOptions(timeout=0.05), endless),
        (None, loopc.InferenceSession(ENDLESS, loopc.SessionOptions(timeout=0.05))),
    ):
        begin = time.monotonic()
        with pytest.raises(loopc.RunTimeoutError) as caught:
            session.run(None, feeds, options)
        assert 0.04 < time.monotonic() - begin < 5
        assert caught.value.status == loopc.Status.TIMEOUT
    for wrong in (0, -1, float("nan")):
        with pytest.raises(loopc.InvalidArgument, match="timeout"):
            endless.run(None, feeds, loopc.RunOptions(timeout=wrong))


def test_terminate(endless):
    options = loopc.RunOptions()
    timer = threading.Timer(0.05, lambda: setattr(options, "terminate", True))
    timer.start()
    with pytest.raises(loopc.RunCancelledError) as caught:
        endless.run(None, {"x": np.float32(1)}, options)
    timer.join()
    assert caught.value.status == loopc.Status.CANCELLED
    assert options.terminate
    with pytest.raises(loopc.RunCancelledError):
        endless.run(None, {"x": np.float32(1)}, options)
    options.terminate = False
    options.timeout = 0.01
    with pytest.raises(loopc.RunTimeoutError):
        endless.run(None, {"x": np.float32(1)}, options)


def test_terminate_leaves_other_runs_alone(add, endless):
    options = loopc.RunOptions()
    options.terminate = True
    test_run(add)
    with pytest.raises(loopc.RunTimeoutError):
        endless.run(None, {"x": np.float32(1)}, loopc.RunOptions(timeout=0.01))


def test_threads(endless):
    """Runs do not wait for each other, nor for the interpreter."""
    session = loopc.InferenceSession(SUM)
    failures = []

    def work(seed):
        x = np.full(4, seed, np.float32)
        for n in range(50):
            total, collected = session.run(None, {"n": np.array(n), "x": x})
            if not (total == x * (n + 1)).all() or collected.shape != (n, 4):
                failures.append((seed, n))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    begin = time.monotonic()

    def block():
        with pytest.raises(loopc.RunTimeoutError):
            endless.run(None, {"x": np.float32(1)}, loopc.RunOptions(timeout=1.0))

    blocker = threading.Thread(target=block)
    blocker.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert blocker.is_alive() or time.monotonic() - begin > 1
    blocker.join()
    assert failures == []


def test_compiling_in_threads():
    results = []

    def work(value):
        model = onnx.ModelProto()
        model.CopyFrom(ADD)
        session = loopc.InferenceSession(model)
        results.append(session.run(None, {"x": X + value, "b": B})[0] - value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        np.testing.assert_array_equal(result, X + B)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_runs_do_not_leak(add):
    x = np.zeros((100_000, 3), np.float32)
    bad = {"x": x, "b": B[:2]}
    for _ in range(5):
        add.run(None, {"x": x, "b": B})
    before = peak()
    for _ in range(300):
        add.run(None, {"x": x, "b": B})
        with pytest.raises(loopc.InvalidArgument):
            add.run(None, bad)
    # One leaked output a run would be 360 MB.
    assert peak() - before < 40e6


def test_failed_runs_do_not_leak():
    model = parse("""
      grow (float[N] x) => (float[M] y) {
        y = Loop ("", "", x) <body = step (int64 i, bool go, float[A] before)
          => (bool more, float[B] after) {
            more = Identity (go)
            after = Concat <axis = 0> (before, before)
          }>
      }""")
    session = loopc.InferenceSession(model)
    options = loopc.RunOptions(memory_limit=50_000_000)
    x = np.zeros(1000, np.float32)
    for _ in range(20):
        with pytest.raises(loopc.RunError, match=r"/Loop #0/.*#1 Concat .*: out of") as caught:
            session.run(None, {"x": x}, options)
        assert caught.value.status == loopc.Status.MEMORY
    before = peak()
    for _ in range(20):
        with pytest.raises(loopc.RunError):
            session.run(None, {"x": x}, options)
    assert peak() - before < 40e6


def test_sessions_do_not_leak():
    def once():
        loopc.InferenceSession(ADD).run(None, {"x": X, "b": B})

    for _ in range(10):
        once()
    gc.collect()
    before = peak()
    for _ in range(50):
        once()
    assert peak() - before < 50e6


def test_compile_and_load(tmp_path):
    library = tmp_path / "sum.so"
    loopc.compile(SUM, library, emit="shared", name="my_sum")
    assert "my_sum_run" in (tmp_path / "sum.h").read_text()
    session = loopc.load(library)
    x = np.ones(4, np.float32)
    total, collected = session.run(None, {"n": np.array(3), "x": x})
    np.testing.assert_array_equal(total, x * 4)
    assert collected.shape == (3, 4)
    assert session.last_run_statistics.allocations > 0
    assert session.last_run_statistics.peak_bytes >= collected.nbytes
    with pytest.raises(loopc.InvalidArgument):
        session.run(None, {"n": np.array(3.0), "x": x})


DEFAULTS = """<ir_version: 10, opset_import: ["": 21]>
defaults (float[N] x, float[N] scale, bool twice, int64[2] shape)
    => (float[N] y, bool again, int64[2] same)
<float[2] scale = {3, 4}, bool twice = {1}, int64[2] shape = {5, 6}> {
  y = Mul(x, scale)
  again = Identity(twice)
  same = Identity(shape)
}"""


@pytest.mark.parametrize("ahead", [False, True])
def test_defaults(tmp_path, ahead):
    data = onnx.parser.parse_model(DEFAULTS).SerializeToString()
    if ahead:
        loopc.compile(data, tmp_path / "defaults.so", emit="shared")
        assert "_INPUT_1_HAS_DEFAULT 1" in (tmp_path / "defaults.h").read_text()
        session = loopc.load(tmp_path / "defaults.so")
    else:
        session = loopc.InferenceSession(data)
    assert [port.name for port in session.get_inputs()] == ["x"]
    names = [port.name for port in session.get_overridable_initializers()]
    assert names == ["scale", "twice", "shape"]
    x = np.array([1, 2], np.float32)
    y, again, same = session.run(None, {"x": x})
    np.testing.assert_array_equal(y, [3, 8])
    assert again.item() is True
    np.testing.assert_array_equal(same, [5, 6])
    three = np.array([1, 2, 3], np.float32)
    y, again, same = session.run(
        None, {"x": three, "scale": three, "twice": np.array(False), "shape": np.array([7, 8])}
    )
    np.testing.assert_array_equal(y, [1, 4, 9])
    assert again.item() is False
    np.testing.assert_array_equal(same, [7, 8])
    # The default of `scale` fixes N.
    with pytest.raises(loopc.InvalidArgument, match="'N'"):
        session.run(None, {"x": three})
    with pytest.raises(loopc.InvalidArgument, match=r"'x'.* is missing"):
        session.run(None, {"scale": x})


def test_initializers_of_old_models_are_constants():
    model = onnx.parser.parse_model(DEFAULTS.replace("ir_version: 10", "ir_version: 3"))
    session = loopc.InferenceSession(model)
    assert session.get_overridable_initializers() == []
    with pytest.raises(loopc.InvalidArgument, match="no input 'scale'"):
        session.run(None, {"x": np.ones(2, np.float32), "scale": np.ones(2, np.float32)})


def test_default_of_another_type_is_refused():
    model = onnx.parser.parse_model(DEFAULTS.replace("float[N] scale", "float[3] scale"))
    with pytest.raises(loopc.CompileError, match=r"'scale'.*initializer") as caught:
        loopc.InferenceSession(model)
    assert caught.value.code == "LC0213"


def test_more_than_memory_can_count():
    model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 21]>
    huge (int64[3] shape) => (float[A,B,C] y) { y = ConstantOfShape(shape) }""")
    session = loopc.InferenceSession(model)
    # 2^66 bytes; wrapped, they would be none.
    with pytest.raises(loopc.RunError, match=r"/#0 ConstantOfShape .*: out of memory") as caught:
        session.run(None, {"shape": np.array([2**32, 2**32, 1])})
    assert caught.value.status == loopc.Status.MEMORY
    for shape in ([2**20, 2**20, 0], [0, 2**20, 2**20]):
        assert session.run(None, {"shape": np.array(shape)})[0].size == 0


def test_a_buffer_of_all_trips_that_memory_cannot_count():
    """8 new elements in each of 2^61 iterations are 2^64; wrapped, they would be none."""
    model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 21]>
    grows (int64 trips, float[N] x, float[8] more) => (float[M] y) {
      y = Loop <body = step (int64 i, bool go, float[K] before) => (bool on, float[L] after) {
        on = Identity(go)
        after = Concat<axis = 0>(before, more)
      }> (trips, , x)
    }""")
    session = loopc.InferenceSession(model)
    feed = {"x": np.ones(3, np.float32), "more": np.zeros(8, np.float32)}
    assert session.run(None, {**feed, "trips": np.int64(2)})[0].shape == (19,)
    for trips in (2**59, 2**61, 2**62, 2**63 - 1):
        with pytest.raises(loopc.RunError, match="out of memory") as caught:
            session.run(None, {**feed, "trips": np.int64(trips)})
        assert caught.value.status == loopc.Status.MEMORY


def test_sequence_of_as_many_parts_as_data_say():
    """Rows without elements take no memory; the loop that makes parts of them can be ended."""
    model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 21]>
    parts (int64[2] shape) => (int64 count) {
      x = ConstantOfShape(shape)
      one = Constant<value_int = 1>()
      s = SplitToSequence(x, one)
      count = SequenceLength(s)
    }""")
    session = loopc.InferenceSession(model)
    assert session.run(None, {"shape": np.array([3000, 0])})[0] == 3000
    started = time.monotonic()
    with pytest.raises(loopc.RunError) as caught:
        session.run(None, {"shape": np.array([2**40, 0])}, loopc.RunOptions(timeout=0.1))
    assert caught.value.status == loopc.Status.TIMEOUT
    assert time.monotonic() - started < 20


def test_collecting_without_end_is_an_error():
    model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 21]>
    main (int64 M, float[3] x) => (float[K,3] ys) {
      y, ys = Loop <body = body (int64 i, bool c, float[3] v) => (bool c, float[3] w, float[3] u) {
        w = Add(v, v)
        u = Identity(w)
      }> (M, "", x)
    }""")
    session = loopc.InferenceSession(model)
    for trips in (2**63 - 1, 2**62, 2**61, 2**58):
        with pytest.raises(loopc.RunError, match="out of memory") as caught:
            session.run(None, {"M": np.array(trips), "x": np.ones(3, np.float32)})
        assert caught.value.status == loopc.Status.MEMORY
        assert "-" not in str(caught.value)


@pytest.mark.parametrize(
    "emit", ["onnx", "loop", "linalg", "memref", "scf", "llvm", "llvm-ir", "asm", "obj"]
)
def test_stages(tmp_path, emit):
    output = tmp_path / "out"
    assert loopc.compile(SUM, output, emit=emit, opt_level=1) == []
    assert output.stat().st_size > 100
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"] + ["out.h"] * (emit == "obj")


def test_shapes_of_outputs(tmp_path):
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["": 17]>
        m (float[N, 4] x, int64 n) => (float[N, 2] y, float[M] z) {
            k = Constant<value = int64[2] {-1, 2}>()
            y = Reshape(x, k)
            zero = Constant<value = int64 {0}>()
            one = Constant<value = int64 {1}>()
            r = Range(zero, n, one)
            z = Cast<to = 1>(r)
        }"""
    )
    output = tmp_path / "shapes.json"
    assert loopc.compile(model, output, emit="shapes") == []
    assert json.loads(output.read_text()) == {"y": [None, 2], "z": [None]}
    loopc.compile(model, output, emit="shapes", shapes={"x": [3, 4]})
    assert json.loads(output.read_text()) == {"y": [6, 2], "z": [None]}


def test_compile_errors(tmp_path):
    with pytest.raises(loopc.InvalidArgument, match="no stage 'exe'"):
        loopc.compile(ADD, tmp_path / "a", emit="exe")
    with pytest.raises(loopc.InvalidArgument, match="name"):
        loopc.compile(ADD, tmp_path / "a", name="no-name")
    with pytest.raises(loopc.CompileError) as caught:
        loopc.compile(ADD, tmp_path / "none" / "a.o")
    assert caught.value.code == "LC0103"
    with pytest.raises(loopc.CompileError):
        loopc.compile(b"no model", tmp_path / "a.o")
    with pytest.raises(loopc.CompileError):
        loopc.compile(ADD, tmp_path / "a.o", target="pdp11-dec-unix")
    assert list(tmp_path.iterdir()) == []


def test_cross_compile(tmp_path):
    loopc.compile(ADD, tmp_path / "a.o", target="aarch64-linux-gnu")
    machine = (tmp_path / "a.o").read_bytes()[18:20]
    assert machine == b"\xb7\x00"


def test_ahead_of_time_by_the_command():
    (y,) = loopc.aot.run_model(ADD, [X, B])
    np.testing.assert_array_equal(y, X + B)
    (y,) = loopc.aot.run_model(ADD, {"x": X, "b": B}, flags=["-O0"])
    np.testing.assert_array_equal(y, X + B)
    with pytest.raises(loopc.CompileError) as caught:
        loopc.aot.run_model(parse("bad (float x) => (float y) { y = Foo(x) }"), [X])
    assert caught.value.code.startswith("LC")
    with pytest.raises(loopc.InvalidArgument, match="expected 2 inputs, got 1"):
        loopc.aot.run_model(ADD, [X])


def test_io_binding():
    session = loopc.InferenceSession(SUM)
    binding = session.io_binding()
    binding.bind_cpu_input("n", np.array(3))
    binding.bind_cpu_input("x", np.ones(4, np.float32))
    session.run_with_iobinding(binding)
    total, collected = binding.copy_outputs_to_cpu()
    np.testing.assert_array_equal(total, np.full(4, 4, np.float32))
    binding.bind_output("all")
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], collected)
    with pytest.raises(loopc.InvalidArgument, match="'nope'"):
        binding.bind_output("nope")
    with pytest.raises(loopc.InvalidArgument, match="cuda"):
        binding.bind_output("all", "cuda")
    binding.clear_binding_inputs()
    with pytest.raises(loopc.InvalidArgument, match="missing"):
        session.run_with_iobinding(binding)
    binding.clear_binding_outputs()
    assert binding.copy_outputs_to_cpu() == []


def test_options_of_another_package():
    with pytest.raises(loopc.InvalidArgument, match=r"loopc\.SessionOptions"):
        loopc.InferenceSession(ADD, object())
    session = loopc.InferenceSession(ADD, loopc.SessionOptions(inter_op_num_threads=4))
    with pytest.raises(loopc.InvalidArgument, match=r"loopc\.RunOptions"):
        session.run(None, {}, object())
    with pytest.raises(loopc.InvalidArgument, match="a dict"):
        session.run(None, [X, B])
