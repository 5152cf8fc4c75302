// RUN: loopc-opt %s --loopc-bufferize --canonicalize | FileCheck %s

// Parts of a tensor and what is computed have the same strides but for one axis:
// neighbours stay neighbours in what the branches yield.
// CHECK-LABEL: func @part_or_computed(
// CHECK: scf.if {{.*}} -> (memref<?x4x8xf32, strided<[?, 8, 1], offset: ?>>)
// CHECK: linalg.generic {{.*}} ins({{.*}} : memref<?x4x8xf32, strided<[?, 8, 1], offset: ?>>)
func.func @part_or_computed(%x: tensor<?x2x4x8xf32>, %n: index, %c: i1, %k: f32) -> tensor<?x4x8xf32> {
  %slice = tensor.extract_slice %x[0, 1, 0, 0] [%n, 1, 4, 8] [1, 1, 1, 1] : tensor<?x2x4x8xf32> to tensor<?x4x8xf32>
  %e = tensor.empty(%n) : tensor<?x4x8xf32>
  %r = scf.if %c -> (tensor<?x4x8xf32>) {
    scf.yield %slice : tensor<?x4x8xf32>
  } else {
    %f = linalg.fill ins(%k : f32) outs(%e : tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
    scf.yield %f : tensor<?x4x8xf32>
  }
  %o = tensor.empty(%n) : tensor<?x4x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%r : tensor<?x4x8xf32>) outs(%o : tensor<?x4x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<?x4x8xf32>
  return %y : tensor<?x4x8xf32>
}

// Steps that differ in each axis are open.
// CHECK-LABEL: func @steps(
// CHECK: scf.index_switch {{.*}} -> memref<4xf32, strided<[?]>>
func.func @steps(%x: tensor<16xf32>, %i: index) -> tensor<4xf32> {
  %two = tensor.extract_slice %x[0] [4] [2] : tensor<16xf32> to tensor<4xf32>
  %three = tensor.extract_slice %x[0] [4] [3] : tensor<16xf32> to tensor<4xf32>
  %r = scf.index_switch %i -> tensor<4xf32>
  case 0 {
    scf.yield %two : tensor<4xf32>
  }
  default {
    scf.yield %three : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
