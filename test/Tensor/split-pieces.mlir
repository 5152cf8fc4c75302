// RUN: loopc-opt %s --tensor-fuse-elementwise --cse | FileCheck %s

// Rows are shifted with wrap-around, columns with padding: four pieces, of which
// the inner one reads slices of the field. No shifted field is made.
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func @stencil(
// CHECK-SAME: %[[X:[^:]+]]: tensor<64x32xf32>)
func.func @stencil(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  // CHECK-DAG: %[[ROWS:.*]] = tensor.extract_slice %[[X]][0, 0] [63, 32]
  // CHECK-DAG: %[[COLUMNS:.*]] = tensor.extract_slice %[[X]][0, 0] [64, 31]
  // CHECK-NOT: tensor.insert_slice %[[ROWS]]
  // CHECK: linalg.generic
  // CHECK: linalg.generic
  // CHECK: linalg.generic
  // CHECK: %[[FIELD:.*]] = tensor.extract_slice %[[X]][1, 1] [63, 31]
  // CHECK: %[[ABOVE:.*]] = tensor.extract_slice %[[ROWS]][0, 1] [63, 31]
  // CHECK: %[[LEFT:.*]] = tensor.extract_slice %[[COLUMNS]][1, 0] [63, 31]
  // CHECK: linalg.generic {{.*}} ins(%[[FIELD]], %[[ABOVE]], %[[LEFT]] :
  // CHECK: tensor.insert_slice {{.*}}[1, 1] [63, 31]
  // CHECK-NEXT: return
  %zero = arith.constant 0.0 : f32
  %last = tensor.extract_slice %x[63, 0] [1, 32] [1, 1] : tensor<64x32xf32> to tensor<1x32xf32>
  %rest = tensor.extract_slice %x[0, 0] [63, 32] [1, 1] : tensor<64x32xf32> to tensor<63x32xf32>
  %empty = tensor.empty() : tensor<64x32xf32>
  %first = tensor.insert_slice %last into %empty[0, 0] [1, 32] [1, 1] : tensor<1x32xf32> into tensor<64x32xf32>
  %down = tensor.insert_slice %rest into %first[1, 0] [63, 32] [1, 1] : tensor<63x32xf32> into tensor<64x32xf32>
  %begin = tensor.extract_slice %x[0, 0] [64, 31] [1, 1] : tensor<64x32xf32> to tensor<64x31xf32>
  %frame = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x32xf32>) -> tensor<64x32xf32>
  %right = tensor.insert_slice %begin into %frame[0, 1] [64, 31] [1, 1] : tensor<64x31xf32> into tensor<64x32xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %down, %right : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %t = arith.addf %s, %c : f32
    linalg.yield %t : f32
  } -> tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}

// An open axis that no shift goes along stays whole.
// CHECK-LABEL: func @batch(
func.func @batch(%x: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  // CHECK: linalg.generic
  // CHECK: tensor<?x1xf32>
  // CHECK: linalg.generic
  // CHECK: tensor<?x1023xf32>
  // CHECK-NOT: linalg.generic
  // CHECK: return
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %last = tensor.extract_slice %x[0, 1023] [%n, 1] [1, 1] : tensor<?x1024xf32> to tensor<?x1xf32>
  %rest = tensor.extract_slice %x[0, 0] [%n, 1023] [1, 1] : tensor<?x1024xf32> to tensor<?x1023xf32>
  %empty = tensor.empty(%n) : tensor<?x1024xf32>
  %first = tensor.insert_slice %last into %empty[0, 0] [%n, 1] [1, 1] : tensor<?x1xf32> into tensor<?x1024xf32>
  %right = tensor.insert_slice %rest into %first[0, 1] [%n, 1023] [1, 1] : tensor<?x1023xf32> into tensor<?x1024xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %right : tensor<?x1024xf32>, tensor<?x1024xf32>) outs(%empty : tensor<?x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x1024xf32>
  return %y : tensor<?x1024xf32>
}

// Two halves: neither piece has nearly all, what is put together is copied once.
// CHECK-LABEL: func @halves(
func.func @halves(%x: tensor<1024xf32>, %z: tensor<1024xf32>) -> tensor<1024xf32> {
  // CHECK: tensor.insert_slice
  // CHECK: tensor.insert_slice
  // CHECK: linalg.generic
  // CHECK-NOT: tensor.insert_slice
  // CHECK: return
  %a = tensor.extract_slice %x[512] [512] [1] : tensor<1024xf32> to tensor<512xf32>
  %b = tensor.extract_slice %x[0] [512] [1] : tensor<1024xf32> to tensor<512xf32>
  %empty = tensor.empty() : tensor<1024xf32>
  %first = tensor.insert_slice %a into %empty[0] [512] [1] : tensor<512xf32> into tensor<1024xf32>
  %all = tensor.insert_slice %b into %first[512] [512] [1] : tensor<512xf32> into tensor<1024xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%z, %all : tensor<1024xf32>, tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.mulf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<1024xf32>
  return %y : tensor<1024xf32>
}

// An open axis of what is put together, which another operand tells: both parts
// are read where they are.
// CHECK-LABEL: func @told_by_another(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x598xf32>, %[[Y:[^:]+]]: tensor<4x600xf32>)
// CHECK: %[[INNER:.*]] = tensor.extract_slice %[[X]][0, 0] [4, 598]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[INNER]] : tensor<4x598xf32>, tensor<4x598xf32>)
func.func @told_by_another(%x: tensor<?x598xf32>, %y: tensor<4x600xf32>) -> tensor<4x600xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x598xf32>
  %empty = tensor.empty(%rows) : tensor<?x600xf32>
  %frame = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x600xf32>) -> tensor<?x600xf32>
  %padded = tensor.insert_slice %x into %frame[0, 1] [%rows, 598] [1, 1] : tensor<?x598xf32> into tensor<?x600xf32>
  %init = tensor.empty() : tensor<4x600xf32>
  %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %padded : tensor<4x600xf32>, tensor<?x600xf32>) outs(%init : tensor<4x600xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x600xf32>
  return %z : tensor<4x600xf32>
}
