// RUN: loopc-opt %s --loopc-bufferize | FileCheck %s

// What a case yields has another name behind the switch: it is copied if that is
// written and somebody needs the value, or if it is a constant.
// CHECK-LABEL: func @switch(
func.func @switch(%n: index, %v: i64) -> (tensor<?xi64>, tensor<2xi64>) {
  %one = arith.constant 1 : index
  %zeros = arith.constant dense<0> : tensor<2xi64>
  // CHECK-DAG: %[[A:.*]] = memref.alloc() {{.*}} : memref<2xi64>
  // CHECK-DAG: memref.get_global
  %a = tensor.from_elements %v, %v : tensor<2xi64>
  // CHECK: %[[R:.*]] = scf.index_switch
  %r = scf.index_switch %n -> tensor<?xi64>
  // CHECK: case 0
  case 0 {
    // CHECK: %[[COPY:.*]] = memref.alloc
    // CHECK: memref.copy %{{.*}}, %[[COPY]]
    // CHECK: scf.yield %[[COPY]]
    %c = tensor.cast %a : tensor<2xi64> to tensor<?xi64>
    scf.yield %c : tensor<?xi64>
  }
  // CHECK: default
  default {
    // CHECK: %[[OTHER:.*]] = memref.alloc
    // CHECK: memref.copy %{{.*}}, %[[OTHER]]
    // CHECK: scf.yield %[[OTHER]]
    %c = tensor.cast %zeros : tensor<2xi64> to tensor<?xi64>
    scf.yield %c : tensor<?xi64>
  }
  // CHECK: memref.store %{{.*}}, %[[R]]
  // CHECK: return %[[R]], %[[A]]
  %w = tensor.insert %v into %r[%one] : tensor<?xi64>
  return %w, %a : tensor<?xi64>, tensor<2xi64>
}

// The same where functions with tensors are called, which MLIR's own analysis
// is asked about.
func.func private @id(%x: tensor<?xi64>) -> tensor<?xi64> {
  return %x : tensor<?xi64>
}

// CHECK-LABEL: func @switch_with_call(
func.func @switch_with_call(%n: index, %v: i64) -> (tensor<?xi64>, tensor<?xi64>) {
  %one = arith.constant 1 : index
  // CHECK: %[[A:.*]] = memref.alloc() {{.*}} : memref<2xi64>
  %a = tensor.from_elements %v, %v : tensor<2xi64>
  // CHECK: %[[R:.*]] = scf.index_switch
  %r = scf.index_switch %n -> tensor<2xi64>
  case 0 {
    scf.yield %a : tensor<2xi64>
  }
  default {
    %b = tensor.from_elements %v, %v : tensor<2xi64>
    // CHECK: default
    // CHECK: scf.yield
    scf.yield %b : tensor<2xi64>
  }
  // What is written is a copy: @id reads the other name.
  // CHECK: %[[COPY:.*]] = memref.alloc
  // CHECK: memref.copy %[[R]], %[[COPY]]
  // CHECK: memref.store %{{.*}}, %[[COPY]]
  %w = tensor.insert %v into %r[%one] : tensor<2xi64>
  %c = tensor.cast %a : tensor<2xi64> to tensor<?xi64>
  %d = tensor.cast %w : tensor<2xi64> to tensor<?xi64>
  // CHECK: call @id
  %e = func.call @id(%c) : (tensor<?xi64>) -> tensor<?xi64>
  return %d, %e : tensor<?xi64>, tensor<?xi64>
}
