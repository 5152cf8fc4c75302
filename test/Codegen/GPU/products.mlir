// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0' --loopc-to-kernels | FileCheck %s
// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_75 min-work=0' --loopc-to-kernels | FileCheck %s --check-prefix=OLD
// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_90 min-work=0 tf32' --loopc-to-kernels | FileCheck %s --check-prefix=TF32

// A product large enough for tiles, of extents that are known: a block brings
// pieces of both factors to its memory, the next ones to registers, and does in
// the end what the nest does with an element, where there is one.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: gpu.launch_func {{.*}} blocks in (%c4{{[_0-9]*}}, {{.*}} threads in (%c256
// CHECK: gpu.func @nest_0({{.*}} workgroup(%[[MEMORY:.+]] : memref<{{[0-9]+}}xi8, #gpu.address_space<workgroup>>
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK: scf.for %{{.*}} = %block_id
// CHECK: memref.view %[[MEMORY]]
// CHECK: memref.view %[[MEMORY]]{{.*}} to memref<16x68xf32, #gpu.address_space<workgroup>>
// CHECK: %[[SUMS:.+]]:24 = scf.for
// CHECK: gpu.barrier
// CHECK-COUNT-8: memref.store {{.*}} memref<16x68xf32, #gpu.address_space<workgroup>>
// CHECK: gpu.barrier
// CHECK-COUNT-8: memref.load {{.*}} memref<{{.*}}x?xf32>
// CHECK: scf.for
// CHECK-COUNT-16: arith.mulf
// CHECK: scf.yield
// CHECK: gpu.barrier
// CHECK: memref.store %[[SUMS]]#0
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK: math.tanh
// CHECK: memref.store
// OLD-LABEL: func.func @loopc_entry
// OLD: gpu.func @nest_0({{.*}} workgroup({{.*}}known_block_size = array<i32: 256, 1, 1>
// With leave, tensor cores round the factors.
// TF32-LABEL: func.func @loopc_entry
// TF32: gpu.func @nest_0
// TF32: nvvm.convert.float.to.tf32
// TF32: nvvm.ldmatrix
// TF32: nvvm.mma.sync
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %c70 = arith.constant 70 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %d = llvm.load %in : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  %x = builtin.unrealized_conversion_cast %d : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<100x?xf32>
  %e = llvm.load %out : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  %w = builtin.unrealized_conversion_cast %e : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<70x?xf32>
  %y = memref.alloc() : memref<100x70xf32>
  scf.for %i = %c0 to %c100 step %c1 {
    scf.for %j = %c0 to %c70 step %c1 {
      %s = scf.for %k = %c0 to %c70 step %c1 iter_args(%a = %zero) -> f32 {
        %l = memref.load %x[%i, %k] : memref<100x?xf32>
        %r = memref.load %w[%k, %j] : memref<70x?xf32>
        %p = arith.mulf %l, %r fastmath<contract> : f32
        %b = arith.addf %a, %p fastmath<reassoc,contract> : f32
        scf.yield %b : f32
      }
      %t = math.tanh %s : f32
      memref.store %t, %y[%i, %j] : memref<100x70xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  %r = builtin.unrealized_conversion_cast %y : memref<100x70xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// In a loop whose extents only the run knows, in one kernel: three ways, and the
// threads of the block wait for one another in front of what reads the result.
// Half floats are multiplied by tensor cores where there are some.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: gpu.func @loop_0
// CHECK: %[[MANY:.+]] = arith.andi
// CHECK: scf.if %{{.+}} {
// CHECK: nvvm.ldmatrix
// CHECK: nvvm.mma.sync
// CHECK: gpu.barrier
// CHECK: else
// CHECK: scf.if %{{.+}} {
// CHECK: nvvm.mma.sync
// CHECK: gpu.barrier
// CHECK: else
// CHECK-NOT: nvvm.mma.sync
// CHECK: arith.mulf
// CHECK: device.barrier
// CHECK: arith.truncf
// CHECK: gpu.return
// OLD-LABEL: func.func @loopc_entry
// OLD: gpu.func @loop_0({{.*}} workgroup({{.*}}known_block_size = array<i32: 256, 1, 1>
// OLD-NOT: nvvm.mma.sync
// TF32-LABEL: func.func @loopc_entry
// TF32: gpu.func @loop_0
// TF32: nvvm.mma.sync
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %d = llvm.load %in : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  %w = builtin.unrealized_conversion_cast %d : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<?x?xf16>
  %n = memref.dim %w, %c0 : memref<?x?xf16>
  %x = memref.alloc(%n, %n) : memref<?x?xf16>
  %y = memref.alloc(%n, %n) : memref<?x?xf32>
  scf.for %t = %c0 to %c9 step %c1 {
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> f32 {
          %l = memref.load %x[%i, %k] : memref<?x?xf16>
          %r = memref.load %w[%k, %j] : memref<?x?xf16>
          %lw = arith.extf %l : f16 to f32
          %rw = arith.extf %r : f16 to f32
          %p = arith.mulf %lw, %rw fastmath<contract> : f32
          %b = arith.addf %a, %p fastmath<reassoc,contract> : f32
          scf.yield %b : f32
        }
        memref.store %s, %y[%i, %j] : memref<?x?xf32>
      } {loopc.parallel}
    } {loopc.parallel}
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %s = memref.load %y[%i, %j] : memref<?x?xf32>
        %h = arith.truncf %s : f32 to f16
        memref.store %h, %x[%i, %j] : memref<?x?xf16>
      } {loopc.parallel}
    } {loopc.parallel}
  }
  %r = builtin.unrealized_conversion_cast %x : memref<?x?xf16> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// Sums whose order is given, or whose elements depend on one factor alone, are
// no products for tiles.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: gpu.func @nest_0
// CHECK-NOT: address_space<workgroup>
// CHECK: gpu.return
// OLD-LABEL: func.func @loopc_entry
// OLD: gpu.func @nest_0
// OLD-NOT: address_space<workgroup>
// TF32-LABEL: func.func @loopc_entry
// TF32: gpu.func @nest_0
// TF32-NOT: nvvm.mma.sync
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %d = llvm.load %in : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  %x = builtin.unrealized_conversion_cast %d : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<100x100xf32>
  %y = memref.alloc() : memref<100x100xf32>
  scf.for %i = %c0 to %c100 step %c1 {
    scf.for %j = %c0 to %c100 step %c1 {
      %s = scf.for %k = %c0 to %c100 step %c1 iter_args(%a = %zero) -> f32 {
        %l = memref.load %x[%i, %k] : memref<100x100xf32>
        %r = memref.load %x[%k, %j] : memref<100x100xf32>
        %p = arith.mulf %l, %r : f32
        %b = arith.addf %a, %p : f32
        scf.yield %b : f32
      }
      memref.store %s, %y[%i, %j] : memref<100x100xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  %r = builtin.unrealized_conversion_cast %y : memref<100x100xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>, !llvm.ptr
  return %ok : i32
}
