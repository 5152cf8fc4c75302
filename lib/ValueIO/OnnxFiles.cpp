//===- OnnxFiles.cpp - Values as ONNX protobufs ---------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TensorProto, SequenceProto and OptionalProto as in onnx-ml.proto: the files
// of the test data sets that come with models. The only file of this library
// that sees protobuf.
//
//===----------------------------------------------------------------------===//

#include "loopc/ValueIO/Files.h"

#include "onnx/onnx-data.pb.h"
#include "onnx/onnx-ml.pb.h"

#include "llvm/ADT/Twine.h"

#include <algorithm>

using namespace llvm;
using namespace loopc::io;

static Expected<HostValue> fromStrings(const onnx::TensorProto &proto,
                                       HostValue value) {
  if (static_cast<size_t>(proto.string_data_size()) != value.strings.size())
    return makeError("the tensor has " + Twine(proto.string_data_size()) +
                     " strings, its shape asks for " +
                     Twine(value.strings.size()));
  value.strings.assign(proto.string_data().begin(), proto.string_data().end());
  return value;
}

/// Copies `field`, each of whose entries holds `bytes` bytes of the tensor.
template <typename Stored, typename Field>
static Error fromField(const Field &field, HostValue &value) {
  size_t bytes = value.bytes.size();
  size_t entries = (bytes + sizeof(Stored) - 1) / sizeof(Stored);
  if (static_cast<size_t>(field.size()) != entries)
    return makeError("the tensor has " + Twine(field.size()) +
                     " entries, its shape asks for " + Twine(entries));
  uint8_t *to = value.bytes.data();
  for (auto entry : field) {
    auto stored = static_cast<Stored>(entry);
    std::memcpy(to, &stored, sizeof(Stored));
    to += sizeof(Stored);
  }
  return Error::success();
}

/// Which field holds the data of a type, as onnx-ml.proto says.
static Error fromTypedField(const onnx::TensorProto &proto, HostValue &value) {
  DLDataType dtype = value.dtype;
  if (dtype.code == kDLComplex)
    return dtype.bits == 64 ? fromField<float>(proto.float_data(), value)
                            : fromField<double>(proto.double_data(), value);
  if (dtype.code == kDLFloat && dtype.bits == 32)
    return fromField<float>(proto.float_data(), value);
  if (dtype.code == kDLFloat && dtype.bits == 64)
    return fromField<double>(proto.double_data(), value);
  if (dtype.bits == 64)
    return dtype.code == kDLInt
               ? fromField<int64_t>(proto.int64_data(), value)
               : fromField<uint64_t>(proto.uint64_data(), value);
  if (dtype.bits == 32)
    return dtype.code == kDLInt
               ? fromField<int32_t>(proto.int32_data(), value)
               : fromField<uint32_t>(proto.uint64_data(), value);
  // Bit patterns; those of less than a byte are packed.
  return dtype.bits == 16 ? fromField<uint16_t>(proto.int32_data(), value)
                          : fromField<uint8_t>(proto.int32_data(), value);
}

static Expected<HostValue> fromTensor(const onnx::TensorProto &proto) {
  if (proto.data_location() == onnx::TensorProto::EXTERNAL)
    return makeError("the tensor's data lies in another file");
  if (proto.has_segment())
    return makeError("the tensor is a segment of another");
  bool isString = proto.data_type() == onnx::TensorProto::STRING;
  DLDataType dtype = dtypeOfOnnx(proto.data_type());
  if (!isString && dtype.bits == 0)
    return makeError("the tensor has an unknown element type (" +
                     Twine(proto.data_type()) + ")");
  std::vector<int64_t> shape(proto.dims().begin(), proto.dims().end());
  std::optional<int64_t> count = countElements(shape);
  // A byte of a protobuf tells of at most four elements.
  if (!count || *count / 4 > static_cast<int64_t>(proto.ByteSizeLong()))
    return makeError("the tensor's shape does not fit its data");
  Expected<HostValue> value = makeTensor(dtype, shape);
  if (!value)
    return value;
  if (isString)
    return fromStrings(proto, std::move(*value));
  if (!proto.has_raw_data()) {
    if (Error error = fromTypedField(proto, *value))
      return std::move(error);
    return value;
  }
  if (proto.raw_data().size() != value->bytes.size())
    return makeError("the tensor has " + Twine(proto.raw_data().size()) +
                     " bytes, its shape asks for " +
                     Twine(value->bytes.size()));
  std::copy_n(proto.raw_data().data(), value->bytes.size(),
              reinterpret_cast<char *>(value->bytes.data()));
  return value;
}

static Expected<HostValue> fromSequence(const onnx::SequenceProto &proto);
static Expected<HostValue> fromOptional(const onnx::OptionalProto &proto);

/// Appends `item` to `items`; false after an error, which is in `error`.
static bool append(Expected<HostValue> item, std::vector<HostValue> &items,
                   Error &error) {
  if (!item) {
    error = item.takeError();
    return false;
  }
  items.push_back(std::move(*item));
  return true;
}

static Expected<HostValue> fromSequence(const onnx::SequenceProto &proto) {
  HostValue value;
  value.kind = LOOPC_SEQUENCE;
  Error error = Error::success();
  bool ok = !error;
  switch (proto.elem_type()) {
  case onnx::SequenceProto::TENSOR:
    for (const onnx::TensorProto &item : proto.tensor_values())
      ok = ok && append(fromTensor(item), value.items, error);
    break;
  case onnx::SequenceProto::SEQUENCE:
    for (const onnx::SequenceProto &item : proto.sequence_values())
      ok = ok && append(fromSequence(item), value.items, error);
    break;
  case onnx::SequenceProto::OPTIONAL:
    for (const onnx::OptionalProto &item : proto.optional_values())
      ok = ok && append(fromOptional(item), value.items, error);
    break;
  case onnx::SequenceProto::UNDEFINED:
    break;
  default:
    return makeError("sequences of this kind are not supported");
  }
  if (error)
    return std::move(error);
  return value;
}

static Expected<HostValue> fromOptional(const onnx::OptionalProto &proto) {
  HostValue value;
  value.kind = LOOPC_OPTIONAL;
  Error error = Error::success();
  (void)!error;
  if (proto.elem_type() == onnx::OptionalProto::TENSOR) {
    if (proto.has_tensor_value())
      append(fromTensor(proto.tensor_value()), value.items, error);
  } else if (proto.elem_type() == onnx::OptionalProto::SEQUENCE) {
    if (proto.has_sequence_value())
      append(fromSequence(proto.sequence_value()), value.items, error);
  } else if (proto.elem_type() != onnx::OptionalProto::UNDEFINED) {
    consumeError(std::move(error));
    return makeError("optionals of this kind are not supported");
  }
  if (error)
    return std::move(error);
  return value;
}

template <typename Proto>
static Expected<HostValue>
parse(StringRef bytes, const char *what,
      Expected<HostValue> (*convert)(const Proto &)) {
  Proto proto;
  if (bytes.size() > INT32_MAX ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return makeError(Twine("this is no serialised ") + what);
  return convert(proto);
}

Expected<HostValue> loopc::io::readOnnxValue(StringRef bytes,
                                             const loopc_type &type) {
  switch (type.kind) {
  case LOOPC_SEQUENCE:
    return parse<onnx::SequenceProto>(bytes, "SequenceProto", fromSequence);
  case LOOPC_OPTIONAL:
    return parse<onnx::OptionalProto>(bytes, "OptionalProto", fromOptional);
  default:
    return parse<onnx::TensorProto>(bytes, "TensorProto", fromTensor);
  }
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static void toTensor(const HostValue &value, onnx::TensorProto &proto) {
  for (int64_t extent : value.shape)
    proto.add_dims(extent);
  if (value.kind == LOOPC_STRINGS) {
    proto.set_data_type(onnx::TensorProto::STRING);
    for (const std::string &text : value.strings)
      proto.add_string_data(text);
    return;
  }
  proto.set_data_type(onnxTypeOf(value.dtype));
  proto.set_raw_data(value.bytes.data(), value.bytes.size());
}

static void toOptional(const HostValue &value, onnx::OptionalProto &proto);

static void toSequence(const HostValue &value, onnx::SequenceProto &proto) {
  proto.set_elem_type(onnx::SequenceProto::TENSOR);
  for (const HostValue &item : value.items) {
    if (item.kind == LOOPC_SEQUENCE) {
      proto.set_elem_type(onnx::SequenceProto::SEQUENCE);
      toSequence(item, *proto.add_sequence_values());
    } else if (item.kind == LOOPC_OPTIONAL) {
      proto.set_elem_type(onnx::SequenceProto::OPTIONAL);
      toOptional(item, *proto.add_optional_values());
    } else {
      toTensor(item, *proto.add_tensor_values());
    }
  }
}

static void toOptional(const HostValue &value, onnx::OptionalProto &proto) {
  if (value.items.empty()) {
    proto.set_elem_type(onnx::OptionalProto::UNDEFINED);
  } else if (value.items[0].kind == LOOPC_SEQUENCE) {
    proto.set_elem_type(onnx::OptionalProto::SEQUENCE);
    toSequence(value.items[0], *proto.mutable_sequence_value());
  } else {
    proto.set_elem_type(onnx::OptionalProto::TENSOR);
    toTensor(value.items[0], *proto.mutable_tensor_value());
  }
}

template <typename Proto>
static std::string serialize(const HostValue &value, StringRef name,
                             void (*fill)(const HostValue &, Proto &)) {
  Proto proto;
  proto.set_name(name.str());
  fill(value, proto);
  return proto.SerializeAsString();
}

std::string loopc::io::writeOnnxValue(const HostValue &value, StringRef name) {
  switch (value.kind) {
  case LOOPC_SEQUENCE:
    return serialize<onnx::SequenceProto>(value, name, toSequence);
  case LOOPC_OPTIONAL:
    return serialize<onnx::OptionalProto>(value, name, toOptional);
  default:
    return serialize<onnx::TensorProto>(value, name, toTensor);
  }
}
