//===- Decode.cpp - From the text of PTX to decoded code ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decode.h"

#include "Api.h"

#include <algorithm>
#include <cctype>
#include <set>

using namespace fakecuda;
using ptx::Operand;
using ptx::Statement;

/// Local memory that a thread can have, and parameters of a kernel.
static constexpr uint64_t kMaxFrameBytes = 512 << 10, kMaxParamBytes = 32764;

static uint64_t roundUp(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

static const InstructionTable &instructionTable() {
  static const InstructionTable table = [] {
    InstructionTable table;
    addIntegerInstructions(table);
    addBitInstructions(table);
    addFloatInstructions(table);
    addConversions(table);
    addMemoryInstructions(table);
    addAtomicInstructions(table);
    addControlInstructions(table);
    addWarpInstructions(table);
    addMatrixInstructions(table);
    return table;
  }();
  return table;
}

Decoder::Decoder(Program &program, const Symbols &symbols,
                 const ptx::Function &source, Code &code)
    : program(program), globals(symbols), from(source), code(code) {
  scopes.push_back({-1, {}, {}, {}, {}});
}

void Decoder::fail(const std::string &message) const {
  std::string text = "function '" + from.name + "'";
  if (statement && statement->kind == Statement::Instruction)
    text += ", '" + statement->name + "'";
  throw PtxError(statement ? statement->line : from.line,
                 text + ": " + message);
}

//===----------------------------------------------------------------------===//
// Modifiers
//===----------------------------------------------------------------------===//

bool Decoder::take(const char *modifier) {
  auto found = std::find(modifiers.begin(), modifiers.end(), modifier);
  if (found == modifiers.end())
    return false;
  modifiers.erase(found);
  return true;
}

Type Decoder::takeType() {
  for (auto it = modifiers.begin(); it != modifiers.end(); ++it)
    if (Type type = typeOf(*it); type != Type::None) {
      modifiers.erase(it);
      return type;
    }
  fail("the type is missing");
}

std::string Decoder::takeAny() {
  if (modifiers.empty())
    fail("a modifier is missing");
  std::string result = modifiers.front();
  modifiers.erase(modifiers.begin());
  return result;
}

void Decoder::needsTarget(unsigned target) const {
  if (program.target < target)
    fail("the target has to be sm_" + std::to_string(target) + " or later");
}

const std::string &Decoder::nextModifier() const {
  static const std::string none;
  return modifiers.empty() ? none : modifiers.front();
}

bool Decoder::isFloat() const {
  return std::any_of(modifiers.begin(), modifiers.end(), [](const auto &name) {
    Type type = typeOf(name);
    return type >= Type::F16 && type <= Type::F64;
  });
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

const Operand &Decoder::operand(unsigned index) const {
  if (index >= operands().size())
    fail("operand " + std::to_string(index) + " is missing");
  return operands()[index];
}

void Decoder::expectOperands(unsigned least, unsigned most) {
  if (operands().size() < least || operands().size() > most)
    fail(std::to_string(operands().size()) + " operands");
}

int32_t Decoder::newSlot(uint64_t value, unsigned slots) {
  int32_t result = code.frame.size();
  code.frame.insert(code.frame.end(), slots, value);
  return result;
}

int32_t Decoder::temporary(unsigned slots) {
  return newSlot(0xA5A5A5A5A5A5A5A5, slots);
}

int32_t Decoder::constant(uint64_t bits) {
  auto [it, isNew] = constants.try_emplace(bits, 0);
  if (isNew)
    it->second = newSlot(bits);
  return it->second;
}

Symbol Decoder::lookup(const std::string &name) {
  for (int i = scope; i >= 0; i = scopes[i].parent) {
    Scope &within = scopes[i];
    if (auto found = within.symbols.find(name); found != within.symbols.end())
      return found->second;
    // One of a range of registers; it gets its slot now.
    size_t digits = name.find_last_not_of("0123456789") + 1;
    if (digits == name.size() ||
        (name[digits] == '0' && digits + 1 < name.size()))
      continue;
    auto range = within.ranges.find(name.substr(0, digits));
    if (range == within.ranges.end() ||
        std::stoll(name.substr(digits)) >= range->second.second)
      continue;
    Symbol symbol{Symbol::Register, range->second.first};
    symbol.value = temporary(symbol.type == Type::B128 ? 2 : 1);
    return within.symbols[name] = symbol;
  }
  auto found = globals.find(name);
  return found == globals.end() ? Symbol() : found->second;
}

int32_t Decoder::predicate(const std::string &name) {
  Symbol symbol = lookup(name);
  if (symbol.kind != Symbol::Register || symbol.type != Type::Pred)
    fail("'" + name + "' is no predicate");
  return symbol.value;
}

static uint64_t literalBits(const Operand &operand, Type type) {
  if (operand.kind == Operand::Integer)
    return operand.bits;
  bool wantsDouble = type == Type::F64 || type == Type::B64;
  if (operand.isDouble == wantsDouble)
    return operand.bits;
  if (operand.isDouble) {
    double wide;
    std::memcpy(&wide, &operand.bits, 8);
    float narrow = static_cast<float>(wide);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    return bits;
  }
  uint32_t low = operand.bits;
  float narrow;
  std::memcpy(&narrow, &low, 4);
  double wide = narrow;
  uint64_t bits;
  std::memcpy(&bits, &wide, 8);
  return bits;
}

static const Inst *executeFrameAddress(const Inst *I, uint64_t *R, Thread &) {
  R[I->d] = R[0] + I->imm;
  return I + 1;
}

int32_t Decoder::source(const Operand &operand, Type type) {
  if (operand.kind == Operand::Integer || operand.kind == Operand::Float) {
    uint64_t bits = literalBits(operand, type);
    if (unsigned size = sizeOf(type); size && size < 8 && type != Type::Pred)
      bits &= (uint64_t(1) << size * 8) - 1;
    return constant(bits);
  }
  if (operand.kind != Operand::Name)
    fail("an operand of the wrong kind");
  Symbol symbol = lookup(operand.name);
  switch (symbol.kind) {
  case Symbol::Register:
    if ((symbol.type == Type::Pred) != (type == Type::Pred))
      fail("'" + operand.name + "' has the wrong type");
    if (sizeOf(symbol.type) < sizeOf(type))
      fail("'" + operand.name + "' is too narrow");
    return symbol.value;
  case Symbol::Frame: {
    int32_t slot = temporary();
    emit(executeFrameAddress, slot).imm = symbol.value + operand.bits;
    return slot;
  }
  case Symbol::None:
    return special(operand.name);
  default:
    return constant(symbol.value + operand.bits);
  }
}

int32_t Decoder::result(const Operand &operand, Type *type) {
  if (operand.kind == Operand::Sink)
    return temporary(2);
  if (operand.kind != Operand::Name)
    fail("the result is no register");
  Symbol symbol = lookup(operand.name);
  if (symbol.kind != Symbol::Register)
    fail("'" + operand.name + "' is no register");
  if (type)
    *type = symbol.type;
  return symbol.value;
}

int32_t Decoder::address(const Operand &operand, uint64_t &offset,
                         Symbol::Kind &kind) {
  if (operand.kind != Operand::Address)
    fail("expected an address");
  const Operand &base = operand.items[0];
  kind = Symbol::None;
  if (base.kind == Operand::Integer) {
    offset = 0;
    return constant(operand.bits);
  }
  if (base.kind != Operand::Name)
    fail("not an address");
  Symbol symbol = lookup(base.name);
  kind = symbol.kind;
  offset = operand.bits + base.bits;
  switch (symbol.kind) {
  case Symbol::Register:
    return symbol.value;
  case Symbol::Frame:
    offset += symbol.value;
    return 0;
  case Symbol::None:
    fail("'" + base.name + "' is not declared");
  default:
    return constant(symbol.value);
  }
}

uint64_t Decoder::literal(unsigned index) {
  if (operand(index).kind != Operand::Integer)
    fail("operand " + std::to_string(index) + " is no constant");
  return operand(index).bits;
}

//===----------------------------------------------------------------------===//
// Special registers
//===----------------------------------------------------------------------===//

namespace {
enum SpecialRegister {
  SR_TidX,
  SR_TidY,
  SR_TidZ,
  SR_NtidX,
  SR_NtidY,
  SR_NtidZ,
  SR_CtaidX,
  SR_CtaidY,
  SR_CtaidZ,
  SR_NctaidX,
  SR_NctaidY,
  SR_NctaidZ,
  SR_LaneId,
  SR_WarpId,
  SR_NWarpId,
  SR_SmId,
  SR_NSmId,
  SR_Clock,
  SR_MaskEq,
  SR_MaskLe,
  SR_MaskLt,
  SR_MaskGe,
  SR_MaskGt,
  SR_DynamicShared,
  SR_TotalShared,
  SR_ClusterX,
  SR_ClustersX,
  SR_InCluster,
  SR_OfCluster,
  SR_Zero,
  SR_One,
};
} // namespace

static uint64_t readSpecial(unsigned which, Thread &T) {
  const Launch &launch = *T.launch;
  uint32_t lane = T.lane();
  switch (which) {
  case SR_TidX:
  case SR_TidY:
  case SR_TidZ:
    return T.id[which - SR_TidX];
  case SR_NtidX:
    return launch.block.x;
  case SR_NtidY:
    return launch.block.y;
  case SR_NtidZ:
    return launch.block.z;
  case SR_CtaidX:
  case SR_CtaidY:
  case SR_CtaidZ:
    return T.group->id[which - SR_CtaidX];
  case SR_NctaidX:
    return launch.grid.x;
  case SR_NctaidY:
    return launch.grid.y;
  case SR_NctaidZ:
    return launch.grid.z;
  case SR_LaneId:
    return lane;
  case SR_WarpId:
    return T.linear / 32;
  case SR_NWarpId:
    return (launch.block.count() + 31) / 32;
  case SR_SmId:
    return T.group->linear % launch.limits.multiprocessors;
  case SR_NSmId:
    return launch.limits.multiprocessors;
  case SR_Clock: // The only thing that time may do is go on.
    return ++T.launch->clock;
  case SR_MaskEq:
    return 1u << lane;
  case SR_MaskLt:
    return (1u << lane) - 1;
  case SR_MaskLe:
    return (2u << lane) - 1;
  case SR_MaskGe:
    return ~((1u << lane) - 1);
  case SR_MaskGt:
    return ~((2u << lane) - 1);
  case SR_DynamicShared:
    return launch.sharedBytes - launch.code->sharedBytes;
  case SR_TotalShared:
    return launch.sharedBytes;
  case SR_ClusterX:
    return T.group->id[0] / launch.cluster.x;
  case SR_ClustersX:
    return launch.grid.x / launch.cluster.x;
  case SR_InCluster:
    return T.group->id[0] % launch.cluster.x;
  case SR_OfCluster:
    return launch.cluster.x;
  default:
    return which == SR_One;
  }
}

static const Inst *executeSpecial(const Inst *I, uint64_t *R, Thread &T) {
  R[I->d] = readSpecial(I->imm, T);
  return I + 1;
}

int32_t Decoder::special(const std::string &name) {
  static const std::map<std::string, SpecialRegister> registers = {
      {"%tid.x", SR_TidX},
      {"%tid.y", SR_TidY},
      {"%tid.z", SR_TidZ},
      {"%ntid.x", SR_NtidX},
      {"%ntid.y", SR_NtidY},
      {"%ntid.z", SR_NtidZ},
      {"%ctaid.x", SR_CtaidX},
      {"%ctaid.y", SR_CtaidY},
      {"%ctaid.z", SR_CtaidZ},
      {"%nctaid.x", SR_NctaidX},
      {"%nctaid.y", SR_NctaidY},
      {"%nctaid.z", SR_NctaidZ},
      {"%laneid", SR_LaneId},
      {"%warpid", SR_WarpId},
      {"%nwarpid", SR_NWarpId},
      {"%smid", SR_SmId},
      {"%nsmid", SR_NSmId},
      {"%clock", SR_Clock},
      {"%clock64", SR_Clock},
      {"%globaltimer", SR_Clock},
      {"%clock_hi", SR_Zero},
      {"%globaltimer_lo", SR_Clock},
      {"%globaltimer_hi", SR_Zero},
      {"%gridid", SR_One},
      {"%lanemask_eq", SR_MaskEq},
      {"%lanemask_le", SR_MaskLe},
      {"%lanemask_lt", SR_MaskLt},
      {"%lanemask_ge", SR_MaskGe},
      {"%lanemask_gt", SR_MaskGt},
      {"%dynamic_smem_size", SR_DynamicShared},
      {"%total_smem_size", SR_TotalShared},
      // Clusters lie along x.
      {"%clusterid.x", SR_ClusterX},
      {"%clusterid.y", SR_CtaidY},
      {"%clusterid.z", SR_CtaidZ},
      {"%nclusterid.x", SR_ClustersX},
      {"%nclusterid.y", SR_NctaidY},
      {"%nclusterid.z", SR_NctaidZ},
      {"%cluster_ctaid.x", SR_InCluster},
      {"%cluster_ctaid.y", SR_Zero},
      {"%cluster_ctaid.z", SR_Zero},
      {"%cluster_nctaid.x", SR_OfCluster},
      {"%cluster_nctaid.y", SR_One},
      {"%cluster_nctaid.z", SR_One},
      {"%cluster_ctarank", SR_InCluster},
      {"%cluster_nctarank", SR_OfCluster},
  };
  if (name == "WARP_SZ")
    return constant(32);
  auto found = registers.find(name);
  if (found == registers.end())
    fail("'" + name + "' is not declared");
  int32_t slot = temporary();
  emit(executeSpecial, slot).imm = found->second;
  return slot;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

Inst &Decoder::emit(Exec exec, int32_t d, int32_t a, int32_t b, int32_t c) {
  Inst inst;
  inst.exec = exec;
  inst.d = d;
  inst.a = a;
  inst.b = b;
  inst.c = c;
  inst.line = statement ? statement->line : from.line;
  code.insts.push_back(inst);
  code.texts.push_back(statement ? statement->name : "ret");
  return code.insts.back();
}

Inst &Decoder::emitMemory(Exec exec, int32_t d, int32_t a, int32_t b,
                          int32_t c) {
  Inst &inst = emit(exec, d, a, b, c);
  inst.cache = program.memoryInsts++;
  return inst;
}

const int32_t *Decoder::list(std::vector<int32_t> slots) {
  return code.lists.emplace_back(std::move(slots)).data();
}

void Decoder::branch(const Operand &label) {
  jumps.push_back({code.insts.size() - 1, label.name, scope, statement->line});
}

void Decoder::branchTable(const std::string &name) {
  tables.push_back({code.insts.size() - 1, name, scope, statement->line});
}

uint32_t Decoder::frameBytes(uint64_t bytes, unsigned align) {
  if (bytes > kMaxFrameBytes || code.localBytes + bytes > kMaxFrameBytes)
    fail("more than 512 KiB of local memory");
  uint32_t offset = roundUp(code.localBytes, std::max(align, 1u));
  code.localBytes = offset + bytes;
  return offset;
}

void Decoder::declare(const ptx::Variable &variable) {
  Symbol symbol;
  symbol.type = variable.type;
  symbol.bytes = variable.bytes();
  if (variable.space == Space::Local || variable.space == Space::Param) {
    symbol.kind = Symbol::Frame;
    symbol.value = frameBytes(variable.bytes(), variable.align);
  } else {
    // The module's tables have it under the name of the function.
    auto found = globals.find(from.name + "::" + variable.name);
    if (found == globals.end())
      fail("variable '" + variable.name + "' in a function");
    symbol = found->second;
  }
  scopes[scope].symbols[variable.name] = symbol;
}

void Decoder::declareParams() {
  for (const ptx::Variable &param : from.params) {
    Symbol symbol;
    symbol.type = param.type;
    symbol.bytes = param.bytes();
    if (code.isEntry) {
      if (param.bytes() > kMaxParamBytes ||
          code.paramBytes + param.bytes() > kMaxParamBytes)
        fail("more than 32764 bytes of parameters");
      symbol.kind = Symbol::Param;
      symbol.value = roundUp(code.paramBytes, std::max(param.align, 1u));
      code.paramBytes = symbol.value + param.bytes();
    } else {
      symbol.kind = Symbol::Frame;
      symbol.value = frameBytes(param.bytes(), param.align);
    }
    code.params.push_back({static_cast<uint32_t>(symbol.value), symbol.bytes});
    scopes[0].symbols[param.name] = symbol;
  }
  for (const ptx::Variable &value : from.results) {
    Symbol symbol{Symbol::Frame, value.type};
    symbol.bytes = value.bytes();
    symbol.value = frameBytes(value.bytes(), value.align);
    code.results.push_back({static_cast<uint32_t>(symbol.value), symbol.bytes});
    scopes[0].symbols[value.name] = symbol;
  }
}

void Decoder::declareRegisters(const Statement &declaration) {
  if (declaration.count >= 0) {
    scopes[scope].ranges[declaration.name] = {declaration.type,
                                              declaration.count};
    return;
  }
  Symbol symbol{Symbol::Register, declaration.type};
  symbol.value = temporary(symbol.type == Type::B128 ? 2 : 1);
  scopes[scope].symbols[declaration.name] = symbol;
}

void Decoder::decodeInstruction() {
  modifiers.clear();
  const std::string &name = statement->name;
  size_t dot = name.find('.');
  std::string root = name.substr(0, dot);
  while (dot != std::string::npos) {
    size_t next = name.find('.', dot + 1);
    modifiers.push_back(name.substr(dot + 1, next - dot - 1));
    dot = next;
  }
  auto found = instructionTable().find(root);
  if (found == instructionTable().end())
    fail("unknown instruction");
  size_t first = code.insts.size();
  found->second(*this);
  if (!modifiers.empty())
    fail("unknown modifier '." + modifiers.front() + "'");
  if (statement->guard.empty())
    return;
  int32_t guard = predicate(statement->guard);
  for (size_t i = first; i != code.insts.size(); ++i) {
    // What the instruction's decoder made of several may have own guards.
    code.insts[i].guard = guard;
    code.insts[i].guardNegated = statement->guardNegated;
  }
}

static const Inst *executeReturnAtEnd(const Inst *I, uint64_t *, Thread &T) {
  return T.fault(I, CUDA_ERROR_INVALID_PC, "the function ends without ret");
}

void Decoder::run() {
  newSlot(0); // the frame's local memory
  declareParams();
  for (const Statement &next : from.body) {
    statement = &next;
    switch (next.kind) {
    case Statement::Instruction:
      decodeInstruction();
      break;
    case Statement::Label:
      if (!scopes[scope].labels.emplace(next.name, code.insts.size()).second)
        fail("label '" + next.name + "' twice");
      break;
    case Statement::Open:
      scopes.push_back({scope, {}, {}, {}, {}});
      scope = scopes.size() - 1;
      break;
    case Statement::Close:
      scope = scopes[scope].parent;
      break;
    case Statement::Registers:
      declareRegisters(next);
      break;
    case Statement::Declare:
      declare(next.variable);
      break;
    case Statement::Targets:
      scopes[scope].targets[next.name] = next.operands;
      break;
    case Statement::Prototype:
      break;
    }
  }
  statement = nullptr;
  emit(executeReturnAtEnd);
  resolve();
}

size_t Decoder::findLabel(const std::string &name, int within,
                          unsigned line) const {
  for (; within >= 0; within = scopes[within].parent) {
    auto found = scopes[within].labels.find(name);
    if (found != scopes[within].labels.end())
      return found->second;
  }
  throw PtxError(line, "function '" + from.name + "': label '" + name +
                           "' is not there");
}

void Decoder::resolve() {
  for (const Jump &jump : jumps)
    code.insts[jump.inst].target =
        code.insts.data() + findLabel(jump.label, jump.scope, jump.line);
  for (const Table &table : tables) {
    const std::vector<Operand> *labels = nullptr;
    for (int i = table.scope; i >= 0 && !labels; i = scopes[i].parent)
      if (auto found = scopes[i].targets.find(table.name);
          found != scopes[i].targets.end())
        labels = &found->second;
    if (!labels)
      throw PtxError(table.line,
                     "there are no branch targets '" + table.name + "'");
    auto &targets = code.tables.emplace_back();
    for (const Operand &label : *labels)
      targets.push_back(code.insts.data() +
                        findLabel(label.name, table.scope, table.line));
    code.insts[table.inst].imm = reinterpret_cast<uint64_t>(&targets);
  }
}
