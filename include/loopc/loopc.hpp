//===- loopc.hpp - The compiler from C++ ------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// loopc-c/loopc.h for C++20: sessions that free themselves, spans, exceptions.
// There is no library to it beside libloopc.so.
//
//   loopc::Session session("model.onnx");
//   std::vector<float> x = ...;
//   auto outputs = session.run({{"x", loopc::Value::view<float>(x, {2, 3})}});
//   for (float y : outputs[0].as<float>())
//     ...
//
// What fails throws loopc::Error, or what is derived of it. Sessions are as
// thread-safe as those of the C API.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LOOPC_HPP
#define LOOPC_LOOPC_HPP

#include "loopc-c/loopc.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace loopc {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// What all errors of this header are.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A model cannot be compiled or loaded. The message has all that was said.
class CompileError : public Error {
public:
  CompileError(int status, const std::string &message, std::string code)
      : Error(message), status(status), code(std::move(code)) {}
  int getStatus() const { return status; } ///< a loopc_compile_status
  /// Of the first error: "LC0301"; `loopc explain` says more.
  const std::string &getCode() const { return code; }

private:
  int status;
  std::string code;
};

/// A run failed, or a value is not what the program takes it for.
class RunError : public Error {
public:
  RunError(int status, const std::string &message)
      : Error(message), status(status) {}
  int getStatus() const { return status; } ///< a loopc_status

private:
  int status;
};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace detail {
/// DLPack's name of an element type of C++.
template <typename T> constexpr DLDataType dtypeOf() {
  static_assert(std::is_arithmetic_v<T>, "a number, or bool");
  constexpr auto code = std::is_same_v<T, bool>       ? kDLBool
                        : std::is_floating_point_v<T> ? kDLFloat
                        : std::is_signed_v<T>         ? kDLInt
                                                      : kDLUInt;
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(8 * sizeof(T)), 1};
}

inline bool isSame(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}
} // namespace detail

/// An input or output: a tensor, texts, a sequence or an optional. It owns what
/// a run has allocated for it, and refers to the elements of a program's own.
class Value {
public:
  /// Nothing: an input that has a default.
  Value() = default;
  /// Takes what a run returned; it is released with this.
  explicit Value(loopc_value taken) : value(taken) {}
  Value(Value &&other) noexcept { swap(other); }
  Value &operator=(Value &&other) noexcept {
    Value moved(std::move(other));
    swap(moved);
    return *this;
  }
  Value(const Value &) = delete;
  Value &operator=(const Value &) = delete;
  ~Value() { loopc_value_release(&value); }

  /// A tensor of `elements`, in C order, which must live as long as this.
  template <typename T>
  static Value view(std::span<const T> elements, std::vector<int64_t> shape) {
    Value made;
    made.extents = std::move(shape);
    made.setTensor(const_cast<T *>(elements.data()), detail::dtypeOf<T>());
    if (made.count() != elements.size())
      throw RunError(LOOPC_ERROR_INPUT, "a tensor of " +
                                            std::to_string(made.count()) +
                                            " elements was given " +
                                            std::to_string(elements.size()));
    return made;
  }
  /// A tensor of rank 0 or 1 with elements of its own.
  template <typename T> static Value scalar(T element) {
    return owned(std::vector<T>{element}, {});
  }
  template <typename T> static Value vector(std::vector<T> elements) {
    auto extent = static_cast<int64_t>(elements.size());
    return owned(std::move(elements), {extent});
  }

  const loopc_value &get() const { return value; }
  bool isNone() const { return value.kind == 0; }

  /// The extents of a tensor, of texts too.
  std::span<const int64_t> shape() const {
    if (value.kind == LOOPC_STRINGS)
      return {value.as.strings.shape, size_t(value.as.strings.ndim)};
    require(LOOPC_TENSOR, "a tensor");
    return {value.as.tensor.shape, size_t(value.as.tensor.ndim)};
  }

  /// The elements of a tensor in C order; RunError where they are of another
  /// type, not next to each other or on a GPU.
  template <typename T> std::span<const T> as() const {
    require(LOOPC_TENSOR, "a tensor");
    const DLTensor &tensor = value.as.tensor;
    if (!detail::isSame(tensor.dtype, detail::dtypeOf<T>()))
      throw RunError(LOOPC_ERROR_OUTPUT, "the elements are of another type");
    if (tensor.device.device_type != kDLCPU || tensor.strides)
      throw RunError(LOOPC_ERROR_OUTPUT,
                     "the elements are on a GPU, or not in C order");
    auto *bytes = static_cast<const char *>(tensor.data) + tensor.byte_offset;
    return {reinterpret_cast<const T *>(bytes), count()};
  }

  /// Texts in C order, which live as long as this.
  std::vector<std::string_view> texts() const {
    require(LOOPC_STRINGS, "a tensor of strings");
    std::vector<std::string_view> found;
    for (size_t k = 0; k < count(); ++k)
      found.emplace_back(value.as.strings.data[k].data,
                         value.as.strings.data[k].size);
    return found;
  }

  /// The elements of a sequence; of an optional its value, or none.
  std::span<const loopc_value> items() const {
    if (value.kind == LOOPC_OPTIONAL)
      return {value.as.optional.value, size_t(value.as.optional.value ? 1 : 0)};
    require(LOOPC_SEQUENCE, "a sequence");
    return {value.as.sequence.items, value.as.sequence.count};
  }

private:
  template <typename T>
  static Value owned(std::vector<T> elements, std::vector<int64_t> shape) {
    Value made;
    made.extents = std::move(shape);
    // Not std::vector<bool>, whose elements are bits.
    std::shared_ptr<T[]> kept(new T[elements.size() + 1]);
    size_t k = 0;
    for (T element : elements)
      kept[k++] = element;
    made.setTensor(kept.get(), detail::dtypeOf<T>());
    made.storage = kept;
    return made;
  }

  void setTensor(void *data, DLDataType dtype) {
    value.kind = LOOPC_TENSOR;
    value.as.tensor = {data,  {kDLCPU, 0},    int32_t(extents.size()),
                       dtype, extents.data(), nullptr,
                       0};
  }

  size_t count() const {
    size_t product = 1;
    for (int64_t extent : shape())
      product *= size_t(extent);
    return product;
  }

  void require(int32_t kind, const char *what) const {
    if (value.kind != kind)
      throw RunError(LOOPC_ERROR_OUTPUT,
                     std::string("the value is not ") + what);
  }

  // The elements of a vector stay where they are when it is moved.
  void swap(Value &other) noexcept {
    std::swap(value, other.value);
    extents.swap(other.extents);
    storage.swap(other.storage);
  }

  loopc_value value = {};
  std::vector<int64_t> extents;
  std::shared_ptr<void> storage;
};

/// An input of a run by its name.
struct Feed {
  std::string_view name;
  Value value;
};

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// How to compile: the setters of the C API, in a chain.
class Options {
public:
  Options() : options(loopc_compile_options_create()) {
    if (!options)
      throw std::bad_alloc();
  }

  Options &optLevel(int level) {
    return check(loopc_compile_options_set_opt_level(get(), level), "level");
  }
  Options &cpu(const std::string &name) {
    return check(loopc_compile_options_set_cpu(get(), name.c_str()), "cpu");
  }
  Options &chip(const std::string &name) {
    return check(loopc_compile_options_set_chip(get(), name.c_str()), "chip");
  }
  /// A folder, "" for the user's own, or "off", the default.
  Options &cache(const std::string &folder) {
    return check(loopc_compile_options_set_cache(get(), folder.c_str()),
                 "cache");
  }
  /// -1 where extents of this name are unrelated.
  Options &dim(const std::string &name, int64_t extent) {
    return check(loopc_compile_options_add_dim(get(), name.c_str(), extent),
                 "dim");
  }
  /// -1 for an extent that stays open.
  Options &shape(const std::string &input, const std::vector<int64_t> &shape) {
    return check(loopc_compile_options_add_shape(get(), input.c_str(),
                                                 shape.data(), shape.size()),
                 "shape");
  }
  Options &state(const std::string &input, const std::string &output) {
    return check(
        loopc_compile_options_add_state(get(), input.c_str(), output.c_str()),
        "state");
  }
  Options &timeout(double seconds) {
    return check(loopc_compile_options_set_timeout(get(), seconds), "timeout");
  }
  /// A library of custom operators (loopc-rt/custom.h).
  Options &customOps(const std::string &path) {
    return check(loopc_compile_options_add_custom_ops(get(), path.c_str()),
                 "customOps");
  }
  /// Runs may be measured (loopc_profile).
  Options &profile(bool enabled) {
    return check(loopc_compile_options_set_profile(get(), enabled), "profile");
  }

  /// For the setters of the C API that are not here.
  loopc_compile_options *get() const { return options.get(); }

private:
  Options &check(int status, const char *what) {
    if (status != LOOPC_COMPILE_OK)
      throw CompileError(status, std::string(what) + ": the value is not valid",
                         "LC0101");
    return *this;
  }

  struct Destroy {
    void operator()(loopc_compile_options *options) const {
      loopc_compile_options_destroy(options);
    }
  };
  std::unique_ptr<loopc_compile_options, Destroy> options;
};

namespace detail {
/// Diagnostics that are freed; throws where the status is no success.
class Said {
public:
  Said() = default;
  Said(const Said &) = delete;
  Said &operator=(const Said &) = delete;
  ~Said() { loopc_diagnostics_destroy(diagnostics); }

  loopc_diagnostics **get() { return &diagnostics; }

  void check(int status) const {
    if (status == LOOPC_COMPILE_OK)
      return;
    std::string text, code;
    for (size_t k = 0; k < loopc_diagnostics_count(diagnostics); ++k) {
      loopc_diagnostic one = loopc_diagnostics_get(diagnostics, k);
      if (code.empty() && one.severity == LOOPC_SEVERITY_ERROR)
        code = one.code;
      text +=
          (k ? "\n" : "") + std::string(loopc_diagnostics_text(diagnostics, k));
    }
    throw CompileError(status, text, std::move(code));
  }

private:
  loopc_diagnostics *diagnostics = nullptr;
};
} // namespace detail

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

/// A model that is ready to run.
class Session {
public:
  /// Of a model's file: ONNX, OpenVINO IR or MLIR.
  explicit Session(const std::string &path, const Options &options = {}) {
    make([&](auto **made, auto **said) {
      return loopc_session_create_from_file(path.c_str(), options.get(), made,
                                            said);
    });
  }
  /// Of a serialised model.
  static Session fromBytes(std::string_view bytes,
                           const Options &options = {}) {
    Session session;
    session.make([&](auto **made, auto **said) {
      return loopc_session_create_from_bytes(bytes.data(), bytes.size(),
                                             options.get(), made, said);
    });
    return session;
  }
  /// Of a shared library that loopc made; `name` where it has several models.
  static Session load(const std::string &path, const std::string &name = "") {
    Session session;
    session.make([&](auto **made, auto **said) {
      return loopc_session_load_shared(
          path.c_str(), name.empty() ? nullptr : name.c_str(), made, said);
    });
    return session;
  }

  const loopc_model &model() const { return *loopc_session_model(get()); }
  std::span<const loopc_port> inputs() const {
    return {model().inputs, size_t(model().num_inputs - model().num_states)};
  }
  std::span<const loopc_port> outputs() const {
    return {model().outputs, size_t(model().num_outputs - model().num_states)};
  }

  /// Runs the model. Inputs that have a default may be left out.
  /// \returns a value for each output.
  std::vector<Value> run(std::span<const Feed> feeds,
                         const loopc_run_options *options = nullptr) const {
    std::vector<loopc_value> given(inputs().size());
    for (const Feed &feed : feeds)
      given[find(inputs(), feed.name, "input")] = feed.value.get();
    std::vector<loopc_value> results(outputs().size());
    loopc_error error = {};
    int status = loopc_session_run(get(), options, given.data(), given.size(),
                                   results.data(), results.size(), &error);
    if (status != LOOPC_OK)
      throw RunError(status, error.message);
    std::vector<Value> values;
    for (loopc_value &result : results)
      values.emplace_back(result);
    return values;
  }
  std::vector<Value> run(std::initializer_list<Feed> feeds,
                         const loopc_run_options *options = nullptr) const {
    return run(std::span(feeds.begin(), feeds.size()), options);
  }

  /// The number of an output.
  size_t outputIndex(std::string_view name) const {
    return find(outputs(), name, "output");
  }

  /// A copy of a state; none where no run and no call set it.
  Value getState(std::string_view name) const {
    loopc_value copy = {};
    loopc_error error = {};
    if (int status = loopc_session_get_state(
            get(), find(states(), name, "state"), &copy, &error))
      throw RunError(status, error.message);
    return Value(copy);
  }
  void setState(std::string_view name, const Value &value) {
    loopc_error error = {};
    if (int status = loopc_session_set_state(
            get(), find(states(), name, "state"), &value.get(), &error))
      throw RunError(status, error.message);
  }
  void resetStates() { loopc_session_reset_states(get()); }

  /// For the functions of the C API that are not here.
  loopc_session *get() const { return session.get(); }

private:
  Session() = default;

  template <typename Create> void make(Create create) {
    detail::Said said;
    loopc_session *made = nullptr;
    int status = create(&made, said.get());
    session.reset(made);
    said.check(status);
  }

  std::span<const loopc_port> states() const {
    return {model().inputs + inputs().size(), size_t(model().num_states)};
  }

  static size_t find(std::span<const loopc_port> ports, std::string_view name,
                     const char *what) {
    std::string known;
    for (size_t k = 0; k < ports.size(); ++k) {
      if (name == ports[k].name)
        return k;
      known += std::string(k ? ", '" : "'") + ports[k].name + "'";
    }
    throw RunError(LOOPC_ERROR_INPUT,
                   std::string("the model has no ") + what + " '" +
                       std::string(name) +
                       "'; it has: " + (known.empty() ? "none" : known));
  }

  struct Destroy {
    void operator()(loopc_session *session) const {
      loopc_session_destroy(session);
    }
  };
  std::unique_ptr<loopc_session, Destroy> session;
};

/// Where the time of runs went: give its options to runs of a session that
/// was made with Options::profile(true).
class Profile {
public:
  Profile() : profile(loopc_profile_create()) {
    if (!profile)
      throw std::bad_alloc();
    options.size = sizeof(options);
    options.profile = loopc_profile_add;
    options.profile_context = profile.get();
  }

  /// For Session::run(), which adds the run.
  const loopc_run_options *runOptions() const { return &options; }
  /// A table of nodes and loops.
  std::string table() const { return loopc_profile_table(profile.get()); }
  /// Writes a trace for Perfetto.
  void write(const std::string &path) const {
    if (int status = loopc_profile_write(profile.get(), path.c_str()))
      throw CompileError(
          status, "cannot write '" + path + "': " + std::strerror(errno), "");
  }

private:
  struct Destroy {
    void operator()(loopc_profile *profile) const {
      loopc_profile_destroy(profile);
    }
  };
  std::unique_ptr<loopc_profile, Destroy> profile;
  loopc_run_options options = {};
};

} // namespace loopc

#endif // LOOPC_LOOPC_HPP
