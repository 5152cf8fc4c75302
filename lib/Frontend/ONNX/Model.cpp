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
#include "google/protobuf/io/zero_copy_stream_impl.h"
#include "google/protobuf/stubs/logging.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "loopc/Dialect/ONNX/IR/ProtoConversion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "onnx/defs/parser.h"
#include <fcntl.h>
#include <unistd.h>

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

/// Deepest nesting of brackets outside of strings: the library's parser recurses.
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

static LogicalResult checkParsed(const pb::ModelProto &proto, Location loc,
                                 bool parsed) {
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

/// The IR versions that the onnx library knows.
static LogicalResult checkVersion(const pb::ModelProto &proto, Location loc) {
  int64_t known = pb::Version::IR_VERSION;
  if (proto.ir_version() < 1)
    return loopc::emitError(loc, Diag::NotAModel)
           << "this is not an ONNX model: it has no IR version";
  if (proto.ir_version() > known)
    loopc::emitWarning(loc, Diag::NewerIRVersion)
        << "the model has IR version " << proto.ir_version()
        << ", the newest that loopc knows is " << known;
  return success();
}

FailureOr<ModelRef> importer::loadBytes(StringRef name, StringRef bytes,
                                        MLIRContext &context,
                                        const ImportOptions &options) {
  auto model = std::make_shared<LoadedModel>();
  model->path = name.str();
  model->folder = options.externalDataFolder;
  if (model->folder.empty() && llvm::sys::fs::exists(name)) {
    model->folder = llvm::sys::path::parent_path(name).str();
    if (model->folder.empty())
      model->folder = ".";
  }
  Location loc = fileLocation(name, context);
  if (failed(refuseLarge(bytes.size(), loc)))
    return failure();
  SilentProtobuf silent;
  if (looksTextual(bytes)) {
    if (failed(parseText(bytes, name, context, model->proto)))
      return failure();
  } else {
    bool parsed = model->proto.ParseFromArray(bytes.data(),
                                              static_cast<int>(bytes.size()));
    if (failed(checkParsed(model->proto, loc, parsed)))
      return failure();
  }
  if (failed(checkVersion(model->proto, loc)))
    return failure();
  return model;
}

FailureOr<ModelRef> importer::loadFile(StringRef path, MLIRContext &context,
                                       const ImportOptions &options) {
  Location loc = fileLocation(path, context);
  auto cannot = [&](std::error_code error) {
    return loopc::emitError(loc, Diag::CannotRead)
           << "cannot read the file: " << error.message();
  };
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return cannot(error);
  if (llvm::sys::fs::is_directory(status))
    return cannot(std::make_error_code(std::errc::is_a_directory));
  uint64_t size = status.getSize();
  llvm::Expected<llvm::sys::fs::file_t> file =
      llvm::sys::fs::openNativeFileForRead(path);
  if (!file)
    return cannot(llvm::errorToErrorCode(file.takeError()));
  // Weights within a large model are to be in memory once: the file is read in
  // pieces, not mapped. (Others are read as a whole.)
  constexpr uint64_t kSmall = 16 << 20;
  if (size <= kSmall || !llvm::sys::fs::is_regular_file(status)) {
    auto buffer = llvm::MemoryBuffer::getOpenFile(
        *file, path, llvm::sys::fs::is_regular_file(status) ? size : -1,
        /*RequiresNullTerminator=*/false);
    llvm::sys::fs::closeFile(*file);
    if (!buffer)
      return cannot(buffer.getError());
    return loadBytes(path, (*buffer)->getBuffer(), context, options);
  }
  llvm::scope_exit close([&]() { llvm::sys::fs::closeFile(*file); });
  if (failed(refuseLarge(size, loc)))
    return failure();
  char first = 0;
  if (::pread(*file, &first, 1, 0) == 1 && looksTextual({&first, 1})) {
    auto buffer = llvm::MemoryBuffer::getOpenFile(*file, path, size, false);
    if (!buffer)
      return cannot(buffer.getError());
    return loadBytes(path, (*buffer)->getBuffer(), context, options);
  }
  auto model = std::make_shared<LoadedModel>();
  model->path = path.str();
  model->folder = options.externalDataFolder;
  if (model->folder.empty())
    model->folder = llvm::sys::path::parent_path(path).str();
  if (model->folder.empty())
    model->folder = ".";
  SilentProtobuf silent;
  google::protobuf::io::FileInputStream stream(*file);
  bool parsed = model->proto.ParseFromZeroCopyStream(&stream);
  if (stream.GetErrno())
    return cannot(std::error_code(stream.GetErrno(), std::generic_category()));
  if (failed(checkParsed(model->proto, loc, parsed)) ||
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
    if (!opsets.try_emplace(domain, import.version()).second)
      return loopc::emitError(loc, Diag::DuplicateName)
             << "domain '" << shown << "' is imported twice";
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
  int64_t extent;
  if (name.empty() || value.getAsInteger(10, extent) || extent < 0)
    return ("'" + text + "' is not NAME=EXTENT").str();
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
