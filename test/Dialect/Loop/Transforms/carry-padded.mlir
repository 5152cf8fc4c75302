// RUN: loopc-opt %s --split-input-file --loop-carry-padded | FileCheck %s

// A field of which each iteration reads neighbours: two padded fields take
// turns, and what is computed goes into the middle of the other one.

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func @stencil(
// CHECK-SAME: %[[TRIPS:.*]]: i64, %[[X0:.*]]: tensor<?xf32>
// CHECK: %[[BORDER:.*]] = linalg.fill
// CHECK: %[[P0:.*]] = tensor.insert_slice %[[X0]] into %[[BORDER]][1]
// CHECK: %[[R:.*]]:2 = loop.loop {{.*}} carried(%[[P:.*]] = %[[P0]] : tensor<?xf32>, %[[OTHER:.*]] = %[[BORDER]] : tensor<?xf32>)
// CHECK-DAG: %[[X:.*]] = tensor.extract_slice %[[P]][1]
// CHECK-DAG: %[[TO:.*]] = tensor.extract_slice %[[OTHER]][1]
// CHECK-DAG: %[[LEFT:.*]] = tensor.extract_slice %[[P]][0]
// CHECK-DAG: %[[RIGHT:.*]] = tensor.extract_slice %[[P]][2]
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[LEFT]], %[[X]], %[[RIGHT]] : {{.*}}) outs(%[[TO]] : tensor<?xf32>)
// CHECK: %[[NEXT:.*]] = tensor.insert_slice %[[Y]] into %[[OTHER]][1]
// CHECK: loop.yield {{.*}} carried(%[[NEXT]], %[[P]] : tensor<?xf32>, tensor<?xf32>)
// CHECK: %[[LAST:.*]] = tensor.extract_slice %[[R]]#0[1]
// CHECK: return %[[LAST]]
func.func @stencil(%trips: i64, %x0: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x0, %c0 : tensor<?xf32>
  %m = arith.addi %n, %c2 : index
  %e = tensor.empty(%m) : tensor<?xf32>
  %border = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %o = tensor.empty(%n) : tensor<?xf32>
  %r = loop.loop (%i : i64, %k : i1) trips(%trips : i64) carried(%x = %x0 : tensor<?xf32>) {
    %p = tensor.insert_slice %x into %border[1] [%n] [1] : tensor<?xf32> into tensor<?xf32>
    %left = tensor.extract_slice %p[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>
    %right = tensor.extract_slice %p[2] [%n] [1] : tensor<?xf32> to tensor<?xf32>
    %y = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
        ins(%left, %x, %right : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
      %s = arith.addf %a, %c : f32
      %d = arith.subf %s, %b : f32
      linalg.yield %d : f32
    } -> tensor<?xf32>
    loop.yield while(%k : i1) carried(%y : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// -----

// A field that goes on as it is to another port would be copied out of its
// padding, and a border that iterations change is not the same in both.

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func @delayed(
// CHECK: loop.loop {{.*}} carried(%{{.*}} = %{{.*}} : tensor<8xf32>, %{{.*}} = %{{.*}} : tensor<8xf32>)
func.func @delayed(%trips: i64, %x0: tensor<8xf32>, %border: tensor<10xf32>) -> tensor<8xf32> {
  %o = tensor.empty() : tensor<8xf32>
  %r:2 = loop.loop (%i : i64, %k : i1) trips(%trips : i64)
      carried(%x = %x0 : tensor<8xf32>, %before = %x0 : tensor<8xf32>) {
    %p = tensor.insert_slice %x into %border[1] [8] [1] : tensor<8xf32> into tensor<10xf32>
    %left = tensor.extract_slice %p[0] [8] [1] : tensor<10xf32> to tensor<8xf32>
    %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%left, %before : tensor<8xf32>, tensor<8xf32>) outs(%o : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    loop.yield while(%k : i1) carried(%y, %x : tensor<8xf32>, tensor<8xf32>)
  }
  return %r#0 : tensor<8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func @changing_border(
// CHECK: loop.loop {{.*}} carried(%{{.*}} = %{{.*}} : tensor<8xf32>)
func.func @changing_border(%trips: i64, %x0: tensor<8xf32>, %borders: tensor<?x10xf32>) -> tensor<8xf32> {
  %o = tensor.empty() : tensor<8xf32>
  %r = loop.loop (%i : i64, %k : i1) trips(%trips : i64) carried(%x = %x0 : tensor<8xf32>) {
    %at = arith.index_cast %i : i64 to index
    %border = tensor.extract_slice %borders[%at, 0] [1, 10] [1, 1] : tensor<?x10xf32> to tensor<10xf32>
    %p = tensor.insert_slice %x into %border[1] [8] [1] : tensor<8xf32> into tensor<10xf32>
    %left = tensor.extract_slice %p[0] [8] [1] : tensor<10xf32> to tensor<8xf32>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%left : tensor<8xf32>) outs(%o : tensor<8xf32>) {
    ^bb0(%a: f32, %out: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    loop.yield while(%k : i1) carried(%y : tensor<8xf32>)
  }
  return %r : tensor<8xf32>
}

// -----

// Whether the field fits is not known where there may be no iteration.

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func @unchecked(
// CHECK: loop.loop {{.*}} carried(%{{.*}} = %{{.*}} : tensor<?xf32>)
func.func @unchecked(%trips: i64, %x0: tensor<?xf32>, %border: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x0, %c0 : tensor<?xf32>
  %o = tensor.empty(%n) : tensor<?xf32>
  %r = loop.loop (%i : i64, %k : i1) trips(%trips : i64) carried(%x = %x0 : tensor<?xf32>) {
    %p = tensor.insert_slice %x into %border[1] [%n] [1] : tensor<?xf32> into tensor<?xf32>
    %left = tensor.extract_slice %p[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%left : tensor<?xf32>) outs(%o : tensor<?xf32>) {
    ^bb0(%a: f32, %out: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    loop.yield while(%k : i1) carried(%y : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}
