// RUN: loopc-opt %s --pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 mask-bits=8},func.func(cpu-vectorize-contractions,canonicalize,cse))' | FileCheck %s
// RUN: loopc-opt %s --pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 mask-bits=8},loopc-print-plans)' -o /dev/null | FileCheck %s --check-prefix=PLAN

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#in = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 + d2, d4 + d3)>
#two = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d2, d4 * 2 + d3)>
#window = affine_map<(d0, d1, d2, d3, d4) -> (d2, d3)>
#out = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)>

// Rows are read from where they were to be copied from: those of padding are
// left out, and columns of padding are lanes that a mask leaves out.
// PLAN: {{^}}greatest: windows vectors=16 strip=2 reduced=d2,d3 pads=%0 start=filled
// CHECK-LABEL: func @greatest(
// CHECK-SAME: %[[X:.*]]: memref<8x56x56xf32>)
// CHECK-DAG: %[[FILLER:.*]] = arith.constant dense<0xFF800000> : vector<16xf32>
// CHECK-NOT: 58x58
// CHECK: %[[Y:.*]] = memref.alloc() : memref<8x56x56xf32>
// CHECK-NOT: 58x58
// CHECK: scf.for %[[C:.*]] =
// CHECK: scf.for %[[I:.*]] =
// CHECK: arith.maxsi
// CHECK: arith.minsi
// The first vector of a row:
// CHECK: scf.for %{{[^ ]+}} = %[[BEGIN:[^ ]+]] to %[[END:[^ ]+]] step %{{[^ ]+}} iter_args(%{{[^ ]+}} = %[[FILLER]])
// CHECK: vector.maskedload %[[X]][%[[C]], %{{.*}}, %c-1], %{{.*}}, %[[FILLER]]
// CHECK-NOT: maskedload
// CHECK-COUNT-2: vector.load %[[X]][%[[C]],
// CHECK: vector.store %{{.*}}, %[[Y]][%[[C]], %[[I]], %c0]
// Two that read no padding, and the last with what is behind the row:
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK-COUNT-6: vector.load %[[X]]
// CHECK-COUNT-2: vector.store %{{.*}}, %[[Y]]
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK-COUNT-3: vector.maskedload %[[X]]
// CHECK: vector.maskedstore %[[Y]]
// CHECK-NOT: linalg.
func.func @greatest(%x: memref<8x56x56xf32>) -> memref<8x56x56xf32> {
  %least = arith.constant 0xFF800000 : f32
  %padded = memref.alloc() : memref<8x58x58xf32>
  linalg.fill ins(%least : f32) outs(%padded : memref<8x58x58xf32>)
  %part = memref.subview %padded[0, 1, 1] [8, 56, 56] [1, 1, 1] : memref<8x58x58xf32> to memref<8x56x56xf32, strided<[3364, 58, 1], offset: 59>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<8x56x56xf32>) outs(%part : memref<8x56x56xf32, strided<[3364, 58, 1], offset: 59>>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  %y = memref.alloc() : memref<8x56x56xf32>
  linalg.fill ins(%least : f32) outs(%y : memref<8x56x56xf32>)
  %shape = memref.alloc() : memref<3x3xf32>
  linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]} ins(%padded, %shape : memref<8x58x58xf32>, memref<3x3xf32>) outs(%y : memref<8x56x56xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.maximumf %p, %o fastmath<nsz> : f32
    linalg.yield %m : f32
  }
  memref.dealloc %padded : memref<8x58x58xf32>
  return %y : memref<8x56x56xf32>
}

// Open extents, every second window, and what is computed on the sums. What is
// freed behind the copy is freed behind what reads it now.
// PLAN: {{^}}average: windows vectors=16 strip=1 reduced=d2,d3 pads=%0 start=filled epilogue
// CHECK-LABEL: func @average(
// CHECK: %[[X:.*]] = memref.alloc(
// CHECK: %[[Y:.*]] = memref.alloc(
// CHECK-NOT: memref.dealloc
// CHECK: vector.maskedload %[[X]]
// CHECK: vector.shuffle %{{.*}} [0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31]
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK: vector.maskedstore %[[Y]]
// CHECK: vector.load %[[X]]
// CHECK: vector.store %{{.*}}, %[[Y]]
// CHECK: memref.dealloc %[[X]]
// CHECK: return %[[Y]]
func.func @average(%g: memref<?x?x?xf32>, %count: memref<f32>, %n: index, %h: index, %w: index) -> memref<?x?x?xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %rows = memref.dim %g, %c1 : memref<?x?x?xf32>
  %columns = memref.dim %g, %c2 : memref<?x?x?xf32>
  %rows2 = arith.addi %rows, %c2 : index
  %columns2 = arith.addi %columns, %c2 : index
  %x = memref.alloc(%n, %rows, %columns) : memref<?x?x?xf32>
  memref.copy %g, %x : memref<?x?x?xf32> to memref<?x?x?xf32>
  %padded = memref.alloc(%n, %rows2, %columns2) : memref<?x?x?xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<?x?x?xf32>)
  %part = memref.subview %padded[0, 1, 1] [%n, %rows, %columns] [1, 1, 1] : memref<?x?x?xf32> to memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<?x?x?xf32>) outs(%part : memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  memref.dealloc %x : memref<?x?x?xf32>
  %sums = memref.alloc(%n, %h, %w) : memref<?x?x?xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<?x?x?xf32>)
  %shape = memref.alloc() : memref<3x3xf32>
  linalg.generic {indexing_maps = [#two, #window, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]} ins(%padded, %shape : memref<?x?x?xf32>, memref<3x3xf32>) outs(%sums : memref<?x?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  memref.dealloc %padded : memref<?x?x?xf32>
  %y = memref.alloc(%n, %h, %w) : memref<?x?x?xf32>
  linalg.generic {indexing_maps = [#id, affine_map<(d0, d1, d2) -> ()>, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%sums, %count : memref<?x?x?xf32>, memref<f32>) outs(%y : memref<?x?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.divf %p, %q : f32
    linalg.yield %d : f32
  }
  memref.dealloc %sums : memref<?x?x?xf32>
  return %y : memref<?x?x?xf32>
}

// The padding would change the result, or what is copied is written over.
// PLAN-NOT: {{^}}padded_with_ones: windows
// PLAN-NOT: {{^}}written_over: windows
// PLAN-NOT: {{^}}carried: windows
// CHECK-LABEL: func @padded_with_ones(
// CHECK: memref.alloc() : memref<8x58x58xf32>
func.func @padded_with_ones(%x: memref<8x56x56xf32>) -> memref<8x56x56xf32> {
  %least = arith.constant 0xFF800000 : f32
  %one = arith.constant 1.0 : f32
  %padded = memref.alloc() : memref<8x58x58xf32>
  linalg.fill ins(%one : f32) outs(%padded : memref<8x58x58xf32>)
  %part = memref.subview %padded[0, 1, 1] [8, 56, 56] [1, 1, 1] : memref<8x58x58xf32> to memref<8x56x56xf32, strided<[3364, 58, 1], offset: 59>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<8x56x56xf32>) outs(%part : memref<8x56x56xf32, strided<[3364, 58, 1], offset: 59>>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  %y = memref.alloc() : memref<8x56x56xf32>
  linalg.fill ins(%least : f32) outs(%y : memref<8x56x56xf32>)
  %shape = memref.alloc() : memref<3x3xf32>
  linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]} ins(%padded, %shape : memref<8x58x58xf32>, memref<3x3xf32>) outs(%y : memref<8x56x56xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.maximumf %p, %o fastmath<nsz> : f32
    linalg.yield %m : f32
  }
  memref.dealloc %padded : memref<8x58x58xf32>
  return %y : memref<8x56x56xf32>
}

// CHECK-LABEL: func @written_over(
// CHECK: memref.alloc() : memref<8x58x58xf32>
func.func @written_over(%x: memref<8x56x56xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %padded = memref.alloc() : memref<8x58x58xf32>
  linalg.fill ins(%least : f32) outs(%padded : memref<8x58x58xf32>)
  %part = memref.subview %padded[0, 1, 1] [8, 56, 56] [1, 1, 1] : memref<8x58x58xf32> to memref<8x56x56xf32, strided<[3364, 58, 1], offset: 59>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<8x56x56xf32>) outs(%part : memref<8x56x56xf32, strided<[3364, 58, 1], offset: 59>>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  linalg.fill ins(%least : f32) outs(%x : memref<8x56x56xf32>)
  %shape = memref.alloc() : memref<3x3xf32>
  linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]} ins(%padded, %shape : memref<8x58x58xf32>, memref<3x3xf32>) outs(%x : memref<8x56x56xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.maximumf %p, %o fastmath<nsz> : f32
    linalg.yield %m : f32
  }
  memref.dealloc %padded : memref<8x58x58xf32>
  return
}

// What a loop hands on may be the result's own buffer.
// CHECK-LABEL: func @carried(
// CHECK: memref.alloc() : memref<8x58x58xf32>
func.func @carried(%g: memref<8x56x56xf32>, %n: index) {
  %least = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = memref.alloc() : memref<8x56x56xf32>
  %z = memref.alloc() : memref<8x56x56xf32>
  %x = scf.for %i = %c0 to %n step %c1 iter_args(%s = %y) -> memref<8x56x56xf32> {
    scf.yield %z : memref<8x56x56xf32>
  }
  %padded = memref.alloc() : memref<8x58x58xf32>
  linalg.fill ins(%least : f32) outs(%padded : memref<8x58x58xf32>)
  %part = memref.subview %padded[0, 1, 1] [8, 56, 56] [1, 1, 1] : memref<8x58x58xf32> to memref<8x56x56xf32, strided<[3364, 58, 1], offset: 59>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<8x56x56xf32>) outs(%part : memref<8x56x56xf32, strided<[3364, 58, 1], offset: 59>>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  linalg.fill ins(%least : f32) outs(%y : memref<8x56x56xf32>)
  %shape = memref.alloc() : memref<3x3xf32>
  linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]} ins(%padded, %shape : memref<8x58x58xf32>, memref<3x3xf32>) outs(%y : memref<8x56x56xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.maximumf %p, %o fastmath<nsz> : f32
    linalg.yield %m : f32
  }
  memref.dealloc %padded : memref<8x58x58xf32>
  return
}
