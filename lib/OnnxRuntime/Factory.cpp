//===- Factory.cpp - What onnxruntime loads -------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The two functions that a library with an execution provider exports, and one
// that looks at its options.
//
//===----------------------------------------------------------------------===//

#include "Provider.h"

#include <cstdio>

using namespace loopc::ort;

namespace {

class Factory : public OrtEpFactory {
public:
  explicit Factory(const Api &api);

private:
  void findDevices(const OrtHardwareDevice *const *devices, size_t numDevices,
                   OrtEpDevice **results, size_t maxResults,
                   size_t &numResults);

  Api api;
};

} // namespace

Factory::Factory(const Api &api) : OrtEpFactory{}, api(api) {
  version = kVersion;
  getName = [](const OrtEpFactory *) { return kProviderName; };
  getVendor = [](const OrtEpFactory *) { return "loopc"; };
  getVendorId = [](const OrtEpFactory *) -> uint32_t { return 0; };
  getVersion = [](const OrtEpFactory *) { return loopc_version(); };
  getSupportedDevices = [](OrtEpFactory *self,
                           const OrtHardwareDevice *const *devices,
                           size_t numDevices, OrtEpDevice **results,
                           size_t maxResults, size_t *numResults) {
    auto *factory = static_cast<Factory *>(self);
    return factory->api.guard([&] {
      factory->findDevices(devices, numDevices, results, maxResults,
                           *numResults);
    });
  };
  createEp = [](OrtEpFactory *self, const OrtHardwareDevice *const *,
                const OrtKeyValuePairs *const *, size_t,
                const OrtSessionOptions *options, const OrtLogger *logger,
                OrtEp **provider) {
    auto *factory = static_cast<Factory *>(self);
    return factory->api.guard([&] {
      *provider = new Provider(factory->api, logger,
                               Options::read(factory->api, options));
    });
  };
  releaseEp = [](OrtEpFactory *, OrtEp *provider) {
    delete static_cast<Provider *>(provider);
  };
  // onnxruntime's own memory is used.
  createAllocator = [](OrtEpFactory *, const OrtMemoryInfo *,
                       const OrtKeyValuePairs *,
                       OrtAllocator **allocator) -> OrtStatus * {
    *allocator = nullptr;
    return nullptr;
  };
  releaseAllocator = [](OrtEpFactory *, OrtAllocator *) {};
  createDataTransfer = [](OrtEpFactory *,
                          OrtDataTransferImpl **transfer) -> OrtStatus * {
    *transfer = nullptr;
    return nullptr;
  };
  isStreamAware = [](const OrtEpFactory *) { return false; };
}

void Factory::findDevices(const OrtHardwareDevice *const *devices,
                          size_t numDevices, OrtEpDevice **results,
                          size_t maxResults, size_t &numResults) {
  numResults = 0;
  for (size_t i = 0; i < numDevices && numResults < maxResults; ++i)
    if (api.HardwareDevice_Type(devices[i]) == kCpuDevice) {
      api.check(api.CreateEpDevice(this, devices[i], nullptr, nullptr,
                                   &results[numResults]));
      ++numResults;
      return;
    }
}

#define LOOPC_ORT_EXPORT extern "C" __attribute__((visibility("default")))

LOOPC_ORT_EXPORT OrtStatus *
CreateEpFactories(const char *, const OrtApiBase *base, const OrtLogger *logger,
                  OrtEpFactory **factories, size_t maxFactories,
                  size_t *numFactories) {
  *numFactories = 0;
  // Without statuses nothing can be said: they are older than all else that is
  // asked for.
  auto *table = base->GetApi(1);
  if (!table)
    return nullptr;
  auto create =
      reinterpret_cast<OrtStatus *(*)(int32_t, const char *)>(table[0]);
  try {
    Api api;
    if (std::string problem = api.load(base); !problem.empty())
      return create(kNotImplemented, problem.c_str());
    if (maxFactories < 1)
      return create(kInvalidArgument, "loopc: there is no room for a factory");
    factories[0] = new Factory(api);
    *numFactories = 1;
    return nullptr;
  } catch (const std::exception &error) {
    return create(kProviderFail, error.what());
  }
}

LOOPC_ORT_EXPORT OrtStatus *ReleaseEpFactory(OrtEpFactory *factory) {
  delete static_cast<Factory *>(factory);
  return nullptr;
}

/// For loopc.onnxruntime: what is wrong with an option, as a text that ends
/// with a zero and is cut to `size` bytes; "" for nothing. onnxruntime's Python
/// module goes on without the provider where a session's options are wrong.
LOOPC_ORT_EXPORT void loopc_ep_check_option(const char *name, const char *value,
                                            char *problem, size_t size) {
  problem[0] = '\0';
  try {
    Options::check(name, value);
  } catch (const std::exception &error) {
    std::snprintf(problem, size, "%s", error.what());
  }
}
