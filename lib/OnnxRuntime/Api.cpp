//===- Api.cpp - Calling onnxruntime --------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Api.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace loopc::ort;

void Api::check(OrtStatus *status) const {
  if (!status)
    return;
  Error error(GetErrorCode(status), GetErrorMessage(status));
  ReleaseStatus(status);
  throw error;
}

void Api::log(const OrtLogger *logger, Severity severity,
              std::string_view text) const {
  if (!logger)
    return;
  std::string line(text);
  if (OrtStatus *status = Logger_LogMessage(logger, severity, line.c_str(),
                                            "loopc", 0, "loopc"))
    ReleaseStatus(status);
}

/// A text that comes back as it went in, so that both functions are what they
/// are taken for. Statuses are tried before all else, which reports by them.
static bool tryStatuses(const Api &api) {
  static constexpr char kText[] = "loopc's test";
  OrtStatus *status = api.CreateStatus(kInvalidGraph, kText);
  if (!status)
    return false;
  bool isGood = api.GetErrorCode(status) == kInvalidGraph &&
                !std::strcmp(api.GetErrorMessage(status), kText);
  api.ReleaseStatus(status);
  return isGood;
}

static bool tryPairs(const Api &api) {
  OrtKeyValuePairs *made = nullptr;
  api.CreateKeyValuePairs(&made);
  if (!made)
    return false;
  auto pairs = own(made, api.ReleaseKeyValuePairs);
  api.AddKeyValuePair(pairs.get(), "key", "value");
  const char *value = api.GetKeyValue(pairs.get(), "key");
  const char *const *keys = nullptr;
  const char *const *values = nullptr;
  size_t count = 0;
  api.GetKeyValuePairs(pairs.get(), &keys, &values, &count);
  return value && !std::strcmp(value, "value") && count == 1 &&
         !std::strcmp(keys[0], "key") && !std::strcmp(values[0], "value");
}

/// A tensor, by itself and as the item of a sequence, of which it is a copy.
static bool tryTensors(const Api &api) {
  auto memory = own(get<OrtMemoryInfo *>(api, api.CreateCpuMemoryInfo,
                                         /*arena=*/1, /*default=*/0),
                    api.ReleaseMemoryInfo);
  float elements[6] = {1, 2, 3, 4, 5, 6};
  const int64_t extents[] = {2, 3};
  auto value =
      own(get<OrtValue *>(api, api.CreateTensorWithDataAsOrtValue, memory.get(),
                          static_cast<void *>(elements), sizeof(elements),
                          extents, size_t(2), int32_t(kFloat)),
          api.ReleaseValue);
  auto isTensorLike = [&](const OrtValue *given) {
    int32_t type = 0;
    const int64_t *shape = nullptr;
    size_t rank = 0;
    api.check(api.GetTensorElementTypeAndShapeDataReference(given, &type,
                                                            &shape, &rank));
    return type == kFloat && rank == 2 && shape[0] == 2 && shape[1] == 3 &&
           get<size_t>(api, api.GetTensorSizeInBytes, given) ==
               sizeof(elements) &&
           get<int32_t>(api, api.GetValueType, given) == kTensor;
  };
  if (!isTensorLike(value.get()) ||
      get<const void *>(api, api.GetTensorData, value.get()) != elements ||
      get<void *>(api, api.GetTensorMutableData, value.get()) != elements)
    return false;
  const OrtValue *items[] = {value.get()};
  auto sequence =
      own(get<OrtValue *>(api, api.CreateValue,
                          static_cast<const OrtValue *const *>(items),
                          size_t(1), int32_t(kSequence)),
          api.ReleaseValue);
  auto *allocator =
      get<OrtAllocator *>(api, api.GetAllocatorWithDefaultOptions);
  auto item =
      own(get<OrtValue *>(api, api.GetValue, sequence.get(), 0, allocator),
          api.ReleaseValue);
  return get<int32_t>(api, api.GetValueType, sequence.get()) == kSequence &&
         get<size_t>(api, api.GetValueCount, sequence.get()) == 1 &&
         isTensorLike(item.get()) &&
         !std::memcmp(get<const void *>(api, api.GetTensorData, item.get()),
                      elements, sizeof(elements));
}

static bool tryAttributes(const Api &api) {
  int64_t number = 23;
  auto attribute = own(get<OrtOpAttr *>(api, api.CreateOpAttr, "axis",
                                        static_cast<const void *>(&number), 1,
                                        int32_t(kIntAttribute)),
                       api.ReleaseOpAttr);
  int64_t read = 0;
  size_t needed = 0;
  api.check(api.ReadOpAttr(attribute.get(), kIntAttribute, &read, sizeof(read),
                           &needed));
  return read == number &&
         get<int32_t>(api, api.OpAttr_GetType, attribute.get()) ==
             kIntAttribute &&
         !std::strcmp(
             get<const char *>(api, api.OpAttr_GetName, attribute.get()),
             "axis");
}

/// onnxruntime has functions that set the flag `terminate` of a run's options
/// and take it back, and none that reads it. Where it is, is seen by setting
/// it:
/// \returns the byte of the options that becomes 1 and then 0 again, and 0
/// where something else happens, as in versions that keep the flag in another
/// object.
static size_t findTerminateByte(const Api &api) {
  // All versions have two numbers, a text, two flags and a table of entries
  // here, which are more.
  constexpr size_t kBytes = 64;
  auto options = own(get<OrtRunOptions *>(api, api.CreateRunOptions),
                     api.ReleaseRunOptions);
  auto read = [&] {
    return std::string(reinterpret_cast<const char *>(options.get()), kBytes);
  };
  std::string before = read();
  api.check(api.RunOptionsSetTerminate(options.get()));
  std::string set = read();
  api.check(api.RunOptionsUnsetTerminate(options.get()));
  std::string after = read();
  auto byte = static_cast<size_t>(
      std::mismatch(before.begin(), before.end(), set.begin()).first -
      before.begin());
  if (byte == kBytes || before[byte] != 0)
    return 0;
  std::string expected = before;
  expected[byte] = 1;
  return set == expected && after == before ? byte : 0;
}

bool Api::isTerminated(const OrtRunOptions *options) const {
  auto *bytes = reinterpret_cast<const unsigned char *>(options);
  return seesTermination() && options &&
         __atomic_load_n(bytes + terminateByte, __ATOMIC_RELAXED) != 0;
}

/// True where all that can be tried without a model does what it should.
static bool tryFunctions(const Api &api) {
  try {
    return tryStatuses(api) && tryPairs(api) && tryTensors(api) &&
           tryAttributes(api);
  } catch (const Error &) {
    return false;
  }
}

std::string Api::load(const OrtApiBase *base) {
  const char *version = base->GetVersionString();
  // "1.31.1": the number of the interface is the second one.
  char *end = nullptr;
  unsigned long major = std::strtoul(version, &end, 10);
  unsigned long minor = *end == '.' ? std::strtoul(end + 1, nullptr, 10) : 0;
  std::string found = "this is onnxruntime " + std::string(version);
  if (major != 1 || minor < kVersion)
    return "loopc needs onnxruntime 1.27 or a later 1.x, " + found;
  const OrtPlace *Main = base->GetApi(kVersion);
  if (!Main)
    return found + ", which has no interface of version 1.27";
  GetEpApi = reinterpret_cast<decltype(GetEpApi)>(Main[317]);
  GetModelEditorApi = reinterpret_cast<decltype(GetModelEditorApi)>(Main[291]);
  const OrtPlace *Provider = GetEpApi();
  const OrtPlace *Editor = GetModelEditorApi();
  if (!Provider || !Editor)
    return found + ", which was built without execution providers as libraries";
#define LOOPC_ORT_FUNCTION(table, place, name, result, parameters)             \
  name = reinterpret_cast<decltype(name)>(table[place]);
#include "Functions.def"
  if (!tryFunctions(*this))
    return found + ", whose functions are not what loopc takes them for";
  terminateByte = findTerminateByte(*this);
  return "";
}
