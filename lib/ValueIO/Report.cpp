//===- Report.cpp - Values compared and printed ---------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/ValueIO/Report.h"

#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <cmath>

using namespace llvm;
using namespace loopc::io;

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// The shortest text that reads back as the same number of that type.
static void printFloat(double number, DLDataType dtype, raw_ostream &os) {
  if (std::isnan(number)) {
    os << "nan";
    return;
  }
  char buffer[64];
  std::to_chars_result result;
  if (dtype.bits <= 32)
    result =
        std::to_chars(buffer, std::end(buffer), static_cast<float>(number));
  else
    result = std::to_chars(buffer, std::end(buffer), number);
  os << StringRef(buffer, result.ptr - buffer);
}

static void printElement(const HostValue &value, int64_t index,
                         raw_ostream &os) {
  DLDataType dtype = value.dtype;
  if (value.kind == LOOPC_STRINGS) {
    os << '"';
    printEscapedString(value.strings[index], os);
    os << '"';
  } else if (dtype.code == kDLComplex) {
    DLDataType part = {kDLFloat, static_cast<uint8_t>(dtype.bits / 2), 1};
    printFloat(getComplex(value, index, 0), part, os);
    double imaginary = getComplex(value, index, 1);
    os << (std::signbit(imaginary) ? "-" : "+");
    printFloat(std::fabs(imaginary), part, os);
    os << "i";
  } else if (isFloat(dtype)) {
    printFloat(getFloat(value, index), dtype, os);
  } else if (dtype.code == kDLBool) {
    os << (getInteger(value, index) ? "true" : "false");
  } else if (dtype.code == kDLUInt) {
    os << static_cast<uint64_t>(getInteger(value, index));
  } else {
    os << getInteger(value, index);
  }
}

/// What is shown at either end of something abbreviated.
static constexpr int64_t kEdge = 3;

static void printAxis(const HostValue &value, size_t axis, int64_t &index,
                      bool abbreviate, raw_ostream &os) {
  if (axis == value.shape.size()) {
    printElement(value, index++, os);
    return;
  }
  int64_t extent = value.shape[axis], inner = 1;
  for (size_t i = axis + 1; i < value.shape.size(); ++i)
    inner *= value.shape[i];
  os << "[";
  for (int64_t i = 0; i < extent; ++i) {
    if (i > 0)
      os << ", ";
    if (abbreviate && i == kEdge && extent > 2 * kEdge) {
      os << "..., ";
      index += (extent - 2 * kEdge) * inner;
      i = extent - kEdge;
    }
    printAxis(value, axis + 1, index, abbreviate, os);
  }
  os << "]";
}

/// How many elements the brackets of a tensor hold; of one without elements,
/// how many empty brackets.
static int64_t countPrinted(const HostValue &value) {
  int64_t count = 1;
  for (int64_t extent : value.shape) {
    if (extent == 0)
      break;
    count *= extent;
  }
  return count;
}

void loopc::io::printElements(const HostValue &value, int64_t limit,
                              raw_ostream &os) {
  if (value.kind == LOOPC_SEQUENCE) {
    auto count = static_cast<int64_t>(value.items.size());
    bool abbreviate = limit >= 0 && count > limit && count > 2 * kEdge;
    os << "[";
    for (int64_t i = 0; i < count; ++i) {
      if (i > 0)
        os << ", ";
      if (abbreviate && i == kEdge) {
        os << "..., ";
        i = count - kEdge;
      }
      printElements(value.items[i], limit, os);
    }
    os << "]";
  } else if (value.kind == LOOPC_OPTIONAL) {
    if (value.items.empty())
      os << "null";
    else
      printElements(value.items[0], limit, os);
  } else {
    int64_t index = 0;
    printAxis(value, 0, index, limit >= 0 && countPrinted(value) > limit, os);
  }
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static bool isClose(double actual, double expected,
                    const Tolerance &tolerance) {
  if (std::isnan(actual) || std::isnan(expected))
    return std::isnan(actual) && std::isnan(expected);
  if (std::isinf(actual) || std::isinf(expected))
    return actual == expected;
  return std::fabs(actual - expected) <=
         tolerance.absolute + tolerance.relative * std::fabs(expected);
}

static bool isElementClose(const HostValue &actual, const HostValue &expected,
                           int64_t index, const Tolerance &tolerance) {
  if (actual.kind == LOOPC_STRINGS)
    return actual.strings[index] == expected.strings[index];
  if (actual.dtype.code == kDLComplex)
    return isClose(getComplex(actual, index, 0), getComplex(expected, index, 0),
                   tolerance) &&
           isClose(getComplex(actual, index, 1), getComplex(expected, index, 1),
                   tolerance);
  if (isFloat(actual.dtype))
    return isClose(getFloat(actual, index), getFloat(expected, index),
                   tolerance);
  return getInteger(actual, index) == getInteger(expected, index);
}

static std::string indexText(ArrayRef<int64_t> shape, int64_t index) {
  std::vector<int64_t> parts(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    parts[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return "[" +
         join(map_range(parts, [](int64_t i) { return itostr(i); }), ", ") +
         "]";
}

static bool compareTensors(const HostValue &actual, const HostValue &expected,
                           const Tolerance &tolerance, StringRef name,
                           raw_ostream &os) {
  constexpr int64_t kShown = 5;
  int64_t count = actual.numElements(), wrong = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (isElementClose(actual, expected, i, tolerance))
      continue;
    if (wrong++ >= kShown)
      continue;
    os << "  " << name << indexText(actual.shape, i) << ": ";
    printElement(actual, i, os);
    os << ", expected ";
    printElement(expected, i, os);
    os << "\n";
  }
  if (wrong)
    os << "  " << name << ": " << wrong << " of " << count
       << " elements differ\n";
  return wrong == 0;
}

bool loopc::io::compareValues(const HostValue &actual,
                              const HostValue &expected,
                              const Tolerance &tolerance, StringRef name,
                              raw_ostream &os) {
  auto differ = [&] {
    os << "  " << name << ": " << describe(actual) << ", expected "
       << describe(expected) << "\n";
    return false;
  };
  if (actual.kind != expected.kind)
    return differ();
  if (actual.kind == LOOPC_SEQUENCE || actual.kind == LOOPC_OPTIONAL) {
    if (actual.items.size() != expected.items.size())
      return differ();
    bool same = true;
    for (size_t i = 0; i < actual.items.size(); ++i) {
      std::string item = actual.kind == LOOPC_OPTIONAL
                             ? name.str()
                             : (name + "{" + Twine(i) + "}").str();
      same &= compareValues(actual.items[i], expected.items[i], tolerance, item,
                            os);
    }
    return same;
  }
  bool sameType = actual.kind == LOOPC_STRINGS ||
                  (actual.dtype.code == expected.dtype.code &&
                   actual.dtype.bits == expected.dtype.bits);
  if (!sameType || actual.shape != expected.shape)
    return differ();
  return compareTensors(actual, expected, tolerance, name, os);
}
