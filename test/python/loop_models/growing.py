# ===- growing.py - Values that grow by concatenation -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Carried values that grow along one axis, in every way that a buffer with room must survive."""

from __future__ import annotations

import numpy as np

from loop_models.registry import f32, graph, i64, loop_model, noise, ramp, run


def _counts(counts: tuple[int, ...], **feeds: np.ndarray) -> list:
    return [run(f"m{m}", {"M": i64(m), **feeds}) for m in counts]


@loop_model("loop_carried")
def grows_inside():
    """Along an inner axis, the trips known on entry."""
    return graph("""(int64 M, float[2,T,3] k, float[2,1,3] x) => (float[2,?,3] y) {
        y, last = Loop <body = g (int64 i, bool c, float[2,?,3] v, float[2,1,3] e) => (bool c, float[2,?,3] v1, float[2,1,3] e1) {
            e1 = Add(e, e)
            v1 = Concat<axis = 1>(v, e)
        }> (M, "", k, x)
    }"""), [
        *_counts((0, 1, 2, 11), k=ramp(2, 3, 3), x=ramp(2, 1, 3)),
        run("from_nothing", {"M": i64(3), "k": ramp(2, 0, 3), "x": ramp(2, 1, 3)}),
    ]


@loop_model("loop_carried")
def grows_while():
    """Along an inner axis until a condition falls: nobody knows the final size."""
    return graph("""(float limit, float[2,T,3] k, float[2,1,3] x) => (float[2,?,3] y, float total) {
        true = Constant<value = bool {1}>()
        y, last, total = Loop <body = g (int64 i, bool c, float[2,?,3] v, float[2,1,3] e, float s)
                => (bool c1, float[2,?,3] v1, float[2,1,3] e1, float s1) {
            e1 = Add(e, e)
            v1 = Concat<axis = 1>(v, e)
            s1 = ReduceSum<keepdims = 0>(v1)
            c1 = Less(s1, limit)
        }> ("", true, k, x, limit)
    }"""), [
        run(f"limit{limit}", {"limit": f32(limit), "k": ramp(2, t, 3), "x": ramp(2, 1, 3, start=1)})
        for limit in (0, 100, 1e5)
        for t in (0, 1, 5)
    ]


@loop_model("loop_carried")
def grows_in_front_while():
    """Before what is there, until a condition falls."""
    return graph("""(int64 M, float limit, float[2,T] k, float[2,2] x) => (float[2,?] y) {
        true = Constant<value = bool {1}>()
        y, last = Loop <body = g (int64 i, bool c, float[2,?] v, float[2,2] e) => (bool c1, float[2,?] v1, float[2,2] e1) {
            e1 = Add(e, e)
            s = ReduceSum<keepdims = 0>(e1)
            c1 = Less(s, limit)
            v1 = Concat<axis = 1>(e, v)
        }> (M, true, k, x)
    }"""), [
        run(f"m{m}_t{t}", {"M": i64(m), "limit": f32(1e30), "k": ramp(2, t), "x": ramp(2, 2)})
        for m in (0, 1, 9)
        for t in (0, 3)
    ]


@loop_model("loop_carried")
def grows_on_both_sides():
    """Two concatenations an iteration, one on each side; both values are read, and so is the old one."""
    return graph("""(int64 M, float limit, float[T,2] k, float[1,2] x) => (float[?,2] y, float[2] a, float[2] b, float[2] d) {
        axis = Constant<value = int64[1] {0}>()
        zero = Constant<value = float[2] {0.0, 0.0}>()
        true = Constant<value = bool {1}>()
        y, last, a, b, d = Loop <body = g (int64 i, bool c, float[?,2] v, float[1,2] e, float[2] p, float[2] q, float[2] r)
                => (bool c1, float[?,2] v2, float[1,2] e1, float[2] p1, float[2] q1, float[2] r1) {
            e1 = Add(e, e)
            s = ReduceSum<keepdims = 0>(e1)
            c1 = Less(s, limit)
            v1 = Concat<axis = 0>(v, e)
            p0 = ReduceSum<keepdims = 0>(v1, axis)
            p1 = Add(p, p0)
            v2 = Concat<axis = 0>(e1, e, v1)
            q0 = ReduceSum<keepdims = 0>(v2, axis)
            q1 = Sub(q0, q)
            r0 = ReduceSum<keepdims = 0>(v, axis)
            r1 = Sub(r0, r)
        }> (M, true, k, x, zero, zero, zero)
    }"""), [
        run(f"m{m}_t{t}", {"M": i64(m), "limit": f32(1e30), "k": ramp(t, 2), "x": ramp(1, 2, start=1)})
        for m in (0, 1, 2, 7)
        for t in (0, 3)
    ]  # fmt: skip


@loop_model("loop_carried")
def grows_on_both_sides_counted():
    """The same with trips that are known: the buffer has its final size at once."""
    return graph("""(int64 M, float[T,2] k, float[1,2] x) => (float[?,2] y) {
        y, last = Loop <body = g (int64 i, bool c, float[?,2] v, float[1,2] e) => (bool c, float[?,2] v1, float[1,2] e1) {
            e1 = Add(e, e)
            v1 = Concat<axis = 0>(e1, v, e, e)
        }> (M, "", k, x)
    }"""), _counts((0, 1, 6), k=ramp(2, 2), x=ramp(1, 2, start=1))


@loop_model("loop_carried", "loop_parallel_assign")
def grows_and_old_state_kept():
    """The old value is carried on beside the new one."""
    return graph("""(int64 M, float[T] k, float[1] x) => (float[?] y, float[?] before) {
        y, before, last = Loop <body = g (int64 i, bool c, float[?] v, float[?] w, float[1] e) => (bool c, float[?] v1, float[?] v, float[1] e1) {
            e1 = Add(e, e)
            v1 = Concat<axis = 0>(v, e)
        }> (M, "", k, k, x)
    }"""), _counts((0, 1, 2, 5), k=ramp(2), x=f32([1]))


@loop_model("loop_carried")
def grows_by_what_it_holds():
    """What is added is computed from the whole value, or is a part of it."""
    return graph("""(int64 M, float limit, float[T] k) => (float[?] y, float[?] z) {
        axis = Constant<value = int64[1] {0}>()
        first = Constant<value = int64[1] {0}>()
        second = Constant<value = int64[1] {1}>()
        true = Constant<value = bool {1}>()
        y, z = Loop <body = g (int64 i, bool c, float[?] v, float[?] w) => (bool c1, float[?] v1, float[?] w1) {
            sum = ReduceSum<keepdims = 1>(v, axis)
            s = ReduceSum<keepdims = 0>(sum)
            c1 = Less(s, limit)
            v1 = Concat<axis = 0>(v, sum)
            part = Slice(w, first, second)
            w1 = Concat<axis = 0>(w, part)
        }> (M, true, k, k)
    }"""), [
        run(f"m{m}", {"M": i64(m), "limit": f32(1e30), "k": ramp(3, start=1)}) for m in (0, 1, 8)
    ]


@loop_model("loop_carried")
def grows_by_more_each_time():
    """Iteration i adds i rows."""
    return graph("""(int64 M, float[T,2] k, float[9,2] x) => (float[?,2] y) {
        zero = Constant<value = int64[1] {0}>()
        y = Loop <body = g (int64 i, bool c, float[?,2] v) => (bool c, float[?,2] v1) {
            end = Unsqueeze(i, zero)
            rows = Slice(x, zero, end)
            v1 = Concat<axis = 0>(v, rows)
        }> (M, "", k)
    }"""), _counts((0, 1, 2, 9), k=ramp(2, 2), x=ramp(9, 2))


@loop_model("loop_carried")
def grows_nested():
    """An inner loop appends to what the outer one carries, which appends too."""
    return graph("""(int64 M, int64 N, float[T,2] k, float[1,2] x) => (float[?,2] y) {
        y = Loop <body = outer (int64 i, bool c, float[?,2] v) => (bool c, float[?,2] v2) {
            v1 = Loop <body = inner (int64 j, bool d, float[?,2] w) => (bool d, float[?,2] w1) {
                w1 = Concat<axis = 0>(w, x)
            }> (N, "", v)
            v2 = Concat<axis = 0>(x, v1)
        }> (M, "", k)
    }"""), [
        run(f"m{m}_n{n}", {"M": i64(m), "N": i64(n), "k": ramp(1, 2), "x": ramp(1, 2, start=7)})
        for m in (0, 1, 4)
        for n in (0, 1, 3)
    ]


@loop_model("loop_carried")
def grows_nested_and_is_read():
    """Three loops in one another append while what there was before each of them is read."""
    return graph("""(int64 M, int64 N, float[T] k, float[1] x) => (float[?] y, float s) {
        zero = Constant<value = int64[1] {0}>()
        none = Constant<value = float {0.0}>()
        true = Constant<value = bool {1}>()
        y, s = Loop <body = outer (int64 i, bool c, float[?] u, float s0) => (bool c, float[?] u2, float s4) {
            u1, s3 = Loop <body = middle (int64 j, bool d, float[?] v, float s1) => (bool d, float[?] v2, float s3) {
                e = Neg(x)
                v0 = Concat<axis = 0>(v, e)
                v1, s2 = Loop <body = inner (int64 l, bool f, float[?] w, float t) => (bool f1, float[?] w1, float t3) {
                    w1 = Concat<axis = 0>(w, x, x)
                    a = ReduceSum<keepdims = 0>(u)
                    b = ReduceSum<keepdims = 0>(v)
                    g = ReduceSum<keepdims = 0>(w)
                    t1 = Add(t, a)
                    t2 = Sub(b, t1)
                    t3 = Add(t2, g)
                    f1 = Less(l, j)
                }> (N, true, v0, s1)
                h = ReduceSum<keepdims = 0>(v)
                s3 = Sub(h, s2)
                v2 = Identity(v1)
            }> (N, "", u, s0)
            p = ReduceSum<keepdims = 0>(u)
            s4 = Sub(s3, p)
            m = Neg(x)
            u2 = Concat<axis = 0>(u1, m, x)
        }> (M, "", k, none)
    }"""), [
        run(f"m{m}_n{n}", {"M": i64(m), "N": i64(n), "k": ramp(2), "x": f32([3])})
        for m in (0, 1, 3)
        for n in (0, 1, 3)
    ]  # fmt: skip


@loop_model("loop_carried")
def grows_nested_on_both_sides():
    """In front in the outer loop, behind in the inner one, and the values in between are read."""
    return graph("""(int64 M, int64 N, float[2,T] k, float[2,1] x) => (float[2,?] y, float s) {
        none = Constant<value = float {0.0}>()
        y, s = Loop <body = outer (int64 i, bool c, float[2,?] u, float s0) => (bool c, float[2,?] u3, float s3) {
            u1 = Concat<axis = 1>(x, u)
            u2, s1 = Loop <body = inner (int64 j, bool d, float[2,?] v, float t) => (bool d, float[2,?] v1, float t1) {
                v1 = Concat<axis = 1>(v, x, x)
                a = ReduceSum<keepdims = 0>(u)
                t1 = Sub(a, t)
            }> (N, "", u1, s0)
            b = ReduceSum<keepdims = 0>(u)
            s2 = Add(s1, b)
            g = ReduceSum<keepdims = 0>(u1)
            s3 = Sub(g, s2)
            u3 = Concat<axis = 1>(x, u2)
        }> (M, "", k, none)
    }"""), [
        run(f"m{m}_n{n}", {"M": i64(m), "N": i64(n), "k": ramp(2, 2), "x": ramp(2, 1, start=7)})
        for m in (0, 1, 4)
        for n in (0, 1, 3)
    ]  # fmt: skip


@loop_model("loop_carried", "loop_parallel_assign")
def grows_nested_beside_itself():
    """Two values of the inner loop go on with one of the outer loop."""
    return graph("""(int64 M, int64 N, float[T] k, float[1] x) => (float[?] y, float[?] z) {
        y, z = Loop <body = outer (int64 i, bool c, float[?] u, float[?] old) => (bool c, float[?] u1, float[?] u2) {
            u1, u2 = Loop <body = inner (int64 j, bool d, float[?] v, float[?] w) => (bool d, float[?] v1, float[?] w1) {
                e = Neg(x)
                v1 = Concat<axis = 0>(v, x)
                w1 = Concat<axis = 0>(w, e)
            }> (N, "", u, u)
        }> (M, "", k, k)
    }"""), [
        run(f"m{m}_n{n}", {"M": i64(m), "N": i64(n), "k": ramp(2), "x": f32([3])})
        for m in (0, 1, 4)
        for n in (0, 1, 3)
    ]  # fmt: skip


@loop_model("loop_carried", "if_lazy")
def grows_nested_sometimes():
    """A transducer's greedy decoding: symbols of a frame until it is blank, no more than N."""
    return graph("""(int64 N, float[T,4] frames, float[4,4] after) => (int64[?] y, int64 last) {
        true = Constant<value = bool {1}>()
        none = Constant<value = int64[0] {}>()
        zero = Constant<value = int64 {0}>()
        axis = Constant<value = int64[1] {0}>()
        first = Constant<value = int64[1] {1}>()
        shape = Shape<start = 0, end = 1>(frames)
        trips = Squeeze(shape)
        y, last = Loop <body = outer (int64 i, bool c, int64[?] u, int64 before) => (bool c, int64[?] u1, int64 before1) {
            frame = Gather(frames, i)
            u1, before1 = Loop <body = inner (int64 j, bool d, int64[?] v, int64 symbol) => (bool d1, int64[?] v1, int64 symbol1) {
                row = Gather(after, symbol)
                scores = Add(frame, row)
                best = ArgMax<axis = 0, keepdims = 0>(scores)
                d1 = Greater(best, zero)
                v1, symbol1 = If <
                    then_branch = t () => (int64[?] v2, int64 symbol2) { part = Unsqueeze(best, axis) v2 = Concat<axis = 0>(v, part) symbol2 = Identity(best) },
                    else_branch = e () => (int64[?] v3, int64 symbol3) { v3 = Identity(v) symbol3 = Identity(symbol) }> (d1)
            }> (N, true, u, before)
        }> (trips, "", none, zero)
    }"""), [
        run(f"n{n}_t{t}", {"N": i64(n), "frames": noise(t, 4), "after": noise(4, 4)})
        for n in (0, 1, 3)
        for t in (0, 1, 9)
    ]  # fmt: skip


@loop_model("loop_carried", "loop_parallel_assign")
def grows_and_shrinks():
    """A queue, a stack and a window; what they have lost is read behind what they gain."""
    return graph("""(int64 M, float[T,2] k, float[1,2] x) => (float[?,2] q, float[?,2] s, float[?,2] w, float[M,2] a, float[M,2] b, float[M] d) {
        axis = Constant<value = int64[1] {0}>()
        one = Constant<value = int64[1] {1}>()
        last = Constant<value = int64[1] {-1}>()
        width = Constant<value = int64[1] {-3}>()
        far = Constant<value = int64[1] {9223372036854775807}>()
        first = Constant<value = int64 {0}>()
        end = Constant<value = int64 {-1}>()
        q, s, w, e, a, b, d = Loop <body = g (int64 i, bool c, float[?,2] q0, float[?,2] s0, float[?,2] w0, float[1,2] e0)
                => (bool c, float[?,2] q2, float[?,2] s3, float[?,2] w2, float[1,2] e1, float[2] a1, float[2] b1, float d1) {
            e1 = Add(e0, e0)
            q1 = Slice(q0, one, far, axis)
            q2 = Concat<axis = 0>(q1, e0, e1)
            front = Gather(q0, first)
            a1 = Neg(front)
            s1 = Slice(s0, axis, last, axis)
            s2 = Concat<axis = 0>(s1, e0)
            s3 = Concat<axis = 0>(s2, e1)
            top = Gather(s0, end)
            b1 = Exp(top)
            w1 = Concat<axis = 0>(w0, e0)
            w2 = Slice(w1, width, far, axis)
            d0 = ReduceSum<keepdims = 0>(w0)
            d2 = ReduceSum<keepdims = 0>(s0)
            d3 = ReduceSum<keepdims = 0>(q0)
            d4 = Sub(d0, d2)
            d1 = Sub(d4, d3)
        }> (M, "", k, k, k, x)
    }"""), _counts((0, 1, 2, 7, 20), k=ramp(5, 2), x=f32([[-0.5, -0.25]]) / 2**20)  # fmt: skip


@loop_model("loop_carried")
def rotates():
    """The first row goes behind the last one, many times in an iteration."""
    steps = "".join(
        f"""
            rest{k} = Slice(v{k}, one, far, axis)
            head{k} = Slice(v{k}, axis, one, axis)
            v{k + 1} = Concat<axis = 0>(rest{k}, head{k})"""
        for k in range(30)
    )
    return graph(f"""(int64 M, float[T] x) => (float[?] y, float[M] s) {{
        axis = Constant<value = int64[1] {{0}}>()
        one = Constant<value = int64[1] {{1}}>()
        far = Constant<value = int64[1] {{100000}}>()
        y, s = Loop <body = g (int64 i, bool c, float[?] v0) => (bool c, float[?] v30, float s1) {{{steps}
            h = Mul(v7, v20)
            s1 = ReduceSum<keepdims = 0>(h)
        }}> (M, "", x)
    }}"""), _counts((0, 1, 3), x=ramp(7))


@loop_model("loop_carried")
def repeats_a_part():
    """What is left of the value stands twice in the next one."""
    return graph("""(int64 M, float[T] x, float[1] e) => (float[?] y, float[?] z, float[M] s) {
        axis = Constant<value = int64[1] {0}>()
        width = Constant<value = int64[1] {-3}>()
        far = Constant<value = int64[1] {2147483647}>()
        y, z, s = Loop <body = g (int64 i, bool c, float[?] v, float[?] w) => (bool c, float[?] v3, float[?] w2, float s1) {
            v1 = Slice(v, width, far, axis)
            v2 = Concat<axis = 0>(v1, v1)
            v3 = Concat<axis = 0>(e, v2)
            w1 = Slice(w, width, far, axis)
            w2 = Concat<axis = 0>(w1, e, w1)
            s1 = ReduceSum<keepdims = 0>(v1)
        }> (M, "", x, x)
    }"""), _counts((0, 1, 2, 5), x=ramp(7), e=f32([4]))


@loop_model("loop_carried")
def shrinks():
    """Less is left in each iteration, of either side, until nothing is."""
    return graph("""(int64 M, float[2,T] k) => (float[2,?] y, float[2,?] z, float[M] s) {
        axis = Constant<value = int64[1] {1}>()
        begin = Constant<value = int64[1] {0}>()
        last = Constant<value = int64[1] {-1}>()
        far = Constant<value = int64[1] {100}>()
        y, z, s = Loop <body = g (int64 i, bool c, float[2,?] v, float[2,?] w) => (bool c, float[2,?] v1, float[2,?] w2, float s1) {
            v1 = Slice(v, axis, far, axis)
            w1 = Slice(w, axis, far, axis)
            w2 = Slice(w1, begin, last, axis)
            a = ReduceSum<keepdims = 0>(v)
            b = ReduceSum<keepdims = 0>(w2)
            s1 = Sub(a, b)
        }> (M, "", k, k)
    }"""), _counts((0, 1, 3, 9), k=ramp(2, 7))


@loop_model("loop_carried")
def shrinks_nested():
    """An inner loop takes from a queue until a sum is large, the outer one adds to it."""
    return graph("""(int64 M, float limit, float[T] k, float[2] x) => (float[?] y, float[M] s, float[M] f) {
        true = Constant<value = bool {1}>()
        none = Constant<value = float {0.0}>()
        axis = Constant<value = int64[1] {0}>()
        one = Constant<value = int64[1] {1}>()
        far = Constant<value = int64[1] {100000}>()
        y, s, f = Loop <body = outer (int64 i, bool c, float[?] u) => (bool c, float[?] u2, float t, float r) {
            u1, t = Loop <body = inner (int64 j, bool d, float[?] v, float p) => (bool d1, float[?] v1, float p1) {
                head = Slice(v, axis, one, axis)
                h = ReduceSum<keepdims = 0>(head)
                v1 = Slice(v, one, far, axis)
                m = ReduceSum<keepdims = 0>(u)
                p0 = Add(p, h)
                p1 = Add(p0, m)
                d1 = Less(p1, limit)
            }> (M, true, u, none)
            e = Neg(x)
            u2 = Concat<axis = 0>(u1, x, e)
            r = ReduceSum<keepdims = 0>(u)
        }> (M, "", k)
    }"""), [
        run(f"m{m}_limit{limit}", {"M": i64(m), "limit": f32(limit), "k": ramp(9, start=1), "x": f32([5, 3])})
        for m in (0, 1, 2, 8)
        for limit in (0, 200)
    ]  # fmt: skip


@loop_model("loop_carried", "if_lazy")
def grows_sometimes():
    """Every third iteration appends."""
    return graph("""(int64 M, float[2,T] k, float[2,1] x) => (float[2,?] y) {
        three = Constant<value = int64 {3}>()
        zero = Constant<value = int64 {0}>()
        y = Loop <body = g (int64 i, bool c, float[2,?] v) => (bool c, float[2,?] v1) {
            r = Mod(i, three)
            yes = Equal(r, zero)
            v1 = If <then_branch = t () => (float[2,?] a) { a = Concat<axis = 1>(v, x) },
                     else_branch = e () => (float[2,?] b) { b = Identity(v) }> (yes)
        }> (M, "", k)
    }"""), _counts((0, 1, 3, 20), k=ramp(2, 2), x=ramp(2, 1, start=9))


@loop_model("loop_carried")
def grows_and_is_attended():
    """A decoder's cache of 40 steps: keys and values along axis 2, read whole each time."""
    return graph("""(int64 M, float limit, float[1,2,T,8] k, float[1,2,T,8] v, float[1,2,1,8] q) => (float[1,2,?,8] ks, float[1,2,?,8] vs, float[1,2,1,8] y) {
        true = Constant<value = bool {1}>()
        ks, vs, y = Loop <body = g (int64 i, bool c, float[1,2,?,8] pk, float[1,2,?,8] pv, float[1,2,1,8] x)
                => (bool c1, float[1,2,?,8] nk, float[1,2,?,8] nv, float[1,2,1,8] o) {
            kt = Sin(x)
            vt = Cos(x)
            nk = Concat<axis = 2>(pk, kt)
            nv = Concat<axis = 2>(pv, vt)
            nkt = Transpose<perm = [0, 1, 3, 2]>(nk)
            s = MatMul(x, nkt)
            p = Softmax<axis = -1>(s)
            o = MatMul(p, nv)
            most = ReduceMax<keepdims = 0>(o)
            c1 = Less(most, limit)
        }> (M, true, k, v, q)
    }"""), [
        run(
            f"m{m}",
            {
                "M": i64(m),
                "limit": f32(1e30),
                "k": noise(1, 2, 3, 8),
                "v": noise(1, 2, 3, 8, seed=1),
                "q": noise(1, 2, 1, 8, seed=2),
            },
        )
        for m in (0, 1, 40)
    ]
