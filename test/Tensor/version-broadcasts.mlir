// RUN: loopc-opt %s --tensor-version-broadcasts --canonicalize --split-input-file | FileCheck %s

// One version for operands that have the extents, and one that reads them where
// they are: neither copies.

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func @add
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xf32>, %[[Z:.*]]: tensor<?x?xf32>
// CHECK:         %[[SAME:.*]] = arith.andi
// CHECK:         %[[Y:.*]] = scf.if %[[SAME]]
// CHECK-NEXT:      linalg.generic {{.*}} ins(%[[X]], %[[Z]]
// CHECK:         } else {
// CHECK-NEXT:      linalg.generic {{.*}} ins(%[[X]] :
// CHECK:           tensor.extract %[[Z]]
// CHECK:           arith.addf
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[Y]]
func.func @add(%x: tensor<?x?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %zm = tensor.dim %z, %c0 : tensor<?x?xf32>
  %zn = tensor.dim %z, %c1 : tensor<?x?xf32>
  %one0 = arith.cmpi eq, %zm, %c1 : index
  %one1 = arith.cmpi eq, %zn, %c1 : index
  %same0 = arith.cmpi eq, %zm, %m : index
  %same1 = arith.cmpi eq, %zn, %n : index
  %same = arith.andi %same0, %same1 : i1
  %wide = scf.if %same -> tensor<?x?xf32> {
    scf.yield %z : tensor<?x?xf32>
  } else {
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %c = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x?xf32>) {
    ^bb0(%out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %pi = arith.select %one0, %c0, %i : index
      %pj = arith.select %one1, %c0, %j : index
      %v = tensor.extract %z[%pi, %pj] : tensor<?x?xf32>
      linalg.yield %v : f32
    } -> tensor<?x?xf32>
    scf.yield %c : tensor<?x?xf32>
  }
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %wide : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// What the branch takes is not what the places are chosen by: the version for
// both would not be right where one has the extents.

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func @other_condition
// CHECK:         scf.if
// CHECK-NOT:     arith.negf
// CHECK:         linalg.generic
// CHECK:         arith.negf
func.func @other_condition(%z: tensor<?xf32>, %m: index, %same: i1, %one: i1) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %wide = scf.if %same -> tensor<?xf32> {
    scf.yield %z : tensor<?xf32>
  } else {
    %e = tensor.empty(%m) : tensor<?xf32>
    %c = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<?xf32>) {
    ^bb0(%out: f32):
      %i = linalg.index 0 : index
      %pi = arith.select %one, %c0, %i : index
      %v = tensor.extract %z[%pi] : tensor<?xf32>
      linalg.yield %v : f32
    } -> tensor<?xf32>
    scf.yield %c : tensor<?xf32>
  }
  %e = tensor.empty(%m) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%wide : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}
