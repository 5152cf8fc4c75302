//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EqualSections.h"
#include "Contractions/ContractionPlan.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace loopc;

/// Sections of one hash that are compared; there are more only by chance.
static constexpr size_t kMaxCompared = 8;

/// True for the attribute of `op` that is a label.
static bool isLabel(Operation *op, StringRef name) {
  return (isa<memref::GetGlobalOp>(op) && name == "name") ||
         (isa<LLVM::AddressOfOp>(op) && name == "global_name") ||
         (isa<loop::CheckOp>(op) && name == "message");
}

static bool hasLabel(Operation *op) {
  return isa<memref::GetGlobalOp, LLVM::AddressOfOp, loop::CheckOp>(op);
}

llvm::hash_code loopc::hashKind(Operation &op) {
  llvm::hash_code code(0);
  op.walk([&](Operation *nested) {
    code = llvm::hash_combine(code, nested->getName(), nested->getNumOperands(),
                              hasLabel(nested) ? llvm::hash_code(0)
                                               : nested->hashProperties(),
                              nested->getDiscardableAttrDictionary());
    for (Type type : nested->getResultTypes())
      code = llvm::hash_combine(code, type);
  });
  return code;
}

namespace {
/// Compares two functions, and notes in which labels they differ.
class Matcher {
public:
  explicit Matcher(SymbolTable &symbols) : symbols(symbols) {}

  bool match(func::FuncOp one, func::FuncOp other) {
    return one.getFunctionType() == other.getFunctionType() &&
           note(one.getLoc(), other.getLoc()) &&
           match(one.getBody(), other.getBody());
  }

  /// The labels that differ: those of the one, each in front of the other's.
  SmallVector<Attribute> takeDifferences() const {
    SmallVector<Attribute> found;
    for (auto [one, other] : labels)
      if (one != other)
        found.append({one, other});
    return found;
  }

private:
  bool match(Region &one, Region &other);
  bool match(Block &one, Block &other);
  bool match(Operation &one, Operation &other);
  bool matchAttributes(Operation &one, Operation &other);
  bool areAlike(SymbolRefAttr one, SymbolRefAttr other);

  /// False where a label would have to become two.
  bool note(Attribute one, Attribute other) {
    return labels.try_emplace(one, other).first->second == other;
  }

  SymbolTable &symbols;
  llvm::DenseMap<Value, Value> values;
  llvm::DenseMap<Block *, Block *> blocks;
  llvm::MapVector<Attribute, Attribute> labels;
  /// Of the other's constants those of the one.
  llvm::DenseMap<Attribute, Attribute> constants;
};
} // namespace

/// True where no pass can tell two constants apart: by their types, by whether
/// they are one and the same as another one, and by whether all of their
/// elements are finite (ZeroBorders.cpp). Elements that are all one number may
/// be folded into what reads them.
bool Matcher::areAlike(SymbolRefAttr one, SymbolRefAttr other) {
  if (constants.try_emplace(other, one).first->second != one)
    return false;
  Operation *first = symbols.lookup(one.getLeafReference()),
            *second = symbols.lookup(other.getLeafReference());
  if (first == second)
    return true;
  if (auto a = dyn_cast_or_null<memref::GlobalOp>(first)) {
    auto b = dyn_cast_or_null<memref::GlobalOp>(second);
    if (b &&
        (isa_and_nonnull<SplatElementsAttr>(a.getInitialValueAttr()) ||
         isa_and_nonnull<SplatElementsAttr>(b.getInitialValueAttr())) &&
        a.getInitialValueAttr() != b.getInitialValueAttr())
      return false;
    return b && a.getType() == b.getType() &&
           a.getConstant() == b.getConstant() &&
           a.getAlignment() == b.getAlignment() &&
           isFiniteConstant(a) == isFiniteConstant(b);
  }
  auto a = dyn_cast_or_null<LLVM::GlobalOp>(first);
  auto b = dyn_cast_or_null<LLVM::GlobalOp>(second);
  return a && b && a.getType() == b.getType() &&
         a.getConstant() == b.getConstant() &&
         a.getAlignment() == b.getAlignment() &&
         a.getLinkage() == b.getLinkage();
}

bool Matcher::matchAttributes(Operation &one, Operation &other) {
  // No dictionary is made of properties where all of them have to be equal.
  if (!hasLabel(&one))
    return one.getDiscardableAttrDictionary() ==
               other.getDiscardableAttrDictionary() &&
           one.getName().compareOpProperties(one.getPropertiesStorage(),
                                             other.getPropertiesStorage());
  DictionaryAttr first = one.getAttrDictionary(),
                 second = other.getAttrDictionary();
  if (first.size() != second.size())
    return false;
  return llvm::all_of(llvm::zip(first, second), [&](auto pair) {
    auto [a, b] = pair;
    if (a.getName() != b.getName())
      return false;
    if (!isLabel(&one, a.getName()))
      return a.getValue() == b.getValue();
    auto symbol = dyn_cast<SymbolRefAttr>(a.getValue());
    return note(a.getValue(), b.getValue()) &&
           (!symbol || areAlike(symbol, cast<SymbolRefAttr>(b.getValue())));
  });
}

bool Matcher::match(Operation &one, Operation &other) {
  // Who is called has another name in each section.
  if (one.getName() != other.getName() || isa<CallOpInterface>(one) ||
      one.getNumOperands() != other.getNumOperands() ||
      one.getNumRegions() != other.getNumRegions() ||
      one.getResultTypes() != other.getResultTypes() ||
      one.getNumSuccessors() != other.getNumSuccessors() ||
      !note(one.getLoc(), other.getLoc()))
    return false;
  for (auto [a, b] : llvm::zip(one.getOperands(), other.getOperands()))
    if (values.lookup(a) != b)
      return false;
  for (auto [a, b] : llvm::zip(one.getSuccessors(), other.getSuccessors()))
    if (blocks.lookup(a) != b)
      return false;
  if (!matchAttributes(one, other))
    return false;
  for (auto [a, b] : llvm::zip(one.getResults(), other.getResults()))
    values[a] = b;
  return llvm::all_of(
      llvm::zip(one.getRegions(), other.getRegions()),
      [&](auto pair) { return match(std::get<0>(pair), std::get<1>(pair)); });
}

bool Matcher::match(Block &one, Block &other) {
  if (one.getOperations().size() != other.getOperations().size())
    return false;
  return llvm::all_of(llvm::zip(one, other), [&](auto pair) {
    return match(std::get<0>(pair), std::get<1>(pair));
  });
}

bool Matcher::match(Region &one, Region &other) {
  if (one.getBlocks().size() != other.getBlocks().size())
    return false;
  for (auto [a, b] : llvm::zip(one, other)) {
    if (a.getArgumentTypes() != b.getArgumentTypes())
      return false;
    blocks[&a] = &b;
    for (auto [x, y] : llvm::zip(a.getArguments(), b.getArguments())) {
      values[x] = y;
      if (!note(x.getLoc(), y.getLoc()))
        return false;
    }
  }
  return llvm::all_of(llvm::zip(one, other), [&](auto pair) {
    return match(std::get<0>(pair), std::get<1>(pair));
  });
}

bool EqualSections::share(CallSectionOp call, func::FuncOp section) {
  llvm::hash_code code(0);
  for (Operation &op : section.getBody().front())
    code = llvm::hash_combine(code, hashKind(op));
  // The last bits are kept from a map's own keys.
  auto &others = known[static_cast<uint64_t>(size_t(code)) >> 2];
  for (func::FuncOp other : others) {
    Matcher matcher(symbols);
    if (!matcher.match(other, section))
      continue;
    call.setCallee(other.getName());
    call.setLabelsAttr(
        ArrayAttr::get(call.getContext(), matcher.takeDifferences()));
    symbols.erase(section);
    return true;
  }
  if (others.size() < kMaxCompared)
    others.push_back(section);
  return false;
}

void loopc::relabelFor(CallSectionOp call, func::FuncOp section) {
  ArrayAttr labels = call.getLabels();
  if (labels.empty())
    return;
  llvm::DenseMap<Attribute, Attribute> others;
  for (size_t k = 0; k < labels.size(); k += 2)
    others[labels[k]] = labels[k + 1];
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](Attribute label) -> std::optional<std::pair<Attribute, WalkResult>> {
        if (Attribute other = others.lookup(label))
          return std::pair(other, WalkResult::skip());
        return std::nullopt;
      });
  replacer.recursivelyReplaceElementsIn(section, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/true);
}
