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

#include "loopc/Dialect/Loop/IR/LoopcAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

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
    "rare",          "scratch",  "separate",   "slices",      "tiled",
    "weight"};

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

LoopcAttributes::LoopcAttributes(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<LoopcAttributes>()) {}

LogicalResult
LoopcAttributes::verifyOperationAttribute(Operation *op,
                                          NamedAttribute attribute) {
  return verifyName(op, attribute, kOperationAttributes, "");
}

LogicalResult
LoopcAttributes::verifyRegionArgAttribute(Operation *op, unsigned region,
                                          unsigned argument,
                                          NamedAttribute attribute) {
  Region &body = op->getRegion(region);
  Type type = argument < body.getNumArguments()
                  ? body.getArgument(argument).getType()
                  : Type();
  return verifyPort(op, attribute, type, "argument", argument);
}

LogicalResult LoopcAttributes::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  Type type = function && result < function.getNumResults()
                  ? function.getResultTypes()[result]
                  : Type();
  return verifyPort(op, attribute, type, "result", result);
}

MLIR_DEFINE_EXPLICIT_TYPE_ID(loopc::LoopcAttributes)
