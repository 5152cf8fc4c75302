// RUN: %python %S/Inputs/orders.py %s --loopc-share-nests | FileCheck %s

// Nests that call nests: sharing the inner ones adds operands to calls in the
// outer ones. In whichever order the functions stand, the inner ones are shared
// first, and the outer ones hand over both numbers.
// CHECK: 120 orders, 1 results
// CHECK: llvm.func @main(%[[X:.*]]: !llvm.ptr)
// CHECK: %[[SIX:.*]] = llvm.mlir.constant(6.000000e+00 : f32) : f32
// CHECK: %[[FOUR:.*]] = llvm.mlir.constant(4.000000e+00 : f32) : f32
// CHECK: %[[TWO:.*]] = llvm.mlir.constant(2.000000e+00 : f32) : f32
// CHECK: llvm.call @loop(%[[X]], %[[FOUR]], %[[TWO]]) : (!llvm.ptr, f32, f32) -> ()
// CHECK: %[[FIVE:.*]] = llvm.mlir.constant(5.000000e+00 : f32) : f32
// CHECK: %[[THREE:.*]] = llvm.mlir.constant(3.000000e+00 : f32) : f32
// CHECK: llvm.call @loop(%[[X]], %[[FIVE]], %[[THREE]]) : (!llvm.ptr, f32, f32) -> ()
// CHECK: %[[THREE_AGAIN:.*]] = llvm.mlir.constant(3.000000e+00 : f32) : f32
// CHECK: llvm.call @leaf(%[[X]], %[[SIX]], %[[THREE_AGAIN]]) : (!llvm.ptr, f32, f32) -> ()
// CHECK-NOT: llvm.func {{.*}}_0
// CHECK: llvm.func internal @leaf(%[[P:.*]]: !llvm.ptr, %[[F:.*]]: f32, %[[C:.*]]: f32)
// CHECK: llvm.fadd %[[C]], %[[F]] : f32
// CHECK: llvm.func internal @loop(%[[P:.*]]: !llvm.ptr, %[[A:.*]]: f32, %[[B:.*]]: f32)
// CHECK: llvm.call @leaf(%[[P]], %[[A]], %[[B]]) : (!llvm.ptr, f32, f32) -> ()
// CHECK-NOT: llvm.func {{.*}}_0
llvm.func internal @leaf(%x: !llvm.ptr, %f: f32) attributes {loopc.outlined} {
  %c = llvm.mlir.constant(2.0 : f32) : f32
  %s = llvm.fadd %c, %f : f32
  llvm.store %s, %x : f32, !llvm.ptr
  llvm.return
}
llvm.func @main(%x: !llvm.ptr) {
  %a = llvm.mlir.constant(6.0 : f32) : f32
  llvm.call @loop(%x) : (!llvm.ptr) -> ()
  llvm.call @loop_0(%x) : (!llvm.ptr) -> ()
  llvm.call @leaf_0(%x, %a) : (!llvm.ptr, f32) -> ()
  llvm.return
}
llvm.func internal @leaf_0(%x: !llvm.ptr, %f: f32) attributes {loopc.outlined} {
  %c = llvm.mlir.constant(3.0 : f32) : f32
  %s = llvm.fadd %c, %f : f32
  llvm.store %s, %x : f32, !llvm.ptr
  llvm.return
}
llvm.func internal @loop(%x: !llvm.ptr) attributes {loopc.outlined} {
  %c = llvm.mlir.constant(4.0 : f32) : f32
  llvm.call @leaf(%x, %c) : (!llvm.ptr, f32) -> ()
  llvm.return
}
llvm.func internal @loop_0(%x: !llvm.ptr) attributes {loopc.outlined} {
  %c = llvm.mlir.constant(5.0 : f32) : f32
  llvm.call @leaf_0(%x, %c) : (!llvm.ptr, f32) -> ()
  llvm.return
}
