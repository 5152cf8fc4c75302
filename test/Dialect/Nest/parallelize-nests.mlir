// RUN: loopc-opt %s --split-input-file --loopc-parallelize-nests | FileCheck %s
// RUN: loopc-opt %s --split-input-file --loopc-parallelize-nests=long-loop=1 \
// RUN:   | FileCheck %s --check-prefix=LONG
// RUN: loopc-opt %s --split-input-file --loopc-parallelize-nests \
// RUN:   --remark-format=emitRemark --remarks-filter=loop 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// Loops in functions of their own are not unrolled for an unknown number of trips.
// CHECK: #{{.*}} = #llvm.loop_unroll<runtimeDisable = true>

// Enough work, known here, and not in a loop: a function asks whether there are
// threads, and shares the two loops out as one.
// CHECK-LABEL: func.func @large(
// CHECK-SAME: %[[THIS:[^:]+]]: !rt.run
// CHECK-NOT: loopc_rt_num_threads
// CHECK: %[[M:.*]] = memref.alloc
// CHECK-NOT: scf.if
// CHECK: call @large_shared(%[[THIS]], %{{.*}}, %[[M]])
// CHECK-NEXT: loop.poll
// CHECK-NOT: call @large_parallel(
// CHECK: return
// CHECK: func.func private @large_parallel(%{{.*}}: !rt.run, %[[BEGIN:[^:]+]]: index, %[[END:[^:]+]]: index, %{{[^:]+}}: memref<20x30x4096xf32> {llvm.noalias}
// CHECK-SAME: -> i32
// CHECK: scf.for %[[K:[^ ]+]] = %[[BEGIN]] to %[[END]]
// CHECK: arith.remui %[[K]]
// CHECK: %[[I:.*]] = arith.divui %[[K]]
// CHECK: scf.for
// CHECK: memref.store
// CHECK: llvm.func internal @large_parallel_piece(%[[FROM:[^:]+]]: !llvm.ptr, %{{[^:]+}}: i64, %{{[^:]+}}: i64)
// CHECK: llvm.load
// CHECK: call @large_parallel(
// CHECK: func.func private @large_shared(%[[HANDLE:[^:]+]]: !rt.run, %{{[^:]+}}: index, %{{[^:]+}}: memref<20x30x4096xf32>)
// CHECK: %[[CONTEXT:.*]] = llvm.alloca
// CHECK: %[[GIVES:.*]] = builtin.unrealized_conversion_cast %[[HANDLE]] : !rt.run to !llvm.ptr
// CHECK: %[[COUNT:.*]] = llvm.call @loopc_rt_num_threads(%[[GIVES]])
// CHECK: %[[MANY:.*]] = arith.cmpi sgt, %[[COUNT]], %{{.*}} : i32
// CHECK-NOT: arith.cmpf
// CHECK: scf.if %[[MANY]] {
// CHECK: %[[GIVEN:.*]] = builtin.unrealized_conversion_cast %[[HANDLE]] : !rt.run to !llvm.ptr
// CHECK: llvm.store %[[GIVEN]]
// CHECK: %[[PIECE:.*]] = llvm.mlir.addressof @large_parallel_piece
// CHECK: llvm.call @loopc_rt_parallel_for(%[[GIVEN]], %{{.*}}, %{{.*}}, %[[PIECE]], %[[CONTEXT]])
// CHECK: } else {
// CHECK: call @large_parallel(%[[HANDLE]], %{{.*}})
// REMARK: remark: {{.*}}its iterations run on the threads of the run
func.func @large(%run: !rt.run) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  %c30 = arith.constant 30 : index
  %c4096 = arith.constant 4096 : index
  %ok = arith.constant 0 : i32
  %m = memref.alloc() : memref<20x30x4096xf32>
  scf.for %i = %c0 to %c20 step %c1 {
    scf.for %j = %c0 to %c30 step %c1 {
      scf.for %k = %c0 to %c4096 step %c1 {
        %x = memref.load %m[%i, %j, %k] : memref<20x30x4096xf32>
        %y = math.tanh %x : f32
        memref.store %y, %m[%i, %j, %k] : memref<20x30x4096xf32>
      }
    } {loopc.parallel}
  } {loopc.parallel}
  return %ok : i32
}

// -----

// Little work stays as it is, and nothing is asked of the run.
// CHECK-LABEL: func.func @small(
// CHECK-NOT: llvm.call
// CHECK: scf.for
// CHECK-NOT: @small_parallel
func.func @small(%run: !rt.run, %m: memref<64xf32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %ok = arith.constant 0 : i32
  scf.for %i = %c0 to %c64 step %c1 {
    %x = memref.load %m[%i] : memref<64xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %m[%i] : memref<64xf32>
  } {loopc.parallel}
  return %ok : i32
}

// -----

// Windows at the border of an image, which go from the greater of two numbers to
// the lesser one, count as whole ones.
// CHECK-LABEL: func.func @border(
// CHECK: call @border_shared(
func.func @border(%run: !rt.run, %x: memref<1000xf32>, %m: memref<14x64xf32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c1000 = arith.constant 1000 : index
  %ok = arith.constant 0 : i32
  scf.for %i = %c0 to %c14 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %before = arith.subi %c2, %i : index
      %from = arith.maxsi %before, %c0 : index
      %behind = arith.subi %c16, %i : index
      %rest = arith.maxsi %behind, %c0 : index
      %to = arith.minsi %rest, %c5 : index
      scf.for %k = %from to %to step %c1 {
        scf.for %e = %c0 to %c1000 step %c1 {
          %a = memref.load %x[%e] : memref<1000xf32>
          %s = memref.load %m[%i, %j] : memref<14x64xf32>
          %t = arith.addf %s, %a : f32
          memref.store %t, %m[%i, %j] : memref<14x64xf32>
        }
      }
    } {loopc.parallel}
  } {loopc.parallel}
  return %ok : i32
}

// -----

// A nest in a loop that may be small stays where it was, too: a call would count.
// One that is large by any guess does not (@large_guess).
// CHECK-LABEL: func.func @in_loop(
// Where one thread was seen to be faster it is computed there, too.
// CHECK: scf.for
// CHECK: %[[DONE:.*]] = scf.if %{{.*}} -> (i1) {
// CHECK: %[[SHARED:.*]] = func.call @in_loop_tried
// CHECK: loop.poll
// CHECK: scf.yield %[[SHARED]]
// CHECK: } else {
// CHECK: scf.yield %false
// CHECK: %[[LEFT:.*]] = arith.xori %[[DONE]], %true
// CHECK: scf.if %[[LEFT]] {
// CHECK-NEXT: scf.for
// CHECK: func.func private @in_loop_parallel(
// CHECK: func.func private @in_loop_tried(
// Whether it is large by itself is told (1), and that it comes again and again.
// CHECK: %[[LARGE:.*]] = arith.constant 5.242880e+05 : f64
// CHECK: %[[IS_LARGE:.*]] = arith.cmpf oge, %{{.*}}, %[[LARGE]] : f64
// CHECK: %[[FLAG:.*]] = arith.select %[[IS_LARGE]], %c1_i32{{[^,]*}}, %c0_i32{{[^,]*}} : i32
// CHECK: llvm.call @loopc_rt_try_parallel_for({{.*}}, %[[FLAG]])
// Among many others it is a call, which asks for threads itself.
// LONG-LABEL: func.func @in_loop(
// LONG: scf.for
// LONG-NOT: scf.if
// LONG: func.call @in_loop_shared
// LONG-NEXT: loop.poll
// LONG-NEXT: }
// LONG: func.func private @in_loop_shared(
// LONG: llvm.call @loopc_rt_num_threads
func.func @in_loop(%run: !rt.run, %m: memref<?xf32>, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  scf.for %k = %c0 to %n step %c1 {
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %m[%i] : memref<?xf32>
      %y = arith.addf %x, %x : f32
      memref.store %y, %m[%i] : memref<?xf32>
    } {loopc.parallel}
  }
  return %ok : i32
}

// -----

// CHECK-LABEL: func.func @large_guess(
// CHECK: scf.for
// CHECK: func.call @large_guess_shared
// CHECK: } else {
// CHECK-NOT: scf.for
// CHECK: func.call @large_guess_parallel(
// CHECK: func.func private @large_guess_parallel(
func.func @large_guess(%run: !rt.run, %m: memref<?x100000xf32>, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = arith.constant 100000 : index
  %ok = arith.constant 0 : i32
  scf.for %k = %c0 to %n step %c1 {
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %c step %c1 {
        %x = memref.load %m[%i, %j] : memref<?x100000xf32>
        %y = arith.addf %x, %x : f32
        memref.store %y, %m[%i, %j] : memref<?x100000xf32>
      }
    } {loopc.parallel}
  }
  return %ok : i32
}

// -----

// One that fills memory which was allocated for it does not, either: the code is
// there once. Equal ones share it.
// CHECK-LABEL: func.func @fresh(
// CHECK: scf.for
// CHECK: memref.alloc
// CHECK: func.call @fresh_shared(
// CHECK: } else {
// CHECK-NOT: scf.for
// CHECK: func.call @fresh_parallel(
// CHECK: memref.alloc
// CHECK: func.call @fresh_shared(
// CHECK: } else {
// CHECK-NOT: scf.for
// CHECK: func.call @fresh_parallel(
// CHECK: func.func private @fresh_parallel(
// CHECK-NOT: func.func private @fresh_{{.*}}_0(
func.func @fresh(%run: !rt.run, %m: memref<?xf32>, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  scf.for %k = %c0 to %n step %c1 {
    %a = memref.alloc(%n) : memref<?xf32>
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %m[%i] : memref<?xf32>
      %y = arith.addf %x, %x : f32
      memref.store %y, %a[%i] : memref<?xf32>
    } {loopc.parallel}
    %b = memref.alloc(%n) : memref<?xf32>
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %a[%i] : memref<?xf32>
      %y = arith.addf %x, %x : f32
      memref.store %y, %b[%i] : memref<?xf32>
    } {loopc.parallel}
    memref.dealloc %a : memref<?xf32>
    memref.dealloc %b : memref<?xf32>
  }
  return %ok : i32
}

// -----

// What only the run knows is asked where the run has threads. The code is there
// once, as it runs once a run. Pieces end at whole vectors. An eighth of what is
// large is told to be little: it does not begin or wake threads at once.
// CHECK-LABEL: func.func @dynamic(
// CHECK-NOT: arith.cmp
// CHECK: call @dynamic_shared(
// CHECK-NOT: call @dynamic_parallel(
// CHECK: func.func private @dynamic_parallel(
// CHECK: scf.for
// CHECK: memref.store
// CHECK: func.func private @dynamic_shared(%[[HANDLE:[^:]+]]: !rt.run, %[[TRIPS:[^:]+]]: index, %[[N:[^:]+]]: index, %[[M:[^:]+]]: memref<?xf32>)
// CHECK: llvm.alloca
// CHECK: %[[MANY:.*]] = arith.cmpi sgt
// CHECK: %[[DONE:.*]] = scf.if %[[MANY]] -> (i1) {
// CHECK: arith.select
// CHECK: %[[WORK:.*]] = arith.mulf
// CHECK: %[[LEAST:.*]] = arith.constant 6.553600e+04 : f64
// CHECK: %[[PAYS:.*]] = arith.cmpf oge, %[[WORK]], %[[LEAST]]
// CHECK: %[[TRIED:.*]] = scf.if %[[PAYS]] -> (i1) {
// CHECK: arith.constant 5.242880e+05 : f64
// Outside of loops it comes once (2).
// CHECK: %[[IS_LARGE:.*]] = arith.cmpf oge, %[[WORK]]
// CHECK: %[[LARGE:.*]] = arith.select %[[IS_LARGE]], %c3_i32{{[^,]*}}, %c2_i32{{[^,]*}} : i32
// CHECK: arith.constant 63 : i64
// CHECK: arith.addi
// CHECK: arith.constant -64 : i64
// CHECK: arith.andi
// CHECK: %[[SHARED:.*]] = llvm.call @loopc_rt_try_parallel_for({{.*}}, %[[LARGE]])
// CHECK: %[[IS_SHARED:.*]] = arith.cmpi ne, %[[SHARED]]
// CHECK: scf.yield %[[IS_SHARED]]
// CHECK: } else {
// CHECK: scf.yield %false
// CHECK: scf.yield %[[TRIED]]
// CHECK: } else {
// CHECK: scf.yield %false
// CHECK: %[[LEFT:.*]] = arith.xori %[[DONE]]
// CHECK: scf.if %[[LEFT]] {
// CHECK: func.call @dynamic_parallel(%[[HANDLE]], %{{.*}}, %[[TRIPS]], %[[N]], %[[M]])
func.func @dynamic(%run: !rt.run, %m: memref<?xf32>, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %m[%i] : memref<?xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %m[%i] : memref<?xf32>
  } {loopc.parallel}
  return %ok : i32
}

// -----

// A buffer that all iterations write to: what is said of the nest is not so.
// CHECK-LABEL: func.func @scratch(
// CHECK-NOT: loopc_rt_parallel_for
// CHECK: return
// REMARK: remark: {{.*}}it does not run on several threads: iterations may write to one place
func.func @scratch(%run: !rt.run, %m: memref<?xf32>, %s: memref<1xf32>, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %m[%i] : memref<?xf32>
    memref.store %x, %s[%c0] : memref<1xf32>
    memref.store %x, %m[%i] : memref<?xf32>
  } {loopc.parallel}
  return %ok : i32
}

// -----

// What an iteration allocates is its own. A thread may find no memory: the loop
// is asked for errors where it is not shared out, too.
// CHECK-LABEL: func.func @allocates(
// CHECK: call @allocates_shared(
// CHECK: func.func private @allocates_parallel(
// CHECK: scf.for
// CHECK: memref.alloc() : memref<1xf32>
// CHECK: memref.dealloc
func.func @allocates(%run: !rt.run, %m: memref<?xf32>, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  scf.for %i = %c0 to %n step %c1 {
    %s = memref.alloc() : memref<1xf32>
    %x = memref.load %m[%i] : memref<?xf32>
    memref.store %x, %s[%c0] : memref<1xf32>
    %y = memref.load %s[%c0] : memref<1xf32>
    memref.store %y, %m[%i] : memref<?xf32>
    memref.dealloc %s : memref<1xf32>
  } {loopc.parallel}
  return %ok : i32
}

// -----

// A buffer that is handed from iteration to iteration of a loop in it may be the
// one that all share.
// CHECK-LABEL: func.func @allocates_or_shares(
// CHECK-NOT: loopc_rt_parallel_for
// CHECK: return
func.func @allocates_or_shares(%run: !rt.run, %m: memref<?xf32>, %t: memref<1xf32>, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  scf.for %i = %c0 to %n step %c1 {
    %s = memref.alloc() : memref<1xf32>
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%b = %t) -> (memref<1xf32>) {
      %x = memref.load %m[%i] : memref<?xf32>
      memref.store %x, %b[%c0] : memref<1xf32>
      scf.yield %s : memref<1xf32>
    }
    memref.dealloc %s : memref<1xf32>
  } {loopc.parallel}
  return %ok : i32
}

// -----

// What an iteration frees is what it has allocated.
// CHECK-LABEL: func.func @frees(
// CHECK-NOT: loopc_rt_parallel_for
// CHECK: return
// REMARK: remark: {{.*}}it does not run on several threads: it frees memory that it has not allocated
func.func @frees(%run: !rt.run, %m: memref<?xf32>, %t: memref<1xf32>, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %m[%i] : memref<?xf32>
    memref.store %x, %m[%i] : memref<?xf32>
    memref.dealloc %t : memref<1xf32>
  } {loopc.parallel}
  return %ok : i32
}

// -----

// Checks and polls end a piece; the caller asks for them.
// CHECK-LABEL: func.func @fails(
// CHECK: call @fails_shared(
// CHECK-NEXT: loop.poll
// CHECK: func.func private @fails_parallel(
// CHECK: loop.check
func.func @fails(%run: !rt.run, %m: memref<1000000xf32>, %k: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000000 : index
  %ok = arith.constant 0 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %fine = arith.cmpi ne, %i, %k : index
    loop.check %fine, "bad index {}" (%i : index)
    %x = math.exp %zero : f32
    memref.store %x, %m[%i] : memref<1000000xf32>
  } {loopc.parallel}
  return %ok : i32
}

// -----

// In a loop the threads are awake: an eighth of the work pays.
// CHECK-LABEL: func.func @once(
// CHECK-NOT: _shared
// CHECK: return
func.func @once(%run: !rt.run, %x: memref<64x2048xf32>, %v: vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c2048 = arith.constant 2048 : index
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c2048 step %c16 {
      vector.store %v, %x[%i, %j] : memref<64x2048xf32>, vector<16xf32>
      vector.store %v, %x[%i, %j] : memref<64x2048xf32>, vector<16xf32>
      vector.store %v, %x[%i, %j] : memref<64x2048xf32>, vector<16xf32>
      vector.store %v, %x[%i, %j] : memref<64x2048xf32>, vector<16xf32>
      vector.store %v, %x[%i, %j] : memref<64x2048xf32>, vector<16xf32>
    }
  } {loopc.parallel}
  return
}

// CHECK-LABEL: func.func @again(
// CHECK: scf.for
// CHECK: func.call @again_shared(
func.func @again(%run: !rt.run, %x: memref<64x2048xf32>, %v: vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c2048 = arith.constant 2048 : index
  scf.for %k = %c0 to %c64 step %c1 {
    scf.for %i = %c0 to %c64 step %c1 {
      scf.for %j = %c0 to %c2048 step %c16 {
        vector.store %v, %x[%i, %j] : memref<64x2048xf32>, vector<16xf32>
        vector.store %v, %x[%i, %j] : memref<64x2048xf32>, vector<16xf32>
        vector.store %v, %x[%i, %j] : memref<64x2048xf32>, vector<16xf32>
        vector.store %v, %x[%i, %j] : memref<64x2048xf32>, vector<16xf32>
        vector.store %v, %x[%i, %j] : memref<64x2048xf32>, vector<16xf32>
      }
    } {loopc.parallel}
  }
  return
}

// -----

// A batch of an open extent may be one. Then threads share what is in it; the
// heads, of which there are eight, are not taken apart.
// CHECK-LABEL: func.func @batch_of_one(
// CHECK: func.func private @batch_of_one_parallel(
// CHECK: %[[NUMBER:.*]] = llvm.call @loopc_rt_num_threads
// CHECK: %[[THREADS:.*]] = arith.cmpi sgt, %[[NUMBER]]
// CHECK: scf.for
// CHECK: scf.if %[[THREADS]] {
// CHECK: func.call @batch_of_one_parallel_shared(
// CHECK: } else {
// CHECK: func.call @batch_of_one_parallel_parallel(
// CHECK: scf.if %[[THREADS]] {
// CHECK: func.call @batch_of_one_parallel_shared{{(_0)?}}(
// CHECK: func.func private @batch_of_one_shared(
// CHECK: llvm.call @loopc_rt_try_parallel_for
// CHECK: func.func private @batch_of_one_parallel_parallel(
// CHECK: func.func private @batch_of_one_parallel_shared(
// CHECK: llvm.call @loopc_rt_try_parallel_for
func.func @batch_of_one(%run: !rt.run, %m: memref<?x8x4096xf32>, %r: memref<?x8x4096xf32>, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c4096 = arith.constant 4096 : index
  %ok = arith.constant 0 : i32
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c4096 step %c1 {
        %x = memref.load %m[%i, %j, %k] : memref<?x8x4096xf32>
        %y = math.tanh %x : f32
        memref.store %y, %m[%i, %j, %k] : memref<?x8x4096xf32>
      }
    } {loopc.parallel}
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c4096 step %c1 {
        %x = memref.load %m[%i, %c1, %k] : memref<?x8x4096xf32>
        %y = math.exp %x : f32
        memref.store %y, %r[%i, %j, %k] : memref<?x8x4096xf32>
      }
    } {loopc.parallel}
  } {loopc.parallel}
  return %ok : i32
}

// -----

// Extents that only the run knows are divided by once: the loops count on, each
// by what the ones in it carry over.
// CHECK-LABEL: func.func private @three_parallel(
// CHECK-SAME: !rt.run, %[[BEGIN:[^:]+]]: index, %[[END:[^:]+]]: index
// CHECK: %[[K0:.*]] = arith.remui %[[BEGIN]], %[[COLUMNS:.*]] : index
// CHECK: %[[ROW:.*]] = arith.divui %[[BEGIN]], %[[COLUMNS]] : index
// CHECK: %[[J0:.*]] = arith.remui %[[ROW]], %[[ROWS:.*]] : index
// CHECK: %[[I0:.*]] = arith.divui %[[ROW]], %[[ROWS]] : index
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %{{.*}} iter_args(%[[I:.*]] = %[[I0]], %[[J:.*]] = %[[J0]], %[[K:.*]] = %[[K0]])
// CHECK-NOT: arith.divui
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[I]], %[[J]], %[[K]], %{{.*}}]
// CHECK: %[[NEXT:.*]] = arith.addi %[[K]], %{{.*}} : index
// CHECK: %[[IS_END:.*]] = arith.cmpi eq, %[[NEXT]], %[[COLUMNS]] : index
// CHECK: %[[NEXT_K:.*]] = arith.select %[[IS_END]], %{{.*}}, %[[NEXT]] : index
// CHECK: %[[CARRY:.*]] = arith.index_castui %[[IS_END]] : i1 to index
// CHECK: arith.addi %[[J]], %[[CARRY]] : index
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[NEXT_K]]
func.func @three(%run: !rt.run, %m: memref<?x?x?x4096xf32>, %a: index, %b: index, %c: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4096 = arith.constant 4096 : index
  %ok = arith.constant 0 : i32
  scf.for %i = %c0 to %a step %c1 {
    scf.for %j = %c0 to %b step %c1 {
      scf.for %k = %c0 to %c step %c1 {
        scf.for %l = %c0 to %c4096 step %c1 {
          %x = memref.load %m[%i, %j, %k, %l] : memref<?x?x?x4096xf32>
          %y = math.tanh %x : f32
          memref.store %y, %m[%i, %j, %k, %l] : memref<?x?x?x4096xf32>
        }
      } {loopc.parallel}
    } {loopc.parallel}
  } {loopc.parallel}
  return %ok : i32
}

// -----

// An iteration that chooses between loops is no element of a vector: pieces do
// not end at multiples of a vector's elements, which 56 rows have none of.
// CHECK-LABEL: func.func private @versions_shared(
// CHECK-NOT: arith.andi
// CHECK: llvm.call @loopc_rt_
func.func @versions(%run: !rt.run, %few: i1, %m: memref<56x65536xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c56 = arith.constant 56 : index
  %c16 = arith.constant 16 : index
  %c65536 = arith.constant 65536 : index
  scf.for %i = %c0 to %c56 step %c1 {
    scf.if %few {
      scf.for %k = %c0 to %c65536 step %c1 {
        %x = memref.load %m[%i, %k] : memref<56x65536xf32>
        %y = arith.mulf %x, %x : f32
        memref.store %y, %m[%i, %k] : memref<56x65536xf32>
      }
    } else {
      scf.for %k = %c0 to %c65536 step %c16 {
        %x = vector.load %m[%i, %k] : memref<56x65536xf32>, vector<16xf32>
        %y = arith.mulf %x, %x : vector<16xf32>
        vector.store %y, %m[%i, %k] : memref<56x65536xf32>, vector<16xf32>
      }
    }
  } {loopc.parallel}
  return
}

// -----

// Steps that are the greater of two numbers: no more trips than of the one that
// is known before, if that can be a step.
// CHECK-LABEL: func.func @steps_of_greater(
// CHECK: call @steps_of_greater_shared(
// CHECK: func.func private @steps_of_greater_shared(%{{[^,]*}}, %{{[^,]*}}, %[[N:[^:]*]]: index
// CHECK: %[[STEP:.*]] = arith.maxsi %[[N]], %c1
// CHECK: %[[INTEGER:.*]] = arith.index_cast %[[STEP]]
// CHECK: %[[BY:.*]] = arith.sitofp %[[INTEGER]]
// CHECK: arith.divf %{{.*}}, %[[BY]]
func.func @steps_of_greater(%run: !rt.run, %n: index, %x: memref<16xf32>, %m: memref<64xf32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c4096 = arith.constant 4096 : index
  %ok = arith.constant 0 : i32
  scf.for %i = %c0 to %c64 step %c1 {
    %step = arith.maxsi %n, %i : index
    %one = arith.maxsi %step, %c1 : index
    scf.for %k = %c0 to %c4096 step %one {
      scf.for %e = %c0 to %c16 step %c1 {
        %a = memref.load %x[%e] : memref<16xf32>
        %s = memref.load %m[%i] : memref<64xf32>
        %t = arith.addf %s, %a : f32
        memref.store %t, %m[%i] : memref<64xf32>
      }
    }
  } {loopc.parallel}
  return %ok : i32
}
