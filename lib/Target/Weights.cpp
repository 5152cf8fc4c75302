//===- Weights.cpp - The bytes of a model's weights -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Weights.h"

#include "loopc/Support/Diagnostics.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace loopc;

void WeightSet::Free::operator()(char *pointer) const { std::free(pointer); }

WeightSet::Buffer WeightSet::allocate(uint64_t size) {
  uint64_t rounded =
      llvm::alignTo(std::max<uint64_t>(size, 1), kWeightAlignment);
  void *pointer = std::aligned_alloc(kWeightAlignment, rounded);
  if (!pointer)
    llvm::report_bad_alloc_error("no memory for the weights of a model");
  return Buffer(static_cast<char *>(pointer));
}

/// Bytes of an element inside a model: bool and sub-byte types take one byte.
static uint64_t getInnerBytes(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * getInnerBytes(complex.getElementType());
  return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

/// True for integers that MLIR's constants keep in another way than models do:
/// bool one bit an element, signed ones without the copies of the sign.
static bool isSubByte(Type type) {
  return type.isInteger() && type.getIntOrFloatBitWidth() < 8;
}

/// Writes the elements of a constant, in C order, as they lie inside a model.
static void expand(DenseElementsAttr attr, uint64_t elementBytes, char *out) {
  if (isSubByte(attr.getElementType())) {
    auto type = cast<IntegerType>(attr.getElementType());
    bool isSigned = !type.isUnsigned() && type.getWidth() > 1;
    for (const llvm::APInt &value : attr.getValues<llvm::APInt>())
      *out++ = static_cast<char>(isSigned ? value.getSExtValue()
                                          : value.getZExtValue());
    return;
  }
  ArrayRef<char> raw = attr.getRawData();
  if (!attr.isSplat()) {
    std::memcpy(out, raw.data(), raw.size());
    return;
  }
  for (int64_t i = 0, e = attr.getNumElements(); i != e; ++i)
    std::memcpy(out + i * elementBytes, raw.data(), elementBytes);
}

LogicalResult WeightSet::add(ElementsAttr attr, std::string symbol,
                             uint64_t size, Location loc) {
  Type element = attr.getElementType();
  if (!element.isIntOrIndexOrFloat() && !isa<ComplexType>(element))
    return emitError(loc, Diag::BadWeight)
           << "a weight has elements of type " << element;
  uint64_t elementBytes = getInnerBytes(element);
  uint64_t needed = elementBytes * attr.getNumElements();
  if (needed != size)
    return emitError(loc, Diag::BadWeight)
           << "a weight of type " << attr.getShapedType() << " has " << needed
           << " bytes, but its global has " << size;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != size)
      return emitError(loc, Diag::BadWeight)
             << "resource '" << resource.getRawHandle().getKey() << "' of type "
             << attr.getShapedType() << " has "
             << (blob ? blob->getData().size() : 0) << " bytes instead of "
             << size;
    weights.push_back({std::move(symbol), attr, blob->getData().data(), size});
    return success();
  }
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  if (!dense)
    return emitError(loc, Diag::BadWeight)
           << "a weight is neither dense nor a resource";
  if (!dense.isSplat() && !isSubByte(element)) {
    weights.push_back(
        {std::move(symbol), attr, dense.getRawData().data(), size});
    return success();
  }
  buffers.push_back(allocate(size));
  expand(dense, elementBytes, buffers.back().get());
  weights.push_back({std::move(symbol), nullptr, buffers.back().get(), size});
  return success();
}

/// False for operations of LLVM's dialect that compute: they have no symbols,
/// and to look at their attributes makes a dictionary of them.
static bool mayHaveSymbols(Operation *op) {
  return !isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()) ||
         op->getNumRegions() != 0 ||
         isa<SymbolUserOpInterface, CallOpInterface>(op);
}

/// Makes what refers to a symbol of `module` that `renamed` knows refer to the
/// new one. One walk for all: a model has hundreds of weights.
static void
replaceSymbols(ModuleOp module,
               const llvm::DenseMap<StringAttr, StringAttr> &renamed) {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](FlatSymbolRefAttr symbol) -> std::optional<Attribute> {
        auto it = renamed.find(symbol.getAttr());
        if (it == renamed.end())
          return std::nullopt;
        return FlatSymbolRefAttr::get(it->second);
      });
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // Names in there are of that table.
    if (op != module && op->hasTrait<OpTrait::SymbolTable>())
      return WalkResult::skip();
    if (mayHaveSymbols(op))
      replacer.replaceElementsIn(op);
    return WalkResult::advance();
  });
}

/// The number of bytes of `!llvm.array<N x i8>`.
static std::optional<uint64_t> getGlobalBytes(LLVM::GlobalOp global) {
  auto array = dyn_cast<LLVM::LLVMArrayType>(global.getGlobalType());
  if (!array || !array.getElementType().isInteger(8))
    return std::nullopt;
  return array.getNumElements();
}

static std::string makeSymbol(const ModelInfo &info, size_t number) {
  return info.symbol + ".weight" + std::to_string(number);
}

FailureOr<WeightSet> WeightSet::extract(ModuleOp module,
                                        const ModelInfo &info) {
  WeightSet set;
  // Globals that carry one attribute share its bytes and its symbol.
  llvm::DenseMap<Attribute, StringAttr> symbols;
  llvm::DenseMap<StringAttr, StringAttr> renamed;
  SymbolTable table(module);
  for (auto global :
       llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>())) {
    auto attr = global->getAttrOfType<ElementsAttr>(kWeightAttr);
    if (!attr) {
      if (global->hasAttr(kWeightAttr))
        return emitError(global.getLoc(), Diag::BadWeight)
               << "'" << kWeightAttr << "' of global '" << global.getSymName()
               << "' is no elements attribute";
      continue;
    }
    std::optional<uint64_t> size = getGlobalBytes(global);
    if (!size || global.getValueOrNull() || !global.getInitializer().empty())
      return emitError(global.getLoc(), Diag::BadWeight)
             << "global '" << global.getSymName() << "' has '" << kWeightAttr
             << "', but is not an !llvm.array of i8 without initializer";
    auto [it, inserted] = symbols.try_emplace(attr);
    if (!inserted) {
      renamed[global.getSymNameAttr()] = it->second;
      table.erase(global);
      continue;
    }
    std::string symbol = makeSymbol(info, set.weights.size());
    if (failed(set.add(attr, symbol, *size, global.getLoc())))
      return failure();
    it->second = StringAttr::get(module.getContext(), symbol);
    renamed[global.getSymNameAttr()] = it->second;
    table.remove(global);
    if (table.lookup(it->second))
      return emitError(global.getLoc(), Diag::BadWeight)
             << "the module has a symbol '" << symbol << "' of its own";
    global.setSymNameAttr(it->second);
    table.insert(global);
    global->removeAttr(kWeightAttr);
  }
  replaceSymbols(module, renamed);
  for (const PortInfo &port : info.inputs) {
    std::string &symbol = set.defaults.emplace_back();
    // The table itself holds texts; zeros of a state are nowhere.
    if (!port.absent || isa<DenseStringElementsAttr>(port.absent) ||
        port.isZeroState())
      continue;
    auto [it, inserted] = symbols.try_emplace(port.absent);
    if (inserted) {
      uint64_t size = getInnerBytes(port.absent.getElementType()) *
                      port.absent.getNumElements();
      symbol = makeSymbol(info, set.weights.size());
      if (failed(set.add(port.absent, symbol, size, module.getLoc())))
        return failure();
      it->second = StringAttr::get(module.getContext(), symbol);
    }
    symbol = it->second.str();
  }
  return set;
}

void WeightSet::keepOnly(llvm::function_ref<bool(StringRef)> isUsed) {
  llvm::erase_if(weights,
                 [&](const Weight &weight) { return !isUsed(weight.symbol); });
}

uint64_t WeightSet::getTotalSize() const {
  uint64_t total = 0;
  for (const Weight &weight : weights)
    total = llvm::alignTo(total, kWeightAlignment) + weight.size;
  return total;
}

void WeightSet::write(llvm::raw_ostream &os) const {
  uint64_t written = 0;
  for (const Weight &weight : weights) {
    os.write_zeros(
        llvm::offsetToAlignment(written, llvm::Align(kWeightAlignment)));
    written = llvm::alignTo(written, kWeightAlignment) + weight.size;
    os.write(weight.data, weight.size);
  }
}

void WeightSet::takeOver() {
  // Constants of several types may share a resource, which is copied once.
  llvm::DenseMap<AsmResourceBlob *, const char *> copies;
  for (Weight &weight : weights) {
    Attribute attr = std::exchange(weight.attr, nullptr);
    if (!attr)
      continue;
    auto resource = dyn_cast<DenseResourceElementsAttr>(attr);
    AsmResourceBlob *blob =
        resource ? resource.getRawHandle().getBlob() : nullptr;
    bool isAligned =
        reinterpret_cast<uintptr_t>(weight.data) % kWeightAlignment == 0;
    if (blob && isAligned) {
      blobs.push_back(std::move(*blob));
      continue;
    }
    const char *copy = blob ? copies.lookup(blob) : nullptr;
    if (!copy) {
      buffers.push_back(allocate(weight.size));
      std::memcpy(buffers.back().get(), weight.data, weight.size);
      copy = buffers.back().get();
    }
    weight.data = copy;
    if (blob) {
      copies[blob] = copy;
      // Two copies of all weights at once may be more than there is memory.
      *blob = AsmResourceBlob();
    }
  }
}
