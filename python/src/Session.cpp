//===- Session.cpp - A model in Python ------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "DeviceTensor.h"
#include "Interrupt.h"
#include "Values.h"

#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <numeric>

using namespace loopc::python;

//===----------------------------------------------------------------------===//
// Options and diagnostics
//===----------------------------------------------------------------------===//

static void addDims(loopc_compile_options *options, nb::handle dims) {
  for (auto [name, extent] : nb::cast<nb::dict>(dims)) {
    auto text = nb::cast<std::string>(name);
    int64_t number = extent.is_none() ? -1 : nb::cast<int64_t>(extent);
    if (loopc_compile_options_add_dim(options, text.c_str(), number))
      throw ArgumentError("the dimension '" + text +
                          "' must be 0 or greater, and have one value");
  }
}

static void addStates(loopc_compile_options *options, nb::handle states) {
  for (auto [input, output] : nb::cast<nb::dict>(states))
    if (loopc_compile_options_add_state(options,
                                        nb::cast<std::string>(input).c_str(),
                                        nb::cast<std::string>(output).c_str()))
      throw ArgumentError("states: a name is empty");
}

static void addShapes(loopc_compile_options *options, nb::handle shapes) {
  for (auto [name, shape] : nb::cast<nb::dict>(shapes)) {
    auto text = nb::cast<std::string>(name);
    std::vector<int64_t> extents;
    for (nb::handle extent : shape)
      extents.push_back(extent.is_none() ? -1 : nb::cast<int64_t>(extent));
    if (loopc_compile_options_add_shape(options, text.c_str(), extents.data(),
                                        extents.size()))
      throw ArgumentError("the shape of '" + text +
                          "' must consist of extents or None, once");
  }
}

static void disablePasses(loopc_compile_options *options, nb::handle passes) {
  for (nb::handle pass : passes)
    if (loopc_compile_options_disable_pass(options,
                                           nb::cast<std::string>(pass).c_str()))
      throw ArgumentError("'disabled_passes' wants names of passes");
}

static void addCustomOps(loopc_compile_options *options, nb::handle paths) {
  for (nb::handle path : paths)
    if (loopc_compile_options_add_custom_ops(
            options, nb::cast<std::string>(path).c_str()))
      throw ArgumentError("'custom_ops' wants paths of libraries");
}

Options loopc::python::makeOptions(const nb::dict &dict) {
  Options options(loopc_compile_options_create());
  if (!options)
    throw std::bad_alloc();
  using SetText = int (*)(loopc_compile_options *, const char *);
  using SetInt = int (*)(loopc_compile_options *, int);
  static const std::unordered_map<std::string_view, SetText> texts = {
      {"target", loopc_compile_options_set_target},
      {"cpu", loopc_compile_options_set_cpu},
      {"features", loopc_compile_options_set_features},
      {"chip", loopc_compile_options_set_chip},
      {"device_loops", loopc_compile_options_set_device_loops},
      {"cublas", loopc_compile_options_set_cublas},
      {"weights", loopc_compile_options_set_weights},
      {"name", loopc_compile_options_set_name},
      {"cache", loopc_compile_options_set_cache},
      {"tier", loopc_compile_options_set_tier},
      {"base_directory", loopc_compile_options_set_base_directory}};
  static const std::unordered_map<std::string_view, SetInt> integers = {
      {"opt_level", loopc_compile_options_set_opt_level},
      {"ort_compat", loopc_compile_options_set_ort_compat},
      {"fp_contract", loopc_compile_options_set_fp_contract},
      {"min_kernel_work", loopc_compile_options_set_min_kernel_work},
      {"allow_tf32", loopc_compile_options_set_allow_tf32},
      {"verify", loopc_compile_options_set_verify},
      {"strict_cache", loopc_compile_options_set_strict_cache},
      {"profile", loopc_compile_options_set_profile},
      {"check_accesses", loopc_compile_options_set_check_accesses}};
  for (auto [keyObject, value] : dict) {
    if (value.is_none())
      continue;
    auto key = nb::cast<std::string>(keyObject);
    int status = 0;
    if (auto text = texts.find(key); text != texts.end())
      status =
          text->second(options.get(), nb::cast<std::string>(value).c_str());
    else if (auto integer = integers.find(key); integer != integers.end())
      status = integer->second(options.get(),
                               static_cast<int>(nb::cast<int64_t>(value)));
    else if (key == "dims")
      addDims(options.get(), value);
    else if (key == "shapes")
      addShapes(options.get(), value);
    else if (key == "states")
      addStates(options.get(), value);
    else if (key == "disabled_passes")
      disablePasses(options.get(), value);
    else if (key == "custom_ops")
      addCustomOps(options.get(), value);
    else if (key == "timeout")
      status = loopc_compile_options_set_timeout(options.get(),
                                                 nb::cast<double>(value));
    else if (key == "cancel")
      status = loopc_compile_options_set_cancel(
          options.get(), nb::cast<CancelToken &>(value).get());
    else if (key == "progress")
      continue; // of CompileWatch
    else
      throw ArgumentError("there is no compile option '" + key + "'");
    if (status)
      throw ArgumentError("the value " +
                          nb::cast<std::string>(nb::repr(value)) +
                          " of the option '" + key + "' is not valid");
  }
  return options;
}

CompileWatch::CompileWatch(const nb::dict &dict, loopc_compile_options *options)
    : function(dict.contains("progress") ? nb::object(dict["progress"])
                                         : nb::none()) {
  loopc_compile_options_set_progress(options, &CompileWatch::poll, this);
}

int CompileWatch::poll(void *context, const loopc_progress *progress) {
  auto &self = *static_cast<CompileWatch *>(context);
  nb::gil_scoped_acquire locked;
  // On other threads than the main one it does nothing.
  if (PyErr_CheckSignals()) {
    self.raised.emplace();
    return 1;
  }
  if (self.function.is_none())
    return 0;
  try {
    self.function(progress->phase, progress->fraction, progress->seconds);
    return 0;
  } catch (nb::python_error &error) {
    self.raised.emplace(std::move(error));
    return 1;
  }
}

void CompileWatch::rethrow() {
  if (raised)
    throw std::move(*raised);
}

/// Text that may hold the name of a file, in whatever encoding.
static nb::object decode(const char *text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text, std::strlen(text), "surrogateescape"));
}

nb::list loopc::python::takeDiagnostics(loopc_diagnostics *diagnostics) {
  nb::list list;
  for (size_t i = 0, n = loopc_diagnostics_count(diagnostics); i < n; ++i) {
    loopc_diagnostic one = loopc_diagnostics_get(diagnostics, i);
    list.append(nb::make_tuple(one.severity, one.code, decode(one.location),
                               decode(one.message),
                               decode(loopc_diagnostics_text(diagnostics, i))));
  }
  loopc_diagnostics_destroy(diagnostics);
  return list;
}

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

Session::Session(loopc_session *session)
    : session(session), model(loopc_session_model(session)) {
  for (size_t i = 0; i < numInputs(); ++i)
    inputNames.emplace(model->inputs[i].name, i);
  for (size_t i = 0; i < numOutputs(); ++i)
    outputNames.emplace(model->outputs[i].name, i);
  for (size_t i = 0; i < model->num_states; ++i)
    stateNames.emplace(loopc_session_state(session, i)->name, i);
}

Session::~Session() { loopc_session_destroy(session); }

static std::string quotedList(const loopc_port *ports, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += std::string(i ? ", '" : "'") + ports[i].name + "'";
  return text.empty() ? "none" : text;
}

size_t Session::findOutput(const std::string &name) const {
  auto found = outputNames.find(name);
  if (found == outputNames.end())
    throw ArgumentError("the model has no output '" + name + "'; it has: " +
                        quotedList(model->outputs, numOutputs()));
  return found->second;
}

std::vector<size_t> Session::chooseOutputs(nb::handle names) const {
  std::vector<size_t> chosen;
  if (names.is_none()) {
    for (size_t i = 0; i < numOutputs(); ++i)
      chosen.push_back(i);
    return chosen;
  }
  // A string is a sequence of characters, and an array of rank 0 has an
  // `__iter__` that raises.
  nb::object all = PyUnicode_Check(names.ptr())
                       ? nb::object()
                       : nb::steal(PyObject_GetIter(names.ptr()));
  if (!all.is_valid()) {
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError))
      throw nb::python_error();
    PyErr_Clear();
    throw ArgumentTypeError(
        "output_names: expected a list of names, got " +
        nb::cast<std::string>(nb::str(nb::type_name(names.type()))));
  }
  for (nb::handle name : nb::iter(all)) {
    std::string text;
    if (!nb::try_cast(name, text))
      throw ArgumentTypeError(
          "output_names: " + nb::cast<std::string>(nb::repr(name)) +
          " is no name of an output");
    chosen.push_back(findOutput(text));
  }
  // As onnxruntime has it: no names are all.
  return chosen.empty() ? chooseOutputs(nb::none()) : chosen;
}

namespace {
/// Outputs that are released unless they were taken.
struct Outputs {
  std::vector<loopc_value> values;
  explicit Outputs(size_t count) : values(count) {}
  ~Outputs() {
    for (loopc_value &value : values)
      loopc_value_release(&value);
  }
};
} // namespace

namespace {
/// Memory of the caller's that outputs are written to: tensors on a device, and
/// arrays of the host as (array, address, shape), whose type is the output's.
struct Buffers {
  std::deque<std::vector<int64_t>> shapes;

  loopc_value addArray(const nb::tuple &array, const loopc_type &type) {
    const auto &shape =
        shapes.emplace_back(nb::cast<std::vector<int64_t>>(array[2]));
    loopc_value value = {};
    value.kind = LOOPC_TENSOR;
    DLTensor &tensor = value.as.tensor;
    tensor.data = reinterpret_cast<void *>(nb::cast<uintptr_t>(array[1]));
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<int32_t>(shape.size());
    tensor.dtype = type.dtype;
    tensor.shape = shapes.back().data();
    return value;
  }

  loopc_value add(nb::handle object, const loopc_type &type) {
    if (nb::isinstance<nb::tuple>(object))
      return addArray(nb::borrow<nb::tuple>(object), type);
    loopc_value value = nb::cast<const DeviceTensor &>(object).getValue();
    value.release = nullptr;
    value.context = nullptr;
    // The run writes the shape of the result.
    DLTensor &given = value.as.tensor;
    given.shape =
        shapes.emplace_back(given.shape, given.shape + given.ndim).data();
    return value;
  }
};
} // namespace

/// The Python object of an output: new memory, or that of a buffer of the
/// caller's, where it has the shape of the result.
static nb::object takeResult(loopc_value &value, nb::handle keep,
                             const nb::dict &buffers, const loopc_port &port) {
  if (!buffers.contains(port.name))
    return takeOutput(value, keep);
  nb::object buffer = buffers[port.name];
  const DLTensor &made = value.as.tensor;
  std::vector<int64_t> shape(made.shape, made.shape + made.ndim);
  if (nb::isinstance<nb::tuple>(buffer)) {
    if (shape == nb::cast<std::vector<int64_t>>(buffer[2]))
      return buffer[0];
    // The first elements, where the result is smaller than the array.
    int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t(1),
                                    std::multiplies<>());
    nb::slice first{static_cast<Py_ssize_t>(count)};
    return buffer[0].attr("reshape")(-1)[first].attr("reshape")(
        nb::cast(shape));
  }
  const DLTensor &given =
      nb::cast<const DeviceTensor &>(buffer).getValue().as.tensor;
  if (std::equal(made.shape, made.shape + made.ndim, given.shape,
                 given.shape + given.ndim))
    return buffer;
  nb::object view = nb::cast(DeviceTensor::view(
      made.device.device_id, findElementType(made.dtype)->numpy, shape,
      reinterpret_cast<uintptr_t>(made.data) + made.byte_offset));
  return view;
}

/// Makes a tensor of one element a scalar where the model wants one: programs
/// give [16000] for a rate.
static void makeScalar(const loopc_type &type, loopc_value &value) {
  DLTensor &tensor = value.as.tensor;
  if (type.kind == LOOPC_TENSOR && type.rank == 0 &&
      value.kind == LOOPC_TENSOR &&
      std::all_of(tensor.shape, tensor.shape + tensor.ndim,
                  [](int64_t extent) { return extent == 1; }))
    tensor.ndim = 0;
}

std::vector<nb::object> Session::matchFeeds(const nb::dict &feeds) const {
  // Owned: converting one input may run Python code that changes the dict.
  std::vector<nb::object> given(numInputs());
  for (auto [nameObject, object] : feeds) {
    Py_ssize_t size = 0;
    const char *name = PyUnicode_Check(nameObject.ptr())
                           ? PyUnicode_AsUTF8AndSize(nameObject.ptr(), &size)
                           : nullptr;
    if (!name)
      throw ArgumentTypeError("input_feed: names of inputs must be str");
    auto found =
        inputNames.find(std::string_view(name, static_cast<size_t>(size)));
    if (found == inputNames.end())
      throw ArgumentError(
          "the model has no input '" + std::string(name, size) +
          "'; it has: " + quotedList(model->inputs, numInputs()));
    given[found->second] = nb::borrow(object);
  }
  return given;
}

/// The values of `given`, by the number of the input, in memory of `arena`.
static std::vector<loopc_value>
convertInputs(const loopc_model &model, const std::vector<nb::object> &given,
              Inputs &arena) {
  std::vector<loopc_value> inputs(given.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const loopc_port &port = model.inputs[i];
    std::string where = std::string("input '") + port.name + "'";
    if (!given[i].is_valid() && hasDefault(model, i))
      continue;
    if (!given[i].is_valid() && port.type->kind == LOOPC_OPTIONAL) {
      arena.convertInput(nb::none(), *port.type, where, inputs[i]);
      continue;
    }
    if (!given[i].is_valid())
      throw ArgumentError(where + " (" + typeName(*port.type) + ") is missing");
    arena.convertInput(given[i], *port.type, where, inputs[i]);
    makeScalar(*port.type, inputs[i]);
  }
  return inputs;
}

/// The options of the C API for one run; what they refer to outlives them.
static loopc_run_options makeRunOptions(const RunSettings &settings,
                                        CancelToken &token,
                                        loopc_run_statistics &statistics,
                                        double &deviceSeconds) {
  loopc_run_options options = {};
  options.size = sizeof(options);
  options.cancel = token.get();
  options.timeout_seconds = settings.timeoutSeconds;
  options.num_threads = settings.numThreads;
  options.memory_limit = settings.memoryLimit;
  options.statistics = &statistics;
  options.device = settings.device;
  options.device_results = settings.deviceResults;
  options.stream = reinterpret_cast<void *>(settings.stream);
  if (settings.profile) {
    options.profile = loopc_profile_add;
    options.profile_context = settings.profile->get();
  }
  if (settings.timesDevice)
    options.device_seconds = &deviceSeconds;
  return options;
}

/// Calls `run` without Python's lock, while signals that Python handles end the
/// run by `token`. \returns the status of `run`. \throws what a handler raised.
template <typename Run>
static int runInterruptibly(CancelToken &token, loopc_run_options &options,
                            Run run) {
  int status;
  bool interrupted, raised;
  {
    InterruptGuard guard(token.get());
    guard.watch(options);
    // What came before the guard, and Python has noted but not yet raised.
    if (PyErr_CheckSignals())
      throw nb::python_error();
    nb::gil_scoped_release unlocked;
    status = run();
    interrupted = guard.interrupted();
    raised = guard.raised();
  }
  if (raised)
    throw nb::python_error();
  if (interrupted) {
    // Not the caller's request: it may use its token again.
    token.reset();
    if (PyErr_CheckSignals())
      throw nb::python_error();
  }
  return status;
}

nb::tuple Session::run(nb::handle names, const nb::dict &feeds,
                       const RunSettings &settings) {
  std::vector<size_t> chosen = chooseOutputs(names);
  std::vector<nb::object> given = matchFeeds(feeds);
  Inputs arena = usesDevice() ? Inputs(settings.stream) : Inputs();
  std::vector<loopc_value> inputs = convertInputs(*model, given, arena);

  Outputs outputs(numOutputs());
  Buffers buffers;
  for (auto [name, object] : settings.buffers) {
    size_t index = findOutput(nb::cast<std::string>(name));
    outputs.values[index] = buffers.add(object, *model->outputs[index].type);
  }
  loopc_error error = {};
  loopc_run_statistics statistics = {};
  CancelToken own;
  CancelToken &token = settings.token ? *settings.token : own;
  double deviceSeconds = 0;
  loopc_run_options options =
      makeRunOptions(settings, token, statistics, deviceSeconds);
  int status = runInterruptibly(token, options, [&] {
    return loopc_session_run(session, &options, inputs.data(), inputs.size(),
                             outputs.values.data(), outputs.values.size(),
                             &error);
  });

  nb::list results;
  if (status == LOOPC_OK) {
    nb::object keep = nb::find(this);
    // An output may be asked for twice, but its memory has one owner.
    std::vector<nb::object> taken(outputs.values.size());
    for (size_t index : chosen) {
      if (!taken[index].is_valid())
        taken[index] = takeResult(outputs.values[index], keep, settings.buffers,
                                  model->outputs[index]);
      results.append(taken[index]);
    }
  }
  return nb::make_tuple(
      status, static_cast<const char *>(error.message), results,
      nb::make_tuple(statistics.allocations, statistics.deallocations,
                     statistics.peak_bytes, statistics.copied_bytes,
                     deviceSeconds));
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

nb::dict Session::getStates() const {
  nb::dict result;
  nb::object keep = nb::find(this);
  for (size_t i = 0; i < model->num_states; ++i) {
    Outputs state(1);
    loopc_error error = {};
    int status;
    {
      nb::gil_scoped_release unlocked;
      status = loopc_session_get_state(session, i, state.values.data(), &error);
    }
    if (status != LOOPC_OK)
      throw std::bad_alloc();
    const char *name = loopc_session_state(session, i)->name;
    result[name] = state.values[0].kind ? takeOutput(state.values[0], keep)
                                        : nb::object(nb::none());
  }
  return result;
}

nb::tuple Session::setStates(const nb::dict &values) {
  Inputs arena = usesDevice() ? Inputs(uintptr_t(0)) : Inputs();
  std::vector<std::pair<size_t, loopc_value>> wanted;
  for (auto [nameObject, object] : values) {
    auto name = nb::cast<std::string>(nameObject);
    auto found = stateNames.find(name);
    if (found == stateNames.end())
      throw ArgumentError(
          "the model has no state '" + name + "'; it has: " +
          quotedList(model->inputs + numInputs(), model->num_states));
    loopc_value value = {};
    if (!object.is_none())
      arena.convert(object, *loopc_session_state(session, found->second)->type,
                    "state '" + name + "'", value);
    wanted.emplace_back(found->second, value);
  }
  // All of them are checked before any is changed.
  loopc_error error = {};
  int status = LOOPC_OK;
  {
    nb::gil_scoped_release unlocked;
    for (auto &[index, value] : wanted)
      if (status == LOOPC_OK)
        status =
            loopc_model_check_input(model, numInputs() + index, &value, &error);
    for (auto &[index, value] : wanted)
      if (status == LOOPC_OK)
        status = loopc_session_set_state(session, index, &value, &error);
  }
  return nb::make_tuple(status, static_cast<const char *>(error.message));
}

void Session::resetStates() {
  nb::gil_scoped_release unlocked;
  loopc_session_reset_states(session);
}
