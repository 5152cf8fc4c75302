# ===- mixtures.py - What is rarely met together -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Types, lists, scopes and forms of loops that are rarely met together."""

import ml_dtypes
import numpy as np

from loop_models.registry import (
    DTYPES,
    OrtDiffers,
    b8,
    f32,
    f64,
    function,
    graph,
    i64,
    loop_model,
    noise,
    run,
)

#: Elements of loops that onnxruntime does not have, or not from NumPy.
_NOT_IN_ORT = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "int4": ml_dtypes.int4,
    "uint4": ml_dtypes.uint4,
    "float4e2m1": ml_dtypes.float4_e2m1fn,
    "complex64": np.complex64,
    "complex128": np.complex128,
}
_TEXTS = np.array(["a", "", "ccc", "ü", "e" * 40, "f", "g", "hh", "i"], object)


def _any_type(kind, values):
    """A model whose states, collected values, branches and captures are of one type."""
    # Of small floats and integers there are no rows to gather, and nothing is concatenated.
    is_small = kind.startswith(("float8", "float4", "int4", "uint4"))
    row = "Identity(z)" if is_small else "Gather(p, zero)"
    longer = "Identity(rs)" if is_small else "Concat<axis = 0>(rs, r)"
    ort = ()
    if kind in _NOT_IN_ORT:
        ort = OrtDiffers("refuses", "no loop of such elements")
    if kind == "string":
        ort = OrtDiffers("values", "strings that a branch yields as they are get lost", ("m4",))

    @loop_model("loop_collect", "loop_types", name=f"any_type_{kind}", ort=ort)
    def build():
        """Collected, carried, branched and captured in one type."""
        text = """(int64 M, T[A,B] x, T[B] z) => (T[A,B] y, T[?,A,B] ys, T[?,B] zs, T[?] w) {
            two = Constant<value_int = 2>()
            zero = Constant<value_int = 0>()
            y, w, ys, zs = Loop<body = g (int64 i, bool c, T[A,B] p, T[n] rs)
                    => (bool c, T[A,B] q, T[k] rs1, T[A,B] o, T[B] r) {
                m = Mod(i, two)
                odd = Cast<to = 9>(m)
                q, r = If(odd)<then_branch = t () => (T[A,B] a, T[B] b) {
                    a = Identity(x)
                    b = ROW
                }, else_branch = e () => (T[A,B] a2, T[B] b2) {
                    turned = Transpose(p)
                    a2 = Transpose(turned)
                    b2 = Identity(z)
                }>
                o = Identity(p)
                rs1 = LONGER
            }>(M, "", x, z)
        }"""
        text = text.replace("T[", f"{kind}[").replace("ROW", row).replace("LONGER", longer)
        x, z = values[:6].reshape(2, 3), values[6:]
        return graph(text, opset=23), [
            run(f"m{m}", {"M": i64(m), "x": x, "z": z}) for m in (0, 1, 4)
        ]


def _any_scan(kind, values):
    """Scans of one type: along inner axes, backwards, and in a batch with lengths."""
    ort = OrtDiffers("refuses", "no Scan of such elements") if kind in _NOT_IN_ORT else ()

    @loop_model("scan_axes", "loop_types", name=f"any_scan_{kind}", ort=ort)
    def build():
        """Rows of an inner axis, last first, are collected along another one."""
        text = """(T[A,N,B] x, T[A,B] s) => (T[A,B] t, T[A,B,N] y, T[N,A,B] z) {
            t, y, z = Scan<num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1],
                    scan_output_axes = [-1, 0], scan_output_directions = [0, 1],
                    body = g (T[A,B] u, T[A,B] e) => (T[A,B] v, T[A,B] o, T[A,B] p) {
                v = Identity(e)
                o = Identity(e)
                p = Identity(u)
            }>(s, x)
        }"""
        x, state = np.resize(values, (2, 3, 4)), np.resize(values[::-1], (2, 4))
        return graph(text.replace("T[", f"{kind}["), opset=23), [
            run("three", {"x": x, "s": state}),
            run("one", {"x": x[:, :1], "s": state}),
        ]


def _batched_scan(kind, values, zero):
    """What a length leaves over is zero, or an empty string."""
    ort = OrtDiffers("refuses", "no Scan of such elements") if kind in _NOT_IN_ORT else ()

    @loop_model("scan8_lengths", name=f"batched_scan_{kind}", ort=ort)
    def build():
        """Scan-8 of one type with lengths."""
        text = """(int64[B] n, T[B,N] s, T[B,L,N] x) => (T[B,N] t, T[B,L,N] y) {
            t, y = Scan<num_scan_inputs = 1, body = g (T[N] u, T[N] e) => (T[N] v, T[N] o) {
                v = Identity(e)
                o = Identity(u)
            }>(n, s, x)
        }"""
        x, state = np.resize(values, (2, 3, 2)), np.resize(values[::-1], (2, 2))
        rows = np.stack([state, x[:, 0], x[:, 1]], 1)
        rows[0, 1:] = zero
        last = np.stack([x[0, 0], x[1, 2]])
        return graph(text.replace("T[", f"{kind}["), opset=8), [
            run("lengths", {"n": i64([1, 3]), "s": state, "x": x}, [last, rows])
        ]


for _kind in ("float16", "bool", "int8", "uint64"):
    _any_type(_kind, np.arange(9).astype(DTYPES[_kind]))
    _any_scan(_kind, np.arange(9).astype(DTYPES[_kind]))
for _kind, _dtype in _NOT_IN_ORT.items():
    _any_type(_kind, np.arange(9).astype(_dtype))
    _any_scan(_kind, np.arange(9).astype(_dtype))
_any_type("string", _TEXTS)
_any_scan("string", _TEXTS)
_batched_scan("string", _TEXTS, "")
_batched_scan("bool", np.ones(5, np.bool_), False)
_batched_scan("complex64", (np.arange(5) - 1j).astype(np.complex64), 0)


@loop_model("seq_value", "seq_index")
def list_surgery():
    """Insert and erase at positions that data tells, some negative."""
    return graph("""(int64[T] ins, int64[T] era, float[N] x) => (seq(float[?]) s, int64[?] lens, float[?] firsts) {
        s0 = SequenceConstruct(x, x)
        M = Size(ins)
        s, lens, firsts = Loop<body = g (int64 i, bool c, seq(float[?]) a) => (bool c, seq(float[?]) b, int64 n, float f) {
            p = Gather(ins, i)
            q = Gather(era, i)
            last = Constant<value_int = -1>()
            at = SequenceAt(a, last)
            one = Constant<value_float = 1.0>()
            nx = Add(at, one)
            gr = Concat<axis = 0>(nx, x)
            a1 = SequenceInsert(a, gr, p)
            a2 = SequenceInsert(a1, nx, p)
            b = SequenceErase(a2, q)
            n = SequenceLength(b)
            z = Constant<value_int = 0>()
            first = SequenceAt(b, z)
            f = Gather(first, z)
        }>(M, "", s0)
    }"""), [
        run("none", {"ins": i64([]), "era": i64([]), "x": f32([1, 2])}),
        run("some", {"ins": i64([0, 2, -1, -3]), "era": i64([-1, 0, 2, -2]), "x": f32([1, 2])}),
        run("bad", {"ins": i64([0, 9]), "era": i64([0, 0]), "x": f32([1])}, error="range|position"),
    ]


@loop_model("seq_value")
def lists_in_branches():
    """Lists of different ranks through If in Loop in If, element types double."""
    return graph("""(bool p, int64 M, double[N] x) => (seq(double[]) s, double[] last, int64 r) {
        s = If (p)<then_branch = t () => (seq(double[]) a) {
            e = SequenceConstruct(x)
            a, v = Loop<body = g (int64 i, bool c, seq(double[]) q, double[] w) => (bool c, seq(double[]) q1, double[] w1) {
                z = Constant<value_ints = [0]>()
                w1 = Unsqueeze(w, z)
                two = Constant<value_int = 2>()
                m = Mod(i, two)
                odd = Cast<to = 9>(m)
                q1 = If(odd)<then_branch = o () => (seq(double[]) k) { k = SequenceInsert(q, w1) }, else_branch = ev () => (seq(double[]) l) {
                    zz = Constant<value_int = 0>()
                    l = SequenceInsert(q, w, zz) }>
            }>(M, "", e, x)
        }, else_branch = f () => (seq(double[]) b) {
            y = Neg(x)
            b = SequenceConstruct(y, x, y)
        }>
        minus = Constant<value_int = -1>()
        last = SequenceAt(s, minus)
        sh = Shape(last)
        r = Size(sh)
    }"""), [
        run(f"m{m}p{p}", {"p": b8(p), "M": i64(m), "x": f64([1, 2])})
        for m in (0, 1, 4)
        for p in (0, 1)
    ]


@loop_model("seq_value")
def map_in_a_loop():
    """SequenceMap whose body reads the loop's state and captures from the model."""
    return graph(
        """(int64 M, float[N] x, float k) => (seq(float[?]) s, float[N] v) {
        one = Constant<value_float = 1.0>()
        y = Add(x, one)
        yy = Concat<axis = 0>(x, y)
        s0 = SequenceConstruct(x, yy)
        s, v = Loop<body = g (int64 i, bool c, seq(float[?]) a, float[N] w) => (bool c, seq(float[?]) b, float[N] w1) {
            w1 = Mul(w, k)
            sm = ReduceSum<keepdims = 0>(w)
            b, n = SequenceMap<body = m (float[?] e, float u) => (float[?] r, int64 sz) {
                r0 = Add(e, u)
                r1 = Mul(r0, k)
                r = Sub(r1, one)
                sz = Size(e)
            }>(a, sm)
        }>(M, "", s0, x)
    }""",
        opset=21,
    ), [run(f"m{m}", {"M": i64(m), "x": f32([1, 2]), "k": f32(0.5)}) for m in (0, 1, 3)]


@loop_model("loop_carried")
def strings_grow():
    """A state of strings joined with a table's row; split again afterwards; counted."""
    return graph("""(int64 M, string[N] table, string sep) => (string[1] s, string[1,?] parts, int64 n, string[?,1] all) {
        e = Constant<value_strings = [""]>()
        s, all = Loop<body = g (int64 i, bool c, string[1] a) => (bool c, string[1] b, string[1] o) {
            k = Size(table)
            j = Mod(i, k)
            t = Gather(table, j)
            u = StringConcat(a, t)
            b = StringConcat(u, sep)
            o = Identity(a)
        }>(M, "", e)
        parts, n0 = StringSplit<delimiter = ",">(s)
        n = Squeeze(n0)
    }"""), [
        run(
            f"m{m}",
            {
                "M": i64(m),
                "table": np.array(["ab", "", "ü", "x,y"], object),
                "sep": np.array(",", object),
            },
        )
        for m in (1, 5)
    ]


@loop_model("loop_m", "loop_test")
def both_ends_at_once():
    """Every form of a Loop one in another, M and cond as data, states that nobody reads."""
    return graph("""(int64 M, bool c0, int64 K) => (int64 n, int64 k, int64[?] seen, int64[?,?] grid) {
        zero = Constant<value_int = 0>()
        five = Constant<value_int = 5>()
        true = Constant<value = bool {1}>()
        n, k, seen = Loop<body = g (int64 i, bool c, int64 a, int64 b) => (bool c1, int64 a1, int64 b2, int64 o) {
            one = Constant<value_int = 1>()
            a1 = Add(a, one)
            b2 = Loop<body = h (int64 j, bool d, int64 x) => (bool d1, int64 x1) {
                x1 = Add(x, j)
                d1 = Less(x1, five)
            }>("", c, b)
            c1 = Less(b2, K)
            o = Add(b, i)
        }>(M, c0, zero, zero)
        grid = Loop<body = q (int64 i2, bool cc) => (bool cc, int64[?] row) {
            row = Loop<body = w (int64 i3, bool ccc) => (bool ccc, int64 pr) {
                pr = Mul(i2, i3)
            }>(k, "")
        }>(n, "")
    }"""), [
        run(f"m{m}c{c}k{k}", {"M": i64(m), "c0": b8(c), "K": i64(k)})
        for m in (0, 1, 6)
        for c in (0, 1)
        for k in (0, 4, 30)
    ]


@loop_model("loop_carried")
def two_axes_grow():
    """An identity matrix grows by a row and a column; another state shrinks to nothing."""
    return graph("""(int64 M, float[A,B] x) => (float[?,?] m, float[?,?] s, int64[?,2] shapes) {
        m0 = Constant<value = float[1,1] {2.0}>()
        m, s, shapes = Loop<body = g (int64 i, bool c, float[p,p] a, float[q,r] b) => (bool c, float[n,n] a1, float[k,l] b1, int64[2] sh) {
            pads = Constant<value_ints = [0, 0, 1, 1]>()
            f = Cast<to = 1>(i)
            a1 = Pad(a, pads, f)
            one = Constant<value_ints = [1]>()
            big = Constant<value_ints = [1000]>()
            two = Constant<value_int = 2>()
            md = Mod(i, two)
            ax = Constant<value_ints = [-1]>()
            axi = Reshape(md, ax)
            b1 = Slice(b, one, big, axi)
            sh = Shape(b1)
        }>(M, "", m0, x)
    }"""), [run(f"m{m}", {"M": i64(m), "x": noise(3, 4)}) for m in (0, 1, 2, 5, 9)]


@loop_model("loop_carried")
def unique_and_compress():
    """The state is what Unique leaves of it, then Compress: data tells extents."""
    return graph("""(int64[N] x, int64 M) => (int64[?] y, int64[?] sizes) {
        y, sizes = Loop<body = g (int64 i, bool c, int64[k] a) => (bool c, int64[n] b, int64 s) {
            u, f, inv, cnt = Unique<sorted = 1>(a)
            t = Add(u, cnt)
            three = Constant<value_int = 3>()
            m = Mod(t, three)
            keep = Cast<to = 9>(m)
            b = Compress<axis = 0>(t, keep)
            s = Size(b)
        }>(M, "", x)
    }"""), [
        run(
            f"m{m}n{n}",
            {"x": np.random.default_rng(n).integers(0, 6, n).astype(np.int64), "M": i64(m)},
        )
        for m in (0, 1, 3)
        for n in (0, 1, 9)
    ]


@loop_model("loop_capture", "name_scope")
def captures_five_deep():
    """If in Scan in Loop in If in Loop; each reads all around it; the innermost writes nothing it captured."""
    return graph(
        """(int64 M, float[2,3] x, bool p) => (float[2,3] y, float[?,2] cols) {
        k = Constant<value_float = 0.5>()
        y, cols = Loop<body = a (int64 i, bool c, float[2,3] s) => (bool c, float[2,3] s1, float[2] col) {
            fi = Cast<to = 1>(i)
            s1 = If(p)<then_branch = b () => (float[2,3] t) {
                two = Constant<value_int = 2>()
                t = Loop<body = d (int64 j, bool e, float[2,3] u) => (bool e, float[2,3] u2) {
                    fj = Cast<to = 1>(j)
                    z = Constant<value_floats = [0.0, 0.0]>()
                    st, u1 = Scan<num_scan_inputs = 2, scan_input_axes = [1, 1], scan_output_axes = [-1], scan_input_directions = [1, 0], body = q (float[2] h, float[2] v, float[2] w) => (float[2] h1, float[2] o) {
                        sm = ReduceSum<keepdims = 0>(v)
                        big = Greater(sm, fi)
                        o = If(big)<then_branch = m () => (float[2] r) {
                            r1 = Add(v, fj)
                            r2 = Mul(r1, k)
                            r = Add(r2, h)
                        }, else_branch = n () => (float[2] r3) {
                            sub = Sub(w, fi)
                            r3 = Mul(sub, k)
                        }>
                        h1 = Identity(v)
                    }>(z, u, s)
                    u2 = Tanh(u1)
                }>(two, "", s)
            }, else_branch = f () => (float[2,3] t2) { t2 = Mul(s, k) }>
            zz = Constant<value_int = 0>()
            col = Gather<axis = 1>(s, zz)
        }>(M, "", x)
    }""",
        opset=21,
    ), [
        run(f"m{m}p{p}", {"M": i64(m), "x": noise(2, 3), "p": b8(p)})
        for m in (0, 1, 3)
        for p in (0, 1)
    ]


@loop_model("scan_axes")
def scan_of_rank_five():
    """Inner axes, negative, both directions; two outputs of one value along different axes."""
    return graph("""(float[2,3,1,4,2] x, float[4,3] z) => (float[3,2] s, float[2,3,4,1,2] a, float[2,4,3,1,2] b, float[3,4] w) {
        s0 = Constant<value = float[3,2] {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}>()
        s, a, b, w = Scan<num_scan_inputs = 2, scan_input_axes = [-2, 0], scan_input_directions = [1, 0], scan_output_axes = [2, -4, -1], scan_output_directions = [0, 1, 1],
                body = g (float[3,2] h, float[2,3,1,2] v, float[3] r) => (float[3,2] h1, float[2,3,1,2] o, float[2,3,1,2] o2, float[3] q) {
            ax = Constant<value_ints = [0, 2]>()
            m = ReduceSum<keepdims = 0>(v, ax)
            h1 = Add(h, m)
            one = Constant<value_ints = [1]>()
            h2 = Unsqueeze(h1, one)
            o = Mul(v, h2)
            o2 = Identity(o)
            rs = ReduceSum<keepdims = 0>(h1, one)
            q = Add(r, rs)
        }>(s0, x, z)
    }"""), [run("one", {"x": noise(2, 3, 1, 4, 2), "z": noise(4, 3)})]


@loop_model("loop_order")
def random_numbers_with_seeds():
    """Random nodes in loops: only what does not depend on their values comes out."""
    return graph("""(int64 M, float[N] x) => (bool[?] inside, float[?,N] zero, int64 shape) {
        s, inside, zero = Loop<body = g (int64 i, bool c, float[N] a) => (bool c, float[N] b, bool o, float[N] d) {
            r = RandomUniformLike<low = 2.0, high = 3.0, seed = 1.0>(a)
            b0 = Add(a, r)
            b = Sub(b0, r)
            lo = ReduceMin<keepdims = 0>(r)
            two = Constant<value_float = 2.0>()
            o0 = Less(lo, two)
            o = Not(o0)
            d = Sub(r, r)
        }>(M, "", x)
        shape = Size(s)
    }"""), [run(f"m{m}", {"M": i64(m), "x": f32([1, 2])}) for m in (0, 1, 4)]


@loop_model("if_types")
def attributes_into_bodies():
    """A function whose attributes reach into a Loop in an If of its body; called twice with others."""
    return graph(
        """(float[N] x, int64 M, bool p) => (float[N] y, float[N] z) {
        y = local.step<alpha = 0.5, ax = [0], name = "edge">(x, M, p)
        z = local.step<alpha = 2.0, ax = [0], name = "constant">(x, M, p)
    }""",
        functions=function("""step <alpha: float = 1.0, ax: ints, name: string = "constant"> (v, n, flag) => (w) {
        a = Constant<value_float: float = @alpha>()
        w = If(flag)<then_branch = t () => (r) {
            r = Loop<body = g (int64 i, bool c, u) => (bool c, u2) {
                axes = Constant<value_ints: ints = @ax>()
                m = ReduceMean<keepdims = 1>(u, axes)
                u0 = Mul(u, a)
                pads = Constant<value_ints = [1, 0]>()
                u1 = Pad<mode: string = @name>(u0, pads)
                st = Constant<value_ints = [1]>()
                en = Constant<value_ints = [99]>()
                u3 = Slice(u1, st, en)
                u2 = Add(u3, m)
            }>(n, "", v)
        }, else_branch = e () => (q) {
            b = Constant<value_float: float = @alpha>()
            q = Sub(v, b)
        }>
    }"""),
    ), [
        run(f"m{m}p{p}", {"x": f32([1, 2, 4]), "M": i64(m), "p": b8(p)})
        for m in (0, 3)
        for p in (0, 1)
    ]


@loop_model("loop_collect")
def rows_of_nothing():
    """Extents of zero everywhere: states, rows, products over nothing."""
    return graph("""(int64 M, float[N,K] x, float[K,N] w) => (float[N,N] y, float[?,K] rows, float[?,N,K] xs) {
        n = Shape<start = 0, end = 1>(x)
        s = Concat<axis = 0>(n, n)
        y0 = ConstantOfShape<value = float[1] {1.0}>(s)
        y, rows, xs = Loop<body = g (int64 i, bool c, float[N,N] a) => (bool c, float[N,N] b, float[K] r, float[N,K] o) {
            p = MatMul(x, w)
            b = Add(a, p)
            ax = Constant<value_ints = [0]>()
            r = ReduceSum<keepdims = 0>(x, ax)
            q = MatMul(b, x)
            o = Softmax<axis = 0>(q)
        }>(M, "", y0)
    }"""), [
        run(f"m{m}n{n}k{k}", {"M": i64(m), "x": noise(n, k), "w": noise(k, n)})
        for m in (0, 2)
        for n, k in ((0, 3), (3, 0), (0, 0), (1, 1))
    ]


@loop_model("loop_carried")
def optional_through_scopes():
    """An optional sequence is state; a branch empties it, another appends."""
    return graph(
        """(int64 M, float[N] x) => (bool has, int64 n) {
        s0 = SequenceEmpty<dtype = 1>()
        o0 = Optional(s0)
        o = Loop<body = g (int64 i, bool c, optional(seq(float[N])) a) => (bool c, optional(seq(float[N])) b) {
            three = Constant<value_int = 3>()
            m = Mod(i, three)
            two = Constant<value_int = 2>()
            e = Equal(m, two)
            b = If(e)<then_branch = t () => (optional(seq(float[N])) q) {
                q = Optional<type = seq(float[N])>()
            }, else_branch = f () => (optional(seq(float[N])) r) {
                h = OptionalHasElement(a)
                r = If(h)<then_branch = u () => (optional(seq(float[N])) w) {
                    g1 = OptionalGetElement(a)
                    g2 = SequenceInsert(g1, x)
                    w = Optional(g2)
                }, else_branch = v () => (optional(seq(float[N])) w2) {
                    g3 = SequenceConstruct(x, x)
                    w2 = Optional(g3)
                }>
            }>
        }>(M, "", o0)
        has = OptionalHasElement(o)
        n = If(has)<then_branch = t2 () => (int64 k) {
            g4 = OptionalGetElement(o)
            k = SequenceLength(g4)
        }, else_branch = f2 () => (int64 k2) { k2 = Constant<value_int = -1>() }>
    }""",
        opset=18,
    ), [run(f"m{m}", {"M": i64(m), "x": f32([1, 2])}) for m in range(7)]
