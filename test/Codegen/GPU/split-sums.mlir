// RUN: loopc-opt %s --loopc-set-target='chip=sm_90 min-work=0' --loopc-to-kernels --canonicalize | FileCheck %s

// The norm of a long vector, which all blocks need: parts are a nest, whose
// rows of so many numbers are for blocks; then there are 256 numbers to add.
// CHECK: %[[PARTS:.+]] = gpu.alloc () : memref<256xf32>
// CHECK: gpu.launch_func @loopc_kernels::@loop_1
// CHECK-SAME: loopc.cooperative
// CHECK: gpu.dealloc %[[PARTS]]
// CHECK-LABEL: gpu.func @loop_1
// CHECK: scf.for %{{.+}} = %c0 to %c10
// CHECK: scf.for %[[PART:.+]] = %{{.+}} to %c256 step
// CHECK: %[[FIRST:.+]] = arith.muli %[[PART]], %c3906
// CHECK: scf.for %[[K:.+]] = %{{.+}} to %c3906 step
// CHECK: %[[AT:.+]] = arith.addi %[[FIRST]], %[[K]]
// CHECK: memref.load %{{.+}}[%[[AT]]] : memref<1000000xf32>
// CHECK: gpu.all_reduce  add
// CHECK: device.barrier
// CHECK: memref.load %{{.+}} : memref<256xf32>
// CHECK: gpu.all_reduce  add

// How long it is only the run knows, and it decides.
// CHECK-LABEL: gpu.func @loop_2
// CHECK: arith.cmpi sge, %{{.+}}, %c32768
// CHECK: scf.if
// CHECK: memref.load %{{.+}} : memref<256xf32>
// CHECK: } else {
// CHECK-NOT: memref<256xf32>
// CHECK: gpu.return
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %cm = arith.constant 1000000 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %d = llvm.load %in : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %x = builtin.unrealized_conversion_cast %d : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<?xf32>
  %n = memref.dim %x, %c0 : memref<?xf32>
  %y = memref.alloc() : memref<1000000xf32>
  %z = memref.alloc(%n) : memref<?xf32>
  scf.for %i = %c0 to %cm step %c1 {
    memref.store %zero, %y[%i] : memref<1000000xf32>
  } {loopc.parallel}
  scf.for %t = %c0 to %c10 step %c1 {
    %s = scf.for %i = %c0 to %cm step %c1 iter_args(%a = %zero) -> f32 {
      %v = memref.load %y[%i] : memref<1000000xf32>
      %w = arith.mulf %v, %v : f32
      %b = arith.addf %w, %a : f32
      scf.yield %b : f32
    }
    scf.for %i = %c0 to %cm step %c1 {
      %v = memref.load %y[%i] : memref<1000000xf32>
      %w = arith.addf %v, %s : f32
      memref.store %w, %y[%i] : memref<1000000xf32>
    } {loopc.parallel}
  }
  memref.copy %x, %z : memref<?xf32> to memref<?xf32>
  scf.for %t = %c0 to %c10 step %c1 {
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> f32 {
      %v = memref.load %z[%i] : memref<?xf32>
      %b = arith.addf %v, %a : f32
      scf.yield %b : f32
    }
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %z[%i] : memref<?xf32>
      %w = arith.addf %v, %s : f32
      memref.store %w, %z[%i] : memref<?xf32>
    } {loopc.parallel}
  }
  %r = builtin.unrealized_conversion_cast %y : memref<1000000xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  %q = builtin.unrealized_conversion_cast %z : memref<?xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %p = llvm.getelementptr %out[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %q, %p : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return %ok : i32
}
