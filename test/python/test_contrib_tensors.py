# ===- test_contrib_tensors.py - Operators of onnxruntime on tensors --------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Operators that exporters wrote before ONNX had them, beside onnxruntime or a formula."""

import loopc
import numpy as np
import onnx.parser
import pytest
from test_contrib_operators import compare, floats, make, scalar

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("mode", [None, "bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample(mode, padding):
    # Beyond the border onnxruntime 1.31 and ONNX's reference are of two minds, in this mode.
    most = 1.0 if (mode, padding) == ("bicubic", "border") else 1.4
    grid = RNG.uniform(-most, most, (2, 5, 4, 2)).astype(np.float32)
    modes = {} if mode is None else {"mode": mode}
    for align in (0, 1):
        compare("GridSample", [floats(2, 3, 6, 7), grid], padding_mode=padding,
                align_corners=align, **modes)  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 3), (5, 4, 4), (2, 3, 9, 9)])
def test_inverse(dtype, shape):
    x = RNG.standard_normal(shape).astype(dtype)
    compare("Inverse", [x], tolerance=2e-3 if dtype is np.float32 else 1e-9)


def test_inverse_of_permuted_rows():
    """Where each diagonal element is 0 before rows are exchanged."""
    compare("Inverse", [np.float32([[0, 0, 2], [4, 0, 0], [0, 8, 0]])])


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_pad(mode):
    pads = np.int64([0, 1, 2, 1])
    for given in (pads, pads[None]):
        compare("Pad", [floats(3, 4), given], mode=mode, constants=(1,))
    compare("Pad", [floats(3, 4), np.int64([0, -1, 2, 1])], constants=(1,))
    compare("Pad", [floats(3, 4), pads, scalar(7)], constants=(1,))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.int32, np.int64])
def test_range(dtype):
    compare("Range", [np.array(1, dtype), np.array(9, dtype), np.array(3, dtype)])
    compare("Range", [np.array(9, dtype), np.array(1, dtype), np.array(-2, dtype)])
    compare("Range", [np.array(2, dtype), np.array(6, dtype)])
    compare("Range", [np.array([2], dtype), np.array([6], dtype)])


@pytest.mark.parametrize(("dim", "size", "step"), [(-1, 2, 1), (0, 3, 2), (1, 4, 3), (1, 5, 1)])
def test_unfold(dim, size, step):
    compare("UnfoldTensor", [floats(5, 5, 6)], dim=dim, size=size, step=step)


def test_products_of_16_bits():
    a, b = (RNG.integers(-99, 99, shape).astype(np.int16) for shape in ((3, 4), (4, 5)))
    compare("MatMulInteger16", [a, b], [np.int32])


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 8])
def test_ngram_repeat_block(size):
    tokens = RNG.integers(0, 3, (4, 6)).astype(np.int64)
    made, feeds = make("NGramRepeatBlock", [tokens, floats(4, 3)], [np.float32], ngram_size=size)
    expected = feeds["x1"].copy()
    for row, scores in zip(tokens, expected, strict=True):
        for begin in range(len(row) - size + 1):
            if (row[begin : begin + size - 1] == row[len(row) - size + 1 :]).all():
                scores[row[begin + size - 1]] = -np.inf
    (got,) = loopc.InferenceSession(made).run(None, feeds)
    np.testing.assert_array_equal(got, expected)
    if size < 6:
        compare("NGramRepeatBlock", [tokens, floats(4, 3)], [np.float32], ngram_size=size)


def run(op, operands, outputs=1, **attributes):
    """With extents that are open and with ones that are known."""
    made = [make(op, operands, [operands[0].dtype] * outputs, dynamic=d, **attributes)
            for d in (True, False)]  # fmt: skip
    results = [loopc.InferenceSession(model).run(None, feeds) for model, feeds in made]
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
    return results[0]


def group_norm(x, gamma, beta, groups, activation, epsilon=1e-5):
    """Of images whose channels are last."""
    n, h, w, c = x.shape
    parts = x.astype(np.float64).reshape(n, h, w, groups, c // groups)
    mean, var = parts.mean((1, 2, 4), keepdims=True), parts.var((1, 2, 4), keepdims=True)
    y = ((parts - mean) / np.sqrt(var + epsilon)).reshape(x.shape) * gamma + beta
    return y / (1 + np.exp(-y)) if activation else y


# onnxruntime has what follows for GPUs alone.
@pytest.mark.parametrize("activation", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_group_norm(activation, dtype):
    x, gamma, beta = floats(2, 3, 5, 8).astype(dtype), floats(8), floats(8)
    expected = group_norm(x, gamma, beta, 4, activation)
    settings = {"groups": 4, "activation": activation}
    tolerance = 1e-4 if dtype is np.float32 else 2e-2
    (y,) = run("GroupNorm", [x, gamma, beta], **settings)
    np.testing.assert_allclose(y, expected, rtol=tolerance, atol=tolerance)
    first = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    (y,) = run("GroupNorm", [first, gamma, beta], channels_last=0, **settings)
    np.testing.assert_allclose(y.transpose(0, 2, 3, 1), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("skip", [(2, 8), (2, 1, 1, 8), (2, 3, 5, 8)])
@pytest.mark.parametrize("bias", [None, (8,)])
def test_skip_group_norm(skip, bias):
    x, gamma, beta, skipped = floats(2, 3, 5, 8), floats(8), floats(8), floats(*skip)
    shift = None if bias is None else floats(*bias)
    total = x + (skipped[:, None, None] if len(skip) == 2 else skipped)
    total = total if shift is None else total + shift
    y, s = run("SkipGroupNorm", [x, gamma, beta, skipped, shift], 2, groups=2, activation=1)
    np.testing.assert_allclose(s, total, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(y, group_norm(total, gamma, beta, 2, 1), rtol=1e-4, atol=1e-4)


def test_parts_of_transformers():
    x, bias = floats(2, 3, 8), floats(8)
    (y,) = run("BiasSplitGelu", [x, bias])
    gelu = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21]> g (float[a, b, c] x) => (float[a, b, c] y) '
        "{ y = Gelu(x) }"
    )
    value, gate = np.split(x + bias, 2, axis=-1)
    opened = loopc.InferenceSession(gelu.SerializeToString()).run(None, {"x": gate})[0]
    np.testing.assert_allclose(y, value * opened, rtol=1e-5, atol=1e-5)
    weights = floats(8, 4)
    for added in (None, floats(4)):
        (y,) = run("GemmFastGelu", [x, weights, added])
        z = (x @ weights + (0 if added is None else added)).astype(np.float64)
        z = z / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))
        np.testing.assert_allclose(y, z, rtol=1e-4, atol=1e-4)
    (y,) = run("TorchEmbedding", [weights, np.int64([[3, 0], [7, 7]])])
    np.testing.assert_array_equal(y, weights[[[3, 0], [7, 7]]])
