//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// cpu-interchange-elements: a loop whose body computes element by element what
// it carries becomes a loop over tiles of elements with the iterations inside:
// a tile stays in vector registers for all of them.

#include "Rows/VectorElements.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/CpuModel.h"
#include "loopc/Support/IndexEmitter.h"
#include "loopc/Support/Remarks.h"
#include "loopc/Tensor/MergeGenerics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace loopc {
#define GEN_PASS_DEF_CPUINTERCHANGEELEMENTS
#include "loopc/Codegen/CPU/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// Registers of a tile's temporaries.
static constexpr unsigned kTemporaries = 3;
/// Values that a loop may carry: twice the largest set of vector registers.
static constexpr unsigned kMaxCarried = 64;

/// True for what holds one number, in a tensor for an operation to read.
static bool isScalarTensor(Operation *op) {
  auto made = dyn_cast_or_null<tensor::FromElementsOp>(op);
  return made && made.getType().getRank() == 0 &&
         llvm::all_of(made->getUsers(), llvm::IsaPred<linalg::GenericOp>);
}

/// True for elements that tiles hold: truth values are bytes in memory.
static bool isHeld(Type type) {
  return isVectorElement(type) || type.isInteger(1);
}

namespace {
class ElementInterchange : IndexEmitter {
public:
  ElementInterchange(IRRewriter &rewriter, LoopOp loop, CpuModel cpu)
      : IndexEmitter(loop.getLoc(), rewriter), rewriter(rewriter), loop(loop),
        cpu(cpu) {}

  /// Why the loop stays as it is; "" where it can be interchanged.
  std::string match();
  void rewrite();

private:
  std::string matchCarried();
  std::string matchGeneric(linalg::GenericOp op);
  bool isOutside(Value value) { return loop.isDefinedOutsideOfLoop(value); }

  void planTile();
  Value flat(Value tensor);
  Value withElements(Value tensor, Type element);
  void readAsBytes(Value tensor);
  SmallVector<Value> makeTiles(SmallVector<Value> at, ValueRange outs);
  SmallVector<Value> makeRow(SmallVector<Value> at, ValueRange outs);
  SmallVector<Value> makeTile(ArrayRef<Value> at, ValueRange outs,
                              bool inBounds);
  Value read(Value tensor, AffineMap map, ArrayRef<Value> at, bool inBounds);
  void cloneBody(linalg::GenericOp op, IRMapping &mapping);

  IRRewriter &rewriter;
  LoopOp loop;
  CpuModel cpu;
  SmallVector<linalg::GenericOp> generics;
  /// What the body does beside them, on scalars.
  SmallVector<Operation *> scalars;
  /// Outer operands of the body's operations, and how they are read.
  llvm::MapVector<std::pair<Value, AffineMap>, Value> invariants;
  SmallVector<OpFoldResult> dims;
  /// Tensors of truth values, as bytes.
  DenseMap<Value, Value> bytes;
  bool flattened = false;
  int64_t lanes = 0;
  /// Ports whose results somebody reads.
  SmallVector<unsigned> live;
};
} // namespace

//===----------------------------------------------------------------------===//
// What can be interchanged
//===----------------------------------------------------------------------===//

std::string ElementInterchange::match() {
  b.setInsertionPoint(loop);
  if (loop.getCondition())
    return "a condition may end it between any two iterations";
  if (!loop.getTripCount() || isa<TensorType>(loop.getTripCount().getType()) ||
      loop.getNumCollected() || !loop.getSlices().empty())
    return "it collects or slices values";
  for (Operation &op : loop.getLoopBody()->without_terminator()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (std::string why = matchGeneric(generic); !why.empty())
        return why;
      generics.push_back(generic);
      continue;
    }
    if (isScalarTensor(&op))
      continue;
    if (!isOnScalars(loop, op))
      return ("'" + op.getName().getStringRef() +
              "' is not computed element by element")
          .str();
    scalars.push_back(&op);
  }
  if (generics.empty())
    return "it computes nothing element by element";
  dims = resolveDims(b, loop.getLoc(), generics.front().getDpsInits()[0]);
  for (linalg::GenericOp op : generics)
    if (!llvm::equal(resolveDims(b, loop.getLoc(), op.getDpsInits()[0]), dims,
                     isEqualConstantIntOrValue))
      return "its operations run over different elements";
  for (OpFoldResult dim : dims)
    if (auto value = dyn_cast<Value>(dim); value && !isOutside(value))
      return "its operations run over different elements";
  return matchCarried();
}

std::string ElementInterchange::matchGeneric(linalg::GenericOp op) {
  unsigned loops = op.getNumLoops();
  if (!isElementwise(op))
    return "an operation of its body is not computed element by element";
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<arith::ConstantOp>(inner))
      continue;
    if (!isVectorOperation(inner))
      return ("'" + inner.getName().getStringRef() +
              "' is not computed in vectors")
          .str();
    for (Value operand : inner.getOperands())
      if (!isOutside(operand) && operand.getParentBlock() != op.getBody() &&
          isa<TensorType>(operand.getType()))
        return "an operation of its body is not computed element by element";
  }
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    if (!isHeld(type.getElementType()))
      return "its elements are not held in vectors";
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (isScalarTensor(operand.get().getDefiningOp()))
      continue;
    if (!isOutside(operand.get()) && !map.isIdentity())
      return "elements depend on others of the iteration before";
    // Along the last axis neighbours are read as they lie, or one for all.
    if (!map.isProjectedPermutation())
      return "an operand is not read element by element";
    for (auto [k, expr] : llvm::enumerate(map.getResults()))
      if (expr.isFunctionOfDim(loops - 1) && k + 1 != map.getNumResults())
        return "an operand is read across its rows";
  }
  return "";
}

std::string ElementInterchange::matchCarried() {
  if (loop.getNumCarried() > kMaxCarried)
    return "it carries more values than there are registers";
  YieldOp yield = loop.getYield();
  for (unsigned k = 0; k < loop.getNumCarried(); ++k) {
    Value arg = loop.getCarriedArgs()[k], next = yield.getCarried()[k];
    if (!loop.getResult(k).use_empty())
      live.push_back(k);
    if (!isa<RankedTensorType>(arg.getType())) {
      if (!loop.getResult(k).use_empty() || isa<TensorType>(arg.getType()))
        return "a scalar that it carries is read behind it";
      continue;
    }
    auto made = next.getDefiningOp<linalg::GenericOp>();
    auto carried = llvm::is_contained(loop.getCarriedArgs(), next);
    if ((!made || !llvm::is_contained(generics, made)) && !carried)
      return "a value that it carries is not computed in it";
    auto type = cast<RankedTensorType>(arg.getType());
    if (type.getRank() != static_cast<int64_t>(dims.size()) ||
        !isHeld(type.getElementType()))
      return "its elements are not held in vectors";
    if (!llvm::equal(resolveDims(b, loop.getLoc(), loop.getInits()[k]), dims,
                     isEqualConstantIntOrValue))
      return "what it carries may have another shape than what it computes";
    for (Operation *user : arg.getUsers())
      if (!isa<linalg::GenericOp, YieldOp>(user))
        return "it reads what it carries otherwise than element by element";
  }
  return live.empty() ? "nobody reads its tensors" : "";
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void ElementInterchange::planTile() {
  unsigned bits = 8, values = kTemporaries;
  auto count = [&](Type type) {
    ++values;
    bits = std::max(bits, getElementTypeOrSelf(type).getIntOrFloatBitWidth());
  };
  flattened = dims.size() > 1;
  for (Value arg : loop.getCarriedArgs())
    if (isa<TensorType>(arg.getType()))
      count(arg.getType());
  llvm::SmallDenseSet<Value> seen;
  for (linalg::GenericOp op : generics)
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      flattened &= map.isIdentity() || map.getNumResults() == 0;
      if (isOutside(input->get()) && seen.insert(input->get()).second)
        count(input->get().getType());
    }
  // Widths that are no power of two are split badly.
  unsigned unroll = llvm::bit_floor(
      std::clamp(cpu.registers / values, 1u, CpuModel::kChains));
  lanes = std::max<int64_t>(1, cpu.lanesOf(bits)) * unroll;
}

/// `tensor` with one axis for all, where that is done.
Value ElementInterchange::flat(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!flattened || !type || type.getRank() < 2)
    return tensor;
  SmallVector<ReassociationIndices> group{
      llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank()))};
  return tensor::CollapseShapeOp::create(b, tensor, group);
}

/// `tensor` of truth values as bytes, or the other way.
Value ElementInterchange::withElements(Value tensor, Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty =
      tensor::EmptyOp::create(b, resolveDims(b, b.getLoc(), tensor), element);
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, TypeRange{empty.getType()}, ValueRange{tensor},
             ValueRange{empty}, maps, kinds,
             [&](OpBuilder &inner, Location loc, ValueRange args) {
               Value made =
                   element.isInteger(1)
                       ? arith::TruncIOp::create(inner, loc, element, args[0])
                             .getResult()
                       : arith::ExtUIOp::create(inner, loc, element, args[0])
                             .getResult();
               linalg::YieldOp::create(inner, loc, made);
             })
      .getResult(0);
}

void ElementInterchange::readAsBytes(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (type && type.getElementType().isInteger(1) && type.getRank() > 0 &&
      !bytes.contains(tensor))
    bytes[tensor] = withElements(tensor, b.getI8Type());
}

/// A vector of the elements of `tensor` at the tile that begins at `at`.
Value ElementInterchange::read(Value tensor, AffineMap map, ArrayRef<Value> at,
                               bool inBounds) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return widen(b, tensor, lanes);
  if (Value held = bytes.lookup(tensor)) {
    Value vector = read(held, map, at, inBounds);
    return arith::TruncIOp::create(b, VectorType::get({lanes}, b.getI1Type()),
                                   vector);
  }
  tensor = flat(tensor);
  type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> place;
  bool along = false;
  for (AffineExpr expr : map.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    along |= dim + 1 == map.getNumDims();
    place.push_back(at[dim]);
  }
  if (!along)
    return widen(b, tensor::ExtractOp::create(b, tensor, place), lanes);
  Value padding =
      arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
  return vector::TransferReadOp::create(
      b, VectorType::get({lanes}, type.getElementType()), tensor, place,
      padding, ArrayRef<bool>{inBounds});
}

void ElementInterchange::cloneBody(linalg::GenericOp op, IRMapping &mapping) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value value = input->get();
    Value vector =
        isOutside(value)
            ? invariants.lookup({value, op.getMatchingIndexingMap(input)})
            : mapping.lookup(value);
    mapping.map(op.getMatchingBlockArgument(input), vector);
  }
  SmallVector<Value> yielded = cloneWide(b, *op.getBody(), mapping, lanes);
  mapping.map(op.getResults(), yielded);
}

/// All iterations of the tile that begins at `at`; returns `outs` with it.
SmallVector<Value> ElementInterchange::makeTile(ArrayRef<Value> at,
                                                ValueRange outs,
                                                bool inBounds) {
  AffineMap identity =
      AffineMap::getMultiDimIdentityMap(at.size(), b.getContext());
  for (linalg::GenericOp op : generics)
    for (OpOperand *input : op.getDpsInputOperands())
      if (isOutside(input->get())) {
        AffineMap map = op.getMatchingIndexingMap(input);
        bool all = flattened && map.getNumResults() > 0;
        AffineMap how = all         ? identity
                        : flattened ? AffineMap::get(1, 0, b.getContext())
                                    : map;
        invariants[{input->get(), map}] = read(input->get(), how, at, inBounds);
      }
  SmallVector<Value> inits;
  for (Value init : loop.getInits())
    inits.push_back(isa<TensorType>(init.getType())
                        ? read(init, identity, at, inBounds)
                        : init);
  auto inner = LoopOp::create(b, loop.getCounter().getType(),
                              loop.getConditionArg().getType(),
                              loop.getTripCount(), Value(), inits);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(inner.getLoopBody());
    IRMapping mapping;
    mapping.map(loop.getLoopBody()->getArguments(),
                inner.getLoopBody()->getArguments());
    for (Operation &op : loop.getLoopBody()->without_terminator()) {
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        cloneBody(generic, mapping);
      else if (isScalarTensor(&op))
        mapping.map(op.getResult(0), mapping.lookupOrDefault(op.getOperand(0)));
      else
        b.clone(op, mapping);
    }
    YieldOp yield = loop.getYield();
    SmallVector<Value> next;
    for (Value value : yield.getCarried())
      next.push_back(mapping.lookupOrDefault(value));
    YieldOp::create(b, mapping.lookupOrDefault(yield.getCondition()), next,
                    ValueRange());
  }
  SmallVector<Value> results;
  for (auto [port, out] : llvm::zip(live, outs)) {
    Value vector = inner.getResult(port);
    auto held = VectorType::get({lanes}, getElementTypeOrSelf(out.getType()));
    if (vector.getType() != held)
      vector = arith::ExtUIOp::create(b, held, vector);
    results.push_back(vector::TransferWriteOp::create(b, vector, out, at,
                                                      ArrayRef<bool>{inBounds})
                          .getResult());
  }
  return results;
}

/// The tiles of one row: whole ones, then what is left.
SmallVector<Value> ElementInterchange::makeRow(SmallVector<Value> at,
                                               ValueRange outs) {
  Value extent;
  if (flattened) {
    extent = index(1);
    for (OpFoldResult dim : dims)
      extent = b.createOrFold<arith::MulIOp>(
          extent, getValueOrCreateConstantIndexOp(b, b.getLoc(), dim));
  } else {
    extent = getValueOrCreateConstantIndexOp(b, b.getLoc(), dims.back());
  }
  Value step = index(lanes);
  Value rest = b.createOrFold<arith::RemUIOp>(extent, step);
  Value whole = b.createOrFold<arith::SubIOp>(extent, rest);
  SmallVector<Value> values(outs);
  for (bool inBounds : {true, false}) {
    auto tiles = scf::ForOp::create(
        b, inBounds ? index(0) : whole, inBounds ? whole : extent, step, values,
        [&](OpBuilder &, Location, Value number, ValueRange carried) {
          SmallVector<Value> place(at);
          place.push_back(number);
          scf::YieldOp::create(b, makeTile(place, carried, inBounds));
        });
    markParallel(tiles);
    values.assign(tiles.getResults().begin(), tiles.getResults().end());
  }
  return values;
}

/// Loops over the rows behind those of `at`, then over tiles of each.
SmallVector<Value> ElementInterchange::makeTiles(SmallVector<Value> at,
                                                 ValueRange outs) {
  size_t rows = flattened ? 0 : dims.size() - 1;
  if (at.size() == rows)
    return makeRow(at, outs);
  Value extent =
      getValueOrCreateConstantIndexOp(b, b.getLoc(), dims[at.size()]);
  auto nest = scf::ForOp::create(
      b, index(0), extent, index(1), outs,
      [&](OpBuilder &, Location, Value row, ValueRange carried) {
        at.push_back(row);
        scf::YieldOp::create(b, makeTiles(at, carried));
      });
  markParallel(nest);
  return SmallVector<Value>(nest.getResults());
}

void ElementInterchange::rewrite() {
  b.setInsertionPoint(loop);
  planTile();
  for (Value init : loop.getInits())
    readAsBytes(init);
  for (linalg::GenericOp op : generics)
    for (OpOperand *input : op.getDpsInputOperands())
      if (isOutside(input->get()))
        readAsBytes(input->get());
  SmallVector<Value> outs;
  for (unsigned port : live) {
    Type element = getElementTypeOrSelf(loop.getResult(port).getType());
    if (element.isInteger(1))
      element = b.getI8Type();
    outs.push_back(flat(tensor::EmptyOp::create(b, dims, element)));
  }
  SmallVector<Value> results = makeTiles({}, outs);
  b.setInsertionPoint(loop);
  for (auto [port, value] : llvm::zip(live, results)) {
    auto type = cast<RankedTensorType>(loop.getResult(port).getType());
    Value whole = value;
    if (flattened && type.getRank() > 1) {
      auto [shape, dynamic] = decomposeMixedValues(dims);
      SmallVector<ReassociationIndices> group{
          llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank()))};
      whole = tensor::ExpandShapeOp::create(
          b,
          RankedTensorType::get(shape, getElementTypeOrSelf(value.getType())),
          value, group, dims);
    }
    if (type.getElementType().isInteger(1))
      whole = withElements(whole, type.getElementType());
    rewriter.replaceAllUsesWith(loop.getResult(port),
                                b.createOrFold<tensor::CastOp>(type, whole));
  }
  rewriter.eraseOp(loop);
}

namespace {
struct CpuInterchangeElements
    : loopc::impl::CpuInterchangeElementsBase<CpuInterchangeElements> {
  using CpuInterchangeElementsBase::CpuInterchangeElementsBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    CpuModel cpu(getVectorUnit(getOperation()));
    SmallVector<LoopOp> loops;
    getOperation().walk([&](LoopOp loop) {
      bool holdsTensors = llvm::any_of(loop.getInits(), [](Value init) {
        return isa<TensorType>(init.getType());
      });
      if (holdsTensors)
        loops.push_back(loop);
    });
    for (LoopOp loop : loops) {
      eraseDeadOps(rewriter, *loop.getLoopBody());
      ElementInterchange interchange(rewriter, loop, cpu);
      std::string why = interchange.match();
      if (!why.empty()) {
        remarkMissed(loop.getLoc(), "InterchangeElements",
                     "iterations run outside, elements inside: " + why);
        continue;
      }
      remarkDone(loop.getLoc(), "InterchangeElements",
                 "all iterations of a tile of elements run in registers");
      interchange.rewrite();
      ++numInterchanged;
    }
  }
};
} // namespace
