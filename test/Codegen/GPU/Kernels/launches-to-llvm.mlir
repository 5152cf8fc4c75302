// RUN: loopc-opt %s -split-input-file --convert-launches-to-llvm | FileCheck %s

// CHECK: llvm.mlir.global external @loopc_cuda_program() {{.*}} : !llvm.array<88 x i8>
// CHECK-LABEL: func.func @loopc_entry(%arg0: !rt.run
// CHECK: %[[BEGUN:.+]] = llvm.call @loopc_rt_cuda_begin(%{{[0-9]+}},
// CHECK: %[[OK:.+]] = llvm.icmp "eq" %[[BEGUN]]
// CHECK: cf.cond_br %[[OK]] weights([2000, 1]), ^{{.*}}, ^[[FAIL:.+]]
// CHECK: %[[VIEW:.+]] = llvm.call @loopc_rt_cuda_input(%{{[0-9]+}}, %{{.*}}, %{{.*}}, %[[BYTES:[^,]+]],
// CHECK: %[[MEMORY:.+]] = llvm.call @loopc_rt_cuda_alloc(%{{[0-9]+}}, %{{.*}}, %{{.*}})
// CHECK: llvm.call @loopc_rt_cuda_launch(%{{[0-9]+}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK: llvm.call @loopc_rt_cuda_output(%{{[0-9]+}},
// CHECK: llvm.call @loopc_rt_cuda_sync(%{{[0-9]+}})
// CHECK: llvm.call @loopc_rt_cuda_free(%{{[0-9]+}},
// CHECK: ^[[FAIL]]:
// CHECK: return
module attributes {gpu.container_module} {
  gpu.module @loopc_kernels {
    llvm.func @nest_0(%control: !llvm.ptr, %a: !llvm.ptr, %b: !llvm.ptr, %o: i64, %s: i64, %t: i64) attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
  func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %null = llvm.mlir.zero : !llvm.ptr
    %ok = llvm.mlir.constant(0 : i32) : i32
    %d = llvm.load %in : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = builtin.unrealized_conversion_cast %d : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<?xf32>
    %v = device.view %x : memref<?xf32>
    %y = gpu.alloc (%c256) : memref<?xf32>
    gpu.launch_func @loopc_kernels::@nest_0 blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1) args(%null : !llvm.ptr, %v : memref<?xf32>)
    %r = device.result %y : memref<?xf32>
    device.wait
    gpu.dealloc %y : memref<?xf32>
    return %ok : i32
  }
}

// -----

// Blocks that wait for one another run together, whether or not the launch says
// so.
// CHECK-LABEL: func.func @loopc_entry(%arg0: !rt.run
// CHECK: %[[COOPERATIVE:.+]] = llvm.mlir.constant(1 : i32) : i32
// CHECK: llvm.call @loopc_rt_cuda_launch(%{{[0-9]+}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[COOPERATIVE]], %{{.*}})
module attributes {gpu.container_module} {
  gpu.module @loopc_kernels {
    llvm.func @loopc_barrier(%control: !llvm.ptr) {
      llvm.return
    }
    llvm.func @loop_0(%control: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      llvm.call @loopc_barrier(%control) : (!llvm.ptr) -> ()
      llvm.return
    }
  }
  func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
    %c2 = arith.constant 2 : index
    %c256 = arith.constant 256 : index
    %null = llvm.mlir.zero : !llvm.ptr
    %ok = llvm.mlir.constant(0 : i32) : i32
    gpu.launch_func @loopc_kernels::@loop_0 blocks in (%c2, %c2, %c2) threads in (%c256, %c2, %c2) args(%null : !llvm.ptr)
    return %ok : i32
  }
}

// -----

// A graph: its description, in which kernels have the program's numbers, a count
// of blocks for each node, and the words of the arguments.
// CHECK: llvm.mlir.global internal constant @loopc_cuda_graph_0(dense<[3, 1, 1, 3, -1, -1, 1, 1, -1, 0, 1, 0, 0, -1, 0, 32]> : tensor<16xi32>)
// CHECK-SAME: alignment = 8
// CHECK-LABEL: func.func @loopc_entry(%arg0: !rt.run
// CHECK-DAG: %[[ARGS:.+]] = llvm.alloca %{{.*}} x i64
// CHECK: llvm.call @loopc_rt_cuda_begin
// CHECK: %[[GRAPH:.+]] = llvm.mlir.addressof @loopc_cuda_graph_0
// CHECK: %[[STATUS:.+]] = llvm.call @loopc_rt_cuda_graph(%{{[0-9]+}}, %{{.*}}, %[[GRAPH]], %{{.*}}, %{{.*}})
// CHECK: llvm.icmp "eq" %[[STATUS]]
module attributes {gpu.container_module} {
  gpu.module @loopc_kernels {
    llvm.func @step(%control: !llvm.ptr, %state: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel, loopc.conditions = array<i32: 0>} {
      llvm.return
    }
    llvm.func @begin(%control: !llvm.ptr, %state: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel, loopc.conditions = array<i32: 0>} {
      llvm.return
    }
  }
  func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %word = arith.constant 5 : i64
    %ok = llvm.mlir.constant(0 : i32) : i32
    device.graph [@loopc_kernels::@begin, @loopc_kernels::@step]
        nodes [-1, -1, 0, 1, -1, 0, 1, 0, 0, -1, 1, 32] handles 1 words 3
        blocks(%c1, %c7) args(%word)
    return %ok : i32
  }
}
