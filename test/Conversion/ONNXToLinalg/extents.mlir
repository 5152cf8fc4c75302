// RUN: loopc-opt %s -split-input-file -convert-onnx-to-linalg -canonicalize -cse | FileCheck %s

// What a result's type says beyond what the operands' types prove is checked
// before the types of what computes it are made to fit.
// CHECK-LABEL: func.func @narrower
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %{{.*}}, %c3
// CHECK: loop.check %[[SAME]], "{{.*}}Neg: axis 0 of output 0 has extent {}, not {} as the types of the operands say"
// CHECK: linalg.generic
func.func @narrower(%x: tensor<?x2xf32>) -> tensor<3x2xf32> {
  %r = onnx.node "Neg"(%x) since 13 : (tensor<?x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// -----

// What they prove is not.
// CHECK-LABEL: func.func @proved
// CHECK-NOT: loop.check
func.func @proved(%x: tensor<3x2xf32>, %y: tensor<?x2xf32>) -> (tensor<3x2xf32>, tensor<?x2xf32>) {
  %r = onnx.node "Neg"(%x) since 13 : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %s = onnx.node "Neg"(%y) since 13 : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return %r, %s : tensor<3x2xf32>, tensor<?x2xf32>
}

// -----

// A contradiction where perhaps no run comes to is an error of the run.
// CHECK-LABEL: func.func @in_a_branch
// CHECK: scf.if
// CHECK: loop.check %false, "{{.*}}Neg: the operands do not fit: output 0 is tensor<2xf32> by one of them and tensor<3xf32> by another"
func.func @in_a_branch(%x: tensor<2xf32>, %y: tensor<3xf32>, %c: i1) -> tensor<3xf32> {
  %r = scf.if %c -> tensor<3xf32> {
    %n = onnx.node "Neg"(%x) since 13 : (tensor<2xf32>) -> tensor<3xf32>
    scf.yield %n : tensor<3xf32>
  } else {
    scf.yield %y : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}

// -----

// A check stands before what is computed on tensors, where what it looks at is
// known: the sums go into the place that the result has for them.
// CHECK-LABEL: func.func @before_the_work
// CHECK: loop.check {{.*}}, "{{.*}}Concat: axis 0 of input 0 and of the result: {} and {} differ"
// CHECK: linalg.generic
func.func @before_the_work(%x: tensor<?x3xf32>, %y: tensor<1x3xf32>) -> tensor<1x6xf32> {
  %s = onnx.node "Neg"(%x) since 13 : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = onnx.node "Concat"(%s, %y) since 13 {axis = 1 : i64} : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<1x6xf32>
  return %r : tensor<1x6xf32>
}
