//===- Checks.cpp - Checks of ports and tensors -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Border.h"

using namespace loopc::rt;

int32_t loopc::rt::checkPortType(loopc_run &run, const PortName &port,
                                 const loopc_type *type) {
  if (!type)
    return recordPortError(run, LOOPC_ERROR_ABI, port,
                           "the model gives no type");
  switch (type->kind) {
  case LOOPC_TENSOR:
    break;
  case LOOPC_STRINGS:
    return recordPortError(run, LOOPC_ERROR_ABI, port,
                           "strings are not supported by this runtime");
  case LOOPC_SEQUENCE:
    return recordPortError(run, LOOPC_ERROR_ABI, port,
                           "sequences are not supported by this runtime");
  case LOOPC_OPTIONAL:
    return recordPortError(run, LOOPC_ERROR_ABI, port,
                           "optionals are not supported by this runtime");
  default:
    return recordPortError(
        run, LOOPC_ERROR_ABI, port,
        "values of kind %d are not supported by this runtime", type->kind);
  }
  ElementLayout layout;
  if (!getElementLayout(type->dtype, layout))
    return recordPortError(run, LOOPC_ERROR_ABI, port,
                           "dtype %s is not supported by this runtime",
                           DtypeText(type->dtype).text);
  if (type->rank < -1 || (type->rank > 0 && !type->dims))
    return recordPortError(run, LOOPC_ERROR_ABI, port,
                           "the model gives no valid shape");
  return LOOPC_OK;
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

int32_t loopc::rt::checkTensor(loopc_run &run, int32_t code,
                               const PortName &port, const loopc_type &type,
                               const loopc_value &value) {
  if (value.kind != type.kind)
    return recordPortError(run, code, port, "kind %s, expected %s",
                           getKindName(value.kind), getKindName(type.kind));
  if (value.flags != 0)
    return recordPortError(run, code, port, "unknown flags 0x%x",
                           static_cast<unsigned>(value.flags));
  const DLTensor &tensor = value.as.tensor;
  if (!(tensor.dtype == type.dtype))
    return recordPortError(run, code, port, "dtype %s, expected %s",
                           DtypeText(tensor.dtype).text,
                           DtypeText(type.dtype).text);
  if (type.rank >= 0 && tensor.ndim != type.rank)
    return recordPortError(run, code, port, "rank %d, expected %d", tensor.ndim,
                           type.rank);
  if (tensor.ndim < 0)
    return recordPortError(run, code, port, "rank %d", tensor.ndim);
  if (tensor.ndim > 0 && !tensor.shape)
    return recordPortError(run, code, port, "the shape is null");
  for (int32_t dim = 0; dim < tensor.ndim; ++dim)
    if (tensor.shape[dim] < 0)
      return recordPortError(run, code, port, "dimension %d is %lld", dim,
                             static_cast<long long>(tensor.shape[dim]));
  if (tensor.device.device_type != kDLCPU)
    return recordPortError(
        run, code, port,
        "the data is on a device of type %d, expected the CPU (%d)",
        tensor.device.device_type, static_cast<int>(kDLCPU));
  ElementLayout layout;
  getElementLayout(type.dtype, layout);
  int64_t count;
  if (!getNumElements(tensor.ndim, tensor.shape, layout.innerBytes, count))
    return recordPortError(run, code, port, "shape %s has too many elements",
                           ShapeText(tensor.ndim, tensor.shape).text);
  if (count != 0 && !tensor.data)
    return recordPortError(run, code, port, "the data is null");
  if (count != 0 && overflowsStrides(tensor, layout.innerBytes))
    return recordPortError(run, code, port, "the strides are out of range");
  return LOOPC_OK;
}
