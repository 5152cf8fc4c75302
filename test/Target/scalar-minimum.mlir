// A minimum and a maximum of two numbers, one by one, are comparisons and moves
// under a mask, no branches and no calls. What is asked whether it is a number
// is what comes from memory, not what the loop has computed, and each asks with
// a comparison of its own.

// RUN: loopc %s -O2 --target=x86_64-linux-gnu --cpu=x86-64-v4 --emit=llvm-ir -o - | FileCheck %s
// RUN: loopc %s -O2 --target=x86_64-linux-gnu --cpu=x86-64-v4 --emit=asm -o - | FileCheck %s --check-prefix=ASM

// CHECK-LABEL: define internal {{.*}}@loopc_entry(
// CHECK: phi float
// CHECK: %[[X:.*]] = load volatile float
// CHECK: %[[LESS:.*]] = fcmp olt float %[[X]], %[[Y:.*]]
// CHECK: %[[LEAST:.*]] = select i1 %[[LESS]], float %[[X]], float %[[Y]], !unpredictable
// CHECK: %[[NUMBER:.*]] = fcmp ord float %[[X]],
// CHECK: select i1 %[[NUMBER]], float %[[LEAST]], float %[[X]], !unpredictable
// CHECK: %[[MORE:.*]] = fcmp ogt float %[[X]], %[[Y]]
// CHECK: %[[MOST:.*]] = select i1 %[[MORE]], float %[[X]], float %[[Y]], !unpredictable
// CHECK: %[[NONE:.*]] = fcmp uno float %[[X]],
// CHECK: select i1 %[[NONE]], float %[[X]], float %[[MOST]], !unpredictable

// ASM: vcmp{{(un)?}}ordss
// ASM-NOT: ucomiss
// ASM: vcmp{{(un)?}}ordss

module attributes {loopc.model = "m", loopc.inputs = [], loopc.outputs = []} {
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i64) : i64
    %n = llvm.mlir.constant(1000 : i64) : i64
    %first = llvm.mlir.constant(0 : i64) : i64
    %start = llvm.load %outputs : !llvm.ptr -> f32
    llvm.br ^loop(%first, %start : i64, f32)
  ^loop(%k: i64, %left: f32):
    %p = llvm.getelementptr %inputs[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load volatile %p : !llvm.ptr -> f32
    %least = llvm.intr.minimum(%left, %x) {fastmathFlags = #llvm.fastmath<nsz>} : (f32, f32) -> f32
    llvm.store volatile %least, %p : f32, !llvm.ptr
    %most = llvm.intr.maximum(%left, %x) {fastmathFlags = #llvm.fastmath<nsz>} : (f32, f32) -> f32
    %k1 = llvm.add %k, %one : i64
    %more = llvm.icmp "ult" %k1, %n : i64
    llvm.cond_br %more, ^loop(%k1, %most : i64, f32), ^done
  ^done:
    llvm.store %most, %outputs : f32, !llvm.ptr
    llvm.return %zero : i32
  }
}
