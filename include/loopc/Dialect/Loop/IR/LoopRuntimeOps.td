//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Operations that the runtime does: work on strings, random numbers, Fourier
// transforms.

#ifndef LOOPC_DIALECT_LOOP_IR_LOOPRUNTIMEOPS_TD
#define LOOPC_DIALECT_LOOP_IR_LOOPRUNTIMEOPS_TD

def Loop_String : Type<CPred<"::llvm::isa<::loopc::rt::StringType>($_self)">,
                       "a string", "::loopc::rt::StringType">,
                  BuildableType<"$_builder.getType<::loopc::rt::StringType>()">;

def Loop_StringOp : Loop_Op<"string", [Pure]> {
  let summary = "a string of an address and a number of bytes";
  let description = [{
    The text is not copied: it must stay where it is until the run ends.

    ```mlir
    func.func @string(%address: i64, %bytes: i64) -> !rt.string {
      %s = loop.string %address, %bytes
      return %s : !rt.string
    }
    ```
  }];
  let arguments = (ins I64:$address, I64:$bytes);
  let results = (outs Loop_String:$result);
  let assemblyFormat = "$address `,` $bytes attr-dict";
}

def Loop_StringPartsOp : Loop_Op<"string_parts", [Pure]> {
  let summary = "address and number of bytes of a string";
  let description = [{
    ```mlir
    func.func @bytes(%s: !rt.string) -> i64 {
      %address, %bytes = loop.string_parts %s
      return %bytes : i64
    }
    ```
  }];
  let arguments = (ins Loop_String:$string);
  let results = (outs I64:$address, I64:$bytes);
  let assemblyFormat = "$string attr-dict";
  let hasFolder = 1;
}

def Loop_AddressOfOp : Loop_Op<"address_of", [Pure]> {
  let summary = "address of the first element of a constant";
  let description = [{
    The address is good as long as the operand's memory is, which nothing keeps
    alive for it: the operand is a constant, whose memory is the model's.

    ```mlir
    func.func @text() -> i64 {
      %text = arith.constant dense<[104, 105]> : tensor<2xi8>
      %address = loop.address_of %text : tensor<2xi8>
      return %address : i64
    }
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, AnyMemRef]>:$constant);
  let results = (outs I64:$address);
  let assemblyFormat = "$constant attr-dict `:` type($constant)";
}

def Loop_CallOp : Loop_Op<"call", [
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
      %c = loop.call "loopc_rt_string_concat"(%a, %b)
          : (!rt.string, !rt.string) -> !rt.string
      return %c : !rt.string
    }
    ```
  }];
  let arguments = (ins StrAttr:$callee, Variadic<AnyTypeOf<
      [AnySignlessInteger, F32, F64, Loop_String]>>:$arguments,
      OptionalAttr<StrAttr>:$where);
  let results = (outs AnyTypeOf<[I32, I64, F32, F64, Loop_String]>:$result);
  let assemblyFormat = [{
    $callee `(` $arguments `)` (`where` $where^)? attr-dict `:`
    functional-type($arguments, $result)
  }];
}

def Loop_FourierOp : Loop_Op<"fourier", [
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
      %y = loop.fourier %frames : tensor<?x400x2xf64>
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

def Loop_RandomStreamOp : Loop_Op<"random_stream"> {
  let summary = "a new stream of random numbers";
  let description = [{
    A number that the numbers of a stream are computed from. Each execution is
    another stream: the operation is not moved or merged. With a seed, the k-th
    stream of a run is the same in each run.

    ```mlir
    func.func @stream() -> i64 {
      %stream = loop.random_stream seed 42
      return %stream : i64
    }
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$seed);
  // An allocation: two of them are not one, and an unused one is dropped.
  let results = (outs Res<I64, "", [MemAlloc]>:$stream);
  let assemblyFormat = "(`seed` $seed^)? attr-dict";
}

//===----------------------------------------------------------------------===//
// GPU
//===----------------------------------------------------------------------===//

def Loop_DeviceViewOp : Loop_Op<"device_view", [Pure, SameOperandsAndResultType]> {
  let summary = "memory of the host where kernels can read it";
  let description = [{
    A copy of `host` in memory of the GPU, which lives until the run ends; where
    the caller's input lies there already it is that. Neither is written
    afterwards. A `constant` is a weight of the model: it is copied once for all
    runs. A `shared` copy can be read by the host, too.

    ```mlir
    func.func @view(%x: memref<?x4xf32>) -> memref<?x4xf32> {
      %d = loop.device_view %x : memref<?x4xf32>
      return %d : memref<?x4xf32>
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$host, UnitAttr:$constant, UnitAttr:$shared);
  let results = (outs AnyMemRef:$device);
  let assemblyFormat = "$host attr-dict `:` type($host)";
}

def Loop_DeviceResultOp : Loop_Op<"device_result", [
    SameOperandsAndResultType, MemoryEffects<[MemRead, MemWrite, MemAlloc]>]> {
  let summary = "memory of the GPU as a result of the run";
  let description = [{
    A copy of `device` that the host can read after the next `loop.device_wait`,
    or the memory itself where the caller wants results on the GPU.

    ```mlir
    func.func @result(%d: memref<?x4xf32>) -> memref<?x4xf32> {
      %y = loop.device_result %d : memref<?x4xf32>
      return %y : memref<?x4xf32>
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$device);
  let results = (outs AnyMemRef:$host);
  let assemblyFormat = "$device attr-dict `:` type($device)";
}

def Loop_BarrierOp : Loop_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads of a kernel wait for one another";
  let description = [{
    What any thread of the grid wrote before is what every thread reads behind
    it. In kernels only.

    ```mlir
    func.func @step() {
      loop.barrier
      return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Loop_DeviceWaitOp : Loop_Op<"device_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the host waits for what the GPU was given to do";
  let description = [{
    Behind it the host reads what kernels and copies wrote. The run ends where a
    kernel failed, or a check in one.

    ```mlir
    func.func @wait() {
      loop.device_wait
      return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Loop_DeviceGraphOp : Loop_Op<"device_graph", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
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
    of the `handles` and goes on with `arguments`: `words` in all.

    ```mlir
    func.func @count(%n: i64) {
      %one = arith.constant 1 : index
      loop.device_graph [@kernels::@begin, @kernels::@step]
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

#endif // LOOPC_DIALECT_LOOP_IR_LOOPRUNTIMEOPS_TD
