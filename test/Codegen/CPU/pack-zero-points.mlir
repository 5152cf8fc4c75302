// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8 dot-bits=8},cpu-pack-contractions,canonicalize)' | FileCheck %s

// What is subtracted from bytes is taken out of their sums: it is multiplied
// with the sums of the others. Where the body has more of it, that stays.
#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (j, k)>
#z = affine_map<(i, j, k) -> (j)>
#y = affine_map<(i, j, k) -> (i, j)>
// CHECK-LABEL: func @bytes
// CHECK-SAME: %[[X:[^:]*]]: tensor<8x32xi8>
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<8x32xi8>) {{.*}} {
// CHECK: arith.subi
// CHECK: linalg.generic {{.*}} ins(%[[X]], %{{.*}}, %{{.*}}, %[[SUMS]] : tensor<8x32xi8>, tensor<{{.*}}xi8>, tensor<32xi8>, tensor<8xi32>)
// CHECK: ^bb0(%[[P:.*]]: i8, %[[Q:.*]]: i8, %[[ZERO:.*]]: i8, %[[SUM:.*]]: i32, %{{.*}}: f32):
// CHECK-DAG: %[[Z:.*]] = arith.extui %[[ZERO]]
// CHECK-DAG: %[[W:.*]] = arith.extui %[[Q]]
// CHECK-DAG: arith.muli %{{.*}}, %[[W]]
// CHECK-DAG: arith.muli %[[SUM]], %[[Z]]
// CHECK-DAG: %[[SCALE:.*]] = arith.subi %[[Z]], %c5_i32
// CHECK-DAG: arith.sitofp %[[SCALE]]
func.func @bytes(%x: tensor<8x32xi8>, %w: tensor<32x32xi8>, %zeros: tensor<32xi8>, %y: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %five = arith.constant 5 : i32
  %r = linalg.generic {indexing_maps = [#x, #w, #z, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w, %zeros : tensor<8x32xi8>, tensor<32x32xi8>, tensor<32xi8>) outs(%y : tensor<8x32xf32>) {
  ^bb0(%p: i8, %q: i8, %zero: i8, %o: f32):
    %pw = arith.extsi %p : i8 to i32
    %qw = arith.extui %q : i8 to i32
    %zw = arith.extui %zero : i8 to i32
    %d = arith.subi %qw, %zw : i32
    %m = arith.muli %pw, %d : i32
    %f = arith.sitofp %m : i32 to f32
    %more = arith.subi %zw, %five : i32
    %scale = arith.sitofp %more : i32 to f32
    %s = arith.mulf %f, %scale : f32
    %t = arith.addf %o, %s fastmath<reassoc> : f32
    linalg.yield %t : f32
  } -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}

// -----

// Of more bits sums of integers may overflow, which those of floats do not.
#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (j, k)>
#z = affine_map<(i, j, k) -> (j)>
#y = affine_map<(i, j, k) -> (i, j)>
// CHECK-LABEL: func @words
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: %[[DIFFERENCE:.*]] = arith.subi
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.muli %{{.*}}, %[[DIFFERENCE]]
// CHECK-NEXT: arith.sitofp %[[PRODUCT]]
func.func @words(%x: tensor<8x32xi8>, %w: tensor<32x32xi8>, %zeros: tensor<32xi32>, %y: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %r = linalg.generic {indexing_maps = [#x, #w, #z, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w, %zeros : tensor<8x32xi8>, tensor<32x32xi8>, tensor<32xi32>) outs(%y : tensor<8x32xf32>) {
  ^bb0(%p: i8, %q: i8, %zero: i32, %o: f32):
    %pw = arith.extsi %p : i8 to i32
    %qw = arith.extui %q : i8 to i32
    %d = arith.subi %qw, %zero : i32
    %m = arith.muli %pw, %d : i32
    %f = arith.sitofp %m : i32 to f32
    %t = arith.addf %o, %f fastmath<reassoc> : f32
    linalg.yield %t : f32
  } -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}

// -----

// A scale that a branch chooses is no vector, and may be another along the sum.
#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (j, k)>
#y = affine_map<(i, j, k) -> (i, j)>
// CHECK-LABEL: func @branch
// CHECK-NOT: tensor<{{[0-9]+}}x{{[0-9]+}}x{{[0-9]+}}x4xi8>
// CHECK: return
func.func @branch(%is: i1, %x: tensor<8x32xi8>, %w: tensor<32x32xi8>, %y: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %one = arith.constant 1.0 : f32
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x32xi8>, tensor<32x32xi8>) outs(%y : tensor<8x32xf32>) {
  ^bb0(%p: i8, %q: i8, %o: f32):
    %pw = arith.extsi %p : i8 to i32
    %qw = arith.extui %q : i8 to i32
    %m = arith.muli %pw, %qw : i32
    %f = arith.sitofp %m : i32 to f32
    %scale = scf.if %is -> f32 {
      %number = arith.sitofp %pw : i32 to f32
      scf.yield %number : f32
    } else {
      scf.yield %one : f32
    }
    %s = arith.mulf %f, %scale : f32
    %t = arith.addf %o, %s fastmath<reassoc> : f32
    linalg.yield %t : f32
  } -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}
