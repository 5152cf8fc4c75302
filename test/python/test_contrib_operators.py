# ===- test_contrib_operators.py - Operators of onnxruntime ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Operators of onnxruntime's own domain, beside onnxruntime."""

from __future__ import annotations

import platform
from typing import Any

import loopc
import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
from exact_peer import weight_range
from onnx import helper, numpy_helper

CONTRIB = "com.microsoft"
RNG = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def scales(*shape: int) -> np.ndarray:
    return np.abs(floats(*shape)) * np.float32(0.1)


def scalar(value: float, dtype: Any = np.float32) -> np.ndarray:
    return np.array(value, dtype)


def bits(*shape: int) -> np.ndarray:
    return RNG.integers(0, 2, shape).astype(np.int32)


def int32(values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def quantized(dtype: Any, *shape: int) -> np.ndarray:
    low, high = weight_range(dtype)
    return RNG.integers(low, high + 1, shape).astype(dtype)


def make(
    op: str,
    operands: list[np.ndarray | None],
    outputs: list[Any],
    *,
    constants: tuple[int, ...] = (),
    domain: str = CONTRIB,
    opset: int = 17,
    dynamic: bool | None = True,
    **attributes: Any,
) -> tuple[bytes, dict[str, np.ndarray]]:
    """A model of one node, and its inputs. `outputs`: element types; None: left out."""
    names = ["" if v is None else f"x{k}" for k, v in enumerate(operands)]
    feeds, inputs, initializers = {}, [], []
    for k, (name, value) in enumerate(zip(names, operands, strict=True)):
        if value is None:
            continue
        if k in constants:
            initializers.append(numpy_helper.from_array(value, name))
            continue
        feeds[name] = value
        shape: Any = [f"{name}_{axis}" if dynamic else n for axis, n in enumerate(value.shape)]
        if dynamic is None:
            shape = None
        element = helper.np_dtype_to_tensor_dtype(value.dtype)
        inputs.append(helper.make_tensor_value_info(name, element, shape))
    results = ["" if t is None else f"y{k}" for k, t in enumerate(outputs)]
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.dtype(t)), None)
        for n, t in zip(results, outputs, strict=True)
        if n
    ]
    node = helper.make_node(op, names, results, domain=domain, **attributes)
    graph = helper.make_graph([node], "contrib", inputs, infos, initializers)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(CONTRIB, 1)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return made.SerializeToString(), feeds


def compare(op: str, operands: list[np.ndarray | None], outputs: Any = 1, **more: Any) -> None:
    """With extents that are open, with ones that are known, and where asked for of no known rank."""
    tolerance = more.pop("tolerance", 1e-4)
    forms = (True, False, None) if more.pop("unranked", False) else (True, False)
    if isinstance(outputs, int):
        first = next(v for v in operands if v is not None)
        outputs = [first.dtype] * outputs
    for dynamic in forms:
        made, feeds = make(op, operands, outputs, dynamic=dynamic, **more)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        peer = onnxruntime.InferenceSession(made, options, providers=["CPUExecutionProvider"])
        expected = peer.run(None, feeds)
        got = loopc.InferenceSession(made).run(None, feeds)
        for want, value in zip(expected, got, strict=True):
            assert value.shape == want.shape and value.dtype == want.dtype
            if want.dtype.kind in "iu":
                # What lies between two integers is rounded after other operations.
                apart = np.abs(want.astype(np.int64) - value.astype(np.int64))
                assert apart.max(initial=0) <= (1 if want.dtype.itemsize == 1 else 0)
            else:
                np.testing.assert_allclose(value, want, rtol=tolerance, atol=tolerance)


def test_activations():
    compare("Gelu", [floats(3, 5)])
    compare("FastGelu", [floats(3, 5)])
    compare("FastGelu", [floats(2, 3, 5), floats(5)])
    compare("BiasGelu", [floats(2, 3, 5), floats(5)], unranked=True)
    compare("QuickGelu", [floats(2, 3)])
    compare("QuickGelu", [floats(2, 3)], alpha=1.5)


def test_movement():
    compare("Trilu", [floats(4, 5)], upper=0)
    compare("Trilu", [floats(2, 4, 5), scalar(1, np.int64)], unranked=True)
    compare("ExpandDims", [floats(2, 3), scalar(1, np.int32)], constants=(1,))


# Axes of A [2, 3, 4, 5] and B [2, 3, 5, 6] as they lie where (batch, last) are transposed.
PLACES = {(0, 0): (0, 1, 2, 3), (0, 1): (0, 1, 3, 2), (1, 0): (2, 0, 1, 3), (1, 1): (3, 0, 1, 2)}


@pytest.mark.parametrize("a", PLACES)
@pytest.mark.parametrize("b", PLACES)
def test_transposed_products(a, b):
    left = np.ascontiguousarray(floats(2, 3, 4, 5).transpose(PLACES[a]))
    right = np.ascontiguousarray(floats(2, 3, 5, 6).transpose(PLACES[b]))
    compare("FusedMatMul", [left, right], alpha=0.5,
            transBatchA=a[0], transA=a[1], transBatchB=b[0], transB=b[1])  # fmt: skip


def test_products_of_vectors():
    compare("FusedMatMul", [floats(4), floats(4, 3)], transA=1, unranked=True)
    compare("FusedMatMul", [floats(4, 2), floats(3, 4)], transA=1, transB=1, unranked=True)
    compare("FusedMatMul", [floats(3, 4), floats(4)])
    compare("TransposeMatMul", [floats(2, 4, 3), floats(2, 4, 5)], transA=1)


@pytest.mark.parametrize("metric", ["sqeuclidean", "euclidean"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m, k, n", [(3, 7, 4), (1, 1, 1), (0, 3, 4), (3, 0, 4), (33, 17, 5)])
def test_distances_of_rows(metric, dtype, m, k, n):
    """As skl2onnx writes them for neighbours and Gaussian processes."""
    operands = [floats(m, n).astype(dtype), floats(k, n).astype(dtype)]
    if m == 0 or k == 0:
        made, feeds = make("CDist", operands, [dtype], metric=metric)
        (got,) = loopc.InferenceSession(made).run(None, feeds)
        assert got.shape == (m, k)
        return
    compare("CDist", operands, metric=metric)


def test_distances_of_close_rows():
    """Rows far from the origin keep the digits of their distance."""
    a = floats(5, 3) + np.float32(1000)
    made, feeds = make("CDist", [a, a], [np.float32], metric="euclidean")
    (got,) = loopc.InferenceSession(made).run(None, feeds)
    apart = a[:, None].astype(np.float64) - a[None]
    np.testing.assert_allclose(got, np.sqrt((apart**2).sum(-1)), rtol=1e-5, atol=1e-6)


def test_distance_that_is_unknown():
    made, _ = make("CDist", [floats(2, 3), floats(2, 3)], [np.float32], metric="cosine")
    with pytest.raises(loopc.CompileError, match="the metric 'cosine' is unknown"):
        loopc.InferenceSession(made)


@pytest.mark.parametrize(
    "name, parameters",
    [("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.1]), ("HardSigmoid", [0.3, 0.4]),
     ("Clip", [-0.5, 0.7])],
)  # fmt: skip
def test_fused_activations(name, parameters):
    given = {"activation_params": parameters} if parameters else {}
    compare("FusedConv", [floats(1, 3, 8, 8), floats(4, 3, 3, 3), floats(4)], constants=(1, 2),
            activation=name, pads=[1, 1, 1, 1], **given)  # fmt: skip
    if name != "Clip":
        values = dict(zip(("activation_alpha", "activation_beta"), parameters, strict=False))
        compare("FusedGemm", [floats(3, 4), floats(4, 5), floats(5)],
                activation=name, alpha=0.5, beta=2.0, **values)  # fmt: skip


def test_sum_before_activation():
    operands = [floats(1, 3, 8, 8), floats(4, 3, 3, 3), floats(4), floats(1, 4, 6, 6)]
    compare("FusedConv", operands, constants=(1, 2), activation="Relu")


@pytest.mark.parametrize(
    "outputs",
    [[np.float32], [np.float32, None, None, np.float32], [np.float32] * 4, [np.float32] * 2,
     [np.float32, None, np.float32]],
)  # fmt: skip
def test_skip_normalizations(outputs):
    x, skip = floats(2, 3, 8), floats(2, 3, 8)
    layer = "SkipLayerNormalization"
    compare(layer, [x, skip, floats(8), floats(8), floats(8)], outputs)
    compare(layer, [x, skip, floats(8)], outputs)
    compare(layer, [x, skip, floats(8), None, floats(8)], outputs, epsilon=1e-3)
    compare(layer, [x, floats(3, 8), floats(8), floats(8)], outputs)
    simple = "SkipSimplifiedLayerNormalization"
    compare(simple, [x, skip, floats(8)], outputs, epsilon=1e-5)
    compare(simple, [x, skip, floats(8), floats(8)], outputs)


def test_normalizations_of_the_standard_domain():
    simple = "SimplifiedLayerNormalization"
    for axis, extents in ((-1, (8,)), (1, (3, 8)), (-2, (3, 8)), (2, (8,))):
        compare(simple, [floats(2, 3, 8), floats(*extents)], 2, domain="", axis=axis, epsilon=1e-3)
    compare(simple, [floats(2, 3, 8), floats(8)], domain="", axis=-1, stash_type=1)
    compare(simple, [floats(2, 3, 8), floats(8)], domain="", axis=2, epsilon=1e-3)
    layer = "LayerNormalization"
    compare(layer, [floats(2, 3, 8), floats(8), floats(8)], domain="", opset=14, axis=-1)
    compare(layer, [floats(2, 3, 8), floats(8)], domain="", opset=12)


def test_normalization_of_groups_as_it_was():
    """Withdrawn with opset 21, but models of opsets 18 to 20 have it."""
    operands = [floats(2, 6, 3, 5), floats(2), floats(2)]
    compare("GroupNormalization", operands, domain="", opset=18, num_groups=2, epsilon=1e-3)


def test_embeddings():
    ids, segments = RNG.integers(0, 9, (2, 4)).astype(np.int32), bits(2, 4)
    mask = int32([[1, 1, 1, 0], [1, 1, 1, 1]])
    tables = [floats(9, 8), floats(10, 8), floats(2, 8), floats(8), floats(8)]
    f32, i32 = np.float32, np.int32
    name, constants = "EmbedLayerNormalization", (2, 3, 4, 5, 6)
    compare(name, [ids, segments, *tables, mask], [f32, i32], constants=constants)
    compare(name, [ids, segments, *tables], [f32, i32, f32], constants=constants)
    tables[2] = None
    places = int32([[3, 2, 1, 0]])
    compare(name, [ids, None, *tables, None, places], [f32, i32], constants=constants)


@pytest.mark.parametrize("causal", [0, 1])
def test_multi_head_attention(causal):
    b, s, past, size = 2, 3, 4, 16
    keys, values = floats(b, 2, past, 8), floats(b, 2, past, 8)
    given = {"num_heads": 2, "unidirectional": causal}

    def check(*more: np.ndarray | None, outputs: int = 1, **attributes: Any) -> None:
        operands = [floats(b, s, size) for _ in range(3)]
        compare("MultiHeadAttention", [*operands, *more], outputs, **given, **attributes)

    check(floats(3 * size))
    check(None, int32([[1, 1, 0], [1, 0, 0]]))
    check(None, int32([2, 3]))
    check(None, bits(b, s, s))
    check(None, None, floats(1, 2, s, s + past), keys, values, outputs=3, scale=0.3)
    check(floats(3 * size), bits(b, s + past), None, keys, values, outputs=3)


def test_keys_of_another_length():
    query, name = floats(2, 3, 16), "MultiHeadAttention"
    compare(name, [query, floats(2, 5, 16), floats(2, 5, 8)], num_heads=2)
    compare(name, [query, floats(2, 2, 5, 8), floats(2, 2, 5, 8)], num_heads=2)


@pytest.mark.parametrize("causal", [0, 1])
def test_attention_of_merged_weights(causal):
    b, s, past = 2, 3, 4
    state = floats(2, b, 2, past, 8)
    given = {"num_heads": 2, "unidirectional": causal, "constants": (1, 2)}

    def check(*more: np.ndarray | None, outputs: int = 1, **attributes: Any) -> None:
        operands = [floats(b, s, 10), floats(10, 48), floats(48), *more]
        compare("Attention", operands, outputs, **given, **attributes)

    check()
    check(int32([[1, 1, 0], [1, 0, 0]]))
    check(int32([2, 3]))
    check(int32([2, 3, 0, 1]))
    check(bits(b, s, s))
    check(None, state, outputs=2)
    check(bits(b, s + past), state, outputs=2)
    check(None, None, floats(b, 2, s, s), scale=0.2)


def test_values_of_another_size():
    operands = [floats(2, 3, 10), floats(10, 38), floats(38)]
    compare("Attention", operands, constants=(1, 2), num_heads=2, qkv_hidden_sizes=[16, 16, 6])


def test_quantized_attention():
    u8 = np.uint8
    operands = [quantized(u8, 2, 3, 10), quantized(u8, 10, 48), floats(48), scalar(0.01),
                scalar(0.01), int32([[1, 1, 0], [1, 0, 0]]), scalar(120, u8), scalar(130, u8)]  # fmt: skip
    compare("QAttention", operands, [np.float32], constants=(1, 2, 3, 4, 6, 7), num_heads=2,
            tolerance=1e-3)  # fmt: skip


@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotary_embeddings(interleaved):
    table, short = floats(32, 4), floats(32, 2)
    name, given = "RotaryEmbedding", {"interleaved": interleaved}
    places = np.array([[1, 2, 3], [4, 5, 6]])
    compare(name, [floats(2, 3, 16), places, table, table], **given)
    compare(name, [floats(2, 3, 16), np.array([2]), table, table], **given)
    compare(name, [floats(2, 2, 3, 8), np.array([2]), table, table], **given)
    compare(name, [floats(2, 3, 16), np.array([2]), short, short], num_heads=2,
            rotary_embedding_dim=4, **given)  # fmt: skip


@pytest.mark.parametrize(
    "new, past, attributes",
    [(4, None, {"do_rotary": 1}), (4, None, {"do_rotary": 1, "rotary_interleaved": 1}),
     (4, None, {}), (4, 0, {"do_rotary": 1}), (1, 4, {"do_rotary": 1}),
     (4, None, {"local_window_size": 2}), (1, 5, {"local_window_size": 3}),
     (4, None, {"scale": 0.4})],
)  # fmt: skip
@pytest.mark.parametrize("packed", [False, True])
def test_grouped_queries(new, past, attributes, packed):
    b, size, table = 2, 16, floats(32, 8)
    inputs = [floats(b, new, 4 * size), None, None]
    if not packed:
        inputs = [floats(b, new, 2 * size), floats(b, new, size), floats(b, new, size)]
    state = [None, None] if past is None else [floats(b, 1, past, size) for _ in range(2)]
    total = new + (past or 0)
    lengths = [int32([total - 1] * b), scalar(total, np.int32)]
    tables = [table, table] if "do_rotary" in attributes else []
    compare("GroupQueryAttention", [*inputs, *state, *lengths, *tables], 3, num_heads=2,
            kv_num_heads=1, **attributes)  # fmt: skip


@pytest.mark.parametrize(
    "name, operands",
    [("MultiHeadAttention", [floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 8), None]),
     ("Attention", [floats(2, 5, 6), floats(6, 18), floats(18)])],
)  # fmt: skip
def test_lengths_of_keys(name, operands):
    """One for each row of the batch, before where the rows begin or sums of lengths."""
    compare(name, [*operands, int32([5, 2])], num_heads=2)
    compare(name, [*operands, int32([5, 2, 0, 3, 6, 0, 5, 7])], num_heads=2)
    compare(name, [*operands, int32([0, 7])], num_heads=2, scale=0.0)
    for wrong in ([5], [1, 2, 3]):
        made, feeds = make(name, [*operands, int32(wrong)], [np.float32], num_heads=2)
        with pytest.raises(loopc.Error, match=rf"{name}.* cannot reshape {len(wrong)} elements"):
            loopc.InferenceSession(made).run(None, feeds)


@pytest.mark.parametrize("new, past", [(4, None), (1, 5)])
@pytest.mark.parametrize(
    "attributes",
    [{"softcap": 1.5}, {"smooth_softmax": 1}, {"sink": True}, {"scale": 0.0},
     {"sink": True, "softcap": 0.7, "scale": 0.4, "local_window_size": 2},
     {"softcap": 2.0, "causal": 0}],
)  # fmt: skip
def test_grouped_queries_with_caps_and_sinks(new, past, attributes):
    given = dict(attributes)
    total = new + (past or 0)
    operands = [floats(2, new, 64), floats(2, new, 32), floats(2, new, 32)]
    operands += [None, None] if past is None else [floats(2, 2, past, 16) for _ in range(2)]
    operands += [int32([total - 1] * 2), scalar(total, np.int32)]
    if given.pop("sink", False):
        operands += [None, None, None, None, floats(4)]
    compare("GroupQueryAttention", operands, 3, num_heads=4, kv_num_heads=2, **given)


@pytest.mark.parametrize("past", [False, True])
def test_causal_convolution(past):
    for activation in ("none", "silu", "swish"):
        operands = [floats(2, 6, 5), floats(6, 1, 4), floats(6)]
        operands += [floats(2, 6, 3)] if past else []
        compare("CausalConvWithState", operands, 2, constants=(1,), activation=activation)
        # Nothing tells how many channels there are.
        compare("CausalConvWithState", operands, 2, activation=activation, unranked=True)
    compare("CausalConvWithState", [floats(1, 3, 1), floats(3, 1, 4)], 2, constants=(1,))
    compare("CausalConvWithState", [floats(1, 3, 2), floats(3, 1, 1)], 2)


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
@pytest.mark.parametrize("past", [False, True])
def test_linear_attention(rule, past):
    b, steps, heads, keys, values = 2, 5, 2, 4, 3
    for gates in (heads, heads * keys) if "gated" in rule else (heads,):
        operands = [floats(b, steps, heads * keys), floats(b, steps, heads * keys) / 3,
                    floats(b, steps, heads * values), None, None, None]  # fmt: skip
        if past:
            operands[3] = floats(b, heads, keys, values)
        if "gated" in rule:
            operands[4] = -np.abs(floats(b, steps, gates))
        if "delta" in rule:
            operands[5] = np.abs(floats(b, steps, heads))
        compare("LinearAttention", operands, 2, q_num_heads=heads, kv_num_heads=heads,
                update_rule=rule)  # fmt: skip


def test_gates_of_states():
    operands = [floats(2, 3, 4), floats(4), -np.abs(floats(4))]
    compare("LinearAttentionGate", operands, 1)
    compare("LinearAttentionGate", [*operands, floats(2, 3, 4)], 2)
    for given in ({}, {"activation": "sigmoid"}, {"activation": "swish", "epsilon": 1e-3}):
        compare("GatedRMSNorm", [floats(2, 3, 12), floats(4), floats(2, 3, 12)], **given)
    compare("GatedAdd", [floats(2, 3, 4), floats(2, 3, 4), floats(2, 3, 1)])
    compare("ScaledSiLU", [floats(2, 3)], alpha=1.7)
    compare("ScaledSiLU", [floats(2, 3), scalar(0.3)], alpha=1.7)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_quantized_elementwise(dtype):
    zero = [scalar(v, dtype) for v in range(8)]
    unary = [scalar(0.02), zero[5], scalar(1 / 256), zero[0]]
    x = quantized(dtype, 2, 3, 5)
    for name in ("QLinearAdd", "QLinearMul"):
        other = [quantized(dtype, 3, 1), scalar(0.03), zero[7], scalar(0.05), zero[3]]
        compare(name, [x, scalar(0.02), zero[5], *other])
    compare("QLinearSigmoid", [x, *unary], constants=(1, 2, 3, 4))
    compare("QLinearLeakyRelu", [x, *unary], constants=(1, 2, 3, 4), alpha=0.1)
    where = [bits(2, 3) != 0, quantized(dtype, 2, 3), scalar(0.02), zero[1], quantized(dtype, 3),
             scalar(0.03), zero[2], scalar(0.04), zero[3]]  # fmt: skip
    compare("QLinearWhere", where, [dtype])
    parts = [quantized(dtype, 2, 3), scalar(0.02), zero[2], quantized(dtype, 2, 4), scalar(0.03)]
    compare("QLinearConcat", [scalar(0.02), zero[1], *parts, zero[0]], [dtype], axis=1)


@pytest.mark.parametrize("sizes", [(0.05, 0.05, 0.05), (0.02, 1 / 256, 0.01), (0.037, 0.061, 0.11)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_quantized_elementwise_rounds_as_onnxruntime(dtype, sizes):
    """All pairs of bytes, many of whose results lie between two numbers.

    `compare` takes either of the two. onnxruntime fuses products into sums where the CPU can.
    """
    pairs = np.arange(1 << 16, dtype=np.uint16).view(np.uint8).view(dtype).reshape(-1, 2)
    a, b = np.ascontiguousarray(pairs.T)
    one, other, result = map(scalar, sizes)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for name, factor, most in (("QLinearAdd", 2, 1e-3), ("QLinearMul", 40, 0)):
        operands = [a, one, scalar(7, dtype), b, other, scalar(2, dtype),
                    scalar(result * factor), scalar(3, dtype)]  # fmt: skip
        made, feeds = make(name, operands, [dtype])
        (want,) = onnxruntime.InferenceSession(made, options).run(None, feeds)
        (got,) = loopc.InferenceSession(made).run(None, feeds)
        assert np.mean(got != want) <= most, name


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_zero_points_left_out(dtype):
    """onnxruntime aborts."""
    x, zero = quantized(dtype, 2, 3), scalar(0, dtype)
    answers = []
    for point in (zero, None):
        made, feeds = make("QLinearAdd", [x, scalar(0.02), point, x, scalar(0.03), point,
                                          scalar(0.05), point], [dtype])  # fmt: skip
        answers += loopc.InferenceSession(made).run(None, feeds)
    assert answers[0].dtype == answers[1].dtype == dtype
    np.testing.assert_array_equal(*answers)


@pytest.mark.parametrize("last", [0, 1])
def test_quantized_pools(last):
    u8 = np.uint8
    operands = [quantized(u8, 2, 5, 5, 3), scalar(0.02), scalar(5, u8), scalar(0.02), scalar(1, u8)]
    compare("QLinearGlobalAveragePool", operands, channels_last=last)
    compare("NhwcMaxPool", operands[:1], kernel_shape=[2, 3], strides=[2, 1], pads=[0, 1, 1, 0])
    compare("QLinearAveragePool", operands, channels_last=last, kernel_shape=[2, 2],
            strides=[1, 2], pads=[1, 0, 0, 1])  # fmt: skip


@pytest.mark.parametrize("last", [0, 1])
def test_quantized_convolution(last):
    u8, i8 = np.uint8, np.int8
    x = quantized(u8, *((2, 6, 5, 3) if last else (2, 3, 6, 5)))
    bias = RNG.integers(-1000, 1000, (4,)).astype(np.int32)
    weights = [quantized(i8, 4, 3, 3, 3), scales(4), np.zeros(4, i8)]
    operands = [x, scalar(0.02), scalar(5, u8), *weights, scalar(3.0), scalar(90, u8), bias]
    compare("QLinearConv", operands, constants=tuple(range(1, 9)), channels_last=last,
            pads=[1, 0, 1, 0], strides=[2, 1])  # fmt: skip


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("version", [11, 13])
def test_quantized_softmax(version, axis):
    u8 = np.uint8
    operands = [quantized(u8, 2, 3, 5), scalar(0.05), scalar(5, u8), scalar(1 / 256), scalar(0, u8)]
    made, feeds = make("QLinearSoftmax", operands, [u8], constants=(1, 2, 3, 4), axis=axis)
    model = onnx.load_model_from_string(made)
    model.graph.node[0].attribute.append(helper.make_attribute("opset", version))
    made = model.SerializeToString()
    expected = onnxruntime.InferenceSession(made).run(None, feeds)[0]
    got = loopc.InferenceSession(made).run(None, feeds)[0]
    assert np.abs(expected.astype(int) - got).max() <= 1


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_integer_products(dtype):
    def q(*shape: int) -> np.ndarray:
        return quantized(dtype, *shape)

    zero, f32 = [scalar(v, dtype) for v in range(6)], [np.float32]
    bias = RNG.integers(-1000, 1000, (6,)).astype(np.int32)
    compare("QGemm", [q(3, 4), scalar(0.02), zero[5], q(4, 6), scalar(0.03), zero[2], bias,
                      scalar(0.1), zero[4]])  # fmt: skip
    compare("QGemm", [q(3, 4), scalar(0.02), zero[5], q(6, 4), scales(6), np.full(6, 2, dtype),
                      bias], f32, transB=1)  # fmt: skip
    dynamic = "DynamicQuantizeMatMul"
    compare(dynamic, [floats(2, 3, 8), q(8, 5), scalar(0.02), zero[3], floats(5)])
    compare(dynamic, [floats(3, 8), q(8, 5), scales(5)])
    mixed = "MatMulIntegerToFloat"
    compare(mixed, [q(3, 8), q(8, 5), scalar(0.02), scalar(0.03), zero[3], zero[4], floats(5)], f32)
    compare(mixed, [q(3, 8), q(8, 5), scalar(0.02), scales(5)], f32)
    compare("DequantizeLinear", [q(3, 4), scales(4), q(4)], f32, axis=1)
    compare("DequantizeLinear", [q(3, 4), scalar(0.1), zero[3]], f32)
    compare("QuantizeLinear", [floats(3, 4) * 9, scalar(0.1), zero[3]], [dtype])


@pytest.mark.parametrize("count", [2, 4, 8])
@pytest.mark.parametrize("k, block", [(64, 32), (48, 32), (80, 16)])
@pytest.mark.parametrize("lead", [(2, 3), (3, 5)])
def test_products_of_few_bits(count, k, block, lead):
    n, blocks = 6, -(-k // block)
    operands = [floats(*lead, k), quantized(np.uint8, n, blocks, block * count // 8)]
    operands += [scales(n * blocks)]
    given = {"K": k, "N": n, "bits": count, "block_size": block, "tolerance": 2e-3}
    packed = quantized(np.uint8, n * -(-blocks * count // 8))
    for points in [None, packed] + ([floats(n * blocks)] if count == 4 else []):
        compare("MatMulNBits", [*operands, points], constants=(1, 2, 3), **given)
    more = [packed, None, floats(n)]
    compare("MatMulNBits", [*operands, *more], constants=(1, 2, 3, 5), **given)


def unpacked(packed: np.ndarray, count: int, columns: int) -> np.ndarray:
    """Numbers of `count` bits along the last axis, the lowest first."""
    numbers = [packed >> shift & (1 << count) - 1 for shift in range(0, 8, count)]
    return np.stack(numbers, -1).reshape(*packed.shape[:-1], -1)[..., :columns].astype(np.int64)


@pytest.mark.parametrize("cpu, count", [(None, 2), (None, 4), (None, 8), ("x86-64-v3", 4),
                                        ("x86-64-v3", 8), ("x86-64", 4)])  # fmt: skip
@pytest.mark.parametrize("n, k, block, rows", [(40, 80, 32, 1), (64, 128, 16, 9), (5, 7, 64, 3),
                                               (512, 128, 32, 1)])  # fmt: skip
def test_rows_that_are_rounded_by_blocks(cpu, count, n, k, block, rows):
    """What accuracy_level 4 says, beside the definition."""
    if cpu and platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("processors of x86")
    blocks = -(-k // block)
    x, bias = floats(rows, k), floats(n)
    x[-1, : block // 2] = 0
    packed = quantized(np.uint8, n, blocks, block * count // 8)
    points = quantized(np.uint8, n, -(-blocks * count // 8))
    factors = scales(n * blocks)
    padded = np.zeros((rows, blocks * block), np.float32)
    padded[:, :k] = x
    padded = padded.reshape(rows, blocks, block)
    peaks = np.abs(padded).max(-1)
    with np.errstate(divide="ignore"):
        inverses = np.where(peaks == 0, np.float32(0), np.float32(127) / peaks)
    codes = np.rint(padded * inverses[..., None]).astype(np.int64)
    weights = unpacked(packed.reshape(n, -1), count, blocks * block).reshape(n, blocks, block)
    for zeros in (points,) if cpu else (None, points):
        middle = unpacked(zeros, count, blocks) if zeros is not None else 1 << count - 1
        centred = weights - np.broadcast_to(middle, (n, blocks))[..., None]
        sums = np.einsum("mbi,nbi->mnb", codes, centred)
        both = (peaks / np.float32(127))[:, None] * factors.reshape(n, blocks)
        expected = (sums * both).sum(-1) + bias
        operands = [x, packed.reshape(n, blocks, -1), factors, zeros, None, bias]
        for dynamic in (zeros is None, zeros is not None and cpu is None):
            made, feeds = make("MatMulNBits", operands, [np.float32], constants=(1, 2, 3, 5),
                               dynamic=dynamic, K=k, N=n, bits=count, block_size=block,
                               accuracy_level=4)  # fmt: skip
            options = loopc.SessionOptions(cpu=cpu)
            (got,) = loopc.InferenceSession(made, options).run(None, feeds)
            tolerance = 1e-6 * np.abs(expected).max()
            np.testing.assert_allclose(got, expected, atol=tolerance)
            if count == 4 and cpu is None:
                peer = onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"])
                np.testing.assert_allclose(got, peer.run(None, feeds)[0], atol=2 * tolerance)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("bits", [2, 4, 8])
def test_rows_of_few_bits(bits, zeros):
    """Tables of embeddings; the last block of a row is short."""
    rows, width, size = 7, 40, 16
    blocks = -(-width // size)
    in_bytes = [-(-count * bits // 8) for count in (width, blocks)]
    for indices in (np.array([3, 0, -1]), np.array([[6, 2], [1, 1]], np.int32)):
        operands = [quantized(np.uint8, rows, in_bytes[0]), indices, scales(rows, blocks)]
        operands += [quantized(np.uint8, rows, in_bytes[1])] if zeros else []
        compare("GatherBlockQuantized", operands, [np.float32], bits=bits, block_size=size,
                quantize_axis=1, constants=(0, 2, 3))  # fmt: skip


@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.uint4])
def test_rows_of_a_type_of_four_bits(dtype):
    """Without zero points those are 0."""
    name, given = "GatherBlockQuantized", {"block_size": 16, "quantize_axis": 1}
    operands = [RNG.integers(0, 8, (7, 40)).astype(dtype), np.array([3, 0]), scales(7, 3)]
    compare(name, operands, [np.float32], constants=(0, 2), **given)
    operands.append(RNG.integers(0, 8, (7, 3)).astype(dtype))
    compare(name, operands, [np.float32], constants=(0, 2, 3), **given)


def test_within_loops_and_functions():
    """Bodies see them, and attributes come from where a function was called."""
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 20, "com.microsoft" : 1, "own" : 1]>
        g (float[n] x, int64 trips) => (float[n] y) {
          true = Constant<value = bool {1}>()
          y = Loop (trips, true, x) <body = body (int64 i, bool c, float[n] s) => (bool d, float[n] t) {
            d = Identity(c)
            t = own.twice<factor = 1.5>(s)
          }>
        }
        <domain: "own", opset_import: ["" : 20, "com.microsoft" : 1]>
        twice <factor> (a) => (b) {
          h = com.microsoft.QuickGelu<alpha: float = @factor>(a)
          b = com.microsoft.QuickGelu<alpha: float = @factor>(h)
        }
    """)
    x = floats(5)
    (got,) = loopc.InferenceSession(model).run(None, {"x": x, "trips": scalar(3, np.int64)})
    for _ in range(6):
        x = x / (1 + np.exp(-1.5 * x))
    np.testing.assert_allclose(got, x, rtol=1e-5)


@pytest.mark.parametrize(
    "op, operands, attributes, said",
    [("FusedGemm", [floats(2, 2), floats(2, 2)], {"activation": "Wave"}, "'Wave' is unknown"),
     ("MultiHeadAttention", [floats(1, 2, 4)] * 3, {}, "num_heads"),
     ("MatMulNBits", [floats(2, 32), bits(3, 1, 16), floats(3)],
      {"K": 32, "N": 3, "bits": 3, "block_size": 32}, "3 bits"),
     ("Gelu", [floats(2)], {"alpha": 1.0}, "'alpha' does not exist"),
     ("BiasGelu", [floats(2)] * 3, {}, "3 inputs"),
     ("GroupQueryAttention", [floats(1, 2, 4)] * 3 + [None, None, int32([1]), int32(2)],
      {"num_heads": 2, "kv_num_heads": 2, "local_window_size": 0}, "no query sees a key"),
     ("CausalConvWithState", [floats(1, 2, 3), floats(2, 1, 2)], {"dilation": 2}, "dilation"),
     ("GatedRMSNorm", [floats(2), floats(2), floats(2)], {"activation": "relu"}, "'relu'")],
)  # fmt: skip
def test_what_is_not_supported(op, operands, attributes, said):
    made, _ = make(op, operands, [np.float32], **attributes)
    with pytest.raises(loopc.CompileError, match=said):
        loopc.InferenceSession(made)


@pytest.mark.parametrize(
    "op, attributes",
    [("ImageScaler", {"scale": 0.5, "bias": [1.0, -2.0, 0.25]}),
     ("ImageScaler", {"bias": [1.0, -2.0, 0.25]}),
     ("Crop", {"border": [1, 0, 2, 1]}),
     ("Crop", {"border": [1, 2, 0, 0], "scale": [1, 3]}),
     ("Affine", {"alpha": 0.5, "beta": -2.0}),
     ("ThresholdedRelu", {"alpha": 0.3}),
     ("ThresholdedRelu", {})],
)  # fmt: skip
def test_former_operators_of_onnx(op, attributes):
    compare(op, [floats(2, 3, 4, 5)], domain="", opset=7, **attributes)


def test_domain_that_is_not_imported():
    """It has one version; onnxruntime takes it, and so do bodies and functions."""
    made, feeds = make("BiasGelu", [floats(2, 3), floats(3)], [np.float32])
    model = onnx.ModelProto.FromString(made)
    peer = onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"])
    del model.opset_import[1:]
    (got,) = loopc.InferenceSession(model.SerializeToString()).run(None, feeds)
    np.testing.assert_allclose(got, peer.run(None, feeds)[0], rtol=1e-5, atol=1e-6)
    model.graph.node[0].op_type = "Nothing"
    with pytest.raises(loopc.CompileError, match=r"com\.microsoft::Nothing"):
        loopc.InferenceSession(model.SerializeToString())


def test_domain_of_versions_that_is_not_imported():
    """The newest one, as in onnxruntime: a LabelEncoder has the attributes of version 4."""
    names, more = np.array(["b", "z", "a"], object), {"domain": "ai.onnx.ml"}
    keys: dict[str, Any] = {"keys_strings": ["a", "b"], "values_int64s": [3, 4]}
    compare("LabelEncoder", [names], [np.int64], **more, **keys)
    compare("Scaler", [floats(2, 3)], **more, offset=[1.0, 2.0, 3.0], scale=[0.5, 1.0, 2.0])
    made, _ = make("TreeEnsembleRegressor", [floats(2, 3)], [np.float32], **more)
    with pytest.raises(loopc.CompileError, match="withdrawn in opset 5"):
        loopc.InferenceSession(made)


def test_left_out_by_the_caller_but_needed():
    made, _ = make("BiasGelu", [floats(2)], [np.float32])
    with pytest.raises(loopc.CompileError):
        loopc.InferenceSession(made)
