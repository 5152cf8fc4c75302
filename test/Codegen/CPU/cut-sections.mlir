// RUN: loopc-opt %s --cpu-cut-sections=min-section-ops=100 | FileCheck %s
// RUN: loopc-opt %s --cpu-cut-sections=min-section-ops=100 --cpu-join-sections \
// RUN:   | FileCheck %s --check-prefix=JOINED
// RUN: loopc-opt %s --cpu-cut-sections | FileCheck %s --check-prefix=SMALL

#x = affine_map<(i, j, k) -> (i, k)>
#y = affine_map<(i, j, k) -> (k, j)>
#z = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>

// A section ends behind what is done on the elements of a product. The next one
// has a buffer that stands for the one it is handed, and gives it back, so that
// it is no buffer of its own. It is freed where it was.

// SMALL-LABEL: func @chain
// SMALL-NOT: call

// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[X:.*]]: memref<8x8xf32>, %[[W:.*]]: memref<8x8xf32>, %[[E:.*]]: index)
// CHECK: %[[FIRST:.*]]:4 = loopc.call_section @chain_side_0(%[[E]], %[[X]], %[[W]])
// CHECK: loopc.call_section @chain_side(%[[E]], %[[FIRST]]#3, %[[W]])
// CHECK-NOT: linalg

// JOINED-LABEL: func.func @chain
// JOINED: %[[A:.*]] = memref.alloc(%{{.*}}) : memref<?x8xf32>
// JOINED: linalg.fill {{.*}} outs(%[[A]]
// JOINED: linalg.generic {{.*}} outs(%[[A]]
// JOINED: math.tanh
// JOINED: %[[B:.*]] = memref.alloc(%{{.*}}) : memref<?x8xf32>
// JOINED: linalg.generic {{.*}} ins(%[[A]], {{.*}} outs(%[[B]]
// JOINED: memref.dealloc %[[A]]
// JOINED: return %[[B]]
// JOINED-NOT: call
func.func @chain(%x: memref<8x8xf32>, %w: memref<8x8xf32>, %extent: index) -> memref<?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc(%extent) : memref<?x8xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<?x8xf32>)
  linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x8xf32>, memref<8x8xf32>) outs(%a : memref<?x8xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<?x8xf32>) outs(%a : memref<?x8xf32>) {
  ^bb0(%l: f32, %o: f32):
    %t = math.tanh %l : f32
    linalg.yield %t : f32
  }
  %b = memref.alloc(%extent) : memref<?x8xf32>
  linalg.fill ins(%zero : f32) outs(%b : memref<?x8xf32>)
  linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : memref<?x8xf32>, memref<8x8xf32>) outs(%b : memref<?x8xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  memref.dealloc %a : memref<?x8xf32>
  return %b : memref<?x8xf32>
}

// What is computed on a product stays with it, also where the sizes would be
// better balanced otherwise.

// CHECK: func.func @alone
// CHECK-NOT: call
func.func @alone(%x: memref<8x8xf32>, %w: memref<8x8xf32>, %b: memref<8x8xf32>) {
  %a = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x8xf32>, memref<8x8xf32>) outs(%a : memref<8x8xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<8x8xf32>) outs(%b : memref<8x8xf32>) {
  ^bb0(%l: f32, %o: f32):
    %t = math.tanh %l : f32
    linalg.yield %t : f32
  }
  memref.dealloc %a : memref<8x8xf32>
  return
}

// A buffer that a branch may yield from outside is not handed over, as it would
// seem to be another one as an argument: the second product stays.

// CHECK: func.func @branch
// CHECK: loopc.call_section @branch_side(
// CHECK-NOT: call
// CHECK: linalg.generic
// CHECK: return

// CHECK: func.func private @chain_side(
// CHECK-SAME: attributes {loopc.section}
// CHECK: %[[OWN:.*]] = memref.alloc(%{{.*}}) : memref<?x8xf32>
// CHECK: linalg.generic
// CHECK-SAME: reduction
// CHECK: memref.dealloc %[[OWN]]
// CHECK: return %{{.*}}, %[[OWN]]

func.func @branch(%x: memref<8x8xf32>, %w: memref<8x8xf32>, %c: i1) -> (memref<8x8xf32>, memref<8x8xf32>) {
  %r = scf.if %c -> memref<8x8xf32> {
    scf.yield %w : memref<8x8xf32>
  } else {
    scf.yield %x : memref<8x8xf32>
  }
  %a = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x8xf32>, memref<8x8xf32>) outs(%a : memref<8x8xf32>) {
  ^bb0(%l: f32, %q: f32, %o: f32):
    %p = arith.mulf %l, %q : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  %b = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%r, %w : memref<8x8xf32>, memref<8x8xf32>) outs(%b : memref<8x8xf32>) {
  ^bb0(%l: f32, %q: f32, %o: f32):
    %p = arith.mulf %l, %q : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return %a, %b : memref<8x8xf32>, memref<8x8xf32>
}
