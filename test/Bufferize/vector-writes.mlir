// RUN: loopc-opt %s --loopc-bufferize | FileCheck %s

// What a vector leaves as it was is in the copy: a row of several, or what a
// mask keeps.
// CHECK-LABEL: func @row
// CHECK:         %[[MADE:.*]] = memref.alloc
// CHECK:         memref.copy %{{.*}}, %[[MADE]]
// CHECK:         vector.transfer_write %{{.*}}, %[[MADE]]
func.func @row(%v: vector<4xf32>, %x: tensor<4x4xf32> {bufferization.writable = false}) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %y = vector.transfer_write %v, %x[%c0, %c0] {in_bounds = [true]} : vector<4xf32>, tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// CHECK-LABEL: func @masked
// CHECK:         %[[MADE:.*]] = memref.alloc
// CHECK:         memref.copy %{{.*}}, %[[MADE]]
// CHECK:         vector.transfer_write %{{.*}}, %[[MADE]]
func.func @masked(%v: vector<4xf32>, %m: vector<4xi1>, %x: tensor<4xf32> {bufferization.writable = false}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %y = vector.transfer_write %v, %x[%c0], %m {in_bounds = [true]} : vector<4xf32>, tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func @all
// CHECK-NOT:     memref.copy
// CHECK:         vector.transfer_write
// CHECK:         return
func.func @all(%v: vector<4x4xf32>, %x: tensor<4x4xf32> {bufferization.writable = false}) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %y = vector.transfer_write %v, %x[%c0, %c0] {in_bounds = [true, true], permutation_map = affine_map<(i, j) -> (j, i)>} : vector<4x4xf32>, tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
