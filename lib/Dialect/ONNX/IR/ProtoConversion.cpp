//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/ONNX/IR/ProtoConversion.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using ::onnx::AttributeProto;
using ::onnx::TensorProto;
using ::onnx::TensorShapeProto;
using ::onnx::TypeProto;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type loopc::onnx::importElementType(MLIRContext *context, int32_t dataType) {
  switch (dataType) {
#define LOOPC_INTEGER_TYPE(NUMBER, CODE, BITS, NAME, ONNX, WIDTH, SIGNEDNESS)  \
  case NUMBER:                                                                 \
    return IntegerType::get(context, WIDTH, IntegerType::SIGNEDNESS);
#define LOOPC_FLOAT_TYPE(NUMBER, CODE, BITS, NAME, ONNX, TYPE)                 \
  case NUMBER:                                                                 \
    return TYPE::get(context);
#define LOOPC_COMPLEX_TYPE(NUMBER, CODE, BITS, NAME, ONNX, TYPE)               \
  case NUMBER:                                                                 \
    return ComplexType::get(TYPE::get(context));
#include "loopc-rt/ElementTypes.def"
  case TensorProto::STRING:
    return StringType::get(context);
  case TensorProto::FLOAT6E2M3:
    return Float6E2M3FNType::get(context);
  case TensorProto::FLOAT6E3M2:
    return Float6E3M2FNType::get(context);
  default:
    return {};
  }
}

int32_t loopc::onnx::exportElementType(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  auto complex = dyn_cast<ComplexType>(type);
#define LOOPC_INTEGER_TYPE(NUMBER, CODE, BITS, NAME, ONNX, WIDTH, SIGNEDNESS)  \
  if (integer && integer.getWidth() == WIDTH &&                                \
      integer.getSignedness() == IntegerType::SIGNEDNESS)                      \
    return NUMBER;
#define LOOPC_FLOAT_TYPE(NUMBER, CODE, BITS, NAME, ONNX, TYPE)                 \
  if (isa<TYPE>(type))                                                         \
    return NUMBER;
#define LOOPC_COMPLEX_TYPE(NUMBER, CODE, BITS, NAME, ONNX, TYPE)               \
  if (complex && isa<TYPE>(complex.getElementType()))                          \
    return NUMBER;
#include "loopc-rt/ElementTypes.def"
  return llvm::TypeSwitch<Type, int32_t>(type)
      .Case<StringType>([](Type) { return TensorProto::STRING; })
      .Case<Float6E2M3FNType>([](Type) { return TensorProto::FLOAT6E2M3; })
      .Case<Float6E3M2FNType>([](Type) { return TensorProto::FLOAT6E3M2; })
      .Default([](Type) { return TensorProto::UNDEFINED; });
}

static Type importTensorType(MLIRContext *context,
                             const TypeProto::Tensor &proto) {
  Type element = loopc::onnx::importElementType(context, proto.elem_type());
  if (!element)
    return {};
  if (!proto.has_shape())
    return UnrankedTensorType::get(element);
  SmallVector<int64_t> shape;
  for (const TensorShapeProto::Dimension &dim : proto.shape().dim())
    shape.push_back(dim.has_dim_value() && dim.dim_value() >= 0
                        ? dim.dim_value()
                        : ShapedType::kDynamic);
  return RankedTensorType::get(shape, element);
}

Type loopc::onnx::importType(MLIRContext *context, const TypeProto &proto) {
  switch (proto.value_case()) {
  case TypeProto::kTensorType:
    return importTensorType(context, proto.tensor_type());
  case TypeProto::kSequenceType:
    if (Type element = importType(context, proto.sequence_type().elem_type()))
      return SeqType::get(element);
    return {};
  case TypeProto::kOptionalType:
    if (Type element = importType(context, proto.optional_type().elem_type()))
      return OptionalType::get(element);
    return {};
  default:
    return {};
  }
}

bool loopc::onnx::exportType(Type type, TypeProto &proto) {
  if (auto seq = dyn_cast<SeqType>(type))
    return exportType(seq.getElementType(),
                      *proto.mutable_sequence_type()->mutable_elem_type());
  if (auto optional = dyn_cast<OptionalType>(type))
    return exportType(optional.getElementType(),
                      *proto.mutable_optional_type()->mutable_elem_type());
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return false;
  int32_t element = exportElementType(tensor.getElementType());
  if (element == TensorProto::UNDEFINED)
    return false;
  proto.mutable_tensor_type()->set_elem_type(element);
  if (!tensor.hasRank())
    return true;
  TensorShapeProto *shape = proto.mutable_tensor_type()->mutable_shape();
  for (int64_t size : tensor.getShape()) {
    TensorShapeProto::Dimension *dim = shape->add_dim();
    if (ShapedType::isStatic(size))
      dim->set_dim_value(size);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Attribute loopc::onnx::importAttribute(MLIRContext *context,
                                       const AttributeProto &proto,
                                       TensorImporter tensors) {
  Builder b(context);
  auto tensor = [&](const TensorProto &value) -> Attribute {
    return tensors ? tensors(value) : ElementsAttr();
  };
  auto typeAttr = [&](const TypeProto &value) -> Attribute {
    Type type = importType(context, value);
    return type ? TypeAttr::get(type) : Attribute();
  };
  /// A list, or null where one of it could not be converted.
  auto list = [&](const auto &values, auto &&convert) -> Attribute {
    SmallVector<Attribute> attributes;
    attributes.reserve(values.size());
    for (const auto &value : values) {
      attributes.push_back(convert(value));
      if (!attributes.back())
        return {};
    }
    return b.getArrayAttr(attributes);
  };
  switch (proto.type()) {
  case AttributeProto::INT:
    return b.getI64IntegerAttr(proto.i());
  case AttributeProto::FLOAT:
    return b.getF32FloatAttr(proto.f());
  case AttributeProto::STRING:
    return b.getStringAttr(proto.s());
  case AttributeProto::INTS:
    return b.getDenseI64ArrayAttr(
        ArrayRef<int64_t>(proto.ints().data(), proto.ints_size()));
  case AttributeProto::FLOATS:
    return b.getDenseF32ArrayAttr(
        ArrayRef<float>(proto.floats().data(), proto.floats_size()));
  case AttributeProto::STRINGS: {
    // Ensembles of trees have millions, of a few kinds.
    llvm::StringMap<Attribute> known;
    return list(proto.strings(), [&](const std::string &s) {
      Attribute &attr = known[s];
      if (!attr)
        attr = b.getStringAttr(s);
      return attr;
    });
  }
  case AttributeProto::TENSOR:
    return tensor(proto.t());
  case AttributeProto::TENSORS:
    return list(proto.tensors(), tensor);
  case AttributeProto::TYPE_PROTO:
    return typeAttr(proto.tp());
  case AttributeProto::TYPE_PROTOS:
    return list(proto.type_protos(), typeAttr);
  default:
    return {};
  }
}

static int32_t getListKind(ArrayAttr list, int32_t expected) {
  if (list.empty())
    return llvm::is_contained({AttributeProto::STRINGS, AttributeProto::TENSORS,
                               AttributeProto::TYPE_PROTOS,
                               AttributeProto::INTS, AttributeProto::FLOATS},
                              expected)
               ? expected
               : AttributeProto::STRINGS;
  if (llvm::all_of(list, llvm::IsaPred<StringAttr>))
    return AttributeProto::STRINGS;
  if (llvm::all_of(list, llvm::IsaPred<ElementsAttr>))
    return AttributeProto::TENSORS;
  if (llvm::all_of(list, llvm::IsaPred<TypeAttr>))
    return AttributeProto::TYPE_PROTOS;
  return AttributeProto::UNDEFINED;
}

int32_t loopc::onnx::getAttributeKind(Attribute attribute, int32_t expected) {
  // Arrays before ElementsAttr: DenseArrayAttr and friends are no tensors.
  return llvm::TypeSwitch<Attribute, int32_t>(attribute)
      .Case<IntegerAttr>([](IntegerAttr a) -> int32_t {
        return a.getType().isSignlessInteger(64) ? AttributeProto::INT
                                                 : AttributeProto::UNDEFINED;
      })
      .Case<FloatAttr>([](FloatAttr a) -> int32_t {
        return a.getType().isF32() ? AttributeProto::FLOAT
                                   : AttributeProto::UNDEFINED;
      })
      .Case<StringAttr>([](auto) { return AttributeProto::STRING; })
      .Case<DenseI64ArrayAttr>([](auto) { return AttributeProto::INTS; })
      .Case<DenseF32ArrayAttr>([](auto) { return AttributeProto::FLOATS; })
      .Case<ArrayAttr>([&](ArrayAttr a) { return getListKind(a, expected); })
      .Case<TypeAttr>([](auto) { return AttributeProto::TYPE_PROTO; })
      .Case<ElementsAttr>([](ElementsAttr a) -> int32_t {
        return isa<TensorType>(a.getType()) ? AttributeProto::TENSOR
                                            : AttributeProto::UNDEFINED;
      })
      .Default([](auto) { return AttributeProto::UNDEFINED; });
}

bool loopc::onnx::exportAttribute(StringRef name, Attribute attribute,
                                  AttributeProto &proto, int32_t expected) {
  int32_t kind = getAttributeKind(attribute, expected);
  proto.set_name(name.str());
  proto.set_type(static_cast<AttributeProto::AttributeType>(kind));
  switch (kind) {
  case AttributeProto::INT:
    proto.set_i(cast<IntegerAttr>(attribute).getInt());
    return true;
  case AttributeProto::FLOAT:
    proto.set_f(cast<FloatAttr>(attribute).getValue().convertToFloat());
    return true;
  case AttributeProto::STRING:
    proto.set_s(cast<StringAttr>(attribute).getValue().str());
    return true;
  case AttributeProto::INTS:
    if (auto ints = dyn_cast<DenseI64ArrayAttr>(attribute))
      proto.mutable_ints()->Add(ints.asArrayRef().begin(),
                                ints.asArrayRef().end());
    return true;
  case AttributeProto::FLOATS:
    if (auto floats = dyn_cast<DenseF32ArrayAttr>(attribute))
      proto.mutable_floats()->Add(floats.asArrayRef().begin(),
                                  floats.asArrayRef().end());
    return true;
  case AttributeProto::STRINGS:
    for (Attribute value : cast<ArrayAttr>(attribute))
      proto.add_strings(cast<StringAttr>(value).getValue().str());
    return true;
  case AttributeProto::TENSOR:
    return exportTensor(cast<ElementsAttr>(attribute), *proto.mutable_t());
  case AttributeProto::TENSORS:
    return llvm::all_of(cast<ArrayAttr>(attribute), [&](Attribute value) {
      return exportTensor(cast<ElementsAttr>(value), *proto.add_tensors());
    });
  case AttributeProto::TYPE_PROTO:
    return exportType(cast<TypeAttr>(attribute).getValue(),
                      *proto.mutable_tp());
  case AttributeProto::TYPE_PROTOS:
    return llvm::all_of(cast<ArrayAttr>(attribute), [&](Attribute value) {
      return exportType(cast<TypeAttr>(value).getValue(),
                        *proto.add_type_protos());
    });
  default:
    return false;
  }
}
