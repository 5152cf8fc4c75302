// Weights of every layout. Inside a model a bool and an element of less than a
// byte take one byte each; a weight is stored once however many globals name it,
// and not at all where nobody reads it.

// RUN: rm -rf %t && mkdir %t
// RUN: loopc %s --emit=asm -o %t/w.s
// RUN: FileCheck %s --input-file %t/w.s
// RUN: od -An -v -tx1 -w16 %t/w.s.weights | FileCheck %s --check-prefix=BYTES

// CHECK: .section .rodata.loopc.w,"a",@progbits
// CHECK: "w.weight0":
// CHECK-NEXT: .incbin "{{.*}}w.s.weights",0,3
// CHECK: "w.weight1":
// CHECK-NEXT: .incbin "{{.*}}w.s.weights",64,4
// CHECK: "w.weight2":
// CHECK-NEXT: .incbin "{{.*}}w.s.weights",128,3
// CHECK: "w.weight3":
// CHECK-NEXT: .incbin "{{.*}}w.s.weights",192,8
// CHECK: .size "w.weight4",0
// CHECK-NEXT: .balign 64
// CHECK-NEXT: "w.weight4":
// CHECK-NOT: .incbin

// BYTES: 01 00 01 00
// BYTES-COUNT-3: 00 00 00 00 00 00
// BYTES: 01 01 01 01 00
// BYTES-COUNT-3: 00 00 00 00 00 00
// BYTES: 07 f8 ff 00
// BYTES-COUNT-3: 00 00 00 00 00 00
// BYTES: 00 00 80 3f 00 00 00 c0 00

// The assembly makes an object, in which nothing but the text is different.
// RUN: %cc -c %t/w.s -o %t/w.o
// RUN: llvm-readelf -x .rodata.loopc.w %t/w.o | FileCheck %s --check-prefix=HEX
// HEX: 0x00000000 01000100
// HEX: 0x00000040 01010101

// On standard output the file is only named.
// RUN: cd %t && loopc %s --emit=llvm-ir | FileCheck %s --check-prefix=IR
// IR: module asm ".incbin \22w.weights\22,0,3"
// IR: @w.weight0 = external dso_local constant [3 x i8], align 64
// IR: define internal {{.*}}i32 @loopc_entry(
// IR: define {{.*}}ptr @w_model()
// IR: define i32 @w_run(

module attributes {loopc.model = "w", loopc.inputs = [], loopc.outputs = []} {
  llvm.mlir.global external @bools() {loopc.weight = dense<[true, false, true]> : tensor<3xi1>} : !llvm.array<3 x i8>
  llvm.mlir.global external @splat() {loopc.weight = dense<true> : tensor<2x2xi1>} : !llvm.array<4 x i8>
  llvm.mlir.global external @nibbles() {loopc.weight = dense<[7, -8, -1]> : tensor<3xi4>} : !llvm.array<3 x i8>
  llvm.mlir.global external @floats() {loopc.weight = dense_resource<floats> : tensor<2xf32>} : !llvm.array<8 x i8>
  llvm.mlir.global external @again() {loopc.weight = dense_resource<floats> : tensor<2xf32>} : !llvm.array<8 x i8>
  llvm.mlir.global external @empty() {loopc.weight = dense<> : tensor<0x3xf32>} : !llvm.array<0 x i8>
  llvm.mlir.global external @unread() {loopc.weight = dense<[1, 2]> : tensor<2xi8>} : !llvm.array<2 x i8>
  llvm.func @loopc_rt_poll(!llvm.ptr) -> i32
  llvm.func @loopc_rt_copy(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr)

  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %c1 = llvm.mlir.constant(1 : i64) : i64
    %ok = llvm.mlir.constant(0 : i32) : i32
    %0 = llvm.mlir.addressof @bools : !llvm.ptr
    %1 = llvm.mlir.addressof @splat : !llvm.ptr
    %2 = llvm.mlir.addressof @nibbles : !llvm.ptr
    %3 = llvm.mlir.addressof @floats : !llvm.ptr
    %4 = llvm.mlir.addressof @again : !llvm.ptr
    %5 = llvm.mlir.addressof @empty : !llvm.ptr
    llvm.call @loopc_rt_copy(%run, %c1, %0, %1) : (!llvm.ptr, i64, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @loopc_rt_copy(%run, %c1, %2, %3) : (!llvm.ptr, i64, !llvm.ptr, !llvm.ptr) -> ()
    llvm.call @loopc_rt_copy(%run, %c1, %4, %5) : (!llvm.ptr, i64, !llvm.ptr, !llvm.ptr) -> ()
    llvm.return %ok : i32
  }
}

{-#
  dialect_resources: {
    builtin: {
      floats: "0x040000000000803F000000C0"
    }
  }
#-}
