# ===- test_contrib_indexing.py - Operators of onnxruntime that select ------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Unique elements, regions of images, paths, steps of decoders, 4-bit weights, beside onnxruntime."""

import loopc
import numpy as np
import pytest
from test_contrib_operators import bits, compare, floats, int32, make, quantized, scalar, scales

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("length", [0, 1, 7, 40])
def test_unique(length):
    x = RNG.integers(0, 5, length).astype(np.float32)
    compare("Unique", [x], [np.float32, np.int64, np.int64])


def test_gather_nd():
    data = floats(3, 4, 5)
    compare("GatherND", [data, np.int64([[0, 1], [2, 3]])])
    compare("GatherND", [data, int32([[[0], [2]]])])


@pytest.mark.parametrize("mode", [None, "bilinear", "nearest"])
@pytest.mark.parametrize("size", [(3, 4), (1, 5), (6, 1)])
def test_crop_and_resize(mode, size):
    rois = np.float32(
        [[0, 0, 1, 1], [0.2, 0.1, 0.7, 0.9], [0.6, 0.5, 0.1, 0.2], [-0.2, 0.5, 0.5, 1.3]]
    )
    images = int32([1, 0, 0, 1])
    more = {} if mode is None else {"mode": mode}
    compare("CropAndResize", [floats(2, 3, 6, 7), rois, images, int32(size)],
            extrapolation_value=2.5, **more)  # fmt: skip


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (6, 2), (1, 4), (1, 5, 5)])
def test_dynamic_time_warping(shape):
    compare("DynamicTimeWarping", [floats(*shape)], [np.int32])
    # Costs that are equal are told apart in one way.
    compare("DynamicTimeWarping", [np.round(floats(*shape))], [np.int32])


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize(("n", "k", "block"), [(8, 32, 16), (3, 33, 32), (5, 64, 64)])
def test_weights_of_bitsandbytes(kind, n, k, block):
    packed = quantized(np.uint8, (n * k + 1) // 2)
    steps = scales((n * k + block - 1) // block)
    compare("MatMulBnb4", [floats(2, 3, k), packed, steps], constants=(1, 2), K=k, N=n,
            block_size=block, quant_type=kind)  # fmt: skip


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("segments", [True, False])
def test_quantized_embedding(dtype, segments):
    tables = [quantized(dtype, *s) for s in ((9, 8), (6, 8), (3, 8), (8,), (8,))]
    steps = [scalar(x) for x in (0.1, 0.2, 0.3, 0.05, 0.1)]
    points = [np.array(x, dtype) for x in (3, 1, 2, 0, 4)]
    ids = RNG.integers(0, 9, (2, 5)).astype(np.int32)
    parts = RNG.integers(0, 3, (2, 5)).astype(np.int32)
    third = tables[2] if segments else None
    operands = [ids, parts if segments else None, tables[0], tables[1], third, tables[3], tables[4], bits(2, 5),
                steps[0], steps[1], steps[2] if segments else None, steps[3], steps[4],
                points[0], points[1], points[2] if segments else None, points[3], points[4]]  # fmt: skip
    compare("QEmbedLayerNormalization", operands, [np.float32, np.int32], constants=(2, 3, 4, 5, 6),
            epsilon=1e-5, tolerance=1e-3)  # fmt: skip


def test_bias_softmax():
    """onnxruntime has it on GPUs alone."""
    data, bias = floats(2, 3, 4, 5), floats(2, 1, 1, 5)
    for axis in (3, 2, -1):
        made, feeds = make(
            "BiasSoftmax", [data, bias], [np.float32], axis=axis, is_inner_broadcast=1
        )
        (got,) = loopc.InferenceSession(made).run(None, feeds)
        rows = (data + bias).reshape(*data.shape[: axis % 4], -1)
        rows = np.exp(rows - rows.max(-1, keepdims=True))
        expected = (rows / rows.sum(-1, keepdims=True)).reshape(data.shape)
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


BATCH, HEADS, SIZE, MOST = 4, 2, 8, 6


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("mask", [False, True])
def test_decoder_attention_across(bias, mask):
    query = floats(BATCH, 1, HEADS * SIZE)
    key, value = floats(BATCH, HEADS, 5, SIZE), floats(BATCH, HEADS, 5, SIZE)
    compare("DecoderMaskedMultiHeadAttention",
            [query, key, value, bits(BATCH, 5) if mask else None, *[None] * 6,
             floats(3 * HEADS * SIZE) if bias else None],
            num_heads=HEADS)  # fmt: skip


@pytest.mark.parametrize("past", [1, 3, MOST - 1])
@pytest.mark.parametrize("beams", [None, 1, 2])
def test_decoder_attention_with_buffer(past, beams):
    query, key, value = (floats(BATCH, 1, HEADS * SIZE) for _ in range(3))
    buffers = [floats(BATCH, HEADS, MOST, SIZE) for _ in range(2)]
    width = None if beams is None else int32([beams])
    source = None
    if beams is not None:
        source = RNG.integers(0, beams, (BATCH // beams, beams, MOST)).astype(np.int32)
    compare("DecoderMaskedMultiHeadAttention",
            [query, key, value, None, None, *buffers, int32([past]), width, source],
            3, num_heads=HEADS, past_present_share_buffer=1)  # fmt: skip


@pytest.mark.parametrize("layout", [0, 1])
@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("rank", [3, 4])
def test_rotary_embedding_of_three_positions(layout, interleaved, rank):
    x = floats(2, 5, 3 * 16) if rank == 3 else floats(2, 3, 5, 16)
    places = RNG.integers(0, 9, (3, 2, 5)).astype(np.int64)
    more = {"num_heads": 3} if rank == 3 else {}
    compare("MRotaryEmbedding", [x, places, floats(9, 8), floats(9, 8)], mrope_layout=layout,
            interleaved=interleaved, mrope_section=[4, 2, 2], **more)  # fmt: skip


HIDDEN, INNER, EXPERTS = 6, 10, 4


def experts(rows, wide=1, third=False, biased=True):
    def bias(width):
        return floats(EXPERTS, width) if biased else None

    return [floats(*rows, HIDDEN), floats(int(np.prod(rows)), EXPERTS),
            floats(EXPERTS, wide * INNER, HIDDEN), bias(wide * INNER),
            floats(EXPERTS, HIDDEN, INNER), bias(HIDDEN),
            *([floats(EXPERTS, INNER, HIDDEN), bias(INNER)] if third else [])]  # fmt: skip


@pytest.mark.parametrize("kind", ["relu", "gelu", "silu", "identity"])
@pytest.mark.parametrize("normalize", [0, 1])
@pytest.mark.parametrize("rows", [(7,), (2, 3)])
def test_experts(kind, normalize, rows):
    for k in (1, 2):
        compare("MoE", experts(rows, biased=k == 1), activation_type=kind, k=k,
                normalize_routing_weights=normalize)  # fmt: skip


def test_experts_with_gates():
    """onnxruntime's CPU takes gates and values that alternate; the other forms are those in another order."""
    gates = {"activation_type": "swiglu", "k": 2, "activation_alpha": 1.702,
             "activation_beta": 1.0, "swiglu_limit": 0.7, "normalize_routing_weights": 1}  # fmt: skip
    x, routes, w1, b1, w2, b2 = experts((5,), wide=2)
    operands = [x, routes, w1, b1, w2, b2]
    compare("MoE", operands, swiglu_fusion=1, **gates)
    gate, value = (w1[:, 0::2], b1[:, 0::2]), (w1[:, 1::2], b1[:, 1::2])
    behind = [np.concatenate(both, 1) for both in zip(gate, value, strict=True)]
    results = []
    for fusion, given in [(1, operands), (2, [x, routes, *behind, w2, b2]),
                          (0, [x, routes, *gate, w2, b2, *value])]:  # fmt: skip
        made, feeds = make("MoE", given, [np.float32], swiglu_fusion=fusion, **gates)
        results.append(loopc.InferenceSession(made).run(None, feeds)[0])
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], rtol=1e-5, atol=1e-6)
