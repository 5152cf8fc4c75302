# ===- jax_models.py - The models that are timed, in JAX --------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The models as a user of JAX writes them: `lax.scan` and `lax.while_loop`.

JAX needs to know every shape when it compiles, so the number of trips of a loop
that collects is a constant here, other than in the ONNX models. Loops whose
results have a length that only the run tells have no counterpart, but greedy
decoding has: its words go to an array that is cut when the loop has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from models_basic import Feeds, Outputs

Array = Any


def _empty_loop(M: Array, x: Array, step: Array) -> list[Array]:  # noqa: N803
    return [lax.fori_loop(0, M, lambda _, value: value + step, x)]


def _collect(M: int, x: Array, a: Array, b: Array) -> list[Array]:  # noqa: N803
    def body(value: Array, _: None) -> tuple[Array, Array]:
        value = value * a + b
        return value, value

    return list(lax.scan(body, x, None, length=M))


def _mandelbrot(M: Array, cr: Array, ci: Array) -> list[Array]:  # noqa: N803
    def body(_: Array, carried: tuple[Array, ...]) -> tuple[Array, ...]:
        a, b, n = carried
        inside = a * a + b * b <= 4
        following = jnp.where(inside, a * a - b * b + cr, a)
        b = jnp.where(inside, 2 * a * b + ci, b)
        return following, b, n + inside.astype(jnp.int32)

    zero = jnp.zeros_like(cr)
    return [lax.fori_loop(0, M, body, (zero, zero, zero.astype(jnp.int32)))[2]]


def _nested(M: int, x: Array, w: Array, scale: Array) -> list[Array]:  # noqa: N803
    def outer(value: Array, xi: Array) -> tuple[Array, Array]:
        def inner(j: Array, total: Array) -> Array:
            return total + xi * w[j] * scale

        total = lax.fori_loop(0, M, inner, value)
        return total * scale, total

    return list(lax.scan(outer, jnp.float32(0), x[:M]))


def _if_in_loop(M: Array, x: Array, step: Array, limit: Array) -> list[Array]:  # noqa: N803
    def body(_: Array, carried: tuple[Array, Array]) -> Array:
        return lax.cond(
            carried[0] > limit,
            lambda value, n: (value - limit, n + 1),
            lambda value, n: (value + step, n),
            *carried,
        )

    return list(lax.fori_loop(0, M, body, (x, jnp.int64(0))))


def _rnn_cell(h0: Array, xs: Array, W: Array, R: Array, bias: Array) -> list[Array]:  # noqa: N803
    def body(state: Array, x: Array) -> tuple[Array, Array]:
        state = jnp.tanh(x + state @ R)
        return state, state

    return list(lax.scan(body, h0, xs @ W + bias))


def _stacked_cells(
    h0: Array, h1: Array, h2: Array, xs: Array, W0: Array, R0: Array, W1: Array, R1: Array, W2: Array, R2: Array  # noqa: N803, E501
) -> list[Array]:  # fmt: skip
    def body(states: list[Array], x: Array) -> tuple[list[Array], Array]:
        after = []
        for state, W, R in zip(states, (W0, W1, W2), (R0, R1, R2), strict=True):  # noqa: N806
            x = jnp.tanh(x @ W + state @ R)
            after.append(x)
        return after, x

    ends, rows = lax.scan(body, [h0, h1, h2], xs)
    return [*ends, rows]


def _lstm_cell(
    h0: Array, c0: Array, xs: Array, W: Array, R: Array, bias: Array  # noqa: N803
) -> list[Array]:  # fmt: skip
    def body(carried: tuple[Array, Array], x: Array) -> tuple[tuple[Array, Array], Array]:
        state, cell = carried
        i, o, forget, g = jnp.split(x + state @ R, 4, axis=1)
        cell = jax.nn.sigmoid(forget) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
        state = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return (state, cell), state

    (state, cell), rows = lax.scan(body, (h0, c0), xs @ W + bias)
    return [state, cell, rows]


def _mamba_scan(
    x: Array, dt: Array, A: Array, B: Array, C: Array, h0: Array  # noqa: N803
) -> list[Array]:  # fmt: skip
    def body(state: Array, given: tuple[Array, ...]) -> tuple[Array, Array]:
        xt, dtt, bt, ct = given
        state = jnp.exp(dtt[..., None] * A) * state + (xt * dtt)[..., None] * bt[:, None, :]
        return state, (state * ct[:, None, :]).sum(-1)

    state, rows = lax.scan(body, h0, (x, dt, B, C))
    return [rows, state]


def _gru(given: Array, state: Array, R: Array) -> Array:  # noqa: N803
    hidden = state.shape[-1]
    own = state @ R[:, : 2 * hidden]
    z = jax.nn.sigmoid(given[..., :hidden] + own[..., :hidden])
    r = jax.nn.sigmoid(given[..., hidden : 2 * hidden] + own[..., hidden:])
    new = jnp.tanh(given[..., 2 * hidden :] + (r * state) @ R[:, 2 * hidden :])
    return (1 - z) * new + z * state


def _greedy_decoding(
    M: int, start: Array, eos: Array, h0: Array, E: Array, W: Array, R: Array, bias: Array, V: Array  # noqa: N803
) -> list[Array]:  # fmt: skip
    def going(carried: tuple[Array, ...]) -> Array:
        count, token, _, _ = carried
        return (count < M) & ((count == 0) | (token != eos))

    def body(carried: tuple[Array, ...]) -> tuple[Array, ...]:
        count, token, state, words = carried
        state = _gru(E[token][None] @ W + bias, state, R)
        token = jnp.argmax(state @ V, axis=1)[0]
        return count + 1, token, state, words.at[count].set(token)

    first = (jnp.int64(0), start[0], h0, jnp.zeros(M, jnp.int64))
    count, _, state, words = lax.while_loop(going, body, first)
    return [count, words, state]


def _sample_loop(
    M: int, s0: Array, a0: Array, b0: Array, Wa: Array, Ra: Array, biasa: Array, Wb: Array, Rb: Array, biasb: Array, V: Array  # noqa: N803, E501
) -> list[Array]:  # fmt: skip
    def body(carried: tuple[Array, ...], _: None) -> tuple[tuple[Array, ...], Array]:
        sample, a, b = carried
        a = _gru(sample @ Wa + biasa, a, Ra)
        b = _gru(a @ Wb + biasb, b, Rb)
        sample = jnp.tanh(b @ V)
        return (sample, a, b), sample

    (_, a, b), rows = lax.scan(body, (s0, a0, b0), None, length=M)
    return [rows, a, b]


#: The function, and the inputs that are constants for it.
FUNCTIONS: dict[str, tuple[Callable[..., list[Array]], tuple[str, ...]]] = {
    "empty_loop": (_empty_loop, ()),
    "collect": (_collect, ("M",)),
    "mandelbrot": (_mandelbrot, ()),
    "nested": (_nested, ("M",)),
    "if_in_loop": (_if_in_loop, ()),
    "rnn_cell": (_rnn_cell, ()),
    "stacked_cells": (_stacked_cells, ()),
    "lstm_cell": (_lstm_cell, ()),
    "lstm_scan": (_lstm_cell, ()),
    "mamba_scan": (_mamba_scan, ()),
    "greedy_decoding": (_greedy_decoding, ("M",)),
    "sample_loop": (_sample_loop, ("M",)),
}


def _function_of(key: str) -> tuple[Callable[..., list[Array]], tuple[str, ...]] | None:
    """The function for a model, and the inputs that are constants for it.

    `rnn_cell_b16` is `rnn_cell`'s.
    """
    return FUNCTIONS.get(key) or FUNCTIONS.get(key.rpartition("_")[0])


def _outputs(key: str, results: list[Any]) -> Outputs:
    """The outputs of the model, of the function's."""
    if key.startswith("greedy_decoding"):
        count, words, state = results
        return [words[: int(count), None], state]
    return results


def find(key: str) -> Callable[[Feeds], Outputs] | None:
    """The compiled counterpart of a model; None where there is none."""
    found = _function_of(key)
    if not found:
        return None
    function, constant = found
    compiled = jax.jit(function, static_argnames=constant)

    def run(feeds: Feeds) -> Outputs:
        given: dict[str, Any] = {
            name: int(value) if name in constant else value for name, value in feeds.items()
        }
        return _outputs(key, [np.asarray(value) for value in compiled(**given)])

    return run


def find_compiled_by_loopc(
    key: str, example: Feeds, types: list[np.dtype[Any]], options: Any
) -> Callable[[Feeds], Outputs] | None:
    """The counterpart of a model, by `loopc.from_jax`; None where there is none.

    Its integers are of 32 bits, as JAX has them by default: with those of 64 bits jax2onnx
    makes doubles of all floats.
    """
    import loopc

    found = _function_of(key)
    if not found:
        return None
    function, constant = found
    names = [name for name in example if name not in constant]
    fixed = {name: int(example[name]) for name in constant}
    compiled = loopc.from_jax(
        lambda *values: function(**dict(zip(names, values, strict=True)), **fixed),
        *(example[name] for name in names),
        sess_options=options,
    )

    def run(feeds: Feeds) -> Outputs:
        results = _outputs(key, compiled(*(feeds[name] for name in names)))
        return [one.astype(kind, copy=False) for one, kind in zip(results, types, strict=True)]

    return run
