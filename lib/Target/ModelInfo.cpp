//===- ModelInfo.cpp - What a compiled model says of itself ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Target/ModelInfo.h"
#include "loopc/Dialect/ONNX/IR/ElementTypes.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "loopc/Dialect/ONNX/IR/ShapeHints.h"
#include "loopc/Support/Diagnostics.h"

#include "mlir/IR/TypeUtilities.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace loopc;

std::optional<ElementTypeInfo> loopc::getElementTypeInfo(Type type) {
  switch (int32_t number = onnx::exportElementType(type)) {
#define LOOPC_ELEMENT_TYPE(NUMBER, CODE, BITS, NAME, ONNX)                     \
  case NUMBER:                                                                 \
    return ElementTypeInfo{{CODE, BITS, 1}, number, NAME};
#include "loopc-rt/ElementTypes.def"
  default:
    return std::nullopt;
  }
}

bool loopc::isCIdentifier(StringRef text) {
  return !text.empty() && !llvm::isDigit(text.front()) &&
         llvm::all_of(text,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

std::string loopc::makeCIdentifier(StringRef text) {
  std::string result;
  for (char c : text)
    result += llvm::isAlnum(c) ? c : '_';
  if (result.empty())
    return "model";
  if (llvm::isDigit(result.front()))
    result.insert(0, "model_");
  return result;
}

/// True for a type that may stand at the border of a model.
static bool isPortType(Type type) {
  if (auto seq = dyn_cast<onnx::SeqType>(type))
    return isa<TensorType>(seq.getElementType()) &&
           isPortType(seq.getElementType());
  if (auto optional = dyn_cast<onnx::OptionalType>(type))
    return !isa<onnx::OptionalType>(optional.getElementType()) &&
           isPortType(optional.getElementType());
  auto tensor = dyn_cast<TensorType>(type);
  return tensor && (isa<onnx::StringType>(tensor.getElementType()) ||
                    getElementTypeInfo(tensor.getElementType()));
}

bool PortInfo::isZeroState() const {
  if (!isState || !absent || absent.getNumElements() == 0)
    return isState && absent;
  if (!absent.isSplat())
    return false;
  if (auto texts = dyn_cast<DenseStringElementsAttr>(absent))
    return texts.getSplatValue<StringRef>().empty();
  if (isa<IntegerType>(absent.getElementType()))
    return absent.getSplatValue<APInt>().isZero();
  return isa<FloatType>(absent.getElementType()) &&
         absent.getSplatValue<APFloat>().isPosZero();
}

size_t ModelInfo::getNumStates() const {
  return llvm::count_if(inputs,
                        [](const PortInfo &port) { return port.isState; });
}

PortInfo PortInfo::forDisplay() const {
  PortInfo shown = *this;
  if (!declared)
    return shown;
  shown.type = onnx::refineShapes(type, declared);
  TensorType tensor = onnx::getInnermostTensor(shown.type);
  if (!tensor.hasRank() ||
      tensor.getRank() != static_cast<int64_t>(declaredDims.size()))
    return shown;
  shown.dims.resize(declaredDims.size());
  for (auto [own, hint] : llvm::zip_equal(shown.dims, declaredDims))
    if (own.empty())
      own = hint;
  return shown;
}

/// The strings of an array, one for each dimension of the tensor in `type`; it
/// may be empty. Nothing where it is otherwise.
static std::optional<std::vector<std::string>> readDims(ArrayAttr array,
                                                        Type type) {
  TensorType tensor = onnx::getInnermostTensor(type);
  std::vector<std::string> dims;
  for (Attribute dim : array) {
    auto text = dyn_cast<StringAttr>(dim);
    if (!text)
      return std::nullopt;
    dims.push_back(text.str());
  }
  bool isValid =
      dims.empty() || (tensor && tensor.hasRank() &&
                       tensor.getRank() == static_cast<int64_t>(dims.size()));
  return isValid ? std::optional(std::move(dims)) : std::nullopt;
}

/// Reads what the model declares a port to be.
static LogicalResult readDeclared(DictionaryAttr dict, StringRef where,
                                  Location loc, PortInfo &port) {
  auto declared = dict.getAs<TypeAttr>("declared");
  if (!declared)
    return success();
  port.declared = declared.getValue();
  auto array = dict.getAs<ArrayAttr>("declared_dims");
  auto dims = readDims(array ? array : ArrayAttr::get(dict.getContext(), {}),
                       port.declared);
  if (!onnx::joinTypes(port.type, port.declared) || !dims)
    return emitError(loc, Diag::BadModule)
           << "'" << where << "' declares '" << port.name << "' of type "
           << port.type << " as " << port.declared
           << ", of another kind or with other dimensions than their names";
  port.declaredDims = std::move(*dims);
  return success();
}

/// Reads one dictionary of `loopc.inputs` or `loopc.outputs`.
static FailureOr<PortInfo> readPort(Attribute attr, StringRef where,
                                    Location loc) {
  auto dict = dyn_cast<DictionaryAttr>(attr);
  auto name = dict ? dict.getAs<StringAttr>("name") : nullptr;
  auto type = dict ? dict.getAs<TypeAttr>("type") : nullptr;
  if (!name || !type)
    return emitError(loc, Diag::BadModule)
           << "an entry of '" << where
           << "' is no dictionary with a string 'name' and a type 'type'";
  PortInfo port{name.str(), type.getValue(), {}};
  if (!isPortType(port.type))
    return emitError(loc, Diag::BadModule)
           << "'" << where << "' has '" << port.name << "' of type "
           << port.type << ", which no model can take or return";
  if (Attribute absent = dict.get("default")) {
    port.absent = dyn_cast<ElementsAttr>(absent);
    auto tensor = dyn_cast<TensorType>(port.type);
    if (!port.absent || !tensor ||
        port.absent.getElementType() != tensor.getElementType() ||
        failed(verifyCompatibleShape(port.absent.getShapedType(), tensor)))
      return emitError(loc, Diag::BadModule)
             << "the default of '" << port.name << "' in '" << where
             << "' is no elements attribute of type " << port.type;
  }
  port.isState = dict.contains("state");
  if (auto map = dict.getAs<StringAttr>("map"))
    port.map = map.str();
  if (failed(readDeclared(dict, where, loc, port)))
    return failure();
  auto array = dict.getAs<ArrayAttr>("dims");
  if (!array)
    return port;
  auto dims = readDims(array, port.type);
  // Names of dimensions of an unranked tensor or a collection mean nothing.
  if (!dims || (!dims->empty() && !isa<TensorType>(port.type)))
    return emitError(loc, Diag::BadModule)
           << "the dims of '" << port.name << "' in '" << where
           << "' are not one string for each dimension of " << port.type;
  port.dims = std::move(*dims);
  return port;
}

static LogicalResult readPorts(ModuleOp module, StringRef attrName,
                               std::vector<PortInfo> &ports) {
  auto array = module->getAttrOfType<ArrayAttr>(attrName);
  if (!array)
    return emitError(module.getLoc(), Diag::BadModule)
           << "the module has no array '" << attrName << "'";
  // The function's place says more than the file's beginning.
  Operation *entry = module.lookupSymbol(kEntryName);
  Location loc = entry ? entry->getLoc() : module.getLoc();
  for (Attribute attr : array) {
    FailureOr<PortInfo> port = readPort(attr, attrName, loc);
    if (failed(port))
      return failure();
    ports.push_back(std::move(*port));
  }
  return success();
}

/// The keys of a map are followed by its values.
static LogicalResult checkMaps(ModuleOp module,
                               const std::vector<PortInfo> &ports) {
  auto getRank = [&](size_t k) {
    auto type = dyn_cast<RankedTensorType>(ports[k].type);
    return type ? type.getRank() : -1;
  };
  for (size_t k = 0; k < ports.size(); k += ports[k].map.empty() ? 1 : 2) {
    if (ports[k].map.empty())
      continue;
    bool isPair = k + 1 < ports.size() && ports[k + 1].map == ports[k].map;
    if (!isPair || getRank(k) != 1 || getRank(k + 1) < 1 || getRank(k + 1) > 2)
      return emitError(module.getLoc(), Diag::BadOption)
             << "'" << ports[k].name
             << "' and what follows it are not the keys "
             << "and the values of the map '" << ports[k].map << "'";
  }
  return success();
}

/// States are the last ports in both directions, with a default.
static LogicalResult checkStates(ModuleOp module, const ModelInfo &info) {
  size_t count = info.getNumStates();
  auto statesOf = [&](const std::vector<PortInfo> &ports) {
    return ArrayRef(ports).take_back(std::min(count, ports.size()));
  };
  ArrayRef<PortInfo> before = statesOf(info.inputs),
                     after = statesOf(info.outputs);
  bool isValid =
      before.size() == after.size() &&
      static_cast<size_t>(llvm::count_if(info.outputs, [](const auto &port) {
        return port.isState;
      })) == count;
  for (auto [a, b] : llvm::zip(before, after))
    isValid &= a.isState && b.isState && a.absent && a.name == b.name &&
               getElementTypeOrSelf(a.type) == getElementTypeOrSelf(b.type);
  for (auto [a, b] : llvm::zip(before, after))
    if (isValid && failed(verifyCompatibleShape(a.type, b.type)))
      return emitError(module.getLoc(), Diag::BadOption)
             << "the state '" << a.name << "' is " << a.type
             << ", but what becomes of it is " << b.type;
  if (isValid)
    return success();
  return emitError(module.getLoc(), Diag::BadModule)
         << "the states of the module are not its last inputs and outputs, "
            "each with a default and the same type";
}

/// Users name inputs, so that no two have one name. A value may be returned
/// twice.
static LogicalResult checkNames(ModuleOp module,
                                const std::vector<PortInfo> &inputs) {
  llvm::StringSet<> names;
  for (const PortInfo &input : inputs)
    if (!names.insert(input.name).second)
      return emitError(module.getLoc(), Diag::BadModule)
             << "two inputs are called '" << input.name << "'";
  return success();
}

FailureOr<ModelInfo> loopc::readModelInfo(ModuleOp module, StringRef symbol,
                                          StringRef fallbackName) {
  ModelInfo info;
  if (auto name = module->getAttrOfType<StringAttr>(kModelNameAttr))
    info.name = name.str();
  if (info.name.empty())
    info.name = fallbackName.str();
  info.symbol = symbol.empty() ? makeCIdentifier(info.name) : symbol.str();
  if (!isCIdentifier(info.symbol))
    return emitError(module.getLoc(), Diag::BadModelName)
           << "'" << info.symbol << "' is not a C identifier";
  if (failed(readPorts(module, kInputsAttr, info.inputs)) ||
      failed(readPorts(module, kOutputsAttr, info.outputs)) ||
      failed(checkNames(module, info.inputs)) ||
      failed(checkStates(module, info)) ||
      failed(checkMaps(module, info.inputs)) ||
      failed(checkMaps(module, info.outputs)))
    return failure();
  info.isGuarded = module->hasAttr(kGuardedAttr);
  info.isProfiled = module->hasAttr(kProfiledAttr);
  return info;
}

static void formatType(Type type, ArrayRef<std::string> dims,
                       llvm::raw_ostream &os) {
  if (auto seq = dyn_cast<onnx::SeqType>(type)) {
    os << "sequence(";
    formatType(seq.getElementType(), dims, os);
    os << ')';
    return;
  }
  if (auto optional = dyn_cast<onnx::OptionalType>(type)) {
    os << "optional(";
    formatType(optional.getElementType(), dims, os);
    os << ')';
    return;
  }
  auto tensor = cast<TensorType>(type);
  std::optional<ElementTypeInfo> element =
      getElementTypeInfo(tensor.getElementType());
  os << (element ? element->name : StringRef("string")) << '[';
  if (!tensor.hasRank()) {
    os << "...]";
    return;
  }
  llvm::interleaveComma(llvm::seq<int64_t>(tensor.getRank()), os,
                        [&](int64_t i) {
                          if (!tensor.isDynamicDim(i))
                            os << tensor.getDimSize(i);
                          else if (!dims.empty() && !dims[i].empty())
                            os << dims[i];
                          else
                            os << '?';
                        });
  os << ']';
}

std::string loopc::formatPortType(const PortInfo &port) {
  std::string text;
  llvm::raw_string_ostream os(text);
  PortInfo shown = port.forDisplay();
  formatType(shown.type, shown.dims, os);
  return text;
}
