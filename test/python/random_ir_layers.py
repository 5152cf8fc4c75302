# ===- random_ir_layers.py - Random layers of OpenVINO IR -------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Layers of OpenVINO's opsets 1 to 16 with random attributes and operands, in bodies of loops.

A layer is made by OpenVINO's own builder. `PLACES` has it by itself, in a TensorIterator
that cuts its operands from longer ones, in a Loop that looks them up by the number of the
iteration, and in an If in a Loop. To make another layer, write a function that takes a `Draw`
and gives a `Layer`, in one of the files beside this one, and name it in `LAYERS`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import random_ir_elements as elements
import random_ir_more as more
import random_ir_movement as movement
import random_ir_windows as windows
from openvino import Model
from openvino_models import Slice, const, i64, loop, model, param
from random_corners import Draw
from random_ir_base import OPSETS, Array, Layer

LAYERS: tuple[Callable[[Draw], Layer], ...] = (
    elements.unary, elements.unary, elements.bounded, elements.with_numbers,
    elements.with_numbers, elements.clamp_integers, elements.binary, elements.binary,
    elements.binary, elements.pdpd_broadcast, elements.shifts, elements.logical_not,
    elements.select, elements.prelu, elements.convert, elements.convert_like,
    elements.fake_quantize, elements.reduction, elements.reduction, elements.softmax,
    elements.cumsum, elements.mvn, elements.mvn2, elements.normalize_l2, elements.lrn,
    elements.grn, elements.group_normalization, elements.batch_norm, elements.topk,
    elements.non_zero, elements.unique, elements.search_sorted, elements.bucketize,
    movement.strided_slice, movement.strided_slice, movement.slice8, movement.gather,
    movement.gather_elements, movement.gather_nd, movement.scatter, movement.scatter,
    movement.rearrange, movement.rearrange, movement.joins, movement.rearrange,
    movement.reverse_sequence, movement.one_hot, movement.blocks, windows.matmul,
    windows.einsum, windows.attention, windows.convolution, windows.backprop, windows.pooling,
    windows.pooling, windows.adaptive, windows.patches, windows.interpolate,
    windows.interpolate, windows.grid_sample, windows.roi_align, windows.recurrent,
    windows.recurrent, windows.embedding, windows.fourier, windows.generators,
    more.typed_binary, more.typed_binary, more.typed_reduction, more.typed_movement,
    more.typed_movement, more.interpolate_any, more.boxes, more.decoder, more.video, more.regions,
    more.narrow_floats, more.old_cell, more.resized_by_version_1,
)  # fmt: skip


def random_layer(seed: int) -> Layer:
    """The layer of that number."""
    draw = Draw(seed)
    kind = LAYERS[seed % len(LAYERS)]
    made = kind(draw)
    for one in made.sets:
        for k in made.constants:
            one[k] = made.sets[0][k]
    made.name = made.name or kind.__name__
    return made


def outputs_of(layer: Layer, operands: Sequence[Any]) -> list[Any]:
    """The layer on these operands: its outputs."""
    return list(layer.make(*operands).outputs())


def alone(layer: Layer, one: list[Array], is_open: bool = False) -> tuple[Model, dict[str, Array]]:
    """The layer by itself, and its inputs."""
    operands, inputs, feeds = [], [], {}
    for k, value in enumerate(one):
        if k in layer.constants:
            operands.append(const(value))
            continue
        shape = [-1] * value.ndim if is_open else list(value.shape)
        operands.append(param(shape, f"x{k}", value.dtype))
        inputs.append(operands[-1])
        feeds[f"x{k}"] = value
    return model(outputs_of(layer, operands), inputs), feeds


def resized(layer: Layer, draw: Draw, count: int = 4) -> list[list[Array]]:
    """Operands with other extents: where several axes have one, it is another one in all."""
    found = []
    for _ in range(count):
        one = list(draw.choice(layer.sets))
        known = sorted({d for k, v in enumerate(one) if k not in layer.constants for d in v.shape})
        for old in draw.sample(known, min(len(known), draw.choice((1, 1, 2)))):
            new = draw.choice((0, 1, 1, 2, 3, 7))
            for k, value in enumerate(one):
                if k in layer.constants:
                    continue
                for axis in [a for a, d in enumerate(value.shape) if d == old]:
                    if old or not new:  # What is sorted stays so.
                        value = np.take(value, range(new), axis, mode="clip")
                    else:
                        shape = [new if a == axis else d for a, d in enumerate(value.shape)]
                        value = np.asarray(draw.values(value.dtype, shape, odd=False))
                one[k] = value
        found.append(one)
    return found


# ===- Where layers stand -----------------------------------------------------===#


@dataclasses.dataclass
class Placed:
    """A model, its inputs, the sets of operands that count, and what comes out.

    The outputs are those of the layer on the last set; `stacked` of them are followed by those of
    all sets, one after the other along a new axis.
    """

    model: Model
    feeds: dict[str, Array]
    sets: list[list[Array]]
    stacked: int = 0


def in_iterator(layer: Layer, draw: Draw, is_open: bool, _: bool) -> Placed:
    """In a TensorIterator: each iteration's operands are cut from longer ones."""
    sliced, fixed, inputs, operands, feeds = [], [], [], [], {}
    sets = [list(one) for one in layer.sets]
    for k, value in enumerate(layer.sets[0]):
        if k in layer.constants:
            operands.append(const(value))
            continue
        if value.ndim and min(value.shape) > 0:
            axis = draw.randrange(value.ndim)
            whole = np.concatenate([one[k] for one in layer.sets], axis)
            how = Slice(axis, 0, value.shape[axis], value.shape[axis], -1)
        else:
            whole, how = value, None
            for one in sets:
                one[k] = value
        outer = param([-1] * whole.ndim if is_open else list(whole.shape), f"x{k}", whole.dtype)
        shape = list(value.shape)
        if is_open:
            shape = [d if how and a == how.axis else -1 for a, d in enumerate(shape)]
        inner = param(shape, kind=value.dtype)
        (sliced if how else fixed).append((inner, outer, how) if how else (inner, outer))
        operands.append(inner)
        inputs.append(outer)
        feeds[f"x{k}"] = whole
    outputs = outputs_of(layer, operands)
    if not sliced:
        raise ValueError("nothing that a TensorIterator could cut")
    found = loop(None, None, results=outputs, sliced=sliced, fixed=fixed,
                 outs=list(range(len(outputs))))  # fmt: skip
    return Placed(model(found, inputs), feeds, sets)


def in_loop(layer: Layer, draw: Draw, is_open: bool, stacks: bool, branch: bool = False) -> Placed:
    """In a Loop, which looks its operands up; `branch`: in an If there."""
    fixed, inputs, operands, feeds = [], [], [], {}
    counter = param([], kind=np.int64)
    new = OPSETS[8]
    for k, value in enumerate(layer.sets[0]):
        if k in layer.constants:
            operands.append(const(value))
            continue
        whole = np.stack([one[k] for one in layer.sets])
        shape = [-1] * whole.ndim if is_open else list(whole.shape)
        outer, inner = param(shape, f"x{k}", whole.dtype), param(shape, kind=whole.dtype)
        fixed.append((inner, outer))
        operands.append(new.gather(inner, counter, const(i64(0))))
        inputs.append(outer)
        feeds[f"x{k}"] = whole
    if branch:
        outputs = _in_branch(layer, operands, new.greater(counter, const(i64(1))))
    else:
        outputs = outputs_of(layer, operands)
    results, outs = list(outputs), list(range(len(outputs)))
    stacked = 0
    if stacks:
        stacked = len(outputs)
        results += [new.unsqueeze(o, const(i64([0]))) for o in outputs]
        outs += [(len(outputs) + k, Slice(0)) for k in range(len(outputs))]
    trips = param([], "trips", np.int64)
    feeds["trips"] = i64(len(layer.sets))
    found = loop(trips, True, counter=counter, results=results, fixed=fixed, outs=outs)
    return Placed(model(found, [*inputs, trips]), feeds, layer.sets, stacked)


def in_branch(layer: Layer, draw: Draw, is_open: bool, stacks: bool) -> Placed:
    """In both branches of an If in a Loop."""
    return in_loop(layer, draw, is_open, stacks, branch=True)


def _as_parameter(value: Any) -> Any:
    shape = value.get_partial_shape()
    if shape.rank.is_dynamic:
        return OPSETS[8].parameter(shape, value.get_element_type())
    extents = [-1 if d.is_dynamic else d.get_length() for d in shape]
    return OPSETS[8].parameter(extents, value.get_element_type())


def _in_branch(layer: Layer, operands: Sequence[Any], condition: Any) -> list[Any]:
    new = OPSETS[8]
    made = new.if_op(condition.output(0))
    names = [k for k in range(len(operands)) if k not in layer.constants]
    bodies = []
    for _ in range(2):
        inner = {k: _as_parameter(operands[k].output(0)) for k in names}
        values = [inner[k] if k in inner else const(layer.sets[0][k]) for k in range(len(operands))]
        results = [new.result(v) for v in outputs_of(layer, values)]
        bodies.append((Model(results, list(inner.values()), "branch"), inner, results))
    made.set_then_body(bodies[0][0])
    made.set_else_body(bodies[1][0])
    for k in names:
        made.set_input(operands[k].output(0), bodies[0][1][k], bodies[1][1][k])
    return [made.set_output(*pair) for pair in zip(bodies[0][2], bodies[1][2], strict=True)]


def by_itself(layer: Layer, draw: Draw, is_open: bool, _: bool) -> Placed:
    """Nowhere else."""
    return Placed(*alone(layer, layer.sets[-1], is_open), layer.sets)


#: Where a layer is put.
PLACES = {"alone": by_itself, "iterator": in_iterator, "loop": in_loop, "branch": in_branch}
