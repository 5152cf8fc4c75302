// RUN: loopc-opt %s --loopc-mark-inputs-read-only --one-shot-bufferize="bufferize-function-boundaries allow-return-allocs-from-loops function-boundary-type-conversion=identity-layout-map" | FileCheck %s
// RUN: loopc-opt %s --loopc-mark-inputs-read-only --loopc-bufferize | FileCheck %s

// A value that the loop overwrites row by row is written in place.
// CHECK-LABEL: func @in_place(
func.func @in_place(%n: i64, %v: f32) -> tensor<8xf32> {
  // CHECK: %[[A:.*]] = memref.alloc
  // CHECK: loop.loop {{.*}} carried(%[[X:[^ ]+]] = %[[A]] : memref<8xf32>)
  // CHECK-NOT: memref.alloc
  // CHECK-NOT: memref.copy
  // CHECK: memref.store %{{.*}}, %[[X]]
  // CHECK: loop.yield {{.*}} carried(%[[X]] : memref<8xf32>)
  %e = tensor.empty() : tensor<8xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %e : tensor<8xf32>) {
    %k = arith.index_cast %i : i64 to index
    %y = tensor.insert %v into %x[%k] : tensor<8xf32>
    loop.yield while(%c : i1) carried(%y : tensor<8xf32>)
  }
  return %r : tensor<8xf32>
}

// loop_capture: the inputs of a run are not written.
// CHECK-LABEL: func @input_kept(
// CHECK-SAME: %{{[^:]+}}: i64, %{{[^:]+}}: f32, %[[X0:[^:]+]]: memref<8xf32>
func.func @input_kept(%n: i64, %v: f32, %x0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: memref.copy %[[X0]], %[[COPY:.*]] :
  // CHECK: loop.loop {{.*}} carried(%{{.*}} = %[[COPY]]
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<8xf32>) {
    %k = arith.index_cast %i : i64 to index
    %y = tensor.insert %v into %x[%k] : tensor<8xf32>
    loop.yield while(%c : i1) carried(%y : tensor<8xf32>)
  }
  return %r : tensor<8xf32>
}

// loop_parallel_assign: the old value is read after the new one is made: not in
// place.
// CHECK-LABEL: func @old_value_read(
func.func @old_value_read(%n: i64, %v: f32) -> (tensor<8xf32>, f32) {
  // CHECK: loop.loop {{.*}} carried(%[[X:[^ ]+]] =
  // CHECK: %[[NEXT:.*]] = memref.alloc
  // CHECK: memref.copy %[[X]], %[[NEXT]]
  // CHECK: memref.store %{{.*}}, %[[NEXT]]
  // CHECK: memref.load %[[X]]
  // CHECK: loop.yield {{.*}} carried(%[[NEXT]],
  %e = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%v : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64)
      carried(%x = %z : tensor<8xf32>, %s = %v : f32) {
    %k = arith.index_cast %i : i64 to index
    %y = tensor.insert %v into %x[%k] : tensor<8xf32>
    %old = tensor.extract %x[%k] : tensor<8xf32>
    loop.yield while(%c : i1) carried(%y, %old : tensor<8xf32>, f32)
  }
  return %r#0, %r#1 : tensor<8xf32>, f32
}

// Values that trade places do so as buffers.
// CHECK-LABEL: func @swap(
func.func @swap(%n: i64, %x0: tensor<4xf32>, %y0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: loop.loop {{.*}} carried(%[[X:[^ ]+]] = {{.*}}, %[[Y:[^ ]+]] =
  // CHECK-NEXT: loop.yield {{.*}} carried(%[[Y]], %[[X]] :
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64)
      carried(%x = %x0 : tensor<4xf32>, %y = %y0 : tensor<4xf32>) {
    loop.yield while(%c : i1) carried(%y, %x : tensor<4xf32>, tensor<4xf32>)
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// The list reads its element; what comes out of one is nothing to write into.
// CHECK-LABEL: func @lists(
func.func @lists(%s: !list.list<f32>, %x: tensor<?x2xf32>, %shape: tensor<?xi64>,
                 %p: index, %v: f32) -> (!list.list<f32>, tensor<?xf32>) {
  // A slice with gaps is copied, so that it has none.
  // CHECK: memref.subview
  // CHECK: %[[DENSE:.*]] = memref.alloc
  // CHECK: list.insert %[[DENSE]], %{{.*}} into %{{.*}} : memref<?xf32>, memref<?xi64{{.*}}> into
  %n = tensor.dim %x, %p : tensor<?x2xf32>
  %column = tensor.extract_slice %x[0, 0] [%n, 1] [1, 1] : tensor<?x2xf32> to tensor<?xf32>
  %t = list.insert %column, %shape into %s[%p]
      : tensor<?xf32>, tensor<?xi64> into !list.list<f32>
  // CHECK: %[[E:.*]]:2 = list.at {{.*}} -> memref<?xf32>, memref<?xi64>
  // CHECK: %[[COPY:.*]] = memref.alloc
  // CHECK: memref.copy %[[E]]#0, %[[COPY]]
  // CHECK: memref.store %{{.*}}, %[[COPY]]
  %e:2 = list.at %t[%p] : !list.list<f32> -> tensor<?xf32>, tensor<?xi64>
  %w = tensor.insert %v into %e#0[%p] : tensor<?xf32>
  return %t, %w : !list.list<f32>, tensor<?xf32>
}

// In place, unless what is transformed is needed afterwards.
// CHECK-LABEL: func @fourier(
// CHECK-SAME: %[[X:[^:]+]]: memref<8x2xf64
func.func @fourier(%x: tensor<8x2xf64> {bufferization.writable = false}, %v: f64)
    -> (tensor<8x2xf64>, tensor<8x2xf64>) {
  // CHECK: %[[A:.*]] = memref.alloc
  // CHECK: memref.copy %[[X]], %[[A]]
  // CHECK: rt.fourier %[[A]] : memref<8x2xf64>
  %y = rt.fourier %x : tensor<8x2xf64>
  // CHECK: %[[B:.*]] = memref.alloc
  // CHECK: linalg.fill {{.*}} outs(%[[B]]
  // CHECK-NOT: memref.copy
  // CHECK: rt.fourier %[[B]] inverse : memref<8x2xf64>
  %e = tensor.empty() : tensor<8x2xf64>
  %f = linalg.fill ins(%v : f64) outs(%e : tensor<8x2xf64>) -> tensor<8x2xf64>
  %z = rt.fourier %f inverse : tensor<8x2xf64>
  // CHECK: return %[[A]], %[[B]]
  return %y, %z : tensor<8x2xf64>, tensor<8x2xf64>
}
