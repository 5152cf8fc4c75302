//===- State.cpp - What a session keeps between runs ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model itself keeps nothing: its states are inputs and outputs. Here they
// go from the outputs of a run to the inputs of the next.
//
//===----------------------------------------------------------------------===//

#include "Successor.h"
#include "loopc/Support/TensorBytes.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <deque>
#include <new>
#include <stdexcept>

using namespace loopc;
using namespace loopc::capi;

namespace {
/// Memory as the runtime aligns its own.
struct AlignedDeleter {
  static constexpr std::align_val_t kAlignment{64};
  void operator()(char *bytes) const { ::operator delete(bytes, kAlignment); }
};

/// A copy of a value with all its memory.
class OwnedValue {
public:
  explicit OwnedValue(const loopc_value &value) : value(copy(value)) {}

  const loopc_value &get() const { return value; }

private:
  loopc_value copy(const loopc_value &from);
  int64_t *copyShape(const int64_t *shape, int32_t rank, int64_t &count);
  char *copyElements(const DLTensor &tensor, int64_t count);

  std::deque<std::vector<int64_t>> shapes;
  std::deque<std::string> texts;
  std::deque<std::vector<loopc_string>> strings;
  std::deque<std::vector<loopc_value>> items;
  std::deque<std::unique_ptr<char[], AlignedDeleter>> elements;
  loopc_value value;
};

/// Values that are released unless they were taken.
struct Releaser {
  std::vector<loopc_value> &values;
  ~Releaser() {
    for (loopc_value &value : values)
      loopc_value_release(&value);
  }
};
} // namespace

int64_t *OwnedValue::copyShape(const int64_t *shape, int32_t rank,
                               int64_t &count) {
  count = 1;
  for (int32_t k = 0; k < rank; ++k)
    count *= shape[k];
  return shapes.emplace_back(shape, shape + rank).data();
}

char *OwnedValue::copyElements(const DLTensor &tensor, int64_t count) {
  size_t size = (static_cast<size_t>(count) * tensor.dtype.bits + 7) / 8;
  auto *to = static_cast<char *>(
      ::operator new(std::max<size_t>(size, 1), AlignedDeleter::kAlignment));
  elements.emplace_back(to);
  copyInOrder(tensor, to, size);
  return to;
}

loopc_value OwnedValue::copy(const loopc_value &from) {
  loopc_value to = {};
  to.kind = from.kind;
  int64_t count = 0;
  auto copyItems = [&](const loopc_value *begin, size_t size) {
    std::vector<loopc_value> copies;
    for (size_t k = 0; k < size; ++k)
      copies.push_back(copy(begin[k]));
    return items.emplace_back(std::move(copies)).data();
  };
  switch (from.kind) {
  case LOOPC_SEQUENCE: {
    const loopc_sequence &sequence = from.as.sequence;
    to.as.sequence = {copyItems(sequence.items, sequence.count),
                      sequence.count};
    break;
  }
  case LOOPC_OPTIONAL:
    if (from.as.optional.value)
      to.as.optional.value = copyItems(from.as.optional.value, 1);
    break;
  case LOOPC_STRINGS: {
    const loopc_strings &given = from.as.strings;
    int64_t *shape = copyShape(given.shape, given.ndim, count);
    std::vector<loopc_string> &list = strings.emplace_back();
    for (int64_t k = 0; k < count; ++k) {
      const std::string &text =
          texts.emplace_back(given.data[k].data, given.data[k].size);
      list.push_back({text.data(), text.size()});
    }
    to.as.strings = {list.data(), shape, given.ndim};
    break;
  }
  default: {
    const DLTensor &tensor = from.as.tensor;
    to.as.tensor.device = {kDLCPU, 0};
    to.as.tensor.ndim = tensor.ndim;
    to.as.tensor.dtype = tensor.dtype;
    to.as.tensor.shape = copyShape(tensor.shape, tensor.ndim, count);
    to.as.tensor.data = copyElements(tensor, count);
  }
  }
  return to;
}

/// The bytes of a tensor on a device, in memory of `bytes`.
static loopc_value fetch(const loopc_value &value, std::vector<char> &bytes) {
  loopc_value host = value;
  DLTensor &tensor = host.as.tensor;
  size_t bits = tensor.dtype.bits;
  for (int32_t dim = 0; dim < tensor.ndim; ++dim)
    bits *= static_cast<size_t>(tensor.shape[dim]);
  bytes.resize((bits + 7) / 8);
  loopc_error error;
  if (loopc_value_download(&value, bytes.data(), bytes.size(), &error))
    throw std::runtime_error(error.message);
  tensor.data = bytes.data();
  tensor.byte_offset = 0;
  tensor.device = {kDLCPU, 0};
  return host;
}

static bool isOnDevice(const loopc_value &value) {
  int32_t type = value.as.tensor.device.device_type;
  return value.kind == LOOPC_TENSOR &&
         (type == kDLCUDA || type == kDLCUDAManaged);
}

/// True where a tensor within a sequence or an optional is on a device.
static bool holdsDeviceTensor(const loopc_value &value) {
  auto isOrHolds = [](const loopc_value &inner) {
    return isOnDevice(inner) || holdsDeviceTensor(inner);
  };
  if (value.kind == LOOPC_OPTIONAL)
    return value.as.optional.value && isOrHolds(*value.as.optional.value);
  const loopc_sequence &sequence = value.as.sequence;
  return value.kind == LOOPC_SEQUENCE &&
         std::any_of(sequence.items, sequence.items + sequence.count,
                     isOrHolds);
}

/// A copy of `value` that owns its memory, of the host.
static loopc_value makeCopy(const loopc_value &value) {
  if (isOnDevice(value)) {
    std::vector<char> bytes;
    return makeCopy(fetch(value, bytes));
  }
  auto owned = std::make_unique<OwnedValue>(value);
  loopc_value copy = owned->get();
  copy.context = owned.release();
  copy.release = [](loopc_value *self) {
    delete static_cast<OwnedValue *>(self->context);
    *self = {};
  };
  return copy;
}

int capi::runModel(const loopc_session &session,
                   const loopc_run_options *options, const loopc_value *inputs,
                   size_t numInputs, loopc_value *outputs, size_t numOutputs,
                   loopc_error *error) {
  const loopc_model *model =
      session.successor ? session.successor->get() : nullptr;
  if (!session.run)
    return loopc_model_run(model ? model : session.model, options, inputs,
                           numInputs, outputs, numOutputs, error);
  return session.run(options, inputs, numInputs, outputs, numOutputs, error);
}

bool capi::usesStates(const loopc_session &session, size_t numInputs,
                      size_t numOutputs) {
  const loopc_model &model = *session.model;
  return model.num_states && numInputs + model.num_states == model.num_inputs &&
         numOutputs + model.num_states == model.num_outputs;
}

namespace {
/// A run's turn at the states of its session. While it waits for another run,
/// its own token and timeout count.
class Turn {
public:
  Turn(std::timed_mutex &mutex, const loopc_run_options *given)
      : lock(mutex, std::try_to_lock), given(given) {
    // Options of another size are refused by the run itself.
    bool isRead = given &&
                  given->size >= offsetof(loopc_run_options, reserved) &&
                  given->size <= sizeof(loopc_run_options);
    if (isRead)
      std::memcpy(&options, given, given->size);
    // 200 years and more are no deadline, nor is what is not a number.
    hasDeadline = options.timeout_seconds > 0 && options.timeout_seconds < 6e9;
  }

  /// \returns a loopc_status.
  int wait(loopc_error *error) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds kPoll(5);
    if (lock.owns_lock())
      return LOOPC_OK;
    Clock::time_point begin = Clock::now();
    double limit = options.timeout_seconds;
    while (!lock.try_lock_for(kPoll)) {
      if (options.cancel && options.cancel->requested)
        return end(LOOPC_ERROR_CANCELLED, "the run was cancelled", error);
      if (options.interrupt && options.interrupt(options.interrupt_context) > 0)
        return end(LOOPC_ERROR_CANCELLED, "the run was cancelled", error);
      std::chrono::duration<double> waited = Clock::now() - begin;
      if (hasDeadline && waited.count() >= limit)
        return end(LOOPC_ERROR_TIMEOUT, "the run took longer than its timeout",
                   error);
    }
    if (hasDeadline) {
      std::chrono::duration<double> waited = Clock::now() - begin;
      // 0 would be no timeout.
      options.timeout_seconds = std::max(limit - waited.count(), 1e-9);
      given = &options;
    }
    return LOOPC_OK;
  }

  /// What is left of the options for the run.
  const loopc_run_options *getOptions() const { return given; }

private:
  int end(int status, const char *message, loopc_error *error) {
    if (error) {
      error->status = status;
      std::snprintf(error->message, sizeof(error->message), "%s", message);
    }
    if (options.statistics)
      *options.statistics = {};
    return status;
  }

  std::unique_lock<std::timed_mutex> lock;
  const loopc_run_options *given;
  loopc_run_options options = {};
  bool hasDeadline;
};
} // namespace

/// Whether what a run made of the states can be what the next begins with:
/// extents that only the run tells may not fit. \returns a loopc_status.
static int checkNextStates(const loopc_model &model, const loopc_value *next,
                           loopc_error *error) {
  size_t first = model.num_inputs - model.num_states;
  for (size_t k = 0; k < model.num_states; ++k) {
    loopc_error problem = {};
    if (!loopc_model_check_input(&model, first + k, &next[k], &problem))
      continue;
    if (error) {
      error->status = LOOPC_ERROR_RUNTIME;
      std::snprintf(error->message, sizeof(error->message),
                    "the run made what the next cannot begin with: %.900s",
                    problem.message);
    }
    return LOOPC_ERROR_RUNTIME;
  }
  return LOOPC_OK;
}

int capi::runWithStates(const loopc_session &session,
                        const loopc_run_options *options,
                        const loopc_value *inputs, size_t numInputs,
                        loopc_value *outputs, size_t numOutputs,
                        loopc_error *error) {
  size_t count = session.model->num_states;
  Turn turn(session.statesMutex, options);
  if (int status = turn.wait(error))
    return status;
  session.states.resize(count);
  std::vector<loopc_value> allInputs, allOutputs, next;
  allInputs.reserve(numInputs + count);
  if (inputs)
    allInputs.assign(inputs, inputs + numInputs);
  allInputs.resize(numInputs);
  allInputs.insert(allInputs.end(), session.states.begin(),
                   session.states.end());
  allOutputs.reserve(numOutputs + count);
  if (outputs)
    allOutputs.assign(outputs, outputs + numOutputs);
  allOutputs.resize(numOutputs + count);
  next.reserve(count);
  int status =
      runModel(session, turn.getOptions(), allInputs.data(), allInputs.size(),
               allOutputs.data(), allOutputs.size(), error);
  // Buffers of the caller's know their shapes now; a failed run left the rest.
  if (status != LOOPC_OK) {
    std::copy_n(allOutputs.begin(), outputs ? numOutputs : 0, outputs);
    return status;
  }
  {
    Releaser release{allOutputs}, releaseNext{next};
    if (int bad =
            checkNextStates(*session.model, &allOutputs[numOutputs], error))
      return bad;
    // The caller's allocator may take its memory back after the run.
    bool isForeign = options && options->allocator;
    for (size_t k = 0; k < count; ++k) {
      loopc_value &made = allOutputs[numOutputs + k];
      next.push_back(isForeign ? makeCopy(made) : made);
      if (!isForeign)
        made = {};
    }
    std::copy_n(allOutputs.begin(), outputs ? numOutputs : 0, outputs);
    std::fill_n(allOutputs.begin(), numOutputs, loopc_value{});
    std::swap(next, session.states);
  }
  return status;
}

void capi::getState(const loopc_session &session, size_t index,
                    loopc_value &value) {
  std::lock_guard<std::timed_mutex> lock(session.statesMutex);
  bool isSet = index < session.states.size() && session.states[index].kind != 0;
  value = isSet ? makeCopy(session.states[index]) : loopc_value{};
}

int capi::setState(loopc_session &session, size_t index,
                   const loopc_value &value, loopc_error *error) {
  const loopc_model &model = *session.model;
  size_t input = model.num_inputs - model.num_states + index;
  if (int status = loopc_model_check_input(&model, input, &value, error))
    return status;
  if (holdsDeviceTensor(value))
    throw std::runtime_error(
        "the elements of a state must be in the host's memory");
  std::lock_guard<std::timed_mutex> lock(session.statesMutex);
  session.states.resize(model.num_states);
  loopc_value copy = value.kind ? makeCopy(value) : loopc_value{};
  std::swap(session.states[index], copy);
  loopc_value_release(&copy);
  return LOOPC_OK;
}

void capi::resetStates(loopc_session &session) {
  std::lock_guard<std::timed_mutex> lock(session.statesMutex);
  for (loopc_value &state : session.states)
    loopc_value_release(&state);
}
