# ===- programs.py - Little programs -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Loops that compute something, as people write them."""

import numpy as np

from loop_models.registry import f32, f64, graph, i32, i64, loop_model, noise, ramp, run


@loop_model("loop_parallel_assign")
def fibonacci():
    """a, b = b, a + b; collects a."""
    return graph("""(int64 M) => (int64 a, int64 b, int64[?] fs) {
        zero = Constant<value = int64 {0}>()
        one = Constant<value = int64 {1}>()
        a, b, fs = Loop <body = g (int64 i, bool c, int64 p, int64 q) => (bool c, int64 q, int64 r, int64 f) {
            r = Add(p, q)
            f = Identity(p)
        }> (M, "", zero, one)
    }"""), [
        run("zero", {"M": i64(0)}, [i64(0), i64(1), i64([])]),
        run("one", {"M": i64(1)}, [i64(1), i64(1), i64([0])]),
        run("ten", {"M": i64(10)}, [i64(55), i64(89), i64([0, 1, 1, 2, 3, 5, 8, 13, 21, 34])]),
        run("ninety", {"M": i64(90)}),
    ]


@loop_model("loop_collect")
def prefix_sums():
    """Running sums of rows by Gather with the iteration number."""
    return graph("""(float[T,3] x) => (float[?,3] sums) {
        M = Shape<start = 0, end = 1>(x)
        zero = Constant<value = float[3] {0.0, 0.0, 0.0}>()
        s, sums = Loop <body = g (int64 i, bool c, float[3] v) => (bool c, float[3] v1, float[3] w) {
            r = Gather(x, i)
            v1 = Add(v, r)
            w = Identity(v1)
        }> (M, "", zero)
    }"""), [run(f"t{t}", {"x": ramp(t, 3)}, [np.cumsum(ramp(t, 3), 0)]) for t in (0, 1, 5)]


@loop_model("loop_test", "loop_collect")
def newton_square_root():
    """while |x - a/x| > eps: x = (x + a/x) / 2; collects the steps."""
    return graph("""(double a, double eps) => (double x, double[?] steps) {
        one = Constant<value = double {1.0}>()
        half = Constant<value = double {0.5}>()
        true = Constant<value = bool {1}>()
        x, steps = Loop <body = g (int64 i, bool c, double v) => (bool c1, double v1, double w) {
            q = Div(a, v)
            s = Add(v, q)
            v1 = Mul(s, half)
            d = Sub(v, q)
            e = Abs(d)
            c1 = Greater(e, eps)
            w = Identity(v1)
        }> ("", true, one)
    }"""), [
        run("one", {"a": f64(1), "eps": f64(1e-9)}, [f64(1), f64([1])]),
        run("two", {"a": f64(2), "eps": f64(1e-12)}),
        run("large", {"a": f64(1e10), "eps": f64(1e-3)}),
    ]


@loop_model("loop_test", "loop_m", rtol=1e-4)
def power_iteration():
    """The largest eigenvector, to convergence or M steps."""
    return graph("""(int64 M, float[4,4] A, float[4] x) => (float[4] v, float[?] norms) {
        true = Constant<value = bool {1}>()
        eps = Constant<value = float {0.000001}>()
        v, norms = Loop <body = g (int64 i, bool c, float[4] u) => (bool c1, float[4] u1, float n) {
            w = MatMul(A, u)
            n = ReduceL2<keepdims = 0>(w)
            u1 = Div(w, n)
            d = Sub(u1, u)
            e = ReduceSumSquare<keepdims = 0>(d)
            c1 = Greater(e, eps)
        }> (M, true, x)
    }"""), [
        run(f"m{m}", {"M": i64(m), "A": np.diag(f32([4, 3, 2, 1])) + 0.5, "x": f32([0.5] * 4)})
        for m in (0, 1, 50)
    ]


@loop_model("loop_carried")
def selection_by_where():
    """Where keeps what has escaped (mandelbrot on 3 x 3 points), and counts."""
    return graph("""(int64 M, float[3,3] cr, float[3,3] ci) => (int64[3,3] counts) {
        zero = Constant<value = float {0.0}>()
        two = Constant<value = float {2.0}>()
        four = Constant<value = float {4.0}>()
        z0 = Mul(cr, zero)
        n0 = Cast<to = 7>(z0)
        zr, zi, counts = Loop <body = g (int64 i, bool c, float[3,3] a, float[3,3] b, int64[3,3] n)
                       => (bool c, float[3,3] a1, float[3,3] b1, int64[3,3] n1) {
            aa = Mul(a, a)
            bb = Mul(b, b)
            m = Add(aa, bb)
            inside = LessOrEqual(m, four)
            d = Sub(aa, bb)
            an = Add(d, cr)
            ab = Mul(a, b)
            ab2 = Mul(ab, two)
            bn = Add(ab2, ci)
            a1 = Where(inside, an, a)
            b1 = Where(inside, bn, b)
            k = Cast<to = 7>(inside)
            n1 = Add(n, k)
        }> (M, "", z0, z0, n0)
    }"""), [
        run(
            f"m{m}",
            {"M": i64(m), "cr": f32([[-2, -0.5, 1]] * 3), "ci": f32([[-1] * 3, [0] * 3, [1] * 3])},
        )
        for m in (0, 1, 20)
    ]


@loop_model("loop_carried")
def gcd():
    """Euclid by integer Mod, elementwise, until all are done."""
    return graph("""(int64[N] a, int64[N] b) => (int64[N] g) {
        zero = Constant<value = int64 {0}>()
        one = Constant<value = int64 {1}>()
        true = Constant<value = bool {1}>()
        none = Equal(b, zero)
        g, rest = Loop <body = g (int64 i, bool c, int64[N] p, int64[N] q) => (bool c1, int64[N] p1, int64[N] q1) {
            done = Equal(q, zero)
            safe = Where(done, one, q)
            r = Mod(p, safe)
            p1 = Where(done, p, q)
            q1 = Where(done, zero, r)
            m = ReduceMax<keepdims = 0>(q1)
            c1 = Greater(m, zero)
        }> ("", true, a, b)
    }"""), [
        run("one", {"a": i64([12]), "b": i64([18])}, [i64([6])]),
        run("four", {"a": i64([12, 7, 0, 1071]), "b": i64([18, 5, 4, 462])}, [i64([6, 1, 4, 21])]),
    ]


@loop_model("loop_carried")
def integer_division():
    """Div truncates, Mod takes the divisor's sign, fmod the dividend's; a zero divisor is an error."""
    return graph("""(int32[N] a, int32[D] ds) => (int32[?,?] qs, int32[?,?] rs, int32[?,?] fs) {
        M = Size(ds)
        qs, rs, fs = Loop <body = g (int64 i, bool c) => (bool c, int32[N] q, int32[N] r, int32[N] f) {
            d = Gather(ds, i)
            q = Div(a, d)
            r = Mod(a, d)
            f = Mod<fmod = 1>(a, d)
        }> (M, "")
    }"""), [
        run("signs", {"a": i32([7, -7, 6, -6, 0]), "ds": i32([3, -3])}, [
            i32([[2, -2, 2, -2, 0], [-2, 2, -2, 2, 0]]),
            i32([[1, 2, 0, 0, 0], [-2, -1, 0, 0, 0]]),
            i32([[1, -1, 0, 0, 0], [1, -1, 0, 0, 0]])]),
        run("none", {"a": i32([1]), "ds": i32([])}),
        run("zero_divisor", {"a": i32([1]), "ds": i32([2, 0])}, error=r"(?i)zero|division"),
    ]  # fmt: skip


@loop_model("loop_carried")
def bubble_sort():
    """ScatterElements exchanges neighbours; two loops."""
    return graph("""(float[N] x) => (float[N] y) {
        one = Constant<value = int64 {1}>()
        flat = Constant<value = int64[1] {-1}>()
        n = Size(x)
        n1 = Sub(n, one)
        y = Loop <body = o (int64 i, bool c, float[N] v) => (bool c, float[N] v1) {
            v1 = Loop <body = g (int64 j, bool e, float[N] u) => (bool e, float[N] u1) {
                k = Add(j, one)
                j1 = Reshape(j, flat)
                k1 = Reshape(k, flat)
                a = Gather(u, j1)
                b = Gather(u, k1)
                lo = Min(a, b)
                hi = Max(a, b)
                at = Concat<axis = 0>(j1, k1)
                both = Concat<axis = 0>(lo, hi)
                u1 = ScatterElements<axis = 0>(u, at, both)
            }> (n1, "", v)
        }> (n1, "", x)
    }"""), [
        run("empty", {"x": f32([])}, [f32([])]),
        run("one", {"x": f32([3])}, [f32([3])]),
        run("seven", {"x": f32([5, 2, 9, -1, 7, 2, 0])}, [f32([-1, 0, 2, 2, 5, 7, 9])]),
    ]


@loop_model("loop_carried", "loop_collect")
def greedy_decode():
    """ArgMax of logits chooses the next row of an embedding, until the end token."""
    return graph("""(int64 start, int64 stop, int64 M, float[6,6] table) => (int64[?] tokens) {
        true = Constant<value = bool {1}>()
        last, tokens = Loop <body = g (int64 i, bool c, int64 t) => (bool c1, int64 t1, int64 w) {
            logits = Gather(table, t)
            t1 = ArgMax<axis = 0, keepdims = 0>(logits)
            same = Equal(t1, stop)
            c1 = Not(same)
            w = Identity(t1)
        }> (M, true, start)
    }"""), [
        run("walk", {"start": i64(0), "stop": i64(0), "M": i64(100), "table": np.roll(np.eye(6, dtype=np.float32), 1, 1)},
            [i64([1, 2, 3, 4, 5, 0])]),
        run("cut", {"start": i64(0), "stop": i64(0), "M": i64(3), "table": np.roll(np.eye(6, dtype=np.float32), 1, 1)}, [i64([1, 2, 3])]),
        run("none", {"start": i64(0), "stop": i64(0), "M": i64(0), "table": noise(6, 6)}, [i64([])]),
    ]  # fmt: skip


@loop_model("loop_collect")
def windows():
    """Slice with bounds computed from the iteration number."""
    return graph("""(float[N] x, int64 width) => (float[?,?] ws) {
        one = Constant<value = int64 {1}>()
        flat = Constant<value = int64[1] {-1}>()
        n = Size(x)
        d = Sub(n, width)
        M = Add(d, one)
        ws = Loop <body = g (int64 i, bool c) => (bool c, float[?] w) {
            e = Add(i, width)
            i1 = Reshape(i, flat)
            e1 = Reshape(e, flat)
            w = Slice(x, i1, e1)
        }> (M, "")
    }"""), [
        run("two", {"x": ramp(5), "width": i64(2)}, [f32([[0, 1], [1, 2], [2, 3], [3, 4]])]),
        run("whole", {"x": ramp(5), "width": i64(5)}, [ramp(1, 5)]),
        run("too_wide", {"x": ramp(2), "width": i64(5)}, [np.zeros((0, 0), np.float32)]),
    ]


@loop_model("loop_carried")
def reshape_each_trip():
    """[2^n] is folded by half on each trip through a Reshape to [2, -1]."""
    return graph("""(float[N] x) => (float[?] y) {
        shape = Constant<value = int64[2] {2, -1}>()
        axis = Constant<value = int64[1] {0}>()
        one = Constant<value = int64 {1}>()
        n = Size(x)
        start = Greater(n, one)
        y = Loop <body = g (int64 i, bool c, float[?] v) => (bool c1, float[?] v1) {
            m = Reshape(v, shape)
            v1 = ReduceSum<keepdims = 0>(m, axis)
            k = Size(v1)
            c1 = Greater(k, one)
        }> ("", start, x)
    }"""), [
        run("one", {"x": f32([7])}, [f32([7])]),
        run("two", {"x": f32([7, 8])}, [f32([15])]),
        run("sixteen", {"x": ramp(16)}, [f32([120])]),
        run("six", {"x": ramp(6)}, error=r"(?i)reshape|size|element"),
    ]


@loop_model("loop_carried", rtol=1e-4)
def selective_scan():
    """A Mamba step: h = exp(dt A) h + dt B x; y = C h."""
    return graph("""(float[L,D] x, float[L,D] dt, float[D,N] A, float[L,N] B, float[L,N] C, float[D,N] h0) => (float[?,D] ys, float[D,N] h) {
        last = Constant<value = int64[1] {-1}>()
        M = Shape<start = 0, end = 1>(x)
        h, ys = Loop <body = g (int64 t, bool c, float[D,N] hp) => (bool c, float[D,N] hn, float[D] y) {
            xt = Gather(x, t)
            dtt = Gather(dt, t)
            bt = Gather(B, t)
            ct = Gather(C, t)
            dtu = Unsqueeze(dtt, last)
            da = Mul(dtu, A)
            ea = Exp(da)
            xd = Mul(xt, dtt)
            xdu = Unsqueeze(xd, last)
            bx = Mul(xdu, bt)
            keep = Mul(ea, hp)
            hn = Add(keep, bx)
            y = MatMul(hn, ct)
        }> (M, "", h0)
    }"""), [
        run(f"l{n}", {"x": noise(n, 5), "dt": np.abs(noise(n, 5, seed=1)), "A": -np.abs(noise(5, 3, seed=2)),
                      "B": noise(n, 3, seed=3), "C": noise(n, 3, seed=4), "h0": noise(5, 3, seed=5)})
        for n in (0, 1, 12)
    ]  # fmt: skip


@loop_model("loop_carried", rtol=1e-4)
def lstm_cell():
    """Two carried values, four gates by Split."""
    return graph("""(float[T,B,3] x, float[3,16] W, float[4,16] R, float[B,4] h0, float[B,4] c0) => (float[B,4] h, float[B,4] c, float[?,B,4] hs) {
        M = Shape<start = 0, end = 1>(x)
        h, c, hs = Loop <body = g (int64 t, bool k, float[B,4] hp, float[B,4] cp) => (bool k, float[B,4] hn, float[B,4] cn, float[B,4] y) {
            xt = Gather(x, t)
            a = MatMul(xt, W)
            b = MatMul(hp, R)
            s = Add(a, b)
            i0, o0, f0, g0 = Split<axis = 1, num_outputs = 4>(s)
            i1 = Sigmoid(i0)
            o1 = Sigmoid(o0)
            f1 = Sigmoid(f0)
            g1 = Tanh(g0)
            fc = Mul(f1, cp)
            ig = Mul(i1, g1)
            cn = Add(fc, ig)
            ct = Tanh(cn)
            hn = Mul(o1, ct)
            y = Identity(hn)
        }> (M, "", h0, c0)
    }"""), [
        run(f"t{t}_b{b}", {"x": noise(t, b, 3), "W": noise(3, 16, seed=1), "R": noise(4, 16, seed=2),
                           "h0": noise(b, 4, seed=3), "c0": noise(b, 4, seed=4)})
        for t, b in ((0, 2), (1, 1), (6, 2))
    ]  # fmt: skip


@loop_model("loop_carried", "loop_test")
def primes():
    """A sieve: ScatterND strikes out multiples, NonZero reads what is left."""
    return graph("""(int64 n) => (int64[?] found) {
        zero = Constant<value = int64 {0}>()
        one = Constant<value = int64 {1}>()
        two = Constant<value = int64 {2}>()
        flat = Constant<value = int64[1] {-1}>()
        column = Constant<value = int64[2] {-1, 1}>()
        none = Constant<value = bool {0}>()
        n1 = Reshape(n, flat)
        all = ConstantOfShape<value = bool[1] {1}>(n1)
        small = Constant<value = int64[2,1] {0, 1}>()
        nay = Constant<value = bool[2] {0, 0}>()
        start = ScatterND(all, small, nay)
        sieve = Loop <body = g (int64 i, bool c, bool[?] v) => (bool c, bool[?] v1) {
            p = Add(i, two)
            from = Mul(p, p)
            r = Range(from, n, p)
            at = Reshape(r, column)
            k = Shape(r)
            no = Expand(none, k)
            v1 = ScatterND(v, at, no)
        }> (n, "", start)
        axes = Constant<value = int64[1] {0}>()
        nz = NonZero(sieve)
        found = Squeeze(nz, axes)
    }"""), [
        run("ten", {"n": i64(10)}, [i64([2, 3, 5, 7])]),
        run("thirty", {"n": i64(30)}, [i64([2, 3, 5, 7, 11, 13, 17, 19, 23, 29])]),
    ]


@loop_model("loop_collect", "loop_carried")
def beam_step():
    """TopK and GatherElements on carried scores."""
    return graph("""(int64 M, float[2,8] scores) => (float[2,3] best, int64[?,2,3] picks) {
        k = Constant<value = int64[1] {3}>()
        zero = Constant<value = int64[1] {0}>()
        three = Constant<value = int64[1] {3}>()
        axes = Constant<value = int64[1] {1}>()
        first = Slice(scores, zero, three, axes)
        best, picks = Loop <body = g (int64 i, bool c, float[2,3] b) => (bool c, float[2,3] b1, int64[2,3] p) {
            m = ReduceMax<keepdims = 1>(b, axes)
            s = Add(scores, m)
            t = Sin(s)
            v, p = TopK<axis = 1>(t, k)
            b1 = GatherElements<axis = 1>(s, p)
        }> (M, "", first)
    }"""), [run(f"m{m}", {"M": i64(m), "scores": noise(2, 8)}) for m in (0, 1, 5)]
