/*===- state.c - A model with state from C
---------------------------------===*\
|*
|* Part of the loopc project, under the Apache License v2.0 with LLVM
|* Exceptions. See LICENSE for license information.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

#include "state.h"

#include <stdio.h>

int main(void) {
  const loopc_model *model = state_model();
  printf("%d state, '%s'\n", (int)model->num_states,
         model->inputs[model->num_inputs - model->num_states].name);
  float x[2] = {1, 1};
  int64_t shape[1] = {2};
  const DLDevice cpu = {kDLCPU, 0};
  const DLDataType float32 = state_INPUT_0_DTYPE;
  loopc_value inputs[state_NUM_INPUTS] = {
      {.kind = LOOPC_TENSOR,
       .as.tensor = {x, cpu, 1, float32, shape, NULL, 0}}};
  loopc_error error;
  for (int step = 0; step < 4; ++step) {
    /* The last step begins again: an absent state is its initial value. */
    if (step == 3) {
      loopc_value_release(&inputs[1]);
      printf("again: ");
    }
    loopc_value outputs[state_NUM_OUTPUTS] = {{.kind = 0}};
    if (state_run(NULL, inputs, state_NUM_INPUTS, outputs, state_NUM_OUTPUTS,
                  &error) != LOOPC_OK) {
      puts(error.message);
      return 1;
    }
    const float *y = outputs[0].as.tensor.data;
    printf("%g %g\n", y[0], y[1]);
    loopc_value_release(&outputs[0]);
    /* What the state has become is what the next step begins with. */
    loopc_value_release(&inputs[1]);
    inputs[1] = outputs[1];
  }
  loopc_value_release(&inputs[1]);
  loopc_value none = {.kind = 0};
  state_run(NULL, inputs, 1, &none, 1, &error);
  puts(error.message);
  return 0;
}
