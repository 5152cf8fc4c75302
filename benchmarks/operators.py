# ===- operators.py - Single operators beside onnxruntime -------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Times single operators and small graphs of them beside onnxruntime.

    operators.py [--filter REGEX] [--threads 2] [--below 0.9] [--seconds 0.2]

Both engines run in this process, in turns. With one thread times are processor
time, which other work on the machine changes little; with more they are the first
tenth of the durations. A row: milliseconds of loopc and of onnxruntime, the latter
in times of the former, the largest difference of an output in parts of the largest
element. Exit status 1 where outputs differ or an engine fails.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import loopc
import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import onnxruntime

#: A name, a model and its inputs.
Case = tuple[str, onnx.ModelProto, dict[str, np.ndarray]]
Arrays = dict[str, np.ndarray]
#: What outputs may differ by.
TOLERANCE = 2e-3

node: Callable[..., onnx.NodeProto] = onnx.helper.make_node
_random = np.random.default_rng(0)


def _array(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (_random.standard_normal(shape) * scale).astype(np.float32)


def _bytes(*shape: int, signed: bool = False) -> np.ndarray:
    low, high, kind = (-127, 127, np.int8) if signed else (0, 255, np.uint8)
    return _random.integers(low, high, shape).astype(kind)


def _case(
    name: str,
    nodes: list[onnx.NodeProto],
    inputs: Arrays,
    constants: Arrays | None = None,
    *,
    open_axes: tuple[int, ...] = (),
) -> Case:
    ports = []
    for key, value in inputs.items():
        dims = [f"{key}{k}" if k in open_axes else size for k, size in enumerate(value.shape)]
        kind = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
        ports.append(onnx.helper.make_tensor_value_info(key, kind, dims))
    graph = onnx.helper.make_graph(
        nodes,
        "operator",
        ports,
        [onnx.ValueInfoProto(name=key) for key in nodes[-1].output],
        [onnx.numpy_helper.from_array(value, key) for key, value in (constants or {}).items()],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)])
    model.ir_version = 10
    return name + (" open" if open_axes else ""), model, inputs


def _recurrent() -> Iterator[Case]:
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        for batch, steps, hidden in ((1, 128, 256), (8, 128, 256), (1, 16, 512), (32, 16, 64)):
            scale = hidden**-0.5
            weights = {
                "w": _array(1, gates * hidden, hidden, scale=scale),
                "r": _array(1, gates * hidden, hidden, scale=scale),
            }
            nodes = [node(op, ["x", "w", "r"], ["y"], hidden_size=hidden)]
            name = f"{op} B{batch} T{steps} H{hidden}"
            yield _case(name, nodes, {"x": _array(steps, batch, hidden)}, weights)
            if (batch, steps) == (1, 128):
                x = {"x": _array(steps, batch, hidden)}
                yield _case(name, nodes, x, weights, open_axes=(0, 1))


def _products() -> Iterator[Case]:
    product = [node("MatMul", ["a", "b"], ["y"])]
    for rows, sums, columns in (
        (64, 64, 64),
        (512, 512, 512),
        (1, 1024, 1024),
        (4, 1024, 1024),
        (128, 768, 768),
        (4096, 16, 256),
    ):
        a, b = {"a": _array(rows, sums)}, {"b": _array(sums, columns)}
        name = f"MatMul {rows}x{sums}x{columns}"
        yield _case(name, product, a | b)
        yield _case(name, product, a | b, open_axes=(0, 1))
        yield _case(name + " constant", product, a, b)
    for rows in (1, 128):
        yield _case(
            f"MatMulInteger {rows}x512x512",
            [node("MatMulInteger", ["a", "b", "z"], ["y"])],
            {"a": _bytes(rows, 512)},
            {"b": _bytes(512, 512, signed=True), "z": np.array(3, np.uint8)},
        )
    for heads, queries, keys in ((8, 32, 32), (8, 128, 128), (8, 512, 512), (8, 1, 1024)):
        nodes = [
            node("Transpose", ["k"], ["t"], perm=[0, 1, 3, 2]),
            node("MatMul", ["q", "t"], ["s"]),
            node("Softmax", ["s"], ["p"], axis=-1),
            node("MatMul", ["p", "v"], ["y"]),
        ]
        inputs = {key: _array(1, heads, keys, 64) for key in "kv"}
        inputs["q"] = _array(1, heads, queries, 64, scale=0.125)
        for axes in ((), (2,)):
            yield _case(f"attention {queries}x{keys}", nodes, inputs, open_axes=axes)


def _convolutions() -> Iterator[Case]:
    for op, image, weights, attributes in (
        ("Conv", (1, 64, 56, 56), (64, 64, 1, 1), {}),
        ("Conv", (1, 64, 56, 56), (64, 64, 3, 3), {"pads": [1] * 4}),
        ("Conv", (1, 256, 14, 14), (256, 256, 3, 3), {"pads": [1] * 4}),
        ("Conv", (1, 512, 7, 7), (512, 512, 3, 3), {"pads": [1] * 4}),
        ("Conv", (1, 128, 28, 28), (128, 1, 3, 3), {"pads": [1] * 4, "group": 128}),
        ("Conv", (1, 3, 224, 224), (64, 3, 7, 7), {"pads": [3] * 4, "strides": [2, 2]}),
        ("Conv", (1, 64, 400), (64, 64, 3), {"pads": [1, 1]}),
        ("Conv", (1, 1, 16000), (512, 1, 10), {"strides": [5]}),
        ("ConvTranspose", (1, 64, 28, 28), (64, 32, 4, 4), {"pads": [1] * 4, "strides": [2, 2]}),
        ("ConvTranspose", (1, 256, 100), (256, 128, 16), {"pads": [4, 4], "strides": [8]}),
    ):
        nodes = [node(op, ["x", "w"], ["y"], **attributes)]
        name = f"{op} {image} {weights}"
        for axes in ((), tuple(range(2, len(image)))):
            x = {"x": _array(*image)}
            yield _case(name, nodes, x, {"w": _array(*weights, scale=0.1)}, open_axes=axes)


def _windows() -> Iterator[Case]:
    kernel = {"kernel_shape": [3, 3], "pads": [1] * 4}
    x = {"x": _array(1, 64, 56, 56)}
    scales = {"s": np.array([1, 1, 2, 2], np.float32)}
    for nodes, constants in (
        ([node("MaxPool", ["x"], ["y"], strides=[2, 2], **kernel)], None),
        ([node("AveragePool", ["x"], ["y"], **kernel)], None),
        ([node("GlobalAveragePool", ["x"], ["y"])], None),
        ([node("Resize", ["x", "", "s"], ["y"], mode="nearest")], scales),
        ([node("Resize", ["x", "", "s"], ["y"], mode="linear")], scales),
    ):
        for axes in ((), (2, 3)):
            name = nodes[0].op_type
            if constants:
                name += f" {nodes[0].attribute[0].s.decode()}"
            yield _case(name, nodes, x, constants, open_axes=axes)


def _rows() -> Iterator[Case]:
    x = {"x": _array(64, 1000)}
    for axis in (0, 1):
        yield _case(f"Softmax axis {axis}", [node("Softmax", ["x"], ["y"], axis=axis)], x)
        yield _case(f"ArgMax axis {axis}", [node("ArgMax", ["x"], ["y"], axis=axis)], x)
        at = {"a": np.array([axis])}
        for op in ("ReduceSum", "ReduceMax", "CumSum"):
            constants = {"a": at["a"][0]} if op == "CumSum" else at
            yield _case(f"{op} axis {axis}", [node(op, ["x", "a"], ["y"])], x, constants)
    norm = {"g": _array(1000), "b": _array(1000)}
    yield _case("LayerNormalization", [node("LayerNormalization", ["x", "g", "b"], ["y"])], x, norm)
    for count in (1, 50):
        yield _case(
            f"TopK {count} of 32000",
            [node("TopK", ["x", "k"], ["y", "i"])],
            {"x": _array(1, 32000)},
            {"k": np.array([count])},
        )


def _movement() -> Iterator[Case]:
    x = {"x": _array(512, 512)}
    yield _case("Transpose", [node("Transpose", ["x"], ["y"])], x)
    for kind in (np.float16, np.uint8):
        turned = {"x": x["x"].astype(kind)}
        name = f"Transpose {np.dtype(kind).name}"
        yield _case(name, [node("Transpose", ["x"], ["y"])], turned)
    rows = {"i": _random.integers(0, 512, 128)}
    for axis in (0, 1):
        yield _case(f"Gather axis {axis}", [node("Gather", ["x", "i"], ["y"], axis=axis)], x, rows)
        yield _case(f"Concat axis {axis}", [node("Concat", ["x", "x"], ["y"], axis=axis)], x)
    pads = {"p": np.array([1, 1, 1, 1])}
    for mode in ("constant", "reflect"):
        yield _case(f"Pad {mode}", [node("Pad", ["x", "p"], ["y"], mode=mode)], x, pads)


def _elements() -> Iterator[Case]:
    x = {"x": _array(256, 512)}
    for op in ("Exp", "Tanh", "Sigmoid", "Erf", "Gelu", "Sin", "Atan", "Softplus", "Relu"):
        yield _case(op, [node(op, ["x"], ["y"])], x)
    for op in ("Add", "Div", "Pow"):
        yield _case(op, [node(op, ["x", "z"], ["y"])], x | {"z": np.abs(_array(256, 512))})


def _cases() -> Iterator[Case]:
    for family in (
        _recurrent,
        _products,
        _convolutions,
        _windows,
        _rows,
        _movement,
        _elements,
    ):
        yield from family()


def _difference(got: Any, want: Any) -> float:
    got, want = (np.asarray(value) for value in (got, want))
    if got.shape != want.shape or got.dtype != want.dtype:
        return float("inf")
    got, want = got.astype(np.float64), want.astype(np.float64)
    if not np.array_equal(np.isnan(got), np.isnan(want)):
        return float("inf")
    scale = np.nanmax(np.abs(want), initial=1e-3)
    return float(np.nanmax(np.abs(got - want), initial=0) / scale)


def _time(runs: tuple[Callable[[], Any], ...], seconds: float, threads: int) -> list[float]:
    clock = time.thread_time if threads == 1 else time.perf_counter
    times: list[list[float]] = [[] for _ in runs]
    end = time.perf_counter() + seconds * len(runs)
    while time.perf_counter() < end or len(times[0]) < 10:
        for run, found in zip(runs, times, strict=True):
            # Threads of the other engine go on looking for work for a while.
            time.sleep(0.002 if threads > 1 else 0)
            for _ in range(5):
                begin = clock()
                run()
                found.append(clock() - begin)
    pick = statistics.median if threads == 1 else lambda found: sorted(found)[len(found) // 10]
    return [pick(found) for found in times]


def _measure(case: Case, threads: int, seconds: float) -> tuple[float, float, float]:
    _, model, feeds = case
    raw = model.SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    peer = onnxruntime.InferenceSession(raw, options, providers=["CPUExecutionProvider"])
    ours = loopc.InferenceSession(
        raw, sess_options=loopc.SessionOptions(intra_op_num_threads=threads)
    )
    pairs = zip(ours.run(None, feeds), peer.run(None, feeds), strict=True)
    difference = max(_difference(got, want) for got, want in pairs)
    runs = (lambda: ours.run(None, feeds), lambda: peer.run(None, feeds))
    mine, theirs = _time(runs, seconds, threads)
    return mine, theirs, difference


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--filter", default="", metavar="REGEX", help="only these cases")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--below", type=float, default=float("inf"), help="only such ratios")
    parser.add_argument("--seconds", type=float, default=0.2, help="for each engine and case")
    arguments = parser.parse_args()
    status = 0
    for case in _cases():
        if not re.search(arguments.filter, case[0]):
            continue
        try:
            mine, theirs, difference = _measure(case, arguments.threads, arguments.seconds)
        except Exception as error:  # of either engine: the next case goes on
            print(f"{case[0]:50} {type(error).__name__}: {str(error).splitlines()[0][:150]}")
            status = 1
            continue
        if difference > TOLERANCE:
            status = 1
        elif theirs / mine >= arguments.below:
            continue
        print(
            f"{case[0]:50} {mine * 1e3:9.4f} {theirs * 1e3:9.4f} {theirs / mine:6.2f}x "
            f"{difference:8.1g}",
            flush=True,
        )
    return status


if __name__ == "__main__":
    sys.exit(main())
