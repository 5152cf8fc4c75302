// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0 tf32' --loopc-to-kernels | FileCheck %s
// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_75 min-work=0 tf32' --loopc-to-kernels | FileCheck %s --check-prefix=OLD

// From sm_80 on the pieces of half floats are copied by the chip, 16 bytes each
// time, to one of two stages: a piece is on its way while the one before is
// multiplied, and the block waits once for each. What lies behind the sum's end
// is not read: no bytes of it are copied, and zeros come.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: gpu.func @nest_0({{.*}} workgroup(%[[MEMORY:.+]] : memref<37888xi8, #gpu.address_space<workgroup>>
// CHECK: gpu.barrier
// CHECK: nvvm.cp.async.shared.global %{{.+}}, %{{.+}}, 16, cache = cg, %{{.+}} : !llvm.ptr<3>, !llvm.ptr<1>
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: arith.remui
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK: %[[SIZE:.+]] = arith.select %{{.+}}, %c16_i32{{.*}}, %c0_i32
// CHECK: nvvm.cp.async.shared.global %{{.+}}, %{{.+}}, 16, cache = cg, %[[SIZE]]
// CHECK: nvvm.cp.async.commit.group
// CHECK-NOT: gpu.barrier
// CHECK: nvvm.ldmatrix
// CHECK: nvvm.mma.sync
// CHECK: scf.yield
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: gpu.barrier
// OLD-LABEL: func.func @loopc_entry
// OLD: gpu.func @nest_0
// OLD-NOT: nvvm.cp.async
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<256x256xf16>
  %y = memref.alloc() : memref<256x256xf32>
  scf.for %i = %c0 to %c256 step %c1 {
    scf.for %j = %c0 to %c256 step %c1 {
      %s = scf.for %k = %c0 to %c256 step %c1 iter_args(%a = %zero) -> f32 {
        %l = memref.load %x[%i, %k] : memref<256x256xf16>
        %r = memref.load %x[%k, %j] : memref<256x256xf16>
        %lw = arith.extf %l : f16 to f32
        %rw = arith.extf %r : f16 to f32
        %p = arith.mulf %lw, %rw fastmath<contract> : f32
        %b = arith.addf %a, %p fastmath<reassoc,contract> : f32
        scf.yield %b : f32
      }
      memref.store %s, %y[%i, %j] : memref<256x256xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  %r = builtin.unrealized_conversion_cast %y : memref<256x256xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// Of f32 only what lies as it shall: rows of the left factor. Those of the right
// one are turned round by threads, which round them, too; what was copied is
// rounded when it is read.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: gpu.func @nest_0
// CHECK: scf.for
// CHECK: nvvm.convert.float.to.tf32
// CHECK: memref.store
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.ldmatrix
// CHECK: nvvm.convert.float.to.tf32
// CHECK: nvvm.mma.sync
// OLD-LABEL: func.func @loopc_entry
// OLD: gpu.func @nest_0
// OLD-NOT: nvvm.cp.async
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<256x256xf32>
  %y = memref.alloc() : memref<256x256xf32>
  scf.for %i = %c0 to %c256 step %c1 {
    scf.for %j = %c0 to %c256 step %c1 {
      %s = scf.for %k = %c0 to %c256 step %c1 iter_args(%a = %zero) -> f32 {
        %l = memref.load %x[%i, %k] : memref<256x256xf32>
        %r = memref.load %x[%k, %j] : memref<256x256xf32>
        %p = arith.mulf %l, %r fastmath<contract> : f32
        %b = arith.addf %a, %p fastmath<reassoc,contract> : f32
        scf.yield %b : f32
      }
      memref.store %s, %y[%i, %j] : memref<256x256xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  %r = builtin.unrealized_conversion_cast %y : memref<256x256xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>, !llvm.ptr
  return %ok : i32
}
