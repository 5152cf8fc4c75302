//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Operations of LoopRuntimeOps.td: strings, calls of the runtime, transforms.

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace loopc::loop;

LogicalResult StringPartsOp::fold(FoldAdaptor,
                                  SmallVectorImpl<OpFoldResult> &results) {
  auto made = getString().getDefiningOp<StringOp>();
  if (!made)
    return failure();
  results.assign({made.getAddress(), made.getBytes()});
  return success();
}

Speculation::Speculatability CallOp::getSpeculatability() {
  return getWhere() ? Speculation::NotSpeculatable : Speculation::Speculatable;
}

//===----------------------------------------------------------------------===//
// FourierOp
//===----------------------------------------------------------------------===//

void FourierOp::build(OpBuilder &builder, OperationState &state, Value data,
                      bool inverse) {
  build(builder, state,
        isa<TensorType>(data.getType()) ? data.getType() : Type(), data,
        inverse);
}

ParseResult FourierOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand data;
  Type type;
  if (parser.parseOperand(data))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("inverse")))
    state.addAttribute(getInverseAttrName(state.name),
                       parser.getBuilder().getUnitAttr());
  if (parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperand(data, type, state.operands))
    return failure();
  if (isa<TensorType>(type))
    state.addTypes(type);
  return success();
}

void FourierOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getData();
  if (getInverse())
    printer << " inverse";
  printer.printOptionalAttrDict((*this)->getAttrs(), {getInverseAttrName()});
  printer << " : " << getData().getType();
}

LogicalResult FourierOp::verify() {
  auto type = cast<ShapedType>(getData().getType());
  if (type.getRank() < 2)
    return emitOpError("has data of rank ")
           << type.getRank() << ", expected at least 2";
  if (type.getShape().back() != 2)
    return emitOpError("the last axis of ")
           << type << " is not a real and an imaginary part";
  if (auto memref = dyn_cast<MemRefType>(type);
      memref && !memref.getLayout().isIdentity())
    return emitOpError("the elements of ")
           << type << " do not lie one behind the other";
  return success();
}

void FourierOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (!isa<MemRefType>(getData().getType()))
    return;
  effects.emplace_back(MemoryEffects::Read::get(), &getDataMutable());
  effects.emplace_back(MemoryEffects::Write::get(), &getDataMutable());
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

LogicalResult DeviceGraphOp::verify() {
  ArrayRef<int32_t> nodes = getNodes();
  if (nodes.empty() || nodes.size() % 4 != 0)
    return emitOpError("has nodes that are not four numbers each");
  int64_t numHandles = 0;
  size_t numKernels = 0;
  for (; !nodes.empty(); nodes = nodes.drop_front(4)) {
    int32_t body = nodes[0], handle = nodes[1], kernel = nodes[2];
    if (body < -1 || body >= numHandles)
      return emitOpError("has a node in the body of condition ")
             << body << ", which is not in front of it";
    if (handle == -1) {
      ++numKernels;
      if (kernel < 0 || kernel >= static_cast<int64_t>(getKernels().size()))
        return emitOpError("has a node that is kernel ")
               << kernel << " of " << getKernels().size();
    } else if (handle != numHandles++) {
      return emitOpError("has condition ")
             << handle << ", where number " << numHandles - 1 << " is next";
    }
  }
  if (static_cast<int64_t>(getHandles()) != numHandles)
    return emitOpError("has ")
           << numHandles << " conditions and handles for " << getHandles();
  if (getBlocks().size() != numKernels)
    return emitOpError("has ") << numKernels << " nodes that are kernels and "
                               << getBlocks().size() << " counts of blocks";
  if (getWords() < getHandles() + getArguments().size())
    return emitOpError("has a state of ")
           << getWords() << " words for " << getHandles() << " handles and "
           << getArguments().size() << " arguments";
  return success();
}
