//===- ContractBuffers.cpp - Buffers become those of one iteration --------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// nest-contract-buffers: array contraction. Where each iteration of a nest
// accesses a part of a buffer of its own, and nobody else accesses the buffer,
// one such part is enough for all of them: it stays in a cache.

#include "NestUses.h"
#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "loopc/Dialect/Nest/Analysis/PrivateBuffers.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "loopc/Support/CpuModel.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc {
#define GEN_PASS_DEF_NESTCONTRACTBUFFERS
#include "loopc/Dialect/Nest/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Parts of more bytes are left where they are: threads have one each.
static constexpr int64_t kLargePart = CpuModel::kSecondCache / 4;

namespace {
/// A buffer that is allocated beside the one nest which accesses it.
struct Contraction {
  memref::AllocOp buffer;
  scf::ForOp nest;
  SmallVector<Access> accesses;
  SmallVector<unsigned> axes; ///< along which one place is left
};
} // namespace

/// Collects what accesses the buffer; false where it is used in other ways, or
/// by more than one nest.
static bool collectAccesses(Contraction &found) {
  Block *block = found.buffer->getBlock();
  for (Operation *user : found.buffer->getUsers()) {
    if (isa<memref::DeallocOp>(user))
      continue;
    Access access = getAccess(user);
    auto nest =
        dyn_cast_or_null<scf::ForOp>(block->findAncestorOpInBlock(*user));
    if (access.buffer != found.buffer.getResult() || access.isAnywhere ||
        !nest || (found.nest && found.nest != nest))
      return false;
    found.nest = nest;
    found.accesses.push_back(access);
  }
  return found.nest != nullptr;
}

/// The loops of the nest that are around `op`, the outermost one first, up to
/// what is no such loop.
static SmallVector<scf::ForOp> loopsAround(Operation *op, scf::ForOp nest) {
  SmallVector<scf::ForOp> loops;
  for (Operation *parent = op->getParentOp(); nest->isAncestor(parent);
       parent = parent->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      loops.push_back(loop);
    else if (!isa<scf::IfOp>(parent))
      loops.clear();
  }
  std::reverse(loops.begin(), loops.end());
  return loops;
}

/// Finds the axes along which all accesses of an iteration are at its number,
/// for the outermost loops. What is in an iteration of these accesses what no
/// other one does: a loop between them that no axis goes with would come back.
static void findAxes(Contraction &found) {
  auto isAt = [](const Access &access, unsigned axis, Value number) {
    return access.place[axis] == number && access.getExtent(axis) == 1;
  };
  int64_t rank = found.buffer.getType().getRank();
  for (scf::ForOp loop : loopsAround(found.accesses.front().op, found.nest)) {
    size_t before = found.axes.size();
    for (unsigned axis : llvm::seq<unsigned>(rank))
      if (llvm::all_of(found.accesses, [&](const Access &access) {
            return isAt(access, axis, loop.getInductionVar());
          }))
        found.axes.push_back(axis);
    if (found.axes.size() == before)
      return;
  }
}

/// The type of one part; null where that is not known, or nothing is gained.
static MemRefType findPartType(Contraction &found) {
  MemRefType type = found.buffer.getType();
  if (found.axes.empty() || !type.getLayout().isIdentity() ||
      !type.getElementType().isIntOrFloat())
    return {};
  SmallVector<int64_t> shape(type.getShape());
  for (unsigned axis : found.axes)
    shape[axis] = 1;
  auto part = MemRefType(MemRefType::Builder(type).setShape(shape));
  auto bytesOf = [](MemRefType of) {
    return of.getNumElements() *
           llvm::divideCeil(of.getElementTypeBitWidth(), 8);
  };
  bool isLarge =
      !type.hasStaticShape() || int64_t(bytesOf(type)) >= kBeyondCaches;
  bool isSmall = part.hasStaticShape() && int64_t(bytesOf(part)) <= kLargePart;
  return isLarge && isSmall ? part : MemRefType();
}

/// Accesses become those of one part, of `type`, unless an iteration of a
/// parallel loop is not seen to write what it reads there: threads could not
/// have one each. False then.
static bool contract(Contraction &found, MemRefType type,
                     IRRewriter &rewriter) {
  rewriter.setInsertionPoint(found.buffer);
  Location loc = found.buffer.getLoc();
  auto part = memref::AllocOp::create(rewriter, loc, type, ValueRange(),
                                      found.buffer.getAlignmentAttr());
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  part->setAttr(kPrivateAttrName, rewriter.getUnitAttr());
  SmallVector<SmallVector<Value>> places;
  for (const Access &access : found.accesses) {
    places.emplace_back(access.place);
    for (unsigned axis : found.axes)
      setPlace(access, axis, zero);
    access.op->replaceUsesOfWith(found.buffer, part);
  }
  if (findPrivateObstacle(part)) {
    for (auto [access, place] : llvm::zip_equal(found.accesses, places)) {
      access.op->replaceUsesOfWith(part, found.buffer);
      for (unsigned axis : found.axes)
        setPlace(access, axis, place[axis]);
    }
    rewriter.eraseOp(part);
    return false;
  }
  rewriter.replaceOp(found.buffer, part);
  return true;
}

namespace {
struct NestContractBuffers
    : loopc::impl::NestContractBuffersBase<NestContractBuffers> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<memref::AllocOp> buffers;
    getOperation().walk([&](memref::AllocOp op) { buffers.push_back(op); });
    for (memref::AllocOp buffer : buffers) {
      Contraction found;
      found.buffer = buffer;
      if (!collectAccesses(found))
        continue;
      findAxes(found);
      MemRefType type = findPartType(found);
      if (!type || !contract(found, type, rewriter))
        continue;
      remarkDone(found.nest.getLoc(), "ContractBuffers",
                 "a buffer becomes that of one iteration");
      ++numContracted;
    }
  }
};
} // namespace
