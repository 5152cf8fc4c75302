// RUN: loopc-opt %s --loop-grow-in-place --canonicalize --cse | FileCheck %s
// RUN: loopc-opt %s --loop-grow-in-place --remark-format=emitRemark \
// RUN:   --remarks-filter=loop 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// A queue: the place of its first row is carried, too. What it loses is read before the new row is
// written, wherever it was read, from the buffer itself.
// REMARK: "carried value #0 grows and shrinks along axis 0 in a buffer that is doubled when it is full"
// CHECK-LABEL: func @queue(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[X0:[^:]+]]: tensor<?x4xf32>, %[[E:[^:]+]]: tensor<1x4xf32>
func.func @queue(%n: i64, %x0: tensor<?x4xf32>, %e: tensor<1x4xf32>, %s0: tensor<1x4xf32>) -> (tensor<?x4xf32>, tensor<1x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[USED:.*]] = tensor.dim %[[X0]], %c0
  // CHECK: %[[R:.*]]:3 = loop.loop {{.*}} carried(%[[X:[^ ]+]] = %[[X0]] : {{.*}}, %[[AT:[^ ]+]] = %c0 : index)
  // CHECK-DAG: %[[REST:.*]] = arith.subi %[[USED]], %c1
  // CHECK-DAG: %[[NEXT:.*]] = arith.addi %[[AT]], %c1
  // CHECK-DAG: %[[HEAD:.*]] = tensor.extract_slice %[[X]][%[[AT]], 0] [1, 4] [1, 1]
  // CHECK: linalg.add ins(%{{.*}}, %[[HEAD]]
  // CHECK: %[[ROOM:[^,]+]], %[[MOVED:.*]] = loop.reserve %[[X]] at %[[NEXT]] used %[[REST]] front %c0 back %c1 axis 0
  // CHECK: %[[END:.*]] = arith.addi %[[MOVED]], %[[REST]]
  // CHECK: %[[ALL:.*]] = tensor.insert_slice %[[E]] into %[[ROOM]][%[[END]], 0] [1, 4] [1, 1]
  // CHECK: loop.yield {{.*}} carried(%[[ALL]], %{{.*}}, %[[MOVED]] :
  // CHECK: tensor.extract_slice %[[R]]#0[%[[R]]#2, 0] [%[[USED]], 4]
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?x4xf32>, %s = %s0 : tensor<1x4xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?x4xf32>
    %rest = arith.subi %d, %c1 : index
    %cut = tensor.extract_slice %x[1, 0] [%rest, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
    %size = arith.addi %rest, %c1 : index
    %empty = tensor.empty(%size) : tensor<?x4xf32>
    %a = tensor.insert_slice %cut into %empty[0, 0] [%rest, 4] [1, 1] : tensor<?x4xf32> into tensor<?x4xf32>
    %y = tensor.insert_slice %e into %a[%rest, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x4xf32>
    %head = tensor.extract_slice %x[0, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
    %sum = linalg.add ins(%s, %head : tensor<1x4xf32>, tensor<1x4xf32>) outs(%s0 : tensor<1x4xf32>) -> tensor<1x4xf32>
    loop.yield while(%c : i1) carried(%y, %sum : tensor<?x4xf32>, tensor<1x4xf32>)
  }
  return %r#0, %r#1 : tensor<?x4xf32>, tensor<1x4xf32>
}

// A stack that a branch pushes to, and the other one pops: the branches say how much stays and what is added.
// REMARK: "carried value #0 grows and shrinks along axis 0
// CHECK-LABEL: func @stack(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[X0:[^:]+]]: tensor<?xf32>, %[[E:[^:]+]]: tensor<1xf32>
func.func @stack(%n: i64, %x0: tensor<?xf32>, %e: tensor<1xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[R:.*]]:2 = loop.loop {{.*}} carried(%[[X:[^ ]+]] = %[[X0]] : {{.*}}, %[[USED:[^ ]+]] = %{{[^ ]+}} : index)
  // CHECK-DAG: %[[LESS:.*]] = arith.subi %[[USED]], %c1
  // CHECK-DAG: %[[STAY:.*]] = arith.select %{{.*}}, %[[USED]], %[[LESS]]
  // CHECK-DAG: %[[ADDED:.*]] = arith.select %{{.*}}, %c1, %c0
  // CHECK: %[[ROOM:[^,]+]], %{{.*}} = loop.reserve %[[X]] at %c0 used %[[STAY]] front %c0 back %[[ADDED]] axis 0
  // CHECK: tensor.insert_slice %{{.*}} into %[[ROOM]][%[[STAY]]] [%[[ADDED]]] [1]
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
    %odd = arith.trunci %i : i64 to i1
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %more = arith.addi %d, %c1 : index
    %less = arith.subi %d, %c1 : index
    %next = scf.if %odd -> (tensor<?xf32>) {
      %empty = tensor.empty(%more) : tensor<?xf32>
      %a = tensor.insert_slice %x into %empty[0] [%d] [1] : tensor<?xf32> into tensor<?xf32>
      %y = tensor.insert_slice %e into %a[%d] [1] [1] : tensor<1xf32> into tensor<?xf32>
      scf.yield %y : tensor<?xf32>
    } else {
      %cut = tensor.extract_slice %x[0] [%less] [1] : tensor<?xf32> to tensor<?xf32>
      scf.yield %cut : tensor<?xf32>
    }
    loop.yield while(%c : i1) carried(%next : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// Along two axes at once: it stays as it is.
// REMARK: "carried value #0 changes its shape
// CHECK-LABEL: func @corner(
func.func @corner(%n: i64, %x0: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: loop.loop {{.*}} carried(%{{[^,]*}} : tensor<?x?xf32>) {
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?x?xf32>) {
    %h = tensor.dim %x, %c0 : tensor<?x?xf32>
    %w = tensor.dim %x, %c1 : tensor<?x?xf32>
    %h1 = arith.subi %h, %c1 : index
    %w1 = arith.subi %w, %c1 : index
    %y = tensor.extract_slice %x[1, 1] [%h1, %w1] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    loop.yield while(%c : i1) carried(%y : tensor<?x?xf32>)
  }
  return %r : tensor<?x?xf32>
}

// What is read between the slice and the concatenation, which moves to the end, has its view in front of it.
// CHECK-LABEL: func @between(
func.func @between(%n: i64, %x0: tensor<?xf32>, %e: tensor<1xf32>, %f: tensor<f32>) -> (tensor<?xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: loop.loop {{.*}} carried(%[[X:[^ ]+]] =
  // CHECK: %[[VIEW:.*]] = tensor.extract_slice %[[X]]
  // CHECK: linalg.reduce {{.*}} ins(%[[VIEW]]
  // CHECK: loop.reserve %[[X]]
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>, %s = %f : tensor<f32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %rest = arith.subi %d, %c1 : index
    %size = arith.addi %rest, %c1 : index
    %empty = tensor.empty(%size) : tensor<?xf32>
    %cut = tensor.extract_slice %x[1] [%rest] [1] : tensor<?xf32> to tensor<?xf32>
    %a = tensor.insert_slice %cut into %empty[0] [%rest] [1] : tensor<?xf32> into tensor<?xf32>
    %y = tensor.insert_slice %e into %a[%rest] [1] [1] : tensor<1xf32> into tensor<?xf32>
    %t = linalg.reduce { arith.addf } ins(%x : tensor<?xf32>) outs(%s : tensor<f32>) dimensions = [0]
    loop.yield while(%c : i1) carried(%y, %t : tensor<?xf32>, tensor<f32>)
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<f32>
}
