//===- Api.h - Calling onnxruntime ------------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_ONNXRUNTIME_API_H
#define LOOPC_LIB_ONNXRUNTIME_API_H

#include "Abi.h"

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace loopc::ort {

/// onnxruntime's functions, by their names.
struct Api {
#define LOOPC_ORT_FUNCTION(table, place, name, result, parameters)             \
  result(*name) parameters = nullptr;
#include "Functions.def"

  /// Finds the functions and tries them. \returns an empty text, or why they
  /// cannot be used.
  std::string load(const OrtApiBase *base);

  /// Writes a line into onnxruntime's log; null is no log.
  void log(const OrtLogger *logger, Severity severity,
           std::string_view text) const;

  /// A status, which onnxruntime then owns.
  OrtStatus *fail(ErrorCode code, const std::string &message) const {
    return CreateStatus(code, message.c_str());
  }

  /// Throws Error where `status` is one; releases it.
  void check(OrtStatus *status) const;

  /// Whether `isTerminated` can tell.
  bool seesTermination() const { return terminateByte != 0; }

  /// Whether the runs with these options are to end, which another thread may
  /// say at any time.
  bool isTerminated(const OrtRunOptions *options) const;

  /// Calls `work`; what it throws becomes a status.
  template <typename Work> OrtStatus *guard(Work work) const noexcept;

private:
  /// Where options of a run keep that it is to end; 0 where that is not known.
  size_t terminateByte = 0;
};

/// What onnxruntime answered, or what it is to be answered.
class Error : public std::exception {
public:
  Error(int32_t code, std::string message)
      : code(code), message(std::move(message)) {}

  int32_t getCode() const { return code; }
  const char *what() const noexcept override { return message.c_str(); }

private:
  int32_t code;
  std::string message;
};

template <typename Work> OrtStatus *Api::guard(Work work) const noexcept {
  try {
    work();
    return nullptr;
  } catch (const Error &error) {
    return CreateStatus(error.getCode(), error.what());
  } catch (const std::bad_alloc &) {
    return CreateStatus(kProviderFail, "loopc: out of memory");
  } catch (const std::exception &error) {
    return CreateStatus(kProviderFail, error.what());
  } catch (...) {
    return CreateStatus(kProviderFail, "loopc: an unknown failure");
  }
}

/// The result of a function whose last parameter receives it.
template <typename T, typename... Parameters, typename... Arguments>
T get(const Api &api, OrtStatus *(*function)(Parameters...),
      Arguments... arguments) {
  T result{};
  api.check(function(arguments..., &result));
  return result;
}

/// The results of two functions of `object`: how many there are, and a list.
template <typename T, typename Object>
std::vector<T> getList(const Api &api,
                       OrtStatus *(*getCount)(const Object *, size_t *),
                       OrtStatus *(*getItems)(const Object *, T *, size_t),
                       const Object *object) {
  std::vector<T> items(get<size_t>(api, getCount, object));
  if (!items.empty())
    api.check(getItems(object, items.data(), items.size()));
  return items;
}

/// The elements of an attribute of kind `kind`; what a text is made of are
/// chars.
template <typename T>
std::vector<T> readAttribute(const Api &api, const OrtOpAttr *attribute,
                             AttributeKind kind) {
  // The first call fails where there is something, and tells how much.
  size_t bytes = 0;
  if (OrtStatus *status = api.ReadOpAttr(attribute, kind, nullptr, 0, &bytes))
    api.ReleaseStatus(status);
  std::vector<T> values(bytes / sizeof(T));
  if (bytes != 0)
    api.check(api.ReadOpAttr(attribute, kind, values.data(), bytes, &bytes));
  return values;
}

/// An object of onnxruntime's that has to be released.
template <typename T> struct Releaser {
  void (*release)(T *);
  void operator()(T *object) const { release(object); }
};
template <typename T> using Owned = std::unique_ptr<T, Releaser<T>>;

template <typename T> Owned<T> own(T *object, void (*release)(T *)) {
  return Owned<T>(object, Releaser<T>{release});
}

} // namespace loopc::ort

#endif // LOOPC_LIB_ONNXRUNTIME_API_H
