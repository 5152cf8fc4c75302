//===- ort_custom.cpp - Custom operators for onnxruntime, for tests -------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Written as those libraries are whose authors have onnxruntime's headers,
// which no package ships: the functions are called by their places. onnxruntime
// loads this library, too, and is asked for the same results.
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Status;
struct Info;
struct Context;
struct Value;
struct Shape;
struct Options;
struct Domain;
using Place = void (*)();
using Api = const Place *;
struct ApiBase {
  Api (*getApi)(uint32_t version);
  const char *(*getVersion)();
};

/// The members up to the one that came with version 17.
struct Op {
  uint32_t version;
  void *(*createKernel)(const Op *, Api, const Info *);
  const char *(*getName)(const Op *);
  const char *(*getProvider)(const Op *);
  int32_t (*getInputType)(const Op *, size_t);
  size_t (*countInputs)(const Op *);
  int32_t (*getOutputType)(const Op *, size_t);
  size_t (*countOutputs)(const Op *);
  void (*compute)(void *, Context *);
  void (*destroyKernel)(void *);
  int32_t (*getInputForm)(const Op *, size_t);
  int32_t (*getOutputForm)(const Op *, size_t);
  int32_t (*getInputMemory)(const Op *, size_t);
  int (*getLeastInputs)(const Op *);
  int (*areInputsOfOneType)(const Op *);
  int (*getLeastOutputs)(const Op *);
  int (*areOutputsOfOneType)(const Op *);
  Status *(*createKernelV2)(const Op *, Api, const Info *, void **);
  Status *(*computeV2)(void *, Context *);
  Status *(*inferShapes)(const Op *, void *);
  int (*getStartVersion)(const Op *);
  int (*getEndVersion)(const Op *);
  void *aliases[4];
};

Api api;

/// Calls the function at `place`, which returns a status; throws its message.
template <typename... Arguments>
void call(size_t place, Arguments... arguments) {
  auto *status =
      reinterpret_cast<Status *(*)(Arguments...)>(api[place])(arguments...);
  if (!status)
    return;
  std::string message =
      reinterpret_cast<const char *(*)(const Status *)>(api[2])(status);
  reinterpret_cast<void (*)(Status *)>(api[93])(status);
  throw std::runtime_error(message);
}

Status *makeStatus(int32_t code, const char *message) {
  return reinterpret_cast<Status *(*)(int32_t, const char *)>(api[0])(code,
                                                                      message);
}

struct Tensor {
  const Value *value = nullptr;
  int32_t type = 0;
  std::vector<int64_t> shape;
  size_t count = 0;
  const void *data = nullptr;
};

Tensor input(Context *context, size_t index) {
  Tensor tensor;
  call(90, static_cast<const Context *>(context), index, &tensor.value);
  if (!tensor.value)
    return tensor;
  Shape *shape = nullptr;
  size_t rank = 0;
  call(65, tensor.value, &shape);
  auto *info = static_cast<const Shape *>(shape);
  call(60, info, &tensor.type);
  call(61, info, &rank);
  tensor.shape.resize(rank);
  call(62, info, tensor.shape.data(), rank);
  call(64, info, &tensor.count);
  reinterpret_cast<void (*)(Shape *)>(api[99])(shape);
  void *data = nullptr;
  if (tensor.type != 8)
    call(51, const_cast<Value *>(tensor.value), &data);
  tensor.data = data;
  return tensor;
}

Value *outputValue(Context *context, size_t index,
                   const std::vector<int64_t> &shape) {
  Value *value = nullptr;
  call(91, context, index, shape.data(), shape.size(), &value);
  return value;
}

void *output(Context *context, size_t index,
             const std::vector<int64_t> &shape) {
  void *data = nullptr;
  if (Value *value = outputValue(context, index, shape))
    call(51, value, &data);
  return data;
}

/// The ports of an operator, by onnxruntime's numbers of types.
struct Operator : Op {
  const char *name;
  std::vector<int32_t> inputs, outputs;
  int32_t lastInputForm = 0, lastOutputForm = 0;
};

const Operator &self(const Op *op) {
  return *static_cast<const Operator *>(op);
}

Operator make(const char *name, std::vector<int32_t> inputs,
              std::vector<int32_t> outputs,
              void *(*create)(const Op *, Api, const Info *),
              void (*compute)(void *, Context *)) {
  Operator op = {};
  op.version = 16;
  op.name = name;
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  op.getName = [](const Op *op) { return self(op).name; };
  op.getProvider = [](const Op *) -> const char * { return nullptr; };
  op.getInputType = [](const Op *op, size_t k) { return self(op).inputs[k]; };
  op.countInputs = [](const Op *op) { return self(op).inputs.size(); };
  op.getOutputType = [](const Op *op, size_t k) { return self(op).outputs[k]; };
  op.countOutputs = [](const Op *op) { return self(op).outputs.size(); };
  op.getInputForm = [](const Op *op, size_t k) {
    return k + 1 == self(op).inputs.size() ? self(op).lastInputForm : 0;
  };
  op.getOutputForm = [](const Op *op, size_t k) {
    return k + 1 == self(op).outputs.size() ? self(op).lastOutputForm : 0;
  };
  op.getInputMemory = [](const Op *, size_t) { return 0; };
  op.getLeastInputs = op.getLeastOutputs = [](const Op *) { return 1; };
  op.areInputsOfOneType = op.areOutputsOfOneType = [](const Op *) { return 1; };
  op.createKernel = create;
  op.compute = compute;
  return op;
}

void *createNothing(const Op *, Api, const Info *) { return nullptr; }

/// y = factor * x + the sum of offsets. The kernel counts its calls.
struct Scale {
  float factor = 1;
  int64_t offset = 0;
};
void *createScale(const Op *, Api, const Info *info) {
  auto *kernel = new Scale;
  call(85, info, "factor", &kernel->factor);
  size_t count = 0;
  try {
    call(163, info, "offsets", static_cast<int64_t *>(nullptr), &count);
  } catch (const std::exception &) {
    return kernel; // The node has no offsets.
  }
  std::vector<int64_t> offsets(count);
  call(163, info, "offsets", offsets.data(), &count);
  for (int64_t offset : offsets)
    kernel->offset += offset;
  return kernel;
}
template <typename T> void computeScale(void *kernel, Context *context) {
  const Scale &scale = *static_cast<Scale *>(kernel);
  Tensor x = input(context, 0);
  T *y = static_cast<T *>(output(context, 0, x.shape));
  for (size_t k = 0; k < x.count; ++k)
    y[k] = static_cast<T>(scale.factor) * static_cast<const T *>(x.data)[k] +
           static_cast<T>(scale.offset);
}
void destroyScale(void *kernel) { delete static_cast<Scale *>(kernel); }

/// The positive elements, plus `shift` if it is given, and how many they are if
/// that is asked for.
void computePositive(void *, Context *context) {
  Tensor x = input(context, 0), shift = input(context, 1);
  std::vector<int32_t> found;
  for (size_t k = 0; k < x.count; ++k)
    if (static_cast<const int32_t *>(x.data)[k] > 0)
      found.push_back(
          static_cast<const int32_t *>(x.data)[k] +
          (shift.value ? *static_cast<const int32_t *>(shift.data) : 0));
  void *y = output(context, 0, {static_cast<int64_t>(found.size())});
  if (!found.empty())
    std::memcpy(y, found.data(), found.size() * sizeof(int32_t));
  if (void *count = output(context, 1, {}))
    *static_cast<int64_t *>(count) = static_cast<int64_t>(found.size());
}

/// All inputs, one behind the other.
void computeJoin(void *, Context *context) {
  size_t count = 0;
  call(88, static_cast<const Context *>(context), &count);
  std::vector<float> all;
  for (size_t k = 0; k < count; ++k) {
    Tensor x = input(context, k);
    auto *data = static_cast<const float *>(x.data);
    all.insert(all.end(), data, data + x.count);
  }
  void *y = output(context, 0, {static_cast<int64_t>(all.size())});
  if (!all.empty())
    std::memcpy(y, all.data(), all.size() * sizeof(float));
}

/// Texts between two marks.
void *createQuote(const Op *, Api, const Info *info) {
  size_t size = 0;
  call(87, info, "mark", static_cast<char *>(nullptr), &size);
  std::vector<char> text(size);
  call(87, info, "mark", text.data(), &size);
  return new std::string(text.data());
}
void computeQuote(void *kernel, Context *context) {
  const std::string &mark = *static_cast<std::string *>(kernel);
  Tensor x = input(context, 0);
  size_t bytes = 0;
  call(53, x.value, &bytes);
  std::vector<char> content(bytes + 1);
  std::vector<size_t> offsets(x.count + 1);
  call(54, x.value, static_cast<void *>(content.data()), bytes, offsets.data(),
       x.count);
  offsets[x.count] = bytes;
  Value *y = outputValue(context, 0, x.shape);
  for (size_t k = 0; k < x.count; ++k) {
    std::string text = mark +
                       std::string(content.data() + offsets[k],
                                   content.data() + offsets[k + 1]) +
                       mark;
    call(129, y, text.c_str(), k);
  }
}
void destroyQuote(void *kernel) { delete static_cast<std::string *>(kernel); }

/// A copy of what may have any type.
void computeCopy(void *, Context *context) {
  Tensor x = input(context, 0);
  static constexpr size_t sizes[] = {0, 4, 1, 1, 2, 2, 4,  8, 0,
                                     1, 2, 8, 4, 8, 8, 16, 2};
  void *y = output(context, 0, x.shape);
  if (x.count)
    std::memcpy(y, x.data, x.count * sizes[x.type]);
}

/// How often this node's kernel was called before.
void *createTick(const Op *, Api, const Info *) {
  return new std::atomic<int64_t>(0);
}
void computeTick(void *kernel, Context *context) {
  *static_cast<int64_t *>(output(context, 0, {})) =
      static_cast<std::atomic<int64_t> *>(kernel)->fetch_add(1);
}
void destroyTick(void *kernel) {
  delete static_cast<std::atomic<int64_t> *>(kernel);
}

/// What goes wrong in an operator, by its input.
void computeFault(void *, Context *context) {
  Tensor what = input(context, 0);
  switch (*static_cast<const int64_t *>(what.data)) {
  case 0:
    throw std::runtime_error("100 % wrong");
  case 1:
    throw 1;
  case 2: // CreateEnv, which no kernel calls.
    call(3, 0, "name", static_cast<void **>(nullptr));
    break;
  case 3:
    break; // No output.
  case 4:
    output(context, 0, {1, 2});
    break;
  default:
    output(context, 7, {1});
  }
}

/// The form with statuses.
Status *createV2(const Op *, Api, const Info *info, void **kernel) {
  int64_t value = 0;
  *kernel = nullptr;
  auto *status =
      reinterpret_cast<Status *(*)(const Info *, const char *, int64_t *)>(
          api[86])(info, "limit", &value);
  if (status)
    return status;
  if (value < 0)
    return makeStatus(2, "limit is negative");
  *kernel = new int64_t(value);
  return nullptr;
}
Status *computeV2(void *kernel, Context *context) {
  Tensor x = input(context, 0);
  auto *values = static_cast<const int64_t *>(x.data);
  for (size_t k = 0; k < x.count; ++k)
    if (values[k] > *static_cast<int64_t *>(kernel))
      return makeStatus(1, "an element is above the limit");
  void *y = output(context, 0, x.shape);
  if (x.count)
    std::memcpy(y, x.data, x.count * sizeof(int64_t));
  return nullptr;
}

} // namespace

extern "C" __attribute__((visibility("default"))) Status *
RegisterCustomOps(Options *options, const ApiBase *base) {
  api = base->getApi(16);
  if (!api)
    return nullptr;
  static std::vector<Operator> operators = [] {
    std::vector<Operator> all = {
        make("Scale", {1}, {1}, createScale, computeScale<float>),
        make("Scale", {11}, {11}, createScale, computeScale<double>),
        make("Positive", {6, 6}, {6, 7}, createNothing, computePositive),
        make("Join", {1}, {1}, createNothing, computeJoin),
        make("Quote", {8}, {8}, createQuote, computeQuote),
        make("Copy", {0}, {0}, createNothing, computeCopy),
        make("Tick", {}, {7}, createTick, computeTick),
        make("Fault", {7}, {1}, createNothing, computeFault),
        make("Limit", {7}, {7}, nullptr, nullptr),
        make("OnGpu", {1}, {1}, createNothing, computeJoin)};
    for (Operator &op : all)
      op.destroyKernel = [](void *) {};
    all[0].destroyKernel = all[1].destroyKernel = destroyScale;
    all[2].lastInputForm = all[2].lastOutputForm = 1; // optional
    all[3].lastInputForm = 2;                         // variadic
    all[4].destroyKernel = destroyQuote;
    all[6].destroyKernel = destroyTick;
    all[8].createKernelV2 = createV2;
    all[8].computeV2 = computeV2;
    all[8].destroyKernel = [](void *kernel) {
      delete static_cast<int64_t *>(kernel);
    };
    all[9].getProvider = [](const Op *) { return "CUDAExecutionProvider"; };
    return all;
  }();
  try {
    Domain *domain = nullptr;
    call(26, "test.ort", &domain);
    for (Operator &op : operators)
      call(27, domain, static_cast<const Op *>(&op));
    call(28, options, domain);
  } catch (const std::exception &error) {
    return makeStatus(1, error.what());
  }
  return nullptr;
}
