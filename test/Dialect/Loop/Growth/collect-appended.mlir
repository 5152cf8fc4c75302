// RUN: loopc-opt %s --loop-collect-appended --canonicalize --cse | FileCheck %s
// RUN: loopc-opt %s --loop-collect-appended --remark-format=emitRemark \
// RUN:   --remarks-filter=loop 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: func @append(
// CHECK: %[[R:.*]] = loop.loop {{.*}} trips(%{{.*}} : i64) collect(tensor<?x?xf32> axis 0)
// CHECK-NOT: loop.seq
// CHECK: loop.yield {{.*}} collect(%{{.*}} : tensor<?xf32>)
// CHECK: %[[N:.*]] = tensor.dim %[[R]],
// CHECK: %[[E:.*]] = tensor.extract_slice %[[R]][%{{.*}}, 0] [1, %{{.*}}] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
// CHECK: return %[[N]], %[[E]], %{{.*}}
// REMARK: 1 sequences that it appends to are collected values
func.func @append(%n: i64, %x0: tensor<?xf32>, %shape: tensor<?xi64>, %k: index) -> (index, tensor<?xf32>, tensor<?xi64>) {
  %true = arith.constant true
  %none = list.empty : !list.list<f32>
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>, %s = %none : !list.list<f32>) {
    %length = list.length %s : !list.list<f32>
    %t = list.insert %x0, %shape into %s[%length] : tensor<?xf32>, tensor<?xi64> into !list.list<f32>
    loop.yield while(%true : i1) carried(%x, %t : tensor<?xf32>, !list.list<f32>)
  }
  %m = list.length %r#1 : !list.list<f32>
  %e, %f = list.at %r#1[%k] : !list.list<f32> -> tensor<?xf32>, tensor<?xi64>
  return %m, %e, %f : index, tensor<?xf32>, tensor<?xi64>
}

// CHECK-LABEL: func @in_front(
// CHECK: list.insert
// REMARK: a sequence that it carries stays one: an element is inserted elsewhere than behind the last one
func.func @in_front(%n: i64, %x0: tensor<?xf32>, %shape: tensor<?xi64>) -> index {
  %true = arith.constant true
  %zero = arith.constant 0 : index
  %none = list.empty : !list.list<f32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %none : !list.list<f32>) {
    %t = list.insert %x0, %shape into %s[%zero] : tensor<?xf32>, tensor<?xi64> into !list.list<f32>
    loop.yield while(%true : i1) carried(%t : !list.list<f32>)
  }
  %m = list.length %r : !list.list<f32>
  return %m : index
}

// CHECK-LABEL: func @returned(
// CHECK: list.insert
// REMARK: a sequence that it carries stays one: it is needed as a whole behind the loop
func.func @returned(%n: i64, %x0: tensor<?xf32>, %shape: tensor<?xi64>) -> !list.list<f32> {
  %true = arith.constant true
  %none = list.empty : !list.list<f32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %none : !list.list<f32>) {
    %length = list.length %s : !list.list<f32>
    %t = list.insert %x0, %shape into %s[%length] : tensor<?xf32>, tensor<?xi64> into !list.list<f32>
    loop.yield while(%true : i1) carried(%t : !list.list<f32>)
  }
  return %r : !list.list<f32>
}

// A loop behind it that puts all of them behind one another has nothing to do.
// CHECK-LABEL: func @joined(
// CHECK: %[[R:.*]] = loop.loop {{.*}} collect(tensor<?x64xf32> axis 0)
// CHECK-NOT: scf.for
// CHECK-NOT: tensor.insert_slice
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[R]] {{\[\[}}0, 1]] : tensor<?x64xf32> into tensor<?xf32>
// CHECK: return %[[FLAT]]
func.func @joined(%n: i64, %x0: tensor<64xf32>) -> tensor<?xf32> {
  %true = arith.constant true
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %shape = arith.constant dense<64> : tensor<1xi64>
  %none = list.empty : !list.list<f32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %none : !list.list<f32>) {
    %length = list.length %s : !list.list<f32>
    %t = list.insert %x0, %shape into %s[%length] : tensor<64xf32>, tensor<1xi64> into !list.list<f32>
    loop.yield while(%true : i1) carried(%t : !list.list<f32>)
  }
  %m = list.length %r : !list.list<f32>
  %total = scf.for %k = %zero to %m step %one iter_args(%sum = %zero) -> (index) {
    %e, %f = list.at %r[%k] : !list.list<f32> -> tensor<?xf32>, tensor<?xi64>
    %extent = tensor.extract %f[%zero] : tensor<?xi64>
    %more = arith.index_cast %extent : i64 to index
    %next = arith.addi %sum, %more : index
    scf.yield %next : index
  }
  %e0 = tensor.empty(%total) : tensor<1x?x1xf32>
  %all:2 = scf.for %k = %zero to %m step %one iter_args(%acc = %e0, %at = %zero) -> (tensor<1x?x1xf32>, index) {
    %e, %f = list.at %r[%k] : !list.list<f32> -> tensor<?xf32>, tensor<?xi64>
    %extent = tensor.extract %f[%zero] : tensor<?xi64>
    %more = arith.index_cast %extent : i64 to index
    %part = tensor.expand_shape %e [[0, 1, 2]] output_shape [1, %more, 1] : tensor<?xf32> into tensor<1x?x1xf32>
    %put = tensor.insert_slice %part into %acc[0, %at, 0] [1, %more, 1] [1, 1, 1] : tensor<1x?x1xf32> into tensor<1x?x1xf32>
    %next = arith.addi %at, %more : index
    scf.yield %put, %next : tensor<1x?x1xf32>, index
  }
  %flat = tensor.collapse_shape %all#0 [[0, 1, 2]] : tensor<1x?x1xf32> into tensor<?xf32>
  return %flat : tensor<?xf32>
}
