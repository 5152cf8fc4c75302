// RUN: loopc-opt %s --split-input-file --convert-loop-runtime-to-llvm | FileCheck %s

!list = !onnx.seq<tensor<*xf32>>

// A list is a pointer; null is the empty one.
// CHECK-LABEL: func @insert(
// CHECK-SAME: %[[HANDLE:[^:]+]]: !llvm.ptr, %[[X:[^:]+]]: memref<?xf32>, %[[SHAPE:[^:]+]]: memref<?xi64>
func.func @insert(%run: !rt.run, %x: memref<?xf32>, %shape: memref<?xi64>, %p: index) -> i32 {
  // CHECK: %[[NONE:.*]] = llvm.mlir.zero : !llvm.ptr
  // CHECK: %[[COPIED:.*]] = llvm.mlir.zero : !llvm.ptr
  // CHECK: %[[S:.*]] = llvm.call @loopc_rt_list_insert(%[[HANDLE]], %[[NONE]], %{{.*}}, %[[COPIED]],
  // CHECK: %[[OK:.*]] = llvm.icmp "ne" %[[S]]
  // CHECK: cf.cond_br %[[OK]]
  %none = loop.seq_empty : !list
  %s = loop.seq_insert %x, %shape into %none[%p] {element_owner = "copy"}
      : memref<?xf32>, memref<?xi64> into !list
  // CHECK: %[[OWNER:.*]] = llvm.extractvalue %{{.*}}[0]
  // CHECK: llvm.call @loopc_rt_retain(%[[HANDLE]], %[[OWNER]])
  // CHECK: llvm.call @loopc_rt_list_insert(%[[HANDLE]], %[[S]], %{{.*}}, %[[OWNER]],
  %t = loop.seq_insert %x, %shape into %s[%p] {element_owner = "share"}
      : memref<?xf32>, memref<?xi64> into !list
  // CHECK: llvm.call @loopc_rt_list_erase(%[[HANDLE]], %{{.*}}, %{{.*}}, %[[STATUS:[0-9]+]])
  // CHECK: llvm.load %[[STATUS]] : !llvm.ptr -> i32
  %u = loop.seq_erase %t[%p] : !list
  // CHECK: %[[MORE:.*]] = llvm.call @loopc_rt_list_retain(%[[HANDLE]],
  // CHECK: llvm.call @loopc_rt_list_release(%[[HANDLE]], %[[MORE]])
  %v = loop.seq_retain %u : !list
  loop.seq_release %v : !list
  %ok = llvm.mlir.constant(0 : i32) : i32
  return %ok : i32
}

// -----

!list = !onnx.seq<tensor<*xf16>>

// What comes back beside a result is in one place of the function, made outside
// of loops. A block's argument is a pointer, too.
// CHECK-LABEL: func @at(
func.func @at(%run: !rt.run, %p: index) -> i32 {
  // CHECK: %[[VIEW:.*]] = llvm.alloca {{.*}} x !llvm.struct<(ptr, ptr, i64, i64, ptr, ptr)>
  // CHECK: cf.br ^[[LOOP:.*]](%{{.*}} : !llvm.ptr)
  // CHECK: ^[[LOOP]](%[[S:.*]]: !llvm.ptr):
  // CHECK: llvm.call @loopc_rt_list_at(%{{.*}}, %[[S]], %{{.*}}, %[[VIEW]])
  // CHECK: %[[TWO:.*]] = llvm.mlir.constant(2 : i64)
  // CHECK: llvm.udiv %{{.*}}, %[[TWO]]
  // CHECK: llvm.call @loopc_rt_list_length(%[[S]])
  %none = loop.seq_empty : !list
  cf.br ^bb1(%none : !list)
^bb1(%s: !list):
  %x:2 = loop.seq_at %s[%p] : !list -> memref<?xf16>, memref<?xi64>
  %n = loop.seq_length %s : !list
  %f = memref.load %x#0[%n] : memref<?xf16>
  %more = arith.cmpi ugt, %n, %p : index
  cf.cond_br %more, ^bb1(%s : !list), ^bb2
^bb2:
  %ok = llvm.mlir.constant(0 : i32) : i32
  return %ok : i32
}

// -----

// CHECK-LABEL: func @nested(
func.func @nested(%run: !rt.run, %p: index) -> i32 {
  // CHECK: llvm.call @loopc_rt_list_insert_list(
  // CHECK: llvm.call @loopc_rt_list_at_list(
  // CHECK: llvm.call @loopc_rt_list_length(
  %none = loop.seq_empty : !onnx.seq<tensor<*xf32>>
  %o = loop.seq_empty : !onnx.optional<!onnx.seq<tensor<*xf32>>>
  %some = loop.seq_insert %none into %o[%p] {element_owner = "move"}
      : !onnx.seq<tensor<*xf32>> into !onnx.optional<!onnx.seq<tensor<*xf32>>>
  %s = loop.seq_at %some[%p]
      : !onnx.optional<!onnx.seq<tensor<*xf32>>> -> !onnx.seq<tensor<*xf32>>
  %n = loop.seq_length %s : !onnx.seq<tensor<*xf32>>
  %m = arith.index_cast %n : index to i32
  return %m : i32
}
