# ===- test_tensorrt_module.py - TensorRT's names -----------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Samples of TensorRT's documentation, behind another import."""

from pathlib import Path

import loopc
import numpy as np
import pytest
from loopc import tensorrt as trt


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
    profile = trt.IOptimizationProfile()
    profile.set_shape("x", (1, 3), (2, 3), (4, 3))
    assert profile.get_shape("x") == [(1, 3), (2, 3), (4, 3)]
    with pytest.raises(loopc.InvalidArgument, match="do not ascend"):
        profile.set_shape("x", (2,), (1,), (2,))
    config = trt.IBuilderConfig()
    config.add_optimization_profile(profile)
    with pytest.raises(loopc.InvalidArgument, match="one optimization profile"):
        config.add_optimization_profile(profile)


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
