# ===- families.py - Layers of many kinds ---------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A block of families of layers, one directly behind the other."""

import itertools
import sys

families = int(sys.argv[1])
names = ["addf", "subf", "mulf", "divf", "maximumf", "minimumf"]
print("func.func @f(%run: !rt.run, %x: memref<8xf32>) -> i32 {")
print("  %ok = arith.constant 0 : i32")
print("  %c0 = arith.constant 0 : index")
triples = list(itertools.permutations(names, 3))
for family in range(families):
    first, second, third = triples[family * 5]
    # The one with the most layers is the first.
    for layer in range(families - family + 3):
        k = f"{family}_{layer}"
        print(f"  %a{k} = memref.load %x[%c0] : memref<8xf32>")
        print(f"  %b{k} = arith.{first} %a{k}, %a{k} : f32")
        print(f"  %m{k} = arith.{second} %b{k}, %b{k} : f32")
        print(f"  memref.store %m{k}, %x[%c0] : memref<8xf32>")
        print(f"  %d{k} = memref.load %x[%c0] : memref<8xf32>")
        print(f"  %e{k} = arith.{third} %d{k}, %d{k} : f32")
        print(f"  memref.store %e{k}, %x[%c0] : memref<8xf32>")
print("  return %ok : i32")
print("}")
