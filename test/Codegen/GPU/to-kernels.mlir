// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0' --loopc-to-kernels | FileCheck %s

// A nest is a kernel; buffers that only kernels touch lie on the device, an
// input is read through a view, a result comes back.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: %[[X:.+]] = builtin.unrealized_conversion_cast %{{.*}} to memref<1000xf32>
// CHECK: %[[VIEW:.+]] = device.view %[[X]]
// CHECK: %[[Y:.+]] = gpu.alloc () : memref<1000xf32>
// CHECK-NOT: scf.for
// CHECK: gpu.launch_func @loopc_kernels::@nest_0
// CHECK-SAME: blocks in (%c4
// CHECK-SAME: threads in (%c256
// CHECK-SAME: args(%{{.*}} : !llvm.ptr, %[[VIEW]] : memref<1000xf32>, %[[Y]] : memref<1000xf32>)
// CHECK-NOT: loopc.cooperative
// CHECK: %[[BACK:.+]] = device.result %[[Y]]
// CHECK: unrealized_conversion_cast %[[BACK]]
// CHECK: device.wait
// CHECK: llvm.store
// CHECK: gpu.module @loopc_kernels
// CHECK: gpu.func @nest_0(%{{.*}}: !llvm.ptr, %[[A:.+]]: memref<1000xf32>, %[[B:.+]]: memref<1000xf32>) kernel
// CHECK: %[[THREAD:.+]] = arith.addi
// CHECK: %[[ALL:.+]] = arith.muli
// CHECK: scf.for %[[I:.+]] = %[[THREAD]] to %c1000{{.*}} step %[[ALL]]
// CHECK-NEXT: %[[V:.+]] = memref.load %[[A]][%[[I]]]
// CHECK-NEXT: %[[W:.+]] = arith.addf %[[V]], %[[V]]
// CHECK-NEXT: memref.store %[[W]], %[[B]][%[[I]]]
// CHECK-NOT: device.barrier
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %d = llvm.load %in : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %x = builtin.unrealized_conversion_cast %d : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<1000xf32>
  %y = memref.alloc() : memref<1000xf32>
  scf.for %i = %c0 to %c1000 step %c1 {
    %v = memref.load %x[%i] : memref<1000xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %y[%i] : memref<1000xf32>
  } {loopc.parallel}
  %r = builtin.unrealized_conversion_cast %y : memref<1000xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// A loop around nests is one kernel. Each thread finds the elements that it
// wrote itself: no barrier where only those are read. One is in front of what
// reads a neighbour's, and one before these are written again.
// CHECK-LABEL: gpu.func @loop_0
// CHECK: scf.for %{{.*}} = %c0
// CHECK-NOT: device.barrier
// CHECK: memref.store %{{.*}}, %[[Y:view[_0-9]*]][
// CHECK: device.barrier
// CHECK: memref.load %[[Y]][
// CHECK: memref.store %{{.*}}, %[[X:view[_0-9]*]][
// CHECK: device.barrier
// CHECK: memref.load %[[X]][
// CHECK: memref.store
// CHECK-NOT: device.barrier
// CHECK: gpu.return

// Where no element but its own is a thread's business nobody waits.
// CHECK-LABEL: gpu.func @loop_1
// CHECK-NOT: device.barrier
// CHECK: gpu.return
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c99 = arith.constant 99 : index
  %c100 = arith.constant 100 : index
  %one = arith.constant 1.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<100xf32>
  %y = memref.alloc() : memref<100xf32>
  %z = memref.alloc() : memref<100xf32>
  scf.for %t = %c0 to %c100 step %c1 {
    scf.for %i = %c0 to %c100 step %c1 {
      %v = memref.load %x[%i] : memref<100xf32>
      %w = scf.for %k = %c0 to %c2 step %c1 iter_args(%s = %v) -> f32 {
        %a = arith.addf %s, %one : f32
        scf.yield %a : f32
      }
      memref.store %w, %y[%i] : memref<100xf32>
    } {loopc.parallel}
    scf.for %i = %c0 to %c100 step %c1 {
      %v = memref.load %y[%i] : memref<100xf32>
      %w = scf.for %k = %c0 to %c2 step %c1 iter_args(%s = %v) -> f32 {
        %a = arith.addf %s, %one : f32
        scf.yield %a : f32
      }
      memref.store %w, %x[%i] : memref<100xf32>
    } {loopc.parallel}
    scf.for %i = %c0 to %c99 step %c1 {
      %j = arith.addi %i, %c1 : index
      %v = memref.load %x[%j] : memref<100xf32>
      memref.store %v, %z[%i] : memref<100xf32>
    } {loopc.parallel}
  }
  scf.for %t = %c0 to %c100 step %c1 {
    scf.for %i = %c0 to %c100 step %c1 {
      %v = memref.load %x[%i] : memref<100xf32>
      memref.store %v, %y[%i] : memref<100xf32>
    } {loopc.parallel}
    scf.for %i = %c0 to %c100 step %c1 {
      %v = memref.load %y[%i] : memref<100xf32>
      memref.store %v, %x[%i] : memref<100xf32>
    } {loopc.parallel}
  }
  %r = builtin.unrealized_conversion_cast %z : memref<100xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// The condition stays on the device: the host launches once, and waits for the
// number of iterations. What one thread writes, all read behind a barrier; a
// sum is shared out, a loop that reads its own results is not.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: %[[COUNT:.+]] = gpu.alloc host_shared () : memref<1xindex>
// CHECK: gpu.launch_func @loopc_kernels::@loop_0
// CHECK-SAME: loopc.cooperative
// CHECK: device.wait
// CHECK-NEXT: memref.load %[[COUNT]]
// CHECK: gpu.func @loop_0
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: scf.for
// CHECK: device.barrier
// CHECK: %[[PART:.+]] = scf.for {{.*}} iter_args
// CHECK: %[[SUM:.+]] = gpu.all_reduce  add %[[PART]]
// CHECK: scf.if
// CHECK-NEXT: memref.store
// CHECK: device.barrier
// CHECK: memref.load
// CHECK: scf.if
// CHECK-NEXT: memref.store %{{.*}} : memref<1xindex>
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %true = arith.constant true
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<100xf32>
  %s = memref.alloc() : memref<f32>
  %y = memref.alloc() : memref<1xindex>
  %n = scf.while (%t = %c0, %go = %true) : (index, i1) -> index {
    scf.condition(%go) %t : index
  } do {
  ^bb0(%t: index):
    scf.for %i = %c0 to %c100 step %c1 {
      %v = memref.load %x[%i] : memref<100xf32>
      %w = arith.mulf %v, %half : f32
      memref.store %w, %x[%i] : memref<100xf32>
    } {loopc.parallel}
    %sum = scf.for %i = %c0 to %c100 step %c1 iter_args(%a = %zero) -> f32 {
      %v = memref.load %x[%i] : memref<100xf32>
      %b = arith.addf %a, %v : f32
      scf.yield %b : f32
    }
    memref.store %sum, %s[] : memref<f32>
    %read = memref.load %s[] : memref<f32>
    %go = arith.cmpf ogt, %read, %half : f32
    %next = arith.addi %t, %c1 : index
    scf.yield %next, %go : index, i1
  }
  memref.store %n, %y[%c0] : memref<1xindex>
  %r = builtin.unrealized_conversion_cast %y : memref<1xindex> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// Sums along rows are a warp's, and one of it writes; short sums down
// columns a thread's, in a register.
// CHECK-LABEL: gpu.func @nest_0
// CHECK: %[[FIRST:.+]] = arith.divui %{{.*}}, %c32
// CHECK: scf.for %{{.*}} = %[[FIRST]]
// CHECK: %[[PART:.+]] = scf.for
// CHECK: gpu.subgroup_reduce add %[[PART]] uniform
// CHECK: scf.if
// CHECK-NEXT: memref.store
// CHECK-LABEL: gpu.func @nest_1
// CHECK: %[[INIT:.+]] = memref.load
// CHECK: %[[SUM:.+]] = scf.for {{.*}} iter_args(%{{.*}} = %[[INIT]])
// CHECK-NOT: memref.store
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: memref.store %[[SUM]]
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c50 = arith.constant 50 : index
  %c100 = arith.constant 100 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<100x100xf32>
  %y = memref.alloc() : memref<100xf32>
  scf.for %i = %c0 to %c100 step %c1 {
    scf.for %k = %c0 to %c100 step %c1 {
      %a = memref.load %y[%i] : memref<100xf32>
      %v = memref.load %x[%i, %k] : memref<100x100xf32>
      %b = arith.addf %a, %v : f32
      memref.store %b, %y[%i] : memref<100xf32>
    }
  } {loopc.parallel}
  scf.for %i = %c0 to %c100 step %c1 {
    scf.for %k = %c0 to %c50 step %c1 {
      %a = memref.load %y[%i] : memref<100xf32>
      %v = memref.load %x[%k, %i] : memref<100x100xf32>
      %b = arith.addf %a, %v : f32
      memref.store %b, %y[%i] : memref<100xf32>
    }
  } {loopc.parallel}
  %r = builtin.unrealized_conversion_cast %y : memref<100xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// What allocates memory without a bound is driven by the host; the nest in it is
// a kernel. The host reads what the kernel wrote, so that the memory is shared
// and it waits.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: scf.for
// CHECK: %[[Y:.+]] = gpu.alloc host_shared (%{{.*}}) : memref<?xf32>
// CHECK: gpu.launch_func
// CHECK: device.wait
// CHECK: memref.load %[[Y]]
// CHECK: memref.dealloc %[[Y]]
// CHECK: gpu.func
// CHECK: memref.store
// CHECK-NOT: gpu.func
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %one = arith.constant 1.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  scf.for %k = %c1 to %c100 step %c1 {
    %t = arith.shli %k, %c1 : index
    %y = memref.alloc(%t) : memref<?xf32>
    scf.for %i = %c0 to %t step %c1 {
      memref.store %one, %y[%i] : memref<?xf32>
    } {loopc.parallel}
    %v = memref.load %y[%c0] : memref<?xf32>
    %is = arith.cmpf oeq, %v, %one : f32
    loop.check %is, "not one"
    memref.dealloc %y : memref<?xf32>
  }
  return %ok : i32
}

// -----

// Nests over one space, each at its own element: a thread goes through all
// iterations for its element, which stays in a register.
// CHECK-LABEL: gpu.func @loop_0
// CHECK: scf.for %[[I:.+]] = %{{.*}} to %{{.*}} step
// CHECK-DAG: %[[X:.+]] = memref.load %{{.*}}[%[[I]]]
// CHECK-DAG: %[[Y:.+]] = memref.load %{{.*}}[%[[I]]]
// CHECK: %{{.*}}:2 = scf.for {{.*}} iter_args
// CHECK-NOT: memref
// CHECK: scf.yield
// CHECK: memref.store
// CHECK: memref.store
// CHECK-NOT: device.barrier
// CHECK: gpu.return
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %c5000 = arith.constant 5000 : index
  %one = arith.constant 1.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<5000xf32>
  %y = memref.alloc() : memref<5000xf32>
  scf.for %t = %c0 to %c100 step %c1 {
    scf.for %i = %c0 to %c5000 step %c1 {
      %v = memref.load %x[%i] : memref<5000xf32>
      %w = arith.addf %v, %one : f32
      memref.store %w, %x[%i] : memref<5000xf32>
    } {loopc.parallel}
    scf.for %i = %c0 to %c5000 step %c1 {
      %v = memref.load %x[%i] : memref<5000xf32>
      %u = memref.load %y[%i] : memref<5000xf32>
      %w = arith.mulf %v, %u : f32
      memref.store %w, %y[%i] : memref<5000xf32>
    } {loopc.parallel}
  }
  %r = builtin.unrealized_conversion_cast %y : memref<5000xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// What a list holds is copied each time: its memory may hold something else
// when it is read again.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: %[[ELEMENTS:.+]]:2 = list.at
// CHECK-NOT: device.view
// CHECK: %[[COPY:.+]] = gpu.alloc (%{{.*}}) : memref<?xf32>
// CHECK: gpu.memcpy  %[[COPY]], %[[ELEMENTS]]#0
// CHECK: gpu.launch_func {{.*}} args({{.*}}%[[COPY]] : memref<?xf32>
// CHECK: gpu.dealloc %[[COPY]]
// CHECK: return
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %handle = llvm.load %in : !llvm.ptr -> !llvm.ptr
  %list = builtin.unrealized_conversion_cast %handle : !llvm.ptr to !list.list<f32>
  %e:2 = list.at %list[%c0] : !list.list<f32> -> memref<?xf32>, memref<?xi64>
  %y = memref.alloc() : memref<100xf32>
  scf.for %i = %c0 to %c100 step %c1 {
    %v = memref.load %e#0[%i] : memref<?xf32>
    memref.store %v, %y[%i] : memref<100xf32>
  } {loopc.parallel}
  %r = builtin.unrealized_conversion_cast %y : memref<100xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// One thread of a warp would write what the others read again, or all of them
// would add to it: not a warp's.
// CHECK-LABEL: gpu.func @nest_0
// CHECK-NOT: gpu.subgroup_reduce
// CHECK-LABEL: gpu.func @nest_1
// CHECK-NOT: gpu.subgroup_reduce
// CHECK: gpu.return
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<100x100xf32>
  %y = memref.alloc() : memref<100xf32>
  %z = memref.alloc() : memref<100xf32>
  scf.for %i = %c0 to %c100 step %c1 {
    %s = scf.for %k = %c0 to %c100 step %c1 iter_args(%a = %zero) -> f32 {
      %v = memref.load %x[%i, %k] : memref<100x100xf32>
      %b = arith.addf %a, %v : f32
      scf.yield %b : f32
    }
    memref.store %s, %y[%i] : memref<100xf32>
    %again = memref.load %y[%i] : memref<100xf32>
    memref.store %again, %z[%i] : memref<100xf32>
  } {loopc.parallel}
  scf.for %i = %c0 to %c100 step %c1 {
    %s = scf.for %k = %c0 to %c100 step %c1 iter_args(%a = %zero) -> f32 {
      %v = memref.load %x[%i, %k] : memref<100x100xf32>
      %b = arith.addf %a, %v : f32
      scf.yield %b : f32
    }
    %positive = arith.cmpf ogt, %s, %zero : f32
    scf.if %positive {
      %old = memref.load %z[%i] : memref<100xf32>
      %new = arith.addf %old, %s : f32
      memref.store %new, %z[%i] : memref<100xf32>
    }
  } {loopc.parallel}
  %r = builtin.unrealized_conversion_cast %z : memref<100xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// One thread stores what is no part of a nest: it need not wait for itself, and
// the others wait once for all of it.
// CHECK-LABEL: gpu.func @loop_0
// CHECK: scf.for %{{.*}} = %c0
// CHECK: device.barrier
// CHECK: memref.store %{{.*}}, %[[S:view[_0-9]*]][%c0
// CHECK-NOT: device.barrier
// CHECK: memref.store %{{.*}}, %[[S]][%c1
// CHECK-NOT: device.barrier
// CHECK: memref.store %{{.*}}, %[[S]][%c0
// CHECK: device.barrier
// CHECK: memref.load %[[S]][
// CHECK: memref.store
// CHECK-NOT: device.barrier
// CHECK: gpu.return
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %c100 = arith.constant 100 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %s = memref.alloc() : memref<2xindex>
  %y = memref.alloc() : memref<100xindex>
  scf.for %t = %c0 to %c9 step %c1 {
    %u = arith.addi %t, %c1 : index
    memref.store %t, %s[%c0] : memref<2xindex>
    memref.store %u, %s[%c1] : memref<2xindex>
    memref.store %u, %s[%c0] : memref<2xindex>
    scf.for %i = %c0 to %c100 step %c1 {
      %at = arith.remui %i, %c2 : index
      %v = memref.load %s[%at] : memref<2xindex>
      memref.store %v, %y[%i] : memref<100xindex>
    } {loopc.parallel}
  }
  %r = builtin.unrealized_conversion_cast %y : memref<100xindex> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return %ok : i32
}
