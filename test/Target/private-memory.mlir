// A nest that threads share is a function, which is told that what it writes to
// is reached through no other argument: LLVM need not test at run time whether
// it is.

// RUN: loopc %s -O1 --emit=llvm-ir -o - | FileCheck %s

// CHECK: define internal {{.*}}@loopc_entry_parallel({{.*}}ptr noalias
func.func @main(%x: tensor<1024x1024xf32>, %y: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = onnx.node "Add"(%x, %y) since 14 : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}
