//===- OrtTable.h - The table of onnxruntime's functions ------ -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_SUPPORT_ORTTABLE_H
#define LOOPC_LIB_SUPPORT_ORTTABLE_H

#include "OrtApi.h"

#include <array>
#include <cstddef>

struct OrtLogger;
struct OrtMemoryInfo;
/// The members that a library may call, in the order that they have there.
struct OrtAllocator {
  uint32_t version;
  void *(*Alloc)(OrtAllocator *self, size_t bytes);
  void (*Free)(OrtAllocator *self, void *data);
  const OrtMemoryInfo *(*Info)(const OrtAllocator *self);
  void *(*Reserve)(OrtAllocator *self, size_t bytes);
  OrtStatus *(*GetStats)(const OrtAllocator *self, void **pairs);
  void *(*AllocOnStream)(OrtAllocator *self, size_t bytes, void *stream);
};

namespace loopc::ort {

/// OrtErrorCode.
enum : int32_t { kFail = 1, kInvalidArgument = 2, kNotImplemented = 9 };

/// ONNXTensorElementDataType.
inline constexpr int32_t kString = 8;

/// A place of the table. Versions behind this one have more of them than are
/// known, which libraries may call.
using Place = void (*)();
inline constexpr size_t kPlaces = 512;
using Table = std::array<Place, kPlaces>;

template <typename Function>
void set(Table &table, size_t place, Function *function) {
  table[place] = reinterpret_cast<Place>(function);
}

/// Fills the places of functions for nodes and for calls of their kernels.
void setKernels(Table &table);

/// A status that is an error.
OrtStatus *fail(int32_t code, std::string message);

/// What functions of the kind ReleaseSomething do.
template <typename T> void release(T *object) { delete object; }

OrtAllocator *getAllocator();
const OrtLogger *getLogger();

/// The elements of a tensor of texts.
inline loopc_string *textsOf(const OrtValue *value) {
  return static_cast<loopc_string *>(value->data);
}

} // namespace loopc::ort

#endif // LOOPC_LIB_SUPPORT_ORTTABLE_H
