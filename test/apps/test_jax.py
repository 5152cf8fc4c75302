# ===- test_jax.py - Functions of JAX ----------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""`loopc.from_jax` computes what `jax.jit` computes: control flow of every kind."""

import functools
import pickle
import subprocess
import sys

import jax
import jax.numpy as jnp
import loopc
import numpy as np
import pytest
from jax import lax
from pages import run_page

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 4)).astype(np.float32)
V = RNG.normal(size=4).astype(np.float32)
W = RNG.normal(size=(4, 4)).astype(np.float32) / 2
TENSOR = RNG.normal(size=(3, 6, 4)).astype(np.float32)
F = np.float32


def fori(n, x):
    return lax.fori_loop(0, n, lambda i, c: c * 0.5 + i, x)


def fori_static(x):
    return lax.fori_loop(2, 5, lambda i, c: c.at[i].set(c[i - 1] * 2), x)


def fori_nested(x):
    def row(i, total):
        return lax.fori_loop(0, i + 1, lambda j, t: t + x[i, j % 4], total)

    return lax.fori_loop(0, 6, row, F(0))


def while_condition(x):
    return lax.while_loop(lambda c: c[1].sum() < 50, lambda c: (c[0] + 1, c[1] * 1.5 + 1), (0, x))


def while_never(x):
    return lax.while_loop(lambda c: (c > 1e6).all(), lambda c: c + 1, x)


def while_captures(x, w):
    return lax.while_loop(lambda c: jnp.abs(c).max() > 0.1, lambda c: jnp.tanh(c @ w) / 2, x)


def while_in_scan(x):
    def body(carry, row):
        count, row = lax.while_loop(
            lambda c: (c[1] ** 2).sum() > 1, lambda c: (c[0] + 1, c[1] / 2), (0, row)
        )
        return carry + count, row

    return lax.scan(body, 0, x)


def gcd(a, b):
    return lax.while_loop(lambda c: c[1] != 0, lambda c: (c[1], c[0] % c[1]), (a, b))[0]


def scan_rnn(h, x, w):
    def cell(h, row):
        h = jnp.tanh(row + h @ w)
        return h, h

    return lax.scan(cell, h, x)


def scan_reverse(x):
    return lax.scan(lambda c, row: (c + row, c * row), jnp.zeros(4), x, reverse=True)


def scan_many(x):
    def body(carry, both):
        a, b = carry["a"], carry["b"]
        return {"a": b + both[0], "b": a * 0.5}, (a, both[1].sum())

    return lax.scan(body, {"a": jnp.zeros(4), "b": jnp.ones(4)}, (x, x * 2))


def scan_without_inputs(x):
    return lax.scan(lambda c, _: (c * 0.9, c.sum()), x, None, length=7)


def scan_of_none(x):
    return lax.scan(lambda c, row: (c + row, row), jnp.ones(4), x[:0])


def scan_in_scan(x):
    def outer(c, plane):
        c, rows = lax.scan(lambda c, row: (c + row, c.sum()), c, plane)
        return c * 0.5, rows

    return lax.scan(outer, jnp.zeros(4), x)


def cond_scalar(p, x):
    return lax.cond(p > 0, lambda x: x * 2, lambda x: x - 1, x)


def cond_in_loop(x):
    return lax.fori_loop(
        0, 9, lambda i, c: lax.cond(c.sum() > 3, lambda c: c - 1, lambda c: c + 0.5, c), x
    )


def cond_nested(p, x):
    return lax.cond(p > 0, lambda x: lax.cond(p > 5, jnp.sin, jnp.cos, x), lambda x: (x, -x)[1], x)


def switch(i, x):
    return lax.switch(i, [jnp.sin, lambda x: x + 10, jnp.negative], x)


def switch_in_scan(i, x):
    def body(c, both):
        return lax.switch(both[0], [lambda c: c + 1, lambda c: c * 2, jnp.zeros_like], c), c

    return lax.scan(body, x, (i,))


def mapped(x):
    return lax.map(lambda row: (row - row.mean()) / (row.std() + 1), x)


def mapped_pair(x):
    return lax.map(lambda both: both[0] @ both[1], (x, x + 1))


def associative_sum(x):
    return lax.associative_scan(jnp.add, x)


def associative_linear(x):
    def combine(left, right):
        return left[0] * right[0], left[1] * right[0] + right[1]

    return lax.associative_scan(combine, (jnp.tanh(x), x))


def cumulative(x):
    return (
        jnp.cumsum(x, axis=0),
        lax.cumsum(x, axis=1, reverse=True),
        lax.cummax(x, axis=1),
        jnp.cumprod(x, axis=0),
    )


def vmap_scan(x):
    return jax.vmap(lambda rows: lax.scan(lambda c, r: (c * 0.5 + r, c), jnp.zeros(4), rows))(x)


def vmap_while(x):
    return jax.vmap(lambda v: lax.while_loop(lambda c: c.sum() < 5, lambda c: c * 1.1 + 0.3, v))(x)


def vmap_cond(x):
    return jax.vmap(lambda v: lax.cond(v.sum() > 0, lambda v: v * 2, lambda v: v - 1, v))(x)


def vmap_fori(x):
    return jax.vmap(lambda v: lax.fori_loop(0, 4, lambda i, c: c + v[i] * c, v))(x)


def power_iteration(w):
    def body(_, v):
        v = w @ v
        return v / jnp.linalg.norm(v)

    return lax.fori_loop(0, 20, body, jnp.ones(4))


def newton(x):
    def body(c):
        return c[0] - (c[0] ** 2 - x) / (2 * c[0]), c[0], c[2] + 1

    more = lambda c: jnp.abs(c[0] - c[1]).max() > 1e-4  # noqa: E731
    return lax.while_loop(more, body, (jnp.ones_like(x) + x, jnp.zeros_like(x), 0))


def greedy(h, table, w):
    def body(c):
        h, token, count, out = c
        h = jnp.tanh(h @ w + table[token])
        token = jnp.argmax(h @ table.T)
        return h, token, count + 1, out.at[count].set(token)

    going = lambda c: (c[2] < 8) & ((c[2] == 0) | (c[1] != 0))  # noqa: E731
    return lax.while_loop(going, body, (h, jnp.int32(1), 0, jnp.zeros(8, jnp.int32)))[2:]


def gradient(x):
    return jax.grad(lambda v: lax.scan(lambda c, r: (jnp.tanh(c + r), None), v, X)[0].sum())(x)


CASES = [
    (fori, (3, V)),
    (fori_static, (np.arange(6, dtype=F),)),
    (fori_nested, (X,)),
    (while_condition, (np.abs(V),)),
    (while_never, (V,)),
    (while_captures, (V, W)),
    (while_in_scan, (X * 9,)),
    (gcd, (np.int32(1071), np.int32(462))),
    (scan_rnn, (V, X, W)),
    (scan_reverse, (X,)),
    (scan_many, (X,)),
    (scan_without_inputs, (V,)),
    (scan_of_none, (X,)),
    (scan_in_scan, (TENSOR,)),
    (cond_scalar, (F(1), V)),
    (cond_scalar, (F(-1), V)),
    (cond_in_loop, (V,)),
    (cond_nested, (F(7), V)),
    (cond_nested, (F(-7), V)),
    (switch, (1, V)),
    (switch, (9, V)),
    (switch, (-3, V)),
    (switch_in_scan, (np.array([0, 1, 1, 2, 0], np.int32), V)),
    (mapped, (X,)),
    (mapped_pair, (X,)),
    (associative_sum, (X,)),
    (associative_linear, (X,)),
    (cumulative, (X,)),
    (vmap_scan, (TENSOR,)),
    (vmap_while, (X,)),
    (vmap_cond, (X,)),
    (vmap_fori, (X,)),
    (power_iteration, (np.abs(W),)),
    (newton, (np.abs(V),)),
    (greedy, (V, X, W)),
    (gradient, (V,)),
]


def compare(got, want):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: f"{CASES[n][0].__name__}-{n}")
def test_control_flow(number):
    function, args = CASES[number]
    compare(loopc.from_jax(function, *args)(*args), jax.jit(function)(*args))


OPEN = [
    (scan_rnn, (V, X, W), ("4", "t, 4", "4, 4"), [(V, X[:n], W) for n in (0, 1, 5)]),
    (mapped, (X,), ("t, ...",), [(X[:1],), (np.concatenate([X, X]),)]),
    (vmap_cond, (X,), ("b, 4",), [(X[:2],), (np.concatenate([X, X]),)]),
    (vmap_scan, (TENSOR,), ("b, t, 4",), [(TENSOR[:1, :2],), (TENSOR.repeat(2, 1),)]),
    (vmap_while, (X,), ("b, 4",), [(X[:1],), (np.concatenate([X, -X]),)]),
    (scan_reverse, (X,), ("t, ...",), [(X[:1],), (X[:5],)]),
]


@pytest.mark.parametrize("number", range(len(OPEN)), ids=lambda n: OPEN[n][0].__name__)
def test_extents_of_the_call(number):
    function, args, shapes, calls = OPEN[number]
    compiled = loopc.from_jax(function, *args, shapes=shapes)
    for given in (args, *calls):
        compare(compiled(*given), jax.jit(function)(*given))


def test_scatters_in_scans():
    """Scatters of other extents than the scan has."""

    def function(x, rows):
        def body(c, row):
            c = c.at[jnp.array([0, 2])].add(row[:2])
            return c, jnp.zeros((5, 3)).at[1:3].set(row[:3])

        return lax.scan(body, x, rows)

    for rows in (X, X[:1]):
        compare(loopc.from_jax(function, V, rows)(V, rows), jax.jit(function)(V, rows))


#: Orders of dimensions of products: what is summed, and what is common, anywhere.
PRODUCTS = [
    "ij,jk->ik", "ij,jk->ki", "ij,kj->ik", "ji,jk->ik", "ji,kj->ki", "ij,ij->i", "ij,ij->", "i,j->ij",
    "ij,j->i", "j,ij->i", "bij,bjk->bik", "bij,bkj->bik", "ibj,bjk->bki", "bij,kbj->kbi",
    "ijk,jkl->il", "ijk,ljk->li", "ijk,kl->ijl", "bhqd,bhkd->bhqk", "bqhd,bkhd->bhqk",
]  # fmt: skip


@pytest.mark.parametrize("spec", PRODUCTS)
def test_products(spec):
    extents = dict(b=2, h=3, i=2, j=3, k=4, l=5, q=4, d=2)
    names = spec.partition("->")[0].split(",")
    shapes = [tuple(extents[name] for name in one) for one in names]
    args = [RNG.normal(size=shape).astype(F) for shape in shapes]
    function = functools.partial(jnp.einsum, spec)
    compare(loopc.from_jax(function, *args)(*args), function(*args))


def test_searches():
    rows = np.array([-np.inf, -1, -0.0, 0.0, 2, 2, np.nan], F)
    wanted = np.array([2, -3, 0.0, -0.0, np.nan, np.inf, 1.5, -np.inf], F)
    for side in ("left", "right"):
        function = functools.partial(jnp.searchsorted, side=side)
        compare(loopc.from_jax(function, rows, wanted)(rows, wanted), function(rows, wanted))
        numbers = np.arange(6, dtype=np.int32)
        compare(
            loopc.from_jax(function, numbers, numbers)(numbers, numbers), function(numbers, numbers)
        )


def test_shifts():
    def function(x, n):
        logical = lax.shift_right_logical(x, n)
        return (
            x << n,
            x >> n,
            x << 3,
            lax.shift_right_arithmetic(x, np.int32(2)),
            logical,
            x.astype(jnp.uint32) >> n.astype(jnp.uint32),
        )

    x = np.array([1, -1, 7, -8, 2**31 - 1, -(2**31), -5, 9, 3], np.int32)
    n = np.array([0, 1, 2, 3, 31, 31, 32, 40, -1], np.int32)
    compare(loopc.from_jax(function, x, n)(x, n), jax.jit(function)(x, n))


def test_structures():
    def function(state, unused, pair):
        return {"sum": state["a"] + pair[0], "same": pair, "number": 3}

    args = ({"a": V}, X, (V, np.int32(2)))
    compare(loopc.from_jax(function, *args)(*args), jax.jit(function)(*args))


def test_arrays_of_jax_and_of_numpy():
    compiled = loopc.from_jax(lambda x: x * 2, jax.ShapeDtypeStruct((4,), jnp.float32))
    assert isinstance(compiled(V), np.ndarray)
    result = compiled(jnp.asarray(V))
    assert isinstance(result, jax.Array)
    np.testing.assert_array_equal(result, V * 2)
    half = loopc.from_jax(lambda x: x + 1, jnp.ones(3, jnp.bfloat16))
    assert half(jnp.ones(3, jnp.bfloat16)).dtype == jnp.bfloat16


def test_types_are_those_of_jit():
    compiled = loopc.from_jax(lambda x, n: x * n, V, 3)
    # JAX makes the narrower type of these.
    compare(compiled(V.astype(np.float64), np.int64(3)), jnp.asarray(V * 3))
    with pytest.raises(loopc.InvalidArgument, match="int32, expected float32"):
        compiled(V.astype(np.int32), 3)


def test_doubles():
    with jax.enable_x64(True):

        def function(x, y, n):
            return lax.fori_loop(0, n, lambda i, c: c * 1.1 + 1e-12, x), y, n

        args = (V.astype(np.float64), V, np.int64(2**40) // 2**38)
        compiled = loopc.from_jax(function, *args)
        compare(compiled(*args), jax.jit(function)(*args))


def test_pickled():
    compiled = pickle.loads(pickle.dumps(loopc.from_jax(scan_rnn, V, X, W)))
    compare(compiled(V, X, W), jax.jit(scan_rnn)(V, X, W))


def test_refused():
    compiled = loopc.from_jax(mapped, X)
    with pytest.raises(loopc.InvalidArgument, match="expected PyTreeDef"):
        compiled(X, X)
    with pytest.raises(loopc.InvalidArgument, match=r"expected 6.* got 5|is 5|has 5"):
        compiled(X[:5])
    with pytest.raises(loopc.InvalidArgument, match="is no array"):
        loopc.from_jax(mapped, "text")
    with pytest.raises(loopc.CompileError, match="jax2onnx cannot write the function"):
        loopc.from_jax(lambda x: jax.pure_callback(np.sin, x, x), X)


def test_without_jax2onnx():
    code = """
import sys
sys.modules["jax2onnx"] = None
import loopc
try:
    loopc.from_jax(abs, 1.0)
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "loopc.from_jax needs the package jax2onnx: pip install jax2onnx" in done.stdout


def test_page(tmp_path):
    run_page("JAX.md", "", tmp_path)
