# ===- _torch_operators.py - torch's operators by others ----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Decompositions of operators that torch's exporter to ONNX neither writes nor takes apart.

Each is a function of torch, of tensors of any rank, whose extents may be open where a comment
says nothing else.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any


@contextlib.contextmanager
def known_operators() -> Iterator[None]:
    """While torch writes ONNX: these beside the decompositions that torch has.

    The caller sees to it that one thread at a time does this (`any_length`).
    """
    from torch._decomp import decomposition_table

    own = operator_decompositions()
    before = {one: decomposition_table[one] for one in own if one in decomposition_table}
    try:
        decomposition_table.update(own)
        yield
    finally:
        for one in own.keys() - before.keys():
            del decomposition_table[one]
        decomposition_table.update(before)


def operator_decompositions() -> dict[Any, Callable[..., Any]]:
    """By the operator."""
    import torch

    aten = torch.ops.aten
    return {
        aten._adaptive_avg_pool3d.default: _adaptive_average,
        aten._cdist_forward.default: _distances,
        aten.adaptive_max_pool2d.default: _adaptive_maximum,
        aten.adaptive_max_pool3d.default: _adaptive_maximum,
        aten.aminmax.default: _smallest_and_largest,
        aten.bucketize.Scalar: lambda x, edges, **how: _searched(edges, x, **how),
        aten.bucketize.Tensor: lambda x, edges, **how: _searched(edges, x, **how),
        aten.copysign.Tensor: _copy_sign,
        aten.cummax.default: lambda x, dim: _running(x, dim, torch.ge),
        aten.cummin.default: lambda x, dim: _running(x, dim, torch.le),
        aten.cumprod.default: _running_product,
        aten.fmax.default: lambda a, b: _without_nan(torch.maximum, a, b),
        aten.fmin.default: lambda a, b: _without_nan(torch.minimum, a, b),
        aten.hypot.default: _hypotenuse,
        aten.index_reduce.default: _reduced_at,
        aten.kthvalue.default: lambda x, k, dim=-1, keepdim=False: _of_order(
            x, k - 1, dim, keepdim, nan=False
        ),
        aten.masked_select.default: _selected,
        aten.median.default: lambda x: _median(x.flatten(), 0)[0],
        aten.median.dim: _median,
        aten.nanmedian.default: lambda x: _nan_median(x.flatten(), 0)[0],
        aten.nanmedian.dim: _nan_median,
        aten.scatter.reduce: _scattered,
        aten.scatter.value_reduce: _scattered,
        aten.searchsorted.Scalar: _searched,
        aten.searchsorted.Tensor: _searched,
        # ONNX's TopK has equal values in the order of their places.
        aten.sort.stable: lambda x, *, stable=None, dim=-1, descending=False: x.sort(
            dim, descending
        ),
    }


def written_wrong(call: Any) -> Callable[..., Any] | None:
    """A decomposition of a call that torch's exporter writes wrong, though it has the operator.

    It is called for other calls of the operator, too, which it leaves as they are.
    """
    import torch

    aten = torch.ops.aten
    if call.target is aten.scatter_reduce.two:
        include_self = call.kwargs.get("include_self", True)
        return None if _is_scatter_written(call.args[4], include_self) else _scatter_reduced
    if call.target in (aten.avg_pool2d.default, aten.avg_pool3d.default):
        return _average_pool if len(call.args) > 6 and call.args[6] is not None else None
    products = {
        aten.addbmm.default: lambda x, a, b, **how: _only_product((a @ b).sum(0), **how),
        aten.addmv.default: lambda x, a, b, **how: _only_product(a @ b, **how),
        aten.addr.default: lambda x, a, b, **how: _only_product(torch.outer(a, b), **how),
        aten.baddbmm.default: lambda x, a, b, **how: _only_product(a @ b, **how),
    }
    # Other names of operators: torch's exporter gives these operands of two types.
    names: dict[Any, Callable[..., Any]] = {
        aten.divide.Tensor: aten.div.Tensor,
        aten.multiply.Tensor: aten.mul.Tensor,
        aten.subtract.Tensor: aten.sub.Tensor,
        aten.true_divide.Tensor: aten.div.Tensor,
    }
    if call.target in names:
        return names[call.target]
    if call.target in products:
        return products[call.target] if call.kwargs.get("beta", 1) == 0 else None
    if call.target not in (aten.linalg_vector_norm.default, aten.prod.dim_int):
        return None
    if call.args[0].meta["val"].dim():
        return None
    return _scalar_product if call.target is aten.prod.dim_int else _scalar_norm


def _only_product(product: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """What is added, if nothing of it is: NaN times zero would be NaN."""
    return product * alpha if beta == 0 else NotImplemented


def _average_pool(
    x: Any, window: Sequence[int], stride: Sequence[int] = (), padding: Sequence[int] = (0,),
    ceil_mode: bool = False, count_include_pad: bool = True, divisor: int | None = None,
) -> Any:  # fmt: skip
    """Sums over a number that is given, which torch leaves out."""
    import torch

    if divisor is None:
        return NotImplemented
    rank = len(window)
    steps = list(stride or window) if len(stride or window) == rank else list(stride) * rank
    before = list(padding) if len(padding) == rank else list(padding) * rank
    pads: list[Any] = []
    for extent, size, step, pad in zip(x.shape[-rank:], window, steps, before, strict=True):
        behind = pad
        if ceil_mode:
            count = -((size - extent - 2 * pad) // step) + 1
            # A window that begins behind the axis and its padding is none.
            count = count - 1 if (count - 1) * step >= extent + pad else count
            behind = (count - 1) * step + size - extent - pad
        pads = [pad, behind, *pads]
    pool = torch.ops.aten.avg_pool2d if rank == 2 else torch.ops.aten.avg_pool3d
    sums = pool(torch.constant_pad_nd(x, pads), window, steps) * math.prod(window)
    return sums / divisor


def _is_scatter_written(reduce: str, include_self: bool) -> bool:
    """torch writes an average as what is there last, and infinities as the largest numbers."""
    return reduce != "mean" and (include_self or reduce not in ("amax", "amin"))


def _scatter_reduced(
    x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    import torch

    if _is_scatter_written(reduce, include_self):
        return NotImplemented
    if x.dim() == 0:
        rows = (x.reshape(1), 0, index.reshape(-1), source.reshape(-1), reduce)
        return _scatter_reduced(*rows, include_self=include_self).reshape(())
    if reduce != "mean":
        x = x.scatter(dim, index, _extreme(x.dtype, reduce == "amax"))
        return x.scatter_reduce(dim, index, source, reduce)
    counts = torch.full_like(x, int(include_self)).scatter_add(dim, index, torch.ones_like(source))
    sums = x.scatter_reduce(dim, index, source, "sum", include_self=include_self)
    rounding = None if x.is_floating_point() or x.is_complex() else "floor"
    return torch.div(sums, counts.clamp(min=1), rounding_mode=rounding)


def _scalar_norm(
    x: Any, order: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """ONNX's operators along axes do not take a scalar."""
    if x.dim():
        return NotImplemented
    x = x if dtype is None else x.to(dtype)
    return (x != 0).to(x.dtype) if order == 0 else x.abs()


def _scalar_product(x: Any, dim: int, keepdim: bool = False, *, dtype: Any = None) -> Any:
    if x.dim():
        return NotImplemented
    dtype = dtype or (x.dtype if x.is_floating_point() or x.is_complex() else _int64())
    return x.to(dtype).clone()


def operator_translations() -> dict[Any, Callable[..., Any]]:
    """What torch's exporter writes wrong, by the operator: translations for it."""
    import torch

    return {torch.ops.aten.signbit.default: _write_sign_bit}


def _write_sign_bit(x: Any) -> Any:
    """torch writes x < 0, which says nothing of -0."""
    from onnxscript.onnx_opset import opset18 as op

    zero = op.CastLike(op.Constant(value_float=0.0), x)
    if not x.dtype.is_floating_point():
        return op.Less(x, zero)
    is_negative_zero = op.And(op.Equal(x, zero), op.Less(op.Reciprocal(x), zero))
    return op.Or(op.Less(x, zero), is_negative_zero)


def _sign_bit(x: Any) -> Any:
    if not x.is_floating_point():
        return x < 0
    # Of zeros the reciprocal tells.
    return (x < 0) | ((x == 0) & (x.reciprocal() < 0))


def _copy_sign(x: Any, sign: Any) -> Any:
    import torch

    kind = torch.result_type(x, sign)
    kind = kind if kind.is_floating_point else torch.get_default_dtype()
    size = x.to(kind).abs()
    return torch.where(_sign_bit(sign), -size, size)


def _without_nan(choose: Callable[..., Any], a: Any, b: Any) -> Any:
    import torch

    kind = torch.result_type(a, b)
    a, b = a.to(kind), b.to(kind)
    if not kind.is_floating_point:
        return choose(a, b)
    return torch.where(a.isnan(), b, torch.where(b.isnan(), a, choose(a, b)))


def _hypotenuse(a: Any, b: Any) -> Any:
    """Of which no square is infinite."""
    import torch

    a, b = a.abs(), b.abs()
    longer, shorter = torch.maximum(a, b), torch.minimum(a, b)
    made = torch.where(longer == 0, longer, longer * (1 + (shorter / longer).square()).sqrt())
    return torch.where(a.isinf() | b.isinf(), math.inf, made)


def _smallest_and_largest(x: Any, *, dim: int | None = None, keepdim: bool = False) -> Any:
    axes = list(range(x.dim())) if dim is None else [dim]
    return x.amin(axes, keepdim), x.amax(axes, keepdim)


# ------------------------------------------------------------- along an axis


def _scan(step: Callable[..., Any], begin: Sequence[Any], rows: Sequence[Any]) -> Sequence[Any]:
    """The rows that the steps give; a step has the carried values and the rows of it."""
    import torch

    def body(*values: Any) -> list[Any]:
        carried, made = step(values[: len(begin)], values[len(begin) :])
        # What is carried and what is collected must not be one tensor.
        return [*carried, *(one.clone() for one in made)]

    made = torch.ops.higher_order.scan(body, list(begin), list(rows), ())
    return list(made[len(begin) :])


def _running_product(x: Any, dim: int, *, dtype: Any = None) -> Any:
    if x.dim() == 0:
        return x.clone() if dtype is None else x.to(dtype)
    dtype = dtype or (x.dtype if x.is_floating_point() or x.is_complex() else _int64())
    rows = x.to(dtype).movedim(dim, 0)

    def step(carried: Sequence[Any], row: Sequence[Any]) -> Any:
        product = carried[0] * row[0]
        return (product,), (product,)

    (made,) = _scan(step, [rows.new_ones(rows.shape[1:])], [rows])
    return made.movedim(0, dim)


def _running(x: Any, dim: int, better: Callable[..., Any]) -> tuple[Any, Any]:
    """cummax and cummin: of equal values the last one, and NaN from where it is on."""
    import torch

    if x.dim() == 0:
        return x.clone(), torch.zeros_like(x, dtype=_int64())
    rows = x.movedim(dim, 0)
    places = torch.arange(rows.shape[0]).reshape(-1, *([1] * (rows.dim() - 1))).expand(rows.shape)
    least = torch.full_like(rows[0], _extreme(x.dtype, better is torch.ge))

    def step(carried: Sequence[Any], row: Sequence[Any]) -> Any:
        is_new = better(row[0], carried[0])
        if x.is_floating_point():
            is_new = (is_new & ~carried[0].isnan()) | row[0].isnan()
        best = torch.where(is_new, row[0], carried[0])
        place = torch.where(is_new, row[1], carried[1])
        return (best, place), (best, place)

    begin = [least, torch.zeros_like(rows[0], dtype=_int64())]
    values, found = _scan(step, begin, [rows, places])
    return values.movedim(0, dim), found.movedim(0, dim)


def _int64() -> Any:
    import torch

    return torch.int64


def _extreme(dtype: Any, is_least: bool) -> Any:
    """What every value of a type is at least, or at most."""
    import torch

    if dtype.is_floating_point:
        return -math.inf if is_least else math.inf
    if dtype is torch.bool:
        return not is_least
    limits = torch.iinfo(dtype)
    return limits.min if is_least else limits.max


def _of_order(x: Any, place: Any, dim: int, keepdim: bool, nan: bool) -> tuple[Any, Any]:
    """The values at a place (a number, or a tensor with one for each row) in order."""
    import torch

    if x.dim() == 0:
        return x.clone(), torch.zeros_like(x, dtype=_int64())
    values, places = x.sort(dim)
    if isinstance(place, int):
        value, found = values.narrow(dim, place, 1), places.narrow(dim, place, 1)
    else:
        value, found = values.gather(dim, place), places.gather(dim, place)
    if nan and x.is_floating_point():
        # NaN are last in order: where there is one, the last is.
        last = values.narrow(dim, -1, 1)
        first = x.isnan().to(torch.int32).argmax(dim, True)
        value = torch.where(last.isnan(), last, value)
        found = torch.where(last.isnan(), first, found)
    return (value, found) if keepdim else (value.squeeze(dim), found.squeeze(dim))


def _median(x: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    """The lower one of two; NaN where there is one. The extent of the axis is known."""
    count = x.shape[dim] if x.dim() else 1
    return _of_order(x, (count - 1) // 2, dim, keepdim, nan=True)


def _nan_median(x: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    if not x.is_floating_point() or x.dim() == 0:
        return _median(x, dim, keepdim)
    counts = (~x.isnan()).sum(dim, keepdim=True)
    return _of_order(x, ((counts - 1) // 2).clamp(min=0), dim, keepdim, nan=False)


def _selected(x: Any, mask: Any) -> Any:
    import torch

    x, mask = torch.broadcast_tensors(x, mask)
    return x.flatten()[mask.flatten().nonzero().squeeze(1)]


# ------------------------------------------------------------- places


def _searched(
    rows: Any, x: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
    sorter: Any = None,
) -> Any:  # fmt: skip
    """How many of a sorted row are less than a value, or not greater; the row's extent is known.

    By halves: from the largest power of two on, so many more as are.
    """
    import torch

    x = torch.as_tensor(x, dtype=rows.dtype) if not isinstance(x, torch.Tensor) else x
    if sorter is not None:
        rows = rows.gather(-1, sorter)
    kind = torch.result_type(rows, x)
    rows, x = rows.to(kind), x.to(kind)
    count = rows.shape[-1]
    found = torch.zeros_like(x, dtype=_int64())
    for bit in reversed(range(int(count).bit_length())):
        more = found + (1 << bit)
        place = (more - 1).clamp(max=count - 1)
        if rows.dim() == 1:
            other = rows.index_select(0, place.flatten()).reshape(place.shape)
        else:
            other = rows.gather(-1, place)
        # Comparisons as torch has them, with NaN at the end.
        is_before = ~(other > x) if right or side == "right" else ~(other >= x)
        found = torch.where((more <= count) & is_before, more, found)
    return found.to(torch.int32) if out_int32 else found


def _reduced_at(
    x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """index_reduce: rows that are put together with others."""
    if x.dim() == 0:
        rows = (x.unsqueeze(0), 0, index.reshape(-1), source.reshape(-1), reduce)
        return _reduced_at(*rows, include_self=include_self).squeeze(0)
    shape = [1] * x.dim()
    shape[dim] = -1
    places = index.reshape(shape).expand(source.shape)
    if not _is_scatter_written(reduce, include_self):
        return _scatter_reduced(x, dim, places, source, reduce, include_self=include_self)
    return x.scatter_reduce(dim, places, source, reduce, include_self=include_self)


def _scattered(x: Any, dim: int, index: Any, value: Any, *, reduce: str) -> Any:
    """scatter with a reduction, by torch's other name of it."""
    import torch

    if not isinstance(value, torch.Tensor):
        value = torch.full_like(index, value, dtype=x.dtype)
    return x.scatter_reduce(dim, index, value, {"add": "sum", "multiply": "prod"}[reduce])


# ------------------------------------------------------------- windows, distances


def _windows(extent: int, count: int) -> tuple[Any, Any]:
    """The first and the last place of each window of an adaptive pooling, as columns."""
    import torch

    number = torch.arange(count).unsqueeze(1)
    return number * extent // count, ((number + 1) * extent + count - 1) // count - 1


def _adaptive_average(x: Any, size: Sequence[int]) -> Any:
    """An average along each axis after the other."""
    import torch

    for axis, count in enumerate(size, x.dim() - len(size)):
        first, last = _windows(x.shape[axis], count)
        place = torch.arange(x.shape[axis])
        weights = ((place >= first) & (place <= last)) / (last - first + 1).to(x.dtype)
        x = (x.movedim(axis, -1) @ weights.t()).movedim(-1, axis)
    return x


def _adaptive_maximum(x: Any, size: Sequence[int]) -> tuple[Any, Any]:
    """The extents of the pooled axes are known."""
    import torch

    rank, first = len(size), x.dim() - len(size)
    extents = [int(one) for one in x.shape[first:]]
    places = torch.arange(math.prod(extents)).reshape(extents)
    for at, (extent, count) in enumerate(zip(extents, size, strict=True)):
        begin, end = _windows(extent, count)
        longest = max(
            -(-(one + 1) * extent // count) - one * extent // count for one in range(count)
        )
        # Shorter windows have their last place again.
        index = torch.minimum(begin + torch.arange(longest), end).reshape(-1)
        # [.., windows of the axes before, their places, .., this axis, ..]
        places = places.index_select(2 * at, index).unflatten(2 * at, (count, longest))
    order = [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]
    places = places.permute(order).reshape(*size, -1)
    values = x.flatten(first).index_select(-1, places.reshape(-1))
    values = values.unflatten(-1, tuple(places.shape))
    best = values.argmax(-1, True)
    where = places.expand(values.shape).gather(-1, best).squeeze(-1)
    return values.gather(-1, best).squeeze(-1), where


def _distances(a: Any, b: Any, p: float, mode: int | None) -> Any:
    """torch.cdist: the p-norm of each row of a less each row of b."""
    steps = (a.unsqueeze(-2) - b.unsqueeze(-3)).abs()
    if p == 0:
        return (steps != 0).to(a.dtype).sum(-1)
    if p == math.inf:
        return steps.amax(-1)
    if p == 1:
        return steps.sum(-1)
    if p == 2:
        return steps.square().sum(-1).sqrt()
    return steps.pow(p).sum(-1).pow(1 / p)
