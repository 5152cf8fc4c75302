// RUN: loopc-opt %s -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},loopc-print-plans)' -o /dev/null | FileCheck %s --check-prefix=PLAN
// RUN: loopc-opt %s -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},func.func(cpu-vectorize-contractions),canonicalize,cse)' | FileCheck %s

// Of an open number of columns there may be a vector or less: tiles of one
// vector, in which no other is empty, read what is not copied.
// PLAN: columns: contraction {{.*}} rest={{.*}},or=1
// CHECK-LABEL: func @columns(
// CHECK: %[[SIZE:.*]] = memref.dim %{{.*}}, %c1
// CHECK: %[[ONE:.*]] = arith.cmpi ule, %[[SIZE]], %c16
// CHECK: scf.if %[[ONE]] {
// CHECK: scf.for %{{.*}} step %c16
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK-NOT: vector.create_mask
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.maskedload %{{.*}}, %[[MASK]]
// CHECK-NOT: vector.maskedload
// CHECK: scf.yield
// CHECK: } else {
// CHECK: vector.create_mask
// CHECK: vector.create_mask
func.func @columns(%x: memref<64x32xf32>, %w: memref<32x?xf32>, %y: memref<64x?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<64x?xf32>)
  linalg.matmul ins(%x, %w : memref<64x32xf32>, memref<32x?xf32>) outs(%y : memref<64x?xf32>)
  return
}
