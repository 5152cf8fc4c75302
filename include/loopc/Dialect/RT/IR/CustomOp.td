//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// In a file of its own, since few look at it: RTOps.td is seen by all that
// lowers operators.

#ifndef LOOPC_DIALECT_RT_IR_CUSTOMOP_TD
#define LOOPC_DIALECT_RT_IR_CUSTOMOP_TD

include "loopc/Dialect/RT/IR/RTOps.td"

def RT_CustomOp : RT_Op<"custom", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "a call of an operator of a library";
  let description = [{
    Calls the operator that the variable `symbol` describes (loopc-rt/custom.h),
    which stands beside the model: in a library that a session has loaded, or in
    an object that it is linked with. What it is given:

    - `inputs` says what each input is in the model. A ranked tensor is one
      operand, whose elements lie in C order once it is a buffer; one of unknown
      rank is two, its elements and its shape; `none` is an input that the node
      leaves out, and no operand.
    - `outputs` says the same of outputs. Each that is not `none` is two results,
      elements and shape, in memory of the run that nobody else has. A rank that
      the type says is checked.
    - `node_attributes` are integers, floats, texts and lists of them.
    - `where` begins the message of an error, which ends the run.

    A `stateful` operator is called as often as the program says; another one
    returns the same for the same operands.

    ```mlir
    func.func @scale(%x: tensor<?x3xf32>) -> (tensor<?xf32>, tensor<?xi64>) {
      %y, %shape = rt.custom "loopc_op_scale"(%x) takes [tensor<?x3xf32>]
          gives [tensor<?x3xf32>] with {factor = 2.0 : f32} at "main/#0 Scale"
          : (tensor<?x3xf32>) -> (tensor<?xf32>, tensor<?xi64>)
      return %y, %shape : tensor<?xf32>, tensor<?xi64>
    }
    ```
  }];
  let arguments = (ins StrAttr:$symbol, Variadic<AnyType>:$values,
                       TypeArrayAttr:$inputs, TypeArrayAttr:$outputs,
                       DictionaryAttr:$node_attributes, StrAttr:$where,
                       UnitAttr:$stateful);
  let results = (outs Variadic<AnyType>:$parts);
  let assemblyFormat = [{
    $symbol `(` $values `)` (`stateful` $stateful^)? `takes` $inputs `gives`
    $outputs `with` $node_attributes `at` $where attr-dict `:`
    functional-type($values, $parts)
  }];
  let hasVerifier = 1;
}

#endif // LOOPC_DIALECT_RT_IR_CUSTOMOP_TD
