//===- RT.cpp - The types of what the runtime is given --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/RT/IR/RT.h"
#include "loopc/Dialect/RT/IR/CustomOp.h"
#include "loopc/Dialect/RT/IR/TypeConversion.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace loopc::rt;

#include "loopc/Dialect/RT/IR/RTDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "loopc/Dialect/RT/IR/RTTypes.cpp.inc"

#define GET_OP_CLASSES
#include "loopc/Dialect/RT/IR/RTOps.cpp.inc"

namespace {
struct RTToLLVM : ConvertToLLVMPatternInterface {
  using ConvertToLLVMPatternInterface::ConvertToLLVMPatternInterface;

  void loadDependentDialects(MLIRContext *context) const final {
    context->loadDialect<LLVM::LLVMDialect>();
  }
  void
  populateConvertToLLVMConversionPatterns(ConversionTarget &,
                                          LLVMTypeConverter &converter,
                                          RewritePatternSet &) const final {
    addTypeConversions(converter);
  }
};
} // namespace

void RTDialect::initialize() {
  addInterfaces<RTToLLVM>();
  addTypes<
#define GET_TYPEDEF_LIST
#include "loopc/Dialect/RT/IR/RTTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "loopc/Dialect/RT/IR/RTOps.cpp.inc"
      >();
  addOperations<CustomOp>();
}

BlockArgument loopc::rt::findRun(FunctionOpInterface function) {
  if (function.isExternal())
    return {};
  for (BlockArgument argument : function.getArguments())
    if (isa<RunType>(argument.getType()))
      return argument;
  return {};
}

void loopc::rt::addTypeConversions(LLVMTypeConverter &converter) {
  converter.addConversion([](RunType type) {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  converter.addConversion([](StringType type) {
    Type word = IntegerType::get(type.getContext(), 64);
    return LLVM::LLVMStructType::getLiteral(type.getContext(), {word, word});
  });
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

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
