// RUN: loopc-opt %s --loopc-hoist-allocations | FileCheck %s

// The pass alone brings the dialects of what it makes.
// CHECK-LABEL: func.func @carried
// CHECK: math.ctpop
func.func @carried(%run: !rt.run, %n: index, %m: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %failed = llvm.mlir.constant(1 : i32) : i32
  %x = memref.alloc(%n) : memref<?xf32>
  %y = scf.for %i = %c0 to %c9 step %c1 iter_args(%s = %x) -> memref<?xf32> {
    %length = memref.dim %s, %c0 : memref<?xf32>
    %single = arith.cmpi eq, %length, %c1 : index
    %size = arith.select %single, %m, %length : index
    %t = memref.alloc(%size) : memref<?xf32>
    scf.for %j = %c0 to %size step %c1 {
      %at = arith.select %single, %c0, %j : index
      %v = memref.load %s[%at] : memref<?xf32>
      memref.store %v, %t[%j] : memref<?xf32>
    } {loopc.parallel}
    memref.dealloc %s : memref<?xf32>
    scf.yield %t : memref<?xf32>
  }
  %v = memref.load %y[%c0] : memref<?xf32>
  %zero = arith.constant 0.0 : f32
  %is = arith.cmpf oeq, %v, %zero : f32
  %status = arith.select %is, %ok, %failed : i32
  memref.dealloc %y : memref<?xf32>
  return %status : i32
}

