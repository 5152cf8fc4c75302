// RUN: loopc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tensor-sink-expansions))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#x = affine_map<(d0, d1, d2) -> (d0, d1)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d2)>

// A product of matrices reads weights that become floats behind the transpose,
// and the scales that they were multiplied with.
// CHECK-DAG: #[[TURNED:.+]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[COLUMNS:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @product(
// CHECK-DAG: %[[W:.+]] = arith.constant dense<3> : tensor<96x80xi8>
// CHECK-DAG: %[[S:.+]] = arith.constant dense<5.000000e-01> : tensor<96xf32>
// CHECK-NOT: linalg.transpose
// CHECK: %[[T:.+]] = linalg.generic {indexing_maps = [#[[TURNED]], #[[COLUMNS]], #{{.+}}], {{.*}} ins(%[[W]], %[[S]] : tensor<96x80xi8>, tensor<96xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.sitofp
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: linalg.yield
// CHECK: linalg.generic {{.*}} "reduction"{{.*}} ins(%arg0, %[[T]] :
func.func @product(%x: tensor<5x80xf32>, %y: tensor<5x96xf32>) -> tensor<5x96xf32> {
  %w = arith.constant dense<3> : tensor<96x80xi8>
  %s = arith.constant dense<0.5> : tensor<96xf32>
  %e = tensor.empty() : tensor<96x80xf32>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<96x80xi8>) outs(%e : tensor<96x80xf32>) {
  ^bb0(%in: i8, %out: f32):
    %a = arith.sitofp %in : i8 to f32
    linalg.yield %a : f32
  } -> tensor<96x80xf32>
  %g = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]} ins(%f, %s : tensor<96x80xf32>, tensor<96xf32>) outs(%e : tensor<96x80xf32>) {
  ^bb0(%in: f32, %scale: f32, %out: f32):
    %a = arith.mulf %in, %scale : f32
    linalg.yield %a : f32
  } -> tensor<96x80xf32>
  %et = tensor.empty() : tensor<80x96xf32>
  %t = linalg.transpose ins(%g : tensor<96x80xf32>) outs(%et : tensor<80x96xf32>) permutation = [1, 0]
  %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x, %t : tensor<5x80xf32>, tensor<80x96xf32>) outs(%y : tensor<5x96xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %out, %m : f32
    linalg.yield %n : f32
  } -> tensor<5x96xf32>
  return %p : tensor<5x96xf32>
}

// -----

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#scales = affine_map<(d0, d1, d2) -> (d1)>
#x = affine_map<(d0, d1, d2) -> (d0, d1)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d2)>

// Axes of one position go, as those of the weights of a recurrent operator.
// CHECK-DAG: #[[ROWS:.+]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @unit_axis(
// CHECK: %[[W:.+]] = tensor.collapse_shape %{{.+}} {{\[}}[0, 1], [2]] : tensor<1x80x96xi8> into tensor<80x96xi8>
// CHECK: linalg.generic {indexing_maps = [#{{.+}}, #[[ROWS]], #{{.+}}], {{.*}} ins(%[[W]], %{{.+}} : tensor<80x96xi8>, tensor<80xf32>)
// CHECK-NOT: tensor.collapse_shape
// CHECK: linalg.generic {{.*}} "reduction"
func.func @unit_axis(%x: tensor<5x80xf32>, %y: tensor<5x96xf32>) -> tensor<5x96xf32> {
  %w = arith.constant dense<3> : tensor<1x80x96xi8>
  %s = arith.constant dense<0.5> : tensor<80xf32>
  %e = tensor.empty() : tensor<1x80x96xf32>
  %f = linalg.generic {indexing_maps = [#id, #scales, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w, %s : tensor<1x80x96xi8>, tensor<80xf32>) outs(%e : tensor<1x80x96xf32>) {
  ^bb0(%in: i8, %scale: f32, %out: f32):
    %a = arith.sitofp %in : i8 to f32
    %b = arith.mulf %a, %scale : f32
    linalg.yield %b : f32
  } -> tensor<1x80x96xf32>
  %c = tensor.collapse_shape %f [[0, 1], [2]] : tensor<1x80x96xf32> into tensor<80x96xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x, %c : tensor<5x80xf32>, tensor<80x96xf32>) outs(%y : tensor<5x96xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %out, %m : f32
    linalg.yield %n : f32
  } -> tensor<5x96xf32>
  return %p : tensor<5x96xf32>
}

// -----

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#scales = affine_map<(d0, d1, d2) -> (d0, d1)>
#x = affine_map<(d0, d1, d2) -> (d0, d1)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d2)>

// Blocks along an axis, each with a scale, are rows of a matrix with none of
// its own: the compiler computes the floats.
// CHECK-LABEL: func.func @blocks(
// CHECK: %[[W:.+]] = arith.constant dense_resource<loopc_folded{{.*}}> : tensor<10x8x96xf32>
// CHECK: tensor.collapse_shape %[[W]]
// CHECK-NOT: arith.extf
func.func @blocks(%x: tensor<5x80xf32>, %y: tensor<5x96xf32>) -> tensor<5x96xf32> {
  %w = arith.constant dense<3.0> : tensor<10x8x96xf16>
  %s = arith.constant dense<0.5> : tensor<10x96xf32>
  %e = tensor.empty() : tensor<10x8x96xf32>
  %f = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1, d2) -> (d0, d2)>, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w, %s : tensor<10x8x96xf16>, tensor<10x96xf32>) outs(%e : tensor<10x8x96xf32>) {
  ^bb0(%in: f16, %scale: f32, %out: f32):
    %a = arith.extf %in : f16 to f32
    %b = arith.mulf %a, %scale : f32
    linalg.yield %b : f32
  } -> tensor<10x8x96xf32>
  %c = tensor.collapse_shape %f [[0, 1], [2]] : tensor<10x8x96xf32> into tensor<80x96xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x, %c : tensor<5x80xf32>, tensor<80x96xf32>) outs(%y : tensor<5x96xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %out, %m : f32
    linalg.yield %n : f32
  } -> tensor<5x96xf32>
  return %p : tensor<5x96xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#split = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// An axis that is split is one of the constant.
// CHECK-LABEL: func.func @expanded(
// CHECK: %[[W:.+]] = arith.constant dense<3.000000e+00> : tensor<96x80xbf16>
// CHECK: tensor.expand_shape %[[W]] {{.*}} : tensor<96x80xbf16> into tensor<96x8x10xbf16>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<96x8x10xbf16>)
// CHECK: arith.extf
func.func @expanded() -> tensor<96x8x10xf32> {
  %w = arith.constant dense<3.0> : tensor<96x80xbf16>
  %e = tensor.empty() : tensor<96x80xf32>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<96x80xbf16>) outs(%e : tensor<96x80xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %a = arith.extf %in : bf16 to f32
    linalg.yield %a : f32
  } -> tensor<96x80xf32>
  %c = tensor.expand_shape %f [[0], [1, 2]] output_shape [96, 8, 10] : tensor<96x80xf32> into tensor<96x8x10xf32>
  return %c : tensor<96x8x10xf32>
}

// -----

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#x = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 + d3, d1 + d4, d5)>
#w = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4, d5, d2)>
#y = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>

// A convolution reads each weight for each position: it gets floats, of which
// 1.5 and its neighbours are half of 3 and theirs.
// CHECK-LABEL: func.func @convolution(
// CHECK: %[[W:.+]] = arith.constant dense_resource<[[NAME:loopc_folded.*]]> : tensor<3x3x16x32xf32>
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[W]] :
// CHECK: [[NAME]]: "0x400000000000C03F0000C03F0000C03F
func.func @convolution(%x: tensor<10x10x16xf32>, %y: tensor<8x8x32xf32>) -> tensor<8x8x32xf32> {
  %w = arith.constant dense<3.0> : tensor<32x16x3x3xf16>
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<32x16x3x3xf32>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%w : tensor<32x16x3x3xf16>) outs(%e : tensor<32x16x3x3xf32>) {
  ^bb0(%in: f16, %out: f32):
    %a = arith.extf %in : f16 to f32
    %b = arith.mulf %a, %half : f32
    linalg.yield %b : f32
  } -> tensor<32x16x3x3xf32>
  %et = tensor.empty() : tensor<3x3x16x32xf32>
  %t = linalg.transpose ins(%f : tensor<32x16x3x3xf32>) outs(%et : tensor<3x3x16x32xf32>) permutation = [2, 3, 1, 0]
  %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %t : tensor<10x10x16xf32>, tensor<3x3x16x32xf32>) outs(%y : tensor<8x8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %out, %m : f32
    linalg.yield %n : f32
  } -> tensor<8x8x32xf32>
  return %p : tensor<8x8x32xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>

// What is looked up is expanded behind that.
// CHECK-LABEL: func.func @looked_up(
// CHECK-DAG: %[[W:.+]] = arith.constant dense<3> : tensor<1000x80xi8>
// CHECK-DAG: %[[S:.+]] = arith.constant dense<5.000000e-01> : tensor<1000xf32>
// CHECK: linalg.generic {{.*}} ins(%arg0 :
// CHECK: %[[I:.+]] = linalg.index 1
// CHECK: %[[A:.+]] = tensor.extract %[[W]][%[[ROW:.+]], %[[I]]]
// CHECK: %[[B:.+]] = tensor.extract %[[S]][%[[ROW]]]
// CHECK: %[[F:.+]] = arith.sitofp %[[A]]
// CHECK: arith.mulf %[[F]], %[[B]]
// CHECK-NOT: linalg.generic
func.func @looked_up(%i: tensor<7xindex>) -> tensor<7x80xf32> {
  %w = arith.constant dense<3> : tensor<1000x80xi8>
  %s = arith.constant dense<0.5> : tensor<1000xf32>
  %e = tensor.empty() : tensor<1000x80xf32>
  %f = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]} ins(%w, %s : tensor<1000x80xi8>, tensor<1000xf32>) outs(%e : tensor<1000x80xf32>) {
  ^bb0(%in: i8, %scale: f32, %out: f32):
    %a = arith.sitofp %in : i8 to f32
    %b = arith.mulf %a, %scale : f32
    linalg.yield %b : f32
  } -> tensor<1000x80xf32>
  %ey = tensor.empty() : tensor<7x80xf32>
  %y = linalg.generic {indexing_maps = [#rows, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<7xindex>) outs(%ey : tensor<7x80xf32>) {
  ^bb0(%row: index, %out: f32):
    %k = linalg.index 1 : index
    %a = tensor.extract %f[%row, %k] : tensor<1000x80xf32>
    linalg.yield %a : f32
  } -> tensor<7x80xf32>
  return %y : tensor<7x80xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#x = affine_map<(d0, d1, d2) -> (d0, d1)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d2)>

// As large as what it is computed of, and that is read otherwise: it would be
// there twice.
// CHECK-LABEL: func.func @twice(
// CHECK: %[[W:.+]] = arith.constant dense<3.000000e+00> : tensor<80x96xf32>
// CHECK: %[[F:.+]] = linalg.generic
// CHECK: arith.mulf
// CHECK: ins(%arg0, %[[F]]
func.func @twice(%x: tensor<5x80xf32>, %y: tensor<5x96xf32>) -> (tensor<5x96xf32>, tensor<80x96xf32>) {
  %w = arith.constant dense<3.0> : tensor<80x96xf32>
  %e = tensor.empty() : tensor<80x96xf32>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<80x96xf32>) outs(%e : tensor<80x96xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.mulf %in, %in : f32
    linalg.yield %a : f32
  } -> tensor<80x96xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x, %f : tensor<5x80xf32>, tensor<80x96xf32>) outs(%y : tensor<5x96xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %out, %m : f32
    linalg.yield %n : f32
  } -> tensor<5x96xf32>
  return %p, %w : tensor<5x96xf32>, tensor<80x96xf32>
}

// One number, so many times that no memory holds it, is not written out.
// CHECK-LABEL: func.func @endless(
// CHECK: %[[F:.+]] = linalg.generic
// CHECK: arith.mulf
// CHECK: ins(%arg0, %[[F]]
func.func @endless(%x: tensor<5x80xf32>, %y: tensor<5x1099511627776xf32>) -> tensor<5x1099511627776xf32> {
  %w = arith.constant dense<3.0> : tensor<80x1099511627776xf32>
  %e = tensor.empty() : tensor<80x1099511627776xf32>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<80x1099511627776xf32>) outs(%e : tensor<80x1099511627776xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.mulf %in, %in : f32
    linalg.yield %a : f32
  } -> tensor<80x1099511627776xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x, %f : tensor<5x80xf32>, tensor<80x1099511627776xf32>) outs(%y : tensor<5x1099511627776xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %out, %m : f32
    linalg.yield %n : f32
  } -> tensor<5x1099511627776xf32>
  return %p : tensor<5x1099511627776xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#x = affine_map<(d0, d1, d2) -> (d0, d1)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d2)>

// A scale for each 32 elements along the sum is an operand like others; where
// elements are looked up, so is the scale of their block.
// CHECK-DAG: #[[BLOCKS:.+]] = affine_map<(d0, d1) -> (d0 floordiv 32, d1)>
// CHECK-LABEL: func.func @scales_of_blocks(
// CHECK: %[[W:.+]] = arith.constant dense<3> : tensor<80x96xi8>
// CHECK: %[[S:.+]] = arith.constant dense<5.000000e-01> : tensor<3x96xf32>
// CHECK: linalg.generic {indexing_maps = [#{{.+}}, #[[BLOCKS]], #{{.+}}], {{.*}} ins(%[[W]], %[[S]] : tensor<80x96xi8>, tensor<3x96xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.sitofp
// CHECK-NEXT: arith.mulf
// CHECK: linalg.generic {{.*}} "reduction"
// CHECK: %[[K:.+]] = linalg.index 1
// CHECK: tensor.extract %[[W]][%[[ROW:.+]], %[[K]]]
// CHECK: %[[BLOCK:.+]] = arith.divui %[[ROW]], %c32
// CHECK: tensor.extract %[[S]][%[[BLOCK]], %[[K]]]
func.func @scales_of_blocks(%x: tensor<5x80xf32>, %y: tensor<5x96xf32>, %i: tensor<7xindex>) -> (tensor<5x96xf32>, tensor<7x96xf32>) {
  %w = arith.constant dense<3> : tensor<80x96xi8>
  %s = arith.constant dense<0.5> : tensor<3x96xf32>
  %c32 = arith.constant 32 : index
  %e = tensor.empty() : tensor<80x96xf32>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<80x96xi8>) outs(%e : tensor<80x96xf32>) {
  ^bb0(%in: i8, %out: f32):
    %k = linalg.index 0 : index
    %n = linalg.index 1 : index
    %block = arith.divui %k, %c32 : index
    %scale = tensor.extract %s[%block, %n] : tensor<3x96xf32>
    %a = arith.sitofp %in : i8 to f32
    %b = arith.mulf %a, %scale : f32
    linalg.yield %b : f32
  } -> tensor<80x96xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x, %f : tensor<5x80xf32>, tensor<80x96xf32>) outs(%y : tensor<5x96xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %out, %m : f32
    linalg.yield %n : f32
  } -> tensor<5x96xf32>
  %ey = tensor.empty() : tensor<7x96xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<7xindex>) outs(%ey : tensor<7x96xf32>) {
  ^bb0(%row: index, %out: f32):
    %k = linalg.index 1 : index
    %a = tensor.extract %f[%row, %k] : tensor<80x96xf32>
    linalg.yield %a : f32
  } -> tensor<7x96xf32>
  return %p, %q : tensor<5x96xf32>, tensor<7x96xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Blocks along an axis behind one that is split.
// CHECK-DAG: #[[BLOCKS:.+]] = affine_map<(d0, d1, d2) -> (d0, d1, d2 floordiv 32)>
// CHECK-LABEL: func.func @split_with_blocks(
// CHECK: %[[W:.+]] = tensor.expand_shape %{{.+}} : tensor<96x80xi8> into tensor<8x12x80xi8>
// CHECK: %[[S:.+]] = tensor.expand_shape %{{.+}} : tensor<96x3xf32> into tensor<8x12x3xf32>
// CHECK: linalg.generic {indexing_maps = [#{{.+}}, #[[BLOCKS]], #{{.+}}], {{.*}} ins(%[[W]], %[[S]] :
func.func @split_with_blocks() -> tensor<8x12x80xf32> {
  %w = arith.constant dense<3> : tensor<96x80xi8>
  %s = arith.constant dense<0.5> : tensor<96x3xf32>
  %c32 = arith.constant 32 : index
  %e = tensor.empty() : tensor<96x80xf32>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<96x80xi8>) outs(%e : tensor<96x80xf32>) {
  ^bb0(%in: i8, %out: f32):
    %n = linalg.index 0 : index
    %k = linalg.index 1 : index
    %block = arith.divui %k, %c32 : index
    %scale = tensor.extract %s[%n, %block] : tensor<96x3xf32>
    %a = arith.sitofp %in : i8 to f32
    %b = arith.mulf %a, %scale : f32
    linalg.yield %b : f32
  } -> tensor<96x80xf32>
  %c = tensor.expand_shape %f [[0, 1], [2]] output_shape [8, 12, 80] : tensor<96x80xf32> into tensor<8x12x80xf32>
  return %c : tensor<8x12x80xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>

// A row that is looked up is expanded behind the lookup; its scale is looked up
// with it.
// CHECK-DAG: #[[ALL:.+]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[ONE:.+]] = affine_map<(d0) -> ()>
// CHECK-LABEL: func.func @row(
// CHECK-SAME: %[[I:.+]]: index
// CHECK-DAG: %[[W:.+]] = tensor.extract_slice %{{.+}}[%[[I]], 0] [1, 80] [1, 1] : tensor<96x80xi8> to tensor<80xi8>
// CHECK-DAG: %[[S:.+]] = tensor.extract_slice %{{.+}}[%[[I]]] [1] [1] : tensor<96xf32> to tensor<f32>
// CHECK: %[[R:.+]] = linalg.generic {indexing_maps = [#[[ALL]], #[[ONE]], #[[ALL]]], {{.*}} ins(%[[W]], %[[S]] :
// CHECK: return %[[R]]
func.func @row(%i: index) -> tensor<80xf32> {
  %w = arith.constant dense<3> : tensor<96x80xi8>
  %s = arith.constant dense<0.5> : tensor<96xf32>
  %e = tensor.empty() : tensor<96x80xf32>
  %f = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]} ins(%w, %s : tensor<96x80xi8>, tensor<96xf32>) outs(%e : tensor<96x80xf32>) {
  ^bb0(%in: i8, %scale: f32, %out: f32):
    %a = arith.sitofp %in : i8 to f32
    %b = arith.mulf %a, %scale : f32
    linalg.yield %b : f32
  } -> tensor<96x80xf32>
  %r = tensor.extract_slice %f[%i, 0] [1, 80] [1, 1] : tensor<96x80xf32> to tensor<80xf32>
  return %r : tensor<80xf32>
}

// -----

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Not so a matrix of many: each product that read it would wait for its floats.
// CHECK-LABEL: func.func @matrix(
// CHECK: %[[W:.+]] = arith.constant dense_resource<loopc_folded{{.*}}> : tensor<3x160x128xf32>
// CHECK: tensor.extract_slice %[[W]]
func.func @matrix(%i: index) -> tensor<160x128xf32> {
  %w = arith.constant dense<1.5> : tensor<3x160x128xf16>
  %e = tensor.empty() : tensor<3x160x128xf32>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<3x160x128xf16>) outs(%e : tensor<3x160x128xf32>) {
  ^bb0(%in: f16, %out: f32):
    %a = arith.extf %in : f16 to f32
    linalg.yield %a : f32
  } -> tensor<3x160x128xf32>
  %r = tensor.extract_slice %f[%i, 0, 0] [1, 160, 128] [1, 1, 1] : tensor<3x160x128xf32> to tensor<160x128xf32>
  return %r : tensor<160x128xf32>
}
