//===- Loops.cpp - Loops and conditionals of networks -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::network;
using loopc::onnx::joinTypes;

/// A loop on its way.
///
/// A kWHILE limit is tested before every trip, on what the recurrences are
/// then. The loop is rotated for that (trt_while): what the condition needs is
/// emitted in front of the loop, on the initial values, and once more at the
/// end of the body, on the next ones. What the rest of the body shares with the
/// condition is carried from there, not computed again, unless the condition is
/// guarded.
struct Emitter::LoopParts : loop::LoopSignature {
  explicit LoopParts(const Scope &scope, Location loc)
      : scope(scope), loc(loc) {}

  const Scope &scope;
  Location loc;
  /// Types of the recurrences, then of what is shared.
  SmallVector<Type> carried;
  /// Which layers the collected values are of.
  SmallVector<const ILayer *> outputs;

  const ITensor *whileTensor = nullptr;
  SmallVector<Item> conditionItems, bodyItems;
  SmallVector<const ITensor *> shared;
  /// The condition is evaluated for `i < count` only.
  bool guarded = false;

  std::unique_ptr<mlir::Region> region;
  SmallVector<Type> collectedTypes;

  const ITensor &next(size_t k) const {
    return *scope.recurrences[k]->getInput(1);
  }
};

//===----------------------------------------------------------------------===//
// What a loop has
//===----------------------------------------------------------------------===//

LogicalResult Emitter::readLoop(LoopParts &parts) {
  const Scope &scope = parts.scope;
  if (scope.count) {
    enter(*scope.count);
    const ITensor &tensor = *scope.count->getInput(0);
    FailureOr<Value> trips = get(tensor);
    if (failed(trips) || failed(expectScalar(*trips, tensor, false,
                                             Diag::LoopLimits, "the count")))
      return failure();
    parts.tripCount = *trips;
  }
  for (const ILayer *layer : scope.recurrences) {
    FailureOr<Value> init = get(*layer->getInput(0));
    if (failed(init))
      return failure();
    parts.inits.push_back(*init);
  }
  for (const ILayer *layer : scope.iterators) {
    enter(*layer);
    const ITensor &tensor = *layer->getInput(0);
    FailureOr<Value> value = get(tensor);
    RankedTensorType type =
        failed(value) ? RankedTensorType() : ranked(*value, tensor);
    if (!type)
      return failure();
    auto axis =
        axisOf(layer->getInt("axis"), type.getRank(), Diag::BadIterator);
    if (!axis)
      return failure();
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + *axis);
    parts.slices.push_back(
        {*value, type.clone(shape), *axis, layer->getInt("reverse") != 0});
  }
  return readOutputs(parts);
}

LogicalResult Emitter::readOutputs(LoopParts &parts) {
  for (const ILayer *layer : parts.scope.outputs) {
    auto output = static_cast<LoopOutput>(layer->getInt("output"));
    if (output == LoopOutput::kLAST_VALUE)
      continue;
    enter(*layer);
    const ITensor &tensor = *layer->getInput(1);
    FailureOr<Value> length = get(tensor);
    if (failed(length) ||
        failed(expectScalar(*length, tensor, false, Diag::BadLoopOutput,
                            "the length")))
      return failure();
    parts.outputs.push_back(layer);
    parts.collected.push_back(
        {Type(), /*axis=*/0, output == LoopOutput::kREVERSE, *length});
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The condition
//===----------------------------------------------------------------------===//

bool Emitter::isSafe(const LoopParts &parts, ArrayRef<Item> items) {
  auto isScalar = [](const ITensor *tensor) {
    DataType type;
    Dims dims;
    std::string error;
    return tensor->getNetwork().findType(*tensor, type, dims, error) &&
           (dims.nbDims == 0 || (dims.nbDims == 1 && dims.d[0] == 1));
  };
  for (Item item : items) {
    auto *layer = dyn_cast<const ILayer *>(item);
    if (!layer)
      return false;
    switch (layer->getType()) {
    case LayerType::kELEMENTWISE: {
      auto operation =
          static_cast<ElementWiseOperation>(layer->getInt("operation"));
      if (operation == ElementWiseOperation::kDIV ||
          operation == ElementWiseOperation::kFLOOR_DIV)
        return false;
      break;
    }
    case LayerType::kUNARY:
    case LayerType::kACTIVATION:
    case LayerType::kSELECT:
    case LayerType::kCAST:
    case LayerType::kIDENTITY:
      break;
    default:
      return false;
    }
    if (!llvm::all_of(plan->inputsOf(item), isScalar))
      return false;
  }
  return true;
}

/// True for layers that give another value each time they are computed.
static bool isRandom(Item item) {
  auto *layer = dyn_cast<const ILayer *>(item);
  return layer &&
         ((layer->getType() == LayerType::kFILL &&
           layer->getInt("operation") != 0) ||
          (layer->getType() == LayerType::kNODE &&
           llvm::StringRef(layer->getString("op_type")).starts_with("Random")));
}

LogicalResult Emitter::planCondition(LoopParts &parts) {
  const Scope &scope = parts.scope;
  SmallVector<const ITensor *> wanted;
  for (const ILayer *layer : scope.recurrences)
    wanted.push_back(layer->getInput(1));
  for (const ILayer *layer : parts.outputs)
    wanted.push_back(layer->getInput(0));
  // Assertions are computed for themselves.
  for (Item item : scope.items)
    if (auto *layer = dyn_cast<const ILayer *>(item);
        layer && layer->getType() == LayerType::kASSERTION)
      llvm::append_range(wanted, plan->inputsOf(item));
  llvm::DenseSet<const ITensor *> given;
  if (scope.whileLimit) {
    parts.whileTensor = scope.whileLimit->getInput(0);
    parts.conditionItems = plan->itemsFor(scope, parts.whileTensor);
    SmallVector<const ITensor *> used{parts.whileTensor};
    for (Item item : parts.conditionItems)
      llvm::append_range(used, plan->inputsOf(item));
    bool reads = llvm::any_of(used, [&](const ITensor *tensor) {
      return llvm::is_contained(scope.iterators, tensor->getLayer());
    });
    // trt_while
    parts.guarded =
        scope.count && (reads || !isSafe(parts, parts.conditionItems));
    for (Item item : parts.conditionItems) {
      if (parts.guarded)
        break;
      auto *layer = dyn_cast<const ILayer *>(item);
      if (layer)
        for (int32_t k = 0; k < layer->getNbOutputs(); ++k)
          given.insert(layer->getOutput(k));
      else
        for (const ILayer *output : cast<const Scope *>(item)->outputs)
          given.insert(output->getOutput(0));
    }
  }
  SmallVector<Item> needed = plan->itemsFor(scope, wanted, given);
  for (Item item : scope.items) {
    auto *layer = dyn_cast<const ILayer *>(item);
    if (llvm::is_contained(needed, item) ||
        (layer && layer->getType() == LayerType::kASSERTION))
      parts.bodyItems.push_back(item);
  }
  llvm::DenseSet<const ITensor *> seen;
  auto share = [&](const ITensor *tensor) {
    if (given.contains(tensor) && seen.insert(tensor).second)
      parts.shared.push_back(tensor);
  };
  llvm::for_each(wanted, share);
  for (Item item : parts.bodyItems)
    llvm::for_each(plan->inputsOf(item), share);
  for (Item item : parts.conditionItems)
    if (parts.guarded && isRandom(item) &&
        llvm::is_contained(parts.bodyItems, item))
      return failAt(*cast<const ILayer *>(item), Diag::LoopLimits)
             << "gives random values to a kWHILE condition that is only "
                "evaluated within the count, and to the inside of the loop";
  return success();
}

LogicalResult Emitter::emitCondition(LoopParts &parts,
                                     ArrayRef<Value> recurrences, Value index,
                                     SmallVectorImpl<Value> &values) {
  const Scope &scope = parts.scope;
  pushFrame();
  llvm::scope_exit popped([&] { popFrame(); });
  for (auto [layer, value] : llvm::zip_equal(scope.recurrences, recurrences))
    bind(layer->getOutput(0), value);
  SmallVector<const ITensor *> used{parts.whileTensor};
  for (Item item : parts.conditionItems)
    llvm::append_range(used, plan->inputsOf(item));
  for (auto [k, layer] : llvm::enumerate(scope.iterators)) {
    if (!llvm::is_contained(used, layer->getOutput(0)))
      continue;
    enter(*layer);
    const loop::SlicePort &port = parts.slices[k];
    Value at = index;
    if (port.isReverse) {
      Value one = arith::ConstantIntOp::create(builder, parts.loc, 1, 64);
      Value last = arith::SubIOp::create(builder, parts.loc,
                                         toI64(scalar(parts.tripCount)), one);
      at = arith::SubIOp::create(builder, parts.loc, last, index);
    }
    // trt_iterator: beyond the extent there is nothing.
    Value extent = arith::IndexCastOp::create(
        builder, parts.loc, builder.getI64Type(),
        tensor::DimOp::create(builder, parts.loc, port.value, port.axis));
    check(arith::CmpIOp::create(builder, parts.loc, arith::CmpIPredicate::slt,
                                at, extent),
          "slice {} of a value with extent {}", {at, extent});
    Value slice = sliceAt(port.value, port.axis, at);
    if (!slice)
      return failure();
    bind(layer->getOutput(0), slice);
  }
  if (failed(emitItems(parts.conditionItems)))
    return failure();
  enter(*scope.whileLimit);
  FailureOr<Value> condition = get(*parts.whileTensor);
  if (failed(condition) ||
      failed(expectScalar(*condition, *parts.whileTensor, true,
                          Diag::LoopLimits, "the condition")))
    return failure();
  values.push_back(*condition);
  for (const ITensor *tensor : parts.shared) {
    FailureOr<Value> value = get(*tensor);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  return success();
}

Value Emitter::toI64(Value integer) {
  if (integer.getType().isInteger(64))
    return integer;
  return arith::ExtSIOp::create(builder, current(), builder.getI64Type(),
                                integer);
}

FailureOr<Value> Emitter::emitGuardedCondition(LoopParts &parts,
                                               ArrayRef<Value> recurrences,
                                               Value index) {
  enter(*parts.scope.whileLimit);
  Value isTrip =
      arith::CmpIOp::create(builder, parts.loc, arith::CmpIPredicate::slt,
                            index, toI64(scalar(parts.tripCount)));
  auto type = RankedTensorType::get({}, builder.getI1Type());
  auto branch = scf::IfOp::create(builder, parts.loc, type, isTrip,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  ++conditionalDepth;
  llvm::scope_exit left([&] { --conditionalDepth; });
  SmallVector<Value> values;
  if (failed(emitCondition(parts, recurrences, index, values)))
    return failure();
  scf::YieldOp::create(builder, parts.loc, values);
  builder.setInsertionPointToStart(branch.elseBlock());
  enter(*parts.scope.whileLimit);
  scf::YieldOp::create(builder, parts.loc,
                       constantNumber(builder.getI1Type(), 0));
  return Value(branch.getResult(0));
}

LogicalResult Emitter::emitFirstCondition(LoopParts &parts) {
  if (!parts.whileTensor)
    return success();
  Value zero = arith::ConstantIntOp::create(builder, parts.loc, 0, 64);
  SmallVector<Value> recurrences(parts.inits);
  if (parts.guarded) {
    FailureOr<Value> condition = emitGuardedCondition(parts, recurrences, zero);
    if (failed(condition))
      return failure();
    parts.condition = *condition;
    return success();
  }
  SmallVector<Value> values;
  if (failed(emitCondition(parts, recurrences, zero, values)))
    return failure();
  parts.condition = values.front();
  parts.inits.append(values.begin() + 1, values.end());
  return success();
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

/// The types of the carried values joined with what a trip gives (recurrences
/// may change their extents, not their ranks or types).
LogicalResult Emitter::joinCarried(LoopParts &parts, ArrayRef<Value> values,
                                   SmallVectorImpl<Type> &next) {
  for (auto [k, value] : llvm::enumerate(values)) {
    Type joined = joinTypes(parts.carried[k], value.getType());
    bool isRecurrence = k < parts.scope.recurrences.size();
    if (isRecurrence && (!joined || (isa<UnrankedTensorType>(joined) &&
                                     isa<RankedTensorType>(value.getType()) &&
                                     isa<RankedTensorType>(parts.carried[k]))))
      return failAt(*parts.scope.recurrences[k], Diag::BadRecurrence)
             << "its initial value '"
             << parts.scope.recurrences[k]->getInput(0)->getName() << "' is "
             << parts.inits[k].getType() << " but its next value '"
             << parts.next(k).getName() << "' is " << value.getType();
    next.push_back(joined);
  }
  return success();
}

LogicalResult Emitter::emitBody(LoopParts &parts, SmallVectorImpl<Type> &next) {
  const Scope &scope = parts.scope;
  auto counterType = RankedTensorType::get({}, builder.getI64Type());
  auto conditionType = RankedTensorType::get({}, builder.getI1Type());
  SmallVector<Type> types{counterType, conditionType};
  llvm::append_range(types, parts.carried);
  for (const loop::SlicePort &port : parts.slices)
    types.push_back(port.type);
  SmallVector<Location> locs(types.size(), parts.loc);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(parts.region.get(), {}, types, locs);
  pushFrame();
  llvm::scope_exit popped([&] { popFrame(); });
  unsigned argument = 2;
  for (const ILayer *layer : scope.recurrences)
    bind(layer->getOutput(0), block->getArgument(argument++));
  for (const ITensor *tensor : parts.shared)
    bind(tensor, block->getArgument(argument++));
  for (const ILayer *layer : scope.iterators)
    bind(layer->getOutput(0), block->getArgument(argument++));
  if (failed(emitItems(parts.bodyItems)))
    return failure();
  SmallVector<Value> carried, collected;
  for (size_t k = 0; k < scope.recurrences.size(); ++k) {
    FailureOr<Value> value = get(parts.next(k));
    if (failed(value))
      return failure();
    carried.push_back(*value);
  }
  for (const ILayer *layer : parts.outputs) {
    FailureOr<Value> value = get(*layer->getInput(0));
    if (failed(value))
      return failure();
    collected.push_back(*value);
  }
  Value condition = block->getArgument(1);
  if (parts.whileTensor) {
    Value one = arith::ConstantIntOp::create(builder, parts.loc, 1, 64);
    Value counter = tensor::ExtractOp::create(
        builder, parts.loc, block->getArgument(0), ValueRange());
    Value index = arith::AddIOp::create(builder, parts.loc, counter, one);
    if (parts.guarded) {
      FailureOr<Value> guardedCondition =
          emitGuardedCondition(parts, carried, index);
      if (failed(guardedCondition))
        return failure();
      condition = *guardedCondition;
    } else {
      SmallVector<Value> values;
      if (failed(emitCondition(parts, carried, index, values)))
        return failure();
      condition = values.front();
      carried.append(values.begin() + 1, values.end());
    }
  }
  if (failed(joinCarried(parts, carried, next)))
    return failure();
  if (ArrayRef(next) != ArrayRef(parts.carried))
    return success();
  for (auto [value, type] : llvm::zip_equal(carried, parts.carried)) {
    enter(*scope.outputs.front());
    value = reshaped(value, type);
  }
  loop::YieldOp::create(builder, parts.loc, condition, carried, collected);
  parts.collectedTypes = SmallVector<Type>(ValueRange(collected).getTypes());
  return success();
}

/// The tensor with all its extents unknown.
static Type forgetExtents(Type type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (!ranked)
    return type;
  return ranked.clone(
      SmallVector<int64_t>(ranked.getRank(), ShapedType::kDynamic));
}

LogicalResult Emitter::settleLoop(LoopParts &parts) {
  SmallVector<Type> types(ValueRange(parts.inits).getTypes());
  auto import = [&](ArrayRef<Type> carried, SmallVectorImpl<Type> &next) {
    parts.carried.assign(carried.begin(), carried.end());
    // Values of an earlier round are gone, and what was known of them.
    cache.emplace();
    parts.region = std::make_unique<mlir::Region>();
    // Whether there is a first trip is found by onnx-infer-types.
    ++conditionalDepth;
    llvm::scope_exit left([&] { --conditionalDepth; });
    return emitBody(parts, next);
  };
  SmallVector<Type> known = settled.lookup(&parts.scope);
  // What fails nevertheless fails with any types.
  LogicalResult result = settleTypes(
      types, {&context, known, forgetExtents, /*retries=*/false}, import);
  settled[&parts.scope] = types;
  return result;
}

LogicalResult Emitter::buildLoop(LoopParts &parts) {
  const Scope &scope = parts.scope;
  for (auto [layer, type, port] :
       llvm::zip_equal(parts.outputs, parts.collectedTypes, parts.collected)) {
    enter(*layer);
    auto ranked = dyn_cast<RankedTensorType>(type);
    if (!ranked)
      return fail(Diag::BadLoopOutput)
             << "the rank of '" << layer->getInput(0)->getName()
             << "' is not known";
    auto axis = axisOf(layer->getInt("axis"), ranked.getRank() + 1,
                       Diag::BadLoopOutput);
    if (!axis)
      return failure();
    SmallVector<int64_t> shape(ranked.getShape());
    if (!cache)
      cache.emplace();
    int64_t extent = cache->getInteger(port.length).value_or(-1);
    shape.insert(shape.begin() + *axis,
                 extent < 0 ? ShapedType::kDynamic : extent);
    port.type = ranked.clone(shape);
    port.axis = *axis;
  }
  enter(*scope.outputs.front());
  for (auto [init, type] : llvm::zip_equal(parts.inits, parts.carried))
    init = reshaped(init, type);
  parts.counterType = parts.region->getArgument(0).getType();
  parts.conditionType = parts.region->getArgument(1).getType();
  auto op = loop::LoopOp::create(builder, parts.loc, parts);
  op.getBody().takeBody(*parts.region);
  size_t collected = 0;
  for (const ILayer *layer : scope.outputs) {
    Value value;
    if (layer->getInt("output") ==
        static_cast<int64_t>(LoopOutput::kLAST_VALUE)) {
      const auto *source =
          llvm::find(scope.recurrences, layer->getInput(0)->getLayer());
      value = op.getResult(source - scope.recurrences.begin());
    } else {
      value = op.getCollectedResults()[collected++];
    }
    bind(layer->getOutput(0), value);
  }
  return success();
}

LogicalResult Emitter::emitLoop(const Scope &scope) {
  LoopParts parts(scope, pathLoc(path));
  return failure(failed(readLoop(parts)) || failed(planCondition(parts)) ||
                 failed(emitFirstCondition(parts)) ||
                 failed(settleLoop(parts)) || failed(buildLoop(parts)));
}

//===----------------------------------------------------------------------===//
// Conditionals
//===----------------------------------------------------------------------===//

/// `side`: 0 for the true branch, 1 for the other one.
LogicalResult Emitter::emitBranch(const Scope &scope, int32_t side,
                                  mlir::Region &region,
                                  SmallVectorImpl<Value> &values) {
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&region);
  pushFrame();
  ++conditionalDepth;
  llvm::scope_exit popped([&] {
    popFrame();
    --conditionalDepth;
  });
  SmallVector<const ITensor *> wanted;
  for (const ILayer *layer : scope.outputs)
    wanted.push_back(layer->getInput(side));
  if (failed(emitItems(plan->itemsFor(scope, wanted))))
    return failure();
  for (const ITensor *tensor : wanted) {
    FailureOr<Value> value = get(*tensor);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  return success();
}

LogicalResult Emitter::emitConditional(const Scope &scope) {
  enter(*scope.condition);
  Location loc = pathLoc(path);
  const ITensor &tensor = *scope.condition->getInput(0);
  FailureOr<Value> condition = get(tensor);
  if (failed(condition))
    return failure();
  // if_cond
  auto type = dyn_cast<RankedTensorType>(condition->getType());
  if (!type || !type.getElementType().isSignlessInteger(1) ||
      !type.hasStaticShape() || type.getNumElements() != 1)
    return fail(Diag::BadConditional)
           << "the condition '" << tensor.getName() << "' is "
           << condition->getType() << " but must be one BOOL";
  Value taken = scalar(*condition);
  for (const ILayer *layer : scope.inputs) {
    FailureOr<Value> value = get(*layer->getInput(0));
    if (failed(value))
      return failure();
    bind(layer->getOutput(0), *value);
  }
  mlir::Region regions[2];
  SmallVector<Value> values[2];
  for (int32_t side : {0, 1})
    if (failed(emitBranch(scope, side, regions[side], values[side])))
      return failure();
  // if_types: shapes may differ, element types may not.
  SmallVector<Type> types;
  for (auto [layer, a, b] :
       llvm::zip_equal(scope.outputs, values[0], values[1])) {
    Type joined = joinTypes(a.getType(), b.getType());
    if (!joined)
      return failAt(*layer, Diag::BadConditional)
             << "'" << layer->getInput(0)->getName() << "' is " << a.getType()
             << " but '" << layer->getInput(1)->getName() << "' is "
             << b.getType();
    types.push_back(joined);
  }
  enter(*scope.outputs.front());
  for (int32_t side : {0, 1}) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&regions[side].front());
    for (auto [value, joined] : llvm::zip_equal(values[side], types))
      value = reshaped(value, joined);
    scf::YieldOp::create(builder, loc, values[side]);
  }
  auto op = scf::IfOp::create(builder, loc, types, taken,
                              /*addThenBlock=*/false, /*addElseBlock=*/false);
  op.getThenRegion().takeBody(regions[0]);
  op.getElseRegion().takeBody(regions[1]);
  for (auto [layer, value] : llvm::zip_equal(scope.outputs, op.getResults()))
    bind(layer->getOutput(0), value);
  return success();
}
