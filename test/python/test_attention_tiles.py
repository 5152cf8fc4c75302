# ===- test_attention_tiles.py - Attention whose scores are never whole -----===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Attention as exporters write it, and as operators: tiles of rows over batches and heads.

Lengths are below, at and above a tile's, masks are as long as the scores or broadcast, keys are
more than queries (a cache), heads share keys.
"""

from __future__ import annotations

import itertools
from typing import Any

import loopc
import numpy as np
import onnx.parser
import pytest

Array = np.ndarray[Any, Any]

HEADS, WIDTH = 3, 20


def make_model(queries: str, keys: str, mask: str, batch: str = "B") -> onnx.ModelProto:
    """MatMul, scale, mask, Softmax, MatMul, with a cache in front of keys and values."""
    new = f"float[{batch},{HEADS},{queries},{WIDTH}]"
    old = f"float[{batch},{HEADS},P,{WIDTH}]" if "P" in keys else ""
    past = f"{old} pk, {old} pv, " if old else ""
    join = "kk = Concat<axis = 2>(pk, k) vv = Concat<axis = 2>(pv, v)"
    if not old:
        join = "kk = Identity(k) vv = Identity(v)"
    return onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : 17]>
        g ({new} q, {new} k, {new} v, {past}float[{mask}] m) => ({new} y)
        <float scale = {{0.25}}> {{
            {join}
            kt = Transpose<perm = [0, 1, 3, 2]>(kk)
            s = MatMul(q, kt)
            scaled = Mul(s, scale)
            masked = Add(scaled, m)
            p = Softmax<axis = -1>(masked)
            y = MatMul(p, vv)
        }}"""
    )


def expect(feeds: dict[str, Array], scale: float = 0.25) -> Array:
    f = {name: x.astype(np.float64) for name, x in feeds.items()}
    k, v = f["k"], f["v"]
    if "pk" in f:
        k, v = np.concatenate([f["pk"], k], 2), np.concatenate([f["pv"], v], 2)
    scores = f["q"] @ k.transpose(0, 1, 3, 2) * scale + f["m"]
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True) @ v)


def make_feeds(batch: int, rows: int, past: int, mask: tuple[int, ...]) -> dict[str, Array]:
    random = np.random.default_rng(rows + past)
    feeds = {
        name: random.standard_normal((batch, HEADS, rows, WIDTH), np.float32) for name in "qkv"
    }
    if past:
        for name in ("pk", "pv"):
            feeds[name] = random.standard_normal((batch, HEADS, past, WIDTH), np.float32)
    feeds["m"] = np.where(random.random(mask) < 0.3, np.float32(-9), np.float32(0))
    return feeds


def check(session: loopc.InferenceSession, feeds: dict[str, Array]) -> None:
    (got,) = session.run(None, feeds)
    np.testing.assert_allclose(got, expect(feeds), rtol=2e-5, atol=2e-5)


def test_open_lengths() -> None:
    session = loopc.InferenceSession(make_model("L", "L", "B,1,L,L"))
    for rows in (1, 5, 63, 64, 65, 130, 200):
        for batch in (1, 3):
            check(session, make_feeds(batch, rows, 0, (batch, 1, rows, rows)))


def test_cache_and_mask_of_any_length() -> None:
    """Whether the mask is as long as the scores, or one element, the run tells."""
    session = loopc.InferenceSession(make_model("L", "P", "B,1,M,T"))
    for rows, past in itertools.product((1, 70), (1, 40)):
        for length, across in itertools.product((rows + past, 1), {rows, 1}):
            check(session, make_feeds(2, rows, past, (2, 1, across, length)))


def test_scores_that_the_mask_broadcasts() -> None:
    """One query of one sequence: the other version, for lengths that do not agree."""
    model = make_model("L", "P", "b,1,l,t")
    for k, name in enumerate(["batch", "heads", "rows", "width"]):
        model.graph.output[0].type.tensor_type.shape.dim[k].dim_param = name
    session = loopc.InferenceSession(model.SerializeToString())
    for mask in ((2, 1, 3, 5), (1, 1, 3, 5), (2, 1, 1, 5), (1, 1, 3, 1)):
        check(session, make_feeds(1, 1, 4, mask))
    check(session, make_feeds(2, 70, 4, (2, 1, 70, 74)))


def test_lengths_of_zero() -> None:
    session = loopc.InferenceSession(make_model("L", "L", "B,1,L,L"))
    for batch, rows in ((0, 4), (2, 0)):
        feeds = make_feeds(batch, rows, 0, (batch, 1, rows, rows))
        assert session.run(None, feeds)[0].shape == feeds["q"].shape


@pytest.mark.parametrize("extents", ["open", "fixed", "batch"])
def test_scores_are_never_whole(extents: str) -> None:
    """No more than a tile of them is in memory, whatever is known of the extents."""
    batch, rows = 2, 640
    length = "L" if extents == "open" else str(rows)
    known = "B" if extents != "fixed" else str(batch)
    model = make_model(length, length, f"{known},1,{length},{length}", known)
    options = loopc.SessionOptions(intra_op_num_threads=1)
    session = loopc.InferenceSession(model.SerializeToString(), options)
    feeds = make_feeds(batch, rows, 0, (batch, 1, rows, rows))
    check(session, feeds)
    statistics = session.last_run_statistics
    assert statistics is not None
    scores = batch * HEADS * rows * rows * 4
    rest = sum(x.nbytes for name, x in feeds.items() if name != "m")
    assert statistics.peak_bytes < scores / 4 + rest
    assert statistics.copied_bytes == 0


def test_threads_give_the_same_numbers() -> None:
    model = make_model("L", "L", "B,1,L,L").SerializeToString()
    feeds = make_feeds(2, 300, 0, (2, 1, 300, 300))
    one, two = (
        loopc.InferenceSession(model, loopc.SessionOptions(intra_op_num_threads=n)).run(
            None, feeds
        )[0]
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("heads", [2, 6])
def test_operator_of_open_length(heads: int, causal: int) -> None:
    """Attention of opset 23, also with heads that share keys and values."""
    queries, keys = f"float[B,6,L,{WIDTH}]", f"float[B,{heads},L,{WIDTH}]"
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["" : 23]>
        g ({queries} q, {keys} k, {keys} v) => ({queries} y) {{
            y = Attention<is_causal = {causal}, scale = 0.25>(q, k, v)
        }}"""
    )
    session = loopc.InferenceSession(model.SerializeToString())
    random = np.random.default_rng(heads)
    for rows in (1, 64, 150):
        feeds = {
            name: random.standard_normal((2, 6 if name == "q" else heads, rows, WIDTH), np.float32)
            for name in "qkv"
        }
        (got,) = session.run(None, feeds)
        whole: dict[str, Array] = {
            name: np.repeat(x, 6 // x.shape[1], 1) for name, x in feeds.items()
        }
        whole["m"] = np.triu(np.full((rows, rows), -np.inf), 1) if causal else np.zeros(())
        np.testing.assert_allclose(got, expect(whole), rtol=2e-5, atol=2e-5)
