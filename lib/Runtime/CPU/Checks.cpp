//===- Checks.cpp - Checks of ports and tensors -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Border.h"
#include "DeviceBorder.h"

using namespace loopc::rt;

/// Types of ports nest no deeper: what walks them and their values recurses.
static constexpr int kMaxNesting = 16;

static int32_t checkPortType(loopc_run &run, const PortName &port,
                             const loopc_type *type, int nesting) {
  if (!type)
    return recordPortError(run, LOOPC_ERROR_ABI, port,
                           nesting ? "the model gives no element type"
                                   : "the model gives no type");
  if (nesting > kMaxNesting)
    return recordPortError(run, LOOPC_ERROR_ABI, port,
                           "the type is nested too deeply");
  switch (type->kind) {
  case LOOPC_TENSOR:
  case LOOPC_STRINGS:
    break;
  case LOOPC_SEQUENCE:
  case LOOPC_OPTIONAL:
    return checkPortType(run, port, type->element, nesting + 1);
  default:
    return recordPortError(
        run, LOOPC_ERROR_ABI, port,
        "values of kind %d are not supported by this runtime", type->kind);
  }
  ElementLayout layout;
  if (type->kind == LOOPC_TENSOR && !getElementLayout(type->dtype, layout))
    return recordPortError(run, LOOPC_ERROR_ABI, port,
                           "dtype %s is not supported by this runtime",
                           DtypeText(type->dtype).text);
  if (type->rank < -1 || (type->rank > 0 && !type->dims))
    return recordPortError(run, LOOPC_ERROR_ABI, port,
                           "the model gives no valid shape");
  return LOOPC_OK;
}

int32_t loopc::rt::checkPortType(loopc_run &run, const PortName &port,
                                 const loopc_type *type) {
  return ::checkPortType(run, port, type, /*nesting=*/0);
}

/// True where the address of an element might not fit 63 bits.
static bool overflowsStrides(const DLTensor &tensor, uint32_t elementBytes) {
  if (!tensor.strides)
    return false;
  int64_t span = 0;
  for (int32_t dim = 0; dim < tensor.ndim; ++dim) {
    int64_t extent = tensor.shape[dim];
    if (extent <= 1)
      continue;
    int64_t stride = tensor.strides[dim];
    if (stride == INT64_MIN)
      return true;
    int64_t reach;
    if (__builtin_mul_overflow(stride < 0 ? -stride : stride, extent, &reach) ||
        __builtin_add_overflow(span, reach, &span))
      return true;
  }
  int64_t bytes;
  return __builtin_mul_overflow(span, int64_t{elementBytes}, &bytes);
}

static int32_t checkKind(loopc_run &run, int32_t code, const PortName &port,
                         const loopc_type &type, const loopc_value &value) {
  if (value.kind != type.kind)
    return recordPortError(run, code, port, "kind %s, expected %s",
                           getKindName(value.kind), getKindName(type.kind));
  if (value.flags != 0)
    return recordPortError(run, code, port, "unknown flags 0x%x",
                           static_cast<unsigned>(value.flags));
  return LOOPC_OK;
}

/// Checks a shape of the caller, except for the extents that `type` gives, and
/// counts its elements.
static int32_t checkShape(loopc_run &run, int32_t code, const PortName &port,
                          const loopc_type &type, int32_t rank,
                          const int64_t *shape, uint32_t elementBytes,
                          int64_t &count) {
  if (type.rank >= 0 && rank != type.rank)
    return recordPortError(run, code, port, "rank %d, expected %d", rank,
                           type.rank);
  if (rank < 0)
    return recordPortError(run, code, port, "rank %d", rank);
  if (rank > 0 && !shape)
    return recordPortError(run, code, port, "the shape is null");
  for (int32_t dim = 0; dim < rank; ++dim)
    if (shape[dim] < 0)
      return recordPortError(run, code, port, "dimension %d is %lld", dim,
                             static_cast<long long>(shape[dim]));
  if (!getNumElements(rank, shape, elementBytes, count))
    return recordPortError(run, code, port, "shape %s has too many elements",
                           ShapeText(rank, shape).text);
  return LOOPC_OK;
}

/// The host's memory is good for every model, a GPU's where it is that of the
/// run.
static int32_t checkPlace(loopc_run &run, int32_t code, const PortName &port,
                          const DLDevice &device) {
  if (device.device_type == kDLCPU || device.device_type == kDLCUDAHost)
    return LOOPC_OK;
  if (!isOfDevice(device))
    return recordPortError(
        run, code, port,
        "the data is on a device of type %d, expected the CPU (%d)%s",
        device.device_type, static_cast<int>(kDLCPU),
        run.deviceProgram ? " or a CUDA device" : "");
  if (!run.deviceProgram)
    return recordPortError(run, code, port,
                           "the data is on CUDA device %d, but the model was "
                           "compiled for the CPU",
                           device.device_id);
  if (run.deviceNumber != kAnyDevice && device.device_id != run.deviceNumber)
    return recordPortError(
        run, code, port,
        "the data is on CUDA device %d, but the model runs on device %d",
        device.device_id, run.deviceNumber);
  return LOOPC_OK;
}

int32_t loopc::rt::checkTensor(loopc_run &run, int32_t code,
                               const PortName &port, const loopc_type &type,
                               const loopc_value &value) {
  if (int32_t status = checkKind(run, code, port, type, value))
    return status;
  const DLTensor &tensor = value.as.tensor;
  if (!(tensor.dtype == type.dtype))
    return recordPortError(run, code, port, "dtype %s, expected %s",
                           DtypeText(tensor.dtype).text,
                           DtypeText(type.dtype).text);
  ElementLayout layout;
  getElementLayout(type.dtype, layout);
  int64_t count;
  if (int32_t status = checkShape(run, code, port, type, tensor.ndim,
                                  tensor.shape, layout.innerBytes, count))
    return status;
  if (int32_t status = checkPlace(run, code, port, tensor.device))
    return status;
  if (count != 0 && !tensor.data)
    return recordPortError(run, code, port, "the data is null");
  if (count != 0 && overflowsStrides(tensor, layout.innerBytes))
    return recordPortError(run, code, port, "the strides are out of range");
  return LOOPC_OK;
}

/// Checks a tensor of strings of the caller.
static int32_t checkStrings(loopc_run &run, const PortName &port,
                            const loopc_type &type, const loopc_value &value) {
  const loopc_strings &strings = value.as.strings;
  int64_t count;
  if (int32_t status =
          checkShape(run, LOOPC_ERROR_INPUT, port, type, strings.ndim,
                     strings.shape, sizeof(loopc_string), count))
    return status;
  if (count != 0 && !strings.data)
    return recordPortError(run, LOOPC_ERROR_INPUT, port, "the data is null");
  for (int64_t i = 0; i < count; ++i) {
    const loopc_string &string = strings.data[i];
    if (string.size != 0 && !string.data)
      return recordPortError(run, LOOPC_ERROR_INPUT, port,
                             "string %lld is null", static_cast<long long>(i));
    if (string.size > INT64_MAX)
      return recordPortError(run, LOOPC_ERROR_INPUT, port,
                             "string %lld has %zu bytes",
                             static_cast<long long>(i), string.size);
  }
  return LOOPC_OK;
}

/// The extents of a value are those that its type gives.
static int32_t checkExtents(loopc_run &run, const PortName &port,
                            const loopc_type &type, const int64_t *shape) {
  for (int32_t dim = 0; dim < type.rank; ++dim) {
    long long expected = type.dims[dim].extent;
    if (expected >= 0 && shape[dim] != expected)
      return recordPortError(run, LOOPC_ERROR_INPUT, port,
                             "dimension %d is %lld, expected %lld", dim,
                             static_cast<long long>(shape[dim]), expected);
  }
  return LOOPC_OK;
}

int32_t loopc::rt::checkInputValue(loopc_run &run, const PortName &port,
                                   const loopc_type &type,
                                   const loopc_value &value) {
  if (type.kind == LOOPC_TENSOR) {
    if (int32_t status = checkTensor(run, LOOPC_ERROR_INPUT, port, type, value))
      return status;
    return checkExtents(run, port, type, value.as.tensor.shape);
  }
  if (int32_t status = checkKind(run, LOOPC_ERROR_INPUT, port, type, value))
    return status;
  if (type.kind == LOOPC_STRINGS) {
    if (int32_t status = checkStrings(run, port, type, value))
      return status;
    return checkExtents(run, port, type, value.as.strings.shape);
  }
  if (type.kind == LOOPC_OPTIONAL) {
    const loopc_value *held = value.as.optional.value;
    return held ? checkInputValue(run, port, *type.element, *held) : LOOPC_OK;
  }
  const loopc_sequence &sequence = value.as.sequence;
  if (sequence.count != 0 && !sequence.items)
    return recordPortError(run, LOOPC_ERROR_INPUT, port, "the items are null");
  for (size_t i = 0; i < sequence.count; ++i) {
    ElementPath path = {port.element, i};
    PortName item = port;
    item.element = &path;
    if (int32_t status =
            checkInputValue(run, item, *type.element, sequence.items[i]))
      return status;
  }
  return LOOPC_OK;
}
