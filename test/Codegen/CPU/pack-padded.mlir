// RUN: loopc-opt %s --pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},cpu-pack-contractions)' | FileCheck %s

// What a product computes becomes the inside of a padded image: its rows are not
// made rows of one matrix, as what stores them would have to find each of them.

#x = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#w = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>
#y = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#product = {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}

// Two tiles of seven rows; Relu is computed on the sums.
// CHECK-LABEL: func @whole_tiles(
// CHECK-NOT: collapse_shape
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x14x14x24xi8>, tensor<{{.*}}xi8>) outs(%{{.*}} : tensor<2x14x14x32xi32>)
// CHECK-NOT: expand_shape
// CHECK: return
func.func @whole_tiles(%x: tensor<2x14x14x24xi8>, %y: tensor<2x14x14x32xi32>, %padded: tensor<2x16x16x32xi32>) -> tensor<2x16x16x32xi32> {
  %w = arith.constant dense_resource<w> : tensor<24x32xi8>
  %zero = arith.constant 0 : i32
  %sum = linalg.generic #product ins(%x, %w : tensor<2x14x14x24xi8>, tensor<24x32xi8>) outs(%y : tensor<2x14x14x32xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %c = arith.extsi %a : i8 to i32
    %d = arith.extsi %b : i8 to i32
    %m = arith.muli %c, %d : i32
    %r = arith.addi %s, %m : i32
    linalg.yield %r : i32
  } -> tensor<2x14x14x32xi32>
  %relu = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%sum : tensor<2x14x14x32xi32>) outs(%y : tensor<2x14x14x32xi32>) {
  ^bb0(%a: i32, %o: i32):
    %r = arith.maxsi %a, %zero : i32
    linalg.yield %r : i32
  } -> tensor<2x14x14x32xi32>
  %image = tensor.insert_slice %relu into %padded[0, 1, 1, 0] [2, 14, 14, 32] [1, 1, 1, 1] : tensor<2x14x14x32xi32> into tensor<2x16x16x32xi32>
  return %image : tensor<2x16x16x32xi32>
}

// Rows of 13 are a tile of seven and one of six, whose sums are enough to be
// under way.
// CHECK-LABEL: func @tall_rest(
// CHECK-NOT: collapse_shape
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x13x13x24xi8>,
func.func @tall_rest(%x: tensor<2x13x13x24xi8>, %y: tensor<2x13x13x32xi32>, %padded: tensor<2x15x15x32xi32>) -> tensor<2x15x15x32xi32> {
  %w = arith.constant dense_resource<w> : tensor<24x32xi8>
  %sum = linalg.generic #product ins(%x, %w : tensor<2x13x13x24xi8>, tensor<24x32xi8>) outs(%y : tensor<2x13x13x32xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %c = arith.extsi %a : i8 to i32
    %d = arith.extsi %b : i8 to i32
    %m = arith.muli %c, %d : i32
    %r = arith.addi %s, %m : i32
    linalg.yield %r : i32
  } -> tensor<2x13x13x32xi32>
  %image = tensor.insert_slice %sum into %padded[0, 1, 1, 0] [2, 13, 13, 32] [1, 1, 1, 1] : tensor<2x13x13x32xi32> into tensor<2x15x15x32xi32>
  return %image : tensor<2x15x15x32xi32>
}

// Rows of 50 leave a tile of two rows in each of them.
// CHECK-LABEL: func @rest(
// CHECK: linalg.generic {{.*}} tensor<5000x24xi8>
func.func @rest(%x: tensor<2x50x50x24xi8>, %y: tensor<2x50x50x32xi32>, %padded: tensor<2x52x52x32xi32>) -> tensor<2x52x52x32xi32> {
  %w = arith.constant dense_resource<w> : tensor<24x32xi8>
  %sum = linalg.generic #product ins(%x, %w : tensor<2x50x50x24xi8>, tensor<24x32xi8>) outs(%y : tensor<2x50x50x32xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %c = arith.extsi %a : i8 to i32
    %d = arith.extsi %b : i8 to i32
    %m = arith.muli %c, %d : i32
    %r = arith.addi %s, %m : i32
    linalg.yield %r : i32
  } -> tensor<2x50x50x32xi32>
  %image = tensor.insert_slice %sum into %padded[0, 1, 1, 0] [2, 50, 50, 32] [1, 1, 1, 1] : tensor<2x50x50x32xi32> into tensor<2x52x52x32xi32>
  return %image : tensor<2x52x52x32xi32>
}

// Nothing lies between the rows: a part of the channels of a larger result.
// CHECK-LABEL: func @channels(
// CHECK: linalg.generic {{.*}} tensor<392x24xi8>
func.func @channels(%x: tensor<2x14x14x24xi8>, %y: tensor<2x14x14x32xi32>, %more: tensor<2x14x14x64xi32>) -> tensor<2x14x14x64xi32> {
  %w = arith.constant dense_resource<w> : tensor<24x32xi8>
  %sum = linalg.generic #product ins(%x, %w : tensor<2x14x14x24xi8>, tensor<24x32xi8>) outs(%y : tensor<2x14x14x32xi32>) {
  ^bb0(%a: i8, %b: i8, %s: i32):
    %c = arith.extsi %a : i8 to i32
    %d = arith.extsi %b : i8 to i32
    %m = arith.muli %c, %d : i32
    %r = arith.addi %s, %m : i32
    linalg.yield %r : i32
  } -> tensor<2x14x14x32xi32>
  %image = tensor.insert_slice %sum into %more[0, 0, 0, 32] [2, 14, 14, 32] [1, 1, 1, 1] : tensor<2x14x14x32xi32> into tensor<2x14x14x64xi32>
  return %image : tensor<2x14x14x64xi32>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x01000000000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304"
    }
  }
#-}
