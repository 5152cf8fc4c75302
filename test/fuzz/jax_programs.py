# ===- jax_programs.py - Random functions of JAX -------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Random functions of JAX, compiled by `loopc.from_jax` and by `jax.jit`, must agree.

    PYTHONPATH=build/python .venv-apps/jax/bin/python test/fuzz/jax_programs.py --seeds 0:100

Functions are text: statements over arrays of small shapes, with loops, branches, scans, `vmap`
and `grad` within each other, whose bodies read what is around them. `--batch` compiles them
under `vmap` with an extent that calls choose. `--show SEED` prints a function.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

os.environ.setdefault("LOOPC_CACHE_DIR", "off")
os.environ.setdefault("LOOPC_COMPILE", "inprocess")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("OMP_NUM_THREADS", "1")

Shape = tuple[int, ...]
Value = tuple[str, Shape, str]  # name, shape, "f", "i" or "b"

UNARY = (
    "jnp.tanh({})", "jnp.sin({})", "jnp.cos({})", "jnp.abs({})", "-{}", "jnp.sqrt(jnp.abs({}) + 0.1)",
    "jnp.exp(jnp.tanh({}))", "jax.nn.sigmoid({})", "jax.nn.relu({})", "jnp.square({}) * 0.1",
    "jax.nn.softplus({})", "jax.nn.gelu({})", "jnp.log1p(jnp.abs({}))", "jnp.arctan({})",
    "jax.nn.elu({})", "jnp.clip({}, -1.0, 0.5)", "lax.erf({})", "lax.rsqrt(jnp.abs({}) + 1.0)",
    "jnp.expm1(jnp.tanh({}))", "lax.logistic({})", "lax.integer_pow({}, 3) * 0.01", "jnp.nan_to_num({})",
    "jnp.sinh(jnp.tanh({}))", "jax.nn.silu({})", "jnp.cbrt({})", "lax.stop_gradient({})",
)  # fmt: skip
BINARY = (
    "{} + {}", "{} - {}", "{} * {}", "jnp.maximum({}, {})", "jnp.minimum({}, {})",
    "{} / (1.0 + jnp.abs({}))", "jnp.arctan2({}, {})", "jnp.hypot({}, {})", "jnp.logaddexp({}, {})",
)  # fmt: skip
INTEGER = (
    "{} + {}", "{} - {}", "jnp.maximum({}, {})", "jnp.minimum({}, {})", "({} * {}) % 17",
    "{} % (jnp.abs({}) + 1)", "{} // (jnp.abs({}) % 5 + 1)", "({} & {})", "({} | {})", "({} ^ {})",
    "({} << (jnp.abs({}) % 3)) % 101", "({} >> (jnp.abs({}) % 3))",
    "jnp.fmod({}, jnp.abs({}) + 1)",
)  # fmt: skip
REDUCE = ("sum", "mean", "max", "min", "prod", "var", "std")


class Program:
    """Writes the text of one function."""

    def __init__(self, seed: int, statements: int = 7) -> None:
        self.rng = random.Random(seed)
        self.names = 0
        self.lines: list[str] = []
        self.depth = 0
        self.args: list[tuple[Shape, str]] = [
            (self.shape(2), "f"), (self.shape(2), "f"), ((), "i"), (self.shape(1), "i"),
        ]  # fmt: skip
        scope = [(f"a{at}", shape, kind) for at, (shape, kind) in enumerate(self.args)]
        self.statements(scope, statements)
        floats = [one for one in scope if one[2] == "f"]
        self.results = [one[0] for one in scope[-4:]] + [floats[-1][0]]
        names = ", ".join(f"a{at}" for at in range(len(self.args)))
        self.text = "\n".join(
            (f"def function({names}):", *self.lines, f"    return {', '.join(self.results)}")
        )

    # ------------------------------------------------------------- parts

    def shape(self, rank: int | None = None) -> Shape:
        rank = self.rng.choice((0, 1, 1, 2, 2, 3)) if rank is None else rank
        return tuple(self.rng.choice((1, 2, 3, 4, 5)) for _ in range(rank))

    def name(self, prefix: str = "v") -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def say(self, line: str) -> None:
        self.lines.append("    " * (self.depth + 1) + line)

    def pick(self, scope: Sequence[Value], kind: str, rank: int | None = None) -> Value:
        """A value of a kind: one that is there, late ones rather, or a constant."""
        found = [one for one in scope if one[2] == kind and (rank is None or len(one[1]) == rank)]
        if found:
            return found[max(self.rng.randrange(len(found)), self.rng.randrange(len(found)))]
        shape = self.shape(rank)
        name = self.name()
        if kind == "f":
            self.say(f"{name} = jnp.linspace(-1.0, 2.0, {math.prod(shape)}).reshape({shape})")
        elif kind == "i":
            self.say(f"{name} = jnp.arange({math.prod(shape)}, dtype=jnp.int32).reshape({shape})")
        else:
            self.say(f"{name} = (jnp.arange({math.prod(shape)}) % 2 == 0).reshape({shape})")
        return name, shape, kind

    def as_shape(self, value: Value, shape: Shape) -> str:
        """An expression of a value in another shape."""
        name, own, _ = value
        if own == shape:
            return name
        return f"jnp.resize({name}, {shape})"

    def statements(self, scope: list[Value], count: int) -> None:
        for _ in range(count):
            kinds: list[Callable[[list[Value]], Value | list[Value] | None]] = [
                self.unary, self.binary, self.integer, self.reduce, self.compare, self.where,
                self.move, self.move, self.index, self.update, self.product, self.order, self.window,
            ]  # fmt: skip
            if self.depth < 2:
                kinds += [self.scan, self.scan, self.while_loop, self.fori, self.cond, self.switch,
                          self.vmap, self.grad, self.associative, self.map] * 2  # fmt: skip
            made = self.rng.choice(kinds)(scope)
            if made is not None:
                scope.extend(made if isinstance(made, list) else [made])

    def let(self, text: str, shape: Shape, kind: str) -> Value:
        name = self.name()
        self.say(f"{name} = {text}")
        return name, shape, kind

    # ------------------------------------------------------------- statements

    def unary(self, scope: list[Value]) -> Value:
        name, shape, _ = self.pick(scope, "f")
        return self.let(self.rng.choice(UNARY).format(name), shape, "f")

    def pair(self, scope: list[Value], kind: str) -> tuple[str, str, Shape]:
        a, b = self.pick(scope, kind), self.pick(scope, kind)
        shape = broadcast(a[1], b[1])
        if shape is None:
            return a[0], self.as_shape(b, a[1]), a[1]
        return a[0], b[0], shape

    def binary(self, scope: list[Value]) -> Value:
        a, b, shape = self.pair(scope, "f")
        return self.let(self.rng.choice(BINARY).format(a, b), shape, "f")

    def integer(self, scope: list[Value]) -> Value:
        a, b, shape = self.pair(scope, "i")
        return self.let(self.rng.choice(INTEGER).format(a, b), shape, "i")

    def compare(self, scope: list[Value]) -> Value:
        kind = self.rng.choice("fi")
        a, b, shape = self.pair(scope, kind)
        sign = self.rng.choice(("<", ">", "<=", ">=") if kind == "f" else ("<", "==", "!=", ">="))
        return self.let(f"{a} {sign} {b}", shape, "b")

    def where(self, scope: list[Value]) -> Value:
        kind = self.rng.choice("ffi")
        a, b, shape = self.pair(scope, kind)
        test = self.pick(scope, "b")
        text = f"jnp.where({self.as_shape(test, shape)}, {a}, {b})"
        return self.let(text, shape, kind)

    def reduce(self, scope: list[Value]) -> Value:
        name, shape, _ = self.pick(scope, "f")
        if not shape:
            return self.let(f"jnp.sum({name})", (), "f")
        axis, keep = self.rng.randrange(len(shape)), self.rng.random() < 0.3
        made = tuple(1 if at == axis else one for at, one in enumerate(shape) if keep or at != axis)
        options = f"axis={axis - (len(shape) if self.rng.random() < 0.5 else 0)}, keepdims={keep}"
        which = self.rng.random()
        if which < 0.15:
            which_one = self.rng.choice(("argmax", "argmin"))
            return self.let(f"jnp.{which_one}({name}, {options}).astype(jnp.int32)", made, "i")
        if which < 0.3:
            which_one = self.rng.choice(("any", "all"))
            return self.let(f"jnp.{which_one}({name} > 0.1, {options})", made, "b")
        if which < 0.4:
            return self.let(f"jax.nn.softmax({name}, axis={axis})", shape, "f")
        if which < 0.5:
            return self.let(f"jax.nn.logsumexp({name}, {options})", made, "f")
        return self.let(f"jnp.{self.rng.choice(REDUCE)}({name}, {options})", made, "f")

    def move(self, scope: list[Value]) -> Value:
        kind = self.rng.choice("ffi")
        name, shape, _ = self.pick(scope, kind)
        rank = len(shape)
        ways = ["expand", "stack", "reshape", "broadcast"]
        if rank:
            ways += ["transpose", "flip", "roll", "concatenate", "tile", "repeat", "pad", "slice"]
            ways += ["strided", "triangle"] if rank >= 2 else ["diff"]
        way = self.rng.choice(ways)
        axis = self.rng.randrange(rank) if rank else 0

        def longer(extent: int) -> Shape:
            return (*shape[:axis], extent, *shape[axis + 1 :])

        if way == "expand":
            at = self.rng.randrange(rank + 1)
            return self.let(f"jnp.expand_dims({name}, {at})", (*shape[:at], 1, *shape[at:]), kind)
        if way == "stack":
            at = self.rng.randrange(rank + 1)
            other = self.as_shape(self.pick(scope, kind), shape)
            made = (*shape[:at], 2, *shape[at:])
            return self.let(f"jnp.stack([{name}, {other}], {at})", made, kind)
        if way == "reshape":
            return self.let(f"{name}.reshape(-1)", (math.prod(shape),), kind)
        if way == "broadcast":
            extent = self.rng.choice((2, 3))
            return self.let(f"jnp.broadcast_to({name}, {(extent, *shape)})", (extent, *shape), kind)
        if way == "transpose":
            order = self.rng.sample(range(rank), rank)
            return self.let(f"{name}.transpose({order})", tuple(shape[at] for at in order), kind)
        if way == "flip":
            return self.let(f"jnp.flip({name}, {axis})", shape, kind)
        if way == "roll":
            return self.let(f"jnp.roll({name}, {self.rng.randrange(-3, 4)}, {axis})", shape, kind)
        if way == "concatenate":
            other = self.as_shape(self.pick(scope, kind), shape)
            made = longer(2 * shape[axis])
            return self.let(f"jnp.concatenate([{name}, {other}], {axis})", made, kind)
        if way == "tile":
            count = [1] * rank
            count[axis] = 2
            return self.let(f"jnp.tile({name}, {tuple(count)})", longer(2 * shape[axis]), kind)
        if way == "repeat":
            made = longer(2 * shape[axis])
            return self.let(f"jnp.repeat({name}, 2, axis={axis})", made, kind)
        if way == "pad":
            low, high, inside = (self.rng.randrange(0, 3) for _ in range(3))
            edges = [(0, 0, 0)] * rank
            edges[axis] = (low, high, inside)
            extent = shape[axis] + low + high + inside * max(shape[axis] - 1, 0)
            filler = "jnp.float32(0.5)" if kind == "f" else "jnp.int32(3)"
            return self.let(f"lax.pad({name}, {filler}, {edges})", longer(extent), kind)
        if way == "slice":
            begin = self.rng.randrange(shape[axis])
            end = self.rng.randrange(begin, shape[axis]) + 1
            text = f"lax.slice_in_dim({name}, {begin}, {end}, axis={axis})"
            return self.let(text, longer(end - begin), kind)
        if way == "strided":
            step = self.rng.choice((-2, -1, 2))
            index = ", ".join(f"::{step}" if at == axis else ":" for at in range(rank))
            return self.let(f"{name}[{index}]", longer(-(-shape[axis] // abs(step))), kind)
        if way == "triangle":
            return self.let(f"jnp.{self.rng.choice(('tril', 'triu'))}({name})", shape, kind)
        return self.let(f"jnp.concatenate([{name}[:1], jnp.diff({name})])", shape, kind)

    def index(self, scope: list[Value]) -> Value:
        kind = self.rng.choice("ffi")
        name, shape, _ = self.pick(scope, kind)
        if not shape:
            return self.let(f"{name} * 1", shape, kind)
        axis = self.rng.randrange(len(shape))
        rest = (*shape[:axis], *shape[axis + 1 :])
        at = self.pick(scope, "i")
        way = self.rng.randrange(5)
        if way == 0:  # Beyond the ends, too: JAX clamps.
            place = self.pick(scope, "i", 0)[0]
            text = f"lax.dynamic_index_in_dim({name}, {place}, {axis}, keepdims=False)"
            return self.let(text, rest, kind)
        if way == 1:
            place = self.pick(scope, "i", 0)[0]
            size = self.rng.randrange(shape[axis]) + 1
            text = f"lax.dynamic_slice_in_dim({name}, {place}, {size}, {axis})"
            return self.let(text, (*shape[:axis], size, *shape[axis + 1 :]), kind)
        mode = self.rng.choice(("clip", "wrap")) if way != 2 else "fill"
        if way == 4:
            index = f"jnp.abs({self.as_shape(at, shape)}) % {shape[axis]}"
            return self.let(f"jnp.take_along_axis({name}, {index}, axis={axis})", shape, kind)
        filled = ", fill_value=0" if mode == "fill" else ""
        text = f"jnp.take({name}, {at[0]}, axis={axis}, mode={mode!r}{filled})"
        return self.let(text, (*shape[:axis], *at[1], *shape[axis + 1 :]), kind)

    def update(self, scope: list[Value]) -> Value:
        kind = self.rng.choice("ffi")
        name, shape, _ = self.pick(scope, kind)
        if not shape:
            return self.let(f"{name} + 1", shape, kind)
        way = self.rng.randrange(4)
        other = self.pick(scope, kind)
        if way == 0:
            starts = ", ".join(self.pick(scope, "i", 0)[0] for _ in shape)
            window = tuple(self.rng.randrange(extent) + 1 for extent in shape)
            text = f"lax.dynamic_update_slice({name}, {self.as_shape(other, window)}, ({starts},))"
            return self.let(text, shape, kind)
        how = self.rng.choice(("set", "add", "max", "min", "multiply"))
        if way == 1:
            place = self.pick(scope, "i", 0)[0]
            row = self.as_shape(other, shape[1:])
            return self.let(f"{name}.at[jnp.abs({place}) % {shape[0]}].{how}({row})", shape, kind)
        if way == 2 or len(shape) == 1:
            # Indices that are equal: only what does not depend on their order.
            how = self.rng.choice(("add", "max", "min"))
            at = self.pick(scope, "i", 1)
            rows = self.as_shape(other, (at[1][0], *shape[1:]))
            return self.let(f"{name}.at[jnp.abs({at[0]}) % {shape[0]}].{how}({rows})", shape, kind)
        column = self.as_shape(other, (shape[0], *shape[2:]))
        column_at = self.rng.randrange(shape[1])
        return self.let(f"{name}.at[:, {column_at}].{how}({column})", shape, kind)

    def product(self, scope: list[Value]) -> Value:
        a = self.pick(scope, "f", 2)
        b = self.pick(scope, "f", 2)
        way = self.rng.randrange(4)
        (m, k), n = a[1], b[1][1]
        right = self.as_shape(b, (k, n))
        if way == 0:
            return self.let(f"{a[0]} @ {right} * 0.3", (m, n), "f")
        if way == 1:
            return self.let(f"jnp.einsum('ij,jk->ki', {a[0]}, {right})", (n, m), "f")
        if way == 2:
            return self.let(
                f"jnp.einsum('ij,ij->i', {a[0]}, {self.as_shape(b, (m, k))})", (m,), "f"
            )
        return self.let(f"jnp.outer({a[0]}[:, 0], {right}[0])", (m, n), "f")

    def order(self, scope: list[Value]) -> Value:
        kind = self.rng.choice("ffi")
        name, shape, _ = self.pick(scope, kind)
        if not shape:
            return self.let(f"jnp.sort(jnp.stack([{name}, {name} * 2]))", (2,), kind)
        axis = self.rng.randrange(len(shape))
        way = self.rng.randrange(6)
        if way == 0:
            return self.let(f"jnp.sort({name}, axis={axis})", shape, kind)
        if way == 1:
            return self.let(f"jnp.argsort({name}, axis={axis}).astype(jnp.int32)", shape, "i")
        if way == 2:
            reverse = self.rng.random() < 0.5
            which = self.rng.choice(("cumsum", "cummax", "cummin", "cumprod"))
            text = f"lax.{which}({name}, axis={axis}, reverse={reverse})"
            if kind == "i":
                text = f"({text}) % 1000"
            return self.let(text, shape, kind)
        if way == 3:
            count = self.rng.randrange(shape[-1]) + 1
            return self.let(f"lax.top_k({name}, {count})[0]", (*shape[:-1], count), kind)
        if way == 4:
            at = self.pick(scope, "i")
            return self.let(f"jax.nn.one_hot({at[0]}, 4)", (*at[1], 4), "f")
        value = self.pick(scope, "f")
        text = f"jnp.searchsorted(jnp.sort({name}.reshape(-1)), {value[0]}).astype(jnp.int32)"
        return self.let(text, value[1], "i")

    def window(self, scope: list[Value]) -> Value:
        name, (rows, columns), _ = self.pick(scope, "f", 2)
        way = self.rng.randrange(3)
        if way == 0:
            width = self.rng.randrange(columns) + 1
            text = f"jnp.convolve({name}[0], jnp.linspace(0.1, 1.0, {width}), mode='same')"
            return self.let(text, (max(columns, width),), "f")
        size, stride = self.rng.choice((1, 2, 3)), self.rng.choice((1, 2))
        made = -(-columns // stride)
        if way == 1:
            how = self.rng.choice(("-jnp.inf, lax.max", "0.0, lax.add"))
            text = f"lax.reduce_window({name}, {how}, (1, {size}), (1, {stride}), 'SAME')"
            return self.let(text, (rows, made), "f")
        text = (
            f"lax.conv_general_dilated({name}[None], jnp.linspace(-1.0, 1.0, {2 * rows * size})"
            f".reshape(2, {rows}, {size}), ({stride},), 'SAME')[0]"
        )
        return self.let(text, (2, made), "f")

    # ------------------------------------------------------------- control flow

    def body(
        self,
        scope: list[Value],
        params: Sequence[Value],
        results: Callable[[list[Value]], str],
        count: int | None = None,
    ) -> str:
        """A function of params that reads what is around it, too."""
        name = self.name("f")
        self.say(f"def {name}({', '.join(one[0] for one in params)}):")
        self.depth += 1
        inner = [*scope, *params]
        self.statements(inner, count or self.rng.choice((1, 2, 3)))
        self.say(f"return {results(inner)}")
        self.depth -= 1
        return name

    def like(self, scope: list[Value], value: Value) -> str:
        """An expression of what was computed last, of the type of a value, and bounded."""
        found = self.pick(scope, value[2])
        text = self.as_shape(found, value[1])
        if value[2] == "f":
            return f"jnp.tanh({text} + {value[0]})"
        return f"({text} + {value[0]}) % 97" if value[2] == "i" else f"{text} ^ {value[0]}"

    def carries(self, scope: list[Value]) -> list[Value]:
        return [self.pick(scope, self.rng.choice("ffib")) for _ in range(self.rng.choice((1, 2)))]

    def params(self, values: Sequence[Value]) -> list[Value]:
        return [(self.name("p"), shape, kind) for _, shape, kind in values]

    def scan(self, scope: list[Value]) -> list[Value]:
        carried = self.carries(scope)
        length = self.rng.choice((1, 2, 3, 5, 0)) if self.rng.random() < 0.3 else None
        rows = self.pick(scope, self.rng.choice("ffi"))
        own, inner = self.params(carried), []
        if length is None and rows[1]:
            inner = [(self.name("r"), rows[1][1:], rows[2])]
            given, count, options = f"({rows[0]},)", rows[1][0], ""
        else:
            length = 3 if length is None else length
            given, count, options = "None", length, f", length={length}"
        made: list[Value] = []

        def results(now: list[Value]) -> str:
            made.append(self.pick(now, self.rng.choice("ffib")))
            carry = ", ".join(self.like(now, one) for one in own)
            return f"({carry},), ({made[0][0]},)"

        name = self.name("g")
        function = self.body(scope, [*own, *inner], results)
        names = ", ".join(one[0] for one in own)
        row = ", ".join(one[0] for one in inner)
        self.say(f"def {name}(c, x):")
        self.say(f"    ({names},) = c")
        if row:
            self.say(f"    ({row},) = x")
        self.say(f"    return {function}({names}{', ' + row if row else ''})")
        begin = ", ".join(one[0] for one in carried)
        ends = [(self.name(), shape, kind) for _, shape, kind in carried]
        out = (self.name(), (count, *made[0][1]), made[0][2])
        reverse = self.rng.random() < 0.3
        left = ", ".join(one[0] for one in ends)
        self.say(
            f"({left},), ({out[0]},) = lax.scan({name}, ({begin},), {given}, "
            f"reverse={reverse}{options})"
        )
        return [*ends, out] if count else ends

    def while_loop(self, scope: list[Value]) -> list[Value]:
        carried = self.carries(scope)
        own = self.params(carried)
        most = self.rng.choice((0, 1, 3, 6))
        test = self.rng.choice(
            (f"c[0] < {most}", f"(c[0] < {most}) & (jnp.sum(c[1]) < 50)", f"c[0] * c[0] < {most}")
        )
        function = self.body(
            scope, own, lambda now: f"({', '.join(self.like(now, one) for one in own)},)"
        )
        begin = ", ".join(one[0] for one in carried)
        ends = [(self.name(), shape, kind) for _, shape, kind in carried]
        count = (self.name(), (), "i")
        names = ", ".join(one[0] for one in (count, *ends))
        self.say(
            f"({names},) = lax.while_loop(lambda c: {test}, "
            f"lambda c: (c[0] + 1, *{function}(*c[1:])), (jnp.int32(0), {begin}))"
        )
        return [count, *ends]

    def fori(self, scope: list[Value]) -> list[Value]:
        carried = self.carries(scope)
        own = self.params(carried)
        at = (self.name("i"), (), "i")
        function = self.body(
            scope, [at, *own], lambda now: f"({', '.join(self.like(now, one) for one in own)},)"
        )
        begin = ", ".join(one[0] for one in carried)
        ends = [(self.name(), shape, kind) for _, shape, kind in carried]
        end = self.rng.choice(("4", "3", f"jnp.abs({self.pick(scope, 'i', 0)[0]}) % 5"))
        start = self.rng.choice(("0", "1"))
        names = ", ".join(one[0] for one in ends)
        self.say(
            f"({names},) = lax.fori_loop({start}, {end}, lambda i, c: {function}(i, *c), ({begin},))"
        )
        return ends

    def branches(self, scope: list[Value], count: int) -> tuple[list[str], str, Value]:
        given = self.pick(scope, "f")
        result = (self.name(), self.pick(scope, "f")[1], "f")
        names = []
        for _ in range(count):
            own = self.params([given])
            names.append(
                self.body(
                    scope,
                    own,
                    lambda now: self.as_shape(self.pick(now, "f"), result[1]) + " * 0.5",
                )
            )
        return names, given[0], result

    def cond(self, scope: list[Value]) -> Value:
        test = self.pick(scope, "b")
        (then, other), given, result = self.branches(scope, 2)
        self.say(f"{result[0]} = lax.cond(jnp.any({test[0]}), {then}, {other}, {given})")
        return result

    def switch(self, scope: list[Value]) -> Value:
        index = self.pick(scope, "i", 0)
        names, given, result = self.branches(scope, self.rng.choice((2, 3, 4)))
        self.say(f"{result[0]} = lax.switch({index[0]}, [{', '.join(names)}], {given})")
        return result

    def rows_of(self, scope: list[Value]) -> Value:
        found = [one for one in scope if one[2] == "f" and one[1]]
        return self.rng.choice(found) if found else self.pick(scope, "f", 2)

    def vmap(self, scope: list[Value]) -> Value:
        rows = self.rows_of(scope)
        axis = self.rng.randrange(len(rows[1]))
        inner = (self.name("p"), (*rows[1][:axis], *rows[1][axis + 1 :]), "f")
        made: list[Value] = []

        def results(now: list[Value]) -> str:
            made.append(self.pick(now, self.rng.choice("fffi")))
            return made[0][0]

        function = self.body(scope, [inner], results)
        text = f"jax.vmap({function}, in_axes={axis})({rows[0]})"
        return self.let(text, (rows[1][axis], *made[0][1]), made[0][2])

    def map(self, scope: list[Value]) -> Value:
        rows = self.rows_of(scope)
        inner = (self.name("p"), rows[1][1:], "f")
        made: list[Value] = []

        def results(now: list[Value]) -> str:
            made.append(self.pick(now, self.rng.choice("fffi")))
            return made[0][0]

        function = self.body(scope, [inner], results)
        return self.let(f"lax.map({function}, {rows[0]})", (rows[1][0], *made[0][1]), made[0][2])

    def grad(self, scope: list[Value]) -> Value:
        given = self.pick(scope, "f")
        own = (self.name("p"), given[1], "f")
        at = len(self.lines)
        function = self.body(
            scope, [own], lambda now: f"jnp.sum(jnp.tanh({self.pick(now, 'f')[0]} * {own[0]}[...].sum()))"
        )  # fmt: skip
        # What JAX cannot differentiate backwards.
        if any("while_loop" in line or "fori_loop" in line for line in self.lines[at:]):
            return self.let(f"{function}({given[0]})", (), "f")
        if self.rng.random() < 0.3:
            function = f"jax.checkpoint({function})"
        return self.let(f"jnp.tanh(jax.grad({function})({given[0]}))", given[1], "f")

    def associative(self, scope: list[Value]) -> Value:
        rows = self.rows_of(scope)
        axis = self.rng.randrange(len(rows[1]))
        reverse = self.rng.random() < 0.3
        options = f"axis={axis}, reverse={reverse}"
        if self.rng.random() < 0.5:
            how = self.rng.choice(("jnp.add", "jnp.maximum", "jnp.multiply"))
            return self.let(f"lax.associative_scan({how}, {rows[0]}, {options})", rows[1], "f")
        linear = "lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1])"
        pair = f"(jnp.tanh({rows[0]}), {rows[0]})"
        return self.let(f"lax.associative_scan({linear}, {pair}, {options})[1]", rows[1], "f")


def broadcast(a: Shape, b: Shape) -> Shape | None:
    made: list[int] = []
    for at in range(1, max(len(a), len(b)) + 1):
        one = a[-at] if at <= len(a) else 1
        other = b[-at] if at <= len(b) else 1
        if one != other and 1 not in (one, other):
            return None
        made.insert(0, other if one == 1 else one)
    return tuple(made)


def arguments(program: Program, seed: int, batch: int | None) -> list[Any]:
    import numpy as np

    rng = np.random.default_rng(seed)
    made: list[Any] = []
    for shape, kind in program.args:
        whole = shape if batch is None else (batch, *shape)
        if kind == "f":
            made.append(rng.normal(size=whole).astype(np.float32))
        else:
            made.append(rng.integers(-3, 8, size=whole).astype(np.int32))
    return made


def check(seed: int, batch: bool) -> tuple[str, str]:
    """What became of the function of a seed, and more about it."""
    import jax
    import jax.numpy as jnp
    import loopc
    import numpy as np
    from jax import lax

    program = Program(seed)
    scope: dict[str, Any] = {"jax": jax, "jnp": jnp, "lax": lax}
    exec(program.text, scope)
    function = scope["function"]
    if batch:
        function = jax.vmap(function)
    args = arguments(program, seed, 3 if batch else None)
    try:
        wanted = jax.jit(function)(*args)
    except Exception as error:
        return "skipped", f"{type(error).__name__}: {error}".splitlines()[0]
    shapes = "b, ..." if batch else None
    try:
        compiled = loopc.from_jax(function, *args, shapes=shapes)
    except loopc.CompileError as error:
        kind = "jax2onnx" if str(error).startswith("jax2onnx") else "REFUSED"
        return kind, str(error)
    except Exception as error:
        return "symbolic" if batch else "ERROR", f"{type(error).__name__}: {error}"
    for count in (3, 1, 4) if batch else (None, None):
        given = args if count in (None, 3) else arguments(program, seed + 1, count)
        wanted = jax.jit(function)(*given)
        try:
            found = compiled(*given)
        except loopc.Error as error:
            return "RUN", str(error)
        for at, (one, other) in enumerate(zip(found, wanted, strict=True)):
            if one.dtype != other.dtype or one.shape != other.shape:
                return (
                    "WRONG",
                    f"result {at}: {one.dtype}{one.shape} for {other.dtype}{other.shape}",
                )
            if not np.allclose(one, other, rtol=1e-3, atol=1e-4, equal_nan=True):
                where = f"{program.results[at]} (batch {count})"
                return "WRONG", f"result {where}: {np.asarray(one)} for {np.asarray(other)}"
    return "ok", ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", default="0:20", help="FIRST:END")
    parser.add_argument("--batch", action="store_true", help="an extent that calls choose")
    parser.add_argument("--show", type=int, help="print the function of a seed")
    options = parser.parse_args()
    if options.show is not None:
        print(Program(options.show).text)
        return 0
    first, end = map(int, options.seeds.split(":"))
    counts: dict[str, int] = {}
    for seed in range(first, end):
        start = time.monotonic()
        try:
            state, text = check(seed, options.batch)
        except Exception:
            state, text = "ERROR", traceback.format_exc().splitlines()[-1]
        counts[state] = counts.get(state, 0) + 1
        if state != "ok":
            print(f"{seed}: {state}: {' '.join(text.split())[:400]}", flush=True)
        elif sys.stdout.isatty():
            print(f"{seed}: {time.monotonic() - start:.1f} s", flush=True)
    print(counts)
    return 1 if any(state.isupper() for state in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
