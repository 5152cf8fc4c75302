# ===- _jax.py - Functions of JAX -------------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""`from_jax`: a function of JAX, traced by JAX, written as ONNX by jax2onnx, compiled here."""

from __future__ import annotations

import contextlib
import functools
import logging
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from loopc._errors import CompileError, InvalidArgument
from loopc._extras import require
from loopc._options import RunOptions, SessionOptions
from loopc._session import InferenceSession

#: What jax2onnx names the inputs of the graph, by their places.
_INPUT = re.compile(r"in_(\d+)")
#: jax2onnx's name of every extent that it does not know. As a dimension of ONNX it would say
#: that all of them are equal.
_UNKNOWN_EXTENT = "JAX2ONNX_DYNAMIC_DIM_SENTINEL"

#: Element types that JAX has with jax_enable_x64.
_WIDE = frozenset(("float64", "int64", "uint64", "complex128"))
#: One thread at a time changes jax2onnx.
_GUESSES_LOCK = threading.RLock()


def from_jax(
    fun: Callable[..., Any],
    *args: Any,
    shapes: Any = None,
    sess_options: SessionOptions | None = None,
    device: str | None = None,
    opset: int = 26,
) -> JaxFunction:
    """Compiles a function of JAX for arguments like these.

    It is traced once, as `jax.jit` does it: control flow over values is that of `jax.lax`,
    and arrays that the function captures are constants of the model.

    Args:
        fun: the function, of positional arguments. Others are bound by `functools.partial`.
        args: examples of them: pytrees of arrays, numbers and `jax.ShapeDtypeStruct`. Shapes
            and element types count, values do not.
        shapes: extents that a call may choose: None, or as `jax.export.symbolic_args_specs`
            has it, one specification for all arguments or a pytree with one for each
            ("b, ...", or None for what is as in the example). Equal names are equal extents.
        sess_options: how to compile and run, as `InferenceSession` has it.
        device: as `InferenceSession` has it.
        opset: the version of ONNX's operators that jax2onnx writes.

    Returns:
        A function of the same arguments (`JaxFunction`).

    Raises:
        ImportError: JAX or jax2onnx is not installed.
        CompileError: jax2onnx has no ONNX for something in the function, or loopc
            cannot compile what it wrote.
        InvalidArgument: there are leaves that are no arrays.
        TypeError, ValueError: what JAX itself says of the function or the shapes.
    """
    jax = require("jax", "from_jax", "jax jax2onnx")
    require("jax2onnx", "from_jax", "jax2onnx")
    leaves, tree = jax.tree.flatten(args)
    specs = [_spec(jax, leaf) for leaf in leaves]
    if shapes is not None:
        given = jax.tree.unflatten(tree, specs)
        specs = jax.tree.leaves(jax.export.symbolic_args_specs(given, shapes))

    def flat(*values: Any) -> list[Any]:
        return list(jax.tree.leaves(fun(*jax.tree.unflatten(tree, values))))

    results = jax.eval_shape(fun, *jax.tree.unflatten(tree, specs))
    wanted, out_tree = jax.tree.flatten(results)
    model = _to_onnx(flat, specs, getattr(fun, "__name__", "jax"), opset)
    _forget_unknown_extents(model.graph)
    session = InferenceSession(model, sess_options, device=device)
    types = [np.dtype(one.dtype) for one in wanted]
    return JaxFunction(session, tree, out_tree, _ports(model.graph, specs), types)


def _to_onnx(function: Callable[..., Any], specs: Sequence[Any], name: str, opset: int) -> Any:
    """The ONNX model of a function of arrays."""
    import jax2onnx

    from loopc import _jax_forms

    traced = _jax_forms.trace(function, specs)
    # Without this switch jax2onnx turns JAX's wide types off. With it all floats are doubles
    # in the model, and what comes out is brought back to its type.
    double = not _WIDE.isdisjoint(_jax_forms.types(traced))
    try:
        with _quiet(), _without_guesses():
            return jax2onnx.to_onnx(
                lambda *values: _jax_forms.evaluate(traced, values),
                specs,
                model_name=name,
                opset=opset,
                enable_double_precision=double,
            )
    except Exception as error:
        # A message can be empty, and the class says what is missing (NotImplementedError).
        raise CompileError(
            f"jax2onnx cannot write the function as ONNX: {type(error).__name__}: {error}"
        ) from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without what the writer says of inner values that have no type: the compiler infers them."""
    logger = logging.getLogger("onnx_ir")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextlib.contextmanager
def _without_guesses() -> Iterator[None]:
    """jax2onnx must not take the extent of a scatter in a scan for the number of trips."""
    from jax2onnx.plugins.jax.lax import scan

    name = "_jaxpr_contains_scatter"
    with _GUESSES_LOCK:
        guess = getattr(scan, name, None)
        try:
            if guess is not None:
                setattr(scan, name, lambda jaxpr: False)
            yield
        finally:
            if guess is not None:
                setattr(scan, name, guess)


def _spec(jax: Any, leaf: Any) -> Any:
    """Shape and element type of a leaf, as JAX would take it."""
    try:
        shaped = jax.typeof(leaf) if not isinstance(leaf, jax.ShapeDtypeStruct) else leaf
        return jax.ShapeDtypeStruct(shaped.shape, jax.dtypes.canonicalize_dtype(shaped.dtype))
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"args: {leaf!r} is no array: {error}") from error


def _forget_unknown_extents(graph: Any) -> None:
    """Clears the name that jax2onnx gives to unknown extents, in the graph and all bodies."""
    for value in (*graph.input, *graph.output, *graph.value_info):
        for dimension in value.type.tensor_type.shape.dim:
            if dimension.dim_param == _UNKNOWN_EXTENT:
                dimension.Clear()
    for node in graph.node:
        for attribute in node.attribute:
            for body in (attribute.g, *attribute.graphs):
                if body.node or body.output:
                    _forget_unknown_extents(body)


def _ports(graph: Any, specs: Sequence[Any]) -> list[_Port]:
    """For each leaf the input of the graph, which may have been left out for it."""
    import onnx

    types: dict[int, tuple[str | None, np.dtype[Any]]] = {}
    for value in graph.input:
        match = _INPUT.fullmatch(value.name)
        if match is None:
            raise CompileError(f"jax2onnx wrote an input that is no argument: {value.name!r}")
        element = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        types[int(match[1])] = (value.name, np.dtype(element))
    ports = []
    for position, spec in enumerate(specs):
        given = np.dtype(spec.dtype)
        name, dtype = types.get(position, (None, given))
        ports.append(_Port(name, dtype, given))
    return ports


@dataclass(frozen=True)
class _Port:
    """How a leaf of the arguments goes into the model.

    Attributes:
        name: of the input; None where the model has none for it.
        dtype: of the input.
        given: the element type that callers give.
    """

    name: str | None
    dtype: np.dtype[Any]
    given: np.dtype[Any]

    def convert(self, leaf: Any) -> np.ndarray:
        """The leaf as the input wants it, without a copy where its type is the model's.

        Numbers and the wider types of NumPy become what JAX would make of them.
        """
        array = np.asarray(leaf)
        if array.dtype == self.dtype:
            return array
        narrower = array.dtype.kind == self.given.kind and not isinstance(leaf, _jax_array())
        if array.dtype != self.given and not (narrower or isinstance(leaf, int | float | complex)):
            raise InvalidArgument(
                f"argument {self.name}: element type {array.dtype}, expected {self.given}"
            )
        return array.astype(self.dtype)


@functools.cache
def _jax_array() -> type[Any]:
    import jax

    kind: type[Any] = jax.Array
    return kind


class JaxFunction:
    """What `from_jax` returns: the compiled function.

    It is called with pytrees of the structure of the examples, and can be pickled.
    Results are arrays of JAX where an argument is one, and else of NumPy; neither
    arguments nor results are copied, unless JAX wants other memory (results that
    are not aligned as it has them).

    Attributes:
        session: the InferenceSession that it calls, with an input for each leaf
            of the arguments ("in_0", "in_1", ...).
    """

    def __init__(
        self,
        session: InferenceSession,
        in_tree: Any,
        out_tree: Any,
        ports: Sequence[_Port],
        types: Sequence[np.dtype[Any]],
    ) -> None:
        self.session = session
        self._in_tree = in_tree
        self._out_tree = out_tree
        self._ports = list(ports)
        self._types = list(types)

    def __call__(self, *args: Any, run_options: RunOptions | None = None) -> Any:
        """Calls the function.

        Args:
            args: as the examples: the same structure, element types and, but for extents
                that `shapes` left open, shapes.
            run_options: how to run.

        Returns:
            What the function returns: the same structure, of arrays.

        Raises:
            InvalidArgument: the structure, an element type or a shape is another.
            RunError, DeviceError, KeyboardInterrupt: as `InferenceSession.run`.
        """
        import jax

        leaves, tree = jax.tree.flatten(args)
        if tree != self._in_tree:
            raise InvalidArgument(f"args: expected {self._in_tree}, got {tree}")
        feeds = {
            port.name: port.convert(leaf)
            for port, leaf in zip(self._ports, leaves, strict=True)
            if port.name is not None
        }
        results = self.session.run(None, feeds, run_options)
        # Types differ where jax2onnx has made doubles of floats.
        arrays = [
            result.astype(dtype, copy=False)
            for result, dtype in zip(results, self._types, strict=True)
        ]
        if any(isinstance(leaf, jax.Array) for leaf in leaves):
            arrays = [_to_jax(jax, array) for array in arrays]
        return jax.tree.unflatten(self._out_tree, arrays)


def _to_jax(jax: Any, array: np.ndarray) -> Any:
    try:
        return jax.dlpack.from_dlpack(array)
    except (BufferError, TypeError, RuntimeError):
        # Types that NumPy does not hand on: those of ml_dtypes.
        return jax.numpy.asarray(array)
