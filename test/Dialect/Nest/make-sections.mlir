// RUN: loopc-opt %s --split-input-file --nest-make-sections | FileCheck %s
// RUN: loopc-opt %s --split-input-file --nest-make-sections --nest-retract-unproved | FileCheck %s

// Two recurrences that do not need one another run side by side. What is made
// for the second one comes before both, what needs the first one behind both,
// the part that it fills of a result, too: the second one gets another part.
// CHECK-LABEL: func.func @directions(
// CHECK: %[[Y:.*]] = memref.alloc() : memref<2x4096xf32>
// CHECK: %[[OTHER:.*]] = memref.subview %[[Y]][1, 0]
// CHECK: scf.for
// CHECK-NEXT: memref.load %[[OTHER]]
// CHECK: } {loopc.parallel}
// CHECK: scf.for %[[K:[^ ]+]] =
// CHECK-NEXT: scf.index_switch %[[K]]
// CHECK-NEXT: case 0 {
// CHECK-NEXT: scf.for
// CHECK: default {
// CHECK-NEXT: scf.for
// CHECK: loop.poll
// CHECK: } {loopc.parallel}
// CHECK-NEXT: scf.for
// CHECK: } {loopc.parallel}
// CHECK-NEXT: memref.dealloc
func.func @directions(%x: memref<4096xf32>, %y: memref<4096xf32>, %n: index) -> memref<2x4096xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4096 = arith.constant 4096 : index
  %result = memref.alloc() : memref<2x4096xf32>
  %first = memref.alloc() : memref<4096xf32>
  scf.for %t = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c4096 step %c1 {
      %0 = memref.load %first[%i] : memref<4096xf32>
      %1 = math.tanh %0 : f32
      memref.store %1, %first[%i] : memref<4096xf32>
    } {loopc.parallel}
    loop.poll
  }
  %one = memref.subview %result[0, 0] [1, 4096] [1, 1] : memref<2x4096xf32> to memref<4096xf32, strided<[1]>>
  scf.for %i = %c0 to %c4096 step %c1 {
    %0 = memref.load %first[%i] : memref<4096xf32>
    memref.store %0, %one[%i] : memref<4096xf32, strided<[1]>>
  } {loopc.parallel}
  memref.dealloc %first : memref<4096xf32>
  %second = memref.alloc() : memref<4096xf32>
  %other = memref.subview %result[1, 0] [1, 4096] [1, 1] : memref<2x4096xf32> to memref<4096xf32, strided<[1], offset: 4096>>
  scf.for %i = %c0 to %c4096 step %c1 {
    %0 = memref.load %other[%i] : memref<4096xf32, strided<[1], offset: 4096>>
    memref.store %0, %second[%i] : memref<4096xf32>
  } {loopc.parallel}
  scf.for %t = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c4096 step %c1 {
      %0 = memref.load %second[%i] : memref<4096xf32>
      %1 = math.tanh %0 : f32
      memref.store %1, %second[%i] : memref<4096xf32>
    } {loopc.parallel}
    loop.poll
  }
  memref.dealloc %second : memref<4096xf32>
  return %result : memref<2x4096xf32>
}

// -----

// What one writes the other one reads: they stay behind one another.
// CHECK-LABEL: func.func @chain(
// CHECK-NOT: scf.index_switch
// CHECK: return
func.func @chain(%x: memref<4096xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4096 = arith.constant 4096 : index
  %a = memref.alloc() : memref<4096xf32>
  %b = memref.alloc() : memref<4096xf32>
  scf.for %t = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c4096 step %c1 {
      %0 = memref.load %a[%i] : memref<4096xf32>
      %1 = math.tanh %0 : f32
      memref.store %1, %a[%i] : memref<4096xf32>
    } {loopc.parallel}
  }
  scf.for %t = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c4096 step %c1 {
      %0 = memref.load %b[%i] : memref<4096xf32>
      %1 = memref.load %a[%i] : memref<4096xf32>
      %2 = arith.addf %0, %1 : f32
      %3 = math.tanh %2 : f32
      memref.store %3, %b[%i] : memref<4096xf32>
    } {loopc.parallel}
  }
  return
}

// -----

// Of two buffers that take turns the number of iterations says which one is the
// last; an end in front of the begin makes none.
// CHECK-LABEL: func.func @turns(
// CHECK-SAME: %[[N:[^ :]+]]: index
// CHECK-DAG: %[[A:.*]] = memref.alloc() : memref<4096xf32>
// CHECK: %[[B:.*]] = memref.alloc() : memref<4096xf32>
// CHECK: scf.index_switch
// CHECK: default {
// CHECK: } {loopc.parallel}
// CHECK: } {loopc.parallel}
// CHECK-NEXT: %[[TRIPS:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-NEXT: %[[MADE:.*]] = arith.maxsi %[[TRIPS]], %[[ZERO]] : i64
// CHECK-NEXT: %[[ODD:.*]] = arith.trunci %[[MADE]] : i64 to i1
// CHECK-NEXT: %[[LAST:.*]] = arith.select %[[ODD]], %[[B]], %[[A]] : memref<4096xf32>
// CHECK: return %[[LAST]]
func.func @turns(%n: index) -> memref<4096xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4096 = arith.constant 4096 : index
  %a = memref.alloc() : memref<4096xf32>
  %b = memref.alloc() : memref<4096xf32>
  %c = memref.alloc() : memref<4096xf32>
  %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%p = %a, %q = %b) -> (memref<4096xf32>, memref<4096xf32>) {
    scf.for %i = %c0 to %c4096 step %c1 {
      %0 = memref.load %p[%i] : memref<4096xf32>
      %1 = math.tanh %0 : f32
      memref.store %1, %q[%i] : memref<4096xf32>
    } {loopc.parallel}
    scf.yield %q, %p : memref<4096xf32>, memref<4096xf32>
  }
  scf.for %t = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c4096 step %c1 {
      %0 = memref.load %c[%i] : memref<4096xf32>
      %1 = math.tanh %0 : f32
      memref.store %1, %c[%i] : memref<4096xf32>
    } {loopc.parallel}
  }
  memref.dealloc %r#1 : memref<4096xf32>
  memref.dealloc %c : memref<4096xf32>
  return %r#0 : memref<4096xf32>
}

// -----

// A part that goes backwards begins behind the other one, and ends in it: what
// copies it stays behind the loop that writes there.
// CHECK-LABEL: func.func @backwards(
// CHECK-SAME: %[[X:[^ :]+]]: memref<8192xf32>
// CHECK: %[[ONE:.*]] = memref.subview %[[X]][0] [4096] [1]
// CHECK: %[[OTHER:.*]] = memref.subview %[[X]][8191] [8192] [-1]
// CHECK: scf.index_switch
// CHECK: default {
// CHECK: } {loopc.parallel}
// CHECK: } {loopc.parallel}
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.load %[[OTHER]]
func.func @backwards(%x: memref<8192xf32>, %y: memref<4096xf32>, %out: memref<8192xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4096 = arith.constant 4096 : index
  %c8192 = arith.constant 8192 : index
  %one = memref.subview %x[0] [4096] [1] : memref<8192xf32> to memref<4096xf32, strided<[1]>>
  %other = memref.subview %x[8191] [8192] [-1] : memref<8192xf32> to memref<8192xf32, strided<[-1], offset: 8191>>
  scf.for %t = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c4096 step %c1 {
      %0 = memref.load %one[%i] : memref<4096xf32, strided<[1]>>
      %1 = math.tanh %0 : f32
      memref.store %1, %one[%i] : memref<4096xf32, strided<[1]>>
    } {loopc.parallel}
  }
  scf.for %i = %c0 to %c8192 step %c1 {
    %0 = memref.load %other[%i] : memref<8192xf32, strided<[-1], offset: 8191>>
    memref.store %0, %out[%i] : memref<8192xf32>
  } {loopc.parallel}
  scf.for %t = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c4096 step %c1 {
      %0 = memref.load %y[%i] : memref<4096xf32>
      %1 = math.tanh %0 : f32
      memref.store %1, %y[%i] : memref<4096xf32>
    } {loopc.parallel}
  }
  return
}

// -----

// What the first loop leaves behind is checked, so that the check comes behind
// both: the second one, which may count on it, stays there, and so does a
// quotient.
// CHECK-LABEL: func.func @checked(
// CHECK-NOT: scf.index_switch
// CHECK: loop.check
// CHECK-NEXT: arith.divsi
// CHECK-NEXT: scf.for
// CHECK-NOT: scf.index_switch
// CHECK: return
func.func @checked(%x: memref<4096xf32>, %y: memref<?xf32>, %z: memref<4096xf32>, %at: index, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4096 = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4096xf32>
  scf.for %t = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c4096 step %c1 {
      %0 = memref.load %x[%i] : memref<4096xf32>
      %1 = math.tanh %0 : f32
      memref.store %1, %a[%i] : memref<4096xf32>
    } {loopc.parallel}
  }
  %extent = memref.dim %y, %c0 : memref<?xf32>
  %found = memref.load %a[%c0] : memref<4096xf32>
  %isSmall = arith.cmpf olt, %found, %zero : f32
  %isInside = arith.cmpi ult, %at, %extent : index
  %holds = arith.andi %isSmall, %isInside : i1
  loop.check %holds, "there is no such element"
  %quotient = arith.divsi %c4096, %at : index
  scf.for %t = %c0 to %n step %c1 {
    %0 = memref.load %y[%at] : memref<?xf32>
    scf.for %i = %c0 to %c4096 step %c1 {
      %1 = memref.load %z[%i] : memref<4096xf32>
      %2 = arith.addf %0, %1 : f32
      %3 = math.tanh %2 : f32
      memref.store %3, %z[%i] : memref<4096xf32>
    } {loopc.parallel}
  }
  memref.dealloc %a : memref<4096xf32>
  return %quotient : index
}
