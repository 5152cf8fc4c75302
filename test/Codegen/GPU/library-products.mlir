// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0 cublas=on' --loopc-to-kernels | FileCheck %s
// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0 cublas=auto' --loopc-to-kernels | FileCheck %s --check-prefix=AUTO
// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0 cublas=off' --loopc-to-kernels | FileCheck %s --check-prefix=OFF
// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0 cublas=on' --loopc-to-kernels --loopc-lower-kernels --convert-scf-to-cf --convert-launches-to-llvm | FileCheck %s --check-prefix=LLVM

// The runtime is asked for a product, with what each loop means for both factors
// and the result: 0 a batch, 1 rows, 2 columns, 3 the sum. The kernel is launched
// where it says -1. What comes behind is a kernel of its own.
// CHECK-LABEL: func.func @loopc_entry
// CHECK-DAG: %[[C70:.+]] = arith.constant 70 : index
// CHECK: %[[STATUS:.+]] = call @loopc_cuda_product_3({{.*}}) {loopc.product = "nest_0"} : ({{.*}}) -> i32
// CHECK: %[[LEFT:.+]] = arith.cmpi eq, %[[STATUS]], %c-1_i32
// CHECK-NEXT: scf.if %[[LEFT]] {
// CHECK: gpu.launch_func @loopc_kernels::@nest_0
// CHECK-NEXT: }
// CHECK: gpu.launch_func @loopc_kernels::@nest_1
// CHECK: func.func private @loopc_cuda_product_3
// Only large ones of known extents, where nothing was asked for.
// AUTO-LABEL: func.func @loopc_entry
// AUTO-NOT: loopc.product
// AUTO: gpu.launch_func @loopc_kernels::@nest_0
// AUTO-NOT: gpu.launch_func
// OFF-LABEL: func.func @loopc_entry
// OFF-NOT: loopc.product
// LLVM-LABEL: func.func @loopc_entry
// LLVM: %[[MADE:.+]] = llvm.call @loopc_rt_cuda_product(%{{.+}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// LLVM: %[[OK:.+]] = llvm.icmp "sle" %[[MADE]]
// LLVM: cf.cond_br %[[OK]]
// LLVM: arith.cmpi eq, %[[MADE]]
// LLVM: llvm.call @loopc_rt_cuda_launch
// LLVM-NOT: loopc_cuda_product_3
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %c70 = arith.constant 70 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %d = llvm.load %in : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  %x = builtin.unrealized_conversion_cast %d : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<100x70xf32>
  %e = llvm.load %out : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  %w = builtin.unrealized_conversion_cast %e : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<70x70xf32>
  %y = memref.alloc() : memref<100x70xf32>
  %z = memref.alloc() : memref<100x70xf32>
  scf.for %i = %c0 to %c100 step %c1 {
    scf.for %j = %c0 to %c70 step %c1 {
      memref.store %zero, %y[%i, %j] : memref<100x70xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  scf.for %i = %c0 to %c100 step %c1 {
    scf.for %j = %c0 to %c70 step %c1 {
      scf.for %k = %c0 to %c70 step %c1 {
        %l = memref.load %x[%i, %k] : memref<100x70xf32>
        %r = memref.load %w[%k, %j] : memref<70x70xf32>
        %a = memref.load %y[%i, %j] : memref<100x70xf32>
        %p = arith.mulf %l, %r fastmath<contract> : f32
        %b = arith.addf %a, %p fastmath<reassoc,contract> : f32
        memref.store %b, %y[%i, %j] : memref<100x70xf32>
      }
    } {loopc.parallel}
  } {loopc.parallel}
  scf.for %i = %c0 to %c100 step %c1 {
    scf.for %j = %c0 to %c70 step %c1 {
      %s = memref.load %y[%i, %j] : memref<100x70xf32>
      %t = math.tanh %s : f32
      memref.store %t, %z[%i, %j] : memref<100x70xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  %r = builtin.unrealized_conversion_cast %z : memref<100x70xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// Large ones. What a nest does beside the sum, as behind the second product, and
// what computes a factor, as in front of it, are nests of their own.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: loopc.product = "nest_0"
// CHECK: gpu.launch_func @loopc_kernels::@nest_1
// CHECK: loopc.product = "nest_2"
// CHECK: gpu.launch_func @loopc_kernels::@nest_3
// CHECK-NOT: loopc.product
// AUTO-LABEL: func.func @loopc_entry
// AUTO-COUNT-2: loopc.product
// AUTO-NOT: loopc.product
// OFF-LABEL: func.func @loopc_entry
// OFF-COUNT-2: gpu.launch_func
// OFF-NOT: gpu.launch_func
// LLVM-LABEL: func.func @loopc_entry
// LLVM-COUNT-2: llvm.call @loopc_rt_cuda_product
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f16
  %ok = llvm.mlir.constant(0 : i32) : i32
  %d = llvm.load %in : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  %x = builtin.unrealized_conversion_cast %d : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<1024x1024xf16>
  %y = memref.alloc() : memref<1024x1024xf16>
  %z = memref.alloc() : memref<1024x1024xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> f32 {
        %l = memref.load %x[%i, %k] : memref<1024x1024xf16>
        %r = memref.load %x[%k, %j] : memref<1024x1024xf16>
        %lw = arith.extf %l : f16 to f32
        %rw = arith.extf %r : f16 to f32
        %p = arith.mulf %lw, %rw fastmath<contract> : f32
        %b = arith.addf %a, %p fastmath<reassoc,contract> : f32
        scf.yield %b : f32
      }
      %h = arith.truncf %s : f32 to f16
      memref.store %h, %y[%i, %j] : memref<1024x1024xf16>
    } {loopc.parallel}
  } {loopc.parallel}
  scf.for %j = %c0 to %n step %c1 {
    scf.for %i = %c0 to %n step %c1 {
      %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> f32 {
        %m = memref.load %y[%i, %k] : memref<1024x1024xf16>
        %l = arith.maximumf %m, %half : f16
        %r = memref.load %x[%k, %j] : memref<1024x1024xf16>
        %lw = arith.extf %l : f16 to f32
        %rw = arith.extf %r : f16 to f32
        %p = arith.mulf %lw, %rw fastmath<contract> : f32
        %b = arith.addf %a, %p fastmath<reassoc,contract> : f32
        scf.yield %b : f32
      }
      %h = arith.addf %s, %one : f32
      memref.store %h, %z[%j, %i] : memref<1024x1024xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  %r = builtin.unrealized_conversion_cast %z : memref<1024x1024xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>, !llvm.ptr
  return %ok : i32
}
