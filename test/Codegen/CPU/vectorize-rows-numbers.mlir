// RUN: loopc-opt %s --pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 mask-bits=8},func.func(cpu-vectorize-rows,canonicalize,cse))' | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>

// Numbers of elements are compared with one number: lanes of 32 bits with how
// far both are apart, at most by a vector, and no numbers of 64 bits.
// CHECK-LABEL: func @mask(
// CHECK: scf.for
// CHECK-NOT: vector<16xi64>
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[BOUND:.*]], %[[FIRST:.*]] : i64
// CHECK: %[[APART:.*]] = arith.subi %[[BOUND]], %[[FIRST]] : i64
// CHECK: %[[MOST:.*]] = arith.minui %[[APART]], %{{.*}} : i64
// CHECK: %[[DISTANCE:.*]] = arith.select %[[BELOW]], %{{.*}}, %[[MOST]] : i64
// CHECK: %[[FEW:.*]] = arith.trunci %[[DISTANCE]] : i64 to i32
// CHECK: %[[ALL:.*]] = vector.broadcast %[[FEW]] : i32 to vector<16xi32>
// CHECK: arith.cmpi slt, %[[ALL]], %{{.*}} : vector<16xi32>
// CHECK-NOT: vector<16xi64>
// CHECK: vector.store
func.func @mask(%x: memref<64xf32>, %bound: memref<i64>, %y: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel"]} ins(%x, %bound : memref<64xf32>, memref<i64>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %b: i64, %o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %behind = arith.cmpi sgt, %n, %b : i64
    %s = arith.select %behind, %a, %zero : f32
    linalg.yield %s : f32
  }
  return
}

// A number that may wrap around is compared as it is.
// CHECK-LABEL: func @wraps(
// CHECK: arith.cmpi sgt, {{.*}} : vector<8xi64>
func.func @wraps(%x: memref<64xf32>, %bound: memref<i64>, %y: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %five = arith.constant 5 : i64
  linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel"]} ins(%x, %bound : memref<64xf32>, memref<i64>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %b: i64, %o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %d = arith.subi %b, %n : i64
    %behind = arith.cmpi sgt, %d, %five : i64
    %s = arith.select %behind, %a, %zero : f32
    linalg.yield %s : f32
  }
  return
}

// Numbers that count down: neighbours in the other order, unless a bound holds
// some of them.
// CHECK-LABEL: func @backwards(
// CHECK: scf.for
// CHECK: scf.if
// CHECK: %[[ROW:.*]] = vector.load %{{.*}} : memref<64xf32>, vector<16xf32>
// CHECK: vector.shuffle %[[ROW]], %[[ROW]] [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
// CHECK: else
// CHECK: vector.gather
func.func @backwards(%x: memref<64xf32>, %from: memref<i64>, %y: memref<64xf32>) {
  %zero = arith.constant 0 : i64
  linalg.generic {indexing_maps = [#one, #id], iterator_types = ["parallel"]} ins(%from : memref<i64>) outs(%y : memref<64xf32>) {
  ^bb0(%b: i64, %o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %d = arith.subi %b, %n : i64
    %held = arith.maxsi %d, %zero : i64
    %at = arith.index_cast %held : i64 to index
    %s = memref.load %x[%at] : memref<64xf32>
    linalg.yield %s : f32
  }
  return
}
