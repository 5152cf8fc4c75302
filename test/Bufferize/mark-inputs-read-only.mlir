// RUN: loopc-opt %s --loopc-mark-inputs-read-only | FileCheck %s

// CHECK: func @f(%{{.*}}: tensor<4xf32> {bufferization.writable = false}, %{{.*}}: i64)
func.func @f(%x: tensor<4xf32>, %n: i64) {
  return
}

// A declaration has no attributes of bufferization.
// CHECK-LABEL: func private @declared(tensor<4xf32>) -> tensor<4xf32>
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
