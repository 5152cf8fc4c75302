// RUN: loopc-opt %s -split-input-file --loopc-set-target=chip=sm_80 --loopc-to-kernels | FileCheck %s

// What is only copied, from what kernels wrote, lies where they write.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: %[[X:.*]] = gpu.alloc
// CHECK: %[[BETWEEN:.*]] = gpu.alloc
// CHECK: gpu.launch_func
// CHECK: gpu.memcpy %[[BETWEEN]], %[[X]]
// CHECK: gpu.dealloc %[[BETWEEN]]
// CHECK-NOT: memref.dealloc
// CHECK: return
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10000 = arith.constant 10000 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<10000xf32>
  %between = memref.alloc() : memref<10000xf32>
  scf.for %i = %c0 to %c10000 step %c1 {
    %v = arith.index_cast %i : index to i32
    %f = arith.sitofp %v : i32 to f32
    memref.store %f, %x[%i] : memref<10000xf32>
  } {loopc.parallel}
  memref.copy %x, %between : memref<10000xf32> to memref<10000xf32>
  memref.dealloc %between : memref<10000xf32>
  return %ok : i32
}

// -----

// The host's memory is not free before a copy to it is done, nor is it read.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: %[[X:.*]] = gpu.alloc
// CHECK: %[[H:.*]] = memref.alloc
// CHECK: memref.store %{{.*}}, %[[H]]
// CHECK: gpu.launch_func
// CHECK: gpu.memcpy %[[H]], %[[X]]
// CHECK-NEXT: device.wait
// CHECK-NEXT: gpu.memcpy %[[X]], %[[H]]
// CHECK-NEXT: gpu.memcpy %[[H]], %[[X]]
// CHECK-NEXT: device.wait
// CHECK-NEXT: memref.dealloc %[[H]]
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10000 = arith.constant 10000 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<10000xf32>
  %host = memref.alloc() : memref<10000xf32>
  memref.store %zero, %host[%c0] : memref<10000xf32>
  scf.for %i = %c0 to %c10000 step %c1 {
    %v = arith.index_cast %i : index to i32
    %f = arith.sitofp %v : i32 to f32
    memref.store %f, %x[%i] : memref<10000xf32>
  } {loopc.parallel}
  memref.copy %x, %host : memref<10000xf32> to memref<10000xf32>
  memref.copy %host, %x : memref<10000xf32> to memref<10000xf32>
  memref.copy %x, %host : memref<10000xf32> to memref<10000xf32>
  memref.dealloc %host : memref<10000xf32>
  return %ok : i32
}

// -----

// Who freed an element of a list frees its copy, once; the element is let go of
// when it is copied.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: %[[E:.*]]:2 = list.at
// CHECK: %[[COPY:.*]] = gpu.alloc
// CHECK: gpu.memcpy %[[COPY]], %[[E]]#0
// CHECK-NEXT: memref.dealloc %[[E]]#0
// CHECK: gpu.launch_func
// CHECK: gpu.dealloc %[[COPY]]
// CHECK-NOT: dealloc
// CHECK: return
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10000 = arith.constant 10000 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %list = list.empty : !list.list<f32>
  %e, %shape = list.at %list[%c0] : !list.list<f32> -> memref<?xf32>, memref<?xi64>
  %y = memref.alloc() : memref<10000xf32>
  scf.for %i = %c0 to %c10000 step %c1 {
    %v = memref.load %e[%i] : memref<?xf32>
    memref.store %v, %y[%i] : memref<10000xf32>
  } {loopc.parallel}
  memref.dealloc %e : memref<?xf32>
  return %ok : i32
}
