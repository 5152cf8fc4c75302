//===- CheckAccesses.cpp - Checks in front of accesses --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-check-accesses: a loop.check in front of each operation that reads,
// writes or describes a buffer.
//
// Upstream's generate-runtime-verification does the same with cf.assert, which
// ends the process, knows nothing of the lanes that a mask leaves out and calls
// an empty view at the end of a buffer wrong.

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Instrument/Passes.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/IndexEmitter.h"
#include "loopc/Target/ModelInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <set>

namespace loopc {
#define GEN_PASS_DEF_CHECKACCESSES
#include "loopc/Instrument/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// The node that `op` belongs to, for a message. Braces of a file's name must
/// not be read as places for values; locationPath() sees to those of nodes.
static std::string describePlace(Operation *op) {
  std::string text = locationPath(op->getLoc());
  if (text.empty()) {
    text = getLocationText(op->getLoc());
    for (char &c : text)
      if (c == '{' || c == '}')
        c = c == '{' ? '(' : ')';
  }
  if (text.empty())
    text = op->getParentOfType<func::FuncOp>().getName().str();
  return text + ": " + op->getName().getStringRef().str();
}

/// "[{}, {}]", for values of this number.
static std::string makeHoles(size_t count) {
  return "[" + llvm::join(SmallVector<StringRef>(count, "{}"), ", ") + "]";
}

namespace {
/// Puts checks into one function.
class Checker : IndexEmitter {
public:
  explicit Checker(MLIRContext *context)
      : IndexEmitter(UnknownLoc::get(context), context) {}

  void visit(Operation *op);
  unsigned numChecks = 0;

private:
  using Key = std::vector<const void *>;

  void checkAccess(Operation *op, Value memref, ValueRange indices,
                   ArrayRef<int64_t> lengths);
  void checkMasked(Operation *op, Value memref, ValueRange indices, Value mask,
                   Value lanes);
  void checkPacked(Operation *op, Value memref, ValueRange indices, Value mask);
  void checkTransfer(VectorTransferOpInterface op);
  void checkNew(memref::AllocOp op);
  void checkCopy(memref::CopyOp op);
  void checkSubView(memref::SubViewOp op);
  void checkCast(memref::CastOp op);
  void checkExpanded(memref::ExpandShapeOp op);
  void checkReinterpreted(memref::ReinterpretCastOp op);
  void checkByteView(memref::ViewOp op);

  Value both(Value x, Value y) {
    return x ? b.createOrFold<arith::AndIOp>(x, y) : y;
  }
  Value either(Value x, Value y) {
    return x ? b.createOrFold<arith::OrIOp>(x, y) : y;
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(predicate, x, y);
  }
  Value isBelow(Value x, Value y) {
    return compare(arith::CmpIPredicate::ult, x, y);
  }
  SmallVector<Value> extentsOf(Value memref) {
    SmallVector<Value> extents;
    for (int64_t axis : llvm::seq(cast<MemRefType>(memref.getType()).getRank()))
      extents.push_back(b.createOrFold<memref::DimOp>(memref, index(axis)));
    return extents;
  }
  /// 0, 1, 2, ...
  Value numberLanes(VectorType type) {
    SmallVector<Attribute> numbers;
    for (int64_t lane : llvm::seq(type.getNumElements()))
      numbers.push_back(b.getIndexAttr(lane));
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, numbers));
  }
  /// Whether a view of these sizes has no elements.
  Value isEmpty(ArrayRef<Value> sizes) {
    Value empty;
    for (Value size : sizes)
      empty = either(empty, compare(arith::CmpIPredicate::eq, size, index(0)));
    return empty ? empty : arith::ConstantOp::create(b, b.getBoolAttr(false));
  }
  Value product(ArrayRef<Value> values) {
    Value all = index(1);
    for (Value value : values)
      all = mul(all, value);
    return all;
  }
  /// The check itself; nothing where `ok` is known to hold.
  void require(Operation *op, Value ok, const Twine &what, ValueRange values);
  /// False where the block has such a check already.
  bool isNew(Operation *op, Value memref, ValueRange indices,
             ArrayRef<int64_t> lengths, Value mask = {}, Value lanes = {});

  Block *block = nullptr;
  /// The accesses that were checked in `block`: extents do not change.
  std::set<Key> seen;
};
} // namespace

void Checker::require(Operation *op, Value ok, const Twine &what,
                      ValueRange values) {
  if (!ok || matchPattern(ok, m_One()))
    return;
  loop::CheckOp::create(b, ok, b.getStringAttr(describePlace(op) + what),
                        values, /*iteration=*/Value());
  ++numChecks;
}

bool Checker::isNew(Operation *op, Value memref, ValueRange indices,
                    ArrayRef<int64_t> lengths, Value mask, Value lanes) {
  if (op->getBlock() != block) {
    block = op->getBlock();
    seen.clear();
  }
  Key key{memref.getAsOpaquePointer(), mask.getAsOpaquePointer(),
          lanes.getAsOpaquePointer()};
  for (Value at : indices)
    key.push_back(at.getAsOpaquePointer());
  for (int64_t length : lengths)
    key.push_back(reinterpret_cast<const void *>(length));
  return seen.insert(std::move(key)).second;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void Checker::checkAccess(Operation *op, Value memref, ValueRange indices,
                          ArrayRef<int64_t> lengths) {
  if (!isNew(op, memref, indices, lengths))
    return;
  SmallVector<Value> extents = extentsOf(memref);
  size_t first = extents.size() - lengths.size();
  Value ok;
  for (auto [axis, at, extent] : llvm::enumerate(indices, extents)) {
    ok = both(ok, isBelow(at, extent));
    // Both ends: the sum of a negative index and a length may be in range.
    if (int64_t length = axis < first ? 1 : lengths[axis - first]; length != 1)
      ok = both(ok, isBelow(add(at, index(length - 1)), extent));
  }
  std::string size;
  if (!lengths.empty())
    size = " of " + llvm::join(llvm::map_range(lengths,
                                               [](int64_t length) {
                                                 return std::to_string(length);
                                               }),
                               "x");
  SmallVector<Value> values(indices);
  llvm::append_range(values, extents);
  std::string holes = makeHoles(extents.size());
  require(op, ok, size + " at " + holes + " of a buffer of " + holes, values);
}

/// Of the elements at `lanes` behind the place along the last axis, those that
/// `mask` names.
void Checker::checkMasked(Operation *op, Value memref, ValueRange indices,
                          Value mask, Value lanes) {
  if (!isNew(op, memref, indices, {}, mask, lanes))
    return;
  SmallVector<Value> extents = extentsOf(memref);
  auto type = VectorType::get(cast<VectorType>(mask.getType()).getShape(),
                              b.getIndexType());
  if (!lanes)
    lanes = numberLanes(type);
  else if (lanes.getType() != type)
    lanes = arith::IndexCastOp::create(b, type, lanes);
  auto spread = [&](Value value) {
    return vector::BroadcastOp::create(b, type, value);
  };
  Value place = arith::AddIOp::create(b, spread(indices.back()), lanes);
  Value within = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, place,
                                       spread(extents.back()));
  for (auto [at, extent] : llvm::drop_end(llvm::zip_equal(indices, extents)))
    within = arith::AndIOp::create(
        b, within,
        vector::BroadcastOp::create(b, mask.getType(), isBelow(at, extent)));
  Value all = arith::ConstantOp::create(
      b, cast<TypedAttr>(b.getOneAttr(mask.getType())));
  Value allowed =
      arith::OrIOp::create(b, within, arith::XOrIOp::create(b, mask, all));
  if (type.getRank() != 1)
    allowed = vector::ShapeCastOp::create(
        b, VectorType::get(type.getNumElements(), b.getI1Type()), allowed);
  Value ok =
      vector::ReductionOp::create(b, vector::CombiningKind::AND, allowed);
  SmallVector<Value> values(indices);
  llvm::append_range(values, extents);
  std::string holes = makeHoles(extents.size());
  require(op, ok,
          " with a mask of " + Twine(type.getNumElements()) + " at " + holes +
              " of a buffer of " + holes,
          values);
}

/// As many elements behind one another as `mask` names.
void Checker::checkPacked(Operation *op, Value memref, ValueRange indices,
                          Value mask) {
  auto type = VectorType::get(cast<VectorType>(mask.getType()).getShape(),
                              b.getIndexType());
  Value one = index(1), zero = index(0);
  Value ones = arith::SelectOp::create(
      b, mask, vector::BroadcastOp::create(b, type, one),
      vector::BroadcastOp::create(b, type, zero));
  Value count =
      vector::ReductionOp::create(b, vector::CombiningKind::ADD, ones);
  Value reached = vector::BroadcastOp::create(b, type, count);
  Value prefix = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                       numberLanes(type), reached);
  checkMasked(op, memref, indices, prefix, {});
}

/// Along an axis that is not said to be in bounds a transfer leaves out what is
/// beyond the buffer by itself. None with a mask is left by the passes before.
void Checker::checkTransfer(VectorTransferOpInterface op) {
  Value memref = op.getBase();
  if (!isa<MemRefType>(memref.getType()) || op.getMask())
    return;
  SmallVector<Value> extents = extentsOf(memref);
  // Of the elements along each axis that must be there.
  SmallVector<int64_t> lengths(extents.size(), 1);
  ArrayRef<int64_t> shape = op.getVectorType().getShape();
  for (auto [dim, result] :
       llvm::enumerate(op.getPermutationMap().getResults()))
    if (auto axis = dyn_cast<AffineDimExpr>(result))
      lengths[axis.getPosition()] = op.isDimInBounds(dim) ? shape[dim] : 0;
  Value ok;
  for (auto [at, extent, length] :
       llvm::zip_equal(op.getIndices(), extents, lengths)) {
    if (length == 0)
      continue;
    ok = both(ok, isBelow(at, extent));
    if (length > 1)
      ok = both(ok, isBelow(add(at, index(length - 1)), extent));
  }
  SmallVector<Value> values(op.getIndices());
  llvm::append_range(values, extents);
  std::string holes = makeHoles(extents.size());
  require(op, ok, " at " + holes + " of a buffer of " + holes, values);
}

//===----------------------------------------------------------------------===//
// Buffers and views
//===----------------------------------------------------------------------===//

/// Two negative extents would have a product that can be allocated.
void Checker::checkNew(memref::AllocOp op) {
  Value ok;
  for (Value size : op.getDynamicSizes())
    ok = both(ok, compare(arith::CmpIPredicate::sge, size, index(0)));
  require(op, ok, " of open extents " + makeHoles(op.getDynamicSizes().size()),
          op.getDynamicSizes());
}

void Checker::checkCopy(memref::CopyOp op) {
  if (!isa<MemRefType>(op.getSource().getType()) ||
      !isa<MemRefType>(op.getTarget().getType()))
    return;
  SmallVector<Value> from = extentsOf(op.getSource()),
                     to = extentsOf(op.getTarget());
  Value ok;
  for (auto [x, y] : llvm::zip_equal(from, to))
    ok = both(ok, compare(arith::CmpIPredicate::eq, x, y));
  std::string holes = makeHoles(from.size());
  llvm::append_range(from, to);
  require(op, ok, " of " + holes + " to a buffer of " + holes, from);
}

void Checker::checkSubView(memref::SubViewOp op) {
  SmallVector<Value> extents = extentsOf(op.getSource()), offsets, sizes;
  Value within, sane;
  for (auto [extent, offset, size, stride] :
       llvm::zip_equal(extents, op.getMixedOffsets(), op.getMixedSizes(),
                       op.getMixedStrides())) {
    offsets.push_back(toValue(offset));
    sizes.push_back(toValue(size));
    sane =
        both(sane, compare(arith::CmpIPredicate::sge, sizes.back(), index(0)));
    Value last =
        add(offsets.back(), mul(sub(sizes.back(), index(1)), toValue(stride)));
    within = both(within, isBelow(offsets.back(), extent));
    within = both(within, isBelow(last, extent));
  }
  if (!within)
    return;
  Value ok = both(sane, either(isEmpty(sizes), within));
  SmallVector<Value> values(sizes);
  llvm::append_range(values, offsets);
  llvm::append_range(values, extents);
  std::string holes = makeHoles(extents.size());
  require(op, ok, " of " + holes + " at " + holes + " of a buffer of " + holes,
          values);
}

void Checker::checkCast(memref::CastOp op) {
  auto from = dyn_cast<MemRefType>(op.getSource().getType());
  auto to = dyn_cast<MemRefType>(op.getType());
  if (!from || !to)
    return;
  SmallVector<Value> extents = extentsOf(op.getSource());
  Value ok;
  for (auto [axis, extent] : llvm::enumerate(extents))
    if (from.isDynamicDim(axis) && !to.isDynamicDim(axis))
      ok = both(ok, compare(arith::CmpIPredicate::eq, extent,
                            index(to.getDimSize(axis))));
  SmallVector<int64_t> fromStrides, toStrides;
  int64_t fromOffset, toOffset;
  if (from.getLayout() != to.getLayout() &&
      succeeded(from.getStridesAndOffset(fromStrides, fromOffset)) &&
      succeeded(to.getStridesAndOffset(toStrides, toOffset))) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, op.getSource());
    auto isSame = [](int64_t is, int64_t said) {
      return !ShapedType::isDynamic(is) || ShapedType::isDynamic(said);
    };
    if (!isSame(fromOffset, toOffset))
      ok = both(ok, compare(arith::CmpIPredicate::eq, metadata.getOffset(),
                            index(toOffset)));
    // The stride of an axis with one element moves nothing.
    for (auto [axis, is, said] : llvm::enumerate(fromStrides, toStrides))
      if (!isSame(is, said))
        ok = both(
            ok,
            either(compare(arith::CmpIPredicate::sle, extents[axis], index(1)),
                   compare(arith::CmpIPredicate::eq,
                           metadata.getStrides()[axis], index(said))));
  }
  std::string type;
  llvm::raw_string_ostream(type) << to;
  require(op, ok,
          " of a buffer of " + makeHoles(extents.size()) + " to " + type,
          extents);
}

void Checker::checkExpanded(memref::ExpandShapeOp op) {
  SmallVector<Value> extents = extentsOf(op.getSrc()), sizes;
  for (OpFoldResult size : op.getMixedOutputShape())
    sizes.push_back(toValue(size));
  Value ok;
  for (auto [extent, group] :
       llvm::zip_equal(extents, op.getReassociationIndices())) {
    SmallVector<Value> parts;
    for (int64_t axis : group)
      parts.push_back(sizes[axis]);
    ok = both(ok, compare(arith::CmpIPredicate::eq, product(parts), extent));
  }
  std::string from = makeHoles(extents.size()), to = makeHoles(sizes.size());
  llvm::append_range(extents, sizes);
  require(op, ok, " of a buffer of " + from + " to " + to, extents);
}

void Checker::checkReinterpreted(memref::ReinterpretCastOp op) {
  Value root = getViewRoot(op.getSource());
  auto type = dyn_cast<MemRefType>(root.getType());
  // What else brings a buffer here need not be all of it: one that grows is
  // carried by a loop with the extents that are filled.
  auto owner = dyn_cast<BlockArgument>(root);
  bool isWhole =
      type && type.getLayout().isIdentity() &&
      (root.getDefiningOp<memref::AllocOp>() ||
       root.getDefiningOp<memref::AllocaOp>() ||
       root.getDefiningOp<memref::GetGlobalOp>() ||
       (owner && isa<func::FuncOp>(owner.getOwner()->getParentOp())));
  if (!isWhole || type.getElementType() != op.getType().getElementType())
    return;
  Value room = product(extentsOf(root));
  Value offset = toValue(op.getMixedOffsets().front());
  Value first = offset, last = offset, zero = index(0), sane;
  SmallVector<Value> sizes, strides;
  for (auto [size, stride] :
       llvm::zip_equal(op.getMixedSizes(), op.getMixedStrides())) {
    sizes.push_back(toValue(size));
    strides.push_back(toValue(stride));
    sane = both(sane, compare(arith::CmpIPredicate::sge, sizes.back(), zero));
    Value reach = mul(sub(sizes.back(), index(1)), strides.back());
    first = add(first, b.createOrFold<arith::MinSIOp>(reach, zero));
    last = add(last, b.createOrFold<arith::MaxSIOp>(reach, zero));
  }
  Value within = both(isBelow(first, room), isBelow(last, room));
  Value ok = either(isEmpty(sizes), within);
  if (sane)
    ok = both(sane, ok);
  std::string holes = makeHoles(sizes.size());
  SmallVector<Value> values(sizes);
  llvm::append_range(values, strides);
  values.append({offset, room});
  require(op, ok,
          " of " + holes + " with strides " + holes +
              " from {} on, of a buffer of {}",
          values);
}

void Checker::checkByteView(memref::ViewOp op) {
  MemRefType type = op.getType();
  if (!type.getElementType().isIntOrFloat())
    return;
  Value room = extentsOf(op.getSource()).front();
  SmallVector<Value> sizes;
  unsigned next = 0;
  for (int64_t extent : type.getShape())
    sizes.push_back(ShapedType::isDynamic(extent) ? op.getSizes()[next++]
                                                  : index(extent));
  int64_t width = llvm::divideCeil(type.getElementTypeBitWidth(), 8u);
  Value bytes = mul(product(sizes), index(width)), shift = op.getByteShift();
  // Neither may be negative, where the sum would be in range.
  Value ok = both(compare(arith::CmpIPredicate::ule, shift, room),
                  compare(arith::CmpIPredicate::ule, bytes, sub(room, shift)));
  require(op, ok, " of {} bytes from {} on, of a buffer of {}",
          {bytes, shift, room});
}

void Checker::visit(Operation *op) {
  b.setLoc(op->getLoc());
  b.setInsertionPoint(op);
  auto shapeOf = [](Value vector) {
    auto type = dyn_cast<VectorType>(vector.getType());
    return type ? llvm::to_vector(type.getShape()) : SmallVector<int64_t>();
  };
  // A buffer of vectors is read by whole elements.
  auto lengthsOf = [&](Value memref, Value vector) {
    bool isElement =
        isa<VectorType>(cast<MemRefType>(memref.getType()).getElementType());
    return isElement ? SmallVector<int64_t>() : shapeOf(vector);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case<memref::LoadOp, memref::StoreOp>([&](auto access) {
        checkAccess(op, access.getMemref(), access.getIndices(), {});
      })
      .Case<vector::LoadOp>([&](auto load) {
        checkAccess(op, load.getBase(), load.getIndices(),
                    lengthsOf(load.getBase(), load.getResult()));
      })
      .Case<vector::StoreOp>([&](auto store) {
        checkAccess(op, store.getBase(), store.getIndices(),
                    lengthsOf(store.getBase(), store.getValueToStore()));
      })
      .Case<vector::MaskedLoadOp, vector::MaskedStoreOp>([&](auto access) {
        checkMasked(op, access.getBase(), access.getIndices(), access.getMask(),
                    {});
      })
      .Case<vector::GatherOp, vector::ScatterOp>([&](auto access) {
        if (isa<MemRefType>(access.getBase().getType()))
          checkMasked(op, access.getBase(), access.getOffsets(),
                      access.getMask(), access.getIndices());
      })
      .Case<vector::ExpandLoadOp, vector::CompressStoreOp>([&](auto access) {
        checkPacked(op, access.getBase(), access.getIndices(),
                    access.getMask());
      })
      .Case<VectorTransferOpInterface>(
          [&](auto transfer) { checkTransfer(transfer); })
      .Case<memref::AllocOp>([&](auto alloc) { checkNew(alloc); })
      .Case<memref::CopyOp>([&](auto copy) { checkCopy(copy); })
      .Case<memref::SubViewOp>([&](auto view) { checkSubView(view); })
      .Case<memref::CastOp>([&](auto cast) { checkCast(cast); })
      .Case<memref::ExpandShapeOp>([&](auto view) { checkExpanded(view); })
      .Case<memref::ReinterpretCastOp>(
          [&](auto view) { checkReinterpreted(view); })
      .Case<memref::ViewOp>([&](auto view) { checkByteView(view); });
}

namespace {
struct CheckAccesses : loopc::impl::CheckAccessesBase<CheckAccesses> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>()) {
      SmallVector<Operation *> ops;
      function.walk<WalkOrder::PreOrder>(
          [&](Operation *op) { ops.push_back(op); });
      Checker checker(&getContext());
      for (Operation *op : ops)
        checker.visit(op);
      numChecks += checker.numChecks;
    }
    module->setAttr(kGuardedAttr, UnitAttr::get(&getContext()));
  }
};
} // namespace
