// What loops cost once buffers are placed: allocations and copies in bodies.

// RUN: loopc-opt %s --loopc-to-memref --split-input-file | FileCheck %s

// A fixed-shape loop of elements that vectors do not hold: the new value is
// written over the old one; its elementwise operations are one.
// CHECK-LABEL: func @fixed_shape(
func.func @fixed_shape(%n: tensor<i64>, %x: tensor<64xf16>, %y: tensor<64xf16>) -> tensor<64xf16> {
  // CHECK: %[[X:.*]] = memref.alloc
  // CHECK: loop.loop
  // CHECK-NOT: memref.alloc
  // CHECK: linalg.generic {{.*}} ins(%[[X]], {{.*}} outs(%[[X]]
  // CHECK: math.tanh
  // CHECK-NOT: linalg.generic
  // CHECK-NOT: memref.copy
  // CHECK: loop.yield
  %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%n : tensor<i64>)
      carried(%a = %x : tensor<64xf16>) {
    %s = onnx.node "Add"(%a, %y) since 14 : (tensor<64xf16>, tensor<64xf16>) -> tensor<64xf16>
    %t = onnx.node "Tanh"(%s) since 13 : (tensor<64xf16>) -> tensor<64xf16>
    %u = onnx.node "Mul"(%t, %s) since 14 : (tensor<64xf16>, tensor<64xf16>) -> tensor<64xf16>
    loop.yield while(%c : tensor<i1>) carried(%u : tensor<64xf16>)
  }
  return %r : tensor<64xf16>
}

// -----

// Of others a tile stays in registers for all iterations: the loop carries no
// buffer.
// CHECK-LABEL: func @in_registers(
func.func @in_registers(%n: tensor<i64>, %x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  // CHECK: memref.alloc
  // CHECK-NOT: memref.alloc
  // CHECK: loop.loop {{.*}} carried(%{{[^ ]+}} = %{{[^ ]+}} : vector<8xf32>)
  // CHECK-NOT: memref
  // CHECK: loop.yield
  // CHECK-NOT: memref.alloc
  // CHECK: return
  %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%n : tensor<i64>)
      carried(%a = %x : tensor<64xf32>) {
    %s = onnx.node "Add"(%a, %y) since 14 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %t = onnx.node "Tanh"(%s) since 13 : (tensor<64xf32>) -> tensor<64xf32>
    loop.yield while(%c : tensor<i1>) carried(%t : tensor<64xf32>)
  }
  return %r : tensor<64xf32>
}

// -----

// The same with a size that only the run knows.
// CHECK-LABEL: func @run_time_shape(
func.func @run_time_shape(%n: tensor<i64>, %x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: loop.loop
  // CHECK-NOT: memref.alloc
  // CHECK-NOT: memref.dim
  // CHECK: loop.yield
  %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%n : tensor<i64>)
      carried(%a = %x : tensor<?xf32>) {
    %t = onnx.node "Tanh"(%a) since 13 : (tensor<?xf32>) -> tensor<?xf32>
    loop.yield while(%c : tensor<i1>) carried(%t : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// -----

// loop_parallel_assign: nothing moves but pointers.
// CHECK-LABEL: func @permuted(
func.func @permuted(%n: tensor<i64>, %x: tensor<64xf32>, %y: tensor<?xf32>, %z: tensor<64xf32>, %w: tensor<?xf32>)
    -> (tensor<64xf32>, tensor<64xf32>, tensor<?xf32>, tensor<?xf32>) {
  // CHECK: loop.loop {{.*}} carried(%[[A:[^ ]+]] = {{.*}}, %[[B:[^ ]+]] = {{.*}}, %[[C:[^ ]+]] = {{.*}}, %[[D:[^ ]+]] =
  // CHECK-NEXT: loop.yield {{.*}} carried(%[[B]], %[[A]], %[[D]], %[[C]] :
  %r:4 = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%n : tensor<i64>)
      carried(%a = %x : tensor<64xf32>, %b = %z : tensor<64xf32>,
              %d = %y : tensor<?xf32>, %e = %w : tensor<?xf32>) {
    loop.yield while(%c : tensor<i1>)
        carried(%b, %a, %e, %d : tensor<64xf32>, tensor<64xf32>, tensor<?xf32>, tensor<?xf32>)
  }
  return %r#0, %r#1, %r#2, %r#3 : tensor<64xf32>, tensor<64xf32>, tensor<?xf32>, tensor<?xf32>
}

// -----

// A value that grows lives in one buffer; trips that are known give its size.
// CHECK-LABEL: func @growing(
// CHECK-SAME: %[[ROW:[^ ]+]]: memref<1x8xf32>
func.func @growing(%n: tensor<i64>, %x: tensor<?x8xf32>, %row: tensor<1x8xf32>) -> tensor<?x8xf32> {
  // CHECK: %[[BUFFER:.*]] = memref.alloc(%{{.*}}) {{.*}}: memref<?x8xf32>
  // CHECK: loop.loop {{.*}} carried(%[[USED:[^ ]+]] = %{{[^ ]+}} : index)
  // CHECK-NOT: memref.alloc
  // CHECK: %[[PLACE:.*]] = memref.subview %[[BUFFER]][%[[USED]], 0] [1, 8] [1, 1]
  // CHECK-NEXT: memref.copy %[[ROW]], %[[PLACE]]
  // CHECK-NOT: memref.copy
  // CHECK: return %[[BUFFER]]
  %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%n : tensor<i64>)
      carried(%a = %x : tensor<?x8xf32>) {
    %s = onnx.node "Concat"(%a, %row) since 13 {axis = 0 : i64}
        : (tensor<?x8xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
    loop.yield while(%c : tensor<i1>) carried(%s : tensor<?x8xf32>)
  }
  return %r : tensor<?x8xf32>
}

// -----

// Where nobody knows the trips the buffer is replaced when it is full, the old
// one freed there.
// CHECK-LABEL: func @growing_while(
func.func @growing_while(%go: tensor<i1>, %x: tensor<?x8xf32>, %row: tensor<1x8xf32>) -> tensor<?x8xf32> {
  // CHECK: loop.loop {{.*}} carried(%[[OLD:[^ ]+]] = {{.*}}, %[[USED:[^ ]+]] =
  // CHECK: %[[ROOM:.*]] = scf.if
  // CHECK: %[[NEW:.*]] = memref.alloc(%{{.*}})
  // CHECK: memref.copy
  // CHECK-NEXT: memref.dealloc %[[OLD]]
  // CHECK-NEXT: scf.yield %[[NEW]]
  // CHECK: scf.yield %[[OLD]]
  // CHECK-NOT: memref.alloc
  // CHECK: memref.subview %[[ROOM]][%[[USED]], 0] [1, 8] [1, 1]
  // CHECK-NOT: memref.alloc
  // CHECK: loop.yield {{.*}} carried(%[[ROOM]],
  %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) while(%go : tensor<i1>)
      carried(%a = %x : tensor<?x8xf32>) {
    %s = onnx.node "Concat"(%a, %row) since 13 {axis = 0 : i64}
        : (tensor<?x8xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
    %sum = onnx.node "ReduceSum"(%s) since 1 {keepdims = 0 : i64} : (tensor<?x8xf32>) -> tensor<f32>
    %limit = onnx.node "ReduceMax"(%row) since 1 {keepdims = 0 : i64} : (tensor<1x8xf32>) -> tensor<f32>
    %less = onnx.node "Less"(%sum, %limit) since 13 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    loop.yield while(%less : tensor<i1>) carried(%s : tensor<?x8xf32>)
  }
  return %r : tensor<?x8xf32>
}

// -----

// Trips known on entry: collected in place, no allocation in the body; the
// state stays in a register.
// CHECK-LABEL: func @collected_in_place(
func.func @collected_in_place(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<?x4xf32> {
  // CHECK: %[[ALL:.*]] = memref.alloc(%{{.*}}) {{.*}}: memref<?x4xf32>
  // CHECK: loop.loop
  // CHECK-NOT: memref.alloc
  // CHECK: vector.transfer_write %{{.*}}, %[[ALL]][%{{.*}}, %{{.*}}] {{.*}} : vector<4xf32>, memref<?x4xf32>
  // CHECK-NOT: memref.alloc
  // CHECK: return
  %s, %all = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%n : tensor<i64>)
      carried(%a = %x : tensor<4xf32>) collect(tensor<?x4xf32> axis 0) {
    %t = onnx.node "Tanh"(%a) since 13 : (tensor<4xf32>) -> tensor<4xf32>
    loop.yield while(%c : tensor<i1>) carried(%t : tensor<4xf32>) collect(%t : tensor<4xf32>)
  }
  return %all : tensor<?x4xf32>
}

// -----

// A condition may end it: a buffer that grows, in a branch that is seldom taken.
// CHECK-LABEL: func @collected_until(
func.func @collected_until(%go: tensor<i1>, %x: tensor<f32>, %end: tensor<f32>) -> tensor<?xf32> {
  // CHECK: loop.loop
  // CHECK-NOT: memref.alloc
  // CHECK: %[[FULL:.*]] = arith.cmpi sgt
  // CHECK: scf.if %[[FULL]]
  // CHECK: memref.alloc
  // CHECK: else
  // CHECK-NOT: memref.alloc
  // CHECK: loop.yield
  %m = onnx.constant dense<9223372036854775807> : tensor<i64>
  %s, %all = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>) while(%go : tensor<i1>)
      carried(%a = %x : tensor<f32>) collect(tensor<?xf32> axis 0) {
    %t = onnx.node "Add"(%a, %x) since 14 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %more = onnx.node "Less"(%t, %end) since 13 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    loop.yield while(%more : tensor<i1>) carried(%t : tensor<f32>) collect(%t : tensor<f32>)
  }
  return %all : tensor<?xf32>
}

// -----

// if_lazy on scalars: registers.
// CHECK-LABEL: func @branch_on_scalars(
func.func @branch_on_scalars(%n: tensor<i64>, %x: tensor<f32>) -> tensor<f32> {
  // CHECK: loop.loop {{.*}} carried(%{{.*}} : f32)
  // CHECK-NOT: memref.
  // CHECK: scf.if %{{.*}} -> (f32)
  // CHECK-NOT: memref.
  // CHECK: loop.yield
  %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%n : tensor<i64>)
      carried(%a = %x : tensor<f32>) {
    %p = onnx.node "Less"(%a, %x) since 13 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %pi = tensor.extract %p[] : tensor<i1>
    %s = scf.if %pi -> tensor<f32> {
      %u = onnx.node "Add"(%a, %a) since 14 : (tensor<f32>, tensor<f32>) -> tensor<f32>
      scf.yield %u : tensor<f32>
    } else {
      %u = onnx.node "Sqrt"(%a) since 13 : (tensor<f32>) -> tensor<f32>
      scf.yield %u : tensor<f32>
    }
    loop.yield while(%c : tensor<i1>) carried(%s : tensor<f32>)
  }
  return %r : tensor<f32>
}

// -----

// if_types: branches that differ in extent keep theirs. (They are folded to a
// select of tensors, which is no elementwise operation.)
// CHECK-LABEL: func @branches_of_other_size(
// CHECK-SAME: %{{[^:]+}}: {{.*}}, %[[X:[^:]+]]: memref<?xf32> {{.*}}, %[[Y:[^:]+]]: memref<?xf32>
func.func @branches_of_other_size(%p: tensor<i1>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: %[[R:.*]] = arith.select %{{.*}}, %[[X]], %[[Y]] : memref<?xf32>
  // CHECK: %[[SIZE:.*]] = memref.dim %[[R]]
  // CHECK: memref.alloc(%[[SIZE]])
  %c = tensor.extract %p[] : tensor<i1>
  %r = scf.if %c -> tensor<?xf32> {
    scf.yield %x : tensor<?xf32>
  } else {
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
