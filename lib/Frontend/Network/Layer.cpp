//===- Layer.cpp - Tensors and layers of networks -------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Frontend/Network/Network.h"

#include <algorithm>

using namespace loopc::network;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

DataType ITensor::getType() const {
  DataType found;
  Dims extents;
  std::string error;
  return network.findType(*this, found, extents, error) ? found
                                                        : DataType::kFLOAT;
}

Dims ITensor::getDimensions() const {
  DataType found;
  Dims extents;
  std::string error;
  if (!network.findType(*this, found, extents, error))
    extents.nbDims = -1;
  return extents;
}

void ITensor::setType(DataType value) {
  if (layer)
    return network.addError("the type of '" + name +
                            "' follows from its layer, it cannot be set");
  type = value;
  if (network.oracle)
    network.oracle->reset();
}

void ITensor::setDimensions(const Dims &value) {
  if (layer)
    return network.addError("the dimensions of '" + name +
                            "' follow from its layer, they cannot be set");
  if (!network.checkRank(value, "input '" + name + "'"))
    return;
  dims = value;
  dimNames.clear();
  if (network.oracle)
    network.oracle->reset();
}

void ITensor::setDimensionName(int32_t position, std::string_view text) {
  if (layer || position < 0 || position >= dims.nbDims)
    return network.addError("'" + name + "' has no dimension " +
                            std::to_string(position) + " to name");
  dimNames.resize(dims.nbDims);
  dimNames[position] = text;
}

const char *ITensor::getDimensionName(int32_t position) const {
  if (position < 0 || position >= static_cast<int32_t>(dimNames.size()))
    return "";
  return dimNames[position].c_str();
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

std::string ILayer::describe() const {
  const char *kind = loopc::network::getName(type);
  return std::string(type == LayerType::kNODE ? getString("op_type")
                                              : std::string(kind)) +
         " '" + name + "'";
}

void ILayer::setName(std::string_view text) {
  // Outputs that have no name of their own follow.
  auto ownName = [](const std::string &of, size_t k) {
    return of + "_output" + (k ? "_" + std::to_string(k) : "");
  };
  for (size_t k = 0; k < outputs.size(); ++k)
    if (outputs[k]->name == ownName(name, k))
      outputs[k]->name = ownName(std::string(text), k);
  name = text;
}

ITensor *ILayer::getInput(int32_t position) const {
  return position >= 0 && position < getNbInputs() ? inputs[position] : nullptr;
}

ITensor *ILayer::getOutput(int32_t position) const {
  return position >= 0 && position < getNbOutputs() ? outputs[position]
                                                    : nullptr;
}

void ILayer::setInput(int32_t position, ITensor &tensor) {
  const LayerSpec *spec = getLayerSpec(type);
  if (position < 0 || (spec->maxInputs >= 0 && position >= spec->maxInputs) ||
      (spec->maxInputs < 0 && position > getNbInputs()))
    return network.addError(describe() + " has no input " +
                            std::to_string(position));
  if (&tensor.getNetwork() != &network)
    return network.addError("'" + std::string(tensor.getName()) + "', input " +
                            std::to_string(position) + " of " + describe() +
                            ", belongs to another network");
  if (position >= getNbInputs())
    inputs.resize(position + 1);
  inputs[position] = &tensor;
  if (network.oracle)
    network.oracle->changed(*this);
}

bool ILayer::setAttribute(std::string_view attribute, Attribute value) {
  const LayerSpec *spec = getLayerSpec(type);
  auto known = std::find_if(
      spec->attributes.begin(), spec->attributes.end(),
      [&](const AttributeSpec &one) { return one.name == attribute; });
  if (known != spec->attributes.end()) {
    // An integer stands for a float, too.
    if (auto *whole = std::get_if<int64_t>(&value);
        whole && std::holds_alternative<double>(known->initial))
      value = static_cast<double>(*whole);
    if (value.index() != known->initial.index()) {
      network.addError("'" + std::string(attribute) + "' of " + describe() +
                       " is of another kind");
      return false;
    }
    if (known->enumerator && !known->enumerator(std::get<int64_t>(value))) {
      network.addError("'" + std::string(attribute) + "' of " + describe() +
                       " cannot be " +
                       std::to_string(std::get<int64_t>(value)));
      return false;
    }
  } else if (type != LayerType::kNODE) {
    network.addError(describe() + " has no '" + std::string(attribute) + "'");
    return false;
  }
  if (network.oracle)
    network.oracle->changed(*this);
  for (auto &[key, old] : attributes)
    if (key == attribute) {
      old = std::move(value);
      return true;
    }
  attributes.emplace_back(attribute, std::move(value));
  return true;
}

bool ILayer::hasAttribute(std::string_view attribute) const {
  return std::any_of(attributes.begin(), attributes.end(),
                     [&](const auto &one) { return one.first == attribute; });
}

const Attribute *ILayer::getAttribute(std::string_view attribute) const {
  for (const auto &[key, value] : attributes)
    if (key == attribute)
      return &value;
  for (const AttributeSpec &one : getLayerSpec(type)->attributes)
    if (one.name == attribute && one.hasInitial)
      return &one.initial;
  return nullptr;
}

/// The value, or an empty one.
template <typename T>
static const T &get(const ILayer &layer, std::string_view name) {
  static const T none{};
  const Attribute *value = layer.getAttribute(name);
  const T *found = value ? std::get_if<T>(value) : nullptr;
  return found ? *found : none;
}

int64_t ILayer::getInt(std::string_view name) const {
  return get<int64_t>(*this, name);
}
double ILayer::getFloat(std::string_view name) const {
  return get<double>(*this, name);
}
const std::vector<int64_t> &ILayer::getInts(std::string_view name) const {
  return get<std::vector<int64_t>>(*this, name);
}
const std::string &ILayer::getString(std::string_view name) const {
  return get<std::string>(*this, name);
}

void ILayer::setDims(std::string_view attribute, const Dims &dims) {
  if (network.checkRank(dims,
                        "'" + std::string(attribute) + "' of " + describe()))
    setAttribute(attribute, toVector(dims));
}

Dims ILayer::getDims(std::string_view attribute) const {
  const Attribute *value = getAttribute(attribute);
  const auto *constant = value ? std::get_if<Constant>(value) : nullptr;
  const std::vector<int64_t> &extents =
      constant ? constant->shape : getInts(attribute);
  Dims dims;
  dims.nbDims = std::min<int64_t>(extents.size(), Dims::MAX_DIMS);
  std::copy_n(extents.begin(), dims.nbDims, dims.d);
  return dims;
}

void ILayer::setWeights(std::string_view attribute, const Weights &weights) {
  std::string what = "'" + std::string(attribute) + "' of " + describe();
  if (getBits(weights.type) == 0)
    return network.addError(what + " has a type that weights cannot have");
  if (weights.count < 0 || (weights.count && !weights.values))
    return network.addError(what + " has " + std::to_string(weights.count) +
                            " values" + (weights.values ? "" : " at null"));
  // A constant's values change, its shape does not.
  if (type == LayerType::kCONSTANT &&
      network.checkCount(getDims(attribute), weights.count, *this) < 0)
    return;
  Constant constant;
  constant.type = weights.type;
  constant.shape = {weights.count};
  if (type == LayerType::kCONSTANT)
    constant.shape = toVector(getDims(attribute));
  size_t size =
      (static_cast<size_t>(weights.count) * getBits(weights.type) + 7) / 8;
  const char *data = static_cast<const char *>(weights.values);
  constant.bytes =
      std::make_shared<std::vector<char>>(data, data ? data + size : data);
  setAttribute(attribute, std::move(constant));
}

Weights ILayer::getWeights(std::string_view attribute) const {
  const Constant &constant = ::get<Constant>(*this, attribute);
  Weights weights;
  weights.type = constant.type;
  if (!constant.bytes || getBits(constant.type) == 0)
    return weights;
  weights.values = constant.bytes->data();
  weights.count = 1;
  for (int64_t extent : constant.shape)
    weights.count *= extent;
  return weights;
}

void ILayer::setPermutation(std::string_view attribute,
                            const Permutation &value) {
  setAttribute(attribute, std::vector<int64_t>(std::begin(value.order),
                                               std::end(value.order)));
}

Permutation ILayer::getPermutation(std::string_view attribute) const {
  const std::vector<int64_t> &order = getInts(attribute);
  Permutation result;
  for (size_t k = 0; k < order.size() && k < Dims::MAX_DIMS; ++k)
    result.order[k] = static_cast<int32_t>(order[k]);
  return result;
}

//===----------------------------------------------------------------------===//
// Accessors of another form than most
//===----------------------------------------------------------------------===//

void IConstantLayer::setWeights(const Weights &value) {
  ILayer::setWeights("value", value);
}
Weights IConstantLayer::getWeights() const {
  return ILayer::getWeights("value");
}
Dims IConstantLayer::getDimensions() const { return getDims("value"); }

void IMatrixMultiplyLayer::setOperation(int32_t index,
                                        MatrixOperation operation) {
  setValue(index ? "op1" : "op0", operation);
}
MatrixOperation IMatrixMultiplyLayer::getOperation(int32_t index) const {
  return getValue<MatrixOperation>(index ? "op1" : "op0");
}

void IResizeLayer::setScales(const float *scales, int32_t nbScales) {
  Weights weights;
  weights.type = DataType::kFLOAT;
  weights.values = scales;
  weights.count = nbScales;
  ILayer::setWeights("scales", weights);
}
int32_t IResizeLayer::getScales(int32_t size, float *scales) const {
  Weights weights = ILayer::getWeights("scales");
  if (!weights.values || weights.type != DataType::kFLOAT)
    return -1;
  std::copy_n(static_cast<const float *>(weights.values),
              std::min<int64_t>(size, weights.count), scales);
  return static_cast<int32_t>(weights.count);
}
