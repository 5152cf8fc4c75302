// RUN: loopc-opt %s --cpu-fuse-reductions | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#left = affine_map<(i, k, j) -> (i, k)>
#right = affine_map<(i, k, j) -> (k, j)>
#result = affine_map<(i, k, j) -> (i, j)>

// The rows are summed up while they are computed; the first result is still
// there for who reads it.
// CHECK-LABEL: func @sum_of_powers(
// CHECK-SAME: %[[X:[^:]+]]: tensor<8x?xf32>, %[[M:[^:]+]]: tensor<8xf32>, %[[E:[^:]+]]: tensor<8x?xf32>, %[[Z:[^:]+]]: tensor<8xf32>)
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK-SAME: ins(%[[X]], %[[M]] : {{.*}}) outs(%[[E]], %[[Z]] :
// CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %[[OLD:.*]]: f32):
// CHECK: %[[P:.*]] = math.exp
// CHECK: %[[S:.*]] = arith.addf %[[P]], %[[OLD]] fastmath<reassoc>
// CHECK: linalg.yield %[[P]], %[[S]]
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @sum_of_powers(%x: tensor<8x?xf32>, %m: tensor<8xf32>, %e: tensor<8x?xf32>, %z: tensor<8xf32>) -> (tensor<8x?xf32>, tensor<8xf32>) {
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<8x?xf32>, tensor<8xf32>) outs(%e : tensor<8x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %f = math.exp %d : f32
    linalg.yield %f : f32
  } -> tensor<8x?xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<8x?xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o fastmath<reassoc> : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %p, %s : tensor<8x?xf32>, tensor<8xf32>
}

// What needs the whole row comes behind.
// CHECK-LABEL: func @difference_of_maximum(
// CHECK: linalg.generic
// CHECK-SAME: ["parallel", "reduction"]
// CHECK: linalg.generic
// CHECK-SAME: ["parallel", "parallel"]
func.func @difference_of_maximum(%x: tensor<8x?xf32>, %e: tensor<8x?xf32>, %z: tensor<8xf32>) -> tensor<8x?xf32> {
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x?xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<8x?xf32>, tensor<8xf32>) outs(%e : tensor<8x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<8x?xf32>
  return %d : tensor<8x?xf32>
}

// Columns are not summed up row by row.
// CHECK-LABEL: func @sum_of_columns(
// CHECK-COUNT-2: linalg.generic
func.func @sum_of_columns(%x: tensor<8x?xf32>, %e: tensor<8x?xf32>, %z: tensor<?xf32>) -> (tensor<8x?xf32>, tensor<?xf32>) {
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x?xf32>) outs(%e : tensor<8x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %f = math.exp %a : f32
    linalg.yield %f : f32
  } -> tensor<8x?xf32>
  %s = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%p : tensor<8x?xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o fastmath<reassoc> : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %p, %s : tensor<8x?xf32>, tensor<?xf32>
}

// The scale is computed on the sums of the product, which are in registers.
// CHECK-LABEL: func @maximum_of_sums(
// CHECK-COUNT-3: linalg.generic
func.func @maximum_of_sums(%x: tensor<8x64xf32>, %w: tensor<64x32xf32>, %f: f32, %e: tensor<8x32xf32>, %z: tensor<8xf32>) -> (tensor<8x32xf32>, tensor<8xf32>) {
  %p = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<8x64xf32>, tensor<64x32xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<8x32xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<8x32xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %f : f32
    linalg.yield %t : f32
  } -> tensor<8x32xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<8x32xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %s, %m : tensor<8x32xf32>, tensor<8xf32>
}

// Sums in blocks, and an open number of them, leave the scale to the maximum.
// CHECK-LABEL: func @maximum_of_long_sums(
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @maximum_of_long_sums(%x: tensor<64x1024xf32>, %w: tensor<1024x32xf32>, %f: f32, %e: tensor<64x32xf32>, %z: tensor<64xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
  %p = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<64x1024xf32>, tensor<1024x32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<64x32xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %f : f32
    linalg.yield %t : f32
  } -> tensor<64x32xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<64x32xf32>) outs(%z : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  return %s, %m : tensor<64x32xf32>, tensor<64xf32>
}

// One block and a half are summed up at once.
// CHECK-LABEL: func @maximum_of_sums_at_once(
// CHECK-COUNT-3: linalg.generic
// CHECK: return
func.func @maximum_of_sums_at_once(%x: tensor<64x768xf32>, %w: tensor<768x32xf32>, %f: f32, %e: tensor<64x32xf32>, %z: tensor<64xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
  %p = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<64x768xf32>, tensor<768x32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<64x32xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %f : f32
    linalg.yield %t : f32
  } -> tensor<64x32xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<64x32xf32>) outs(%z : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  return %s, %m : tensor<64x32xf32>, tensor<64xf32>
}

// Of few rows, any number is.
// CHECK-LABEL: func @maximum_of_few_long_sums(
// CHECK-COUNT-3: linalg.generic
// CHECK: return
func.func @maximum_of_few_long_sums(%x: tensor<8x1024xf32>, %w: tensor<1024x32xf32>, %f: f32, %e: tensor<8x32xf32>, %z: tensor<8xf32>) -> (tensor<8x32xf32>, tensor<8xf32>) {
  %p = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<8x1024xf32>, tensor<1024x32xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<8x32xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<8x32xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %f : f32
    linalg.yield %t : f32
  } -> tensor<8x32xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<8x32xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %s, %m : tensor<8x32xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @maximum_of_open_sums(
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @maximum_of_open_sums(%x: tensor<8x?xf32>, %w: tensor<?x32xf32>, %f: f32, %e: tensor<8x32xf32>, %z: tensor<8xf32>) -> (tensor<8x32xf32>, tensor<8xf32>) {
  %p = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<8x?xf32>, tensor<?x32xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<8x32xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<8x32xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %f : f32
    linalg.yield %t : f32
  } -> tensor<8x32xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<8x32xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %s, %m : tensor<8x32xf32>, tensor<8xf32>
}

// The least and the greatest of all elements, as DynamicQuantizeLinear asks for
// them: the one is used in front of the other, which moves up.
// CHECK-LABEL: func @extremes(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x?xf32>
// CHECK: %[[LOW:.*]] = linalg.fill
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK-SAME: iterator_types = ["reduction", "reduction"]
// CHECK-SAME: ins(%[[X]] : {{.*}}) outs(%{{.*}}, %[[LOW]] :
// CHECK: arith.maximumf
// CHECK: arith.minimumf
// CHECK: tensor.extract %[[R]]#0
// CHECK: tensor.extract %[[R]]#1
// CHECK-NOT: linalg.generic
#none = affine_map<(i, j) -> ()>
func.func @extremes(%x: tensor<?x?xf32>, %z: tensor<f32>, %e: tensor<f32>, %least: f32) -> (f32, f32) {
  %m = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %high = tensor.extract %m[] : tensor<f32>
  %h = arith.maximumf %high, %least : f32
  %f = linalg.fill ins(%least : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %n = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.minimumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %low = tensor.extract %n[] : tensor<f32>
  %l = arith.minimumf %low, %h : f32
  return %h, %l : f32, f32
}

// What begins with the result of the other stays behind it.
// CHECK-LABEL: func @one_after_the_other(
// CHECK: linalg.generic
// CHECK: tensor.extract
// CHECK: linalg.generic
func.func @one_after_the_other(%x: tensor<?x?xf32>, %z: tensor<f32>, %e: tensor<f32>) -> tensor<f32> {
  %m = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %high = tensor.extract %m[] : tensor<f32>
  %f = linalg.fill ins(%high : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %n = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.minimumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %n : tensor<f32>
}

// What a check guards stays behind it, though the sums could be computed with
// what the check reads.
// CHECK-LABEL: func @guarded(
// CHECK: linalg.generic
// CHECK: loop.check
// CHECK: arith.divsi
// CHECK: linalg.generic
func.func @guarded(%x: tensor<8x64xi32>, %d: i32, %c: i32, %e: tensor<8x64xi32>, %e1: tensor<8xi32>) -> (tensor<8x64xi32>, tensor<8xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x64xi32>) outs(%e : tensor<8x64xi32>) {
  ^bb0(%p: i32, %o: i32):
    %t = arith.muli %p, %p : i32
    linalg.yield %t : i32
  } -> tensor<8x64xi32>
  %v = tensor.extract %y[%c0, %c0] : tensor<8x64xi32>
  %one = arith.cmpi ne, %d, %zero : i32
  %other = arith.cmpi ne, %v, %c : i32
  %ok = arith.andi %one, %other : i1
  loop.check %ok, "zero"
  %q = arith.divsi %c, %d : i32
  %f = linalg.fill ins(%q : i32) outs(%e1 : tensor<8xi32>) -> tensor<8xi32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x64xi32>) outs(%f : tensor<8xi32>) {
  ^bb0(%p: i32, %o: i32):
    %t = arith.addi %p, %o : i32
    linalg.yield %t : i32
  } -> tensor<8xi32>
  return %y, %s : tensor<8x64xi32>, tensor<8xi32>
}
