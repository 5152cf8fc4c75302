// RUN: loopc-opt %s -split-input-file --loopc-set-target=chip=sm_80 --loopc-to-kernels | FileCheck %s
// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 libdevice' --loopc-to-kernels | FileCheck %s --check-prefix=LIB

// What takes the host less time than a launch stays there.
// CHECK-LABEL: func.func @loopc_entry
// CHECK-NOT: gpu.
// CHECK: scf.for
// CHECK: memref.store
// CHECK-NOT: gpu.module
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<4xi64>
  scf.for %i = %c0 to %c4 step %c1 {
    %v = arith.index_cast %i : index to i64
    memref.store %v, %x[%i] : memref<4xi64>
  } {loopc.parallel}
  return %ok : i32
}

// -----

// Without libdevice there is no power function for kernels.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: math.powf
// CHECK-NOT: gpu.module
// LIB-LABEL: gpu.func @nest_0
// LIB: math.powf
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10000 = arith.constant 10000 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<10000xf32>
  scf.for %i = %c0 to %c10000 step %c1 {
    %v = memref.load %x[%i] : memref<10000xf32>
    %p = math.powf %v, %v : f32
    memref.store %p, %x[%i] : memref<10000xf32>
  } {loopc.parallel}
  return %ok : i32
}

// -----

// A check that names more numbers than a kernel has room for is the host's.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: loop.check
// CHECK-NOT: gpu.module
// LIB-LABEL: func.func @loopc_entry
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10000 = arith.constant 10000 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<10000xindex>
  scf.for %i = %c0 to %c10000 step %c1 {
    %v = memref.load %x[%i] : memref<10000xindex>
    %is = arith.cmpi slt, %v, %c10000 : index
    loop.check %is, "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}" (%i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i : index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index)
    memref.store %v, %x[%i] : memref<10000xindex>
  } {loopc.parallel}
  return %ok : i32
}
