// RUN: loopc-opt %s -split-input-file --loopc-set-target=chip=sm_80 -loopc-to-kernels -canonicalize | FileCheck %s

// What stands between nests: sums and scalars. Where they work on what nests
// leave, they are kernels, and the host waits once, at the end.

// The mean of a vector is taken off it: parts of the sum, the sum and what is
// computed of it, the elements. What fills the memory of the sum is in it.
// CHECK-LABEL: func.func @loopc_entry
// CHECK-NOT: device.wait
// CHECK-NOT: scf.for
// CHECK-COUNT-3: gpu.launch_func
// CHECK: device.wait
// CHECK-NEXT: llvm.store
// CHECK-NOT: gpu.launch_func
// CHECK: return
// CHECK-LABEL: gpu.func @nest_0
// CHECK: gpu.all_reduce
// CHECK-LABEL: gpu.func @nest_1
// CHECK: gpu.subgroup_reduce
// CHECK: gpu.subgroup_reduce
// CHECK: arith.divf
// CHECK-LABEL: gpu.func @nest_2
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000000 : index
  %zero = arith.constant 0.0 : f32
  %many = arith.constant 1000000.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %p = llvm.load %in : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %x = builtin.unrealized_conversion_cast %p : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<1000000xf32>
  %sum = memref.alloc() : memref<f32>
  memref.store %zero, %sum[] : memref<f32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<1000000xf32>
    %s = memref.load %sum[] : memref<f32>
    %t = arith.addf %v, %s : f32
    memref.store %t, %sum[] : memref<f32>
  }
  %mean = memref.alloc() : memref<f32>
  %all = memref.load %sum[] : memref<f32>
  %m = arith.divf %all, %many : f32
  memref.store %m, %mean[] : memref<f32>
  memref.dealloc %sum : memref<f32>
  %y = memref.alloc() : memref<1000000xf32>
  %off = memref.load %mean[] : memref<f32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<1000000xf32>
    %d = arith.subf %v, %off : f32
    memref.store %d, %y[%i] : memref<1000000xf32>
  } {loopc.parallel}
  memref.dealloc %mean : memref<f32>
  %r = builtin.unrealized_conversion_cast %y : memref<1000000xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// An extent that the host computes, and a kernel reads too, is the host's.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: %[[SHAPE:.+]] = gpu.alloc host_shared () : memref<1xindex>
// CHECK: memref.store %{{.+}}, %[[SHAPE]]
// CHECK-NOT: device.wait
// CHECK: gpu.launch_func
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %p = llvm.load %in : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %x = builtin.unrealized_conversion_cast %p : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<?xindex>
  %n = memref.dim %x, %c0 : memref<?xindex>
  %shape = memref.alloc() : memref<1xindex>
  %twice = arith.muli %n, %c2 : index
  memref.store %twice, %shape[%c0] : memref<1xindex>
  %size = memref.load %shape[%c0] : memref<1xindex>
  %y = memref.alloc(%size) : memref<?xindex>
  scf.for %i = %c0 to %size step %c1 {
    %v = memref.load %shape[%c0] : memref<1xindex>
    %d = arith.addi %v, %i : index
    memref.store %d, %y[%i] : memref<?xindex>
  } {loopc.parallel}
  memref.dealloc %shape : memref<1xindex>
  %r = builtin.unrealized_conversion_cast %y : memref<?xindex> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// A loop that stays on the host waits in front of it, not in each iteration.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: gpu.launch_func
// CHECK: device.wait
// CHECK: scf.for
// CHECK-NOT: device.wait
// CHECK: scf.yield
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000000 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %p = llvm.load %in : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %x = builtin.unrealized_conversion_cast %p : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<1000000xf32>
  %y = memref.alloc() : memref<1000000xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<1000000xf32>
    %d = arith.mulf %v, %v : f32
    memref.store %d, %y[%i] : memref<1000000xf32>
  } {loopc.parallel}
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%before = %zero) -> f32 {
    %v = memref.load %y[%i] : memref<1000000xf32>
    %d = arith.mulf %v, %before : f32
    %s = arith.addf %v, %d : f32
    memref.store %s, %y[%i] : memref<1000000xf32>
    scf.yield %s : f32
  }
  %r = builtin.unrealized_conversion_cast %y : memref<1000000xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// Whether all indices are in range, of what a kernel has computed, is asked of
// each by a kernel: the host does not wait for it.
// CHECK-LABEL: func.func @loopc_entry
// CHECK-NOT: device.wait
// CHECK-NOT: scf.for
// CHECK-COUNT-3: gpu.launch_func
// CHECK: device.wait
// CHECK-NEXT: llvm.store
// CHECK-LABEL: gpu.func @nest_1
// CHECK: %[[INSIDE:.+]] = arith.andi
// CHECK: loop.check %[[INSIDE]], "no index: {}"
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000 : index
  %m = arith.constant 10 : index
  %true = arith.constant true
  %ok = llvm.mlir.constant(0 : i32) : i32
  %p = llvm.load %in : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  %x = builtin.unrealized_conversion_cast %p : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<1000x10xindex>
  %at = memref.alloc() : memref<1000x10xindex>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %v = memref.load %x[%i, %j] : memref<1000x10xindex>
      %w = arith.addi %v, %v : index
      memref.store %w, %at[%i, %j] : memref<1000x10xindex>
    } {loopc.parallel}
  } {loopc.parallel}
  %all = scf.for %i = %c0 to %n step %c1 iter_args(%rows = %true) -> i1 {
    %row = scf.for %j = %c0 to %m step %c1 iter_args(%flag = %rows) -> i1 {
      %v = memref.load %at[%i, %j] : memref<1000x10xindex>
      %low = arith.cmpi sge, %v, %c0 : index
      %high = arith.cmpi slt, %v, %n : index
      %one = arith.andi %flag, %low : i1
      %two = arith.andi %one, %high : i1
      scf.yield %two : i1
    }
    scf.yield %row : i1
  }
  %y = memref.alloc() : memref<1000x10xindex>
  loop.check %all, "no index: {}"(%n : index)
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %v = memref.load %at[%i, %j] : memref<1000x10xindex>
      %w = memref.load %x[%v, %j] : memref<1000x10xindex>
      memref.store %w, %y[%i, %j] : memref<1000x10xindex>
    } {loopc.parallel}
  } {loopc.parallel}
  memref.dealloc %at : memref<1000x10xindex>
  %r = builtin.unrealized_conversion_cast %y : memref<1000x10xindex> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>, !llvm.ptr
  return %ok : i32
}
