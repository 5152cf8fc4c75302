//===- SuccessorInputs.cpp - What loops and branches of scf hand on -------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Canonicalisations of scf's loops and branches, by their successor inputs: the
// arguments of their regions, and their results. MLIR has both of them, but
// searches what may come to each input, and compares all pairs of inputs:
// squares of their number, each time that anything in the body has changed.
// loopc's canonicalizer leaves MLIR's out (Transforms/Canonicalizer.h).

#include "loopc/Dialect/Loop/IR/LoopRewrite.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include <map>

using namespace mlir;

using InputOperands = RegionBranchInverseSuccessorMapping;

/// The operations whose operands come to successor inputs of `op`.
static SmallVector<Operation *> listSources(Operation *op) {
  SmallVector<Operation *> sources{op};
  for (Region &region : op->getRegions())
    for (Block &block : region)
      sources.push_back(block.getTerminator());
  return sources;
}

/// False if none of the values that `loop` carries stays what it began as. One
/// that does yields its init, or another one that begins as the same.
static bool mayKeepInit(scf::ForOp loop) {
  Block *body = loop.getBody();
  Operation *yield = body->getTerminator();
  OperandRange inits = loop.getInitArgs();
  for (unsigned k = 0, e = inits.size(); k < e; ++k) {
    Value init = inits[k], yielded = yield->getOperand(k);
    auto argument = dyn_cast<BlockArgument>(yielded);
    if (argument && argument.getOwner() == body && argument.getArgNumber() != 0)
      yielded = inits[argument.getArgNumber() - 1];
    if (yielded == init)
      return true;
  }
  return false;
}

/// False if no region of `op` hands on a value from outside, or one that it was
/// handed: each of its inputs that regions hand on has values of its own.
static bool mayHaveSingleValues(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return mayKeepInit(loop);
  return llvm::any_of(
      ArrayRef(listSources(op)).drop_front(), [&](Operation *source) {
        return llvm::any_of(source->getOperands(), [&](Value value) {
          Operation *block = value.getParentBlock()->getParentOp();
          return (isa<BlockArgument>(value) && block == op) ||
                 !op->isAncestor(block);
        });
      });
}

/// False if all that `op` hands on is read.
static bool mayHaveDeadInputs(Operation *op) {
  auto isUnused = [](Value value) { return value.use_empty(); };
  return llvm::any_of(op->getResults(), isUnused) ||
         llvm::any_of(op->getRegions(), [&](Region &region) {
           return !region.empty() &&
                  llvm::any_of(region.getArguments(), isUnused);
         });
}

/// False if nothing hands the same value on twice.
static bool mayHaveEqualInputs(Operation *op) {
  return llvm::any_of(listSources(op), [](Operation *source) {
    llvm::SmallPtrSet<Value, 16> seen;
    return llvm::any_of(source->getOperands(), [&](Value value) {
      return !seen.insert(value).second;
    });
  });
}

/// The successor inputs of `op`, in its order.
static SmallVector<Value> listInputs(RegionBranchOpInterface op,
                                     const InputOperands &operands) {
  SmallVector<Value> inputs;
  auto add = [&](ValueRange values) {
    for (Value value : values)
      if (operands.contains(value))
        inputs.push_back(value);
  };
  add(op->getResults());
  for (Region &region : op->getRegions())
    if (!region.empty())
      add(region.getArguments());
  return inputs;
}

namespace {
/// For each successor input of an operation the one value that may come to it:
/// what is no input itself, and is passed on, perhaps several times. An input
/// changes twice at most, from nothing to one value and from that to several.
class SingleValues {
public:
  explicit SingleValues(const InputOperands &operands) : operands(operands) {}

  void find(ArrayRef<Value> inputs) {
    llvm::DenseMap<Value, SmallVector<Value, 2>> readers;
    for (Value input : inputs)
      for (OpOperand *operand : operands.find(input)->second) {
        if (operands.contains(operand->get()))
          readers[operand->get()].push_back(input);
        else
          include(input, operand->get());
      }
    while (!changed.empty()) {
      Value input = changed.pop_back_val();
      for (Value reader : readers.lookup(input))
        include(reader, found.lookup(input));
    }
  }

  /// Null where several may come to `input`, or none.
  Value get(Value input) const { return found.lookup(input); }

private:
  /// `value`, or with null several values, may come to `input`.
  void include(Value input, Value value) {
    auto [at, isNew] = found.try_emplace(input, value);
    if (!isNew && (!at->second || at->second == value))
      return;
    if (!isNew)
      at->second = Value();
    changed.push_back(input);
  }

  const InputOperands &operands;
  llvm::DenseMap<Value, Value> found;
  SmallVector<Value> changed;
};

/// What reads a successor input to which only one value may come reads that:
///
///   %r:2 = scf.for ... iter_args(%a = %x, %b = %x) { scf.yield %b, %a }
///   use(%r#0)
///   ->
///   use(%x)
struct ForwardSingleValues : RewritePattern {
  ForwardSingleValues(StringRef op, MLIRContext *context)
      : RewritePattern(op, /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *root,
                                PatternRewriter &rewriter) const override {
    if (!mayHaveSingleValues(root))
      return failure();
    auto op = cast<RegionBranchOpInterface>(root);
    InputOperands operands;
    op.getSuccessorInputOperandMapping(operands);
    SmallVector<Value> inputs = listInputs(op, operands);
    SingleValues singles(operands);
    singles.find(inputs);
    bool changed = false;
    for (Value input : inputs) {
      Value value = singles.get(input);
      // What a region computes is not there outside of it.
      if (input.use_empty() || !value ||
          root->isAncestor(value.getParentRegion()->getParentOp()))
        continue;
      rewriter.replaceAllUsesWith(input, value);
      changed = true;
    }
    return success(changed);
  }
};

/// Of successor inputs of one place that are always handed the same, one is
/// read:
///
///   %r:2 = scf.if ... { scf.yield %x, %x } else { scf.yield %y, %y }
///   use(%r#0, %r#1)
///   ->
///   use(%r#0, %r#0)
struct MergeEqualInputs : RewritePattern {
  MergeEqualInputs(StringRef op, MLIRContext *context)
      : RewritePattern(op, /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *root,
                                PatternRewriter &rewriter) const override {
    if (!mayHaveEqualInputs(root))
      return failure();
    auto op = cast<RegionBranchOpInterface>(root);
    InputOperands operands;
    op.getSuccessorInputOperandMapping(operands);
    /// Where an input is, and what it is handed from where.
    using Place = std::vector<const void *>;
    std::map<Place, Value> leaders;
    bool changed = false;
    for (Value input : listInputs(op, operands)) {
      auto argument = dyn_cast<BlockArgument>(input);
      Place place{argument ? argument.getOwner() : nullptr};
      SmallVector<std::pair<const void *, const void *>> handed;
      for (OpOperand *operand : operands.find(input)->second)
        handed.push_back(
            {operand->getOwner(), operand->get().getAsOpaquePointer()});
      llvm::sort(handed);
      for (auto [from, value] : handed) {
        place.push_back(from);
        place.push_back(value);
      }
      Value leader = leaders.try_emplace(std::move(place), input).first->second;
      if (leader == input || input.use_empty())
        continue;
      rewriter.replaceAllUsesWith(input, leader);
      changed = true;
    }
    return success(changed);
  }
};

/// MLIR's removal of inputs that nobody reads, where there are any: it collects
/// all that is handed on, with each change in the body.
class RemoveDeadInputs : public RewritePattern {
public:
  RemoveDeadInputs(StringRef op, MLIRContext *context)
      : RewritePattern(op, /*benefit=*/1, context) {
    RewritePatternSet all(context);
    populateRegionBranchOpInterfaceCanonicalizationPatterns(all, op);
    for (std::unique_ptr<RewritePattern> &pattern : all.getNativePatterns())
      if (pattern->getDebugName().ends_with(kRemoveDeadInputs))
        remove = std::move(pattern);
    assert(remove && "MLIR's pattern has another name");
  }

  LogicalResult matchAndRewrite(Operation *root,
                                PatternRewriter &rewriter) const override {
    return success(mayHaveDeadInputs(root) &&
                   succeeded(remove->matchAndRewrite(root, rewriter)));
  }

private:
  static constexpr StringLiteral kRemoveDeadInputs =
      "RemoveDeadRegionBranchOpSuccessorInputs";
  std::unique_ptr<RewritePattern> remove;
};
} // namespace

void loopc::loop::populateSuccessorInputPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  for (StringRef op :
       {scf::ForOp::getOperationName(), scf::IfOp::getOperationName(),
        scf::WhileOp::getOperationName(),
        scf::IndexSwitchOp::getOperationName(),
        scf::ExecuteRegionOp::getOperationName()})
    patterns.add<ForwardSingleValues, MergeEqualInputs, RemoveDeadInputs>(
        op, context);
}
