// RUN: loopc-opt %s --split-input-file --nest-fuse-outermost | FileCheck %s

// What one head writes the same head reads next. Memory in between is made in
// front of both.
// CHECK-LABEL: func.func @heads(
// CHECK: memref.alloc() : memref<8x512x512xf32>
// CHECK: memref.alloc() : memref<8x512x512xf32>
// CHECK: scf.for %[[H:[^ ]+]] =
// CHECK: scf.for
// CHECK: scf.for %[[I:[^ ]+]] =
// CHECK: memref.load %{{.*}}[%[[H]], %[[I]], %[[I]]]
// CHECK: } {loopc.parallel}
// CHECK-NOT: scf.for
// CHECK: return
func.func @heads(%x: memref<8x512x512xf32>) -> memref<8x512x512xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c512 = arith.constant 512 : index
  %a = memref.alloc() : memref<8x512x512xf32>
  scf.for %h = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c512 step %c1 {
      %0 = memref.load %x[%h, %i, %c0] : memref<8x512x512xf32>
      memref.store %0, %a[%h, %i, %i] : memref<8x512x512xf32>
    }
  } {loopc.parallel}
  %b = memref.alloc() : memref<8x512x512xf32>
  scf.for %h = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c512 step %c1 {
      %0 = memref.load %a[%h, %i, %i] : memref<8x512x512xf32>
      memref.store %0, %b[%h, %i, %c0] : memref<8x512x512xf32>
    }
  } {loopc.parallel}
  memref.dealloc %a : memref<8x512x512xf32>
  return %b : memref<8x512x512xf32>
}

// -----

// Sequences of a batch become one nest, and so do the heads in them: as one
// behind the other they would be no nest for threads. Rows are read across.
// CHECK-LABEL: func.func @batch(
// CHECK: scf.for %[[B:[^ ]+]] =
// CHECK-NEXT: scf.for %[[H:[^ ]+]] =
// CHECK-NEXT: scf.for
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[B]], %[[H]],
// CHECK: }
// CHECK-NEXT: scf.for
// CHECK: memref.load %{{.*}}[%[[B]], %[[H]],
// CHECK: }
// CHECK-NEXT: } {loopc.parallel}
// CHECK-NEXT: } {loopc.parallel}
// CHECK-NOT: scf.for
// CHECK: return
func.func @batch(%x: memref<?x8x512x512xf32>, %n: index) -> memref<?x8x512x512xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c512 = arith.constant 512 : index
  %a = memref.alloc(%n) : memref<?x8x512x512xf32>
  %b = memref.alloc(%n) : memref<?x8x512x512xf32>
  scf.for %s = %c0 to %n step %c1 {
    scf.for %h = %c0 to %c8 step %c1 {
      scf.for %i = %c0 to %c512 step %c1 {
        %0 = memref.load %x[%s, %h, %i, %c0] : memref<?x8x512x512xf32>
        memref.store %0, %a[%s, %h, %i, %i] : memref<?x8x512x512xf32>
      } {loopc.parallel}
    } {loopc.parallel}
  } {loopc.parallel}
  scf.for %s = %c0 to %n step %c1 {
    scf.for %h = %c0 to %c8 step %c1 {
      scf.for %i = %c0 to %c512 step %c1 {
        %0 = memref.load %a[%s, %h, %i, %c0] : memref<?x8x512x512xf32>
        memref.store %0, %b[%s, %h, %i, %c0] : memref<?x8x512x512xf32>
      } {loopc.parallel}
    } {loopc.parallel}
  } {loopc.parallel}
  memref.dealloc %a : memref<?x8x512x512xf32>
  return %b : memref<?x8x512x512xf32>
}

// -----

// Each reads what all have written.
// CHECK-LABEL: func.func @across(
// CHECK: } {loopc.parallel}
// CHECK: scf.for
// CHECK: } {loopc.parallel}
func.func @across(%x: memref<8x512x512xf32>) -> memref<8x512x512xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %a = memref.alloc() : memref<8x512x512xf32>
  %b = memref.alloc() : memref<8x512x512xf32>
  scf.for %h = %c0 to %c8 step %c1 {
    %0 = memref.load %x[%h, %c0, %c0] : memref<8x512x512xf32>
    memref.store %0, %a[%h, %c0, %c0] : memref<8x512x512xf32>
  } {loopc.parallel}
  scf.for %h = %c0 to %c8 step %c1 {
    %0 = memref.load %a[%c0, %h, %c0] : memref<8x512x512xf32>
    memref.store %0, %b[%h, %c0, %c0] : memref<8x512x512xf32>
  } {loopc.parallel}
  memref.dealloc %a : memref<8x512x512xf32>
  return %b : memref<8x512x512xf32>
}

// -----

// Known by another name; one after the other: nests stay as they are.
// CHECK-LABEL: func.func @shared(
// CHECK: } {loopc.parallel}
// CHECK: scf.for
// CHECK: } {loopc.parallel}
func.func @shared(%a: memref<8x512x512xf32>, %b: memref<8x512x512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  scf.for %h = %c0 to %c8 step %c1 {
    memref.store %one, %a[%h, %c0, %c0] : memref<8x512x512xf32>
  } {loopc.parallel}
  scf.for %h = %c0 to %c8 step %c1 {
    %0 = memref.load %a[%h, %c0, %c0] : memref<8x512x512xf32>
    memref.store %0, %b[%h, %c0, %c0] : memref<8x512x512xf32>
  } {loopc.parallel}
  return
}

// -----

// So small that all of it stays in a cache.
// CHECK-LABEL: func.func @small(
// CHECK: } {loopc.parallel}
// CHECK: scf.for
// CHECK: } {loopc.parallel}
func.func @small(%x: memref<8x16xf32>) -> memref<8x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %a = memref.alloc() : memref<8x16xf32>
  %b = memref.alloc() : memref<8x16xf32>
  scf.for %h = %c0 to %c8 step %c1 {
    %0 = memref.load %x[%h, %c0] : memref<8x16xf32>
    memref.store %0, %a[%h, %c0] : memref<8x16xf32>
  } {loopc.parallel}
  scf.for %h = %c0 to %c8 step %c1 {
    %0 = memref.load %a[%h, %c0] : memref<8x16xf32>
    memref.store %0, %b[%h, %c0] : memref<8x16xf32>
  } {loopc.parallel}
  memref.dealloc %a : memref<8x16xf32>
  return %b : memref<8x16xf32>
}

// -----

// A small nest in between comes along, as rows of softmax do.
// CHECK-LABEL: func.func @between(
// CHECK: scf.for
// CHECK: } {loopc.parallel}
// CHECK-NOT: scf.for
// CHECK: return
func.func @between(%x: memref<8x512x512xf32>) -> memref<8x512x512xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<8x512x512xf32>
  scf.for %h = %c0 to %c8 step %c1 {
    %0 = memref.load %x[%h, %c0, %c0] : memref<8x512x512xf32>
    memref.store %0, %a[%h, %c0, %c1] : memref<8x512x512xf32>
  } {loopc.parallel}
  %s = memref.alloc() : memref<8xf32>
  scf.for %h = %c0 to %c8 step %c1 {
    memref.store %one, %s[%h] : memref<8xf32>
  } {loopc.parallel}
  %b = memref.alloc() : memref<8x512x512xf32>
  scf.for %h = %c0 to %c8 step %c1 {
    %0 = memref.load %a[%h, %c0, %c1] : memref<8x512x512xf32>
    %1 = memref.load %s[%h] : memref<8xf32>
    %2 = arith.addf %0, %1 : f32
    memref.store %2, %b[%h, %c0, %c0] : memref<8x512x512xf32>
  } {loopc.parallel}
  memref.dealloc %a : memref<8x512x512xf32>
  memref.dealloc %s : memref<8xf32>
  return %b : memref<8x512x512xf32>
}

// -----

// The vector that an iteration reads is what the next fifteen write.
// CHECK-LABEL: func.func @windows(
// CHECK: } {loopc.parallel}
// CHECK: scf.for
// CHECK: } {loopc.parallel}
func.func @windows(%x: memref<262144xf32>) -> memref<262144xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 262128 : index
  %a = memref.alloc() : memref<262144xf32>
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %x[%i] : memref<262144xf32>
    memref.store %0, %a[%i] : memref<262144xf32>
  } {loopc.parallel}
  %b = memref.alloc() : memref<262144xf32>
  scf.for %i = %c0 to %n step %c1 {
    %0 = vector.load %a[%i] : memref<262144xf32>, vector<16xf32>
    %1 = vector.reduction <maximumf>, %0 : vector<16xf32> into f32
    memref.store %1, %b[%i] : memref<262144xf32>
  } {loopc.parallel}
  memref.dealloc %a : memref<262144xf32>
  return %b : memref<262144xf32>
}

// -----

// A small fill of what the first nest does not know stands in front of both.
// CHECK-LABEL: func.func @fill_between(
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[C64:.*]] step
// CHECK: } {loopc.parallel}
// CHECK: scf.for %[[H:[^ ]+]] =
// CHECK: memref.store %{{.*}}, %[[A:.*]][%[[H]],
// CHECK-NOT: scf.for
// CHECK: memref.load %[[A]][%[[H]],
// CHECK: return
func.func @fill_between(%x: memref<8x512x512xf32>) -> memref<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<8x512x512xf32>
  scf.for %h = %c0 to %c8 step %c1 {
    %0 = memref.load %x[%h, %c0, %c0] : memref<8x512x512xf32>
    memref.store %0, %a[%h, %c0, %c0] : memref<8x512x512xf32>
  } {loopc.parallel}
  %b = memref.alloc() : memref<8x8xf32>
  %flat = memref.collapse_shape %b [[0, 1]] : memref<8x8xf32> into memref<64xf32>
  scf.for %i = %c0 to %c64 step %c1 {
    memref.store %zero, %flat[%i] : memref<64xf32>
  } {loopc.parallel}
  scf.for %h = %c0 to %c8 step %c1 {
    %0 = memref.load %a[%h, %c0, %c0] : memref<8x512x512xf32>
    %1 = memref.load %b[%h, %c0] : memref<8x8xf32>
    %2 = arith.addf %0, %1 : f32
    memref.store %2, %b[%h, %c0] : memref<8x8xf32>
  } {loopc.parallel}
  memref.dealloc %a : memref<8x512x512xf32>
  return %b : memref<8x8xf32>
}

// -----

// A fill of what the first nest reads stays behind it.
// CHECK-LABEL: func.func @fill_behind(
// CHECK: scf.for
// CHECK: memref.load
// CHECK: } {loopc.parallel}
// CHECK: scf.for
// CHECK: } {loopc.parallel}
// CHECK: scf.for
// CHECK: } {loopc.parallel}
func.func @fill_behind(%x: memref<8x512x512xf32>) -> memref<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<8x512x512xf32>
  %b = memref.alloc() : memref<8x8xf32>
  %flat = memref.collapse_shape %b [[0, 1]] : memref<8x8xf32> into memref<64xf32>
  scf.for %h = %c0 to %c8 step %c1 {
    %0 = memref.load %x[%h, %c0, %c0] : memref<8x512x512xf32>
    memref.store %0, %a[%h, %c0, %c0] : memref<8x512x512xf32>
    memref.store %0, %b[%h, %c0] : memref<8x8xf32>
  } {loopc.parallel}
  scf.for %i = %c0 to %c64 step %c1 {
    memref.store %zero, %flat[%i] : memref<64xf32>
  } {loopc.parallel}
  scf.for %h = %c0 to %c8 step %c1 {
    %0 = memref.load %a[%h, %c0, %c0] : memref<8x512x512xf32>
    memref.store %0, %b[%h, %c0] : memref<8x8xf32>
  } {loopc.parallel}
  memref.dealloc %a : memref<8x512x512xf32>
  return %b : memref<8x8xf32>
}

// Both nests use one buffer that is marked as each iteration's own. Where that is
// so they become one; where an iteration of the second reads what the first nest
// has left there they stay.
// CHECK-LABEL: func.func @own(
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func @own(%x: memref<4194304xf32>) -> memref<4194304xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4194304 : index
  %y = memref.alloc() : memref<4194304xf32>
  %z = memref.alloc() : memref<4194304xf32>
  %own = memref.alloc() {loopc.private} : memref<1xf32>
  scf.for %j = %c0 to %n step %c1 {
    %0 = memref.load %x[%j] : memref<4194304xf32>
    memref.store %0, %own[%c0] : memref<1xf32>
    %1 = memref.load %own[%c0] : memref<1xf32>
    memref.store %1, %y[%j] : memref<4194304xf32>
  } {loopc.parallel}
  scf.for %j = %c0 to %n step %c1 {
    %0 = memref.load %y[%j] : memref<4194304xf32>
    memref.store %0, %own[%c0] : memref<1xf32>
    %1 = memref.load %own[%c0] : memref<1xf32>
    memref.store %1, %z[%j] : memref<4194304xf32>
  } {loopc.parallel}
  memref.dealloc %own : memref<1xf32>
  memref.dealloc %y : memref<4194304xf32>
  return %z : memref<4194304xf32>
}

// CHECK-LABEL: func.func @not_own(
// CHECK-COUNT-2: scf.for
// CHECK: return
func.func @not_own(%x: memref<4194304xf32>) -> memref<4194304xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4194304 : index
  %y = memref.alloc() : memref<4194304xf32>
  %z = memref.alloc() : memref<4194304xf32>
  %own = memref.alloc() {loopc.private} : memref<2xf32>
  scf.for %j = %c0 to %n step %c1 {
    %0 = memref.load %x[%j] : memref<4194304xf32>
    memref.store %0, %own[%c0] : memref<2xf32>
    memref.store %0, %own[%c1] : memref<2xf32>
    %1 = memref.load %own[%c0] : memref<2xf32>
    memref.store %1, %y[%j] : memref<4194304xf32>
  } {loopc.parallel}
  scf.for %j = %c0 to %n step %c1 {
    %0 = memref.load %y[%j] : memref<4194304xf32>
    memref.store %0, %own[%c0] : memref<2xf32>
    %1 = memref.load %own[%c1] : memref<2xf32>
    memref.store %1, %z[%j] : memref<4194304xf32>
  } {loopc.parallel}
  memref.dealloc %own : memref<2xf32>
  memref.dealloc %y : memref<4194304xf32>
  return %z : memref<4194304xf32>
}

// -----

// A head's rows and columns may be one axis of a view.
// CHECK-LABEL: func.func @rows_of_heads(
// CHECK: memref.collapse_shape
// CHECK: scf.for %[[H:[^ ]+]] =
// CHECK: scf.for
// CHECK: scf.for
// CHECK: } {loopc.parallel}
// CHECK-NOT: scf.for
// CHECK: return
func.func @rows_of_heads(%x: memref<8x512x512xf32>) -> memref<8x512x512xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c512 = arith.constant 512 : index
  %a = memref.alloc() : memref<8x512x512xf32>
  %rows = memref.collapse_shape %a [[0], [1, 2]] : memref<8x512x512xf32> into memref<8x262144xf32>
  scf.for %h = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c512 step %c1 {
      %0 = memref.load %x[%h, %i, %c0] : memref<8x512x512xf32>
      memref.store %0, %rows[%h, %i] : memref<8x262144xf32>
    }
  } {loopc.parallel}
  %b = memref.alloc() : memref<8x512x512xf32>
  scf.for %h = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c512 step %c1 {
      %0 = memref.load %a[%h, %i, %i] : memref<8x512x512xf32>
      memref.store %0, %b[%h, %i, %c0] : memref<8x512x512xf32>
    }
  } {loopc.parallel}
  memref.dealloc %a : memref<8x512x512xf32>
  return %b : memref<8x512x512xf32>
}

// -----

// Heads and rows are one axis: two heads may have the same number along it.
// CHECK-LABEL: func.func @heads_and_rows(
// CHECK: } {loopc.parallel}
// CHECK: scf.for
// CHECK: } {loopc.parallel}
func.func @heads_and_rows(%x: memref<8x512x512xf32>) -> memref<8x512x512xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %a = memref.alloc() : memref<8x512x512xf32>
  %rows = memref.collapse_shape %a [[0, 1], [2]] : memref<8x512x512xf32> into memref<4096x512xf32>
  scf.for %h = %c0 to %c8 step %c1 {
    %0 = memref.load %x[%h, %c0, %c0] : memref<8x512x512xf32>
    memref.store %0, %rows[%h, %c0] : memref<4096x512xf32>
  } {loopc.parallel}
  %b = memref.alloc() : memref<8x512x512xf32>
  scf.for %h = %c0 to %c8 step %c1 {
    %0 = memref.load %a[%h, %c0, %c0] : memref<8x512x512xf32>
    memref.store %0, %b[%h, %c0, %c0] : memref<8x512x512xf32>
  } {loopc.parallel}
  memref.dealloc %a : memref<8x512x512xf32>
  return %b : memref<8x512x512xf32>
}

// -----

// The border of an image that the second one pads stands in front: rows are
// read while they are in a cache.
// CHECK-LABEL: func.func @padded(
// CHECK: memref.alloc() : memref<322x322x32xf32>
// CHECK: scf.for
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.store %cst
// CHECK: scf.for
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.store %cst
// CHECK: scf.for %[[I:[^ ]+]] =
// CHECK-NEXT: scf.for
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[I]],
// CHECK-NEXT: }
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.load %{{.*}}[%[[I]],
// CHECK: } {loopc.parallel}
// CHECK-NOT: scf.for
// CHECK: return
func.func @padded(%x: memref<320x320x32xf32>) -> memref<322x322x32xf32> {
  %cst = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c320 = arith.constant 320 : index
  %c322 = arith.constant 322 : index
  %a = memref.alloc() : memref<320x320x32xf32>
  scf.for %i = %c0 to %c320 step %c1 {
    scf.for %j = %c0 to %c320 step %c1 {
      %0 = memref.load %x[%i, %j, %c0] : memref<320x320x32xf32>
      memref.store %0, %a[%i, %j, %c0] : memref<320x320x32xf32>
    }
  } {loopc.parallel}
  %b = memref.alloc() : memref<322x322x32xf32>
  %top = memref.subview %b[0, 0, 0] [1, 322, 32] [1, 1, 1] : memref<322x322x32xf32> to memref<1x322x32xf32, strided<[10304, 32, 1]>>
  scf.for %j = %c0 to %c322 step %c1 {
    scf.for %k = %c0 to %c1 step %c1 {
      memref.store %cst, %top[%k, %j, %c0] : memref<1x322x32xf32, strided<[10304, 32, 1]>>
    }
  } {loopc.parallel}
  %left = memref.subview %b[1, 0, 0] [320, 1, 32] [1, 1, 1] : memref<322x322x32xf32> to memref<320x1x32xf32, strided<[10304, 32, 1], offset: 10304>>
  scf.for %i = %c0 to %c320 step %c1 {
    scf.for %k = %c0 to %c1 step %c1 {
      memref.store %cst, %left[%i, %k, %c0] : memref<320x1x32xf32, strided<[10304, 32, 1], offset: 10304>>
    }
  } {loopc.parallel}
  %inside = memref.subview %b[1, 1, 0] [320, 320, 32] [1, 1, 1] : memref<322x322x32xf32> to memref<320x320x32xf32, strided<[10304, 32, 1], offset: 10336>>
  scf.for %i = %c0 to %c320 step %c1 {
    scf.for %j = %c0 to %c320 step %c1 {
      %0 = memref.load %a[%i, %j, %c0] : memref<320x320x32xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %inside[%i, %j, %c0] : memref<320x320x32xf32, strided<[10304, 32, 1], offset: 10336>>
    }
  } {loopc.parallel}
  memref.dealloc %a : memref<320x320x32xf32>
  return %b : memref<322x322x32xf32>
}
