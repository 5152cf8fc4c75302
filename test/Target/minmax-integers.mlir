// The smaller one of two integers that a loop computes is chosen by a move under
// a condition: a branch would be taken by chance. A constant bound is left to LLVM.

// RUN: loopc %s -O2 --target=x86_64-linux-gnu --cpu=x86-64-v3 --emit=llvm-ir -o - | FileCheck %s

// CHECK-LABEL: define internal {{.*}}@loopc_entry(
// CHECK-NOT: call i64 @llvm.smin
// CHECK: select i1 %{{.*}}, i64 %{{.*}}, i64 %{{.*}}, !unpredictable
// CHECK: call i64 @llvm.smax.i64(i64 %{{.*}}, i64 7)

module attributes {loopc.model = "m", loopc.inputs = [], loopc.outputs = []} {
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %seven = llvm.mlir.constant(7 : i64) : i64
    %x = llvm.load volatile %inputs : !llvm.ptr -> i64
    %y = llvm.load volatile %inputs : !llvm.ptr -> i64
    %least = llvm.intr.smin(%x, %y) : (i64, i64) -> i64
    %bound = llvm.intr.smax(%least, %seven) : (i64, i64) -> i64
    llvm.store %bound, %outputs : i64, !llvm.ptr
    llvm.return %zero : i32
  }
}
