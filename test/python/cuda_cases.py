# ===- cuda_cases.py - What holds on a GPU -----------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Cases of test_cuda.py, each run by a process of its own.

A process opens one CUDA driver, and keeps it. ``python cuda_cases.py NAME`` runs
the function NAME, with whatever driver the environment names.
"""

import ctypes
import os
import pathlib
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from typing import Any

import loopc
import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

CUDA, CPU = "CUDAExecutionProvider", "CPUExecutionProvider"
X = np.arange(10, dtype=np.float32)


def make_model(
    nodes: list[onnx.NodeProto], types: int | tuple[int, int] = TensorProto.FLOAT
) -> onnx.ModelProto:
    """A model from x to y, vectors of any length."""
    given, made = types if isinstance(types, tuple) else (types, types)
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", given, ["n"])],
        [helper.make_tensor_value_info("y", made, ["n"])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def doubler(types: int | tuple[int, int] = TensorProto.FLOAT) -> onnx.ModelProto:
    """y = x + x."""
    return make_model([helper.make_node("Add", ["x", "x"], ["y"])], types)


class Foreign:
    """A tensor of another library: DLPack and nothing else."""

    def __init__(self, tensor: loopc.DeviceTensor) -> None:
        self.tensor = tensor
        self.streams: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, stream: Any = None) -> Any:
        self.streams.append(stream)
        return self.tensor.__dlpack__()


def driver_counts() -> dict[str, int]:
    """What the driver of test/cuda has counted: fake_cuda_statistics_t."""
    words = (ctypes.c_uint64 * 64)()
    ctypes.CDLL(os.environ["LOOPC_CUDA_DRIVER"]).fake_cuda_statistics(words)
    # Five counts, then a table [from][to] of copies and one of their bytes.
    return {"launches": words[1], "to device": words[5 + 1], "to host": words[5 + 3]}


def providers() -> None:
    assert loopc.get_available_providers() == [CUDA, CPU]
    assert loopc.get_all_providers() == [CUDA, CPU]
    assert loopc.get_device() == "GPU"
    model = doubler()
    arguments: list[dict[str, Any]] = [
        {"providers": ["cuda"]},
        {"providers": [CUDA, CPU]},
        {"providers": [(CUDA, {"device_id": 0, "gpu_mem_limit": 1 << 30})]},
        {"providers": [CUDA, CPU], "provider_options": [{"device_id": "0"}, {}]},
        {"device": "cuda"},
        {"device": "cuda:0"},
        {"device": "cuda", "chip": "sm_80"},
    ]
    for argument in arguments:
        session = loopc.InferenceSession(model, **argument)
        assert session.get_providers() == [CUDA, CPU], argument
        assert session.get_provider_options()[CUDA]["device_id"] == "0"
        np.testing.assert_array_equal(session.run(None, {"x": X})[0], X + X)
    for argument in ({}, {"device": "cpu"}, {"providers": ["cpu"]}, {"providers": [CPU, CUDA]}):
        assert loopc.InferenceSession(model, **argument).get_providers() == [CPU]
    with pytest.warns(UserWarning, match="TensorrtExecutionProvider not available"):
        loopc.InferenceSession(model, providers=["TensorrtExecutionProvider", CUDA])


def wrong_devices() -> None:
    model = doubler()
    refused: list[tuple[dict[str, Any], str]] = [
        ({"device": "cuda:x"}, "device: expected 'cpu', 'cuda' or 'cuda:N'"),
        ({"device": "cpu:1"}, "device: expected"),
        ({"device": 0}, "device: expected"),
        ({"device": "cuda", "providers": ["cuda"]}, "providers are given, too"),
        ({"chip": "sm_80"}, "chip: the CPU has none"),
        ({"providers": [(CUDA, {"speed": 3})]}, "has no option 'speed'"),
        ({"providers": [(CUDA, {"device_id": "x"})]}, "device_id: expected a number"),
        ({"providers": [CUDA], "provider_options": []}, "one for each of 1 providers"),
    ]
    for arguments, message in refused:
        with pytest.raises(loopc.InvalidArgument, match=message):
            loopc.InferenceSession(model, **arguments)
    with pytest.raises(loopc.DeviceError, match="no CUDA device 3: this machine has 1") as error:
        loopc.InferenceSession(model, device="cuda:3")
    assert error.value.status == loopc.Status.DEVICE
    with pytest.raises(loopc.CompileError, match="'sm_1'"):
        loopc.InferenceSession(model, device="cuda", chip="sm_1")
    session = loopc.InferenceSession(model, device="cuda", chip="sm_100")
    with pytest.raises(loopc.DeviceError, match="compiled for sm_100, device 0"):
        session.run(None, {"x": X})
    session = loopc.InferenceSession(model, device="cuda")
    with pytest.raises(loopc.DeviceError, match="no CUDA device 1"):
        session.set_providers([(CUDA, {"device_id": 1})])
    with pytest.raises(loopc.InvalidArgument, match="compiled for a GPU"):
        session.set_providers(["cpu"])
    session = loopc.InferenceSession(model)
    with pytest.raises(loopc.InvalidArgument, match="compiled for the CPU"):
        session.set_providers(["cuda"])


def device_outputs() -> None:
    session = loopc.InferenceSession(doubler(), device="cuda", device_outputs=True)
    (y,) = session.run(None, {"x": X})
    assert isinstance(y, loopc.DeviceTensor)
    assert (y.shape, y.dtype, y.device_id, y.nbytes) == ((10,), "float32", 0, 40)
    assert y.data_ptr != 0
    assert y.__dlpack_device__() == (2, 0)
    assert repr(y) == "<DeviceTensor float32[10] on cuda:0>"
    np.testing.assert_array_equal(y.numpy(), X * 2)
    # From run to run on the device; what a run read may go before its result.
    (z,) = session.run(None, {"x": y})
    del y
    np.testing.assert_array_equal(z.numpy(), X * 4)
    np.testing.assert_array_equal(np.from_dlpack(OnCpu(z)), X * 4)
    # A run, too, says where its outputs are.
    (w,) = session.run(None, {"x": z}, loopc.RunOptions(device_outputs=False))
    assert isinstance(w, np.ndarray)
    np.testing.assert_array_equal(w, X * 8)
    assert session.last_run_statistics is not None
    assert session.last_run_statistics.allocations > 0


class OnCpu:
    """Asks for a copy on the CPU, as numpy 2.1 does."""

    def __init__(self, tensor: loopc.DeviceTensor) -> None:
        self.tensor = tensor

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **_: Any) -> Any:
        return self.tensor.__dlpack__(dl_device=(1, 0))


def element_types() -> None:
    for dtype, number in (
        (np.bool_, TensorProto.BOOL),
        (np.int64, TensorProto.INT64),
        (ml_dtypes.bfloat16, TensorProto.BFLOAT16),
    ):
        model = make_model([helper.make_node("Identity", ["x"], ["y"])], number)
        session = loopc.InferenceSession(model, device="cuda", device_outputs=True)
        x = np.array([0, 1, 1], dtype)
        (y,) = session.run(None, {"x": x})
        if isinstance(y, loopc.DeviceTensor):
            assert y.dtype == np.dtype(dtype).name
            (y,) = session.run(None, {"x": y})
            y = y.numpy()
        assert y.dtype == dtype
        np.testing.assert_array_equal(y, x)


def foreign_tensors() -> None:
    session = loopc.InferenceSession(doubler(), device="cuda", device_outputs=True)
    (y,) = session.run(None, {"x": X})
    foreign = Foreign(y)
    (z,) = session.run(None, {"x": foreign})
    np.testing.assert_array_equal(z.numpy(), X * 4)
    # The default stream of CUDA, or the caller's.
    assert foreign.streams == [1]
    session.run(None, {"x": foreign}, loopc.RunOptions(stream=1, device_outputs=False))
    assert foreign.streams == [1, 1]
    on_cpu = loopc.InferenceSession(doubler())
    for tensor in (foreign, y):
        with pytest.raises(loopc.InvalidArgument, match="model was compiled for the CPU"):
            on_cpu.run(None, {"x": tensor})
    with pytest.raises(loopc.InvalidArgument, match="dtype float32, expected int64"):
        loopc.InferenceSession(doubler(TensorProto.INT64), device="cuda").run(None, {"x": y})
    value = loopc.OrtValue.from_dlpack(foreign)
    assert value.device_name() == "cuda"
    np.testing.assert_array_equal(value.numpy(), X * 2)


def ort_values() -> None:
    session = loopc.InferenceSession(doubler(), providers=[CUDA])
    x = loopc.OrtValue.ortvalue_from_numpy(X, "cuda", 0)
    assert (x.device_name(), x.shape(), x.element_type()) == ("cuda", [10], 1)
    assert x.data_type() == "tensor(float)"
    assert x.is_tensor() and x.has_value() and x.tensor_size_in_bytes() == 40
    assert x.__dlpack_device__() == (2, 0)
    np.testing.assert_array_equal(np.asarray(x), X)
    np.testing.assert_array_equal(session.run(None, {"x": x})[0], X * 2)
    zeros = loopc.OrtValue.ortvalue_from_shape_and_type([3], np.int64, "cuda", 0)
    assert zeros.numpy().tolist() == [0, 0, 0]
    with pytest.raises(loopc.InvalidArgument, match="the value is on a device"):
        x.update_inplace(X)
    with pytest.raises(loopc.InvalidArgument, match="values are on cpu:0 or cuda:N"):
        loopc.OrtValue.ortvalue_from_numpy(X, "tpu", 0)
    with pytest.raises(loopc.DeviceError, match="no CUDA device 7"):
        loopc.OrtValue.ortvalue_from_numpy(X, "cuda", 7)


def io_binding() -> None:
    session = loopc.InferenceSession(doubler(), providers=[CUDA])
    x = loopc.OrtValue.ortvalue_from_numpy(X, "cuda", 0)
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", x)
    binding.bind_output("y", "cuda", 0)
    session.run_with_iobinding(binding)
    (y,) = binding.get_outputs()
    assert y.device_name() == "cuda"
    np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], X * 2)
    # By addresses, and into memory that is there.
    target = loopc.OrtValue.ortvalue_from_shape_and_type([10], np.float32, "cuda", 0)
    binding.bind_input("x", "cuda", 0, np.float32, [10], y.data_ptr())
    binding.bind_output("y", "cuda", 0, np.float32, [10], target.data_ptr())
    session.run_with_iobinding(binding)
    assert binding.get_outputs()[0].data_ptr() == target.data_ptr()
    np.testing.assert_array_equal(target.numpy(), X * 4)
    binding.bind_ortvalue_output("y", target)
    binding.bind_cpu_input("x", X[:4])
    session.run_with_iobinding(binding)
    assert binding.get_outputs()[0].shape() == [4]
    np.testing.assert_array_equal(target.numpy()[:4], X[:4] * 2)
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    assert isinstance(binding.copy_outputs_to_cpu()[0], np.ndarray)
    too_small = loopc.OrtValue.ortvalue_from_shape_and_type([2], np.float32, "cuda", 0)
    binding.bind_ortvalue_output("y", too_small)
    with pytest.raises(loopc.InvalidArgument, match=r"buffer of shape \[2\] is too small"):
        session.run_with_iobinding(binding)
    on_cpu = loopc.InferenceSession(doubler()).io_binding()
    with pytest.raises(loopc.InvalidArgument, match="compiled for the CPU"):
        on_cpu.bind_output("y", "cuda", 0)
    with pytest.raises(loopc.InvalidArgument, match="compiled for the CPU"):
        on_cpu.bind_ortvalue_output("y", target)


def loops_and_checks() -> None:
    text = """<ir_version: 9, opset_import: ["" : 18]>
        powers (float[n] x, int64 m, int64 i) => (float[n] y, float[k, n] all, float at) {
          yes = Constant<value: tensor = bool {1}>()
          y, all = Loop(m, yes, x) <body = step (int64 k, bool c, float[n] a)
              => (bool d, float[n] b, float[n] collected) {
            d = Identity(c)
            b = Add(a, a)
            collected = Identity(b)
          }>
          at = Gather(x, i)
        }"""
    model = onnx.parser.parse_model(text)
    feeds = {"x": X, "m": np.array(5), "i": np.array(3)}
    expected = loopc.InferenceSession(model).run(None, feeds)
    session = loopc.InferenceSession(model, device="cuda")
    for one, other in zip(session.run(None, feeds), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    messages = []
    for place in ("cpu", "cuda"):
        wrong = {**feeds, "i": np.array(99)}
        with pytest.raises(loopc.RunError) as error:
            loopc.InferenceSession(model, device=place).run(None, wrong)
        assert error.value.status == loopc.Status.RUNTIME
        messages.append(str(error.value))
    assert messages[0] == messages[1]
    # The session lives.
    session.run(None, feeds)


def nothing_is_copied() -> None:
    text = """<ir_version: 9, opset_import: ["" : 18]>
        sums (float[n] x, int64 m) => (float[n] y) {
          yes = Constant<value: tensor = bool {1}>()
          y = Loop(m, yes, x) <body = step (int64 k, bool c, float[n] a)
              => (bool d, float[n] b) {
            d = Identity(c)
            b = Add(a, x)
          }>
        }"""
    model = onnx.parser.parse_model(text)
    session = loopc.InferenceSession(model, device="cuda", device_outputs=True)
    feeds = {"x": X, "m": np.array(3)}
    (feeds["x"],) = session.run(None, feeds)
    before = driver_counts()
    (y,) = session.run(None, feeds)
    after = driver_counts()
    np.testing.assert_array_equal(y.numpy(), X * 16)
    # The model has no checks, of which there would be something to read.
    assert after["launches"] - before["launches"] == 1
    assert after["to device"] == before["to device"]
    assert after["to host"] == before["to host"]


def shared_library() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.so"
        loopc.compile(doubler(), path, emit="shared", chip="sm_80")
        session = loopc.load(path, device="cuda:0", device_outputs=True)
        assert session.get_providers() == [CUDA, CPU]
        (y,) = session.run(None, {"x": X})
        np.testing.assert_array_equal(y.numpy(), X * 2)
        with pytest.raises(loopc.InvalidArgument, match="compiled for a GPU"):
            loopc.load(path, device="cpu")
        del y


def failures() -> None:
    session = loopc.InferenceSession(doubler(), device="cuda")
    # The node, too.
    text = r"kernel 'main_\w+' of main/#0 \w+ \(opset \d+\) could not be begun: CUDA_ERROR_UNKNOWN"
    for _ in range(2):
        with pytest.raises(loopc.DeviceError, match=text) as error:
            session.run(None, {"x": X})
        assert error.value.status == loopc.Status.DEVICE


def lost_context() -> None:
    session = loopc.InferenceSession(doubler(), device="cuda")
    with pytest.raises(loopc.DeviceError, match="CUDA_ERROR_LAUNCH_FAILED"):
        session.run(None, {"x": X})
    with pytest.raises(loopc.DeviceError, match="cannot be used by this process any more"):
        session.run(None, {"x": X})
    np.testing.assert_array_equal(loopc.InferenceSession(doubler()).run(None, {"x": X})[0], X * 2)


def threads() -> None:
    session = loopc.InferenceSession(doubler(), device="cuda", device_outputs=True)
    problems: list[str] = []

    def work(factor: int) -> None:
        x = X * factor
        for _ in range(5):
            (y,) = session.run(None, {"x": x})
            (y,) = session.run(None, {"x": y})
            if not np.array_equal(y.numpy(), x * 4):
                problems.append(f"factor {factor}")

    workers = [threading.Thread(target=work, args=(factor,)) for factor in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not problems


def times() -> None:
    """Of runs that are timed, and of no others; results are as ever."""
    session = loopc.InferenceSession(doubler(), device="cuda:0", min_kernel_work=0)
    timed = loopc.RunOptions(time_device=True)
    (y,) = session.run(None, {"x": X}, timed)
    np.testing.assert_array_equal(y, 2 * X)
    assert session.last_run_statistics is not None
    assert 0 < session.last_run_statistics.device_seconds < 100
    session.run(None, {"x": X})
    assert session.last_run_statistics.device_seconds == 0
    host = loopc.InferenceSession(doubler())
    host.run(None, {"x": X}, timed)
    assert host.last_run_statistics is not None
    assert host.last_run_statistics.device_seconds == 0


def states() -> None:
    # Imported here: the other cases need no OpenVINO.
    import openvino.opset16 as op
    from openvino_models import param
    from test_openvino_state import save, stateful, variable

    x = param([4], "x")
    total = variable("total", [4])
    after = op.add(op.read_value(total), x)
    made = stateful([after], [x], [op.assign(after, total)])
    with tempfile.TemporaryDirectory() as folder:
        path = save(made, pathlib.Path(folder))
        session = loopc.InferenceSession(path, device="cuda", device_outputs=True)
    ones = np.ones(4, np.float32)
    for step in range(1, 4):
        (y,) = session.run(None, {"x": ones})
        y = y.numpy() if isinstance(y, loopc.DeviceTensor) else y
        np.testing.assert_array_equal(y, ones * step)
    # States stay where the runs are; what is asked for is a copy.
    np.testing.assert_array_equal(session.get_state()["total"], ones * 3)
    (y,) = session.run(None, {"x": ones})
    session.set_state({"total": y})
    np.testing.assert_array_equal(session.get_state()["total"], ones * 4)
    session.reset_state()
    (y,) = session.run(None, {"x": ones}, loopc.RunOptions(device_outputs=False))
    np.testing.assert_array_equal(y, ones)


def no_driver() -> None:
    reason = "no CUDA driver: .* cannot be opened"
    assert loopc.get_available_providers() == [CPU]
    assert loopc.get_device() == "CPU"
    model = doubler()
    with pytest.raises(loopc.DeviceError, match=reason):
        loopc.InferenceSession(model, device="cuda")
    with pytest.raises(loopc.InvalidArgument, match=f"{CUDA} not available; .*{reason}"):
        loopc.InferenceSession(model, providers=["cuda"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        session = loopc.InferenceSession(model, providers=[CUDA, CPU])
    assert [pathlib.Path(warning.filename).name for warning in caught] == ["cuda_cases.py"]
    assert session.get_providers() == [CPU]
    # To compile for a chip takes no driver; to run does.
    session = loopc.InferenceSession(model, device="cuda", chip="sm_90")
    with pytest.raises(loopc.DeviceError, match=reason):
        session.run(None, {"x": X})
    with pytest.raises(loopc.DeviceError, match=reason):
        loopc.OrtValue.ortvalue_from_numpy(X, "cuda", 0)


def no_driver_devices() -> None:
    assert loopc.get_available_providers() == [CPU]
    with pytest.raises(loopc.DeviceError, match="no CUDA device"):
        loopc.InferenceSession(doubler(), device="cuda")


def main() -> None:
    case: Callable[[], None] = globals()[sys.argv[1]]
    case()


if __name__ == "__main__":
    main()
