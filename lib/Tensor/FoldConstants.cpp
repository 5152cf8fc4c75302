//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-fold-constants: constants that are put together of parts of constants,
// that are transposed, or computed: windows and filters of a formula.
//
// Exporters write the gates of a recurrent cell in ONNX's order as slices of
// the weights that are concatenated: once in the compiler instead of in every
// run, and only of a constant is it known that its panels can be made there.

#include "ConstantGenerics.h"
#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Tensor/MergeGenerics.h"
#include "loopc/Tensor/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPFOLDCONSTANTS
#include "loopc/Tensor/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Constants of this many bytes may be there twice.
static constexpr int64_t kSmall = 16 << 10;
/// What is computed of constants by the compiler has so many points at most.
static constexpr int64_t kMostPoints = 1 << 26;
/// What is computed of small constants may have so many bytes each, and all of
/// them together.
static constexpr int64_t kMostGrown = 2 << 20, kMostInAll = 32 << 20;
/// To store an element is worth it from so many simple instructions on.
static constexpr int64_t kWorthStoring = 8;
/// Constants of so many bytes are in the text of the IR.
static constexpr int64_t kLegible = 256;

using Bytes = ConstantBytes;

/// Bytes of an element; 0 if elements are no whole bytes. Truth values have one
/// while the compiler computes with them.
static int64_t elementBytes(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (element.isInteger(1))
    return 1;
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return 0;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 ? bytes : 0;
}

namespace {
/// A part of a tensor: where it is known to the compiler, its places.
struct Part {
  SmallVector<int64_t> sizes, strides;
  int64_t first = 0;

  /// Calls `move` with the place in the tensor and the place in the part of
  /// each row of neighbours, counted in elements.
  void forRows(llvm::function_ref<void(int64_t, int64_t, int64_t)> move) const {
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    bool hasRows = !sizes.empty() && strides.back() == 1;
    int64_t row = hasRows ? sizes.back() : 1;
    size_t axes = sizes.size() - (hasRows ? 1 : 0);
    SmallVector<int64_t> at(axes, 0);
    for (int64_t within = 0; within < count; within += row) {
      int64_t place = first;
      for (size_t axis = 0; axis < axes; ++axis)
        place += at[axis] * strides[axis];
      move(place, within, row);
      for (size_t axis = axes; axis-- > 0;) {
        if (++at[axis] < sizes[axis])
          break;
        at[axis] = 0;
      }
    }
  }
};
} // namespace

/// The part of a tensor of `type` that `op` reads or writes.
static std::optional<Part> partOf(OffsetSizeAndStrideOpInterface op,
                                  RankedTensorType type) {
  if (!type.hasStaticShape() ||
      llvm::any_of(op.getStaticOffsets(), ShapedType::isDynamic) ||
      llvm::any_of(op.getStaticSizes(), ShapedType::isDynamic) ||
      llvm::any_of(op.getStaticStrides(), ShapedType::isDynamic))
    return std::nullopt;
  Part part;
  part.sizes.assign(op.getStaticSizes().begin(), op.getStaticSizes().end());
  part.strides = mlir::computeStrides(type.getShape());
  for (int64_t axis : llvm::seq(type.getRank())) {
    int64_t offset = op.getStaticOffsets()[axis], size = part.sizes[axis];
    int64_t step = op.getStaticStrides()[axis];
    // What is beyond the end is an error of the run, if it gets there.
    if (offset < 0 || size < 0 ||
        (size > 0 && offset + (size - 1) * step >= type.getDimSize(axis)) ||
        (size > 0 && offset + (size - 1) * step < 0))
      return std::nullopt;
    part.first += offset * part.strides[axis];
    part.strides[axis] *= step;
  }
  return part;
}

/// The elements of `constant`, behind one another; false if unknown.
static bool readConstant(arith::ConstantOp constant, int64_t count,
                         int64_t size, Bytes &out) {
  ArrayRef<char> raw;
  if (getElementTypeOrSelf(constant.getType()).isInteger(1)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (dense)
      llvm::append_range(out, dense.getValues<bool>());
    return static_cast<bool>(dense);
  }
  if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue())) {
    raw = dense.getRawData();
    if (dense.isSplat() && static_cast<int64_t>(raw.size()) == size) {
      for (int64_t k = 0; k < count; ++k)
        out.append(raw.begin(), raw.end());
      return true;
    }
  } else if (auto held =
                 dyn_cast<DenseResourceElementsAttr>(constant.getValue())) {
    if (AsmResourceBlob *blob = held.getRawHandle().getBlob())
      raw = blob->getData();
  }
  if (static_cast<int64_t>(raw.size()) != count * size)
    return false;
  out.append(raw.begin(), raw.end());
  return true;
}

/// Copies elements of `size` bytes that are `strides` apart for each axis
/// behind one another.
static void copyOrdered(char *&to, const char *from, ArrayRef<int64_t> shape,
                        ArrayRef<int64_t> strides, int64_t size) {
  if (shape.size() > 1) {
    for (int64_t k : llvm::seq(shape[0]))
      copyOrdered(to, from + k * strides[0] * size, shape.drop_front(),
                  strides.drop_front(), size);
    return;
  }
  int64_t step = shape.empty() ? 0 : strides[0] * size;
  auto copy = [&](auto element) {
    for (int64_t k = 0, count = shape.empty() ? 1 : shape[0]; k < count; ++k) {
      std::memcpy(to, from + k * step, sizeof(element));
      to += sizeof(element);
    }
  };
  switch (size) {
  case 1:
    return copy(uint8_t());
  case 2:
    return copy(uint16_t());
  case 4:
    return copy(uint32_t());
  default:
    return copy(uint64_t());
  }
}

/// Writes `count` elements that are what `value` is; false if unknown.
static bool readFill(Value value, int64_t count, Bytes &out) {
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return false;
  APInt bits;
  if (auto number = dyn_cast<FloatAttr>(attribute))
    bits = number.getValue().bitcastToAPInt();
  else if (auto integer = dyn_cast<IntegerAttr>(attribute))
    bits = integer.getValue();
  else
    return false;
  uint64_t word = bits.getZExtValue();
  auto *first = reinterpret_cast<const char *>(&word);
  for (int64_t k = 0; k < count; ++k)
    out.append(first, first + elementBytes(value.getType()));
  return true;
}

namespace {
/// Operations that follow from constants, with what an element costs.
using Derived = llvm::MapVector<Operation *, int64_t>;

class Folder {
public:
  explicit Folder(const Derived &derived) : derived(derived) {}
  /// Finds the elements of `value`, and the constants that they come from.
  bool read(Value value, Bytes &out);
  bool readGeneric(linalg::GenericOp op, Bytes &out);
  llvm::SmallSetVector<arith::ConstantOp, 4> sources;

private:
  const Derived &derived;
  llvm::DenseMap<Operation *, Bytes> evaluated;
};
} // namespace

bool Folder::readGeneric(linalg::GenericOp op, Bytes &out) {
  if (auto known = evaluated.find(op); known != evaluated.end()) {
    out = known->second;
    return true;
  }
  SmallVector<Bytes> operands;
  for (Value operand : op->getOperands())
    if (!read(operand, operands.emplace_back()))
      return false;
  out = evaluate(op, operands);
  evaluated[op] = out;
  return true;
}

bool Folder::read(Value value, Bytes &out) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  int64_t size = type ? elementBytes(type) : 0;
  Operation *op = value.getDefiningOp();
  if (size == 0 || !type.hasStaticShape() || !op)
    return false;
  int64_t count = type.getNumElements();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    sources.insert(constant);
    return readConstant(constant, count, size, out);
  }
  if (isa<tensor::EmptyOp>(op)) {
    out.resize(count * size);
    return true;
  }
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return readFill(fill.getInputs()[0], count, out);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return derived.contains(op) && readGeneric(generic, out);
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return read(op->getOperand(0), out);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    std::optional<Part> part = partOf(slice, slice.getSourceType());
    Bytes whole;
    if (!part || !read(slice.getSource(), whole))
      return false;
    out.resize(count * size);
    part->forRows([&](int64_t from, int64_t to, int64_t length) {
      std::memcpy(&out[to * size], &whole[from * size], length * size);
    });
    return true;
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    std::optional<Part> part = partOf(insert, type);
    Bytes source;
    if (!part || !read(insert.getSource(), source) ||
        !read(insert.getDest(), out))
      return false;
    part->forRows([&](int64_t to, int64_t from, int64_t length) {
      std::memcpy(&out[to * size], &source[from * size], length * size);
    });
    return true;
  }
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    Bytes whole;
    if (!read(transpose.getInput(), whole))
      return false;
    SmallVector<int64_t> strides = mlir::computeStrides(
        cast<RankedTensorType>(transpose.getInput().getType()).getShape());
    strides = applyPermutation(strides, transpose.getPermutation());
    out.resize(count * size);
    char *to = out.data();
    copyOrdered(to, whole.data(), type.getShape(), strides, size);
    return true;
  }
  return false;
}

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

/// True if `insert` is the last of those that put its result together.
static bool isWhole(tensor::InsertSliceOp insert) {
  return !llvm::all_of(insert->getUses(), [](OpOperand &use) {
    auto next = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
    return next && use.get() == next.getDest();
  });
}

/// True if `value` is small, or only operations that compute with it read it.
static bool readOnlyByGenerics(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * elementBytes(type) <= kSmall ||
         llvm::all_of(value.getUsers(), [](Operation *user) {
           auto generic = dyn_cast<linalg::GenericOp>(user);
           return generic && canEvaluate(generic);
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
  if (!canEvaluate(op) || op.getNumReductionLoops() > 0)
    return std::nullopt;
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  if (type.getNumElements() * elementBytes(type) > kMostGrown)
    return std::nullopt;
  int64_t cost = 0;
  for (Operation &nested : op.getBody()->without_terminator())
    cost += getCost(&nested).time;
  bool isCheaplyRepeated = cost < kWorthStoring;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> own = costOf(operand, derived);
    if (!own)
      return std::nullopt;
    auto from = cast<RankedTensorType>(operand.getType());
    if (!isCheaplyRepeated || from.getNumElements() >= type.getNumElements())
      cost += *own;
  }
  // Of what is read several times the costs add up.
  return std::min(cost, kWorthStoring);
}

/// True if something reads `value` that does not become a part of a constant.
static bool isWanted(Value value, const llvm::DenseSet<Operation *> &gone) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
      return isWanted(user->getResult(0), gone);
    return !gone.contains(user);
  });
}

namespace {
struct LoopFoldConstants
    : loopc::impl::LoopFoldConstantsBase<LoopFoldConstants> {
  using Base::Base;

  void runOnOperation() override {
    // Each is a constant for the next one.
    SmallVector<linalg::GenericOp> generics;
    getOperation().walk([&](linalg::GenericOp op) { generics.push_back(op); });
    Derived derived;
    for (linalg::GenericOp generic : generics)
      if (!foldGeneric(generic))
        if (std::optional<int64_t> cost = costOf(generic, derived))
          derived[generic] = *cost;
    foldDerived(derived);
    SmallVector<tensor::InsertSliceOp> inserts;
    getOperation().walk([&](tensor::InsertSliceOp op) {
      if (isWhole(op))
        inserts.push_back(op);
    });
    for (tensor::InsertSliceOp insert : inserts)
      fold(insert);
    SmallVector<linalg::TransposeOp> transposes;
    getOperation().walk(
        [&](linalg::TransposeOp op) { transposes.push_back(op); });
    for (linalg::TransposeOp transpose : transposes)
      if (transpose->getNumResults() == 1)
        fold(transpose);
  }

  /// Integers, and what little there is of f32, that follow from constants.
  bool foldGeneric(linalg::GenericOp op) {
    if (!canEvaluate(op))
      return false;
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    int64_t size = type.getNumElements() * elementBytes(type), points = 1;
    for (int64_t range : op.getStaticLoopRanges())
      points = llvm::SaturatingMultiply<uint64_t>(points, range);
    // What is only repeated stays as it is.
    int64_t most = 1;
    for (Value input : op.getDpsInputs())
      most = std::max(most, cast<ShapedType>(input.getType()).getNumElements());
    if (points > kMostPoints || type.getNumElements() > most ||
        type.getElementType().isInteger(1) ||
        op.getBody()->without_terminator().empty() ||
        (size > kSmall && isa<FloatType>(type.getElementType())))
      return false;
    Derived none;
    Folder folder(none);
    Bytes bytes;
    if (!folder.readGeneric(op, bytes))
      return false;
    // Large ones shall not be there twice.
    if (folder.sources.empty() ||
        (size > kSmall &&
         !llvm::all_of(folder.sources, [&](arith::ConstantOp source) {
           return readOnlyByGenerics(source.getResult());
         })))
      return false;
    replace(op, type, bytes);
    return true;
  }

  /// The last of what is computed of constants, where that costs more than to
  /// load it: what comes before it is read by nobody then.
  void foldDerived(Derived &derived) {
    llvm::DenseSet<Operation *> gone;
    SmallVector<std::pair<Operation *, Bytes>> folded;
    int64_t left = kMostInAll;
    for (auto [op, cost] : llvm::reverse(derived)) {
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      if (!isWanted(op->getResult(0), gone)) {
        gone.insert(op);
        continue;
      }
      int64_t size = type.getNumElements() * elementBytes(type);
      if (cost < kWorthStoring || type.getElementType().isInteger(1) ||
          size > left)
        continue;
      Folder folder(derived);
      Bytes bytes;
      if (!folder.read(op->getResult(0), bytes) ||
          !mayStore(size, folder.sources.getArrayRef()))
        continue;
      gone.insert(op);
      left -= size;
      folded.emplace_back(op, std::move(bytes));
    }
    auto eraseDead = [](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    };
    for (auto &[op, bytes] : folded) {
      replace(op, cast<RankedTensorType>(op->getResult(0).getType()), bytes);
      derived.erase(op);
    }
    for (auto &entry : llvm::reverse(derived)) {
      for (Operation *user :
           llvm::make_early_inc_range(entry.first->getUsers()))
        eraseDead(user);
      eraseDead(entry.first);
    }
  }

  /// True if `size` bytes may be stored that are computed of `sources`: of
  /// large ones no more than they are, and in their place.
  static bool mayStore(int64_t size, ArrayRef<arith::ConstantOp> sources) {
    int64_t large = 0;
    for (arith::ConstantOp source : sources) {
      auto type = cast<RankedTensorType>(source.getType());
      int64_t bytes = type.getNumElements() * elementBytes(type);
      if (bytes <= kSmall)
        continue;
      if (!readOnlyByGenerics(source.getResult()))
        return false;
      large += bytes;
    }
    return large == 0 || size <= large;
  }

  /// Replaces and erases `op`, which is no reader of its operands any more:
  /// what sums up weights does not keep them from being transposed.
  void replace(Operation *op, RankedTensorType type, const Bytes &bytes) {
    AsmResourceBlob blob = HeapAsmResourceBlob::allocate(bytes.size(), 64);
    std::memcpy(blob.getMutableData().data(), bytes.data(), bytes.size());
    OpBuilder b(op);
    TypedAttr value;
    // Scales and zero points become parts of what computes with them.
    if (isa<linalg::GenericOp>(op) &&
        static_cast<int64_t>(bytes.size()) <= kLegible)
      value = DenseElementsAttr::getFromRawBuffer(type, bytes);
    else
      value =
          DenseResourceElementsAttr::get(type, "loopc_folded", std::move(blob));
    op->replaceAllUsesWith(
        arith::ConstantOp::create(b, op->getLoc(), type, value));
    op->erase();
    ++numFolded;
  }

  void fold(Operation *op) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (type.getElementType().isInteger(1))
      return;
    Derived none;
    Folder folder(none);
    Bytes bytes;
    if (!folder.read(op->getResult(0), bytes) || bytes.empty() ||
        folder.sources.empty())
      return;
    if (static_cast<int64_t>(bytes.size()) > kSmall &&
        !llvm::all_of(folder.sources, [](arith::ConstantOp source) {
          auto dense = dyn_cast<DenseElementsAttr>(source.getValue());
          return !(dense && dense.isSplat()) &&
                 isTakenApart(source.getResult());
        }))
      return;
    replace(op, type, bytes);
  }
};
} // namespace
