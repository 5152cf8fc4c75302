# ===- guard_cases.py - Nodes that fail, and where they must not ------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Operands that operators refuse at run time, one or more cases an operator.

Which operators need a case is not said here: the compiler's own table says which of its
operators can fail (`loopc-opt --print-operators`), and test_guards.py compares.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
F, I64, I32, B, U8 = np.float32, np.int64, np.int32, np.bool_, np.uint8


@dataclasses.dataclass(frozen=True)
class GuardCase:
    """Nodes that compute `o` from operands.

    `good` are operands that fit, `bad` those that replace some of them for the run that must
    fail, `error` is a part of what it must say. The last node of `op` is the one that fails.
    """

    op: str
    text: str
    good: dict[str, Array]
    bad: dict[str, Array]
    error: str
    opset: int = 21
    #: Whether onnxruntime computes the good run.
    ort: bool = True
    #: Whether the error names the iteration: functions of the runtime do not know it.
    counts: bool = True
    #: Whether the extents of operands may be unknown.
    open: bool = True
    note: str = ""

    @property
    def name(self) -> str:
        """What the test is called."""
        return f"{self.op}-{self.note}" if self.note else self.op

    @property
    def domain(self) -> str:
        """The domain of `op` as the table has it."""
        return self.op.rpartition(".")[0]

    @property
    def short(self) -> str:
        """`op` without its domain."""
        return self.op.rpartition(".")[2]


def f32(*shape: int) -> Array:
    """Numbers without zeros or repetitions."""
    return (np.arange(np.prod(shape, dtype=int), dtype=F).reshape(shape) + 1) / 4


def f16(*shape: int) -> Array:
    """The same with 16 bits."""
    return f32(*shape).astype(np.float16)


def i64(*values: Any) -> Array:
    """A vector of int64."""
    return np.array(values, I64)


def s64(value: int) -> Array:
    """A scalar of int64."""
    return np.array(value, I64)


def zeros(dtype: Any, *shape: int) -> Array:
    """Zeros."""
    return np.zeros(shape, dtype)


def ones(dtype: Any, *shape: int) -> Array:
    """Ones."""
    return np.ones(shape, dtype)


def case(op: str, arguments: str, good: dict[str, Array], bad: dict[str, Array], error: str,
         **more: Any) -> GuardCase:  # fmt: skip
    """A case of one node: `arguments` is what stands behind the operator's name."""
    return GuardCase(op, f"o = {op}{arguments}", good, bad, error, **more)


def _elementwise() -> Iterator[GuardCase]:
    fits = "do not broadcast"
    shapes = {"a": (2, 3), "b": (2, 3)}
    for ops, dtype in (
        ("Add Sub Mul Div Pow Max Min Sum Mean Less Greater LessOrEqual GreaterOrEqual", F),
        ("And Or Xor", B),
        ("BitwiseAnd BitwiseOr BitwiseXor Equal Mod", I32),
    ):
        for op in ops.split():
            good = {k: ones(dtype, *v) for k, v in shapes.items()}
            yield case(op, "(a, b)", good, {"b": ones(dtype, 2, 5)}, fits, note="shapes")
    u = ones(np.uint32, 2, 3)
    yield case("BitShift", '<direction = "LEFT">(a, b)', {"a": u, "b": u},
               {"b": ones(np.uint32, 4, 3)}, fits)  # fmt: skip
    for op in ("Div", "Mod"):
        for dtype in (I32, I64, U8):
            a, b = ones(dtype, 2, 3), np.full((2, 3), 2, dtype)
            zero = b.copy()
            zero[1, 1] = 0
            yield case(op, "(a, b)", {"a": a, "b": b}, {"b": zero}, "division by zero",
                       note=f"zero-{np.dtype(dtype)}")  # fmt: skip
        a, b = np.array(7, I64), np.array(2, I64)
        yield case(op, "(a, b)", {"a": a, "b": b}, {"b": s64(0)}, "division by zero",
                   note="zero-scalar")  # fmt: skip
    yield case("PRelu", "(a, b)", {"a": -f32(2, 3), "b": f32(3)}, {"b": f32(5)}, "broadcast")
    yield case("Where", "(c, a, b)", {"c": ones(B, 2, 3), "a": f32(2, 3), "b": f32(2, 3)},
               {"b": f32(2, 5)}, fits)  # fmt: skip
    yield case("Clip", "(a, b)", {"a": f32(2, 3), "b": f32(1)}, {"b": f32(2)}, "element",
               ort=False)  # fmt: skip


def _axes() -> Iterator[GuardCase]:
    x = f32(2, 3)
    for op in ("CumSum", "CumProd"):
        yield case(op, "(a, b)", {"a": x, "b": s64(1)}, {"b": s64(5)}, "out of range",
                   opset=21 if op == "CumSum" else 26, ort=op == "CumSum")  # fmt: skip
    names = "Sum Mean Prod Max Min L1 L2 SumSquare LogSum LogSumExp"
    for name in names.split():
        op = f"Reduce{name}"
        good = {"a": x, "b": i64(1)}
        yield case(op, "<keepdims = 1>(a, b)", good, {"b": i64(7)}, "out of range", note="range")
        yield case(op, "<keepdims = 1>(a, b)", good | {"b": i64(0, 1)}, {"b": i64(1, 1)},
                   "twice|repeated", note="twice")  # fmt: skip
    for op in ("ArgMax", "ArgMin"):
        yield case(op, "<axis = 1>(a)", {"a": x}, {"a": f32(2, 0)}, "has no elements")
    for op in ("ReduceMax", "ReduceMin"):
        good = {"a": np.ones((2, 3), I32), "b": i64(1)}
        yield case(
            op, "<keepdims = 0>(a, b)", good, {"b": i64(-3)}, "out of range", note="negative"
        )


def _normalization() -> Iterator[GuardCase]:
    x = f32(2, 4, 3)
    yield case("LayerNormalization", "(a, b)", {"a": x, "b": f32(3)}, {"b": f32(5)}, "broadcast")
    yield case("RMSNormalization", "(a, b)", {"a": x, "b": f32(3)}, {"b": f32(5)}, "broadcast",
               opset=23)  # fmt: skip
    for op in ("InstanceNormalization", "GroupNormalization"):
        form = "<num_groups = 2>(a, b, c)" if op[0] == "G" else "(a, b, c)"
        yield case(op, form, {"a": x, "b": f32(4), "c": f32(4)}, {"c": f32(5)}, "differ")
    yield case("GroupNormalization", "<num_groups = 2>(a, b, c)",
               {"a": x, "b": f32(4), "c": f32(4)},
               {"a": f32(2, 3, 3), "b": f32(3), "c": f32(3)}, "whole groups", note="groups")  # fmt: skip
    # The elements of 5 channels divide into 2 groups, the channels do not.
    yield case("GroupNormalization", "<num_groups = 2>(a, b, c)",
               {"a": f32(2, 4, 2), "b": f32(2), "c": f32(2)}, {"a": f32(2, 5, 2)},
               "do not fit the new shape|cannot reshape", opset=18, note="groups-18")  # fmt: skip
    good = {"a": x, "b": f32(4), "c": f32(4), "d": f32(4), "e": f32(4)}
    yield case("BatchNormalization", "(a, b, c, d, e)", good, {"d": f32(5)}, "differ")
    yield case("Dropout", "(a, b, c)", {"a": x, "b": np.array(0, F), "c": np.array(True)},
               {"b": np.array(1.5, F)}, "the ratio")  # fmt: skip


def _shapes() -> Iterator[GuardCase]:
    x = f32(2, 3)
    for note, shape, error in (
        ("count", i64(7, 1), "do not fit the new shape|cannot reshape"),
        ("two", i64(-1, -1), "2 extents of the new shape are -1|-1 more than once"),
        ("rest", i64(-1, 4), "do not fit the new shape|not divided evenly|cannot reshape"),
        ("negative", i64(-2, 3), "extent 0 of the new shape is -2|less than 0"),
        ("copied", i64(0, 5), "do not fit the new shape|cannot reshape"),
    ):
        yield case("Reshape", "(a, b)", {"a": x, "b": i64(3, 2)}, {"b": shape}, error, note=note)
    # The product of these extents is 4 once it has wrapped around.
    yield case("Reshape", "(a, b)", {"a": f32(4), "b": i64(2, 2)}, {"b": i64(2**62 + 1, 4)},
               "do not fit the new shape|cannot reshape", note="wraps")  # fmt: skip
    yield case("Squeeze", "(a, b)", {"a": f32(1, 3, 1), "b": i64(0)}, {"a": f32(2, 3, 1)},
               "not squeezed", note="extent")  # fmt: skip
    yield case("Squeeze", "(a, b)", {"a": f32(1, 3, 1), "b": i64(0)}, {"b": i64(3)},
               "out of range", note="axis")  # fmt: skip
    yield case("Unsqueeze", "(a, b)", {"a": x, "b": i64(0)}, {"b": i64(3)}, "out of range",
               note="range")  # fmt: skip
    yield case("Unsqueeze", "(a, b)", {"a": x, "b": i64(0, 1)}, {"b": i64(1, 1)}, "repeated",
               note="twice")  # fmt: skip
    yield case("Expand", "(a, b)", {"a": x, "b": i64(2, 3)}, {"b": i64(2, 4)}, "expand|broadcast")
    yield case("Expand", "(a, b)", {"a": x, "b": i64(2, 3)}, {"b": i64(-1, 3)}, "less than 0",
               note="negative")  # fmt: skip
    yield case("Tile", "(a, b)", {"a": x, "b": i64(2, 1)}, {"b": i64(-1, 1)}, "less than 0")
    yield case("ConstantOfShape", "(a)", {"a": i64(2, 3)}, {"a": i64(2, -3)}, "less than 0")
    for dtype in (I64, I32, F):
        good = {k: np.array(v, dtype) for k, v in {"a": 0, "b": 6, "c": 2}.items()}
        yield case("Range", "(a, b, c)", good, {"c": np.array(0, dtype)}, "delta",
                   note=str(np.dtype(dtype)))  # fmt: skip
    yield case("Range", "(a, b, c)", {k: np.array(v, F) for k, v in zip("abc", (0, 6, 2), strict=True)},
               {"c": np.array(np.nan, F)}, "delta", note="nan")  # fmt: skip
    yield case("Concat", "<axis = 0>(a, b)", {"a": x, "b": x}, {"b": f32(2, 4)}, "differ")
    for note, sizes, error in (
        ("sum", i64(1, 5), "differ"),
        ("negative", i64(-1, 4), "less than 0"),
    ):
        yield GuardCase("Split", "o, q = Split<axis = 1>(a, b)", {"a": x, "b": i64(1, 2)},
                        {"b": sizes}, error, note=note)  # fmt: skip
    yield GuardCase("Split", "o, q = Split<axis = 1>(a)", {"a": f32(2, 4)}, {"a": f32(2, 3)},
                    "evenly", opset=13, note="evenly")  # fmt: skip
    yield case("Slice", "(a, b, c, d, e)",
               {"a": x, "b": i64(0), "c": i64(2), "d": i64(1), "e": i64(1)},
               {"e": i64(0)}, "step")  # fmt: skip
    yield case("Slice", "(a, b, c, d)", {"a": x, "b": i64(0), "c": i64(2), "d": i64(1)},
               {"d": i64(2)}, "out of range", note="axis")  # fmt: skip
    yield case("DepthToSpace", "<blocksize = 2>(a)", {"a": f32(1, 4, 2, 2)},
               {"a": f32(1, 3, 2, 2)}, "evenly")  # fmt: skip
    yield case("SpaceToDepth", "<blocksize = 2>(a)", {"a": f32(1, 1, 2, 2)},
               {"a": f32(1, 1, 3, 2)}, "evenly")  # fmt: skip
    yield case("ReverseSequence", "(a, b)", {"a": f32(4, 2), "b": i64(1, 4)}, {"b": i64(1, 5)},
               "a sequence length is 5, not in 0 to 4")  # fmt: skip
    yield case("ReverseSequence", "(a, b)", {"a": f32(4, 2), "b": i64(1, 4)}, {"b": i64(-1, 2)},
               "a sequence length is -1, not in 0 to 4", note="negative")  # fmt: skip
    yield case("Trilu", "(a, b)", {"a": x, "b": i64(1)}, {"b": i64(1, 2)}, "element", ort=False)
    yield case("Pad", "(a, b)", {"a": x, "b": i64(0, 1, 0, 1)}, {"b": i64(0, -2, 0, -2)},
               "less than 0")  # fmt: skip
    for note, most in (("large", 2**63 - 1), ("least", -(2**63))):
        yield case("Pad", "(a, b)", {"a": x, "b": i64(0, 1, 0, 1)}, {"b": i64(0, most, 0, most)},
                   "less than 0", note=note)  # fmt: skip
    yield case("Pad", '<mode = "edge">(a, b)', {"a": x, "b": i64(0, 1, 0, 1)},
               {"a": f32(2, 0)}, "nothing to pad", note="edge")  # fmt: skip


def _indexing() -> Iterator[GuardCase]:
    x = f32(4, 3)
    far = "out of range"
    for note, bad in (("above", 4), ("below", -5), ("large", 2**62), ("least", -(2**63))):
        yield case("Gather", "(a, b)", {"a": x, "b": i64(3, -4)}, {"b": i64(0, bad)}, far,
                   note=note)  # fmt: skip
        yield case("GatherElements", "(a, b)", {"a": x, "b": i64([3, -4, 0])},
                   {"b": i64([0, bad, 0])}, far, note=note)  # fmt: skip
        yield case("GatherND", "(a, b)", {"a": x, "b": i64([3, -3])}, {"b": i64([bad, 1])}, far,
                   note=note)  # fmt: skip
        yield case("ScatterElements", "(a, b, c)", {"a": x, "b": i64([3, -4, 0]), "c": f32(1, 3)},
                   {"b": i64([0, bad, 0])}, far, note=note)  # fmt: skip
        yield case("ScatterND", "(a, b, c)", {"a": x, "b": i64([3, -3]), "c": f32(1)},
                   {"b": i64([bad, 1])}, far, note=note)  # fmt: skip
    yield case("Gather", "(a, b)", {"a": x, "b": s64(1)}, {"b": s64(9)}, far, note="scalar")
    yield case("Gather", "(a, b)", {"a": x, "b": s64(1)}, {"a": f32(0, 3), "b": s64(0)}, far,
               note="empty")  # fmt: skip
    yield case("GatherND", "<batch_dims = 1>(a, b)", {"a": f32(2, 3), "b": i64([0], [2])},
               {"b": i64([0], [1], [2])}, "batch axis", note="batch")  # fmt: skip
    yield case("GatherElements", "(a, b)", {"a": x, "b": i64([3, -4, 0])},
               {"b": zeros(I64, 1, 4)}, "greater", note="shape")  # fmt: skip
    yield case("Scatter", "(a, b, c)", {"a": x, "b": i64([3, 1, 0]), "c": f32(1, 3)},
               {"b": i64([0, 7, 0])}, far, opset=9)  # fmt: skip
    yield case("ScatterElements", "(a, b, c)", {"a": x, "b": i64([3, 1, 0]), "c": f32(1, 3)},
               {"c": f32(1, 2)}, "differ", note="updates")  # fmt: skip
    yield case("ScatterND", "(a, b, c)", {"a": x, "b": i64([3], [1]), "c": f32(2, 3)},
               {"c": f32(2, 4)}, "differ", note="updates")  # fmt: skip
    yield case("TensorScatter", "(a, b, c)", {"a": f32(1, 4, 3), "b": f32(1, 2, 3), "c": i64(1)},
               {"c": i64(4)}, "out of range", opset=24, ort=False)  # fmt: skip
    yield case("TensorScatter", "(a, b, c)", {"a": f32(1, 4, 3), "b": f32(1, 2, 3), "c": i64(1)},
               {"b": f32(1, 5, 3)}, "the cache", opset=24, ort=False, note="long")  # fmt: skip
    for note, depth in (("negative", -1), ("least", -(2**63)), ("small", -4)):
        yield case("OneHot", "(a, b, c)", {"a": i64(1, 2), "b": s64(3), "c": f32(2)},
                   {"b": s64(depth)}, "depth", note=note)  # fmt: skip
    yield case("OneHot", "(a, b, c)", {"a": i64(1, 2), "b": s64(3), "c": f32(2)},
               {"c": f32(3)}, "number of values", note="values")  # fmt: skip
    yield case("Compress", "<axis = 0>(a, b)", {"a": x, "b": np.array([True, False])},
               {"b": ones(B, 6)}, "the condition has")  # fmt: skip
    for note, k in (("many", 5), ("negative", -1), ("least", -(2**63)), ("most", 2**63 - 1)):
        yield GuardCase("TopK", "o, p = TopK<axis = 0>(a, b)", {"a": x, "b": i64(2)},
                        {"b": i64(k)}, "k is", note=note)  # fmt: skip


def _collections() -> Iterator[GuardCase]:
    x, y = f32(2, 3), f32(2, 3) * 2
    pair = "s = SequenceConstruct(a, b)\n"
    far = "out of range"
    for note, at in (("above", 2), ("below", -3), ("large", 2**62), ("least", -(2**63))):
        good, bad = {"a": x, "b": y, "k": s64(1)}, {"k": s64(at)}
        yield GuardCase("SequenceAt", pair + "o = SequenceAt(s, k)", good, bad, far, note=note)
        yield GuardCase("SequenceErase",
                        pair + "e = SequenceErase(s, k)\n"
                        "o = ConcatFromSequence<axis = 0>(e)", good, bad, far, note=note)  # fmt: skip
        at = at + 1 if note == "above" else at
        yield GuardCase("SequenceInsert",
                        pair + "e = SequenceInsert(s, a, k)\n"
                        "o = ConcatFromSequence<axis = 0>(e)", good, {"k": s64(at)}, far,
                        note=note)  # fmt: skip
    yield GuardCase("ConcatFromSequence", pair + "o = ConcatFromSequence<axis = 0>(s)",
                    {"a": x, "b": y}, {"b": f32(2, 4)}, "dimension")  # fmt: skip
    yield GuardCase("ConcatFromSequence",
                    "s = SplitToSequence<axis = 0>(a, c)\n"
                    "o = ConcatFromSequence<axis = 0>(s)",
                    {"a": x, "c": s64(1)}, {"a": f32(0, 3)}, "empty", note="empty")  # fmt: skip
    parts = "s = SplitToSequence<axis = 0>(a, c)\no = ConcatFromSequence<axis = 1>(s)"
    yield GuardCase("SplitToSequence", parts, {"a": x, "c": s64(1)}, {"c": s64(0)}, "less than 1")
    yield GuardCase("SplitToSequence", parts, {"a": x, "c": i64(1, 1)}, {"c": i64(1, 5)},
                    "part|elements", note="sum")  # fmt: skip
    yield GuardCase("SplitToSequence", parts, {"a": x, "c": i64(1, 1)}, {"c": i64(3, -1)},
                    "part|less", note="negative")  # fmt: skip
    yield GuardCase("OptionalGetElement",
                    "p = If(c) <then_branch = t () => (optional(float[t0, t1]) u)"
                    "{ u = Optional(a) }, else_branch = e () => (optional(float[e0, e1]) v)"
                    "{ v = Optional<type = float[e0, e1]>() }>\no = OptionalGetElement(p)",
                    {"a": x, "c": np.array(True)}, {"c": np.array(False)}, "empty")  # fmt: skip


def _products() -> Iterator[GuardCase]:
    inner = "differ"
    x, w = f32(2, 3), f32(3, 4)
    yield case("MatMul", "(a, b)", {"a": x, "b": w}, {"b": f32(5, 4)}, inner)
    yield case("MatMul", "(a, b)", {"a": f32(2, 2, 3), "b": f32(2, 3, 4)}, {"b": f32(5, 3, 4)},
               "broadcast", note="batch")  # fmt: skip
    yield case("Gemm", "(a, b)", {"a": x, "b": w}, {"b": f32(5, 4)}, inner)
    yield case("Gemm", "(a, b, c)", {"a": x, "b": w, "c": f32(4)}, {"c": f32(3)}, "broadcast",
               note="bias")  # fmt: skip
    yield case("Einsum", '<equation = "ij,jk->ik">(a, b)', {"a": x, "b": w}, {"b": f32(5, 4)},
               "broadcast|differ")  # fmt: skip
    a, b = ones(U8, 2, 3), ones(U8, 3, 4)
    yield case("MatMulInteger", "(a, b)", {"a": a, "b": b}, {"b": ones(U8, 5, 4)}, inner)
    yield case("MatMulInteger", "(a, b, z)", {"a": a, "b": b, "z": ones(U8, 2)},
               {"z": ones(U8, 5)}, "zero point of A does not broadcast", ort=False, note="rows")  # fmt: skip
    yield case("MatMulInteger", "(a, b, , z)", {"a": a, "b": b, "z": ones(U8, 4)},
               {"z": ones(U8, 3)}, "zero point of B does not broadcast", note="columns")  # fmt: skip
    scale, zero = np.array(0.5, F), np.array(1, U8)
    good = {"a": a, "s": scale, "z": zero, "b": b}
    yield case("QLinearMatMul", "(a, s, z, b, s, z, s, z)", good, {"b": ones(U8, 5, 4)}, inner)
    yield case("QLinearMatMul", "(a, t, y, b, s, z, s, z)",
               good | {"t": ones(F, 2), "y": ones(U8, 2)}, {"t": ones(F, 5)},
               "scale of A does not broadcast", ort=False, note="rows")  # fmt: skip
    image, weights = f32(1, 2, 4, 4), f32(3, 2, 2, 2)
    yield case("Conv", "(a, b)", {"a": image, "b": weights}, {"b": f32(3, 5, 2, 2)}, "channels")
    yield case("Conv", "(a, b)", {"a": image, "b": weights}, {"a": f32(1, 2, 1, 4)},
               "does not fit", note="window")  # fmt: skip
    yield case("Conv", "(a, b, c)", {"a": image, "b": weights, "c": f32(3)}, {"c": f32(4)},
               inner, note="bias")  # fmt: skip
    q, v = ones(U8, 1, 2, 4, 4), ones(U8, 3, 2, 2, 2)
    yield case("ConvInteger", "(a, b)", {"a": q, "b": v}, {"b": ones(U8, 3, 5, 2, 2)}, "channels")
    yield case("QLinearConv", "(a, s, z, b, s, z, s, z)", good | {"a": q, "b": v},
               {"b": ones(U8, 3, 5, 2, 2)}, "channels")  # fmt: skip
    yield case("ConvTranspose", "(a, b)", {"a": image, "b": f32(2, 3, 2, 2)},
               {"b": f32(4, 3, 2, 2)}, "channels")  # fmt: skip
    yield case("DeformConv", "(a, b, c)",
               {"a": image, "b": weights, "c": zeros(F, 1, 8, 3, 3)},
               {"c": zeros(F, 1, 6, 3, 3)}, "channels", ort=False)  # fmt: skip


def _images() -> Iterator[GuardCase]:
    image = f32(1, 2, 4, 4)
    for op in ("MaxPool", "AveragePool", "LpPool"):
        yield case(op, "<kernel_shape = [3, 3]>(a)", {"a": image}, {"a": f32(1, 2, 2, 4)},
                   "does not fit")  # fmt: skip
    places = i64([[[5, 7], [13, 15]], [[21, 23], [29, 31]]])
    unpool = "<kernel_shape = [2, 2], strides = [2, 2]>(a, b)"
    for note, bad in (("above", 32), ("below", -1), ("large", 2**62)):
        wrong = places.copy()
        wrong[0, 1, 1, 1] = bad
        yield case("MaxUnpool", unpool, {"a": f32(1, 2, 2, 2), "b": places}, {"b": wrong},
                   "out of range", note=note)  # fmt: skip
    scales = np.array([1, 1, 2, 2], F)
    for note, bad in (("zero", 0), ("negative", -1), ("nan", np.nan), ("inf", np.inf)):
        wrong = np.array([1, 1, bad, 2], F)
        yield case("Resize", "(a, , b)", {"a": image, "b": scales}, {"b": wrong}, "scale",
                   note=note)  # fmt: skip
        yield case("Upsample", "(a, b)", {"a": image, "b": scales}, {"b": wrong}, "scale",
                   opset=9, note=note)  # fmt: skip
    yield case("Resize", "(a, , , b)", {"a": image, "b": i64(1, 2, 3, 3)},
               {"b": i64(1, 2, -3, 3)}, "less than 0", ort=False, note="sizes")  # fmt: skip
    yield case("Resize", "(a, , , b)", {"a": image, "b": i64(1, 2, 3, 3)},
               {"a": f32(1, 2, 0, 4)}, "no elements", ort=False, note="empty")  # fmt: skip
    yield case("GridSample", "(a, b)", {"a": image, "b": zeros(F, 1, 2, 2, 2)},
               {"b": zeros(F, 3, 2, 2, 2)}, "batches")  # fmt: skip
    yield case("GridSample", "(a, b)", {"a": image, "b": zeros(F, 1, 2, 2, 2)},
               {"a": f32(1, 2, 0, 4)}, "no elements", note="empty")  # fmt: skip
    regions = np.array([[0, 0, 2, 2]], F)
    roi = "<output_height = 2, output_width = 2>(a, b, c)"
    for note, bad in (("above", 1), ("below", -1), ("large", 2**62)):
        yield case("RoiAlign", roi, {"a": image, "b": regions, "c": i64(0)}, {"c": i64(bad)},
                   "out of range", note=note)  # fmt: skip
    for note, number in (("above", 1), ("below", -1), ("nan", np.nan), ("inf", np.inf)):
        yield case("MaxRoiPool", "<pooled_shape = [2, 2]>(a, b)",
                   {"a": image, "b": np.array([[0, 0, 0, 2, 2]], F)},
                   {"b": np.array([[number, 0, 0, 2, 2]], F)}, "batch index", note=note)  # fmt: skip
    boxes, scores = f32(1, 3, 4), f32(1, 2, 3)
    nms = "(a, b, n, t, s)"
    more = {"n": s64(2), "t": np.array(0.5, F), "s": np.array(0, F)}
    yield case("NonMaxSuppression", nms, {"a": boxes, "b": scores} | more, {"b": f32(1, 2, 4)},
               "differ")  # fmt: skip
    yield case("Col2Im", "(a, b, c)", {"a": f32(1, 4, 9), "b": i64(4, 4), "c": i64(2, 2)},
               {"b": i64(5, 4)}, "places", open=False)  # fmt: skip
    yield case("Col2Im", "(a, b, c)", {"a": f32(1, 4, 9), "b": i64(4, 4), "c": i64(2, 2)},
               {"c": i64(2, -2)}, "less than 0", open=False, note="negative")  # fmt: skip
    yield case("Col2Im", "(a, b, c)", {"a": f32(1, 4, 9), "b": i64(4, 4), "c": i64(2, 2)},
               {"c": i64(0, 2)}, "places", open=False, note="zero")  # fmt: skip
    yield case("Det", "(a)", {"a": f32(2, 2)}, {"a": f32(2, 3)}, "differ", ort=False)


def _quantization() -> Iterator[GuardCase]:
    x = f32(2, 3)
    yield case("QuantizeLinear", "<axis = 1>(a, b, c)", {"a": x, "b": f32(3), "c": ones(U8, 3)},
               {"b": f32(4), "c": ones(U8, 4)}, "does not broadcast")  # fmt: skip
    yield case("DequantizeLinear", "<axis = 1>(a, b)", {"a": ones(U8, 2, 3), "b": f32(3)},
               {"b": f32(4)}, "does not broadcast")  # fmt: skip
    yield case("QuantizeLinear", "<axis = 1>(a, b, c)", {"a": x, "b": f32(3), "c": ones(U8, 3)},
               {"c": ones(U8, 4)}, "the zero point does not", note="zero point")  # fmt: skip


def _recurrent() -> Iterator[GuardCase]:
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        x, w, r = f32(3, 2, 2) / 16, f32(1, gates * 2, 2) / 64, f32(1, gates * 2, 2) / 64
        good = {"a": x, "b": w, "c": r, "d": np.array([3, 1], I32)}
        for note, bad in (("long", 4), ("negative", -1), ("least", -(2**31))):
            yield case(op, "<hidden_size = 2>(a, b, c, , d)", good, {"d": np.array([bad, 1], I32)},
                       "sequence length", note=note)  # fmt: skip
        yield case(op, "<hidden_size = 2>(a, b, c)", {k: good[k] for k in "abc"},
                   {"a": f32(3, 2, 5)}, "expected extent", note="shapes")  # fmt: skip


def _signals() -> Iterator[GuardCase]:
    signal = f32(1, 8, 1)
    yield case("DFT", "(a, , b)", {"a": signal, "b": s64(1)}, {"b": s64(5)}, "out of range",
               opset=20)  # fmt: skip
    yield case("DFT", "(a, b)", {"a": signal, "b": s64(4)}, {"b": s64(0)}, "less than 1",
               note="length")  # fmt: skip
    yield case("DFT", "(a)", {"a": signal}, {"a": f32(1, 8, 3)}, "expected 1 or 2", note="parts")
    yield case("STFT", "(a, b, , c)", {"a": signal, "b": s64(2), "c": s64(4)}, {"b": s64(0)},
               "less than 1", note="step")  # fmt: skip
    yield case("STFT", "(a, b, , c)", {"a": signal, "b": s64(2), "c": s64(4)}, {"c": s64(9)},
               "frame|length", note="frame")  # fmt: skip
    good = {"a": s64(3), "b": s64(8), "c": s64(8000), "d": np.array(0, F), "e": np.array(4000, F)}
    for note, k in (("bands", "a"), ("length", "b")):
        yield case("MelWeightMatrix", "(a, b, c, d, e)", good, {k: s64(-4)}, "less than 0",
                   note=note)  # fmt: skip
    yield case("Multinomial", "<sample_size = 2>(a)", {"a": f32(1, 1)}, {"a": f32(1, 0)},
               "no classes")  # fmt: skip


def _strings() -> Iterator[GuardCase]:
    a = np.array(["a", "b"], object)
    yield case("StringConcat", "(a, b)", {"a": a, "b": a},
               {"b": np.array(["a", "b", "c"], object)}, "do not broadcast")  # fmt: skip
    yield case("Equal", "(a, b)", {"a": a, "b": a}, {"b": np.array(["a", "b", "c"], object)},
               "do not broadcast", note="strings")  # fmt: skip
    # The types are those of Cast's enumeration: float, uint8, int64.
    for to, fits, bad in ((1, "1.5", "abc"), (2, "3", "-1"), (7, "4", ""), (7, "4", "1e400")):
        texts = np.array(["2", bad], object)
        good = np.array(["2", fits], object)
        yield case("Cast", f"<to = {to}>(a)", {"a": good}, {"a": texts}, "is not a",
                   counts=False, note=f"{to} {bad or 'empty'}")  # fmt: skip
    yield case("CastLike", "(a, b)", {"a": np.array(["2", "3"], object), "b": i64(0)},
               {"a": np.array(["2", "x"], object)}, "is not a", ort=False, counts=False)  # fmt: skip
    row = np.array([["a", "b"]], object)
    yield case("StringNormalizer", '<case_change_action = "UPPER">(a)', {"a": row},
               {"a": np.array([["a"], ["b"]], object)}, "the first axis", ort=False)  # fmt: skip


def _classical() -> Iterator[GuardCase]:
    x = f32(2, 3)
    ml = "ai.onnx.ml."
    yield case(ml + "ArrayFeatureExtractor", "(a, b)", {"a": x, "b": i64(1)}, {"b": i64(3)},
               "out of range")  # fmt: skip
    yield case(ml + "Scaler", "<offset = [1.0, 2.0, 3.0], scale = [1.0, 2.0, 3.0]>(a)", {"a": x},
               {"a": f32(2, 4)}, "do not broadcast")  # fmt: skip
    yield case(ml + "LinearRegressor", "<coefficients = [1.0, 2.0, 3.0]>(a)", {"a": x},
               {"a": f32(2, 4)}, "differ")  # fmt: skip
    yield GuardCase(ml + "LinearClassifier",
                    "p, o = ai.onnx.ml.LinearClassifier<classlabels_ints = [0, 1], "
                    "coefficients = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], intercepts = [0.0, 0.0]>(a)",
                    {"a": x}, {"a": f32(2, 4)}, "differ")  # fmt: skip
    yield case(ml + "Imputer", "<imputed_value_floats = [1.0, 2.0, 3.0]>(a)", {"a": x},
               {"a": f32(2, 4)}, "differ")  # fmt: skip
    yield case(ml + "OneHotEncoder", "<cats_int64s = [1, 2], zeros = 0>(a)", {"a": i64(1, 2)},
               {"a": i64(1, 3)}, "categories")  # fmt: skip
    yield case(ml + "FeatureVectorizer", "<inputdimensions = [3, 2]>(a, b)",
               {"a": x, "b": f32(2, 2)}, {"b": f32(3, 2)}, "number of rows", ort=False)  # fmt: skip
    tree = ("nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2], nodes_featureids = [2, 0, 0], "
            'nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF"], nodes_values = [1.0, 0.0, 0.0], '
            "nodes_truenodeids = [1, 0, 0], nodes_falsenodeids = [2, 0, 0], ")  # fmt: skip
    yield case(ml + "TreeEnsembleRegressor",
               "<" + tree + "target_treeids = [0, 0], target_nodeids = [1, 2], "
               "target_ids = [0, 0], target_weights = [1.0, 2.0], n_targets = 1>(a)",
               {"a": x}, {"a": f32(2, 2)}, "features")  # fmt: skip
    yield case(ml + "TreeEnsemble",
               "<tree_roots = [0], nodes_featureids = [2], nodes_modes = uint8[1] {0}, "
               "nodes_splits = float[1] {1.0}, "
               "nodes_truenodeids = [0], nodes_trueleafs = [1], nodes_falsenodeids = [1], "
               "nodes_falseleafs = [1], leaf_targetids = [0, 0], leaf_weights = float[2] {1.0, 2.0}, "
               "n_targets = 1, aggregate_function = 1>(a)",
               {"a": x}, {"a": f32(2, 2)}, "features", ort=False)  # fmt: skip
    yield GuardCase(ml + "TreeEnsembleClassifier",
                    "p, o = ai.onnx.ml.TreeEnsembleClassifier<" + tree +
                    "class_treeids = [0, 0], class_nodeids = [1, 2], class_ids = [0, 1], "
                    "class_weights = [1.0, 2.0], classlabels_int64s = [0, 1]>(a)",
                    {"a": x}, {"a": f32(2, 2)}, "features", ort=False)  # fmt: skip


def _training() -> Iterator[GuardCase]:
    for op, states in (("Adagrad", 1), ("Adam", 2), ("Momentum", 1)):
        names = ["x", "g", *(f"h{k}" for k in range(states))]
        good = {k: f32(2, 3) for k in names} | {"r": np.array(0.1, F), "t": s64(1)}
        attributes = {
            "Momentum": '<alpha = 0.9, beta = 0.1, mode = "standard", norm_coefficient = 0.0>'
        }.get(op, "")
        results = ", ".join(["o", *(f"n{k}" for k in range(states))])
        yield GuardCase(f"ai.onnx.preview.training.{op}",
                        f"{results} = ai.onnx.preview.training.{op}{attributes}"
                        f"(r, t, {', '.join(names)})",
                        good, {"g": f32(2, 4)}, "do not broadcast", ort=False)  # fmt: skip


def large_cases() -> list[GuardCase]:
    """Operands that fit, but for the memory of the result: what is not asked for cannot lack."""
    most = 2**42
    depth = {"a": i64(1, 2), "b": s64(3), "c": f32(2)}
    limits = {"a": s64(0), "b": s64(3), "c": s64(1)}
    memory = "out of memory"
    return [
        case("ConstantOfShape", "(a)", {"a": i64(2, 3)}, {"a": i64(most, 4)}, memory),
        case("Expand", "(a, b)", {"a": f32(1, 3), "b": i64(2, 3)}, {"b": i64(most, 3)}, memory),
        case("Range", "(a, b, c)", limits, {"b": s64(most)}, memory),
        case("OneHot", "(a, b, c)", depth, {"b": s64(most)}, memory),
        case("Pad", "(a, b)", {"a": f32(2, 3), "b": i64(0, 0, 1, 0)}, {"b": i64(0, 0, most, 0)},
             memory),
    ]  # fmt: skip


def all_cases() -> list[GuardCase]:
    """Every case, in the order of the families."""
    families = (
        _elementwise, _axes, _normalization, _shapes, _indexing, _collections, _products, _images,
        _quantization, _recurrent, _signals, _strings, _classical, _training,
    )  # fmt: skip
    return [case for family in families for case in family()]
