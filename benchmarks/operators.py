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
Arrays = dict[str, Any]
#: What outputs may differ by.
TOLERANCE = 2e-3

node: Callable[..., onnx.NodeProto] = onnx.helper.make_node
_random = np.random.default_rng(0)


def _array(*shape: int, scale: float = 1.0) -> np.ndarray:
    return np.asarray(_random.standard_normal(shape) * scale, np.float32)


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
    opened = " open batch" if open_axes == (0,) else " open" if open_axes else ""
    return name + opened, model, inputs


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
    for heads, queries, keys in (
        (8, 32, 32),
        (8, 128, 128),
        (8, 512, 512),
        (8, 1, 1024),
        (4, 1024, 1024),
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


def _windows() -> Iterator[Case]:
    kernel = {"kernel_shape": [3, 3], "pads": [1] * 4}
    two = {"kernel_shape": [2, 2], "strides": [2, 2]}
    x = {"x": _array(1, 64, 56, 56)}
    scales = {"s": np.array([1, 1, 2, 2], np.float32)}
    uneven = {"s": np.array([1, 1, 1.7, 0.6], np.float32)}
    axes23 = {"a": np.array([2, 3])}
    for what, nodes, constants in (
        ("3x3 by 2", [node("MaxPool", ["x"], ["y"], strides=[2, 2], **kernel)], None),
        ("3x3 by 1", [node("MaxPool", ["x"], ["y"], **kernel)], None),
        ("2x2 by 2", [node("MaxPool", ["x"], ["y"], **two)], None),
        ("5x5", [node("MaxPool", ["x"], ["y"], kernel_shape=[5, 5], pads=[2] * 4)], None),
        ("indices", [node("MaxPool", ["x"], ["y", "i"], **two)], None),
        ("3x3", [node("AveragePool", ["x"], ["y"], **kernel)], None),
        ("2x2 by 2", [node("AveragePool", ["x"], ["y"], **two)], None),
        ("3x3 ceil", [node("AveragePool", ["x"], ["y"], ceil_mode=1, **kernel)], None),
        ("", [node("GlobalAveragePool", ["x"], ["y"])], None),
        ("", [node("GlobalMaxPool", ["x"], ["y"])], None),
        ("2, 3", [node("ReduceMean", ["x", "a"], ["y"], keepdims=1)], axes23),
        ("nearest", [node("Resize", ["x", "", "s"], ["y"], mode="nearest")], scales),
        ("linear", [node("Resize", ["x", "", "s"], ["y"], mode="linear")], scales),
        ("linear uneven", [node("Resize", ["x", "", "s"], ["y"], mode="linear")], uneven),
        ("cubic", [node("Resize", ["x", "", "s"], ["y"], mode="cubic")], scales),
        ("5", [node("LRN", ["x"], ["y"], size=5)], None),
        ("2", [node("DepthToSpace", ["x"], ["y"], blocksize=2)], None),
        ("2 CRD", [node("DepthToSpace", ["x"], ["y"], blocksize=2, mode="CRD")], None),
        ("2", [node("SpaceToDepth", ["x"], ["y"], blocksize=2)], None),
    ):
        for axes in ((), (0,), (2, 3)):
            name = f"{nodes[0].op_type} {what}".strip()
            yield _case(name, nodes, x, constants, open_axes=axes)
    small = {"x": _array(8, 64, 7, 7)}
    yield _case("GlobalAveragePool 7x7", [node("GlobalAveragePool", ["x"], ["y"])], small)
    one = {"x": _array(1, 64, 1600)}
    for op in ("MaxPool", "AveragePool"):
        nodes = [node(op, ["x"], ["y"], kernel_shape=[4], strides=[4])]
        yield _case(f"{op} 1-d", nodes, one)
        yield _case(f"{op} 1-d", nodes, one, open_axes=(2,))


def _vision() -> Iterator[Case]:
    x = {"x": _array(1, 32, 40, 40)}
    grid = {"g": np.clip(_array(1, 30, 30, 2, scale=0.5), -1.2, 1.2)}
    for mode in ("linear", "nearest", "cubic"):
        yield _case(
            f"GridSample {mode}", [node("GridSample", ["x", "g"], ["y"], mode=mode)], x | grid
        )
    corners = _random.uniform(0, 20, (50, 2)).astype(np.float32)
    boxes = np.concatenate([corners, corners + 15], axis=1)
    rois = {"r": boxes, "b": np.zeros(50, np.int64)}
    nodes = [node("RoiAlign", ["x", "r", "b"], ["y"], output_height=7, output_width=7)]
    yield _case("RoiAlign", nodes, x | rois)
    corners = _random.uniform(0, 1, (1, 1000, 2)).astype(np.float32)
    found = {
        "b": np.concatenate([corners, corners + 0.1], axis=2),
        "s": _random.uniform(0, 1, (1, 4, 1000)).astype(np.float32),
    }
    limits = {
        "m": np.array([50]),
        "o": np.array([0.5], np.float32),
        "t": np.array([0.5], np.float32),
    }
    suppress = [node("NonMaxSuppression", ["b", "s", "m", "o", "t"], ["y"])]
    yield _case("NonMaxSuppression", suppress, found, limits)


def _norms() -> Iterator[Case]:
    x = {"x": _array(1, 64, 56, 56)}
    norm = {"g": _array(64), "b": _array(64), "m": _array(64), "v": np.abs(_array(64)) + 0.1}
    for axes in ((), (2, 3)):
        for op, inputs, attributes in (
            ("InstanceNormalization", "gb", {}),
            ("GroupNormalization", "gb", {"num_groups": 8}),
            ("BatchNormalization", "gbmv", {}),
            ("PRelu", "g", {}),
        ):
            constants = {key: norm[key] for key in inputs}
            if op == "PRelu":
                constants["g"] = constants["g"].reshape(64, 1, 1)
            nodes = [node(op, ["x", *inputs], ["y"], **attributes)]
            yield _case(op, nodes, x, constants, open_axes=axes)
        nodes = [node("MeanVarianceNormalization", ["x"], ["y"])]
        yield _case("MeanVarianceNormalization", nodes, x, open_axes=axes)
    rows = {"x": _array(128, 768)}
    for opened in ((), (0,)):
        layer = [node("LayerNormalization", ["x", "g", "b"], ["y"])]
        yield _case(
            "LayerNormalization 768",
            layer,
            rows,
            {"g": _array(768), "b": _array(768)},
            open_axes=opened,
        )
        yield _case(
            "LpNormalization", [node("LpNormalization", ["x"], ["y"])], rows, open_axes=opened
        )


def _rows() -> Iterator[Case]:
    x = {"x": _array(64, 1000)}
    for axis in (0, 1):
        yield _case(f"Softmax axis {axis}", [node("Softmax", ["x"], ["y"], axis=axis)], x)
        yield _case(f"LogSoftmax axis {axis}", [node("LogSoftmax", ["x"], ["y"], axis=axis)], x)
        yield _case(f"ArgMax axis {axis}", [node("ArgMax", ["x"], ["y"], axis=axis)], x)
        at = {"a": np.array([axis])}
        for op in (
            "ReduceSum",
            "ReduceMax",
            "ReduceMin",
            "ReduceProd",
            "ReduceL2",
            "ReduceLogSumExp",
            "ReduceSumSquare",
            "CumSum",
        ):
            constants = {"a": at["a"][0]} if op == "CumSum" else at
            yield _case(f"{op} axis {axis}", [node(op, ["x", "a"], ["y"])], x, constants)
            if op in ("ReduceSum", "ReduceMax", "CumSum"):
                whole = {"x": _random.integers(-99, 99, (64, 1000))}
                name = f"{op} axis {axis} int64"
                yield _case(name, [node(op, ["x", "a"], ["y"])], whole, constants)
    norm = {"g": _array(1000), "b": _array(1000)}
    yield _case("LayerNormalization", [node("LayerNormalization", ["x", "g", "b"], ["y"])], x, norm)
    middle = {"x": _array(8, 40, 97)}
    for axes in ((), (0, 1, 2)):
        for op in ("ReduceMean", "ReduceMax"):
            at = {"a": np.array([1])}
            yield _case(f"{op} middle", [node(op, ["x", "a"], ["y"])], middle, at, open_axes=axes)
        for axis in (1, 2):
            nodes = [node("Softmax", ["x"], ["y"], axis=axis)]
            yield _case(f"Softmax axis {axis} of 3", nodes, middle, open_axes=axes)
    for rows, count, of in (
        (1, 1, 32000),
        (1, 50, 32000),
        (64, 5, 1000),
        (1, 300, 8400),
        (300, 8, 80),
    ):
        yield _case(
            f"TopK {count} of {rows}x{of}",
            [node("TopK", ["x", "k"], ["y", "i"])],
            {"x": _array(rows, of)},
            {"k": np.array([count])},
        )


def _movement() -> Iterator[Case]:
    x = {"x": _array(512, 512)}
    yield _case("Transpose", [node("Transpose", ["x"], ["y"])], x)
    for kind in (np.float16, np.uint8, np.int8, np.int64):
        turned = {"x": x["x"].astype(kind)}
        name = f"Transpose {np.dtype(kind).name}"
        yield _case(name, [node("Transpose", ["x"], ["y"])], turned)
        yield _case(name, [node("Transpose", ["x"], ["y"])], turned, open_axes=(0, 1))
    image = {"x": _bytes(1, 224, 224, 3)}
    for pixel in (np.uint8, np.float32):
        pixels = {"x": image["x"].astype(pixel)}
        name = f"Transpose to NCHW {np.dtype(pixel).name}"
        yield _case(name, [node("Transpose", ["x"], ["y"], perm=[0, 3, 1, 2])], pixels)
    heads = {"x": _array(1, 128, 12, 64)}
    yield _case("Transpose heads", [node("Transpose", ["x"], ["y"], perm=[0, 2, 1, 3])], heads)
    rows = {"i": _random.integers(0, 512, 128)}
    for axis in (0, 1):
        yield _case(f"Gather axis {axis}", [node("Gather", ["x", "i"], ["y"], axis=axis)], x, rows)
        yield _case(f"Concat axis {axis}", [node("Concat", ["x", "x"], ["y"], axis=axis)], x)
        parts = [node("Split", ["x"], ["y", "z"], axis=axis, num_outputs=2)]
        yield _case(f"Split axis {axis}", parts, x)
    pads = {"p": np.array([1, 1, 1, 1])}
    for mode in ("constant", "reflect", "edge", "wrap"):
        yield _case(f"Pad {mode}", [node("Pad", ["x", "p"], ["y"], mode=mode)], x, pads)
        yield _case(
            f"Pad {mode}", [node("Pad", ["x", "p"], ["y"], mode=mode)], x, pads, open_axes=(0, 1)
        )
    image = {"x": _array(1, 32, 64, 64)}
    pads = {"p": np.array([0, 0, 3, 3, 0, 0, 3, 3])}
    yield _case("Pad reflect image", [node("Pad", ["x", "p"], ["y"], mode="reflect")], image, pads)
    steps = {"s": np.array([1, 0]), "e": np.array([511, 512]), "a": np.array([0, 1])}
    for by in (1, 2, -1):
        cut = steps | {"t": np.array([by, 2])}
        if by < 0:
            cut |= {"s": np.array([-1, 0]), "e": np.array([-600, 512]), "t": np.array([-1, 1])}
        yield _case(f"Slice by {by}", [node("Slice", ["x", "s", "e", "a", "t"], ["y"])], x, cut)
    yield _case("Tile", [node("Tile", ["x", "r"], ["y"])], x, {"r": np.array([2, 2])})
    wide = {"s": np.array([64, 8, 512])}
    yield _case("Expand", [node("Expand", ["x", "s"], ["y"])], {"x": _array(8, 1)}, wide)
    yield _case("Trilu", [node("Trilu", ["x"], ["y"])], x)
    yield _case("Trilu upper", [node("Trilu", ["x"], ["y"], upper=0)], x)


def _indexing() -> Iterator[Case]:
    x = {"x": _array(512, 512)}
    at = {"i": _random.integers(0, 512, (128, 512)), "u": _array(128, 512)}
    for axis in (0, 1):
        nodes = [node("GatherElements", ["x", "i"], ["y"], axis=axis)]
        yield _case(f"GatherElements axis {axis}", nodes, x | {"i": at["i"]})
        nodes = [node("ScatterElements", ["x", "i", "u"], ["y"], axis=axis)]
        unique = np.argsort(_array(512, 512), axis=axis)[:128]
        yield _case(f"ScatterElements axis {axis}", nodes, x | at | {"i": unique})
    nodes = [node("ScatterElements", ["x", "i", "u"], ["y"], reduction="add")]
    yield _case("ScatterElements add", nodes, x | at)
    pairs = {"i": _random.integers(0, 512, (1000, 2))}
    yield _case("GatherND", [node("GatherND", ["x", "i"], ["y"])], x | pairs)
    rows = {"i": _random.permutation(512)[:100].reshape(100, 1), "u": _array(100, 512)}
    yield _case("ScatterND", [node("ScatterND", ["x", "i", "u"], ["y"])], x | rows)
    sparse = {"x": (x["x"] > 1.2).astype(np.float32)}
    yield _case("NonZero", [node("NonZero", ["x"], ["y"])], sparse)
    mask = {"m": sparse["x"] > 0}
    yield _case("Compress", [node("Compress", ["x", "c"], ["y"], axis=0)], x | {"c": mask["m"][0]})
    yield _case(
        "Where", [node("Where", ["m", "x", "z"], ["y"])], mask | x | {"z": _array(512, 512)}
    )
    words = {"x": _random.integers(0, 500, 4000)}
    yield _case("Unique", [node("Unique", ["x"], ["y"])], words)
    depth = {"d": np.array(1000), "v": np.array([0, 1], np.float32)}
    few = {"x": words["x"][:128]}
    yield _case("OneHot", [node("OneHot", ["x", "d", "v"], ["y"])], few, depth)
    yield _case(
        "Range",
        [node("Range", ["a", "l", "t"], ["y"])],
        {"l": np.array(100000)},
        {"a": np.array(0), "t": np.array(1)},
    )
    for equation, shapes in (
        ("bhqd,bhkd->bhqk", ((1, 8, 64, 64), (1, 8, 64, 64))),
        ("bij,bjk->bik", ((8, 64, 64), (8, 64, 64))),
        ("ij,j->i", ((512, 512), (512,))),
        ("bchw,bkc->bkhw", ((1, 32, 40, 40), (1, 8, 32))),
    ):
        inputs = {key: _array(*shape) for key, shape in zip("xz", shapes, strict=True)}
        nodes = [node("Einsum", ["x", "z"], ["y"], equation=equation)]
        yield _case(f"Einsum {equation}", nodes, inputs)


def _elements() -> Iterator[Case]:
    x = {"x": _array(256, 512)}
    for op in (
        *("Exp", "Tanh", "Sigmoid", "Erf", "Gelu", "Softplus", "Relu", "Elu", "Selu", "Mish"),
        *("HardSwish", "HardSigmoid", "LeakyRelu", "Sin", "Cos", "Tan", "Atan", "Asinh", "Sinh"),
        *("Cosh", "Abs", "Floor", "Round", "Sign", "Reciprocal", "Celu", "Softsign", "IsNaN"),
    ):
        yield _case(op, [node(op, ["x"], ["y"])], x)
    unit = {"x": _random.uniform(-1, 1, (256, 512)).astype(np.float32)}
    for op in ("Asin", "Acos", "Atanh"):
        yield _case(op, [node(op, ["x"], ["y"])], unit)
    above = {"x": np.abs(x["x"]) + 1}
    for op in ("Log", "Sqrt", "Acosh"):
        yield _case(op, [node(op, ["x"], ["y"])], above)
    yield _case("Gelu tanh", [node("Gelu", ["x"], ["y"], approximate="tanh")], x)
    other = {"z": np.abs(_array(256, 512)) + 0.01}
    for op in ("Add", "Div", "Pow", "Max", "Less"):
        yield _case(op, [node(op, ["x", "z"], ["y"])], x | other)
    yield _case("Pow 2", [node("Pow", ["x", "z"], ["y"])], x, {"z": np.array(2, np.float32)})
    yield _case(
        "Pow 0.5", [node("Pow", ["x", "z"], ["y"])], above, {"z": np.array(0.5, np.float32)}
    )
    yield _case("Mod float", [node("Mod", ["x", "z"], ["y"], fmod=1)], x | other)
    limits = {"l": np.array(-1, np.float32), "h": np.array(1, np.float32)}
    yield _case("Clip", [node("Clip", ["x", "l", "h"], ["y"])], x, limits)
    whole = {"x": _random.integers(-99, 99, (256, 512)), "z": _random.integers(1, 9, (256, 512))}
    for op in ("Add", "Mul", "Div", "Mod", "Equal"):
        yield _case(f"{op} int64", [node(op, ["x", "z"], ["y"])], whole)
    for row, shape in (("row", (512,)), ("column", (256, 1)), ("scalar", ())):
        yield _case(f"Add {row}", [node("Add", ["x", "z"], ["y"])], x | {"z": _array(*shape)})
    twice = {"x": x["x"].astype(np.float64)}
    for op in ("Exp", "Tanh", "Sin", "Cos", "Log"):
        values = {"x": np.abs(twice["x"])} if op == "Log" else twice
        yield _case(f"{op} float64", [node(op, ["x"], ["y"])], values)
    half = {"x": x["x"].astype(np.float16)}
    for op in ("Relu", "Tanh", "Sigmoid"):
        yield _case(f"{op} float16", [node(op, ["x"], ["y"])], half)
    yield _case("Add float16", [node("Add", ["x", "x"], ["y"])], half)
    for source, target in (
        (np.float32, np.float16),
        (np.float16, np.float32),
        (np.uint8, np.float32),
        (np.int64, np.float32),
        (np.float32, np.int64),
        (np.float32, np.uint8),
        (np.int64, np.int32),
    ):
        kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(target))
        name = f"Cast {np.dtype(source).name} {np.dtype(target).name}"
        values = {"x": (np.abs(x["x"]) * 50).astype(source)}
        yield _case(name, [node("Cast", ["x"], ["y"], to=kind)], values)
    scale = {"s": np.array(0.02, np.float32), "z": np.array(128, np.uint8)}
    yield _case("QuantizeLinear", [node("QuantizeLinear", ["x", "s", "z"], ["y"])], x, scale)
    coded = {"x": _bytes(256, 512)}
    yield _case(
        "DequantizeLinear", [node("DequantizeLinear", ["x", "s", "z"], ["y"])], coded, scale
    )


def _cases() -> Iterator[Case]:
    for family in (
        _recurrent,
        _products,
        _quantized,
        _narrow,
        _convolutions,
        _channels_last,
        _depthwise,
        _windows,
        _vision,
        _norms,
        _rows,
        _movement,
        _indexing,
        _elements,
    ):
        yield from family()


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
    """Seconds of each of the runs, which take turns."""
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
    most = max(difference(got, want) for got, want in pairs)
    runs = (lambda: ours.run(None, feeds), lambda: peer.run(None, feeds))
    mine, theirs = timings(runs, seconds, threads)
    return mine, theirs, most


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
