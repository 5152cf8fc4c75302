//===- echo.c - A model whose outputs are its inputs ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared library with the functions that loopc's objects have, written by
// hand: it shows what Python hands over at the border, and what it makes of
// values of every kind, whatever the compiler can produce. Every value that it
// returns counts until it is released.
//
//===----------------------------------------------------------------------===//

#include "loopc-rt/loopc_rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int live;

/// Number of values that were returned and not released.
int echo_live(void) { return live; }

static void release_inner(loopc_value *value) {
  switch (value->kind) {
  case LOOPC_TENSOR:
    free(value->as.tensor.data);
    free(value->as.tensor.shape);
    break;
  case LOOPC_STRINGS: {
    int64_t count = 1;
    for (int32_t i = 0; i < value->as.strings.ndim; ++i)
      count *= value->as.strings.shape[i];
    for (int64_t i = 0; i < count; ++i)
      free((void *)value->as.strings.data[i].data);
    free(value->as.strings.data);
    free(value->as.strings.shape);
    break;
  }
  case LOOPC_SEQUENCE:
    for (size_t i = 0; i < value->as.sequence.count; ++i)
      release_inner(&value->as.sequence.items[i]);
    free(value->as.sequence.items);
    break;
  case LOOPC_OPTIONAL:
    if (value->as.optional.value)
      release_inner(value->as.optional.value);
    free(value->as.optional.value);
    break;
  }
}

static void release(loopc_value *value) {
  release_inner(value);
  memset(value, 0, sizeof *value);
  __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
}

static int64_t *copy_shape(const int64_t *shape, int32_t ndim, int64_t *count) {
  int64_t *copy = malloc(sizeof(int64_t) * (ndim + 1));
  *count = 1;
  for (int32_t i = 0; i < ndim; ++i) {
    copy[i] = shape[i];
    *count *= shape[i];
  }
  return copy;
}

static void copy_tensor(const DLTensor *from, DLTensor *to) {
  int64_t count;
  *to = *from;
  to->shape = copy_shape(from->shape, from->ndim, &count);
  to->strides = NULL;
  to->byte_offset = 0;
  size_t bytes = ((size_t)count * from->dtype.bits + 7) / 8;
  to->data = malloc(bytes + 1);
  const char *data = (const char *)from->data + from->byte_offset;
  if (!from->strides) {
    memcpy(to->data, data, bytes);
    return;
  }
  size_t size = from->dtype.bits / 8;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, offset = 0;
    for (int32_t axis = from->ndim; axis-- > 0;) {
      offset += rest % from->shape[axis] * from->strides[axis];
      rest /= from->shape[axis];
    }
    memcpy((char *)to->data + i * size, data + offset * (int64_t)size, size);
  }
}

static void copy_value(const loopc_value *from, loopc_value *to) {
  memset(to, 0, sizeof *to);
  to->kind = from->kind;
  switch (from->kind) {
  case LOOPC_TENSOR:
    copy_tensor(&from->as.tensor, &to->as.tensor);
    break;
  case LOOPC_STRINGS: {
    const loopc_strings *strings = &from->as.strings;
    int64_t count;
    to->as.strings.shape = copy_shape(strings->shape, strings->ndim, &count);
    to->as.strings.ndim = strings->ndim;
    to->as.strings.data = malloc(sizeof(loopc_string) * (count + 1));
    for (int64_t i = 0; i < count; ++i) {
      char *data = malloc(strings->data[i].size + 1);
      memcpy(data, strings->data[i].data, strings->data[i].size);
      to->as.strings.data[i].data = data;
      to->as.strings.data[i].size = strings->data[i].size;
    }
    break;
  }
  case LOOPC_SEQUENCE: {
    size_t count = from->as.sequence.count;
    to->as.sequence.count = count;
    to->as.sequence.items = malloc(sizeof(loopc_value) * (count + 1));
    for (size_t i = 0; i < count; ++i)
      copy_value(&from->as.sequence.items[i], &to->as.sequence.items[i]);
    break;
  }
  case LOOPC_OPTIONAL:
    if (from->as.optional.value) {
      to->as.optional.value = malloc(sizeof(loopc_value));
      copy_value(from->as.optional.value, to->as.optional.value);
    }
    break;
  }
}

static const loopc_dim dims[] = {{-1, "N"}, {3, NULL}, {-1, NULL}};
static const loopc_type any = {LOOPC_TENSOR, -1,  {kDLFloat, 32, 1}, 1,
                               NULL,         NULL};
static const loopc_type floats = {LOOPC_TENSOR, 3,   {kDLFloat, 32, 1}, 1,
                                  dims,         NULL};
static const loopc_type ints = {LOOPC_TENSOR, -1,  {kDLInt, 64, 1}, 7,
                                NULL,         NULL};
static const loopc_type strings = {LOOPC_STRINGS, 1, {0, 0, 0}, 8, dims, NULL};
static const loopc_type sequence = {LOOPC_SEQUENCE, -1,     {0, 0, 0}, 0,
                                    NULL,           &floats};
static const loopc_type optional = {LOOPC_OPTIONAL, -1,   {0, 0, 0}, 0,
                                    NULL,           &ints};
static const loopc_type nested = {LOOPC_OPTIONAL, -1,       {0, 0, 0}, 0,
                                  NULL,           &sequence};

static const loopc_port ports[] = {
    {"any", &any},           {"floats", &floats},     {"strings", &strings},
    {"sequence", &sequence}, {"optional", &optional}, {"nested", &nested}};
enum { num_ports = sizeof ports / sizeof *ports };

static int32_t entry(void *run, void **inputs, void **outputs) {
  (void)run, (void)inputs, (void)outputs;
  return LOOPC_ERROR_RUNTIME;
}

const loopc_model *echo_model(void) {
  static const loopc_model model = {.abi_version = LOOPC_ABI_VERSION,
                                    .name = "echo",
                                    .producer = "by hand",
                                    .cpu_features = "",
                                    .num_inputs = num_ports,
                                    .inputs = ports,
                                    .num_outputs = num_ports,
                                    .outputs = ports,
                                    .entry = entry};
  return &model;
}

int echo_run(const loopc_run_options *options, const loopc_value *inputs,
             size_t num_inputs, loopc_value *outputs, size_t num_outputs,
             loopc_error *error) {
  (void)options;
  if (num_inputs != num_ports || num_outputs != num_ports) {
    error->status = LOOPC_ERROR_INPUT;
    snprintf(error->message, sizeof error->message, "wrong number of values");
    return error->status;
  }
  for (size_t i = 0; i < num_inputs; ++i) {
    copy_value(&inputs[i], &outputs[i]);
    outputs[i].release = release;
    __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
  }
  return LOOPC_OK;
}
