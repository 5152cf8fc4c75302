// RUN: loopc-opt %s --loopc-share-nests --split-input-file | FileCheck %s

// Nests of 64 and of 96 elements become one, which gets the bound and, for what
// is apart in the outer loop, the distance. Nobody reads %unused.
// CHECK-LABEL: llvm.func @two_sizes(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr
// CHECK: %[[N0:.*]] = llvm.mlir.constant(64 : i64) : i64
// CHECK: %[[D0:.*]] = llvm.mlir.constant(640 : i64) : i64
// CHECK: llvm.call @nest(%[[X]], %[[N0]], %[[D0]]) : (!llvm.ptr, i64, i64) -> ()
// CHECK: %[[N1:.*]] = llvm.mlir.constant(96 : i64) : i64
// CHECK: %[[D1:.*]] = llvm.mlir.constant(960 : i64) : i64
// CHECK: llvm.call @nest(%[[X]], %[[N1]], %[[D1]]) : (!llvm.ptr, i64, i64) -> ()
// CHECK: llvm.func internal @nest(%{{.*}}: !llvm.ptr {llvm.noalias}, %[[N:.*]]: i64, %[[D:.*]]: i64)
// CHECK: llvm.icmp "slt" %{{.*}}, %[[N]]
// CHECK: llvm.mul %{{.*}}, %[[D]]
// CHECK-NOT: llvm.func internal @nest_0
llvm.func @two_sizes(%x: !llvm.ptr, %unused: i64) {
  llvm.call @nest(%unused, %x) : (i64, !llvm.ptr) -> ()
  llvm.call @nest_0(%unused, %x) : (i64, !llvm.ptr) -> ()
  llvm.return
}
llvm.func internal @nest(%unused: i64, %x: !llvm.ptr {llvm.noalias}) attributes {passthrough = ["noinline"]} {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %n = llvm.mlir.constant(64 : i64) : i64
  %d = llvm.mlir.constant(640 : i64) : i64
  llvm.br ^head(%c0 : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^body, ^end
^body:
  %at = llvm.mul %i, %d : i64
  %p = llvm.getelementptr %x[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %i, %p : i64, !llvm.ptr
  %next = llvm.add %i, %c1 : i64
  llvm.br ^head(%next : i64)
^end:
  llvm.return
}
llvm.func internal @nest_0(%unused: i64, %x: !llvm.ptr {llvm.noalias}) attributes {passthrough = ["noinline"]} {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %n = llvm.mlir.constant(96 : i64) : i64
  %d = llvm.mlir.constant(960 : i64) : i64
  llvm.br ^head(%c0 : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^body, ^end
^body:
  %at = llvm.mul %i, %d : i64
  %p = llvm.getelementptr %x[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %i, %p : i64, !llvm.ptr
  %next = llvm.add %i, %c1 : i64
  llvm.br ^head(%next : i64)
^end:
  llvm.return
}

// -----

// What differs is a short loop's bound (@short), another operation (@other), or
// the function's address is taken (@taken): not shared. Equal ones are
// (@equal), and the numbers may be in another order of definition.
// CHECK-LABEL: llvm.func @kept(
// CHECK: llvm.call @long(
// CHECK: llvm.call @short(
// CHECK: llvm.call @other(
// CHECK: llvm.call @taken(
// CHECK: llvm.call @long(
llvm.func @kept(%x: !llvm.ptr) -> !llvm.ptr {
  llvm.call @long(%x) : (!llvm.ptr) -> ()
  llvm.call @short(%x) : (!llvm.ptr) -> ()
  llvm.call @other(%x) : (!llvm.ptr) -> ()
  llvm.call @taken(%x) : (!llvm.ptr) -> ()
  llvm.call @equal(%x) : (!llvm.ptr) -> ()
  %taken = llvm.mlir.addressof @taken : !llvm.ptr
  llvm.return %taken : !llvm.ptr
}
llvm.func internal @long(%x: !llvm.ptr) attributes {passthrough = ["noinline"]} {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %n = llvm.mlir.constant(64 : i64) : i64
  llvm.br ^head(%c0 : i64)
^head(%i: i64):
  llvm.store %i, %x : i64, !llvm.ptr
  %next = llvm.add %i, %c1 : i64
  %more = llvm.icmp "slt" %next, %n : i64
  llvm.cond_br %more, ^head(%next : i64), ^end
^end:
  llvm.return
}
llvm.func internal @short(%x: !llvm.ptr) attributes {passthrough = ["noinline"]} {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %n = llvm.mlir.constant(4 : i64) : i64
  llvm.br ^head(%c0 : i64)
^head(%i: i64):
  llvm.store %i, %x : i64, !llvm.ptr
  %next = llvm.add %i, %c1 : i64
  %more = llvm.icmp "slt" %next, %n : i64
  llvm.cond_br %more, ^head(%next : i64), ^end
^end:
  llvm.return
}
llvm.func internal @other(%x: !llvm.ptr) attributes {passthrough = ["noinline"]} {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %n = llvm.mlir.constant(64 : i64) : i64
  llvm.br ^head(%c0 : i64)
^head(%i: i64):
  llvm.store %i, %x : i64, !llvm.ptr
  %next = llvm.add %i, %c1 : i64
  %more = llvm.icmp "ult" %next, %n : i64
  llvm.cond_br %more, ^head(%next : i64), ^end
^end:
  llvm.return
}
llvm.func internal @taken(%x: !llvm.ptr) attributes {passthrough = ["noinline"]} {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %n = llvm.mlir.constant(64 : i64) : i64
  llvm.br ^head(%c0 : i64)
^head(%i: i64):
  llvm.store %i, %x : i64, !llvm.ptr
  %next = llvm.add %i, %c1 : i64
  %more = llvm.icmp "slt" %next, %n : i64
  llvm.cond_br %more, ^head(%next : i64), ^end
^end:
  llvm.return
}
llvm.func internal @equal(%x: !llvm.ptr) attributes {passthrough = ["noinline"]} {
  %n = llvm.mlir.constant(64 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %c0 = llvm.mlir.constant(0 : i64) : i64
  llvm.br ^head(%c0 : i64)
^head(%i: i64):
  llvm.store %i, %x : i64, !llvm.ptr
  %next = llvm.add %i, %c1 : i64
  %more = llvm.icmp "slt" %next, %n : i64
  llvm.cond_br %more, ^head(%next : i64), ^end
^end:
  llvm.return
}

// -----

// What the pieces of a nest are handed: of a buffer the pointer that they read,
// not all that describes it. Then nobody reads the rest of the arguments.
// CHECK-LABEL: llvm.func @threads(
// CHECK-SAME: %[[RUN_OF:[^:]+]]: !llvm.ptr, %[[X:[^:]+]]: !llvm.ptr, %[[N:[^:]+]]: i64
// CHECK: llvm.call @share(%[[RUN_OF]], %[[X]], %[[N]]) : (!llvm.ptr, !llvm.ptr, i64) -> ()
// CHECK: llvm.func internal @share(%{{.*}}: !llvm.ptr, %[[P:.*]]: !llvm.ptr, %{{.*}}: i64)
// CHECK: %[[PLACE:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr)>
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[PLACE]][0, 0]
// CHECK: llvm.store %[[P]], %[[FIELD]]
// CHECK-NOT: llvm.store
// CHECK: llvm.call @loopc_rt_parallel_for(
// CHECK: llvm.func internal @piece(%[[FROM:[^:]+]]: !llvm.ptr,
// CHECK: %[[READ:.*]] = llvm.getelementptr %[[FROM]][0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr)>
// CHECK: llvm.load %[[READ]] : !llvm.ptr -> !llvm.ptr
llvm.func @loopc_rt_parallel_for(!llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr)
llvm.func @threads(%run: !llvm.ptr, %x: !llvm.ptr, %n: i64) {
  llvm.call @share(%run, %x, %x, %n) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
}
llvm.func internal @share(%run: !llvm.ptr, %a: !llvm.ptr, %x: !llvm.ptr, %n: i64) attributes {passthrough = ["noinline"]} {
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %place = llvm.alloca %c1 x !llvm.struct<(ptr, struct<(ptr, ptr, i64)>)> : (i64) -> !llvm.ptr
  %s0 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64)>
  %s1 = llvm.insertvalue %a, %s0[0] : !llvm.struct<(ptr, ptr, i64)>
  %s2 = llvm.insertvalue %x, %s1[1] : !llvm.struct<(ptr, ptr, i64)>
  %s3 = llvm.insertvalue %n, %s2[2] : !llvm.struct<(ptr, ptr, i64)>
  %p0 = llvm.getelementptr %place[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, struct<(ptr, ptr, i64)>)>
  llvm.store %run, %p0 : !llvm.ptr, !llvm.ptr
  %p1 = llvm.getelementptr %place[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, struct<(ptr, ptr, i64)>)>
  llvm.store %s3, %p1 : !llvm.struct<(ptr, ptr, i64)>, !llvm.ptr
  %f = llvm.mlir.addressof @piece : !llvm.ptr
  llvm.call @loopc_rt_parallel_for(%run, %n, %c1, %f, %place) : (!llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
llvm.func internal @piece(%context: !llvm.ptr, %begin: i64, %end: i64) {
  %p0 = llvm.getelementptr %context[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, struct<(ptr, ptr, i64)>)>
  %run = llvm.load %p0 : !llvm.ptr -> !llvm.ptr
  %p1 = llvm.getelementptr %context[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, struct<(ptr, ptr, i64)>)>
  %s = llvm.load %p1 : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64)>
  %x = llvm.extractvalue %s[1] : !llvm.struct<(ptr, ptr, i64)>
  llvm.call @body(%run, %x, %begin) : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
}
llvm.func internal @body(%run: !llvm.ptr, %x: !llvm.ptr, %begin: i64) attributes {passthrough = ["noinline"]} {
  llvm.store %begin, %x : i64, !llvm.ptr
  llvm.return
}
