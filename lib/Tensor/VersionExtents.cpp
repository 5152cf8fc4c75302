//===- VersionExtents.cpp - Chains of operations on equal extents ---------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// tensor-version-extents: elementwise operations behind one another, between
// which branches ask whether extents are equal, become two versions of all of
// them: one for extents that are, without branches, and the one that is there.
//
//   %a = generic(%x1, %y1)
//   %a1 = scf.if %same { yield %a } else { yield copy of a[i == 1 ? 0 : ..] }
//   %b = generic(%a1, %z1)
//     becomes
//   %b = scf.if (%same and all such conditions) {
//          yield generic(generic(%x, %y), %z) } else { all of the above }
//
// A chain ends in front of the first operation that uses it and is none of its
// kind. So all of it is pure, and may be computed there.

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Support/Contractions.h"
#include "loopc/Tensor/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

namespace loopc {
#define GEN_PASS_DEF_TENSORVERSIONEXTENTS
#include "loopc/Tensor/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// The comparisons for equality of extents that `condition` is the conjunction
/// of; none where it says something else. What is compared with 0 or 1 is more
/// often something else.
static std::optional<SmallVector<arith::CmpIOp>>
findComparisons(Value condition) {
  SmallVector<arith::CmpIOp> found;
  SmallVector<Value> open{condition};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (auto both = value.getDefiningOp<arith::AndIOp>()) {
      llvm::append_range(open, both->getOperands());
      continue;
    }
    auto compare = value.getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
        !compare.getLhs().getType().isIndex() ||
        llvm::any_of(compare->getOperands(), [](Value extent) {
          return isConstantIntValue(extent, 0) || isConstantIntValue(extent, 1);
        }))
      return std::nullopt;
    found.push_back(compare);
  }
  return found;
}

static bool givesTensors(Operation *op) {
  return op->getNumResults() > 0 && isMemoryEffectFree(op) &&
         llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

/// True for a branch that asks for nothing but equal extents.
static bool isBranch(Operation *op) {
  auto branch = dyn_cast<scf::IfOp>(op);
  return branch && givesTensors(op) && findComparisons(branch.getCondition());
}

/// True for what computes element by element, or moves elements.
static bool isLink(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return generic.hasPureTensorSemantics() && givesTensors(op) &&
           generic.getNumParallelLoops() == generic.getNumLoops();
  return isa<tensor::CastOp, tensor::ExtractSliceOp, tensor::InsertSliceOp,
             tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) &&
         givesTensors(op);
}

/// True if what computes `value` are sums of products, and what follows them
/// element by element: it is computed with them.
static bool followsContraction(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic &&
        !isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
            op))
      return isa<linalg::LinalgOp>(op);
    if (generic && generic.getNumReductionLoops() > 0)
      return isContraction(generic);
    if (op->getNumOperands() == 0 ||
        (generic && !generic.getIndexingMapsArray().front().isIdentity()))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

namespace {
/// Operations of a block that are versioned together.
struct Chain {
  llvm::SetVector<Operation *> links;
  Operation *end = nullptr; ///< The first one that uses them and is none.
};

class ChainFinder {
public:
  explicit ChainFinder(Block &block) : block(block) {}
  SmallVector<Chain> find();

private:
  void visit(Operation *op);
  void addSources(Chain &chain);

  Block &block;
  SmallVector<Chain> chains;
  llvm::DenseMap<Operation *, unsigned> numbers;
};

class ChainVersion {
public:
  ChainVersion(IRRewriter &rewriter, Chain &chain)
      : rewriter(rewriter), chain(chain) {}
  bool rewrite();

private:
  bool match();
  void unify();
  void emitEqual(ValueRange results);

  IRRewriter &rewriter;
  Chain &chain;
  SmallVector<scf::IfOp> branches;
  llvm::SetVector<Value> conditions;
  IRMapping mapping;
};
} // namespace

void ChainFinder::visit(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  llvm::SmallSetVector<unsigned, 4> used;
  for (Value value : values)
    if (auto it = numbers.find(value.getDefiningOp());
        it != numbers.end() && !chains[it->second].end)
      used.insert(it->second);
  bool begins = isBranch(op);
  if (!begins && (used.empty() || !isLink(op))) {
    for (unsigned number : used)
      chains[number].end = op;
    return;
  }
  if (used.empty()) {
    used.insert(chains.size());
    chains.emplace_back();
  }
  unsigned first = used.front();
  for (unsigned other : llvm::drop_begin(used)) {
    for (Operation *link : chains[other].links)
      numbers[link] = first;
    chains[first].links.insert_range(chains[other].links);
    chains[other] = Chain();
  }
  chains[first].links.insert(op);
  numbers[op] = first;
}

/// What is computed for the chain alone is a part of it.
void ChainFinder::addSources(Chain &chain) {
  for (Operation &op : llvm::reverse(
           llvm::make_range(block.begin(), chain.end->getIterator()))) {
    if (numbers.contains(&op) || !(isLink(&op) || isa<tensor::EmptyOp>(op)) ||
        llvm::any_of(op.getResults(), followsContraction))
      continue;
    bool isSource =
        !op.use_empty() && llvm::all_of(op.getUsers(), [&](Operation *user) {
          return chain.links.contains(block.findAncestorOpInBlock(*user));
        });
    if (!isSource)
      continue;
    chain.links.insert(&op);
    numbers[&op] = &chain - chains.data();
  }
}

SmallVector<Chain> ChainFinder::find() {
  for (Operation &op : block)
    visit(&op);
  for (Chain &chain : chains) {
    if (!chain.end)
      continue;
    addSources(chain);
    SmallVector<Operation *> links = chain.links.takeVector();
    llvm::sort(links, [](Operation *one, Operation *other) {
      return one->isBeforeInBlock(other);
    });
    chain.links.insert_range(links);
  }
  llvm::erase_if(chains, [](const Chain &chain) { return !chain.end; });
  return std::move(chains);
}

/// True where a branch is between operations that compute, or in front of some
/// whose results are put together, which are computed in their places then; and
/// none behind a product, which what follows would be kept from.
bool ChainVersion::match() {
  bool isBetween = llvm::any_of(chain.links, [](Operation *link) {
    return isa<tensor::InsertSliceOp>(link);
  });
  for (Operation *link : chain.links) {
    auto branch = dyn_cast<scf::IfOp>(link);
    if (!branch)
      continue;
    branches.push_back(branch);
    bool isUsed = llvm::any_of(branch->getUsers(), [&](Operation *user) {
      return chain.links.contains(user);
    });
    for (Value source : branch.thenYield().getOperands()) {
      if (followsContraction(source))
        return false;
      auto cast = source.getDefiningOp<tensor::CastOp>();
      auto computing =
          (cast ? cast.getSource() : source).getDefiningOp<linalg::GenericOp>();
      isBetween |= isUsed && computing && chain.links.contains(computing) &&
                   !computing.getBody()->without_terminator().empty();
    }
  }
  return isBetween;
}

/// Of extents that are equal one stands for all: a constant, or a dimension.
void ChainVersion::unify() {
  llvm::EquivalenceClasses<Value> classes;
  llvm::SetVector<Value> extents;
  for (scf::IfOp branch : branches) {
    auto comparisons = findComparisons(branch.getCondition());
    for (arith::CmpIOp compare : *comparisons) {
      conditions.insert(compare.getResult());
      extents.insert_range(compare->getOperands());
      classes.unionSets(compare.getLhs(), compare.getRhs());
    }
  }
  auto rank = [](Value extent) {
    return getConstantIntValue(extent)             ? 2
           : extent.getDefiningOp<tensor::DimOp>() ? 1
                                                   : 0;
  };
  llvm::DenseMap<Value, Value> best;
  for (Value extent : extents) {
    Value &chosen = best[classes.getLeaderValue(extent)];
    if (!chosen || rank(extent) > rank(chosen))
      chosen = extent;
  }
  for (Value extent : extents)
    mapping.map(extent, best[classes.getLeaderValue(extent)]);
}

/// All of it, of operands as they are.
void ChainVersion::emitEqual(ValueRange results) {
  for (Operation *link : chain.links) {
    auto branch = dyn_cast<scf::IfOp>(link);
    if (!branch) {
      for (Value operand : link->getOperands())
        if (auto empty = operand.getDefiningOp<tensor::EmptyOp>();
            empty && !mapping.contains(operand))
          rewriter.clone(*empty, mapping);
      rewriter.clone(*link, mapping);
      continue;
    }
    for (Operation &op : branch.thenBlock()->without_terminator())
      rewriter.clone(op, mapping);
    for (auto [result, source] :
         llvm::zip_equal(branch.getResults(), branch.thenYield().getOperands()))
      mapping.map(result, mapping.lookupOrDefault(source));
  }
  SmallVector<Value> yielded;
  for (Value result : results)
    yielded.push_back(mapping.lookup(result));
  scf::YieldOp::create(rewriter, chain.end->getLoc(), yielded);
}

bool ChainVersion::rewrite() {
  if (!match())
    return false;
  unify();
  Block *block = chain.end->getBlock();
  auto isOutside = [&](Operation *user) {
    return !chain.links.contains(block->findAncestorOpInBlock(*user));
  };
  SmallVector<Value> results;
  for (Operation *link : chain.links)
    for (Value result : link->getResults())
      if (llvm::any_of(result.getUsers(), isOutside))
        results.push_back(result);
  rewriter.setInsertionPoint(chain.end);
  Location loc = chain.links.front()->getLoc();
  Value all;
  for (Value condition : conditions)
    all = all ? arith::AndIOp::create(rewriter, loc, all, condition).getResult()
              : condition;
  SmallVector<Type> types = llvm::to_vector(ValueRange(results).getTypes());
  auto branch = scf::IfOp::create(rewriter, loc, types, all,
                                  /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  emitEqual(results);
  for (auto [old, result] : llvm::zip_equal(results, branch.getResults()))
    rewriter.replaceUsesWithIf(
        old, result, [&](OpOperand &use) { return isOutside(use.getOwner()); });
  for (Operation *link : chain.links)
    rewriter.moveOpBefore(link, branch.elseBlock(), branch.elseBlock()->end());
  rewriter.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(rewriter, loc, results);
  return true;
}

namespace {
struct TensorVersionExtents
    : loopc::impl::TensorVersionExtentsBase<TensorVersionExtents> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Block *> blocks;
    // Loops have versions of their own (loop-version-shapes).
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<loop::LoopOp, linalg::LinalgOp>(op))
        return WalkResult::skip();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          blocks.push_back(&block);
      return WalkResult::advance();
    });
    for (Block *block : blocks)
      for (Chain &chain : ChainFinder(*block).find())
        numVersioned += ChainVersion(rewriter, chain).rewrite();
  }
};
} // namespace
