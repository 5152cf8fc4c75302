# ===- models_recurrences.py - Recurrences of matrices that are timed -------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Mamba-2, RWKV-7, linear attention and sLSTM as people write them; as models_basic.py.

Each step is one body, in a Scan over the steps or in a Loop that looks up its row.
"""

# ruff: noqa: E501 - long lines are models in ONNX's text form.

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from models_basic import Benchmark, Feeds, Outputs, make_model, random_array

STEPS, HEADS, WIDTH = 256, 4, 64
STATE = (HEADS, WIDTH, WIDTH)
ROW = (HEADS, WIDTH)
CONSTANTS = "int64[1] one = {1}, int64[1] two = {2}, int64[2] both = {1, 2}"


@dataclasses.dataclass(frozen=True)
class Step:
    """One step of a recurrence.

    Attributes:
        states: names of what is carried, and their shapes; the body makes `NAMEn`
            of each `NAME`.
        rows: names of what a step reads, and their shapes.
        fixed: names and shapes of what all steps read.
        made: the shape of `y`.
        body: nodes in ONNX's text form, which make `y`.
        compute: a step in NumPy, from all names to the new states and `y`.
    """

    states: dict[str, tuple[int, ...]]
    rows: dict[str, tuple[int, ...]]
    body: str
    compute: Callable[[Feeds], tuple[list[np.ndarray], np.ndarray]]
    fixed: dict[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)
    made: tuple[int, ...] = ROW


def _typed(names: dict[str, tuple[int, ...]], first: str = "", suffix: str = "") -> str:
    return ", ".join(
        f"float[{first}{','.join(map(str, shape))}] {name}{suffix}" for name, shape in names.items()
    )


def _text(step: Step, form: str) -> str:
    """The model: a Scan over T rows, or a Loop of T iterations."""
    inputs = ", ".join(
        part
        for part in (_typed(step.states, suffix="0"), _typed(step.rows, "T,", "s"),
                     _typed(step.fixed)) if part
    )  # fmt: skip
    outputs = f"{_typed(step.states, suffix='last')}, {_typed({'ys': step.made}, 'T,')}"
    results = ", ".join(f"{name}last" for name in step.states)
    initial = ", ".join(f"{name}0" for name in step.states)
    after = _typed(step.states, suffix="n") + ", " + _typed({"y": step.made})
    if form == "Scan":
        rows = ", ".join(f"{name}s" for name in step.rows)
        loop = f"""{results}, ys = Scan<num_scan_inputs = {len(step.rows)}, body = step ({_typed(step.states)}, {_typed(step.rows)}) => ({after}) {{
            {step.body}
        }}>({initial}, {rows})"""
        return f"({inputs}) => ({outputs}) <{CONSTANTS}> {{ {loop} }}"
    lookups = "\n".join(f"{name} = Gather({name}s, i)" for name in step.rows)
    first = next(iter(step.rows))
    return f"""({inputs}) => ({outputs}) <{CONSTANTS}, bool yes = {{1}}, int64 nought = {{0}}> {{
        shape = Shape({first}s)
        steps = Gather(shape, nought)
        {results}, ys = Loop<body = step (int64 i, bool going, {_typed(step.states)}) => (bool still, {after}) {{
            still = Identity(going)
            {lookups}
            {step.body}
        }}>(steps, yes, {initial})
    }}"""


def _benchmark(name: str, step: Step, feeds: Feeds, form: str, beyond: str = "") -> Benchmark:
    def expect(given: Feeds) -> Outputs:
        wide = {key: value.astype(np.float64) for key, value in given.items()}
        states = [wide[f"{key}0"] for key in step.states]
        rows = []
        for t in range(STEPS):
            names = {key: wide[f"{key}s"][t] for key in step.rows}
            names |= dict(zip(step.states, states, strict=True))
            states, row = step.compute(names | {key: wide[key] for key in step.fixed})
            rows.append(row)
        return [value.astype(np.float32) for value in (*states, np.stack(rows))]

    model = make_model(_text(step, form))
    return Benchmark(f"{name}, a {form}", STEPS, model, feeds, expect, 1e-3, 1e-4, beyond=beyond)


def _rows(*names: str, first: int = 0) -> Feeds:
    return {
        f"{name}s": random_array(STEPS, *ROW, seed=first + k, scale=WIDTH**-0.5)
        for k, name in enumerate(names)
    }


def _decays(seed: int, *shape: int) -> np.ndarray:
    """What a step leaves of the state, between 0 and 1."""
    decays: np.ndarray = np.exp(-np.abs(random_array(STEPS, *shape, seed=seed, scale=0.5)))
    return decays


def mamba2(form: str) -> Benchmark:
    """The SSD recurrence of Mamba-2: S = a S + (dt x) B', y = S C + d x, a number `a` for each head."""

    def compute(f: Feeds) -> tuple[list[np.ndarray], np.ndarray]:
        decay = np.exp(f["dt"] * f["a"])
        written = f["dt"][:, None] * f["x"]
        state = decay[:, None, None] * f["S"] + written[:, :, None] * f["b"][:, None, :]
        return [state], np.einsum("hpn,hn->hp", state, f["c"]) + f["skip"][:, None] * f["x"]

    step = Step(
        {"S": STATE},
        {"x": ROW, "b": ROW, "c": ROW, "dt": (HEADS,)},
        """exponent = Mul(dt, a)
            decay0 = Exp(exponent)
            decay = Unsqueeze(decay0, both)
            kept = Mul(S, decay)
            rate = Unsqueeze(dt, one)
            scaled = Mul(x, rate)
            column = Unsqueeze(scaled, two)
            row = Unsqueeze(b, one)
            outer = Mul(column, row)
            Sn = Add(kept, outer)
            query = Unsqueeze(c, two)
            read0 = MatMul(Sn, query)
            read = Squeeze(read0, two)
            factor = Unsqueeze(skip, one)
            past = Mul(x, factor)
            y = Add(read, past)""",
        compute,
        {"a": (HEADS,), "skip": (HEADS,)},
    )
    feeds = {"S0": random_array(*STATE, seed=5), **_rows("x", "b", "c")}
    feeds["dts"] = np.abs(random_array(STEPS, HEADS, seed=6))
    feeds["a"] = -np.abs(random_array(HEADS, seed=7))
    feeds["skip"] = random_array(HEADS, seed=8)
    return _benchmark("Mamba-2", step, feeds, form)


def rwkv7(form: str) -> Benchmark:
    """RWKV-7: S = S diag(w) + (S a) b' + v k', y = S r."""

    def compute(f: Feeds) -> tuple[list[np.ndarray], np.ndarray]:
        removed = np.einsum("hij,hj->hi", f["S"], f["a"])
        state = f["S"] * f["w"][:, None, :] + removed[:, :, None] * f["b"][:, None, :]
        state = state + f["v"][:, :, None] * f["k"][:, None, :]
        return [state], np.einsum("hij,hj->hi", state, f["r"])

    step = Step(
        {"S": STATE},
        {"r": ROW, "w": ROW, "k": ROW, "v": ROW, "a": ROW, "b": ROW},
        """decay = Unsqueeze(w, one)
            kept = Mul(S, decay)
            taken = Unsqueeze(a, two)
            removed = MatMul(S, taken)
            given = Unsqueeze(b, one)
            put = MatMul(removed, given)
            value = Unsqueeze(v, two)
            key = Unsqueeze(k, one)
            outer = MatMul(value, key)
            s1 = Add(kept, put)
            Sn = Add(s1, outer)
            query = Unsqueeze(r, two)
            y0 = MatMul(Sn, query)
            y = Squeeze(y0, two)""",
        compute,
    )
    feeds = {"S0": random_array(*STATE, seed=7), **_rows("r", "k", "v")}
    kappa = random_array(STEPS, *ROW, seed=8)
    kappa /= np.linalg.norm(kappa, axis=-1, keepdims=True)
    feeds["ws"] = _decays(9, *ROW)
    feeds["as"] = -kappa
    feeds["bs"] = kappa * _decays(10, *ROW)
    why = (
        "each MatMul of a column and a row adds its product to a zero, and what it gives is rounded "
        "before it is added to the state: 8 instructions a vector where C++ has 5"
    )
    return _benchmark("RWKV-7", step, feeds, form, why)


def linear_attention(rule: str, form: str) -> Benchmark:
    """S = g S + k (beta (v - k' g S))', y = q' S; without g, or without the delta rule."""
    is_gated, is_delta = "gated" in rule, "delta" in rule

    def compute(f: Feeds) -> tuple[list[np.ndarray], np.ndarray]:
        state = f["S"] * f["g"][:, None, None] if is_gated else f["S"]
        value = f["v"]
        if is_delta:
            old = np.einsum("hk,hkv->hv", f["k"], state)
            value = f["beta"][:, None] * (value - old)
        state = state + f["k"][:, :, None] * value[:, None, :]
        return [state], np.einsum("hk,hkv->hv", f["q"], state)

    body = "row = Unsqueeze(k, one)\n"
    body += (
        "decay = Unsqueeze(g, both)\nkept = Mul(S, decay)\n" if is_gated else "kept = Identity(S)\n"
    )
    body += (
        """old0 = MatMul(row, kept)
            old = Squeeze(old0, one)
            new = Sub(v, old)
            rate = Unsqueeze(beta, one)
            value = Mul(rate, new)
            """
        if is_delta
        else "value = Identity(v)\n"
    )
    body += """column = Unsqueeze(k, two)
            written = Unsqueeze(value, one)
            outer = MatMul(column, written)
            Sn = Add(kept, outer)
            query = Unsqueeze(q, one)
            y0 = MatMul(query, Sn)
            y = Squeeze(y0, one)"""  # fmt: skip
    rows: dict[str, tuple[int, ...]] = {"q": ROW, "k": ROW, "v": ROW}
    feeds = {"S0": random_array(*STATE, seed=3), **_rows("q", "k", "v")}
    if is_gated:
        rows["g"], feeds["gs"] = (HEADS,), _decays(4, HEADS)
    if is_delta:
        rows["beta"], feeds["betas"] = (HEADS,), _decays(5, HEADS)
    step = Step({"S": STATE}, rows, body, compute)
    return _benchmark(f"linear attention, {rule}", step, feeds, form)


def slstm(form: str, hidden: int = 256) -> Benchmark:
    """sLSTM of xLSTM, one head: exponential gates, kept in range by their running maximum."""

    def compute(f: Feeds) -> tuple[list[np.ndarray], np.ndarray]:
        z, i, forget, o = np.split(f["x"] + f["h"] @ f["R"], 4, 1)
        top = np.maximum(forget + f["m"], i)
        keep, put = np.exp(forget + f["m"] - top), np.exp(i - top)
        cell = keep * f["c"] + put * np.tanh(z)
        norm = keep * f["n"] + put
        out = cell / norm / (1 + np.exp(-o))
        return [out, cell, norm, top], out

    shape = (1, hidden)
    step = Step(
        dict.fromkeys("hcnm", shape),
        {"x": (1, 4 * hidden)},
        """r = MatMul(h, R)
            gates = Add(x, r)
            z0, i0, f0, o0 = Split<axis = 1, num_outputs = 4>(gates)
            past = Add(f0, m)
            mn = Max(past, i0)
            k0 = Sub(past, mn)
            keep = Exp(k0)
            p0 = Sub(i0, mn)
            put = Exp(p0)
            z1 = Tanh(z0)
            kept = Mul(keep, c)
            add = Mul(put, z1)
            cn = Add(kept, add)
            keptnorm = Mul(keep, n)
            nn = Add(keptnorm, put)
            o1 = Sigmoid(o0)
            mean = Div(cn, nn)
            hn = Mul(o1, mean)
            y = Identity(hn)""",
        compute,
        {"R": (hidden, 4 * hidden)},
        shape,
    )
    feeds = {f"{name}0": np.zeros(shape, np.float32) for name in "hcm"}
    feeds["n0"] = np.ones(shape, np.float32)
    feeds["xs"] = random_array(STEPS, 1, 4 * hidden, seed=0)
    feeds["R"] = random_array(hidden, 4 * hidden, seed=1, scale=hidden**-0.5)
    return _benchmark(f"sLSTM H={hidden}", step, feeds, form)


#: As models_basic.BENCHMARKS.
BENCHMARKS: dict[str, Callable[[], Benchmark]] = {
    "mamba2_scan": lambda: mamba2("Scan"),
    "mamba2_loop": lambda: mamba2("Loop"),
    "rwkv7_scan": lambda: rwkv7("Scan"),
    "rwkv7_loop": lambda: rwkv7("Loop"),
    "attention_linear_scan": lambda: linear_attention("linear", "Scan"),
    "attention_gated_scan": lambda: linear_attention("gated", "Scan"),
    "attention_delta_scan": lambda: linear_attention("delta", "Scan"),
    "attention_gated_delta_loop": lambda: linear_attention("gated delta", "Loop"),
    "slstm_scan": lambda: slstm("Scan"),
    "slstm_loop": lambda: slstm("Loop"),
}
