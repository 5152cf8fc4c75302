# ===- test_kernel_products.py - Products and sums as kernels -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Products of matrices by tiles, sums by warps and blocks: as the CPU has them.

The parameters that a model does not depend on come first, so that tests one after the
other share its code.

The driver for tests also looks for races: threads of a block that use the same
memory without a barrier between.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator

import loopc
import ml_dtypes
import numpy as np
import onnx
import pytest
from test_kernels import SWAPPED, Feeds, Gpu, check, numbers, parse, trips

#: Rows, columns and length of the sum: tiles that are full, that are not, that are
#: too small, and vectors.
EXTENTS = [
    (64, 64, 32),
    (70, 90, 50),
    (33, 130, 17),
    (200, 40, 100),
    (31, 64, 64),
    (3, 40, 130),
    (1, 300, 200),
    (300, 1, 70),
    (40, 40, 0),
    (0, 40, 40),
]

FLOATS = {
    "float": (np.float32, 1e-4),
    "double": (np.float64, 1e-11),
    "float16": (np.float16, 2e-3),
    "bfloat16": (ml_dtypes.bfloat16, 2e-2),
}


@pytest.fixture(scope="module")
def racing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gpu]:
    """A GPU that looks for races."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPC_FAKE_CUDA_RACES", "1")
        made = Gpu(tmp_path_factory.mktemp("gpu"))
        yield made
        made.pool.shutdown()


def whole(*shape: int, dtype: type, seed: int = 0) -> np.ndarray:
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("extents", EXTENTS)
def test_extents(racing: Gpu, extents: tuple[int, int, int]) -> None:
    rows, columns, depth = extents
    model = parse(
        """(float[M, K] x, float[K, N] w, float[N] b) => (float[M, N] y) {
          p = MatMul(x, w)
          q = Add(p, b)
          y = Relu(q)
        }"""
    )
    feeds = {"x": numbers(rows, depth) / 8, "w": numbers(depth, columns, seed=1)}
    check(racing, model, {**feeds, "b": numbers(columns, seed=2)}, rtol=1e-4)


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("dtype", FLOATS)
def test_floats(racing: Gpu, dtype: str, batch: int) -> None:
    kind, rtol = FLOATS[dtype]
    model = parse(
        f"({dtype}[B, M, K] x, {dtype}[B, K, N] w) => ({dtype}[B, M, N] y) {{ y = MatMul(x, w) }}"
    )
    # Positive, so that rounding of the result is all that differs.
    feeds = {
        "x": abs(numbers(batch, 70, 50)).astype(kind),
        "w": abs(numbers(batch, 50, 90, seed=1)).astype(kind),
    }
    check(racing, model, feeds, rtol=rtol)


@pytest.mark.parametrize("dtype", ["float", "float16"])
def test_large_tiles(racing: Gpu, dtype: str) -> None:
    """Of which there are enough for all processors of a device."""
    kind, rtol = FLOATS[dtype]
    model = parse(
        f"({dtype}[B, M, K] x, {dtype}[K, N] w) => ({dtype}[B, N, M] y) {{\n"
        "p = MatMul(x, w) y = Transpose<perm: ints = [0, 2, 1]>(p) }"
    )
    feeds = {
        "x": abs(numbers(128 * 8, 16, 20)).astype(kind),
        "w": abs(numbers(20, 36, seed=1)).astype(kind),
    }
    check(racing, model, feeds, rtol=rtol)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_integers(racing: Gpu, dtype: str) -> None:
    model = parse(f"({dtype}[M, K] x, {dtype}[K, N] w) => ({dtype}[M, N] y) {{ y = MatMul(x, w) }}")
    kind = np.dtype(dtype).type
    feeds = {"x": whole(40, 33, dtype=kind), "w": whole(33, 70, dtype=kind, seed=1)}
    check(racing, model, feeds)


@pytest.mark.parametrize("depth", [150, 160])
@pytest.mark.parametrize("left", ["uint8", "int8"])
@pytest.mark.parametrize("right", ["uint8", "int8"])
@pytest.mark.parametrize("points", [False, True])
def test_bytes(racing: Gpu, left: str, right: str, points: bool, depth: int) -> None:
    extra = f", {left} p, {right}[N] q" if points else ""
    model = parse(
        f"({left}[M, K] x, {right}[K, N] w{extra}) => (int32[M, N] y) {{\n"
        f"y = MatMulInteger(x, w{', p, q' if points else ''}) }}"
    )
    kinds = np.dtype(left).type, np.dtype(right).type
    feeds: Feeds = {
        "x": whole(70, depth, dtype=kinds[0]),
        "w": whole(depth, 96, dtype=kinds[1], seed=1),
    }
    if points:
        feeds |= {"p": kinds[0](7), "q": whole(96, dtype=kinds[1], seed=2)}
    check(racing, model, feeds)


@pytest.mark.parametrize("per_row", [False, True])
def test_quantized(racing: Gpu, per_row: bool) -> None:
    """Zero points of rows and of columns, and a batch."""
    rows, columns, depth = 40, 70, 90
    many = "[M]" if per_row else ""
    model = parse(
        f"""(uint8[B, M, K] x, float{many} a, uint8{many} p, int8[K, N] w, float[N] b, int8[N] q, float c, uint8 r) => (uint8[B, M, N] y) {{
          y = QLinearMatMul(x, a, p, w, b, q, c, r)
        }}"""
    )
    size = (rows,) if per_row else ()
    feeds: Feeds = {
        "x": whole(2, rows, depth, dtype=np.uint8),
        "a": np.full(size, 0.02, np.float32),
        "p": whole(*size, dtype=np.uint8, seed=3) if per_row else np.uint8(130),
        "w": whole(depth, columns, dtype=np.int8, seed=1),
        "b": np.full(columns, 0.01, np.float32),
        "q": whole(columns, dtype=np.int8, seed=2),
        "c": np.float32(1.5),
        "r": np.uint8(128),
    }
    check(racing, model, feeds)


@pytest.mark.parametrize("left", ["uint8", "int8"])
@pytest.mark.parametrize("points", ["", "p", "q", "pq"])
@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("step", [1, 2])
def test_convolution_of_bytes(racing: Gpu, left: str, points: str, group: int, step: int) -> None:
    """The zero point lies around the image; each channel of the weights has its own."""
    extra = (f", {left} p" if "p" in points else "") + (", uint8[80] q" if "q" in points else "")
    # Tiles are chosen by the run, or when the model is compiled.
    image, channels = "2, 4, 9, 11", f"80, {4 // group}"
    if points == "pq" and group == 1:
        image, channels = "N, C, H, W", "o, D"
    given = ("p" if "p" in points else '""') + (", q" if "q" in points else "")
    model = parse(
        f"""({left}[{image}] x, uint8[{channels}, 3, 3] w{extra}) => (int32[n, o, P, Q] y) {{
          y = ConvInteger<pads: ints = [1, 0, 1, 2], strides: ints = [{step}, 1], group: int = {group}>(x, w{"" if not points else ", " + given})
        }}"""
    )
    kind = np.dtype(left).type
    feeds: Feeds = {
        "x": whole(2, 4, 9, 11, dtype=kind),
        "w": whole(80, 4 // group, 3, 3, dtype=np.uint8, seed=1),
    }
    if "p" in points:
        feeds["p"] = kind(99)
    if "q" in points:
        feeds["q"] = whole(80, dtype=np.uint8, seed=2)
    check(racing, model, feeds)


def test_quantized_convolution(racing: Gpu) -> None:
    model = parse(
        """(uint8[N, C, H, W] x, float a, uint8 p, int8[40, C, 3, 3] w, float[40] b, int8[40] q, float c, uint8 r, int32[40] bias) => (uint8[N, 40, P, Q] y) {
          y = QLinearConv<pads: ints = [1, 1, 1, 1]>(x, a, p, w, b, q, c, r, bias)
        }"""
    )
    feeds: Feeds = {
        "x": whole(1, 5, 8, 9, dtype=np.uint8),
        "a": np.float32(0.05),
        "p": np.uint8(120),
        "w": whole(40, 5, 3, 3, dtype=np.int8, seed=1),
        "b": np.full(40, 0.01, np.float32),
        "q": whole(40, dtype=np.int8, seed=2),
        "c": np.float32(0.5),
        "r": np.uint8(3),
        "bias": whole(40, dtype=np.int32, seed=3) // 100000,
    }
    check(racing, model, feeds)


@pytest.mark.parametrize("extents", [(70, 90, 50), (80, 96, 48)])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("turned", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_transposed(
    racing: Gpu, dtype: str, turned: tuple[int, int], extents: tuple[int, int, int]
) -> None:
    """Of extents where threads read 16 bytes at once, and where they cannot."""
    kind, rtol = FLOATS[dtype]
    rows, columns, depth = extents
    model = parse(
        f"({dtype}[P, Q] x, {dtype}[R, S] w, {dtype}[N] c) => ({dtype}[M, N] y) {{\n"
        f"y = Gemm<transA: int = {turned[0]}, transB: int = {turned[1]}>(x, w, c) }}"
    )
    x = abs(numbers(rows, depth)).astype(kind)
    w = abs(numbers(depth, columns, seed=1)).astype(kind)
    feeds = {"x": x.T if turned[0] else x, "w": w.T if turned[1] else w}
    feeds = {name: np.ascontiguousarray(value) for name, value in feeds.items()}
    check(racing, model, {**feeds, "c": abs(numbers(columns)).astype(kind)}, rtol=rtol)


def test_what_follows_is_in_the_kernel(racing: Gpu) -> None:
    model = parse(
        """(float[M, K] x, float[K, N] w, float[N] b) => (float[M, N] y) {
          p = MatMul(x, w)
          q = Add(p, b)
          y = Sigmoid(q)
        }"""
    )
    before = racing.count("cuLaunchKernel")
    feeds = {"x": numbers(70, 50), "w": numbers(50, 90, seed=1), "b": numbers(90, seed=2)}
    check(racing, model, feeds, rtol=1e-4)
    assert racing.count("cuLaunchKernel") - before == int(racing.counts)


def test_rounded_where_allowed(racing: Gpu) -> None:
    model = parse("(float[M, K] x, float[K, N] w) => (float[M, N] y) { y = MatMul(x, w) }")
    feeds = {"x": abs(numbers(70, 50)), "w": abs(numbers(50, 90, seed=1))}
    exact = feeds["x"].astype(np.float64) @ feeds["w"].astype(np.float64)
    errors = []
    for allow in (False, True):
        got = racing.run(model, feeds, allow_tf32=allow)
        assert not isinstance(got, str), got
        errors.append(np.max(abs(got[0] - exact) / exact))
    assert errors[0] < 1e-6
    assert 1e-6 < errors[1] < 1e-3


@pytest.mark.parametrize("extent", [20, 70])
def test_in_a_loop(racing: Gpu, extent: int) -> None:
    feeds = {
        "M": trips(3),
        "x": numbers(extent, extent) / 8,
        "z": numbers(extent, extent, seed=1) / 8,
    }
    check(racing, parse(SWAPPED), feeds, rtol=1e-3)


@pytest.mark.parametrize(("batch", "hidden"), [(33, 48), (2, 100), (1, 70)])
@pytest.mark.parametrize("operator", ["LSTM", "GRU", "RNN"])
def test_recurrent(racing: Gpu, operator: str, batch: int, hidden: int) -> None:
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[operator]
    width = 40
    model = parse(
        f"""(float[T, B, {width}] x) => (float[T, 1, B, {hidden}] y, float[1, B, {hidden}] h) {{
          y, h = {operator}<hidden_size: int = {hidden}>(x, w, r, b)
        }}""",
        w=numbers(1, gates * hidden, width, seed=1) / 5,
        r=numbers(1, gates * hidden, hidden, seed=2) / 8,
        b=numbers(1, 2 * gates * hidden, seed=3),
    )
    check(racing, model, {"x": numbers(3, batch, width)}, rtol=1e-3)


@pytest.mark.parametrize("channels", [4, 8])
@pytest.mark.parametrize("dtype", ["float", "float16"])
@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("step", [1, 2])
def test_convolution(racing: Gpu, dtype: str, group: int, step: int, channels: int) -> None:
    """Weights of a filter lie one behind the other: threads read 16 bytes where they can."""
    kind, rtol = FLOATS[dtype]
    model = parse(
        f"""({dtype}[N, C, H, W] x, {dtype}[o, D, 3, 3] w, {dtype}[o] b) => ({dtype}[N, o, P, Q] y) {{
          c = Conv<pads: ints = [1, 1, 1, 1], strides: ints = [{step}, {step}], group: int = {group}>(x, w, b)
          y = Relu(c)
        }}"""
    )
    feeds = {
        "x": abs(numbers(2, channels, 9, 11)).astype(kind),
        "w": abs(numbers(80, channels // group, 3, 3, seed=1)).astype(kind),
        "b": abs(numbers(80, seed=2)).astype(kind),
    }
    check(racing, model, feeds, rtol=rtol)


def test_attention(racing: Gpu) -> None:
    model = parse(
        """(float[B, h, s, 32] q, float[B, h, s, 32] k, float[B, h, s, 32] v) => (float[B, h, s, 32] y) {
          t = Transpose<perm: ints = [0, 1, 3, 2]>(k)
          a = MatMul(q, t)
          b = Softmax<axis: int = -1>(a)
          y = MatMul(b, v)
        }"""
    )
    feeds = {name: numbers(2, 2, 40, 32, seed=k) for k, name in enumerate("qkv")}
    check(racing, model, feeds, rtol=1e-3)


SUMS = {
    "ReduceSum": ["float", "double", "float16", "bfloat16", "int32", "int64", "uint32", "uint64"],
    "ReduceMax": ["float", "double", "float16", "bfloat16", "int32", "int64", "uint64", "int8"],
    "ReduceMin": ["float", "double", "float16", "uint32", "uint8"],
    "ReduceProd": ["float", "double", "int64"],
    "ReduceL2": ["float", "double", "float16"],
    "ReduceLogSumExp": ["float", "double"],
}


@pytest.mark.parametrize("length", [70, 1500])
@pytest.mark.parametrize(
    ("operator", "dtype"), [(name, dtype) for name, all_ in SUMS.items() for dtype in all_]
)
@pytest.mark.parametrize("axis", [0, 1])
def test_sums(racing: Gpu, operator: str, dtype: str, axis: int, length: int) -> None:
    """Along rows and across them, by threads, warps and blocks."""
    model = parse(
        f"""({dtype}[R, C] x) => ({dtype}[Q] y) {{
          axes = Constant<value: tensor = int64[1] {{{axis}}}>()
          y = {operator}<keepdims: int = 0>(x, axes)
        }}"""
    )
    kind = FLOATS[dtype][0] if dtype in FLOATS else np.dtype(dtype).type
    values = abs(numbers(5, length))
    if operator == "ReduceProd":
        values = 1 + values / 100 if dtype in FLOATS else np.sign(values) * 3
    elif dtype not in FLOATS:
        values *= 30
    x = np.ascontiguousarray(values.astype(kind).T if axis == 0 else values.astype(kind))
    check(racing, model, {"x": x}, rtol=2e-2 if "16" in dtype else 1e-4)


@pytest.mark.parametrize("columns", [40, 1100])
def test_rows_in_a_loop(racing: Gpu, columns: int) -> None:
    """Sums of doubles that all threads of a block add up."""
    model = parse(
        """(int64 M, double[r, c] x) => (double[r, c] y) {
          cond = Constant<value: tensor = bool {1}>()
          y = Loop(M, cond, x) <body = body (int64 i, bool k, double[r, c] s) => (bool go, double[r, c] t) {
            a = Softmax<axis: int = 1>(s)
            all = ReduceSum<keepdims: int = 0>(a)
            zero = Constant<value: tensor = double {0}>()
            go = Greater(all, zero)
            t = Add(a, x)
          }>
        }"""
    )
    feeds = {"M": trips(3), "x": numbers(3, columns).astype(np.float64)}
    check(racing, model, feeds, rtol=1e-9)


def test_tensor_cores_are_used(tmp_path: pathlib.Path) -> None:
    """By the code for chips that have them."""
    text = "({0}[64, 64] x, {0}[64, 64] w) => ({1}[64, 64] y) {{ y = {2}(x, w) }}"
    expected = {
        ("float16", "float16", "MatMul"): "m16n8k16.row.col.f32.f16.f16.f32",
        ("bfloat16", "bfloat16", "MatMul"): "m16n8k16.row.col.f32.bf16.bf16.f32",
        ("double", "double", "MatMul"): "m8n8k4.row.col.f64.f64.f64.f64",
        ("uint8", "int32", "MatMulInteger"): "m16n8k32.row.col.s32.u8.u8.s32",
        ("float", "float", "MatMul"): "m16n8k8.row.col.f32.tf32.tf32.f32",
    }
    for which, instruction in expected.items():
        model: onnx.ModelProto = parse(text.format(*which))
        for chip in ("sm_75", "sm_80"):
            path = tmp_path / "code.ptx"
            loopc.compile(model, path, emit="ptx", chip=chip, allow_tf32=True)
            assert (f"mma.sync.aligned.{instruction}" in path.read_text()) == (chip == "sm_80")


def test_times(racing: Gpu) -> None:
    """The command that times products runs, and finds their results right."""
    root = pathlib.Path(__file__).parents[2]
    package = pathlib.Path(loopc.__file__).parents[1]
    driver = str(package.parent / "test/cuda/libcuda.so.1") if racing.counts else "libcuda.so.1"
    environment = {"LOOPC_CUDA_DRIVER": driver, "LOOPC_PTXAS": "", "PYTHONPATH": str(package)}
    command = [sys.executable, str(root / "benchmarks/products.py")]
    done = subprocess.run(
        [*command, "--extents=64x40x64", "--seconds=0.01", "--dtypes=float32,float16"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:]] == [
        ["64x40x64", "float32"],
        ["64x40x64", "float16"],
    ]
