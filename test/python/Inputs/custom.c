//===- custom.c - Custom operators of all kinds, for tests ----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc-rt/custom.h"

#define COUNT(array) (int64_t)(sizeof(array) / sizeof(array[0]))

/// y = factor * x + sum of offsets, of both types.
static int scale(loopc_custom_call *call) {
  const loopc_custom_tensor *x = &call->inputs[0];
  double factor = loopc_custom_float(call, "factor", 1), offset = 0;
  const loopc_custom_attribute *offsets = loopc_custom_find(call, "offsets");
  for (int64_t k = 0; offsets && k < offsets->count; ++k)
    offset += ((const int64_t *)offsets->values)[k];
  for (int64_t k = 0; k < x->count; ++k)
    if (x->dtype.bits == 32)
      ((float *)call->outputs[0].data)[k] =
          (float)(factor * ((const float *)x->data)[k] + offset);
    else
      ((double *)call->outputs[0].data)[k] =
          factor * ((const double *)x->data)[k] + offset;
  return 0;
}
static const loopc_custom_port scale_inputs[] = {
    {.name = "x", .types = "float32 float64"}};
static const loopc_custom_port scale_outputs[] = {
    {.name = "y", .type_of = "x", .shape_of = "x"}};
static const loopc_custom_parameter scale_parameters[] = {
    {.name = "factor", .kind = LOOPC_CUSTOM_FLOAT},
    {.name = "offsets", .kind = LOOPC_CUSTOM_INTS}};
LOOPC_CUSTOM_OP(scale, .domain = "test", .name = "Scale", .since_version = 1,
                .inputs = scale_inputs, .num_inputs = 1,
                .outputs = scale_outputs, .num_outputs = 1,
                .parameters = scale_parameters,
                .num_parameters = COUNT(scale_parameters), .compute = scale);

/// From version 3 on it gives the double of what it gave before.
static int scale3(loopc_custom_call *call) {
  int status = scale(call);
  for (int64_t k = 0; k < call->outputs[0].count; ++k)
    ((float *)call->outputs[0].data)[k] *= 2;
  return status;
}
static const loopc_custom_port scale3_inputs[] = {
    {.name = "x", .types = "float32"}};
LOOPC_CUSTOM_OP(scale3, .domain = "test", .name = "Scale", .since_version = 3,
                .inputs = scale3_inputs, .num_inputs = 1,
                .outputs = scale_outputs, .num_outputs = 1, .compute = scale3);

/// Joins rows of all inputs, and counts them where that is asked for.
static int join_shape(loopc_custom_call *call) {
  int64_t shape[2] = {0, call->inputs[0].shape[1]};
  for (int64_t k = 0; k < call->num_inputs; ++k) {
    if (call->inputs[k].rank != 2 || call->inputs[k].shape[1] != shape[1])
      return loopc_custom_fail(call, "the rows differ in length");
    shape[0] += call->inputs[k].shape[0];
  }
  return loopc_custom_set_shape(call, 0, shape, 2) ||
         loopc_custom_set_shape(call, 1, NULL, 0);
}
static int join(loopc_custom_call *call) {
  float *y = call->outputs[0].data;
  for (int64_t k = 0; k < call->num_inputs; ++k) {
    memcpy(y, call->inputs[k].data, call->inputs[k].count * sizeof(float));
    y += call->inputs[k].count;
  }
  if (call->outputs[1].is_given)
    *(int64_t *)call->outputs[1].data = call->outputs[0].shape[0];
  return 0;
}
static const loopc_custom_port join_inputs[] = {
    {.name = "x", .types = "float32", .flags = LOOPC_CUSTOM_VARIADIC}};
static const loopc_custom_port join_outputs[] = {
    {.name = "y", .type_of = "x", .rank = LOOPC_CUSTOM_RANK(2)},
    {.name = "rows",
     .types = "int64",
     .rank = LOOPC_CUSTOM_RANK(0),
     .flags = LOOPC_CUSTOM_OPTIONAL}};
LOOPC_CUSTOM_OP(join, .domain = "test", .name = "Join", .since_version = 1,
                .inputs = join_inputs, .num_inputs = 1, .outputs = join_outputs,
                .num_outputs = 2, .infer = join_shape, .compute = join);

/// The positive elements, plus `shift` if it is given.
static int positive(loopc_custom_call *call) {
  const loopc_custom_tensor *x = &call->inputs[0];
  int32_t shift =
      loopc_custom_has(call, 1) ? *(const int32_t *)call->inputs[1].data : 0;
  int64_t count = 0;
  for (int64_t k = 0; k < x->count; ++k)
    count += ((const int32_t *)x->data)[k] > 0;
  int32_t *y = loopc_custom_allocate(call, 0, &count, 1);
  if (!y)
    return 1;
  for (int64_t k = 0; k < x->count; ++k)
    if (((const int32_t *)x->data)[k] > 0)
      *y++ = ((const int32_t *)x->data)[k] + shift;
  return 0;
}
static const loopc_custom_port positive_inputs[] = {
    {.name = "x", .types = "int32"},
    {.name = "shift", .type_of = "x", .flags = LOOPC_CUSTOM_OPTIONAL}};
static const loopc_custom_port positive_outputs[] = {
    {.name = "y", .type_of = "x", .rank = LOOPC_CUSTOM_RANK(1)}};
LOOPC_CUSTOM_OP(positive, .domain = "test", .name = "Positive",
                .since_version = 1, .inputs = positive_inputs, .num_inputs = 2,
                .outputs = positive_outputs, .num_outputs = 1,
                .compute = positive);

/// x with axes of one element at the end: a rank that only a run knows.
static int pad_rank(loopc_custom_call *call) {
  int64_t shape[16], rank = call->inputs[0].rank;
  memcpy(shape, call->inputs[0].shape, rank * sizeof(int64_t));
  for (int64_t k = 0; k < *(const int64_t *)call->inputs[1].data; ++k)
    shape[rank++] = 1;
  float *y = loopc_custom_allocate(call, 0, shape, rank);
  if (!y)
    return 1;
  memcpy(y, call->inputs[0].data, call->inputs[0].count * sizeof(float));
  return 0;
}
static const loopc_custom_port pad_inputs[] = {
    {.name = "x", .types = "float32"}, {.name = "count", .types = "int64"}};
static const loopc_custom_port pad_outputs[] = {{.name = "y", .type_of = "x"}};
LOOPC_CUSTOM_OP(pad_rank, .domain = "test", .name = "PadRank",
                .since_version = 1, .inputs = pad_inputs, .num_inputs = 2,
                .outputs = pad_outputs, .num_outputs = 1, .compute = pad_rank);

/// Texts in brackets of the attribute's, and whether they are empty.
static int quote(loopc_custom_call *call) {
  const loopc_string *x = call->inputs[0].data;
  const loopc_custom_attribute *marks = loopc_custom_find(call, "marks");
  const loopc_string *mark = marks->values;
  loopc_string *y = call->outputs[0].data;
  unsigned char *empty = call->outputs[1].data;
  for (int64_t k = 0; k < call->inputs[0].count; ++k) {
    y[k].size = mark[0].size + x[k].size + mark[1].size;
    char *text = loopc_custom_text(call, (int64_t)y[k].size);
    if (!text)
      return 1;
    y[k].data = text;
    memcpy(text, mark[0].data, mark[0].size);
    memcpy(text + mark[0].size, x[k].data, x[k].size);
    memcpy(text + mark[0].size + x[k].size, mark[1].data, mark[1].size);
    empty[k] = x[k].size == 0;
  }
  return 0;
}
static const loopc_custom_port quote_inputs[] = {
    {.name = "x", .types = "string"}};
static const loopc_custom_port quote_outputs[] = {
    {.name = "y", .types = "string", .shape_of = "x"},
    {.name = "empty", .types = "bool", .shape_of = "x"}};
static const loopc_custom_parameter quote_parameters[] = {
    {.name = "marks", .kind = LOOPC_CUSTOM_STRINGS, .is_required = 1}};
LOOPC_CUSTOM_OP(quote, .domain = "test", .name = "Quote", .since_version = 1,
                .inputs = quote_inputs, .num_inputs = 1,
                .outputs = quote_outputs, .num_outputs = 2,
                .parameters = quote_parameters, .num_parameters = 1,
                .compute = quote);

/// Another number with each call.
static int tick(loopc_custom_call *call) {
  static int64_t ticks;
  *(int64_t *)call->outputs[0].data =
      __atomic_fetch_add(&ticks, 1, __ATOMIC_RELAXED);
  return 0;
}
static int tick_shape(loopc_custom_call *call) {
  return loopc_custom_set_shape(call, 0, NULL, 0);
}
static const loopc_custom_port tick_outputs[] = {
    {.name = "number", .types = "int64", .rank = LOOPC_CUSTOM_RANK(0)}};
LOOPC_CUSTOM_OP(tick, .domain = "test", .name = "Tick", .since_version = 1,
                .outputs = tick_outputs, .num_outputs = 1,
                .flags = LOOPC_CUSTOM_STATEFUL, .infer = tick_shape,
                .compute = tick);

/// What goes wrong in an operator.
static int fault(loopc_custom_call *call) {
  int64_t what = loopc_custom_int(call, "what", 0), shape[2] = {1, -1};
  switch (what) {
  case 0:
    return loopc_custom_fail(call, "100 % wrong");
  case 1:
    return 7;
  case 2: // The wrong rank.
    return loopc_custom_allocate(call, 0, shape, 0) ? 0 : 1;
  case 3: // A negative extent.
    return loopc_custom_allocate(call, 0, shape + 1, 1) ? 0 : 1;
  case 4: // No memory at all.
    return 0;
  default: // More than there is.
    shape[0] = INT64_MAX;
    return loopc_custom_allocate(call, 0, shape, 1) ? 0 : 1;
  }
}
static const loopc_custom_port fault_outputs[] = {
    {.name = "y", .types = "float32", .rank = LOOPC_CUSTOM_RANK(1)}};
static const loopc_custom_parameter fault_parameters[] = {
    {.name = "what", .kind = LOOPC_CUSTOM_INT}};
LOOPC_CUSTOM_OP(fault, .domain = "test", .name = "Fault", .since_version = 1,
                .inputs = scale_inputs, .num_inputs = 1,
                .outputs = fault_outputs, .num_outputs = 1,
                .parameters = fault_parameters, .num_parameters = 1,
                .compute = fault);

LOOPC_CUSTOM_LIBRARY(&loopc_op_scale, &loopc_op_scale3, &loopc_op_join,
                     &loopc_op_positive, &loopc_op_pad_rank, &loopc_op_quote,
                     &loopc_op_tick, &loopc_op_fault)
