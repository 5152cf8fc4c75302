// The types of ports are written down for the border. A function that is
// lowered again keeps their signs, and takes the shapes that hold now.
// RUN: loopc-opt %s --convert-onnx-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %{{[^:]+}}: tensor<?x2xi8> {loopc.type = tensor<?x2xui8>}
// CHECK-SAME: -> (tensor<?x4xi8> {loopc.type = tensor<?x4xui8>}, tensor<f32> {loopc.type = tensor<f32>})
func.func @main(%x: tensor<?x2xi8> {loopc.type = tensor<?x?xui8>}, %f: tensor<f32>)
    -> (tensor<?x4xi8> {loopc.type = tensor<?x?xui8>}, tensor<f32>) {
  %y = tensor.cast %x : tensor<?x2xi8> to tensor<?x?xi8>
  %z = tensor.cast %y : tensor<?x?xi8> to tensor<?x4xi8>
  return %z, %f : tensor<?x4xi8>, tensor<f32>
}

// Elements whose shape is the next port have no rank.
// CHECK-LABEL: func.func @flat(
// CHECK-SAME: %{{[^:]+}}: tensor<?xi8> {loopc.type = tensor<*xui8>}
// CHECK-SAME: %{{[^:]+}}: tensor<?xi64> {loopc.shape_of, loopc.type = tensor<?xi64>}
// CHECK-SAME: %{{[^:]+}}: tensor<?xf32> {loopc.type = tensor<*xf32>}
func.func @flat(%x: tensor<?xi8> {loopc.type = tensor<*xui8>}, %s: tensor<?xi64> {loopc.shape_of},
                %y: tensor<?xf32>, %t: tensor<?xi64> {loopc.shape_of}) {
  return
}

// A buffer is a tensor of the model.
// CHECK-LABEL: func.func @buffer(
// CHECK-SAME: %{{[^:]+}}: memref<?x2xf32> {loopc.type = tensor<?x2xf32>}
func.func @buffer(%x: memref<?x2xf32>) {
  return
}
