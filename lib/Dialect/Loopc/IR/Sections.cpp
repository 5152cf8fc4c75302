//===- Sections.cpp - Calls of sections -----------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loopc/IR/Sections.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#define GET_OP_CLASSES
#include "loopc/Dialect/Loopc/IR/SectionOps.cpp.inc"

using namespace mlir;
using namespace loopc;

CallInterfaceCallable CallSectionOp::getCallableForCallee() {
  return getCalleeAttr();
}

void CallSectionOp::setCalleeFromCallable(CallInterfaceCallable callee) {
  setCalleeAttr(cast<FlatSymbolRefAttr>(cast<SymbolRefAttr>(callee)));
}

Operation::operand_range CallSectionOp::getArgOperands() { return getInputs(); }

MutableOperandRange CallSectionOp::getArgOperandsMutable() {
  return getInputsMutable();
}

/// Whether labels are pairs of the same kind.
LogicalResult CallSectionOp::verify() {
  auto isPair = [](Attribute one, Attribute other) {
    return (isa<LocationAttr>(one) && isa<LocationAttr>(other)) ||
           (isa<SymbolRefAttr>(one) && isa<SymbolRefAttr>(other)) ||
           (isa<StringAttr>(one) && isa<StringAttr>(other));
  };
  ArrayAttr labels = getLabels();
  bool arePairs = labels.size() % 2 == 0;
  for (size_t k = 0; arePairs && k < labels.size(); k += 2)
    arePairs = isPair(labels[k], labels[k + 1]);
  if (arePairs)
    return success();
  return emitOpError() << "needs labels that are pairs of locations, of "
                          "symbols or of strings";
}

LogicalResult
CallSectionOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto section = symbolTable.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getCalleeAttr());
  if (!section || !section->hasAttr(kSectionAttrName))
    return emitOpError() << "calls " << getCalleeAttr()
                         << ", which is no function that is marked '"
                         << kSectionAttrName << "'";
  if (!llvm::equal(section.getArgumentTypes(), getInputs().getTypes()) ||
      !llvm::equal(section.getResultTypes(), getResultTypes()))
    return emitOpError() << "needs the operands and results of "
                         << getCalleeAttr();
  return success();
}
