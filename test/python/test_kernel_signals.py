# ===- test_kernel_signals.py - Complex numbers and transforms as kernels -----===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Complex numbers and Fourier transforms on a GPU, that of test_kernels.py."""

from __future__ import annotations

import numpy as np
import pytest
import test_kernels as kernels
from test_kernels import Gpu, check, numbers, parse, trips

gpu = kernels.gpu


def complex_numbers(dtype: str, *shape: int) -> np.ndarray:
    return (numbers(*shape) + 1j * numbers(*shape, seed=1)).astype(dtype)


@pytest.mark.parametrize("form", ["kernel", "graph", "host"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_carried(gpu: Gpu, dtype: str, form: str) -> None:
    """A tensor and a number, which a loop adds and multiplies, moves and chooses."""
    model = parse(
        f"""(int64 M, {dtype}[n] x, int64[n] at, bool[n] pick) => ({dtype}[n] y, {dtype} z, {dtype}[M] zs) {{
          cond = Constant<value: tensor = bool {{1}}>()
          one = Constant<value: tensor = int64 {{1}}>()
          first = Gather<axis: int = 0>(x, one)
          y, z, zs = Loop(M, cond, x, first) <body = body (int64 i, bool c, {dtype}[n] s, {dtype} e) => (bool go, {dtype}[n] t, {dtype} f, {dtype} g) {{
            go = Identity(c)
            a = ScatterElements<axis: int = 0, reduction: string = "add">(s, at, x)
            b = ScatterElements<axis: int = 0, reduction: string = "mul">(a, at, s)
            t = Where(pick, b, e)
            f = Gather<axis: int = 0>(t, i)
            g = Identity(e)
          }}>
        }}"""
    )
    feeds = {
        "M": trips(5),
        "x": complex_numbers(dtype, 40) / 2,
        "at": np.random.default_rng(2).permutation(40),
        "pick": np.arange(40) % 3 > 0,
    }
    check(gpu, model, feeds, rtol=1e-4, device_loops=form)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_no_loop(gpu: Gpu, dtype: str) -> None:
    model = parse(
        f"""({dtype}[n, m] x) => ({dtype}[m, n] y, int64[2, k] at) {{
          y = Transpose(x)
          at = NonZero(x)
        }}"""
    )
    x = complex_numbers(dtype, 30, 50)
    x[::2] = 0
    check(gpu, model, {"x": x})


@pytest.mark.parametrize("size", [1, 2, 12, 64, 97, 134, 400])
@pytest.mark.parametrize("inverse", [0, 1])
def test_transform(gpu: Gpu, size: int, inverse: int) -> None:
    """Lengths with small factors, and with large ones, that types tell."""
    model = parse(
        f"""(float[b, {size}, 2] x) => (float[b, {size}, 2] y) {{
          length = Constant<value: tensor = int64 {{{size}}}>()
          axis = Constant<value: tensor = int64 {{1}}>()
          y = DFT<inverse: int = {inverse}>(x, length, axis)
        }}"""
    )
    check(gpu, model, {"x": numbers(3, size, 2)}, rtol=1e-4)


@pytest.mark.parametrize("size", [1, 2, 12, 64, 97, 134, 150])
def test_transform_of_any_length(gpu: Gpu, size: int) -> None:
    """Lengths that only the run knows, and signals that are longer or shorter."""
    model = parse(
        """(double[b, n, 1] x, int64 length) => (double[b, k, 2] y) {
          axis = Constant<value: tensor = int64 {1}>()
          y = DFT<onesided: int = 1>(x, length, axis)
        }"""
    )
    feeds = {"x": numbers(2, 90, 1).astype(np.float64), "length": np.array(size)}
    check(gpu, model, feeds, rtol=1e-9)


def test_frames(gpu: Gpu) -> None:
    model = parse(
        """(float[b, n, 1] x, float[24] window) => (float[b, f, 13, 2] y) {
          step = Constant<value: tensor = int64 {8}>()
          y = STFT(x, step, window)
        }"""
    )
    check(gpu, model, {"x": numbers(2, 200, 1), "window": numbers(24, seed=1)}, rtol=1e-4)


@pytest.mark.parametrize("form", ["kernel", "graph"])
@pytest.mark.parametrize("size", [30, 67])
def test_transforms_in_a_loop(gpu: Gpu, size: int, form: str) -> None:
    """The host does not take part: a filter, again and again."""
    model = parse(
        f"""(int64 M, float[{size}, 2] x, float[{size}, 1] filter) => (float[{size}, 2] y) {{
          cond = Constant<value: tensor = bool {{1}}>()
          length = Constant<value: tensor = int64 {{{size}}}>()
          axis = Constant<value: tensor = int64 {{0}}>()
          y = Loop(M, cond, x) <body = body (int64 i, bool c, float[{size}, 2] s) => (bool go, float[{size}, 2] t) {{
            go = Identity(c)
            f = DFT(s, length, axis)
            g = Mul(f, filter)
            h = DFT<inverse: int = 1>(g, length, axis)
            t = Add(h, x)
          }}>
        }}"""
    )
    feeds = {"x": numbers(size, 2), "filter": numbers(size, 1, seed=1) / 4}
    launches = []
    for count in (1, 2, 7):
        before = kernels.count_launches(gpu)
        check(gpu, model, {**feeds, "M": trips(count)}, rtol=1e-3, device_loops=form)
        launches.append(kernels.count_launches(gpu) - before)
    assert launches[0] == launches[1] == launches[2]
