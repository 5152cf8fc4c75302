//===- Header.cpp - The C header of a compiled model ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "loopc/Target/CodeGen.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace loopc;

/// A string literal; question marks are escaped because of trigraphs.
static std::string getLiteral(StringRef text) {
  std::string result = "\"";
  for (unsigned char c : text) {
    if (llvm::isPrint(c) && c != '"' && c != '\\' && c != '?') {
      result += c;
      continue;
    }
    result += '\\';
    for (int shift : {6, 3, 0})
      result += static_cast<char>('0' + (c >> shift & 7));
  }
  return result + '"';
}

/// A name in a comment: UTF-8 stays readable; nothing ends or continues the
/// line.
static std::string getCommentText(StringRef text) {
  std::string result;
  for (unsigned char c : text)
    result += c < 0x20 || c == 0x7F || c == '\\' ? '_' : static_cast<char>(c);
  return result;
}

static StringRef getKindMacro(Type type) {
  if (isa<onnx::SeqType>(type))
    return "LOOPC_SEQUENCE";
  if (isa<onnx::OptionalType>(type))
    return "LOOPC_OPTIONAL";
  return isa<onnx::StringType>(cast<TensorType>(type).getElementType())
             ? "LOOPC_STRINGS"
             : "LOOPC_TENSOR";
}

/// The macros that describe one port.
static void writePort(const PortInfo &port, StringRef prefix,
                      llvm::raw_ostream &os) {
  os << "#define " << prefix << "_NAME " << getLiteral(port.name) << '\n'
     << "#define " << prefix << "_KIND " << getKindMacro(port.type) << '\n';
  if (port.absent && !port.isState)
    os << "#define " << prefix << "_HAS_DEFAULT 1\n";
  auto tensor = dyn_cast<TensorType>(port.type);
  if (!tensor)
    return;
  if (auto element = getElementTypeInfo(tensor.getElementType()))
    os << "#define " << prefix << "_DTYPE {" << unsigned(element->dtype.code)
       << ", " << unsigned(element->dtype.bits) << ", " << element->dtype.lanes
       << "} /* " << element->name << " */\n";
  if (!tensor.hasRank()) {
    os << "#define " << prefix << "_RANK -1\n";
    return;
  }
  os << "#define " << prefix << "_RANK " << tensor.getRank() << '\n'
     << "#define " << prefix << "_SHAPE {";
  if (tensor.getRank() == 0)
    os << '0';
  llvm::interleaveComma(tensor.getShape(), os, [&](int64_t extent) {
    os << (ShapedType::isDynamic(extent) ? -1 : extent);
  });
  os << "}\n";
}

static void writePortComments(ArrayRef<PortInfo> ports, StringRef what,
                              llvm::raw_ostream &os) {
  for (const auto &[i, port] : llvm::enumerate(ports))
    os << "///   " << what << '[' << i << "]  '" << getCommentText(port.name)
       << "'  " << getCommentText(formatPortType(port))
       << (port.isState  ? "  (state)"
           : port.absent ? "  (may be absent: kind 0)"
                         : "")
       << (port.map.empty()
               ? ""
               : "  (of the map '" + getCommentText(port.map) + "')")
       << '\n';
}

void loopc::writeHeader(const ModelInfo &info, llvm::raw_ostream &os) {
  const std::string &name = info.symbol;
  os << "// Model '" << getCommentText(info.name)
     << "', compiled by loopc " LOOPC_VERSION ".\n"
     << "// Link with libloopc_rt, libm and libc.\n"
     << "#ifndef LOOPC_MODEL_" << name << "_H\n#define LOOPC_MODEL_" << name
     << "_H\n\n#include \"loopc-rt/loopc_rt.h\"\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
     << "/// The model's table: names, types and dimensions of what it takes "
        "and returns,\n/// for loopc_model_run() and loopc_model_check(). "
        "Constant.\n"
     << "const loopc_model *" << name << "_model(void);\n\n"
     << "/// Runs the model once; thread-safe. Of tensors, '?' and names are "
        "dimensions\n/// that the caller chooses (equal names are equal "
        "extents), '...' is any rank.\n/// Outputs are as the model declares "
        "them where the macros below tell less.\n///\n";
  writePortComments(info.inputs, "inputs", os);
  writePortComments(info.outputs, "outputs", os);
  os << "///\n/// An output that is all zero is allocated by the run and "
        "released by\n/// loopc_value_release(); see loopc_rt.h for outputs of "
        "the caller's.\n/// \\param options null for the defaults\n"
     << "/// \\param error gets status and message; may be null\n"
     << "/// \\returns LOOPC_OK or another loopc_status\n"
     << "int " << name << "_run(const loopc_run_options *options,\n"
     << "    const loopc_value *inputs, size_t num_inputs,\n"
     << "    loopc_value *outputs, size_t num_outputs, loopc_error *error);\n\n"
     << "// Inputs and outputs as data. A SHAPE has -1 for what the caller "
        "chooses, and one\n// unused 0 where the rank is 0; a RANK of -1 is "
        "any "
        "rank. DTYPE is a DLDataType:\n//   int64_t shape[] = "
     << name << "_INPUT_0_SHAPE;\n\n"
     << "#define " << name << "_NUM_INPUTS " << info.inputs.size() << '\n'
     << "#define " << name << "_NUM_OUTPUTS " << info.outputs.size() << '\n';
  if (size_t count = info.getNumStates())
    os << "// The last of both: these outputs of a run are inputs of the next. "
          "An input of\n// kind 0 stands for the initial value.\n"
       << "#define " << name << "_NUM_STATES " << count << '\n';
  for (const auto &[i, port] : llvm::enumerate(info.inputs)) {
    os << '\n';
    writePort(port, name + "_INPUT_" + std::to_string(i), os);
  }
  for (const auto &[i, port] : llvm::enumerate(info.outputs)) {
    os << '\n';
    writePort(port, name + "_OUTPUT_" + std::to_string(i), os);
  }
  os << "\n#ifdef __cplusplus\n} // extern \"C\"\n#endif\n\n#endif // "
        "LOOPC_MODEL_"
     << name << "_H\n";
}
