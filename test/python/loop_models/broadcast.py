# ===- broadcast.py - Broadcasting decided at run time -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Two dimensions that the types do not relate: equal, one of them 1, or an error."""

import numpy as np

from loop_models.registry import b8, f32, graph, i64, loop_model, ramp, run

MISMATCH = r"(?i)broadcast|shape|dimension|match"


@loop_model("broadcast")
def add_vectors():
    """[N] + [M] as model inputs."""
    return graph("(float[N] x, float[M] w) => (float[?] y) { y = Add(x, w) }"), [
        run("equal", {"x": ramp(3), "w": ramp(3)}, [2 * ramp(3)]),
        run("left_one", {"x": f32([5]), "w": ramp(3)}, [ramp(3) + 5]),
        run("right_one", {"x": ramp(3), "w": f32([5])}, [ramp(3) + 5]),
        run("both_one", {"x": f32([4]), "w": f32([5])}, [f32([9])]),
        run("empty_and_one", {"x": f32([]), "w": f32([5])}, [f32([])]),
        run("both_empty", {"x": f32([]), "w": f32([])}, [f32([])]),
        run("mismatch", {"x": ramp(2), "w": ramp(3)}, error=MISMATCH),
        run("empty_and_two", {"x": f32([]), "w": ramp(2)}, error=MISMATCH),
    ]


@loop_model("broadcast")
def add_matrices():
    """[A,B] * [C,D]: each dimension by itself."""
    return graph("(float[A,B] x, float[C,D] w) => (float[?,?] y) { y = Mul(x, w) }"), [
        run("equal", {"x": ramp(2, 3), "w": ramp(2, 3)}, [ramp(2, 3) ** 2]),
        run("outer", {"x": ramp(2, 1), "w": ramp(1, 3)}, [ramp(2, 1) * ramp(1, 3)]),
        run("rows", {"x": ramp(2, 3), "w": ramp(1, 3)}, [ramp(2, 3) * ramp(1, 3)]),
        run("columns", {"x": ramp(2, 1), "w": ramp(2, 3)}, [ramp(2, 1) * ramp(2, 3)]),
        run("mismatch", {"x": ramp(2, 3), "w": ramp(3, 2)}, error=MISMATCH),
        run("second_mismatch", {"x": ramp(2, 3), "w": ramp(1, 2)}, error=MISMATCH),
    ]


@loop_model("broadcast")
def ranks_differ():
    """[A,B,C] - [D] and [D] - [A,B,C]."""
    return graph("""(float[A,B,C] x, float[D] w) => (float[?,?,?] y, float[?,?,?] z) {
        y = Sub(x, w)
        z = Sub(w, x)
    }"""), [
        run(
            "equal",
            {"x": ramp(2, 2, 3), "w": ramp(3)},
            [ramp(2, 2, 3) - ramp(3), ramp(3) - ramp(2, 2, 3)],
        ),
        run("one", {"x": ramp(2, 2, 3), "w": f32([7])}, [ramp(2, 2, 3) - 7, 7 - ramp(2, 2, 3)]),
        run(
            "expands",
            {"x": ramp(2, 2, 1), "w": ramp(4)},
            [ramp(2, 2, 1) - ramp(4), ramp(4) - ramp(2, 2, 1)],
        ),
        run("mismatch", {"x": ramp(2, 2, 3), "w": ramp(2)}, error=MISMATCH),
    ]


@loop_model("broadcast")
def where_three_operands():
    """Where with three open shapes."""
    return graph("(bool[A] p, float[B] x, float[C] w) => (float[?] y) { y = Where(p, x, w) }"), [
        run("equal", {"p": b8([1, 0, 1]), "x": ramp(3), "w": -ramp(3)}, [f32([0, -1, 2])]),
        run("condition_one", {"p": b8([0]), "x": ramp(3), "w": -ramp(3)}, [-ramp(3)]),
        run("values_one", {"p": b8([1, 0, 1]), "x": f32([7]), "w": f32([8])}, [f32([7, 8, 7])]),
        run("one_each", {"p": b8([1, 0]), "x": f32([7]), "w": f32([8, 9])}, [f32([7, 9])]),
        run("mismatch", {"p": b8([1, 0]), "x": ramp(3), "w": f32([8])}, error=MISMATCH),
    ]


@loop_model("broadcast")
def chain():
    """(x + w) * v: the middle shape is known after the first operation only."""
    return graph("""(float[A] x, float[B] w, float[C] v) => (float[?] y) {
        s = Add(x, w)
        t = Mul(s, v)
        y = Sub(t, x)
    }"""), [
        run("equal", {"x": ramp(3), "w": ramp(3), "v": ramp(3)}, [2 * ramp(3) ** 2 - ramp(3)]),
        run("grows_twice", {"x": f32([2]), "w": f32([3]), "v": ramp(4)}, [5 * ramp(4) - 2]),
        run("grows_once", {"x": f32([2]), "w": ramp(4), "v": f32([3])}, [(ramp(4) + 2) * 3 - 2]),
        run("late_mismatch", {"x": f32([2]), "w": ramp(4), "v": ramp(3)}, error=MISMATCH),
    ]


@loop_model("broadcast", "loop_carried")
def carried_broadcasts():
    """v = v + x, where v may begin as [1] and become [N] after one trip."""
    return graph("""(int64 M, float[A] v0, float[B] x) => (float[?] y) {
        y = Loop <body = b (int64 i, bool c, float[?] v) => (bool c, float[?] v1) {
            v1 = Add(v, x)
        }> (M, "", v0)
    }"""), [
        run("zero", {"M": i64(0), "v0": f32([1]), "x": ramp(3)}, [f32([1])]),
        run("expands", {"M": i64(2), "v0": f32([1]), "x": ramp(3)}, [2 * ramp(3) + 1]),
        run("equal", {"M": i64(2), "v0": ramp(3), "x": ramp(3)}, [3 * ramp(3)]),
        run("one", {"M": i64(2), "v0": ramp(3), "x": f32([1])}, [ramp(3) + 2]),
        run("mismatch", {"M": i64(2), "v0": ramp(2), "x": ramp(3)}, error=MISMATCH),
        run("mismatch_never_run", {"M": i64(0), "v0": ramp(2), "x": ramp(3)}, [ramp(2)]),
    ]


@loop_model("broadcast", "loop_carried")
def carried_with_growing_partner():
    """One carried value grows; the other, of one element, meets it by broadcasting."""
    return graph("""(int64 M, float[A] x, float[B] s) => (float[?] y, float[?] z) {
        y, z = Loop <body = b (int64 i, bool c, float[?] v, float[?] w) => (bool c, float[?] v1, float[?] w1) {
            v1 = Concat<axis = 0>(v, x)
            w1 = Mul(v, s)
        }> (M, "", x, s)
    }"""), [
        run("zero", {"M": i64(0), "x": ramp(2), "s": f32([2])}, [ramp(2), f32([2])]),
        run(
            "three",
            {"M": i64(3), "x": ramp(2), "s": f32([2])},
            [np.tile(ramp(2), 4), 2 * np.tile(ramp(2), 3)],
        ),
        run("mismatch_later", {"M": i64(2), "x": ramp(2), "s": ramp(2)}, error=MISMATCH),
        run(
            "match_first",
            {"M": i64(1), "x": ramp(2), "s": ramp(2)},
            [np.tile(ramp(2), 2), ramp(2) ** 2],
        ),
    ]


@loop_model("broadcast", "loop_collect")
def comparison_broadcasts_in_loop():
    """Less of a row and a vector, collected."""
    return graph("""(float[T,A] xs, float[B] w) => (bool[?,?] ps) {
        M = Shape<start = 0, end = 1>(xs)
        ps = Loop <body = b (int64 i, bool c) => (bool c, bool[?] p) {
            x = Gather(xs, i)
            p = Less(x, w)
        }> (M, "")
    }"""), [
        run("equal", {"xs": ramp(2, 3), "w": f32([1, 1, 9])}, [b8([[1, 0, 1], [0, 0, 1]])]),
        run("one", {"xs": ramp(2, 3), "w": f32([2])}, [b8([[1, 1, 0], [0, 0, 0]])]),
        run("expands", {"xs": ramp(2, 1), "w": f32([0, 1, 2])}, [b8([[0, 1, 1], [0, 0, 1]])]),
        run("mismatch", {"xs": ramp(2, 3), "w": ramp(2)}, error=MISMATCH),
        run("mismatch_never_run", {"xs": ramp(0, 3), "w": ramp(2)}),
    ]


@loop_model("broadcast")
def matmul_batches_broadcast():
    """The batch dimensions of MatMul broadcast too."""
    return graph("(float[A,2,3] x, float[B,3,2] w) => (float[?,2,2] y) { y = MatMul(x, w) }"), [
        run("equal", {"x": ramp(2, 2, 3), "w": ramp(2, 3, 2)}, [ramp(2, 2, 3) @ ramp(2, 3, 2)]),
        run("left_one", {"x": ramp(1, 2, 3), "w": ramp(2, 3, 2)}, [ramp(1, 2, 3) @ ramp(2, 3, 2)]),
        run("right_one", {"x": ramp(2, 2, 3), "w": ramp(1, 3, 2)}, [ramp(2, 2, 3) @ ramp(1, 3, 2)]),
        run("mismatch", {"x": ramp(2, 2, 3), "w": ramp(3, 3, 2)}, error=MISMATCH),
    ]


@loop_model("broadcast")
def matmul_inner_dimensions():
    """The inner dimensions must agree: no broadcasting there."""
    return graph("(float[A,K] x, float[L,B] w) => (float[A,B] y) { y = MatMul(x, w) }"), [
        run("equal", {"x": ramp(2, 3), "w": ramp(3, 4)}, [ramp(2, 3) @ ramp(3, 4)]),
        run("empty", {"x": ramp(2, 0), "w": ramp(0, 4)}, [np.zeros((2, 4), np.float32)]),
        run("mismatch", {"x": ramp(2, 3), "w": ramp(2, 4)}, error=MISMATCH),
        run("one_is_mismatch", {"x": ramp(2, 1), "w": ramp(3, 4)}, error=MISMATCH),
    ]


@loop_model("broadcast", "loop_carried")
def expand_by_iteration_number():
    """Expand to a shape that is computed from the iteration number."""
    return graph("""(int64 M, float[A] x) => (float[?,?] y) {
        axes = Constant<value = int64[1] {0}>()
        one = Constant<value = int64[1] {1}>()
        start = Unsqueeze(x, axes)
        y = Loop <body = b (int64 i, bool c, float[?,?] v) => (bool c, float[?,?] v1) {
            n = Unsqueeze(i, axes)
            n1 = Add(n, one)
            shape = Concat<axis = 0>(n1, one)
            v1 = Expand(x, shape)
        }> (M, "", start)
    }"""), [
        run("zero", {"M": i64(0), "x": ramp(2)}, [ramp(1, 2)]),
        run("one", {"M": i64(1), "x": ramp(2)}, [ramp(1, 2)]),
        run("three", {"M": i64(3), "x": ramp(2)}, [ramp(1, 2).repeat(3, 0)]),
    ]


@loop_model("if_types")
def expanded_and_kept():
    """What is expanded only where extents differ is a result of its own, too."""
    return graph("""(float[N,3] x, int64[2] s, float[K,3] y, int64 M)
            => (float[?,?] a, float[?,?] c, float[?,3] b, float[?,?,?] ys) {
        a = Neg(x)
        e = Expand(a, s)
        c = Concat<axis = 0>(e, y)
        b, ys = Loop <body = g (int64 i, bool p, float[?,3] v) => (bool p, float[?,3] w, float[?,?] z) {
            w = Neg(v)
            f = Expand(w, s)
            z = Concat<axis = 0>(y, f)
        }> (M, "", x)
    }"""), [
        run(f"{n}_to_{rows}", {"x": ramp(n, 3), "s": i64([rows, 3]), "y": ramp(2, 3), "M": i64(2)})
        for n, rows in ((1, 4), (4, 4), (1, 1), (4, 1))
    ]


@loop_model("if_types")
def chosen_and_kept():
    """A branch yields what was computed before it, another something longer; both are kept."""
    return graph("""(bool p, float[N] x, float[K] y) => (float[?] a, float[?] c) {
        a = Neg(x)
        r = If (p) <then_branch = t () => (float[?] b) { b = Identity(a) },
                    else_branch = e () => (float[?] d) { d = Concat<axis = 0>(a, y) }>
        s = Exp(a)
        c = Concat<axis = 0>(r, y, s)
    }"""), [run(f"p{p}", {"p": b8(p), "x": ramp(3), "y": ramp(2)}) for p in (0, 1)]
