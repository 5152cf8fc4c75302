//===- Program.cpp - The layout of a module -------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decode.h"

#include <algorithm>
#include <functional>
#include <set>

using namespace fakecuda;
using ptx::Operand;
using ptx::Statement;
using ptx::Variable;

static uint64_t roundUp(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

namespace {

/// Gives the variables and functions of a module their addresses and decodes.
class Loader {
public:
  Loader(const ptx::Module &module, Memory &memory)
      : module(module), memory(memory), program(new Program) {}
  ~Loader() {
    if (!program) // Handed over.
      return;
    for (auto &[name, block] : program->variables)
      memory.free(block.begin);
  }

  std::unique_ptr<Program> run();

private:
  void declareFunctions();
  void collectVariables();
  void collectUses();
  void layOutShared();
  void allocateGlobals();
  void initialize(const Variable &variable, const Block &block);
  uint64_t valueOf(const Variable &variable, const Variable::Element &element);

  const ptx::Module &module;
  Memory &memory;
  std::unique_ptr<Program> program;
  Decoder::Symbols symbols;
  /// By the names of `symbols`: those of functions with the function before.
  std::vector<std::pair<std::string, const Variable *>> variables;
  std::map<std::string, std::set<std::string>> uses; ///< of each function
};

} // namespace

void Loader::declareFunctions() {
  for (const ptx::Function &function : module.functions) {
    if (!function.hasBody) {
      // A declaration: what it names is elsewhere in the module, or built in.
      if (!program->find(function.name) && findBuiltin(function.name)) {
        auto code = std::make_unique<Code>();
        code->name = function.name;
        for (const Variable &param : function.params) {
          code->localBytes = roundUp(code->localBytes, param.align);
          code->params.push_back({code->localBytes, uint32_t(param.bytes())});
          code->localBytes += param.bytes();
        }
        for (const Variable &value : function.results) {
          code->localBytes = roundUp(code->localBytes, value.align);
          code->results.push_back({code->localBytes, uint32_t(value.bytes())});
          code->localBytes += value.bytes();
        }
        code->frame.push_back(0);
        Inst inst;
        inst.exec = findBuiltin(function.name);
        code->insts.push_back(inst);
        program->functions[function.name] = std::move(code);
      }
      continue;
    }
    auto &code = program->functions[function.name];
    if (code)
      throw PtxError(function.line,
                     "function '" + function.name + "' is defined twice");
    code = std::make_unique<Code>();
    code->name = function.name;
    code->isEntry = function.isEntry;
    const unsigned *most = function.maxThreads,
                   *wanted = function.requiredThreads;
    if (most[0])
      code->maxThreads = std::min(1024u, most[0] * most[1] * most[2]);
    for (unsigned i = 0; i != 3; ++i)
      code->requiredThreads[i] = wanted[i];
  }
  for (auto &[name, code] : program->functions) {
    Symbol symbol{Symbol::Function, Type::B64};
    symbol.code = code.get();
    symbol.value = kFunctionTag << 48 | (program->byNumber.size() + 1) * 16;
    program->byNumber.push_back(code.get());
    symbols[name] = symbol;
  }
}

void Loader::collectVariables() {
  for (const Variable &variable : module.variables)
    variables.emplace_back(variable.name, &variable);
  for (const ptx::Function &function : module.functions)
    for (const Statement &statement : function.body)
      if (statement.kind == Statement::Declare &&
          statement.variable.space != Space::Local &&
          statement.variable.space != Space::Param)
        variables.emplace_back(function.name + "::" + statement.variable.name,
                               &statement.variable);
}

/// Which functions and variables each function names, also through others.
void Loader::collectUses() {
  std::set<std::string> names;
  for (const auto &[name, variable] : variables)
    names.insert(name);
  for (const auto &[name, code] : program->functions)
    names.insert(name);
  for (const ptx::Function &function : module.functions) {
    std::set<std::string> &used = uses[function.name];
    std::function<void(const Operand &)> visit = [&](const Operand &operand) {
      if (operand.kind == Operand::Name) {
        if (names.count(operand.name))
          used.insert(operand.name);
        if (std::string own = function.name + "::" + operand.name;
            names.count(own))
          used.insert(own);
      }
      for (const Operand &item : operand.items)
        visit(item);
    };
    for (const Statement &statement : function.body)
      for (const Operand &operand : statement.operands)
        visit(operand);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[name, used] : uses) {
      std::set<std::string> all = used;
      for (const std::string &other : used)
        if (auto found = uses.find(other); found != uses.end())
          all.insert(found->second.begin(), found->second.end());
      changed |= all.size() != used.size();
      used = std::move(all);
    }
  }
}

/// Kernels that share no variable reuse the same addresses. What is `.extern`
/// begins where the static memory of all of its users ends.
void Loader::layOutShared() {
  std::map<std::string, uint64_t> ends;
  for (bool wantsDynamic : {false, true})
    for (const auto &[name, variable] : variables) {
      bool isDynamic = variable->count == 0;
      if (variable->space != Space::Shared || isDynamic != wantsDynamic)
        continue;
      if (!variable->init.empty())
        throw PtxError(variable->line, "'.shared " + variable->name +
                                           "' with an initial value");
      uint64_t offset = 0;
      for (const auto &[function, used] : uses)
        if (used.count(name))
          offset = std::max(offset, ends[function]);
      offset = roundUp(offset, std::max(variable->align, 1u));
      for (const auto &[function, used] : uses)
        if (used.count(name))
          ends[function] = offset + variable->bytes();
      Symbol symbol{Symbol::Shared, variable->type};
      symbol.value = kFirstShared + offset;
      symbols[name] = symbol;
    }
  for (auto &[name, code] : program->functions) {
    if (code->isEntry && ends[name] > (48 << 10))
      throw PtxError(1, "kernel '" + name + "' has " +
                            std::to_string(ends[name]) +
                            " bytes of shared memory, more than 48 KiB");
    code->sharedBytes = ends[name];
  }
}

void Loader::allocateGlobals() {
  std::set<std::string> defined;
  for (const auto &[name, variable] : variables)
    if (!variable->isExternal)
      defined.insert(name);
  for (const auto &[name, variable] : variables) {
    if (variable->space == Space::Shared)
      continue;
    if (variable->isExternal) {
      if (!defined.count(name))
        throw PtxError(variable->line,
                       "'" + name + "' is external and nowhere defined");
      continue;
    }
    if (symbols.count(name))
      throw PtxError(variable->line, "'" + name + "' is defined twice");
    uint64_t bytes = std::max<uint64_t>(variable->bytes(), 1);
    Block *block = memory.allocate(bytes, variable->isManaged ? Block::Managed
                                                              : Block::Global);
    if (!block)
      throw PtxError(variable->line, "no memory for '" + name + "'");
    Symbol symbol{Symbol::Global, variable->type};
    symbol.value = block->begin;
    symbols[name] = symbol;
    program->variables[name] = *block;
  }
  for (const auto &[name, variable] : variables)
    if (auto found = program->variables.find(name);
        found != program->variables.end() && !variable->isExternal)
      initialize(*variable, found->second);
}

uint64_t Loader::valueOf(const Variable &variable,
                         const Variable::Element &element) {
  if (element.symbol.empty())
    return element.bits;
  auto found = symbols.find(element.symbol);
  if (found == symbols.end())
    throw PtxError(variable.line, "'" + element.symbol + "' is not declared");
  uint64_t value = found->second.value + element.bits;
  if (element.isGeneric && found->second.kind == Symbol::Shared)
    value |= kSharedTag << 48;
  if (element.mask) { // One byte of it.
    unsigned shift = __builtin_ctzll(element.mask) / 8 * 8;
    value = (value & element.mask) >> shift;
  }
  return value;
}

void Loader::initialize(const Variable &variable, const Block &block) {
  uint8_t *to = block.host(block.begin);
  std::memset(to, 0, block.end - block.begin); // as the language has it
  unsigned size = sizeOf(variable.type);
  for (const Variable::Element &element : variable.init) {
    uint64_t value = valueOf(variable, element);
    if (size > 8)
      throw PtxError(variable.line, "an initial value of 128 bits");
    std::memcpy(to, &value, size);
    to += size;
  }
}

std::unique_ptr<Program> Loader::run() {
  program->target = module.target;
  declareFunctions();
  collectVariables();
  collectUses();
  layOutShared();
  allocateGlobals();
  for (const ptx::Function &function : module.functions)
    if (function.hasBody)
      Decoder(*program, symbols, function, *program->functions[function.name])
          .run();
  return std::move(program);
}

std::unique_ptr<Program> fakecuda::decode(const ptx::Module &module,
                                          Memory &memory) {
  return Loader(module, memory).run();
}
