# ===- large.py - affine.mlir with functions that are worth parts -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Writes the module in the file that is named, with three large functions in it.

Each multiplies what it gets by 1 a few thousand times: a weight, which only the
run knows, and an element of a table by way of a helper, which all three share.
"""

import pathlib
import sys

LENGTH = 4500


def piece(number: int) -> str:
    """A function that is never inlined."""
    lines = [
        f"  llvm.func internal @piece{number}(%x: f32, %i: i64) -> f32 "
        'attributes {passthrough = ["noinline"]} {',
        "    %one = llvm.mlir.addressof @one : !llvm.ptr",
        "    %w = llvm.load %one : !llvm.ptr -> f32",
        "    %t = llvm.call @helper(%i) : (i64) -> f32",
        "    %v0 = llvm.fmul %x, %t : f32",
    ]
    lines += [f"    %v{k + 1} = llvm.fmul %v{k}, %w : f32" for k in range(LENGTH + number)]
    lines += [f"    llvm.return %v{LENGTH + number} : f32", "  }"]
    return "\n".join(lines)


def main() -> None:
    """Writes to standard output."""
    text = pathlib.Path(sys.argv[1]).read_text()
    calls = "".join(
        f"    %p{k + 1} = llvm.call @piece{k}({'%vx' if k == 0 else f'%p{k}'}, %j)"
        " : (f32, i64) -> f32\n"
        for k in range(3)
    )
    product = "    %0 = llvm.fmul %vx, %vs : f32\n"
    assert product in text
    text = text.replace(product, calls + product.replace("%vx", "%p3"))
    added = """
  llvm.mlir.global external @one() {loopc.weight = dense<1.0> : tensor<1xf32>} : !llvm.array<4 x i8>
  llvm.mlir.global internal constant @table(dense<1.0> : tensor<3xf32>) : !llvm.array<3 x f32>
  llvm.func internal @helper(%i: i64) -> f32 {
    %table = llvm.mlir.addressof @table : !llvm.ptr
    %place = llvm.getelementptr %table[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %element = llvm.load %place : !llvm.ptr -> f32
    llvm.return %element : f32
  }
"""
    at = text.index("  llvm.func @expf")
    print(text[:at] + added + "\n".join(piece(k) for k in range(3)) + "\n" + text[at:])


if __name__ == "__main__":
    main()
