# ===- openvino_models.py - Loops of OpenVINO IR, by hand -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models with Loop, TensorIterator and If, built with OpenVINO's Python API.

A model is a function that returns an ``openvino.Model`` and its runs: inputs, and the outputs that
NumPy works out. ``peer=False`` marks the models that OpenVINO's own runtime does not run, or gets
wrong.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import openvino.opset16 as op
from openvino import Model

Run = tuple[dict[str, Any], list[Any]]


@dataclasses.dataclass
class IrModel:
    """A model to be built, and whether OpenVINO runs it right."""

    name: str
    labels: tuple[str, ...]  # of the rules in docs/Spec.md
    build: Callable[[], tuple[Model, list[Run]]]
    peer: bool


MODELS: list[IrModel] = []


def ir_model(
    *labels: str, peer: bool = True
) -> Callable[[Callable[[], tuple[Model, list[Run]]]], None]:
    """Registers the function that builds a model."""

    def add(build: Callable[[], tuple[Model, list[Run]]]) -> None:
        MODELS.append(IrModel(build.__name__, labels, build, peer))

    return add


def f32(values: Any) -> np.ndarray:
    """An array of f32."""
    return np.asarray(values, np.float32)


def i64(values: Any) -> np.ndarray:
    """An array of i64."""
    return np.asarray(values, np.int64)


def const(values: Any) -> Any:
    """A constant."""
    return op.constant(values)


def param(shape: Any, name: str = "", kind: Any = np.float32) -> Any:
    """A Parameter; -1 is an open dimension."""
    made = op.parameter(shape, kind, name=name or None)
    if name:
        made.output(0).set_names({name})
    return made


def port_of(value: Any) -> Any:
    """The output of a layer, or one that is given."""
    return value if hasattr(value, "set_names") else value.output(0)


def model(outputs: Sequence[Any], inputs: Sequence[Any]) -> Model:
    """A model whose outputs are called y0, y1, ..."""
    results = []
    for k, value in enumerate(outputs):
        result = op.result(port_of(value))
        result.output(0).set_names({f"y{k}"})
        results.append(result)
    return Model(results, list(inputs), "model")


@dataclasses.dataclass
class Slice:
    """How an input is cut or an output put together."""

    axis: int = 0
    start: int = 0
    stride: int = 1
    part: int = 1
    end: int = -1


def loop(
    trips: Any,
    cond: Any,
    *,
    results: Sequence[Any],
    counter: Any = None,
    go: Any = None,
    carried: Sequence[tuple[Any, Any, int]] = (),
    sliced: Sequence[tuple[Any, Any, Slice]] = (),
    fixed: Sequence[tuple[Any, Any]] = (),
    outs: Sequence[int | tuple[int, Slice]] = (),
) -> list[Any]:
    """A Loop (a TensorIterator where ``trips`` is None) and its outputs.

    ``carried``: Parameter, initial value, number of the Result. ``outs``: the Result whose last
    value comes out, or with a Slice the Result whose values are concatenated. That of a Loop's
    condition has the number behind the others.
    """
    is_loop = trips is not None
    made = [op.result(value) for value in results]
    parameters = [p for p, *_ in (*carried, *sliced, *fixed)]
    if counter is not None:
        parameters.append(counter)
    all_results = [*made]
    if is_loop:
        all_results.append(op.result(const(True) if go is None else go))
    body = Model(all_results, parameters, "body")
    if is_loop:
        node = op.loop(trips, const(cond) if isinstance(cond, bool) else cond)
        node.set_function(body)
        at = len(parameters) - 1 if counter is not None else -1
        node.set_special_body_ports([at, len(made)])
    else:
        node = op.tensor_iterator()
        node.set_body(body)
    for parameter, value, how in sliced:
        node.set_sliced_input(
            parameter, port_of(value), how.start, how.stride, how.part, how.end, how.axis
        )
    for parameter, value, result in carried:
        node.set_merged_input(parameter, port_of(value), made[result].output(0))
    for parameter, value in fixed:
        node.set_invariant_input(parameter, port_of(value))
    found = []
    for out in outs:
        if isinstance(out, tuple):
            k, how = out
            found.append(
                node.get_concatenated_slices(
                    all_results[k].output(0), how.start, how.stride, how.part, how.end, how.axis
                )
            )
        else:
            found.append(node.get_iter_value(all_results[out].output(0), -1))
    return found


# ===- Trip counts and conditions ---------------------------------------------===#


def _sum_of_numbers(counter: Any, as_shape: list[int], trips: Any) -> Any:
    total = param([], kind=np.int64)
    number = op.convert(op.reshape(counter, const(i64([])), False), "i64") if as_shape else counter
    if not as_shape and counter.get_element_type().get_type_name() != "i64":
        number = op.convert(counter, "i64")
    return loop(
        trips, True, counter=counter, results=[op.add(total, number)],
        carried=[(total, const(i64(0)), 0)], outs=[0],
    )  # fmt: skip


@ir_model("ov_iteration")
def counter_scalar() -> tuple[Model, list[Run]]:
    m = param([], "m", np.int64)
    outs = _sum_of_numbers(param([], kind=np.int64), [], m)
    return model(outs, [m]), [({"m": i64(n)}, [i64(sum(range(n)))]) for n in (1, 2, 5)]


@ir_model("ov_iteration")
def counter_i32_vector() -> tuple[Model, list[Run]]:
    m = param([], "m", np.int64)
    outs = _sum_of_numbers(param([1], kind=np.int32), [1], m)
    return model(outs, [m]), [({"m": i64(4)}, [i64(6)])]


@ir_model("ov_trip_count")
def trips_i32_vector() -> tuple[Model, list[Run]]:
    m = param([1], "m", np.int32)
    outs = _sum_of_numbers(param([], kind=np.int64), [], m)
    return model(outs, [m]), [({"m": np.int32([4])}, [i64(6)])]


@ir_model("ov_trip_count")
def trips_constant() -> tuple[Model, list[Run]]:
    x = param([2], "x")
    a = param([2])
    outs = loop(const(i64(3)), True, results=[op.multiply(a, const(f32(2)))],
                carried=[(a, x, 0)], outs=[0])  # fmt: skip
    return model(outs, [x]), [({"x": f32([1, 2])}, [f32([8, 16])])]


@ir_model("ov_trip_count")
def zero_trips_carried() -> tuple[Model, list[Run]]:
    m, x = param([], "m", np.int64), param([2], "x")
    a = param([2])
    outs = loop(m, True, results=[op.add(a, const(f32(1)))], carried=[(a, x, 0)], outs=[0])
    return model(outs, [m, x]), [
        ({"m": i64(0), "x": f32([1, 2])}, [f32([1, 2])]),
        ({"m": i64(2), "x": f32([1, 2])}, [f32([3, 4])]),
    ]


def _until(trips: Any, limit: float) -> list[Any]:
    """Adds 1 as long as the sum is below a limit."""
    a = param([])
    total = op.add(a, const(f32(1)))
    return loop(trips, True, results=[total], go=op.less(total, const(f32(limit))),
                carried=[(a, const(f32(0)), 0)], outs=[0])  # fmt: skip


@ir_model("ov_trip_count")
def endless_with_condition() -> tuple[Model, list[Run]]:
    x = param([], "x")
    (last,) = _until(const(i64(-1)), 7)
    return model([op.add(last, x)], [x]), [({"x": f32(1)}, [f32(8)])]


@ir_model("ov_trip_count")
def negative_trips_at_run_time() -> tuple[Model, list[Run]]:
    m = param([], "m", np.int64)
    return model(_until(m, 5), [m]), [
        ({"m": i64(-1)}, [f32(5)]),
        ({"m": i64(-7)}, [f32(5)]),
        ({"m": i64(3)}, [f32(3)]),
    ]


@ir_model("ov_trip_count")
def negative_trips_i32() -> tuple[Model, list[Run]]:
    m = param([1], "m", np.int32)
    return model(_until(m, 4), [m]), [({"m": np.int32([-2])}, [f32(4)])]


@ir_model("ov_condition")
def first_condition() -> tuple[Model, list[Run]]:
    c, x = param([], "c", bool), param([2], "x")
    a = param([2])
    outs = loop(const(i64(3)), c, results=[op.add(a, const(f32(1)))],
                carried=[(a, x, 0)], outs=[0])  # fmt: skip
    return model(outs, [c, x]), [
        ({"c": np.bool_(False), "x": f32([1, 2])}, [f32([1, 2])]),
        ({"c": np.bool_(True), "x": f32([1, 2])}, [f32([4, 5])]),
    ]


@ir_model("ov_condition")
def condition_vectors() -> tuple[Model, list[Run]]:
    c = param([1], "c", bool)
    a = param([1])
    total = op.add(a, const(f32([1])))
    outs = loop(const(i64([10])), c, results=[total], go=op.less(total, const(f32([3]))),
                carried=[(a, const(f32([0])), 0)], outs=[0])  # fmt: skip
    return model(outs, [c]), [({"c": np.array([True])}, [f32([3])])]


@ir_model("ov_condition")
def do_while() -> tuple[Model, list[Run]]:
    x = param([], "x")
    a = param([])
    half = op.multiply(a, const(f32(0.5)))
    outs = loop(const(i64(-1)), True, results=[half], go=op.greater(half, const(f32(1))),
                carried=[(a, x, 0)], outs=[0])  # fmt: skip
    return model(outs, [x]), [({"x": f32(0.5)}, [f32(0.25)]), ({"x": f32(10)}, [f32(0.625)])]


# ===- Slices -----------------------------------------------------------------===#


def _row_sums(shape: list[int], how: Slice, part_shape: list[int], name: str = "x") -> Any:
    """Carries the sum of the slices and concatenates twice each."""
    m, x = param([], "m", np.int64), param(shape, name)
    part, total = param(part_shape), param(part_shape)
    outs = loop(
        m, True,
        results=[op.add(total, part), op.multiply(part, const(f32(2)))],
        carried=[(total, const(np.zeros(part_shape, np.float32)), 0)],
        sliced=[(part, x, how)],
        outs=[0, (1, Slice(axis=how.axis))],
    )  # fmt: skip
    return model(outs, [m, x])


X23 = f32([[1, 2, 3], [4, 5, 6]])


@ir_model("ov_slice")
def slice_axis_0() -> tuple[Model, list[Run]]:
    return _row_sums([2, 3], Slice(), [1, 3]), [
        ({"m": i64(2), "x": X23}, [X23.sum(0, keepdims=True), 2 * X23]),
        ({"m": i64(1), "x": X23}, [X23[:1], 2 * X23[:1]]),
    ]


@ir_model("ov_slice")
def slice_axis_1() -> tuple[Model, list[Run]]:
    return _row_sums([2, 3], Slice(axis=1), [2, 1]), [
        ({"m": i64(3), "x": X23}, [X23.sum(1, keepdims=True), 2 * X23])
    ]


@ir_model("ov_slice", peer=False)
def slice_negative_axis() -> tuple[Model, list[Run]]:
    return _row_sums([2, 3], Slice(axis=-1), [2, 1]), [
        ({"m": i64(3), "x": X23}, [X23.sum(1, keepdims=True), 2 * X23])
    ]


@ir_model("ov_slice", peer=False)
def slice_zero_trips() -> tuple[Model, list[Run]]:
    return _row_sums([2, 3], Slice(), [1, 3]), [
        ({"m": i64(0), "x": X23}, [f32(np.zeros((1, 3))), f32(np.zeros((0, 3)))])
    ]


@ir_model("ov_slice", peer=False)
def slice_start() -> tuple[Model, list[Run]]:
    x = f32(np.arange(8).reshape(4, 2))
    return _row_sums([4, 2], Slice(start=1), [1, 2]), [
        ({"m": i64(3), "x": x}, [x[1:].sum(0, keepdims=True), 2 * x[1:]])
    ]


@ir_model("ov_slice", peer=False)
def slice_backwards_with_fewer_trips() -> tuple[Model, list[Run]]:
    x = f32(np.arange(8).reshape(4, 2))
    return _row_sums([4, 2], Slice(start=-1, stride=-1, end=0), [1, 2]), [
        ({"m": i64(2), "x": x}, [x[2:].sum(0, keepdims=True), 2 * x[:1:-1]])
    ]


@ir_model("ov_slice")
def slice_of_open_length() -> tuple[Model, list[Run]]:
    m, x = param([], "m", np.int64), param([-1, 2], "x")
    part, total = param([1, 2]), param([1, 2])
    outs = loop(m, True, results=[op.add(total, part)],
                carried=[(total, const(f32([[0, 0]])), 0)], sliced=[(part, x, Slice())],
                outs=[0, (0, Slice())])  # fmt: skip
    x3 = f32([[1, 2], [3, 4], [5, 6]])
    return model(outs, [m, x]), [({"m": i64(3), "x": x3}, [x3.sum(0)[None], x3.cumsum(0)])]


# ===- Outputs ----------------------------------------------------------------===#


@ir_model("ov_concat", peer=False)
def concat_negative_axis() -> tuple[Model, list[Run]]:
    m, x = param([], "m", np.int64), param([2, 1], "x")
    a = param([2, 1])
    outs = loop(m, True, results=[op.add(a, const(f32(1)))], carried=[(a, x, 0)],
                outs=[(0, Slice(axis=-1))])  # fmt: skip
    return model(outs, [m, x]), [
        ({"m": i64(3), "x": f32([[0], [10]])}, [f32([[1, 2, 3], [11, 12, 13]])])
    ]


@ir_model("ov_concat")
def collects_the_old_state() -> tuple[Model, list[Run]]:
    m, x = param([], "m", np.int64), param([1], "x")
    a = param([1])
    outs = loop(m, True, results=[op.add(a, const(f32(1))), a], carried=[(a, x, 0)],
                outs=[0, (1, Slice())])  # fmt: skip
    return model(outs, [m, x]), [({"m": i64(3), "x": f32([5])}, [f32([8]), f32([5, 6, 7])])]


@ir_model("ov_loop_concat")
def output_used_twice() -> tuple[Model, list[Run]]:
    m, x = param([], "m", np.int64), param([1], "x")
    a = param([1])
    outs = loop(m, True, results=[op.multiply(a, const(f32(2)))], carried=[(a, x, 0)],
                outs=[0, (0, Slice())])  # fmt: skip
    outs.append(op.add(outs[0], outs[0]))
    return model(outs, [m, x]), [
        ({"m": i64(2), "x": f32([3])}, [f32([12]), f32([6, 12]), f32([24])])
    ]


def _not_carried() -> Model:
    m, x = param([], "m", np.int64), param([2], "x")
    i, a = param([], kind=np.int64), param([2])
    square = op.multiply(a, op.convert(op.add(i, const(i64(1))), "f32"))
    outs = loop(m, True, counter=i, results=[op.add(a, const(f32(1))), square],
                carried=[(a, x, 0)], outs=[0, 1])  # fmt: skip
    return model(outs, [m, x])


@ir_model("ov_last_value")
def output_not_carried() -> tuple[Model, list[Run]]:
    return _not_carried(), [({"m": i64(3), "x": f32([1, 2])}, [f32([4, 5]), f32([9, 12])])]


@ir_model("ov_last_value", peer=False)
def output_not_carried_zero_trips() -> tuple[Model, list[Run]]:
    return _not_carried(), [({"m": i64(0), "x": f32([1, 2])}, [f32([1, 2]), f32([0, 0])])]


@ir_model("ov_ports")
def swap() -> tuple[Model, list[Run]]:
    m, x, y = param([], "m", np.int64), param([2], "x"), param([2], "y")
    a, b = param([2]), param([2])
    outs = loop(m, True, results=[b, op.add(a, const(f32(1)))],
                carried=[(a, x, 0), (b, y, 1)], outs=[0, 1])  # fmt: skip
    return model(outs, [m, x, y]), [
        ({"m": i64(n), "x": f32([1, 2]), "y": f32([10, 20])}, want)
        for n, want in (
            (1, [f32([10, 20]), f32([2, 3])]),
            (2, [f32([2, 3]), f32([11, 21])]),
            (3, [f32([11, 21]), f32([3, 4])]),
        )
    ]


@ir_model("ov_ports")
def one_result_two_parameters() -> tuple[Model, list[Run]]:
    m, x = param([], "m", np.int64), param([1], "x")
    a, b = param([1]), param([1])
    outs = loop(m, True, results=[op.add(a, b)],
                carried=[(a, x, 0), (b, const(f32([100])), 0)], outs=[0])  # fmt: skip
    return model(outs, [m, x]), [({"m": i64(3), "x": f32([1])}, [f32([404])])]


@ir_model("ov_ports")
def one_value_many_parameters() -> tuple[Model, list[Run]]:
    m, x = param([], "m", np.int64), param([3, 1], "x")
    whole, start, part = param([3, 1]), param([3, 1]), param([1, 1])
    outs = loop(m, True, results=[op.add(op.add(start, whole), part)],
                carried=[(start, x, 0)], sliced=[(part, x, Slice())], fixed=[(whole, x)],
                outs=[0])  # fmt: skip
    x3 = f32([[1], [2], [3]])
    return model(outs, [m, x]), [({"m": i64(3), "x": x3}, [4 * x3 + 6])]


@ir_model("ov_ports")
def carried_value_grows() -> tuple[Model, list[Run]]:
    m, x = param([], "m", np.int64), param([1], "x")
    a = param([-1])
    longer = op.concat([a, op.add(op.reduce_sum(a, const(i64([0])), True), const(f32([1])))], 0)
    outs = loop(m, True, results=[longer], carried=[(a, x, 0)], outs=[0])
    return model(outs, [m, x]), [
        ({"m": i64(3), "x": f32([1])}, [f32([1, 2, 4, 8])]),
        ({"m": i64(0), "x": f32([1])}, [f32([1])]),
    ]


@ir_model("ov_ports")
def carried_boolean() -> tuple[Model, list[Run]]:
    m, x = param([], "m", np.int64), param([2], "x", bool)
    a = param([2], kind=bool)
    outs = loop(m, True, results=[op.logical_not(a)], carried=[(a, x, 0)], outs=[0])
    x2 = np.array([True, False])
    return model(outs, [m, x]), [({"m": i64(n), "x": x2}, [x2 ^ bool(n % 2)]) for n in (0, 1, 2)]


@ir_model("ov_ports")
def carried_integer() -> tuple[Model, list[Run]]:
    m, x = param([], "m", np.int64), param([2], "x", np.int32)
    a = param([2], kind=np.int32)
    outs = loop(m, True, results=[op.multiply(a, const(np.int32(3)))], carried=[(a, x, 0)],
                outs=[0])  # fmt: skip
    return model(outs, [m, x]), [({"m": i64(2), "x": np.int32([1, -2])}, [np.int32([9, -18])])]


# ===- Nesting ----------------------------------------------------------------===#


@ir_model()
def loop_in_loop() -> tuple[Model, list[Run]]:
    m, n = param([], "m", np.int64), param([], "n", np.int64)
    i, total, inner_trips = (param([], kind=np.int64) for _ in range(3))
    j, inner_total, outer_i = (param([], kind=np.int64) for _ in range(3))
    (inner,) = loop(inner_trips, True, counter=j,
                    results=[op.add(inner_total, op.multiply(outer_i, j))],
                    carried=[(inner_total, total, 0)], fixed=[(outer_i, i)], outs=[0])  # fmt: skip
    outs = loop(m, True, counter=i, results=[inner], carried=[(total, const(i64(0)), 0)],
                fixed=[(inner_trips, n)], outs=[0])  # fmt: skip
    want = sum(a * b for a in range(4) for b in range(3))
    return model(outs, [m, n]), [({"m": i64(4), "n": i64(3)}, [i64(want)])]


@ir_model()
def iterator_in_loop() -> tuple[Model, list[Run]]:
    m, x = param([], "m", np.int64), param([3, 2], "x")
    whole, total = param([3, 2]), param([1, 2])
    part, inner_total = param([1, 2]), param([1, 2])
    (inner,) = loop(None, None, results=[op.add(inner_total, part)],
                    carried=[(inner_total, total, 0)], sliced=[(part, whole, Slice())],
                    outs=[0])  # fmt: skip
    outs = loop(m, True, results=[inner], carried=[(total, const(f32([[0, 0]])), 0)],
                fixed=[(whole, x)], outs=[0])  # fmt: skip
    x3 = f32([[1, 2], [3, 4], [5, 6]])
    return model(outs, [m, x]), [({"m": i64(2), "x": x3}, [2 * x3.sum(0, keepdims=True)])]


def _if(cond: Any, value: Any, then: Any, other: Any) -> Any:
    """An If whose branches are functions of one value."""
    node = op.if_op(cond.output(0))
    shape = value.output(0).get_partial_shape()
    a, b = param(shape), param(shape)
    results = [op.result(then(a)), op.result(other(b))]
    node.set_then_body(Model([results[0]], [a], "then"))
    node.set_else_body(Model([results[1]], [b], "else"))
    node.set_input(value.output(0), a, b)
    return node.set_output(results[0], results[1])


@ir_model()
def if_in_loop() -> tuple[Model, list[Run]]:
    m, x = param([], "m", np.int64), param([1], "x")
    i, a = param([], kind=np.int64), param([1])
    even = op.equal(op.mod(i, const(i64(2))), const(i64(0)))
    chosen = _if(even, a, lambda v: op.add(v, const(f32([1]))),
                 lambda v: op.multiply(v, const(f32([10]))))  # fmt: skip
    outs = loop(m, True, counter=i, results=[chosen], carried=[(a, x, 0)],
                outs=[0, (0, Slice())])  # fmt: skip
    return model(outs, [m, x]), [
        ({"m": i64(4), "x": f32([0])}, [f32([110]), f32([1, 10, 11, 110])])
    ]


@ir_model()
def loop_in_if() -> tuple[Model, list[Run]]:
    c, x = param([], "c", bool), param([1], "x")

    def doubled(v: Any) -> Any:
        a = param([1])
        return loop(const(i64(3)), True, results=[op.add(a, a)], carried=[(a, v, 0)], outs=[0])[0]

    chosen = _if(c, x, doubled, lambda v: op.negative(v))
    return model([chosen], [c, x]), [
        ({"c": np.bool_(True), "x": f32([1])}, [f32([8])]),
        ({"c": np.bool_(False), "x": f32([1])}, [f32([-1])]),
    ]


@ir_model()
def if_of_different_shapes() -> tuple[Model, list[Run]]:
    c, x = param([], "c", bool), param([-1], "x")
    chosen = _if(c, x, lambda v: op.concat([v, v], 0), lambda v: v)
    return model([op.add(chosen, const(f32(1)))], [c, x]), [
        ({"c": np.bool_(True), "x": f32([1, 2])}, [f32([2, 3, 2, 3])]),
        ({"c": np.bool_(False), "x": f32([1, 2])}, [f32([2, 3])]),
    ]


@ir_model()
def if_of_a_known_extent() -> tuple[Model, list[Run]]:
    """torch's squeeze(2) in a loop: its condition is about an extent, which is known there."""
    m, x = param([], "m", np.int64), param([1, -1], "x")
    a = param([1, -1])
    column = op.unsqueeze(a, const(i64([2])))
    extent = op.gather(op.shape_of(column), const(i64([2])), const(i64(0)))
    row = _if(op.equal(extent, const(i64([1]))), column,
              lambda v: op.squeeze(v, const(i64([2]))), lambda v: v)  # fmt: skip
    product = op.matmul(row, const(f32([[2.0]])), True, False)
    outs = loop(m, True, results=[op.reshape(product, const(i64([1, -1])), False)],
                carried=[(a, x, 0)], outs=[0])  # fmt: skip
    return model(outs, [m, x]), [({"m": i64(3), "x": f32([[1, 5]])}, [f32([[8, 40]])])]


# ===- TensorIterator ---------------------------------------------------------===#


def _iterate(
    length: int, how: Slice, out: Slice | None = None, *, open_length: bool = False
) -> Model:
    x = param([-1 if open_length else length, 2], "x")
    part, total = param([how.part, 2]), param([1, 2])
    total_next = op.add(total, op.reduce_sum(part, const(i64([0])), True))
    outs = loop(None, None, results=[total_next, op.multiply(part, const(f32(10)))],
                carried=[(total, const(f32([[0, 0]])), 0)], sliced=[(part, x, how)],
                outs=[0, (1, out or Slice(stride=how.part, part=how.part))])  # fmt: skip
    return model(outs, [x])


X62 = f32(np.arange(12).reshape(6, 2))


def _iterated(read: np.ndarray, written: np.ndarray | None = None) -> list[Run]:
    written = read if written is None else written
    return [({"x": X62}, [read.sum(0, keepdims=True), 10 * written])]


@ir_model("ov_iterator_parts")
def iterator() -> tuple[Model, list[Run]]:
    return _iterate(6, Slice()), _iterated(X62)


@ir_model("ov_iterator_parts")
def iterator_open_length() -> tuple[Model, list[Run]]:
    return _iterate(6, Slice(), open_length=True), _iterated(X62)


@ir_model("ov_iterator_parts")
def iterator_parts() -> tuple[Model, list[Run]]:
    return _iterate(6, Slice(stride=2, part=2)), _iterated(X62)


@ir_model("ov_iterator_parts")
def iterator_backwards() -> tuple[Model, list[Run]]:
    return _iterate(6, Slice(start=-1, stride=-1, end=0)), _iterated(X62[::-1])


@ir_model("ov_iterator_parts")
def iterator_parts_backwards() -> tuple[Model, list[Run]]:
    order = [4, 5, 2, 3, 0, 1]
    how = Slice(start=-1, stride=-2, part=2, end=0)
    return _iterate(6, how), _iterated(X62[order])


@ir_model("ov_iterator_parts")
def iterator_output_backwards() -> tuple[Model, list[Run]]:
    out = Slice(start=-1, stride=-1, end=0)
    return _iterate(6, Slice(), out), _iterated(X62, X62[::-1])


@ir_model("ov_iterator_parts")
def iterator_both_backwards() -> tuple[Model, list[Run]]:
    how = Slice(start=-1, stride=-2, part=2, end=0)
    return _iterate(6, how, how), _iterated(X62)


@ir_model("ov_iterator_parts", peer=False)
def iterator_start() -> tuple[Model, list[Run]]:
    return _iterate(6, Slice(start=2)), _iterated(X62[2:])


@ir_model("ov_iterator_parts", peer=False)
def iterator_end_from_behind() -> tuple[Model, list[Run]]:
    return _iterate(6, Slice(start=1, end=-2)), _iterated(X62[1:5])


@ir_model("ov_iterator_parts", peer=False)
def iterator_backwards_to_the_middle() -> tuple[Model, list[Run]]:
    return _iterate(6, Slice(start=-2, stride=-1, end=2)), _iterated(X62[4:1:-1])


@ir_model("ov_iterator_parts")
def iterator_two_inputs() -> tuple[Model, list[Run]]:
    x, y = param([3, 2], "x"), param([2, 3], "y")
    a, b = param([1, 2]), param([2, 1])
    outs = loop(None, None, results=[op.matmul(a, b, False, False)],
                sliced=[(a, x, Slice()), (b, y, Slice(axis=1))],
                outs=[0, (0, Slice(axis=1))])  # fmt: skip
    x3, y3 = f32(np.arange(6).reshape(3, 2)), f32(np.arange(6).reshape(2, 3))
    want = f32([[x3[k] @ y3[:, k] for k in range(3)]])
    return model(outs, [x, y]), [({"x": x3, "y": y3}, [want[:, -1:], want])]
