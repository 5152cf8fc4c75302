# ===- test_onnxruntime_module.py - What onnxruntime's module has ------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Errors, options and functions of onnxruntime's module: the same ones, or a clear refusal."""

import copy
import importlib
import json
import pickle
import subprocess
import sys

import loopc
import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
from exact_peer import saturates

PLAIN = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    steps (int64 n, float[K] x) => (float[K] y, float[T, K] all) {
      y, all = Loop (n, "", x) <body = step (int64 i, bool c, float[K] a) => (bool c, float[K] b, float[K] collected) {
        b = Add (a, a)
        collected = Identity (b)
      }>
    }""")
X = np.arange(3, dtype=np.float32)


def gather(kind):
    return onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        rows (float[K] x, {kind}[N, M] i) => (float[N, M] y) {{ y = Gather (x, i) }}""")


GATHER_OF = {np.int64: gather("int64"), np.int32: gather("int32")}
GATHER = GATHER_OF[np.int64]
WEIGHT = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    sum (float[3] x) => (float[3] y) <float[3] w = {0, 0, 0}> { y = Add (x, w) }""")
# The same, with elements in a file that nobody has.
EXTERNAL = onnx.ModelProto()
EXTERNAL.CopyFrom(WEIGHT)
EXTERNAL.graph.initializer[0].ClearField("float_data")
EXTERNAL.graph.initializer[0].data_location = onnx.TensorProto.EXTERNAL
for _key, _value in (("location", "w.bin"), ("offset", "4"), ("length", "12")):
    EXTERNAL.graph.initializer[0].external_data.add(key=_key, value=_value)


@pytest.fixture(scope="module", params=[loopc, onnxruntime], ids=lambda engine: engine.__name__)
def engine(request):
    return request.param


@pytest.fixture(scope="module")
def session(engine):
    return engine.InferenceSession(PLAIN.SerializeToString())


# ----- Exceptions ------------------------------------------------------------


@pytest.fixture(scope="module")
def states(engine):
    return importlib.import_module(f"{engine.__name__}.capi.onnxruntime_pybind11_state")


def test_errors_of_models(engine, states, tmp_path):
    """The classes that programs catch, and those that Python has for the same."""

    def refuses(kind, model):
        with pytest.raises(kind):
            engine.InferenceSession(model)

    def changed(change):
        model = onnx.ModelProto()
        model.CopyFrom(PLAIN)
        change(model)
        return model.SerializeToString()

    refuses(states.NoSuchFile, str(tmp_path / "nothing.onnx"))
    refuses(states.InvalidProtobuf, b"damaged")
    (tmp_path / "damaged.onnx").write_bytes(b"damaged")
    refuses(states.InvalidProtobuf, str(tmp_path / "damaged.onnx"))
    refuses(states.Fail, changed(lambda m: setattr(m.opset_import[0], "version", 99)))
    refuses(states.Fail, changed(lambda m: setattr(m, "ir_version", 99)))
    refuses(states.InvalidGraph, changed(lambda m: setattr(m.graph.node[0], "op_type", "Foo")))
    refuses(states.Fail, changed(lambda m: m.graph.node[0].input.extend("nnn")))
    refuses(TypeError, None)


def test_errors_of_runs(states, session):
    n, x = np.array(1), X
    for kind, names, feeds in (
        (states.InvalidArgument, None, {"n": n, "x": X.astype(np.float64)}),
        (states.InvalidArgument, None, {"n": n, "x": np.stack([X, X])}),
        (states.InvalidArgument, None, {"n": n, "x": x, "q": x}),
        (states.InvalidArgument, ["q"], {"n": n, "x": x}),
        (ValueError, None, {"n": n}),
    ):
        with pytest.raises(kind):
            session.run(names, feeds)


def test_classes_of_errors(states):
    """Each is an exception, and has no other of onnxruntime's names but Fail above it."""
    names = (
        "DeviceReset EPFail EngineError Fail InvalidArgument InvalidGraph InvalidProtobuf "
        "ModelLoadCanceled ModelLoaded ModelRequiresCompilation NoModel NoSuchFile NotFound "
        "NotImplemented RuntimeException"
    ).split()
    kinds = {name: getattr(states, name) for name in names}
    for name, kind in kinds.items():
        assert issubclass(kind, Exception)
        assert kind.__name__ == name
        others = {n for n, k in kinds.items() if issubclass(kind, k)}
        assert others <= {name, "Fail"}


def test_what_is_a_runtime_error(engine, session):
    with pytest.raises(RuntimeError):
        engine.OrtValue.ortvalue_from_numpy([1.0])
    binding = session.io_binding()
    with pytest.raises(RuntimeError):
        binding.bind_cpu_input("no input", X)
    binding.bind_cpu_input("n", np.array(1.5))
    binding.bind_cpu_input("x", X)
    binding.bind_output("y")
    with pytest.raises(RuntimeError, match=r"double|float64"):
        session.run_with_iobinding(binding)


def test_missing_file(tmp_path):
    path = tmp_path / "nothing.onnx"
    for call in (
        lambda: loopc.InferenceSession(path),
        lambda: loopc.compile(path, tmp_path / "nothing.o"),
    ):
        with pytest.raises(FileNotFoundError, match=r"cannot read '.*nothing.onnx'") as info:
            call()
        error = info.value
        assert isinstance(error, loopc.CompileError)
        assert (error.errno, error.filename, error.code) == (2, str(path), "LC0102")
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.filename, again.code) == (str(error), error.filename, "LC0102")
    # Of external data it is the model that is wrong.
    model = onnx.ModelProto()
    model.CopyFrom(EXTERNAL)
    onnx.save(model, tmp_path / "outside.onnx")
    with pytest.raises(loopc.CompileError, match="LC0211") as info:
        loopc.InferenceSession(tmp_path / "outside.onnx")
    assert not isinstance(info.value, FileNotFoundError)


def test_errors_of_loopc_have_names_of_onnxruntime():
    states = importlib.import_module("loopc.capi.onnxruntime_pybind11_state")
    assert issubclass(loopc.CompileError, states.Fail)
    assert issubclass(loopc.RunError, states.RuntimeException)
    assert issubclass(loopc.DeviceError, states.EPFail)
    assert issubclass(loopc.CompileCancelledError, states.ModelLoadCanceled)
    assert loopc.InvalidArgument is states.InvalidArgument
    with pytest.raises(states.RuntimeException, match="index 7 is out of range"):
        loopc.InferenceSession(GATHER).run(None, {"x": X, "i": np.array([[0, 7, 1]])})


@pytest.mark.parametrize("kind", [np.int64, np.int32])
@pytest.mark.parametrize(
    ("indices", "wrong"), [([[0, 7, 1]], 7), ([[-4]], -4), ([[0], [3]], 3), ([[-1, -9, -3]], -9)]
)
def test_an_index_that_is_out_of_range_is_told(indices, wrong, kind):
    session = loopc.InferenceSession(GATHER_OF[kind])
    with pytest.raises(
        loopc.RunError, match=rf"Gather.*: index {wrong} is out of range for an axis of extent 3"
    ):
        session.run(None, {"x": X, "i": np.array(indices, kind)})


def test_no_index_at_all_is_in_range():
    session = loopc.InferenceSession(GATHER)
    (y,) = session.run(None, {"x": X[:0], "i": np.zeros((0, 2), np.int64)})
    assert y.shape == (0, 2)
    with pytest.raises(loopc.RunError, match="index 0 is out of range for an axis of extent 0"):
        session.run(None, {"x": X[:0], "i": np.array([[0]])})


def test_modules_of_onnxruntime():
    """What programs import, where ``sys.modules["onnxruntime"]`` is loopc."""
    code = """
import sys, loopc
sys.modules["onnxruntime"] = loopc
import onnxruntime as ort
from onnxruntime.capi import _pybind_state as C
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument, NoSuchFile
from onnxruntime.capi.onnxruntime_inference_collection import InferenceSession, OrtValue
import onnxruntime.capi.onnxruntime_pybind11_state as state
assert C.get_available_providers() == ort.get_available_providers()
assert InferenceSession is ort.InferenceSession and C.SessionOptions is ort.SessionOptions
assert InvalidArgument is ort.InvalidArgument
try:
    ort.InferenceSession("nothing.onnx")
except state.NoSuchFile as error:
    print(type(error).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("NoSuchFile\n", "")


# ----- Options ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("graph_optimization_level", 99),
        ("graph_optimization_level", 1),
        ("execution_mode", 0),
        ("execution_order", "DEFAULT"),
        ("intra_op_num_threads", "2"),
        ("inter_op_num_threads", 1.5),
        ("log_severity_level", "x"),
        ("log_verbosity_level", "x"),
        ("logid", 3),
        ("profile_file_prefix", 3),
        ("optimized_model_filepath", 3),
        ("enable_profiling", "yes"),
        ("enable_mem_pattern", "no"),
        ("use_deterministic_compute", "0"),
    ],
)
def test_options_of_other_types(engine, name, value):
    options = engine.SessionOptions()
    before = getattr(options, name)
    with pytest.raises(TypeError):
        setattr(options, name, value)
    assert getattr(options, name) == before


@pytest.mark.parametrize(
    ("name", "value"),
    [("log_severity_level", "x"), ("logid", 3), ("only_execute_path_to_fetches", "no")],
)
def test_run_options_of_other_types(engine, name, value):
    with pytest.raises(TypeError):
        setattr(engine.RunOptions(), name, value)


def test_severities_that_there_are_not():
    for options in (loopc.SessionOptions(), loopc.RunOptions()):
        for severity in (-2, 5):
            with pytest.raises(loopc.InvalidArgument, match="log_severity_level: expected -1"):
                options.log_severity_level = severity


def test_options_can_be_copied():
    options = loopc.SessionOptions(verify=True)
    options.logid, options.log_severity_level = "mine", 3
    again = pickle.loads(pickle.dumps(options))
    assert (again.verify, again.logid, again.log_severity_level) == (True, "mine", 3)


def test_a_callback_that_is_none():
    session = loopc.InferenceSession(PLAIN.SerializeToString())
    with pytest.raises(TypeError, match="callback: expected a function, got"):
        session.run_async(None, {"n": np.array(1), "x": X}, None, 0)


def test_a_binding_of_another_session(engine):
    other = engine.InferenceSession(
        onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["": 17]> g (float[1] a) => (float[1] b) { b = Abs (a) }'
        ).SerializeToString()
    )
    with pytest.raises(ValueError):
        engine.InferenceSession(PLAIN.SerializeToString()).run_with_iobinding(other.io_binding())


def test_negative_numbers_of_threads(engine):
    options = engine.SessionOptions()
    options.intra_op_num_threads = -1
    session = engine.InferenceSession(PLAIN.SerializeToString(), options)
    np.testing.assert_array_equal(session.run(["y"], {"n": np.array(1), "x": X})[0], 2 * X)


def tensor(engine, values, dtype=np.float32):
    return engine.OrtValue.ortvalue_from_numpy(np.array(values, dtype))


def test_add_initializer(engine):
    options = engine.SessionOptions()
    weight = tensor(engine, [10, 20, 30])
    options.add_initializer("w", weight)
    options.add_initializer("not there", weight)
    with pytest.raises(Exception, match="w"):
        options.add_initializer("w", weight)
    with pytest.raises(Exception, match=r"."):
        options.add_initializer("v", 3)
    session = engine.InferenceSession(WEIGHT.SerializeToString(), options)
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], X + np.array([10, 20, 30]))


def test_add_external_initializers(engine, tmp_path):
    options = engine.SessionOptions()
    weight = tensor(engine, [1, 2, 3])
    with pytest.raises(Exception, match=r"."):
        options.add_external_initializers(["w", "v"], [weight])
    options.add_external_initializers(["w"], [weight])
    session = engine.InferenceSession(EXTERNAL.SerializeToString(), options)
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], X + np.array([1, 2, 3]))
    onnx.save(EXTERNAL, tmp_path / "outside.onnx")
    session = engine.InferenceSession(str(tmp_path / "outside.onnx"), options)
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], X + np.array([1, 2, 3]))
    with pytest.raises(Exception, match=r"."):
        engine.InferenceSession(WEIGHT.SerializeToString(), options)


def test_the_folder_of_external_data(engine, tmp_path):
    (tmp_path / "w.bin").write_bytes(np.float32([9, 1, 2, 3]).tobytes())
    options = engine.SessionOptions()
    key = "session.model_external_initializers_file_folder_path"
    options.add_session_config_entry(key, str(tmp_path))
    session = engine.InferenceSession(EXTERNAL.SerializeToString(), options)
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], np.add(X, [1, 2, 3]))


def test_files_in_memory(engine):
    options = engine.SessionOptions()
    content = np.array([0, 5, 6, 7], np.float32).tobytes()
    options.add_external_initializers_from_files_in_memory(["w.bin"], [content], [len(content)])
    session = engine.InferenceSession(EXTERNAL.SerializeToString(), options)
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], X + np.array([5, 6, 7]))


def test_initializers_that_do_not_fit(tmp_path):
    def session(model, name, value, external=False):
        options = loopc.SessionOptions()
        if external:
            options.add_external_initializers([name], [value])
        else:
            options.add_initializer(name, value)
        return loopc.InferenceSession(model, options)

    for value, reason in (
        (tensor(loopc, [1, 2]), r"'w': tensor\(float\)\[2\], the model has tensor\(float\)\[3\]"),
        (tensor(loopc, [1, 2, 3], np.float64), r"tensor\(double\)\[3\]"),
    ):
        with pytest.raises(loopc.InvalidArgument, match=reason):
            session(WEIGHT, "w", value)
    weight = tensor(loopc, [1, 2, 3])
    with pytest.raises(loopc.InvalidArgument, match="the model itself has its elements"):
        session(WEIGHT, "w", weight, external=True)
    with pytest.raises(loopc.InvalidArgument, match="no initializer 'v'"):
        session(WEIGHT, "v", weight, external=True)
    text = tmp_path / "weight.onnxtxt"
    text.write_text(onnx.printer.to_text(WEIGHT))
    with pytest.raises(loopc.InvalidArgument, match="no ONNX model in its binary form"):
        session(text, "w", weight)
    options = loopc.SessionOptions()
    with pytest.raises(loopc.InvalidArgument, match="12 of 4 bytes"):
        options.add_external_initializers_from_files_in_memory(["w.bin"], [b"1234"], [12])
    options.add_external_initializers_from_files_in_memory(["w.bin"], [b"1234"], [4])
    with pytest.raises(loopc.InvalidArgument, match=r"bytes 4 to 16 of 'w.bin', which has 4"):
        loopc.InferenceSession(EXTERNAL, options)


@pytest.mark.parametrize(
    "dtype", [np.bool_, ml_dtypes.bfloat16, ml_dtypes.int4, ml_dtypes.uint2, np.str_]
)
def test_initializers_of_other_types(dtype):
    array = np.array([1, 0, 1], np.int8).astype(dtype)
    element = loopc.OrtValue(array).element_type()
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Loop", ["n", "", "w"], ["y"], body=onnx.helper.make_graph(
            [onnx.helper.make_node("Identity", ["inner"], ["b"])], "body",
            [onnx.helper.make_tensor_value_info("i", 7, []), onnx.helper.make_tensor_value_info("c", 9, []),
             onnx.helper.make_tensor_value_info("a", element, [3])],
            [onnx.helper.make_tensor_value_info("c", 9, []), onnx.helper.make_tensor_value_info("b", element, [3])],
            [onnx.helper.make_tensor("inner", element, [3], [b"a"] * 3 if dtype is np.str_ else [0, 0, 0])]))],
        "g", [onnx.helper.make_tensor_value_info("n", 7, [])],
        [onnx.helper.make_tensor_value_info("y", element, [3])],
        [onnx.helper.make_tensor("w", element, [3], [b"b"] * 3 if dtype is np.str_ else [0, 1, 0])])  # fmt: skip
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 25)])
    options = loopc.SessionOptions()
    options.add_initializer("inner", loopc.OrtValue(array))
    options = copy.copy(options)
    session = loopc.InferenceSession(model, options)
    for again in (session, copy.copy(session)):
        (y,) = again.run(None, {"n": np.array(1)})
        assert [str(one) for one in y] == [str(one) for one in array]


# ----- The rest of the module ------------------------------------------------


def test_seeds():
    """The numbers depend on the seed, in each process alike."""
    code = """
import sys, numpy, loopc
session = loopc.InferenceSession(sys.stdin.buffer.read())
for seed in map(int, sys.argv[1:]):
    loopc.set_seed(seed)
    print([session.run(None, {})[0].tolist() for _ in range(2)])
"""
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        draw () => (float[4] y) { y = RandomUniform <shape = [4]> () }""")

    def draw(*seeds):
        done = subprocess.run([sys.executable, "-c", code, *map(str, seeds)],
                              input=model.SerializeToString(), capture_output=True, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().splitlines()

    first, other, again = draw(3, -4, 3)
    assert first == again != other
    assert draw(3) == [first]
    one, two = json.loads(first)
    assert one != two
    for wrong in ("3", 1.5, None, 2**64):
        with pytest.raises(loopc.InvalidArgument, match="seed"):
            loopc.set_seed(wrong)


def test_logger_callback(tmp_path):
    said = []
    loopc.set_default_logger_callback(lambda *one: said.append(one))
    try:
        options = loopc.SessionOptions()
        options.logid = "mine"
        with pytest.raises(loopc.CompileError):
            loopc.InferenceSession(b"damaged", options)
        ((severity, category, logid, place, message),) = said
        assert (severity, category, logid, place) == (3, "LC0201", "mine", "<bytes>")
        assert "no" in message
        with pytest.raises(loopc.InvalidArgument, match="callback"):
            loopc.set_default_logger_callback(3)
    finally:
        loopc.set_default_logger_callback(None)
    with pytest.raises(loopc.CompileError):
        loopc.InferenceSession(b"damaged")
    assert len(said) == 1


def test_devices(engine):
    device = engine.OrtDevice.make("cpu", 0)
    assert device.device_type() == device.device_id() == device.device_mem_type() == 0
    assert device.device_vendor_id() == 0
    assert engine.OrtDevice.make("cuda", 1).device_id() == 1
    assert engine.OrtDevice.make("cuda", 1).device_vendor_id() == 0x10DE
    with pytest.raises(Exception, match="npq"):
        engine.OrtDevice.make("npq", 0)


def test_memory(engine, session):
    (info, _), (out, _) = session.get_input_memory_infos(), session.get_output_memory_infos()
    for one in (info, out):
        assert (one.name, one.device_id) == ("Cpu", 0)
        assert one.mem_type == engine.OrtMemType.DEFAULT
        assert one.device_mem_type == engine.OrtDeviceMemoryType.DEFAULT


def test_memory_of_any_name(engine, session):
    info = engine.OrtMemoryInfo.create_v2(
        "Test",
        engine.OrtMemoryInfoDeviceType.CPU,
        0,
        0,
        engine.OrtDeviceMemoryType.DEFAULT,
        128,
        engine.OrtAllocatorType.ORT_ARENA_ALLOCATOR,
    )
    assert (info.name, info.device_id, info.device_vendor_id) == ("Test", 0, 0)
    assert info.allocator_type == engine.OrtAllocatorType.ORT_ARENA_ALLOCATOR
    assert len(session.get_input_epdevices()) == 2


def test_arenas(engine):
    arena = engine.OrtArenaCfg(8, 0, 4, 2)
    assert (arena.max_mem, arena.initial_growth_chunk_size_bytes) == (8, -1)
    arena = engine.OrtArenaCfg({"max_mem": 16, "max_power_of_two_extend_bytes": 1})
    assert (arena.max_mem, arena.max_power_of_two_extend_bytes) == (16, 1)
    assert arena.max_dead_bytes_per_chunk == -1
    with pytest.raises(Exception, match="max_men"):
        engine.OrtArenaCfg({"max_men": 16})
    kinds = engine.OrtAllocatorType, engine.OrtMemType
    memory = engine.OrtMemoryInfo("Cpu", kinds[0].ORT_ARENA_ALLOCATOR, 0, kinds[1].DEFAULT)
    engine.create_and_register_allocator(memory, arena)


def test_capsules_of_dlpack(engine):
    value = engine.OrtValue.ortvalue_from_numpy(X)
    for capsule in (value.__dlpack__(), value._ortvalue.to_dlpack(), X.__dlpack__()):
        made = engine.OrtValue.from_dlpack(capsule)
        np.testing.assert_array_equal(made.numpy(), X)
        assert made.data_ptr() == X.ctypes.data
        with pytest.raises(Exception, match=r"tensor|[Cc]apsule|null|used"):
            engine.OrtValue.from_dlpack(capsule)


def test_the_path_of_a_model(engine, tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(PLAIN, path)
    made = engine.InferenceSession(path)
    assert made._model_path == str(path)
    assert engine.InferenceSession(PLAIN.SerializeToString())._model_path is None
    if engine is loopc:
        assert pickle.loads(pickle.dumps(made))._model_path == str(path)


def test_options_of_the_cpu(engine):
    options = {"arena_extend_strategy": "kSameAsRequested"}
    model = PLAIN.SerializeToString()
    for providers, more in (
        ([("CPUExecutionProvider", options)], None),
        (["CPUExecutionProvider"], [options]),
    ):
        made = engine.InferenceSession(model, providers=providers, provider_options=more)
        assert made.get_providers() == ["CPUExecutionProvider"]


def test_copies():
    info = loopc.InferenceSession(PLAIN).get_input_memory_infos()[0]
    made = loopc.OrtValue.ortvalue_from_shape_and_type([2], np.float32, memory_info=info)
    loopc.copy_tensors([tensor(loopc, [1, 2])], [made])
    np.testing.assert_array_equal(made.numpy(), [1, 2])
    with pytest.raises(loopc.InvalidArgument, match="expected 1 tensors, got 0"):
        loopc.copy_tensors([made], [])
    with pytest.raises(loopc.InvalidArgument, match="does not fit"):
        loopc.copy_tensors([tensor(loopc, [1])], [made])


def test_vectors_of_values(session):
    if isinstance(session, loopc.InferenceSession):
        results = []
        feeds = [tensor(loopc, 1, np.int64), tensor(loopc, X)]
        session.run_with_ortvaluevector(None, ["n", "x"], feeds, ["y"], results, [])
        np.testing.assert_array_equal(results[0].numpy(), 2 * X)
        with pytest.raises(loopc.InvalidArgument, match="expected 2 values"):
            session.run_with_ortvaluevector(None, ["n", "x"], feeds[:1], ["y"], results, [])


def test_names_that_are_there():
    """Each name of onnxruntime's is there, does something, or says what to do instead."""
    elsewhere = {
        "capi", "contextlib", "import_capi_exception", "onnxruntime_validation",
        # Parts of what is refused.
        "OrtCompileApiFlags", "OrtEpContextData", "OrtEpContextDataBuffer",
        "OrtExecutionProviderDevicePolicy", "OrtExternalInitializerInfo", "OrtHardwareDeviceType",
        "OrtSparseFormat",
    }  # fmt: skip
    for name in dir(onnxruntime):
        if name.startswith("_") or name in elsewhere or hasattr(loopc, name):
            continue
        with pytest.raises(AttributeError, match=f"has no attribute '{name}': ..."):
            getattr(loopc, name)
    of_members = {
        "SessionOptions": {
            "clear_ep_context_data_read_func", "set_ep_context_data_read_func",
            "set_provider_selection_policy_delegate",
        },
    }  # fmt: skip
    for kind in ("SessionOptions", "RunOptions", "InferenceSession", "OrtValue", "IOBinding", "OrtDevice",
                 "OrtMemoryInfo", "ModelMetadata", "NodeArg"):  # fmt: skip
        theirs = {name for name in dir(getattr(onnxruntime, kind)) if not name.startswith("_")}
        if kind == "NodeArg":
            ours = set(loopc.NodeArg.__dataclass_fields__)
        elif kind == "ModelMetadata":
            ours = set(loopc.ModelMetadata.__dataclass_fields__)
        elif kind == "OrtMemoryInfo":
            ours = {
                *dir(loopc.OrtMemoryInfo),
                "name",
                "device_id",
                "mem_type",
                "allocator_type",
            }
        else:
            ours = set(dir(getattr(loopc, kind)))
        assert theirs - ours == of_members.get(kind, set())


def test_what_a_provider_runs(engine, tmp_path):
    """One provider, with all nodes of the model's graph."""
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 18, "com.microsoft" : 1]>'
        "agraph (float[N] x) => (float[N] y) {h = Relu(x) y = com.microsoft.Gelu(h)}"
    )
    model.graph.node[0].name = "first"
    options = engine.SessionOptions()
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if engine is onnxruntime:
        options.graph_optimization_level = engine.GraphOptimizationLevel.ORT_DISABLE_ALL
    path = tmp_path / "model.onnx"
    onnx.save(model, path)
    for given in (str(path), path.read_bytes()):
        session = engine.InferenceSession(given, options, providers=["CPUExecutionProvider"])
        parts = session.get_provider_graph_assignment_info()
        assert {part.ep_name for part in parts} == {"CPUExecutionProvider"}
        nodes = [(one.name, one.domain, one.op_type) for part in parts for one in part.get_nodes()]
        assert nodes == [("first", "", "Relu"), ("", "com.microsoft", "Gelu")]


@pytest.mark.parametrize("form", ["QDQ", "QOperator", "dynamic"])
def test_models_that_onnxruntime_quantises(tmp_path, form):
    quantization = pytest.importorskip("onnxruntime.quantization")
    rng = np.random.default_rng(7)
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> agraph (float[N, 16] x) => (float[N, 8] y) '
        "{h = MatMul(x, v) r = Relu(h) y = MatMul(r, w)}"
    )
    for name, shape in (("v", (16, 32)), ("w", (32, 8))):
        weights = rng.standard_normal(shape).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(weights, name))
    plain, made = str(tmp_path / "plain.onnx"), str(tmp_path / "made.onnx")
    onnx.save(model, plain)

    class Reader(quantization.CalibrationDataReader):
        def __init__(self):
            self.left = [{"x": rng.standard_normal((4, 16)).astype(np.float32)} for _ in range(4)]

        def get_next(self):
            return self.left.pop() if self.left else None

    if form == "dynamic":
        quantization.quantize_dynamic(plain, made, per_channel=True, reduce_range=saturates())
    else:
        quantization.quantize_static(
            plain, made, Reader(), quant_format=quantization.QuantFormat[form]
        )
    x = rng.standard_normal((5, 16)).astype(np.float32)
    peer, own = (one.InferenceSession(made).run(None, {"x": x})[0] for one in (onnxruntime, loopc))
    np.testing.assert_allclose(own, peer, rtol=1e-5, atol=1e-5)


def test_what_is_refused():
    options = loopc.SessionOptions()
    value = tensor(loopc, X)
    for call, reason in (
        (lambda: options.add_provider("CUDAExecutionProvider", {}), "argument of InferenceSession"),
        (lambda: options.add_provider_for_devices([], {}), "argument of InferenceSession"),
        (lambda: options.set_provider_selection_policy(None), "argument of InferenceSession"),
        (lambda: options.add_free_dimension_override_by_denotation("N", 1), "by name"),
        (lambda: loopc.RunOptions().add_active_adapter(None), "adapters"),
        (value.as_sparse_tensor, "no sparse tensor"),
        (lambda: loopc.OrtValue.ort_value_from_sparse_tensor(None), "no sparse tensors"),
    ):
        with pytest.raises(loopc.InvalidArgument, match=reason):
            call()


def test_capi_is_an_attribute():
    code = "import loopc; print(loopc.capi.onnxruntime_pybind11_state.Fail is loopc.capi._pybind_state.Fail)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert printed.stdout == "True\n", printed.stderr


def test_enumerators_print_their_names(engine):
    assert (
        f"{engine.GraphOptimizationLevel.ORT_ENABLE_ALL}" == "GraphOptimizationLevel.ORT_ENABLE_ALL"
    )
    assert str(engine.ExecutionMode(0)) == "ExecutionMode.ORT_SEQUENTIAL"
    assert str(engine.OrtMemType.DEFAULT) == "OrtMemType.DEFAULT"


def test_an_entry_that_is_not_there(engine):
    with pytest.raises(RuntimeError):
        engine.SessionOptions().get_session_config_entry("none")
    with pytest.raises(RuntimeError):
        engine.RunOptions().get_run_config_entry("none")


@pytest.mark.parametrize("feeds", [None, [X], {0: X}, {"x": None}, {"x": (1, 2)}, {"x": 1.5}])
def test_a_feed_of_a_wrong_type(feeds):
    session = loopc.InferenceSession(WEIGHT)
    with pytest.raises(TypeError):
        session.run(None, feeds)
    with pytest.raises(TypeError):
        session.run("y", {"x": X})


class Pickled(loopc.InferenceSession):
    """onnxruntime's users pickle sessions like this."""

    def __init__(self, model, factor=1):
        super().__init__(model)
        self.model, self.factor = model, factor

    def __getstate__(self):
        return {"model": self.model, "factor": self.factor}

    def __setstate__(self, state):
        self.__init__(**state)


class Scaled(loopc.InferenceSession):
    """A constructor of its own, and attributes."""

    def __init__(self, *, factor):
        super().__init__(WEIGHT)
        self.factor = factor


@pytest.mark.parametrize("again", [copy.copy, lambda session: pickle.loads(pickle.dumps(session))])
def test_subclasses_are_copied(again):
    for session in (Pickled(WEIGHT.SerializeToString(), 3), Scaled(factor=3)):
        other = again(session)
        assert type(other) is type(session) and other.factor == 3
        np.testing.assert_array_equal(other.run(None, {"x": X})[0], X)


def test_what_a_session_holds_itself():
    session = loopc.InferenceSession(WEIGHT)
    session.run(None, {"x": X})
    assert vars(session).keys() == session._OWN
