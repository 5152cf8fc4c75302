# ===- operator_cases.py - Operators that go through elements and rows ------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The cases of operators.py that are neither sums of products nor recurrences.

Each is there with fixed and with open extents; families are generators of cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper

#: A name, a model and its inputs.
Case = tuple[str, onnx.ModelProto, dict[str, np.ndarray]]
Arrays = dict[str, Any]

node: Callable[..., onnx.NodeProto] = onnx.helper.make_node
random = np.random.default_rng(0)


def array(*shape: int, scale: float = 1.0) -> np.ndarray:
    """Normally distributed numbers of f32."""
    return np.asarray(random.standard_normal(shape) * scale, np.float32)


def octets(*shape: int, signed: bool = False) -> np.ndarray:
    """Integers of 8 bits."""
    low, high, kind = (-127, 127, np.int8) if signed else (0, 255, np.uint8)
    return random.integers(low, high, shape).astype(kind)


def case(
    name: str,
    nodes: list[onnx.NodeProto],
    inputs: Arrays,
    constants: Arrays | None = None,
    *,
    open_axes: tuple[int, ...] = (),
) -> Case:
    """A model of nodes, the last of which has the outputs.

    The extents of its inputs along open_axes have names of their own.
    """
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


def both(
    name: str, nodes: list[onnx.NodeProto], inputs: Arrays, constants: Arrays | None = None
) -> Iterator[Case]:
    """With fixed extents, and with all open."""
    axes = range(max((value.ndim for value in inputs.values()), default=0))
    yield case(name, nodes, inputs, constants)
    yield case(name, nodes, inputs, constants, open_axes=tuple(axes))


def single(
    name: str, op: str, inputs: Arrays, constants: Arrays | None = None, **attributes: Any
) -> Iterator[Case]:
    """One node of all inputs, then all constants, in both forms."""
    outputs = attributes.pop("outputs", ["y"])
    operands = [*inputs, *(constants or {})]
    return both(name, [node(op, operands, outputs, **attributes)], inputs, constants)


def pools() -> Iterator[Case]:
    """Windows over images."""
    attributes: Arrays
    kernel: Arrays = {"kernel_shape": [3, 3], "pads": [1] * 4}
    two: Arrays = {"kernel_shape": [2, 2], "strides": [2, 2]}
    for shape in ((1, 64, 56, 56), (1, 64, 112, 112), (2, 32, 20, 20), (1, 256, 40, 40)):
        x = {"x": array(*shape)}
        size = f"{shape[1]}x{shape[2]}x{shape[3]}"
        for what, op, attributes in (
            ("3x3 by 2", "MaxPool", kernel | {"strides": [2, 2]}),
            ("3x3 by 1", "MaxPool", kernel),
            ("2x2 by 2", "MaxPool", two),
            ("5x5", "MaxPool", {"kernel_shape": [5, 5], "pads": [2] * 4}),
            ("2x2 by 2 indices", "MaxPool", two | {"outputs": ["y", "i"]}),
            ("3x3", "AveragePool", kernel),
            ("3x3 by 2", "AveragePool", kernel | {"strides": [2, 2]}),
            ("2x2 by 2", "AveragePool", two),
            ("3x3 ceil", "AveragePool", kernel | {"ceil_mode": 1}),
            ("", "GlobalAveragePool", {}),
            ("", "GlobalMaxPool", {}),
            ("3x3", "LpPool", kernel),
            ("5", "LRN", {"size": 5}),
        ):
            yield from single(f"{op} {what} {size}", op, x, **attributes)
    yield from single("GlobalAveragePool 8x64x7x7", "GlobalAveragePool", {"x": array(8, 64, 7, 7)})
    for op in ("MaxPool", "AveragePool"):
        for width, step in ((4, 4), (2, 2), (3, 1)):
            row: Arrays = {"kernel_shape": [width], "strides": [step]}
            yield from single(
                f"{op} {width} by {step} 64x1600", op, {"x": array(1, 64, 1600)}, **row
            )
    whole = {"x": octets(1, 64, 56, 56)}
    yield from single("MaxPool 3x3 by 2 uint8", "MaxPool", whole, strides=[2, 2], **kernel)


def images() -> Iterator[Case]:
    """Sizes, samples and boxes of images."""
    attributes: Arrays
    for shape in ((1, 64, 28, 28), (1, 3, 224, 224), (1, 16, 100, 70)):
        x = {"x": array(*shape)}
        size = "x".join(map(str, shape[1:]))
        for mode in ("nearest", "linear", "cubic"):
            for what, scale in (("2", (2, 2)), ("uneven", (1.7, 0.6)), ("half", (0.5, 0.5))):
                factors = {"s": np.array([1, 1, *scale], np.float32)}
                resize = [node("Resize", ["x", "", "s"], ["y"], mode=mode)]
                yield from both(f"Resize {mode} {what} {size}", resize, x, factors)
        sizes = {"z": np.array([*shape[:2], 64, 64])}
        for mode in ("nearest", "linear"):
            resize = [node("Resize", ["x", "", "", "z"], ["y"], mode=mode)]
            yield from both(f"Resize {mode} to 64x64 {size}", resize, x, sizes)
            resize = [
                node(
                    "Resize",
                    ["x", "", "", "z"],
                    ["y"],
                    mode=mode,
                    coordinate_transformation_mode="align_corners",
                )
            ]
            yield from both(f"Resize {mode} corners {size}", resize, x, sizes)
    x = {"x": array(1, 64, 56, 56)}
    for op, attributes in (
        ("DepthToSpace", {"blocksize": 2}),
        ("DepthToSpace", {"blocksize": 2, "mode": "CRD"}),
        ("SpaceToDepth", {"blocksize": 2}),
    ):
        yield from single(f"{op} {attributes.get('mode', '')}".strip(), op, x, **attributes)
    x = {"x": array(1, 32, 40, 40)}
    grid = {"g": np.clip(array(1, 30, 30, 2, scale=0.5), -1.2, 1.2)}
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            attributes = {"mode": mode, "padding_mode": padding}
            yield from single(f"GridSample {mode} {padding}", "GridSample", x | grid, **attributes)
    corners = random.uniform(0, 20, (50, 2)).astype(np.float32)
    boxes = np.concatenate([corners, corners + 15], axis=1)
    rois = {"r": boxes, "b": np.zeros(50, np.int64)}
    yield from single("RoiAlign", "RoiAlign", x | rois, output_height=7, output_width=7)
    corners = random.uniform(0, 1, (1, 1000, 2)).astype(np.float32)
    found = {
        "b": np.concatenate([corners, corners + 0.1], axis=2),
        "s": random.uniform(0, 1, (1, 4, 1000)).astype(np.float32),
    }
    limits = {
        "m": np.array([50]),
        "o": np.array([0.5], np.float32),
        "t": np.array([0.5], np.float32),
    }
    yield from single("NonMaxSuppression", "NonMaxSuppression", found, limits)


def norms() -> Iterator[Case]:
    """Normalisations of images and rows."""
    for channels, size in ((64, 56), (32, 20), (320, 16)):
        x = {"x": array(1, channels, size, size)}
        norm = {"g": array(channels), "b": array(channels)}
        norm |= {"m": array(channels), "v": np.abs(array(channels)) + 0.1}
        for op, inputs, attributes in (
            ("InstanceNormalization", "gb", {}),
            ("GroupNormalization", "gb", {"num_groups": 8}),
            ("BatchNormalization", "gbmv", {}),
            ("PRelu", "g", {}),
            ("MeanVarianceNormalization", "", {}),
        ):
            constants = {key: norm[key] for key in inputs}
            if op == "PRelu":
                constants["g"] = constants["g"].reshape(channels, 1, 1)
            yield from single(f"{op} {channels}x{size}x{size}", op, x, constants, **attributes)
    for rows, width in ((128, 768), (16, 384), (512, 64), (1, 4096)):
        x = {"x": array(1, rows, width)}
        norm = {"g": array(width), "b": array(width)}
        name = f"{rows}x{width}"
        yield from single(f"LayerNormalization {name}", "LayerNormalization", x, norm)
        half = {key: value.astype(np.float16) for key, value in (x | norm).items()}
        weights = {key: half[key] for key in "gb"}
        x16 = {"x": half["x"]}
        yield from single(f"LayerNormalization {name} f16", "LayerNormalization", x16, weights)
        yield from single(f"LpNormalization {name}", "LpNormalization", x)
        square = [
            node("Mul", ["x", "x"], ["q"]),
            node("ReduceMean", ["q", "a"], ["m"]),
            node("Add", ["m", "e"], ["n"]),
            node("Sqrt", ["n"], ["r"]),
            node("Div", ["x", "r"], ["d"]),
            node("Mul", ["d", "g"], ["y"]),
        ]
        constants = {"a": np.array([-1]), "e": np.array(1e-5, np.float32), "g": norm["g"]}
        yield from both(f"RMS norm {name}", square, x, constants)


REDUCTIONS = (
    *("ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2"),
    *("ReduceLogSumExp", "ReduceSumSquare", "ReduceLogSum"),
)


def rows() -> Iterator[Case]:
    """Functions, sums and places of rows, along each axis."""
    for shape, axes in (
        ((64, 1000), (0, 1)),
        ((8, 40, 97), (0, 1, 2)),
        ((2, 128, 512), (1, 2)),
        ((12, 64, 64), (2,)),
        ((1, 32000), (1,)),
        ((2000, 7), (0, 1)),
        ((8400, 4), (0,)),
        ((20003, 3), (0,)),
    ):
        x = {"x": array(*shape)}
        positive = {"x": np.abs(x["x"]) + 0.1}
        whole = {"x": random.integers(-99, 99, shape)}
        for axis in axes:
            name = f"{'x'.join(map(str, shape))} axis {axis}"
            for op in ("Softmax", "LogSoftmax", "Hardmax", "ArgMax", "ArgMin"):
                yield from single(f"{op} {name}", op, x, axis=axis)
            half = {"x": x["x"].astype(np.float16)}
            yield from single(f"Softmax {name} f16", "Softmax", half, axis=axis)
            for op in REDUCTIONS:
                values = positive if op == "ReduceLogSum" else x
                yield from single(f"{op} {name}", op, values, {"a": np.array([axis])})
                if op in ("ReduceSum", "ReduceMax"):
                    at = {"a": np.array([axis])}
                    yield from single(f"{op} {name} int64", op, whole, at)
            for kind, values in (("", x), (" int64", whole), (" float16", half)):
                at = {"a": np.array(axis)}
                yield from single(f"CumSum {name}{kind}", "CumSum", values, at)
                rows_open = [node("CumSum", ["x", "a"], ["y"])]
                yield case(f"CumSum {name}{kind}", rows_open, values, at, open_axes=(0,))
    image = {"x": array(1, 64, 56, 56)}
    for op in ("ReduceMean", "ReduceMax", "ReduceSum"):
        for over in ((2, 3), (1,), (0, 2, 3), (1, 2, 3)):
            name = f"{op} 64x56x56 {','.join(map(str, over))}"
            yield from single(name, op, image, {"a": np.array(over)})
    for count, most, of in (
        (1, 1, 32000),
        (1, 50, 32000),
        (64, 5, 1000),
        (64, 1, 1000),
        (1, 300, 8400),
        (300, 8, 80),
        (16, 2, 8),
    ):
        x, k = {"x": array(count, of)}, {"k": np.array([most])}
        yield from single(f"TopK {most} of {count}x{of}", "TopK", x, k, outputs=["y", "i"])
    x = {"x": array(64, 1000)}
    yield from single(
        "TopK 5 of 64x1000 axis 0", "TopK", x, k | {"k": np.array([5])}, axis=0, outputs=["y", "i"]
    )


def transposes() -> Iterator[Case]:
    """Orders of axes."""
    for kind in (np.float32, np.float16, np.int8, np.int64):
        what = np.dtype(kind).name
        for shape, order in (
            ((512, 512), (1, 0)),
            ((1000, 3), (1, 0)),
            ((3, 1000), (1, 0)),
            ((2, 128, 64), (0, 2, 1)),
            ((128, 2, 64), (1, 0, 2)),
            ((1, 224, 224, 3), (0, 3, 1, 2)),
            ((1, 3, 224, 224), (0, 2, 3, 1)),
            ((1, 56, 56, 64), (0, 3, 1, 2)),
            ((1, 64, 56, 56), (0, 2, 3, 1)),
            ((1, 128, 12, 64), (0, 2, 1, 3)),
            ((1, 12, 128, 64), (0, 1, 3, 2)),
            ((8, 1, 5, 200), (3, 0, 1, 2)),
        ):
            x = {"x": (array(*shape) * 10).astype(kind)}
            name = f"Transpose {shape} {order} {what}".replace(", ", "x")
            yield from single(name, "Transpose", x, perm=list(order))


def movement() -> Iterator[Case]:
    """Copies of parts."""
    for kind in (np.float32, np.int8, np.int64):
        what = f" {np.dtype(kind).name}" if kind != np.float32 else ""
        x = {"x": (array(512, 512) * 10).astype(kind)}
        for axis in (0, 1):
            twice = [node("Concat", ["x", "x"], ["y"], axis=axis)]
            yield from both(f"Concat axis {axis}{what}", twice, x)
            halves: Arrays = {"axis": axis, "num_outputs": 2, "outputs": ["y", "z"]}
            yield from single(f"Split axis {axis}{what}", "Split", x, **halves)
        pads = {"p": np.array([1, 1, 1, 1])}
        for mode in ("constant", "reflect", "edge", "wrap"):
            yield from single(f"Pad {mode}{what}", "Pad", x, pads, mode=mode)
        for by in (1, 2, -1):
            cut = {"s": np.array([1, 0]), "e": np.array([511, 512]), "a": np.array([0, 1])}
            cut |= {"t": np.array([by, 2])}
            if by < 0:
                cut |= {"s": np.array([-1, 0]), "e": np.array([-600, 512]), "t": np.array([-1, 1])}
            yield from single(f"Slice by {by}{what}", "Slice", x, cut)
        cut = {"s": np.array([5]), "e": np.array([500]), "a": np.array([1])}
        yield from single(f"Slice columns{what}", "Slice", x, cut)
        yield from single(f"Tile{what}", "Tile", x, {"r": np.array([2, 2])})
        if kind != np.int8:  # onnxruntime has none
            yield from single(f"Trilu{what}", "Trilu", x)
    image = {"x": array(1, 32, 64, 64)}
    for mode in ("constant", "reflect", "edge"):
        pads = {"p": np.array([0, 0, 3, 3, 0, 0, 3, 3])}
        yield from single(f"Pad {mode} image", "Pad", image, pads, mode=mode)
    small = {"x": array(1, 8, 64), "z": array(1, 120, 64)}
    yield from single("Concat of a cache", "Concat", small, axis=1)
    parts = {key: array(1, 16, 28, 28) for key in "abcd"}
    yield from single("Concat of channels", "Concat", parts, axis=1)
    columns = {key: array(1000, 1) for key in "abcd"}
    yield from single("Concat of columns", "Concat", columns, axis=1)
    for name, shape, wide in (
        ("column", (8, 1), (64, 8, 512)),
        ("row", (1, 512), (256, 512)),
        ("middle", (16, 1, 64), (16, 32, 64)),
    ):
        yield from single(f"Expand {name}", "Expand", {"x": array(*shape)}, {"s": np.array(wide)})
    lengths = {"n": np.arange(1, 17) * 4}
    yield from single("ReverseSequence", "ReverseSequence", {"x": array(64, 16, 64)}, lengths)


def indexing() -> Iterator[Case]:
    """Elements and rows by their numbers."""
    for kind in (np.float32, np.int64):
        what = f" {np.dtype(kind).name}" if kind != np.float32 else ""
        x = {"x": (array(512, 512) * 10).astype(kind)}
        some = {"i": random.integers(0, 512, 128)}
        for axis in (0, 1):
            yield from single(f"Gather axis {axis}{what}", "Gather", x | some, axis=axis)
            at = {"i": random.integers(0, 512, (128, 512))}
            yield from single(
                f"GatherElements axis {axis}{what}", "GatherElements", x | at, axis=axis
            )
            once = {"i": np.argsort(array(512, 512), axis=axis)[:128]}
            once |= {"u": array(128, 512).astype(kind)}
            name = f"ScatterElements axis {axis}{what}"
            yield from single(name, "ScatterElements", x | once, axis=axis)
        many = {"i": random.integers(0, 512, (128, 512)), "u": array(128, 512).astype(kind)}
        name = f"ScatterElements add{what}"
        yield from single(name, "ScatterElements", x | many, reduction="add")
        pairs = {"i": random.integers(0, 512, (1000, 2))}
        yield from single(f"GatherND{what}", "GatherND", x | pairs)
        lines = {"i": random.integers(0, 512, (1000, 1))}
        yield from single(f"GatherND of rows{what}", "GatherND", x | lines)
        lines = {"i": random.permutation(512)[:100].reshape(100, 1)}
        lines |= {"u": array(100, 512).astype(kind)}
        yield from single(f"ScatterND{what}", "ScatterND", x | lines)
    words = {"x": array(30000, 384), "i": random.integers(0, 30000, (1, 128))}
    yield from single("Gather of words", "Gather", words)
    letters = {"x": array(64, 16), "i": random.integers(0, 64, (1, 1000))}
    yield from single("Gather of letters", "Gather", letters)
    x = {"x": array(512, 512)}
    sparse = {"x": np.greater(x["x"], 1.2).astype(np.float32)}
    mask = {"m": sparse["x"] > 0}
    yield from single("NonZero", "NonZero", sparse)
    yield from single("NonZero bool", "NonZero", mask)
    yield from single("Compress", "Compress", x | {"c": mask["m"][0]}, axis=0)
    for name, shapes in (
        ("", ((512, 512), (512, 512), (512, 512))),
        (" scalar", ((512, 512), (512, 512), ())),
        (" row", ((1, 512), (512, 512), ())),
        (" column", ((512, 1), (512, 512), (512,))),
        (" mask", ((1, 1, 128, 128), (1, 12, 128, 128), ())),
    ):
        flags = {"m": np.greater(array(*shapes[0]), 0.5)}
        values = {"x": array(*shapes[1]), "z": array(*shapes[2])}
        yield from single(f"Where{name}", "Where", flags | values)
    words = {"x": random.integers(0, 500, 4000)}
    yield from single("Unique", "Unique", words)
    depth = {"d": np.array(1000), "v": np.array([0, 1], np.float32)}
    yield from single("OneHot 128 of 1000", "OneHot", {"x": words["x"][:128]}, depth)
    depth |= {"d": np.array(21)}
    yield from single("OneHot 4000 of 21", "OneHot", {"x": words["x"] % 21}, depth)
    yield from single("OneHot axis 0", "OneHot", {"x": words["x"] % 21}, depth, axis=0)
    begin = {"a": np.array(0), "l": np.array(100000), "t": np.array(1)}
    yield from both(
        "Range",
        [node("Range", ["a", "l", "t"], ["y"])],
        {"l": begin["l"]},
        {"a": begin["a"], "t": begin["t"]},
    )
    for equation, factors in (
        ("bhqd,bhkd->bhqk", ((1, 8, 64, 64), (1, 8, 64, 64))),
        ("bhqd,bhkd->bhqk", ((1, 8, 50, 32), (1, 8, 60, 32))),
        ("bij,bjk->bik", ((8, 64, 64), (8, 64, 64))),
        ("ij,j->i", ((512, 512), (512,))),
        ("bchw,bkc->bkhw", ((1, 32, 40, 40), (1, 8, 32))),
    ):
        inputs = {key: array(*shape) for key, shape in zip("xz", factors, strict=True)}
        yield from single(f"Einsum {equation}", "Einsum", inputs, equation=equation)


UNARY = (
    *("Exp", "Tanh", "Sigmoid", "Erf", "Gelu", "Softplus", "Relu", "Elu", "Selu", "Mish"),
    *("HardSwish", "HardSigmoid", "LeakyRelu", "Sin", "Cos", "Tan", "Atan", "Asinh", "Sinh"),
    *("Cosh", "Abs", "Neg", "Floor", "Ceil", "Round", "Sign", "Reciprocal", "Celu", "Softsign"),
    *("IsNaN", "IsInf", "ThresholdedRelu", "Shrink"),
)


def elements() -> Iterator[Case]:
    """Functions of elements."""
    x = {"x": array(256, 512)}
    for op in UNARY:
        yield from single(op, op, x)
    unit = {"x": random.uniform(-1, 1, (256, 512)).astype(np.float32)}
    for op in ("Asin", "Acos", "Atanh"):
        yield from single(op, op, unit)
    above = {"x": np.abs(x["x"]) + 1}
    for op in ("Log", "Sqrt", "Acosh"):
        yield from single(op, op, above)
    yield from single("Gelu tanh", "Gelu", x, approximate="tanh")
    swish = [node("Sigmoid", ["x"], ["s"]), node("Mul", ["x", "s"], ["y"])]
    yield from both("Swish", swish, x)
    small = {"x": array(16, 64)}
    for op in ("Relu", "Sigmoid", "Tanh", "Gelu"):
        yield from single(f"{op} 16x64", op, small)
    large = {"x": array(64, 112, 112)}
    for op in ("Relu", "Sigmoid", "HardSwish"):
        yield from single(f"{op} 64x112x112", op, large)
    limits = {"l": np.array(-1, np.float32), "h": np.array(1, np.float32)}
    yield from single("Clip", "Clip", x, limits)
    other = {"z": np.abs(array(256, 512)) + 0.01}
    for op in (
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Pow",
        "Max",
        "Min",
        "Less",
        "Greater",
        "Equal",
        "PRelu",
    ):
        yield from single(op, op, x | other)
    three = [node("Max", ["x", "z", "w"], ["y"])]
    yield from both("Max of 3", three, x | other | {"w": array(256, 512)})
    three = [node("Sum", ["x", "z", "w"], ["y"])]
    yield from both("Sum of 3", three, x | other | {"w": array(256, 512)})
    for power in (2.0, 0.5, 3.0, -1.0, 1.5):
        yield from single(f"Pow {power}", "Pow", above, {"z": np.array(power, np.float32)})
    yield from single("Mod float", "Mod", x | other, fmod=1)
    flags = {"x": x["x"] > 0, "z": other["z"] > 0.5}
    for op in ("And", "Or", "Xor", "Equal"):
        yield from single(f"{op} bool", op, flags)
    yield from single("Not", "Not", {"x": flags["x"]})


def types() -> Iterator[Case]:
    """Elements of other types, and conversions."""
    x = {"x": array(256, 512)}
    for kind in (np.int64, np.int32):
        whole = {
            "x": random.integers(-99, 99, (256, 512)).astype(kind),
            "z": random.integers(1, 9, (256, 512)).astype(kind),
        }
        for op in ("Add", "Sub", "Mul", "Div", "Mod", "Equal", "Less", "Max"):
            yield from single(f"{op} {np.dtype(kind).name}", op, whole)
        by = {"z": np.array(7, kind)}
        for op in ("Add", "Div", "Mod", "Equal"):
            yield from single(f"{op} {np.dtype(kind).name} constant", op, {"x": whole["x"]}, by)
    for row, shape in (("row", (512,)), ("column", (256, 1)), ("scalar", (1,))):
        for op in ("Add", "Div"):
            yield from single(f"{op} {row}", op, x | {"z": np.abs(array(*shape)) + 1})
    channels = {"x": array(1, 64, 56, 56), "z": array(64, 1, 1)}
    yield from single("Mul of channels", "Mul", channels)
    twice = {"x": x["x"].astype(np.float64)}
    for op in ("Exp", "Tanh", "Sin", "Cos", "Log"):
        values = {"x": np.abs(twice["x"])} if op == "Log" else twice
        yield from single(f"{op} float64", op, values)
    half = {"x": x["x"].astype(np.float16)}
    for op in ("Relu", "Tanh", "Sigmoid", "Gelu", "Exp"):
        yield from single(f"{op} float16", op, half)
    for op in ("Add", "Mul", "Div"):
        yield from both(f"{op} float16", [node(op, ["x", "x"], ["y"])], half)
    for source, target in (
        (np.float32, np.float16),
        (np.float16, np.float32),
        (np.uint8, np.float32),
        (np.int8, np.float32),
        (np.int64, np.float32),
        (np.int32, np.float32),
        (np.bool_, np.float32),
        (np.float32, np.bool_),
        (np.float32, np.int64),
        (np.float32, np.int32),
        (np.float32, np.uint8),
        (np.float32, np.int8),
        (np.float32, np.float64),
        (np.float64, np.float32),
        (np.int64, np.int32),
        (np.int32, np.int64),
        (np.bool_, np.int64),
    ):
        number = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(target))
        name = f"Cast {np.dtype(source).name} {np.dtype(target).name}"
        values = {"x": (np.abs(x["x"]) * 50).astype(source)}
        yield from single(name, "Cast", values, to=number)
    there = node("Cast", ["x"], ["n"], to=onnx.TensorProto.BFLOAT16)
    yield from both("Cast to bfloat16 and back", [there, node("Cast", ["n"], ["y"], to=1)], x)
    scale = {"s": np.array(0.02, np.float32), "z": np.array(128, np.uint8)}
    signed = {"s": np.array(0.02, np.float32), "z": np.array(0, np.int8)}
    rows_of = {"s": np.linspace(0.01, 0.02, 512, dtype=np.float32), "z": np.zeros(512, np.int8)}
    yield from single("QuantizeLinear", "QuantizeLinear", x, scale)
    yield from single("QuantizeLinear int8", "QuantizeLinear", x, signed)
    yield from single("QuantizeLinear columns", "QuantizeLinear", x, rows_of, axis=1)
    yield from single("DequantizeLinear", "DequantizeLinear", {"x": octets(256, 512)}, scale)
    coded = {"x": octets(256, 512, signed=True)}
    yield from single("DequantizeLinear int8", "DequantizeLinear", coded, signed)
    yield from single("DequantizeLinear columns", "DequantizeLinear", coded, rows_of, axis=1)
    sums = {"x": random.integers(-9999, 9999, (256, 512)).astype(np.int32)}
    yield from single("DequantizeLinear int32", "DequantizeLinear", sums, {"s": scale["s"]})
    outputs: Arrays = {"outputs": ["y", "s", "z"]}
    yield from single("DynamicQuantizeLinear", "DynamicQuantizeLinear", x, **outputs)


def broadcasts() -> Iterator[Case]:
    """Operands whose extents are 1 or the result's, which only a run knows."""
    kinds = {"": np.float32, " float16": np.float16, " int64": np.int64, " bool": np.bool_}
    for left, right in (
        ((256, 512), (512,)),
        ((256, 512), (1, 512)),
        ((256, 512), (256, 1)),
        ((1, 512), (256, 512)),
        ((256, 1), (1, 512)),
        ((17, 31, 65), (17, 1, 65)),
        ((17, 31, 65), (1, 31, 1)),
        ((17, 31, 65), (17, 31, 1)),
        ((2, 64, 56, 56), (1, 64, 1, 1)),
        ((1, 1, 128, 128), (1, 12, 128, 128)),
        ((4, 1), (4, 4)),
    ):
        for what, kind in kinds.items():
            values: dict[str, Any] = {
                "x": (array(*left) * 9).astype(kind),
                "z": (array(*right) * 9).astype(kind),
            }
            for op in ("And",) if kind is np.bool_ else ("Add", "Equal"):
                name = f"{op} {left} {right}{what}".replace(", ", "x")
                yield from single(name, op, values)
    chain = [node("Add", ["x", "z"], ["s"]), node("Relu", ["s"], ["r"])]
    chain.append(node("Mul", ["r", "w"], ["y"]))
    for rows, width in ((16, 64), (200, 300)):
        parts = {"x": array(rows, width), "z": array(1, width), "w": array(rows, 1)}
        yield from both(f"Add Relu Mul {rows}x{width}", chain, parts)


def odd() -> Iterator[Case]:
    """Extents that are no multiples of vectors, along each axis."""
    for kind in (np.float32, np.float16, np.int64, np.int8):
        what = f" {np.dtype(kind).name}" if kind != np.float32 else ""
        x = {"x": (array(17, 31, 65) * 9).astype(kind)}
        for axis in (0, 1, 2):
            other = [k for k in range(3) if k != axis]
            yield from single(f"Transpose odd {axis}{what}", "Transpose", x, perm=[axis, *other])
            twice = [node("Concat", ["x", "x"], ["y"], axis=axis)]
            yield from both(f"Concat odd axis {axis}{what}", twice, x)
            some = {"i": random.integers(0, x["x"].shape[axis], 11)}
            yield from single(f"Gather odd axis {axis}{what}", "Gather", x | some, axis=axis)
            cut = {"s": np.array([3]), "e": np.array([14]), "a": np.array([axis])}
            yield from single(f"Slice odd axis {axis}{what}", "Slice", x, cut)
            if kind != np.int8:
                over = {"a": np.array([axis])}
                yield from single(f"ReduceSum odd axis {axis}{what}", "ReduceSum", x, over)
                yield from single(f"ReduceMax odd axis {axis}{what}", "ReduceMax", x, over)
        if kind in (np.float32, np.float16):
            for axis in (0, 1, 2):
                yield from single(f"Softmax odd axis {axis}{what}", "Softmax", x, axis=axis)
            yield from single(f"Tanh odd{what}", "Tanh", x)
        pads = {"p": np.array([0, 1, 2, 1, 0, 3])}
        yield from single(f"Pad odd{what}", "Pad", x, pads)
        yield from single(f"Tile odd{what}", "Tile", x, {"r": np.array([2, 1, 3])})
    for rows, sums, columns in (
        (17, 31, 65),
        (1, 31, 65),
        (20, 64, 8210),
        (3, 300, 5),
        (257, 33, 9),
    ):
        nodes, b = [node("MatMul", ["a", "b"], ["y"])], {"b": array(sums, columns)}
        a, name = {"a": array(rows, sums)}, f"MatMul {rows}x{sums}x{columns}"
        yield from both(name, nodes, a | b)
        yield from both(f"{name} constant", nodes, a, b)


FAMILIES = (
    broadcasts,
    odd,
    pools,
    images,
    norms,
    rows,
    transposes,
    movement,
    indexing,
    elements,
    types,
)
