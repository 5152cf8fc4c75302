//===- capi.c - The C API from C ------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc-c/loopc.h"

#include <stdio.h>

static int check(const loopc_session *session) {
  int64_t n = 3, shape[] = {4};
  float x[] = {1, 2, 3, 4};
  loopc_value inputs[2] = {{0}}, outputs[2] = {{0}};
  inputs[0].kind = inputs[1].kind = LOOPC_TENSOR;
  inputs[0].as.tensor =
      (DLTensor){&n, {kDLCPU, 0}, 0, {kDLInt, 64, 1}, NULL, NULL, 0};
  inputs[1].as.tensor =
      (DLTensor){x, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, NULL, 0};
  loopc_error error;
  if (loopc_session_run(session, NULL, inputs, 2, outputs, 2, &error)) {
    printf("%s: %s\n", loopc_status_name(error.status), error.message);
    return 1;
  }
  const float *total = outputs[0].as.tensor.data;
  int wrong = 0;
  for (int i = 0; i < 4; ++i)
    wrong |= total[i] != 4 * x[i];
  wrong |= outputs[1].as.tensor.ndim != 2 || outputs[1].as.tensor.shape[0] != 3;
  loopc_value_release(&outputs[0]);
  loopc_value_release(&outputs[1]);
  return wrong;
}

int main(int argc, char **argv) {
  loopc_session *session = NULL;
  loopc_diagnostics *diagnostics = NULL;
  int status = loopc_session_create_from_file(argc > 1 ? argv[1] : "", NULL,
                                              &session, &diagnostics);
  for (size_t i = 0; i < loopc_diagnostics_count(diagnostics); ++i)
    puts(loopc_diagnostics_text(diagnostics, i));
  loopc_diagnostics_destroy(diagnostics);
  if (status != LOOPC_COMPILE_OK)
    return 2;
  status = check(session);
  loopc_session_destroy(session);
  return status;
}
