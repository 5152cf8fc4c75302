// RUN: loopc-opt %s --loopc-bufferize --cse --canonicalize | FileCheck %s

// Each row is made of the one before it, in the same buffer: nothing is copied.
// CHECK-LABEL: func.func @row_before(
// CHECK: memref.alloc
// CHECK: scf.for
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: linalg.generic
// CHECK-NOT: memref.copy
// CHECK: return
func.func @row_before(%n: index, %m: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty(%n, %m) : tensor<?x?xf32>
  %start = linalg.fill ins(%one : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %last = arith.subi %n, %c1 : index
  %rows = scf.for %k = %c0 to %last step %c1 iter_args(%all = %start) -> (tensor<?x?xf32>) {
    %next = arith.addi %k, %c1 : index
    %before = tensor.extract_slice %all[%k, 0] [1, %m] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %place = tensor.extract_slice %all[%next, 0] [1, %m] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %row = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%before : tensor<?xf32>) outs(%place : tensor<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = math.exp %a : f32
      linalg.yield %0 : f32
    } -> tensor<?xf32>
    %put = tensor.insert_slice %row into %all[%next, 0] [1, %m] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    scf.yield %put : tensor<?x?xf32>
  }
  return %rows : tensor<?x?xf32>
}


// Two rows from here on have one in common with the place of the next.
// CHECK-LABEL: func.func @rows_overlap(
// CHECK: memref.alloc
// CHECK: scf.for
// CHECK: memref.alloc
// CHECK: linalg.generic
// CHECK: return
func.func @rows_overlap(%n: index, %m: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty(%n, %m) : tensor<?x?xf32>
  %start = linalg.fill ins(%one : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %c2 = arith.constant 2 : index
  %last = arith.subi %n, %c2 : index
  %rows = scf.for %k = %c0 to %last step %c1 iter_args(%all = %start) -> (tensor<?x?xf32>) {
    %next = arith.addi %k, %c1 : index
    %before = tensor.extract_slice %all[%k, 0] [2, %m] [1, 1] : tensor<?x?xf32> to tensor<2x?xf32>
    %place = tensor.extract_slice %all[%next, 0] [2, %m] [1, 1] : tensor<?x?xf32> to tensor<2x?xf32>
    %row = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%before : tensor<2x?xf32>) outs(%place : tensor<2x?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = math.exp %a : f32
      linalg.yield %0 : f32
    } -> tensor<2x?xf32>
    %put = tensor.insert_slice %row into %all[%next, 0] [2, %m] [1, 1] : tensor<2x?xf32> into tensor<?x?xf32>
    scf.yield %put : tensor<?x?xf32>
  }
  return %rows : tensor<?x?xf32>
}

// From its end on backwards: elements 9, 8, 7, 6 and 5, of which 7 and 8 are
// read behind that.
// CHECK-LABEL: func.func @backwards(
// CHECK: memref.copy %{{.*}} : memref<2xf32, strided<[1], offset: 7>>
// CHECK: memref.subview %{{.*}}[9] [5] [-1]
// CHECK: return
func.func @backwards(%x: tensor<10xf32>, %y: tensor<5xf32>, %f: f32) -> (tensor<10xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<10xf32>
  %all = linalg.fill ins(%f : f32) outs(%e : tensor<10xf32>) -> tensor<10xf32>
  %part = tensor.extract_slice %all[7] [2] [1] : tensor<10xf32> to tensor<2xf32>
  %put = tensor.insert_slice %y into %all[9] [5] [-1] : tensor<5xf32> into tensor<10xf32>
  return %put, %part : tensor<10xf32>, tensor<2xf32>
}

// Nor does anybody know where it goes by a step that only a run knows.
// CHECK-LABEL: func.func @by_any_step(
// CHECK: memref.copy
// CHECK: memref.copy
// CHECK: return
func.func @by_any_step(%x: tensor<10xf32>, %y: tensor<5xf32>, %f: f32, %step: index) -> (tensor<10xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<10xf32>
  %all = linalg.fill ins(%f : f32) outs(%e : tensor<10xf32>) -> tensor<10xf32>
  %part = tensor.extract_slice %all[0] [2] [1] : tensor<10xf32> to tensor<2xf32>
  %put = tensor.insert_slice %y into %all[4] [5] [%step] : tensor<5xf32> into tensor<10xf32>
  return %put, %part : tensor<10xf32>, tensor<2xf32>
}

// All elements of the slice lie at one place: what is computed of them is
// written elsewhere.
// CHECK-LABEL: func.func @repeated(
// CHECK-SAME: %[[X:[^:]+]]: memref<5xf32
// CHECK: %[[AT:.*]] = memref.alloc() {{.*}} : memref<4xf32>
// CHECK: memref.copy %{{.*}}, %[[AT]]
// CHECK: linalg.generic {{.*}} outs(%[[AT]] : memref<4xf32>)
// CHECK-LABEL: func.func @maybe_repeated(
// CHECK: memref.copy
// CHECK: linalg.generic
func.func @repeated(%x: tensor<5xf32> {bufferization.writable = true}, %y: tensor<4xf32>) -> tensor<4xf32> {
  %s = tensor.extract_slice %x[2] [4] [0] : tensor<5xf32> to tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<4xf32>) outs(%s : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @maybe_repeated(%x: tensor<5xf32> {bufferization.writable = true}, %y: tensor<4xf32>, %step: index) -> tensor<4xf32> {
  %s = tensor.extract_slice %x[2] [4] [%step] : tensor<5xf32> to tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<4xf32>) outs(%s : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
