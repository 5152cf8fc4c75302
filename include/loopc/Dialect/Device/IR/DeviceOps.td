//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Operations that the passes from loops to kernels of a GPU leave for one
// another.

#ifndef LOOPC_DIALECT_DEVICE_IR_DEVICEOPS_TD
#define LOOPC_DIALECT_DEVICE_IR_DEVICEOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Device_Dialect : Dialect {
  let name = "device";
  let cppNamespace = "::loopc::device";
  let summary = "Parts of a model on their way to kernels of a GPU";
  let description = [{
    What the passes of lib/Codegen/GPU leave for one another. A part of the host's
    function that becomes a kernel is a `device.region`, from the pass that
    selects it to the one that launches it. What is left becomes calls of the
    runtime (`convert-launches-to-llvm`), and in kernels barriers
    (`loopc-lower-kernels`).
  }];
  let useDefaultAttributePrinterParser = 1;
}

class Device_Op<string mnemonic, list<Trait> traits = []>
    : Op<Device_Dialect, mnemonic, traits>;

def Device_ShapeAttr : AttrDef<Device_Dialect, "Shape"> {
  let mnemonic = "shape";
  let summary = "what a kernel asks of its launch";
  let description = [{
    `barriers`: blocks wait for one another, so that they must run together;
    `tiles`: products are computed by tiles, for blocks of exactly 256 threads;
    `splits`: warps of a block share sums, so that larger blocks pay.

    ```mlir
    func.func @asks() attributes {
        asked = #device.shape<barriers = true, tiles = false, splits = false>} {
      return
    }
    ```
  }];
  let parameters = (ins "bool":$barriers, "bool":$tiles, "bool":$splits);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Device_RegionOp : Device_Op<"region", [
    AttrSizedOperandSegments, RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a loop that runs on the GPU";
  let description = [{
    The body is one `scf.for` or `scf.while`, and hands its results on. Nothing in
    it allocates or frees memory, calls a function, or is work for the GPU by
    itself: it can be a kernel.

    Once the kernel exists the operation names it, and what it is given behind its
    first argument, the run's control. The body stays until the launch is made:
    it says what the kernel does in terms of the host's values, from which the
    numbers of blocks and threads follow. Results come back through memory that
    both reach then, so that the region has none. `shape` says what the kernel
    asks of its launch once its work is dealt out to threads; `grid` are blocks,
    and threads of each, where an earlier pass has chosen them.

    ```mlir
    func.func @fill(%x: memref<?xf32>, %n: index, %f: f32) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      device.region {
        scf.for %i = %zero to %n step %one {
          memref.store %f, %x[%i] : memref<?xf32>
        } {loopc.parallel}
        device.yield
      }
      return
    }
    ```
  }];
  let arguments = (ins OptionalAttr<SymbolRefAttr>:$kernel,
                       OptionalAttr<Device_ShapeAttr>:$shape,
                       Variadic<AnyType>:$given, Variadic<Index>:$grid);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`kernel` $kernel^)? (`given` `(` $given^ `:` type($given) `)`)?
    (`grid` `(` $grid^ `)`)? (`shape` $shape^)?
    $body attr-dict (`:` type($results)^)?
  }];
  let extraClassDeclaration = [{
    /// The loop that the kernel computes.
    ::mlir::Operation *getLoop() { return &getBody().front().front(); }
    /// The kernel where it exists, null before.
    ::mlir::gpu::GPUFuncOp findKernel();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Device_YieldOp : Device_Op<"yield", [
    Pure, Terminator, ReturnLike, ParentOneOf<["RegionOp", "PartOp"]>]> {
  let summary = "results of the loop of a device.region, and the end of a part";
  let description = [{
    ```mlir
    func.func @sum(%x: memref<8xf32>, %f: f32) -> f32 {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %eight = arith.constant 8 : index
      %r = device.region {
        %s = scf.for %i = %zero to %eight step %one iter_args(%a = %f) -> f32 {
          %e = memref.load %x[%i] : memref<8xf32>
          %b = arith.addf %a, %e : f32
          scf.yield %b : f32
        }
        device.yield %s : f32
      } : f32
      return %r : f32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Device_BufferOp : Device_Op<"buffer"> {
  let summary = "a buffer that a kernel has described";
  let description = [{
    A kernel that results in a buffer leaves in `words`, which the host reads,
    where it lies: address, offset, extents and strides. It is one of `sources`, or
    lies in one.

    ```mlir
    func.func @which(%words: memref<4xindex>, %x: memref<?xf32>,
                     %y: memref<?xf32>) -> memref<?xf32> {
      %r = device.buffer %words of %x, %y
        : memref<4xindex>, memref<?xf32>, memref<?xf32> -> memref<?xf32>
      return %r : memref<?xf32>
    }
    ```
  }];
  let arguments = (ins Arg<MemRefRankOf<[Index], [1]>, "", [MemRead]>:$words,
                       Variadic<AnyMemRef>:$sources);
  let results = (outs AnyMemRef:$buffer);
  let assemblyFormat = [{
    $words (`of` $sources^)? attr-dict
    `:` qualified(type($words)) (`,` type($sources)^)? `->` type($buffer)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// What the host asks of the runtime, and threads of one another
//===----------------------------------------------------------------------===//

def Device_ViewOp : Device_Op<"view", [Pure, SameOperandsAndResultType]> {
  let summary = "memory of the host where kernels can read it";
  let description = [{
    A copy of `host` in memory of the GPU, which lives until the run ends; where
    the caller's input lies there already it is that. Neither is written
    afterwards. A `constant` is a weight of the model: it is copied once for all
    runs. A `shared` copy can be read by the host, too.

    ```mlir
    func.func @view(%x: memref<?x4xf32>) -> memref<?x4xf32> {
      %d = device.view %x : memref<?x4xf32>
      return %d : memref<?x4xf32>
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$host, UnitAttr:$constant, UnitAttr:$shared);
  let results = (outs AnyMemRef:$device);
  let assemblyFormat = "$host attr-dict `:` type($host)";
}

def Device_ResultOp : Device_Op<"result", [
    SameOperandsAndResultType, MemoryEffects<[MemRead, MemWrite, MemAlloc]>]> {
  let summary = "memory of the GPU as a result of the run";
  let description = [{
    A copy of `device` that the host can read after the next `device.wait`,
    or the memory itself where the caller wants results on the GPU.

    ```mlir
    func.func @result(%d: memref<?x4xf32>) -> memref<?x4xf32> {
      %y = device.result %d : memref<?x4xf32>
      return %y : memref<?x4xf32>
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$device);
  let results = (outs AnyMemRef:$host);
  let assemblyFormat = "$device attr-dict `:` type($device)";
}

def Device_BarrierOp : Device_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads of a kernel wait for one another";
  let description = [{
    What any thread of the grid wrote before is what every thread reads behind
    it. In kernels only.

    ```mlir
    func.func @step() {
      device.barrier
      return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Device_PollOp : Device_Op<"poll", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads of a kernel learn whether the run is over";
  let description = [{
    All threads come here together (`loopc-distribute-kernels` verifies that).
    Where a check has failed, or the run shall end, the kernel ends. Threads wait
    for those of the whole grid or, with `block`, for those of their block.

    ```mlir
    func.func @step() {
      device.poll
      return
    }
    ```
  }];
  let arguments = (ins UnitAttr:$in_block);
  let assemblyFormat = "(`block` $in_block^)? attr-dict";
}

def Device_PartOp : Device_Op<"part", [RecursiveMemoryEffects]> {
  let summary = "what not all threads of a kernel go through alike";
  let description = [{
    A check that fails in the body, or a `loop.poll` that finds the run over, ends
    the body for this thread. Behind it all learn of it, as by a `device.poll`,
    with threads of the same `block` or of the grid. Behind a part that is the
    `last` of its kernel nothing follows, and nobody waits.

    Nobody waits for others in the body either: they may have left.

    ```mlir
    func.func @check(%ok: i1) {
      device.part {
        loop.check %ok, "it fails"
        device.yield
      }
      return
    }
    ```
  }];
  let arguments = (ins UnitAttr:$in_block, UnitAttr:$last);
  // Structured control flow becomes branches in it before it is lowered itself.
  let regions = (region MinSizedRegion<1>:$body);
  let assemblyFormat = "(`block` $in_block^)? (`last` $last^)? $body attr-dict";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Device_WaitOp : Device_Op<"wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the host waits for what the GPU was given to do";
  let description = [{
    Behind it the host reads what kernels and copies wrote. The run ends where a
    kernel failed, or a check in one.

    ```mlir
    func.func @wait() {
      device.wait
      return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Device_GraphOp : Device_Op<"graph", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the GPU is given a graph of kernels and conditions to do";
  let description = [{
    Each of `nodes` is four numbers: the condition in whose body the node is, or
    -1; the condition that it is, or -1 for a kernel; which of `kernels`, or of a
    condition 1 for a loop and 0 for a branch; the threads of a block. Nodes of
    one body follow one another. A condition comes in front of what is in its
    body, which runs where, and of a loop for as long as, a kernel set the
    condition.

    There is one of `blocks` for each kernel, in their order. Kernels are given
    the run's control and the graph's state, which begins with a word for each
    of the `handles` and goes on with `arguments`: `words` in all. Each says by
    `loopc.conditions` which conditions it sets, and which it clears where it
    ends before its time; some kernel sets each of them.

    ```mlir
    gpu.module @kernels {
      llvm.func @begin(!llvm.ptr, !llvm.ptr)
          attributes {gpu.kernel, loopc.conditions = array<i32: 0>}
      llvm.func @step(!llvm.ptr, !llvm.ptr)
          attributes {gpu.kernel, loopc.conditions = array<i32: 0>}
    }
    func.func @count(%n: i64) {
      %one = arith.constant 1 : index
      device.graph [@kernels::@begin, @kernels::@step]
          nodes [-1, -1, 0, 1, -1, 0, 1, 0, 0, -1, 1, 32] handles 1 words 3
          blocks(%one, %one) args(%n)
      return
    }
    ```
  }];
  let arguments = (ins SymbolRefArrayAttr:$kernels, DenseI32ArrayAttr:$nodes,
                       I64Attr:$handles, I64Attr:$words,
                       Variadic<Index>:$blocks, Variadic<I64>:$arguments);
  let assemblyFormat = [{
    $kernels `nodes` $nodes `handles` $handles `words` $words
    `blocks` `(` $blocks `)` `args` `(` $arguments `)` attr-dict
  }];
  let hasVerifier = 1;
}

#endif // LOOPC_DIALECT_DEVICE_IR_DEVICEOPS_TD
