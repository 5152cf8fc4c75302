//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_RT_IR_RTDIALECT_TD
#define LOOPC_DIALECT_RT_IR_RTDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/OpBase.td"

def RT_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::loopc::rt";
  let summary = "What compiled code and the runtime hand to one another";
  let description = [{
    The functions that compiled code may call are a table
    (`loopc/Dialect/RT/RuntimeFunctions.h`); here are the types of what they are
    given, until these become LLVM's.
  }];
  let useDefaultTypePrinterParser = 1;
}

def RT_RunType : TypeDef<RT_Dialect, "Run"> {
  let mnemonic = "run";
  let summary = "the run of a model";
  let description = [{
    Where the memory, the threads, the errors and the end of a run are: what the
    runtime's functions are given first. `loopc-make-entry-point` gives it to the
    model's function; a function that calls the runtime has one as an argument
    and hands it on to those that it calls. `convert-loop-runtime-to-llvm` makes
    it a pointer (`loopc_run` in `loopc-rt/runtime.h`).

    ```mlir
    func.func @section(%run: !rt.run, %n: index) -> i32 {
      %buffer = memref.alloc(%n) : memref<?xf32>
      memref.dealloc %buffer : memref<?xf32>
      %ok = arith.constant 0 : i32
      return %ok : i32
    }
    ```
  }];
}

def RT_StringType : TypeDef<RT_Dialect, "String",
                            [MemRefElementTypeInterface]> {
  let mnemonic = "string";
  let summary = "a string inside a model";
  let description = [{
    The address of a text and its number of bytes. The text itself is never
    changed, and stays where it is until the run ends. Tensors and buffers have
    strings as elements; `loop.string` makes one, `loop.string_parts` takes it
    apart, and the runtime's functions take and return them. LLVM's type is that
    of `loopc_string` in `loopc-rt/runtime.h`, a struct of two words.

    ```mlir
    func.func @first(%x: tensor<?x!rt.string>, %at: index) -> !rt.string {
      %s = tensor.extract %x[%at] : tensor<?x!rt.string>
      return %s : !rt.string
    }
    ```
  }];
}

#endif // LOOPC_DIALECT_RT_IR_RTDIALECT_TD
