//===- VersionBroadcasts.cpp - Broadcasts that the run decides ------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// tensor-version-broadcasts: an elementwise operation on operands that are
// copied out to its extents, where they do not have these, becomes two versions
// of that operation, and no copy:
//
//   %x1 = scf.if %same { yield %x } else { yield copy of x[i == 1 ? 0 : ..] }
//   %y = generic(%x1, %z)
//     becomes
//   %y = scf.if %same { yield generic(%x, %z) }
//        else { yield generic that reads x[extent == 1 ? 0 : ..] itself }
//
// Several operands share one condition, that all have the extents already. So
// the second version must be right for those that have: it is, where a
// condition implies that each place chosen is the place of the element itself.

#include "loopc/Tensor/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace loopc {
#define GEN_PASS_DEF_TENSORVERSIONBROADCASTS
#include "loopc/Tensor/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Operations of a body that there may be two of: more take longer than the
/// copies of their operands.
static constexpr size_t kMaxBody = 16;

namespace {
/// An operand that an scf.if either takes as it is or copies out.
struct Stretch {
  Value condition;           ///< i1: `source` has the extents.
  Value source;              ///< What is taken as it is.
  linalg::GenericOp copying; ///< In the else region.
};
} // namespace

/// The conditions that are all true where `value` is.
static void findConjuncts(Value value, llvm::SmallSetVector<Value, 8> &found) {
  if (auto both = value.getDefiningOp<arith::AndIOp>()) {
    findConjuncts(both.getLhs(), found);
    findConjuncts(both.getRhs(), found);
    return;
  }
  found.insert(value);
}

/// The value that `condition` compares with `other` for equality; null where it
/// is another condition.
static Value equalTo(Value condition, OpFoldResult other) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq)
    return {};
  for (auto [x, y] : {std::pair(compare.getLhs(), compare.getRhs()),
                      std::pair(compare.getRhs(), compare.getLhs())})
    if (isEqualConstantIntOrValue(getAsOpFoldResult(y), other))
      return x;
  return {};
}

/// True if `place` is number `dim` of an element: as it is, or because it is 0
/// where the axis has one element, if `conditions` say that it has as many as
/// the result's, `extent`. Where it is the number itself the extents need not
/// be compared: what has those of the operation, as the branch gives it, has
/// that element, and the operation that has fused the copy goes over no others.
static bool isPlaceIf(Value place, uint64_t dim, OpFoldResult extent,
                      const llvm::SmallSetVector<Value, 8> &conditions) {
  auto isNumber = [&](Value value) {
    auto number = value.getDefiningOp<linalg::IndexOp>();
    return number && number.getDim() == dim;
  };
  if (isNumber(place))
    return true;
  auto choice = place.getDefiningOp<arith::SelectOp>();
  if (!choice || !isConstantIntValue(choice.getTrueValue(), 0) ||
      !isNumber(choice.getFalseValue()))
    return false;
  Builder b(place.getContext());
  Value own = equalTo(choice.getCondition(), b.getIndexAttr(1));
  return own && llvm::any_of(conditions, [&](Value condition) {
           return equalTo(condition, extent) == own;
         });
}

/// True if `copying` has the elements of `source` where `condition` is true.
static bool copiesIf(linalg::GenericOp copying, Value source, Value condition) {
  auto empty = copying.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
  auto element = copying.getBody()
                     ->getTerminator()
                     ->getOperand(0)
                     .getDefiningOp<tensor::ExtractOp>();
  if (!empty || !element || element.getTensor() != source ||
      element.getIndices().size() != copying.getNumLoops())
    return false;
  llvm::SmallSetVector<Value, 8> conditions;
  findConjuncts(condition, conditions);
  SmallVector<OpFoldResult> extents = empty.getMixedSizes();
  return llvm::all_of(llvm::enumerate(element.getIndices()),
                      [&](const auto &at) {
                        return isPlaceIf(at.value(), at.index(),
                                         extents[at.index()], conditions);
                      });
}

static std::optional<Stretch> findStretch(Value value) {
  auto branch = value.getDefiningOp<scf::IfOp>();
  if (!branch)
    return std::nullopt;
  unsigned k = cast<OpResult>(value).getResultNumber();
  Value source = branch.thenYield().getOperand(k);
  Value copied = branch.elseYield().getOperand(k);
  auto copying = copied.getDefiningOp<linalg::GenericOp>();
  if (!copying || copying->getBlock() != branch.elseBlock() ||
      source.getParentRegion() == &branch.getThenRegion() ||
      copying->getNumOperands() != 1 || copying.getNumParallelLoops() == 0 ||
      copying.getNumParallelLoops() != copying.getNumLoops() ||
      !copying.getIndexingMapsArray()[0].isIdentity() ||
      source.getType() != copied.getType() ||
      !copiesIf(copying, source, branch.getCondition()))
    return std::nullopt;
  return Stretch{branch.getCondition(), source, copying};
}

/// Clones `value` and what it is computed from in `block`.
static Value cloneFrom(OpBuilder &b, Value value, Block *block,
                       IRMapping &mapping) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != block || mapping.contains(value))
    return mapping.lookupOrDefault(value);
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  op->walk([&](Operation *inner) {
    used.insert(inner->operand_begin(), inner->operand_end());
  });
  for (Value operand : used)
    if (operand.getParentBlock() == block)
      cloneFrom(b, operand, block, mapping);
  b.clone(*op, mapping);
  return mapping.lookup(value);
}

namespace {
class BroadcastVersions {
public:
  BroadcastVersions(IRRewriter &rewriter, linalg::GenericOp op)
      : rewriter(rewriter), op(op) {}

  /// Replaces the operation where it has such operands.
  bool rewrite();

private:
  bool match();
  ValueRange emitSame();
  ValueRange emitBroadcast();

  IRRewriter &rewriter;
  linalg::GenericOp op;
  /// By the numbers of the operands.
  SmallVector<std::pair<unsigned, Stretch>> stretches;
};
} // namespace

bool BroadcastVersions::match() {
  if (!op.hasPureTensorSemantics() ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      llvm::range_size(op.getBody()->without_terminator()) > kMaxBody)
    return false;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (std::optional<Stretch> stretch = findStretch(operand->get()))
      stretches.emplace_back(operand->getOperandNumber(), *stretch);
  return !stretches.empty();
}

ValueRange BroadcastVersions::emitSame() {
  auto same = cast<linalg::GenericOp>(rewriter.clone(*op));
  for (const auto &[number, stretch] : stretches)
    same->setOperand(number, stretch.source);
  return same.getResults();
}

ValueRange BroadcastVersions::emitBroadcast() {
  auto whole = cast<linalg::GenericOp>(rewriter.clone(*op));
  OpBuilder::InsertionGuard guard(rewriter);
  llvm::SmallSetVector<Operation *, 4> copies;
  rewriter.setInsertionPoint(whole);
  for (const auto &[number, stretch] : stretches) {
    linalg::GenericOp copying = stretch.copying;
    IRMapping mapping;
    Value copied =
        cloneFrom(rewriter, copying.getResult(0), copying->getBlock(), mapping);
    whole->setOperand(number, copied);
    copies.insert(copied.getDefiningOp());
  }
  // An operand goes, others get other numbers.
  for (Operation *copying : copies) {
    OpOperand *operand = llvm::find_singleton<OpOperand>(
        whole->getOpOperands(), [&](OpOperand &candidate, bool) {
          return candidate.get().getDefiningOp() == copying ? &candidate
                                                            : nullptr;
        });
    rewriter.setInsertionPoint(whole);
    FailureOr<linalg::ElementwiseOpFusionResult> fused =
        linalg::fuseElementwiseOps(rewriter, operand);
    if (failed(fused))
      continue;
    auto next = cast<linalg::GenericOp>(fused->fusedOp);
    // Where no other operand has an extent the copy is a result, too.
    if (next.getNumResults() != whole.getNumResults()) {
      rewriter.eraseOp(next);
      continue;
    }
    rewriter.eraseOp(whole);
    whole = next;
    Value place = cast<linalg::GenericOp>(copying).getOutputs()[0];
    rewriter.eraseOp(copying);
    if (place.use_empty())
      rewriter.eraseOp(place.getDefiningOp());
  }
  return whole.getResults();
}

bool BroadcastVersions::rewrite() {
  if (!match())
    return false;
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  llvm::SmallSetVector<Value, 4> conditions;
  for (const auto &[number, stretch] : stretches)
    conditions.insert(stretch.condition);
  Value all;
  for (Value condition : conditions)
    all = all ? arith::AndIOp::create(rewriter, loc, all, condition).getResult()
              : condition;
  auto branch = scf::IfOp::create(rewriter, loc, op.getResultTypes(), all,
                                  /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  ValueRange same = emitSame();
  scf::YieldOp::create(rewriter, loc, same);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  ValueRange broadcast = emitBroadcast();
  rewriter.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(rewriter, loc, broadcast);
  rewriter.replaceOp(op, branch.getResults());
  return true;
}

namespace {
struct TensorVersionBroadcasts
    : loopc::impl::TensorVersionBroadcastsBase<TensorVersionBroadcasts> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      numVersioned += BroadcastVersions(rewriter, op).rewrite();
  }
};
} // namespace
