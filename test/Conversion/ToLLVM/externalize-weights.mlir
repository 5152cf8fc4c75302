// RUN: loopc-opt %s --loopc-externalize-weights="threshold=16" | FileCheck %s

// CHECK: llvm.mlir.global external constant @large() {{.*}}loopc.weight = dense<1.000000e+00> : tensor<8xf32>{{.*}} : !llvm.array<32 x i8>
memref.global "private" constant @large : memref<8xf32> = dense<1.0>
// Sixteen bytes are not more than sixteen.
// CHECK: memref.global "private" constant @small : memref<4xf32>
memref.global "private" constant @small : memref<4xf32> = dense<2.0>

// One without elements is no nested array of its other extents.
// CHECK: llvm.mlir.global private constant @empty(dense<> : tensor<0xi8>) {{.*}} : !llvm.array<0 x i8>
memref.global "private" constant @empty : memref<4294967296x4294967296x0xf32> = dense<>

// CHECK-LABEL: func @use(
func.func @use() -> (memref<8xf32>, memref<4xf32>) {
  // CHECK: %[[ADDRESS:.*]] = llvm.mlir.addressof @large
  // CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<8xf32>
  // CHECK: memref.get_global @small
  %l = memref.get_global @large : memref<8xf32>
  %s = memref.get_global @small : memref<4xf32>
  return %l, %s : memref<8xf32>, memref<4xf32>
}

// CHECK-LABEL: func @use_empty(
func.func @use_empty() -> memref<4294967296x4294967296x0xf32> {
  // CHECK: llvm.mlir.addressof @empty
  // CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<4294967296x4294967296x0xf32>
  %e = memref.get_global @empty : memref<4294967296x4294967296x0xf32>
  return %e : memref<4294967296x4294967296x0xf32>
}
