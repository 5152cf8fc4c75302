//===- CustomLibrary.cpp - Libraries of custom operators ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/CustomLibrary.h"
#include "OrtLibrary.h"

#include <algorithm>
#include <dlfcn.h>
#include <filesystem>

using namespace loopc;

static constexpr std::string_view kTypes[] = {
    "bool",    "int8",      "int16",      "int32",   "int64",    "uint8",
    "uint16",  "uint32",    "uint64",     "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128", "string"};

std::vector<std::string_view> loopc::splitWords(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    size_t begin = std::min(text.find_first_not_of(' '), text.size());
    size_t end = std::min(text.find(' ', begin), text.size());
    if (begin < end)
      words.push_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
  return words;
}

static bool hasText(const char *text) { return text && *text; }

/// Whether one of the first `count` inputs has this name.
static bool hasInput(const loopc_custom_op &op, const char *name,
                     int64_t count) {
  return std::any_of(op.inputs, op.inputs + count, [&](const auto &input) {
    return std::string_view(input.name) == name;
  });
}

/// What is wrong with the type of a port; "" where nothing is. It may be that
/// of one of the first `numInputs` inputs.
static std::string findTypeFault(const loopc_custom_op &op,
                                 const loopc_custom_port &port,
                                 int64_t numInputs) {
  if (hasText(port.types) == hasText(port.type_of))
    return "has to have one of 'types' and 'type_of'";
  if (port.type_of && !hasInput(op, port.type_of, numInputs))
    return "has the type of '" + std::string(port.type_of) +
           "', which is no input before it";
  if (port.types)
    for (std::string_view type : splitWords(port.types))
      if (std::find(std::begin(kTypes), std::end(kTypes), type) ==
          std::end(kTypes))
        return "has the type '" + std::string(type) +
               "', which custom operators do not have";
  return "";
}

static std::string findInputFault(const loopc_custom_op &op, int64_t k) {
  const loopc_custom_port &input = op.inputs[k];
  if (!hasText(input.name))
    return "has no name";
  if (hasInput(op, input.name, k))
    return "has the name '" + std::string(input.name) + "' of another one";
  bool isLast = k + 1 == op.num_inputs;
  if ((input.flags & LOOPC_CUSTOM_VARIADIC) && !isLast)
    return "is variadic, which the last input may be";
  bool mayMiss = input.flags & (LOOPC_CUSTOM_OPTIONAL | LOOPC_CUSTOM_VARIADIC);
  if (!mayMiss && k > 0 && (op.inputs[k - 1].flags & LOOPC_CUSTOM_OPTIONAL))
    return "is not optional, as the one before it is";
  return findTypeFault(op, input, k);
}

static std::string findOutputFault(const loopc_custom_op &op, int64_t k) {
  const loopc_custom_port &output = op.outputs[k];
  if (!hasText(output.name))
    return "has no name";
  if (output.flags & LOOPC_CUSTOM_VARIADIC)
    return "is variadic, which the last input may be";
  for (const char *other : {output.shape_of, output.rank_of})
    if (other && !hasInput(op, other, op.num_inputs))
      return "has the shape of '" + std::string(other) + "', which is no input";
  if (output.types && splitWords(output.types).size() != 1)
    return "has several types";
  if (output.rank < 0)
    return "has a negative rank";
  return findTypeFault(op, output, op.num_inputs);
}

/// The fault of a table of `count` rows, "" where there is none.
template <typename Find>
static std::string findFaultIn(const void *table, int64_t count,
                               std::string_view what, Find find) {
  if (count < 0 || (count > 0 && !table))
    return "the table of its " + std::string(what) + "s is missing";
  for (int64_t k = 0; k < count; ++k)
    if (std::string fault = find(k); !fault.empty())
      return std::string(what) + " #" + std::to_string(k) + " " + fault;
  return "";
}

/// Whether ONNX has operators in this domain.
static bool isOfONNX(std::string_view domain) {
  static constexpr std::string_view domains[] = {
      "ai.onnx", "ai.onnx.ml", "ai.onnx.training", "ai.onnx.preview",
      "ai.onnx.preview.training"};
  return std::find(std::begin(domains), std::end(domains), domain) !=
         std::end(domains);
}

static std::string findFault(const loopc_custom_op &op, bool isOwn) {
  if (!hasText(op.symbol) ||
      !std::string_view(op.symbol).starts_with("loopc_op_"))
    return "it is not made by LOOPC_CUSTOM_OP";
  if (!isOwn && (!hasText(op.domain) || isOfONNX(op.domain)))
    return "it has no domain of its own";
  if (!hasText(op.name))
    return "it has no name";
  if (op.since_version < 1)
    return "'since_version' is less than 1";
  if (!op.compute)
    return "it has no function 'compute'";
  if (op.num_outputs < 1)
    return "it has no output";
  auto inputFault = [&](int64_t k) { return findInputFault(op, k); };
  auto outputFault = [&](int64_t k) { return findOutputFault(op, k); };
  auto parameterFault = [&](int64_t k) -> std::string {
    const loopc_custom_parameter &parameter = op.parameters[k];
    if (!hasText(parameter.name))
      return "has no name";
    if (parameter.kind < LOOPC_CUSTOM_INT ||
        parameter.kind > LOOPC_CUSTOM_STRINGS)
      return "is of a kind that there is not";
    return "";
  };
  std::string fault =
      findFaultIn(op.inputs, op.num_inputs, "input", inputFault);
  if (fault.empty())
    fault = findFaultIn(op.outputs, op.num_outputs, "output", outputFault);
  if (fault.empty())
    fault = findFaultIn(op.parameters, op.num_parameters, "parameter",
                        parameterFault);
  return fault;
}

/// Appends what the library lists, or registers where it is for onnxruntime.
/// \returns an empty text, or what is wrong.
static std::string
findOperators(void *library, std::vector<const loopc_custom_op *> &operators) {
  auto list = reinterpret_cast<const loopc_custom_library *(*)()>(
      dlsym(library, "loopc_custom_operators"));
  if (!list && dlsym(library, "RegisterCustomOps"))
    return ort::registerOperators(library, operators);
  if (!list)
    return "it has no list of operators: LOOPC_CUSTOM_LIBRARY of "
           "loopc-rt/custom.h makes one, and RegisterCustomOps registers those "
           "of a library for onnxruntime";
  const loopc_custom_library &all = *list();
  auto isOther = [](uint32_t version) { return version != LOOPC_CUSTOM_ABI; };
  bool isOld = isOther(all.abi_version);
  for (uint32_t k = 0; k < all.count && !isOld; ++k)
    isOld = isOther(all.operators[k]->abi_version) ||
            all.operators[k]->size != sizeof(loopc_custom_op);
  if (isOld)
    return "it was compiled with another version of loopc-rt/custom.h; this "
           "one is version " +
           std::to_string(LOOPC_CUSTOM_ABI);
  operators.assign(all.operators, all.operators + all.count);
  return "";
}

/// As loadCustomLibrary(); `isOwn`: operators may be ONNX's.
static std::string
loadLibrary(const std::string &path, bool isOwn,
            std::vector<const loopc_custom_op *> &operators) {
  auto fail = [&](const std::string &problem) {
    return "cannot load the operators of '" + path + "': " + problem;
  };
  // With a slash, since dlopen() searches for plain names elsewhere.
  std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(dlerror());
  std::vector<const loopc_custom_op *> all;
  if (std::string fault = findOperators(library, all); !fault.empty())
    return fail(fault);
  for (size_t k = 0; k < all.size(); ++k) {
    const loopc_custom_op &op = *all[k];
    if (std::string fault = findFault(op, isOwn); !fault.empty())
      return fail("operator #" + std::to_string(k) +
                  (hasText(op.name) ? " '" + std::string(op.name) + "'" : "") +
                  ": " + fault);
    operators.push_back(&op);
  }
  return "";
}

std::string
loopc::loadCustomLibrary(const std::string &path,
                         std::vector<const loopc_custom_op *> &operators) {
  return loadLibrary(path, /*isOwn=*/false, operators);
}

//===----------------------------------------------------------------------===//
// Libraries of loopc's own
//===----------------------------------------------------------------------===//

const OwnOperator *loopc::getOwnOperators() {
  static constexpr OwnOperator operators[] = {
      {"", "ImageDecoder", 20, "libloopc_images.so", "loopc_op_image_decoder"},
      {"com.microsoft", "Tokenizer", 1, "libloopc_text.so",
       "loopc_op_tokenizer"},
      {}};
  return operators;
}

/// The file `name` beside this code; "" where it is not there.
static std::string findOwnLibrary(const std::string &name) {
  static const int anchor = 0;
  Dl_info info;
  if (!dladdr(&anchor, &info) || !info.dli_fname)
    return "";
  std::error_code error;
  // Of a program the name may be what it was started as.
  std::filesystem::path self = info.dli_fname;
  if (!std::filesystem::exists(self, error))
    self = "/proc/self/exe";
  self = std::filesystem::canonical(self, error);
  for (const char *folder : {".", "../lib"})
    if (auto file = self.parent_path() / folder / name;
        !error && std::filesystem::exists(file, error))
      return std::filesystem::canonical(file, error).string();
  return "";
}

std::string loopc::loadOwnOperator(const OwnOperator &own,
                                   const loopc_custom_op *&op,
                                   std::string &path) {
  path = findOwnLibrary(own.library);
  if (path.empty())
    return std::string(own.library) +
           ", which computes it, is not there: this loopc was built without it";
  std::vector<const loopc_custom_op *> operators;
  if (std::string fault = loadLibrary(path, /*isOwn=*/true, operators);
      !fault.empty())
    return fault;
  for (const loopc_custom_op *each : operators)
    if (std::string_view(each->symbol) == own.symbol) {
      op = each;
      return "";
    }
  return "'" + path + "' does not have it";
}
