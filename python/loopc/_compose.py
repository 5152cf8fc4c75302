# ===- _compose.py - Models joined to one ------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""`compose`: ONNX models that feed each other become one.

Each model becomes a function of ONNX, which keeps its own versions of operators and its own
names, and a graph that calls one after the other. Weights are initializers of the graph, so
that they are constants wherever the compiler looks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loopc._arguments import items
from loopc._errors import InvalidArgument
from loopc._extras import require
from loopc._options import Model, model_source

#: The domain of the functions that models become.
_DOMAIN = "loopc.compose"


def compose(
    models: Sequence[Model],
    names: Sequence[Mapping[str, str]] | None = None,
    *,
    outputs: Sequence[str] | None = None,
    name: str = "composed",
) -> Any:
    """Joins ONNX models whose inputs are outputs of others.

    Names of inputs and outputs are those of the whole, after `names` has renamed them: an
    input is the output of an earlier model that has its name, or else an input of the whole,
    which several models may share. All other names are each model's own. Outputs that the
    next run is to read are states of the session (`SessionOptions.add_state`).

    Args:
        models: paths, bytes or onnx.ModelProto, in the order in which they run. They may have
            different versions of operators.
        names: for each model, other names for some of its inputs and outputs.
        outputs: the outputs of the whole, of any of the models; None for those that no model
            reads.
        name: the name of the whole.

    Returns:
        The onnx.ModelProto of the whole. Symbolic dimensions of model number N have the names
        "N.NAME": equal names of different models need not be equal extents.

    Raises:
        ImportError: the package onnx is not installed.
        InvalidArgument: there is no such input or output; two models have an output of one
            name, or inputs of one name and different types.
    """
    require("onnx", "compose", "onnx")
    models = items("models", models, "models")
    if not models:
        raise InvalidArgument("models: there is none to be joined")
    names = [{} for _ in models] if names is None else names
    if len(names) != len(models):
        raise InvalidArgument(
            f"names: expected {len(models)}, one for each model, got {len(names)}"
        )
    joined = _Joined(name)
    for number, (model, renamed) in enumerate(zip(models, names, strict=True)):
        joined.add(_Part(number, _load(model), renamed))
    return joined.finish(outputs)


def _load(model: Model) -> Any:
    """A copy of the model, with external data in it."""
    import onnx

    path, data = model_source(model)
    if path is not None:
        return onnx.load(path.decode("utf-8", "surrogateescape"))
    return onnx.load_model_from_string(data or b"")


class _Part:
    """One of the models, changed so that nothing of it meets a name of another."""

    def __init__(self, number: int, model: Any, renamed: Mapping[str, str]) -> None:
        self.number = number
        self.model = model
        self.graph = model.graph
        ports = {value.name for value in (*self.graph.input, *self.graph.output)}
        for port in renamed:
            if port not in ports:
                known = ", ".join(map(repr, sorted(ports)))
                raise InvalidArgument(
                    f"names: model {number} has no input or output {port!r}; it has: {known}"
                )
        self.renamed = renamed
        self._scope_dimensions()
        self._scope_functions()

    def name_of(self, port: str) -> str:
        """The name of an input or output in the whole."""
        return self.renamed.get(port, port)

    def _scope_dimensions(self) -> None:
        for graph in _graphs(self.model):
            for value in (*graph.input, *graph.output, *graph.value_info):
                for dimension in _dimensions(value.type):
                    if dimension.dim_param:
                        dimension.dim_param = f"{self.number}.{dimension.dim_param}"

    def _scope_functions(self) -> None:
        """Gives the model's functions domains of its own."""
        domains = {function.domain for function in self.model.functions}
        known = {(function.domain, function.name) for function in self.model.functions}

        def scope(domain: str) -> str:
            return f"{domain}.{self.number}"

        for nodes in _node_lists(self.model):
            for node in nodes:
                if (node.domain, node.op_type) in known:
                    node.domain = scope(node.domain)
        for function in self.model.functions:
            function.domain = scope(function.domain)
        for owner in (self.model, *self.model.functions):
            for entry in list(owner.opset_import):
                if entry.domain in domains:
                    owner.opset_import.add(domain=scope(entry.domain), version=entry.version)

    def function(self, weights: Sequence[str]) -> Any:
        """The model as a function of its inputs and its weights."""
        import onnx

        given = [value.name for value in self.graph.input]
        made = onnx.FunctionProto(name=f"part{self.number}", domain=_DOMAIN)
        made.input.extend([*given, *(one for one in weights if one not in given)])
        made.node.extend(self.graph.node)
        made.opset_import.extend(self.model.opset_import)
        taken = set(made.input)
        for value in self.graph.output:
            if value.name in taken:
                # What is handed on as it is: an output of a function is what a node makes.
                made.node.add(op_type="Identity", input=[value.name], output=[f"{value.name}/out"])
                made.output.append(f"{value.name}/out")
            else:
                made.output.append(value.name)
        return made


class _Joined:
    """The model that is made."""

    def __init__(self, name: str) -> None:
        import onnx

        self._model = onnx.ModelProto(ir_version=10, producer_name="loopc.compose")
        self._model.graph.name = name
        self._versions = {_DOMAIN: 1}
        self._made: dict[str, Any] = {}
        self._read: set[str] = set()
        self._inputs: dict[str, Any] = {}

    def add(self, part: _Part) -> None:
        """Calls a model behind those that are there."""
        graph = self._model.graph
        weights: dict[str, str] = {}
        ports = {value.name: value for value in part.graph.input}
        for tensor in part.graph.initializer:
            weights[tensor.name] = self._weight_name(part, tensor.name, tensor.name in ports)
            if weights[tensor.name] not in self._made:
                graph.initializer.add().CopyFrom(tensor)
                graph.initializer[-1].name = weights[tensor.name]
        for sparse in part.graph.sparse_initializer:
            own = sparse.values.name
            weights[own] = self._weight_name(part, own, own in ports)
            graph.sparse_initializer.add().CopyFrom(sparse)
            graph.sparse_initializer[-1].values.name = weights[own]
        for port, value in ports.items():
            self._connect(part.name_of(port), value)
        function = part.function(list(weights))
        call = graph.node.add(op_type=function.name, domain=_DOMAIN, name=part.graph.name)
        call.input.extend(
            part.name_of(one) if one in ports else weights[one] for one in function.input
        )
        for value in part.graph.output:
            self._produce(part, value)
            call.output.append(part.name_of(value.name))
        self._model.functions.extend([function, *part.model.functions])
        self._model.ir_version = max(self._model.ir_version, part.model.ir_version)
        for entry in part.model.opset_import:
            known = self._versions.get(entry.domain, 0)
            self._versions[entry.domain] = max(known, entry.version)

    @staticmethod
    def _weight_name(part: _Part, name: str, is_input: bool) -> str:
        return part.name_of(name) if is_input else f"{part.number}/{name}"

    def _connect(self, name: str, value: Any) -> None:
        """Feeds an input by an output of that name, or makes it one of the whole."""
        if name in self._made:
            self._read.add(name)
            wanted, got = _kind(value.type), _kind(self._made[name].type)
            if wanted != got:
                raise InvalidArgument(
                    f"{name!r}: an input of {wanted} cannot be an output of {got}"
                )
            return
        before = self._inputs.setdefault(name, value)
        if _kind(before.type) != _kind(value.type):
            raise InvalidArgument(
                f"inputs {name!r} of {_kind(before.type)} and of {_kind(value.type)}: "
                "rename one of them"
            )

    def _produce(self, part: _Part, value: Any) -> None:
        name = part.name_of(value.name)
        if name in self._made or name in self._inputs:
            what = "output" if name in self._made else "input"
            raise InvalidArgument(
                f"output {name!r} of model {part.number}: there is an {what} of that name; rename "
                "one of them (names), or give the models in the order in which they run"
            )
        self._made[name] = value

    def finish(self, outputs: Sequence[str] | None) -> Any:
        """The whole, with these outputs."""
        graph = self._model.graph
        for name, value in self._inputs.items():
            graph.input.add().CopyFrom(value)
            graph.input[-1].name = name
        if outputs is None:
            outputs = [name for name in self._made if name not in self._read]
        for name in outputs:
            if name not in self._made:
                known = ", ".join(map(repr, self._made))
                raise InvalidArgument(
                    f"outputs: no model has an output {name!r}; there are: {known}"
                )
            graph.output.add().CopyFrom(self._made[name])
            graph.output[-1].name = name
        for domain, version in self._versions.items():
            self._model.opset_import.add(domain=domain, version=version)
        return self._model


def _kind(kind: Any) -> str:
    """Type of a value without its shape, as it is told to people."""
    import onnx

    which = kind.WhichOneof("value")
    if which in ("tensor_type", "sparse_tensor_type"):
        return str(onnx.TensorProto.DataType.Name(getattr(kind, which).elem_type))
    element = getattr(getattr(kind, which), "elem_type", None) if which else None
    return f"{which} of {_kind(element)}" if element is not None else str(which)


def _dimensions(kind: Any) -> Iterator[Any]:
    which = kind.WhichOneof("value")
    if which in ("tensor_type", "sparse_tensor_type"):
        yield from getattr(kind, which).shape.dim
    elif which in ("sequence_type", "optional_type"):
        yield from _dimensions(getattr(kind, which).elem_type)


def _graphs(model: Any) -> Iterator[Any]:
    """The graph and all bodies, those in functions included."""
    yield model.graph
    for nodes in _node_lists(model):
        for node in nodes:
            for attribute in node.attribute:
                for body in (attribute.g, *attribute.graphs):
                    if body.node or body.output:
                        yield body


def _node_lists(model: Any) -> Iterator[Any]:
    """The nodes of the graph, of functions and of all bodies."""
    waiting = [model.graph.node, *(function.node for function in model.functions)]
    while waiting:
        nodes = waiting.pop()
        yield nodes
        for node in nodes:
            for attribute in node.attribute:
                waiting += [body.node for body in (attribute.g, *attribute.graphs) if body.node]
