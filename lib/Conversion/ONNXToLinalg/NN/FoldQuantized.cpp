//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Products of dequantized integers become products of the integers, which are
// exact, times the product of the scales:
//
//     sum of (x - a) s (w - b) t = (sum of (x - a) (w - b)) (s t)
//
// The left side is rounded at every step, the right side twice (docs/Numerics).
//
// What only moves elements, or takes the largest, and is quantized behind it as
// its operand was before, does so with the integers.

#include "Framework/DenseConstant.h"
#include "Framework/NodeSteps.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace loopc;

/// Sums of so many products of differences of 8 bits fit into 32.
static constexpr int64_t kMaxTerms = 1 << 15;
/// With fewer columns, or channels of the image in a group, nothing is won.
static constexpr int64_t kFewest = 4;

namespace {
/// What a DequantizeLinear, and a Transpose behind it, make a tensor of f32 of.
struct Dequantized {
  Value integers, zeroPoint;
  /// The type of the integers with the axes of the tensor of f32.
  RankedTensorType type;
  /// Where each axis is in `integers`; empty: in the same order.
  SmallVector<int64_t> permutation;
  /// One for all, or one for each position of `axis`.
  SmallVector<float> scales;
  std::optional<int64_t> axis;
};

class QuantizedProducts {
public:
  explicit QuantizedProducts(onnx::NodeOp node)
      : node(node), b(node.getLoc(), node) {}
  /// Replaces `node` if it is such a product.
  void fold();

private:
  void foldMatMul();
  void foldGemm();
  void foldConv();
  /// `product`, integers, times the scales (those of `w` along the axis
  /// `columns` of the result) plus `addend`.
  Value scale(Value product, const Dequantized &x, const Dequantized &w,
              int64_t columns, Value addend);
  /// Replaces the node by it.
  void replace(Value product, const Dequantized &x, const Dequantized &w,
               int64_t columns, Value addend);
  /// What MatMul yields of integers, in f32.
  Value multiply(const Dequantized &x, const Dequantized &w);
  /// Replaces the node by two versions: that of integers where a run has so few
  /// terms, `axis` of `w`, that their sums fit, and the node itself.
  void versionMatMul(const Dequantized &x, const Dequantized &w, int64_t axis);
  Value make(StringRef op, int64_t since, Type type, ValueRange operands,
             ArrayRef<NamedAttribute> attributes = {});
  Value transpose(Value value, RankedTensorType type,
                  ArrayRef<int64_t> permutation);
  /// The integers with the axes of the tensor of f32.
  Value integersOf(const Dequantized &x);
  Value none() { return onnx::NoneOp::create(b, b.getNoneType()); }
  ValueRange inputs() { return node.getInputs(); }
  RankedTensorType typeOf(Value value) {
    return dyn_cast<RankedTensorType>(value.getType());
  }
  /// The result's type with other elements.
  Type resultOf(Type element) {
    return RankedTensorType::get(
        cast<RankedTensorType>(node.getResult(0).getType()).getShape(),
        element);
  }
  /// True if both are there, and their scales have a product that is a normal
  /// number.
  bool fits(const std::optional<Dequantized> &x,
            const std::optional<Dequantized> &w);

  onnx::NodeOp node;
  ImplicitLocOpBuilder b;
};
} // namespace

/// What the DequantizeLinear that yields `value` reads; its axes are `value`'s.
static std::optional<Dequantized> readDequantized(Value value) {
  auto node = value.getDefiningOp<onnx::NodeOp>();
  if (!node || node.getOpType() != "DequantizeLinear" ||
      !node.getDomain().empty() || node.getInputs().size() < 2 ||
      !getElementTypeOrSelf(value).isF32())
    return std::nullopt;
  Value integers = node.getInputs()[0];
  auto type = dyn_cast<RankedTensorType>(integers.getType());
  Dequantized result{integers, node.getInputOrNull(2), type, {}, {}, {}};
  auto scales =
      dyn_cast_or_null<DenseFPElementsAttr>(denseConstant(node.getInputs()[1]));
  if (auto size = dyn_cast_or_null<IntegerAttr>(node.getNodeAttr("block_size"));
      (size && size.getInt() != 0) || !type || type.getRank() < 2 ||
      type.getElementTypeBitWidth() != 8 ||
      !isa<IntegerType>(type.getElementType()) || !scales ||
      !scales.getElementType().isF32() || scales.getNumElements() == 0)
    return std::nullopt;
  result.scales = llvm::to_vector(scales.getValues<float>());
  if (result.scales.size() > 1) {
    auto axis = dyn_cast_or_null<IntegerAttr>(node.getNodeAttr("axis"));
    result.axis = axis ? axis.getInt() : 1;
    if (*result.axis < 0)
      *result.axis += type.getRank();
  }
  if (!result.zeroPoint)
    return result;
  // A zero point is one number where the scale is, so that it can be handed on.
  auto zero = dyn_cast<RankedTensorType>(result.zeroPoint.getType());
  if (!zero || !zero.hasStaticShape() ||
      zero.getNumElements() != scales.getNumElements())
    return std::nullopt;
  return result;
}

static std::optional<Dequantized> dequantized(Value value) {
  auto node = value.getDefiningOp<onnx::NodeOp>();
  if (!node || node.getOpType() != "Transpose" || !node.getDomain().empty())
    return readDequantized(value);
  // Exporters of linear layers transpose the weights behind it.
  std::optional<Dequantized> result = readDequantized(node.getInputs()[0]);
  if (!result)
    return std::nullopt;
  int64_t rank = result->type.getRank();
  if (auto perm = dyn_cast_or_null<DenseI64ArrayAttr>(node.getNodeAttr("perm")))
    result->permutation.assign(perm.asArrayRef().begin(),
                               perm.asArrayRef().end());
  else
    result->permutation = llvm::to_vector(llvm::reverse(llvm::seq(rank)));
  if (static_cast<int64_t>(result->permutation.size()) != rank ||
      !isPermutationVector(result->permutation))
    return std::nullopt;
  result->type = RankedTensorType::get(
      applyPermutation(result->type.getShape(), result->permutation),
      result->type.getElementType());
  if (result->axis)
    result->axis = llvm::find(result->permutation, *result->axis) -
                   result->permutation.begin();
  return result;
}

bool QuantizedProducts::fits(const std::optional<Dequantized> &x,
                             const std::optional<Dequantized> &w) {
  return x && w && !x->axis && llvm::all_of(w->scales, [&](float scale) {
           return std::isnormal(x->scales[0] * scale) && std::isnormal(scale) &&
                  std::isnormal(x->scales[0]);
         });
}

Value QuantizedProducts::make(StringRef op, int64_t since, Type type,
                              ValueRange operands,
                              ArrayRef<NamedAttribute> attributes) {
  return onnx::NodeOp::create(b, TypeRange{type}, b.getStringAttr(op),
                              b.getStringAttr(""), b.getI64IntegerAttr(since),
                              operands, b.getDictionaryAttr(attributes))
      .getResult(0);
}

Value QuantizedProducts::transpose(Value value, RankedTensorType type,
                                   ArrayRef<int64_t> permutation) {
  return make("Transpose", 13, type, value,
              b.getNamedAttr("perm", b.getDenseI64ArrayAttr(permutation)));
}

Value QuantizedProducts::integersOf(const Dequantized &x) {
  return x.permutation.empty() ? x.integers
                               : transpose(x.integers, x.type, x.permutation);
}

Value QuantizedProducts::scale(Value product, const Dequantized &x,
                               const Dequantized &w, int64_t columns,
                               Value addend) {
  Type f32 = b.getF32Type();
  SmallVector<int64_t> shape;
  if (w.axis) {
    shape.assign(cast<RankedTensorType>(product.getType()).getRank() - columns,
                 1);
    shape[0] = w.scales.size();
  }
  SmallVector<float> scales;
  for (float scale : w.scales)
    scales.push_back(x.scales[0] * scale);
  Value factor = onnx::ConstantOp::create(
      b, DenseElementsAttr::get(RankedTensorType::get(shape, f32),
                                ArrayRef<float>(scales)));
  Value real = make("Cast", 13, resultOf(f32), product,
                    b.getNamedAttr("to", b.getI64IntegerAttr(1)));
  Value result = make("Mul", 14, resultOf(f32), {real, factor});
  if (addend)
    result = make("Add", 14, resultOf(f32), {result, addend});
  return result;
}

void QuantizedProducts::replace(Value product, const Dequantized &x,
                                const Dequantized &w, int64_t columns,
                                Value addend) {
  node.getResult(0).replaceAllUsesWith(scale(product, x, w, columns, addend));
  node.erase();
}

Value QuantizedProducts::multiply(const Dequantized &x, const Dequantized &w) {
  Value product =
      make("MatMulInteger", 10, resultOf(b.getI32Type()),
           {integersOf(x), integersOf(w), x.zeroPoint ? x.zeroPoint : none(),
            w.zeroPoint ? w.zeroPoint : none()});
  return scale(product, x, w,
               cast<RankedTensorType>(product.getType()).getRank() - 1,
               Value());
}

void QuantizedProducts::versionMatMul(const Dequantized &x,
                                      const Dequantized &w, int64_t axis) {
  int64_t stored = w.permutation.empty() ? axis : w.permutation[axis];
  Value terms = tensor::DimOp::create(b, w.integers, stored);
  Value most = arith::ConstantIndexOp::create(b, kMaxTerms);
  Value isFew =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ule, terms, most);
  auto versions =
      scf::IfOp::create(b, TypeRange{node.getResult(0).getType()}, isFew,
                        /*withElseRegion=*/true);
  node.getResult(0).replaceAllUsesWith(versions.getResult(0));
  b.setInsertionPointToStart(versions.thenBlock());
  scf::YieldOp::create(b, multiply(x, w));
  b.setInsertionPointToStart(versions.elseBlock());
  auto yield = scf::YieldOp::create(b, node.getResult(0));
  node->moveBefore(yield);
}

void QuantizedProducts::foldMatMul() {
  auto x = dequantized(inputs()[0]), w = dequantized(inputs()[1]);
  if (!fits(x, w))
    return;
  RankedTensorType type = w->type;
  int64_t rank = type.getRank(), terms = type.getDimSize(rank - 2);
  int64_t columns = type.getDimSize(rank - 1);
  // The matrix on the left may tell it, too.
  if (ShapedType::isDynamic(terms))
    terms = x->type.getShape().back();
  if ((!ShapedType::isDynamic(terms) && terms > kMaxTerms) ||
      (!ShapedType::isDynamic(columns) && columns < kFewest) ||
      (w->axis && (rank != 2 || *w->axis != 1)))
    return;
  if (ShapedType::isDynamic(terms)) {
    versionMatMul(*x, *w, rank - 2);
    return;
  }
  node.getResult(0).replaceAllUsesWith(multiply(*x, *w));
  node.erase();
}

void QuantizedProducts::foldGemm() {
  auto x = dequantized(inputs()[0]), w = dequantized(inputs()[1]);
  auto isOne = [&](StringRef name) {
    auto factor = dyn_cast_or_null<FloatAttr>(node.getNodeAttr(name));
    return !factor || factor.getValueAsDouble() == 1;
  };
  auto isSet = [&](StringRef name) {
    auto flag = dyn_cast_or_null<IntegerAttr>(node.getNodeAttr(name));
    return flag && flag.getInt() != 0;
  };
  if (!fits(x, w) || !isOne("alpha") || !isOne("beta") || isSet("transA") ||
      node.getSinceVersion() < 7)
    return;
  bool isTransposed = isSet("transB");
  RankedTensorType type = w->type;
  int64_t terms = type.getDimSize(isTransposed ? 1 : 0);
  int64_t columns = type.getDimSize(isTransposed ? 0 : 1);
  if (type.getRank() != 2 || x->type.getRank() != 2 ||
      ShapedType::isDynamic(terms) || terms > kMaxTerms ||
      (!ShapedType::isDynamic(columns) && columns < kFewest) ||
      (w->axis && *w->axis != (isTransposed ? 0 : 1)))
    return;
  Value weights = integersOf(*w);
  if (isTransposed)
    weights = transpose(
        weights, RankedTensorType::get({terms, columns}, type.getElementType()),
        {1, 0});
  Value product =
      make("MatMulInteger", 10, resultOf(b.getI32Type()),
           {integersOf(*x), weights, x->zeroPoint ? x->zeroPoint : none(),
            w->zeroPoint ? w->zeroPoint : none()});
  replace(product, *x, *w, 1, node.getInputOrNull(2));
}

void QuantizedProducts::foldConv() {
  auto x = dequantized(inputs()[0]), w = dequantized(inputs()[1]);
  if (!fits(x, w))
    return;
  RankedTensorType type = w->type;
  int64_t terms = 1, rank = type.getRank();
  for (int64_t extent : type.getShape().drop_front()) {
    if (ShapedType::isDynamic(extent))
      return;
    terms *= extent;
  }
  auto group = dyn_cast_or_null<IntegerAttr>(node.getNodeAttr("group"));
  bool isGrouped = group && group.getInt() != 1;
  if (rank < 3 || terms > kMaxTerms || terms == 0 ||
      (w->axis && *w->axis != 0) || (isGrouped && type.getDimSize(1) < kFewest))
    return;
  Value product = make("ConvInteger", 10, resultOf(b.getI32Type()),
                       {integersOf(*x), integersOf(*w),
                        x->zeroPoint ? x->zeroPoint : none(),
                        w->zeroPoint ? w->zeroPoint : none()},
                       llvm::to_vector(node.getNodeAttributes().getValue()));
  Value addend = node.getInputOrNull(2);
  if (addend) {
    auto bias = typeOf(addend);
    if (!bias || bias.getRank() != 1) {
      product.getDefiningOp()->erase();
      return;
    }
    SmallVector<int64_t> axes =
        llvm::to_vector(llvm::seq<int64_t>(1, rank - 1));
    SmallVector<int64_t> shape(rank - 1, 1);
    shape[0] = bias.getDimSize(0);
    auto axesType = RankedTensorType::get({rank - 2}, b.getI64Type());
    Value which = onnx::ConstantOp::create(
        b, DenseElementsAttr::get(axesType, ArrayRef<int64_t>(axes)));
    addend = make("Unsqueeze", 13, RankedTensorType::get(shape, b.getF32Type()),
                  {addend, which});
  }
  replace(product, *x, *w, 1, addend);
}

void QuantizedProducts::fold() {
  if (!node.getDomain().empty() || node.getNumResults() != 1 ||
      inputs().size() < 2 || !typeOf(node.getResult(0)))
    return;
  if (node.getOpType() == "MatMul")
    foldMatMul();
  else if (node.getOpType() == "Gemm")
    foldGemm();
  else if (node.getOpType() == "Conv")
    foldConv();
}

/// True for what does with quantized numbers what it does with the integers
/// that stand for them, those of its first operand; they are in order alike.
static bool movesElements(onnx::NodeOp node) {
  if (!node.getDomain().empty() || node.getNumResults() != 1 ||
      node.getInputs().empty() || !node.getResult(0).hasOneUse() ||
      !isa<RankedTensorType>(node.getResult(0).getType()))
    return false;
  constexpr uint64_t kPoolsIntegers = 12;
  return llvm::StringSwitch<bool>(node.getOpType())
      .Cases({"Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze"}, true)
      .Cases({"Slice", "Gather", "Expand", "Tile"}, true)
      .Cases({"DepthToSpace", "SpaceToDepth"}, true)
      .Case("MaxPool", node.getSinceVersion() >= kPoolsIntegers)
      .Default(false);
}

/// True if `node` quantizes as `x` was, all elements alike: integers come back
/// as they are, unless numbers overflow.
static bool quantizesBack(onnx::NodeOp node, const Dequantized &x) {
  constexpr float kMaxScale = std::numeric_limits<float>::max() / 512;
  auto scale =
      dyn_cast_or_null<DenseFPElementsAttr>(denseConstant(node.getInputs()[1]));
  auto size = dyn_cast_or_null<IntegerAttr>(node.getNodeAttr("block_size"));
  if (x.axis || !scale || !scale.getElementType().isF32() ||
      scale.getNumElements() != 1 ||
      *scale.value_begin<float>() != x.scales[0] ||
      !std::isnormal(x.scales[0]) || x.scales[0] < 0 ||
      x.scales[0] > kMaxScale || (size && size.getInt() != 0) ||
      getElementTypeOrSelf(node.getResult(0)) != x.type.getElementType())
    return false;
  Value zero = node.getInputOrNull(2);
  if (!zero || !x.zeroPoint || zero == x.zeroPoint)
    return zero == x.zeroPoint;
  DenseElementsAttr mine = denseConstant(zero),
                    other = denseConstant(x.zeroPoint);
  return mine && other && mine.getRawData() == other.getRawData();
}

/// Does without the numbers in front of `node`, a QuantizeLinear, where they
/// are only moved:
///
///   QuantizeLinear(Transpose(DequantizeLinear(%x)))  ->  Transpose(%x)
static void moveIntegers(onnx::NodeOp node) {
  if (node.getOpType() != "QuantizeLinear" || !node.getDomain().empty() ||
      node.getInputs().size() < 2)
    return;
  SmallVector<onnx::NodeOp> moves;
  Value value = node.getInputs()[0];
  while (auto from = value.getDefiningOp<onnx::NodeOp>()) {
    // What a loop does not repeat stays outside.
    if (!movesElements(from) || from->getBlock() != node->getBlock())
      break;
    moves.push_back(from);
    value = from.getInputs()[0];
  }
  std::optional<Dequantized> x = readDequantized(value);
  if (!x || moves.empty() || !quantizesBack(node, *x))
    return;
  Type type = moves.front().getResult(0).getType();
  Type element = x->type.getElementType();
  if (cast<RankedTensorType>(type).clone(element) !=
      node.getResult(0).getType())
    return;
  OpBuilder b(node);
  value = x->integers;
  for (onnx::NodeOp move : llvm::reverse(moves)) {
    Operation *moved = b.clone(*move);
    moved->setOperand(0, value);
    value = moved->getResult(0);
    value.setType(cast<RankedTensorType>(value.getType()).clone(element));
  }
  node.getResult(0).replaceAllUsesWith(value);
  node.erase();
  for (onnx::NodeOp move : moves)
    move.erase();
}

void loopc::foldQuantizedProducts(Operation *root) {
  SmallVector<onnx::NodeOp> nodes;
  root->walk([&](onnx::NodeOp node) { nodes.push_back(node); });
  for (onnx::NodeOp node : nodes)
    QuantizedProducts(node).fold();
}

void loopc::moveQuantizedIntegers(Operation *root) {
  SmallVector<onnx::NodeOp> nodes;
  root->walk([&](onnx::NodeOp node) {
    if (node.getOpType() == "QuantizeLinear")
      nodes.push_back(node);
  });
  llvm::for_each(nodes, moveIntegers);
}
