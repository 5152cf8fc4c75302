// A loop over scalars runs in registers.

// RUN: loopc-opt %s --loopc-to-scf | FileCheck %s

// CHECK-LABEL: func @empty_loop(
func.func @empty_loop(%n: tensor<i64>, %x: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}}) -> (f32)
  // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[S]]) -> (f32)
  // CHECK-NOT: memref.
  // CHECK: %[[NEXT:.*]] = arith.addf %[[A]], %{{.*}} : f32
  // CHECK-NEXT: scf.yield %[[NEXT]] : f32
  %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%n : tensor<i64>)
      carried(%a = %x : tensor<f32>) {
    %s = onnx.node "Add"(%a, %x) since 14 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    loop.yield while(%c : tensor<i1>) carried(%s : tensor<f32>)
  }
  return %r : tensor<f32>
}
