//===- cuda_header.cpp - Our declarations beside cuda.h -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime declares of the driver, and what the driver for tests has,
// beside the toolkit's cuda.h: values, layouts, parameters.
#include "Driver.h"

// The toolkit's names as the driver exports them: no macro gives cuMemAlloc
// another ending.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

// Its functions have C's names: a namespace keeps them apart.
#undef CU_GRAPH_COND_ASSIGN_DEFAULT
#include "fake/Api.h"

#include <type_traits>

namespace {
template <typename T, typename = void> struct IsComplete : std::false_type {};
template <typename T>
struct IsComplete<T, std::void_t<decltype(sizeof(T))>> : std::true_type {};

/// True for types that a call passes alike.
template <typename A, typename B> constexpr bool isSame() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    using To = std::remove_cv_t<std::remove_pointer_t<A>>;
    using From = std::remove_cv_t<std::remove_pointer_t<B>>;
    if constexpr (std::is_function_v<To> || std::is_void_v<To> ||
                  std::is_void_v<From>)
      return true;
    else if constexpr (IsComplete<To>::value && IsComplete<From>::value)
      return isSame<To, From>();
    else
      return !std::is_scalar_v<To> && !std::is_scalar_v<From>;
  } else {
    return sizeof(A) == sizeof(B) && alignof(A) == alignof(B) &&
           std::is_pointer_v<A> == std::is_pointer_v<B> &&
           std::is_class_v<A> == std::is_class_v<B> &&
           std::is_floating_point_v<A> == std::is_floating_point_v<B>;
  }
}

template <typename A, typename B> struct SameFunction : std::false_type {};
template <typename R, typename S, typename... As, typename... Bs>
struct SameFunction<R (*)(As...), S (*)(Bs...)> {
  template <bool IsCount> static constexpr bool compare() {
    if constexpr (IsCount)
      return isSame<R, S>() && (isSame<As, Bs>() && ...);
    else
      return false;
  }
  static constexpr bool value = compare<sizeof...(As) == sizeof...(Bs)>();
};
} // namespace

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace rt = loopc::rt::cuda;

#define CHECK_FUNCTION(name, parameters)                                       \
  static_assert(                                                               \
      SameFunction<decltype(rt::Driver::name), decltype(&::name)>::value,      \
      #name);
LOOPC_CUDA_DRIVER(CHECK_FUNCTION)
LOOPC_CUDA_DRIVER_OPTIONAL(CHECK_FUNCTION)

// Each function and each result of Api.h, on a line of its own.
#define CHECK_FAKE(name)                                                       \
  static_assert(SameFunction<decltype(&fake::name), decltype(&::name)>::value, \
                #name);
#define CHECK_FAKE_RESULT(name)                                                \
  static_assert(int(fake::name) == int(::name), #name);
#include "fake/Names.inc"

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

#define CHECK_RESULT(name) static_assert(int(rt::name) == int(::name), #name);
CHECK_RESULT(CUDA_SUCCESS)
CHECK_RESULT(CUDA_ERROR_OUT_OF_MEMORY)
CHECK_RESULT(CUDA_ERROR_NO_DEVICE)
CHECK_RESULT(CUDA_ERROR_INVALID_CONTEXT)
CHECK_RESULT(CUDA_ERROR_ECC_UNCORRECTABLE)
CHECK_RESULT(CUDA_ERROR_NVLINK_UNCORRECTABLE)
CHECK_RESULT(CUDA_ERROR_NOT_READY)
CHECK_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS)
CHECK_RESULT(CUDA_ERROR_LAUNCH_TIMEOUT)
CHECK_RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED)
CHECK_RESULT(CUDA_ERROR_ASSERT)
CHECK_RESULT(CUDA_ERROR_HARDWARE_STACK_ERROR)
CHECK_RESULT(CUDA_ERROR_LAUNCH_FAILED)
CHECK_RESULT(CUDA_ERROR_INVALID_CLUSTER_SIZE)
#if CUDA_VERSION >= 12080
CHECK_RESULT(CUDA_ERROR_TENSOR_MEMORY_LEAK)
#endif

#define CHECK_VALUE(ours, theirs)                                              \
  static_assert(int(rt::ours) == int(theirs), #ours);
CHECK_VALUE(kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
CHECK_VALUE(kCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
CHECK_VALUE(kCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
CHECK_VALUE(kConcurrentManagedAccess,
            CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)
CHECK_VALUE(kCooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)
CHECK_VALUE(kMemoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)
CHECK_VALUE(kClusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)
CHECK_VALUE(kClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
CHECK_VALUE(kStreamNonBlocking, CU_STREAM_NON_BLOCKING)
CHECK_VALUE(kEventDefault, CU_EVENT_DEFAULT)
CHECK_VALUE(kEventDisableTiming, CU_EVENT_DISABLE_TIMING)
CHECK_VALUE(kHostAllocPortable, CU_MEMHOSTALLOC_PORTABLE)
CHECK_VALUE(kHostAllocDeviceMap, CU_MEMHOSTALLOC_DEVICEMAP)
CHECK_VALUE(kAttachGlobal, CU_MEM_ATTACH_GLOBAL)
CHECK_VALUE(kPoolReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
CHECK_VALUE(kPointerMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
CHECK_VALUE(kJitErrorLog, CU_JIT_ERROR_LOG_BUFFER)
CHECK_VALUE(kJitErrorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
CHECK_VALUE(kKernelNode, CU_GRAPH_NODE_TYPE_KERNEL)
CHECK_VALUE(kConditionalNode, CU_GRAPH_NODE_TYPE_CONDITIONAL)
CHECK_VALUE(kIfNode, CU_GRAPH_COND_TYPE_IF)
CHECK_VALUE(kWhileNode, CU_GRAPH_COND_TYPE_WHILE)

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

#define CHECK_FIELD(type, field)                                               \
  static_assert(offsetof(rt::type, field) == offsetof(::type, field), #field); \
  static_assert(offsetof(fake::type, field) == offsetof(::type, field), #field);
#define CHECK_SIZE(type)                                                       \
  static_assert(sizeof(rt::type) == sizeof(::type), #type);                    \
  static_assert(sizeof(fake::type) == sizeof(::type), #type);

CHECK_SIZE(CUgraphNodeParams)
CHECK_FIELD(CUgraphNodeParams, type)
CHECK_FIELD(CUgraphNodeParams, reserved1)
CHECK_FIELD(CUgraphNodeParams, kernel.func)
CHECK_FIELD(CUgraphNodeParams, kernel.gridDimX)
CHECK_FIELD(CUgraphNodeParams, kernel.gridDimZ)
CHECK_FIELD(CUgraphNodeParams, kernel.blockDimX)
CHECK_FIELD(CUgraphNodeParams, kernel.blockDimZ)
CHECK_FIELD(CUgraphNodeParams, kernel.sharedMemBytes)
CHECK_FIELD(CUgraphNodeParams, kernel.kernelParams)
CHECK_FIELD(CUgraphNodeParams, kernel.extra)
CHECK_FIELD(CUgraphNodeParams, kernel.kern)
CHECK_FIELD(CUgraphNodeParams, kernel.ctx)
CHECK_FIELD(CUgraphNodeParams, conditional.handle)
CHECK_FIELD(CUgraphNodeParams, conditional.type)
CHECK_FIELD(CUgraphNodeParams, conditional.size)
CHECK_FIELD(CUgraphNodeParams, conditional.phGraph_out)
CHECK_FIELD(CUgraphNodeParams, conditional.ctx)
CHECK_FIELD(CUgraphNodeParams, reserved2)

CHECK_SIZE(CUlaunchAttribute)
CHECK_FIELD(CUlaunchAttribute, id)
CHECK_FIELD(CUlaunchAttribute, value.clusterDim.x)
CHECK_FIELD(CUlaunchAttribute, value.clusterDim.y)
CHECK_FIELD(CUlaunchAttribute, value.clusterDim.z)
CHECK_SIZE(CUlaunchConfig)
CHECK_FIELD(CUlaunchConfig, gridDimX)
CHECK_FIELD(CUlaunchConfig, gridDimY)
CHECK_FIELD(CUlaunchConfig, gridDimZ)
CHECK_FIELD(CUlaunchConfig, blockDimX)
CHECK_FIELD(CUlaunchConfig, blockDimY)
CHECK_FIELD(CUlaunchConfig, blockDimZ)
CHECK_FIELD(CUlaunchConfig, sharedMemBytes)
CHECK_FIELD(CUlaunchConfig, hStream)
CHECK_FIELD(CUlaunchConfig, attrs)
CHECK_FIELD(CUlaunchConfig, numAttrs)
