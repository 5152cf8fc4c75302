# ===- random_guards.py - Failing nodes deep within control flow --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Random nests of loops, scans and branches around one or two nodes that may fail.

The nodes are the cases of guard_cases.py, one of each operator that can fail. Their operands are
captured from outside, carried unchanged, moved about inside and outside of the loops, or cut from
a larger value by the number of the iteration, so that they fit up to an iteration. Whether each
level happens, and how often, only the run knows. What must come of it is computed here.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence
from typing import Any

import guard_models as gm
import numpy as np
import onnx
from guard_cases import Array, GuardCase, all_cases
from onnx import TensorProto, helper, numpy_helper

Feeds = dict[str, Array]
#: Kinds of levels; the outermost one comes first in a nest.
LEVELS = ("for", "for", "for", "while", "scan", "branch")
FORMS = ("open", "static", "partly", "unranked")
SUMMED = (TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.DOUBLE)


@dataclasses.dataclass(frozen=True)
class Result:
    """A value that a level makes: `leading` axes were collected in front of a victim's."""

    name: str
    elem: int
    rank: int | None


@dataclasses.dataclass
class Victim:
    """A case with names of its own, and from which iteration of which level on it fails."""

    case: GuardCase
    prefix: str
    #: The level whose iteration chooses the operands; None: a run gives them.
    level: int | None = None
    first: int = 0
    #: Whether the model itself holds operands that do not fit.
    always: bool = False
    #: Whether others read its result, and not who runs the model.
    inner: bool = False

    @property
    def node(self) -> str:
        """The name of the node that fails."""
        return f"{self.prefix}{gm.VICTIM}"


@dataclasses.dataclass(frozen=True)
class Run:
    """Inputs, the victims one of whose errors is due, and the count of each level.

    Nodes of one iteration that do not depend on each other fail in any order.
    """

    feeds: Feeds
    failing: list[int]
    counts: tuple[int, ...]


class Guards:
    """The model of a seed, its victims and its runs."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        cases = [case for case in all_cases() if case.opset >= 13 and "<" not in case.domain]
        first = self.dice.choice(cases)
        self.form = self.dice.choice(FORMS if first.open else FORMS[1:2])
        others = [case for case in cases if self._fits(case, first)]
        chosen = [first, *self.dice.sample(others, int(self.dice.random() < 0.5 and bool(others)))]
        self.victims = [Victim(case, f"v{k}_") for k, case in enumerate(chosen)]
        if self.form == "static" and not all(map(_is_static, chosen)):
            self.form = "partly"
        self.levels = [self.dice.choice(LEVELS) for _ in range(self.dice.randint(1, 3))]
        self.inputs: list[onnx.ValueInfoProto] = []
        self.constants: dict[str, Array] = {}
        self.fresh = 0
        self._choose_places()
        self.model = self._model()

    def _fits(self, case: GuardCase, first: GuardCase) -> bool:
        return (case.opset == first.opset and case.open == first.open
                and gm.imports(case, True) == gm.imports(first, True))  # fmt: skip

    def _choose_places(self) -> None:
        """Which victims have operands that an iteration chooses."""
        counted = [k for k, kind in enumerate(self.levels) if kind in ("for", "while")]
        for victim in self.victims:
            if counted and _is_static(victim.case) and self.dice.random() < 0.4:
                victim.level = self.dice.choice(counted)
                victim.first = self.dice.randrange(3)
            victim.always = victim.level is None and self.dice.random() < 0.15

    # -- The model ----------------------------------------------------------------

    def _name(self, stem: str = "t") -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def _input(self, name: str, value: Array, form: str = "static") -> None:
        port = gm.port(name, value, static=True)
        shape = port.type.tensor_type.shape
        for axis, dim in enumerate(shape.dim):
            if form == "open" or (form == "partly" and self.dice.random() < 0.6):
                dim.dim_param = f"{name}_{axis}"
        if form == "unranked":
            port.type.tensor_type.ClearField("shape")
        self.inputs.append(port)

    def _model(self) -> onnx.ModelProto:
        nodes = [
            helper.make_node(
                "Constant", [], [name], value=numpy_helper.from_array(np.array(number))
            )
            for name, number in (("one", 1), ("zero", 0), ("true", True))
        ]
        names: dict[str, str] = {}
        for victim in self.victims:
            for name, value in victim.case.good.items():
                port = victim.prefix + name
                names[port] = port
                if victim.level is not None and name in victim.case.bad:
                    self._input(port, value[None].repeat(4, 0), "static")
                    continue
                is_bad = name in victim.case.bad
                if victim.always if is_bad else self.dice.random() < 0.2:
                    self.constants[port] = victim.case.bad[name] if is_bad else value
                    continue
                form = self.form
                if form == "partly" and name in victim.case.bad and not _is_static(victim.case):
                    form = "open"
                self._input(port, value, form)
        self._input("unit", np.array(1, np.float32))
        for k, kind in enumerate(self.levels):
            self._input(f"level{k}", _count_of(kind, 1), "open")
        made, results = self._block(0, names)
        nodes += made
        outputs = [self._info(result) for result in results]
        graph = helper.make_graph(nodes, "g", self.inputs, outputs)
        graph.initializer.extend(_tensor(*one) for one in self.constants.items())
        imports = gm.imports(self.victims[0].case)
        return helper.make_model(graph, opset_imports=imports, ir_version=10)

    def _info(self, result: Result) -> onnx.ValueInfoProto:
        dims = None if result.rank is None else [None] * result.rank
        return helper.make_tensor_value_info(result.name, result.elem, dims)

    def _block(self, level: int, names: dict[str, str]) -> tuple[list[Any], list[Result]]:
        """What stands in front of a level, and the level; or the victims."""
        nodes: list[onnx.NodeProto] = []
        names = dict(names)
        for port in list(names):
            if not self._waits(port, level) and self.dice.random() < 0.3:
                names[port] = self._move(nodes, names[port], self._value(port))
        if level == len(self.levels):
            made, results = self._victims(names)
        else:
            make = {"branch": self._branch, "scan": self._scan}.get(self.levels[level], self._loop)
            made, results = make(level, names)
        return nodes + made, results

    def _value(self, port: str) -> Array:
        victim = next(v for v in self.victims if port.startswith(v.prefix))
        return victim.case.good[port.removeprefix(victim.prefix)]

    def _waits(self, port: str, level: int) -> bool:
        """Whether the operand is not yet cut out of those of all iterations there."""
        victim = next(v for v in self.victims if port.startswith(v.prefix))
        is_chosen = victim.level is not None and port.removeprefix(victim.prefix) in victim.case.bad
        return is_chosen and victim.level is not None and level <= victim.level

    def _move(self, nodes: list[Any], source: str, value: Array) -> str:
        """The same value by way of other nodes."""
        add = self._adder(nodes)
        ways: list[Callable[[], str]] = [
            lambda: add("Identity", source),
            lambda: add("Reshape", source, add("Shape", source)),
            lambda: add(
                "Squeeze", add("Unsqueeze", source, self._ints(nodes, 0)), self._ints(nodes, 0)
            ),
        ]
        if value.ndim:
            ways.append(lambda: add("Concat", source, axis=0))
        if value.dtype != object:
            ways.append(lambda: add("Where", add("Identity", "true"), source, source))
            ways.append(
                lambda: add("Gather", add("Unsqueeze", source, self._ints(nodes, 0)), "zero")
            )
        if value.ndim > 1 and value.dtype != object:
            ways.append(lambda: add("Transpose", add("Transpose", source)))
            ways.append(lambda: add("Slice", source, self._ints(nodes, 0), self._ints(nodes, 99)))
        if value.dtype == np.float32:
            ways.append(lambda: add("Mul", source, "unit"))
        return self.dice.choice(ways)()

    def _adder(self, nodes: list[Any]) -> Callable[..., str]:
        def add(op: str, *inputs: str, **attributes: Any) -> str:
            out = self._name()
            nodes.append(helper.make_node(op, list(inputs), [out], **attributes))
            return out

        return add

    def _ints(self, nodes: list[Any], number: int) -> str:
        value = numpy_helper.from_array(np.array([number]))
        nodes.append(helper.make_node("Constant", [], [out := self._name("c")], value=value))
        return out

    def _victims(self, names: dict[str, str]) -> tuple[list[Any], list[Result]]:
        nodes: list[onnx.NodeProto] = []
        results = []
        for victim in self.victims:
            for node in gm.parse(victim.case):
                _rename(node, victim.prefix, names)
                node.name = victim.node if node.name == gm.VICTIM else ""
                nodes.append(node)
            elem, dims = gm.result_type(victim.case)
            results.append(Result(f"{victim.prefix}o", elem, None if dims is None else len(dims)))
        made = []
        for victim, result in zip(self.victims, results, strict=True):
            if result.elem == TensorProto.FLOAT and self.dice.random() < 0.5:
                victim.inner = True
                moved = self._adder(nodes)("Tanh", result.name)
                made.append(dataclasses.replace(result, name=moved))
            else:
                made.append(result)
        for result in results:
            made += self._readers(nodes, result)
        return nodes, made

    def _readers(self, nodes: list[Any], result: Result) -> list[Result]:
        """Numbers that are computed of a result."""
        add = self._adder(nodes)
        found = []
        if self.dice.random() < 0.3:
            found.append(Result(add("Size", result.name), TensorProto.INT64, 0))
        if result.elem in SUMMED and self.dice.random() < 0.3:
            found.append(Result(add("ReduceSum", result.name, keepdims=0), result.elem, 0))
        return found

    # -- Levels -------------------------------------------------------------------

    def _collected(self, results: Sequence[Result]) -> list[Result]:
        return [Result(self._name("y"), r.elem, None if r.rank is None else r.rank + 1)
                for r in results]  # fmt: skip

    def _loop(self, level: int, names: dict[str, str]) -> tuple[list[Any], list[Result]]:
        """A Loop that counts, or one whose condition counts; it may carry operands and a sum."""
        i, was, goes = self._name("i"), self._name("b"), self._name("b")
        nodes: list[onnx.NodeProto] = []
        add = self._adder(nodes)
        names = dict(names)
        arguments = [helper.make_tensor_value_info(i, TensorProto.INT64, []),
                     helper.make_tensor_value_info(was, TensorProto.BOOL, [])]  # fmt: skip
        inits, yields = [], []
        for victim in self.victims:
            for name in victim.case.bad if victim.level == level else ():
                port = victim.prefix + name
                names[port] = add("Gather", names[port], i, axis=0)
        for port in list(names):
            if not self._waits(port, level) and names[port] == port and self.dice.random() < 0.15:
                carried = self._name("s")
                inits.append(port)
                arguments.append(onnx.ValueInfoProto(name=carried))
                elem = gm.element_type(self._value(port))
                arguments[-1].type.tensor_type.elem_type = elem
                names[port] = carried
                yields.append((port, carried, elem))
        is_while = self.levels[level] == "while"
        if is_while:
            more = add("Add", i, "one")
            nodes.append(helper.make_node("Less", [more, f"level{level}"], [goes]))
        else:
            nodes.append(helper.make_node("Identity", [was], [goes]))
        inner, results = self._block(level + 1, names)
        nodes += inner
        outputs = [helper.make_tensor_value_info(goes, TensorProto.BOOL, [])]
        kept = []
        for _port, carried, elem in yields:
            next_ = add("Identity", carried)
            outputs.append(onnx.ValueInfoProto(name=next_))
            outputs[-1].type.tensor_type.elem_type = elem
            kept.append(self._name("k"))
        sums = [r for r in results if r.elem == TensorProto.INT64 and r.rank == 0]
        total = None
        if sums and self.dice.random() < 0.5:
            state = self._name("s")
            inits.append("zero")
            arguments.append(helper.make_tensor_value_info(state, TensorProto.INT64, []))
            next_ = add("Add", state, sums[0].name)
            outputs.append(helper.make_tensor_value_info(next_, TensorProto.INT64, []))
            total = Result(self._name("y"), TensorProto.INT64, 0)
            kept.append(total.name)
        body = helper.make_graph(nodes, self._name("g"), arguments,
                                 [*outputs, *map(self._info, _copies(nodes, results, self._name))])  # fmt: skip
        collected = self._collected(results)
        front: list[onnx.NodeProto] = []
        before = self._adder(front)
        trips, enter = f"level{level}", self.dice.choice(("", "true"))
        if is_while:
            trips, enter = "", before("Less", "zero", f"level{level}")
        loop = helper.make_node("Loop", [trips, enter, *inits],
                                [*kept, *(r.name for r in collected)],
                                name=f"loop{level}", body=body)  # fmt: skip
        return [*front, loop], collected + ([total] if total else [])

    def _scan(self, level: int, names: dict[str, str]) -> tuple[list[Any], list[Result]]:
        nodes, results = self._block(level + 1, names)
        outputs = list(map(self._info, _copies(nodes, results, self._name)))
        part = helper.make_tensor_value_info(self._name("x"), TensorProto.FLOAT, [])
        body = helper.make_graph(nodes, self._name("g"), [part], outputs)
        collected = self._collected(results)
        scan = helper.make_node("Scan", [f"level{level}"], [r.name for r in collected],
                                name=f"scan{level}", num_scan_inputs=1, body=body)  # fmt: skip
        return [scan], collected

    def _branch(self, level: int, names: dict[str, str]) -> tuple[list[Any], list[Result]]:
        nodes, results = self._block(level + 1, names)
        taken = _copies(nodes, results, self._name)
        other: list[onnx.NodeProto] = []
        empty = [dataclasses.replace(r, name=self._name("e")) for r in results]
        for result in empty:
            dims = [0] * (result.rank or 0)
            count = 0 if dims else 1
            values: Any = [b"" if result.elem == TensorProto.STRING else 0] * count
            value = helper.make_tensor("none", result.elem, dims, values)
            other.append(helper.make_node("Constant", [], [result.name], value=value))
        made = [dataclasses.replace(r, name=self._name("y")) for r in results]
        node = helper.make_node(
            "If", [f"level{level}"], [r.name for r in made], name=f"branch{level}",
            then_branch=helper.make_graph(nodes, self._name("g"), [], list(map(self._info, taken))),
            else_branch=helper.make_graph(other, self._name("g"), [], list(map(self._info, empty))))  # fmt: skip
        return [node], made

    # -- Runs ---------------------------------------------------------------------

    def runs(self, number: int) -> list[Run]:
        """So many runs, of which one happens with what fits, and one with nothing that does."""
        made = [self._run([2] * len(self.levels), [False] * len(self.victims))]
        for k in range(number):
            counts = [self.dice.choice((0, 0, 1, 2, 3)) for _ in self.levels]
            if k == 0:
                counts[self.dice.randrange(len(counts))] = 0
            made.append(self._run(counts, [self.dice.random() < 0.8 for _ in self.victims]))
        return made

    def _run(self, counts: list[int], bad: list[bool]) -> Run:
        counts = [min(n, 1) if kind == "branch" else n
                  for n, kind in zip(counts, self.levels, strict=True)]  # fmt: skip
        feeds: Feeds = {"unit": np.array(1, np.float32)}
        for k, kind in enumerate(self.levels):
            feeds[f"level{k}"] = _count_of(kind, counts[k])
        found: list[tuple[tuple[int, ...], int]] = []
        for number, (victim, wrong) in enumerate(zip(self.victims, bad, strict=True)):
            wrong = wrong or victim.always
            operands = victim.case.good | (victim.case.bad if wrong else {})
            place = [0] * len(counts)
            for name, value in operands.items():
                if victim.level is not None and name in victim.case.bad:
                    good = victim.case.good[name]
                    value = np.stack([value if k >= victim.first else good for k in range(4)])
                if victim.prefix + name not in self.constants:
                    feeds[victim.prefix + name] = value
            if victim.level is not None:
                place[victim.level] = victim.first
            if wrong and all(at < n for at, n in zip(place, counts, strict=True)):
                found.append((tuple(place), number))
        first = [number for place, number in found if place == min(found)[0]]
        return Run(feeds, first, tuple(counts))


def _is_static(case: GuardCase) -> bool:
    return all(case.good[name].shape == value.shape for name, value in case.bad.items())


def _tensor(name: str, value: Array) -> onnx.TensorProto:
    if value.dtype == object:
        texts = [str(text).encode() for text in value.flat]
        return helper.make_tensor(name, TensorProto.STRING, value.shape, texts)
    return numpy_helper.from_array(value, name)


def _count_of(kind: str, count: int) -> Array:
    """The input that says how often a level happens."""
    if kind == "branch":
        return np.array(count > 0)
    return np.zeros(count, np.float32) if kind == "scan" else np.array(count, np.int64)


def _copies(
    nodes: list[Any], results: Sequence[Result], name: Callable[[str], str]
) -> list[Result]:
    """Names of a block's own for its results: one may be a result twice."""
    made = []
    for result in results:
        copy = dataclasses.replace(result, name=name("r"))
        nodes.append(helper.make_node("Identity", [result.name], [copy.name]))
        made.append(copy)
    return made


def _rename(node: onnx.NodeProto, prefix: str, names: dict[str, str]) -> None:
    """Gives all values of a node, and of those within it, names with a prefix."""

    def renamed(name: str) -> str:
        return names.get(prefix + name, prefix + name) if name else ""

    for k, name in enumerate(node.input):
        node.input[k] = renamed(name)
    for k, name in enumerate(node.output):
        node.output[k] = prefix + name if name else ""
    for attribute in node.attribute:
        for inner in attribute.g.node:
            _rename(inner, prefix, names)
        for info in attribute.g.output:
            info.name = prefix + info.name
