// RUN: loopc-opt %s | loopc-opt | FileCheck %s

// CHECK-LABEL: func.func @before
// CHECK: device.region {
// CHECK:   scf.for
// CHECK:   device.yield
// CHECK: %[[SUM:.*]] = device.region {
// CHECK:   device.yield %{{.*}} : f32
// CHECK: } : f32
func.func @before(%x: memref<8xf32>, %f: f32) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  device.region {
    scf.for %i = %zero to %eight step %one {
      memref.store %f, %x[%i] : memref<8xf32>
    } {loopc.parallel}
    device.yield
  }
  %r = device.region {
    %s = scf.for %i = %zero to %eight step %one iter_args(%a = %f) -> f32 {
      %e = memref.load %x[%i] : memref<8xf32>
      %b = arith.addf %a, %e : f32
      scf.yield %b : f32
    }
    device.yield %s : f32
  } : f32
  return %r : f32
}

// CHECK-LABEL: func.func @behind
// CHECK: device.region kernel @kernels::@fill given(%{{.*}} : memref<8xf32>)
// CHECK-SAME: grid(%{{.*}}, %{{.*}}) shape <barriers = false, tiles = false, splits = true> {
// CHECK: device.buffer %{{.*}} of %{{.*}} : memref<4xindex>, memref<8xf32> -> memref<?xf32>
func.func @behind(%x: memref<8xf32>, %f: f32, %words: memref<4xindex>) -> memref<?xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  device.region kernel @kernels::@fill given(%x : memref<8xf32>)
      grid(%one, %eight)
      shape <barriers = false, tiles = false, splits = true> {
    scf.for %i = %zero to %eight step %one {
      memref.store %f, %x[%i] : memref<8xf32>
    } {loopc.parallel}
    device.yield
  }
  %r = device.buffer %words of %x : memref<4xindex>, memref<8xf32> -> memref<?xf32>
  return %r : memref<?xf32>
}

gpu.module @kernels {
  gpu.func @fill(%run: !llvm.ptr, %x: memref<8xf32>) kernel {
    gpu.return
  }
}
