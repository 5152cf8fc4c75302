# ===- test_ir_layers.py - Layers of OpenVINO IR with any attributes ------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The short form of test/fuzz/ir_layers.py, and what it found, beside OpenVINO."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import loopc
import numpy as np
import openvino
import pytest
from openvino_models import const, f32, i64, model, param
from random_ir_layers import LAYERS, OPSETS, outputs_of, random_layer

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fuzz"))

import ir_layers


def test_layers() -> None:
    """Some layers are what OpenVINO makes of them."""
    assert ir_layers.main(["--seeds", "100:124"]) == 0


def test_extents() -> None:
    """With operands of other extents, 0 and 1 among them, in one session."""
    assert ir_layers.main(["--seeds", "66:78", "--extents"]) == 0


@pytest.mark.parametrize("first", range(len(LAYERS)))
def test_makers(first: int) -> None:
    """Each function makes layers of sets of equal shapes."""
    layer = random_layer(first)
    shapes = [[a.shape for a in one] for one in layer.sets]
    assert all(one == shapes[0] for one in shapes)
    assert outputs_of(layer, [const(a) for a in layer.sets[0]])


def _check(made: Any, x: Any, parameter: Any, folder: pathlib.Path) -> list[Any]:
    """loopc's results, which must be OpenVINO's."""
    made = model(made.outputs(), [parameter])
    config = {"INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino.Core().compile_model(made, "CPU", config)
    theirs = compiled({"x": x})
    openvino.save_model(made, folder / "model.xml", compress_to_fp16=False)
    ours = loopc.InferenceSession(folder / "model.xml").run(None, {"x": x})
    for got, port in zip(ours, compiled.outputs, strict=True):
        np.testing.assert_allclose(got, theirs[port], rtol=1e-5, atol=1e-6)
    return ours


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize(
    ("kernel", "stride", "begin", "end", "excludes"),
    [(2, 2, 1, 0, False), (3, 3, 1, 0, False), (3, 3, 0, 1, False), (3, 2, 1, 1, False),
     (3, 2, 0, 0, False), (2, 2, 1, 0, True), (3, 3, 1, 1, True)],
)  # fmt: skip
@pytest.mark.parametrize("rounding", ["ceil", "ceil_torch"])
def test_mean_of_windows_beyond_the_padding(
    kernel: int, stride: int, begin: int, end: int, excludes: bool, rounding: str, is_open: bool,
    tmp_path: pathlib.Path,
) -> None:  # fmt: skip
    """Without exclude-pad a mean is by the kernel's size, where there is any padding."""
    x = param([1, 1, -1 if is_open else 4], "x")
    made = OPSETS[1 if rounding == "ceil" else 14].avg_pool(
        x, [stride], [begin], [end], [kernel], excludes, rounding, "explicit"
    )
    _check(made, f32([[[1, 2, 3, 4]]]), x, tmp_path)


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("rounding", ["ceil", "ceil_torch"])
@pytest.mark.parametrize("end", [0, 1])
def test_windows_behind_the_input(
    rounding: str, end: int, is_open: bool, tmp_path: pathlib.Path
) -> None:
    """Rounding up keeps windows that have nothing of the input."""
    x = param([1, 1, -1 if is_open else 4], "x")
    kernel = end + 1
    made = OPSETS[8 if rounding == "ceil" else 14].max_pool(
        x, [2], [1], [0], [end], [kernel], rounding, "explicit"
    )
    (values, _) = _check(made, f32([[[1, 2, 3, 4]]]), x, tmp_path)
    assert values.size == (3 if rounding == "ceil" else 2)


def test_rounded_up_without_padding(tmp_path: pathlib.Path) -> None:
    """With auto_pad "valid", too, the number of windows is rounded."""
    x = param([1, 1, 8], "x")
    made = OPSETS[1].avg_pool(x, [2], [0], [0], [3], False, "ceil", "valid")
    (values,) = _check(made, np.arange(8, dtype=np.float32).reshape(1, 1, 8), x, tmp_path)
    assert values.size == 4


@pytest.mark.parametrize("ratio", [0, 1, 2])
@pytest.mark.parametrize("aligned", ["asymmetric", "half_pixel", "half_pixel_for_nn"])
def test_largest_interpolated_point(ratio: int, aligned: str, tmp_path: pathlib.Path) -> None:
    """ROIAlign's maximum is that of points, and not of elements with their parts."""
    x = param([1, 2, 6, 6], "x")
    regions = const(f32([[0.7, 0.3, 3.9, 4.2], [1, 1, 4, 4], [-2, -2, 8, 3]]))
    made = OPSETS[9].roi_align(x, regions, const(np.int32([0, 0, 0])), 2, 3, ratio, 0.8, "max",
                               aligned)  # fmt: skip
    _check(made, np.random.default_rng(0).normal(size=(1, 2, 6, 6)).astype(np.float32), x, tmp_path)


@pytest.mark.parametrize("aligns", [False, True])
def test_cubic_samples_at_the_border(aligns: bool, tmp_path: pathlib.Path) -> None:
    """Each of the elements around a point beyond the border is one of the border."""
    x = param([1, 1, 4, -1], "x")
    points = np.random.default_rng(1).uniform(-1.6, 1.6, (1, 5, 5, 2)).astype(np.float32)
    made = OPSETS[9].grid_sample(x, const(points), {
        "align_corners": aligns, "mode": "bicubic", "padding_mode": "border"})  # fmt: skip
    _check(made, np.random.default_rng(2).normal(size=(1, 1, 4, 3)).astype(np.float32), x, tmp_path)


@pytest.mark.parametrize("is_open", [False, True])
def test_extent_next_to_a_whole_number(is_open: bool, tmp_path: pathlib.Path) -> None:
    """3 elements by 7 / 3, rounded to f32, are 7."""
    x = param([1, 1, -1 if is_open else 3], "x")
    made = OPSETS[11].interpolate(x, const(f32([7 / 3])), "linear_onnx", "scales",
                                  axes=const(i64([2])))  # fmt: skip
    (values,) = _check(made, f32([[[1, 2, 4]]]), x, tmp_path)
    assert values.size == 7


@pytest.mark.parametrize("mode", ["cubic", "linear_onnx"])
def test_modes_that_have_no_antialiasing(mode: str, tmp_path: pathlib.Path) -> None:
    x = param([1, 1, 6, 5], "x")
    made = OPSETS[11].interpolate(x, const(i64([2, 3])), mode, "sizes", antialias=True,
                                  axes=const(i64([2, 3])))  # fmt: skip
    _check(made, np.random.default_rng(3).normal(size=(1, 1, 6, 5)).astype(np.float32), x, tmp_path)


def test_axis_that_stays_as_it_is(tmp_path: pathlib.Path) -> None:
    """tf_half_pixel_for_nn moves no points of an axis that only a run knows to stay."""
    x = param([1, 1, -1, -1], "x")
    made = OPSETS[11].interpolate(x, const(i64([2, 3])), "linear_onnx", "sizes",
                                  coordinate_transformation_mode="tf_half_pixel_for_nn",
                                  axes=const(i64([2, 3])))  # fmt: skip
    _check(made, f32([[[[1], [3]]]]), x, tmp_path)


def test_each_element_by_its_own_length(tmp_path: pathlib.Path) -> None:
    """NormalizeL2 of no axes is 1 but for zeros."""
    x = param([1, 2, 2], "x")
    made = OPSETS[1].normalize_l2(x, const(i64([])), 1e-2, "add")
    _check(made, f32([[[0, 2], [-3, 1e-3]]]), x, tmp_path)


def test_explicit_broadcast_of_version_1(tmp_path: pathlib.Path) -> None:
    """OpenVINO writes its mode as "none"."""
    x = param([3], "x")
    made = OPSETS[1].broadcast(x, const(i64([3, 2])), const(i64([0])), "EXPLICIT")
    _check(made, f32([1, 2, 3]), x, tmp_path)


def test_transposed_convolution_as_long_as_it_gets(tmp_path: pathlib.Path) -> None:
    """auto_pad is for an output shape; without one nothing is cut off."""
    x = param([1, 1, 4], "x")
    made = OPSETS[1].convolution_backprop_data(x, const(f32([[[1, 2, 3]]])), [2],
                                               auto_pad="SAME_LOWER")  # fmt: skip
    (values,) = _check(made, f32([[[1, 2, 3, 4]]]), x, tmp_path)
    assert values.size == 9


@pytest.mark.parametrize("batch", [0, 1])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_gather_by_any_number_of_coordinates(
    number: int, batch: int, tmp_path: pathlib.Path
) -> None:
    """A tuple of no coordinates names all of the data, or of a batch's."""
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    i = np.zeros((2, 3, number), np.int32)
    inputs = [param([-1] * 3, "x"), param([-1] * 3, "i", np.int32)]
    made = OPSETS[8].gather_nd(*inputs, batch)
    openvino.save_model(model(made.outputs(), inputs), tmp_path / "model.xml")
    (got,) = loopc.InferenceSession(tmp_path / "model.xml").run(None, {"x": x, "i": i})
    # OpenVINO's runtime does not write what tuples of no coordinates name.
    want = [[(one[batch_of] if batch else one)[(0,) * number] for _ in range(3)]
            for batch_of, one in enumerate([x, x])]  # fmt: skip
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("shape", [(1, 1, 1, 7), (1, 2, 3, 4)])
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("mode", ["cubic", "linear_onnx", "nearest"])
def test_corners_of_an_extent_that_scales_give(
    mode: str, is_open: bool, shape: tuple[int, ...], tmp_path: pathlib.Path
) -> None:
    """align_corners: the last element is the last one where 7 by 0.8 are 5, too."""
    x = param([-1] * 4 if is_open else shape, "x")
    made = OPSETS[11].interpolate(x, const(f32([2.5, 0.8])), mode, "scales",
                                  coordinate_transformation_mode="align_corners",
                                  axes=const(i64([2, 3])))  # fmt: skip
    _check(made, np.random.default_rng(4).normal(size=shape).astype(np.float32), x, tmp_path)


def test_slopes_of_channels_or_of_the_last_axis(tmp_path: pathlib.Path) -> None:
    """Which, a run tells: there are as many as channels, or not."""
    inputs = [param([-1] * 4, "x"), param([-1], "s")]
    made = OPSETS[1].prelu(*inputs)
    openvino.save_model(model(made.outputs(), inputs), tmp_path / "model.xml")
    session = loopc.InferenceSession(tmp_path / "model.xml")
    cases = (((2, 3, 2, 4), 3), ((2, 3, 2, 4), 4), ((2, 3, 2, 3), 3), ((1, 2, 2, 2), 1),
             ((2, 3, 2, 0), 0))  # fmt: skip
    for extents, number in cases:
        x = -np.arange(1, 1 + np.prod(extents), dtype=np.float32).reshape(extents)
        slope = np.arange(2, 2 + number, dtype=np.float32)
        of_channels = number == extents[1]
        want = x * (slope[:, None, None] if of_channels else slope)
        np.testing.assert_array_equal(session.run(None, {"x": x, "s": slope})[0], want)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_axis_of_an_explicit_broadcast(axis: int, tmp_path: pathlib.Path) -> None:
    """It has a longer name in the files that OpenVINO writes; all extents are equal."""
    x = param([-1] * 3, "x")
    other = const(f32([1, 2]))
    made = OPSETS[1].multiply(x, other, "PDPD")
    openvino.save_model(model(made.outputs(), [x]), tmp_path / "model.xml")
    text = (tmp_path / "model.xml").read_text()
    name = 'auto_broadcast="pdpd"'
    assert name in text
    text = text.replace(' auto_broadcast.auto_broadcast_axis="-1"', "")
    text = text.replace(name, f'{name} auto_broadcast.auto_broadcast_axis="{axis}"')
    (tmp_path / "model.xml").write_text(text)
    ones = np.ones((2, 2, 2), np.float32)
    (got,) = loopc.InferenceSession(tmp_path / "model.xml").run(None, {"x": ones})
    shape = {-1: (1, 1, 2), 0: (2, 1, 1), 1: (1, 2, 1)}[axis]
    np.testing.assert_array_equal(got, ones * f32([1, 2]).reshape(shape))


@pytest.mark.parametrize("verdict", ["wrong", "undefined", "same"])
def test_answers_in_other_processes(
    verdict: str, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """An answer that is another one in each is not OpenVINO's; one without the first's damage is."""
    ours = f32([1, 2, 3])
    anew = {"wrong": (ours + 1, ours + 1), "undefined": (ours + 1, ours + 2), "same": (ours, ours)}
    monkeypatch.setattr(ir_layers, "answers_anew", lambda *_: [[[v], None] for v in anew[verdict]])
    judge = ir_layers.Judge(tmp_path, False, 3)
    found = judge._resized(random_layer(0), [ours], [[ours + 1], None], (0, 0), "")
    assert found[0] == verdict
