//===- OrtApi.h - onnxruntime's objects for custom operators ----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library of custom operators for onnxruntime calls onnxruntime by a table of
// functions, whose places and types are fixed (OrtApi of onnxruntime_c_api.h).
// loopc fills such a table: with the functions that kernels on the CPU call,
// and elsewhere with one that returns an error. The objects behind the pointers
// that they hand out, which are opaque to the library, are declared here.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_SUPPORT_ORTAPI_H
#define LOOPC_LIB_SUPPORT_ORTAPI_H

#include "loopc-rt/custom.h"

#include <memory>
#include <string>
#include <vector>

struct OrtApi;
struct OrtAllocator;
struct OrtCustomOp;

/// An error; null is success.
struct OrtStatus {
  int32_t code;
  std::string message;
};

/// What RegisterCustomOps fills.
struct OrtCustomOpDomain {
  std::string name;
  std::vector<const OrtCustomOp *> operators;
};
struct OrtSessionOptions {
  std::vector<const OrtCustomOpDomain *> domains;
};

struct OrtTensorTypeAndShapeInfo {
  int32_t elementType = 0;
  std::vector<int64_t> shape; ///< -1 where an extent is not known
  bool hasShape = false;
};
struct OrtTypeInfo {
  OrtTensorTypeAndShapeInfo tensor;
};

/// A tensor: an input or output of a call, or one that the library made.
struct OrtValue {
  int32_t elementType = 0;
  const int64_t *shape = nullptr;
  size_t rank = 0;
  size_t count = 0;
  void *data = nullptr;
  /// Whose memory texts are in; null for what the library made.
  loopc_custom_call *call = nullptr;
  std::vector<int64_t> ownShape;
  std::shared_ptr<void> ownData;
};

/// A node, while its kernel is made.
struct OrtKernelInfo {
  struct Port {
    std::string name;
    OrtTypeInfo type;
  };
  struct Attribute {
    std::string name;
    loopc_custom_kind kind;
    std::vector<int64_t> integers;
    std::vector<float> floats;
    std::vector<std::string> texts;
  };
  std::string nodeName, domain, operatorName;
  int sinceVersion = 1;
  std::vector<Port> inputs, outputs;
  std::vector<Attribute> attributes;
};

/// A call of a kernel.
struct OrtKernelContext {
  loopc_custom_call *call;
  std::vector<OrtValue> inputs, outputs;
  std::vector<std::shared_ptr<void>> scratch;
};

/// The entry of the interface: the first member of the struct that a library
/// calls OrtApiBase, and the second.
struct OrtApiBase {
  const OrtApi *(*GetApi)(uint32_t version);
  const char *(*GetVersionString)();
};

namespace loopc::ort {

/// What GetApi of onnxruntime returns to a library, and what has it.
const OrtApi *getApi();
const OrtApiBase *getApiBase();

/// The number in onnxruntime (ONNX's TensorProto.DataType) of an element type,
/// and NumPy's name of a number that custom operators may have, else null.
int32_t getElementType(DLDataType type);
const char *getTypeName(int32_t elementType);

/// Takes the message out of `status`, which must not be null, and releases it.
std::string takeMessage(OrtStatus *status);

} // namespace loopc::ort

#endif // LOOPC_LIB_SUPPORT_ORTAPI_H
