//===- Network.cpp - The functions of network.h ---------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled with exceptions, as Api.cpp.
//
//===----------------------------------------------------------------------===//

#include "Impl.h"

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>

using namespace loopc::network;

namespace {
/// What a function refuses.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};
} // namespace

/// Calls `work(INetworkDefinition &)`. What it or the network refuses is kept
/// as the network's error, layers that it has added by then go, and `failed` is
/// returned.
template <typename Result, typename Work>
static Result call(loopc_network *network, Result failed, Work work) noexcept {
  if (!network)
    return failed;
  int32_t before = network->network.getNbLayers();
  try {
    try {
      Result result = work(network->network);
      std::vector<std::string> errors = network->network.takeErrors();
      if (errors.empty())
        return result;
      network->error = errors.front();
    } catch (const std::exception &error) {
      network->network.takeErrors();
      network->error = error.what();
    }
    while (network->network.getNbLayers() > before &&
           network->network.removeLastLayer())
      ;
    network->network.takeErrors();
  } catch (...) {
  }
  return failed;
}

/// The same for functions that return a status.
template <typename Work> static int change(loopc_network *network, Work work) {
  return call(network, int(LOOPC_COMPILE_ERROR_ARGUMENT),
              [&](INetworkDefinition &definition) {
                work(definition);
                return int(LOOPC_COMPILE_OK);
              });
}

template <typename T>
static T &orRefuse(T *found, const char *what, int32_t number) {
  if (!found)
    throw Refused("there is no " + std::string(what) + " " +
                  std::to_string(number));
  return *found;
}

static ITensor &tensorOf(const INetworkDefinition &network, int32_t number) {
  return orRefuse(network.getTensor(number), "tensor", number);
}
static ILayer &layerOf(const INetworkDefinition &network, int32_t number) {
  return orRefuse(network.getLayer(number), "layer", number);
}

static const char *text(const char *given) {
  if (!given)
    throw Refused("a text must not be null");
  return given;
}

/// The elements of an array that a caller gave.
template <typename T> static std::vector<T> copied(const T *given, size_t n) {
  if (n && !given)
    throw Refused(std::to_string(n) + " values must not be null");
  return std::vector<T>(given, given + n);
}

static Dims dimsOf(const int64_t *extents, int32_t rank) {
  if (rank > Dims::MAX_DIMS)
    throw Refused("a tensor has at most " + std::to_string(Dims::MAX_DIMS) +
                  " dimensions");
  if (rank > 0 && !extents)
    throw Refused("the extents must not be null");
  Dims dims;
  dims.nbDims = std::max(rank, -1);
  std::copy_n(extents, std::max(rank, 0), dims.d);
  return dims;
}

static DataType typeOf(int32_t number) {
  auto type = static_cast<DataType>(number);
  if (!getName(type))
    throw Refused("there is no data type " + std::to_string(number));
  return type;
}

//===----------------------------------------------------------------------===//
// Networks
//===----------------------------------------------------------------------===//

extern "C" loopc_network *loopc_network_create(const char *name) {
  try {
    return new loopc_network{INetworkDefinition(name ? name : ""), "", ""};
  } catch (...) {
    return nullptr;
  }
}

extern "C" void loopc_network_destroy(loopc_network *network) {
  delete network;
}

extern "C" const char *loopc_network_error(const loopc_network *network) {
  return network ? network->error.c_str() : "there is no network";
}

extern "C" const char *loopc_network_text(loopc_network *network) {
  const char *none = "";
  return call(network, none, [&](INetworkDefinition &definition) {
    network->text = definition.toString();
    return network->text.c_str();
  });
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

extern "C" int32_t loopc_network_add_input(loopc_network *network,
                                           const char *name, int32_t type,
                                           const int64_t *extents,
                                           int32_t rank) {
  return call(network, int32_t(-1), [&](INetworkDefinition &definition) {
    return definition.addInput(text(name), typeOf(type), dimsOf(extents, rank))
        ->getId();
  });
}

extern "C" int loopc_network_set_dimension_name(loopc_network *network,
                                                int32_t tensor, int32_t index,
                                                const char *name) {
  return change(network, [&](INetworkDefinition &definition) {
    tensorOf(definition, tensor).setDimensionName(index, text(name));
  });
}

extern "C" int loopc_network_mark_output(loopc_network *network, int32_t tensor,
                                         int isOutput) {
  return change(network, [&](INetworkDefinition &definition) {
    ITensor &found = tensorOf(definition, tensor);
    if (isOutput)
      definition.markOutput(found);
    else
      definition.unmarkOutput(found);
  });
}

extern "C" int loopc_network_set_tensor_name(loopc_network *network,
                                             int32_t tensor, const char *name) {
  return change(network, [&](INetworkDefinition &definition) {
    tensorOf(definition, tensor).setName(text(name));
  });
}

extern "C" const char *loopc_network_tensor_name(const loopc_network *network,
                                                 int32_t tensor) {
  const ITensor *found = network ? network->network.getTensor(tensor) : nullptr;
  return found ? found->getName() : "";
}

extern "C" int loopc_network_tensor_type(loopc_network *network, int32_t tensor,
                                         int32_t *type, int64_t *extents,
                                         int32_t *rank) {
  return change(network, [&](INetworkDefinition &definition) {
    if (!type || !extents || !rank)
      throw Refused("where the type goes must not be null");
    DataType found;
    Dims dims;
    std::string error;
    if (!definition.findType(tensorOf(definition, tensor), found, dims, error))
      throw Refused(error);
    *type = static_cast<int32_t>(found);
    *rank = dims.nbDims;
    std::copy_n(dims.d, std::max(dims.nbDims, 0), extents);
  });
}

static int32_t idOf(const ITensor *tensor) {
  return tensor ? tensor->getId() : -1;
}

extern "C" int32_t loopc_network_num_inputs(const loopc_network *network) {
  return network ? network->network.getNbInputs() : 0;
}
extern "C" int32_t loopc_network_input(const loopc_network *network,
                                       int32_t index) {
  return network ? idOf(network->network.getInput(index)) : -1;
}
extern "C" int32_t loopc_network_num_outputs(const loopc_network *network) {
  return network ? network->network.getNbOutputs() : 0;
}
extern "C" int32_t loopc_network_output(const loopc_network *network,
                                        int32_t index) {
  return network ? idOf(network->network.getOutput(index)) : -1;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

static bool isOfLoop(LayerType type) {
  return type == LayerType::kTRIP_LIMIT || type == LayerType::kITERATOR ||
         type == LayerType::kRECURRENCE || type == LayerType::kLOOP_OUTPUT;
}
static bool isOfConditional(LayerType type) {
  return type == LayerType::kCONDITION ||
         type == LayerType::kCONDITIONAL_INPUT ||
         type == LayerType::kCONDITIONAL_OUTPUT;
}

extern "C" int32_t loopc_network_add_layer(loopc_network *network,
                                           const char *kind,
                                           const int32_t *inputs,
                                           size_t numInputs, int32_t scope,
                                           int32_t numOutputs) {
  return call(network, int32_t(-1), [&](INetworkDefinition &definition) {
    const LayerSpec *spec = findLayerSpec(text(kind));
    if (!spec)
      throw Refused("there is no layer '" + std::string(kind) + "'");
    std::vector<ITensor *> tensors;
    for (int32_t input : copied(inputs, numInputs))
      tensors.push_back(input == -1 ? nullptr : &tensorOf(definition, input));
    ILoop *loop = nullptr;
    IIfConditional *conditional = nullptr;
    if (isOfLoop(spec->type))
      loop = &orRefuse(definition.getLoop(scope), "loop", scope);
    if (isOfConditional(spec->type))
      conditional =
          &orRefuse(definition.getConditional(scope), "conditional", scope);
    if (spec->type == LayerType::kCONDITION && numInputs == 1 && tensors[0])
      return conditional->setCondition(*tensors[0])->getIndex();
    return definition
        .addLayer(spec->type, tensors.data(),
                  static_cast<int32_t>(tensors.size()), loop, conditional,
                  spec->type == LayerType::kNODE ? numOutputs : -1)
        ->getIndex();
  });
}

extern "C" int loopc_network_remove_last_layer(loopc_network *network) {
  return change(network, [](INetworkDefinition &definition) {
    definition.removeLastLayer();
  });
}

/// Bytes of `extents` many elements; refuses sizes that differ.
static Constant constantOf(int32_t number, const int64_t *extents, int32_t rank,
                           const void *data, size_t size) {
  DataType type = typeOf(number);
  Dims dims = dimsOf(extents, std::max(rank, 0));
  size_t count = 1, bits;
  for (int32_t k = 0; k < dims.nbDims; ++k) {
    if (dims.d[k] < 0)
      throw Refused("extents of a constant must not be negative");
    if (__builtin_mul_overflow(count, static_cast<size_t>(dims.d[k]), &count))
      throw Refused("the constant is too large");
  }
  if (getBits(type) == 0)
    throw Refused("strings are no bytes");
  if (__builtin_mul_overflow(count, getBits(type), &bits))
    throw Refused("the constant is too large");
  // Not (bits + 7) / 8, which may overflow too.
  if (bits / 8 + (bits % 8 != 0) != size || (size && !data))
    throw Refused(std::to_string(size) + " bytes are not " +
                  std::to_string(count) + " elements of " + getName(type));
  Constant constant;
  constant.type = type;
  constant.shape.assign(dims.d, dims.d + dims.nbDims);
  const char *bytes = static_cast<const char *>(data);
  constant.bytes = std::make_shared<std::vector<char>>(bytes, bytes + size);
  return constant;
}

extern "C" int32_t loopc_network_add_constant(loopc_network *network,
                                              int32_t type,
                                              const int64_t *extents,
                                              int32_t rank, const void *data,
                                              size_t size) {
  return call(network, int32_t(-1), [&](INetworkDefinition &definition) {
    Constant constant = constantOf(type, extents, rank, data, size);
    ILayer *layer = definition.addLayer(LayerType::kCONSTANT, nullptr, 0);
    layer->setAttribute("value", std::move(constant));
    return layer->getIndex();
  });
}

static std::vector<std::string> stringsOf(const char *const *values,
                                          size_t count) {
  std::vector<std::string> strings;
  for (const char *value : copied(values, count))
    strings.emplace_back(text(value));
  return strings;
}

extern "C" int32_t loopc_network_add_string_constant(loopc_network *network,
                                                     const int64_t *extents,
                                                     int32_t rank,
                                                     const char *const *values,
                                                     size_t count) {
  return call(network, int32_t(-1), [&](INetworkDefinition &definition) {
    return definition
        .addStringConstant(dimsOf(extents, std::max(rank, 0)),
                           stringsOf(values, count))
        ->getIndex();
  });
}

extern "C" int loopc_network_set_input(loopc_network *network, int32_t layer,
                                       int32_t index, int32_t tensor) {
  return change(network, [&](INetworkDefinition &definition) {
    layerOf(definition, layer).setInput(index, tensorOf(definition, tensor));
  });
}

/// Layer `number`; null where there is none.
static const ILayer *find(const loopc_network *network, int32_t number) {
  return network ? network->network.getLayer(number) : nullptr;
}

extern "C" int32_t loopc_network_num_layers(const loopc_network *network) {
  return network ? network->network.getNbLayers() : 0;
}
extern "C" const char *loopc_network_layer_kind(const loopc_network *network,
                                                int32_t layer) {
  const ILayer *found = find(network, layer);
  return found ? getName(found->getType()) : "";
}
extern "C" const char *loopc_network_layer_name(const loopc_network *network,
                                                int32_t layer) {
  const ILayer *found = find(network, layer);
  return found ? found->getName() : "";
}
extern "C" int loopc_network_set_layer_name(loopc_network *network,
                                            int32_t layer, const char *name) {
  return change(network, [&](INetworkDefinition &definition) {
    layerOf(definition, layer).setName(text(name));
  });
}
extern "C" int32_t loopc_network_layer_num_inputs(const loopc_network *network,
                                                  int32_t layer) {
  const ILayer *found = find(network, layer);
  return found ? found->getNbInputs() : 0;
}
extern "C" int32_t loopc_network_layer_input(const loopc_network *network,
                                             int32_t layer, int32_t index) {
  const ILayer *found = find(network, layer);
  return found ? idOf(found->getInput(index)) : -1;
}
extern "C" int32_t loopc_network_layer_num_outputs(const loopc_network *network,
                                                   int32_t layer) {
  const ILayer *found = find(network, layer);
  return found ? found->getNbOutputs() : 0;
}
extern "C" int32_t loopc_network_layer_output(const loopc_network *network,
                                              int32_t layer, int32_t index) {
  const ILayer *found = find(network, layer);
  return found ? idOf(found->getOutput(index)) : -1;
}

//===----------------------------------------------------------------------===//
// Values of layers
//===----------------------------------------------------------------------===//

static int setValue(loopc_network *network, int32_t layer, const char *name,
                    Attribute value) {
  return change(network, [&](INetworkDefinition &definition) {
    layerOf(definition, layer).setAttribute(text(name), std::move(value));
  });
}

/// `make` may run out of memory.
template <typename Make>
static int setMade(loopc_network *network, int32_t layer, const char *name,
                   Make make) {
  return change(network, [&](INetworkDefinition &definition) {
    layerOf(definition, layer).setAttribute(text(name), make());
  });
}

extern "C" int loopc_network_set_int(loopc_network *network, int32_t layer,
                                     const char *name, int64_t value) {
  return setValue(network, layer, name, value);
}
extern "C" int loopc_network_set_float(loopc_network *network, int32_t layer,
                                       const char *name, double value) {
  return setValue(network, layer, name, value);
}
extern "C" int loopc_network_set_string(loopc_network *network, int32_t layer,
                                        const char *name, const char *value) {
  return setMade(network, layer, name,
                 [&] { return Attribute(std::string(text(value))); });
}
extern "C" int loopc_network_set_ints(loopc_network *network, int32_t layer,
                                      const char *name, const int64_t *values,
                                      size_t count) {
  return setMade(network, layer, name,
                 [&] { return Attribute(copied(values, count)); });
}
extern "C" int loopc_network_set_floats(loopc_network *network, int32_t layer,
                                        const char *name, const double *values,
                                        size_t count) {
  return setMade(network, layer, name,
                 [&] { return Attribute(copied(values, count)); });
}
extern "C" int loopc_network_set_strings(loopc_network *network, int32_t layer,
                                         const char *name,
                                         const char *const *values,
                                         size_t count) {
  return setMade(network, layer, name,
                 [&] { return Attribute(stringsOf(values, count)); });
}
extern "C" int loopc_network_set_weights(loopc_network *network, int32_t layer,
                                         const char *name, int32_t type,
                                         const int64_t *extents, int32_t rank,
                                         const void *data, size_t size) {
  return setMade(network, layer, name, [&] {
    return Attribute(constantOf(type, extents, rank, data, size));
  });
}

extern "C" size_t loopc_network_get_weights(const loopc_network *network,
                                            int32_t layer, const char *name,
                                            int32_t *type, const void **data,
                                            size_t *size) {
  const ILayer *found = find(network, layer);
  const Attribute *value = found && name ? found->getAttribute(name) : nullptr;
  const auto *constant = value ? std::get_if<Constant>(value) : nullptr;
  bool hasBytes = constant && constant->bytes;
  if (type)
    *type = static_cast<int32_t>(hasBytes ? constant->type : DataType::kFLOAT);
  if (data)
    *data = hasBytes ? constant->bytes->data() : nullptr;
  if (size)
    *size = hasBytes ? constant->bytes->size() : 0;
  size_t count = hasBytes;
  for (int64_t extent : hasBytes ? constant->shape : std::vector<int64_t>())
    count *= static_cast<size_t>(extent);
  return count;
}
extern "C" int64_t loopc_network_get_int(const loopc_network *network,
                                         int32_t layer, const char *name) {
  const ILayer *found = find(network, layer);
  return found && name ? found->getInt(name) : 0;
}
extern "C" double loopc_network_get_float(const loopc_network *network,
                                          int32_t layer, const char *name) {
  const ILayer *found = find(network, layer);
  return found && name ? found->getFloat(name) : 0;
}
extern "C" const char *loopc_network_get_string(const loopc_network *network,
                                                int32_t layer,
                                                const char *name) {
  const ILayer *found = find(network, layer);
  return found && name ? found->getString(name).c_str() : "";
}
extern "C" size_t loopc_network_get_ints(const loopc_network *network,
                                         int32_t layer, const char *name,
                                         int64_t *values, size_t capacity) {
  const ILayer *found = find(network, layer);
  if (!found || !name)
    return 0;
  const std::vector<int64_t> &ints = found->getInts(name);
  if (values)
    std::copy_n(ints.begin(), std::min(ints.size(), capacity), values);
  return ints.size();
}

//===----------------------------------------------------------------------===//
// Loops and conditionals
//===----------------------------------------------------------------------===//

extern "C" int32_t loopc_network_add_loop(loopc_network *network) {
  return call(network, int32_t(-1), [](INetworkDefinition &definition) {
    return definition.addLoop()->getIndex();
  });
}
extern "C" int loopc_network_set_loop_name(loopc_network *network, int32_t loop,
                                           const char *name) {
  return change(network, [&](INetworkDefinition &definition) {
    orRefuse(definition.getLoop(loop), "loop", loop).setName(text(name));
  });
}
extern "C" const char *loopc_network_loop_name(const loopc_network *network,
                                               int32_t loop) {
  const ILoop *found = network ? network->network.getLoop(loop) : nullptr;
  return found ? found->getName() : "";
}
extern "C" int32_t loopc_network_add_conditional(loopc_network *network) {
  return call(network, int32_t(-1), [](INetworkDefinition &definition) {
    return definition.addIfConditional()->getIndex();
  });
}
extern "C" int loopc_network_set_conditional_name(loopc_network *network,
                                                  int32_t conditional,
                                                  const char *name) {
  return change(network, [&](INetworkDefinition &definition) {
    orRefuse(definition.getConditional(conditional), "conditional", conditional)
        .setName(text(name));
  });
}
extern "C" const char *
loopc_network_conditional_name(const loopc_network *network,
                               int32_t conditional) {
  const IIfConditional *found =
      network ? network->network.getConditional(conditional) : nullptr;
  return found ? found->getName() : "";
}
