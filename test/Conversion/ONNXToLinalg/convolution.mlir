// RUN: loopc-opt %s -split-input-file -convert-onnx-to-linalg -canonicalize -cse | FileCheck %s

// Along rows of the result innermost; padding is inserted into zeros.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d2 * 2 + d4, d5 + d6)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d3, d4, d5)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d6)>
// CHECK-LABEL: @conv
// CHECK: tensor.insert_slice {{.*}}[0, 0, 1, 0] [1, 2, 5, 5]
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]]
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]
func.func @conv(%x: tensor<1x2x5x5xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<1x4x3x3xf32> {
  %r = onnx.node "Conv"(%x, %w) since 11 {strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 1, 0>} : (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x3x3xf32>
  return %r : tensor<1x4x3x3xf32>
}

// -----

// Positions that are apart are no vector: the channels of the result go
// innermost, in the weights as in the result, whose order is made behind.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d1 + d4, d2 * 2 + d5 * 3)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d4, d5, d6)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d6)>
// CHECK-LABEL: @strided
// CHECK: linalg.transpose ins(%arg1 : tensor<8x2x1x2xf32>) {{.*}} permutation = [1, 2, 3, 0] {loopc.stored}
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]]
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<1x5x24x8xf32>) outs({{.*}} : tensor<1x8x5x24xf32>)
func.func @strided(%x: tensor<1x2x5x50xf32>, %w: tensor<8x2x1x2xf32>) -> tensor<1x8x5x24xf32> {
  %r = onnx.node "Conv"(%x, %w) since 11 {strides = array<i64: 1, 2>, dilations = array<i64: 1, 3>} : (tensor<1x2x5x50xf32>, tensor<8x2x1x2xf32>) -> tensor<1x8x5x24xf32>
  return %r : tensor<1x8x5x24xf32>
}

// -----

// So do few positions.
// CHECK-LABEL: @few_positions
// CHECK: linalg.transpose {{.*}} outs({{.*}} : tensor<2x16x3x16xf32>) permutation = [0, 2, 3, 1] {loopc.stored}
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<1x32x4xf32>)
func.func @few_positions(%x: tensor<1x32x6xf32>, %w: tensor<32x16x3xf32>) -> tensor<1x32x4xf32> {
  %r = onnx.node "Conv"(%x, %w) since 11 {group = 2 : i64} : (tensor<1x32x6xf32>, tensor<32x16x3xf32>) -> tensor<1x32x4xf32>
  return %r : tensor<1x32x4xf32>
}

// -----

// Where the run tells how many positions there are, many channels are enough if
// the sums are long.
// CHECK-LABEL: @unknown_positions
// CHECK: linalg.transpose {{.*}} outs({{.*}} : tensor<64x2x32xf32>) permutation = [1, 2, 0] {loopc.stored}
// CHECK-NOT: linalg.transpose
func.func @unknown_positions(%x: tensor<1x64x?xf32>, %w: tensor<32x64x2xf32>, %v: tensor<32x64x1xf32>) -> (tensor<1x32x?xf32>, tensor<1x32x?xf32>) {
  %r = onnx.node "Conv"(%x, %w) since 11 : (tensor<1x64x?xf32>, tensor<32x64x2xf32>) -> tensor<1x32x?xf32>
  %s = onnx.node "Conv"(%x, %v) since 11 : (tensor<1x64x?xf32>, tensor<32x64x1xf32>) -> tensor<1x32x?xf32>
  return %r, %s : tensor<1x32x?xf32>, tensor<1x32x?xf32>
}

// -----

// A transposed convolution adds to the positions that one element of the kernel
// touches: no multiplication by inserted zeros.
// CHECK-LABEL: @transposed
// CHECK: scf.for
// CHECK: %[[SLICE:.*]] = tensor.extract_slice {{.*}} [1, 2, 4] [1, 1, 2]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} outs(%[[SLICE]]
// CHECK: tensor.insert_slice %[[SUM]]
func.func @transposed(%x: tensor<1x2x4xf32>, %w: tensor<2x2x3xf32>) -> tensor<1x2x9xf32> {
  %r = onnx.node "ConvTranspose"(%x, %w) since 11 {strides = array<i64: 2>} : (tensor<1x2x4xf32>, tensor<2x2x3xf32>) -> tensor<1x2x9xf32>
  return %r : tensor<1x2x9xf32>
}

// -----

// CHECK-LABEL: @window_at_run_time
// CHECK: loop.check {{.*}} "{{.*}}MaxPool: a window of extent {} does not fit into a padded axis of {}"
func.func @window_at_run_time(%x: tensor<1x2x?xf32>) -> tensor<1x2x?xf32> {
  %r = onnx.node "MaxPool"(%x) since 12 {kernel_shape = array<i64: 3>} : (tensor<1x2x?xf32>) -> tensor<1x2x?xf32>
  return %r : tensor<1x2x?xf32>
}

// -----

// The second window is known to fit, and leaves the extent as it is: what it
// makes is added to the image without a check, and without broadcasting.
// CHECK-LABEL: @extents_that_stay
// CHECK: loop.check {{.*}} "{{.*}}Conv: a window of extent {} does not fit into a padded axis of {}"
// CHECK-NOT: loop.check
// CHECK-NOT: arith.select
func.func @extents_that_stay(%x: tensor<1x2x?xf32>, %w: tensor<2x2x3xf32>) -> tensor<1x2x?xf32> {
  %a = onnx.node "Conv"(%x, %w) since 11 {pads = array<i64: 1, 1>} : (tensor<1x2x?xf32>, tensor<2x2x3xf32>) -> tensor<1x2x?xf32>
  %b = onnx.node "Conv"(%a, %w) since 11 {pads = array<i64: 1, 1>} : (tensor<1x2x?xf32>, tensor<2x2x3xf32>) -> tensor<1x2x?xf32>
  %r = onnx.node "Add"(%a, %b) since 14 : (tensor<1x2x?xf32>, tensor<1x2x?xf32>) -> tensor<1x2x?xf32>
  return %r : tensor<1x2x?xf32>
}

// -----

// How many channels there are the weights tell, where the image's type does not
// and a run checks it.
// CHECK-LABEL: @channels_of_weights
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x?xf32>
// CHECK: loop.check {{.*}} "{{.*}}Conv: channels of input and weights: {} and {} differ"
// CHECK: %[[IMAGE:.*]] = tensor.cast %[[X]] : tensor<?x?x?x?xf32> to tensor<?x2x?x?xf32>
// CHECK: linalg.generic {{.*}} ins(%[[IMAGE]], %{{.*}} : tensor<?x2x?x?xf32>, tensor<4x2x3x3xf32>)
func.func @channels_of_weights(%x: tensor<?x?x?x?xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<?x4x?x?xf32> {
  %r = onnx.node "Conv"(%x, %w) since 11 {} : (tensor<?x?x?x?xf32>, tensor<4x2x3x3xf32>) -> tensor<?x4x?x?xf32>
  return %r : tensor<?x4x?x?xf32>
}

// -----

// The same of bytes, whose signs are made to differ, and of which four are
// multiplied and summed at a time.
// CHECK-LABEL: @channels_of_bytes
// CHECK: tensor.cast %{{.*}} : tensor<?x?x?x?xi8> to tensor<?x2x?x?xi8>
// CHECK-NOT: tensor<?x?x?x?xi8>
func.func @channels_of_bytes(%x: tensor<?x?x?x?xui8>, %w: tensor<4x2x3x3xui8>) -> tensor<?x4x?x?xi32> {
  %r = onnx.node "ConvInteger"(%x, %w) since 10 {} : (tensor<?x?x?x?xui8>, tensor<4x2x3x3xui8>) -> tensor<?x4x?x?xi32>
  return %r : tensor<?x4x?x?xi32>
}

// -----

// Where each maximum stands is the least of the places in its window that hold
// it, found as the maxima are: no loops over single elements.
// CHECK-LABEL: func.func @max_indices(
// CHECK-NOT: scf.for
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]
// CHECK: ^bb0(%[[X:[^:]+]]: f32, %[[PLACE:[^:]+]]: i32, %[[MOST:[^:]+]]: f32, %[[FIRST:[^:]+]]: i32):
// CHECK: %[[IS_MOST:.*]] = arith.cmpf oeq, %[[X]], %[[MOST]]
// CHECK: %[[IS_NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]]
// CHECK: %[[IS_FOUND:.*]] = arith.ori %[[IS_MOST]], %[[IS_NAN]]
// CHECK: %[[FOUND:.*]] = arith.select %[[IS_FOUND]], %[[PLACE]], %{{.*}} : i32
// CHECK: arith.minsi %[[FOUND]], %[[FIRST]]
// CHECK-NOT: scf.for
// CHECK: return
func.func @max_indices(%x: tensor<?x?x?x?xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xi64>) {
  %y, %i = onnx.node "MaxPool"(%x) since 12 {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x?x?x?xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xi64>)
  return %y, %i : tensor<?x?x?x?xf32>, tensor<?x?x?x?xi64>
}

// -----

// Rows of a window that are far apart are reduced first, as whole rows of the
// image, whose elements are then read one by one.
// CHECK-LABEL: @large_windows
// CHECK-SAME: %[[X:.*]]: tensor<1x64x64x64xf32>
// CHECK: %[[ROWS:.*]] = linalg.generic {{.*}} ins(%[[X]], {{.*}} outs(%{{.*}} : tensor<1x64x8x64xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[ROWS]], {{.*}} outs(%{{.*}} : tensor<1x64x8x8xf32>)
func.func @large_windows(%x: tensor<1x64x64x64xf32>) -> tensor<1x64x8x8xf32> {
  %y = onnx.node "AveragePool"(%x) since 22 {kernel_shape = array<i64: 8, 8>, strides = array<i64: 8, 8>} : (tensor<1x64x64x64xf32>) -> tensor<1x64x8x8xf32>
  return %y : tensor<1x64x8x8xf32>
}

// -----

// Whole rows as well where either order reads as much of a window: of a small
// image there are fewer of them then.
// CHECK-LABEL: @small_image
// CHECK-SAME: %[[X:.*]]: tensor<1x64x9x9xf32>
// CHECK: %[[ROWS:.*]] = linalg.generic {{.*}} ins(%[[X]], {{.*}} outs(%{{.*}} : tensor<1x64x3x9xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[ROWS]], {{.*}} outs(%{{.*}} : tensor<1x64x3x3xf32>)
func.func @small_image(%x: tensor<1x64x9x9xf32>) -> tensor<1x64x3x3xf32> {
  %y = onnx.node "MaxPool"(%x) since 22 {kernel_shape = array<i64: 7, 7>} : (tensor<1x64x9x9xf32>) -> tensor<1x64x3x3xf32>
  return %y : tensor<1x64x3x3xf32>
}

// -----

// A window that is all of the image is one row: where that is known, and where
// it turns out to be so.
// CHECK-LABEL: @whole_image
// CHECK-SAME: %[[X:.*]]: tensor<1x64x7x7xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%[[X]] : {{.*}} outs(%{{.*}} : tensor<1x64xf32>)
func.func @whole_image(%x: tensor<1x64x7x7xf32>) -> tensor<1x64x1x1xf32> {
  %y = onnx.node "AveragePool"(%x) since 22 {kernel_shape = array<i64: 7, 7>} : (tensor<1x64x7x7xf32>) -> tensor<1x64x1x1xf32>
  return %y : tensor<1x64x1x1xf32>
}

// -----

// CHECK-LABEL: @whole_image_or_not
// CHECK-SAME: %[[X:.*]]: tensor<?x64x?x?xf32>
// CHECK-DAG: arith.cmpi eq, %{{.*}}, %c7
// CHECK-DAG: arith.cmpi eq, %{{.*}}, %c7
// CHECK: scf.if %{{.*}} -> (tensor<?x64x?x?xf32>) {
// CHECK: %[[IMAGE:.*]] = tensor.cast %[[X]] : tensor<?x64x?x?xf32> to tensor<?x64x7x7xf32>
// CHECK: linalg.generic {{.*}} ins(%[[IMAGE]] : {{.*}} outs(%{{.*}} : tensor<?x64xf32>)
// CHECK: } else {
// CHECK: linalg.generic
// CHECK: linalg.generic
func.func @whole_image_or_not(%x: tensor<?x64x?x?xf32>) -> tensor<?x64x?x?xf32> {
  %y = onnx.node "MaxPool"(%x) since 22 {kernel_shape = array<i64: 7, 7>} : (tensor<?x64x?x?xf32>) -> tensor<?x64x?x?xf32>
  return %y : tensor<?x64x?x?xf32>
}

// -----

// Small windows hardly are.
// CHECK-LABEL: @small_window
// CHECK-NOT: scf.if
// CHECK: return
func.func @small_window(%x: tensor<?x64x?x?xf32>) -> tensor<?x64x?x?xf32> {
  %y = onnx.node "MaxPool"(%x) since 22 {kernel_shape = array<i64: 3, 3>} : (tensor<?x64x?x?xf32>) -> tensor<?x64x?x?xf32>
  return %y : tensor<?x64x?x?xf32>
}
