//===- main.c - A C program around a compiled model -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where are the planets, and Halley's comet? Kepler's equation
//
//   M = E - e sin E
//
// relates the mean anomaly M (which grows evenly with time) of an orbit of
// eccentricity e to the angle E that tells the place on it. newton.onnxtxt
// solves it for all orbits at once by Newton's iteration, until the largest
// step is small; newton.o is that model, compiled.
//
// Exit status: 0, or 1 where a run did not do what this program expects.
//
//===----------------------------------------------------------------------===//

#include "newton.h"

#include <stdint.h>
#include <stdio.h>

enum { NUM_ORBITS = 9 };

static const char *const NAMES[NUM_ORBITS] = {"Mercury", "Venus",   "Earth",
                                              "Mars",    "Jupiter", "Saturn",
                                              "Uranus",  "Neptune", "Halley"};

// Mean anomalies on 1 January 2000, in degrees.
static const double ANOMALIES[NUM_ORBITS] = {174.796, 50.115,  358.617,
                                             19.373,  20.020,  317.020,
                                             142.239, 256.228, 66.400};
static const double ECCENTRICITIES[NUM_ORBITS] = {
    0.2056, 0.0068, 0.0167, 0.0934, 0.0489, 0.0565, 0.0472, 0.0086, 0.9671};

static const double DEGREE = 3.14159265358979323846 / 180;

/// A tensor of the caller's: a null shape and rank 0 make a scalar.
static loopc_value tensor(void *data, DLDataType dtype, int64_t *shape,
                          int32_t rank) {
  loopc_value value = {0};
  value.kind = LOOPC_TENSOR;
  value.as.tensor.data = data;
  value.as.tensor.device.device_type = kDLCPU;
  value.as.tensor.dtype = dtype;
  value.as.tensor.shape = shape;
  value.as.tensor.ndim = rank;
  return value;
}

static void print_table(const double *anomalies, const loopc_value *outputs) {
  const double *angles = outputs[0].as.tensor.data;
  const double *steps = outputs[1].as.tensor.data;
  const double *history = outputs[2].as.tensor.data;
  // Known after the run only: one row for each iteration that ran.
  int64_t iterations = outputs[1].as.tensor.shape[0];

  printf("%-8s %12s %10s %16s\n", "orbit", "eccentricity", "mean",
         "E (degrees)");
  for (int k = 0; k < NUM_ORBITS; ++k)
    printf("%-8s %12.4f %10.3f %16.10f\n", NAMES[k], ECCENTRICITIES[k],
           anomalies[k] / DEGREE, angles[k] / DEGREE);
  printf("\n%-9s %14s %20s\n", "iteration", "largest step", "Halley (degrees)");
  for (int64_t i = 0; i < iterations; ++i)
    printf("%9d %14.2e %20.10f\n", (int)i + 1, steps[i],
           history[i * NUM_ORBITS + NUM_ORBITS - 1] / DEGREE);
}

int main(void) {
  const DLDataType float64 = newton_INPUT_0_DTYPE;
  const DLDataType int64 = newton_INPUT_2_DTYPE;
  loopc_error error;

  // Does this CPU have what the model was compiled for?
  if (loopc_model_check(newton_model(), &error) != LOOPC_OK) {
    fprintf(stderr, "newton: %s\n", error.message);
    return 1;
  }

  double anomalies[NUM_ORBITS], eccentricities[NUM_ORBITS];
  for (int k = 0; k < NUM_ORBITS; ++k) {
    anomalies[k] = ANOMALIES[k] * DEGREE;
    eccentricities[k] = ECCENTRICITIES[k];
  }
  int64_t orbits[1] = {NUM_ORBITS};
  int64_t limit = INT64_MAX; // No limit: the condition ends the loop.
  double tolerance = 1e-9;
  loopc_value inputs[newton_NUM_INPUTS] = {
      tensor(anomalies, float64, orbits, 1),
      tensor(eccentricities, float64, orbits, 1),
      tensor(&limit, int64, NULL, 0),
      tensor(&tolerance, float64, NULL, 0),
  };

  // All zero: the run allocates, since nobody knows yet how long they become.
  loopc_value outputs[newton_NUM_OUTPUTS] = {{0}};
  if (newton_run(NULL, inputs, newton_NUM_INPUTS, outputs, newton_NUM_OUTPUTS,
                 &error) != LOOPC_OK) {
    fprintf(stderr, "newton: %s\n", error.message);
    return 1;
  }
  print_table(anomalies, outputs);
  for (int k = 0; k < newton_NUM_OUTPUTS; ++k)
    loopc_value_release(&outputs[k]);

  // A wrong input is an error with a message, and nothing has to be released.
  int64_t fewer[1] = {NUM_ORBITS - 1};
  inputs[1].as.tensor.shape = fewer;
  int status = newton_run(NULL, inputs, newton_NUM_INPUTS, outputs,
                          newton_NUM_OUTPUTS, &error);
  printf("\none eccentricity too few: %s: %s\n", loopc_status_name(status),
         error.message);
  return status == LOOPC_ERROR_DIM_NAME ? 0 : 1;
}
