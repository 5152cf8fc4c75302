// RUN: loopc-opt %s --loopc-place-buffers | FileCheck %s

// What the host reads both reach.
// CHECK-LABEL: func.func @places
// CHECK: %[[X:.+]] = gpu.alloc {{ *}}(%{{.+}}) : memref<?xf32>
// CHECK: %[[Y:.+]] = gpu.alloc {{ *}}host_shared (%{{.+}}) : memref<?xf32>
// CHECK: device.region
// CHECK: memref.store %{{.+}}, %[[X]]
// CHECK: memref.store %{{.+}}, %[[Y]]
// CHECK: memref.load %[[Y]]
// CHECK: gpu.dealloc {{ *}}%[[X]]
// CHECK: memref.dealloc %[[Y]]
func.func @places(%n: index, %f: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = memref.alloc(%n) : memref<?xf32>
  %y = memref.alloc(%n) : memref<?xf32>
  device.region {
    scf.for %i = %c0 to %n step %c1 {
      memref.store %f, %x[%i] : memref<?xf32>
      memref.store %f, %y[%i] : memref<?xf32>
    } {loopc.parallel}
    device.yield
  }
  %e = memref.load %y[%c0] : memref<?xf32>
  memref.dealloc %x : memref<?xf32>
  memref.dealloc %y : memref<?xf32>
  return %e : f32
}
