# ===- test_kernels.py - Models as kernels ------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models on a GPU compute what they compute on the CPU.

The GPU is the driver for tests (test/cuda/driver), which runs the PTX: it finds
reads of what was not written, accesses out of bounds and threads that wait for
others that never come. It also says how often the host launched something. With
LOOPC_TEST_CUDA_DRIVER=libcuda.so.1 it is the machine's own, which counts nothing.
"""

from __future__ import annotations

import concurrent.futures
import functools
import multiprocessing
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import kernel_worker
import loopc
import numpy as np
import onnx
import onnx.parser
import pytest

Feeds = dict[str, np.ndarray]


class Gpu:
    """The process with the GPU."""

    def __init__(self, folder: pathlib.Path, **environment: str) -> None:
        built = pathlib.Path(loopc.__file__).parents[2] / "test/cuda/libcuda.so.1"
        driver = os.environ.get("LOOPC_TEST_CUDA_DRIVER", str(built))
        self.counts = driver == str(built)
        assert not self.counts or built.is_file(), f"{built} was not built"
        self.log = folder / "calls"
        self.pool = concurrent.futures.ProcessPoolExecutor(
            1,
            multiprocessing.get_context("spawn"),
            kernel_worker.begin,
            (driver, str(self.log), environment),
        )

    def run(self, model: onnx.ModelProto, feeds: Feeds, **options: Any) -> list[np.ndarray] | str:
        future = self.pool.submit(
            kernel_worker.run, model.SerializeToString(deterministic=True), feeds, **options
        )
        return future.result(timeout=100)

    def count(self, call: str) -> int:
        """How often the driver was called so."""
        return sum(line.split()[0] == call for line in self.lines())

    def lines(self) -> list[str]:
        """The calls of the driver."""
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture(scope="module")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gpu]:
    made = Gpu(tmp_path_factory.mktemp("gpu"))
    yield made
    made.pool.shutdown()


def parse(text: str, **weights: np.ndarray) -> onnx.ModelProto:
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> m {text.strip()}')
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(value, name) for name, value in weights.items()
    )
    onnx.checker.check_model(model, full_check=True)
    return model


#: What begins kernels, by the form of the launch.
LAUNCHES = ("cuLaunchKernel", "cuLaunchCooperativeKernel", "cuLaunchKernelEx")


def count_launches(gpu: Gpu) -> int:
    return sum(gpu.count(name) for name in (*LAUNCHES, "cuGraphLaunch"))


@functools.lru_cache(maxsize=8)
def _on_cpu(model: bytes) -> loopc.InferenceSession:
    """Without optimisation: this is the other side's code, which has tests of its own."""
    return loopc.InferenceSession(model, loopc.SessionOptions(opt_level=0))


def check(
    gpu: Gpu, model: onnx.ModelProto, feeds: Feeds, rtol: float = 1e-5, **options: Any
) -> None:
    """Holds the GPU against the CPU."""
    expected = _on_cpu(model.SerializeToString(deterministic=True)).run(None, feeds)
    launches = count_launches(gpu)
    got = gpu.run(model, feeds, **options)
    assert not isinstance(got, str), got
    if gpu.counts:
        assert count_launches(gpu) > launches
    for one, other in zip(expected, got, strict=True):
        assert one.dtype == other.dtype
        if one.dtype.kind in "biu":
            np.testing.assert_array_equal(one, other)
        else:
            wide = np.complex128 if one.dtype.kind == "c" else np.float64
            np.testing.assert_allclose(one.astype(wide), other.astype(wide), rtol=rtol, atol=1e-6)


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


CARRIED = """(int64 M, float[n] x, float[n] w) => (float[n] y) {
  cond = Constant<value: tensor = bool {1}>()
  y = Loop(M, cond, x) <body = body (int64 i, bool c, float[n] s) => (bool go, float[n] t) {
    go = Identity(c)
    a = Mul(s, w)
    b = Tanh(a)
    t = Add(b, x)
  }>
}"""

CONVERGE = """(float[n] x, float limit) => (float[n] y, float[k, n] ys, float[k] es) {
  cond = Constant<value: tensor = bool {1}>()
  half = Constant<value: tensor = float {0.5}>()
  axes = Constant<value: tensor = int64[1] {0}>()
  y, ys, es = Loop("", cond, x) <body = body (int64 i, bool c, float[n] s) => (bool go, float[n] t, float[n] u, float e) {
    t = Mul(s, half)
    u = Identity(t)
    a = Abs(t)
    e = ReduceSum<keepdims: int = 0>(a, axes)
    go = Greater(e, limit)
  }>
}"""

SWAPPED = """(int64 M, float[n, n] x, float[n, n] z) => (float[n, n] y, float[n, n] v) {
  cond = Constant<value: tensor = bool {1}>()
  y, v = Loop(M, cond, x, z) <body = body (int64 i, bool c, float[n, n] s, float[n, n] t) => (bool go, float[n, n] p, float[n, n] q) {
    go = Identity(c)
    m = MatMul(s, t)
    p = Tanh(m)
    q = Identity(s)
  }>
}"""

SOFTMAX = """(int64 M, float[r, c] x) => (float[r, c] y, float[M, r] sums) {
  cond = Constant<value: tensor = bool {1}>()
  axes = Constant<value: tensor = int64[1] {1}>()
  y, sums = Loop(M, cond, x) <body = body (int64 i, bool k, float[r, c] s) => (bool go, float[r, c] t, float[r] u) {
    go = Identity(k)
    a = Softmax<axis: int = 1>(s)
    u = ReduceSum<keepdims: int = 0>(s, axes)
    t = Add(a, x)
  }>
}"""

BRANCH = """(int64 M, float[n] x) => (float[n] y) {
  cond = Constant<value: tensor = bool {1}>()
  zero = Constant<value: tensor = float {0}>()
  axes = Constant<value: tensor = int64[1] {0}>()
  y = Loop(M, cond, x) <body = body (int64 i, bool c, float[n] s) => (bool go, float[n] t) {
    go = Identity(c)
    sum = ReduceSum<keepdims: int = 0>(s, axes)
    positive = Greater(sum, zero)
    t = If(positive) <
      then_branch = yes () => (float[n] a) { a = Sub(s, sum) },
      else_branch = no () => (float[n] a) { e = Exp(s) a = Add(e, x) }
    >
  }>
}"""

GROWING = """(int64 M, float[1, d] first, float[d, d] w) => (float[t, d] y) {
  cond = Constant<value: tensor = bool {1}>()
  axes = Constant<value: tensor = int64[1] {0}>()
  y = Loop(M, cond, first) <body = body (int64 i, bool c, float[t, d] s) => (bool go, float[u, d] r) {
    go = Identity(c)
    mean = ReduceMean<keepdims: int = 1>(s, axes)
    next = MatMul(mean, w)
    r = Concat<axis: int = 0>(s, next)
  }>
}"""

NESTED = """(int64 M, int64 K, float[n] x) => (float[n] y, float[M, n] ys) {
  cond = Constant<value: tensor = bool {1}>()
  y, ys = Loop(M, cond, x) <body = body (int64 i, bool c, float[n] s) => (bool go, float[n] t, float[n] u) {
    go = Identity(c)
    t = Loop(K, c, s) <body = inner (int64 j, bool d, float[n] p) => (bool g, float[n] q) {
      g = Identity(d)
      a = Sin(p)
      q = Add(a, x)
    }>
    u = Neg(t)
  }>
}"""

SEQUENCE = """(int64 M, float[n] x) => (float[m] y) {
  cond = Constant<value: tensor = bool {1}>()
  empty = SequenceEmpty()
  s, z = Loop(M, cond, empty, x) <body = body (int64 i, bool c, seq(float[n]) l, float[n] v) => (bool go, seq(float[n]) r, float[n] w) {
    go = Identity(c)
    w = Mul(v, x)
    r = SequenceInsert(l, w)
  }>
  y = ConcatFromSequence<axis: int = 0>(s)
}"""

GATHER = """(int64 M, float[n, d] x, int64[k] at) => (float[k, d] y) {
  cond = Constant<value: tensor = bool {1}>()
  g = Gather<axis: int = 0>(x, at)
  y = Loop(M, cond, g) <body = body (int64 i, bool c, float[k, d] s) => (bool go, float[k, d] t) {
    go = Identity(c)
    again = Gather<axis: int = 0>(x, at)
    t = Add(s, again)
  }>
}"""


def trips(count: int) -> np.ndarray:
    return np.array(count, dtype=np.int64)


@pytest.mark.parametrize("size", [0, 1, 33, 3000])
@pytest.mark.parametrize("count", [0, 1, 70])
def test_carried(gpu: Gpu, size: int, count: int) -> None:
    check(gpu, parse(CARRIED), {"M": trips(count), "x": numbers(size), "w": numbers(size, seed=1)})


@pytest.mark.parametrize("limit", [1e9, 1.0, 1e-20])
def test_ends_by_condition(gpu: Gpu, limit: float) -> None:
    check(gpu, parse(CONVERGE), {"x": numbers(300), "limit": np.float32(limit)})


@pytest.mark.parametrize("size", [5, 70, 170, 300, 400, 513])
def test_sum_by_a_block(gpu: Gpu, size: int) -> None:
    """Each number of warps, also one that is no power of 2."""
    check(gpu, parse(CONVERGE), {"x": numbers(size), "limit": np.float32(1.0)})
    known = CONVERGE.replace("[n]", f"[{size}]")
    check(gpu, parse(known), {"x": numbers(size), "limit": np.float32(1.0)})


@pytest.mark.parametrize("shape", [(40_000,), (70_001,), (100,), (300, 211), (3, 40, 50)])
@pytest.mark.parametrize("known", [False, True])
def test_norm_of_all(gpu: Gpu, shape: tuple[int, ...], known: bool) -> None:
    """Long sums are parts for many blocks; the last axis first."""
    dims = ",".join(str(extent) if known else f"d{axis}" for axis, extent in enumerate(shape))
    text = f"""(int64 M, float[{dims}] x) => (float[{dims}] y, float[m] sizes, float[m] most) {{
      cond = Constant<value: tensor = bool {{1}}>()
      small = Constant<value: tensor = float {{0.001}}>()
      y, sizes, most = Loop(M, cond, x) <body = body (int64 i, bool c, float[{dims}] s)
          => (bool go, float[{dims}] t, float size, float largest) {{
        go = Identity(c)
        a = Tanh(s)
        size = ReduceL2<keepdims: int = 0>(a)
        largest = ReduceMax<keepdims: int = 0>(s)
        away = Add(size, small)
        q = Div(s, away)
        t = Add(q, x)
      }}>
    }}"""
    check(gpu, parse(text), {"M": trips(3), "x": numbers(*shape)}, rtol=1e-4)


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_buffers_change_places(gpu: Gpu, count: int) -> None:
    feeds = {"M": trips(count), "x": numbers(17, 17) / 4, "z": numbers(17, 17, seed=1) / 4}
    check(gpu, parse(SWAPPED), feeds, rtol=1e-4)


@pytest.mark.parametrize("shape", [(1, 1), (5, 40), (40, 5), (3, 1000)])
def test_rows(gpu: Gpu, shape: tuple[int, int]) -> None:
    check(gpu, parse(SOFTMAX), {"M": trips(5), "x": numbers(*shape)}, rtol=1e-4)


def test_branches(gpu: Gpu) -> None:
    check(gpu, parse(BRANCH), {"M": trips(9), "x": numbers(100)}, rtol=1e-4)


def test_growing(gpu: Gpu) -> None:
    feeds = {"M": trips(40), "first": numbers(1, 24), "w": numbers(24, 24, seed=1) / 5}
    check(gpu, parse(GROWING), feeds, rtol=1e-4)


def test_nested(gpu: Gpu) -> None:
    check(gpu, parse(NESTED), {"M": trips(4), "K": trips(6), "x": numbers(50)}, rtol=1e-4)


def test_elements_of_lists(gpu: Gpu) -> None:
    """Their memory holds other elements later on."""
    model = parse(
        """(int64 M, float[n] x) => (float[n] y) {
          cond = Constant<value: tensor = bool {1}>()
          zero = Constant<value: tensor = int64 {0}>()
          one = SequenceConstruct(x)
          l, y = Loop(M, cond, one, x) <body = body (int64 i, bool c, seq(float[n]) s, float[n] t) => (bool go, seq(float[n]) q, float[n] u) {
            go = Identity(c)
            e = SequenceAt(s, zero)
            u = Add(e, t)
            r = SequenceErase(s, zero)
            v = Neg(u)
            q = SequenceInsert(r, v)
          }>
        }"""
    )
    check(gpu, model, {"M": trips(6), "x": numbers(30)})


def test_optional_in_loops(gpu: Gpu) -> None:
    """An element is freed once, so that its memory is not that of two values."""
    model = parse(
        """(float[n, m] x) => (float[k, a, b] y) {
          cond = Constant<value: tensor = bool {1}>()
          four = Constant<value: tensor = int64 {4}>()
          three = Constant<value: tensor = int64 {3}>()
          axes = Constant<value: tensor = int64[1] {0}>()
          y = Loop(four, cond) <body = body (int64 i, bool c) => (bool go, float[a, b] r) {
            go = Identity(c)
            first = Optional(x)
            last = Loop(three, c, first) <body = inner (int64 j, bool d, optional(float[n, m]) o) => (bool g, optional(float[n, m]) p) {
              g = Identity(d)
              has = OptionalHasElement(o)
              v = If(has) <
                then_branch = yes () => (float[?, ?] t) { e = OptionalGetElement(o) t = Tanh(e) },
                else_branch = no () => (float[?, ?] t) { t = Neg(x) }
              >
              p = Optional(v)
            }>
            w = OptionalGetElement(last)
            r = ReduceMin<keepdims: int = 1>(w, axes)
          }>
        }"""
    )
    check(gpu, model, {"x": numbers(3, 3)})


#: A loop whose state nobody reads but who copies it, and a number that the host writes then.
COPIED = """(int64 M, int64 n, float[d, d] x) => (float[d, d] z, int64 y) {
  cond = Constant<value: tensor = bool {1}>()
  zero = Constant<value: tensor = int64 {0}>()
  limit = Constant<value: tensor = float {0.37}>()
  a, b, k = Loop(M, cond, x, x, n) <body = body (int64 i, bool c, float[d, d] s, float[d, d] t, int64 j) => (bool go, float[d, d] p, float[d, d] q, int64 r) {
    go = Identity(c)
    first = ReduceMax<keepdims: int = 0>(s)
    less = Less(first, limit)
    p = If(less) <
      then_branch = yes () => (float[d, d] u) { u = Tanh(s) },
      else_branch = no () => (float[d, d] u) { v = Abs(s) u = Sqrt(v) }
    >
    q = Tanh(s)
    r = Identity(i)
  }>
  z = Neg(b)
  y = Add(k, zero)
}"""


@pytest.mark.parametrize("form", ["kernel", "graph", "host"])
@pytest.mark.parametrize("count", [0, 1, 4])
def test_copies_are_waited_for(gpu: Gpu, count: int, form: str) -> None:
    """Memory of the host is nobody else's before a copy to it is done."""
    feeds = {"M": trips(count), "n": trips(3), "x": numbers(3, 3)}
    check(gpu, parse(COPIED), feeds, rtol=1e-4, device_loops=form)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_copies_of_copies(gpu: Gpu, count: int) -> None:
    """From kernels to kernels by way of memory that neither they nor the host touch."""
    model = parse(
        """(int64 M, float[5] x) => (float[10] y) {
          cond = Constant<value: tensor = bool {1}>()
          s = Loop(M, cond, x) <body = body (int64 i, bool c, float[5] a) => (bool go, float[5] b) {
            go = Identity(c)
            b = Tanh(x)
          }>
          y = Concat<axis: int = 0>(s, x)
        }"""
    )
    check(gpu, model, {"M": trips(count), "x": numbers(5)})


def test_list(gpu: Gpu) -> None:
    check(gpu, parse(SEQUENCE), {"M": trips(5), "x": numbers(20)})


@pytest.mark.parametrize(
    "dtype", ["double", "float16", "bfloat16", "int8", "int32", "int64", "uint8"]
)
def test_element_types(gpu: Gpu, dtype: str) -> None:
    import ml_dtypes

    model = parse(
        f"""(int64 M, {dtype}[r, c] x) => ({dtype}[r, c] y, {dtype}[r] z) {{
          cond = Constant<value: tensor = bool {{1}}>()
          axes = Constant<value: tensor = int64[1] {{1}}>()
          y = Loop(M, cond, x) <body = body (int64 i, bool k, {dtype}[r, c] s) => (bool go, {dtype}[r, c] t) {{
            go = Identity(k)
            t = Add(s, x)
          }}>
          z = ReduceMax<keepdims: int = 0>(y, axes)
        }}"""
    )
    kinds = {"double": np.float64, "bfloat16": ml_dtypes.bfloat16}
    values = (numbers(7, 50) * 8).astype(kinds.get(dtype) or np.dtype(dtype))
    check(gpu, model, {"M": trips(3), "x": values}, rtol=1e-2 if "16" in dtype else 1e-6)


@pytest.mark.parametrize("steps", [1, 9])
def test_recurrent(gpu: Gpu, steps: int) -> None:
    hidden, width = 24, 10
    model = parse(
        f"""(float[T, B, {width}] x) => (float[T, 1, B, {hidden}] y, float[1, B, {hidden}] h, float[1, B, {hidden}] c) {{
          y, h, c = LSTM<hidden_size: int = {hidden}>(x, w, r, b)
        }}""",
        w=numbers(1, 4 * hidden, width, seed=1),
        r=numbers(1, 4 * hidden, hidden, seed=2) / 5,
        b=numbers(1, 8 * hidden, seed=3),
    )
    check(gpu, model, {"x": numbers(steps, 3, width)}, rtol=1e-4)


def test_convolution(gpu: Gpu) -> None:
    model = parse(
        """(float[N, C, H, W] x, float[o, C, 3, 3] w, float[o] b) => (float[N, o, P, Q] y) {
          c = Conv<pads: ints = [1, 1, 1, 1], strides: ints = [2, 2]>(x, w, b)
          r = Relu(c)
          y = MaxPool<kernel_shape: ints = [2, 2]>(r)
        }"""
    )
    feeds = {"x": numbers(2, 3, 17, 20), "w": numbers(5, 3, 3, 3, seed=1), "b": numbers(5, seed=2)}
    check(gpu, model, feeds, rtol=1e-4)


@pytest.mark.parametrize("dtype", ["float", "float16", "double", "int32", "uint32", "int64"])
@pytest.mark.parametrize(
    ("shape", "axis", "k"),
    [((2000,), 0, 5), ((3, 400), 1, 1), ((4, 300, 2), 1, 40), ((5, 70), 0, 3), ((2, 90), 1, 90)],
)
def test_best_of_lines(gpu: Gpu, dtype: str, shape: tuple[int, ...], axis: int, k: int) -> None:
    """Without a heap: few one after the other, many by their ranks; ties, zeros and NaN too."""
    rng = np.random.default_rng(1)
    x = np.round(rng.normal(size=shape) * 20)
    if "int" not in dtype:
        x.flat[rng.integers(0, x.size, 7)] = [np.nan, np.inf, -np.inf, -0.0, 0.0, 0.5, np.nan]
    x = (np.abs(x) if dtype == "uint32" else x).astype(
        {"float": np.float32, "double": np.float64}.get(dtype, dtype)
    )
    ends = ",".join(f"d{axis}" for axis in range(len(shape)))
    lines = ",".join(f"e{axis}" for axis in range(len(shape)))
    text = f"""({dtype}[{",".join(map(str, shape))}] x, int64[1] k) => ({dtype}[{ends}] y, int64[{lines}] at) {{
      y, at = TopK<axis: int = {axis}, largest: int = {k % 2}>(x, k)
    }}"""
    feeds = {"x": x, "k": np.array([k])}
    check(gpu, parse(text), feeds)
    model = parse(text)
    model.graph.input.pop()
    model.graph.initializer.append(onnx.numpy_helper.from_array(feeds.pop("k"), "k"))
    check(gpu, model, feeds)


def test_check_in_a_kernel(gpu: Gpu) -> None:
    model = parse(GATHER)
    feeds = {"M": trips(3), "x": numbers(5, 700), "at": np.array([0, -1, 4, 2], dtype=np.int64)}
    check(gpu, model, feeds)
    feeds["at"][2] = 5
    with pytest.raises(loopc.RunError) as expected:
        loopc.InferenceSession(model).run(None, feeds)
    assert gpu.run(model, feeds) == str(expected.value)


def test_host_is_not_in_the_loop(gpu: Gpu) -> None:
    """As many calls for a thousand iterations as for ten, where nothing grows."""
    counts = []
    # The first is there for what a process or a device does once.
    for count in (1, 10, 1000):
        before = {name: gpu.count(name) for name in CALLS}
        feeds = {"M": trips(count), "x": numbers(16), "w": numbers(16, seed=1)}
        assert not isinstance(gpu.run(parse(CARRIED), feeds, min_kernel_work=2048), str)
        counts.append({name: gpu.count(name) - before[name] for name in CALLS})
    assert counts[1] == counts[2]
    assert sum(counts[1][name] for name in LAUNCHES) == int(gpu.counts)


CALLS = (
    *LAUNCHES,
    "cuMemcpyAsync",
    "cuMemcpyHtoDAsync",
    "cuMemcpyDtoHAsync",
    "cuMemcpyDtoDAsync",
    "cuMemAllocAsync",
)


def test_growth_is_seldom(gpu: Gpu) -> None:
    """Collected values of unknown number: launches with the logarithm of the iterations."""
    before = count_launches(gpu)
    outputs = gpu.run(parse(CONVERGE), {"x": numbers(300), "limit": np.float32(1e-30)})
    assert not isinstance(outputs, str)
    assert len(outputs[2]) > 100
    launches = count_launches(gpu) - before
    assert launches < 20
