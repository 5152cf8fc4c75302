// RUN: loopc-opt %s --split-input-file --nest-shorten-recurrences | FileCheck %s

// What is carried on comes last; an argument that is only handed on to the next
// iteration is known early.
// CHECK-LABEL: func.func @distance(
// CHECK: iter_args(%[[LEFT:[^ ]+]] = %{{[^ ]+}}, %[[DIAGONAL:[^ ]+]] = %
// CHECK: %[[UP:.+]] = memref.load
// CHECK: %[[FIRST:.+]] = arith.minimumf %[[UP]], %[[DIAGONAL]] fastmath<nsz>
// CHECK: %[[ALL:.+]] = arith.minimumf %[[FIRST]], %[[LEFT]] fastmath<nsz>
// CHECK: arith.addf %[[ALL]]
func.func @distance(%row: memref<?xf32>, %cost: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%left = %cost, %diagonal = %cost) -> (f32, f32) {
    %up = memref.load %row[%i] : memref<?xf32>
    %1 = arith.minimumf %left, %up fastmath<nsz> : f32
    %2 = arith.minimumf %1, %diagonal fastmath<nsz> : f32
    %3 = arith.addf %2, %cost : f32
    memref.store %3, %row[%i] : memref<?xf32>
    scf.yield %3, %up : f32, f32
  }
  return %0#0 : f32
}

// -----

// What is computed from a carried value waits, too; vectors and branches.
// CHECK-LABEL: func.func @branch(
// CHECK: iter_args(%[[X:[^ ]+]] = %
// CHECK: %[[SUM:.+]] = arith.addf %[[X]]
// CHECK: %[[FIRST:.+]] = arith.maximumf %{{.+}}, %{{.+}} : vector<4xf32>
// CHECK: arith.maximumf %[[FIRST]], %[[SUM]] : vector<4xf32>
// CHECK: scf.if
func.func @branch(%a: vector<4xf32>, %b: vector<4xf32>, %n: index, %c: i1) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (vector<4xf32>) {
    %1 = arith.addf %x, %a : vector<4xf32>
    %2 = arith.maximumf %1, %a : vector<4xf32>
    %3 = arith.maximumf %2, %b : vector<4xf32>
    %4 = scf.if %c -> vector<4xf32> {
      %5 = arith.mulf %3, %b : vector<4xf32>
      scf.yield %5 : vector<4xf32>
    } else {
      scf.yield %a : vector<4xf32>
    }
    scf.yield %4 : vector<4xf32>
  }
  return %0 : vector<4xf32>
}

// -----

// Left as it is: what no iteration carries, what others read, other zeros, and
// what stands in the right order.
// CHECK-LABEL: func.func @others(
// CHECK: %[[A:.+]] = arith.minimumf %[[X:.+]], %[[Y:.+]] : f32
// CHECK: %[[B:.+]] = arith.minimumf %[[A]], %{{.+}} : f32
// CHECK: %[[C:.+]] = arith.minimumf %[[B]], %[[A]] fastmath<nsz> : f32
// CHECK: %[[D:.+]] = arith.minimumf %[[C]], %[[X]] : f32
func.func @others(%out: memref<?xf32>, %a: f32, %b: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (f32) {
    %y = memref.load %out[%i] : memref<?xf32>
    %1 = arith.minimumf %x, %y : f32
    %2 = arith.minimumf %1, %b : f32
    %3 = arith.minimumf %2, %1 fastmath<nsz> : f32
    %4 = arith.minimumf %3, %x : f32
    memref.store %4, %out[%i] : memref<?xf32>
    %5 = arith.addf %y, %b : f32
    scf.yield %5 : f32
  }
  return %0 : f32
}
