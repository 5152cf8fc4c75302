# ===- decoders.py - Decoders -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Loops that search and decode: beams, paths, symbols, boxes."""

# ruff: noqa: N803 (matrices have capital letters for names)
import numpy as np

from loop_models.registry import f32, graph, i64, loop_model, noise, run


@loop_model("loop_carried", "loop_test", rtol=1e-4)
def beam_search():
    """TopK over scores of all beams; GatherElements and Gather reorder tokens and a growing cache."""
    return graph("""(int64 M, float[V,V] table, float[V,H] emb, int64[B] start, int64 stop)
            => (int64[?,?] tokens, float[?] scores, float[?,?,?] cache) {
        flat = Constant<value_ints = [-1]>()
        one = Constant<value_ints = [1]>()
        true = Constant<value = bool {1}>()
        nothing = Constant<value_ints = [1, 0]>()
        B = Shape(start)
        V = Shape<start = 0, end = 1>(table)
        H = Shape<start = 1, end = 2>(emb)
        s0 = ConstantOfShape(B)
        t0 = Unsqueeze(start, one)
        zero = Constant<value_ints = [0]>()
        c0shape = Concat<axis = 0>(B, zero, H)
        c0 = ConstantOfShape(c0shape)
        tokens, scores, cache = Loop <body = step (int64 i, bool c, int64[b,t] ts, float[b] ss, float[b,k,h] cs)
                => (bool c1, int64[b,u] ts2, float[b] ss1, float[b,l,h] cs2) {
            minus = Constant<value_int = -1>()
            axis1 = Constant<value_ints = [1]>()
            last = Gather<axis = 1>(ts, minus)
            e = Gather(emb, last)
            e1 = Unsqueeze(e, axis1)
            cs1 = Concat<axis = 1>(cs, e1)
            mean = ReduceMean<keepdims = 0>(cs1, axis1)
            logits0 = Gather(table, last)
            bias = ReduceSum<keepdims = 1>(mean, axis1)
            logits = Add(logits0, bias)
            logp = LogSoftmax<axis = -1>(logits)
            ss0 = Unsqueeze(ss, axis1)
            all = Add(logp, ss0)
            allf = Reshape(all, flat)
            ss1, at = TopK<axis = 0>(allf, B)
            beam = Div(at, V)
            tok = Mod(at, V)
            ts1 = Gather<axis = 0>(ts, beam)
            tok1 = Unsqueeze(tok, axis1)
            ts2 = Concat<axis = 1>(ts1, tok1)
            cs2 = Gather<axis = 0>(cs1, beam)
            isStop = Equal(tok, stop)
            n = Cast<to = 7>(isStop)
            all1 = ReduceMin<keepdims = 0>(n)
            done = Cast<to = 9>(all1)
            c1 = Not(done)
        }> (M, true, t0, s0, c0)
    }"""), [
        run(
            f"m{m}",
            {
                "M": i64(m),
                "table": noise(7, 7),
                "emb": noise(7, 3, seed=1),
                "start": i64([0, 3, 5]),
                "stop": i64(4),
            },
        )
        for m in (0, 1, 2, 9)
    ]


@loop_model("loop_collect", rtol=1e-5)
def viterbi():
    """Forward by Scan with back pointers collected, then backwards by a second, reversed Scan."""
    return graph("""(float[T,K] emit, float[K,K] trans) => (int64[?] path, float best) {
        zero = Constant<value_ints = [0]>()
        K = Shape<start = 1, end = 2>(emit)
        z = ConstantOfShape(K)
        last, back = Scan <num_scan_inputs = 1, body = f (float[K] s, float[K] e) => (float[K] s1, int64[K] p) {
            ax = Constant<value_ints = [1]>()
            col = Unsqueeze(s, ax)
            x = Add(col, trans)
            ax0 = Constant<value_ints = [0]>()
            m = ReduceMax<keepdims = 0>(x, ax0)
            p = ArgMax<axis = 0, keepdims = 0>(x)
            s1 = Add(m, e)
        }> (z, emit)
        best = ReduceMax<keepdims = 0>(last)
        end = ArgMax<axis = 0, keepdims = 0>(last)
        first, path = Scan <num_scan_inputs = 1, scan_input_directions = [1], scan_output_directions = [1],
                body = b (int64 j, int64[K] q) => (int64 j1, int64 o) {
            j1 = Gather(q, j)
            o = Identity(j)
        }> (end, back)
    }"""), [
        run(f"t{t}k{k}", {"emit": noise(t, k, seed=t), "trans": noise(k, k, seed=k)})
        for t, k in ((1, 2), (5, 3), (17, 8), (4, 1))
    ]


def _ctc(logits):
    best = logits.argmax(-1)
    out = []
    last = 0
    for b in best:
        if b != last and b != 0:
            out.append(b)
        last = b
    return i64(out)


@loop_model("if_types", "loop_carried")
def ctc_greedy():
    """Repeats and blanks are left out: the state grows in one branch of an If only."""

    def one(name, x):
        return run(name, {"x": x}, [_ctc(x)])

    return graph("""(float[T,K] x) => (int64[?] y) <int64[1] zero1 = {0}, int64 zero = {0}> {
        M = Shape<start = 0, end = 1>(x)
        none = ConstantOfShape<value = int64[1] {0}>(zero1)
        y, l = Loop <body = g (int64 i, bool c, int64[n] a, int64 last) => (bool c, int64[m] a1, int64 b) {
            row = Gather(x, i)
            b = ArgMax<axis = 0, keepdims = 0>(row)
            same = Equal(b, last)
            z = Constant<value_int = 0>()
            blank = Equal(b, z)
            skip = Or(same, blank)
            a1 = If (skip) <
                then_branch = t () => (int64[n] u) { u = Identity(a) },
                else_branch = e () => (int64[k] v) {
                    f = Constant<value_ints = [-1]>()
                    b1 = Reshape(b, f)
                    v = Concat<axis = 0>(a, b1)
                }>
        }> (M, "", none, zero)
    }"""), [
        one("plain", noise(12, 4)),
        one("long", noise(40, 3, seed=3)),
        one("blanks", f32([[1, 0], [1, 0]])),
        one("none", np.zeros((0, 3), np.float32)),
    ]


@loop_model("loop_test", "loop_carried", "loop_cond")
def transducer_greedy():
    """RNN-T: for each frame, symbols while the joint network does not say blank, at most four."""

    def expect(enc, emb, W):
        h = np.zeros(emb.shape[1], np.float32)
        out, per = [], []
        for t in range(len(enc)):
            n = 0
            while n < 4:
                k = int((np.tanh(enc[t] + h) @ W).argmax())
                if k == 0:
                    break
                h = np.tanh(h + emb[k]).astype(np.float32)
                out.append(k)
                n += 1
            per.append(n)
        return [i64(out), i64(per)]

    def one(t, seed):
        f = {
            "enc": noise(t, 5, seed=seed) * 2,
            "emb": noise(6, 5, seed=seed + 1),
            "W": noise(5, 6, seed=seed + 2),
        }
        return run(f"t{t}s{seed}", f, expect(**f))

    return graph("""(float[T,H] enc, float[V,H] emb, float[H,V] W) => (int64[?] ys, int64[?] ns)
            <int64[1] zero1 = {0}, int64 zero = {0}, int64 four = {4}, bool true = {1}> {
        M = Shape<start = 0, end = 1>(enc)
        H = Shape<start = 1, end = 2>(enc)
        h0 = ConstantOfShape(H)
        y0 = ConstantOfShape<value = int64[1] {0}>(zero1)
        ys, hh, ns = Loop <body = frame (int64 t, bool c, int64[n] y, float[H] h) => (bool c, int64[m] y1, float[H] h1, int64 k1) {
            e = Gather(enc, t)
            more, y1, h1, k1 = Loop <body = symbol (int64 u, bool d, bool g, int64[n] a, float[H] b, int64 k)
                    => (bool go, bool go, int64[m] a1, float[H] b1, int64 kk) {
                s = Add(e, b)
                q = Tanh(s)
                j = MatMul(q, W)
                w = ArgMax<axis = 0, keepdims = 0>(j)
                blank = Equal(w, zero)
                go = Not(blank)
                a1, b1, kk = If (blank) <
                    then_branch = stay () => (int64[n] o1, float[H] o2, int64 o3) {
                        o1 = Identity(a)
                        o2 = Identity(b)
                        o3 = Identity(k)
                    },
                    else_branch = emit () => (int64[p] v1, float[H] v2, int64 v3) {
                        f = Constant<value_ints = [-1]>()
                        one = Constant<value_int = 1>()
                        w1 = Reshape(w, f)
                        v1 = Concat<axis = 0>(a, w1)
                        x = Gather(emb, w)
                        z = Add(b, x)
                        v2 = Tanh(z)
                        v3 = Add(k, one)
                    }>
            }> (four, true, true, y, h, zero)
        }> (M, "", y0, h0)
    }"""), [one(0, 0), one(1, 1), one(7, 2), one(12, 9)]


def _nms(boxes, scores, limit):
    alive = np.ones(len(boxes), bool)
    keep = []
    while alive.any():
        s = np.where(alive, scores, -np.inf)
        k = int(s.argmax())
        keep.append(k)
        b = boxes[k]
        w = np.maximum(0, np.minimum(boxes[:, 2], b[2]) - np.maximum(boxes[:, 0], b[0]))
        h = np.maximum(0, np.minimum(boxes[:, 3], b[3]) - np.maximum(boxes[:, 1], b[1]))
        inter = w * h
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        iou = inter / (area + area[k] - inter)
        alive &= ~(iou > limit)
        alive[k] = False
    return i64(keep)


@loop_model("loop_test", "loop_collect")
def suppression_by_while():
    """Non-maximum suppression: the best box that is left, until none is; bool state."""
    rng = np.random.default_rng(5)

    def one(n):
        at = rng.uniform(0, 10, (n, 2)).astype(np.float32)
        boxes = np.concatenate([at, at + rng.uniform(1, 5, (n, 2)).astype(np.float32)], 1)
        scores = rng.permutation(n).astype(np.float32)
        return run(
            f"n{n}",
            {"boxes": boxes, "scores": scores, "limit": f32(0.3)},
            [_nms(boxes, scores, 0.3)],
        )

    return graph("""(float[N,4] boxes, float[N] scores, float limit) => (int64[?] kept)
            <float low = {-3.4e38}, bool true = {1}, bool false = {0}, float zero = {0.0}, int64[4] ones = {1, 1, 1, 1}, int64[1] flat = {-1}> {
        N = Shape(scores)
        alive0 = ConstantOfShape<value = bool[1] {1}>(N)
        x1, y1, x2, y2 = Split<axis = 1>(boxes, ones)
        w0 = Sub(x2, x1)
        h0 = Sub(y2, y1)
        area0 = Mul(w0, h0)
        area = Reshape(area0, flat)
        n = Squeeze(N)
        nothing = Constant<value_int = 0>()
        start = Greater(n, nothing)
        alive, kept = Loop <body = g (int64 i, bool c, bool[N] a) => (bool c1, bool[N] a2, int64 k) {
            s = Where(a, scores, low)
            k = ArgMax<axis = 0, keepdims = 0>(s)
            b = Gather(boxes, k)
            lo = Max(boxes, b)
            hi = Min(boxes, b)
            l1, l2, l3, l4 = Split<axis = 1>(lo, ones)
            r1, r2, r3, r4 = Split<axis = 1>(hi, ones)
            w1 = Sub(r3, l1)
            w = Max(w1, zero)
            h1 = Sub(r4, l2)
            h = Max(h1, zero)
            in0 = Mul(w, h)
            inter = Reshape(in0, flat)
            ak = Gather(area, k)
            sum = Add(area, ak)
            union = Sub(sum, inter)
            iou = Div(inter, union)
            over = Greater(iou, limit)
            ok = Not(over)
            a1 = And(a, ok)
            at = Reshape(k, flat)
            fal = Reshape(false, flat)
            a2 = ScatterElements<axis = 0>(a1, at, fal)
            num = Cast<to = 6>(a2)
            any = ReduceMax<keepdims = 0>(num)
            c1 = Cast<to = 9>(any)
        }> ("", start, alive0)
    }"""), [one(n) for n in (0, 1, 2, 9, 20)]


@loop_model("loop_collect", "loop_carried")
def sampling_by_cumulated_sums():
    """Inverse of the distribution function: numbers that are given choose tokens; counts go down."""
    return graph("""(float[T] u, float[V,V] table, int64 start) => (int64[?] tokens, int64[V] counts)
            <int64[1] flat = {-1}, int64 last = {-1}, int64[1] one = {1}> {
        M = Size(u)
        V = Shape<start = 0, end = 1>(table)
        n0 = ConstantOfShape<value = int64[1] {0}>(V)
        t, counts, tokens = Loop <body = g (int64 i, bool c, int64 t, int64[V] n) => (bool c, int64 t1, int64[V] n1, int64 o) {
            z = Gather(table, t)
            nf = Cast<to = 1>(n)
            z1 = Sub(z, nf)
            p = Softmax<axis = 0>(z1)
            ax = Constant<value_int = 0>()
            q = CumSum(p, ax)
            r = Gather(u, i)
            below = Less(q, r)
            b = Cast<to = 7>(below)
            k = ReduceSum<keepdims = 0>(b)
            v1 = Constant<value_ints = [1]>()
            w = Sub(V, v1)
            w0 = Squeeze(w)
            t1 = Min(k, w0)
            at = Reshape(t1, flat)
            n1 = ScatterElements<axis = 0, reduction = "add">(n, at, one)
            o = Identity(t)
        }> (M, "", start, n0)
    }"""), [
        run(
            f"t{t}",
            {
                "u": np.random.default_rng(t).uniform(0, 1, t).astype(np.float32),
                "table": noise(5, 5),
                "start": i64(2),
            },
        )
        for t in (0, 1, 30)
    ]


@loop_model("loop_carried", "seq_value")
def beams_of_sequences():
    """Each beam's tokens are an element of a sequence; pruned and copied by position."""
    return graph("""(int64 M, int64[B] parents, int64[B] toks) => (seq(int64[?]) beams, int64 total)
            <int64[1] flat = {-1}, int64 one = {1}, int64 zero = {0}> {
        B = Size(parents)
        e = SequenceEmpty<dtype = 7>()
        first = Loop <body = f (int64 i, bool c, seq(int64[?]) s) => (bool c, seq(int64[?]) s1) {
            x = Reshape(i, flat)
            s1 = SequenceInsert(s, x)
        }> (B, "", e)
        beams = Loop <body = step (int64 i, bool c, seq(int64[?]) s) => (bool c, seq(int64[?]) r) {
            e2 = SequenceEmpty<dtype = 7>()
            r = Loop <body = each (int64 j, bool d, seq(int64[?]) q) => (bool d, seq(int64[?]) q1) {
                p = Gather(parents, j)
                t = Gather(toks, j)
                old = SequenceAt(s, p)
                t0 = Add(t, i)
                t1 = Reshape(t0, flat)
                new = Concat<axis = 0>(old, t1)
                q1 = SequenceInsert(q, new)
            }> (B, "", e2)
        }> (M, "", first)
        total = Loop <body = count (int64 i, bool c, int64 n) => (bool c, int64 n1) {
            x = SequenceAt(beams, i)
            k = Size(x)
            n1 = Add(n, k)
        }> (B, "", zero)
    }"""), [
        run(f"m{m}", {"M": i64(m), "parents": i64([0, 0, -1]), "toks": i64([5, 6, 7])})
        for m in (0, 1, 4)
    ]


@loop_model("loop_carried", rtol=1e-4)
def attention_decoder():
    """Bahdanau: at each step a GRU cell written out and additive attention over a masked memory."""
    return graph("""(int64 M, float[B,S,H] mem, int64[B] lens, float[B,H] h0, float[H,G] Wi, float[H,G] Wh, float[H,H] Wq, float[H] v)
            => (float[B,H] h, float[?,B,S] att) <int64[1] ax1 = {1}, int64[1] ax2 = {2}, float low = {-10000.0}, float one = {1.0}> {
        S = Shape<start = 1, end = 2>(mem)
        S0 = Squeeze(S)
        a = Constant<value_int = 0>()
        b = Constant<value_int = 1>()
        pos = Range(a, S0, b)
        l1 = Unsqueeze(lens, ax1)
        ok = Less(pos, l1)
        keys = MatMul(mem, Wq)
        h, att = Loop <body = g (int64 i, bool c, float[B,H] s) => (bool c, float[B,H] s1, float[B,S] w) {
            q = MatMul(s, Wq)
            q1 = Unsqueeze(q, ax1)
            k = Add(keys, q1)
            t = Tanh(k)
            e = MatMul(t, v)
            e1 = Where(ok, e, low)
            w = Softmax<axis = -1>(e1)
            w1 = Unsqueeze(w, ax1)
            ctx = MatMul(w1, mem)
            x = Squeeze(ctx, ax1)
            gi = MatMul(x, Wi)
            gh = MatMul(s, Wh)
            ri, zi, ni = Split<axis = 1, num_outputs = 3>(gi)
            rh, zh, nh = Split<axis = 1, num_outputs = 3>(gh)
            ra = Add(ri, rh)
            r = Sigmoid(ra)
            za = Add(zi, zh)
            z = Sigmoid(za)
            nb = Mul(r, nh)
            na = Add(ni, nb)
            n = Tanh(na)
            z1 = Sub(one, z)
            u = Mul(z1, n)
            o = Mul(z, s)
            s1 = Add(u, o)
        }> (M, "", h0)
    }"""), [
        run(
            f"m{m}b{b}s{s}",
            {
                "M": i64(m),
                "mem": noise(b, s, 8),
                "lens": i64([s] + [max(1, s - 2)] * (b - 1)),
                "h0": noise(b, 8, seed=2),
                "Wi": noise(8, 24, seed=3),
                "Wh": noise(8, 24, seed=4),
                "Wq": noise(8, 8, seed=5),
                "v": noise(8, seed=6),
            },
        )
        for m, b, s in ((0, 1, 3), (1, 1, 1), (5, 2, 7), (3, 3, 16))
    ]
