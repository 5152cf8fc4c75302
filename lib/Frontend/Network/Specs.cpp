//===- Specs.cpp - What layers of each kind have --------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Frontend/Network/Layers.h"

#include <optional>

using namespace loopc::network;

//===----------------------------------------------------------------------===//
// Names of enumerators
//===----------------------------------------------------------------------===//

const char *loopc::network::getName(DataType type) {
  switch (type) {
#define LOOPC_DATA_TYPE(NAME, NUMBER, BITS, ONNX, NUMPY)                       \
  case DataType::k##NAME:                                                      \
    return #NAME;
#include "loopc-c/DataTypes.def"
  }
  return nullptr;
}

int32_t loopc::network::getBits(DataType type) {
  switch (type) {
#define LOOPC_DATA_TYPE(NAME, NUMBER, BITS, ONNX, NUMPY)                       \
  case DataType::k##NAME:                                                      \
    return BITS;
#include "loopc-c/DataTypes.def"
  }
  return 0;
}

/// The name of an enumerator by its number; null where there is none.
template <typename T> static const char *nameOf(int64_t number);

template <> const char *nameOf<DataType>(int64_t number) {
  return getName(static_cast<DataType>(number));
}

#define LOOPC_ENUM(T, DOC)                                                     \
  template <> const char *nameOf<T>(int64_t number) {                          \
    switch (number) {
#define LOOPC_ENUMERATOR(NAME, NUMBER, DOC)                                    \
  case NUMBER:                                                                 \
    return #NAME;
#define LOOPC_ENUM_END()                                                       \
  }                                                                            \
  return nullptr;                                                              \
  }
#include "loopc/Frontend/Network/Enums.def"

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

static constexpr std::nullopt_t none = std::nullopt;

/// What is kept of a value that setters take as `T`.
template <typename T>
using Kept = std::conditional_t<
    std::is_same_v<T, Dims> || std::is_same_v<T, Permutation>,
    std::vector<int64_t>,
    std::conditional_t<
        std::is_same_v<T, Weights>, Constant,
        std::conditional_t<
            std::is_same_v<T, std::string_view>, std::string,
            std::conditional_t<std::is_floating_point_v<T>, double, int64_t>>>>;

/// A value, and what it is at first unless that is `none`.
template <typename T, typename U>
static AttributeSpec makeSpec(const char *name, U initial) {
  AttributeSpec spec = {name, Kept<T>(), /*hasInitial=*/false};
  if constexpr (!std::is_same_v<U, std::nullopt_t>) {
    spec.initial = static_cast<Kept<T>>(initial);
    spec.hasInitial = true;
  }
  if constexpr (std::is_enum_v<T>)
    spec.enumerator = &nameOf<T>;
  return spec;
}

static const std::vector<LayerSpec> &getSpecs() {
  static const std::vector<LayerSpec> specs = {
#define LOOPC_LAYER(CLASS, BASE, KIND, NUMBER, NAME, LEAST, MOST, OUTPUTS,     \
                    ...)                                                       \
  {LayerType::k##KIND, NAME, LEAST, MOST, OUTPUTS, {
#define LOOPC_PLAIN(T, NAME, PYTHON, INITIAL, DOC) makeSpec<T>(NAME, INITIAL),
#define LOOPC_LAYER_END()                                                      \
  }                                                                            \
  }                                                                            \
  ,
#include "loopc/Frontend/Network/Layers.def"
  };
  return specs;
}

const LayerSpec *loopc::network::getLayerSpec(LayerType type) {
  for (const LayerSpec &spec : getSpecs())
    if (spec.type == type)
      return &spec;
  return nullptr;
}

const LayerSpec *loopc::network::findLayerSpec(std::string_view name) {
  for (const LayerSpec &spec : getSpecs())
    if (spec.name == name)
      return &spec;
  return nullptr;
}

const char *loopc::network::getName(LayerType type) {
  const LayerSpec *spec = getLayerSpec(type);
  return spec ? spec->name : nullptr;
}
