# ===- nested_loops.py - The work of inferring types in nested loops --------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Counts the operations that onnx-infer-types infers in loops nested ever deeper.

A value that grows in the innermost loop is carried by all of them, and so is
one whose rank the innermost loop changes: the news goes through every loop.
"""

import re
import subprocess
import sys

TYPES = "tensor<?xf32>, tensor<*xf32>"


def body(level, depth):
    """The text of the loop at `level`; its results are %r<level>."""
    inner = level + 1
    lines = [
        f"%r{level}:2 = loop.loop (%i{level} : tensor<i64>, %c{level} : tensor<i1>)",
        f"  trips(%m : tensor<i64>) carried(%a{level} = %v{level} : tensor<?xf32>,",
        f"                                  %b{level} = %w{level} : tensor<*xf32>) {{",
        f'%v{inner} = onnx.node "Neg"(%a{level}) since 13 : (tensor<?xf32>) -> tensor<?xf32>',
        f'%w{inner} = onnx.node "Neg"(%b{level}) since 13 : (tensor<*xf32>) -> tensor<*xf32>',
    ]
    if inner < depth:
        lines += body(inner, depth)
    else:
        lines += [
            f'%r{inner}a = onnx.node "Concat"(%v{inner}, %one) since 13 {{axis = 0 : i64}}'
            " : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>",
            f'%r{inner}b = onnx.node "Unsqueeze"(%w{inner}, %zero) since 13'
            " : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>",
        ]
    names = (f"%r{inner}#0", f"%r{inner}#1") if inner < depth else (f"%r{inner}a", f"%r{inner}b")
    lines += [
        f'%x{level} = onnx.node "Abs"({names[0]}) since 13 : (tensor<?xf32>) -> tensor<?xf32>',
        f"loop.yield while(%c{level} : tensor<i1>) carried(%x{level}, {names[1]} : {TYPES})",
        "}",
    ]
    return lines


def work(depth):
    """How many operations were inferred."""
    text = [
        "func.func @f(%m: tensor<i64>, %x: tensor<1xf32>) -> (tensor<?xf32>, tensor<*xf32>) {",
        "%one = onnx.constant dense<1.0> : tensor<1xf32>",
        "%zero = onnx.constant dense<0> : tensor<1xi64>",
        "%v0 = tensor.cast %x : tensor<1xf32> to tensor<?xf32>",
        "%w0 = tensor.cast %x : tensor<1xf32> to tensor<*xf32>",
        *body(0, depth),
        f"return %r0#0, %r0#1 : {TYPES}",
        "}",
    ]
    command = [
        "loopc-opt",
        "--pass-pipeline=builtin.module(func.func(onnx-infer-types{report-work}))",
    ]
    done = subprocess.run(command, input="\n".join(text), capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return int(re.search(r"(\d+) operations inferred", done.stderr)[1])


counts = {depth: work(depth) for depth in (10, 20, 40, 80)}
for depth, count in counts.items():
    print(f"depth {depth}: {count} operations")
steps = [counts[20] - counts[10], (counts[40] - counts[20]) / 2, (counts[80] - counts[40]) / 4]
print("linear" if max(steps) <= 1.1 * min(steps) else f"not linear: {steps} a level")
