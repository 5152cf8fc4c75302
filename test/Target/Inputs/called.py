# ===- called.py - A function that is called once, or by a loop ------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Writes the module in the file that is named with a call of a long function without loops.

The function puts its argument on the stack 300 times. It is called behind the
loop ("once") or in it ("often"); the function that has the loop is the same.
"""

import pathlib
import sys

from straight import moves


def main() -> None:
    """Writes to standard output."""
    text = pathlib.Path(sys.argv[1]).read_text()
    if sys.argv[2] == "once":
        before, value, target = "    %u = llvm.mlir.undef", "%first", "%dst"
        call = "    %first = llvm.load %offset : !llvm.ptr -> f32\n"
    else:
        before, value, target = "    %0 = llvm.fmul %vx, %vs", "%vx", "%py"
        call = ""
    call += f"    %moved = llvm.call @moved({value}) : (f32) -> f32\n"
    call += f"    llvm.store %moved, {target} : f32, !llvm.ptr\n"
    moved = (
        "  llvm.func internal @moved(%x: f32) -> f32"
        ' attributes {passthrough = ["noinline"]} {\n'
        + moves("%x", "m", 300)
        + "    llvm.return %m299 : f32\n  }\n"
    )
    text = text.replace(before, call + before)
    at = text.index("  llvm.func @expf")
    print(text[:at] + moved + text[at:])


if __name__ == "__main__":
    main()
