//===- Model.cpp - A run from beginning to end ----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Border.h"
#include "CpuFeatures.h"
#include "DeviceBorder.h"
#include "Guard.h"
#include "Profile.h"
#include "Run.h"
#include "Value.h"

#include <string.h>

using namespace loopc::rt;

static const char *getName(const loopc_model &model) {
  return model.name ? model.name : "";
}

static int32_t checkFeatures(loopc_run &run, const loopc_model &model) {
  const char *name;
  size_t size;
  switch (checkCpuFeatures(model.cpu_features, name, size)) {
  case FeatureState::Present:
    return LOOPC_OK;
  case FeatureState::Missing:
    return recordError(run, LOOPC_ERROR_CPU,
                       "model '%s' needs the CPU feature '%.*s', which this "
                       "machine lacks",
                       getName(model), static_cast<int>(size), name);
  case FeatureState::Unknown:
    break;
  }
  return recordError(run, LOOPC_ERROR_CPU,
                     "model '%s' needs the CPU feature '%.*s', which this "
                     "runtime does not know",
                     getName(model), static_cast<int>(size), name);
}

static int32_t checkModel(loopc_run &run, const loopc_model *model) {
  if (!model)
    return recordError(run, LOOPC_ERROR_ABI, "the model is null");
  if (model->abi_version != LOOPC_ABI_VERSION)
    return recordError(
        run, LOOPC_ERROR_ABI,
        "the model was compiled for ABI version %u, this runtime has %u",
        model->abi_version, unsigned{LOOPC_ABI_VERSION});
  constexpr uint32_t kFlags =
      LOOPC_MODEL_STATES | LOOPC_MODEL_GUARDED | LOOPC_MODEL_PROFILED;
  if (model->flags & ~kFlags)
    return recordError(run, LOOPC_ERROR_ABI,
                       "model '%s' has flags 0x%x, which this runtime does "
                       "not know",
                       getName(*model), model->flags);
  if (!model->entry || (model->num_inputs && !model->inputs) ||
      (model->num_outputs && !model->outputs) ||
      model->num_states > model->num_inputs ||
      model->num_states > model->num_outputs ||
      (model->num_states && !model->defaults))
    return recordError(run, LOOPC_ERROR_ABI, "model '%s' is incomplete",
                       getName(*model));
  if (int32_t status = checkFeatures(run, *model))
    return status;
  run.heap.isGuarded = model->flags & LOOPC_MODEL_GUARDED;
  if (run.reportProfile && !(model->flags & LOOPC_MODEL_PROFILED))
    return recordError(run, LOOPC_ERROR_INPUT,
                       "the options ask for a profile, but model '%s' was "
                       "compiled without; compile it with --profile",
                       getName(*model));
  run.deviceProgram = model->device_program;
  if (!run.deviceProgram &&
      (run.deviceNumber || run.returnsOnDevice || run.stream))
    return recordError(run, LOOPC_ERROR_INPUT,
                       "the options name a device, its stream or results on "
                       "it, but model '%s' was compiled for the CPU",
                       getName(*model));
  for (size_t k = 0; k < model->num_inputs; ++k)
    if (int32_t status =
            checkPortType(run, getInputName(*model, k), model->inputs[k].type))
      return status;
  for (size_t k = 0; k < model->num_outputs; ++k)
    if (int32_t status = checkPortType(run, getOutputName(*model, k),
                                       model->outputs[k].type))
      return status;
  return LOOPC_OK;
}

/// No version of the options will be larger.
static constexpr size_t kMaxOptionsSize = 4096;

/// Reads the caller's options, those of other versions of the header included:
/// what is missing at the end is zero, what is unknown must be zero.
static int32_t readOptions(loopc_run &run, const loopc_run_options *given,
                           loopc_run_statistics *&statistics) {
  loopc_run_options options = {};
  if (given) {
    // What the first version of the options had.
    constexpr size_t kFirstSize = offsetof(loopc_run_options, statistics);
    size_t size = given->size;
    // A large size is a sign of memory that was never written.
    if (size < kFirstSize || size > kMaxOptionsSize)
      return recordError(run, LOOPC_ERROR_ABI,
                         "the run options have size %zu, expected %zu", size,
                         sizeof(options));
    memcpy(&options, given, size < sizeof(options) ? size : sizeof(options));
    const char *bytes = reinterpret_cast<const char *>(given);
    for (size_t i = offsetof(loopc_run_options, reserved); i < size; ++i)
      if (bytes[i] != 0)
        return recordError(
            run, LOOPC_ERROR_ABI,
            "the run options ask for what this runtime does not know");
  }
  statistics = options.statistics;
  run.deviceSeconds = options.device_seconds;
  if (run.deviceSeconds)
    *run.deviceSeconds = 0;
  // Written so that NaN is refused.
  if (!(options.timeout_seconds >= 0))
    return recordError(run, LOOPC_ERROR_INPUT, "the timeout is %g seconds",
                       options.timeout_seconds);
  if (options.num_threads < 0)
    return recordError(run, LOOPC_ERROR_INPUT, "the number of threads is %d",
                       options.num_threads);
  run.allocator = getDefaultAllocator();
  if (options.allocator) {
    if (!options.allocator->allocate || !options.allocator->deallocate)
      return recordError(run, LOOPC_ERROR_INPUT,
                         "the allocator lacks a function");
    run.allocator = *options.allocator;
    run.defaultAllocator = false;
  }
  if (options.device < 0)
    return recordError(run, LOOPC_ERROR_INPUT, "the number of the device is %d",
                       options.device);
  run.deviceNumber = options.device;
  run.returnsOnDevice = options.device_results != 0;
  run.stream = options.stream;
  run.cancel = options.cancel;
  run.interrupt = options.interrupt;
  run.interruptContext = options.interrupt_context;
  run.placeOutput = options.place_output;
  run.placeContext = options.place_context;
  run.reportProfile = options.profile;
  run.profileContext = options.profile_context;
  run.parallelFor = options.parallel_for;
  run.parallelContext = options.parallel_context;
  run.memoryLimit = options.memory_limit;
  run.hasDefaultThreads = options.num_threads == 0;
  run.numThreads =
      run.hasDefaultThreads ? countDefaultThreads() : options.num_threads;
  // 200 years and more are no deadline.
  if (options.timeout_seconds > 0 && options.timeout_seconds < 6e9)
    run.deadline =
        readClock() + static_cast<int64_t>(options.timeout_seconds * 1e9);
  return LOOPC_OK;
}

static int32_t checkCount(loopc_run &run, const loopc_model &model,
                          const char *what, size_t given, size_t expected,
                          const void *values) {
  if (given != expected && model.num_states)
    return recordError(
        run, LOOPC_ERROR_INPUT,
        "model '%s' has %zu %s and %zu states, together %zu, %zu "
        "were given",
        getName(model), expected - model.num_states, what,
        static_cast<size_t>(model.num_states), expected, given);
  if (given != expected)
    return recordError(run, LOOPC_ERROR_INPUT,
                       "model '%s' has %zu %s, %zu were given", getName(model),
                       expected, what, given);
  if (expected != 0 && !values)
    return recordError(run, LOOPC_ERROR_INPUT, "the %s are null", what);
  return LOOPC_OK;
}

namespace {

/// The arguments of a model's entry and what is needed to return its results.
struct Frame {
  void **inputs;
  void **outputs;
  Result *results;
};

/// Frames up to this size live on the stack.
constexpr size_t kInlineFrame = 2048;

} // namespace

/// Lays a frame out in `storage`, or in memory of the run.
static bool createFrame(loopc_run &run, const loopc_model &model, char *storage,
                        Frame &frame) {
  size_t numSlots = model.num_inputs + model.num_states;
  size_t words = numSlots + model.num_outputs +
                 model.num_states * Descriptor::getNumWords(0);
  for (size_t k = 0; k < model.num_inputs; ++k)
    words += getSlotWords(*model.inputs[k].type);
  for (size_t k = 0; k < model.num_outputs; ++k)
    words += getSlotWords(*model.outputs[k].type);
  size_t resultBytes = model.num_outputs * sizeof(Result);
  size_t bytes = resultBytes + words * sizeof(int64_t);
  if (bytes > kInlineFrame) {
    storage = static_cast<char *>(
        allocate(run, static_cast<int64_t>(bytes), /*byModel=*/false));
    if (!storage)
      return false;
  }
  // A result that the model forgets must not be memory that was here before.
  memset(storage, 0, bytes);
  static_assert(alignof(Result) == alignof(int64_t));
  frame.results = reinterpret_cast<Result *>(storage);
  frame.inputs = reinterpret_cast<void **>(storage + resultBytes);
  frame.outputs = frame.inputs + numSlots;
  auto *slot = reinterpret_cast<int64_t *>(frame.outputs + model.num_outputs);
  for (size_t k = 0; k < model.num_inputs; ++k) {
    frame.inputs[k] = slot;
    slot += getSlotWords(*model.inputs[k].type);
  }
  for (size_t k = model.num_inputs; k < numSlots; ++k) {
    frame.inputs[k] = slot;
    slot += Descriptor::getNumWords(0);
  }
  for (size_t k = 0; k < model.num_outputs; ++k) {
    frame.outputs[k] = slot;
    slot += getSlotWords(*model.outputs[k].type);
  }
  return true;
}

/// Says of each state whether it was given.
static void passStateFlags(const loopc_model &model, const loopc_value *inputs,
                           const Frame &frame) {
  static const bool flags[] = {false, true};
  for (size_t k = 0; k < model.num_states; ++k) {
    const loopc_value &state = inputs[model.num_inputs - model.num_states + k];
    Descriptor{static_cast<int64_t *>(frame.inputs[model.num_inputs + k])}.set(
        &flags[state.kind != 0], 0, nullptr);
  }
}

/// The run itself; whatever it leaves in `run` is released by the caller.
static int32_t runModel(loopc_run &run, const loopc_model *model,
                        const loopc_run_options *options,
                        loopc_run_statistics *&statistics,
                        const loopc_value *inputs, size_t numInputs,
                        loopc_value *outputs, size_t numOutputs) {
  int32_t status = readOptions(run, options, statistics);
  if (!status)
    status = checkModel(run, model);
  if (!status)
    status =
        checkCount(run, *model, "inputs", numInputs, model->num_inputs, inputs);
  if (!status)
    status = checkCount(run, *model, "outputs", numOutputs, model->num_outputs,
                        outputs);
  if (!status)
    status = checkInputs(run, *model, inputs);
  if (!status)
    status = checkOutputs(run, *model, outputs);
  if (!status)
    status = openForValues(run, *model, inputs, outputs);
  if (status)
    return status;
  alignas(alignof(Result)) char storage[kInlineFrame];
  Frame frame;
  if (!createFrame(run, *model, storage, frame))
    return getStatus(run);
  for (size_t k = 0; k < numInputs; ++k) {
    status = passInput(run, *model, k, inputs,
                       static_cast<int64_t *>(frame.inputs[k]));
    if (status)
      return status;
  }
  passStateFlags(*model, inputs, frame);
  if ((status = loopc_rt_poll(&run)))
    return status;
  Border border = {model, inputs, outputs, frame.results};
  // Guarded memory has pages of its own, and a GPU's is not the caller's.
  if (!run.heap.isGuarded && !run.deviceProgram)
    run.border = &border;
  int32_t returned = model->entry(&run, frame.inputs, frame.outputs);
  stopProfile(run);
  // An error that code in a parallel loop recorded counts whatever the entry
  // returns.
  if ((status = getStatus(run)))
    return status;
  if (returned != 0)
    return recordError(run, LOOPC_ERROR_RUNTIME,
                       "model '%s' failed with status %d and no message",
                       getName(*model), returned);
  if ((status = waitForDevice(run)) || (status = checkGuardedBlocks(run)))
    return status;
  return returnOutputs(run, *model, frame.outputs, frame.results, outputs);
}

static void clearError(loopc_error *error) {
  if (!error)
    return;
  error->status = LOOPC_OK;
  error->message[0] = 0;
}

extern "C" int loopc_model_run(const loopc_model *model,
                               const loopc_run_options *options,
                               const loopc_value *inputs, size_t numInputs,
                               loopc_value *outputs, size_t numOutputs,
                               loopc_error *error) {
  clearError(error);
  loopc_run run;
  run.error = error;
  loopc_run_statistics *statistics = nullptr;
  int32_t status = runModel(run, model, options, statistics, inputs, numInputs,
                            outputs, numOutputs);
  if (run.profile)
    endProfile(run, getName(*model));
  if (run.endTeam)
    run.endTeam(run);
  if (run.endGpu)
    run.endGpu(run);
  if (statistics)
    *statistics = run.statistics;
  releaseHeap(run);
  return status;
}

extern "C" int loopc_model_check(const loopc_model *model, loopc_error *error) {
  clearError(error);
  loopc_run run;
  run.error = error;
  return checkModel(run, model);
}

extern "C" int loopc_model_check_input(const loopc_model *model, size_t number,
                                       const loopc_value *value,
                                       loopc_error *error) {
  clearError(error);
  loopc_run run;
  run.error = error;
  if (int32_t status = checkModel(run, model))
    return status;
  if (number >= model->num_inputs || !value)
    return recordError(run, LOOPC_ERROR_INPUT,
                       "model '%s' has no input #%zu, or its value is null",
                       getName(*model), number);
  // Nobody said yet where the model will run.
  run.deviceNumber = kAnyDevice;
  return checkInput(run, *model, number, *value);
}
