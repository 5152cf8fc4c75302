// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A library for BOLT: a branch that is hardly taken, a table of jumps, an
// exception that is caught, and a function that never runs.

#include <stdexcept>

[[gnu::noinline]] static int raise(int x) {
  if (x > 1000000)
    throw std::runtime_error("large");
  return x * 3;
}

[[gnu::noinline]] static int choose(int x) {
  switch (x % 7) {
  case 0:
    return 5;
  case 1:
    return raise(x);
  case 2:
    return x ^ 3;
  case 3:
    return x + 9;
  case 4:
    return 17;
  case 5:
    return x << 3;
  default:
    return x;
  }
}

extern "C" int never(int x) { return choose(x) * raise(x); }

extern "C" int work(int n) {
  int sum = 0;
  for (int k = 0; k < n; ++k)
    sum ^= choose(k);
  try {
    return sum + raise(n * 20);
  } catch (const std::exception &) {
    return sum - 1;
  }
}
