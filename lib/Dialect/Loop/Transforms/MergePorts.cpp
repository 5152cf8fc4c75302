//===- MergePorts.cpp - Equal ports of a loop become one ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What common subexpression elimination is for operations, for ports:
//
//   loop.loop ... carried(%x = %a, %y = %a : T, T) {
//     ... loop.yield ... carried(%x1, %y1 : T, T)  // f(%x) and f(%y)
//   }
//   ->
//   loop.loop ... carried(%x = %a : T) { ... }     // and its result for both
//
// Values are equal under the assumption that those are which are still thought
// to be; the assumption holds once nothing contradicts it.

#include "loopc/Dialect/Loop/Transforms/MergePorts.h"
#include "loopc/Dialect/Loop/IR/LoopRewrite.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Hashing.h"

#include <map>

using namespace mlir;
using namespace loopc::loop;

/// How many operations are looked through.
static constexpr unsigned kDepth = 8;

namespace {
/// Finds the carried values that are equal.
class EqualCarried {
public:
  EqualCarried(LoopOp loop, uint64_t &work)
      : loop(loop), body(loop.getLoopBody()),
        yielded(loop.getYield().getCarried()), work(work) {}

  /// For each carried value the first one that it is equal to.
  SmallVector<unsigned> find() {
    llvm::SmallDenseMap<Value, unsigned> firsts;
    for (auto [k, init] : llvm::enumerate(loop.getInits()))
      leader.push_back(firsts.try_emplace(init, k).first->second);
    while (hasFollowers() && refine())
      ;
    return leader;
  }

private:
  bool hasFollowers() {
    return llvm::any_of(llvm::enumerate(leader),
                        [](auto it) { return it.value() != it.index(); });
  }

  /// Takes those apart that do not yield the same. False if there are none.
  bool refine() {
    SmallVector<unsigned> sizes(leader.size()), refined(leader.size());
    for (unsigned k : leader)
      ++sizes[k];
    // The leaders so far, by what `hash` says: those that are not alike are
    // hardly ever compared.
    std::map<std::pair<unsigned, size_t>, SmallVector<unsigned>> leaders;
    for (auto [k, first] : llvm::enumerate(leader)) {
      refined[k] = k;
      if (sizes[first] == 1)
        continue;
      SmallVector<unsigned> &others =
          leaders[{first, hash(yielded[k], kDepth)}];
      auto *found = llvm::find_if(others, [&](unsigned j) {
        return alike(yielded[j], yielded[k], kDepth);
      });
      if (found == others.end())
        others.push_back(k);
      else
        refined[k] = *found;
    }
    std::swap(leader, refined);
    return refined != leader;
  }

  /// The number of the carried value whose argument this is, if it is one.
  std::optional<unsigned> getCarriedNumber(BlockArgument arg) {
    unsigned k = arg.getArgNumber();
    return k >= 2 && k - 2 < leader.size() ? std::optional(k - 2)
                                           : std::nullopt;
  }

  size_t hash(Value value, unsigned depth);
  bool alike(Value a, Value b, unsigned depth);

  LoopOp loop;
  Block *body;
  OperandRange yielded;
  uint64_t &work;
  /// The first value that each one is thought equal to.
  SmallVector<unsigned> leader;
};
} // namespace

/// A number that is the same for values that are `alike`.
size_t EqualCarried::hash(Value value, unsigned depth) {
  ++work;
  if (value.getParentBlock() != body)
    return llvm::hash_value(value.getAsOpaquePointer());
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    std::optional<unsigned> k = getCarriedNumber(arg);
    return llvm::hash_value(k ? leader[*k] + 2 : arg.getArgNumber());
  }
  Operation *made = value.getDefiningOp();
  if (depth == 0 || made->getNumRegions() != 0 || !isMemoryEffectFree(made))
    return llvm::hash_value(value.getAsOpaquePointer());
  // The order of operands may not matter.
  size_t operands = 0;
  for (Value operand : made->getOperands())
    operands += hash(operand, depth - 1);
  return llvm::hash_combine(made->getName(),
                            made->getDiscardableAttrDictionary(),
                            made->hashProperties(), value.getType(),
                            cast<OpResult>(value).getResultNumber(), operands);
}

/// True if the values are the same where carried values are the same as their
/// leaders. Looks through at most `depth` operations.
bool EqualCarried::alike(Value a, Value b, unsigned depth) {
  ++work;
  if (a == b)
    return true;
  if (a.getType() != b.getType() || a.getParentBlock() != body ||
      b.getParentBlock() != body)
    return false;
  auto left = dyn_cast<BlockArgument>(a), right = dyn_cast<BlockArgument>(b);
  if (left && right) {
    std::optional<unsigned> i = getCarriedNumber(left),
                            j = getCarriedNumber(right);
    return i && j && leader[*i] == leader[*j];
  }
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x || !y || depth == 0 || x->getNumRegions() != 0 ||
      cast<OpResult>(a).getResultNumber() !=
          cast<OpResult>(b).getResultNumber() ||
      !isMemoryEffectFree(x) || !isMemoryEffectFree(y))
    return false;
  return OperationEquivalence::isEquivalentTo(
      x, y, [&](Value l, Value r) { return success(alike(l, r, depth - 1)); },
      /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

/// For each collected value the first one that collects the same value the same
/// way. A memref may be written to afterwards: it is equal to none.
static SmallVector<unsigned> findEqualCollected(LoopOp loop) {
  using Way = std::tuple<Value, Type, int64_t, int64_t, Value>;
  llvm::SmallDenseMap<Way, unsigned> firsts;
  SmallVector<unsigned> leader;
  for (auto [k, result] : llvm::enumerate(loop.getCollectedResults())) {
    Way way{loop.getYield().getCollected()[k], result.getType(),
            loop.getCollectAxes()[k], loop.getCollectReverse()[k],
            loop.getLengthOf(k)};
    leader.push_back(isa<TensorType>(result.getType())
                         ? firsts.try_emplace(way, k).first->second
                         : k);
  }
  return leader;
}

bool loopc::loop::mergeEqualPorts(RewriterBase &rewriter, LoopOp loop,
                                  uint64_t &work) {
  KeptPorts kept(loop);
  for (auto [k, first] : llvm::enumerate(EqualCarried(loop, work).find()))
    if (first != k) {
      kept.carried.reset(k);
      rewriter.replaceAllUsesWith(loop.getCarriedArgs()[k],
                                  loop.getCarriedArgs()[first]);
      rewriter.replaceAllUsesWith(loop.getCarriedResults()[k],
                                  loop.getCarriedResults()[first]);
    }
  for (auto [k, first] : llvm::enumerate(findEqualCollected(loop)))
    if (first != k) {
      kept.collected.reset(k);
      rewriter.replaceAllUsesWith(loop.getCollectedResults()[k],
                                  loop.getCollectedResults()[first]);
    }
  if (kept.all())
    return false;
  rebuildLoop(rewriter, loop, kept);
  return true;
}
