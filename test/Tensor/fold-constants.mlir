// RUN: loopc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tensor-fold-constants,canonicalize))' | FileCheck %s

// Rows in another order; the axis in front, and every second column of what is
// put in, are folded with them.
// CHECK-LABEL: func.func @reordered()
// CHECK-NEXT: %[[C:.*]] = arith.constant dense_resource<[[NAME:loopc_folded.*]]> : tensor<3x2xi32>
// CHECK-NEXT: return %[[C]]
// CHECK: [[NAME]]: "0x{{[0-9A-F]+}}05000000070000000100000003000000{{0900000009000000}}"
func.func @reordered() -> tensor<3x2xi32> {
  %c = arith.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi32>
  %nine = arith.constant dense<9> : tensor<1x1x2xi32>
  %e = tensor.empty() : tensor<3x2xi32>
  %a = tensor.extract_slice %c[1, 0] [1, 2] [1, 2] : tensor<2x4xi32> to tensor<2xi32>
  %b = tensor.extract_slice %c[0, 0] [1, 2] [1, 2] : tensor<2x4xi32> to tensor<1x2xi32>
  %n = tensor.collapse_shape %nine [[0, 1], [2]] : tensor<1x1x2xi32> into tensor<1x2xi32>
  %0 = tensor.insert_slice %a into %e[0, 0] [1, 2] [1, 1] : tensor<2xi32> into tensor<3x2xi32>
  %1 = tensor.insert_slice %b into %0[1, 0] [1, 2] [1, 1] : tensor<1x2xi32> into tensor<3x2xi32>
  %2 = tensor.insert_slice %n into %1[2, 0] [1, 2] [1, 1] : tensor<1x2xi32> into tensor<3x2xi32>
  return %2 : tensor<3x2xi32>
}

// -----

// What only the run knows stays.
// CHECK-LABEL: func.func @not_constant(
// CHECK: tensor.insert_slice
// CHECK: tensor.insert_slice
func.func @not_constant(%x: tensor<1x2xi32>, %at: index) -> (tensor<2x2xi32>, tensor<2x2xi32>) {
  %c = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %d = arith.constant dense<[[5, 6]]> : tensor<1x2xi32>
  %0 = tensor.insert_slice %x into %c[0, 0] [1, 2] [1, 1] : tensor<1x2xi32> into tensor<2x2xi32>
  %1 = tensor.insert_slice %d into %c[%at, 0] [1, 2] [1, 1] : tensor<1x2xi32> into tensor<2x2xi32>
  return %0, %1 : tensor<2x2xi32>, tensor<2x2xi32>
}

// -----

// A large constant that is read otherwise too is not there twice; neither is one
// value written out.
// CHECK-LABEL: func.func @read_otherwise()
// CHECK: tensor.insert_slice
// CHECK: tensor.insert_slice
func.func @read_otherwise() -> (tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>) {
  %c = arith.constant dense_resource<large> : tensor<64x128xf32>
  %one = arith.constant dense<1.0> : tensor<32x128xf32>
  %e = tensor.empty() : tensor<64x128xf32>
  %a = tensor.extract_slice %c[32, 0] [32, 128] [1, 1] : tensor<64x128xf32> to tensor<32x128xf32>
  %0 = tensor.insert_slice %a into %e[0, 0] [32, 128] [1, 1] : tensor<32x128xf32> into tensor<64x128xf32>
  %1 = tensor.insert_slice %one into %e[0, 0] [32, 128] [1, 1] : tensor<32x128xf32> into tensor<64x128xf32>
  return %0, %1, %c : tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>
}

// -----

// Weights with the axes in the order that a product wants.

// CHECK-LABEL: func @transposed
// CHECK:         arith.constant dense{{.*}} : tensor<3x2xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @transposed() -> tensor<3x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %t = linalg.transpose ins(%w : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  return %t : tensor<3x2xf32>
}

// -----

// The phases of a transposed convolution's kernel: padded, taken apart.

// CHECK-LABEL: func @padded
// CHECK:         arith.constant dense{{.*}} : tensor<2x2xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @padded() -> tensor<2x2xf32> {
  %w = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %p = tensor.insert_slice %w into %f[0] [3] [1] : tensor<3xf32> into tensor<4xf32>
  %s = tensor.expand_shape %p [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %to = tensor.empty() : tensor<2x2xf32>
  %t = linalg.transpose ins(%s : tensor<2x2xf32>) outs(%to : tensor<2x2xf32>) permutation = [1, 0]
  return %t : tensor<2x2xf32>
}

// -----

// A window by its formula, and a filter of two small constants: what is computed
// last, where that costs more than to load it.

// CHECK-LABEL: func @computed
// CHECK-DAG:     arith.constant dense_resource<{{loopc_folded.*}}> : tensor<96x64xf32>
// CHECK-DAG:     arith.constant dense_resource<{{loopc_folded.*}}> : tensor<400xf32>
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @computed() -> (tensor<400xf32>, tensor<96x64x1xf32>) {
  %step = arith.constant 0.0157 : f32
  %limit = arith.constant 6.0 : f32
  %a = arith.constant dense_resource<rows> : tensor<96x1xf32>
  %b = arith.constant dense_resource<columns> : tensor<64xf32>
  %e = tensor.empty() : tensor<400xf32>
  %window = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<400xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %x = arith.sitofp %n : i64 to f32
    %y = arith.mulf %x, %step : f32
    %z = math.cos %y : f32
    linalg.yield %z : f32
  } -> tensor<400xf32>
  %f = tensor.empty() : tensor<96x64xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<96x1xf32>, tensor<64xf32>) outs(%f : tensor<96x64xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<96x64xf32>
  %g = tensor.empty() : tensor<96x64xi1>
  %below = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<96x64xf32>) outs(%g : tensor<96x64xi1>) {
  ^bb0(%x: f32, %out: i1):
    %z = arith.cmpf olt, %x, %limit : f32
    linalg.yield %z : i1
  } -> tensor<96x64xi1>
  %filter = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%below, %sum : tensor<96x64xi1>, tensor<96x64xf32>) outs(%f : tensor<96x64xf32>) {
  ^bb0(%c: i1, %x: f32, %out: f32):
    %y = math.sin %x : f32
    %z = arith.select %c, %y, %limit : f32
    linalg.yield %z : f32
  } -> tensor<96x64xf32>
  %view = tensor.expand_shape %filter [[0], [1, 2]] output_shape [96, 64, 1] : tensor<96x64xf32> into tensor<96x64x1xf32>
  return %window, %view : tensor<400xf32>, tensor<96x64x1xf32>
}

{-#
  dialect_resources: {
    builtin: {
      rows: "0x40000000000080C0000078C0000070C0000068C0000060C0000058C0000050C0000048C0000040C0000038C0000030C0000028C0000020C0000018C0000010C0000008C0000000C00000F0BF0000E0BF0000D0BF0000C0BF0000B0BF0000A0BF000090BF000080BF000060BF000040BF000020BF000000BF0000C0BE000080BE000000BE000000000000003E0000803E0000C03E0000003F0000203F0000403F0000603F0000803F0000903F0000A03F0000B03F0000C03F0000D03F0000E03F0000F03F0000004000000840000010400000184000002040000028400000304000003840000040400000484000005040000058400000604000006840000070400000784000008040000084400000884000008C4000009040000094400000984000009C400000A0400000A4400000A8400000AC400000B0400000B4400000B8400000BC400000C0400000C4400000C8400000CC400000D0400000D4400000D8400000DC400000E0400000E4400000E8400000EC400000F0400000F4400000F8400000FC40",
      columns: "0x40000000000080C0000078C0000070C0000068C0000060C0000058C0000050C0000048C0000040C0000038C0000030C0000028C0000020C0000018C0000010C0000008C0000000C00000F0BF0000E0BF0000D0BF0000C0BF0000B0BF0000A0BF000090BF000080BF000060BF000040BF000020BF000000BF0000C0BE000080BE000000BE000000000000003E0000803E0000C03E0000003F0000203F0000403F0000603F0000803F0000903F0000A03F0000B03F0000C03F0000D03F0000E03F0000F03F00000040000008400000104000001840000020400000284000003040000038400000404000004840000050400000584000006040000068400000704000007840"
    }
  }
#-}

// -----

// A mask is computed as fast as it is loaded; what is repeated stays where it is
// computed once; sums are rounded as the run does.

// CHECK-LABEL: func @not_worth_it
// CHECK-DAG:     arith.constant dense<{{.*}}> : tensor<64xf32>
// CHECK-COUNT-3: linalg.generic
// CHECK:         return
func.func @not_worth_it() -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>) {
  %low = arith.constant -1.0e4 : f32
  %zero = arith.constant 0.0 : f32
  %b = arith.constant dense_resource<columns> : tensor<64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %mask = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<64x64xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi ugt, %j, %i : index
    %z = arith.select %c, %low, %zero : f32
    linalg.yield %z : f32
  } -> tensor<64x64xf32>
  %f = tensor.empty() : tensor<64xf32>
  %row = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%b : tensor<64xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %z = math.exp %x : f32
    linalg.yield %z : f32
  } -> tensor<64xf32>
  %repeated = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%row : tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<64x64xf32>
  %g = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%g : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%row : tensor<64xf32>) outs(%start : tensor<f32>) {
  ^bb0(%x: f32, %out: f32):
    %z = arith.addf %out, %x : f32
    linalg.yield %z : f32
  } -> tensor<f32>
  return %mask, %repeated, %sum : tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>
}

{-#
  dialect_resources: {
    builtin: {
      columns: "0x40000000000080C0000078C0000070C0000068C0000060C0000058C0000050C0000048C0000040C0000038C0000030C0000028C0000020C0000018C0000010C0000008C0000000C00000F0BF0000E0BF0000D0BF0000C0BF0000B0BF0000A0BF000090BF000080BF000060BF000040BF000020BF000000BF0000C0BE000080BE000000BE000000000000003E0000803E0000C03E0000003F0000203F0000403F0000603F0000803F0000903F0000A03F0000B03F0000C03F0000D03F0000E03F0000F03F00000040000008400000104000001840000020400000284000003040000038400000404000004840000050400000584000006040000068400000704000007840"
    }
  }
#-}

// -----

// Floats of 16 bits, rounded once: infinity beyond the largest, what is
// subnormal, halves to even.
// CHECK-LABEL: func @small_floats
// CHECK-DAG: %[[WIDE:.+]] = arith.constant dense<[1.000000e+00, -0.000000e+00, 6.550400e+04, 5.96046448E-8]> : tensor<4xf32>
// CHECK-DAG: %[[HALF:.+]] = arith.constant dense<[2.048000e+03, 0x7C00, 5.960460e-08, -1.000000e+00]> : tensor<4xf16>
// CHECK-DAG: %[[BRAIN:.+]] = arith.constant dense<[2.048000e+03, 6.553600e+04, 5.{{[0-9]+}}e-08, -1.000000e+00]> : tensor<4xbf16>
// CHECK: return %[[WIDE]], %[[HALF]], %[[BRAIN]]
#one = affine_map<(i) -> (i)>
func.func @small_floats() -> (tensor<4xf32>, tensor<4xf16>, tensor<4xbf16>) {
  %h = arith.constant dense<[1.0, -0.0, 65504.0, 5.96046e-8]> : tensor<4xf16>
  %x = arith.constant dense<[2049.0, 65520.0, 5.0e-8, -1.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<4xf16>
  %g = tensor.empty() : tensor<4xbf16>
  %wide = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%h : tensor<4xf16>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f16, %out: f32):
    %z = arith.extf %a : f16 to f32
    linalg.yield %z : f32
  } -> tensor<4xf32>
  %half = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%f : tensor<4xf16>) {
  ^bb0(%a: f32, %out: f16):
    %z = arith.truncf %a : f32 to f16
    linalg.yield %z : f16
  } -> tensor<4xf16>
  %brain = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%g : tensor<4xbf16>) {
  ^bb0(%a: f32, %out: bf16):
    %z = arith.truncf %a : f32 to bf16
    linalg.yield %z : bf16
  } -> tensor<4xbf16>
  return %wide, %half, %brain : tensor<4xf32>, tensor<4xf16>, tensor<4xbf16>
}

// -----

// The bits of floats: here the sign and half of the exponent.
// CHECK-LABEL: func @bits
// CHECK-DAG: %[[F:.+]] = arith.constant dense<[0.000000e+00, 2.000000e+00, -2.000000e+00]> : tensor<3xf32>
// CHECK-DAG: %[[I:.+]] = arith.constant dense<[0, 64, -64]> : tensor<3xi32>
// CHECK: return %[[F]], %[[I]]
#one = affine_map<(i) -> (i)>
func.func @bits() -> (tensor<3xf32>, tensor<3xi32>) {
  %b = arith.constant dense<[0, 64, -64]> : tensor<3xi8>
  %i24 = arith.constant 24 : i32
  %x = arith.constant dense<[0.0, 2.0, -2.0]> : tensor<3xf32>
  %e = tensor.empty() : tensor<3xf32>
  %d = tensor.empty() : tensor<3xi32>
  %f = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%b : tensor<3xi8>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: i8, %out: f32):
    %w = arith.extui %a : i8 to i32
    %s = arith.shli %w, %i24 : i32
    %z = arith.bitcast %s : i32 to f32
    linalg.yield %z : f32
  } -> tensor<3xf32>
  %i = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%d : tensor<3xi32>) {
  ^bb0(%a: f32, %out: i32):
    %w = arith.bitcast %a : f32 to i32
    %s = arith.shrsi %w, %i24 : i32
    linalg.yield %s : i32
  } -> tensor<3xi32>
  return %f, %i : tensor<3xf32>, tensor<3xi32>
}

// -----

// A product of constants, as of tables of positions with weights, takes longer
// than to store it beside them: here 100 times 2 times 0.5.
// CHECK-LABEL: func @product
// CHECK-NOT: arith.mulf
// CHECK: return
#row = affine_map<(i, j, k) -> (i, k)>
#column = affine_map<(i, j, k) -> (j, k)>
#element = affine_map<(i, j, k) -> (i, j)>
#two = affine_map<(i, j) -> (i, j)>
func.func @product(%b: tensor<300x40xf32>) -> (tensor<300x40xf32>, tensor<300x100xf32>) {
  %zero = arith.constant 0.0 : f32
  %x = arith.constant dense<2.0> : tensor<300x100xf32>
  %y = arith.constant dense<0.5> : tensor<40x100xf32>
  %e = tensor.empty() : tensor<300x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<300x40xf32>) -> tensor<300x40xf32>
  %p = linalg.generic {indexing_maps = [#row, #column, #element], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<300x100xf32>, tensor<40x100xf32>) outs(%f : tensor<300x40xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %m = arith.mulf %l, %r fastmath<contract> : f32
    %s = arith.addf %out, %m fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  } -> tensor<300x40xf32>
  %z = linalg.generic {indexing_maps = [#two, #two, #two], iterator_types = ["parallel", "parallel"]}
      ins(%p, %b : tensor<300x40xf32>, tensor<300x40xf32>) outs(%e : tensor<300x40xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %s = arith.addf %l, %r : f32
    linalg.yield %s : f32
  } -> tensor<300x40xf32>
  return %z, %x : tensor<300x40xf32>, tensor<300x100xf32>
}

// -----

// The largest of all elements; numbers that are computed of it are constants for
// what is computed next: 2 divided by 0.5, rounded.
// CHECK-LABEL: func @quantized
// CHECK-NEXT: arith.constant dense<4> : tensor<3xi8>
// CHECK-NEXT: return
#line = affine_map<(i) -> (i)>
#whole = affine_map<(i) -> ()>
func.func @quantized() -> tensor<3xi8> {
  %low = arith.constant 0xFF800000 : f32
  %four = arith.constant 4.0 : f32
  %x = arith.constant dense<2.0> : tensor<600xf32>
  %y = arith.constant dense<[2.0, 2.1, 1.9]> : tensor<3xf32>
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %m = linalg.generic {indexing_maps = [#line, #whole], iterator_types = ["reduction"]} ins(%x : tensor<600xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.maximumf %a, %out : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %largest = tensor.extract %m[] : tensor<f32>
  %scale = arith.divf %largest, %four : f32
  %d = tensor.empty() : tensor<3xi8>
  %q = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%y : tensor<3xf32>) outs(%d : tensor<3xi8>) {
  ^bb0(%a: f32, %out: i8):
    %r = arith.divf %a, %scale : f32
    %n = math.roundeven %r : f32
    %i = arith.fptosi %n : f32 to i32
    %t = arith.trunci %i : i32 to i8
    linalg.yield %t : i8
  } -> tensor<3xi8>
  return %q : tensor<3xi8>
}

// -----

// 300 products of 200 without a sign and -3: -180000.
// CHECK-LABEL: func @integer_product
// CHECK-NEXT: arith.constant dense<-180000> : tensor<2x2xi32>
// CHECK-NEXT: return
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#sums = affine_map<(i, j, k) -> (i, j)>
func.func @integer_product() -> tensor<2x2xi32> {
  %zero = arith.constant 0 : i32
  %x = arith.constant dense<200> : tensor<2x300xi8>
  %y = arith.constant dense<-3> : tensor<300x2xi8>
  %e = tensor.empty() : tensor<2x2xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<2x2xi32>) -> tensor<2x2xi32>
  %p = linalg.generic {indexing_maps = [#left, #right, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<2x300xi8>, tensor<300x2xi8>) outs(%f : tensor<2x2xi32>) {
  ^bb0(%l: i8, %r: i8, %out: i32):
    %a = arith.extui %l : i8 to i32
    %b = arith.extsi %r : i8 to i32
    %m = arith.muli %a, %b : i32
    %s = arith.addi %out, %m : i32
    linalg.yield %s : i32
  } -> tensor<2x2xi32>
  return %p : tensor<2x2xi32>
}

// -----

// Truth values are counted: 3 of 4.
// CHECK-LABEL: func @truth_product
// CHECK-NEXT: arith.constant dense<3> : tensor<1x1xi32>
// CHECK-NEXT: return
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#sums = affine_map<(i, j, k) -> (i, j)>
func.func @truth_product() -> tensor<1x1xi32> {
  %zero = arith.constant 0 : i32
  %x = arith.constant dense<[[true, true, false, true]]> : tensor<1x4xi1>
  %y = arith.constant dense<true> : tensor<4x1xi1>
  %e = tensor.empty() : tensor<1x1xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1x1xi32>) -> tensor<1x1xi32>
  %p = linalg.generic {indexing_maps = [#left, #right, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<1x4xi1>, tensor<4x1xi1>) outs(%f : tensor<1x1xi32>) {
  ^bb0(%l: i1, %r: i1, %out: i32):
    %a = arith.extui %l : i1 to i32
    %b = arith.extui %r : i1 to i32
    %m = arith.muli %a, %b : i32
    %s = arith.addi %out, %m : i32
    linalg.yield %s : i32
  } -> tensor<1x1xi32>
  return %p : tensor<1x1xi32>
}

// -----

// What the order of the loops decides is computed in that order: the last number
// that is not 0, row by row.
// CHECK-LABEL: func @last_in_order
// CHECK-NEXT: arith.constant dense<7> : tensor<i32>
// CHECK-NEXT: return
#both = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>
func.func @last_in_order() -> tensor<i32> {
  %zero = arith.constant 0 : i32
  %x = arith.constant dense<[[0, 0], [0, 3], [0, 0], [7, 0], [0, 0]]> : tensor<5x2xi32>
  %e = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %p = linalg.generic {indexing_maps = [#both, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<5x2xi32>) outs(%f : tensor<i32>) {
  ^bb0(%a: i32, %out: i32):
    %c = arith.cmpi ne, %a, %zero : i32
    %s = arith.select %c, %a, %out : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %p : tensor<i32>
}
