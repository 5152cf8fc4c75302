# ===- test_linear_attention.py - Loops that carry a matrix for each head ---===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Linear attention, gated, by the delta rule, or both, in the forms that people write it in.

The states of all heads do not fit into the first cache, that of one head does: heads are a loop
around the steps. Extents are no multiples of a vector.
"""

from __future__ import annotations

from typing import Any

import loopc
import numpy as np
import onnx.parser
import pytest

Array = np.ndarray[Any, Any]

HEADS, KEYS, VALUES = 3, 72, 41

#: How a form multiplies a vector of keys with a state, and makes the matrix of two vectors.
FORMS = {
    "MatMul": (
        "{y}1 = Unsqueeze({x}, one) {y}2 = MatMul({y}1, {s}) {y} = Squeeze({y}2, one)",
        "{o}1 = Unsqueeze({k}, two) {o}2 = Unsqueeze({v}, one) {o} = MatMul({o}1, {o}2)",
    ),
    "Einsum": (
        '{y} = Einsum<equation = "hk,hkv->hv">({x}, {s})',
        '{o} = Einsum<equation = "hk,hv->hkv">({k}, {v})',
    ),
    "Mul": (
        "{y}1 = Unsqueeze({x}, two) {y}2 = Mul({s}, {y}1) {y} = ReduceSum<keepdims = 0>({y}2, one)",
        "{o}1 = Unsqueeze({k}, two) {o}2 = Unsqueeze({v}, one) {o} = Mul({o}1, {o}2)",
    ),
    # The state has the values first.
    "transposed": (
        "{y}1 = Unsqueeze({x}, two) {y}2 = MatMul({s}, {y}1) {y} = Squeeze({y}2, two)",
        "{o}1 = Unsqueeze({v}, two) {o}2 = Unsqueeze({k}, one) {o} = Mul({o}1, {o}2)",
    ),
}
RULES = ("linear", "gated", "delta", "gated_delta")


def make_model(rule: str, form: str, extents: str) -> bytes:
    """A Scan over [T, H, ...] with the states [H, K, V], or [H, V, K].

    Extents are known, have names, or each has a name of its own ("open").
    """
    multiply, outer = FORMS[form]
    ports = {"q": "HK", "k": "HK", "v": "HV", "g": "H", "b": "H"}
    known = {"H": HEADS, "K": KEYS, "V": VALUES}

    def port(name: str, axes: str, steps: str = "") -> str:
        kinds = {"known": known, "named": dict(zip("HKV", "HKV", strict=True))}
        names = kinds.get(extents, {axis: f"{name}{axis}" for axis in "HKV"})
        dims = [str(names[axis]) for axis in axes]
        return f"float[{','.join(([steps] if steps else []) + dims)}] {name}"

    state = "HVK" if form == "transposed" else "HKV"
    nodes = "s1 = Identity(s0)"
    if "gated" in rule:
        nodes = "d = Exp(gt) e = Unsqueeze(d, both) s1 = Mul(s0, e)"
    value = "vt"
    if "delta" in rule:
        nodes += " " + multiply.format(y="old", x="kt", s="s1")
        nodes += " r = Unsqueeze(bt, one) f = Sub(vt, old) u = Mul(r, f)"
        value = "u"
    nodes += " " + outer.format(o="o", k="kt", v=value) + " s2 = Add(s1, o) "
    nodes += multiply.format(y="yt", x="qt", s="s2")
    names = list(ports)
    inputs = ", ".join(port(name, ports[name], "T") for name in names)
    slices = ", ".join(port(f"{name}t", ports[name]) for name in names)
    text = f"""<ir_version: 10, opset_import: ["": 21]>
    attention ({inputs}, {port("s", state)}) => ({port("final", state)}, {port("y", "HV", "T")})
    <int64[1] one = {{1}}, int64[1] two = {{2}}, int64[2] both = {{1, 2}}> {{
      final, y = Scan<num_scan_inputs = 5, body = step ({port("s0", state)}, {slices})
        => ({port("s2", state)}, {port("yt", "HV")}) {{ {nodes} }}> (s, {", ".join(names)})
    }}"""
    return onnx.parser.parse_model(text).SerializeToString()


def make_feeds(steps: int, form: str, heads: int = HEADS) -> dict[str, Array]:
    random = np.random.default_rng(steps)
    shapes = {"q": (heads, KEYS), "k": (heads, KEYS), "v": (heads, VALUES), "g": (heads,)}
    feeds = {
        name: random.standard_normal((steps, *shape)).astype(np.float32) * np.float32(KEYS**-0.5)
        for name, shape in shapes.items()
    }
    feeds["g"] = -np.abs(feeds["g"])
    feeds["b"] = random.random((steps, heads), np.float32)
    state = (heads, VALUES, KEYS) if form == "transposed" else (heads, KEYS, VALUES)
    feeds["s"] = random.standard_normal(state).astype(np.float32)
    return feeds


def expect(rule: str, form: str, feeds: dict[str, Array]) -> list[Array]:
    f = {name: value.astype(np.float64) for name, value in feeds.items()}
    state = f["s"].transpose(0, 2, 1) if form == "transposed" else f["s"]
    rows = np.zeros(f["v"].shape)
    for step in range(len(rows)):
        k, u = f["k"][step], f["v"][step]
        if "gated" in rule:
            state = state * np.exp(f["g"][step])[:, None, None]
        if "delta" in rule:
            u = f["b"][step][:, None] * (u - np.einsum("hk,hkv->hv", k, state))
        state = state + k[:, :, None] * u[:, None, :]
        rows[step] = np.einsum("hk,hkv->hv", f["q"][step], state)
    return [state.transpose(0, 2, 1) if form == "transposed" else state, rows]


@pytest.mark.parametrize("extents", ["known", "open"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", RULES)
def test_forms(rule: str, form: str, extents: str) -> None:
    session = loopc.InferenceSession(make_model(rule, form, extents))
    allocations = set()
    for steps in (0, 1, 2, 9):
        feeds = make_feeds(steps, form)
        given = {name: value.copy() for name, value in feeds.items()}
        got = session.run(None, feeds)
        for one, other in zip(got, expect(rule, form, feeds), strict=True):
            # Nothing is collected: its other extents are open.
            if one.size or other.size:
                np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-5)
        assert all(np.array_equal(feeds[name], given[name]) for name in feeds)
        if steps:
            allocations.add(session.last_run_statistics.allocations)
    assert len(allocations) == 1


@pytest.mark.parametrize("heads", [0, 1, 5])
def test_any_number_of_heads(heads: int) -> None:
    session = loopc.InferenceSession(make_model("gated_delta", "MatMul", "named"))
    feeds = make_feeds(4, "MatMul", heads)
    for one, other in zip(
        session.run(None, feeds), expect("gated_delta", "MatMul", feeds), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-5)


def test_a_state_of_one_head_is_repeated() -> None:
    """The first step makes the state as large as the others: all heads run together."""
    session = loopc.InferenceSession(make_model("gated", "Einsum", "open"))
    feeds = make_feeds(3, "Einsum")
    feeds["g"] = feeds["g"][:, :1].copy()
    whole = dict(feeds, g=np.repeat(feeds["g"], HEADS, axis=1))
    for one, other in zip(session.run(None, feeds), expect("gated", "Einsum", whole), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-5)


def test_threads_share_heads() -> None:
    """The same bits with every number of threads."""
    model = make_model("gated_delta", "MatMul", "known")
    feeds = make_feeds(64, "MatMul")
    results = []
    for threads in (1, 2):
        options = loopc.SessionOptions()
        options.intra_op_num_threads = threads
        results.append(loopc.InferenceSession(model, options).run(None, feeds))
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)
