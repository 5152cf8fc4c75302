// RUN: loopc-opt %s --split-input-file --loopc-divide-blocks=min-size=4 \
// RUN:   | FileCheck %s
// RUN: loopc-opt %s --split-input-file --loopc-divide-blocks=min-size=4 \
// RUN:   --convert-scf-to-cf --convert-loop-runtime-to-llvm \
// RUN:   | FileCheck %s --check-prefix=RUNTIME
// RUN: loopc-opt %s --split-input-file --loopc-divide-blocks \
// RUN:   | FileCheck %s --check-prefix=SMALL
// RUN: loopc-opt %s --split-input-file \
// RUN:   --loopc-divide-blocks="min-size=4 max-words=4" \
// RUN:   | FileCheck %s --check-prefix=WORDS
// RUN: loopc-opt %s --split-input-file \
// RUN:   --loopc-divide-blocks="min-size=4 max-handed-words=7" \
// RUN:   | FileCheck %s --check-prefix=HANDED

// A body becomes calls, each of a function that returns whether it failed and
// what is used behind it. The loop is then part of a section, too. Memory that
// one section allocates and another one releases is still known not to be
// handed out.
// SMALL-NOT: _section
// A buffer of one axis is five words, with an index six: only the section
// that returns one index is moved if four words are the most.
// WORDS-LABEL: func.func @carries(
// WORDS: scf.for
// WORDS: call @carries_section
// WORDS: memref.alloc
// WORDS: scf.yield
// WORDS: func.func private @carries_section
// WORDS-SAME: -> (i32, index)
// WORDS-NOT: func.func private @carries_section
// The section that is handed eight words stays if seven are the most.
// HANDED-LABEL: func.func @carries(
// HANDED: func.func private @carries_section(
// HANDED-SAME: -> (i32, memref<?xf32>, index)
// HANDED: func.func private @carries_section_0(
// HANDED: loop.check
// HANDED-NEXT: memref.dim
// HANDED-NOT: func.func private @carries_section_
// CHECK-LABEL: func.func @carries(
// CHECK-SAME: %[[THIS:[^:]+]]: !rt.run
// CHECK: %[[LAST:.*]]:2 = call @[[LOOP:carries_section[_0-9]*]](%[[THIS]], {{.*}}) : (!rt.run, index, i1) -> (i32, memref<?xf32>)
// CHECK-NEXT: loop.poll
// CHECK-NEXT: memref.dealloc %[[LAST]]#1
// CHECK: func.func private @[[SECOND:carries_section]](
// CHECK-SAME: -> (i32, memref<?xf32>, index)
// CHECK-SAME: llvm.linkage = #llvm.linkage<internal>
// CHECK-SAME: loopc.outlined
// CHECK: memref.alloc(%{{.*}}) {loopc.scratch}
// CHECK: func.func private @[[FIRST:carries_section_0]](
// CHECK: loop.check
// CHECK: func.func private @[[LOOP]](%[[HERE:[^:]+]]: !rt.run
// CHECK: scf.for %{{.*}} iter_args(%[[S:[^ ]+]] = %{{.*}}) -> (memref<?xf32>)
// CHECK-NEXT: %[[ONE:.*]]:2 = func.call @[[FIRST]](%[[HERE]], %{{.*}}, %[[S]], %{{.*}}) : (!rt.run, i1, memref<?xf32>, index) -> (i32, index)
// CHECK-NEXT: loop.poll
// CHECK-NEXT: %[[TWO:.*]]:3 = func.call @[[SECOND]](%[[HERE]], %[[ONE]]#1, %[[S]])
// CHECK-NEXT: loop.poll
// CHECK: memref.dealloc %[[TWO]]#1
// RUNTIME: func.func private @carries_section(
// RUNTIME: llvm.call @loopc_rt_alloc_scratch(
// RUNTIME: func.func private @carries_section_0(
// RUNTIME: %[[NO:.*]] = llvm.mlir.constant(1 : i32)
// RUNTIME: %[[NONE:.*]] = llvm.mlir.poison : i64
// RUNTIME: return %[[NO]], %{{.*}} : i32, index
func.func @carries(%run: !rt.run, %n: index, %p: i1) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  %first = memref.alloc(%n) : memref<?xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%s = %first) -> (memref<?xf32>) {
    %c2 = arith.constant 2 : index
    loop.check %p, "no"
    %d = memref.dim %s, %c0 : memref<?xf32>
    %e = arith.muli %d, %c2 : index
    %f = arith.addi %e, %n : index
    %t = memref.alloc(%f) : memref<?xf32>
    memref.dealloc %s : memref<?xf32>
    %d1 = memref.dim %t, %c0 : memref<?xf32>
    %e1 = arith.muli %d1, %c2 : index
    %f1 = arith.addi %e1, %n : index
    %u = memref.alloc(%f1) : memref<?xf32>
    memref.dealloc %t : memref<?xf32>
    scf.yield %u : memref<?xf32>
  }
  memref.dealloc %last : memref<?xf32>
  return %ok : i32
}

// -----

// Equal sections are one function, and what cannot fail is not asked. Without
// loops a function is divided where sections have the same operations.
// CHECK-LABEL: func.func @straight(
// CHECK-NOT: call
// CHECK: return
// CHECK-LABEL: func.func @alike(
// CHECK: call @[[ALIKE:.*_section]](
// CHECK-NEXT: call @[[ALIKE]](
// CHECK-NEXT: return
// CHECK-LABEL: func.func private @repeats_section(
// CHECK-SAME: %{{[^:]+}}: !rt.run, %{{[^:]+}}: memref<8xf32>) attributes
// CHECK: scf.for
// CHECK-NEXT: func.call @repeats_section(
// CHECK-NEXT: func.call @repeats_section(
// CHECK-NEXT: }
func.func @repeats(%run: !rt.run, %x: memref<8xf32>, %n: index) -> i32 {
  %ok = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%c0] : memref<8xf32>
    %b = arith.addf %a, %a : f32
    %c = arith.mulf %b, %b : f32
    memref.store %c, %x[%c0] : memref<8xf32>
    %d = memref.load %x[%c0] : memref<8xf32>
    %e = arith.addf %d, %d : f32
    %f = arith.mulf %e, %e : f32
    memref.store %f, %x[%c0] : memref<8xf32>
  }
  return %ok : i32
}

func.func @straight(%run: !rt.run, %x: memref<8xf32>) -> i32 {
  %ok = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%c0] : memref<8xf32>
  %b = arith.addf %a, %a : f32
  %c = arith.mulf %b, %b : f32
  memref.store %c, %x[%c0] : memref<8xf32>
  %d = memref.load %x[%c0] : memref<8xf32>
  %e = arith.subf %d, %d : f32
  %f = arith.mulf %e, %e : f32
  memref.store %f, %x[%c0] : memref<8xf32>
  return %ok : i32
}

func.func @alike(%run: !rt.run, %x: memref<8xf32>) -> i32 {
  %ok = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%c0] : memref<8xf32>
  %b = arith.addf %a, %a : f32
  %c = arith.mulf %b, %b : f32
  memref.store %c, %x[%c0] : memref<8xf32>
  %d = memref.load %x[%c0] : memref<8xf32>
  %e = arith.addf %d, %d : f32
  %f = arith.mulf %e, %e : f32
  memref.store %f, %x[%c0] : memref<8xf32>
  return %ok : i32
}

// -----

// Where layers repeat, each is a section, so that all of them are one function:
// the layers have seven operations, and four would be enough.
// CHECK-LABEL: func.func @layers(
// CHECK: call @[[LAYER:layers_section[_0-9]*]](
// CHECK-NEXT: call @[[LAYER]](
// CHECK-NEXT: call @[[LAYER]](
// CHECK-NEXT: return
func.func @layers(%run: !rt.run, %x: memref<8xf32>) -> i32 {
  %ok = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %a1 = memref.load %x[%c0] : memref<8xf32>
  %b1 = arith.addf %a1, %a1 : f32
  %m1 = arith.mulf %b1, %b1 : f32
  memref.store %m1, %x[%c0] : memref<8xf32>
  %d1 = memref.load %x[%c0] : memref<8xf32>
  %e1 = arith.subf %d1, %d1 : f32
  memref.store %e1, %x[%c0] : memref<8xf32>
  %a2 = memref.load %x[%c0] : memref<8xf32>
  %b2 = arith.addf %a2, %a2 : f32
  %m2 = arith.mulf %b2, %b2 : f32
  memref.store %m2, %x[%c0] : memref<8xf32>
  %d2 = memref.load %x[%c0] : memref<8xf32>
  %e2 = arith.subf %d2, %d2 : f32
  memref.store %e2, %x[%c0] : memref<8xf32>
  %a3 = memref.load %x[%c0] : memref<8xf32>
  %b3 = arith.addf %a3, %a3 : f32
  %m3 = arith.mulf %b3, %b3 : f32
  memref.store %m3, %x[%c0] : memref<8xf32>
  %d3 = memref.load %x[%c0] : memref<8xf32>
  %e3 = arith.subf %d3, %d3 : f32
  memref.store %e3, %x[%c0] : memref<8xf32>
  return %ok : i32
}
