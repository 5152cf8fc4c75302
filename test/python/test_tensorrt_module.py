# ===- test_tensorrt_module.py - TensorRT's names -----------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Samples of TensorRT's documentation, behind another import."""

import subprocess
from pathlib import Path

import loopc
import ml_dtypes
import numpy as np
import onnx.parser
import pytest
from loopc import tensorrt as trt

ROOT = Path(__file__).parents[2]


class Listener(trt.ILogger):
    """Keeps what it is told."""

    def __init__(self):
        self.told = []

    def log(self, severity, msg):
        self.told.append((severity, msg))


class Allocator(trt.IOutputAllocator):
    """Memory of numpy."""

    def reallocate_output(self, tensor_name, memory, size, alignment):
        self.memory = np.empty(size + alignment, np.uint8)
        return self.memory.ctypes.data + -self.memory.ctypes.data % alignment

    def notify_shape(self, tensor_name, shape):
        self.shape = shape


def power_by_a_loop(network):
    """The guide's "for" loop: x squared as many times as n says, and all of the powers."""
    x = network.add_input("x", trt.float32, (3,))
    trips = network.add_input("n", trt.int32, ())
    loop = network.add_loop()
    loop.add_trip_limit(trips, trt.TripLimit.COUNT)
    power = loop.add_recurrence(x)
    square = network.add_elementwise(
        power.get_output(0), power.get_output(0), trt.ElementWiseOperation.PROD
    )
    power.set_input(1, square.get_output(0))
    last = loop.add_loop_output(power.get_output(0), trt.LoopOutput.LAST_VALUE)
    every = loop.add_loop_output(square.get_output(0), trt.LoopOutput.CONCATENATE)
    every.set_input(1, trips)
    for name, layer in (("last", last), ("every", every)):
        layer.get_output(0).name = name
        network.mark_output(layer.get_output(0))


def test_a_loop_from_network_to_context():
    logger = trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
    power_by_a_loop(network)
    config = builder.create_builder_config()
    config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 20)
    assert config.get_memory_pool_limit(trt.MemoryPoolType.WORKSPACE) == 1 << 20
    assert builder.is_network_supported(network, config)
    plan = builder.build_serialized_network(network, config)
    assert plan.nbytes == len(plan)
    engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
    assert [*engine] == ["x", "n", "last", "every"] and engine.num_io_tensors == 4
    assert engine.get_tensor_mode("n") == trt.TensorIOMode.INPUT
    assert engine.get_tensor_mode("every") == trt.TensorIOMode.OUTPUT
    assert engine.get_tensor_shape("every") == (-1, 3)
    assert trt.nptype(engine.get_tensor_dtype("n")) == np.int32
    assert bytes(engine.serialize()) == plan
    context = engine.create_execution_context()
    x, n, last = np.array([1, 2, 3], np.float32), np.array(3, np.int32), np.zeros(3, np.float32)
    every = Allocator()
    context.set_tensor_address("x", x.ctypes.data)
    context.set_tensor_address("n", n.ctypes.data)
    context.set_tensor_address("last", last.ctypes.data)
    context.set_output_allocator("every", every)
    assert context.execute_async_v3(0)
    np.testing.assert_array_equal(last, x**8)
    assert context.get_tensor_shape("every") == every.shape == (3, 3)
    values = np.frombuffer(every.memory, np.uint8)
    begin = -every.memory.ctypes.data % 64
    made = values[begin : begin + 36].view(np.float32).reshape(3, 3)
    np.testing.assert_array_equal(made, [x**2, x**4, x**8])
    # The same by addresses in the order of the tensors.
    context = trt.Builder(logger).build_engine_with_config(network, config)
    context = context.create_execution_context()
    room = np.zeros((3, 3), np.float32)
    bindings = [x.ctypes.data, n.ctypes.data, last.ctypes.data, room.ctypes.data]
    assert context.execute_v2(bindings)
    np.testing.assert_array_equal(room, made)


def example(*arguments):
    """What examples/network/engine.cpp prints."""
    done = subprocess.run(
        [ROOT / "build/examples/loopc-example-engine", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_engines_of_cpp(tmp_path):
    """Engines that C++ builds run here, and the other way round."""
    file = tmp_path / "power.plan"
    assert example("build", file) == (0, "")
    logger = trt.Logger(trt.Logger.WARNING)
    engine = trt.Runtime(logger).deserialize_cuda_engine(file.read_bytes())
    context = engine.create_execution_context()
    x, n, y = np.array([1, 2, 3], np.float32), np.array(2, np.int32), np.zeros(3, np.float32)
    assert context.execute_v2([x.ctypes.data, n.ctypes.data, y.ctypes.data])
    np.testing.assert_array_equal(y, x**4)

    builder = trt.Builder(logger)
    network = builder.create_network()
    x, n = network.add_input("x", trt.float32, (3,)), network.add_input("n", trt.int32, ())
    loop = network.add_loop()
    loop.add_trip_limit(n, trt.TripLimit.COUNT)
    sums = loop.add_recurrence(x)
    following = network.add_elementwise(sums.get_output(0), x, trt.ElementWiseOperation.SUM)
    sums.set_input(1, following.get_output(0))
    last = loop.add_loop_output(sums.get_output(0), trt.LoopOutput.LAST_VALUE).get_output(0)
    last.name = "y"
    network.mark_output(last)
    config = builder.create_builder_config()
    file.write_bytes(builder.build_serialized_network(network, config))
    lines = [f"n = {k}: {k + 1} {2 * k + 2} {3 * k + 3}\n" for k in range(4)]
    assert example("run", file) == (0, "".join(lines))
    file.write_bytes(b"no engine")
    assert example("run", file) == (1, "these are not the bytes of an engine\n")
    status, told = example("parse", ROOT / "examples/newton/newton.onnxtxt")
    assert status == 0
    assert "input limit:\n" in told
    assert "output history: -1 -1\n" in told


def test_a_model_by_the_parser(tmp_path):
    logger = Listener()
    builder = trt.Builder(logger)
    network = builder.create_network()
    parser = trt.OnnxParser(network, logger)
    newton = Path(__file__).parents[2] / "examples/newton/newton.onnxtxt"
    assert parser.parse_from_file(str(newton)) and parser.num_errors == 0
    profile = builder.create_optimization_profile()
    for name in ("anomaly", "eccentricity"):
        profile.set_shape(name, (2,), (2,), (2,))
    config = builder.create_builder_config()
    assert config.add_optimization_profile(profile) == 0
    engine = builder.build_engine_with_config(network, config)
    assert engine.get_tensor_shape("angle") == (2,)
    context = engine.create_execution_context()
    feeds = {
        "anomaly": np.array([3.05, 1.16]),
        "eccentricity": np.array([0.21, 0.97]),
        "limit": np.array(100),
        "tolerance": np.array(1e-9),
    }
    results = {"angle": np.zeros(2), "steps": np.zeros(100), "history": np.zeros((100, 2))}
    for name, array in (feeds | results).items():
        context.set_tensor_address(name, array.ctypes.data)
    assert context.execute_async_v3(0)
    wanted = loopc.InferenceSession(newton).run(["angle", "steps"], feeds)
    np.testing.assert_array_equal(results["angle"], wanted[0])
    assert context.get_tensor_shape("steps") == wanted[1].shape
    assert not logger.told


def test_configurations_share_nothing():
    builder = trt.Builder(Listener())
    one, other = builder.create_builder_config(), builder.create_builder_config()
    one.plugins_to_serialize.append("plugins.so")
    assert other.plugins_to_serialize == []


def test_what_fails_is_logged(capfd):
    logger = Listener()
    builder = trt.Builder(logger)
    network = builder.create_network()
    parser = trt.OnnxParser(network, logger)
    assert not parser.parse(b"no model")
    assert parser.num_errors == 1 and parser.get_error(0).desc() == logger.told[0][1]
    parser.clear_errors()
    assert parser.num_errors == 0
    # A network without outputs.
    network.add_input("x", trt.float32, (3,))
    assert builder.build_serialized_network(network, builder.create_builder_config()) is None
    assert "LC0809" in logger.told[-1][1]
    assert trt.Runtime(logger).deserialize_cuda_engine(b"nothing") is None
    with pytest.raises(loopc.InvalidArgument, match="empty network"):
        parser.parse(b"no model")
    network = builder.create_network()
    with pytest.raises(TypeError, match="tensor: expected a ITensor, got NoneType"):
        network.mark_output(None)
    power_by_a_loop(network)
    engine = builder.build_engine_with_config(network, builder.create_builder_config())
    context = engine.create_execution_context()
    assert not context.set_input_shape("x", (4,))
    assert "cannot have the shape (4,)" in logger.told[-1][1]
    assert not context.execute_async_v3(0)
    assert "the input 'x' has no set_tensor_address()" in logger.told[-1][1]
    with pytest.raises(loopc.InvalidArgument, match="no tensor 'z'; it has: 'x', 'n', 'last'"):
        engine.get_tensor_shape("z")
    assert all(severity == trt.Logger.ERROR for severity, _ in logger.told)
    trt.Logger(trt.Logger.ERROR).log(trt.Logger.WARNING, "not shown")
    trt.Logger().log(trt.Logger.WARNING, "shown")
    assert capfd.readouterr().err == "[TRT] [W] shown\n"


def test_weights_and_names():
    weights = trt.Weights(np.arange(4, dtype=np.float32))
    assert (weights.size, weights.nbytes, weights.dtype) == (4, 16, trt.float32)
    assert len(trt.Weights(trt.float32)) == 0 and trt.volume((2, 3)) == 6
    network = trt.Builder(trt.Logger()).create_network()
    layer = network.add_constant((4,), weights)
    assert str(layer.type) == f"{layer.type}" == "LayerType.CONSTANT"
    assert str(layer.get_output(0).dtype) == "DataType.FLOAT"
    np.testing.assert_array_equal(layer.weights, [0, 1, 2, 3])
    layer.weights = np.float32([[4, 5], [6, 7]])
    assert layer.weights.tolist() == [4, 5, 6, 7]
    with pytest.raises(loopc.InvalidArgument, match=r"3 values do not fill the shape \(4,\)"):
        layer.weights = np.ones(3, np.float32)
    x = network.add_input("x", trt.float32, (1, 1, 2, 2))
    kernel = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    convolution = network.add_convolution_nd(x, 1, (2, 2), kernel)
    assert convolution.kernel.tolist() == [0, 1, 2, 3] and convolution.bias.size == 0
    small = network.add_constant((3,), np.array([-8, 7, 1], ml_dtypes.int4))
    assert small.weights.tolist() == [-8, 7, 1] and small.weights.dtype == ml_dtypes.int4
    profile = trt.IOptimizationProfile()
    profile.set_shape("x", (1, 3), (2, 3), (4, 3))
    assert profile.get_shape("x") == [(1, 3), (2, 3), (4, 3)]
    with pytest.raises(loopc.InvalidArgument, match="do not ascend"):
        profile.set_shape("x", (2,), (1,), (2,))
    config = trt.IBuilderConfig()
    assert [config.add_optimization_profile(profile) for _ in range(2)] == [0, 1]


def test_permissions():
    config = trt.Builder(Listener()).create_builder_config()
    config.set_flag(trt.BuilderFlag.FP16)
    assert config.get_flag(trt.BuilderFlag.FP16) and not config.get_flag(trt.BuilderFlag.INT8)
    config.clear_flag(trt.BuilderFlag.FP16)
    assert not config.get_flag(trt.BuilderFlag.FP16)
    with pytest.raises(loopc.InvalidArgument, match="part of an engine"):
        config.set_flag(trt.BuilderFlag.REFIT)


def test_mistakes():
    logger = Listener()
    builder = trt.Builder(logger)
    parser = trt.OnnxParser(builder.create_network(), logger)
    assert not parser.parse_from_file("none.onnx")
    assert "cannot read 'none.onnx'" in parser.get_error(0).desc()
    network = builder.create_network()
    power_by_a_loop(network)
    engine = builder.build_engine_with_config(network, builder.create_builder_config())
    with pytest.raises(
        loopc.InvalidArgument, match="0 addresses for the 4 tensors 'x', 'n', 'last'"
    ):
        engine.create_execution_context().execute_v2([])
    with pytest.raises(AttributeError, match="custom operators"):
        trt.get_plugin_registry()


DOUBLE = """
<ir_version: 8, opset_import: ["" : 18]>
agraph (float[batch, 3] x) => (float[batch, 3] y, float[rows, 3] z) {
  y = Add (x, x)
  z = Concat<axis=0> (x, y)
}
"""


def parsed(logger, text=DOUBLE):
    """A network that a parser has filled, and its builder."""
    builder = trt.Builder(logger)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))
    parser = trt.OnnxParser(network, logger)
    model = onnx.parser.parse_model(text).SerializeToString()
    if not parser.parse(model):
        raise AssertionError([str(parser.get_error(k)) for k in range(parser.num_errors)])
    return builder, network


def test_the_usual_sample():
    """Inputs from the parsed network, a profile, a plan, shapes and addresses."""
    logger = trt.Logger(trt.Logger.INFO)
    trt.init_libnvinfer_plugins(logger, "")
    builder, network = parsed(logger)
    inputs = [network.get_input(k) for k in range(network.num_inputs)]
    outputs = [network.get_output(k) for k in range(network.num_outputs)]
    assert [(one.name, one.shape, one.dtype) for one in inputs] == [("x", (-1, 3), trt.float32)]
    assert [one.name for one in outputs] == ["y", "z"]
    assert inputs[0].is_network_input and outputs[0].is_network_output
    config = builder.create_builder_config()
    config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 30)
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    config.builder_optimization_level = 2
    cache = config.create_timing_cache(b"")
    assert config.set_timing_cache(cache, False) and config.get_timing_cache() is cache
    for least, most in ((1, 4), (5, 8)):
        profile = builder.create_optimization_profile()
        profile.set_shape(inputs[0].name, (least, 3), (least, 3), (most, 3))
        config.add_optimization_profile(profile)
    plan = builder.build_serialized_network(network, config)
    runtime = trt.Runtime(logger)
    engine = runtime.deserialize_cuda_engine(plan)
    assert engine.num_optimization_profiles == 2
    assert engine.get_tensor_profile_shape("x", 1) == [(5, 3), (5, 3), (8, 3)]
    assert engine.get_tensor_bytes_per_component("x") == 4
    assert engine.get_tensor_location("x") == trt.TensorLocation.HOST
    context = engine.create_execution_context()
    assert context.infer_shapes() == ["x"] and not context.all_binding_shapes_specified
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert context.set_input_shape("x", x.shape) and context.infer_shapes() == []
    # Buffers are made before the run.
    assert context.get_tensor_shape("y") == (2, 3)
    assert context.get_tensor_shape("z") == (4, 3)
    assert context.get_max_output_size("y") == 24
    buffers = {"x": x, "y": np.empty((2, 3), np.float32), "z": np.empty((4, 3), np.float32)}
    for name in engine:
        assert context.set_tensor_address(name, buffers[name].ctypes.data)
    assert context.execute_async_v3(stream_handle=0)
    np.testing.assert_array_equal(buffers["y"], 2 * x)
    np.testing.assert_array_equal(buffers["z"], np.concatenate([x, 2 * x]))
    assert context.get_tensor_shape("z") == (4, 3)
    # A profile has its bounds.
    assert not context.set_input_shape("x", (5, 3))
    assert context.set_optimization_profile_async(1, 0)
    assert context.set_input_shape("x", (5, 3)) and not context.set_input_shape("x", (9, 3))
    assert context.get_tensor_shape("y") == (5, 3)
    with pytest.raises(loopc.InvalidArgument, match="2 profiles, none of number 2"):
        context.set_optimization_profile_async(2, 0)


#: Extents that follow from others by arithmetic, by small constants, through a loop, and by
#: values.
FOLLOW = """<ir_version: 10, opset_import: ["" : 21]>
follow (float[N, 3, "H", "W"] x, int64 n, int64[R, 2] ends) => (a, b, c, d, e)
<int64[2] to = {0, -1}> {
  a = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, kernel)
  b = Reshape (a, to)
  go = Constant <value = bool {1}> ()
  c, d = Loop (n, go, b) <body = step (int64 i, bool on, float[P, Q] s)
    => (bool on2, float[P, Q] t, float[P, Q] u) {
    on2 = Identity (on)
    t = Neg (s)
    u = Identity (t)
  }>
  e = Gather (table, ends)
}"""


def test_shapes_of_outputs_follow_from_those_of_inputs():
    model = onnx.parser.parse_model(FOLLOW)
    for name, extents in (("kernel", (40, 3, 3, 3)), ("table", (2000, 5))):
        value = np.random.default_rng(0).random(extents, np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    logger = Listener()
    builder = trt.Builder(logger)
    network = builder.create_network()
    assert trt.OnnxParser(network, logger).parse(model.SerializeToString()), logger.told
    plan = builder.build_serialized_network(network, builder.create_builder_config())
    engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
    assert engine.get_tensor_shape("a") == (-1, 40, -1, -1)
    # Weights are not kept twice.
    assert len(engine._outline) < 8000
    context = engine.create_execution_context()
    assert context.set_input_shape("x", (2, 3, 10, 11))
    assert context.get_tensor_shape("b") == (-1, -1)  # not all inputs have shapes
    assert context.set_input_shape("ends", (7, 2))
    shapes = {name: context.get_tensor_shape(name) for name in "abcde"}
    assert shapes == {
        "a": (2, 40, 5, 6),
        "b": (2, 1200),
        "c": (2, 1200),
        "d": (-1, 2, 1200),
        "e": (7, 2, 5),
    }
    # Outputs of these shapes are written where they are.
    feeds = {"x": np.ones((2, 3, 10, 11), np.float32), "n": np.array(3)}
    feeds["ends"] = np.zeros((7, 2), np.int64)
    room = {name: loopc.OrtValue.ortvalue_from_shape_and_type(shapes[name]) for name in "abce"}
    rows = Allocator()
    for name, value in {**feeds, **{name: one.numpy() for name, one in room.items()}}.items():
        assert context.set_tensor_address(name, value.ctypes.data)
    context.set_output_allocator("d", rows)
    assert context.execute_async_v3(0), logger.told
    np.testing.assert_array_equal(room["c"].numpy(), -room["b"].numpy())
    assert rows.shape == (3, 2, 1200)
    # Another shape, and one that the model refuses, of which nothing follows.
    assert context.set_input_shape("x", (1, 3, 8, 8))
    assert context.get_tensor_shape("b") == (1, 640)
    by_session = loopc.InferenceSession(model).run(["b"], feeds)[0]
    np.testing.assert_array_equal(by_session, room["b"].numpy())


def test_shapes_of_outputs_of_layers():
    logger = Listener()
    builder = trt.Builder(logger)
    network = builder.create_network()
    x, n = network.add_input("x", trt.float32, (-1, -1)), network.add_input("n", trt.int32, ())
    loop = network.add_loop()
    loop.add_trip_limit(n, trt.TripLimit.COUNT)
    state = loop.add_recurrence(x)
    ones = network.add_constant((4, 4), np.ones((4, 4), np.float32)).get_output(0)
    none = trt.MatrixOperation.NONE
    following = network.add_matrix_multiply(state.get_output(0), none, ones, none).get_output(0)
    state.set_input(1, following)
    last = loop.add_loop_output(state.get_output(0), trt.LoopOutput.LAST_VALUE).get_output(0)
    last.name = "last"
    network.mark_output(last)
    engine = builder.build_engine_with_config(network, builder.create_builder_config())
    context = engine.create_execution_context()
    assert context.set_input_shape("x", (5, 4))
    assert context.get_tensor_shape("last") == (5, 4)
    # Nothing follows from shapes that do not fit together; the run says why.
    assert context.set_input_shape("x", (5, 3))
    assert context.get_tensor_shape("last") == (-1, -1)


def test_shapes_of_parsed_inputs():
    builder, network = parsed(Listener())
    network.get_input(0).shape = (7, 3)
    assert network.get_input(0).shape == (7, 3)
    engine = builder.build_engine_with_config(network, builder.create_builder_config())
    assert engine.get_tensor_shape("y") == (7, 3) and engine.get_tensor_shape("z") == (14, 3)
    with pytest.raises(loopc.InvalidArgument, match="takes no more layers"):
        network.add_identity(network.get_output(0))
    with pytest.raises(loopc.InvalidArgument, match="its shape follows"):
        network.get_output(0).shape = (7, 3)
    with pytest.raises(loopc.InvalidArgument, match="the network has no input 1; it has 1"):
        network.get_input(1)


def run_layers(build, **feeds):
    """The outputs of a network whose layers `build` adds."""
    builder = trt.Builder(trt.Logger())
    network = builder.create_network()
    tensors = [network.add_input(name, array.dtype, array.shape) for name, array in feeds.items()]
    layer = build(network, *tensors)
    network.mark_output(layer.get_output(0))
    return loopc.InferenceSession(network).run(None, feeds)[0]


def test_layers_that_are_others_together():
    x = np.arange(12, dtype=np.float32).reshape(1, 3, 2, 2) - 4
    weights = np.float32([1, 2, 3])
    by_channel = run_layers(
        lambda net, t: net.add_scale(
            t, trt.ScaleMode.CHANNEL, trt.Weights(weights), trt.Weights(2 * weights), trt.Weights()
        ),
        x=x,
    )
    np.testing.assert_array_equal(
        by_channel, x * (2 * weights).reshape(3, 1, 1) + weights.reshape(3, 1, 1)
    )
    uniform = run_layers(
        lambda net, t: net.add_scale(
            t, trt.ScaleMode.UNIFORM, None, trt.Weights(np.float32([2])), np.float32([2])
        ),
        x=x,
    )
    np.testing.assert_array_equal(uniform, (2 * x) ** 2)
    each = run_layers(
        lambda net, t: net.add_scale_nd(t, trt.ScaleMode.ELEMENTWISE, x[0], channel_axis=1), x=x
    )
    np.testing.assert_array_equal(each, 2 * x)
    padded = run_layers(lambda net, t: net.add_padding_nd(t, (1, -1), (0, 2)), x=x)
    wanted = np.pad(x[..., 1:], ((0, 0), (0, 0), (1, 0), (0, 2)))
    np.testing.assert_array_equal(padded, wanted)

    def enlarge(net, t):
        layer = net.add_resize(t)
        layer.shape = (1, 3, 4, 6)
        layer.resize_mode = trt.InterpolationMode.NEAREST
        assert layer.nearest_rounding == trt.ResizeRoundMode.FLOOR
        return layer

    np.testing.assert_array_equal(run_layers(enlarge, x=x), x.repeat(2, 2).repeat(3, 3))

    def enlarge_by(net, t):
        layer = net.add_resize(t)
        layer.scales = (1, 1, 2, 1)
        layer.resize_mode = trt.InterpolationMode.LINEAR
        layer.coordinate_transformation = trt.ResizeCoordinateTransformation.ALIGN_CORNERS
        return layer

    linear = run_layers(enlarge_by, x=x)
    np.testing.assert_allclose(linear[:, :, 1], (2 * x[:, :, 0] + x[:, :, 1]) / 3, rtol=1e-6)

    def quantise(net, t, scale):
        layer = net.add_quantize(t, scale)
        layer.axis = 1
        back = net.add_dequantize(layer.get_output(0), scale)
        back.axis = 1
        assert layer.get_output(0).dtype == trt.int8 and layer.axis == 1
        return back

    scale = np.float32([0.5, 1, 4])
    wanted = np.round(x / scale.reshape(3, 1, 1)) * scale.reshape(3, 1, 1)
    np.testing.assert_array_equal(run_layers(quantise, x=x, scale=scale), wanted)

    def resize_to(net, t, shape):
        layer = net.add_resize(t)
        layer.set_input(1, shape)
        return layer

    shape = np.int32([1, 3, 2, 6])
    np.testing.assert_array_equal(run_layers(resize_to, x=x, shape=shape), x.repeat(3, 3))


def test_ragged_softmax():
    x = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
    bounds = np.int32([[5], [3], [1], [0]])
    found = run_layers(lambda net, t, n: net.add_ragged_softmax(t, n), x=x, bounds=bounds)
    wanted = np.zeros_like(x)
    for row, (count,) in enumerate(bounds):
        powers = np.exp(x[row, :count])
        wanted[row, :count] = powers / powers.sum()
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


ROWS = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (
            lambda net, t: net.add_scale(t, trt.ScaleMode.CHANNEL, None, ROWS[0, :2]),
            "has 2 numbers but",
        ),
        (
            lambda net, t: net.add_scale_nd(
                t, trt.ScaleMode.CHANNEL, None, ROWS[0], channel_axis=5
            ),
            "channel_axis 5 is not one of rank 2",
        ),
        (lambda net, t: net.add_padding_nd(t, (1,), (0, 2)), "1 paddings in front and 2 behind"),
        (lambda net, t: net.add_padding_nd(t, (1, 1, 1), (0, 2, 0)), "do not fit a rank of 2"),
        (lambda net, t: net.add_resize(t), "has neither output_dimensions, an input 1, nor scales"),
        (lambda net, t: net.add_quantize(t, t, trt.int32), "to_type must be INT8, FP8 or INT4"),
    ],
)
def test_layers_that_do_not_fit(build, reason):
    with pytest.raises(loopc.CompileError, match=reason):
        run_layers(build, x=ROWS)


def test_the_old_way_of_writing_it():
    """Contexts of `with`, and shapes as Dims."""
    logger = trt.Logger()
    with trt.Builder(logger) as builder, builder.create_network(0) as network:
        x = network.add_input("x", trt.float32, trt.Dims3(2, 3, 4))
        layer = network.add_shuffle(x)
        layer.first_transpose = trt.Permutation([0, 2, 1])
        layer.reshape_dims = trt.Dims2((4, 6))
        network.mark_output(layer.get_output(0))
        with builder.build_engine_with_config(network, builder.create_builder_config()) as engine:
            assert engine.get_tensor_shape("x") == trt.Dims([2, 3, 4]) == (2, 3, 4)
            with engine.create_execution_context() as context:
                given = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
                result = np.empty((4, 6), np.float32)
                assert context.execute_v2([given.ctypes.data, result.ctypes.data])
                with pytest.raises(loopc.InvalidArgument, match="its shape follows"):
                    context.set_input_shape(engine.get_tensor_name(1), (4, 6))
    np.testing.assert_array_equal(result, given.transpose(0, 2, 1).reshape(4, 6))
    assert trt.DimsHW((5, 7)).h == 5 and trt.volume(trt.Dims4(1, 2, 3, 4)) == 24


def test_what_configurations_keep():
    config = trt.Builder(Listener()).create_builder_config()
    config.flags = 1 << int(trt.BuilderFlag.FP16) | 1 << int(trt.BuilderFlag.BF16)
    assert config.get_flag(trt.BuilderFlag.BF16) and not config.get_flag(trt.BuilderFlag.TF32)
    config.max_aux_streams = 2
    config.hardware_compatibility_level = trt.HardwareCompatibilityLevel.AMPERE_PLUS
    assert config.flags == 1 << 0 | 1 << 17 and config.max_aux_streams == 2
    config.reset()
    assert config.flags == 0 and config.max_aux_streams == 0
    # What would be forgotten in silence is refused.
    with pytest.raises(AttributeError, match="no 'int8_calibrator': models are quantised by"):
        config.int8_calibrator = object()
    with pytest.raises(AttributeError, match=r"'nothing': docs/Network\.md lists"):
        _ = config.nothing
    with pytest.raises(AttributeError, match=r"Refitter.*: weights are part of an engine"):
        _ = trt.Refitter


def test_names_that_are_not_there_say_what_is():
    """Those of older versions of TensorRT, and of what an engine here does not have."""
    logger = Listener()
    builder, network = parsed(logger)
    engine = builder.build_engine_with_config(network, builder.create_builder_config())
    context = engine.create_execution_context()
    for thing, names, reason in (
        (engine, ("num_bindings", "get_binding_index"), "set_tensor_address"),
        (context, ("set_binding_shape", "execute_async_v2"), "set_input_shape"),
        (builder, ("build_engine",), "build_serialized_network"),
        (builder.create_builder_config(), ("max_workspace_size",), "set_memory_pool_limit"),
        (engine, ("num_layers", "create_engine_inspector"), "loopc explain"),
        (context, ("profiler", "report_to_profiler"), "loopc-run --profile"),
        (trt, ("IPluginV3", "get_plugin_registry"), "custom operators"),
        (trt, ("OnnxParserRefitter", "Refitter"), "build it again"),
        (trt, ("IInt8MinMaxCalibrator",), "quantised by their own layers"),
    ):
        for name in names:
            with pytest.raises(AttributeError, match=reason):
                getattr(thing, name)
    with pytest.raises(AttributeError, match="loopc-run --profile"):
        context.profiler = object()
    assert engine.get_tensor_components_per_element("x") == -1
    assert "linear" in engine.get_tensor_format_desc("x")
    config = builder.create_builder_config()
    assert config.set_tactic_sources(1 << int(trt.TacticSource.CUBLAS))
    config.set_preview_feature(trt.PreviewFeature.PROFILE_SHARING_0806, True)


def test_the_page_names_what_there_is():
    """The table of docs/Network.md: names that are there are, and the others are not."""
    page = (Path(__file__).parents[2] / "docs/Network.md").read_text()
    table = page.partition("| class | there | not there |\n|---|---|---|\n")[2].partition("\n\n")[0]
    rows = [row.strip("| ").split(" | ") for row in table.splitlines()]
    assert len(rows) >= 8
    for kind, there, missing in rows:
        names = {
            name
            for base in getattr(trt, kind.strip("`")).__mro__
            for name in (*vars(base), *getattr(base, "__annotations__", ()))
        }
        made = {"`IBuilderConfig`": trt.IBuilderConfig(), "`Builder`": trt.Builder(None)}.get(kind)
        names |= set(vars(made)) if made else set()
        names |= {"name", "engine", "debug_sync", "logger", "active_optimization_profile"}
        names |= {"max_threads"} & set(vars(trt.Runtime(None)))
        for name in there.split(", "):
            assert name.strip("`") in names, f"{kind}: {name}"
        for name in missing.split(", "):
            assert name.strip("`") not in names, f"{kind}: {name}"
