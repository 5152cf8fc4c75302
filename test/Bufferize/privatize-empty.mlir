// RUN: loopc-opt %s --buffer-privatize-empty | FileCheck %s

// CHECK-LABEL: func @two_users(
func.func @two_users(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[E:.*]] = tensor.empty
  // CHECK: linalg.exp {{.*}} outs(%[[E]]
  // CHECK: %[[F:.*]] = tensor.empty
  // CHECK: linalg.abs {{.*}} outs(%[[F]]
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.abs ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// Hoisted out of a loop, it comes back to where it is written.
// CHECK-LABEL: func @user_in_loop(
func.func @user_in_loop(%n: i64, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: tensor.empty
  // CHECK: loop.loop
  // CHECK: tensor.empty
  %e = tensor.empty() : tensor<4xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %x : tensor<4xf32>) {
    %b = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    loop.yield while(%c : i1) carried(%b : tensor<4xf32>)
  }
  return %r : tensor<4xf32>
}

// So does what is filled: to fill it costs less than to copy it.
// CHECK-LABEL: func @fill_in_loop(
func.func @fill_in_loop(%n: i64, %x: tensor<6xf32>) -> tensor<6xf32> {
  // CHECK-NOT: linalg.fill
  // CHECK: loop.loop
  // CHECK: %[[E:.*]] = tensor.empty
  // CHECK: %[[F:.*]] = linalg.fill {{.*}} outs(%[[E]]
  // CHECK: tensor.insert_slice {{.*}} into %[[F]]
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %x : tensor<6xf32>) {
    %s = tensor.extract_slice %a[1] [4] [1] : tensor<6xf32> to tensor<4xf32>
    %b = tensor.insert_slice %s into %f[1] [4] [1] : tensor<4xf32> into tensor<6xf32>
    loop.yield while(%c : i1) carried(%b : tensor<6xf32>)
  }
  return %r : tensor<6xf32>
}

// Of one fill that two operations begin with each has its own, beside it.
// CHECK-LABEL: func @fill_of_two(
func.func @fill_of_two(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: linalg.abs
  // CHECK: linalg.fill
  // CHECK: linalg.matmul
  // CHECK: linalg.fill
  // CHECK: linalg.matmul
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = tensor.empty() : tensor<4x4xf32>
  %a = linalg.abs ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = linalg.matmul ins(%a, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %q = linalg.matmul ins(%p, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %q : tensor<4x4xf32>
}

// And what is partly written before a loop: the part is written again.
// CHECK-LABEL: func @part_in_loop(
func.func @part_in_loop(%n: i64, %x: tensor<6xf32>, %one: tensor<1xf32>) -> tensor<6xf32> {
  // CHECK-NOT: tensor.insert_slice
  // CHECK: loop.loop
  // CHECK: %[[E:.*]] = tensor.empty
  // CHECK: %[[P:.*]] = tensor.insert_slice %{{.*}} into %[[E]][0]
  // CHECK: tensor.insert_slice {{.*}} into %[[P]][1]
  %e = tensor.empty() : tensor<6xf32>
  %p = tensor.insert_slice %one into %e[0] [1] [1] : tensor<1xf32> into tensor<6xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %x : tensor<6xf32>) {
    %s = tensor.extract_slice %a[0] [5] [1] : tensor<6xf32> to tensor<5xf32>
    %b = tensor.insert_slice %s into %p[1] [5] [1] : tensor<5xf32> into tensor<6xf32>
    loop.yield while(%c : i1) carried(%b : tensor<6xf32>)
  }
  return %r : tensor<6xf32>
}

// What is an input in part is copied: that takes no more.
// CHECK-LABEL: func @input_in_loop(
func.func @input_in_loop(%n: i64, %x: tensor<6xf32>, %one: tensor<1xf32>) -> tensor<6xf32> {
  // CHECK: %[[P:.*]] = tensor.insert_slice
  // CHECK: loop.loop
  // CHECK: tensor.insert_slice {{.*}} into %[[P]][1]
  %p = tensor.insert_slice %one into %x[0] [1] [1] : tensor<1xf32> into tensor<6xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %x : tensor<6xf32>) {
    %s = tensor.extract_slice %a[0] [4] [1] : tensor<6xf32> to tensor<4xf32>
    %b = tensor.insert_slice %s into %p[1] [4] [1] : tensor<4xf32> into tensor<6xf32>
    loop.yield while(%c : i1) carried(%b : tensor<6xf32>)
  }
  return %r : tensor<6xf32>
}

// memref.collapse_shape has no type for a group of 0 and an unknown extent.
// CHECK-LABEL: func @empty_collapse(
// CHECK-SAME: %[[X:.*]]: tensor<0x?x?xf32>
func.func @empty_collapse(%x: tensor<0x?x?xf32>) -> (tensor<?x?xf32>, tensor<0x?xf32>) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
  // CHECK-DAG: %[[N:.*]] = tensor.dim %[[X]], %[[TWO]]
  // CHECK-DAG: tensor.collapse_shape {{.*}} {{\[\[}}0], [1, 2]] : tensor<0x?x?xf32> into tensor<0x?xf32>
  // CHECK: tensor.empty(%[[ZERO]], %[[N]]) : tensor<?x?xf32>
  %a = tensor.collapse_shape %x [[0, 1], [2]] : tensor<0x?x?xf32> into tensor<?x?xf32>
  %b = tensor.collapse_shape %x [[0], [1, 2]] : tensor<0x?x?xf32> into tensor<0x?xf32>
  return %a, %b : tensor<?x?xf32>, tensor<0x?xf32>
}

// What one branch yields as it is has other extents where the other is taken:
// it must not be computed where the branches' result goes.
// CHECK-LABEL: func @yielded_by_a_branch(
func.func @yielded_by_a_branch(%p: i1, %x: tensor<?xf32>, %n: index, %m: index, %out: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK: %[[PLACE:.*]] = bufferization.alloc_tensor(%{{.*}}) : tensor<?xf32>
  // CHECK: %[[Y:.*]] = linalg.exp {{.*}} outs(%[[PLACE]]
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = scf.if %p -> tensor<?xf32> {
    scf.yield %y : tensor<?xf32>
  } else {
    // CHECK: else
    // CHECK: tensor.empty
    %f = tensor.empty(%m) : tensor<?xf32>
    %z = linalg.exp ins(%x : tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %z : tensor<?xf32>
  }
  %i = tensor.insert_slice %r into %out[0] [%m] [1] : tensor<?xf32> into tensor<?xf32>
  return %i, %y : tensor<?xf32>, tensor<?xf32>
}

// Casts know extents where they are executed, and only there.
// CHECK-LABEL: func @cast_in_a_branch(
func.func @cast_in_a_branch(%p: i1, %x: tensor<?xf32>, %n: index, %z: tensor<4xf32>, %out: tensor<8xf32>) -> (tensor<8xf32>, tensor<?xf32>) {
  // CHECK: bufferization.alloc_tensor(%{{.*}}) : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = scf.if %p -> tensor<4xf32> {
    %c = tensor.cast %y : tensor<?xf32> to tensor<4xf32>
    scf.yield %c : tensor<4xf32>
  } else {
    scf.yield %z : tensor<4xf32>
  }
  %i = tensor.insert_slice %r into %out[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %i, %y : tensor<8xf32>, tensor<?xf32>
}

// Equal extents for sure: it may be computed there.
// CHECK-LABEL: func @static_in_a_branch(
func.func @static_in_a_branch(%p: i1, %x: tensor<4xf32>, %z: tensor<4xf32>, %out: tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  // CHECK-NOT: bufferization.alloc_tensor
  // CHECK: tensor.empty
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = scf.if %p -> tensor<4xf32> {
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %z : tensor<4xf32>
  }
  %i = tensor.insert_slice %r into %out[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %i, %y : tensor<8xf32>, tensor<4xf32>
}

// A carried value is yielded by a branch; where it is computed, behind the
// branch, a place is taken away that a walk would come to next.
// CHECK-LABEL: func @made_behind(
func.func @made_behind(%c: i1, %m: index, %n: index, %x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK: %[[P:.*]] = bufferization.alloc_tensor(
  // CHECK: linalg.exp {{.*}} outs(%[[P]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?xf32>) {
    %y = scf.if %c -> (tensor<?xf32>) {
      scf.yield %a : tensor<?xf32>
    } else {
      scf.yield %x : tensor<?xf32>
    }
    %place = tensor.empty(%m) : tensor<?xf32>
    %z = linalg.exp ins(%y : tensor<?xf32>) outs(%place : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %z : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// Sums that are put apart along their rows have a place of their own, where
// neighbours are neighbours; what is computed element by element does not.
// CHECK-LABEL: func @sums_apart(
func.func @sums_apart(%x: tensor<8x?xf32>, %n: index, %m: index) -> tensor<?xf32> {
  // CHECK: bufferization.alloc_tensor(%{{.*}}) : tensor<?xf32>
  // CHECK: linalg.generic
  // CHECK: tensor.empty(%{{.*}}) : tensor<?xf32>
  // CHECK: linalg.exp
  %zero = arith.constant 0.0 : f32
  %whole = tensor.empty(%m) : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %first = tensor.insert_slice %s into %whole[0] [%n] [2] : tensor<?xf32> into tensor<?xf32>
  %e1 = tensor.empty(%n) : tensor<?xf32>
  %t = linalg.exp ins(%s : tensor<?xf32>) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %both = tensor.insert_slice %t into %first[1] [%n] [2] : tensor<?xf32> into tensor<?xf32>
  return %both : tensor<?xf32>
}
