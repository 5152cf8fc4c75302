# ===- models_recurrent.py - Recurrent networks that are timed --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""LSTM by operator, greedy decoding and a sample loop; as models_basic.py."""

# ruff: noqa: E501 - long lines are models in ONNX's text form.

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from models_basic import Benchmark, Feeds, Outputs, make_model, random_array


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _wide(feeds: Feeds) -> Feeds:
    return {
        name: value.astype(np.float64) if value.dtype == np.float32 else value
        for name, value in feeds.items()
    }


def lstm_operator(batch: int, steps: int = 128, hidden: int = 256) -> Benchmark:
    """ONNX's LSTM: the same network as an LSTM cell in a Scan."""
    model = make_model(
        """(float[T,B,I] xs, float[1,G,I] W, float[1,G,H] R, float[1,BB] bias, float[1,B,H] h0, float[1,B,H] c0) => (float[T,1,B,H] ys, float[1,B,H] h, float[1,B,H] c) {
        ys, h, c = LSTM<hidden_size = 256>(xs, W, R, bias, "", h0, c0)
    }""".replace("256", str(hidden))
    )
    scale = hidden**-0.5
    feeds = {
        "xs": random_array(steps, batch, hidden, seed=2),
        "W": random_array(1, 4 * hidden, hidden, seed=3, scale=scale),
        "R": random_array(1, 4 * hidden, hidden, seed=4, scale=scale),
        "bias": random_array(1, 8 * hidden, seed=5),
        "h0": random_array(1, batch, hidden, seed=0),
        "c0": random_array(1, batch, hidden, seed=1),
    }

    def expect(f: Feeds) -> Outputs:
        wide = _wide(f)
        w, r, bias = wide["W"][0].T, wide["R"][0].T, wide["bias"][0]
        bias = bias[: 4 * hidden] + bias[4 * hidden :]
        state, cell, rows = wide["h0"][0], wide["c0"][0], []
        for x in wide["xs"]:
            i, o, forget, g = np.split(x @ w + state @ r + bias, 4, 1)
            cell = _sigmoid(forget) * cell + _sigmoid(i) * np.tanh(g)
            state = _sigmoid(o) * np.tanh(cell)
            rows.append(state)
        results = (np.stack(rows)[:, None], state[None], cell[None])
        return [value.astype(np.float32) for value in results]

    name = f"LSTM operator T={steps} B={batch}"
    # As perf has it.
    why = "" if batch > 1 else "gates and states go from core to core in each step"
    return Benchmark(name, steps, model, feeds, expect, 1e-3, 1e-4, beyond=why)


def _gru_step(wide: Feeds, state: np.ndarray, x: np.ndarray, suffix: str = "") -> Any:
    """ONNX's GRU formula with linear_before_reset = 0, gates in the order z, r, h."""
    hidden = state.shape[-1]
    given = x @ wide["W" + suffix] + wide["bias" + suffix]
    own = state @ wide["R" + suffix][:, : 2 * hidden]
    z = _sigmoid(given[..., :hidden] + own[..., :hidden])
    r = _sigmoid(given[..., hidden : 2 * hidden] + own[..., hidden:])
    candidate = (r * state) @ wide["R" + suffix][:, 2 * hidden :]
    h = np.tanh(given[..., 2 * hidden :] + candidate)
    return (1 - z) * h + z * state


def _greedy(f: Feeds) -> Iterator[tuple[int, float, np.ndarray]]:
    """Token, lead over the second best, and state of each step; without end."""
    wide = _wide(f)
    state, token = wide["h0"], int(f["start"].item())
    while True:
        state = _gru_step(wide, state, wide["E"][token][None])
        logits = (state @ wide["V"])[0]
        second, best = np.sort(logits)[-2:]
        token = int(np.argmax(logits))
        yield token, float(best - second), state


def _greedy_feeds(seed: int, hidden: int, words: int) -> Feeds:
    scale = hidden**-0.5
    return {
        "start": np.array([0]),
        "M": np.array(10_000),
        "h0": random_array(1, hidden, seed=seed),
        "E": random_array(words, hidden, seed=seed + 1, scale=2),
        "W": random_array(hidden, 3 * hidden, seed=seed + 2, scale=2 * scale),
        "R": random_array(hidden, 3 * hidden, seed=seed + 3, scale=2 * scale),
        "bias": random_array(3 * hidden, seed=seed + 4, scale=0.1),
        "V": random_array(hidden, words, seed=seed + 5),
    }


def greedy_decoding(steps: int = 64, hidden: int = 256, words: int = 1000) -> Benchmark:
    """A GRU that reads the word it chose before, until it chooses the last one."""
    model = make_model(
        """(int64 M, int64[1] start, int64 eos, float[1,H] h0, float[V,H] E, float[H,G] W, float[H,G] R, float[G] bias, float[H,V] V) => (int64[K,1] words, float[1,H] h) {
        true = Constant<value = bool {1}>()
        one = Constant<value = float {1.0}>()
        axis = Constant<value = int64[1] {1}>()
        begin = Constant<value = int64[1] {0}>()
        twice = Constant<value = int64[1] {512}>()
        end = Constant<value = int64[1] {1000000}>()
        Rzr = Slice(R, begin, twice, axis)
        Rh = Slice(R, twice, end, axis)
        word, h, words = Loop<body = step (int64 i, bool c, int64[1] wp, float[1,H] hp) => (bool go, int64[1] wn, float[1,H] hn, int64[1] out) {
            x = Gather(E, wp)
            xw = MatMul(x, W)
            given = Add(xw, bias)
            gz, gr, gh = Split<axis = 1, num_outputs = 3>(given)
            own = MatMul(hp, Rzr)
            oz, or = Split<axis = 1, num_outputs = 2>(own)
            zs = Add(gz, oz)
            z = Sigmoid(zs)
            rs = Add(gr, or)
            r = Sigmoid(rs)
            rh = Mul(r, hp)
            ch = MatMul(rh, Rh)
            hs = Add(gh, ch)
            hh = Tanh(hs)
            keep = Sub(one, z)
            new = Mul(keep, hh)
            old = Mul(z, hp)
            hn = Add(new, old)
            logits = MatMul(hn, V)
            wn = ArgMax<axis = 1, keepdims = 0>(logits)
            out = Identity(wn)
            same = Equal(wn, eos)
            ends = Squeeze(same)
            go = Not(ends)
        }>(M, true, start, h0)
    }""".replace("512", str(2 * hidden))
    )
    # Rounding must not change a choice, and the last word must be a new one.
    for seed in range(0, 1000, 10):
        feeds = _greedy_feeds(seed, hidden, words)
        choices = [choice for choice, _ in zip(_greedy(feeds), range(steps), strict=False)]
        tokens = [token for token, _, _ in choices]
        if min(lead for _, lead, _ in choices) > 1e-2 and tokens.index(tokens[-1]) == steps - 1:
            feeds["eos"] = np.array(tokens[-1])
            break
    else:
        raise AssertionError("no weights decode as long as that")

    def expect(f: Feeds) -> Outputs:
        chosen = []
        for token, _, state in _greedy(f):
            chosen.append([token])
            if token == f["eos"]:
                return [np.array(chosen), state.astype(np.float32)]
        raise AssertionError

    return Benchmark("greedy decoding", steps, model, feeds, expect, 1e-3, 1e-4)


def sample_loop(samples: int = 16_000, large: int = 384, small: int = 16) -> Benchmark:
    """Two GRUs, one sample an iteration, which the next one reads, as in LPCNet."""

    def gru(name: str, x: str, hidden: int) -> str:
        return f"""
            {name}xw = MatMul({x}, W{name})
            {name}given = Add({name}xw, bias{name})
            {name}gz, {name}gr, {name}gh = Split<axis = 1, num_outputs = 3>({name}given)
            {name}own = MatMul({name}p, {name}Rzr)
            {name}oz, {name}or = Split<axis = 1, num_outputs = 2>({name}own)
            {name}zs = Add({name}gz, {name}oz)
            {name}z = Sigmoid({name}zs)
            {name}rs = Add({name}gr, {name}or)
            {name}r = Sigmoid({name}rs)
            {name}rh = Mul({name}r, {name}p)
            {name}ch = MatMul({name}rh, {name}Rh)
            {name}hs = Add({name}gh, {name}ch)
            {name}hh = Tanh({name}hs)
            {name}keep = Sub(one, {name}z)
            {name}new = Mul({name}keep, {name}hh)
            {name}old = Mul({name}z, {name}p)
            {name}n = Add({name}new, {name}old)"""

    def halves(name: str, hidden: int) -> str:
        return f"""
        {name}at = Constant<value = int64[1] {{{2 * hidden}}}>()
        {name}Rzr = Slice(R{name}, begin, {name}at, axis)
        {name}Rh = Slice(R{name}, {name}at, end, axis)"""

    # Named by letters: a and b are the GRUs.
    model = make_model(f"""(int64 M, float[1,1] s0, float[1,A] a0, float[1,B] b0, float[1,A3] Wa, float[A,A3] Ra, float[A3] biasa, float[A,B3] Wb, float[B,B3] Rb, float[B3] biasb, float[B,1] V) => (float[K,1,1] samples, float[1,A] a, float[1,B] b) {{
        one = Constant<value = float {{1.0}}>()
        axis = Constant<value = int64[1] {{1}}>()
        begin = Constant<value = int64[1] {{0}}>()
        end = Constant<value = int64[1] {{1000000}}>()
        {halves("a", large)}
        {halves("b", small)}
        s, a, b, samples = Loop<body = step (int64 i, bool c, float[1,1] sp, float[1,A] ap, float[1,B] bp) => (bool c, float[1,1] sn, float[1,A] an, float[1,B] bn, float[1,1] out) {{
            {gru("a", "sp", large)}
            {gru("b", "an", small)}
            sv = MatMul(bn, V)
            sn = Tanh(sv)
            out = Identity(sn)
        }}>(M, "", s0, a0, b0)
    }}""")
    # Small weights: a rounding dies out instead of growing for thousands of steps.
    feeds = {
        "M": np.array(samples),
        "s0": np.zeros((1, 1), np.float32),
        "a0": random_array(1, large, seed=0),
        "b0": random_array(1, small, seed=1),
        "Wa": random_array(1, 3 * large, seed=2, scale=0.5),
        "Ra": random_array(large, 3 * large, seed=3, scale=0.5 * large**-0.5),
        "biasa": random_array(3 * large, seed=4, scale=0.5),
        "Wb": random_array(large, 3 * small, seed=5, scale=large**-0.5),
        "Rb": random_array(small, 3 * small, seed=6, scale=0.5 * small**-0.5),
        "biasb": random_array(3 * small, seed=7, scale=0.5),
        "V": random_array(small, 1, seed=8, scale=small**-0.5),
    }

    def expect(f: Feeds) -> Outputs:
        wide = _wide(f)
        sample, a, b, rows = wide["s0"], wide["a0"], wide["b0"], []
        for _ in range(samples):
            a = _gru_step(wide, a, sample, "a")
            b = _gru_step(wide, b, a, "b")
            sample = np.tanh(b @ wide["V"])
            rows.append(sample)
        return [value.astype(np.float32) for value in (np.stack(rows), a, b)]

    return Benchmark("sample loop", samples, model, feeds, expect, 1e-3, 1e-4)


BENCHMARKS: dict[str, Callable[[], Benchmark]] = {
    "lstm_operator_b1": lambda: lstm_operator(1),
    "lstm_operator_b8": lambda: lstm_operator(8),
    "greedy_decoding": greedy_decoding,
    "sample_loop": sample_loop,
}
