//===- CustomOp.cpp - Calls of operators of a library ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/RT/IR/CustomOp.h"
#include "loopc/Support/StoredElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace loopc::rt;

#define GET_OP_CLASSES
#include "loopc/Dialect/RT/IR/CustomOp.cpp.inc"

Speculation::Speculatability CustomOp::getSpeculatability() {
  // It may fail.
  return Speculation::NotSpeculatable;
}

void CustomOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getValuesMutable())
    if (isa<MemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  for (OpResult part : getParts())
    if (isa<MemRefType>(part.getType())) {
      effects.emplace_back(MemoryEffects::Allocate::get(), part);
      effects.emplace_back(MemoryEffects::Write::get(), part);
    }
  if (getStateful())
    effects.emplace_back(MemoryEffects::Write::get());
}

/// The element type that `declared`, a type of the model, has in code.
static Type signlessElement(Type declared) {
  Type element = getElementTypeOrSelf(declared);
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  return element;
}

/// Holds the values that stand for tensors of the types `declared` against
/// them. `alwaysFlat`: a ranked one comes as elements and shape, too.
static LogicalResult verifyParts(CustomOp op, ArrayAttr declared,
                                 TypeRange parts, bool alwaysFlat,
                                 StringRef what) {
  auto take = [&](Type element, std::optional<int64_t> rank) {
    if (parts.empty())
      return false;
    auto type = dyn_cast<ShapedType>(parts.front());
    parts = parts.drop_front();
    return type && type.hasRank() && loopc::hasElements(type, element) &&
           (!rank || type.getRank() == *rank);
  };
  for (auto [k, attribute] : llvm::enumerate(declared)) {
    Type type = cast<TypeAttr>(attribute).getValue();
    if (isa<NoneType>(type))
      continue;
    auto tensor = dyn_cast<TensorType>(type);
    if (!tensor)
      return op.emitOpError() << what << " #" << k << " is a " << type
                              << ", expected a tensor or none";
    bool isFlat = alwaysFlat || !tensor.hasRank();
    std::optional<int64_t> rank =
        isFlat ? 1 : std::optional<int64_t>(tensor.getRank());
    Type i64 = IntegerType::get(op.getContext(), 64);
    if (!take(signlessElement(tensor), rank) || (isFlat && !take(i64, 1)))
      return op.emitOpError()
             << what << " #" << k << " of type " << type << " must be "
             << (isFlat ? "its elements and its shape (i64), each of rank 1"
                        : "one tensor or memref of that rank");
  }
  if (!parts.empty())
    return op.emitOpError() << "has " << parts.size()
                            << " more values than its " << what << "s are";
  return success();
}

static bool isAttributeValue(Attribute value) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return integer.getType().isInteger(64);
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getType().isF32();
  if (auto list = dyn_cast<ArrayAttr>(value))
    return llvm::all_of(list, llvm::IsaPred<StringAttr>);
  return isa<StringAttr, DenseI64ArrayAttr, DenseF32ArrayAttr>(value);
}

LogicalResult CustomOp::verify() {
  if (!getSymbol().starts_with(kCustomPrefix))
    return emitOpError("'symbol' must begin with \"")
           << kCustomPrefix << "\" but is \"" << getSymbol() << "\"";
  for (NamedAttribute attribute : getNodeAttributes())
    if (!isAttributeValue(attribute.getValue()))
      return emitOpError("attribute '")
             << attribute.getName().getValue()
             << "' is no integer (i64), float (f32), text or list of such";
  return success(
      succeeded(verifyParts(*this, getInputs(), getValues().getTypes(),
                            /*alwaysFlat=*/false, "input")) &&
      succeeded(verifyParts(*this, getOutputs(), getParts().getTypes(),
                            /*alwaysFlat=*/true, "output")));
}
