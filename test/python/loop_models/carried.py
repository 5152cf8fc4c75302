# ===- carried.py - Values that loops carry -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Carried values: types, ranks, shapes, and who is whose successor."""

import numpy as np

from loop_models.registry import (
    DTYPES,
    OrtDiffers,
    b8,
    f32,
    f64,
    graph,
    i32,
    i64,
    loop_model,
    noise,
    ramp,
    run,
)  # fmt: skip


@loop_model("loop_parallel_assign")
def swap():
    """a, b = b, a."""
    return graph("""(int64 M, float[2] a, float[2] b) => (float[2] x, float[2] y) {
        x, y = Loop <body = g (int64 i, bool c, float[2] p, float[2] q) => (bool c, float[2] q, float[2] p) {
        }> (M, "", a, b)
    }"""), [
        run(f"m{m}", {"M": i64(m), "a": f32([1, 2]), "b": f32([3, 4])},
            [f32([3, 4]), f32([1, 2])] if m % 2 else [f32([1, 2]), f32([3, 4])])
        for m in (0, 1, 2, 7)
    ]  # fmt: skip


@loop_model("loop_parallel_assign")
def swap_and_change():
    """a, b = b + 1, a * 2: both old values are read first."""
    return graph("""(int64 M, float[2] a, float[2] b) => (float[2] x, float[2] y) {
        one = Constant<value = float {1.0}>()
        two = Constant<value = float {2.0}>()
        x, y = Loop <body = g (int64 i, bool c, float[2] p, float[2] q) => (bool c1, float[2] p1, float[2] q1) {
            c1 = Identity(c)
            p1 = Add(q, one)
            q1 = Mul(p, two)
        }> (M, "", a, b)
    }"""), [
        run("zero", {"M": i64(0), "a": f32([1, 2]), "b": f32([3, 4])}, [f32([1, 2]), f32([3, 4])]),
        run("one", {"M": i64(1), "a": f32([1, 2]), "b": f32([3, 4])}, [f32([4, 5]), f32([2, 4])]),
        run("two", {"M": i64(2), "a": f32([1, 2]), "b": f32([3, 4])}, [f32([3, 5]), f32([8, 10])]),
    ]


@loop_model("loop_parallel_assign", "loop_collect")
def old_state_collected():
    """Collects the state before the update while the update is made in place."""
    return graph("""(int64 M, float[3] x) => (float[3] y, float[?,3] before, float[?,3] after) {
        two = Constant<value = float {2.0}>()
        y, before, after = Loop <body = g (int64 i, bool c, float[3] v) => (bool c1, float[3] v1, float[3] v, float[3] w) {
            c1 = Identity(c)
            v1 = Mul(v, two)
            w = Identity(v1)
        }> (M, "", x)
    }"""), [
        run(
            "zero",
            {"M": i64(0), "x": f32([1, 2, 3])},
            [f32([1, 2, 3]), np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32)],
        ),
        run(
            "one",
            {"M": i64(1), "x": f32([1, 2, 3])},
            [f32([2, 4, 6]), f32([[1, 2, 3]]), f32([[2, 4, 6]])],
        ),
        run(
            "two",
            {"M": i64(2), "x": f32([1, 2, 3])},
            [f32([4, 8, 12]), f32([[1, 2, 3], [2, 4, 6]]), f32([[2, 4, 6], [4, 8, 12]])],
        ),
    ]


@loop_model("loop_parallel_assign")
def rotate_three():
    """a, b, c = b, c, a + b: a permutation with one new value."""
    return graph("""(int64 M, float[2] a, float[2] b, float[2] c) => (float[2] x, float[2] y, float[2] z) {
        x, y, z = Loop <body = g (int64 i, bool k, float[2] p, float[2] q, float[2] r)
                  => (bool k, float[2] q, float[2] r, float[2] s) {
            s = Add(p, q)
        }> (M, "", a, b, c)
    }"""), [
        run(f"m{m}", {"M": i64(m), "a": f32([1, 0]), "b": f32([0, 1]), "c": f32([1, 1])})
        for m in (0, 1, 2, 3, 10)
    ]


@loop_model("loop_parallel_assign")
def sixteen_rotate():
    """Sixteen carried values move on by one place each trip."""
    names = [f"v{k}" for k in range(16)]
    inits = "\n".join(
        f"k{k} = Constant<value = float {{{k}.0}}>()\n x{k} = Add(x, k{k})" for k in range(16)
    )
    arguments = ", ".join(f"float[2] {n}" for n in names)
    yields = ", ".join(f"float[2] {n}" for n in names[1:] + names[:1])
    outputs = ", ".join(f"float[2] y{k}" for k in range(16))
    model = graph(f"""(int64 M, float[2] x) => ({outputs}) {{
        {inits}
        {", ".join(f"y{k}" for k in range(16))} = Loop <body = g (int64 i, bool c, {arguments}) => (bool c, {yields}) {{
        }}> (M, "", {", ".join(f"x{k}" for k in range(16))})
    }}""")
    x = f32([0, 100])
    return model, [
        run(f"m{m}", {"M": i64(m), "x": x}, [x + np.float32((k + m) % 16) for k in range(16)])
        for m in (0, 1, 5, 16, 35)
    ]


@loop_model("loop_carried", "loop_capture")
def invariant_carried():
    """A carried value that is passed on unchanged is a capture in disguise."""
    return graph("""(int64 M, float[2] x, float[2] w) => (float[2] y, float[2] w2) {
        y, w2 = Loop <body = g (int64 i, bool c, float[2] v, float[2] u) => (bool c, float[2] v1, float[2] u) {
            v1 = Add(v, u)
        }> (M, "", x, w)
    }"""), [
        run(
            f"m{m}",
            {"M": i64(m), "x": f32([0, 1]), "w": f32([1, 2])},
            [f32([0, 1]) + m * f32([1, 2]), f32([1, 2])],
        )
        for m in (0, 1, 6)
    ]


@loop_model("loop_carried")
def one_init_twice():
    """The same value begins two carried values that part."""
    return graph("""(int64 M, float[2] x) => (float[2] y, float[2] z) {
        one = Constant<value = float {1.0}>()
        y, z = Loop <body = g (int64 i, bool c, float[2] v, float[2] w) => (bool c, float[2] v1, float[2] w1) {
            v1 = Add(v, one)
            w1 = Sub(w, one)
        }> (M, "", x, x)
    }"""), [
        run(f"m{m}", {"M": i64(m), "x": f32([5, 6])}, [f32([5, 6]) + m, f32([5, 6]) - m])
        for m in (0, 1, 3)
    ]


@loop_model("loop_carried", "loop_parallel_assign")
def one_value_yielded_twice():
    """Both carried values become the same value."""
    return graph("""(int64 M, float[2] x, float[2] z) => (float[2] y, float[2] w) {
        y, w = Loop <body = g (int64 i, bool c, float[2] p, float[2] q) => (bool c, float[2] s, float[2] s) {
            s = Add(p, q)
        }> (M, "", x, z)
    }"""), [
        run("zero", {"M": i64(0), "x": f32([1, 2]), "z": f32([3, 4])}, [f32([1, 2]), f32([3, 4])]),
        run("one", {"M": i64(1), "x": f32([1, 2]), "z": f32([3, 4])}, [f32([4, 6])] * 2),
        run("three", {"M": i64(3), "x": f32([1, 2]), "z": f32([3, 4])}, [f32([16, 24])] * 2),
    ]


@loop_model("loop_carried")
def input_is_not_overwritten():
    """The init is read again after the loop."""
    return graph("""(int64 M, float[3] x) => (float[3] y, float[3] z) {
        y = Loop <body = g (int64 i, bool c, float[3] v) => (bool c, float[3] v1) {
            v1 = Add(v, x)
        }> (M, "", x)
        z = Sub(y, x)
    }"""), [
        run(
            f"m{m}",
            {"M": i64(m), "x": f32([1, 2, 3])},
            [f32([1, 2, 3]) * (m + 1), f32([1, 2, 3]) * m],
        )
        for m in (0, 1, 4)
    ]


@loop_model("loop_carried")
def init_is_initializer():
    """An initializer as init, which a second run must find unchanged."""
    return graph("""(int64 M) => (float[3] y, float[3] z) <float[3] w = {1.0, 2.0, 3.0}> {
        y = Loop <body = g (int64 i, bool c, float[3] v) => (bool c, float[3] v1) {
            v1 = Add(v, v)
        }> (M, "", w)
        z = Identity(w)
    }"""), [
        run("zero", {"M": i64(0)}, [f32([1, 2, 3]), f32([1, 2, 3])]),
        run("three", {"M": i64(3)}, [f32([8, 16, 24]), f32([1, 2, 3])]),
        run("one", {"M": i64(1)}, [f32([2, 4, 6]), f32([1, 2, 3])]),
    ]


@loop_model("loop_carried")
def loops_in_a_row():
    """One loop's results begin the next loop."""
    return graph("""(int64 M, float[2] x) => (float[2] z, float[?,2] ys) {
        y, ys = Loop <body = g (int64 i, bool c, float[2] v) => (bool c, float[2] v1, float[2] v1) {
            v1 = Add(v, v)
        }> (M, "", x)
        z = Loop <body = h (int64 i, bool c, float[2] v) => (bool c, float[2] v1) {
            row = Gather(ys, i)
            v1 = Add(v, row)
        }> (M, "", y)
    }"""), [
        run("zero", {"M": i64(0), "x": f32([1, 2])}, [f32([1, 2]), np.zeros((0, 2), np.float32)]),
        run("two", {"M": i64(2), "x": f32([1, 2])}, [f32([10, 20]), f32([[2, 4], [4, 8]])]),
    ]


@loop_model("loop_carried")
def grows_by_concat():
    """v = concat(v, [i]) along axis 0."""
    return graph("""(int64 M, int64[N] x) => (int64[?] y) {
        axes = Constant<value = int64[1] {0}>()
        y = Loop <body = g (int64 i, bool c, int64[?] v) => (bool c, int64[?] v1) {
            e = Unsqueeze(i, axes)
            v1 = Concat<axis = 0>(v, e)
        }> (M, "", x)
    }"""), [
        run("from_empty", {"M": i64(3), "x": i64([])}, [i64([0, 1, 2])]),
        run("zero", {"M": i64(0), "x": i64([7])}, [i64([7])]),
        run("one", {"M": i64(1), "x": i64([7, 8])}, [i64([7, 8, 0])]),
        run("hundred", {"M": i64(100), "x": i64([7])}, [i64([7, *range(100)])]),
    ]


@loop_model("loop_carried")
def grows_at_front():
    """v = concat([i], v): grows at the other end."""
    return graph("""(int64 M, int64[N] x) => (int64[?] y) {
        axes = Constant<value = int64[1] {0}>()
        y = Loop <body = g (int64 i, bool c, int64[?] v) => (bool c, int64[?] v1) {
            e = Unsqueeze(i, axes)
            v1 = Concat<axis = 0>(e, v)
        }> (M, "", x)
    }"""), [
        run("zero", {"M": i64(0), "x": i64([7])}, [i64([7])]),
        run("four", {"M": i64(4), "x": i64([7])}, [i64([3, 2, 1, 0, 7])]),
    ]


@loop_model("loop_carried")
def grows_by_itself():
    """v = concat(v, v): doubles each trip."""
    return graph("""(int64 M, float[N,2] x) => (float[?,2] y) {
        y = Loop <body = g (int64 i, bool c, float[?,2] v) => (bool c, float[?,2] v1) {
            v1 = Concat<axis = 0>(v, v)
        }> (M, "", x)
    }"""), [
        run(f"m{m}", {"M": i64(m), "x": ramp(1, 2)}, [np.tile(ramp(1, 2), (2**m, 1))])
        for m in (0, 1, 5)
    ]


@loop_model("loop_carried")
def kv_cache():
    """Keys and values that grow along axis 1 and are read whole on each trip."""
    return graph("""(int64 M, float[B,L,D] k0, float[B,L,D] v0, float[B,1,D] q) => (float[B,1,D] out, float[B,?,D] k, float[B,?,D] v) {
        out, k, v = Loop <body = g (int64 i, bool c, float[B,1,D] x, float[B,?,D] ks, float[B,?,D] vs)
                 => (bool c, float[B,1,D] y, float[B,?,D] ks1, float[B,?,D] vs1) {
            nk = Tanh(x)
            nv = Sin(x)
            ks1 = Concat<axis = 1>(ks, nk)
            vs1 = Concat<axis = 1>(vs, nv)
            kt = Transpose<perm = [0, 2, 1]>(ks1)
            s = MatMul(x, kt)
            p = Softmax<axis = -1>(s)
            y = MatMul(p, vs1)
        }> (M, "", q, k0, v0)
    }"""), [
        run(
            f"m{m}",
            {
                "M": i64(m),
                "k0": noise(2, 3, 4),
                "v0": noise(2, 3, 4, seed=1),
                "q": noise(2, 1, 4, seed=2),
            },
        )
        for m in (0, 1, 9)
    ] + [
        run(
            "from_empty",
            {"M": i64(4), "k0": noise(2, 0, 4), "v0": noise(2, 0, 4), "q": noise(2, 1, 4)},
        )
    ]


@loop_model("loop_carried", "loop_test")
def shrinks_by_slice():
    """v = v[1:] until it is empty or M trips ran; the sum of what is left counts."""
    return graph("""(int64 M, float[N] x) => (float[?] y, float[?] sums) {
        zero = Constant<value = int64 {0}>()
        one = Constant<value = int64[1] {1}>()
        end = Constant<value = int64[1] {9223372036854775807}>()
        n0 = Size(x)
        start = Less(zero, n0)
        y, sums = Loop <body = g (int64 i, bool c, float[?] v) => (bool c1, float[?] v1, float s) {
            s = ReduceSum<keepdims = 0>(v)
            v1 = Slice(v, one, end)
            n = Size(v1)
            c1 = Less(zero, n)
        }> (M, start, x)
    }"""), [
        run("empty", {"M": i64(5), "x": f32([])}, [f32([]), f32([])]),
        run("two", {"M": i64(2), "x": f32([1, 2, 3])}, [f32([3]), f32([6, 5])]),
        run("all", {"M": i64(9), "x": f32([1, 2, 3])}, [f32([]), f32([6, 5, 3])]),
    ]


@loop_model("loop_carried")
def shape_alternates():
    """A matrix is transposed each trip: [2,3], [3,2], [2,3]..."""
    return graph("""(int64 M, float[R,C] x) => (float[?,?] y) {
        one = Constant<value = float {1.0}>()
        y = Loop <body = g (int64 i, bool c, float[?,?] v) => (bool c, float[?,?] v1) {
            t = Transpose(v)
            v1 = Add(t, one)
        }> (M, "", x)
    }"""), [
        run("zero", {"M": i64(0), "x": ramp(2, 3)}, [ramp(2, 3)]),
        run("one", {"M": i64(1), "x": ramp(2, 3)}, [ramp(2, 3).T + 1]),
        run("four", {"M": i64(4), "x": ramp(2, 3)}, [ramp(2, 3) + 4]),
    ]


@loop_model("loop_carried")
def square_transposed_in_place():
    """A square matrix is transposed each trip: its shape stays, its elements all move."""
    return graph("""(int64 M, float[4,4] x) => (float[4,4] y) {
        y = Loop <body = g (int64 i, bool c, float[4,4] v) => (bool c, float[4,4] v1) {
            t = Transpose(v)
            v1 = Add(t, x)
        }> (M, "", x)
    }"""), [run(f"m{m}", {"M": i64(m), "x": ramp(4, 4)}) for m in (0, 1, 2, 5)]


@loop_model("loop_carried")
def rank_grows():
    """v = unsqueeze(v, 0): the rank changes from trip to trip."""
    return graph("""(int64 M, float[] x) => (float[] y) {
        axes = Constant<value = int64[1] {0}>()
        y = Loop <body = g (int64 i, bool c, float[] v) => (bool c, float[] v1) {
            v1 = Unsqueeze(v, axes)
        }> (M, "", x)
    }"""), [
        run("zero", {"M": i64(0), "x": ramp(2, 2)}, [ramp(2, 2)]),
        run("one", {"M": i64(1), "x": ramp(2, 2)}, [ramp(1, 2, 2)]),
        run("three", {"M": i64(3), "x": f32(5)}, [f32([[[5]]])]),
    ]


@loop_model("loop_carried")
def rank_unknown():
    """The rank is known at run time only; the body's operators do not care."""
    return graph("""(int64 M, float[] x) => (float[] y) {
        half = Constant<value = float {0.5}>()
        y = Loop <body = g (int64 i, bool c, float[] v) => (bool c, float[] v1) {
            a = Mul(v, half)
            v1 = Add(a, x)
        }> (M, "", x)
    }"""), [
        run("scalar", {"M": i64(2), "x": f32(4)}, [f32(7)]),
        run("rank_one", {"M": i64(2), "x": f32([4, 8])}, [f32([7, 14])]),
        run("rank_three", {"M": i64(1), "x": ramp(2, 1, 3)}, [ramp(2, 1, 3) * f32(1.5)]),
        run("empty", {"M": i64(1), "x": f32([])}, [f32([])]),
    ]


@loop_model("loop_carried")
def all_dimensions_dynamic():
    """Every dimension is open and stays the same through the loop."""
    return graph("""(int64 M, float[A,B,C] x) => (float[A,B,C] y, float[?,A,B,C] ys) {
        y, ys = Loop <body = g (int64 i, bool c, float[A,B,C] v) => (bool c, float[A,B,C] v1, float[A,B,C] w) {
            v1 = Sub(x, v)
            w = Neg(v)
        }> (M, "", x)
    }"""), [
        run(
            "one",
            {"M": i64(1), "x": ramp(2, 3, 4)},
            [np.zeros((2, 3, 4), np.float32), -ramp(1, 2, 3, 4)],
        ),
        run("three", {"M": i64(3), "x": ramp(2, 1, 4)}),
        run("no_elements", {"M": i64(3), "x": ramp(2, 0, 4)}, [ramp(2, 0, 4), ramp(3, 2, 0, 4)]),
    ]


def _rank(rank: int):
    dims = ",".join(str(d) for d in (2, 1, 3, 2, 1, 2)[:rank])
    kind = f"float[{dims}]" if rank else "float"
    stacked = f"float[?,{dims}]" if rank else "float[?]"

    def build():
        x = ramp(*(2, 1, 3, 2, 1, 2)[:rank], start=1)
        return graph(f"""(int64 M, {kind} x) => ({kind} y, {stacked} ys) {{
            y, ys = Loop <body = g (int64 i, bool c, {kind} v) => (bool c, {kind} v1, {kind} w) {{
                v1 = Add(v, x)
                w = Neg(v1)
            }}> (M, "", x)
        }}"""), [
            run("zero", {"M": i64(0), "x": x}, [x, np.zeros((0, *x.shape), np.float32)]),
            run("one", {"M": i64(1), "x": x}, [2 * x, -2 * x[None]]),
            run("three", {"M": i64(3), "x": x}, [4 * x, np.stack([-2 * x, -3 * x, -4 * x])]),
        ]

    build.__doc__ = f"Carries and collects a value of rank {rank}."
    return build


for _r in (0, 1, 2, 5, 6):
    loop_model("loop_carried", "loop_collect", "loop_zero", name=f"rank_{_r}")(_rank(_r))


def _dtype(kind: str):
    dtype = np.dtype(DTYPES[kind])
    op = "Xor" if kind == "bool" else "Add"

    def build():
        x = np.array([1, 0, 1] if kind == "bool" else [1, 2, 100], dtype)
        step = np.array([1, 1, 0] if kind == "bool" else [1, 0, 50], dtype)
        model = graph(f"""(int64 M, {kind}[3] x, {kind}[3] step) => ({kind}[3] y, {kind}[?,3] ys, {kind}[?] firsts) {{
            zero = Constant<value = int64 {{0}}>()
            y, ys, firsts = Loop <body = g (int64 i, bool c, {kind}[3] v)
                         => (bool c, {kind}[3] v1, {kind}[3] w, {kind} first) {{
                v1 = {op}(v, step)
                w = Identity(v1)
                first = Gather(v, zero)
            }}> (M, "", x)
        }}""")
        # Integers wrap: 100 + 4 * 50 is 44 in 8 bits.
        states = [x]
        for _ in range(4):
            states.append(
                states[-1] ^ step if kind == "bool" else (states[-1] + step).astype(dtype)
            )
        return model, [
            run(f"m{m}", {"M": i64(m), "x": x, "step": step},
                [states[m], np.stack(states[1 : m + 1]) if m else np.zeros((0, 3), dtype),
                 np.array([s[0] for s in states[:m]], dtype)])
            for m in (0, 1, 4)
        ]  # fmt: skip

    build.__doc__ = f"Carries and collects values of type {kind}."
    return build


for _kind in DTYPES:
    _mark = OrtDiffers("refuses", "ORT has no bfloat16 Add") if _kind == "bfloat16" else ()
    loop_model("loop_carried", "loop_types", "loop_collect", name=f"dtype_{_kind}", ort=_mark)(
        _dtype(_kind)
    )


@loop_model("loop_carried")
def scalars_of_many_types():
    """Five scalars of five types in one loop."""
    return graph("""(int64 M) => (float a, double b, int32 k, bool p, uint8 u) {
        a0 = Constant<value = float {1.0}>()
        b0 = Cast<to = 11>(a0)
        k0 = Cast<to = 6>(a0)
        p0 = Cast<to = 9>(a0)
        u0 = Cast<to = 2>(a0)
        a, b, k, p, u = Loop <body = g (int64 i, bool c, float a1, double b1, int32 k1, bool p1, uint8 u1)
                      => (bool c, float a2, double b2, int32 k2, bool p2, uint8 u2) {
            a2 = Add(a1, a1)
            a3 = Cast<to = 11>(a1)
            b2 = Div(b0, a3)
            k3 = Cast<to = 6>(i)
            k2 = Add(k1, k3)
            p2 = Not(p1)
            u2 = Identity(u0)
        }> (M, "", a0, b0, k0, p0, u0)
    }"""), [
        run("zero", {"M": i64(0)}, [f32(1), f64(1), i32(1), b8(True), np.array(1, np.uint8)]),
        run("three", {"M": i64(3)}, [f32(8), f64(0.25), i32(4), b8(False), np.array(1, np.uint8)]),
    ]


@loop_model("loop_carried")
def update_a_row_in_place():
    """ScatterND writes row i of a carried matrix; the rest stays."""
    return graph("""(int64 M, float[5,3] x) => (float[5,3] y) {
        shape = Constant<value = int64[2] {1, 1}>()
        row_shape = Constant<value = int64[2] {1, 3}>()
        y = Loop <body = g (int64 i, bool c, float[5,3] v) => (bool c, float[5,3] v1) {
            at = Reshape(i, shape)
            f = Cast<to = 1>(i)
            row = Expand(f, row_shape)
            v1 = ScatterND(v, at, row)
        }> (M, "", x)
    }"""), [
        run("zero", {"M": i64(0), "x": ramp(5, 3) + 10}, [ramp(5, 3) + 10]),
        run("three", {"M": i64(3), "x": ramp(5, 3) + 10}),
        run("five", {"M": i64(5), "x": ramp(5, 3) + 10}, [np.repeat(ramp(5, 1), 3, 1)]),
        run("beyond", {"M": i64(6), "x": ramp(5, 3)}, error=r"(?i)ind(ex|ices)|range|bound"),
    ]


@loop_model("loop_carried", "loop_parallel_assign")
def read_after_write_hazard():
    """The new value is a reversed read of the old one, and the old one is read again after."""
    return graph("""(int64 M, float[6] x) => (float[6] y, float[6] z) {
        last = Constant<value = int64[1] {-1}>()
        stop = Constant<value = int64[1] {-7}>()
        axes = Constant<value = int64[1] {0}>()
        back = Constant<value = int64[1] {-1}>()
        y, z = Loop <body = g (int64 i, bool c, float[6] v, float[6] w) => (bool c, float[6] v1, float[6] w1) {
            r = Slice(v, last, stop, axes, back)
            v1 = Add(r, x)
            w1 = Add(w, v)
        }> (M, "", x, x)
    }"""), [run(f"m{m}", {"M": i64(m), "x": ramp(6)}) for m in (0, 1, 2, 3)]
