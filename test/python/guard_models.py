# ===- guard_models.py - A failing node where it may not happen -------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Puts the nodes of a case into loops, scans and branches of one model.

Each place has an input that says whether it happens, so one compiled model tells what every
place does with operands that do not fit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnx.shape_inference
from engines import Outcome
from guard_cases import Array, GuardCase
from onnx import TensorProto, helper, numpy_helper

#: What the nodes that must fail are called.
VICTIM = "victim"
BOOL, INT64, FLOAT = TensorProto.BOOL, TensorProto.INT64, TensorProto.FLOAT

#: The places: what stops each, and what lets it happen. `exit` chooses its operands itself: they
#: are bad from iteration 2 on, which is the last one or the one that the loop stops before.
STOPPED: dict[str, dict[str, Array]] = {
    "for": {"trips": np.array(0)},
    "while": {"enter": np.array(False)},
    "exit": {"last": np.array(2)},
    "branch": {"take": np.array(False)},
    "scan": {"xs": np.zeros(0, np.float32)},
    "nested": {"inner": np.array(0)},
}
HAPPENS: dict[str, dict[str, Array]] = {
    "for": {"trips": np.array(2)},
    "while": {"enter": np.array(True)},
    "exit": {"last": np.array(3)},
    "branch": {"take": np.array(True)},
    "scan": {"xs": np.zeros(3, np.float32)},
    "nested": {"inner": np.array(2)},
}
#: How often the node is computed there, as leading extents of what is collected.
COUNTS: dict[str, tuple[int, ...]] = {
    "for": (2,),
    "while": (2,),
    "exit": (3,),
    "branch": (),
    "scan": (3,),
    "nested": (2, 2),
}


def element_type(value: Array) -> int:
    """The ONNX element type of an array; objects are strings."""
    if value.dtype == object:
        return TensorProto.STRING
    return helper.np_dtype_to_tensor_dtype(value.dtype)


def port(name: str, value: Array, static: bool = False) -> onnx.ValueInfoProto:
    """An input whose extents are all open, or all known."""
    shape = [d if static else f"{name}_{k}" for k, d in enumerate(value.shape)]
    return helper.make_tensor_value_info(name, element_type(value), shape)


def parse(case: GuardCase) -> list[onnx.NodeProto]:
    """The nodes of a case."""
    operands = ", ".join(f"float {name}" for name in case.good)
    text = f"<ir_version: 10, opset_import: [{imports(case, True)}]> g ({operands}) => (float o)"
    nodes = list(onnx.parser.parse_model(f"{text} {{ {case.text} }}").graph.node)
    for node in nodes:
        if node.op_type == case.short:
            node.name = VICTIM
    return nodes


def imports(case: GuardCase, as_text: bool = False) -> Any:
    """The operator sets of a case's models."""
    classical = 5 if case.short == "TreeEnsemble" else 3
    versions = {"": case.opset, "ai.onnx.ml": classical, "ai.onnx.preview.training": 1}
    if as_text:
        return ", ".join(f'"{domain}": {version}' for domain, version in versions.items())
    return [helper.make_opsetid(domain, version) for domain, version in versions.items()]


def make_model(case: GuardCase, nodes: Sequence[onnx.NodeProto], inputs: Any, outputs: Any) -> Any:
    """A model of these nodes."""
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=imports(case), ir_version=8)


def plain_model(case: GuardCase) -> onnx.ModelProto:
    """The case's nodes alone, for another engine."""
    inputs = [port(name, value) for name, value in case.good.items()]
    outputs = [helper.make_tensor_value_info("o", *result_type(case))]
    return make_model(case, parse(case), inputs, outputs)


@functools.cache
def _result_types() -> dict[str, tuple[int, Any]]:
    return {}


def result_type(case: GuardCase) -> tuple[int, list[str] | None]:
    """Element type of the result, and names for its dimensions where the rank is known."""
    known = _result_types()
    if case.name not in known:
        inputs = [port(name, value) for name, value in case.good.items()]
        untyped = onnx.ValueInfoProto(name="o")
        model = make_model(case, parse(case), inputs, [untyped])
        made = onnx.shape_inference.infer_shapes(model).graph.output[0].type.tensor_type
        rank = len(made.shape.dim) if made.HasField("shape") else None
        names = None if rank is None else [f"o_{k}" for k in range(rank)]
        first = element_type(next(iter(case.good.values())))
        known[case.name] = (made.elem_type or first, names)
    return known[case.name]


class Places:
    """Builds the model of a case.

    `known` are operands of which the model holds the value (`constant`), or whose extents it
    declares as those of `operands` (`extents`).
    """

    def __init__(self, case: GuardCase, static: bool, known: str = "") -> None:
        self.case = case
        self.static = static
        self.operands = case.good | (case.bad if known else {})
        self.constants = list(case.bad) if known == "constant" else []
        self.elem, self.dims = result_type(case)
        #: Version 1 of Loop has at least one carried value.
        self.carries = case.opset < 11
        self.nodes: list[onnx.NodeProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []

    def result(self, name: str, leading: int = 0) -> onnx.ValueInfoProto:
        """A value like the case's result, with axes before it."""
        dims = None
        if self.dims is not None:
            dims = [f"{name}_l{k}" for k in range(leading)] + [f"{name}_{d}" for d in self.dims]
        return helper.make_tensor_value_info(name, self.elem, dims)

    def constant(self, name: str, value: Any, nodes: list[onnx.NodeProto] | None = None) -> str:
        """A constant, at the top if no nodes are given."""
        tensor = numpy_helper.from_array(np.asarray(value), name)
        node = helper.make_node("Constant", [], [name], value=tensor)
        (self.nodes if nodes is None else nodes).append(node)
        return name

    def fallback(self) -> onnx.NodeProto:
        """What the branch gives that has no failing node: nothing, in a tensor of that rank."""
        dims = [0] * len(self.dims or [])
        count = 0 if dims else 1
        if self.elem == TensorProto.STRING:
            tensor = helper.make_tensor("none", self.elem, dims, [b""] * count)
        else:
            dtype = helper.tensor_dtype_to_np_dtype(self.elem)
            tensor = numpy_helper.from_array(np.zeros(dims, dtype), "none")
        return helper.make_node("Constant", [], ["f"], value=tensor)

    def body(self, *, chosen: bool = False, limit: str = "") -> onnx.GraphProto:
        """A loop's body of the case's nodes.

        With `chosen` the operands depend on the iteration; `limit` is the value that says how
        many iterations there are, where the condition does not just stay.
        """
        nodes: list[onnx.NodeProto] = []
        if limit:
            nodes.append(helper.make_node("Add", ["i", "one"], ["next"]))
            nodes.append(helper.make_node("Less", ["next", limit], ["co"]))
        else:
            nodes.append(helper.make_node("Identity", ["ci"], ["co"]))
        inner = parse(self.case)
        if chosen:
            nodes.append(helper.make_node("Less", ["i", "from"], ["fits"]))
            for name in self.case.bad:
                branches = {}
                for kind, source in (("then", f"good_{name}"), ("else", name)):
                    out = f"{kind}_{name}"
                    info = onnx.ValueInfoProto(name=out)
                    info.CopyFrom(port(out, self.case.good[name]))
                    graph = helper.make_graph(
                        [helper.make_node("Identity", [source], [out])], kind, [], [info]
                    )
                    branches[f"{kind}_branch"] = graph
                nodes.append(helper.make_node("If", ["fits"], [f"now_{name}"], **branches))
            for node in inner:
                rename(node, {name: f"now_{name}" for name in self.case.bad})
        arguments = [
            helper.make_tensor_value_info("i", INT64, []),
            helper.make_tensor_value_info("ci", BOOL, []),
        ]
        results = [helper.make_tensor_value_info("co", BOOL, []), self.result("o")]
        if self.carries:
            nodes.append(helper.make_node("Identity", ["kept"], ["keeps"]))
            arguments.append(helper.make_tensor_value_info("kept", INT64, []))
            results.insert(1, helper.make_tensor_value_info("keeps", INT64, []))
        return helper.make_graph([*nodes, *inner], "body", arguments, results)

    def add(self, place: str, op: str, inputs: list[str], **attributes: Any) -> None:
        """A node at the top that makes one of the model's outputs."""
        out = f"y_{place}"
        outputs = [out]
        if self.carries and op == "Loop":
            inputs, outputs = [*inputs, "one"], [f"last_{place}", out]
        self.nodes.append(helper.make_node(op, inputs, outputs, name=place, **attributes))
        self.outputs.append(self.result(out, len(COUNTS[place])))

    def nested(self) -> onnx.GraphProto:
        """A loop in which the failing one is."""
        inputs, outputs = ["inner", "true"], ["u"]
        if self.carries:
            inputs, outputs = [*inputs, "one"], ["inner_last", "u"]
        inner = helper.make_node("Loop", inputs, outputs, name="inside", body=self.body())
        keep = helper.make_node("Identity", ["outer_ci"], ["outer_co"])
        arguments = [
            helper.make_tensor_value_info("outer_i", INT64, []),
            helper.make_tensor_value_info("outer_ci", BOOL, []),
        ]
        nodes = [keep, inner]
        results = [helper.make_tensor_value_info("outer_co", BOOL, []), self.result("u", 1)]
        if self.carries:
            nodes.append(helper.make_node("Identity", ["outer_kept"], ["outer_keeps"]))
            arguments.append(helper.make_tensor_value_info("outer_kept", INT64, []))
            results.insert(1, helper.make_tensor_value_info("outer_keeps", INT64, []))
        return helper.make_graph(nodes, "outer", arguments, results)

    def model(self, places: Sequence[str]) -> onnx.ModelProto:
        """The whole model, with these places."""
        self.constant("one", np.array(1))
        self.constant("two", np.array(2))
        self.constant("true", np.array(True))
        make: dict[str, Callable[[], None]] = {
            "for": lambda: self.add("for", "Loop", ["trips", "true"], body=self.body()),
            "while": lambda: self.add("while", "Loop", ["", "enter"], body=self.body(limit="two")),
            "exit": lambda: self.add(
                "exit", "Loop", ["many", "true"], body=self.body(chosen=True, limit="last")
            ),
            "branch": self.branch,
            "scan": self.scan,
            "nested": lambda: self.add("nested", "Loop", ["two", "true"], body=self.nested()),
        }
        for place in places:
            make[place]()
        case = self.case
        inputs = [
            port(name, value, self.static)
            for name, value in self.operands.items()
            if name not in self.constants
        ]
        if "exit" in places:
            inputs += [port(f"good_{n}", case.good[n], self.static) for n in case.bad]
            inputs += [helper.make_tensor_value_info(n, INT64, []) for n in ("many", "from")]
        for place in places:
            inputs += [port(name, value) for name, value in STOPPED[place].items()]
        model = make_model(case, self.nodes, inputs, self.outputs)
        for name in self.constants:
            value = self.operands[name]
            tensor = helper.make_tensor(
                name, element_type(value), value.shape, [str(v).encode() for v in value.flat]
            ) if value.dtype == object else numpy_helper.from_array(value, name)  # fmt: skip
            model.graph.initializer.append(tensor)
        return model

    def branch(self) -> None:
        """A branch that is taken or not."""
        then = helper.make_graph(parse(self.case), "then", [], [self.result("o")])
        otherwise = helper.make_graph([self.fallback()], "else", [], [self.result("f")])
        self.add("branch", "If", ["take"], then_branch=then, else_branch=otherwise)

    def scan(self) -> None:
        """A scan of nothing, or of some."""
        slices = [helper.make_tensor_value_info("x_of_scan", FLOAT, [])]
        body = helper.make_graph(parse(self.case), "body", slices, [self.result("o")])
        self.add("scan", "Scan", ["xs"], num_scan_inputs=1, body=body)


def rename(node: onnx.NodeProto, names: dict[str, str]) -> None:
    """Gives the inputs of a node, and of those within it, other names."""
    for k, name in enumerate(node.input):
        node.input[k] = names.get(name, name)
    for attribute in node.attribute:
        for inner in attribute.g.node:
            rename(inner, names)


def feeds(case: GuardCase, operands: dict[str, Array], happening: Sequence[str],
          places: Sequence[str]) -> dict[str, Array]:  # fmt: skip
    """Inputs of a run where only some places happen."""
    made = dict(operands)
    if "exit" in places:
        made |= {f"good_{name}": case.good[name] for name in case.bad}
        made |= {"many": np.array(5), "from": np.array(2)}
    for place in places:
        made |= (HAPPENS if place in happening else STOPPED)[place]
    return made


def run_all(model: bytes, opt_level: int, runs: Sequence[dict[str, Array]]) -> Outcome:
    """In one session, the outcome of each run; an error where there is no session."""
    import loopc

    options = loopc.SessionOptions()
    options.opt_level = opt_level
    try:
        session = loopc.InferenceSession(model, sess_options=options)
    except loopc.Error as error:
        return Outcome(error=str(error))
    outcomes = []
    for given in runs:
        try:
            outcomes.append(Outcome(values=session.run(None, given)))
        except loopc.RunError as error:
            outcomes.append(Outcome(error=str(error)))
    return Outcome(values=outcomes)
