//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// onnx-switch-on-rank: a node on a value of unknown rank becomes nodes on views
// of known rank where its operator has such a form, else the smallest switch
// over the ranks that the value can have, each case a node of its own. So does
// one whose result's rank follows from an extent that is not known.

#include "FlatForms.h"
#include "RankRules.h"
#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"
#include "loopc/Conversion/UnknownRank/Passes.h"
#include "loopc/Dialect/Loop/Transforms/RunTimeFailure.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "loopc/Support/Diagnostics.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <set>

namespace loopc {
#define GEN_PASS_DEF_ONNXSWITCHONRANK
#include "loopc/Conversion/UnknownRank/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Ranks from 0 to this one are compiled where nothing tells which there are.
static constexpr int64_t kMaxRank = 8;

/// So many combinations of ranks are few (FlatRow::switchesOverFew).
static constexpr size_t kFewRanks = 4;

/// Code for more combinations of ranks is refused: it would take minutes.
static constexpr size_t kMaxRanks = 1000;

//===----------------------------------------------------------------------===//
// Which ranks
//===----------------------------------------------------------------------===//

namespace {
using Ranks = std::set<int64_t>;

/// Stands for all ranks above kMaxRank.
constexpr int64_t kMore = -1;

/// The ranks that values can have, up to kMaxRank and beyond.
class RankAnalysis {
public:
  Ranks of(Value value) {
    Ranks ranks;
    Seen seen;
    collect(value, 0, ranks, seen);
    return ranks;
  }

  /// Says what is known of a value that was computed anew.
  void set(Value value, const Ranks &ranks) { known[value] = ranks; }

private:
  /// Values and offsets: around a cycle the rank may grow or shrink.
  using Seen = std::set<std::pair<void *, int64_t>>;
  struct Source {
    Value value;
    int64_t offset = 0;
  };

  /// Adds the ranks of `value`, each changed by `offset`.
  void collect(Value value, int64_t offset, Ranks &ranks, Seen &seen) {
    auto add = [&](int64_t rank) {
      if (rank == kMore) {
        ranks.insert(kMore);
        for (int64_t k = kMaxRank + offset; k < kMaxRank; ++k)
          if (k >= 0)
            ranks.insert(k + 1); // of what had more axes before they went
      } else if (rank + offset > kMaxRank)
        ranks.insert(kMore);
      else if (rank + offset >= 0)
        ranks.insert(rank + offset);
    };
    if (auto type = dyn_cast<RankedTensorType>(innermost(value.getType()))) {
      if (offset != 0)
        return add(type.getRank());
      ranks.insert(type.getRank());
      return;
    }
    if (std::abs(offset) > kMaxRank)
      return add(kMore);
    if (isEmptyList(value))
      return;
    if (!seen.insert({value.getAsOpaquePointer(), offset}).second)
      return;
    if (auto found = known.find(value); found != known.end()) {
      llvm::for_each(found->second, add);
      return;
    }
    SmallVector<Source> sources;
    if (auto result = dyn_cast<OpResult>(value)) {
      if (std::optional<int64_t> rank = rankWithoutTrips(result))
        add(*rank);
      sourcesOf(result, sources);
    } else
      sourcesOf(cast<BlockArgument>(value), sources);
    for (Source source : sources)
      collect(source.value, offset + source.offset, ranks, seen);
    if (sources.empty())
      for (int64_t rank = kMore; rank <= kMaxRank; ++rank)
        ranks.insert(rank);
  }

  static Type innermost(Type type) {
    if (auto seq = dyn_cast<onnx::SeqType>(type))
      return innermost(seq.getElementType());
    if (auto optional = dyn_cast<onnx::OptionalType>(type))
      return innermost(optional.getElementType());
    return type;
  }

  static bool isEmptyList(Value value) {
    auto node = value.getDefiningOp<onnx::NodeOp>();
    return node &&
           (node.getOpType() == "SequenceEmpty" ||
            (node.getOpType() == "Optional" && !node.getInputOrNull(0)));
  }

  /// The rank of what a loop collects in no iteration (loop_zero).
  static std::optional<int64_t> rankWithoutTrips(OpResult result) {
    auto loop = dyn_cast<loop::LoopOp>(result.getOwner());
    if (!loop || result.getResultNumber() < loop.getNumCarried())
      return std::nullopt;
    return leastRankOfCollected(loop, result.getResultNumber() -
                                          loop.getNumCarried());
  }

  void sourcesOf(OpResult result, SmallVector<Source> &sources) {
    Operation *op = result.getOwner();
    unsigned k = result.getResultNumber();
    if (auto cast = dyn_cast<tensor::CastOp>(op)) {
      sources.push_back({cast.getSource()});
    } else if (auto cast = dyn_cast<onnx::CastOp>(op)) {
      sources.push_back({cast.getSource()});
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      sources.append({{select.getTrueValue()}, {select.getFalseValue()}});
    } else if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
      for (Region &region : op->getRegions())
        sources.push_back({region.front().getTerminator()->getOperand(k)});
    } else if (auto loop = dyn_cast<loop::LoopOp>(op)) {
      if (k < loop.getNumCarried()) {
        sources.append(
            {{loop.getInits()[k]}, {loop.getYield().getCarried()[k]}});
      } else {
        sources.push_back(
            {loop.getYield().getCollected()[k - loop.getNumCarried()], 1});
      }
    } else if (auto node = dyn_cast<onnx::NodeOp>(op)) {
      sourcesOfNode(node, sources);
    }
  }

  /// Of operators whose results have a rank of one of their operands, or know
  /// by how much they change it.
  static void sourcesOfNode(onnx::NodeOp node, SmallVector<Source> &sources) {
    StringRef op = node.getOpType();
    if (op == "Identity" || op == "Cast" || op == "Neg" || op == "Abs" ||
        op == "Relu" || op == "Softmax" || op == "Optional" ||
        op == "OptionalGetElement" || op == "SequenceAt" ||
        op == "SequenceErase") {
      sources.push_back({node.getInputs().front()});
    } else if (op == "Add" || op == "Sub" || op == "Mul" || op == "Div" ||
               op == "Concat" || op == "Where" || op == "SequenceConstruct") {
      for (Value input : node.getInputs())
        sources.push_back({input});
    } else if (op == "SequenceInsert") {
      sources.append({{node.getInputs()[0]}, {node.getInputs()[1]}});
    } else if (op == "SplitToSequence") {
      auto keepdims =
          dyn_cast_or_null<IntegerAttr>(node.getNodeAttr("keepdims"));
      bool drops =
          keepdims && keepdims.getInt() == 0 && !node.getInputOrNull(1);
      sources.push_back({node.getInputs().front(), drops ? -1 : 0});
    } else if (op == "Squeeze" || op == "Unsqueeze") {
      std::optional<int64_t> count;
      if (auto axes =
              dyn_cast_or_null<DenseI64ArrayAttr>(node.getNodeAttr("axes")))
        count = axes.size();
      else if (Value axes = node.getInputOrNull(1))
        if (auto type = dyn_cast<RankedTensorType>(axes.getType());
            type && type.hasStaticShape())
          count = type.getNumElements();
      if (count)
        sources.push_back(
            {node.getInputs().front(), op == "Squeeze" ? -*count : *count});
    }
  }

  void sourcesOf(BlockArgument arg, SmallVector<Source> &sources) {
    auto loop = dyn_cast<loop::LoopOp>(arg.getOwner()->getParentOp());
    if (!loop || arg.getArgNumber() < 2)
      return;
    unsigned k = arg.getArgNumber() - 2;
    if (k >= loop.getNumCarried())
      sources.push_back({loop.getSlices()[k - loop.getNumCarried()], -1});
    else
      sources.append({{loop.getInits()[k]}, {loop.getYield().getCarried()[k]}});
  }

  llvm::DenseMap<Value, Ranks> known;
};
} // namespace

//===----------------------------------------------------------------------===//
// The rewriting
//===----------------------------------------------------------------------===//

static bool isUnranked(Value value) {
  return isa<UnrankedTensorType>(value.getType());
}

namespace {
class RankSwitching {
public:
  explicit RankSwitching(MLIRContext *context) : b(context) {}

  /// Replaces `node` where the rank of an operand is unknown, or that of a
  /// result follows from values.
  LogicalResult run(onnx::NodeOp node) {
    const LoweringRow *row = LoweringTable::get().find(
        node.getDomain(), node.getOpType(), node.getSinceVersion());
    if (!row || row->anyRank)
      return success();
    b.setInsertionPoint(node);
    fixRanks(node);
    const FlatRow *form = findFlatForm(node);
    bool fromOperands = llvm::any_of(node.getInputs(), isUnranked);
    bool fromValues =
        form && form->fromRanked && llvm::any_of(node.getResults(), isUnranked);
    if (form && (fromOperands || fromValues) &&
        !(form->switchesOverFew && countCombinations(node) <= kFewRanks) &&
        makeFlat(node, *form))
      return success();
    if (size_t count = countCombinations(node); count > kMaxRanks)
      return refuse(node, count);
    if (switchOnCoordinates(node) || switchOnLength(node))
      return success();
    for (OpOperand &operand : node->getOpOperands())
      if (auto type = dyn_cast<UnrankedTensorType>(operand.get().getType())) {
        switchOnRank(node, operand, type, ranksOf(node, operand));
        break;
      }
    return success();
  }

private:
  /// Casts operands to the one rank that they can have.
  void fixRanks(onnx::NodeOp node) {
    bool changed = false;
    for (OpOperand &operand : node->getOpOperands()) {
      auto type = dyn_cast<UnrankedTensorType>(operand.get().getType());
      if (!type)
        continue;
      unsigned k = operand.getOperandNumber();
      OperandForm taken = formOfOperand(node, k);
      if (taken != OperandForm::Tensor) {
        FlatTensor flat = FlatBuilder(b, node.getLoc()).flatten(operand.get());
        operand.set(taken == OperandForm::List ? flat.elements
                                               : onlyElement(node, k, flat));
        changed = true;
        continue;
      }
      std::optional<int64_t> rank = requiredRank(node, k);
      if (!rank) {
        Ranks ranks = analysis.of(operand.get());
        if (ranks.size() != 1)
          continue;
        rank = *ranks.begin();
      }
      operand.set(castTo(operand.get(), *rank, type));
      changed = true;
    }
    if (changed)
      refine(node);
  }

  /// Operand `k` of `node` as a tensor of rank 0.
  Value onlyElement(onnx::NodeOp node, unsigned k, FlatTensor flat) {
    FlatBuilder f(b, node.getLoc());
    Value count = f.count(flat);
    f.check(f.equal(count, f.index(1)),
            node.getOpType() + ": input " + Twine(k) +
                " has {} elements, not one",
            count);
    Type element = getElementTypeOrSelf(flat.elements.getType());
    flat.shape = f.shapeOf({});
    return f.unflatten(flat, RankedTensorType::get({}, element));
  }

  /// The ranks that an operand of unknown rank can have.
  Ranks ranksOf(onnx::NodeOp node, OpOperand &operand) {
    Ranks ranks = analysis.of(operand.get());
    std::erase_if(ranks, [&](int64_t k) {
      return k != kMore && !mayHaveRank(node, operand.getOperandNumber(), k);
    });
    return ranks;
  }

  /// How many combinations of ranks the operands of `node` can have.
  size_t countCombinations(onnx::NodeOp node) {
    size_t count = 1;
    for (OpOperand &operand : node->getOpOperands()) {
      unsigned k = operand.getOperandNumber(), leader = leaderOfRank(node, k);
      if (isUnranked(operand.get()) &&
          (leader == k || !isUnranked(node.getInputs()[leader])))
        count *= std::max<size_t>(ranksOf(node, operand).size(), 1);
    }
    return count;
  }

  /// Says that code for `count` combinations of ranks is too much.
  static LogicalResult refuse(onnx::NodeOp node, size_t count) {
    return emitError(node.getLoc(), Diag::UnsupportedNode)
           << node.getOpType() << ": its inputs of unknown rank have " << count
           << " combinations of ranks; declare some of them";
  }

  /// Replaces `node` by its form on views; false where it has none.
  bool makeFlat(onnx::NodeOp node, const FlatRow &form) {
    SmallVector<Ranks> ranks;
    for (Value result : node.getResults())
      ranks.push_back(isUnranked(result) ? analysis.of(result) : Ranks());
    FlatNode flat(node, b);
    if (!form.rewrite(flat))
      return false;
    for (auto [k, value] : llvm::enumerate(flat.results))
      if (value && isUnranked(value) &&
          !isa<onnx::NodeOp>(value.getDefiningOp()))
        analysis.set(value, ranks[k]);
    node.erase();
    return true;
  }

  Value castTo(Value value, int64_t rank, UnrankedTensorType type) {
    SmallVector<int64_t> shape(rank, ShapedType::kDynamic);
    return tensor::CastOp::create(
        b, value.getLoc(), RankedTensorType::get(shape, type.getElementType()),
        value);
  }

  /// Gives `node` the result types that its operands lead to, keeping what its
  /// users see; false where the operands do not fit the operator.
  bool refine(onnx::NodeOp node) {
    SmallVector<Type> types;
    {
      // What does not fit is an error of the run, if it comes to that.
      ScopedDiagnosticHandler silent(node.getContext(),
                                     [](Diagnostic &) { return success(); });
      if (failed(onnx::inferNodeTypes(node, types,
                                      [&] { return node.emitOpError(); })))
        return false;
    }
    for (auto [result, type] : llvm::zip(node.getResults(), types)) {
      Type before = result.getType();
      if (before == type || isa<NoneType>(before))
        continue;
      bool isTensor = tensor::CastOp::areCastCompatible(type, before);
      if (!isTensor && !onnx::CastOp::areCastCompatible(type, before))
        return false;
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointAfter(node);
      result.setType(type);
      Operation *cast =
          isTensor ? tensor::CastOp::create(b, node.getLoc(), before, result)
                         .getOperation()
                   : onnx::CastOp::create(b, node.getLoc(), before, result);
      result.replaceAllUsesExcept(cast->getResult(0), cast);
    }
    return true;
  }

  /// Replaces `node` by nodes for each rank of an operand of unknown rank.
  void switchOnRank(onnx::NodeOp node, OpOperand &operand,
                    UnrankedTensorType type, Ranks ranks) {
    Value rank = tensor::RankOp::create(b, node.getLoc(), operand.get());
    ranks.erase(kMore);
    // Where indices have coordinates, they and the data have axes for them.
    if (coordinatesOf(node))
      std::erase_if(ranks, [&](int64_t k) { return k <= batchDims(node); });
    switchOn(
        node, operand, rank, SmallVector<int64_t>(ranks.begin(), ranks.end()),
        " cannot take a value of rank {}",
        [&](int64_t number) { return castTo(operand.get(), number, type); });
  }

  /// The operand whose last extent tells how many axes of the data an index
  /// has coordinates for, or null.
  static OpOperand *coordinatesOf(onnx::NodeOp node) {
    if (node.getOpType() != "GatherND" && node.getOpType() != "ScatterND")
      return nullptr;
    return &node->getOpOperand(1);
  }

  /// Whether updates may have the rank that they have: inference does not ask.
  static bool updatesFit(onnx::NodeOp node) {
    if (node.getOpType() != "ScatterND")
      return true;
    std::optional<int64_t> wanted = rankOfUpdates(node);
    return !wanted || rankOfInput(node, 2).value_or(*wanted) == *wanted;
  }

  static int64_t batchDims(onnx::NodeOp node) {
    auto count = dyn_cast_or_null<IntegerAttr>(node.getNodeAttr("batch_dims"));
    return count ? count.getInt() : 0;
  }

  /// The same where it is not known how many coordinates indices have: the
  /// ranks of results and updates follow from it. False where it is known, or
  /// the ranks are not.
  bool switchOnCoordinates(onnx::NodeOp node) {
    OpOperand *indices = coordinatesOf(node);
    if (!indices)
      return false;
    auto type = dyn_cast<RankedTensorType>(indices->get().getType());
    std::optional<int64_t> dataRank = rankOfInput(node, 0);
    if (!type || type.getRank() == 0 || !dataRank ||
        *dataRank <= batchDims(node) || !type.isDynamicDim(type.getRank() - 1))
      return false;
    Value count = tensor::DimOp::create(b, node.getLoc(), indices->get(),
                                        type.getRank() - 1);
    // Updates of no coordinates go to all of the data.
    int64_t least = node.getOpType() == "ScatterND" ? 0 : 1;
    switchOn(node, *indices, count,
             llvm::to_vector(llvm::seq_inclusive<int64_t>(
                 least, *dataRank - batchDims(node))),
             " cannot take indices of {} coordinates", [&](int64_t number) {
               SmallVector<int64_t> shape(type.getShape());
               shape.back() = number;
               return tensor::CastOp::create(b, node.getLoc(),
                                             type.clone(shape), indices->get());
             });
    return true;
  }

  /// The list of `node` with an element for each axis of what the result
  /// becomes, or null.
  static OpOperand *extentsOf(onnx::NodeOp node) {
    return node.getOpType() == "Col2Im" ? &node->getOpOperand(1) : nullptr;
  }

  /// The axes that a Col2Im can have: those of its attributes and of its block,
  /// where they tell.
  static SmallVector<int64_t> numbersOfAxes(onnx::NodeOp node) {
    auto block = dyn_cast<RankedTensorType>(node.getInputs()[2].getType());
    if (block && block.getRank() == 1 && !block.isDynamicDim(0))
      return {block.getDimSize(0)};
    for (StringRef name : {"strides", "dilations"})
      if (auto values = dyn_cast_or_null<ArrayAttr>(node.getNodeAttr(name)))
        return {static_cast<int64_t>(values.size())};
    return llvm::to_vector(llvm::seq_inclusive<int64_t>(1, kMaxRank - 2));
  }

  /// The same where it is not known how many elements a list has, which tell
  /// the rank of the result.
  bool switchOnLength(onnx::NodeOp node) {
    OpOperand *extents = extentsOf(node);
    auto type = extents ? dyn_cast<RankedTensorType>(extents->get().getType())
                        : RankedTensorType();
    if (!type || type.getRank() != 1 || !type.isDynamicDim(0))
      return false;
    Value count =
        tensor::DimOp::create(b, node.getLoc(), extents->get(), int64_t(0));
    switchOn(node, *extents, count, numbersOfAxes(node),
             " cannot take an image of {} axes", [&](int64_t number) {
               return tensor::CastOp::create(
                   b, node.getLoc(), type.clone(ArrayRef<int64_t>(number)),
                   extents->get());
             });
    return true;
  }

  /// Replaces `node` by a node for each of some values of `number`, whose
  /// `operand` is then what `known` makes of it. Other values, and those that
  /// the operator does not take, end the run.
  void switchOn(onnx::NodeOp node, OpOperand &operand, Value number,
                ArrayRef<int64_t> cases, StringRef refused,
                llvm::function_ref<Value(int64_t)> known) {
    Location loc = node.getLoc();
    SmallVector<Type> types;
    for (Value result : node.getResults())
      if (!isa<NoneType>(result.getType()))
        types.push_back(result.getType());
    auto made =
        scf::IndexSwitchOp::create(b, loc, types, number, cases, cases.size());
    SmallVector<onnx::NodeOp> inner;
    for (auto [value, region] : llvm::zip(cases, made.getCaseRegions())) {
      b.createBlock(&region);
      Value cast = known(value);
      auto clone = mlir::cast<onnx::NodeOp>(b.clone(*node));
      clone->setOperand(operand.getOperandNumber(), cast);
      SmallVector<Value> results;
      for (Value result : clone.getResults())
        if (!isa<NoneType>(result.getType()))
          results.push_back(result);
      scf::YieldOp::create(b, loc, results);
      if (refine(clone) && updatesFit(clone)) {
        inner.push_back(clone);
        continue;
      }
      region.front().clear();
      b.setInsertionPointToEnd(&region.front());
      fail(node, refused, number, types);
    }
    b.createBlock(&made.getDefaultRegion());
    fail(node, refused, number, types);
    unsigned next = 0;
    for (Value result : node.getResults())
      if (!isa<NoneType>(result.getType()))
        result.replaceAllUsesWith(made.getResult(next++));
    if (llvm::all_of(node.getResults(), [](Value v) { return v.use_empty(); }))
      node.erase();
    // They have fewer combinations than `node`, which was not refused.
    for (onnx::NodeOp clone : inner)
      (void)run(clone);
  }

  /// Ends the run, and yields something of the right types.
  void fail(onnx::NodeOp node, StringRef refused, Value number,
            TypeRange types) {
    Location loc = node.getLoc();
    // Sequences are lists from the next pass on.
    SmallVector<Type> made = llvm::map_to_vector(types, [](Type type) {
      return isa<TensorType>(type) ? type : toSignless(type);
    });
    SmallVector<Value> values = createRunTimeFailure(
        b, loc, locationPath(loc) + ": " + node.getOpType() + refused, number,
        made);
    for (auto [value, type] : llvm::zip_equal(values, types))
      if (value.getType() != type)
        value = UnrealizedConversionCastOp::create(b, loc, type, value)
                    .getResult(0);
    scf::YieldOp::create(b, loc, values);
  }

  OpBuilder b;
  RankAnalysis analysis;
};

struct ONNXSwitchOnRank : loopc::impl::ONNXSwitchOnRankBase<ONNXSwitchOnRank> {
  void runOnOperation() override {
    // Inner bodies and producers first: a walk in order.
    SmallVector<onnx::NodeOp> nodes;
    getOperation().walk<WalkOrder::PreOrder>(
        [&](onnx::NodeOp node) { nodes.push_back(node); });
    RankSwitching switching(&getContext());
    for (onnx::NodeOp node : nodes)
      if (failed(switching.run(node)))
        return signalPassFailure();
  }
};
} // namespace
