# ===- mlir_speculation.py - What must not run where a loop does not -----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs random MLIR whose loops hold what may trap, and may not run, through loopc, beside NumPy.

    mlir_speculation.py --seeds 0:1000
    mlir_speculation.py --seeds 77:78 --write /tmp    writes what fails, as speculation-77.mlir

Within loops of several dialects and branches stand operations that read beyond their operands, divide
by zero or ask for any memory, where numbers of the inputs say so. All of these are known in front of
the loops, and nobody has written a check, or one stands in the body. Runs whose numbers are bad have
a level that does not happen, or a check that says so. Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import dataclasses
import pathlib
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import engines
import numpy as np
from mlir_generics import run_seeds
from mlir_loops import PASSES, TOOLS, ChangeError, answer, changed
from mlir_programs import Array

Feeds = dict[str, Array]
#: Numbers of an input: a divisor, a place, a size and another number.
NUMBERS = ("d", "p", "s", "x")
FAR = (10**12, -(10**12), 2**62, -1)
MANY = (2**50, -1, -(2**40), 2**45)
LEVELS = ("loop", "loop", "for", "if", "while", "condition")
LENGTH = 8
#: MLIR's own motion of invariants asks no one.
OWN_PASSES = tuple(name for name in PASSES if name != "loop-invariant-code-motion")
HEAD = """
#one = affine_map<(d0) -> (d0)>
#sum = affine_map<(d0) -> ()>
#both = affine_map<(d0, d1) -> (d0, d1)>
#all = affine_map<(d0, d1) -> ()>
"""


@dataclasses.dataclass(frozen=True)
class Trap:
    """Lines that compute the i64 `{r}`, which are undefined for bad inputs.

    `value` is what they compute of good ones, `bad` makes inputs bad, `fine` are lines that compute the
    i1 `{r}_ok`: whether they are good.
    """

    lines: str
    value: Callable[[Feeds], int]
    bad: Callable[[random.Random], Feeds]
    fine: str
    #: Whether it has numbers alone, which may stand in the body of a linalg.generic.
    scalar: bool = False
    #: Whether bad inputs are those of a loop of its own that does not run.
    own: bool = False


def _number(name: str, *choices: int) -> Callable[[random.Random], Feeds]:
    return lambda dice: {name: np.array(dice.choice(choices))}


def _length(name: str, *shape: int) -> Callable[[random.Random], Feeds]:
    return lambda dice: {name: np.full(shape, 3, np.int64)}


def _sum_of(tensor: str, kind: str, maps: str = "#one, #sum", axes: int = 1) -> str:
    """The sum of a tensor, as a number."""
    iterators = ", ".join(['"reduction"'] * axes)
    return f"""
{{r}}_e = tensor.from_elements %zero : tensor<i64>
{{r}}_t = linalg.generic {{{{indexing_maps = [{maps}], iterator_types = [{iterators}]}}}}
    ins({tensor} : {kind}) outs({{r}}_e : tensor<i64>) {{{{
^bb0(%in: i64, %out: i64):
  %add = arith.addi %in, %out : i64
  linalg.yield %add : i64
}}}} -> tensor<i64>
{{r}} = tensor.extract {{r}}_t[] : tensor<i64>"""


#: Whether the place, or what begins there, lies within `%a`.
INSIDE = """
{r}_n = tensor.dim %a, %c0 : tensor<?xi64>
{r}_ok = arith.cmpi ult, %p_index, {r}_n : index"""
SIZE = """
{r}_l = arith.constant 64 : i64
{r}_ok = arith.cmpi ult, %s, {r}_l : i64"""
NOT_ZERO = "\n{r}_ok = arith.cmpi ne, %d, %zero : i64"


def _divisions() -> Iterator[Trap]:
    def trap(line: str, value: Callable[[int, int], int]) -> Trap:
        return Trap(f"{{r}} = {line}", lambda f: value(int(f["x"]), int(f["d"])),
                    _number("d", 0), NOT_ZERO, scalar=True)  # fmt: skip

    for op in ("divsi", "divui", "floordivsi"):
        yield trap(f"arith.{op} %x, %d : i64", lambda x, d: x // d)
    for op in ("ceildivsi", "ceildivui"):
        yield trap(f"arith.{op} %x, %d : i64", lambda x, d: -(-x // d))
    for op in ("remsi", "remui"):
        yield trap(f"arith.{op} %x, %d : i64", lambda x, d: x % d)
    for op in ("divs", "divu", "floordivs"):
        lines = f"index.{op} %x_index, %d_index\n{{r}} = arith.index_cast {{r}}_i : index to i64"
        yield Trap(f"{{r}}_i = {lines}", lambda f: int(f["x"]) // int(f["d"]), _number("d", 0),
                   NOT_ZERO, scalar=True)  # fmt: skip
    narrow = """{r}_a = arith.trunci %x : i64 to i32
{r}_b = arith.trunci %d : i64 to i32
{r}_c = arith.remsi {r}_a, {r}_b : i32
{r} = arith.extsi {r}_c : i32 to i64"""
    yield Trap(narrow, lambda f: int(f["x"]) % int(f["d"]), _number("d", 0), NOT_ZERO, True)
    vector = """{r}_v = vector.broadcast %d : i64 to vector<4xi64>
{r}_u = vector.broadcast %x : i64 to vector<4xi64>
{r}_w = arith.divsi {r}_u, {r}_v : vector<4xi64>
{r} = vector.extract {r}_w[2] : i64 from vector<4xi64>"""
    yield Trap(vector, lambda f: int(f["x"]) // int(f["d"]), _number("d", 0), NOT_ZERO)
    yield trap("arith.addi %zero, %zero : i64", lambda x, d: 0)
    tensors = """{r}_b = tensor.splat %d : tensor<8xi64>
{r}_c = tensor.splat %x : tensor<8xi64>
{r}_d = arith.divsi {r}_c, {r}_b : tensor<8xi64>
{r} = tensor.extract {r}_d[%c3] : tensor<8xi64>"""
    yield Trap(tensors, lambda f: int(f["x"]) // int(f["d"]), _number("d", 0), NOT_ZERO)


def _elements() -> Iterator[Trap]:
    far = _number("p", *FAR)
    read = lambda f: int(f["a"][int(f["p"])])  # noqa: E731
    yield Trap("{r} = tensor.extract %a[%p_index] : tensor<?xi64>", read, far, INSIDE, scalar=True)
    yield Trap("{r} = tensor.extract %k[%p_index] : tensor<8xi64>", lambda f: int(f["p"]) + 1, far,
               "\n{r}_ok = arith.cmpi ult, %p_index, %c8 : index", scalar=True)  # fmt: skip
    more = """{r}_i = arith.addi %p_index, %c1 : index
{r}_j = arith.minsi {r}_i, %c7 : index
{r} = tensor.extract %a[{r}_j] : tensor<?xi64>"""
    yield Trap(more, lambda f: int(f["a"][min(int(f["p"]) + 1, 7)]),
               _number("p", -(10**12), -5, -(2**61)), INSIDE, scalar=True)  # fmt: skip
    insert = "{r}_i = tensor.insert %x into %a[%p_index] : tensor<?xi64>"
    yield Trap(insert + _sum_of("{r}_i", "tensor<?xi64>"),
               lambda f: int(f["a"].sum() - f["a"][int(f["p"])] + f["x"]), far, INSIDE)  # fmt: skip
    cut = "{r}_i = tensor.extract_slice %a[%p_index] [2] [1] : tensor<?xi64> to tensor<2xi64>"
    yield Trap(cut + _sum_of("{r}_i", "tensor<2xi64>"),
               lambda f: int(f["a"][int(f["p"]) : int(f["p"]) + 2].sum()), far, INSIDE)  # fmt: skip
    cut = "{r}_i = tensor.extract_slice %a[1] [%s_index] [1] : tensor<?xi64> to tensor<?xi64>"
    yield Trap(cut + _sum_of("{r}_i", "tensor<?xi64>"),
               lambda f: int(f["a"][1 : 1 + int(f["s"])].sum()), _number("s", *MANY), SIZE)  # fmt: skip
    put = """{r}_i = tensor.from_elements %x, %x : tensor<2xi64>
{r}_j = tensor.insert_slice {r}_i into %a[%p_index] [2] [1] : tensor<2xi64> into tensor<?xi64>"""
    yield Trap(put + _sum_of("{r}_j", "tensor<?xi64>"),
               lambda f: int(f["a"].sum() - f["a"][int(f["p"]) : int(f["p"]) + 2].sum()
                             + 2 * f["x"]), far, INSIDE)  # fmt: skip
    body = """{r}_e = tensor.from_elements %zero : tensor<i64>
{r}_t = linalg.generic {{indexing_maps = [#one, #sum], iterator_types = ["reduction"]}}
    ins(%k : tensor<8xi64>) outs({r}_e : tensor<i64>) {{
^bb0(%in: i64, %out: i64):
  %row = tensor.extract %a[%p_index] : tensor<?xi64>
  %add = arith.addi %row, %out : i64
  linalg.yield %add : i64
}} -> tensor<i64>
{r} = tensor.extract {r}_t[] : tensor<i64>"""
    yield Trap(body, lambda f: 8 * read(f), far, INSIDE)
    yield Trap(body.replace("tensor.extract %a[%p_index] : tensor<?xi64>", "arith.divsi %in, %d : i64"),
               lambda f: int((np.arange(1, 9) // f["d"]).sum()), _number("d", 0), NOT_ZERO)  # fmt: skip


def _shapes() -> Iterator[Trap]:
    short, long = _length("a", 0), _length("a", 5000)
    whole = lambda f: int(f["a"].sum())  # noqa: E731
    is_8 = (
        "\n{r}_n = tensor.dim %a, %c0 : tensor<?xi64>\n{r}_ok = arith.cmpi eq, {r}_n, %c8 : index"
    )
    cast = "{r}_i = tensor.cast %a : tensor<?xi64> to tensor<8xi64>"
    yield Trap(cast + _sum_of("{r}_i", "tensor<8xi64>"), whole, short, is_8)
    fold = ("{r}_i = tensor.expand_shape %a [[0, 1]] output_shape [%s_index, 4] : "
            "tensor<?xi64> into tensor<?x4xi64>")  # fmt: skip
    two = "\n{r}_ok = arith.cmpi eq, %s_index, %c2 : index"
    yield Trap(fold + _sum_of("{r}_i", "tensor<?x4xi64>", "#both, #all", 2), whole,
               _number("s", 10**6, 2**40, -1), two)  # fmt: skip
    shape = """{r}_s = tensor.from_elements %s_index, %c4 : tensor<2xindex>
{r}_i = tensor.reshape %a({r}_s) : (tensor<?xi64>, tensor<2xindex>) -> tensor<?x4xi64>"""
    yield Trap(shape + _sum_of("{r}_i", "tensor<?x4xi64>", "#both, #all", 2), whole,
               _number("s", 10**6, 2**40, -1), two)  # fmt: skip
    pair = """{r}_e = tensor.from_elements %zero : tensor<i64>
{r}_t = linalg.generic {{indexing_maps = [#one, #one, #sum], iterator_types = ["reduction"]}}
    ins(%a, %b : tensor<?xi64>, tensor<?xi64>) outs({r}_e : tensor<i64>) {{
^bb0(%in: i64, %other: i64, %out: i64):
  %p0 = arith.muli %in, %other : i64
  %add = arith.addi %p0, %out : i64
  linalg.yield %add : i64
}} -> tensor<i64>
{r} = tensor.extract {r}_t[] : tensor<i64>"""
    same = """
{r}_n = tensor.dim %a, %c0 : tensor<?xi64>
{r}_m = tensor.dim %b, %c0 : tensor<?xi64>
{r}_ok = arith.cmpi eq, {r}_n, {r}_m : index"""
    yield Trap(pair, lambda f: int((f["a"] * f["b"]).sum()),
               lambda dice: {**long(dice), "b": np.zeros(0, np.int64)}, same)  # fmt: skip
    product = """{r}_y = tensor.empty() : tensor<2x3xi64>
{r}_f = linalg.fill ins(%zero : i64) outs({r}_y : tensor<2x3xi64>) -> tensor<2x3xi64>
{r}_g = linalg.matmul ins(%m, %w : tensor<2x?xi64>, tensor<?x3xi64>)
    outs({r}_f : tensor<2x3xi64>) -> tensor<2x3xi64>"""
    fits = """
{r}_n = tensor.dim %m, %c1 : tensor<2x?xi64>
{r}_k = tensor.dim %w, %c0 : tensor<?x3xi64>
{r}_ok = arith.cmpi eq, {r}_n, {r}_k : index"""
    yield Trap(product + _sum_of("{r}_g", "tensor<2x3xi64>", "#both, #all", 2),
               lambda f: int((f["m"] @ f["w"]).sum()),
               lambda dice: {"m": np.ones((2, 50_000), np.int64), "w": np.ones((0, 3), np.int64)},
               fits)  # fmt: skip
    many = _number("s", *MANY)
    fill = """{r}_i = tensor.empty(%s_index) : tensor<?xi64>
{r}_j = linalg.fill ins(%x : i64) outs({r}_i : tensor<?xi64>) -> tensor<?xi64>"""
    yield Trap(fill + _sum_of("{r}_j", "tensor<?xi64>"), lambda f: int(f["s"] * f["x"]), many, SIZE)
    made = """{r}_i = tensor.generate %s_index {{
^bb0(%at: index):
  %element = arith.index_cast %at : index to i64
  tensor.yield %element : i64
}} : tensor<?xi64>"""
    yield Trap(made + _sum_of("{r}_i", "tensor<?xi64>"),
               lambda f: int(np.arange(int(f["s"])).sum()), many, SIZE)  # fmt: skip
    splat = "{r}_i = tensor.splat %x[%s_index] : tensor<?xi64>"
    yield Trap(
        splat + _sum_of("{r}_i", "tensor<?xi64>"), lambda f: int(f["s"] * f["x"]), many, SIZE
    )
    pad = """{r}_i = tensor.pad %a low[%s_index] high[1] {{
^bb0(%at: index):
  tensor.yield %x : i64
}} : tensor<?xi64> to tensor<?xi64>"""
    yield Trap(pad + _sum_of("{r}_i", "tensor<?xi64>"),
               lambda f: int(f["a"].sum() + (f["s"] + 1) * f["x"]), many, SIZE)  # fmt: skip
    collapse = """{r}_i = tensor.extract_slice %m[0, 0] [2, %s_index] [1, 1] : tensor<2x?xi64> to tensor<2x?xi64>
{r}_j = tensor.collapse_shape {r}_i [[0, 1]] : tensor<2x?xi64> into tensor<?xi64>"""
    yield Trap(collapse + _sum_of("{r}_j", "tensor<?xi64>"),
               lambda f: int(f["m"][:, : int(f["s"])].sum()), many, SIZE)  # fmt: skip


def _carried() -> Iterator[Trap]:
    """Loops of `s` trips, which carry a tensor, and read another one in each."""
    rows = """{r}_v = loop.loop (%it : i64, %bt : i1) trips(%s : i64)
    carried(%row = {init} : {kind}) {{{{
  {part}
  %add_row = linalg.generic {{{{indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}}}}
      ins(%row, {other} : {kind}, {kind}) outs({out} : {kind}) {{{{
  ^bb0(%in: i64, %more: i64, %old: i64):
    %add = arith.addi %in, %more : i64
    linalg.yield %add : i64
  }}}} -> {kind}
  loop.yield while(%true : i1) carried(%add_row : {kind})
}}}}"""
    some = "tensor<?xi64>"
    made = """%row_n = tensor.dim %row, %c0 : tensor<?xi64>
  %row_e = tensor.empty(%row_n) : tensor<?xi64>"""
    text = rows.format(r="{r}", init="%a", kind=some, part=made, other="%b", out="%row_e")
    yield Trap(text + _sum_of("{r}_v", some), lambda f: int(f["a"].sum() + f["s"] * f["b"].sum()),
               lambda dice: {"s": np.array(0), "a": np.ones(5000), "b": np.ones(0)},
               "\n{r}_ok = arith.cmpi ne, %s, %zero : i64", own=True)  # fmt: skip
    stays = "\n{r}_ok = arith.cmpi ne, %s, %zero : i64"
    bad = lambda dice: {"s": np.array(0), "p": np.array(dice.choice(FAR)), "b": np.ones(0)}  # noqa: E731
    two, eight = "tensor<2xi64>", "tensor<8xi64>"
    begin = "{r}_w = tensor.extract_slice %k[0] [2] [1] : tensor<8xi64> to tensor<2xi64>\n"
    part = f"%row_p = tensor.extract_slice %a[%p_index] [2] [1] : {some} to {two}"
    text = rows.format(r="{r}", init="{r}_w", kind=two, part=part, other="%row_p", out="%row")
    yield Trap(begin + text + _sum_of("{r}_v", two),
               lambda f: 3 + int(f["s"] and f["s"] * f["a"][int(f["p"]) :][:2].sum()), bad, stays,
               own=True)  # fmt: skip
    part = f"%row_p = tensor.cast %b : {some} to {eight}"
    text = rows.format(r="{r}", init="%k", kind=eight, part=part, other="%row_p", out="%row")
    yield Trap(text + _sum_of("{r}_v", eight), lambda f: 36 + int(f["s"] * f["b"].sum()), bad, stays,
               own=True)  # fmt: skip


TRAPS = (*_divisions(), *_elements(), *_shapes(), *_carried(), *_carried())


class Program:
    """The program of a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.levels = [self.random.choice(LEVELS) for _ in range(self.random.randint(1, 3))]
        self.traps = self.random.sample(TRAPS, self.random.choice((1, 1, 2)))
        self.checked = [self.random.random() < 0.35 for _ in self.traps]
        #: Traps of numbers may stand in the body of an operation over `n` elements, in the end.
        self.in_generic = all(trap.scalar for trap in self.traps) and not any(self.checked) and (
            self.random.random() < 0.3)  # fmt: skip
        if self.in_generic:
            self.levels.append("generic")
        self.text = self._text()

    def _text(self) -> str:
        ports = {"a": "tensor<?xi64>", "b": "tensor<?xi64>", "m": "tensor<2x?xi64>",
                 "w": "tensor<?x3xi64>"}  # fmt: skip
        ports |= {f"{name}_t": "tensor<i64>" for name in NUMBERS}
        ports |= {f"n{k}_t": "tensor<i64>" for k in range(len(self.levels))}
        arguments = ", ".join(f'%{n}: {kind} {{loopc.name = "{n.removesuffix("_t")}"}}'
                              for n, kind in ports.items())  # fmt: skip
        lines = [f"func.func @main({arguments}) -> tensor<i64> {{"]
        lines += [f"%c{k} = arith.constant {k} : index" for k in range(9)]
        lines += ["%zero = arith.constant 0 : i64", "%true = arith.constant true",
                  "%k = arith.constant dense<[1, 2, 3, 4, 5, 6, 7, 8]> : tensor<8xi64>"]  # fmt: skip
        for name in (*NUMBERS, *(f"n{k}" for k in range(len(self.levels)))):
            lines += [f"%{name} = tensor.extract %{name}_t[] : tensor<i64>",
                      f"%{name}_index = arith.index_cast %{name} : i64 to index"]  # fmt: skip
        inner, result = self._level(0, "%zero")
        lines += [*inner, f"%result = tensor.from_elements {result} : tensor<i64>",
                  "return %result : tensor<i64>", "}"]  # fmt: skip
        return HEAD + "\n".join(lines) + "\n"

    def _level(self, k: int, before: str) -> tuple[list[str], str]:
        """Lines of a level, and the sum behind it."""
        if k == len(self.levels):
            return self._body(before)
        inner, after = self._level(k + 1, f"%sum{k}")
        if self.levels[k] in ("if", "generic"):
            inner, after = self._level(k + 1, before if self.levels[k] == "if" else f"%sum{k}")
        n, i, made = f"%n{k}", f"%i{k}", f"%made{k}"
        head, tail = {
            "loop": (f"{made} = loop.loop ({i} : i64, %b{k} : i1) trips({n} : i64) "
                     f"carried(%sum{k} = {before} : i64) {{",
                     [f"loop.yield while(%true : i1) carried({after} : i64)", "}"]),
            "condition": (f"%go{k} = arith.cmpi slt, %zero, {n} : i64\n"
                          f"{made} = loop.loop ({i} : i64, %b{k} : i1) while(%go{k} : i1) "
                          f"carried(%sum{k} = {before} : i64) {{",
                          [f"%one{k} = arith.constant 1 : i64",
                           f"%next{k} = arith.addi {i}, %one{k} : i64",
                           f"%more{k} = arith.cmpi slt, %next{k}, {n} : i64",
                           f"loop.yield while(%more{k} : i1) carried({after} : i64)", "}"]),
            "for": (f"{made} = scf.for {i} = %c0 to {n}_index step %c1 "
                    f"iter_args(%sum{k} = {before}) -> (i64) {{",
                    [f"scf.yield {after} : i64", "}"]),
            "if": (f"%go{k} = arith.cmpi slt, %zero, {n} : i64\n"
                   f"{made} = scf.if %go{k} -> (i64) {{",
                   [f"scf.yield {after} : i64", "} else {", f"scf.yield {before} : i64", "}"]),
            "while": (f"%last{k}:2 = scf.while (%at{k} = %c0, %was{k} = {before}) : "
                      f"(index, i64) -> (index, i64) {{\n"
                      f"%go{k} = arith.cmpi slt, %at{k}, {n}_index : index\n"
                      f"scf.condition(%go{k}) %at{k}, %was{k} : index, i64\n}} do {{\n"
                      f"^bb0({i}: index, %sum{k}: i64):",
                      [f"%next{k} = arith.addi {i}, %c1 : index",
                       f"scf.yield %next{k}, {after} : index, i64", "}",
                       f"{made} = arith.addi %last{k}#1, %zero : i64"]),
            "generic": (f"%zeros{k} = tensor.splat %zero[{n}_index] : tensor<?xi64>\n"
                        f"%from{k} = tensor.from_elements {before} : tensor<i64>\n"
                        f"%end{k} = linalg.generic {{indexing_maps = [#one, #sum], "
                        f'iterator_types = ["reduction"]}} ins(%zeros{k} : tensor<?xi64>) '
                        f"outs(%from{k} : tensor<i64>) {{\n^bb0(%element{k}: i64, %sum{k}: i64):",
                        [f"linalg.yield {after} : i64", "} -> tensor<i64>",
                         f"{made} = tensor.extract %end{k}[] : tensor<i64>"]),
        }[self.levels[k]]  # fmt: skip
        return [head, *inner, *tail], made

    def _body(self, before: str) -> tuple[list[str], str]:
        lines, total = [], before
        for k, (trap, checked) in enumerate(zip(self.traps, self.checked, strict=True)):
            if checked:
                lines.append(trap.fine.format(r=f"%r{k}"))
                lines.append(f'loop.check %r{k}_ok, "bad {k}"')
            lines.append(trap.lines.format(r=f"%r{k}" if not checked else f"%q{k}"))
            made = f"%r{k}" if not checked else f"%q{k}"
            lines.append(f"%total{k} = arith.addi {total}, {made} : i64")
            total = f"%total{k}"
        return lines, total

    def runs(self, number: int = 8) -> Iterator[tuple[Feeds, int | str]]:
        """Inputs, and what must come of them: a number, or a part of an error."""
        dice = self.random
        for k in range(number):
            feeds: Feeds = {name: np.arange(1, LENGTH + 1) for name in ("a", "b")}
            feeds |= {"m": np.arange(6).reshape(2, 3), "w": np.arange(9).reshape(3, 3)}
            feeds |= {"d": np.array(dice.choice((1, 2, 3))), "p": np.array(dice.randrange(7)),
                      "s": np.array(2), "x": np.array(dice.choice((0, 5, 7)))}  # fmt: skip
            counts = [dice.choice((1, 1, 2, 3)) for _ in self.levels]
            counts = [min(n, 1) if kind == "if" else n
                      for n, kind in zip(counts, self.levels, strict=True)]  # fmt: skip
            feeds |= {name: np.asarray(value, np.int64) for name, value in feeds.items()}
            if k % 4 == 0:
                yield self._named(feeds, counts), self._sum(feeds, counts)
                continue
            for trap, checked in zip(self.traps, self.checked, strict=True):
                if checked or k % 4 != 3 or not self.checked[0]:
                    feeds |= {n: np.asarray(v, np.int64) for n, v in trap.bad(dice).items()}
            if all(trap.own for trap in self.traps) and not any(self.checked) and k % 4 != 3:
                yield self._named(feeds, counts), self._sum(feeds, counts)
                continue
            if k % 4 == 3 and self.checked[0]:
                yield self._named(feeds, counts), "bad "
                continue
            counts[dice.randrange(len(counts))] = dice.choice((0, 0, 0, -1))
            counts = [max(n, 0) if kind == "generic" else n
                      for n, kind in zip(counts, self.levels, strict=True)]  # fmt: skip
            yield self._named(feeds, counts), 0

    def _named(self, feeds: Feeds, counts: Sequence[int]) -> Feeds:
        return {**feeds, **{f"n{k}": np.array(n) for k, n in enumerate(counts)}}

    def _sum(self, feeds: Feeds, counts: Sequence[int]) -> int:
        return int(np.prod(counts)) * sum(trap.value(feeds) for trap in self.traps)


def problems(seed: int, tools: pathlib.Path = TOOLS) -> Iterator[str]:
    """How the program of a seed ends wrong: as it is, and after some passes."""
    program = Program(seed)
    runs = list(program.runs())
    dice = random.Random(f"passes {seed}")
    passes = dice.sample(OWN_PASSES, dice.choice((1, 2, 3)))
    for level, checked, names in ((0, False, []), (1, False, []), (3, False, []), (3, True, []),
                                  (dice.choice((0, 3)), dice.random() < 0.5, passes)):  # fmt: skip
        options = (f"-O{level}", *(["checked"] if checked else []), *(f"--{n}" for n in names))
        where = f"{' '.join(options)} {'/'.join(program.levels)}"
        try:
            text = changed(program.text, tools, names)
        except (subprocess.TimeoutExpired, ChangeError) as error:
            yield f"{where} {error}"
            continue
        sets: list[Any] = [feeds for feeds, _ in runs]
        outcome = engines.worker(answer, 120).ask((text, level, sets, checked))
        if outcome.values is None:
            yield f"{where} {outcome.error}"
            continue
        for number, ((_, want), got) in enumerate(zip(runs, outcome.values, strict=True)):
            if isinstance(got, str):
                # Memory that a loop asks for in each iteration may be asked for in front of it.
                if not isinstance(want, str) or not ("memory" in got or want in got):
                    yield f"{where} run {number} ends with {got}, expected {want}"
            elif isinstance(want, str) or int(got[0]) != want:
                yield f"{where} run {number} gives {got[0]}, expected {want}"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    return run_seeds(argv, __doc__, "speculation", problems, lambda seed: Program(seed).text)


if __name__ == "__main__":
    sys.exit(main())
