// RUN: loopc %s --emit=linalg -o - | FileCheck %s

// Upstream's canonicalization takes both pairs of conversions away; the first
// one cuts the number to eight bits.
// CHECK-LABEL: func.func @main(
// CHECK: %[[X:.*]] = tensor.extract
// CHECK-DAG: %[[I:.*]] = arith.index_cast %[[X]] : i64 to index
// CHECK-DAG: arith.index_cast %[[I]] : index to i8
// CHECK: arith.index_cast %{{.*}} : i8 to index
// CHECK-NOT: index_cast %[[I]] : index to i64
// CHECK: return
func.func @main(%x: tensor<i64>, %y: tensor<?xi64>) -> (tensor<?xi64>, tensor<?xi64>) {
  %n = tensor.extract %x[] : tensor<i64>
  %i = arith.index_cast %n : i64 to index
  %byte = arith.index_cast %i : index to i8
  %cut = arith.index_cast %byte : i8 to index
  %wide = arith.index_cast %i : index to i64
  %again = arith.index_cast %wide : i64 to index
  %p = tensor.extract_slice %y[%cut] [2] [1] : tensor<?xi64> to tensor<2xi64>
  %q = tensor.extract_slice %y[%again] [2] [1] : tensor<?xi64> to tensor<2xi64>
  %r = tensor.cast %p : tensor<2xi64> to tensor<?xi64>
  %s = tensor.cast %q : tensor<2xi64> to tensor<?xi64>
  return %r, %s : tensor<?xi64>, tensor<?xi64>
}
