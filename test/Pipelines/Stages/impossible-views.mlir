// Code that never runs may describe views whose extents contradict each other,
// and upstream's folds write them into types. That is no fault of a stage.

// RUN: loopc-opt %s --verify-each=false --pass-pipeline='builtin.module(canonicalize,loopc-verify-stage{stage=memref})' \
// RUN:     --mlir-print-op-generic | FileCheck %s

// CHECK-DAG: "memref.cast"(%{{.*}}) : (memref<2xf32>) -> memref<1xf32>
// CHECK-DAG: "memref.expand_shape"(%{{.*}}) <{{.*}}> : (memref<2xf32>) -> memref<1x1xf32>
func.func private @use(memref<1xf32>)
func.func @never(%b: memref<2xf32>, %c: i1, %i: index) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %x = scf.if %c -> f32 {
    %never = arith.constant false
    loop.check %never, "there is no such extent"
    %d = memref.cast %b : memref<2xf32> to memref<?xf32>
    %v = memref.cast %d : memref<?xf32> to memref<1xf32>
    %w = memref.expand_shape %d [[0, 1]] output_shape [%one, %one] : memref<?xf32> into memref<?x?xf32>
    func.call @use(%v) : (memref<1xf32>) -> ()
    %1 = memref.load %w[%i, %zero] : memref<?x?xf32>
    scf.yield %1 : f32
  } else {
    %0 = memref.load %b[%i] : memref<2xf32>
    scf.yield %0 : f32
  }
  return %x : f32
}

// A part that is not in what it is a part of, and one of no elements at the end.
// CHECK-DAG: "memref.subview"(%{{.*}}) <{{.*}}> : (memref<2xf32>) -> memref<1xf32, strided<[1], offset: 3>>
// CHECK-DAG: "memref.subview"(%{{.*}}) <{{.*}}> : (memref<2xf32>) -> memref<0xf32, strided<[1], offset: 2>>
func.func private @use_part(memref<1xf32, strided<[1], offset: 3>>)
func.func private @use_none(memref<0xf32, strided<[1], offset: 2>>)
func.func @parts(%b: memref<2xf32>) {
  %d = memref.cast %b : memref<2xf32> to memref<?xf32>
  %v = memref.subview %d[3] [1] [1] : memref<?xf32> to memref<1xf32, strided<[1], offset: 3>>
  func.call @use_part(%v) : (memref<1xf32, strided<[1], offset: 3>>) -> ()
  %w = memref.subview %d[2] [0] [1] : memref<?xf32> to memref<0xf32, strided<[1], offset: 2>>
  func.call @use_none(%w) : (memref<0xf32, strided<[1], offset: 2>>) -> ()
  return
}

// A group that has no elements, whatever its open extent is: the fold writes 0,
// for which the verifier of the operation wants an open extent.
// CHECK-DAG: "memref.collapse_shape"(%{{.*}}) <{{.*}}> : (memref<0x?xf32>) -> memref<0xf32>
func.func private @use_row(memref<?xf32>)
func.func @no_elements(%b: memref<0x?xf32>) {
  %d = memref.cast %b : memref<0x?xf32> to memref<?x?xf32>
  %v = memref.collapse_shape %d [[0, 1]] : memref<?x?xf32> into memref<?xf32>
  func.call @use_row(%v) : (memref<?xf32>) -> ()
  return
}
