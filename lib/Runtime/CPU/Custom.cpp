//===- Custom.cpp - Calls of custom operators -----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"
#include "loopc-rt/runtime.h"

using namespace loopc::rt;

namespace {
/// What stands behind loopc_custom_call::context.
struct Call {
  loopc_run &run;
  const char *where;
  /// For each output the rank that the model's code counts on, or -1.
  const int64_t *ranks;
  bool isComputing;
};
} // namespace

static Call &contextOf(loopc_custom_call *call) {
  return *static_cast<Call *>(call->context);
}

static int fail(loopc_custom_call *call, const char *message) {
  Call &context = contextOf(call);
  return recordError(context.run, LOOPC_ERROR_RUNTIME, "%s: %s", context.where,
                     message ? message : "the operator failed");
}

/// The shape of an output is known: makes a copy of it that stays.
static bool keepShape(loopc_custom_call *call, int64_t output,
                      const int64_t *shape, int64_t rank) {
  Call &context = contextOf(call);
  auto refuse = [&](const char *format, auto... numbers) {
    recordError(context.run, LOOPC_ERROR_RUNTIME, format, context.where,
                static_cast<long long>(output),
                static_cast<long long>(numbers)...);
    return false;
  };
  if (output < 0 || output >= call->num_outputs)
    return refuse("%s: the operator has no output #%lld");
  loopc_custom_tensor &tensor = call->outputs[output];
  if (tensor.shape)
    return refuse("%s: output #%lld was given a shape before");
  if (rank < 0)
    return refuse("%s: output #%lld was given the rank %lld", rank);
  int64_t expected = context.ranks[output];
  if (tensor.is_given && expected >= 0 && rank != expected)
    return refuse("%s: output #%lld has rank %lld, expected %lld", rank,
                  expected);
  for (int64_t axis = 0; axis < rank; ++axis)
    if (shape[axis] < 0)
      return refuse("%s: output #%lld has the extent %lld along axis %lld",
                    shape[axis], axis);
  auto *copy = static_cast<int64_t *>(loopc_rt_alloc(
      &context.run, rank * static_cast<int64_t>(sizeof(int64_t))));
  if (!copy)
    return false;
  for (int64_t axis = 0; axis < rank; ++axis)
    copy[axis] = shape[axis];
  tensor.shape = copy;
  tensor.rank = rank;
  return true;
}

static int setShape(loopc_custom_call *call, int64_t output,
                    const int64_t *shape, int64_t rank) {
  return keepShape(call, output, shape, rank) ? 0 : 1;
}

/// Number of elements; INT64_MAX where 64 bits cannot count them.
static int64_t countElements(const loopc_custom_tensor &tensor) {
  int64_t count = 1;
  for (int64_t axis = 0; axis < tensor.rank; ++axis)
    if (__builtin_mul_overflow(count, tensor.shape[axis], &count))
      return INT64_MAX;
  return count;
}

/// Memory for an output whose shape is known; null after recording an error.
static void *allocateData(loopc_custom_call *call, int64_t output) {
  loopc_custom_tensor &tensor = call->outputs[output];
  tensor.count = countElements(tensor);
  int64_t bytes;
  // No memory has so many bytes: the allocation says so.
  if (__builtin_mul_overflow(tensor.count, (tensor.dtype.bits + 7) / 8, &bytes))
    bytes = INT64_MAX;
  tensor.data = loopc_rt_alloc(&contextOf(call).run, bytes);
  return tensor.data;
}

static void *allocateOutput(loopc_custom_call *call, int64_t output,
                            const int64_t *shape, int64_t rank) {
  if (!contextOf(call).isComputing) {
    fail(call, "memory was asked for before the operator computes");
    return nullptr;
  }
  return keepShape(call, output, shape, rank) ? allocateData(call, output)
                                              : nullptr;
}

static char *allocateText(loopc_custom_call *call, int64_t bytes) {
  return loopc_rt_string_alloc(&contextOf(call).run, bytes);
}

static const loopc_custom_tensor *findInput(const loopc_custom_call &call,
                                            const char *name) {
  for (int64_t k = 0; k < call.op->num_inputs && k < call.num_inputs; ++k)
    if (strcmp(call.op->inputs[k].name, name) == 0)
      return call.inputs[k].is_given ? &call.inputs[k] : nullptr;
  return nullptr;
}

/// What can be said of outputs before they are computed. \returns false after
/// recording an error.
static bool prepareOutputs(loopc_custom_call &call) {
  const loopc_custom_op &op = *call.op;
  for (int64_t k = 0; k < call.num_outputs; ++k)
    if (const char *name = op.outputs[k].shape_of)
      if (const loopc_custom_tensor *input = findInput(call, name))
        if (!keepShape(&call, k, input->shape, input->rank))
          return false;
  if (op.infer && op.infer(&call) != 0) {
    fail(&call, nullptr);
    return false;
  }
  for (int64_t k = 0; k < call.num_outputs; ++k)
    if (call.outputs[k].is_given && call.outputs[k].shape &&
        !allocateData(&call, k))
      return false;
  return true;
}

static bool computeOutputs(loopc_custom_call &call) {
  contextOf(&call).isComputing = true;
  if (call.op->compute(&call) != 0) {
    fail(&call, nullptr);
    return false;
  }
  for (int64_t k = 0; k < call.num_outputs; ++k)
    if (call.outputs[k].is_given && !call.outputs[k].data) {
      recordError(contextOf(&call).run, LOOPC_ERROR_RUNTIME,
                  "%s: output #%lld was not allocated", contextOf(&call).where,
                  static_cast<long long>(k));
      return false;
    }
  return true;
}

/// Outputs that the model leaves out: what was made for them goes.
static void dropOthers(loopc_custom_call &call) {
  for (int64_t k = 0; k < call.num_outputs; ++k) {
    loopc_custom_tensor &tensor = call.outputs[k];
    if (tensor.is_given)
      continue;
    loopc_rt_free(&contextOf(&call).run, tensor.data);
    loopc_rt_free(&contextOf(&call).run, const_cast<int64_t *>(tensor.shape));
  }
}

extern "C" int32_t
loopc_rt_custom(loopc_run *run, const loopc_custom_op *op,
                const loopc_custom_attribute *attributes,
                int64_t num_attributes, loopc_custom_tensor *inputs,
                int64_t num_inputs, loopc_custom_tensor *outputs,
                int64_t num_outputs, const int64_t *ranks, const char *where) {
  if (op->abi_version != LOOPC_CUSTOM_ABI || op->num_outputs != num_outputs)
    return recordError(
        *run, LOOPC_ERROR_RUNTIME,
        op->abi_version == LOOPC_CUSTOM_ABI
            ? "%s: the operator has another number of outputs than when the "
              "model was compiled"
            : "%s: the operator is of another version of loopc-rt/custom.h",
        where);
  for (int64_t k = 0; k < num_inputs; ++k)
    inputs[k].count = inputs[k].is_given ? countElements(inputs[k]) : 0;
  Call context = {*run, where, ranks, /*isComputing=*/false};
  loopc_custom_call call = {sizeof(loopc_custom_call),
                            op,
                            attributes,
                            num_attributes,
                            inputs,
                            num_inputs,
                            outputs,
                            num_outputs,
                            fail,
                            setShape,
                            allocateOutput,
                            allocateText,
                            &context,
                            where};
  if (!prepareOutputs(call) || !computeOutputs(call))
    return 1;
  dropOthers(call);
  return getStatus(*run);
}
