//===- SectionOps.td - Calls of sections ------------------*- tablegen -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// In a file of its own, since few look at it: Loopc.h is seen by most passes.

#ifndef LOOPC_DIALECT_LOOPC_IR_SECTIONOPS_TD
#define LOOPC_DIALECT_LOOPC_IR_SECTIONOPS_TD

include "loopc/Dialect/Loopc/IR/LoopcDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"

def Loopc_CallSectionOp : Op<Loopc_Dialect, "call_section", [
    DeclareOpInterfaceMethods<CallOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "call of a section, in whose place the section is inlined again";
  let description = [{
    `cpu-cut-sections` moves a piece of a block into a function that is marked
    `loopc.section`, and leaves this call; `cpu-join-sections` puts the piece
    back. Between the two, passes work on sections in parallel.

    One section may stand for several that differ in labels alone: locations,
    names of constants, messages of checks. `labels` then are pairs, each label
    of the section in front of the one that takes its place for this call. They
    are a part of the operation, so that no pass can lose them.

    Verified: the callee is a section of these operands and results, and labels
    are pairs of locations, of symbols, or of strings.

    ```mlir
    func.func private @piece(%n: index) -> index attributes {loopc.section} {
      return %n : index
    }
    func.func @whole(%n: index) -> index {
      %r = loopc.call_section @piece(%n) with ["layer 1", "layer 2"]
          : (index) -> index
      return %r : index
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$inputs,
                       DefaultValuedAttr<ArrayAttr, "{}">:$labels);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = [{
    $callee `(` $inputs `)` (`with` $labels^)? attr-dict `:`
    functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    // Arguments and results of a section have no attributes.
    ::mlir::ArrayAttr getArgAttrsAttr() { return nullptr; }
    ::mlir::ArrayAttr getResAttrsAttr() { return nullptr; }
    void setArgAttrsAttr(::mlir::ArrayAttr) {}
    void setResAttrsAttr(::mlir::ArrayAttr) {}
    ::mlir::Attribute removeArgAttrsAttr() { return nullptr; }
    ::mlir::Attribute removeResAttrsAttr() { return nullptr; }
  }];
}

#endif // LOOPC_DIALECT_LOOPC_IR_SECTIONOPS_TD
