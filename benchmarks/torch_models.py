# ===- torch_models.py - The models that are timed, in torch ----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The models as a user of torch writes them: loops of Python over tensors on a device.

Each function runs as it is, compiled by `torch.compile` (which writes its loop out)
and recorded as a CUDA graph. The number of trips is a constant for it. What asks
for a value in the middle of a loop, a branch or the end of a sentence, cannot be
recorded: such models are in EAGER.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from models_basic import Feeds, Outputs

Tensor = Any
# Not imported by name: nothing but benchmarks on a GPU wants it installed.
torch: Any = importlib.import_module("torch")

#: Ways to run: as it is, compiled, recorded.
WAYS = ("eager", "compile", "graph")


def _empty_loop(M: int, x: Tensor, step: Tensor) -> list[Tensor]:  # noqa: N803
    for _ in range(M):
        x = x + step
    return [x]


def _collect(M: int, x: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:  # noqa: N803
    rows = []
    for _ in range(M):
        x = x * a + b
        rows.append(x)
    return [x, torch.stack(rows)]


def _mandelbrot(M: int, cr: Tensor, ci: Tensor) -> list[Tensor]:  # noqa: N803
    a, b = torch.zeros_like(cr), torch.zeros_like(cr)
    n = torch.zeros_like(cr, dtype=torch.int32)
    for _ in range(M):
        inside = a * a + b * b <= 4
        following = torch.where(inside, a * a - b * b + cr, a)
        b = torch.where(inside, 2 * a * b + ci, b)
        a, n = following, n + inside.to(torch.int32)
    return [n]


def _if_in_loop(M: int, x: Tensor, step: Tensor, limit: Tensor) -> list[Tensor]:  # noqa: N803
    n = torch.zeros((), dtype=torch.int64, device=x.device)
    for _ in range(M):
        if x > limit:
            x, n = x - limit, n + 1
        else:
            x = x + step
    return [x, n]


def _rnn_cell(h0: Tensor, xs: Tensor, W: Tensor, R: Tensor, bias: Tensor) -> list[Tensor]:  # noqa: N803
    state, rows = h0, []
    for x in xs @ W + bias:
        state = torch.tanh(x + state @ R)
        rows.append(state)
    return [state, torch.stack(rows)]


def _lstm_cell(
    h0: Tensor, c0: Tensor, xs: Tensor, W: Tensor, R: Tensor, bias: Tensor  # noqa: N803
) -> list[Tensor]:  # fmt: skip
    state, cell, rows = h0, c0, []
    for x in xs @ W + bias:
        i, o, forget, g = (x + state @ R).chunk(4, 1)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(i) * torch.tanh(g)
        state = torch.sigmoid(o) * torch.tanh(cell)
        rows.append(state)
    return [state, cell, torch.stack(rows)]


def _mamba_scan(
    x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, h0: Tensor  # noqa: N803
) -> list[Tensor]:  # fmt: skip
    state, rows = h0, []
    for xt, dtt, bt, ct in zip(x, dt, B, C, strict=True):
        state = torch.exp(dtt[..., None] * A) * state + (xt * dtt)[..., None] * bt[:, None, :]
        rows.append((state * ct[:, None, :]).sum(-1))
    return [torch.stack(rows), state]


def _gru(given: Tensor, state: Tensor, R: Tensor) -> Tensor:  # noqa: N803
    hidden = state.shape[-1]
    own = state @ R[:, : 2 * hidden]
    z = torch.sigmoid(given[..., :hidden] + own[..., :hidden])
    r = torch.sigmoid(given[..., hidden : 2 * hidden] + own[..., hidden:])
    new = torch.tanh(given[..., 2 * hidden :] + (r * state) @ R[:, 2 * hidden :])
    return (1 - z) * new + z * state


def _greedy_decoding(
    M: int, start: Tensor, eos: Tensor, h0: Tensor, E: Tensor, W: Tensor, R: Tensor, bias: Tensor, V: Tensor  # noqa: N803, E501
) -> list[Tensor]:  # fmt: skip
    token, state, words = start[0], h0, []
    for _ in range(M):
        state = _gru(E[token][None] @ W + bias, state, R)
        token = torch.argmax(state @ V, 1)[0]
        words.append(token[None])
        if token == eos:
            break
    return [torch.stack(words), state]


def _sample_loop(
    M: int, s0: Tensor, a0: Tensor, b0: Tensor, Wa: Tensor, Ra: Tensor, biasa: Tensor, Wb: Tensor, Rb: Tensor, biasb: Tensor, V: Tensor  # noqa: N803, E501
) -> list[Tensor]:  # fmt: skip
    sample, a, b, rows = s0, a0, b0, []
    for _ in range(M):
        a = _gru(sample @ Wa + biasa, a, Ra)
        b = _gru(a @ Wb + biasb, b, Rb)
        sample = torch.tanh(b @ V)
        rows.append(sample)
    return [torch.stack(rows), a, b]


FUNCTIONS: dict[str, Callable[..., list[Tensor]]] = {
    "empty_loop": _empty_loop,
    "collect": _collect,
    "mandelbrot": _mandelbrot,
    "if_in_loop": _if_in_loop,
    "rnn_cell": _rnn_cell,
    "lstm_cell": _lstm_cell,
    "lstm_scan": _lstm_cell,
    "mamba_scan": _mamba_scan,
    "greedy_decoding": _greedy_decoding,
    "sample_loop": _sample_loop,
}

#: What looks at a value before it knows how to go on.
EAGER = ("if_in_loop", "greedy_decoding")


class _Recorded:
    """A function as a CUDA graph: inputs are copied to where it reads them."""

    def __init__(self, function: Callable[..., list[Tensor]], given: dict[str, Any]) -> None:
        self._given = given
        # Libraries get ready, and memory is allocated, outside of the recording.
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                function(**given)
        torch.cuda.current_stream().wait_stream(stream)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._results = function(**given)

    def __call__(self, **given: Any) -> list[Tensor]:
        for name, value in given.items():
            if isinstance(value, torch.Tensor):
                self._given[name].copy_(value)
        self._graph.replay()
        return self._results


def find(key: str, way: str, device: str = "cuda") -> Callable[[Feeds], Outputs] | None:
    """The counterpart of a model, run that way; None where there is none."""
    name = key if key in FUNCTIONS else key.rpartition("_")[0]
    function = FUNCTIONS.get(name)
    if function is None or (way != "eager" and name in EAGER):
        return None
    if way == "compile":
        function = torch.compile(function, mode="reduce-overhead", dynamic=False)
    torch.backends.cuda.matmul.allow_tf32 = False
    recorded: dict[int, _Recorded] = {}

    def run(feeds: Feeds) -> Outputs:
        given = {
            key: int(value) if key == "M" else torch.from_numpy(np.array(value)).to(device)
            for key, value in feeds.items()
        }
        with torch.inference_mode():
            if way == "graph":
                trips = int(given.get("M", 0))
                if trips not in recorded:
                    recorded[trips] = _Recorded(function, given)
                results = recorded[trips](**given)
            else:
                results = function(**given)
        return [value.cpu().numpy() for value in results]

    return run
