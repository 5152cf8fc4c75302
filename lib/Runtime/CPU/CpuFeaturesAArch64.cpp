//===- CpuFeaturesAArch64.cpp - Features of AArch64 -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names are LLVM's, the bits those of the Linux kernel's
// Documentation/arch/arm64/elf_hwcaps.rst.
//
//===----------------------------------------------------------------------===//

#include "CpuFeatures.h"

#ifdef __aarch64__

#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

using namespace loopc::rt;

static constexpr uint64_t bit(int index) { return uint64_t{1} << index; }

namespace {

/// A feature needs all of the bits.
struct Row {
  const char *name;
  uint64_t hwcap;
  uint64_t hwcap2;
};

constexpr uint64_t kV81 = bit(7) | bit(8) | bit(12);
constexpr uint64_t kV82 = kV81 | bit(16);
constexpr uint64_t kV83 = kV82 | bit(13) | bit(14) | bit(15) | bit(30);
constexpr uint64_t kV84 =
    kV83 | bit(20) | bit(24) | bit(25) | bit(26) | bit(27);
constexpr uint64_t kV85 = kV84 | bit(29);
constexpr uint64_t kV85Second = bit(0) | bit(7) | bit(8) | bit(17);
constexpr uint64_t kV86Second = kV85Second | bit(13) | bit(14);

constexpr Row kRows[] = {
    {"v8a", bit(0) | bit(1), 0},
    {"v8.1a", kV81, 0},
    {"v8.2a", kV82, 0},
    {"v8.3a", kV83, 0},
    {"v8.4a", kV84, 0},
    {"v8.5a", kV85, kV85Second},
    {"v8.6a", kV85, kV86Second},
    {"v9a", kV85 | bit(22), kV85Second | bit(1)},
    {"fp-armv8", bit(0), 0},
    {"neon", bit(1), 0},
    {"aes", bit(3) | bit(4), 0},
    {"sha2", bit(5) | bit(6), 0},
    {"crypto", bit(3) | bit(4) | bit(5) | bit(6), 0},
    {"crc", bit(7), 0},
    {"lse", bit(8), 0},
    {"fullfp16", bit(9) | bit(10), 0},
    {"rdm", bit(12), 0},
    {"jsconv", bit(13), 0},
    {"complxnum", bit(14), 0},
    {"rcpc", bit(15), 0},
    {"ccpp", bit(16), 0},
    {"sha3", bit(17) | bit(21), 0},
    {"sm4", bit(18) | bit(19), 0},
    {"dotprod", bit(20), 0},
    {"sve", bit(22), 0},
    {"fp16fml", bit(23), 0},
    {"dit", bit(24), 0},
    {"lse2", bit(25), 0},
    {"rcpc-immo", bit(26), 0},
    {"flagm", bit(27), 0},
    {"ssbs", bit(28), 0},
    {"sb", bit(29), 0},
    {"pauth", bit(30) | bit(31), 0},
    {"gcs", bit(32), 0},
    {"ccdp", 0, bit(0)},
    {"sve2", bit(22), bit(1)},
    {"sve-aes", bit(22), bit(2) | bit(3)},
    {"sve2-aes", bit(22), bit(1) | bit(2) | bit(3)},
    {"sve-bitperm", bit(22), bit(4)},
    {"sve2-bitperm", bit(22), bit(1) | bit(4)},
    {"sve-sha3", bit(22), bit(5)},
    {"sve2-sha3", bit(22), bit(1) | bit(5)},
    {"sve-sm4", bit(22), bit(6)},
    {"sve2-sm4", bit(22), bit(1) | bit(6)},
    {"altnzcv", 0, bit(7)},
    {"fptoint", 0, bit(8)},
    {"f32mm", bit(22), bit(10)},
    {"f64mm", bit(22), bit(11)},
    {"i8mm", 0, bit(13)},
    {"bf16", 0, bit(14)},
    {"rand", 0, bit(16)},
    {"bti", 0, bit(17)},
    {"mte", 0, bit(18)},
    {"sme", 0, bit(23)},
    {"sme-i16i64", 0, bit(24)},
    {"sme-f64f64", 0, bit(25)},
    {"sme-fa64", 0, bit(30)},
    {"wfxt", 0, bit(31)},
    {"cssc", 0, bit(34)},
    {"sve2p1", bit(22), bit(36)},
    {"sme2", 0, bit(37)},
    {"sme2p1", 0, bit(38)},
    {"sme-b16b16", 0, bit(41)},
    {"sme-f16f16", 0, bit(42)},
    {"mops", 0, bit(43)},
    {"hbc", 0, bit(44)},
    {"sve-b16b16", bit(22), bit(45)},
    {"rcpc3", 0, bit(46)},
    {"lse128", 0, bit(47)},
    {"lut", 0, bit(49)},
    {"faminmax", 0, bit(50)},
};

/// Names that need nothing of a program's CPU: options of code generation, and
/// extensions of privileged code. Beginnings of names end in '-'.
constexpr const char *kNeutral[] = {
    "fuse-",
    "use-",
    "zcm-",
    "zcz-",
    "no-zcz-",
    "disable-",
    "slow-",
    "aggressive-",
    "arith-",
    "cmp-bcc-fusion",
    "alu-lsl-fast",
    "addr-lsl-slow-14",
    "alternate-sextload-cvt-f32-pattern",
    "ascend-store-address",
    "avoid-ldapur",
    "balance-fp-ops",
    "enable-select-opt",
    "exynos-cheap-as-move",
    "force-32bit-jump-tables",
    "ldp-aligned-only",
    "max-interleave-factor-4",
    "no-sve-fp-ld1r",
    "outline-atomics",
    "perfmon",
    "predictable-select-expensive",
    "store-pair-suppress",
    "stp-aligned-only",
    "strict-align",
    "harden-",
    "fix-",
    "reserve-",
    "call-saved-",
    "execute-only",
    "tagged-globals",
    "CONTEXTIDREL2",
    "am",
    "amvs",
    "brbe",
    "ccidx",
    "ecv",
    "el2vmsa",
    "el3",
    "ete",
    "fgt",
    "hcx",
    "lor",
    "mpam",
    "nv",
    "pan",
    "pan-rwv",
    "ras",
    "rasv2",
    "sel2",
    "spe",
    "tlb-rmi",
    "tracev8.4",
    "trbe",
    "uaops",
    "vh",
    "xs",
    "predres",
    "specrestrict",
};

} // namespace

FeatureState loopc::rt::findCpuFeature(const char *name, size_t size) {
  uint64_t hwcap = getauxval(AT_HWCAP);
  uint64_t hwcap2 = getauxval(AT_HWCAP2);
  for (const Row &row : kRows) {
    if (strlen(row.name) != size || memcmp(row.name, name, size) != 0)
      continue;
    bool present =
        (hwcap & row.hwcap) == row.hwcap && (hwcap2 & row.hwcap2) == row.hwcap2;
    return present ? FeatureState::Present : FeatureState::Missing;
  }
  return isListed(kNeutral, name, size) ? FeatureState::Present
                                        : FeatureState::Unknown;
}

#endif // __aarch64__
