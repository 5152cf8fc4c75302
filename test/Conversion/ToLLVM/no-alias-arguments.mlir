// RUN: loopc-opt %s --convert-dialects-to-llvm | FileCheck %s

module attributes {loopc.target = #loopc.target<vector_bits = 512, registers = 32>} {
// What is known of the memory of a buffer is said of the pointer that accesses
// go through, not of the one that frees it.
// CHECK-LABEL: llvm.func @marked(
// CHECK-SAME: %{{[^:]*}}: i64, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: i64, %{{[^:]*}}: i64, %{{[^:]*}}: i64,
// CHECK-SAME: %{{[^:]*}}: !llvm.ptr, %[[ALIGNED:[^:]*]]: !llvm.ptr {llvm.noalias}, %{{[^:]*}}: i64,
// CHECK-SAME: %{{[^:]*}}: i64, %{{[^:]*}}: i64, %{{[^:]*}}: i64, %{{[^:]*}}: i64)
// CHECK: llvm.insertvalue %[[ALIGNED]], %{{.*}}[1]
func.func @marked(%i: index, %x: memref<?xf32>, %y: memref<2x?xf32> {llvm.noalias}) {
  %v = memref.load %x[%i] : memref<?xf32>
  memref.store %v, %y[%i, %i] : memref<2x?xf32>
  return
}

// A pointer keeps what is said of it, and a call hands over all words.
// CHECK-LABEL: llvm.func @caller(
// CHECK-SAME: %{{[^:]*}}: !llvm.ptr {llvm.noalias})
// CHECK: llvm.call @marked(
// CHECK-SAME: (i64, !llvm.ptr, !llvm.ptr, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64) -> ()
func.func @caller(%x: memref<?xf32>, %y: memref<2x?xf32>, %p: !llvm.ptr {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  call @marked(%c0, %x, %y) : (index, memref<?xf32>, memref<2x?xf32>) -> ()
  return
}
}
