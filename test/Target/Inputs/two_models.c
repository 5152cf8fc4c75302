//===- two_models.c - Two compiled models in one program ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

/* Runs both models and prints what they return. C99 and pedantic, as users'
   programs may be. */
#include "affine.h"
#include "count.h"

#include <stdio.h>

static int fail(const loopc_error *error) {
  printf("status %d: %s\n", error->status, error->message);
  return 1;
}

static int run_affine(void) {
  float data[2][3] = {{1, 2, 3}, {4, 0, -2}};
  int64_t shape[affine_INPUT_0_RANK] = affine_INPUT_0_SHAPE;
  DLDataType dtype = affine_INPUT_0_DTYPE;
  loopc_value input = {0};
  loopc_value output = {0};
  loopc_error error;
  const float *result;
  int i;
  shape[0] = 2;
  input.kind = affine_INPUT_0_KIND;
  input.as.tensor.data = data;
  input.as.tensor.device.device_type = kDLCPU;
  input.as.tensor.dtype = dtype;
  input.as.tensor.ndim = affine_INPUT_0_RANK;
  input.as.tensor.shape = shape;
  if (affine_run(NULL, &input, affine_NUM_INPUTS, &output, affine_NUM_OUTPUTS,
                 &error))
    return fail(&error);
  result = (const float *)output.as.tensor.data;
  printf("%s %s:", affine_model()->name, affine_OUTPUT_0_NAME);
  for (i = 0; i < 6; ++i)
    printf(" %.3f", result[i]);
  printf("\n");
  loopc_value_release(&output);
  /* A row of 2 is refused before anything runs. */
  shape[1] = 2;
  if (affine_run(NULL, &input, 1, &output, 1, &error) != LOOPC_ERROR_INPUT)
    return 1;
  return 0;
}

static int run_count(void) {
  int64_t n = 41;
  DLDataType dtype = count_INPUT_0_DTYPE;
  loopc_value input = {0};
  loopc_value outputs[count_NUM_OUTPUTS] = {{0}};
  loopc_error error;
  input.kind = LOOPC_TENSOR;
  input.as.tensor.data = &n;
  input.as.tensor.device.device_type = kDLCPU;
  input.as.tensor.dtype = dtype;
  if (count_run(NULL, &input, 1, outputs, 2, &error))
    return fail(&error);
  printf("%s next: %lld any: %d\n", count_model()->name,
         (long long)*(int64_t *)outputs[0].as.tensor.data,
         *(unsigned char *)outputs[1].as.tensor.data);
  loopc_value_release(&outputs[0]);
  loopc_value_release(&outputs[1]);
  return 0;
}

int main(void) {
  loopc_error error;
  if (loopc_model_check(affine_model(), &error) ||
      loopc_model_check(count_model(), &error))
    return fail(&error);
  return run_affine() || run_count();
}
