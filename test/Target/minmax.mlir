// A minimum of two numbers that may be NaN is a comparison and an instruction
// under its mask, no move more. What is asked is the operand that the loop does
// not carry.

// RUN: loopc %s -O2 --target=x86_64-linux-gnu --cpu=x86-64-v4 --emit=llvm-ir -o - | FileCheck %s
// RUN: loopc %s -O2 --target=x86_64-linux-gnu --cpu=x86-64-v3 --emit=llvm-ir -o - | FileCheck %s --check-prefix=V3
// RUN: loopc %s -O2 --target=aarch64-linux-gnu --emit=llvm-ir -o - | FileCheck %s --check-prefix=A64

// CHECK-LABEL: define internal {{.*}}@loopc_entry(
// CHECK: phi <16 x float>
// CHECK: %[[X:.*]] = load <16 x float>
// CHECK: %[[LESS:.*]] = fcmp olt <16 x float> %[[X]], %[[Y:.*]]
// CHECK: %[[LEAST:.*]] = select <16 x i1> %[[LESS]], <16 x float> %[[X]], <16 x float> %[[Y]]
// CHECK: %[[NUMBER:.*]] = fcmp ord <16 x float> %[[X]],
// CHECK: select <16 x i1> %[[NUMBER]], <16 x float> %[[LEAST]], <16 x float> %[[X]]

// V3: call nsz <16 x float> @llvm.minimum
// A64: call nsz <16 x float> @llvm.minimum

module attributes {loopc.model = "m", loopc.inputs = [], loopc.outputs = []} {
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i64) : i64
    %n = llvm.mlir.constant(1000 : i64) : i64
    %first = llvm.mlir.constant(0 : i64) : i64
    %start = llvm.load %outputs : !llvm.ptr -> vector<16xf32>
    llvm.br ^loop(%first, %start : i64, vector<16xf32>)
  ^loop(%k: i64, %least: vector<16xf32>):
    %p = llvm.getelementptr %inputs[%k] : (!llvm.ptr, i64) -> !llvm.ptr, vector<16xf32>
    %x = llvm.load %p {alignment = 4} : !llvm.ptr -> vector<16xf32>
    %next = llvm.intr.minimum(%least, %x) {fastmathFlags = #llvm.fastmath<nsz>} : (vector<16xf32>, vector<16xf32>) -> vector<16xf32>
    %k1 = llvm.add %k, %one : i64
    %more = llvm.icmp "ult" %k1, %n : i64
    llvm.cond_br %more, ^loop(%k1, %next : i64, vector<16xf32>), ^done
  ^done:
    llvm.store %next, %outputs {alignment = 4} : vector<16xf32>, !llvm.ptr
    llvm.return %zero : i32
  }
}
