//===- Text.cpp - A network as text ---------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   network 'sums'
//   inputs
//     x: FLOAT [rows, 4]
//   layers
//     #0 Constant 'zero' () -> zero_output: FLOAT [4]
//     #1 Recurrence 'sum' of loop 'rows' (zero_output, next) -> s: FLOAT [4]
//   outputs
//     total: FLOAT [4]
//
//===----------------------------------------------------------------------===//

#include "loopc/Frontend/Network/Network.h"

#include <cstdio>
#include <locale>
#include <sstream>

using namespace loopc::network;
using std::ostream;

/// A number in a format of C's.
static std::string format(const char *form, double value) {
  char text[64];
  return {text,
          static_cast<size_t>(std::snprintf(text, sizeof(text), form, value))};
}

/// Extents, named where they have names.
static void printType(ostream &os, const ITensor &tensor) {
  DataType type;
  Dims dims;
  std::string error;
  os << tensor.getName() << ": ";
  if (!tensor.getNetwork().findType(tensor, type, dims, error)) {
    os << "?";
    return;
  }
  os << getName(type);
  if (dims.nbDims < 0) {
    os << " [*]";
    return;
  }
  os << " [";
  for (int32_t k = 0; k < dims.nbDims; ++k) {
    os << (k ? ", " : "");
    if (dims.d[k] >= 0)
      os << dims.d[k];
    else if (*tensor.getDimensionName(k))
      os << tensor.getDimensionName(k);
    else
      os << "?";
  }
  os << "]";
}

template <typename T>
static void printList(ostream &os, const std::vector<T> &values) {
  os << "[";
  for (size_t k = 0; k < values.size(); ++k)
    os << (k ? ", " : "") << values[k];
  os << "]";
}

static void printList(ostream &os, const std::vector<double> &values) {
  std::vector<std::string> texts;
  for (double value : values)
    texts.push_back(format("%e", value));
  printList(os, texts);
}

namespace {
struct PrintValue {
  ostream &os;
  const AttributeSpec *spec;

  void operator()(int64_t value) const {
    const char *name =
        spec && spec->enumerator ? spec->enumerator(value) : nullptr;
    if (name)
      os << name;
    else
      os << value;
  }
  void operator()(double value) const { os << format("%g", value); }
  void operator()(const std::string &value) const { os << "'" << value << "'"; }
  void operator()(const std::vector<int64_t> &values) const {
    printList(os, values);
  }
  void operator()(const std::vector<double> &values) const {
    printList(os, values);
  }
  void operator()(const std::vector<std::string> &values) const {
    printList(os, values);
  }
  void operator()(const Constant &value) const {
    os << getName(value.type) << " ";
    printList(os, value.shape);
  }
};
} // namespace

static void printAttributes(ostream &os, const ILayer &layer) {
  const LayerSpec &spec = *getLayerSpec(layer.getType());
  const char *separator = " {";
  for (const auto &[name, value] : layer.getAttributes()) {
    const AttributeSpec *known = nullptr;
    for (const AttributeSpec &one : spec.attributes)
      if (name == one.name)
        known = &one;
    os << separator << name << " = ";
    std::visit(PrintValue{os, known}, value);
    separator = ", ";
  }
  if (!layer.getAttributes().empty())
    os << "}";
}

static void printLayer(ostream &os, const ILayer &layer) {
  os << "  #" << layer.getIndex() << " " << layer.describe();
  if (layer.getLoop())
    os << " of loop '" << layer.getLoop()->getName() << "'";
  if (layer.getConditional())
    os << " of conditional '" << layer.getConditional()->getName() << "'";
  os << " (";
  for (int32_t k = 0; k < layer.getNbInputs(); ++k)
    os << (k ? ", " : "")
       << (layer.getInput(k) ? layer.getInput(k)->getName() : "none");
  os << ")";
  printAttributes(os, layer);
  for (int32_t k = 0; k < layer.getNbOutputs(); ++k) {
    os << (k ? ", " : " -> ");
    printType(os, *layer.getOutput(k));
  }
  os << "\n";
}

std::string INetworkDefinition::toString() const {
  std::ostringstream os;
  // Whatever the program's numbers look like.
  os.imbue(std::locale::classic());
  os << "network '" << name << "'\ninputs\n";
  for (const ITensor *tensor : inputs) {
    os << "  ";
    printType(os, *tensor);
    os << "\n";
  }
  os << "layers\n";
  for (const std::unique_ptr<ILayer> &layer : layers)
    printLayer(os, *layer);
  os << "outputs\n";
  for (const ITensor *tensor : outputs) {
    os << "  ";
    printType(os, *tensor);
    os << "\n";
  }
  return os.str();
}
