//===- OrtLibrary.cpp - Libraries made for onnxruntime --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operator of such a library (OrtCustomOp) becomes a loopc_custom_op, whose
// compute() finds the kernel of the node, makes it with the first call, and
// calls it. What the operator does not say, a model has to: the rank of
// outputs.
//
//===----------------------------------------------------------------------===//

#include "OrtLibrary.h"
#include "OrtApi.h"

#include <cstddef>
#include <deque>
#include <dlfcn.h>
#include <exception>
#include <map>
#include <mutex>
#include <unordered_map>

using namespace loopc;
using namespace loopc::ort;

/// OrtCustomOpInputOutputCharacteristic.
enum : int32_t { kRequired = 0, kOptional = 1, kVariadic = 2 };

/// An operator as the library describes it, in the order that onnxruntime's
/// header has. Members that came later are read where `version` says that they
/// are there.
struct OrtCustomOp {
  uint32_t version;
  void *(*createKernel)(const OrtCustomOp *op, const OrtApi *api,
                        const OrtKernelInfo *info);
  const char *(*getName)(const OrtCustomOp *op);
  const char *(*getProvider)(const OrtCustomOp *op);
  int32_t (*getInputType)(const OrtCustomOp *op, size_t index);
  size_t (*countInputs)(const OrtCustomOp *op);
  int32_t (*getOutputType)(const OrtCustomOp *op, size_t index);
  size_t (*countOutputs)(const OrtCustomOp *op);
  void (*compute)(void *kernel, OrtKernelContext *context);
  void (*destroyKernel)(void *kernel);
  // Version 8.
  int32_t (*getInputForm)(const OrtCustomOp *op, size_t index);
  int32_t (*getOutputForm)(const OrtCustomOp *op, size_t index);
  int32_t (*getInputMemory)(const OrtCustomOp *op, size_t index);
  // Version 14.
  int (*getLeastInputs)(const OrtCustomOp *op);
  int (*areInputsOfOneType)(const OrtCustomOp *op);
  int (*getLeastOutputs)(const OrtCustomOp *op);
  int (*areOutputsOfOneType)(const OrtCustomOp *op);
  // Version 16: with statuses.
  OrtStatus *(*createKernelV2)(const OrtCustomOp *op, const OrtApi *api,
                               const OrtKernelInfo *info, void **kernel);
  OrtStatus *(*computeV2)(void *kernel, OrtKernelContext *context);
  // Version 17.
  OrtStatus *(*inferShapes)(const OrtCustomOp *op, void *context);
  int (*getStartVersion)(const OrtCustomOp *op);
  int (*getEndVersion)(const OrtCustomOp *op);
};

/// Calls `work` of the library. \returns what it threw, or an empty text.
template <typename Work> static std::string callGuarded(Work work) {
  try {
    work();
    return "";
  } catch (const std::exception &error) {
    return *error.what() ? error.what() : "an exception without a text";
  } catch (...) {
    return "an exception of an unknown type";
  }
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

namespace {
class Operator;

/// A symbol, by which a call finds its operator: descriptions are copied to
/// where the code of a model has room for them.
struct Label {
  char symbol[40];
  Operator *owner;
};

class Operator {
public:
  Operator(const std::string &domain, const OrtCustomOp &custom)
      : custom(custom), domain(domain), name(custom.getName(&custom)) {}

  /// Fills the description. \returns an empty text, or what is wrong.
  std::string describe();
  const loopc_custom_op &getDescription() const { return op; }

private:
  std::string describePorts(size_t count, bool isInput,
                            std::vector<loopc_custom_port> &ports);
  void makeSymbol();
  bool hasStatuses() const { return custom.version >= 16 && custom.computeV2; }

  static int compute(loopc_custom_call *call);
  OrtKernelInfo describeNode(const loopc_custom_call &call) const;
  std::string findKernel(const loopc_custom_call &call, void *&kernel);
  std::string makeKernel(const OrtKernelInfo &info, void *&kernel);
  std::string callKernel(void *kernel, loopc_custom_call &call);

  const OrtCustomOp &custom;
  std::string domain, name;
  Label label = {};
  loopc_custom_op op = {};
  std::vector<loopc_custom_port> inputs, outputs;
  std::deque<std::string> texts; ///< what `inputs` and `outputs` point to
  std::string onlyOpenInput;     ///< the one input whose type is open

  std::mutex mutex; ///< of `kernels`
  std::unordered_map<std::string, void *> kernels;
};
} // namespace

static const std::string &getAllTypes() {
  static const std::string all = [] {
    std::string names;
    for (int32_t type = 1; type <= 16; ++type)
      if (const char *name = getTypeName(type))
        names += (names.empty() ? "" : " ") + std::string(name);
    return names;
  }();
  return all;
}

std::string Operator::describePorts(size_t count, bool isInput,
                                    std::vector<loopc_custom_port> &ports) {
  std::string what = isInput ? "input" : "output";
  for (size_t k = 0; k < count; ++k) {
    int32_t type =
        (isInput ? custom.getInputType : custom.getOutputType)(&custom, k);
    int32_t form = custom.version < 8
                       ? int32_t(kRequired)
                       : (isInput ? custom.getInputForm
                                  : custom.getOutputForm)(&custom, k);
    loopc_custom_port &port = ports.emplace_back();
    port.name = texts.emplace_back(what + std::to_string(k)).c_str();
    bool isOpen = type == 0;
    if (!isOpen && !getTypeName(type))
      return what + " #" + std::to_string(k) + " has the element type " +
             std::to_string(type) + ", which custom operators do not have";
    if (!isOpen) {
      port.types = getTypeName(type);
    } else if (isInput) {
      port.types = getAllTypes().c_str();
      onlyOpenInput = onlyOpenInput.empty() ? port.name : "several";
    } else if (onlyOpenInput.empty() || onlyOpenInput == "several") {
      return what + " #" + std::to_string(k) +
             " has a type that depends on the run, and not that of one input "
             "of any type";
    } else {
      port.type_of = onlyOpenInput.c_str();
    }
    if (form == kOptional)
      port.flags = LOOPC_CUSTOM_OPTIONAL;
    if (form == kVariadic && !isInput)
      return "it has any number of outputs, which loopc does not support";
    if (form == kVariadic)
      port.flags = LOOPC_CUSTOM_VARIADIC;
  }
  return "";
}

/// The same in each process that loads the library: another one may compile.
void Operator::makeSymbol() {
  std::string key =
      domain + "\n" + name + "\n" + std::to_string(op.since_version);
  for (const auto *ports : {&inputs, &outputs})
    for (const loopc_custom_port &port : *ports)
      key += std::string("\n") + (port.types ? port.types : port.type_of);
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (unsigned char byte : key)
    hash = (hash ^ byte) * 0x100000001b3;
  std::snprintf(label.symbol, sizeof(label.symbol), "loopc_op_ort_%016llx",
                static_cast<unsigned long long>(hash));
  label.owner = this;
}

std::string Operator::describe() {
  if (std::string fault =
          describePorts(custom.countInputs(&custom), /*isInput=*/true, inputs);
      !fault.empty())
    return fault;
  if (std::string fault = describePorts(custom.countOutputs(&custom),
                                        /*isInput=*/false, outputs);
      !fault.empty())
    return fault;
  op.abi_version = LOOPC_CUSTOM_ABI;
  op.size = sizeof(op);
  op.domain = domain.c_str();
  op.name = name.c_str();
  op.since_version = 1;
  if (custom.version >= 17 && custom.getStartVersion)
    op.since_version = std::max(custom.getStartVersion(&custom), 1);
  op.inputs = inputs.data();
  op.num_inputs = static_cast<int64_t>(inputs.size());
  op.outputs = outputs.data();
  op.num_outputs = static_cast<int64_t>(outputs.size());
  // Whether its kernels have a state is not said.
  op.flags = LOOPC_CUSTOM_STATEFUL | LOOPC_CUSTOM_OF_ONNXRUNTIME;
  op.compute = compute;
  makeSymbol();
  op.symbol = label.symbol;
  return "";
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static OrtKernelInfo::Attribute
copyAttribute(const loopc_custom_attribute &given) {
  OrtKernelInfo::Attribute copy = {
      given.name, static_cast<loopc_custom_kind>(given.kind), {}, {}, {}};
  auto fill = [&]<typename T, typename Value>(
                  std::vector<T> &list, const Value *values, auto convert) {
    for (int64_t k = 0; k < given.count; ++k)
      list.push_back(convert(values[k]));
  };
  auto same = [](auto value) { return value; };
  switch (given.kind) {
  case LOOPC_CUSTOM_INT:
  case LOOPC_CUSTOM_INTS:
    fill(copy.integers, static_cast<const int64_t *>(given.values), same);
    break;
  case LOOPC_CUSTOM_FLOAT:
  case LOOPC_CUSTOM_FLOATS:
    fill(copy.floats, static_cast<const float *>(given.values), same);
    break;
  default:
    fill(copy.texts, static_cast<const loopc_string *>(given.values),
         [](const loopc_string &text) {
           return std::string(text.data, text.size);
         });
  }
  return copy;
}

/// What stands behind loopc_custom_call::where, which says which node it is.
static const char *whereIs(const loopc_custom_call &call) {
  bool isThere = call.size > offsetof(loopc_custom_call, where);
  return isThere && call.where ? call.where : "";
}

OrtKernelInfo Operator::describeNode(const loopc_custom_call &call) const {
  OrtKernelInfo info;
  info.nodeName = whereIs(call);
  info.domain = domain;
  info.operatorName = name;
  info.sinceVersion = static_cast<int>(op.since_version);
  auto add = [](std::vector<OrtKernelInfo::Port> &ports, const char *prefix,
                const loopc_custom_tensor &tensor, bool isInput) {
    OrtTypeInfo type;
    if (tensor.is_given)
      type.tensor.elementType = getElementType(tensor.dtype);
    // Extents may change from run to run.
    type.tensor.hasShape = isInput && tensor.is_given;
    if (type.tensor.hasShape)
      type.tensor.shape.assign(static_cast<size_t>(tensor.rank), -1);
    ports.push_back({prefix + std::to_string(ports.size()), type});
  };
  for (int64_t k = 0; k < call.num_inputs; ++k)
    add(info.inputs, "input", call.inputs[k], /*isInput=*/true);
  for (int64_t k = 0; k < call.num_outputs; ++k)
    add(info.outputs, "output", call.outputs[k], /*isInput=*/false);
  for (int64_t k = 0; k < call.num_attributes; ++k)
    info.attributes.push_back(copyAttribute(call.attributes[k]));
  return info;
}

/// What tells nodes apart: the place, the types and the attributes. Addresses
/// do not, since the code of another model may be where that of one was.
static std::string makeKey(const loopc_custom_call &call) {
  std::string key = whereIs(call);
  auto add = [&](const void *bytes, size_t count) {
    key.append(static_cast<const char *>(bytes), count);
  };
  for (int64_t k = 0; k < call.num_inputs + call.num_outputs; ++k) {
    const loopc_custom_tensor &tensor = k < call.num_inputs
                                            ? call.inputs[k]
                                            : call.outputs[k - call.num_inputs];
    add(&tensor.dtype, sizeof(tensor.dtype));
    key += static_cast<char>(tensor.is_given);
    if (k < call.num_inputs)
      key += static_cast<char>(tensor.rank);
  }
  for (int64_t k = 0; k < call.num_attributes; ++k) {
    const loopc_custom_attribute &attribute = call.attributes[k];
    key += attribute.name;
    key += static_cast<char>(attribute.kind);
    add(&attribute.count, sizeof(attribute.count));
    bool isText = attribute.kind == LOOPC_CUSTOM_STRING ||
                  attribute.kind == LOOPC_CUSTOM_STRINGS;
    bool isFloat = attribute.kind == LOOPC_CUSTOM_FLOAT ||
                   attribute.kind == LOOPC_CUSTOM_FLOATS;
    if (!isText)
      add(attribute.values, static_cast<size_t>(attribute.count) *
                                (isFloat ? sizeof(float) : sizeof(int64_t)));
    for (int64_t i = 0; isText && i < attribute.count; ++i) {
      const auto &text = static_cast<const loopc_string *>(attribute.values)[i];
      add(&text.size, sizeof(text.size));
      add(text.data, text.size);
    }
  }
  return key;
}

std::string Operator::makeKernel(const OrtKernelInfo &info, void *&kernel) {
  OrtStatus *status = nullptr;
  std::string fault = callGuarded([&] {
    if (custom.version >= 16 && custom.createKernelV2)
      status = custom.createKernelV2(&custom, getApi(), &info, &kernel);
    else
      kernel = custom.createKernel(&custom, getApi(), &info);
  });
  if (status)
    fault = takeMessage(status);
  return fault.empty() ? "" : "its kernel cannot be made: " + fault;
}

/// The kernel of the node that `call` is of. It stays until the process ends.
std::string Operator::findKernel(const loopc_custom_call &call, void *&kernel) {
  std::string key = makeKey(call);
  std::lock_guard<std::mutex> guard(mutex);
  auto [place, isNew] = kernels.try_emplace(std::move(key), nullptr);
  if (isNew)
    if (std::string fault = makeKernel(describeNode(call), place->second);
        !fault.empty()) {
      kernels.erase(place);
      return fault;
    }
  kernel = place->second;
  return "";
}

std::string Operator::callKernel(void *kernel, loopc_custom_call &call) {
  OrtKernelContext context = {&call, {}, {}, {}};
  context.inputs.resize(static_cast<size_t>(call.num_inputs));
  for (int64_t k = 0; k < call.num_inputs; ++k) {
    const loopc_custom_tensor &tensor = call.inputs[k];
    OrtValue &value = context.inputs[static_cast<size_t>(k)];
    if (!tensor.is_given)
      continue;
    value.elementType = getElementType(tensor.dtype);
    value.shape = tensor.shape;
    value.rank = static_cast<size_t>(tensor.rank);
    value.count = static_cast<size_t>(tensor.count);
    value.data = tensor.data;
  }
  context.outputs.resize(static_cast<size_t>(call.num_outputs));
  OrtStatus *status = nullptr;
  std::string fault = callGuarded([&] {
    if (hasStatuses())
      status = custom.computeV2(kernel, &context);
    else
      custom.compute(kernel, &context);
  });
  return status ? takeMessage(status) : fault;
}

int Operator::compute(loopc_custom_call *call) {
  // The symbol is the first member of its label.
  Operator &self = *reinterpret_cast<const Label *>(call->op->symbol)->owner;
  void *kernel = nullptr;
  std::string fault = self.findKernel(*call, kernel);
  if (fault.empty())
    fault = self.callKernel(kernel, *call);
  return fault.empty() ? 0 : loopc_custom_fail(call, fault.c_str());
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

namespace {
/// What a library registered; it does so once.
struct Library {
  std::string fault;
  std::deque<Operator> operators;
};
} // namespace

static bool isForCpu(const OrtCustomOp &custom) {
  const char *provider =
      custom.getProvider ? custom.getProvider(&custom) : nullptr;
  return !provider || !*provider ||
         std::string_view(provider) == "CPUExecutionProvider";
}

static std::string registerAll(void *handle, Library &library) {
  auto function =
      reinterpret_cast<OrtStatus *(*)(OrtSessionOptions *, const OrtApiBase *)>(
          dlsym(handle, "RegisterCustomOps"));
  OrtSessionOptions options;
  OrtStatus *status = nullptr;
  std::string fault =
      callGuarded([&] { status = function(&options, getApiBase()); });
  if (status)
    fault = takeMessage(status);
  if (!fault.empty())
    return "its RegisterCustomOps fails: " + fault;
  for (const OrtCustomOpDomain *domain : options.domains)
    for (const OrtCustomOp *custom : domain->operators) {
      if (!isForCpu(*custom))
        continue;
      Operator &op = library.operators.emplace_back(domain->name, *custom);
      if (std::string problem = op.describe(); !problem.empty())
        return "operator '" + domain->name + "::" + custom->getName(custom) +
               "': " + problem;
    }
  return "";
}

std::string
ort::registerOperators(void *library,
                       std::vector<const loopc_custom_op *> &operators) {
  static std::mutex mutex;
  // Never destroyed: code may call the operators until the process ends.
  static auto &libraries = *new std::map<void *, Library>;
  std::lock_guard<std::mutex> guard(mutex);
  auto [place, isNew] = libraries.try_emplace(library);
  Library &known = place->second;
  if (isNew)
    known.fault = registerAll(library, known);
  if (known.fault.empty())
    for (const Operator &op : known.operators)
      operators.push_back(&op.getDescription());
  return known.fault;
}
