# ===- places.py - Where a node can stand -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Puts the nodes of a donor into loops, scans and branches of a new model.

A place is a control (what repeats the nodes, and with which set of operands each time), for each
operand a source (how an iteration comes to its operand) and for each result a sink (what becomes
of it). The donor's results say what the model gives, whatever these are.
"""

from __future__ import annotations

import copy
import dataclasses
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from donors import Donor, is_tensor, opset_of
from onnx import TensorProto, helper, numpy_helper

Nodes = list[onnx.NodeProto]
FORMS = ("static", "open", "partly", "unranked")
CONTROLS = ("for", "while", "exit", "nested", "branch", "scan", "function", "rotate")
#: Versions of operators where the donor has none of its own.
_OPSET = 21


def element_type(value: np.ndarray) -> int:
    """The ONNX element type of an array; texts are objects."""
    if value.dtype.kind in "OSU":
        return TensorProto.STRING
    return helper.np_dtype_to_tensor_dtype(value.dtype)


@dataclasses.dataclass
class Result:
    """An output of the model, and what it must be."""

    name: str
    value: Any


@dataclasses.dataclass
class State:
    """A carried value: what it begins as, its next value, and how it is declared."""

    init: str
    info: onnx.ValueInfoProto
    following: Callable[[Nodes, str], str]
    #: What becomes of the last one: names, nodes, a result.
    finish: Callable[[str], None]
    is_fixed: bool = True


@dataclasses.dataclass
class Collected:
    """A value of each iteration, all of them as a result."""

    of: Callable[[Nodes], str]
    elem: int
    #: What each visit gives.
    values: list[np.ndarray]
    #: One like them, where there are none.
    one: np.ndarray


class Host:
    """Builds one model around a donor."""

    def __init__(self, donor: Donor, draw: random.Random, form: str) -> None:
        self.donor, self.draw, self.form = donor, draw, form
        self.nodes: Nodes = []
        self.given: dict[str, Any] = {}
        self.constants: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.results: list[Result] = []
        self.functions: list[onnx.FunctionProto] = []
        self.notes: list[str] = []
        self.opset = opset_of(donor.model) or _OPSET
        self.count = 0

    def name(self, stem: str) -> str:
        """A name that nothing else has."""
        self.count += 1
        return f"{stem}_{self.count}"

    def fits(self, op: str, *elems: int) -> bool:
        """Whether ONNX has the operator for tensors of all these types."""
        schema = onnx.defs.get_schema(op, self.opset)
        allowed = schema.type_constraints[0].allowed_type_strs
        return all(
            f"tensor({TensorProto.DataType.Name(elem).lower()})" in allowed for elem in elems
        )

    def node(self, nodes: Nodes, op: str, inputs: Sequence[str], **attributes: Any) -> str:
        """A node of one result, whose name it gives."""
        out = self.name(op.lower())
        nodes.append(helper.make_node(op, inputs, [out], **attributes))
        return out

    def constant(self, value: Any, nodes: Nodes | None = None) -> str:
        """A constant of int64 or bool."""
        array = np.asarray(value)
        tensor = numpy_helper.from_array(array if array.dtype == bool else array.astype(np.int64))
        return self.node(self.nodes if nodes is None else nodes, "Constant", [], value=tensor)

    def give(self, stem: str, value: Any, info: onnx.ValueInfoProto | None = None) -> str:
        """An input of the model, declared as the form says."""
        name = self.name(stem)
        self.given[name] = value
        if info is not None:
            made = copy.deepcopy(info)
            made.name = name
            self.inputs.append(made)
            return name
        dims: list[Any] | None = list(value.shape)
        if self.form == "unranked" and value.ndim:
            dims = None
        elif self.form != "static":
            dims = [
                d if self.form == "partly" and self.draw.random() < 0.5 else f"{name}_{k}"
                for k, d in enumerate(value.shape)
            ]
        self.inputs.append(helper.make_tensor_value_info(name, element_type(value), dims))
        return name

    def give_operand(self, which: int, name: str) -> str:
        """The donor's operand `name` of a set: an input, or a constant of the model."""
        value = self.donor.sets[which][name]
        info = next((i for i in self.donor.model.graph.input if i.name == name), None)
        stored = info is None or (is_tensor(value) and self.draw.random() < 0.35)
        if stored:
            made = self.name(f"k_{name}")
            tensor = copy.deepcopy(
                next((t for t in self.donor.model.graph.initializer if t.name == name), None)
                or _tensor(value)
            )
            if tensor.name != name:
                tensor = _tensor(value)
            tensor.name = made
            self.constants.append(tensor)
            return made
        return self.give(name, value, None if is_tensor(value) else info)

    def graft(self, nodes: Nodes, operands: dict[str, str]) -> list[str]:
        """The donor's nodes on these operands; the names of their results."""
        prefix = self.name("g")
        names = dict(operands)
        for node in self.donor.model.graph.node:
            for out in node.output:
                if out:
                    names[out] = f"{prefix}_{out}"
        for node in self.donor.model.graph.node:
            made = copy.deepcopy(node)
            made.name = f"{prefix}_{node.name or node.op_type}"
            _rename(made, names)
            nodes.append(made)
        return [names.get(out.name, out.name) for out in self.donor.model.graph.output]

    def add_result(self, name: str, value: Any) -> None:
        """An output of the model."""
        self.results.append(Result(name, value))

    def model(self) -> onnx.ModelProto:
        """The model."""
        outputs = []
        for result in self.results:
            dims = None
            if self.draw.random() < 0.5:
                dims = [f"{result.name}_{k}" for k in range(np.ndim(result.value))]
            elem = element_type(np.asarray(result.value))
            outputs.append(helper.make_tensor_value_info(result.name, elem, dims))
        graph = helper.make_graph(self.nodes, "transplanted", self.inputs, outputs, self.constants)
        imports = [copy.deepcopy(o) for o in self.donor.model.opset_import]
        if not opset_of(self.donor.model):
            imports.append(helper.make_opsetid("", self.opset))
        if self.functions:
            imports.append(helper.make_opsetid("local", 1))
        functions = [*self.donor.model.functions, *self.functions]
        return helper.make_model(
            graph,
            opset_imports=imports,
            functions=functions,
            ir_version=max(10, min(self.donor.model.ir_version, 12)),
        )


def _tensor(value: np.ndarray) -> onnx.TensorProto:
    if value.dtype.kind in "OSU":
        texts = [v if isinstance(v, bytes) else str(v).encode() for v in value.ravel()]
        return helper.make_tensor("t", TensorProto.STRING, value.shape, texts)
    return numpy_helper.from_array(value)


def _rename(node: onnx.NodeProto, names: dict[str, str]) -> None:
    """Gives values of the graph around a node, and of graphs in it, other names."""
    for k, name in enumerate(node.input):
        node.input[k] = names.get(name, name)
    for k, name in enumerate(node.output):
        node.output[k] = names.get(name, name)
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            own = {v.name for v in graph.input} | {t.name for t in graph.initializer}
            own |= {out for inner in graph.node for out in inner.output}
            outer = {k: v for k, v in names.items() if k not in own}
            for inner in graph.node:
                _rename(inner, outer)
            for out in graph.output:
                out.name = outer.get(out.name, out.name)


# ===- Sources ----------------------------------------------------------------===#


class Sources:
    """How an iteration comes to the operands of a set whose number it knows."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.count = len(host.donor.sets)
        self.ways: dict[str, Callable[[Nodes, str], str]] = {}
        for name in host.donor.sets[0]:
            self.ways[name] = self._way(name)

    def operands(self, nodes: Nodes, which: str) -> dict[str, str]:
        """The names of all operands of set `which`, a scalar value of the body."""
        return {name: way(nodes, which) for name, way in self.ways.items()}

    def _way(self, name: str) -> Callable[[Nodes, str], str]:
        host, donor = self.host, self.host.donor
        value = donor.sets[0][name]
        stacked = is_tensor(value) and name in {i.name for i in donor.model.graph.input}
        if not stacked or (not donor.differs(name) and host.draw.random() < 0.7):
            captured = host.give_operand(0, name)
            host.notes.append("captured")
            return lambda nodes, which: captured
        elem = element_type(value)
        ways = [self._branch]
        if host.fits("Gather", elem):
            ways.append(self._gather)
        if host.fits("Slice", elem) and host.fits("Squeeze", elem):
            ways.append(self._slice)
        if elem not in (TensorProto.BFLOAT16,) and _in_sequences(host, elem):
            ways.append(self._sequence)
        way = host.draw.choice(ways)
        host.notes.append(way.__name__.strip("_"))
        return way(name)

    def _stack(self, name: str) -> str:
        return self.host.give(f"{name}_all", np.stack([s[name] for s in self.host.donor.sets]))

    def _gather(self, name: str) -> Callable[[Nodes, str], str]:
        host, stack = self.host, self._stack(name)
        return lambda nodes, which: host.node(nodes, "Gather", [stack, which], axis=0)

    def _slice(self, name: str) -> Callable[[Nodes, str], str]:
        host, stack = self.host, self._stack(name)
        zero, one = host.constant([0]), host.constant([1])

        def part(nodes: Nodes, which: str) -> str:
            first = host.node(nodes, "Unsqueeze", [which, zero])
            end = host.node(nodes, "Add", [first, one])
            row = host.node(nodes, "Slice", [stack, first, end, zero])
            return host.node(nodes, "Squeeze", [row, zero])

        return part

    def _sequence(self, name: str) -> Callable[[Nodes, str], str]:
        host = self.host
        each = [host.give_operand(k, name) for k in range(self.count)]
        whole = host.node(host.nodes, "SequenceConstruct", each)
        return lambda nodes, which: host.node(nodes, "SequenceAt", [whole, which])

    def _branch(self, name: str) -> Callable[[Nodes, str], str]:
        host = self.host
        each = [host.give_operand(k, name) for k in range(self.count)]
        elem = element_type(host.donor.sets[0][name])

        def choose(nodes: Nodes, which: str, left: list[str], number: int = 0) -> str:
            if len(left) == 1:
                return host.node(nodes, "Identity", [left[0]])
            mine = host.node(nodes, "Equal", [which, host.constant(number, nodes)])
            graphs = []
            for kind, rest in (("yes", left[:1]), ("no", left[1:])):
                inside: Nodes = []
                out = choose(inside, which, rest, number + 1)
                graphs.append(helper.make_graph(inside, kind, [], [_info(out, elem)]))
            return host.node(nodes, "If", [mine], then_branch=graphs[0], else_branch=graphs[1])

        return lambda nodes, which: choose(nodes, which, each)


def _info(name: str, elem: int, rank: int | None = None) -> onnx.ValueInfoProto:
    dims = None if rank is None else [None] * rank
    return helper.make_tensor_value_info(name, elem, dims)


def _in_sequences(host: Host, elem: int) -> bool:
    if host.opset < 16:
        return False  # Loop and Identity have no collections
    schema = onnx.defs.get_schema("SequenceAt", host.opset)
    kind = f"seq(tensor({TensorProto.DataType.Name(elem).lower()}))"
    return kind in schema.type_constraints[0].allowed_type_strs


# ===- Sinks ------------------------------------------------------------------===#


class Sinks:
    """What becomes of one result in all visits, which are numbers of sets in their order."""

    def __init__(self, host: Host, place: int, visits: Sequence[int]) -> None:
        self.host, self.visits = host, visits
        self.values = [np.asarray(r[place]) for r in host.donor.results]
        self.each = [self.values[v] for v in visits]
        self.elem = element_type(self.values[0])
        self.current = ""  # the result's name in the body that is being made

    def ways(self, is_scan: bool) -> list[str]:
        """The sinks that take such a result."""
        host, elem = self.host, self.elem
        found = ["collect", "previous"]
        numbers = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.INT64)
        if elem in numbers:
            found.append("sum")
        if host.fits("Where", TensorProto.BOOL) and elem in (
            *numbers,
            TensorProto.UINT8,
            TensorProto.BOOL,
        ):
            found.append("where")
        if host.fits("ScatterND", elem) and host.fits("Unsqueeze", elem):
            found.append("write")
        if host.fits("Slice", elem) and host.fits("Concat", elem) and host.fits("Unsqueeze", elem):
            found.append("splice")
        if is_scan:
            return found
        if host.fits("Concat", elem) and host.fits("Unsqueeze", elem):
            found.append("concat")
        if _in_sequences(host, elem):
            found += ["sequence", "optional"]
        return found

    def make(self, way: str) -> tuple[list[State], list[Collected]]:
        """The states and collected values of a sink."""
        made: tuple[list[State], list[Collected]] = getattr(self, f"_{way}")()
        return made

    def _done(self, value: Any) -> Callable[[str], None]:
        return lambda name: self.host.add_result(name, value)

    def _collect(self) -> tuple[list[State], list[Collected]]:
        every = Collected(lambda nodes: self.current, self.elem, self.each, self.values[0])
        return [], [every]

    def _previous(self) -> tuple[list[State], list[Collected]]:
        first = self.host.draw.choice(self.values)
        init = self.host.give("before", first)
        state = State(init, _info(self.host.name("old"), self.elem), lambda n, s: self.current,
                      self._done([first, *self.each][-1]))  # fmt: skip
        before = [first, *self.each][:-1]
        old = Collected(lambda nodes: state.info.name, self.elem, before, first)
        return [state], [old]

    def _sum(self) -> tuple[list[State], list[Collected]]:
        total = np.zeros_like(self.values[0])
        init = self.host.give("zeros", total)
        with np.errstate(all="ignore"):
            for value in self.each:
                total = np.asarray(total + value)
        state = State(init, _info(self.host.name("sum"), self.elem),
                      lambda n, s: self.host.node(n, "Add", [s, self.current]),
                      self._done(total))  # fmt: skip
        return [state], []

    def _where(self) -> tuple[list[State], list[Collected]]:
        host, last = self.host, np.zeros_like(self.values[0])
        init = host.give("zeros", last)
        flag = host.give("odd", np.array(False))
        if self.each:
            last = self.each[-1 if len(self.each) % 2 == 0 else -2] if len(self.each) > 1 else last
        odd = State(flag, _info(host.name("odd"), TensorProto.BOOL),
                    lambda n, s: host.node(n, "Not", [s]), lambda name: None)  # fmt: skip
        kept = State(init, _info(host.name("kept"), self.elem),
                     lambda n, s: host.node(n, "Where", [odd.info.name, self.current, s]),
                     self._done(last))  # fmt: skip
        return [odd, kept], []

    def _buffer(self) -> tuple[str, State]:
        host = self.host
        length = len(self.visits)
        buffer = host.give("buffer", np.stack([self.values[0]] * (length + 1)))
        one = host.constant(1)
        place = State(host.give("place", np.array(0)), _info(host.name("at"), TensorProto.INT64, 0),
                      lambda n, s: host.node(n, "Add", [s, one]), lambda name: None)  # fmt: skip
        return buffer, place

    def _write(self) -> tuple[list[State], list[Collected]]:
        host = self.host
        buffer, place = self._buffer()
        row, zero = host.constant([1, 1]), host.constant([0])

        def write(nodes: Nodes, state: str) -> str:
            at = host.node(nodes, "Reshape", [place.info.name, row])
            value = host.node(nodes, "Unsqueeze", [self.current, zero])
            return host.node(nodes, "ScatterND", [state, at, value])

        want = np.stack([*self.each, self.values[0]])
        state = State(buffer, _info(host.name("rows"), self.elem), write, self._done(want))
        return [place, state], []

    def _splice(self) -> tuple[list[State], list[Collected]]:
        host = self.host
        buffer, place = self._buffer()
        zero, one, end = host.constant([0]), host.constant([1]), host.constant([2**62])

        def splice(nodes: Nodes, state: str) -> str:
            at = host.node(nodes, "Reshape", [place.info.name, one])
            after = host.node(nodes, "Add", [at, one])
            before = host.node(nodes, "Slice", [state, zero, at, zero])
            behind = host.node(nodes, "Slice", [state, after, end, zero])
            value = host.node(nodes, "Unsqueeze", [self.current, zero])
            return host.node(nodes, "Concat", [before, value, behind], axis=0)

        want = np.stack([*self.each, self.values[0]])
        state = State(buffer, _info(host.name("rows"), self.elem), splice, self._done(want))
        return [place, state], []

    def _concat(self) -> tuple[list[State], list[Collected]]:
        host, zero = self.host, self.host.constant([0])
        none = np.zeros((0, *self.values[0].shape), self.values[0].dtype)
        init = host.give("none", none)

        def grow(nodes: Nodes, state: str) -> str:
            row = host.node(nodes, "Unsqueeze", [self.current, zero])
            return host.node(nodes, "Concat", [state, row], axis=0)

        want = np.stack(self.each) if self.each else none
        state = State(init, _info(host.name("grown"), self.elem), grow, self._done(want), False)
        return [state], []

    def _sequence(self) -> tuple[list[State], list[Collected]]:
        host = self.host
        empty = host.node(host.nodes, "SequenceEmpty", [], dtype=self.elem)
        info = helper.make_tensor_sequence_value_info(host.name("list"), self.elem, None)

        def finish(name: str) -> None:
            length = host.node(host.nodes, "SequenceLength", [name])
            host.add_result(length, np.array(len(self.each)))
            if self.each:
                at = host.draw.randrange(-len(self.each), len(self.each))
                element = host.node(host.nodes, "SequenceAt", [name, host.constant(at)])
                host.add_result(element, self.each[at])
                whole = host.node(host.nodes, "ConcatFromSequence", [name], axis=0, new_axis=1)
                host.add_result(whole, np.stack(self.each))

        state = State(empty, info,
                      lambda n, s: host.node(n, "SequenceInsert", [s, self.current]),
                      finish, False)  # fmt: skip
        return [state], []

    def _optional(self) -> tuple[list[State], list[Collected]]:
        host = self.host
        first = host.draw.choice(self.values)
        given = host.give("maybe", first)
        init = host.node(host.nodes, "Optional", [given])
        kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(self.elem, None))
        info = helper.make_value_info(host.name("option"), kind)

        def finish(name: str) -> None:
            element = host.node(host.nodes, "OptionalGetElement", [name])
            host.add_result(element, [first, *self.each][-1])

        state = State(init, info, lambda n, s: host.node(n, "Optional", [self.current]), finish,
                      False)  # fmt: skip
        return [state], []


# ===- Controls ---------------------------------------------------------------===#

#: From the nodes of a body, the number of a set and the names of carried values: the next ones,
#: and what is collected.
Step = Callable[[Nodes, str], tuple[list[str], list[str]]]


class Place:
    """One place of the donor's nodes in a host."""

    def __init__(self, host: Host, control: str) -> None:
        self.host, self.control = host, control
        draw = host.draw
        count = len(host.donor.sets)
        trips = 0 if draw.random() < 0.06 else draw.randint(1, 4)
        self.visits = [draw.randrange(count) for _ in range(trips)]
        if control == "rotate":
            self.visits = [k % count for k in range(trips)]
        self.inner = draw.randint(1, 2) if control == "nested" else 1
        self.states: list[State] = []
        self.collected: list[Collected] = []
        self.sinks: dict[int, Sinks] = {}
        self.sources = Sources(host)

    def make(self) -> None:
        """Adds the place to the host."""
        if self.control == "branch":
            self._branch()
            return
        flat = [v for v in self.visits for _ in range(self.inner)]
        for k, value in enumerate(self.host.donor.results[0]):
            if is_tensor(value):
                sinks = self.sinks[k] = Sinks(self.host, k, flat)
                way = self.host.draw.choice(sinks.ways(self.control == "scan"))
                self.host.notes.append(way)
                states, collected = sinks.make(way)
                self.states += states
                self.collected += collected
        getattr(self, f"_{self.control}")()

    def _step(self, nodes: Nodes, which: str) -> tuple[list[str], list[str]]:
        operands = self.sources.operands(nodes, which)
        if self.control == "function":
            outs = self._call(nodes, operands)
        else:
            outs = self.host.graft(nodes, operands)
        for k, sinks in self.sinks.items():
            sinks.current = outs[k]
        following = [state.following(nodes, state.info.name) for state in self.states]
        return following, [collected.of(nodes) for collected in self.collected]

    def _call(self, nodes: Nodes, operands: dict[str, str]) -> list[str]:
        """The donor's nodes as a function."""
        host, model = self.host, self.host.donor.model
        name = host.name("Part")
        imports = [o for o in model.opset_import]
        function = helper.make_function("local", name, list(operands),
                                        [o.name for o in model.graph.output],
                                        model.graph.node, imports)  # fmt: skip
        host.functions.append(function)
        outs = [host.name("f") for _ in model.graph.output]
        nodes.append(helper.make_node(name, list(operands.values()), outs, domain="local"))
        return outs

    def _body(self, step: Step, inputs: list[onnx.ValueInfoProto], nodes: Nodes, which: str,
              condition: str = "") -> onnx.GraphProto:  # fmt: skip
        """A body; results that are not its own alone get a name each."""
        following, collected = step(nodes, which)
        infos = []
        if condition:
            infos.append(_info(condition, TensorProto.BOOL, 0))
        seen = {info.name for info in inputs} | {condition}
        kinds = [state.info for state in self.states]
        kinds += [_info("", each.elem) for each in self.collected]
        made = {out for node in nodes for out in node.output}
        for name, kind in zip([*following, *collected], kinds, strict=True):
            if name in seen or name not in made:
                name = self.host.node(nodes, "Identity", [name])
            seen.add(name)
            info = copy.deepcopy(kind)
            info.name = name
            infos.append(info)
        return helper.make_graph(nodes, "body", inputs, infos)

    def _loop(self, nodes: Nodes, trips: str, enter: str, inits: list[str], step: Step,
              limit: str = "", infos: list[onnx.ValueInfoProto] | None = None,
              order: str = "") -> list[str]:  # fmt: skip
        """A Loop whose iterations visit what `order` says; without, `step` is not told."""
        host = self.host
        i, keep = host.name("i"), host.name("c")
        inside: Nodes = []
        which = host.node(inside, "Gather", [order, i]) if order else ""
        if limit:
            following = host.node(inside, "Add", [i, host.constant(1, inside)])
            condition = host.node(inside, "Less", [following, limit])
        else:
            condition = host.node(inside, "Identity", [keep])
        inputs = [_info(i, TensorProto.INT64, 0), _info(keep, TensorProto.BOOL, 0)]
        inputs += infos if infos is not None else [state.info for state in self.states]
        body = self._body(step, inputs, inside, which, condition)
        outs = [host.name("r") for _ in (*self.states, *self.collected)]
        nodes.append(helper.make_node("Loop", [trips, enter, *inits], outs, body=body))
        return outs

    def _finish(self, outs: list[str], lead: tuple[int, ...]) -> None:
        for state, out in zip(self.states, outs, strict=False):
            state.finish(out)
        for each, out in zip(self.collected, outs[len(self.states) :], strict=True):
            self.host.add_result(out, _stacked(each.values, each.one, lead))

    def _order(self) -> str:
        return self.host.give("order", np.array(self.visits, np.int64))

    def _inits(self) -> list[str]:
        return [state.init for state in self.states]

    def _for(self) -> None:
        host = self.host
        trips = host.give("trips", np.array(len(self.visits)))
        enter = host.draw.choice(["", host.constant(True)])
        outs = self._loop(host.nodes, trips, enter, self._inits(), self._step,
                          order=self._order())  # fmt: skip
        self._finish(outs, (len(self.visits),))

    _function = _for

    def _while(self, trips: str = "") -> None:
        host = self.host
        limit = host.give("limit", np.array(len(self.visits)))
        enter = host.give("enter", np.array(bool(self.visits)))
        outs = self._loop(host.nodes, trips, enter, self._inits(), self._step, limit,
                          order=self._order())  # fmt: skip
        self._finish(outs, (len(self.visits),))

    def _exit(self) -> None:
        self._while(self.host.give("most", np.array(len(self.visits) + 3)))

    def _nested(self) -> None:
        host = self.host
        inner = host.give("inner", np.array(self.inner)) if host.draw.random() < 0.6 else (
            host.constant(self.inner))  # fmt: skip
        outer_infos = []
        for state in self.states:
            info = copy.deepcopy(state.info)
            info.name = host.name("outer")
            outer_infos.append(info)

        def outer(nodes: Nodes, which: str) -> tuple[list[str], list[str]]:
            names = [info.name for info in outer_infos]
            outs = self._loop(nodes, inner, "", names, lambda n, _: self._step(n, which))
            return outs[: len(names)], outs[len(names) :]

        trips = host.give("trips", np.array(len(self.visits)))
        outs = self._loop(host.nodes, trips, "", self._inits(), outer, infos=outer_infos,
                          order=self._order())  # fmt: skip
        self._finish(outs, (len(self.visits), self.inner))

    def _rotate(self) -> None:
        """Operands are states that change places, and are read once more afterwards."""
        host, donor = self.host, self.host.donor
        for name in donor.sets[0]:
            if not donor.differs(name):
                continue
            elem = element_type(donor.sets[0][name])
            infos = [_info(host.name(name), elem) for _ in donor.sets]
            self.sources.ways[name] = lambda nodes, which, info=infos[0]: info.name
            for k, info in enumerate(infos):
                following = infos[(k + 1) % len(infos)].name
                at = (k + len(self.visits)) % len(infos)
                self.states.append(State(
                    host.give_operand(k, name), info, lambda n, s, following=following: following,
                    lambda out, value=donor.sets[at][name]: host.add_result(out, value)))  # fmt: skip
            values = [donor.sets[v][name] for v in self.visits]
            self.collected.append(
                Collected(lambda n, info=infos[0]: info.name, elem, values, donor.sets[0][name])
            )
        self._for()

    def _scan(self) -> None:
        host, donor, draw = self.host, self.host.donor, self.host.draw
        stacks = [host.give("order", np.array(self.visits, np.int64))]
        which = host.name("which")
        infos, axes, directions = [_info(which, TensorProto.INT64, 0)], [0], [0]
        given = {info.name for info in donor.model.graph.input}
        for name, value in donor.sets[0].items():
            if not is_tensor(value) or name not in given or draw.random() < 0.3:
                continue
            axis = draw.randrange(-value.ndim - 1, value.ndim + 1)
            reverse = draw.randrange(2)
            whole = _stacked([donor.sets[v][name] for v in self.visits], value,
                             (len(self.visits),))  # fmt: skip
            whole = np.moveaxis(whole[::-1] if reverse else whole, 0, axis)
            stacks.append(host.give(f"{name}_scan", np.ascontiguousarray(whole)))
            infos.append(_info(host.name(name), element_type(value)))
            axes.append(axis)
            directions.append(reverse)
            self.sources.ways[name] = lambda nodes, _, info=infos[-1]: info.name
        places = [(draw.randrange(-e.one.ndim - 1, e.one.ndim + 1),
                   draw.randrange(2)) for e in self.collected]  # fmt: skip
        inputs = [*(state.info for state in self.states), *infos]
        body = self._body(self._step, inputs, [], which)
        outs = [host.name("r") for _ in (*self.states, *self.collected)]
        chosen: dict[str, Any] = {}
        if places:
            chosen = {"scan_output_axes": [a for a, _ in places],
                      "scan_output_directions": [d for _, d in places]}  # fmt: skip
        host.nodes.append(helper.make_node(
            "Scan", [*self._inits(), *stacks], outs, body=body, num_scan_inputs=len(stacks),
            scan_input_axes=axes, scan_input_directions=directions, **chosen))  # fmt: skip
        for state, out in zip(self.states, outs, strict=False):
            state.finish(out)
        rest = outs[len(self.states) :]
        for each, out, (axis, reverse) in zip(self.collected, rest, places, strict=True):
            whole = _stacked(each.values, each.one, (len(self.visits),))
            host.add_result(out, np.moveaxis(whole[::-1] if reverse else whole, 0, axis))

    def _branch(self) -> None:
        host, donor = self.host, self.host.donor
        taken = host.draw.random() < 0.5
        sets = [host.draw.randrange(len(donor.sets)) for _ in range(2)]
        take = host.give("take", np.array(taken))
        graphs = []
        for chosen in sets:
            nodes: Nodes = []
            outs = host.graft(nodes, self.sources.operands(nodes, host.constant(chosen)))
            infos = []
            for name, info in zip(outs, donor.model.graph.output, strict=True):
                made = onnx.ValueInfoProto(name=name)
                made.type.CopyFrom(info.type)
                infos.append(made)
            graphs.append(helper.make_graph(nodes, "branch", [], infos))
        outs = [host.name("r") for _ in donor.model.graph.output]
        host.nodes.append(
            helper.make_node("If", [take], outs, then_branch=graphs[0], else_branch=graphs[1])
        )
        for out, value in zip(outs, donor.results[sets[0 if taken else 1]], strict=True):
            if is_tensor(value):
                host.add_result(out, value)


def _stacked(values: list[np.ndarray], one: np.ndarray, lead: tuple[int, ...]) -> np.ndarray:
    """Values one after the other, with these axes before them."""
    shape = np.shape(one)
    if not values:
        return np.zeros((*lead, *shape), np.asarray(one).dtype)
    return np.stack(values).reshape(*lead, *shape)
