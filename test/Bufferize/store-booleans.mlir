// RUN: loopc-opt %s -split-input-file --buffer-store-booleans | FileCheck %s

// What is copied stays a byte; what is decided by is truncated.
// CHECK-LABEL: func @select
// CHECK-SAME: %[[C:[^:]*]]: memref<?xi8>, %[[X:[^:]*]]: memref<?xf32>
// CHECK-SAME: -> memref<?xi8>
// CHECK: %[[COPY:.*]] = memref.alloc({{.*}}) : memref<?xi8>
// CHECK: linalg.generic {{.*}} ins(%[[C]] : memref<?xi8>) outs(%[[COPY]] : memref<?xi8>)
// CHECK-NEXT: ^bb0(%[[BYTE:.*]]: i8, %{{.*}}: i8):
// CHECK-NEXT: linalg.yield %[[BYTE]] : i8
// CHECK: ^bb0(%[[BYTE:.*]]: i8, %[[IN:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: %[[CONDITION:.*]] = arith.trunci %[[BYTE]] : i8 to i1
// CHECK-NEXT: arith.select %[[CONDITION]], %[[IN]], %[[OUT]]
#id = affine_map<(d0) -> (d0)>
func.func @select(%c: memref<?xi1>, %x: memref<?xf32>, %y: memref<?xf32>) -> memref<?xi1> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %c, %c0 : memref<?xi1>
  %copy = memref.alloc(%n) : memref<?xi1>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%c : memref<?xi1>) outs(%copy : memref<?xi1>) {
  ^bb0(%in: i1, %out: i1):
    linalg.yield %in : i1
  }
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%c, %x : memref<?xi1>, memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%in: i1, %number: f32, %out: f32):
    %s = arith.select %in, %number, %out : f32
    linalg.yield %s : f32
  }
  return %copy : memref<?xi1>
}

// -----

// Two bytes are combined as bytes, a comparison is extended.
// CHECK-LABEL: func @all
// CHECK: linalg.fill ins(%{{.*}} : i8) outs(%{{.*}} : memref<i8>)
// CHECK: ^bb0(%[[IN:.*]]: i8, %[[OUT:.*]]: i8):
// CHECK-NEXT: %[[BOTH:.*]] = arith.andi %[[OUT]], %[[IN]] : i8
// CHECK-NEXT: linalg.yield %[[BOTH]] : i8
// CHECK: %[[LESS:.*]] = arith.cmpf olt
// CHECK-NEXT: %[[EXTENDED:.*]] = arith.extui %[[LESS]] : i1 to i8
// CHECK-NEXT: linalg.yield %[[EXTENDED]] : i8
#id = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>
func.func @all(%c: memref<?xi1>, %r: memref<i1>, %x: memref<?xf32>) {
  %true = arith.constant true
  linalg.fill ins(%true : i1) outs(%r : memref<i1>)
  linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction"]}
      ins(%c : memref<?xi1>) outs(%r : memref<i1>) {
  ^bb0(%in: i1, %out: i1):
    %both = arith.andi %out, %in : i1
    linalg.yield %both : i1
  }
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<?xf32>) outs(%c : memref<?xi1>) {
  ^bb0(%in: f32, %out: i1):
    %less = arith.cmpf olt, %in, %zero : f32
    linalg.yield %less : i1
  }
  return
}

// -----

// Buffers that loops carry and branches give, accesses and constants.
// CHECK-LABEL: memref.global "private" constant @mask : memref<4xi8> = dense<[1, 0, 0, 1]>
// CHECK-LABEL: func @accesses
// CHECK: %[[MASK:.*]] = memref.get_global @mask : memref<4xi8>
// CHECK: %[[ROW:.*]] = scf.if %{{.*}} -> (memref<4xi8>)
// CHECK: %[[BYTE:.*]] = memref.load %[[ROW]][%{{.*}}] : memref<4xi8>
// CHECK: %[[BOOLEAN:.*]] = arith.trunci %[[BYTE]] : i8 to i1
// CHECK: %[[STORED:.*]] = arith.extui %[[BOOLEAN]] : i1 to i8
// CHECK: memref.store %[[STORED]], %{{.*}} : memref<4xi8>
memref.global "private" constant @mask : memref<4xi1> = dense<[true, false, false, true]>
func.func @accesses(%given: memref<4xi1>, %which: i1, %i: index) -> i1 {
  %mask = memref.get_global @mask : memref<4xi1>
  %row = scf.if %which -> memref<4xi1> {
    scf.yield %mask : memref<4xi1>
  } else {
    scf.yield %given : memref<4xi1>
  }
  %c = memref.load %row[%i] : memref<4xi1>
  memref.store %c, %given[%i] : memref<4xi1>
  return %c : i1
}

// -----

// Vectors of truth values are bits: all buffers stay as they are.
// CHECK-LABEL: func @vectors(
// CHECK-SAME: %[[X:[^:]*]]: memref<40xi1>, %[[Y:[^:]*]]: memref<40xi1>)
// CHECK: vector.load %[[X]]{{.*}} : memref<40xi1>, vector<8xi1>
func.func @vectors(%x: memref<40xi1>, %y: memref<40xi1>) {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<40xi1>, vector<8xi1>
  vector.store %v, %y[%c0] : memref<40xi1>, vector<8xi1>
  return
}

// -----

// CHECK-LABEL: func @affine(
// CHECK: affine.load %{{.*}} : memref<40xi1>
func.func @affine(%x: memref<40xi1>, %y: memref<40xi1>) {
  affine.for %i = 0 to 40 {
    %v = affine.load %x[%i] : memref<40xi1>
    affine.store %v, %y[39 - %i] : memref<40xi1>
  }
  return
}
