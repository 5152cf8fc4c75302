// RUN: loopc-opt %s --pass-pipeline='builtin.module(func.func(onnx-switch-on-rank,convert-onnx-to-linalg,loop-lower-unranked,canonicalize))' | FileCheck %s

// Branches of different rank: one switch over the two ranks that there are, and
// the result is elements and shape.
// CHECK-LABEL: func.func @branches(
// CHECK-SAME: -> (tensor<?xf32>{{.*}}, tensor<?xi64> {loopc.shape_of})
// CHECK: %[[PAIR:.*]]:2 = scf.if
// CHECK: scf.index_switch
// CHECK: case 1
// CHECK: case 2
// CHECK-NOT: case 3
func.func @branches(%p: i1, %x: tensor<1x?xf32>) -> tensor<*xf32> {
  %r = scf.if %p -> (tensor<*xf32>) {
    %s = tensor.collapse_shape %x [[0, 1]] : tensor<1x?xf32> into tensor<?xf32>
    %u = tensor.cast %s : tensor<?xf32> to tensor<*xf32>
    scf.yield %u : tensor<*xf32>
  } else {
    %u = tensor.cast %x : tensor<1x?xf32> to tensor<*xf32>
    scf.yield %u : tensor<*xf32>
  }
  %y = onnx.node "Neg"(%r) since 13 : (tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// A rank that is known after all needs no switch.
// CHECK-LABEL: func.func @one_rank(
// CHECK-NOT: scf.index_switch
// CHECK: return
func.func @one_rank(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %u = tensor.cast %x : tensor<2x3xf32> to tensor<*xf32>
  %y = onnx.node "Neg"(%u) since 13 : (tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
