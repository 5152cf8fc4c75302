// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0' --loopc-to-kernels | FileCheck %s
// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0 loops=graph' --loopc-to-kernels | FileCheck %s --check-prefix=GRAPH

// Of a counted loop each 64th iteration is polled: all threads go into the
// branch, and wait for one another nowhere else because of it.
// CHECK-LABEL: gpu.func @loop_0
// CHECK: scf.for %[[I:.+]] = %{{.+}} to %{{.+}} step %[[STEP:.+]] {
// CHECK: %[[NUMBER:.+]] = arith.divui %[[I]], %[[STEP]]
// CHECK: %[[REST:.+]] = arith.remui %[[NUMBER]], %{{.+}}
// CHECK: %[[TIME:.+]] = arith.cmpi eq, %[[REST]], %{{.+}}
// CHECK-NEXT: scf.if %[[TIME]] {
// CHECK-NEXT: device.poll
// CHECK-NEXT: }
// CHECK-NOT: {{(loop|device)}}.poll
// CHECK: gpu.return

// A poll is no part of a graph: who ends an iteration looks.
// GRAPH: device.graph
// GRAPH-NOT: loop.poll
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c99 = arith.constant 99 : index
  %c1000 = arith.constant 1000 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<100xf32>
  %y = memref.alloc() : memref<100xf32>
  scf.for %t = %c0 to %c1000 step %c1 {
    loop.poll
    scf.for %i = %c0 to %c99 step %c1 {
      %j = arith.addi %i, %c1 : index
      %v = memref.load %x[%j] : memref<100xf32>
      memref.store %v, %y[%i] : memref<100xf32>
    } {loopc.parallel}
    scf.for %i = %c0 to %c99 step %c1 {
      %v = memref.load %y[%i] : memref<100xf32>
      memref.store %v, %x[%i] : memref<100xf32>
    } {loopc.parallel}
  }
  return %ok : i32
}

// -----

// Where the CPU looks in each 16th iteration, or once a strip of so many, a
// kernel does in one of four of these; where it looks less often, then.
// CHECK-LABEL: gpu.func @loop_0
// CHECK: %[[SIXTEEN:.+]] = arith.constant 16 : index
// CHECK: scf.for %[[I:.+]] = %{{.+}} to %{{.+}} step %[[SIXTEEN]] {
// CHECK: %[[NUMBER:.+]] = arith.divui %[[I]], %[[SIXTEEN]]
// CHECK: %[[FOUR:.+]] = arith.constant 4 : index
// CHECK: arith.remui %[[NUMBER]], %[[FOUR]]
// CHECK: scf.if
// CHECK-NEXT: device.poll
// CHECK-NOT: {{(loop|device)}}.poll
// CHECK-LABEL: gpu.func @loop_1
// CHECK: scf.while
// CHECK: ^bb0(%[[K:.+]]: i64):
// CHECK: %[[GUARD:.+]] = arith.cmpi eq
// CHECK: arith.remui %[[K]], %{{.+}} : i64
// CHECK: %[[TIME:.+]] = arith.cmpi eq
// CHECK: %[[BOTH:.+]] = arith.andi %[[GUARD]], %[[TIME]]
// CHECK: scf.if %[[BOTH]]
// CHECK-NEXT: device.poll
// CHECK-NOT: {{(loop|device)}}.poll
// CHECK-LABEL: gpu.func @loop_2
// CHECK: scf.while
// CHECK: ^bb0(%[[K:.+]]: i64):
// CHECK: arith.remui %[[K]], %{{.+}} : i64
// CHECK: scf.if
// CHECK-NEXT: device.poll
// CHECK-NOT: {{(loop|device)}}.poll
// CHECK-LABEL: gpu.func @loop_3
// CHECK: ^bb0(%{{.+}}: i64):
// CHECK-NOT: arith.remui {{.*}} : i64
// CHECK: gpu.return
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c99 = arith.constant 99 : index
  %c1000 = arith.constant 1000 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %fifteen = arith.constant 15 : i64
  %often = arith.constant 127 : i64
  %many = arith.constant 1000 : i64
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<100xf32>
  %y = memref.alloc() : memref<100xf32>
  scf.for %t = %c0 to %c1000 step %c16 {
    scf.for %s = %c0 to %c16 step %c1 {
      scf.for %i = %c0 to %c99 step %c1 {
        %j = arith.addi %i, %c1 : index
        %v = memref.load %x[%j] : memref<100xf32>
        memref.store %v, %y[%i] : memref<100xf32>
      } {loopc.parallel}
      scf.for %i = %c0 to %c99 step %c1 {
        %v = memref.load %y[%i] : memref<100xf32>
        memref.store %v, %x[%i] : memref<100xf32>
      } {loopc.parallel}
    }
    loop.poll
  }
  scf.while (%k = %zero) : (i64) -> i64 {
    %goes = arith.cmpi slt, %k, %many : i64
    scf.condition(%goes) %k : i64
  } do {
  ^bb0(%k: i64):
    %low = arith.andi %k, %fifteen : i64
    %now = arith.cmpi eq, %low, %fifteen : i64
    scf.if %now {
      loop.poll
    }
    scf.for %i = %c0 to %c99 step %c1 {
      %j = arith.addi %i, %c1 : index
      %v = memref.load %x[%j] : memref<100xf32>
      memref.store %v, %y[%i] : memref<100xf32>
    } {loopc.parallel}
    %next = arith.addi %k, %one : i64
    scf.yield %next : i64
  }
  scf.while (%k = %zero) : (i64) -> i64 {
    %goes = arith.cmpi slt, %k, %many : i64
    scf.condition(%goes) %k : i64
  } do {
  ^bb0(%k: i64):
    loop.poll
    scf.for %i = %c0 to %c99 step %c1 {
      %j = arith.addi %i, %c1 : index
      %v = memref.load %x[%j] : memref<100xf32>
      memref.store %v, %y[%i] : memref<100xf32>
    } {loopc.parallel}
    %next = arith.addi %k, %one : i64
    scf.yield %next : i64
  }
  scf.while (%k = %zero) : (i64) -> i64 {
    %goes = arith.cmpi slt, %k, %many : i64
    scf.condition(%goes) %k : i64
  } do {
  ^bb0(%k: i64):
    %low = arith.andi %k, %often : i64
    %now = arith.cmpi eq, %low, %often : i64
    scf.if %now {
      loop.poll
    }
    scf.for %i = %c0 to %c99 step %c1 {
      %j = arith.addi %i, %c1 : index
      %v = memref.load %x[%j] : memref<100xf32>
      memref.store %v, %y[%i] : memref<100xf32>
    } {loopc.parallel}
    %next = arith.addi %k, %one : i64
    scf.yield %next : i64
  }
  return %ok : i32
}

// -----

// Threads that go through a loop by themselves look less often.
// CHECK-LABEL: gpu.func @loop_0
// CHECK: device.part last
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[FAR:.+]] = arith.constant 1024 : index
// CHECK-NEXT: arith.remui %{{.+}}, %[[FAR]]
// CHECK: scf.if
// CHECK-NEXT: loop.poll
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %c5000 = arith.constant 5000 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<100xf32>
  scf.for %t = %c0 to %c5000 step %c1 {
    loop.poll
    scf.for %i = %c0 to %c100 step %c1 {
      %v = memref.load %x[%i] : memref<100xf32>
      %w = arith.mulf %v, %v : f32
      memref.store %w, %x[%i] : memref<100xf32>
    } {loopc.parallel}
  }
  return %ok : i32
}
