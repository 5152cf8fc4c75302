//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Arithmetic, comparisons, logic and conversions.

#include "ImporterImpl.h"
#include "loopc/Dialect/ONNX/IR/ProtoConversion.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

/// `b` made to broadcast to `a` as attribute auto_broadcast says: "pdpd" puts
/// its dimensions at `axis` of `a`.
static Value broadcastTo(LayerImport &l, Value a, Value b, StringRef fallback) {
  StringRef mode = l.str("auto_broadcast", fallback);
  l.expect("auto_broadcast", mode, {"numpy", "none", "pdpd"});
  if (mode != "pdpd")
    return b;
  int64_t rankA = l.rank(a), rankB = l.rank(b);
  // The name that OpenVINO writes, and that of its specification.
  const char *written = "auto_broadcast.auto_broadcast_axis";
  int64_t axis = l.integer(l.hasAttr(written) ? written : "axis", -1);
  if (axis < 0)
    axis = rankA - rankB;
  Ints axes;
  for (int64_t k = axis + rankB; k < rankA; ++k)
    axes.push_back(k - axis);
  return l.unsqueeze(b, axes);
}

static std::pair<Value, Value> operands(LayerImport &l) {
  Value a = l.in(0), b = l.in(1);
  if (l.element(a) != l.element(b))
    l.fail() << "the inputs have elements " << l.element(a) << " and "
             << l.element(b) << ", which must be the same";
  return {a, broadcastTo(l, a, b, "numpy")};
}

/// A type that ONNX's operators for all numbers take: none of less than a byte.
static Type wideType(LayerImport &l, Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || integer.getWidth() >= 8 || integer.getWidth() == 1)
    return element;
  return integer.isUnsigned()
             ? IntegerType::get(element.getContext(), 8, IntegerType::Unsigned)
             : Type(l.builder().getI8Type());
}

/// Works in `type` and converts back.
static Value workIn(LayerImport &l, Type type, StringRef op,
                    ArrayRef<Value> inputs,
                    ArrayRef<NamedAttribute> attrs = {}) {
  Type own = l.element(inputs[0]);
  SmallVector<Value> operands;
  for (Value input : inputs)
    operands.push_back(l.cast(input, type));
  return l.cast(l.node(op, operands, attrs), own);
}

static void importBinary(LayerImport &l) {
  auto [a, b] = operands(l);
  Type type = l.element(a);
  // OpenVINO's Add of booleans is their Or, Multiply their And.
  if (type.isInteger(1)) {
    StringRef logical = llvm::is_contained({"Add", "Max"}, l.op)   ? "Or"
                        : llvm::is_contained({"Mul", "Min"}, l.op) ? "And"
                                                                   : "Xor";
    return l.set(l.node(logical, {a, b}));
  }
  l.set(workIn(l, wideType(l, type), l.op, {a, b}));
}

static void importCompare(LayerImport &l) {
  auto [a, b] = operands(l);
  StringRef op = l.op;
  bool negate = op == "NotEqual";
  if (negate)
    op = "Equal";
  Type type = wideType(l, l.element(a));
  // Booleans have no order in ONNX.
  if (type.isInteger(1) && op != "Equal")
    type = l.builder().getI32Type();
  Value result = l.node(op, {l.cast(a, type), l.cast(b, type)});
  l.set(negate ? l.node("Not", {result}) : result);
}

static void importLogical(LayerImport &l) {
  auto [a, b] = operands(l);
  Type i1 = l.builder().getI1Type();
  Type own = l.element(a);
  l.set(l.cast(l.node(l.op, {l.cast(a, i1), l.cast(b, i1)}), own));
}

static void importBitwise(LayerImport &l) {
  auto [a, b] = operands(l);
  if (l.isBool(a)) {
    StringRef name = l.op;
    name.consume_front("Bitwise");
    return l.set(l.node(name, {a, b}));
  }
  l.set(workIn(l, wideType(l, l.element(a)), l.op, {a, b}));
}

static void importNot(LayerImport &l) {
  Value x = l.in(0);
  l.set(l.cast(l.node("Not", {l.cast(x, l.builder().getI1Type())}),
               l.element(x)));
}

static void importBitwiseNot(LayerImport &l) {
  Value x = l.in(0);
  l.set(l.node(l.isBool(x) ? "Not" : "BitwiseNot", {x}));
}

static void importShift(LayerImport &l) {
  auto [a, b] = operands(l);
  auto type = dyn_cast<IntegerType>(l.element(a));
  if (!type)
    return (void)(l.fail() << "elements are " << l.element(a)
                           << ", expected integers");
  // BitShift takes unsigned integers; to the left that is the same.
  bool isLeft = l.op == "LEFT";
  Type work = IntegerType::get(type.getContext(), type.getWidth(),
                               IntegerType::Unsigned);
  if (isLeft || type.isUnsigned())
    return l.set(
        workIn(l, work, "BitShift", {a, b}, {l.attr("direction", l.op)}));
  // A signed number to the right keeps its sign: ~(~x >> n) where x < 0.
  Value negative = l.node("Less", {a, l.scalarLike(a, 0)});
  Value flipped = l.node("Where", {negative, l.node("BitwiseNot", {a}), a});
  Value moved =
      workIn(l, work, "BitShift", {flipped, b}, {l.attr("direction", "RIGHT")});
  l.set(l.node("Where", {negative, l.node("BitwiseNot", {moved}), moved}));
}

/// The quotient of integers is rounded down with m_pythondiv, which is the
/// default, else towards zero.
static void importDivide(LayerImport &l) {
  auto [a, b] = operands(l);
  Type type = wideType(l, l.element(a));
  Type own = l.element(a);
  a = l.cast(a, type);
  b = l.cast(b, type);
  Value quotient = l.node("Div", {a, b});
  auto integer = dyn_cast<IntegerType>(type);
  if (integer && !integer.isUnsigned() && l.boolean("m_pythondiv", true)) {
    // One less where something remains whose sign is not the divisor's.
    Value rest = l.node("Sub", {a, l.node("Mul", {quotient, b})});
    Value zero = l.scalar(type, 0);
    Value differ = l.node(
        "Xor", {l.node("Less", {rest, zero}), l.node("Less", {b, zero})});
    Value remains = l.node("Not", {l.node("Equal", {rest, zero})});
    Value isLess = l.node("And", {differ, remains});
    quotient = l.node("Sub", {quotient, l.cast(isLess, type)});
  }
  l.set(l.cast(quotient, own));
}

/// The remainder has the sign of the dividend.
static void importMod(LayerImport &l) {
  auto [a, b] = operands(l);
  l.set(l.node("Mod", {a, b}, {l.attr("fmod", 1)}));
}

/// The remainder has the sign of the divisor.
static void importFloorMod(LayerImport &l) {
  auto [a, b] = operands(l);
  if (!l.isFloat(a))
    return l.set(l.node("Mod", {a, b}, {l.attr("fmod", 0)}));
  Value rest = l.node("Mod", {a, b}, {l.attr("fmod", 1)});
  Value zero = l.scalarLike(a, 0);
  Value signs =
      l.node("Xor", {l.node("Less", {rest, zero}), l.node("Less", {b, zero})});
  Value isThere = l.node("Not", {l.node("Equal", {rest, zero})});
  l.set(l.node("Where", {l.node("And", {signs, isThere}),
                         l.node("Add", {rest, b}), rest}));
}

static void importPower(LayerImport &l) {
  auto [a, b] = operands(l);
  Type type = l.element(a);
  bool isNarrow = type.isInteger() && !type.isSignlessInteger(32) &&
                  !type.isSignlessInteger(64);
  Type work = !isNarrow ? type
              : type.getIntOrFloatBitWidth() < 32
                  ? l.builder().getI32Type()
                  : Type(l.builder().getI64Type());
  l.set(workIn(l, work, "Pow", {a, b}));
}

static void importSquaredDifference(LayerImport &l) {
  auto [a, b] = operands(l);
  Value difference = l.node("Sub", {a, b});
  l.set(l.node("Mul", {difference, difference}));
}

static void importUnary(LayerImport &l) {
  Value x = l.in(0);
  Type type = l.element(x);
  auto integer = dyn_cast<IntegerType>(type);
  StringRef op = l.op;
  if (!integer || op == "Abs" || op == "Sign")
    return l.set(l.node(op, {x}));
  if (op == "Neg") {
    // Unsigned numbers wrap around.
    if (!integer.isUnsigned())
      return l.set(l.node(op, {x}));
    return l.set(l.node("Sub", {l.scalarLike(x, 0), x}));
  }
  if (op == "Ceil" || op == "Floor" || op == "Round")
    return l.set(x);
  // Functions of real numbers, rounded to integers.
  bool isWide = integer.getWidth() > 16;
  Type work =
      isWide ? Type(l.builder().getF64Type()) : l.builder().getF32Type();
  Value y = l.node(op, {l.cast(x, work)});
  l.set(l.cast(l.node("Round", {y}), type));
}

static void importRound(LayerImport &l) {
  Value x = l.in(0);
  std::string mode = l.str("mode", "half_to_even").lower();
  l.expect("mode", mode, {"half_to_even", "half_away_from_zero"});
  if (!l.isFloat(x) || mode == "half_to_even")
    return l.set(l.isFloat(x) ? l.node("Round", {x}) : x);
  // Half an epsilon less than a half must stay down: round the rest.
  Value size = l.node("Abs", {x});
  Value floor = l.node("Floor", {size});
  Value up = l.node("GreaterOrEqual",
                    {l.node("Sub", {size, floor}), l.scalarLike(x, 0.5)});
  Value rounded =
      l.node("Where", {up, l.node("Add", {floor, l.scalarLike(x, 1)}), floor});
  l.set(l.node("Mul", {rounded, l.node("Sign", {x})}));
}

/// A cast that, other than ONNX's own, makes floats of 8 bits infinite or NaN
/// where a number is too large for them.
static Value convert(LayerImport &l, Value x, Type to) {
  if (!isa<Float8E4M3FNType, Float8E5M2Type>(to) || l.element(x) == to)
    return l.cast(x, to);
  return l.node(
      "Cast", {x},
      {l.attr("to", static_cast<int64_t>(loopc::onnx::exportElementType(to))),
       l.attr("saturate", 0)});
}

static void importConvert(LayerImport &l) {
  l.set(convert(l, l.in(0), l.elementAttr("destination_type", "")));
}

static void importConvertLike(LayerImport &l) {
  l.set(convert(l, l.in(0), l.element(l.in(1))));
}

static void importSelect(LayerImport &l) {
  Value condition = l.cast(l.in(0), l.builder().getI1Type());
  Value a = l.in(1), b = l.in(2);
  StringRef mode = l.str("auto_broadcast", "numpy");
  if (mode == "pdpd") {
    b = broadcastTo(l, a, b, "numpy");
    condition = broadcastTo(l, a, condition, "numpy");
  }
  l.set(l.node("Where", {condition, a, b}));
}

static void importIdentity(LayerImport &l) { l.set(l.in(0)); }

static void importIsNaN(LayerImport &l) { l.set(l.node("IsNaN", {l.in(0)})); }

static void importIsInf(LayerImport &l) {
  l.set(l.node(
      "IsInf", {l.in(0)},
      {l.attr("detect_negative", int(l.boolean("detect_negative", true))),
       l.attr("detect_positive", int(l.boolean("detect_positive", true)))}));
}

static void importIsFinite(LayerImport &l) {
  Value bad =
      l.node("Or", {l.node("IsNaN", {l.in(0)}), l.node("IsInf", {l.in(0)})});
  l.set(l.node("Not", {bad}));
}

llvm::ArrayRef<LayerRow> openvino::getElementwiseRows() {
  static constexpr uint32_t v1 = opsets({1});
  static const LayerRow rows[] = {
      {"Add", v1, importBinary, "Add"},
      {"Subtract", v1, importBinary, "Sub"},
      {"Multiply", v1, importBinary, "Mul"},
      {"Maximum", v1, importBinary, "Max"},
      {"Minimum", v1, importBinary, "Min"},
      {"Divide", v1, importDivide},
      {"Mod", v1, importMod},
      {"FloorMod", v1, importFloorMod},
      {"Power", v1, importPower},
      {"SquaredDifference", v1, importSquaredDifference},
      {"Equal", v1, importCompare, "Equal"},
      {"NotEqual", v1, importCompare, "NotEqual"},
      {"Less", v1, importCompare, "Less"},
      {"LessEqual", v1, importCompare, "LessOrEqual"},
      {"Greater", v1, importCompare, "Greater"},
      {"GreaterEqual", v1, importCompare, "GreaterOrEqual"},
      {"LogicalAnd", v1, importLogical, "And"},
      {"LogicalOr", v1, importLogical, "Or"},
      {"LogicalXor", opsets({1, 2}), importLogical, "Xor"},
      {"Xor", v1, importLogical, "Xor"},
      {"LogicalNot", v1, importNot},
      {"BitwiseAnd", opsets({13}), importBitwise, "BitwiseAnd"},
      {"BitwiseOr", opsets({13}), importBitwise, "BitwiseOr"},
      {"BitwiseXor", opsets({13}), importBitwise, "BitwiseXor"},
      {"BitwiseNot", opsets({13}), importBitwiseNot},
      {"BitwiseLeftShift", opsets({15}), importShift, "LEFT"},
      {"BitwiseRightShift", opsets({15}), importShift, "RIGHT"},
      {"Abs", v1, importUnary, "Abs"},
      {"Acos", v1, importUnary, "Acos"},
      {"Acosh", opsets({3, 4}), importUnary, "Acosh"},
      {"Asin", v1, importUnary, "Asin"},
      {"Asinh", opsets({3, 4}), importUnary, "Asinh"},
      {"Atan", v1, importUnary, "Atan"},
      {"Atanh", opsets({3, 4}), importUnary, "Atanh"},
      {"Ceiling", v1, importUnary, "Ceil"},
      {"Cos", v1, importUnary, "Cos"},
      {"Cosh", v1, importUnary, "Cosh"},
      {"Erf", v1, importUnary, "Erf"},
      {"Exp", v1, importUnary, "Exp"},
      {"Floor", v1, importUnary, "Floor"},
      {"Log", v1, importUnary, "Log"},
      {"Negative", v1, importUnary, "Neg"},
      {"Sign", v1, importUnary, "Sign"},
      {"Sin", v1, importUnary, "Sin"},
      {"Sinh", v1, importUnary, "Sinh"},
      {"Sqrt", v1, importUnary, "Sqrt"},
      {"Tan", v1, importUnary, "Tan"},
      {"Tanh", v1, importUnary, "Tanh"},
      {"Round", opsets({5}), importRound},
      {"Convert", v1, importConvert},
      {"ConvertLike", v1, importConvertLike},
      {"Select", v1, importSelect},
      {"Identity", opsets({16}), importIdentity},
      {"IsNaN", opsets({10}), importIsNaN},
      {"IsInf", opsets({10}), importIsInf},
      {"IsFinite", opsets({10}), importIsFinite}};
  return rows;
}
