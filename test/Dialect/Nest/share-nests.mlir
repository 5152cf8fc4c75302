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
llvm.func internal @nest(%unused: i64, %x: !llvm.ptr {llvm.noalias}) attributes {loopc.outlined} {
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
llvm.func internal @nest_0(%unused: i64, %x: !llvm.ptr {llvm.noalias}) attributes {loopc.outlined} {
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
llvm.func internal @long(%x: !llvm.ptr) attributes {loopc.outlined} {
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
llvm.func internal @short(%x: !llvm.ptr) attributes {loopc.outlined} {
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
llvm.func internal @other(%x: !llvm.ptr) attributes {loopc.outlined} {
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
llvm.func internal @taken(%x: !llvm.ptr) attributes {loopc.outlined} {
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
llvm.func internal @equal(%x: !llvm.ptr) attributes {loopc.outlined} {
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
llvm.func internal @share(%run: !llvm.ptr, %a: !llvm.ptr, %x: !llvm.ptr, %n: i64) attributes {loopc.outlined} {
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
llvm.func internal @body(%run: !llvm.ptr, %x: !llvm.ptr, %begin: i64) attributes {loopc.outlined} {
  llvm.store %begin, %x : i64, !llvm.ptr
  llvm.return
}

// -----

// Factors, of which one is a vector's: arguments, whatever loop they are in.
// Truth is not: it decides which code there is (@falsely).
// CHECK-LABEL: llvm.func @factors(
// CHECK: %[[A:.*]] = llvm.mlir.constant(2.000000e+00 : f32) : f32
// CHECK: llvm.call @scale(%{{.*}}, %[[A]]) : (!llvm.ptr, f32) -> ()
// CHECK: %[[B:.*]] = llvm.mlir.constant(3.000000e+00 : f32) : f32
// CHECK: llvm.call @scale(%{{.*}}, %[[B]]) : (!llvm.ptr, f32) -> ()
// CHECK: llvm.call @falsely(%{{.*}}) : (!llvm.ptr) -> ()
// CHECK: llvm.func internal @scale(%{{.*}}: !llvm.ptr, %[[F:.*]]: f32)
// CHECK: %[[ONE:.*]] = llvm.insertelement %[[F]], %{{.*}}[%{{.*}} : i32] : vector<4xf32>
// CHECK: %[[ALL:.*]] = llvm.shufflevector %[[ONE]], %{{.*}} [0, 0, 0, 0] : vector<4xf32>
// CHECK: ^bb1
// CHECK: llvm.fmul %{{.*}}, %[[ALL]] : vector<4xf32>
// CHECK: llvm.fadd %{{.*}}, %[[F]] : f32
llvm.func @factors(%x: !llvm.ptr) {
  llvm.call @scale(%x) : (!llvm.ptr) -> ()
  llvm.call @scale_0(%x) : (!llvm.ptr) -> ()
  llvm.call @falsely(%x) : (!llvm.ptr) -> ()
  llvm.return
}
llvm.func internal @scale(%x: !llvm.ptr) attributes {loopc.outlined} {
  %c0 = llvm.mlir.constant(0 : index) : i64
  %c1 = llvm.mlir.constant(1 : index) : i64
  %true = llvm.mlir.constant(true) : i1
  %f = llvm.mlir.constant(dense<2.0> : vector<4xf32>) : vector<4xf32>
  %g = llvm.mlir.constant(2.0 : f32) : f32
  llvm.br ^head(%c0 : i64)
^head(%i: i64):
  %v = llvm.load %x : !llvm.ptr -> vector<4xf32>
  %w = llvm.fmul %v, %f : vector<4xf32>
  llvm.store %w, %x : vector<4xf32>, !llvm.ptr
  %s = llvm.load %x : !llvm.ptr -> f32
  %t = llvm.fadd %s, %g : f32
  llvm.store %t, %x : f32, !llvm.ptr
  %next = llvm.add %i, %c1 : i64
  llvm.cond_br %true, ^head(%next : i64), ^end
^end:
  llvm.return
}
llvm.func internal @scale_0(%x: !llvm.ptr) attributes {loopc.outlined} {
  %c0 = llvm.mlir.constant(0 : index) : i64
  %c1 = llvm.mlir.constant(1 : index) : i64
  %true = llvm.mlir.constant(true) : i1
  %f = llvm.mlir.constant(dense<3.0> : vector<4xf32>) : vector<4xf32>
  %g = llvm.mlir.constant(3.0 : f32) : f32
  llvm.br ^head(%c0 : i64)
^head(%i: i64):
  %v = llvm.load %x : !llvm.ptr -> vector<4xf32>
  %w = llvm.fmul %v, %f : vector<4xf32>
  llvm.store %w, %x : vector<4xf32>, !llvm.ptr
  %s = llvm.load %x : !llvm.ptr -> f32
  %t = llvm.fadd %s, %g : f32
  llvm.store %t, %x : f32, !llvm.ptr
  %next = llvm.add %i, %c1 : i64
  llvm.cond_br %true, ^head(%next : i64), ^end
^end:
  llvm.return
}
llvm.func internal @falsely(%x: !llvm.ptr) attributes {loopc.outlined} {
  %c0 = llvm.mlir.constant(0 : index) : i64
  %c1 = llvm.mlir.constant(1 : index) : i64
  %false = llvm.mlir.constant(false) : i1
  %f = llvm.mlir.constant(dense<3.0> : vector<4xf32>) : vector<4xf32>
  %g = llvm.mlir.constant(3.0 : f32) : f32
  llvm.br ^head(%c0 : i64)
^head(%i: i64):
  %v = llvm.load %x : !llvm.ptr -> vector<4xf32>
  %w = llvm.fmul %v, %f : vector<4xf32>
  llvm.store %w, %x : vector<4xf32>, !llvm.ptr
  %s = llvm.load %x : !llvm.ptr -> f32
  %t = llvm.fadd %s, %g : f32
  llvm.store %t, %x : f32, !llvm.ptr
  %next = llvm.add %i, %c1 : i64
  llvm.cond_br %false, ^head(%next : i64), ^end
^end:
  llvm.return
}

// -----

// What is handed to the pieces of nests that became one is handed the number,
// too; then the pieces are one, and what shares them out.
// CHECK-LABEL: llvm.func @two_shared(
// CHECK: %[[A:.*]] = llvm.mlir.constant(64 : i64) : i64
// CHECK: llvm.call @share(%{{.*}}, %{{.*}}, %[[A]]) : (!llvm.ptr, !llvm.ptr, i64) -> ()
// CHECK: %[[B:.*]] = llvm.mlir.constant(96 : i64) : i64
// CHECK: llvm.call @share(%{{.*}}, %{{.*}}, %[[B]]) : (!llvm.ptr, !llvm.ptr, i64) -> ()
// CHECK: llvm.func internal @share(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[N:.*]]: i64)
// CHECK: %[[PLACE:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr, i64)>
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[PLACE]][0, 1]
// CHECK: llvm.store %[[N]], %[[FIELD]]
// CHECK: llvm.call @loopc_rt_parallel_for(
// CHECK: llvm.func internal @piece(
// CHECK: %[[READ:.*]] = llvm.getelementptr %{{.*}}[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i64)>
// CHECK: %[[M:.*]] = llvm.load %[[READ]] : !llvm.ptr -> i64
// CHECK: llvm.call @body(%{{.*}}, %{{.*}}, %[[M]])
// CHECK-NOT: llvm.func internal @share_0
// CHECK-NOT: llvm.func internal @piece_0
llvm.func @loopc_rt_parallel_for(!llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr)
llvm.func @two_shared(%run: !llvm.ptr, %x: !llvm.ptr) {
  llvm.call @share(%run, %x) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.call @share_0(%run, %x) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
llvm.func internal @share(%run: !llvm.ptr, %x: !llvm.ptr) attributes {loopc.outlined} {
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %place = llvm.alloca %c1 x !llvm.struct<(ptr)> : (i64) -> !llvm.ptr
  %p0 = llvm.getelementptr %place[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr)>
  llvm.store %x, %p0 : !llvm.ptr, !llvm.ptr
  %f = llvm.mlir.addressof @piece : !llvm.ptr
  llvm.call @loopc_rt_parallel_for(%run, %c1, %c1, %f, %place) : (!llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
llvm.func internal @share_0(%run: !llvm.ptr, %x: !llvm.ptr) attributes {loopc.outlined} {
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %place = llvm.alloca %c1 x !llvm.struct<(ptr)> : (i64) -> !llvm.ptr
  %p0 = llvm.getelementptr %place[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr)>
  llvm.store %x, %p0 : !llvm.ptr, !llvm.ptr
  %f = llvm.mlir.addressof @piece_0 : !llvm.ptr
  llvm.call @loopc_rt_parallel_for(%run, %c1, %c1, %f, %place) : (!llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
llvm.func internal @piece(%context: !llvm.ptr, %begin: i64, %end: i64) {
  %p0 = llvm.getelementptr %context[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr)>
  %x = llvm.load %p0 : !llvm.ptr -> !llvm.ptr
  llvm.call @body(%begin, %x) : (i64, !llvm.ptr) -> ()
  llvm.return
}
llvm.func internal @piece_0(%context: !llvm.ptr, %begin: i64, %end: i64) {
  %p0 = llvm.getelementptr %context[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr)>
  %x = llvm.load %p0 : !llvm.ptr -> !llvm.ptr
  llvm.call @body_0(%begin, %x) : (i64, !llvm.ptr) -> ()
  llvm.return
}
llvm.func internal @body(%begin: i64, %x: !llvm.ptr) attributes {loopc.outlined} {
  %n = llvm.mlir.constant(64 : i64) : i64
  %at = llvm.add %begin, %n : i64
  llvm.store %at, %x : i64, !llvm.ptr
  llvm.return
}
llvm.func internal @body_0(%begin: i64, %x: !llvm.ptr) attributes {loopc.outlined} {
  %n = llvm.mlir.constant(96 : i64) : i64
  %at = llvm.add %begin, %n : i64
  llvm.store %at, %x : i64, !llvm.ptr
  llvm.return
}

// -----

// Functions that somebody else keeps from being inlined are none of a model's
// parts.
// CHECK-LABEL: llvm.func @others(
// CHECK: llvm.call @foreign(
// CHECK: llvm.call @foreign_0(
llvm.func @others(%x: !llvm.ptr) {
  llvm.call @foreign(%x) : (!llvm.ptr) -> ()
  llvm.call @foreign_0(%x) : (!llvm.ptr) -> ()
  llvm.return
}
llvm.func internal @foreign(%x: !llvm.ptr) attributes {passthrough = ["noinline"]} {
  %c = llvm.mlir.constant(1.0 : f32) : f32
  llvm.store %c, %x : f32, !llvm.ptr
  llvm.return
}
llvm.func internal @foreign_0(%x: !llvm.ptr) attributes {passthrough = ["noinline"]} {
  %c = llvm.mlir.constant(2.0 : f32) : f32
  llvm.store %c, %x : f32, !llvm.ptr
  llvm.return
}

// -----

// What one of two equal functions may not count on theirs may not: @nest_0 is
// given memory that others reach, too.
// CHECK-LABEL: llvm.func @other_memory(
// CHECK: llvm.call @nest(%[[X:.*]], %{{.*}})
// CHECK: llvm.call @nest(%[[X]], %{{.*}})
// CHECK: llvm.func internal @nest(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{[^:{}]*}}: !llvm.ptr)
// CHECK-NOT: llvm.func internal @nest_0
llvm.func @other_memory(%x: !llvm.ptr, %y: !llvm.ptr) {
  llvm.call @nest(%x, %y) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.call @nest_0(%x, %y) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
llvm.func internal @nest(%x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}) attributes {loopc.outlined} {
  %v = llvm.load %x : !llvm.ptr -> i64
  llvm.store %v, %y : i64, !llvm.ptr
  llvm.return
}
llvm.func internal @nest_0(%x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr) attributes {loopc.outlined} {
  %v = llvm.load %x : !llvm.ptr -> i64
  llvm.store %v, %y : i64, !llvm.ptr
  llvm.return
}

// -----

// Numbers of places count on from one section to the next, here by 5: they are
// sums of one argument, however many they are.
// CHECK-LABEL: llvm.func @places(
// CHECK: %[[FIRST:.*]] = llvm.mlir.constant(7 : i32) : i32
// CHECK: llvm.call @section(%{{.*}}, %[[FIRST]]) : (!llvm.ptr, i32) -> ()
// CHECK: %[[SECOND:.*]] = llvm.mlir.constant(12 : i32) : i32
// CHECK: llvm.call @section(%{{.*}}, %[[SECOND]]) : (!llvm.ptr, i32) -> ()
// CHECK: %[[THIRD:.*]] = llvm.mlir.constant(2 : i32) : i32
// CHECK: llvm.call @section(%{{.*}}, %[[THIRD]]) : (!llvm.ptr, i32) -> ()
// CHECK: llvm.func internal @section(%[[X:.*]]: !llvm.ptr, %[[PLACE:.*]]: i32)
// CHECK: %[[DISTANCE:.*]] = llvm.mlir.constant(-4 : i32) : i32
// CHECK: %[[OTHER:.*]] = llvm.add %[[PLACE]], %[[DISTANCE]] : i32
// CHECK: llvm.call @fail(%[[X]], %[[PLACE]])
// CHECK: llvm.call @fail(%[[X]], %[[OTHER]])
// CHECK: llvm.call @fail(%[[X]], %[[PLACE]])
// CHECK-NOT: llvm.func internal @section_0
llvm.func @fail(!llvm.ptr, i32)
llvm.func @places(%x: !llvm.ptr) {
  llvm.call @section(%x) : (!llvm.ptr) -> ()
  llvm.call @section_0(%x) : (!llvm.ptr) -> ()
  llvm.call @section_1(%x) : (!llvm.ptr) -> ()
  llvm.return
}
llvm.func internal @section(%x: !llvm.ptr) attributes {loopc.outlined} {
  %a = llvm.mlir.constant(7 : i32) : i32
  %b = llvm.mlir.constant(3 : i32) : i32
  llvm.call @fail(%x, %a) : (!llvm.ptr, i32) -> ()
  llvm.call @fail(%x, %b) : (!llvm.ptr, i32) -> ()
  llvm.call @fail(%x, %a) : (!llvm.ptr, i32) -> ()
  llvm.return
}
llvm.func internal @section_0(%x: !llvm.ptr) attributes {loopc.outlined} {
  %a = llvm.mlir.constant(12 : i32) : i32
  %b = llvm.mlir.constant(8 : i32) : i32
  llvm.call @fail(%x, %a) : (!llvm.ptr, i32) -> ()
  llvm.call @fail(%x, %b) : (!llvm.ptr, i32) -> ()
  llvm.call @fail(%x, %a) : (!llvm.ptr, i32) -> ()
  llvm.return
}
llvm.func internal @section_1(%x: !llvm.ptr) attributes {loopc.outlined} {
  %a = llvm.mlir.constant(2 : i32) : i32
  %b = llvm.mlir.constant(-2 : i32) : i32
  llvm.call @fail(%x, %a) : (!llvm.ptr, i32) -> ()
  llvm.call @fail(%x, %b) : (!llvm.ptr, i32) -> ()
  llvm.call @fail(%x, %a) : (!llvm.ptr, i32) -> ()
  llvm.return
}

// -----

// Distances in memory that count on are arguments each: no sum is made in front
// of loops.
// CHECK-LABEL: llvm.func @distances(
// CHECK: llvm.call @nest(%{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i64, i64) -> ()
// CHECK: llvm.func internal @nest(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-NOT: llvm.add
llvm.func @use(!llvm.ptr, i64)
llvm.func @distances(%x: !llvm.ptr) {
  llvm.call @nest(%x) : (!llvm.ptr) -> ()
  llvm.call @nest_0(%x) : (!llvm.ptr) -> ()
  llvm.return
}
llvm.func internal @nest(%x: !llvm.ptr) attributes {loopc.outlined} {
  %a = llvm.mlir.constant(7 : i64) : i64
  %b = llvm.mlir.constant(3 : i64) : i64
  llvm.call @use(%x, %a) : (!llvm.ptr, i64) -> ()
  llvm.call @use(%x, %b) : (!llvm.ptr, i64) -> ()
  llvm.return
}
llvm.func internal @nest_0(%x: !llvm.ptr) attributes {loopc.outlined} {
  %a = llvm.mlir.constant(12 : i64) : i64
  %b = llvm.mlir.constant(8 : i64) : i64
  llvm.call @use(%x, %a) : (!llvm.ptr, i64) -> ()
  llvm.call @use(%x, %b) : (!llvm.ptr, i64) -> ()
  llvm.return
}

// -----

// The number of a column is an argument where it is compared with others by
// umax, as by smax: columns of a table that a function is called for.
// CHECK-LABEL: llvm.func @columns(
// CHECK: llvm.call @nest({{.*}}) : (i64, i64) -> i64
// CHECK: llvm.call @nest({{.*}}) : (i64, i64) -> i64
// CHECK: llvm.func internal @nest(
// CHECK-NOT: llvm.func internal @nest_0
llvm.func @columns(%count: i64) -> i64 {
  %a = llvm.call @nest(%count) : (i64) -> i64
  %b = llvm.call @nest_0(%count) : (i64) -> i64
  %sum = llvm.add %a, %b : i64
  llvm.return %sum : i64
}
llvm.func internal @nest(%count: i64) -> i64 attributes {loopc.outlined} {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %n = llvm.mlir.constant(5 : i64) : i64
  llvm.br ^head(%c0, %c0 : i64, i64)
^head(%i: i64, %most: i64):
  %more = llvm.icmp "slt" %i, %count : i64
  llvm.cond_br %more, ^body, ^end
^body:
  %larger = llvm.intr.umax(%most, %n) : (i64, i64) -> i64
  %next = llvm.add %i, %c1 : i64
  llvm.br ^head(%next, %larger : i64, i64)
^end:
  llvm.return %most : i64
}
llvm.func internal @nest_0(%count: i64) -> i64 attributes {loopc.outlined} {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %n = llvm.mlir.constant(6 : i64) : i64
  llvm.br ^head(%c0, %c0 : i64, i64)
^head(%i: i64, %most: i64):
  %more = llvm.icmp "slt" %i, %count : i64
  llvm.cond_br %more, ^body, ^end
^body:
  %larger = llvm.intr.umax(%most, %n) : (i64, i64) -> i64
  %next = llvm.add %i, %c1 : i64
  llvm.br ^head(%next, %larger : i64, i64)
^end:
  llvm.return %most : i64
}
