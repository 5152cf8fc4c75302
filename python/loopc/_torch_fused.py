# ===- _torch_fused.py - torch's fused operators -----------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Decompositions of calls that torch's exporter to ONNX cannot write as they are.

In inference mode torch.compile finds nn.TransformerEncoderLayer and nn.MultiheadAttention as one
operator each; and some operators cannot be given scalars.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from loopc._torch_operators import written_wrong


def decompositions(calls: Iterable[Any]) -> dict[Any, Callable[..., Any]]:
    """What the calls of a graph (nodes of torch.fx) that have no translation are made of."""
    import torch

    aten = torch.ops.aten
    attention = aten.scaled_dot_product_attention.default
    known: dict[Any, Callable[..., Any]] = {
        aten._transformer_encoder_layer_fwd.default: _transformer_layer,
        aten._native_multi_head_attention.default: _native_attention,
    }
    found: dict[Any, Callable[..., Any]] = {}
    for node in calls:
        if node.target in known:
            found[node.target] = known[node.target]
        elif own := written_wrong(node):
            found[node.target] = own
        elif node.target is attention and node.args[0].meta["val"].dim() != 4:
            found[attention] = _attention
    return found


def _attention(q: Any, k: Any, v: Any, mask: Any = None, *others: Any, **options: Any) -> Any:
    """aten.scaled_dot_product_attention by products."""
    import torch

    math = torch.ops.aten._scaled_dot_product_attention_math.default
    dropout, causal = (*others, 0.0, False)[:2] if others else (0.0, False)
    causal = options.pop("is_causal", causal)
    return math(q, k, v, mask, options.pop("dropout_p", dropout), causal, None, **options)[0]


def _transformer_layer(
    x: Any, embed_dim: int, heads: int, qkv_weight: Any, qkv_bias: Any, weight: Any, bias: Any,
    use_gelu: bool, norm_first: bool, epsilon: float, scale_1: Any, shift_1: Any, scale_2: Any,
    shift_2: Any, ffn_weight_1: Any, ffn_bias_1: Any, ffn_weight_2: Any, ffn_bias_2: Any,
    mask: Any = None, mask_kind: int | None = None,
) -> Any:  # fmt: skip
    """aten._transformer_encoder_layer_fwd: attention and a feed-forward network, added up."""
    from torch.nn import functional as f

    def attend(x: Any) -> Any:
        return _project(x, x, x, heads, qkv_weight, qkv_bias, weight, bias, mask, mask_kind)[0]

    def feed(x: Any) -> Any:
        inner = f.linear(x, ffn_weight_1, ffn_bias_1)
        return f.linear(f.gelu(inner) if use_gelu else f.relu(inner), ffn_weight_2, ffn_bias_2)

    for part, scale, shift in ((attend, scale_1, shift_1), (feed, scale_2, shift_2)):
        if norm_first:
            x = x + part(f.layer_norm(x, (embed_dim,), scale, shift, epsilon))
        else:
            x = f.layer_norm(x + part(x), (embed_dim,), scale, shift, epsilon)
    return x


def _native_attention(
    query: Any, key: Any, value: Any, embed_dim: int, heads: int, qkv_weight: Any, qkv_bias: Any,
    weight: Any, bias: Any, mask: Any = None, need_weights: bool = True,
    average_weights: bool = True, mask_kind: int | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """aten._native_multi_head_attention: nn.MultiheadAttention, and its weights if wanted."""
    rows, weights = _project(
        query, key, value, heads, qkv_weight, qkv_bias, weight, bias, mask, mask_kind, need_weights
    )
    if not need_weights:
        return rows, query.new_empty((0,))
    return rows, weights.mean(1) if average_weights else weights


def _project(
    query: Any, key: Any, value: Any, heads: int, qkv_weight: Any, qkv_bias: Any, weight: Any,
    bias: Any, mask: Any, mask_kind: int | None, need_weights: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """Attention between projections: rows [batch, length, width], and [batch, head, to, from]."""
    from torch.nn import functional as f

    q, k, v = (
        f.linear(rows, part, shift).unflatten(-1, (heads, -1)).transpose(1, 2)
        for rows, part, shift in zip(
            (query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3), strict=True
        )
    )
    if mask is not None:
        if mask_kind == 1:  # One of keys for each member of the batch.
            mask = mask[:, None, None, :]
        # Here True means: not this one.
        mask = ~mask if not mask.is_floating_point() else mask
    if not need_weights:
        rows, weights = f.scaled_dot_product_attention(q, k, v, mask), None
    else:
        scores = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5
        if mask is not None:
            scores = (
                scores + mask
                if mask.is_floating_point()
                else scores.masked_fill(~mask, -float("inf"))
            )
        weights = scores.softmax(-1)
        rows = weights @ v
    return f.linear(rows.transpose(1, 2).flatten(2), weight, bias), weights
