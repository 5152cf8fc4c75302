// RUN: loopc-opt %s --pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 mask-bits=8},func.func(cpu-vectorize-rows,canonicalize,cse))' | FileCheck %s
// RUN: loopc-opt %s --pass-pipeline='builtin.module(loopc-set-target{vector-bits=128 mask-bits=0},func.func(cpu-vectorize-rows))' | FileCheck %s --check-prefix=NOMASK

// NOMASK-NOT: vector.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#column = affine_map<(d0, d1) -> (d0, 0)>
#sum = affine_map<(d0, d1) -> (d0)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// What a row has in common is read once a row; the rest is masked.
// CHECK-LABEL: func @broadcast(
// CHECK-SAME: %[[X:[^:]+]]: memref<?x?xf32>, %[[W:[^:]+]]: memref<?xf32>, %[[C:[^:]+]]: memref<?x1xf32>
// CHECK: %[[REST:.*]] = arith.remui %[[N:.*]], %{{.*}}
// CHECK: %[[WHOLE:.*]] = arith.subi %[[N]], %[[REST]]
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %[[WHOLE]]
// CHECK-DAG: vector.load %[[X]][%[[I:.*]], %[[J]]] : memref<?x?xf32>, vector<16xf32>
// CHECK-DAG: vector.load %[[W]][%[[J]]]
// CHECK-DAG: %[[S:.*]] = memref.load %[[C]][%[[I]], %{{.*}}]
// CHECK: vector.broadcast %[[S]] : f32 to vector<16xf32>
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK: vector.store
// CHECK: scf.if
// CHECK: %[[MASK:.*]] = vector.create_mask %[[REST]]
// CHECK: vector.maskedload %[[X]][%[[I]], %[[WHOLE]]], %[[MASK]]
// CHECK: vector.maskedstore %{{.*}}[%[[I]], %[[WHOLE]]], %[[MASK]]
func.func @broadcast(%x: memref<?x?xf32>, %w: memref<?xf32>, %c: memref<?x1xf32>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %w, %c : memref<?x?xf32>, memref<?xf32>, memref<?x1xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32, %o: f32):
    %s = arith.mulf %q, %r : f32
    %e = math.exp %s : f32
    %t = arith.mulf %p, %e : f32
    linalg.yield %t : f32
  }
  return
}

// CHECK-LABEL: func @sum(
// CHECK: %[[NONE:.*]] = arith.constant dense<-0.000000e+00> : vector<16xf32>
// Four vectors at once, each with a sum of its own; then the others one by one.
// CHECK: %[[F:[^ ]+]]:4 = scf.for {{.*}} iter_args(%{{[^ ]+}} = %[[NONE]], %{{[^ ]+}} = %[[NONE]],
// CHECK-COUNT-4: vector.load
// CHECK: %[[AB:.*]] = arith.addf %[[F]]#0, %[[F]]#1 fastmath<reassoc>
// CHECK: %[[CD:.*]] = arith.addf %[[F]]#2, %[[F]]#3 fastmath<reassoc>
// CHECK: %[[ABCD:.*]] = arith.addf %[[AB]], %[[CD]] fastmath<reassoc>
// CHECK: %[[S:[^ ]+]] = scf.for {{.*}} iter_args(%[[A:[^ ]+]] = %[[ABCD]])
// CHECK: arith.addf {{.*}} fastmath<reassoc> : vector<16xf32>
// CHECK: %[[T:[^ ]+]] = scf.if
// CHECK: %[[J:.*]] = arith.addf %[[S]], %{{.*}}
// CHECK: arith.select %{{.*}}, %[[J]], %[[S]] : vector<16xi1>
// CHECK: %[[R:.*]] = vector.reduction <add>, %[[T]] fastmath<reassoc>
// CHECK: %[[B:.*]] = memref.load
// CHECK: %[[V:.*]] = arith.addf {{.*}} fastmath<reassoc> : f32
// CHECK: memref.store %[[V]]
func.func @sum(%x: memref<2x?xf32>, %y: memref<2xf32>) {
  linalg.generic {indexing_maps = [#id, #sum], iterator_types = ["parallel", "reduction"]} ins(%x : memref<2x?xf32>) outs(%y : memref<2xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %p, %o fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  return
}

// Four rows at once: what they share is read once, and their vectors are summed
// up together. Rows that are left over come one by one.
// CHECK-LABEL: func @sum_of_products(
// CHECK-SAME: %[[X:[^:]+]]: memref<?x?xf32>, %[[W:[^:]+]]: memref<?xf32>, %[[Y:[^:]+]]: memref<?xf32>
// CHECK: scf.for %[[I:[^ ]+]] = %{{.*}} step %[[C4:[^ ]+]] {
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %[[C4]]
// CHECK: %[[ALL:.*]] = arith.cmpi ule, %[[NEXT]], %[[ROWS:[^ ]+]]
// CHECK: scf.if %[[ALL]] {
// CHECK: %[[F:[^ ]+]]:4 = scf.for
// CHECK-COUNT-2: vector.load %{{.*}} : memref<?x?xf32>, vector<16xf32>
// CHECK: scf.yield
// CHECK: %[[R:[^ ]+]]:4 = scf.if
// CHECK: %[[AB1:.*]] = vector.shuffle %[[R]]#0, %[[R]]#1 [0, 16, 1, 17, 4, 20,
// CHECK: %[[AB2:.*]] = vector.shuffle %[[R]]#0, %[[R]]#1 [2, 18, 3, 19, 6, 22,
// CHECK: arith.addf %[[AB1]], %[[AB2]] fastmath<reassoc> : vector<16xf32>
// CHECK: vector.shuffle %{{.*}} [0, 1, 16, 17, 4, 5,
// CHECK: vector.shuffle %{{.*}} [2, 3, 18, 19, 6, 7,
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: %[[S:.*]] = arith.addf {{.*}} : vector<4xf32>
// CHECK: %[[B:.*]] = vector.load %[[Y]][%[[I]]] : memref<?xf32>, vector<4xf32>
// CHECK: %[[V:.*]] = arith.addf %[[S]], %[[B]] fastmath<reassoc> : vector<4xf32>
// CHECK: vector.store %[[V]], %[[Y]][%[[I]]]
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %[[I]] to %[[ROWS]] step
// CHECK: vector.reduction <add>
func.func @sum_of_products(%x: memref<?x?xf32>, %w: memref<?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #sum], iterator_types = ["parallel", "reduction"]} ins(%x, %w : memref<?x?xf32>, memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.mulf %p, %q : f32
    %t = arith.addf %s, %o fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  return
}

// Sums of strided places are stored one by one; of f64, and the greatest.
// CHECK-LABEL: func @greatest(
// CHECK: vector.shuffle %[[A:[^ ]+]], %[[B:[^ ]+]] [0, 8, 2, 10, 4, 12, 6, 14]
// CHECK: vector.shuffle %[[A]], %[[B]] [1, 9, 3, 11, 5, 13, 7, 15]
// CHECK: arith.maximumf {{.*}} : vector<8xf64>
// CHECK: %[[S:.*]] = arith.maximumf {{.*}} : vector<4xf64>
// CHECK: %[[S0:.*]] = vector.extract %[[S]][0]
// CHECK: arith.maximumf %[[S0]], %{{.*}} : f64
// CHECK: memref.store
func.func @greatest(%x: memref<8x?xf64>, %y: memref<8xf64, strided<[?]>>) {
  linalg.generic {indexing_maps = [#id, #sum], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x?xf64>) outs(%y : memref<8xf64, strided<[?]>>) {
  ^bb0(%p: f64, %o: f64):
    %t = arith.maximumf %p, %o : f64
    linalg.yield %t : f64
  }
  return
}

// Sums in order, columns, division that may fail, nothing to broadcast.
// CHECK-LABEL: func @left_alone(
// CHECK-NOT: vector.
// CHECK: return
func.func @left_alone(%x: memref<?x?xf32>, %y: memref<?xf32>, %z: memref<?x?xf32>, %i: memref<?x?xi32>, %k: memref<?xi32>) {
  linalg.generic {indexing_maps = [#id, #sum], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %p, %o : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x?xf32>) outs(%z : memref<?x?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.negf %p : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%k : memref<?xi32>) outs(%i : memref<?x?xi32>) {
  ^bb0(%p: i32, %o: i32):
    %t = arith.ceildivsi %o, %p : i32
    linalg.yield %t : i32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x?xf32>) outs(%z : memref<?x?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.negf %p : f32
    linalg.yield %t : f32
  }
  return
}

// Four vectors of sums in registers while their columns go by, then a masked one
// after the other. The sum is in order: it need not be reassociated.
// CHECK-LABEL: func @sum_of_columns(
// CHECK-SAME: %[[X:[^:]+]]: memref<?x?xf32>, %[[Y:[^:]+]]: memref<?xf32>
// CHECK: scf.for %[[J:[^ ]+]] =
// CHECK: %[[B:.*]] = vector.load %[[Y]][%[[J]]]
// CHECK-COUNT-3: vector.load %[[Y]]
// CHECK: %[[F:[^ ]+]]:4 = scf.for %[[I:[^ ]+]] = {{.*}} iter_args(%[[S:[^ ]+]] = %[[B]]
// CHECK: %[[V:.*]] = vector.load %[[X]][%[[I]], %[[J]]]
// CHECK: %[[T:.*]] = arith.addf %[[V]], %[[S]] : vector<16xf32>
// CHECK: scf.yield %[[T]]
// CHECK: vector.store %[[F]]#0, %[[Y]][%[[J]]]
// CHECK: } {loopc.parallel}
// CHECK: scf.for
// CHECK: vector.maskedload %[[Y]]
// CHECK: vector.maskedstore %[[Y]]
func.func @sum_of_columns(%x: memref<?x?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#turned, #sum], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %p, %o : f32
    linalg.yield %t : f32
  }
  return
}

// Functions that LLVM has for numbers only; the place of an element.
// CHECK-LABEL: func @sine(
// CHECK: scf.for %[[J:[^ ]+]] =
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[J]] : index to i64
// CHECK: %[[FIRST:.*]] = vector.broadcast %[[NUMBER]] : i64 to vector<8xi64>
// CHECK: arith.addi %[[FIRST]], %{{.*}} : vector<8xi64>
// CHECK: math.sin %{{.*}} : vector<8xf32>
func.func @sine(%x: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i64
    %f = arith.sitofp %k : i64 to f32
    %t = math.sin %f : f32
    linalg.yield %t : f32
  }
  return
}

// Powers of f32 and functions of f64, which are polynomials of vectors only.
// CHECK-LABEL: func @doubles(
// CHECK: math.powf %{{.*}} : vector<8xf32>
// CHECK: math.tanh %{{.*}} : vector<8xf64>
// CHECK: vector.maskedstore
func.func @doubles(%x: memref<?xf32>, %y: memref<?xf64>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%y : memref<?xf64>) {
  ^bb0(%p: f32, %o: f64):
    %s = math.powf %p, %p : f32
    %w = arith.extf %s : f32 to f64
    %t = math.tanh %w : f64
    linalg.yield %t : f64
  }
  return
}

// What is divided by a number that is known LLVM multiplies.
// CHECK-LABEL: func @quotients(
// CHECK: vector.load
// CHECK: arith.divsi %{{.*}}, %{{.*}} : vector<8xi64>
// CHECK: vector.maskedstore
// CHECK: linalg.generic
// CHECK: arith.divsi %{{.*}}, %{{.*}} : i64
func.func @quotients(%x: memref<?xi64>, %y: memref<?xi64>, %z: memref<?xi64>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : memref<?xi64>) outs(%y : memref<?xi64>) {
  ^bb0(%p: i64, %o: i64):
    %t = arith.divsi %o, %p : i64
    linalg.yield %t : i64
  }
  %seven = arith.constant 7 : i64
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : memref<?xi64>) outs(%z : memref<?xi64>) {
  ^bb0(%p: i64, %o: i64):
    %t = arith.divsi %p, %seven : i64
    linalg.yield %t : i64
  }
  return
}

#x = affine_map<(c, h, k, l, w) -> (c, h * 2 + k, w * 2 + l)>
#kernel = affine_map<(c, h, k, l, w) -> (k, l)>
#y = affine_map<(c, h, k, l, w) -> (c, h, w)>

// Of a window that slides in steps of two every second number is taken; behind
// the last of them nothing is read.
// CHECK-LABEL: func @window(
// CHECK-SAME: %[[X:[^:]+]]: memref<4x?x?xf32>
// CHECK: vector.load %[[X]]
// CHECK: %[[MASK:.*]] = vector.constant_mask [15] : vector<16xi1>
// CHECK: vector.maskedload %[[X]]
// CHECK: vector.shuffle {{.*}} [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]
// CHECK: arith.maximumf {{.*}} fastmath<nsz> : vector<16xf32>
func.func @window(%x: memref<4x?x?xf32>, %shape: memref<3x3xf32>, %y: memref<4x?x?xf32>) {
  linalg.generic {indexing_maps = [#x, #kernel, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]} ins(%x, %shape : memref<4x?x?xf32>, memref<3x3xf32>) outs(%y : memref<4x?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.maximumf %p, %o fastmath<nsz> : f32
    linalg.yield %t : f32
  }
  return
}

// Axes that are reduced, and lie one after the other, are one row.
// CHECK-LABEL: func @joined(
// CHECK-SAME: %[[X:[^:]+]]: memref<2x9x?x?xf32>
// CHECK: %[[ROWS:.*]] = memref.collapse_shape %[[X]] {{\[\[}}0], [1], [2, 3]]
// CHECK: vector.load %[[ROWS]]
func.func @joined(%x: memref<2x9x?x?xf32>, %y: memref<2x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x : memref<2x9x?x?xf32>) outs(%y : memref<2x9xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %p, %o fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  return
}

// With gaps between them each is a row, whose sum goes to the result.
// CHECK-LABEL: func @apart(
// CHECK-NOT: memref.collapse_shape
// CHECK: vector.load
func.func @apart(%x: memref<9x?x?xf32, strided<[?, ?, 1]>>, %y: memref<9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(b, c, d) -> (b, c, d)>, affine_map<(b, c, d) -> (b)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : memref<9x?x?xf32, strided<[?, ?, 1]>>) outs(%y : memref<9xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %p, %o fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  return
}

// LLVM would unroll short rows with gaps between them.
// CHECK-LABEL: func @padded(
// CHECK: vector.load
// CHECK: vector.maskedstore
func.func @padded(%x: memref<8x30xf32>, %y: memref<8x30xf32, strided<[32, 1], offset: 33>>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x30xf32>) outs(%y : memref<8x30xf32, strided<[32, 1], offset: 33>>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

#each = affine_map<(d0) -> (d0)>

// What a table holds for the numbers of a row, its neighbours two places on,
// and one element for all of them. The numbers' 64 bits do not make vectors
// shorter.
// CHECK-LABEL: func @lookup(
// CHECK-SAME: %[[TABLE:[^:]+]]: memref<?x30xf32>, %[[X:[^:]+]]: memref<43xf32>, %[[AT:[^:]+]]: memref<41xi64>, %[[ROW:[^:]+]]: index
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: scf.for %[[I:.*]] = %c0 to %c32 step %c16
// CHECK: %[[NUMBERS:.*]] = vector.load %[[AT]][%[[I]]] : memref<41xi64>, vector<16xi64>
// CHECK: %[[PLACES:.*]] = arith.index_cast %[[NUMBERS]] : vector<16xi64> to vector<16xindex>
// CHECK: vector.gather %[[TABLE]][%[[ROW]], %c0] [%[[PLACES]]]
// CHECK: %[[ON:.*]] = arith.addi %[[I]], %[[TWO]]
// CHECK: vector.load %[[X]][%[[ON]]] : memref<43xf32>, vector<16xf32>
// CHECK: memref.load %[[X]][%c0]
// CHECK: vector.constant_mask [9]
// CHECK: vector.gather
// CHECK: vector.maskedstore
func.func @lookup(%table: memref<?x30xf32>, %x: memref<43xf32>, %at: memref<41xi64>, %row: index, %y: memref<41xf32>) {
  %c2 = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]} ins(%at : memref<41xi64>) outs(%y : memref<41xf32>) {
  ^bb0(%n: i64, %o: f32):
    %place = arith.index_cast %n : i64 to index
    %v = memref.load %table[%row, %place] : memref<?x30xf32>
    %i = linalg.index 0 : index
    %on = arith.addi %i, %c2 : index
    %next = memref.load %x[%on] : memref<43xf32>
    %one = memref.load %x[%c0] : memref<43xf32>
    %e = math.exp %v : f32
    %s = arith.addf %e, %next : f32
    %t = arith.addf %s, %one : f32
    linalg.yield %t : f32
  }
  return
}

// What is written may be read by an element behind it, and elements apart along
// another axis are not neighbours: left as it is.
// CHECK-LABEL: func @own(
// CHECK-NOT: vector.
// CHECK: return
func.func @own(%table: memref<30x30xf32>, %at: memref<41xi64>, %y: memref<41xf32>) {
  %c0 = arith.constant 0 : index
  linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]} ins(%at : memref<41xi64>) outs(%y : memref<41xf32>) {
  ^bb0(%n: i64, %o: f32):
    %place = arith.index_cast %n : i64 to index
    %v = memref.load %y[%place] : memref<41xf32>
    %e = math.exp %v : f32
    linalg.yield %e : f32
  }
  linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]} ins(%at : memref<41xi64>) outs(%y : memref<41xf32>) {
  ^bb0(%n: i64, %o: f32):
    %place = arith.index_cast %n : i64 to index
    %v = memref.load %table[%place, %c0] : memref<30x30xf32>
    %e = math.exp %v : f32
    linalg.yield %e : f32
  }
  return
}

// Rows of three are in vectors of four, not of sixteen.
// CHECK-LABEL: func @short(
// CHECK: vector.constant_mask [3] : vector<4xi1>
// CHECK: arith.divf {{.*}} : vector<4xf32>
// CHECK-NOT: vector<16x
func.func @short(%x: memref<64x3xf32>, %y: memref<64xf32>, %z: memref<64x3xf32>) {
  linalg.generic {indexing_maps = [#id, #sum, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : memref<64x3xf32>, memref<64xf32>) outs(%z : memref<64x3xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.divf %p, %q : f32
    linalg.yield %t : f32
  }
  return
}

// All of a buffer is filled as one row; rows with gaps between them are not one.
// CHECK-LABEL: func @filled(
// CHECK-SAME: %[[X:[^:]+]]: memref<4x?x18xf32>, %[[Y:[^:]+]]: memref
// CHECK: %[[ROW:.*]] = memref.collapse_shape %[[X]] {{\[\[}}0, 1, 2]] : memref<4x?x18xf32> into memref<?xf32>
// CHECK: linalg.fill {{.*}} outs(%[[ROW]]
// CHECK: linalg.fill {{.*}} outs(%[[Y]]
func.func @filled(%x: memref<4x?x18xf32>, %y: memref<4x18xf32, strided<[20, 1]>>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<4x?x18xf32>)
  linalg.fill ins(%zero : f32) outs(%y : memref<4x18xf32, strided<[20, 1]>>)
  return
}

// What has no elements is not filled: there is no type for ?x0x? as one row.
// CHECK-LABEL: func @filled_empty(
// CHECK-NOT: linalg.fill
// CHECK: return
func.func @filled_empty(%x: memref<?x0x?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<?x0x?xf32>)
  return
}

// Numbers of 16 bits go by vectors of what they are computed as.
// CHECK-LABEL: func @halves(
// CHECK: vector.load {{.*}} : memref<8xf16, strided<[1], offset: ?>>, vector<8xf16>
// CHECK: arith.extf {{.*}} : vector<8xf16> to vector<8xf32>
// CHECK: arith.truncf {{.*}} : vector<8xf32> to vector<8xf16>
// CHECK: vector.store {{.*}}, vector<8xf16>
func.func @halves(%x: memref<8xf16, strided<[1], offset: ?>>, %y: memref<8xf16>) {
  %half = arith.constant 0.5 : f32
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<8xf16, strided<[1], offset: ?>>) outs(%y : memref<8xf16>) {
  ^bb0(%p: f16, %o: f16):
    %a = arith.extf %p : f16 to f32
    %b = arith.mulf %a, %half : f32
    %c = arith.truncf %b : f32 to f16
    linalg.yield %c : f16
  }
  return
}

// Places of 32 bits are counted in 32 bits, 16 at a time.
// CHECK-LABEL: func @places(
// CHECK: arith.index_cast %{{.*}} : index to i32
// CHECK: arith.addi %{{.*}} : vector<16xi32>
// CHECK-NOT: vector<{{.*}}xindex>
// CHECK: return
func.func @places(%x: memref<?xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<?xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    %t = arith.divsi %o, %k : i32
    linalg.yield %t : i32
  }
  return
}

// The place along what is reduced, and along the columns, which are kept in
// registers.
// CHECK-LABEL: func @places_of_columns(
// CHECK: scf.for %[[I:[^ ]+]] = {{.*}} -> (vector<16xi32>, vector<16xi32>) {
// CHECK: %[[N:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK: vector.broadcast %[[N]] : i32 to vector<16xi32>
// CHECK: arith.minsi %{{.*}} : vector<16xi32>
func.func @places_of_columns(%x: memref<?x32xi32>, %y: memref<32xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%x : memref<?x32xi32>) outs(%y : memref<32xi32>) {
  ^bb0(%p: i32, %o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.index_cast %i : index to i32
    %l = arith.index_cast %j : index to i32
    %c = arith.cmpi slt, %p, %l : i32
    %s = arith.select %c, %k, %p : i32
    %t = arith.minsi %s, %o : i32
    linalg.yield %t : i32
  }
  return
}

// Places that count up from where a run says, held within the table, are those
// of neighbours where the last of a vector is as far on as its lanes.
// CHECK-LABEL: func @held(
// CHECK-SAME: %[[TABLE:[^:]+]]: memref<100xf32>
// CHECK: scf.for %[[I:.*]] = %c0 to %c96 step %c16
// CHECK: %[[ACROSS:.*]] = arith.subi %{{.*}}, %[[FIRST:.*]] : index
// CHECK: %[[ARE:.*]] = arith.cmpi eq, %[[ACROSS]], %c15
// CHECK: scf.if %[[ARE]]
// CHECK: vector.load %[[TABLE]][%[[FIRST]]] : memref<100xf32>, vector<16xf32>
// CHECK: else
// CHECK: vector.gather %[[TABLE]]
// CHECK: scf.if
// CHECK: vector.maskedload %[[TABLE]]
// CHECK: else
// CHECK: vector.gather %[[TABLE]]
func.func @held(%table: memref<100xf32>, %by: memref<i64>, %y: memref<100xf32>) {
  %zero = arith.constant 0 : i64
  %c0 = arith.constant 0 : index
  %c100 = arith.constant 100 : index
  %last = arith.constant 99 : index
  linalg.generic {indexing_maps = [affine_map<(d0) -> ()>, #each], iterator_types = ["parallel"]} ins(%by : memref<i64>) outs(%y : memref<100xf32>) {
  ^bb0(%from: i64, %o: f32):
    %n = linalg.index 0 : index
    %i = arith.index_cast %n : index to i64
    %s = arith.subi %i, %from : i64
    %m = arith.maxsi %s, %zero : i64
    %p = arith.index_cast %m : i64 to index
    %negative = arith.cmpi slt, %p, %c0 : index
    %wrapped = arith.addi %p, %c100 : index
    %q = arith.select %negative, %wrapped, %p : index
    %at = arith.minui %q, %last : index
    %v = memref.load %table[%at] : memref<100xf32>
    linalg.yield %v : f32
  }
  return
}
