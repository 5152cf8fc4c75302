// RUN: loopc-opt %s --loop-merge-lengths | FileCheck %s

// Keys and values grow by a row an iteration: they have one length, and the
// check that both agree is gone.
// CHECK-LABEL: func @alike(
// CHECK: loop.loop {{.*}} carried(%{{[^ ]+}} = %{{[^ ]+}} : tensor<?x64xf32>, %{{[^ ]+}} = %{{[^ ]+}} : tensor<?x64xf32>, %[[N:[^ ]+]] = %{{[^ ]+}} : index) {
// CHECK-NOT: loop.check
// CHECK: %[[NEXT:.*]] = arith.addi %[[N]], %c1
// CHECK: loop.yield {{.*}}, %[[NEXT]] : tensor<?x64xf32>, tensor<?x64xf32>, index)
func.func @alike(%t: i64, %k0: tensor<?x64xf32>, %v0: tensor<?x64xf32>, %row: tensor<1x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:4 = loop.loop (%i : i64, %c : i1) trips(%t : i64)
      carried(%k = %k0 : tensor<?x64xf32>, %v = %v0 : tensor<?x64xf32>, %n = %c0 : index, %m = %c0 : index) {
    %same = arith.cmpi eq, %n, %m : index
    loop.check %same, "the lengths {} and {} differ"(%n, %m : index, index)
    %k1 = tensor.insert_slice %row into %k[%n, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<?x64xf32>
    %v1 = tensor.insert_slice %row into %v[%m, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<?x64xf32>
    %n1 = arith.addi %n, %c1 : index
    %m1 = arith.addi %m, %c1 : index
    loop.yield while(%c : i1) carried(%k1, %v1, %n1, %m1 : tensor<?x64xf32>, tensor<?x64xf32>, index, index)
  }
  return %r#0, %r#1, %r#3 : tensor<?x64xf32>, tensor<?x64xf32>, index
}

// Those that begin alike and go on otherwise stay two.
// CHECK-LABEL: func @others(
// CHECK: loop.loop {{.*}} : tensor<?x64xf32>, %{{[^ ]+}} = %{{[^ ]+}} : index, %{{[^ ]+}} = %{{[^ ]+}} : index) {
// CHECK: loop.check
func.func @others(%t: i64, %k0: tensor<?x64xf32>, %v0: tensor<?x64xf32>, %row: tensor<1x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r:4 = loop.loop (%i : i64, %c : i1) trips(%t : i64)
      carried(%k = %k0 : tensor<?x64xf32>, %v = %v0 : tensor<?x64xf32>, %n = %c0 : index, %m = %c0 : index) {
    %same = arith.cmpi eq, %n, %m : index
    loop.check %same, "the lengths {} and {} differ"(%n, %m : index, index)
    %k1 = tensor.insert_slice %row into %k[%n, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<?x64xf32>
    %v1 = tensor.insert_slice %row into %v[%m, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<?x64xf32>
    %n1 = arith.addi %n, %c1 : index
    %m1 = arith.addi %m, %c2 : index
    loop.yield while(%c : i1) carried(%k1, %v1, %n1, %m1 : tensor<?x64xf32>, tensor<?x64xf32>, index, index)
  }
  return %r#0, %r#1, %r#3 : tensor<?x64xf32>, tensor<?x64xf32>, index
}
