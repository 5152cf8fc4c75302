//===- LoopGraphs.cpp - Loops as graphs of kernels ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A loop is cut into parts, each a kernel: a nest, or the scalars between two
// nests, with nests that are too small for a kernel of their own. What one part
// computes and another one uses goes through the graph's state, unless it is as
// easily computed again; what a loop carries, or a branch results in, has a
// place there that all who give it a value write to.

#include "LoopGraphs.h"
#include "KernelBody.h"
#include "Polls.h"
#include "ProductTiles.h"
#include "RotateLoops.h"
#include "StateWords.h"
#include "loopc-rt/cuda.h"
#include "loopc/Codegen/GPU/Kernels/DeviceProgram.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Dialect/Device/IR/Conditions.h"
#include "loopc/Dialect/Device/IR/Device.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

#include <cstddef>
#include <deque>

using namespace mlir;
using namespace loopc;

/// Threads of a block that shares out one nest, or sums.
static constexpr int32_t kBlockThreads = 256;
/// Work of a nest that one block does in less time than it takes to begin a
/// kernel. A guess: no device was at hand.
static constexpr int64_t kOneBlockWork = int64_t(1) << 16;
/// Operations that are rather computed again than handed over.
static constexpr int64_t kMaxRepeated = 64;
/// Iterations between two looks at the host's word.
static constexpr int64_t kLookDistance = 64;

namespace {
/// A part of the loop that becomes a kernel.
struct Part {
  /// Of which condition it sets whether it holds.
  struct Setting {
    int32_t handle;
    Value value;
    bool isNegated;
  };

  int32_t body;
  bool isNest = false;
  /// It ends an iteration.
  bool isLatch = false;
  SmallVector<Operation *> ops;
  /// The place of the first gets the value of the second.
  SmallVector<std::pair<Value, Value>> assigns;
  SmallVector<Setting> settings;

  /// What is really needed of `ops`, and what others need of it.
  SmallPtrSet<Operation *, 8> needed;
  llvm::SetVector<Value> stores;

  bool isEmpty() const {
    return needed.empty() && stores.empty() && assigns.empty() &&
           settings.empty();
  }
};

/// Which parts there are, in which order, and what they hand to one another.
class Plan {
public:
  Plan(gpu::GPUFuncOp kernel, const AliasClasses &classes);

  /// The value that stands for `value`: of results of loops what is carried.
  Value canonical(Value value) const;
  bool isArgument(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &kernel.getBody().front();
  }
  /// True for what every kernel can compute for itself.
  bool canRepeat(Operation *op);
  /// Where in the state the value is.
  unsigned placeOf(Value value) const { return places.lookup(value); }
  bool isInPart(Operation *op, const Part &part) const {
    auto it = partOf.find(op);
    return it != partOf.end() && it->second == &part;
  }

  gpu::GPUFuncOp kernel;
  std::deque<Part> parts;
  LoopGraph graph;
  /// Of the nodes that are kernels.
  SmallVector<Part *> partOfNode;

private:
  void split(Block &block, int32_t body, Part *&current);
  void splitLoop(scf::WhileOp loop, int32_t body, Part *&current);
  void splitBranch(scf::IfOp branch, int32_t body, Part *&current);
  Part &addPart(int32_t body);
  Part &scalars(int32_t body, Part *&current) {
    return *(current ? current : current = &addPart(body));
  }
  int32_t addCondition(int32_t body, bool isLoop);
  void require(Part &part, Value value);
  void requireOp(Part &part, Operation *op);
  void place(Value value) {
    if (places.try_emplace(value, graph.numWords).second)
      graph.numWords += countWords(value.getType());
  }
  int64_t countRepeated(Operation *op);

  const AliasClasses &classes;
  DenseSet<const void *> written;
  DenseMap<Operation *, Part *> partOf;
  DenseMap<Value, unsigned> places;
  /// Who gives a place its values.
  DenseMap<Value, SmallVector<std::pair<Part *, Value>>> givers;
  DenseSet<std::pair<Part *, Value>> required;
  DenseMap<Operation *, int64_t> repeated;
};
} // namespace

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// True where `op` has to be done whether somebody uses its results or not.
static bool hasEffect(Operation *op) {
  return writesMemory(op) || holdsOp<loop::CheckOp, loop::PollOp>(op);
}

/// True for a nest that goes with the scalars around it, for one block.
static bool isSmallNest(Operation *op) {
  int64_t work = countWork(op);
  return isSharedLoop(op) && work >= 0 && work <= kOneBlockWork;
}

Part &Plan::addPart(int32_t body) {
  Part &part = parts.emplace_back();
  part.body = body;
  GraphNode node;
  node.body = body;
  graph.nodes.push_back(node);
  partOfNode.push_back(&part);
  return part;
}

int32_t Plan::addCondition(int32_t body, bool isLoop) {
  GraphNode node;
  node.body = body;
  node.handle = static_cast<int32_t>(graph.numHandles++);
  node.isLoop = isLoop;
  graph.nodes.push_back(node);
  partOfNode.push_back(nullptr);
  return node.handle;
}

void Plan::splitLoop(scf::WhileOp loop, int32_t body, Part *&current) {
  ValueRange places = loop.getAfterArguments();
  Part &entry = scalars(body, current);
  for (auto [place, init] :
       llvm::zip_equal(places, loop.getInits().drop_front()))
    entry.assigns.push_back({place, init});
  int32_t handle = addCondition(body, /*isLoop=*/true);
  entry.settings.push_back({handle, loop.getInits().front(), false});
  Part *last = nullptr;
  split(*loop.getAfterBody(), handle, last);
  Part &latch = scalars(handle, last);
  ValueRange yielded = loop.getYieldOp().getResults();
  for (auto [place, next] : llvm::zip_equal(places, yielded.drop_front()))
    latch.assigns.push_back({place, next});
  latch.settings.push_back({handle, yielded.front(), false});
  latch.isLatch = true;
  current = nullptr;
}

void Plan::splitBranch(scf::IfOp branch, int32_t body, Part *&current) {
  Part &before = scalars(body, current);
  SmallVector<std::pair<Block *, bool>> cases;
  for (Region *region : branch.getRegions()) {
    if (region->empty())
      continue;
    bool isElse = region == &branch.getElseRegion();
    // What only hands values on the other case writes over.
    if (!llvm::hasSingleElement(region->front())) {
      cases.push_back({&region->front(), isElse});
      continue;
    }
    Operation *yield = region->front().getTerminator();
    for (auto [place, value] :
         llvm::zip_equal(branch.getResults(), yield->getOperands()))
      before.assigns.push_back({place, value});
  }
  for (auto [block, isElse] : cases) {
    int32_t handle = addCondition(body, /*isLoop=*/false);
    before.settings.push_back({handle, branch.getCondition(), isElse});
    Part *last = nullptr;
    split(*block, handle, last);
    Operation *yield = block->getTerminator();
    for (auto [place, value] :
         llvm::zip_equal(branch.getResults(), yield->getOperands()))
      scalars(handle, last).assigns.push_back({place, value});
  }
  current = nullptr;
}

/// Cuts `block` into parts; `current` is the one that scalars go to, null where
/// there is none yet.
void Plan::split(Block &block, int32_t body, Part *&current) {
  for (Operation &op : block.without_terminator()) {
    if (isSharedLoop(&op) && !isSmallNest(&op)) {
      Part &nest = addPart(body);
      nest.isNest = true;
      nest.ops.push_back(&op);
      graph.nodes.back().nest = cast<scf::ForOp>(op);
      current = nullptr;
    } else if (auto loop = dyn_cast<scf::WhileOp>(op);
               loop && isRotated(loop) && hasSharedLoop(loop)) {
      splitLoop(loop, body, current);
    } else if (auto branch = dyn_cast<scf::IfOp>(op);
               branch && hasSharedLoop(branch)) {
      splitBranch(branch, body, current);
    } else if (!isPoll(&op)) {
      // Who ends an iteration looks whether the run shall end.
      Part &part = scalars(body, current);
      part.ops.push_back(&op);
      partOf[&op] = &part;
    }
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value Plan::canonical(Value value) const {
  auto loop = value.getDefiningOp<scf::WhileOp>();
  if (!loop || partOf.contains(loop))
    return value;
  return loop.getAfterArguments()[cast<OpResult>(value).getResultNumber()];
}

/// Operations that computing the results of `op` again takes; more than
/// kMaxRepeated where that is not possible.
int64_t Plan::countRepeated(Operation *op) {
  auto [it, isNew] = repeated.try_emplace(op, kMaxRepeated + 1);
  if (!isNew)
    return it->second;
  auto load = dyn_cast<memref::LoadOp>(op);
  bool isConstantLoad = load && !written.contains(classes.of(load.getMemref()));
  if (op->getNumRegions() != 0 || (!isMemoryEffectFree(op) && !isConstantLoad))
    return kMaxRepeated + 1;
  int64_t count = 1;
  for (Value operand : op->getOperands())
    if (Operation *def = canonical(operand).getDefiningOp()) {
      int64_t more = countRepeated(def);
      // What cannot be repeated is in the state.
      count += more > kMaxRepeated ? 0 : more;
    }
  count = std::min(count, kMaxRepeated + 1);
  repeated[op] = count;
  return count;
}

bool Plan::canRepeat(Operation *op) {
  return countRepeated(op) <= kMaxRepeated;
}

/// Sees to it that `part` has `value`.
void Plan::require(Part &part, Value value) {
  value = canonical(value);
  if (isArgument(value) || !required.insert({&part, value}).second)
    return;
  Operation *def = value.getDefiningOp();
  auto it = def ? partOf.find(def) : partOf.end();
  if (it != partOf.end() && it->second == &part)
    return requireOp(part, def);
  if (def && canRepeat(def)) {
    for (Value operand : def->getOperands())
      require(part, operand);
    return;
  }
  place(value);
  if (it != partOf.end()) {
    it->second->stores.insert(value);
    return require(*it->second, value);
  }
  for (auto [giver, given] : givers.lookup(value))
    require(*giver, given);
}

void Plan::requireOp(Part &part, Operation *op) {
  if (!part.needed.insert(op).second)
    return;
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        require(part, operand);
  });
}

Plan::Plan(gpu::GPUFuncOp kernel, const AliasClasses &classes)
    : kernel(kernel), classes(classes) {
  kernel.walk([&](memref::StoreOp store) {
    written.insert(classes.of(store.getMemref()));
  });
  Part *current = nullptr;
  split(kernel.getBody().front(), -1, current);
  // Handles, how many iterations there were, the arguments.
  graph.numOwnWords = 1;
  graph.numWords = graph.numHandles + graph.numOwnWords;
  for (Value argument : kernel.getArguments().drop_front())
    place(argument);
  for (Part &part : parts) {
    llvm::erase_if(part.assigns, [](const auto &assign) {
      return assign.second.template getDefiningOp<ub::PoisonOp>() != nullptr;
    });
    for (auto [key, value] : part.assigns)
      givers[key].push_back({&part, value});
  }
  for (Part &part : parts) {
    for (Operation *op : part.ops)
      if (part.isNest || hasEffect(op))
        requireOp(part, op);
    for (const Part::Setting &setting : part.settings)
      require(part, setting.value);
  }
  // What nobody reads is not written.
  for (Part &part : parts)
    llvm::erase_if(part.assigns, [&](const auto &assign) {
      return !places.contains(assign.first);
    });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
/// Makes the kernel of a part.
class PartBuilder {
public:
  PartBuilder(Plan &plan, Part &part, GraphNode &node,
              const AliasClasses &outer)
      : plan(plan), part(part), node(node), outer(outer),
        b(part.ops.empty() ? plan.kernel.getLoc() : part.ops.front()->getLoc(),
          plan.kernel.getContext()) {}

  void build(StringRef name, const ProductTarget &target);

private:
  Value get(Value value);
  void add(Operation *op);
  Value loadWord(unsigned number);
  void storeWord(Value word, unsigned number);
  SmallVector<Value> loadWords(unsigned place, Type type);
  Operation *keepResults();
  void leaveResults(ValueRange results);
  void setConditions(ValueRange values);
  Value isOver();
  Value field(size_t offset);

  Plan &plan;
  Part &part;
  GraphNode &node;
  const AliasClasses &outer;
  ImplicitLocOpBuilder b;
  IRMapping mapping;
  Value state;
  /// Where words go at the end.
  SmallVector<unsigned> wordPlaces;
  /// Buffers that come from outside, and the first of each class of those.
  DenseMap<const void *, SmallVector<Value>> buffers;
};
} // namespace

Value PartBuilder::loadWord(unsigned number) {
  Value at = arith::ConstantIndexOp::create(b, number);
  return memref::LoadOp::create(b, state, ValueRange{at});
}

void PartBuilder::storeWord(Value word, unsigned number) {
  Value at = arith::ConstantIndexOp::create(b, number);
  memref::StoreOp::create(b, word, state, ValueRange{at});
}

SmallVector<Value> PartBuilder::loadWords(unsigned place, Type type) {
  SmallVector<Value> words;
  for (unsigned k = 0; k < countWords(type); ++k)
    words.push_back(loadWord(place + k));
  return words;
}

/// The value in this kernel.
Value PartBuilder::get(Value value) {
  value = plan.canonical(value);
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *def = value.getDefiningOp();
  assert(!(def && plan.isInPart(def, part)) && "used in front of itself");
  if (def && plan.canRepeat(def)) {
    add(def);
    return mapping.lookup(value);
  }
  Value made = fromWords(b, value.getType(),
                         loadWords(plan.placeOf(value), value.getType()));
  if (isa<MemRefType>(value.getType()))
    buffers[outer.of(value)].push_back(made);
  mapping.map(value, made);
  return made;
}

/// Does `op` in this kernel.
void PartBuilder::add(Operation *op) {
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        mapping.map(operand, get(operand));
  });
  b.clone(*op, mapping);
}

/// What stands for all that is left at the end while the kernel is changed:
/// whether the conditions hold, and the words of what goes to the state.
Operation *PartBuilder::keepResults() {
  SmallVector<Value> kept;
  for (const Part::Setting &setting : part.settings) {
    Value value = get(setting.value);
    if (setting.isNegated) {
      Value one = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
      value = arith::XOrIOp::create(b, value, one);
    }
    kept.push_back(value);
  }
  auto keep = [&](Value key, Value value) {
    for (auto [k, word] : llvm::enumerate(toWords(b, get(value)))) {
      kept.push_back(word);
      wordPlaces.push_back(plan.placeOf(key) + k);
    }
  };
  for (Value value : part.stores)
    keep(value, value);
  for (auto [key, value] : part.assigns)
    keep(key, value);
  return kept.empty() ? nullptr
                      : UnrealizedConversionCastOp::create(
                            b, TypeRange{b.getI1Type()}, kept)
                            .getOperation();
}

Value PartBuilder::field(size_t offset) {
  Value control = node.kernel.getArgument(0);
  return LLVM::GEPOp::create(
      b, control.getType(), b.getI8Type(), control,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
}

/// Whether the run failed or shall end: the host's word is far away, so that it
/// is looked at now and then. What is found there is left for other kernels.
Value PartBuilder::isOver() {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto load = [&](Type type, Value place) -> Value {
    return LLVM::LoadOp::create(b, type, place, /*alignment=*/0,
                                /*isVolatile=*/true);
  };
  auto constant = [&](Type type, int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  unsigned counter = plan.graph.numHandles;
  Value count = loadWord(counter);
  storeWord(arith::AddIOp::create(b, count, constant(i64, 1)), counter);
  Value low = arith::AndIOp::create(b, count, constant(i64, kLookDistance - 1));
  Value isTime = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, low,
                                       constant(i64, kLookDistance - 1));
  Value word = field(offsetof(loopc_cuda_control, word));
  auto look = scf::IfOp::create(b, isTime, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(look.thenBlock());
    Value cancel = load(LLVM::LLVMPointerType::get(b.getContext()),
                        field(offsetof(loopc_cuda_control, cancel)));
    LLVM::StoreOp::create(
        b, arith::OrIOp::create(b, load(i32, word), load(i32, cancel)), word);
  }
  Value failed = load(i32, field(offsetof(loopc_cuda_control, failed)));
  Value both = arith::OrIOp::create(b, failed, load(i32, word));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, both,
                               constant(i32, 0));
}

void PartBuilder::setConditions(ValueRange values) {
  Value goesOn;
  if (part.isLatch)
    goesOn = arith::XOrIOp::create(
        b, isOver(), arith::ConstantIntOp::create(b, b.getI1Type(), 1));
  SmallVector<int32_t> handles;
  // Calls of several threads at a time are undefined. There is one block.
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                            gpu::ThreadIdOp::create(b, gpu::Dimension::x),
                            arith::ConstantIndexOp::create(b, 0));
  for (auto [setting, value] : llvm::zip_equal(part.settings, values)) {
    Value holds = value;
    if (goesOn)
      holds = arith::AndIOp::create(b, holds, goesOn);
    Value handle = loadWord(setting.handle);
    auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    LLVM::CallOp::create(
        b, TypeRange(), kSetConditionName,
        ValueRange{handle, arith::ExtUIOp::create(b, b.getI32Type(), holds)});
    handles.push_back(setting.handle);
  }
  node.kernel->setAttr(device::kConditionsAttrName,
                       b.getDenseI32ArrayAttr(handles));
}

/// At the end of a kernel of one block, by one of its threads, when all have
/// read what was there before.
void PartBuilder::leaveResults(ValueRange results) {
  if (node.threads > 1)
    device::BarrierOp::create(b);
  Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, zero);
  auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  size_t numSettings = part.settings.size();
  for (auto [word, place] :
       llvm::zip_equal(results.drop_front(numSettings), wordPlaces))
    storeWord(word, place);
  setConditions(results.take_front(numSettings));
}

/// True where the threads of a block have something to share.
static bool hasShares(const Part &part) {
  return llvm::any_of(part.needed, [](Operation *op) {
    return isSharedLoop(op) ||
           anyNested(op, [](scf::ForOp loop) { return findCombiner(loop); });
  });
}

void PartBuilder::build(StringRef name, const ProductTarget &target) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  b.setInsertionPoint(plan.kernel);
  node.kernel = gpu::GPUFuncOp::create(
      b, name, b.getFunctionType({pointer, pointer}, TypeRange()));
  gpu::GPUFuncOp kernel = node.kernel;
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  // Of a kernel that sets none the list is empty.
  kernel->setAttr(device::kConditionsAttrName, b.getDenseI32ArrayAttr({}));
  node.threads = part.isNest || hasShares(part) ? kBlockThreads : 1;
  kernel.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({node.threads, 1, 1}));
  b.setInsertionPointToStart(&kernel.getBody().front());
  state =
      makeBufferAt(b, MemRefType::get({plan.graph.numWords}, b.getI64Type()),
                   kernel.getArgument(1));
  for (Operation *op : part.ops)
    if (part.needed.contains(op))
      add(op);
  Operation *kept = keepResults();
  gpu::ReturnOp::create(b);
  AliasClasses classes(kernel);
  for (auto &[outside, inside] : buffers)
    for (Value other : ArrayRef(inside).drop_front())
      classes.join(inside.front(), other);
  KernelShape shape = distributeKernel(kernel, classes, target);
  node.hasTiles = shape.hasTiles;
  if (shape.hasTiles)
    node.threads = static_cast<int32_t>(kTileThreads);
  kernel.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({node.threads, 1, 1}));
  if (!kept)
    return;
  b.setInsertionPoint(kernel.getBody().back().getTerminator());
  SmallVector<Value> results(kept->getOperands());
  kept->erase();
  leaveResults(results);
}

/// CUDA's function, in the module of the kernels.
static void declareSetCondition(gpu::GPUFuncOp kernel) {
  auto module = kernel->getParentOfType<gpu::GPUModuleOp>();
  if (module.lookupSymbol(kSetConditionName))
    return;
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel.getContext());
  b.setInsertionPointToStart(module.getBody());
  LLVM::LLVMFuncOp::create(
      b, kSetConditionName,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  {b.getI64Type(), b.getI32Type()}));
}

LoopGraph loopc::makeLoopGraph(gpu::GPUFuncOp kernel,
                               const AliasClasses &classes,
                               const ProductTarget &target) {
  Plan plan(kernel, classes);
  declareSetCondition(kernel);
  SmallVector<GraphNode> nodes;
  unsigned number = 0;
  for (auto [node, part] : llvm::zip_equal(plan.graph.nodes, plan.partOfNode)) {
    if (part && part->isEmpty())
      continue;
    if (part)
      PartBuilder(plan, *part, node, classes)
          .build((kernel.getName() + "_k" + Twine(number++)).str(), target);
    nodes.push_back(node);
  }
  plan.graph.nodes = std::move(nodes);
  return plan.graph;
}
