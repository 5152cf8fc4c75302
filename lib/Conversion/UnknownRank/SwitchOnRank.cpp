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
      if (rank == kMore || rank + offset > kMaxRank)
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
    if (auto result = dyn_cast<OpResult>(value))
      sourcesOf(result, sources, ranks);
    else
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

  void sourcesOf(OpResult result, SmallVector<Source> &sources, Ranks &ranks) {
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
        ranks.insert(1); // after zero trips (loop_zero)
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

/// The length of input `i` of `node`, a list, where its type tells.
static std::optional<int64_t> lengthOfInput(onnx::NodeOp node, unsigned i) {
  Value value = node.getInputOrNull(i);
  auto type =
      value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  if (!type || type.getRank() != 1 || type.isDynamicDim(0))
    return std::nullopt;
  return type.getDimSize(0);
}

/// The rank that another operand of `node` has, where it is known.
static std::optional<int64_t> rankOfInput(onnx::NodeOp node, unsigned i) {
  Value value = node.getInputOrNull(i);
  auto type =
      value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  if (!type)
    return std::nullopt;
  return type.getRank();
}

/// The number of subscripts of term `i` of an equation of Einsum.
static std::optional<int64_t> rankOfTerm(onnx::NodeOp node, unsigned i) {
  auto equation = dyn_cast_or_null<StringAttr>(node.getNodeAttr("equation"));
  if (!equation || equation.getValue().contains('.'))
    return std::nullopt;
  SmallVector<StringRef> terms;
  equation.getValue().split("->").first.split(terms, ',');
  if (i >= terms.size())
    return std::nullopt;
  return llvm::count_if(terms[i], [](char c) { return c != ' '; });
}

/// The rank of the updates of a ScatterND, where the other operands tell it.
static std::optional<int64_t> rankOfUpdates(onnx::NodeOp node) {
  std::optional<int64_t> data = rankOfInput(node, 0),
                         rank = rankOfInput(node, 1);
  if (!data || !rank || *rank == 0)
    return std::nullopt;
  auto indices = cast<RankedTensorType>(node.getInputOrNull(1).getType());
  if (indices.isDynamicDim(*rank - 1))
    return std::nullopt;
  return *data - indices.getDimSize(*rank - 1) + *rank - 1;
}

/// The only rank that `node` takes for its operand `i`, where one is known.
static std::optional<int64_t> requiredRank(onnx::NodeOp node, unsigned i) {
  StringRef op = node.getOpType();
  auto listAttr = [&](StringRef name) -> std::optional<int64_t> {
    auto list = dyn_cast_or_null<DenseI64ArrayAttr>(node.getNodeAttr(name));
    return list ? std::optional<int64_t>(list.size()) : std::nullopt;
  };
  auto plus = [](std::optional<int64_t> rank, int64_t more) {
    return rank ? std::optional<int64_t>(*rank + more) : std::nullopt;
  };
  if (op == "Transpose")
    return listAttr("perm");
  if (op == "Einsum")
    return rankOfTerm(node, i);
  if (op == "Gemm" && i < 2)
    return 2;
  if (op == "DepthToSpace" || op == "SpaceToDepth")
    return 4;
  if (op == "EyeLike")
    return 2;
  if (op == "LSTM" || op == "GRU" || op == "RNN")
    return i == 4 ? 1 : i == 3 || i == 7 ? 2 : 3;
  if ((op == "AveragePool" || op == "MaxPool" || op == "LpPool") && i == 0)
    return plus(listAttr("kernel_shape"), 2);
  if (op.starts_with("Conv") && i < 2) {
    std::optional<int64_t> other = rankOfInput(node, 1 - i);
    return other ? other : plus(listAttr("kernel_shape"), 2);
  }
  if (op == "Pad" && i == 0 && node.getInputs().size() < 4)
    if (std::optional<int64_t> length = lengthOfInput(node, 1))
      return *length / 2;
  if (op == "ScatterND" && i == 2)
    return rankOfUpdates(node);
  if (op == "GatherElements" || op == "ScatterElements" || op == "Scatter")
    for (unsigned k = 0; k < node.getInputs().size(); ++k)
      if (std::optional<int64_t> rank = rankOfInput(node, k))
        return rank;
  return std::nullopt;
}

/// Whether `node` takes its operand `i` as a list or as one element: the rank
/// says nothing then.
static bool isListOperand(onnx::NodeOp node, unsigned i) {
  static constexpr StringLiteral lists[] = {
      "CenterCropPad", "Clip",          "Col2Im",     "CumProd", "CumSum",
      "Dropout",       "Expand",        "OneHot",     "Pad",     "Reshape",
      "Resize",        "SequenceErase", "SequenceAt", "Slice",   "Split",
      "Squeeze",       "Tile",          "TopK",       "Trilu",   "Unsqueeze",
      "Upsample"};
  StringRef op = node.getOpType();
  if (op == "Range" || op == "ConstantOfShape")
    return true;
  if (op == "SequenceInsert")
    return i == 2;
  return i >= 1 && (op.starts_with("Reduce") || llvm::is_contained(lists, op));
}

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
  void run(onnx::NodeOp node) {
    const LoweringRow *row = LoweringTable::get().find(
        node.getDomain(), node.getOpType(), node.getSinceVersion());
    if (!row || row->anyRank)
      return;
    b.setInsertionPoint(node);
    fixRanks(node);
    const FlatRow *form = findFlatForm(node);
    bool fromOperands = llvm::any_of(node.getInputs(), isUnranked);
    bool fromValues =
        form && form->fromRanked && llvm::any_of(node.getResults(), isUnranked);
    if (form && (fromOperands || fromValues) &&
        !(form->switchesOverFew && hasFewRanks(node)) && makeFlat(node, *form))
      return;
    if (switchOnCoordinates(node))
      return;
    for (OpOperand &operand : node->getOpOperands())
      if (auto type = dyn_cast<UnrankedTensorType>(operand.get().getType()))
        return switchOnRank(node, operand, type, analysis.of(operand.get()));
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
      if (isListOperand(node, k)) {
        operand.set(
            FlatBuilder(b, node.getLoc()).flatten(operand.get()).elements);
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

  /// Whether the operands of `node` can have few combinations of ranks.
  bool hasFewRanks(onnx::NodeOp node) {
    size_t combinations = 1;
    for (Value input : node.getInputs())
      if (isUnranked(input))
        combinations *= analysis.of(input).size();
    return combinations <= kFewRanks;
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
    switchOn(node, *indices, count,
             llvm::to_vector(
                 llvm::seq_inclusive<int64_t>(1, *dataRank - batchDims(node))),
             " cannot take indices of {} coordinates", [&](int64_t number) {
               SmallVector<int64_t> shape(type.getShape());
               shape.back() = number;
               return tensor::CastOp::create(b, node.getLoc(),
                                             type.clone(shape), indices->get());
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
    for (onnx::NodeOp clone : inner)
      run(clone);
  }

  /// Ends the run, and yields something of the right types.
  void fail(onnx::NodeOp node, StringRef refused, Value number,
            TypeRange types) {
    Location loc = node.getLoc();
    scf::YieldOp::create(b, loc,
                         createRunTimeFailure(b, loc,
                                              locationPath(loc) + ": " +
                                                  node.getOpType() + refused,
                                              number, types));
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
      switching.run(node);
  }
};
} // namespace
