// RUN: loopc-opt %s --convert-launches-to-llvm | FileCheck %s

// CHECK: llvm.mlir.global external @loopc_cuda_program() {{.*}} : !llvm.array<80 x i8>
// CHECK-LABEL: func.func @loopc_entry(%arg0: !llvm.ptr
// CHECK: %[[BEGUN:.+]] = llvm.call @loopc_rt_cuda_begin(%arg0,
// CHECK: %[[OK:.+]] = llvm.icmp "eq" %[[BEGUN]]
// CHECK: cf.cond_br %[[OK]] weights([2000, 1]), ^{{.*}}, ^[[FAIL:.+]]
// CHECK: %[[VIEW:.+]] = llvm.call @loopc_rt_cuda_input(%arg0, %{{.*}}, %{{.*}}, %[[BYTES:[^,]+]],
// CHECK: %[[MEMORY:.+]] = llvm.call @loopc_rt_cuda_alloc(%arg0, %{{.*}}, %{{.*}})
// CHECK: llvm.call @loopc_rt_cuda_launch(%arg0, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK: llvm.call @loopc_rt_cuda_output(%arg0,
// CHECK: llvm.call @loopc_rt_cuda_sync(%arg0)
// CHECK: llvm.call @loopc_rt_cuda_free(%arg0,
// CHECK: ^[[FAIL]]:
// CHECK: return
module attributes {gpu.container_module} {
  gpu.module @loopc_kernels {
    llvm.func @nest_0(%control: !llvm.ptr, %a: !llvm.ptr, %b: !llvm.ptr, %o: i64, %s: i64, %t: i64) attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
  func.func @loopc_entry(%run: !llvm.ptr, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %null = llvm.mlir.zero : !llvm.ptr
    %ok = llvm.mlir.constant(0 : i32) : i32
    %d = llvm.load %in : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %d : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<?xf32>
    %v = loop.device_view %x : memref<?xf32>
    %y = gpu.alloc (%c256) : memref<?xf32>
    gpu.launch_func @loopc_kernels::@nest_0 blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1) args(%null : !llvm.ptr, %v : memref<?xf32>)
    %r = loop.device_result %y : memref<?xf32>
    loop.device_wait
    gpu.dealloc %y : memref<?xf32>
    return %ok : i32
  }
}
