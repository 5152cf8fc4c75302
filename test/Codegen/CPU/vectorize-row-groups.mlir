// RUN: loopc-opt %s --split-input-file --pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 mask-bits=8},func.func(cpu-vectorize-rows,canonicalize,cse))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>

// A Softmax: four rows go through all of its operations before the next ones,
// what is left one by one. What is freed in between is freed behind them.
// CHECK-LABEL: func @softmax(
// CHECK-SAME: %[[X:[^:]+]]: memref<?x?xf32>
// CHECK: %[[M:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: %[[S:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: %[[Y:.*]] = memref.alloc(%{{.*}}, %{{.*}}) : memref<?x?xf32>
// CHECK: %[[R:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: scf.for
// CHECK: scf.if
// CHECK-COUNT-4: memref.store %{{.*}}, %[[M]][
// CHECK: scf.for
// CHECK: arith.maximumf {{.*}} : vector<16xf32>
// CHECK-COUNT-4: memref.store %{{.*}}, %[[S]][
// CHECK: scf.for
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK-COUNT-4: arith.divf {{.*}} : f32
// CHECK: scf.for
// CHECK: arith.mulf {{.*}} : vector<16xf32>
// CHECK: } else {
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[M]][
// CHECK: } {loopc.parallel}
// CHECK-NOT: scf.for
// CHECK-NOT: linalg
// CHECK-DAG: memref.dealloc %[[M]] :
// CHECK-DAG: memref.dealloc %[[S]] :
// CHECK-DAG: memref.dealloc %[[R]] :
// CHECK: return %[[Y]]
func.func @softmax(%x: memref<?x?xf32>) -> memref<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %unit = arith.constant 1.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %d0 = memref.dim %x, %c0 : memref<?x?xf32>
  %d1 = memref.dim %x, %c1 : memref<?x?xf32>
  %m = memref.alloc(%d0) : memref<?xf32>
  linalg.fill ins(%least : f32) outs(%m : memref<?xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x?xf32>) outs(%m : memref<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.maximumf %p, %o : f32
    linalg.yield %t : f32
  }
  %s = memref.alloc(%d0) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<?xf32>)
  %y = memref.alloc(%d0, %d1) : memref<?x?xf32>
  linalg.generic {indexing_maps = [#id, #row, #id, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %m : memref<?x?xf32>, memref<?xf32>) outs(%y, %s : memref<?x?xf32>, memref<?xf32>) {
  ^bb0(%p: f32, %q: f32, %n: f32, %o: f32):
    %t = arith.subf %p, %q : f32
    %e = math.exp %t : f32
    %u = arith.addf %e, %o fastmath<reassoc> : f32
    linalg.yield %e, %u : f32, f32
  }
  memref.dealloc %m : memref<?xf32>
  %r = memref.alloc(%d0) : memref<?xf32>
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%s : memref<?xf32>) outs(%r : memref<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.divf %unit, %p : f32
    linalg.yield %t : f32
  }
  memref.dealloc %s : memref<?xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %r : memref<?x?xf32>, memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.mulf %p, %q : f32
    linalg.yield %t : f32
  }
  memref.dealloc %r : memref<?xf32>
  return %y : memref<?x?xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d1)>

// What needs all rows of what was written comes behind them.
// CHECK-LABEL: func @needs_all(
// CHECK: } {loopc.parallel}
// CHECK: scf.for
// CHECK: } {loopc.parallel}
// CHECK: return
func.func @needs_all(%x: memref<?x?xf32>, %s: memref<?xf32>, %n: index, %m: index) -> memref<?x?xf32> {
  %y = memref.alloc(%n, %m) : memref<?x?xf32>
  %v = memref.alloc(%m) : memref<?xf32>
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %s : memref<?x?xf32>, memref<?xf32>) outs(%v : memref<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %t, %o fastmath<reassoc> : f32
    linalg.yield %u : f32
  }
  linalg.generic {indexing_maps = [#id, #all, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %v : memref<?x?xf32>, memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.mulf %p, %q : f32
    linalg.yield %t : f32
  }
  memref.dealloc %v : memref<?xf32>
  return %y : memref<?x?xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// What is written may be %x by another name: nests of their own. And so are
// those of few rows.
// CHECK-LABEL: func @others(
// CHECK: } {loopc.parallel}
// CHECK: scf.for
// CHECK: } {loopc.parallel}
// CHECK-LABEL: func @few(
// CHECK: } {loopc.parallel}
// CHECK: scf.for
// CHECK: } {loopc.parallel}
func.func @others(%x: memref<?x?xf32>, %m: memref<?xf32>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x?xf32>) outs(%m : memref<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.maximumf %p, %o : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : memref<?x?xf32>, memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.subf %p, %q : f32
    linalg.yield %t : f32
  }
  return
}
func.func @few(%x: memref<3x5000xf32>) -> memref<3x5000xf32> {
  %m = memref.alloc() : memref<3xf32>
  %y = memref.alloc() : memref<3x5000xf32>
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<3x5000xf32>) outs(%m : memref<3xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.maximumf %p, %o : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : memref<3x5000xf32>, memref<3xf32>) outs(%y : memref<3x5000xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.subf %p, %q : f32
    linalg.yield %t : f32
  }
  memref.dealloc %m : memref<3xf32>
  return %y : memref<3x5000xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// What the group reads through a view is freed behind it.
// CHECK-LABEL: func @freed_view(
// CHECK: %[[A:.*]] = memref.alloc(
// CHECK-NOT: memref.dealloc %[[A]]
// CHECK: scf.for
// CHECK: arith.mulf {{.*}} : vector<16xf32>
// CHECK: } {loopc.parallel}
// CHECK-NEXT: memref.dealloc %[[A]]
func.func private @produce(memref<?x?xf32>)
func.func @freed_view(%d0: index, %d1: index) -> memref<?x?xf32> {
  %least = arith.constant 0xFF800000 : f32
  %a = memref.alloc(%d0, %d1) : memref<?x?xf32>
  call @produce(%a) : (memref<?x?xf32>) -> ()
  %x = memref.subview %a[0, 0] [%d0, %d1] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1]>>
  %m = memref.alloc(%d0) : memref<?xf32>
  %y = memref.alloc(%d0, %d1) : memref<?x?xf32>
  linalg.fill ins(%least : f32) outs(%m : memref<?xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x?xf32, strided<[?, 1]>>) outs(%m : memref<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.maximumf %p, %o : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : memref<?x?xf32, strided<[?, 1]>>, memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.subf %p, %q : f32
    linalg.yield %t : f32
  }
  memref.dealloc %a : memref<?x?xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %m : memref<?x?xf32>, memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.mulf %p, %q : f32
    linalg.yield %t : f32
  }
  memref.dealloc %m : memref<?xf32>
  return %y : memref<?x?xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A fill of a part of what the first operation reads ends the group: behind the
// fill it would read another thing.
// CHECK-LABEL: func @filled_in_between(
// CHECK: } {loopc.parallel}
// CHECK: linalg.fill
// CHECK: scf.for
// CHECK: } {loopc.parallel}
// CHECK: return
func.func @filled_in_between(%n: index, %k: index) -> memref<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %x = memref.alloc(%n, %n) : memref<?x?xf32>
  %part = memref.subview %x[0, 0] [%n, %k] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1]>>
  call @set(%x) : (memref<?x?xf32>) -> ()
  %m = memref.alloc(%n) : memref<?xf32>
  %y = memref.alloc(%n, %n) : memref<?x?xf32>
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x?xf32>) outs(%m : memref<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.maximumf %p, %o : f32
    linalg.yield %t : f32
  }
  linalg.fill ins(%zero : f32) outs(%part : memref<?x?xf32, strided<[?, 1]>>)
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : memref<?x?xf32>, memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.subf %p, %q : f32
    linalg.yield %t : f32
  }
  memref.dealloc %m : memref<?xf32>
  memref.dealloc %x : memref<?x?xf32>
  return %y : memref<?x?xf32>
}
func.func private @set(memref<?x?xf32>)

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// What is freed in between may be what the first operation reads; what is freed
// behind the group stays where it is.
// CHECK-LABEL: func @freed_by_another_name(
// CHECK-SAME: %[[A:[^:]+]]: memref<?x?xf32>, %[[B:[^:]+]]: memref<?x?xf32>, %[[Z:[^:]+]]: memref<8xf32>
// CHECK: scf.for
// CHECK: } {loopc.parallel}
// CHECK-NEXT: memref.dealloc %[[A]]
// CHECK-NEXT: linalg.fill {{.*}} outs(%[[Z]] :
// CHECK: memref.dealloc %[[Z]]
func.func @freed_by_another_name(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %z: memref<8xf32>, %c: i1, %n: index) -> memref<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %x = arith.select %c, %a, %b : memref<?x?xf32>
  %m = memref.alloc(%n) : memref<?xf32>
  %w = memref.alloc(%n, %n) : memref<?x?xf32>
  %y = memref.alloc(%n, %n) : memref<?x?xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x?xf32>) outs(%m, %w : memref<?xf32>, memref<?x?xf32>) {
  ^bb0(%p: f32, %o: f32, %u: f32):
    %t = arith.maximumf %p, %o : f32
    linalg.yield %t, %p : f32, f32
  }
  memref.dealloc %a : memref<?x?xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%w, %m : memref<?x?xf32>, memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.subf %p, %q : f32
    linalg.yield %t : f32
  }
  linalg.fill ins(%zero : f32) outs(%z : memref<8xf32>)
  memref.dealloc %z : memref<8xf32>
  return %y : memref<?x?xf32>
}
