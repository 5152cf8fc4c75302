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

#include "NestUses.h"
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
  NestUses uses;
};
} // namespace

/// True if iterations of `second` may each follow that of `first`. Sets
/// `handsOn` where the one reads a large buffer that the other has written.
static bool canFuse(const Nest &first, const Nest &second, bool &handsOn) {
  for (auto &[buffer, use] : second.uses) {
    auto found = first.uses.find(buffer);
    if (found == first.uses.end() || isBufferOfIteration(buffer))
      continue;
    const NestUse &before = found->second;
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
static bool isFillOfOthers(const NestUses &uses, ArrayRef<Nest> nests) {
  return llvm::all_of(uses, [&](const auto &entry) {
    const auto &[buffer, use] = entry;
    return !use.isRead &&
           llvm::none_of(nests, [&, buffer = buffer](const Nest &nest) {
             return nest.uses.contains(buffer);
           });
  });
}

static bool writesLarge(const NestUses &uses) {
  return llvm::any_of(uses, [](const auto &entry) {
    return entry.second.isWritten && isLarge(entry.first);
  });
}

static bool isSameBound(Value x, Value y) {
  std::optional<int64_t> known = getConstantIntValue(x);
  return x == y || (known && known == getConstantIntValue(y));
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
      if (!isParallelNest(dyn_cast<scf::ForOp>(parent)))
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
      std::optional<NestUses> uses =
          isParallelNest(loop) ? findNestUses(loop) : std::nullopt;
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
