// RUN: loopc-opt %s --allow-unregistered-dialect --loop-grow-in-place --canonicalize --cse | FileCheck %s
// RUN: loopc-opt %s --allow-unregistered-dialect --loop-grow-in-place --remark-format=emitRemark \
// RUN:   --remarks-filter=loop 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// What an inner loop appends to the outer one's value goes into one buffer, which both carry.
// REMARK: "carried value #0 grows along axis 0 in a buffer that is doubled when it is full"
// REMARK-NOT: changes its shape
// CHECK-LABEL: func @inner(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[GO:[^:]+]]: i1, %[[X0:[^:]+]]: tensor<?x4xf32>, %[[E:[^:]+]]: tensor<1x4xf32>)
func.func @inner(%n: i64, %go: i1, %x0: tensor<?x4xf32>, %e: tensor<1x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[LENGTH:.*]] = tensor.dim %[[X0]]
  // CHECK: %[[R:.*]]:2 = loop.loop {{.*}} carried(%[[X:[^ ]+]] = %[[X0]] : {{.*}}, %[[USED:[^ ]+]] = %[[LENGTH]] : index)
  // CHECK-NEXT: %[[S:.*]]:2 = loop.loop {{.*}} carried(%[[Y:[^ ]+]] = %[[X]] : {{.*}}, %[[PART:[^ ]+]] = %[[USED]] : index)
  // CHECK: %[[ROOM:[^,]+]], %{{.*}} = loop.reserve %[[Y]] at %c0 used %[[PART]] front %c0 back %c1 axis 0
  // What was there before the inner loop is read from its newest version.
  // CHECK: %[[NEXT:.*]] = tensor.insert_slice %[[E]] into %[[ROOM]][%[[PART]], 0] [1, 4] [1, 1]
  // CHECK: %[[OLD:.*]] = tensor.extract_slice %[[NEXT]][0, 0] [%[[USED]], 4]
  // CHECK: "old"(%[[OLD]])
  // CHECK: loop.yield {{.*}} carried(%[[NEXT]], %{{.*}} :
  // CHECK: loop.yield {{.*}} carried(%[[S]]#0, %[[S]]#1 :
  // CHECK: tensor.extract_slice %[[R]]#0[0, 0] [%[[R]]#1, 4]
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?x4xf32>) {
    %s = loop.loop (%j : i64, %d : i1) while(%go : i1) carried(%y = %x : tensor<?x4xf32>) {
      %l = tensor.dim %y, %c0 : tensor<?x4xf32>
      %size = arith.addi %l, %c1 : index
      %empty = tensor.empty(%size) : tensor<?x4xf32>
      %a = tensor.insert_slice %y into %empty[0, 0] [%l, 4] [1, 1] : tensor<?x4xf32> into tensor<?x4xf32>
      %b = tensor.insert_slice %e into %a[%l, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x4xf32>
      "old"(%x) : (tensor<?x4xf32>) -> ()
      %more = arith.trunci %j : i64 to i1
      loop.yield while(%more : i1) carried(%b : tensor<?x4xf32>)
    }
    loop.yield while(%c : i1) carried(%s : tensor<?x4xf32>)
  }
  return %r : tensor<?x4xf32>
}

// In front of it in the outer loop, behind it in the inner one: the place is carried by both.
// REMARK: "carried value #0 grows along axis 0 in a buffer that is doubled when it is full"
// CHECK-LABEL: func @either(
func.func @either(%n: i64, %x0: tensor<?xf32>, %e: tensor<1xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[R:.*]]:3 = loop.loop
  // CHECK: %[[ROOM:.*]], %[[MOVED:.*]] = loop.reserve %{{.*}} front %c1 back %c0
  // CHECK: %[[PLACE:.*]] = arith.subi %{{.*}}, %c1
  // CHECK: %[[FIRST:.*]] = tensor.insert_slice %{{.*}} into %[[ROOM]][%[[PLACE]]] [1] [1]
  // CHECK: %[[S:.*]]:3 = loop.loop {{.*}} carried(%{{.*}} = %[[FIRST]] : {{.*}}, %[[USED:[^ ]+]] = %{{.*}} : index, %[[AT:[^ ]+]] = %[[PLACE]] : index)
  // CHECK: loop.reserve %{{.*}} at %[[AT]] used %[[USED]] front %c0 back %c1
  // CHECK: loop.yield {{.*}} carried(%[[S]]#0, %[[S]]#1, %[[S]]#2
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
    %k = tensor.dim %x, %c0 : tensor<?xf32>
    %larger = arith.addi %k, %c1 : index
    %place = tensor.empty(%larger) : tensor<?xf32>
    %front = tensor.insert_slice %e into %place[0] [1] [1] : tensor<1xf32> into tensor<?xf32>
    %z = tensor.insert_slice %x into %front[1] [%k] [1] : tensor<?xf32> into tensor<?xf32>
    %s = loop.loop (%j : i64, %d : i1) trips(%i : i64) carried(%y = %z : tensor<?xf32>) {
      %l = tensor.dim %y, %c0 : tensor<?xf32>
      %size = arith.addi %l, %c1 : index
      %empty = tensor.empty(%size) : tensor<?xf32>
      %a = tensor.insert_slice %y into %empty[0] [%l] [1] : tensor<?xf32> into tensor<?xf32>
      %b = tensor.insert_slice %e into %a[%l] [1] [1] : tensor<1xf32> into tensor<?xf32>
      loop.yield while(%d : i1) carried(%b : tensor<?xf32>)
    }
    loop.yield while(%c : i1) carried(%s : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// Along one axis in the outer loop, along another one in the inner: only the inner one has a buffer with room.
// REMARK: "carried value #0 changes its shape
// CHECK-LABEL: func @axes(
func.func @axes(%n: i64, %x0: tensor<?x?xf32>, %e: tensor<1x?xf32>, %f: tensor<?x1xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: loop.loop {{.*}} carried(%{{[^,]*}} : tensor<?x?xf32>) {
  // CHECK: loop.loop
  // CHECK-NOT: loop.reserve {{.*}} axis 1
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?x?xf32>) {
    %s = loop.loop (%j : i64, %d : i1) trips(%i : i64) carried(%y = %x : tensor<?x?xf32>) {
      %h = tensor.dim %y, %c0 : tensor<?x?xf32>
      %w = tensor.dim %y, %c1 : tensor<?x?xf32>
      %size = arith.addi %h, %c1 : index
      %empty = tensor.empty(%size, %w) : tensor<?x?xf32>
      %a = tensor.insert_slice %y into %empty[0, 0] [%h, %w] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
      %b = tensor.insert_slice %e into %a[%h, 0] [1, %w] [1, 1] : tensor<1x?xf32> into tensor<?x?xf32>
      loop.yield while(%d : i1) carried(%b : tensor<?x?xf32>)
    }
    %h = tensor.dim %s, %c0 : tensor<?x?xf32>
    %w = tensor.dim %s, %c1 : tensor<?x?xf32>
    %size = arith.addi %w, %c1 : index
    %empty = tensor.empty(%h, %size) : tensor<?x?xf32>
    %a = tensor.insert_slice %s into %empty[0, 0] [%h, %w] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
    %b = tensor.insert_slice %f into %a[0, %w] [%h, 1] [1, 1] : tensor<?x1xf32> into tensor<?x?xf32>
    loop.yield while(%c : i1) carried(%b : tensor<?x?xf32>)
  }
  return %r : tensor<?x?xf32>
}
