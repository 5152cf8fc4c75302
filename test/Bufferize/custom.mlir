// RUN: loopc-opt %s --loopc-bufferize --buffer-place-deallocations | FileCheck %s

// A view with gaps is copied; what comes back belongs to the function.
// CHECK-LABEL: func @call(
func.func @call(%x: tensor<4x6xf32>) -> tensor<?xf32> {
  // CHECK: %[[DENSE:.*]] = memref.alloc() {{.*}}: memref<4x2xf32>
  // CHECK: memref.copy %{{.*}}, %[[DENSE]]
  // CHECK: %[[Y:.*]]:2 = rt.custom "loopc_op_f"(%[[DENSE]])
  // CHECK-SAME: (memref<4x2xf32>) -> (memref<?xf32>, memref<?xi64>)
  // CHECK-DAG: memref.dealloc %[[DENSE]]
  // CHECK-DAG: memref.dealloc %[[Y]]#1
  // CHECK: return %[[Y]]#0
  %part = tensor.extract_slice %x[0, 2] [4, 2] [1, 1] : tensor<4x6xf32> to tensor<4x2xf32>
  %y, %shape = rt.custom "loopc_op_f"(%part) takes [tensor<4x2xf32>] gives [tensor<?xf32>]
      with {} at "f" : (tensor<4x2xf32>) -> (tensor<?xf32>, tensor<?xi64>)
  return %y : tensor<?xf32>
}
