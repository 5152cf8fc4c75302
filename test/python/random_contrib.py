# ===- random_contrib.py - Chains of onnxruntime's own operators --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Steps of random_chains.py: operators of com.microsoft, as onnxruntime's optimizers write them.

To make cases of one operator more, write a function that takes a `Block` and a name and gives the
name of the result, and name it in `STEPS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from random_chains import MS, Block, ChainModel, Step


def _trimmed(names: list[str]) -> list[str]:
    while names and not names[-1]:
        names.pop()
    return names


def skip_norm(b: Block, x: str) -> str:
    size = b.size
    simple = b.dice.random() < 0.4
    op = "SkipSimplifiedLayerNormalization" if simple else "SkipLayerNormalization"
    skip = b.other(x)
    if b.dice.random() < 0.3:
        # One row of the batch for all.
        first = [b.constant([k], np.int64) for k in (0, 1, 0)]
        skip = b.add("Slice", [skip, *first], "")
    elif skip == x:
        skip = b.add("Neg", [x], "")
    names = [x, skip, b.near_one(size)]
    if not simple:
        names.append(b.maybe(lambda: b.weights(size)))
    names.append(b.maybe(lambda: b.weights(size)))
    made = b.several(op, _trimmed(names), 4, epsilon=1e-5)
    # The sum is read by what follows, the mean and the deviation sometimes.
    if b.dice.random() < 0.2:
        return b.add("Add", [b.add("Mul", [made[0], made[2]], ""), made[1]], "")
    for k in (1, 2):
        b.nodes[-1].output[k] = ""
    if b.dice.random() < 0.5:
        return b.add("Add", [made[0], made[3]], "")
    b.nodes[-1].output[3] = ""
    del b.nodes[-1].output[1:]
    return made[0]


def norm(b: Block, x: str) -> str:
    op = b.dice.choice(("SimplifiedLayerNormalization", "LayerNormalization"))
    names = [x, b.near_one(b.size)]
    if op == "LayerNormalization":
        names.append(b.maybe(lambda: b.weights(b.size)))
    return b.add(op, _trimmed(names), "", axis=-1, epsilon=1e-5)


def gated_norm(b: Block, x: str) -> str:
    activation = b.dice.choice(("silu", "sigmoid"))
    return b.add("GatedRMSNorm", [x, b.near_one(b.size), b.other(x)], activation=activation)


def activation(b: Block, x: str) -> str:
    kind = b.dice.randrange(6)
    if kind == 0:
        return b.add("Gelu", [x])
    if kind == 1:
        return b.add("FastGelu", _trimmed([x, b.maybe(lambda: b.weights(b.size))]))
    if kind == 2:
        return b.add("BiasGelu", [x, b.weights(b.size)])
    if kind == 3:
        return b.add("QuickGelu", [x], alpha=b.dice.choice((1.0, 1.702)))
    if kind == 4:
        wide = b.add("MatMul", [x, b.weights(b.size, 2 * b.size)], "")
        halves = b.several("Split", [wide], 2, "", axis=-1, num_outputs=2)
        return b.add("Mul", [halves[0], b.add("Gelu", [halves[1]])], "")
    return b.add("ScaledSiLU", [x], alpha=0.7)


def product(b: Block, x: str) -> str:
    size, kind = b.size, b.dice.randrange(3)
    turned = b.dice.randrange(2)
    if kind == 0:
        return b.add("FusedMatMul", [x, b.weights(size, size)], transB=turned,
                     alpha=b.dice.choice((1.0, 0.25)))  # fmt: skip
    if kind == 1:
        # Scores of steps, and what they weigh.
        scores = b.add("FusedMatMul", [x, b.other(x)], transB=1, alpha=0.3)
        return b.add("FusedMatMul", [b.add("Softmax", [scores], "", axis=-1), b.other(x)],
                     transA=turned)  # fmt: skip
    rows = b.add("Reshape", [x, b.constant([-1, size], np.int64)], "")
    act = b.dice.choice(("", "Relu", "LeakyRelu", "Tanh"))
    flags: dict[str, Any] = {"activation": act} if act else {"activation": "Relu"}
    if act == "LeakyRelu":
        flags["activation_alpha"] = 0.2
    made = b.add("FusedGemm", [rows, b.weights(size, size), b.weights(size)], transB=turned,
                 alpha=0.5, beta=1.5, **flags)  # fmt: skip
    return b.add("Reshape", [made, b.add("Shape", [x], "")], "")


def few_bits(b: Block, x: str) -> str:
    size, block = b.size, b.dice.choice((16, 32))
    bits = b.dice.choice((4, 4, 8))
    columns = b.dice.choice((size, size, 2 * size))
    blocks = -(-size // block)
    weights = b.bytes(columns, blocks, block * bits // 8)
    scales = b.constant(np.abs(b.model.numbers.standard_normal(columns * blocks)) * 0.6 / 2**bits)
    zeros = b.maybe(lambda: b.bytes(columns * (-(-blocks * bits // 8))))
    names = [x, weights, scales, zeros, "", b.maybe(lambda: b.weights(columns))]
    made = b.add("MatMulNBits", _trimmed(names), K=size, N=columns, bits=bits, block_size=block,
                 accuracy_level=b.dice.choice((0, 1)))  # fmt: skip
    if columns == size:
        return made
    halves = b.several("Split", [made], 2, "", axis=-1, num_outputs=2)
    return b.add("Mul", [b.add("QuickGelu", [halves[0]], alpha=1.0), halves[1]], "")


def rounded_product(b: Block, x: str) -> str:
    b.model.rounds = True
    size = b.size
    signed = b.dice.random() < 0.5
    dtype = np.int8 if signed else np.uint8
    weights = b.bytes(size, size, dtype=dtype)
    each = b.dice.random() < 0.5
    shape = (size,) if each else ()
    scale = b.constant(np.abs(b.model.numbers.standard_normal(shape)) * 0.01 + 0.001)
    zero = b.maybe(lambda: b.constant(np.full(shape, 0 if signed else 128), dtype))
    names = [x, weights, scale, zero, b.maybe(lambda: b.weights(size))]
    return b.add("DynamicQuantizeMatMul", _trimmed(names))


def quantized(b: Block, x: str) -> str:
    """To bytes, some operators on these, and back."""
    b.model.rounds = True
    signed = b.dice.random() < 0.4
    dtype = np.int8 if signed else np.uint8
    zero = b.constant(0 if signed else 128, dtype)
    scale = b.constant(0.05)

    def to_bytes(value: str) -> str:
        if b.dice.random() < 0.5:
            return b.add("QuantizeLinear", [value, scale, zero])
        return b.add("QuantizeLinear", [value, scale, zero], "")

    q = to_bytes(x)
    for _ in range(b.dice.randint(1, 3)):
        kind = b.dice.randrange(6)
        if kind == 0:
            q = b.add(
                "QLinearAdd", [q, scale, zero, to_bytes(b.other(x)), scale, zero, scale, zero]
            )
        elif kind == 1:
            q = b.add(
                "QLinearMul", [q, scale, zero, to_bytes(b.other(x)), scale, zero, scale, zero]
            )
        elif kind == 2:
            low = b.constant(-128 if signed else 0, dtype)
            q = b.add("QLinearSigmoid", [q, scale, zero, b.constant(1 / 256), low])
            q = to_bytes(b.add("DequantizeLinear", [q, b.constant(1 / 256), low], ""))
        elif kind == 3:
            q = b.add("QLinearLeakyRelu", [q, scale, zero, scale, zero], alpha=0.1)
        elif kind == 4:
            wide = b.add("QLinearConcat", [scale, zero, q, scale, zero, q, scale, zero], axis=2)
            weights = b.bytes(2 * b.size, b.size, dtype=np.int8)
            q = b.add("QLinearMatMul", [wide, scale, zero, weights, b.constant(0.003),
                                        b.constant(0, np.int8), scale, zero], "")  # fmt: skip
        else:
            asks = b.add("Less", [x, b.constant(0)], "")
            q = b.add("QLinearWhere", [asks, q, scale, zero, to_bytes(b.other(x)), scale, zero,
                                       scale, zero])  # fmt: skip
    return b.add("DequantizeLinear", [q, scale, zero], b.dice.choice(("", MS)))


def _three(b: Block, x: str, columns: Sequence[int]) -> list[str]:
    return [b.add("MatMul", [x, b.weights(b.size, n, scale=0.4)], "") for n in columns]


def multi_head(b: Block, x: str) -> str:
    size = b.size
    q, k, v = _three(b, x, (size, size, size))
    causal = b.dice.randrange(2)
    past = b.model.past(b, "mha", b.heads, size // b.heads)
    names = [q, k, v, b.maybe(lambda: b.weights(3 * size)), "", "", *past]
    flags: dict[str, Any] = {"num_heads": b.heads, "unidirectional": causal}
    if b.dice.random() < 0.3:
        flags["scale"] = 0.4
    if not past and b.dice.random() < 0.4:
        names[4] = b.model.mask(b, x)
    made = b.several("MultiHeadAttention", _trimmed(names), 3 if past else 1, **flags)
    b.model.present(b, made[1:])
    return made[0]


def grouped(b: Block, x: str) -> str:
    size, heads = b.size, b.heads
    few = b.dice.choice([n for n in (1, 2, heads) if heads % n == 0])
    width = size // heads
    past = b.model.past(b, "gqa", few, width)
    total = b.model.total(b, x, past)
    rotary = int(b.dice.random() < 0.6)
    names = _three(b, x, (size, few * width, few * width))
    if b.dice.random() < 0.4:
        names = [b.add("Concat", names, "", axis=-1), "", ""]
    names += [*(past or ["", ""]), *total]
    flags: dict[str, Any] = {"num_heads": heads, "kv_num_heads": few, "do_rotary": rotary}
    if rotary:
        angles = np.arange(64)[:, None] * 0.7 ** np.arange(width // 2)
        names += [b.constant(np.cos(angles)), b.constant(np.sin(angles))]
        flags["rotary_interleaved"] = b.dice.randrange(2)
    if b.dice.random() < 0.3:
        flags["local_window_size"] = b.dice.choice((1, 2, 5))
    if b.dice.random() < 0.3:
        flags["softcap"] = 2.0
    made = b.several("GroupQueryAttention", names, 3, **flags)
    if past:
        b.model.present(b, made[1:])
    return made[0]


def merged(b: Block, x: str) -> str:
    size = b.size
    names = [x, b.weights(size, 3 * size, scale=0.4), b.weights(3 * size)]
    past = b.model.past(b, "att", b.heads, size // b.heads)
    if past:
        stacked = [b.add("Unsqueeze", [p, b.constant([0], np.int64)], "") for p in past]
        names += ["", b.add("Concat", stacked, "", axis=0)]
    elif b.dice.random() < 0.4:
        names.append(b.model.mask(b, x))
    made = b.several("Attention", names, 2 if past else 1, num_heads=b.heads,
                     unidirectional=b.dice.randrange(2))  # fmt: skip
    if past:
        halves = b.several("Split", [made[1]], 2, "", axis=0, num_outputs=2)
        b.model.present(b, [b.add("Squeeze", [h, b.constant([0], np.int64)], "") for h in halves])
    return made[0]


def rotated(b: Block, x: str) -> str:
    width = b.size // b.heads
    angles = np.arange(64)[:, None] * 0.7 ** np.arange(width // 2)
    first = b.constant([b.dice.randint(0, 9)], np.int64)
    return b.add("RotaryEmbedding", [x, first, b.constant(np.cos(angles)), b.constant(np.sin(angles))],
                 interleaved=b.dice.randrange(2))  # fmt: skip


def convolved(b: Block, x: str) -> str:
    """The steps are places; channels come second."""
    turned = b.add("Transpose", [x], "", perm=[0, 2, 1])
    if b.dice.random() < 0.5:
        names = [turned, b.weights(b.size, 1, 3), b.weights(b.size)]
        act = b.dice.choice(("none", "silu"))
        made = b.several("CausalConvWithState", names, 2, activation=act)[0]
    else:
        wide = b.add("Unsqueeze", [turned, b.constant([2], np.int64)], "")
        made = b.add("FusedConv", [wide, b.weights(b.size, b.size, 1, 3), b.weights(b.size)],
                     activation="Relu", pads=[0, 1, 0, 1], kernel_shape=[1, 3])  # fmt: skip
        made = b.add("Squeeze", [made, b.constant([2], np.int64)], "")
    return b.add("Transpose", [made], "", perm=[0, 2, 1])


def linear_attention(b: Block, x: str) -> str:
    size, heads = b.size, b.heads
    rule = b.dice.choice(("linear", "gated", "delta", "gated_delta"))
    q, k, v = _three(b, x, (size, size, size))
    k = b.add("Tanh", [k], "")
    names = [q, k, v, "", "", ""]
    if "gated" in rule:
        decay = b.add("MatMul", [x, b.weights(size, heads)], "")
        names[4] = b.add("Neg", [b.add("Softplus", [decay], "")], "")
    if "delta" in rule:
        names[5] = b.add("Sigmoid", [b.add("MatMul", [x, b.weights(size, heads)], "")], "")
    return b.several("LinearAttention", _trimmed(names), 2, q_num_heads=heads, kv_num_heads=heads,
                     update_rule=rule, scale=0.2)[0]  # fmt: skip


STEPS: tuple[Step, ...] = (
    skip_norm, skip_norm, norm, gated_norm, activation, activation, product, product, few_bits,
    few_bits, rounded_product, quantized, quantized, multi_head, multi_head, grouped, grouped,
    grouped, merged, merged, rotated, convolved, linear_attention,
)  # fmt: skip


class ContribModel(ChainModel):
    """A chain of them."""

    STEPS = STEPS
