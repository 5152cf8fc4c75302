//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// tensor-choose-layouts: the order of axes that tensors lie in memory with.
//
// Values that are computed from one another element by element, or window by
// window, form a class, which has one order of axes. Transposes stand between
// classes, and where a class meets what wants the order of the model. Each
// class takes the order that leaves the fewest of them.

#include "loopc/Dialect/Loop/Transforms/LiveOperations.h"
#include "loopc/Support/Contractions.h"
#include "loopc/Tensor/Passes.h"
#include "loopc/Tensor/StoredTranspose.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

namespace loopc {
#define GEN_PASS_DEF_TENSORCHOOSELAYOUTS
#include "loopc/Tensor/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using mlir::utils::IteratorType;

/// Axis i in memory is axis order[i] of the value.
using Order = SmallVector<int64_t>;

static bool isPlain(ArrayRef<int64_t> order) {
  return isIdentityPermutation(order);
}

/// The type of `value` if its axes may lie in another order.
static RankedTensorType orderable(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() >= 3 && !type.getEncoding()
             ? type
             : RankedTensorType();
}

/// Where axis `axis` of a value is in memory.
static int64_t placeOf(ArrayRef<int64_t> order, int64_t axis) {
  return llvm::find(order, axis) - order.begin();
}

static RankedTensorType ordered(RankedTensorType type,
                                ArrayRef<int64_t> order) {
  return type.clone(applyPermutation(type.getShape(), order));
}

/// What it costs to bring `value` into another order: bits of an element.
static int64_t bitsOf(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
}

/// True if what `op` computes has smaller elements than what it reads along
/// all axes of its result.
static bool narrows(linalg::GenericOp op) {
  return op.getNumDpsInits() == 1 && op.getNumReductionLoops() == 0 &&
         llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
           return op.getMatchingIndexingMap(input).isPermutation() &&
                  bitsOf(input->get()) > bitsOf(op.getDpsInits()[0]);
         });
}

/// Axis k of the operand is axis result[k] of the result, if `op` is nothing
/// but a transpose.
static std::optional<Order> transposeOf(linalg::GenericOp op) {
  std::optional<Order> permutation = linalg::isaTransposeOpInterface(op);
  if (!permutation || isPlain(*permutation))
    return std::nullopt;
  return invertPermutationVector(*permutation);
}

/// True for products, whose operands want the order that they were given.
static bool isProduct(linalg::GenericOp op) {
  return isContraction(op) && !isPooling(op);
}

/// So few columns of a product are no vector, and read what they share as
/// often.
static constexpr int64_t kFewColumns = 2;
/// So many elements of a sum are one.
static constexpr int64_t kLongSum = 16;

/// The axis of the value that `operand` is along which a product computes in
/// vectors, whatever the order of the others, if that is a long sum: there are
/// too few columns for vectors of them, and what else is summed up has
/// neighbours along it.
static std::optional<int64_t> axisOfSums(OpOperand &operand) {
  auto op = dyn_cast<linalg::GenericOp>(operand.getOwner());
  if (!op || !op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      !op.isDpsInput(&operand) || !isProduct(op))
    return std::nullopt;
  // What a loop carries would be transposed in each iteration.
  if (op->getParentOfType<LoopLikeOpInterface>())
    return std::nullopt;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  auto types = op.getIteratorTypesArray();
  AffineMap read = op.getMatchingIndexingMap(&operand);
  int64_t columns = 1;
  std::optional<unsigned> sum;
  for (unsigned dim : llvm::seq(op.getNumLoops())) {
    bool isRead = read.isFunctionOfDim(dim);
    if (types[dim] == IteratorType::parallel) {
      if (!isRead && ShapedType::isDynamic(extents[dim]))
        return std::nullopt;
      columns *= isRead ? 1 : extents[dim];
    } else if (extents[dim] != 1) {
      if (sum || !isRead || extents[dim] < kLongSum)
        return std::nullopt;
      sum = dim;
    }
  }
  if (!sum || columns > kFewColumns)
    return std::nullopt;
  auto isLast = [&](OpOperand *other) {
    if (other == &operand)
      return true;
    for (AffineExpr expr :
         llvm::reverse(op.getMatchingIndexingMap(other).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr);
          !dim || extents[dim.getPosition()] != 1)
        return expr == getAffineDimExpr(*sum, op.getContext());
    return false;
  };
  if (!llvm::all_of(op.getDpsInputOperands(), isLast))
    return std::nullopt;
  const auto *found =
      llvm::find(read.getResults(), getAffineDimExpr(*sum, op.getContext()));
  if (found == read.getResults().end())
    return std::nullopt;
  return found - read.getResults().begin();
}

/// True for what has one result that is computed by elements or windows.
static bool isMap(linalg::GenericOp op) {
  return op.getNumDpsInits() == 1 && op.hasPureTensorSemantics() &&
         !isProduct(op) &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0))
             .isProjectedPermutation();
}

/// True if `input` is read along the axes of the result, in their order: the
/// same elements, or a window around each.
static bool followsResult(linalg::GenericOp op, OpOperand &input) {
  AffineMap in = op.getMatchingIndexingMap(&input);
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto inType = cast<RankedTensorType>(input.get().getType());
  auto outType = cast<RankedTensorType>(op.getDpsInits()[0].getType());
  if (in.getNumResults() != out.getNumResults())
    return false;
  for (auto [k, x, y] : llvm::enumerate(in.getResults(), out.getResults()))
    if (!x.isFunctionOfDim(cast<AffineDimExpr>(y).getPosition()) &&
        (inType.getDimSize(k) != 1 || outType.getDimSize(k) != 1))
      return false;
  return true;
}

/// The loops of `op` that `value`, in its body, depends on.
static llvm::SmallBitVector axesOf(linalg::GenericOp op, Value value) {
  llvm::SmallBitVector axes(op.getNumLoops());
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t k = 0; k < values.size(); ++k) {
    if (auto argument = dyn_cast<BlockArgument>(values[k])) {
      if (argument.getOwner() == op.getBody()) {
        OpOperand *operand = op.getMatchingOpOperand(argument);
        for (unsigned dim : llvm::seq(op.getNumLoops()))
          if (op.getMatchingIndexingMap(operand).isFunctionOfDim(dim))
            axes.set(dim);
      }
      continue;
    }
    Operation *made = values[k].getDefiningOp();
    if (made->getBlock() != op.getBody())
      continue;
    if (auto number = dyn_cast<linalg::IndexOp>(made))
      axes.set(number.getDim());
    if (made->getNumRegions() != 0)
      axes.set();
    values.insert_range(made->getOperands());
  }
  return axes;
}

/// True if `extract`, in the body of `op`, reads along the axes of the result,
/// in their order: where on an axis depends on the place on that axis alone, as
/// when an image is resized.
static bool followsResult(linalg::GenericOp op, tensor::ExtractOp extract) {
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto inType = cast<RankedTensorType>(extract.getTensor().getType());
  auto outType = cast<RankedTensorType>(op.getDpsInits()[0].getType());
  if (inType.getRank() != outType.getRank())
    return false;
  for (auto [k, index, y] :
       llvm::enumerate(extract.getIndices(), out.getResults())) {
    unsigned axis = cast<AffineDimExpr>(y).getPosition();
    llvm::SmallBitVector axes = axesOf(op, index);
    bool isOne = inType.getDimSize(k) == 1 && outType.getDimSize(k) == 1;
    if (axes.count() != axes.test(axis) || (axes.none() && !isOne))
      return false;
  }
  return true;
}

namespace {
/// Values with one order of axes.
struct Class {
  Order order;
  /// Bits of elements of values that something wants in the order of the model.
  int64_t borders = 0;
  SmallVector<linalg::GenericOp> transposes;
};

class Layouts {
public:
  explicit Layouts(MLIRContext *context)
      : rewriter(context), ops([this](Operation *op) { forget(op); }) {
    rewriter.setListener(&ops);
  }

  void run(func::FuncOp function);
  unsigned chosen = 0;

private:
  void separate(func::FuncOp function);
  void linkAll();
  void link(Operation *op);
  void linkGeneric(linalg::GenericOp op);
  void join(Value x, Value y) {
    if (orderable(x) && orderable(y))
      classes.unionSets(x.getAsOpaquePointer(), y.getAsOpaquePointer());
  }
  /// `operand` may be in any order: its user is changed with it.
  void follow(OpOperand &operand) { followed.insert(&operand); }
  void makes(Value result) { made.insert(result); }
  const void *leader(Value value) {
    return classes.getLeaderValue(value.getAsOpaquePointer());
  }
  Class &classOf(Value value) { return found[leader(value)]; }
  const Order *orderOf(Value value);
  /// Drops what is known of `op`, which is erased: another may get its place in
  /// memory.
  void forget(Operation *op) {
    for (Value result : op->getResults()) {
      now.erase(result);
      made.erase(result);
    }
    for (OpOperand &operand : op->getOpOperands())
      followed.erase(&operand);
  }
  void choose();
  /// What the transposes cost that are, and are needed, around `one` in
  /// `order`.
  int64_t costOf(const void *id, Class &one, ArrayRef<int64_t> order);
  void rewriteBorders();
  void rewrite(Operation *op);
  void rewriteGeneric(linalg::GenericOp op);
  void interchange(linalg::GenericOp op, AffineMap map);
  void rewriteInsert(tensor::InsertSliceOp op);
  void rewriteExtract(tensor::ExtractSliceOp op);
  Value transposed(Location loc, Value value, ArrayRef<int64_t> order);
  /// The same by an operation that is not fused into others.
  Value reordered(Location loc, Value value, ArrayRef<int64_t> order);

  IRRewriter rewriter;
  llvm::EquivalenceClasses<const void *> classes;
  SmallVector<Value> values;
  /// All operations. Rewriting one may erase another: to interchange the loops
  /// of a generic operation replaces what is in its body.
  LiveOperations ops;
  llvm::SmallPtrSet<OpOperand *, 32> followed;
  llvm::DenseSet<Value> made;
  llvm::MapVector<const void *, Class> found;
  /// The order of what was made, or brought into it.
  llvm::DenseMap<Value, Order> now;
};
} // namespace

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

void Layouts::separate(func::FuncOp function) {
  // What is only filled or empty belongs to whom it is given to.
  SmallVector<Operation *> shared;
  function.walk([&](Operation *op) {
    if (isa<linalg::FillOp, tensor::EmptyOp>(op) && op->getNumResults() == 1 &&
        orderable(op->getResult(0)))
      shared.push_back(op);
  });
  // Behind: fills, each of which gets an empty tensor of its own.
  for (Operation *op : llvm::reverse(shared)) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op->getResult(0).getUses())
      uses.push_back(&use);
    for (OpOperand *use : llvm::drop_begin(uses, uses.empty() ? 0 : 1)) {
      rewriter.setInsertionPoint(op);
      use->set(rewriter.clone(*op)->getResult(0));
    }
  }
}

void Layouts::linkGeneric(linalg::GenericOp op) {
  if (!isMap(op))
    return;
  OpOperand &init = *op.getDpsInitOperand(0);
  if (orderable(init.get())) {
    join(init.get(), op.getResult(0));
    follow(init);
    makes(op.getResult(0));
  }
  bool isTranspose = transposeOf(op).has_value();
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!orderable(input->get()))
      continue;
    follow(*input);
    if (!isTranspose && orderable(init.get()) && followsResult(op, *input))
      join(input->get(), op.getResult(0));
  }
}

void Layouts::link(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return linkGeneric(generic);
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    if (fill->getNumResults() != 1 || !orderable(fill->getResult(0)))
      return;
    join(fill.getOutputs()[0], fill->getResult(0));
    follow(*fill.getDpsInitOperand(0));
    makes(fill->getResult(0));
  } else if (isa<tensor::EmptyOp>(op)) {
    makes(op->getResult(0));
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    if (insert.getSourceType().getRank() != insert.getType().getRank())
      return;
    join(insert.getSource(), insert.getResult());
    join(insert.getDest(), insert.getResult());
    follow(insert.getSourceMutable());
    follow(insert.getDestMutable());
    makes(insert.getResult());
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (slice.getSourceType().getRank() != slice.getType().getRank())
      return;
    join(slice.getSource(), slice.getResult());
    follow(slice.getSourceMutable());
    makes(slice.getResult());
  } else if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    if (!orderable(cast.getSource()) || !orderable(cast.getResult()))
      return;
    join(cast.getSource(), cast.getResult());
    follow(cast.getSourceMutable());
    makes(cast.getResult());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (OpResult result : branch.getResults()) {
      if (!orderable(result))
        continue;
      for (Region &region : branch->getRegions()) {
        OpOperand &yielded = region.front().getTerminator()->getOpOperand(
            result.getResultNumber());
        join(yielded.get(), result);
        follow(yielded);
      }
      makes(result);
    }
  } else if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    if (dim.getConstantIndex())
      follow(dim.getSourceMutable());
  } else if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    follow(extract.getTensorMutable());
    auto generic = dyn_cast<linalg::GenericOp>(op->getParentOp());
    if (generic && isMap(generic) && orderable(extract.getTensor()) &&
        orderable(generic.getDpsInits()[0]) && followsResult(generic, extract))
      join(extract.getTensor(), generic.getResult(0));
  }
}

void Layouts::linkAll() {
  for (Value value : values)
    classes.insert(value.getAsOpaquePointer());
  ops.forEach([&](Operation *op) { link(op); });
  for (Value value : values) {
    Class &one = classOf(value);
    RankedTensorType type = orderable(value);
    if (one.order.empty())
      one.order = llvm::to_vector(llvm::seq(type.getRank()));
    bool isBorder = !made.contains(value);
    for (OpOperand &use : value.getUses())
      isBorder |= !followed.contains(&use) && !axisOfSums(use);
    one.borders += isBorder ? bitsOf(value) : 0;
  }
  ops.forEach([&](Operation *op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op);
        generic && generic.hasPureTensorSemantics() &&
        made.contains(generic.getResult(0)) && transposeOf(generic)) {
      classOf(generic.getInputs()[0]).transposes.push_back(generic);
      classOf(generic.getResult(0)).transposes.push_back(generic);
    }
  });
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// The order of the other side with which a transpose is none.
static Order across(ArrayRef<int64_t> order, ArrayRef<int64_t> axes,
                    bool toResult) {
  Order result;
  for (int64_t axis : order)
    result.push_back(toResult ? axes[axis] : placeOf(axes, axis));
  return result;
}

int64_t Layouts::costOf(const void *id, Class &one, ArrayRef<int64_t> order) {
  int64_t cost = isPlain(order) ? 0 : one.borders;
  for (linalg::GenericOp op : one.transposes) {
    Order axes = *transposeOf(op);
    Value in = op.getInputs()[0], out = op.getResult(0);
    ArrayRef<int64_t> from = leader(in) == id ? order : classOf(in).order;
    ArrayRef<int64_t> to = leader(out) == id ? order : classOf(out).order;
    if (ArrayRef<int64_t>(across(from, axes, /*toResult=*/true)) != to)
      cost += bitsOf(in);
  }
  return cost;
}

void Layouts::choose() {
  // Twice: a class may follow another that was chosen after it.
  for (int round = 0; round < 2; ++round) {
    for (auto &[id, one] : found) {
      int64_t least = costOf(id, one, one.order);
      SmallVector<Order> others;
      for (linalg::GenericOp op : one.transposes) {
        Order axes = *transposeOf(op);
        Value in = op.getInputs()[0], out = op.getResult(0);
        if (leader(in) == leader(out))
          continue;
        bool isResult = leader(out) == id;
        others.push_back(
            across(classOf(isResult ? in : out).order, axes, isResult));
      }
      for (const Order &order : others)
        if (int64_t cost = costOf(id, one, order); cost < least) {
          least = cost;
          one.order = order;
        }
    }
  }
  for (auto &[id, one] : found)
    chosen += !isPlain(one.order);
}

const Order *Layouts::orderOf(Value value) {
  if (auto it = now.find(value); it != now.end())
    return &it->second;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// The extents of `value` in the order of its type. They are not folded: what a
/// slice says of its own has the old order still.
static SmallVector<OpFoldResult> sizesOf(OpBuilder &b, Location loc,
                                         Value value) {
  SmallVector<OpFoldResult> sizes;
  for (auto [axis, extent] :
       llvm::enumerate(cast<RankedTensorType>(value.getType()).getShape())) {
    if (ShapedType::isStatic(extent))
      sizes.push_back(b.getIndexAttr(extent));
    else
      sizes.push_back(tensor::DimOp::create(b, loc, value, axis).getResult());
  }
  return sizes;
}

Value Layouts::transposed(Location loc, Value value, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> sizes = sizesOf(rewriter, loc, value);
  SmallVector<AffineExpr> exprs(type.getRank());
  for (auto [to, from] : llvm::enumerate(order))
    exprs[from] = rewriter.getAffineDimExpr(to);
  Value init = tensor::EmptyOp::create(
      rewriter, loc, applyPermutation(sizes, order), type.getElementType());
  SmallVector<AffineMap> maps{
      AffineMap::get(type.getRank(), 0, exprs, rewriter.getContext()),
      rewriter.getMultiDimIdentityMap(type.getRank())};
  SmallVector<IteratorType> iterators(type.getRank(), IteratorType::parallel);
  return linalg::GenericOp::create(
             rewriter, loc, init.getType(), value, init, maps, iterators,
             [](OpBuilder &b, Location inner, ValueRange args) {
               linalg::YieldOp::create(b, inner, args[0]);
             })
      .getResult(0);
}

Value Layouts::reordered(Location loc, Value value, ArrayRef<int64_t> order) {
  SmallVector<OpFoldResult> sizes = sizesOf(rewriter, loc, value);
  Value init =
      tensor::EmptyOp::create(rewriter, loc, applyPermutation(sizes, order),
                              getElementTypeOrSelf(value.getType()));
  return storeTransposed(rewriter, loc, value, init, order);
}

void Layouts::rewriteBorders() {
  for (Value value : values) {
    const Order order = classOf(value).order;
    if (isPlain(order))
      continue;
    Location loc = value.getLoc();
    rewriter.setInsertionPointAfterValue(value);
    if (!made.contains(value)) {
      // Given in the order of the model.
      SmallVector<OpOperand *> uses;
      for (OpOperand &use : value.getUses())
        if (followed.contains(&use))
          uses.push_back(&use);
      if (uses.empty())
        continue;
      // Small elements are transposed before larger ones are made of them.
      bool widened = llvm::any_of(uses, [&](OpOperand *use) {
        auto user = dyn_cast<linalg::GenericOp>(use->getOwner());
        return user && bitsOf(user.getDpsInits()[0]) > bitsOf(value);
      });
      Value here = widened ? reordered(loc, value, order)
                           : transposed(loc, value, order);
      now[here] = order;
      for (OpOperand *use : uses)
        use->set(here);
      continue;
    }
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : value.getUses()) {
      if (axisOfSums(use) == order.back())
        follow(use);
      if (!followed.contains(&use))
        uses.push_back(&use);
    }
    value.setType(ordered(orderable(value), order));
    now[value] = order;
    if (uses.empty())
      continue;
    Order plain = invertPermutationVector(order);
    Value back, named;
    for (OpOperand *use : uses) {
      // Not to be fused into a product, which would read in bad order; nor
      // with what makes small elements of larger ones, which would be read so.
      auto user = dyn_cast<linalg::GenericOp>(use->getOwner());
      auto maker = value.getDefiningOp<linalg::GenericOp>();
      bool isRead = (user && isProduct(user)) || (maker && narrows(maker));
      Value &made = isRead ? named : back;
      if (!made)
        made = isRead ? reordered(loc, value, plain)
                      : transposed(loc, value, plain);
      use->set(made);
    }
  }
}

void Layouts::interchange(linalg::GenericOp op, AffineMap map) {
  // Loops in the order of memory, sums within; what is contiguous last.
  auto types = op.getIteratorTypesArray();
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  if (!last || types[last.getPosition()] != IteratorType::parallel)
    return;
  llvm::SmallSetVector<unsigned, 8> order;
  auto add = [&](unsigned d) {
    if (d != last.getPosition())
      order.insert(d);
  };
  for (AffineExpr expr : map.getResults())
    if (auto d = dyn_cast<AffineDimExpr>(expr);
        d && types[d.getPosition()] == IteratorType::parallel)
      add(d.getPosition());
  for (unsigned d : llvm::seq(op.getNumLoops()))
    if (types[d] == IteratorType::parallel)
      add(d);
  for (unsigned d : llvm::seq(op.getNumLoops()))
    add(d);
  order.insert(last.getPosition());
  SmallVector<unsigned> loops = order.takeVector();
  if (llvm::is_sorted(loops))
    return;
  rewriter.setInsertionPoint(op);
  (void)linalg::interchangeGenericOp(rewriter, op, loops);
}

void Layouts::rewriteGeneric(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap leading;
  for (OpOperand &operand : llvm::reverse(op->getOpOperands())) {
    const Order *order = orderOf(operand.get());
    if (!order || !followed.contains(&operand))
      continue;
    AffineMap &map = maps[operand.getOperandNumber()];
    map = AffineMap::get(map.getNumDims(), 0,
                         applyPermutation(map.getResults(), *order),
                         op.getContext());
    if (!leading)
      leading = map;
  }
  if (!leading)
    return;
  op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap out = op.getMatchingIndexingMap(init);
  interchange(op, orderable(init->get()) ? out : leading);
}

void Layouts::rewriteInsert(tensor::InsertSliceOp op) {
  const Order order = *orderOf(op.getResult());
  rewriter.setInsertionPoint(op);
  Value result = tensor::InsertSliceOp::create(
      rewriter, op.getLoc(), op.getSource(), op.getDest(),
      applyPermutation(op.getMixedOffsets(), order),
      applyPermutation(op.getMixedSizes(), order),
      applyPermutation(op.getMixedStrides(), order));
  now[result] = order;
  rewriter.replaceOp(op, result);
}

void Layouts::rewriteExtract(tensor::ExtractSliceOp op) {
  const Order order = *orderOf(op.getResult());
  rewriter.setInsertionPoint(op);
  Value result = tensor::ExtractSliceOp::create(
      rewriter, op.getLoc(), cast<RankedTensorType>(op.getType()),
      op.getSource(), applyPermutation(op.getMixedOffsets(), order),
      applyPermutation(op.getMixedSizes(), order),
      applyPermutation(op.getMixedStrides(), order));
  now[result] = order;
  rewriter.replaceOp(op, result);
}

void Layouts::rewrite(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return rewriteGeneric(generic);
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    const Order *order = orderOf(dim.getSource());
    if (!order || !dim.getConstantIndex())
      return;
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<tensor::DimOp>(
        op, dim.getSource(), placeOf(*order, *dim.getConstantIndex()));
    return;
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    if (const Order *order = orderOf(extract.getTensor()))
      extract.getIndicesMutable().assign(
          applyPermutation(SmallVector<Value>(extract.getIndices()), *order));
    return;
  }
  const Order *order =
      op->getNumResults() == 1 ? orderOf(op->getResult(0)) : nullptr;
  if (!order)
    return;
  if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    // The type has the new order already, the sizes have the old one.
    Order plain = invertPermutationVector(*order);
    auto type = empty.getType();
    auto model = ordered(type, plain);
    SmallVector<Value> sizes;
    for (int64_t axis : *order)
      if (model.isDynamicDim(axis))
        sizes.push_back(
            empty.getDynamicSizes()[model.getDynamicDimIndex(axis)]);
    empty.getDynamicSizesMutable().assign(sizes);
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    rewriteInsert(insert);
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    rewriteExtract(slice);
  }
}

void Layouts::run(func::FuncOp function) {
  bool hasTransposes = false;
  function.walk([&](linalg::GenericOp op) {
    // Of buffers there are no results.
    hasTransposes |= op->getNumResults() != 0 && orderable(op->getResult(0)) &&
                     transposeOf(op).has_value();
  });
  if (!hasTransposes)
    return;
  separate(function);
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    ops.add(op);
    for (Value result : op->getResults())
      if (orderable(result))
        values.push_back(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (orderable(argument))
            values.push_back(argument);
  });
  linkAll();
  choose();
  if (chosen == 0)
    return;
  rewriteBorders();
  ops.forEach([&](Operation *op) { rewrite(op); });
}

namespace {
struct TensorChooseLayouts
    : loopc::impl::TensorChooseLayoutsBase<TensorChooseLayouts> {
  using Base::Base;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Layouts layouts(&getContext());
    layouts.run(getOperation());
    numChosen += layouts.chosen;
  }
};
} // namespace
