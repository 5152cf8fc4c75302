//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Files, parsing, versions; and the entry points, where exceptions of the onnx
// library end.

#include "ImporterImpl.h"
#include "google/protobuf/stubs/logging.h"
#include "loopc/Dialect/ONNX/IR/ProtoConversion.h"
#include "loopc/Support/ReadFile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "onnx/defs/parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::importer;

namespace {
/// Protobuf writes what it dislikes to standard error; loopc says it itself.
struct SilentProtobuf {
  google::protobuf::LogSilencer silencer;
};
} // namespace

static Location fileLocation(StringRef path, MLIRContext &context) {
  return FileLineColLoc::get(&context, path, 0, 0);
}

StringRef importer::normalizeDomain(StringRef domain) {
  return domain == "ai.onnx" ? StringRef() : domain;
}

/// A textual model starts with '<' (or a comment): as the tag of a protobuf
/// field both would be the end of a group, which no model has.
static bool looksTextual(StringRef bytes) {
  StringRef rest = bytes.ltrim();
  return rest.starts_with("<") || rest.starts_with("#");
}

/// Deepest nesting of brackets outside of strings: the library's parser
/// recurses.
static unsigned getNesting(StringRef text) {
  unsigned depth = 0, deepest = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        i += text[i] == '\\';
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (StringRef("{([").contains(c)) {
      deepest = std::max(deepest, ++depth);
    } else if (StringRef("})]").contains(c) && depth) {
      --depth;
    }
  }
  return deepest;
}

/// The place that a message of the library's parser names, which reads
/// "[ParseError at position (line: 3 column: 5)]\nError context: ...\n...".
static Location parseErrorLocation(StringRef message, StringRef path,
                                   MLIRContext &context) {
  auto number = [&](StringRef key) {
    unsigned value = 0;
    StringRef rest = message.split(key).second;
    rest.consumeInteger(10, value);
    return value;
  };
  return FileLineColLoc::get(&context, path, number("line: "),
                             number("column: "));
}

static LogicalResult parseText(StringRef bytes, StringRef path,
                               MLIRContext &context, pb::ModelProto &proto) {
  auto fail = [&](Location loc) {
    return loopc::emitError(loc, Diag::BadModelText)
           << "the text does not parse as an ONNX model: ";
  };
  constexpr unsigned kDeepest = 500;
  if (getNesting(bytes) > kDeepest)
    return fail(fileLocation(path, context))
           << "brackets are nested more than " << kDeepest << " deep";
  try {
    pb::OnnxParser parser(std::string_view(bytes.data(), bytes.size()));
    auto status = parser.Parse(proto);
    if (status.IsOK())
      return success();
    StringRef message = status.ErrorMessage();
    // The last line says what is wrong, those before it where.
    return fail(parseErrorLocation(message, path, context))
           << message.rtrim().rsplit('\n').second;
  } catch (const std::bad_alloc &) {
    throw;
  } catch (const std::exception &error) {
    // A number that does not fit.
    return fail(fileLocation(path, context)) << error.what();
  }
}

/// What a file is that is no ONNX model, by how it begins, and what makes one
/// of it; empty where that is not known.
static StringRef describeForeign(StringRef bytes) {
  if (bytes.empty())
    return "an empty file";
  if (bytes.starts_with("version https://git-lfs"))
    return "a pointer of Git LFS: 'git lfs pull' brings the model";
  if (bytes.starts_with("PK\x03\x04"))
    return "a zip archive, as torch.save and Keras write: export the model to "
           "ONNX (torch.onnx.export)";
  if (bytes.starts_with("\x1f\x8b"))
    return "compressed by gzip: unpack it";
  if (bytes.starts_with("\x89HDF"))
    return "an HDF5 file, as Keras writes: tf2onnx makes ONNX models of it";
  if (bytes.starts_with("\x80\x02") || bytes.starts_with("\x80\x04"))
    return "a pickle of Python: export the model to ONNX";
  if (bytes.substr(4, 4) == "ORTM")
    return "in onnxruntime's own format: take the .onnx file that it was made "
           "of";
  if (bytes.substr(4, 4) == "TFL3")
    return "a TensorFlow Lite model: tf2onnx --tflite makes an ONNX model of "
           "it";
  // The type of an ELF file is its first field behind the identification.
  if (bytes.starts_with("\x7f"
                        "ELF"))
    return bytes.substr(16, 1) == "\x01"
               ? "an object file: link it to a program, or compile its model "
                 "with --emit=shared and run that"
               : "a program or a shared library; one that loopc --emit=shared "
                 "made is run if its name ends in .so";
  if (bytes.starts_with("!<arch>"))
    return "an archive of object files: link it to a program";
  StringRef text = bytes.ltrim();
  if (text.starts_with_insensitive("<!doctype") ||
      text.starts_with_insensitive("<html"))
    return "a web page: what was downloaded is not the model";
  return "";
}

/// True after an error where the bytes are known to be something else.
static bool refuseForeign(StringRef bytes, Location loc) {
  StringRef what = describeForeign(bytes);
  if (what.empty())
    return false;
  loopc::emitError(loc, Diag::NotAModel)
      << "this is not an ONNX model but " << what;
  return true;
}

static LogicalResult checkParsed(const pb::ModelProto &proto, StringRef bytes,
                                 Location loc, bool parsed) {
  if ((!parsed || !proto.has_graph()) && refuseForeign(bytes, loc))
    return failure();
  if (!parsed)
    return loopc::emitError(loc, Diag::NotAModel)
           << "this is not an ONNX model, or it is damaged or cut off";
  if (!proto.has_graph())
    return loopc::emitError(loc, Diag::NotAModel)
           << "this is not an ONNX model: it has no graph";
  return success();
}

static LogicalResult refuseLarge(uint64_t size, Location loc) {
  if (size <= static_cast<uint64_t>(std::numeric_limits<int>::max()))
    return success();
  return loopc::emitError(loc, Diag::ModelTooLarge)
         << "the file has " << size
         << " bytes but a model can have 2147483647: keep the weights as "
            "external data";
}

/// The IR versions that the onnx library knows. What a newer one means is not
/// known: its fields may change what the ones that are known say.
static LogicalResult checkVersion(const pb::ModelProto &proto, Location loc) {
  int64_t known = pb::Version::IR_VERSION;
  if (proto.ir_version() < 1)
    return loopc::emitError(loc, Diag::NotAModel)
           << "this is not an ONNX model: it has no IR version";
  if (proto.ir_version() > known)
    return loopc::emitError(loc, Diag::NewerIRVersion)
           << "the model has IR version " << proto.ir_version()
           << ", the newest that loopc knows is " << known;
  return success();
}

static ModelRef makeModel(StringRef path, const ImportOptions &options) {
  auto model = std::make_shared<LoadedModel>();
  model->path = path.str();
  model->folder = options.externalDataFolder;
  if (model->folder.empty() && llvm::sys::fs::exists(path)) {
    model->folder = llvm::sys::path::parent_path(path).str();
    if (model->folder.empty())
      model->folder = ".";
  }
  return model;
}

FailureOr<ModelRef> importer::loadBytes(StringRef name, StringRef bytes,
                                        MLIRContext &context,
                                        const ImportOptions &options) {
  ModelRef model = makeModel(name, options);
  Location loc = fileLocation(name, context);
  if (failed(refuseLarge(bytes.size(), loc)))
    return failure();
  SilentProtobuf silent;
  if (looksTextual(bytes)) {
    if (refuseForeign(bytes, loc) ||
        failed(parseText(bytes, name, context, model->proto)))
      return failure();
  } else {
    bool parsed = model->proto.ParseFromArray(bytes.data(),
                                              static_cast<int>(bytes.size()));
    if (failed(checkParsed(model->proto, bytes, loc, parsed)))
      return failure();
  }
  if (failed(checkVersion(model->proto, loc)))
    return failure();
  return model;
}

namespace {
/// The fields of a protobuf message, one after the other.
struct WireReader {
  explicit WireReader(StringRef message) : rest(message) {}

  StringRef rest;
  bool damaged = false;

  unsigned number = 0;
  bool isBytes = false; ///< a message or string: `payload` is there
  StringRef field, payload;

  bool next() {
    if (rest.empty() || damaged)
      return false;
    StringRef start = rest;
    uint64_t tag = varint();
    number = static_cast<unsigned>(tag >> 3);
    isBytes = (tag & 7) == 2;
    switch (tag & 7) {
    case 0:
      varint();
      break;
    case 1:
      skip(8);
      break;
    case 2:
      payload = skip(varint());
      break;
    case 5:
      skip(4);
      break;
    default:
      damaged = true; // groups: ONNX has none
    }
    field = start.drop_back(rest.size());
    return !damaged;
  }

private:
  uint64_t varint() {
    unsigned length = 0;
    const char *error = nullptr;
    uint64_t value = llvm::decodeULEB128(rest.bytes_begin(), &length,
                                         rest.bytes_end(), &error);
    damaged |= error != nullptr;
    rest = rest.drop_front(length);
    return value;
  }
  StringRef skip(uint64_t size) {
    damaged |= size > rest.size();
    StringRef skipped = rest.take_front(size);
    rest = rest.drop_front(skipped.size());
    return skipped;
  }
};
} // namespace

/// Parses a tensor; large raw data is not copied but referred to.
static bool parseTensor(StringRef bytes, LoadedModel &model,
                        pb::TensorProto &tensor) {
  constexpr size_t kLarge = 4096;
  std::string small;
  WireReader reader(bytes);
  StringRef raw;
  while (reader.next()) {
    bool isRaw = reader.isBytes &&
                 reader.number == pb::TensorProto::kRawDataFieldNumber &&
                 reader.payload.size() >= kLarge;
    if (isRaw)
      raw = reader.payload;
    else
      small += reader.field;
  }
  if (reader.damaged || !tensor.ParseFromString(small))
    return false;
  if (!raw.empty())
    model.mappedData[&tensor] = ArrayRef<char>(raw.data(), raw.size());
  return true;
}

/// Parses a model whose bytes stay where they are: the initializers of the main
/// graph, which are nearly all of a large file, are not copied.
static bool parseInPlace(StringRef bytes, LoadedModel &model) {
  std::string outer, inner;
  WireReader reader(bytes);
  SmallVector<StringRef> tensors;
  bool hasGraph = false;
  while (reader.next()) {
    if (!reader.isBytes || reader.number != pb::ModelProto::kGraphFieldNumber) {
      outer += reader.field;
      continue;
    }
    hasGraph = true;
    WireReader graph(reader.payload);
    while (graph.next()) {
      if (graph.isBytes &&
          graph.number == pb::GraphProto::kInitializerFieldNumber)
        tensors.push_back(graph.payload);
      else
        inner += graph.field;
    }
    if (graph.damaged)
      return false;
  }
  if (reader.damaged || !model.proto.ParseFromString(outer))
    return false;
  if (!hasGraph)
    return true;
  pb::GraphProto *graph = model.proto.mutable_graph();
  return graph->ParseFromString(inner) &&
         llvm::all_of(tensors, [&](StringRef tensor) {
           return parseTensor(tensor, model, *graph->add_initializer());
         });
}

FailureOr<ModelRef> importer::loadFile(StringRef path, MLIRContext &context,
                                       const ImportOptions &options) {
  Location loc = fileLocation(path, context);
  auto buffer = loopc::readFile(path, [](StringRef head) {
    return mayBeProtobuf(head) || looksTextual(head);
  });
  if (!buffer)
    return loopc::emitError(loc, Diag::CannotRead)
           << "cannot read the file: " << buffer.getError().message();
  StringRef bytes = (*buffer)->getBuffer();
  constexpr size_t kLarge = 1 << 20;
  if (bytes.size() < kLarge || looksTextual(bytes))
    return loadBytes(path, bytes, context, options);
  // Weights in a large model are to be in memory once, as the mapped file.
  if (failed(refuseLarge(bytes.size(), loc)))
    return failure();
  ModelRef model = makeModel(path, options);
  model->file = std::move(*buffer);
  SilentProtobuf silent;
  bool parsed = parseInPlace(bytes, *model);
  if (failed(checkParsed(model->proto, bytes, loc, parsed)) ||
      failed(checkVersion(model->proto, loc)))
    return failure();
  return model;
}

LogicalResult importer::readOpsets(
    const google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto> &imports,
    Location loc, llvm::StringMap<int64_t> &opsets) {
  const auto &known =
      pb::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  for (const pb::OperatorSetIdProto &import : imports) {
    StringRef domain = normalizeDomain(import.domain());
    StringRef shown = domain.empty() ? "ai.onnx" : domain;
    // Exporters (skl2onnx) repeat imports; only a contradiction is wrong.
    auto [first, isNew] = opsets.try_emplace(domain, import.version());
    if (!isNew && first->second != import.version())
      return loopc::emitError(loc, Diag::DuplicateName)
             << "domain '" << shown << "' is imported twice, with versions "
             << first->second << " and " << import.version();
    if (import.version() < 1)
      return loopc::emitError(loc, Diag::UnknownOpset)
             << "domain '" << shown << "' is imported with version "
             << import.version();
    auto range = known.find(domain.str());
    if (range != known.end() && import.version() > range->second.second)
      return loopc::emitError(loc, Diag::UnknownOpset)
             << "the model needs opset " << import.version() << " of domain '"
             << shown << "', the newest that loopc knows is "
             << range->second.second;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// Runs `body`; what the libraries throw becomes an error of loopc.
static OwningOpRef<ModuleOp>
guarded(StringRef name, MLIRContext &context,
        llvm::function_ref<OwningOpRef<ModuleOp>()> body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    loopc::emitError(fileLocation(name, context), Diag::CannotRead)
        << "out of memory";
  } catch (const std::exception &error) {
    loopc::emitError(fileLocation(name, context), Diag::Internal)
        << "the onnx library fails: " << error.what();
  }
  return {};
}

static OwningOpRef<ModuleOp> importModel(FailureOr<ModelRef> model,
                                         MLIRContext &context,
                                         const ImportOptions &options) {
  if (failed(model))
    return {};
  DialectRegistry registry;
  registerImporterDialects(registry);
  context.appendDialectRegistry(registry);
  for (StringRef dialect : registry.getDialectNames())
    context.getOrLoadDialect(dialect);
  return Importer(*model, context, options).run();
}

OwningOpRef<ModuleOp> loopc::importONNXFile(StringRef path,
                                            MLIRContext &context,
                                            const ImportOptions &options) {
  return guarded(path, context, [&]() {
    return importModel(loadFile(path, context, options), context, options);
  });
}

OwningOpRef<ModuleOp> loopc::importONNX(StringRef name, StringRef bytes,
                                        MLIRContext &context,
                                        const ImportOptions &options) {
  return guarded(name, context, [&]() {
    return importModel(loadBytes(name, bytes, context, options), context,
                       options);
  });
}

void loopc::registerImporterDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, func::FuncDialect, loop::LoopDialect,
                  onnx::ONNXDialect, scf::SCFDialect, tensor::TensorDialect>();
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

std::string loopc::parseDimOption(StringRef text, ImportOptions &options) {
  auto [name, value] = text.rsplit('=');
  int64_t extent = ShapedType::kDynamic;
  if (name.empty() ||
      (value != "?" && (value.getAsInteger(10, extent) || extent < 0)))
    return ("'" + text + "' is not NAME=EXTENT or NAME=?").str();
  auto [it, added] = options.dims.try_emplace(name, extent);
  if (!added && it->second != extent)
    return ("dimension '" + name + "' is given twice").str();
  return "";
}

std::string loopc::parseShapeOption(StringRef text, ImportOptions &options) {
  auto [name, value] = text.rsplit('=');
  if (name.empty() || !text.contains('='))
    return ("'" + text + "' is not INPUT=1x2x3").str();
  SmallVector<int64_t> shape;
  SmallVector<StringRef> parts;
  if (!value.empty())
    value.split(parts, 'x');
  for (StringRef part : parts) {
    int64_t extent = ShapedType::kDynamic;
    if (part != "?" && (part.getAsInteger(10, extent) || extent < 0))
      return ("'" + part + "' in '" + text + "' is no extent").str();
    shape.push_back(extent);
  }
  if (!options.shapes.try_emplace(name, shape).second)
    return ("the shape of '" + name + "' is given twice").str();
  return "";
}
