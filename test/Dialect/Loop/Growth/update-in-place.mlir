// RUN: loopc-opt %s --loop-grow-in-place --canonicalize | FileCheck %s

// What is in front, four elements, and what is behind, of a value that is
// carried: as many as are replaced. They are inserted, and nothing else is read
// or written.
// CHECK-LABEL: func.func @replaces(
// CHECK: loop.loop {{.*}} carried(%[[X:[^ ]*]] =
// CHECK-NOT: tensor.extract_slice
// CHECK: %[[IN:.*]] = tensor.insert_slice %{{.*}} into %[[X]][%{{.*}}] [4] [1]
// CHECK-NEXT: loop.yield {{.*}} carried(%[[IN]] :
func.func @replaces(%x0: tensor<40xf32>, %m: tensor<4xf32>) -> tensor<40xf32> {
  %c4 = arith.constant 4 : index
  %c40 = arith.constant 40 : index
  %four = arith.constant 4 : i64
  %n = arith.constant 10 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<40xf32>) {
    %from = arith.muli %i, %four : i64
    %begin = arith.index_cast %from : i64 to index
    %to = arith.addi %from, %four : i64
    %last = arith.index_cast %to : i64 to index
    %end = arith.minsi %last, %c40 : index
    %rest = arith.subi %c40, %end : index
    %front = tensor.extract_slice %x[0] [%begin] [1] : tensor<40xf32> to tensor<?xf32>
    %behind = tensor.extract_slice %x[%end] [%rest] [1] : tensor<40xf32> to tensor<?xf32>
    %at = arith.addi %begin, %c4 : index
    %empty = tensor.empty() : tensor<40xf32>
    %0 = tensor.insert_slice %front into %empty[0] [%begin] [1] : tensor<?xf32> into tensor<40xf32>
    %1 = tensor.insert_slice %m into %0[%begin] [4] [1] : tensor<4xf32> into tensor<40xf32>
    %2 = tensor.insert_slice %behind into %1[%at] [%rest] [1] : tensor<?xf32> into tensor<40xf32>
    loop.yield while(%c : i1) carried(%2 : tensor<40xf32>)
  }
  return %r : tensor<40xf32>
}

// Five elements of four that are replaced, the last of which are not.
// CHECK-LABEL: func.func @longer(
// CHECK: loop.loop
// CHECK: tensor.extract_slice
// CHECK: tensor.insert_slice
// CHECK: tensor.insert_slice
func.func @longer(%x0: tensor<?xf32>, %m: tensor<5xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %four = arith.constant 4 : i64
  %n = arith.constant 10 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %from = arith.muli %i, %four : i64
    %begin = arith.index_cast %from : i64 to index
    %to = arith.addi %from, %four : i64
    %end = arith.index_cast %to : i64 to index
    %rest = arith.subi %d, %end : index
    %front = tensor.extract_slice %x[0] [%begin] [1] : tensor<?xf32> to tensor<?xf32>
    %behind = tensor.extract_slice %x[%end] [%rest] [1] : tensor<?xf32> to tensor<?xf32>
    %at = arith.addi %begin, %c5 : index
    %all = arith.addi %at, %rest : index
    %empty = tensor.empty(%all) : tensor<?xf32>
    %0 = tensor.insert_slice %front into %empty[0] [%begin] [1] : tensor<?xf32> into tensor<?xf32>
    %1 = tensor.insert_slice %m into %0[%begin] [5] [1] : tensor<5xf32> into tensor<?xf32>
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

// The extents of what is carried and of what is yielded are the init's.
// CHECK-LABEL: func.func @open(
// CHECK: loop.loop {{.*}} carried(%[[X:[^ ]*]] =
// CHECK-NOT: tensor.extract_slice
// CHECK: %[[IN:.*]] = tensor.insert_slice %{{.*}} into %[[X]][%{{.*}}] [4] [1]
// CHECK-NEXT: loop.yield {{.*}} carried(%[[IN]] :
func.func @open(%n: i64, %x0: tensor<?xf32>, %m: tensor<4xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %four = arith.constant 4 : i64
  %d = tensor.dim %x0, %c0 : tensor<?xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
    %at = arith.muli %i, %four : i64
    %begin = arith.index_cast %at : i64 to index
    %end = arith.addi %begin, %c4 : index
    %rest = arith.subi %d, %end : index
    %front = tensor.extract_slice %x[0] [%begin] [1] : tensor<?xf32> to tensor<?xf32>
    %behind = tensor.extract_slice %x[%end] [%rest] [1] : tensor<?xf32> to tensor<?xf32>
    %empty = tensor.empty(%d) : tensor<?xf32>
    %0 = tensor.insert_slice %front into %empty[0] [%begin] [1] : tensor<?xf32> into tensor<?xf32>
    %1 = tensor.insert_slice %m into %0[%begin] [4] [1] : tensor<4xf32> into tensor<?xf32>
    %2 = tensor.insert_slice %behind into %1[%end] [%rest] [1] : tensor<?xf32> into tensor<?xf32>
    loop.yield while(%c : i1) carried(%2 : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}
