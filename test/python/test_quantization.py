# ===- test_quantization.py - Linear quantization ---------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear against ONNX's reference."""

from __future__ import annotations

from typing import Any

import loopc
import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator
from single_node import element_type, node_model, run_node

FLOAT8 = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz,
          ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz]  # fmt: skip
FLOAT4 = ml_dtypes.float4_e2m1fn
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, ml_dtypes.int4, ml_dtypes.uint4,
            ml_dtypes.int2, ml_dtypes.uint2]  # fmt: skip
QUANTIZED = [*INTEGERS, *FLOAT8, FLOAT4]


def name_of(dtype: Any) -> str:
    return np.dtype(dtype).name


def numbers(x: np.ndarray) -> np.ndarray:
    """Values in a type that can be compared."""
    return x.astype(np.float64)


def run_both(
    op: str, operands: list[np.ndarray | None], result: Any, opset: int, **attributes: Any
) -> tuple[np.ndarray, np.ndarray]:
    """What loopc, which does not know the extents, and the reference compute."""
    names = ["" if v is None else f"x{k}" for k, v in enumerate(operands)]
    node = helper.make_node(op, names, ["y"], **attributes)
    feeds = {n: v for n, v in zip(names, operands, strict=True) if v is not None}
    model = node_model([node], feeds, {"y": result}, opset, dynamic=True)
    with np.errstate(all="ignore"):
        expected = ReferenceEvaluator(onnx.load_from_string(model)).run(None, feeds)[0]
    (got,) = loopc.InferenceSession(model).run(None, feeds)
    assert got.dtype == np.dtype(result)
    return got, expected


def samples(shape: tuple[int, ...], dtype: Any, spread: float = 300) -> np.ndarray:
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(shape) * spread).astype(np.float32)
    x.flat[0], x.flat[1], x.flat[2] = 0.0, -0.0, 2.5
    return x.astype(dtype)


def zeros_of(dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Zero points: 0 for floats, 1 or so for integers."""
    if dtype in INTEGERS:
        return (np.arange(int(np.prod(shape))).reshape(shape) % 2).astype(dtype)
    return np.zeros(shape).astype(dtype)


# Scale shape, attributes for an input of shape [4, 6].
GRANULARITIES = {
    "tensor": ((), {}),
    "one element": ((1,), {}),
    "axis 1": ((6,), {}),
    "axis 0": ((4,), {"axis": 0}),
    "axis -1": ((6,), {"axis": -1}),
    "blocks of 3": ((4, 2), {"axis": 1, "block_size": 3}),
    "blocks of 4": ((4, 2), {"axis": -1, "block_size": 4}),
    "blocks of 2 along 0": ((2, 6), {"axis": 0, "block_size": 2}),
}


def scales(shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    count = int(np.prod(shape))
    return (0.5 + np.arange(count).reshape(shape) / 4).astype(dtype)


@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize("target", QUANTIZED, ids=name_of)
def test_quantize(target: Any, granularity: str) -> None:
    shape, attributes = GRANULARITIES[granularity]
    x = samples((4, 6), np.float32, 300 if np.dtype(target).itemsize > 1 else 40)
    got, expected = run_both(
        "QuantizeLinear", [x, scales(shape), zeros_of(target, shape)], target, 25, **attributes
    )
    np.testing.assert_array_equal(numbers(got), numbers(expected))
    if target in FLOAT8 or target is FLOAT4:
        np.testing.assert_array_equal(got.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize("source", [*QUANTIZED, np.int32], ids=name_of)
def test_dequantize(source: Any, granularity: str) -> None:
    shape, attributes = GRANULARITIES[granularity]
    x = samples((4, 6), np.float32, 1).astype(np.int8).astype(source)
    zero = None if source is np.int32 else zeros_of(source, shape)
    got, expected = run_both(
        "DequantizeLinear", [x, scales(shape), zero], np.float32, 25, **attributes
    )
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("attributes", [{}, {"axis": 1}, {"axis": 5}])
@pytest.mark.parametrize("shape", [(), (1,)])
def test_scalars(shape: tuple[int, ...], attributes: dict[str, int]) -> None:
    """A scale of the whole tensor has no axis, whatever the attribute says."""
    x, scale, zero = (
        np.array(3, np.float32),
        np.full(shape, 0.5, np.float32),
        np.zeros(shape, np.int8),
    )
    for dynamic in (False, True):
        (q,) = run_node("QuantizeLinear", x, scale, zero, opset=21, results=[np.int8],
                        dynamic=dynamic and not shape, **attributes)  # fmt: skip
        (back,) = run_node("DequantizeLinear", q, scale, zero, opset=21, results=[np.float32],
                           dynamic=dynamic and not shape, **attributes)  # fmt: skip
        assert (q.shape, q.item(), back.shape, back.item()) == ((), 6, (), 3)


@pytest.mark.parametrize(("opset", "target"), [(10, np.uint8), (13, np.int8), (19, np.uint8),
                                               (19, FLOAT8[0]), (21, np.int16), (23, FLOAT4),
                                               (24, FLOAT4), (28, np.uint8)])  # fmt: skip
def test_versions(opset: int, target: Any) -> None:
    x, scale = samples((4, 6), np.float32, 40), np.array(0.75, np.float32)
    zero = zeros_of(target, ())
    got, expected = run_both("QuantizeLinear", [x, scale, zero], target, opset)
    np.testing.assert_array_equal(numbers(got), numbers(expected))
    (fixed,) = run_node("QuantizeLinear", x, scale, zero, opset=opset, results=[target])
    np.testing.assert_array_equal(numbers(fixed), numbers(expected))
    # The reference does not have all versions.
    (back,) = run_node("DequantizeLinear", got, scale, zero, opset=opset, results=[np.float32])
    real = got.astype(np.float32) - zero.astype(np.float32)
    np.testing.assert_array_equal(back, real * scale)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=name_of)
@pytest.mark.parametrize("target", [np.int8, ml_dtypes.uint4, FLOAT8[0], FLOAT8[2]], ids=name_of)
def test_half_precision(dtype: Any, target: Any) -> None:
    """The quotient is rounded to the type of the scale before it is quantised."""
    x, scale = samples((16, 64), dtype, 30), np.array(0.3, dtype)
    zero = zeros_of(target, ())
    got, expected = run_both("QuantizeLinear", [x, scale, zero], target, 25)
    np.testing.assert_array_equal(numbers(got), numbers(expected))
    back, expected = run_both("DequantizeLinear", [got, scale, zero], dtype, 25)
    np.testing.assert_array_equal(numbers(back), numbers(expected))


def test_precision() -> None:
    """'precision' is the type of the division."""
    x, scale = samples((16, 64), np.float32, 30), np.array(0.3, np.float32)
    for precision in (np.float16, ml_dtypes.bfloat16, np.float32):
        got, expected = run_both("QuantizeLinear", [x, scale], np.uint8, 23,
                                 precision=element_type(precision))  # fmt: skip
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("target", FLOAT8, ids=name_of)
@pytest.mark.parametrize("saturate", [0, 1])
def test_saturate(target: Any, saturate: int) -> None:
    x = np.array([1e9, -1e9, np.inf, -np.inf, np.nan, 1, 448, 470, 57344, -0.0], np.float32)
    got, expected = run_both("QuantizeLinear", [x, np.array(1, np.float32)], target, 25,
                             output_dtype=element_type(target), saturate=saturate)  # fmt: skip
    np.testing.assert_array_equal(got.view(np.uint8), expected.view(np.uint8))


def test_integers_saturate() -> None:
    """Numbers that no integer of 32 bits holds stay on their side; NaN is the least."""
    x = np.array([1e30, -1e30, np.inf, -np.inf, np.nan, 127.5, -128.5, 0.5, 1.5], np.float32)
    zero = np.array(-5, np.int8)
    (got,) = run_node("QuantizeLinear", x, np.float32(1), zero, opset=21, results=[np.int8])
    np.testing.assert_array_equal(got, [127, -128, 127, -128, -128, 123, -128, -5, -3])


@pytest.mark.parametrize("source", [np.int32], ids=name_of)
def test_integers_are_quantised(source: Any) -> None:
    x = np.array([-1000, -3, 0, 5, 7, 10**9], source)
    got, expected = run_both("QuantizeLinear", [x, np.array(2.5, np.float32)], np.uint8, 13)
    np.testing.assert_array_equal(got, np.minimum(expected, 255))


def test_exponent_scales() -> None:
    """MX formats: blocks of float4 that share a power of two."""
    e8m0 = ml_dtypes.float8_e8m0fnu
    x = samples((4, 6), np.float32, 3)
    scale = np.array([[1, 2], [0.5, 4], [1, 1], [0.25, 8]], np.float32).astype(e8m0)
    attributes = {"axis": 1, "block_size": 3}
    got, expected = run_both("QuantizeLinear", [x, scale], FLOAT4, 24,
                             output_dtype=element_type(FLOAT4), **attributes)  # fmt: skip
    np.testing.assert_array_equal(got.view(np.uint8), expected.view(np.uint8))
    back, expected = run_both("DequantizeLinear", [got, scale], np.float32, 24,
                              output_dtype=element_type(np.float32), **attributes)  # fmt: skip
    np.testing.assert_array_equal(back, expected)


def test_output_dtype_of_dequantize() -> None:
    x, scale = np.arange(-8, 8, dtype=np.int8), np.array(0.3, np.float32)
    got, expected = run_both("DequantizeLinear", [x, scale], np.float16, 23,
                             output_dtype=element_type(np.float16))  # fmt: skip
    np.testing.assert_array_equal(got, expected)


def test_empty() -> None:
    x = np.zeros((0, 6), np.float32)
    (got,) = run_node("QuantizeLinear", x, scales((6,)), opset=21, results=[np.uint8])
    assert got.shape == (0, 6)


def test_wrong_shapes() -> None:
    """One clear error, at compile time or of the run."""
    x = samples((4, 6), np.float32)
    with pytest.raises(loopc.CompileError):
        run_node("QuantizeLinear", x, scales((5,)), opset=21, results=[np.uint8])
    with pytest.raises(loopc.CompileError):
        run_node("QuantizeLinear", x, scales((4, 4)), opset=21, results=[np.uint8], block_size=2)
    with pytest.raises(loopc.RunError, match="the scale"):
        run_node("QuantizeLinear", x, scales((5,)), opset=21, results=[np.uint8], dynamic=True)
    with pytest.raises(loopc.RunError, match="blocks"):
        run_node("QuantizeLinear", x, scales((4, 4)), opset=21, results=[np.uint8], dynamic=True,
                 block_size=2)  # fmt: skip


@pytest.mark.parametrize("x", [
    np.array([0, 2, -3, -2.5, 1.34, 0.5], np.float32), np.array([-1, -2.1, -1.3, -2.5], np.float32),
    np.array([[1, 2.1, 1.3], [2.5, 3.34, 4.0]], np.float32), np.zeros(4, np.float32),
    np.array(3.5, np.float32), samples((50, 40), np.float32)])  # fmt: skip
def test_dynamic_quantize(x: np.ndarray) -> None:
    node = helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])
    outputs = {"y": np.uint8, "s": np.float32, "z": np.uint8}
    model = node_model([node], {"x": x}, outputs, 11, dynamic=True)
    expected = ReferenceEvaluator(onnx.load_from_string(model)).run(None, {"x": x})
    for got, want in zip(loopc.InferenceSession(model).run(None, {"x": x}), expected, strict=True):
        assert got.shape == want.shape
        np.testing.assert_array_equal(got, want)


def test_matmul_of_small_floats() -> None:
    """QLinearMatMul's sums of 8-bit floats are f32; types may be mixed."""
    e4m3, e5m2 = FLOAT8[0], FLOAT8[2]
    rng = np.random.default_rng(0)
    a = (rng.standard_normal((5, 7)) * 4).astype(np.float32).astype(e4m3)
    b = (rng.standard_normal((7, 3)) * 4).astype(np.float32).astype(e5m2)
    product = a.astype(np.float32) @ b.astype(np.float32)
    scale_a, scale_b, scale_y = np.float32(0.5), np.float32(0.25), np.float32(0.125)
    for target, zero in ((e4m3, 0), (np.int8, 3), (np.uint8, 128)):
        (got,) = run_node(
            "QLinearMatMul", a, scale_a, np.zeros((), e4m3), b, scale_b, np.zeros((), e5m2),
            scale_y, np.array(zero, target), opset=21, results=[target], dynamic=True,
        )  # fmt: skip
        scaled = product * (scale_a * scale_b / scale_y)
        if target is e4m3:
            expected = onnx.numpy_helper.saturate_cast(scaled, np.dtype(e4m3))
        else:
            info = np.iinfo(target)
            expected = np.clip(np.rint(scaled) + zero, info.min, info.max).astype(target)
        np.testing.assert_array_equal(numbers(got), numbers(expected))


@pytest.mark.parametrize("dtype", FLOAT8, ids=name_of)
def test_dropout_of_small_floats(dtype: Any) -> None:
    """Dropout moves 8-bit floats, and its ratio may be one."""
    x = np.arange(256, dtype=np.uint8).view(dtype)
    for ratio, training in ((0.5, False), (0, True)):
        (got,) = run_node("Dropout", x, np.array(ratio, dtype), np.array(training), opset=22)
        np.testing.assert_array_equal(numbers(got), numbers(x))


#: What moves elements, or takes the largest: attributes, and the other operands.
MOVES: list[tuple[str, dict[str, Any], dict[str, list[int]]]] = [
    ("Transpose", {"perm": [0, 2, 3, 1]}, {}),
    ("Reshape", {}, {"shape": [0, -1, 2]}),
    ("Flatten", {}, {}),
    ("Unsqueeze", {}, {"axes": [1]}),
    ("Squeeze", {}, {"axes": [0]}),
    ("Slice", {}, {"starts": [1], "ends": [3], "axes": [1]}),
    ("Gather", {"axis": 1}, {"indices": [3, 0, -1, 2]}),
    ("Tile", {}, {"repeats": [1, 2, 1, 1]}),
    ("Expand", {}, {"shape": [3, 4, 6, 8]}),
    ("DepthToSpace", {"blocksize": 2}, {}),
    ("SpaceToDepth", {"blocksize": 2}, {}),
    ("MaxPool", {"kernel_shape": [3, 3], "pads": [1] * 4, "strides": [2, 2]}, {}),
]


@pytest.mark.parametrize("open_axes", [False, True])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("op,attributes,operands", MOVES)
def test_integers_that_are_moved(
    op: str,
    attributes: dict[str, Any],
    operands: dict[str, list[int]],
    dtype: type[np.integer[Any]],
    open_axes: bool,
) -> None:
    """Quantized as before, behind a move, integers are the same; as otherwise, they are not."""
    shape: list[str | int | None] = [1, 4, "H", "W"] if open_axes else [1, 4, 6, 8]
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    constants = {key: np.array(value) for key, value in operands.items()}
    constants |= {"scale": np.array(0.05, np.float32), "zero": np.array(7, dtype)}
    constants["other"] = np.array(0.07, np.float32)
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "scale", "zero"], ["f"]),
        helper.make_node(op, ["f", *operands], ["moved"], **attributes),
        helper.make_node("QuantizeLinear", ["moved", "scale", "zero"], ["y"]),
        helper.make_node("DequantizeLinear", ["x", "scale", "zero"], ["g"]),
        helper.make_node(op, ["g", *operands], ["turned"], **attributes),
        helper.make_node("QuantizeLinear", ["turned", "other", "zero"], ["z"]),
    ]
    graph = helper.make_graph(
        nodes,
        "moves",
        [helper.make_tensor_value_info("x", element, shape)],
        [helper.make_tensor_value_info(name, element, None) for name in "yz"],
        [onnx.numpy_helper.from_array(value, key) for key, value in constants.items()],
    )
    opsets = [helper.make_opsetid("", 21)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    limits = np.iinfo(dtype)
    random = np.random.default_rng(0)
    x = random.integers(limits.min, limits.max + 1, (1, 4, 6, 8)).astype(dtype)
    got = loopc.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    for actual, expected in zip(got, ReferenceEvaluator(model).run(None, {"x": x}), strict=True):
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8], ids=name_of)
@pytest.mark.parametrize("op", ["Sigmoid", "Tanh", "Exp", "Gelu"])
def test_functions_of_bytes(op: str, dtype: Any, is_open: bool) -> None:
    # Each byte, in rows that are no whole vectors: what is looked up is what is computed
    # for the few bytes of a row.
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    every = np.arange(low, high + 1).astype(dtype)
    x = np.resize(np.random.default_rng(0).permutation(np.tile(every, 5)), (41, 31))
    constants = {"s": np.float32(0.04), "z": np.array(3, dtype), "t": np.float32(0.01)}
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["d"]),
        helper.make_node(op, ["d"], ["e"]),
        helper.make_node("QuantizeLinear", ["e", "t", "z"], ["y"]),
    ]

    def run(value: np.ndarray) -> np.ndarray:
        shape = ["m", "n"] if is_open else value.shape
        graph = helper.make_graph(
            nodes,
            "bytes",
            [helper.make_tensor_value_info("x", element_type(dtype), shape)],
            [helper.make_tensor_value_info("y", element_type(dtype), None)],
            [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
        model.ir_version = 10
        (got,) = loopc.InferenceSession(model.SerializeToString()).run(None, {"x": value})
        return got

    got = run(x)
    with np.errstate(all="ignore"):
        alone = np.concatenate([run(row[None]) for row in x[::8]])
    np.testing.assert_array_equal(got[::8], alone)
