# ===- torch_programs.py - Programs of torch with control flow ----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models as people write them with torch's operators of control flow, and its own modules.

`PROGRAMS` has for each a function that makes the model, and inputs: those that it is
exported with, and others that it is called with as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as torch_map
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


@dataclass
class Program:
    """A program.

    Attributes:
        make: makes the model.
        args: what it is exported with.
        others: what it is called with, too.
        dynamic: dynamic_shapes of torch.export, for one argument of the forward's *args.
    """

    make: Callable[[], nn.Module]
    args: tuple[Any, ...]
    others: list[tuple[Any, ...]] = field(default_factory=list)
    dynamic: Any = None


PROGRAMS: dict[str, Program] = {}


def rand(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=GENERATOR)


GENERATOR = torch.Generator().manual_seed(0)
AUTO = torch.export.Dim.AUTO


def program(*args: Any, others: list[tuple[Any, ...]] | None = None, dynamic: Any = None) -> Any:
    """Adds a function (or a module's class) to the programs."""

    def add(what: Any) -> Any:
        make = what if isinstance(what, type) else lambda: Function(what)
        shapes = dynamic
        if dynamic is not None and not isinstance(what, type):
            shapes = (dynamic,)
        PROGRAMS[what.__name__] = Program(make, args, others or [], shapes)
        return what

    return add


# ----- cond ------------------------------------------------------------------


@program(rand(4), others=[(rand(4) + 9,), (rand(4) - 9,)])
def cond_sum(x):
    return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))


@program(torch.tensor(True), rand(4), others=[(torch.tensor(False), rand(4))])
def cond_flag(flag, x):
    return torch.cond(flag, lambda x: (x + 1, x.sum()), lambda x: (x - 1, x.max()), (x,))


@program(rand(4), others=[(rand(4) + 3,), (rand(4) - 3,), (rand(4) + 30,)])
def cond_nested(x):
    def large(x):
        return torch.cond(x.mean() > 10, lambda x: x / 10, lambda x: x * 2, (x,))

    return torch.cond(x.mean() > 1, large, lambda x: -x, (x,))


@program(rand(4), rand(4, 4))
def cond_captures(x, w):
    y = x @ w
    return torch.cond(x[0] > y[0], lambda: y + x, lambda: y - x, ())


@program(rand(5, 3), others=[(rand(2, 3),), (rand(1, 3),), (rand(9, 3),)], dynamic=({0: AUTO},))
def cond_on_extent(x):
    return torch.cond(x.shape[0] > 4, lambda x: x.sum(0), lambda x: x.mean(0), (x,))


class CondModules(nn.Module):
    """Branches with parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = nn.Linear(4, 3), nn.Linear(4, 3)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.one(x), lambda x: self.other(x).relu(), (x,))


program(rand(2, 4), others=[(rand(2, 4) + 5,), (rand(2, 4) - 5,)])(CondModules)


# ----- while_loop ------------------------------------------------------------


@program(torch.tensor(5), rand(3), others=[(torch.tensor(0), rand(3)), (torch.tensor(1), rand(3))])
def while_count(n, x):
    zero = torch.zeros((), dtype=torch.int64)
    return while_loop(
        lambda i, n, x: i < n, lambda i, n, x: (i + 1, n.clone(), x * 0.5 + i), (zero, n, x)
    )


@program(rand(3).abs() + 1, others=[(rand(3).abs() + 100,)])
def while_halve(x):
    return while_loop(lambda x: x.max() > 1, lambda x: (x / 2,), (x,))


@program(torch.tensor(1071), torch.tensor(462), others=[(torch.tensor(7), torch.tensor(0))])
def while_gcd(a, b):
    return while_loop(lambda a, b: b != 0, lambda a, b: (b.clone(), a % b), (a, b))


@program(rand(4, 4) / 4, rand(4))
def while_captures(w, x):
    def step(i, v):
        v = torch.tanh(w @ v)
        return i + 1, v

    return while_loop(lambda i, v: (v.abs().max() > 1e-3) & (i < 50), step, (torch.tensor(0), x))


@program(torch.tensor(3), torch.tensor(4))
def while_nested(n, m):
    def outer(i, total):
        def inner(j, total):
            return j + 1, total + i * j

        _, total = while_loop(lambda j, total: j < m, inner, (torch.tensor(0), total))
        return i + 1, total

    return while_loop(lambda i, total: i < n, outer, (torch.tensor(0), torch.tensor(0)))


@program(torch.tensor(9), rand(3))
def cond_in_while(n, x):
    def step(i, x):
        x = torch.cond(x.sum() > 1, lambda x: x - 1, lambda x: x + 0.4, (x,))
        return i + 1, x

    return while_loop(lambda i, x: i < n, step, (torch.tensor(0), x))


@program(torch.tensor(4), rand(6, 3))
def while_row(n, x):
    def step(i, total):
        return i + 1, total + torch.index_select(x, 0, i.reshape(1))[0]

    return while_loop(lambda i, total: i < n, step, (torch.tensor(0), torch.zeros(3)))


@program(rand(8), torch.tensor(0.3))
def newton(target, start):
    def step(i, x, before):
        return i + 1, x - (x**3 - target) / (3 * x**2 + 1e-3), x.clone()

    first = torch.zeros_like(target) + start
    more = lambda i, x, before: ((x - before).abs().max() > 1e-3) & (i < 30)  # noqa: E731
    return while_loop(more, step, (torch.tensor(0), first + 1, first))[1]


class Greedy(nn.Module):
    """A sentence, word by word, until its end."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.cell, self.head = (
            nn.Embedding(11, 8),
            nn.GRUCell(8, 8),
            nn.Linear(8, 11),
        )

    def forward(self, state):
        def step(i, token, state, words):
            state = self.cell(self.embedding(token), state)
            token = self.head(state).argmax(-1)
            return i + 1, token, state, torch.where(torch.arange(12) == i, token, words)

        first = (torch.tensor(0), torch.tensor([1]), state, torch.zeros(12, dtype=torch.int64))
        more = lambda i, token, state, words: (i < 12) & (token != 0).all()  # noqa: E731
        return while_loop(more, step, first)


program(rand(1, 8), others=[(rand(1, 8),), (rand(1, 8) * 9,)])(Greedy)


class Beam(nn.Module):
    """The best three of all continuations, eight times."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(rand(7, 7))

    def forward(self, scores):
        def step(i, token, score, words):
            all_scores = score[:, None] + torch.log_softmax(self.table[token], -1)
            score, at = torch.topk(all_scores.reshape(-1), 3)
            token, words = at % 7, words[at // 7]
            words = torch.where((torch.arange(8) == i)[None], token[:, None], words)
            return i + 1, token, score, words

        first = (
            torch.tensor(0),
            torch.tensor([0, 1, 2]),
            scores,
            torch.zeros(3, 8, dtype=torch.int64),
        )
        return while_loop(lambda i, token, score, words: i < 8, step, first)[2:]


program(rand(3))(Beam)


# ----- scan ------------------------------------------------------------------


@program(rand(4), rand(6, 4))
def scan_cumulative(start, x):
    def step(total, row):
        total = total + row
        return total, total.clone()

    return scan(step, start, x)


@program(rand(4), rand(6, 4), rand(4, 4))
def scan_rnn(state, x, w):
    def step(state, row):
        state = torch.tanh(row + state @ w)
        return state, state.clone()

    return scan(step, state, x)


@program(rand(4), rand(6, 4))
def scan_reversed(state, x):
    return scan(lambda c, r: (c * 0.5 + r, c + r), state, x, reverse=True)


@program((rand(4), rand(4)), (rand(6, 4), rand(6, 4)))
def scan_many(carried, rows):
    def step(carried, rows):
        a, b = carried
        return (b + rows[0], a * 0.5), (a.sum(), b * rows[1], rows[1] - a)

    return scan(step, carried, rows)


@program(rand(2, 4), rand(2, 6, 4))
def scan_axis(state, x):
    return scan(lambda c, r: (c + r, c * r), state, x, dim=1)


@program(rand(4), rand(3, 5, 4))
def scan_in_scan(state, x):
    def outer(state, plane):
        state, rows = scan(lambda c, r: (c * 0.9 + r, c.sum()), state, plane)
        return state, rows * 1

    return scan(outer, state, x)


@program(
    rand(4),
    rand(6, 4),
    others=[(rand(4), rand(n, 4)) for n in (2, 3, 11)],
    dynamic=(None, {0: AUTO}),
)
def scan_any_length(state, x):
    return scan(lambda c, r: (torch.tanh(c + r), c - r), state, x)


@program(rand(3), rand(6, 3))
def cond_in_scan(state, x):
    def step(c, r):
        c = torch.cond(r.sum() > 0, lambda c, r: c + r, lambda c, r: c * 0.5 - r, (c, r))
        return c, c * 2

    return scan(step, state, x)


@program(rand(3).abs(), rand(6, 3).abs())
def while_in_scan(state, x):
    def step(c, r):
        (c,) = while_loop(lambda c: c.max() > 1, lambda c: (c / 2,), (c + r,))
        return c, c + 1

    return scan(step, state, x)


@program(
    rand(2, 3, 4), rand(5, 2, 3), rand(5, 2, 3).sigmoid(), rand(3, 4), rand(5, 2, 4), rand(5, 2, 4)
)
def selective_scan(state, x, dt, a, b, c):
    def step(state, rows):
        x, dt, b, c = rows
        state = torch.exp(dt[..., None] * a) * state + (x * dt)[..., None] * b[:, None]
        return state, (state * c[:, None]).sum(-1)

    return scan(step, state, (x, dt, b, c))


class ScanLSTM(nn.Module):
    """An LSTM cell of torch, in a scan."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(4, 5)

    def forward(self, h, c, x):
        def step(carried, row):
            h, c = self.cell(row, carried)
            return (h, c), h.clone()

        return scan(step, (h, c), x)


program(rand(2, 5), rand(2, 5), rand(6, 2, 4))(ScanLSTM)


# ----- map and associative_scan -----------------------------------------------


@program(rand(5, 3), rand(3))
def map_rows(x, y):
    return torch_map(lambda row, y: row * y + row.sum(), x, y)


@program((rand(5, 3), rand(5)), rand(3))
def map_tuple(rows, y):
    return torch_map(lambda rows, y: (rows[0] * rows[1], rows[0] @ y), rows, y)


@program(rand(4, 5, 3))
def map_nested(x):
    return torch_map(lambda plane: torch_map(lambda row: row / (1 + row.norm()), plane), x)


@program(rand(5, 3), others=[(rand(2, 3),), (rand(17, 3),)], dynamic=({0: AUTO},))
def map_any_length(x):
    return torch_map(lambda row: torch.softmax(row, 0), x)


@program(rand(5, 3))
def map_cond(x):
    return torch_map(lambda r: torch.cond(r.sum() > 0, lambda r: r + 1, lambda r: r * 2, (r,)), x)


@program(rand(7, 3))
def associative_sum(x):
    return associative_scan(lambda a, b: a + b, x, 0, combine_mode="generic")


@program(rand(8, 3).sigmoid(), rand(8, 3))
def associative_linear(a, b):
    def combine(left, right):
        return left[0] * right[0], left[1] * right[0] + right[1]

    return associative_scan(combine, (a, b), 0, combine_mode="generic")


# ----- modules of torch ---------------------------------------------------------


class Recurrent(nn.Module):
    """One of torch's recurrent modules and a head."""

    def __init__(self, kind: type[nn.Module], **options: Any) -> None:
        super().__init__()
        self.recurrent = kind(4, 6, batch_first=True, **options)
        units = options.get("proj_size", 6)
        self.head = nn.Linear(2 * units if options.get("bidirectional") else units, 3)

    def forward(self, x):
        rows, end = self.recurrent(x)
        return self.head(rows), end


for _name, _make in {
    "rnn": lambda: Recurrent(nn.RNN),
    "rnn_relu_layers": lambda: Recurrent(nn.RNN, nonlinearity="relu", num_layers=2, bias=False),
    "rnn_two_ways": lambda: Recurrent(nn.RNN, bidirectional=True, num_layers=2),
    "gru": lambda: Recurrent(nn.GRU),
    "gru_two_ways": lambda: Recurrent(nn.GRU, bidirectional=True),
    "lstm": lambda: Recurrent(nn.LSTM),
    "lstm_layers": lambda: Recurrent(nn.LSTM, num_layers=2),
    "lstm_two_ways": lambda: Recurrent(nn.LSTM, bidirectional=True),
    "lstm_projected": lambda: Recurrent(nn.LSTM, proj_size=3),
    "lstm_projected_layers": lambda: Recurrent(
        nn.LSTM, proj_size=3, num_layers=2, bidirectional=True
    ),
    "lstm_projected_plain": lambda: Recurrent(nn.LSTM, proj_size=3, bias=False),
}.items():
    PROGRAMS[_name] = Program(_make, (rand(2, 7, 4),))


class Begun(nn.Module):
    """A projected LSTM both ways, whose states are given."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 6, proj_size=3, bidirectional=True)

    def forward(self, x, h, c):
        return self.lstm(x, (h, c))


# torch.export captures projected ones for one length only.
PROGRAMS["lstm_projected_begun"] = Program(Begun, (rand(5, 2, 4), rand(2, 2, 3), rand(2, 2, 6)))


class Encoder(nn.Module):
    """Layers that torch makes one operator of in inference, with a mask of keys or none."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True, **options)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, x, mask=None):
        return self.layers(x, src_key_padding_mask=mask)


class Weights(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x)


_PADDED = torch.arange(5) >= torch.tensor([[5], [3]])
PROGRAMS["Encoder"] = Program(Encoder, (rand(2, 5, 8),))
PROGRAMS["EncoderFirst"] = Program(
    lambda: Encoder(norm_first=True, activation="gelu"), (rand(2, 5, 8), _PADDED)
)
PROGRAMS["AttentionWeights"] = Program(Weights, (rand(2, 5, 8),))
for _name in ("rnn", "gru", "lstm"):
    PROGRAMS[f"{_name}_any_length"] = Program(
        PROGRAMS[_name].make,
        (rand(2, 7, 4),),
        [(rand(b, t, 4),) for b, t in ((2, 3), (5, 11))],
        ({0: AUTO, 1: AUTO},),
    )


class Block(nn.Module):
    """A layer of a transformer, causal."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.project, self.out = nn.LayerNorm(8), nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x):
        q, k, v = self.project(self.norm(x)).chunk(3, -1)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(nn.functional.gelu(y))


program(rand(2, 5, 8), others=[(rand(2, 2, 8),), (rand(2, 9, 8),)], dynamic=({1: AUTO},))(Block)


class Perceptron(nn.Module):
    """Three layers, normalised."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(16, 64), nn.GELU(), nn.LayerNorm(64),
            nn.Linear(64, 64), nn.SiLU(), nn.LayerNorm(64), nn.Linear(64, 8),
        )  # fmt: skip

    def forward(self, x):
        return self.layers(x).softmax(-1)


program(rand(2, 16), others=[(rand(2, 16) * 9,)])(Perceptron)


class Heads(nn.Module):
    """Attention of several heads, with a mask of what is before."""

    def __init__(self) -> None:
        super().__init__()
        self.project, self.out = nn.Linear(32, 96, bias=False), nn.Linear(32, 32, bias=False)

    def forward(self, x):
        def split(one):
            return one.unflatten(-1, (4, 8)).transpose(1, 2)

        q, k, v = map(split, self.project(x).chunk(3, -1))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))


program(rand(2, 5, 32), others=[(rand(2, 5, 32) * 5,)])(Heads)


class Exit(nn.Module):
    """Layers that are left as soon as one is sure."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.head = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 4)

    def forward(self, x):
        y = self.first(x).relu()
        early = self.head(y).softmax(-1)

        def deeper(y, early):
            return self.head(self.second(y).relu()).softmax(-1)

        return torch.cond(early.max() > 0.5, lambda y, early: early.clone(), deeper, (y, early))


program(rand(1, 16), others=[(rand(1, 16) * 9,), (rand(1, 16) * 0,)])(Exit)


class Experts(nn.Module):
    """A gate chooses one of two networks."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(16, 2)
        self.one, self.other = (
            nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16)) for _ in range(2)
        )

    def forward(self, x):
        which = self.gate(x).mean(0).argmax()
        return x + torch.cond(which == 0, lambda x: self.one(x), lambda x: self.other(x), (x,))


program(rand(3, 16), others=[(rand(3, 16),), (-rand(3, 16),)])(Experts)


# ----- algorithms -----------------------------------------------------------------


@program(rand(4, 4), rand(4))
def power_iteration(matrix, x):
    def step(n, x):
        y = matrix @ x
        return n + 1, y / y.norm()

    return while_loop(lambda n, x: n < 20, step, (torch.tensor(0), x))


@program(torch.eye(4) * 2, rand(4), others=[(torch.diag(torch.arange(1.0, 5)), rand(4))])
def conjugate_gradient(matrix, b):
    def step(n, x, r, p):
        q = matrix @ p
        square = r.dot(r)
        alpha = square / p.dot(q)
        rest = r - alpha * q
        return n + 1, x + alpha * p, rest, rest + rest.dot(rest) / square * p

    def going(n, x, r, p):
        return (n < 50) & (r.dot(r) > 1e-6)

    return while_loop(going, step, (torch.tensor(0), torch.zeros_like(b), b.clone(), b.clone()))


@program(rand(4), rand(4, 4), others=[(rand(4), rand(4, 4))])
def differential_equation(x, matrix):
    # The method of Heun.
    def slope(x):
        return torch.tanh(matrix @ x) - x

    def step(n, x):
        one = slope(x)
        return n + 1, x + 0.005 * (one + slope(x + 0.01 * one))

    return while_loop(lambda n, x: n < 50, step, (torch.tensor(0), x))[1]


@program(rand(5).abs(), others=[(rand(5).abs() * 100,)])
def bisection(target):
    # The roots of x^3 + x = target.
    def step(n, low, high):
        middle = (low + high) / 2
        above = middle * middle * middle + middle > target
        return n + 1, torch.where(above, low, middle), torch.where(above, middle, high)

    start = (torch.tensor(0), torch.zeros_like(target), target + 1)
    return while_loop(lambda n, low, high: n < 40, step, start)[1]


@program(rand(6, 6).abs(), others=[(rand(6, 6).abs() + torch.eye(6) * 9,)])
def shortest_paths(weights):
    # Bellman and Ford's, until nothing changes.
    def step(changed, distance):
        shorter = torch.minimum(distance, (distance[:, None] + weights).amin(0))
        return (shorter < distance).any(), shorter

    first = torch.full_like(weights[0], 1e9)
    first = torch.where(torch.arange(weights.shape[0]) == 0, torch.zeros_like(first), first)
    return while_loop(lambda changed, d: changed.clone(), step, (torch.tensor(True), first))[1]


@program(torch.eye(4) + 0.1 * rand(4, 4), others=[(torch.eye(4) * 3 + 0.1 * rand(4, 4),)])
def inverse(matrix):
    # Newton and Schulz's.
    eye = torch.eye(matrix.shape[0])

    def step(n, x):
        return n + 1, x @ (2 * eye - matrix @ x)

    start = (matrix.T / (matrix.abs().sum(0).max() * matrix.abs().sum(1).max())).contiguous()
    return while_loop(lambda n, x: n < 30, step, (torch.tensor(0), start))[1]


@program((rand(6, 6) > 0).float(), others=[((rand(6, 6) > 1).float(),)])
def life(board):
    kernel = torch.ones(1, 1, 3, 3)

    def step(n, board):
        padded = nn.functional.pad(board, (1, 1, 1, 1))
        around = nn.functional.conv2d(padded[None, None], kernel)[0, 0] - board
        alive = (around == 3) | ((around == 2) & (board > 0))
        return n + 1, alive.to(board.dtype)

    return while_loop(lambda n, board: n < 8, step, (torch.tensor(0), board))[1]


@program({"a": rand(3), "b": [rand(2), rand(2)]}, rand(3))
def structures(state, x):
    return {"sum": state["a"] + x, "rest": (state["b"][1], 3, None)}


@program(rand(4).to(torch.bfloat16), torch.tensor([True, False, True, False]))
def types(x, chosen):
    return torch.where(chosen, x * 2, x - 1), ~chosen, x.to(torch.float64)
