// RUN: loopc-opt %s --tensor-fuse-elementwise --cse | FileCheck %s

// Places that are counted on from one that is given: they are a slice.
// CHECK-LABEL: func.func @neighbours(
// CHECK-SAME: %[[X:[^:]*]]: tensor<40xf32>, %[[U:[^:]*]]: tensor<8xf32>, %[[AT:[^:]*]]: index)
// CHECK-NOT: scf.for
// CHECK: %[[OLD:.*]] = tensor.extract_slice %[[X]][%[[AT]]] [8] [1]
// CHECK: %[[NEW:.*]] = linalg.generic {{.*}} ins(%[[OLD]]
// CHECK: %[[ALL:.*]] = tensor.insert_slice %[[NEW]] into %[[X]][%[[AT]]] [8] [1]
// CHECK: return %[[ALL]]
func.func @neighbours(%x: tensor<40xf32>, %u: tensor<8xf32>, %at: index) -> tensor<40xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %j = %c0 to %c8 step %c1 iter_args(%a = %x) -> (tensor<40xf32>) {
    %p = arith.addi %j, %at : index
    %new = tensor.extract %u[%j] : tensor<8xf32>
    %old = tensor.extract %a[%p] : tensor<40xf32>
    %sum = arith.addf %old, %new : f32
    %next = tensor.insert %sum into %a[%p] : tensor<40xf32>
    scf.yield %next : tensor<40xf32>
  }
  return %r : tensor<40xf32>
}

// In a row of a matrix, and held at its end: whether they are neighbours is
// asked for the first and the last one.
// CHECK-LABEL: func.func @held(
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x?xf32>,
// CHECK: %[[LAST:.*]] = arith.subi
// CHECK: %[[BETWEEN:.*]] = arith.subi
// CHECK: %[[ROW:.*]] = arith.cmpi eq, %[[BETWEEN]], %[[LAST]]
// CHECK: %[[IS:.*]] = arith.andi %[[ROW]]
// CHECK: scf.if %[[IS]]
// CHECK-NOT: scf.for
// CHECK: tensor.insert_slice %{{.*}} into %[[X]][%{{.*}}, %{{.*}}] [1, %{{.*}}] [1, 1]
// CHECK: } else {
// CHECK: scf.for
func.func @held(%x: tensor<4x?xf32>, %u: tensor<?xf32>, %row: index, %at: index, %most: index, %n: index) -> tensor<4x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4x?xf32>) {
    %p = arith.addi %j, %at : index
    %held = arith.minui %p, %most : index
    %new = tensor.extract %u[%j] : tensor<?xf32>
    %next = tensor.insert %new into %a[%row, %held] : tensor<4x?xf32>
    scf.yield %next : tensor<4x?xf32>
  }
  return %r : tensor<4x?xf32>
}

// Places that fall, those that data say, and what reads other elements of the
// tensor are written one by one.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-3: scf.for
// CHECK-NOT: tensor.insert_slice
func.func @others(%x: tensor<40xf32>, %u: tensor<8xf32>, %k: tensor<8xindex>, %at: index) -> tensor<40xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %j = %c0 to %c8 step %c1 iter_args(%a = %x) -> (tensor<40xf32>) {
    %p = arith.subi %at, %j : index
    %new = tensor.extract %u[%j] : tensor<8xf32>
    %next = tensor.insert %new into %a[%p] : tensor<40xf32>
    scf.yield %next : tensor<40xf32>
  }
  %s = scf.for %j = %c0 to %c8 step %c1 iter_args(%a = %r) -> (tensor<40xf32>) {
    %p = tensor.extract %k[%j] : tensor<8xindex>
    %new = tensor.extract %u[%j] : tensor<8xf32>
    %next = tensor.insert %new into %a[%p] : tensor<40xf32>
    scf.yield %next : tensor<40xf32>
  }
  %t = scf.for %j = %c0 to %c8 step %c1 iter_args(%a = %s) -> (tensor<40xf32>) {
    %p = arith.addi %at, %j : index
    %old = tensor.extract %a[%j] : tensor<40xf32>
    %next = tensor.insert %old into %a[%p] : tensor<40xf32>
    scf.yield %next : tensor<40xf32>
  }
  return %t : tensor<40xf32>
}

// What is counted from a bound, and bounds of bounds, need not be neighbours if
// the first and the last one are as far apart.
// CHECK-LABEL: func.func @bounds(
// CHECK-COUNT-2: scf.for
// CHECK-NOT: tensor.insert_slice
func.func @bounds(%x: tensor<?xf32>, %u: tensor<?xf32>, %at: index, %least: index, %most: index, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?xf32>) {
    %p = arith.addi %j, %at : index
    %held = arith.minui %p, %most : index
    %q = arith.addi %held, %least : index
    %new = tensor.extract %u[%j] : tensor<?xf32>
    %next = tensor.insert %new into %a[%q] : tensor<?xf32>
    scf.yield %next : tensor<?xf32>
  }
  %s = scf.for %j = %c0 to %n step %c1 iter_args(%a = %r) -> (tensor<?xf32>) {
    %p = arith.addi %j, %at : index
    %held = arith.maxui %p, %most : index
    %q = arith.maxsi %held, %least : index
    %new = tensor.extract %u[%j] : tensor<?xf32>
    %next = tensor.insert %new into %a[%q] : tensor<?xf32>
    scf.yield %next : tensor<?xf32>
  }
  return %s : tensor<?xf32>
}
