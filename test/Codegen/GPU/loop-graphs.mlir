// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0 loops=graph' --loopc-to-kernels | FileCheck %s
// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0 loops=kernel' --loopc-to-kernels | FileCheck %s --check-prefix=KERNEL
// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0 loops=host' --loopc-to-kernels | FileCheck %s --check-prefix=HOST
// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0 loops=auto' --loopc-to-kernels | FileCheck %s --check-prefix=AUTO

// A kernel that begins the loop, one for each large nest with as many blocks as
// it has work for, one that ends an iteration, with the small nest. The state: the loop's handle, the number
// of iterations so far, the two buffers, the induction variable.
// CHECK-LABEL: func.func @loopc_entry
// CHECK-DAG: %[[NONE:.+]] = arith.constant 0 : i64
// CHECK-DAG: %[[X:.+]] = memref.extract_aligned_pointer_as_index %{{.*}} : memref<100000xf32>
// CHECK-DAG: %[[XWORD:.+]] = arith.index_cast %[[X]]
// CHECK: device.graph [@loopc_kernels::@loop_0_k0, @loopc_kernels::@loop_0_k1, @loopc_kernels::@loop_0_k2, @loopc_kernels::@loop_0_k3]
// CHECK-SAME: nodes [-1, -1, 0, 1, -1, 0, 1, 0, 0, -1, 1, 256, 0, -1, 2, 256, 0, -1, 3, 256]
// CHECK-SAME: handles 1 words 5 blocks(%c1{{.*}}, %c391{{.*}}, %c196{{.*}}, %c1{{.*}}) args(%[[NONE]], %[[XWORD]], %{{.*}})
// CHECK-NEXT: device.wait

// CHECK: llvm.func @cudaGraphSetConditional(i64, i32)
// CHECK: gpu.func @loop_0_k0(%{{.*}}: !llvm.ptr, %[[STATE:.+]]: !llvm.ptr) kernel
// CHECK-SAME: known_block_size = array<i32: 1, 1, 1>, loopc.conditions = array<i32: 0>
// CHECK: %[[GOES:.+]] = arith.cmpi slt, %c0{{.*}}, %c9
// CHECK: memref.store %{{.*}}, %{{.*}}[%c4{{.*}}] : memref<5xi64>
// CHECK: %[[HANDLE:.+]] = memref.load %{{.*}}[%c0{{.*}}] : memref<5xi64>
// CHECK: %[[VALUE:.+]] = arith.extui %[[GOES]]
// CHECK: llvm.call @cudaGraphSetConditional(%[[HANDLE]], %[[VALUE]])

// CHECK: gpu.func @loop_0_k1
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, loopc.conditions = array<i32>
// CHECK: llvm.inttoptr %{{.*}} : i64 to !llvm.ptr<1>
// CHECK: scf.for
// CHECK-NOT: device.barrier
// CHECK-NOT: llvm.call

// What only one kernel needs of the induction variable it computes itself.
// CHECK: gpu.func @loop_0_k2
// CHECK: memref.load %{{.*}}[%c4
// CHECK: scf.for
// CHECK: arith.addi

// The host's word is looked at every 64th iteration.
// CHECK: gpu.func @loop_0_k3
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, loopc.conditions = array<i32: 0>
// CHECK: scf.for
// CHECK: device.barrier
// CHECK: memref.store %{{.*}}, %{{.*}}[%c4
// CHECK: %[[TIME:.+]] = arith.cmpi eq, %{{.*}}, %c63
// CHECK: scf.if %[[TIME]]
// CHECK: llvm.load volatile %{{.*}} -> !llvm.ptr
// CHECK: %[[OVER:.+]] = arith.xori
// CHECK: %[[BOTH:.+]] = arith.andi %{{.*}}, %[[OVER]]
// CHECK: arith.extui %[[BOTH]]
// CHECK: llvm.call @cudaGraphSetConditional
// CHECK-NOT: loop.poll

// KERNEL-LABEL: func.func @loopc_entry
// KERNEL: gpu.launch_func @loopc_kernels::@loop_0
// KERNEL-SAME: loopc.cooperative
// KERNEL-NOT: device_graph

// HOST-LABEL: func.func @loopc_entry
// HOST: scf.for
// HOST: gpu.launch_func @loopc_kernels::@nest_0
// HOST: gpu.launch_func @loopc_kernels::@nest_1
// HOST: loop.poll

// AUTO-LABEL: func.func @loopc_entry
// AUTO-NOT: device_graph
// AUTO: gpu.launch_func
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c50000 = arith.constant 50000 : index
  %c100000 = arith.constant 100000 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<100000xf32>
  %y = memref.alloc() : memref<50000xf32>
  scf.for %t = %c0 to %c9 step %c1 {
    scf.for %i = %c0 to %c100000 step %c1 {
      %v = memref.load %x[%i] : memref<100000xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%i] : memref<100000xf32>
    } {loopc.parallel}
    scf.for %i = %c0 to %c50000 step %c1 {
      %j = arith.addi %i, %t : index
      %v = memref.load %x[%j] : memref<100000xf32>
      memref.store %v, %y[%i] : memref<50000xf32>
    } {loopc.parallel}
    scf.for %i = %c0 to %c9 step %c1 {
      %v = memref.load %y[%i] : memref<50000xf32>
      memref.store %v, %x[%i] : memref<100000xf32>
    } {loopc.parallel}
    loop.poll
  }
  return %ok : i32
}

// -----

// A condition that is computed, a branch, buffers that change places. The test
// is in the kernel that begins the loop and in the one that ends an iteration;
// the branch's other case is written in front of it.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: %[[MAILBOX:.+]] = gpu.alloc host_shared
// CHECK: device.graph
// CHECK-SAME: nodes [-1, -1, 0, 1, -1, 0, 1, 0, 0, -1, 1, 1, 0, 1, 0, 0, 1, -1, 2, 256, 1, -1, 3, 1, 0, -1, 4, 1, -1, -1, 5, 1]
// CHECK-SAME: handles 2 words 11
// CHECK: device.wait
// CHECK: memref.load %[[MAILBOX]]
// CHECK: gpu.func @loop_0_k0
// CHECK: arith.cmpf ogt
// CHECK: gpu.func @loop_0_k1
// CHECK-SAME: loopc.conditions = array<i32: 1>
// CHECK: arith.cmpf ogt
// CHECK: gpu.func @loop_0_k2
// CHECK: scf.for
// CHECK: gpu.func @loop_0_k4
// CHECK-SAME: loopc.conditions = array<i32: 0>
// All is read before the first is written.
// CHECK: arith.select
// CHECK: arith.cmpf ogt
// CHECK: scf.if
// CHECK-COUNT-3: memref.store
// CHECK: gpu.func @loop_0_k5
// CHECK-SAME: loopc.conditions = array<i32>
// CHECK: memref.store %{{.*}} : memref<1xindex>
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c50000 = arith.constant 50000 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %a = memref.alloc() : memref<50000xf32>
  %b = memref.alloc() : memref<50000xf32>
  %r:3 = scf.while (%k = %c0, %p = %a, %q = %b) : (index, memref<50000xf32>, memref<50000xf32>) -> (index, memref<50000xf32>, memref<50000xf32>) {
    %v = memref.load %p[%c0] : memref<50000xf32>
    %goes = arith.cmpf ogt, %v, %zero : f32
    scf.condition(%goes) %k, %p, %q : index, memref<50000xf32>, memref<50000xf32>
  } do {
  ^bb0(%k: index, %p: memref<50000xf32>, %q: memref<50000xf32>):
    %n = arith.addi %k, %c1 : index
    %w = memref.load %p[%n] : memref<50000xf32>
    %isLarge = arith.cmpf ogt, %w, %zero : f32
    %s = scf.if %isLarge -> memref<50000xf32> {
      scf.for %i = %c0 to %c50000 step %c1 {
        %v = memref.load %p[%i] : memref<50000xf32>
        memref.store %v, %q[%i] : memref<50000xf32>
      } {loopc.parallel}
      scf.yield %p : memref<50000xf32>
    } else {
      scf.yield %q : memref<50000xf32>
    }
    %u = arith.select %isLarge, %q, %p : memref<50000xf32>
    scf.yield %n, %s, %u : index, memref<50000xf32>, memref<50000xf32>
  }
  %i = builtin.unrealized_conversion_cast %r#0 : index to i64
  llvm.store %i, %out : i64, !llvm.ptr
  return %ok : i32
}

// -----

// A test with a nest in it is the first part of each iteration, and the rest a
// branch; cases are branches in branches.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: device.graph
// CHECK-SAME: nodes [-1, -1, 0, 1, -1, 0, 1, 0, 0, -1, 1, 256, 0, -1, 2, 1, 0, 1, 0, 0, 1, -1, 3, 1, 1, 2, 0, 0, 2, -1, 4, 256,
// CHECK-SAME: 1, 3, 0, 0, 3, -1, 5, 256,
// CHECK-SAME: 1, -1, 6, 1, 0, -1, 7, 1]
// CHECK-SAME: handles 4
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c50000 = arith.constant 50000 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %a = memref.alloc() : memref<50000xf32>
  %b = memref.alloc() : memref<50000xf32>
  %r = scf.while (%k = %c0) : (index) -> index {
    scf.for %i = %c0 to %c50000 step %c1 {
      %v = memref.load %a[%i] : memref<50000xf32>
      memref.store %v, %b[%i] : memref<50000xf32>
    } {loopc.parallel}
    %v = memref.load %b[%k] : memref<50000xf32>
    %goes = arith.cmpf ogt, %v, %zero : f32
    scf.condition(%goes) %k : index
  } do {
  ^bb0(%k: index):
    scf.index_switch %k
    case 3 {
      scf.for %i = %c0 to %c50000 step %c1 {
        memref.store %zero, %b[%i] : memref<50000xf32>
      } {loopc.parallel}
      scf.yield
    }
    default {
      scf.for %i = %c0 to %c50000 step %c1 {
        %v = memref.load %b[%i] : memref<50000xf32>
        %w = arith.addf %v, %v : f32
        memref.store %w, %a[%i] : memref<50000xf32>
      } {loopc.parallel}
      scf.yield
    }
    %n = arith.addi %k, %c1 : index
    scf.yield %n : index
  }
  return %ok : i32
}

// -----

// Nests that are large and very different are a graph without being asked.
// CHECK-LABEL: func.func @loopc_entry
// AUTO-LABEL: func.func @loopc_entry
// AUTO: device.graph
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c64 = arith.constant 64 : index
  %many = arith.constant 4000000 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<4000000xf32>
  %y = memref.alloc() : memref<64xf32>
  scf.for %t = %c0 to %c9 step %c1 {
    scf.for %i = %c0 to %many step %c1 {
      %v = memref.load %y[%t] : memref<64xf32>
      memref.store %v, %x[%i] : memref<4000000xf32>
    } {loopc.parallel}
    scf.for %i = %c0 to %c64 step %c1 {
      %j = arith.addi %i, %t : index
      %v = memref.load %x[%j] : memref<4000000xf32>
      memref.store %v, %y[%i] : memref<64xf32>
    } {loopc.parallel}
  }
  return %ok : i32
}

// -----

// A product has as many blocks as tiles: 4 x 4 of 64 x 64. Few long rows of sums
// have a block each.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: device.graph [
// CHECK-SAME: blocks(%c1{{.*}}, %c16{{.*}}, %c100{{.*}}, %c1{{.*}})
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c100 = arith.constant 100 : index
  %c256 = arith.constant 256 : index
  %c2000 = arith.constant 2000 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %a = memref.alloc() : memref<256x256xf32>
  %b = memref.alloc() : memref<256x256xf32>
  %d = memref.alloc() : memref<256x256xf32>
  %x = memref.alloc() : memref<100x2000xf32>
  %y = memref.alloc() : memref<100xf32>
  scf.for %t = %c0 to %c9 step %c1 {
    scf.for %i = %c0 to %c256 step %c1 {
      scf.for %j = %c0 to %c256 step %c1 {
        %sum = scf.for %k = %c0 to %c256 step %c1 iter_args(%s = %zero) -> f32 {
          %l = memref.load %a[%i, %k] : memref<256x256xf32>
          %r = memref.load %b[%k, %j] : memref<256x256xf32>
          %p = arith.mulf %l, %r : f32
          %n = arith.addf %s, %p fastmath<reassoc> : f32
          scf.yield %n : f32
        }
        memref.store %sum, %d[%i, %j] : memref<256x256xf32>
      } {loopc.parallel}
    } {loopc.parallel}
    scf.for %i = %c0 to %c100 step %c1 {
      %sum = scf.for %k = %c0 to %c2000 step %c1 iter_args(%s = %zero) -> f32 {
        %v = memref.load %x[%i, %k] : memref<100x2000xf32>
        %n = arith.addf %s, %v fastmath<reassoc> : f32
        scf.yield %n : f32
      }
      memref.store %sum, %y[%i] : memref<100xf32>
    } {loopc.parallel}
  }
  return %ok : i32
}
