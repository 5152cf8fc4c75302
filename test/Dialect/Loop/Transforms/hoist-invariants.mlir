// RUN: loopc-opt %s --loop-hoist-invariants | FileCheck %s

#x = affine_map<(m, k, n) -> (m, k)>
#w = affine_map<(m, k, n) -> (k, n)>
#y = affine_map<(m, k, n) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// A product whose inner extents may differ stays behind the check that they do
// not. What each element is computed from alone moves, and so does what is
// computed of extents that types tell.
// CHECK-LABEL: func @behind(
func.func @behind(%n: i64, %x: tensor<?x?xf32>, %v: tensor<?x4xf32>, %w: tensor<?x4xf32>,
                  %u: tensor<4x8xf32>, %s: f32) -> (f32, f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  // CHECK: math.tanh
  // CHECK: arith.mulf
  // CHECK: loop.loop
  // CHECK: loop.check
  // CHECK: arith.mulf
  // CHECK-NOT: arith.mulf
  // CHECK-NOT: math.tanh
  %r:4 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %s : f32, %b = %s : f32, %d = %s : f32, %g = %s : f32) {
    %m = tensor.dim %x, %c0 : tensor<?x?xf32>
    %k = tensor.dim %x, %c1 : tensor<?x?xf32>
    %l = tensor.dim %w, %c0 : tensor<?x4xf32>
    %same = arith.cmpi eq, %k, %l : index
    loop.check %same, "inner dimensions: {} and {} differ"(%k, %l : index, index)
    %e = tensor.empty(%m) : tensor<?x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
    %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%x, %w : tensor<?x?xf32>, tensor<?x4xf32>) outs(%f : tensor<?x4xf32>) {
    ^bb0(%p0: f32, %p1: f32, %o: f32):
      %t = arith.mulf %p0, %p1 : f32
      %sum = arith.addf %o, %t : f32
      linalg.yield %sum : f32
    } -> tensor<?x4xf32>
    %e2 = tensor.empty(%m, %k) : tensor<?x?xf32>
    %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<?x?xf32>) outs(%e2 : tensor<?x?xf32>) {
    ^bb0(%p0: f32, %o: f32):
      %t = math.tanh %p0 : f32
      linalg.yield %t : f32
    } -> tensor<?x?xf32>
    %vm = tensor.dim %v, %c0 : tensor<?x4xf32>
    %e3 = tensor.empty(%vm) : tensor<?x8xf32>
    %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %h = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%v, %u : tensor<?x4xf32>, tensor<4x8xf32>) outs(%f3 : tensor<?x8xf32>) {
    ^bb0(%p0: f32, %p1: f32, %o: f32):
      %t = arith.mulf %p0, %p1 : f32
      %sum = arith.addf %o, %t : f32
      linalg.yield %sum : f32
    } -> tensor<?x8xf32>
    %p00 = tensor.extract %p[%c0, %c0] : tensor<?x4xf32>
    %q00 = tensor.extract %q[%c0, %c0] : tensor<?x?xf32>
    %h00 = tensor.extract %h[%c0, %c0] : tensor<?x8xf32>
    loop.yield while(%c : i1) carried(%p00, %q00, %h00, %g : f32, f32, f32, f32)
  }
  return %r#0, %r#1, %r#2, %r#3 : f32, f32, f32, f32
}

// In front of every check all moves, if the loop runs for sure.
// CHECK-LABEL: func @before(
func.func @before(%x: tensor<?x?xf32>, %w: tensor<?x4xf32>, %e: tensor<?x4xf32>) {
  %t0 = arith.constant 7 : i64
  %n = arith.constant 3 : i64
  // CHECK: arith.mulf
  // CHECK: loop.loop
  loop.loop (%i : i64, %c : i1) trips(%n : i64) {
    %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%x, %w : tensor<?x?xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
    ^bb0(%p0: f32, %p1: f32, %o: f32):
      %t = arith.mulf %p0, %p1 : f32
      %sum = arith.addf %o, %t : f32
      linalg.yield %sum : f32
    } -> tensor<?x4xf32>
    %ok = arith.cmpi slt, %i, %t0 : i64
    loop.check %ok, "{} is no index"(%i : i64)
    loop.yield while(%c : i1)
  }
  return
}

// Where the loop may not run, what may read beyond a tensor stays, though nobody
// has written a check: a product of extents that may differ, an element of any
// place, a row of any place and what reads it. A row that is there moves.
// CHECK-LABEL: func @unchecked(
func.func @unchecked(%n: i64, %x: tensor<4x8xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>, %at: index, %s: f32) -> (f32, f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<8xf32>
  // CHECK: math.exp
  // CHECK: loop.loop
  // CHECK: arith.mulf
  // CHECK: tensor.extract %{{.*}}[%arg4]
  // CHECK: tensor.extract_slice
  // CHECK: math.tanh
  // CHECK: loop.yield
  %r:4 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %s : f32, %b = %s : f32, %d = %s : f32, %f = %s : f32) {
    %from = tensor.from_elements %s : tensor<f32>
    %sum = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
        ins(%y, %z : tensor<?xf32>, tensor<?xf32>) outs(%from : tensor<f32>) {
    ^bb0(%p0: f32, %p1: f32, %o: f32):
      %t = arith.mulf %p0, %p1 : f32
      %more = arith.addf %o, %t : f32
      linalg.yield %more : f32
    } -> tensor<f32>
    %one = tensor.extract %sum[] : tensor<f32>
    %two = tensor.extract %y[%at] : tensor<?xf32>
    %row = tensor.extract_slice %x[%at, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %q = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%row : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%p0: f32, %o: f32):
      %t = math.tanh %p0 : f32
      linalg.yield %t : f32
    } -> tensor<8xf32>
    %three = tensor.extract %q[%c0] : tensor<8xf32>
    %least = arith.minsi %at, %c3 : index
    %inside = arith.maxsi %least, %c0 : index
    %row2 = tensor.extract_slice %x[%inside, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %q2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%row2 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%p0: f32, %o: f32):
      %t = math.exp %p0 : f32
      linalg.yield %t : f32
    } -> tensor<8xf32>
    %four = tensor.extract %q2[%c0] : tensor<8xf32>
    loop.yield while(%c : i1) carried(%one, %two, %three, %four : f32, f32, f32, f32)
  }
  return %r#0, %r#1, %r#2, %r#3 : f32, f32, f32, f32
}

// A view that a check holds to what is there, and a copy into a place.
// CHECK-LABEL: func @views(
func.func @views(%n: i64, %k: index, %ok: i1, %x: tensor<?xf32>, %y: tensor<?x?xf32>, %s: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: tensor.reshape
  // CHECK: loop.loop
  // CHECK: loop.check
  // CHECK: math.tanh
  // CHECK: tensor.insert_slice
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %s : f32, %b = %s : f32) {
    loop.check %ok, "the elements are others"
    %shape = tensor.from_elements %k, %k : tensor<2xindex>
    %m = tensor.reshape %x(%shape) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    %m0 = tensor.dim %m, %c0 : tensor<?x?xf32>
    %m1 = tensor.dim %m, %c1 : tensor<?x?xf32>
    %e = tensor.empty(%m0, %m1) : tensor<?x?xf32>
    %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%m : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%p0: f32, %o: f32):
      %t = math.tanh %p0 : f32
      linalg.yield %t : f32
    } -> tensor<?x?xf32>
    %y0 = tensor.dim %y, %c0 : tensor<?x?xf32>
    %y1 = tensor.dim %y, %c1 : tensor<?x?xf32>
    %e2 = tensor.empty(%k, %k) : tensor<?x?xf32>
    %z = tensor.insert_slice %y into %e2[0, 0] [%y0, %y1] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
    %q0 = tensor.extract %q[%c0, %c0] : tensor<?x?xf32>
    %z0 = tensor.extract %z[%c0, %c0] : tensor<?x?xf32>
    loop.yield while(%c : i1) carried(%q0, %z0 : f32, f32)
  }
  return %r#0, %r#1 : f32, f32
}

// Extents of one name are equal: the border checks that.
// CHECK-LABEL: func @named(
func.func @named(%n: i64, %x: tensor<?x?xf32> {loopc.dims = ["M", "K"]},
                 %w: tensor<?x4xf32> {loopc.dims = ["K", ""]}, %s: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : i64
  // CHECK: arith.mulf
  // CHECK: loop.loop
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %s : f32) {
    %ok = arith.cmpi slt, %i, %c7 : i64
    loop.check %ok, "{} is no index"(%i : i64)
    %m = tensor.dim %x, %c0 : tensor<?x?xf32>
    %e = tensor.empty(%m) : tensor<?x4xf32>
    %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%x, %w : tensor<?x?xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
    ^bb0(%p0: f32, %p1: f32, %o: f32):
      %t = arith.mulf %p0, %p1 : f32
      %sum = arith.addf %o, %t : f32
      linalg.yield %sum : f32
    } -> tensor<?x4xf32>
    %p00 = tensor.extract %p[%c0, %c0] : tensor<?x4xf32>
    loop.yield while(%c : i1) carried(%p00 : f32)
  }
  return %r : f32
}

// Divisions trap: they move where the divisor is not 0, nor -1 if signed. The
// loop may not run, and the check that there is no 0 stays in it.
// CHECK-LABEL: func @divisions(
func.func @divisions(%n: i64, %x: i64, %k: i64) -> (i64, i64, i64, i64, i64, i64, i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  %minus = arith.constant -1 : i64
  // CHECK: %[[MOST:.*]] = arith.maxsi
  // CHECK: arith.remsi %{{.*}}, %[[MOST]]
  // CHECK: %[[OTHER:.*]] = arith.select
  // CHECK: arith.remui %{{.*}}, %[[OTHER]]
  // CHECK: arith.floordivsi %{{.*}}, %c3
  // CHECK: loop.loop
  // CHECK: arith.remsi
  // CHECK: arith.remui
  // CHECK: arith.floordivsi
  // CHECK: arith.remsi %{{.*}}, %c-1
  // CHECK: loop.yield
  %r:7 = loop.loop (%i : i64, %c : i1) trips(%n : i64)
      carried(%a = %x : i64, %b = %x : i64, %d = %x : i64, %e = %x : i64, %f = %x : i64, %g = %x : i64, %h = %x : i64) {
    %rem = arith.remsi %x, %k : i64
    %remu = arith.remui %x, %k : i64
    %floor = arith.floordivsi %x, %k : i64
    %wraps = arith.remsi %x, %minus : i64
    %most = arith.maxsi %k, %c1 : i64
    %safe = arith.remsi %x, %most : i64
    %zero = arith.cmpi eq, %k, %c0 : i64
    %other = arith.select %zero, %c1, %k : i64
    %safe2 = arith.remui %x, %other : i64
    %safe3 = arith.floordivsi %x, %c3 : i64
    loop.yield while(%c : i1) carried(%rem, %remu, %floor, %wraps, %safe, %safe2, %safe3 : i64, i64, i64, i64, i64, i64, i64)
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6 : i64, i64, i64, i64, i64, i64, i64
}

// A loop that runs for sure would have run what is in front of its checks.
// CHECK-LABEL: func @runs(
func.func @runs(%x: i64, %k: i64, %ok: i1) -> (i64, i64) {
  %c2 = arith.constant 2 : i64
  // CHECK: arith.remsi
  // CHECK: loop.loop
  // CHECK: loop.check
  // CHECK: arith.remui
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%c2 : i64) carried(%a = %x : i64, %b = %x : i64) {
    %rem = arith.remsi %x, %k : i64
    loop.check %ok, "no"
    %other = arith.remui %x, %k : i64
    loop.yield while(%c : i1) carried(%rem, %other : i64, i64)
  }
  return %r#0, %r#1 : i64, i64
}

// Nor is memory asked for whose size data say, and elements of an index that
// nobody has checked are not read in front of the check.
// CHECK-LABEL: func @sizes(
func.func @sizes(%n: i64, %x: tensor<?xf32>, %y: tensor<4xf32>, %size: index, %at: index, %ok: i1) -> (f32, f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  // CHECK: %[[D:.*]] = tensor.dim
  // CHECK: tensor.empty(%[[D]])
  // CHECK: arith.minsi
  // CHECK: tensor.extract
  // CHECK: loop.loop
  // CHECK: tensor.empty(%{{.*}})
  // CHECK: loop.check
  // CHECK: tensor.extract %{{.*}}[%arg4]
  // CHECK: loop.yield
  %r:4 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %zero : f32, %b = %zero : f32, %d = %zero : f32, %e = %zero : f32) {
    %extent = tensor.dim %x, %c0 : tensor<?xf32>
    %place = tensor.empty(%extent) : tensor<?xf32>
    %filled = linalg.fill ins(%zero : f32) outs(%place : tensor<?xf32>) -> tensor<?xf32>
    %one = tensor.extract %filled[%c0] : tensor<?xf32>
    %place2 = tensor.empty(%size) : tensor<?xf32>
    %filled2 = linalg.fill ins(%zero : f32) outs(%place2 : tensor<?xf32>) -> tensor<?xf32>
    %two = tensor.extract %filled2[%c0] : tensor<?xf32>
    loop.check %ok, "no"
    %three = tensor.extract %y[%at] : tensor<4xf32>
    %least = arith.minsi %at, %c3 : index
    %inside = arith.maxsi %least, %c0 : index
    %four = tensor.extract %y[%inside] : tensor<4xf32>
    loop.yield while(%c : i1) carried(%one, %two, %three, %four : f32, f32, f32, f32)
  }
  return %r#0, %r#1, %r#2, %r#3 : f32, f32, f32, f32
}

// The sum of two numbers of 8 bits wraps around: 100 + 100 is -56, and no index
// of 256 elements.
// CHECK-LABEL: func @narrow_sum(
func.func @narrow_sum(%n: i64, %x: i8, %y: tensor<256xf32>, %ok: i1) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i8
  %c100 = arith.constant 100 : i8
  // CHECK: loop.loop
  // CHECK: loop.check
  // CHECK: tensor.extract
  // CHECK: loop.yield
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %zero : f32) {
    %low = arith.maxsi %x, %c0 : i8
    %part = arith.minsi %low, %c100 : i8
    %sum = arith.addi %part, %c100 : i8
    %at = arith.index_cast %sum : i8 to index
    loop.check %ok, "no"
    %one = tensor.extract %y[%at] : tensor<256xf32>
    loop.yield while(%c : i1) carried(%one : f32)
  }
  return %r : f32
}

// A check in front of the loop that asks for its trips was one of the body's,
// and says nothing where the body does not run: what may read beyond a tensor
// stays, what reads one alone does not.
// CHECK-LABEL: func.func @checked_before(
// CHECK: loop.check
// CHECK: math.tanh
// CHECK: loop.loop
// CHECK: arith.mulf
func.func @checked_before(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: i64) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0 : i64
  %nx = tensor.dim %x, %c0 : tensor<?xf32>
  %ny = tensor.dim %y, %c0 : tensor<?xf32>
  %equal = arith.cmpi eq, %nx, %ny : index
  %isNever = arith.cmpi sle, %n, %none : i64
  %holds = arith.ori %equal, %isNever : i1
  loop.check %holds, "extents differ"
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %x : tensor<?xf32>) {
    %e = tensor.empty(%nx) : tensor<?xf32>
    %a = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%p: f32, %o: f32):
      %0 = math.tanh %p : f32
      linalg.yield %0 : f32
    } -> tensor<?xf32>
    %b = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%a, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.mulf %p, %q : f32
      linalg.yield %0 : f32
    } -> tensor<?xf32>
    loop.yield while(%c : i1) carried(%b : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// The same of a check that loop-hoist-checks has moved, where the number of
// iterations has been computed anew since.
// CHECK-LABEL: func.func @guarded_before(
// CHECK: loop.check guarded
// CHECK: loop.loop
// CHECK: arith.mulf
func.func @guarded_before(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: i64) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %nx = tensor.dim %x, %c0 : tensor<?xf32>
  %ny = tensor.dim %y, %c0 : tensor<?xf32>
  %equal = arith.cmpi eq, %nx, %ny : index
  %isNever = arith.cmpi sle, %n, %none : i64
  %holds = arith.ori %equal, %isNever : i1
  loop.check guarded %holds, "extents differ"
  %rest = arith.subi %n, %one : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%rest : i64) carried(%s = %x : tensor<?xf32>) {
    %e = tensor.empty(%nx) : tensor<?xf32>
    %b = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.mulf %p, %q : f32
      linalg.yield %0 : f32
    } -> tensor<?xf32>
    loop.yield while(%c : i1) carried(%b : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// And where a branch gives the number of iterations: nobody looks into it.
// CHECK-LABEL: func.func @guarded_before_a_branch(
// CHECK: loop.check guarded
// CHECK: loop.loop
// CHECK: arith.mulf
func.func @guarded_before_a_branch(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: i64, %p: i1) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %nx = tensor.dim %x, %c0 : tensor<?xf32>
  %ny = tensor.dim %y, %c0 : tensor<?xf32>
  %equal = arith.cmpi eq, %nx, %ny : index
  %isNever = arith.cmpi sle, %n, %none : i64
  %holds = arith.ori %equal, %isNever : i1
  loop.check guarded %holds, "extents differ"
  %rest = scf.if %p -> i64 {
    scf.yield %n : i64
  } else {
    scf.yield %one : i64
  }
  %r = loop.loop (%i : i64, %c : i1) trips(%rest : i64) carried(%s = %x : tensor<?xf32>) {
    %e = tensor.empty(%nx) : tensor<?xf32>
    %b = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%v: f32, %q: f32, %o: f32):
      %0 = arith.mulf %v, %q : f32
      linalg.yield %0 : f32
    } -> tensor<?xf32>
    loop.yield while(%c : i1) carried(%b : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}
