// RUN: loopc-opt %s --loop-collect-in-place | FileCheck %s

// The trips are known on entry, zero for fewer (loop_zero).
// CHECK-LABEL: func @known(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[ROW:[^:]+]]: tensor<4xf32>)
func.func @known(%n: i64, %x: tensor<4xf32>) -> tensor<?x4xf32> {
  // CHECK: %[[TRIPS:.*]] = arith.maxsi %[[N]], %{{.*}}
  // CHECK: %[[ROWS:.*]] = arith.index_cast %[[TRIPS]]
  // CHECK: %[[PLACE:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x4xf32>
  // CHECK: loop.loop (%[[I:[^ ]+]] : i64, {{.*}} carried(%[[ACC:[^ ]+]] = %[[PLACE]]
  // CHECK-NOT: collect
  // CHECK: %[[AT:.*]] = arith.index_cast %[[I]]
  // CHECK: %[[NEXT:.*]] = tensor.insert_slice %[[ROW]] into %[[ACC]][%[[AT]], 0] [1, 4] [1, 1]
  // CHECK: loop.yield {{.*}} carried(%[[NEXT]]
  %all = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?x4xf32> axis 0) {
    loop.yield while(%c : i1) collect(%x : tensor<4xf32>)
  }
  return %all : tensor<?x4xf32>
}

// What is known of the extents, though the type does not tell, is in the slice
// and in the type of what is inserted: they must fit.
// CHECK-LABEL: func @known_behind_its_type(
func.func @known_behind_its_type(%n: i64) -> tensor<?x?xf32> {
  // CHECK: %[[ROW:.*]] = tensor.cast %{{.*}} : tensor<?xf32> to tensor<4xf32>
  // CHECK: tensor.insert_slice %[[ROW]] into %{{.*}}[%{{.*}}, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<?x4xf32>
  %c4 = arith.constant 4 : index
  %all = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?x?xf32> axis 0) {
    %row = tensor.empty(%c4) : tensor<?xf32>
    loop.yield while(%c : i1) collect(%row : tensor<?xf32>)
  }
  return %all : tensor<?x?xf32>
}

// Reversed along another axis: iteration i at trips - 1 - i.
// CHECK-LABEL: func @reverse_axis(
func.func @reverse_axis(%n: i64, %x: tensor<4xf32>) -> tensor<4x?xf32> {
  // CHECK: %[[ROWS:.*]] = arith.index_cast
  // CHECK: loop.loop (%[[I:[^ ]+]] : i64
  // CHECK: %[[NUMBER:.*]] = arith.index_cast %[[I]]
  // CHECK: %[[LAST:.*]] = arith.subi %[[ROWS]], %{{.*}}
  // CHECK: %[[AT:.*]] = arith.subi %[[LAST]], %[[NUMBER]]
  // CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, %[[AT]]] [4, 1] [1, 1]
  %all = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<4x?xf32> axis 1 reverse) {
    loop.yield while(%c : i1) collect(%x : tensor<4xf32>)
  }
  return %all : tensor<4x?xf32>
}

// CHECK-LABEL: func @scalar(
func.func @scalar(%n: i64, %x: f32) -> tensor<?xf32> {
  // CHECK: tensor.insert %{{.*}} into %{{.*}}[%{{.*}}] : tensor<?xf32>
  %all = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?xf32> axis 0) {
    loop.yield while(%c : i1) collect(%x : f32)
  }
  return %all : tensor<?xf32>
}

// A condition may end the loop earlier, and there is a bound that is little
// memory: the rows are counted.
// CHECK-LABEL: func @condition_and_bound(
func.func @condition_and_bound(%go: i1, %x: tensor<4xf32>) -> tensor<?x4xf32> {
  // CHECK: %[[PLACE:.*]] = tensor.empty() : tensor<50x4xf32>
  // CHECK: %[[R:.*]]:2 = loop.loop (%[[I:[^ ]+]] : i64, {{.*}} carried(%[[ACC:[^ ]+]] = %[[PLACE]] : tensor<50x4xf32>, %[[K:[^ ]+]] = %{{.*}} : index)
  // CHECK: %[[NEXT:.*]] = tensor.insert_slice %{{.*}} into %[[ACC]][%{{.*}}, 0] [1, 4] [1, 1]
  // CHECK: %[[ONE_MORE:.*]] = arith.addi %[[K]], %{{.*}} : index
  // CHECK: loop.yield {{.*}} carried(%[[NEXT]], %[[ONE_MORE]]
  // CHECK: %[[ALL:.*]] = tensor.extract_slice %[[R]]#0[0, 0] [%[[R]]#1, 4] [1, 1] : tensor<50x4xf32> to tensor<?x4xf32>
  // CHECK: return %[[ALL]]
  %c50 = arith.constant 50 : i64
  %all = loop.loop (%i : i64, %c : i1) trips(%c50 : i64) while(%go : i1) collect(tensor<?x4xf32> axis 0) {
    loop.yield while(%c : i1) collect(%x : tensor<4xf32>)
  }
  return %all : tensor<?x4xf32>
}

// After no trips extents that the type does not tell are 0 (loop_zero).
// CHECK-LABEL: func @bound_of_unknown_extent(
func.func @bound_of_unknown_extent(%go: i1, %x: tensor<4xf32>) -> tensor<?x?xf32> {
  // CHECK: %[[R:.*]]:2 = loop.loop
  // CHECK: %[[ALL:.*]] = tensor.extract_slice %[[R]]#0[0, 0] [%[[R]]#1, 4]
  // CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[R]]#1, %{{.*}}
  // CHECK: arith.select %[[NONE]], %{{.*}}, %{{.*}} : index
  // CHECK: tensor.expand_shape
  %c50 = arith.constant 50 : i64
  %all = loop.loop (%i : i64, %c : i1) trips(%c50 : i64) while(%go : i1) collect(tensor<?x?xf32> axis 0) {
    loop.yield while(%c : i1) collect(%x : tensor<4xf32>)
  }
  return %all : tensor<?x?xf32>
}

// Much memory, rows from the end, or along another axis: they stay collected.
// CHECK-LABEL: func @condition_and_bound_otherwise(
func.func @condition_and_bound_otherwise(%go: i1, %x: tensor<1000xf32>, %y: tensor<4xf32>) -> (tensor<?x1000xf32>, tensor<?x4xf32>, tensor<4x?xf32>) {
  // CHECK-NOT: tensor.empty
  // CHECK: loop.loop {{.*}} collect(tensor<?x1000xf32> axis 0, tensor<?x4xf32> axis 0 reverse, tensor<4x?xf32> axis 1)
  %c1000 = arith.constant 1000 : i64
  %a, %b, %d = loop.loop (%i : i64, %c : i1) trips(%c1000 : i64) while(%go : i1) collect(tensor<?x1000xf32> axis 0, tensor<?x4xf32> axis 0 reverse, tensor<4x?xf32> axis 1) {
    loop.yield while(%c : i1) collect(%x, %y, %y : tensor<1000xf32>, tensor<4xf32>, tensor<4xf32>)
  }
  return %a, %b, %d : tensor<?x1000xf32>, tensor<?x4xf32>, tensor<4x?xf32>
}

// A condition may end the loop earlier: how many rows there are is not known.
// CHECK-LABEL: func @condition(
func.func @condition(%n: i64, %go: i1, %x: tensor<4xf32>) -> tensor<?x4xf32> {
  // CHECK-NOT: tensor.empty
  // CHECK: loop.loop {{.*}} collect(tensor<?x4xf32> axis 0)
  %all = loop.loop (%i : i64, %c : i1) trips(%n : i64) while(%go : i1) collect(tensor<?x4xf32> axis 0) {
    loop.yield while(%c : i1) collect(%x : tensor<4xf32>)
  }
  return %all : tensor<?x4xf32>
}

// No limit is meant: space for all trips is not set aside.
// CHECK-LABEL: func @int64_max(
func.func @int64_max(%x: tensor<4xf32>) -> tensor<?x4xf32> {
  // CHECK-NOT: tensor.empty
  // CHECK: loop.loop {{.*}} collect(tensor<?x4xf32> axis 0)
  %n = arith.constant 9223372036854775807 : i64
  %all = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?x4xf32> axis 0) {
    loop.yield while(%c : i1) collect(%x : tensor<4xf32>)
  }
  return %all : tensor<?x4xf32>
}

// A shape that an iteration makes is not known on entry.
// CHECK-LABEL: func @shape_of_iteration(
func.func @shape_of_iteration(%n: i64) -> tensor<?x?xf32> {
  // CHECK: loop.loop {{.*}} collect(tensor<?x?xf32> axis 0)
  %all = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?x?xf32> axis 0) {
    %d = arith.index_cast %i : i64 to index
    %e = tensor.empty(%d) : tensor<?xf32>
    loop.yield while(%c : i1) collect(%e : tensor<?xf32>)
  }
  return %all : tensor<?x?xf32>
}

// loop_collect_length: as many rows as are asked for, the rest zero.
// CHECK-LABEL: func @length(
// CHECK-SAME: %{{[^:]+}}: i1, %[[LENGTH:[^:]+]]: i64
func.func @length(%go: i1, %len: i64, %x: tensor<4xf32>) -> tensor<?x4xf32> {
  // CHECK: %[[ROWS:.*]] = arith.index_cast %[[LENGTH]]
  // CHECK: loop.check %{{.*}}, "{{.*}}the length {} of collected value #0 is negative"(%[[ROWS]] : index)
  // CHECK: %[[E:.*]] = tensor.empty(%[[ROWS]])
  // CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} outs(%[[E]]
  // CHECK: loop.loop {{.*}} carried(%{{.*}} = %[[ZEROS]]
  // CHECK: loop.check %{{.*}}, "{{.*}}more iterations than the length {} of collected value #0"(%[[ROWS]] : index)
  // CHECK: tensor.insert_slice
  %all = loop.loop (%i : i64, %c : i1) while(%go : i1) collect(tensor<?x4xf32> axis 0 length(%len : i64)) {
    loop.yield while(%c : i1) collect(%x : tensor<4xf32>)
  }
  return %all : tensor<?x4xf32>
}

// The row that a reversed value writes is checked, not the number of the trip.
// CHECK-LABEL: func @reversed_length(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[LENGTH:[^:]+]]: i64
func.func @reversed_length(%n: i64, %len: i64, %x: tensor<4xf32>) -> tensor<?x4xf32> {
  // CHECK: loop.loop
  // CHECK: %[[LAST:.*]] = arith.subi
  // CHECK: %[[ROW:.*]] = arith.subi %[[LAST]]
  // CHECK: %[[FITS:.*]] = arith.cmpi slt, %[[ROW]]
  // CHECK: loop.check %[[FITS]]
  // CHECK: tensor.insert_slice %{{.*}}[%[[ROW]], 0]
  %all = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?x4xf32> axis 0 reverse length(%len : i64)) {
    loop.yield while(%c : i1) collect(%x : tensor<4xf32>)
  }
  return %all : tensor<?x4xf32>
}

// No value has so many rows.
// CHECK-LABEL: func @length_below_zero(
// CHECK: loop.loop {{.*}} collect(tensor<?x4xf32> axis 0 length
func.func @length_below_zero(%n: i64, %x: tensor<4xf32>) -> tensor<?x4xf32> {
  %len = arith.constant -2 : i64
  %all = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?x4xf32> axis 0 length(%len : i64)) {
    loop.yield while(%c : i1) collect(%x : tensor<4xf32>)
  }
  return %all : tensor<?x4xf32>
}

// CHECK-LABEL: func @length_of_complex(
func.func @length_of_complex(%go: i1, %len: i64, %x: tensor<4xcomplex<f32>>) -> tensor<?x4xcomplex<f32>> {
  // CHECK: %[[ZERO:.*]] = complex.constant [0.000000e+00 : f32, 0.000000e+00 : f32]
  // CHECK: linalg.fill ins(%[[ZERO]]
  %all = loop.loop (%i : i64, %c : i1) while(%go : i1) collect(tensor<?x4xcomplex<f32>> axis 0 length(%len : i64)) {
    loop.yield while(%c : i1) collect(%x : tensor<4xcomplex<f32>>)
  }
  return %all : tensor<?x4xcomplex<f32>>
}

// Numbers have no such axis, which is an error of the first iteration.
// CHECK-LABEL: func.func @no_such_axis_of_numbers(
// CHECK: loop.loop
// CHECK-SAME: trips
// CHECK: collect(tensor<*xf32> axis 3)
func.func @no_such_axis_of_numbers(%m: i64, %x: f32) -> tensor<*xf32> {
  %ys = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<*xf32> axis 3) {
    loop.yield while(%c : i1) collect(%x : f32)
  }
  return %ys : tensor<*xf32>
}
