# ===- test_vector_loops.py - What loops over vectors compute ----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What loops over vectors compute: windows, sums, borders, transposes, comparisons.

Extents are around the width of a vector; special numbers are among the elements.
"""

from __future__ import annotations

from typing import Any

import loopc
import ml_dtypes
import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import onnxruntime
import pytest
from onnx.reference import ReferenceEvaluator

Array = np.ndarray[Any, Any]


def _run(
    op: str,
    inputs: dict[str, Array],
    constants: dict[str, Array] | None = None,
    *,
    is_open: bool = False,
    outputs: int = 1,
    **attributes: Any,
) -> tuple[onnx.ModelProto, list[Array]]:
    constants = constants or {}
    names = [*inputs, *constants]
    results = [f"y{k}" for k in range(outputs)]
    ports = [
        onnx.helper.make_tensor_value_info(
            name,
            onnx.helper.np_dtype_to_tensor_dtype(value.dtype),
            [f"{name}{k}" for k in range(value.ndim)] if is_open else value.shape,
        )
        for name, value in inputs.items()
    ]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(op, names, results, **attributes)],
        "vectors",
        ports,
        [onnx.ValueInfoProto(name=name) for name in results],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)])
    model.ir_version = 10
    return model, loopc.InferenceSession(model.SerializeToString()).run(None, inputs)


def _peer(model: onnx.ModelProto, inputs: dict[str, Array]) -> list[Array]:
    raw = model.SerializeToString()
    session = onnxruntime.InferenceSession(raw, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)  # type: ignore[no-any-return]


def _numbers(*shape: int, special: bool = False) -> Array:
    random = np.random.default_rng(sum(shape))
    values = random.standard_normal(shape).astype(np.float32)
    if special:
        flat = values.reshape(-1)
        places = random.permutation(flat.size)
        for k, value in enumerate((np.nan, np.inf, -np.inf, -0.0, 0.0, np.nan)):
            flat[places[k :: max(flat.size // 3, 6)]] = value
    return values


def _greatest(x: Array, kernel: int, stride: int, pad: int, dilation: int) -> Array:
    """Of each window of [N, C, H, W]; NaN where there is one."""
    around = ((0, 0), (0, 0), (pad, pad), (pad, pad))
    padded = np.pad(x, around, constant_values=-np.inf)
    reach = (kernel - 1) * dilation
    parts = [
        padded[
            :,
            :,
            i : padded.shape[2] - reach + i : stride,
            j : padded.shape[3] - reach + j : stride,
        ]
        for i in range(0, reach + 1, dilation)
        for j in range(0, reach + 1, dilation)
    ]
    result = parts[0]
    for part in parts[1:]:
        result = np.maximum(result, part)
    return result


@pytest.mark.parametrize("is_open", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize(
    ("kernel", "stride", "pad", "dilation"),
    [
        (3, 2, 1, 1),
        (3, 1, 1, 1),
        (2, 2, 0, 1),
        (5, 1, 2, 1),
        (7, 1, 3, 1),
        (2, 3, 0, 1),
        (5, 1, 2, 2),
        (9, 2, 4, 1),
        (1, 2, 0, 1),
    ],
)
@pytest.mark.parametrize("width", [11, 16, 33, 47])
def test_greatest_of_windows(
    width: int, kernel: int, stride: int, pad: int, dilation: int, is_open: bool
) -> None:
    x = _numbers(1, 3, 13, width, special=True)
    attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4}
    _, got = _run("MaxPool", {"x": x}, is_open=is_open, dilations=[dilation] * 2, **attributes)
    np.testing.assert_array_equal(got[0], _greatest(x, kernel, stride, pad, dilation))


@pytest.mark.parametrize("kind", ["float16", "uint8", "int8", "float64"])
def test_greatest_of_other_types(kind: str) -> None:
    x = (_numbers(2, 3, 9, 37) * 50).astype(np.dtype(kind))
    _, got = _run("MaxPool", {"x": x}, kernel_shape=[5, 5], pads=[2] * 4)
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (2, 2), (2, 2)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5), axis=(2, 3))
    np.testing.assert_array_equal(got[0].astype(np.float64), windows.max(axis=(4, 5)))
    assert got[0].dtype == x.dtype


@pytest.mark.parametrize("is_open", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize("counts", [0, 1])
@pytest.mark.parametrize("ceil", [0, 1])
@pytest.mark.parametrize(
    ("kernel", "stride", "pads", "dilation"),
    [
        ((3, 3), (1, 1), (1, 1, 1, 1), 1),
        ((3, 2), (2, 2), (1, 0, 0, 1), 1),
        ((2, 2), (2, 2), (0, 0, 0, 0), 1),
        ((5, 3), (3, 2), (2, 1, 2, 1), 1),
        ((2, 3), (1, 2), (1, 2, 1, 2), 2),
    ],
)
def test_means_of_windows(
    kernel: tuple[int, int],
    stride: tuple[int, int],
    pads: tuple[int, ...],
    dilation: int,
    ceil: int,
    counts: int,
    is_open: bool,
) -> None:
    x = {"x": _numbers(2, 3, 12, 35)}
    model, got = _run(
        "AveragePool",
        x,
        is_open=is_open,
        kernel_shape=kernel,
        strides=stride,
        pads=pads,
        dilations=[dilation] * 2,
        ceil_mode=ceil,
        count_include_pad=counts,
    )
    want = _peer(model, x)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("is_open", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize("op", ["AveragePool", "MaxPool"])
@pytest.mark.parametrize(
    ("extents", "kernel", "stride", "pads"),
    [
        ((1, 1), (2, 2), (2, 2), (0, 0, 0, 0)),
        ((1, 7), (3, 3), (3, 2), (0, 0, 0, 0)),
        ((2, 33), (4, 2), (3, 2), (1, 0, 0, 0)),
    ],
)
def test_windows_longer_than_images(
    extents: tuple[int, int],
    kernel: tuple[int, int],
    stride: tuple[int, int],
    pads: tuple[int, ...],
    op: str,
    is_open: bool,
) -> None:
    """Rounded up, there is a window where it reaches beyond the end."""
    x = {"x": _numbers(2, 3, *extents)}
    model, got = _run(
        op, x, is_open=is_open, kernel_shape=kernel, strides=stride, pads=pads, ceil_mode=1
    )
    np.testing.assert_allclose(got[0], _peer(model, x)[0], rtol=1e-5, atol=1e-6)


def test_mean_of_infinity() -> None:
    """It stays in its windows; what surrounds an image is not looked at."""
    x = np.zeros((1, 1, 6, 40), np.float32)
    x[0, 0, 2, 20] = np.inf
    _, got = _run("AveragePool", {"x": x}, kernel_shape=[3, 3], pads=[1] * 4)
    assert np.isinf(got[0]).sum() == 9
    assert not np.isnan(got[0]).any()


@pytest.mark.parametrize("is_open", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize("axes", [[2, 3], [1, 2, 3], [0], [1], [0, 2], [1, 3], [0, 1], [3]])
@pytest.mark.parametrize("op", ["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2"])
@pytest.mark.parametrize("shape", [(2, 5, 7, 7), (3, 4, 6, 33), (1, 17, 1, 16), (2, 3, 5, 130)])
def test_reductions_over_axes(
    shape: tuple[int, ...], op: str, axes: list[int], is_open: bool
) -> None:
    x = {"x": _numbers(*shape)}
    model, got = _run(op, x, {"axes": np.array(axes)}, is_open=is_open, keepdims=0)
    np.testing.assert_allclose(got[0], _peer(model, x)[0], rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("axes", [(2, 3), (0,), (1, 2)])
def test_greatest_with_special_numbers(axes: tuple[int, ...]) -> None:
    x = _numbers(3, 5, 9, 41, special=True)
    _, got = _run("ReduceMax", {"x": x}, {"axes": np.array(axes)}, keepdims=0)
    np.testing.assert_array_equal(got[0], np.max(x, axis=axes))


@pytest.mark.parametrize("is_open", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap", "constant"])
@pytest.mark.parametrize(
    ("shape", "pads"),
    [
        ((5, 37), (1, 2, 3, 1)),
        ((4, 6), (9, 15, 7, 20)),
        ((1, 3), (4, 0, 3, 5)),
        ((2, 3, 8, 9), (0, 0, 3, 2, 0, 0, 1, 8)),
        ((6, 7), (-2, 3, 1, -3)),
        ((3, 4), (0, 0, 0, 0)),
        ((12,), (3, 40)),
    ],
)
def test_borders(shape: tuple[int, ...], pads: tuple[int, ...], mode: str, is_open: bool) -> None:
    x = _numbers(*shape)
    rank = len(shape)
    _, got = _run("Pad", {"x": x}, {"p": np.array(pads)}, is_open=is_open, mode=mode)
    keep = tuple(
        slice(max(-pads[k], 0), size - max(-pads[k + rank], 0)) for k, size in enumerate(shape)
    )
    around = [(max(pads[k], 0), max(pads[k + rank], 0)) for k in range(rank)]
    want = x[keep]
    # An axis after the other: NumPy reflects one element as ONNX does.
    np.testing.assert_array_equal(got[0], np.pad(want, around, mode=mode))  # type: ignore[call-overload]


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
def test_border_of_nothing(mode: str) -> None:
    x = np.zeros((3, 0), np.float32)
    with pytest.raises(Exception, match="there is nothing to pad it with"):
        _run("Pad", {"x": x}, {"p": np.array([0, 1, 0, 1])}, is_open=True, mode=mode)
    _, got = _run("Pad", {"x": x}, {"p": np.array([1, 0, 1, 0])}, is_open=True, mode=mode)
    assert got[0].shape == (5, 0)


@pytest.mark.parametrize("is_open", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize("kind", ["uint8", "int8", "float16", "bfloat16", "int16", "int64"])
@pytest.mark.parametrize(
    ("shape", "perm"),
    [
        ((64, 48), (1, 0)),
        ((37, 21), (1, 0)),
        ((3, 17, 40), (2, 0, 1)),
        ((1, 30, 33, 3), (0, 3, 1, 2)),
        ((2, 3, 700), (0, 2, 1)),
        ((600, 5), (1, 0)),
    ],
)
def test_transposes(
    shape: tuple[int, ...], perm: tuple[int, ...], kind: str, is_open: bool
) -> None:
    dtype = np.dtype(getattr(ml_dtypes, kind, kind))
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    _, got = _run("Transpose", {"x": x}, is_open=is_open, perm=perm)
    np.testing.assert_array_equal(got[0], x.transpose(perm))


@pytest.mark.parametrize("count", [1, 15, 16, 17, 1000])
@pytest.mark.parametrize("op", ["Less", "Equal", "GreaterOrEqual"])
def test_comparisons(op: str, count: int) -> None:
    x, z = _numbers(3, count, special=count > 6), _numbers(3, count)
    z[:, ::3] = x[:, ::3]
    _, got = _run(op, {"x": x, "z": z}, is_open=True)
    compare = {"Less": np.less, "Equal": np.equal, "GreaterOrEqual": np.greater_equal}[op]
    np.testing.assert_array_equal(got[0], compare(x, z))
    _, chosen = _run("Where", {"c": got[0], "x": x, "z": z}, is_open=True)
    np.testing.assert_array_equal(chosen[0], np.where(got[0], x, z))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_softmax_of_special_rows(axis: int) -> None:
    x = _numbers(3, 18, 35) * 30
    np.moveaxis(x, axis, -1)[0, 0] = -np.inf
    np.moveaxis(x, axis, -1)[0, 1, 0] = np.nan
    np.moveaxis(x, axis, -1)[0, 2, 0] = -np.inf
    np.moveaxis(x, axis, -1)[0, 3, 0] = 3e38
    _, got = _run("Softmax", {"x": x}, is_open=True, axis=axis)
    wide = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        powers = np.exp(wide - wide.max(axis=axis, keepdims=True))
    want = powers / powers.sum(axis=axis, keepdims=True)
    np.testing.assert_allclose(got[0], want, rtol=2e-5, atol=1e-30)


@pytest.mark.parametrize("kind", ["float32", "float64", "float16"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
@pytest.mark.parametrize("corners", [0, 1])
def test_samples_beside_infinity(mode: str, padding: str, corners: int, kind: str) -> None:
    """What lies outside has no weight, whatever the element next to it is."""
    x = _numbers(2, 3, 7, 9).astype(kind)
    grid = (_numbers(2, 5, 13, 2) * 0.9).astype(kind)
    grid[0, 0, 0] = -5
    grid[0, 0, 1] = (1e4, 3)
    feeds = {"x": x, "grid": grid}
    _, got = _run(
        "GridSample", feeds, is_open=True, mode=mode, padding_mode=padding, align_corners=corners
    )
    exact = {name: value.astype(np.float32) for name, value in feeds.items()}
    single, _ = _run(
        "GridSample", exact, is_open=True, mode=mode, padding_mode=padding, align_corners=corners
    )
    # Of cubic samples at a border onnxruntime has another opinion.
    want: Any = ReferenceEvaluator(single).run(None, exact)
    tolerance = 2e-2 if kind == "float16" else 1e-4
    np.testing.assert_allclose(got[0], want[0], rtol=tolerance, atol=tolerance)
    if padding == "zeros":
        x[0, :, 0, 0] = np.inf
        assert np.isfinite(
            _run("GridSample", {"x": x, "grid": np.full((2, 1, 1, 2), -9).astype(kind)}, mode=mode)[
                1
            ][0]
        ).all()


def test_samples_of_unsigned_numbers() -> None:
    x = np.arange(64, dtype=np.uint8).reshape(1, 1, 8, 8) + np.uint8(190)
    grid = np.linspace(-1.5, 1.5, 36, dtype=np.float32).reshape(1, 6, 3, 2)
    feeds = {"x": x, "grid": grid}
    _, got = _run("GridSample", feeds, mode="nearest")
    model, _ = _run("GridSample", feeds | {"x": x.astype(np.float32)}, mode="nearest")
    want = _peer(model, feeds | {"x": x.astype(np.float32)})
    np.testing.assert_array_equal(got[0].astype(np.float32), want[0])
