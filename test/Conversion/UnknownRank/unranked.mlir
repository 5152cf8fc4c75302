// RUN: loopc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(onnx-switch-on-rank,convert-onnx-to-linalg,onnx-lower-unranked,canonicalize))' | FileCheck %s

// An elementwise operator works on the elements; the shape goes along.
// CHECK-LABEL: func.func @elements(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?xf32>{{.*}}, %[[S:[a-z0-9]+]]: tensor<?xi64> {loopc.shape_of}
// CHECK-NOT: scf.index_switch
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<?xf32>)
// CHECK: return %[[Y]], %[[S]]
func.func @elements(%x: tensor<*xf32>) -> tensor<*xf32> {
  %y = onnx.node "Exp"(%x) since 13 : (tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Operands that have one shape for sure are not broadcast.
// CHECK-LABEL: func.func @one_shape(
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<?xf32>{{.*}}, %[[S:[a-z0-9]+]]: tensor<?xi64>
// CHECK-NOT: scf.for
// CHECK-NOT: loop.check
// CHECK: linalg.generic
// CHECK: return %{{.*}}, %[[S]]
func.func @one_shape(%x: tensor<*xf32>) -> tensor<*xf32> {
  %y = onnx.node "Exp"(%x) since 13 : (tensor<*xf32>) -> tensor<*xf32>
  %two = onnx.constant dense<2.0> : tensor<f32>
  %z = onnx.node "Mul"(%y, %two) since 14 : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %w = onnx.node "Add"(%x, %z) since 14 : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %w : tensor<*xf32>
}

// -----

// Others are, by strides, where they have fewer elements than the result.
// CHECK-LABEL: func.func @broadcast(
// CHECK: loop.check {{.*}} "{{.*}}dimensions {} and {} do not broadcast (axis {} of the result)"
// CHECK: scf.if
// CHECK: linalg.generic
// CHECK-NOT: scf.index_switch
func.func @broadcast(%x: tensor<*xf32>, %y: tensor<*xf32>) -> tensor<*xf32> {
  %z = onnx.node "Add"(%x, %y) since 14 : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %z : tensor<*xf32>
}

// -----

// Along an axis: a view [before, axis, behind].
// CHECK-LABEL: func.func @along_axis(
// CHECK: loop.check {{.*}} "{{.*}}axis {} is out of range for rank {}"
// CHECK: tensor.expand_shape {{.*}} into tensor<?x?x?xf32>
func.func @along_axis(%x: tensor<*xf32>) -> tensor<*xf32> {
  %y = onnx.node "Softmax"(%x) since 13 {axis = -1 : i64} : (tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Loops over the axes of a shape read it without asking whether there is an
// axis: the strides, and the places of rows. What is sliced keeps the extents
// of its other axes, and what an axis that may not be there is asked of is the
// sliced one, and the last one.
// CHECK-LABEL: func.func @slice(
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<?xf32>{{.*}}, %[[S:[a-z0-9]+]]: tensor<?xi64>
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NEXT: tensor.extract %[[S]][
// CHECK-NOT: scf.if
// CHECK: scf.if
// CHECK: tensor.insert %{{.*}} into %[[S]][
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: linalg.generic
func.func @slice(%x: tensor<*xf32>) -> tensor<*xf32> {
  %from = onnx.constant dense<1> : tensor<1xi64>
  %to = onnx.constant dense<9> : tensor<1xi64>
  %y = onnx.node "Slice"(%x, %from, %to) since 13 : (tensor<*xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// The rank of the result follows from the dimensions.
// CHECK-LABEL: func.func @squeeze(
// CHECK-SAME: -> (tensor<?xf32>{{.*}}, tensor<?xi64> {loopc.shape_of})
// CHECK: tensor.collapse_shape
// CHECK: scf.for
func.func @squeeze(%x: tensor<?x?xf32>) -> tensor<*xf32> {
  %y = onnx.node "Squeeze"(%x) since 13 : (tensor<?x?xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Operators without such a form: a switch over the two ranks that there are.
// CHECK-LABEL: func.func @branches(
// CHECK: %[[PAIR:.*]]:2 = scf.if
// CHECK: scf.index_switch
// CHECK: case 1
// CHECK: case 2
// CHECK-NOT: case 3
func.func @branches(%p: i1, %x: tensor<1x?xf32>, %i: tensor<?x1xi64>) -> tensor<*xf32> {
  %r = scf.if %p -> (tensor<*xf32>) {
    %s = tensor.collapse_shape %x [[0, 1]] : tensor<1x?xf32> into tensor<?xf32>
    %u = tensor.cast %s : tensor<?xf32> to tensor<*xf32>
    scf.yield %u : tensor<*xf32>
  } else {
    %u = tensor.cast %x : tensor<1x?xf32> to tensor<*xf32>
    scf.yield %u : tensor<*xf32>
  }
  %y = onnx.node "GatherND"(%r, %i) since 13 : (tensor<*xf32>, tensor<?x1xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// A rank that is known after all needs neither.
// CHECK-LABEL: func.func @one_rank(
// CHECK-NOT: scf.index_switch
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3xf32>)
// CHECK: return
func.func @one_rank(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %u = tensor.cast %x : tensor<2x3xf32> to tensor<*xf32>
  %y = onnx.node "Neg"(%u) since 13 : (tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// loop_collect_shape: the elements are collected, the shape is carried.
// CHECK-LABEL: func.func @collects(
// CHECK: loop.loop {{.*}}carried({{.*}} : tensor<?xi64>)
// CHECK-SAME: collect(tensor<?x?xf32> axis 0)
// CHECK: loop.check {{.*}}"{{.*}}collected value #0 has shape {*}, in the iterations before {*}"
// CHECK: loop.yield
func.func @collects(%m: i64, %x: tensor<*xf32>) -> tensor<*xf32> {
  %ys = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<*xf32> axis 0) {
    loop.yield while(%c : i1) collect(%x : tensor<*xf32>)
  }
  return %ys : tensor<*xf32>
}

// -----

// loop_zero: after no iteration there are the axes up to the collected one.
// CHECK-LABEL: func.func @collects_along_axis_2(
// CHECK: %[[NONE:.*]] = arith.constant dense<0> : tensor<2xi64>
// CHECK: %[[SHAPE:.*]] = tensor.cast %[[NONE]]
// CHECK: loop.loop {{.*}}carried(%{{.*}} = %[[SHAPE]] : tensor<?xi64>)
func.func @collects_along_axis_2(%m: i64, %x: tensor<*xf32>) -> tensor<*xf32> {
  %ys = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<*xf32> axis 2) {
    loop.yield while(%c : i1) collect(%x : tensor<*xf32>)
  }
  return %ys : tensor<*xf32>
}

// -----

// What is collected has no such axis: an error of the first iteration, if there
// is one.
// CHECK-LABEL: func.func @has_no_such_axis(
// CHECK: loop.loop {{.*}}collect(tensor<?x1xf32> axis 0)
// CHECK: loop.check {{.*}}axis {} is out of range for collected values of rank {}
func.func @has_no_such_axis(%m: i64, %x: f32) -> tensor<*xf32> {
  %ys = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<*xf32> axis 3) {
    loop.yield while(%c : i1) collect(%x : f32)
  }
  return %ys : tensor<*xf32>
}

// -----

// What the result's type tells is held against each value, and is the shape
// after no iteration.
// CHECK-LABEL: func.func @collects_rows(
// CHECK: loop.loop {{.*}}collect(tensor<?x?x4xf32> axis 1)
// CHECK: loop.check {{.*}}rank {}, expected {}
// CHECK: loop.check {{.*}}dimension {}, expected {}
// CHECK: loop.yield {{.*}}collect(%{{.*}} : tensor<?x4xf32>)
func.func @collects_rows(%m: i64, %x: tensor<*xf32>) -> tensor<?x?x4xf32> {
  %ys = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<?x?x4xf32> axis 1) {
    loop.yield while(%c : i1) collect(%x : tensor<*xf32>)
  }
  return %ys : tensor<?x?x4xf32>
}

// -----

// A slice along axis 0 is one of a view of rank 2.
// CHECK-LABEL: func.func @slices(
// CHECK: %[[V:.*]] = tensor.expand_shape {{.*}} into tensor<?x?xf32>
// CHECK: loop.loop {{.*}}slices(%{{.*}} = %[[V]] : tensor<?x?xf32> axis 0 -> tensor<?xf32>)
func.func @slices(%m: i64, %x: tensor<*xf32>, %a: tensor<*xf32>) -> tensor<*xf32> {
  %y = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%v = %a : tensor<*xf32>)
      slices(%s = %x : tensor<*xf32> axis 0 -> tensor<*xf32>) {
    loop.yield while(%c : i1) carried(%s : tensor<*xf32>)
  }
  return %y : tensor<*xf32>
}

// -----

// What is not known is how many coordinates an index has.
// CHECK-LABEL: func.func @coordinates(
// CHECK: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[K:.*]] = tensor.dim %arg1, %[[C1]] : tensor<?x?xi64>
// CHECK: scf.index_switch %[[K]]
// CHECK: case 1 {
// CHECK: case 2 {
// CHECK-NOT: case
// CHECK: default {
// CHECK: loop.check {{.*}} "{{.*}}GatherND cannot take indices of {} coordinates"
func.func @coordinates(%x: tensor<?x?xf32>, %i: tensor<?x?xi64>) -> tensor<*xf32> {
  %y = onnx.node "GatherND"(%x, %i) since 13 : (tensor<?x?xf32>, tensor<?x?xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Where all of it is unknown there is one matrix and one position a tuple, and
// no switch for each combination of ranks.
// CHECK-LABEL: func.func @gathers_tuples(
// CHECK-NOT: scf.index_switch
// CHECK: loop.check {{.*}} "{{.*}}GatherND cannot take data of rank {} and indices of rank {}"
// CHECK: loop.check {{.*}} "{{.*}}GatherND cannot take indices of {} coordinates"
// CHECK: tensor.expand_shape {{.*}} into tensor<?x?xf32>
// CHECK-NOT: scf.index_switch
// CHECK: return
func.func @gathers_tuples(%x: tensor<*xf32>, %i: tensor<*xi64>) -> tensor<*xf32> {
  %y = onnx.node "GatherND"(%x, %i) since 13 {batch_dims = 1 : i64} : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @scatters_tuples(
// CHECK-NOT: scf.index_switch
// CHECK: loop.check {{.*}} "{{.*}}updates of rank {}, expected {}"
// CHECK: tensor.insert_slice {{.*}} into tensor<?x?xf32>
// CHECK-NOT: scf.index_switch
// CHECK: return
func.func @scatters_tuples(%x: tensor<*xf32>, %i: tensor<*xi64>, %u: tensor<*xf32>) -> tensor<*xf32> {
  %y = onnx.node "ScatterND"(%x, %i, %u) since 18 : (tensor<*xf32>, tensor<*xi64>, tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @texts(
// CHECK-NOT: scf.index_switch
// CHECK: rt.call "loopc_rt_string_concat"
func.func @texts(%x: tensor<*x!onnx.string>, %y: tensor<*x!onnx.string>) -> tensor<*x!onnx.string> {
  %z = onnx.node "StringConcat"(%x, %y) since 20 : (tensor<*x!onnx.string>, tensor<*x!onnx.string>) -> tensor<*x!onnx.string>
  return %z : tensor<*x!onnx.string>
}

// -----

// The check of a divisor reads unsigned elements, which arith has no type for
// before the lowering: the IR is right behind each pass.
// CHECK-LABEL: func.func @unsigned_divisor(
// CHECK: arith.index_castui %{{.*}} : i16 to index
// CHECK: loop.check %{{.*}}, "{{.*}}integer division by zero"
func.func @unsigned_divisor(%x: tensor<*xui16>, %y: tensor<*xui16>) -> tensor<*xui16> {
  %z = onnx.node "Mod"(%x, %y) since 13 : (tensor<*xui16>, tensor<*xui16>) -> tensor<*xui16>
  return %z : tensor<*xui16>
}

// -----

// The rank of the image is a length: one case for the axes that the block has,
// else one for each number of axes.
// CHECK-LABEL: func.func @columns
func.func @columns(%x: tensor<?x?x?xf32>, %s: tensor<?xi64>, %b: tensor<2xi64>, %c: tensor<?xi64>)
    -> (tensor<?x?x?x?xf32>, tensor<*xf32>) {
  // CHECK: %[[AXES:.*]] = tensor.dim %arg1
  // CHECK: scf.index_switch %[[AXES]]
  // CHECK-NEXT: case 2 {
  // CHECK-NOT: case
  // CHECK: loop.check {{.*}} "{{.*}}Col2Im cannot take an image of {} axes"
  %0 = onnx.node "Col2Im"(%x, %s, %b) since 18
      : (tensor<?x?x?xf32>, tensor<?xi64>, tensor<2xi64>) -> tensor<?x?x?x?xf32>
  // CHECK: scf.index_switch
  // CHECK-COUNT-6: case
  // CHECK: default
  %1 = onnx.node "Col2Im"(%x, %s, %c) since 18
      : (tensor<?x?x?xf32>, tensor<?xi64>, tensor<?xi64>) -> tensor<*xf32>
  return %0, %1 : tensor<?x?x?x?xf32>, tensor<*xf32>
}
