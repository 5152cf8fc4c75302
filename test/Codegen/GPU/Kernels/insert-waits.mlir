// RUN: loopc-opt %s --loopc-insert-waits | FileCheck %s

// In front of what the host reads, once.
// CHECK-LABEL: func.func @reads
// CHECK: gpu.launch_func
// CHECK-NEXT: device.wait
// CHECK-NEXT: memref.load
// CHECK-NEXT: memref.load
// CHECK-NOT: device.wait
// CHECK: return
module attributes {gpu.container_module} {
func.func @reads(%run: !llvm.ptr) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = gpu.alloc host_shared () : memref<8xf32>
  gpu.launch_func @loopc_kernels::@k blocks in (%c1, %c1, %c1)
      threads in (%c1, %c1, %c1) args(%run : !llvm.ptr, %x : memref<8xf32>)
  %a = memref.load %x[%c0] : memref<8xf32>
  %b = memref.load %x[%c1] : memref<8xf32>
  return %a, %b : f32, f32
}

// What only kernels touch is not waited for but at the end; a buffer that a
// kernel has described is read then.
// CHECK-LABEL: func.func @describes
// CHECK-SAME: %[[Y:[a-z0-9]+]]: memref<8xf32>
// CHECK: %[[WORDS:.+]] = gpu.alloc
// CHECK: gpu.launch_func
// CHECK: gpu.launch_func
// CHECK-NEXT: device.wait
// CHECK-NOT: device.buffer
// CHECK: memref.load %[[WORDS]]
// CHECK: builtin.unrealized_conversion_cast %{{.+}} : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<?xf32>
// CHECK: device.wait
// CHECK-NEXT: return
func.func @describes(%run: !llvm.ptr, %y: memref<8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %words = gpu.alloc host_shared () : memref<4xindex>
  %x = gpu.alloc () : memref<8xf32>
  gpu.launch_func @loopc_kernels::@k blocks in (%c1, %c1, %c1)
      threads in (%c1, %c1, %c1) args(%run : !llvm.ptr, %x : memref<8xf32>)
  gpu.launch_func @loopc_kernels::@k blocks in (%c1, %c1, %c1)
      threads in (%c1, %c1, %c1) args(%run : !llvm.ptr, %x : memref<8xf32>)
  %r = device.buffer %words of %x : memref<4xindex>, memref<8xf32> -> memref<?xf32>
  gpu.launch_func @loopc_kernels::@k blocks in (%c1, %c1, %c1)
      threads in (%c1, %c1, %c1) args(%run : !llvm.ptr, %x : memref<8xf32>)
  %a = memref.load %y[%c0] : memref<8xf32>
  return %a : f32
}

gpu.module @loopc_kernels {
  gpu.func @k(%run: !llvm.ptr, %x: memref<8xf32>) kernel {
    gpu.return
  }
}
}
