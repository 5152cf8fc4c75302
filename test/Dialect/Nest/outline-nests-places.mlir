// RUN: loopc-opt %s --loopc-divide-blocks=min-size=4 | FileCheck %s

// Sections that are equal but for the nodes that errors name are functions of
// their own: where there is no memory, each names its node.
// CHECK-LABEL: func.func @layers(
// CHECK-COUNT-2: func.func private @layers_section
func.func @layers(%run: !rt.run, %n: index, %m: memref<?xindex>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  %a0 = arith.muli %n, %n : index
  %a1 = arith.addi %a0, %n : index
  %a = memref.alloc(%a1) : memref<?xindex> loc("main/#0 Relu")
  memref.store %n, %a[%c0] : memref<?xindex>
  memref.dealloc %a : memref<?xindex>
  %b0 = arith.muli %n, %n : index
  %b1 = arith.addi %b0, %n : index
  %b = memref.alloc(%b1) : memref<?xindex> loc("main/#1 Relu")
  memref.store %n, %b[%c0] : memref<?xindex>
  memref.dealloc %b : memref<?xindex>
  return %ok : i32
}
