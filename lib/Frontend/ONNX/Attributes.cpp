//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Attributes of nodes: references to a function's attributes are followed, all
// are held against the schema.

#include "ContribOperators.h"
#include "ImporterImpl.h"
#include "loopc/Dialect/ONNX/IR/ProtoConversion.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::importer;

NodeAttr Importer::resolve(const pb::AttributeProto &attr, Frame &frame,
                           Scope &scope) {
  if (attr.ref_attr_name().empty())
    return {&attr, &frame, &scope};
  // What the function was called with, or its default, or nothing.
  return frame.attributes.lookup(attr.ref_attr_name());
}

NodeAttr Importer::getAttr(NodeContext &nc, StringRef name) {
  for (const pb::AttributeProto &attr : nc.node.attribute())
    if (name == attr.name())
      return resolve(attr, nc.frame, nc.scope);
  return {};
}

static std::string kindName(pb::AttributeProto::AttributeType type) {
  return pb::AttributeProto::AttributeType_Name(type);
}

/// A kind of value that the attribute holds beside its own; UNDEFINED where
/// there is none. Zeros may be left out, so that nothing is a value as well.
static pb::AttributeProto::AttributeType
otherKind(const pb::AttributeProto &attr) {
  using Proto = pb::AttributeProto;
  const std::pair<bool, Proto::AttributeType> held[] = {
      {attr.has_f(), Proto::FLOAT},
      {attr.has_i(), Proto::INT},
      {attr.has_s(), Proto::STRING},
      {attr.has_t(), Proto::TENSOR},
      {attr.has_g(), Proto::GRAPH},
      {attr.has_tp(), Proto::TYPE_PROTO},
      {attr.has_sparse_tensor(), Proto::SPARSE_TENSOR},
      {attr.floats_size() > 0, Proto::FLOATS},
      {attr.ints_size() > 0, Proto::INTS},
      {attr.strings_size() > 0, Proto::STRINGS},
      {attr.tensors_size() > 0, Proto::TENSORS},
      {attr.graphs_size() > 0, Proto::GRAPHS}};
  for (auto [holds, kind] : held)
    if (holds && kind != attr.type())
      return kind;
  return Proto::UNDEFINED;
}

LogicalResult Importer::checkValues(NodeContext &nc) {
  for (const pb::AttributeProto &attr : nc.node.attribute()) {
    const std::string &target = attr.ref_attr_name();
    if (!target.empty() && !nc.frame.isSchemas &&
        !nc.frame.parameters.contains(target))
      return loopc::emitError(nc.loc, Diag::BadAttribute)
             << "attribute '" << attr.name() << "' refers to '" << target
             << "', which is no attribute of a function around the node";
    // What has no kind at all is told with the kind that it must be of.
    pb::AttributeProto::AttributeType other = otherKind(attr);
    if (attr.type() != pb::AttributeProto::UNDEFINED &&
        other != pb::AttributeProto::UNDEFINED)
      return loopc::emitError(nc.loc, Diag::BadAttribute)
             << "attribute '" << attr.name() << "' is of kind "
             << kindName(attr.type()) << " but holds a value of kind "
             << kindName(other);
  }
  return success();
}

/// True for what bodies of operators say of a node and models cannot.
static bool isOfBody(const NodeContext &nc, StringRef name) {
  return nc.frame.isContrib && name == kSumsProducts &&
         nc.node.op_type() == "ReduceSum";
}

LogicalResult Importer::checkAttributes(NodeContext &nc) {
  llvm::StringSet<> seen;
  auto fail = [&](StringRef name) {
    return loopc::emitError(nc.loc, Diag::BadAttribute)
           << "attribute '" << name << "' ";
  };
  for (const pb::AttributeProto &attr : nc.node.attribute()) {
    StringRef name = attr.name();
    if (name.empty())
      return loopc::emitError(nc.loc, Diag::BadAttribute)
             << "an attribute has no name";
    NodeAttr value = resolve(attr, nc.frame, nc.scope);
    if (!value.proto)
      continue;
    if (!seen.insert(name).second)
      return fail(name) << "is there twice";
    if (!nc.schema)
      continue;
    if (isOfBody(nc, name))
      continue;
    auto known = nc.schema->attributes().find(attr.name());
    if (known == nc.schema->attributes().end()) {
      // Names that begin with two underscores are exporters' own.
      if (name.starts_with("__"))
        continue;
      return fail(name) << "does not exist in version " << nc.since << " of '"
                        << nc.node.op_type() << "'";
    }
    if (value.proto->type() != known->second.type)
      return fail(name) << "is of kind " << kindName(value.proto->type())
                        << " but must be of kind "
                        << kindName(known->second.type);
  }
  if (!nc.schema)
    return success();
  for (const auto &[name, attr] : nc.schema->attributes())
    if (attr.required && !seen.contains(name))
      return fail(name) << "is missing";
  return success();
}

FailureOr<const pb::GraphProto *>
Importer::getGraph(NodeContext &nc, StringRef name, NodeAttr &attr) {
  attr = getAttr(nc, name);
  if (attr.proto && attr.proto->has_g())
    return &attr.proto->g();
  return loopc::emitError(nc.loc, Diag::BadAttribute)
         << "attribute '" << name << "' has no graph";
}

FailureOr<SmallVector<int64_t>>
Importer::getInts(NodeContext &nc, StringRef name, size_t count) {
  NodeAttr attr = getAttr(nc, name);
  if (!attr.proto)
    return SmallVector<int64_t>(count, 0);
  SmallVector<int64_t> values(attr.proto->ints().begin(),
                              attr.proto->ints().end());
  if (values.size() == count)
    return values;
  return loopc::emitError(nc.loc, Diag::ScanAxes)
         << "attribute '" << name << "' has " << values.size()
         << " entries, expected " << count;
}

/// True for an empty text where ONNX has a few words: exporters wrote it for
/// the default, and onnxruntime takes it for that.
static bool isLeftOut(const pb::AttributeProto &attr, StringRef name) {
  return name == "auto_pad" && attr.s().empty();
}

FailureOr<DictionaryAttr> Importer::convertAttributes(NodeContext &nc) {
  NamedAttrList attributes;
  for (const pb::AttributeProto &attr : nc.node.attribute()) {
    NodeAttr value = resolve(attr, nc.frame, nc.scope);
    if (!value.proto || isLeftOut(*value.proto, attr.name()))
      continue;
    // An exporter's own, or checkAttributes had refused it.
    if (nc.schema && !nc.schema->attributes().count(attr.name()) &&
        !isOfBody(nc, attr.name()))
      continue;
    bool reported = false;
    auto importTensor = [&](const pb::TensorProto &tensor) -> ElementsAttr {
      FailureOr<ElementsAttr> elements = tensors.import(tensor, nc.loc);
      reported |= failed(elements);
      return succeeded(elements) ? *elements : ElementsAttr();
    };
    Attribute converted =
        onnx::importAttribute(&context, *value.proto, importTensor);
    if (!converted) {
      if (!reported)
        loopc::emitError(nc.loc, Diag::BadAttribute)
            << "attribute '" << attr.name() << "' of kind "
            << kindName(value.proto->type()) << " is not supported";
      return failure();
    }
    attributes.set(attr.name(), converted);
  }
  return attributes.getDictionary(&context);
}
