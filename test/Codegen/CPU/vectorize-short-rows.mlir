// RUN: loopc-opt %s --loopc-set-target="vector-bits=512 registers=32 mask-bits=8" --cpu-vectorize-rows -canonicalize -cse -split-input-file | FileCheck %s

// 16 rows of 3 are 3 whole vectors: no mask. The row that all share is read
// from a table, 16 times one behind the other.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func @add_row(
// CHECK-SAME: %[[X:[^:]+]]: memref<160x3xf32>, %[[ROW:[^:]+]]: memref<3xf32>, %[[Y:[^:]+]]: memref<160x3xf32>
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[C48:.*]] = arith.constant 48 : index
// CHECK-DAG: %[[C160:.*]] = arith.constant 160 : index
// CHECK: %[[TABLE:.*]] = memref.alloca() {{.*}} : memref<512xf32>
// CHECK: memref.store %{{.*}}, %[[TABLE]]
// CHECK: scf.for %[[R:.*]] = %{{.*}} to %[[C160]] step %[[C16]]
// CHECK: scf.for %[[V:.*]] = %{{.*}} to %[[C48]] step %[[C16]]
// CHECK-DAG: vector.load %{{.*}} : memref<480xf32>, vector<16xf32>
// CHECK-DAG: vector.load %[[TABLE]][%[[V]]]
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: vector.store %{{.*}} : memref<480xf32>, vector<16xf32>
// CHECK: } {loopc.parallel}
// CHECK-NEXT: } {loopc.parallel}
// CHECK-NOT: masked
// CHECK: return
func.func @add_row(%x: memref<160x3xf32>, %row: memref<3xf32>, %y: memref<160x3xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %row : memref<160x3xf32>, memref<3xf32>) outs(%y : memref<160x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Where a run tells how long rows are, none are done so if they are long, and
// the others as before: of what takes longer than memory does.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func @exp_of_open(
// CHECK: %[[TABLE:.*]] = memref.alloca() {{.*}} : memref<512xf32>
// CHECK: %[[AREFEW:.*]] = arith.cmpi ule, %{{.*}}, %{{.*}} : index
// CHECK: arith.select
// CHECK: memref.store %{{.*}}, %[[TABLE]]
// CHECK: vector.load %[[TABLE]]
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK: vector.store
// CHECK: memref.subview
// CHECK: vector.maskedload
func.func @exp_of_open(%x: memref<?x?xf32>, %most: memref<?xf32>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %most : memref<?x?xf32>, memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  }
  return
}

// -----

// Of open length rows are rather long: of little work there is no code for short
// ones, but where each row is written where it was read.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func @add_of_open(
// CHECK-NOT: memref.alloca
// CHECK: return
// CHECK-LABEL: func @add_in_place(
// CHECK: memref.alloca() {{.*}} : memref<512xf32>
func.func @add_of_open(%x: memref<?x?xf32>, %row: memref<?xf32>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %row : memref<?x?xf32>, memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}
func.func @add_in_place(%x: memref<?x?xf32>, %row: memref<?xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %row : memref<?x?xf32>, memref<?xf32>) outs(%x : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Each sum of a column is of every 16th row, and they are added up at last.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func @sum_of_columns(
// CHECK: %[[SUMS:.*]] = memref.alloca() {{.*}} : memref<512xf32>
// CHECK: memref.store %{{.*}}, %[[SUMS]]
// CHECK: vector.load %[[SUMS]]
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: vector.store %{{.*}}, %[[SUMS]]
// CHECK: memref.load %[[SUMS]]
// CHECK: arith.addf {{.*}} : f32
func.func @sum_of_columns(%x: memref<160x3xf32>, %sums: memref<3xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<160x3xf32>) outs(%sums : memref<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// The rows that are left, three of 67 here, count on from those that are done.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func @last_above(
// CHECK: memref.alloca() {{.*}} : memref<128xindex>
// CHECK: vector.load {{.*}} : memref<128xindex>, vector<8xindex>
// CHECK: memref.subview %{{.*}}[64, 0] [3, 3] [1, 1]
// CHECK: arith.addi {{.*}} : vector<8xindex>
func.func @last_above(%x: memref<67x3xf32>, %least: memref<3xf32>, %last: memref<3xi64>) {
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["reduction", "parallel"]}
      ins(%x, %least : memref<67x3xf32>, memref<3xf32>) outs(%last : memref<3xi64>) {
  ^bb0(%a: f32, %b: f32, %o: i64):
    %zero = arith.constant 0 : i64
    %above = arith.cmpf ogt, %a, %b : f32
    %k = linalg.index 0 : index
    %n = arith.index_cast %k : index to i64
    %s = arith.select %above, %n, %zero : i64
    %m = arith.maxsi %s, %o : i64
    linalg.yield %m : i64
  }
  return
}

// -----

// In loops over other axes, which threads may share, each iteration has a table
// of its own.
#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, j)>
// CHECK-LABEL: func @row_of_each(
// CHECK-NOT: alloca
// CHECK: scf.for
// CHECK: %[[TABLE:.*]] = memref.alloc() {{.*}} : memref<512xf32>
// CHECK: vector.load %[[TABLE]]
// CHECK: memref.dealloc %[[TABLE]]
// CHECK: loopc.parallel}
func.func @row_of_each(%x: memref<?x160x3xf32>, %row: memref<?x3xf32>, %y: memref<?x160x3xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %row : memref<?x160x3xf32>, memref<?x3xf32>) outs(%y : memref<?x160x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Few rows, and rows that are nearly whole vectors, stay as they are.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func @few_rows(
// CHECK-NOT: alloca
// CHECK: return
func.func @few_rows(%x: memref<20x3xf32>, %row: memref<3xf32>, %y: memref<20x3xf32>,
                    %w: memref<160x31xf32>, %v: memref<31xf32>, %z: memref<160x31xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %row : memref<20x3xf32>, memref<3xf32>) outs(%y : memref<20x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %v : memref<160x31xf32>, memref<31xf32>) outs(%z : memref<160x31xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Operations that follow one another take turns with one table.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func @two(
// CHECK-COUNT-1: memref.alloca()
// CHECK-NOT: memref.alloca()
// CHECK: return
func.func @two(%x: memref<160x3xf32>, %row: memref<3xf32>, %y: memref<160x3xf32>, %z: memref<160x3xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %row : memref<160x3xf32>, memref<3xf32>) outs(%y : memref<160x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %row : memref<160x3xf32>, memref<3xf32>) outs(%z : memref<160x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// What threads may run at the same time has tables of its own.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func @heads(
// CHECK-NOT: alloca
// CHECK: scf.for
// CHECK: memref.alloc() {{.*}} : memref<512xf32>
// CHECK: memref.dealloc
// CHECK: loopc.parallel}
func.func @heads(%x: memref<8x160x3xf32>, %row: memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %h = %c0 to %c8 step %c1 {
    %part = memref.subview %x[%h, 0, 0] [1, 160, 3] [1, 1, 1]
        : memref<8x160x3xf32> to memref<160x3xf32, strided<[3, 1], offset: ?>>
    linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%row : memref<3xf32>) outs(%part : memref<160x3xf32, strided<[3, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
    }
  } {loopc.parallel}
  return
}

// -----

// Of numbers that no vector has the loops are another pass's.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func @complex(
// CHECK: linalg.generic
func.func @complex(%x: memref<100x3xcomplex<f32>>, %row: memref<3xcomplex<f32>>) {
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%row : memref<3xcomplex<f32>>) outs(%x : memref<100x3xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %o: complex<f32>):
    linalg.yield %a : complex<f32>
  }
  return
}

// -----

// Elements of every second place are no vector, even if all of them lie at one
// distance: one of the last axis of an image, say.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func @every_second
// CHECK-NOT: memref.alloca
// CHECK-NOT: vector.load %{{.*}} : memref<?xf32, strided<[2]>>
// CHECK: return
func.func @every_second(%x: memref<160x6x2xf32>, %row: memref<6xf32>, %y: memref<160x6xf32>) {
  %part = memref.subview %x[0, 0, 0] [160, 6, 1] [1, 1, 1] : memref<160x6x2xf32> to memref<160x6xf32, strided<[12, 2]>>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%part, %row : memref<160x6xf32, strided<[12, 2]>>, memref<6xf32>) outs(%y : memref<160x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}
