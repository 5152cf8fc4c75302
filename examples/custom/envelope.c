//===- envelope.c - Two operators that ONNX does not have -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follow is a step of an envelope follower, which envelope.onnxtxt has in the
// body of a Scan: what rises is taken as it is, what falls decays. Onsets finds
// the frames that are loud; how many there are only a run tells.
//
//===----------------------------------------------------------------------===//

#include "loopc-rt/custom.h"

static int follow(loopc_custom_call *call) {
  const float *frame = call->inputs[0].data, *state = call->inputs[1].data;
  float *next = call->outputs[0].data;
  float decay = loopc_custom_float(call, "decay", 0.5f);
  if (call->inputs[0].count != call->inputs[1].count)
    return loopc_custom_fail(call, "a frame and the state differ in length");
  for (int64_t k = 0; k < call->inputs[0].count; ++k) {
    float fallen = decay * state[k];
    next[k] = frame[k] > fallen ? frame[k] : fallen;
  }
  return 0;
}

static int onsets(loopc_custom_call *call) {
  const loopc_custom_tensor *signal = &call->inputs[0];
  const float *x = signal->data;
  float threshold = loopc_custom_float(call, "threshold", 0);
  int64_t frames = signal->shape[0], width = signal->shape[1], found = 0;
  // Twice: the first time they are counted.
  int64_t *places = NULL;
  for (int pass = 0; pass < 2; ++pass) {
    if (pass == 1) {
      places = loopc_custom_allocate(call, 0, &found, 1);
      if (!places)
        return 1;
      found = 0;
    }
    for (int64_t frame = 0; frame < frames; ++frame) {
      int loud = 0;
      for (int64_t k = 0; k < width; ++k)
        loud |= x[frame * width + k] > threshold;
      if (loud && places)
        places[found] = frame;
      found += loud;
    }
  }
  return 0;
}

static const loopc_custom_port follow_inputs[] = {
    {.name = "frame", .types = "float32"},
    {.name = "state", .type_of = "frame"}};
static const loopc_custom_port follow_outputs[] = {
    {.name = "next", .type_of = "frame", .shape_of = "frame"}};
static const loopc_custom_parameter follow_parameters[] = {
    {.name = "decay", .kind = LOOPC_CUSTOM_FLOAT}};

LOOPC_CUSTOM_OP(follow, .domain = "example.audio", .name = "Follow",
                .since_version = 1, .inputs = follow_inputs, .num_inputs = 2,
                .outputs = follow_outputs, .num_outputs = 1,
                .parameters = follow_parameters, .num_parameters = 1,
                .compute = follow);

static const loopc_custom_port onsets_inputs[] = {
    {.name = "signal", .types = "float32"}};
static const loopc_custom_port onsets_outputs[] = {
    {.name = "frames", .types = "int64", .rank = LOOPC_CUSTOM_RANK(1)}};
static const loopc_custom_parameter onsets_parameters[] = {
    {.name = "threshold", .kind = LOOPC_CUSTOM_FLOAT, .is_required = 1}};

LOOPC_CUSTOM_OP(onsets, .domain = "example.audio", .name = "Onsets",
                .since_version = 1, .inputs = onsets_inputs, .num_inputs = 1,
                .outputs = onsets_outputs, .num_outputs = 1,
                .parameters = onsets_parameters, .num_parameters = 1,
                .compute = onsets);

LOOPC_CUSTOM_LIBRARY(&loopc_op_follow, &loopc_op_onsets)
