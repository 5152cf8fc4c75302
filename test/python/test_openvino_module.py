# ===- test_openvino_module.py - OpenVINO's names -----------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Programs for OpenVINO, by OpenVINO and by loopc.openvino."""

import threading

import loopc
import loopc.openvino
import numpy as np
import openvino
import pytest
from openvino import opset13 as ops


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    """y = sum of x over its rows, by a loop of as many; two names for each of its ports."""
    path = tmp_path_factory.mktemp("openvino") / "model.xml"
    x = ops.parameter([-1, 3], np.float32, name="data")
    scale = ops.parameter([1, 3], np.float32, name="scale")
    x.output(0).set_names({"x", "rows, all"})
    scale.output(0).set_names({"scale"})
    row = ops.parameter([1, 3], np.float32)
    total = ops.parameter([1, 3], np.float32)
    added = ops.add(row, total)
    always = ops.constant(True)
    body = openvino.Model([added, always], [row, total])
    count = ops.gather(ops.shape_of(x), ops.constant(0), ops.constant(0))
    loop = ops.loop(count, ops.constant(True))
    loop.set_function(body)
    loop.set_special_body_ports([-1, 1])
    loop.set_sliced_input(row, x.output(0), 0, 1, 1, -1, 0)
    loop.set_merged_input(
        total, ops.constant(np.zeros((1, 3), np.float32)).output(0), added.output(0)
    )
    y = ops.multiply(loop.get_iter_value(added.output(0), -1), scale)
    y.output(0).set_names({"y", "sums"})
    openvino.save_model(openvino.Model([ops.result(y, name="out")], [x, scale]), path, False)
    return str(path)


@pytest.fixture(params=["openvino", "loopc.openvino"])
def ov(request):
    return {"openvino": openvino, "loopc.openvino": loopc.openvino}[request.param]


X = np.arange(12, dtype=np.float32).reshape(4, 3)
SCALE = np.array([[1, 2, 3]], np.float32)
Y = X.sum(0, keepdims=True) * SCALE


def test_requests(ov, model):
    core = ov.Core()
    assert "CPU" in core.available_devices
    compiled = core.compile_model(core.read_model(model), "CPU", {"INFERENCE_NUM_THREADS": 1})
    assert [port.get_names() for port in compiled.inputs] == [{"x", "rows, all"}, {"scale"}]
    assert compiled.output(0).get_names() == {"y", "sums"}
    assert compiled.input("rows, all").any_name in {"x", "rows, all"}
    assert tuple(compiled.input("scale").shape) == (1, 3)
    request = compiled.create_infer_request()
    # Any name of an input; by number; by the port; in a list; set before.
    for given in (
        {"x": X, "scale": SCALE},
        {"rows, all": X, "scale": ov.Tensor(SCALE)},
        {0: X, 1: SCALE},
        {compiled.input(0): X, compiled.input("scale"): SCALE},
        [X, SCALE],
    ):
        result = request.infer(given)
        for key in (0, "y", "sums", compiled.output(0)):
            np.testing.assert_array_equal(result[key], Y)
    request.set_tensor("rows, all", ov.Tensor(X + 1))
    request.get_tensor("scale").data[:] = 1
    request.start_async()
    request.wait()
    np.testing.assert_array_equal(request.get_tensor("sums").data, (X + 1).sum(0, keepdims=True))
    np.testing.assert_array_equal(request.get_output_tensor().data, request.results["y"])
    assert tuple(request.get_output_tensor(0).get_shape()) == (1, 3)
    np.testing.assert_array_equal(compiled([X, SCALE])[0], Y)
    np.testing.assert_array_equal(ov.compile_model(model, "CPU")({0: X, 1: SCALE})["y"], Y)


def test_reshape(ov, model):
    core = ov.Core()
    read = core.read_model(model)
    read.reshape({"x": [4, 3], "scale": [1, 3]})
    compiled = core.compile_model(read, "CPU")
    assert tuple(compiled.input("x").shape) == (4, 3)
    np.testing.assert_array_equal(compiled([X, SCALE])[0], Y)


def test_callbacks_and_queues(ov, model):
    compiled = ov.Core().compile_model(model, "CPU")
    done = threading.Event()
    request = compiled.create_infer_request()
    request.set_callback(lambda event: event.set(), done)
    request.start_async([X, SCALE])
    request.wait()
    assert done.wait(10)
    found = {}
    queue = ov.AsyncInferQueue(compiled, 2)
    assert len(queue) == 2
    queue.set_callback(
        lambda request, number: found.update({number: np.array(request.get_output_tensor().data)})
    )
    for number in range(8):
        queue.start_async({"x": X * number, "scale": SCALE}, number)
    queue.wait_all()
    assert sorted(found) == list(range(8))
    for number, value in found.items():
        np.testing.assert_array_equal(value, Y * number)


def test_jobs_of_queues(model):
    compiled = loopc.openvino.Core().compile_model(model, "CPU")
    for jobs in (-1, 2**31, 2**64, "two"):
        with pytest.raises(loopc.InvalidArgument, match="jobs"):
            loopc.openvino.AsyncInferQueue(compiled, jobs)


def test_errors(ov, model, tmp_path):
    core = ov.Core()
    compiled = core.compile_model(model, "CPU")
    for wrong in (
        lambda: core.read_model(str(tmp_path / "none.xml")),
        lambda: core.compile_model(model, "TOASTER"),
        lambda: core.compile_model(model, "CPU", {"NO_SUCH_PROPERTY": 1}),
        lambda: compiled.input("z"),
        lambda: compiled({"z": X}),
        lambda: compiled([X[:, :2], SCALE])[0],
        lambda: compiled.create_infer_request().get_tensor("z"),
    ):
        with pytest.raises(Exception):  # noqa: B017
            wrong()


def test_what_errors_say(model, tmp_path):
    ov = loopc.openvino
    core = ov.Core()
    compiled = core.compile_model(model)
    with pytest.raises(
        loopc.InvalidArgument, match="no input 'z'; it has: 'rows, all', 'x', 'scale'"
    ):
        compiled({"z": X})
    with pytest.raises(loopc.InvalidArgument, match="'TOASTER': it is CPU, AUTO or GPU"):
        core.compile_model(model, "TOASTER")
    with pytest.raises(loopc.InvalidArgument, match="has no fixed shape"):
        _ = compiled.input("x").shape
    request = compiled.create_infer_request()
    with pytest.raises(loopc.InvalidArgument, match="no run has ended"):
        _ = request.results
    with pytest.raises(loopc.InvalidArgument, match="2 inputs: name one"):
        request.infer(X)
    with pytest.raises(loopc.InvalidArgument, match=r"model\.bin"):
        core.read_model(model, str(tmp_path / "other.bin"))
    with pytest.raises(loopc.InvalidArgument, match="scale"):
        compiled.create_infer_request().infer({"x": X})


def test_properties(ov, model):
    core = ov.Core()
    core.set_property("CPU", {"INFERENCE_NUM_THREADS": 1})
    assert core.get_property("CPU", "INFERENCE_NUM_THREADS") == 1
    assert "INFERENCE_NUM_THREADS" in core.get_property("CPU", "SUPPORTED_PROPERTIES")
    np.testing.assert_array_equal(core.compile_model(model, "CPU")([X, SCALE])[0], Y)
    assert core.compile_model(model, "CPU").create_infer_request().query_state() == []
    with pytest.raises(Exception):  # noqa: B017
        core.set_property("CPU", {"NO_SUCH_PROPERTY": 1})


def test_names_that_are_elsewhere():
    for name in ("convert_model", "save_model", "preprocess"):
        with pytest.raises(AttributeError, match=f"{name}.*: "):
            getattr(loopc.openvino, name)
    with pytest.raises(AttributeError, match=r"no attribute 'nothing'$"):
        _ = loopc.openvino.nothing


def test_what_programs_do_with_requests(ov, model):
    compiled = ov.Core().compile_model(model, "CPU")
    # Arrays of other numbers are converted.
    result = compiled([X.astype(np.float64), SCALE.astype(np.int32)], share_inputs=True)
    np.testing.assert_array_equal(result["y"], Y)
    assert result["y"].dtype == np.float32
    result = compiled.infer_new_request({"x": X, "scale": SCALE})
    np.testing.assert_array_equal(result["y"], Y)
    request = compiled.create_infer_request()
    request.infer([X, SCALE], share_outputs=True)
    np.testing.assert_array_equal(request.output_tensors[0].data, Y)
    np.testing.assert_array_equal(request.input_tensors[1].data, SCALE)
    assert request.input_tensors[0].byte_size == X.nbytes
    assert request.get_compiled_model().input("scale").any_name == "scale"
    queue = ov.AsyncInferQueue(compiled, 2)
    assert queue.is_ready()
    queue.start_async([X, SCALE])
    queue.wait_all()
    assert len(queue) == 2 and queue[0] is not queue[1]
