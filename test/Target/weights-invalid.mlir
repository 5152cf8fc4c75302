// RUN: split-file %s %t
// RUN: not loopc %t/size.mlir -o - 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not loopc %t/resource.mlir -o - 2>&1 | FileCheck %s --check-prefix=RESOURCE
// RUN: not loopc %t/kind.mlir -o - 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not loopc %t/global.mlir -o - 2>&1 | FileCheck %s --check-prefix=GLOBAL

// SIZE: LC0605: a weight of type 'tensor<3xf32>' has 12 bytes, but its global has 16
//--- size.mlir
module attributes {loopc.model = "m", loopc.inputs = [], loopc.outputs = []} {
  llvm.mlir.global external @w() {loopc.weight = dense<1.0> : tensor<3xf32>} : !llvm.array<16 x i8>
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %ok = llvm.mlir.constant(0 : i32) : i32
    llvm.return %ok : i32
  }
}

// RESOURCE: LC0605: resource 'w' of type 'tensor<3xf32>' has 8 bytes instead of 12
//--- resource.mlir
module attributes {loopc.model = "m", loopc.inputs = [], loopc.outputs = []} {
  llvm.mlir.global external @w() {loopc.weight = dense_resource<w> : tensor<3xf32>} : !llvm.array<12 x i8>
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %ok = llvm.mlir.constant(0 : i32) : i32
    llvm.return %ok : i32
  }
}
{-#
  dialect_resources: { builtin: { w: "0x040000000000803F000000C0" } }
#-}

// KIND: LC0500: 'llvm.mlir.global' op attribute 'loopc.weight' must be elements
//--- kind.mlir
module attributes {loopc.model = "m", loopc.inputs = [], loopc.outputs = []} {
  llvm.mlir.global external @w() {loopc.weight = "bytes"} : !llvm.array<16 x i8>
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %ok = llvm.mlir.constant(0 : i32) : i32
    llvm.return %ok : i32
  }
}

// GLOBAL: LC0605: global 'w' has 'loopc.weight', but is not an !llvm.array of i8 without initializer
//--- global.mlir
module attributes {loopc.model = "m", loopc.inputs = [], loopc.outputs = []} {
  llvm.mlir.global external @w() {loopc.weight = dense<1.0> : tensor<3xf32>} : !llvm.array<3 x f32>
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %ok = llvm.mlir.constant(0 : i32) : i32
    llvm.return %ok : i32
  }
}
