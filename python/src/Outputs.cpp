//===- Outputs.cpp - From loopc_value to Python objects -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTensor.h"
#include "Values.h"

#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <memory>

using namespace loopc::python;

namespace {
/// A value of a run and what its memory needs to stay valid. All arrays that
/// are made of it share it.
struct Owner {
  loopc_value value;
  nb::object keep;
  ~Owner() { loopc_value_release(&value); }
};
} // namespace

/// Axes of an array of NumPy, of which nanobind ends the process with more.
static constexpr int32_t kMostAxes = 64;

/// An array over memory that `owner` keeps.
static nb::object makeArray(void *data, const int64_t *shape, int32_t rank,
                            const int64_t *strides, DLDataType dtype,
                            nb::handle owner) {
  if (rank > kMostAxes)
    throw ArgumentError("an output has " + std::to_string(rank) +
                        " axes, an array of NumPy has at most " +
                        std::to_string(kMostAxes));
  std::vector<size_t> extents(shape, shape + rank);
  nb::ndarray<nb::numpy> array(
      data, rank, extents.data(), owner, strides,
      nb::dlpack::dtype{dtype.code, dtype.bits, dtype.lanes});
  return nb::cast(std::move(array));
}

static nb::object mlDtype(const char *name) {
  return nb::module_::import_("ml_dtypes").attr(name);
}

/// Packed elements, one in a byte each, as ml_dtypes has them.
static nb::object unpack(const DLTensor &tensor, const ElementType &element) {
  nb::list shape;
  int64_t count = 1;
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    shape.append(tensor.shape[i]);
    count *= tensor.shape[i];
  }
  auto bytes = std::make_unique<uint8_t[]>(count);
  const auto *from =
      static_cast<const uint8_t *>(tensor.data) + tensor.byte_offset;
  unsigned perByte = 8 / element.bits;
  uint8_t mask = (1u << element.bits) - 1;
  uint8_t sign = element.code == kDLInt ? 1u << (element.bits - 1) : uint8_t(0);
  for (int64_t i = 0; i < count; ++i) {
    uint8_t bits = from[i / perByte] >> (i % perByte * element.bits) & mask;
    bytes[i] = static_cast<uint8_t>((bits ^ sign) - sign);
  }
  nb::capsule owner(bytes.get(), [](void *pointer) noexcept {
    delete[] static_cast<uint8_t *>(pointer);
  });
  uint8_t *data = bytes.release();
  return makeArray(data, tensor.shape, tensor.ndim, nullptr, {kDLUInt, 8, 1},
                   owner)
      .attr("view")(mlDtype(element.numpy));
}

static nb::object tensorToPython(const DLTensor &tensor, nb::handle owner) {
  const ElementType *element = findElementType(tensor.dtype);
  if (!element)
    throw std::runtime_error("the model returned a tensor of an unknown type");
  if (element->bits < 8)
    return unpack(tensor, *element);
  void *data = static_cast<char *>(tensor.data) + tensor.byte_offset;
  if (!element->mlDtypes)
    return makeArray(data, tensor.shape, tensor.ndim, tensor.strides,
                     tensor.dtype, owner);
  return makeArray(data, tensor.shape, tensor.ndim, tensor.strides,
                   {kDLUInt, element->bits, 1}, owner)
      .attr("view")(mlDtype(element->numpy));
}

static nb::object stringsToPython(const loopc_strings &strings) {
  nb::list shape;
  int64_t count = 1;
  for (int32_t i = 0; i < strings.ndim; ++i) {
    shape.append(strings.shape[i]);
    count *= strings.shape[i];
  }
  nb::list texts;
  for (int64_t i = 0; i < count; ++i) {
    // Bytes that are not UTF-8 survive the way back into a model.
    nb::object text = nb::steal(PyUnicode_DecodeUTF8(
        strings.data[i].data, static_cast<Py_ssize_t>(strings.data[i].size),
        "surrogateescape"));
    if (!text.is_valid())
      throw nb::python_error();
    texts.append(text);
  }
  nb::module_ numpy = nb::module_::import_("numpy");
  nb::object array = numpy.attr("empty")(count, "object");
  array[nb::slice(nb::none(), nb::none(), nb::none())] = texts;
  return array.attr("reshape")(nb::tuple(shape));
}

static nb::object toPython(const loopc_value &value, nb::handle owner) {
  switch (value.kind) {
  case LOOPC_TENSOR:
    return tensorToPython(value.as.tensor, owner);
  case LOOPC_STRINGS:
    return stringsToPython(value.as.strings);
  case LOOPC_SEQUENCE: {
    nb::list list;
    for (size_t i = 0; i < value.as.sequence.count; ++i)
      list.append(toPython(value.as.sequence.items[i], owner));
    return list;
  }
  case LOOPC_OPTIONAL:
    if (!value.as.optional.value)
      return nb::none();
    return toPython(*value.as.optional.value, owner);
  default:
    throw std::runtime_error("the model returned a value of an unknown kind");
  }
}

nb::object loopc::python::takeOutput(loopc_value &value, nb::handle keep) {
  if (isOnDevice(value))
    return nb::cast(std::make_unique<DeviceTensor>(value, nb::borrow(keep)));
  auto holder = std::make_unique<Owner>();
  holder->value = value;
  holder->keep = nb::borrow(keep);
  value = {};
  nb::capsule owner(holder.get(), [](void *pointer) noexcept {
    delete static_cast<Owner *>(pointer);
  });
  const loopc_value &taken = holder.release()->value;
  return toPython(taken, owner);
}

/// A dict for each row of `values`, whose column `order[k]` belongs to key `k`.
template <typename T, typename Make>
static nb::list makeDicts(const nb::list &keys,
                          const std::vector<size_t> &order, const T *values,
                          size_t rows, Make make) {
  nb::list dicts;
  size_t columns = order.size();
  for (size_t row = 0; row < rows; ++row, values += columns) {
    nb::dict dict;
    for (size_t k = 0; k < columns; ++k) {
      nb::object value = nb::steal(make(values[order[k]]));
      if (!value.is_valid() ||
          PyDict_SetItem(dict.ptr(), keys[k].ptr(), value.ptr()) != 0)
        throw nb::python_error();
    }
    dicts.append(dict);
  }
  return dicts;
}

nb::list loopc::python::makeDicts(const nb::list &keys,
                                  const std::vector<size_t> &order,
                                  const MapRows &values) {
  size_t rows = values.shape(0), columns = values.shape(1);
  if (keys.size() != columns || order.size() != columns ||
      std::any_of(order.begin(), order.end(),
                  [&](size_t column) { return column >= columns; }))
    throw ArgumentError("a map has other keys than values");
  const void *data = values.data();
  if (values.dtype() == nb::dtype<float>())
    return ::makeDicts(keys, order, static_cast<const float *>(data), rows,
                       PyFloat_FromDouble);
  if (values.dtype() == nb::dtype<double>())
    return ::makeDicts(keys, order, static_cast<const double *>(data), rows,
                       PyFloat_FromDouble);
  if (values.dtype() == nb::dtype<int64_t>())
    return ::makeDicts(keys, order, static_cast<const int64_t *>(data), rows,
                       PyLong_FromLongLong);
  throw ArgumentTypeError("a map has values of an unknown type");
}
