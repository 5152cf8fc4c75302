// RUN: loopc-opt %s --loopc-outline-nests --split-input-file | FileCheck %s
// RUN: loopc-opt %s --loopc-outline-nests=min-ops=1 --split-input-file \
// RUN:   | FileCheck %s --check-prefix=OUTLINED

// Where a loop reads is known once it is read where: LLVM is told that it is
// not where the loop writes. Loops that are outlined keep what is said of them.
// CHECK: #[[GROUP:.*]] = #llvm.access_group<id = distinct[0]<>>
// CHECK: #[[SAID:.*]] = #llvm.loop_annotation<parallelAccesses = #[[GROUP]]>
// CHECK-LABEL: func.func @look_up(
// CHECK: llvm.loop_annotation = #[[SAID]]
// OUTLINED: #[[BOTH:.*]] = #llvm.loop_annotation<unroll = {{.*}}, parallelAccesses = #{{.*}}>
// OUTLINED: llvm.loop_annotation = #[[BOTH]]
func.func @look_up(%x: memref<?xf32>, %at: memref<?xi64>, %y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %at[%i] : memref<?xi64>
    %j = arith.index_cast %k : i64 to index
    %v = memref.load %x[%j] : memref<?xf32>
    memref.store %v, %y[%i] : memref<?xf32>
  } {loopc.parallel}
  return
}

// -----

// Nobody said that iterations are independent, LLVM sees where it reads, all
// write to one place, or each thread has memory of its own.
// CHECK-NOT: llvm.loop_annotation
// CHECK-LABEL: func.func @others(
// CHECK-NOT: llvm.loop_annotation
func.func @others(%x: memref<?xf32>, %at: memref<?xi64>, %y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %own = memref.alloc() {loopc.private} : memref<1xi64>
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %at[%i] : memref<?xi64>
    %j = arith.index_cast %k : i64 to index
    %v = memref.load %x[%j] : memref<?xf32>
    memref.store %v, %x[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %y[%i] : memref<?xf32>
  } {loopc.parallel}
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %at[%i] : memref<?xi64>
    %j = arith.index_cast %k : i64 to index
    %v = memref.load %x[%j] : memref<?xf32>
    memref.store %v, %y[%c0] : memref<?xf32>
  } {loopc.parallel}
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %at[%i] : memref<?xi64>
    memref.store %k, %own[%c0] : memref<1xi64>
    %l = memref.load %own[%c0] : memref<1xi64>
    %j = arith.index_cast %l : i64 to index
    %v = memref.load %x[%j] : memref<?xf32>
    memref.store %v, %y[%i] : memref<?xf32>
  } {loopc.parallel}
  memref.dealloc %own : memref<1xi64>
  return
}

// -----

// Of what LLVM shall make no vectors nothing is said, and that it stays said.
// CHECK: #[[SCALAR:.*]] = #llvm.loop_annotation<vectorize = {{.*}}>
// CHECK-NOT: access_group
// CHECK-LABEL: func.func @scalar(
// CHECK: llvm.loop_annotation = #[[SCALAR]]
func.func @scalar(%x: memref<?xi8>, %at: memref<?xi8>, %y: memref<?xi8>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %at[%i] : memref<?xi8>
    %j = arith.index_castui %k : i8 to index
    %v = memref.load %x[%j] : memref<?xi8>
    memref.store %v, %y[%i] : memref<?xi8>
  } {llvm.loop_annotation = #llvm.loop_annotation<vectorize = <disable = true>>, loopc.parallel}
  return
}
