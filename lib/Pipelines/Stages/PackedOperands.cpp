//===- PackedOperands.cpp - Are there zeros behind packed operands? -------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// `loopc.packed` says of an operand that it is whole panels, with zeros behind
// the elements that there are. Its verifier sees the map and the extents; here
// it is followed to what has made it, and retracted (loopc-retract-packed)
// where that does not prove it.

#include "StageErrors.h"
#include "loopc/Dialect/Loopc/IR/Panels.h"
#include "loopc/Pipelines/Passes.h"
#include "loopc/Support/Casts.h"
#include "loopc/Support/ConstantElements.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"

namespace loopc {
#define GEN_PASS_DEF_RETRACTPACKED
#include "loopc/Pipelines/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

static SmallVector<PanelGroup> getGroups(const Panels &panels) {
  SmallVector<PanelGroup> groups{{panels.dim, panels.width}};
  if (panels.group)
    groups.push_back(*panels.group);
  return groups;
}

/// The number of the operand of `op` that is panels.
static unsigned findPackedOperand(linalg::GenericOp op, const Panels &panels) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  return llvm::find(maps, panels.map) - maps.begin();
}

/// The value of a constant, a tensor or a buffer; null for others.
static ElementsAttr getConstant(Value value) {
  ElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant;
  auto get = value.getDefiningOp<memref::GetGlobalOp>();
  auto global = get ? SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
                          get, get.getNameAttr())
                    : memref::GlobalOp();
  if (!global || !global.getConstant())
    return {};
  return dyn_cast_or_null<ElementsAttr>(global.getInitialValueAttr());
}

static bool isZero(ArrayRef<char> bytes) {
  return llvm::all_of(bytes, [](char byte) { return byte == 0; });
}

static bool isZero(ElementsAttr value) {
  ArrayRef<char> bytes = getRawBytes(value);
  return !bytes.empty() && isZero(bytes);
}

/// True if all elements of `value` with the last number of `quotient` and a
/// number from `first` on along `remainder` are zero.
static bool isZeroBehind(ElementsAttr value, unsigned quotient,
                         unsigned remainder, int64_t first) {
  if (value.getNumElements() == 0 || isZero(value))
    return true;
  ArrayRef<char> bytes = getRawBytes(value);
  // One element that stands for all, or bits.
  ArrayRef<int64_t> shape = value.getShapedType().getShape();
  int64_t size = bytes.size() / value.getNumElements();
  if (size == 0 ||
      static_cast<int64_t>(bytes.size()) != size * value.getNumElements())
    return false;
  SmallVector<int64_t> counts(shape), strides = mlir::computeStrides(shape);
  counts[quotient] = 1;
  counts[remainder] = shape[remainder] - first;
  int64_t begin =
      (shape[quotient] - 1) * strides[quotient] + first * strides[remainder];
  for (int64_t k : llvm::seq(computeProduct(counts))) {
    int64_t at = begin;
    for (int64_t axis = shape.size() - 1; axis >= 0; --axis) {
      at += k % counts[axis] * strides[axis];
      k /= counts[axis];
    }
    if (!isZero(bytes.slice(at * size, size)))
      return false;
  }
  return true;
}

/// Whether a constant is panels of as many elements as `op` reads along their
/// axes, which must be known, and of zeros.
static bool hasZeros(linalg::GenericOp op, const Panels &panels,
                     ElementsAttr value) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  return llvm::all_of(getGroups(panels), [&](PanelGroup group) {
    if (ShapedType::isDynamic(extents[group.dim]))
      return false;
    int64_t rest = extents[group.dim] % group.size;
    AffineExpr d = getAffineDimExpr(group.dim, op.getContext());
    ArrayRef<AffineExpr> results = panels.map.getResults();
    unsigned quotient =
        llvm::find(results, d.floorDiv(group.size)) - results.begin();
    unsigned remainder = llvm::find(results, d % group.size) - results.begin();
    return rest == 0 || isZeroBehind(value, quotient, remainder, rest);
  });
}

static bool isZeroFill(Operation *op) {
  auto fill = dyn_cast_or_null<linalg::FillOp>(op);
  return fill && (matchPattern(fill.getInputs()[0], m_Zero()) ||
                  matchPattern(fill.getInputs()[0], m_PosZeroFloat()));
}

/// Whether the panels that `reader` reads are written to `place`, as many
/// elements as it reads, as far as both are known, and there are zeros if that
/// leaves out elements; `isZero`: the place is zero.
static bool fillsPanels(OpOperand &place, bool isZero,
                        linalg::GenericOp reader) {
  auto writer = cast<linalg::GenericOp>(place.getOwner());
  std::optional<Panels> panels = getPanels(writer), read = getPanels(reader);
  if (!panels || place.getOperandNumber() != findPackedOperand(writer, *panels))
    return false;
  SmallVector<PanelGroup> groups = getGroups(*panels),
                          wanted = getGroups(*read);
  if (groups.size() != wanted.size())
    return false;
  SmallVector<int64_t> extents = writer.getStaticLoopRanges(),
                       readExtents = reader.getStaticLoopRanges();
  return llvm::all_of(llvm::zip(groups, wanted), [&](const auto &pair) {
    auto [group, other] = pair;
    int64_t extent = extents[group.dim], readExtent = readExtents[other.dim];
    if (ShapedType::isDynamic(extent))
      return isZero;
    return (isZero || extent % group.size == 0) && group.size == other.size &&
           (ShapedType::isDynamic(readExtent) || readExtent == extent);
  });
}

/// What the branches of an scf.if yield as `value`; nothing for other values.
static SmallVector<Value> getYielded(Value value) {
  auto branches = value.getDefiningOp<scf::IfOp>();
  if (!branches)
    return {};
  unsigned number = cast<OpResult>(value).getResultNumber();
  return {branches.thenYield().getOperand(number),
          branches.elseYield().getOperand(number)};
}

/// Whether `tensor` is panels that an operation has filled, in each branch
/// where branches yield it.
static bool isFilledTensor(Value tensor, linalg::GenericOp reader) {
  SmallVector<Value> yielded = getYielded(tensor);
  if (!yielded.empty())
    return llvm::all_of(yielded, [&](Value value) {
      return isFilledTensor(withoutCasts(value), reader);
    });
  auto writer = tensor.getDefiningOp<linalg::GenericOp>();
  if (!writer)
    return false;
  OpOperand *place = writer.getTiedOpOperand(cast<OpResult>(tensor));
  Value before = withoutCasts(place->get());
  ElementsAttr constant = getConstant(before);
  return fillsPanels(
      *place, constant ? isZero(constant) : isZeroFill(before.getDefiningOp()),
      reader);
}

/// What writes to a buffer.
struct Writes {
  Operation *fill = nullptr;
  SmallVector<OpOperand *> copies;
};

/// All that writes to `alloc`; nothing where that cannot be told: of views, for
/// instance, which are not followed.
static std::optional<Writes> findWrites(memref::AllocOp alloc) {
  Writes writes;
  for (OpOperand &use : alloc->getUses()) {
    Operation *user = use.getOwner();
    auto structured = dyn_cast<linalg::LinalgOp>(user);
    if (!structured || !structured.isDpsInit(&use)) {
      if (!structured &&
          !isa<memref::DimOp, memref::DeallocOp, scf::YieldOp>(user))
        return std::nullopt;
    } else if (isa<linalg::GenericOp>(user)) {
      writes.copies.push_back(&use);
    } else if (isa<linalg::FillOp>(user) && !writes.fill) {
      writes.fill = user;
    } else {
      return std::nullopt;
    }
  }
  return writes;
}

/// Whether `buffer` is filled with panels before `here`, where `reader` reads
/// it:
///
///   %b = memref.alloc, linalg.fill of zeros, linalg.generic {loopc.packed}
///
/// in a row of one block, the last of them within branches, too: each of them
/// leaves zeros where there were zeros.
static bool isFilledBuffer(Value buffer, Operation *here,
                           linalg::GenericOp reader) {
  SmallVector<Value> yielded = getYielded(buffer);
  if (!yielded.empty())
    return llvm::all_of(yielded, [&](Value value) {
      value = withoutCasts(value);
      Operation *inside = value.getDefiningOp();
      auto branches = buffer.getDefiningOp<scf::IfOp>();
      bool isOwn = inside && branches->isProperAncestor(inside);
      return isFilledBuffer(
          value, isOwn ? inside->getBlock()->getTerminator() : branches,
          reader);
    });
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  std::optional<Writes> writes;
  if (alloc)
    writes = findWrites(alloc);
  if (!writes || writes->copies.empty())
    return false;
  Block *block = alloc->getBlock();
  here = block->findAncestorOpInBlock(*here);
  if (!here || (writes->fill && writes->fill->getBlock() != block))
    return false;
  return llvm::all_of(writes->copies, [&](OpOperand *copy) {
    Operation *writer = block->findAncestorOpInBlock(*copy->getOwner());
    bool isPlain = writer == copy->getOwner() || isa<scf::IfOp>(writer);
    return isPlain && writer->isBeforeInBlock(here) &&
           (!writes->fill || writes->fill->isBeforeInBlock(writer)) &&
           fillsPanels(*copy, isZeroFill(writes->fill), reader);
  });
}

/// The number of the operand of `op` that is said to be packed, and is not
/// proved to be.
static std::optional<unsigned> findUnproved(linalg::GenericOp op) {
  std::optional<Panels> panels = getPanels(op);
  if (!panels)
    return std::nullopt;
  unsigned number = findPackedOperand(op, *panels);
  if (op.isDpsInit(&op->getOpOperand(number)))
    return std::nullopt;
  Value source = withoutCasts(op->getOperand(number));
  ElementsAttr constant = getConstant(source);
  bool isProved =
      constant ? hasZeros(op, *panels, constant)
               : isFilledTensor(source, op) || isFilledBuffer(source, op, op);
  return isProved ? std::nullopt : std::optional(number);
}

void loopc::verifyPackedOperand(Operation *op, StageErrors &errors) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return;
  if (std::optional<unsigned> number = findUnproved(generic))
    errors.emit(op) << "says by '" << kPackedAttrName << "' that operand #"
                    << *number
                    << " has zeros behind its elements, and that is not proved";
}

namespace {
struct RetractPacked : loopc::impl::RetractPackedBase<RetractPacked> {
  void runOnOperation() override {
    getOperation().walk([&](linalg::GenericOp op) {
      std::optional<unsigned> number = findUnproved(op);
      if (!number)
        return;
      op->removeAttr(kPackedAttrName);
      ++numRetracted;
      remarkMissed(op.getLoc(), "Contraction",
                   "operand #" + Twine(*number) +
                       " is said to be packed, and nothing shows that there "
                       "are zeros behind its elements: it is read element by "
                       "element");
    });
  }
};
} // namespace
