//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// tensor-fold-constants: constants that are put together of parts of constants,
// that are transposed, or computed: windows and filters of a formula.
//
// Exporters write the gates of a recurrent cell in ONNX's order as slices of
// the weights that are concatenated: once in the compiler instead of in every
// run, and only of a constant is it known that its panels can be made there.

#include "ConstantProducts.h"
#include "ConstantReader.h"
#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Support/Walk.h"
#include "loopc/Tensor/MergeGenerics.h"
#include "loopc/Tensor/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/FoldUtils.h"
#include "llvm/ADT/MapVector.h"

namespace loopc {
#define GEN_PASS_DEF_TENSORFOLDCONSTANTS
#include "loopc/Tensor/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Constants of this many bytes may be there twice.
static constexpr int64_t kSmall = 16 << 10;
/// What is computed of constants by the compiler has so many points at most.
static constexpr int64_t kMaxPoints = 1 << 26;
/// What is computed of small constants may have so many bytes each, and all of
/// them together.
static constexpr int64_t kMaxGrown = 2 << 20, kMaxInAll = 32 << 20;
/// What takes long to compute may have so many bytes each.
static constexpr int64_t kMaxKept = 16 << 20;
/// What is multiplied by the compiler has so many products each, and all of it
/// together.
static constexpr int64_t kMaxProducts = int64_t(1) << 31,
                         kMaxProductsInAll = int64_t(1) << 33;
/// Operations in front of reductions may have so many points in all.
static constexpr int64_t kMaxRepeatedPoints = int64_t(1) << 29;
/// To store an element is worth it from so many simple instructions on, and
/// beside what it is computed of from so many on.
static constexpr int64_t kMinStoredCost = 8, kMinKeptCost = 64;

using Bytes = ConstantBytes;

/// Operations that follow from constants, with what an element costs.
using Derived = llvm::MapVector<Operation *, int64_t>;

/// True if nothing but what is put together reads `value`, so that it is gone
/// when that is constant.
static bool isTakenApart(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
            tensor::ExtractSliceOp>(user))
      return isTakenApart(user->getResult(0));
    if (isa<linalg::TransposeOp>(user))
      return true;
    auto insert = dyn_cast<tensor::InsertSliceOp>(user);
    return insert && use.get() == insert.getSource() &&
           isa_and_nonnull<tensor::EmptyOp, tensor::InsertSliceOp,
                           linalg::FillOp>(insert.getDest().getDefiningOp());
  });
}

/// True if nothing reads `value` but `reader`, what it computes with (`seen`),
/// and what is `gone`. What does not follow from constants reads it in each
/// run.
static bool isReadFor(Value value, Operation *reader, const Derived &derived,
                      const llvm::DenseSet<Operation *> &gone,
                      llvm::DenseSet<Operation *> &seen) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (user == reader || gone.contains(user) || isOpTriviallyDead(user) ||
        !seen.insert(user).second)
      return true;
    return (derived.contains(user) ||
            isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user)) &&
           isReadFor(user->getResult(0), reader, derived, gone, seen);
  });
}

/// True if `value` is small, or `reader` takes its place where it is a
/// constant.
static bool isReplacedBy(Value value, Operation *reader, const Derived &derived,
                         const llvm::DenseSet<Operation *> &gone) {
  llvm::DenseSet<Operation *> seen;
  return bytesOf(cast<RankedTensorType>(value.getType())) <= kSmall ||
         isReadFor(value, reader, derived, gone, seen);
}

/// True if nothing of the large constants that `op` follows from, by way of
/// `seen`, is read for anything but `reader`: it may take their place. To ask
/// takes less time than to compute it.
static bool mayTakePlaces(Operation *op, Operation *reader,
                          const Derived &derived,
                          const llvm::DenseSet<Operation *> &gone,
                          llvm::DenseSet<Operation *> &seen) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *from = operand.getDefiningOp();
    if (!from || !isa<RankedTensorType>(operand.getType()) ||
        !seen.insert(from).second)
      return true;
    if (auto constant = dyn_cast<arith::ConstantOp>(from)) {
      auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
      return (dense && dense.isSplat()) ||
             isReplacedBy(operand, reader, derived, gone);
    }
    bool isFollowed = derived.contains(from) ||
                      isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                          tensor::ExtractSliceOp, linalg::TransposeOp>(from);
    return !isFollowed || mayTakePlaces(from, reader, derived, gone, seen);
  });
}

static bool mayTakePlaces(Operation *op, const Derived &derived,
                          const llvm::DenseSet<Operation *> &gone = {}) {
  llvm::DenseSet<Operation *> seen;
  return mayTakePlaces(op, op, derived, gone, seen);
}

/// True if `insert` is the last of those that put its result together.
static bool isWhole(tensor::InsertSliceOp insert) {
  return !llvm::all_of(insert->getUses(), [](OpOperand &use) {
    auto next = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
    return next && use.get() == next.getDest();
  });
}

/// How many points the loops of `op` have.
static int64_t countPoints(linalg::GenericOp op) {
  int64_t points = 1;
  for (int64_t range : op.getStaticLoopRanges())
    points = llvm::SaturatingMultiply<uint64_t>(points, range);
  return points;
}

/// True if nothing that `op` reads is as large as its result.
static bool isGrown(linalg::GenericOp op) {
  int64_t size = bytesOf(cast<RankedTensorType>(op.getResult(0).getType()));
  return llvm::all_of(op.getDpsInputs(), [&](Value input) {
    return bytesOf(cast<RankedTensorType>(input.getType())) < size;
  });
}

/// What an element of `value` costs that follows from constants; nothing if it
/// does not.
static std::optional<int64_t> costOf(Value value, const Derived &derived) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!op || !type || !type.hasStaticShape() || elementBytes(type) == 0 ||
      op->getNumResults() != 1)
    return std::nullopt;
  if (isa<arith::ConstantOp, tensor::EmptyOp>(op))
    return 0;
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    if (matchPattern(fill.getInputs()[0], m_Constant()))
      return 0;
    return std::nullopt;
  }
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, linalg::TransposeOp>(
          op))
    return costOf(op->getOperand(0), derived);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (partOf(slice, slice.getSourceType()))
      return costOf(slice.getSource(), derived);
    return std::nullopt;
  }
  auto found = derived.find(op);
  if (found == derived.end())
    return std::nullopt;
  return found->second;
}

/// What an element of `op`'s result costs, with what its operands cost that
/// have as many elements; nothing if it does not follow from constants.
static std::optional<int64_t> costOf(linalg::GenericOp op,
                                     const Derived &derived) {
  if (!canEvaluate(op) ||
      (op.getNumReductionLoops() > 0 && !findProductLoops(op)))
    return std::nullopt;
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  int64_t points = countPoints(op);
  if (type.getNumElements() > kMaxPoints || points > kMaxProducts ||
      (bytesOf(type) > kMaxGrown && isGrown(op)))
    return std::nullopt;
  int64_t cost = 0;
  for (Operation &nested : op.getBody()->without_terminator())
    cost += getCost(&nested).time;
  cost *= points / type.getNumElements();
  bool isCheaplyRepeated = cost < kMinStoredCost;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> own = costOf(operand, derived);
    if (!own)
      return std::nullopt;
    auto from = cast<RankedTensorType>(operand.getType());
    if (!isCheaplyRepeated || from.getNumElements() >= type.getNumElements())
      cost += *own;
  }
  // Of what is read several times the costs add up.
  return std::min(cost, kMinKeptCost);
}

/// True if something reads `value` that does not become a part of a constant.
static bool isWanted(Value value, const llvm::DenseSet<Operation *> &gone) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
      return isWanted(user->getResult(0), gone);
    return !gone.contains(user);
  });
}

/// Folds `users` of a new constant, and what uses them in turn, where they make
/// numbers or a few elements of constants alone: later operations then compute
/// with constants.
static void foldNumbers(ArrayRef<Operation *> users) {
  llvm::SetVector<Operation *> left(users.begin(), users.end());
  while (!left.empty()) {
    Operation *op = left.pop_back_val();
    bool makesNumbers =
        isa<tensor::FromElementsOp>(op) ||
        llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
    if (op->getNumRegions() > 0 || op->getNumResults() == 0 || !makesNumbers ||
        !llvm::all_of(op->getOperands(), [](Value operand) {
          return matchPattern(operand, m_Constant());
        }))
      continue;
    SmallVector<Operation *> next(op->getUsers());
    OperationFolder folder(op->getContext());
    bool isInPlace = false;
    if (succeeded(folder.tryToFold(op, &isInPlace)) && !isInPlace)
      left.insert_range(next);
  }
}

namespace {
struct TensorFoldConstants
    : loopc::impl::TensorFoldConstantsBase<TensorFoldConstants> {
  using Base::Base;

  void runOnOperation() override {
    // Each is a constant for the next one.
    SmallVector<linalg::GenericOp> generics =
        collectOps<linalg::GenericOp>(getOperation());
    Derived derived;
    pointsLeft = kMaxRepeatedPoints;
    int64_t products = kMaxProductsInAll;
    for (linalg::GenericOp generic : generics) {
      if (foldGeneric(generic, derived))
        continue;
      std::optional<int64_t> cost = costOf(generic, derived);
      if (!cost)
        continue;
      if (generic.getNumReductionLoops() > 0 &&
          (products -= countPoints(generic)) < 0)
        continue;
      derived[generic] = *cost;
    }
    foldDerived(derived);
    auto inserts = collectOps(
        getOperation(), [&](tensor::InsertSliceOp op) { return isWhole(op); });
    for (tensor::InsertSliceOp insert : inserts)
      fold(insert);
    for (linalg::TransposeOp transpose :
         collectOps<linalg::TransposeOp>(getOperation()))
      if (transpose->getNumResults() == 1)
        fold(transpose);
    sums.clear();
  }

  /// Integers, and what little there is of f32, that follow from constants;
  /// sums of what is computed of them, too.
  bool foldGeneric(linalg::GenericOp op, const Derived &derived) {
    if (!canEvaluate(op))
      return false;
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    int64_t size = bytesOf(type), points = countPoints(op);
    // What is only repeated stays as it is.
    int64_t most = 1;
    for (Value input : op.getDpsInputs())
      most = std::max(most, cast<ShapedType>(input.getType()).getNumElements());
    if (points > kMaxPoints || type.getNumElements() > most ||
        type.getElementType().isInteger(1) ||
        op.getBody()->without_terminator().empty() ||
        (size > kSmall && isa<FloatType>(type.getElementType())))
      return false;
    // Large ones shall not be there twice: what is computed takes the place of
    // what it is computed of, which nobody else reads then.
    if (size > kSmall && !mayTakePlaces(op, derived))
      return false;
    bool isSum = op.getNumReductionLoops() > 0;
    ConstantReader folder(
        [&](Operation *from) {
          if (!isSum || !derived.contains(from) || pointsLeft < 0)
            return false;
          if (!sums.contains(from))
            pointsLeft -= countPoints(cast<linalg::GenericOp>(from));
          return true;
        },
        &sums);
    Bytes bytes;
    if (!folder.readGeneric(op, bytes))
      return false;
    if (folder.sources.empty())
      return false;
    replace(op, bytes);
    return true;
  }

  /// Bytes that what is computed of constants may have beside them: a part of
  /// what they have themselves.
  int64_t mayBeKept() {
    uint64_t all = 0;
    getOperation()->walk([&](arith::ConstantOp constant) {
      auto type = dyn_cast<RankedTensorType>(constant.getType());
      auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
      // One element that is repeated may have any extents.
      if (type && !(dense && dense.isSplat()))
        all = llvm::SaturatingAdd<uint64_t>(all, bytesOf(type));
    });
    return std::max<int64_t>(kMaxInAll, all / 4);
  }

  /// The last of what is computed of constants, where that costs more than to
  /// load it, or takes the place of what it is computed of: what comes before
  /// it is read by nobody then.
  void foldDerived(Derived &derived) {
    llvm::DenseSet<Operation *> gone, taken;
    SmallVector<std::pair<Operation *, Bytes>> folded;
    int64_t left = kMaxInAll, leftToKeep = mayBeKept();
    for (auto [op, cost] : llvm::reverse(derived)) {
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      if (!isWanted(op->getResult(0), gone)) {
        gone.insert(op);
        continue;
      }
      int64_t size = bytesOf(type);
      bool mayGrow =
          cost >= kMinStoredCost && size <= std::min(left, kMaxGrown);
      // What takes long is stored beside what it is computed of.
      bool isKept =
          cost >= kMinKeptCost && size <= std::min(leftToKeep, kMaxKept);
      if (cost == 0 || type.getElementType().isInteger(1) ||
          (!mayGrow && !isKept && isGrown(cast<linalg::GenericOp>(op))) ||
          (!isKept && !mayTakePlaces(op, derived, gone)))
        continue;
      ConstantReader folder(
          [&](Operation *from) { return derived.contains(from); }, &sums);
      Bytes bytes;
      if (!folder.read(op->getResult(0), bytes))
        continue;
      SmallVector<Operation *> places;
      int64_t replaced = replacedBy(folder.sources.getArrayRef(), places);
      if (isKept) {
        gone.insert(op);
        leftToKeep -= size;
        folded.emplace_back(op, std::move(bytes));
        continue;
      }
      if ((replaced > 0 && replaced < size) || (replaced == 0 && !mayGrow) ||
          llvm::any_of(places,
                       [&](Operation *at) { return taken.contains(at); }))
        continue;
      gone.insert(op);
      taken.insert_range(places);
      left -= replaced == 0 ? size : 0;
      folded.emplace_back(op, std::move(bytes));
    }
    auto eraseDead = [](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    };
    for (auto &[op, bytes] : folded) {
      replace(op, bytes);
      derived.erase(op);
    }
    for (auto &entry : llvm::reverse(derived)) {
      for (Operation *user :
           llvm::make_early_inc_range(entry.first->getUsers()))
        eraseDead(user);
      eraseDead(entry.first);
    }
  }

  /// Bytes of the large ones of `sources`, whose `places` are taken.
  static int64_t replacedBy(ArrayRef<arith::ConstantOp> sources,
                            SmallVectorImpl<Operation *> &places) {
    int64_t large = 0;
    for (arith::ConstantOp source : sources) {
      int64_t bytes = bytesOf(cast<RankedTensorType>(source.getType()));
      auto dense = dyn_cast<DenseElementsAttr>(source.getValue());
      if (bytes <= kSmall || (dense && dense.isSplat()))
        continue;
      large += bytes;
      places.push_back(source);
    }
    return large;
  }

  void replace(Operation *op, const Bytes &bytes) {
    SmallVector<Operation *> users(op->getUsers());
    sums.erase(op);
    replaceByConstant(op, bytes);
    foldNumbers(users);
    ++numFolded;
  }

  void fold(Operation *op) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (type.getElementType().isInteger(1) || bytesOf(type) == 0)
      return;
    ConstantReader folder;
    if (!folder.find(op->getResult(0)) || folder.sources.empty())
      return;
    // To ask takes less time than to move the elements.
    if (bytesOf(type) > kSmall &&
        !llvm::all_of(folder.sources, [](arith::ConstantOp source) {
          auto dense = dyn_cast<DenseElementsAttr>(source.getValue());
          return !(dense && dense.isSplat()) &&
                 isTakenApart(source.getResult());
        }))
      return;
    folder.replace(op);
    ++numFolded;
  }

  /// What takes long to compute is computed once, whoever reads it.
  EvaluatedConstants sums;
  /// Points that operations in front of reductions may have from here on: each
  /// reduction computes them again.
  int64_t pointsLeft = 0;
};
} // namespace
