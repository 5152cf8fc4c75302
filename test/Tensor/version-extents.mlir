// RUN: loopc-opt %s --tensor-version-extents --split-input-file | FileCheck %s
// RUN: loopc-opt %s --tensor-version-extents --tensor-fuse-elementwise --split-input-file | FileCheck %s --check-prefix=FUSED

#id = affine_map<(d0) -> (d0)>

// (x + y) * z of extents that nothing says to be equal. All conditions hold in
// the first version, in which no branch is left and one extent stands for all.
// CHECK-LABEL: func @chain(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?xf32>, %[[Y:[^:]+]]: tensor<?xf32>, %[[Z:[^:]+]]: tensor<?xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[X]]
// CHECK: %[[P:.*]] = arith.select %{{.*}}, %{{.*}}, %[[N]]
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[N]], %[[P]]
// CHECK: %[[Q:.*]] = arith.select %{{.*}}, %{{.*}}, %[[P]]
// CHECK: %[[AGAIN:.*]] = arith.cmpi eq, %[[P]], %[[Q]]
// CHECK: %[[ALL:.*]] = arith.andi %[[SAME]], %[[AGAIN]]
// CHECK: %[[RESULT:.*]] = scf.if %[[ALL]] -> (tensor<?xf32>) {
// CHECK: tensor.empty(%[[N]])
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[Y]] :
// CHECK: tensor.empty(%[[N]])
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[Z]] :
// CHECK: scf.yield %[[B]]
// CHECK: } else {
// CHECK: scf.if %[[SAME]]
// CHECK: arith.addf
// CHECK: scf.if %[[AGAIN]]
// CHECK: arith.mulf
// CHECK: return %[[RESULT]]
// FUSED-LABEL: func @chain(
// FUSED: scf.if
// FUSED: linalg.generic
// FUSED: arith.addf
// FUSED-NEXT: arith.mulf
// FUSED: } else {
func.func @chain(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %k = tensor.dim %z, %c0 : tensor<?xf32>
  %one = arith.cmpi eq, %n, %c1 : index
  %p = arith.select %one, %m, %n : index
  %same = arith.cmpi eq, %n, %p : index
  %x1 = scf.if %same -> (tensor<?xf32>) {
    scf.yield %x : tensor<?xf32>
  } else {
    %e = tensor.empty(%p) : tensor<?xf32>
    %c = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<?xf32>) {
    ^bb0(%o: f32):
      %v = tensor.extract %x[%c0] : tensor<?xf32>
      linalg.yield %v : f32
    } -> tensor<?xf32>
    scf.yield %c : tensor<?xf32>
  }
  %e0 = tensor.empty(%p) : tensor<?xf32>
  %a = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x1, %y : tensor<?xf32>, tensor<?xf32>) outs(%e0 : tensor<?xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %single = arith.cmpi eq, %p, %c1 : index
  %q = arith.select %single, %k, %p : index
  %again = arith.cmpi eq, %p, %q : index
  %a1 = scf.if %again -> (tensor<?xf32>) {
    scf.yield %a : tensor<?xf32>
  } else {
    %e = tensor.empty(%q) : tensor<?xf32>
    %c = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<?xf32>) {
    ^bb0(%o: f32):
      %v = tensor.extract %a[%c0] : tensor<?xf32>
      linalg.yield %v : f32
    } -> tensor<?xf32>
    scf.yield %c : tensor<?xf32>
  }
  %e1 = tensor.empty(%q) : tensor<?xf32>
  %b = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%a1, %z : tensor<?xf32>, tensor<?xf32>) outs(%e1 : tensor<?xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.mulf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %b : tensor<?xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>

// A branch in front of all that computes keeps nothing apart, and one whose
// result is read by a sum alone does not either.
// CHECK-LABEL: func @ends(
// CHECK-COUNT-2: scf.if
// CHECK-NOT: scf.if
// CHECK: return
func.func @ends(%x: tensor<?xf32>, %n: index, %p: index, %sum: tensor<f32>) -> tensor<f32> {
  %same = arith.cmpi eq, %n, %p : index
  %e = tensor.empty(%p) : tensor<?xf32>
  %x1 = scf.if %same -> (tensor<?xf32>) {
    scf.yield %x : tensor<?xf32>
  } else {
    scf.yield %e : tensor<?xf32>
  }
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x1 : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%u: f32, %o: f32):
    %s = arith.negf %u : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %a1 = scf.if %same -> (tensor<?xf32>) {
    scf.yield %a : tensor<?xf32>
  } else {
    scf.yield %e : tensor<?xf32>
  }
  %r = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction"]} ins(%a1 : tensor<?xf32>) outs(%sum : tensor<f32>) {
  ^bb0(%u: f32, %o: f32):
    %s = arith.addf %u, %o : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// What follows a product stays with it.
// CHECK-LABEL: func @product(
// CHECK-COUNT-1: scf.if
// CHECK-NOT: scf.if
// CHECK: return
func.func @product(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %y: tensor<?x?xf32>, %sums: tensor<?x?xf32>, %n: index, %p: index) -> tensor<?x?xf32> {
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%sums : tensor<?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %t = arith.mulf %u, %v : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<?x?xf32>) outs(%sums : tensor<?x?xf32>) {
  ^bb0(%u: f32, %o: f32):
    %s = arith.negf %u : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %same = arith.cmpi eq, %n, %p : index
  %h1 = scf.if %same -> (tensor<?x?xf32>) {
    scf.yield %h : tensor<?x?xf32>
  } else {
    scf.yield %sums : tensor<?x?xf32>
  }
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%h1, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%sums : tensor<?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// What is inserted into a larger tensor is computed there, if no branch is
// between.
// CHECK-LABEL: func @inserted(
// CHECK: scf.if
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: linalg.generic
// CHECK: tensor.insert_slice
// CHECK-NEXT: scf.yield
// CHECK: } else {
// CHECK: scf.if
// CHECK: tensor.insert_slice
func.func @inserted(%x: tensor<?xf32>, %all: tensor<?xf32>, %n: index, %p: index) -> tensor<?xf32> {
  %same = arith.cmpi eq, %n, %p : index
  %e = tensor.empty(%p) : tensor<?xf32>
  %x1 = scf.if %same -> (tensor<?xf32>) {
    scf.yield %x : tensor<?xf32>
  } else {
    scf.yield %e : tensor<?xf32>
  }
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x1 : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%u: f32, %o: f32):
    %s = arith.negf %u : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %r = tensor.insert_slice %a into %all[0] [%p] [1] : tensor<?xf32> into tensor<?xf32>
  return %r : tensor<?xf32>
}
