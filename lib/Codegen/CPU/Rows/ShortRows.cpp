//===- ShortRows.cpp - Several rows as whole vectors ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Rows of 3 or 7 elements leave most of a vector empty, and each takes a mask.
// With vectors of 16 lanes, 16 such rows are 3 or 7 whole vectors:
//
//     table = the row that all rows share, 16 times; or sums, which begin
//             neutral
//     for 16 rows
//       for vector of their elements
//         body(vector of all rows, vector of the table)
//     each column's 16 sums are added up
//     the operation itself, on the rows that are left
//
// Where a run tells how long rows are, there may turn out to be none.

#include "Contractions.h"
#include "RowPlan.h"
#include "Rows.h"
#include "VectorElements.h"
#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/IndexEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;
using Part = ShortRowPlan::Part;
using utils::IteratorType;

/// Where something is along each axis.
using Place = SmallVector<Value>;

/// Vectors that a row is shorter than: beside more whole ones the last does not
/// count.
static constexpr int64_t kFewVectors = 2;
/// Groups of rows from which on a table is worth being made.
static constexpr int64_t kFewGroups = 4;
/// Operations of a body that memory is slower than.
static constexpr int64_t kLight = 6;

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// The last two of `rank` axes together.
static SmallVector<ReassociationIndices> lastTwo(int64_t rank) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t axis : llvm::seq(rank - 1))
    groups.push_back({axis});
  groups.back().push_back(rank - 1);
  return groups;
}

/// How `operand` lies along the last two axes; none if vectors cannot read it.
static std::optional<Part> partOf(linalg::GenericOp op, OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return Part::Number;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  unsigned last = op.getNumLoops() - 1, rows = last - 1;
  if (!map.isFunctionOfDim(last) && !map.isFunctionOfDim(rows))
    return Part::Number;
  int64_t rank = type.getRank();
  Type element = type.getElementType();
  if (!isRowElement(element) || !map.isProjectedPermutation() ||
      map.getResults().back() != getAffineDimExpr(last, op.getContext()))
    return std::nullopt;
  if (!type.isLastDimUnitStride())
    return std::nullopt;
  if (!map.isFunctionOfDim(rows))
    return Part::Row;
  if (map.getResult(rank - 2) != getAffineDimExpr(rows, op.getContext()) ||
      !canGroup(operand.get(), lastTwo(rank)))
    return std::nullopt;
  return Part::All;
}

/// True if to compute a vector takes longer than to read and write it, or if it
/// is written where it was read: with a mask the next row's, which seems to
/// overlap it, waits until it is stored.
static bool takesLong(linalg::GenericOp op) {
  bool isInPlace = llvm::any_of(op.getDpsInputs(), [&](Value input) {
    return llvm::is_contained(op.getDpsInits(), input);
  });
  int64_t time = 0;
  for (Operation &inner : op.getBody()->without_terminator())
    time += getCost(&inner).time;
  return isInPlace || time > kLight;
}

/// True if rows of `elements`, as far as known, fill vectors badly, and there
/// may be many. Of open length they are rather long: only what takes long in
/// each vector is worth code for both.
static bool areShort(int64_t elements, int64_t rows, int64_t lanes,
                     bool takesLong) {
  if (!ShapedType::isDynamic(rows) && rows < kFewGroups * lanes)
    return false;
  if (ShapedType::isDynamic(elements))
    return takesLong;
  int64_t whole = llvm::alignTo(elements, lanes);
  return elements > 1 && elements != whole && elements < kFewVectors * lanes &&
         (elements < lanes || 5 * elements <= 4 * whole);
}

/// True for outputs that are written, or summed up, as emitShortRows() can.
static bool matchOutputs(linalg::GenericOp op, ShortRowPlan &plan) {
  bool sumsRows = op.getIteratorTypesArray()[op.getNumLoops() - 2] ==
                  IteratorType::reduction;
  for (auto [init, part] :
       llvm::zip_equal(op.getDpsInitsMutable(),
                       ArrayRef(plan.parts).drop_front(op.getNumDpsInputs()))) {
    Operation *combiner = part == Part::Row ? findCombiner(op, init) : nullptr;
    bool isStored = part == Part::All && !op.payloadUsesValueFromOperand(&init);
    if (part == Part::Row ? !sumsRows || !combiner : !isStored)
      return false;
    plan.combiners.push_back(combiner);
  }
  return !sumsRows || llvm::any_of(plan.combiners, llvm::IsaPred<Operation *>);
}

std::optional<ShortRowPlan> loopc::planShortRows(linalg::GenericOp op,
                                                 CpuModel cpu) {
  unsigned count = op.getNumLoops();
  // Loops over further axes, which threads may share, allocate a table in each
  // iteration: those of the model's loops allocate nothing.
  bool isInLoop = !!op->getParentOfType<LoopLikeOpInterface>();
  if (!op.hasPureBufferSemantics() || count < 2 || (count > 2 && isInLoop) ||
      op.getIteratorTypesArray().back() != IteratorType::parallel ||
      !op.getBody()->getOps<memref::LoadOp>().empty())
    return std::nullopt;
  ShortRowPlan plan;
  unsigned bits = bitsOfVectorBody(op);
  plan.lanes = bits ? cpu.lanesOf(bits) : 0;
  SmallVector<int64_t> extents = knownExtents(op);
  if (plan.lanes <= 1 || !areShort(extents[count - 1], extents[count - 2],
                                   plan.lanes, takesLong(op)))
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<Part> part = partOf(op, operand);
    if (!part)
      return std::nullopt;
    plan.parts.push_back(*part);
  }
  // Without a row that all share the two axes are one.
  if (!llvm::is_contained(plan.parts, Part::Row) ||
      !llvm::is_contained(plan.parts, Part::All) || !matchOutputs(op, plan))
    return std::nullopt;
  return plan;
}

bool loopc::sumsShortRows(linalg::LinalgOp op, CpuModel cpu) {
  auto generic = dyn_cast<linalg::GenericOp>(*op);
  return generic && op.getNumReductionLoops() > 0 &&
         planShortRows(generic, cpu);
}

void ShortRowPlan::print(llvm::raw_ostream &os) const {
  os << "vectors=" << lanes << " rows=" << lanes;
  for (auto [k, combiner] : llvm::enumerate(combiners))
    if (combiner)
      os << " reduces=" << combiner->getName().stripDialect() << " into=#" << k;
}

//===----------------------------------------------------------------------===//
// The code
//===----------------------------------------------------------------------===//

namespace {
class ShortRows : IndexEmitter {
public:
  ShortRows(IRRewriter &rewriter, linalg::GenericOp op,
            const ShortRowPlan &plan, SmallVectorImpl<Value> &tables)
      : IndexEmitter(op.getLoc(), rewriter), rewriter(rewriter), op(op),
        plan(plan), tables(tables), last(op.getNumLoops() - 1),
        lanes(plan.lanes) {}

  linalg::GenericOp rewrite();

private:
  Value multiply(Value x, Value y) {
    return b.createOrFold<arith::MulIOp>(x, y);
  }
  Value countRows();
  Value asOneRow(OpOperand &operand);
  Value makeTable(Type element);
  void fillTable(OpOperand &operand, Place at);
  Operation *findCombinerOf(OpOperand &operand) {
    int64_t k = int64_t(operand.getOperandNumber()) - op.getNumDpsInputs();
    return k < 0 ? nullptr : plan.combiners[k];
  }
  void forAll(Value begin, Value end, Value step, bool isParallel,
              llvm::function_ref<void(Value)> body);
  void forTable(llvm::function_ref<void(Value column, Value place)> body);
  void emitVector(const Place &at, Value row);
  void numberElements();
  Value numbersOf(unsigned dim, const Place &at, Value row);
  void addUp(OpOperand &init, Operation &combiner, Place at);
  void emitGroups(Place at);
  void emitOuter(unsigned dim, Place &at);
  linalg::GenericOp cutRest();

  IRRewriter &rewriter;
  linalg::GenericOp op;
  const ShortRowPlan &plan;
  SmallVectorImpl<Value> &tables; ///< of operations before, on the stack
  unsigned last;                  ///< number of the last axis
  int64_t lanes;
  SmallVector<Value> extents;
  /// For each operand what it is read from: the rows of a group as one, the
  /// table.
  SmallVector<Value> views;
  /// Tables of the numbers of rows and columns, where they are asked for.
  std::array<Value, 2> numbers;
  Value columns, rows, elements; ///< of a row; done in groups; of a group
};
} // namespace

/// The rows that are done in groups: none if rows turn out to be long, or few.
Value ShortRows::countRows() {
  Value all = extents[last - 1];
  Value rest = b.createOrFold<arith::RemUIOp>(all, index(lanes));
  Value whole = b.createOrFold<arith::SubIOp>(all, rest);
  Value areMany = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::uge, all,
                                                index(kFewGroups * lanes));
  Value areFew = b.createOrFold<arith::CmpIOp>(
      arith::CmpIPredicate::ule, columns, index(kFewVectors * lanes));
  return b.createOrFold<arith::SelectOp>(
      b.createOrFold<arith::AndIOp>(areMany, areFew), whole, index(0));
}

/// The operand with its last two axes as one.
Value ShortRows::asOneRow(OpOperand &operand) {
  return groupBuffer(
      b, b.getLoc(), operand.get(),
      lastTwo(cast<MemRefType>(operand.get().getType()).getRank()));
}

/// The outermost operation around `op`, or itself, in the innermost loop whose
/// iterations threads may share; null where there is none.
static Operation *findPlaceInParallel(Operation *op) {
  Operation *place = op;
  for (Operation *parent = op->getParentOp(); parent;
       place = parent, parent = parent->getParentOp())
    if (isa<scf::ForOp>(parent) && parent->hasAttr(kParallelAttrName))
      return place;
  return nullptr;
}

/// Memory for the rows of a group: on the stack, where the function begins, or
/// of each iteration of a loop that threads may share. Other loops around
/// allocate nothing.
Value ShortRows::makeTable(Type element) {
  auto type = MemRefType::get({kFewVectors * lanes * lanes}, element);
  if (last > 1)
    return memref::AllocOp::create(b, type, b.getI64IntegerAttr(64));
  if (Operation *place = findPlaceInParallel(op)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(place);
    Value table = memref::AllocOp::create(b, type, b.getI64IntegerAttr(64));
    b.setInsertionPointAfter(place);
    memref::DeallocOp::create(b, table);
    return table;
  }
  for (Value table : tables)
    if (table.getType() == type && !llvm::is_contained(views, table) &&
        !llvm::is_contained(numbers, table))
      return table;
  OpBuilder::InsertionGuard guard(b);
  auto function = op->getParentOfType<func::FuncOp>();
  b.setInsertionPointToStart(&function.getBody().front());
  tables.push_back(memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64)));
  return tables.back();
}

void ShortRows::forAll(Value begin, Value end, Value step, bool isParallel,
                       llvm::function_ref<void(Value)> body) {
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, begin, end, step);
  // Of few light vectors LLVM writes out all: sums then stay in registers.
  // Others are not worth copies of the body: loops over tables are short, and
  // the rest are of vectors.
  if (!getConstantIntValue(end) || !isLightBody(*op.getBody(), kLight))
    keepRolled(loop, /*keepScalar=*/true);
  if (isParallel)
    markParallel(loop);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

/// Calls `body` with each place in a table, and its column.
void ShortRows::forTable(
    llvm::function_ref<void(Value column, Value place)> body) {
  forAll(index(0), elements, columns, /*isParallel=*/false, [&](Value first) {
    forAll(index(0), columns, index(1), /*isParallel=*/false,
           [&](Value column) {
             body(column, b.createOrFold<arith::AddIOp>(first, column));
           });
  });
}

/// The row, once for each row of a group; of sums what they begin with.
void ShortRows::fillTable(OpOperand &operand, Place at) {
  Value table = views[operand.getOperandNumber()];
  Operation *combiner = findCombinerOf(operand);
  Value neutral;
  if (combiner) {
    TypedAttr element = *arith::getNeutralElement(combiner);
    if (isa<arith::AddFOp>(combiner))
      element = b.getFloatAttr(element.getType(), -0.0); // -0 + 0 is 0
    neutral = arith::ConstantOp::create(b, element);
  }
  forTable([&](Value column, Value place) {
    at[last] = column;
    Value element = neutral
                        ? neutral
                        : memref::LoadOp::create(b, operand.get(),
                                                 placeOf(b, op, operand, at));
    memref::StoreOp::create(b, element, table, place);
  });
}

/// The vector of a group that begins at `at[last]` of its elements, and at
/// `at[last - 1]` of those of all rows; `row` is the group's first.
void ShortRows::emitVector(const Place &at, Value row) {
  auto placeOfVector = [&](OpOperand &operand) {
    if (plan.parts[operand.getOperandNumber()] == Part::Row)
      return Place{at[last]};
    Place place = placeOf(b, op, operand, at);
    place.pop_back();
    return place;
  };
  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    Value value = operand.get();
    if (Value view = views[operand.getOperandNumber()])
      value = loadLanes(b, view, placeOfVector(operand), Value(), lanes);
    else if (isa<MemRefType>(value.getType()))
      value = memref::LoadOp::create(b, value, placeOf(b, op, operand, at));
    mapping.map(argument, value);
  }
  for (auto number : op.getBody()->getOps<linalg::IndexOp>())
    mapping.map(number.getResult(), numbersOf(number.getDim(), at, row));
  SmallVector<Value> results = cloneWide(b, *op.getBody(), mapping, lanes);
  for (auto [init, result] : llvm::zip_equal(op.getDpsInitsMutable(), results))
    vector::StoreOp::create(b, result, views[init.getOperandNumber()],
                            placeOfVector(init));
}

/// Makes tables of the rows and columns of a group's elements, as far as the
/// body asks for their numbers.
void ShortRows::numberElements() {
  for (auto number : op.getBody()->getOps<linalg::IndexOp>()) {
    Value &table = numbers[number.getDim() == last];
    if (number.getDim() + 1 < last || table)
      continue;
    table = makeTable(b.getIndexType());
    forTable([&](Value column, Value place) {
      Value element = number.getDim() == last
                          ? column
                          : b.createOrFold<arith::DivUIOp>(place, columns);
      memref::StoreOp::create(b, element, table, place);
    });
  }
}

/// Where the elements of the vector at `at` are along axis `dim`; `row` is the
/// first of the group.
Value ShortRows::numbersOf(unsigned dim, const Place &at, Value row) {
  if (dim + 1 < last)
    return at[dim];
  Value table = numbers[dim == last];
  Value within = loadLanes(b, table, at[last], Value(), lanes);
  return dim == last ? within
                     : arith::AddIOp::create(b, widen(b, row, lanes), within)
                           .getResult();
}

/// Adds the sums of a group's rows to what an output holds.
void ShortRows::addUp(OpOperand &init, Operation &combiner, Place at) {
  BlockArgument out = op.getMatchingBlockArgument(&init);
  forTable([&](Value column, Value place) {
    at[last] = column;
    Place to = placeOf(b, op, init, at);
    Value before = memref::LoadOp::create(b, init.get(), to);
    Value sum =
        memref::LoadOp::create(b, views[init.getOperandNumber()], place);
    auto operands =
        llvm::map_to_vector(combiner.getOperands(), [&](Value operand) {
          return operand == out ? before : sum;
        });
    Operation *all = mlir::clone(b, &combiner, sum.getType(), operands);
    memref::StoreOp::create(b, all->getResult(0), init.get(), to);
  });
}

/// All groups at `at`, a place along the axes before the last two.
void ShortRows::emitGroups(Place at) {
  for (auto [operand, part] : llvm::zip_equal(op->getOpOperands(), plan.parts))
    if (part == Part::Row) {
      views[operand.getOperandNumber()] =
          makeTable(getElementTypeOrSelf(operand.get()));
      fillTable(operand, at);
    }
  numberElements();
  bool isParallel = isParallelDim(op, last - 1);
  forAll(index(0), rows, index(lanes), isParallel, [&](Value row) {
    Value begin = multiply(row, columns);
    forAll(index(0), elements, index(lanes), isParallel, [&](Value first) {
      at[last - 1] = b.createOrFold<arith::AddIOp>(begin, first);
      at[last] = first;
      emitVector(at, row);
    });
  });
  for (OpOperand &init : op.getDpsInitsMutable())
    if (Operation *combiner = findCombinerOf(init))
      addUp(init, *combiner, at);
  for (Value table : llvm::concat<Value>(views, numbers))
    if (last > 1 && table && table.getDefiningOp<memref::AllocOp>())
      memref::DeallocOp::create(b, table);
}

/// The loops over the axes before the last two, from `dim` on.
void ShortRows::emitOuter(unsigned dim, Place &at) {
  if (dim + 1 == last)
    return emitGroups(at);
  forAll(index(0), extents[dim], index(1), isParallelDim(op, dim),
         [&](Value number) {
           at[dim] = number;
           emitOuter(dim + 1, at);
         });
}

/// The operation on the rows behind those that are done.
linalg::GenericOp ShortRows::cutRest() {
  if (isEqualConstantIntOrValue(rows, extents[last - 1])) {
    rewriter.eraseOp(op);
    return {};
  }
  SmallVector<Value> operands;
  for (auto [operand, part] :
       llvm::zip_equal(op->getOpOperands(), plan.parts)) {
    operands.push_back(operand.get());
    if (part != Part::All)
      continue;
    int64_t rank = cast<MemRefType>(operand.get().getType()).getRank();
    SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)),
        ones(rank, b.getIndexAttr(1)), sizes;
    for (int64_t axis : llvm::seq(rank))
      sizes.push_back(memref::getMixedSize(b, b.getLoc(), operand.get(), axis));
    offsets[rank - 2] = getAsOpFoldResult(rows);
    sizes[rank - 2] = getAsOpFoldResult(
        b.createOrFold<arith::SubIOp>(extents[last - 1], rows));
    operands.back() =
        memref::SubViewOp::create(b, operand.get(), offsets, sizes, ones);
  }
  auto rest = cast<linalg::GenericOp>(
      mlir::clone(b, op.getOperation(), TypeRange(), operands));
  rewriter.eraseOp(op);
  // Its rows count from the first of them.
  for (auto number :
       llvm::make_early_inc_range(rest.getBody()->getOps<linalg::IndexOp>())) {
    if (number.getDim() + 1 != last)
      continue;
    b.setInsertionPointAfter(number);
    auto sum = arith::AddIOp::create(b, number, rows);
    number.getResult().replaceAllUsesExcept(sum, sum);
  }
  return rest;
}

linalg::GenericOp ShortRows::rewrite() {
  b.setInsertionPoint(op);
  for (OpFoldResult extent : createExtents(b, op))
    extents.push_back(getValueOrCreateConstantIndexOp(b, op.getLoc(), extent));
  columns = extents[last];
  rows = countRows();
  // No loop has a trip then.
  elements = b.createOrFold<arith::SelectOp>(
      b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, rows, index(0)),
      multiply(columns, index(lanes)), index(0));
  views.assign(op->getNumOperands(), Value());
  for (auto [operand, part] : llvm::zip_equal(op->getOpOperands(), plan.parts))
    if (part == Part::All)
      views[operand.getOperandNumber()] = asOneRow(operand);
  Place at(extents.size());
  emitOuter(0, at);
  return cutRest();
}

linalg::GenericOp loopc::emitShortRows(IRRewriter &rewriter,
                                       linalg::GenericOp op,
                                       const ShortRowPlan &plan,
                                       SmallVectorImpl<Value> &tables) {
  return ShortRows(rewriter, op, plan, tables).rewrite();
}
