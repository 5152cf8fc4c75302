# ===- test_wrong_module_arguments.py - Arguments of other modules' names ------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Wrong arguments of loopc.tensorrt, loopc.openvino and loopc.network.

Of a wrong type they are a TypeError, too, as with the modules that have these names.
test/fuzz/every_argument.py tries many more.
"""

import loopc
import numpy as np
import pytest
from loopc import network as nt
from loopc import openvino as ov
from loopc import tensorrt as trt

MODEL = """<ir_version: 10, opset_import: ["" : 21]>
twice (float[N] x) => (float[N] y) { y = Add (x, x) }
"""
X = np.arange(3, dtype=np.float32)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    path = tmp_path_factory.mktemp("openvino") / "twice.onnxtxt"
    path.write_text(MODEL)
    return ov.Core().compile_model(str(path))


def refused(reason, kind=loopc.InvalidArgument):
    return pytest.raises(kind, match=reason)


def test_tensorrt_profiles():
    profile = trt.Builder(trt.Logger()).create_optimization_profile()
    with refused("max: expected a list of integers, got 3", TypeError):
        profile.set_shape("x", (1,), (2,), 3)
    with refused("min, opt and max differ in their rank"):
        profile.set_shape("x", (1,), (2,), (3, 3))
    with refused("opt: .* has a negative dimension"):
        profile.set_shape("x", (1,), (-2,), (3,))
    with refused("input: expected a str, got list", TypeError):
        profile.set_shape(["x"], (1,), (2,), (3,))
    assert profile.get_shape("x") == []


def test_tensorrt_kinds():
    logger = trt.Logger(trt.Logger.ERROR)
    builder = trt.Builder(logger)
    config = builder.create_builder_config()
    with refused("flag: 99 is no BuilderFlag; there are: FP16", TypeError):
        config.set_flag(99)
    with refused("profile: expected a IOptimizationProfile, got int", TypeError):
        config.add_optimization_profile(3)
    # bytes(5) are five zeros.
    with refused("serialized_engine: expected bytes, got int", TypeError):
        trt.Runtime(logger).deserialize_cuda_engine(5)
    parser = trt.OnnxParser(builder.create_network(), logger)
    with refused("model: expected bytes, got str", TypeError):
        parser.parse(MODEL)
    with refused("path: expected a path, got list", TypeError):
        parser.parse_from_file([])
    with refused("index: there are 0 errors"):
        parser.get_error(0)
    with refused("trt_type: expected a DataType, got str", TypeError):
        trt.nptype("float32")
    with refused("iterable: expected a list of integers, got None", TypeError):
        trt.volume(None)


def test_openvino_values(compiled):
    with refused("array: expected numbers or texts, got a list of type object", TypeError):
        ov.Tensor([None, {}])
    with refused("input 'x': expected numbers or texts", TypeError):
        compiled({"x": [object()]})
    with refused("tensor: expected a Tensor, got ndarray", TypeError):
        compiled.create_infer_request().set_tensor("x", X)
    with refused("input: expected a name, a number or an input, got list", TypeError):
        compiled.input([0])
    with refused("callback: int cannot be called", TypeError):
        compiled.create_infer_request().set_callback(3)
    with pytest.raises(KeyError, match="expected a name, a number or an output, got float"):
        compiled({"x": X})[0.5]
    request = compiled.create_infer_request()
    request.infer({"x": X})
    # Nothing of a call that is refused is kept.
    with refused("the model has no input 'z'"):
        request.infer({"x": X + 1, "z": X})
    np.testing.assert_array_equal(request.infer()[0], 2 * X)


def test_openvino_models(compiled):
    core = ov.Core()
    with refused("model: expected a path, got int", TypeError):
        core.read_model(3)
    with refused("weights: expected a path, got dict", TypeError):
        core.read_model("model.xml", {})
    with refused("device_name: expected a str, got list", TypeError):
        core.compile_model("model.xml", [])
    with refused("config: expected a dict, got int", TypeError):
        core.compile_model("model.xml", "CPU", 3)
    with refused("INFERENCE_NUM_THREADS: expected an integer, got 'many'", TypeError):
        core.compile_model("model.xml", "CPU", {"INFERENCE_NUM_THREADS": "many"})
    with refused("model: expected a CompiledModel, got str", TypeError):
        ov.AsyncInferQueue("model.xml")


def test_shapes_of_openvino_are_taken_together(tmp_path):
    path = tmp_path / "twice.onnxtxt"
    path.write_text(MODEL)
    core = ov.Core()
    model = core.read_model(str(path))
    with refused("shape: expected a shape, got 3", TypeError):
        model.reshape(3)
    with refused("shapes: expected names, numbers or inputs, got tuple", TypeError):
        model.reshape({(0,): [3]})
    with refused("the model has no input 'y'; it has: 'x'"):
        model.reshape({"x": [3], "y": [7]})
    with refused("shape of 'x': dimension: -7 is no extent"):
        model.reshape({"x": [-7]})
    assert core.compile_model(model).input().partial_shape == [-1]


def test_network_inputs():
    net = nt.create_network("n")
    with refused("name: expected a str, got int", TypeError):
        net.add_input(3, np.float32, (2,))
    with refused("shape: expected a list of extents and names, got 2", TypeError):
        net.add_input("x", np.float32, 2)
    # NumPy takes None for float64.
    with refused("dtype: None is no element type", TypeError):
        net.add_input("x", None, (2,))
    assert net.num_inputs == 0
    with refused("the network has no input 0; it has 0"):
        net.get_input(0)
    net.add_input("x", np.float32, np.array([2, 3]))
    assert net.get_input(0).shape == (2, 3)


def test_constants_of_networks():
    net = nt.create_network("n")
    # NumPy would write them as "None" and "{}".
    with refused("weights: expected numbers or texts, got a list of type object", TypeError):
        net.add_constant((2,), [None, {}])
    with refused("shape: .* has a negative dimension"):
        net.add_constant((-1, -3), X)
    assert net.num_layers == 0


@pytest.mark.parametrize("order", "<>")
def test_constants_of_any_order_of_bytes(order):
    net = nt.create_network("n")
    layer = net.add_constant((3,), X.astype(f"{order}f4"))
    layer.get_output(0).name = "y"
    net.mark_output(layer.get_output(0))
    np.testing.assert_array_equal(loopc.InferenceSession(net).run(None, {})[0], X)


def test_element_types_that_onnx_has_not():
    value = loopc.OrtValue.ortvalue_from_numpy(X.astype(X.dtype.newbyteorder()))
    with refused("ONNX has no tensors of NumPy's type"):
        value.element_type()
