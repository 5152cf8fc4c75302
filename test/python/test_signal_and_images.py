# ===- test_signal_and_images.py - Transforms, resizing, regions, random ----===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What ONNX's suite leaves out: run-time lengths, scales and axes, corners, randomness."""

from __future__ import annotations

from typing import Any

import loopc
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from single_node import node_model, run_node

RNG = np.random.default_rng(11)


def _model(op: str, operands: dict[str, np.ndarray], outputs: dict[str, Any], opset: int,
           **attributes: Any) -> bytes:  # fmt: skip
    node = helper.make_node(op, list(operands), list(outputs), **attributes)
    return node_model([node], operands, outputs, opset, dynamic=True)


def compare(op: str, operands: dict[str, np.ndarray], opset: int, *, reference: str = "onnx",
            tolerance: float = 1e-5, result: Any = np.float32, **attributes: Any) -> None:  # fmt: skip
    """Checks one node, all of whose dimensions and operands are known at run time only."""
    model = _model(op, operands, {"y": result}, opset, **attributes)
    (actual,) = loopc.InferenceSession(model).run(None, operands)
    if reference == "onnx":
        evaluator: Any = ReferenceEvaluator(onnx.load_from_string(model))
        (expected,) = evaluator.run(None, operands)
    else:
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        (expected,) = session.run(None, operands)
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


# ===------------------------------------------------------------------------===#
# DFT, STFT
# ===------------------------------------------------------------------------===#


@pytest.mark.parametrize("axis", [0, 1, -2])
@pytest.mark.parametrize("length", [1, 4, 7, 12])
@pytest.mark.parametrize("parts", [1, 2])
def test_dft(axis: int, length: int, parts: int) -> None:
    x = RNG.normal(size=(5, 7, 3, parts)).astype(np.float32)
    signal = x[..., 0] + (1j * x[..., 1] if parts == 2 else 0)
    real_axis = axis % 4
    (y,) = loopc.InferenceSession(
        _model("DFT", {"x": x, "n": np.array(length), "a": np.array(axis)}, {"y": np.float32}, 20)
    ).run(None, {"x": x, "n": np.array(length), "a": np.array(axis)})
    expected = np.fft.fft(signal, n=length, axis=real_axis)
    np.testing.assert_allclose(y[..., 0] + 1j * y[..., 1], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("length", [5, 8])
def test_dft_half_spectrum_and_back(length: int) -> None:
    x = RNG.normal(size=(2, length, 1)).astype(np.float64)
    (half,) = run_node("DFT", x, opset=20, onesided=1)
    expected = np.fft.rfft(x[..., 0])
    np.testing.assert_allclose(half[..., 0] + 1j * half[..., 1], expected, atol=1e-12)
    (back,) = run_node("DFT", half, np.array(length), opset=20, onesided=1, inverse=1)
    np.testing.assert_allclose(back, x, atol=1e-12)


@pytest.mark.parametrize("length", [400, 441, 1009, 16384])
def test_dft_of_many(length: int) -> None:
    """Radices of all kinds, a large prime: as exact as the type allows, in a short time."""
    x = RNG.normal(size=(2, length, 2))
    signal = x[..., 0] + 1j * x[..., 1]
    for inverse, expected in ((0, np.fft.fft(signal)), (1, np.fft.ifft(signal))):
        (y,) = run_node("DFT", x, opset=20, inverse=inverse)
        np.testing.assert_allclose(y[..., 0] + 1j * y[..., 1], expected, atol=1e-11)


def test_dft_of_nothing() -> None:
    """Zeros stand for what is not there."""
    (y,) = run_node("DFT", np.zeros((2, 0, 1), np.float32), np.array(4), opset=20)
    np.testing.assert_array_equal(y, np.zeros((2, 4, 2), np.float32))


@pytest.mark.parametrize("length", [5, 8, 9])
def test_dft_of_a_part_of_half_a_spectrum(length: int) -> None:
    half = RNG.normal(size=(3, 2))
    (y,) = run_node("DFT", half[None], np.array(length), opset=20, onesided=1, inverse=1)
    expected = np.fft.irfft(half[:, 0] + 1j * half[:, 1], n=length)
    np.testing.assert_allclose(y[0, :, 0], expected, atol=1e-12)


def test_dft_axis_of_parts_is_refused() -> None:
    with pytest.raises(loopc.CompileError, match="axis"):
        run_node("DFT", np.zeros((2, 3, 2), np.float32), opset=17, axis=2)


def test_dft_of_no_length() -> None:
    with pytest.raises(loopc.RunError, match="length of the transform is 0"):
        x = np.zeros((2, 3, 1), np.float32)
        model = _model("DFT", {"x": x, "n": np.array(0)}, {"y": np.float32}, 20)
        loopc.InferenceSession(model).run(None, {"x": x, "n": np.array(0)})


@pytest.mark.parametrize("onesided", [0, 1])
def test_stft(onesided: int) -> None:
    x = RNG.normal(size=(2, 37, 1)).astype(np.float32)
    window = np.hanning(8).astype(np.float32)
    compare("STFT", {"x": x, "s": np.array(5), "w": window}, 17, onesided=onesided)


# ===------------------------------------------------------------------------===#
# Resize
# ===------------------------------------------------------------------------===#


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize(
    "coordinates", ["half_pixel", "asymmetric", "align_corners", "half_pixel_symmetric"]
)
@pytest.mark.parametrize("scale", [0.4, 1.0, 2.3])
def test_resize(mode: str, coordinates: str, scale: float) -> None:
    x = RNG.normal(size=(1, 2, 5, 7)).astype(np.float32)
    scales = np.array([1, 1, scale, 1.7], np.float32)
    operands = {"x": x, "r": np.zeros(0, np.float32), "s": scales}
    compare("Resize", operands, 19, mode=mode, coordinate_transformation_mode=coordinates)


@pytest.mark.parametrize("nearest", ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
@pytest.mark.parametrize(
    "coordinates", ["half_pixel", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric"]
)
@pytest.mark.parametrize("times", [2, 3, 4])
def test_resize_repeats(nearest: str, coordinates: str, times: int) -> None:
    """By scales that the model has, over rows that end within a vector."""
    scales = np.array([1, 1, 2, times], np.float32)
    node = helper.make_node(
        "Resize", ["x", "", "s"], ["y"], mode="nearest", nearest_mode=nearest,
        coordinate_transformation_mode=coordinates,
    )  # fmt: skip
    for width in (1, 5, 23):
        x = {"x": RNG.normal(size=(1, 2, 3, width)).astype(np.float32)}
        model = onnx.load_from_string(node_model([node], x, {"y": np.float32}, 19, dynamic=True))
        model.graph.initializer.append(onnx.numpy_helper.from_array(scales, "s"))
        (actual,) = loopc.InferenceSession(model.SerializeToString()).run(None, x)
        (expected,) = ReferenceEvaluator(model).run(None, x)
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    "extent, scale, elements",
    [
        (4, 0.6, [0, 2]),  # ONNX's test of that opset
        (10, 0.3, [0, 4, 7]),
        (10, 0.5, [0, 2, 4, 6, 8]),
        (12, 0.7, [0, 2, 3, 5, 6, 8, 9, 10]),  # and 7 / 0.7 is 10
        (4, 1.5, [0, 0, 1, 2, 2, 3]),
    ],
)
def test_resize_of_opset_10(extent: int, scale: float, elements: list[int]) -> None:
    """Nearest is the next element where the axis becomes shorter, else the one before."""
    x = {"x": np.arange(extent, dtype=np.float32)}
    node = helper.make_node("Resize", ["x", "s"], ["y"], mode="nearest")
    for given in (False, True):
        feeds = {**x, "s": np.array([scale], np.float32)} if given else x
        model = onnx.load_from_string(node_model([node], feeds, {"y": np.float32}, 10))
        if not given:
            scales = onnx.numpy_helper.from_array(np.array([scale], np.float32), "s")
            model.graph.initializer.append(scales)
        (actual,) = loopc.InferenceSession(model.SerializeToString()).run(None, feeds)
        np.testing.assert_array_equal(actual, np.array(elements, np.float32))


@pytest.mark.parametrize("kind", [np.float32, np.uint8])
@pytest.mark.parametrize("perm", [(0, 3, 1, 2), (0, 2, 3, 1)])
@pytest.mark.parametrize("few", [2, 3, 4])
@pytest.mark.parametrize("width", [3, 16, 37])
def test_pixels_and_planes(kind: type, perm: tuple[int, ...], few: int, width: int) -> None:
    """Colours that become planes, or the other way round, scaled on the way."""
    shape = (2, 5, width, few) if perm[1] == 3 else (2, few, 5, width)
    x: dict[str, np.ndarray] = {"x": RNG.integers(0, 255, shape).astype(kind)}
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=perm),
        helper.make_node("Cast", ["t"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["f", "k"], ["y"]),
    ]
    scale = RNG.normal(size=(few, 1, 1) if perm[1] == 3 else (few,)).astype(np.float32)
    for dynamic in (False, True):
        model = onnx.load_from_string(node_model(nodes, x, {"y": np.float32}, 19, dynamic=dynamic))
        shape_of = model.graph.input[0].type.tensor_type.shape
        shape_of.dim[3 if perm[1] == 3 else 1].dim_value = few
        model.graph.initializer.append(onnx.numpy_helper.from_array(scale, "k"))
        (actual,) = loopc.InferenceSession(model.SerializeToString()).run(None, x)
        expected = x["x"].transpose(perm).astype(np.float32) * scale
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("exclude", [0, 1])
def test_resize_antialias(mode: str, exclude: int) -> None:
    x = RNG.normal(size=(3, 19)).astype(np.float32)
    operands = {"x": x, "r": np.zeros(0, np.float32), "s": np.array([1, 0.3], np.float32)}
    compare("Resize", operands, 19, mode=mode, antialias=1, exclude_outside=exclude)


def test_resize_integers_saturate() -> None:
    x = np.array([[0, 255, 0, 255, 255, 0]], np.uint8)
    none = np.zeros(0, np.float32)
    operands: dict[str, np.ndarray] = {"x": x, "r": none, "s": np.array([1, 2.5], np.float32)}
    compare("Resize", operands, 19, mode="cubic", result=np.uint8)


def test_resize_refuses_bad_scale() -> None:
    operands = {"x": np.zeros((2, 2), np.float32), "r": np.zeros(0, np.float32),
                "s": np.array([1, -1], np.float32)}  # fmt: skip
    model = _model("Resize", operands, {"y": np.float32}, 19)
    with pytest.raises(loopc.RunError, match="scale of axis 1 is not positive"):
        loopc.InferenceSession(model).run(None, operands)


@pytest.mark.parametrize("scale", [np.inf, np.nan, 1e30])
@pytest.mark.parametrize("constants", [[], ["s"]])
def test_resize_refuses_endless_scale(scale: float, constants: list[str]) -> None:
    operands = {"x": np.zeros((2, 2), np.float32), "r": np.zeros(0, np.float32),
                "s": np.array([1, scale], np.float32)}  # fmt: skip
    node = helper.make_node("Resize", list(operands), ["y"], mode="linear")
    given = {name: operands.pop(name) for name in constants}
    model = node_model([node], operands, {"y": np.float32}, 19, dynamic=True, constants=given)
    problem = "not positive and finite|more bytes than can be counted"
    with pytest.raises(loopc.RunError, match=problem):
        loopc.InferenceSession(model).run(None, operands)


@pytest.mark.parametrize("mode", ["linear", "nearest"])
@pytest.mark.parametrize("coordinates", ["pytorch_half_pixel", "tf_crop_and_resize"])
def test_resize_to_one_element(mode: str, coordinates: str) -> None:
    # 1 / 49 times 49 is not 1.
    x = RNG.normal(size=(1, 1, 49)).astype(np.float32)
    region = np.array([0, 0, 0.2, 1, 1, 0.7], np.float32)
    operands = {"x": x, "r": region}
    node = helper.make_node("Resize", ["x", "r", "", "z"], ["y"], mode=mode,
                            coordinate_transformation_mode=coordinates)  # fmt: skip
    model = node_model(
        [node], operands, {"y": np.float32}, 19, constants={"z": np.array([1, 1, 1])}
    )
    (actual,) = loopc.InferenceSession(model).run(None, operands)
    peer = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(actual, peer.run(None, operands)[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_resize_to_one_element_by_a_scale(mode: str, dynamic: bool) -> None:
    # 0.37 times 4 is one element, in the place of the first one.
    x = RNG.normal(size=(2, 4)).astype(np.float32)
    node = helper.make_node("Resize", ["x", "", "s"], ["y"], mode=mode,
                            coordinate_transformation_mode="pytorch_half_pixel")  # fmt: skip
    scales = {"s": np.array([1, 0.37], np.float32)}
    model = node_model([node], {"x": x}, {"y": np.float32}, 19, dynamic=dynamic, constants=scales)
    (actual,) = loopc.InferenceSession(model).run(None, {"x": x})
    np.testing.assert_array_equal(actual, x[:, :1])


@pytest.mark.parametrize("opset", [11, 19])
@pytest.mark.parametrize("mode", ["linear", "nearest"])
@pytest.mark.parametrize("scale", [0.2, 0.3, 0.6, 0.75, 1.3, 2.0])
def test_crops_by_scales(scale: float, mode: str, opset: int) -> None:
    # Of 6 elements 3.6, 4.5 or 7.8: the definition divides by the length that the result has.
    x = RNG.normal(size=(2, 6)).astype(np.float32)
    operands = {"x": x, "r": np.array([0, 0.13, 1, 0.81], np.float32),
                "s": np.array([1, scale], np.float32)}  # fmt: skip
    node = helper.make_node("Resize", list(operands), ["y"], mode=mode,
                            coordinate_transformation_mode="tf_crop_and_resize")  # fmt: skip
    model = node_model([node], operands, {"y": np.float32}, opset, dynamic=True)
    (actual,) = loopc.InferenceSession(model).run(None, operands)
    peer = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(actual, peer.run(None, operands)[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8])
def test_max_pool_of_nothing(dtype: Any, dynamic: bool) -> None:
    # Windows of nothing but padding: there is no place that a maximum is at.
    operands = {"x": np.zeros((1, 1, 2, 0), dtype)}
    node = helper.make_node("MaxPool", ["x"], ["y", "i"], kernel_shape=[2, 2], pads=[1, 1, 1, 1])
    results = {"y": dtype, "i": np.int64}
    model = node_model([node], operands, results, 22, dynamic=dynamic)
    values, indices = loopc.InferenceSession(model).run(None, operands)
    least = -np.inf if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min
    np.testing.assert_array_equal(values, np.full((1, 1, 3, 1), least, dtype))
    np.testing.assert_array_equal(indices, np.full((1, 1, 3, 1), -1))


# ===------------------------------------------------------------------------===#
# Regions and grids
# ===------------------------------------------------------------------------===#

IMAGES = RNG.normal(size=(2, 3, 12, 10)).astype(np.float32)


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("ratio", [0, 2])
def test_roi_align(mode: str, ratio: int) -> None:
    rois = np.array([[0, 0, 9, 11], [-3, 2, 4.5, 30], [5, 5, 5.2, 5.1], [1, 1, 7, 8]], np.float32)
    operands: dict[str, np.ndarray] = {"x": IMAGES, "r": rois, "b": np.array([0, 1, 1, 0])}
    compare("RoiAlign", operands, 16, mode=mode, sampling_ratio=ratio, output_height=3,
            output_width=2, spatial_scale=0.7)  # fmt: skip


@pytest.mark.parametrize("mode", ["avg", "max"])
def test_roi_align_of_large_regions(mode: str) -> None:
    """Of the points of a region that is far larger than the image few are looked at."""
    rois = np.array([[0, 0, 900, 700], [-400, -300, 600, 20], [500, 500, 900, 900]], np.float32)
    operands: dict[str, np.ndarray] = {"x": IMAGES, "r": rois, "b": np.array([0, 1, 1])}
    compare("RoiAlign", operands, 16, reference="onnxruntime", mode=mode, output_height=3,
            output_width=2)  # fmt: skip
    operands["r"] = np.array([[1e30] * 4, [0, 0, 1e30, 1e30], [-1e9, -1e9, 1e9, 1e9]], np.float32)
    session = loopc.InferenceSession(_model("RoiAlign", operands, {"y": np.float32}, 16))
    np.testing.assert_allclose(session.run(None, operands)[0], 0, atol=1e-6)


def test_roi_align_checks_batches() -> None:
    operands = {"x": IMAGES, "r": np.zeros((1, 4), np.float32), "b": np.array([2])}
    with pytest.raises(loopc.RunError, match="index 2 is out of range for an axis of extent 2"):
        loopc.InferenceSession(_model("RoiAlign", operands, {"y": np.float32}, 16)).run(
            None, operands
        )


def test_max_roi_pool() -> None:
    rois = np.array([[0, 0, 0, 9, 11], [1, 2, 3, 6, 7], [1, 4, 4, 4, 4]], np.float32)
    compare("MaxRoiPool", {"x": IMAGES, "r": rois}, 13, reference="onnxruntime",
            pooled_shape=[3, 2], spatial_scale=0.8)  # fmt: skip


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("align", [0, 1])
def test_grid_sample(padding: str, mode: str, align: int) -> None:
    grid = RNG.uniform(-2.5, 2.5, size=(2, 4, 5, 2)).astype(np.float32)
    compare("GridSample", {"x": IMAGES, "g": grid}, 20, padding_mode=padding, mode=mode,
            align_corners=align, tolerance=1e-4)  # fmt: skip


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("size", [(4, 3), (2, 4, 3)])
@pytest.mark.parametrize("constants", [[], ["s"]])
def test_affine_grid(batch: int, size: tuple[int, ...], constants: list[str]) -> None:
    """ONNX's function body drops the batch where there is one matrix of two rows."""
    rank = len(size)
    theta = RNG.standard_normal((batch, rank, rank + 1)).astype(np.float32)
    operands = {"t": theta, "s": np.array([batch, 1, *size])}
    for align in (0, 1):
        node = helper.make_node("AffineGrid", ["t", "s"], ["y"], align_corners=align)
        feeds = dict(operands)
        given = {name: feeds.pop(name) for name in constants}
        model = node_model([node], feeds, {"y": np.float32}, 20, dynamic=True, constants=given)
        expected = onnxruntime.InferenceSession(model).run(None, feeds)
        got = loopc.InferenceSession(model).run(None, feeds)
        np.testing.assert_allclose(got[0], expected[0], rtol=1e-5, atol=1e-5)


def test_grid_sample_nan_reads_nothing() -> None:
    grid = np.full((2, 1, 1, 2), np.nan, np.float32)
    (y,) = run_node("GridSample", IMAGES, grid, opset=20, mode="nearest")
    assert y.shape == (2, 3, 1, 1)


def test_non_max_suppression() -> None:
    corners = RNG.uniform(0, 10, size=(2, 40, 2)).astype(np.float32)
    boxes = np.concatenate([corners, corners + RNG.uniform(1, 5, size=(2, 40, 2))], 2)
    operands = {"b": boxes.astype(np.float32), "s": RNG.random((2, 3, 40), dtype=np.float32),
                "m": np.array(10), "o": np.array(0.3, np.float32),
                "t": np.array(0.4, np.float32)}  # fmt: skip
    compare("NonMaxSuppression", operands, 11, reference="onnxruntime", result=np.int64)


def test_non_max_suppression_without_limit_gives_nothing() -> None:
    (y,) = run_node("NonMaxSuppression", np.zeros((1, 4, 4), np.float32),
                    np.ones((1, 1, 4), np.float32), opset=11, results=[np.int64])  # fmt: skip
    assert y.shape == (0, 3)


@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_det(size: int) -> None:
    x = RNG.normal(size=(2, 3, size, size))
    (y,) = run_node("Det", x, opset=22)
    np.testing.assert_allclose(y, np.linalg.det(x), rtol=1e-10)


def test_det_of_singular_and_permuted() -> None:
    x = np.array([[[0, 1], [1, 0]], [[1, 2], [2, 4]], [[0, 0], [0, 0]]], np.float64)
    (y,) = run_node("Det", x, opset=22)
    assert y.tolist() == [-1, 0, 0]


# ===------------------------------------------------------------------------===#
# Random numbers
# ===------------------------------------------------------------------------===#


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_uniform(dtype: Any) -> None:
    (y,) = run_node("RandomUniformLike", np.zeros((100, 200), dtype), opset=22, low=-1.0,
                    high=3.0, seed=5.0)  # fmt: skip
    assert y.dtype == dtype
    assert y.min() >= -1
    assert y.max() < 3
    assert abs(y.astype(np.float64).mean() - 1) < 0.05
    assert len(np.unique(y)) > 1000


def test_normal() -> None:
    (y,) = run_node("RandomNormalLike", np.zeros((400, 500), np.float32), opset=22, mean=2.0,
                    scale=3.0)  # fmt: skip
    assert abs(y.mean() - 2) < 0.05
    assert abs(y.std() - 3) < 0.05


def test_nodes_are_not_merged_and_seeds_repeat() -> None:
    nodes = [
        helper.make_node("RandomUniform", [], ["a"], shape=[4], seed=1.0),
        helper.make_node("RandomUniform", [], ["b"], shape=[4], seed=1.0),
        helper.make_node("RandomUniform", [], ["c"], shape=[4]),
    ]
    outputs = {"a": np.float32, "b": np.float32, "c": np.float32}
    session = loopc.InferenceSession(node_model(nodes, {}, outputs, 21))
    first, second = session.run(None, {}), session.run(None, {})
    assert not np.array_equal(first[0], first[1])
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])
    assert not np.array_equal(first[2], second[2])


def test_each_iteration_draws() -> None:
    body = helper.make_graph(
        [helper.make_node("RandomUniform", [], ["r"], shape=[2]),
         helper.make_node("Identity", ["c"], ["d"])],
        "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []),
         helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("d", TensorProto.BOOL, []),
         helper.make_tensor_value_info("r", TensorProto.FLOAT, [2])],
    )  # fmt: skip
    loop = helper.make_node("Loop", ["m", ""], ["y"], body=body)
    operands = {"m": np.array(20)}
    (y,) = loopc.InferenceSession(node_model([loop], operands, {"y": np.float32}, 21)).run(
        None, operands
    )
    assert len(np.unique(y)) == 40


def test_multinomial() -> None:
    x = np.log(np.array([[0.5, 0.25, 0.25, 1e-30], [1e-30, 1, 1e-30, 1e-30]], np.float32))
    (y,) = run_node("Multinomial", x, opset=22, results=[np.int32], sample_size=10000, seed=2.0)
    shares = np.bincount(y[0], minlength=4) / 10000
    np.testing.assert_allclose(shares, [0.5, 0.25, 0.25, 0], atol=0.02)
    assert (y[1] == 1).all()


@pytest.mark.parametrize("ratio", [0.0, 0.25])
def test_dropout_in_training(ratio: float) -> None:
    x = np.ones((100, 100), np.float32)
    y, mask = run_node("Dropout", x, np.array(ratio, np.float32), np.array(True), opset=13,
                       results=[np.float32, np.bool_], seed=4)  # fmt: skip
    assert abs(mask.mean() - (1 - ratio)) < 0.02
    np.testing.assert_allclose(y, mask / np.float32(1 - ratio), rtol=1e-6)


def test_dropout_ratio_out_of_range() -> None:
    with pytest.raises(loopc.RunError, match=r"ratio is not in \[0, 1\)"):
        run_node("Dropout", np.ones(3, np.float32), np.array(1.0, np.float32), np.array(True),
                 opset=13)  # fmt: skip


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("channels", [0, 1, 4, 7])
@pytest.mark.parametrize("size", [1, 2, 5, 6, 15, 200, 2**62])
def test_lrn_of_any_window(size: int, channels: int, known: bool) -> None:
    """What lies outside of all channels adds nothing, and takes no time."""
    x = RNG.normal(size=(2, channels, 3)).astype(np.float32)
    node = helper.make_node("LRN", ["x"], ["y"], size=size, alpha=size * 0.5, beta=0.75)
    model = node_model([node], {"x": x}, {"y": np.float32}, 13, dynamic=not known)
    (actual,) = loopc.InferenceSession(model).run(None, {"x": x}, loopc.RunOptions(timeout=60))
    squares = np.zeros_like(x)
    for c in range(channels):
        window = slice(max(c - (size - 1) // 2, 0), min(c + size // 2, channels - 1) + 1)
        squares[:, c] = (x[:, window] ** 2).sum(axis=1)
    np.testing.assert_allclose(actual, x / (1 + 0.5 * squares) ** 0.75, rtol=1e-5)
