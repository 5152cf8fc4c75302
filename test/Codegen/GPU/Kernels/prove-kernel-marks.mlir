// RUN: loopc-opt %s -split-input-file --loopc-outline-kernels --loopc-prove-kernel-marks | FileCheck %s
// RUN: loopc-opt %s -split-input-file --loopc-outline-kernels --loopc-prove-kernel-marks \
// RUN:   --remark-format=emitRemark --remarks-filter=loop 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not loopc-opt %s -split-input-file --loopc-prove-kernel-marks 2>&1 | FileCheck %s --check-prefix=EARLY

// EARLY: error: 'device.region' op has no kernel yet

// Rows are independent, windows in them are not, as they overlap.
// REMARK: remark: {{.*}}in the kernel its iterations are said to be independent, and that is not proved: iterations may write to one place
// CHECK-LABEL: gpu.func @nest_0
// CHECK: scf.for
// CHECK: scf.for
// CHECK: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: } {loopc.parallel}
func.func @rows(%x: memref<?x?xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  device.region {
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        scf.for %k = %c0 to %c8 step %c1 {
          %at = arith.addi %j, %k : index
          memref.store %f, %x[%i, %at] : memref<?x?xf32>
        }
      } {loopc.parallel}
    } {loopc.parallel}
    device.yield
  }
  return
}

// -----

// What the kernel is given twice is one buffer, which the kernel alone does not
// show: an iteration may read what another one writes. What is read only may be
// given twice.
// REMARK: remark: {{.*}}in the kernel its iterations are said to be independent, and that is not proved: an iteration may read what another one writes
// CHECK-LABEL: gpu.func @nest_0
// CHECK: memref.store
// CHECK-NEXT: }
// CHECK-LABEL: gpu.func @nest_1
// CHECK: memref.store
// CHECK-NEXT: } {loopc.parallel}
func.func @views(%x: memref<64xf32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %part = memref.subview %x[8] [16] [1] : memref<64xf32> to memref<16xf32, strided<[1], offset: 8>>
  device.region {
    scf.for %i = %c0 to %c16 step %c1 {
      %v = memref.load %part[%i] : memref<16xf32, strided<[1], offset: 8>>
      memref.store %v, %x[%i] : memref<64xf32>
    } {loopc.parallel}
    device.yield
  }
  device.region {
    scf.for %i = %c0 to %c16 step %c1 {
      %v = memref.load %part[%i] : memref<16xf32, strided<[1], offset: 8>>
      %w = memref.load %x[%i] : memref<64xf32>
      %s = arith.addf %v, %w : f32
      memref.store %s, %y[%i] : memref<16xf32>
    } {loopc.parallel}
    device.yield
  }
  return
}
