# ===- _torch.py - Models of torch ------------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""`export`: a model of torch, captured by torch.export, written as ONNX, compiled here."""

from __future__ import annotations

import contextlib
import functools
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from loopc import _torch_forms
from loopc._errors import CompileError, InvalidArgument
from loopc._extras import require
from loopc._options import RunOptions, SessionOptions
from loopc._session import InferenceSession
from loopc._torch_operators import known_operators, operator_translations
from loopc._torch_recurrent import any_length, recurrent_translations

#: What torch's exporter needs beside torch.
_PACKAGES = "torch onnxscript"
#: The version of ONNX's operators that torch writes by default.
_OPSET = 20


def export(
    model: Any,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool | None = None,
    sess_options: SessionOptions | None = None,
    device: str | None = None,
    opset: int = _OPSET,
) -> TorchFunction:
    """Compiles a model of torch for arguments like these.

    `torch.export.export` captures it once: control flow over values is that of torch
    (`torch.cond`, `while_loop`, `scan`, `map`, `associative_scan`). Parameters and buffers
    are constants of what is compiled, as they are now.

    Args:
        model: a torch.nn.Module, or a torch.export.ExportedProgram (then without the
            arguments up to `strict`).
        args: examples of its positional arguments: tensors in any structure.
        kwargs: examples of those with names.
        dynamic_shapes: extents that a call may choose, as torch.export.export has it.
        strict: whether torch.export reads the model's byte code, or runs it; None for the
            second, and the first where the second fails.
        sess_options: how to compile and run, as `InferenceSession` has it.
        device: as `InferenceSession` has it.
        opset: the version of ONNX's operators that torch writes.

    Returns:
        A function of the same arguments (`TorchFunction`).

    Raises:
        ImportError: torch or onnxscript is not installed.
        CompileError: torch has no ONNX for something in the model, the model changes its
            buffers or its arguments, or loopc cannot compile what torch wrote.
        torch.export's errors: what it cannot capture.
    """
    torch = require("torch", "export", _PACKAGES)
    require("onnxscript", "export", _PACKAGES)
    program = model
    if not isinstance(model, torch.export.ExportedProgram):
        program = capture(model, tuple(args), dict(kwargs or {}), dynamic_shapes, strict)
    written = to_onnx(program, opset)
    session = InferenceSession(written, sess_options, device=device)
    return TorchFunction(session, *signature(program, written.graph))


def capture(model: Any, args: Any, kwargs: Any, shapes: Any, strict: bool | None) -> Any:
    """torch.export.export, as `export` has it."""
    import torch

    with torch.no_grad(), _quiet(), any_length():
        if strict is not None:
            return torch.export.export(model, args, kwargs, dynamic_shapes=shapes, strict=strict)
        try:
            return torch.export.export(model, args, kwargs, dynamic_shapes=shapes, strict=False)
        except Exception as error:
            # Loops in scans, for one, can only be captured the other way.
            with contextlib.suppress(Exception):
                return torch.export.export(model, args, kwargs, dynamic_shapes=shapes, strict=True)
            raise error


def to_onnx(program: Any, opset: int = _OPSET) -> Any:
    """The ONNX model of an exported program.

    Raises:
        CompileError: as `export`.
    """
    import torch

    try:
        with _quiet(), any_length(), known_operators():
            program = _torch_forms.prepare(program)
            written = torch.onnx.export(
                program,
                dynamo=True,
                opset_version=opset,
                custom_translation_table=_translations(torch, program),
                verbose=False,
                optimize=False,
            )
    except Exception as error:
        raise CompileError(f"torch cannot write the model as ONNX: {reason_of(error)}") from error
    # Only what torch has written says so: captured programs still have operators in place.
    _refuse_mutations(written.exported_program)
    model = written.model_proto
    _keep_input_names(program, model.graph)
    _unify_domains(model)
    _fix_numbers(model.graph)
    return model


def _keep_input_names(program: Any, graph: Any) -> None:
    """Gives inputs the names of the arguments.

    Where an operator returns its argument as it is, torch gives both the result's name.
    """
    from onnx.helper import make_node
    from torch.export.graph_signature import ConstantArgument, InputKind

    names = [
        spec.arg.name
        for spec in program.graph_signature.input_specs
        if spec.kind == InputKind.USER_INPUT and not isinstance(spec.arg, ConstantArgument)
    ]
    for name, value in zip(names, graph.input, strict=True):
        if value.name != name:
            graph.node.insert(0, make_node("Identity", [name], [value.name]))
            value.name = name


def _fix_numbers(graph: Any) -> None:
    """Makes extents numbers that torch has found to be: it writes them as names, "5".

    A graph whose steps were written out for one length must not be given another.
    """
    for value in (*graph.input, *graph.output, *graph.value_info):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param.isdecimal():
                dim.dim_value = int(dim.dim_param)


def _refuse_mutations(program: Any) -> None:
    signature = program.graph_signature
    changed = {**signature.buffers_to_mutate, **signature.user_inputs_to_mutate}
    if changed:
        names = ", ".join(map(repr, changed.values()))
        raise CompileError(
            f"the model changes {names}: a compiled model changes nothing; return the new value, "
            "and give it to the next call (or keep it: SessionOptions.add_state)"
        )


def _unify_domains(model: Any) -> None:
    """Gives the domain of torch's subgraphs one version, that of their functions."""
    versions = {entry.domain: entry.version for entry in model.opset_import}
    for function in model.functions:
        for entry in function.opset_import:
            entry.version = versions.setdefault(entry.domain, entry.version)


def reason_of(error: BaseException) -> str:
    """What went wrong first, in one line: torch's exporter wraps it in pages."""
    while error.__cause__ is not None:
        error = error.__cause__
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without what the exporter says of packages that are not installed, and of its own code."""
    # The second writes a hundred lines for what is raised as an error, too.
    loggers = {"torch.onnx": logging.ERROR, "torch._guards": logging.CRITICAL}
    levels = {name: logging.getLogger(name).level for name in loggers}
    for name, level in loggers.items():
        logging.getLogger(name).setLevel(level)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def _translations(torch: Any, program: Any) -> dict[Any, Callable[..., Any]]:
    """What torch's exporter has no translation of, or a wrong one."""
    from torch._higher_order_ops.map import map_impl
    from torch.onnx._internal.exporter import _core
    from torch.onnx._internal.exporter._torchlib.ops import hop

    def write_map(body: Any, rows: Sequence[Any], others: Sequence[Any]) -> Sequence[Any]:
        # A Scan that carries nothing.
        results: Sequence[Any] = hop.higher_order_scan(body, [], rows, others)
        return results

    def write_while(*args: Any) -> Sequence[Any]:
        results: Sequence[Any] = hop.higher_order_while_loop(*args)
        # It gives calls of the condition's function the version of ONNX's operators.
        for node in _core.current_tracer.nodes:
            if node.domain:
                node.version = None
        return results

    return {
        map_impl: write_map,
        torch.ops.higher_order.while_loop: write_while,
        **operator_translations(),
        **recurrent_translations(program),
    }


@dataclass(frozen=True)
class _Constant:
    """A result that is no tensor: its value."""

    value: Any


@dataclass(frozen=True)
class _Complex:
    """A result of complex numbers: an output with a dimension of their two parts."""

    name: str


def signature(program: Any, graph: Any) -> tuple[Any, Any, list[str | None], list[Any]]:
    """Structures of arguments and results; for each leaf the input, the output or a constant."""
    known = {value.name for value in graph.input}
    inputs = [
        name if isinstance(name, str) and name in known else None
        for name in program.graph_signature.user_inputs
    ]
    outputs: list[Any] = []
    tensors = iter(value.name for value in graph.output)
    results = {node.name: node.meta.get("val") for node in program.graph.nodes}
    for spec in program.graph_signature.output_specs:
        if _torch_forms.is_constant(spec):
            outputs.append(_Constant(spec.arg.value))
            continue
        name = next(tensors)
        kind = getattr(results.get(spec.arg.name), "dtype", None)
        outputs.append(_Complex(name) if kind is not None and kind.is_complex else name)
    return program.call_spec.in_spec, program.call_spec.out_spec, inputs, outputs


class TorchFunction:
    """What `export` returns: the compiled model.

    It is called as the model, with tensors that it reads where they are, and returns
    tensors over the memory that the run has written: nothing is copied. Results
    have no gradients. It can be pickled.

    Attributes:
        session: the InferenceSession that it calls, with torch's names of the arguments.
    """

    def __init__(
        self,
        session: InferenceSession,
        in_spec: Any,
        out_spec: Any,
        inputs: Sequence[str | None],
        outputs: Sequence[Any],
    ) -> None:
        self.session = session
        self._in_spec = in_spec
        self._out_spec = out_spec
        self._inputs = list(inputs)
        self._outputs = list(outputs)
        self._are_plain = all(isinstance(one, str) for one in self._outputs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the model.

        Args:
            args: as the examples: the same structure, element types and, but for extents
                that `dynamic_shapes` left open, shapes.
            kwargs: those with names, in the order of the examples.

        Returns:
            What the model returns: the same structure, of tensors.

        Raises:
            InvalidArgument: the structure, an element type or a shape is another.
            RunError, DeviceError, KeyboardInterrupt: as `InferenceSession.run`.
        """
        return self.run(args, kwargs)

    def run(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any] | None = None,
        run_options: RunOptions | None = None,
    ) -> Any:
        """`__call__` with options of the run."""
        from torch.utils import _pytree as pytree

        leaves, spec = pytree.tree_flatten((tuple(args), dict(kwargs or {})))
        if spec != self._in_spec:
            raise InvalidArgument(f"args: expected {self._in_spec}, got {spec}")
        return pytree.tree_unflatten(self.run_flat(leaves, run_options), self._out_spec)

    def run_flat(self, leaves: Sequence[Any], run_options: RunOptions | None = None) -> list[Any]:
        """The leaves of the results, of those of the arguments."""
        feeds = {
            name: to_feed(leaf)
            for name, leaf in zip(self._inputs, leaves, strict=True)
            if name is not None
        }
        tensors = map(to_tensor, self.session.run(None, feeds, run_options))
        if self._are_plain:
            return list(tensors)
        return [_result(one, tensors) for one in self._outputs]

    def __reduce__(self) -> tuple[Any, ...]:
        from torch.utils import _pytree as pytree

        specs = pytree.treespec_dumps(self._in_spec), pytree.treespec_dumps(self._out_spec)
        return _restore, (self.session, *specs, self._inputs, self._outputs)


def _result(output: str | _Constant | _Complex, tensors: Iterator[Any]) -> Any:
    if isinstance(output, _Constant):
        return output.value
    if isinstance(output, _Complex):
        import torch

        return torch.view_as_complex(next(tensors))
    return next(tensors)


def _restore(session: InferenceSession, into: str, out: str, *ports: Any) -> TorchFunction:
    from torch.utils import _pytree as pytree

    specs = pytree.treespec_loads(into), pytree.treespec_loads(out)
    return TorchFunction(session, *specs, *ports)


def to_feed(value: Any) -> Any:
    """A tensor, as a session reads it where it is; numbers as they are."""
    kind = getattr(value, "dtype", None)
    if kind in _numpy_types() and value.is_cpu and not value.requires_grad:
        try:
            # Half as long as DLPack's way.
            return value.numpy()
        except RuntimeError:
            return _to_other_feed(value)
    return _to_other_feed(value)


def _to_other_feed(value: Any) -> Any:
    """As `to_feed`: types that NumPy does not have, devices, tensors that are only described."""
    import torch

    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    value = value.detach()
    if value.is_conj() or value.is_neg():
        # What only says that it is to be conjugated, or negated, cannot be handed on.
        value = value.resolve_conj().resolve_neg()
    if value.is_complex():
        # torch writes complex numbers as their two parts.
        value = torch.view_as_real(value)
    return value.numpy() if value.dtype in _numpy_types() and not value.is_cuda else value


@functools.cache
def _numpy_types() -> frozenset[Any]:
    """torch's types that NumPy has itself, but for complex numbers."""
    import torch

    names = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    floats = ("float16", "float32", "float64")
    return frozenset(getattr(torch, name) for name in (*names, *floats))


@functools.cache
def _views() -> dict[Any, tuple[str, str]]:
    """For ml_dtypes' types that torch has itself: a type of as many bits, and torch's name."""
    import ml_dtypes

    eights = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
    found = {np.dtype(getattr(ml_dtypes, name)): ("uint8", name) for name in eights}
    return found | {np.dtype(ml_dtypes.bfloat16): ("uint16", "bfloat16")}


@functools.cache
def _from_numpy() -> Callable[[np.ndarray], Any]:
    import torch

    made: Callable[[np.ndarray], Any] = torch.from_numpy
    return made


def to_tensor(array: Any) -> Any:
    """A result of a session as a tensor over the same memory."""
    if not isinstance(array, np.ndarray):
        import torch

        return torch.from_dlpack(array)
    # A look-up by the type: making its name takes longer than all else here.
    views = _views().get(array.dtype)
    if views is None:
        return _from_numpy()(array)
    import torch

    bits, own = views
    return torch.from_numpy(array.view(bits)).view(getattr(torch, own))
