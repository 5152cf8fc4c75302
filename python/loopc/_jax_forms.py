# ===- _jax_forms.py - JAX's primitives in forms that ONNX has --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Rewrites what JAX traced into what jax2onnx can write.

jax2onnx traces functions with functions of its own in the place of some of JAX's, whose loops
want numbers of trips that are known, and refuses some forms of primitives. Here JAX itself
traces, so that the meaning is JAX's, and those forms become others:

    scan(reverse=True)           reversed inputs, a scan forwards, reversed outputs
    cond of three and more       a tree of conds of two (`lax.switch`)
    pad between elements         a new dimension that is padded and joined
    dot_general of any order     transposes, and a product of matrices
    shifts                       of numbers without signs, by less than their bits
    le_to, lt_to                 comparisons, where NaN and zeros are told apart
    calls (jit, custom_jvp, ...) what they call
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import lax
from jax import numpy as jnp
from jax.extend import core

#: Primitives that are calls, and the parameter that holds what they call.
_CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "checkpoint": "jaxpr",
    "remat2": "jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
}


def trace(function: Callable[..., Any], specs: Sequence[Any]) -> Any:
    """The ClosedJaxpr of a function of arrays of these shapes, in forms for jax2onnx."""
    return _rewrite(jax.make_jaxpr(function)(*specs))


def evaluate(closed: Any, values: Sequence[Any]) -> list[Any]:
    """The results of a ClosedJaxpr, each primitive as it is."""
    return list(jax.core.eval_jaxpr(closed.jaxpr, closed.consts, *values))


def types(closed: Any) -> set[str]:
    """The names of all element types in a ClosedJaxpr, those of its bodies included."""
    names: set[str] = set()

    def visit(jaxpr: Any) -> None:
        for value in (*jaxpr.invars, *jaxpr.constvars, *jaxpr.outvars):
            names.add(str(getattr(value.aval, "dtype", "")))
        for equation in jaxpr.eqns:
            names.update(str(getattr(value.aval, "dtype", "")) for value in equation.outvars)
            for body in jax.tree.leaves(list(equation.params.values()), is_leaf=_is_jaxpr):
                if _is_jaxpr(body):
                    visit(getattr(body, "jaxpr", body))

    visit(closed.jaxpr)
    return names


def _is_jaxpr(value: Any) -> bool:
    return isinstance(value, core.ClosedJaxpr | core.Jaxpr)


def _rewrite(closed: Any) -> Any:
    """The same ClosedJaxpr with its equations, and those of bodies, rewritten."""
    specs = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in closed.in_avals]
    return jax.make_jaxpr(lambda *values: _run(closed.jaxpr, closed.consts, values))(*specs)


def _run(jaxpr: Any, consts: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Evaluates a Jaxpr, which is being traced, by rules where there are some."""
    environment: dict[Any, Any] = {}

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, core.Literal) else environment[atom]

    environment.update(zip(jaxpr.constvars, consts, strict=True))
    environment.update(zip(jaxpr.invars, values, strict=True))
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        operands = [read(atom) for atom in equation.invars]
        if name in _CALLS:
            results = _call(equation.params[_CALLS[name]], operands)
        elif name in _RULES:
            results = _RULES[name](equation.primitive, operands, **equation.params)
        else:
            results = equation.primitive.bind(*operands, **equation.params)
        if not equation.primitive.multiple_results and name not in _CALLS:
            results = [results]
        environment.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _call(body: Any, operands: Sequence[Any]) -> list[Any]:
    if isinstance(body, core.ClosedJaxpr):
        return _run(body.jaxpr, body.consts, operands)
    return _run(body, (), operands)


def _scan(primitive: Any, operands: Sequence[Any], **params: Any) -> list[Any]:
    before = params["num_consts"] + params["num_carry"]
    carried, rows = list(operands[:before]), list(operands[before:])
    reverse = params["reverse"]
    if reverse:
        rows = [lax.rev(row, (0,)) for row in rows]
    params |= {"jaxpr": _rewrite(params["jaxpr"]), "reverse": False}
    results = primitive.bind(*carried, *rows, **params)
    if not reverse:
        return list(results)
    ends = params["num_carry"]
    return [*results[:ends], *(lax.rev(row, (0,)) for row in results[ends:])]


def _while(primitive: Any, operands: Sequence[Any], **params: Any) -> list[Any]:
    for name in ("cond_jaxpr", "body_jaxpr"):
        params[name] = _rewrite(params[name])
    return list(primitive.bind(*operands, **params))


def _cond(primitive: Any, operands: Sequence[Any], **params: Any) -> list[Any]:
    index, *rest = operands
    branches = list(params["branches"])
    if len(branches) == 1:
        return _call(branches[0], rest)
    if len(branches) == 2:
        params["branches"] = tuple(map(_rewrite, branches))
        return list(primitive.bind(index, *rest, **params))

    def choose(first: int, last: int, values: Sequence[Any]) -> list[Any]:
        if last - first == 1:
            return _call(branches[first], values)
        middle = (first + last) // 2
        results: list[Any] = lax.cond(
            index < middle,
            lambda *values: choose(first, middle, values),
            lambda *values: choose(middle, last, values),
            *values,
        )
        return results

    return choose(0, len(branches), rest)


def _pad(primitive: Any, operands: Sequence[Any], *, padding_config: Sequence[Any]) -> Any:
    value, filler = operands
    for axis, (_, _, inside) in enumerate(padding_config):
        if not inside:
            continue
        # [a, b] with one between them: [[a, 0], [b, 0]], [a, 0, b, 0], [a, 0, b].
        shape = list(value.shape)
        column = lax.expand_dims(value, (axis + 1,))
        edges = [(0, inside if at == axis + 1 else 0, 0) for at in range(len(shape) + 1)]
        column = lax.pad(column, filler, edges)
        shape[axis] *= inside + 1
        value = lax.reshape(column, shape)
        value = (
            lax.slice_in_dim(value, 0, shape[axis] - inside, axis=axis) if shape[axis] else value
        )
    return primitive.bind(
        value, filler, padding_config=tuple((low, high, 0) for low, high, _ in padding_config)
    )


def _dot_general(
    primitive: Any, operands: Sequence[Any], *, dimension_numbers: Any, **params: Any
) -> Any:
    """Products of matrices: [batch .., rows, K] by [batch .., K, columns]."""
    (left_sums, right_sums), (left_batch, right_batch) = dimension_numbers
    a, b = operands
    batch = len(left_batch)
    left_free = [at for at in range(a.ndim) if at not in (*left_sums, *left_batch)]
    right_free = [at for at in range(b.ndim) if at not in (*right_sums, *right_batch)]
    a = _permute(a, (*left_batch, *left_free, *left_sums))
    b = _permute(b, (*right_batch, *right_sums, *right_free))
    free = (*a.shape[batch : batch + len(left_free)], *b.shape[batch + len(right_sums) :])
    shape = (*a.shape[:batch], *free)
    a = _join(_join(a, batch + len(left_free), len(left_sums)), batch, len(left_free))
    b = _join(_join(b, batch + len(right_sums), len(right_free)), batch, len(right_sums))
    numbers = ((batch + 1,), (batch,)), (tuple(range(batch)), tuple(range(batch)))
    product = primitive.bind(a, b, dimension_numbers=numbers, **params)
    return product if product.shape == shape else lax.reshape(product, shape)


def _permute(value: Any, order: Sequence[int]) -> Any:
    return value if list(order) == list(range(value.ndim)) else lax.transpose(value, order)


def _join(value: Any, at: int, count: int) -> Any:
    """Makes one dimension of some that stand beside each other."""
    if count == 1:
        return value
    shape = value.shape
    return lax.reshape(
        value, (*shape[:at], math.prod(shape[at : at + count]), *shape[at + count :])
    )


def _shift(primitive: Any, operands: Sequence[Any], **_: Any) -> Any:
    """Shifts of numbers without signs, by less than their bits, which is all that ONNX has."""
    value, count = jnp.broadcast_arrays(*operands)  # one may be a number
    kind, bits = value.dtype, value.dtype.itemsize * 8
    plain = jnp.dtype(f"uint{bits}")
    unsigned, by = (lax.convert_element_type(one, plain) for one in (value, count))
    # All ones where a number is negative: what comes in from the left.
    is_filled = primitive.name == "shift_right_arithmetic" and kind != plain
    sign = lax.lt(value, lax.full_like(value, 0)) if is_filled else None
    if sign is not None:
        unsigned = lax.select(sign, lax.bitwise_not(unsigned), unsigned)
    most = lax.full_like(by, bits - 1)
    small = lax.min(by, most)
    move = lax.shift_left if primitive.name == "shift_left" else lax.shift_right_logical
    made = lax.select(lax.gt(by, most), lax.full_like(unsigned, 0), move(unsigned, small))
    if sign is not None:
        made = lax.select(sign, lax.bitwise_not(made), made)
    return lax.convert_element_type(made, kind)


def _in_total_order(primitive: Any, operands: Sequence[Any], **_: Any) -> Any:
    """le_to and lt_to: NaN behind all others, and -0 before 0."""
    a, b = jnp.broadcast_arrays(*operands)  # one may be a number
    strict = primitive.name == "lt_to"
    compare = lax.lt if strict else lax.le
    before = compare(a, b)
    if not jnp.issubdtype(a.dtype, jnp.floating):
        return before
    behind = lax.ne(b, b)
    behind = lax.bitwise_and(behind, lax.eq(a, a)) if strict else behind
    zeros = lax.bitwise_and(lax.eq(a, lax.full_like(a, 0)), lax.eq(b, lax.full_like(b, 0)))
    signs = compare(*(lax.div(lax.full_like(one, 1), one) for one in (a, b)))
    return lax.select(zeros, signs, lax.bitwise_or(before, behind))


_RULES: dict[str, Callable[..., Any]] = {
    "scan": _scan,
    "while": _while,
    "cond": _cond,
    "pad": _pad,
    "dot_general": _dot_general,
    "shift_left": _shift,
    "shift_right_arithmetic": _shift,
    "shift_right_logical": _shift,
    "le_to": _in_total_order,
    "lt_to": _in_total_order,
}
