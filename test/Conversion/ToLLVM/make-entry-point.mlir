// RUN: loopc-opt %s --loopc-make-entry-point | FileCheck %s

// CHECK: module attributes
// CHECK-SAME: loopc.inputs = [{dims = ["N"], name = "x", type = tensor<?xui8>}]
// CHECK-SAME: loopc.model = "main"
// CHECK-SAME: loopc.outputs = [{name = "y", type = memref<?xi8>}]
// CHECK: func.func @loopc_entry(%{{.*}}: !rt.run, %[[INPUTS:.*]]: !llvm.ptr, %[[OUTPUTS:.*]]: !llvm.ptr) -> i32
// CHECK: %[[SLOT:.*]] = llvm.getelementptr %[[INPUTS]][0]
// CHECK: %[[AT:.*]] = llvm.load %[[SLOT]]
// CHECK: %[[DESCRIPTOR:.*]] = llvm.load %[[AT]]
// CHECK: %[[X:.*]] = builtin.unrealized_conversion_cast %[[DESCRIPTOR]] : {{.*}} to memref<?xi8>
// CHECK: %[[OUT:.*]] = builtin.unrealized_conversion_cast %{{.*}} : memref<?xi8> to
// CHECK: %[[OUTSLOT:.*]] = llvm.getelementptr %[[OUTPUTS]][0]
// CHECK: %[[PLACE:.*]] = llvm.load %[[OUTSLOT]]
// CHECK: llvm.store %[[OUT]], %[[PLACE]]
// CHECK: %[[OK:.*]] = llvm.mlir.constant(0 : i32)
// CHECK: return %[[OK]]
func.func @main(%x: memref<?xi8> {loopc.name = "x", loopc.type = tensor<?xui8>, loopc.dims = ["N"]})
    -> (memref<?xi8> {loopc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xi8>
  %a = memref.alloc(%n) : memref<?xi8>
  memref.copy %x, %a : memref<?xi8> to memref<?xi8>
  return %a : memref<?xi8>
}
