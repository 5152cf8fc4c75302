// RUN: loopc-opt %s --cpu-cut-sections=min-section-ops=300 | FileCheck %s
// RUN: loopc-opt %s --cpu-cut-sections=min-section-ops=300 --cpu-join-sections \
// RUN:   --mlir-print-debuginfo --mlir-print-local-scope \
// RUN:   | FileCheck %s --check-prefix=JOINED

#x = affine_map<(i, j, k) -> (i, k)>
#y = affine_map<(i, j, k) -> (k, j)>
#z = affine_map<(i, j, k) -> (i, j)>

// Three layers differ in their weights, in what a check says and in where they
// are from: one function is lowered for the second and the third. The first one
// reads an argument where they read a buffer that was allocated.

memref.global "private" constant @w0 : memref<2x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0]]>
memref.global "private" constant @w1 : memref<2x2xf32> = dense<[[2.0, 3.0], [4.0, 5.0]]>
memref.global "private" constant @w2 : memref<2x2xf32> = dense<[[3.0, 4.0], [5.0, 6.0]]>
memref.global "private" constant @ones : memref<2x2xf32> = dense<1.0>
memref.global "private" constant @infinite : memref<2x2xf32> = dense<[[1.0, 2.0], [3.0, 0x7F800000]]>

// CHECK-LABEL: func.func @layers
// CHECK: loopc.call_section @[[FIRST:layers_side[_0-9]*]](
// CHECK: loopc.call_section @[[ONE:layers_side[_0-9]*]]({{.*}}) with [{{.*}}"layer 2", "layer 1"{{.*}}@w2, @w1{{.*}}] :
// CHECK: loopc.call_section @[[ONE]]({{.*}}) :
// CHECK-NOT: call
// CHECK: return

// JOINED-LABEL: func.func @layers
// JOINED: loop.check %{{.*}}, "layer 0" loc("zero")
// JOINED: memref.get_global @w0
// JOINED: loop.check %{{.*}}, "layer 1" loc("one")
// JOINED: %[[W1:.*]] = memref.get_global @w1
// JOINED: linalg.generic {{.*}} ins(%{{.*}}, %[[W1]] :
// JOINED: loop.check %{{.*}}, "layer 2" loc("two")
// JOINED: %[[W2:.*]] = memref.get_global @w2
// JOINED: linalg.generic {{.*}} ins(%{{.*}}, %[[W2]] :
// JOINED-NOT: call
func.func @layers(%x: memref<2x2xf32>, %c: i1) -> memref<2x2xf32> {
  loop.check %c, "layer 0" loc("zero")
  %w0 = memref.get_global @w0 : memref<2x2xf32>
  %a = memref.alloc() : memref<2x2xf32>
  linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w0 : memref<2x2xf32>, memref<2x2xf32>) outs(%a : memref<2x2xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  loop.check %c, "layer 1" loc("one")
  %w1 = memref.get_global @w1 : memref<2x2xf32>
  %b = memref.alloc() : memref<2x2xf32>
  linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w1 : memref<2x2xf32>, memref<2x2xf32>) outs(%b : memref<2x2xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  loop.check %c, "layer 2" loc("two")
  %w2 = memref.get_global @w2 : memref<2x2xf32>
  %d = memref.alloc() : memref<2x2xf32>
  linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%b, %w2 : memref<2x2xf32>, memref<2x2xf32>) outs(%d : memref<2x2xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return %d : memref<2x2xf32>
}

// Zeros around an image are left out where all weights are finite: a layer with
// others is lowered by itself.

// CHECK-LABEL: func.func @not_finite
// CHECK: loopc.call_section @not_finite_side{{[_0-9]*}}(
// CHECK: loopc.call_section @[[OTHER:not_finite_side[_0-9]*]]({{.*}}) : (memref<2x2xf32>)
// CHECK: loopc.call_section @not_finite_side({{.*}}) : (memref<2x2xf32>)
// CHECK-NOT: call
// CHECK: return
func.func @not_finite(%x: memref<2x2xf32>) -> memref<2x2xf32> {
  %w0 = memref.get_global @w0 : memref<2x2xf32>
  %a = memref.alloc() : memref<2x2xf32>
  linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w0 : memref<2x2xf32>, memref<2x2xf32>) outs(%a : memref<2x2xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  %infinite = memref.get_global @infinite : memref<2x2xf32>
  %b = memref.alloc() : memref<2x2xf32>
  linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %infinite : memref<2x2xf32>, memref<2x2xf32>) outs(%b : memref<2x2xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  %w2 = memref.get_global @w2 : memref<2x2xf32>
  %d = memref.alloc() : memref<2x2xf32>
  linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%b, %w2 : memref<2x2xf32>, memref<2x2xf32>) outs(%d : memref<2x2xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return %d : memref<2x2xf32>
}

// One number may be folded into what reads it: a layer of such a constant is not
// one of others.

// CHECK-LABEL: func.func @one_number
// CHECK: loopc.call_section @one_number_side{{[_0-9]*}}(
// CHECK: loopc.call_section @[[OTHER:one_number_side[_0-9]*]]({{.*}}) : (memref<2x2xf32>)
// CHECK: loopc.call_section @one_number_side({{.*}}) : (memref<2x2xf32>)
// CHECK-NOT: call
// CHECK: return
func.func @one_number(%x: memref<2x2xf32>) -> memref<2x2xf32> {
  %w0 = memref.get_global @w0 : memref<2x2xf32>
  %a = memref.alloc() : memref<2x2xf32>
  linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w0 : memref<2x2xf32>, memref<2x2xf32>) outs(%a : memref<2x2xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  %ones = memref.get_global @ones : memref<2x2xf32>
  %b = memref.alloc() : memref<2x2xf32>
  linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %ones : memref<2x2xf32>, memref<2x2xf32>) outs(%b : memref<2x2xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  %w2 = memref.get_global @w2 : memref<2x2xf32>
  %d = memref.alloc() : memref<2x2xf32>
  linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%b, %w2 : memref<2x2xf32>, memref<2x2xf32>) outs(%d : memref<2x2xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return %d : memref<2x2xf32>
}
