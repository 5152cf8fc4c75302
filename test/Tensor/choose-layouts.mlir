// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tensor-choose-layouts,canonicalize))' | FileCheck %s

// Between two transposes values lie as the second one wants them: its operation,
// a window over it, padding and slices of the same axes follow.

#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#first = affine_map<(a, b, c, d) -> (a, d, b, c)>
#last = affine_map<(a, b, c, d) -> (a, c, d, b)>
#window = affine_map<(n, c, h, w, i, j) -> (n, c, h + i, w + j)>
#kernel = affine_map<(n, c, h, w, i, j) -> (i, j)>
#result = affine_map<(n, c, h, w, i, j) -> (n, c, h, w)>
// CHECK-DAG:   #[[ID:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG:   #[[WINDOW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d3, d2 + d4, d5)>
// CHECK-DAG:   #[[RESULT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d5)>
// CHECK-LABEL: func @between
// CHECK-SAME:    (%[[X:.*]]: tensor<1x?x9x16xf32>
// CHECK:         linalg.generic {indexing_maps = [#[[ID]], #[[ID]]]{{.*}} ins(%[[X]]
// CHECK:           math.absf
// CHECK:         tensor.insert_slice {{.*}}[0, 1, 1, 0] [1, %{{.*}}, 9, 16] [1, 1, 1, 1]
// CHECK:         linalg.generic {indexing_maps = [#[[WINDOW]], #{{.*}}, #[[RESULT]]], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]}
// CHECK:           arith.maximumf
// CHECK:         tensor.extract_slice {{.*}}[0, 0, 0, 4] [1, %{{.*}}, 9, 8] [1, 1, 1, 1]
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @between(%x: tensor<1x?x9x16xf32>, %n: index, %p: index) -> tensor<1x?x9x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty(%n) : tensor<1x16x?x9xf32>
  %t = linalg.generic {indexing_maps = [#last, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x?x9x16xf32>) outs(%e0 : tensor<1x16x?x9xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x16x?x9xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t : tensor<1x16x?x9xf32>) outs(%e0 : tensor<1x16x?x9xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    linalg.yield %b : f32
  } -> tensor<1x16x?x9xf32>
  %e1 = tensor.empty(%p) : tensor<1x16x?x11xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x16x?x11xf32>) -> tensor<1x16x?x11xf32>
  %padded = tensor.insert_slice %m into %f1[0, 0, 1, 1] [1, 16, %n, 9] [1, 1, 1, 1]
      : tensor<1x16x?x9xf32> into tensor<1x16x?x11xf32>
  %k = tensor.empty() : tensor<3x3xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x16x?x9xf32>) -> tensor<1x16x?x9xf32>
  %pool = linalg.generic {indexing_maps = [#window, #kernel, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%padded, %k : tensor<1x16x?x11xf32>, tensor<3x3xf32>) outs(%f2 : tensor<1x16x?x9xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %b = arith.maximumf %a, %o : f32
    linalg.yield %b : f32
  } -> tensor<1x16x?x9xf32>
  %half = tensor.extract_slice %pool[0, 4, 0, 0] [1, 8, %n, 9] [1, 1, 1, 1]
      : tensor<1x16x?x9xf32> to tensor<1x8x?x9xf32>
  %e2 = tensor.empty(%n) : tensor<1x?x9x8xf32>
  %r = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%half : tensor<1x8x?x9xf32>) outs(%e2 : tensor<1x?x9x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x?x9x8xf32>
  return %r : tensor<1x?x9x8xf32>
}

// -----

// What somebody else reads in the order of the model is brought into it once,
// which costs less than the two transposes.

#id = affine_map<(a, b, c) -> (a, b, c)>
#turn = affine_map<(a, b, c) -> (a, c, b)>
// CHECK-DAG:   #[[ID:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG:   #[[TURN:.*]] = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-LABEL: func @read_elsewhere
// CHECK-SAME:    (%[[X:.*]]: tensor<2x?x16xf32>
// CHECK:         %[[M:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[ID]]]{{.*}} ins(%[[X]]
// CHECK:           math.absf
// CHECK:         %[[PLAIN:.*]] = linalg.generic {indexing_maps = [#[[TURN]], #[[ID]]]{{.*}} ins(%[[M]]
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[PLAIN]], %[[M]]
func.func @read_elsewhere(%x: tensor<2x?x16xf32>, %n: index)
    -> (tensor<2x16x?xf32>, tensor<2x?x16xf32>) {
  %e0 = tensor.empty(%n) : tensor<2x16x?xf32>
  %t = linalg.generic {indexing_maps = [#turn, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x?x16xf32>) outs(%e0 : tensor<2x16x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<2x16x?xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t : tensor<2x16x?xf32>) outs(%e0 : tensor<2x16x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    linalg.yield %b : f32
  } -> tensor<2x16x?xf32>
  %e1 = tensor.empty(%n) : tensor<2x?x16xf32>
  %r = linalg.generic {indexing_maps = [#turn, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%m : tensor<2x16x?xf32>) outs(%e1 : tensor<2x?x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<2x?x16xf32>
  return %m, %r : tensor<2x16x?xf32>, tensor<2x?x16xf32>
}

// -----

// A branch has the order of what it yields; a condition asks for an extent.

#id = affine_map<(a, b, c) -> (a, b, c)>
#turn = affine_map<(a, b, c) -> (a, c, b)>
// CHECK-LABEL: func @branch
// CHECK:         tensor.dim %{{.*}}, %c1
// CHECK:         scf.if %{{.*}} -> (tensor<2x?x8xf32>)
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @branch(%x: tensor<2x?x8xf32>, %n: index, %c: i1) -> (tensor<2x?x8xf32>, index) {
  %c2 = arith.constant 2 : index
  %e = tensor.empty(%n) : tensor<2x8x?xf32>
  %t = linalg.generic {indexing_maps = [#turn, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x?x8xf32>) outs(%e : tensor<2x8x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<2x8x?xf32>
  %d = tensor.dim %t, %c2 : tensor<2x8x?xf32>
  %b = scf.if %c -> (tensor<2x8x?xf32>) {
    scf.yield %t : tensor<2x8x?xf32>
  } else {
    %one = arith.constant 1.0 : f32
    %f = linalg.fill ins(%one : f32) outs(%e : tensor<2x8x?xf32>) -> tensor<2x8x?xf32>
    scf.yield %f : tensor<2x8x?xf32>
  }
  %e2 = tensor.empty(%n) : tensor<2x?x8xf32>
  %r = linalg.generic {indexing_maps = [#turn, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b : tensor<2x8x?xf32>) outs(%e2 : tensor<2x?x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<2x?x8xf32>
  return %r, %d : tensor<2x?x8xf32>, index
}

// -----

// One transpose in front of the function's border stays where it is.

#id = affine_map<(a, b, c) -> (a, b, c)>
#turn = affine_map<(a, b, c) -> (a, c, b)>
// CHECK-LABEL: func @border
// CHECK:         linalg.generic
// CHECK:         linalg.generic
// CHECK:         return
func.func @border(%x: tensor<2x4x8xf32>) -> tensor<2x8x4xf32> {
  %e = tensor.empty() : tensor<2x8x4xf32>
  %t = linalg.generic {indexing_maps = [#turn, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x4x8xf32>) outs(%e : tensor<2x8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<2x8x4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t : tensor<2x8x4xf32>) outs(%e : tensor<2x8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    linalg.yield %b : f32
  } -> tensor<2x8x4xf32>
  return %r : tensor<2x8x4xf32>
}

// -----

// Bytes are transposed, not the sums that they are made of.

#id = affine_map<(a, b, c) -> (a, b, c)>
#turn = affine_map<(a, b, c) -> (a, c, b)>
// CHECK-LABEL: func @narrowed
// CHECK:         %[[SMALL:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x4x8xi8>)
// CHECK:         linalg.transpose ins(%[[SMALL]] : tensor<2x4x8xi8>) {{.*}} {loopc.stored}
// CHECK:         return
func.func @narrowed(%x: tensor<2x4x8xi32>, %y: tensor<2x4x8xi32>) -> tensor<2x8x4xi8> {
  %e0 = tensor.empty() : tensor<2x4x8xi32>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<2x4x8xi32>, tensor<2x4x8xi32>) outs(%e0 : tensor<2x4x8xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %c = arith.addi %a, %b : i32
    linalg.yield %c : i32
  } -> tensor<2x4x8xi32>
  %e1 = tensor.empty() : tensor<2x8x4xi32>
  %t = linalg.generic {indexing_maps = [#turn, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x4x8xi32>) outs(%e1 : tensor<2x8x4xi32>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  } -> tensor<2x8x4xi32>
  %e2 = tensor.empty() : tensor<2x8x4xi8>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t : tensor<2x8x4xi32>) outs(%e2 : tensor<2x8x4xi8>) {
  ^bb0(%a: i32, %o: i8):
    %c = arith.trunci %a : i32 to i8
    linalg.yield %c : i8
  } -> tensor<2x8x4xi8>
  return %r : tensor<2x8x4xi8>
}

// -----

// The same in front of what makes larger elements of them.

#id = affine_map<(a, b, c) -> (a, b, c)>
#turn = affine_map<(a, b, c) -> (a, c, b)>
// CHECK-LABEL: func @widened
// CHECK-SAME:    %[[X:.*]]: tensor<2x4x8xi8>
// CHECK:         %[[TURNED:.*]] = linalg.transpose ins(%[[X]] : tensor<2x4x8xi8>) {{.*}} {loopc.stored}
// CHECK:         linalg.generic {{.*}} ins(%[[TURNED]] : tensor<2x8x4xi8>)
// CHECK:         return
func.func @widened(%x: tensor<2x4x8xi8>) -> tensor<2x8x4xi16> {
  %e0 = tensor.empty() : tensor<2x4x8xi16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x4x8xi8>) outs(%e0 : tensor<2x4x8xi16>) {
  ^bb0(%a: i8, %o: i16):
    %c = arith.extsi %a : i8 to i16
    linalg.yield %c : i16
  } -> tensor<2x4x8xi16>
  %e1 = tensor.empty() : tensor<2x8x4xi16>
  %t = linalg.generic {indexing_maps = [#turn, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x4x8xi16>) outs(%e1 : tensor<2x8x4xi16>) {
  ^bb0(%a: i16, %o: i16):
    linalg.yield %a : i16
  } -> tensor<2x8x4xi16>
  return %t : tensor<2x8x4xi16>
}

// -----

// What is read along the axes of the result, wherever on each of them, follows
// as well: an image that is resized.

#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#first = affine_map<(a, b, c, d) -> (a, d, b, c)>
#last = affine_map<(a, b, c, d) -> (a, c, d, b)>
// CHECK-LABEL: func @resized
// CHECK-SAME:    (%[[X:.*]]: tensor<1x?x9x16xf32>
// CHECK:         linalg.generic {{.*}} outs({{.*}} : tensor<1x?x18x16xf32>)
// CHECK:           tensor.extract %[[X]]
// CHECK:         linalg.generic {{.*}} outs({{.*}} : tensor<1x?x18x16xf32>)
// CHECK:           tensor.extract
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @resized(%x: tensor<1x?x9x16xf32>, %places: tensor<?xindex>, %n: index, %m: index) -> tensor<1x?x18x16xf32> {
  %two = arith.constant 2 : index
  %zero = arith.constant 0 : index
  %e0 = tensor.empty(%n) : tensor<1x16x?x9xf32>
  %t = linalg.generic {indexing_maps = [#last, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x?x9x16xf32>) outs(%e0 : tensor<1x16x?x9xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x16x?x9xf32>
  %e1 = tensor.empty(%n) : tensor<1x16x?x18xf32>
  %wide = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%e1 : tensor<1x16x?x18xf32>) {
  ^bb0(%o: f32):
    %c = linalg.index 1 : index
    %h = linalg.index 2 : index
    %w = linalg.index 3 : index
    %half = arith.divui %w, %two : index
    %a = tensor.extract %t[%zero, %c, %h, %half] : tensor<1x16x?x9xf32>
    linalg.yield %a : f32
  } -> tensor<1x16x?x18xf32>
  %e2 = tensor.empty(%m) : tensor<1x16x?x18xf32>
  %high = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%e2 : tensor<1x16x?x18xf32>) {
  ^bb0(%o: f32):
    %c = linalg.index 1 : index
    %h = linalg.index 2 : index
    %w = linalg.index 3 : index
    %place = tensor.extract %places[%h] : tensor<?xindex>
    %a = tensor.extract %wide[%zero, %c, %place, %w] : tensor<1x16x?x18xf32>
    linalg.yield %a : f32
  } -> tensor<1x16x?x18xf32>
  %e3 = tensor.empty(%m) : tensor<1x?x18x16xf32>
  %r = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%high : tensor<1x16x?x18xf32>) outs(%e3 : tensor<1x?x18x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x?x18x16xf32>
  return %r : tensor<1x?x18x16xf32>
}

// -----

// Not so what is turned on the way: other axes tell where on an axis it is.

#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#first = affine_map<(a, b, c, d) -> (a, d, b, c)>
// CHECK-LABEL: func @turned
// CHECK-SAME:    (%[[X:.*]]: tensor<1x16x9x9xf32>
// CHECK:         tensor.extract %[[X]][%{{.*}}, %[[C:.*]], %[[W:.*]], %[[H:.*]]]
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @turned(%x: tensor<1x16x9x9xf32>) -> tensor<1x9x9x16xf32> {
  %zero = arith.constant 0 : index
  %e1 = tensor.empty() : tensor<1x16x9x9xf32>
  %t = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%e1 : tensor<1x16x9x9xf32>) {
  ^bb0(%o: f32):
    %c = linalg.index 1 : index
    %h = linalg.index 2 : index
    %w = linalg.index 3 : index
    %a = tensor.extract %x[%zero, %c, %w, %h] : tensor<1x16x9x9xf32>
    linalg.yield %a : f32
  } -> tensor<1x16x9x9xf32>
  %e3 = tensor.empty() : tensor<1x9x9x16xf32>
  %r = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t : tensor<1x16x9x9xf32>) outs(%e3 : tensor<1x9x9x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x9x9x16xf32>
  return %r : tensor<1x9x9x16xf32>
}

// -----

// A product of one column sums up in vectors along the channels: it reads them
// where they lie, and no transpose is between.

#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#first = affine_map<(a, b, c, d) -> (a, d, b, c)>
#last = affine_map<(a, b, c, d) -> (a, c, d, b)>
#image = affine_map<(n, m, h, c, w) -> (n, c, h, w)>
#weights = affine_map<(n, m, h, c, w) -> (m, c)>
#result = affine_map<(n, m, h, c, w) -> (n, m, h, w)>
// CHECK-DAG:   #[[ID:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG:   #[[LAST:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d4, d3)>
// CHECK-DAG:   #[[FIRST:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2, d4)>
// CHECK-LABEL: func @one_column
// CHECK-SAME:    (%[[X:.*]]: tensor<1x?x9x64xf32>
// CHECK:         %[[ABS:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[ID]]]{{.*}} ins(%[[X]]
// CHECK:           math.absf
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic {indexing_maps = [#[[LAST]], {{.*}} ins(%[[ABS]], %{{.*}} : tensor<1x?x9x64xf32>, tensor<1x64xf32>) outs(%{{.*}} : tensor<1x1x?x9xf32>)
func.func @one_column(%x: tensor<1x?x9x64xf32>, %w: tensor<1x64xf32>, %n: index) -> tensor<1x1x?x9xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty(%n) : tensor<1x64x?x9xf32>
  %t = linalg.generic {indexing_maps = [#last, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x?x9x64xf32>) outs(%e0 : tensor<1x64x?x9xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x64x?x9xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t : tensor<1x64x?x9xf32>) outs(%e0 : tensor<1x64x?x9xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    linalg.yield %b : f32
  } -> tensor<1x64x?x9xf32>
  %e1 = tensor.empty(%n) : tensor<1x1x?x9xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x1x?x9xf32>) -> tensor<1x1x?x9xf32>
  %r = linalg.generic {indexing_maps = [#image, #weights, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
      ins(%m, %w : tensor<1x64x?x9xf32>, tensor<1x64xf32>) outs(%f1 : tensor<1x1x?x9xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<1x1x?x9xf32>
  return %r : tensor<1x1x?x9xf32>
}

// Of three columns each would read all channels anew.
// CHECK-LABEL: func @three_columns
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<1x64x?x9xf32>)
// CHECK:         linalg.generic {indexing_maps = [#[[FIRST]], {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x64x?x9xf32>, tensor<3x64xf32>)
func.func @three_columns(%x: tensor<1x?x9x64xf32>, %w: tensor<3x64xf32>, %n: index) -> tensor<1x3x?x9xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty(%n) : tensor<1x64x?x9xf32>
  %t = linalg.generic {indexing_maps = [#last, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x?x9x64xf32>) outs(%e0 : tensor<1x64x?x9xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x64x?x9xf32>
  %e1 = tensor.empty(%n) : tensor<1x3x?x9xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x3x?x9xf32>) -> tensor<1x3x?x9xf32>
  %r = linalg.generic {indexing_maps = [#image, #weights, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
      ins(%t, %w : tensor<1x64x?x9xf32>, tensor<3x64xf32>) outs(%f1 : tensor<1x3x?x9xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<1x3x?x9xf32>
  return %r : tensor<1x3x?x9xf32>
}
