// RUN: loopc-opt %s --split-input-file --buffer-write-carried | FileCheck %s

#row = affine_map<(d0) -> (d0)>
#rows = affine_map<(d0, d1) -> (d0, d1)>
#sums = affine_map<(d0, d1) -> (d0)>

// The row and what the next iteration reads are written at one go, of unknown
// extents, too.
// CHECK-LABEL: func.func @scan(
// CHECK: loop.loop
// CHECK-SAME: carried(%[[H:[^ ]+]] =
// CHECK: %[[N:.+]] = tensor.dim
// CHECK: tensor.empty(%[[N]]) : tensor<?xf32>
// CHECK: %[[NEXT:.+]]:2 = linalg.generic
// CHECK-SAME: ins(%[[H]], %{{.+}} : tensor<?xf32>, tensor<?xf32>)
// CHECK: linalg.yield %[[S:.+]], %[[S]] : f32, f32
// CHECK: tensor.insert_slice %[[NEXT]]#0 into
// CHECK: loop.yield while({{.*}}) carried(%[[NEXT]]#1, %{{.+}} :
func.func @scan(%x: tensor<100x?xf32>, %init: tensor<?xf32>, %place: tensor<?xf32>, %all: tensor<100x?xf32>, %n: i64, %e: index) -> tensor<100x?xf32> {
  %true = arith.constant true
  %0:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%h = %init : tensor<?xf32>, %rows = %all : tensor<100x?xf32>) {
    %k = arith.index_cast %i : i64 to index
    %row = tensor.extract_slice %x[%k, 0] [1, %e] [1, 1] : tensor<100x?xf32> to tensor<?xf32>
    %next = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]} ins(%h, %row : tensor<?xf32>, tensor<?xf32>) outs(%place : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    %stored = tensor.insert_slice %next into %rows[%k, 0] [1, %e] [1, 1] : tensor<?xf32> into tensor<100x?xf32>
    loop.yield while(%true : i1) carried(%next, %stored : tensor<?xf32>, tensor<100x?xf32>)
  }
  return %0#1 : tensor<100x?xf32>
}

// -----

// Rows of a number that only a run knows; two values that change places.
#row = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @collected(
// CHECK: %[[NEXT:.+]]:3 = linalg.generic
// CHECK: linalg.yield %[[A:[^,]+]], %[[B:[^,]+]], %[[A]] : f32, f32, f32
// CHECK: loop.yield while({{.*}}) carried(%[[NEXT]]#1, %[[NEXT]]#2 : tensor<8xf32>, tensor<8xf32>) collect(%[[NEXT]]#0 : tensor<8xf32>)
func.func @collected(%init: tensor<8xf32>, %n: i64) -> tensor<?x8xf32> {
  %true = arith.constant true
  %place = tensor.empty() : tensor<8xf32>
  %0:3 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%h = %init : tensor<8xf32>, %g = %init : tensor<8xf32>) collect(tensor<?x8xf32> axis 0) {
    %next:2 = linalg.generic {indexing_maps = [#row, #row, #row, #row], iterator_types = ["parallel"]} ins(%h, %g : tensor<8xf32>, tensor<8xf32>) outs(%place, %place : tensor<8xf32>, tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32, %p: f32):
      %s = arith.addf %a, %b : f32
      %t = arith.mulf %a, %b : f32
      linalg.yield %s, %t : f32, f32
    } -> (tensor<8xf32>, tensor<8xf32>)
    loop.yield while(%true : i1) carried(%next#1, %next#0 : tensor<8xf32>, tensor<8xf32>) collect(%next#0 : tensor<8xf32>)
  }
  return %0#2 : tensor<?x8xf32>
}

// -----

// What is only carried, and what follows a sum, stays.
#row = affine_map<(d0) -> (d0)>
#rows = affine_map<(d0, d1) -> (d0, d1)>
#sums = affine_map<(d0, d1) -> (d0)>
#summed = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @others(
// CHECK-NOT: :2 = linalg.generic
// CHECK: return
func.func @others(%w: tensor<8x8xf32>, %init: tensor<8xf32>, %all: tensor<100x8xf32>, %n: i64) -> (tensor<8xf32>, tensor<100x8xf32>) {
  %true = arith.constant true
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %place = tensor.empty() : tensor<8xf32>
  %0:3 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%h = %init : tensor<8xf32>, %g = %init : tensor<8xf32>, %rows = %all : tensor<100x8xf32>) {
    %k = arith.index_cast %i : i64 to index
    %only = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%h : tensor<8xf32>) outs(%place : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.negf %a : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    %sum = linalg.generic {indexing_maps = [#rows, #summed, #sums], iterator_types = ["parallel", "reduction"]} ins(%w, %g : tensor<8x8xf32>, tensor<8xf32>) outs(%zero : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %p, %o : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    %after = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%sum : tensor<8xf32>) outs(%place : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = math.tanh %a : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    %stored = tensor.insert_slice %after into %rows[%k, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<100x8xf32>
    loop.yield while(%true : i1) carried(%only, %after, %stored : tensor<8xf32>, tensor<8xf32>, tensor<100x8xf32>)
  }
  return %0#0, %0#2 : tensor<8xf32>, tensor<100x8xf32>
}
