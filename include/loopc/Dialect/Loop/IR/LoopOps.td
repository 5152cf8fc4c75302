//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_LOOP_IR_LOOPOPS_TD
#define LOOPC_DIALECT_LOOP_IR_LOOPOPS_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Loop_Dialect : Dialect {
  let name = "loop";
  let cppNamespace = "::loopc::loop";
  let summary = "Loops of models: counted, conditional, carrying, collecting";
  let description = [{
    The `loop` dialect holds one general loop, `loop.loop`, that serves ONNX
    Loop, OpenVINO Loop and TensorIterator, and TensorRT's loops; `loop.scan`
    for ONNX Scan; and the run-time checks that loops need. The operations work
    on tensors, sequences and optionals, lists, on scalars once one-element values
    were made scalars, and after bufferization on memrefs.

    The rules are those of the specification, docs/Spec.md; their labels
    (`loop_zero`) stand in the descriptions below.
  }];
  // Canonicalisations make constants, casts and slices.
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

/// Calls verifyBody() once the body's operations are verified and before any
/// other trait or interface looks at the body: listed first, so that the
/// interfaces' verifiers, which take the body for granted and whose messages say
/// less, see only loops whose yield fits.
def Loop_BodyVerified : NativeOpTrait<"BodyVerified"> {
  let cppNamespace = "::loopc::loop";
}

class Loop_Op<string mnemonic, list<Trait> traits = []>
    : Op<Loop_Dialect, mnemonic, traits>;

def Loop_LoopOp : Loop_Op<"loop", [
    AttrSizedOperandSegments, SingleBlock, Loop_BodyVerified,
    RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>,
    DeclareOpInterfaceMethods<LoopLikeOpInterface,
        ["getRegionIterArgs", "getYieldedValuesMutable",
         "getLoopResults",
         "replaceWithAdditionalYields", "getStaticTripCount"]>,
    DeclareOpInterfaceMethods<RegionBranchOpInterface,
        ["getEntrySuccessorOperands", "getEntrySuccessorRegions",
         "getRegionInvocationBounds"]>]> {
  let summary = "a counted or conditional loop with carried, sliced and collected values";
  let description = [{
    Runs its body while `i < trips` (where a trip count is given: `loop_m`) and
    the condition holds (where one is given: `loop_cond`). Both are tested
    before every iteration, the first included (`loop_test`). Without a trip
    count there is no limit; a trip count of zero or less means no iteration.
    Without a condition the one that the body yields is computed and ignored
    (`loop_cond_ignored`). A loop that never ends can be cancelled
    (`loop_cancel`).

    The body's arguments are (`loop_args`): the iteration number, counted from
    0; the condition; N carried values; S slices. Carried values have one type
    as init, argument, yielded value and result (`loop_carried`). A slice is
    element `i` of its value along `axis`, that axis removed, or element
    `count - 1 - i` where it is reversed (`loop_slice`): `count` is the trip
    count where one is given, else the extent. Reading past the extent ends the
    run with an error. Axes count from 0. The body may use any value defined
    outside and mutates none (`loop_capture`).

    The body ends in `loop.yield` with the condition, N carried and K collected
    values (`loop_yield`). The results are the last carried values, then the
    collected ones (`loop_results`): iteration `i`'s value stands at index `i`
    of a new axis `axis`, or at `n - 1 - i` where reversed (`loop_collect`);
    all iterations yield one shape or the run ends with an error
    (`loop_collect_shape`). A collected value is exactly as long as the trips
    run; where a `length` is given, as long as that, padded with zero, and more
    trips are an error (`loop_collect_length`).

    After zero trips (`loop_zero`) the carried results are the inits and the
    collected results have length 0 and the element shape that the types say,
    0 for a dimension that they do not say.

    All yielded values of an iteration are read before any carried value is
    replaced (`loop_parallel_assign`), and iterations are as if run in order
    (`loop_order`).

    The trip count, the condition, the lengths, the body's first two arguments
    and the yielded condition are scalars, or tensors or memrefs of one element;
    one may be of rank 0 where another has one dimension. A slice and a collected
    value may be a scalar where their tensor would be of rank 0.

    An operation imported from ONNX has `since_version`, one of Loop's versions,
    which holds the tensors, sequences and optionals that are carried or
    collected to the types of that version (`loop_types`). A pass that carries
    tensors of other types drops the attribute.

    A port that nobody reads may be removed, and with it the run-time errors
    that only it could have given; so may a whole loop that nobody reads and
    that has no effects, whether it would have ended or not.

    All clauses may be left out; they stand in this order:

    ```
    operation ::= `loop.loop` `(` arg `,` arg `)`          the number and the condition
                  (`trips` `(` value `)`)? (`while` `(` value `)`)?
                  (`carried` `(` bound (`,` bound)* `)`)?
                  (`slices` `(` slice (`,` slice)* `)`)?
                  (`collect` `(` collected (`,` collected)* `)`)?
                  (`since` integer)? (`attributes` attr-dict)? region
    bound     ::= ssa-id `=` value
    slice     ::= bound axis `->` type                     the type of an element
    collected ::= type axis (`length` `(` value `)`)?      the type of the result
    axis      ::= `axis` integer `reverse`?
    arg, value ::= ssa-id `:` type
    ```

    Example: `x` is halved until it is below one; all values are kept.

    ```mlir
    func.func @halve(%m: tensor<i64>, %c0: tensor<i1>, %x0: tensor<f32>)
        -> (tensor<f32>, tensor<?xf32>) {
      %half = arith.constant dense<0.5> : tensor<f32>
      %one = arith.constant dense<1.0> : tensor<f32>
      %last, %all = loop.loop (%i : tensor<i64>, %c : tensor<i1>)
          trips(%m : tensor<i64>) while(%c0 : tensor<i1>)
          carried(%x = %x0 : tensor<f32>)
          collect(tensor<?xf32> axis 0) {
        %y = arith.mulf %x, %half : tensor<f32>
        %go = arith.cmpf oge, %y, %one : tensor<f32>
        loop.yield while(%go : tensor<i1>) carried(%y : tensor<f32>)
            collect(%y : tensor<f32>)
      }
      return %last, %all : tensor<f32>, tensor<?xf32>
    }
    ```

    Example: the columns of `x` from the last one on, their sums in the columns'
    order, and the columns again in a tensor with room for `n` of them.

    ```mlir
    func.func @columns(%x: tensor<5x?xf32>, %s0: tensor<5xf32>, %m: i64, %n: i64)
        -> (tensor<5x?xf32>, tensor<?x5xf32>) {
      %true = arith.constant true
      %sum, %sums, %rows = loop.loop (%i : i64, %c : i1) trips(%m : i64)
          carried(%s = %s0 : tensor<5xf32>)
          slices(%column = %x : tensor<5x?xf32> axis 1 reverse -> tensor<5xf32>)
          collect(tensor<5x?xf32> axis 1 reverse,
                  tensor<?x5xf32> axis 0 length(%n : i64)) {
        %t = arith.addf %s, %column : tensor<5xf32>
        loop.yield while(%true : i1) carried(%t : tensor<5xf32>)
            collect(%t, %column : tensor<5xf32>, tensor<5xf32>)
      }
      return %sums, %rows : tensor<5x?xf32>, tensor<?x5xf32>
    }
    ```
  }];

  let arguments = (ins Optional<AnyType>:$trip_count,
                       Optional<AnyType>:$condition,
                       Variadic<AnyType>:$inits,
                       Variadic<AnyType>:$slices,
                       Variadic<AnyType>:$lengths,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$slice_axes,
                       DefaultValuedAttr<DenseBoolArrayAttr, "{}">:$slice_reverse,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$collect_axes,
                       DefaultValuedAttr<DenseBoolArrayAttr, "{}">:$collect_reverse,
                       DefaultValuedAttr<DenseBoolArrayAttr, "{}">:$collect_has_length,
                       OptionalAttr<I64Attr>:$since_version);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);

  let skipDefaultBuilders = 1;
  let builders = [
    /// Builds a loop with an empty body block whose arguments are there. The
    /// iteration number and the condition get `counterType`, `conditionType`.
    OpBuilder<(ins "::mlir::Type":$counterType, "::mlir::Type":$conditionType,
      "::mlir::Value":$tripCount, "::mlir::Value":$condition,
      "::mlir::ValueRange":$inits)>,
    /// Builds a loop of `signature`, with an empty body block whose arguments
    /// are there.
    OpBuilder<(ins "const ::loopc::loop::LoopSignature &":$signature)>];

  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;

  let extraClassDeclaration = [{
    /// The block of the body.
    ::mlir::Block *getLoopBody() { return &getBody().front(); }
    ::loopc::loop::YieldOp getYield();
    /// Argument for the iteration number, counted from 0.
    ::mlir::BlockArgument getCounter() { return getLoopBody()->getArgument(0); }
    /// Argument for the condition.
    ::mlir::BlockArgument getConditionArg() { return getLoopBody()->getArgument(1); }
    ::mlir::Block::BlockArgListType getCarriedArgs() {
      return getLoopBody()->getArguments().slice(2, getNumCarried());
    }
    ::mlir::Block::BlockArgListType getSliceArgs() {
      return getLoopBody()->getArguments().drop_front(2 + getNumCarried());
    }
    unsigned getNumCarried() { return getInits().size(); }
    unsigned getNumCollected() { return getNumResults() - getNumCarried(); }
    ::mlir::ResultRange getCarriedResults() {
      return getResults().take_front(getNumCarried());
    }
    ::mlir::ResultRange getCollectedResults() {
      return getResults().drop_front(getNumCarried());
    }
    /// The length operand of collected value `k`; null where it has none.
    ::mlir::Value getLengthOf(unsigned k);
    /// Holds the yield to the loop's ports; see BodyVerified.
    ::llvm::LogicalResult verifyBody();
    /// True if the loop is known to end: a trip count is given.
    bool isKnownToEnd() { return static_cast<bool>(getTripCount()); }
  }];
}

def Loop_ScanOp : Loop_Op<"scan", [
    AttrSizedOperandSegments, SingleBlock, Loop_BodyVerified,
    RecursiveMemoryEffects, DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "ONNX Scan: states carried over the slices of inputs";
  let description = [{
    Runs its body once for each element of the scan inputs along their axes. The
    body has N + M arguments, N states and M slices with their axis removed
    (`scan_args`), and yields N states and K values (`scan_yield`) that are
    stacked along a new axis. Axes count from the end where negative; an output
    axis counts in the output's rank (`scan_axes`). Directions: reversed inputs
    are read from the end, reversed outputs are written from the end. All scan
    inputs have one length, or the run ends with an error (`scan_lengths`).
    States keep their shape (`scan_state_shape`).

    Zero trips (length 0): the initial states, and collected values of length 0.

    With `batched` it is Scan-8 (`scan8_batch`): axis 0 of every operand and
    result is a batch, axis 1 of scan inputs and outputs the sequence (the only
    axis that there is to name); the body sees neither. Outputs are not
    reversed. `sequence_lens` gives the length of each batch item
    (`scan8_lengths`).

    States have one type as init, result and, but for the batch, inside. All
    values are tensors; `since_version` is one of Scan's versions and holds them
    to its types (`loop_types`).

    ```mlir
    func.func @sums(%s0: tensor<2xf32>, %x: tensor<3x2xf32>)
        -> (tensor<2xf32>, tensor<3x2xf32>) {
      %s, %y = loop.scan states(%a = %s0 : tensor<2xf32>)
          inputs(%b = %x : tensor<3x2xf32> axis 0 -> tensor<2xf32>)
          outputs(tensor<3x2xf32> axis 0) {
        %c = arith.addf %a, %b : tensor<2xf32>
        loop.yield carried(%c : tensor<2xf32>) collect(%c : tensor<2xf32>)
      }
      return %s, %y : tensor<2xf32>, tensor<3x2xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inits,
                       Variadic<AnyType>:$inputs,
                       Optional<AnyType>:$sequence_lens,
                       DenseI64ArrayAttr:$input_axes,
                       DenseBoolArrayAttr:$input_reverse,
                       DenseI64ArrayAttr:$output_axes,
                       DenseBoolArrayAttr:$output_reverse,
                       UnitAttr:$batched,
                       OptionalAttr<I64Attr>:$since_version);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *getScanBody() { return &getBody().front(); }
    ::loopc::loop::YieldOp getYield();
    unsigned getNumStates() { return getInits().size(); }
    unsigned getNumOutputs() { return getNumResults() - getNumStates(); }
    /// Holds the yield to the scan's ports; see BodyVerified.
    ::llvm::LogicalResult verifyBody();
  }];
}

def Loop_YieldOp : Loop_Op<"yield", [
    AttrSizedOperandSegments, Pure, Terminator,
    ParentOneOf<["LoopOp", "ScanOp"]>,
    DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface,
                              ["getSuccessorRegions"]>]> {
  let summary = "end of an iteration";
  let description = [{
    Gives the condition of the next iteration (in `loop.loop` only), the carried
    values of the next iteration and the values to collect (`loop_yield`,
    `scan_yield`).

    ```mlir
    func.func @count(%m: i64, %x0: i64) -> i64 {
      %true = arith.constant true
      %r = loop.loop (%i : i64, %c : i1) trips(%m : i64) carried(%x = %x0 : i64) {
        %y = arith.addi %x, %i : i64
        loop.yield while(%true : i1) carried(%y : i64)
      }
      return %r : i64
    }
    ```
  }];
  let arguments = (ins Optional<AnyType>:$condition,
                       Variadic<AnyType>:$carried,
                       Variadic<AnyType>:$collected);
  let assemblyFormat = [{
    (`while` `(` $condition^ `:` type($condition) `)`)?
    (`carried` `(` $carried^ `:` type($carried) `)`)?
    (`collect` `(` $collected^ `:` type($collected) `)`)? attr-dict
  }];
}

def Loop_CheckOp : Loop_Op<"check", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "ends the run with an error where a condition does not hold";
  let description = [{
    Where `condition` is false the run ends with `message`, in which each `{}`
    stands for the next of `values` and each `{*}` for a shape: the next of
    `values` is its rank, the 8 behind it are its first extents (those beyond
    the rank are not written). `iteration` is the number of the innermost
    loop's iteration. Checks are not moved to where they might not have
    happened (`loop_order`).

    A `guarded` check was one of the body of a loop behind it (loop-hoist-checks):
    where that loop has no iteration the condition holds whatever the rest of it
    says. Code that leaves the body may not count on it.

    ```mlir
    func.func @check(%a: index, %b: index) {
      %same = arith.cmpi eq, %a, %b : index
      loop.check %same, "Add 'a': {} and {} do not broadcast" (%a, %b : index, index)
      return
    }
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$message,
                       Variadic<AnySignlessIntegerOrIndex>:$values,
                       Optional<AnySignlessIntegerOrIndex>:$iteration,
                       UnitAttr:$guarded);
  let assemblyFormat = [{
    (`guarded` $guarded^)? $condition `,` $message
    (`(` $values^ `:` type($values) `)`)?
    (`iteration` $iteration^ `:` type($iteration))? attr-dict
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Loop_PollOp : Loop_Op<"poll", [MemoryEffects<[MemWrite]>]> {
  let summary = "ends the run where it was cancelled or its time is over";
  let description = [{
    Placed into loops by the lowering, in strips so that tight loops stay
    vectorised (`loop_cancel`).

    ```mlir
    func.func @poll() {
      loop.poll
      return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Loop_ReserveOp : Loop_Op<"reserve", [
    Pure, AllTypesMatch<["buffer", "result"]>]> {
  let summary = "a buffer with room for what is going to be added";
  let description = [{
    `buffer` holds `used` elements along `axis`, from `offset` on. The result
    holds the same ones from the resulting offset on, with room for at least
    `front` more before and `back` more behind them. It is `buffer` itself where
    there is room, else a buffer of at least twice the size that is needed, so
    that adding to it again and again costs what is added. Other elements of the
    result are whatever they are.

    In a larger buffer the free room is behind the elements where `front` is 0,
    before them where `back` is 0, else on both sides.

    ```mlir
    func.func @room(%b: tensor<8x?x4xf32>, %used: index)
        -> (tensor<8x?x4xf32>, index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r, %at = loop.reserve %b at %c0 used %used front %c0 back %c1 axis 1
          : tensor<8x?x4xf32>
      return %r, %at : tensor<8x?x4xf32>, index
    }
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, AnyMemRef]>:$buffer,
                       Index:$offset, Index:$used, Index:$front, Index:$back,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$axis);
  let results = (outs AnyTypeOf<[AnyRankedTensor, AnyMemRef]>:$result,
                      Index:$result_offset);
  let assemblyFormat = [{
    $buffer `at` $offset `used` $used `front` $front `back` $back
    `axis` $axis attr-dict `:` type($buffer)
  }];
  let hasVerifier = 1;
}

#endif // LOOPC_DIALECT_LOOP_IR_LOOPOPS_TD
