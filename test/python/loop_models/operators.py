# ===- operators.py - Families of operators in a body -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Each family of operators in a loop's body, applied to row i and collected.

Whether an operator is right on all its inputs is the conformance suite's
matter; here it meets loops: slices as operands, dynamic shapes, captures.
"""

import numpy as np

from loop_models.registry import f32, graph, i32, i64, loop_model, noise, ramp, run


def _rows(name: str, doc: str, row: str, x: np.ndarray, nodes: list[str], outputs: list[str], captures: str = "",
          feeds: dict | None = None, constants: str = "", rtol: float = 1e-5) -> None:  # fmt: skip
    """Registers a loop over the rows of x: r is row i of type `row`; `outputs` are collected."""
    kind, _, dims = row.partition("[")

    def build():
        inside = ", ".join(outputs)
        outer = ", ".join(o.split()[0].split("[")[0] + "[] " + o.split()[1] + "s" for o in outputs)
        text = f"""({kind}[T,{dims} x{captures}) => ({outer}) {{
            {constants}
            M = Shape<start = 0, end = 1>(x)
            {", ".join(o.split()[1] + "s" for o in outputs)} = Loop <body = b (int64 i, bool c) => (bool c, {inside}) {{
                r = Gather(x, i)
                {chr(10).join(nodes)}
            }}> (M, "")
        }}"""
        return graph(text), [
            run("one", {"x": x[:1], **(feeds or {})}),
            run("all", {"x": x, **(feeds or {})}),
        ]

    build.__doc__ = doc
    loop_model("loop_collect", name=name, rtol=rtol)(build)


def _unary(
    name: str, doc: str, ops: list[str], x: np.ndarray, kind: str = "float", result: str = ""
) -> None:
    """One collected value per operator, each applied to row i."""
    nodes = [f"y{k} = {op}(r)" if "(" not in op else f"y{k} = {op}" for k, op in enumerate(ops)]
    outputs = [f"{result or kind}[?] y{k}" for k in range(len(ops))]
    _rows(name, doc, f"{kind}[A]", x, nodes, outputs)


_WIDE = f32(
    [[-3, -1.5, -0.5, 0, 0.25], [0.5, 0.9, 1, 2.5, 30], [-30, np.inf, -np.inf, np.nan, 1e-8]]
)
_UNIT = f32([[-0.99, -0.5, 0, 0.5, 0.99], [1, -1, 0.1, -0.1, 1e-6]])
_POSITIVE = f32([[1, 1.5, 2, 10, 1e4], [1.0001, 3, 7, 1e-3, 1e8]])

_unary("unary_rounding", "Rounding, signs, absolute values.",
       ["Abs", "Neg", "Ceil", "Floor", "Round", "Sign", "Identity", "Relu"], _WIDE)  # fmt: skip
_unary("unary_exponential", "Functions that are defined everywhere.",
       ["Exp", "Tanh", "Sigmoid", "Erf", "Atan", "Asinh"], _WIDE)  # fmt: skip
_unary("unary_activation", "Activations with their default attributes.",
       ["LeakyRelu", "Elu", "Selu", "HardSigmoid", "Softsign", "Softplus", "ThresholdedRelu", "HardSwish", "Mish", "Celu"],
       f32([[-3, -1.5, -0.5, 0, 0.25], [0.5, 0.9, 1, 2.5, 10]]))  # fmt: skip
_unary("unary_trigonometry", "Sines and their inverses.",
       ["Sin", "Cos", "Tan", "Sinh", "Cosh", "Asin", "Acos"], _UNIT)  # fmt: skip
_unary(
    "unary_positive",
    "Functions of positive numbers.",
    ["Sqrt", "Log", "Reciprocal", "Acosh"],
    _POSITIVE,
)
_unary(
    "unary_classify",
    "NaN and infinity.",
    ["IsNaN", "IsInf", "IsInf<detect_negative = 0>(r)"],
    _WIDE,
    result="bool",
)
_unary(
    "unary_integer",
    "Signed integers.",
    ["Abs", "Neg", "Sign"],
    i32([[-5, 0, 7], [2, -1, 1]]),
    "int32",
)
_unary(
    "unary_bitwise",
    "Bits of unsigned bytes.",
    ["BitwiseNot"],
    np.array([[0, 1, 255], [128, 7, 9]], np.uint8),
    "uint8",
)

_rows("binary_float", "Arithmetic with a captured vector and the iteration number.", "float[4]", noise(3, 4),
      ["f = Cast<to = 1>(i)", "a = Add(r, w)", "s = Sub(a, f)", "m = Mul(s, w)", "d = Div(m, w)",
       "p = Pow(w, two)", "lo = Min(r, w, p)", "hi = Max(r, w, p)", "mean = Mean(r, w)", "total = Sum(r, w, p)"],
      ["float[4] d", "float[4] p", "float[4] lo", "float[4] hi", "float[4] mean", "float[4] total"],
      ", float[4] w", {"w": noise(4, seed=1)}, "two = Constant<value = float {2.0}>()")  # fmt: skip
_rows("binary_compare", "Comparisons and logic.", "int64[4]", i64([[1, 5, 3, 0], [9, 2, 2, 2]]),
      ["lt = Less(r, w)", "le = LessOrEqual(r, w)", "gt = Greater(r, w)", "ge = GreaterOrEqual(r, w)", "eq = Equal(r, w)",
       "n = Not(eq)", "an = And(lt, n)", "o = Or(gt, eq)", "x1 = Xor(le, ge)"],
      ["bool[4] lt", "bool[4] le", "bool[4] gt", "bool[4] ge", "bool[4] an", "bool[4] o", "bool[4] x1"],
      ", int64[4] w", {"w": i64([2, 2, 3, 0])})  # fmt: skip
_rows("binary_bits", "Bitwise operators and shifts of uint32.", "uint32[4]", np.array([[1, 5, 3, 0], [9, 2, 255, 2**31]], np.uint32),
      ["a = BitwiseAnd(r, w)", "o = BitwiseOr(r, w)", "e = BitwiseXor(r, w)",
       'left = BitShift<direction = "LEFT">(r, w)', 'right = BitShift<direction = "RIGHT">(r, w)'],
      ["uint32[4] a", "uint32[4] o", "uint32[4] e", "uint32[4] left", "uint32[4] right"],
      ", uint32[4] w", {"w": np.array([2, 1, 3, 0], np.uint32)})  # fmt: skip
_rows("clip_where", "Clip by captured bounds; Where by parity of the iteration number.", "float[4]", noise(4, 4),
      ["k = Clip(r, lo, hi)", "m = Mod(i, two)", "odd = Cast<to = 9>(m)", "y = Where(odd, k, r)"],
      ["float[4] k", "float[4] y"], ", float lo, float hi", {"lo": f32(-0.5), "hi": f32(0.5)},
      "two = Constant<value = int64 {2}>()")  # fmt: skip
_rows("casts", "Casts between the numeric types.", "float[4]", f32([[0, 1.5, 2.5, -3.7], [100.2, 0.3, -1, 7]]),
      ["a = Cast<to = 7>(r)", "b = Cast<to = 6>(r)", "d = Cast<to = 11>(r)", "h = Cast<to = 10>(r)", "p = Cast<to = 9>(r)",
       "back = Cast<to = 1>(h)", "e = Cast<to = 3>(a)"],
      ["int64[4] a", "int32[4] b", "double[4] d", "float16[4] h", "bool[4] p", "float[4] back", "int8[4] e"])  # fmt: skip
_rows("reductions", "Every reduction over one axis, over all, with and without the axis kept.", "float[3,4]", noise(2, 3, 4),
      ["s = ReduceSum(r, last)", "m = ReduceMean<keepdims = 0>(r, first)", "h = ReduceMax<keepdims = 0>(r, last)",
       "l = ReduceMin<keepdims = 0>(r)", "p = ReduceProd<keepdims = 0>(r, first)", "n1 = ReduceL1(r, last)",
       "n2 = ReduceL2<keepdims = 0>(r, last)", "q = ReduceSumSquare<keepdims = 0>(r, first)",
       "e = ReduceLogSumExp<keepdims = 0>(r, last)", "am = ArgMax<axis = 1, keepdims = 0>(r)", "an = ArgMin<axis = 0>(r)"],
      ["float[3,1] s", "float[4] m", "float[3] h", "float l", "float[4] p", "float[3,1] n1", "float[3] n2", "float[4] q",
       "float[3] e", "int64[3] am", "int64[1,4] an"], "", {},
      "last = Constant<value = int64[1] {-1}>()\nfirst = Constant<value = int64[1] {0}>()", 1e-4)  # fmt: skip
_rows("softmaxes", "Softmax, LogSoftmax, Hardmax, CumSum.", "float[3,4]", noise(2, 3, 4),
      ["s = Softmax(r)", "t = Softmax<axis = 0>(r)", "l = LogSoftmax<axis = 1>(r)", "h = Hardmax(r)",
       "k = CumSum(r, axis)", "e = CumSum<exclusive = 1, reverse = 1>(r, axis)"],
      ["float[3,4] s", "float[3,4] t", "float[3,4] l", "float[3,4] h", "float[3,4] k", "float[3,4] e"], "", {},
      "axis = Constant<value = int64 {1}>()", 1e-4)  # fmt: skip
_rows("products", "MatMul, Gemm, Einsum with captured weights.", "float[3,4]", noise(2, 3, 4),
      ["m = MatMul(r, w)", "g = Gemm<alpha = 0.5, beta = 2.0, transA = 1>(r, u, bias)",
       'e = Einsum<equation = "ij,jk->ki">(r, w)', 'd = Einsum<equation = "ij,ij->i">(r, r)', "v = MatMul(r, vec)"],
      ["float[3,5] m", "float[4,2] g", "float[5,3] e", "float[3] d", "float[3] v"],
      ", float[4,5] w, float[3,2] u, float[2] bias, float[4] vec",
      {"w": noise(4, 5, seed=1), "u": noise(3, 2, seed=2), "bias": noise(2, seed=3), "vec": noise(4, seed=4)}, "", 1e-4)  # fmt: skip
_rows("shapes", "Reshape, Squeeze, Unsqueeze, Flatten, Transpose, Expand, Tile, Concat, Split.", "float[2,6]", ramp(3, 2, 6),
      ["a = Reshape(r, s34)", "b = Unsqueeze(r, one)", "d = Squeeze(b, one)", "f = Flatten<axis = 0>(r)", "t = Transpose(r)",
       "e = Expand(b, s232)", "k = Tile(r, s21)", "g = Concat<axis = 1>(r, r)", "h, l = Split<axis = 1>(r, s24)"],
      ["float[3,4] a", "float[2,6] d", "float[1,12] f", "float[6,2] t", "float[2,3,6] e", "float[4,6] k", "float[2,12] g",
       "float[2,2] h", "float[2,4] l"], "", {},
      """s34 = Constant<value = int64[2] {3, 4}>()
      one = Constant<value = int64[1] {1}>()
      s232 = Constant<value = int64[3] {2, 3, 6}>()
      s21 = Constant<value = int64[2] {2, 1}>()
      s24 = Constant<value = int64[2] {2, 4}>()""")  # fmt: skip
_rows("slices_and_pads", "Slice with steps, negative steps and clamped ends; Pad; Trilu.", "float[3,5]", ramp(2, 3, 5),
      ["a = Slice(r, one, big, one, two)", "b = Slice(r, minus, low, one, minus)", "p = Pad(r, pads, seven)",
       'e = Pad<mode = "edge">(r, pads)', 'f = Pad<mode = "reflect">(r, pads)', "u = Trilu(r)", "l = Trilu<upper = 0>(r)"],
      ["float[3,2] a", "float[3,5] b", "float[4,7] p", "float[4,7] e", "float[4,7] f", "float[3,5] u", "float[3,5] l"], "", {},
      """one = Constant<value = int64[1] {1}>()
      two = Constant<value = int64[1] {2}>()
      minus = Constant<value = int64[1] {-1}>()
      low = Constant<value = int64[1] {-9223372036854775807}>()
      big = Constant<value = int64[1] {9223372036854775807}>()
      pads = Constant<value = int64[4] {1, 0, 0, 2}>()
      seven = Constant<value = float {7.0}>()""")  # fmt: skip
_rows("gathers_and_scatters", "Gather, GatherElements, GatherND, ScatterElements, ScatterND with negative indices.", "float[3,4]",
      noise(2, 3, 4),
      ["a = Gather<axis = 1>(r, at)", "b = GatherElements<axis = 1>(r, pick)", "d = GatherND(r, pairs)",
       "e = ScatterElements<axis = 1>(r, pick, upd)", 'f = ScatterElements<axis = 1, reduction = "add">(r, pick, upd)',
       "g = ScatterND(r, pairs, vals)", 'h = ScatterND<reduction = "max">(r, pairs, vals)'],
      ["float[3,2] a", "float[3,2] b", "float[2] d", "float[3,4] e", "float[3,4] f", "float[3,4] g", "float[3,4] h"],
      ", int64[3,2] pick, float[3,2] upd", {"pick": i64([[0, -1], [1, 2], [3, 0]]), "upd": ramp(3, 2, start=10)},
      """at = Constant<value = int64[2] {-1, 0}>()
      pairs = Constant<value = int64[2,2] {0, 1, -1, -2}>()
      vals = Constant<value = float[2] {50.0, -60.0}>()""")  # fmt: skip
_rows("makers", "Range, OneHot, TopK, ConstantOfShape, Shape and Size of a row.", "float[5]", noise(3, 5),
      ["s = Shape(r)", "z = Size(r)", "k = ConstantOfShape<value = float[1] {2.5}>(s)", "g = Range(zero, z, two)",
       "o = OneHot(hot, z, vals)", "v, j = TopK<largest = 0>(r, two1)"],
      ["int64[1] s", "int64 z", "float[5] k", "int64[3] g", "float[2,5] o", "float[2] v", "int64[2] j"], "", {},
      """zero = Constant<value = int64 {0}>()
      two = Constant<value = int64 {2}>()
      two1 = Constant<value = int64[1] {2}>()
      hot = Constant<value = int64[2] {1, -1}>()
      vals = Constant<value = float[2] {0.0, 1.0}>()""")  # fmt: skip
_rows("functions_expanded", "Operators that ONNX defines by a function body.", "float[3,4]", noise(2, 3, 4),
      ["g = Gelu(r)", "l = LayerNormalization<axis = -1>(r, scale)", "s = Shrink<bias = 0.1, lambd = 0.3>(r)",
       "m = MeanVarianceNormalization<axes = [0, 1]>(r)"],
      ["float[3,4] g", "float[3,4] l", "float[3,4] s", "float[3,4] m"], ", float[4] scale", {"scale": noise(4, seed=1)}, "", 1e-4)  # fmt: skip
