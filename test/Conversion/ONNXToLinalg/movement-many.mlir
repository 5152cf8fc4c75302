// RUN: env MALLOC_PERTURB_=85 loopc-opt %s --convert-onnx-to-linalg --canonicalize --cse | FileCheck %s

// As many slices of one tensor take bufferization long. Memory of nodes that are
// gone, which are as large here, is not read: it is overwritten.

// CHECK-LABEL: func @many
// CHECK-NOT:     tensor.insert_slice
// CHECK:         tensor.concat dim(0)
// CHECK-SAME:      -> tensor<69x8xf32>
func.func @many(%x: tensor<2x?xf32>, %y: tensor<3x8xf32>) -> tensor<69x8xf32> {
  %joined = onnx.node "Concat"(%x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %y) since 13 {axis = 0 : i64} : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<3x8xf32>) -> tensor<69x8xf32>
  return %joined : tensor<69x8xf32>
}
