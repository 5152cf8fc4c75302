//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// cpu-keep-in-registers: small tensors of loop bodies become vectors, and so
// do those that loops carry.
//
// A small tensor is one flat vector of its elements in C order, whatever its
// rank: how an operation's operands are indexed is known here, element by
// element, so that a broadcast or a transpose is a shuffle.

#include "Registers/Lanes.h"
#include "Rows/VectorElements.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Support/Remarks.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"

namespace loopc {
#define GEN_PASS_DEF_CPUKEEPINREGISTERS
#include "loopc/Codegen/CPU/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// Registers that one value takes at most.
static constexpr int64_t kMaxRegisters = 4;
/// Products of a sum at most.
static constexpr int64_t kMaxProducts = 8;
/// Rows that a value is read and written by at most.
static constexpr int64_t kMaxRows = 16;

/// Operations that put a sum's, or the like's, next element in.
static bool isCombiner(Operation *op) {
  return isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, arith::AddIOp, arith::MulIOp,
             arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::MaxSIOp,
             arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(op);
}

/// True if the order in which `op` combines does not matter.
static bool combinesInAnyOrder(Operation *op) {
  if (!isa<arith::AddFOp, arith::MulFOp>(op))
    return true;
  auto flags = cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr();
  return flags &&
         bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::reassoc);
}

namespace {
class RegisterKeeper {
public:
  RegisterKeeper(IRRewriter &rewriter, LoopOp loop, unsigned vectorBits)
      : rewriter(rewriter), b(loop.getLoc(), rewriter), loop(loop),
        maxBits(kMaxRegisters * vectorBits) {}

  /// Operations that run on vectors now.
  unsigned vectorize();
  /// Carried values that are vectors now.
  unsigned carry();

private:
  bool isSmall(Type type) const;
  bool isLongColumn(Value tensor) const;
  bool matches(linalg::GenericOp op) const;
  static Operation *findCombiner(linalg::GenericOp op);
  static bool isReducedAsOne(linalg::GenericOp op);

  void vectorize(linalg::GenericOp op);
  IRMapping readOperands(linalg::GenericOp op, ArrayRef<int64_t> space);
  void computeBody(linalg::GenericOp op, Operation *combiner,
                   IRMapping &mapping, int64_t count);
  Value combine(linalg::GenericOp op, Operation *combiner, Value vector);
  Value combineParts(linalg::GenericOp op, Operation *combiner);
  Value join(Operation *combiner, Value x, Value y);
  Value widen(Value value, int64_t count);
  void foldExtract(tensor::ExtractOp op);
  void foldInsert(tensor::InsertSliceOp op);

  Value vectorOf(Value tensor);
  bool isInRegisters(Value tensor);
  Value sliceVector(tensor::ExtractSliceOp op);
  Value insertVector(tensor::InsertSliceOp op);
  Value putTogether(Value tensor);
  void eraseReplaced();
  Value readWhole(Value tensor);
  Value writeRows(Value vector, ArrayRef<int64_t> shape, Value into,
                  ArrayRef<OpFoldResult> offsets, ArrayRef<unsigned> axes);
  Value materialize(Value vector, Type type);
  Value shuffle(Value vector, ArrayRef<int64_t> from);
  Value splat(Value scalar, int64_t lanes) {
    return vector::BroadcastOp::create(
        b, VectorType::get({lanes}, scalar.getType()), scalar);
  }
  Operation *cloneWide(Operation &op, ValueRange operands, int64_t count);

  IRRewriter &rewriter;
  ImplicitLocOpBuilder b;
  LoopOp loop;
  int64_t maxBits;
  /// The vectors of tensors that were computed in registers.
  DenseMap<Value, Value> vectors;
  /// Those of carried values, read where the body begins.
  DenseMap<Value, Value> carried;
  /// Operations on tensors that vectors are made without.
  llvm::SetVector<Operation *> replaced;
};
} // namespace

/// Whether some numbers end the process: those of lanes that nobody reads, too.
static bool mayTrap(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
}

static int64_t countOf(Value vector) {
  return cast<VectorType>(vector.getType()).getDimSize(0);
}

//===----------------------------------------------------------------------===//
// What fits
//===----------------------------------------------------------------------===//

bool RegisterKeeper::isSmall(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  // A condition alone is one of numbers.
  if (tensor && tensor.getRank() == 0 && tensor.getElementType().isInteger(1))
    return true;
  if (!tensor || !tensor.hasStaticShape() || tensor.getNumElements() == 0 ||
      !isVectorElement(tensor.getElementType()))
    return false;
  int64_t bits = tensor.getElementType().getIntOrFloatBitWidth();
  if (tensor.getNumElements() > maxBits / bits)
    return false;
  return tensor.getRank() == 0 ||
         tensor.getNumElements() / tensor.getShape().back() <= kMaxRows;
}

/// What puts the elements of a reduction together; null where it is no such
/// reduction.
Operation *RegisterKeeper::findCombiner(linalg::GenericOp op) {
  BlockArgument out = op.getRegionOutputArgs().front();
  if (op.getNumDpsInits() != 1 || !out.hasOneUse())
    return nullptr;
  Operation *combiner = *out.user_begin();
  Operation *yield = op.getBody()->getTerminator();
  if (!isCombiner(combiner) || yield->getOperand(0) != combiner->getResult(0) ||
      !combiner->hasOneUse())
    return nullptr;
  return combiner;
}

/// True for reductions of one operand, and for sums of products that are one
/// number: what is reduced is one vector, whose halves are put together.
bool RegisterKeeper::isReducedAsOne(linalg::GenericOp op) {
  return op.getNumDpsInputs() == 1 ||
         (computeProduct(shapeOf(op.getDpsInits()[0])) == 1 &&
          combinesInAnyOrder(findCombiner(op)));
}

/// True for a column, or the like, of what is too large for registers: each of
/// its elements is read by itself, and they are more than rows may be.
bool RegisterKeeper::isLongColumn(Value tensor) const {
  auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || isSmall(slice.getSourceType()) ||
      slice.getType().getNumElements() <= kMaxRows)
    return false;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  int64_t axis = slice.getSourceType().getRank() - 1;
  for (; dropped.test(axis); --axis)
    if (slice.getSourceType().getDimSize(axis) != 1)
      return true;
  return !isConstantIntValue(slice.getMixedStrides()[axis], 1);
}

bool RegisterKeeper::matches(linalg::GenericOp op) const {
  if (!op.hasPureTensorSemantics() || op.getNumLoops() == 0)
    return false;
  Indices ranges = op.getStaticLoopRanges();
  int64_t space = 1;
  for (int64_t range : ranges) {
    if (ShapedType::isDynamic(range) || range == 0 || range > maxBits / space)
      return false;
    space *= range;
  }
  for (OpOperand &operand : op->getOpOperands()) {
    Type type = operand.get().getType(), element = getElementTypeOrSelf(type);
    if ((isa<TensorType>(type) && !isSmall(type)) ||
        isLongColumn(operand.get()) || !element.isIntOrFloat() ||
        space > maxBits / element.getIntOrFloatBitWidth())
      return false;
    if (op.getMatchingIndexingMap(&operand).getNumSymbols())
      return false;
  }
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!op.getMatchingIndexingMap(&init).isProjectedPermutation())
      return false;
  bool reduces = op.getNumReductionLoops() > 0;
  if (reduces && !findCombiner(op))
    return false;
  // Longer sums of products have kernels of their own.
  if (reduces && !isReducedAsOne(op) &&
      space / computeProduct(shapeOf(op.getDpsInits()[0])) > kMaxProducts)
    return false;
  if (!reduces && op.getNumParallelLoops() != op.getNumLoops())
    return false;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<arith::ConstantOp>(inner))
      continue;
    if (!OpTrait::hasElementwiseMappableTraits(&inner) ||
        !isMemoryEffectFree(&inner))
      return false;
    for (Type type : inner.getResultTypes())
      if (!type.isIntOrFloat())
        return false;
    for (Type type : inner.getOperandTypes())
      if (!type.isIntOrFloat())
        return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Tensors and vectors
//===----------------------------------------------------------------------===//

/// The elements `from` of `vector`.
Value RegisterKeeper::shuffle(Value vector, ArrayRef<int64_t> from) {
  int64_t count = countOf(vector), lanes = lanesOf(from.size());
  if (lanes == count && llvm::equal(from, llvm::seq<int64_t>(0, from.size())))
    return vector;
  if (count == 1)
    return splat(vector::ExtractOp::create(b, vector, int64_t(0)), lanes);
  return vector::ShuffleOp::create(b, vector, vector, fillLanes(from));
}

Value RegisterKeeper::readWhole(Value tensor) {
  ArrayRef<int64_t> shape = shapeOf(tensor);
  Type element = getElementTypeOrSelf(tensor.getType());
  if (shape.empty())
    return splat(tensor::ExtractOp::create(b, tensor, ValueRange()), 1);
  int64_t width = shape.back(), rows = computeProduct(shape) / width;
  auto type = VectorType::get({lanesOf(rows * width)}, element);
  Value padding = arith::ConstantOp::create(b, b.getZeroAttr(element));
  Value whole;
  for (int64_t row = 0; row < rows; ++row) {
    SmallVector<Value> at;
    for (int64_t index : rowIndices(shape, row))
      at.push_back(arith::ConstantIndexOp::create(b, index));
    Value part = vector::TransferReadOp::create(
        b, VectorType::get({width}, element), tensor, at, padding,
        ArrayRef<bool>{true});
    if (part.getType() == type)
      return part;
    if (!whole)
      whole = arith::ConstantOp::create(b, b.getZeroAttr(type));
    whole = vector::InsertStridedSliceOp::create(
        b, part, whole, ArrayRef<int64_t>{row * width}, ArrayRef<int64_t>{1});
  }
  return whole;
}

/// `into` with `vector`, a tensor of `shape`, at `offsets`; axis k of the shape
/// is axis `axes[k]` of `into`, the last one the last one.
Value RegisterKeeper::writeRows(Value vector, ArrayRef<int64_t> shape,
                                Value into, ArrayRef<OpFoldResult> offsets,
                                ArrayRef<unsigned> axes) {
  int64_t width = shape.back(), rows = computeProduct(shape) / width;
  for (int64_t row = 0; row < rows; ++row) {
    SmallVector<Value> at;
    for (OpFoldResult offset : offsets)
      at.push_back(getValueOrCreateConstantIndexOp(b, b.getLoc(), offset));
    for (auto [axis, index] : llvm::zip(axes, rowIndices(shape, row)))
      if (index)
        at[axis] = b.createOrFold<arith::AddIOp>(
            at[axis], arith::ConstantIndexOp::create(b, index).getResult());
    Value part = vector;
    if (countOf(vector) != width)
      part = vector::ExtractStridedSliceOp::create(
          b, vector, ArrayRef<int64_t>{row * width}, ArrayRef<int64_t>{width},
          ArrayRef<int64_t>{1});
    into =
        vector::TransferWriteOp::create(b, part, into, at, ArrayRef<bool>{true})
            .getResult();
  }
  return into;
}

/// The tensor whose elements `vector` holds.
Value RegisterKeeper::materialize(Value vector, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Value made;
  if (tensor.getRank() == 0) {
    Value scalar = vector::ExtractOp::create(b, vector, int64_t(0));
    made = tensor::FromElementsOp::create(b, tensor, scalar);
  } else {
    Value empty =
        tensor::EmptyOp::create(b, tensor.getShape(), tensor.getElementType());
    SmallVector<OpFoldResult> offsets(tensor.getRank(), b.getIndexAttr(0));
    auto axes = llvm::to_vector(llvm::seq<unsigned>(0, tensor.getRank()));
    made = writeRows(vector, tensor.getShape(), empty, offsets, axes);
  }
  vectors[made] = vector;
  return made;
}

/// True for what is in registers, or can be put together there.
bool RegisterKeeper::isInRegisters(Value tensor) {
  if (vectors.contains(tensor) || carried.contains(tensor))
    return true;
  if (!isSmall(tensor.getType()) || shapeOf(tensor).empty())
    return false;
  if (llvm::is_contained(loop.getCarriedArgs(), tensor))
    return true;
  Operation *made = tensor.getDefiningOp();
  if (!made || made->getParentOfType<LoopOp>() != loop)
    return false;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(made))
    return isKnownSlice(slice, slice.getSourceType().getShape()) &&
           isInRegisters(slice.getSource());
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(made))
    return isKnownSlice(slice, slice.getDestType().getShape()) &&
           isSmall(slice.getSourceType()) &&
           slice.getSourceType().getRank() != 0 &&
           (slice.getDest().getDefiningOp<tensor::EmptyOp>() ||
            isInRegisters(slice.getDest()));
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(made) &&
         isInRegisters(made->getOperand(0));
}

/// The elements of a slice of what is in a register.
Value RegisterKeeper::sliceVector(tensor::ExtractSliceOp op) {
  return shuffle(vectorOf(op.getSource()),
                 placesOfSlice(op, op.getSourceType().getShape()));
}

/// What a slice is put into, in registers.
Value RegisterKeeper::insertVector(tensor::InsertSliceOp op) {
  int64_t count = op.getDestType().getNumElements(), lanes = lanesOf(count);
  Indices places = placesOfSlice(op, op.getDestType().getShape());
  Value source = vectorOf(op.getSource());
  // Each lane has the element that goes there, or any.
  Indices from(count, 0);
  for (auto [element, place] : llvm::enumerate(places))
    from[place] = element;
  source = shuffle(source, from);
  if (op.getDest().getDefiningOp<tensor::EmptyOp>())
    return source;
  Value into = vectorOf(op.getDest());
  Indices lanesFrom = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
  for (int64_t place : places)
    lanesFrom[place] = lanes + place;
  return vector::ShuffleOp::create(b, into, source, lanesFrom);
}

/// What is computed of vectors without arithmetic, where `tensor` is made; null
/// where it is not such. What else reads the tensor reads what the vector is
/// written to, as one.
Value RegisterKeeper::putTogether(Value tensor) {
  Operation *made = tensor.getDefiningOp();
  if (!isa_and_nonnull<tensor::ExtractSliceOp, tensor::InsertSliceOp,
                       tensor::ExpandShapeOp, tensor::CollapseShapeOp>(made) ||
      !isInRegisters(tensor))
    return {};
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(made);
  Value vector;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(made))
    vector = sliceVector(slice);
  else if (auto slice = dyn_cast<tensor::InsertSliceOp>(made))
    vector = insertVector(slice);
  else
    vector = vectorOf(made->getOperand(0));
  vectors[tensor] = vector;
  if (replaced.insert(made)) {
    Value whole = materialize(vector, tensor.getType());
    rewriter.replaceAllUsesWith(tensor, whole);
  }
  return vector;
}

/// Operations that nobody reads any more would keep what they read in memory.
void RegisterKeeper::eraseReplaced() {
  SmallVector<Operation *> ops = replaced.takeVector();
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *&op : ops)
      if (op && op->use_empty()) {
        vectors.erase(op->getResult(0));
        rewriter.eraseOp(op);
        op = nullptr;
        changed = true;
      }
  }
}

Value RegisterKeeper::vectorOf(Value tensor) {
  if (Value known = vectors.lookup(tensor))
    return known;
  if (Value made = putTogether(tensor))
    return made;
  int64_t count = computeProduct(shapeOf(tensor));
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return splat(fill.getInputs().front(), lanesOf(count));
  DenseElementsAttr constant;
  if (matchPattern(tensor, m_Constant(&constant))) {
    auto elements = llvm::to_vector(constant.getValues<Attribute>());
    elements.resize(lanesOf(count), elements.back());
    auto type = VectorType::get({lanesOf(count)}, constant.getElementType());
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, elements));
  }
  if (!llvm::is_contained(loop.getCarriedArgs(), tensor))
    return readWhole(tensor);
  Value &vector = carried[tensor];
  if (!vector) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getLoopBody());
    vector = readWhole(tensor);
  }
  return vector;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Operation *RegisterKeeper::cloneWide(Operation &op, ValueRange operands,
                                     int64_t count) {
  int64_t lanes = lanesOf(count);
  SmallVector<Value> wide;
  for (Value operand : operands) {
    if (!isa<VectorType>(operand.getType()))
      operand = splat(operand, lanes);
    else if (lanes != count && mayTrap(&op))
      operand = vector::ShuffleOp::create(
          b, operand, operand,
          fillLanes(llvm::to_vector(llvm::seq<int64_t>(0, count))));
    wide.push_back(operand);
  }
  return loopc::cloneWide(b, op, wide, lanes);
}

/// The elements of the space that `init` is made of: parts[k][r] is the k-th of
/// result r.
static SmallVector<Indices> partsOf(linalg::GenericOp op, OpOperand &init) {
  Indices into = elementsOf(op.getMatchingIndexingMap(&init),
                            op.getStaticLoopRanges(), shapeOf(init.get()));
  int64_t results = computeProduct(shapeOf(init.get()));
  SmallVector<Indices> parts(into.size() / results, Indices(results));
  Indices next(results, 0);
  for (auto [element, result] : llvm::enumerate(into))
    parts[next[result]++][result] = element;
  return parts;
}

Value RegisterKeeper::join(Operation *combiner, Value x, Value y) {
  return cloneWide(*combiner, {x, y}, countOf(x))->getResult(0);
}

/// The reduction of the space's elements `vector` and the init.
Value RegisterKeeper::combine(linalg::GenericOp op, Operation *combiner,
                              Value vector) {
  OpOperand *init = op.getDpsInitOperand(0);
  SmallVector<Indices> parts = partsOf(op, *init);
  int64_t results = parts.front().size();
  Value all = vectorOf(init->get());
  if (!combinesInAnyOrder(combiner)) {
    for (const Indices &part : parts)
      all = join(combiner, all, shuffle(vector, part));
    return all;
  }
  // Halves onto each other, so that no step waits for more than log2 others.
  Indices order;
  for (const Indices &part : parts)
    llvm::append_range(order, part);
  vector = shuffle(vector, order);
  for (int64_t count = parts.size(); count > 1; count /= 2) {
    auto take = [&](int64_t begin, int64_t end) {
      return shuffle(vector, llvm::to_vector(llvm::seq<int64_t>(
                                 begin * results, end * results)));
    };
    int64_t half = count / 2;
    if (count % 2)
      all = join(combiner, all, take(count - 1, count));
    vector = join(combiner, take(0, half), take(half, 2 * half));
  }
  return join(combiner, vector, all);
}

/// A reduction of what is computed from several operands: for each part a
/// vector of all results, one after the other, as products with more columns
/// are summed up and with the same roundings.
Value RegisterKeeper::combineParts(linalg::GenericOp op, Operation *combiner) {
  OpOperand *init = op.getDpsInitOperand(0);
  BlockArgument sum = op.getRegionOutputArgs()[0];
  bool isSecond = combiner->getOperand(1) == sum;
  Value all = vectorOf(init->get());
  for (const Indices &part : partsOf(op, *init)) {
    IRMapping mapping = readOperands(op, part);
    computeBody(op, combiner, mapping, part.size());
    Value value =
        widen(mapping.lookupOrDefault(combiner->getOperand(isSecond ? 0 : 1)),
              part.size());
    Operation *joined = cloneWide(
        *combiner, isSecond ? ValueRange{value, all} : ValueRange{all, value},
        countOf(all));
    all = joined->getResult(0);
    auto fast = dyn_cast<arith::ArithFastMathInterface>(joined);
    if (auto flags = fast ? fast.getFastMathFlagsAttr() : nullptr)
      joined->setAttr(fast.getFastMathAttrName(),
                      arith::FastMathFlagsAttr::get(
                          b.getContext(),
                          flags.getValue() & ~arith::FastMathFlags::reassoc));
  }
  return all;
}

Value RegisterKeeper::widen(Value value, int64_t count) {
  return isa<VectorType>(value.getType()) ? value
                                          : splat(value, lanesOf(count));
}

/// What the body of `op` reads at the elements `space` of its space; what is
/// reduced is left out.
IRMapping RegisterKeeper::readOperands(linalg::GenericOp op,
                                       ArrayRef<int64_t> space) {
  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument arg = op.getMatchingBlockArgument(&operand);
    bool isReduced = op.getNumReductionLoops() > 0 && op.isDpsInit(&operand);
    if (arg.use_empty() || isReduced)
      continue;
    Value value = operand.get();
    if (isa<TensorType>(value.getType())) {
      Indices all =
          elementsOf(op.getMatchingIndexingMap(&operand),
                     op.getStaticLoopRanges(), shapeOf(operand.get()));
      value = shuffle(vectorOf(value),
                      llvm::map_to_vector(
                          space, [&](int64_t place) { return all[place]; }));
    }
    mapping.map(arg, value);
  }
  return mapping;
}

/// The body of `op` but for `combiner` (null: all of it) on `count` elements.
void RegisterKeeper::computeBody(linalg::GenericOp op, Operation *combiner,
                                 IRMapping &mapping, int64_t count) {
  auto lookup = [&](Value value) { return mapping.lookupOrDefault(value); };
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (&inner == combiner)
      continue;
    if (isa<arith::ConstantOp>(inner)) {
      b.clone(inner, mapping);
      continue;
    }
    Operation *made = cloneWide(
        inner, llvm::map_to_vector(inner.getOperands(), lookup), count);
    mapping.map(inner.getResults(), made->getResults());
  }
}

void RegisterKeeper::vectorize(linalg::GenericOp op) {
  b.setInsertionPoint(op);
  b.setLoc(op.getLoc());
  Indices ranges = op.getStaticLoopRanges();
  int64_t space = computeProduct(ranges);
  if (op.getNumReductionLoops() > 0) {
    Operation *combiner = findCombiner(op);
    Value vector;
    if (!isReducedAsOne(op)) {
      vector = combineParts(op, combiner);
    } else {
      IRMapping mapping =
          readOperands(op, llvm::to_vector(llvm::seq<int64_t>(0, space)));
      computeBody(op, combiner, mapping, space);
      bool second = combiner->getOperand(1) == op.getRegionOutputArgs()[0];
      Value value = combiner->getOperand(second ? 0 : 1);
      vector =
          combine(op, combiner, widen(mapping.lookupOrDefault(value), space));
    }
    rewriter.replaceOp(op, materialize(vector, op.getDpsInits()[0].getType()));
    return;
  }
  IRMapping mapping =
      readOperands(op, llvm::to_vector(llvm::seq<int64_t>(0, space)));
  computeBody(op, /*combiner=*/nullptr, mapping, space);
  SmallVector<Value> results;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Indices into = elementsOf(op.getMatchingIndexingMap(&init), ranges,
                              shapeOf(init.get()));
    Indices from(into.size());
    for (auto [element, place] : llvm::enumerate(into))
      from[place] = element;
    Value yielded = op.getMatchingYieldValue(&init)->get();
    results.push_back(materialize(
        shuffle(widen(mapping.lookupOrDefault(yielded), space), from),
        init.get().getType()));
  }
  rewriter.replaceOp(op, results);
}

/// tensor.extract of what is in a register.
void RegisterKeeper::foldExtract(tensor::ExtractOp op) {
  Value vector = vectors.lookup(op.getTensor());
  if (!vector)
    return;
  int64_t element = 0;
  for (auto [extent, index] :
       llvm::zip(shapeOf(op.getTensor()), op.getIndices())) {
    std::optional<int64_t> known = getConstantIntValue(index);
    if (!known || *known < 0 || *known >= extent)
      return;
    element = element * extent + *known;
  }
  b.setInsertionPoint(op);
  rewriter.replaceOp(op, vector::ExtractOp::create(b, vector, element));
}

/// tensor.insert_slice of what is in a register: it is written to its place.
void RegisterKeeper::foldInsert(tensor::InsertSliceOp op) {
  Value vector = vectors.lookup(op.getSource());
  if (!vector || !op.hasUnitStride() || op.getSourceType().getRank() == 0)
    return;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<unsigned> axes;
  for (unsigned k = 0; k < dropped.size(); ++k)
    if (!dropped.test(k))
      axes.push_back(k);
  if (dropped.test(dropped.size() - 1) ||
      axes.size() != static_cast<size_t>(op.getSourceType().getRank()))
    return;
  b.setInsertionPoint(op);
  b.setLoc(op.getLoc());
  rewriter.replaceOp(op, writeRows(vector, op.getSourceType().getShape(),
                                   op.getDest(), op.getMixedOffsets(), axes));
}

unsigned RegisterKeeper::vectorize() {
  SmallVector<linalg::GenericOp> small;
  loop.walk<WalkOrder::PreOrder>([&](linalg::GenericOp op) {
    if (op->getParentOfType<LoopOp>() == loop && matches(op))
      small.push_back(op);
  });
  for (linalg::GenericOp op : small)
    vectorize(op);
  // What is carried stays in registers where it is put together there.
  for (Value yielded : loop.getYield().getCarried())
    if (!small.empty() && isSmall(yielded.getType()))
      (void)putTogether(yielded);
  eraseReplaced();
  auto users = collectOps(loop, [&](Operation *op) {
    return isa<tensor::ExtractOp, tensor::InsertSliceOp>(op);
  });
  for (Operation *op : users) {
    if (auto extract = dyn_cast<tensor::ExtractOp>(op))
      foldExtract(extract);
    else
      foldInsert(cast<tensor::InsertSliceOp>(op));
  }
  return small.size();
}

//===----------------------------------------------------------------------===//
// Carried values
//===----------------------------------------------------------------------===//

/// True if nobody needs the tensor `arg`: its users only make `vector`.
static bool onlyMakes(Value arg, Value vector) {
  SmallPtrSet<Operation *, 8> makers;
  SmallVector<Value> open{vector};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (op && isa<vector::InsertStridedSliceOp, vector::TransferReadOp>(op) &&
        makers.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  return llvm::all_of(arg.getUsers(),
                      [&](Operation *op) { return makers.contains(op); });
}

unsigned RegisterKeeper::carry() {
  YieldOp yield = loop.getYield();
  SmallVector<unsigned> ports;
  for (auto [k, arg] : llvm::enumerate(loop.getCarriedArgs()))
    if (Value vector = carried.lookup(arg);
        vector && vectors.lookup(yield.getCarried()[k]) &&
        onlyMakes(arg, vector))
      ports.push_back(k);
  if (ports.empty())
    return 0;
  b.setInsertionPoint(loop);
  b.setLoc(loop.getLoc());
  LoopSignature signature(loop);
  SmallVector<Value> next(yield.getCarried());
  for (unsigned k : ports) {
    signature.inits[k] = readWhole(signature.inits[k]);
    next[k] = vectors.lookup(next[k]);
  }
  auto made = LoopOp::create(b, signature);
  // First what is yielded: that may be a vector as it was carried.
  rewriter.modifyOpInPlace(yield,
                           [&] { yield.getCarriedMutable().assign(next); });
  for (unsigned k : ports)
    rewriter.replaceAllUsesWith(carried.lookup(loop.getCarriedArgs()[k]),
                                made.getCarriedArgs()[k]);
  // What read the tensors has no users any more, but stands there still.
  b.setInsertionPoint(made);
  SmallVector<Value> replacements(made.getLoopBody()->getArguments());
  for (unsigned k : ports) {
    auto type = cast<RankedTensorType>(loop.getCarriedArgs()[k].getType());
    replacements[2 + k] =
        tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  }
  moveBody(rewriter, loop, made, replacements);
  b.setInsertionPointAfter(made);
  SmallVector<Value> outcomes(made.getResults());
  for (unsigned k : ports)
    outcomes[k] = materialize(outcomes[k], loop.getResult(k).getType());
  rewriter.replaceOp(loop, outcomes);
  return ports.size();
}

/// A vector whose tensor is taken for one of its last axis alone is written to
/// such a tensor:
///
///   %t = transfer_write %v, %e[0, 0] : vector<3xf32>, tensor<1x3xf32>
///   %r = tensor.extract_slice %t[0, 0] [1, 3] [1, 1] to tensor<3xf32>
///   ->  %r = transfer_write %v, %f[0] : vector<3xf32>, tensor<3xf32>
///
/// Upstream's canonicalization writes to a slice of what %r goes into, and
/// keeps both indices of the write.
static void writeLastAxis(tensor::ExtractSliceOp slice,
                          RewriterBase &rewriter) {
  auto write = slice.getSource().getDefiningOp<vector::TransferWriteOp>();
  RankedTensorType type = slice.getType(), whole = slice.getSourceType();
  if (!write || write.getMask() || type.getRank() != 1 ||
      whole.getRank() == 1 || !whole.hasStaticShape() ||
      type.getNumElements() != whole.getNumElements() ||
      write.getVectorType().getShape() != type.getShape() ||
      !write.getPermutationMap().isMinorIdentity())
    return;
  rewriter.setInsertionPoint(slice);
  Value empty = tensor::EmptyOp::create(rewriter, slice.getLoc(),
                                        type.getShape(), type.getElementType());
  Value zero = arith::ConstantIndexOp::create(rewriter, slice.getLoc(), 0);
  rewriter.replaceOpWithNewOp<vector::TransferWriteOp>(
      slice, write.getVector(), empty, ValueRange{zero}, ArrayRef<bool>{true});
}

namespace {
struct CpuKeepInRegisters
    : loopc::impl::CpuKeepInRegistersBase<CpuKeepInRegisters> {
  using CpuKeepInRegistersBase::CpuKeepInRegistersBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    unsigned bits = getVectorUnit(getOperation()).bits;
    for (LoopOp loop : collectOps<LoopOp>(getOperation())) {
      RegisterKeeper keeper(rewriter, loop, bits);
      unsigned operations = keeper.vectorize();
      if (operations)
        remarkDone(loop.getLoc(), "KeepInRegisters",
                   Twine(operations) +
                       " operations on small tensors run in vector registers");
      numVectorized += operations;
      numCarried += keeper.carry();
    }
    getOperation().walk(
        [&](tensor::ExtractSliceOp slice) { writeLastAxis(slice, rewriter); });
  }
};
} // namespace
