# ===- operators.py - Single operators beside onnxruntime -------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Times single operators and small graphs of them beside onnxruntime.

    operators.py [--family rows] [--filter REGEX] [--threads 2] [--below 0.9] [--sort]
                 [--seconds 0.2]

Both engines run in this process, in turns. With one thread times are processor
time, which other work on the machine changes little; with more they are the first
tenth of the durations. A row: milliseconds of loopc and of onnxruntime, the latter
in times of the former, the largest difference of an output in parts of the largest
element. --sort writes the rows again at the end, the slowest first. Exit status 1
where outputs differ or an engine fails.
"""

from __future__ import annotations

import argparse
import itertools
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import loopc
import numpy as np
import onnxruntime
import operator_cases
from operator_cases import Case, node
from operator_cases import array as _array
from operator_cases import case as _case
from operator_cases import octets as _bytes
from turns import rest

#: What outputs may differ by.
TOLERANCE = 2e-3


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
        behind = [node("Relu", ["a"], ["r"]), node("MatMul", ["r", "b"], ["y"])]
        yield _case(f"Relu {name}", behind, a, b)
    for rows, sums, columns in ((1, 512, 512), (128, 512, 2), (128, 512, 10), (128, 512, 512)):
        half = {"a": _array(rows, sums).astype(np.float16)}
        weights = {"b": _array(sums, columns, scale=sums**-0.5).astype(np.float16)}
        name = f"MatMul {rows}x{sums}x{columns} float16"
        yield _case(name, product, half | weights)
        yield _case(f"{name} constant", product, half, weights, open_axes=(0,))
    # Of either order, a single row or column among them.
    for rows, sums, columns in ((1, 256, 256), (128, 512, 10), (64, 256, 256), (512, 512, 1)):
        for turns in itertools.product((False, True), repeat=2):
            a = {"a": _array(*((sums, rows) if turns[0] else (rows, sums)))}
            b = {"b": _array(*((columns, sums) if turns[1] else (sums, columns)))}
            nodes = [node("Gemm", ["a", "b"], ["y"], transA=turns[0], transB=turns[1])]
            name = "Gemm " + "T"[: turns[0]] + f"{rows}x{sums}x{columns}" + "T"[: turns[1]]
            yield _case(f"{name} constant", nodes, a, b)
            yield _case(name, nodes, a | b)
            yield _case(name, nodes, a | b, open_axes=(0, 1))
    for heads, queries, keys in (
        (8, 32, 32),
        (8, 128, 128),
        (8, 512, 512),
        (8, 1, 1024),
        (4, 1024, 1024),
        (2, 4096, 4096),
    ):
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


def _quantized() -> Iterator[Case]:
    zero, scale = np.array(3, np.uint8), np.array(0.1, np.float32)
    none = np.array(0, np.int8)
    for rows in (1, 4, 16, 128):
        a, b = {"a": _bytes(rows, 512)}, {"b": _bytes(512, 512, signed=True)}
        product = [node("MatMulInteger", ["a", "b", "z"], ["y"])]
        name = f"MatMulInteger {rows}x512x512"
        yield _case(name + " constant", product, a, b | {"z": zero})
        yield _case(name, product, a | b, {"z": zero})
        yield _case(name, product, a | b, {"z": zero}, open_axes=(0, 1))
        scales = {"s": scale, "t": np.array(300, np.float32), "z": zero, "w": none}
        nodes = [node("QLinearMatMul", ["a", "s", "z", "b", "s", "w", "t", "z"], ["y"])]
        yield _case(f"QLinearMatMul {rows}x512x512", nodes, a, b | scales)
        nodes = [
            node("DequantizeLinear", ["a", "s", "z"], ["p"]),
            node("DequantizeLinear", ["b", "s", "w"], ["q"]),
            node("MatMul", ["p", "q"], ["r"]),
            node("QuantizeLinear", ["r", "t", "z"], ["y"]),
        ]
        yield _case(f"QDQ MatMul {rows}x512x512", nodes, a, b | scales)
        channels = {"t": np.array(300, np.float32), "z": zero, "w": np.zeros(512, np.int8)}
        channels |= {"s": scale, "c": np.linspace(0.05, 0.15, 512, dtype=np.float32)}
        nodes[1] = node("DequantizeLinear", ["b", "c", "w"], ["q"], axis=1)
        yield _case(f"QDQ MatMul {rows}x512x512 channels", nodes, a, b | channels)
        nodes = [
            node("DynamicQuantizeLinear", ["x"], ["q", "u", "z"]),
            node("MatMulInteger", ["q", "b", "z"], ["p"]),
            node("Cast", ["p"], ["r"], to=1),
            node("Mul", ["u", "s"], ["v"]),
            node("Mul", ["r", "v"], ["y"]),
        ]
        x = {"x": _array(rows, 512)}
        yield _case(f"dynamic quantization {rows}x512x512", nodes, x, b | {"s": scale})
    for image, weights, attributes in (
        ((1, 64, 56, 56), (64, 64, 1, 1), {}),
        ((1, 64, 56, 56), (64, 64, 3, 3), {"pads": [1] * 4}),
        ((1, 256, 14, 14), (256, 256, 3, 3), {"pads": [1] * 4}),
        ((1, 3, 112, 112), (32, 3, 3, 3), {"pads": [1] * 4}),
        ((1, 128, 28, 28), (128, 1, 3, 3), {"pads": [1] * 4, "group": 128}),
    ):
        constants = {"s": scale, "t": np.array(300, np.float32), "z": zero, "o": none}
        constants["w"] = _bytes(*weights, signed=True)
        nodes = [node("QLinearConv", list("xszwsotz"), ["y"], **attributes)]
        yield _case(f"QLinearConv {image} {weights}", nodes, {"x": _bytes(*image)}, constants)
    nodes = [node("ConvInteger", list("xwz"), ["y"], pads=[1] * 4)]
    constants = {"w": _bytes(32, 32, 3, 3), "z": zero}
    for axes in ((), (0, 1, 2, 3)):
        x = {"x": _bytes(1, 32, 28, 28)}
        yield _case("ConvInteger", nodes, x, constants, open_axes=axes)
    x = {"x": _array(256, 512)}
    yield _case("DynamicQuantizeLinear", [node("DynamicQuantizeLinear", ["x"], list("yst"))], x)


def _narrow() -> Iterator[Case]:
    """Weights of f16 and of 8 bits with a scale for each channel, of products in f32."""
    cast = node("Cast", ["w"], ["v"], to=1)
    for rows, size in ((1, 2048), (16, 2048), (128, 2048), (128, 384)):
        product, x = node("MatMul", ["x", "v"], ["y"]), {"x": _array(rows, size)}
        name = f"MatMul {rows}x{size}x{size}"
        half = {"w": _array(size, size, scale=size**-0.5).astype(np.float16)}
        whole = {"w": _bytes(size, size, signed=True)}
        whole["s"] = np.linspace(0.001, 0.002, size, dtype=np.float32)
        scaled = [node("Cast", ["w"], ["c"], to=1), node("Mul", ["c", "s"], ["v"]), product]
        for axes in ((), (0,)):
            yield _case(name + " f16", [cast, product], x, half, open_axes=axes)
            yield _case(name + " int8", scaled, x, whole, open_axes=axes)
    for image, weights in (
        ((1, 64, 56, 56), (64, 64, 3, 3)),
        ((1, 512, 7, 7), (512, 512, 3, 3)),
        ((1, 256, 14, 14), (256, 256, 1, 1)),
    ):
        convolution = node("Conv", ["x", "v"], ["y"], pads=[weights[2] // 2] * 4)
        constants = {"w": _array(*weights, scale=0.02).astype(np.float16)}
        name, x = f"Conv {image} {weights}", {"x": _array(*image)}
        yield _case(name + " f16", [cast, convolution], x, constants)
        constants = {"w": _bytes(*weights, signed=True)}
        constants["s"] = np.linspace(0.001, 0.002, weights[0], dtype=np.float32)
        nodes = [node("DequantizeLinear", ["w", "s"], ["v"], axis=0), convolution]
        yield _case(name + " int8", nodes, x, constants)


def _convolutions() -> Iterator[Case]:
    two = {"strides": [2, 2]}
    for op, image, weights, attributes in (
        ("Conv", (1, 64, 56, 56), (64, 64, 1, 1), {}),
        ("Conv", (1, 64, 56, 56), (64, 64, 3, 3), {"pads": [1] * 4}),
        ("Conv", (1, 256, 14, 14), (256, 256, 3, 3), {"pads": [1] * 4}),
        ("Conv", (8, 256, 14, 14), (256, 256, 3, 3), {"pads": [1] * 4}),
        ("Conv", (1, 512, 7, 7), (512, 512, 3, 3), {"pads": [1] * 4}),
        ("Conv", (1, 960, 7, 7), (160, 960, 1, 1), {}),
        ("Conv", (1, 3, 224, 224), (64, 3, 7, 7), {"pads": [3] * 4} | two),
        ("Conv", (1, 3, 224, 224), (16, 3, 3, 3), {"pads": [1] * 4} | two),
        ("Conv", (1, 1, 28, 28), (8, 1, 5, 5), {"pads": [2] * 4}),
        ("Conv", (1, 64, 28, 28), (64, 16, 3, 3), {"pads": [1] * 4, "group": 4}),
        ("Conv", (1, 64, 400), (64, 64, 3), {"pads": [1, 1]}),
        ("Conv", (1, 192, 200), (192, 192, 5), {"pads": [4, 4], "dilations": [2]}),
        ("Conv", (1, 1, 16000), (512, 1, 10), {"strides": [5]}),
        ("Conv", (1, 1, 16384), (512, 1, 1), {}),
        ("Conv", (1, 16, 8, 32, 32), (16, 16, 3, 3, 3), {"pads": [1] * 6}),
        ("ConvTranspose", (1, 64, 28, 28), (64, 32, 4, 4), {"pads": [1] * 4} | two),
        ("ConvTranspose", (1, 64, 28, 28), (64, 32, 2, 2), two),
        (
            "ConvTranspose",
            (1, 64, 28, 28),
            (64, 32, 3, 3),
            {"pads": [1] * 4, "output_padding": [1, 1]} | two,
        ),
        ("ConvTranspose", (1, 64, 28, 28), (64, 32, 3, 3), {"pads": [1] * 4}),
        ("ConvTranspose", (1, 256, 100), (256, 128, 16), {"pads": [4, 4], "strides": [8]}),
        ("ConvTranspose", (1, 256, 100), (256, 128, 11), {"pads": [3, 3], "strides": [5]}),
    ):
        nodes = [node(op, ["x", "w"], ["y"], **attributes)]
        name = f"{op} {image} {weights}"
        for axes in ((), (0,), tuple(range(2, len(image)))):
            x = {"x": _array(*image)}
            yield _case(name, nodes, x, {"w": _array(*weights, scale=0.1)}, open_axes=axes)


def _channels_last() -> Iterator[Case]:
    # As TensorFlow's exports have it: images with their channels last, and bytes.
    for image, weights, attributes in (
        ((1, 80, 80, 30), (10, 30, 3, 3), {}),
        ((1, 40, 40, 32), (8, 32, 5, 5), {}),
        ((1, 80, 80, 30), (10, 30, 3, 3), {"pads": [1] * 4}),
        ((1, 84, 84, 4), (32, 4, 8, 8), {"strides": [4, 4]}),
        ((1, 112, 112, 3), (8, 3, 3, 3), {"strides": [2, 2]}),
    ):
        turn = node("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2])
        for axes in ((), (0,), (1, 2)):
            name = f"Transpose Conv {image} {weights}{' padded' * ('pads' in attributes)}"
            w = {"w": _array(*weights, scale=0.1), "s": np.array(1 / 255, np.float32)}
            nodes = [turn, node("Conv", ["t", "w"], ["y"], **attributes)]
            yield _case(name, nodes, {"x": _array(*image)}, w, open_axes=axes)
            nodes = [
                node("Cast", ["x"], ["f"], to=1),
                node("Mul", ["f", "s"], ["u"]),
                node("Transpose", ["u"], ["t"], perm=[0, 3, 1, 2]),
                node("Conv", ["t", "w"], ["y"], **attributes),
            ]
            yield _case(f"bytes {name}", nodes, {"x": _bytes(*image)}, w, open_axes=axes)


def _depthwise() -> Iterator[Case]:
    for image, kernel, stride in (
        ((1, 128, 28, 28), 3, 1),
        ((1, 32, 112, 112), 3, 1),
        ((1, 96, 56, 56), 3, 2),
        ((8, 96, 28, 28), 3, 1),
        ((1, 240, 14, 14), 5, 1),
        ((1, 960, 7, 7), 5, 1),
        ((1, 24, 112, 112), 5, 2),
    ):
        channels = image[1]
        attributes = {"pads": [kernel // 2] * 4, "strides": [stride] * 2, "group": channels}
        nodes = [node("Conv", ["x", "w"], ["y"], **attributes)]
        name = f"depthwise {image} {kernel}x{kernel} by {stride}"
        weights = {"w": _array(channels, 1, kernel, kernel, scale=0.1)}
        for axes in ((), (0,), (2, 3)):
            yield _case(name, nodes, {"x": _array(*image)}, weights, open_axes=axes)
    # As nets for phones have it, between convolutions of points.
    nodes = [
        node("Conv", ["x", "a"], ["t"]),
        node("Clip", ["t", "low", "high"], ["u"]),
        node("Conv", ["u", "b"], ["v"], pads=[1] * 4, group=144),
        node("Clip", ["v", "low", "high"], ["w"]),
        node("Conv", ["w", "c"], ["y"]),
    ]
    weights = {
        "a": _array(144, 24, 1, 1, scale=0.1),
        "b": _array(144, 1, 3, 3, scale=0.1),
        "c": _array(24, 144, 1, 1, scale=0.1),
        "low": np.array(0, np.float32),
        "high": np.array(6, np.float32),
    }
    for size in (56, 14):
        x = {"x": _array(1, 24, size, size)}
        for axes in ((), (2, 3)):
            yield _case(f"inverted residual {size}", nodes, x, weights, open_axes=axes)


FAMILIES = {
    family.__name__.strip("_"): family
    for family in (
        _recurrent,
        _products,
        _quantized,
        _narrow,
        _convolutions,
        _channels_last,
        _depthwise,
        *operator_cases.FAMILIES,
    )
}


def difference(got: Any, want: Any) -> float:
    """The largest difference, in parts of the largest element."""
    got, want = (np.asarray(value) for value in (got, want))
    if got.shape != want.shape or got.dtype != want.dtype:
        return float("inf")
    got, want = got.astype(np.float64), want.astype(np.float64)
    if not np.array_equal(np.isnan(got), np.isnan(want)):
        return float("inf")
    scale = np.nanmax(np.abs(want), initial=1e-3)
    return float(np.nanmax(np.abs(got - want), initial=0) / scale)


def timings(runs: tuple[Callable[[], Any], ...], seconds: float, threads: int) -> list[float]:
    """Seconds of each of the runs, which take turns, and run for `seconds` each, rests apart."""
    clock = time.thread_time if threads == 1 else time.perf_counter
    # A turn after a rest is long enough for few rests.
    least = seconds / 10 if threads > 1 else 0.0
    times: list[list[float]] = [[] for _ in runs]
    spent = [0.0 for _ in runs]
    while min(spent) < seconds or len(times[0]) < 10:
        for k, run in enumerate(runs):
            rest(threads)
            start, first = time.perf_counter(), len(times[k])
            while len(times[k]) < first + 5 or time.perf_counter() - start < least:
                begin = clock()
                run()
                times[k].append(clock() - begin)
            spent[k] += time.perf_counter() - start
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
    most = max(difference(got, want) for got, want in pairs)
    runs = (lambda: ours.run(None, feeds), lambda: peer.run(None, feeds))
    mine, theirs = timings(runs, seconds, threads)
    return mine, theirs, most


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--family", action="append", choices=FAMILIES, help="only these")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only these cases")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--below", type=float, default=float("inf"), help="only such ratios")
    parser.add_argument("--sort", action="store_true", help="all rows at the end, in order")
    parser.add_argument("--seconds", type=float, default=0.2, help="for each engine and case")
    arguments = parser.parse_args()
    status = 0
    rows: list[tuple[float, str]] = []
    cases = (FAMILIES[name]() for name in arguments.family or FAMILIES)
    for case in itertools.chain.from_iterable(cases):
        if not re.search(arguments.filter, case[0]):
            continue
        try:
            mine, theirs, most = _measure(case, arguments.threads, arguments.seconds)
        except Exception as error:  # of either engine: the next case goes on
            print(f"{case[0]:50} {type(error).__name__}: {str(error).splitlines()[0][:150]}")
            status = 1
            continue
        ratio = theirs / mine
        if most > TOLERANCE:
            status = 1
        elif ratio >= arguments.below:
            continue
        row = f"{case[0]:50} {mine * 1e3:9.4f} {theirs * 1e3:9.4f} {ratio:6.2f}x {most:8.1g}"
        rows.append((ratio, row))
        print(row, flush=True)
    if arguments.sort:
        print(f"\n{len(rows)} rows, the slowest first", *(row for _, row in sorted(rows)), sep="\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
