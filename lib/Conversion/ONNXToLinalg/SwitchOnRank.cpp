//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// onnx-switch-on-rank: a node on a value of unknown rank becomes the smallest
// switch over the ranks that the value can have, each case a node of its own.

#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"
#include "loopc/Conversion/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <set>

namespace loopc {
#define GEN_PASS_DEF_ONNXSWITCHONRANK
#include "loopc/Conversion/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Ranks from 0 to this one are compiled where nothing tells which there are.
static constexpr int64_t kMaxRank = 5;

namespace {
using Ranks = std::set<int64_t>;

/// The ranks that values can have.
class RankAnalysis {
public:
  Ranks of(Value value) {
    Ranks ranks;
    llvm::SmallPtrSet<Value, 8> seen;
    collect(value, 0, ranks, seen);
    return ranks;
  }

private:
  /// Adds the ranks of `value`, each changed by `offset`.
  void collect(Value value, int64_t offset, Ranks &ranks,
               llvm::SmallPtrSet<Value, 8> &seen) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType())) {
      ranks.insert(type.getRank() + offset);
      return;
    }
    if (!seen.insert(value).second)
      return;
    SmallVector<Value> sources;
    if (auto result = dyn_cast<OpResult>(value))
      sourcesOf(result, sources, offset);
    else
      sourcesOf(cast<BlockArgument>(value), sources, offset);
    for (Value source : sources)
      collect(source, offset, ranks, seen);
    if (sources.empty())
      for (int64_t rank = 0; rank <= kMaxRank; ++rank)
        ranks.insert(rank);
  }

  void sourcesOf(OpResult result, SmallVector<Value> &sources,
                 int64_t &offset) {
    Operation *op = result.getOwner();
    unsigned k = result.getResultNumber();
    if (auto cast = dyn_cast<tensor::CastOp>(op)) {
      sources.push_back(cast.getSource());
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      sources.append({select.getTrueValue(), select.getFalseValue()});
    } else if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
      for (Region &region : op->getRegions())
        sources.push_back(region.front().getTerminator()->getOperand(k));
    } else if (auto loop = dyn_cast<loop::LoopOp>(op)) {
      if (k < loop.getNumCarried()) {
        sources.append({loop.getInits()[k], loop.getYield().getCarried()[k]});
      } else {
        sources.push_back(
            loop.getYield().getCollected()[k - loop.getNumCarried()]);
        ++offset;
      }
    } else if (auto node = dyn_cast<onnx::NodeOp>(op);
               node && node.getOpType() == "Identity") {
      sources.push_back(node.getInputs().front());
    }
  }

  void sourcesOf(BlockArgument arg, SmallVector<Value> &sources, int64_t &) {
    auto loop = dyn_cast<loop::LoopOp>(arg.getOwner()->getParentOp());
    if (!loop || arg.getArgNumber() < 2 ||
        arg.getArgNumber() >= 2 + loop.getNumCarried())
      return;
    unsigned k = arg.getArgNumber() - 2;
    sources.append({loop.getInits()[k], loop.getYield().getCarried()[k]});
  }
};

class RankSwitching {
public:
  explicit RankSwitching(MLIRContext *context) : b(context) {}

  /// Replaces `node` where an operand's rank is unknown.
  void run(onnx::NodeOp node) {
    for (OpOperand &operand : node->getOpOperands()) {
      auto type = dyn_cast<UnrankedTensorType>(operand.get().getType());
      if (!type)
        continue;
      Ranks ranks = analysis.of(operand.get());
      b.setInsertionPoint(node);
      if (ranks.size() == 1) {
        operand.set(castTo(operand.get(), *ranks.begin(), type));
        refine(node);
        continue;
      }
      switchOn(node, operand, type, ranks);
      return;
    }
  }

private:
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
      if (!tensor::CastOp::areCastCompatible(type, before))
        return false;
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointAfter(node);
      result.setType(type);
      auto cast = tensor::CastOp::create(b, node.getLoc(), before, result);
      result.replaceAllUsesExcept(cast, cast);
    }
    return true;
  }

  void switchOn(onnx::NodeOp node, OpOperand &operand, UnrankedTensorType type,
                const Ranks &ranks) {
    Location loc = node.getLoc();
    Value rank = tensor::RankOp::create(b, loc, operand.get());
    SmallVector<int64_t> cases(ranks.begin(), ranks.end());
    SmallVector<Type> types;
    for (Value result : node.getResults())
      if (!isa<NoneType>(result.getType()))
        types.push_back(result.getType());
    auto made =
        scf::IndexSwitchOp::create(b, loc, types, rank, cases, cases.size());
    SmallVector<onnx::NodeOp> inner;
    for (auto [number, region] : llvm::zip(cases, made.getCaseRegions())) {
      b.createBlock(&region);
      Value known = castTo(operand.get(), number, type);
      auto clone = cast<onnx::NodeOp>(b.clone(*node));
      clone->setOperand(operand.getOperandNumber(), known);
      SmallVector<Value> results;
      for (Value result : clone.getResults())
        if (!isa<NoneType>(result.getType()))
          results.push_back(result);
      scf::YieldOp::create(b, loc, results);
      if (refine(clone)) {
        inner.push_back(clone);
        continue;
      }
      region.front().clear();
      b.setInsertionPointToEnd(&region.front());
      fail(loc, node, rank, types);
    }
    b.createBlock(&made.getDefaultRegion());
    fail(loc, node, rank, types);
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
  void fail(Location loc, onnx::NodeOp node, Value rank, TypeRange types) {
    Value never = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
    loop::CheckOp::create(b, loc, never,
                          b.getStringAttr(locationPath(loc) + ": " +
                                          node.getOpType() +
                                          " cannot take a value of rank {}"),
                          ValueRange{rank}, Value());
    SmallVector<Value> dummies;
    for (Type type : types) {
      auto tensor = cast<TensorType>(type);
      SmallVector<int64_t> shape{0};
      if (auto ranked = dyn_cast<RankedTensorType>(type)) {
        shape.assign(ranked.getShape().begin(), ranked.getShape().end());
        llvm::replace(shape, ShapedType::kDynamic, int64_t(0));
      }
      Value empty =
          tensor::EmptyOp::create(b, loc, shape, tensor.getElementType());
      if (empty.getType() != type)
        empty = tensor::CastOp::create(b, loc, type, empty);
      dummies.push_back(empty);
    }
    scf::YieldOp::create(b, loc, dummies);
  }

  OpBuilder b;
  RankAnalysis analysis;
};

struct ONNXSwitchOnRank : loopc::impl::ONNXSwitchOnRankBase<ONNXSwitchOnRank> {
  void runOnOperation() override {
    // Inner bodies and producers first: a walk in order.
    SmallVector<onnx::NodeOp> nodes;
    getOperation().walk<WalkOrder::PreOrder>([&](onnx::NodeOp node) {
      const LoweringRow *row = LoweringTable::get().find(
          node.getDomain(), node.getOpType(), node.getSinceVersion());
      if (row && !row->anyRank)
        nodes.push_back(node);
    });
    RankSwitching switching(&getContext());
    for (onnx::NodeOp node : nodes)
      switching.run(node);
  }
};
} // namespace
