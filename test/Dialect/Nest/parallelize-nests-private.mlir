// RUN: loopc-opt %s --split-input-file --loopc-parallelize-nests | FileCheck %s

// What each iteration writes before it reads it is on the thread's own stack;
// the memory that all of them would share is gone.
// CHECK-LABEL: func.func @private(
// CHECK-NOT: memref.alloc() {{.*}}memref<4096xf32>
// CHECK: func.func private @private_parallel(
// CHECK: %[[OWN:.*]] = memref.alloca() {alignment = 64 : i64, loopc.private} : memref<4096xf32>
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[OWN]][
// CHECK: memref.cast %[[OWN]]
func.func @private(%run: !rt.run) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c600 = arith.constant 600 : index
  %c4096 = arith.constant 4096 : index
  %ok = arith.constant 0 : i32
  %m = memref.alloc() : memref<600x4096xf32>
  %strip = memref.alloc() {loopc.private} : memref<4096xf32>
  scf.for %i = %c0 to %c600 step %c1 {
    scf.for %k = %c0 to %c4096 step %c1 {
      %x = memref.load %m[%i, %k] : memref<600x4096xf32>
      %y = math.tanh %x : f32
      memref.store %y, %strip[%k] : memref<4096xf32>
    }
    %view = memref.cast %strip : memref<4096xf32> to memref<?xf32>
    scf.for %k = %c0 to %c4096 step %c1 {
      %y = memref.load %view[%k] : memref<?xf32>
      memref.store %y, %m[%i, %k] : memref<600x4096xf32>
    }
  } {loopc.parallel}
  memref.dealloc %strip : memref<4096xf32>
  return %ok : i32
}

// -----

// Read through a view that was made in front of the nest: all or nothing.
// CHECK-LABEL: func.func @known_elsewhere(
// CHECK: memref.alloc() {loopc.private}
// CHECK-NOT: memref.alloca()
// CHECK-NOT: func.func private @known_elsewhere_parallel(
func.func @known_elsewhere(%run: !rt.run) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c600 = arith.constant 600 : index
  %c4096 = arith.constant 4096 : index
  %ok = arith.constant 0 : i32
  %m = memref.alloc() : memref<600x4096xf32>
  %strip = memref.alloc() {loopc.private} : memref<4096xf32>
  %view = memref.cast %strip : memref<4096xf32> to memref<?xf32>
  scf.for %i = %c0 to %c600 step %c1 {
    scf.for %k = %c0 to %c4096 step %c1 {
      %x = memref.load %m[%i, %k] : memref<600x4096xf32>
      %y = math.tanh %x : f32
      memref.store %y, %strip[%k] : memref<4096xf32>
    }
    scf.for %k = %c0 to %c4096 step %c1 {
      %y = memref.load %view[%k] : memref<?xf32>
      memref.store %y, %m[%i, %k] : memref<600x4096xf32>
    }
  } {loopc.parallel}
  memref.dealloc %strip : memref<4096xf32>
  return %ok : i32
}

// -----

// Nests of a batch that may have one iteration have memory of their own, too.
// CHECK-LABEL: func.func @of_one(
// CHECK: func.func private @of_one_parallel(
// CHECK-NOT: memref.alloca()
// CHECK: func.func private @of_one_parallel_parallel(
// CHECK-NOT: func.func
// CHECK: memref.alloca() {alignment = 64 : i64, loopc.private} : memref<4096xf32>
func.func @of_one(%run: !rt.run, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c600 = arith.constant 600 : index
  %c4096 = arith.constant 4096 : index
  %ok = arith.constant 0 : i32
  %zero = arith.constant 0.0 : f32
  %m = memref.alloc(%n) : memref<?x600x4096xf32>
  %strip = memref.alloc() {loopc.private} : memref<4096xf32>
  scf.for %b = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c600 step %c1 {
      scf.for %k = %c0 to %c4096 step %c1 {
        %x = memref.load %m[%b, %i, %k] : memref<?x600x4096xf32>
        %y = math.tanh %x : f32
        memref.store %y, %strip[%k] : memref<4096xf32>
      }
      scf.for %k = %c0 to %c4096 step %c1 {
        %y = memref.load %strip[%k] : memref<4096xf32>
        memref.store %y, %m[%b, %i, %k] : memref<?x600x4096xf32>
      }
    } {loopc.parallel}
    scf.for %k = %c0 to %c4096 step %c1 {
      memref.store %zero, %m[%b, %c0, %k] : memref<?x600x4096xf32>
    }
  } {loopc.parallel}
  memref.dealloc %strip : memref<4096xf32>
  return %ok : i32
}
