//===- Control.cpp - Moves, comparisons, branches and calls ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Api.h"
#include "Driver.h"
#include "Float.h"

#include <algorithm>
#include <cstdio>

using namespace fakecuda;
using ptx::Operand;

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

template <typename T>
static const Inst *executeMove(const Inst *I, uint64_t *R, Thread &) {
  set<T>(R[I->d], get<T>(R[I->a]));
  return I + 1;
}

static const Inst *executeMove128(const Inst *I, uint64_t *R, Thread &) {
  uint64_t low = R[I->a], high = R[I->a + 1];
  R[I->d] = low;
  R[I->d + 1] = high;
  return I + 1;
}

static Exec pickMove(Type type) {
  switch (sizeOf(type)) {
  case 1:
    return type == Type::Pred ? &executeMove<uint64_t> : &executeMove<uint8_t>;
  case 2:
    return &executeMove<uint16_t>;
  case 4:
    return &executeMove<uint32_t>;
  case 8:
    return &executeMove<uint64_t>;
  default:
    return &executeMove128;
  }
}

/// mov.b64 d, {a, b, ...}: each of I->imm bits, the first one lowest.
static const Inst *executePackMove(const Inst *I, uint64_t *R, Thread &) {
  uint64_t result[2] = {0, 0},
           mask = I->imm == 64 ? ~uint64_t(0) : (uint64_t(1) << I->imm) - 1;
  for (unsigned i = 0, bit = 0; i != I->lanes; ++i, bit += I->imm)
    result[bit / 64] |= (R[I->list[i]] & mask) << bit % 64;
  R[I->d] = result[0];
  if (I->flags) // 128 bits
    R[I->d + 1] = result[1];
  return I + 1;
}

static const Inst *executeUnpackMove(const Inst *I, uint64_t *R, Thread &) {
  uint64_t from[2] = {R[I->a], I->flags ? R[I->a + 1] : 0};
  uint64_t mask = I->imm == 64 ? ~uint64_t(0) : (uint64_t(1) << I->imm) - 1;
  for (unsigned i = 0, bit = 0; i != I->lanes; ++i, bit += I->imm)
    R[I->list[i]] = from[bit / 64] >> bit % 64 & mask;
  return I + 1;
}

static Type bitsOf(unsigned bits) {
  switch (bits) {
  case 8:
    return Type::B8;
  case 16:
    return Type::B16;
  case 32:
    return Type::B32;
  default:
    return Type::B64;
  }
}

static void decodeMove(Decoder &D) {
  Type type = D.takeType();
  D.expectOperands(2);
  const Operand &to = D.operand(0), &from = D.operand(1);
  bool packs = from.kind == Operand::Vector;
  if (!packs && to.kind != Operand::Vector) {
    int32_t a = D.source(from, type);
    D.emit(pickMove(type), D.result(to), a);
    return;
  }
  const std::vector<Operand> &items = packs ? from.items : to.items;
  unsigned bits = sizeOf(type) * 8 / items.size();
  std::vector<int32_t> slots;
  for (const Operand &item : items)
    slots.push_back(packs ? D.source(item, bitsOf(bits)) : D.result(item));
  const int32_t *list = D.list(std::move(slots));
  Inst &inst = packs ? D.emit(executePackMove, D.result(to))
                     : D.emit(executeUnpackMove, 0, D.source(from, type));
  inst.list = list;
  inst.lanes = items.size();
  inst.imm = bits;
  inst.flags = type == Type::B128;
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

namespace {

enum Comparison {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan
};

/// What the booleans of a comparison are combined with; and what is stored.
enum : uint16_t { kAnd = 1, kOr = 2, kXor = 3, kNegated = 4, kFtz = 8 };

template <int C, typename T> bool compare(T a, T b) {
  if constexpr (C == Eq)
    return a == b;
  else if constexpr (C == Ne)
    return a < b || a > b;
  else if constexpr (C == Lt)
    return a < b;
  else if constexpr (C == Le)
    return a <= b;
  else if constexpr (C == Gt)
    return a > b;
  else if constexpr (C == Ge)
    return a >= b;
  else if constexpr (C == Equ)
    return !(a < b || a > b);
  else if constexpr (C == Neu)
    return a != b;
  else if constexpr (C == Ltu)
    return !(a >= b);
  else if constexpr (C == Leu)
    return !(a > b);
  else if constexpr (C == Gtu)
    return !(a <= b);
  else if constexpr (C == Geu)
    return !(a < b);
  else if constexpr (C == Num)
    return a == a && b == b;
  else
    return a != a || b != b;
}

bool combine(const Inst *I, uint64_t *R, bool value) {
  bool other = isTrue(R[I->c]) != bool(I->flags & kNegated);
  switch (I->flags & 3) {
  case kAnd:
    return value && other;
  case kOr:
    return value || other;
  case kXor:
    return value != other;
  default:
    return value;
  }
}

template <int C, typename T>
const Inst *executeCompare(const Inst *I, uint64_t *R, Thread &) {
  R[I->d] = compare<C>(get<T>(R[I->a]), get<T>(R[I->b]));
  return I + 1;
}

/// With all that setp and set can have. I->imm is what true is stored as.
template <int C, typename T>
const Inst *executeCompareGeneral(const Inst *I, uint64_t *R, Thread &) {
  T a = get<T>(R[I->a]), b = get<T>(R[I->b]);
  if constexpr (std::is_floating_point_v<T>)
    if (I->flags & kFtz) {
      a = flush(a);
      b = flush(b);
    }
  bool value = compare<C>(a, b);
  bool first = combine(I, R, value), second = combine(I, R, !value);
  R[I->d] = first ? I->imm : 0;
  R[I->e] = second ? I->imm : 0;
  return I + 1;
}

/// f16, bf16 and pairs of them: I->list are the types and results.
template <int C>
const Inst *executeCompareSmall(const Inst *I, uint64_t *R, Thread &) {
  Format format = I->lanes & 1 ? kHalf : kBrain;
  bool isPair = I->lanes & 2;
  auto lane = [&](unsigned shift) {
    return compare<C>(decodeFloat(R[I->a] >> shift & 0xFFFF, format),
                      decodeFloat(R[I->b] >> shift & 0xFFFF, format));
  };
  bool low = lane(0), high = isPair ? lane(16) : !low;
  uint64_t first = combine(I, R, low) ? I->imm : 0;
  uint64_t second = combine(I, R, high) ? I->imm : 0;
  if (I->lanes & 4) { // set: both in one register
    R[I->d] = isPair ? (first & 0xFFFF) | (second & 0xFFFF) << 16 : first;
  } else {
    R[I->d] = first;
    R[I->e] = second;
  }
  return I + 1;
}

template <int C> Exec pickCompare(Type type, bool general) {
#define PICK(T) general ? &executeCompareGeneral<C, T> : &executeCompare<C, T>
  switch (type) {
  case Type::F32:
    return PICK(float);
  case Type::F64:
    return PICK(double);
  case Type::F16:
  case Type::F16x2:
  case Type::BF16:
  case Type::BF16x2:
    return &executeCompareSmall<C>;
  default:
    break;
  }
  if constexpr (C <= Ge) {
    switch (type) {
    case Type::U16:
    case Type::B16:
      return PICK(uint16_t);
    case Type::U32:
    case Type::B32:
      return PICK(uint32_t);
    case Type::U64:
    case Type::B64:
      return PICK(uint64_t);
    case Type::S16:
      return PICK(int16_t);
    case Type::S32:
      return PICK(int32_t);
    case Type::S64:
      return PICK(int64_t);
    default:
      break;
    }
  }
#undef PICK
  return nullptr;
}

template <int... Cs>
Exec pickCompare(int comparison, Type type, bool general,
                 std::integer_sequence<int, Cs...>) {
  Exec result = nullptr;
  ((comparison == Cs ? void(result = pickCompare<Cs>(type, general)) : void()),
   ...);
  return result;
}

int takeComparison(Decoder &D) {
  static const char *const names[] = {"eq",  "ne",  "lt",  "le",  "gt",
                                      "ge",  "equ", "neu", "ltu", "leu",
                                      "gtu", "geu", "num", "nan"};
  std::string name = D.takeAny();
  for (int i = 0; i != 14; ++i)
    if (name == names[i])
      return i;
  // Unsigned orders of integers.
  if (name == "lo")
    return Lt;
  if (name == "ls")
    return Le;
  if (name == "hi")
    return Gt;
  if (name == "hs")
    return Ge;
  D.fail("unknown comparison '" + name + "'");
}

uint16_t takeCombination(Decoder &D) {
  return D.take("and") ? kAnd : D.take("or") ? kOr : D.take("xor") ? kXor : 0;
}

bool isSmallFloat(Type type) {
  return type == Type::F16 || type == Type::F16x2 || type == Type::BF16 ||
         type == Type::BF16x2;
}

uint8_t smallKind(Type type) {
  bool half = type == Type::F16 || type == Type::F16x2;
  bool pair = type == Type::F16x2 || type == Type::BF16x2;
  return half | pair << 1;
}

} // namespace

/// setp and set: `imm` is what true is stored as; 0 for setp.
static void decodeComparison(Decoder &D, bool isSet) {
  int comparison = takeComparison(D);
  uint16_t flags = takeCombination(D);
  if (D.take("ftz"))
    flags |= kFtz;
  Type to = isSet ? D.takeType() : Type::Pred;
  Type type = D.takeType();
  D.expectOperands(3, 4);
  if ((D.operands().size() == 4) != bool(flags & 3))
    D.fail("the predicate to combine with");
  bool isPair = D.operand(0).kind == Operand::Pair;
  bool isSmall = isSmallFloat(type);
  bool general = flags || isSet || isPair || isSmall;
  Exec exec = pickCompare(comparison, type, general,
                          std::make_integer_sequence<int, 14>());
  if (!exec)
    D.fail("the type is not supported");
  int32_t a = D.source(1, type), b = D.source(2, type), c = 0;
  if (flags & 3) {
    c = D.source(3, Type::Pred);
    flags |= D.operand(3).negated ? kNegated : 0;
  }
  int32_t d = isPair ? D.result(D.operand(0).items[0]) : D.result(0u);
  int32_t e = isPair    ? D.result(D.operand(0).items[1])
              : general ? D.temporary()
                        : 0;
  Inst &inst = D.emit(exec, d, a, b, c);
  inst.e = e;
  inst.flags = flags;
  inst.lanes = isSmall ? smallKind(type) | isSet << 2 : 1;
  inst.imm = 1;
  if (!isSet)
    return;
  switch (to) {
  case Type::F32:
    inst.imm = 0x3F800000;
    break;
  case Type::F16:
  case Type::F16x2:
    inst.imm = 0x3C00;
    break;
  case Type::BF16:
  case Type::BF16x2:
    inst.imm = 0x3F80;
    break;
  default:
    inst.imm = sizeOf(to) == 2 ? 0xFFFF : 0xFFFFFFFF;
  }
}

static void decodeSetp(Decoder &D) { decodeComparison(D, false); }
static void decodeSet(Decoder &D) { decodeComparison(D, true); }

static const Inst *executeSelect(const Inst *I, uint64_t *R, Thread &) {
  R[I->d] = R[(isTrue(R[I->c]) != bool(I->flags)) ? I->a : I->b];
  return I + 1;
}

static void decodeSelect(Decoder &D) {
  Type type = D.takeType();
  D.expectOperands(4);
  int32_t d = D.result(0u), a = D.source(1, type), b = D.source(2, type);
  int32_t c = D.source(3, Type::Pred);
  D.emit(executeSelect, d, a, b, c).flags = D.operand(3).negated;
}

static const Inst *executeSlct(const Inst *I, uint64_t *R, Thread &) {
  bool first = I->flags ? get<float>(R[I->c]) >= 0 : get<int32_t>(R[I->c]) >= 0;
  R[I->d] = R[first ? I->a : I->b];
  return I + 1;
}

static void decodeSlct(Decoder &D) {
  D.take("ftz");
  Type type = D.takeType(), selector = D.takeType();
  D.expectOperands(4);
  int32_t d = D.result(0u), a = D.source(1, type), b = D.source(2, type);
  int32_t c = D.source(3, selector);
  D.emit(executeSlct, d, a, b, c).flags = selector == Type::F32;
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

static const Inst *executeBranch(const Inst *I, uint64_t *, Thread &) {
  return I->target;
}

static void decodeBranch(Decoder &D) {
  D.take("uni");
  D.expectOperands(1);
  D.emit(executeBranch);
  D.branch(D.operand(0));
}

static const Inst *executeBranchTable(const Inst *I, uint64_t *R, Thread &T) {
  const auto &targets =
      *reinterpret_cast<const std::vector<const Inst *> *>(I->imm);
  uint32_t index = R[I->a];
  if (index >= targets.size())
    return T.fault(I, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                   "branch to target " + std::to_string(index) + " of " +
                       std::to_string(targets.size()));
  return targets[index];
}

static void decodeBranchTable(Decoder &D) {
  D.take("uni");
  if (!D.take("idx"))
    D.fail("only brx.idx is supported");
  D.expectOperands(2);
  D.emit(executeBranchTable, 0, D.source(0, Type::U32));
  D.branchTable(D.operand(1).name);
}

static const Inst *executeExit(const Inst *, uint64_t *, Thread &T) {
  T.end();
  return nullptr;
}

static void decodeExit(Decoder &D) {
  D.expectOperands(0);
  D.emit(executeExit);
}

static const Inst *executeTrap(const Inst *I, uint64_t *, Thread &T) {
  return T.fault(I, CUDA_ERROR_LAUNCH_FAILED, "trap");
}

static void decodeTrap(Decoder &D) {
  D.expectOperands(0);
  D.emit(executeTrap);
}

static const Inst *executeNothing(const Inst *I, uint64_t *, Thread &) {
  return I + 1;
}

static const Inst *executeYield(const Inst *I, uint64_t *, Thread &T) {
  return T.yield(I + 1);
}

static void decodeNanosleep(Decoder &D) {
  D.takeType();
  D.expectOperands(1);
  D.emit(executeYield, 0, D.source(0, Type::U32));
}

/// Instructions that change nothing that a program can see.
static void decodeHint(Decoder &D) {
  while (!D.nextModifier().empty())
    D.takeAny();
  D.emit(executeNothing);
}

//===----------------------------------------------------------------------===//
// The stack
//===----------------------------------------------------------------------===//

/// alloca: bytes of local memory until the function returns.
static const Inst *executeAlloca(const Inst *I, uint64_t *R, Thread &T) {
  uint64_t begin = (T.local.size() + I->imm - 1) / I->imm * I->imm;
  uint64_t bytes = R[I->a];
  if (bytes > (1 << 24) || begin + bytes > (1 << 24))
    return T.fault(I, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "the stack is full");
  T.local.resize((begin + bytes + 15) / 16 * 16, kPoison);
  R[I->d] = begin + kFirstLocal;
  return I + 1;
}

static void decodeAlloca(Decoder &D) {
  Type type = D.takeType();
  D.expectOperands(2, 3);
  uint64_t align = D.operands().size() == 3 ? D.literal(2) : 8;
  int32_t d = D.result(0u);
  D.emit(executeAlloca, d, D.source(1, type)).imm =
      std::max<uint64_t>(align, 1);
}

static const Inst *executeStackSave(const Inst *I, uint64_t *R, Thread &T) {
  R[I->d] = T.local.size();
  return I + 1;
}

static void decodeStackSave(Decoder &D) {
  D.takeType();
  D.expectOperands(1);
  D.emit(executeStackSave, D.result(0u));
}

static const Inst *executeStackRestore(const Inst *I, uint64_t *R, Thread &T) {
  if (R[I->a] <= T.local.size())
    T.local.resize(R[I->a]);
  return I + 1;
}

static void decodeStackRestore(Decoder &D) {
  Type type = D.takeType();
  D.expectOperands(1);
  D.emit(executeStackRestore, 0, D.source(0, type));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The caller's local memory may move: arguments are copied by offset.
/// I->list: offsets of the arguments in the caller's frame, then of the
/// results.
static const Inst *call(const Inst *I, Thread &T, const Code *callee) {
  if (T.frames.size() > 1000)
    return T.fault(I, CUDA_ERROR_LAUNCH_FAILED, "calls are nested too deeply");
  if (callee->params.size() + callee->results.size() != size_t(I->imm))
    return T.fault(I, CUDA_ERROR_LAUNCH_FAILED,
                   "call of '" + callee->name + "' with other arguments");
  uint32_t caller = T.frameLocal - kFirstLocal;
  T.frames.push_back({I, T.code, T.frameSlots, T.frameLocal});
  const Inst *first = T.enter(*callee);
  uint32_t own = T.frameLocal - kFirstLocal;
  for (size_t i = 0; i != callee->params.size(); ++i)
    std::memcpy(T.local.data() + own + callee->params[i].offset,
                T.local.data() + caller + I->list[i], callee->params[i].bytes);
  return first;
}

static const Inst *executeReturn(const Inst *, uint64_t *, Thread &T) {
  if (T.frames.empty()) {
    T.end();
    return nullptr;
  }
  Frame frame = T.frames.back();
  T.frames.pop_back();
  const Code *callee = T.code;
  uint32_t own = T.frameLocal - kFirstLocal, caller = frame.local - kFirstLocal;
  const int32_t *to = frame.call->list + callee->params.size();
  for (size_t i = 0; i != callee->results.size(); ++i)
    std::memcpy(T.local.data() + caller + to[i],
                T.local.data() + own + callee->results[i].offset,
                callee->results[i].bytes);
  T.local.resize(own);
  T.slots.resize(T.frameSlots);
  T.code = frame.code;
  T.frameSlots = frame.slots;
  T.frameLocal = frame.local;
  T.R = T.slots.data() + T.frameSlots;
  return frame.call + 1;
}

static void decodeReturn(Decoder &D) {
  D.take("uni");
  D.expectOperands(0);
  D.emit(executeReturn);
}

static const Inst *executeCall(const Inst *I, uint64_t *, Thread &T) {
  return call(I, T, I->callee);
}

static const Inst *executeCallIndirect(const Inst *I, uint64_t *R, Thread &T) {
  uint64_t address = R[I->a];
  uint64_t number = (address & 0xFFFFFFFFFFFF) / 16;
  const auto &functions = *T.launch->functions;
  if (address >> 48 != kFunctionTag || address & 15 || number == 0 ||
      number > functions.size())
    return T.fault(I, CUDA_ERROR_INVALID_PC, "call of what is no function");
  return call(I, T, functions[number - 1]);
}

static void decodeCall(Decoder &D) {
  D.take("uni");
  D.expectOperands(1, 4);
  unsigned at = 0;
  static const Operand none;
  const Operand *results = &none, *arguments = &none;
  if (D.operand(0).kind == Operand::List)
    results = &D.operand(at++);
  const Operand &callee = D.operand(at++);
  if (at < D.operands().size() && D.operand(at).kind == Operand::List)
    arguments = &D.operand(at++);
  std::vector<int32_t> offsets;
  std::vector<uint32_t> sizes;
  for (const Operand *operands : {arguments, results})
    for (const Operand &operand : operands->items) {
      Symbol symbol = D.lookup(operand.name);
      if (symbol.kind != Symbol::Frame)
        D.fail("arguments and results have to be .param variables");
      offsets.push_back(symbol.value);
      sizes.push_back(symbol.bytes);
    }
  size_t count = offsets.size();
  const int32_t *list = D.list(std::move(offsets));
  Symbol symbol = D.lookup(callee.name);
  if (symbol.kind == Symbol::None)
    D.fail("function '" + callee.name + "' is not there");
  bool isDirect = symbol.kind == Symbol::Function;
  Inst &inst = D.emit(isDirect ? executeCall : executeCallIndirect, 0,
                      isDirect ? 0 : D.source(callee, Type::B64));
  inst.callee = symbol.code;
  inst.list = list;
  inst.imm = count;
}

//===----------------------------------------------------------------------===//
// Functions that every module has
//===----------------------------------------------------------------------===//

/// The value of an argument.
static uint64_t argument(Thread &T, unsigned index) {
  uint64_t value = 0;
  const ParamPlace &place = T.code->params[index];
  std::memcpy(&value,
              T.local.data() + T.frameLocal - kFirstLocal + place.offset,
              std::min(place.bytes, 8u));
  return value;
}

/// A string in the memory of the device.
static std::string stringAt(Thread &T, uint64_t address) {
  std::string result;
  Inst none;
  for (; result.size() < 4096; ++address) {
    const uint8_t *byte = genericBytes(&none, T, address, 1);
    if (!byte || !*byte)
      break;
    result += static_cast<char>(*byte);
  }
  return result;
}

/// __assertfail(message, file, line, function, size of a character)
static const Inst *executeAssertFail(const Inst *I, uint64_t *, Thread &T) {
  std::string text = stringAt(T, argument(T, 1)) + ":" +
                     std::to_string(uint32_t(argument(T, 2))) + ": " +
                     stringAt(T, argument(T, 3)) + ": assertion '" +
                     stringAt(T, argument(T, 0)) + "' failed";
  return T.fault(I, CUDA_ERROR_ASSERT, text);
}

/// vprintf(format, arguments): integers, floating point, strings, pointers.
static const Inst *executePrintf(const Inst *I, uint64_t *R, Thread &T) {
  std::string format = stringAt(T, argument(T, 0)), text;
  uint64_t at = argument(T, 1);
  Inst none;
  for (size_t i = 0; i < format.size(); ++i) {
    size_t end = format.find_first_of("diouxXeEfFgGaAcsp%", i + 1);
    if (format[i] != '%' || end == std::string::npos) {
      text += format[i];
      continue;
    }
    std::string directive = format.substr(i, end - i + 1);
    char kind = format[i = end];
    if (kind == '%') {
      text += '%';
      continue;
    }
    bool isWide = std::strchr("eEfFgGaAsp", kind) ||
                  directive.find('l') != std::string::npos;
    unsigned bytes = isWide ? 8 : 4;
    at = (at + bytes - 1) / bytes * bytes;
    const uint8_t *from = genericBytes(&none, T, at, bytes);
    if (!from)
      return T.addressFault(I, at, bytes, false);
    uint64_t bits = 0;
    std::memcpy(&bits, from, bytes);
    at += bytes;
    char buffer[512];
    if (kind == 's')
      std::snprintf(buffer, sizeof buffer, directive.c_str(),
                    stringAt(T, bits).c_str());
    else if (std::strchr("eEfFgGaA", kind))
      std::snprintf(buffer, sizeof buffer, directive.c_str(),
                    get<double>(bits));
    else if (isWide)
      std::snprintf(buffer, sizeof buffer, directive.c_str(), bits);
    else
      std::snprintf(buffer, sizeof buffer, directive.c_str(), uint32_t(bits));
    text += buffer;
  }
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  return executeReturn(I, R, T);
}

/// cudaGraphSetConditional(handle, value), in a kernel of a graph.
static const Inst *executeSetConditional(const Inst *I, uint64_t *R,
                                         Thread &T) {
  uint64_t handle = argument(T, 0);
  std::map<uint64_t, uint32_t> *conditions = T.launch->conditions;
  if (!conditions)
    return T.fault(I, CUDA_ERROR_ILLEGAL_ADDRESS,
                   "cudaGraphSetConditional in a kernel of no graph");
  if (!T.launch->handles->count(handle))
    return T.fault(I, CUDA_ERROR_ILLEGAL_ADDRESS,
                   "cudaGraphSetConditional with a handle of another graph");
  std::pair<uint32_t, uint32_t> setter{T.group->linear, T.linear};
  if (T.launch->setters.try_emplace(handle, setter).first->second != setter)
    return T.fault(I, CUDA_ERROR_LAUNCH_FAILED,
                   "cudaGraphSetConditional by two threads, in no order");
  (*conditions)[handle] = uint32_t(argument(T, 1));
  T.launch->progressed = true;
  return executeReturn(I, R, T);
}

Exec fakecuda::findBuiltin(const std::string &name) {
  if (name == "__assertfail")
    return executeAssertFail;
  if (name == "cudaGraphSetConditional" &&
      Driver::get().settings.version >= kGraphVersion)
    return executeSetConditional;
  return name == "vprintf" ? executePrintf : nullptr;
}

void fakecuda::addControlInstructions(InstructionTable &table) {
  table["mov"] = decodeMove;
  table["setp"] = decodeSetp;
  table["set"] = decodeSet;
  table["selp"] = decodeSelect;
  table["slct"] = decodeSlct;
  table["bra"] = decodeBranch;
  table["brx"] = decodeBranchTable;
  table["exit"] = decodeExit;
  table["ret"] = decodeReturn;
  table["trap"] = decodeTrap;
  table["call"] = decodeCall;
  table["alloca"] = decodeAlloca;
  table["stacksave"] = decodeStackSave;
  table["stackrestore"] = decodeStackRestore;
  table["nanosleep"] = decodeNanosleep;
  for (const char *hint : {"prefetch", "prefetchu", "pmevent", "discard",
                           "applypriority", "griddepcontrol", "setmaxnreg"})
    table[hint] = decodeHint;
}
