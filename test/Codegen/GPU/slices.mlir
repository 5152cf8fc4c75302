// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_90 min-work=0' --loopc-to-kernels --canonicalize | FileCheck %s

// What belongs to one batch and head depends on no other one: blocks go through
// the loop for these by themselves, and only their own threads wait.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: gpu.launch_func @loopc_kernels::@loop_0 blocks in (%c24, %c1, %c1) threads in (%c64, %c1, %c1)
// CHECK-NOT: loopc.cooperative
// CHECK-LABEL: gpu.func @loop_0
// CHECK: scf.for %[[SLICE:.+]] = %block_id_x to %c24 step %grid_dim_x
// CHECK-DAG: %[[HEAD:.+]] = arith.remui %[[SLICE]], %c4
// CHECK-DAG: %[[BATCH:.+]] = arith.divui %[[SLICE]], %c4
// CHECK: scf.for %[[T:.+]] = %c0 to %c10
// CHECK-NOT: device.barrier
// CHECK: scf.for %[[I:.+]] = %thread_id_x to %c64 step %block_dim_x
// CHECK: memref.store %{{.+}}, %[[STATE:.+]][%[[BATCH]], %[[HEAD]], %[[I]]]
// CHECK: gpu.barrier
// CHECK-NOT: device.barrier
// CHECK: gpu.subgroup_reduce
// CHECK: } {loopc.slices}
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c10 = arith.constant 10 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %d = llvm.load %in : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %x = builtin.unrealized_conversion_cast %d : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<64xf32>
  %s = memref.alloc() : memref<6x4x64xf32>
  %y = memref.alloc() : memref<10x6x4xf32>
  scf.for %t = %c0 to %c10 step %c1 {
    scf.for %b = %c0 to %c6 step %c1 {
      scf.for %h = %c0 to %c4 step %c1 {
        scf.for %i = %c0 to %c64 step %c1 {
          %v = memref.load %s[%b, %h, %i] : memref<6x4x64xf32>
          %u = memref.load %x[%i] : memref<64xf32>
          %w = arith.addf %v, %u : f32
          memref.store %w, %s[%b, %h, %i] : memref<6x4x64xf32>
        } {loopc.parallel}
      } {loopc.parallel}
    } {loopc.parallel}
    scf.for %b = %c0 to %c6 step %c1 {
      scf.for %h = %c0 to %c4 step %c1 {
        %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%a = %zero) -> f32 {
          %v = memref.load %s[%b, %h, %i] : memref<6x4x64xf32>
          %n = arith.addf %a, %v : f32
          scf.yield %n : f32
        }
        memref.store %sum, %y[%t, %b, %h] : memref<10x6x4xf32>
      } {loopc.parallel}
    } {loopc.parallel}
  }
  %r = builtin.unrealized_conversion_cast %y : memref<10x6x4xf32> to !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// A sum over the heads leaves the batch. How many there are only the run knows,
// and it decides. Where a view of a buffer begins says which row it is.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: %[[N:.+]] = memref.dim
// CHECK: %[[MANY:.+]] = arith.cmpi ugt, %[[N]], %c1
// CHECK: scf.if
// CHECK: %[[BLOCKS:.+]] = arith.minui %[[N]]
// CHECK: gpu.launch_func @loopc_kernels::@loop_0 blocks in (%[[BLOCKS]], %c1, %c1) threads in (%c64, %c1, %c1)
// CHECK-NOT: loopc.cooperative
// CHECK: } else {
// CHECK: gpu.launch_func @loopc_kernels::@loop_0_whole
// CHECK-SAME: loopc.cooperative
// CHECK-LABEL: gpu.func @loop_0
// CHECK: scf.for %[[SLICE:.+]] = %block_id_x
// CHECK: scf.for %[[T:.+]] = %c0 to %c10
// CHECK: memref.store %{{.+}}, %{{.+}}[%[[SLICE]], %{{.+}}, %{{.+}}] : memref<?x4x16xf32>
// CHECK: memref.store %{{.+}}, %{{.+}}[%c0, %[[T]], %{{.+}}] : memref<1x10x?xf32>
// CHECK: } {loopc.slices}
// CHECK-LABEL: gpu.func @loop_0_whole
// CHECK: device.barrier
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c10 = arith.constant 10 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %d = llvm.load %in : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %x = builtin.unrealized_conversion_cast %d : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<?xf32>
  %n = memref.dim %x, %c0 : memref<?xf32>
  %s = memref.alloc(%n) : memref<?x4x16xf32>
  %y = memref.alloc(%n) : memref<1x10x?xf32>
  %base, %offset, %sizes:3, %strides:3 = memref.extract_strided_metadata %y : memref<1x10x?xf32> -> memref<f32>, index, index, index, index, index, index, index
  scf.for %t = %c0 to %c10 step %c1 {
    scf.for %b = %c0 to %n step %c1 {
      scf.for %h = %c0 to %c4 step %c1 {
        scf.for %i = %c0 to %c16 step %c1 {
          %v = memref.load %s[%b, %h, %i] : memref<?x4x16xf32>
          %u = memref.load %x[%b] : memref<?xf32>
          %w = arith.addf %v, %u : f32
          memref.store %w, %s[%b, %h, %i] : memref<?x4x16xf32>
        } {loopc.parallel}
      } {loopc.parallel}
    } {loopc.parallel}
    %at = arith.muli %t, %strides#1 : index
    %row = memref.reinterpret_cast %y to offset: [%at], sizes: [1, %n], strides: [%strides#0, 1] : memref<1x10x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    scf.for %b = %c0 to %n step %c1 {
      %sum = scf.for %h = %c0 to %c4 step %c1 iter_args(%a = %zero) -> f32 {
        %v = memref.load %s[%b, %h, %c0] : memref<?x4x16xf32>
        %n1 = arith.addf %a, %v : f32
        scf.yield %n1 : f32
      }
      memref.store %sum, %row[%c0, %b] : memref<1x?xf32, strided<[?, 1], offset: ?>>
    } {loopc.parallel}
  }
  %r = builtin.unrealized_conversion_cast %y : memref<1x10x?xf32> to !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<3 x i64>, array<3 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// Rows in memory belong to threads beside each other, so that columns are not
// slices; what reads another one's element is none either.
// CHECK-LABEL: gpu.func @loop_0
// CHECK-NOT: loopc.slices
// CHECK: device.barrier
// CHECK-LABEL: gpu.func @loop_1
// CHECK-NOT: loopc.slices
// CHECK: device.barrier
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c10 = arith.constant 10 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %s = memref.alloc() : memref<8x16xf32>
  %y = memref.alloc() : memref<16xf32>
  %z = memref.alloc() : memref<8xf32>
  scf.for %t = %c0 to %c10 step %c1 {
    scf.for %b = %c0 to %c8 step %c1 {
      scf.for %i = %c0 to %c16 step %c1 {
        %v = memref.load %s[%b, %i] : memref<8x16xf32>
        %u = memref.load %y[%i] : memref<16xf32>
        %w = arith.addf %v, %u : f32
        memref.store %w, %s[%b, %i] : memref<8x16xf32>
      } {loopc.parallel}
    } {loopc.parallel}
    scf.for %i = %c0 to %c16 step %c1 {
      %sum = scf.for %b = %c0 to %c8 step %c1 iter_args(%a = %zero) -> f32 {
        %v = memref.load %s[%b, %i] : memref<8x16xf32>
        %n = arith.addf %a, %v : f32
        scf.yield %n : f32
      }
      memref.store %sum, %y[%i] : memref<16xf32>
    } {loopc.parallel}
  }
  scf.for %t = %c0 to %c10 step %c1 {
    scf.for %b = %c0 to %c8 step %c1 {
      %other = arith.subi %c8, %b : index
      %at = arith.subi %other, %c1 : index
      %v = memref.load %z[%at] : memref<8xf32>
      memref.store %v, %s[%b, %c0] : memref<8x16xf32>
    } {loopc.parallel}
    scf.for %b = %c0 to %c8 step %c1 {
      %v = memref.load %s[%b, %c0] : memref<8x16xf32>
      memref.store %v, %z[%b] : memref<8xf32>
    } {loopc.parallel}
  }
  %r = builtin.unrealized_conversion_cast %y : memref<16xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  %q = builtin.unrealized_conversion_cast %z : memref<8xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %p = llvm.getelementptr %out[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  llvm.store %q, %p : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// A view that goes on into the next row is not a row: its elements are also
// those of another place.
// CHECK-LABEL: gpu.func @loop_0
// CHECK-NOT: loopc.slices
// CHECK: device.barrier
// CHECK: memref.store %{{.+}}, %{{.+}}[%{{.+}}] : memref<20xf32, strided<[1], offset: ?>>
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c10 = arith.constant 10 : index
  %c20 = arith.constant 20 : index
  %one = arith.constant 1.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %y = memref.alloc() : memref<10x10xf32>
  scf.for %t = %c0 to %c9 step %c1 {
    %at = arith.muli %t, %c10 : index
    %rows = memref.reinterpret_cast %y to offset: [%at], sizes: [20], strides: [1] : memref<10x10xf32> to memref<20xf32, strided<[1], offset: ?>>
    scf.for %i = %c0 to %c20 step %c1 {
      %v = memref.load %rows[%i] : memref<20xf32, strided<[1], offset: ?>>
      %w = arith.addf %v, %one : f32
      memref.store %w, %rows[%i] : memref<20xf32, strided<[1], offset: ?>>
    } {loopc.parallel}
  }
  %r = builtin.unrealized_conversion_cast %y : memref<10x10xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>, !llvm.ptr
  return %ok : i32
}
