// RUN: loopc-opt %s --loopc-check-accesses | FileCheck %s

// CHECK: module attributes {{.*}}loopc.guarded

// Each index is held against the extent of its axis, known or not.
// CHECK-LABEL: func.func @scalar
// CHECK-SAME: %[[B:.*]]: memref<?x8xf32>, %[[I:.*]]: index, %[[J:.*]]: index
func.func @scalar(%b: memref<?x8xf32>, %i: index, %j: index) -> f32 {
  // CHECK: %[[N:.*]] = memref.dim %[[B]]
  // CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[I]], %[[N]]
  // CHECK: %[[SECOND:.*]] = arith.cmpi ult, %[[J]], %c8
  // CHECK: %[[BOTH:.*]] = arith.andi %[[FIRST]], %[[SECOND]]
  // CHECK: loop.check %[[BOTH]], "{{.*}}: memref.load at [{}, {}] of a buffer of [{}, {}]"(%[[I]], %[[J]], %[[N]], %c8
  // CHECK: memref.load
  %v = memref.load %b[%i, %j] : memref<?x8xf32>
  // The same place again needs no second check.
  // CHECK-NOT: loop.check
  // CHECK: memref.store
  memref.store %v, %b[%i, %j] : memref<?x8xf32>
  return %v : f32
}

// What is known to be in range is not checked.
// CHECK-LABEL: func.func @known
// CHECK-NOT: loop.check
func.func @known(%b: memref<4xf32>) -> f32 {
  %c3 = arith.constant 3 : index
  %v = memref.load %b[%c3] : memref<4xf32>
  return %v : f32
}

// Of a vector the first and the last element.
// CHECK-LABEL: func.func @vector
// CHECK-SAME: %[[B:.*]]: memref<?xf32>, %[[I:.*]]: index
func.func @vector(%b: memref<?xf32>, %i: index) -> vector<8xf32> {
  // CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[I]]
  // CHECK: %[[LAST:.*]] = arith.addi %[[I]], %c7
  // CHECK: %[[END:.*]] = arith.cmpi ult, %[[LAST]]
  // CHECK: arith.andi %[[FIRST]], %[[END]]
  // CHECK: loop.check {{.*}}vector.load of 8 at [{}] of a buffer of [{}]
  %v = vector.load %b[%i] : memref<?xf32>, vector<8xf32>
  return %v : vector<8xf32>
}

// Of a mask the lanes that it names.
// CHECK-LABEL: func.func @masked
func.func @masked(%b: memref<?xf32>, %i: index, %mask: vector<4xi1>,
                  %v: vector<4xf32>) {
  // CHECK: %[[OFF:.*]] = arith.xori %{{.*}} : vector<4xi1>
  // CHECK: %[[FINE:.*]] = arith.ori %{{.*}}, %[[OFF]] : vector<4xi1>
  // CHECK: vector.reduction <and>, %[[FINE]]
  // CHECK: loop.check {{.*}}vector.maskedstore with a mask of 4 at
  vector.maskedstore %b[%i], %mask, %v : memref<?xf32>, vector<4xi1>, vector<4xf32>
  return
}

// As many elements behind one another as the mask names.
// CHECK-LABEL: func.func @packed
func.func @packed(%b: memref<?xf32>, %i: index, %mask: vector<4xi1>,
                  %v: vector<4xf32>) -> vector<4xf32> {
  // CHECK: %[[ONES:.*]] = arith.select %{{.*}} : vector<4xi1>, vector<4xindex>
  // CHECK: %[[COUNT:.*]] = vector.reduction <add>, %[[ONES]]
  // CHECK: %[[REACHED:.*]] = vector.broadcast %[[COUNT]]
  // CHECK: %[[NAMED:.*]] = arith.cmpi ult, %{{.*}}, %[[REACHED]] : vector<4xindex>
  // CHECK: %[[OFF:.*]] = arith.xori %[[NAMED]], %{{.*}} : vector<4xi1>
  // CHECK: %[[FINE:.*]] = arith.ori %{{.*}}, %[[OFF]] : vector<4xi1>
  // CHECK: vector.reduction <and>, %[[FINE]]
  // CHECK: loop.check {{.*}}vector.expandload with a mask of 4 at
  %e = vector.expandload %b[%i], %mask, %v : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  // CHECK: loop.check {{.*}}vector.compressstore with a mask of 4 at
  vector.compressstore %b[%i], %mask, %e : memref<?xf32>, vector<4xi1>, vector<4xf32>
  return %e : vector<4xf32>
}

// CHECK-LABEL: func.func @views
func.func @views(%b: memref<?xf32>, %c: memref<?xf32>, %o: index, %n: index) {
  // An empty view may begin at the end.
  // CHECK: arith.cmpi eq, %{{.*}}, %c0
  // CHECK: loop.check {{.*}}memref.subview of [{}] at [{}] of a buffer of [{}]
  %view = memref.subview %b[%o] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  // CHECK: loop.check {{.*}}memref.cast of a buffer of [{}] to memref<4xf32>
  %cast = memref.cast %b : memref<?xf32> to memref<4xf32>
  // CHECK: loop.check {{.*}}memref.expand_shape of a buffer of [{}] to [{}, {}]
  %two = memref.expand_shape %b [[0, 1]] output_shape [%n, 2] : memref<?xf32> into memref<?x2xf32>
  // CHECK: loop.check {{.*}}memref.copy of [{}] to a buffer of [{}]
  memref.copy %b, %c : memref<?xf32> to memref<?xf32>
  // Against the allocation, not the view that it is made of.
  // CHECK: loop.check {{.*}}memref.reinterpret_cast of [{}] with strides [{}] from {} on, of a buffer of {}
  %again = memref.reinterpret_cast %view to offset: [%o], sizes: [%n], strides: [2]
      : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[2], offset: ?>>
  // CHECK: loop.check {{.*}}memref.alloc of open extents [{}]
  %new = memref.alloc(%n) : memref<?xf32>
  return
}

// Braces of a name are not places for values.
// CHECK-LABEL: func.func @braces
func.func @braces(%b: memref<?xf32>, %i: index) -> f32 {
  // CHECK: loop.check {{.*}}"main/#0 Add 'a{ }': memref.load at [{}] of a buffer of [{}]"
  %v = memref.load %b[%i] : memref<?xf32> loc("main/#0 Add 'a{}'")
  return %v : f32
}
