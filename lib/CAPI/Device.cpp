//===- Device.cpp - GPUs --------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Impl.h"

#include "loopc-rt/cuda.h"

#include <cstdio>

/// Sets the caller's error, which may be null.
static int setError(loopc_error *error, int status, const char *text) {
  if (error) {
    error->status = status;
    std::snprintf(error->message, sizeof(error->message), "%s", text);
  }
  return status;
}

extern "C" int loopc_device_count(loopc_error *error) {
  return loopc_rt_cuda_num_devices(error);
}

/// Writes `member` of the device's description to the caller's text.
template <size_t N>
static int describe(int device, const char (loopc_cuda_device::*member)[N],
                    char *text, size_t size, loopc_error *error) {
  if (!text || size == 0)
    return setError(error, LOOPC_ERROR_INPUT, "there is no room for a text");
  text[0] = 0;
  loopc_cuda_device description;
  int status = loopc_rt_cuda_describe(device, &description, error);
  if (status != LOOPC_OK)
    return status;
  std::snprintf(text, size, "%s", description.*member);
  return LOOPC_OK;
}

extern "C" int loopc_device_chip(int device, char *chip, size_t size,
                                 loopc_error *error) {
  return describe(device, &loopc_cuda_device::chip, chip, size, error);
}

extern "C" int loopc_device_name(int device, char *name, size_t size,
                                 loopc_error *error) {
  return describe(device, &loopc_cuda_device::name, name, size, error);
}

extern "C" int loopc_session_uses_device(const loopc_session *session) {
  return session && session->model->device_program;
}

extern "C" int loopc_value_upload(int device, const loopc_value *value,
                                  loopc_value *result, loopc_error *error) {
  if (!value || !result)
    return setError(error, LOOPC_ERROR_INPUT, "there is no value");
  return loopc_rt_cuda_upload(device, value, result, error);
}

extern "C" int loopc_value_download(const loopc_value *value, void *data,
                                    size_t bytes, loopc_error *error) {
  if (!value || (!data && bytes))
    return setError(error, LOOPC_ERROR_INPUT, "there is no value");
  return loopc_rt_cuda_download(value, data, bytes, error);
}
