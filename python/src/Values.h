//===- Values.h - Python objects at the border of a model -------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_PYTHON_VALUES_H
#define LOOPC_PYTHON_VALUES_H

#include "loopc-rt/loopc_rt.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

namespace loopc::python {

namespace nb = nanobind;

/// A wrong argument of the caller: loopc.InvalidArgument in Python.
struct ArgumentError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An argument of a wrong Python type: loopc.InvalidType in Python.
struct ArgumentTypeError : ArgumentError {
  using ArgumentError::ArgumentError;
};

/// An element type in its three worlds.
struct ElementType {
  uint8_t code;
  uint8_t bits;
  int32_t onnxType;
  const char *onnxName; ///< as in "tensor(float)"
  const char *numpy;    ///< name of the type in numpy or ml_dtypes
  bool mlDtypes;        ///< ml_dtypes defines it
};

/// The row of `dtype`; null where there is none.
const ElementType *findElementType(DLDataType dtype);

/// The row of numpy's or ml_dtypes' type `name`; null where there is none.
const ElementType *findNamedElementType(const std::string &name);

/// DLPack 1.x's managed tensor.
struct ManagedTensorVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void *managerContext;
  void (*deleter)(ManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor tensor;
};

/// "tensor(float)", "seq(tensor(int64))", "optional(tensor(string))", ...
std::string typeName(const loopc_type &type);

/// The inputs of one run. Holds on to every Python object whose memory the
/// values point into, and to what had to be copied; it is destroyed under the
/// GIL.
class Inputs {
public:
  Inputs() = default;
  /// Of a model for GPUs: tensors on one are taken, when what writes them is
  /// done for work on `stream`, a CUstream (null: CUDA's default stream).
  explicit Inputs(uintptr_t stream) : takesDevice(true), stream(stream) {}
  Inputs(const Inputs &) = delete;
  Inputs &operator=(const Inputs &) = delete;
  ~Inputs();

  /// Describes `object` as a value for a port of type `type`. `where` is how
  /// messages call it: "input 'x'". Throws ArgumentError.
  void convert(nb::handle object, const loopc_type &type,
               const std::string &where, loopc_value &value);

  /// The same for an input of a model, which may be a list for a tensor, too.
  void convertInput(nb::handle object, const loopc_type &type,
                    const std::string &where, loopc_value &value);

private:
  void convertTensor(nb::handle object, const std::string &where,
                     loopc_value &value);
  void convertArray(nb::handle array, const std::string &where,
                    loopc_value &value);
  void convertBuffer(nb::handle array, const ElementType &element,
                     const std::string &where, loopc_value &value);
  void convertPacked(nb::handle array, const ElementType &element,
                     const std::string &where, loopc_value &value);
  void convertStrings(nb::handle array, const std::string &where,
                      loopc_value &value);
  void convertDLPack(nb::handle object, const std::string &where,
                     loopc_value &value);
  void convertSequence(nb::handle object, const loopc_type &type,
                       const std::string &where, loopc_value &value);
  Py_buffer *getBuffer(nb::handle array, const std::string &where);
  int64_t *integers(size_t count);
  nb::object makeCapsule(nb::handle object, int deviceType);

  bool takesDevice = false;
  uintptr_t stream = 0;
  std::vector<nb::object> objects;
  std::deque<Py_buffer> buffers;
  std::deque<std::vector<int64_t>> shapes;
  std::deque<std::vector<uint8_t>> bytes;
  std::deque<std::vector<loopc_string>> strings;
  std::deque<std::vector<loopc_value>> items;
};

/// Makes a Python value of `value`, whose memory it takes over: numpy arrays
/// that share it, lists, None, arrays of str. `value` is zeroed. `keep` lives
/// as long as the memory is in use.
nb::object takeOutput(loopc_value &value, nb::handle keep);

/// Rows of the numbers of maps: f32, f64 or i64.
using MapRows = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// A dict for each row of `values`, by `keys` in their order; column `order[k]`
/// has the number of key `k`.
nb::list makeDicts(const nb::list &keys, const std::vector<size_t> &order,
                   const MapRows &values);

} // namespace loopc::python

#endif // LOOPC_PYTHON_VALUES_H
