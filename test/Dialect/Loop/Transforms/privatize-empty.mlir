// RUN: loopc-opt %s --loop-privatize-empty | FileCheck %s

// CHECK-LABEL: func @two_users(
func.func @two_users(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[E:.*]] = tensor.empty
  // CHECK: linalg.exp {{.*}} outs(%[[E]]
  // CHECK: %[[F:.*]] = tensor.empty
  // CHECK: linalg.abs {{.*}} outs(%[[F]]
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.abs ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// Hoisted out of a loop, it comes back to where it is written.
// CHECK-LABEL: func @user_in_loop(
func.func @user_in_loop(%n: i64, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: tensor.empty
  // CHECK: loop.loop
  // CHECK: tensor.empty
  %e = tensor.empty() : tensor<4xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %x : tensor<4xf32>) {
    %b = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    loop.yield while(%c : i1) carried(%b : tensor<4xf32>)
  }
  return %r : tensor<4xf32>
}
