// RUN: loopc-opt %s --loop-scalarize --canonicalize | FileCheck %s

// The best one of a row, as of TopK: nothing is allocated in the loop.
// CHECK-LABEL: func @counted(
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (f32)
// CHECK-NOT: tensor.from_elements
// CHECK: scf.yield
func.func @counted(%x: tensor<9xf32>, %first: tensor<1xf32>, %all: tensor<4xf32>) -> (tensor<1xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%best = %first, %a = %all) -> (tensor<1xf32>, tensor<4xf32>) {
    %0 = tensor.extract %x[%i] : tensor<9xf32>
    %1 = tensor.extract %best[%c0] : tensor<1xf32>
    %2 = arith.maximumf %0, %1 : f32
    %3 = tensor.insert %2 into %best[%c0] : tensor<1xf32>
    scf.yield %3, %a : tensor<1xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<1xf32>, tensor<4xf32>
}
