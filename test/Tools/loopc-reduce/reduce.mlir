// Makes the smallest function that still holds a Neg.
// RUN: rm -rf %t && mkdir -p %t
// RUN: echo '#!/bin/sh' > %t/test.sh && echo 'grep -q Neg "$1" && exit 1 || exit 0' >> %t/test.sh && chmod +x %t/test.sh
// RUN: loopc-reduce %s -reduction-tree='traversal-mode=0 test=%t/test.sh' | FileCheck %s

// CHECK: onnx.node "Neg"
// CHECK-NOT: func.func @other
func.func @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = onnx.node "Abs"(%x) since 13 : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @kept(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = onnx.node "Neg"(%x) since 13 : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
