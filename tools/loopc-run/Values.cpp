//===- Values.cpp - Inputs and outputs of loopc-run -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunTool.h"

#include "loopc/ValueIO/Files.h"
#include "loopc/ValueIO/Make.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace loopc::io;
using namespace loopc::run;

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static Expected<std::unique_ptr<MemoryBuffer>> readFile(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError("cannot read '" + path +
                     "': " + buffer.getError().message());
  return std::move(*buffer);
}

/// A tensor as a port of an optional wants it: files hold the tensor alone.
static HostValue fitKind(HostValue value, const loopc_type &type) {
  if (type.kind == LOOPC_OPTIONAL && value.kind != LOOPC_OPTIONAL) {
    HostValue optional;
    optional.kind = LOOPC_OPTIONAL;
    optional.items.push_back(std::move(value));
    value = std::move(optional);
  }
  resolveRaw(value, type);
  return value;
}

static Expected<HostValue> readValue(StringRef path, const loopc_type &type) {
  auto buffer = readFile(path);
  if (!buffer)
    return buffer.takeError();
  StringRef bytes = (*buffer)->getBuffer();
  Expected<HostValue> value = sys::path::extension(path) == ".npy"
                                  ? readNpy(bytes)
                                  : readOnnxValue(bytes, type);
  if (!value)
    return makeError("'" + path + "': " + toString(value.takeError()));
  return fitKind(std::move(*value), type);
}

/// The name of a port as that of a file.
static std::string fileName(StringRef name) {
  std::string text = name.str();
  for (char &c : text)
    if (c == '/' || c == '\\' || c == '\0')
      c = '_';
  return text.empty() || text[0] == '.' ? "_" + text : text;
}

static Expected<std::vector<std::optional<HostValue>>>
readArchive(StringRef path, const loopc_port *ports, size_t count) {
  auto buffer = readFile(path);
  if (!buffer)
    return buffer.takeError();
  Expected<std::vector<NamedValue>> members = readNpz((*buffer)->getBuffer());
  if (!members)
    return makeError("'" + path + "': " + toString(members.takeError()));
  std::vector<std::optional<HostValue>> values(count);
  for (size_t i = 0; i < count; ++i) {
    std::string positional = "arr_" + std::to_string(i); // numpy.savez(f, a, b)
    for (auto &[name, value] : *members)
      if (name == ports[i].name || name == positional)
        values[i] = fitKind(value, *ports[i].type);
  }
  return values;
}

Expected<std::vector<std::optional<HostValue>>>
loopc::run::readValues(StringRef path, const loopc_port *ports, size_t count,
                       StringRef prefix) {
  if (!sys::fs::is_directory(path))
    return readArchive(path, ports, count);
  std::vector<std::optional<HostValue>> values(count);
  for (size_t i = 0; i < count; ++i) {
    std::string name = fileName(ports[i].name);
    std::string positional = (prefix + "_" + Twine(i)).str();
    for (const std::string &candidate :
         {name + ".npy", name + ".pb", positional + ".npy",
          positional + ".pb"}) {
      SmallString<128> file(path);
      sys::path::append(file, candidate);
      if (!sys::fs::exists(file))
        continue;
      Expected<HostValue> value = readValue(file, *ports[i].type);
      if (!value)
        return value.takeError();
      values[i] = std::move(*value);
      break;
    }
  }
  return values;
}

/// Writes `bytes` to `path`.
static Error writeFile(StringRef path, StringRef bytes) {
  std::error_code code;
  raw_fd_ostream os(path, code);
  if (!code) {
    os << bytes;
    os.close();
    code = os.error();
    os.clear_error();
  }
  return code ? makeError("cannot write '" + path + "': " + code.message())
              : Error::success();
}

static Error writeArchive(StringRef path, const loopc_port *ports,
                          const std::vector<HostValue> &values) {
  std::vector<NamedValue> named;
  for (size_t i = 0; i < values.size(); ++i)
    named.emplace_back(ports[i].name, values[i]);
  std::string bytes;
  raw_string_ostream os(bytes);
  if (Error error = writeNpz(named, os))
    return makeError("cannot write '" + path +
                     "': " + toString(std::move(error)));
  return writeFile(path, bytes);
}

Error loopc::run::writeValues(StringRef path, const loopc_port *ports,
                              const std::vector<HostValue> &values) {
  if (sys::path::extension(path) == ".npz")
    return writeArchive(path, ports, values);
  if (std::error_code code = sys::fs::create_directories(path))
    return makeError("cannot make '" + path + "': " + code.message());
  StringSet<> used;
  for (size_t i = 0; i < values.size(); ++i) {
    std::string name = fileName(ports[i].name);
    if (!used.insert(name).second)
      name = "output_" + std::to_string(i);
    bool isArray =
        values[i].kind == LOOPC_TENSOR || values[i].kind == LOOPC_STRINGS;
    std::string bytes;
    raw_string_ostream os(bytes);
    if (!isArray)
      os << writeOnnxValue(values[i], ports[i].name);
    else if (Error error = writeNpy(values[i], os))
      return error;
    SmallString<128> file(path);
    sys::path::append(file, name + (isArray ? ".npy" : ".pb"));
    if (Error error = writeFile(file, bytes))
      return error;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// The value of --input: a file by the end of its name, or text.
static Expected<HostValue> makeInput(StringRef text, const loopc_type &type,
                                     ExitCode &code) {
  StringRef extension = sys::path::extension(text);
  if (!text.starts_with("\"") && !text.starts_with("[") &&
      (extension == ".npy" || extension == ".pb")) {
    code = ExitFile;
    return readValue(text, type);
  }
  code = ExitUsage;
  return parseLiteral(text, type);
}

static std::optional<size_t> findPort(const loopc_model &model,
                                      StringRef name) {
  for (size_t i = 0; i < model.num_inputs; ++i)
    if (name == model.inputs[i].name)
      return i;
  return std::nullopt;
}

static std::string inputNames(const loopc_model &model) {
  std::string text;
  for (size_t i = 0; i < model.num_inputs; ++i)
    text += (i ? ", '" : "'") + std::string(model.inputs[i].name) + "'";
  return text.empty() ? "none" : text;
}

std::optional<std::vector<HostValue>>
loopc::run::makeInputs(const loopc_model &model, const Options &options,
                       ExitCode &code) {
  auto fail = [&](ExitCode status, const Twine &text) {
    code = status;
    printError(text);
    return std::nullopt;
  };
  std::vector<std::optional<HostValue>> given(model.num_inputs);
  if (!options.inputsPath.empty()) {
    auto read =
        readValues(options.inputsPath, model.inputs, model.num_inputs, "input");
    if (!read)
      return fail(ExitFile, toString(read.takeError()));
    given = std::move(*read);
  }
  for (const auto &[name, text] : options.inputs) {
    std::optional<size_t> port = findPort(model, name);
    if (!port)
      return fail(ExitUsage, "the model has no input '" + name +
                                 "'; it has: " + inputNames(model));
    ExitCode status = ExitUsage;
    Expected<HostValue> value =
        makeInput(text, *model.inputs[*port].type, status);
    if (!value)
      return fail(status,
                  "input '" + name + "': " + toString(value.takeError()));
    given[*port] = std::move(*value);
  }

  Random random(options.seed);
  // Those that the model leaves open and nobody fixed are 1.
  auto extent = [&](const loopc_dim &dim) -> int64_t {
    auto found = options.dims.find(dim.name ? dim.name : "");
    return found == options.dims.end() ? 1 : found->second;
  };
  std::vector<HostValue> values;
  for (size_t i = 0; i < model.num_inputs; ++i) {
    const loopc_port &port = model.inputs[i];
    if (!given[i] && model.defaults && model.defaults[i].ndim >= 0) {
      values.emplace_back().kind = 0; // absent
      continue;
    }
    if (!given[i] && !options.inputsPath.empty())
      return fail(ExitFile, "'" + options.inputsPath +
                                "' has no value for input '" + port.name + "'");
    if (given[i]) {
      values.push_back(std::move(*given[i]));
      continue;
    }
    Expected<HostValue> value = makeRandom(*port.type, random, extent);
    if (!value)
      return fail(ExitUsage, Twine("input '") + port.name +
                                 "': " + toString(value.takeError()));
    values.push_back(std::move(*value));
  }
  return values;
}
