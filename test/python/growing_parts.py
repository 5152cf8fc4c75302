# ===- growing_parts.py - What growing models are made of -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What the generators of growing_models.py are made of."""

from collections.abc import Callable

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser

Generator = Callable[[int, str], onnx.ModelProto]


def registry(kinds: dict[str, Generator]) -> Callable[[Generator], Generator]:
    """A decorator that puts generators into `kinds`, by their names."""

    def growing(make: Generator) -> Generator:
        kinds[make.__name__] = make
        return make

    return growing


def parse(graph: str, domains: str = "", functions: str = "") -> onnx.ModelProto:
    """The model of `graph`, a graph as text; `domains` imports more than ONNX's own."""
    return onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 21{domains}]>\n{graph}\n{functions}'
    )


def in_a_loop(body: str, result: str, extent: str) -> onnx.ModelProto:
    """A loop of `m` iterations whose `body` makes `result` of the carried value `s`.

    The body may capture `y`. The result's extent may differ from `s`'s.
    """
    return parse(
        f"""growing (float[{extent}] x, float[{extent}] y, int64 m) => (float[R] z) {{
            z = Loop (m, "", x) <body = step (int64 i, bool go, float[S] s)
                => (bool again, float[S2] {result}) {{
                again = Identity (go)
                {body}
            }}>
        }}"""
    )


def branches(count: int, extent: str, then: str, otherwise: str) -> onnx.ModelProto:
    """A chain of branches in a loop, each of what the one before made (`{last}` in the texts)."""
    lines, last = ["zero = Constant <value = int64 {0}> ()"], "s"
    for k in range(count):
        names = {"k": k, "last": last}
        lines.append(
            f"by{k} = Constant <value = int64 {{{k + 2}}}> () rest{k} = Mod (i, by{k})"
            f" is{k} = Equal (rest{k}, zero)"
            f" v{k} = If (is{k}) <then_branch = yes{k} () => (float[Y{k}] t{k})"
            f" {{ {then.format(**names)} }},"
            f" else_branch = no{k} () => (float[E{k}] e{k}) {{ {otherwise.format(**names)} }}>"
        )
        last = f"v{k}"
    return in_a_loop("\n".join(lines), last, extent)


def chain(
    count: int, node: Callable[[int, str], str], start: str, result: str, before: str = ""
) -> onnx.ModelProto:
    """Nodes one behind the other; `node` is handed the number and the name of the last value.

    The first value is `x`, the value of node k is `v<k>`; `before` are nodes that all of them may read.
    """
    lines, last = [before], "x"
    for k in range(count):
        lines.append(node(k, last))
        last = f"v{k}"
    nodes = "\n".join(lines)
    return parse(f"growing ({start}) => ({result} {last}) {{ {nodes} }}")


def with_weights(
    model: onnx.ModelProto, names: list[str], shape: tuple[int, ...]
) -> onnx.ModelProto:
    """Adds initializers of `shape` to `model`: small numbers, others for each name."""
    random = np.random.default_rng(len(model.graph.initializer))
    for name in names:
        values = random.uniform(-0.5, 0.5, shape).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
    return model


def nest(count: int, level: Callable[[int, str], str]) -> str:
    """Texts within each other, the innermost one made first; level 0 is the outermost."""
    text = ""
    for k in reversed(range(count)):
        text = level(k, text)
    return text
