//===- Matrices.cpp - ldmatrix, stmatrix and mma.sync ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Api.h"
#include "Decode.h"
#include "Float.h"

#include <algorithm>
#include <cmath>

using namespace fakecuda;
using ptx::Operand;

static const Inst *executeMeetAll(const Inst *I, uint64_t *, Thread &T) {
  return T.meet(I, 0xFFFFFFFF);
}

template <typename F> static void forLanes(uint32_t mask, F function) {
  for (unsigned i = 0; i != 32; ++i)
    if (mask >> i & 1)
      function(i);
}

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

namespace {
/// A row of eight elements of 16 bits.
constexpr unsigned kRowBytes = 16;
enum : uint16_t { kTransposed = 1, kGeneric = 2, kStores = 4 };
} // namespace

/// The row whose address the lane gave, or null after a fault.
static uint8_t *rowOf(Thread *T) {
  const Inst *I = T->waiting;
  uint64_t address = T->R[I->a] + I->imm;
  if (address % kRowBytes) {
    T->fault(I, CUDA_ERROR_MISALIGNED_ADDRESS, "a row of a matrix");
    return nullptr;
  }
  uint8_t *row = I->flags & kGeneric
                     ? genericBytes(I, *T, address, kRowBytes)
                     : sharedBytes(*T, address & 0xFFFFFFFF, kRowBytes);
  if (!row)
    T->addressFault(I, address, kRowBytes, I->flags & kStores);
  Races *races = T->launch->races.get();
  AccessKind kind{(I->flags & kStores) != 0, /*isShared=*/true};
  if (row && races && !races->note(I, *T, row, kRowBytes, kind))
    return nullptr;
  return row;
}

/// Lane 8 m + r has the address of row r of matrix m; lane t holds the elements
/// 2 (t % 4) and the next of row t / 4, or of that column.
static void collectMatrixAccess(Thread *const *lanes, uint32_t mask) {
  const Inst *first = lanes[__builtin_ctz(mask)]->waiting;
  if (mask != 0xFFFFFFFF) {
    lanes[__builtin_ctz(mask)]->fault(first, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                                      "lanes of the warp are missing");
    return;
  }
  bool transposed = first->flags & kTransposed, stores = first->flags & kStores;
  for (unsigned m = 0; m != first->lanes; ++m) {
    uint8_t *rows[8];
    for (unsigned r = 0; r != 8; ++r)
      if (!(rows[r] = rowOf(lanes[m * 8 + r])))
        return;
    for (unsigned t = 0; t != 32; ++t) {
      uint64_t &slot = lanes[t]->R[lanes[t]->waiting->list[m]];
      uint32_t pair = stores ? uint32_t(slot) : 0;
      for (unsigned j = 0; j != 2; ++j) {
        unsigned row = t / 4, column = t % 4 * 2 + j;
        if (transposed)
          std::swap(row, column);
        uint16_t element = pair >> 16 * j;
        if (stores) {
          std::memcpy(rows[row] + column * 2, &element, 2);
          continue;
        }
        std::memcpy(&element, rows[row] + column * 2, 2);
        pair |= uint32_t(element) << 16 * j;
      }
      if (!stores)
        slot = pair;
    }
  }
  lanes[0]->launch->progressed = true;
}

template <bool Stores> static void decodeMatrixAccess(Decoder &D) {
  if (!D.take("sync") || !D.take("aligned") || !D.take("m8n8"))
    D.fail("only .sync.aligned.m8n8 is supported");
  unsigned count = D.take("x1") ? 1 : D.take("x2") ? 2 : D.take("x4") ? 4 : 0;
  if (!count)
    D.fail("the number of matrices");
  uint16_t flags = (D.take("trans") ? kTransposed : 0) | (Stores ? kStores : 0);
  Space space = takeSpace(D);
  if (D.takeType() != Type::B16)
    D.fail("the type is not supported");
  D.expectOperands(2);
  uint64_t offset = 0;
  int32_t address = memoryAddress(D, Stores ? 0 : 1, space, offset);
  if (space == Space::Generic)
    flags |= kGeneric;
  else if (space != Space::Shared)
    D.fail("a matrix in this space");
  const Operand &registers = D.operand(Stores ? 1 : 0);
  if (registers.kind != Operand::Vector || registers.items.size() != count)
    D.fail("the number of registers");
  std::vector<int32_t> slots;
  for (const Operand &item : registers.items)
    slots.push_back(Stores ? D.source(item, Type::B32) : D.result(item));
  const int32_t *list = D.list(std::move(slots));
  Inst &inst = D.emitMemory(executeMeetAll, 0, address);
  inst.imm = offset;
  inst.list = list;
  inst.lanes = count;
  inst.flags = flags;
  inst.collect = collectMatrixAccess;
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

namespace {

/// Shape and types of a product, in Inst::imm.
struct Product {
  uint8_t m, n, k;
  Type d, a, b, c;
  uint8_t saturates;
};
static_assert(sizeof(Product) == sizeof(uint64_t));

bool isWhole(Type type) {
  return type == Type::S8 || type == Type::U8 || type == Type::S32;
}

/// Bytes of a register of a fragment: one element of 64 bits, or packed ones.
unsigned registerBytes(Type type) { return type == Type::F64 ? 8 : 4; }

unsigned elementsOf(Type type) { return registerBytes(type) / sizeOf(type); }

unsigned registersOf(Type type, unsigned rows, unsigned columns) {
  return rows * columns / 32 / elementsOf(type);
}

/// Element `j` of a register.
double valueIn(uint64_t slot, Type type, unsigned j) {
  unsigned bits = sizeOf(type) * 8;
  uint32_t element = type == Type::F64 ? 0 : uint32_t(slot >> bits * j);
  switch (type) {
  case Type::F64:
    return get<double>(slot);
  case Type::F32:
    return get<float>(slot);
  case Type::TF32: // The lower bits are not looked at.
    return std::bit_cast<float>(element & 0xFFFFE000);
  case Type::F16:
    return decodeFloat(element & 0xFFFF, kHalf);
  case Type::BF16:
    return decodeFloat(element & 0xFFFF, kBrain);
  case Type::E4M3:
    return decodeFloat(element & 0xFF, kE4M3);
  case Type::E5M2:
    return decodeFloat(element & 0xFF, kE5M2);
  case Type::S8:
    return int8_t(element);
  case Type::U8:
    return uint8_t(element);
  default:
    return int32_t(element);
  }
}

void storeIn(uint64_t &slot, Type type, unsigned j, double value,
             bool saturates) {
  if (type == Type::F64)
    return set(slot, value);
  if (type == Type::F32)
    return set(slot, canonical(static_cast<float>(value)));
  if (type == Type::S32) {
    // Sums of products of bytes are exact in a double.
    if (saturates)
      value = std::clamp(value, -2147483648.0, 2147483647.0);
    return set(slot, static_cast<uint32_t>(static_cast<int64_t>(value)));
  }
  uint64_t bits = encodeFloat(value, type == Type::F16 ? kHalf : kBrain);
  slot = j ? (slot & 0xFFFF) | bits << 16 : bits;
}

/// Multiplies the matrices that the fragments of a warp are. With g = lane / 4
/// and t = lane % 4, register r of A holds elements of row g + 8 (r % 2) (only
/// g when there are 8 rows), register r of B of column g, and element j of it
/// is number (4 (r / 2) + t) E + j along k (4 r + t for B), E elements to a
/// register. Elements of C and D: row g + 8 (i / 2), column 2 t + i % 2.
struct Fragments {
  Product p;
  double a[16][32], b[32][8], c[16][8];

  template <typename F> void forA(unsigned lane, F function) const {
    unsigned size = elementsOf(p.a), high = p.m / 8;
    for (unsigned r = 0; r != registersOf(p.a, p.m, p.k); ++r)
      for (unsigned j = 0; j != size; ++j)
        function(r, j, lane / 4 + 8 * (r % high),
                 (4 * (r / high) + lane % 4) * size + j);
  }
  template <typename F> void forB(unsigned lane, F function) const {
    unsigned size = elementsOf(p.b);
    for (unsigned r = 0; r != registersOf(p.b, p.k, p.n); ++r)
      for (unsigned j = 0; j != size; ++j)
        function(r, j, (4 * r + lane % 4) * size + j, lane / 4);
  }
  template <typename F> void forC(unsigned lane, Type type, F function) const {
    unsigned size = elementsOf(type);
    for (unsigned i = 0; i != p.m * p.n / 32u; ++i)
      function(i / size, i % size, lane / 4 + 8 * (i / 2),
               lane % 4 * 2 + i % 2);
  }

  double product(unsigned row, unsigned column) const {
    double sum = 0;
    if (p.d == Type::F64) { // A chain of fused operations.
      sum = c[row][column];
      for (unsigned k = 0; k != p.k; ++k)
        sum = std::fma(a[row][k], b[k][column], sum);
      return sum;
    }
    for (unsigned k = 0; k != p.k; ++k)
      sum += a[row][k] * b[k][column];
    return sum + c[row][column];
  }
};

void collectProduct(Thread *const *lanes, uint32_t mask) {
  Thread *first = lanes[__builtin_ctz(mask)];
  if (mask != 0xFFFFFFFF) {
    first->fault(first->waiting, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                 "lanes of the warp are missing");
    return;
  }
  static Fragments &f = *new Fragments;
  f.p = std::bit_cast<Product>(first->waiting->imm);
  const Product &p = f.p;
  unsigned countD = registersOf(p.d, p.m, p.n);
  unsigned countA = registersOf(p.a, p.m, p.k),
           countB = registersOf(p.b, p.k, p.n);
  forLanes(mask, [&](unsigned lane) {
    const uint64_t *R = lanes[lane]->R;
    const int32_t *slots = lanes[lane]->waiting->list + countD;
    f.forA(lane, [&](unsigned r, unsigned j, unsigned row, unsigned k) {
      f.a[row][k] = valueIn(R[slots[r]], p.a, j);
    });
    f.forB(lane, [&](unsigned r, unsigned j, unsigned k, unsigned column) {
      f.b[k][column] = valueIn(R[slots[countA + r]], p.b, j);
    });
    f.forC(lane, p.c,
           [&](unsigned r, unsigned j, unsigned row, unsigned column) {
             f.c[row][column] = valueIn(R[slots[countA + countB + r]], p.c, j);
           });
  });
  forLanes(mask, [&](unsigned lane) {
    uint64_t *R = lanes[lane]->R;
    f.forC(lane, p.d,
           [&](unsigned r, unsigned j, unsigned row, unsigned column) {
             storeIn(R[lanes[lane]->waiting->list[r]], p.d, j,
                     f.product(row, column), p.saturates);
           });
  });
}

/// Whether there is such a product; those that are left out are errors.
bool isKnown(const Product &p) {
  bool fits = p.n == 8 && p.k <= 32;
  if (p.a == Type::F64)
    return fits && p.b == Type::F64 && p.c == Type::F64 && p.d == Type::F64 &&
           ((p.m == 8 && p.k == 4) || (p.m == 16 && p.k <= 16));
  if (isWhole(p.a))
    return fits && isWhole(p.b) && sizeOf(p.a) == 1 && sizeOf(p.b) == 1 &&
           p.c == Type::S32 && p.d == Type::S32 &&
           ((p.m == 8 && p.k == 16) || (p.m == 16 && p.k >= 16));
  bool isEight = sizeOf(p.a) == 1;
  bool types = isEight ? p.b == Type::E4M3 || p.b == Type::E5M2 : p.a == p.b;
  bool k = isEight             ? p.k == 16 || p.k == 32
           : p.a == Type::TF32 ? p.k == 4 || p.k == 8
                               : p.k == 8 || p.k == 16;
  bool half = p.c == Type::F16 && p.d == Type::F16 && p.a != Type::BF16 &&
              p.a != Type::TF32;
  return fits && types && k && p.m == 16 &&
         ((p.c == Type::F32 && p.d == Type::F32) || half);
}

bool parseShape(const std::string &text, Product &p) {
  unsigned m, n, k;
  char rest;
  if (std::sscanf(text.c_str(), "m%un%uk%u%c", &m, &n, &k, &rest) != 3 ||
      m > 16 || n > 16 || k > 64)
    return false;
  p.m = m;
  p.n = n;
  p.k = k;
  return true;
}

} // namespace

static void decodeProduct(Decoder &D) {
  Product p{};
  if (!D.take("sync") || !D.take("aligned"))
    D.fail("only mma.sync.aligned is supported");
  if (!parseShape(D.takeAny(), p))
    D.fail("unknown shape");
  if (!D.take("row") || !D.take("col"))
    D.fail("only .row.col is supported");
  p.saturates = D.take("satfinite");
  D.take("kind::f8f6f4");
  p.d = D.takeType();
  p.a = D.takeType();
  p.b = D.takeType();
  p.c = D.takeType();
  if (!isKnown(p))
    D.fail("shape and types are not supported");
  D.expectOperands(4);
  const unsigned counts[] = {
      registersOf(p.d, p.m, p.n), registersOf(p.a, p.m, p.k),
      registersOf(p.b, p.k, p.n), registersOf(p.c, p.m, p.n)};
  const Type types[] = {p.d, p.a, p.b, p.c};
  std::vector<int32_t> slots;
  for (unsigned i = 0; i != 4; ++i) {
    const Operand &fragment = D.operand(i);
    bool isVector = fragment.kind == Operand::Vector;
    if ((isVector ? fragment.items.size() : 1) != counts[i])
      D.fail("operand " + std::to_string(i) +
             " has another number of registers");
    Type type = registerBytes(types[i]) == 8 ? Type::B64 : Type::B32;
    for (unsigned r = 0; r != counts[i]; ++r) {
      const Operand &item = isVector ? fragment.items[r] : fragment;
      slots.push_back(i ? D.source(item, type) : D.result(item));
    }
  }
  const int32_t *list = D.list(std::move(slots));
  Inst &inst = D.emit(executeMeetAll);
  inst.list = list;
  inst.imm = std::bit_cast<uint64_t>(p);
  inst.collect = collectProduct;
}

void fakecuda::addMatrixInstructions(InstructionTable &table) {
  table["ldmatrix"] = decodeMatrixAccess<false>;
  table["stmatrix"] = decodeMatrixAccess<true>;
  table["mma"] = decodeProduct;
}
