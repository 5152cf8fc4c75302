//===- Kernel.cpp - Runs of fused nodes -----------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <thread>

using namespace loopc::ort;

namespace {

/// The values of a run. Those of most nodes have room on the stack.
class Values {
public:
  explicit Values(size_t count) : count(count) {
    if (count > kInline)
      more.reset(new loopc_value[count]);
    std::memset(get(), 0, count * sizeof(loopc_value));
  }
  ~Values() {
    for (size_t k = 0; k < count; ++k)
      loopc_value_release(&get()[k]);
  }
  Values(const Values &) = delete;
  Values &operator=(const Values &) = delete;

  loopc_value *get() { return more ? more.get() : room; }
  loopc_value &operator[](size_t k) { return get()[k]; }

private:
  static constexpr size_t kInline = 12;
  size_t count;
  std::unique_ptr<loopc_value[]> more;
  loopc_value room[kInline];
};

/// Texts that a run reads, as loopc has them.
struct Texts {
  std::string text;
  std::vector<loopc_string> strings;
};

/// One run.
class Run {
public:
  /// \p compiled: what is run. \p log: where values lie is kept for it.
  Run(const Api &api, const CompiledNodes &compiled, OrtKernelContext *context,
      bool log)
      : api(api), compiled(compiled), context(context), log(log) {}

  void readInput(size_t number, loopc_value &value);
  /// Lets tensors that are results lie in memory of onnxruntime's.
  void placeOutputs(loopc_run_options &options);
  /// Lets the flag in onnxruntime's options of the run end it.
  void watch(const Runs &runs, loopc_run_options &options);
  /// Lets parallel loops run on onnxruntime's threads.
  void lendThreads(loopc_run_options &options);
  void writeOutput(size_t number, const loopc_value &value);

  /// "'x' is read at 0x1000, 'y' is written at 0x2000".
  std::string places;

private:
  /// Whether onnxruntime's options, or those of the session, end the run.
  bool isOver() const;
  /// The memory of an output, which onnxruntime makes; null where nobody wants
  /// it. Throws Error.
  void *place(size_t number, const int64_t *shape, size_t rank);
  void note(const char *name, const char *what, const void *data);
  /// The shape of an input as its port has it.
  const int64_t *fitShape(const loopc_type &type, const int64_t *shape,
                          size_t rank);
  void readTensor(const char *name, const loopc_type &type,
                  const OrtValue *given, loopc_value &value);
  void readSequence(const loopc_port &port, const OrtValue *given,
                    loopc_value &value);
  void readStrings(const OrtValue *given, const int64_t *shape, size_t rank,
                   loopc_value &value);
  void writeStrings(size_t index, const loopc_strings &strings);

  const Api &api;
  const CompiledNodes &compiled;
  OrtKernelContext *context;
  bool log;
  /// Of onnxruntime, which compiled code cannot be left with.
  std::exception_ptr problem;
  const Runs *runs = nullptr;           ///< where `watch` was called
  const OrtRunOptions *given = nullptr; ///< of this run; null: not known yet
  loopc_cancel_token watched = {};
  std::deque<Texts> texts;
  std::vector<Owned<OrtValue>> items; ///< of sequences
  std::deque<std::vector<loopc_value>> sequences;
  std::deque<std::vector<int64_t>> shapes;
};

} // namespace

static int64_t countElements(const int64_t *shape, size_t rank) {
  int64_t count = 1;
  for (size_t dim = 0; dim < rank; ++dim)
    count *= shape[dim];
  return count;
}

/// A tensor of one element is a scalar where the port is one: programs give
/// [16000] for a rate, and onnxruntime does not mind.
static size_t fitRank(const loopc_type &type, const int64_t *shape,
                      size_t rank) {
  bool isOne = std::all_of(shape, shape + rank,
                           [](int64_t extent) { return extent == 1; });
  return type.rank == 0 && isOne ? 0 : rank;
}

/// Some of onnxruntime's kernels give empty tensors other extents than their
/// operators say, as ReduceMax of nothing, and its own Loop does not mind.
const int64_t *Run::fitShape(const loopc_type &type, const int64_t *shape,
                             size_t rank) {
  if (countElements(shape, rank) != 0 ||
      type.rank != static_cast<int32_t>(rank))
    return shape;
  std::vector<int64_t> fitted(shape, shape + rank);
  for (size_t dim = 0; dim < rank; ++dim)
    if (type.dims[dim].extent >= 0)
      fitted[dim] = type.dims[dim].extent;
  if (std::equal(fitted.begin(), fitted.end(), shape) ||
      countElements(fitted.data(), rank) != 0)
    return shape;
  return shapes.emplace_back(std::move(fitted)).data();
}

void Run::readStrings(const OrtValue *given, const int64_t *shape, size_t rank,
                      loopc_value &value) {
  Texts &held = texts.emplace_back();
  auto count = static_cast<size_t>(countElements(shape, rank));
  held.text.resize(get<size_t>(api, api.GetStringTensorDataLength, given));
  std::vector<size_t> offsets(count);
  if (count != 0)
    api.check(api.GetStringTensorContent(
        given, held.text.data(), held.text.size(), offsets.data(), count));
  offsets.push_back(held.text.size());
  for (size_t i = 0; i < count; ++i)
    held.strings.push_back(
        {held.text.data() + offsets[i], offsets[i + 1] - offsets[i]});
  value.kind = LOOPC_STRINGS;
  value.as.strings = {held.strings.data(), const_cast<int64_t *>(shape),
                      static_cast<int32_t>(rank)};
}

void Run::note(const char *name, const char *what, const void *data) {
  if (!log)
    return;
  char address[32];
  std::snprintf(address, sizeof(address), "%p", data);
  places.append(places.empty() ? "" : ", ").append("'").append(name);
  places.append("' is ").append(what).append(" at ").append(address);
}

void Run::readTensor(const char *name, const loopc_type &type,
                     const OrtValue *given, loopc_value &value) {
  int32_t elementType = 0;
  const int64_t *shape = nullptr;
  size_t rank = 0;
  api.check(api.GetTensorElementTypeAndShapeDataReference(given, &elementType,
                                                          &shape, &rank));
  if (elementType != type.onnx_type)
    throw Error(kInvalidArgument,
                std::string("input '") + name + "' has elements of type " +
                    std::to_string(elementType) + ", expected " +
                    std::to_string(type.onnx_type));
  rank = fitRank(type, shape, rank);
  shape = fitShape(type, shape, rank);
  if (elementType == kString)
    return readStrings(given, shape, rank, value);
  value.kind = LOOPC_TENSOR;
  DLTensor &tensor = value.as.tensor;
  tensor.data =
      const_cast<void *>(get<const void *>(api, api.GetTensorData, given));
  note(name, "read", tensor.data);
  tensor.device = {kDLCPU, 0};
  tensor.ndim = static_cast<int32_t>(rank);
  tensor.dtype = type.dtype;
  tensor.shape = const_cast<int64_t *>(shape);
}

/// onnxruntime hands out copies of the items.
void Run::readSequence(const loopc_port &port, const OrtValue *given,
                       loopc_value &value) {
  auto *allocator =
      get<OrtAllocator *>(api, api.GetAllocatorWithDefaultOptions);
  size_t count = get<size_t>(api, api.GetValueCount, given);
  std::vector<loopc_value> &read = sequences.emplace_back(count);
  for (size_t k = 0; k < count; ++k) {
    items.push_back(own(get<OrtValue *>(api, api.GetValue, given,
                                        static_cast<int>(k), allocator),
                        api.ReleaseValue));
    readTensor(port.name, *port.type->element, items.back().get(), read[k]);
  }
  value.kind = LOOPC_SEQUENCE;
  value.as.sequence = {read.data(), count};
}

void Run::readInput(size_t number, loopc_value &value) {
  const loopc_port &port = compiled.model->get().inputs[number];
  auto *given = get<const OrtValue *>(api, api.KernelContext_GetInput, context,
                                      compiled.inputs[number]);
  if (!given)
    throw Error(kInvalidArgument,
                std::string("input '") + port.name + "' was not given");
  if (port.type->kind == LOOPC_SEQUENCE)
    return readSequence(port, given, value);
  readTensor(port.name, *port.type, given, value);
}

void Run::writeStrings(size_t index, const loopc_strings &strings) {
  auto rank = static_cast<size_t>(strings.ndim);
  auto *output =
      get<OrtValue *>(api, api.KernelContext_GetOutput, context, index,
                      static_cast<const int64_t *>(strings.shape), rank);
  if (!output) // nobody wants it
    return;
  auto count = static_cast<size_t>(countElements(strings.shape, rank));
  for (size_t i = 0; i < count; ++i) {
    const loopc_string &text = strings.data[i];
    auto *room = get<char *>(api, api.GetResizedStringTensorElementBuffer,
                             output, i, text.size);
    if (text.size != 0)
      std::memcpy(room, text.data, text.size);
  }
}

void *Run::place(size_t number, const int64_t *shape, size_t rank) {
  auto *output = get<OrtValue *>(api, api.KernelContext_GetOutput, context,
                                 compiled.outputs[number], shape, rank);
  if (!output)
    return nullptr;
  auto *data = get<void *>(api, api.GetTensorMutableData, output);
  note(compiled.model->get().outputs[number].name, "written", data);
  return data;
}

void Run::placeOutputs(loopc_run_options &options) {
  options.place_context = this;
  options.place_output = [](void *context, size_t number, const int64_t *shape,
                            int32_t rank) -> void * {
    auto &run = *static_cast<Run *>(context);
    try {
      return run.place(number, shape, static_cast<size_t>(rank));
    } catch (...) {
      run.problem = std::current_exception();
      return nullptr;
    }
  };
}

void Run::watch(const Runs &ofSession, loopc_run_options &options) {
  runs = &ofSession;
  given = runs->find();
  // Asked wherever the run looks whether it is to end, since each answer but
  // that it does leaves the token as it is.
  loopc_interrupt(&watched);
  options.cancel = &watched;
  options.interrupt_context = this;
  options.interrupt = [](void *context) {
    auto &run = *static_cast<Run *>(context);
    return run.isOver() ? 1 : -1;
  };
}

bool Run::isOver() const {
  return __atomic_load_n(&runs->cancel.requested, __ATOMIC_RELAXED) ||
         api.isTerminated(given ? given : runs->find());
}

void Run::lendThreads(loopc_run_options &options) {
  options.parallel_context = this;
  options.parallel_for = [](void *context, void (*work)(void *, size_t),
                            void *argument, size_t count) {
    auto &run = *static_cast<Run *>(context);
    OrtStatus *status = run.api.KernelContext_ParallelFor(
        run.context, work, count, /*batches=*/0, argument);
    if (!status)
      return;
    // It has called nothing.
    run.api.ReleaseStatus(status);
    for (size_t k = 0; k < count; ++k)
      work(argument, k);
  };
}

void Run::writeOutput(size_t number, const loopc_value &value) {
  if (problem)
    std::rethrow_exception(problem);
  // Tensors are where they belong, or nobody wants them.
  if (value.kind == LOOPC_STRINGS)
    writeStrings(compiled.outputs[number], value.as.strings);
}

static ErrorCode getCode(int status) {
  switch (status) {
  case LOOPC_ERROR_INPUT:
  case LOOPC_ERROR_OUTPUT:
  case LOOPC_ERROR_DIM_NAME:
    return kInvalidArgument;
  case LOOPC_ERROR_RUNTIME:
    return kRuntimeException;
  case LOOPC_ERROR_CPU:
  case LOOPC_ERROR_ABI:
    return kProviderFail;
  default:
    return kFail;
  }
}

/// Where nobody says a number, onnxruntime's pool has a thread for each core;
/// members of a loop that it has no threads for come one after the other.
static int32_t countThreads(const Options &options) {
  if (options.numThreads != 0)
    return options.numThreads;
  if (!options.borrowsThreads)
    return 1;
  return static_cast<int32_t>(
      std::clamp(std::thread::hardware_concurrency(), 1u, 64u));
}

Kernel::Kernel(const Api &api, const OrtLogger *logger, std::string name,
               CompiledNodes compiled, const Options &options, Runs &runs)
    : OrtNodeComputeInfo{}, api(api), logger(nullptr), name(std::move(name)),
      compiled(std::move(compiled)), runs(runs),
      borrowsThreads(options.borrowsThreads) {
  if (logger &&
      get<int32_t>(api, api.Logger_GetLoggingSeverityLevel, logger) == kVerbose)
    this->logger = logger;
  version = kVersion;
  createState = [](OrtNodeComputeInfo *self, OrtNodeComputeContext *,
                   void **state) -> OrtStatus * {
    *state = self;
    return nullptr;
  };
  compute = [](OrtNodeComputeInfo *self, void *, OrtKernelContext *context) {
    auto *kernel = static_cast<Kernel *>(self);
    return kernel->api.guard([&] { kernel->run(context); });
  };
  releaseState = [](OrtNodeComputeInfo *, void *) {};
  runOptions.size = sizeof(runOptions);
  runOptions.cancel = &runs.cancel;
  runOptions.timeout_seconds = options.timeout;
  runOptions.num_threads = countThreads(options);
  runOptions.memory_limit = options.memoryLimit;
}

void Kernel::run(OrtKernelContext *context) const {
  if (!compiled.model)
    throw Error(kProviderFail, compiled.problem);
  Run run(api, compiled, context, logger != nullptr);
  Values given(compiled.inputs.size());
  for (size_t k = 0; k < compiled.inputs.size(); ++k)
    run.readInput(k, given[k]);
  Values results(compiled.outputs.size());
  loopc_run_options options = runOptions;
  run.placeOutputs(options);
  if (api.seesTermination())
    run.watch(runs, options);
  if (borrowsThreads)
    run.lendThreads(options);
  loopc_run_statistics statistics = {};
  if (logger)
    options.statistics = &statistics;
  loopc_error error;
  if (int status =
          loopc_session_run(compiled.model->getSession(), &options, given.get(),
                            compiled.inputs.size(), results.get(),
                            compiled.outputs.size(), &error))
    throw Error(getCode(status), error.message);
  for (size_t k = 0; k < compiled.outputs.size(); ++k)
    run.writeOutput(k, results[k]);
  if (logger)
    api.log(logger, kVerbose,
            name + ": " + run.places + "; " +
                std::to_string(statistics.copied_bytes) +
                " bytes copied, at most " +
                std::to_string(statistics.peak_bytes) + " bytes of its own");
}
