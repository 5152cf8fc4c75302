// RUN: loopc-opt %s --allow-unregistered-dialect --loop-grow-in-place --canonicalize --cse | FileCheck %s
// RUN: loopc-opt %s --allow-unregistered-dialect --loop-grow-in-place --remark-format=emitRemark \
// RUN:   --remarks-filter=loop 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// The trips are known on entry: the buffer has its final size, what an iteration
// adds is written into its place.
// REMARK: "carried value #0 grows along axis 1 in a buffer of the final size"
// CHECK-LABEL: func @counted(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[X0:[^:]+]]: tensor<8x?xf32>, %[[E:[^:]+]]: tensor<8x2xf32>)
func.func @counted(%n: i64, %x0: tensor<8x?xf32>, %e: tensor<8x2xf32>) -> tensor<8x?xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // CHECK-DAG: %[[LENGTH:.*]] = tensor.dim %[[X0]]
  // CHECK-DAG: %[[TRIPS:.*]] = arith.index_cast
  // More trips than any memory has room for make no small product.
  // CHECK: %[[LIMITED:.*]] = arith.minui %[[TRIPS]], %c2305843009213693952
  // CHECK: %[[MORE:.*]] = arith.muli %[[LIMITED]], %{{.*}}
  // CHECK: %[[SIZE:.*]] = arith.addi %[[LENGTH]], %[[MORE]]
  // CHECK: %[[EMPTY:.*]] = tensor.empty(%[[SIZE]])
  // CHECK: %[[INIT:.*]] = tensor.insert_slice %[[X0]] into %[[EMPTY]][0, 0] [8, %[[LENGTH]]]
  // CHECK: %[[R:.*]]:2 = loop.loop {{.*}} carried(%[[BUFFER:[^ ]+]] = %[[INIT]] : {{.*}}, %[[USED:[^ ]+]] = %[[LENGTH]] : index)
  // CHECK-NOT: loop.reserve
  // CHECK-DAG: %[[NEXT:.*]] = tensor.insert_slice %[[E]] into %[[BUFFER]][0, %[[USED]]] [8, 2] [1, 1]
  // CHECK-DAG: %[[SUM:.*]] = arith.addi %[[USED]], %{{.*}}
  // CHECK: loop.yield {{.*}} carried(%[[NEXT]], %[[SUM]]
  // CHECK: return %[[R]]#0
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<8x?xf32>) {
    %d = tensor.dim %x, %c1 : tensor<8x?xf32>
    %size = arith.addi %d, %c2 : index
    %empty = tensor.empty(%size) : tensor<8x?xf32>
    %a = tensor.insert_slice %x into %empty[0, 0] [8, %d] [1, 1] : tensor<8x?xf32> into tensor<8x?xf32>
    %y = tensor.insert_slice %e into %a[0, %d] [8, 2] [1, 1] : tensor<8x2xf32> into tensor<8x?xf32>
    loop.yield while(%c : i1) carried(%y : tensor<8x?xf32>)
  }
  return %r : tensor<8x?xf32>
}

// A condition may end it: room is made at the begin of the body, and what reads
// the values reads the newest version of the buffer.
// REMARK: "carried value #0 grows along axis 0 in a buffer that is doubled when it is full"
// CHECK-LABEL: func @conditional(
// CHECK-SAME: %[[GO:[^:]+]]: i1, %[[X0:[^:]+]]: tensor<?xf32>, %[[E:[^:]+]]: tensor<1xf32>)
func.func @conditional(%go: i1, %x0: tensor<?xf32>, %e: tensor<1xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %limit = arith.constant 9.0 : f32
  // CHECK: %[[LENGTH:.*]] = tensor.dim %[[X0]]
  // CHECK: %[[R:.*]]:2 = loop.loop {{.*}} carried(%[[BUFFER:[^ ]+]] = %[[X0]] : tensor<?xf32>, %[[USED:[^ ]+]] = %[[LENGTH]] : index)
  // CHECK: %[[ROOM:[^,]+]], %{{.*}} = loop.reserve %[[BUFFER]] at %{{.*}} used %[[USED]] front %{{.*}} back %{{.*}} axis 0
  // CHECK: tensor.extract_slice %[[ROOM]][0] [%[[USED]]]
  // CHECK: "before"
  // CHECK: %[[SUM:.*]] = arith.addi %[[USED]]
  // CHECK: %[[NEXT:.*]] = tensor.insert_slice %[[E]] into %[[ROOM]][%[[USED]]] [1] [1]
  // CHECK: %[[OLD:.*]] = tensor.extract_slice %[[NEXT]][0] [%[[USED]]]
  // CHECK: %[[ALL:.*]] = tensor.extract_slice %[[NEXT]][0] [%[[SUM]]]
  // CHECK: "behind"(%[[OLD]], %[[ALL]])
  // CHECK: loop.yield {{.*}} carried(%[[NEXT]], %[[SUM]]
  // CHECK: tensor.extract_slice %[[R]]#0[0] [%[[R]]#1]
  %r = loop.loop (%i : i64, %c : i1) while(%go : i1) carried(%x = %x0 : tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %f = "before"(%x) : (tensor<?xf32>) -> f32
    %size = arith.addi %d, %c1 : index
    %empty = tensor.empty(%size) : tensor<?xf32>
    %a = tensor.insert_slice %x into %empty[0] [%d] [1] : tensor<?xf32> into tensor<?xf32>
    %y = tensor.insert_slice %e into %a[%d] [1] [1] : tensor<1xf32> into tensor<?xf32>
    "behind"(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> ()
    %less = arith.cmpf olt, %f, %limit : f32
    loop.yield while(%less : i1) carried(%y : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// In front of what is there: the place of the first element is carried too.
// CHECK-LABEL: func @in_front(
// CHECK-SAME: %[[E:[^:]+]]: tensor<1xf32>)
func.func @in_front(%go: i1, %x0: tensor<?xf32>, %e: tensor<1xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[R:.*]]:3 = loop.loop {{.*}}, %[[USED:[^ ]+]] = %{{[^ ]+}} : index, %[[AT:[^ ]+]] = %c0 : index)
  // CHECK: %[[ROOM:[^,]+]], %[[MOVED:.*]] = loop.reserve %{{.*}} at %[[AT]] used %[[USED]]
  // CHECK: %[[PLACE:.*]] = arith.subi %{{.*}}, %c1
  // CHECK: tensor.insert_slice %[[E]] into %[[ROOM]][%[[PLACE]]] [1] [1]
  // CHECK: tensor.extract_slice %[[R]]#0[%[[R]]#2] [%[[R]]#1]
  %r = loop.loop (%i : i64, %c : i1) while(%go : i1) carried(%x = %x0 : tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %size = arith.addi %c1, %d : index
    %empty = tensor.empty(%size) : tensor<?xf32>
    %a = tensor.insert_slice %e into %empty[0] [1] [1] : tensor<1xf32> into tensor<?xf32>
    %y = tensor.insert_slice %x into %a[1] [%d] [1] : tensor<?xf32> into tensor<?xf32>
    loop.yield while(%c : i1) carried(%y : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// With itself it does not stay where it is.
// REMARK: "carried value #0 changes its shape, not by a concatenation along one axis
// CHECK-LABEL: func @doubled(
func.func @doubled(%go: i1, %x0: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  // CHECK-NOT: loop.reserve
  %r = loop.loop (%i : i64, %c : i1) while(%go : i1) carried(%x = %x0 : tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %size = arith.addi %d, %d : index
    %empty = tensor.empty(%size) : tensor<?xf32>
    %a = tensor.insert_slice %x into %empty[0] [%d] [1] : tensor<?xf32> into tensor<?xf32>
    %y = tensor.insert_slice %x into %a[%d] [%d] [1] : tensor<?xf32> into tensor<?xf32>
    loop.yield while(%c : i1) carried(%y : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// A gap between the parts is no concatenation.
// CHECK-LABEL: func @gap(
func.func @gap(%go: i1, %x0: tensor<?xf32>, %e: tensor<1xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // CHECK-NOT: loop.reserve
  %r = loop.loop (%i : i64, %c : i1) while(%go : i1) carried(%x = %x0 : tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %size = arith.addi %d, %c2 : index
    %at = arith.addi %d, %c1 : index
    %empty = tensor.empty(%size) : tensor<?xf32>
    %a = tensor.insert_slice %x into %empty[0] [%d] [1] : tensor<?xf32> into tensor<?xf32>
    %y = tensor.insert_slice %e into %a[%at] [1] [1] : tensor<1xf32> into tensor<?xf32>
    loop.yield while(%c : i1) carried(%y : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// An extent that the loop's type hides, and its init has, is in the type of what
// is cut out of the buffer.
// CHECK-LABEL: func @hidden_extent(
// CHECK: %[[R:.*]]:2 = loop.loop
// CHECK: %[[ALL:.*]] = tensor.extract_slice %[[R]]#0[0, 0] [%[[R]]#1, 4] {{.*}} to tensor<?x4xf32>
// CHECK: tensor.cast %[[ALL]] : tensor<?x4xf32> to tensor<?x?xf32>
func.func @hidden_extent(%go: i1, %x0: tensor<?x4xf32>, %e: tensor<1x4xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %open = tensor.cast %x0 : tensor<?x4xf32> to tensor<?x?xf32>
  %r = loop.loop (%i : i64, %c : i1) while(%go : i1) carried(%x = %open : tensor<?x?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?x?xf32>
    %w = tensor.dim %x, %c1 : tensor<?x?xf32>
    %size = arith.addi %d, %c1 : index
    %empty = tensor.empty(%size, %w) : tensor<?x?xf32>
    %a = tensor.insert_slice %x into %empty[0, 0] [%d, %w] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
    %y = tensor.insert_slice %e into %a[%d, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x?xf32>
    %go_on = "condition"() : () -> i1
    loop.yield while(%go_on : i1) carried(%y : tensor<?x?xf32>)
  }
  return %r : tensor<?x?xf32>
}
