// RUN: loopc-opt %s --loop-grow-in-place --canonicalize | FileCheck %s

// What is in front, four elements, and what is behind, of a value that is
// carried: where the four replace four they are inserted, and nothing else is
// read or written.
// CHECK-LABEL: func.func @replaces(
// CHECK: loop.loop {{.*}} carried(%[[X:[^ ]*]] =
// CHECK: %[[R:.*]] = scf.if %{{.*}} -> (tensor<?xf32>) {
// CHECK-NEXT: %[[IN:.*]] = tensor.insert_slice %{{.*}} into %[[X]][%{{.*}}] [4] [1]
// CHECK-NEXT: scf.yield %[[IN]]
// CHECK: } else {
// CHECK: tensor.extract_slice %[[X]][0]
// CHECK: tensor.insert_slice
// CHECK: loop.yield {{.*}} carried(%[[R]] :
func.func @replaces(%n: i64, %x0: tensor<?xf32>, %m: tensor<4xf32>, %s: index, %e: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %begin = arith.minsi %s, %d : index
    %end = arith.minsi %e, %d : index
    %rest = arith.subi %d, %end : index
    %front = tensor.extract_slice %x[0] [%begin] [1] : tensor<?xf32> to tensor<?xf32>
    %behind = tensor.extract_slice %x[%end] [%rest] [1] : tensor<?xf32> to tensor<?xf32>
    %at = arith.addi %begin, %c4 : index
    %all = arith.addi %at, %rest : index
    %empty = tensor.empty(%all) : tensor<?xf32>
    %0 = tensor.insert_slice %front into %empty[0] [%begin] [1] : tensor<?xf32> into tensor<?xf32>
    %1 = tensor.insert_slice %m into %0[%begin] [4] [1] : tensor<4xf32> into tensor<?xf32>
    %2 = tensor.insert_slice %behind into %1[%at] [%rest] [1] : tensor<?xf32> into tensor<?xf32>
    loop.yield while(%c : i1) carried(%2 : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// Put between two parts, it makes the value longer.
// CHECK-LABEL: func.func @inserts(
// CHECK: loop.reserve
func.func @inserts(%n: i64, %x0: tensor<?xf32>, %m: tensor<4xf32>, %s: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %begin = arith.minsi %s, %d : index
    %rest = arith.subi %d, %begin : index
    %front = tensor.extract_slice %x[0] [%begin] [1] : tensor<?xf32> to tensor<?xf32>
    %behind = tensor.extract_slice %x[%begin] [%rest] [1] : tensor<?xf32> to tensor<?xf32>
    %at = arith.addi %begin, %c4 : index
    %all = arith.addi %at, %rest : index
    %empty = tensor.empty(%all) : tensor<?xf32>
    %0 = tensor.insert_slice %front into %empty[0] [%begin] [1] : tensor<?xf32> into tensor<?xf32>
    %1 = tensor.insert_slice %m into %0[%begin] [4] [1] : tensor<4xf32> into tensor<?xf32>
    %2 = tensor.insert_slice %behind into %1[%at] [%rest] [1] : tensor<?xf32> into tensor<?xf32>
    loop.yield while(%c : i1) carried(%2 : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}
