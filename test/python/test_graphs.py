# ===- test_graphs.py - Loops as graphs on a GPU -----------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Loops as CUDA graphs with conditional nodes compute what they compute on the CPU.

The GPU is that of test_kernels.py: the driver for tests, which runs nodes that
nothing puts in order in another one, and says how often the host did something.
"""

from __future__ import annotations

import re
from typing import Any

import loopc
import numpy as np
import onnx
import pytest
import test_kernels as kernels
from test_kernels import Feeds, Gpu, numbers, parse, trips

gpu = kernels.gpu

#: Elements of a nest, and rows of a product, that are a kernel of their own.
MANY = 20000
SIDE = 70

BRANCHES = """(int64 M, float[n] x, bool[m] pick) => (float[n] y, float e, int64 count) {
  cond = Constant<value: tensor = bool {1}>()
  zero = Constant<value: tensor = int64 {0}>()
  start = Constant<value: tensor = float {0.5}>()
  axes = Constant<value: tensor = int64[1] {0}>()
  y, e, count = Loop(M, cond, x, start, zero) <body = body (int64 i, bool c, float[n] s, float r, int64 k) => (bool go, float[n] t, float q, int64 l) {
    go = Identity(c)
    p = Gather<axis: int = 0>(pick, i)
    q, l = If(p) <
      then_branch = yes () => (float b, int64 d) {
        one = Constant<value: tensor = int64 {1}>()
        sums = CumSum(s, zero)
        b = ReduceMax<keepdims: int = 0>(sums, axes)
        d = Add(k, one)
      },
      else_branch = no () => (float b, int64 d) {
        b = Identity(r)
        d = Identity(k)
      }
    >
    u = Mul(s, q)
    t = Sub(x, u)
  }>
}"""

ROWS = """(int64 M, float[n, d] x, int64[M] at) => (float[d] y) {
  cond = Constant<value: tensor = bool {1}>()
  zero = Constant<value: tensor = int64 {0}>()
  first = Gather<axis: int = 0>(x, zero)
  y = Loop(M, cond, first) <body = body (int64 i, bool c, float[d] s) => (bool go, float[d] t) {
    go = Identity(c)
    k = Gather<axis: int = 0>(at, i)
    row = Gather<axis: int = 0>(x, k)
    t = Add(s, row)
  }>
}"""

DEEP = """(int64 M, int64 K, float[n] x) => (float[n] y, float[M] sums) {
  cond = Constant<value: tensor = bool {1}>()
  first = Constant<value: tensor = int64 {0}>()
  axes = Constant<value: tensor = int64[1] {0}>()
  zero = Constant<value: tensor = float {0}>()
  y, sums = Loop(M, cond, x) <body = body (int64 i, bool c, float[n] s) => (bool go, float[n] t, float sum) {
    go = Identity(c)
    t = Loop(K, c, s) <body = inner (int64 j, bool d, float[n] p) => (bool g, float[n] q) {
      total = ReduceSum<keepdims: int = 0>(p, axes)
      g = Greater(total, zero)
      less = Less(i, j)
      e = If(less) <
        then_branch = yes () => (float a) { h = CumSum(p, first) a = ReduceMax<keepdims: int = 0>(h, axes) },
        else_branch = no () => (float a) { h = Abs(p) l = CumSum(h, first) a = ReduceMin<keepdims: int = 0>(l, axes) }
      >
      m = Mul(x, e)
      q = Sub(p, m)
    }>
    sum = ReduceSum<keepdims: int = 0>(t, axes)
  }>
}"""


def fix(text: str, **extents: int) -> onnx.ModelProto:
    """The model with numbers for names of dimensions: nothing in its loops allocates."""

    def replace(found: re.Match[str]) -> str:
        names = [name.strip() for name in found[1].split(",")]
        return "[" + ", ".join(str(extents.get(name, name)) for name in names) + "]"

    return parse(re.sub(r"(?<=[a-z0-9])\[([A-Za-z, ]+)\]", replace, text))


def check(gpu: Gpu, text: str | onnx.ModelProto, feeds: Feeds, **options: Any) -> None:
    """Holds a model whose loops are graphs against the CPU."""
    model = parse(text) if isinstance(text, str) else text
    before = gpu.count("cuGraphLaunch")
    kernels.check(gpu, model, feeds, device_loops="graph", **options)
    assert not gpu.counts or gpu.count("cuGraphLaunch") > before


@pytest.mark.parametrize("size", [0, 1, 33, 3000])
@pytest.mark.parametrize("count", [0, 1, 70])
def test_carried(gpu: Gpu, size: int, count: int) -> None:
    feeds = {"M": trips(count), "x": numbers(size), "w": numbers(size, seed=1)}
    check(gpu, kernels.CARRIED, feeds)


@pytest.mark.parametrize("limit", [1e9, 1.0, 1e-20])
def test_ends_by_condition(gpu: Gpu, limit: float) -> None:
    check(gpu, kernels.CONVERGE, {"x": numbers(300), "limit": np.float32(limit)})


@pytest.mark.parametrize("count", [0, 1, 2, 7])
@pytest.mark.parametrize("size", [17, SIDE])
def test_buffers_change_places(gpu: Gpu, size: int, count: int) -> None:
    feeds = {
        "M": trips(count),
        "x": numbers(size, size) / size**0.5,
        "z": numbers(size, size, seed=1) / size**0.5,
    }
    check(gpu, fix(kernels.SWAPPED, n=size), feeds, rtol=1e-4)


@pytest.mark.parametrize("shape", [(1, 1), (5, 40), (40, 5), (3, 1000)])
def test_collected(gpu: Gpu, shape: tuple[int, int]) -> None:
    check(gpu, kernels.SOFTMAX, {"M": trips(5), "x": numbers(*shape)}, rtol=1e-4)


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_branches_that_hand_on(gpu: Gpu, count: int) -> None:
    feeds = {"M": trips(count), "x": numbers(40), "pick": np.array([0, 1, 0, 1, 1, 0, 1]) == 1}
    check(gpu, fix(BRANCHES, n=40, m=7), feeds, rtol=1e-4)


def test_growing(gpu: Gpu) -> None:
    feeds = {"M": trips(40), "first": numbers(1, 24), "w": numbers(24, 24, seed=1) / 5}
    check(gpu, kernels.GROWING, feeds, rtol=1e-4)


@pytest.mark.parametrize("size", [50, MANY])
def test_nested(gpu: Gpu, size: int) -> None:
    feeds = {"M": trips(4), "K": trips(6), "x": numbers(size)}
    check(gpu, fix(kernels.NESTED, n=size), feeds, rtol=1e-4)


@pytest.mark.parametrize("inner", [0, 1, 4])
@pytest.mark.parametrize("outer", [0, 1, 6])
def test_branches_in_loops_in_loops(gpu: Gpu, outer: int, inner: int) -> None:
    feeds = {"M": trips(outer), "K": trips(inner), "x": numbers(60, seed=outer * 7 + inner)}
    check(gpu, fix(DEEP, n=60), feeds, rtol=1e-4)


def test_large_nests_in_branches(gpu: Gpu) -> None:
    feeds = {"M": trips(2), "K": trips(3), "x": numbers(MANY) / 100}
    check(gpu, fix(DEEP, n=MANY), feeds, rtol=1e-3)


@pytest.mark.parametrize("dtype", ["double", "float16", "bfloat16", "int8", "int64", "uint8"])
def test_element_types(gpu: Gpu, dtype: str) -> None:
    import ml_dtypes

    model = parse(
        f"""(int64 M, {dtype}[n] x, {dtype} k) => ({dtype}[n] y, {dtype} z) {{
          cond = Constant<value: tensor = bool {{1}}>()
          y, z = Loop(M, cond, x, k) <body = body (int64 i, bool c, {dtype}[n] s, {dtype} e) => (bool go, {dtype}[n] t, {dtype} f) {{
            go = Identity(c)
            t = Add(s, e)
            f = Add(e, k)
          }}>
        }}"""
    )
    kinds = {"double": np.float64, "bfloat16": ml_dtypes.bfloat16}
    kind = kinds.get(dtype) or np.dtype(dtype)
    feeds = {"M": trips(3), "x": (numbers(50) * 8).astype(kind), "k": np.array(2, dtype=kind)}
    check(gpu, model, feeds, rtol=1e-2 if "16" in dtype else 1e-6)


def test_check_in_an_iteration(gpu: Gpu) -> None:
    """What fails in one iteration ends the loop, with the CPU's words."""
    model = parse(ROWS)
    at = np.array([1, -1, 5, 2, 0] * 40, dtype=np.int64)
    feeds = {"M": trips(200), "x": numbers(6, 40), "at": at}
    check(gpu, model, feeds, rtol=1e-4)
    at[103] = 9
    with pytest.raises(loopc.RunError) as expected:
        loopc.InferenceSession(model).run(None, feeds)
    assert gpu.run(model, feeds, device_loops="graph") == str(expected.value)


def test_timeout(gpu: Gpu) -> None:
    """A loop of many iterations ends soon after its time is over."""
    feeds = {"M": trips(1 << 40), "x": numbers(8), "w": numbers(8, seed=1)}
    got = gpu.run(parse(kernels.CARRIED), feeds, device_loops="graph", timeout=0.2)
    assert isinstance(got, str)
    assert "time" in got
    nested = {"M": trips(1 << 40), "K": trips(3), "x": numbers(8)}
    got = gpu.run(fix(kernels.NESTED, n=8), nested, device_loops="graph", timeout=0.2)
    assert isinstance(got, str)


def test_host_is_not_in_the_loop(gpu: Gpu) -> None:
    """One launch, and as many calls for a thousand iterations as for ten."""
    calls = (*kernels.CALLS, "cuGraphLaunch")
    counts = []
    for count in (1, 10, 1000):
        before = {name: gpu.count(name) for name in calls}
        feeds = {"M": trips(count), "K": trips(2), "x": numbers(16)}
        got = gpu.run(fix(DEEP, n=16), feeds, device_loops="graph")
        assert not isinstance(got, str)
        counts.append({name: gpu.count(name) - before[name] for name in calls})
    assert counts[1] == counts[2]
    if gpu.counts:
        assert counts[1]["cuGraphLaunch"] == 1
        assert counts[1]["cuLaunchCooperativeKernel"] == counts[1]["cuLaunchKernelEx"] == 0


def test_is_made_once(gpu: Gpu) -> None:
    before = [gpu.count(name) for name in ("cuGraphInstantiate", "cuGraphLaunch")]
    feeds = {"M": trips(5), "x": numbers(33), "w": numbers(33, seed=1)}
    model = parse(kernels.CARRIED)
    model.graph.name = "no_test_before_has_a_session_of_it"
    check(gpu, model, feeds, count=6)
    after = [gpu.count(name) for name in ("cuGraphInstantiate", "cuGraphLaunch")]
    if gpu.counts:
        assert [b - a for a, b in zip(before, after, strict=True)] == [1, 6]


@pytest.mark.parametrize("form", ["kernel", "host", "auto"])
def test_other_forms(gpu: Gpu, form: str) -> None:
    before = {name: gpu.count(name) for name in ("cuGraphLaunch", "cuLaunchKernel")}
    feeds = {"M": trips(20), "x": numbers(33), "w": numbers(33, seed=1)}
    kernels.check(gpu, parse(kernels.CARRIED), feeds, device_loops=form)
    if gpu.counts:
        assert gpu.count("cuGraphLaunch") == before["cuGraphLaunch"]
        launches = gpu.count("cuLaunchKernel") - before["cuLaunchKernel"]
        assert launches >= 20 if form == "host" else launches < 5


LARGE = """(int64 M, float[n] x, float[k] u, int64[k] at) => (float[n] y, float[k] v) {
  cond = Constant<value: tensor = bool {1}>()
  axes = Constant<value: tensor = int64[1] {0}>()
  y, v = Loop(M, cond, x, u) <body = body (int64 i, bool c, float[n] s, float[k] r) => (bool go, float[n] t, float[k] q) {
    go = Identity(c)
    sum = ReduceSum<keepdims: int = 1>(r, axes)
    t = Mul(s, sum)
    picked = Gather<axis: int = 0>(t, at)
    q = Sub(picked, r)
  }>
}"""


@pytest.mark.parametrize(("size", "graphs"), [(1 << 20, 1), (1 << 10, 0)])
def test_is_chosen(gpu: Gpu, size: int, graphs: int) -> None:
    """A large nest beside a small one is a graph without being asked for; small ones are not."""
    few = 16
    feeds = {
        "M": trips(2),
        "x": numbers(size),
        "u": abs(numbers(few, seed=1)),
        "at": np.arange(few) * (size // few - 1),
    }
    before = gpu.count("cuGraphLaunch")
    kernels.check(gpu, fix(LARGE, n=size, k=few), feeds, rtol=1e-4)
    assert not gpu.counts or gpu.count("cuGraphLaunch") - before == graphs


def test_unknown_form() -> None:
    with pytest.raises(loopc.InvalidArgument, match="device_loops"):
        loopc.InferenceSession(parse(kernels.CARRIED), device_loops="often")
