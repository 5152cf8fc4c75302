// RUN: loopc-opt %s --pass-pipeline='builtin.module(loopc-set-target{vector-bits=256},func.func(cpu-keep-in-registers,canonicalize,cse))' | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#column = affine_map<(d0, d1) -> (d0)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// The state is carried in a register, and each row is one store.
// CHECK-LABEL: func @collect(
// CHECK: %[[X0:.*]] = vector.transfer_read %{{.*}} {in_bounds = [true]} : tensor<8xf32>, vector<8xf32>
// CHECK: loop.loop (%[[I:.*]] : i64, %{{.*}} : i1) {{.*}} carried(%[[X:.*]] = %[[X0]] : vector<8xf32>, %[[ACC:.*]] = %{{.*}} : tensor<?x8xf32>)
// CHECK-NOT: linalg
// CHECK: %[[A:.*]] = vector.transfer_read %{{.*}} : tensor<8xf32>, vector<8xf32>
// CHECK: %[[Y:.*]] = arith.mulf %[[X]], %[[A]] : vector<8xf32>
// CHECK: %[[AT:.*]] = arith.index_cast %[[I]]
// CHECK: %[[ROW:.*]] = vector.transfer_write %[[Y]], %[[ACC]][%[[AT]], %{{.*}}] {in_bounds = [true]}
// CHECK-NEXT: loop.yield {{.*}} carried(%[[Y]], %[[ROW]] :
func.func @collect(%n: i64, %rows: index, %x0: tensor<8xf32>, %a: tensor<8xf32>) -> (tensor<8xf32>, tensor<?x8xf32>) {
  %true = arith.constant true
  %init = tensor.empty() : tensor<8xf32>
  %e = tensor.empty(%rows) : tensor<?x8xf32>
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<8xf32>, %acc = %e : tensor<?x8xf32>) {
    %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %a : tensor<8xf32>, tensor<8xf32>) outs(%init : tensor<8xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      linalg.yield %m : f32
    } -> tensor<8xf32>
    %at = arith.index_cast %i : i64 to index
    %z = tensor.insert_slice %y into %acc[%at, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<?x8xf32>
    loop.yield while(%true : i1) carried(%y, %z : tensor<8xf32>, tensor<?x8xf32>)
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<?x8xf32>
}

// The greatest element, by halves; a condition on it needs no memory.
// CHECK-LABEL: func @greatest(
// CHECK: loop.loop {{.*}} carried(%[[X:.*]] = %{{.*}} : vector<8xf32>)
// CHECK-DAG: %[[LOW:.*]] = vector.shuffle %[[X]], %[[X]] [0, 1, 2, 3] : vector<8xf32>, vector<8xf32>
// CHECK-DAG: %[[HIGH:.*]] = vector.shuffle %[[X]], %[[X]] [4, 5, 6, 7] : vector<8xf32>, vector<8xf32>
// CHECK: arith.maximumf %[[LOW]], %[[HIGH]] : vector<4xf32>
// CHECK: arith.maximumf {{.*}} : vector<2xf32>
// CHECK: arith.maximumf {{.*}} : vector<1xf32>
// CHECK-NOT: tensor.extract
// CHECK: %[[MOST:.*]] = vector.extract
// CHECK: arith.cmpf olt, %[[MOST]]
func.func @greatest(%x0: tensor<8xf32>, %bound: f32) -> tensor<8xf32> {
  %true = arith.constant true
  %least = arith.constant 0xFF800000 : f32
  %init = tensor.empty() : tensor<8xf32>
  %scalar = tensor.empty() : tensor<f32>
  %begin = linalg.fill ins(%least : f32) outs(%scalar : tensor<f32>) -> tensor<f32>
  %r = loop.loop (%i : i64, %c : i1) while(%true : i1) carried(%x = %x0 : tensor<8xf32>) {
    %m = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%x : tensor<8xf32>) outs(%begin : tensor<f32>) {
    ^bb0(%p: f32, %o: f32):
      %q = arith.maximumf %p, %o : f32
      linalg.yield %q : f32
    } -> tensor<f32>
    %s = tensor.extract %m[] : tensor<f32>
    %more = arith.cmpf olt, %s, %bound : f32
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%init : tensor<8xf32>) {
    ^bb0(%p: f32, %o: f32):
      %q = arith.addf %p, %s : f32
      linalg.yield %q : f32
    } -> tensor<8xf32>
    loop.yield while(%more : i1) carried(%y : tensor<8xf32>)
  }
  return %r : tensor<8xf32>
}

// A sum whose order matters keeps it; a broadcast and a transpose are shuffles.
// The lanes are a power of two: nobody reads the last ones.
// CHECK-LABEL: func @rows(
// CHECK: loop.loop {{.*}} carried(%[[S:.*]] = %{{.*}} : vector<2xf32>)
// CHECK-DAG: vector.shuffle %{{.*}}, %{{.*}} [0, 2, 4, 1, 3, 5, 5, 5] : vector<8xf32>, vector<8xf32>
// CHECK-DAG: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 0, 1, 2, 2, 2] : vector<4xf32>, vector<4xf32>
// CHECK: %[[P:.*]] = arith.mulf {{.*}} : vector<8xf32>
// CHECK: %[[E0:.*]] = vector.shuffle %[[P]], %[[P]] [0, 3]
// CHECK: %[[S0:.*]] = arith.addf %{{.*}}, %[[E0]]
// CHECK: %[[E1:.*]] = vector.shuffle %[[P]], %[[P]] [1, 4]
// CHECK: %[[S1:.*]] = arith.addf %[[S0]], %[[E1]]
// CHECK: %[[E2:.*]] = vector.shuffle %[[P]], %[[P]] [2, 5]
// CHECK: arith.addf %[[S1]], %[[E2]]
func.func @rows(%n: i64, %x: tensor<3x2xf32>, %w: tensor<3xf32>, %s0: tensor<2xf32>) -> tensor<2xf32> {
  %true = arith.constant true
  %space = tensor.empty() : tensor<2x3xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : tensor<2xf32>) {
    %p = linalg.generic {indexing_maps = [#turned, #row, #id2], iterator_types = ["parallel", "parallel"]} ins(%x, %w : tensor<3x2xf32>, tensor<3xf32>) outs(%space : tensor<2x3xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %q = arith.mulf %u, %v : f32
      linalg.yield %q : f32
    } -> tensor<2x3xf32>
    %t = linalg.generic {indexing_maps = [#id2, #column], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<2x3xf32>) outs(%s : tensor<2xf32>) {
    ^bb0(%u: f32, %o: f32):
      %q = arith.addf %o, %u : f32
      linalg.yield %q : f32
    } -> tensor<2xf32>
    loop.yield while(%true : i1) carried(%t : tensor<2xf32>)
  }
  return %r : tensor<2xf32>
}

// A division must not end the process for a lane that nobody reads: those are
// the last element again.
// CHECK-LABEL: func @quotients(
// CHECK-DAG: %[[X:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 2] : vector<4xi32>, vector<4xi32>
// CHECK-DAG: %[[Y:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 2] : vector<4xi32>, vector<4xi32>
// CHECK: %[[Q:.*]] = arith.divsi %[[X]], %[[Y]] : vector<4xi32>
// CHECK: loop.yield {{.*}} carried(%[[Q]] : vector<4xi32>)
func.func @quotients(%n: i64, %x0: tensor<3xi32>, %y: tensor<3xi32>) -> tensor<3xi32> {
  %true = arith.constant true
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<3xi32>) {
    %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<3xi32>) outs(%x : tensor<3xi32>) {
    ^bb0(%p: i32, %o: i32):
      %q = arith.divsi %o, %p : i32
      linalg.yield %q : i32
    } -> tensor<3xi32>
    loop.yield while(%true : i1) carried(%z : tensor<3xi32>)
  }
  return %r : tensor<3xi32>
}

// More than a few registers, extents that are not known, bits: left alone.
// CHECK-LABEL: func @left_alone(
// CHECK-NOT: vector.
// CHECK: return
func.func @left_alone(%n: i64, %big0: tensor<64xf32>, %open0: tensor<?xf32>, %bits0: tensor<8xi1>) -> (tensor<64xf32>, tensor<?xf32>, tensor<8xi1>) {
  %true = arith.constant true
  %r:3 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%big = %big0 : tensor<64xf32>, %open = %open0 : tensor<?xf32>, %bits = %bits0 : tensor<8xi1>) {
    %x = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%big : tensor<64xf32>) {
    ^bb0(%o: f32):
      %q = arith.addf %o, %o : f32
      linalg.yield %q : f32
    } -> tensor<64xf32>
    %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%open : tensor<?xf32>) {
    ^bb0(%o: f32):
      %q = arith.addf %o, %o : f32
      linalg.yield %q : f32
    } -> tensor<?xf32>
    %z = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%bits : tensor<8xi1>) {
    ^bb0(%o: i1):
      %q = arith.xori %o, %true : i1
      linalg.yield %q : i1
    } -> tensor<8xi1>
    loop.yield while(%true : i1) carried(%x, %y, %z : tensor<64xf32>, tensor<?xf32>, tensor<8xi1>)
  }
  return %r#0, %r#1, %r#2 : tensor<64xf32>, tensor<?xf32>, tensor<8xi1>
}

// The row is written as a vector of one axis, which canonicalization may put
// into the matrix: it kept the indices of both axes of %w.
// CHECK-LABEL: func @row(
// CHECK: %[[ROW:.*]] = vector.transfer_write %{{.*}}, %{{.*}}[%{{.*}}] {in_bounds = [true]} : vector<3xf32>, tensor<3xf32>
// CHECK: tensor.insert_slice %[[ROW]] into
func.func @row(%n: i64, %x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %true = arith.constant true
  %e = tensor.empty() : tensor<1x3xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%m = %x : tensor<5x3xf32>) {
    %f = arith.sitofp %i : i64 to f32
    %t = tensor.from_elements %f : tensor<f32>
    %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ()>, #id2], iterator_types = ["parallel", "parallel"]}
        ins(%t : tensor<f32>) outs(%e : tensor<1x3xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<1x3xf32>
    %at = arith.index_cast %i : i64 to index
    %row = tensor.extract_slice %w[0, 0] [1, 3] [1, 1] : tensor<1x3xf32> to tensor<3xf32>
    %y = tensor.insert_slice %row into %m[%at, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<5x3xf32>
    loop.yield while(%true : i1) carried(%y : tensor<5x3xf32>)
  }
  return %r : tensor<5x3xf32>
}

// What is yielded is what is carried, in another place: it is not read from
// memory again.
// CHECK-LABEL: func @as_it_was(
// CHECK-NOT: tensor.empty
// CHECK: loop.loop {{.*}} carried(%[[X:.*]] = %{{.*}} : vector<1xi64>, %[[Y:.*]] = %{{.*}} : vector<1xi64>)
// CHECK-NEXT: loop.yield {{.*}} carried(%[[Y]], %[[X]] : vector<1xi64>, vector<1xi64>)
func.func @as_it_was(%n: i64, %x0: tensor<1xi64>, %y0: tensor<1xi64>) -> (tensor<1xi64>, tensor<1xi64>) {
  %true = arith.constant true
  %e = tensor.empty() : tensor<1xi64>
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<1xi64>, %y = %y0 : tensor<1xi64>) {
    %p = linalg.generic {indexing_maps = [affine_map<(d0) -> (0)>, #id], iterator_types = ["parallel"]} ins(%x : tensor<1xi64>) outs(%e : tensor<1xi64>) {
    ^bb0(%a: i64, %o: i64):
      linalg.yield %a : i64
    } -> tensor<1xi64>
    %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<1xi64>) outs(%e : tensor<1xi64>) {
    ^bb0(%a: i64, %o: i64):
      linalg.yield %a : i64
    } -> tensor<1xi64>
    loop.yield while(%true : i1) carried(%q, %p : tensor<1xi64>, tensor<1xi64>)
  }
  return %r#0, %r#1 : tensor<1xi64>, tensor<1xi64>
}

// Sums of few products: a vector of all results for each product, one after the
// other.
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#product = affine_map<(i, j, k) -> (i, j)>
#rows = affine_map<(i, k) -> (i, k)>
#vec = affine_map<(i, k) -> (k)>
#sums = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func @products(
// CHECK: loop.loop {{.*}} carried(%[[P:.*]] = %{{.*}} : vector<4xf32>, %[[X:.*]] = %{{.*}} : vector<2xf32>)
// CHECK-NOT: linalg
// CHECK: %[[A0:.*]] = vector.shuffle %[[P]], %[[P]] [0, 0, 2, 2]
// CHECK: %[[B0:.*]] = vector.shuffle %[[W:.*]], %[[W]] [0, 1, 0, 1]
// CHECK: %[[M0:.*]] = arith.mulf %[[A0]], %[[B0]]
// CHECK: %[[S0:.*]] = arith.addf %[[M0]], %{{.*}} : vector<4xf32>
// CHECK: %[[A1:.*]] = vector.shuffle %[[P]], %[[P]] [1, 1, 3, 3]
// CHECK: %[[B1:.*]] = vector.shuffle %[[W]], %[[W]] [2, 3, 2, 3]
// CHECK: %[[M1:.*]] = arith.mulf %[[A1]], %[[B1]]
// CHECK: arith.addf %[[M1]], %[[S0]] : vector<4xf32>
// CHECK: %[[N0:.*]] = arith.mulf %{{.*}} : vector<2xf32>
// CHECK: %[[T:.*]] = arith.addf %[[N0]], %{{.*}} : vector<2xf32>
// CHECK: %[[N1:.*]] = arith.mulf %{{.*}} : vector<2xf32>
// CHECK: arith.addf %[[T]], %[[N1]] : vector<2xf32>
// CHECK: loop.yield
func.func @products(%n: i64, %p0: tensor<2x2xf32>, %w: tensor<2x2xf32>, %x0: tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>) {
  %true = arith.constant true
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %nothing = arith.constant dense<0.0> : tensor<2xf32>
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%p = %p0 : tensor<2x2xf32>, %x = %x0 : tensor<2xf32>) {
    %q = linalg.generic {indexing_maps = [#left, #right, #product], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %m, %o fastmath<reassoc> : f32
      linalg.yield %s : f32
    } -> tensor<2x2xf32>
    %y = linalg.generic {indexing_maps = [#rows, #vec, #sums], iterator_types = ["parallel", "reduction"]} ins(%w, %x : tensor<2x2xf32>, tensor<2xf32>) outs(%nothing : tensor<2xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2xf32>
    loop.yield while(%true : i1) carried(%q, %y : tensor<2x2xf32>, tensor<2xf32>)
  }
  return %r#0, %r#1 : tensor<2x2xf32>, tensor<2xf32>
}

// A shift register: a slice of what is carried behind a new element is a
// shuffle, and a sum of more products than columns have is one vector, too.
// CHECK-LABEL: func @shift(
// CHECK: loop.loop {{.*}} carried(%[[R:[^ ]+]] = %{{.*}} : vector<16xf32>)
// CHECK-NOT: tensor.insert_slice
// CHECK-NOT: linalg.generic
// CHECK: %[[MOVED:.*]] = vector.shuffle %[[R]], %[[R]] [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]
// CHECK: %[[NEXT:.*]] = vector.shuffle %{{.*}}, %[[MOVED]] [0, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
// CHECK: arith.mulf %{{.*}}, %[[NEXT]] fastmath<contract> : vector<16xf32>
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: loop.yield {{.*}} carried(%[[NEXT]] :
func.func @shift(%n: i64, %r0: tensor<16xf32>, %taps: tensor<16xf32>, %new: tensor<1xf32>, %y: tensor<f32>) -> tensor<16xf32> {
  %true = arith.constant true
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %e0 = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %r0 : tensor<16xf32>) {
    %old = tensor.extract_slice %s[0] [15] [1] : tensor<16xf32> to tensor<15xf32>
    %a = tensor.insert_slice %new into %e[0] [1] [1] : tensor<1xf32> into tensor<16xf32>
    %b = tensor.insert_slice %old into %a[1] [15] [1] : tensor<15xf32> into tensor<16xf32>
    %sum = linalg.generic {indexing_maps = [#id, #id, #none], iterator_types = ["reduction"]} ins(%taps, %b : tensor<16xf32>, tensor<16xf32>) outs(%z : tensor<f32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q fastmath<contract> : f32
      %t = arith.addf %o, %m fastmath<reassoc,contract> : f32
      linalg.yield %t : f32
    } -> tensor<f32>
    %v = tensor.extract %sum[] : tensor<f32>
    %ok = arith.cmpf olt, %v, %zero : f32
    loop.check %ok, "less"
    loop.yield while(%true : i1) carried(%b : tensor<16xf32>)
  }
  return %r : tensor<16xf32>
}

// Columns of what is too large for registers are read element by element: what
// is computed of more than 16 stays a loop over memory.

// CHECK-LABEL: func @columns
// CHECK-NOT: vector.transfer_read
// CHECK: linalg.generic
func.func @columns(%x0: tensor<32x2xf32>, %n: i64) -> tensor<32x2xf32> {
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<32x2xf32>) {
    %a = tensor.extract_slice %x[0, 0] [32, 1] [1, 1] : tensor<32x2xf32> to tensor<32xf32>
    %b = tensor.extract_slice %x[0, 1] [32, 1] [1, 1] : tensor<32x2xf32> to tensor<32xf32>
    %e = tensor.empty() : tensor<32xf32>
    %least = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%a, %b : tensor<32xf32>, tensor<32xf32>) outs(%e : tensor<32xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.minimumf %p, %q : f32
      linalg.yield %m : f32
    } -> tensor<32xf32>
    %y = tensor.insert_slice %least into %x[0, 0] [32, 1] [1, 1] : tensor<32xf32> into tensor<32x2xf32>
    loop.yield while(%c : i1) carried(%y : tensor<32x2xf32>)
  }
  return %r : tensor<32x2xf32>
}

// Numbers that are neither integers nor floats are in no vectors.

// CHECK-LABEL: func @numbers
// CHECK-COUNT-2: linalg.generic
func.func @numbers(%x0: tensor<4xf32>, %n: index, %z: complex<f32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = loop.loop (%i : index, %c : i1) trips(%n : index) carried(%x = %x0 : tensor<4xf32>) {
    %y = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel"]} ins(%x, %n : tensor<4xf32>, index) outs(%e : tensor<4xf32>) {
    ^bb0(%p: f32, %q: index, %o: f32):
      %m = arith.addf %p, %p : f32
      linalg.yield %m : f32
    } -> tensor<4xf32>
    %v = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel"]} ins(%y, %z : tensor<4xf32>, complex<f32>) outs(%e : tensor<4xf32>) {
    ^bb0(%p: f32, %q: complex<f32>, %o: f32):
      %m = arith.addf %p, %p : f32
      linalg.yield %m : f32
    } -> tensor<4xf32>
    loop.yield while(%c : i1) carried(%v : tensor<4xf32>)
  }
  return %r : tensor<4xf32>
}
