//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_RT_IR_RTOPS_TD
#define LOOPC_DIALECT_RT_IR_RTOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def RT_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::loopc::rt";
  let summary = "What compiled code and the runtime hand to one another";
  let description = [{
    The functions that compiled code may call are a table
    (`loopc/Dialect/RT/RuntimeFunctions.h`); here are the types of what they are
    given, and the operations that the runtime does: work on strings, random
    numbers, Fourier transforms, calls of functions on scalars.
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
                            [MemRefElementTypeInterface]>,
                    BuildableType<"$_builder.getType<::loopc::rt::StringType>()"> {
  let mnemonic = "string";
  let summary = "a string inside a model";
  let description = [{
    The address of a text and its number of bytes. The text itself is never
    changed, and stays where it is until the run ends. Tensors and buffers have
    strings as elements; `rt.string` makes one, `rt.string_parts` takes it
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

class RT_Op<string mnemonic, list<Trait> traits = []>
    : Op<RT_Dialect, mnemonic, traits>;

def RT_StringOp : RT_Op<"string", [Pure]> {
  let summary = "a string of an address and a number of bytes";
  let description = [{
    The text is not copied: it must stay where it is until the run ends.

    ```mlir
    func.func @string(%address: i64, %bytes: i64) -> !rt.string {
      %s = rt.string %address, %bytes
      return %s : !rt.string
    }
    ```
  }];
  let arguments = (ins I64:$address, I64:$bytes);
  let results = (outs RT_StringType:$result);
  let assemblyFormat = "$address `,` $bytes attr-dict";
}

def RT_StringPartsOp : RT_Op<"string_parts", [Pure]> {
  let summary = "address and number of bytes of a string";
  let description = [{
    ```mlir
    func.func @bytes(%s: !rt.string) -> i64 {
      %address, %bytes = rt.string_parts %s
      return %bytes : i64
    }
    ```
  }];
  let arguments = (ins RT_StringType:$string);
  let results = (outs I64:$address, I64:$bytes);
  let assemblyFormat = "$string attr-dict";
  let hasFolder = 1;
}

def RT_AddressOfOp : RT_Op<"address_of", [Pure]> {
  let summary = "address of the first element of a constant";
  let description = [{
    The address is good as long as the operand's memory is, which nothing keeps
    alive for it: the operand is a constant, whose memory is the model's.

    ```mlir
    func.func @text() -> i64 {
      %text = arith.constant dense<[104, 105]> : tensor<2xi8>
      %address = rt.address_of %text : tensor<2xi8>
      return %address : i64
    }
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, AnyMemRef]>:$constant);
  let results = (outs I64:$address);
  let assemblyFormat = "$constant attr-dict `:` type($constant)";
}

def RT_CallOp : RT_Op<"call", [
    NoMemoryEffect, DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "a function of the runtime on scalars";
  let description = [{
    Calls function `callee` of the runtime (loopc-rt/runtime.h) with the run and
    the operands; a string is two arguments, its address and its bytes. The
    function's result depends on nothing but its operands, and calling it has no
    effect that another call would see: a string that it makes is in memory of
    the run. With `where`, the function may fail: it records an error that
    begins with this text, which comes last among its arguments, and the run
    ends with it; such a call is not moved to where it might not have happened.

    ```mlir
    func.func @concat(%a: !rt.string, %b: !rt.string) -> !rt.string {
      %c = rt.call "loopc_rt_string_concat"(%a, %b)
          : (!rt.string, !rt.string) -> !rt.string
      return %c : !rt.string
    }
    ```
  }];
  let arguments = (ins StrAttr:$callee, Variadic<AnyTypeOf<
      [AnySignlessInteger, F32, F64, RT_StringType]>>:$arguments,
      OptionalAttr<StrAttr>:$where);
  let results = (outs AnyTypeOf<[I32, I64, F32, F64, RT_StringType]>:$result);
  let assemblyFormat = [{
    $callee `(` $arguments `)` (`where` $where^)? attr-dict `:`
    functional-type($arguments, $result)
  }];
}

def RT_FourierOp : RT_Op<"fourier", [
    DestinationStyleOpInterface, AlwaysSpeculatable,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "discrete Fourier transforms";
  let description = [{
    The discrete Fourier transform along the last axis but one of `data`, whose
    last axis holds real and imaginary part:

      y[.., k] = sum of x[.., m] e^(-2 pi i k m / n) for 0 <= m < n

    or, with `inverse`, e^(2 pi i k m / n); nothing is divided by n. A buffer is
    transformed in place.

    ```mlir
    func.func @spectra(%frames: tensor<?x400x2xf64>) -> tensor<?x400x2xf64> {
      %y = rt.fourier %frames : tensor<?x400x2xf64>
      return %y : tensor<?x400x2xf64>
    }
    ```
  }];
  let arguments = (ins
      AnyTypeOf<[RankedTensorOf<[F64]>, MemRefOf<[F64]>]>:$data,
      UnitAttr:$inverse);
  let results = (outs Optional<RankedTensorOf<[F64]>>:$result);
  let builders = [OpBuilder<(ins "mlir::Value":$data, "bool":$inverse)>];
  let extraClassDeclaration = [{
    mlir::MutableOperandRange getDpsInitsMutable() { return getDataMutable(); }
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def RT_RandomStreamOp : RT_Op<"random_stream"> {
  let summary = "a new stream of random numbers";
  let description = [{
    A number that the numbers of a stream are computed from. Each execution is
    another stream: the operation is not moved or merged. With a seed, the k-th
    stream of a run is the same in each run.

    ```mlir
    func.func @stream() -> i64 {
      %stream = rt.random_stream seed 42
      return %stream : i64
    }
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$seed);
  // An allocation: two of them are not one, and an unused one is dropped.
  let results = (outs Res<I64, "", [MemAlloc]>:$stream);
  let assemblyFormat = "(`seed` $seed^)? attr-dict";
}

#endif // LOOPC_DIALECT_RT_IR_RTOPS_TD
