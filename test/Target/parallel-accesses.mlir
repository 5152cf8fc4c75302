// The accesses of a loop whose iterations are independent are in its group.

// RUN: loopc %s -O0 --emit=llvm-ir -o - | FileCheck %s

// CHECK-LABEL: define internal {{.*}}@loopc_entry(
// CHECK: load i64, ptr %{{.*}}, !llvm.access.group ![[GROUP:[0-9]+]]
// CHECK: store i64 {{.*}}, !llvm.access.group ![[GROUP]]
// CHECK: br label %{{.*}}, !llvm.loop ![[LOOP:[0-9]+]]
// CHECK: load i64, ptr %{{[^,]*}}, align 4{{$}}
// CHECK-DAG: ![[GROUP]] = distinct !{}
// CHECK-DAG: ![[LOOP]] = distinct !{![[LOOP]], {{.*}}![[SAID:[0-9]+]]}
// CHECK-DAG: ![[SAID]] = !{!"llvm.loop.parallel_accesses", ![[GROUP]]}

#group = #llvm.access_group<id = distinct[0]<>>
#said = #llvm.loop_annotation<parallelAccesses = #group>
module attributes {loopc.model = "m", loopc.inputs = [], loopc.outputs = []} {
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %first = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %many = llvm.mlir.constant(100 : i64) : i64
    llvm.br ^head(%first : i64)
  ^head(%i: i64):
    %more = llvm.icmp "slt" %i, %many : i64
    llvm.cond_br %more, ^body, ^end
  ^body:
    %from = llvm.getelementptr %inputs[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %to = llvm.getelementptr %outputs[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %v = llvm.load %from : !llvm.ptr -> i64
    llvm.store %v, %to : i64, !llvm.ptr
    %next = llvm.add %i, %one : i64
    llvm.br ^head(%next : i64) {llvm.loop_annotation = #said}
  ^end:
    %last = llvm.load %inputs : !llvm.ptr -> i64
    llvm.store %last, %outputs : i64, !llvm.ptr
    llvm.return %zero : i32
  }
}
