# ===- reference.py - What loops mean, written for reading ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""A strict, slow evaluator of ONNX models: the meaning that loopc is held to.

Operators without a subgraph come from ``onnx.reference``. Scopes, ``Loop``,
``Scan`` (8 and later), ``If``, sequences and optionals are our own, because the
library's differ from the specification (docs/Spec.md, "Where engines
disagree"). Each rule carries its label from that page in a comment.

    >>> from loopc import reference
    >>> reference.run(model, {"x": x})
    [array(...), ...]

A tensor is a NumPy array (``ml_dtypes`` for the types that NumPy lacks), a
sequence a list, an empty optional ``None``.
"""

from __future__ import annotations

import contextvars
import dataclasses
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx.inliner
from onnx import GraphProto, ModelProto, NodeProto, TypeProto
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from loopc._reference_base import (
    ControlOp,
    ModelError,
    Op,
    ReferenceError_,
    Scope,
    Value,
    check_kind,
    check_same_kind,
    dtype_of,
    flag,
    kind,
    one,
    stack,
)
from loopc._reference_checks import CHECKS
from loopc._reference_collections import COLLECTION_OPERATORS
from loopc._reference_types import (
    Dims,
    add_keys,
    collected_types,
    give_defaults,
    key_of,
    subgraphs,
    yield_by_identity,
)

__all__ = ["ModelError", "ReferenceError_", "Value", "check", "run"]


@dataclasses.dataclass(frozen=True)
class _Options:
    """What a run hands down to every operator."""

    ort_compat: bool
    max_trips: int | None
    model: ModelProto
    unknown_extent: int
    # Filled on the first loop that makes no trip: key of the node ->
    # (element type, dimensions) of one iteration's collected values.
    collected: dict[str, list[tuple[int, Dims]]] = dataclasses.field(default_factory=dict)


_options: contextvars.ContextVar[_Options] = contextvars.ContextVar("options")


def run(
    model: ModelProto | bytes | str | os.PathLike[str],
    feeds: Mapping[str, Value],
    output_names: Sequence[str] | None = None,
    *,
    ort_compat: bool = False,
    max_trips: int | None = None,
    unknown_extent: int = 0,
) -> list[Value]:
    """Evaluates a model.

    Args:
        model: a model, its bytes, or a file.
        feeds: a value for every input that has no initializer.
        output_names: the outputs wanted, all of them by default.
        ort_compat: let a Loop without a condition input stop when its body
            yields false, as ONNX Runtime does.
        max_trips: raise when one loop makes more trips than this.
        unknown_extent: of what a loop without a trip has collected, each extent
            that the types do not tell. The rule is 0; a model whose outputs
            depend on it computes with what nobody knows.

    Raises:
        ModelError: the model breaks a rule that needs no run to see.
        ReferenceError_: an error of the run.
    """
    proto = _load(model)
    check(proto)
    proto = _prepare(proto)
    names = [o.name for o in proto.graph.output]
    wanted = names if output_names is None else list(output_names)
    for name in wanted:
        if name not in names:
            raise ReferenceError_(f"unknown output '{name}'")
    given = {name: _array(value) for name, value in feeds.items()}
    _check_feeds(proto.graph, given)
    token = _options.set(_Options(ort_compat, max_trips, proto, unknown_extent))
    try:
        with np.errstate(all="ignore"):
            values = _evaluator(proto).run(wanted, given)
    finally:
        _options.reset(token)
    for info in proto.graph.output:
        if info.name in wanted:
            check_kind(info.type, values[wanted.index(info.name)], f"output '{info.name}'")
    return list(values)


def _load(model: ModelProto | bytes | str | os.PathLike[str]) -> ModelProto:
    if isinstance(model, ModelProto):
        return model
    if isinstance(model, bytes):
        return onnx.load_model_from_string(model)
    return onnx.load(model)


def _prepare(model: ModelProto) -> ModelProto:
    """Inlines local functions and gives each loop a key to be found again by."""
    copy = ModelProto()
    copy.CopyFrom(model)
    model = copy
    if model.functions:
        # The inliner renames a body's output that is its input as another value.
        for function in model.functions:
            yield_by_identity(function)
        # And leaves out what an attribute is where a call does not say.
        give_defaults(model)
        model = onnx.inliner.inline_local_functions(model)
    add_keys(model)
    return model


def _check_feeds(graph: GraphProto, feeds: Mapping[str, Value]) -> None:
    known = {i.name: i.type for i in graph.input}
    defaults = {i.name for i in graph.initializer}
    for name in feeds:
        if name not in known:
            raise ReferenceError_(f"unknown input '{name}'")
    for name, declared in known.items():
        if name in feeds:
            check_kind(declared, feeds[name], f"input '{name}'")
        elif name not in defaults:
            raise ReferenceError_(f"input '{name}' is missing")


def _evaluator(model: ModelProto) -> _Evaluator:
    try:
        return _Evaluator(model)
    except ReferenceError_:
        raise
    except Exception as error:
        raise ModelError(str(error)) from error


# ===------------------------------------------------------------------------===#
# Rules that need no run
# ===------------------------------------------------------------------------===#


def check(model: ModelProto) -> None:
    """Raises ModelError where names, scopes or the numbers of ports are wrong."""
    opsets = {o.domain: o.version for o in model.opset_import}
    functions = {(f.domain, f.name) for f in model.functions}
    for function in model.functions:
        versions = {o.domain: o.version for o in function.opset_import}
        _check_nodes(function.node, set(function.input), versions, functions)
    _check_graph(model.graph, frozenset(), opsets, functions)


def _check_graph(
    graph: GraphProto,
    outer: frozenset[str],
    opsets: Mapping[str, int],
    functions: set[tuple[str, str]],
) -> None:
    # name_shadow: an input or an initializer may hide an outer name ...
    visible = set(outer) | {i.name for i in graph.input} | {i.name for i in graph.initializer}
    visible |= {i.values.name for i in graph.sparse_initializer}
    _check_nodes(graph.node, visible, opsets, functions)
    for output in graph.output:  # name_direct: any visible value will do.
        if output.name not in visible:
            raise ModelError(f"graph '{graph.name}': unknown output name '{output.name}'")


def _check_nodes(
    nodes: Sequence[NodeProto],
    visible: set[str],
    opsets: Mapping[str, int],
    functions: set[tuple[str, str]],
) -> None:
    for node in nodes:
        where = f"{node.op_type} '{node.name}'"
        if (node.domain, node.op_type) not in functions:
            version = opsets.get(node.domain, opsets.get("ai.onnx" if not node.domain else ""))
            if version is None or not onnx.defs.has(node.op_type, version, node.domain):
                raise ModelError(f"{where}: unknown operator '{node.domain}.{node.op_type}'")
            schema = onnx.defs.get_schema(node.op_type, version, node.domain)
            if len(node.input) < schema.min_input or len(node.output) < schema.min_output:
                least = f"{schema.min_input} inputs and {schema.min_output} outputs"
                raise ModelError(f"{where}: expected at least {least}")  # loop_arity
        for name in node.input:
            if name and name not in visible:
                raise ModelError(f"{where}: unknown name '{name}'")
        for _, inner in subgraphs(node):
            _check_graph(inner, frozenset(visible), opsets, functions)
        _check_ports(node, where)
        for name in node.output:
            if name and name in visible:  # ... name_shadow: but a node's output may not.
                raise ModelError(f"{where}: output '{name}' repeats a visible name")
            visible.add(name)


def _check_ports(node: NodeProto, where: str) -> None:
    graphs = dict(subgraphs(node))
    if node.op_type == "If":
        counts = {len(g.output) for g in graphs.values()}
        if len(counts) != 1 or any(g.input for g in graphs.values()):
            raise ModelError(f"{where}: branches must agree in outputs and take no inputs")
        results = counts.pop()
        for pair in zip(*(g.output for g in graphs.values()), strict=True):
            types = {o.type.tensor_type.elem_type for o in pair} - {0}
            if len(types) > 1:  # if_types
                names = " and ".join(f"'{o.name}'" for o in pair)
                raise ModelError(f"{where}: {names} differ in element type")
    elif node.op_type == "Loop":
        carried = max(len(node.input) - 2, 0)
        if len(graphs["body"].input) != 2 + carried:  # loop_args
            raise ModelError(
                f"{where}: body takes {len(graphs['body'].input)} inputs, expected {2 + carried}"
            )
        results = len(graphs["body"].output) - 1
        if results < carried:  # loop_yield
            raise ModelError(
                f"{where}: body yields {results + 1} values, expected at least {1 + carried}"
            )
    elif node.op_type == "Scan":
        _check_scan(node, graphs["body"], where)
        results = len(graphs["body"].output)
    else:
        return
    if len(node.output) > results:  # name_outputs: the condition is no result.
        raise ModelError(f"{where}: {len(node.output)} outputs, but there are only {results}")


def _check_scan(node: NodeProto, body: GraphProto, where: str) -> None:
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    scanned = attributes.get("num_scan_inputs", 0)
    operands = len(node.input) - (len(node.input) > len(body.input))  # Scan 8: sequence_lens
    states = operands - scanned
    if scanned < 1 or states < 0:
        raise ModelError(f"{where}: num_scan_inputs is {scanned}, but there are {operands} inputs")
    if len(body.input) != operands:  # scan_args
        raise ModelError(f"{where}: body takes {len(body.input)} inputs, expected {operands}")
    if len(body.output) < states:  # scan_yield
        raise ModelError(
            f"{where}: body yields {len(body.output)} values, expected at least {states}"
        )
    for name in ("scan_input_directions", "scan_output_directions", "directions"):
        if any(d not in (0, 1) for d in attributes.get(name, [])):  # scan_axes
            raise ModelError(f"{where}: a direction is 0 or 1, found {name} = {attributes[name]}")


# ===------------------------------------------------------------------------===#
# Values of loops
# ===------------------------------------------------------------------------===#


def _as_argument(declared: TypeProto, outer: Value, value: Any, dtype: type) -> np.ndarray:
    """loop_args: 0-D or [1] as the body declares, else as M or cond, else 0-D."""
    shape: tuple[int, ...] = ()
    if declared.tensor_type.HasField("shape"):
        shape = (1,) * len(declared.tensor_type.shape.dim)
    elif isinstance(outer, np.ndarray):
        shape = outer.shape
    return np.full(shape, value, dtype=dtype)


def _empty(node: NodeProto, index: int, axis: int = 0) -> np.ndarray:
    """loop_zero: length 0, known dimensions as the types say, 0 for unknown.

    A rank that is unknown is the least one that has the axis, or one more where
    `unknown_extent` asks what depends on it.
    """
    options = _options.get()
    if not options.collected:
        options.collected.update(collected_types(options.model))
    elem_type, dims = options.collected[key_of(node)][index]
    unknown = options.unknown_extent
    if dims is None:
        dims = [None] * ((axis if axis >= 0 else -axis - 1) + bool(unknown))
    shape = [unknown if d is None else d for d in dims]
    shape.insert(axis % (len(shape) + 1), 0)
    return np.empty(shape, dtype_of(elem_type))


# ===------------------------------------------------------------------------===#
# Graphs
# ===------------------------------------------------------------------------===#


def _array(value: Any) -> Value:
    """A scalar of NumPy's as the tensor that it is; texts as objects, which have one type."""
    if isinstance(value, np.generic):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "U":
        return value.astype(object)
    return value


def _zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """Zeros, or strings that are empty."""
    return np.full(shape, "" if dtype.kind == "O" else np.zeros((), dtype), dtype)


class _Evaluator(ReferenceEvaluator):
    """The library's evaluator with our scopes and our control flow."""

    def __init__(self, proto: Any, *args: Any, **kwargs: Any) -> None:
        kwargs["new_ops"] = list(_OPERATORS)
        super().__init__(proto, *args, **kwargs)

    def run(  # type: ignore[override]
        self,
        output_names: Sequence[str] | None,
        feed_inputs: Mapping[str, Value],
        attributes: dict[str, Any] | None = None,
        outer: Scope | None = None,
        **_: Any,
    ) -> list[Value]:
        # name_scope: innermost first. The library lets outer values hide a
        # subgraph's initializers, and an output named "" fill absent inputs.
        results: dict[str, Value] = dict(outer or {})
        results.update(self.rt_inits_)
        results.update(feed_inputs)
        results[""] = None
        for node in self.rt_nodes_:
            for name, value in zip(
                node.output, self._step(node, results, attributes), strict=False
            ):
                if name:
                    results[name] = value
        names = self.output_names if output_names is None else output_names
        return [results[name] for name in names]

    @staticmethod
    def _step(node: OpRun, results: Scope, attributes: dict[str, Any] | None) -> Sequence[Value]:
        kwargs: dict[str, Any] = {}
        if node.need_context():
            kwargs["context"] = results
        if node.has_linked_attribute and attributes:
            kwargs["linked_attributes"] = attributes
        try:
            operands = [results[name] for name in node.input]
            if check := CHECKS.get(node.op_type):
                check(node, operands)
            run: Any = node.run
            # Some of the library's operators give scalars that are no arrays (Min of three).
            return [_array(value) for value in run(*operands, **kwargs)]
        except ReferenceError_:
            raise
        except Exception as error:
            cause = error.__cause__ or error
            raise ReferenceError_(f"{node.op_type} '{node.onnx_node.name}': {cause}") from error


def _check_outputs(graph: _Evaluator, values: Sequence[Value], where: str) -> None:
    """name_declared: what a subgraph yields has the element types that it declares."""
    for info, value in zip(graph.onnx_graph_.output, values, strict=True):
        # An optional may be declared by what it holds (loop_carried_optional).
        if value is not None:
            check_kind(info.type, value, f"{where}: output '{info.name}'")


class If(ControlOp):
    """Section 4: one branch runs."""

    def _run(
        self, cond: Value, context: Scope, attributes: Any = None, **_: Any
    ) -> tuple[Value, ...]:
        taken = flag(cond, f"{self._where}: condition")  # if_cond
        branch = self.then_branch if taken else self.else_branch  # if_lazy
        values = branch.run(None, {}, attributes=attributes, outer=context)
        _check_outputs(branch, values, self._where)
        return tuple(values)


class Loop(ControlOp):
    """Section 1: ``for (i = 0; i < M & cond; i++) cond, carried, row = body(i, cond, carried)``."""

    def _run(
        self,
        trip_count: Value = None,
        cond: Value = None,
        *inits: Value,
        context: Scope,
        attributes: Any = None,
        **_: Any,
    ) -> tuple[Value, ...]:
        options = _options.get()
        declared = self.body.input_types
        limit = None if trip_count is None else one(trip_count, f"{self._where}: M")  # loop_m
        running = True if cond is None else flag(cond, f"{self._where}: cond")  # loop_cond
        carried = list(inits)
        rows: list[list[Value]] = []
        self._check_types(inits)
        trip = 0
        # loop_test: before every iteration, the first included.
        while (limit is None or trip < limit) and (self._ignores(cond, options) or running):
            if options.max_trips is not None and trip >= options.max_trips:
                raise ReferenceError_(
                    f"{self._where}: more than {options.max_trips} trips"
                )  # loop_cancel
            arguments = [
                # A new array each time, so that a body that yields its
                # iteration number is not left with the last one (name_direct).
                _as_argument(declared[0], trip_count, trip, np.int64),
                _as_argument(declared[1], cond, running, np.bool_),
                *carried,
            ]
            for value, info in zip(arguments, self.body.onnx_graph_.input, strict=True):
                check_kind(info.type, value, f"{self._where}: body input '{info.name}'")
            feeds = dict(zip(self.body.input_names, arguments, strict=True))  # name_order
            yielded = self.body.run(None, feeds, attributes=attributes, outer=context)
            _check_outputs(self.body, yielded, self._where)
            running = flag(yielded[0], f"{self._where}: yielded condition")
            for number, (old, new) in enumerate(zip(carried, yielded[1:], strict=False)):
                check_same_kind(old, new, f"{self._where}: carried value #{number}")
            carried = yielded[1 : 1 + len(inits)]  # loop_parallel_assign
            rows.append(yielded[1 + len(inits) :])
            trip += 1
        return (*self._unwrap(carried), *self._collect(rows, len(inits)))  # loop_results

    def _check_types(self, values: Sequence[Value]) -> None:
        """loop_types: each version has its list of element types."""
        schema = onnx.defs.get_schema("Loop", self.run_params["opsets"][""])
        allowed = next(c for c in schema.type_constraints if c.type_param_str == "V")
        for number, value in enumerate(values):
            if isinstance(value, np.ndarray) and value.dtype != object:
                elem_type = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
                name = onnx.TensorProto.DataType.Name(elem_type).lower()
                if f"tensor({name})" not in allowed.allowed_type_strs:
                    what = f"carried value #{number} is {kind(value)}"
                    raise ModelError(f"{self._where}: {what}, Loop-{schema.since_version} has none")

    @staticmethod
    def _ignores(cond: Value, options: _Options) -> bool:
        """loop_cond_ignored: without a condition input the body's is not looked at."""
        return cond is None and not options.ort_compat

    def _unwrap(self, carried: list[Value]) -> list[Value]:
        """loop_carried_optional: a yield that is no optional makes the result none."""
        for info, value in zip(self.body.onnx_graph_.output[1:], carried, strict=False):
            if value is None and info.type.WhichOneof("value") in ("tensor_type", "sequence_type"):
                raise ReferenceError_(
                    f"{self._where}: result of '{info.name}' is an empty optional"
                )
        return carried

    def _collect(self, rows: list[list[Value]], carried: int) -> list[Value]:
        names = self.body.output_names[1 + carried :]
        if not rows:
            return [_empty(self.onnx_node, k) for k in range(len(names))]  # loop_zero
        columns = zip(*rows, strict=True)
        return [
            stack(list(column), f"{self._where}: collected value '{name}'")
            for name, column in zip(names, columns, strict=True)
        ]


class Scan(ControlOp):
    """Section 2. Version 8 runs each item of a batch by itself."""

    def _run(
        self, *args: Value, context: Scope, attributes: Any = None, **_: Any
    ) -> tuple[Value, ...]:
        version = onnx.defs.get_schema("Scan", self.run_params["opsets"][""]).since_version
        if version == 8:
            return self._run_batch(args[0], list(args[1:]), context, attributes)
        split = len(args) - self.num_scan_inputs
        states, inputs = list(args[:split]), list(args[split:])
        for value in inputs:
            if not isinstance(value, np.ndarray) or value.ndim == 0:
                raise ReferenceError_(f"{self._where}: scan input is {kind(value)}")
        axes = self._list("scan_input_axes", len(inputs))
        axes = [self._axis(a, v.ndim, version) for a, v in zip(axes, inputs, strict=True)]
        moved = [np.moveaxis(v, a, 0) for v, a in zip(inputs, axes, strict=True)]
        directions = self._list("scan_input_directions", len(inputs))
        moved = [v[::-1] if d else v for v, d in zip(moved, directions, strict=True)]
        states, rows = self._scan(states, moved, context, attributes)

        names = self.body.output_names[split:]
        axes = self._list("scan_output_axes", len(names))
        directions = self._list("scan_output_directions", len(names))
        results = []
        for number, (name, axis, reverse) in enumerate(zip(names, axes, directions, strict=True)):
            if not rows:  # scan_lengths: initial states, empty collected values
                results.append(_empty(self.onnx_node, number, axis))
                continue
            stacked = stack(
                [row[number] for row in rows], f"{self._where}: collected value '{name}'"
            )
            stacked = stacked[::-1] if reverse else stacked
            # An output axis counts in the rank of the result.
            results.append(np.moveaxis(stacked, 0, self._axis(axis, stacked.ndim, version)))
        return (*states, *results)

    def _list(self, attribute: str, count: int) -> list[int]:
        values = getattr(self, attribute, None)
        if values and len(values) != count:  # scan_args
            raise ModelError(
                f"{self._where}: {attribute} has {len(values)} entries, expected {count}"
            )
        return list(values or [0] * count)

    def _axis(self, axis: int, rank: int, version: int) -> int:
        if not (-rank if version >= 11 else 0) <= axis < rank:  # scan_axes
            raise ReferenceError_(f"{self._where}: axis {axis} is out of range for rank {rank}")
        return axis % rank

    def _scan(
        self, states: list[Value], inputs: list[np.ndarray], context: Scope, attributes: Any
    ) -> tuple[list[Value], list[list[Value]]]:
        """Runs over axis 0 of every input: the last states, and each trip's collected values."""
        lengths = {value.shape[0] for value in inputs}
        if len(lengths) != 1:  # scan_lengths
            raise ReferenceError_(
                f"{self._where}: lengths of the scan inputs differ: {sorted(lengths)}"
            )
        rows = []
        for trip in range(lengths.pop()):
            arguments = [*states, *(np.asarray(value[trip]) for value in inputs)]
            feeds = dict(zip(self.body.input_names, arguments, strict=True))
            for value, info in zip(arguments, self.body.onnx_graph_.input, strict=True):
                check_kind(info.type, value, f"{self._where}: body input '{info.name}'")
            yielded = self.body.run(None, feeds, attributes=attributes, outer=context)
            _check_outputs(self.body, yielded, self._where)
            for number, (old, new) in enumerate(zip(states, yielded, strict=False)):
                what = f"{self._where}: state #{number}"
                check_same_kind(old, new, what)
                if np.shape(old) != np.shape(new):  # scan_state_shape
                    shapes = f"from {list(np.shape(old))} to {list(np.shape(new))}"
                    raise ReferenceError_(f"{what}: shape changes {shapes} in iteration {trip}")
            states, collected = yielded[: len(states)], yielded[len(states) :]
            rows.append(collected)
        return states, rows

    def _run_batch(
        self, lengths: Value, args: list[Any], context: Scope, attributes: Any
    ) -> tuple[Value, ...]:
        """scan8_batch: axis 0 is the batch, axis 1 of the scan inputs the sequence."""
        split = len(args) - self.num_scan_inputs
        batch = {value.shape[0] for value in args}
        longest = {value.shape[1] for value in args[split:]}
        if len(batch) != 1 or len(longest) != 1:
            raise ReferenceError_(f"{self._where}: batch sizes {batch} or lengths {longest} differ")
        count, steps = batch.pop(), longest.pop()
        ends = [steps] * count if lengths is None else np.asarray(lengths).tolist()
        if len(ends) != count or any(not 0 <= end <= steps for end in ends):  # scan8_lengths
            raise ReferenceError_(
                f"{self._where}: sequence_lens {ends} must be within 0 and {steps}"
            )
        directions = self._list("directions", self.num_scan_inputs)
        last: list[list[Any]] = []
        padded: list[list[Any]] = []
        for item, end in enumerate(ends):
            inputs = [v[item, :end] for v in args[split:]]
            # A reversed input starts at its last element, not at the padding.
            inputs = [v[::-1] if d else v for v, d in zip(inputs, directions, strict=True)]
            states, rows = self._scan(
                [np.asarray(v[item]) for v in args[:split]], inputs, context, attributes
            )
            last.append(states)
            padded.append(rows)
        names = self.body.output_names[split:]
        collected = [self._pad(padded, k, name, steps) for k, name in enumerate(names)]
        if not last:  # scan8_empty_batch
            return (*args[:split], *collected)
        return (*(np.stack([s[i] for s in last]) for i in range(split)), *collected)

    def _pad(self, rows: list[list[Any]], k: int, name: str, steps: int) -> np.ndarray:
        """scan8_lengths: zeros past an item's length."""
        what = f"{self._where}: collected value '{name}'"
        every = [row[k] for item in rows for row in item]
        if not every:
            # Padding has rows, of any rank; scan8_empty_batch has the axes known.
            nothing = _empty(self.onnx_node, k, -2 if rows else -1)
            return _zeros((len(rows), steps, *nothing.shape[1:]), nothing.dtype)
        element = stack(every, what)[0]
        result = _zeros((len(rows), steps, *element.shape), element.dtype)
        for item, values in enumerate(rows):
            for trip, row in enumerate(values):
                result[item, trip] = row[k]
        return result


class Flatten(Op):
    """The library finds the second extent by division, which tells nothing of no elements."""

    def _run(self, data: np.ndarray, axis: int | None = None, **_: Any) -> tuple[Value]:
        at = 1 if axis is None else axis
        return (data.reshape(math.prod(data.shape[:at]), math.prod(data.shape[at:])),)


class Reshape(Op):
    """-1 is what is left of the axes that 0 does not copy: one that it copies may be empty."""

    def _run(
        self, data: np.ndarray, shape: np.ndarray, allowzero: int | None = None, **_: Any
    ) -> tuple[Value]:
        wanted, own = np.asarray(shape).tolist(), list(data.shape)
        copied = [k for k, extent in enumerate(wanted) if extent == 0]
        # The library sets the attribute where the version of the operator has it.
        if getattr(self, "allowzero", 0) if allowzero is None else allowzero:
            copied = []
        if copied and copied[-1] >= data.ndim:
            raise ReferenceError_(f"Reshape: 0 at {copied[-1]}, the input has rank {data.ndim}")
        left = math.prod(extent for k, extent in enumerate(own) if k not in copied)
        others = math.prod(e for k, e in enumerate(wanted) if k not in copied and e != -1)
        for k in copied:
            wanted[k] = own[k]
        if wanted.count(-1) == 1 and others > 0 and left % others == 0:
            wanted[wanted.index(-1)] = left // others
        return (data.reshape(wanted),)


class LogSoftmax(Op):
    """The library takes the logarithm of the quotient, which is 0 far below the largest element."""

    # The library sets it from the node's attribute or the schema's default.
    axis: int

    def _run(self, data: np.ndarray, axis: int | None = None, **_: Any) -> tuple[Value]:
        if data.size == 0:
            return (data,)
        at = self.axis if axis is None else axis
        below = data - data.max(axis=at, keepdims=True)
        sums = np.exp(below).sum(axis=at, keepdims=True)
        return ((below - np.log(sums)).astype(data.dtype),)


_OPERATORS = (If, Loop, Scan, Flatten, Reshape, LogSoftmax, *COLLECTION_OPERATORS)
