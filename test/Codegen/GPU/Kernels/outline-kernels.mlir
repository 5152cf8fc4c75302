// RUN: loopc-opt %s -split-input-file --loopc-outline-kernels | FileCheck %s

// Code for one thread; the region keeps its body.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: (%[[X:.+]]: memref<4x8xf32>, %[[S:.+]]: memref<4xf32>)
// CHECK: device.region kernel @loopc_kernels::@nest_0 given(%[[S]], %[[X]] : memref<4xf32>, memref<4x8xf32>) {
// CHECK-NEXT: scf.for
// CHECK: gpu.func @nest_0(%{{.+}}: !llvm.ptr, %{{.+}}: memref<4xf32>, %{{.+}}: memref<4x8xf32>) kernel
// CHECK-NOT: gpu.thread_id
// CHECK: } {loopc.parallel}
// CHECK-NEXT: gpu.return
func.func @sums(%x: memref<4x8xf32>, %s: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  device.region {
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %k = %c0 to %c8 step %c1 {
        %a = memref.load %s[%i] : memref<4xf32>
        %e = memref.load %x[%i, %k] : memref<4x8xf32>
        %b = arith.addf %a, %e : f32
        memref.store %b, %s[%i] : memref<4xf32>
      }
    } {loopc.parallel}
    device.yield
  }
  return
}

// -----

// Results come back through memory that both reach. A buffer is described: it
// is one of those that the loop began with, or is in one.
// CHECK-LABEL: func.func @results
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<8xf32>, %[[Y:[a-z0-9]+]]: memref<8xf32>
// CHECK-DAG: %[[WORDS:.+]] = gpu.alloc {{ *}}host_shared () : memref<4xindex>
// CHECK-DAG: %[[NUMBER:.+]] = gpu.alloc {{ *}}host_shared () : memref<1xf32>
// CHECK: device.region kernel @loopc_kernels::@loop_0
// CHECK: device.yield{{$}}
// CHECK: device.buffer %[[WORDS]] of %{{.+}}, %{{.+}} : memref<4xindex>, memref<8xf32>, memref<8xf32> -> memref<8xf32>
// CHECK: memref.load %[[NUMBER]]
// CHECK-LABEL: gpu.func @loop_0
// CHECK: memref.extract_aligned_pointer_as_index
func.func @results(%x: memref<8xf32>, %y: memref<8xf32>, %f: f32) -> (memref<8xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r:3 = device.region {
    %q:3 = scf.for %t = %c0 to %c8 step %c1 iter_args(%a = %x, %b = %y, %g = %f)
        -> (memref<8xf32>, memref<8xf32>, f32) {
      scf.for %i = %c0 to %c8 step %c1 {
        memref.store %g, %a[%i] : memref<8xf32>
      } {loopc.parallel}
      %h = arith.addf %g, %g : f32
      scf.yield %b, %a, %h : memref<8xf32>, memref<8xf32>, f32
    }
    device.yield %q#0, %q#1, %q#2 : memref<8xf32>, memref<8xf32>, f32
  } : memref<8xf32>, memref<8xf32>, f32
  return %r#0, %r#2 : memref<8xf32>, f32
}
