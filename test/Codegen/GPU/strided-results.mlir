// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0' --loopc-to-kernels | FileCheck %s

// Columns of a matrix do not lie one behind the other: what is returned is a
// copy, whatever its type says.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: gpu.launch_func @loopc_kernels::@nest_0
// CHECK: %[[VIEW:.+]] = memref.reinterpret_cast
// CHECK: %[[PLAIN:.+]] = gpu.alloc
// CHECK: gpu.launch_func @loopc_kernels::@nest_1
// CHECK: device.result %[[PLAIN]]
func.func @loopc_entry(%run: !rt.run, %n: index, %m: index, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc(%n, %m) : memref<?x?xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      memref.store %one, %x[%i, %j] : memref<?x?xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  %part = memref.reinterpret_cast %x to offset: [0], sizes: [%n, 2], strides: [%m, 1] : memref<?x?xf32> to memref<?x2xf32, strided<[?, 1]>>
  %y = memref.cast %part : memref<?x2xf32, strided<[?, 1]>> to memref<?x?xf32>
  %d = builtin.unrealized_conversion_cast %y : memref<?x?xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  llvm.store %d, %out : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// Rows of one do.
// CHECK-LABEL: func.func @loopc_entry
// CHECK-COUNT-1: gpu.launch_func
// CHECK-NOT: gpu.launch_func
// CHECK: device.result
func.func @loopc_entry(%run: !rt.run, %n: index, %m: index, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc(%n, %m) : memref<?x?xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      memref.store %one, %x[%i, %j] : memref<?x?xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  %part = memref.reinterpret_cast %x to offset: [%m], sizes: [2, %m], strides: [%m, 1] : memref<?x?xf32> to memref<2x?xf32, strided<[?, 1], offset: ?>>
  %y = memref.cast %part : memref<2x?xf32, strided<[?, 1], offset: ?>> to memref<?x?xf32>
  %d = builtin.unrealized_conversion_cast %y : memref<?x?xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  llvm.store %d, %out : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>, !llvm.ptr
  return %ok : i32
}
