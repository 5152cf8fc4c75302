//===- CpuFeaturesX86.cpp - Features of x86-64 ----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names are LLVM's, the bits those of Intel's Software Developer's Manual,
// volume 2A, CPUID, and AMD's Programmer's Manual, volume 3, appendix E.
//
//===----------------------------------------------------------------------===//

#include "CpuFeatures.h"

#ifdef __x86_64__

#include <cpuid.h>
#include <stdint.h>
#include <string.h>

using namespace loopc::rt;

namespace {

/// The registers that hold feature bits.
enum Register : uint8_t {
  L1C,    ///< leaf 1, ECX
  L1D,    ///< leaf 1, EDX
  L7B,    ///< leaf 7.0, EBX
  L7C,    ///< leaf 7.0, ECX
  L7D,    ///< leaf 7.0, EDX
  L71A,   ///< leaf 7.1, EAX
  L71D,   ///< leaf 7.1, EDX
  LD1A,   ///< leaf 0xD.1, EAX
  L14B,   ///< leaf 0x14.0, EBX
  L19B,   ///< leaf 0x19, EBX
  L1E1A,  ///< leaf 0x1E.1, EAX
  L24B,   ///< leaf 0x24.0, EBX, as bits 1 and 2: AVX10 version 1, 2
  L29B,   ///< leaf 0x29.0, EBX
  E1C,    ///< leaf 0x80000001, ECX
  E8B,    ///< leaf 0x80000008, EBX
  ALWAYS, ///< every x86-64 CPU
  kNumRegisters
};

/// State that the operating system must save, as bits of XCR0.
enum Saved : uint32_t {
  NONE = 0,
  AVX = 0x6,
  AVX512 = 0xE6,
  AMX = 0x60000,
  APX = 0x80000,
};

struct Row {
  const char *name;
  Register where;
  uint8_t bit;
  uint32_t saved = NONE;
};

constexpr Row kRows[] = {
    {"64bit", ALWAYS, 0},
    {"64bit-mode", ALWAYS, 0},
    {"x87", L1D, 0},
    {"cx8", L1D, 8},
    {"cmov", L1D, 15},
    {"mmx", L1D, 23},
    {"fxsr", L1D, 24},
    {"sse", L1D, 25},
    {"sse2", L1D, 26},
    {"nopl", ALWAYS, 0},
    {"sse3", L1C, 0},
    {"pclmul", L1C, 1},
    {"ssse3", L1C, 9},
    {"fma", L1C, 12, AVX},
    {"cx16", L1C, 13},
    {"sse4.1", L1C, 19},
    {"sse4.2", L1C, 20},
    {"crc32", L1C, 20},
    {"movbe", L1C, 22},
    {"popcnt", L1C, 23},
    {"aes", L1C, 25},
    {"xsave", L1C, 27},
    {"avx", L1C, 28, AVX},
    {"f16c", L1C, 29, AVX},
    {"rdrnd", L1C, 30},
    {"sahf", E1C, 0},
    {"lzcnt", E1C, 5},
    {"sse4a", E1C, 6},
    {"prfchw", E1C, 8},
    {"xop", E1C, 11, AVX},
    {"lwp", E1C, 15},
    {"fma4", E1C, 16, AVX},
    {"tbm", E1C, 21},
    {"mwaitx", E1C, 29},
    {"clzero", E8B, 0},
    {"rdpru", E8B, 4},
    {"wbnoinvd", E8B, 9},
    {"fsgsbase", L7B, 0},
    {"sgx", L7B, 2},
    {"bmi", L7B, 3},
    {"avx2", L7B, 5, AVX},
    {"bmi2", L7B, 8},
    {"ermsb", L7B, 9},
    {"invpcid", L7B, 10},
    {"rtm", L7B, 11},
    {"avx512f", L7B, 16, AVX512},
    {"evex512", L7B, 16, AVX512},
    {"avx512dq", L7B, 17, AVX512},
    {"rdseed", L7B, 18},
    {"adx", L7B, 19},
    {"avx512ifma", L7B, 21, AVX512},
    {"clflushopt", L7B, 23},
    {"clwb", L7B, 24},
    {"avx512cd", L7B, 28, AVX512},
    {"sha", L7B, 29},
    {"avx512bw", L7B, 30, AVX512},
    {"avx512vl", L7B, 31, AVX512},
    {"avx512vbmi", L7C, 1, AVX512},
    {"pku", L7C, 4},
    {"waitpkg", L7C, 5},
    {"avx512vbmi2", L7C, 6, AVX512},
    {"shstk", L7C, 7},
    {"gfni", L7C, 8},
    {"vaes", L7C, 9, AVX},
    {"vpclmulqdq", L7C, 10, AVX},
    {"avx512vnni", L7C, 11, AVX512},
    {"avx512bitalg", L7C, 12, AVX512},
    {"avx512vpopcntdq", L7C, 14, AVX512},
    {"rdpid", L7C, 22},
    {"kl", L7C, 23},
    {"cldemote", L7C, 25},
    {"movdiri", L7C, 27},
    {"movdir64b", L7C, 28},
    {"enqcmd", L7C, 29},
    {"fsrm", L7D, 4},
    {"uintr", L7D, 5},
    {"avx512vp2intersect", L7D, 8, AVX512},
    {"serialize", L7D, 14},
    {"tsxldtrk", L7D, 16},
    {"pconfig", L7D, 18},
    {"amx-bf16", L7D, 22, AMX},
    {"avx512fp16", L7D, 23, AVX512},
    {"amx-tile", L7D, 24, AMX},
    {"amx-int8", L7D, 25, AMX},
    {"sha512", L71A, 0, AVX},
    {"sm3", L71A, 1, AVX},
    {"sm4", L71A, 2, AVX},
    {"raoint", L71A, 3},
    {"avxvnni", L71A, 4, AVX},
    {"avx512bf16", L71A, 5, AVX512},
    {"cmpccxadd", L71A, 7},
    {"amx-fp16", L71A, 21, AMX},
    {"hreset", L71A, 22},
    {"avxifma", L71A, 23, AVX},
    {"movrs", L71A, 31},
    {"avxvnniint8", L71D, 4, AVX},
    {"avxneconvert", L71D, 5, AVX},
    {"amx-complex", L71D, 8, AMX},
    {"avxvnniint16", L71D, 10, AVX},
    {"prefetchi", L71D, 14},
    {"usermsr", L71D, 15},
    {"egpr", L71D, 21, APX},
    {"push2pop2", L71D, 21, APX},
    {"ppx", L71D, 21, APX},
    {"ndd", L29B, 0, APX},
    {"ccmp", L29B, 0, APX},
    {"nf", L29B, 0, APX},
    {"cf", L29B, 0, APX},
    {"zu", L29B, 0, APX},
    {"xsaveopt", LD1A, 0},
    {"xsavec", LD1A, 1},
    {"xsaves", LD1A, 3},
    {"ptwrite", L14B, 4},
    {"widekl", L19B, 2},
    {"amx-fp8", L1E1A, 4, AMX},
    {"amx-tf32", L1E1A, 6, AMX},
    {"amx-avx512", L1E1A, 7, AMX},
    {"amx-movrs", L1E1A, 8, AMX},
    {"avx10.1", L24B, 1, AVX512},
    {"avx10.1-512", L24B, 1, AVX512},
    {"avx10.2", L24B, 2, AVX512},
    {"avx10.2-512", L24B, 2, AVX512},
};

/// Options of code generation that need nothing of the CPU: names, or
/// beginnings of names that end in '-'.
constexpr const char *kTuning[] = {
    "fast-",
    "faster-",
    "slow-",
    "prefer-",
    "false-deps-",
    "tuning-",
    "use-",
    "no-bypass-delay",
    "no-bypass-delay-",
    "branchfusion",
    "macrofusion",
    "allow-light-256-bit",
    "branch-hint",
    "idivl-to-divb",
    "idivq-to-divl",
    "lea-sp",
    "lea-uses-ag",
    "pad-short-functions",
    "vzeroupper",
    "sbb-dep-breaking",
    "sse-unaligned-mem",
    "retpoline",
    "retpoline-",
    "harden-",
    "lvi-",
    "seses",
    "inline-asm-use-gpr32",
};

struct Cpu {
  uint32_t registers[kNumRegisters];
  uint64_t xcr0;
};

} // namespace

/// XGETBV of register 0; only where the OSXSAVE bit is set.
static uint64_t readXcr0() {
  uint32_t low;
  uint32_t high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

static Cpu readCpu() {
  Cpu cpu = {};
  uint32_t *r = cpu.registers;
  uint32_t a, b, c, d;
  r[ALWAYS] = 1;
  // __get_cpuid_count refuses leaves above the CPU's highest one.
  if (__get_cpuid_count(1, 0, &a, &b, &c, &d)) {
    r[L1C] = c;
    r[L1D] = d;
  }
  if (r[L1C] & 1u << 27)
    cpu.xcr0 = readXcr0();
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    uint32_t subleaves = a;
    r[L7B] = b;
    r[L7C] = c;
    r[L7D] = d;
    if (subleaves >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) {
      r[L71A] = a;
      r[L71D] = d;
    }
  }
  if (__get_cpuid_count(0xD, 1, &a, &b, &c, &d))
    r[LD1A] = a;
  if (__get_cpuid_count(0x14, 0, &a, &b, &c, &d))
    r[L14B] = b;
  if (__get_cpuid_count(0x19, 0, &a, &b, &c, &d))
    r[L19B] = b;
  if (__get_cpuid_count(0x1E, 1, &a, &b, &c, &d))
    r[L1E1A] = a;
  bool hasAvx10 = r[L71D] & 1u << 19;
  if (hasAvx10 && __get_cpuid_count(0x24, 0, &a, &b, &c, &d)) {
    uint32_t version = b & 0xFF;
    r[L24B] = (version >= 1 ? 2u : 0u) | (version >= 2 ? 4u : 0u);
  }
  if (__get_cpuid_count(0x29, 0, &a, &b, &c, &d))
    r[L29B] = b;
  if (__get_cpuid_count(0x80000001, 0, &a, &b, &c, &d))
    r[E1C] = c;
  if (__get_cpuid_count(0x80000008, 0, &a, &b, &c, &d))
    r[E8B] = b;
  return cpu;
}

/// What CPUID says; asked once, since a virtual machine traps on it.
static const Cpu &getCpu() {
  static Cpu cpu;
  static int32_t state; // 0: not read, 1: being written, 2: valid
  if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == 2)
    return cpu;
  Cpu fresh = readCpu();
  int32_t expected = 0;
  if (__atomic_compare_exchange_n(&state, &expected, 1, false, __ATOMIC_ACQUIRE,
                                  __ATOMIC_ACQUIRE)) {
    cpu = fresh;
    __atomic_store_n(&state, 2, __ATOMIC_RELEASE);
  }
  while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != 2)
    __builtin_ia32_pause();
  return cpu;
}

FeatureState loopc::rt::findCpuFeature(const char *name, size_t size) {
  for (const Row &row : kRows) {
    if (strlen(row.name) != size || memcmp(row.name, name, size) != 0)
      continue;
    const Cpu &cpu = getCpu();
    bool present = (cpu.registers[row.where] >> row.bit & 1) != 0 &&
                   (cpu.xcr0 & row.saved) == row.saved;
    return present ? FeatureState::Present : FeatureState::Missing;
  }
  return isListed(kTuning, name, size) ? FeatureState::Present
                                       : FeatureState::Unknown;
}

#endif // __x86_64__
