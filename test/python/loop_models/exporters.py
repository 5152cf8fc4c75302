# ===- exporters.py - Loops as converters write them -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The forms in which torch, tf2onnx, jax and other converters write loops."""

from __future__ import annotations

import numpy as np
import onnx

from loop_models.registry import (
    OrtDiffers,
    b8,
    f32,
    function,
    graph,
    i32,
    i64,
    loop_model,
    noise,
    ramp,
    run,
)

INT64_MAX = 2**63 - 1


@loop_model("seq_append", "loop_carried")
def torch_list_append():
    """ys = []; for row in x.split(1): ys.append(row * 2 + i); torch.cat(ys)."""
    return graph("""(float[T,3] x) => (float[?,3] y, int64 n) {
        rows = SplitToSequence<axis = 0, keepdims = 1>(x)
        M = SequenceLength(rows)
        true = Constant<value = bool {1}>()
        empty = SequenceEmpty<dtype = 1>()
        ys = Loop <body = g (int64 i, bool c, seq(float[?,?]) s) => (bool c, seq(float[?,?]) s1) {
            row = SequenceAt(rows, i)
            two = Constant<value = float {2.0}>()
            d = Mul(row, two)
            f = Cast<to = 1>(i)
            e = Add(d, f)
            s1 = SequenceInsert(s, e)
        }> (M, true, empty)
        y = ConcatFromSequence<axis = 0>(ys)
        n = SequenceLength(ys)
    }"""), [
        run(f"t{t}", {"x": ramp(t, 3)}, [ramp(t, 3) * 2 + ramp(t, 1), i64(t)]) for t in (1, 2, 7)
    ]


@loop_model("seq_append", "seq_index")
def torch_stack_of_list():
    """A list filled in a loop, torch.stack of it, and the list's last element."""
    return graph("""(int64 M, float[2] x) => (float[2,?] y, float[2] last) {
        true = Constant<value = bool {1}>()
        minus = Constant<value = int64 {-1}>()
        empty = SequenceEmpty<dtype = 1>()
        ys = Loop <body = g (int64 i, bool c, seq(float[2]) s) => (bool c, seq(float[2]) s1) {
            f = Cast<to = 1>(i)
            e = Add(x, f)
            s1 = SequenceInsert(s, e)
        }> (M, true, empty)
        y = ConcatFromSequence<axis = 1, new_axis = 1>(ys)
        last = SequenceAt(ys, minus)
    }"""), [
        run("three", {"M": i64(3), "x": f32([1, 2])}, [f32([[1, 2, 3], [2, 3, 4]]), f32([3, 4])]),
        run("one", {"M": i64(1), "x": f32([1, 2])}, [f32([[1], [2]]), f32([1, 2])]),
    ]


@loop_model("loop_test", "loop_m")
def torch_while():
    """while i < n and s < limit: M is the largest int64, the condition a Less on a carried counter."""
    return graph("""(int64 n, float limit) => (int64 i, float s) {
        M = Constant<value = int64 {9223372036854775807}>()
        zero = Constant<value = int64 {0}>()
        start = Constant<value = float {0.0}>()
        c0 = Less(zero, n)
        i, s = Loop <body = g (int64 t, bool c, int64 j, float u) => (bool more, int64 k, float v) {
            one = Constant<value = int64 {1}>()
            k = Add(j, one)
            f = Cast<to = 1>(k)
            v = Add(u, f)
            a = Less(k, n)
            b = Less(v, limit)
            more = And(a, b)
        }> (M, c0, zero, start)
    }"""), [
        run("counted", {"n": i64(4), "limit": f32(1e9)}, [i64(4), f32(10)]),
        run("limited", {"n": i64(100), "limit": f32(5)}, [i64(3), f32(6)]),
        run("none", {"n": i64(0), "limit": f32(5)}, [i64(0), f32(0)]),
    ]


@loop_model("loop_collect", "loop_test")
def torch_while_collects():
    """The same with collected values: M = INT64_MAX must not be believed."""
    return graph("""(int64 n) => (int64 i, float[?,2] ys) {
        M = Constant<value = int64 {9223372036854775807}>()
        zero = Constant<value = int64 {0}>()
        c0 = Less(zero, n)
        i, ys = Loop <body = g (int64 t, bool c, int64 j) => (bool more, int64 k, float[2] y) {
            one = Constant<value = int64 {1}>()
            k = Add(j, one)
            more = Less(k, n)
            f = Cast<to = 1>(j)
            two = Constant<value = float[2] {1.0, 10.0}>()
            y = Mul(two, f)
        }> (M, c0, zero)
    }"""), [
        run("zero", {"n": i64(0)}, [i64(0), np.zeros((0, 2), np.float32)]),
        run("three", {"n": i64(3)}, [i64(3), f32([[0, 0], [1, 10], [2, 20]])]),
    ]


@loop_model("loop_collect", "loop_slice")
def tf_tensor_list():
    """tf2onnx: a TensorList read by Gather with the carried time, written as a scan output."""
    return graph("""(float[T,B,4] x, float[4,4] w, float[B,4] h0) => (float[B,4] h, float[B,?,4] ys) {
        M = Shape<start = 0, end = 1>(x)
        n = Squeeze(M)
        n32 = Cast<to = 6>(n)
        zero = Constant<value = int32 {0}>()
        c0 = Less(zero, n32)
        t, h, out = Loop <body = g (int64 i, bool c, int32 time, float[B,4] s)
            => (bool more, int32 next, float[B,4] s1, float[B,4] o) {
            row = Gather<axis = 0>(x, time)
            m = MatMul(s, w)
            a = Add(row, m)
            s1 = Tanh(a)
            o = Identity(s1)
            one = Constant<value = int32 {1}>()
            next = Add(time, one)
            more = Less(next, n32)
        }> ("", c0, zero, h0)
        ys = Transpose<perm = [1, 0, 2]>(out)
    }"""), [
        run(f"t{t}b{b}", {"x": noise(t, b, 4), "w": noise(4, 4, seed=1), "h0": noise(b, 4, seed=2)})
        for t, b in ((0, 2), (1, 1), (5, 3))
    ]


@loop_model("loop_collect", "loop_test")
def tf_map_fn():
    """tf2onnx's map_fn: a loop counter and an element counter are both carried, both compared."""
    return graph("""(float[N,3] x) => (float[?,3] y) {
        shape = Shape(x)
        first = Constant<value = int64 {0}>()
        n64 = Gather(shape, first)
        n = Cast<to = 6>(n64)
        zero = Constant<value = int32 {0}>()
        trips = Constant<value = int64 {2147483647}>()
        c0 = Less(zero, n)
        a, b, y = Loop <body = g (int64 i, bool c, int32 k, int32 e)
            => (bool more, int32 k1, int32 e1, float[3] o) {
            one = Constant<value = int32 {1}>()
            row = Gather<axis = 0>(x, e)
            sq = Mul(row, row)
            s = ReduceSum<keepdims = 1>(sq)
            o = Div(row, s)
            k1 = Add(k, one)
            e1 = Add(e, one)
            p = Less(k1, n)
            q = Less(e1, n)
            more = And(p, q)
        }> (trips, c0, zero, zero)
    }"""), [run(f"n{n}", {"x": noise(n, 3)}) for n in (0, 1, 6)]


@loop_model("if_types", "if_lazy")
def torch_squeeze():
    """torch's squeeze(1): If(shape[1] == 1) Squeeze else Identity, then more of the same."""
    return graph("""(float[A,B] x) => (float y) {
        one = Constant<value = int64 {1}>()
        axis = Constant<value = int64[1] {1}>()
        shape = Shape(x)
        dim = Gather(shape, one)
        is = Equal(dim, one)
        s = If <then_branch = t () => (r) { r = Squeeze(x, axis) },
                else_branch = e () => (k) { k = Identity(x) }> (is)
        u = Mul(s, s)
        y = ReduceSum<keepdims = 0>(u)
    }"""), [
        run("squeezed", {"x": ramp(3, 1)}, [f32(5)]),
        run("kept", {"x": ramp(2, 3)}, [f32(55)]),
    ]


@loop_model("if_lazy", "loop_capture")
def torch_use_cache():
    """If(use_cache): both branches of the decoder read the same weights."""
    return graph("""(bool use_cache, float[1,S,4] x, float[1,P,4] past) => (float[1,?,4] y, float[1,?,4] present)
    <float[4,4] w = {1.0,0.0,0.5,0.0, 0.0,1.0,0.0,0.5, 0.5,0.0,1.0,0.0, 0.0,0.5,0.0,1.0}> {
        y, present = If <
            then_branch = t () => (float[1,P1,4] yt, float[1,P1,4] pt) {
                k = MatMul(x, w)
                pt = Concat<axis = 1>(past, k)
                yt = MatMul(pt, w)
            },
            else_branch = e () => (float[1,S,4] ye, float[1,S,4] pe) {
                pe = MatMul(x, w)
                ye = MatMul(pe, w)
            }> (use_cache)
    }"""), [
        run("cached", {"use_cache": b8(True), "x": noise(1, 1, 4), "past": noise(1, 3, 4, seed=1)}),
        run("first", {"use_cache": b8(False), "x": noise(1, 5, 4), "past": noise(1, 0, 4)}),
    ]


@loop_model("loop_carried")
def body_is_one_function():
    """torch's dynamo exporter: the body is one call of a model-local function."""
    return graph(
        """(int64 M, float[3] x) => (float[3] y, float[?,3] ys) {
        true = Constant<value = bool {1}>()
        y, ys = Loop <body = g (int64 i, bool c, float[3] v) => (bool c1, float[3] v1, float[3] o) {
            c1, v1, o = local.step(i, c, v)
        }> (M, true, x)
    }""",
        functions=function("""step(i, c, v) => (c1, v1, o) {
            f = Cast<to = 1>(i)
            v1 = local.grow(v, f)
            o = Neg(v1)
            c1 = Identity(c)
        }""")
        + function("""grow(v, f) => (w) {
            one = Constant<value = float {1.0}>()
            g = Add(f, one)
            w = Mul(v, g)
        }"""),
    ), [
        run("four", {"M": i64(4), "x": f32([1, 2, 3])}),
        run("zero", {"M": i64(0), "x": f32([1, 2, 3])}),
    ]


def _without_types(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with no type on any input or output of any body."""

    def strip(graph: onnx.GraphProto, *, outermost: bool) -> None:
        if not outermost:
            for value in (*graph.input, *graph.output):
                value.ClearField("type")
            del graph.value_info[:]
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    strip(attribute.g, outermost=False)

    strip(model.graph, outermost=True)
    return model


@loop_model(
    "name_declared",
    ort=OrtDiffers("refuses", "onnxruntime wants a type on every body input"),
)
def untyped_bodies():
    """No body input or output says its type; a loop in a loop and a branch."""
    model = graph("""(int64 M, float[2] x) => (float[2] y, float[?,2] ys) {
        true = Constant<value = bool {1}>()
        y, ys = Loop <body = g (int64 i, bool c, float[2] v) => (bool c, float[2] v2, float[2] o) {
            v1 = Loop <body = h (int64 j, bool d, float[2] u) => (bool d, float[2] u1) {
                u1 = Add(u, x)
            }> (i, c, v)
            zero = Constant<value = int64 {0}>()
            odd = Greater(i, zero)
            v2 = If <then_branch = t () => (float[2] a) { a = Neg(v1) },
                     else_branch = e () => (float[2] b) { b = Abs(v1) }> (odd)
            o = Identity(v2)
        }> (M, true, x)
    }""")
    return _without_types(model), [run("three", {"M": i64(3), "x": f32([1, -2])})]


@loop_model("name_declared")
def bodies_that_lie():
    """Declared ranks and shapes of a body that are wrong: what flows says what is."""
    return graph("""(int64 M, float[2,3] x) => (y, ys) {
        true = Constant<value = bool {1}>()
        y, ys = Loop <body = g (int64 i, bool c, float v) => (bool c, float[7] v1, float[1,1,1] o) {
            v1 = Add(v, x)
            o = ReduceSum<keepdims = 0>(v1)
        }> (M, true, x)
    }"""), [
        run("two", {"M": i64(2), "x": ramp(2, 3)}, [ramp(2, 3) * 3, f32([30, 45])]),
    ]


def _nested(depth: int) -> str:
    """`depth` loops in one another, each of n trips, the innermost adding 1."""
    text = "w0 = Add(v0, one)"
    for level in range(depth):
        text = f"""w{level + 1} = Loop <body = g{level} (int64 i{level}, bool c{level}, int64 v{level})
            => (bool c{level}, int64 w{level}) {{ {text} }}> (n, "", v{level + 1})"""
    return text


@loop_model("loop_capture", "loop_carried")
def ten_loops_deep():
    """Ten loops in one another."""
    return graph(f"""(int64 n, int64 v10) => (int64 w10) {{
        one = Constant<value = int64 {{1}}>()
        {_nested(10)}
    }}"""), [
        run("two", {"n": i64(2), "v10": i64(5)}, [i64(5 + 2**10)]),
        run("three", {"n": i64(3), "v10": i64(0)}, [i64(3**10)]),
        run("zero", {"n": i64(0), "v10": i64(5)}, [i64(5)]),
    ]


@loop_model("loop_collect", "loop_parallel_assign")
def jax_scan():
    """jax's lax.scan: outputs preallocated and written by ScatterND at the iteration."""
    return graph("""(float[T,2] x) => (float[2] carry, float[T,2] ys) {
        n = Shape<start = 0, end = 1>(x)
        M = Squeeze(n)
        true = Constant<value = bool {1}>()
        zero = Constant<value = float[2] {0.0, 0.0}>()
        shape = Shape(x)
        buffer = ConstantOfShape<value = float[1] {0.0}>(shape)
        carry, ys = Loop <body = g (int64 i, bool c, float[2] s, float[T,2] out)
            => (bool c, float[2] s1, float[T,2] out1) {
            row = Gather<axis = 0>(x, i)
            s1 = Add(s, row)
            one = Constant<value = int64[1] {1}>()
            index = Reshape(i, one)
            at = Constant<value = int64[1] {0}>()
            indices = Unsqueeze(index, at)
            update = Unsqueeze(s1, at)
            out1 = ScatterND(out, indices, update)
        }> (M, true, zero, buffer)
    }"""), [
        run(f"t{t}", {"x": ramp(t, 2)}, [ramp(t, 2).sum(0), np.cumsum(ramp(t, 2), 0)])
        for t in (0, 1, 5)
    ]


@loop_model("loop_carried", "loop_test")
def jax_while_of_integers():
    """jax's lax.while_loop: the condition's graph is written twice, before and in the loop."""
    return graph("""(int32 a, int32 b) => (int32 gcd) {
        zero = Constant<value = int32 {0}>()
        same = Equal(b, zero)
        c0 = Not(same)
        gcd, rest = Loop <body = g (int64 i, bool c, int32 p, int32 q) => (bool c1, int32 q0, int32 r) {
            q0 = Identity(q)
            r = Mod(p, q)
            done = Equal(r, zero)
            c1 = Not(done)
        }> ("", c0, a, b)
    }"""), [
        run("12_18", {"a": i32(12), "b": i32(18)}, [i32(6)]),
        run("7_0", {"a": i32(7), "b": i32(0)}, [i32(7)]),
        run("fib", {"a": i32(832040), "b": i32(514229)}, [i32(1)]),
    ]


@loop_model("loop_carried", "loop_capture")
def growing_cache():
    """A decoder's cache: Concat of the past and the new along the time axis, read in the body."""
    return graph("""(int64 M, float[1,2,P,4] past, float[1,2,1,4] q) => (float[1,2,?,4] cache, float[?,1,2,1,4] os) {
        true = Constant<value = bool {1}>()
        cache, last, os = Loop <body = g (int64 i, bool c, float[1,2,S,4] k, float[1,2,1,4] x)
            => (bool c, float[1,2,S1,4] k1, float[1,2,1,4] y, float[1,2,1,4] o) {
            k1 = Concat<axis = 2>(k, x)
            kt = Transpose<perm = [0, 1, 3, 2]>(k1)
            scores = MatMul(x, kt)
            p = Softmax<axis = -1>(scores)
            y = MatMul(p, k1)
            o = Identity(y)
        }> (M, true, past, q)
    }"""), [
        run(f"p{p}m{m}", {"M": i64(m), "past": noise(1, 2, p, 4), "q": noise(1, 2, 1, 4, seed=1)})
        for p, m in ((0, 1), (3, 0), (0, 9), (5, 20))
    ]


@loop_model("if_lazy", "seq_append")
def torch_append_in_a_branch():
    """if k != 0 and k != prev: out.append(k). The and is an If, and so is the append."""
    return graph("""(float[T,6] x) => (int64[?] y, int64 n) {
        minus = Constant<value = int64 {-1}>()
        false = Constant<value = bool {0}>()
        true = Constant<value = bool {1}>()
        zero = Constant<value = int64 {0}>()
        best = ArgMax<axis = -1, keepdims = 0>(x)
        shape = Shape(best)
        M = Gather<axis = 0>(shape, zero)
        empty = SequenceEmpty<dtype = 7>()
        prev, ys = Loop <body = g (int64 t, bool c, int64 p, seq(int64) s) => (bool go, int64 k, seq(int64) s1) {
            k = Gather<axis = 0>(best, t)
            blank = Equal(k, zero)
            word = Not(blank)
            fresh = If <then_branch = t1 () => (bool f) {
                same = Equal(k, p)
                f = Not(same)
            }, else_branch = e1 () => (bool g1) { g1 = Identity(false) }> (word)
            s1 = If <then_branch = t2 () => (seq(int64) a) {
                again = Gather<axis = 0>(best, t)
                a = SequenceInsert(s, again)
            }, else_branch = e2 () => (seq(int64) b) { b = Identity(s) }> (fresh)
            go = Identity(true)
        }> (M, true, minus, empty)
        n = SequenceLength(ys)
        some = Greater(n, zero)
        y = If <then_branch = t3 () => (int64[L] u) { u = ConcatFromSequence<axis = 0, new_axis = 1>(ys) },
                else_branch = e3 () => (int64[0] v) { v = Constant<value = int64[0] {}>() }> (some)
    }"""), [run(f"t{t}", {"x": noise(t, 6, seed=t)}) for t in (1, 2, 33)] + [
        run("nothing", {"x": np.eye(6, dtype=np.float32)[[0, 0, 0]]}, [i64([]), i64(0)]),
    ]  # fmt: skip


@loop_model("seq_append", "seq_index", "loop_test")
def torch_stack_of_tensors():
    """A list that one loop fills and another pops from the end until it is empty."""
    return graph("""(float[N,3] x) => (float[3] acc, int64 left) {
        M = Constant<value = int64 {9223372036854775807}>()
        true = Constant<value = bool {1}>()
        minus = Constant<value = int64 {-1}>()
        zero = Constant<value = int64 {0}>()
        shape = Shape(x)
        n = Gather<axis = 0>(shape, zero)
        empty = SequenceEmpty<dtype = 1>()
        full = Loop <body = g (int64 i, bool c, seq(float[?]) s) => (bool go, seq(float[?]) s1) {
            row = Gather<axis = 0>(x, i)
            s1 = SequenceInsert(s, row)
            go = Identity(true)
        }> (n, true, empty)
        start = Constant<value = float[3] {0.0, 0.0, 0.0}>()
        count = SequenceLength(full)
        any = Greater(count, zero)
        acc, rest = Loop <body = h (int64 j, bool d, float[3] a, seq(float[?]) q)
            => (bool more, float[3] a1, seq(float[?]) q1) {
            decay = Constant<value = float {0.5}>()
            b = Mul(a, decay)
            top = SequenceAt(q, minus)
            q1 = SequenceErase(q, minus)
            a1 = Add(b, top)
            size = SequenceLength(q1)
            more = Greater(size, zero)
        }> (M, any, start, full)
        left = SequenceLength(rest)
    }"""), [run(f"n{n}", {"x": noise(n, 3)}) for n in (0, 1, 2, 9)]


@loop_model("loop_carried", "loop_slice")
def torch_assign_a_column():
    """y[..., i] = y[..., i - 1] * x[..., i]: ScatterND at indices that Range and Expand make of shapes."""
    return graph("""(float[B,N] x) => (float[B,N] y) {
        true = Constant<value = bool {1}>()
        one = Constant<value = int64 {1}>()
        extent = Shape<start = -1>(x)
        n = Squeeze(extent)
        trips = Sub(n, one)
        whole = Cast<to = 1>(trips)
        rounded = Ceil(whole)
        M = Cast<to = 7>(rounded)
        y = Loop <body = g (int64 t, bool c, float[B,N] v) => (bool go, float[B,N] v1) {
            zero = Constant<value = int64 {0}>()
            axis = Constant<value = int64[1] {0}>()
            minus = Constant<value = int64 {-1}>()
            last = Constant<value = int64[1] {-1}>()
            i = Add(t, one)
            before = Sub(i, one)
            left = Gather<axis = -1>(v, before)
            factor = Gather<axis = -1>(x, i)
            update0 = Mul(left, factor)
            old = Gather<axis = -1>(v, i)
            like = Shape(old)
            update = Expand(update0, like)
            shape = Shape(v)
            rows0 = Gather<axis = 0>(shape, zero)
            rows1 = Range(zero, rows0, one)
            column = Constant<value = int64[2] {-1, 1}>()
            rows = Reshape(rows1, column)
            at0 = Unsqueeze(i, axis)
            sum = Add(rows, at0)
            wide = Shape(sum)
            rows2 = Expand(rows, wide)
            at = Expand(at0, wide)
            r = Unsqueeze(rows2, last)
            a = Unsqueeze(at, last)
            indices = Concat<axis = -1>(r, a)
            flat = Shape<start = 0, end = 1>(v)
            single = Constant<value = int64[1] {1}>()
            target = Concat<axis = 0>(flat, single)
            updates = Reshape<allowzero = 1>(update, target)
            v1 = ScatterND(v, indices, updates)
            go = Identity(true)
        }> (M, true, x)
    }"""), [
        run(f"b{b}n{n}", {"x": noise(b, n)}, [np.cumprod(noise(b, n), 1)])
        for b, n in ((2, 5), (1, 1), (0, 4), (3, 0), (7, 33))
    ]


@loop_model("scan_axes", "loop_capture")
def skl_distances():
    """skl2onnx: the whole matrix is a state that no trip changes, the rows of the other are scanned."""
    return graph("""(float[N,4] x, float[K,4] rows) => (float[N,3] near, int64[N,3] which) {
        same, d = Scan <num_scan_inputs = 1, body = g (float[?,4] next_in, float[?] next)
            => (float[?,?] next_out, float[?] scan_out) {
            next_out = Identity(next_in)
            axis = Constant<value = int64[1] {1}>()
            apart = Sub(next_in, next)
            size = Abs(apart)
            sum = ReduceSum<keepdims = 0>(size, axis)
            scan_out = Identity(sum)
        }> (x, rows)
        k = Constant<value = int64[1] {3}>()
        each = Transpose<perm = [1, 0]>(d)
        near, which = TopK<largest = 0, sorted = 1>(each, k)
    }"""), [
        run(f"n{n}k{k}", {"x": noise(n, 4), "rows": noise(k, 4, seed=1)})
        for n, k in ((1, 3), (5, 7), (33, 20))
    ]


@loop_model("loop_collect", "loop_test")
def tf_greedy_words():
    """tf.while_loop over int32: the bound is carried, compared as float, all() is a sum of casts, a where is products."""
    return graph("""(float[B,4] h0, int32 n, float[6,4] words, float[4,6] out) => (int32[B,?] y, int32 count) {
        zero = Constant<value = int32 {0}>()
        zerof = Constant<value = float {0.0}>()
        axis = Constant<value = int64[1] {0}>()
        nf = Cast<to = 1>(n)
        c0 = Less(zerof, nf)
        batch = Shape<start = 0, end = 1>(h0)
        first = Expand(zero, batch)
        no = Constant<value = bool {0}>()
        open = Expand(no, batch)
        count, w, h, f, m, ws = Loop <body = g (int64 i, bool c, int32 t, int32[b1] word, float[b2,4] s, bool[b3] done,
                                             int32 bound)
            => (bool more, int32 t1, int32[b4] word1, float[b5,4] s1, bool[b6] done1, int32 bound, int32[b7] o) {
            one = Constant<value = int32 {1}>()
            t1 = Add(t, one)
            e = Gather<axis = 0>(words, word)
            a = Add(e, s)
            s1 = Tanh(a)
            scores = MatMul(s1, out)
            best = ArgMax<axis = 1, keepdims = 0>(scores)
            new = Cast<to = 6>(best)
            alive = Not(done)
            keep = Cast<to = 6>(alive)
            drop = Cast<to = 6>(done)
            x1 = Mul(keep, new)
            x0 = Mul(drop, zero)
            word1 = Add(x1, x0)
            ends = Equal(word1, one)
            done1 = Or(done, ends)
            still = Not(done1)
            stillf = Cast<to = 1>(still)
            sum = ReduceSum<keepdims = 0>(stillf, axis)
            some = Greater(sum, zerof)
            tf = Cast<to = 1>(t1)
            bf = Cast<to = 1>(bound)
            under = Less(tf, bf)
            more = And(under, some)
            o = Identity(word1)
        }> ("", c0, zero, first, h0, open, n)
        y = Transpose<perm = [1, 0]>(ws)
    }"""), [
        run(f"b{b}n{n}", {
            "h0": noise(b, 4), "n": i32(n), "words": noise(6, 4, seed=1), "out": noise(4, 6, seed=2),
        })
        for b, n in ((1, 0), (2, 1), (3, 5), (5, 40))
    ]  # fmt: skip


@loop_model("loop_collect", "loop_carried")
def keras_masked_cell():
    """Masking: where a step is masked the state and the output of the step before are kept; weights are carried."""
    return graph("""(float[B,T,3] x, float[3,4] w, float[4,4] u) => (float[B,?,4] ys, float[B,4] last) {
        axis = Constant<value = int64[1] {-1}>()
        zero = Constant<value = int32 {0}>()
        zerof = Constant<value = float {0.0}>()
        first = Constant<value = int64[1] {0}>()
        is = Equal(x, zerof)
        differs = Not(is)
        number = Cast<to = 1>(differs)
        any = ReduceMax<keepdims = 1>(number, axis)
        valid = Cast<to = 9>(any)
        steps = Transpose<perm = [1, 0, 2]>(x)
        masks = Transpose<perm = [1, 0, 2]>(valid)
        length = Shape<start = 0, end = 1>(steps)
        M = Squeeze(length)
        n = Cast<to = 6>(M)
        batch = Shape<start = 0, end = 1>(x)
        four = Constant<value = int64[1] {4}>()
        size = Concat<axis = 0>(batch, four)
        state = ConstantOfShape<value = float[1] {0.0}>(size)
        c0 = Less(zero, n)
        t, kept, last, bound, wl, ul, out = Loop <body = g (int64 i, bool c, int32 k, float[B1,4] before, float[B2,4] h,
                                                  int32 b, float[3,4] w1, float[4,4] u1)
            => (bool more, int32 k1, float[B3,4] y, float[B4,4] h1, int32 b, float[3,4] w1, float[4,4] u1,
                float[B5,4] o) {
            one = Constant<value = int32 {1}>()
            k1 = Add(k, one)
            v = Gather<axis = 0>(steps, k)
            m = Gather<axis = 0>(masks, k)
            p = MatMul(v, w1)
            q = MatMul(h, u1)
            z = Add(p, q)
            new = Tanh(z)
            y = Where(m, new, before)
            h1 = Where(m, new, h)
            o = Identity(y)
            more = Less(k1, b)
        }> (M, c0, zero, state, state, n, w, u)
        ys = Transpose<perm = [1, 0, 2]>(out)
    }"""), [
        run(f"b{b}t{t}", {
            "x": noise(b, t, 3) * (np.arange(t)[None, :, None] % 3 != 1),
            "w": noise(3, 4, seed=1), "u": noise(4, 4, seed=2),
        })
        for b, t in ((2, 5), (1, 1), (2, 0), (3, 17))
    ]  # fmt: skip


@loop_model("loop_carried", "loop_test")
def torch_suppression():
    """while order.numel() > 0: what is kept grows, what is left is gathered by NonZero, both carried."""
    return graph("""(float[N] at, float[N] score, float gap) => (int64[?] keep) {
        M = Constant<value = int64 {9223372036854775807}>()
        zero = Constant<value = int64 {0}>()
        none = Constant<value = int64[0] {}>()
        count = Shape(score)
        best, order = TopK<axis = -1, largest = 1, sorted = 1>(score, count)
        all = ReduceProd<keepdims = 0>(count)
        c0 = Greater(all, zero)
        keep, left = Loop <body = g (int64 t, bool c, int64[k0] kept, int64[n0] todo)
            => (bool more, int64[k1] kept1, int64[?] todo1) {
            axis = Constant<value = int64[1] {0}>()
            from = Constant<value = int64[1] {1}>()
            end = Constant<value = int64[1] {9223372036854775807}>()
            i = Gather<axis = 0>(todo, zero)
            one = Unsqueeze(i, axis)
            kept1 = Concat<axis = 0>(kept, one)
            rest = Slice(todo, from, end, axis, from)
            a = Gather<axis = 0>(at, i)
            b = Gather<axis = 0>(at, rest)
            apart = Sub(a, b)
            size = Abs(apart)
            far = Greater(size, gap)
            found = NonZero(far)
            indices = Transpose<perm = [1, 0]>(found)
            todo1 = GatherND(rest, indices)
            extents = Shape(todo1)
            elements = ReduceProd<keepdims = 0>(extents)
            more = Greater(elements, zero)
        }> (M, c0, none, order)
    }"""), [
        run(f"n{n}", {"at": noise(n), "score": noise(n, seed=1), "gap": f32(0.2)})
        for n in (1, 2, 33)
    ] + [run("none", {"at": noise(0), "score": noise(0), "gap": f32(1)}, [i64([])])]  # fmt: skip


@loop_model("loop_collect", "loop_slice")
def tf_strided_row():
    """x[t] of a tf.while_loop: Slice to an end that is computed in float, at a great step, then Squeeze."""
    return graph("""(float[T,B,3] x, float[3,4] w, float[4,4] u, int32 n) => (float[?,B,4] ys, float[B,4] last) {
        zero = Constant<value = int32 {0}>()
        axis = Constant<value = int64[1] {0}>()
        second = Constant<value = int64[1] {1}>()
        third = Constant<value = int64[1] {2}>()
        four = Constant<value = int32[1] {4}>()
        zerof = Constant<value = float {0.0}>()
        shape64 = Shape(x)
        shape = Cast<to = 6>(shape64)
        batch = Slice(shape, second, third, axis)
        size = Concat<axis = 0>(batch, four)
        size64 = Cast<to = 7>(size)
        state = Expand(zerof, size64)
        c0 = Less(zero, n)
        t, last, bound, ys = Loop <body = g (int64 i, bool c, int32 k, float[B1,4] h, int32 b)
            => (bool more, int32 k1, float[B2,4] h1, int32 b, float[B3,4] o) {
            one = Constant<value = int32 {1}>()
            great = Constant<value = float[1] {1e9}>()
            step = Constant<value = int32[1] {1000000000}>()
            first = Constant<value = int32[1] {0}>()
            k1 = Add(k, one)
            from = Unsqueeze(k, axis)
            next = Unsqueeze(k1, axis)
            nextf = Cast<to = 1>(next)
            endf = Max(nextf, great)
            end = Cast<to = 6>(endf)
            row = Slice(x, from, end, first, step)
            v = Squeeze(row, axis)
            p = MatMul(v, w)
            q = MatMul(h, u)
            z = Add(p, q)
            o = Tanh(z)
            h1 = Identity(o)
            more = Less(k1, b)
        }> ("", c0, zero, state, n)
    }"""), [
        *(
            run(f"t{t}b{b}", {
                "x": noise(t, b, 3), "w": noise(3, 4, seed=1), "u": noise(4, 4, seed=2) * 0.3, "n": i32(t),
            })
            for t, b in ((0, 2), (1, 1), (5, 0), (5, 2), (33, 3))
        ),
        run("beyond", {
            "x": noise(3, 2, 3), "w": noise(3, 4, seed=1), "u": noise(4, 4, seed=2), "n": i32(4),
        }, error="squeeze"),
    ]  # fmt: skip
