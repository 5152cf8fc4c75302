//===- Contexts.cpp - What pieces of parallel loops are handed ------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A nest that is shared out gets what it uses in a struct, which is made before
// it is known how little of a buffer's description the code reads.

#include "Contexts.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <set>

using namespace mlir;
using namespace loopc;

bool loopc::isKnownButForPlace(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  if (!buffer || !buffer.hasStaticShape())
    return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  // To ask for strides makes expressions of them.
  return buffer.getLayout().isIdentity() ||
         (succeeded(buffer.getStridesAndOffset(strides, offset)) &&
          !ShapedType::isDynamic(offset) &&
          llvm::none_of(strides, ShapedType::isDynamic));
}

LLVM::LLVMStructType loopc::getContextType(const LLVMTypeConverter &converter,
                                           Type pointer, TypeRange captures) {
  SmallVector<Type> types{pointer};
  for (Type type : captures)
    types.push_back(isKnownButForPlace(type) ? pointer
                                             : converter.convertType(type));
  return LLVM::LLVMStructType::getLiteral(pointer.getContext(), types);
}

void loopc::eraseDead(SmallVector<Value> values) {
  while (!values.empty()) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (!op || !isOpTriviallyDead(op))
      continue;
    llvm::append_range(values, op->getOperands());
    // One of them may stand for several of its results.
    llvm::erase_if(values, [&](Value v) { return v.getDefiningOp() == op; });
    op->erase();
  }
}

namespace {
/// A field of the struct, and where in it a number or a pointer is.
using Leaf = std::vector<int64_t>;

/// The accesses to one struct: by each field one load, or one store.
template <typename Access> using Fields = std::map<int64_t, Access>;

/// One struct: where it is made, and how it is filled.
struct Context {
  LLVM::CallOp call;
  LLVM::AllocaOp place;
  Fields<LLVM::StoreOp> stores;
};
} // namespace

static Type accessType(LLVM::LoadOp load) { return load.getType(); }
static Type accessType(LLVM::StoreOp store) {
  return store.getValue().getType();
}

/// The loads, or stores, through `pointer`, if it is used for nothing else than
/// them and `other`. Each is of a field's own type.
template <typename Access>
static std::optional<Fields<Access>> collectFields(Value pointer,
                                                   Operation *other) {
  Fields<Access> fields;
  for (Operation *user : pointer.getUsers()) {
    if (user == other)
      continue;
    auto address = dyn_cast<LLVM::GEPOp>(user);
    if (!address || !address.getDynamicIndices().empty() ||
        address.getRawConstantIndices().size() != 2 || !address->hasOneUse() ||
        address.getRawConstantIndices()[0] != 0)
      return std::nullopt;
    int32_t field = address.getRawConstantIndices()[1];
    auto record = dyn_cast<LLVM::LLVMStructType>(address.getElemType());
    auto access = dyn_cast<Access>(*address->user_begin());
    if (!record || !access || access.getAddr() != address.getResult() ||
        accessType(access) != record.getBody()[field] ||
        !fields.try_emplace(field, access).second)
      return std::nullopt;
  }
  return fields;
}

/// What of the struct is read; none where something else is done with it.
static std::optional<std::set<Leaf>>
collectLeaves(const Fields<LLVM::LoadOp> &loads) {
  std::set<Leaf> leaves;
  for (auto &[field, load] : loads) {
    LLVM::LoadOp read = load;
    if (!isa<LLVM::LLVMStructType>(read.getType())) {
      leaves.insert({field});
      continue;
    }
    for (Operation *user : read->getUsers()) {
      auto extract = dyn_cast<LLVM::ExtractValueOp>(user);
      if (!extract)
        return std::nullopt;
      Leaf leaf{field};
      llvm::append_range(leaf, extract.getPosition());
      leaves.insert(leaf);
    }
  }
  return leaves;
}

static Type typeOf(const Leaf &leaf, const Fields<LLVM::LoadOp> &loads) {
  LLVM::LoadOp load = loads.at(leaf.front());
  Type type = load.getType();
  for (int64_t k : ArrayRef(leaf).drop_front()) {
    if (auto record = dyn_cast<LLVM::LLVMStructType>(type))
      type = record.getBody()[k];
    else
      type = cast<LLVM::LLVMArrayType>(type).getElementType();
  }
  return type;
}

static Value addressOf(OpBuilder &b, Location loc, Type type, Value pointer,
                       size_t field) {
  return LLVM::GEPOp::create(
      b, loc, pointer.getType(), type, pointer,
      ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(field)});
}

/// Reads the leaves, one behind the other in a struct of `type`.
static void rewriteReader(Value pointer, Type type,
                          const std::set<Leaf> &leaves,
                          Fields<LLVM::LoadOp> &loads) {
  for (auto [number, leaf] : llvm::enumerate(leaves)) {
    LLVM::LoadOp load = loads.at(leaf.front());
    OpBuilder b(load);
    Value address = addressOf(b, load.getLoc(), type, pointer, number);
    Value read =
        LLVM::LoadOp::create(b, load.getLoc(), typeOf(leaf, loads), address);
    if (leaf.size() == 1) {
      load.replaceAllUsesWith(read);
      continue;
    }
    for (Operation *user : llvm::make_early_inc_range(load->getUsers())) {
      auto extract = cast<LLVM::ExtractValueOp>(user);
      if (extract.getPosition() != ArrayRef(leaf).drop_front())
        continue;
      extract.replaceAllUsesWith(read);
      extract.erase();
    }
  }
  for (auto &[field, load] : loads)
    eraseDead({load.getResult()});
}

static void rewriteWriter(Context &context, Type type,
                          const std::set<Leaf> &leaves) {
  Location loc = context.call.getLoc();
  OpBuilder b(context.place);
  Value place = LLVM::AllocaOp::create(b, loc, context.place.getType(), type,
                                       context.place.getArraySize());
  b.setInsertionPoint(context.call);
  for (auto [number, leaf] : llvm::enumerate(leaves)) {
    Value value = context.stores.at(leaf.front()).getValue();
    if (leaf.size() > 1)
      value = b.createOrFold<LLVM::ExtractValueOp>(loc, value,
                                                   ArrayRef(leaf).drop_front());
    LLVM::StoreOp::create(b, loc, value,
                          addressOf(b, loc, type, place, number));
  }
  SmallVector<Value> dead;
  for (auto &[field, store] : context.stores) {
    dead.append({store.getValue(), store.getAddr()});
    store.erase();
  }
  context.place.replaceAllUsesWith(place);
  dead.push_back(context.place);
  eraseDead(std::move(dead));
}

/// What `call` hands over, if it was made for that.
static LLVM::AllocaOp getContext(LLVM::CallOp call) {
  return call.getArgOperands()[4].getDefiningOp<LLVM::AllocaOp>();
}

/// What `call` shares out, if it is known.
static LLVM::LLVMFuncOp getReader(LLVM::CallOp call,
                                  SymbolTableCollection &symbols) {
  auto name = call.getArgOperands()[3].getDefiningOp<LLVM::AddressOfOp>();
  return name ? symbols.lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(
                    call, name.getGlobalNameAttr())
              : LLVM::LLVMFuncOp();
}

/// True if all fields behind `pointer` are taken to be those of `type`.
static bool hasContextType(Value pointer, Type type) {
  return llvm::all_of(pointer.getUsers(), [&](Operation *user) {
    auto address = dyn_cast<LLVM::GEPOp>(user);
    return !address || address.getElemType() == type;
  });
}

void loopc::dropUnreadFields(ArrayRef<LLVM::CallOp> calls) {
  // By the function that reads them.
  llvm::MapVector<Operation *, SmallVector<Context>> contexts;
  llvm::SmallPtrSet<Operation *, 8> isOther;
  SymbolTableCollection symbols;
  for (LLVM::CallOp call : calls) {
    LLVM::LLVMFuncOp reader = getReader(call, symbols);
    if (!reader)
      continue;
    LLVM::AllocaOp place = getContext(call);
    auto stores =
        place ? collectFields<LLVM::StoreOp>(place, call) : std::nullopt;
    if (stores && hasContextType(place, place.getElemType()))
      contexts[reader].push_back({call, place, std::move(*stores)});
    else
      isOther.insert(reader);
  }
  for (auto &[op, made] : contexts) {
    auto reader = cast<LLVM::LLVMFuncOp>(op);
    if (reader.isExternal() || isOther.contains(reader))
      continue;
    Value pointer = reader.getArgument(0);
    auto loads = collectFields<LLVM::LoadOp>(pointer, nullptr);
    auto leaves = loads ? collectLeaves(*loads) : std::nullopt;
    if (!leaves || !llvm::all_of(made, [&](Context &context) {
          return hasContextType(pointer, context.place.getElemType()) &&
                 llvm::all_of(*leaves, [&](const Leaf &leaf) {
                   return context.stores.count(leaf.front()) != 0;
                 });
        }))
      continue;
    SmallVector<Type> types;
    for (const Leaf &leaf : *leaves)
      types.push_back(typeOf(leaf, *loads));
    Type type = LLVM::LLVMStructType::getLiteral(reader.getContext(), types);
    rewriteReader(pointer, type, *leaves, *loads);
    for (Context &context : made)
      rewriteWriter(context, type, *leaves);
  }
}

//===----------------------------------------------------------------------===//
// More fields
//===----------------------------------------------------------------------===//

/// `type` with `types` behind it.
static LLVM::LLVMStructType addFields(Type type, ArrayRef<Type> types) {
  SmallVector<Type> fields(cast<LLVM::LLVMStructType>(type).getBody());
  llvm::append_range(fields, types);
  return LLVM::LLVMStructType::getLiteral(type.getContext(), fields);
}

/// Sets what `pointer` is said to point to.
static void setContextType(Value pointer, Type type) {
  for (Operation *user : pointer.getUsers())
    if (auto address = dyn_cast<LLVM::GEPOp>(user))
      address.setElemType(type);
}

bool loopc::canHandMore(LLVM::LLVMFuncOp reader, ArrayRef<LLVM::CallOp> calls) {
  Type type;
  for (LLVM::CallOp call : calls) {
    LLVM::AllocaOp place = getContext(call);
    if (!place || !isa<LLVM::LLVMStructType>(place.getElemType()) ||
        (type && place.getElemType() != type) ||
        !collectFields<LLVM::StoreOp>(place, call) ||
        !hasContextType(place, place.getElemType()))
      return false;
    type = place.getElemType();
  }
  return type && collectFields<LLVM::LoadOp>(reader.getArgument(0), nullptr) &&
         hasContextType(reader.getArgument(0), type);
}

SmallVector<Value> loopc::readMore(LLVM::LLVMFuncOp reader, LLVM::CallOp call,
                                   ArrayRef<Type> types) {
  Type old = getContext(call).getElemType();
  size_t first = cast<LLVM::LLVMStructType>(old).getBody().size();
  LLVM::LLVMStructType type = addFields(old, types);
  Value pointer = reader.getArgument(0);
  setContextType(pointer, type);
  OpBuilder b = OpBuilder::atBlockBegin(&reader.getBody().front());
  SmallVector<Value> values;
  for (auto [k, field] : llvm::enumerate(types))
    values.push_back(LLVM::LoadOp::create(
        b, reader.getLoc(), field,
        addressOf(b, reader.getLoc(), type, pointer, first + k)));
  return values;
}

void loopc::handMore(LLVM::CallOp call, LLVM::LLVMFuncOp reader,
                     ArrayRef<TypedAttr> numbers) {
  auto name = call.getArgOperands()[3].getDefiningOp<LLVM::AddressOfOp>();
  OpBuilder b(call);
  Location loc = call.getLoc();
  call.getCalleeOperandsMutable()[3].set(
      LLVM::AddressOfOp::create(b, loc, reader));
  if (name.use_empty())
    name.erase();
  SmallVector<Type> types;
  for (TypedAttr number : numbers)
    types.push_back(number.getType());
  LLVM::AllocaOp place = getContext(call);
  Type old = place.getElemType();
  size_t first = cast<LLVM::LLVMStructType>(old).getBody().size();
  LLVM::LLVMStructType type = addFields(old, types);
  setContextType(place, type);
  place.setElemType(type);
  for (auto [k, number] : llvm::enumerate(numbers)) {
    Value value = LLVM::ConstantOp::create(b, loc, number.getType(), number);
    LLVM::StoreOp::create(b, loc, value,
                          addressOf(b, loc, type, place, first + k));
  }
}
