/*===- on_device.c - A model on a GPU, from C ------------------------------===
 *
 * Part of the loopc project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Runs the model of device-object.test, with its input and its result on the
 * device.
 *
 *===----------------------------------------------------------------------===*/

#include "g.h"
#include "loopc-rt/cuda.h"

#include <stdio.h>

int main(void) {
  float x[4] = {1, 2, 3, 4}, y[4];
  int64_t shape[1] = {4};
  loopc_value input = {0}, onDevice = {0}, output = {0};
  loopc_run_options options = {0};
  loopc_error error;
  input.kind = LOOPC_TENSOR;
  input.as.tensor.data = x;
  input.as.tensor.device.device_type = kDLCPU;
  input.as.tensor.ndim = 1;
  input.as.tensor.dtype.code = kDLFloat;
  input.as.tensor.dtype.bits = 32;
  input.as.tensor.dtype.lanes = 1;
  input.as.tensor.shape = shape;
  options.size = sizeof(options);
  options.device_results = 1;
  if (loopc_rt_cuda_upload(0, &input, &onDevice, &error) ||
      g_run(&options, &onDevice, 1, &output, 1, &error) ||
      loopc_rt_cuda_download(&output, y, sizeof(y), &error)) {
    printf("%s: %s\n", loopc_status_name(error.status), error.message);
    return 1;
  }
  printf("device %d: %g %g %g %g\n", (int)output.as.tensor.device.device_type,
         y[0], y[1], y[2], y[3]);
  loopc_value_release(&output);
  loopc_value_release(&onDevice);
  return 0;
}
