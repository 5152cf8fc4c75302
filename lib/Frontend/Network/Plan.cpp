//===- Plan.cpp - Which layer runs where ----------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::network;

std::string Scope::describe() const {
  if (loop)
    return "loop '" + std::string(loop->getName()) + "'";
  if (conditional)
    return "conditional '" + std::string(conditional->getName()) + "'";
  return "the network";
}

std::unique_ptr<Plan> Plan::make(const INetworkDefinition &network,
                                 EmitError emitError) {
  std::unique_ptr<Plan> plan(new Plan(network, emitError));
  bool good = plan->run();
  // It may be gone when the plan is used.
  plan->emitError = {};
  return good ? std::move(plan) : nullptr;
}

bool Plan::run() {
  scopes.push_back(std::make_unique<Scope>());
  for (int32_t k = 0; k < network.getNbLoops(); ++k) {
    scopes.push_back(std::make_unique<Scope>());
    scopes.back()->loop = network.getLoop(k);
  }
  for (int32_t k = 0; k < network.getNbConditionals(); ++k) {
    scopes.push_back(std::make_unique<Scope>());
    scopes.back()->conditional = network.getConditional(k);
  }
  borders.resize(scopes.size());
  for (int32_t k = 0; k < network.getNbLayers(); ++k)
    borders[borderOf(*network.getLayer(k))].push_back(network.getLayer(k));
  if (!checkLayers() || !checkLoops() || !checkConditionals())
    return false;
  findLive();
  if (!checkCycles())
    return false;
  findMembership();
  if (!checkMembership())
    return false;
  buildScopes();
  return true;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// An iterator, a recurrence, an input of a conditional: what brings values in.
bool Plan::isInput(const ILayer &layer) const {
  LayerType type = layer.getType();
  return type == LayerType::kITERATOR || type == LayerType::kRECURRENCE ||
         type == LayerType::kCONDITIONAL_INPUT;
}

bool Plan::isOutput(const ILayer &layer) const {
  return layer.getType() == LayerType::kLOOP_OUTPUT ||
         layer.getType() == LayerType::kCONDITIONAL_OUTPUT;
}

unsigned Plan::borderOf(const ILayer &layer) const {
  if (layer.getLoop())
    return 1 + layer.getLoop()->getIndex();
  if (layer.getConditional())
    return 1 + network.getNbLoops() + layer.getConditional()->getIndex();
  return 0;
}

static SmallVector<const ITensor *> inputsOf(const ILayer &layer) {
  SmallVector<const ITensor *> result;
  for (int32_t k = 0; k < layer.getNbInputs(); ++k)
    if (const ITensor *input = layer.getInput(k))
      result.push_back(input);
  return result;
}

/// Inputs that every layer must have are there.
bool Plan::checkLayers() {
  bool good = true;
  for (const std::string &error : network.getErrors()) {
    emitError(nullptr, Diag::BadLayer) << error;
    good = false;
  }
  for (int32_t k = 0; k < network.getNbLayers(); ++k) {
    const ILayer &layer = *network.getLayer(k);
    int32_t least = getLayerSpec(layer.getType())->minInputs;
    for (int32_t i = 0; i < least; ++i)
      if (!layer.getInput(i)) {
        emitError(&layer, Diag::BadLayer)
            << layer.describe() << " has no input " << i;
        good = false;
        break;
      }
  }
  return good;
}

//===----------------------------------------------------------------------===//
// Loops and conditionals by themselves
//===----------------------------------------------------------------------===//

bool Plan::checkLoops() {
  bool good = true;
  for (int32_t k = 0; k < network.getNbLoops(); ++k)
    good = checkLoop(*network.getLoop(k)) && good;
  return good;
}

bool Plan::checkLoop(const ILoop &loop) {
  Scope &scope = *scopes[1 + loop.getIndex()];
  ArrayRef<const ILayer *> border = borderLayers(1 + loop.getIndex());
  // trt_membership: a loop that gives nothing vanishes, finished or not.
  if (llvm::none_of(border, [&](auto *layer) { return isOutput(*layer); }))
    return true;
  bool good = true;
  auto fail = [&](const ILayer *layer, Diag diag) {
    good = false;
    return emitError(layer, diag);
  };
  // trt_trips
  for (const ILayer *layer : border) {
    if (layer->getType() != LayerType::kTRIP_LIMIT)
      continue;
    bool isWhile = layer->getInt("limit") != 0;
    const ILayer *&known = isWhile ? scope.whileLimit : scope.count;
    if (known)
      fail(layer, Diag::LoopLimits)
          << scope.describe() << " has two limits of the kind "
          << (isWhile ? "kWHILE" : "kCOUNT") << ", " << known->describe()
          << " and " << layer->describe();
    known = layer;
  }
  if (!scope.whileLimit && !scope.count)
    fail(border.front(), Diag::LoopLimits)
        << scope.describe() << " has no trip limit";
  for (const ILayer *layer : border) {
    // trt_recurrence
    if (layer->getType() == LayerType::kRECURRENCE && !layer->getInput(1))
      fail(layer, Diag::BadRecurrence)
          << layer->describe() << " of " << scope.describe()
          << " is never closed: setInput(1, next value) is missing";
    // trt_iterator: reading backwards begins at the count.
    if (layer->getType() == LayerType::kITERATOR && layer->getInt("reverse") &&
        !scope.count)
      fail(layer, Diag::BadIterator)
          << layer->describe() << " of " << scope.describe()
          << " is reversed, which needs a trip limit of the kind kCOUNT";
    if (isOutput(*layer))
      good = checkLoopOutput(*layer) && good;
  }
  return good;
}

bool Plan::checkLoopOutput(const ILayer &layer) {
  std::string of = " of " + scopes[borderOf(layer)]->describe();
  if (layer.getInt("output") != static_cast<int64_t>(LoopOutput::kLAST_VALUE)) {
    // trt_concatenate
    if (layer.getInput(1))
      return true;
    emitError(&layer, Diag::BadLoopOutput)
        << layer.describe() << of
        << " has no length: setInput(1, length) is missing";
    return false;
  }
  // trt_last_value
  const ILayer *source = layer.getInput(0)->getLayer();
  if (!source || source->getType() != LayerType::kRECURRENCE ||
      source->getLoop() != layer.getLoop()) {
    emitError(&layer, Diag::BadLoopOutput)
        << layer.describe() << of << " wants the last value of '"
        << layer.getInput(0)->getName()
        << "', which is no recurrence of that loop";
    return false;
  }
  if (layer.getInput(1)) {
    emitError(&layer, Diag::BadLoopOutput)
        << layer.describe() << of << " has a length, but a last value has none";
    return false;
  }
  return true;
}

bool Plan::checkConditionals() {
  bool good = true;
  for (int32_t k = 0; k < network.getNbConditionals(); ++k) {
    unsigned number = 1 + network.getNbLoops() + k;
    ArrayRef<const ILayer *> border = borderLayers(number);
    for (const ILayer *layer : border)
      if (layer->getType() == LayerType::kCONDITION)
        scopes[number]->condition = layer;
    bool hasOutput =
        llvm::any_of(border, [&](auto *layer) { return isOutput(*layer); });
    if (hasOutput && !scopes[number]->condition) {
      emitError(border.front(), Diag::BadConditional)
          << describe(number) << " has no condition";
      good = false;
    }
  }
  return good;
}

//===----------------------------------------------------------------------===//
// Cycles
//===----------------------------------------------------------------------===//

/// Layers whose values `layer` needs. What comes from a loop needs all of the
/// loop, the next values of its recurrences too; a recurrence itself needs its
/// initial value only (trt_recurrence).
SmallVector<const ILayer *> Plan::layersBefore(const ILayer &layer) const {
  SmallVector<const ILayer *> result;
  auto add = [&](const ITensor *tensor) {
    if (tensor && tensor->getLayer())
      result.push_back(tensor->getLayer());
  };
  if (layer.getType() == LayerType::kRECURRENCE) {
    add(layer.getInput(0));
    return result;
  }
  for (const ITensor *input : ::inputsOf(layer))
    add(input);
  if (!isOutput(layer))
    return result;
  for (const ILayer *other : borderLayers(borderOf(layer))) {
    if (other->getType() == LayerType::kTRIP_LIMIT ||
        other->getType() == LayerType::kCONDITION)
      result.push_back(other);
    else if (isLive(*other) && other->getType() == LayerType::kRECURRENCE)
      add(other->getInput(1));
    else if (isLive(*other) && isOutput(*other) && other != &layer)
      for (const ITensor *input : ::inputsOf(*other))
        add(input);
  }
  return result;
}

bool Plan::checkCycles() {
  // Depth first, with a stack of our own: networks may be deep.
  enum State : char { kNew, kOpen, kDone };
  std::vector<State> states(network.getNbLayers(), kNew);
  struct Frame {
    const ILayer *layer;
    SmallVector<const ILayer *> before;
    size_t next = 0;
  };
  for (int32_t k = 0; k < network.getNbLayers(); ++k) {
    if (states[k] != kNew)
      continue;
    std::vector<Frame> stack;
    auto open = [&](const ILayer *layer) {
      states[layer->getIndex()] = kOpen;
      stack.push_back({layer, layersBefore(*layer)});
    };
    open(network.getLayer(k));
    while (!stack.empty()) {
      Frame &frame = stack.back();
      if (frame.next == frame.before.size()) {
        states[frame.layer->getIndex()] = kDone;
        stack.pop_back();
        continue;
      }
      const ILayer *before = frame.before[frame.next++];
      if (states[before->getIndex()] == kNew)
        open(before);
      else if (states[before->getIndex()] == kOpen) {
        SmallVector<const ILayer *> cycle;
        for (const Frame &one : llvm::reverse(stack)) {
          cycle.push_back(one.layer);
          if (one.layer == before)
            break;
        }
        return reportCycle(cycle);
      }
    }
  }
  return true;
}

/// `cycle`: each layer uses the one before it; the first one uses the last.
bool Plan::reportCycle(ArrayRef<const ILayer *> cycle) {
  std::string names;
  for (const ILayer *layer : cycle)
    names += (names.empty() ? "" : ", ") + layer->describe();
  // trt_trips
  for (const ILayer *layer : cycle)
    if (layer->getType() == LayerType::kTRIP_LIMIT) {
      emitError(layer, Diag::LoopLimits)
          << "the limit of " << describe(borderOf(*layer))
          << " depends on an output of that loop: " << names;
      return false;
    }
  for (const ILayer *layer : cycle)
    if (isOutput(*layer)) {
      emitError(layer, Diag::NetworkCycle)
          << "the inside of " << describe(borderOf(*layer))
          << " depends on an output of its own: " << names;
      return false;
    }
  emitError(cycle.front(), Diag::NetworkCycle)
      << "layers depend on themselves without a recurrence: " << names;
  return false;
}

//===----------------------------------------------------------------------===//
// What is needed
//===----------------------------------------------------------------------===//

void Plan::markLive(const ILayer *first) {
  SmallVector<const ILayer *> work;
  auto mark = [&](const ILayer *layer) {
    if (layer && live.insert(layer).second)
      work.push_back(layer);
  };
  mark(first);
  while (!work.empty()) {
    const ILayer *layer = work.pop_back_val();
    for (const ITensor *input : ::inputsOf(*layer))
      mark(input->getLayer());
    if (!isOutput(*layer))
      continue;
    const Scope &scope = *scopes[borderOf(*layer)];
    mark(scope.count);
    mark(scope.whileLimit);
    mark(scope.condition);
  }
}

/// True if the layer is in a loop or a conditional that gives nothing.
bool Plan::isOfDeadScope(const ILayer &layer) const {
  llvm::DenseSet<const ILayer *> seen;
  SmallVector<const ILayer *> work{&layer};
  while (!work.empty()) {
    const ILayer *one = work.pop_back_val();
    if (!seen.insert(one).second)
      continue;
    if (isInput(*one) &&
        llvm::none_of(borderLayers(borderOf(*one)), [&](const ILayer *other) {
          return isOutput(*other) && isLive(*other);
        }))
      return true;
    for (const ITensor *input : ::inputsOf(*one))
      if (input->getLayer())
        work.push_back(input->getLayer());
  }
  return false;
}

void Plan::findLive() {
  for (int32_t k = 0; k < network.getNbOutputs(); ++k)
    markLive(network.getOutput(k)->getLayer());
  // An assertion is there for itself, but does not keep a loop alive.
  for (int32_t k = 0; k < network.getNbLayers(); ++k) {
    const ILayer *layer = network.getLayer(k);
    if (layer->getType() == LayerType::kASSERTION && !isOfDeadScope(*layer))
      markLive(layer);
  }
}

//===----------------------------------------------------------------------===//
// Who is where
//===----------------------------------------------------------------------===//

/// The least sets for which
///   a layer is where its inputs are,
///   a scope is where what its border uses is, itself left out,
///   what enters a scope is in it, and where the scope is,
///   what leaves a scope is where the scope is.
void Plan::findMembership() {
  unsigned numScopes = scopes.size();
  members.assign(network.getNbLayers(), llvm::BitVector(numScopes));
  around.assign(numScopes, llvm::BitVector(numScopes));
  for (bool changed = true; changed;) {
    changed = false;
    auto grow = [&](llvm::BitVector &set, const llvm::BitVector &with) {
      if (!with.test(set))
        return;
      set |= with;
      changed = true;
    };
    for (int32_t k = 0; k < network.getNbLayers(); ++k) {
      const ILayer &layer = *network.getLayer(k);
      if (!isLive(layer))
        continue;
      llvm::BitVector used(numScopes);
      for (const ITensor *input : ::inputsOf(layer))
        if (input->getLayer())
          used |= members[input->getLayer()->getIndex()];
      unsigned border = borderOf(layer);
      if (!border) {
        grow(members[k], used);
        continue;
      }
      used.reset(border);
      grow(around[border], used);
      llvm::BitVector own = around[border];
      if (isInput(layer))
        own.set(border);
      grow(members[k], own);
    }
  }
}

/// The scope of the set that is in all others of it; the network for an empty
/// one.
unsigned Plan::innermost(const llvm::BitVector &set) const {
  unsigned best = 0;
  for (unsigned k : set.set_bits())
    if (!best || around[k].count() > around[best].count())
      best = k;
  return best;
}

bool Plan::checkOutside(const ILayer &layer, int32_t input, Diag diag,
                        const char *what) {
  const ITensor *tensor = layer.getInput(input);
  unsigned border = borderOf(layer);
  if (!tensor || !tensor->getLayer() ||
      !members[tensor->getLayer()->getIndex()].test(border))
    return true;
  emitError(&layer, diag) << what << " '" << tensor->getName() << "' of "
                          << layer.describe() << " comes from inside of "
                          << describe(border);
  return false;
}

/// `a` is in `b` and `b` in `a`.
bool Plan::reportNotNested(unsigned a, unsigned b) {
  auto user = [&](unsigned scope, unsigned of) {
    for (const ILayer *layer : borderLayers(scope))
      for (const ITensor *input : ::inputsOf(*layer))
        if (isLive(*layer) && input->getLayer() &&
            members[input->getLayer()->getIndex()].test(of))
          return "'" + std::string(input->getName()) + "' by " +
                 layer->describe();
    return std::string();
  };
  emitError(borderLayers(a).front(), Diag::NotNested)
      << describe(a) << " and " << describe(b)
      << " are not cleanly nested: each uses values of the inside of the other "
         "("
      << user(a, b) << ", " << user(b, a) << ")";
  return false;
}

bool Plan::checkMembership() {
  bool good = true;
  for (int32_t k = 0; k < network.getNbLayers(); ++k) {
    const ILayer &layer = *network.getLayer(k);
    if (!isLive(layer))
      continue;
    switch (layer.getType()) {
    case LayerType::kRECURRENCE:
      good &= checkOutside(layer, 0, Diag::BadRecurrence, "the initial value");
      break;
    case LayerType::kITERATOR:
      good &= checkOutside(layer, 0, Diag::BadIterator, "the tensor");
      break;
    case LayerType::kTRIP_LIMIT:
      if (layer.getInt("limit") == 0)
        good &= checkOutside(layer, 0, Diag::LoopLimits, "the count");
      break;
    case LayerType::kLOOP_OUTPUT:
      good &= checkOutside(layer, 1, Diag::BadLoopOutput, "the length");
      break;
    case LayerType::kCONDITIONAL_INPUT:
      good &= checkOutside(layer, 0, Diag::BadConditional, "the tensor");
      break;
    case LayerType::kCONDITION:
      good &= checkOutside(layer, 0, Diag::BadConditional, "the condition");
      break;
    default:
      break;
    }
  }
  for (unsigned a = 1; a < scopes.size(); ++a)
    for (unsigned b = a + 1; b < scopes.size(); ++b)
      if (around[a].test(b) && around[b].test(a))
        good = reportNotNested(a, b);
  for (int32_t k = 0; k < network.getNbOutputs() && good; ++k) {
    const ITensor &tensor = *network.getOutput(k);
    unsigned inside = tensor.getLayer()
                          ? innermost(members[tensor.getLayer()->getIndex()])
                          : 0;
    if (!inside)
      continue;
    // trt_membership
    emitError(tensor.getLayer(), Diag::NetworkPort)
        << "'" << tensor.getName() << "' of " << tensor.getLayer()->describe()
        << " is an output of the network but is computed inside of "
        << describe(inside);
    good = false;
  }
  for (int32_t k = 0; k < network.getNbLayers() && good; ++k) {
    if (!isLive(*network.getLayer(k)))
      continue;
    unsigned inside = innermost(members[k]);
    if (scopes[inside]->conditional &&
        network.getLayer(k)->getType() == LayerType::kASSERTION) {
      emitError(network.getLayer(k), Diag::BadConditional)
          << network.getLayer(k)->describe() << " is inside of "
          << describe(inside) << " but in neither branch: it has no output";
      good = false;
      continue;
    }
    llvm::BitVector expected = around[inside];
    if (inside)
      expected.set(inside);
    if (expected == members[k])
      continue;
    llvm::BitVector others = members[k];
    others.reset(expected);
    // trt_membership
    emitError(network.getLayer(k), Diag::NotNested)
        << network.getLayer(k)->describe() << " uses values of the inside of "
        << describe(inside) << " and of " << describe(others.find_first())
        << ", neither of which is in the other";
    good = false;
  }
  return good;
}

//===----------------------------------------------------------------------===//
// Scopes and their order
//===----------------------------------------------------------------------===//

void Plan::buildScopes() {
  llvm::DenseSet<unsigned> used;
  for (unsigned k = 1; k < scopes.size(); ++k)
    scopes[k]->parent = scopes[innermost(around[k])].get();
  for (int32_t k = 0; k < network.getNbLayers(); ++k) {
    const ILayer *layer = network.getLayer(k);
    if (!isLive(*layer))
      continue;
    unsigned border = borderOf(*layer);
    Scope &home = *scopes[innermost(members[k])];
    scopeOfLayer[layer] = &home;
    if (!border) {
      home.items.push_back(layer);
      continue;
    }
    Scope &scope = *scopes[border];
    if (layer->getType() == LayerType::kITERATOR)
      scope.iterators.push_back(layer);
    else if (layer->getType() == LayerType::kRECURRENCE)
      scope.recurrences.push_back(layer);
    else if (layer->getType() == LayerType::kCONDITIONAL_INPUT)
      scope.inputs.push_back(layer);
    else if (isOutput(*layer))
      scope.outputs.push_back(layer);
    if (isOutput(*layer) && used.insert(border).second)
      scope.parent->items.push_back(static_cast<const Scope *>(&scope));
  }
  for (std::unique_ptr<Scope> &scope : scopes)
    sortItems(*scope);
}

const Scope *Plan::scopeOf(const ITensor &tensor) const {
  if (!tensor.getLayer())
    return scopes.front().get();
  return scopeOfLayer.lookup(tensor.getLayer());
}

SmallVector<const ITensor *> Plan::inputsOf(Item item) const {
  if (auto *layer = dyn_cast<const ILayer *>(item))
    return ::inputsOf(*layer);
  const Scope *scope = cast<const Scope *>(item);
  SmallVector<const ITensor *> result;
  auto add = [&](ArrayRef<const ITensor *> tensors) {
    for (const ITensor *tensor : tensors) {
      // What is inside of the scope, or of one inside of it, is its own.
      const Scope *home = scopeOf(*tensor);
      while (home && home != scope)
        home = home->parent;
      if (!home)
        result.push_back(tensor);
    }
  };
  for (Item inner : scope->items)
    add(inputsOf(inner));
  for (const ILayer *layer :
       {scope->count, scope->whileLimit, scope->condition})
    if (layer)
      add(::inputsOf(*layer));
  for (auto *list : {&scope->iterators, &scope->recurrences, &scope->inputs,
                     &scope->outputs})
    for (const ILayer *layer : *list)
      add(::inputsOf(*layer));
  return result;
}

Item Plan::producerOf(const Scope &scope, const ITensor &tensor) const {
  const ILayer *layer = tensor.getLayer();
  if (!layer || scopeOf(tensor) != &scope || isInput(*layer))
    return {};
  if (isOutput(*layer))
    return static_cast<const Scope *>(scopes[borderOf(*layer)].get());
  return layer;
}

SmallVector<Item>
Plan::itemsFor(const Scope &scope, ArrayRef<const ITensor *> wanted,
               const llvm::DenseSet<const ITensor *> &given) const {
  llvm::DenseSet<void *> needed;
  SmallVector<const ITensor *> work(wanted);
  while (!work.empty()) {
    const ITensor *tensor = work.pop_back_val();
    if (given.contains(tensor))
      continue;
    Item item = producerOf(scope, *tensor);
    if (item && needed.insert(item.getOpaqueValue()).second)
      llvm::append_range(work, inputsOf(item));
  }
  SmallVector<Item> result;
  for (Item item : scope.items)
    if (needed.contains(item.getOpaqueValue()))
      result.push_back(item);
  return result;
}

void Plan::sortItems(Scope &scope) {
  llvm::DenseMap<void *, SmallVector<Item>> before;
  for (Item item : scope.items)
    for (const ITensor *input : inputsOf(item))
      if (Item producer = producerOf(scope, *input))
        before[item.getOpaqueValue()].push_back(producer);
  SmallVector<Item> sorted;
  llvm::DenseSet<void *> open, done;
  for (Item first : scope.items) {
    SmallVector<Item> stack{first};
    while (!stack.empty()) {
      Item item = stack.back();
      void *key = item.getOpaqueValue();
      if (done.contains(key)) {
        stack.pop_back();
        continue;
      }
      if (!open.insert(key).second) {
        done.insert(key);
        sorted.push_back(item);
        stack.pop_back();
        continue;
      }
      for (Item producer : llvm::reverse(before[key]))
        if (!done.contains(producer.getOpaqueValue()))
          stack.push_back(producer);
    }
  }
  scope.items = std::move(sorted);
}
