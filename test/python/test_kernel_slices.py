# ===- test_kernel_slices.py - Loops that blocks go through by themselves -----===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Loops of independent batches, heads or channels, on the GPU of test_kernels.py.

A block goes through the loop for each of them, and waits for no other one.
"""

from __future__ import annotations

import numpy as np
import pytest
import test_kernels as kernels
from test_kernels import LAUNCHES, Feeds, Gpu, check, numbers, parse, trips

gpu = kernels.gpu

#: The delta rule for heads of a batch: what is known of a key is taken off.
DELTA = """(float[b,h,k,v] s0, float[t,b,h,k] ks, float[t,b,h,v] vs, float[t,b,h] betas) => (float[b,h,k,v] s, float[t,b,h,v] ys) {
  s, ys = Scan <num_scan_inputs = 3, body = body (float[b,h,k,v] sp, float[b,h,k] key, float[b,h,v] value, float[b,h] beta)
      => (float[b,h,k,v] sn, float[b,h,v] y) {
    last = Constant<value: tensor = int64[1] {-1}>()
    third = Constant<value: tensor = int64[1] {2}>()
    row = Unsqueeze(key, third)
    known3 = MatMul(row, sp)
    known = Squeeze(known3, third)
    miss = Sub(value, known)
    wide = Unsqueeze(beta, last)
    part = Mul(miss, wide)
    column = Unsqueeze(key, last)
    line = Unsqueeze(part, third)
    outer = Mul(column, line)
    sn = Add(sp, outer)
    y3 = MatMul(row, sn)
    y = Squeeze(y3, third)
  }>(s0, ks, vs, betas)
}"""

#: A mean and a length of each row, with a branch that the iteration decides.
ROWS = """(int64 M, float[b,n] x) => (float[b,n] y, float[m,b] most) {
  cond = Constant<value: tensor = bool {1}>()
  axis = Constant<value: tensor = int64[1] {1}>()
  three = Constant<value: tensor = int64 {3}>()
  zero = Constant<value: tensor = int64 {0}>()
  half = Constant<value: tensor = float {0.5}>()
  y, most = Loop(M, cond, x) <body = body (int64 i, bool c, float[b,n] s) => (bool go, float[b,n] t, float[b] largest) {
    go = Identity(c)
    r = Mod(i, three)
    p = Equal(r, zero)
    wide = ReduceMean(s, axis)
    away = Sub(s, wide)
    q = If(p) <
      then_branch = yes () => (float[b,n] a) { a = Mul(away, half) },
      else_branch = no () => (float[b,n] a) { a = Add(away, x) }
    >
    length = ReduceL2(q, axis)
    u = Div(q, length)
    t = Tanh(u)
    largest = ReduceMax<keepdims: int = 0>(t, axis)
  }>
}"""


def delta(batch: int, heads: int, keys: int, values: int, steps: int) -> Feeds:
    return {
        "s0": numbers(batch, heads, keys, values),
        "ks": numbers(steps, batch, heads, keys, seed=1) / np.float32(max(keys, 1)) ** 0.5,
        "vs": numbers(steps, batch, heads, values, seed=2),
        "betas": np.abs(numbers(steps, batch, heads, seed=3)),
    }


@pytest.mark.parametrize(
    "sizes",
    [
        (2, 3, 8, 5, 7),
        (1, 4, 16, 16, 5),
        (3, 1, 5, 1, 4),
        (1, 1, 8, 8, 3),
        (0, 3, 4, 4, 3),
        (2, 2, 40, 70, 3),
        (2, 2, 4, 4, 0),
    ],
)
def test_heads(gpu: Gpu, sizes: tuple[int, ...]) -> None:
    check(gpu, parse(DELTA), delta(*sizes), rtol=1e-4)


def test_known_heads(gpu: Gpu) -> None:
    text = DELTA.replace("t,b,h,", "6,2,3,").replace("b,h,k", "2,3,16").replace("b,h,v", "2,3,24")
    text = text.replace("16,v]", "16,24]").replace("[t,b,h]", "[6,2,3]").replace("[b,h]", "[2,3]")
    text = text.replace("3,k]", "3,16]").replace("3,v]", "3,24]")
    check(gpu, parse(text), delta(2, 3, 16, 24, 6), rtol=1e-4)


@pytest.mark.parametrize("shape", [(2, 1), (5, 40), (33, 3), (3, 700), (1, 9), (0, 4)])
@pytest.mark.parametrize("count", [1, 6])
def test_rows(gpu: Gpu, shape: tuple[int, int], count: int) -> None:
    check(gpu, parse(ROWS), {"M": trips(count), "x": numbers(*shape)}, rtol=1e-4)


def test_many_iterations(gpu: Gpu) -> None:
    """Blocks look now and then whether the run is to end."""
    check(gpu, parse(ROWS), {"M": trips(3000), "x": numbers(4, 6)}, rtol=1e-3)


def test_nobody_waits_for_others(gpu: Gpu) -> None:
    """One launch, whose blocks need not run together."""
    before = {name: gpu.count(name) for name in LAUNCHES}
    outputs = gpu.run(parse(ROWS), {"M": trips(9), "x": numbers(6, 40)}, min_kernel_work=2048)
    assert not isinstance(outputs, str)
    after = {name: gpu.count(name) - before[name] for name in LAUNCHES}
    assert after["cuLaunchKernel"] >= int(gpu.counts)
    assert after["cuLaunchCooperativeKernel"] == after["cuLaunchKernelEx"] == 0
