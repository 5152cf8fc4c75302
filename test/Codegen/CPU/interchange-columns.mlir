// RUN: loopc-opt %s --loopc-set-target="vector-bits=128" --cpu-interchange-elements --canonicalize --cse | FileCheck %s
// RUN: loopc-opt %s --cpu-interchange-elements --remark-format=emitRemark \
// RUN:   --remarks-filter=loop 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

#one = affine_map<(i) -> (i)>

// Four rows and four iterations at once: rows are read, transposed, run through
// as columns from the last to the first, transposed back and written.
// REMARK: "tiles of rows and iterations are transposed in registers"
// CHECK-LABEL: func @columns(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[X:[^:]+]]: tensor<8x?xf32>
// CHECK: %[[OUT:.*]] = memref.alloca() {alignment = 64 : i64} : memref<4x4xf32>
// CHECK: scf.for %[[ROW:[^ ]+]] = %{{[^ ]+}} to %{{[^ ]+}} step
// CHECK: loop.loop {{.*}} carried(%[[S:[^ ]+]] = %{{[^ ]+}} : vector<4xf32>, %[[ACC:[^ ]+]] = %{{[^ ]+}} : tensor<8x?xf32>)
// CHECK: %[[R0:.*]] = vector.transfer_read %[[X]][%[[ROW]], %{{.*}}]{{.*}}in_bounds = [true]} : tensor<8x?xf32>, vector<4xf32>
// CHECK-COUNT-3: vector.transfer_read %[[X]]
// CHECK: vector.shuffle %[[R0]], %{{.*}} [0, 4, 2, 6]
// CHECK-COUNT-7: vector.shuffle
// CHECK-COUNT-4: vector.store %{{.*}} : memref<4x4xf32>, vector<4xf32>
// CHECK: scf.for %[[STEP:[^ ]+]] = %{{.*}} iter_args(%[[V:[^ ]+]] = %[[S]])
// CHECK: %[[COLUMN:.*]] = arith.subi %{{.*}}, %[[STEP]]
// CHECK: %[[E:.*]] = vector.load %{{.*}}[%[[COLUMN]], %{{.*}}]
// CHECK: %[[Y:.*]] = arith.addf %[[V]], %[[E]] : vector<4xf32>
// CHECK: vector.store %[[Y]], %{{.*}}[%[[STEP]], %{{.*}}]
// CHECK: scf.yield %[[Y]]
// CHECK: vector.transfer_write %{{.*}}, %[[ACC]]
// CHECK-COUNT-3: vector.transfer_write
// CHECK: loop.yield
// The iterations that are left, under a mask.
// CHECK: vector.create_mask
// CHECK: vector.transfer_read %[[X]][{{.*}}], %{{.*}}, %{{.*}} {in_bounds = [true]}
func.func @columns(%n: i64, %x: tensor<8x?xf32>, %s0: tensor<8xf32>, %acc: tensor<8x?xf32>, %last: index) -> (tensor<8xf32>, tensor<8x?xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %r:2 = loop.loop (%i : i64, %k : i1) trips(%n : i64) carried(%s = %s0 : tensor<8xf32>, %a = %acc : tensor<8x?xf32>) {
    %t = arith.index_cast %i : i64 to index
    %p = arith.subi %last, %t : index
    %c = tensor.extract_slice %x[0, %p] [8, 1] [1, 1] : tensor<8x?xf32> to tensor<8xf32>
    %y = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
        ins(%s, %c : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %q = arith.addf %u, %v : f32
      linalg.yield %q : f32
    } -> tensor<8xf32>
    %b = tensor.insert_slice %y into %a[0, %t] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x?xf32>
    loop.yield while(%k : i1) carried(%y, %b : tensor<8xf32>, tensor<8x?xf32>)
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8x?xf32>
}

// REMARK: "iterations run outside, elements inside: it reads and writes no columns"
// CHECK-LABEL: func @rows(
// CHECK-NOT: vector
func.func @rows(%n: i64, %x: tensor<?x8xf32>, %s0: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = loop.loop (%i : i64, %k : i1) trips(%n : i64) carried(%s = %s0 : tensor<8xf32>) {
    %t = arith.index_cast %i : i64 to index
    %c = tensor.extract_slice %x[%t, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
    %y = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
        ins(%s, %c : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %q = arith.addf %u, %v : f32
      linalg.yield %q : f32
    } -> tensor<8xf32>
    loop.yield while(%k : i1) carried(%y : tensor<8xf32>)
  }
  return %r : tensor<8xf32>
}

// A condition may end it; a stride of two leaves iterations out; a sum that may
// fail.
// REMARK: "iterations run outside, elements inside: a condition may end it between any two iterations"
// REMARK: "iterations run outside, elements inside: a slice is not read in vectors"
// CHECK-LABEL: func @left_alone(
// CHECK-NOT: vector
func.func @left_alone(%n: i64, %go: i1, %x: tensor<8x?xf32>, %s0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %c2 = arith.constant 2 : index
  %r = loop.loop (%i : i64, %k : i1) trips(%n : i64) while(%go : i1) carried(%s = %s0 : tensor<8xf32>) {
    %t = arith.index_cast %i : i64 to index
    %c = tensor.extract_slice %x[0, %t] [8, 1] [1, 1] : tensor<8x?xf32> to tensor<8xf32>
    %y = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
        ins(%s, %c : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %q = arith.addf %u, %v : f32
      linalg.yield %q : f32
    } -> tensor<8xf32>
    loop.yield while(%k : i1) carried(%y : tensor<8xf32>)
  }
  %w = loop.loop (%i : i64, %k : i1) trips(%n : i64) carried(%s = %s0 : tensor<8xf32>) {
    %t = arith.index_cast %i : i64 to index
    %p = arith.muli %t, %c2 : index
    %c = tensor.extract_slice %x[0, %p] [8, 1] [1, 1] : tensor<8x?xf32> to tensor<8xf32>
    %y = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
        ins(%s, %c : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %q = arith.addf %u, %v : f32
      linalg.yield %q : f32
    } -> tensor<8xf32>
    loop.yield while(%k : i1) carried(%y : tensor<8xf32>)
  }
  return %r, %w : tensor<8xf32>, tensor<8xf32>
}

// Truth values are bytes in memory and masks in registers, and a number that the
// body makes is one for all elements.
// REMARK: "tiles of rows and iterations are transposed in registers"
// CHECK-LABEL: func @masks(
// CHECK: arith.extui %{{.*}} : i1 to i8
// CHECK: %[[MASK:.*]] = arith.trunci %{{.*}} : vector<4xi8> to vector<4xi1>
// CHECK: loop.loop {{.*}} carried(%{{[^ ]+}} = %{{[^ ]+}} : vector<4xi32>, %{{[^ ]+}} = %[[MASK]] : vector<4xi1>)
// CHECK: %[[NUMBER:.*]] = vector.broadcast %{{.*}} : i32 to vector<4xi32>
// CHECK: arith.cmpi slt, %{{.*}}, %[[NUMBER]] : vector<4xi32>
// CHECK: arith.extui %{{.*}} : vector<4xi1> to vector<4xi8>
func.func @masks(%n: i64, %x: tensor<8x?xi32>, %s0: tensor<8xi32>, %m0: tensor<8xi1>) -> (tensor<8xi32>, tensor<8xi1>) {
  %e = tensor.empty() : tensor<8xi32>
  %f = tensor.empty() : tensor<8xi1>
  %r:2 = loop.loop (%i : i64, %k : i1) trips(%n : i64) carried(%s = %s0 : tensor<8xi32>, %m = %m0 : tensor<8xi1>) {
    %t = arith.index_cast %i : i64 to index
    %j = arith.trunci %i : i64 to i32
    %number = tensor.from_elements %j : tensor<i32>
    %c = tensor.extract_slice %x[0, %t] [8, 1] [1, 1] : tensor<8x?xi32> to tensor<8xi32>
    %y:2 = linalg.generic {indexing_maps = [#one, #one, #one, affine_map<(i) -> ()>, #one, #one], iterator_types = ["parallel"]}
        ins(%s, %m, %c, %number : tensor<8xi32>, tensor<8xi1>, tensor<8xi32>, tensor<i32>) outs(%e, %f : tensor<8xi32>, tensor<8xi1>) {
    ^bb0(%u: i32, %v: i1, %w: i32, %z: i32, %o: i32, %p: i1):
      %q = arith.select %v, %w, %u : i32
      %g = arith.cmpi slt, %q, %z : i32
      linalg.yield %q, %g : i32, i1
    } -> (tensor<8xi32>, tensor<8xi1>)
    loop.yield while(%k : i1) carried(%y#0, %y#1 : tensor<8xi32>, tensor<8xi1>)
  }
  return %r#0, %r#1 : tensor<8xi32>, tensor<8xi1>
}

// The place of a column in fewer bits wraps around within a tile.
// REMARK: "iterations run outside, elements inside: a slice is not read in vectors"
// CHECK-LABEL: func @fewerBits(
// CHECK-NOT: vector
func.func @fewerBits(%x: tensor<8x256xf32>, %s0: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %n = arith.constant 256 : index
  %c3 = arith.constant 3 : index
  %c128 = arith.constant 128 : index
  %r = loop.loop (%i : index, %k : i1) trips(%n : index) carried(%s = %s0 : tensor<8xf32>) {
    %j = arith.addi %i, %c3 : index
    %byte = arith.index_cast %j : index to i8
    %signed = arith.index_cast %byte : i8 to index
    %t = arith.addi %signed, %c128 : index
    %c = tensor.extract_slice %x[0, %t] [8, 1] [1, 1] : tensor<8x256xf32> to tensor<8xf32>
    %y = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
        ins(%s, %c : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %q = arith.addf %u, %v : f32
      linalg.yield %q : f32
    } -> tensor<8xf32>
    loop.yield while(%k : i1) carried(%y : tensor<8xf32>)
  }
  return %r : tensor<8xf32>
}

// Each iteration writes where those before it have written: the last one's
// elements stay, which an earlier tile computes.
// REMARK: "iterations run outside, elements inside: a value that it collects is not written in vectors"
// CHECK-LABEL: func @overlapping(
// CHECK-NOT: vector
func.func @overlapping(%n: index, %x: tensor<40x?xf32>, %s0: tensor<40xf32>, %all0: tensor<?xf32>) -> tensor<?xf32> {
  %e = tensor.empty() : tensor<40xf32>
  %r:2 = loop.loop (%i : index, %k : i1) trips(%n : index) carried(%s = %s0 : tensor<40xf32>, %all = %all0 : tensor<?xf32>) {
    %c = tensor.extract_slice %x[0, %i] [40, 1] [1, 1] : tensor<40x?xf32> to tensor<40xf32>
    %y = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
        ins(%s, %c : tensor<40xf32>, tensor<40xf32>) outs(%e : tensor<40xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %q = arith.addf %u, %v : f32
      linalg.yield %q : f32
    } -> tensor<40xf32>
    %next = tensor.insert_slice %y into %all[%i] [40] [1] : tensor<40xf32> into tensor<?xf32>
    loop.yield while(%k : i1) carried(%y, %next : tensor<40xf32>, tensor<?xf32>)
  }
  return %r#1 : tensor<?xf32>
}
