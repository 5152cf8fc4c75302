// Functions are dealt to modules that threads convert side by side. The result
// is the one of one module: the functions in their order, what several of them
// declare once.

// RUN: loopc-opt %s --convert-dialects-to-llvm=part-ops=1000 -o %t.whole
// RUN: loopc-opt %s --convert-dialects-to-llvm=part-ops=2 -o %t.parts
// RUN: cmp %t.whole %t.parts
// RUN: loopc-opt %s --convert-dialects-to-llvm=part-ops=2 --mlir-disable-threading -o %t.alone
// RUN: cmp %t.whole %t.alone
// RUN: FileCheck %s < %t.parts

memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>

// CHECK-DAG: llvm.func @memrefCopy
// CHECK: llvm.mlir.global private constant @table
// CHECK: llvm.func @first(
// CHECK: llvm.func @declared(
// CHECK: llvm.func @second(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr {llvm.noalias}
// CHECK: llvm.func @third(
// CHECK-NOT: llvm.func @memrefCopy
// CHECK-NOT: unrealized_conversion_cast

func.func private @first(%x: memref<4x?xf32, strided<[?, 1]>>, %y: memref<4x?xf32, strided<[?, 1]>>) {
  memref.copy %x, %y : memref<4x?xf32, strided<[?, 1]>> to memref<4x?xf32, strided<[?, 1]>>
  return
}

func.func private @declared(f32) -> f32

func.func private @second(%x: memref<?xf32> {llvm.noalias}, %i: index) -> f32 {
  %y = memref.load %x[%i] : memref<?xf32>
  %table = memref.get_global @table : memref<4xf32>
  %z = memref.load %table[%i] : memref<4xf32>
  %s = arith.addf %y, %z : f32
  %r = func.call @declared(%s) : (f32) -> f32
  return %r : f32
}

func.func @third(%x: memref<4x?xf32, strided<[?, 1]>>, %y: memref<4x?xf32, strided<[?, 1]>>, %z: memref<?xf32>, %i: index) -> f32 {
  memref.copy %x, %y : memref<4x?xf32, strided<[?, 1]>> to memref<4x?xf32, strided<[?, 1]>>
  func.call @first(%x, %y) : (memref<4x?xf32, strided<[?, 1]>>, memref<4x?xf32, strided<[?, 1]>>) -> ()
  %r = func.call @second(%z, %i) : (memref<?xf32>, index) -> f32
  return %r : f32
}
