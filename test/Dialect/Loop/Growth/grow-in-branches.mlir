// RUN: loopc-opt %s --loop-grow-in-place --canonicalize --cse | FileCheck %s

// What one branch appends is none or one row of each iteration; where that is
// computed in front of the branch, nothing is left of it.
// CHECK-LABEL: func @behind(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[X0:[^:]+]]: tensor<?x4xf32>, %[[E:[^:]+]]: tensor<1x4xf32>
func.func @behind(%n: i64, %x0: tensor<?x4xf32>, %e: tensor<1x4xf32>, %when: i1) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[R:.*]]:2 = loop.loop {{.*}} carried(%[[X:[^ ]+]] = %[[X0]] : {{.*}}, %[[USED:[^ ]+]] = %{{[^ ]+}} : index)
  // CHECK-NOT: scf.if
  // CHECK: %[[ROWS:.*]] = arith.select %{{.*}}, %c1, %c0
  // CHECK: %[[PART:.*]] = tensor.extract_slice %[[E]][0, 0] [%[[ROWS]], 4] [1, 1]
  // CHECK: %[[ROOM:[^,]+]], %{{.*}} = loop.reserve %[[X]] at %c0 used %[[USED]] front %c0 back %[[ROWS]] axis 0
  // CHECK: %[[SUM:.*]] = arith.addi %[[USED]], %[[ROWS]]
  // CHECK: %[[NEXT:.*]] = tensor.insert_slice %[[PART]] into %[[ROOM]][%[[USED]], 0] [%[[ROWS]], 4] [1, 1]
  // CHECK: loop.yield {{.*}} carried(%[[NEXT]], %[[SUM]]
  // CHECK: tensor.extract_slice %[[R]]#0[0, 0] [%[[R]]#1, 4]
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?x4xf32>) {
    %odd = arith.trunci %i : i64 to i1
    %next = scf.if %odd -> (tensor<?x4xf32>) {
      %d = tensor.dim %x, %c0 : tensor<?x4xf32>
      %size = arith.addi %d, %c1 : index
      %empty = tensor.empty(%size) : tensor<?x4xf32>
      %a = tensor.insert_slice %x into %empty[0, 0] [%d, 4] [1, 1] : tensor<?x4xf32> into tensor<?x4xf32>
      %y = tensor.insert_slice %e into %a[%d, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x4xf32>
      scf.yield %y : tensor<?x4xf32>
    } else {
      scf.yield %x : tensor<?x4xf32>
    }
    loop.yield while(%c : i1) carried(%next : tensor<?x4xf32>)
  }
  return %r : tensor<?x4xf32>
}

// Two rows in front, one after the other, from a branch in a branch: they are
// put together there.
// CHECK-LABEL: func @inner(
func.func @inner(%n: i64, %x0: tensor<?xf32>, %p: tensor<1xf32>, %q: tensor<1xf32>, %when: i1) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: loop.loop
  // CHECK: %[[ADDED:.*]]:2 = scf.if %{{.*}} -> (tensor<?xf32>, index)
  // CHECK: %[[BOTH:.*]] = tensor.insert_slice
  // CHECK-NEXT: tensor.insert_slice %{{.*}} into %[[BOTH]]
  // CHECK: loop.reserve %{{.*}} front %[[ADDED]]#1 back %c0 axis 0
  // CHECK: tensor.insert_slice %[[ADDED]]#0 into %{{.*}}] [%[[ADDED]]#1] [1]
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
    %odd = arith.trunci %i : i64 to i1
    %next = scf.if %odd -> (tensor<?xf32>) {
      %in = scf.if %when -> (tensor<?xf32>) {
        %d = tensor.dim %x, %c0 : tensor<?xf32>
        %size = arith.addi %d, %c1 : index
        %empty = tensor.empty(%size) : tensor<?xf32>
        %a = tensor.insert_slice %p into %empty[0] [1] [1] : tensor<1xf32> into tensor<?xf32>
        %y = tensor.insert_slice %x into %a[1] [%d] [1] : tensor<?xf32> into tensor<?xf32>
        scf.yield %y : tensor<?xf32>
      } else {
        scf.yield %x : tensor<?xf32>
      }
      %d = tensor.dim %in, %c0 : tensor<?xf32>
      %size = arith.addi %d, %c1 : index
      %empty = tensor.empty(%size) : tensor<?xf32>
      %a = tensor.insert_slice %q into %empty[0] [1] [1] : tensor<1xf32> into tensor<?xf32>
      %y = tensor.insert_slice %in into %a[1] [%d] [1] : tensor<?xf32> into tensor<?xf32>
      scf.yield %y : tensor<?xf32>
    } else {
      scf.yield %x : tensor<?xf32>
    }
    loop.yield while(%c : i1) carried(%next : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// One branch puts it in front, the other one behind.
// CHECK-LABEL: func @either(
func.func @either(%n: i64, %x0: tensor<?xf32>, %p: tensor<1xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-NOT: loop.reserve
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %size = arith.addi %d, %c1 : index
    %odd = arith.trunci %i : i64 to i1
    %next = scf.if %odd -> (tensor<?xf32>) {
      %empty = tensor.empty(%size) : tensor<?xf32>
      %a = tensor.insert_slice %p into %empty[0] [1] [1] : tensor<1xf32> into tensor<?xf32>
      %y = tensor.insert_slice %x into %a[1] [%d] [1] : tensor<?xf32> into tensor<?xf32>
      scf.yield %y : tensor<?xf32>
    } else {
      %empty = tensor.empty(%size) : tensor<?xf32>
      %a = tensor.insert_slice %x into %empty[0] [%d] [1] : tensor<?xf32> into tensor<?xf32>
      %y = tensor.insert_slice %p into %a[%d] [1] [1] : tensor<1xf32> into tensor<?xf32>
      scf.yield %y : tensor<?xf32>
    }
    loop.yield while(%c : i1) carried(%next : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}
