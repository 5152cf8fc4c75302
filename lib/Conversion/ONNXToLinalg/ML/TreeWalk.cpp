//===- TreeWalk.cpp - Walking decision trees ------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// From the roots to the leaves, all ensembles by the same code: nodes are data.
//
// A walk is a chain of loads, each of which waits for the one before. So many
// walks go on at once, a level each time: those of a block of rows through one
// tree, or where there are few rows those of one row through a block of trees.
// A step is the same for all of them, so that it is made of vectors, and a leaf
// leads to itself, so that walks of different lengths wait for one another.
// Few rows go one by one through trees of which few walks are long: there most
// would wait. Such a walk turns by branches, as the processor goes on with the
// next node, and the next tree, before it has the number that decides.
// Rows of a block through trees of few leaves do not walk: each of a tree's
// nodes is asked of all rows, of numbers that lie side by side (LeafMasks.cpp).
// What leaves contribute is added tree by tree, in the order of the ensemble,
// as onnxruntime does: the sums have the same bits.

#include "Framework/ShapeUtils.h"
#include "TreeWalker.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <numeric>

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;
using FP = arith::CmpFPredicate;
using utils::IteratorType;

/// Rows from which on a block is of rows; less are fewer than loads wait for.
static constexpr int64_t kMinRows = 24;
/// The same where less would go one by one through the trees: of as many walks
/// by branches as this, more steps are predicted wrongly than a block takes.
static constexpr int64_t kMinRowsOfUneven = 8;
/// The same of rows that do not walk, of which a block always takes as long.
static constexpr int64_t kMinRowsOfMasks = 8;
/// Trees from which on a block is of trees: what a step of one vector takes.
static constexpr int64_t kMinTrees = 4;
/// How many times as many steps a block of trees may take as walks do that wait
/// for no other.
static constexpr double kMaxUneven = 3;

TreeWalker::TreeWalker(NodeLowering &l, const Trees &trees,
                       const PackedTrees &packed, Value rows)
    : l(l), trees(trees), packed(packed), numTrees(packed.roots.size()),
      isAlone(walksAlone()), i32(l.b.getI32Type()) {
  type = packed.isDouble ? Type(l.b.getF64Type()) : l.b.getF32Type();
  metaType = packed.isSplit ? Type(l.b.getI64Type()) : i32;
  numRows = l.dim(rows, 0);
  width = l.dim(rows, 1);
  if (getElementTypeOrSelf(rows.getType()) != type)
    rows = mapSpace(l, {{rows, {0, 1}}}, {numRows, width}, type,
                    [&](ScalarBuilder &s, ArrayRef<Value> e) {
                      return s.cast(e[0], type);
                    });
  this->rows = rows;
  flat = reshapeByGroups(l, rows, l.mul(numRows, width));
  nodes = tableOf<int64_t>(l, l.b.getI64Type(), packed.nodes);
  if (packed.isDouble)
    values = tableOf<int64_t>(l, type, packed.doubles);
  else if (packed.isSplit)
    values = tableOf<int32_t>(l, type, packed.floats);
  // Whole blocks are read; what is not there is the first tree once more.
  std::vector<int32_t> padded(packed.roots);
  padded.resize(numTreeBlocks() * treesOfBlock(), 0);
  roots = tableOf<int32_t>(l, i32, padded);
  if (!packed.treeTargets.empty())
    treeTargets = tableOf<int32_t>(l, i32, packed.treeTargets);
  if (packed.kind != PackedTrees::One)
    weights = floatTable(l, packed.weights, type);
  if (packed.kind == PackedTrees::Some) {
    targets = tableOf<int32_t>(l, i32, packed.targets);
    leafStart = tableOf<int32_t>(l, i32, packed.leafStart);
  }
  if (hasMasks())
    makeMaskTables();
}

/// Few trees are walked one after the other, and so are those, as gradient
/// boosting makes them leaf by leaf, whose longest walks are much longer than
/// most: a block of trees takes as many steps as the longest walk in it.
bool TreeWalker::walksAlone() const {
  if (l.forKernels || numTrees < kMinTrees)
    return true;
  ArrayRef<int32_t> longest(packed.longestWalks);
  double inBlocks = 0;
  for (; !longest.empty(); longest = longest.drop_front(std::min<size_t>(
                               treesOfBlock(), longest.size()))) {
    ArrayRef<int32_t> block = longest.take_front(treesOfBlock());
    inBlocks += double(block.size()) * *llvm::max_element(block);
  }
  double alone = std::accumulate(packed.expectedWalks.begin(),
                                 packed.expectedWalks.end(), 0.0);
  return inBlocks > kMaxUneven * alone;
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

NodeBits TreeWalker::readNode(Value node) {
  Value place = toIndex(node), bits = read(nodes, place);
  if (packed.isSplit)
    return {bits, read(values, place)};
  Value high = arith::ShRUIOp::create(l.b, bits, integer(l.b.getI64Type(), 32));
  return {arith::TruncIOp::create(l.b, i32, bits),
          arith::BitcastOp::create(l.b, type,
                                   arith::TruncIOp::create(l.b, i32, high))};
}

Value TreeWalker::masked(Value meta, int64_t flag) {
  return arith::AndIOp::create(l.b, meta, integer(metaType, flag));
}

/// The feature that `meta` asks for, of those that begin at `offset`.
Value TreeWalker::readFeature(Value meta, Value offset) {
  Value feature = arith::AndIOp::create(
      l.b,
      arith::ShRUIOp::create(l.b, meta,
                             integer(metaType, PackedTrees::kFeatureShift)),
      integer(metaType, (int64_t(1) << packed.featureBits) - 1));
  return read(flat, arith::AddIOp::create(l.b, offset, toIndex(feature)));
}

/// The node `number` (0 or 1) of the two that the one of `meta` leads to, whose
/// place is `node`.
Value TreeWalker::child(Value node, Value meta, Value number) {
  Value distance = arith::AddIOp::create(
      l.b,
      arith::ShRSIOp::create(
          l.b, meta,
          integer(metaType, PackedTrees::kFeatureShift + packed.featureBits)),
      number);
  if (packed.isSplit)
    distance = arith::TruncIOp::create(l.b, i32, distance);
  return arith::AddIOp::create(l.b, node, distance);
}

/// The node behind `node`, whose features begin at `offset`; a leaf itself.
Value TreeWalker::step(Value node, const NodeBits &bits, Value offset) {
  Value x = readFeature(bits.meta, offset);
  Value goes = arith::CmpFOp::create(l.b, FP::OLE, x, bits.value);
  if (packed.tracksNaN) {
    Value isNaN = arith::CmpFOp::create(l.b, FP::UNO, x, x);
    Value tracks = arith::CmpIOp::create(
        l.b, IP::ne, masked(bits.meta, PackedTrees::kTrueIfNaN),
        integer(metaType, 0));
    goes = arith::OrIOp::create(l.b, goes,
                                arith::AndIOp::create(l.b, isNaN, tracks));
  }
  // Nothing is true of a leaf, and its distance is 0.
  Value one = arith::AndIOp::create(
      l.b, arith::SelectOp::create(l.b, goes, bits.meta, integer(metaType, 0)),
      integer(metaType, PackedTrees::kInner));
  return child(node, bits.meta, one);
}

/// What `thenValue` or `elseValue` make, by a branch that the processor
/// predicts. As a select it would be one of the numbers that the next load
/// waits for.
Value TreeWalker::branch(Value condition, bool expected, ValueFn thenValue,
                         ValueFn elseValue) {
  Value expectedValue = integer(l.b.getI1Type(), expected);
  Value predicted = LLVM::ExpectOp::create(l.b, condition, expectedValue);
  return ifElse(l, i32, predicted, thenValue, elseValue);
}

/// The same of a node that is no leaf, by branches. NaN has one of its own,
/// also where no node tracks it: LLVM makes arithmetic of two numbers that
/// differ by one.
Value TreeWalker::branchStep(Value node, const NodeBits &bits, Value offset) {
  Value x = readFeature(bits.meta, offset);
  auto toChild = [&](int64_t number) {
    return child(node, bits.meta, integer(metaType, number));
  };
  auto whenGreater = [&] { return toChild(0); };
  auto whenNaN = [&] {
    Value shifted = arith::ShRUIOp::create(
        l.b, masked(bits.meta, PackedTrees::kTrueIfNaN), integer(metaType, 2));
    return child(node, bits.meta, shifted);
  };
  return branch(
      arith::CmpFOp::create(l.b, FP::OLE, x, bits.value), true,
      [&] { return toChild(1); },
      [&] {
        return branch(arith::CmpFOp::create(l.b, FP::UNO, x, x), false, whenNaN,
                      whenGreater);
      });
}

/// A loop of `count` iterations (an index). What its body allocates is
/// allocated once.
SmallVector<Value> TreeWalker::loopOver(Value count, ValueRange inits,
                                        LoopBody body) {
  Type i64 = l.b.getI64Type();
  Value trips = l.b.createOrFold<arith::IndexCastOp>(i64, count);
  auto loop =
      loop::LoopOp::create(l.b, i64, l.b.getI1Type(), trips, Value(), inits);
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToEnd(loop.getLoopBody());
  SmallVector<Value> next =
      body(toIndex(loop.getCounter()), loop.getCarriedArgs());
  loop::YieldOp::create(l.b, integer(l.b.getI1Type(), 1), next, ValueRange());
  return SmallVector<Value>(loop.getResults());
}

/// The leaves that all of `starts` come to; `offset` may ask for its number by
/// linalg.index.
Value TreeWalker::toLeaves(Value starts, OffsetFn offset) {
  if (packed.areStumps)
    return starts;
  Type i64 = l.b.getI64Type(), i1 = l.b.getI1Type();
  // No way is longer than there are nodes.
  Value most = integer(i64, packed.nodes.size());
  auto loop = loop::LoopOp::create(l.b, i64, i1, most, integer(i1, 1), starts);
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToEnd(loop.getLoopBody());
  Value nodes = loop.getCarriedArgs()[0];
  Value none = l.filled({}, integer(i32, 0));
  SmallVector<AffineMap> maps{
      l.b.getMultiDimIdentityMap(1),
      AffineMap::get(1, 0, ArrayRef<AffineExpr>(), l.b.getContext())};
  auto level = linalg::GenericOp::create(
      l.b, TypeRange{nodes.getType(), none.getType()}, ValueRange(),
      ValueRange{nodes, none}, maps, IteratorType::reduction,
      [&](OpBuilder &b, Location, ValueRange args) {
        OpBuilder::InsertionGuard inner(l.b);
        l.b.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
        NodeBits bits = readNode(args[0]);
        Value next = step(args[0], bits, offset());
        Value more = masked(bits.meta, PackedTrees::kInnerChild);
        if (packed.isSplit)
          more = arith::TruncIOp::create(l.b, i32, more);
        more = arith::MaxUIOp::create(l.b, args[1], more);
        linalg::YieldOp::create(l.b, ValueRange{next, more});
      });
  Value more = tensor::ExtractOp::create(l.b, level.getResult(1), ValueRange());
  Value goesOn = arith::CmpIOp::create(l.b, IP::ne, more, integer(i32, 0));
  loop::YieldOp::create(l.b, goesOn, level.getResult(0), ValueRange());
  return loop.getResult(0);
}

/// The leaf that one walk comes to.
Value TreeWalker::toLeaf(Value root, Value offset) {
  if (packed.areStumps)
    return root;
  auto inLoop = [&](OpBuilder &b, auto body) {
    OpBuilder::InsertionGuard guard(l.b);
    l.b.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
    body();
  };
  auto loop = scf::WhileOp::create(
      l.b, TypeRange{i32}, ValueRange{root},
      [&](OpBuilder &b, Location, ValueRange node) {
        inLoop(b, [&] {
          Value inner = masked(readNode(node[0]).meta, PackedTrees::kInner);
          scf::ConditionOp::create(
              l.b,
              arith::CmpIOp::create(l.b, IP::ne, inner, integer(metaType, 0)),
              node);
        });
      },
      [&](OpBuilder &b, Location, ValueRange node) {
        inLoop(b, [&] {
          NodeBits bits = readNode(node[0]);
          scf::YieldOp::create(l.b, l.forKernels
                                        ? step(node[0], bits, offset)
                                        : branchStep(node[0], bits, offset));
        });
      });
  return loop.getResult(0);
}

/// Where the contributions of leaf `node` are.
Value TreeWalker::placeOf(Value node) {
  Type bits = packed.isDouble ? Type(l.b.getI64Type()) : i32;
  return toIndex(arith::BitcastOp::create(l.b, bits, readNode(node).value));
}

Value TreeWalker::combine(Value sum, Value weight, Value isFirst) {
  if (!trees.isMinOrMax())
    return arith::AddFOp::create(l.b, sum, weight);
  Value better = arith::CmpFOp::create(
      l.b, trees.aggregate == Aggregate::Min ? FP::OLT : FP::OGT, weight, sum);
  return arith::SelectOp::create(
      l.b, arith::OrIOp::create(l.b, isFirst, better), weight, sum);
}

//===----------------------------------------------------------------------===//
// A block of rows through one tree
//===----------------------------------------------------------------------===//

/// The sums with those of the first `count` rows, tree by tree.
Value TreeWalker::blocksOfRows(Value sums, OpFoldResult count) {
  OpFoldResult numBlocks = l.b.createOrFold<arith::CeilDivUIOp>(
      l.asIndex(count), l.index(kBlockRows));
  Value groups = tableOf<int32_t>(l, i32, packed.groups);
  Dims numGroups{l.fold(static_cast<int64_t>(packed.groups.size()) - 1)};
  return loopNest(l, numGroups, sums, [&](ValueRange group, ValueRange all) {
    Value from = readPlace(groups, group[0]);
    Value to =
        readPlace(groups, arith::AddIOp::create(l.b, group[0], l.index(1)));
    auto block = [&](ValueRange at, ValueRange carried) {
      Value first = arith::MulIOp::create(l.b, at[0], l.index(kBlockRows));
      Value size = arith::MinSIOp::create(
          l.b, arith::SubIOp::create(l.b, l.asIndex(count), first),
          l.index(kBlockRows));
      if (hasMasks())
        return SmallVector<Value>{
            addMaskedBlock(carried[0], first, size, from, to)};
      return SmallVector<Value>{addBlock(carried[0], first, size, from, to)};
    };
    return loopNest(l, numBlocks, all, block, /*numParallel=*/1);
  })[0];
}

Value TreeWalker::addBlock(Value sums, Value first, Value size, Value fromTree,
                           Value toTree) {
  // All targets of a row lie together: blocks of rows are apart in memory, and
  // threads can share them.
  Value own = l.slice(sums, sumPlace(first), sumDims(size));
  if (!rowsFirst())
    own = l.transpose(own, {1, 0});
  Value count = arith::SubIOp::create(l.b, toTree, fromTree);
  own = loopOver(count, own, [&](Value number, ValueRange carried) {
    Value tree = arith::AddIOp::create(l.b, fromTree, number);
    return SmallVector<Value>{addTree(tree, carried[0], first, size)};
  })[0];
  if (!rowsFirst())
    own = l.transpose(own, {1, 0});
  return l.insert(own, sums, sumPlace(first), sumDims(size));
}

/// The sums of `size` rows from `firstRow` on with those of one tree.
Value TreeWalker::addTree(Value tree, Value sums, Value firstRow, Value size) {
  Value starts = l.filled(OpFoldResult(size), read(roots, tree));
  Value leaves = toLeaves(starts, [&] {
    Value row = arith::AddIOp::create(
        l.b, firstRow, linalg::IndexOp::create(l.b, 0).getResult());
    return arith::MulIOp::create(l.b, row, l.asIndex(width)).getResult();
  });
  if (packed.kind == PackedTrees::One)
    return addOne(sums, leaves, tree,
                  [&](Value leaf) { return readNode(leaf).value; });
  return addAll(sums, leaves, tree, [&](Value leaf) { return placeOf(leaf); });
}

/// `sums` (targets, rows) with the number of each leaf.
Value TreeWalker::addOne(Value sums, Value leaves, Value tree, LeafFn number) {
  Value isFirst = arith::CmpIOp::create(l.b, IP::eq, tree, l.index(0));
  OpFoldResult target = l.fold(0);
  if (treeTargets)
    target = readPlace(treeTargets, tree);
  Dims place{target, l.fold(0)}, sizes{l.fold(1), l.dim(leaves, 0)};
  Value row = sliceDropping(l, sums, place, sizes, {0});
  SmallVector<AffineMap> maps(2, l.b.getMultiDimIdentityMap(1));
  Value added =
      linalg::GenericOp::create(
          l.b, row.getType(), leaves, row, maps, IteratorType::parallel,
          [&](OpBuilder &b, Location, ValueRange args) {
            OpBuilder::InsertionGuard inner(l.b);
            l.b.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
            Value weight = number(args[0]);
            linalg::YieldOp::create(l.b, combine(args[1], weight, isFirst));
          })
          .getResult(0);
  return l.insert(added, sums, place, sizes, {}, {0});
}

/// `sums` with all the numbers of each leaf.
Value TreeWalker::addAll(Value sums, Value leaves, Value tree, LeafFn place) {
  Value isFirst = arith::CmpIOp::create(l.b, IP::eq, tree, l.index(0));
  unsigned row = rowsFirst() ? 0 : 1;
  SmallVector<AffineMap> maps{AffineMap::get(2, 0, l.b.getAffineDimExpr(row)),
                              l.b.getMultiDimIdentityMap(2)};
  SmallVector<IteratorType> kinds(2, IteratorType::parallel);
  return linalg::GenericOp::create(
             l.b, sums.getType(), leaves, sums, maps, kinds,
             [&](OpBuilder &b, Location, ValueRange args) {
               OpBuilder::InsertionGuard inner(l.b);
               l.b.setInsertionPoint(b.getInsertionBlock(),
                                     b.getInsertionPoint());
               Value target = linalg::IndexOp::create(l.b, 1 - row);
               Value weight = read(
                   weights, arith::AddIOp::create(l.b, place(args[0]), target));
               linalg::YieldOp::create(l.b, combine(args[1], weight, isFirst));
             })
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// One row through blocks of trees
//===----------------------------------------------------------------------===//

/// `sums` (targets; a number where there is one target) and, for the least and
/// the most of some, which of them there are, with `weight`.
SmallVector<Value> TreeWalker::addNumber(Value target, Value weight,
                                         Value isFirst, ValueRange sums) {
  bool isNumber = trees.numTargets == 1;
  auto old = [&](unsigned k) {
    return isNumber ? Value(sums[k]) : read(sums[k], target);
  };
  Value yes = integer(l.b.getI1Type(), 1);
  if (hasFlags())
    isFirst = arith::XOrIOp::create(l.b, old(1), yes);
  SmallVector<Value> next{combine(old(0), weight, isFirst)};
  if (hasFlags())
    next.push_back(yes);
  if (!isNumber)
    for (auto [value, sum] : llvm::zip_equal(next, sums))
      value = tensor::InsertOp::create(l.b, value, sum, target);
  return next;
}

/// `sums` with what leaf `node` of `tree` contributes.
SmallVector<Value> TreeWalker::addLeaf(Value node, Value tree,
                                       ValueRange sums) {
  Value isFirst = arith::CmpIOp::create(l.b, IP::eq, tree, l.index(0));
  if (packed.kind == PackedTrees::One) {
    Value target = treeTargets ? readPlace(treeTargets, tree) : l.index(0);
    return addNumber(target, readNode(node).value, isFirst, sums);
  }
  Value place = placeOf(node), from = l.index(0),
        to = l.index(trees.numTargets);
  if (packed.kind == PackedTrees::Some) {
    from = readPlace(leafStart, place);
    to = readPlace(leafStart, arith::AddIOp::create(l.b, place, l.index(1)));
  }
  auto loop = scf::ForOp::create(l.b, from, to, l.index(1), sums);
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar(), target = at;
  if (packed.kind == PackedTrees::Some)
    target = readPlace(targets, at);
  else
    at = arith::AddIOp::create(l.b, place, at);
  scf::YieldOp::create(l.b, addNumber(target, read(weights, at), isFirst,
                                      loop.getRegionIterArgs()));
  return SmallVector<Value>(loop.getResults());
}

/// The sums with the leaves of all trees that the features at `offset` come to.
SmallVector<Value> TreeWalker::addTreesOneByOne(Value offset, ValueRange sums) {
  return loopNest(l, l.fold(numTrees), sums,
                  [&](ValueRange tree, ValueRange carried) {
                    Value leaf = toLeaf(read(roots, tree[0]), offset);
                    return addLeaf(leaf, tree[0], carried);
                  });
}

/// The same, of as many trees at once as there are walks.
SmallVector<Value> TreeWalker::addTrees(Value offset, ValueRange sums) {
  int64_t walks = treesOfBlock();
  Value count = l.index(numTreeBlocks());
  return loopOver(count, sums, [&](Value block, ValueRange before) {
    Value first = arith::MulIOp::create(l.b, block, l.index(walks));
    Value starts = l.slice(roots, Dims{first}, Dims{l.fold(walks)});
    Value leaves = toLeaves(starts, [&] { return offset; });
    Value count = arith::MinSIOp::create(
        l.b, arith::SubIOp::create(l.b, l.index(numTrees), first),
        l.index(walks));
    return loopNest(l, OpFoldResult(count), before,
                    [&](ValueRange at, ValueRange inner) {
                      Value tree = arith::AddIOp::create(l.b, first, at[0]);
                      return addLeaf(read(leaves, at[0]), tree, inner);
                    });
  });
}

/// The sums of one row, which are zero, and flags: tensors, or numbers where
/// there is one target.
SmallVector<Value> TreeWalker::ownSums(Value sums, Value row) {
  Value no = integer(l.b.getI1Type(), 0);
  SmallVector<Value> own;
  if (trees.numTargets == 1) {
    own.push_back(l.constant(type, 0));
    if (hasFlags())
      own.push_back(no);
    return own;
  }
  own.push_back(sliceDropping(l, sums, sumPlace(row), sumDims(l.fold(1)), {0}));
  if (hasFlags())
    own.push_back(l.filled(l.fold(trees.numTargets), no));
  return own;
}

Value TreeWalker::insertSums(Value own, Value sums, Value row) {
  if (trees.numTargets == 1)
    return tensor::InsertOp::create(l.b, own, sums,
                                    ValueRange{row, l.index(0)});
  return l.insert(own, sums, sumPlace(row), sumDims(l.fold(1)), {}, {0});
}

/// The sums with those of the rows from `first` on, row by row.
Value TreeWalker::singleRows(Value sums, OpFoldResult first) {
  auto addRow = [&](Value number, ValueRange before) {
    Value row = arith::AddIOp::create(l.b, number, l.asIndex(first));
    Value offset = arith::MulIOp::create(l.b, row, l.asIndex(width));
    SmallVector<Value> own = ownSums(before[0], row);
    own = isAlone ? addTreesOneByOne(offset, own) : addTrees(offset, own);
    return SmallVector<Value>{insertSums(own[0], before[0], row)};
  };
  OpFoldResult count = l.sub(numRows, first);
  if (!isAlone)
    return loopOver(l.asIndex(count), sums, addRow)[0];
  return loopNest(
      l, count, sums,
      [&](ValueRange at, ValueRange before) { return addRow(at[0], before); },
      /*numParallel=*/1)[0];
}

//===----------------------------------------------------------------------===//
// All rows
//===----------------------------------------------------------------------===//

/// Rows that are computed in blocks; the others are too few.
OpFoldResult TreeWalker::countOfBlocks() {
  if (l.forKernels || packed.kind == PackedTrees::Some)
    return l.fold(0);
  OpFoldResult rest = remainder(l, numRows, l.fold(kBlockRows));
  int64_t least = hasMasks() ? kMinRowsOfMasks
                  : isAlone  ? kMinRowsOfUneven
                             : kMinRows;
  Value areFew = compare(l, IP::slt, rest, l.fold(least));
  return l.sub(numRows, select(l, areFew, rest, l.fold(0)));
}

Value TreeWalker::scores() {
  Value sums = l.filled(sumDims(numRows), l.constant(type, 0));
  OpFoldResult inBlocks = countOfBlocks();
  if (!isConstantIntValue(inBlocks, 0))
    sums = blocksOfRows(sums, inBlocks);
  std::optional<int64_t> known = getConstantIntValue(inBlocks);
  if (!known || known != getConstantIntValue(numRows))
    sums = singleRows(sums, inBlocks);
  return sums;
}

Value loopc::treeScores(NodeLowering &l, const Trees &trees,
                        const PackedTrees &packed, Value rows) {
  OpFoldResult count = l.dim(rows, 0), width = l.dim(rows, 1);
  Type type = packed.isDouble ? Type(l.b.getF64Type()) : l.b.getF32Type();
  Dims dims{count, l.fold(trees.numTargets)};
  int64_t last = trees.numFeatures();
  Value isWide = compare(l, IP::sge, width, l.fold(last));
  l.check(isWide, "there are {} features, fewer than the trees ask for",
          l.asIndex(width));
  // Rows that are too short are refused, but a branch that is never taken may
  // say so at compile time: no element is read then.
  std::optional<int64_t> known = getConstantIntValue(width);
  Value sums = known && *known < last
                   ? l.filled(dims, l.constant(type, 0))
                   : TreeWalker(l, trees, packed, rows).scores();
  double scale = trees.aggregate == Aggregate::Average
                     ? std::max<size_t>(trees.roots.size(), 1)
                     : 1;
  if (scale == 1 && trees.base.empty())
    return sums;
  // One value is that of all targets, of which there may be very many.
  SmallVector<SpaceOperand> inputs{{sums, {0, 1}}};
  if (trees.base.size() > 1)
    inputs.push_back({floatTable(l, trees.base, type), {1}});
  double only = trees.base.size() == 1 ? trees.base[0] : 0;
  return mapSpace(
      l, inputs, dims, type, [&](ScalarBuilder &s, ArrayRef<Value> e) {
        Value sum = e[0];
        if (scale != 1)
          sum = s.div(sum, s.constant(type, scale));
        return s.add(sum, e.size() > 1 ? e[1] : s.constant(type, only));
      });
}
