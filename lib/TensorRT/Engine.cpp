//===- Engine.cpp - Engines and their runs --------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan.h"

#include "loopc-rt/loopc_rt.h"
#include "loopc/Compiler.h"
#include "loopc/Outline.h"
#include "loopc/Support/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace loopc::network;
using llvm::StringRef;
using Severity = ILogger::Severity;

/// "[2, -1]".
static std::string show(const Dims &dims) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(toVector(dims), os);
  os << ']';
  return text;
}

/// The shapes of an outline's outputs, -1 where values decide an extent, for
/// shapes of its inputs. Nothing where these do not fit together.
static std::map<std::string, Dims>
inferOutputs(StringRef outline, const std::map<std::string, Dims> &inputs) {
  std::map<std::string, Dims> found;
  loopc::CompilerOptions options;
  options.format = loopc::InputFormat::MLIR;
  for (const auto &[name, dims] : inputs)
    options.shapes[name].assign(dims.d, dims.d + dims.nbDims);
  loopc::Compiler compiler(options);
  loopc::DiagnosticCollector said(&compiler.getContext());
  llvm::raw_null_ostream nothing;
  if (failed(compiler.parseBytes("outline.mlir", outline)) ||
      failed(compiler.emit(loopc::Output::Shapes, nothing)))
    return found;
  for (auto [name, type] : loopc::getOutputs(compiler.getModule())) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    if (!tensor || tensor.getRank() > Dims::MAX_DIMS)
      continue;
    Dims &dims = found[name.str()];
    dims.nbDims = static_cast<int32_t>(tensor.getRank());
    for (auto [at, extent] : llvm::enumerate(tensor.getShape()))
      dims.d[at] = mlir::ShapedType::isDynamic(extent) ? -1 : extent;
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

struct ICudaEngine::Impl {
  Impl(ILogger &logger, StringRef bytes) : logger(logger), plan(bytes.str()) {}
  ~Impl() {
    if (library)
      dlclose(library);
    if (file >= 0)
      close(file);
  }

  /// Loads the library, which is `bytes` of the plan.
  /// \returns an empty text, or what is wrong.
  std::string load(StringRef bytes);

  size_t getNumTensors() const {
    return model->num_inputs + model->num_outputs;
  }
  const loopc_port &getPort(size_t index) const {
    return index < model->num_inputs
               ? model->inputs[index]
               : model->outputs[index - model->num_inputs];
  }
  /// Null where there is none, which the logger is told.
  const loopc_port *find(const char *name) const;
  bool isInput(const loopc_port &port) const {
    return &port >= model->inputs && &port < model->inputs + model->num_inputs;
  }

  /// The type of a port as people are shown it: of an output, with the names
  /// that the model declares.
  const loopc_type &getShownType(const loopc_port &port) const {
    return isInput(port) || !model->declared_outputs
               ? *port.type
               : *model->declared_outputs[&port - model->outputs].type;
  }

  ILogger &logger;
  std::string plan;
  PlanInfo info;
  /// The library's file, which has no name. It stays open: the system takes a
  /// library whose path is that of one in the process for the same.
  int file = -1;
  void *library = nullptr;
  const loopc_model *model = nullptr;
  int (*run)(const loopc_run_options *, const loopc_value *, size_t,
             loopc_value *, size_t, loopc_error *) = nullptr;
};

std::string ICudaEngine::Impl::load(StringRef bytes) {
  file = memfd_create("loopc-engine", MFD_CLOEXEC);
  if (file < 0)
    return std::string("cannot make a file in memory: ") + std::strerror(errno);
  while (!bytes.empty()) {
    ssize_t written = write(file, bytes.data(), bytes.size());
    if (written <= 0)
      break;
    bytes = bytes.drop_front(written);
  }
  if (bytes.empty())
    library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(),
                     RTLD_NOW | RTLD_LOCAL);
  std::string problem =
      library ? "" : (bytes.empty() ? dlerror() : std::strerror(errno));
  if (!problem.empty())
    return "cannot load the engine: " + problem;
  auto symbol = [&](const char *suffix) {
    return dlsym(library, (kEngineSymbol + suffix).str().c_str());
  };
  auto getModel = reinterpret_cast<const loopc_model *(*)()>(symbol("_model"));
  run = reinterpret_cast<decltype(run)>(symbol("_run"));
  if (!getModel || !run)
    return "these are not the bytes of an engine of this version";
  const loopc_model *found = getModel();
  if (found->abi_version != LOOPC_ABI_VERSION)
    return "the engine was built by another version of loopc";
  // The library brings the runtime that runs its model.
  auto check = reinterpret_cast<decltype(&loopc_model_check)>(
      dlsym(library, "loopc_model_check"));
  loopc_error error = {};
  if (check && check(found, &error) != LOOPC_OK)
    return error.message;
  for (size_t k = 0; k < found->num_inputs + found->num_outputs; ++k) {
    const loopc_port &port = k < found->num_inputs
                                 ? found->inputs[k]
                                 : found->outputs[k - found->num_inputs];
    if (port.type->kind != LOOPC_TENSOR || port.type->rank > Dims::MAX_DIMS)
      return llvm::formatv("'{0}' is no tensor", port.name);
  }
  model = found;
  return "";
}

const loopc_port *ICudaEngine::Impl::find(const char *name) const {
  std::string known;
  for (size_t k = 0; k < getNumTensors(); ++k) {
    const loopc_port &port = getPort(k);
    if (name && StringRef(name) == port.name)
      return &port;
    known += (k ? ", '" : "'") + std::string(port.name) + "'";
  }
  logger.log(Severity::kERROR,
             llvm::formatv("the engine has no tensor '{0}'; it has: {1}",
                           name ? name : "", known)
                 .str()
                 .c_str());
  return nullptr;
}

ICudaEngine::ICudaEngine(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
ICudaEngine::~ICudaEngine() = default;

ICudaEngine *IRuntime::deserializeCudaEngine(const void *blob, size_t size) {
  StringRef bytes(static_cast<const char *>(blob), blob ? size : 0);
  auto impl = std::make_unique<ICudaEngine::Impl>(logger, bytes);
  std::string problem = "these are not the bytes of an engine";
  if (auto library = readPlan(bytes, impl->info))
    problem = impl->load(*library);
  if (problem.empty())
    return new ICudaEngine(std::move(impl));
  logger.log(Severity::kERROR, problem.c_str());
  return nullptr;
}

int32_t ICudaEngine::getNbIOTensors() const {
  return static_cast<int32_t>(impl->getNumTensors());
}

const char *ICudaEngine::getIOTensorName(int32_t index) const {
  return index >= 0 && index < getNbIOTensors() ? impl->getPort(index).name
                                                : nullptr;
}

TensorIOMode ICudaEngine::getTensorIOMode(const char *tensorName) const {
  const loopc_port *port = impl->find(tensorName);
  return !port                  ? TensorIOMode::kNONE
         : impl->isInput(*port) ? TensorIOMode::kINPUT
                                : TensorIOMode::kOUTPUT;
}

static Dims dimsOf(const loopc_type &type) {
  Dims dims;
  dims.nbDims = type.rank;
  for (int32_t k = 0; k < type.rank; ++k)
    dims.d[k] = type.dims[k].extent;
  return dims;
}

Dims ICudaEngine::getTensorShape(const char *tensorName) const {
  Dims none;
  none.nbDims = -1;
  const loopc_port *port = impl->find(tensorName);
  return port ? dimsOf(impl->getShownType(*port)) : none;
}

static DataType typeOf(const loopc_type &type) {
  switch (type.onnx_type) {
#define LOOPC_DATA_TYPE(NAME, NUMBER, BITS, ONNX, NUMPY)                       \
  case ONNX:                                                                   \
    return DataType::k##NAME;
#include "loopc-c/DataTypes.def"
  }
  return DataType::kFLOAT;
}

DataType ICudaEngine::getTensorDataType(const char *tensorName) const {
  const loopc_port *port = impl->find(tensorName);
  return port ? typeOf(*port->type) : DataType::kFLOAT;
}

int32_t ICudaEngine::getTensorBytesPerComponent(const char *tensorName) const {
  const loopc_port *port = impl->find(tensorName);
  return port ? (port->type->dtype.bits + 7) / 8 : -1;
}

int32_t ICudaEngine::getNbOptimizationProfiles() const {
  return std::max<int32_t>(static_cast<int32_t>(impl->info.profiles.size()), 1);
}

Dims ICudaEngine::getProfileShape(const char *tensorName, int32_t profileIndex,
                                  OptProfileSelector select) const {
  Dims none;
  none.nbDims = -1;
  const auto &profiles = impl->info.profiles;
  if (profileIndex < 0 || profileIndex >= static_cast<int32_t>(profiles.size()))
    return none;
  auto entry = profiles[profileIndex].find(tensorName);
  return entry == profiles[profileIndex].end()
             ? none
             : entry->second[static_cast<int32_t>(select)];
}

IExecutionContext *ICudaEngine::createExecutionContext() const {
  return new IExecutionContext(*this);
}

IHostMemory *ICudaEngine::serialize() const {
  return new IHostMemory(impl->plan);
}

const char *ICudaEngine::getName() const { return impl->info.name.c_str(); }

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

bool IExecutionContext::fail(const std::string &text) const {
  engine.impl->logger.log(Severity::kERROR, text.c_str());
  return false;
}

bool IExecutionContext::setInputShape(const char *tensorName,
                                      const Dims &dims) {
  const ICudaEngine::Impl &impl = *engine.impl;
  const loopc_port *port = impl.find(tensorName);
  if (!port)
    return false;
  if (!impl.isInput(*port))
    return fail(
        llvm::formatv("'{0}' is an output: its shape follows", tensorName));
  Dims known = dimsOf(*port->type);
  bool fits = known.nbDims < 0 || known.nbDims == dims.nbDims;
  for (int32_t k = 0; fits && k < dims.nbDims; ++k)
    fits = dims.d[k] >= 0 &&
           (known.nbDims < 0 || known.d[k] < 0 || known.d[k] == dims.d[k]);
  std::string text =
      llvm::formatv("the input '{0}' of shape {1} cannot have the shape {2}",
                    tensorName, show(known), show(dims));
  Dims least = engine.getProfileShape(tensorName, profile,
                                      OptProfileSelector::kMIN),
       most = engine.getProfileShape(tensorName, profile,
                                     OptProfileSelector::kMAX);
  if (fits && least.nbDims >= 0) {
    for (int32_t k = 0; fits && k < dims.nbDims; ++k)
      fits = least.d[k] <= dims.d[k] && dims.d[k] <= most.d[k];
    text += llvm::formatv(": profile {0} has {1} to {2}", profile, show(least),
                          show(most));
  }
  if (!fits)
    return fail(text);
  shapes[tensorName] = dims;
  inferred.reset();
  // What outputs were in a run before, they need not be in the next.
  for (size_t k = 0; k < impl.model->num_outputs; ++k)
    shapes.erase(impl.model->outputs[k].name);
  return true;
}

/// Whether all extents are known.
static bool isKnown(const Dims &dims) {
  return dims.nbDims >= 0 && !llvm::is_contained(toVector(dims), -1);
}

Dims IExecutionContext::getTensorShape(const char *tensorName) const {
  const ICudaEngine::Impl &impl = *engine.impl;
  const loopc_port *port = impl.find(tensorName);
  if (!port)
    return engine.getTensorShape(tensorName);
  if (auto entry = shapes.find(tensorName); entry != shapes.end())
    return entry->second;
  const loopc_type &type = impl.getShownType(*port);
  Dims dims = dimsOf(type);
  for (int32_t k = 0; k < dims.nbDims; ++k) {
    const char *wanted = type.dims[k].name;
    // The same name of an input's extent is the same extent.
    for (size_t n = 0; wanted && dims.d[k] < 0 && n < impl.model->num_inputs;
         ++n) {
      const loopc_port &input = impl.model->inputs[n];
      auto entry = shapes.find(input.name);
      for (int32_t at = 0; entry != shapes.end() && at < input.type->rank; ++at)
        if (input.type->dims[at].name &&
            StringRef(wanted) == input.type->dims[at].name)
          dims.d[k] = entry->second.d[at];
    }
  }
  if (impl.isInput(*port) || isKnown(dims) || impl.info.outline.empty())
    return dims;
  // Else it follows from the shapes of all inputs, or the run finds it.
  std::map<std::string, Dims> inputs;
  for (size_t k = 0; k < impl.model->num_inputs; ++k) {
    const char *input = impl.model->inputs[k].name;
    if (!isKnown(inputs[input] = getTensorShape(input)))
      return dims;
  }
  if (!inferred)
    inferred = inferOutputs(impl.info.outline, inputs);
  auto entry = inferred->find(tensorName);
  bool fits = entry != inferred->end() &&
              (dims.nbDims < 0 || dims.nbDims == entry->second.nbDims);
  return fits ? entry->second : dims;
}

Dims IExecutionContext::getTensorStrides(const char *tensorName) const {
  Dims dims = getTensorShape(tensorName);
  if (!isKnown(dims)) {
    dims.nbDims = -1;
    return dims;
  }
  int64_t stride = 1;
  for (int32_t k = dims.nbDims; k-- > 0;)
    stride *= std::exchange(dims.d[k], stride);
  return dims;
}

bool IExecutionContext::setTensorAddress(const char *tensorName, void *data) {
  if (!engine.impl->find(tensorName))
    return false;
  addresses[tensorName] = data;
  return true;
}

/// What a map has for a name; null where it has nothing.
template <typename T>
static T *lookup(const std::map<std::string, T *> &map, const char *name) {
  auto entry = map.find(name);
  return entry == map.end() ? nullptr : entry->second;
}

void *IExecutionContext::getTensorAddress(const char *tensorName) const {
  return lookup(addresses, tensorName);
}

bool IExecutionContext::setOutputAllocator(const char *tensorName,
                                           IOutputAllocator *allocator) {
  if (!engine.impl->find(tensorName))
    return false;
  allocators[tensorName] = allocator;
  return true;
}

IOutputAllocator *
IExecutionContext::getOutputAllocator(const char *tensorName) const {
  return lookup(allocators, tensorName);
}

bool IExecutionContext::setOptimizationProfileAsync(int32_t index,
                                                    loopc_stream) {
  if (index < 0 || index >= engine.getNbOptimizationProfiles())
    return fail(llvm::formatv("there are {0} profiles, and none of number {1}",
                              engine.getNbOptimizationProfiles(), index));
  profile = index;
  shapes.clear();
  inferred.reset();
  return true;
}

int32_t IExecutionContext::inferShapes(int32_t nbMaxNames,
                                       const char **names) const {
  int32_t count = 0;
  for (size_t k = 0; k < engine.impl->model->num_inputs; ++k) {
    const char *input = engine.impl->model->inputs[k].name;
    if (isKnown(getTensorShape(input)))
      continue;
    if (names && count < nbMaxNames)
      names[count] = input;
    ++count;
  }
  return count;
}

bool IExecutionContext::allInputDimensionsSpecified() const {
  return inferShapes(0, nullptr) == 0;
}

/// The bytes of a tensor.
static int64_t sizeOf(const loopc_type &type, llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return (count * type.dtype.bits + 7) / 8;
}

int64_t IExecutionContext::getMaxOutputSize(const char *tensorName) const {
  const loopc_port *port = engine.impl->find(tensorName);
  Dims dims = getTensorShape(tensorName);
  return port && isKnown(dims) ? sizeOf(*port->type, toVector(dims)) : 0;
}

/// What a run asks for memory.
struct IExecutionContext::Run {
  IExecutionContext &context;
  const loopc_model &model;

  /// Where an output of that shape goes; null where nobody said.
  static void *place(void *self, size_t output, const int64_t *shape,
                     int32_t rank) {
    auto &run = *static_cast<Run *>(self);
    const loopc_port &port = run.model.outputs[output];
    Dims dims;
    dims.nbDims = rank;
    std::copy_n(shape, std::min(rank, Dims::MAX_DIMS), dims.d);
    run.context.shapes[port.name] = dims;
    void *address = run.context.getTensorAddress(port.name);
    IOutputAllocator *allocator = run.context.getOutputAllocator(port.name);
    if (!allocator)
      return address;
    int64_t size = sizeOf(*port.type, llvm::ArrayRef(shape, rank));
    address = allocator->reallocateOutput(port.name, address,
                                          std::max<int64_t>(size, 1), 64);
    allocator->notifyShape(port.name, dims);
    return address;
  }
};

bool IExecutionContext::enqueueV3(loopc_stream) {
  const loopc_model &model = *engine.impl->model;
  std::vector<loopc_value> inputs(model.num_inputs), outputs(model.num_outputs);
  std::vector<Dims> extents(model.num_inputs);
  for (auto [k, value] : llvm::enumerate(inputs)) {
    const loopc_port &port = model.inputs[k];
    extents[k] = getTensorShape(port.name);
    void *address = getTensorAddress(port.name);
    if (!isKnown(extents[k]))
      return fail(llvm::formatv("the input '{0}' of shape {1} has no "
                                "setInputShape()",
                                port.name, show(extents[k])));
    if (!address)
      return fail(llvm::formatv("the input '{0}' has no setTensorAddress()",
                                port.name));
    value.kind = LOOPC_TENSOR;
    value.as.tensor = {address,
                       {kDLCPU, 0},
                       extents[k].nbDims,
                       port.type->dtype,
                       extents[k].d,
                       nullptr,
                       0};
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    const char *output = model.outputs[k].name;
    if (!getTensorAddress(output) && !getOutputAllocator(output))
      return fail(llvm::formatv("the output '{0}' has neither "
                                "setTensorAddress() nor setOutputAllocator()",
                                output));
  }
  Run run{*this, model};
  loopc_run_options options = {};
  options.size = sizeof(options);
  options.place_output = Run::place;
  options.place_context = &run;
  loopc_error error = {};
  int status = engine.impl->run(&options, inputs.data(), inputs.size(),
                                outputs.data(), outputs.size(), &error);
  for (loopc_value &value : outputs)
    if (value.release)
      value.release(&value);
  return status == LOOPC_OK || fail(error.message);
}

bool IExecutionContext::executeV2(void *const *bindings) {
  for (int32_t k = 0; k < engine.getNbIOTensors(); ++k)
    addresses[engine.getIOTensorName(k)] = bindings[k];
  return enqueueV3(nullptr);
}
