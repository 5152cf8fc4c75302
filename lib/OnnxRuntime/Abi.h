//===- Abi.h - What is used of onnxruntime's C interface --------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No package ships onnxruntime's headers at a version that has execution
// providers as libraries. Its interface only grows: tables of functions and
// structs get members at their ends, and whoever fills a struct in says which
// version it is of. So the part that is used here is declared here: opaque
// types, the structs that a provider fills in, and, in Functions.def, functions
// by their places. Api::load tries them when the library is loaded.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_ONNXRUNTIME_ABI_H
#define LOOPC_LIB_ONNXRUNTIME_ABI_H

#include <cstddef>
#include <cstdint>

struct OrtAllocator;
struct OrtDataTransferImpl;
struct OrtEpDevice;
struct OrtEpGraphSupportInfo;
struct OrtGraph;
struct OrtHardwareDevice;
struct OrtKernelContext;
struct OrtKeyValuePairs;
struct OrtLogger;
struct OrtMemoryInfo;
struct OrtNode;
struct OrtNodeComputeContext;
struct OrtOpAttr;
struct OrtOptionalTypeInfo;
struct OrtRunOptions;
struct OrtSequenceTypeInfo;
struct OrtSessionOptions;
struct OrtStatus;
struct OrtTensorTypeAndShapeInfo;
struct OrtTypeInfo;
struct OrtValue;
struct OrtValueInfo;

/// A place of a table of functions.
using OrtPlace = void (*)();

/// What onnxruntime gives a library when it loads it.
struct OrtApiBase {
  /// The table OrtApi of a version; null where this onnxruntime is older.
  const OrtPlace *(*GetApi)(uint32_t version);
  const char *(*GetVersionString)();
};

namespace loopc::ort {

/// The version of the interface, that of onnxruntime 1.27: the first that gives
/// a fused Loop the values that its body captures.
inline constexpr uint32_t kVersion = 27;

/// OrtErrorCode.
enum ErrorCode : int32_t {
  kFail = 1,
  kInvalidArgument = 2,
  kNoSuchFile = 3,
  kRuntimeException = 6,
  kNotImplemented = 9,
  kInvalidGraph = 10,
  kProviderFail = 11,
  kLoadCancelled = 12,
};

/// OrtLoggingLevel.
enum Severity : int32_t { kVerbose = 0, kWarning = 2 };

/// ONNXType.
enum ValueKind : int32_t { kTensor = 1, kSequence = 2, kOptional = 6 };

/// ONNXTensorElementDataType; up to kLastPackedType the numbers are those of
/// ONNX's TensorProto.DataType. Elements behind kLastWholeType have less than a
/// byte, and lie as in ONNX's raw data.
enum ElementType : int32_t {
  kFloat = 1,
  kString = 8,
  kLastWholeType = 20,
  kLastPackedType = 23,
};

/// OrtOpAttrType.
enum AttributeKind : int32_t {
  kIntAttribute = 1,
  kIntsAttribute = 2,
  kFloatAttribute = 3,
  kFloatsAttribute = 4,
  kStringAttribute = 5,
  kStringsAttribute = 6,
  kGraphAttribute = 7,
  kTensorAttribute = 8,
};

/// OrtHardwareDeviceType.
inline constexpr int32_t kCpuDevice = 0;

} // namespace loopc::ort

/// How nodes are fused.
struct OrtNodeFusionOptions {
  uint32_t version;
  /// The provider has copies of constants: they are no inputs of the node.
  bool dropsConstants;
};

/// What runs a fused node.
struct OrtNodeComputeInfo {
  uint32_t version;
  OrtStatus *(*createState)(OrtNodeComputeInfo *self,
                            OrtNodeComputeContext *context, void **state);
  OrtStatus *(*compute)(OrtNodeComputeInfo *self, void *state,
                        OrtKernelContext *context);
  void (*releaseState)(OrtNodeComputeInfo *self, void *state);
};

/// An execution provider of one session: the members of kVersion, in their
/// order. What is null is not implemented, and is not called.
struct OrtEp {
  uint32_t version;
  const char *(*getName)(const OrtEp *self);
  OrtStatus *(*getCapability)(OrtEp *self, const OrtGraph *graph,
                              OrtEpGraphSupportInfo *info);
  OrtStatus *(*compile)(OrtEp *self, const OrtGraph **graphs,
                        const OrtNode **fusedNodes, size_t count,
                        OrtNodeComputeInfo **infos, OrtNode **contextNodes);
  void (*releaseNodeComputeInfos)(OrtEp *self, OrtNodeComputeInfo **infos,
                                  size_t count);
  OrtPlace getPreferredDataLayout;
  OrtPlace shouldConvertDataLayoutForOp;
  OrtStatus *(*setDynamicOptions)(OrtEp *self, const char *const *keys,
                                  const char *const *values, size_t count);
  OrtStatus *(*onRunStart)(OrtEp *self, const OrtRunOptions *options);
  OrtStatus *(*onRunEnd)(OrtEp *self, const OrtRunOptions *options,
                         bool synchronizes);
  OrtPlace createAllocator;
  OrtPlace createSyncStreamForDevice;
  const char *(*getCompiledModelCompatibilityInfo)(OrtEp *self,
                                                   const OrtGraph *graph);
  OrtPlace getKernelRegistry;
  OrtStatus *(*isConcurrentRunSupported)(OrtEp *self, bool *isSupported);
  OrtPlace sync;
  OrtPlace createProfiler;
  OrtPlace isGraphCaptureEnabled;
  OrtPlace isGraphCaptured;
  OrtPlace replayGraph;
  OrtPlace getGraphCaptureNodeAssignmentPolicy;
  OrtPlace getAvailableResource;
  OrtStatus *(*onSessionInitializationEnd)(OrtEp *self);
  OrtPlace getDefaultMemoryDevice;
  OrtPlace releaseCapturedGraph;
};

/// What makes providers; the same.
struct OrtEpFactory {
  uint32_t version;
  const char *(*getName)(const OrtEpFactory *self);
  const char *(*getVendor)(const OrtEpFactory *self);
  OrtStatus *(*getSupportedDevices)(OrtEpFactory *self,
                                    const OrtHardwareDevice *const *devices,
                                    size_t numDevices, OrtEpDevice **results,
                                    size_t maxResults, size_t *numResults);
  OrtStatus *(*createEp)(OrtEpFactory *self,
                         const OrtHardwareDevice *const *devices,
                         const OrtKeyValuePairs *const *metadata,
                         size_t numDevices, const OrtSessionOptions *options,
                         const OrtLogger *logger, OrtEp **provider);
  void (*releaseEp)(OrtEpFactory *self, OrtEp *provider);
  uint32_t (*getVendorId)(const OrtEpFactory *self);
  const char *(*getVersion)(const OrtEpFactory *self);
  OrtPlace validateCompiledModelCompatibilityInfo;
  OrtStatus *(*createAllocator)(OrtEpFactory *self, const OrtMemoryInfo *memory,
                                const OrtKeyValuePairs *options,
                                OrtAllocator **allocator);
  void (*releaseAllocator)(OrtEpFactory *self, OrtAllocator *allocator);
  OrtStatus *(*createDataTransfer)(OrtEpFactory *self,
                                   OrtDataTransferImpl **transfer);
  bool (*isStreamAware)(const OrtEpFactory *self);
  OrtPlace createSyncStreamForDevice;
  OrtPlace getHardwareDeviceIncompatibilityDetails;
  OrtPlace createExternalResourceImporterForDevice;
  OrtPlace getNumCustomOpDomains;
  OrtPlace getCustomOpDomains;
  OrtPlace initGraphicsInterop;
  OrtPlace deinitGraphicsInterop;
};

#endif // LOOPC_LIB_ONNXRUNTIME_ABI_H
