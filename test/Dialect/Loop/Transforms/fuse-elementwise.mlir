// RUN: loopc-opt %s --linalg-generalize-named-ops --loop-fuse-elementwise | FileCheck %s

// CHECK-LABEL: func @chain(
func.func @chain(%x: tensor<4xf32>, %y: tensor<4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: linalg.generic
  // CHECK: %[[S:.*]] = arith.addf
  // CHECK: math.exp %[[S]]
  // CHECK-NOT: linalg.generic
  // CHECK: return
  %a = linalg.add ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}

// An expensive producer with two consumers is computed once, in one operation
// with them.
// CHECK-LABEL: func @neighbours(
func.func @neighbours(%x: tensor<4xf32>, %e: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: linalg.generic
  // CHECK: %[[E:.*]] = math.exp
  // CHECK-NOT: math.exp
  // CHECK-NOT: linalg.generic
  // CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, f32
  // CHECK-NOT: linalg.generic
  // CHECK: return
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.add ins(%a, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %c = linalg.mul ins(%a, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %b, %c : tensor<4xf32>, tensor<4xf32>
}

// Sizes that may differ are not merged.
// CHECK-LABEL: func @other_size(
func.func @other_size(%x: tensor<?xf32>, %y: tensor<?xf32>, %e: tensor<?xf32>, %f: tensor<?xf32>)
    -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK-COUNT-2: linalg.generic
  %a = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %b = linalg.exp ins(%y : tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}

// What an operation between them needs is computed before it.
// CHECK-LABEL: func @used_in_between(
func.func @used_in_between(%x: tensor<4xf32>, %e: tensor<4xf32>, %k: index) -> (tensor<4xf32>, f32) {
  // CHECK: math.exp
  // CHECK: %[[F:.*]] = tensor.extract
  // CHECK: linalg.generic
  // CHECK: arith.addf
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %f = tensor.extract %a[%k] : tensor<4xf32>
  %s = tensor.splat %f : tensor<4xf32>
  %b = linalg.add ins(%x, %s : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %b, %f : tensor<4xf32>, f32
}
