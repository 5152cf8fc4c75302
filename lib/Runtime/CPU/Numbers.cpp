//===- Numbers.cpp - Numbers to strings and back --------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ONNX's Cast does between numbers and strings. Nothing depends on the
// locale of the program.
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

using namespace loopc::rt;

namespace {

/// The calling thread uses the "C" locale as long as this lives: the decimal
/// point is a point.
class PlainLocale {
public:
  PlainLocale() : plain(newlocale(LC_ALL_MASK, "C", nullptr)) {
    if (plain)
      before = uselocale(plain);
  }
  ~PlainLocale() {
    if (!plain)
      return;
    uselocale(before);
    freelocale(plain);
  }
  PlainLocale(const PlainLocale &) = delete;
  PlainLocale &operator=(const PlainLocale &) = delete;

private:
  locale_t plain;
  locale_t before = nullptr;
};

/// A copy of a number's text, terminated, without white space around it.
struct NumberText {
  static constexpr size_t kRoom = 512;
  char inlined[kRoom];
  char *text = nullptr; ///< null where there is no memory

  NumberText(loopc_run *run, const char *from, int64_t bytes) {
    while (bytes > 0 && isBlank(*from))
      ++from, --bytes;
    while (bytes > 0 && isBlank(from[bytes - 1]))
      --bytes;
    size_t size = static_cast<size_t>(bytes);
    text = size < kRoom ? inlined : loopc_rt_string_alloc(run, bytes + 1);
    if (!text)
      return;
    if (size != 0)
      memcpy(text, from, size);
    text[size] = 0;
    // A terminator in the middle must not hide what follows it.
    if (strlen(text) != size)
      text[0] = 0;
  }

  static bool isBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
};

} // namespace

static void failToConvert(loopc_run *run, const char *where, const char *text,
                          const char *what) {
  recordError(*run, LOOPC_ERROR_RUNTIME, "%s: '%.80s' is not %s", where, text,
              what);
}

/// Decimal and special values, nothing of strtod's hexadecimal numbers.
static bool parseFloat(const char *text, double &value) {
  const char *digits = text + (*text == '+' || *text == '-');
  if (*digits == 0 || (digits[0] == '0' && (digits[1] | 32) == 'x') ||
      strchr(text, '('))
    return false;
  PlainLocale locale;
  char *end;
  value = strtod(text, &end);
  return end != text && *end == 0;
}

extern "C" double loopc_rt_string_to_float(loopc_run *run, const char *text,
                                           int64_t bytes, const char *where) {
  NumberText number(run, text, bytes);
  double value;
  if (!number.text)
    return 0;
  if (parseFloat(number.text, value))
    return value;
  failToConvert(run, where, number.text, "a number");
  return 0;
}

/// Decimal digits after an optional sign; false where there is anything else or
/// the magnitude does not fit.
static bool parseDigits(const char *text, bool &negative, uint64_t &magnitude) {
  negative = *text == '-';
  text += *text == '+' || *text == '-';
  if (*text == 0)
    return false;
  magnitude = 0;
  for (; *text; ++text)
    if (*text < '0' || *text > '9' ||
        __builtin_mul_overflow(magnitude, uint64_t{10}, &magnitude) ||
        __builtin_add_overflow(magnitude, static_cast<uint64_t>(*text - '0'),
                               &magnitude))
      return false;
  return true;
}

static int64_t parseInteger(loopc_run *run, const char *text, int64_t bytes,
                            bool isUnsigned, const char *where) {
  NumberText number(run, text, bytes);
  if (!number.text)
    return 0;
  bool negative;
  uint64_t magnitude;
  if (!parseDigits(number.text, negative, magnitude)) {
    double value;
    if (!parseFloat(number.text, value) || !(fabs(value) < 0x1p64)) {
      failToConvert(run, where, number.text, "an integer of 64 bits");
      return 0;
    }
    negative = value < 0;
    magnitude = static_cast<uint64_t>(fabs(value));
  }
  uint64_t limit = isUnsigned ? (negative ? 0 : UINT64_MAX)
                              : static_cast<uint64_t>(INT64_MAX) + negative;
  if (magnitude > limit) {
    failToConvert(run, where, number.text,
                  isUnsigned ? "an unsigned integer of 64 bits"
                             : "an integer of 64 bits");
    return 0;
  }
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}

extern "C" int64_t loopc_rt_string_to_int(loopc_run *run, const char *text,
                                          int64_t bytes, const char *where) {
  return parseInteger(run, text, bytes, /*isUnsigned=*/false, where);
}

extern "C" int64_t loopc_rt_string_to_uint(loopc_run *run, const char *text,
                                           int64_t bytes, const char *where) {
  return parseInteger(run, text, bytes, /*isUnsigned=*/true, where);
}

static loopc_string store(loopc_run *run, const char *text, size_t size) {
  char *out = loopc_rt_string_alloc(run, static_cast<int64_t>(size));
  if (!out)
    return {"", 0};
  memcpy(out, text, size);
  return {out, size};
}

extern "C" loopc_string loopc_rt_string_from_int(loopc_run *run,
                                                 int64_t value) {
  char text[24];
  int size =
      snprintf(text, sizeof(text), "%lld", static_cast<long long>(value));
  return store(run, text, static_cast<size_t>(size));
}

extern "C" loopc_string loopc_rt_string_from_uint(loopc_run *run,
                                                  int64_t value) {
  char text[24];
  int size = snprintf(text, sizeof(text), "%llu",
                      static_cast<unsigned long long>(value));
  return store(run, text, static_cast<size_t>(size));
}

//===----------------------------------------------------------------------===//
// Floats to text
//===----------------------------------------------------------------------===//

/// `value` (finite, not negative) as the nearest float of the type, ties to
/// even.
static double roundToType(double value, int precision, int minExponent) {
  if (value == 0 || precision == 53)
    return value;
  int exponent;
  frexp(value, &exponent);
  int unit = exponent - precision;
  if (unit < minExponent)
    unit = minExponent;
  return ldexp(nearbyint(ldexp(value, -unit)), unit);
}

namespace {

/// The decimal digits of a number: d.ddd * 10^exponent.
struct Decimal {
  char digits[20];
  int count;
  int exponent;

  /// The first `count` digits of `value`, rounded.
  Decimal(double value, int count) : count(count) {
    char text[40];
    snprintf(text, sizeof(text), "%.*e", count - 1, value);
    int n = 0;
    const char *at = text;
    for (; *at && *at != 'e'; ++at)
      if (*at >= '0' && *at <= '9')
        digits[n++] = *at;
    exponent = atoi(at + 1);
  }

  /// The next larger number of as many digits; false where that has one more.
  bool increment() {
    for (int k = count - 1; k >= 0; --k) {
      if (digits[k] != '9') {
        ++digits[k];
        return true;
      }
      digits[k] = '0';
    }
    return false;
  }

  double value() const {
    char text[48];
    snprintf(text, sizeof(text), "%.*se%d", count, digits,
             exponent - count + 1);
    return strtod(text, nullptr);
  }

  void dropZeros() {
    while (count > 1 && digits[count - 1] == '0')
      --count;
  }
};

} // namespace

/// The fewest digits that are `value` again.
static Decimal findShortest(double value, int precision, int minExponent) {
  auto isSame = [&](const Decimal &decimal) {
    return roundToType(decimal.value(), precision, minExponent) == value;
  };
  for (int count = 1; count < 17; ++count) {
    Decimal decimal(value, count);
    if (isSame(decimal))
      return decimal;
    // Below a power of two floats lie closer together: the nearest number may
    // be wrong where the one above it is right.
    if (decimal.increment() && isSame(decimal))
      return decimal;
  }
  return Decimal(value, 17);
}

extern "C" loopc_string loopc_rt_string_from_float(loopc_run *run, double value,
                                                   int32_t precision,
                                                   int32_t minExponent,
                                                   int32_t digits) {
  if (isnan(value))
    return {"nan", 3};
  if (isinf(value))
    return value < 0 ? loopc_string{"-inf", 4} : loopc_string{"inf", 3};
  char text[64];
  size_t size = 0;
  auto put = [&](char c) { text[size++] = c; };
  if (signbit(value))
    put('-');
  value = fabs(value);
  PlainLocale locale;
  Decimal decimal = findShortest(value, precision, minExponent);
  decimal.dropZeros();
  auto putDigits = [&](int from, int to) {
    for (int k = from; k < to; ++k)
      put(k < decimal.count ? decimal.digits[k] : '0');
  };
  bool isPlain = value == 0 || (value >= 1e-4 && value < pow(10.0, digits));
  if (!isPlain) {
    putDigits(0, 1);
    if (decimal.count > 1)
      put('.');
    putDigits(1, decimal.count);
    size += static_cast<size_t>(
        snprintf(text + size, sizeof(text) - size, "e%+03d", decimal.exponent));
  } else if (decimal.exponent < 0) {
    put('0');
    put('.');
    for (int k = -1; k > decimal.exponent; --k)
      put('0');
    putDigits(0, decimal.count);
  } else {
    int point = decimal.exponent + 1;
    putDigits(0, point);
    put('.');
    putDigits(point, decimal.count > point ? decimal.count : point + 1);
  }
  return store(run, text, size);
}
