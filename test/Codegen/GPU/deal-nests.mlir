// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0' --loopc-to-kernels | FileCheck %s

// Few long sums down columns: lanes have columns, warps shares of the sums,
// which meet in the block's memory.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: gpu.launch_func {{.*}} blocks in (%c4{{[_0-9]*}}, {{.*}} threads in (%c256
// CHECK: gpu.func @nest_0({{.*}} workgroup(%[[MEMORY:.+]] : memref<{{[0-9]+}}xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// CHECK: %[[BLOCK:.+]] = gpu.block_id
// CHECK: scf.for %[[GROUP:.+]] = %{{.*}} to %c4{{.*}} step
// CHECK: %[[INSIDE:.+]] = arith.cmpi ult, %{{.*}}, %c100
// CHECK: arith.minui
// CHECK: %[[PART:.+]] = scf.for {{.*}} iter_args(%{{.*}} = %cst
// CHECK: %[[PARTS:.+]] = memref.view %[[MEMORY]]
// CHECK: gpu.barrier
// CHECK: memref.store %[[PART]], %[[PARTS]]
// CHECK: gpu.barrier
// CHECK: %[[ALL:.+]] = scf.for
// CHECK: memref.load %[[PARTS]]
// CHECK: arith.addf
// CHECK: %[[SUM:.+]] = arith.addf %{{.*}}, %[[ALL]]
// CHECK: scf.if
// CHECK-NEXT: memref.store %[[SUM]]
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0.0 : f64
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<100x100xf64>
  %y = memref.alloc() : memref<100xf64>
  scf.for %i = %c0 to %c100 step %c1 {
    memref.store %zero, %y[%i] : memref<100xf64>
  } {loopc.parallel}
  scf.for %i = %c0 to %c100 step %c1 {
    scf.for %k = %c0 to %c100 step %c1 {
      %a = memref.load %y[%i] : memref<100xf64>
      %v = memref.load %x[%k, %i] : memref<100x100xf64>
      %b = arith.addf %a, %v fastmath<reassoc> : f64
      memref.store %b, %y[%i] : memref<100xf64>
    }
  } {loopc.parallel}
  %r = builtin.unrealized_conversion_cast %y : memref<100xf64> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// Of rows whose length only the run knows, long ones are a block's each and
// short ones a warp's; integers too, and the larger of two.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: gpu.func @nest_0
// CHECK: %[[LONG:.+]] = arith.cmpi uge, %{{.*}}, %c1024
// CHECK: scf.if %[[LONG]]
// CHECK: scf.for %{{.*}} = %block_id
// CHECK: gpu.barrier
// CHECK: gpu.all_reduce maxui %{{.*}} uniform {
// CHECK: (i64) -> i64
// CHECK: else
// CHECK: gpu.subgroup_reduce maxui %{{.*}} uniform : (i64) -> i64
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0 : i64
  %ok = llvm.mlir.constant(0 : i32) : i32
  %d = llvm.load %in : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  %x = builtin.unrealized_conversion_cast %d : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<100x?xi64>
  %n = memref.dim %x, %c1 : memref<100x?xi64>
  %y = memref.alloc() : memref<100xi64>
  scf.for %i = %c0 to %c100 step %c1 {
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> i64 {
      %v = memref.load %x[%i, %k] : memref<100x?xi64>
      %b = arith.maxui %a, %v : i64
      scf.yield %b : i64
    }
    memref.store %s, %y[%i] : memref<100xi64>
  } {loopc.parallel}
  %r = builtin.unrealized_conversion_cast %y : memref<100xi64> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return %ok : i32
}
