// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0' --loopc-to-kernels | FileCheck %s
// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0 loops=host' --loopc-to-kernels | FileCheck %s --check-prefix=HOST

// What does not outlive an iteration has one place, as large as it can be.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: %[[SUM:.+]] = arith.addi %[[N:.+]], %[[M:.+]] : index
// CHECK: %[[PLACE:.+]] = gpu.alloc (%{{.+}}) : memref<?xi8>
// CHECK: gpu.launch_func @loopc_kernels::@loop_0
// CHECK: gpu.dealloc %[[PLACE]]
// CHECK: gpu.func @loop_0
// CHECK-NOT: alloc
// CHECK: memref.view
// CHECK-NOT: alloc
// HOST-LABEL: func.func @loopc_entry
// HOST: scf.for
// HOST: gpu.alloc
func.func @loopc_entry(%run: !rt.run, %n: index, %m: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %one = arith.constant 1.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<100xf32>
  scf.for %i = %c0 to %c9 step %c1 {
    %both = arith.addi %n, %m : index
    %first = arith.cmpi eq, %i, %c0 : index
    %size = arith.select %first, %n, %both : index
    %t = memref.alloc(%size) : memref<?xf32>
    scf.for %j = %c0 to %size step %c1 {
      memref.store %one, %t[%j] : memref<?xf32>
    } {loopc.parallel}
    scf.for %j = %c0 to %size step %c1 {
      %v = memref.load %t[%c0] : memref<?xf32>
      memref.store %v, %x[%j] : memref<100xf32>
    } {loopc.parallel}
    memref.dealloc %t : memref<?xf32>
  }
  return %ok : i32
}

// -----

// A carried buffer is as large as the largest that iterations choose from; the
// places are those of one buffer and of one allocation. What comes out is
// copied.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: %[[BOUND:.+]] = arith.maxsi
// CHECK: gpu.alloc (%{{.+}}) : memref<?xi8>
// CHECK: gpu.launch_func @loopc_kernels::@loop_0
// CHECK: %[[SIZE:.+]] = memref.dim
// CHECK: memref.alloc(%[[SIZE]]) : memref<?xf32>
// CHECK: gpu.dealloc %{{.+}} : memref<?xi8>
// CHECK: gpu.func @loop_0
// CHECK: scf.for
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: math.ctpop
// CHECK: memref.view
// CHECK-NOT: alloc
// HOST-LABEL: func.func @loopc_entry
// HOST-NOT: math.ctpop
func.func @loopc_entry(%run: !rt.run, %n: index, %m: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %failed = llvm.mlir.constant(1 : i32) : i32
  %x = memref.alloc(%n) : memref<?xf32>
  %y = scf.for %i = %c0 to %c9 step %c1 iter_args(%s = %x) -> memref<?xf32> {
    %length = memref.dim %s, %c0 : memref<?xf32>
    %single = arith.cmpi eq, %length, %c1 : index
    %size = arith.select %single, %m, %length : index
    %t = memref.alloc(%size) : memref<?xf32>
    scf.for %j = %c0 to %size step %c1 {
      %at = arith.select %single, %c0, %j : index
      %v = memref.load %s[%at] : memref<?xf32>
      memref.store %v, %t[%j] : memref<?xf32>
    } {loopc.parallel}
    memref.dealloc %s : memref<?xf32>
    scf.yield %t : memref<?xf32>
  }
  %v = memref.load %y[%c0] : memref<?xf32>
  %zero = arith.constant 0.0 : f32
  %is = arith.cmpf oeq, %v, %zero : f32
  %status = arith.select %is, %ok, %failed : i32
  memref.dealloc %y : memref<?xf32>
  return %status : i32
}

// -----

// A size that follows from the one before has no bound.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: scf.for
// CHECK: gpu.alloc
// CHECK: gpu.launch_func @loopc_kernels::@nest_0
func.func @loopc_entry(%run: !rt.run, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %one = arith.constant 1.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc(%n) : memref<?xf32>
  %y = scf.for %i = %c0 to %c9 step %c1 iter_args(%s = %x) -> memref<?xf32> {
    %length = memref.dim %s, %c0 : memref<?xf32>
    %size = arith.addi %length, %length : index
    %t = memref.alloc(%size) : memref<?xf32>
    scf.for %j = %c0 to %size step %c1 {
      memref.store %one, %t[%j] : memref<?xf32>
    } {loopc.parallel}
    memref.dealloc %s : memref<?xf32>
    scf.yield %t : memref<?xf32>
  }
  memref.dealloc %y : memref<?xf32>
  return %ok : i32
}

// -----

// Elements at the same time do not share a place.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: scf.for
// CHECK: scf.for
// CHECK: memref.alloc
// CHECK-NOT: memref.view
func.func @loopc_entry(%run: !rt.run, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %one = arith.constant 1.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<100xf32>
  scf.for %i = %c0 to %c9 step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %t = memref.alloc(%n) : memref<?xf32>
      memref.store %one, %t[%c0] : memref<?xf32>
      %v = memref.load %t[%c0] : memref<?xf32>
      memref.store %v, %x[%j] : memref<100xf32>
      memref.dealloc %t : memref<?xf32>
    } {loopc.parallel}
    scf.for %j = %c0 to %n step %c1 {
      memref.store %one, %x[%j] : memref<100xf32>
    } {loopc.parallel}
  }
  return %ok : i32
}

// -----

// What each of a known number of iterations appends to is as long as all of
// them make it.
// CHECK-LABEL: func.func @loopc_entry
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[TRIPS:[a-z0-9]+]]: i64, %[[ADDED:[a-z0-9]+]]: index
// CHECK: arith.maxsi %[[ADDED]]
// CHECK: %[[COUNT:.+]] = arith.index_cast %[[TRIPS]]
// CHECK: arith.maxsi %[[COUNT]]
// CHECK: arith.muli
// CHECK: gpu.alloc (%{{.+}}) : memref<?xi8>
// CHECK: gpu.launch_func @loopc_kernels::@loop_0
// CHECK: gpu.func @loop_0
// CHECK-NOT: alloc
func.func @loopc_entry(%run: !rt.run, %n: index, %trips: i64, %added: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c0_i64 = arith.constant 0 : i64
  %c1_i64 = arith.constant 1 : i64
  %one = arith.constant 1.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<100xf32>
  %last = scf.for %i = %c0_i64 to %trips step %c1_i64 iter_args(%length = %n) -> (index) : i64 {
    %longer = arith.addi %length, %added : index
    %t = memref.alloc(%longer) : memref<?xf32>
    scf.for %j = %c0 to %longer step %c1 {
      memref.store %one, %t[%j] : memref<?xf32>
    } {loopc.parallel}
    scf.for %j = %c0 to %longer step %c1 {
      %v = memref.load %t[%c0] : memref<?xf32>
      memref.store %v, %x[%j] : memref<100xf32>
    } {loopc.parallel}
    memref.dealloc %t : memref<?xf32>
    scf.yield %longer : index
  }
  return %ok : i32
}

// -----

// A loop that goes on as long as there is room.
// CHECK-LABEL: func.func @loopc_entry
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[ROOM:[a-z0-9]+]]: index
// CHECK: arith.maxsi {{.*}}%[[ROOM]]
// CHECK: gpu.alloc (%{{.+}}) : memref<?xi8>
// CHECK: gpu.launch_func @loopc_kernels::@loop_0
// CHECK: gpu.func @loop_0
// CHECK-NOT: alloc
func.func @loopc_entry(%run: !rt.run, %n: index, %room: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  %one = arith.constant 1.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<100xf32>
  %last = scf.while (%before = %n) : (index) -> index {
    %next = arith.addi %before, %c1 : index
    %full = arith.cmpi sgt, %next, %room : index
    %fits = arith.xori %full, %true : i1
    scf.condition(%fits) %before : index
  } do {
  ^bb0(%length: index):
    %t = memref.alloc(%length) : memref<?xf32>
    scf.for %j = %c0 to %length step %c1 {
      memref.store %one, %t[%j] : memref<?xf32>
    } {loopc.parallel}
    scf.for %j = %c0 to %length step %c1 {
      %v = memref.load %t[%c0] : memref<?xf32>
      memref.store %v, %x[%j] : memref<100xf32>
    } {loopc.parallel}
    memref.dealloc %t : memref<?xf32>
    %longer = arith.addi %length, %c1 : index
    scf.yield %longer : index
  }
  return %ok : i32
}

// -----

// A number of the model's that overflows is below everything: no bound.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: scf.while
// CHECK: gpu.alloc (%{{.+}}) : memref<?xf32>
// CHECK-NOT: memref.view
func.func @loopc_entry(%run: !rt.run, %n: i64, %room: i64) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1_i64 = arith.constant 1 : i64
  %one = arith.constant 1.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<100xf32>
  %last = scf.while (%before = %n) : (i64) -> i64 {
    %next = arith.addi %before, %c1_i64 : i64
    %fits = arith.cmpi slt, %next, %room : i64
    scf.condition(%fits) %before : i64
  } do {
  ^bb0(%number: i64):
    %length = arith.index_cast %number : i64 to index
    %t = memref.alloc(%length) : memref<?xf32>
    scf.for %j = %c0 to %length step %c1 {
      memref.store %one, %t[%j] : memref<?xf32>
    } {loopc.parallel}
    scf.for %j = %c0 to %length step %c1 {
      %v = memref.load %t[%c0] : memref<?xf32>
      memref.store %v, %x[%j] : memref<100xf32>
    } {loopc.parallel}
    memref.dealloc %t : memref<?xf32>
    %longer = arith.addi %number, %c1_i64 : i64
    scf.yield %longer : i64
  }
  return %ok : i32
}

// -----

// What doubles has no bound.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: scf.for
// CHECK: gpu.alloc (%{{.+}}) : memref<?xf32>
// CHECK-NOT: memref.view
func.func @loopc_entry(%run: !rt.run, %n: index, %trips: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<100xf32>
  %last = scf.for %i = %c0 to %trips step %c1 iter_args(%length = %n) -> (index) {
    %longer = arith.addi %length, %length : index
    %t = memref.alloc(%longer) : memref<?xf32>
    scf.for %j = %c0 to %longer step %c1 {
      memref.store %one, %t[%j] : memref<?xf32>
    } {loopc.parallel}
    scf.for %j = %c0 to %longer step %c1 {
      %v = memref.load %t[%c0] : memref<?xf32>
      memref.store %v, %x[%j] : memref<100xf32>
    } {loopc.parallel}
    memref.dealloc %t : memref<?xf32>
    scf.yield %longer : index
  }
  return %ok : i32
}

// -----

// Expressions, and the number of the iteration, are bounded by what they are
// made of.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: gpu.alloc (%{{.+}}) : memref<?xi8>
// CHECK: gpu.launch_func @loopc_kernels::@loop_0
// CHECK: gpu.func @loop_0
// CHECK-NOT: alloc
func.func @loopc_entry(%run: !rt.run, %n: memref<?xf32>, %trips: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<100xf32>
  %dim = memref.dim %n, %c0 : memref<?xf32>
  scf.for %i = %c0 to %trips step %c1 {
    %least = arith.minsi %i, %dim : index
    %rest = arith.subi %dim, %least : index
    %at_least = arith.maxsi %rest, %c0 : index
    %size = affine.apply affine_map<()[s0, s1] -> (s0 * s1 + s0 floordiv 2)>()[%at_least, %i]
    %t = memref.alloc(%size) : memref<?xf32>
    scf.for %j = %c0 to %size step %c1 {
      memref.store %one, %t[%j] : memref<?xf32>
    } {loopc.parallel}
    scf.for %j = %c0 to %size step %c1 {
      %v = memref.load %t[%c0] : memref<?xf32>
      memref.store %v, %x[%j] : memref<100xf32>
    } {loopc.parallel}
    memref.dealloc %t : memref<?xf32>
  }
  return %ok : i32
}

// -----

// A product of what may be negative is not.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: scf.for
// CHECK: gpu.alloc (%{{.+}}) : memref<?xf32>
// CHECK-NOT: memref.view
func.func @loopc_entry(%run: !rt.run, %trips: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<100xf32>
  scf.for %i = %c0 to %trips step %c1 {
    %size = affine.apply affine_map<()[s0, s1] -> ((s0 - 9) * (s1 - 9))>()[%i, %i]
    %t = memref.alloc(%size) : memref<?xf32>
    scf.for %j = %c0 to %size step %c1 {
      memref.store %one, %t[%j] : memref<?xf32>
    } {loopc.parallel}
    scf.for %j = %c0 to %size step %c1 {
      %v = memref.load %t[%c0] : memref<?xf32>
      memref.store %v, %x[%j] : memref<100xf32>
    } {loopc.parallel}
    memref.dealloc %t : memref<?xf32>
  }
  return %ok : i32
}
