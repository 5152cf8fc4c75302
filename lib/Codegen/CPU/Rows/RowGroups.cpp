//===- RowGroups.cpp - Rows that several operations compute in turn -------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The operations of a Softmax go over the same rows:
//
//   linalg.generic (max)  ins(%x : memref<?x?xf32>) outs(%m : memref<?xf32>)
//   linalg.generic (exp)  ins(%x, %m) outs(%y : memref<?x?xf32>, %s)
//   linalg.generic (mulf) ins(%y, %r) outs(%y)
//
// One loop over rows that does all of them for some rows reads each row from
// memory once; what follows finds it in the first cache.

#include "RowVectorizer.h"
#include "Rows.h"
#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace loopc;

/// Operations of a group: three times a Softmax. LLVM's time grows faster than
/// a nest does, and to read a row once more is little beside so much.
static constexpr size_t kMaxMembers = 16;

namespace {
/// How operations use a buffer.
struct BufferUse {
  bool isWritten = false;
  /// Each iteration over rows uses its own part only.
  bool isOfRow = true;
  /// Operations that have elements of a row there, and not one number.
  unsigned numRowUses = 0;

  void add(const BufferUse &other) {
    isWritten |= other.isWritten;
    isOfRow &= other.isOfRow;
    numRowUses += other.numRowUses;
  }
};

using BufferUses = llvm::SmallMapVector<Value, BufferUse, 4>;

/// An operation of a group.
struct Member {
  linalg::LinalgOp op;
  /// What computes its rows; null where a row is one number.
  std::unique_ptr<RowVectorizer> rows;
  Value columns = {};
};

/// Finds groups of operations in a block, and writes each as one nest.
class RowGroups {
public:
  RowGroups(IRRewriter &rewriter, CpuModel cpu)
      : rewriter(rewriter), cpu(cpu) {}

  /// Returns how many operations were written.
  unsigned run(Block &block);

private:
  bool add(linalg::FillOp fill);
  bool add(linalg::GenericOp op);
  bool agrees(const BufferUses &uses, bool &isConnected) const;
  void addMember(linalg::LinalgOp op, std::unique_ptr<RowVectorizer> rows,
                 const BufferUses &uses);
  BufferUses findUses(linalg::LinalgOp op, unsigned numRowDims) const;
  bool shareRows();
  void flush();
  void write();
  void writeRows(ImplicitLocOpBuilder &b, ArrayRef<Place> rows, unsigned dim);
  void writeSeveral(ImplicitLocOpBuilder &b, const Place &first, unsigned dim,
                    Value count);
  void writeNumber(ImplicitLocOpBuilder &b, linalg::LinalgOp op,
                   const Place &row);

  IRRewriter &rewriter;
  CpuModel cpu;
  SmallVector<Member> members;
  BufferUses buffers;
  /// Fills in front of what is reduced; of the group once one of its operations
  /// uses the buffer.
  SmallVector<linalg::FillOp> fills;
  /// What frees buffers behind the first operation of the group, and how many
  /// of them come before the last one.
  SmallVector<memref::DeallocOp> freed;
  size_t numFreedBetween = 0;
  unsigned numRowDims = 0; ///< axes that all operations have first
  unsigned numWritten = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Which operations are a group
//===----------------------------------------------------------------------===//

/// True if nobody knows `buffer` by another name.
static bool isKnownByItself(Value buffer) {
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  return alloc && llvm::all_of(buffer.getUsers(), [&](Operation *user) {
           return isa<linalg::LinalgOp, memref::DeallocOp, memref::DimOp>(
                      user) ||
                  getAccess(user).buffer == buffer ||
                  (user->hasTrait<OpTrait::IsTerminator>() &&
                   user->getBlock() == alloc->getBlock());
         });
}

/// True if the first `count` axes of a buffer are those of the operation.
static bool beginsWithDims(AffineMap map, unsigned count) {
  if (map.getNumResults() < count)
    return false;
  for (unsigned k = 0; k < count; ++k)
    if (map.getResult(k) != getAffineDimExpr(k, map.getContext()))
      return false;
  return true;
}

BufferUses RowGroups::findUses(linalg::LinalgOp op, unsigned numRowDims) const {
  BufferUses uses;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    BufferUse use;
    use.isWritten = op.isDpsInit(&operand);
    use.isOfRow = beginsWithDims(map, numRowDims);
    use.numRowUses = map.getNumResults() > numRowDims;
    uses[operand.get()].add(use);
  }
  op->walk([&](memref::LoadOp load) {
    BufferUse use;
    use.isOfRow = false;
    uses[load.getMemRef()].add(use);
  });
  return uses;
}

/// True if an operation with `uses` may take turns with those of the group, row
/// by row. Sets `isConnected` if both go over a buffer: then they have the same
/// rows.
bool RowGroups::agrees(const BufferUses &uses, bool &isConnected) const {
  for (const auto &[buffer, use] : uses) {
    auto found = buffers.find(buffer);
    BufferUse both = use;
    if (found != buffers.end()) {
      isConnected |= use.isOfRow && found->second.isOfRow;
      both.add(found->second);
    }
    if (both.isWritten && (!both.isOfRow || !isKnownByItself(buffer)))
      return false;
  }
  return true;
}

void RowGroups::addMember(linalg::LinalgOp op,
                          std::unique_ptr<RowVectorizer> rows,
                          const BufferUses &uses) {
  members.push_back({op, std::move(rows)});
  numFreedBetween = freed.size();
  for (const auto &[buffer, use] : uses)
    buffers[buffer].add(use);
}

bool RowGroups::add(linalg::FillOp fill) {
  Value buffer = fill.getDpsInits().front();
  if (!fill.hasPureBufferSemantics() || buffers.contains(buffer))
    return false;
  // The group is written behind it, with what reads the memory in front of it
  // by another name.
  if (!members.empty() && !isKnownByItself(buffer))
    return false;
  fills.push_back(fill);
  return true;
}

/// True if `op` computes one number of each of its rows from numbers.
static bool isOfNumbers(linalg::GenericOp op) {
  return op.getNumReductionLoops() == 0 &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) {
                        return llvm::all_of(
                            map.getResults(),
                            llvm::IsaPred<AffineDimExpr, AffineConstantExpr>);
                      }) &&
         llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
           return isMemoryEffectFree(&inner) && inner.getNumRegions() == 0;
         });
}

/// How many axes of `op` come before the last, if all of these are parallel;
/// else 0.
static unsigned countRowDims(linalg::GenericOp op) {
  unsigned count = op.getNumLoops() ? op.getNumLoops() - 1 : 0;
  for (unsigned dim = 0; dim < count; ++dim)
    if (!isParallelDim(op, dim))
      return 0;
  return count;
}

bool RowGroups::add(linalg::GenericOp op) {
  if (!op.hasPureBufferSemantics() || members.size() >= kMaxMembers)
    return false;
  std::unique_ptr<RowVectorizer> rows;
  unsigned count = countRowDims(op);
  if (!members.empty() && op.getNumLoops() == numRowDims && isOfNumbers(op)) {
    count = numRowDims;
  } else {
    if (count == 0 || (!members.empty() && count != numRowDims))
      return false;
    std::optional<RowPlan> plan = planRows(op, cpu);
    if (!plan)
      return false;
    rows = std::make_unique<RowVectorizer>(rewriter, op, std::move(*plan));
  }
  BufferUses uses = findUses(op, count);
  bool isConnected = members.empty();
  if (!agrees(uses, isConnected) || !isConnected)
    return false;
  // What its sums begin with, of the rows that it has.
  SmallVector<linalg::FillOp> own, others;
  for (linalg::FillOp fill : fills) {
    Value buffer = fill.getDpsInits().front();
    auto use = uses.find(buffer);
    if (use == uses.end()) {
      others.push_back(fill);
      continue;
    }
    if (!use->second.isOfRow || !isKnownByItself(buffer) ||
        cast<MemRefType>(buffer.getType()).getRank() != count)
      return false;
    own.push_back(fill);
  }
  numRowDims = count;
  for (linalg::FillOp fill : own)
    addMember(fill, nullptr, findUses(fill, count));
  fills = std::move(others);
  addMember(op, std::move(rows), uses);
  return true;
}

/// True if several operations go over the elements of the same rows, of which
/// there are more than some and, as far as is known, not all in a cache.
bool RowGroups::shareRows() {
  auto isShared = [&](const auto &entry) {
    const auto &[buffer, use] = entry;
    if (use.numRowUses < 2 || !use.isOfRow)
      return false;
    auto type = cast<MemRefType>(buffer.getType());
    int64_t numRows = 1;
    for (int64_t extent : type.getShape().take_front(numRowDims))
      numRows = ShapedType::isDynamic(extent)    ? ShapedType::kDynamic
                : ShapedType::isDynamic(numRows) ? numRows
                                                 : numRows * extent;
    if (ShapedType::isStatic(numRows) && numRows <= int64_t(RowPlan::kRows))
      return false;
    return !type.hasStaticShape() ||
           type.getNumElements() * type.getElementTypeBitWidth() / 8 >
               CpuModel::kFirstCache;
  };
  return llvm::any_of(buffers, isShared);
}

void RowGroups::flush() {
  if (members.size() > 1 && shareRows())
    write();
  members.clear();
  buffers.clear();
  fills.clear();
  freed.clear();
  numFreedBetween = 0;
  numRowDims = 0;
}

unsigned RowGroups::run(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto dealloc = dyn_cast<memref::DeallocOp>(op)) {
      // The group may read it by any name, such as the result of a select.
      if (!members.empty())
        freed.push_back(dealloc);
      continue;
    }
    if (isa<memref::AllocOp>(op) || isMemoryEffectFree(&op))
      continue;
    auto addTo = [&] {
      if (auto fill = dyn_cast<linalg::FillOp>(op))
        return add(fill);
      auto generic = dyn_cast<linalg::GenericOp>(op);
      return generic && add(generic);
    };
    if (addTo())
      continue;
    // It may be the first of the next group.
    flush();
    addTo();
  }
  flush();
  return numWritten;
}

//===----------------------------------------------------------------------===//
// The code
//===----------------------------------------------------------------------===//

/// What `op` makes of the numbers of `row`, and fills do.
void RowGroups::writeNumber(ImplicitLocOpBuilder &b, linalg::LinalgOp op,
                            const Place &row) {
  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    Value value = operand.get();
    if (isa<MemRefType>(value.getType()))
      value = memref::LoadOp::create(b, value, placeOf(b, op, operand, row));
    mapping.map(argument, value);
  }
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (auto number = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(number.getResult(), row[number.getDim()]);
    else
      b.clone(inner, mapping);
  }
  for (auto [k, init] : llvm::enumerate(op.getDpsInitsMutable()))
    memref::StoreOp::create(
        b,
        mapping.lookupOrDefault(op.getBlock()->getTerminator()->getOperand(k)),
        init.get(), placeOf(b, op, init, row));
}

/// All that the group computes of `rows`, neighbours along axis `dim`.
void RowGroups::writeRows(ImplicitLocOpBuilder &b, ArrayRef<Place> rows,
                          unsigned dim) {
  for (Member &member : members) {
    if (!member.rows) {
      for (const Place &row : rows)
        writeNumber(b, member.op, row);
      continue;
    }
    const RowPlan &plan = member.rows->getPlan();
    bool together =
        rows.size() == 1 || plan.rowDim || (!plan.reduces() && plan.isShort);
    if (together) {
      member.rows->computeRows(b.saveInsertionPoint(), rows, member.columns,
                               dim);
      continue;
    }
    Value end = arith::AddIOp::create(
        b, rows.front()[dim], arith::ConstantIndexOp::create(b, rows.size()));
    auto each = scf::ForOp::create(b, rows.front()[dim], end,
                                   arith::ConstantIndexOp::create(b, 1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(each.getBody());
    Place row = rows.front();
    row[dim] = each.getInductionVar();
    member.rows->computeRows(b.saveInsertionPoint(), row, member.columns, dim);
  }
}

/// The rows from `first` on along axis `dim`: kRows, or what is left of the
/// `count`.
void RowGroups::writeSeveral(ImplicitLocOpBuilder &b, const Place &first,
                             unsigned dim, Value count) {
  auto rowAt = [&](Value number) {
    Place row = first;
    row[dim] = number;
    return row;
  };
  auto next = [&](int64_t k) {
    return b.createOrFold<arith::AddIOp>(first[dim],
                                         arith::ConstantIndexOp::create(b, k));
  };
  Value all = arith::CmpIOp::create(b, arith::CmpIPredicate::ule,
                                    next(RowPlan::kRows), count);
  auto branch = scf::IfOp::create(b, TypeRange(), all, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Place> rows;
  for (unsigned k = 0; k < RowPlan::kRows; ++k)
    rows.push_back(rowAt(next(k)));
  writeRows(b, rows, dim);
  b.setInsertionPointToStart(branch.elseBlock());
  auto single = scf::ForOp::create(b, first[dim], count,
                                   arith::ConstantIndexOp::create(b, 1));
  b.setInsertionPointToStart(single.getBody());
  writeRows(b, rowAt(single.getInductionVar()), dim);
}

/// Writes the group as one nest, where its last operation is.
void RowGroups::write() {
  ImplicitLocOpBuilder b(members.back().op.getLoc(), rewriter);
  b.setInsertionPoint(members.back().op);
  auto index = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, value).getResult();
  };
  SmallVector<Value> extents;
  std::optional<unsigned> several;
  for (Member &member : members) {
    if (!member.rows)
      continue;
    for (OpFoldResult extent : createExtents(b, member.op)) {
      member.columns = getValueOrCreateConstantIndexOp(b, b.getLoc(), extent);
      if (extents.size() < numRowDims)
        extents.push_back(member.columns);
    }
    if (!several)
      several = member.rows->getPlan().rowDim;
  }
  Place at;
  Operation *nest = nullptr;
  for (unsigned dim = 0; dim < numRowDims; ++dim) {
    if (several && dim > *several) {
      at.push_back(index(0));
      continue;
    }
    auto loop = scf::ForOp::create(b, index(0), extents[dim],
                                   index(dim == several ? RowPlan::kRows : 1));
    markParallel(loop);
    nest = nest ? nest : loop;
    at.push_back(loop.getInductionVar());
    b.setInsertionPointToStart(loop.getBody());
  }
  if (several)
    writeSeveral(b, at, *several, extents[*several]);
  else
    writeRows(b, at, numRowDims - 1);
  for (memref::DeallocOp dealloc : ArrayRef(freed).take_front(numFreedBetween))
    rewriter.moveOpAfter(dealloc, nest);
  for (Member &member : members)
    rewriter.eraseOp(member.op);
  numWritten += members.size();
}

unsigned loopc::vectorizeRowGroups(IRRewriter &rewriter, Block &block,
                                   CpuModel cpu) {
  return RowGroups(rewriter, cpu).run(block);
}
