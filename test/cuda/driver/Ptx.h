//===- Ptx.h - The text of a PTX module, parsed --------------- -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TEST_CUDA_PTX_H
#define LOOPC_TEST_CUDA_PTX_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace fakecuda {

/// What is wrong with a PTX text; the message begins with the line.
struct PtxError : std::runtime_error {
  PtxError(unsigned line, const std::string &message)
      : std::runtime_error("line " + std::to_string(line) + ": " + message) {}
};

/// Fundamental types of PTX, and the packed ones that instructions name.
enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32x2,
  F32,
  F64,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2,
  U16x2,
  S16x2,
};

/// The type of this name ("f32"), or Type::None.
Type typeOf(const std::string &name);
/// Bytes of a value of the type.
unsigned sizeOf(Type type);

enum class Space : uint8_t { Generic, Global, Shared, Local, Param, Const };

namespace ptx {

/// One operand of an instruction.
struct Operand {
  enum Kind {
    Name,    ///< a register, a variable, a label or a function: `name`
    Integer, ///< `bits`
    Float,   ///< `bits`, of a double if `isDouble`, else of a float
    Address, ///< [items[0] + bits]
    Vector,  ///< {items...}
    List,    ///< (items...) of a call
    Pair,    ///< items[0]|items[1]
    Sink,    ///< _
  };
  Kind kind = Name;
  bool isDouble = false;
  bool negated = false; ///< !name
  std::string name;
  uint64_t bits = 0;
  std::vector<Operand> items;
};

/// A variable or parameter.
struct Variable {
  std::string name;
  Space space = Space::Global;
  Type type = Type::B8;
  uint64_t count = 1; ///< elements; 0 for `[]`
  unsigned align = 0; ///< as written, else that of the type
  bool isExternal = false;
  bool isManaged = false;
  unsigned line = 0;
  /// An initial element: a number, or an address plus `bits`, of which `mask`
  /// says what byte is meant (0: all of them).
  struct Element {
    uint64_t bits = 0;
    std::string symbol;
    bool isGeneric = false;
    uint64_t mask = 0;
  };
  std::vector<Element> init;

  uint64_t bytes() const { return count * sizeOf(type); }
};

struct Statement {
  enum Kind {
    Instruction, ///< `name` is the opcode with its modifiers
    Label,       ///< `name`
    Open,        ///< {
    Close,       ///< }
    Registers,   ///< `name`, or name0 to name<count - 1>, of `type`
    Declare,     ///< `variable`
    Targets,     ///< `name`: .branchtargets operands
    Prototype,   ///< `name`: .callprototype
  };
  Statement(Kind kind, unsigned line) : kind(kind), line(line) {}

  Kind kind;
  unsigned line;
  std::string name;
  std::vector<Operand> operands;
  std::string guard; ///< the predicate; empty: none
  bool guardNegated = false;
  Type type = Type::None;
  int64_t count = -1;
  Variable variable;
};

struct Function {
  std::string name;
  bool isEntry = false;
  bool hasBody = false;
  std::vector<Variable> results, params;
  std::vector<Statement> body;
  unsigned maxThreads[3] = {0, 0, 0};
  unsigned requiredThreads[3] = {0, 0, 0};
  unsigned line = 0;
};

struct Module {
  unsigned version = 0;  ///< major * 10 + minor
  unsigned target = 0;   ///< 90 for sm_90
  char targetSuffix = 0; ///< 'a' or 'f'
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

/// Parses a whole PTX text; throws PtxError.
Module parse(const std::string &text);

} // namespace ptx
} // namespace fakecuda

#endif // LOOPC_TEST_CUDA_PTX_H
