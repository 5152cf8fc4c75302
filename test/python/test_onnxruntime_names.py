# ===- test_onnxruntime_names.py - Scripts written for onnxruntime ----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What programs call of onnxruntime's Python interface: the same names, the same answers."""

import threading

import loopc
import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest

MODEL = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    steps (int64 n, float[K] x, bfloat16[?] h) => (float[K] y, float[T, K] all, bfloat16[?] g) {
      go = Constant <value: tensor = bool {1}> ()
      g = Neg (h)
      y, all = Loop (n, go, x) <body = step (int64 i, bool c, float[K] a) => (bool c, float[K] b, float[K] b) {
        b = Add (a, a)
      }>
    }""")
FEEDS = {
    "n": np.array(2),
    "x": np.arange(3, dtype=np.float32),
    "h": np.array([1, 2], ml_dtypes.bfloat16),
}
ENGINES = [loopc, onnxruntime]


@pytest.fixture(scope="module", params=ENGINES, ids=lambda engine: engine.__name__)
def engine(request):
    return request.param


@pytest.fixture(scope="module")
def sessions():
    return {e: e.InferenceSession(PLAIN.SerializeToString()) for e in ENGINES}


@pytest.fixture(scope="module")
def session(engine, sessions):
    return sessions[engine]


# Types that NumPy has: onnxruntime returns bfloat16 as uint16.
PLAIN = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21], producer_name: "author", domain: "org.example",
     model_version: 7, doc_string: "adds", metadata_props: ["names": "{0: 'a'}", "stride": "32"]>
    steps (int64 n, float[K] x) => (float[K] y, float[T, K] all) {
      y, all = Loop (n, "", x) <body = step (int64 i, bool c, float[K] a) => (bool c, float[K] b, float[K] collected) {
        b = Add (a, a)
        collected = Identity (b)
      }>
    }""")
X = np.arange(3, dtype=np.float32)


def test_modelmeta(session):
    meta = session.get_modelmeta()
    assert meta.graph_name == "steps"
    assert meta.producer_name == "author"
    assert meta.domain == "org.example"
    assert meta.version == 7
    assert meta.description == "adds"
    assert meta.graph_description == ""
    assert meta.custom_metadata_map == {"names": "{0: 'a'}", "stride": "32"}


def test_modelmeta_of_files(tmp_path):
    path = tmp_path / "steps.onnx"
    onnx.save(PLAIN, path)
    assert loopc.InferenceSession(path).get_modelmeta().custom_metadata_map["stride"] == "32"
    text = tmp_path / "steps.onnxtxt"
    text.write_text(onnx.printer.to_text(PLAIN))
    meta = loopc.InferenceSession(text).get_modelmeta()
    assert meta.producer_name == ""
    assert meta.custom_metadata_map == {}
    assert meta.compiler == f"loopc {loopc.__version__}"


def test_session_options(engine):
    options = engine.SessionOptions()
    assert options.graph_optimization_level == engine.GraphOptimizationLevel.ORT_ENABLE_ALL
    assert options.execution_mode == engine.ExecutionMode.ORT_SEQUENTIAL
    for name, default, other in (
        ("enable_cpu_mem_arena", True, False),
        ("enable_mem_pattern", True, False),
        ("enable_mem_reuse", True, False),
        ("execution_mode", engine.ExecutionMode.ORT_SEQUENTIAL, engine.ExecutionMode.ORT_PARALLEL),
        ("execution_order", engine.ExecutionOrder.DEFAULT, engine.ExecutionOrder.PRIORITY_BASED),
        ("inter_op_num_threads", 0, 2),
        ("intra_op_num_threads", 0, 1),
        ("log_severity_level", -1, 3),
        ("log_verbosity_level", 0, 1),
        ("logid", "", "me"),
        ("use_deterministic_compute", False, True),
        ("use_per_session_threads", True, True),
    ):
        assert getattr(options, name) == default, name
        setattr(options, name, other)
        assert getattr(options, name) == other
    options.add_session_config_entry("session.set_denormal_as_zero", "0")
    assert options.get_session_config_entry("session.set_denormal_as_zero") == "0"
    with pytest.raises(Exception, match="other"):
        options.get_session_config_entry("other")
    with pytest.raises(AttributeError, match="intra_op_threads"):
        options.intra_op_threads = 1
    session = engine.InferenceSession(PLAIN.SerializeToString(), sess_options=options)
    np.testing.assert_array_equal(session.run(["y"], {"n": np.array(1), "x": X})[0], X + X)


def test_session_options_that_are_missed(tmp_path):
    options = loopc.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    with pytest.warns(UserWarning, match="optimized_model_filepath"):
        loopc.InferenceSession(PLAIN, options)
    for key, value in ((1, "a"), ("a", 1), ("", "a")):
        with pytest.raises(loopc.InvalidArgument, match="configuration entry"):
            options.add_session_config_entry(key, value)


def test_run_options(engine, session):
    options = engine.RunOptions()
    for name, default, other in (
        ("log_severity_level", -1, 3),
        ("log_verbosity_level", 0, 1),
        ("logid", "", "run"),
        ("only_execute_path_to_fetches", False, True),
        ("terminate", False, False),
    ):
        assert getattr(options, name) == default, name
        setattr(options, name, other)
        assert getattr(options, name) == other
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "")
    assert options.get_run_config_entry("memory.enable_memory_arena_shrinkage") == ""
    with pytest.raises(Exception, match="other"):
        options.get_run_config_entry("other")
    with pytest.raises(AttributeError, match="loggid"):
        options.loggid = ""
    results = session.run(None, {"n": np.array(1), "x": X}, run_options=options)
    np.testing.assert_array_equal(results[0], X + X)


def test_module(engine):
    assert engine.get_device() == "CPU"
    assert "CPUExecutionProvider" in engine.get_available_providers()
    assert "CPUExecutionProvider" in engine.get_all_providers()
    assert engine.get_version_string() == engine.__version__
    engine.set_default_logger_severity(3)
    engine.set_default_logger_verbosity(0)
    with pytest.raises(Exception, match="severity"):
        engine.set_default_logger_severity(9)


def test_ports(session):
    inputs = session.get_inputs()
    assert [(i.name, i.type, i.shape) for i in inputs] == [
        ("n", "tensor(int64)", []),
        ("x", "tensor(float)", ["K"]),
    ]
    assert [o.name for o in session.get_outputs()] == ["y", "all"]
    assert [o.type for o in session.get_outputs()] == ["tensor(float)"] * 2


def test_ort_values(engine, session):
    value = engine.OrtValue.ortvalue_from_numpy(X, "cpu", 0)
    assert value.shape() == [3]
    assert value.data_type() == "tensor(float)"
    assert value.element_type() == onnx.TensorProto.FLOAT
    assert value.device_name() == "cpu"
    assert value.has_value()
    assert value.is_tensor()
    assert not value.is_sparse_tensor()
    assert not value.is_tensor_sequence()
    assert value.tensor_size_in_bytes() == 12
    np.testing.assert_array_equal(value.numpy(), X)
    feeds = {"n": engine.OrtValue.ortvalue_from_numpy(np.array(2)), "x": value}
    y, collected = session.run_with_ort_values(None if engine is loopc else ["y", "all"], feeds)
    np.testing.assert_array_equal(y.numpy(), 4 * X)
    assert collected.shape() == [2, 3]
    made = engine.OrtValue.ortvalue_from_shape_and_type([2, 3], np.int64)
    assert made.element_type() == onnx.TensorProto.INT64
    made.update_inplace(np.ones((2, 3), np.int64))
    np.testing.assert_array_equal(made.numpy(), np.ones((2, 3)))
    assert made.data_ptr() != 0


def test_io_binding(engine, session):
    binding = session.io_binding()
    n, x = np.array(2), X.copy()
    binding.bind_cpu_input("n", n)
    binding.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
    memory = np.empty((2, 3), np.float32)
    binding.bind_output("all", "cpu", 0, np.float32, memory.shape, memory.ctypes.data)
    y = engine.OrtValue.ortvalue_from_shape_and_type([3], np.float32, "cpu", 0)
    binding.bind_ortvalue_output("y", y)
    binding.synchronize_inputs()
    session.run_with_iobinding(binding)
    binding.synchronize_outputs()
    np.testing.assert_array_equal(memory, [2 * X, 4 * X])
    np.testing.assert_array_equal(y.numpy(), 4 * X)
    outputs = binding.copy_outputs_to_cpu()
    assert sorted(np.shape(o) for o in outputs) == [(2, 3), (3,)]
    # The output of one run is the input of the next.
    binding.bind_ortvalue_input("x", y)
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(memory, [8 * X, 16 * X])
    (y,) = [o.numpy() for o in binding.get_outputs() if o.shape() == [3]]
    np.testing.assert_array_equal(y, 16 * X)
    binding.clear_binding_inputs()
    binding.clear_binding_outputs()


def test_io_binding_refuses():
    session = loopc.InferenceSession(PLAIN)
    binding = session.io_binding()
    for call, reason in (
        (lambda: binding.bind_input("q", "cpu", 0, np.float32, [3], 1), "no input 'q'"),
        (lambda: binding.bind_input("x", "cuda", 0, np.float32, [3], 1), "cuda:0"),
        (lambda: binding.bind_input("x", "cpu", 0, "text", [3], 1), "element_type"),
        (lambda: binding.bind_input("x", "cpu", 0, 99, [3], 1), "no element type 99"),
        (lambda: binding.bind_input("x", "cpu", 0, ml_dtypes.int4, [3], 1), "int4"),
        (lambda: binding.bind_input("x", "cpu", 0, np.float32, [-3], 1), "negative"),
        (lambda: binding.bind_input("x", "cpu", 0, np.float32, [3], 0), "null"),
        (lambda: binding.bind_output("y", buffer_ptr=1), "are needed"),
        (lambda: binding.bind_ortvalue_output("y", loopc.OrtValue([X])), "only tensors"),
    ):
        with pytest.raises(loopc.InvalidArgument, match=reason):
            call()
    binding.bind_cpu_input("n", np.array(1))
    binding.bind_cpu_input("x", X)
    for target, reason in (
        (np.zeros(2, np.float32), r"has shape \[3\], the buffer of shape \[2\] is too small"),
        (np.zeros(4, np.float32), r"float32\[3\] does not fit into float32\[4\]"),
        (np.zeros(3, np.float64), r"float64\[3\]"),
    ):
        binding.clear_binding_outputs()
        binding.bind_ortvalue_output("y", loopc.OrtValue.ortvalue_from_numpy(target))
        with pytest.raises(loopc.InvalidArgument, match=reason):
            session.run_with_iobinding(binding)
        assert not target.any() or target.size == 4


@pytest.mark.parametrize("bound", ["OrtValue", "address", "unaligned"])
def test_bound_outputs_are_written_where_they_are(bound):
    """No memory of the run's own for an output, and no copy where the address is aligned."""
    text = """<ir_version: 10, opset_import: ["" : 21]>
    g (float[n, 64] x) => (float[n, 64] y) { y = Exp (x) }"""
    session = loopc.InferenceSession(onnx.parser.parse_model(text))
    x = np.linspace(-1, 1, 4096, dtype=np.float32).reshape(64, 64)
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    y = loopc.OrtValue.ortvalue_from_shape_and_type([64, 64], np.float32)
    assert y.data_ptr() % 64 == 0 and y.shape() == [64, 64]
    memory = np.zeros(4096 * 4 + 68, np.uint8)
    begin = -memory.ctypes.data % 64 + 4
    if bound == "OrtValue":
        binding.bind_ortvalue_output("y", y)
    else:
        array = memory[begin : begin + x.nbytes].view(np.float32).reshape(x.shape)
        y = loopc.OrtValue.ortvalue_from_numpy(array) if bound == "unaligned" else y
        binding.bind_output("y", "cpu", 0, np.float32, [64, 64], y.data_ptr())
    session.run_with_iobinding(binding)
    np.testing.assert_allclose(y.numpy(), np.exp(x), 1e-6)
    assert binding.get_outputs()[0].data_ptr() == y.data_ptr()
    statistics = session.last_run_statistics
    assert statistics.copied_bytes == (x.nbytes if bound == "unaligned" else 0)
    assert bound == "unaligned" or statistics.allocations == 0
    # A run that fails, and one whose result has another shape.
    binding.bind_cpu_input("x", x[:2])
    with pytest.raises(loopc.InvalidArgument, match=r"float32\[2, 64\] does not fit into"):
        session.run_with_iobinding(binding)
    binding.bind_cpu_input("x", np.zeros((65, 64), np.float32))
    with pytest.raises(loopc.InvalidArgument, match=r"the buffer of shape \[64, 64\] is too small"):
        session.run_with_iobinding(binding)


def test_ort_values_of_every_kind():
    half = loopc.OrtValue.ortvalue_from_numpy(FEEDS["h"])
    assert half.data_type() == "tensor(bfloat16)"
    results = loopc.InferenceSession(MODEL).run(["g"], {**FEEDS, "h": half})
    np.testing.assert_array_equal(results[0].astype(np.float32), [-1, -2])
    raw = loopc.OrtValue.ortvalue_from_numpy_with_onnx_type(
        FEEDS["h"].view(np.uint16), onnx.TensorProto.BFLOAT16
    )
    np.testing.assert_array_equal(raw.numpy(), FEEDS["h"])
    assert loopc.OrtValue([X]).data_type() == "seq(tensor(float))"
    assert loopc.OrtValue(np.array(["a"])).data_type() == "tensor(string)"
    assert not loopc.OrtValue(None).has_value()
    np.testing.assert_array_equal(np.from_dlpack(loopc.OrtValue(X)), X)
    np.testing.assert_array_equal(np.asarray(loopc.OrtValue(X)), X)
    with pytest.raises(loopc.InvalidArgument, match="no tensor"):
        loopc.OrtValue([X]).shape()
    with pytest.raises(loopc.InvalidArgument, match="read-only"):
        loopc.OrtValue(np.broadcast_to(X, (2, 3))).update_inplace(np.ones((2, 3), np.float32))


def test_run_async(session):
    done = threading.Event()
    seen = []

    def finished(results, data, problem):
        seen.append((results, data, problem))
        done.set()

    session.run_async(["y"], {"n": np.array(1), "x": X}, finished, "mine")
    assert done.wait(30)
    ((y,), data, problem) = seen[0]
    np.testing.assert_array_equal(y, X + X)
    assert (data, problem) == ("mine", "")
    done.clear()
    session.run_async(["y"], {"n": np.array(1), "x": X.astype(np.int32)}, finished, None)
    assert done.wait(30)
    assert seen[1][2] != ""


def test_lists_for_tensors(session):
    """Numbers of a list get the input's type; no names of outputs are all."""
    y, collected = session.run([], {"n": np.array(1), "x": [1, 2, 3]})
    np.testing.assert_array_equal(y, np.array([2, 4, 6], np.float32))
    assert collected.shape == (1, 3)
    y, _ = session.run([], {"n": np.array(1), "x": [np.float32(1), 2.5, True]})
    np.testing.assert_array_equal(y, np.array([2, 5, 2], np.float32))


def test_one_element_for_a_scalar(session):
    for n in (np.array([2]), np.array([[2]]), [2]):
        (y,) = session.run(["y"], {"n": n, "x": X})
        np.testing.assert_array_equal(y, 4 * X)


def test_lists_of_strings(engine):
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        echo (string[N, M] x) => (string[N, M] y) { y = Identity (x) }""")
    session = engine.InferenceSession(model.SerializeToString())
    (y,) = session.run(None, {"x": [["a", ""], ["größer", "d"]]})
    assert y.tolist() == [["a", ""], ["größer", "d"]]


@pytest.mark.parametrize("given", [[1.5], ["3"], [2**70], [[1], [2, 3]], [None]])
def test_lists_of_other_elements(sessions, given):
    with pytest.raises(loopc.InvalidArgument, match="input 'n'"):
        sessions[loopc].run(None, {"n": given, "x": X})


def test_constructor_arguments():
    data = PLAIN.SerializeToString()
    loopc.InferenceSession(data, None, ["CPUExecutionProvider"], enable_fallback=False)
    loopc.InferenceSession(data, providers=[("CPUExecutionProvider", {"use_arena": "0"})])
    with pytest.raises(loopc.InvalidArgument, match="no argument 'optimise'"):
        loopc.InferenceSession(data, optimise=True)
    for providers in ("CPUExecutionProvider", [3], [("CPUExecutionProvider",)], 7):
        with pytest.raises(loopc.InvalidArgument, match="providers: expected"):
            loopc.InferenceSession(data, providers=providers)
    session = loopc.InferenceSession(data)
    session.set_providers(["CPUExecutionProvider"])
    with pytest.raises(loopc.InvalidArgument, match="TensorrtExecutionProvider not available"):
        session.set_providers(["TensorrtExecutionProvider"])
    with pytest.raises(TypeError, match="run_option"):
        session.run(None, {"n": np.array(1), "x": X}, run_option=None)


def test_what_has_nothing_to_do_here(engine):
    assert engine.get_version_string()
    assert isinstance(engine.get_build_info(), str)
    engine.disable_telemetry_events()
    engine.enable_telemetry_events()
    if engine is loopc:
        engine.preload_dlls(cuda=True, cudnn=False, msvc=False, directory="")
