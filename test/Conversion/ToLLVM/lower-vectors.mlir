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

// Accesses say how they are aligned, which is as one element is: the conversion
// need not ask LLVM for each. What is said already stays.
// CHECK-LABEL: func.func @access(
// CHECK: vector.load %{{.*}} {alignment = 4 : i64} : memref<?xf32>
// CHECK: vector.store %{{.*}} {alignment = 64 : i64} : memref<?xf32>
// CHECK: vector.maskedload %{{.*}} {alignment = 8 : i64} : memref<?xindex>
// CHECK: vector.maskedstore %{{.*}} {alignment = 1 : i64} : memref<?xi8>
func.func @access(%x: memref<?xf32>, %y: memref<?xindex>, %z: memref<?xi8>,
                  %i: index, %mask: vector<8xi1>, %indices: vector<8xindex>,
                  %bytes: vector<8xi8>) -> vector<8xindex> {
  %0 = vector.load %x[%i] : memref<?xf32>, vector<8xf32>
  vector.store %0, %x[%i] {alignment = 64 : i64} : memref<?xf32>, vector<8xf32>
  %1 = vector.maskedload %y[%i], %mask, %indices : memref<?xindex>, vector<8xi1>, vector<8xindex> into vector<8xindex>
  vector.maskedstore %z[%i], %mask, %bytes : memref<?xi8>, vector<8xi1>, vector<8xi8>
  return %1 : vector<8xindex>
}
