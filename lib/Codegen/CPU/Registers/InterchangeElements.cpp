//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// cpu-interchange-elements: a loop whose body computes element by element what
// it carries becomes a loop over tiles of elements with the iterations inside:
// a tile stays in vector registers for all of them. Where iterations read or
// write columns, tiles of rows and iterations are transposed in registers.

#include "ElementInterchange.h"
#include "Rows/VectorElements.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Support/IndexCasts.h"
#include "loopc/Support/Remarks.h"
#include "loopc/Tensor/MergeGenerics.h"
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
/// Bytes of a row of which several tiles go by one after the other: some cache
/// lines, each of which one tile writes, in few pages.
static constexpr int64_t kShortRow = 256;
/// Values that a loop may carry: twice the largest set of vector registers.
static constexpr unsigned kMaxCarried = 64;

/// True for elements that tiles hold: truth values are bytes in memory.
static bool isHeld(Type type) {
  return isVectorElement(type) || type.isInteger(1);
}

bool loop::isScalarTensor(Operation *op) {
  auto made = dyn_cast_or_null<tensor::FromElementsOp>(op);
  return made && made.getType().getRank() == 0 &&
         llvm::all_of(made->getUsers(), llvm::IsaPred<linalg::GenericOp>);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// By how much `value` grows from one iteration to the next; none where that
/// cannot be told.
std::optional<int64_t> ElementInterchange::slope(Value value) {
  if (isOutside(value))
    return 0;
  if (value == loop.getCounter())
    return 1;
  if (auto known = slopes.find(value); known != slopes.end())
    return known->second;
  std::optional<int64_t> found;
  Operation *op = value.getDefiningOp();
  // What has fewer bits than an index wraps around between two iterations.
  bool isKnown = op && isWideInteger(value.getType());
  if (isKnown && isa<arith::IndexCastOp>(op)) {
    found = slope(op->getOperand(0));
  } else if (isKnown && isa<arith::AddIOp, arith::SubIOp>(op)) {
    std::optional<int64_t> x = slope(op->getOperand(0)),
                           y = slope(op->getOperand(1));
    // As the index does.
    if (x && y)
      found = isa<arith::AddIOp>(op) ? uint64_t(*x) + uint64_t(*y)
                                     : uint64_t(*x) - uint64_t(*y);
  }
  slopes[value] = found;
  return found;
}

/// `value`, whose slope is known, in the iteration whose number `mapping` has
/// for the counter; it is handed what is made on the way.
Value ElementInterchange::evaluate(Value value, IRMapping &mapping) {
  if (isOutside(value))
    return value;
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    mapping.map(operand, evaluate(operand, mapping));
  return b.clone(*op, mapping)->getResult(0);
}

/// The part of `tensor` at `offsets`, along whose axes the axes `axes` of the
/// space run; none where it is not read in vectors.
std::optional<Part>
ElementInterchange::partOf(Value tensor, ArrayRef<OpFoldResult> offsets,
                           ArrayRef<std::optional<unsigned>> axes) {
  Part part{Layout::Same, tensor, llvm::to_vector(offsets),
            llvm::to_vector(axes)};
  unsigned rank = axes.size();
  std::optional<unsigned> along;
  for (unsigned k = 0; k < rank; ++k)
    if (axes[k] == dims.size() - 1)
      along = k;
  if (!along)
    return part;
  part.layout = Layout::Rows;
  if (*along + 1 == rank)
    return part;
  // Successive iterations must be neighbours.
  part.layout = Layout::Columns;
  for (unsigned k = 0; k + 1 < rank; ++k)
    if (auto value = dyn_cast<Value>(offsets[k]); value && !isOutside(value))
      return std::nullopt;
  auto position = dyn_cast<Value>(offsets.back());
  std::optional<int64_t> step = position ? slope(position) : std::nullopt;
  if (axes.back() || !step || (*step != 1 && *step != -1))
    return std::nullopt;
  part.backwards = *step < 0;
  return part;
}

/// For each axis of a tensor of which `dropped` are left out, the axis of the
/// space that `map` leads along it.
static SmallVector<std::optional<unsigned>>
spaceAxes(const llvm::SmallBitVector &dropped, AffineMap map) {
  SmallVector<std::optional<unsigned>> axes;
  unsigned next = 0;
  for (unsigned k = 0; k < dropped.size(); ++k) {
    axes.emplace_back();
    if (!dropped.test(k))
      axes.back() = cast<AffineDimExpr>(map.getResult(next++)).getPosition();
  }
  return axes;
}

bool ElementInterchange::readSlice(tensor::ExtractSliceOp slice,
                                   AffineMap map) {
  Key key{slice.getResult(), map};
  if (reads.contains(key))
    return true;
  if (!isOutside(slice.getSource()) || !slice.hasUnitStride() ||
      !isVectorElement(slice.getSourceType().getElementType()))
    return false;
  std::optional<Part> part = partOf(slice.getSource(), slice.getMixedOffsets(),
                                    spaceAxes(slice.getDroppedDims(), map));
  if (!part)
    return false;
  reads.insert({key, *part});
  return true;
}

//===----------------------------------------------------------------------===//
// What can be interchanged
//===----------------------------------------------------------------------===//

std::string ElementInterchange::match() {
  b.setInsertionPoint(loop);
  if (loop.getCondition())
    return "a condition may end it between any two iterations";
  if (!loop.getTripCount() || isa<TensorType>(loop.getTripCount().getType()) ||
      loop.getNumCollected() || !loop.getSlices().empty())
    return "its trips, or the size of what it collects, are not known";
  for (Operation &op : loop.getLoopBody()->without_terminator())
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      dims = resolveDims(b, loop.getLoc(), generic.getDpsInits()[0]);
      break;
    }
  if (dims.empty())
    return "it computes nothing element by element";
  for (OpFoldResult dim : dims)
    if (auto value = dyn_cast<Value>(dim); value && !isOutside(value))
      return "its operations run over different elements";
  if (std::string why = matchCarried(); !why.empty())
    return why;
  if (std::string why = matchBody(); !why.empty())
    return why;
  if (live.empty() && outPorts.empty())
    return "nobody reads its tensors";
  findLayouts();
  planTile();
  if (!columns) {
    // What has few elements by its type is kept in registers as it is.
    bool refuses = llvm::any_of(dims, llvm::IsaPred<Value>)
                       ? rows && !mayHaveVersions()
                       : rows || llvm::any_of(reads, [&](auto &read) {
                           return !isOutside(read.first.first);
                         });
    return refuses ? "it reads and writes no columns" : "";
  }
  for (Operation *user : loop.getConditionArg().getUsers())
    if (!isa<YieldOp>(user))
      return "its body reads the condition";
  return lanes < 2 ? "its elements are as wide as a vector" : "";
}

/// True where versions for few elements have their place: outside of other
/// loops, and not where code is to be small.
bool ElementInterchange::mayHaveVersions() {
  return elements != Elements::Any ||
         (!loop->getParentOfType<LoopOp>() && !loop->hasAttr(kColdAttrName));
}

/// Elements of a tile where there are `few`.
int64_t ElementInterchange::lanesOf(Elements few) const {
  return std::max<int64_t>(1, cpu.lanesOf(bits)) *
         (few == Elements::Vector ? 1 : vectors);
}

/// The most elements of a version.
int64_t ElementInterchange::mostOf(Elements few) const {
  int64_t most = lanesOf(few);
  return few == Elements::Vector ? most : std::max(most, kShortRow * 8 / bits);
}

/// scf.if (there are `few` elements) { a copy } else { the loop }; returns the
/// copy, null where a tile is a vector or there are several rows. Long rows
/// stay inside of the iterations that read them; of a short one the state would
/// be stored and read again in each of them.
LoopOp ElementInterchange::makeVersion(Elements few) {
  auto isNotOne = [](OpFoldResult dim) {
    return getConstantIntValue(dim).value_or(1) != 1;
  };
  if (few == Elements::Row &&
      (vectors == 1 || llvm::any_of(ArrayRef(dims).drop_back(), isNotOne)))
    return nullptr;
  b.setInsertionPoint(loop);
  // A row that is short in itself fills no tile, however many rows there are.
  Value rows = index(1);
  for (OpFoldResult dim : ArrayRef(dims).drop_back())
    rows = b.createOrFold<arith::MulIOp>(rows, toValue(dim));
  Value count = b.createOrFold<arith::MulIOp>(rows, toValue(dims.back()));
  Value isFew = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sle, count,
                                              index(mostOf(few)));
  if (few == Elements::Row && dims.size() > 1)
    isFew = b.createOrFold<arith::AndIOp>(
        isFew, b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, rows,
                                             index(1)));
  auto branch = scf::IfOp::create(b, loop.getResultTypes(), isFew,
                                  /*withElseRegion=*/true);
  rewriter.replaceAllUsesWith(loop.getResults(), branch.getResults());
  b.setInsertionPointToStart(branch.thenBlock());
  auto copy = cast<LoopOp>(b.clone(*loop));
  scf::YieldOp::create(b, copy.getResults());
  b.setInsertionPointToStart(branch.elseBlock());
  auto yield = scf::YieldOp::create(b, loop.getResults());
  rewriter.moveOpBefore(loop, yield);
  return copy;
}

/// What is the same in all iterations is read in front of the first one. Where
/// there may be none, nobody may have checked that it is there.
bool ElementInterchange::readsUnchecked() {
  if (runsForSure(loop))
    return false;
  return llvm::any_of(reads, [&](auto &read) {
    auto [value, map] = read.first;
    auto slice = value.template getDefiningOp<tensor::ExtractSliceOp>();
    bool isCut = slice && !isOutside(slice);
    if (!isa<RankedTensorType>(value.getType()) ||
        (isCut
             ? !llvm::all_of(slice->getOperands(),
                             [&](Value operand) { return isOutside(operand); })
             : !isOutside(value)))
      return false;
    return (isCut && !needsNoCheck(slice)) || !hasElements(value, map, dims);
  });
}

/// Puts the loop where it has an iteration:
///
///     %r = scf.if %trips > 0 { loop } else { inits }
void ElementInterchange::guard() {
  b.setInsertionPoint(loop);
  Value trips = tripsAsIndex(b, loop.getLoc(), loop.getTripCount());
  Value runs = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, trips,
                                     arith::ConstantIndexOp::create(b, 0));
  auto branch = scf::IfOp::create(b, loop.getResultTypes(), runs,
                                  /*withElseRegion=*/true);
  rewriter.replaceAllUsesWith(loop.getResults(), branch.getResults());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loop.getInits());
  b.setInsertionPointToStart(branch.thenBlock());
  auto yield = scf::YieldOp::create(b, loop.getResults());
  rewriter.moveOpBefore(loop, yield);
}

/// Whether iterations read or write columns, and whether rows.
void ElementInterchange::findLayouts() {
  auto isColumn = [](auto &entry) {
    return entry.second.layout == Layout::Columns;
  };
  columns = llvm::any_of(reads, isColumn) || llvm::any_of(writes, isColumn);
  rows = !writes.empty() || llvm::any_of(reads, [&](auto &read) {
    return !isOutside(read.first.first) && read.second.layout == Layout::Rows;
  });
}

/// True for what is an element for each element of the space.
bool ElementInterchange::isElementValue(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value))
    return arg.getOwner() == loop.getLoopBody();
  Operation *op = value.getDefiningOp();
  if (isOutside(value) || !isa<linalg::GenericOp, tensor::ExtractSliceOp>(op))
    return false;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return slice.getResultType().getRank() ==
               static_cast<int64_t>(dims.size()) &&
           readSlice(slice, b.getMultiDimIdentityMap(dims.size()));
  return true;
}

/// Carried value `port`, into which each iteration writes its part.
bool ElementInterchange::matchAccumulator(unsigned port) {
  Value arg = loop.getCarriedArgs()[port];
  auto insert =
      loop.getYield().getCarried()[port].getDefiningOp<tensor::InsertSliceOp>();
  if (!insert || insert.getDest() != arg || !arg.hasOneUse() ||
      !insert->hasOneUse() || insert->getBlock() != loop.getLoopBody() ||
      !insert.hasUnitStride() ||
      !isVectorElement(insert.getDestType().getElementType()) ||
      insert.getSourceType().getRank() != static_cast<int64_t>(dims.size()) ||
      !isElementValue(insert.getSource()))
    return false;
  for (auto [k, size] :
       llvm::enumerate(resolveDims(b, loop.getLoc(), insert.getSource())))
    if (!isEqualConstantIntOrValue(size, dims[k]))
      return false;
  std::optional<Part> part =
      partOf(arg, insert.getMixedOffsets(),
             spaceAxes(insert.getDroppedDims(),
                       b.getMultiDimIdentityMap(dims.size())));
  if (!part || part->layout == Layout::Same)
    return false;
  // Of what several iterations write the last one's stays: the next tile must
  // not write where this one has.
  for (auto [axis, offset] : llvm::zip_equal(part->axes, part->offsets))
    if (auto place = dyn_cast<Value>(offset);
        axis && place && !isOutside(place))
      return false;
  part->port = port;
  part->source = insert.getSource();
  writes.insert({insert, *part});
  outPorts.push_back(port);
  return true;
}

std::string ElementInterchange::matchCarried() {
  if (loop.getNumCarried() > kMaxCarried)
    return "it carries more values than there are registers";
  for (unsigned k = 0; k < loop.getNumCarried(); ++k) {
    Value arg = loop.getCarriedArgs()[k];
    Value next = loop.getYield().getCarried()[k];
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type) {
      if (isa<TensorType>(arg.getType()) || !loop.getResult(k).use_empty())
        return "a scalar that it carries is read behind it";
      continue;
    }
    if (next.getDefiningOp<tensor::InsertSliceOp>()) {
      if (!matchAccumulator(k))
        return "a value that it collects is not written in vectors";
      continue;
    }
    if (!isHeld(type.getElementType()) ||
        type.getRank() != static_cast<int64_t>(dims.size()) ||
        !isElementValue(next) ||
        !llvm::equal(resolveDims(b, loop.getLoc(), loop.getInits()[k]), dims,
                     isEqualConstantIntOrValue))
      return "a value that it carries is not computed element by element";
    if (!loop.getResult(k).use_empty())
      live.push_back(k);
    for (Operation *user : arg.getUsers())
      if (!isa<linalg::GenericOp, YieldOp>(user) && !writes.contains(user) &&
          !isa<tensor::InsertSliceOp>(user))
        return "it reads what it carries otherwise than element by element";
  }
  // A yielded argument must be elements, too.
  for (Value next : loop.getYield().getCarried())
    if (auto arg = dyn_cast<BlockArgument>(next);
        arg && isa<TensorType>(arg.getType()))
      for (unsigned port : outPorts)
        if (arg == loop.getCarriedArgs()[port])
          return "it reads what it collects";
  return "";
}

std::string ElementInterchange::matchBody() {
  for (Operation &op : loop.getLoopBody()->without_terminator()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (std::string why = matchGeneric(generic); !why.empty())
        return why;
      continue;
    }
    if (isa<tensor::EmptyOp>(op) || isScalarTensor(&op) || writes.contains(&op))
      continue;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      for (Operation *user : slice->getUsers())
        if (!isa<linalg::GenericOp, YieldOp>(user) && !writes.contains(user))
          return "a slice is not read element by element";
      continue;
    }
    if (!isOnScalars(loop, op))
      return ("'" + op.getName().getStringRef() +
              "' is not computed element by element")
          .str();
  }
  return "";
}

std::string ElementInterchange::matchGeneric(linalg::GenericOp op) {
  if (!isElementwise(op) || op.getNumLoops() != dims.size() ||
      !llvm::equal(resolveDims(b, loop.getLoc(), op.getDpsInits()[0]), dims,
                   isEqualConstantIntOrValue))
    return "an operation of its body is not computed element by element";
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<arith::ConstantOp>(inner))
      continue;
    if (!isVectorOperation(inner))
      return ("'" + inner.getName().getStringRef() +
              "' is not computed in vectors")
          .str();
    for (Value operand : inner.getOperands())
      if (!operand.getType().isIntOrIndexOrFloat())
        return "an operation of its body is not computed in vectors";
  }
  for (Type type : op.getResultTypes())
    if (!isHeld(getElementTypeOrSelf(type)))
      return "its elements are not held in vectors";
  for (OpOperand *operand : op.getDpsInputOperands())
    if (std::string why = matchOperand(op, *operand); !why.empty())
      return why;
  return "";
}

std::string ElementInterchange::matchOperand(linalg::GenericOp op,
                                             OpOperand &operand) {
  Value value = operand.get();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type) {
    if (!VectorType::isValidElementType(value.getType()))
      return "its elements are not held in vectors";
    if (isOutside(value))
      reads.insert({{value, map}, Part{Layout::Same, value, {}, {}}});
    return "";
  }
  if (!map.isProjectedPermutation())
    return "an operand is not read element by element";
  if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
      slice && !isOutside(slice))
    return readSlice(slice, map) ? "" : "a slice is not read in vectors";
  if (!isOutside(value)) {
    if (isScalarTensor(value.getDefiningOp()))
      return "";
    auto arg = dyn_cast<BlockArgument>(value);
    bool collected = arg && llvm::any_of(outPorts, [&](unsigned port) {
                       return arg == loop.getCarriedArgs()[port];
                     });
    return map.isIdentity() && !collected
               ? ""
               : "elements depend on others of the iteration before";
  }
  if (!isHeld(type.getElementType()))
    return "its elements are not held in vectors";
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0));
  std::optional<Part> part = partOf(
      value, offsets, spaceAxes(llvm::SmallBitVector(type.getRank()), map));
  if (!part)
    return "an operand is read across its rows";
  reads.insert({{value, map}, *part});
  return "";
}

/// How many elements are a tile, and whether all are one row. What is
/// transposed is as wide as a vector of the widest type that the loop computes
/// with; other tiles are as many vectors as fit into the registers.
void ElementInterchange::planTile() {
  unsigned values = kTemporaries;
  auto count = [&](Type type) {
    ++values;
    type = getElementTypeOrSelf(type);
    if (type.isIntOrFloat())
      bits = std::max(bits, type.getIntOrFloatBitWidth());
  };
  for (auto [port, arg] : llvm::enumerate(loop.getCarriedArgs()))
    if (isa<TensorType>(arg.getType()))
      count(arg.getType());
  llvm::SmallDenseSet<Value> seen;
  for (auto &[key, part] : reads)
    if (seen.insert(key.first).second)
      count(part.tensor.getType());
  if (columns) {
    loop.walk([&](linalg::GenericOp op) {
      for (Operation &inner : op.getBody()->without_terminator())
        llvm::for_each(inner.getResultTypes(), count);
    });
    lanes = std::min<int64_t>(cpu.lanesOf(bits), CpuModel::kSquareLanes);
    return;
  }
  flattened = dims.size() > 1 && !rows && llvm::all_of(reads, [](auto &read) {
                AffineMap map = read.first.second;
                return map.isIdentity() || map.getNumResults() == 0;
              });
  // Widths that are no power of two are split badly.
  vectors = llvm::bit_floor(
      std::clamp(cpu.registers / values, 1u, CpuModel::kChains));
  lanes = lanesOf(elements);
}

namespace {
struct CpuInterchangeElements
    : loopc::impl::CpuInterchangeElementsBase<CpuInterchangeElements> {
  using CpuInterchangeElementsBase::CpuInterchangeElementsBase;

  /// Interchanges `loop`, of `few` elements.
  void rewriteVersion(IRRewriter &rewriter, LoopOp loop, Elements few,
                      bool isGuarded) {
    CpuModel cpu(getVectorUnit(getOperation()));
    if (isGuarded)
      ElementInterchange(rewriter, loop, cpu, few).guard();
    ElementInterchange version(rewriter, loop, cpu, few);
    if (version.match().empty())
      version.rewrite();
  }

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
                 interchange.hasColumns()
                     ? "tiles of rows and iterations are transposed in "
                       "registers"
                 : interchange.needsFewElements()
                     ? "there are versions of it for few elements, in which "
                       "these stay in registers"
                     : "all iterations of a tile of elements run in registers");
      bool isGuarded = interchange.readsUnchecked();
      if (interchange.needsFewElements()) {
        for (Elements few : {Elements::Vector, Elements::Row})
          if (LoopOp copy = interchange.makeVersion(few))
            rewriteVersion(rewriter, copy, few, isGuarded);
      } else if (isGuarded) {
        rewriteVersion(rewriter, loop, Elements::Any, isGuarded);
      } else {
        interchange.rewrite();
      }
      ++numInterchanged;
    }
  }
};
} // namespace
