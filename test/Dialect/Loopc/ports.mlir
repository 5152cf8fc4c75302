// Types of ports that fit: with signs, of less than a byte, strings, lists, and
// without a rank.
// RUN: loopc-opt %s | FileCheck %s

// CHECK-LABEL: func.func @ports(
func.func @ports(%a: tensor<?x4xi8> {loopc.type = tensor<3x?xui8>}, %b: memref<2xi8> {loopc.type = tensor<2xi4>},
                 %c: tensor<2xi8> {loopc.type = tensor<2xf8E5M2>}, %d: memref<?x!rt.string> {loopc.type = tensor<?x!onnx.string>},
                 %e: !list.list<i8> {loopc.type = !onnx.seq<tensor<?x2xui8>>},
                 %f: !list.list<f32> {loopc.type = !onnx.optional<tensor<?xf32>>},
                 %g: tensor<?xi1> {loopc.type = tensor<*xi1>}, %h: tensor<?xi64> {loopc.shape_of},
                 %i: tensor<*xui8> {loopc.type = tensor<*xui8>}, %j: i64 {loopc.type = ui64}) {
  return
}
