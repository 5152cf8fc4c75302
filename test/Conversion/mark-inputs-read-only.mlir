// RUN: loopc-opt %s --loopc-mark-inputs-read-only | FileCheck %s

// CHECK: func @f(%{{.*}}: tensor<4xf32> {bufferization.writable = false}, %{{.*}}: i64)
func.func @f(%x: tensor<4xf32>, %n: i64) {
  return
}
