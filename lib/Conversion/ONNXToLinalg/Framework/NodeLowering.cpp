//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"
#include "Framework/DenseConstant.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "loopc/Support/ConstantElements.h"
#include "loopc/Support/Diagnostics.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace loopc;

/// The list that a sequence or an optional of `element` is.
static Type listOf(Type element) {
  Type below = toSignless(element);
  if (auto tensor = dyn_cast<TensorType>(below))
    below = tensor.getElementType();
  return list::ListType::get(below);
}

Type loopc::toSignless(Type type) {
  if (auto tensor = dyn_cast<TensorType>(type)) {
    Type element = toSignless(tensor.getElementType());
    return element == tensor.getElementType() ? type : tensor.clone(element);
  }
  if (isa<IntegerType, FloatType>(type))
    return getStoredElement(type);
  if (isa<onnx::StringType>(type))
    return getStringType(type.getContext());
  if (auto seq = dyn_cast<onnx::SeqType>(type))
    return listOf(seq.getElementType());
  if (auto optional = dyn_cast<onnx::OptionalType>(type))
    return listOf(optional.getElementType());
  return type;
}

Type loopc::getStringType(MLIRContext *context) {
  return rt::StringType::get(context);
}

/// Elements of less than a byte, which `data` holds in a byte each or (in a
/// resource from a file of MLIR) packed: a byte each, with copies of the sign.
static SmallVector<char> widenElements(ArrayRef<char> data, Type element,
                                       int64_t count) {
  unsigned bits = element.getIntOrFloatBitWidth();
  bool isPacked = static_cast<int64_t>(data.size()) < count;
  unsigned stride = isPacked ? bits : 8;
  unsigned sign = element.isSignlessInteger() ? 1u << (bits - 1) : 0;
  SmallVector<char> bytes;
  bytes.reserve(count);
  for (int64_t i = 0; i < count; ++i) {
    auto byte = static_cast<uint8_t>(data[i * stride / 8]);
    unsigned value = byte >> (i * stride % 8) & ((1u << bits) - 1);
    bytes.push_back(static_cast<char>((value ^ sign) - sign));
  }
  return bytes;
}

ElementsAttr loopc::toSignless(ElementsAttr elements) {
  auto type = cast<ShapedType>(toSignless(elements.getShapedType()));
  if (type == elements.getShapedType())
    return elements;
  Type element = elements.getElementType();
  bool isWidened = element.getIntOrFloatBitWidth() < 8;
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  if (resource && isWidened) {
    SmallVector<char> bytes =
        widenElements(resource.getRawHandle().getBlob()->getData(), element,
                      type.getNumElements());
    return DenseResourceElementsAttr::get(
        type, resource.getRawHandle().getKey(),
        HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64));
  }
  if (resource)
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  auto dense = cast<DenseElementsAttr>(elements);
  if (isWidened)
    return DenseElementsAttr::getFromRawBuffer(
        type, widenElements(dense.getRawData(), element,
                            dense.isSplat() ? 1 : type.getNumElements()));
  return dense.bitcast(type.getElementType());
}

NodeLowering::NodeLowering(onnx::NodeOp node, OpBuilder &builder)
    : node(node), b(node.getLoc(), builder), inputs(node.getInputs().size()),
      results(node.getNumResults()) {}

//===----------------------------------------------------------------------===//
// Inputs and results
//===----------------------------------------------------------------------===//

Value NodeLowering::in(unsigned i) {
  Value value = node.getInputOrNull(i);
  if (!value)
    return {};
  Value &known = inputs[i];
  if (known)
    return known;
  // What is made in a region must be there for all others.
  OpBuilder::InsertionGuard guard(b);
  if (b.getInsertionBlock() != node->getBlock())
    b.setInsertionPointAfterValue(value);
  Type type = toSignless(value.getType());
  if (type != value.getType()) {
    auto cast = value.getDefiningOp<UnrealizedConversionCastOp>();
    value =
        cast && cast.getNumOperands() == 1 &&
                cast.getOperand(0).getType() == type
            ? cast.getOperand(0)
            : UnrealizedConversionCastOp::create(b, type, value).getResult(0);
  }
  return known = withKnownExtents(b, b.getLoc(), value, branchDims);
}

SmallVector<Value> NodeLowering::allInputs() {
  SmallVector<Value> values;
  for (unsigned i = 0, e = numInputs(); i < e; ++i)
    if (has(i))
      values.push_back(in(i));
  return values;
}

RankedTensorType NodeLowering::inType(unsigned i) {
  return cast<RankedTensorType>(toSignless(node.getInputOrNull(i).getType()));
}

static bool isUnsignedElement(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isUnsignedInteger() || element.isInteger(1);
}

bool NodeLowering::isUnsigned(unsigned i) {
  return isUnsignedElement(node.getInputs()[i].getType());
}

Type NodeLowering::declaredType(unsigned i) {
  return getElementTypeOrSelf(node.getInputs()[i].getType());
}

Type NodeLowering::declaredResultType(unsigned i) {
  return getElementTypeOrSelf(node.getResult(i).getType());
}

Type NodeLowering::resultElementType(unsigned i) {
  return toSignless(getElementTypeOrSelf(node.getResult(i).getType()));
}

bool NodeLowering::isResultUnsigned(unsigned i) {
  return isUnsignedElement(node.getResult(i).getType());
}

TensorType NodeLowering::resultType(unsigned i) {
  return cast<TensorType>(toSignless(node.getResult(i).getType()));
}

bool NodeLowering::isString(unsigned i) {
  return has(i) && isa<onnx::StringType>(
                       getElementTypeOrSelf(node.getInputs()[i].getType()));
}

void NodeLowering::setResult(unsigned i, Value value) { results[i] = value; }

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Attribute NodeLowering::attr(StringRef name) {
  seen.insert(name);
  return onnx::getAttrOrDefault(node, name);
}

bool NodeLowering::hasAttr(StringRef name) {
  return static_cast<bool>(attr(name));
}

int64_t NodeLowering::intAttr(StringRef name, int64_t fallback) {
  auto value = dyn_cast_or_null<IntegerAttr>(attr(name));
  return value ? value.getInt() : fallback;
}

double NodeLowering::floatAttr(StringRef name, double fallback) {
  auto value = dyn_cast_or_null<FloatAttr>(attr(name));
  return value ? value.getValueAsDouble() : fallback;
}

std::string NodeLowering::stringAttr(StringRef name, StringRef fallback) {
  auto value = dyn_cast_or_null<StringAttr>(attr(name));
  return value ? value.str() : fallback.str();
}

std::optional<SmallVector<int64_t>> NodeLowering::intsAttr(StringRef name) {
  auto value = dyn_cast_or_null<DenseI64ArrayAttr>(attr(name));
  if (!value)
    return std::nullopt;
  return SmallVector<int64_t>(value.asArrayRef());
}

std::optional<SmallVector<double>> NodeLowering::floatsAttr(StringRef name) {
  auto value = dyn_cast_or_null<DenseF32ArrayAttr>(attr(name));
  if (!value)
    return std::nullopt;
  return SmallVector<double>(value.asArrayRef());
}

FailureOr<int64_t> NodeLowering::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return refuse("axis " + Twine(axis) + " is out of range for rank " +
                  Twine(rank));
  return axis < 0 ? axis + rank : axis;
}

FailureOr<int64_t> NodeLowering::axisAttr(StringRef name, int64_t rank,
                                          int64_t fallback) {
  return normalizeAxis(intAttr(name, fallback), rank);
}

FailureOr<std::optional<SmallVector<int64_t>>>
NodeLowering::axes(StringRef name, unsigned input, int64_t rank) {
  std::optional<SmallVector<int64_t>> values = intsAttr(name);
  if (!values && has(input)) {
    values = constantInts(input);
    if (!values)
      return unsupported("'" + name + "' is not a constant");
  }
  if (!values)
    return values;
  for (int64_t &axis : *values) {
    FailureOr<int64_t> normal = normalizeAxis(axis, rank);
    if (failed(normal))
      return failure();
    axis = *normal;
  }
  return values;
}

LogicalResult NodeLowering::checkAttributesSeen() {
  for (NamedAttribute attribute : node.getNodeAttributes())
    if (!seen.contains(attribute.getName()))
      return unsupported("attribute '" + attribute.getName().getValue() +
                         "' is not supported");
  return success();
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

LogicalResult NodeLowering::refuse(const Twine &reason) {
  if (!contradiction && !isUnsupported)
    contradiction = reason.str();
  return loopc::emitError(node.getLoc(), Diag::BadNode)
         << node.getOpType() << ": " << reason;
}

LogicalResult NodeLowering::unsupported(const Twine &reason) {
  isUnsupported = true;
  return loopc::emitError(node.getLoc(), Diag::UnsupportedNode)
         << node.getOpType() << ": " << reason;
}

std::string NodeLowering::path() {
  Location loc = node.getLoc();
  std::string path = locationPath(loc);
  // Of a node that no model named, the file and line do not tell the operator.
  return loc->findInstanceOf<NameLoc>() ? path
                                        : path + ": " + node.getOpType().str();
}

/// `message` with constants for all "{}"; nothing if another value is there.
static std::optional<std::string> fillHoles(const Twine &message,
                                            ValueRange values) {
  std::string text = message.str();
  size_t at = 0;
  for (Value value : values) {
    std::optional<int64_t> constant = getConstantIntValue(value);
    at = text.find("{}", at);
    if (!constant || at == std::string::npos)
      return std::nullopt;
    std::string number = std::to_string(*constant);
    text.replace(at, 2, number);
    at += number.size();
  }
  return text;
}

void NodeLowering::check(Value condition, const Twine &message,
                         ValueRange values) {
  if (matchPattern(condition, m_One()))
    return;
  // One in a region of what the node becomes may not be come to.
  if (!contradiction && !isUnsupported && matchPattern(condition, m_Zero()) &&
      b.getInsertionBlock() == node->getBlock())
    contradiction = fillHoles(message, values);
  loop::CheckOp::create(b, condition, b.getStringAttr(path() + ": " + message),
                        values,
                        /*iteration=*/Value());
}

//===----------------------------------------------------------------------===//
// Constants, scalars and dimensions
//===----------------------------------------------------------------------===//

DenseElementsAttr loopc::denseConstant(Value value) {
  ElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return {};
  return getDenseElements(elements);
}

DenseElementsAttr NodeLowering::constantInput(unsigned i) {
  if (!has(i))
    return {};
  Value value = in(i);
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  return denseConstant(value);
}

std::optional<SmallVector<int64_t>> NodeLowering::constantInts(unsigned i) {
  if (!has(i))
    return std::nullopt;
  SmallVector<int64_t> values;
  if (DenseElementsAttr dense = constantInput(i)) {
    if (!dense.getElementType().isInteger())
      return std::nullopt;
    bool extendZero = isUnsigned(i);
    for (const APInt &value : dense.getValues<APInt>())
      values.push_back(extendZero ? static_cast<int64_t>(value.getZExtValue())
                                  : value.getSExtValue());
    return values;
  }
  Value value = in(i);
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  auto elements = value.getDefiningOp<tensor::FromElementsOp>();
  if (!elements)
    return std::nullopt;
  for (Value element : elements.getElements()) {
    std::optional<int64_t> constant = getConstantIntValue(element);
    if (!constant)
      return std::nullopt;
    values.push_back(*constant);
  }
  return values;
}

Value NodeLowering::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value NodeLowering::constant(Type type, double value) {
  if (type == getStringType(b.getContext())) {
    Value zero = constantInt(b.getI64Type(), 0);
    return rt::StringOp::create(b, type, zero, zero);
  }
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Type part = complex.getElementType();
    return complex::ConstantOp::create(
        b, type,
        b.getArrayAttr({b.getFloatAttr(part, value), b.getFloatAttr(part, 0)}));
  }
  return constantInt(type, static_cast<int64_t>(value));
}

Value NodeLowering::constantInt(Type type, int64_t value) {
  if (isa<FloatType, ComplexType>(type))
    return constant(type, static_cast<double>(value));
  return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
}

Value NodeLowering::asIndex(OpFoldResult value) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), value);
}

Value NodeLowering::toIndex(Value value, bool isUnsigned) {
  if (isa<TensorType>(value.getType()))
    value = scalar(value);
  if (value.getType().isIndex())
    return value;
  // What went from index to i64 comes back as it was.
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>();
      cast && value.getType().isInteger(64) && cast.getIn().getType().isIndex())
    return cast.getIn();
  if (isUnsigned)
    return b.createOrFold<arith::IndexCastUIOp>(b.getIndexType(), value);
  return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), value);
}

Value NodeLowering::scalar(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    OpFoldResult extent = dim(tensor, axis);
    if (isConstantIntValue(extent, 1))
      continue;
    Value actual = asIndex(extent);
    check(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, actual, index(1)),
          "expected one element, dimension " + Twine(axis) + " is {}", actual);
  }
  SmallVector<Value> indices(type.getRank(), index(0));
  return b.createOrFold<tensor::ExtractOp>(tensor, indices);
}

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

OpFoldResult NodeLowering::dim(Value value, int64_t axis) {
  // ONNX's inference does not look at the rank of each operand of each
  // operator. What is returned is never used: the node is refused.
  if (auto type = dyn_cast<RankedTensorType>(value.getType());
      !type || axis >= type.getRank()) {
    (void)refuse("an operand of type " + textOf(value.getType()) +
                 " has no axis " + Twine(axis));
    return fold(1);
  }
  return resolveDim(b, b.getLoc(), value, axis, branchDims);
}

Dims NodeLowering::dims(Value value) {
  Dims dims;
  for (int64_t k : llvm::seq(cast<RankedTensorType>(value.getType()).getRank()))
    dims.push_back(dim(value, k));
  return dims;
}

/// Applies an integer operation on dimensions; constants are folded.
template <typename OpTy>
static OpFoldResult combine(NodeLowering &l, OpFoldResult x, OpFoldResult y) {
  Value value = l.b.createOrFold<OpTy>(l.asIndex(x), l.asIndex(y));
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return l.fold(*constant);
  return value;
}

/// `x + number`, where `x` may be such a sum itself: an extent that a window
/// changes back is the same value again.
static OpFoldResult addNumber(NodeLowering &l, OpFoldResult x, int64_t number) {
  if (number == 0)
    return x;
  auto value = dyn_cast<Value>(x);
  auto sum = value ? value.getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  APInt other;
  if (sum && matchPattern(sum.getRhs(), m_ConstantInt(&other)))
    return addNumber(l, sum.getLhs(),
                     uint64_t(number) + uint64_t(other.getSExtValue()));
  return combine<arith::AddIOp>(l, x, l.fold(number));
}

OpFoldResult NodeLowering::add(OpFoldResult x, OpFoldResult y) {
  if (std::optional<int64_t> number = getConstantIntValue(y))
    return addNumber(*this, x, *number);
  if (std::optional<int64_t> number = getConstantIntValue(x))
    return addNumber(*this, y, *number);
  return combine<arith::AddIOp>(*this, x, y);
}
OpFoldResult NodeLowering::sub(OpFoldResult x, OpFoldResult y) {
  if (std::optional<int64_t> number = getConstantIntValue(y))
    return addNumber(*this, x, -uint64_t(*number));
  return combine<arith::SubIOp>(*this, x, y);
}
OpFoldResult NodeLowering::mul(OpFoldResult x, OpFoldResult y) {
  return combine<arith::MulIOp>(*this, x, y);
}
OpFoldResult NodeLowering::product(ArrayRef<OpFoldResult> factors) {
  OpFoldResult result = fold(1);
  for (OpFoldResult factor : factors)
    result = mul(result, factor);
  return result;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value NodeLowering::empty(ArrayRef<OpFoldResult> dims, Type type) {
  return tensor::EmptyOp::create(b, dims, type);
}

Value NodeLowering::filled(ArrayRef<OpFoldResult> dims, Value scalar) {
  Value init = empty(dims, scalar.getType());
  return linalg::FillOp::create(b, scalar, init).getResult(0);
}

Value NodeLowering::slice(Value value, ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes,
                          ArrayRef<OpFoldResult> strides) {
  return extractSlice(b, b.getLoc(), value, offsets, sizes, strides);
}

Value NodeLowering::insert(Value value, Value into,
                           ArrayRef<OpFoldResult> offsets,
                           ArrayRef<OpFoldResult> sizes,
                           ArrayRef<OpFoldResult> strides,
                           ArrayRef<int64_t> dropped) {
  return insertSlice(b, b.getLoc(), value, into, offsets, sizes, strides,
                     dropped);
}

/// The one reassociation group of all `rank` axes.
static SmallVector<ReassociationIndices> oneGroup(int64_t rank) {
  if (rank == 0)
    return {};
  return {llvm::to_vector<2>(llvm::seq<int64_t>(0, rank))};
}

Value NodeLowering::reshape(Value value, ArrayRef<OpFoldResult> target) {
  auto type = cast<RankedTensorType>(value.getType());
  Dims current = dims(value);
  if (current.size() == target.size() &&
      llvm::equal(current, target, isEqualConstantIntOrValue))
    return value;
  Type element = type.getElementType();
  SmallVector<int64_t> shape;
  for (OpFoldResult extent : target)
    shape.push_back(getConstantIntValue(extent).value_or(ShapedType::kDynamic));
  auto targetType = RankedTensorType::get(shape, element);
  bool targetStatic = targetType.hasStaticShape();
  // Through the flat form: both steps are views.
  Value flat = value;
  if (type.getRank() == 0)
    flat = tensor::ExpandShapeOp::create(
        b, RankedTensorType::get({1}, element), value,
        ArrayRef<ReassociationIndices>(), ArrayRef<OpFoldResult>{fold(1)});
  else if (type.getRank() > 1)
    flat = tensor::CollapseShapeOp::create(b, value, oneGroup(type.getRank()));
  auto wanted = RankedTensorType::get(
      {targetStatic ? targetType.getNumElements() : ShapedType::kDynamic},
      element);
  if (flat.getType() != wanted)
    flat = b.createOrFold<tensor::CastOp>(wanted, flat);
  if (target.size() == 1)
    return flat;
  if (target.empty())
    return tensor::CollapseShapeOp::create(b, targetType, flat,
                                           ArrayRef<ReassociationIndices>());
  return tensor::ExpandShapeOp::create(b, targetType, flat,
                                       oneGroup(target.size()), target);
}

Value NodeLowering::transpose(Value value, ArrayRef<int64_t> permutation) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = type.getRank();
  bool identity = true;
  Dims target;
  SmallVector<AffineExpr> exprs(rank);
  for (auto [to, from] : llvm::enumerate(permutation)) {
    identity &= static_cast<int64_t>(to) == from;
    target.push_back(dim(value, from));
    exprs[from] = b.getAffineDimExpr(to);
  }
  if (identity)
    return value;
  SmallVector<AffineMap> maps = {AffineMap::get(rank, 0, exprs, b.getContext()),
                                 b.getMultiDimIdentityMap(rank)};
  Value init = empty(target, type.getElementType());
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, init.getType(), value, init, maps, iterators,
             [](OpBuilder &b, Location loc, ValueRange args) {
               linalg::YieldOp::create(b, loc, args[0]);
             })
      .getResult(0);
}

Value NodeLowering::generate(
    ArrayRef<OpFoldResult> dims, Type type,
    llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  int64_t rank = dims.size();
  if (rank == 0) {
    Value element = body(b, b.getLoc(), {});
    return tensor::FromElementsOp::create(b, RankedTensorType::get({}, type),
                                          element);
  }
  Value init = empty(dims, type);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, init.getType(), ValueRange(), init,
             b.getMultiDimIdentityMap(rank), iterators,
             [&](OpBuilder &b, Location loc, ValueRange) {
               SmallVector<Value> indices;
               for (int64_t k = 0; k < rank; ++k)
                 indices.push_back(linalg::IndexOp::create(b, loc, k));
               linalg::YieldOp::create(b, loc, body(b, loc, indices));
             })
      .getResult(0);
}
