//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "SchemaCache.h"
#include "loopc/Dialect/ONNX/IR/CustomOperators.h"
#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::onnx;

#include "loopc/Dialect/ONNX/IR/ONNXDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "loopc/Dialect/ONNX/IR/ONNXTypes.cpp.inc"

void ONNXDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "loopc/Dialect/ONNX/IR/ONNXTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "loopc/Dialect/ONNX/IR/ONNXOps.cpp.inc"
      >();
  addSchemaCache(*this);
  addInterfaces<CustomOperators>();
}

//===----------------------------------------------------------------------===//
// Types: where Loop, If and Scan list them (loop_types)
//===----------------------------------------------------------------------===//

std::optional<int64_t> StringType::getFirstLoopVersion() const { return 1; }

std::optional<int64_t> SeqType::getFirstLoopVersion() const {
  if (!isa<TensorType>(getElementType()))
    return std::nullopt;
  std::optional<int64_t> inner = loop::getLoopTypeSince(getElementType());
  return inner ? std::max<int64_t>(*inner, 13) : inner;
}

std::optional<int64_t> OptionalType::getFirstLoopVersion() const {
  if (!isa<TensorType, SeqType>(getElementType()))
    return std::nullopt;
  std::optional<int64_t> inner = loop::getLoopTypeSince(getElementType());
  // Element types that came after 16 are in no optional(seq).
  if (!inner || (isa<SeqType>(getElementType()) && *inner > 16))
    return std::nullopt;
  return std::max<int64_t>(*inner, 16);
}

Operation *ONNXDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  if (isa<NoneType>(type))
    return NoneOp::create(builder, loc, type);
  if (auto texts = dyn_cast<ArrayAttr>(value); texts && texts.size() == 1)
    value = texts[0];
  if (auto elements = dyn_cast<ElementsAttr>(value))
    if (elements.getShapedType() == type)
      return ConstantOp::create(builder, loc, elements);
  return nullptr;
}

/// Texts are wrapped: folds of MLIR take the elements of any dense attribute
/// for numbers, and tensor.expand_shape reads the width of their type.
OpFoldResult ConstantOp::fold(FoldAdaptor) {
  if (isa<DenseStringElementsAttr>(getValue()))
    return ArrayAttr::get(getContext(), getValue());
  return getValue();
}

OpFoldResult NoneOp::fold(FoldAdaptor) { return UnitAttr::get(getContext()); }

//===----------------------------------------------------------------------===//
// NodeOp
//===----------------------------------------------------------------------===//

Value NodeOp::getInputOrNull(unsigned i) {
  if (i >= getInputs().size() || isa<NoneType>(getInputs()[i].getType()))
    return {};
  return getInputs()[i];
}

bool NodeOp::hasOutput(unsigned i) {
  return i < getNumResults() && !isa<NoneType>(getResult(i).getType());
}

/// Operators whose result is not a function of their inputs: two of them are
/// two draws, and they are not moved or merged.
static bool isRandom(NodeOp node) {
  StringRef opType = node.getOpType();
  if (const loopc_custom_op *custom =
          node->getDialect()->getRegisteredInterface<CustomOperators>()->find(
              node))
    return custom->flags & LOOPC_CUSTOM_STATEFUL;
  // Dropout draws where its third input may say that this is training.
  return opType.starts_with("Random") || opType == "Bernoulli" ||
         opType == "Multinomial" ||
         (opType == "Dropout" && node.getInputOrNull(2));
}

void NodeOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (isRandom(*this))
    effects.emplace_back(MemoryEffects::Write::get());
}

Speculation::Speculatability NodeOp::getSpeculatability() {
  // Whether a node can fail at run time is known once it is lowered.
  return Speculation::NotSpeculatable;
}

void NodeOp::print(OpAsmPrinter &p) {
  p << " ";
  if (!getDomain().empty()) {
    p.printString(getDomain());
    p << "::";
  }
  p.printString(getOpType());
  p << "(" << getInputs() << ") since " << getSinceVersion();
  if (!getNodeAttributes().empty())
    p << " " << getNodeAttributes();
  p.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {"op_type", "domain", "since_version", "node_attributes"});
  p << " : ";
  p.printFunctionalType(getInputs().getTypes(), getResultTypes());
}

ParseResult NodeOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &b = parser.getBuilder();
  auto &props = state.getOrAddProperties<Properties>();
  std::string first, second;
  if (parser.parseString(&first))
    return failure();
  bool qualified = succeeded(parser.parseOptionalColon());
  if (qualified && (parser.parseColon() || parser.parseString(&second)))
    return failure();
  props.domain = b.getStringAttr(qualified ? first : "");
  props.op_type = b.getStringAttr(qualified ? second : first);
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  int64_t since;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("since") || parser.parseInteger(since))
    return failure();
  props.since_version = b.getI64IntegerAttr(since);
  NamedAttrList attributes;
  if (parser.parseOptionalAttrDict(attributes) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  props.node_attributes = attributes.getDictionary(b.getContext());
  FunctionType type;
  if (parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), loc, state.operands))
    return failure();
  state.addTypes(type.getResults());
  return success();
}

LogicalResult NodeOp::verify() {
  if (getOpType().empty())
    return emitOpError("expects an operator name");
  return verifyNode(*this);
}

//===----------------------------------------------------------------------===//
// CastOp
//===----------------------------------------------------------------------===//

Type loopc::onnx::joinTypes(Type a, Type b) {
  if (a == b)
    return a;
  if (auto seqA = dyn_cast<SeqType>(a), seqB = dyn_cast<SeqType>(b);
      seqA && seqB) {
    Type element = joinTypes(seqA.getElementType(), seqB.getElementType());
    return element ? SeqType::get(element) : Type();
  }
  if (auto optA = dyn_cast<OptionalType>(a), optB = dyn_cast<OptionalType>(b);
      optA && optB) {
    Type element = joinTypes(optA.getElementType(), optB.getElementType());
    return element ? OptionalType::get(element) : Type();
  }
  auto tensorA = dyn_cast<TensorType>(a), tensorB = dyn_cast<TensorType>(b);
  if (!tensorA || !tensorB ||
      tensorA.getElementType() != tensorB.getElementType())
    return {};
  Type element = tensorA.getElementType();
  if (!tensorA.hasRank() || !tensorB.hasRank() ||
      tensorA.getRank() != tensorB.getRank())
    return UnrankedTensorType::get(element);
  SmallVector<int64_t> shape;
  for (auto [x, y] : llvm::zip_equal(tensorA.getShape(), tensorB.getShape()))
    shape.push_back(x == y ? x : ShapedType::kDynamic);
  return RankedTensorType::get(shape, element);
}

/// True if a value may have both types, inside a collection.
static bool mayBeSame(Type a, Type b) {
  if (auto seqA = dyn_cast<SeqType>(a), seqB = dyn_cast<SeqType>(b);
      seqA && seqB)
    return mayBeSame(seqA.getElementType(), seqB.getElementType());
  if (auto optA = dyn_cast<OptionalType>(a), optB = dyn_cast<OptionalType>(b);
      optA && optB)
    return mayBeSame(optA.getElementType(), optB.getElementType());
  auto tensorA = dyn_cast<TensorType>(a), tensorB = dyn_cast<TensorType>(b);
  return tensorA && tensorB &&
         tensorA.getElementType() == tensorB.getElementType() &&
         succeeded(verifyCompatibleShape(tensorA, tensorB));
}

bool CastOp::areCastCompatible(TypeRange inputs, TypeRange outputs) {
  if (inputs.size() != 1 || outputs.size() != 1)
    return false;
  // Tensors have tensor.cast.
  return isa<SeqType, OptionalType>(inputs[0]) &&
         mayBeSame(inputs[0], outputs[0]);
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  // Back to the type that the value came from.
  if (auto inner = getSource().getDefiningOp<CastOp>())
    if (inner.getSource().getType() == getType())
      return inner.getSource();
  return {};
}

#define GET_OP_CLASSES
#include "loopc/Dialect/ONNX/IR/ONNXOps.cpp.inc"
