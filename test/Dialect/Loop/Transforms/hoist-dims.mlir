// RUN: loopc-opt %s --loop-hoist-dims --canonicalize | FileCheck %s

// What the body makes has the size that the carried value had, so it has the
// size of the init: in the loop and behind it.
// CHECK-LABEL: func @kept(
// CHECK-SAME: %{{[^:]+}}: i64, %[[INIT:[^:]+]]: tensor<?xf32>)
func.func @kept(%n: i64, %x0: tensor<?xf32>) -> (tensor<?xf32>, index) {
  // CHECK: %[[EXTENT:.*]] = tensor.dim %[[INIT]]
  // CHECK: %[[R:.*]] = loop.loop
  // CHECK-NOT: tensor.dim
  // CHECK: tensor.empty(%[[EXTENT]])
  // CHECK: return %[[R]], %[[EXTENT]]
  %c0 = arith.constant 0 : index
  %x = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %x0 : tensor<?xf32>) {
    %d = tensor.dim %a, %c0 : tensor<?xf32>
    %e = tensor.empty(%d) : tensor<?xf32>
    %f = linalg.exp ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    loop.yield while(%c : i1) carried(%f : tensor<?xf32>)
  }
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  return %x, %d : tensor<?xf32>, index
}

// CHECK-LABEL: func @grows(
func.func @grows(%n: i64, %x0: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: loop.loop {{.*}} carried(%[[A:[^ ]+]] =
  // CHECK: tensor.dim %[[A]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %x0 : tensor<?xf32>) {
    %d = tensor.dim %a, %c0 : tensor<?xf32>
    %d1 = arith.addi %d, %c1 : index
    %e = tensor.empty(%d1) : tensor<?xf32>
    loop.yield while(%c : i1) carried(%e : tensor<?xf32>)
  }
  return %x : tensor<?xf32>
}

// Values that trade places keep their dimensions only where the inits have one.
// CHECK-LABEL: func @swapped(
func.func @swapped(%n: i64, %x0: tensor<?xf32>, %y0: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK: loop.loop {{.*}} carried(%[[A:[^ ]+]] =
  // CHECK: tensor.dim %[[A]]
  %c0 = arith.constant 0 : index
  %x:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64)
      carried(%a = %x0 : tensor<?xf32>, %b = %y0 : tensor<?xf32>) {
    %d = tensor.dim %a, %c0 : tensor<?xf32>
    %e = tensor.empty(%d) : tensor<?xf32>
    loop.yield while(%c : i1) carried(%b, %e : tensor<?xf32>, tensor<?xf32>)
  }
  return %x#0, %x#1 : tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func @swapped_of_one_size(
func.func @swapped_of_one_size(%n: i64, %x0: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK: %[[EXTENT:.*]] = tensor.dim
  // CHECK: loop.loop
  // CHECK-NOT: tensor.dim
  // CHECK: tensor.empty(%[[EXTENT]])
  %c0 = arith.constant 0 : index
  %x:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64)
      carried(%a = %x0 : tensor<?xf32>, %b = %x0 : tensor<?xf32>) {
    %d = tensor.dim %a, %c0 : tensor<?xf32>
    %e = tensor.empty(%d) : tensor<?xf32>
    loop.yield while(%c : i1) carried(%b, %e : tensor<?xf32>, tensor<?xf32>)
  }
  return %x#0, %x#1 : tensor<?xf32>, tensor<?xf32>
}

// The only tensor.dim of the init stands in a branch: it must not be used
// outside of it.
// CHECK-LABEL: func @dim_in_branch(
// CHECK-SAME: %{{[^:]+}}: i64, %{{[^:]+}}: i1, %[[INIT:[^:]+]]: tensor<?xf32>)
func.func @dim_in_branch(%n: i64, %p: i1, %x0: tensor<?xf32>) -> (tensor<?xf32>, index) {
  // CHECK: %[[EXTENT:.*]] = tensor.dim %[[INIT]]
  // CHECK: loop.loop
  // CHECK: tensor.empty(%[[EXTENT]])
  %c0 = arith.constant 0 : index
  %k = scf.if %p -> index {
    %d = tensor.dim %x0, %c0 : tensor<?xf32>
    %s = arith.muli %d, %d : index
    scf.yield %s : index
  } else {
    scf.yield %c0 : index
  }
  %x = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %x0 : tensor<?xf32>) {
    %d = tensor.dim %a, %c0 : tensor<?xf32>
    %e = tensor.empty(%d) : tensor<?xf32>
    loop.yield while(%c : i1) carried(%e : tensor<?xf32>)
  }
  return %x, %k : tensor<?xf32>, index
}

// What is written into in a loop keeps its extent, in a branch, too.
// CHECK-LABEL: func @written_over(
// CHECK-SAME: %[[INIT:[^:]+]]: tensor<?xf32>
func.func @written_over(%init: tensor<?xf32>, %n: i64, %m: index, %v: f32, %c: i1) -> tensor<?xf32> {
  // CHECK: %[[EXTENT:.*]] = tensor.dim %[[INIT]]
  // CHECK: loop.loop
  // CHECK-NOT: tensor.dim
  // CHECK: tensor.empty(%[[EXTENT]])
  // CHECK: scf.for
  // CHECK-NOT: tensor.dim
  // CHECK: tensor.empty(%[[EXTENT]])
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = loop.loop (%i : i64, %going : i1) trips(%n : i64) carried(%a = %init : tensor<?xf32>) {
    %d = tensor.dim %a, %c0 : tensor<?xf32>
    %place = tensor.empty(%d) : tensor<?xf32>
    %written = scf.for %k = %c0 to %m step %c1 iter_args(%z = %place) -> (tensor<?xf32>) {
      %w = scf.if %c -> (tensor<?xf32>) {
        %inserted = tensor.insert %v into %z[%k] : tensor<?xf32>
        scf.yield %inserted : tensor<?xf32>
      } else {
        scf.yield %z : tensor<?xf32>
      }
      scf.yield %w : tensor<?xf32>
    }
    %e = tensor.dim %written, %c0 : tensor<?xf32>
    %to = tensor.empty(%e) : tensor<?xf32>
    %s = linalg.exp ins(%written : tensor<?xf32>) outs(%to : tensor<?xf32>) -> tensor<?xf32>
    loop.yield while(%going : i1) carried(%s : tensor<?xf32>)
  }
  return %x : tensor<?xf32>
}

// Eight bits of an extent are another number.
// CHECK-LABEL: func @fewerBits(
// CHECK: %[[Y:.*]] = loop.loop
// CHECK: %[[D:.*]] = tensor.dim %[[Y]]
// CHECK: return %{{.*}}, %[[D]]
func.func @fewerBits(%x: tensor<?xf32>, %f: f32) -> (tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %byte = arith.index_cast %n : index to i8
  %y = loop.loop (%i : i8, %c : i1) trips(%byte : i8) collect(tensor<?xf32> axis 0) {
    loop.yield while(%c : i1) collect(%f : f32)
  }
  %d = tensor.dim %y, %c0 : tensor<?xf32>
  return %y, %d : tensor<?xf32>, index
}
