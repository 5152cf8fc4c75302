# ===- errors.py - Models that are wrong -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models that must be refused at compile time, and runs that must end with an error."""

import ml_dtypes
import numpy as np

from loop_models.registry import OrtDiffers, f32, graph, i64, loop_model, ramp, run

ANY = r"(?i)."


@loop_model("loop_carried", "name_declared", compile_error=r"(?i)type")
def carried_changes_element_type():
    """The body yields int64 for a carried float."""
    return graph("""(int64 M, float[2] x) => (float[2] y) {
        y = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, int64[2] v1) {
            c1 = Identity(c)
            v1 = Cast<to = 7>(v)
        }> (M, "", x)
    }"""), [run("one", {"M": i64(1), "x": f32([1, 2])}, error=ANY)]


@loop_model("name_declared", compile_error=r"(?i)type|LC0404")
def body_declares_wrong_element_type():
    """The body declares int32 for what is a float."""
    return graph("""(int64 M, float[2] x) => (float[2] y) {
        y = Loop <body = b (int64 i, bool c, int32[2] v) => (bool c1, int32[2] v1) {
            c1 = Identity(c)
            v1 = Add(v, v)
        }> (M, "", x)
    }"""), [run("one", {"M": i64(1), "x": f32([1, 2])}, error=ANY)]


@loop_model("loop_cond", compile_error=r"(?i)type|bool",
            ort=OrtDiffers("accepts", "ORT reads an int64 as a condition"))  # fmt: skip
def condition_is_no_bool():
    """The body yields an int64 as its condition."""
    return graph("""(int64 M, float[2] x) => (float[2] y) {
        y = Loop <body = b (int64 i, bool c, float[2] v) => (int64 c1, float[2] v1) {
            c1 = Identity(i)
            v1 = Add(v, v)
        }> (M, "", x)
    }"""), [run("one", {"M": i64(1), "x": f32([1, 2])}, error=ANY)]


@loop_model("name_shadow", compile_error=r"'t'")
def node_output_repeats_outer_name():
    """A node in the body defines a name that is visible outside."""
    return graph("""(int64 M, float[2] x) => (float[2] y) {
        t = Neg(x)
        y = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, float[2] t) {
            c1 = Identity(c)
            t = Add(v, x)
        }> (M, "", t)
    }"""), [run("one", {"M": i64(1), "x": f32([1, 2])}, error=ANY)]


@loop_model("name_shadow", compile_error=r"(?i)name|twice|ssa|defined|repeat|duplicate")
def node_output_repeats_name():
    """Two nodes of one graph define the same name."""
    return graph("""(float[2] x) => (float[2] y) {
        t = Neg(x)
        t = Abs(x)
        y = Add(t, x)
    }"""), [run("one", {"x": f32([1, 2])}, error=ANY)]


@loop_model("name_outputs", compile_error=r"(?i)output")
def more_outputs_than_results():
    """Three outputs of a loop with N + K = 2: the condition is no result."""
    return graph("""(int64 M, float[2] x) => (float[2] y, float[?,2] ys, bool p) {
        y, ys, p = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, float[2] v1, float[2] w) {
            c1 = Identity(c)
            v1 = Add(v, x)
            w = Neg(v1)
        }> (M, "", x)
    }"""), [run("one", {"M": i64(1), "x": f32([1, 2])}, error=ANY)]


@loop_model("loop_args", compile_error=r"(?i)input|argument")
def body_takes_too_few():
    """The body has no argument for the carried value."""
    return graph("""(int64 M, float[2] x) => (float[2] y) {
        y = Loop <body = b (int64 i, bool c) => (bool c1, float[2] v1) {
            c1 = Identity(c)
            v1 = Add(x, x)
        }> (M, "", x)
    }"""), [run("one", {"M": i64(1), "x": f32([1, 2])}, error=ANY)]


@loop_model("loop_yield", compile_error=r"(?i)output|yield")
def body_yields_too_few():
    """The body yields its condition only, though it takes a carried value."""
    return graph("""(int64 M, float[2] x) => (float[2] y) {
        y = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1) {
            c1 = Identity(c)
        }> (M, "", x)
    }"""), [run("one", {"M": i64(1), "x": f32([1, 2])}, error=ANY)]


@loop_model("name_scope", compile_error=r"Frobnicate")
def unknown_operator():
    """An operator that nobody has: the error names it."""
    return graph("""(int64 M, float[2] x) => (float[2] y) {
        y = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, float[2] v1) {
            c1 = Identity(c)
            v1 = Frobnicate(v)
        }> (M, "", x)
    }"""), [run("one", {"M": i64(1), "x": f32([1, 2])}, error=ANY)]


@loop_model("name_scope", compile_error=r"nowhere")
def unknown_name():
    """A body reads a name that no scope has."""
    return graph("""(int64 M, float[2] x) => (float[2] y) {
        y = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, float[2] v1) {
            c1 = Identity(c)
            v1 = Add(v, nowhere)
        }> (M, "", x)
    }"""), [run("one", {"M": i64(1), "x": f32([1, 2])}, error=ANY)]


@loop_model("name_scope", compile_error=r"inner")
def inner_name_read_outside():
    """A name of the body is not visible after the loop."""
    return graph("""(int64 M, float[2] x) => (float[2] y) {
        z = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, float[2] inner) {
            c1 = Identity(c)
            inner = Add(v, v)
        }> (M, "", x)
        y = Add(z, inner)
    }"""), [run("one", {"M": i64(1), "x": f32([1, 2])}, error=ANY)]


@loop_model("loop_arity", compile_error=r"(?i)input")
def version_1_without_carried_values():
    """Loop-1 takes at least one carried value."""
    return graph(
        """(int64 M) => (int64[?] is) {
        is = Loop <body = b (int64 i, bool c) => (bool c1, int64 j) {
            c1 = Identity(c)
            j = Add(i, i)
        }> (M, "")
    }""",
        opset=10,
    ), [run("one", {"M": i64(1)}, error=ANY)]


@loop_model("loop_types", compile_error=r"(?i)type|bfloat16|bf16")
def bfloat16_before_version_16():
    """Loop-13 does not list bfloat16."""
    return graph(
        """(int64 M, bfloat16[2] x) => (bfloat16[2] y) {
        y = Loop <body = b (int64 i, bool c, bfloat16[2] v) => (bool c1, bfloat16[2] v1) {
            c1 = Identity(c)
            v1 = Add(v, v)
        }> (M, "", x)
    }""",
        opset=15,
    ), [run("one", {"M": i64(1), "x": np.ones(2, ml_dtypes.bfloat16)}, error=ANY)]


@loop_model("if_types", compile_error=r"(?i)type|LC0409")
def branches_differ_in_element_type():
    """One branch yields a float, the other an int64."""
    return graph("""(bool p, float[2] x) => (float[2] y) {
        y = If <then_branch = t () => (float[2] a) { a = Neg(x) },
                else_branch = e () => (int64[2] b) { b = Cast<to = 7>(x) }> (p)
    }"""), [
        run("then", {"p": i64(1) > 0, "x": f32([1, 2])}, error=ANY),
        run("else", {"p": i64(1) < 0, "x": f32([1, 2])}, error=ANY),
    ]


@loop_model("if_types", compile_error=r"(?i)output|result|yield")
def branches_differ_in_number():
    """One branch yields two values, the other one."""
    return graph("""(bool p, float[2] x) => (float[2] y) {
        y = If <then_branch = t () => (float[2] a, float[2] a2) { a = Neg(x)
                                                                 a2 = Abs(x) },
                else_branch = e () => (float[2] b) { b = Abs(x) }> (p)
    }"""), [run("then", {"p": i64(1) > 0, "x": f32([1, 2])}, error=ANY)]


@loop_model("scan_axes", compile_error=r"(?i)ax[ei]s")
def scan_axis_out_of_range():
    """scan_input_axes names an axis that the input lacks."""
    return graph("""(float[3,2] xs) => (float[3,2] ys) {
        ys = Scan <num_scan_inputs = 1, scan_input_axes = [2], body = b (float[2] x) => (float[2] y) {
            y = Neg(x)
        }> (xs)
    }"""), [run("one", {"xs": ramp(3, 2)}, error=ANY)]


@loop_model("scan_axes", compile_error=r"(?i)scan_input_directions")
def scan_direction_list_too_long():
    """One scan input, two directions."""
    return graph("""(float[3,2] xs) => (float[3,2] ys) {
        ys = Scan <num_scan_inputs = 1, scan_input_directions = [0, 1], body = b (float[2] x) => (float[2] y) {
            y = Neg(x)
        }> (xs)
    }"""), [run("one", {"xs": ramp(3, 2)}, error=ANY)]


@loop_model("scan_axes", compile_error=r"(?i)direction")
def scan_direction_unknown():
    """A direction is 0 or 1."""
    return graph("""(float[3,2] xs) => (float[3,2] ys) {
        ys = Scan <num_scan_inputs = 1, scan_input_directions = [2], body = b (float[2] x) => (float[2] y) {
            y = Neg(x)
        }> (xs)
    }"""), [run("one", {"xs": ramp(3, 2)}, error=ANY)]


@loop_model("scan_args", compile_error=r"(?i)num_scan_inputs|scan input")
def scan_without_scan_inputs():
    """num_scan_inputs is larger than the number of inputs."""
    return graph("""(float[3,2] xs) => (float[3,2] ys) {
        ys = Scan <num_scan_inputs = 2, body = b (float[2] x) => (float[2] y) {
            y = Neg(x)
        }> (xs)
    }"""), [run("one", {"xs": ramp(3, 2)}, error=ANY)]


@loop_model("loop_m")
def trip_count_of_two_elements():
    """M must have one element: an error of the run where its size is open."""
    return graph("""(int64[N] M, float[2] x) => (float[2] y) {
        y = Loop <body = b (int64 i, bool c, float[2] v) => (bool c1, float[2] v1) {
            c1 = Identity(c)
            v1 = Add(v, v)
        }> (M, "", x)
    }"""), [
        run("one", {"M": i64([2]), "x": f32([1, 2])}, [f32([4, 8])]),
        run(
            "two", {"M": i64([2, 2]), "x": f32([1, 2])}, error=r"(?i)element|scalar|size|shape|trip"
        ),
    ]


@loop_model("loop_order")
def index_error_in_late_iteration():
    """The third iteration reads past the end; with fewer trips nothing is wrong."""
    return graph("""(int64 M, float[2] x) => (float s, float[?] ys) {
        zero = Constant<value = float {0.0}>()
        s, ys = Loop <body = b (int64 i, bool c, float v) => (bool c, float v1, float w) {
            w = Gather(x, i)
            v1 = Add(v, w)
        }> (M, "", zero)
    }"""), [
        run("two", {"M": i64(2), "x": f32([1, 2])}, [f32(3), f32([1, 2])]),
        run("three", {"M": i64(3), "x": f32([1, 2])}, error=r"(?i)ind(ex|ices)|range|bound"),
        run("two_again", {"M": i64(2), "x": f32([3, 4])}, [f32(7), f32([3, 4])]),
    ]


@loop_model("loop_order")
def invariant_that_fails_is_not_hoisted():
    """An invariant Gather out of range fails only when the loop runs."""
    return graph("""(int64 M, int64 k, float[2] x) => (float[2] y) {
        y = Loop <body = b (int64 i, bool c, float[2] v) => (bool c, float[2] v1) {
            w = Gather(x, k)
            v1 = Add(v, w)
        }> (M, "", x)
    }"""), [
        run("never", {"M": i64(0), "k": i64(7), "x": f32([1, 2])}, [f32([1, 2])]),
        run("inside", {"M": i64(2), "k": i64(1), "x": f32([1, 2])}, [f32([5, 6])]),
        run(
            "outside",
            {"M": i64(1), "k": i64(7), "x": f32([1, 2])},
            error=r"(?i)ind(ex|ices)|range|bound",
        ),
    ]
