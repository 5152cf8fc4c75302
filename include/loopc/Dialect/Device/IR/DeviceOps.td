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
include "mlir/Interfaces/SideEffectInterfaces.td"

def Device_Dialect : Dialect {
  let name = "device";
  let cppNamespace = "::loopc::device";
  let summary = "Parts of a model on their way to kernels of a GPU";
  let description = [{
    What the passes of lib/Codegen/GPU leave for one another. A part of the host's
    function that becomes a kernel is a `device.region`, from the pass that
    selects it to the one that launches it; nothing of this dialect is left
    behind `loopc-insert-waits`.
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
    Pure, Terminator, ReturnLike, HasParent<"RegionOp">]> {
  let summary = "results of the loop of a device.region";
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

#endif // LOOPC_DIALECT_DEVICE_IR_DEVICEOPS_TD
