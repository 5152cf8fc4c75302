// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_90 min-work=0' --loopc-to-kernels | FileCheck %s
// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_90 min-work=0 loops=cluster' --loopc-to-kernels | FileCheck %s --check-prefix=CLUSTER

// A loop that is one block's keeps in shared memory what it writes. What is read
// behind it is copied in and out; what is nobody else's is not. What it reads
// alone stays where it is.
// CHECK-LABEL: gpu.func @loop_1
// CHECK-SAME: (%{{[^,]+}}: !llvm.ptr, %[[STATE:[^,]+]]: memref<20x5xf32>, %[[READ:[^,]+]]: memref<100xf32>, %[[TEMP:[^,]+]]: memref<100xf32>)
// CHECK-SAME: workgroup(%[[MEMORY:[^ ]+]] : memref<800xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// CHECK-DAG: %[[OWN:.+]] = memref.view %[[MEMORY]][%{{.+}}][] : {{.*}} to memref<100xf32, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[MINE:.+]] = memref.view %[[MEMORY]][%{{.+}}][] : {{.*}} to memref<20x5xf32, #gpu.address_space<workgroup>>
// CHECK: scf.for
// CHECK: %[[IN:.+]] = memref.load %[[STATE]][
// CHECK-NEXT: memref.store %[[IN]], %[[MINE]][
// CHECK: gpu.barrier
// CHECK-NOT: %[[TEMP]]
// CHECK-NOT: %[[STATE]]
// CHECK: memref.load %[[MINE]][
// CHECK: memref.load %[[READ]][
// CHECK: memref.store %{{.*}}, %[[OWN]][
// CHECK: device.barrier
// CHECK: memref.load %[[OWN]][
// CHECK: memref.store %{{.*}}, %[[MINE]][
// CHECK: gpu.barrier
// CHECK: %[[OUT:.+]] = memref.load %[[MINE]][
// CHECK-NEXT: memref.store %[[OUT]], %[[STATE]][
// CHECK-NOT: %[[TEMP]]
// CHECK: gpu.return

// Blocks of a cluster do not see one another's.
// CLUSTER-LABEL: gpu.func @loop_1
// CLUSTER-NOT: workgroup
// CLUSTER: gpu.return
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c100 = arith.constant 100 : index
  %c20 = arith.constant 20 : index
  %zero = arith.constant 0.0 : f32
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<20x5xf32>
  %y = memref.alloc() : memref<100xf32>
  %z = memref.alloc() : memref<100xf32>
  scf.for %i = %c0 to %c100 step %c1 {
    memref.store %zero, %z[%i] : memref<100xf32>
  } {loopc.parallel}
  scf.for %t = %c0 to %c100 step %c1 {
    scf.for %i = %c0 to %c20 step %c1 {
      %v = memref.load %x[%i, %c4] : memref<20x5xf32>
      %r = memref.load %z[%i] : memref<100xf32>
      %s = arith.addf %v, %r : f32
      memref.store %s, %y[%i] : memref<100xf32>
    } {loopc.parallel}
    scf.for %i = %c0 to %c20 step %c1 {
      scf.for %j = %c0 to %c5 step %c1 {
        %v = memref.load %y[%j] : memref<100xf32>
        memref.store %v, %x[%i, %j] : memref<20x5xf32>
      } {loopc.parallel}
    } {loopc.parallel}
  }
  memref.dealloc %y : memref<100xf32>
  %r = builtin.unrealized_conversion_cast %x : memref<20x5xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  llvm.store %r, %out : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>, !llvm.ptr
  return %ok : i32
}

// -----

// Not what the loop may leave in the other place, what is too large, and what an
// iteration of an outer loop may have left for the next.
// CHECK: gpu.func @loop_0
// CHECK-SAME: memref<100xf32>, %[[KEPT:[^,]+]]: memref<50xf32>
// CHECK-SAME: workgroup(%[[MEMORY:[^ ]+]] : memref<208xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// CHECK-DAG: %[[MOVED:.+]] = memref.view %[[MEMORY]][%{{.+}}][] : {{.*}} to memref<50xf32, #gpu.address_space<workgroup>>
// CHECK: memref.load %[[KEPT]][
// CHECK: memref.store %{{.*}}, %[[MOVED]][
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK: memref.load %[[MOVED]][
// CHECK: memref.store %{{.*}}, %[[KEPT]][
// CHECK: gpu.return
func.func private @other()
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c50 = arith.constant 50 : index
  %c49 = arith.constant 49 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %a = memref.alloc() : memref<100xf32>
  %b = memref.alloc() : memref<100xf32>
  %c = memref.alloc() : memref<50xf32>
  %d = memref.alloc() : memref<20000xf32>
  scf.for %n = %c0 to %c50 step %c1 {
    %e:2 = scf.for %t = %c0 to %c50 step %c1 iter_args(%p = %a, %q = %b) -> (memref<100xf32>, memref<100xf32>) {
      scf.for %i = %c0 to %c49 step %c1 {
        %j = arith.addi %i, %c1 : index
        %v = memref.load %p[%j] : memref<100xf32>
        %u = memref.load %c[%j] : memref<50xf32>
        %w = memref.load %d[%j] : memref<20000xf32>
        %s = arith.addf %v, %u : f32
        %r = arith.addf %s, %w : f32
        memref.store %r, %q[%i] : memref<100xf32>
      } {loopc.parallel}
      scf.for %i = %c0 to %c49 step %c1 {
        %v = memref.load %q[%i] : memref<100xf32>
        memref.store %v, %c[%i] : memref<50xf32>
        memref.store %v, %d[%i] : memref<20000xf32>
      } {loopc.parallel}
      scf.yield %q, %p : memref<100xf32>, memref<100xf32>
    }
    func.call @other() : () -> ()
  }
  return %ok : i32
}
