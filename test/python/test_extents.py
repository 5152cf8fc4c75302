# ===- test_extents.py - Extents that types promise and runs contradict -------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Operands whose extents are declared, open or 1, with values that agree, broadcast or contradict.

Shape inference takes an extent from the operand that tells it; a run may bring another one in
an operand that does not. What comes out is NumPy's result or one error, never wild memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import loopc
import numpy as np
import pytest
from loop_models.registry import graph

Shape = Sequence[int]


def values(shape: Shape, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def declared(shape: Shape, is_open: Sequence[bool], name: str) -> str:
    """The shape with names for those extents that are open."""
    dims = [
        f"{name}{k}" if o else str(n) for k, (n, o) in enumerate(zip(shape, is_open, strict=True))
    ]
    return f"float[{', '.join(dims)}] {name}"


def run(text: str, feed: dict[str, Any], **options: Any) -> list[Any]:
    made = loopc.SessionOptions()
    for name, value in options.items():
        made.add_free_dimension_override_by_name(name, value)
    return loopc.InferenceSession(graph(text, opset=21).SerializeToString(), made).run(None, feed)


#: Equations, and the shapes of two operands. Of the axes that share a label one is told by the
#: first operand, the other by the second; either may be open.
EINSUMS = [
    ("ij,ij->ij", (1, 300), (40, 300)),
    ("ij,ij->ij", (40, 300), (1, 300)),
    ("ij,ij->ij", (40, 300), (30, 300)),
    ("ij,ij->j", (1, 300), (40, 300)),
    ("ij,jk->ik", (30, 1), (50, 40)),
    ("ij,jk->ik", (30, 20), (50, 40)),
    ("bij,bjk->bik", (1, 3, 4), (7, 4, 5)),
    ("bij,bjk->bik", (7, 3, 4), (1, 4, 5)),
    ("bij,bjk->bik", (6, 3, 4), (7, 4, 5)),
    ("...ij,...jk->...ik", (1, 3, 4), (7, 4, 5)),
    ("...ij,...jk", (1, 3, 4), (7, 4, 5)),
]


@pytest.mark.parametrize(("equation", "first", "second"), EINSUMS)
@pytest.mark.parametrize("opened", ["first", "second", "both"])
def test_einsum(equation: str, first: Shape, second: Shape, opened: str) -> None:
    a, b = values(first, 0), values(second, 1)
    texts = [
        declared(shape, [opened in (name, "both")] + [False] * (len(shape) - 1), "ab"[k])
        for k, (shape, name) in enumerate([(first, "first"), (second, "second")])
    ]
    text = f'({", ".join(texts)}) => (y) {{ y = Einsum <equation = "{equation}"> (a, b) }}'
    try:
        want = np.einsum(equation, a, b)
    except ValueError:
        # Both told: already the compiler sees it.
        with pytest.raises((loopc.RunError, loopc.CompileError), match="Einsum"):
            run(text, {"a": a, "b": b})
        return
    got = run(text, {"a": a, "b": b})[0]
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


#: Operators of two or three operands, and what NumPy computes.
OPERATORS: dict[str, tuple[str, Callable[..., np.ndarray], list[Shape]]] = {
    "matmul": ("MatMul(a, b)", np.matmul, [(2, 3, 4), (2, 4, 5)]),
    "gemm": ("Gemm(a, b, c)", lambda a, b, c: a @ b + np.broadcast_to(c, (len(a), b.shape[1])), [(3, 4), (4, 5), (3, 5)]),
    "sum": ("Sum(a, b, c)", lambda a, b, c: a + b + c, [(3, 4), (3, 4), (4,)]),
    "concat": ("Concat<axis = 1>(a, b)", lambda a, b: np.concatenate([a, b], 1), [(3, 4), (3, 2)]),
}  # fmt: skip


def variants(shapes: Sequence[Shape]) -> list[tuple[list[list[int]], tuple[int, int] | None]]:
    """`shapes`, and each with one extent that is 1 or one too many, and which extent that is."""
    all_of: list[tuple[list[list[int]], tuple[int, int] | None]] = [
        ([list(s) for s in shapes], None)
    ]
    for k, shape in enumerate(shapes):
        for axis, extent in itertools.product(range(len(shape)), (1, None)):
            changed = [list(s) for s in shapes]
            changed[k][axis] = extent or shape[axis] + 1
            all_of.append((changed, (k, axis)))
    return all_of


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("opened", ["changed", "others"])
def test_operators(name: str, opened: str) -> None:
    node, function, shapes = OPERATORS[name]
    for changed, at in variants(shapes):
        names = "abc"[: len(shapes)]
        texts = [
            declared(s, [((k, d) == at) == (opened == "changed") for d in range(len(s))], names[k])
            for k, s in enumerate(changed)
        ]
        feed = {n: values(s, k) for k, (n, s) in enumerate(zip(names, changed, strict=True))}
        text = f"({', '.join(texts)}) => (y) {{ y = {node} }}"
        try:
            want = function(*feed.values())
        except ValueError:
            with pytest.raises(loopc.RunError):
                run(text, feed)
            continue
        got = run(text, feed)[0]
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_checks_come_before_the_work() -> None:
    """What is computed in the place of the result must not be too large for it."""
    text = """(float[N, 300] a, float[1, 300] b) => (y) {
        s = Sin(a) t = Mul(s, s) y = Concat<axis = 1>(t, b)
    }"""
    for _ in range(10):
        with pytest.raises(loopc.RunError, match=r"Concat .* axis 0 of input 0"):
            run(text, {"a": values((40, 300), 0), "b": values((1, 300), 1)})
    text = "(uint8[3, 1] a, uint8[K, N] b, uint8[M] c) => (y) { y = MatMulInteger(a, b, c) }"
    feed = {"a": (3, 1), "b": (40, 50), "c": (3,)}
    for _ in range(10):
        with pytest.raises(loopc.RunError, match="inner dimensions: 1 and 40 differ"):
            run(text, {name: np.ones(shape, np.uint8) for name, shape in feed.items()})


WINDOWS = """ (int64[EXTENT] x, int64 n) => (int64[T, K] rows) {
  w = Constant <value_ints = [1, 2, 3]> ()
  zero = Constant <value_ints = [0]> ()
  yes = Constant <value = bool {1}> ()
  t = Constant <value_int = 0> ()
  total, rows = Loop (n, yes, t) <body = b (int64 i, bool c, int64 s) => (bool more, int64 next, int64[] row) {
    lo = Unsqueeze (i, zero)
    three = Constant <value_int = 3> ()
    last = Add (i, three)
    hi = Unsqueeze (last, zero)
    win = Slice (x, lo, hi, zero)
    row = Mul (win, w)
    next = ReduceSum <keepdims = 0> (row)
    more = Identity (c)
  }>
}"""


@pytest.mark.parametrize(("extent", "dims"), [("0", {}), ("N", {}), ("N", {"N": 0})])
def test_windows_of_nothing(extent: str, dims: dict[str, int]) -> None:
    """Windows of an empty vector do not fit their weights, in a body that does not run."""
    text = WINDOWS.replace("EXTENT", extent)
    empty = np.zeros(0, np.int64)
    (rows,) = run(text, {"x": empty, "n": np.asarray(0)}, **dims)
    assert (rows.dtype, rows.shape) == (np.int64, (0, 3))
    with pytest.raises(loopc.RunError, match="Loop #4/body/#5 Mul"):
        run(text, {"x": empty, "n": np.asarray(1)}, **dims)


@pytest.mark.parametrize("operator", ["Add", "MatMul", "Gemm", "Concat<axis = 1>", "Pow", "Max"])
@pytest.mark.parametrize("construct", ["if", "loop", "scan"])
def test_contradiction_that_may_not_run(operator: str, construct: str) -> None:
    """Shapes that certainly do not fit are an error of the run that comes to them."""
    body = f"t = {operator}(a, b) u = ReduceSum<keepdims = 0>(t)"
    text = {
        "if": f"""(float[2, 3] a, float[4, 5] b, bool c, float s) => (y) {{
            y = If(c) <then_branch = f () => (float u) {{ {body} }},
                       else_branch = g () => (float v) {{ v = Identity(s) }}>
        }}""",
        "loop": f"""(float[2, 3] a, float[4, 5] b, bool c, float s) => (y) {{
            n = Cast<to = 7>(c)
            y = Loop(n, , s) <body = f (int64 i, bool d, float v) => (bool e, float w) {{
                {body} w = Add(u, v) e = Identity(d) }}>
        }}""",
        "scan": f"""(float[2, 3] a, float[4, 5] b, float[T] x, float s) => (y) {{
            y = Scan<num_scan_inputs = 1, body = f (float v, float z) => (float w) {{
                {body} w = Add(u, v) }}>(s, x)
        }}""",
    }[construct]
    feed: dict[str, Any] = {"a": values((2, 3), 0), "b": values((4, 5), 1), "s": np.float32(7)}
    for runs in (False, True):
        feed |= {"x": values((int(runs),), 2)} if construct == "scan" else {"c": np.asarray(runs)}
        if not runs:
            assert run(text, feed)[0] == 7
            continue
        with pytest.raises(loopc.RunError, match=operator.split("<")[0]):
            run(text, feed)


@pytest.mark.parametrize("trips", ["", "n = Constant<value_int = 3>()"])
def test_contradiction_that_runs(trips: str) -> None:
    """At the top, and in a loop that has an iteration, it is the compiler's error."""
    add = "t = Add(a, b) u = ReduceSum<keepdims = 0>(t)"
    text = f"(float[2] a, float[3] b) => (u) {{ {add} }}"
    if trips:
        text = f"""(float[2] a, float[3] b, float s) => (y) {{
            {trips}
            y = Loop(n, , s) <body = f (int64 i, bool d, float v) => (bool e, float w) {{
                {add} w = Add(u, v) e = Identity(d) }}>
        }}"""
    with pytest.raises(loopc.CompileError, match=r"Add.*do not fit"):
        run(text, {})


HINTS = {
    "value_info": "(float[N] a) => (float[K] y) <float[3] t> { t = Relu(a) y = Add(t, t) }",
    "output": "(float[N] a) => (float[3] y) { t = Relu(a) y = Add(t, t) }",
    "branches": """(float[N] a) => (float[3] y) {
        none = Constant<value_ints = [4]>()
        n = Shape(a)
        c0 = Equal(n, none)
        c = Squeeze(c0)
        y = If(c) <then_branch = t () => (float[3] u) { u = Add(a, a) },
                   else_branch = e () => (float[3] u) { u = Neg(a) }>
    }""",
    "scan": """(float[N] a) => (float[3] y) {
        zero = Constant<value_ints = [0]>()
        rows = Unsqueeze(a, zero)
        y = Scan<num_scan_inputs = 1, body = b (float[3] s, float[3] e) => (float[3] r) {
            r = Add(s, e) }>(a, rows)
    }""",
}


@pytest.mark.parametrize("name", HINTS)
def test_declared_shapes_inside_are_hints(name: str) -> None:
    a = np.arange(1, 5, dtype=np.float32)
    np.testing.assert_array_equal(run(HINTS[name], {"a": a})[0], a + a)


@pytest.mark.parametrize(
    ("port", "value"),
    [("float[3] a", 4), ("seq(float[3]) a", [3, 4]), ("optional(float[3]) a", 4)],
)
def test_inputs_are_checked(port: str, value: int | list[int]) -> None:
    a: Any = [values((n,), 0) for n in value] if isinstance(value, list) else values((value,), 0)
    with pytest.raises(loopc.InvalidArgument, match="dimension 0 is 4, expected 3"):
        run(f"({port}) => (y) {{ y = Identity(a) }}", {"a": a})


SAME = 'auto_pad = "SAME_UPPER", strides = [3, 2]'


@pytest.mark.parametrize(
    "node",
    [
        f"MaxPool<kernel_shape = [1, 1], {SAME}> (x)",
        f"AveragePool<kernel_shape = [2, 1], {SAME}> (x)",
        f"LpPool<kernel_shape = [1, 1], {SAME}> (x)",
        f"Conv<{SAME}> (x, w)",
    ],
)
@pytest.mark.parametrize("extents", ["0, 4", "0, B", "4, 0", "A, B"])
def test_no_windows_over_nothing(node: str, extents: str) -> None:
    """The library infers one window that is shorter than its stride over no elements."""
    text = f"(float[1, 2, {extents}] x, float[2, 2, 1, 1] w) => (y) {{ y = {node} }}"
    shape = (1, 2, *(int(e) if e.isdigit() else 0 for e in extents.split(", ")))
    (y,) = run(text, {"x": np.zeros(shape, np.float32), "w": np.ones((2, 2, 1, 1), np.float32)})
    assert y.shape == (1, 2, -(-shape[2] // 3), -(-shape[3] // 2))


@pytest.mark.parametrize(
    ("attributes", "extent", "expected"),
    [
        ("kernel_shape = [2], pads = [2, 3]", 2, [-1, 0, 0, 1, -1, -1]),
        ("kernel_shape = [2], dilations = [3], pads = [1, 3]", 1, [-1, 0]),
        ("kernel_shape = [1], pads = [2, 0], strides = [2]", 3, [-1, 0, 2]),
    ],
)
def test_places_in_windows_of_padding(attributes: str, extent: int, expected: list[int]) -> None:
    """In front of the axis as behind it there is no place where a maximum stands."""
    for size in (str(extent), "N"):
        text = f"(float[1, 1, {size}] x) => (y, at) {{ y, at = MaxPool<{attributes}> (x) }}"
        x = np.arange(extent, 0, -1, dtype=np.float32).reshape(1, 1, extent)
        y, at = run(text, {"x": x})
        assert at.ravel().tolist() == expected
        assert np.isneginf(y.ravel()[at.ravel() < 0]).all()


# ===- The least number --------------------------------------------------------===#

LEAST, MOST = -(2**63), 2**63 - 1


@pytest.mark.parametrize(
    ("start", "end"),
    [(LEAST, MOST), (LEAST, 3), (1, LEAST), (LEAST, LEAST), (-3, LEAST), (1, LEAST + 1)],
)
def test_slice_at_the_least_number(start: int, end: int) -> None:
    """-2^63 has no positive number beside it."""
    text = f"""(float[n] x) => (float[m] y)
        {{ s = Constant <value_ints = [{start}]> () e = Constant <value_ints = [{end}]> ()
           y = Slice (x, s, e) }}"""
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(run(text, {"x": x})[0], x[start:end])


@pytest.mark.parametrize("count", [2, 3])
def test_index_that_wraps_around(count: int) -> None:
    """Twice -2^63 is 0 again: the largest index is not at an end."""
    text = f"""(float[n] x, int64 k) => (float[m] y)
        {{ zero = Constant <value_int = 0> () one = Constant <value_int = 1> ()
           least = Constant <value_int = {LEAST}> ()
           numbers = Range (zero, k, one)
           at = Mul (numbers, least)
           y = Gather (x, at) }}"""
    feed = {"x": np.arange(5, dtype=np.float32), "k": np.int64(count)}
    with pytest.raises(loopc.RunError, match="index -9223372036854775808 is out of range"):
        run(text, feed)
