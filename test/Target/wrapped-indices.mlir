// A negative index counts from the end, which is rare: where it is checked, one
// by one, a branch adds the extent, which the next lookup does not wait for.

// RUN: loopc %s -O3 --target=x86_64-linux-gnu --cpu=x86-64-v3 --emit=llvm-ir -o - | FileCheck %s

// CHECK-LABEL: define internal {{.*}}@loopc_entry(
// CHECK: %[[X:.*]] = load i64
// CHECK: %[[IS:.*]] = icmp slt i64 %[[X]], 0
// CHECK: br i1 %[[IS]], label %[[WRAP:.*]], label %[[REST:.*]], !prof ![[P:[0-9]+]]
// CHECK: %[[W:.*]] = add {{.*}}i64 %[[X]], 16
// CHECK: phi i64 [ %[[W]], %{{.*}} ], [ %[[X]], %{{.*}} ]
// CHECK: ![[P]] = !{!"branch_weights", i32 1, i32 2000}

module attributes {loopc.model = "m", loopc.inputs = [], loopc.outputs = []} {
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %none = llvm.mlir.constant(0 : i64) : i64
    %n = llvm.mlir.constant(16 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    %first = llvm.mlir.constant(0 : i64) : i64
    %many = llvm.mlir.constant(1000 : i64) : i64
    llvm.br ^loop(%first, %first : i64, i64)
  ^loop(%k: i64, %at: i64):
    %p = llvm.getelementptr %inputs[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %x = llvm.load %p : !llvm.ptr -> i64
    %is = llvm.icmp "slt" %x, %none : i64
    %w = llvm.add %x, %n : i64
    %i = llvm.select %is, %w, %x : i1, i64
    %in = llvm.icmp "ult" %i, %n : i64
    llvm.cond_br %in weights([2000, 1]), ^next, ^fail
  ^next:
    %k1 = llvm.add %k, %step : i64
    %more = llvm.icmp "ult" %k1, %many : i64
    llvm.cond_br %more, ^loop(%k1, %i : i64, i64), ^done
  ^done:
    llvm.store %i, %outputs : i64, !llvm.ptr
    llvm.return %zero : i32
  ^fail:
    llvm.return %one : i32
  }
}
