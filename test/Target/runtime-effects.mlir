// LLVM is told what the runtime's functions do: a load moves out of a loop that
// polls, and an allocation aliases nothing.

// RUN: loopc %s --emit=llvm-ir -o - | FileCheck %s

// CHECK: declare noalias align 64 ptr @loopc_rt_alloc(ptr, i64) {{.*}}#[[RT:[0-9]+]]
// CHECK: declare i32 @loopc_rt_poll(ptr) {{.*}}#[[RT]]
// CHECK: declare float @tanhf(float) {{.*}}#[[MATH:[0-9]+]]

// CHECK-LABEL: define internal i32 @loopc_entry(
// CHECK: load i64, ptr
// CHECK: br label %[[LOOP:.*]]
// CHECK: [[LOOP]]:
// CHECK-NOT: load
// CHECK: call i32 @loopc_rt_poll
// CHECK-NOT: load
// CHECK: br i1 %{{.*}}, label %{{.*}}, label %[[LOOP]]

// CHECK: attributes #[[RT]] = { {{.*}}nounwind willreturn memory(inaccessiblemem: readwrite) }
// CHECK: attributes #[[MATH]] = { {{.*}}nounwind willreturn memory(none) }

module attributes {loopc.model = "m", loopc.inputs = [], loopc.outputs = []} {
  llvm.func @loopc_rt_alloc(!llvm.ptr, i64) -> !llvm.ptr
  llvm.func @loopc_rt_poll(!llvm.ptr) -> i32
  llvm.func @tanhf(f32) -> f32

  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %c0 = llvm.mlir.constant(0 : i64) : i64
    %c8 = llvm.mlir.constant(8 : i64) : i64
    %zero = llvm.mlir.constant(0 : i32) : i32
    %x = llvm.load %inputs : !llvm.ptr -> f32
    %y = llvm.call @tanhf(%x) : (f32) -> f32
    %m = llvm.call @loopc_rt_alloc(%run, %c8) : (!llvm.ptr, i64) -> !llvm.ptr
    llvm.store %y, %m : f32, !llvm.ptr
    llvm.store %m, %outputs : !llvm.ptr, !llvm.ptr
    llvm.br ^loop(%c0 : i64)
  ^loop(%i: i64):
    %step = llvm.load %inputs : !llvm.ptr -> i64
    %next = llvm.add %i, %step : i64
    %status = llvm.call @loopc_rt_poll(%run) : (!llvm.ptr) -> i32
    %end = llvm.icmp "ne" %status, %zero : i32
    %far = llvm.icmp "sgt" %next, %c8 : i64
    %stop = llvm.or %end, %far : i1
    llvm.cond_br %stop, ^done, ^loop(%next : i64)
  ^done:
    llvm.return %status : i32
  }
}
