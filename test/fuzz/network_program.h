//===- network_program.h - Runs of the networks of a C program --*- C -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the programs of network_sources.py share. For each network and set of
// inputs a line is printed for each output ("SEED SET NUMBER", code and bits of
// the type, extents, bytes), or one for an error.
//
//===----------------------------------------------------------------------===//
#include "loopc-c/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 64 };
static loopc_session *session;
static int seed, set;
static loopc_value given[most];

static void say_error(const char *kind, const char *text) {
  printf("%d %d %s ", seed, set, kind);
  for (; *text; ++text)
    putchar(*text == '\n' ? ' ' : *text);
  putchar('\n');
}

static void begin(loopc_network *network, int number, int level) {
  seed = number;
  set = -1;
  session = NULL;
  if (*loopc_network_error(network)) {
    say_error("call", loopc_network_error(network));
    return;
  }
  loopc_compile_options *options = loopc_compile_options_create();
  loopc_compile_options_set_opt_level(options, level);
  loopc_diagnostics *said = NULL;
  if (loopc_session_create_from_network(network, options, &session, &said))
    say_error("refused", loopc_diagnostics_text(said, 0));
  loopc_diagnostics_destroy(said);
  loopc_compile_options_destroy(options);
}

static void first(int number) {
  set = number;
  memset(given, 0, sizeof(given));
}

/// Inputs that the model has not kept are left out.
static void feed(const char *name, int type, int64_t *shape, int rank,
                 void *data) {
  (void)type;
  if (!session)
    return;
  const loopc_model *model = loopc_session_model(session);
  for (size_t k = 0; k < model->num_inputs; ++k) {
    if (strcmp(model->inputs[k].name, name))
      continue;
    DLTensor *tensor = &given[k].as.tensor;
    given[k].kind = LOOPC_TENSOR;
    tensor->data = data;
    tensor->device.device_type = kDLCPU;
    tensor->ndim = rank;
    tensor->dtype = model->inputs[k].type->dtype;
    tensor->shape = shape;
  }
}

static void print_tensor(int number, const DLTensor *tensor) {
  int64_t count = 1;
  printf("%d %d %d %d %d [", seed, set, number, tensor->dtype.code,
         tensor->dtype.bits);
  for (int32_t k = 0; k < tensor->ndim; ++k) {
    printf("%s%lld", k ? "," : "", (long long)tensor->shape[k]);
    count *= tensor->shape[k];
  }
  printf("] ");
  const unsigned char *data = tensor->data;
  for (int64_t k = 0; k < count * tensor->dtype.bits / 8; ++k)
    printf("%02x", data[tensor->byte_offset + k]);
  printf("\n");
}

static void run(void) {
  if (!session)
    return;
  const loopc_model *model = loopc_session_model(session);
  loopc_value results[most] = {0};
  loopc_error error = {0};
  if (loopc_session_run(session, NULL, given, model->num_inputs, results,
                        model->num_outputs, &error)) {
    say_error("error", error.message);
    return;
  }
  for (size_t k = 0; k < model->num_outputs; ++k) {
    print_tensor((int)k, &results[k].as.tensor);
    loopc_value_release(&results[k]);
  }
}

static void end(loopc_network *network) {
  if (session)
    loopc_session_destroy(session);
  loopc_network_destroy(network);
  fflush(stdout);
}
