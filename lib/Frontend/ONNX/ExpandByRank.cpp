//===- ExpandByRank.cpp - Expansions that a run's ranks choose ------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExpandByRank.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::importer;

/// The ranks that are tried, and the inputs whose ranks are tried together.
static constexpr int64_t kRanks[] = {1, 2, 3, 4, 5, 6};
static constexpr unsigned kMaxTogether = 3;
static constexpr unsigned kMaxInputs = 7;

/// True if some ranks of `inputs` make `types` ones that can be expanded.
static bool anyRanks(SmallVectorImpl<Type> &types, ArrayRef<unsigned> inputs,
                     CanExpand canExpand) {
  if (inputs.empty())
    return canExpand(types);
  Type given = types[inputs.front()];
  bool found = false;
  for (int64_t rank : kRanks) {
    types[inputs.front()] =
        RankedTensorType::get(SmallVector<int64_t>(rank, ShapedType::kDynamic),
                              cast<TensorType>(given).getElementType());
    found = anyRanks(types, inputs.drop_front(), canExpand);
    if (found)
      break;
  }
  types[inputs.front()] = given;
  return found;
}

namespace {
/// An input, and its ranks that can be expanded.
struct Choice {
  unsigned input = 0;
  SmallVector<int64_t> ranks;
};
} // namespace

/// The first of the fewest inputs whose ranks make an expansion possible.
static Choice choose(ArrayRef<Type> given, CanExpand canExpand) {
  SmallVector<Type> types(given);
  SmallVector<unsigned> open;
  for (auto [k, type] : llvm::enumerate(types))
    if (isa_and_nonnull<UnrankedTensorType>(type) && open.size() < kMaxInputs)
      open.push_back(k);
  Choice choice;
  for (unsigned count = 1; count <= kMaxTogether; ++count)
    for (unsigned mask = 1; mask < 1u << open.size(); ++mask) {
      if (static_cast<unsigned>(llvm::popcount(mask)) != count)
        continue;
      SmallVector<unsigned> inputs;
      for (auto [bit, input] : llvm::enumerate(open))
        if (mask >> bit & 1)
          inputs.push_back(input);
      choice.input = inputs.front();
      for (int64_t rank : kRanks) {
        types[choice.input] = RankedTensorType::get(
            SmallVector<int64_t>(rank, ShapedType::kDynamic),
            cast<TensorType>(given[choice.input]).getElementType());
        if (anyRanks(types, ArrayRef(inputs).drop_front(), canExpand))
          choice.ranks.push_back(rank);
      }
      types[choice.input] = given[choice.input];
      if (!choice.ranks.empty())
        return choice;
    }
  return choice;
}

namespace {
/// Writes nodes of ONNX.
class NodeWriter {
public:
  using Nodes = google::protobuf::RepeatedPtrField<pb::NodeProto>;

  NodeWriter(const pb::NodeProto &node, const Choice &choice)
      : node(node), choice(choice) {}

  static std::string input(unsigned k) { return ("i" + Twine(k)).str(); }
  static std::string output(unsigned k) { return ("o" + Twine(k)).str(); }

  /// `node` for the ranks of the choice from number `at` on; its results are
  /// `suffix`ed.
  void write(Nodes &nodes, size_t at, const std::string &suffix) {
    if (at + 1 == choice.ranks.size())
      return writeOne(nodes, choice.ranks[at], suffix);
    std::string is = "is" + suffix, other = suffix + "e";
    std::string rank = addRank(nodes, {}, choice.ranks[at], suffix);
    add(nodes, "Equal", {"rank", rank}, is);
    pb::NodeProto &branch = *nodes.Add();
    branch.set_op_type("If");
    branch.add_input(is);
    for (int k = 0; k < node.output_size(); ++k)
      branch.add_output(node.output(k).empty() ? "" : output(k) + suffix);
    writeOne(*addGraph(branch, "then_branch", suffix + "t"), choice.ranks[at],
             suffix + "t");
    write(*addGraph(branch, "else_branch", other), at + 1, other);
  }

  pb::NodeProto &add(Nodes &nodes, StringRef op, ArrayRef<std::string> inputs,
                     const std::string &result) {
    pb::NodeProto &made = *nodes.Add();
    made.set_op_type(op.str());
    for (const std::string &name : inputs)
      made.add_input(name);
    made.add_output(result);
    return made;
  }

private:
  /// A number, as a scalar or as an element of a vector.
  std::string addRank(Nodes &nodes, StringRef kind, int64_t rank,
                      const std::string &suffix) {
    std::string name = "r" + kind.str() + suffix;
    pb::AttributeProto &value =
        *add(nodes, "Constant", {}, name).add_attribute();
    value.set_name(kind.empty() ? "value_int" : "value_ints");
    if (kind.empty()) {
      value.set_type(pb::AttributeProto::INT);
      value.set_i(rank);
    } else {
      value.set_type(pb::AttributeProto::INTS);
      value.add_ints(rank);
    }
    return name;
  }

  /// The nodes of a new branch, which yields `node`'s results.
  Nodes *addGraph(pb::NodeProto &branch, StringRef name,
                  const std::string &suffix) {
    pb::AttributeProto &attr = *branch.add_attribute();
    attr.set_name(name.str());
    attr.set_type(pb::AttributeProto::GRAPH);
    attr.mutable_g()->set_name(name.str());
    for (int k = 0; k < node.output_size(); ++k)
      if (!node.output(k).empty())
        attr.mutable_g()->add_output()->set_name(output(k) + suffix);
    return attr.mutable_g()->mutable_node();
  }

  /// `node` with the chosen input as a value of rank `rank`.
  void writeOne(Nodes &nodes, int64_t rank, const std::string &suffix) {
    std::string length = addRank(nodes, "v", rank, suffix);
    add(nodes, "Reshape", {"shape", length}, "s" + suffix);
    add(nodes, "Reshape", {input(choice.input), "s" + suffix}, "x" + suffix);
    pb::NodeProto &made = *nodes.Add();
    made = node;
    for (int k = 0; k < node.input_size(); ++k)
      if (!node.input(k).empty())
        made.set_input(k, k == static_cast<int>(choice.input) ? "x" + suffix
                                                              : input(k));
    for (int k = 0; k < node.output_size(); ++k)
      if (!node.output(k).empty())
        made.set_output(k, output(k) + suffix);
  }

  const pb::NodeProto &node;
  const Choice &choice;
};
} // namespace

bool loopc::importer::writeByRank(const pb::NodeProto &node, int64_t opset,
                                  ArrayRef<Type> types, CanExpand canExpand,
                                  pb::FunctionProto &fn) {
  Choice choice = choose(types, canExpand);
  if (choice.ranks.empty())
    return false;
  constexpr int64_t kHelperOpset = 21;
  auto import = [&](StringRef domain, int64_t version) {
    pb::OperatorSetIdProto &made = *fn.add_opset_import();
    made.set_domain(domain.str());
    made.set_version(version);
  };
  if (!node.domain().empty() && node.domain() != "ai.onnx")
    import(node.domain(), opset);
  import("", fn.opset_import_size() ? kHelperOpset : opset);
  fn.set_name(node.op_type());
  for (const pb::AttributeProto &attr : node.attribute())
    fn.add_attribute(attr.name());
  for (int k = 0; k < node.input_size(); ++k)
    fn.add_input(NodeWriter::input(k));
  NodeWriter writer(node, choice);
  writer.add(*fn.mutable_node(), "Shape", {NodeWriter::input(choice.input)},
             "shape");
  writer.add(*fn.mutable_node(), "Size", {"shape"}, "rank");
  writer.write(*fn.mutable_node(), 0, "");
  for (int k = 0; k < node.output_size(); ++k)
    fn.add_output(NodeWriter::output(k));
  return true;
}
