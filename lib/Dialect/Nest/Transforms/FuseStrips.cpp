//===- FuseStrips.cpp - Nests that read rows of another take turns --------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// nest-fuse-strips: a nest of which each iteration reads some rows that another
// nest has written, and that nobody else reads, computes these rows itself. The
// buffer between both, an image, becomes one of so many rows: it stays in a
// cache. No row is computed twice, and each sum is computed as before.

#include "NestUses.h"
#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "loopc/Dialect/Nest/Analysis/PrivateBuffers.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace loopc {
#define GEN_PASS_DEF_NESTFUSESTRIPS
#include "loopc/Dialect/Nest/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Of fewer strips threads would have no even shares.
static constexpr int64_t kManyStrips = 16;
/// With so many rows in each, a strip is no smaller than what a cache has.
static constexpr int64_t kMaxRows = 16;

namespace {
/// Two nests and the buffer between them.
struct Strips {
  scf::ForOp writer, reader;
  memref::AllocOp buffer;
  unsigned axis = 0; ///< of the buffer, whose places are rows
  int64_t rows = 0;  ///< that an iteration of the reader reads
  SmallVector<Access> writes, reads;
  /// Within a strip, which row each of `reads` reads, of `operands`.
  SmallVector<AffineMap> rowMaps;
  SmallVector<SmallVector<Value>> operands;
};
} // namespace

/// A loop from 0 on that counts by ones.
static bool countsRows(scf::ForOp loop) {
  return isConstantIntValue(loop.getLowerBound(), 0) &&
         isConstantIntValue(loop.getStep(), 1);
}

/// The bounds of `value`, a constant or the number of an iteration.
static std::optional<std::pair<int64_t, int64_t>> findRange(Value value) {
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return std::pair(*known, *known);
  auto number = dyn_cast<BlockArgument>(value);
  auto loop = number ? dyn_cast<scf::ForOp>(number.getOwner()->getParentOp())
                     : scf::ForOp();
  if (!loop || loop.getInductionVar() != value)
    return std::nullopt;
  std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound()),
                         end = getConstantIntValue(loop.getUpperBound());
  if (!first || !end || *end <= *first)
    return std::nullopt;
  return std::pair(*first, *end - 1);
}

/// Reads `index` as rows * (number of the iteration) + row, where a row is one
/// of 0 to rows - 1; false if it is not so.
static bool readRow(Value index, Strips &strips) {
  Value number = strips.reader.getInductionVar();
  AffineMap map = AffineMap::getMultiDimIdentityMap(1, index.getContext());
  SmallVector<Value> operands{index};
  affine::fullyComposeAffineMapAndOperands(&map, &operands);
  affine::canonicalizeMapAndOperands(&map, &operands);
  AffineExpr zero = getAffineConstantExpr(0, index.getContext());
  SmallVector<AffineExpr> atZero, atNext;
  SmallVector<std::optional<int64_t>> least, most;
  for (auto [k, operand] : llvm::enumerate(operands)) {
    bool isDim = k < map.getNumDims();
    AffineExpr expr =
        isDim ? getAffineDimExpr(k, index.getContext())
              : getAffineSymbolExpr(k - map.getNumDims(), index.getContext());
    bool isNumber = operand == number;
    atZero.push_back(isNumber ? zero : expr);
    atNext.push_back(isNumber ? expr + 1 : expr);
    auto range = findRange(operand);
    if (!isNumber && !range)
      return false;
    least.push_back(isNumber ? 0 : range->first);
    most.push_back(isNumber ? 0 : range->second);
  }
  unsigned numDims = map.getNumDims(), numSymbols = map.getNumSymbols();
  auto replace = [&](ArrayRef<AffineExpr> by) {
    AffineExpr expr = map.getResult(0).replaceDimsAndSymbols(
        by.take_front(numDims), by.drop_front(numDims));
    return simplifyAffineExpr(expr, numDims, numSymbols);
  };
  auto step = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
      replace(atNext) - map.getResult(0), numDims, numSymbols));
  if (!step || step.getValue() < 1 || step.getValue() > kMaxRows ||
      (strips.rows && strips.rows != step.getValue()))
    return false;
  strips.rows = step.getValue();
  AffineExpr row = replace(atZero);
  auto lower = getBoundForAffineExpr(row, numDims, numSymbols, least, most,
                                     /*isUpper=*/false);
  auto upper = getBoundForAffineExpr(row, numDims, numSymbols, least, most,
                                     /*isUpper=*/true);
  if (!lower || !upper || *lower < 0 || *upper >= strips.rows)
    return false;
  strips.rowMaps.push_back(AffineMap::get(numDims, numSymbols, row));
  strips.operands.push_back(std::move(operands));
  return true;
}

/// Collects what reads and writes the buffer; false where it is used by others
/// than the reader and one nest in the same block, which is the writer.
static bool collectAccesses(Strips &strips) {
  Block *block = strips.reader->getBlock();
  for (Operation *user : strips.buffer->getUsers()) {
    if (isa<memref::DeallocOp>(user))
      continue;
    Access access = getAccess(user);
    auto nest =
        dyn_cast_or_null<scf::ForOp>(block->findAncestorOpInBlock(*user));
    if (access.buffer != strips.buffer.getResult() || access.isAnywhere ||
        access.permutation || !nest)
      return false;
    if (nest == strips.reader) {
      if (access.writes)
        return false;
      strips.reads.push_back(access);
      continue;
    }
    if (!access.writes || (strips.writer && strips.writer != nest))
      return false;
    strips.writer = nest;
    strips.writes.push_back(access);
  }
  return strips.writer && isParallelNest(strips.writer) &&
         countsRows(strips.writer) &&
         strips.writer->isBeforeInBlock(strips.reader);
}

/// Finds the axis along which the writer writes a row in each iteration, and
/// the reader reads some; false if there is none.
static bool findRows(Strips &strips) {
  Value number = strips.writer.getInductionVar();
  ValueRange place = strips.writes.front().place;
  strips.axis = std::distance(place.begin(), llvm::find(place, number));
  if (strips.axis == place.size())
    return false;
  for (const Access &write : strips.writes)
    if (write.place[strips.axis] != number || write.getExtent(strips.axis) != 1)
      return false;
  return llvm::all_of(strips.reads, [&](const Access &read) {
    return read.getExtent(strips.axis) == 1 &&
           readRow(read.place[strips.axis], strips);
  });
}

/// True if the part along `axis` that both nests use is one place, which both
/// know: the number of a loop around them.
static bool isOnePlace(const Strips &strips, unsigned axis) {
  Value at = strips.writes.front().place[axis];
  auto isThere = [&](const Access &access) {
    return access.place[axis] == at && access.getExtent(axis) == 1;
  };
  Operation *owner = at.getParentBlock()->getParentOp();
  return !strips.writer->isAncestor(owner) &&
         !strips.reader->isAncestor(owner) &&
         llvm::all_of(strips.writes, isThere) &&
         llvm::all_of(strips.reads, isThere);
}

/// The type of the buffer with the rows of one strip; null where it is not
/// known, or where the whole stays in a cache.
static MemRefType findStripType(Strips &strips) {
  MemRefType type = strips.buffer.getType();
  if (!type.getLayout().isIdentity() || !type.getElementType().isIntOrFloat())
    return {};
  SmallVector<int64_t> shape(type.getShape());
  int64_t whole = type.getElementTypeBitWidth() / 8;
  for (unsigned k = 0; k < shape.size(); ++k) {
    if (k < strips.axis && isOnePlace(strips, k))
      shape[k] = 1;
    if (ShapedType::isDynamic(shape[k]))
      return {};
    whole *= shape[k];
    if (k == strips.axis)
      shape[k] = strips.rows;
  }
  if (whole < kBeyondCaches)
    return {};
  return MemRefType::Builder(type).setShape(shape);
}

/// True if the writer may stand where the reader does, and an iteration of this
/// one before the rows of the next one are computed. Collects what is freed in
/// between, and then must be behind.
static bool mayTakeTurns(Strips &strips, SmallVectorImpl<Operation *> &behind) {
  std::optional<NestUses> written = findNestUses(strips.writer),
                          read = findNestUses(strips.reader);
  KnownBuffers buffers;
  if (!written || !read || !buffers.writesPrivately(*read))
    return false;
  auto isApart = [&](const NestUses &uses, const NestUses &others) {
    return llvm::all_of(uses, [&](const auto &entry) {
      return !entry.second.isWritten || !others.contains(entry.first);
    });
  };
  // The writer writes the buffer alone.
  for (const auto &[buffer, use] : *written)
    if (use.isWritten && buffer != strips.buffer.getResult())
      return false;
  if (!isApart(*read, *written))
    return false;
  for (Operation *op = strips.writer->getNextNode(); op != strips.reader;
       op = op->getNextNode()) {
    auto nest = dyn_cast<scf::ForOp>(op);
    std::optional<NestUses> uses =
        isParallelNest(nest) ? findNestUses(nest) : std::nullopt;
    if (isa<memref::DeallocOp>(op))
      behind.push_back(op);
    else if (!isMemoryEffectFree(op) && !isa<memref::AllocOp>(op) &&
             !(uses && buffers.writesPrivately(*uses) &&
               isApart(*uses, *written)))
      return false;
  }
  return true;
}

/// Finds the strips that `reader` reads of `buffer`.
static std::optional<Strips> findStrips(scf::ForOp reader,
                                        memref::AllocOp buffer) {
  Strips strips;
  strips.reader = reader;
  strips.buffer = buffer;
  if (!collectAccesses(strips) || strips.writes.empty() ||
      strips.reads.empty() || !findRows(strips))
    return std::nullopt;
  std::optional<int64_t> count = getConstantIntValue(reader.getUpperBound());
  if (count && *count < kManyStrips)
    return std::nullopt;
  return strips;
}

/// How many `rows` from `first` on the writer writes. What is read is there, so
/// that it is all of them, but who says so may be the model.
static Value rowsOfStrip(Strips &strips, Value first, Value rows,
                         ImplicitLocOpBuilder &b) {
  Value end = strips.writer.getUpperBound();
  std::optional<int64_t> written = getConstantIntValue(end),
                         count =
                             getConstantIntValue(strips.reader.getUpperBound());
  if (written && count && *count * strips.rows <= *written)
    return rows;
  return arith::MinSIOp::create(b, arith::SubIOp::create(b, end, first), rows);
}

/// `strip` stays where the whole buffer was, if each iteration of `reader` is
/// seen to write what it reads there, so that threads may have their own; else
/// each iteration allocates it.
static void placeStrip(memref::AllocOp strip, scf::ForOp reader,
                       RewriterBase &rewriter) {
  strip->setAttr(kPrivateAttrName, rewriter.getUnitAttr());
  if (!findPrivateObstacle(strip))
    return;
  strip->removeAttr(kPrivateAttrName);
  for (Operation *user : llvm::make_early_inc_range(strip->getUsers()))
    if (isa<memref::DeallocOp>(user))
      rewriter.eraseOp(user);
  rewriter.moveOpBefore(strip, &reader.getBody()->front());
  rewriter.setInsertionPoint(reader.getBody()->getTerminator());
  memref::DeallocOp::create(rewriter, strip.getLoc(), strip);
}

/// The writer becomes a loop over the rows of a strip in the reader.
static void fuse(Strips &strips, MemRefType type, RewriterBase &rewriter) {
  Location loc = strips.reader.getLoc();
  ImplicitLocOpBuilder b(loc, rewriter);
  b.setInsertionPointToStart(strips.reader.getBody());
  Value zero = arith::ConstantIndexOp::create(b, 0),
        one = arith::ConstantIndexOp::create(b, 1),
        rows = arith::ConstantIndexOp::create(b, strips.rows);
  auto strip = memref::AllocOp::create(b, type, ValueRange(),
                                       strips.buffer.getAlignmentAttr());
  strip->moveBefore(strips.buffer);
  Value first =
      b.createOrFold<arith::MulIOp>(strips.reader.getInductionVar(), rows);
  auto loop =
      scf::ForOp::create(b, zero, rowsOfStrip(strips, first, rows, b), one);
  loop->setDiscardableAttrs(strips.writer->getDiscardableAttrDictionary());
  b.setInsertionPointToStart(loop.getBody());
  Value row = arith::AddIOp::create(b, first, loop.getInductionVar());
  rewriter.eraseOp(strips.writer.getBody()->getTerminator());
  rewriter.inlineBlockBefore(strips.writer.getBody(),
                             loop.getBody()->getTerminator(), row);
  auto moveTo = [&](const Access &access, Value at) {
    for (auto k : llvm::seq<unsigned>(type.getRank()))
      if (k < strips.axis && type.getDimSize(k) == 1)
        setPlace(access, k, zero);
    setPlace(access, strips.axis, at);
    access.op->replaceUsesOfWith(strips.buffer, strip);
  };
  for (const Access &write : strips.writes)
    moveTo(write, loop.getInductionVar());
  for (auto [read, map, operands] :
       llvm::zip_equal(strips.reads, strips.rowMaps, strips.operands)) {
    b.setInsertionPoint(read.op);
    moveTo(read, affine::makeComposedAffineApply(b, loc, map,
                                                 getAsOpFoldResult(operands)));
  }
  rewriter.eraseOp(strips.writer);
  rewriter.replaceOp(strips.buffer, strip);
  placeStrip(strip, strips.reader, rewriter);
}

/// True if no loop is around `nest` but others whose iterations are
/// independent, those over a batch.
static bool isOutsideOfLoops(scf::ForOp nest) {
  for (auto loop = nest->getParentOfType<LoopLikeOpInterface>(); loop;
       loop = loop->getParentOfType<LoopLikeOpInterface>())
    if (!isParallelNest(dyn_cast<scf::ForOp>(loop.getOperation())))
      return false;
  return true;
}

namespace {
struct NestFuseStrips : loopc::impl::NestFuseStripsBase<NestFuseStrips> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<scf::ForOp> readers;
    getOperation().walk([&](scf::ForOp loop) {
      if (isParallelNest(loop) && countsRows(loop) && isOutsideOfLoops(loop))
        readers.push_back(loop);
    });
    for (scf::ForOp reader : readers)
      run(reader, rewriter);
  }

  void run(scf::ForOp reader, IRRewriter &rewriter) {
    llvm::SetVector<Operation *> buffers;
    reader->walk([&](Operation *op) {
      Access access = getAccess(op);
      if (!access.buffer || access.writes)
        return;
      if (auto alloc = access.buffer.getDefiningOp<memref::AllocOp>();
          alloc && !reader->isAncestor(alloc))
        buffers.insert(alloc);
    });
    for (Operation *buffer : buffers) {
      std::optional<Strips> strips =
          findStrips(reader, cast<memref::AllocOp>(buffer));
      MemRefType type = strips ? findStripType(*strips) : MemRefType();
      SmallVector<Operation *> behind;
      if (!type || !mayTakeTurns(*strips, behind))
        continue;
      for (Operation *op : llvm::reverse(behind))
        rewriter.moveOpAfter(op, reader);
      remarkDone(reader.getLoc(), "FuseStrips",
                 "the rows that an iteration reads are computed in it");
      fuse(*strips, type, rewriter);
      ++numFused;
    }
  }
};
} // namespace
