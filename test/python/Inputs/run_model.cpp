//===- run_model.cpp - Runs a compiled model on what a file holds ---------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// run_model LIBRARY NAME THREADS: loads the shared library of model NAME and
// runs it on the inputs from standard input. Values are written as
// other_machine.py says, which is at the other end.

#include "loopc-rt/loopc_rt.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <string>
#include <vector>

using Run = int (*)(const loopc_run_options *, const loopc_value *, size_t,
                    loopc_value *, size_t, loopc_error *);

[[noreturn]] static void fail(const char *why) {
  std::fprintf(stderr, "run_model: %s\n", why);
  std::exit(2);
}

static void read(void *to, size_t size) {
  if (size && std::fread(to, size, 1, stdin) != 1)
    fail("the inputs end early");
}

static int64_t readNumber() {
  int64_t number;
  read(&number, sizeof(number));
  return number;
}

static void write(const void *from, size_t size) {
  if (size && std::fwrite(from, size, 1, stdout) != 1)
    fail("the outputs cannot be written");
}

static void writeNumber(int64_t number) { write(&number, sizeof(number)); }

static std::vector<int64_t> readNumbers() {
  std::vector<int64_t> numbers(readNumber());
  for (int64_t &number : numbers)
    number = readNumber();
  return numbers;
}

namespace {
/// An input, and the memory that it points to.
struct Input {
  loopc_value value = {};
  std::vector<int64_t> shape;
  std::vector<char> bytes;
  std::unique_ptr<std::string[]> texts;
  std::vector<loopc_string> strings;
};
} // namespace

static void readTensor(const loopc_type &type, Input &input) {
  input.shape = readNumbers();
  input.bytes.resize(readNumber());
  read(input.bytes.data(), input.bytes.size());
  DLTensor &tensor = input.value.as.tensor;
  tensor.data = input.bytes.data();
  tensor.device.device_type = kDLCPU;
  tensor.ndim = static_cast<int32_t>(input.shape.size());
  tensor.dtype = type.dtype;
  tensor.shape = input.shape.data();
}

static void readStrings(Input &input) {
  input.shape = readNumbers();
  size_t count = readNumber();
  input.texts = std::make_unique<std::string[]>(count);
  for (size_t k = 0; k < count; ++k) {
    std::string &text = input.texts[k];
    text.resize(readNumber());
    read(text.data(), text.size());
    input.strings.push_back({text.data(), text.size()});
  }
  input.value.as.strings = {input.strings.data(), input.shape.data(),
                            static_cast<int32_t>(input.shape.size())};
}

static void readInput(const loopc_type &type, Input &input) {
  input.value.kind = static_cast<int32_t>(readNumber());
  if (input.value.kind == LOOPC_TENSOR)
    readTensor(type, input);
  else if (input.value.kind == LOOPC_STRINGS)
    readStrings(input);
}

static int64_t countOf(const int64_t *shape, int32_t rank) {
  int64_t count = 1;
  for (int32_t k = 0; k < rank; ++k)
    count *= shape[k];
  return count;
}

static void writeShape(const int64_t *shape, int32_t rank) {
  writeNumber(rank);
  for (int32_t k = 0; k < rank; ++k)
    writeNumber(shape[k]);
}

static void writeTensor(const DLTensor &tensor) {
  // What the runtime allocates is in C order.
  size_t bits = countOf(tensor.shape, tensor.ndim) * tensor.dtype.bits;
  writeNumber(tensor.dtype.code);
  writeNumber(tensor.dtype.bits);
  writeShape(tensor.shape, tensor.ndim);
  writeNumber(static_cast<int64_t>((bits + 7) / 8));
  write(static_cast<const char *>(tensor.data) + tensor.byte_offset,
        (bits + 7) / 8);
}

static void writeStrings(const loopc_strings &strings) {
  int64_t count = countOf(strings.shape, strings.ndim);
  writeShape(strings.shape, strings.ndim);
  writeNumber(count);
  for (int64_t k = 0; k < count; ++k) {
    writeNumber(static_cast<int64_t>(strings.data[k].size));
    write(strings.data[k].data, strings.data[k].size);
  }
}

static void writeValue(const loopc_value &value) {
  writeNumber(value.kind);
  switch (value.kind) {
  case LOOPC_TENSOR:
    return writeTensor(value.as.tensor);
  case LOOPC_STRINGS:
    return writeStrings(value.as.strings);
  case LOOPC_SEQUENCE:
    writeNumber(static_cast<int64_t>(value.as.sequence.count));
    for (size_t k = 0; k < value.as.sequence.count; ++k)
      writeValue(value.as.sequence.items[k]);
    return;
  case LOOPC_OPTIONAL:
    writeNumber(value.as.optional.value != nullptr);
    if (value.as.optional.value)
      writeValue(*value.as.optional.value);
    return;
  default:
    fail("an output is of no kind that there is");
  }
}

/// Writes the status of a run, then the message or the outputs.
static void runOnce(const loopc_model &model, Run run, int32_t threads) {
  std::vector<Input> inputs(model.num_inputs);
  std::vector<loopc_value> values;
  for (size_t k = 0; k < model.num_inputs; ++k) {
    readInput(*model.inputs[k].type, inputs[k]);
    values.push_back(inputs[k].value);
  }
  std::vector<loopc_value> outputs(model.num_outputs);
  loopc_run_options options = {};
  options.size = sizeof(options);
  options.num_threads = threads;
  loopc_error error = {};
  int status = run(&options, values.data(), values.size(), outputs.data(),
                   outputs.size(), &error);
  writeNumber(status);
  if (status != LOOPC_OK) {
    writeNumber(static_cast<int64_t>(std::strlen(error.message)));
    write(error.message, std::strlen(error.message));
    return;
  }
  for (loopc_value &output : outputs) {
    writeValue(output);
    if (output.release)
      output.release(&output);
  }
}

int main(int argc, char **argv) {
  if (argc != 4)
    fail("wants LIBRARY NAME THREADS");
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library)
    fail(dlerror());
  std::string name = argv[2];
  auto *describe = reinterpret_cast<const loopc_model *(*)()>(
      dlsym(library, (name + "_model").c_str()));
  auto run = reinterpret_cast<Run>(dlsym(library, (name + "_run").c_str()));
  if (!describe || !run)
    fail("the library has no model of this name");
  runOnce(*describe(), run, std::atoi(argv[3]));
  return 0;
}
