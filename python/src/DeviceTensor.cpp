//===- DeviceTensor.cpp - Tensors on a GPU, in Python ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTensor.h"

#include "loopc-c/loopc.h"

#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>

using namespace loopc::python;
using namespace nanobind::literals;

/// Raises loopc's exception for `error`.
[[noreturn]] static void raise(const loopc_error &error) {
  nb::object exception = nb::module_::import_("loopc._errors")
                             .attr("run_error")(error.status, error.message);
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  throw nb::python_error();
}

DeviceTensor::DeviceTensor(loopc_value &value, nb::object keep)
    : owned(std::make_shared<Owned>()) {
  owned->value = value;
  owned->keep = std::move(keep);
  value = {};
}

std::unique_ptr<DeviceTensor>
DeviceTensor::view(int device, const std::string &dtype,
                   const std::vector<int64_t> &shape, uintptr_t address) {
  const ElementType *element = findNamedElementType(dtype);
  if (!element || element->bits < 8)
    throw ArgumentError("element_type: " + dtype +
                        " cannot be bound by its address");
  auto owned = std::make_shared<Owned>();
  owned->shape = shape;
  owned->value.kind = LOOPC_TENSOR;
  DLTensor &tensor = owned->value.as.tensor;
  tensor.data = reinterpret_cast<void *>(address);
  tensor.device = {kDLCUDA, device};
  tensor.dtype = {element->code, element->bits, 1};
  tensor.ndim = static_cast<int32_t>(shape.size());
  tensor.shape = owned->shape.data();
  return std::unique_ptr<DeviceTensor>(new DeviceTensor(std::move(owned)));
}

std::unique_ptr<DeviceTensor> DeviceTensor::upload(int device,
                                                   nb::handle array) {
  static const loopc_type tensorType = {LOOPC_TENSOR, -1,     {}, 0,
                                        nullptr,      nullptr};
  Inputs arena;
  loopc_value value, result = {};
  arena.convert(array, tensorType, "value", value);
  if (value.kind != LOOPC_TENSOR)
    throw ArgumentError("value: only numbers can be on a device");
  loopc_error error = {};
  int status;
  {
    nb::gil_scoped_release unlocked;
    status = loopc_value_upload(device, &value, &result, &error);
  }
  if (status != LOOPC_OK)
    raise(error);
  return std::make_unique<DeviceTensor>(result, nb::object());
}

std::unique_ptr<DeviceTensor> DeviceTensor::fromDLPack(nb::handle object) {
  static const loopc_type tensorType = {LOOPC_TENSOR, -1,     {}, 0,
                                        nullptr,      nullptr};
  auto owned = std::make_shared<Owned>();
  owned->arena = std::make_shared<Inputs>(uintptr_t(0));
  owned->arena->convert(object, tensorType, "data", owned->value);
  const DLTensor &tensor = owned->value.as.tensor;
  if (!isOnDevice(owned->value) || !findElementType(tensor.dtype))
    throw ArgumentError("data: expected a tensor on a CUDA device");
  int64_t stride = 1;
  bool isInOrder = true;
  for (int32_t i = tensor.ndim; tensor.strides && i-- > 0;) {
    isInOrder &= tensor.shape[i] == 1 || tensor.strides[i] == stride;
    stride *= tensor.shape[i];
  }
  if (!isInOrder)
    throw ArgumentError("data: expected a tensor in C order");
  return std::unique_ptr<DeviceTensor>(new DeviceTensor(std::move(owned)));
}

nb::tuple DeviceTensor::getShape() const {
  const DLTensor &tensor = getValue().as.tensor;
  nb::list shape;
  for (int32_t i = 0; i < tensor.ndim; ++i)
    shape.append(tensor.shape[i]);
  return nb::tuple(shape);
}

std::string DeviceTensor::getDtype() const {
  const ElementType *element = findElementType(getValue().as.tensor.dtype);
  return element ? element->numpy : "unknown";
}

uintptr_t DeviceTensor::getAddress() const {
  const DLTensor &tensor = getValue().as.tensor;
  return reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset;
}

size_t DeviceTensor::getBytes() const {
  const DLTensor &tensor = getValue().as.tensor;
  size_t bits = tensor.dtype.bits;
  for (int32_t i = 0; i < tensor.ndim; ++i)
    bits *= static_cast<size_t>(tensor.shape[i]);
  return (bits + 7) / 8;
}

namespace {
/// A tensor of the host that a value owns.
struct HostCopy {
  std::vector<int64_t> shape;
  std::unique_ptr<char[]> bytes;
};
} // namespace

nb::object DeviceTensor::toNumpy() const {
  const DLTensor &source = getValue().as.tensor;
  auto copy = std::make_unique<HostCopy>();
  copy->shape.assign(source.shape, source.shape + source.ndim);
  size_t bytes = getBytes();
  copy->bytes = std::make_unique<char[]>(bytes ? bytes : 1);
  loopc_error error = {};
  int status;
  {
    nb::gil_scoped_release unlocked;
    status =
        loopc_value_download(&getValue(), copy->bytes.get(), bytes, &error);
  }
  if (status != LOOPC_OK)
    raise(error);
  loopc_value value = {};
  value.kind = LOOPC_TENSOR;
  value.as.tensor = source;
  value.as.tensor.device = {kDLCPU, 0};
  value.as.tensor.data = copy->bytes.get();
  value.as.tensor.byte_offset = 0;
  value.as.tensor.shape = copy->shape.data();
  value.context = copy.release();
  value.release = [](loopc_value *self) {
    delete static_cast<HostCopy *>(self->context);
    *self = {};
  };
  return takeOutput(value, nb::none());
}

//===----------------------------------------------------------------------===//
// DLPack
//===----------------------------------------------------------------------===//

namespace {
/// DLPack's managed tensor of either kind, with the owner of its memory.
template <typename Managed> struct Exported {
  Managed managed = {};
  std::shared_ptr<void> owner;

  static void destroy(Managed *self) {
    auto *exported = reinterpret_cast<Exported *>(self);
    // The memory may be kept by Python objects.
    nb::gil_scoped_acquire locked;
    delete exported;
  }
};
} // namespace

template <typename Managed>
static nb::object makeCapsule(std::unique_ptr<Exported<Managed>> exported,
                              const char *name) {
  exported->managed.deleter = Exported<Managed>::destroy;
  PyObject *capsule =
      PyCapsule_New(&exported->managed, name, [](PyObject *self) {
        // Whoever takes the tensor renames the capsule.
        const char *current = PyCapsule_GetName(self);
        if (!PyCapsule_IsValid(self, "dltensor") &&
            !PyCapsule_IsValid(self, "dltensor_versioned"))
          return;
        auto *managed =
            static_cast<Managed *>(PyCapsule_GetPointer(self, current));
        managed->deleter(managed);
      });
  if (!capsule)
    throw nb::python_error();
  exported.release();
  return nb::steal(capsule);
}

nb::object DeviceTensor::toDLPack(bool versioned) const {
  const DLTensor &tensor = getValue().as.tensor;
  if (tensor.dtype.bits < 8)
    throw ArgumentError("elements of less than a byte have no form in DLPack "
                        "that others read: use numpy()");
  if (versioned) {
    auto exported = std::make_unique<Exported<ManagedTensorVersioned>>();
    exported->managed.version = {1, 0};
    exported->managed.tensor = tensor;
    exported->owner = owned;
    return makeCapsule(std::move(exported), "dltensor_versioned");
  }
  auto exported = std::make_unique<Exported<DLManagedTensor>>();
  exported->managed.dl_tensor = tensor;
  exported->owner = owned;
  return makeCapsule(std::move(exported), "dltensor");
}

/// `__dlpack__` as the array API has it. The tensor was complete when the run
/// that made it returned, so there is no stream to wait for.
static nb::object exportTensor(const DeviceTensor &self, nb::handle,
                               nb::handle maxVersion, nb::handle device,
                               nb::handle copy) {
  bool toHost =
      !device.is_none() && nb::cast<int>(nb::object(device[0])) == kDLCPU;
  if (toHost)
    return self.toNumpy().attr("__dlpack__")();
  if (!device.is_none() &&
      nb::cast<int>(nb::object(device[1])) != self.getDevice())
    throw ArgumentError("dl_device: the tensor is on device " +
                        std::to_string(self.getDevice()));
  if (!copy.is_none() && nb::cast<bool>(copy))
    throw ArgumentError("copy: the tensor is not copied on its device");
  bool versioned =
      !maxVersion.is_none() && nb::cast<int>(nb::object(maxVersion[0])) >= 1;
  return self.toDLPack(versioned);
}

void loopc::python::defineDeviceTensor(nb::module_ &module) {
  nb::class_<DeviceTensor>(module, "DeviceTensor")
      .def_prop_ro("shape", &DeviceTensor::getShape)
      .def_prop_ro("dtype", &DeviceTensor::getDtype)
      .def_prop_ro("device_id", &DeviceTensor::getDevice)
      .def_prop_ro("data_ptr", &DeviceTensor::getAddress)
      .def_prop_ro("nbytes", &DeviceTensor::getBytes)
      .def("numpy", &DeviceTensor::toNumpy)
      .def("__dlpack__", &exportTensor, nb::kw_only(), "stream"_a = nb::none(),
           "max_version"_a = nb::none(), "dl_device"_a = nb::none(),
           "copy"_a = nb::none())
      .def("__dlpack_device__",
           [](const DeviceTensor &self) {
             return nb::make_tuple(static_cast<int>(kDLCUDA), self.getDevice());
           })
      .def("__repr__", [](const DeviceTensor &self) {
        return "<DeviceTensor " + self.getDtype() +
               nb::cast<std::string>(nb::repr(nb::list(self.getShape()))) +
               " on cuda:" + std::to_string(self.getDevice()) + ">";
      });
  module.def("device_view", &DeviceTensor::view, "device"_a, "dtype"_a,
             "shape"_a, "address"_a);
  module.def("device_from_dlpack", &DeviceTensor::fromDLPack, "object"_a);
  module.def("upload", &DeviceTensor::upload, "device"_a, "array"_a);
  module.def("device_count", [] {
    loopc_error error = {};
    int count = loopc_device_count(&error);
    return nb::make_tuple(count, static_cast<const char *>(error.message));
  });
  module.def("device_chip", [](int device) {
    char chip[16];
    loopc_error error = {};
    if (loopc_device_chip(device, chip, sizeof(chip), &error) != LOOPC_OK)
      raise(error);
    return std::string(chip);
  });
}
