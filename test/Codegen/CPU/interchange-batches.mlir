// RUN: loopc-opt %s --cpu-interchange-batches --canonicalize --cse | FileCheck %s
// RUN: loopc-opt %s --cpu-interchange-batches --remark-format=emitRemark \
// RUN:   --remarks-filter=loop 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

#id = affine_map<(h, k, v) -> (h, k, v)>
#head = affine_map<(h, k, v) -> (h)>
#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>
#shared = affine_map<(h, k, v) -> (k, v)>

// A head's 16 KiB stay in the first cache for all iterations; what they collect
// is written where it is, and zeros are made, not cut.
// REMARK: all iterations of a part of what it carries run one after the other
// CHECK-LABEL: func @heads(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[Q:[^:]+]]: tensor<?x4x64xf32>, %{{[^:]+}}: tensor<?x4xf32>, %[[S0:[^:]+]]: tensor<4x64x64xf32>, %[[Y0:[^:]+]]: tensor<?x4x64xf32>
// CHECK: scf.for %[[H:[^ ]+]] = %c0 to %c4 step %c1 iter_args(%[[ALL:[^ ]+]] = %[[S0]], %[[YS:[^ ]+]] = %[[Y0]])
// CHECK: linalg.fill {{.*}} -> tensor<1x64xf32>
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[ALL]][%[[H]], 0, 0] [1, 64, 64]
// CHECK: %[[R:.*]]:2 = loop.loop {{.*}} trips(%[[N]] : i64) carried(%{{[^ ]+}} = %[[PART]] : tensor<1x64x64xf32>, %[[Y:[^ ]+]] = %[[YS]] : tensor<?x4x64xf32>)
// CHECK: tensor.extract_slice %[[Q]][%{{[^,]+}}, %[[H]], 0] [1, 1, 64]
// CHECK: } -> tensor<1x64x64xf32>
// CHECK: } -> tensor<1x64xf32>
// CHECK: tensor.insert_slice %{{.*}} into %[[Y]][%{{[^,]+}}, %[[H]], 0] [1, 1, 64]
// CHECK: tensor.insert_slice %[[R]]#0 into %[[ALL]][%[[H]], 0, 0] [1, 64, 64]
// CHECK: } {loopc.parallel}
func.func @heads(%n: i64, %q: tensor<?x4x64xf32>, %g: tensor<?x4xf32>, %s0: tensor<4x64x64xf32>, %y0: tensor<?x4x64xf32>) -> (tensor<4x64x64xf32>, tensor<?x4x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64x64xf32>
  %r = tensor.empty() : tensor<4x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<4x64xf32>) -> tensor<4x64xf32>
  %out:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : tensor<4x64x64xf32>, %ys = %y0 : tensor<?x4x64xf32>) {
    %t = arith.index_cast %i : i64 to index
    %x = tensor.extract_slice %q[%t, 0, 0] [1, 4, 64] [1, 1, 1] : tensor<?x4x64xf32> to tensor<4x64xf32>
    %d = tensor.extract_slice %g[%t, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
    %s1 = linalg.generic {indexing_maps = [#id, #head, #key, #value, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%s, %d, %x, %x : tensor<4x64x64xf32>, tensor<4xf32>, tensor<4x64xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64x64xf32>) {
    ^bb0(%a: f32, %b: f32, %k: f32, %v: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %m = arith.mulf %k, %v : f32
      %w = arith.addf %p, %m : f32
      linalg.yield %w : f32
    } -> tensor<4x64x64xf32>
    %y = linalg.generic {indexing_maps = [#key, #id, #value], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%x, %s1 : tensor<4x64xf32>, tensor<4x64x64xf32>) outs(%z : tensor<4x64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %w = arith.addf %o, %m fastmath<reassoc> : f32
      linalg.yield %w : f32
    } -> tensor<4x64xf32>
    %ys1 = tensor.insert_slice %y into %ys[%t, 0, 0] [1, 4, 64] [1, 1, 1] : tensor<4x64xf32> into tensor<?x4x64xf32>
    loop.yield while(%c : i1) carried(%s1, %ys1 : tensor<4x64x64xf32>, tensor<?x4x64xf32>)
  }
  return %out#0, %out#1 : tensor<4x64x64xf32>, tensor<?x4x64xf32>
}

// Batches of heads, of unknown numbers: two loops around the iterations.
// REMARK: all iterations of a part of what it carries run one after the other
// REMARK: all iterations of a part of what it carries run one after the other
// CHECK-LABEL: func @batches(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: loop.loop {{.*}} carried(%{{[^ ]+}} = %{{[^ ]+}} : tensor<1x1x?x64xf32>)
func.func @batches(%n: i64, %x: tensor<?x?x?x64xf32>, %s0: tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %b = tensor.dim %s0, %c0 : tensor<?x?x?x64xf32>
  %h = tensor.dim %s0, %c1 : tensor<?x?x?x64xf32>
  %k = tensor.dim %s0, %c2 : tensor<?x?x?x64xf32>
  %e = tensor.empty(%b, %h, %k) : tensor<?x?x?x64xf32>
  %out = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : tensor<?x?x?x64xf32>) {
    %s1 = linalg.generic {indexing_maps = [affine_map<(b, h, k, v) -> (b, h, k, v)>, affine_map<(b, h, k, v) -> (b, h, k, v)>, affine_map<(b, h, k, v) -> (b, h, k, v)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%s, %x : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>) outs(%e : tensor<?x?x?x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %w = arith.addf %p, %q : f32
      linalg.yield %w : f32
    } -> tensor<?x?x?x64xf32>
    loop.yield while(%c : i1) carried(%s1 : tensor<?x?x?x64xf32>)
  }
  return %out : tensor<?x?x?x64xf32>
}

// All of it stays in the first cache as it is.
// REMARK: parts of what it carries inside: what it carries is no larger than a cache
// CHECK-LABEL: func @small(
// CHECK-NOT: scf.for
func.func @small(%n: i64, %x: tensor<4x16x16xf32>, %s0: tensor<4x16x16xf32>) -> tensor<4x16x16xf32> {
  %e = tensor.empty() : tensor<4x16x16xf32>
  %out = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : tensor<4x16x16xf32>) {
    %s1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%s, %x : tensor<4x16x16xf32>, tensor<4x16x16xf32>) outs(%e : tensor<4x16x16xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %w = arith.addf %p, %q : f32
      linalg.yield %w : f32
    } -> tensor<4x16x16xf32>
    loop.yield while(%c : i1) carried(%s1 : tensor<4x16x16xf32>)
  }
  return %out : tensor<4x16x16xf32>
}

// Rows that share a matrix are multiplied with it together.
// REMARK: parts of what it carries inside: all parts are multiplied with one matrix
// CHECK-LABEL: func @shared(
// CHECK-NOT: scf.for
func.func @shared(%n: i64, %w: tensor<64x64xf32>, %s0: tensor<4x64x64xf32>) -> tensor<4x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %out = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : tensor<4x64x64xf32>) {
    %s1 = linalg.generic {indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (k, n)>, affine_map<(h, m, n, k) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%s, %w : tensor<4x64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<4x64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %q : f32
      %t = arith.addf %o, %m fastmath<reassoc> : f32
      linalg.yield %t : f32
    } -> tensor<4x64x64xf32>
    loop.yield while(%c : i1) carried(%s1 : tensor<4x64x64xf32>)
  }
  return %out : tensor<4x64x64xf32>
}

// Each head gets the sum of all, so that rows, not heads, stand alone.
// CHECK-LABEL: func @mixed(
// CHECK: tensor.extract_slice %{{.*}}[0, %{{.*}}, 0] [4, 1, 64]
// CHECK: loop.loop {{.*}} : tensor<4x1x64xf32>
func.func @mixed(%n: i64, %s0: tensor<4x64x64xf32>) -> tensor<4x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64x64xf32>
  %r = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<64x64xf32>) -> tensor<64x64xf32>
  %out = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : tensor<4x64x64xf32>) {
    %sum = linalg.generic {indexing_maps = [#id, #shared], iterator_types = ["reduction", "parallel", "parallel"]}
        ins(%s : tensor<4x64x64xf32>) outs(%z : tensor<64x64xf32>) {
    ^bb0(%p: f32, %o: f32):
      %t = arith.addf %o, %p fastmath<reassoc> : f32
      linalg.yield %t : f32
    } -> tensor<64x64xf32>
    %s1 = linalg.generic {indexing_maps = [#id, #shared, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%s, %sum : tensor<4x64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<4x64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %w = arith.addf %p, %q : f32
      linalg.yield %w : f32
    } -> tensor<4x64x64xf32>
    loop.yield while(%c : i1) carried(%s1 : tensor<4x64x64xf32>)
  }
  return %out : tensor<4x64x64xf32>
}

// Each head reads its neighbour, by a slice.
// CHECK-LABEL: func @neighbours(
// CHECK: tensor.extract_slice %{{.*}}[0, %{{.*}}, 0] [8, 1, 64]
// CHECK: loop.loop {{.*}} : tensor<8x1x64xf32>
func.func @neighbours(%n: i64, %s0: tensor<8x64x64xf32>) -> tensor<8x64x64xf32> {
  %out = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : tensor<8x64x64xf32>) {
    %a = tensor.extract_slice %s[1, 0, 0] [7, 64, 64] [1, 1, 1] : tensor<8x64x64xf32> to tensor<7x64x64xf32>
    %s1 = tensor.insert_slice %a into %s[0, 0, 0] [7, 64, 64] [1, 1, 1] : tensor<7x64x64xf32> into tensor<8x64x64xf32>
    loop.yield while(%c : i1) carried(%s1 : tensor<8x64x64xf32>)
  }
  return %out : tensor<8x64x64xf32>
}

// A condition may end it: all heads together.
// REMARK: parts of what it carries inside: a condition may end it
// CHECK-LABEL: func @condition(
// CHECK-NOT: scf.for
func.func @condition(%n: i64, %go: i1, %x: tensor<4x64x64xf32>, %s0: tensor<4x64x64xf32>) -> tensor<4x64x64xf32> {
  %e = tensor.empty() : tensor<4x64x64xf32>
  %out = loop.loop (%i : i64, %c : i1) trips(%n : i64) while(%go : i1) carried(%s = %s0 : tensor<4x64x64xf32>) {
    %s1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%s, %x : tensor<4x64x64xf32>, tensor<4x64x64xf32>) outs(%e : tensor<4x64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %w = arith.addf %p, %q : f32
      linalg.yield %w : f32
    } -> tensor<4x64x64xf32>
    loop.yield while(%c : i1) carried(%s1 : tensor<4x64x64xf32>)
  }
  return %out : tensor<4x64x64xf32>
}

// What an iteration makes of %w has other extents than %w0 along an axis that
// no part goes along. Nobody reads %w in the loop.
// REMARK: parts of what it carries inside: a value that it carries may change its shape
// CHECK-LABEL: func @unread(
// CHECK-NOT: scf.for
func.func @unread(%n: i64, %s0: tensor<4x64x64xf32>, %w0: tensor<?x64x64xf32>) -> (tensor<4x64x64xf32>, tensor<?x64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64x64xf32>
  %r = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<64x64xf32>) -> tensor<64x64xf32>
  %out:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : tensor<4x64x64xf32>, %w = %w0 : tensor<?x64x64xf32>) {
    %sum = linalg.generic {indexing_maps = [#id, #shared], iterator_types = ["reduction", "parallel", "parallel"]}
        ins(%s : tensor<4x64x64xf32>) outs(%z : tensor<64x64xf32>) {
    ^bb0(%p: f32, %o: f32):
      %t = arith.addf %o, %p fastmath<reassoc> : f32
      linalg.yield %t : f32
    } -> tensor<64x64xf32>
    %s1 = linalg.generic {indexing_maps = [#id, #shared, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%s, %sum : tensor<4x64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<4x64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %v = arith.addf %p, %q : f32
      linalg.yield %v : f32
    } -> tensor<4x64x64xf32>
    %w1 = tensor.cast %s1 : tensor<4x64x64xf32> to tensor<?x64x64xf32>
    loop.yield while(%c : i1) carried(%s1, %w1 : tensor<4x64x64xf32>, tensor<?x64x64xf32>)
  }
  return %out#0, %out#1 : tensor<4x64x64xf32>, tensor<?x64x64xf32>
}

// Single channels are too small a part, and neighbours in memory: blocks of 64
// of them, of a known extent, for threads.
// REMARK: threads take blocks of what it carries, each for all iterations
// CHECK-LABEL: func @channels(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[X:[^:]+]]: tensor<?x512xf32>
// CHECK: scf.for %[[K:[^ ]+]] = %c0 to %c8 step %c1
// CHECK: %[[AT:.*]] = arith.muli %[[K]], %c64
// CHECK: tensor.extract_slice %{{.*}}[%[[AT]], 0] [64, 32]
// CHECK: loop.loop {{.*}} trips(%[[N]] : i64) carried(%{{[^ ]+}} = %{{[^ ]+}} : tensor<64x32xf32>)
// CHECK: tensor.extract_slice %[[X]][%{{[^,]+}}, %[[AT]]] [1, 64]
// CHECK: } {loopc.parallel}
func.func @channels(%n: i64, %x: tensor<?x512xf32>, %s0: tensor<512x32xf32>) -> tensor<512x32xf32> {
  %e = tensor.empty() : tensor<512x32xf32>
  %out = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : tensor<512x32xf32>) {
    %t = arith.index_cast %i : i64 to index
    %row = tensor.extract_slice %x[%t, 0] [1, 512] [1, 1] : tensor<?x512xf32> to tensor<512xf32>
    %s1 = linalg.generic {indexing_maps = [affine_map<(d, n) -> (d, n)>, affine_map<(d, n) -> (d)>, affine_map<(d, n) -> (d, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%s, %row : tensor<512x32xf32>, tensor<512xf32>) outs(%e : tensor<512x32xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %w = arith.mulf %p, %q : f32
      linalg.yield %w : f32
    } -> tensor<512x32xf32>
    loop.yield while(%c : i1) carried(%s1 : tensor<512x32xf32>)
  }
  return %out : tensor<512x32xf32>
}

// Of an unknown number a thread gets its share, at multiples of 64; the last
// block is what is left.
// CHECK-LABEL: func @open_channels(
// CHECK: rt.call "loopc_rt_num_threads"()
// CHECK: scf.for
// CHECK: %[[LENGTH:.*]] = arith.minsi
// CHECK: tensor.extract_slice %{{.*}}[%{{[^,]+}}, 0] [%[[LENGTH]], 8]
// CHECK: loop.loop
// CHECK: } {loopc.parallel}
func.func @open_channels(%n: i64, %x: tensor<?x?xf32>) -> tensor<?x8xf32> {
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c1 : tensor<?x?xf32>
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%d) : tensor<?x8xf32>
  %s0 = linalg.fill ins(%one : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %out = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : tensor<?x8xf32>) {
    %t = arith.index_cast %i : i64 to index
    %row = tensor.extract_slice %x[%t, 0] [1, %d] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %s1 = linalg.generic {indexing_maps = [affine_map<(d, n) -> (d, n)>, affine_map<(d, n) -> (d)>, affine_map<(d, n) -> (d, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%s, %row : tensor<?x8xf32>, tensor<?xf32>) outs(%e : tensor<?x8xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %w = arith.mulf %p, %q : f32
      linalg.yield %w : f32
    } -> tensor<?x8xf32>
    loop.yield while(%c : i1) carried(%s1 : tensor<?x8xf32>)
  }
  return %out : tensor<?x8xf32>
}

// A buffer with room, into which an iteration writes a row and of which it reads
// a view, stays one: parts of it would be copied.
// CHECK-LABEL: func @room(
// CHECK-SAME: %{{[^:]+}}: i64, %[[K0:[^:]+]]: tensor<4x96x64xf32>
// CHECK: scf.for %[[H:[^ ]+]] = %c0 to %c4 step %c1 iter_args(%[[K:[^ ]+]] = %[[K0]]
// CHECK: loop.loop {{.*}} carried(%[[KEYS:[^ ]+]] = %[[K]] : tensor<4x96x64xf32>, %{{[^ ]+}} = %{{[^ ]+}} : tensor<1x64xf32>
// CHECK: %[[MORE:.*]] = tensor.insert_slice %{{.*}} into %[[KEYS]][%[[H]], %{{[^,]+}}, 0] [1, 1, 64]
// CHECK: tensor.extract_slice %[[MORE]][%[[H]], 0, 0] [1, %{{[^,]+}}, 64]
// CHECK: } {loopc.parallel}
func.func @room(%n: i64, %k0: tensor<4x96x64xf32>, %q0: tensor<4x64xf32>) -> (tensor<4x96x64xf32>, tensor<4x64xf32>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<4x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<4x64xf32>) -> tensor<4x64xf32>
  %out:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%k = %k0 : tensor<4x96x64xf32>, %q = %q0 : tensor<4x64xf32>) {
    %t = arith.index_cast %i : i64 to index
    %size = arith.addi %t, %c1 : index
    %k1 = tensor.insert_slice %q into %k[0, %t, 0] [4, 1, 64] [1, 1, 1] : tensor<4x64xf32> into tensor<4x96x64xf32>
    %all = tensor.extract_slice %k1[0, 0, 0] [4, %size, 64] [1, 1, 1] : tensor<4x96x64xf32> to tensor<4x?x64xf32>
    %q1 = linalg.generic {indexing_maps = [#id, #value], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%all : tensor<4x?x64xf32>) outs(%z : tensor<4x64xf32>) {
    ^bb0(%p: f32, %o: f32):
      %w = arith.addf %o, %p fastmath<reassoc> : f32
      linalg.yield %w : f32
    } -> tensor<4x64xf32>
    loop.yield while(%c : i1) carried(%k1, %q1 : tensor<4x96x64xf32>, tensor<4x64xf32>)
  }
  return %out#0, %out#1 : tensor<4x96x64xf32>, tensor<4x64xf32>
}

// The extents of what a loop around carries are those that it begins with only
// where each iteration keeps them, whatever its mark says: here there are more
// rows than %d in all iterations but the first, and those are left as they are.
// Heads of the second axis have the same extent for all.
// CHECK-LABEL: func @grows(
// CHECK: scf.for %{{[^ ]+}} = %c0 to %arg1
// CHECK: scf.for %{{[^ ]+}} = %c0 to %c64
// CHECK-NOT: scf.for
// CHECK: loop.loop {{.*}} : tensor<?x64x64xf32>
func.func @grows(%n: i64, %parts: index, %more: index, %s0: tensor<?x64x64xf32>) -> tensor<?x64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %s0, %c0 : tensor<?x64x64xf32>
  %r = scf.for %p = %c0 to %parts step %c1 iter_args(%s1 = %s0) -> (tensor<?x64x64xf32>) {
    %out = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s1 : tensor<?x64x64xf32>) {
      %first = tensor.extract_slice %s[0, 0, 0] [%d, 64, 64] [1, 1, 1] : tensor<?x64x64xf32> to tensor<?x64x64xf32>
      %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%first : tensor<?x64x64xf32>) outs(%first : tensor<?x64x64xf32>) {
      ^bb0(%x: f32, %o: f32):
        %y = arith.addf %x, %x : f32
        linalg.yield %y : f32
      } -> tensor<?x64x64xf32>
      %next = tensor.insert_slice %w into %s[0, 0, 0] [%d, 64, 64] [1, 1, 1] : tensor<?x64x64xf32> into tensor<?x64x64xf32>
      loop.yield while(%c : i1) carried(%next : tensor<?x64x64xf32>)
    }
    %own = tensor.dim %s1, %c0 : tensor<?x64x64xf32>
    %size = arith.addi %own, %more : index
    %e = tensor.empty(%size) : tensor<?x64x64xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64x64xf32>) -> tensor<?x64x64xf32>
    %all = tensor.insert_slice %out into %z[0, 0, 0] [%own, 64, 64] [1, 1, 1] : tensor<?x64x64xf32> into tensor<?x64x64xf32>
    scf.yield %all : tensor<?x64x64xf32>
  } {loopc.parallel}
  return %r : tensor<?x64x64xf32>
}

// Where each keeps them they are known.
// CHECK-LABEL: func @stays(
// CHECK: %[[D:.*]] = tensor.dim
// CHECK: scf.for %{{[^ ]+}} = %c0 to %arg1
// CHECK: scf.for %{{[^ ]+}} = %c0 to %[[D]]
func.func @stays(%n: i64, %parts: index, %s0: tensor<?x64x64xf32>) -> tensor<?x64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.dim %s0, %c0 : tensor<?x64x64xf32>
  %r = scf.for %p = %c0 to %parts step %c1 iter_args(%s1 = %s0) -> (tensor<?x64x64xf32>) {
    %out = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s1 : tensor<?x64x64xf32>) {
      %first = tensor.extract_slice %s[0, 0, 0] [%d, 64, 64] [1, 1, 1] : tensor<?x64x64xf32> to tensor<?x64x64xf32>
      %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%first : tensor<?x64x64xf32>) outs(%first : tensor<?x64x64xf32>) {
      ^bb0(%x: f32, %o: f32):
        %y = arith.addf %x, %x : f32
        linalg.yield %y : f32
      } -> tensor<?x64x64xf32>
      %next = tensor.insert_slice %w into %s[0, 0, 0] [%d, 64, 64] [1, 1, 1] : tensor<?x64x64xf32> into tensor<?x64x64xf32>
      loop.yield while(%c : i1) carried(%next : tensor<?x64x64xf32>)
    }
    scf.yield %out : tensor<?x64x64xf32>
  }
  return %r : tensor<?x64x64xf32>
}
