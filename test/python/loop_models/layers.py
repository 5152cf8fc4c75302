# ===- layers.py - Layers of networks -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Layers that have a state: state spaces, mixing, experts, filters with memory."""

# ruff: noqa: N803, N806 (matrices have capital letters for names)
import numpy as np
from exact_peer import weight_range

from loop_models.registry import (
    f32,
    graph,
    i64,
    loop_model,
    noise,
    run,
)


@loop_model("loop_collect", rtol=1e-4, atol=1e-5)
def linear_attention():
    """A matrix as state: decayed, with an outer product added, read by a query (GLA)."""

    def expect(q, k, v, a):
        S = np.zeros((q.shape[0], q.shape[2], v.shape[2]), np.float32)
        o = []
        for t in range(q.shape[1]):
            S = S * a[:, t, :, None] + k[:, t, :, None] * v[:, t, None, :]
            o.append(np.einsum("hk,hkv->hv", q[:, t], S))
        return [np.stack(o, 1) if o else np.zeros((q.shape[0], 0, v.shape[2]), np.float32), S]

    def one(h, t, k, v):
        f = {
            "q": noise(h, t, k),
            "k": noise(h, t, k, seed=1),
            "v": noise(h, t, v, seed=2),
            "a": (1 / (1 + np.exp(-noise(h, t, k, seed=3)))).astype(np.float32),
        }
        return run(f"h{h}t{t}k{k}v{v}", f, expect(**f))

    return graph("""(float[H,T,K] q, float[H,T,K] k, float[H,T,V] v, float[H,T,K] a) => (float[H,T,V] o, float[H,K,V] S) <int64[1] ax1 = {1}, int64[1] ax2 = {2}> {
        H = Shape<start = 0, end = 1>(q)
        Kd = Shape<start = 2, end = 3>(q)
        Vd = Shape<start = 2, end = 3>(v)
        s = Concat<axis = 0>(H, Kd, Vd)
        S0 = ConstantOfShape(s)
        S, o = Scan<num_scan_inputs = 4, scan_input_axes = [1, 1, 1, 1], scan_output_axes = [1],
                body = g (float[H,K,V] X, float[H,K] qt, float[H,K] kt, float[H,V] vt, float[H,K] at) => (float[H,K,V] Y, float[H,V] y) {
            a1 = Unsqueeze(at, ax2)
            X1 = Mul(X, a1)
            k1 = Unsqueeze(kt, ax2)
            v1 = Unsqueeze(vt, ax1)
            kv = Mul(k1, v1)
            Y = Add(X1, kv)
            y = Einsum<equation = "hk,hkv->hv">(qt, Y)
        }>(S0, q, k, v, a)
    }"""), [one(1, 1, 1, 1), one(2, 5, 3, 4), one(4, 9, 8, 16), one(3, 2, 17, 5)]


@loop_model("loop_carried", rtol=1e-4, atol=1e-4)
def chunked_state_space():
    """Mamba 2 in chunks: a masked product within each, a state between them, by Loop over slices."""

    def expect(x, la, B, C, Q):
        T, D = x.shape
        S = np.zeros((B.shape[1], D))
        y = []
        for t in range(T):
            S = S * np.exp(la[t]) + np.outer(B[t], x[t])
            y.append(C[t] @ S)
        return [f32(y), f32(S)]

    def one(chunks, q, n, d):
        T = chunks * q
        f = {
            "x": noise(T, d),
            "la": -np.abs(noise(T, seed=1)) * f32(0.3),
            "B": noise(T, n, seed=2),
            "C": noise(T, n, seed=3),
            "Q": i64(q),
        }
        return run(f"c{chunks}q{q}n{n}d{d}", f, expect(**f))

    return graph("""(float[T,D] x, float[T] la, float[T,N] B, float[T,N] C, int64 Q) => (float[?,?] y, float[N,D] S) <int64[1] flat = {-1}, int64 zero = {0}, int64[1] ax1 = {1}, int64[1] ax0 = {0}, int64[2] keep = {-1, 0}, int64 minus = {-1}> {
        T0 = Size(la)
        M = Div(T0, Q)
        N0 = Shape<start = 1, end = 2>(B)
        D0 = Shape<start = 1, end = 2>(x)
        ss = Concat<axis = 0>(N0, D0)
        S0 = ConstantOfShape(ss)
        S, ys = Loop<body = chunk (int64 i, bool c, float[N,D] P) => (bool c, float[N,D] S1, float[q,D] yc) {
            a = Mul(i, Q)
            b = Add(a, Q)
            a1 = Reshape(a, flat)
            b1 = Reshape(b, flat)
            xs = Slice(x, a1, b1)
            ls = Slice(la, a1, b1)
            Bs = Slice(B, a1, b1)
            Cs = Slice(C, a1, b1)
            L = CumSum(ls, zero)
            Lr = Unsqueeze(L, ax1)
            Lc = Unsqueeze(L, ax0)
            diff = Sub(Lr, Lc)
            q1 = Reshape(Q, flat)
            qq = Concat<axis = 0>(q1, q1)
            onesl = ConstantOfShape<value = float[1] {1.0}>(qq)
            low1 = Trilu<upper = 0>(onesl)
            e0 = Exp(diff)
            e = Mul(e0, low1)
            Bt = Transpose(Bs)
            CB = MatMul(Cs, Bt)
            G = Mul(CB, e)
            intra = MatMul(G, xs)
            CS = MatMul(Cs, P)
            eL = Exp(Lr)
            inter = Mul(CS, eL)
            yc = Add(intra, inter)
            last = Gather(L, minus)
            back = Sub(last, L)
            w = Exp(back)
            w1 = Unsqueeze(w, ax1)
            Bw = Mul(Bs, w1)
            Bwt = Transpose(Bw)
            add = MatMul(Bwt, xs)
            el = Exp(last)
            So = Mul(P, el)
            S1 = Add(So, add)
        }>(M, "", S0)
        yshape = Shape(x)
        y = Reshape(ys, yshape)
    }"""), [one(1, 1, 1, 1), one(3, 4, 2, 5), one(2, 16, 8, 8), one(5, 3, 4, 1)]


@loop_model("loop_collect", rtol=1e-4, atol=1e-5)
def rwkv_time_mixing():
    """Numerators and denominators with a running maximum; three states and a token shift."""

    def expect(x, w, u, Wk, Wv):
        d = x.shape[1]
        aa, bb, pp = np.zeros(d), np.zeros(d), np.full(d, -1e30)
        prev = np.zeros(d)
        o = []
        for t in x.astype(np.float64):
            m = 0.5 * t + 0.5 * prev
            k, v = m @ Wk, m @ Wv
            ww = u + k
            p = np.maximum(pp, ww)
            e1, e2 = np.exp(pp - p), np.exp(ww - p)
            o.append((e1 * aa + e2 * v) / (e1 * bb + e2))
            ww = pp + w
            p = np.maximum(ww, k)
            e1, e2 = np.exp(ww - p), np.exp(k - p)
            aa, bb, pp, prev = e1 * aa + e2 * v, e1 * bb + e2, p, t
        return [f32(o).reshape(-1, d)]

    def one(t, d):
        f = {
            "x": noise(t, d),
            "w": -np.abs(noise(d, seed=1)),
            "u": noise(d, seed=2),
            "Wk": noise(d, d, seed=3),
            "Wv": noise(d, d, seed=4),
        }
        return run(f"t{t}d{d}", f, expect(**f))

    return graph("""(float[T,D] x, float[D] w, float[D] u, float[D,D] Wk, float[D,D] Wv) => (float[T,D] o) <float half = {0.5}> {
        Dd = Shape<start = 1, end = 2>(x)
        z = ConstantOfShape(Dd)
        low = ConstantOfShape<value = float[1] {-1e30}>(Dd)
        a, b, p, r, o = Scan<num_scan_inputs = 1, body = g (float[D] aa, float[D] bb, float[D] pp, float[D] prev, float[D] t) => (float[D] a2, float[D] b2, float[D] p2, float[D] t2, float[D] y) {
            th = Mul(t, half)
            ph = Mul(prev, half)
            m = Add(th, ph)
            k = MatMul(m, Wk)
            v = MatMul(m, Wv)
            ww = Add(u, k)
            q = Max(pp, ww)
            d1 = Sub(pp, q)
            e1 = Exp(d1)
            d2 = Sub(ww, q)
            e2 = Exp(d2)
            n1 = Mul(e1, aa)
            n2 = Mul(e2, v)
            n = Add(n1, n2)
            m1 = Mul(e1, bb)
            den = Add(m1, e2)
            y = Div(n, den)
            ww2 = Add(pp, w)
            p2 = Max(ww2, k)
            f1 = Sub(ww2, p2)
            g1 = Exp(f1)
            f2 = Sub(k, p2)
            g2 = Exp(f2)
            h1 = Mul(g1, aa)
            h2 = Mul(g2, v)
            a2 = Add(h1, h2)
            j1 = Mul(g1, bb)
            b2 = Add(j1, g2)
            t2 = Identity(t)
        }>(z, z, low, z, x)
    }"""), [one(1, 1), one(6, 5), one(9, 32)]


@loop_model("loop_carried", rtol=1e-4, atol=1e-5)
def wavenet_by_ring_buffers():
    """Dilated convolutions that remember by Slice and Concat, and by ScatterND at a moving place."""
    return graph("""(float[T,C] x, float[2,C,C] w1, float[2,C,C] w2) => (float[T,C] y, float[3,C] ring) <int64[1] ax0 = {0}, int64[1] one = {1}, int64[1] big = {100}, int64 zero = {0}, int64 uno = {1}, int64 four = {4}, int64 three = {3}, int64[1] flat = {-1}, int64[1] two = {2}, int64[1] thr = {3}, int64[2] onebyone = {1, 1}> {
        Cd = Shape<start = 1, end = 2>(x)
        s1 = Concat<axis = 0>(two, Cd)
        q0 = ConstantOfShape(s1)
        s2 = Concat<axis = 0>(thr, Cd)
        r0 = ConstantOfShape(s2)
        M = Shape<start = 0, end = 1>(x)
        q, ring, y = Loop<body = g (int64 i, bool c, float[2,C] qu, float[3,C] ri) => (bool c, float[2,C] qu1, float[3,C] ri1, float[C] yt) {
            xt = Gather(x, i)
            old = Gather(qu, zero)
            a0 = Gather(w1, zero)
            a1 = Gather(w1, uno)
            p0 = MatMul(old, a0)
            p1 = MatMul(xt, a1)
            p = Add(p0, p1)
            h = Tanh(p)
            rest = Slice(qu, one, big, ax0)
            xr = Unsqueeze(xt, ax0)
            qu1 = Concat<axis = 0>(rest, xr)
            at = Mod(i, three)
            old2 = Gather(ri, at)
            at1 = Reshape(at, onebyone)
            hr = Unsqueeze(h, ax0)
            ri1 = ScatterND(ri, at1, hr)
            b0 = Gather(w2, zero)
            b1 = Gather(w2, uno)
            r0_ = MatMul(old2, b0)
            r1_ = MatMul(h, b1)
            r_ = Add(r0_, r1_)
            g_ = Sigmoid(r_)
            yt = Mul(g_, h)
        }>(M, "", q0, r0)
    }"""), [
        run(
            f"t{t}c{c}",
            {"x": noise(t, c), "w1": noise(2, c, c, seed=1), "w2": noise(2, c, c, seed=2)},
        )
        for t, c in ((1, 1), (5, 3), (11, 16))
    ]


@loop_model("loop_carried", rtol=1e-4, atol=1e-5)
def batch_norm_in_training():
    """Running statistics are carried; normalised rows are collected."""

    def expect(x, s, b, m, v):
        ys = []
        for row in x:
            cm, cv = row.mean((0, 2, 3)), row.var((0, 2, 3))
            ys.append(
                (row - cm[:, None, None]) / np.sqrt(cv + 1e-5)[:, None, None] * s[:, None, None]
                + b[:, None, None]
            )
            m, v = m * f32(0.8) + cm * f32(0.2), v * f32(0.8) + cv * f32(0.2)
        return [m.astype(np.float32), v.astype(np.float32), f32(ys)]

    f = {
        "x": noise(4, 2, 3, 4, 5),
        "s": noise(3, seed=1),
        "b": noise(3, seed=2),
        "m": noise(3, seed=3),
        "v": np.abs(noise(3, seed=4)),
    }
    return graph("""(float[T,B,C,H,W] x, float[C] s, float[C] b, float[C] m, float[C] v) => (float[C] m1, float[C] v1, float[T,B,C,H,W] ys) {
        m1, v1, ys = Scan<num_scan_inputs = 1, body = g (float[C] mi, float[C] vi, float[B,C,H,W] xi) => (float[C] mo, float[C] vo, float[B,C,H,W] y) {
            y, mo, vo = BatchNormalization<training_mode = 1, momentum = 0.8>(xi, s, b, mi, vi)
        }>(m, v, x)
    }"""), [run("four", f, expect(**f))]


@loop_model("loop_carried", rtol=1e-4, atol=1e-5)
def conv_lstm():
    """Convolutions of state and input in a Scan; gates by Split."""
    return graph("""(float[T,B,C,H,W] x, float[G,C,3,3] wx, float[G,K,3,3] wh, float[G] bias, float[B,K,H,W] h0, float[B,K,H,W] c0)
            => (float[B,K,H,W] h, float[B,K,H,W] c, float[T,B,K,H,W] hs) {
        h, c, hs = Scan<num_scan_inputs = 1, body = g (float[B,K,H,W] hi, float[B,K,H,W] ci, float[B,C,H,W] xi) => (float[B,K,H,W] ho, float[B,K,H,W] co, float[B,K,H,W] o) {
            a = Conv<pads = [1, 1, 1, 1]>(xi, wx, bias)
            b = Conv<pads = [1, 1, 1, 1]>(hi, wh)
            s = Add(a, b)
            i_, f_, g_, o_ = Split<axis = 1, num_outputs = 4>(s)
            i1 = Sigmoid(i_)
            f1 = Sigmoid(f_)
            g1 = Tanh(g_)
            o1 = Sigmoid(o_)
            fc = Mul(f1, ci)
            ig = Mul(i1, g1)
            co = Add(fc, ig)
            t = Tanh(co)
            ho = Mul(o1, t)
            o = Identity(ho)
        }>(h0, c0, x)
    }"""), [
        run(
            f"t{t}",
            {
                "x": noise(t, 2, 3, h, w),
                "wx": noise(8, 3, 3, 3, seed=1),
                "wh": noise(8, 2, 3, 3, seed=2),
                "bias": noise(8, seed=3),
                "h0": noise(2, 2, h, w, seed=4),
                "c0": noise(2, 2, h, w, seed=5),
            },
        )
        for t, h, w in ((1, 1, 1), (3, 5, 4), (2, 9, 17))
    ]


@loop_model("loop_carried", rtol=1e-4, atol=1e-5)
def experts_in_a_loop():
    """NonZero finds the rows of each expert, Gather takes and ScatterElements adds them back."""

    def expect(x, gate, W):
        pick = gate.argmax(1)
        y = np.zeros((len(x), W.shape[2]), np.float32)
        ns = []
        for e in range(len(W)):
            at = np.nonzero(pick == e)[0]
            y[at] += x[at] @ W[e]
            ns.append(len(at))
        return [y, i64(ns)]

    def one(n, e):
        f = {"x": noise(n, 5), "gate": noise(n, e, seed=1), "W": noise(e, 5, 4, seed=2)}
        return run(f"n{n}e{e}", f, expect(**f))

    return graph("""(float[N,D] x, float[N,E] gate, float[E,D,F] W) => (float[N,F] y, int64[?] ns) <int64[1] ax1 = {1}, int64[2] two = {-1, 1}> {
        E = Shape<start = 0, end = 1>(W)
        n = Shape<start = 0, end = 1>(x)
        f = Shape<start = 2, end = 3>(W)
        s = Concat<axis = 0>(n, f)
        y0 = ConstantOfShape(s)
        pick = ArgMax<axis = 1, keepdims = 0>(gate)
        y, ns = Loop<body = g (int64 e, bool c, float[N,F] a) => (bool c, float[N,F] b, int64 k) {
            is = Equal(pick, e)
            at0 = NonZero(is)
            ax0 = Constant<value_ints = [0]>()
            at = Squeeze(at0, ax0)
            rows = Gather(x, at)
            w = Gather(W, e)
            r = MatMul(rows, w)
            at2 = Reshape(at, two)
            b = ScatterND<reduction = "add">(a, at2, r)
            k = Size(at)
        }>(E, "", y0)
    }"""), [one(1, 1), one(6, 3), one(20, 8), one(2, 4)]


@loop_model("loop_carried")
def quantised_accumulation():
    """Int8 products in a loop: MatMulInteger, requantised state."""
    return graph("""(uint8[M0,K] a, int8[K,K] w, uint8 za, int64 M, float s) => (uint8[M0,K] y, int32[?,M0,K] acc) <int8 zw = {0}, float one = {1.0}> {
        y, acc = Loop<body = g (int64 i, bool c, uint8[M0,K] x) => (bool c, uint8[M0,K] x1, int32[M0,K] p) {
            p = MatMulInteger(x, w, za, zw)
            pf = Cast<to = 1>(p)
            ps = Mul(pf, s)
            x1 = QuantizeLinear(ps, one, za)
        }>(M, "", a)
    }"""), [
        run(
            f"n{n}k{k}",
            {
                "a": np.random.default_rng(n).integers(0, 255, (n, k)).astype(np.uint8),
                "w": np.random.default_rng(k)
                .integers(*weight_range(np.int8), (k, k))
                .astype(np.int8),
                "za": np.uint8(7) if False else np.array(7, np.uint8),
                "M": i64(3),
                "s": f32(0.013),
            },
        )
        for n, k in ((1, 1), (3, 5), (8, 32))
    ]


@loop_model("loop_carried", rtol=1e-3, atol=1e-4)
def einsum_with_state():
    """Products of three operands, of traces and of diagonals of the state."""
    return graph("""(float[N,N] A, float[B,N] x, int64 M) => (float[B,N] y, float[?] tr, float[?,N] di) <float q = {0.1}> {
        y, tr, di = Loop<body = g (int64 i, bool c, float[B,N] v) => (bool c, float[B,N] v1, float t, float[N] d) {
            s = Einsum<equation = "bi,ij,bj->b">(v, A, v)
            o = Einsum<equation = "bi,bj->ij">(v, v)
            t = Einsum<equation = "ii->">(o)
            d = Einsum<equation = "ii->i">(o)
            w = Einsum<equation = "ij,bj->bi">(A, v)
            w1 = Mul(w, q)
            ax = Constant<value_ints = [1]>()
            s1 = Unsqueeze(s, ax)
            z = Add(w1, s1)
            v1 = Tanh(z)
        }>(M, "", x)
    }"""), [
        run(f"b{b}n{n}", {"A": noise(n, n), "x": noise(b, n, seed=1), "M": i64(3)})
        for b, n in ((1, 1), (3, 4), (5, 16))
    ]


@loop_model("loop_collect", rtol=1e-4, atol=1e-4)
def fft_of_growing_blocks():
    """Stages of a Fourier transform: Reshape by a power of two that the iteration's number tells."""

    def expect(re, im):
        f = np.fft.fft(re + 1j * im)
        return [f.real.astype(np.float32), f.imag.astype(np.float32)]

    def one(n):
        f = {"re": noise(n), "im": noise(n, seed=1)}
        return run(f"n{n}", f, expect(**f))

    return graph("""(float[N] re, float[N] im) => (float[?] yr, float[?] yi) <int64 one = {1}, int64 zero = {0}, int64[1] flat = {-1}, float two = {2.0}, float mpi = {-3.14159265358979}, int64[1] ones = {1}> {
        n = Size(re)
        nf = Cast<to = 1>(n)
        ln = Log(nf)
        l2 = Log(two)
        lg = Div(ln, l2)
        lr = Round(lg)
        M = Cast<to = 7>(lr)
        s0 = Concat<axis = 0>(ones, flat)
        r0 = Reshape(re, s0)
        i0 = Reshape(im, s0)
        r, q = Loop<body = g (int64 i, bool c, float[p,m] a, float[p,m] b) => (bool c, float[p2,m2] a1, float[p2,m2] b1) {
            e0, o0 = Split<axis = 1, num_outputs = 2>(a)
            e1, o1 = Split<axis = 1, num_outputs = 2>(b)
            P = Shape<start = 0, end = 1>(a)
            p0 = Squeeze(P)
            k = Range(zero, p0, one)
            kf = Cast<to = 1>(k)
            pf = Cast<to = 1>(p0)
            ang0 = Div(kf, pf)
            ang = Mul(ang0, mpi)
            ax = Constant<value_ints = [1]>()
            ang1 = Unsqueeze(ang, ax)
            cs = Cos(ang1)
            sn = Sin(ang1)
            t1 = Mul(cs, o0)
            t2 = Mul(sn, o1)
            tr = Sub(t1, t2)
            t3 = Mul(cs, o1)
            t4 = Mul(sn, o0)
            ti = Add(t3, t4)
            ur = Add(e0, tr)
            ui = Add(e1, ti)
            vr = Sub(e0, tr)
            vi = Sub(e1, ti)
            a1 = Concat<axis = 0>(ur, vr)
            b1 = Concat<axis = 0>(ui, vi)
        }>(M, "", r0, i0)
        yr = Reshape(r, flat)
        yi = Reshape(q, flat)
    }"""), [one(2), one(8), one(64), one(1)]


def _delta(r, w, k, v, a, S):
    """RWKV-7's rule, one step after the other."""
    out = []
    for t in range(r.shape[0]):
        unit = k[t] / (np.linalg.norm(k[t], axis=1, keepdims=True) + 1e-6)
        old = np.einsum("hvk,hk->hv", S, -unit)
        S = S * w[t][:, None, :] + old[:, :, None] * (unit * a[t])[:, None, :]
        S = S + v[t][:, :, None] * k[t][:, None, :]
        out.append(np.einsum("hvk,hk->hv", S, r[t]))
    return [S, np.stack(out)]


@loop_model("scan_args", "loop_carried", rtol=1e-3, atol=1e-4)
def generalised_delta_rule():
    """A matrix for each head, read by a column of each (RWKV-7): products of one column."""

    def of(steps, heads, width):
        feeds = {key: noise(steps, heads, width, seed=k) * 0.3 for k, key in enumerate("rwkva")}
        feeds["w"] = 1 / (1 + np.exp(-feeds["w"]))
        feeds["S0"] = noise(heads, width, width, seed=9) * 0.3
        want = _delta(*(feeds[key] for key in "rwkva"), feeds["S0"])
        return run(f"t{steps}h{heads}d{width}", feeds, want)

    return graph("""(float[T,H,D] r, float[T,H,D] w, float[T,H,D] k, float[T,H,D] v, float[T,H,D] a, float[H,D,D] S0) => (float[H,D,D] S, float[T,H,D] y) {
        row = Constant<value = int64[1] {1}>()
        column = Constant<value = int64[1] {2}>()
        tiny = Constant<value = float {1e-6}>()
        S, y = Scan <num_scan_inputs = 5, body = b (float[H,D,D] s, float[H,D] rt, float[H,D] wt, float[H,D] kt, float[H,D] vt, float[H,D] at)
                => (float[H,D,D] s1, float[H,D] o) {
            norm = ReduceL2<keepdims = 1>(kt, row)
            length = Add(norm, tiny)
            unit = Div(kt, length)
            minus = Neg(unit)
            from = Unsqueeze(minus, column)
            old = MatMul(s, from)
            part = Mul(unit, at)
            to = Unsqueeze(part, row)
            change = MatMul(old, to)
            decay = Unsqueeze(wt, row)
            kept = Mul(s, decay)
            values = Unsqueeze(vt, column)
            keys = Unsqueeze(kt, row)
            new = Mul(values, keys)
            sum = Add(kept, change)
            s1 = Add(sum, new)
            query = Unsqueeze(rt, column)
            all = MatMul(s1, query)
            o = Squeeze(all, column)
        }> (S0, r, w, k, v, a)
    }"""), [of(5, 2, 8), of(3, 1, 33), of(2, 3, 1), of(4, 5, 17)]


@loop_model("scan_args", rtol=1e-2, atol=1e-2)
def low_pass_of_halves():
    """A filter of many channels whose state has 16 bits."""

    def of(steps, channels):
        x, y = (noise(*s).astype(np.float16) for s in ((steps, channels), (channels,)))
        out = []
        for row in x:
            y = row * np.float16(0.25) + y * np.float16(0.75)
            out.append(y)
        feeds = {"x": x, "y0": noise(channels).astype(np.float16)}
        return run(f"t{steps}c{channels}", feeds, [y, np.stack(out)])

    return graph("""(float16[T,C] x, float16[C] y0) => (float16[C] last, float16[T,C] y) {
        one_fourth = Constant<value_float = 0.25>()
        quarter = Cast<to = 10>(one_fourth)
        three_fourths = Constant<value_float = 0.75>()
        most = Cast<to = 10>(three_fourths)
        last, y = Scan <num_scan_inputs = 1, body = b (float16[C] before, float16[C] now) => (float16[C] after, float16[C] o) {
            p = Mul(now, quarter)
            q = Mul(before, most)
            after = Add(p, q)
            o = Identity(after)
        }> (y0, x)
    }"""), [of(20, 8), of(5, 37), of(3, 1)]
