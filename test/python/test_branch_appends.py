# ===- test_branch_appends.py - Values that grow in some iterations -------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Carried values that branches append to, as decoders do with what is no blank, or shorten.

The oracle is NumPy's concatenation of what the branches say.
"""

from __future__ import annotations

from collections.abc import Callable

import loopc
import numpy as np
import onnx
import onnx.parser
import pytest
import test_kernels as kernels
from test_kernels import Gpu

gpu = kernels.gpu

#: What a branch makes of `x`; p and q are new in each iteration. `@` is a concatenation,
#: `~x`, `^x` and `%x` are x without its first row, without its last one, and its last 4 rows.
Form = tuple[str, str]
FORMS: dict[str, Form] = {
    "one branch": ("x @ p", "x"),
    "the other branch": ("x", "x @ q"),
    "in front": ("p @ x", "x"),
    "both, the same length": ("x @ p", "x @ q"),
    "both, other lengths": ("x @ p", "x @ q @ p"),
    "both in front": ("p @ q @ x", "q @ x"),
    "computed there": ("x @ -p", "x"),
    "a branch in a branch": ("[x @ p | x]", "x @ q"),
    "in front of a branch": ("q @ [p @ x | x]", "x"),
    "on either side": ("x @ p", "q @ x"),
    "with itself": ("x @ x", "x"),
    "changed": ("-x @ p", "x"),
    "a stack": ("x @ p", "^x"),
    "a queue": ("~x @ p", "x @ q"),
    "a window": ("%x @ p", "%x"),
    "less on either side": ("~x", "^x"),
    "less, and in front": ("p @ ^x", "~x"),
    "less in a branch in a branch": ("[^x @ p | x]", "~x @ q"),
    "with a part of itself": ("x @ ~x", "x"),
    "turned": ("~x @ %x", "x @ p"),
    "with a part of itself in a branch in a branch": ("[~x @ x | x]", "x"),
    "on either side of a branch in a branch": ("[x @ ~x | x]", "[p @ x | x @ q]"),
    "more and less": ("x @ p", "[~x | ^x] @ q"),
}

#: Where the slices of FORMS begin and end.
SLICES: dict[str, tuple[int, int]] = {"~": (1, 1 << 40), "^": (0, -1), "%": (-4, 1 << 40)}


class Writer:
    """Writes the nodes of a term of FORMS."""

    def __init__(self, shape: str, axis: int) -> None:
        self.shape, self.axis, self.count = shape, axis, 0

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def write(self, term: str) -> tuple[str, str]:
        """The nodes, and the name of the value."""
        if term.startswith("[") and term.endswith("]"):
            out, branches = self.name(), []
            for kind, part in zip(("then", "else"), term[1:-1].split("|"), strict=True):
                nodes, value = self.write(part.strip())
                graph, result = self.name(), self.name()
                branches.append(
                    f"{kind}_branch = {graph} () => ({self.shape} {result}) "
                    f"{{ {nodes} {result} = Identity ({value}) }}"
                )
            return f"{out} = If (inner) <{', '.join(branches)}>", out
        parts = _split(term)
        if len(parts) > 1:
            written = [self.write(part) for part in parts]
            out = self.name()
            names = ", ".join(name for _, name in written)
            nodes = " ".join(nodes for nodes, _ in written)
            return f"{nodes} {out} = Concat <axis = {self.axis}> ({names})", out
        out = self.name()
        if term.startswith("-"):
            return f"{out} = Neg ({term[1:]})", out
        if term[0] in SLICES:
            numbers = [(self.name(), k) for k in (*SLICES[term[0]], self.axis)]
            nodes = [f"{v} = Constant <value = int64[1] {{{k}}}> ()" for v, k in numbers]
            names = ", ".join(v for v, _ in numbers)
            return f"{' '.join(nodes)} {out} = Slice ({term[1:]}, {names})", out
        return f"{out} = Identity ({term})", out


def _split(term: str) -> list[str]:
    """The operands of the concatenation outside of brackets."""
    parts, depth, begin = [], 0, 0
    for k, letter in enumerate(term):
        depth += (letter == "[") - (letter == "]")
        if letter == "@" and depth == 0:
            parts.append(term[begin:k].strip())
            begin = k + 1
    return [*parts, term[begin:].strip()]


def _evaluate(term: str, axis: int, values: dict[str, np.ndarray], inner: bool) -> np.ndarray:
    parts = _split(term)
    if len(parts) > 1:
        return np.concatenate([_evaluate(part, axis, values, inner) for part in parts], axis)
    if term.startswith("["):
        yes, no = term[1:-1].split("|")
        return _evaluate((yes if inner else no).strip(), axis, values, inner)
    if term[0] in SLICES:
        x = values[term[1:]]
        return x[(slice(None),) * axis + (slice(*SLICES[term[0]]),)]
    return -values[term[1:]] if term.startswith("-") else values[term]


def _model(form: Form, rank: int, axis: int, part: str) -> onnx.ModelProto:
    def shape(along: str) -> str:
        return "float[" + ", ".join(along if k == axis else f"d{k}" for k in range(rank)) + "]"

    writer = Writer(shape("r"), axis)
    yes, no = (writer.write(term) for term in form)
    text = f"""(int64 M, bool[T] when, bool[T] inners, {shape(part)} p0, {shape(part)} q0, {shape("s")} x0)
    => ({shape("k")} y, float[T] sums) {{
  go = Constant<value: tensor = bool {{1}}>()
  y, sums = Loop(M, go, x0) <body = step (int64 i, bool c, {shape("a")} x) => (bool more, {shape("b")} next, float sum) {{
    more = Identity(c)
    outer = Gather(when, i)
    inner = Gather(inners, i)
    n = Cast<to: int = 1>(i)
    p = Add(p0, n)
    q = Sub(q0, n)
    next = If(outer) <then_branch = yes () => ({shape("e")} y1) {{ {yes[0]} y1 = Identity({yes[1]}) }},
                      else_branch = no () => ({shape("f")} y2) {{ {no[0]} y2 = Identity({no[1]}) }}>
    after = ReduceSum<keepdims: int = 0>(next)
    before = ReduceSum<keepdims: int = 0>(x)
    two = Constant<value: tensor = float {{2}}>()
    twice = Mul(before, two)
    sum = Add(after, twice)
  }}>
}}"""
    return kernels.parse(text)


def _feeds(rank: int, axis: int, rows: int, trips: int, seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)

    def numbers(along: int) -> np.ndarray:
        extents = [2] * rank
        extents[axis] = along
        return random.integers(-9, 9, extents).astype(np.float32)

    return {
        "M": np.array(trips, np.int64),
        "when": random.integers(0, 2, trips).astype(np.bool_),
        "inners": random.integers(0, 2, trips).astype(np.bool_),
        "p0": numbers(rows),
        "q0": numbers(rows),
        "x0": numbers(seed % 3),
    }


def _expected(
    form: Form, axis: int, feeds: dict[str, np.ndarray]
) -> tuple[np.ndarray, list[float]]:
    x, sums = feeds["x0"], []
    for i in range(int(feeds["M"])):
        values = {"x": x, "p": feeds["p0"] + np.float32(i), "q": feeds["q0"] - np.float32(i)}
        term = form[0] if feeds["when"][i] else form[1]
        before = x
        x = _evaluate(term, axis, values, bool(feeds["inners"][i]))
        sums.append(float(x.sum() + 2 * before.sum()))
    return x, sums


def _check(
    form: Form, rank: int, axis: int, rows: int, run: Callable[..., list[np.ndarray]]
) -> None:
    model = _model(form, rank, axis, "1" if rows == 1 else "u")
    for seed, trips in enumerate((1, 2, 7)):
        feeds = _feeds(rank, axis, rows, trips, seed)
        y, sums = _expected(form, axis, feeds)
        got = run(model, feeds)
        np.testing.assert_array_equal(got[0], y)
        np.testing.assert_array_equal(got[1], np.array(sums, np.float32))


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize(("rank", "axis"), [(1, 0), (2, 0), (2, 1), (3, 1)])
@pytest.mark.parametrize("form", FORMS)
def test_appends(form: str, rank: int, axis: int, rows: int) -> None:
    sessions: dict[bytes, loopc.InferenceSession] = {}

    def run(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
        data = model.SerializeToString(deterministic=True)
        if data not in sessions:
            sessions[data] = loopc.InferenceSession(data)
        return sessions[data].run(None, feeds)

    _check(FORMS[form], rank, axis, rows, run)


@pytest.mark.parametrize("device_loops", ["kernel", "graph"])
@pytest.mark.parametrize("form", FORMS)
def test_appends_on_gpu(gpu: Gpu, form: str, device_loops: str) -> None:
    def run(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
        got = gpu.run(model, feeds, device_loops=device_loops)
        assert not isinstance(got, str), got
        return got

    for rows in (1, 3):
        _check(FORMS[form], 2, 0, rows, run)


@pytest.mark.parametrize(
    "form",
    [
        "one branch",
        "the other branch",
        "in front",
        "both, the same length",
        "computed there",
        "a stack",
        "a queue",
    ],
)
def test_no_allocation_in_an_iteration(form: str) -> None:
    """Room is made some log(n) times for n iterations."""
    model = _model(FORMS[form], 2, 0, "1")
    session = loopc.InferenceSession(model.SerializeToString())
    counts = []
    for trips in (500, 4000):
        session.run(None, _feeds(2, 0, 1, trips, 1))
        counts.append(session.last_run_statistics.allocations)
    assert counts[1] < counts[0] + 12


@pytest.mark.parametrize("in_branch", [False, True])
def test_doubled_again_and_again(in_branch: bool) -> None:
    """What is concatenated with itself 60 times is looked at 60 times, not 2**60 times."""
    doubled = "\n".join(f"x{k + 1} = Concat <axis = 0> (x{k}, x{k})" for k in range(60))
    nodes = (
        f"y = If (c) <then_branch = yes () => (float[r] y1) {{ {doubled} y1 = Identity(x60) }}, "
        f"else_branch = no () => (float[r] y2) {{ y2 = Identity(x0) }}>"
        if in_branch
        else f"{doubled} y = Identity(x60)"
    )
    model = kernels.parse(f"""(int64 M, float[s] x) => (float[k] z) {{
  go = Constant<value: tensor = bool {{1}}>()
  z = Loop(M, go, x) <body = step (int64 i, bool c, float[a] x0) => (bool more, float[b] y) {{
    more = Identity(c)
    {nodes}
  }}>
}}""")
    session = loopc.InferenceSession(model.SerializeToString())
    (z,) = session.run(None, {"M": np.array(3, np.int64), "x": np.zeros(0, np.float32)})
    assert z.shape == (0,)


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("count", [0, 2])
def test_a_value_and_a_part_of_it(level, count):
    """Both branches give a tensor and rows of it, which begin at a known place."""
    model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["" : 18]>
        g (bool c, float[N, 3, 4] x) => (float[N, 1, 4] s, float[N, 3, 4] y) {
          b = Constant<value = int64[1] {2}>() e = Constant<value = int64[1] {3}>()
          a = Constant<value = int64[1] {1}>()
          s, y = If(c) <
            then_branch = t () => (float[N, 1, 4] s1, float[N, 3, 4] y1) {
              y1 = Abs(x) s1 = Slice(y1, b, e, a) },
            else_branch = f () => (float[N, 1, 4] s2, float[N, 3, 4] y2) {
              y2 = Neg(x) s2 = Slice(y2, b, e, a) }> }""")
    session = loopc.InferenceSession(
        model.SerializeToString(), loopc.SessionOptions(opt_level=level)
    )
    x = np.arange(-12, 12 * (count - 1), dtype=np.float32).reshape(count, 3, 4)
    for chosen, want in ((True, abs(x)), (False, -x)):
        part, whole = session.run(None, {"c": np.array(chosen), "x": x})
        np.testing.assert_array_equal(part, want[:, 2:3])
        np.testing.assert_array_equal(whole, want)
