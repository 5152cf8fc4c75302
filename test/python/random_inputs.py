# ===- random_inputs.py - Inputs and declared shapes of random programs --------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Sets of inputs for a random program, and forms of it that declare its inputs otherwise.

Extents are 0, 1, equal, different, what stands in the program as a constant (what a compiler may
make a version for), and larger. Numbers are 0, 1, negative, the least there is, and constants of
the program.
"""

from __future__ import annotations

import copy
import dataclasses
import random
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from random_operators import Array

Feeds = dict[str, Array]


@dataclasses.dataclass(frozen=True)
class Given:
    """An input of a program: its element type, and names of its extents.

    "7" is that extent; "D7" is mostly 7, or another; "?E.u" is an extent that is that of "E", or
    1, or seldom another.
    """

    name: str
    elem: int
    dims: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class RandomProgram:
    """A program whose inputs are of any shape, and sets of inputs for it.

    `proto` declares inputs with names for their extents; `types` has the element type of every
    tensor; `kinds` says what it was made of.
    """

    seed: int
    proto: onnx.ModelProto
    givens: tuple[Given, ...]
    types: dict[str, int]
    kinds: frozenset[str]
    sets: tuple[Feeds, ...]


@dataclasses.dataclass(frozen=True)
class Form:
    """A program that declares its inputs in one way, and the sets that it can be run with."""

    name: str
    proto: onnx.ModelProto
    sets: tuple[Feeds, ...]


def constants(proto: onnx.ModelProto) -> list[int]:
    """Small numbers that stand in a model, which extents may happen to be."""
    found: set[int] = set()

    def visit(nodes: Sequence[onnx.NodeProto]) -> None:
        for node in nodes:
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    visit(attribute.g.node)
                elif attribute.name == "value" and node.op_type == "Constant":
                    if attribute.t.data_type == TensorProto.STRING:
                        continue
                    values = numpy_helper.to_array(attribute.t)
                    found.update(int(v) for v in values.ravel()[:8] if -16 <= v <= 16)

    visit(proto.graph.node)
    for function in proto.functions:
        visit(function.node)
    return sorted(value for value in found if value > 1) or [3]


def input_sets(
    givens: Sequence[Given], proto: onnx.ModelProto, draw: random.Random, count: int
) -> tuple[Feeds, ...]:
    """So many sets of inputs."""
    known = constants(proto)
    pairs = [(0, 0), (1, 1), "same", "other", "zero", "one", (13, 2), (2, 13), "same", "any"]
    draw.shuffle(pairs)
    sets = []
    for number in range(count):
        extents = _Extents(pairs[number % len(pairs)], known, draw)
        sets.append({given.name: _values(given, extents, known, draw) for given in givens})
    return tuple(sets)


class _Extents:
    """The extents of one set."""

    def __init__(self, kind: object, known: Sequence[int], draw: random.Random) -> None:
        one, other = draw.choice(known), draw.choice(known)
        forms: dict[object, tuple[int, int]] = {
            "same": (one, one), "other": (one, other), "zero": (0, one), "one": (1, one),
            "any": (draw.randrange(20), draw.randrange(6)),
        }  # fmt: skip
        pair: tuple[int, int] = kind if isinstance(kind, tuple) else forms[kind]
        self._pair: tuple[int, int] = pair if draw.random() < 0.5 else pair[::-1]
        self._draw = draw
        self._found: dict[str, int] = {}

    def __getitem__(self, dim: str) -> int:
        if dim not in self._found:
            self._found[dim] = self._new(dim)
        return self._found[dim]

    def _new(self, dim: str) -> int:
        if dim.isdigit():
            return int(dim)
        if dim.startswith("D"):
            others = [0, 1, int(dim[1:]) + 1, *self._pair]
            return int(dim[1:]) if self._draw.random() < 0.85 else self._draw.choice(others)
        if dim.startswith("?"):
            how = self._draw.random()
            if how < 0.04:
                return self._draw.randrange(4)
            full: int = self[dim[1:].split(".")[0]]
            return 1 if how < 0.5 else full
        some = [*self._pair, 1, 2, 3, 5, 17]
        return some["AB".index(dim)] if dim in ("A", "B") else self._draw.choice(some)


def _values(given: Given, extents: _Extents, known: Sequence[int], draw: random.Random) -> Array:
    dtype = helper.tensor_dtype_to_np_dtype(given.elem)
    shape = [extents[dim] for dim in given.dims]
    size = int(np.prod(shape))
    if given.elem == TensorProto.BOOL:
        return np.asarray([draw.random() < 0.7 for _ in range(size)], dtype).reshape(shape)
    if given.elem == TensorProto.STRING:
        words = ["", "a", "bc", "\u00e9", "longer than a short text is"]
        return np.asarray([draw.choice(words) for _ in range(size)], object).reshape(shape)
    if not shape:
        numbers: list[float] = [0, 0, 1, 1, 2, 2, 3, 4, draw.choice(known)]
        if given.name != "n":
            least = np.iinfo(dtype).min if np.issubdtype(dtype, np.integer) else -2.5
            numbers += [-1, -3, 7, least]
        number = draw.choice(numbers)
        if np.issubdtype(dtype, np.unsignedinteger) and number < 0:
            number += np.iinfo(dtype).max + 1
        return np.asarray(number, dtype)
    how = draw.randrange(5)
    if how == 0:  # Each a place in it.
        numbers = [*range(size)]
        draw.shuffle(numbers)
    elif how == 1:
        numbers = [draw.choice((0, 1)) for _ in range(size)]
    else:
        numbers = [draw.randrange(-3, 7) for _ in range(size)]
    if np.issubdtype(dtype, np.unsignedinteger):
        numbers = [
            number if number >= 0 else number + np.iinfo(dtype).max + 1 for number in numbers
        ]
        return np.asarray(numbers, dtype).reshape(shape)
    made = np.asarray(numbers, np.float64)
    if given.elem == TensorProto.FLOAT and how > 1:
        made = made + 0.5
    return np.asarray(made, dtype).reshape(shape)


# -- Declared shapes -----------------------------------------------------------------

FORMS = ("open", "static", "partly", "unranked", "apart")


def form(program: RandomProgram, name: str) -> Form:
    """The program in one of `FORMS`.

    "open" has names for extents, equal ones where extents are always equal; "apart" one name for
    each; "static" has the extents of one set, and the numbers of all; "partly" some of the
    extents of one set; "unranked" declares no rank.
    """
    draw = random.Random(f"{program.seed} {name}")
    if name == "open" or not any(given.dims for given in program.givens):
        return Form(name, program.proto, program.sets)
    fixed: dict[str, list[int | str | None] | None] = {}
    chosen = draw.choice(program.sets)
    empty = [feeds for feeds in program.sets if not all(v.size for v in feeds.values())]
    if empty and draw.random() < 0.3:
        chosen = draw.choice(empty)
    for given in program.givens:
        extents = chosen[given.name].shape
        if name == "unranked":
            fixed[given.name] = None if given.dims or draw.random() < 0.3 else []
        elif name == "static":
            fixed[given.name] = list(extents)
        else:
            fixed[given.name] = [
                extent if dim.isdigit() or (name == "partly" and draw.random() < 0.5)
                else f"{given.name}_{k}"
                for k, (dim, extent) in enumerate(zip(given.dims, extents, strict=True))
            ]  # fmt: skip
    sets = list(program.sets)
    if name == "static":
        # Other numbers with the same extents.
        for feeds in program.sets:
            sets.append({k: v if not v.shape else chosen[k] for k, v in feeds.items()})
    sets = [feeds for feeds in sets if _fits(feeds, fixed)]
    return Form(name, _declared(program.proto, fixed), tuple(_different(sets)))


def _fits(feeds: Feeds, fixed: Mapping[str, list[int | str | None] | None]) -> bool:
    for name, dims in fixed.items():
        pairs = zip(dims or (), feeds[name].shape, strict=False)
        if any(isinstance(dim, int) and dim != extent for dim, extent in pairs):
            return False
    return True


def _different(sets: Sequence[Feeds]) -> Iterator[Feeds]:
    seen = set()
    for feeds in sets:
        key = tuple((name, value.shape, str(value.tolist())) for name, value in feeds.items())
        if key not in seen:
            seen.add(key)
            yield feeds


def _declared(
    proto: onnx.ModelProto, fixed: Mapping[str, list[int | str | None] | None]
) -> onnx.ModelProto:
    made = copy.deepcopy(proto)
    for place, info in enumerate(proto.graph.input):
        elem = info.type.tensor_type.elem_type
        shape = fixed[info.name]
        made.graph.input[place].CopyFrom(helper.make_tensor_value_info(info.name, elem, shape))
    return made
