// RUN: loopc-opt %s --split-input-file | loopc-opt --split-input-file | FileCheck %s
// RUN: loopc-opt %s --split-input-file --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: func @every_operation(
func.func @every_operation(%x: tensor<?xf32>, %shape: tensor<?xi64>, %p: index)
    -> (tensor<?xf32>, tensor<?xi64>, index) {
  // CHECK: %[[NONE:.*]] = loop.seq_empty : !onnx.seq<tensor<*xf32>>
  %none = loop.seq_empty : !onnx.seq<tensor<*xf32>>
  // CHECK: %[[ONE:.*]] = loop.seq_insert %{{.*}}, %{{.*}} into %[[NONE]][%{{.*}}] : tensor<?xf32>, tensor<?xi64> into !onnx.seq<tensor<*xf32>>
  %one = loop.seq_insert %x, %shape into %none[%p]
      : tensor<?xf32>, tensor<?xi64> into !onnx.seq<tensor<*xf32>>
  // CHECK: %[[LESS:.*]] = loop.seq_erase %[[ONE]][%{{.*}}] : !onnx.seq<tensor<*xf32>>
  %less = loop.seq_erase %one[%p] : !onnx.seq<tensor<*xf32>>
  // CHECK: loop.seq_length %[[LESS]] : !onnx.seq<tensor<*xf32>>
  %n = loop.seq_length %less : !onnx.seq<tensor<*xf32>>
  // CHECK: loop.seq_at %[[LESS]][%{{.*}}] : !onnx.seq<tensor<*xf32>> -> tensor<?xf32>, tensor<?xi64>
  %y:2 = loop.seq_at %less[%p] : !onnx.seq<tensor<*xf32>> -> tensor<?xf32>, tensor<?xi64>
  // CHECK: %[[AGAIN:.*]] = loop.seq_retain %[[LESS]] : !onnx.seq<tensor<*xf32>>
  %again = loop.seq_retain %less : !onnx.seq<tensor<*xf32>>
  // CHECK: loop.seq_release %[[AGAIN]] : !onnx.seq<tensor<*xf32>>
  loop.seq_release %again : !onnx.seq<tensor<*xf32>>
  return %y#0, %y#1, %n : tensor<?xf32>, tensor<?xi64>, index
}

// -----

// CHECK-LABEL: func @optional_of_sequence(
func.func @optional_of_sequence(%s: !onnx.seq<tensor<*xf32>>, %p: index)
    -> !onnx.seq<tensor<*xf32>> {
  %none = loop.seq_empty : !onnx.optional<!onnx.seq<tensor<*xf32>>>
  // CHECK: loop.seq_insert %{{.*}} into %{{.*}}[%{{.*}}] : !onnx.seq<tensor<*xf32>> into !onnx.optional<!onnx.seq<tensor<*xf32>>>
  %some = loop.seq_insert %s into %none[%p]
      : !onnx.seq<tensor<*xf32>> into !onnx.optional<!onnx.seq<tensor<*xf32>>>
  // CHECK: loop.seq_at %{{.*}} : !onnx.optional<!onnx.seq<tensor<*xf32>>> -> !onnx.seq<tensor<*xf32>>
  %t = loop.seq_at %some[%p]
      : !onnx.optional<!onnx.seq<tensor<*xf32>>> -> !onnx.seq<tensor<*xf32>>
  return %t : !onnx.seq<tensor<*xf32>>
}

// -----

// Inserted in front, the second element is the first again.
// FOLD-LABEL: func @known_elements(
// FOLD-SAME: %[[X:[a-z0-9]+]]: tensor<?xf32>, %[[XS:[a-z0-9]+]]: tensor<?xi64>, %[[Y:[a-z0-9]+]]: tensor<?xf32>
func.func @known_elements(%x: tensor<?xf32>, %xs: tensor<?xi64>,
                          %y: tensor<?xf32>, %ys: tensor<?xi64>)
    -> (tensor<?xf32>, tensor<?xf32>, index) {
  // FOLD: %[[TWO:.*]] = arith.constant 2 : index
  // FOLD: return %[[Y]], %[[X]], %[[TWO]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = loop.seq_empty : !onnx.seq<tensor<*xf32>>
  %one = loop.seq_insert %x, %xs into %none[%c0]
      : tensor<?xf32>, tensor<?xi64> into !onnx.seq<tensor<*xf32>>
  %two = loop.seq_insert %y, %ys into %one[%c0]
      : tensor<?xf32>, tensor<?xi64> into !onnx.seq<tensor<*xf32>>
  %a:2 = loop.seq_at %two[%c0] : !onnx.seq<tensor<*xf32>> -> tensor<?xf32>, tensor<?xi64>
  %b:2 = loop.seq_at %two[%c1] : !onnx.seq<tensor<*xf32>> -> tensor<?xf32>, tensor<?xi64>
  %n = loop.seq_length %two : !onnx.seq<tensor<*xf32>>
  return %a#0, %b#0, %n : tensor<?xf32>, tensor<?xf32>, index
}

// -----

// Positions of the run, and buffers, which change: nothing is known.
// FOLD-LABEL: func @unknown_elements(
func.func @unknown_elements(%s: !onnx.seq<tensor<*xf32>>, %x: memref<?xf32>,
                            %shape: memref<?xi64>, %p: index, %q: index)
    -> (memref<?xf32>, memref<?xi64>, index) {
  // FOLD: loop.seq_insert
  // FOLD: loop.seq_at
  // FOLD: loop.seq_length
  %t = loop.seq_insert %x, %shape into %s[%p]
      : memref<?xf32>, memref<?xi64> into !onnx.seq<tensor<*xf32>>
  %a:2 = loop.seq_at %t[%p] : !onnx.seq<tensor<*xf32>> -> memref<?xf32>, memref<?xi64>
  %n = loop.seq_length %t : !onnx.seq<tensor<*xf32>>
  return %a#0, %a#1, %n : memref<?xf32>, memref<?xi64>, index
}
