# ===- growing_control.py - Any number of loops and branches --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models of many loops, branches, functions or sequences, and of what is in them."""

import onnx
from growing_parts import Generator, branches, in_a_loop, nest, parse, registry, with_weights

CONTROL: dict[str, Generator] = {}
"""The generators by name."""

growing = registry(CONTROL)


@growing
def rotations(count: int, extent: str) -> onnx.ModelProto:
    """Vectors turned by one element: two slices and a concatenation each."""
    lines = [
        "zero = Constant <value = int64[1] {0}> () one = Constant <value = int64[1] {1}> ()"
        "end = Constant <value = int64[1] {9223372036854775807}> ()"
    ]
    last = "s"
    for k in range(count):
        lines.append(
            f"a{k} = Slice ({last}, one, end, zero) b{k} = Slice ({last}, zero, one, zero)"
            f" c{k} = Concat <axis = 0> (a{k}, b{k})"
        )
        last = f"c{k}"
    return in_a_loop("\n".join(lines), last, extent)


@growing
def elements_set(count: int, extent: str) -> onnx.ModelProto:
    """One element read, and another one written."""
    lines, last = [], "s"
    for k in range(count):
        lines.append(
            f"to{k} = Constant <value = int64[1] {{{k % 8}}}> ()"
            f" from{k} = Constant <value = int64 {{{3 * k % 8}}}> ()"
            f" read{k} = Gather <axis = 0> ({last}, from{k})"
            f" one{k} = Constant <value = float {{1.0}}> () sum{k} = Add (read{k}, one{k})"
            f" axes{k} = Constant <value = int64[1] {{0}}> () new{k} = Unsqueeze (sum{k}, axes{k})"
            f" v{k} = ScatterElements ({last}, to{k}, new{k})"
        )
        last = f"v{k}"
    return in_a_loop("\n".join(lines), last, extent)


@growing
def branches_of_shapes(count: int, extent: str) -> onnx.ModelProto:
    """Branches that make a value longer or cut it off."""
    return branches(
        count,
        extent,
        "t{k} = Concat <axis = 0> ({last}, y)",
        "z{k} = Constant <value = int64[1] {{0}}> () f{k} = Constant <value = int64[1] {{4}}> ()"
        " e{k} = Slice ({last}, z{k}, f{k}, z{k})",
    )


@growing
def branches_in_a_body(count: int, extent: str) -> onnx.ModelProto:
    """Branches that compute with whole values."""
    return branches(count, extent, "t{k} = Add ({last}, y)", "e{k} = Mul ({last}, y)")


@growing
def loops_in_a_row(count: int, extent: str) -> onnx.ModelProto:
    """Loops, each of which carries a value and collects it."""
    lines, last = ["axes = Constant <value = int64[1] {0}> ()"], "x"
    for k in range(count):
        lines.append(
            f"""l{k}, all{k} = Loop (m, "", {last}) <body = step{k} (int64 i{k}, bool go{k}, float[{extent}] s{k})
                => (bool again{k}, float[{extent}] t{k}, float[{extent}] c{k}) {{
                again{k} = Identity (go{k}) a{k} = Add (s{k}, x) t{k} = Tanh (a{k}) c{k} = Identity (s{k})
            }}>
            most{k} = ReduceMax <keepdims = 0> (all{k}, axes) v{k} = Add (l{k}, most{k})"""
        )
        last = f"v{k}"
    nodes = "\n".join(lines)
    return parse(f"growing (float[{extent}] x, int64 m) => (float[{extent}] {last}) {{ {nodes} }}")


@growing
def sequential_loops(count: int, extent: str) -> onnx.ModelProto:
    """Loops that carry a value, the one of the loop before, and nothing between them."""
    lines, last = [], "x"
    for k in range(count):
        lines.append(
            f"""v{k} = Loop (m, "", {last}) <body = step{k} (int64 i{k}, bool go{k}, float[{extent}] s{k})
                => (bool again{k}, float[{extent}] t{k}) {{
                again{k} = Identity (go{k}) a{k} = Add (s{k}, x) t{k} = Tanh (a{k})
            }}>"""
        )
        last = f"v{k}"
    nodes = "\n".join(lines)
    return parse(f"growing (float[{extent}] x, int64 m) => (float[{extent}] {last}) {{ {nodes} }}")


@growing
def scatters_in_branches(count: int, extent: str) -> onnx.ModelProto:
    """Branches, of which one writes elements over."""
    lines, last = [], "x"
    for k in range(count):
        lines.append(
            f"v{k} = If (c{k}) <then_branch = yes{k} () => (float[Y{k}, Y2{k}] t{k})"
            f" {{ t{k} = ScatterElements <axis = 0> ({last}, places, new) }},"
            f" else_branch = no{k} () => (float[E{k}, E2{k}] e{k}) {{ e{k} = Identity ({last}) }}>"
        )
        last = f"v{k}"
    flags = ", ".join(f"bool c{k}" for k in range(count))
    nodes = "\n".join(lines)
    return parse(
        f"growing (float[{extent}, 3] x, int64[2, 3] places, float[2, 3] new, {flags})"
        f" => (float[{extent}, 3] {last}) {{ {nodes} }}"
    )


@growing
def functions_called_twice(count: int, extent: str) -> onnx.ModelProto:
    """Functions of the model, each of which calls the next one twice."""
    functions = []
    for k in range(count):
        inner = (
            f"a = lib.f{k + 1} (x) b = lib.f{k + 1} (a) s = Add (a, b) y = Tanh (s)"
            if k + 1 < count
            else "y = Tanh (x)"
        )
        functions.append(
            f'<domain: "lib", opset_import: ["" : 21, "lib" : 1]> f{k} (x) => (y) {{ {inner} }}'
        )
    graph = f"growing (float[{extent}] x) => (float[{extent}] y) {{ y = lib.f0 (x) }}"
    return parse(graph, ', "lib" : 1', "\n".join(functions))


@growing
def views_in_a_loop(count: int, extent: str) -> onnx.ModelProto:
    """Reshape, Slice and Transpose in turn, each of what the one before made."""
    lines = [
        "row = Constant <value = int64[2] {1, -1}> () flat = Constant <value = int64[1] {-1}> ()"
        " zero = Constant <value = int64[1] {0}> () one = Constant <value = int64[1] {1}> ()"
        " end = Reshape (m, flat)"
    ]
    steps = ("Reshape ({last}, row)", "Slice ({last}, zero, end, one)",
             "Transpose <perm = [1, 0]> ({last})", "Reshape ({last}, flat)")  # fmt: skip
    last = "s"
    for k in range(count):
        lines.append(f"v{k} = {steps[k % len(steps)].format(last=last)}")
        last = f"v{k}"
    lines.append(f"t = Reshape ({last}, flat)")
    return in_a_loop("\n".join(lines), "t", extent)


@growing
def sums_of_numbers(count: int, extent: str) -> onnx.ModelProto:
    """Sums of the two numbers before, from the iteration's on; the last one ends the loop."""
    lines = " ".join(f"n{k + 2} = Add (n{k + 1}, n{k})" for k in range(count))
    return parse(
        f"""growing (float[{extent}] x, int64 m) => (float[R] z) {{
            yes = Constant <value = bool {{1}}> () limit = Constant <value = int64 {{1000000}}> ()
            z = Loop (m, yes, x) <body = step (int64 n0, bool go, float[{extent}] s)
                => (bool again, float[{extent}] t) {{
                n1 = Add (n0, n0) {lines} again = Less (n{count + 1}, limit) t = Add (s, x)
            }}>
        }}"""
    )


@growing
def values_of_either(count: int, extent: str) -> onnx.ModelProto:
    """Branches that pass on one of the two values before."""
    lines, names = ["v0 = Add (s, y) zero = Constant <value = int64 {0}> ()"], ["s", "v0"]
    for k in range(count):
        lines.append(
            f"by{k} = Constant <value = int64 {{{k + 2}}}> () rest{k} = Mod (i, by{k})"
            f" is{k} = Equal (rest{k}, zero)"
            f" v{k + 1} = If (is{k}) <then_branch = yes{k} () => (float[Y{k}] t{k})"
            f" {{ t{k} = Identity ({names[-1]}) }},"
            f" else_branch = no{k} () => (float[E{k}] e{k}) {{ e{k} = Identity ({names[-2]}) }}>"
        )
        names.append(f"v{k + 1}")
    return in_a_loop("\n".join(lines), names[-1], extent)


@growing
def scatters_in_a_body(count: int, extent: str) -> onnx.ModelProto:
    """Branches in a loop, of which one writes an element over."""
    return branches(
        count,
        extent,
        "at{k} = Constant <value = int64[1] {{0}}> ()"
        " new{k} = Constant <value = float[1] {{1.0}}> ()"
        " t{k} = ScatterElements ({last}, at{k}, new{k})",
        "e{k} = Identity ({last})",
    )


@growing
def scans(count: int, extent: str) -> onnx.ModelProto:
    """Scans, each over the rows that the one before has collected."""
    lines, last = [], "x"
    for k in range(count):
        lines.append(
            f"""l{k}, c{k} = Scan <num_scan_inputs = 1, body = step{k}
                (float[{extent}] s{k}, float[{extent}] r{k}) => (float[{extent}] t{k}, float[{extent}] o{k}) {{
                a{k} = Add (s{k}, r{k}) t{k} = Tanh (a{k}) o{k} = Identity (a{k})
            }}> (h, {last})"""
        )
        last = f"c{k}"
    nodes = "\n".join(lines)
    return parse(
        f"growing (float[{extent}] h, float[L, {extent}] x) => (float[L, {extent}] {last}) {{ {nodes} }}"
    )


@growing
def captured_values(count: int, extent: str) -> onnx.ModelProto:
    """Values of the outer graph that one body reads."""
    outer = " ".join(f"p{k} = Constant <value = float {{{k}.0}}> () q{k} = Mul (x, p{k})"
                     for k in range(count))  # fmt: skip
    inner = " ".join(f"v{k + 1} = Add (v{k}, q{k})" for k in range(count))
    return parse(
        f"""growing (float[{extent}] x, int64 m) => (float[{extent}] z) {{
            {outer}
            z = Loop (m, "", x) <body = step (int64 i, bool go, float[{extent}] v0)
                => (bool again, float[{extent}] v{count}) {{ again = Identity (go) {inner} }}>
        }}"""
    )


@growing
def carried_values(count: int, extent: str) -> onnx.ModelProto:
    """Values that one loop carries, each of which becomes its neighbour's."""
    inits = ", ".join(["x"] * count)
    args = ", ".join(f"float[{extent}] s{k}" for k in range(count))
    results = ", ".join(f"float[{extent}] t{k}" for k in range(count))
    values = ", ".join(f"float[{extent}] z{k}" for k in range(count))
    names = ", ".join(f"z{k}" for k in range(count))
    lines = " ".join(f"t{k} = Add (s{(k + 1) % count}, f{k})" for k in range(count))
    constants = " ".join(f"f{k} = Constant <value = float {{{k}.0}}> ()" for k in range(count))
    return parse(
        f"""growing (float[{extent}] x, int64 m) => ({values}) {{
            {constants}
            {names} = Loop (m, "", {inits}) <body = step (int64 i, bool go, {args})
                => (bool again, {results}) {{ again = Identity (go) {lines} }}>
        }}"""
    )


@growing
def collected_values(count: int, extent: str) -> onnx.ModelProto:
    """Values that one loop collects."""
    results = ", ".join(f"float[{extent}] t{k}" for k in range(count))
    values = ", ".join(f"float[T, {extent}] z{k}" for k in range(count))
    names = ", ".join(f"z{k}" for k in range(count))
    lines = " ".join(
        f"f{k} = Constant <value = float {{{k}.0}}> () t{k} = Add (s, f{k})" for k in range(count)
    )
    return parse(
        f"""growing (float[{extent}] x, int64 m) => (float[{extent}] z, {values}) {{
            z, {names} = Loop (m, "", x) <body = step (int64 i, bool go, float[{extent}] s)
                => (bool again, float[{extent}] t, {results}) {{
                again = Identity (go) t = Tanh (s) {lines} }}>
        }}"""
    )


@growing
def nested_branches(count: int, extent: str) -> onnx.ModelProto:
    """Branches within each other."""

    def level(k: int, inner: str) -> str:
        inner = inner or f"v{k + 1} = Identity (h{k})"
        return (
            f"v{k} = If (c) <then_branch = yes{k} () => (float[{extent}] v{k + 1})"
            f" {{ h{k} = Tanh ({'x' if k == 0 else f'h{k - 1}'}) {inner} }},"
            f" else_branch = no{k} () => (float[{extent}] e{k}) {{ e{k} = Mul (x, x) }}>"
        )

    return parse(
        f"growing (float[{extent}] x, bool c) => (float[{extent}] v0) {{ {nest(count, level)} }}"
    )


@growing
def nested_loops(count: int, extent: str) -> onnx.ModelProto:
    """Loops within each other, each with a sine before the next one."""

    def level(k: int, inner: str) -> str:
        outer = "x" if k == 0 else f"h{k - 1}"
        inner = inner or f"v{k + 1} = Add (h{k}, x)"
        return (
            f'v{k} = Loop (m, "", {outer}) <body = step{k} (int64 i{k}, bool c{k},'
            f" float[{extent}] s{k}) => (bool d{k}, float[{extent}] v{k + 1})"
            f" {{ d{k} = Identity (c{k}) h{k} = Sin (s{k}) {inner} }}>"
        )

    return parse(
        f"growing (float[{extent}] x, int64 m) => (float[{extent}] v0) {{ {nest(count, level)} }}"
    )


@growing
def loops_in_branches(count: int, extent: str) -> onnx.ModelProto:
    """Branches, one of which is a loop."""
    lines, last = [], "x"
    for k in range(count):
        lines.append(
            f"""v{k} = If (c) <then_branch = yes{k} () => (float[{extent}] t{k}) {{
                t{k} = Loop (m, "", {last}) <body = step{k} (int64 i{k}, bool go{k}, float[{extent}] s{k})
                    => (bool again{k}, float[{extent}] u{k}) {{
                    again{k} = Identity (go{k}) a{k} = Add (s{k}, x) u{k} = Tanh (a{k})
                }}>
            }}, else_branch = no{k} () => (float[{extent}] e{k}) {{ e{k} = Mul ({last}, x) }}>"""
        )
        last = f"v{k}"
    nodes = "\n".join(lines)
    return parse(
        f"growing (float[{extent}] x, int64 m, bool c) => (float[{extent}] {last}) {{ {nodes} }}"
    )


@growing
def branches_in_loops(count: int, extent: str) -> onnx.ModelProto:
    """Loops that end early, in each of which is a branch."""
    lines, last = ["one = Constant <value = int64 {1}> ()"], "x"
    for k in range(count):
        lines.append(
            f"""v{k} = Loop (m, c, {last}) <body = step{k} (int64 i{k}, bool go{k}, float[{extent}] s{k})
                => (bool again{k}, float[{extent}] u{k}) {{
                again{k} = Less (i{k}, one) odd{k} = Equal (i{k}, one)
                u{k} = If (odd{k}) <then_branch = yes{k} () => (float[{extent}] t{k})
                    {{ t{k} = Add (s{k}, x) }},
                    else_branch = no{k} () => (float[{extent}] e{k}) {{ e{k} = Tanh (s{k}) }}>
            }}>"""
        )
        last = f"v{k}"
    nodes = "\n".join(lines)
    return parse(
        f"growing (float[{extent}] x, int64 m, bool c) => (float[{extent}] {last}) {{ {nodes} }}"
    )


@growing
def inserts(count: int, extent: str) -> onnx.ModelProto:
    """Values put into a sequence, which is put together."""
    lines, last = ["s = SequenceEmpty <dtype = 1> ()"], "s"
    for k in range(count):
        lines.append(
            f"f{k} = Constant <value = float {{{k}.0}}> () a{k} = Mul (x, f{k})"
            f" s{k} = SequenceInsert ({last}, a{k})"
        )
        last = f"s{k}"
    lines.append(f"z = ConcatFromSequence <axis = 0> ({last})")
    nodes = "\n".join(lines)
    return parse(f"growing (float[{extent}] x) => (float[R] z) {{ {nodes} }}")


@growing
def inserts_in_a_loop(count: int, extent: str) -> onnx.ModelProto:
    """Values put into a sequence that a loop carries."""
    lines = " ".join(
        f"f{k} = Constant <value = float {{{k}.0}}> () a{k} = Mul (x, f{k})"
        f" s{k + 1} = SequenceInsert (s{k}, a{k})"
        for k in range(count)
    )
    return parse(
        f"""growing (float[{extent}] x, int64 m) => (float[R] z) {{
            empty = SequenceEmpty <dtype = 1> ()
            all = Loop (m, "", empty) <body = step (int64 i, bool go, seq(float[{extent}]) s0)
                => (bool again, seq(float[{extent}]) s{count}) {{ again = Identity (go) {lines} }}>
            z = ConcatFromSequence <axis = 0> (all)
        }}"""
    )


@growing
def captured_constants(count: int, extent: str) -> onnx.ModelProto:
    """Constants of the model, which a loop in a loop reads."""
    inner = " ".join(f"v{k + 1} = Add (v{k}, w{k})" for k in range(count))
    model = parse(
        f"""growing (float[{extent}, 8] x, int64 m) => (float[{extent}, 8] z) {{
            z = Loop (m, "", x) <body = outer (int64 i, bool go, float[{extent}, 8] s)
                => (bool again, float[{extent}, 8] t) {{ again = Identity (go)
                t = Loop (m, "", s) <body = inner (int64 j, bool on, float[{extent}, 8] v0)
                    => (bool more, float[{extent}, 8] v{count}) {{ more = Identity (on) {inner} }}>
            }}>
        }}"""
    )
    return with_weights(model, [f"w{k}" for k in range(count)], (8,))


@growing
def functions_in_a_row(count: int, extent: str) -> onnx.ModelProto:
    """Functions of the model, each called once."""
    functions = [
        f'<domain: "lib", opset_import: ["" : 21]> f{k} (x, y) => (z)'
        f" {{ f = Constant <value = float {{{k}.5}}> () a = Mul (x, f) b = Add (a, y) z = Tanh (b) }}"
        for k in range(count)
    ]
    lines = " ".join(f"v{k} = lib.f{k} ({f'v{k - 1}' if k else 'x'}, x)" for k in range(count))
    graph = f"growing (float[{extent}] x) => (float[R] v{count - 1}) {{ {lines} }}"
    return parse(graph, ', "lib" : 1', "\n".join(functions))


@growing
def calls_of_a_function(count: int, extent: str) -> onnx.ModelProto:
    """Calls of one function of the model, which holds a loop."""
    function = (
        '<domain: "lib", opset_import: ["" : 21]> f (x, y, m) => (z) {'
        ' z = Loop (m, "", x) <body = step (int64 i, bool go, float[] s) => (bool again, float[] t)'
        " { again = Identity (go) a = Add (s, y) t = Tanh (a) }> }"
    )
    lines = " ".join(f"v{k} = lib.f ({f'v{k - 1}' if k else 'x'}, x, m)" for k in range(count))
    graph = f"growing (float[{extent}] x, int64 m) => (float[R] v{count - 1}) {{ {lines} }}"
    return parse(graph, ', "lib" : 1', function)


@growing
def caches(count: int, extent: str) -> onnx.ModelProto:
    """Values that one loop carries, each of which becomes longer with each iteration."""
    inits = ", ".join(["x"] * count)
    args = ", ".join(f"float[L{k}, 4] s{k}" for k in range(count))
    results = ", ".join(f"float[M{k}, 4] t{k}" for k in range(count))
    values = ", ".join(f"float[Z{k}, 4] z{k}" for k in range(count))
    names = ", ".join(f"z{k}" for k in range(count))
    lines = " ".join(
        f"f{k} = Constant <value = float {{{k}.0}}> () n{k} = Mul (y, f{k})"
        f" t{k} = Concat <axis = 0> (s{k}, n{k})"
        for k in range(count)
    )
    return parse(
        f"""growing (float[{extent}, 4] x, float[1, 4] y, int64 m) => ({values}) {{
            {names} = Loop (m, "", {inits}) <body = step (int64 i, bool go, {args})
                => (bool again, {results}) {{ again = Identity (go) {lines} }}>
        }}"""
    )


@growing
def steps_of_a_decoder(count: int, extent: str) -> onnx.ModelProto:
    """Layers in the body of a loop: a product, a norm, and a sum with what was before."""
    lines = " ".join(
        f"p{k} = MatMul (v{k}, w{k}) n{k} = LayerNormalization <axis = -1> (p{k}, g)"
        f" v{k + 1} = Add (n{k}, v{k})"
        for k in range(count)
    )
    model = parse(
        f"""growing (float[{extent}, 8] x, float[8] g, int64 m) => (float[{extent}, 8] z) {{
            z = Loop (m, "", x) <body = step (int64 i, bool go, float[{extent}, 8] v0)
                => (bool again, float[{extent}, 8] v{count}) {{ again = Identity (go) {lines} }}>
        }}"""
    )
    return with_weights(model, [f"w{k}" for k in range(count)], (8, 8))
