// RUN: loopc-opt %s --loopc-retract-packed --split-input-file | FileCheck %s
// RUN: loopc-opt %s --loopc-retract-packed --split-input-file --remark-format=emitRemark --remarks-filter=loop 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=REMARK

// Any tensor may be panels by its type: who says so of an argument is not believed.
// REMARK: operand #1 is said to be packed
#x = affine_map<(k, n) -> (k)>
#w = affine_map<(k, n) -> (n floordiv 8, k, n mod 8)>
#y = affine_map<(k, n) -> (n)>
// CHECK-LABEL: func.func @given(
// CHECK: linalg.generic
// CHECK-NOT: loopc.packed
func.func @given(%x: tensor<1xf32>, %w: tensor<2x1x8xf32>, %y: tensor<12xf32>) -> tensor<12xf32> {
  %s = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %w : tensor<1xf32>, tensor<2x1x8xf32>) outs(%y : tensor<12xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    linalg.yield %c : f32
  } -> tensor<12xf32>
  return %s : tensor<12xf32>
}

// -----

#x = affine_map<(k, n) -> (k)>
#w = affine_map<(k, n) -> (n floordiv 8, k, n mod 8)>
#y = affine_map<(k, n) -> (n)>
memref.global "private" constant @weights : memref<2x1x8xf32> = dense<[[[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]]]>
memref.global "private" constant @others : memref<2x1x8xf32> = dense<1.0>
// CHECK-LABEL: func.func @constants(
// CHECK: linalg.generic {{.*}} attrs = {loopc.packed}
// CHECK: linalg.generic
// CHECK-NOT: loopc.packed
func.func @constants(%x: memref<1xf32>, %y: memref<12xf32>) {
  %weights = memref.get_global @weights : memref<2x1x8xf32>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %weights : memref<1xf32>, memref<2x1x8xf32>) outs(%y : memref<12xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    linalg.yield %c : f32
  }
  %others = memref.get_global @others : memref<2x1x8xf32>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %others : memref<1xf32>, memref<2x1x8xf32>) outs(%y : memref<12xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    linalg.yield %c : f32
  }
  return
}

// -----

// A buffer that is filled with zeros, then with panels, and that nobody else writes to.
#x = affine_map<(k, n) -> (k)>
#w = affine_map<(k, n) -> (n floordiv 8, k, n mod 8)>
#y = affine_map<(k, n) -> (n)>
#from = affine_map<(k, n) -> (k, n)>
// CHECK-LABEL: func.func @buffer(
// CHECK-COUNT-2: attrs = {loopc.packed}
func.func @buffer(%x: memref<1xf32>, %v: memref<1x12xf32>, %y: memref<12xf32>) {
  %zero = arith.constant 0.0 : f32
  %packed = memref.alloc() : memref<2x1x8xf32>
  linalg.fill ins(%zero : f32) outs(%packed : memref<2x1x8xf32>)
  linalg.generic {indexing_maps = [#from, #w], iterator_types = ["parallel", "parallel"]}
      ins(%v : memref<1x12xf32>) outs(%packed : memref<2x1x8xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %packed : memref<1xf32>, memref<2x1x8xf32>) outs(%y : memref<12xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    linalg.yield %c : f32
  }
  memref.dealloc %packed : memref<2x1x8xf32>
  return
}

// -----

// Written to once more, or filled behind: not proved.
#x = affine_map<(k, n) -> (k)>
#w = affine_map<(k, n) -> (n floordiv 8, k, n mod 8)>
#y = affine_map<(k, n) -> (n)>
#from = affine_map<(k, n) -> (k, n)>
// CHECK-LABEL: func.func @written(
// CHECK-COUNT-1: attrs = {loopc.packed}
// CHECK-NOT: attrs = {loopc.packed}
func.func @written(%x: memref<1xf32>, %v: memref<1x12xf32>, %y: memref<12xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %packed = memref.alloc() : memref<2x1x8xf32>
  linalg.fill ins(%zero : f32) outs(%packed : memref<2x1x8xf32>)
  linalg.generic {indexing_maps = [#from, #w], iterator_types = ["parallel", "parallel"]}
      ins(%v : memref<1x12xf32>) outs(%packed : memref<2x1x8xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  memref.store %one, %packed[%c1, %c0, %c7] : memref<2x1x8xf32>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %packed : memref<1xf32>, memref<2x1x8xf32>) outs(%y : memref<12xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    linalg.yield %c : f32
  }
  memref.dealloc %packed : memref<2x1x8xf32>
  return
}

// CHECK-LABEL: func.func @filled_behind(
// CHECK-COUNT-1: attrs = {loopc.packed}
// CHECK-NOT: attrs = {loopc.packed}
func.func @filled_behind(%x: memref<1xf32>, %v: memref<1x12xf32>, %y: memref<12xf32>) {
  %one = arith.constant 1.0 : f32
  %packed = memref.alloc() : memref<2x1x8xf32>
  linalg.generic {indexing_maps = [#from, #w], iterator_types = ["parallel", "parallel"]}
      ins(%v : memref<1x12xf32>) outs(%packed : memref<2x1x8xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.fill ins(%one : f32) outs(%packed : memref<2x1x8xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %packed : memref<1xf32>, memref<2x1x8xf32>) outs(%y : memref<12xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    linalg.yield %c : f32
  }
  memref.dealloc %packed : memref<2x1x8xf32>
  return
}

// -----

// Panels that each branch fills, as where extents that are open are the same or one of them is one: of a tensor, and of a buffer.
#x = affine_map<(k, n) -> (k)>
#w = affine_map<(k, n) -> (n floordiv 8, k, n mod 8)>
#y = affine_map<(k, n) -> (n)>
#from = affine_map<(k, n) -> (k, n)>
// CHECK-LABEL: func.func @branches(
// CHECK-COUNT-3: attrs = {loopc.packed}
func.func @branches(%c: i1, %x: tensor<1xf32>, %v: tensor<1x12xf32>, %u: tensor<1x12xf32>, %y: tensor<12xf32>) -> tensor<12xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x1x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x1x8xf32>) -> tensor<2x1x8xf32>
  %packed = scf.if %c -> tensor<2x1x8xf32> {
    %p = linalg.generic {indexing_maps = [#from, #w], iterator_types = ["parallel", "parallel"]}
        ins(%v : tensor<1x12xf32>) outs(%f : tensor<2x1x8xf32>) attrs = {loopc.packed} {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<2x1x8xf32>
    scf.yield %p : tensor<2x1x8xf32>
  } else {
    %p = linalg.generic {indexing_maps = [#from, #w], iterator_types = ["parallel", "parallel"]}
        ins(%u : tensor<1x12xf32>) outs(%f : tensor<2x1x8xf32>) attrs = {loopc.packed} {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<2x1x8xf32>
    scf.yield %p : tensor<2x1x8xf32>
  }
  %s = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %packed : tensor<1xf32>, tensor<2x1x8xf32>) outs(%y : tensor<12xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %d: f32):
    linalg.yield %d : f32
  } -> tensor<12xf32>
  return %s : tensor<12xf32>
}

// CHECK-LABEL: func.func @branches_of_buffer(
// CHECK-COUNT-3: attrs = {loopc.packed}
func.func @branches_of_buffer(%c: i1, %x: memref<1xf32>, %v: memref<1x12xf32>, %u: memref<1x12xf32>, %y: memref<12xf32>) {
  %zero = arith.constant 0.0 : f32
  %packed = memref.alloc() : memref<2x1x8xf32>
  linalg.fill ins(%zero : f32) outs(%packed : memref<2x1x8xf32>)
  scf.if %c {
    linalg.generic {indexing_maps = [#from, #w], iterator_types = ["parallel", "parallel"]}
        ins(%v : memref<1x12xf32>) outs(%packed : memref<2x1x8xf32>) attrs = {loopc.packed} {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    }
  } else {
    linalg.generic {indexing_maps = [#from, #w], iterator_types = ["parallel", "parallel"]}
        ins(%u : memref<1x12xf32>) outs(%packed : memref<2x1x8xf32>) attrs = {loopc.packed} {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    }
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %packed : memref<1xf32>, memref<2x1x8xf32>) outs(%y : memref<12xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %d: f32):
    linalg.yield %d : f32
  }
  memref.dealloc %packed : memref<2x1x8xf32>
  return
}

// -----

// One branch yields what nobody knows: not proved.
#x = affine_map<(k, n) -> (k)>
#w = affine_map<(k, n) -> (n floordiv 8, k, n mod 8)>
#y = affine_map<(k, n) -> (n)>
#from = affine_map<(k, n) -> (k, n)>
// CHECK-LABEL: func.func @one_branch(
// CHECK-COUNT-1: attrs = {loopc.packed}
// CHECK-NOT: attrs = {loopc.packed}
func.func @one_branch(%c: i1, %x: tensor<1xf32>, %v: tensor<1x12xf32>, %w: tensor<2x1x8xf32>, %y: tensor<12xf32>) -> tensor<12xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x1x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x1x8xf32>) -> tensor<2x1x8xf32>
  %packed = scf.if %c -> tensor<2x1x8xf32> {
    %p = linalg.generic {indexing_maps = [#from, #w], iterator_types = ["parallel", "parallel"]}
        ins(%v : tensor<1x12xf32>) outs(%f : tensor<2x1x8xf32>) attrs = {loopc.packed} {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<2x1x8xf32>
    scf.yield %p : tensor<2x1x8xf32>
  } else {
    scf.yield %w : tensor<2x1x8xf32>
  }
  %s = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %packed : tensor<1xf32>, tensor<2x1x8xf32>) outs(%y : tensor<12xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %d: f32):
    linalg.yield %d : f32
  } -> tensor<12xf32>
  return %s : tensor<12xf32>
}
