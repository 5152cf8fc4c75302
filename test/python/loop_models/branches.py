# ===- branches.py - If -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""If: laziness, shapes and ranks that differ, in loops and around them."""

import numpy as np

from loop_models.registry import OrtDiffers, b8, f32, graph, i64, loop_model, ramp, run


@loop_model("if_cond", "if_lazy")
def if_plain():
    """Two branches of one shape, with captures."""
    return graph("""(bool p, float[2] x, float[2] z) => (float[2] y) {
        y = If <then_branch = t () => (float[2] a) { a = Add(x, z) },
                else_branch = e () => (float[2] b) { b = Mul(x, z) }> (p)
    }"""), [
        run("then", {"p": b8(True), "x": f32([1, 2]), "z": f32([3, 4])}, [f32([4, 6])]),
        run("else", {"p": b8(False), "x": f32([1, 2]), "z": f32([3, 4])}, [f32([3, 8])]),
    ]


@loop_model("if_cond")
def if_condition_one_element():
    """A condition of shape [1]; of any other size it is an error."""
    return graph("""(bool[N] p, float[2] x) => (float[2] y) {
        y = If <then_branch = t () => (float[2] a) { a = Neg(x) },
                else_branch = e () => (float[2] b) { b = Abs(x) }> (p)
    }"""), [
        run("then", {"p": b8([True]), "x": f32([1, -2])}, [f32([-1, 2])]),
        run("else", {"p": b8([False]), "x": f32([1, -2])}, [f32([1, 2])]),
        run(
            "two",
            {"p": b8([True, True]), "x": f32([1, -2])},
            error=r"(?i)one element|single element|condition",
        ),
        run(
            "none",
            {"p": b8([]), "x": f32([1, -2])},
            error=r"(?i)one element|single element|condition",
        ),
    ]


@loop_model("if_types")
def if_shapes_differ():
    """The branches' results differ in their dimensions."""
    return graph("""(bool p, float[N] x) => (float[?] y, int64 n) {
        y = If <then_branch = t () => (float[?] a) { a = Concat<axis = 0>(x, x) },
                else_branch = e () => (float[?] b) { b = Neg(x) }> (p)
        n = Size(y)
    }"""), [
        run("then", {"p": b8(True), "x": f32([1, 2, 3])}, [f32([1, 2, 3, 1, 2, 3]), i64(6)]),
        run("else", {"p": b8(False), "x": f32([1, 2, 3])}, [f32([-1, -2, -3]), i64(3)]),
        run("empty", {"p": b8(True), "x": f32([])}, [f32([]), i64(0)]),
    ]


@loop_model("if_types")
def if_ranks_differ():
    """The branches' results differ in rank."""
    return graph("""(bool p, float[A,B] x) => (float[] y, float[] z) {
        axes = Constant<value = int64[1] {0}>()
        y = If <then_branch = t () => (float[?] a) { a = ReduceSum<keepdims = 0>(x, axes) },
                else_branch = e () => (float[?,?] b) { b = Neg(x) }> (p)
        z = Mul(y, y)
    }"""), [
        run("then", {"p": b8(True), "x": ramp(2, 3)}, [f32([3, 5, 7]), f32([9, 25, 49])]),
        run("else", {"p": b8(False), "x": ramp(2, 3)}, [-ramp(2, 3), ramp(2, 3) ** 2]),
    ]


@loop_model("if_types")
def squeeze_twelve_times():
    """Twelve Ifs in a row that drop a leading 1 where there is one: the rank is open throughout."""
    steps = "\n".join(
        f"""
        s{k} = Shape<start = 0, end = 1>(v{k})
        p{k} = Equal(s{k}, one)
        v{k + 1} = If <then_branch = t{k} () => (float[] a{k}) {{ a{k} = Squeeze(v{k}, axes) }},
                       else_branch = e{k} () => (float[] b{k}) {{ b{k} = Identity(v{k}) }}> (p{k})"""
        for k in range(12)
    )
    return graph(f"""(float[A,B,C] v0) => (float[] y) {{
        one = Constant<value = int64[1] {{1}}>()
        axes = Constant<value = int64[1] {{0}}>()
        {steps}
        y = Neg(v12)
    }}"""), [
        run("none", {"v0": ramp(2, 1, 3)}, [-ramp(2, 1, 3)]),
        run("one", {"v0": ramp(1, 3, 2)}, [-ramp(3, 2)]),
        run("two", {"v0": ramp(1, 1, 3)}, [-ramp(3)]),
    ]


@loop_model("if_lazy")
def if_avoids_index_error():
    """Only the branch taken runs: the other one would read past the end."""
    return graph("""(int64 k, float[N] x) => (float y) {
        n = Size(x)
        inside = Less(k, n)
        y = If <then_branch = t () => (float a) { a = Gather(x, k) },
                else_branch = e () => (float b) { b = Constant<value = float {-1.0}>() }> (inside)
    }"""), [
        run("inside", {"k": i64(1), "x": f32([5, 6])}, [f32(6)]),
        run("outside", {"k": i64(2), "x": f32([5, 6])}, [f32(-1)]),
        run("empty", {"k": i64(0), "x": f32([])}, [f32(-1)]),
    ]


@loop_model("if_lazy", "loop_order")
def if_in_loop_avoids_index_error():
    """In a loop: what may fail is not hoisted out of the branch."""
    return graph("""(int64 M, int64 k, float[N] x) => (float[?] ys) {
        n = Size(x)
        ys = Loop <body = b (int64 i, bool c) => (bool c, float y) {
            inside = Less(i, n)
            y = If <then_branch = t () => (float a) { a = Gather(x, i) },
                    else_branch = e () => (float d) { d = Gather(x, k) }> (inside)
        }> (M, "")
    }"""), [
        run("never_taken", {"M": i64(2), "k": i64(99), "x": f32([5, 6])}, [f32([5, 6])]),
        run("taken", {"M": i64(4), "k": i64(0), "x": f32([5, 6])}, [f32([5, 6, 5, 5])]),
        run(
            "taken_wrong",
            {"M": i64(4), "k": i64(99), "x": f32([5, 6])},
            error=r"(?i)ind(ex|ices)|range|bound",
        ),
        run("zero", {"M": i64(0), "k": i64(99), "x": f32([])}, [f32([])]),
    ]


@loop_model("if_lazy")
def if_avoids_division_by_zero():
    """An integer division that would fail sits in the branch not taken."""
    return graph("""(int64[3] a, int64 d) => (int64[3] y) {
        zero = Constant<value = int64 {0}>()
        p = Equal(d, zero)
        y = If <then_branch = t () => (int64[3] r) { r = Neg(a) },
                else_branch = e () => (int64[3] q) { q = Div(a, d) }> (p)
    }"""), [
        run("zero", {"a": i64([7, -7, 1]), "d": i64(0)}, [i64([-7, 7, -1])]),
        run("two", {"a": i64([7, -7, 1]), "d": i64(2)}, [i64([3, -3, 0])]),
    ]


@loop_model("if_lazy", "loop_test")
def loop_in_if():
    """A loop in one branch, none in the other."""
    return graph("""(bool p, int64 M, float[2] x) => (float[2] y, float[?,2] ys) {
        axes = Constant<value = int64[1] {0}>()
        y, ys = If <then_branch = t () => (float[2] a, float[?,2] as) {
            a, as = Loop <body = b (int64 i, bool c, float[2] v) => (bool c, float[2] v1, float[2] w) {
                v1 = Add(v, x)
                w = Neg(v)
            }> (M, "", x)
        }, else_branch = e () => (float[2] d, float[?,2] ds) {
            d = Abs(x)
            ds = Unsqueeze(x, axes)
        }> (p)
    }"""), [
        run(
            "else", {"p": b8(False), "M": i64(3), "x": f32([1, -2])}, [f32([1, 2]), f32([[1, -2]])]
        ),
        run(
            "zero",
            {"p": b8(True), "M": i64(0), "x": f32([1, -2])},
            [f32([1, -2]), np.zeros((0, 2), np.float32)],
        ),
        run(
            "two",
            {"p": b8(True), "M": i64(2), "x": f32([1, -2])},
            [f32([3, -6]), f32([[-1, 2], [-2, 4]])],
        ),
    ]


@loop_model("if_lazy", "loop_carried")
def if_in_loop():
    """Even trips double, odd trips subtract one (3n + 1 in floats)."""
    return graph("""(int64 M, int64 x) => (int64 y, int64[?] path) {
        one = Constant<value = int64 {1}>()
        two = Constant<value = int64 {2}>()
        three = Constant<value = int64 {3}>()
        true = Constant<value = bool {1}>()
        y, path = Loop <body = b (int64 i, bool c, int64 v) => (bool c1, int64 v1, int64 w) {
            r = Mod(v, two)
            odd = Equal(r, one)
            v1 = If <then_branch = t () => (int64 a) { m = Mul(v, three)
                                                       a = Add(m, one) },
                     else_branch = e () => (int64 d) { d = Div(v, two) }> (odd)
            c1 = Less(one, v1)
            w = Identity(v1)
        }> (M, true, x)
    }"""), [
        run("zero", {"M": i64(0), "x": i64(6)}, [i64(6), i64([])]),
        run("six", {"M": i64(99), "x": i64(6)}, [i64(1), i64([3, 10, 5, 16, 8, 4, 2, 1])]),
        run("cut", {"M": i64(3), "x": i64(27)}, [i64(124), i64([82, 41, 124])]),
    ]


@loop_model("if_types", "loop_carried")
def if_in_loop_changes_shape():
    """Every other trip the carried value grows: its dimension is open."""
    return graph("""(int64 M, float[N] x) => (float[?] y) {
        two = Constant<value = int64 {2}>()
        zero = Constant<value = int64 {0}>()
        y = Loop <body = b (int64 i, bool c, float[?] v) => (bool c, float[?] v1) {
            r = Mod(i, two)
            even = Equal(r, zero)
            v1 = If <then_branch = t () => (float[?] a) { a = Concat<axis = 0>(v, x) },
                     else_branch = e () => (float[?] d) { d = Neg(v) }> (even)
        }> (M, "", x)
    }"""), [
        run("zero", {"M": i64(0), "x": f32([1, 2])}, [f32([1, 2])]),
        run("one", {"M": i64(1), "x": f32([1, 2])}, [f32([1, 2, 1, 2])]),
        run("three", {"M": i64(3), "x": f32([1, 2])}, [f32([-1, -2, -1, -2, 1, 2])]),
    ]


@loop_model("if_types", "loop_collect")
def if_in_loop_collected():
    """A branch's result is collected and carried, another one decides the end."""
    return graph("""(int64 M, float[3] x) => (float[3] y, float[?,3] ys) {
        true = Constant<value = bool {1}>()
        limit = Constant<value = float {20.0}>()
        y, ys = Loop <body = b (int64 i, bool c, float[3] v) => (bool c1, float[3] v1, float[3] v1) {
            s = ReduceSum<keepdims = 0>(v)
            small = Less(s, limit)
            v1 = If <then_branch = t () => (float[3] a) { a = Add(v, x) },
                     else_branch = e () => (float[3] d) { d = Identity(v) }> (small)
            c1 = If <then_branch = t () => (bool a) { a = Constant<value = bool {1}>() },
                     else_branch = e () => (bool d) { d = Constant<value = bool {0}>() }> (small)
        }> (M, true, x)
    }"""), [run(f"m{m}", {"M": i64(m), "x": f32([1, 2, 3])}) for m in (0, 1, 3, 9)]


@loop_model("if_lazy")
def nested_ifs():
    """Three conditions, four ways, captures from every level."""
    return graph("""(bool p, bool q, bool r, float x) => (float y) {
        two = Constant<value = float {2.0}>()
        y = If <then_branch = t () => (float a) {
            n = Neg(x)
            a = If <then_branch = tt () => (float aa) { aa = Mul(n, two) },
                    else_branch = te () => (float ab) { ab = Add(n, two) }> (q)
        }, else_branch = e () => (float d) {
            d = If <then_branch = et () => (float da) { da = Sub(x, two) },
                    else_branch = ee () => (float db) { db = Div(x, two) }> (r)
        }> (p)
    }"""), [
        run(f"{p:d}{q:d}{r:d}", {"p": b8(p), "q": b8(q), "r": b8(r), "x": f32(5)},
            [f32((-10 if q else -3) if p else (3 if r else 2.5))])
        for p in (0, 1) for q in (0, 1) for r in (0, 1)
    ]  # fmt: skip


@loop_model("name_direct", "if_lazy",
            ort=OrtDiffers("refuses", "ORT takes no outer value as a subgraph's output"))  # fmt: skip
def if_yields_outer_values():
    """Branches without nodes: the results are outer values."""
    return graph("""(bool p, float[2] x, float[2] z) => (float[2] y) {
        y = If <then_branch = t () => (float[2] x) { },
                else_branch = e () => (float[2] z) { }> (p)
    }"""), [
        run("then", {"p": b8(True), "x": f32([1, 2]), "z": f32([3, 4])}, [f32([1, 2])]),
        run("else", {"p": b8(False), "x": f32([1, 2]), "z": f32([3, 4])}, [f32([3, 4])]),
    ]


@loop_model("if_cond")
def if_constant_condition():
    """The condition is a constant: one branch remains."""
    return graph("""(float[2] x) => (float[?] y) {
        p = Constant<value = bool {0}>()
        y = If <then_branch = t () => (float[4] a) { a = Concat<axis = 0>(x, x) },
                else_branch = e () => (float[2] b) { b = Neg(x) }> (p)
    }"""), [run("x", {"x": f32([1, 2])}, [f32([-1, -2])])]


@loop_model("if_types", "if_cond")
def if_by_shape():
    """The condition is a question about a shape, as exporters write it."""
    return graph("""(float[N,M] x) => (float[?,?] y) {
        s = Shape<start = 0, end = 1>(x)
        one = Constant<value = int64[1] {1}>()
        p = Equal(s, one)
        three = Constant<value = int64[2] {3, 1}>()
        y = If <then_branch = t () => (float[?,?] a) { a = Expand(x, three) },
                else_branch = e () => (float[?,?] b) { b = Identity(x) }> (p)
    }"""), [
        run("one", {"x": ramp(1, 2)}, [ramp(1, 2).repeat(3, 0)]),
        run("two", {"x": ramp(2, 2)}, [ramp(2, 2)]),
    ]
