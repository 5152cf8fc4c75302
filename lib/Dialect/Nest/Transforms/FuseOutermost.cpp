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
#include "llvm/ADT/DenseMap.h"
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
/// Uses of a buffer by the nests of a group.
struct GroupUses {
  /// One axis that iterations stay within their own part along; none where
  /// they do not, or not all along the same.
  struct Axis {
    bool isUsed = false;
    std::optional<unsigned> axis;

    void add(std::optional<unsigned> at) {
      axis = !isUsed || axis == at ? at : std::nullopt;
      isUsed = true;
    }
    bool isAlong(std::optional<unsigned> at) const {
      return !isUsed || (at && axis == at);
    }
  };
  Axis all, written;
  /// The number of the first nest that writes it.
  std::optional<unsigned> firstWriter;
};

/// Nests of which each may follow those before it. What they do is known by
/// buffers, so that a nest is not compared with each that is there.
class NestGroup {
public:
  bool empty() const { return nests.empty(); }
  unsigned size() const { return nests.size(); }
  scf::ForOp operator[](unsigned number) const { return nests[number]; }

  void add(scf::ForOp loop, const NestUses &uses) {
    for (auto &[buffer, use] : uses) {
      GroupUses &known = buffers[buffer];
      known.all.add(use.axis);
      if (!use.isWritten)
        continue;
      known.written.add(use.axis);
      if (!known.firstWriter)
        known.firstWriter = size();
    }
    nests.push_back(loop);
  }

  /// True if iterations of a nest with `uses` may each follow those of all that
  /// are there. Sets `source` to the first one that has written a large buffer
  /// which it reads.
  bool canFollow(const NestUses &uses, std::optional<unsigned> &source) {
    for (auto &[buffer, use] : uses) {
      ++work;
      auto found = buffers.find(buffer);
      if (found == buffers.end() || isBufferOfIteration(buffer))
        continue;
      const GroupUses &before = found->second;
      if (!(use.isWritten ? before.all : before.written).isAlong(use.axis))
        return false;
      if (before.firstWriter && use.isRead && isLarge(buffer))
        source =
            std::min(source.value_or(*before.firstWriter), *before.firstWriter);
    }
    return true;
  }

  /// True for a nest that fills buffers which none of these knows, the border
  /// of a padded image, say: it may stand in front of them.
  bool isFillOfOthers(const NestUses &uses) const {
    return llvm::all_of(uses, [&](const auto &entry) {
      return !entry.second.isRead && !buffers.contains(entry.first);
    });
  }

  void clear() {
    nests.clear();
    buffers.clear();
  }

  /// How many uses of buffers were compared.
  unsigned getWork() const { return work; }

private:
  SmallVector<scf::ForOp> nests;
  llvm::DenseMap<Value, GroupUses> buffers;
  unsigned work = 0;
};
} // namespace

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
  using NestFuseOutermostBase::NestFuseOutermostBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    known = {};
    work = 0;
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
    if (reportWork)
      getOperation().emitRemark() << work + known.getWork() << " uses followed";
  }

  void run(Block &block, IRRewriter &rewriter) {
    // Nests of which each may follow those before it, and what lies between
    // them, but for what is freed.
    NestGroup nests;
    SmallVector<SmallVector<Operation *>> between;
    SmallVector<scf::ForOp> fused;
    std::optional<unsigned> from;
    unsigned to = 0;
    auto flush = [&] {
      for (unsigned k = from ? *from + 1 : to + 1; k <= to; ++k) {
        for (Operation *other : between[k])
          rewriter.moveOpBefore(other, nests[*from]);
        fuse(nests[*from], nests[k], rewriter);
      }
      if (from)
        fused.push_back(nests[*from]);
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
      if (uses && known.writesPrivately(*uses)) {
        std::optional<unsigned> source;
        bool fits = nests.empty() || (hasSameRange(nests[0], loop) &&
                                      nests.canFollow(*uses, source));
        // Within, the border of a large buffer would keep loops apart.
        if ((!fits || writesLarge(*uses)) && !nests.empty() &&
            nests.isFillOfOthers(*uses)) {
          open.push_back(loop);
          continue;
        }
        if (!fits) {
          flush();
          source.reset();
        } else if (source) {
          from = std::min(from.value_or(*source), *source);
          to = nests.size();
        }
        nests.add(loop, *uses);
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
    work += nests.getWork();
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

  KnownBuffers known;
  unsigned work = 0;
};
} // namespace
