// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <stdio.h>

int work(int n);

int main(void) {
  for (int n = 1; n <= 100000; n *= 10)
    printf("%d\n", work(n));
  return 0;
}
