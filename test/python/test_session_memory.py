# ===- test_session_memory.py - Closed sessions leave no memory behind --------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Mappings and resident memory of a process that opens and closes many sessions.

A process has 65,530 mappings: code that is never given back ends it. Each way runs in a
process of its own, where nothing else comes and goes.
"""

import gc
import multiprocessing
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import loopc
import loopc.aot
import numpy as np
import onnx.helper
import onnx.parser
import pytest

ADD = """<ir_version: 8, opset_import: ["": 17]> m (float[n] x, int64 trips) => (float[n] y, float[k, n] all) {
  y = Add(x, x)
  i = Constant<value = int64[1] {0}>()
  all = Unsqueeze(y, i)
}"""
# Several parts of code, and calls of the runtime.
LOOP = """<ir_version: 8, opset_import: ["": 17]> m (float[n] x, int64 trips) => (float[n] y, float[k, n] all) {
  go = Constant<value = bool {1}>()
  y, all = Loop(trips, go, x) <body = b (int64 it, bool c, float[n] u) => (bool d, float[n] v, float[n] row) {
    d = Identity(c)
    t = Exp(u)
    v = Tanh(t)
    row = Identity(v)
  }>
}"""
# What no CPU of today has, so that a session fails when all its code is linked.
MISSING = {"x86_64": "+xop,+fma4", "aarch64": "+sve2p2"}
# Allocators may take a few more regions; a leak is one or more a session.
MORE_MAPPINGS = 8
MORE_KILOBYTES = 2048


def _bytes(text: str = LOOP) -> bytes:
    return onnx.parser.parse_model(text).SerializeToString()


def _run(session: loopc.InferenceSession) -> None:
    x = np.linspace(-1, 1, 37, dtype=np.float32)
    y, rows = session.run(None, {"x": x, "trips": np.int64(3)})
    assert np.array_equal(rows[-1], y)


def _small(folder: Path) -> Callable[[], None]:
    model = _bytes(ADD)
    return lambda: _run(loopc.InferenceSession(model))


def _threads(folder: Path) -> Callable[[], None]:
    options = loopc.SessionOptions()
    options.intra_op_num_threads = 2
    model = _bytes()
    return lambda: _run(loopc.InferenceSession(model, options))


def _invalid(folder: Path) -> Callable[[], None]:
    model = onnx.parser.parse_model(ADD)
    model.graph.node[0].op_type = "NoSuchOperator"

    def fail() -> None:
        with pytest.raises(loopc.CompileError):
            loopc.InferenceSession(model)

    return fail


def _wrong_cpu(folder: Path) -> Callable[[], None]:
    options = loopc.SessionOptions()
    options.features = MISSING[platform.machine()]
    model = _bytes(ADD)

    def fail() -> None:
        with pytest.raises(loopc.CompileError, match="LC0608"):
            loopc.InferenceSession(model, options)

    return fail


def _ahead(folder: Path) -> Callable[[], None]:
    library = loopc.aot.compile_shared(_bytes(), folder)
    return lambda: _run(loopc.load(library))


def _not_a_model(folder: Path) -> Callable[[], None]:
    library = loopc.aot.compile_shared(_bytes(), folder)

    def fail() -> None:
        with pytest.raises(loopc.Error):
            loopc.load(library, name="another")

    return fail


# The ways, and how many sessions each has: compiling a loop takes its time.
WAYS = {
    _small: 200,
    _threads: 40,
    _invalid: 200,
    _wrong_cpu: 60,
    _ahead: 200,
    _not_a_model: 200,
}


def _measure() -> tuple[int, int]:
    gc.collect()
    mappings = Path("/proc/self/maps").read_text().count("\n")
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return mappings, pages * 4


def _watch(
    way: Callable[[Path], Callable[[], None]], folder: Path, sessions: int
) -> tuple[tuple[int, int], tuple[int, int]]:
    once = way(folder)
    for _ in range(10):
        once()
    before = _measure()
    for _ in range(sessions):
        once()
    return before, _measure()


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.strip("_"))
def test_closed_sessions_leave_nothing(
    way: Callable[[Path], Callable[[], None]], tmp_path: Path
) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        before, after = pool.apply(_watch, (way, tmp_path, WAYS[way]))
    assert after[0] <= before[0] + MORE_MAPPINGS, f"mappings: {before[0]}, then {after[0]}"
    assert after[1] <= before[1] + MORE_KILOBYTES, f"resident kB: {before[1]}, then {after[1]}"


def test_weights_are_written_once(tmp_path: Path) -> None:
    """A library takes the packed weights from memory: neither an object nor the linker holds them.

    The peak of the process that compiles is the weights as the model has them, and as they are
    packed; what else the linker would map is the same once or twice more.
    """
    extent, count = 2048, 12
    size = extent * extent * 4
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((extent, extent), dtype=np.float32) / extent
    with (tmp_path / "weights").open("wb") as file:
        for k in range(count):
            file.write(np.roll(weights, k, axis=0).tobytes())
    names = ["x", *(f"y{k}" for k in range(count - 1)), "y"]
    initializers = []
    for k in range(count):
        tensor = onnx.TensorProto(name=f"w{k}", data_type=onnx.TensorProto.FLOAT)
        tensor.dims.extend([extent, extent])
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", "weights"), ("offset", k * size), ("length", size)):
            tensor.external_data.add(key=key, value=str(value))
        initializers.append(tensor)
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("MatMul", [names[k], f"w{k}"], [names[k + 1]])
            for k in range(count)
        ],
        "products",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N", extent])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["N", extent])],
        initializers,
    )
    opsets = [onnx.helper.make_opsetid("", 17)]
    model = onnx.helper.make_model(graph, ir_version=8, opset_imports=opsets)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    library = tmp_path / "m.so"
    arguments = ["compile", tmp_path / "m.onnx", "--emit=shared", "-o", library]
    # Of a small process: one that is forked has the peak of the one it comes from.
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run([sys.executable, '-m', 'loopc', *sys.argv[1:]], check=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    peak = int(done.stdout.splitlines()[-1]) * 1024
    assert library.stat().st_size > count * size
    assert peak < 2.9 * count * size
    x = rng.standard_normal((2, extent), dtype=np.float32)
    expected: np.ndarray = x
    for k in range(count):
        expected = expected @ np.roll(weights, k, axis=0)
    (y,) = loopc.InferenceSession(library).run(None, {"x": x})
    np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-5 * float(np.abs(expected).max()))


HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@pytest.mark.skipif(not HUGE_PAGES.exists(), reason="the kernel has no huge pages")
@pytest.mark.parametrize(("rows", "expected"), [(1 << 23, True), (1 << 10, False)])
def test_large_buffers_ask_for_huge_pages(tmp_path: Path, rows: int, expected: bool) -> None:
    """A run's large buffer is in pages that are advised to be huge, and a small one is not."""
    text = """<ir_version: 8, opset_import: ["": 17]> m (float[n] x) => (float y) {
  first = Softmax<axis = 0>(x)
  y = ReduceMax<keepdims = 0>(first)
}"""
    (tmp_path / "m.onnx").write_bytes(_bytes(text))
    # Of a process whose heap nobody else has advised.
    code = (
        "import re, sys, loopc, numpy as np\n"
        "session = loopc.InferenceSession(sys.argv[1])\n"
        "session.run(None, {'x': np.ones(int(sys.argv[2]), np.float32)})\n"
        "size = 0\n"
        "for line in open('/proc/self/smaps'):\n"
        "    if line.startswith('Size:'):\n"
        "        size = int(line.split()[1])\n"
        "    if line.startswith('VmFlags:') and 'hg' in line.split() and size >= 16384:\n"
        "        print('advised')\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "m.onnx"), str(rows)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    assert ("advised" in done.stdout) == expected
