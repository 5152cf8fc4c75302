// RUN: loopc-opt %s --loop-scalarize | FileCheck %s

// Trips, condition and carried values of one element; the number of the
// iteration keeps the body's width inside.
// CHECK-LABEL: func @one_element(
// CHECK-SAME: %[[N:[^:]+]]: tensor<1xi32>, %[[GO:[^:]+]]: tensor<i1>, %[[X0:[^:]+]]: tensor<f32>, %[[Y0:[^:]+]]: tensor<1x1xf32>)
func.func @one_element(%n: tensor<1xi32>, %go: tensor<i1>, %x0: tensor<f32>,
                       %y0: tensor<1x1xf32>) -> (tensor<f32>, tensor<1x1xf32>) {
  // CHECK-DAG: %[[M:.*]] = tensor.extract %[[N]][%{{.*}}] : tensor<1xi32>
  // CHECK-DAG: %[[TRIPS:.*]] = arith.extsi %[[M]] : i32 to i64
  // CHECK-DAG: %[[COND:.*]] = tensor.extract %[[GO]][]
  // CHECK-DAG: %[[X:.*]] = tensor.extract %[[X0]][]
  // CHECK-DAG: %[[Y:.*]] = tensor.extract %[[Y0]][%{{.*}}, %{{.*}}]
  // CHECK: %[[R:.*]]:2 = loop.loop (%[[I:[^ ]+]] : i64, %[[C:[^ ]+]] : i1) trips(%[[TRIPS]] : i64) while(%[[COND]] : i1)
  // CHECK-SAME: carried(%[[A:[^ ]+]] = %[[X]] : f32, %[[B:[^ ]+]] = %[[Y]] : f32)
  // CHECK: %[[NUMBER:.*]] = arith.trunci %[[I]] : i64 to i32
  // CHECK: tensor.from_elements %[[NUMBER]] : tensor<1xi32>
  // CHECK: loop.yield while(%[[C]] : i1) carried(%[[A]], %[[B]] : f32, f32)
  // CHECK-DAG: tensor.from_elements %[[R]]#0 : tensor<f32>
  // CHECK-DAG: tensor.from_elements %[[R]]#1 : tensor<1x1xf32>
  %x, %y = loop.loop (%i : tensor<1xi32>, %c : tensor<i1>)
      trips(%n : tensor<1xi32>) while(%go : tensor<i1>)
      carried(%a = %x0 : tensor<f32>, %b = %y0 : tensor<1x1xf32>) {
    loop.yield while(%c : tensor<i1>) carried(%a, %b : tensor<f32>, tensor<1x1xf32>)
  }
  return %x, %y : tensor<f32>, tensor<1x1xf32>
}

// A collected value of rank 0 is collected as scalar; [1] keeps its axis.
// CHECK-LABEL: func @collected(
func.func @collected(%n: i64, %x0: tensor<1xf32>, %y: tensor<f32>)
    -> (tensor<1xf32>, tensor<?x1xf32>, tensor<?xf32>) {
  // CHECK: loop.loop {{.*}} carried(%[[A:[^ ]+]] = %{{.*}} : f32) collect(tensor<?x1xf32> axis 0, tensor<?xf32> axis 0)
  // CHECK: %[[ROW:.*]] = tensor.from_elements %[[A]] : tensor<1xf32>
  // CHECK: %[[ELEMENT:.*]] = tensor.extract
  // CHECK: loop.yield {{.*}} collect(%[[ROW]], %[[ELEMENT]] : tensor<1xf32>, f32)
  %r:3 = loop.loop (%i : i64, %c : i1) trips(%n : i64)
      carried(%a = %x0 : tensor<1xf32>)
      collect(tensor<?x1xf32> axis 0, tensor<?xf32> axis 0) {
    loop.yield while(%c : i1) carried(%a : tensor<1xf32>)
        collect(%a, %y : tensor<1xf32>, tensor<f32>)
  }
  return %r#0, %r#1, %r#2 : tensor<1xf32>, tensor<?x1xf32>, tensor<?xf32>
}

// loop_cond: that there is one element is checked where the type does not say.
// CHECK-LABEL: func @unknown_extent(
func.func @unknown_extent(%go: tensor<?xi1>, %x0: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[EXTENT:.*]] = tensor.dim
  // CHECK: %[[OK:.*]] = arith.cmpi eq, %[[EXTENT]], %{{.*}}
  // CHECK: loop.check %[[OK]], "{{.*}}the condition must hold one element, dimension 0 is {}"(%[[EXTENT]] : index)
  // CHECK: loop.loop {{.*}} while(%{{.*}} : i1)
  %x = loop.loop (%i : i64, %c : i1) while(%go : tensor<?xi1>)
      carried(%a = %x0 : tensor<4xf32>) {
    %b = arith.addf %a, %a : tensor<4xf32>
    loop.yield while(%c : i1) carried(%b : tensor<4xf32>)
  }
  return %x : tensor<4xf32>
}

// Larger values and those whose extents are not known stay tensors.
// CHECK-LABEL: func @larger(
func.func @larger(%n: i64, %x0: tensor<2xf32>, %y0: tensor<?xf32>) -> (tensor<2xf32>, tensor<?xf32>) {
  // CHECK: loop.loop {{.*}} carried(%{{.*}} : tensor<2xf32>, %{{.*}} : tensor<?xf32>)
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64)
      carried(%a = %x0 : tensor<2xf32>, %b = %y0 : tensor<?xf32>) {
    %s = arith.addf %a, %a : tensor<2xf32>
    %t = arith.addf %b, %b : tensor<?xf32>
    loop.yield while(%c : i1) carried(%s, %t : tensor<2xf32>, tensor<?xf32>)
  }
  return %r#0, %r#1 : tensor<2xf32>, tensor<?xf32>
}

// CHECK-LABEL: func @branch(
func.func @branch(%c: i1, %x: tensor<f32>, %z: tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>) {
  // CHECK: scf.if %{{.*}} -> (f32, tensor<2xf32>)
  %r:2 = scf.if %c -> (tensor<f32>, tensor<2xf32>) {
    scf.yield %x, %z : tensor<f32>, tensor<2xf32>
  } else {
    %v = arith.addf %x, %x : tensor<f32>
    %w = arith.addf %z, %z : tensor<2xf32>
    scf.yield %v, %w : tensor<f32>, tensor<2xf32>
  }
  return %r#0, %r#1 : tensor<f32>, tensor<2xf32>
}

// linalg.generic over no iterations is its body.
// CHECK-LABEL: func @rank_0(
// CHECK-SAME: %[[X:[^:]+]]: tensor<f32>
func.func @rank_0(%x: tensor<f32>) -> tensor<f32> {
  // CHECK-NOT: linalg.generic
  // CHECK: %[[A:.*]] = tensor.extract %[[X]][]
  // CHECK: %[[S:.*]] = arith.addf %[[A]], %[[A]] : f32
  // CHECK: tensor.from_elements %[[S]]
  %e = tensor.empty() : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>],
      iterator_types = []} ins(%x : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// One of the condition, the counts and the numbers alone may be no scalar, or
// of another width.
// CHECK-LABEL: func @one_alone(
func.func @one_alone(%n: i64, %m: index, %x0: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<?xi8>) {
  // CHECK: loop.loop {{.*}} trips(%{{.*}} : i64)
  // CHECK: loop.yield while(%true : i1)
  %x = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %x0 : tensor<4xf32>) {
    %go = arith.constant dense<true> : tensor<i1>
    loop.yield while(%go : tensor<i1>) carried(%a : tensor<4xf32>)
  }
  // CHECK: %[[TRIPS:.*]] = arith.index_cast %{{.*}} : index to i64
  // CHECK: loop.loop (%{{[^ ]+}} : i64, %{{[^ ]+}} : i1) trips(%[[TRIPS]] : i64)
  %y = loop.loop (%i : i64, %c : i1) trips(%m : index) carried(%a = %x0 : tensor<4xf32>) {
    loop.yield while(%c : i1) carried(%a : tensor<4xf32>)
  }
  // CHECK: loop.loop (%[[I:[^ ]+]] : i64
  // CHECK: %[[NUMBER:.*]] = arith.trunci %[[I]] : i64 to i8
  // CHECK: loop.yield {{.*}} collect(%[[NUMBER]] : i8)
  %z = loop.loop (%i : i8, %c : i1) trips(%n : i64) collect(tensor<?xi8> axis 0) {
    loop.yield while(%c : i1) collect(%i : i8)
  }
  return %x, %y, %z : tensor<4xf32>, tensor<4xf32>, tensor<?xi8>
}
