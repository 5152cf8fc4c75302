//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The discardable attributes 'loopc.*': names of ports and dimensions, and what
// one pass leaves for another. They have a namespace, and so a verifier: MLIR
// asks the dialect of that name about each attribute, where it is loaded, which
// a parser does that finds one.

#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

#include "loopc/Dialect/Loopc/IR/LoopcDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "loopc/Dialect/Loopc/IR/LoopcAttributes.cpp.inc"

using namespace mlir;
using namespace loopc;

/// What stands at arguments and results of the model's function.
static constexpr StringLiteral kPortAttributes[] = {
    "declared", "declared_dims", "default",    "dims", "name",
    "shape_of", "state",         "state_flag", "type"};

/// What stands at operations. A pass that leaves a new one adds it here.
static constexpr StringLiteral kOperationAttributes[] = {
    "cluster",       "clusters", "conditions", "cooperative", "entry",
    "fixed_storage", "guarded",  "inputs",     "ir_version",  "messages",
    "model",         "nest",     "number",     "outputs",     "parallel",
    "part",          "part_end", "private",    "producer",    "product",
    "rare",          "scratch",  "separate",   "slices",      "target",
    "tiled",         "weight"};

/// An error of `op` unless `attribute` has one of the names `known`.
static LogicalResult verifyName(Operation *op, NamedAttribute attribute,
                                ArrayRef<StringLiteral> known,
                                StringRef where) {
  StringRef name = attribute.getName().getValue();
  name.consume_front("loopc.");
  if (llvm::is_contained(known, name))
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "has the unknown attribute 'loopc." << name
                            << "'" << where << ", known are ";
  llvm::interleaveComma(
      known, diag, [&](StringRef one) { diag << "'loopc." << one << "'"; });
  return diag;
}

/// The attributes that front ends give and later stages read by name.
static LogicalResult verifyPort(Operation *op, NamedAttribute attribute,
                                Type type, StringRef kind, unsigned index) {
  std::string where = (" at " + kind + " #" + Twine(index)).str();
  if (failed(verifyName(op, attribute, kPortAttributes, where)))
    return failure();
  auto fail = [&](StringRef what) {
    return op->emitOpError() << "attribute '" << attribute.getName().getValue()
                             << "'" << where << " must be " << what;
  };
  StringRef name = attribute.getName().getValue();
  if (name == "loopc.name" && !isa<StringAttr>(attribute.getValue()))
    return fail("a string");
  bool isType = name == "loopc.type" || name == "loopc.declared";
  if (isType && !isa<TypeAttr>(attribute.getValue()))
    return fail("a type");
  if (name != "loopc.dims" && name != "loopc.declared_dims")
    return success();
  auto names = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!names || !llvm::all_of(names, llvm::IsaPred<StringAttr>))
    return fail("an array of strings");
  if (name == "loopc.declared_dims") // Of another type than the value's.
    return success();
  auto shaped = dyn_cast<ShapedType>(type);
  if (shaped && shaped.hasRank() &&
      static_cast<int64_t>(names.size()) != shaped.getRank())
    return op->emitOpError()
           << "attribute 'loopc.dims'" << where << " has " << names.size()
           << " names for a value of rank " << shaped.getRank();
  return success();
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 unsigned vectorBits, unsigned registers,
                                 unsigned maskBits, unsigned dotBits,
                                 bool scales) {
  if (vectorBits < 64 || !llvm::isPowerOf2_32(vectorBits))
    return emitError() << "vector_bits must be a power of two, 64 at least; it "
                          "is "
                       << vectorBits;
  if (registers == 0)
    return emitError() << "registers must be positive";
  if (!llvm::is_contained({0u, 8u, 16u, 32u, 64u}, maskBits))
    return emitError() << "mask_bits must be 0, 8, 16, 32 or 64; it is "
                       << maskBits;
  if (!llvm::is_contained({0u, 8u, 16u}, dotBits))
    return emitError() << "dot_bits must be 0, 8 or 16; it is " << dotBits;
  return success();
}

VectorUnit loopc::getVectorUnit(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  auto target = module ? module->getAttrOfType<TargetAttr>(kTargetAttrName)
                       : TargetAttr();
  if (!target)
    return {};
  return {target.getVectorBits(), target.getRegisters(), target.getMaskBits(),
          target.getScales(), target.getDotBits()};
}

void LoopcDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "loopc/Dialect/Loopc/IR/LoopcAttributes.cpp.inc"
      >();
}

LogicalResult LoopcDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  if (attribute.getName() == kTargetAttrName &&
      !(isa<ModuleOp>(op) && isa<TargetAttr>(attribute.getValue())))
    return op->emitOpError()
           << "has an attribute 'loopc.target': it must be a #loopc.target, at "
              "a module";
  return verifyName(op, attribute, kOperationAttributes, "");
}

LogicalResult LoopcDialect::verifyRegionArgAttribute(Operation *op,
                                                     unsigned region,
                                                     unsigned argument,
                                                     NamedAttribute attribute) {
  Region &body = op->getRegion(region);
  Type type = argument < body.getNumArguments()
                  ? body.getArgument(argument).getType()
                  : Type();
  return verifyPort(op, attribute, type, "argument", argument);
}

LogicalResult LoopcDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  Type type = function && result < function.getNumResults()
                  ? function.getResultTypes()[result]
                  : Type();
  return verifyPort(op, attribute, type, "result", result);
}
