// RUN: loopc-opt %s -loopc-lower-vectors | FileCheck %s

// Lanes are counted with 32 bits.
// CHECK-LABEL: func.func @mask(
// CHECK: arith.index_cast %{{.*}} : index to i32
// CHECK: arith.cmpi sgt, {{.*}} : vector<16xi32>
// CHECK-NOT: vector.create_mask
func.func @mask(%n: index) -> vector<16xi1> {
  %m = vector.create_mask %n : vector<16xi1>
  return %m : vector<16xi1>
}

// Only where there is a vector: a module without one is left alone.
// CHECK-LABEL: func.func @scalar(
// CHECK: arith.addi %{{.*}}, %[[ZERO:.*]] : index
func.func @scalar(%n: index) -> index {
  %zero = arith.constant 0 : index
  %m = arith.addi %n, %zero : index
  return %m : index
}

// Of several axes there are rows of one.
// CHECK-LABEL: func.func @transpose(
// CHECK-NOT: vector.transpose
// CHECK: return
func.func @transpose(%x: vector<2x4xf32>) -> vector<4x2xf32> {
  %t = vector.transpose %x, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  return %t : vector<4x2xf32>
}
