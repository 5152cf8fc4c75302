// RUN: loopc-opt %s --loopc-parallelize-nests | FileCheck %s

// A row times a matrix of a megabyte: few instructions, which wait for the
// matrix. Each thread waits for a part of it.
// CHECK-LABEL: func.func @matrix(
// CHECK: call @matrix_shared(
func.func @matrix(%run: !rt.run, %x: memref<2048xf32>, %w: memref<2048x128xf32>, %y: memref<128xf32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index
  %c2048 = arith.constant 2048 : index
  %ok = arith.constant 0 : i32
  scf.for %n = %c0 to %c128 step %c16 {
    %s = vector.load %y[%n] : memref<128xf32>, vector<16xf32>
    %sum = scf.for %k = %c0 to %c2048 step %c1 iter_args(%before = %s) -> (vector<16xf32>) {
      %a = memref.load %x[%k] : memref<2048xf32>
      %b = vector.load %w[%k, %n] : memref<2048x128xf32>, vector<16xf32>
      %all = vector.broadcast %a : f32 to vector<16xf32>
      %after = vector.fma %all, %b, %before : vector<16xf32>
      scf.yield %after : vector<16xf32>
    }
    vector.store %sum, %y[%n] : memref<128xf32>, vector<16xf32>
  } {loopc.parallel}
  return %ok : i32
}

// Rows of a table that are looked up: as many elements of it as are copied.
// CHECK-LABEL: func.func @table(
// CHECK-NOT: call
// CHECK: return
func.func @table(%run: !rt.run, %i: memref<16xindex>, %w: memref<30000x128xf32>, %y: memref<16x128xf32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index
  %ok = arith.constant 0 : i32
  scf.for %n = %c0 to %c16 step %c1 {
    %row = memref.load %i[%n] : memref<16xindex>
    scf.for %k = %c0 to %c128 step %c16 {
      %b = vector.load %w[%row, %k] : memref<30000x128xf32>, vector<16xf32>
      vector.store %b, %y[%n, %k] : memref<16x128xf32>, vector<16xf32>
    }
  } {loopc.parallel}
  return %ok : i32
}
