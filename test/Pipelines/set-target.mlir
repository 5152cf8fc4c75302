// The target is an attribute of the module, which replaces the one before.
// RUN: loopc-opt %s --loopc-set-target | FileCheck %s --check-prefix=DEFAULT
// RUN: loopc-opt %s --loopc-set-target="vector-bits=512 registers=32 mask-bits=8 dot-bits=8 scales chip=sm_90 min-work=0 tf32 libdevice loops=graph cublas=on" \
// RUN:   | FileCheck %s
// RUN: not loopc-opt %s --loopc-set-target=vector-bits=100 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WRONG
// RUN: not loopc-opt %s --loopc-set-target=chip=sm90 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CHIP
// A pipeline of loopc-opt compiles for the target that the module has: tiles of
// rows as long as its vectors.
// RUN: loopc-opt %s --loopc-to-scf | FileCheck %s --check-prefix=MODULE

// DEFAULT: module attributes {loopc.target = #loopc.target<vector_bits = 128, registers = 16>} {
// CHECK: module attributes {loopc.target = #loopc.target<vector_bits = 512, registers = 32, mask_bits = 8, dot_bits = 8, scales = true, chip = "sm_90", min_work = 0, tf32 = true, libdevice = true, loops = "graph", cublas = "on">} {
// WRONG: error: loopc-set-target: vector_bits must be a power of two, 64 at least; it is 100
// CHIP: error: loopc-set-target: chip must be NVIDIA's name of a GPU, as "sm_90"; it is "sm90"
// MODULE: module attributes {loopc.target = #loopc.target<vector_bits = 256, registers = 16, mask_bits = 32>} {
// MODULE: vector<8xf32>
module attributes {loopc.target = #loopc.target<vector_bits = 256, registers = 16, mask_bits = 32>} {
  func.func @main(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
    %z = onnx.node "Add"(%x, %y) since 14 : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
    return %z : tensor<?x?xf32>
  }
}
