# ===- algebra.py - Algebra and dynamic programming -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Matrices factored and inverted by loops, tables filled cell by cell, stencils."""

# ruff: noqa: N803, N806 (matrices have capital letters for names)
import numpy as np

from loop_models.registry import f32, f64, graph, i64, loop_model, noise, run


@loop_model("loop_carried", rtol=1e-3, atol=1e-4)
def gauss_jordan_inverse():
    """Pivot rows by ArgMax of what is left, swapped by ScatterND; the inverse of a matrix."""

    def one(n):
        a = noise(n, n, seed=n).astype(np.float64)
        return run(f"n{n}", {"A": a}, [np.linalg.inv(a)])

    return graph("""(double[N,N] A) => (double[N,N] B) <int64[1] ax1 = {1}, int64[1] flat = {-1}, double low = {-1.0}, int64 zero = {0}, int64 step = {1}> {
        N = Shape<start = 0, end = 1>(A)
        n = Squeeze(N)
        I = EyeLike(A)
        AI = Concat<axis = 1>(A, I)
        idx = Range(zero, n, step)
        R = Loop <body = g (int64 k, bool c, double[N,W] X) => (bool c, double[N,W] Y) {
            col0 = Gather<axis = 1>(X, k)
            mag = Abs(col0)
            done = Less(idx, k)
            left = Where(done, low, mag)
            p = ArgMax<axis = 0, keepdims = 0>(left)
            rp = Gather(X, p)
            rk = Gather(X, k)
            pp = Reshape(p, flat)
            kk = Reshape(k, flat)
            at0 = Concat<axis = 0>(pp, kk)
            at = Unsqueeze(at0, ax1)
            ax0 = Constant<value_ints = [0]>()
            rp1 = Unsqueeze(rp, ax0)
            rk1 = Unsqueeze(rk, ax0)
            rows = Concat<axis = 0>(rk1, rp1)
            S = ScatterND(X, at, rows)
            pivot = Gather(rp, k)
            row = Div(rp, pivot)
            col = Gather<axis = 1>(S, k)
            self = Equal(idx, k)
            zerod = Constant<value = double {0.0}>()
            f = Where(self, zerod, col)
            f1 = Unsqueeze(f, ax1)
            prod = Mul(f1, row)
            T = Sub(S, prod)
            self1 = Unsqueeze(self, ax1)
            Y = Where(self1, row, T)
        }> (n, "", AI)
        N2 = Add(N, N)
        B = Slice(R, N, N2, ax1)
    }"""), [one(n) for n in (1, 2, 3, 5, 8)]


@loop_model("loop_collect", rtol=1e-4, atol=1e-5)
def kalman_filter():
    """Two states, one in two measurements; the innovation is inverted by its determinant."""

    def expect(z, F, H, Q, R, x, P):
        xs, ds = [], []
        for m in z:
            x = F @ x
            P = F @ P @ F.T + Q
            S = H @ P @ H.T + R
            K = P @ H.T @ np.linalg.inv(S)
            x = x + K @ (m - H @ x)
            P = (np.eye(len(x), dtype=np.float32) - K @ H) @ P
            xs.append(x)
            ds.append(np.linalg.det(S))
        return [x, P, f32(xs).reshape(-1, len(x)), f32(ds)]

    def one(t):
        a = noise(3, 3, seed=1) * 0.3
        f = {
            "z": noise(t, 2),
            "F": np.eye(3, dtype=np.float32) + a,
            "H": noise(2, 3, seed=2),
            "Q": np.eye(3, dtype=np.float32) * f32(0.1),
            "R": np.eye(2, dtype=np.float32) * f32(0.2),
            "x": noise(3, seed=3),
            "P": np.eye(3, dtype=np.float32),
        }
        return run(f"t{t}", f, expect(**f))

    return graph("""(float[T,2] z, float[3,3] F, float[2,3] H, float[3,3] Q, float[2,2] R, float[3] x, float[3,3] P)
            => (float[3] xn, float[3,3] Pn, float[T,3] xs, float[T] ds) {
        Ft = Transpose(F)
        Ht = Transpose(H)
        xn, Pn, xs, ds = Scan<num_scan_inputs = 1, body = g (float[3] a, float[3,3] B, float[2] m) => (float[3] a2, float[3,3] B2, float[3] o, float d) {
            a1 = MatMul(F, a)
            FB = MatMul(F, B)
            FBF = MatMul(FB, Ft)
            B1 = Add(FBF, Q)
            HB = MatMul(H, B1)
            HBH = MatMul(HB, Ht)
            S = Add(HBH, R)
            d = Det(S)
            one = Constant<value_ints = [1, 1]>()
            p = Constant<value_ints = [1, 0]>()
            zero = Constant<value_int = 0>()
            uno = Constant<value_int = 1>()
            r0 = Gather(S, zero)
            r1 = Gather(S, uno)
            s00 = Gather(r0, zero)
            s01 = Gather(r0, uno)
            s10 = Gather(r1, zero)
            s11 = Gather(r1, uno)
            n01 = Neg(s01)
            n10 = Neg(s10)
            flat = Constant<value_ints = [1]>()
            u0 = Reshape(s11, flat)
            u1 = Reshape(n01, flat)
            u2 = Reshape(n10, flat)
            u3 = Reshape(s00, flat)
            adj0 = Concat<axis = 0>(u0, u1, u2, u3)
            two = Constant<value_ints = [2, 2]>()
            adj = Reshape(adj0, two)
            Si = Div(adj, d)
            BH = MatMul(B1, Ht)
            K = MatMul(BH, Si)
            Ha = MatMul(H, a1)
            y = Sub(m, Ha)
            Ky = MatMul(K, y)
            a2 = Add(a1, Ky)
            I = EyeLike(B)
            KH = MatMul(K, H)
            IK = Sub(I, KH)
            B2 = MatMul(IK, B1)
            o = Identity(a2)
        }> (x, P, z)
    }"""), [one(t) for t in (1, 2, 20)]


def _levenshtein(a, b):
    row = list(range(len(b) + 1))
    for x in a:
        new = [row[0] + 1]
        for j, y in enumerate(b):
            new.append(min(row[j] + (x != y), row[j + 1] + 1, new[j] + 1))
        row = new
    return i64(row[-1])


@loop_model("loop_collect", "loop_carried")
def levenshtein():
    """A Scan over letters of one word with a Scan over those of the other in it; rows are states."""

    def one(a, b):
        f = {"a": i64([ord(c) for c in a]), "b": i64([ord(c) for c in b])}
        return run(f"{a}_{b}", f, [_levenshtein(f["a"], f["b"])])

    return graph("""(int64[N] a, int64[K] b) => (int64 d) <int64 zero = {0}, int64 one = {1}, int64[1] flat = {-1}, int64[1] first = {0}, int64[1] second = {1}, int64[1] least = {-1}, int64[1] most = {9223372036854775807}> {
        k = Size(b)
        k1 = Add(k, one)
        r0 = Range(zero, k1, one)
        r = Scan<num_scan_inputs = 1, body = row (int64[P] p, int64 x) => (int64[P] q) {
            diag = Slice(p, first, least)
            up = Slice(p, second, most)
            h = Gather(p, zero)
            l0 = Add(h, one)
            last, cells = Scan<num_scan_inputs = 3, body = cell (int64 l, int64 dd, int64 u, int64 y) => (int64 v, int64 o) {
                same = Equal(x, y)
                z = Where(same, zero, one)
                c1 = Add(dd, z)
                c2 = Add(u, one)
                c3 = Add(l, one)
                v = Min(c1, c2, c3)
                o = Identity(v)
            }>(l0, diag, up, b)
            l1 = Reshape(l0, flat)
            q = Concat<axis = 0>(l1, cells)
        }>(r0, a)
        d0 = Gather(r, least)
        d = Squeeze(d0)
        }"""), [
        one("kitten", "sitting"),
        one("a", "b"),
        one("abc", "abc"),
        one("flaw", "lawn"),
    ]


@loop_model("loop_carried", rtol=1e-5)
def time_warping():
    """DTW by Loops that read neighbours by GatherND and write by ScatterND."""

    def expect(x, y):
        D = np.full((len(x) + 1, len(y) + 1), np.inf, np.float32)
        D[0, 0] = 0
        for i in range(len(x)):
            for j in range(len(y)):
                D[i + 1, j + 1] = abs(x[i] - y[j]) + min(D[i, j], D[i, j + 1], D[i + 1, j])
        return [D[-1, -1], D]

    def one(n, k):
        f = {"x": noise(n, seed=n), "y": noise(k, seed=k + 7)}
        return run(f"n{n}k{k}", f, expect(**f))

    return graph("""(float[N] x, float[K] y) => (float d, float[?,?] D) <int64 one = {1}, int64[1] flat = {-1}, int64[1,2] origin = {0, 0}, float[1] zero = {0.0}, int64[2] corner = {-1, -1},
            int64[3,2] offs = {0, 0, 0, 1, 1, 0}, int64[1] ones = {1}> {
        N = Shape(x)
        K = Shape(y)
        N1 = Add(N, ones)
        K1 = Add(K, ones)
        s = Concat<axis = 0>(N1, K1)
        big = ConstantOfShape<value = float[1] {1e30}>(s)
        D0 = ScatterND(big, origin, zero)
        n = Squeeze(N)
        k = Squeeze(K)
        D = Loop <body = rows (int64 i, bool c, float[p,q] A) => (bool c, float[p,q] B) {
            xi = Gather(x, i)
            i0 = Reshape(i, flat)
            B = Loop <body = cols (int64 j, bool e, float[p,q] X) => (bool e, float[p,q] Y) {
                yj = Gather(y, j)
                df = Sub(xi, yj)
                cost = Abs(df)
                j0 = Reshape(j, flat)
                ij = Concat<axis = 0>(i0, j0)
                at = Add(offs, ij)
                three = GatherND(X, at)
                m = ReduceMin<keepdims = 1>(three)
                v = Add(m, cost)
                w0 = Add(ij, one)
                two = Constant<value_ints = [1, 2]>()
                w = Reshape(w0, two)
                Y = ScatterND(X, w, v)
            }> (k, "", A)
        }> (n, "", D0)
        d = GatherND(D, corner)
    }"""), [
        run(f"n{n}k{k}", {"x": noise(n, seed=n), "y": noise(k, seed=k + 7)})
        for n, k in ((1, 1), (3, 5), (8, 2), (0, 3))
    ]


@loop_model("loop_carried", rtol=1e-4, atol=1e-5)
def cholesky_by_columns():
    """Each iteration subtracts an outer product and collects a column."""

    def one(n):
        a = noise(n, n, seed=n)
        s = a @ a.T + n * np.eye(n, dtype=np.float32)
        return run(f"n{n}", {"A": s}, [np.linalg.cholesky(s).T])

    return graph("""(float[N,N] A) => (float[N,N] Lt) <int64[1] ax1 = {1}, int64[1] ax0 = {0}, int64 z = {0}, int64 s = {1}, float zf = {0.0}> {
        N = Shape<start = 0, end = 1>(A)
        n = Squeeze(N)
        idx = Range(z, n, s)
        X, Lt = Loop <body = g (int64 k, bool c, float[N,N] S) => (bool c, float[N,N] T, float[N] v) {
            col = Gather<axis = 1>(S, k)
            d = Gather(col, k)
            r = Sqrt(d)
            v0 = Div(col, r)
            before = Less(idx, k)
            v = Where(before, zf, v0)
            a = Unsqueeze(v, ax1)
            b = Unsqueeze(v, ax0)
            o = MatMul(a, b)
            T = Sub(S, o)
        }> (n, "", A)
    }"""), [one(n) for n in (1, 2, 5, 9)]


@loop_model("loop_test", rtol=1e-3, atol=1e-3)
def conjugate_gradient():
    """While the residual is large; five carried values of two shapes."""

    def one(n):
        a = noise(n, n, seed=n)
        s = (a @ a.T + n * np.eye(n)).astype(np.float32)
        b = noise(n, seed=3)
        return run(
            f"n{n}", {"A": s, "b": b}, [np.linalg.solve(s.astype(np.float64), b).astype(np.float32)]
        )

    return graph("""(float[N,N] A, float[N] b) => (float[N] x) <float eps = {1e-8}, bool true = {1}, int64 limit = {100}> {
        N = Shape(b)
        x0 = ConstantOfShape(N)
        rr0 = ReduceSumSquare<keepdims = 0>(b)
        x, r, p, rr = Loop <body = g (int64 i, bool c, float[N] xx, float[N] r_, float[N] p_, float rr_) => (bool c1, float[N] x1, float[N] r1, float[N] p1, float rr1) {
            Ap = MatMul(A, p_)
            pAp = MatMul(p_, Ap)
            al = Div(rr_, pAp)
            dx = Mul(al, p_)
            x1 = Add(xx, dx)
            dr = Mul(al, Ap)
            r1 = Sub(r_, dr)
            rr1 = ReduceSumSquare<keepdims = 0>(r1)
            be = Div(rr1, rr_)
            bp = Mul(be, p_)
            p1 = Add(r1, bp)
            c1 = Greater(rr1, eps)
        }> (limit, true, x0, b, b, rr0)
    }"""), [one(n) for n in (1, 4, 16)]


@loop_model("loop_carried")
def shortest_paths():
    """Floyd and Warshall with strict integers; a row and a column of the state itself."""

    def expect(D):
        D = D.copy()
        for k in range(len(D)):
            D = np.minimum(D, D[:, k : k + 1] + D[k : k + 1, :])
        return [D]

    def one(n):
        d = np.random.default_rng(n).integers(1, 50, (n, n)).astype(np.int32)
        return run(f"n{n}", {"D": d}, expect(d))

    return graph("""(int32[N,N] D) => (int32[N,N] E) {
        N = Shape<start = 0, end = 1>(D)
        n = Squeeze(N)
        E = Loop <body = g (int64 k, bool c, int32[N,N] X) => (bool c, int32[N,N] Y) {
            f = Constant<value_ints = [1]>()
            k1 = Reshape(k, f)
            col = Gather<axis = 1>(X, k1)
            row = Gather<axis = 0>(X, k1)
            s = Add(col, row)
            Y = Min(X, s)
        }> (n, "", D)
    }"""), [one(n) for n in (1, 2, 7, 16)]


@loop_model("loop_carried")
def knapsack():
    """One row of the table is state, shifted by a weight that is data: Pad and Slice of run-time extents."""

    def expect(w, v, cap):
        best = np.zeros(int(cap) + 1, np.int64)
        for a, b in zip(w, v, strict=True):
            s = np.concatenate([np.full(a, -1000), best])[: len(best)] + b
            best = np.maximum(best, s)
        return [best]

    def one(name, w, v, cap):
        f = {"w": i64(w), "v": i64(v), "cap": i64(cap)}
        return run(name, f, expect(**f))

    return graph("""(int64[N] w, int64[N] v, int64 cap) => (int64[?] best) <int64[1] zero = {0}, int64[1] one = {1}, int64 low = {-1000}> {
        c1 = Add(cap, one)
        b0 = ConstantOfShape<value = int64[1] {0}>(c1)
        best = Scan<num_scan_inputs = 2, body = g (int64[C] b, int64 wi, int64 vi) => (int64[C] r) {
            w1 = Reshape(wi, one)
            pads = Concat<axis = 0>(w1, zero)
            p = Pad(b, pads, low)
            s = Slice(p, zero, c1)
            t = Add(s, vi)
            r = Max(b, t)
        }>(b0, w, v)
    }"""), [
        one("three", [1, 3, 4], [15, 20, 30], 4),
        one("one", [2], [3], 1),
        one("many", [5, 4, 6, 3], [10, 40, 30, 50], 10),
        one("wide", [20], [3], 4),
    ]


@loop_model("loop_collect", rtol=1e-5)
def runge_kutta():
    """Four slopes of a function of the model; every tenth state is written by an If, others a NaN-free zero row."""
    from loop_models.registry import function

    return graph(
        """(double[2] y0, int64 M, double h) => (double[2] y, double[?,2] ys) <double half = {0.5}, double two = {2.0}, double six = {6.0}, int64 three = {3}, int64 zero = {0}> {
        y, ys = Loop <body = g (int64 i, bool c, double[2] x) => (bool c, double[2] y1, double[2] o) {
            k1 = local.slope<mu = 1.5>(x)
            a = Mul(h, half)
            a1 = Mul(a, k1)
            b1 = Add(x, a1)
            k2 = local.slope<mu = 1.5>(b1)
            a2 = Mul(a, k2)
            b2 = Add(x, a2)
            k3 = local.slope<mu = 1.5>(b2)
            a3 = Mul(h, k3)
            b3 = Add(x, a3)
            k4 = local.slope<mu = 1.5>(b3)
            m1 = Mul(two, k2)
            m2 = Mul(two, k3)
            s = Sum(k1, m1, m2, k4)
            hs = Div(h, six)
            d = Mul(hs, s)
            y1 = Add(x, d)
            m = Mod(i, three)
            e = Equal(m, zero)
            o = If (e) <then_branch = t () => (double[2] u) { u = Identity(y1) }, else_branch = n () => (double[2] v) { v = Sub(y1, y1) }>
        }> (M, "", y0)
    }""",
        functions=function("""slope <mu: float = 1.0> (p) => (q) {
            ax = Constant<value_ints = [1, 1]>()
            u, v = Split<axis = 0>(p, ax)
            m0 = Constant<value_float: float = @mu>()
            m = CastLike(m0, p)
            uu = Mul(u, u)
            one = Constant<value_float = 1.0>()
            o = CastLike(one, p)
            w = Sub(o, uu)
            mw = Mul(m, w)
            mv = Mul(mw, v)
            dv = Sub(mv, u)
            q = Concat<axis = 0>(v, dv)
        }"""),
    ), [run(f"m{m}", {"y0": f64([2, 0]), "M": i64(m), "h": f64(0.05)}) for m in (0, 1, 7, 40)]


@loop_model("loop_carried")
def game_of_life():
    """Neighbours by Conv over a padded board, rules by logic; bool state of a torus by Concat of slices."""

    def expect(board, M):
        b = board
        for _ in range(int(M)):
            n = sum(
                np.roll(np.roll(b.astype(np.int64), dy, 0), dx, 1)
                for dy in (-1, 0, 1)
                for dx in (-1, 0, 1)
                if (dy, dx) != (0, 0)
            )
            b = (n == 3) | (b & (n == 2))
        return [b]

    def one(h, w, m):
        f = {"board": np.random.default_rng(h * w).random((h, w)) < 0.4, "M": i64(m)}
        return run(f"h{h}w{w}m{m}", f, expect(**f))

    return graph("""(bool[H,W] board, int64 M) => (bool[H,W] after) <float[1,1,3,3] k = {1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0}, int64[4] pads = {1, 1, 1, 1}, int64[2] lead = {0, 1}, float three = {3.0}, float two = {2.0}> {
        after = Loop <body = g (int64 i, bool c, bool[H,W] b) => (bool c, bool[H,W] b1) {
            f = Cast<to = 1>(b)
            p = Pad<mode = "wrap">(f, pads)
            x = Unsqueeze(p, lead)
            y = Conv(x, k)
            n = Squeeze(y, lead)
            e3 = Equal(n, three)
            e2 = Equal(n, two)
            stay = And(b, e2)
            b1 = Or(e3, stay)
        }> (M, "", board)
    }"""), [one(3, 3, 1), one(5, 8, 4), one(16, 16, 10), one(4, 4, 0), one(1, 3, 2)]


@loop_model("loop_carried", rtol=1e-5, atol=1e-5)
def heat_by_slices():
    """A stencil written by slices; the border is kept by ScatterND-free Concat."""
    return graph("""(float[N,N] u, int64 M) => (float[N,N] v) <float q = {0.2}, int64[1] z = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] m1 = {-1}, int64[1] m2 = {-2}, int64[1] big = {1000000}, int64[1] ax0 = {0}, int64[1] ax1 = {1}> {
        v = Loop <body = g (int64 i, bool c, float[N,N] x) => (bool c, float[N,N] y) {
            mid = Slice(x, one, m1, ax1)
            core = Slice(mid, one, m1, ax0)
            up = Slice(mid, z, m2, ax0)
            dn = Slice(mid, two, big, ax0)
            rows = Slice(x, one, m1, ax0)
            lf = Slice(rows, z, m2, ax1)
            rt = Slice(rows, two, big, ax1)
            s1 = Add(up, dn)
            s2 = Add(lf, rt)
            s = Add(s1, s2)
            sq = Mul(s, q)
            cq = Mul(core, q)
            new = Add(sq, cq)
            l = Slice(rows, z, one, ax1)
            r = Slice(rows, m1, big, ax1)
            w = Concat<axis = 1>(l, new, r)
            t = Slice(x, z, one, ax0)
            b = Slice(x, m1, big, ax0)
            y = Concat<axis = 0>(t, w, b)
        }> (M, "", u)
    }"""), [
        run(f"n{n}m{m}", {"u": noise(n, n, seed=n), "M": i64(m)})
        for n, m in ((3, 1), (4, 5), (20, 7), (2, 1))
    ]
