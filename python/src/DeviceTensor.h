//===- DeviceTensor.h - Tensors on a GPU, in Python -------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_PYTHON_DEVICETENSOR_H
#define LOOPC_PYTHON_DEVICETENSOR_H

#include "Values.h"

#include <memory>

namespace loopc::python {

/// True for memory that only a GPU, or its driver, reads.
inline bool isOnDevice(const loopc_value &value) {
  int32_t type = value.as.tensor.device.device_type;
  return value.kind == LOOPC_TENSOR &&
         (type == kDLCUDA || type == kDLCUDAManaged);
}

/// A tensor on a GPU, in C order. What is made of it, by DLPack, shares it.
class DeviceTensor {
public:
  /// Takes `value` over, with its shape; `keep` lives as long.
  DeviceTensor(loopc_value &value, nb::object keep);

  /// Memory of somebody else, who keeps it: `shape` extents at `address`.
  static std::unique_ptr<DeviceTensor> view(int device,
                                            const std::string &dtype,
                                            const std::vector<int64_t> &shape,
                                            uintptr_t address);
  /// A copy on the device of a tensor of the host.
  static std::unique_ptr<DeviceTensor> upload(int device, nb::handle array);

  /// The tensor on a device of an object with __dlpack__.
  static std::unique_ptr<DeviceTensor> fromDLPack(nb::handle object);

  const loopc_value &getValue() const { return owned->value; }

  nb::tuple getShape() const;
  std::string getDtype() const;
  uintptr_t getAddress() const;
  size_t getBytes() const;
  int getDevice() const { return owned->value.as.tensor.device.device_id; }
  /// A copy as a numpy array.
  nb::object toNumpy() const;
  /// A capsule of DLPack; a versioned one where `versioned`.
  nb::object toDLPack(bool versioned) const;

private:
  struct Owned {
    loopc_value value = {};
    std::vector<int64_t> shape;
    nb::object keep;
    std::shared_ptr<Inputs> arena; ///< what keeps somebody else's memory
    ~Owned() { loopc_value_release(&value); }
  };

  explicit DeviceTensor(std::shared_ptr<Owned> owned)
      : owned(std::move(owned)) {}

  std::shared_ptr<Owned> owned;
};

void defineDeviceTensor(nb::module_ &module);

} // namespace loopc::python

#endif // LOOPC_PYTHON_DEVICETENSOR_H
