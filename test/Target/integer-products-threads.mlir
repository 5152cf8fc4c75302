// RUN: loopc %s --cpu=sapphirerapids --emit=llvm -o - | FileCheck %s
// RUN: loopc %s --cpu=haswell --emit=llvm -o - | FileCheck %s --check-prefix=PAIRS

// Products of integers run on threads like others, in tiles.
// CHECK: llvm.func internal @loopc_entry_parallel
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK: llvm.call @loopc_rt_parallel_for
// PAIRS: llvm.func internal @loopc_entry_parallel
// PAIRS: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// PAIRS: llvm.call @loopc_rt_parallel_for
func.func @main(%x: tensor<512x256xui8>, %w: tensor<256x512xi8>) -> tensor<512x512xi32> {
  %y = onnx.node "MatMulInteger"(%x, %w) since 10 : (tensor<512x256xui8>, tensor<256x512xi8>) -> tensor<512x512xi32>
  return %y : tensor<512x512xi32>
}
