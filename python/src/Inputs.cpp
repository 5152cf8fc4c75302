//===- Inputs.cpp - From Python objects to loopc_value --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTensor.h"
#include "Values.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

using namespace loopc::python;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static constexpr ElementType kElementTypes[] = {
// NumPy has no types of its own for bfloat16 and what came later.
#define LOOPC_ELEMENT_TYPE(NUMBER, CODE, BITS, NAME, ONNX)                     \
  {CODE, BITS, NUMBER, ONNX, NAME, NUMBER >= 16},
#include "loopc-rt/ElementTypes.def"
};

const ElementType *loopc::python::findElementType(DLDataType dtype) {
  if (dtype.lanes != 1)
    return nullptr;
  for (const ElementType &element : kElementTypes)
    if (element.code == dtype.code && element.bits == dtype.bits)
      return &element;
  return nullptr;
}

static const ElementType *findByName(std::string_view name, bool mlDtypes) {
  for (const ElementType &element : kElementTypes)
    if (element.mlDtypes == mlDtypes && name == element.numpy)
      return &element;
  return nullptr;
}

const ElementType *
loopc::python::findNamedElementType(const std::string &name) {
  const ElementType *element = findByName(name, /*mlDtypes=*/false);
  return element ? element : findByName(name, /*mlDtypes=*/true);
}

std::string loopc::python::typeName(const loopc_type &type) {
  switch (type.kind) {
  case LOOPC_STRINGS:
    return "tensor(string)";
  case LOOPC_SEQUENCE:
    return "seq(" + (type.element ? typeName(*type.element) : "") + ")";
  case LOOPC_OPTIONAL:
    return "optional(" + (type.element ? typeName(*type.element) : "") + ")";
  default:
    break;
  }
  const ElementType *element = findElementType(type.dtype);
  return std::string("tensor(") + (element ? element->onnxName : "undefined") +
         ")";
}

/// The element type of a numpy scalar type's one-letter buffer format; null
/// where the format is another (a structure, another byte order, ...).
static const ElementType *findByFormat(const char *format) {
  std::string_view text = format ? format : "B";
  if (!text.empty() && (text[0] == '@' || text[0] == '=' ||
                        text[0] == (PY_BIG_ENDIAN ? '>' : '<')))
    text.remove_prefix(1);
  auto integer = [](bool isSigned, size_t bytes) {
    return findElementType({static_cast<uint8_t>(isSigned ? kDLInt : kDLUInt),
                            static_cast<uint8_t>(8 * bytes), 1});
  };
  if (text == "Zf")
    return findElementType({kDLComplex, 64, 1});
  if (text == "Zd")
    return findElementType({kDLComplex, 128, 1});
  if (text.size() != 1)
    return nullptr;
  // Numpy names the C types with their native sizes.
  switch (text[0]) {
  case '?':
    return findElementType({kDLBool, 8, 1});
  case 'e':
    return findElementType({kDLFloat, 16, 1});
  case 'f':
    return findElementType({kDLFloat, 32, 1});
  case 'd':
    return findElementType({kDLFloat, 64, 1});
  case 'b':
    return integer(true, 1);
  case 'B':
    return integer(false, 1);
  case 'h':
    return integer(true, sizeof(short));
  case 'H':
    return integer(false, sizeof(short));
  case 'i':
    return integer(true, sizeof(int));
  case 'I':
    return integer(false, sizeof(int));
  case 'l':
    return integer(true, sizeof(long));
  case 'L':
    return integer(false, sizeof(long));
  case 'q':
    return integer(true, sizeof(long long));
  case 'Q':
    return integer(false, sizeof(long long));
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static std::string typeOf(nb::handle object) {
  return nb::cast<std::string>(nb::str(nb::type_name(object.type())));
}

/// The pending Python error as ArgumentError.
[[noreturn]] static void rethrow(const std::string &where,
                                 nb::python_error &e) {
  // Not what ends the program: SystemExit, KeyboardInterrupt.
  if (e.matches(PyExc_MemoryError) || !e.matches(PyExc_Exception))
    throw nb::python_error(std::move(e));
  std::string text = nb::cast<std::string>(nb::str(e.value()));
  throw ArgumentError(where + ": " + text);
}

/// numpy's classes, looked up once; never released: the interpreter may be
/// gone by the time that static objects are destroyed.
struct Numpy {
  nb::handle ndarray, generic, asarray, ascontiguousarray, canCast;
  static const Numpy &get() {
    static const Numpy numpy = [] {
      nb::module_ module = nb::module_::import_("numpy");
      auto attribute = [&](const char *name) {
        return nb::object(module.attr(name)).release();
      };
      return Numpy{attribute("ndarray"), attribute("generic"),
                   attribute("asarray"), attribute("ascontiguousarray"),
                   attribute("can_cast")};
    }();
    return numpy;
  }
  static bool isInstance(nb::handle object, nb::handle type) {
    return PyObject_TypeCheck(object.ptr(),
                              reinterpret_cast<PyTypeObject *>(type.ptr()));
  }
};

/// loopc.OrtValue, looked up once as those of Numpy.
static bool isOrtValue(nb::handle object) {
  static const nb::handle type =
      nb::object(nb::module_::import_("loopc._ort_value").attr("OrtValue"))
          .release();
  return Numpy::isInstance(object, type);
}

Inputs::~Inputs() {
  for (Py_buffer &buffer : buffers)
    PyBuffer_Release(&buffer);
}

int64_t *Inputs::integers(size_t count) {
  return shapes.emplace_back(count).data();
}

Py_buffer *Inputs::getBuffer(nb::handle array, const std::string &where) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_RECORDS_RO)) {
    nb::python_error error;
    rethrow(where, error);
  }
  return &buffers.emplace_back(buffer);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void Inputs::convert(nb::handle object, const loopc_type &type,
                     const std::string &where, loopc_value &value) {
  value = {};
  if (isOrtValue(object)) {
    objects.push_back(object.attr("_loopc_value"));
    object = objects.back();
  }
  switch (type.kind) {
  case LOOPC_OPTIONAL:
    value.kind = LOOPC_OPTIONAL;
    if (object.is_none() || !type.element)
      return;
    items.emplace_back(1);
    value.as.optional.value = items.back().data();
    convert(object, *type.element, where, *value.as.optional.value);
    return;
  case LOOPC_SEQUENCE:
    convertSequence(object, type, where, value);
    return;
  default:
    convertTensor(object, where, value);
  }
}

/// An array of the port's element type of a list, of lists and so on; an
/// invalid object where it has none that a list could be for. Throws
/// ArgumentError for elements of another kind: nothing is rounded.
static nb::object arrayOfList(nb::handle list, const loopc_type &type,
                              const std::string &where) {
  const Numpy &numpy = Numpy::get();
  try {
    if (type.kind == LOOPC_STRINGS)
      return numpy.asarray(list, nb::arg("dtype") = "O");
    const ElementType *element =
        type.kind == LOOPC_TENSOR ? findElementType(type.dtype) : nullptr;
    if (!element || element->mlDtypes)
      return {};
    nb::object given = numpy.asarray(list);
    nb::object dtype = given.attr("dtype");
    if (nb::cast<size_t>(given.attr("size")) &&
        !nb::cast<bool>(numpy.canCast(dtype, element->numpy, "same_kind")))
      throw ArgumentError(where + ": a list of " +
                          nb::cast<std::string>(nb::str(dtype)) +
                          " for elements of type " + element->numpy);
    return numpy.asarray(list, nb::arg("dtype") = element->numpy);
  } catch (nb::python_error &error) {
    rethrow(where, error);
  }
}

void Inputs::convertInput(nb::handle object, const loopc_type &type,
                          const std::string &where, loopc_value &value) {
  nb::object array;
  if (PyList_Check(object.ptr()))
    array = arrayOfList(object, type, where);
  if (!array.is_valid())
    return convert(object, type, where, value);
  convert(array, type, where, value);
  objects.push_back(std::move(array));
}

void Inputs::convertSequence(nb::handle object, const loopc_type &type,
                             const std::string &where, loopc_value &value) {
  if (!PyList_Check(object.ptr()) && !PyTuple_Check(object.ptr()))
    throw ArgumentTypeError(where + ": expected a list for a sequence, got " +
                            typeOf(object));
  if (!type.element)
    throw ArgumentError(where + ": the sequence has no element type");
  // A copy: conversion runs Python code, which might change a list.
  nb::object list = nb::steal(PySequence_Tuple(object.ptr()));
  size_t count = PyTuple_Size(list.ptr());
  std::vector<loopc_value> &values = items.emplace_back(count);
  for (size_t i = 0; i < count; ++i)
    convert(PyTuple_GetItem(list.ptr(), i), *type.element,
            where + " [" + std::to_string(i) + "]", values[i]);
  objects.push_back(std::move(list));
  value.kind = LOOPC_SEQUENCE;
  value.as.sequence = {values.data(), count};
}

void Inputs::convertTensor(nb::handle object, const std::string &where,
                           loopc_value &value) {
  const Numpy &numpy = Numpy::get();
  if (Numpy::isInstance(object, numpy.ndarray)) {
    convertArray(object, where, value);
  } else if (Numpy::isInstance(object, numpy.generic)) {
    nb::object array = numpy.asarray(object);
    convertArray(array, where, value);
    objects.push_back(std::move(array));
  } else if (const DeviceTensor *tensor;
             takesDevice && nb::try_cast(object, tensor)) {
    value = tensor->getValue();
    // Who owns it is not the run's concern.
    value.release = nullptr;
    value.context = nullptr;
    objects.push_back(nb::borrow(object));
  } else if (nb::hasattr(object, "__dlpack__")) {
    convertDLPack(object, where, value);
  } else {
    throw ArgumentTypeError(
        where + ": expected a numpy array or an object with __dlpack__, got " +
        (object.is_none() ? "None" : typeOf(object)));
  }
}

void Inputs::convertArray(nb::handle array, const std::string &where,
                          loopc_value &value) {
  nb::object dtype = array.attr("dtype");
  nb::object kindObject = dtype.attr("kind");
  char kind = PyUnicode_ReadChar(kindObject.ptr(), 0);
  if (kind == 'U' || kind == 'S' || kind == 'O' || kind == 'T')
    return convertStrings(array, where, value);
  if (kind == 'M' || kind == 'm')
    throw ArgumentError(where + ": dates are not an element type of a tensor");

  // The byte order of another machine, as files in the order of networks have.
  if (!nb::cast<bool>(dtype.attr("isnative"))) {
    nb::object native = array.attr("astype")(dtype.attr("newbyteorder")("="));
    return convertArray(native, where, value);
  }

  // Numpy's own types have numbers below 256; ml_dtypes' come after.
  if (nb::cast<int>(dtype.attr("num")) < 256) {
    Py_buffer *buffer = getBuffer(array, where);
    if (const ElementType *element = findByFormat(buffer->format))
      return convertBuffer(array, *element, where, value);
  } else {
    nb::object scalar = dtype.attr("type");
    std::string name = nb::cast<std::string>(nb::str(scalar.attr("__name__")));
    std::string module =
        nb::cast<std::string>(nb::str(scalar.attr("__module__")));
    if (module.starts_with("ml_dtypes"))
      if (const ElementType *element = findByName(name, /*mlDtypes=*/true)) {
        if (element->bits < 8)
          return convertPacked(array, *element, where, value);
        // The bytes under a type that the buffer protocol knows.
        nb::object view =
            array.attr("view")(element->bits == 16 ? "uint16" : "uint8");
        getBuffer(view, where);
        convertBuffer(view, *element, where, value);
        return;
      }
  }
  throw ArgumentError(where + ": arrays of type " +
                      nb::cast<std::string>(nb::repr(dtype)) +
                      " are not supported");
}

/// Describes the array whose buffer is the last of `buffers`.
void Inputs::convertBuffer(nb::handle array, const ElementType &element,
                           const std::string &where, loopc_value &value) {
  Py_buffer *buffer = &buffers.back();
  auto isPlain = [&] {
    if (reinterpret_cast<uintptr_t>(buffer->buf) %
        (element.code == kDLComplex ? buffer->itemsize / 2 : buffer->itemsize))
      return false;
    for (int i = 0; i < buffer->ndim; ++i)
      if (buffer->shape[i] > 1 && buffer->strides[i] % buffer->itemsize)
        return false;
    return true;
  };
  // DLPack counts strides in elements; a field of a structure or an array that
  // is not aligned cannot be described and is copied.
  if (!isPlain()) {
    nb::object copy = array.attr("copy")();
    buffer = getBuffer(copy, where);
  }
  value.kind = LOOPC_TENSOR;
  DLTensor &tensor = value.as.tensor;
  tensor.data = buffer->buf;
  tensor.device = {kDLCPU, 0};
  tensor.dtype = {element.code, element.bits, 1};
  tensor.ndim = buffer->ndim;
  tensor.shape = integers(buffer->ndim);
  std::copy_n(buffer->shape, buffer->ndim, tensor.shape);
  if (PyBuffer_IsContiguous(buffer, 'C'))
    return;
  tensor.strides = integers(buffer->ndim);
  for (int i = 0; i < buffer->ndim; ++i)
    tensor.strides[i] = buffer->strides[i] / buffer->itemsize;
}

/// ml_dtypes keeps 4-bit and 2-bit elements in a byte each; at the border they
/// are packed, the first in the low bits.
void Inputs::convertPacked(nb::handle array, const ElementType &element,
                           const std::string &where, loopc_value &value) {
  nb::object dense = Numpy::get().ascontiguousarray(array);
  // ascontiguousarray makes a 0-D array 1-D.
  nb::object view =
      dense.attr("view")("uint8").attr("reshape")(array.attr("shape"));
  Py_buffer *buffer = getBuffer(view, where);
  size_t perByte = 8 / element.bits;
  uint8_t mask = (1u << element.bits) - 1;
  std::vector<uint8_t> &packed =
      bytes.emplace_back((buffer->len + perByte - 1) / perByte);
  const auto *from = static_cast<const uint8_t *>(buffer->buf);
  for (Py_ssize_t i = 0; i < buffer->len; ++i)
    packed[i / perByte] |= (from[i] & mask) << (i % perByte * element.bits);
  value.kind = LOOPC_TENSOR;
  DLTensor &tensor = value.as.tensor;
  tensor.data = packed.data();
  tensor.device = {kDLCPU, 0};
  tensor.dtype = {element.code, element.bits, 1};
  tensor.ndim = buffer->ndim;
  tensor.shape = integers(buffer->ndim);
  std::copy_n(buffer->shape, buffer->ndim, tensor.shape);
}

void Inputs::convertStrings(nb::handle array, const std::string &where,
                            loopc_value &value) {
  nb::object list;
  try {
    list = array.attr("astype")("object").attr("ravel")().attr("tolist")();
  } catch (nb::python_error &error) {
    rethrow(where, error);
  }
  size_t count = nb::len(list);
  std::vector<loopc_string> &texts = strings.emplace_back(count);
  for (size_t i = 0; i < count; ++i) {
    PyObject *item = PyList_GetItem(list.ptr(), i);
    if (PyUnicode_Check(item)) {
      // The UTF-8 form is cached in the object, which `list` keeps.
      Py_ssize_t size = 0;
      const char *data = PyUnicode_AsUTF8AndSize(item, &size);
      if (!data) {
        nb::python_error error;
        rethrow(where, error);
      }
      texts[i] = {data, static_cast<size_t>(size)};
    } else if (PyBytes_Check(item)) {
      texts[i] = {PyBytes_AsString(item),
                  static_cast<size_t>(PyBytes_Size(item))};
    } else {
      throw ArgumentError(where + ": element " + std::to_string(i) +
                          " of an object array is " + typeOf(item) +
                          ", expected str or bytes");
    }
  }
  objects.push_back(std::move(list));
  nb::object shape = array.attr("shape");
  size_t rank = nb::len(shape);
  value.kind = LOOPC_STRINGS;
  value.as.strings = {texts.data(), integers(rank), static_cast<int32_t>(rank)};
  for (size_t i = 0; i < rank; ++i)
    value.as.strings.shape[i] = nb::cast<int64_t>(shape[i]);
}

//===----------------------------------------------------------------------===//
// DLPack
//===----------------------------------------------------------------------===//

/// The capsule of an object with __dlpack__.
nb::object Inputs::makeCapsule(nb::handle object, int deviceType) {
  nb::object method = object.attr("__dlpack__");
  nb::dict arguments;
  // The number of CUDA's default stream is 1.
  if (deviceType == kDLCUDA || deviceType == kDLCUDAManaged)
    arguments["stream"] = stream ? stream : uintptr_t(1);
  nb::dict versioned;
  versioned.update(arguments);
  versioned["max_version"] = nb::make_tuple(1, 1);
  try {
    return method(**versioned);
  } catch (nb::python_error &error) {
    // Producers from before DLPack 1.0 do not have the argument.
    if (!error.matches(PyExc_TypeError))
      throw;
  }
  return method(**arguments);
}

/// How messages call where a tensor lies.
static std::string describePlace(int type) {
  return type == kDLCUDA || type == kDLCUDAManaged
             ? "a CUDA device, but the model was compiled for the CPU"
             : "device type " + std::to_string(type) +
                   " of DLPack, expected the CPU";
}

void Inputs::convertDLPack(nb::handle object, const std::string &where,
                           loopc_value &value) {
  nb::object capsule;
  int type = kDLCPU;
  auto isTaken = [&](int given) {
    bool isDevice = given == kDLCUDA || given == kDLCUDAManaged;
    return given == kDLCPU || given == kDLCUDAHost || (isDevice && takesDevice);
  };
  try {
    if (nb::hasattr(object, "__dlpack_device__")) {
      nb::object device = object.attr("__dlpack_device__")();
      if (!nb::try_cast(nb::object(device[0]), type))
        throw ArgumentError(where + ": __dlpack_device__ returned " +
                            nb::cast<std::string>(nb::repr(device)));
      if (!isTaken(type))
        throw ArgumentError(where + ": the tensor lies on " +
                            describePlace(type));
    }
    capsule = makeCapsule(object, type);
  } catch (nb::python_error &error) {
    rethrow(where, error);
  }

  // The capsule is not renamed: it stays the owner and gives the tensor back
  // when it is collected after the run.
  DLTensor tensor;
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    auto *managed = static_cast<ManagedTensorVersioned *>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (managed->version.major != 1)
      throw ArgumentError(where + ": version " +
                          std::to_string(managed->version.major) +
                          " of DLPack is not supported");
    tensor = managed->tensor;
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    tensor = static_cast<DLManagedTensor *>(
                 PyCapsule_GetPointer(capsule.ptr(), "dltensor"))
                 ->dl_tensor;
  } else {
    throw ArgumentError(where + ": __dlpack__ returned " + typeOf(capsule) +
                        ", expected a DLPack capsule");
  }
  if (!isTaken(tensor.device.device_type))
    throw ArgumentError(where + ": the tensor lies on " +
                        describePlace(tensor.device.device_type));
  if (tensor.device.device_type == kDLCUDAHost)
    tensor.device = {kDLCPU, 0};
  objects.push_back(std::move(capsule));
  value.kind = LOOPC_TENSOR;
  value.as.tensor = tensor;
}
