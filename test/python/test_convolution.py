# ===- test_convolution.py - Convolutions of all shapes -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Conv beside onnxruntime: windows, steps and groups, with sizes known and unknown."""

from __future__ import annotations

import itertools

import loopc
import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import onnxruntime
import pytest

# kernel, stride, padding, dilation
WINDOWS = [(1, 1, 0, 1), (1, 2, 0, 1), (3, 1, 1, 1), (3, 2, 1, 1), (3, 1, 2, 2), (5, 2, 2, 1)]
SIZES = [(4, 4), (5, 9), (8, 8), (17, 33)]


def _compare(model: onnx.ModelProto, feeds: list[np.ndarray]) -> None:
    data = model.SerializeToString()
    session = loopc.InferenceSession(data)
    reference = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    for x in feeds:
        (want,) = reference.run(None, {"x": x})
        (got,) = session.run(None, {"x": x})
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4, err_msg=str(x.shape))


def _add_weights(model: onnx.ModelProto, weights: np.ndarray) -> onnx.ModelProto:
    bias = np.random.default_rng(1).standard_normal(weights.shape[0]).astype(np.float32)
    for name, array in [("w", weights), ("b", bias)]:
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


def _model(shape: str, attributes: str, weights: np.ndarray) -> onnx.ModelProto:
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 21]> test (float[{shape}] x) => (float[p,q,r,s] y) '
        f"{{ y = Conv<{attributes}>(x, w, b) }}"
    )
    return _add_weights(model, weights)


@pytest.mark.parametrize("groups", [1, 3, 12])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_windows(window: tuple[int, int, int, int], groups: int) -> None:
    """One model for all sizes, and one for each."""
    kernel, stride, pad, dilation = window
    random = np.random.default_rng(0)
    weights = random.standard_normal((12, 12 // groups, kernel, kernel)).astype(np.float32)
    attributes = (
        f"group = {groups}, kernel_shape = [{kernel}, {kernel}], strides = [{stride}, {stride}], "
        f"pads = [{pad}, {pad}, {pad}, {pad}], dilations = [{dilation}, {dilation}]"
    )
    feeds = [
        random.standard_normal((n, 12, h, w)).astype(np.float32)
        for n, (h, w) in itertools.product([1, 2], SIZES)
    ]
    _compare(_model("n,12,h,w", attributes, weights), feeds)
    for x in feeds[:2]:
        _compare(_model(",".join(map(str, x.shape)), attributes, weights), [x])


@pytest.mark.parametrize("pads", ["", ", pads = [1, 0, 2, 1]"])
def test_empty_auto_pad(pads: str) -> None:
    """The default, as in onnxruntime: pads, or none."""
    random = np.random.default_rng(0)
    weights = random.standard_normal((3, 2, 3, 2)).astype(np.float32)
    x = random.standard_normal((1, 2, 5, 6)).astype(np.float32)
    for shape in ("n,2,h,w", "1,2,5,6"):
        _compare(_model(shape, f'auto_pad = ""{pads}', weights), [x])
        pool = onnx.parser.parse_model(
            f'<ir_version: 10, opset_import: ["": 21]> test (float[{shape}] x) => (float[p,q,r,s] y) '
            f'{{ y = MaxPool<auto_pad = "", kernel_shape = [3, 3]{pads}>(x) }}'
        )
        _compare(pool, [x])


@pytest.mark.parametrize("stride", [1, 3, 160])
def test_long_windows(stride: int) -> None:
    """One row, one channel: a filter over a signal."""
    random = np.random.default_rng(0)
    weights = random.standard_normal((5, 1, 1, 441)).astype(np.float32) / 21
    attributes = f"kernel_shape = [1, 441], strides = [1, {stride}], pads = [0, 200, 0, 200]"
    feeds = [random.standard_normal((1, 1, 1, n)).astype(np.float32) for n in (441, 600, 2000)]
    _compare(_model("n,1,1,w", attributes, weights), feeds)


@pytest.mark.parametrize("kernel", [(3, 3), (1, 3), (2, 3)], ids=str)
@pytest.mark.parametrize("dilation", [(1, 1), (6, 7)], ids=str)
@pytest.mark.parametrize("channels", [64, 256])
def test_mostly_padding(channels: int, kernel: tuple[int, int], dilation: tuple[int, int]) -> None:
    """Small images and kernels far apart: some of their elements read padding alone."""
    random = np.random.default_rng(0)
    weights = random.standard_normal((64, channels, *kernel)).astype(np.float32) / 24
    reach = [(k - 1) * d for k, d in zip(kernel, dilation, strict=True)]
    before = [n // 2 + 1 for n in reach]
    pads = [*before, *(n - n // 2 for n in reach)]
    attributes = f"kernel_shape = {list(kernel)}, dilations = {list(dilation)}, pads = {pads}"
    feeds = [
        random.standard_normal((n, channels, h, w)).astype(np.float32)
        for n, h, w in [(1, 1, 1), (2, 3, 7), (1, 10, 10), (0, 4, 4), (1, 17, 2)]
    ]
    _compare(_model(f"n,{channels},h,w", attributes, weights), feeds)
    for x in feeds[:3]:
        _compare(_model(",".join(map(str, x.shape)), attributes, weights), [x])


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("shape", ["n, 32, h, w", "2, 32, 14, w", "n, 32, 14, 11", "1, 32, 14, 11"])
@pytest.mark.parametrize(
    "window", [(2, 1, 2), (5, 2, 5), (6, 1, 9), (24, 1, 24), (2, 3, 1)], ids=str
)
def test_padding_is_not_summed_up(window: tuple[int, int, int], shape: str, groups: int) -> None:
    """Elements of the kernel that no row of a tile reads within the image; infinite weights are."""
    dilation, stride, pad = window
    random = np.random.default_rng(0)
    weights = random.standard_normal((64, 32 // groups, 3, 3)).astype(np.float32)
    attributes = (
        f"group = {groups}, dilations = [{dilation}, {dilation}], strides = [{stride}, {stride}], "
        f"pads = [{pad}, {pad}, {dilation}, {2 * dilation}]"
    )
    images = [random.standard_normal((2, 32, 14, 11)).astype(np.float32)]
    if "h" in shape:
        images.append(random.standard_normal((1, 32, 40, 33)).astype(np.float32))
    if shape.startswith("1"):
        images = [image[:1] for image in images]
    _compare(_model(shape, attributes, weights), images)
    # Zero times infinity is no number.
    weights[:, :, 0, 0] = np.inf
    session = loopc.InferenceSession(_model(shape, attributes, weights).SerializeToString())
    (got,) = session.run(None, {"x": np.abs(images[0]) + 1})
    rows, columns = (stride * np.arange(n) - pad for n in got.shape[2:])
    is_inside = ((rows >= 0) & (rows < 14))[:, None] & ((columns >= 0) & (columns < 11))
    assert (np.isnan(got) == ~is_inside).all()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", ["n, 64, h, w", "n, 64, 7, 14", "1, 64, h, 5"])
def test_images_of_no_whole_tiles(shape: str, threads: int) -> None:
    """Tiles go through both axes of an image: those that end in the next row, and the last one."""
    random = np.random.default_rng(3)
    weights = random.standard_normal((80, 64, 3, 3)).astype(np.float32) / 24
    data = _model(shape, "pads = [1, 1, 1, 1]", weights).SerializeToString()
    session = loopc.InferenceSession(data, loopc.SessionOptions(intra_op_num_threads=threads))
    reference = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    known = [dim.strip() for dim in shape.split(",")]
    for sizes in [(1, 64, 1, 1), (2, 64, 3, 1), (1, 64, 2, 5), (1, 64, 23, 23), (3, 64, 7, 14)]:
        fixed = [
            int(dim) if dim.isdigit() else size for dim, size in zip(known, sizes, strict=True)
        ]
        x = random.standard_normal(fixed).astype(np.float32)
        (want,) = reference.run(None, {"x": x})
        (got,) = session.run(None, {"x": x})
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4, err_msg=str(x.shape))


@pytest.mark.parametrize("shape", ["n, h, w, 256", "2, h, w, 256", "n, 14, 14, 256"])
@pytest.mark.parametrize(("kernel", "stride"), [(1, 2), (1, 1), (3, 2)])
def test_channels_last(shape: str, kernel: int, stride: int) -> None:
    """Convolutions of images whose channels come last, whose result is stored transposed."""
    random = np.random.default_rng(3)
    weights = random.standard_normal((64, 256, kernel, kernel)).astype(np.float32) / 16
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 21]> test (float[{shape}] x) => (float[p,q,r,s] y) '
        f"{{ planes = Transpose<perm = [0, 3, 1, 2]>(x) "
        f"c = Conv<strides = [{stride}, {stride}]>(planes, w) "
        f"last = Transpose<perm = [0, 2, 3, 1]>(c) z = Add(last, b) r = Relu(z) "
        f"y = Transpose<perm = [0, 3, 1, 2]>(r) }}"
    )
    dims = [dim.strip() for dim in shape.split(",")]
    sizes = [[int(d) if d.isdigit() else size for d, size in zip(dims, s, strict=True)]
             for s in [(1, 11, 11, 0), (2, 9, 14, 0), (3, 3, 30, 0)]]  # fmt: skip
    feeds = [random.standard_normal(size).astype(np.float32) for size in sizes]
    _compare(_add_weights(model, weights), feeds)


def test_subnormal_weights() -> None:
    """Products with subnormal weights, and of subnormal numbers, are those of NumPy."""
    random = np.random.default_rng(4)
    weights = random.standard_normal((16, 32, 1, 1)).astype(np.float32)
    weights[:, ::2] *= np.float32(2.0**-140)
    weights[:, 1] = 0
    session = loopc.InferenceSession(
        _model("n, 32, h, w", "group = 1", weights).SerializeToString()
    )
    bias = np.random.default_rng(1).standard_normal(16).astype(np.float32)
    for scale in [1.0, 2.0**-60, 2.0**-100, 2.0**100, 2.0**126]:
        x = (random.standard_normal((1, 32, 5, 7)) * scale).astype(np.float32)
        x[:, 1::2] = 0  # what is left are the products with what is subnormal
        (got,) = session.run(None, {"x": x})
        exact = np.einsum(
            "nchw,oc->nohw", x.astype(np.float64), weights[:, :, 0, 0].astype(np.float64)
        )
        want = (exact + bias[:, None, None]).astype(np.float32)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6, err_msg=str(scale))


@pytest.mark.parametrize(
    "attributes", ['auto_pad = "SAME_UPPER"', "pads = [0, 1, 0, 1]", "output_padding = [1, 0]"]
)
@pytest.mark.parametrize("stride", [2, 5])
def test_transposed_window_of_one_element(stride: int, attributes: str) -> None:
    """The stride says how large the result is where padding is chosen by it."""
    model = onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["" : 22]>
    one (float[N, 3, H, 1] x) => (float[n, m, h, v] y) {{
      y = ConvTranspose <strides = [{stride}, {stride}], {attributes}> (x, w)
    }}""")
    random = np.random.default_rng(stride)
    weights = random.standard_normal((3, 2, 3, 3), np.float32)
    feeds = [random.standard_normal((n, 3, h, 1), np.float32) for n, h in ((2, 4), (1, 1))]
    _compare(_add_weights(model, weights), feeds)


@pytest.mark.parametrize("op", ["Conv", "ConvTranspose"])
@pytest.mark.parametrize("shape", ["3,3,2,0", "o,i,h,w"])
def test_windows_without_elements(op: str, shape: str) -> None:
    """A window has an element at least, as ONNX's inference says where extents are known."""
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 21]> test (float[1,3,5,4] x, float[{shape}] w) '
        f"=> (float[p,q,r,s] y) {{ y = {op}(x, w) }}"
    )
    feeds = {"x": np.ones((1, 3, 5, 4), np.float32), "w": np.ones((3, 3, 2, 0), np.float32)}
    with pytest.raises(loopc.Error, match=r"only contain positive values|windows of 0 elements"):
        loopc.InferenceSession(model.SerializeToString()).run(None, feeds)
