# ===- test_movement_operators.py - Shapes, movement and indexing, by running -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Operators that change shapes or move elements, one node a model.

Each case runs twice: with static shapes and its integer vectors (`Const`) as
initialisers, and with open dimensions and the vectors computed at run time. The
answers are onnxruntime's, or the reference evaluator's where it has none; a case
that expects `ERROR` must fail cleanly, at compile time or at run time.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import loopc
import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

ERROR = "error"
RNG = np.random.default_rng(0)
INT_MAX = 2**63 - 1


@dataclasses.dataclass
class Const:
    """An integer tensor that is an initialiser in one of the two models."""

    value: np.ndarray


@dataclasses.dataclass
class Case:
    """One node, its operands (None where left out) and what it is expected to do."""

    op: str
    inputs: Sequence[Any]
    attributes: dict[str, Any]
    outputs: int = 1
    opset: int = 21
    types: Sequence[int] | None = None
    expect: str | None = None

    def __str__(self) -> str:
        shapes = "_".join(
            "none" if x is None else "c" + "x".join(map(str, x.value.flat)) if isinstance(x, Const)
            else "x".join(map(str, x.shape)) for x in self.inputs)  # fmt: skip
        extra = "_".join(f"{k}={v}" for k, v in self.attributes.items() if k != "value")
        return f"{self.op}-{self.opset}-{shapes}-{extra}"


CASES: list[Case] = []


def case(op: str, *inputs: Any, **options: Any) -> None:
    """Adds a case; what is no field of Case is an attribute."""
    fields = {k: options.pop(k) for k in ("outputs", "opset", "types", "expect") if k in options}
    CASES.append(Case(op, inputs, options, **fields))


def data(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Random elements: normal, integers around 0, or booleans."""
    if dtype == np.bool_:
        return RNG.integers(0, 2, shape).astype(bool)
    if np.issubdtype(dtype, np.integer):
        return RNG.integers(0 if dtype == np.uint8 else -9, 10, shape).astype(dtype)
    return np.asarray(RNG.standard_normal(shape), dtype)


def ints(*values: Any, dtype: Any = np.int64) -> np.ndarray:
    return np.array(values, dtype)


def const(*values: int) -> Const:
    return Const(ints(*values))


def scalar(value: Any, dtype: Any = np.int64) -> Const:
    return Const(np.array(value, dtype))


def shape_cases() -> None:
    for start, end in [(0, 3), (-2, 3), (1, -1), (2, 1)]:
        case("Shape", data(2, 3, 4), start=start, end=end)
    case("Size", data(2, 3))
    case("Size", data())
    for target in ([6, 4], [-1, 4], [0, -1], [0, 0, 4], [24], [2, -1, 2, 1], [1, 24, 1], [2, 12]):
        case("Reshape", data(2, 3, 4), const(*target))
    case("Reshape", data(), const(1, 1))
    case("Reshape", data(1, 1), Const(np.zeros(0, np.int64)))
    case("Reshape", data(0, 3), const(3, 0), allowzero=1)
    case("Reshape", data(0, 6), const(0, 5), allowzero=1)
    case("Reshape", data(0, 10, 3), const(0, -1, 4), allowzero=1, expect=ERROR)
    case("Reshape", data(2, 3), const(0, -1), allowzero=1, expect=ERROR)
    case("Reshape", data(2, 3), opset=4, shape=[3, -1])
    for wrong in ([4, 2], [-1, -1], [4, -1], [-2, 3], [6, 1, 0]):
        case("Reshape", data(2, 3), const(*wrong), expect=ERROR)
    for axes in ([0], [-1], [0, 3], [-1, 0]):
        case("Squeeze", data(1, 2, 3, 1), const(*axes))
        case("Unsqueeze", data(2, 3), const(*axes))
    case("Unsqueeze", data(2, 3), const(3), expect=ERROR)
    case("Squeeze", data(1, 2), const(1), expect=ERROR)
    case("Squeeze", data(1, 2, 1), opset=11, axes=[0, -1])
    case("Unsqueeze", data(3), opset=11, axes=[0, 2])
    # Before opset 11 no axis was to be negative, and exporters wrote negative ones.
    for axes in ([-2], [-1, 0], [0, 3]):
        case("Squeeze", data(1, 3, 1, 1), opset=9, axes=axes)
        case("Unsqueeze", data(2, 3), opset=9, axes=axes)
    case("Squeeze", data(1, 3, 1), opset=9, axes=[-4], expect=ERROR)
    case("Unsqueeze", data(2, 3), opset=9, axes=[-4], expect=ERROR)
    for axis in range(-3, 4):
        case("Flatten", data(2, 3, 4), axis=axis)
    for target in ([2, 3], [1], [4, 2, 3], [4, 1, 3]):
        case("Expand", data(2, 3), const(*target))
    case("Expand", data(2, 1, 3), const(4, 1))
    case("Expand", data(1, dtype=np.int64), const(5))
    case("Expand", data(1, 3), const(0, 3))
    case("Expand", data(2, 3), const(2, 4), expect=ERROR)
    case("Expand", data(2, 3), const(-1, 3), expect=ERROR)
    for repeats in ([2, 1], [1, 3], [2, 3], [0, 2]):
        case("Tile", data(2, 3), const(*repeats))
    case("Tile", data(3, dtype=np.int64), const(2))
    case("Tile", data(2), const(-1), expect=ERROR)
    five = numpy_helper.from_array(np.array([5], np.int32))
    case("ConstantOfShape", const(2, 3), value=five, types=[TensorProto.INT32])
    case("ConstantOfShape", Const(np.zeros(0, np.int64)), types=[TensorProto.FLOAT])
    case("ConstantOfShape", const(3, -1), types=[TensorProto.FLOAT], expect=ERROR)
    for dtype, bounds in itertools.product(
        (np.int64, np.int16, np.float32), ((0, 5, 1), (5, 0, -2), (3, 3, 1), (5, 0, 1), (-3, 40, 7))
    ):
        case("Range", *(scalar(v, dtype) for v in bounds))
    case("Range", *(scalar(v, np.float32) for v in (0, 0.3, 0.1)))
    case("Range", *(scalar(v) for v in (0, 5, 0)), expect=ERROR)
    case("Range", *(scalar(v, np.float32) for v in (0, 5, 0)), expect=ERROR)
    case("EyeLike", data(3, 4), k=1, dtype=TensorProto.INT32, types=[TensorProto.INT32])
    case("EyeLike", data(3, 4), k=-1)


def movement_cases() -> None:
    for perm in itertools.permutations(range(3)):
        case("Transpose", data(2, 3, 4), perm=list(perm))
    case("Transpose", data(1, 3, 1, 2), perm=[1, 0, 3, 2])
    case("Transpose", data(2, 0))
    case("Concat", data(2, 3), data(2, 1), data(2, 0), axis=1)
    case("Concat", data(2, dtype=np.int64), data(3, dtype=np.int64), axis=0)
    case("Concat", data(0, 3), data(0, 2), axis=1)
    case("Concat", data(2, 2), data(3, 3), axis=0, expect=ERROR)
    case("Concat", *(data(2, k % 3, 2) for k in range(40)), axis=1)
    case("Concat", *(data(2, 3) for _ in range(39)), data(3, 2), axis=1, expect=ERROR)
    case("Split", data(6, 2), const(2, 4), outputs=2)
    case("Split", data(7), outputs=3, num_outputs=3)
    case("Split", data(4, 6), outputs=2, opset=11, axis=1, split=[1, 5])
    case("Split", data(6), const(0, 6), outputs=2)
    case("Split", data(6), const(3, 4), outputs=2, expect=ERROR)
    case("Split", data(5), outputs=2, opset=13, expect=ERROR)
    for starts, ends, axes, steps in [
        ((1, 2), (4, 6), (0, 1), (1, 1)), ((0, 0), (INT_MAX, INT_MAX), (0, 1), (2, 3)),
        ((-1,), (-INT_MAX - 1,), (0,), (-1,)), ((4, 5), (0, 0), (0, -1), (-1, -2)),
        ((3,), (2,), (0,), (1,)), ((5,), (5,), (0,), (1,)), ((-100,), (100,), (1,), (1,)),
        ((100,), (-100,), (1,), (-3,)), ((1,), (4,), (0,), (INT_MAX,)),
    ]:  # fmt: skip
        case("Slice", data(5, 6), const(*starts), const(*ends), const(*axes), const(*steps))
    case("Slice", data(5, 6), const(1), const(-1))
    case("Slice", data(5, dtype=np.int64), const(-1), const(-9), const(0), const(-1))
    case("Slice", data(0, 6), const(3), const(-9), const(0), const(-1))
    case("Slice", data(5, 6), const(1), const(3), const(0), const(0), expect=ERROR)
    case("Slice", data(5, 6), const(1), const(3), const(2), expect=ERROR)
    case("Slice", data(5, 6), opset=9, starts=[1, 0], ends=[4, -1])
    for mode in ("constant", "edge", "reflect", "wrap"):
        case("Pad", data(3, 4), const(1, 2, 1, 2), mode=mode)
        case("Pad", data(3, 4), const(2, 1), None, const(-1), mode=mode)
        case("Pad", data(2, 3, 4), const(0, 1, 0, 0, 2, 1), mode=mode)
    case("Pad", data(3, 4), const(-1, 2, -1, 0), np.array(7, np.float32))
    case("Pad", data(3), const(-2, -2), expect=ERROR)
    case("Pad", data(0, 2), const(1, 0, 1, 0), mode="edge", expect=ERROR)
    case("Pad", data(2, 3), opset=10, pads=[0, 1, 1, 0], value=2.5)
    for mode in ("DCR", "CRD"):
        case("DepthToSpace", data(2, 8, 3, 2), blocksize=2, mode=mode)
    case("SpaceToDepth", data(2, 3, 4, 6), blocksize=2)
    case("DepthToSpace", data(1, 6, 2, 2), blocksize=2, expect=ERROR)
    case("ReverseSequence", data(4, 3, 2), ints(2, 4, 1))
    case("ReverseSequence", data(3, 4), ints(5, 4, 3), batch_axis=0, time_axis=1, expect=ERROR)
    for upper, k in itertools.product((0, 1), (-3, -1, 0, 2, 9)):
        case("Trilu", data(3, 4), scalar(k), upper=upper)


def indexing_cases() -> None:
    for axis in (0, 1, -1):
        for indices in ([0, 2, -1], 1, -1, [[0, 1], [2, -3]], [[1]], []):
            case("Gather", data(3, 4, 5), np.array(indices, np.int64), axis=axis)
        case("Gather", data(3, 4, 5), ints(0, 9), axis=axis, expect=ERROR)
        case("Gather", data(3, 4, 5), np.array(-6, np.int64), axis=axis, expect=ERROR)
    case("Gather", data(5, dtype=np.int64), const(0, -1))
    case("Gather", data(0, 3), ints(0), expect=ERROR)
    case("GatherElements", data(3, 4), ints([0, -1, 2, 1]), axis=0)
    case("GatherElements", data(3, 4), ints([0], [-1], [4]), axis=1, expect=ERROR)
    for indices, batch in [
        ([[0, 1], [-1, 3]], 0),
        ([1, 2], 0),
        ([1, 2, 3], 0),
        ([[1], [0], [2]], 1),
    ]:
        case("GatherND", data(3, 4, 5), np.array(indices, np.int64), batch_dims=batch)
    case("GatherND", data(3, 4), ints([0, 4]), expect=ERROR)
    for reduction, dtype in itertools.product(
        ("none", "add", "mul", "max", "min"), (np.float32, np.int32, np.float16)
    ):
        options = {"opset": 18, "reduction": reduction}
        twice = ints([0], [2], [-1]) if reduction != "none" else ints([0], [1], [-1])
        case("ScatterElements", data(3, 4, dtype=dtype), ints([0, -1, 2, 1], [1, 1, 1, 0]),
             data(2, 4, dtype=dtype), axis=0, **options)  # fmt: skip
        case("ScatterND", data(3, 4, dtype=dtype), twice, data(3, 4, dtype=dtype), **options)
        case(
            "ScatterND",
            data(3, 4, dtype=dtype),
            ints([0, 1], [2, -1]),
            data(2, dtype=dtype),
            **options,
        )
    case("ScatterElements", data(3, 4), ints([0], [5]), data(2, 1), axis=1, expect=ERROR)
    case("ScatterND", data(4, 3), ints(1), data(3))
    case("ScatterND", data(4, 3), np.zeros((0, 1), np.int64), data(0, 3))
    case("ScatterND", data(4, 3), ints(9), data(3), expect=ERROR)
    case("ScatterND", data(0, 3), ints([0]), data(1, 3), expect=ERROR)
    case("ScatterND", data(4, 3), ints([1]), data(2, 3), expect=ERROR)
    case("OneHot", ints(0, 2, -1, 7), scalar(3), ints(0, 1), types=[TensorProto.INT64])
    case(
        "OneHot", ints([0, 1], [2, -3]), Const(ints(3)), data(2), axis=1, types=[TensorProto.FLOAT]
    )
    case("TensorScatter", data(2, 5, 3), data(2, 2, 3), ints(1, 3), opset=24, axis=1)
    case(
        "TensorScatter", data(2, 5, 3), data(2, 2, 3), ints(4, 3), opset=24, axis=1, mode="circular"
    )
    case("TensorScatter", data(2, 5, 3), data(2, 2, 3), opset=24, axis=1)
    case("TensorScatter", data(2, 5, 3), data(2, 2, 3), ints(1, 4), opset=24, axis=1, expect=ERROR)


def selection_cases() -> None:
    for shape in ((5,), (3, 4), (2, 3, 2), (0, 3)):
        case("NonZero", data(*shape, dtype=np.bool_), types=[TensorProto.INT64])
    case("Compress", data(3, 4), ints(True, False, True, dtype=bool), axis=0)
    case("Compress", data(3, 4), ints(False, True, dtype=bool), axis=-1)
    case("Compress", data(3, 4), ints(False, True, True, False, True, dtype=bool))
    case("Compress", data(2), ints(False, True, True, dtype=bool), axis=0, expect=ERROR)
    for is_sorted, dtype in itertools.product((0, 1), (np.float32, np.int64)):
        few = data(40, dtype=dtype).round()
        types = [helper.np_dtype_to_tensor_dtype(few.dtype)] + [TensorProto.INT64] * 3
        options = {"outputs": 4, "types": types, "sorted": is_sorted}
        case("Unique", few, **options)
        case("Unique", data(0, dtype=dtype), **options)
        case("Unique", data(1, dtype=dtype), **options)
        case("Unique", RNG.integers(0, 2, (2, 7, 2)).astype(dtype), axis=1, **options)


shape_cases()
movement_cases()
indexing_cases()
selection_cases()


def build(case: Case, *, is_open: bool) -> tuple[ModelProto, dict[str, np.ndarray]]:
    """The model of one node and what it is fed."""
    names, inputs, constants, feeds = [], [], [], {}
    for k, operand in enumerate(case.inputs):
        names.append("" if operand is None else f"x{k}")
        if operand is None:
            continue
        value = operand.value if isinstance(operand, Const) else operand
        if isinstance(operand, Const) and not is_open:
            constants.append(numpy_helper.from_array(value, names[-1]))
            continue
        shape: list[Any] = list(value.shape)
        if is_open and not isinstance(operand, Const):
            # How many axes a tuple of indices names must be known.
            is_tuples = case.op in ("GatherND", "ScatterND") and k == 1
            kept = shape[-1:] if is_tuples else []
            shape = [f"d{k}_{j}" for j in range(len(shape) - len(kept))] + kept
        dtype = helper.np_dtype_to_tensor_dtype(value.dtype)
        inputs.append(helper.make_tensor_value_info(names[-1], dtype, shape))
        feeds[names[-1]] = value
    outputs = [f"y{k}" for k in range(case.outputs)]
    first = case.inputs[0]
    first = first.value if isinstance(first, Const) else first
    same = [helper.np_dtype_to_tensor_dtype(first.dtype)] * case.outputs
    types = case.types or ([TensorProto.INT64] if case.op in ("Shape", "Size") else same)
    graph = helper.make_graph(
        [helper.make_node(case.op, names, outputs, **case.attributes)], "g", inputs,
        [helper.make_tensor_value_info(n, t, None) for n, t in zip(outputs, types, strict=True)],
        constants)  # fmt: skip
    opsets = [helper.make_opsetid("", case.opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10), feeds


def expected(case: Case) -> list[np.ndarray]:
    """onnxruntime's answer, or the reference evaluator's."""
    model, feeds = build(case, is_open=False)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    if case.opset >= 7 and case.op != "TensorScatter":
        try:
            session = onnxruntime.InferenceSession(
                model.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
            return session.run(None, feeds)
        except Exception:  # onnxruntime's errors have no common base.
            pass
    if case.op == "Reshape" and "shape" in case.attributes:
        return [feeds["x0"].reshape(case.attributes["shape"])]
    return ReferenceEvaluator(model).run(None, feeds)


@pytest.mark.parametrize("is_open", [False, True], ids=["static", "open"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_operator(case: Case, is_open: bool) -> None:
    model, feeds = build(case, is_open=is_open)
    if case.expect == ERROR:
        with pytest.raises((loopc.CompileError, loopc.RunError)) as caught:
            loopc.InferenceSession(model.SerializeToString()).run(None, feeds)
        assert case.op in str(caught.value)
        return
    got = loopc.InferenceSession(model.SerializeToString()).run(None, feeds)
    for ours, theirs in zip(got, expected(case), strict=True):
        assert ours.shape == np.shape(theirs)
        assert ours.dtype == np.asarray(theirs).dtype
        tolerance = 1e-3 if ours.dtype == np.float16 else 1e-6
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, equal_nan=True)


@pytest.mark.parametrize("target", [[0, 16, -1, 8], [0, -1], [0, 0, -1], [-1, 16, 0, 8]])
@pytest.mark.parametrize("is_given", [False, True], ids=["computed", "given"])
def test_reshape_of_an_empty_batch(target: list[int], is_given: bool) -> None:
    """-1 beside an extent that a run finds 0 is what it is for a batch that is not empty.

    PyTorch's exporter writes such shapes; ONNX's reference refuses them, onnxruntime does not.
    """
    shape = helper.make_node("Mul", ["target", "signs"], ["shape"])
    node = helper.make_node("Reshape", ["x", "target" if is_given else "shape"], ["y"], allowzero=1)
    ports = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 16, "width"]),
        helper.make_tensor_value_info("target", TensorProto.INT64, [len(target)]),
    ]
    signs = numpy_helper.from_array(np.ones(len(target), np.int64), "signs")
    graph = helper.make_graph(
        [node] if is_given else [shape, node], "reshape", ports,
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * len(target))], [signs],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    feeds = {"x": np.zeros((0, 16, 32), np.float32), "target": np.array(target)}
    peer = onnxruntime.InferenceSession(model.SerializeToString())
    session = loopc.InferenceSession(model.SerializeToString())
    assert session.run(None, feeds)[0].shape == peer.run(None, feeds)[0].shape
    with pytest.raises(loopc.RunError, match="Reshape"):
        session.run(None, {**feeds, "x": np.zeros((2, 16, 32), np.float32)})
