# ===- test_cublas.py - Products that cuBLAS computes -------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Products of matrices go to cuBLAS where there is one, and to kernels where not.

It is that of test/cuda/cublas, which is strict about what matrices may be and
writes a line for each call.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import loopc
import ml_dtypes
import numpy as np
import onnx
import pytest
from test_kernels import Feeds, Gpu, parse

LIBRARY = pathlib.Path(loopc.__file__).parents[2] / "test/cuda/libcublas.so.13"
NAMES = {
    "float32": "float",
    "float64": "double",
    "float16": "float16",
    "bfloat16": "bfloat16",
}


class Library:
    """A process with a GPU and cuBLAS."""

    def __init__(self, folder: pathlib.Path, patch: pytest.MonkeyPatch, **variables: str) -> None:
        self.log = folder / "cublas"
        settings = {"LOOPC_CUBLAS": str(LIBRARY), "LOOPC_FAKE_CUBLAS_LOG": str(self.log)}
        for name, value in (settings | variables).items():
            patch.setenv(name, value)
        self.gpu = Gpu(folder)

    def calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def check(self, model: onnx.ModelProto, feeds: Feeds, rtol: float = 1e-5,
              **options: str) -> list[str]:  # fmt: skip
        """Compares with the CPU; returns what cuBLAS was asked for."""
        want = loopc.InferenceSession(model.SerializeToString()).run(None, feeds)
        before = len(self.calls())
        got = self.gpu.run(model, feeds, **{"cublas": "on", **options})
        assert not isinstance(got, str), got
        for one, other in zip(got, want, strict=True):
            np.testing.assert_allclose(
                one.astype(np.float64), other.astype(np.float64), rtol=rtol, atol=rtol
            )
        return self.calls()[before:]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with pytest.MonkeyPatch.context() as patch:
        made = Library(tmp_path_factory.mktemp("gpu"), patch)
        yield made
        made.gpu.pool.shutdown()


def numbers(*shape: int, dtype: str = "float32", seed: int = 0) -> np.ndarray:
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(kind)


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("open_extents", [False, True])
def test_types(library: Library, dtype: str, open_extents: bool) -> None:
    name, m = NAMES[dtype], "M" if open_extents else "6"
    model = parse(
        f"({name}[{m}, 20] x, {name}[20, 9] w) => ({name}[{m}, 9] y) {{ y = MatMul(x, w) }}"
    )
    feeds = {"x": numbers(6, 20, dtype=dtype), "w": numbers(20, 9, dtype=dtype, seed=1)}
    calls = library.check(model, feeds)
    assert len(calls) == 1
    assert calls[0].startswith("gemm NN 9x6x20 batch 1 ") and calls[0].endswith(" math 16")


@pytest.mark.parametrize(("turn_a", "turn_b"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_transposed(library: Library, turn_a: int, turn_b: int) -> None:
    a, b = (20, 6) if turn_a else (6, 20), (9, 20) if turn_b else (20, 9)
    model = parse(
        f"(float{list(a)} x, float{list(b)} w) => (float[6, 9] y) "
        f"{{ y = Gemm<transA: int = {turn_a}, transB: int = {turn_b}>(x, w) }}"
    )
    calls = library.check(model, {"x": numbers(*a), "w": numbers(*b, seed=1)})
    assert [call.split()[1] for call in calls] == ["NT"[turn_b] + "NT"[turn_a]]


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        ((3, 6, 20), (3, 20, 9), "9x6x20 batch 3"),
        ((2, 3, 6, 20), (2, 3, 20, 9), "9x6x20 batch 6"),
        ((3, 6, 20), (20, 9), "9x18x20 batch 1"),
        ((6, 20), (3, 20, 9), "9x6x20 batch 3"),
        ((1, 20), (20, 9), "9x1x20 batch 1"),
        ((6, 20), (20, 1), "1x6x20 batch 1"),
        ((6, 1), (1, 9), "9x6x1 batch 1"),
    ],
)
def test_batches(
    library: Library, left: tuple[int, ...], right: tuple[int, ...], said: str
) -> None:
    shape = list(np.matmul(np.zeros(left), np.zeros(right)).shape)
    model = parse(
        f"(float{list(left)} x, float{list(right)} w) => (float{shape} y) {{ y = MatMul(x, w) }}"
    )
    calls = library.check(model, {"x": numbers(*left), "w": numbers(*right, seed=1)})
    # A product of vectors may be no product of matrices to the compiler.
    assert all(said in call for call in calls)
    if min(left[-2], left[-1], right[-1]) > 1:
        assert len(calls) == 1


def test_bytes(library: Library) -> None:
    """Sums of bytes in 32 bits; what lies at odd places is a kernel's."""
    text = "(int8[8, {0}] x, int8[{0}, 12] w) => (int32[8, 12] y) {{ y = MatMulInteger(x, w) }}"
    for depth, count in ((20, 1), (21, 0)):
        feeds = {
            "x": numbers(8, depth, dtype="int8"),
            "w": numbers(depth, 12, dtype="int8", seed=1),
        }
        calls = library.check(parse(text.format(depth)), feeds)
        assert len(calls) == count, calls
        assert all("types 3 10 sums 72" in call for call in calls)


def test_what_follows(library: Library) -> None:
    """A bias and an activation are a kernel behind it; the next product waits for that."""
    model = parse(
        """(float[6, 20] x, float[20, 40] w, float[40] b, float[40, 7] v) => (float[6, 7] y) {
            p = MatMul(x, w)
            q = Add(p, b)
            r = Relu(q)
            y = MatMul(r, v)
        }"""
    )
    feeds = {"x": numbers(6, 20), "w": numbers(20, 40, seed=1), "b": numbers(40, seed=2),
             "v": numbers(40, 7, seed=3)}  # fmt: skip
    assert len(library.check(model, feeds)) == 2


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_on_the_sum(library: Library, dtype: str) -> None:
    """What a nest does with a sum, and what it begins with, are a nest of their own."""
    name = NAMES[dtype]
    model = parse(
        f"({name}[6, 20] x, {name}[20, 36] w, {name}[36] b) => ({name}[6, 36] y) "
        "{ p = Gemm<alpha: float = 0.5, beta: float = 2.0>(x, w, b) y = Tanh(p) }"
    )
    feeds = {"x": numbers(6, 20, dtype=dtype), "w": numbers(20, 36, dtype=dtype, seed=1),
             "b": numbers(36, dtype=dtype, seed=2)}  # fmt: skip
    assert len(library.check(model, feeds, rtol=1e-5 if dtype == "float32" else 2e-3)) == 1


LOOP = """(int64 M, float[24, 24] x, float[24, 24] w) => (float[24, 24] y) {
    cond = Constant<value: tensor = bool {1}>()
    half = Constant<value: tensor = float {0.03125}>()
    y = Loop(M, cond, x) <body = body (int64 i, bool c, float[24, 24] v) => (bool go, float[24, 24] n) {
        go = Identity(c)
        p = MatMul(v, w)
        n = Mul(p, half)
    }>
}"""


@pytest.mark.parametrize(("form", "count"), [("kernel", 0), ("graph", 0), ("host", 5)])
def test_in_loops(library: Library, form: str, count: int) -> None:
    """Only where the host drives the loop."""
    feeds = {"M": np.array(5), "x": numbers(24, 24), "w": numbers(24, 24, seed=1)}
    calls = library.check(parse(LOOP), feeds, device_loops=form, rtol=1e-4)
    assert len(calls) == count


def test_tf32(library: Library) -> None:
    model = parse("(float[6, 20] x, float[20, 9] w) => (float[6, 9] y) { y = MatMul(x, w) }")
    feeds = {"x": numbers(6, 20), "w": numbers(20, 9, seed=1)}
    assert "sums 68" in library.check(model, feeds)[0]
    assert "sums 77" in library.check(model, feeds, allow_tf32=True)[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("which", ["auto", "off"])
def test_small_ones(library: Library, which: str) -> None:
    model = parse("(float[6, 20] x, float[20, 9] w) => (float[6, 9] y) { y = MatMul(x, w) }")
    feeds = {"x": numbers(6, 20), "w": numbers(20, 9, seed=1)}
    assert not library.check(model, feeds, cublas=which)


@pytest.mark.parametrize(
    "variables",
    [
        {"LOOPC_CUBLAS": ""},
        {"LOOPC_CUBLAS": "/does/not/exist.so"},
        {"LOOPC_FAKE_CUBLAS_CREATE": "1"},
        {"LOOPC_FAKE_CUBLAS_STATUS": "15"},
    ],
    ids=["none", "not-there", "no-handle", "unsupported"],
)
def test_without(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch,
                 variables: dict[str, str]) -> None:  # fmt: skip
    """A kernel computes what the library does not."""
    library = Library(tmp_path, monkeypatch, **variables)
    model = parse(
        """(float[40, 20] x, float[20, 36] w, float[36] b) => (float[40, 36] y) {
            p = MatMul(x, w)
            y = Add(p, b)
        }"""
    )
    feeds = {"x": numbers(40, 20), "w": numbers(20, 36, seed=1), "b": numbers(36, seed=2)}
    calls = library.check(model, feeds)
    assert len(calls) == int("LOOPC_FAKE_CUBLAS_STATUS" in variables)
    library.gpu.pool.shutdown()


def test_failure(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(tmp_path, monkeypatch, LOOPC_FAKE_CUBLAS_STATUS="13")
    model = parse("(float[6, 20] x, float[20, 9] w) => (float[6, 9] y) { y = MatMul(x, w) }")
    model.graph.node[0].name = "scores"
    feeds = {"x": numbers(6, 20), "w": numbers(20, 9, seed=1)}
    said = library.gpu.run(model, feeds, cublas="on")
    assert isinstance(said, str)
    assert "cuBLAS, in place of kernel" in said and "MatMul 'scores'" in said
    assert "CUBLAS_STATUS_EXECUTION_FAILED (13)" in said
    library.gpu.pool.shutdown()


def test_unknown_value(tmp_path: pathlib.Path) -> None:
    model = parse("(float[2] x) => (float[2] y) { y = Neg(x) }")
    with pytest.raises(loopc.InvalidArgument, match="cublas"):
        loopc.compile(model, tmp_path / "m.o", chip="sm_90", cublas="sometimes")
