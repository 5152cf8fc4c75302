//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// convert-onnx-to-linalg: walks a function in order, lowers each onnx.node by
// the table's row, then makes the integer types of everything signless.

#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"
#include "loopc/Conversion/Passes.h"
#include "loopc/Support/Diagnostics.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace loopc {
#define GEN_PASS_DEF_CONVERTONNXTOLINALG
#include "loopc/Conversion/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// A dense attribute with a signless element type and the same bytes.
static ElementsAttr signlessElements(ElementsAttr elements) {
  auto type = cast<ShapedType>(toSignless(elements.getShapedType()));
  if (type == elements.getShapedType())
    return elements;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  return cast<DenseElementsAttr>(elements).bitcast(type.getElementType());
}

/// Gives `value` the type `type` as its users know it: static shape
/// information is cast away or in, signs by an unrealized cast.
static Value castToType(OpBuilder &b, Location loc, Value value, Type type) {
  Type signless = toSignless(type);
  if (value.getType() != signless)
    value = tensor::CastOp::create(b, loc, signless, value);
  if (signless != type)
    value =
        UnrealizedConversionCastOp::create(b, loc, type, value).getResult(0);
  return value;
}

namespace {
struct ConvertONNXToLinalg
    : loopc::impl::ConvertONNXToLinalgBase<ConvertONNXToLinalg> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    bool failed = false;
    // In order, so that what a lowering asks of its operands (constants,
    // dimensions) has been lowered; all refusals are reported.
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto node = dyn_cast<onnx::NodeOp>(op))
        failed |= mlir::failed(lower(node));
      else if (auto constant = dyn_cast<onnx::ConstantOp>(op))
        lower(constant);
    });
    if (failed)
      return signalPassFailure();
    function.walk([](onnx::NoneOp none) {
      if (none->use_empty())
        none->erase();
    });
    makeSignless(function);
    function.walk(branchAgain);
  }

  /// %r = arith.select %c, %x, %y : tensor<?xf32>
  ///   ->  %r = scf.if %c { yield %x } else { yield %y }
  ///
  /// A branch whose tensors are there already is folded to a select. They may
  /// differ in shape, and what lowers elementwise operations on tensors takes
  /// the shapes of its operands for equal.
  static void branchAgain(arith::SelectOp select) {
    auto type = dyn_cast<TensorType>(select.getType());
    if (!type || (type.hasRank() && type.hasStaticShape()) ||
        !select.getCondition().getType().isInteger(1))
      return;
    OpBuilder builder(select);
    auto branch = scf::IfOp::create(builder, select.getLoc(), TypeRange{type},
                                    select.getCondition(),
                                    /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, select.getLoc(), select.getTrueValue());
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, select.getLoc(), select.getFalseValue());
    select.replaceAllUsesWith(branch.getResult(0));
    select.erase();
  }

  LogicalResult lower(onnx::NodeOp node) {
    const LoweringRow *row = LoweringTable::get().find(
        node.getDomain(), node.getOpType(), node.getSinceVersion());
    if (!row)
      return loopc::emitError(node.getLoc(), Diag::NoLowering)
             << "operator " << node.getOpType() << " of version "
             << node.getSinceVersion() << " has no lowering";
    OpBuilder builder(node);
    NodeLowering lowering(node, builder);
    if (!row->anyRank)
      for (Value input : node.getInputs())
        if (isa<UnrankedTensorType>(input.getType()))
          return lowering.refuse("an input whose rank is not known at compile "
                                 "time is not supported");
    // Buffers of strings do not exist yet.
    auto isString = [](Type type) {
      return isa<onnx::StringType>(getElementTypeOrSelf(type));
    };
    if (llvm::any_of(node->getOperandTypes(), isString) ||
        llvm::any_of(node->getResultTypes(), isString))
      return lowering.refuse("tensors of strings are not supported");
    if (failed(row->lower(lowering)) || failed(lowering.checkAttributesSeen()))
      return failure();
    for (auto [k, result] : llvm::enumerate(node.getResults())) {
      if (!node.hasOutput(k))
        continue;
      Value value = lowering.getLoweredResult(k);
      if (!value)
        return lowering.refuse("result " + Twine(k) + " is not supported");
      result.replaceAllUsesWith(
          castToType(lowering.b, node.getLoc(), value, result.getType()));
    }
    node.erase();
    return success();
  }

  void lower(onnx::ConstantOp constant) {
    OpBuilder builder(constant);
    Value value = arith::ConstantOp::create(
        builder, constant.getLoc(),
        cast<TypedAttr>(signlessElements(constant.getValue())));
    constant.replaceAllUsesWith(
        castToType(builder, constant.getLoc(), value, constant.getType()));
    constant.erase();
  }

  /// Retypes every value and drops the casts between signs.
  void makeSignless(func::FuncOp function) {
    auto retype = [](Value value) {
      value.setType(toSignless(value.getType()));
    };
    SmallVector<Operation *> casts;
    function.walk([&](Operation *op) {
      llvm::for_each(op->getResults(), retype);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), retype);
      if (isa<UnrealizedConversionCastOp>(op))
        casts.push_back(op);
    });
    for (Operation *op : casts)
      if (op->getOperand(0).getType() == op->getResult(0).getType()) {
        op->getResult(0).replaceAllUsesWith(op->getOperand(0));
        op->erase();
      }
    // What the ports were, for the border.
    Builder b(&getContext());
    FunctionType type = function.getFunctionType();
    for (auto [k, input] : llvm::enumerate(type.getInputs()))
      function.setArgAttr(k, "loopc.type", TypeAttr::get(input));
    for (auto [k, result] : llvm::enumerate(type.getResults()))
      function.setResultAttr(k, "loopc.type", TypeAttr::get(result));
    SmallVector<Type> inputs(llvm::map_range(type.getInputs(), toSignless));
    SmallVector<Type> results(llvm::map_range(type.getResults(), toSignless));
    function.setFunctionType(b.getFunctionType(inputs, results));
  }
};
} // namespace
