# ===- straight.py - A long function without loops that calls one with ---===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Writes the module in the file that is named with its loops in a function of their own.

What is left puts a number on the stack as often as it is told; so does the
function with the loops, 100 times. That one also takes the address of another,
as if it handed it to threads. There are as many of it as is said behind that, or one.
"""

import pathlib
import sys


def moves(value: str, name: str, count: int) -> str:
    """Code that puts `value` on the stack in `count` blocks; the last one is `name`N."""
    lines = [
        f"    %{name}_one = llvm.mlir.constant(1 : i64) : i64",
        f"    %{name}_slot = llvm.alloca %{name}_one x f32 : (i64) -> !llvm.ptr",
    ]
    for k in range(count):
        last = value if k == 0 else f"%{name}{k - 1}"
        lines.append(f"    llvm.store {last}, %{name}_slot : f32, !llvm.ptr")
        lines.append(f"    %{name}{k} = llvm.load %{name}_slot : !llvm.ptr -> f32")
        lines += [f"    llvm.br ^{name}{k}", f"  ^{name}{k}:"]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Writes to standard output."""
    text = pathlib.Path(sys.argv[1]).read_text()
    count = int(sys.argv[2])
    copies = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    loops = text[text.index("  ^rows(") : text.index("  ^done:")]
    text = text.replace(loops, "")
    entered = "llvm.cond_br %failed, ^failed, ^rows(%c0 : i64)"
    assert entered in text
    text = text.replace(entered, "llvm.cond_br %failed, ^failed, ^done")
    text = text.replace(
        "  ^done:\n",
        "  ^done:\n    %first = llvm.load %offset : !llvm.ptr -> f32\n"
        + moves("%first", "a", count)
        + "".join(
            f"    llvm.call @rows{k or ''}(%src, %dst, %n, %a{count - 1})"
            " : (!llvm.ptr, !llvm.ptr, i64, f32) -> ()\n"
            for k in range(copies)
        ),
    )
    loops = loops.replace("    %vo = llvm.load %po : !llvm.ptr -> f32\n", "")
    loops = loops.replace("    %po = llvm.getelementptr", "    %unused = llvm.getelementptr")
    loops = loops.replace("%1, %vo", "%1, %b99")
    rows = (
        "  llvm.func internal @rows(%src: !llvm.ptr, %dst: !llvm.ptr, %n: i64, %bias: f32) {\n"
        "    %c0 = llvm.mlir.constant(0 : i64) : i64\n"
        "    %c1 = llvm.mlir.constant(1 : i64) : i64\n"
        "    %c3 = llvm.mlir.constant(3 : i64) : i64\n"
        "    %scale = llvm.mlir.addressof @scale : !llvm.ptr\n"
        "    %offset = llvm.mlir.addressof @offset : !llvm.ptr\n"
        + "    %handed = llvm.mlir.addressof @handed : !llvm.ptr\n"
        + "    %kept = llvm.alloca %c1 x !llvm.ptr : (i64) -> !llvm.ptr\n"
        + "    llvm.store %handed, %kept : !llvm.ptr, !llvm.ptr\n"
        + moves("%bias", "b", 100)
        + "    llvm.br ^rows(%c0 : i64)\n"
        + loops
        + "  ^done:\n    llvm.return\n  }\n"
    )
    others = "".join(rows.replace("@rows(", f"@rows{k}(") for k in range(1, copies))
    others += "  llvm.func internal @handed(%context: !llvm.ptr) {\n    llvm.return\n  }\n"
    at = text.index("  llvm.func @expf")
    print(text[:at] + rows + others + text[at:])


if __name__ == "__main__":
    main()
