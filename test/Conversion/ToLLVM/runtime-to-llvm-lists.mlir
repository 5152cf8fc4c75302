// RUN: loopc-opt %s --split-input-file --convert-loop-runtime-to-llvm | FileCheck %s

!list = !list.list<f32>

// A list is a pointer; null is the empty one.
// CHECK-LABEL: func @insert(
// CHECK-SAME: %[[HANDLE:[^:]+]]: !llvm.ptr, %[[X:[^:]+]]: memref<?xf32>, %[[SHAPE:[^:]+]]: memref<?xi64>
func.func @insert(%run: !rt.run, %x: memref<?xf32>, %shape: memref<?xi64>, %p: index) -> i32 {
  // CHECK: %[[NONE:.*]] = llvm.mlir.zero : !llvm.ptr
  // CHECK: %[[COPIED:.*]] = llvm.mlir.zero : !llvm.ptr
  // CHECK: %[[S:.*]] = llvm.call @loopc_rt_list_insert(%[[HANDLE]], %[[NONE]], %{{.*}}, %[[COPIED]],
  // CHECK: %[[OK:.*]] = llvm.icmp "ne" %[[S]]
  // CHECK: cf.cond_br %[[OK]]
  %none = list.empty : !list
  %s = list.insert %x, %shape into %none[%p] {element_owner = "copy"}
      : memref<?xf32>, memref<?xi64> into !list
  // CHECK: %[[OWNER:.*]] = llvm.extractvalue %{{.*}}[0]
  // CHECK: llvm.call @loopc_rt_retain(%[[HANDLE]], %[[OWNER]])
  // CHECK: llvm.call @loopc_rt_list_insert(%[[HANDLE]], %[[S]], %{{.*}}, %[[OWNER]],
  %t = list.insert %x, %shape into %s[%p] {element_owner = "share"}
      : memref<?xf32>, memref<?xi64> into !list
  // CHECK: llvm.call @loopc_rt_list_erase(%[[HANDLE]], %{{.*}}, %{{.*}}, %[[STATUS:[0-9]+]])
  // CHECK: llvm.load %[[STATUS]] : !llvm.ptr -> i32
  %u = list.erase %t[%p] : !list
  // CHECK: %[[MORE:.*]] = llvm.call @loopc_rt_list_retain(%[[HANDLE]],
  // CHECK: llvm.call @loopc_rt_list_release(%[[HANDLE]], %[[MORE]])
  %v = list.retain %u : !list
  list.release %v : !list
  %ok = llvm.mlir.constant(0 : i32) : i32
  return %ok : i32
}

// -----

!list = !list.list<f16>

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
  %none = list.empty : !list
  cf.br ^bb1(%none : !list)
^bb1(%s: !list):
  %x:2 = list.at %s[%p] : !list -> memref<?xf16>, memref<?xi64>
  %n = list.length %s : !list
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
  %none = list.empty : !list.list<f32>
  %o = list.empty : !list.list<!list.list<f32>>
  %some = list.insert %none into %o[%p] {element_owner = "move"}
      : !list.list<f32> into !list.list<!list.list<f32>>
  %s = list.at %some[%p]
      : !list.list<!list.list<f32>> -> !list.list<f32>
  %n = list.length %s : !list.list<f32>
  %m = arith.index_cast %n : index to i32
  return %m : i32
}
