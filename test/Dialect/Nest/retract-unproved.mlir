// RUN: loopc-opt %s --nest-retract-unproved | FileCheck %s
// RUN: loopc-opt %s --pass-pipeline='builtin.module(func.func(nest-retract-unproved))' \
// RUN:   --remark-format=emitRemark --remarks-filter=loop 2>&1 | FileCheck %s --check-prefix=REMARK

// Rows are independent, windows in them are not, as they overlap.
// REMARK: remark: {{.*}}its iterations are said to be independent, and that is not proved: iterations may write to one place
// CHECK-LABEL: func.func @rows
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: } {loopc.parallel}
func.func @rows(%x: memref<?x?xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      scf.for %k = %c0 to %c8 step %c1 {
        %at = arith.addi %j, %k : index
        memref.store %f, %x[%i, %at] : memref<?x?xf32>
      }
    } {loopc.parallel}
  } {loopc.parallel}
  return
}
