// RUN: loopc-opt %s --pass-pipeline="builtin.module(func.func(cpu-tile-chains))" | FileCheck %s
// RUN: loopc-opt %s --pass-pipeline="builtin.module(func.func(cpu-tile-chains,cpu-vectorize-contractions,cpu-vectorize-rows,convert-linalg-to-nests,canonicalize,nest-retract-unproved))" | FileCheck %s --check-prefix=PROVED --strict-whitespace

#left = affine_map<(h, i, k, j) -> (h, i, k)>
#right = affine_map<(h, i, k, j) -> (h, j, k)>
#values = affine_map<(h, i, k, j) -> (h, k, j)>
#result = affine_map<(h, i, k, j) -> (h, i, j)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
#mask = affine_map<(h, i, j) -> (i, j)>
#swapped = affine_map<(h, i, j) -> (h, j, i)>

// What lies between the two products is as large as a tile of 64 rows; the
// queries and the result are seen by views of it, keys and values of a head.
// An index of rows counts on from tile to tile. What is freed in between is
// freed behind.
// CHECK-LABEL: func @fixed(
// CHECK-SAME: %[[Q:.*]]: memref<8x1024x32xf32>, %[[K:.*]]: memref<8x1024x32xf32>, %[[V:.*]]: memref<8x1024x32xf32>)
// CHECK: %[[O:.*]] = memref.alloc() : memref<8x1024x32xf32>
// CHECK: scf.for %[[H:.*]] = %{{.*}} to %c8{{.*}} step %c1
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %c1024{{.*}} step %c64
// CHECK: %[[S:.*]] = memref.alloc() : memref<1x64x1024xf32>
// CHECK: %[[R:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x1x64xf32>
// CHECK: %[[M:.*]] = memref.subview %[[R]][0, 0, 0] [1, 1, 64] [1, 1, 1]
// CHECK: linalg.fill {{.*}} outs(%[[S]] :
// CHECK-DAG: %[[QT:.*]] = memref.subview %[[Q]][%[[H]], %[[I]], 0] [1, 64, 32] [1, 1, 1]
// CHECK-DAG: %[[KT:.*]] = memref.subview %[[K]][%[[H]], 0, 0] [1, 1024, 32] [1, 1, 1]
// CHECK: linalg.generic {{.*}} ins(%[[QT]], %[[KT]] : {{.*}}) outs(%[[S]] :
// CHECK: linalg.fill {{.*}} outs(%[[M]] :
// CHECK: linalg.generic {{.*}} ins(%[[S]] : {{.*}}) outs(%[[M]] :
// CHECK: %[[N:.*]] = linalg.index 1
// CHECK: affine.apply {{.*}}(%[[I]])[%[[N]]]
// CHECK: %[[OT:.*]] = memref.subview %[[O]][%[[H]], %[[I]], 0] [1, 64, 32] [1, 1, 1]
// CHECK: linalg.fill {{.*}} outs(%[[OT]] :
// CHECK: linalg.generic {{.*}} outs(%[[OT]] :
// CHECK: loopc.parallel
// CHECK: loopc.parallel
// CHECK-NOT: linalg
// CHECK: return %[[O]]
// PROVED-LABEL: func @fixed(
// PROVED:{{^      [}]}} {loopc.parallel}
// PROVED-NEXT:{{^    [}]}} {loopc.parallel}
// PROVED-NEXT:{{^    return}}
func.func @fixed(%q: memref<8x1024x32xf32>, %k: memref<8x1024x32xf32>, %v: memref<8x1024x32xf32>) -> memref<8x1024x32xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %s = memref.alloc() : memref<8x1024x1024xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<8x1024x1024xf32>)
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%q, %k : memref<8x1024x32xf32>, memref<8x1024x32xf32>) outs(%s : memref<8x1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  %m = memref.alloc() : memref<8x1024xf32>
  linalg.fill ins(%least : f32) outs(%m : memref<8x1024xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : memref<8x1024x1024xf32>) outs(%m : memref<8x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%m : memref<8x1024xf32>) outs(%s : memref<8x1024x1024xf32>) {
  ^bb0(%b: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %later = arith.cmpi slt, %i, %j : index
    %d = arith.subf %o, %b : f32
    %t = arith.select %later, %zero, %d : f32
    linalg.yield %t : f32
  }
  memref.dealloc %m : memref<8x1024xf32>
  %r = memref.alloc() : memref<8x1024x32xf32>
  linalg.fill ins(%zero : f32) outs(%r : memref<8x1024x32xf32>)
  linalg.generic {indexing_maps = [#left, #values, #result], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%s, %v : memref<8x1024x1024xf32>, memref<8x1024x32xf32>) outs(%r : memref<8x1024x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  memref.dealloc %s : memref<8x1024x1024xf32>
  return %r : memref<8x1024x32xf32>
}

// Of an open number of rows the last tile has what is left. What may be a
// broadcast copy of the scores decides which version runs; the second one has
// the scores as a whole, and plain loops.
// CHECK-LABEL: func @open(
// CHECK-SAME: %[[ROWS:[a-z0-9]*]]: index
// CHECK-SAME: %[[AGREE:[a-z0-9]*]]: i1
// CHECK: scf.if %[[AGREE]] {
// CHECK: scf.for %[[H:.*]] = %{{.*}} to %c4
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[ROWS]] step %c64
// CHECK: %[[N:.*]] = affine.min {{.*}}(%[[I]])[%[[ROWS]]]
// CHECK: memref.alloc(%[[N]], %{{.*}}) : memref<1x?x?xf32>
// CHECK: memref.subview %{{.*}}[%[[H]], %[[I]], 0] [1, %[[N]], 32]
// CHECK: } else {
// CHECK: memref.alloc(%[[ROWS]], %{{.*}}) : memref<4x?x?xf32>
// CHECK-NOT: linalg.
// CHECK: scf.if %[[AGREE]]
// CHECK-NOT: linalg.
// CHECK: return
// PROVED-LABEL: func @open(
// PROVED:{{^      [}]}} {loopc.parallel}
// PROVED-NEXT:{{^      memref.dealloc}}
// PROVED-NEXT:{{^    [}]}} else {
func.func @open(%rows: index, %keys: index, %agree: i1, %q: memref<4x?x32xf32>, %k: memref<4x?x32xf32>, %v: memref<4x?x32xf32>, %mask: memref<?x?xf32>) -> memref<4x?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc(%rows, %keys) : memref<4x?x?xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<4x?x?xf32>)
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%q, %k : memref<4x?x32xf32>, memref<4x?x32xf32>) outs(%s : memref<4x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  %w = scf.if %agree -> (memref<4x?x?xf32>) {
    scf.yield %s : memref<4x?x?xf32>
  } else {
    %c = memref.alloc(%rows, %rows) : memref<4x?x?xf32>
    linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]} outs(%c : memref<4x?x?xf32>) {
    ^bb0(%o: f32):
      %h = linalg.index 0 : index
      %i = linalg.index 1 : index
      %first = arith.constant 0 : index
      %e = memref.load %s[%h, %i, %first] : memref<4x?x?xf32>
      linalg.yield %e : f32
    }
    memref.dealloc %s : memref<4x?x?xf32>
    scf.yield %c : memref<4x?x?xf32>
  }
  %m = memref.alloc(%rows) : memref<4x?xf32>
  linalg.fill ins(%zero : f32) outs(%m : memref<4x?xf32>)
  linalg.generic {indexing_maps = [#mask, #id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%mask : memref<?x?xf32>) outs(%w, %m : memref<4x?x?xf32>, memref<4x?xf32>) {
  ^bb0(%b: f32, %o: f32, %sum: f32):
    %d = arith.addf %o, %b : f32
    %t = arith.addf %d, %sum fastmath<reassoc> : f32
    linalg.yield %d, %t : f32, f32
  }
  %n = memref.alloc(%rows, %keys) : memref<4x?x?xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %m : memref<4x?x?xf32>, memref<4x?xf32>) outs(%n : memref<4x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  }
  memref.dealloc %m : memref<4x?xf32>
  memref.dealloc %w : memref<4x?x?xf32>
  %r = memref.alloc(%rows) : memref<4x?x32xf32>
  linalg.fill ins(%zero : f32) outs(%r : memref<4x?x32xf32>)
  linalg.generic {indexing_maps = [#left, #values, #result], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%n, %v : memref<4x?x?xf32>, memref<4x?x32xf32>) outs(%r : memref<4x?x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  memref.dealloc %n : memref<4x?x?xf32>
  return %r : memref<4x?x32xf32>
}

// Rows that need columns of others are whole before the next product begins:
// the scores are added to what is transposed of them.
// CHECK-LABEL: func @not_by_rows(
// CHECK-NOT: scf.for
func.func @not_by_rows(%q: memref<8x1024x32xf32>, %v: memref<8x1024x32xf32>) -> memref<8x1024x32xf32> {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<8x1024x1024xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<8x1024x1024xf32>)
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%q, %q : memref<8x1024x32xf32>, memref<8x1024x32xf32>) outs(%s : memref<8x1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  %m = memref.alloc() : memref<8x1024xf32>
  linalg.fill ins(%zero : f32) outs(%m : memref<8x1024xf32>)
  %n = memref.alloc() : memref<8x1024x1024xf32>
  linalg.generic {indexing_maps = [#id, #swapped, #id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s, %s : memref<8x1024x1024xf32>, memref<8x1024x1024xf32>) outs(%n, %m : memref<8x1024x1024xf32>, memref<8x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32, %sum: f32):
    %d = arith.addf %a, %b : f32
    %t = arith.addf %d, %sum fastmath<reassoc> : f32
    linalg.yield %d, %t : f32, f32
  }
  memref.dealloc %s : memref<8x1024x1024xf32>
  memref.dealloc %m : memref<8x1024xf32>
  %r = memref.alloc() : memref<8x1024x32xf32>
  linalg.fill ins(%zero : f32) outs(%r : memref<8x1024x32xf32>)
  linalg.generic {indexing_maps = [#left, #values, #result], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%n, %v : memref<8x1024x1024xf32>, memref<8x1024x32xf32>) outs(%r : memref<8x1024x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  memref.dealloc %n : memref<8x1024x1024xf32>
  return %r : memref<8x1024x32xf32>
}

// Two products without a reduction of rows between them (a perceptron) read
// their weights once for many rows, and stay apart.
// CHECK-LABEL: func @no_reduction(
// CHECK-NOT: scf.for
func.func @no_reduction(%q: memref<8x1024x32xf32>, %k: memref<8x1024x32xf32>, %v: memref<8x1024x32xf32>) -> memref<8x1024x32xf32> {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<8x1024x1024xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<8x1024x1024xf32>)
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%q, %k : memref<8x1024x32xf32>, memref<8x1024x32xf32>) outs(%s : memref<8x1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  %r = memref.alloc() : memref<8x1024x32xf32>
  linalg.fill ins(%zero : f32) outs(%r : memref<8x1024x32xf32>)
  linalg.generic {indexing_maps = [#left, #values, #result], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%s, %v : memref<8x1024x1024xf32>, memref<8x1024x32xf32>) outs(%r : memref<8x1024x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  memref.dealloc %s : memref<8x1024x1024xf32>
  return %r : memref<8x1024x32xf32>
}

// A copy in front of the last product that writes what an operation before it
// reads keeps the order.
// CHECK-LABEL: func @writes_in_between(
// CHECK-NOT: scf.for
func.func @writes_in_between(%k: memref<8x1024x32xf32>, %v: memref<8x1024x32xf32>) -> memref<8x1024x32xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %q = memref.alloc() : memref<8x1024x32xf32>
  linalg.fill ins(%least : f32) outs(%q : memref<8x1024x32xf32>)
  %s = memref.alloc() : memref<8x1024x1024xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<8x1024x1024xf32>)
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%q, %k : memref<8x1024x32xf32>, memref<8x1024x32xf32>) outs(%s : memref<8x1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  %m = memref.alloc() : memref<8x1024xf32>
  linalg.fill ins(%least : f32) outs(%m : memref<8x1024xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : memref<8x1024x1024xf32>) outs(%m : memref<8x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%m : memref<8x1024xf32>) outs(%s : memref<8x1024x1024xf32>) {
  ^bb0(%b: f32, %o: f32):
    %t = arith.subf %o, %b : f32
    linalg.yield %t : f32
  }
  memref.dealloc %m : memref<8x1024xf32>
  memref.copy %v, %q : memref<8x1024x32xf32> to memref<8x1024x32xf32>
  %r = memref.alloc() : memref<8x1024x32xf32>
  linalg.fill ins(%zero : f32) outs(%r : memref<8x1024x32xf32>)
  linalg.generic {indexing_maps = [#left, #values, #result], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%s, %q : memref<8x1024x1024xf32>, memref<8x1024x32xf32>) outs(%r : memref<8x1024x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  memref.dealloc %s : memref<8x1024x1024xf32>
  memref.dealloc %q : memref<8x1024x32xf32>
  return %r : memref<8x1024x32xf32>
}

// What is written beside the chain's own buffers and looked up by another of
// its operations, in rows of all tiles, has to be there as a whole.
// CHECK-LABEL: func @looked_up(
// CHECK-NOT: scf.for
func.func @looked_up(%q: memref<8x1024x32xf32>, %k: memref<8x1024x32xf32>, %v: memref<8x1024x32xf32>, %places: memref<1024xindex>) -> memref<8x1024x32xf32> {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<8x1024x1024xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<8x1024x1024xf32>)
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%q, %k : memref<8x1024x32xf32>, memref<8x1024x32xf32>) outs(%s : memref<8x1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  %m = memref.alloc() : memref<8x1024xf32>
  linalg.fill ins(%zero : f32) outs(%m : memref<8x1024xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : memref<8x1024x1024xf32>) outs(%m : memref<8x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  }
  %y = memref.alloc() : memref<8x1024x1024xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : memref<8x1024x1024xf32>, memref<8x1024xf32>) outs(%y : memref<8x1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (i)>, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%places : memref<1024xindex>) outs(%s : memref<8x1024x1024xf32>) {
  ^bb0(%at: index, %o: f32):
    %h = linalg.index 0 : index
    %j = linalg.index 2 : index
    %e = memref.load %y[%h, %at, %j] : memref<8x1024x1024xf32>
    %t = arith.mulf %o, %e : f32
    linalg.yield %t : f32
  }
  memref.dealloc %m : memref<8x1024xf32>
  memref.dealloc %y : memref<8x1024x1024xf32>
  %r = memref.alloc() : memref<8x1024x32xf32>
  linalg.fill ins(%zero : f32) outs(%r : memref<8x1024x32xf32>)
  linalg.generic {indexing_maps = [#left, #values, #result], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%s, %v : memref<8x1024x1024xf32>, memref<8x1024x32xf32>) outs(%r : memref<8x1024x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  memref.dealloc %s : memref<8x1024x1024xf32>
  return %r : memref<8x1024x32xf32>
}

// What the rows look up is written again between the chain's operations: these
// stay where they are.
// CHECK-LABEL: func @looked_up_before(
// CHECK-NOT: scf.for
func.func @looked_up_before(%q: memref<8x1024x32xf32>, %k: memref<8x1024x32xf32>, %v: memref<8x1024x32xf32>, %given: memref<1024xf32>) -> memref<8x1024x32xf32> {
  %zero = arith.constant 0.0 : f32
  %bias = memref.alloc() : memref<1024xf32>
  memref.copy %given, %bias : memref<1024xf32> to memref<1024xf32>
  %s = memref.alloc() : memref<8x1024x1024xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<8x1024x1024xf32>)
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%q, %k : memref<8x1024x32xf32>, memref<8x1024x32xf32>) outs(%s : memref<8x1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  %m = memref.alloc() : memref<8x1024xf32>
  linalg.fill ins(%zero : f32) outs(%m : memref<8x1024xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : memref<8x1024x1024xf32>) outs(%m : memref<8x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%m : memref<8x1024xf32>) outs(%s : memref<8x1024x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %j = linalg.index 2 : index
    %e = memref.load %bias[%j] : memref<1024xf32>
    %t = arith.subf %o, %a : f32
    %u = arith.addf %t, %e : f32
    linalg.yield %u : f32
  }
  linalg.fill ins(%zero : f32) outs(%bias : memref<1024xf32>)
  %r = memref.alloc() : memref<8x1024x32xf32>
  linalg.fill ins(%zero : f32) outs(%r : memref<8x1024x32xf32>)
  linalg.generic {indexing_maps = [#left, #values, #result], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%s, %v : memref<8x1024x1024xf32>, memref<8x1024x32xf32>) outs(%r : memref<8x1024x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  memref.dealloc %s : memref<8x1024x1024xf32>
  memref.dealloc %m : memref<8x1024xf32>
  memref.dealloc %bias : memref<1024xf32>
  return %r : memref<8x1024x32xf32>
}
