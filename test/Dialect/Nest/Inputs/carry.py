# ===- carry.py - A loop that carries many values ------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Prints a loop that hands so many values round, with so many nests in an iteration."""

import sys

values, nests = (int(argument) for argument in sys.argv[1:])
numbers = range(values)
print("func.func @f(%x: memref<8xf32>, %a: index) -> index {")
print("%c0 = arith.constant 0 : index %c1 = arith.constant 1 : index")
print("%c8 = arith.constant 8 : index %v = arith.constant 1.0 : f32")
carried = ", ".join(f"%s{k} = %a" for k in numbers)
types = ", ".join(["index"] * values)
print(f"%r:{values} = scf.for %t = %c0 to %c8 step %c1 iter_args({carried}) -> ({types}) {{")
for k in range(nests):
    print(f"scf.for %i{k} = %c0 to %c8 step %c1 {{ memref.store %v, %x[%i{k}] : memref<8xf32> }}")
# So that it is no nest itself.
print("loop.poll")
print("scf.yield " + ", ".join(f"%s{(k + 1) % values}" for k in numbers) + f" : {types}")
print("}")
print("return %r#0 : index")
print("}")
