//===- Decode.h - From the text of PTX to decoded code -------- -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TEST_CUDA_DECODE_H
#define LOOPC_TEST_CUDA_DECODE_H

#include "Machine.h"

#include <map>
#include <unordered_map>

namespace fakecuda {

/// A module whose code can be run.
struct Program {
  std::map<std::string, std::unique_ptr<Code>> functions;
  std::vector<const Code *> byNumber;     ///< what a function pointer names
  std::map<std::string, Block> variables; ///< in global memory
  uint32_t memoryInsts = 0;
  unsigned target = 0; ///< 90 for sm_90

  const Code *find(const std::string &name) const {
    auto found = functions.find(name);
    return found == functions.end() ? nullptr : found->second.get();
  }
};

/// What a name in a function means.
struct Symbol {
  enum Kind { None, Register, Frame, Param, Shared, Global, Function };
  Kind kind = None;
  Type type = Type::None;
  uint64_t value = 0; ///< slot, offset or address
  uint32_t bytes = 0; ///< of a .param variable
  const Code *code = nullptr;
};

/// Decodes the module and gives its variables memory; throws PtxError.
std::unique_ptr<Program> decode(const ptx::Module &module, Memory &memory);

/// Decodes one function, statement by statement. The decoders of instructions
/// take what they know of modifiers and operands; what is left is an error.
class Decoder {
public:
  using Symbols = std::map<std::string, Symbol>;

  Decoder(Program &program, const Symbols &symbols, const ptx::Function &source,
          Code &code);
  void run();

  [[noreturn]] void fail(const std::string &message) const;

  // Modifiers, in the order in which they are written.
  bool take(const char *modifier);
  Type takeType();
  std::string takeAny();
  const std::string &nextModifier() const;
  /// Whether a modifier is a type of floating point.
  bool isFloat() const;

  /// Fails where the module's target is an older one.
  void needsTarget(unsigned target) const;

  // Operands.
  const std::vector<ptx::Operand> &operands() const {
    return statement->operands;
  }
  const ptx::Operand &operand(unsigned index) const;
  void expectOperands(unsigned least, unsigned most);
  void expectOperands(unsigned count) { expectOperands(count, count); }
  /// The slot with the value of a source of this type.
  int32_t source(const ptx::Operand &operand, Type type);
  int32_t source(unsigned index, Type type) {
    return source(operand(index), type);
  }
  /// The slot of a result; `_` is a slot that nobody reads.
  int32_t result(const ptx::Operand &operand, Type *type = nullptr);
  int32_t result(unsigned index, Type *type = nullptr) {
    return result(operand(index), type);
  }
  int32_t constant(uint64_t bits);
  int32_t temporary(unsigned slots = 1);
  /// Slot and offset of an address; `isEntryParam` says that it is one.
  int32_t address(const ptx::Operand &operand, uint64_t &offset,
                  Symbol::Kind &kind);
  /// The symbol of a name, or one of Symbol::None.
  Symbol lookup(const std::string &name);
  int32_t predicate(const std::string &name);
  uint64_t literal(unsigned index);

  Inst &emit(Exec exec, int32_t d = 0, int32_t a = 0, int32_t b = 0,
             int32_t c = 0);
  /// An instruction that looks up memory.
  Inst &emitMemory(Exec exec, int32_t d = 0, int32_t a = 0, int32_t b = 0,
                   int32_t c = 0);
  const int32_t *list(std::vector<int32_t> slots);
  /// The instruction jumps to the label.
  void branch(const ptx::Operand &label);
  /// A table of labels for brx.idx; `Inst::target` is set when all are known.
  void branchTable(const std::string &name);
  bool isEntry() const { return code.isEntry; }

private:
  struct Scope {
    int parent;
    Symbols symbols;
    std::map<std::string, std::pair<Type, int64_t>> ranges; ///< %r<10>
    std::map<std::string, size_t> labels;
    std::map<std::string, std::vector<ptx::Operand>> targets;
  };
  struct Jump {
    size_t inst;
    std::string label;
    int scope;
    unsigned line;
  };

  void declareParams();
  void declare(const ptx::Variable &variable);
  void declareRegisters(const ptx::Statement &statement);
  void decodeInstruction();
  void resolve();
  size_t findLabel(const std::string &name, int scope, unsigned line) const;
  int32_t special(const std::string &name);
  int32_t newSlot(uint64_t value, unsigned slots = 1);
  uint32_t frameBytes(uint64_t bytes, unsigned align);

  Program &program;
  const Symbols &globals;
  const ptx::Function &from;
  Code &code;
  const ptx::Statement *statement = nullptr;
  std::vector<std::string> modifiers;
  std::deque<Scope> scopes;
  int scope = 0;
  std::map<uint64_t, int32_t> constants;
  std::vector<Jump> jumps;
  struct Table {
    size_t inst;
    std::string name;
    int scope;
    unsigned line;
  };
  std::vector<Table> tables;
};

/// Decodes an instruction whose first word ("add") it is registered for.
using InstructionDecoder = void (*)(Decoder &D);
using InstructionTable = std::unordered_map<std::string, InstructionDecoder>;

void addIntegerInstructions(InstructionTable &table);
void addBitInstructions(InstructionTable &table);
void addFloatInstructions(InstructionTable &table);
void addConversions(InstructionTable &table);
void addMemoryInstructions(InstructionTable &table);
void addAtomicInstructions(InstructionTable &table);
void addControlInstructions(InstructionTable &table);
void addWarpInstructions(InstructionTable &table);
void addMatrixInstructions(InstructionTable &table);

// Instructions whose name integers and floating point share; what belongs to
// the latter is told apart first.
void decodeIntegerAdd(Decoder &D);
void decodeIntegerSub(Decoder &D);
void decodeIntegerMul(Decoder &D);
void decodeIntegerMad(Decoder &D);
void decodeIntegerDiv(Decoder &D);
void decodeIntegerMin(Decoder &D);
void decodeIntegerMax(Decoder &D);
void decodeIntegerNeg(Decoder &D);
void decodeIntegerAbs(Decoder &D);

// An instruction of two or three sources; a null `exec` is an error.
void emitBinary(Decoder &D, Exec exec, Type type);
void emitTernary(Decoder &D, Exec exec, Type type, Type third);

// What loads, stores and atomics have in common.
Space takeSpace(Decoder &D);
/// Order and scope of an access.
struct MemoryOrder {
  bool isStrong = false; ///< more than a plain one
  bool acquires = false, releases = false;
  bool isNarrow = false; ///< for the block, or the cluster, alone
};
MemoryOrder takeOrder(Decoder &D);
/// Slot and offset of the address that an operand is. `space` becomes that in
/// which it lies.
int32_t memoryAddress(Decoder &D, unsigned index, Space &space,
                      uint64_t &offset);

/// The functions that every module may call ("__assertfail").
Exec findBuiltin(const std::string &name);

/// Picks among the instances of a template for the unsigned, signed or both
/// kinds of integers of 16, 32 and 64 bits; null for other types.
#define FAKE_CUDA_PICK_INTEGER(TYPE, EXEC)                                     \
  [](Type type) -> Exec {                                                      \
    switch (type) {                                                            \
    case Type::U16:                                                            \
    case Type::B16:                                                            \
      return EXEC(uint16_t);                                                   \
    case Type::U32:                                                            \
    case Type::B32:                                                            \
      return EXEC(uint32_t);                                                   \
    case Type::U64:                                                            \
    case Type::B64:                                                            \
      return EXEC(uint64_t);                                                   \
    case Type::S16:                                                            \
      return EXEC(int16_t);                                                    \
    case Type::S32:                                                            \
      return EXEC(int32_t);                                                    \
    case Type::S64:                                                            \
      return EXEC(int64_t);                                                    \
    default:                                                                   \
      return nullptr;                                                          \
    }                                                                          \
  }(TYPE)

} // namespace fakecuda

#endif // LOOPC_TEST_CUDA_DECODE_H
