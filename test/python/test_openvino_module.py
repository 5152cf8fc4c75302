# ===- test_openvino_module.py - OpenVINO's names -----------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Programs for OpenVINO, by OpenVINO and by loopc.openvino."""

import io
import json
import subprocess
import sys
import threading
from pathlib import Path

import loopc
import loopc.openvino
import loopc.openvino.properties.hint
import numpy as np
import onnx
import onnx.parser
import openvino
import openvino.preprocess
import openvino.properties.hint
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
    request.infer([X, SCALE])
    assert not done.is_set()
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


def test_a_request_of_a_queue_is_waited_for(ov, model):
    queue = ov.AsyncInferQueue(ov.Core().compile_model(model, "CPU"), 1)
    for number in range(20):
        queue.start_async([X * number, SCALE])
        queue[0].wait()
        np.testing.assert_array_equal(queue[0].get_output_tensor().data, Y * number)
    queue.wait_all()


def test_sequences_stay_sequences(tmp_path):
    """Of a model of ONNX that is written with other shapes."""
    onnx_parser = pytest.importorskip("onnx.parser")
    made = onnx_parser.parse_model("""<ir_version: 9, opset_import: ["" : 18]>
        g (float[N, 2] x) => (seq(float[2, 2]) y) { n = Constant<value_int = 2>()
          y = SplitToSequence<axis = 0>(x, n) }""")
    path, written = tmp_path / "split.onnx", tmp_path / "written.onnx"
    path.write_bytes(made.SerializeToString())
    ov = loopc.openvino
    read = ov.Core().read_model(path)
    read.reshape([6, 2])
    ov.save_model(read, written)
    parts = ov.Core().compile_model(written, "CPU")([np.ones((6, 2), np.float32)])[0]
    assert [one.shape for one in parts] == [(2, 2)] * 3


def test_requests_take_turns(ov, model):
    """The first runs are those of the first requests, which programs ask for what came out."""
    queue = ov.AsyncInferQueue(ov.Core().compile_model(model, "CPU"), 3)
    for number in range(3):
        assert queue.get_idle_request_id() == number
        queue.start_async({"x": X * number, "scale": SCALE}, number)
        queue.wait_all()
    assert list(queue.userdata) == [0, 1, 2]
    for number, request in enumerate(queue):
        np.testing.assert_array_equal(request.get_output_tensor().data, Y * number)


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
        with pytest.raises(RuntimeError):
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
    with pytest.raises(FileNotFoundError, match=r"other\.bin"):
        core.read_model(model, str(tmp_path / "other.bin"))
    with pytest.raises(loopc.InvalidArgument, match=r"'rows, all' .* is missing"):
        compiled.create_infer_request().infer({"scale": SCALE})


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
    for name in ("opset13", "passes", "RemoteTensor"):
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


def test_what_is_known_before_compiling(ov, model):
    read = ov.Core().read_model(model)
    assert [sorted(port.names) for port in read.inputs] == [["rows, all", "x"], ["scale"]]
    assert read.input("x").any_name in {"x", "rows, all"}
    assert read.input(1).get_node().get_friendly_name() == "scale"
    assert tuple(read.input("scale").shape) == (1, 3)
    assert read.inputs[0].partial_shape.to_string() == "[?,3]"
    assert read.inputs[0].element_type == ov.Type.f32
    assert read.output().get_names() == {"y", "sums"}
    assert [tuple(port.shape) for port in read.outputs] == [(1, 3)]
    assert read.is_dynamic() and read.friendly_name == read.get_friendly_name()
    compiled = ov.Core().compile_model(read, "CPU")
    np.testing.assert_array_equal(compiled({"x": X, "scale": SCALE})[0], Y)
    with pytest.raises(Exception, match=r"inputs?"):
        read.input()


def test_a_file_of_onnx(ov, tmp_path):
    """Ports of ONNX, and of a file whose output only the compiler knows after a reshape."""
    graph = "(float[N, 3] x) => (float[M, 3] y) {z = Relu(x) y = Concat<axis=0>(z, x)}"
    made = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> agraph {graph}')
    path = tmp_path / "model.onnx"
    onnx.save(made, path)
    core = ov.Core()
    for given in (str(path), path, path.read_bytes(), io.BytesIO(path.read_bytes())):
        read = core.read_model(given)
        assert read.input().partial_shape == ov.PartialShape([-1, 3])
        read.reshape([2, 3])
        assert tuple(read.output("y").shape) == (4, 3) and not read.is_dynamic()
        y = core.compile_model(read, "CPU")(X[:2] - 4)["y"]
        np.testing.assert_array_equal(y, np.concatenate([np.maximum(X[:2] - 4, 0), X[:2] - 4]))


def test_files_say_their_ports(model, tmp_path, monkeypatch):
    """Before a model is compiled nothing of it is."""
    onnx.save(
        onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["" : 18]> agraph (int8[N, 3] x, bool c) => (int8[] y) '
            "<int8[2] w = {1, 2}> { y = If (c) <then_branch = a () => (int8[3, M] z) "
            "{z = Concat<axis=0>(x)}, else_branch = b () => (int8[3, M] z) {z = Concat<axis=0>(x)}> }"
        ),
        tmp_path / "model.onnx",
    )
    monkeypatch.delattr("loopc.openvino._model.InferenceSession")
    ports = loopc.openvino.Core().read_model(tmp_path / "model.onnx").inputs
    assert [(one.any_name, str(one.partial_shape), one.element_type) for one in ports] == [
        ("x", "[?,3]", "i8"),
        ("c", "[]", "boolean"),
    ]
    assert len(loopc.openvino.Core().read_model(model).outputs) == 1


def test_bytes_and_other_weights(ov, model, tmp_path):
    core = ov.Core()
    xml = Path(model)
    weights = xml.with_suffix(".bin").read_bytes()
    elsewhere = tmp_path / "other.bin"
    elsewhere.write_bytes(weights)
    as_tensor = ov.Tensor(np.frombuffer(weights, np.uint8).copy())
    for given in (
        (xml, None),
        (str(xml), str(elsewhere)),
        (xml.read_bytes(), weights),
        (xml.read_bytes(), as_tensor),
    ):
        read = core.read_model(given[0]) if given[1] is None else core.read_model(*given)
        np.testing.assert_array_equal(core.compile_model(read, "CPU")([X, SCALE])[0], Y)


@pytest.mark.parametrize(
    "shapes",
    [
        {0: [4, 3]},
        {"rows, all": (4, 3)},
        {"x": "[4,3]"},
        {"x": "4, 1..3"},
        {"scale": [1, 3], "x": "?,3"},
    ],
)
def test_forms_of_shapes(ov, model, shapes):
    read = ov.Core().read_model(model)
    read.reshape(shapes)
    read.reshape({read.input(0): ov.PartialShape([ov.Dimension(4), 3])})
    assert tuple(ov.Core().compile_model(read, "CPU").input(0).shape) == (4, 3)


def test_shapes_and_types(ov):
    assert list(ov.Shape([1, 2])) == [1, 2] and ov.Shape([1, 2]) == [1, 2] == ov.Shape((1, 2))
    assert ov.Shape([1, 2]).to_string() == "[1,2]"
    assert str(ov.PartialShape("[1,?,2..4]")) == "[1,?,2..4]"
    assert str(ov.PartialShape([1, -1, (2, 4), "5.."])) == "[1,?,2..4,5..]"
    assert ov.PartialShape([1, 2]).is_static and ov.PartialShape([1, -1]).is_dynamic
    assert list(ov.PartialShape([3, 2]).to_shape()) == [3, 2]
    assert ov.PartialShape([1, -1])[1].is_dynamic and ov.PartialShape([1, -1])[0] == 1
    assert ov.PartialShape([1, -1]).rank.get_length() == 2
    assert ov.PartialShape.dynamic().rank.is_dynamic
    assert ov.PartialShape([1, -1]).compatible(ov.PartialShape([1, 7]))
    assert not ov.PartialShape([1, -1]).compatible(ov.PartialShape([2, 7]))
    assert ov.Dimension(2, 5).get_min_length() == 2 and ov.Dimension(2, 5).get_max_length() == 5
    assert ov.Dimension("..5").max_length == 5 and ov.Dimension() == ov.Dimension(-1)
    assert ov.Dimension(3).refines(ov.Dimension(1, 5))
    assert ov.PartialShape([3, 2]).refines(ov.PartialShape([-1, 2]))
    assert ov.PartialShape("...").relaxes(ov.PartialShape([-1, 2]))
    assert not ov.PartialShape([-1, 2]).refines(ov.PartialShape([3, 2]))
    for wrong in (
        lambda: ov.PartialShape([1, -1]).to_shape(),
        lambda: ov.Dimension(1, 2).get_length(),
    ):
        with pytest.raises(Exception):  # noqa: B017
            wrong()
    assert ov.Type(np.float32) == ov.Type.f32 and ov.Type(np.int64) == ov.Type.i64
    assert ov.Type.f32.to_dtype() == np.float32 and ov.Type.boolean.to_dtype().kind == "b"
    assert ov.Type.f16.size == 2 and ov.Type.i4.bitwidth == 4
    assert ov.Type.bf16.is_real() and not ov.Type.u8.is_real()
    assert ov.Type.i8.is_signed() and not ov.Type.u8.is_signed()
    assert ov.Type.f32.get_type_name() == "f32" and ov.Type.dynamic.is_dynamic()


def test_tensors(ov):
    made = ov.Tensor(ov.Type.f32, ov.Shape([2, 3]))
    made.data[:] = X[:2]
    assert made.get_element_type() == ov.Type.f32 and tuple(made.strides) == (12, 4)
    assert made.is_continuous() and made.byte_size == 24 and made.size == 6
    own = X.copy()
    shared, copied = ov.Tensor(own, shared_memory=True), ov.Tensor(own)
    own[0, 0] = 77
    assert shared.data[0, 0] == 77 and copied.data[0, 0] == 0
    shared.set_shape([3])
    np.testing.assert_array_equal(shared.data, own[0])
    target = ov.Tensor(ov.Type.f32, [0])
    copied.copy_to(target)
    np.testing.assert_array_equal(target.data, X)
    part = ov.Tensor(copied, [1, 0], [3, 2])
    np.testing.assert_array_equal(part.data, X[1:3, :2])
    wrapped = ov.Tensor(np.arange(6, dtype=np.float32), ov.Shape([3, 2]), ov.Type.f32)
    np.testing.assert_array_equal(wrapped.data, np.arange(6).reshape(3, 2))
    assert list(ov.Tensor(["a", "bc"]).str_data) == ["a", "bc"]
    assert list(ov.Tensor(["a", "bc"]).bytes_data) == [b"a", b"bc"]


def test_tensors_of_outputs(ov, model):
    compiled = ov.Core().compile_model(model, "CPU")
    request = compiled.create_infer_request()
    wanted = ov.Tensor(np.zeros((1, 3), np.float32))
    request.set_output_tensor(0, wanted)
    request.set_input_tensors({0: ov.Tensor(X), 1: ov.Tensor(SCALE)})
    request.infer()
    np.testing.assert_array_equal(wanted.data, Y)
    request.set_tensors({"x": ov.Tensor(X + 1), "scale": ov.Tensor(SCALE)})
    request.infer()
    np.testing.assert_array_equal(wanted.data, (X + 1).sum(0, keepdims=True) * SCALE)
    assert request.latency > 0
    assert np.shares_memory(wanted.data, request.get_output_tensor().data)


def test_outputs_are_written_to_their_tensors(ov, tmp_path):
    """One that was made for a fixed shape is written by the run itself."""
    x = ops.parameter([4, 300], np.float32, name="x")
    y = ops.exp(x)
    y.output(0).set_names({"y"})
    openvino.save_model(openvino.Model([y], [x]), tmp_path / "m.xml", False)
    compiled = ov.Core().compile_model(
        str(tmp_path / "m.xml"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    request = compiled.create_infer_request()
    made = ov.Tensor(ov.Type.f32, ov.Shape([4, 300]))
    request.set_tensor("y", made)
    given = np.linspace(-1, 1, 1200, dtype=np.float32).reshape(4, 300)
    result = request.infer({0: given})[0]
    np.testing.assert_allclose(made.data, np.exp(given), 1e-5)
    assert np.shares_memory(request.get_output_tensor(0).data, made.data)
    if ov is loopc.openvino:
        assert not np.shares_memory(result, made.data)
        shared = request.infer({0: given}, share_outputs=True)[0]
        assert shared is made.data
        statistics = compiled._session.last_run_statistics
        assert statistics.allocations == statistics.copied_bytes == 0


def test_an_output_tensor_is_the_same_after_every_run(ov, model, tmp_path):
    """Programs ask for it once; and an input that nobody has set has some value."""
    request = ov.Core().compile_model(model, "CPU").create_infer_request()
    y = request.get_output_tensor(0)
    view = y.data
    assert tuple(y.shape) == (1, 3)
    request.set_tensor("x", ov.Tensor(X))
    request.infer()
    if ov is loopc.openvino:  # in OpenVINO it is whatever lies there
        np.testing.assert_array_equal(view, np.zeros((1, 3)))
    result = request.infer({"scale": SCALE})[0]
    np.testing.assert_array_equal(view, Y)
    request.infer({"scale": 2 * SCALE})
    np.testing.assert_array_equal(view, 2 * Y)
    np.testing.assert_array_equal(result, Y)
    # Tensors are of the input's type; arrays are converted.
    for give in (
        lambda: request.set_tensor("scale", ov.Tensor(SCALE.astype(np.float64))),
        lambda: request.infer({"scale": ov.Tensor(SCALE.astype(np.int32))}),
    ):
        with pytest.raises(RuntimeError):
            give()
    # Of an output whose rows the run chooses.
    x = ops.parameter([-1, 3], np.float32, name="x")
    openvino.save_model(openvino.Model([ops.relu(x)], [x]), tmp_path / "open.xml", False)
    request = ov.Core().compile_model(str(tmp_path / "open.xml"), "CPU").create_infer_request()
    request.infer({0: X})
    y = request.get_output_tensor(0)
    np.testing.assert_array_equal(y.data, X)
    request.infer({0: 2 * X[:2]})
    np.testing.assert_array_equal(y.data, 2 * X[:2])


def test_tensors_of_other_shapes(ov, model):
    """They are refused when they are set, not when the request runs."""
    request = ov.Core().compile_model(model, "CPU").create_infer_request()
    for wrong in (X[0], X[None], SCALE.repeat(2, 1)):
        with pytest.raises((RuntimeError, loopc.InvalidArgument)):
            request.set_tensor("scale", ov.Tensor(wrong))
        with pytest.raises((RuntimeError, loopc.InvalidArgument)):
            request.set_input_tensor(1, ov.Tensor(wrong))
    request.infer([X, SCALE])


def test_names_of_properties(ov, model):
    props, hint = ov.properties, ov.properties.hint
    core = ov.Core()
    core.set_property({props.inference_num_threads: 1})
    core.set_property("CPU", {hint.performance_mode: hint.PerformanceMode.THROUGHPUT})
    assert core.get_property("CPU", hint.performance_mode) == hint.PerformanceMode.THROUGHPUT
    assert str(hint.PerformanceMode.LATENCY) == "PerformanceMode.LATENCY"
    assert "FP32" in core.get_property("CPU", props.device.capabilities)
    assert core.get_property("CPU", "FULL_DEVICE_NAME")
    assert len(core.get_property("CPU", props.range_for_streams)) == 2
    config = {
        hint.execution_mode: hint.ExecutionMode.ACCURACY,
        hint.inference_precision: ov.Type.f32,
        "NUM_STREAMS": "1",
        hint.num_requests: "2",
        props.enable_profiling: True,
    }
    compiled = core.compile_model(model, "CPU", config)
    assert compiled.get_property(props.inference_num_threads) == 1
    assert compiled.get_property(props.optimal_number_of_infer_requests) >= 1
    assert compiled.get_property("NETWORK_NAME") == core.read_model(model).friendly_name
    assert compiled.get_property("EXECUTION_DEVICES") == ["CPU"]
    assert "PERFORMANCE_HINT" in compiled.get_property("SUPPORTED_PROPERTIES")
    request = compiled.create_infer_request()
    request.infer([X, SCALE])
    layers = request.profiling_info
    assert layers and all(one.real_time.total_seconds() >= 0 for one in layers)
    for wrong in (
        {hint.performance_mode: "FAST"},
        {"NO_SUCH_PROPERTY": 1},
        {"FULL_DEVICE_NAME": "x"},
    ):
        with pytest.raises(Exception):  # noqa: B017
            core.compile_model(model, "CPU", wrong)


def test_export_and_import(ov, model):
    core = ov.Core()
    compiled = core.compile_model(model, "CPU")
    exported = compiled.export_model()
    stream = io.BytesIO()
    compiled.export_model(stream)
    for given in (exported.getvalue(), stream):
        again = core.import_model(given, "CPU")
        assert again.input("rows, all").get_index() == 0
        assert again.output(0).get_names() == {"y", "sums"}
        np.testing.assert_array_equal(again({"x": X, "scale": SCALE})["sums"], Y)
    with pytest.raises(Exception):  # noqa: B017
        core.import_model(b"no model at all, but some bytes", "CPU")


def adder(folder: Path) -> str:
    """A model whose output is the sum of all inputs so far."""
    x = ops.parameter([1], np.float32, name="x")
    info = openvino.op.util.VariableInfo()
    info.data_shape, info.data_type = openvino.PartialShape([1]), openvino.Type.f32
    info.variable_id = "total"
    total = openvino.op.util.Variable(info)
    read = openvino.opset6.read_value(ops.constant(np.zeros(1, np.float32)), total)
    added = ops.add(read, x)
    kept = openvino.opset6.assign(added, total)
    path = str(folder / "adder.xml")
    made = openvino.Model([ops.result(added, name="y")], [kept], [x], "adder")
    openvino.save_model(made, path, compress_to_fp16=False)
    return path


@pytest.mark.parametrize("is_imported", [False, True])
def test_each_request_has_its_states(ov, tmp_path, is_imported):
    core = ov.Core()
    compiled = core.compile_model(adder(tmp_path), "CPU")
    if is_imported:
        compiled = core.import_model(compiled.export_model().getvalue(), "CPU")
    one, other = compiled.create_infer_request(), compiled.create_infer_request()
    assert [one.infer([np.float32([k])])[0][0] for k in (1, 2, 3)] == [1, 3, 6]
    assert [other.infer([np.float32([k])])[0][0] for k in (10, 20)] == [10, 30]
    (state,) = one.query_state()
    assert state.name == "total" and state.state.data[0] == 6
    state.state = ov.Tensor(np.float32([100]))
    assert one.infer([np.float32([1])])[0][0] == 101
    state.reset()
    assert one.infer([np.float32([1])])[0][0] == 1
    other.reset_state()
    assert other.infer([np.float32([5])])[0][0] == 5
    # Calls go on where the one before ended, and have nothing of the requests.
    assert [compiled([np.float32([k])])[0][0] for k in (7, 8)] == [7, 15]


def test_queues_copy_what_they_are_given(ov, model):
    """The buffer of a program that reads its frames into one is not read after the call."""
    compiled = ov.Core().compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": 1})
    queue = ov.AsyncInferQueue(compiled, 1)
    found = {}
    queue.set_callback(
        lambda request, number: found.update({number: np.array(request.get_output_tensor().data)})
    )
    frame = np.zeros((400, 3), np.float32)
    for number in range(20):
        frame[:] = number
        queue.start_async({0: frame, 1: SCALE}, number)
    queue.wait_all()
    assert [found[number][0, 0] for number in range(20)] == [400 * k for k in range(20)]
    assert queue.get_idle_request_id() == 0 and queue.userdata[0] == 19
    with pytest.raises(Exception):  # noqa: B017
        queue.start_async({"z": frame})
    queue.start_async({0: frame, 1: SCALE}, "last")
    queue.wait_all()
    assert "last" in found


def test_models_of_the_package_openvino():
    """What openvino builds or changes is compiled here: steps before a model, too."""
    x = ops.parameter([1, 3, 2, 2], np.float32, name="x")
    made = openvino.Model([ops.reduce_sum(x, ops.constant([2, 3]))], [x], "sums")
    steps = openvino.preprocess.PrePostProcessor(made)
    steps.input().tensor().set_element_type(openvino.Type.u8)
    steps.input().tensor().set_layout(openvino.Layout("NHWC"))
    steps.input().model().set_layout(openvino.Layout("NCHW"))
    built = steps.build()
    image = np.arange(12, dtype=np.uint8).reshape(1, 2, 2, 3)
    compiled = loopc.openvino.Core().compile_model(built, "CPU")
    assert compiled.input().element_type == "u8" and tuple(compiled.input().shape) == image.shape
    np.testing.assert_array_equal(compiled(image)[0], [image.sum((1, 2))[0]])


def test_what_cannot_be_done_says_what_to_do(model):
    ov = loopc.openvino
    core = ov.Core()
    read = core.read_model(model)
    with pytest.raises(AttributeError, match="by the package openvino, whose models"):
        read.add_sinks([])
    with pytest.raises(loopc.InvalidArgument, match="PERF_COUNT"):
        core.compile_model(read).get_runtime_model()
    with pytest.raises(loopc.InvalidArgument, match="there is no property 'PAGES'; there are: "):
        core.set_property({"PAGES": 1})
    with pytest.raises(loopc.InvalidArgument, match="can be read, and not set"):
        core.set_property({"FULL_DEVICE_NAME": "x"})
    with pytest.raises(loopc.InvalidArgument, match="compile it with them"):
        core.compile_model(read).set_property({"NUM_STREAMS": 1})
    with pytest.raises(loopc.InvalidArgument, match="PERF_COUNT"):
        _ = core.compile_model(read).create_infer_request().profiling_info
    with pytest.raises(loopc.InvalidArgument, match="not the bytes of an exported model"):
        core.import_model(b"x" * 40, "CPU")
    with pytest.raises(loopc.InvalidArgument, match="custom operators"):
        core.add_extension("lib.so")
    assert core.compile_model(read, "AUTO:GPU,CPU").get_property("EXECUTION_DEVICES")


def names_of(thing) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def test_the_table_of_names(model):
    """docs/OpenVINO.md lists what is not there."""
    peers, own = (
        {
            "the module": one,
            "`properties`": names,
            "`properties.hint`": names.hint,
            "`Core`": one.Core(),
            "`Model`": one.Core().read_model(model),
            "`CompiledModel`": (compiled := one.Core().compile_model(model, "CPU")),
            "`InferRequest`": compiled.create_infer_request(),
            "`AsyncInferQueue`": one.AsyncInferQueue(compiled, 1),
            "`Output`": one.Core().read_model(model).inputs[0],
            "`ConstOutput`": compiled.outputs[0],
            "`Tensor`": one.Tensor(X),
            "`Type`": one.Type,
            "`Shape`": one.Shape([1]),
            "`PartialShape`": one.PartialShape([1]),
            "`Dimension`": one.Dimension(1),
            "`VariableState`": state,
        }
        for one, names, state in (
            (openvino, openvino._pyopenvino.properties, openvino._pyopenvino.VariableState),
            (loopc.openvino, loopc.openvino.properties, loopc.openvino.VariableState(None, "x")),
        )
    )
    # Peers of opset1 to the newest are one line; classes have attributes that are no names here.
    program = "import json, openvino; print(json.dumps(dir(openvino)))"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    fresh = {name for name in json.loads(said.stdout) if not name.startswith("_")}
    short = {f"opset{number}" for number in range(1, 99)}
    rows = []
    for kind, peer in peers.items():
        # Other tests import more of the package's modules.
        wanted = fresh if kind == "the module" else names_of(peer)
        has = {
            name
            for name in wanted
            if name in names_of(own[kind]) or (name == "state" and kind == "`VariableState`")
        }
        missing = sorted(wanted - has - short) + ["opset1, ..."] * bool(wanted & short - has)
        rows.append(f"| {kind} | {len(has)} of {len(wanted)} | {', '.join(missing) or '-'} |")
    page = Path(__file__).parents[2] / "docs" / "OpenVINO.md"
    table = page.read_text().partition("|---|---|---|\n")[2].partition("\n\n")[0]
    assert table.splitlines() == rows, "\n".join(rows)
