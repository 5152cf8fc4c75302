//===- Layer.h - Tensors and layers of networks -----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every layer is: a kind, inputs, outputs, and values by name, which the
// classes of Layers.h give their types. Without MLIR's headers.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_FRONTEND_NETWORK_LAYER_H
#define LOOPC_FRONTEND_NETWORK_LAYER_H

#include "loopc/Frontend/Network/Types.h"

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace loopc::network {

class ILayer;
class ILoop;
class IIfConditional;
class INetworkDefinition;

/// Constant values that a layer owns.
struct Constant {
  DataType type = DataType::kFLOAT;
  std::vector<int64_t> shape;
  /// As in Weights.
  std::shared_ptr<const std::vector<char>> bytes;
  /// Instead of bytes where the type is kSTRING.
  std::shared_ptr<const std::vector<std::string>> strings;
};

/// A value that a layer was set to.
using Attribute =
    std::variant<int64_t, double, std::string, std::vector<int64_t>,
                 std::vector<double>, std::vector<std::string>, Constant>;

/// A value of the network: an input or the output of a layer.
class ITensor {
public:
  ITensor(const ITensor &) = delete;
  ITensor &operator=(const ITensor &) = delete;

  void setName(std::string_view text) { name = text; }
  const char *getName() const { return name.c_str(); }

  /// The type and the extents that follow from what the network is by now: a
  /// recurrence is what its initial value is, until it is closed. A rank of -1
  /// where they are not known, or where the layers before are wrong:
  /// INetworkDefinition::findType() tells which.
  DataType getType() const;
  Dims getDimensions() const;

  /// Of an input of the network.
  void setType(DataType type);
  void setDimensions(const Dims &dims);
  /// Names an extent of an input that is not known; the same name means the
  /// same extent.
  void setDimensionName(int32_t index, std::string_view name);
  const char *getDimensionName(int32_t index) const;

  bool isNetworkInput() const { return layer == nullptr; }
  bool isNetworkOutput() const { return output; }

  /// The layer that computes it; null for an input of the network.
  const ILayer *getLayer() const { return layer; }
  /// Which of the layer's outputs it is.
  int32_t getIndex() const { return index; }
  /// Its number in the network.
  int32_t getId() const { return id; }
  const INetworkDefinition &getNetwork() const { return network; }
  /// What an input was declared as.
  const Dims &getDeclaredDimensions() const { return dims; }
  DataType getDeclaredType() const { return type; }

private:
  friend class INetworkDefinition;
  friend class ILayer;
  ITensor(INetworkDefinition &network, ILayer *layer, int32_t index, int32_t id)
      : network(network), layer(layer), index(index), id(id) {}

  INetworkDefinition &network;
  ILayer *layer;
  int32_t index;
  int32_t id;
  std::string name;
  bool output = false;
  DataType type = DataType::kFLOAT;
  Dims dims;
  std::vector<std::string> dimNames;
};

/// A layer.
class ILayer {
public:
  ILayer(const ILayer &) = delete;
  ILayer &operator=(const ILayer &) = delete;

  LayerType getType() const { return type; }
  void setName(std::string_view text);
  const char *getName() const { return name.c_str(); }

  int32_t getNbInputs() const { return static_cast<int32_t>(inputs.size()); }
  /// Null where there is none.
  ITensor *getInput(int32_t index) const;
  int32_t getNbOutputs() const { return static_cast<int32_t>(outputs.size()); }
  /// Null where there is none.
  ITensor *getOutput(int32_t index) const;
  /// Connects input `index`, one that is there or one that the layer may have.
  /// A recurrence is closed by setInput(1, next value).
  void setInput(int32_t index, ITensor &tensor);

  /// The loop of a trip limit, iterator, recurrence or loop output; else null.
  ILoop *getLoop() const { return loop; }
  /// The conditional of its condition, inputs and outputs; else null.
  IIfConditional *getConditional() const { return conditional; }
  /// Its number in the network.
  int32_t getIndex() const { return index; }
  INetworkDefinition &getNetwork() const { return network; }

  /// "ElementWise 'sum'": how messages call it.
  std::string describe() const;

  /// Values by name; what the setters of the layers' classes use. A name or a
  /// kind of value that the layer has not is an error of the network, and
  /// false.
  bool setAttribute(std::string_view name, Attribute value);
  /// The value that was set, else the default, else null.
  const Attribute *getAttribute(std::string_view name) const;
  /// The same, 0 or empty where there is none or it is of another kind.
  int64_t getInt(std::string_view name) const;
  double getFloat(std::string_view name) const;
  const std::vector<int64_t> &getInts(std::string_view name) const;
  const std::string &getString(std::string_view name) const;
  /// Whether a value was set.
  bool hasAttribute(std::string_view name) const;
  /// What was set, in order.
  const std::vector<std::pair<std::string, Attribute>> &getAttributes() const {
    return attributes;
  }

  /// Only a network makes layers.
  class Key {
    friend class INetworkDefinition;
    Key() = default;
  };
  ILayer(Key, INetworkDefinition &network, LayerType type, int32_t index)
      : network(network), type(type), index(index) {}
  virtual ~ILayer() = default;

protected:
  friend class INetworkDefinition;
  /// How a setter takes a value and a getter returns it.
  template <typename T>
  using Passed = std::conditional_t<(sizeof(T) > 16), const T &, T>;
  template <typename T>
  using Returned =
      std::conditional_t<std::is_same_v<T, std::string_view>, const char *, T>;
  template <typename T> void setValue(std::string_view name, const T &value);
  template <typename T> Returned<T> getValue(std::string_view name) const;

  void setDims(std::string_view name, const Dims &dims);
  Dims getDims(std::string_view name) const;
  void setWeights(std::string_view name, const Weights &weights);
  Weights getWeights(std::string_view name) const;
  void setPermutation(std::string_view name, const Permutation &order);
  Permutation getPermutation(std::string_view name) const;

private:
  INetworkDefinition &network;
  LayerType type;
  int32_t index;
  std::string name;
  std::vector<ITensor *> inputs;
  std::vector<ITensor *> outputs;
  std::vector<std::pair<std::string, Attribute>> attributes;
  ILoop *loop = nullptr;
  IIfConditional *conditional = nullptr;
};

template <typename T>
void ILayer::setValue(std::string_view name, const T &value) {
  if constexpr (std::is_same_v<T, Dims>)
    setDims(name, value);
  else if constexpr (std::is_same_v<T, Permutation>)
    setPermutation(name, value);
  else if constexpr (std::is_same_v<T, Weights>)
    setWeights(name, value);
  else if constexpr (std::is_same_v<T, std::string_view>)
    setAttribute(name, std::string(value));
  else if constexpr (std::is_floating_point_v<T>)
    setAttribute(name, static_cast<double>(value));
  else
    setAttribute(name, static_cast<int64_t>(value));
}

template <typename T>
ILayer::Returned<T> ILayer::getValue(std::string_view name) const {
  if constexpr (std::is_same_v<T, Dims>)
    return getDims(name);
  else if constexpr (std::is_same_v<T, Permutation>)
    return getPermutation(name);
  else if constexpr (std::is_same_v<T, Weights>)
    return getWeights(name);
  else if constexpr (std::is_same_v<T, std::string_view>)
    return getString(name).c_str();
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(getFloat(name));
  else
    return static_cast<T>(getInt(name));
}

/// A value that layers of one kind may be set to.
struct AttributeSpec {
  const char *name;
  Attribute initial; ///< its kind; the value that it has where `hasInitial`
  bool hasInitial = true;
  /// Names of the enumerators where it is an enumeration.
  const char *(*enumerator)(int64_t) = nullptr;
};

/// What layers of one kind have.
struct LayerSpec {
  LayerType type;
  const char *name;
  int32_t minInputs;
  int32_t maxInputs;  ///< -1: any number
  int32_t numOutputs; ///< of a kNODE: where no number is given
  std::vector<AttributeSpec> attributes;
};

/// Null where there is no such kind.
const LayerSpec *getLayerSpec(LayerType type);
const LayerSpec *findLayerSpec(std::string_view name);

} // namespace loopc::network

#endif // LOOPC_FRONTEND_NETWORK_LAYER_H
