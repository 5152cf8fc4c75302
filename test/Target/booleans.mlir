// Booleans lie in memory as bytes, of which LLVM makes vectors.

// RUN: loopc %s -O0 --emit=llvm-ir -o - | FileCheck %s

// CHECK-LABEL: define internal {{.*}}@loopc_entry(
// CHECK: %[[BYTE:.*]] = load i8, ptr %{{.*}}, align 1
// CHECK: %[[BIT:.*]] = trunc nuw i8 %[[BYTE]] to i1
// CHECK: %[[NOT:.*]] = xor i1 %[[BIT]], true
// CHECK: %[[NEXT:.*]] = zext i1 %[[NOT]] to i8
// CHECK: store i8 %[[NEXT]], ptr %{{.*}}, align 1

module attributes {loopc.model = "m", loopc.inputs = [], loopc.outputs = []} {
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %true = llvm.mlir.constant(true) : i1
    %x = llvm.load %inputs : !llvm.ptr -> i1
    %y = llvm.xor %x, %true : i1
    llvm.store %y, %outputs : i1, !llvm.ptr
    llvm.return %zero : i32
  }
}
