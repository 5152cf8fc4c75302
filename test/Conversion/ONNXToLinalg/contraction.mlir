// RUN: loopc-opt %s -split-input-file -convert-onnx-to-linalg -canonicalize -cse | FileCheck %s

// Rows of the result grow by rows of B: the innermost loop is parallel. Sums may
// be reassociated wherever they are (the numeric contract).
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: @matmul
// CHECK: %[[INIT:.*]] = linalg.fill
// CHECK: linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[C]]], iterator_types = ["parallel", "reduction", "parallel"]}
// CHECK-SAME: outs(%[[INIT]]
// CHECK: arith.mulf {{.*}} fastmath<contract>
// CHECK: arith.addf {{.*}} fastmath<reassoc,contract>
func.func @matmul(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>) -> tensor<4x6xf32> {
  %r = onnx.node "MatMul"(%a, %b) since 13 : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// -----

// A vector is summed along, in any order.
// CHECK-LABEL: @matrix_vector
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK: arith.addf {{.*}} fastmath<reassoc,contract>
func.func @matrix_vector(%a: tensor<4x5xf32>, %b: tensor<5xf32>) -> tensor<4xf32> {
  %r = onnx.node "MatMul"(%a, %b) since 13 : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// So is a single column.
// CHECK-LABEL: @matrix_column
// CHECK-SAME: %[[A:[^:]+]]: tensor<?x?xf32>{{.*}}, %[[B:[^:]+]]: tensor<?x1xf32>
// CHECK: %[[V:.*]] = tensor.collapse_shape %[[B]] {{\[\[}}0, 1]] : tensor<?x1xf32> into tensor<?xf32>
// CHECK: %[[R:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[A]], %[[V]]
// CHECK: tensor.expand_shape %[[R]]
func.func @matrix_column(%a: tensor<?x?xf32>, %b: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %r = onnx.node "MatMul"(%a, %b) since 13 : (tensor<?x?xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  return %r : tensor<?x1xf32>
}

// -----

// And one for each of several matrices, or the same for all of them.
// CHECK-LABEL: @matrix_columns
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x?x8xf32>{{.*}}, %[[B:[^:]+]]: tensor<4x8x1xf32>{{.*}}, %[[C:[^:]+]]: tensor<8x1xf32>
// CHECK: %[[V:.*]] = tensor.collapse_shape %[[B]] {{\[\[}}0], [1, 2]] : tensor<4x8x1xf32> into tensor<4x8xf32>
// CHECK: %[[R:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[A]], %[[V]]
// CHECK: tensor.expand_shape %[[R]] {{\[\[}}0], [1, 2]]
// CHECK: %[[W:.*]] = tensor.collapse_shape %[[C]]
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[A]], %[[W]]
func.func @matrix_columns(%a: tensor<4x?x8xf32>, %b: tensor<4x8x1xf32>, %c: tensor<8x1xf32>) -> (tensor<4x?x1xf32>, tensor<4x?x1xf32>) {
  %r = onnx.node "MatMul"(%a, %b) since 13 : (tensor<4x?x8xf32>, tensor<4x8x1xf32>) -> tensor<4x?x1xf32>
  %s = onnx.node "MatMul"(%a, %c) since 13 : (tensor<4x?x8xf32>, tensor<8x1xf32>) -> tensor<4x?x1xf32>
  return %r, %s : tensor<4x?x1xf32>, tensor<4x?x1xf32>
}

// -----

// A static 1 is read again, not copied; inner dimensions that only the run
// knows are compared there.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (0, d1, d2)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-LABEL: @batch
// CHECK: %[[SAME:.*]] = arith.cmpi eq
// CHECK: loop.check %[[SAME]], "{{.*}}MatMul: inner dimensions: {} and {} differ"
// CHECK-NOT: scf.if
// CHECK: linalg.generic {indexing_maps = [#[[A]], #[[B]], #{{.*}}]
func.func @batch(%a: tensor<1x4x?xf32>, %b: tensor<3x?x6xf32>) -> tensor<3x4x6xf32> {
  %r = onnx.node "MatMul"(%a, %b) since 13 : (tensor<1x4x?xf32>, tensor<3x?x6xf32>) -> tensor<3x4x6xf32>
  return %r : tensor<3x4x6xf32>
}

// -----

// What the types do not tell is decided at run time.
// CHECK-LABEL: @batch_at_run_time
// CHECK: loop.check {{.*}} "{{.*}}MatMul: dimensions {} and {} do not broadcast (axis 0 of the result)"
// CHECK: scf.if
func.func @batch_at_run_time(%a: tensor<?x4x5xf32>, %b: tensor<?x5x6xf32>) -> tensor<?x4x6xf32> {
  %r = onnx.node "MatMul"(%a, %b) since 13 : (tensor<?x4x5xf32>, tensor<?x5x6xf32>) -> tensor<?x4x6xf32>
  return %r : tensor<?x4x6xf32>
}

// -----

// Half floats are summed in f32 and rounded once.
// CHECK-LABEL: @half
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x5xf16>, tensor<5x6xf16>) outs(%{{.*}} : tensor<4x6xf32>)
// CHECK-COUNT-2: arith.extf
// CHECK: linalg.generic
// CHECK: arith.truncf {{.*}} : f32 to f16
func.func @half(%a: tensor<4x5xf16>, %b: tensor<5x6xf16>) -> tensor<4x6xf16> {
  %r = onnx.node "MatMul"(%a, %b) since 13 : (tensor<4x5xf16>, tensor<5x6xf16>) -> tensor<4x6xf16>
  return %r : tensor<4x6xf16>
}

// -----

// With B transposed the innermost loop is the sum; C is what it begins with.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: @gemm
// CHECK-SAME: %{{.*}}, %{{.*}}, %[[BIAS:.*]]: tensor<6xf32>
// CHECK: %[[INIT:.*]] = linalg.generic {{.*}} ins(%[[BIAS]] : tensor<6xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[C]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME: outs(%[[INIT]]
// CHECK: arith.addf {{.*}} fastmath<reassoc,contract>
func.func @gemm(%a: tensor<4x5xf32>, %b: tensor<6x5xf32>, %c: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = onnx.node "Gemm"(%a, %b, %c) since 13 {transB = 1 : i64} : (tensor<4x5xf32>, tensor<6x5xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// -----

// Three operands: two contractions; `j` is summed over in the first.
// CHECK-LABEL: @einsum
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x4xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<5x2xf32>)
func.func @einsum(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<4x5xf32>) -> tensor<5x2xf32> {
  %r = onnx.node "Einsum"(%a, %b, %c) since 12 {equation = "ij, jk, kl -> li"} : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<5x2xf32>
  return %r : tensor<5x2xf32>
}

// -----

// Neighbours along no label are neighbours in both operands: these are stored
// as matrices, and the product is put into the order that is asked for.
// CHECK-LABEL: @einsum_matrices
// CHECK-SAME: %[[X:[^:]+]]: tensor<1x16x40x8x8x3xf32>{{.*}}, %[[W:[^:]+]]: tensor<1x16x32x3x40xf32>
// CHECK-DAG: %[[ROWS:.*]] = linalg.transpose ins(%[[W]] :{{.*}} permutation = [0, 4, 2, 1, 3]
// CHECK-DAG: %[[COLUMNS:.*]] = linalg.transpose ins(%[[X]] :{{.*}} permutation = [0, 2, 1, 5, 4, 3]
// CHECK-DAG: %[[LHS:.*]] = tensor.collapse_shape %[[ROWS]] {{\[\[}}0, 1], [2], [3, 4]] : {{.*}} into tensor<40x32x48xf32>
// CHECK-DAG: %[[RHS:.*]] = tensor.collapse_shape %[[COLUMNS]] {{\[\[}}0, 1], [2, 3], [4, 5]] : {{.*}} into tensor<40x48x64xf32>
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%[[LHS]], %[[RHS]] :
// CHECK: tensor.expand_shape %[[Y]] {{\[\[}}0, 1], [2], [3, 4]]
// CHECK: linalg.transpose {{.*}} permutation = [0, 2, 1, 3, 4]
func.func @einsum_matrices(%x: tensor<1x16x40x8x8x3xf32>, %w: tensor<1x16x32x3x40xf32>) -> tensor<1x32x40x8x8xf32> {
  %r = onnx.node "Einsum"(%x, %w) since 12 {equation = "bildsk,biokl->bolsd"} : (tensor<1x16x40x8x8x3xf32>, tensor<1x16x32x3x40xf32>) -> tensor<1x32x40x8x8xf32>
  return %r : tensor<1x32x40x8x8xf32>
}

// -----

// With few elements to multiply by they are read where they lie.
// CHECK-LABEL: @einsum_few
// CHECK-NOT: linalg.transpose
func.func @einsum_few(%x: tensor<16x4x8xf32>, %w: tensor<4x8x2xf32>) -> tensor<2x8x16xf32> {
  %r = onnx.node "Einsum"(%x, %w) since 12 {equation = "aks,ksb->bsa"} : (tensor<16x4x8xf32>, tensor<4x8x2xf32>) -> tensor<2x8x16xf32>
  return %r : tensor<2x8x16xf32>
}

// -----

// The diagonal is read in place.
// CHECK-DAG: #[[DIAGONAL:.*]] = affine_map<(d0) -> (d0, d0)>
// CHECK-LABEL: @trace
// CHECK: linalg.generic {indexing_maps = [#[[DIAGONAL]], #{{.*}}], iterator_types = ["reduction"]}
func.func @trace(%a: tensor<3x3xf32>) -> tensor<f32> {
  %r = onnx.node "Einsum"(%a) since 12 {equation = "ii"} : (tensor<3x3xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// A single column that is transposed is a row where it lies.
// CHECK-LABEL: @column_of_a
// CHECK-SAME: %{{.*}}: tensor<256x1xf32> {{.*}} %[[B:.*]]: tensor<8x256xf32>
// CHECK-NOT: linalg.transpose
// CHECK: %[[ROW:.*]] = tensor.expand_shape {{.*}} : tensor<256xf32> into tensor<1x256xf32>
// CHECK: linalg.generic {{.*}} ins(%[[ROW]], %[[B]] :
func.func @column_of_a(%a: tensor<256x1xf32>, %b: tensor<8x256xf32>) -> tensor<1x8xf32> {
  %r = onnx.node "Gemm"(%a, %b) since 13 {transA = 1 : i64, transB = 1 : i64} : (tensor<256x1xf32>, tensor<8x256xf32>) -> tensor<1x8xf32>
  return %r : tensor<1x8xf32>
}

// -----

// Of both that are transposed the smaller one is turned, B here, and stored: in
// the product it would be read by columns.
// CHECK-LABEL: @both_transposed
// CHECK-SAME: %[[A:[^:]+]]: tensor<256x128xf32> {{.*}} %[[B:[^:]+]]: tensor<8x256xf32>
// CHECK: %[[TURNED:.*]] = linalg.transpose ins(%[[B]] : tensor<8x256xf32>) {{.*}} {loopc.stored}
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[TURNED]] : tensor<256x128xf32>, tensor<256x8xf32>)
func.func @both_transposed(%a: tensor<256x128xf32>, %b: tensor<8x256xf32>) -> tensor<128x8xf32> {
  %r = onnx.node "Gemm"(%a, %b) since 13 {transA = 1 : i64, transB = 1 : i64} : (tensor<256x128xf32>, tensor<8x256xf32>) -> tensor<128x8xf32>
  return %r : tensor<128x8xf32>
}

// -----

// A single column is a vector: the product runs along the sum where rows lie,
// and along the rows where columns do.
// CHECK-DAG: #[[OUTER:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[INNER:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[BOTH:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: @one_column
// CHECK: linalg.generic {indexing_maps = [#[[BOTH]], #[[INNER]], #[[OUTER]]], iterator_types = ["parallel", "reduction"]}
// CHECK-SAME: ins({{.*}} : tensor<?x64xf32>, tensor<64xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[BOTH]], #[[OUTER]], #[[INNER]]], iterator_types = ["reduction", "parallel"]}
// CHECK-SAME: ins({{.*}} : tensor<64x?xf32>, tensor<64xf32>)
func.func @one_column(%a: tensor<?x64xf32>, %t: tensor<64x?xf32>, %b: tensor<64x1xf32>, %c: tensor<1xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>) {
  %r = onnx.node "Gemm"(%a, %b, %c) since 13 {} : (tensor<?x64xf32>, tensor<64x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
  %s = onnx.node "Gemm"(%t, %b, %c) since 13 {transA = 1 : i64} : (tensor<64x?xf32>, tensor<64x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
  return %r, %s : tensor<?x1xf32>, tensor<?x1xf32>
}
