//===- dlpack.h - Tensor descriptors of the DLPack ABI ----------*- C -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the DLPack 1.1 ABI that loopc uses. Binary compatible with the
// project's own dlpack.h; where that one was included first, it is used.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_RT_DLPACK_H
#define LOOPC_RT_DLPACK_H

#include <stddef.h>
#include <stdint.h>

#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#ifdef __cplusplus
extern "C" {
#endif

/// Where the memory of a tensor lives.
typedef enum {
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLCUDAManaged = 13
} DLDeviceType;

typedef struct {
  int32_t device_type; ///< a DLDeviceType
  int32_t device_id;   ///< 0 for the CPU
} DLDevice;

/// Kind of an element.
typedef enum {
  kDLInt = 0U,
  kDLUInt = 1U,
  kDLFloat = 2U,
  kDLOpaqueHandle = 3U,
  kDLBfloat = 4U,
  kDLComplex = 5U,
  kDLBool = 6U,
  kDLFloat8_e3m4 = 7U,
  kDLFloat8_e4m3 = 8U,
  kDLFloat8_e4m3b11fnuz = 9U,
  kDLFloat8_e4m3fn = 10U,
  kDLFloat8_e4m3fnuz = 11U,
  kDLFloat8_e5m2 = 12U,
  kDLFloat8_e5m2fnuz = 13U,
  kDLFloat8_e8m0fnu = 14U,
  kDLFloat6_e2m3fn = 15U,
  kDLFloat6_e3m2fn = 16U,
  kDLFloat4_e2m1fn = 17U
} DLDataTypeCode;

/// An element type. `bits` is the width of one element: 4-bit and 2-bit types
/// are packed, first element in the low bits; bool is 8 bits.
typedef struct {
  uint8_t code; ///< a DLDataTypeCode
  uint8_t bits;
  uint16_t lanes; ///< 1
} DLDataType;

/// A strided tensor that somebody else owns. `strides` counts elements and
/// may be null: then the tensor is in C order without gaps.
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} DLTensor;

/// A tensor with its owner.
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

#ifdef __cplusplus
} // extern "C"
#endif

#endif // DLPACK_DLPACK_H_
#endif // LOOPC_RT_DLPACK_H
