// RUN: loopc-opt %s --split-input-file | loopc-opt --split-input-file | FileCheck %s
// RUN: loopc-opt %s --split-input-file --canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: func @every_operation(
func.func @every_operation(%x: tensor<?xf32>, %shape: tensor<?xi64>, %p: index)
    -> (tensor<?xf32>, tensor<?xi64>, index) {
  // CHECK: %[[NONE:.*]] = list.empty : !list.list<f32>
  %none = list.empty : !list.list<f32>
  // CHECK: %[[ONE:.*]] = list.insert %{{.*}}, %{{.*}} into %[[NONE]][%{{.*}}] : tensor<?xf32>, tensor<?xi64> into !list.list<f32>
  %one = list.insert %x, %shape into %none[%p]
      : tensor<?xf32>, tensor<?xi64> into !list.list<f32>
  // CHECK: %[[LESS:.*]] = list.erase %[[ONE]][%{{.*}}] : !list.list<f32>
  %less = list.erase %one[%p] : !list.list<f32>
  // CHECK: list.length %[[LESS]] : !list.list<f32>
  %n = list.length %less : !list.list<f32>
  // CHECK: list.at %[[LESS]][%{{.*}}] : !list.list<f32> -> tensor<?xf32>, tensor<?xi64>
  %y:2 = list.at %less[%p] : !list.list<f32> -> tensor<?xf32>, tensor<?xi64>
  // CHECK: %[[AGAIN:.*]] = list.retain %[[LESS]] : !list.list<f32>
  %again = list.retain %less : !list.list<f32>
  // CHECK: list.release %[[AGAIN]] : !list.list<f32>
  list.release %again : !list.list<f32>
  return %y#0, %y#1, %n : tensor<?xf32>, tensor<?xi64>, index
}

// -----

// CHECK-LABEL: func @optional_of_sequence(
func.func @optional_of_sequence(%s: !list.list<f32>, %p: index)
    -> !list.list<f32> {
  %none = list.empty : !list.list<!list.list<f32>>
  // CHECK: list.insert %{{.*}} into %{{.*}}[%{{.*}}] : !list.list<f32> into !list.list<!list.list<f32>>
  %some = list.insert %s into %none[%p]
      : !list.list<f32> into !list.list<!list.list<f32>>
  // CHECK: list.at %{{.*}} : !list.list<!list.list<f32>> -> !list.list<f32>
  %t = list.at %some[%p]
      : !list.list<!list.list<f32>> -> !list.list<f32>
  return %t : !list.list<f32>
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
  %none = list.empty : !list.list<f32>
  %one = list.insert %x, %xs into %none[%c0]
      : tensor<?xf32>, tensor<?xi64> into !list.list<f32>
  %two = list.insert %y, %ys into %one[%c0]
      : tensor<?xf32>, tensor<?xi64> into !list.list<f32>
  %a:2 = list.at %two[%c0] : !list.list<f32> -> tensor<?xf32>, tensor<?xi64>
  %b:2 = list.at %two[%c1] : !list.list<f32> -> tensor<?xf32>, tensor<?xi64>
  %n = list.length %two : !list.list<f32>
  return %a#0, %b#0, %n : tensor<?xf32>, tensor<?xf32>, index
}

// -----

// Positions of the run, and buffers, which change: nothing is known.
// FOLD-LABEL: func @unknown_elements(
func.func @unknown_elements(%s: !list.list<f32>, %x: memref<?xf32>,
                            %shape: memref<?xi64>, %p: index, %q: index)
    -> (memref<?xf32>, memref<?xi64>, index) {
  // FOLD: list.insert
  // FOLD: list.at
  // FOLD: list.length
  %t = list.insert %x, %shape into %s[%p]
      : memref<?xf32>, memref<?xi64> into !list.list<f32>
  %a:2 = list.at %t[%p] : !list.list<f32> -> memref<?xf32>, memref<?xi64>
  %n = list.length %t : !list.list<f32>
  return %a#0, %a#1, %n : memref<?xf32>, memref<?xi64>, index
}
