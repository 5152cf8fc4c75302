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
