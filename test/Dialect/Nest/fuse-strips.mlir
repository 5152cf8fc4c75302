// RUN: loopc-opt %s --split-input-file --nest-fuse-strips --canonicalize | FileCheck %s

// Each iteration of the pooling computes the two rows that it reads; the last
// row of the image, which nobody reads, is not computed. The batch is one place
// that both know. Each iteration writes what it reads, so that threads have their
// own rows.
// CHECK-LABEL: func.func @pooling(
// CHECK-SAME: %[[X:[^:]+]]: memref<?x901x300xf32>
// CHECK: %[[ROWS:.*]] = memref.alloc() {loopc.private} : memref<1x2x300xf32>
// CHECK-NOT: memref.alloc{{.*}}901
// CHECK: scf.for %[[B:[^ ]+]] =
// CHECK-NEXT: scf.for %[[I:[^ ]+]] = %c0 to %c450 step
// CHECK: scf.for %[[R:[^ ]+]] = %c0 to %c2 step
// CHECK-NEXT: %[[AT:.*]] = arith.addi %{{.*}}, %[[R]]
// CHECK-NEXT: scf.for %[[J:[^ ]+]] =
// CHECK-NEXT: memref.load %[[X]][%[[B]], %[[AT]], %[[J]]]
// CHECK: memref.store %{{.*}}, %[[ROWS]][%c0, %[[R]], %[[J]]]
// CHECK: } {loopc.parallel}
// CHECK: scf.for %[[J:[^ ]+]] =
// CHECK-NEXT: scf.for %[[W:[^ ]+]] = %c0 to %c2
// CHECK: memref.load %[[ROWS]][%c0, %[[W]], %[[J]]]
// CHECK: } {loopc.parallel}
// CHECK-NEXT: } {loopc.parallel}
// CHECK-NEXT: } {loopc.parallel}
// CHECK-NEXT: memref.dealloc %[[ROWS]]
#row = affine_map<(d0, d1) -> (d0 * 2 + d1)>
func.func @pooling(%x: memref<?x901x300xf32>, %n: index) -> memref<?x450x300xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c300 = arith.constant 300 : index
  %c450 = arith.constant 450 : index
  %c901 = arith.constant 901 : index
  %zero = arith.constant 0.0 : f32
  %image = memref.alloc(%n) : memref<?x901x300xf32>
  %result = memref.alloc(%n) : memref<?x450x300xf32>
  scf.for %b = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c901 step %c1 {
      scf.for %j = %c0 to %c300 step %c1 {
        %0 = memref.load %x[%b, %i, %j] : memref<?x901x300xf32>
        %1 = arith.maximumf %0, %zero : f32
        memref.store %1, %image[%b, %i, %j] : memref<?x901x300xf32>
      } {loopc.parallel}
    } {loopc.parallel}
    scf.for %i = %c0 to %c450 step %c1 {
      scf.for %j = %c0 to %c300 step %c1 {
        %most = scf.for %w = %c0 to %c2 step %c1 iter_args(%m = %zero) -> f32 {
          %at = affine.apply #row(%i, %w)
          %0 = memref.load %image[%b, %at, %j] : memref<?x901x300xf32>
          %1 = arith.maximumf %0, %m : f32
          scf.yield %1 : f32
        }
        memref.store %most, %result[%b, %i, %j] : memref<?x450x300xf32>
      } {loopc.parallel}
    } {loopc.parallel}
  } {loopc.parallel}
  memref.dealloc %image : memref<?x901x300xf32>
  return %result : memref<?x450x300xf32>
}

// -----

// Fewer rows may be written than are read: then each iteration has its own. What
// is freed in between is freed behind.
// CHECK-LABEL: func.func @open(
// CHECK-SAME: %[[N:[^:]+]]: index, %[[M:[^:]+]]: index
// CHECK: %[[X:.*]] = memref.alloc() : memref<900x400xf32>
// CHECK-NOT: memref.dealloc
// CHECK: scf.for %[[I:[^ ]+]] = %c0 to %[[M]] step
// CHECK: %[[ROWS:.*]] = memref.alloc() : memref<3x400xf32>
// CHECK: %[[FIRST:.*]] = arith.muli %[[I]], %c3
// CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %[[FIRST]]
// CHECK: %[[COUNT:.*]] = arith.minsi %[[LEFT]], %c3
// CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]] step
// CHECK: memref.load %[[ROWS]][%c2,
// CHECK: } {loopc.parallel}
// CHECK-NEXT: memref.dealloc %[[X]]
// An image of open rows may stay in a cache, and a loop allocates nothing.
// CHECK-LABEL: func.func @in_loop(
// CHECK: memref.alloc() : memref<900x400xf32>
// CHECK: scf.for
// CHECK-NOT: memref.alloc
// CHECK: return
#last = affine_map<(d0) -> (d0 * 3 + 2)>
func.func @open(%n: index, %m: index) -> memref<?x400xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c400 = arith.constant 400 : index
  %x = memref.alloc() : memref<900x400xf32>
  call @fill(%x) : (memref<900x400xf32>) -> ()
  %image = memref.alloc() : memref<900x400xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c400 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<900x400xf32>
      memref.store %0, %image[%i, %j] : memref<900x400xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  memref.dealloc %x : memref<900x400xf32>
  %result = memref.alloc(%m) : memref<?x400xf32>
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %c400 step %c1 {
      %at = affine.apply #last(%i)
      %0 = memref.load %image[%at, %j] : memref<900x400xf32>
      memref.store %0, %result[%i, %j] : memref<?x400xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  memref.dealloc %image : memref<900x400xf32>
  return %result : memref<?x400xf32>
}
func.func @in_loop(%x: memref<900x400xf32>, %y: memref<300x400xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c300 = arith.constant 300 : index
  %c400 = arith.constant 400 : index
  %c900 = arith.constant 900 : index
  %image = memref.alloc() : memref<900x400xf32>
  %result = memref.alloc() : memref<300x400xf32>
  scf.for %k = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c900 step %c1 {
      scf.for %j = %c0 to %c400 step %c1 {
        %0 = memref.load %x[%i, %j] : memref<900x400xf32>
        memref.store %0, %image[%i, %j] : memref<900x400xf32>
      } {loopc.parallel}
    } {loopc.parallel}
    scf.for %i = %c0 to %c300 step %c1 {
      scf.for %j = %c0 to %c400 step %c1 {
        %at = affine.apply #last(%i)
        %0 = memref.load %image[%at, %j] : memref<900x400xf32>
        memref.store %0, %result[%i, %j] : memref<300x400xf32>
      } {loopc.parallel}
    } {loopc.parallel}
    memref.copy %result, %y : memref<300x400xf32> to memref<300x400xf32>
  }
  memref.dealloc %image : memref<900x400xf32>
  memref.dealloc %result : memref<300x400xf32>
  return
}
func.func private @fill(memref<900x400xf32>)

// -----

// Rows that two iterations read, a buffer that is returned, and rows that are
// written over what the writer reads next: the nests stay.
// CHECK-LABEL: func.func @overlap(
// CHECK-COUNT-2: memref.alloc({{.*}}901x300
// CHECK-LABEL: func.func @returned(
// CHECK-COUNT-2: memref.alloc({{.*}}x300
// CHECK-LABEL: func.func @in_place(
// CHECK: memref.alloc() : memref<900x300xf32>
// CHECK: memref.alloc() : memref<900x300xf32>
#next = affine_map<(d0, d1) -> (d0 * 2 + d1)>
#two = affine_map<(d0) -> (d0 * 2)>
func.func @overlap(%x: memref<901x300xf32>) -> memref<901x300xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c300 = arith.constant 300 : index
  %c450 = arith.constant 450 : index
  %c901 = arith.constant 901 : index
  %image = memref.alloc() : memref<901x300xf32>
  %result = memref.alloc() : memref<901x300xf32>
  scf.for %i = %c0 to %c901 step %c1 {
    scf.for %j = %c0 to %c300 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<901x300xf32>
      memref.store %0, %image[%i, %j] : memref<901x300xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  scf.for %i = %c0 to %c450 step %c1 {
    scf.for %w = %c0 to %c3 step %c1 {
      %at = affine.apply #next(%i, %w)
      %0 = memref.load %image[%at, %c0] : memref<901x300xf32>
      memref.store %0, %result[%i, %w] : memref<901x300xf32>
    }
  } {loopc.parallel}
  memref.dealloc %image : memref<901x300xf32>
  return %result : memref<901x300xf32>
}
func.func @returned(%x: memref<900x300xf32>) -> (memref<900x300xf32>, memref<450x300xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c300 = arith.constant 300 : index
  %c450 = arith.constant 450 : index
  %c900 = arith.constant 900 : index
  %image = memref.alloc() : memref<900x300xf32>
  %result = memref.alloc() : memref<450x300xf32>
  scf.for %i = %c0 to %c900 step %c1 {
    scf.for %j = %c0 to %c300 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<900x300xf32>
      memref.store %0, %image[%i, %j] : memref<900x300xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  scf.for %i = %c0 to %c450 step %c1 {
    scf.for %j = %c0 to %c300 step %c1 {
      %at = affine.apply #two(%i)
      %0 = memref.load %image[%at, %j] : memref<900x300xf32>
      memref.store %0, %result[%i, %j] : memref<450x300xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  return %image, %result : memref<900x300xf32>, memref<450x300xf32>
}
func.func @in_place(%n: f32) -> memref<900x300xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c300 = arith.constant 300 : index
  %c450 = arith.constant 450 : index
  %c900 = arith.constant 900 : index
  %x = memref.alloc() : memref<900x300xf32>
  scf.for %i = %c0 to %c900 step %c1 {
    memref.store %n, %x[%i, %c0] : memref<900x300xf32>
  } {loopc.parallel}
  %image = memref.alloc() : memref<900x300xf32>
  scf.for %i = %c0 to %c900 step %c1 {
    scf.for %j = %c0 to %c300 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<900x300xf32>
      memref.store %0, %image[%i, %j] : memref<900x300xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  scf.for %i = %c0 to %c450 step %c1 {
    scf.for %j = %c0 to %c300 step %c1 {
      %at = affine.apply #two(%i)
      %0 = memref.load %image[%at, %j] : memref<900x300xf32>
      memref.store %0, %x[%i, %j] : memref<900x300xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  memref.dealloc %image : memref<900x300xf32>
  return %x : memref<900x300xf32>
}
