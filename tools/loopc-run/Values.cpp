//===- Values.cpp - Inputs and outputs of loopc-run -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunTool.h"

#include "loopc/Support/OutputFile.h"
#include "loopc/Support/ReadFile.h"
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
  auto buffer = loopc::readFile(path, [&](StringRef head) {
    StringRef extension = sys::path::extension(path);
    return extension == ".npy"   ? head.starts_with("\x93NUMPY")
           : extension == ".npz" ? head.starts_with("PK")
                                 : loopc::mayBeProtobuf(head);
  });
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

/// Writes `bytes` to `path`: all of them, or what was there stays.
static Error writeFile(StringRef path, StringRef bytes) {
  auto fail = [&](Error error) {
    return makeError("cannot write '" + path +
                     "': " + toString(std::move(error)));
  };
  auto file = loopc::OutputFile::create(path, /*removeOnSignal=*/true);
  if (!file)
    return fail(file.takeError());
  file->getStream() << bytes;
  if (Error error = file->keep())
    return fail(std::move(error));
  return Error::success();
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

/// Inputs without the states.
static ArrayRef<loopc_port> inputsOf(const loopc_model &model) {
  return ArrayRef(model.inputs, model.num_inputs).drop_back(model.num_states);
}

static ArrayRef<loopc_port> statesOf(const loopc_model &model) {
  return ArrayRef(model.inputs, model.num_inputs).take_back(model.num_states);
}

static std::optional<size_t> findPort(ArrayRef<loopc_port> ports,
                                      StringRef name) {
  for (auto [i, port] : enumerate(ports))
    if (name == port.name)
      return i;
  return std::nullopt;
}

static std::string namesOf(ArrayRef<loopc_port> ports) {
  std::string text;
  for (auto [i, port] : enumerate(ports))
    text += (i ? ", '" : "'") + std::string(port.name) + "'";
  return text.empty() ? "none" : text;
}

/// Reads the values of `path` (may be empty) and those of name and text; the
/// latter count. Prints what is wrong. `what` is "input" or "state".
static bool readGiven(ArrayRef<loopc_port> ports, StringRef what,
                      StringRef path,
                      ArrayRef<std::pair<std::string, std::string>> texts,
                      std::vector<std::optional<HostValue>> &given,
                      ExitCode &code) {
  auto fail = [&](ExitCode status, const Twine &text) {
    code = status;
    printError(text);
    return false;
  };
  given.assign(ports.size(), std::nullopt);
  if (!path.empty()) {
    auto read = readValues(path, ports.data(), ports.size(), what);
    if (!read)
      return fail(ExitFile, toString(read.takeError()));
    given = std::move(*read);
  }
  for (const auto &[name, text] : texts) {
    std::optional<size_t> port = findPort(ports, name);
    if (!port)
      return fail(ExitUsage, "the model has no " + what + " '" + name +
                                 "'; it has: " + namesOf(ports));
    ExitCode status = ExitUsage;
    Expected<HostValue> value = makeInput(text, *ports[*port].type, status);
    if (!value)
      return fail(status,
                  what + " '" + name + "': " + toString(value.takeError()));
    given[*port] = std::move(*value);
  }
  return true;
}

std::optional<std::vector<HostValue>>
loopc::run::makeInputs(const loopc_model &model, const Options &options,
                       ExitCode &code) {
  auto fail = [&](ExitCode status, const Twine &text) {
    code = status;
    printError(text);
    return std::nullopt;
  };
  ArrayRef<loopc_port> ports = inputsOf(model);
  std::vector<std::optional<HostValue>> given;
  if (!readGiven(ports, "input", options.inputsPath, options.inputs, given,
                 code))
    return std::nullopt;

  Random random(options.seed);
  // Those that the model leaves open and nobody fixed are 1.
  auto extent = [&](const loopc_dim &dim) -> int64_t {
    auto found = options.dims.find(dim.name ? dim.name : "");
    return found == options.dims.end() ? 1 : found->second;
  };
  std::vector<HostValue> values;
  for (auto [i, port] : enumerate(ports)) {
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
    // Who gives some of them has forgotten the others.
    if (!options.inputs.empty() && !options.isSeeded)
      return fail(ExitUsage,
                  Twine("input '") + port.name +
                      "' has no value: give it one (--input=" + port.name +
                      "=VALUE), or --seed=N for random values of what is not "
                      "given");
    Expected<HostValue> value = makeRandom(*port.type, random, extent);
    if (!value)
      return fail(ExitUsage, Twine("input '") + port.name +
                                 "': " + toString(value.takeError()));
    values.push_back(std::move(*value));
  }
  return values;
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

bool loopc::run::setStates(loopc_session *session, const Options &options,
                           ExitCode &code) {
  std::vector<std::optional<HostValue>> given;
  if (!readGiven(statesOf(*loopc_session_model(session)), "state",
                 options.statesPath, options.states, given, code))
    return false;
  for (auto [i, value] : enumerate(given)) {
    if (!value)
      continue;
    ValueViews view;
    view.add(*value);
    loopc_error error = {};
    if (loopc_session_set_state(session, i, view.data(), &error) == LOOPC_OK)
      continue;
    code = ExitUsage;
    printError(error.message);
    return false;
  }
  return true;
}

bool loopc::run::saveStates(const loopc_session *session,
                            const Options &options, ExitCode &code) {
  if (options.saveStatesPath.empty())
    return true;
  std::vector<loopc_port> ports;
  std::vector<HostValue> values;
  for (size_t i = 0; i < loopc_session_num_states(session); ++i) {
    loopc_value value = {};
    loopc_error error = {};
    if (loopc_session_get_state(session, i, &value, &error) != LOOPC_OK) {
      code = ExitRun;
      printError(error.message);
      return false;
    }
    // What nobody set needs no file: it is what the model says.
    if (value.kind == 0)
      continue;
    ports.push_back(*loopc_session_state(session, i));
    values.push_back(copyValue(value));
    loopc_value_release(&value);
  }
  if (Error error = writeValues(options.saveStatesPath, ports.data(), values)) {
    code = ExitFile;
    printError(toString(std::move(error)));
    return false;
  }
  return true;
}
