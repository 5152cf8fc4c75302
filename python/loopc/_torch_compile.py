# ===- _torch_compile.py - loopc behind torch.compile ------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""``torch.compile(model, backend="loopc")``.

torch hands a graph over and calls what it gets for it. That is compiled at the first call,
by `loopc.export`; parameters are constants of it until one of them changes: each call
compares a hash of their bytes, since torch does not count all writes (those through
`.data`, those of NumPy and those of inference mode). A graph that cannot be compiled, or
whose run fails where torch's does not, runs as torch runs it, and one warning says why.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from operator import is_
from typing import Any

from loopc._arguments import flag
from loopc._errors import CompileError, InvalidArgument, RunError, Status
from loopc._loopc import hash_memory
from loopc._options import SessionOptions
from loopc._session import InferenceSession
from loopc._torch import TorchFunction, capture, reason_of, signature, to_onnx

#: Versions of one graph that are kept, for other parameters or shapes.
_MOST_VERSIONS = 8
#: ONNX's operators that draw random numbers.
_RANDOM = frozenset(
    (
        "Bernoulli",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    )
)


def backend(
    graph: Any,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """The backend, by the entry point `loopc` of the group `torch_dynamo_backends`.

    Args:
        graph: the torch.fx.GraphModule that torch.compile has captured.
        example_inputs: its inputs; only their number counts.
        options: those of `SessionOptions`, by name (``torch.compile(..., options={...})``),
            and `freezing`: parameters do not change any more, and no call looks at them.
        mode: None or "default"; others are Inductor's.

    Returns:
        A function of the same inputs.

    Raises:
        InvalidArgument: there is no such option or mode.
    """
    if mode not in (None, "default"):
        raise InvalidArgument(f"mode: {mode!r}: the backend 'loopc' has only 'default'")
    given = dict(options or {})
    freezing = flag("freezing", given.pop("freezing", False))
    try:
        sess_options = SessionOptions(**given)
    except TypeError as error:
        raise InvalidArgument(f"options: {error}") from error
    return _Compiled(graph, sess_options, freezing)


class _Compiled:
    """A graph, and what was compiled of it."""

    def __init__(self, graph: Any, options: SessionOptions, freezing: bool) -> None:
        import torch

        self._graph = graph
        self._options = options
        self._key_of = _addresses if freezing else _Contents()
        self._eager = False
        self._grad_enabled = torch.is_grad_enabled
        self._versions: list[_Version] = []
        nodes = [node for node in graph.graph.nodes if node.op == "placeholder"]
        examples = [node.meta.get("example_value") for node in nodes]
        self._constant = [isinstance(one, torch.nn.Parameter) for one in examples]
        self._parameters = [at for at, own in enumerate(self._constant) if own]
        self._examples = examples
        # Numbers that torch has left open, and whether they are compiled as constants: some
        # of ONNX's operators take them as attributes only.
        self._numbers = [
            at
            for at, (node, one) in enumerate(zip(nodes, examples, strict=True))
            if isinstance(one, torch.SymInt | torch.SymFloat) or any(map(_is_item, node.users))
        ]
        self._are_numbers_fixed = False
        self._values: set[tuple[Any, ...]] = set()

    def __call__(self, *inputs: Any) -> Any:
        if not self._eager and self._grad_enabled() and any(map(_needs_grad, inputs)):
            self._fall_back("gradients are wanted (torch.no_grad() or requires_grad_(False))")
        if self._eager:
            return self._graph(*inputs)
        parameters = [inputs[at] for at in self._parameters]
        key = self._key_of(parameters)
        for version in self._versions:
            if version.key == key and version.fits(inputs):
                return self._run(version, inputs)
        try:
            version = self._compile(inputs, key)
        except Exception as error:
            text = str(error) if isinstance(error, CompileError) else reason_of(error)
            self._fall_back(text.splitlines()[0] if text else type(error).__name__)
            return self._graph(*inputs)
        self._versions.insert(0, version)
        del self._versions[_MOST_VERSIONS:]
        return self._run(version, inputs)

    def _run(self, version: _Version, inputs: Sequence[Any]) -> Any:
        """A run. What fails is torch's to judge: its error is raised, or its result is right."""
        try:
            return version.run(inputs)
        except (InvalidArgument, RunError) as error:
            if isinstance(error, RunError) and error.status != Status.RUNTIME:
                raise
            result = self._graph(*inputs)
            self._fall_back(str(error).splitlines()[0])
            return result

    def _compile(self, inputs: Sequence[Any], key: Hashable) -> _Version:
        """A version for inputs: with numbers as inputs where that can be, else as constants.

        Raises:
            CompileError, torch's errors: neither can be, or numbers have had too many values.
        """
        if not self._are_numbers_fixed:
            try:
                return self._version(inputs, key, ())
            except Exception:
                if not self._numbers:
                    raise
        self._values.add(tuple(_value(inputs[at]) for at in self._numbers))
        if len(self._values) > _MOST_VERSIONS:
            raise CompileError(
                f"a number that has to be known when it is compiled has had more than "
                f"{_MOST_VERSIONS} values; give it as a tensor"
            )
        version = self._version(inputs, key, self._numbers)
        self._are_numbers_fixed = True
        return version

    def _version(self, inputs: Sequence[Any], key: Hashable, numbers: Sequence[int]) -> _Version:
        import torch

        with torch.no_grad():
            return _Version(
                self._graph, self._examples, self._constant, inputs, self._options, key, numbers
            )

    def _fall_back(self, why: str) -> None:
        self._eager = True
        warnings.warn(f"loopc: torch.compile runs a graph without loopc: {why}", stacklevel=4)


def _needs_grad(value: Any) -> bool:
    return bool(getattr(value, "requires_grad", False))


class _Version:
    """A graph, compiled with the values of its parameters, for shapes."""

    def __init__(
        self,
        graph: Any,
        examples: Sequence[Any],
        constant: Sequence[bool],
        inputs: Sequence[Any],
        options: SessionOptions,
        key: Hashable,
        numbers: Sequence[int] = (),
    ) -> None:
        self.key = key  # of the parameters, before they were read
        # The numbers that are constants.
        self._numbers = {at: _value(inputs[at]) for at in numbers}
        # Kept, so that no other tensor has their address.
        self._parameters = [inputs[at] for at, own in enumerate(constant) if own]
        module, self._places = _specialize(graph, examples, constant, inputs, numbers)
        given = [inputs[at] for at in self._places]
        shapes = tuple(_dynamic_shape(examples[at]) for at in self._places)
        self._function = _export(module, given, shapes, options)
        self._extents = self._find_extents(examples)

    def fits(self, inputs: Sequence[Any]) -> bool:
        """Whether it was compiled for extents and numbers as these."""
        fixed = all(_value(inputs[at]) == value for at, value in self._numbers.items())
        return fixed and all(inputs[at].shape[axis] == extent for at, axis, extent in self._extents)

    def _find_extents(self, examples: Sequence[Any]) -> list[tuple[int, int, int]]:
        """Input, axis and extent where torch has left an extent open and its exporter has not.

        What torch has not left open it checks itself, before each call.
        """
        import torch

        shapes = {port.name: port.shape for port in self._function.session.get_inputs()}
        return [
            (at, axis, extent)
            for name, at in zip(self._function._inputs, self._places, strict=True)
            for axis, extent in enumerate((name and shapes.get(name)) or ())
            if isinstance(extent, int) and isinstance(examples[at].shape[axis], torch.SymInt)
        ]

    def run(self, inputs: Sequence[Any]) -> Any:
        return self._function.run_flat([inputs[at] for at in self._places])


def _addresses(parameters: Sequence[Any]) -> Hashable:
    """Which tensors they are."""
    return tuple(one.data_ptr() for one in parameters)


class _Contents:
    """What parameters hold: a hash of their bytes.

    Those that are not read for it, on another device or sparse, are told apart by the writes
    that torch counts.
    """

    def __init__(self) -> None:
        # The parameters of the last call, where they are and what is read there.
        self._known: Sequence[Any] = ()
        self._places: list[int] = []
        self._spans: list[tuple[int, int]] = []

    def __call__(self, parameters: Sequence[Any]) -> Hashable:
        # A tensor at its place has its shape: torch has checked it.
        if len(parameters) == len(self._known) and all(map(is_, parameters, self._known)):
            if [one.data_ptr() for one in parameters] == self._places:
                return (hash_memory(self._spans),)
        import torch

        spans, others = [], []
        for one in parameters:
            place = one.data_ptr() if one.layout is torch.strided else 0
            if place and one.is_cpu:
                spans.append((place, _span(one)))
            else:
                others.append((id(one), place, 0 if one.is_inference() else int(one._version)))
        if not others:
            self._known, self._spans = list(parameters), spans
            self._places = [place for place, _ in spans]
        return hash_memory(spans), *others


def _span(tensor: Any) -> int:
    """Bytes from the first element of a tensor to its last."""
    if tensor.is_contiguous():
        return int(tensor.nbytes)
    if tensor.numel() == 0:
        return 0
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    last = sum((extent - 1) * stride for extent, stride in steps)
    return int((last + 1) * tensor.element_size())


def _specialize(
    graph: Any,
    examples: Sequence[Any],
    constant: Sequence[bool],
    inputs: Sequence[Any],
    numbers: Sequence[int],
) -> tuple[Any, list[int]]:
    """A copy of the graph with parameters as attributes, and extents as those of tensors.

    Those of `numbers` that are no extents become constants.

    torch hands the extents that are open over as inputs of their own: whoever captures the
    graph again would not know that they are the tensors'.

    Returns:
        The copy, and the places of the inputs that it still has.
    """
    import copy

    import torch

    graph = copy.copy(graph)
    graph.graph = copy.deepcopy(graph.graph)
    nodes = [node for node in graph.graph.nodes if node.op == "placeholder"]
    tensors = [(node, one) for node, one in zip(nodes, examples, strict=True)
               if isinstance(one, torch.Tensor)]  # fmt: skip
    places = []
    for at, (node, example) in enumerate(zip(nodes, examples, strict=True)):
        if constant[at]:
            name = f"_loopc_parameter_{at}"
            setattr(graph, name, torch.nn.Parameter(inputs[at].detach(), requires_grad=False))
            with graph.graph.inserting_after(nodes[-1]):
                other = graph.graph.get_attr(name)
        elif at in numbers and (
            not isinstance(example, torch.SymInt) or _find_extent(example, tensors) is None
        ):
            _fix(node, _value(inputs[at]))
            if not node.users:
                graph.graph.erase_node(node)
            else:
                places.append(at)
            continue
        elif isinstance(example, torch.SymInt):
            found = _find_extent(example, tensors)
            with graph.graph.inserting_after(nodes[-1]):
                if found is None:
                    raise CompileError(f"the number {node.name!r} is no extent of a tensor")
                other = graph.graph.call_function(torch.ops.aten.sym_size.int, found)
        else:
            places.append(at)
            continue
        node.replace_all_uses_with(other)
        graph.graph.erase_node(node)
    graph.recompile()
    return graph, places


def _is_item(node: Any) -> bool:
    """Whether a node is the number that a tensor holds: what torch makes of a float."""
    return bool(node.op == "call_method" and node.target == "item")


def _value(given: Any) -> Any:
    """The number that an input is, or holds."""
    return given.item() if hasattr(given, "item") else given


def _fix(node: Any, value: Any) -> None:
    """Puts a number in the place of an input, or of what is read from it."""
    from torch.fx.node import map_arg

    items = [user for user in node.users if _is_item(user)]
    for old in items or [node]:
        for user in list(old.users):
            user.args = map_arg(user.args, lambda one, old=old: value if one is old else one)
            user.kwargs = map_arg(user.kwargs, lambda one, old=old: value if one is old else one)
        if old is not node:
            old.graph.erase_node(old)


def _find_extent(symbol: Any, tensors: Sequence[tuple[Any, Any]]) -> tuple[Any, int] | None:
    for node, example in tensors:
        for axis, extent in enumerate(example.shape):
            if str(extent) == str(symbol):
                return node, axis
    return None


def _dynamic_shape(example: Any) -> Any:
    """For torch.export: what torch.compile has left open."""
    import torch

    if not isinstance(example, torch.Tensor):
        return None
    return {
        axis: torch.export.Dim.AUTO
        for axis, extent in enumerate(example.shape)
        if isinstance(extent, torch.SymInt)
    }


def _export(
    module: Any, given: Sequence[Any], shapes: tuple[Any, ...], options: SessionOptions
) -> TorchFunction:
    program = capture(module, tuple(given), {}, shapes, strict=False)
    model = to_onnx(program)
    if any(
        _is_random(node) for graph in (model.graph, *model.functions) for node in _nodes(graph.node)
    ):
        raise CompileError("it draws random numbers, and loopc's are others than torch's")
    if options.intra_op_num_threads <= 0:
        import torch

        options = copy.copy(options)
        options.intra_op_num_threads = torch.get_num_threads()
    return TorchFunction(InferenceSession(model, options), *signature(program, model.graph))


def _nodes(nodes: Iterable[Any]) -> Iterator[Any]:
    """Nodes of ONNX, those of bodies included."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            yield from _nodes(attribute.g.node)


def _is_random(node: Any) -> bool:
    # The third input of Dropout is whether it drops at all.
    return node.op_type in _RANDOM or (node.op_type == "Dropout" and len(node.input) > 2)
