//===- Make.h - Values from text and from random numbers --------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_VALUEIO_MAKE_H
#define LOOPC_VALUEIO_MAKE_H

#include "loopc/ValueIO/HostValue.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace loopc::io {

/// A value for a port of type `type` from text: a number, true, false, nan,
/// inf, "text", or lists of them in brackets; `null` is an empty optional. The
/// outermost list of a sequence holds its items. The shape is that of the
/// lists; what does not fit the element type is an error, floats are rounded.
llvm::Expected<HostValue> parseLiteral(llvm::StringRef text,
                                       const loopc_type &type);

/// Random numbers of a fixed sequence: SplitMix64 (Steele, Lea and Flood,
/// 2014), the same on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next();

private:
  uint64_t state;
};

/// A value for a port of type `type`: floats from [-1, 1), integers from 0 to
/// 9 (as far as the type has them), either boolean, sequences of three items,
/// optionals that hold something. `extent` gives the extents that the type
/// leaves open.
llvm::Expected<HostValue>
makeRandom(const loopc_type &type, Random &random,
           llvm::function_ref<int64_t(const loopc_dim &)> extent);

} // namespace loopc::io

#endif // LOOPC_VALUEIO_MAKE_H
