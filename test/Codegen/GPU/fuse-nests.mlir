// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0' --loopc-to-kernels | FileCheck %s

// What fills a sum's memory, the sum and what is done with it are one kernel;
// the memory of the sum is gone.
// CHECK-LABEL: func.func @loopc_entry
// CHECK-COUNT-1: gpu.alloc
// CHECK-NOT: gpu.alloc
// CHECK-COUNT-1: gpu.launch_func
// CHECK-NOT: gpu.launch_func
// CHECK: gpu.func @nest_0
// CHECK: %[[SUM:.+]] = scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO:.+]]) -> (f32)
// CHECK: scf.yield
// CHECK-NOT: memref.store
// CHECK: %[[BIAS:.+]] = memref.load
// CHECK: %[[ALL:.+]] = arith.addf %[[SUM]], %[[BIAS]]
// CHECK: memref.store %[[ALL]]
// CHECK-NOT: memref.store
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %d = llvm.load %in : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  %x = builtin.unrealized_conversion_cast %d : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<5x7xf32>
  %e = llvm.load %out : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %bias = builtin.unrealized_conversion_cast %e : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<7xf32>
  %y = memref.alloc() : memref<7xf32>
  scf.for %i = %c0 to %c7 step %c1 {
    memref.store %zero, %y[%i] : memref<7xf32>
  } {loopc.parallel}
  scf.for %i = %c0 to %c7 step %c1 {
    scf.for %k = %c0 to %c5 step %c1 {
      %v = memref.load %x[%k, %i] : memref<5x7xf32>
      %s = memref.load %y[%i] : memref<7xf32>
      %t = arith.addf %s, %v fastmath<reassoc> : f32
      memref.store %t, %y[%i] : memref<7xf32>
    }
  } {loopc.parallel}
  %z = memref.alloc() : memref<7xf32>
  scf.for %i = %c0 to %c7 step %c1 {
    %s = memref.load %y[%i] : memref<7xf32>
    %b = memref.load %bias[%i] : memref<7xf32>
    %t = arith.addf %s, %b : f32
    memref.store %t, %z[%i] : memref<7xf32>
  } {loopc.parallel}
  memref.dealloc %y : memref<7xf32>
  %r = builtin.unrealized_conversion_cast %z : memref<7xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// A neighbour's element is read when all are written; a nest over other
// elements is another one.
// CHECK-LABEL: func.func @loopc_entry
// CHECK-COUNT-3: gpu.launch_func
// CHECK-NOT: gpu.launch_func
// CHECK: gpu.module
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %y = memref.alloc() : memref<8xf32>
  %z = memref.alloc() : memref<8xf32>
  scf.for %i = %c0 to %c7 step %c1 {
    %v = arith.index_cast %i : index to i32
    %f = arith.sitofp %v : i32 to f32
    memref.store %f, %y[%i] : memref<8xf32>
  } {loopc.parallel}
  scf.for %i = %c0 to %c7 step %c1 {
    %j = arith.subi %c7, %i : index
    %v = memref.load %y[%j] : memref<8xf32>
    memref.store %v, %z[%i] : memref<8xf32>
  } {loopc.parallel}
  scf.for %i = %c0 to %c8 step %c1 {
    %v = memref.load %y[%i] : memref<8xf32>
    memref.store %v, %z[%i] : memref<8xf32>
  } {loopc.parallel}
  %r = builtin.unrealized_conversion_cast %z : memref<8xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// What one of three nests reads is freed behind all of them.
// CHECK-LABEL: func.func @loopc_entry
// CHECK-COUNT-2: gpu.launch_func
// CHECK-NOT: gpu.launch_func
// CHECK: gpu.dealloc
func.func @loopc_entry(%run: !rt.run, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %m = arith.addi %n, %c1 : index
  %x = memref.alloc(%m) : memref<?xf32>
  scf.for %i = %c0 to %m step %c1 {
    memref.store %one, %x[%i] : memref<?xf32>
  } {loopc.parallel}
  %y = memref.alloc(%n) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %j = arith.addi %i, %c1 : index
    %v = memref.load %x[%j] : memref<?xf32>
    memref.store %v, %y[%i] : memref<?xf32>
  } {loopc.parallel}
  memref.dealloc %x : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %y[%i] : memref<?xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %y[%i] : memref<?xf32>
  } {loopc.parallel}
  %z = memref.alloc(%n) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %y[%i] : memref<?xf32>
    %w = math.absf %v : f32
    memref.store %w, %z[%i] : memref<?xf32>
  } {loopc.parallel}
  %v = memref.load %z[%c0] : memref<?xf32>
  %is = arith.cmpf oeq, %v, %one : f32
  %failed = llvm.mlir.constant(1 : i32) : i32
  %status = arith.select %is, %ok, %failed : i32
  return %status : i32
}
