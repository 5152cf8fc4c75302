// RUN: loopc-opt %s --convert-loop-runtime-to-llvm | FileCheck %s

// CHECK-DAG: llvm.func @loopc_rt_string_concat(!llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64) -> !llvm.struct<(i64, i64)>
// CHECK-DAG: llvm.func @loopc_rt_string_to_float(!llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> f64
// CHECK-DAG: llvm.func @loopc_rt_random_stream(!llvm.ptr, i32, i64) -> i64
// CHECK-DAG: llvm.mlir.global private constant @{{.*}}("Cast 'c'\00")

// A string goes as two arguments behind the run; a call that may fail gets the
// path of its node.
// CHECK-LABEL: func @calls(
// CHECK-SAME: %[[HANDLE:[^:]+]]: !llvm.ptr
func.func @calls(%run: !rt.run, %s: !rt.string, %t: !rt.string) -> i32 {
  // CHECK: %[[BOTH:.*]] = llvm.call @loopc_rt_string_concat(%[[HANDLE]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
  // CHECK: %[[WHERE:.*]] = llvm.mlir.addressof
  // CHECK: llvm.call @loopc_rt_string_to_float(%[[HANDLE]], %{{.*}}, %{{.*}}, %[[WHERE]])
  // CHECK: %[[HAS:.*]] = llvm.mlir.constant(1 : i32)
  // CHECK: %[[SEED:.*]] = llvm.mlir.constant(42 : i64)
  // CHECK: llvm.call @loopc_rt_random_stream(%[[HANDLE]], %[[HAS]], %[[SEED]])
  %u = rt.call "loopc_rt_string_concat"(%s, %t) : (!rt.string, !rt.string) -> !rt.string
  %x = rt.call "loopc_rt_string_to_float"(%u) where "Cast 'c'" : (!rt.string) -> f64
  %r = rt.random_stream seed 42
  %z = llvm.mlir.constant(0 : i32) : i32
  return %z : i32
}
