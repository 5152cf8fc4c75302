// RUN: loopc-opt %s -split-input-file --loopc-outline-kernels='min-work=0' | FileCheck %s
// RUN: loopc-opt %s -split-input-file --loopc-outline-kernels='min-work=0 loops=host' | FileCheck %s --check-prefix=HOST

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
func.func @loopc_entry(%run: !llvm.ptr, %n: index, %m: index) -> i32 {
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
func.func @loopc_entry(%run: !llvm.ptr, %n: index, %m: index) -> i32 {
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
func.func @loopc_entry(%run: !llvm.ptr, %n: index) -> i32 {
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
func.func @loopc_entry(%run: !llvm.ptr, %n: index) -> i32 {
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
