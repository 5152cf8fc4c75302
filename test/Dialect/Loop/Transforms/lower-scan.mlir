// RUN: loopc-opt %s --loop-lower-scan | FileCheck %s

// scan_axes: negative axes count from the end; the scanned length is the trips.
// CHECK-LABEL: func @sequence(
// CHECK-SAME: %[[STATE:[^:]+]]: tensor<3xf32>, %[[INPUT:[^:]+]]: tensor<?x3xf32>)
func.func @sequence(%s: tensor<3xf32>, %x: tensor<?x3xf32>)
    -> (tensor<3xf32>, tensor<3x?xf32>) {
  // CHECK: %[[EXTENT:.*]] = tensor.dim %[[INPUT]], %{{.*}}
  // CHECK: %[[TRIPS:.*]] = arith.index_cast %[[EXTENT]] : index to i64
  // CHECK: loop.loop ({{.*}}) trips(%[[TRIPS]] : i64)
  // CHECK-SAME: carried(%[[A:[^ ]+]] = %[[STATE]] : tensor<3xf32>)
  // CHECK-SAME: slices(%[[P:[^ ]+]] = %[[INPUT]] : tensor<?x3xf32> axis 0 reverse -> tensor<3xf32>)
  // CHECK-SAME: collect(tensor<3x?xf32> axis 1 reverse)
  // CHECK: %[[NEXT:.*]] = arith.addf %[[P]], %[[A]]
  // CHECK: %[[ALWAYS:.*]] = arith.constant true
  // CHECK: loop.yield while(%[[ALWAYS]] : i1) carried(%[[NEXT]] : tensor<3xf32>) collect(%[[P]] : tensor<3xf32>)
  %r:2 = loop.scan states(%a = %s : tensor<3xf32>)
      inputs(%p = %x : tensor<?x3xf32> axis -2 reverse -> tensor<3xf32>)
      outputs(tensor<3x?xf32> axis -1 reverse) since 11 {
    %u = arith.addf %p, %a : tensor<3xf32>
    loop.yield carried(%u : tensor<3xf32>) collect(%p : tensor<3xf32>)
  }
  return %r#0, %r#1 : tensor<3xf32>, tensor<3x?xf32>
}

// scan_lengths: not known to be one: checked; the known one is the trips.
// CHECK-LABEL: func @lengths(
func.func @lengths(%x: tensor<?xf32>, %y: tensor<5xf32>) -> tensor<?xf32> {
  // CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[X:.*]], %[[Y:.*]] : i64
  // CHECK: loop.check %[[SAME]], "{{.*}}lengths of the scan inputs differ: {} (#0) and {} (#1)"(%[[X]], %[[Y]] : i64, i64)
  // CHECK: %[[TRIPS:.*]] = arith.constant 5 : i64
  // CHECK: loop.loop ({{.*}}) trips(%[[TRIPS]] : i64)
  %r = loop.scan inputs(%p = %x : tensor<?xf32> axis 0 -> tensor<f32>,
                        %q = %y : tensor<5xf32> axis 0 -> tensor<f32>)
      outputs(tensor<?xf32> axis 0) {
    loop.yield collect(%p : tensor<f32>)
  }
  return %r : tensor<?xf32>
}

// Lengths that types tell are not checked.
// CHECK-LABEL: func @known_lengths(
func.func @known_lengths(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  // CHECK-NOT: loop.check
  // CHECK: return
  %r = loop.scan inputs(%p = %x : tensor<5xf32> axis 0 -> tensor<f32>,
                        %q = %y : tensor<5xf32> axis 0 -> tensor<f32>)
      outputs(tensor<5xf32> axis 0) {
    loop.yield collect(%p : tensor<f32>)
  }
  return %r : tensor<5xf32>
}

// scan_state_shape
// CHECK-LABEL: func @state_shape(
func.func @state_shape(%s: tensor<?xf32>, %t: tensor<?xf32>, %x: tensor<4xf32>)
    -> tensor<?xf32> {
  // CHECK: loop.loop
  // CHECK: loop.check %{{.*}}, "{{.*}}state #0 changes its shape: dimension 0 was {} and becomes {}"
  // CHECK: loop.yield
  %r = loop.scan states(%a = %s : tensor<?xf32>)
      inputs(%p = %x : tensor<4xf32> axis 0 -> tensor<f32>) {
    loop.yield carried(%t : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// scan8_batch, scan8_lengths: a loop over the batch around one over as much of
// the sequence as the item has.
// CHECK-LABEL: func @batched(
// CHECK-SAME: %[[STATES:[^:]+]]: tensor<2x4xf32>, %[[INPUTS:[^:]+]]: tensor<2x3x4xf32>, %[[LENS:[^:]+]]: tensor<2xi32>)
func.func @batched(%s0: tensor<2x4xf32>, %x: tensor<2x3x4xf32>,
                   %lens: tensor<2xi32>) -> (tensor<2x4xf32>, tensor<2x3x4xf32>) {
  // CHECK: loop.loop (%[[ITEM:[^ ]+]] : i64, {{[^)]*}})
  // CHECK-SAME: slices(%[[STATE:[^ ]+]] = %[[STATES]] : {{.*}} axis 0 -> tensor<4xf32>, %[[INPUT:[^ ]+]] = %[[INPUTS]] : {{.*}} axis 0 -> tensor<3x4xf32>)
  // CHECK-SAME: collect(tensor<2x4xf32> axis 0, tensor<2x3x4xf32> axis 0)
  // CHECK: %[[AT:.*]] = arith.index_cast %[[ITEM]]
  // CHECK: %[[LEN:.*]] = tensor.extract %[[LENS]][%[[AT]]]
  // CHECK: %[[TRIPS:.*]] = arith.extsi %[[LEN]] : i32 to i64
  // CHECK: %[[MAX:.*]] = arith.constant 3 : i64
  // CHECK: loop.check %{{.*}}, "{{.*}}sequence length {} is not in 0 to {}"(%[[TRIPS]], %[[MAX]] : i64, i64)
  // CHECK: loop.loop {{.*}} trips(%[[TRIPS]] : i64) carried(%{{.*}} = %[[STATE]] : tensor<4xf32>)
  // CHECK-SAME: slices(%{{.*}} = %[[INPUT]] : tensor<3x4xf32> axis 0 reverse -> tensor<4xf32>)
  // CHECK-SAME: collect(tensor<3x4xf32> axis 0 length(%[[MAX]] : i64))
  %s, %o = loop.scan batched states(%a = %s0 : tensor<2x4xf32>)
      inputs(%b = %x : tensor<2x3x4xf32> axis 1 reverse -> tensor<4xf32>)
      lengths(%lens : tensor<2xi32>)
      outputs(tensor<2x3x4xf32> axis 1) since 8 {
    loop.yield carried(%b : tensor<4xf32>) collect(%a : tensor<4xf32>)
  }
  return %s, %o : tensor<2x4xf32>, tensor<2x3x4xf32>
}

// scan_axes: an axis of what has no rank yet still counts from the end, and
// must be one before its extent is asked for.
// CHECK-LABEL: func @unranked(
// CHECK: %[[RANK:.*]] = tensor.rank
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[RANK]]
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[AT]], %[[RANK]]
// CHECK: loop.check %[[IN]], "{{.*}}axis {} is out of range for rank {}"
// CHECK: tensor.dim %{{.*}}, %[[AT]]
// CHECK: loop.loop {{.*}}slices(%{{.*}} = %{{.*}} : tensor<*xf32> axis -1 -> tensor<*xf32>)
func.func @unranked(%s0: tensor<*xf32>, %x: tensor<*xf32>) -> tensor<*xf32> {
  %s = loop.scan states(%a = %s0 : tensor<*xf32>)
      inputs(%b = %x : tensor<*xf32> axis -1 -> tensor<*xf32>) {
    loop.yield carried(%b : tensor<*xf32>)
  }
  return %s : tensor<*xf32>
}
