//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// nest-fuse-outermost: nests over heads of which one reads what another has
// written. What one head has fits into a cache, what all have does not.
// Products with rows between them have come as tiles (cpu-tile-chains).

#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "loopc/Dialect/Nest/Analysis/PrivateBuffers.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "loopc/Support/CpuModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace loopc {
#define GEN_PASS_DEF_NESTFUSEOUTERMOST
#include "loopc/Dialect/Nest/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// A buffer of an unknown size may be a large one if it has so many axes: of
/// heads, rows and columns.
static constexpr int64_t kManyAxes = 3;

namespace {
/// How a nest uses one buffer.
struct Use {
  bool isRead = false, isWritten = false;
  /// The axis along which each iteration stays within its own part; none where
  /// it does not.
  std::optional<unsigned> axis;
  bool isFirst = true;

  void add(std::optional<unsigned> at, bool writes) {
    axis = isFirst || axis == at ? at : std::nullopt;
    isFirst = false;
    (writes ? isWritten : isRead) = true;
  }
};

/// All that a nest reads and writes, by the buffers.
using Uses = llvm::MapVector<Value, Use>;
} // namespace

/// True if `access`, at the number of an iteration of `nest` along `axis`, goes
/// no further than the next one begins.
static bool takesStep(const Access &access, size_t axis, scf::ForOp nest) {
  int64_t extent = access.getExtent(axis);
  std::optional<int64_t> step = getConstantIntValue(nest.getStep());
  return extent == 1 || (step && extent <= *step);
}

/// The axis of the root of `buffer` that numbers along its axis `axis` count
/// along, too; none where a view counts from another place.
static std::optional<unsigned> axisOfRoot(Value buffer, unsigned axis) {
  while (Value source = getViewSource(buffer)) {
    Operation *view = buffer.getDefiningOp();
    if (auto joined = dyn_cast<memref::CollapseShapeOp>(view)) {
      ReassociationIndices group = joined.getReassociationIndices()[axis];
      if (group.size() != 1)
        return std::nullopt;
      axis = group.front();
    } else if (!isa<memref::CastOp>(view)) {
      return std::nullopt;
    }
    buffer = source;
  }
  return axis;
}

/// What `nest` does with buffers; none where it does something else as well.
static std::optional<Uses> findUses(scf::ForOp nest) {
  Uses uses;
  WalkResult result = nest.getBody()->walk([&](Operation *op) {
    Access access = getAccess(op);
    if (!access.buffer) {
      // What loops and branches hold is walked by itself.
      return isMemoryEffectFree(op) ||
                     isa<scf::ForOp, scf::IfOp, LLVM::CallIntrinsicOp>(op)
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    }
    Value base = getViewRoot(access.buffer);
    std::optional<unsigned> axis;
    for (auto [k, index] : llvm::enumerate(access.place))
      if (index == nest.getInductionVar() && takesStep(access, k, nest))
        axis = axisOfRoot(access.buffer, k);
    uses[base].add(axis, access.writes);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return std::nullopt;
  return uses;
}

/// True if nobody knows `buffer` by another name.
static bool isPrivate(Value buffer) {
  return buffer.getDefiningOp<memref::AllocOp>() &&
         allUsersOfViews(buffer, [](Operation *user) {
           return getAccess(user).buffer ||
                  isa<memref::DeallocOp, memref::DimOp, func::ReturnOp>(user);
         });
}

/// True for what an iteration writes before it reads it (Parallel.h): nobody
/// has proved the marks yet.
static bool isOfIteration(Value buffer) {
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  return alloc && alloc->hasAttr(kPrivateAttrName) &&
         !findPrivateObstacle(alloc);
}

static bool isLarge(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.hasStaticShape())
    return type.getRank() >= kManyAxes;
  return type.getElementType().isIntOrFloat() &&
         type.getNumElements() * type.getElementType().getIntOrFloatBitWidth() /
                 8 >=
             CpuModel::kLargeBuffer;
}

namespace {
/// A nest and what it uses.
struct Nest {
  scf::ForOp loop;
  Uses uses;
};
} // namespace

/// True if iterations of `second` may each follow that of `first`. Sets
/// `handsOn` where the one reads a large buffer that the other has written.
static bool canFuse(const Nest &first, const Nest &second, bool &handsOn) {
  for (auto &[buffer, use] : second.uses) {
    auto found = first.uses.find(buffer);
    if (found == first.uses.end() || isOfIteration(buffer))
      continue;
    const Use &before = found->second;
    if (!use.isWritten && !before.isWritten)
      continue;
    if (!use.axis || use.axis != before.axis)
      return false;
    handsOn |= before.isWritten && use.isRead && isLarge(buffer);
  }
  return true;
}

/// True for a nest that fills buffers which none of `nests` knows, the border
/// of a padded image, say: it may stand in front of them.
static bool isFillOfOthers(const Uses &uses, ArrayRef<Nest> nests) {
  return llvm::all_of(uses, [&](const auto &entry) {
    const auto &[buffer, use] = entry;
    return !use.isRead &&
           llvm::none_of(nests, [&, buffer = buffer](const Nest &nest) {
             return nest.uses.contains(buffer);
           });
  });
}

static bool writesLarge(const Uses &uses) {
  return llvm::any_of(uses, [](const auto &entry) {
    return entry.second.isWritten && isLarge(entry.first);
  });
}

/// True if nobody knows what is written by another name.
static bool writesPrivately(const Uses &uses) {
  return llvm::all_of(uses, [](const auto &entry) {
    return !entry.second.isWritten || isOfIteration(entry.first) ||
           isPrivate(entry.first);
  });
}

static bool isSameBound(Value x, Value y) {
  std::optional<int64_t> known = getConstantIntValue(x);
  return x == y || (known && known == getConstantIntValue(y));
}

static bool isCandidate(scf::ForOp loop) {
  return loop && loop->hasAttr(kParallelAttrName) &&
         loop.getNumResults() == 0 &&
         loop.getInductionVar().getType().isIndex();
}

static bool hasSameRange(scf::ForOp first, scf::ForOp second) {
  return isSameBound(first.getLowerBound(), second.getLowerBound()) &&
         isSameBound(first.getUpperBound(), second.getUpperBound()) &&
         isSameBound(first.getStep(), second.getStep());
}

namespace {
struct NestFuseOutermost
    : loopc::impl::NestFuseOutermostBase<NestFuseOutermost> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      Operation *parent = block->getParentOp();
      // The outermost ones only, and what lies side by side in those that
      // become one: else, within, all is in a cache.
      if (!isCandidate(dyn_cast<scf::ForOp>(parent)))
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      run(*block, rewriter);
  }

  void run(Block &block, IRRewriter &rewriter) {
    // Nests of which each may follow those before it, and what lies between
    // them, but for what is freed.
    SmallVector<Nest> nests;
    SmallVector<SmallVector<Operation *>> between;
    SmallVector<scf::ForOp> fused;
    std::optional<unsigned> from;
    unsigned to = 0;
    auto flush = [&] {
      for (unsigned k = from ? *from + 1 : to + 1; k <= to; ++k) {
        for (Operation *other : between[k])
          rewriter.moveOpBefore(other, nests[*from].loop);
        fuse(nests[*from].loop, nests[k].loop, rewriter);
      }
      if (from)
        fused.push_back(nests[*from].loop);
      nests.clear();
      between.clear();
      from.reset();
      to = 0;
    };
    SmallVector<Operation *> open;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto loop = dyn_cast<scf::ForOp>(op);
      std::optional<Uses> uses =
          isCandidate(loop) ? findUses(loop) : std::nullopt;
      if (uses && writesPrivately(*uses)) {
        Nest nest{loop, std::move(*uses)};
        unsigned number = nests.size();
        std::optional<unsigned> source;
        bool fits = nests.empty() || hasSameRange(nests[0].loop, loop);
        for (unsigned k = 0; fits && k < number; ++k) {
          bool handsOn = false;
          fits = canFuse(nests[k], nest, handsOn);
          if (handsOn && !source)
            source = k;
        }
        // Within, the border of a large buffer would keep loops apart.
        if ((!fits || writesLarge(nest.uses)) && !nests.empty() &&
            isFillOfOthers(nest.uses, nests)) {
          open.push_back(loop);
          continue;
        }
        if (!fits) {
          flush();
          source.reset();
        } else if (source) {
          from = std::min(from.value_or(*source), *source);
          to = number;
        }
        nests.push_back(std::move(nest));
        between.push_back(std::move(open));
        open.clear();
      } else if (isMemoryEffectFree(&op) || isa<memref::AllocOp>(op)) {
        open.push_back(&op);
      } else if (!isa<memref::DeallocOp>(op)) {
        flush();
        open.clear();
      }
    }
    flush();
    // What an iteration hands on may be large, too, and its loops, one behind
    // the other, no longer make one nest for threads: sequences of a batch, of
    // which there may be one, and heads.
    for (scf::ForOp loop : fused)
      run(*loop.getBody(), rewriter);
  }

  void fuse(scf::ForOp first, scf::ForOp second, IRRewriter &rewriter) {
    rewriter.eraseOp(first.getBody()->getTerminator());
    rewriter.inlineBlockBefore(second.getBody(), first.getBody(),
                               first.getBody()->end(), first.getInductionVar());
    rewriter.eraseOp(second);
    ++numFused;
  }
};
} // namespace
