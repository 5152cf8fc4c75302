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
#include "loopc/Dialect/Loopc/IR/DeclaredResults.h"
#include "loopc/Dialect/Loopc/IR/LibraryCalls.h"
#include "loopc/Dialect/Loopc/IR/Outputs.h"
#include "loopc/Dialect/Loopc/IR/Panels.h"
#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "loopc/Dialect/Loopc/IR/Sections.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Regex.h"

#include "loopc/Dialect/Loopc/IR/LoopcDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "loopc/Dialect/Loopc/IR/LoopcAttributes.cpp.inc"

using namespace mlir;
using namespace loopc;

namespace {
/// What the value of an attribute is.
enum class Kind {
  Any,
  Unit,
  String,
  Integer,
  Integers,
  Strings,
  Array,
  Type,
  Elements,
  Target
};

struct KnownAttribute {
  StringLiteral name;
  Kind kind;
  /// Names of the operations that it may stand at, with blanks between them;
  /// empty for ports.
  StringLiteral operations;
};
} // namespace

static constexpr KnownAttribute kOperationAttributes[] = {
#define LOOPC_ATTRIBUTE(NAME, KIND, OPERATIONS, MEANING)                       \
  {#NAME, Kind::KIND, OPERATIONS},
#include "loopc/Dialect/Loopc/IR/Attributes.def"
};

static constexpr KnownAttribute kPortAttributes[] = {
#define LOOPC_PORT_ATTRIBUTE(NAME, KIND, MEANING) {#NAME, Kind::KIND, ""},
#include "loopc/Dialect/Loopc/IR/Attributes.def"
};

static StringRef describe(Kind kind) {
  switch (kind) {
  case Kind::Any:
    return "a value";
  case Kind::Unit:
    return "without a value";
  case Kind::String:
    return "a string";
  case Kind::Integer:
    return "an integer";
  case Kind::Integers:
    return "an array<i32>";
  case Kind::Strings:
    return "an array of strings";
  case Kind::Array:
    return "an array";
  case Kind::Type:
    return "a type";
  case Kind::Elements:
    return "elements";
  case Kind::Target:
    return "a #loopc.target";
  }
  llvm_unreachable("a kind that Kind does not have");
}

static bool isOf(Kind kind, Attribute value) {
  switch (kind) {
  case Kind::Any:
    return true;
  case Kind::Unit:
    return isa<UnitAttr>(value);
  case Kind::String:
    return isa<StringAttr>(value);
  case Kind::Integer:
    return isa<IntegerAttr>(value);
  case Kind::Integers:
    return isa<DenseI32ArrayAttr>(value);
  case Kind::Strings: {
    auto array = dyn_cast<ArrayAttr>(value);
    return array && llvm::all_of(array, llvm::IsaPred<StringAttr>);
  }
  case Kind::Array:
    return isa<ArrayAttr>(value);
  case Kind::Type:
    return isa<TypeAttr>(value);
  case Kind::Elements:
    return isa<ElementsAttr>(value);
  case Kind::Target:
    return isa<TargetAttr>(value);
  }
  llvm_unreachable("a kind that Kind does not have");
}

/// The row of `table` for `attribute`; null, and an error of `op`, where there
/// is none or the value is of another kind.
static const KnownAttribute *verify(Operation *op, NamedAttribute attribute,
                                    ArrayRef<KnownAttribute> table,
                                    StringRef where) {
  StringRef name = attribute.getName().getValue();
  name.consume_front("loopc.");
  const auto *row = llvm::find_if(
      table, [&](const KnownAttribute &row) { return row.name == name; });
  if (row == table.end()) {
    InFlightDiagnostic diag = op->emitOpError()
                              << "has the unknown attribute 'loopc." << name
                              << "'" << where << ", known are ";
    llvm::interleaveComma(table, diag, [&](const KnownAttribute &one) {
      diag << "'loopc." << one.name << "'";
    });
    return nullptr;
  }
  if (isOf(row->kind, attribute.getValue()))
    return row;
  op->emitOpError() << "attribute 'loopc." << name << "'" << where
                    << " must be " << describe(row->kind);
  return nullptr;
}

/// The attributes that front ends give and later stages read by name. `isFlat`:
/// the next port is the shape of this one.
static LogicalResult verifyPort(Operation *op, NamedAttribute attribute,
                                Type type, StringRef kind, unsigned index,
                                bool isFlat) {
  std::string where = (" at " + kind + " #" + Twine(index)).str();
  const KnownAttribute *row = verify(op, attribute, kPortAttributes, where);
  if (!row)
    return failure();
  if (attribute.getName() == kPortTypeAttrName) {
    Type model = cast<TypeAttr>(attribute.getValue()).getValue();
    if (type && !isHeldBy(model, type, isFlat))
      return op->emitOpError()
             << "attribute 'loopc.type'" << where << " is " << model
             << ", which is not held by a value of type " << type;
  }
  // The declared type may have another rank than the value.
  if (row->name != "dims")
    return success();
  auto names = cast<ArrayAttr>(attribute.getValue());
  auto shaped = dyn_cast<ShapedType>(type);
  if (shaped && shaped.hasRank() &&
      static_cast<int64_t>(names.size()) != shaped.getRank())
    return op->emitOpError()
           << "attribute 'loopc.dims'" << where << " has " << names.size()
           << " names for a value of rank " << shaped.getRank();
  auto function = dyn_cast<FunctionOpInterface>(op);
  return function && kind == "argument" ? verifyDimNames(function, index)
                                        : success();
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 unsigned vectorBits, unsigned registers,
                                 unsigned maskBits, unsigned dotBits,
                                 bool scales, StringRef chip, unsigned minWork,
                                 bool allowTf32, bool hasLibdevice,
                                 StringRef loops, StringRef cublas) {
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
  if (!llvm::Regex("^(sm_[0-9]+[af]?)?$").match(chip))
    return emitError() << "chip must be NVIDIA's name of a GPU, as \"sm_90\"; "
                          "it is \""
                       << chip << "\"";
  if (!parseDeviceLoops(loops))
    return emitError() << "loops must be \"auto\", \"kernel\", \"cluster\", "
                          "\"graph\" or \"host\"; it is \""
                       << loops << "\"";
  if (!parseCublas(cublas))
    return emitError() << "cublas must be \"auto\", \"on\" or \"off\"; it is \""
                       << cublas << "\"";
  GPUTarget none;
  if (chip.empty() &&
      (minWork != none.minWork || allowTf32 || hasLibdevice ||
       loops != getName(none.loops) || cublas != getName(none.cublas)))
    return emitError() << "min_work, tf32, libdevice, loops and cublas go with "
                          "a chip";
  return success();
}

/// The target of the module that `op` is or is in; null where it has none.
static TargetAttr getTarget(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  return module ? module->getAttrOfType<TargetAttr>(kTargetAttrName)
                : TargetAttr();
}

VectorUnit loopc::getVectorUnit(Operation *op) {
  TargetAttr target = getTarget(op);
  if (!target)
    return {};
  return {target.getVectorBits(), target.getRegisters(), target.getMaskBits(),
          target.getScales(), target.getDotBits()};
}

GPUTarget loopc::getGPUTarget(Operation *op) {
  GPUTarget gpu;
  gpu.chip = kDefaultChip;
  if (!isForGPU(op))
    return gpu;
  TargetAttr target = getTarget(op);
  return {target.getChip().str(),
          target.getMinWork(),
          target.getTf32(),
          target.getLibdevice(),
          *parseDeviceLoops(target.getLoops()),
          *parseCublas(target.getCublas())};
}

bool loopc::isForGPU(Operation *op) {
  TargetAttr target = getTarget(op);
  return target && !target.getChip().empty();
}

void LoopcDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "loopc/Dialect/Loopc/IR/SectionOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "loopc/Dialect/Loopc/IR/LoopcAttributes.cpp.inc"
      >();
}

/// Whether the first result of `op`, which is marked as a branch that makes
/// room, is a buffer of outside in the one branch, and another one in the
/// other.
static LogicalResult verifyGrows(Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  if (branch.getNumResults() == 0 ||
      !isa<BaseMemRefType>(branch.getResult(0).getType()))
    return op->emitOpError() << "attribute '" << kGrowsAttrName
                             << "' needs a buffer as result #0";
  if (branch.getThenRegion().empty() || branch.getElseRegion().empty() ||
      !isa<scf::YieldOp>(branch.elseBlock()->back()) ||
      !isa<scf::YieldOp>(branch.thenBlock()->back()))
    return success(); // which the operation's own verifier refuses
  Value before = branch.elseYield().getOperand(0);
  if (branch->isAncestor(before.getParentBlock()->getParentOp()))
    return op->emitOpError()
           << "attribute '" << kGrowsAttrName
           << "' needs a buffer that was there before in the else branch";
  if (branch.thenYield().getOperand(0) == before)
    return op->emitOpError() << "attribute '" << kGrowsAttrName
                             << "' needs another buffer in the then branch";
  return success();
}

/// Whether a type is declared for each result of `op`.
static LogicalResult verifyDeclaredResults(Operation *op) {
  auto types = op->getAttrOfType<ArrayAttr>(kDeclaredResultsAttrName);
  if (types.size() != op->getNumResults())
    return op->emitOpError() << "attribute '" << kDeclaredResultsAttrName
                             << "' has " << types.size() << " elements for "
                             << op->getNumResults() << " results";
  if (llvm::all_of(types, llvm::IsaPred<TypeAttr>))
    return success();
  return op->emitOpError() << "attribute '" << kDeclaredResultsAttrName
                           << "' must be an array of types";
}

/// Whether `op`, a memref.alloc, is said to become an output by a number and a
/// map of its extents, each of whose results is one of them or a constant.
static LogicalResult verifyOutput(Operation *op) {
  auto pair = op->getAttrOfType<ArrayAttr>(kOutputAttrName);
  auto number = pair.size() == 2 ? dyn_cast<IntegerAttr>(pair[0]) : nullptr;
  auto map = pair.size() == 2 ? dyn_cast<AffineMapAttr>(pair[1]) : nullptr;
  auto type = cast<MemRefType>(op->getResult(0).getType());
  bool isGood = number && number.getInt() >= 0 && map &&
                map.getValue().getNumDims() == type.getRank() &&
                map.getValue().getNumSymbols() == 0 &&
                llvm::all_of(map.getValue().getResults(),
                             llvm::IsaPred<AffineDimExpr, AffineConstantExpr>);
  if (isGood)
    return success();
  return op->emitOpError()
         << "attribute '" << kOutputAttrName
         << "' must be the number of an output and a map from the "
         << type.getRank() << " extents of the buffer to some of them and to "
         << "constants";
}

/// Whether the first results of `op`, a function, have the types of its
/// arguments.
static LogicalResult verifySection(Operation *op) {
  auto function = cast<FunctionOpInterface>(op);
  ArrayRef<Type> given = function.getArgumentTypes();
  if (function.getResultTypes().take_front(given.size()) == given)
    return success();
  return op->emitOpError() << "attribute '" << kSectionAttrName
                           << "' needs the types of "
                              "all arguments as those of "
                              "the first results";
}

/// Whether `op`, a call, names a kernel of its module: a function in a module
/// of kernels.
static LogicalResult verifyProduct(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>(kProductAttrName);
  Operation *module = op->getParentWithTrait<OpTrait::SymbolTable>();
  bool isThere =
      module &&
      llvm::any_of(module->getRegion(0).getOps(), [&](Operation &kernels) {
        return kernels.hasTrait<OpTrait::SymbolTable>() &&
               SymbolTable::lookupSymbolIn(&kernels, name);
      });
  if (isThere)
    return success();
  return op->emitOpError() << "attribute '" << kProductAttrName << "' names "
                           << name << ", and the module has no such kernel";
}

/// What the attribute `name` says of `op` beside that it stands there.
static LogicalResult verifyMeaning(Operation *op, StringRef name) {
  if (name == kMaySkipAttrName) {
    Type from = getElementTypeOrSelf(op->getOperand(0));
    Type to = getElementTypeOrSelf(op->getResult(0));
    if (!from.isF32() || !(to.isF16() || to.isBF16()))
      return op->emitOpError() << "attribute '" << name
                               << "' is of roundings from f32 to 16 bits, and "
                                  "this one is from "
                               << from << " to " << to;
  }
  if (name == kPackedAttrName)
    return verifyPacked(op);
  if (name == kGrowsAttrName)
    return verifyGrows(op);
  if (name == kOutputAttrName)
    return verifyOutput(op);
  if (name == kSectionAttrName)
    return verifySection(op);
  if (name == kProductAttrName)
    return verifyProduct(op);
  if (name == kDeclaredResultsAttrName)
    return verifyDeclaredResults(op);
  return success();
}

LogicalResult LoopcDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  const KnownAttribute *row = verify(op, attribute, kOperationAttributes, "");
  if (!row)
    return failure();
  SmallVector<StringRef> operations;
  StringRef(row->operations).split(operations, ' ');
  if (!llvm::is_contained(operations, op->getName().getStringRef()))
    return op->emitOpError() << "has the attribute 'loopc." << row->name
                             << "', which may stand at "
                             << llvm::join(operations, ", ") << " only";
  return verifyMeaning(op, attribute.getName().getValue());
}

LogicalResult LoopcDialect::verifyRegionArgAttribute(Operation *op,
                                                     unsigned region,
                                                     unsigned argument,
                                                     NamedAttribute attribute) {
  Region &body = op->getRegion(region);
  Type type = argument < body.getNumArguments()
                  ? body.getArgument(argument).getType()
                  : Type();
  auto function = dyn_cast<FunctionOpInterface>(op);
  return verifyPort(op, attribute, type, "argument", argument,
                    function && isFlatArgument(function, argument));
}

LogicalResult LoopcDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  Type type = function && result < function.getNumResults()
                  ? function.getResultTypes()[result]
                  : Type();
  return verifyPort(op, attribute, type, "result", result,
                    function && isFlatResult(function, result));
}
