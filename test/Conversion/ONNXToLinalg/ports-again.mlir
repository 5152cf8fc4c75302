// The types of ports are written down for the border. A function that is
// lowered again keeps their signs, and takes the shapes that hold now.
// RUN: loopc-opt %s --convert-onnx-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %{{[^:]+}}: tensor<*xi8> {loopc.type = tensor<*xui8>}
// CHECK-SAME: -> (tensor<?x4xi8> {loopc.type = tensor<?x4xui8>}, tensor<f32> {loopc.type = tensor<f32>})
func.func @main(%x: tensor<*xi8> {loopc.type = tensor<?x2xui8>}, %f: tensor<f32>)
    -> (tensor<?x4xi8> {loopc.type = tensor<*xui8>}, tensor<f32>) {
  %y = tensor.cast %x : tensor<*xi8> to tensor<?x4xi8>
  return %y, %f : tensor<?x4xi8>, tensor<f32>
}
