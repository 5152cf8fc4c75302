//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Computes the elements of small integer tensors as far as constants and
// dimensions give them: what the onnx library calls data propagation. The
// library's own is not used: only the newest versions have it, a Slice with
// unknown bounds is taken as one from 0, and values of rank 2 are flattened.

#include "IntegerValues.h"
#include "loopc/Support/ConstantElements.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc::onnx;

ElementsAttr loopc::onnx::getSmallConstant(Value value) {
  ElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return {};
  auto type = dyn_cast<RankedTensorType>(elements.getShapedType());
  return type && type.getNumElements() <= maxElements ? elements
                                                      : ElementsAttr();
}

/// The type of tensors whose elements are followed: few integers of rank 0, 1.
static RankedTensorType getFollowedType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() > 1 || !type.hasStaticShape() ||
      type.getNumElements() > maxElements)
    return {};
  Type element = type.getElementType();
  return element.isSignlessInteger(64) || element.isSignlessInteger(32) ||
                 element.isSignlessInteger(1)
             ? type
             : RankedTensorType();
}

/// The elements of a constant.
static std::optional<Quantities> readConstant(ElementsAttr attr) {
  Quantities result;
  if (auto dense = dyn_cast<DenseIntElementsAttr>(attr)) {
    bool isBool = dense.getElementType().isInteger(1);
    for (const APInt &value : dense.getValues<APInt>())
      result.push_back(
          Quantity::of(isBool ? value.getZExtValue() : value.getSExtValue()));
    return result;
  }
  unsigned bits = attr.getElementType().getIntOrFloatBitWidth();
  unsigned width = bits == 1 ? 1 : bits / 8;
  ArrayRef<char> data = loopc::getRawBytes(attr);
  if (data.size() != static_cast<size_t>(attr.getNumElements()) * width)
    return std::nullopt;
  for (; !data.empty(); data = data.drop_front(width)) {
    int64_t value = 0;
    std::memcpy(&value, data.data(), width);
    result.push_back(Quantity::of(bits == 32  ? static_cast<int32_t>(value)
                                  : bits == 1 ? value != 0
                                              : value));
  }
  return result;
}

namespace {
/// Computes the elements of one result of a node from those of its operands.
/// Nothing where one of them or the operator is not known.
class Evaluator {
public:
  Evaluator(InferenceCache::Impl &cache, NodeOp node, OpResult result,
            RankedTensorType type)
      : cache(cache), node(node), result(result), type(type),
        count(type.getNumElements()) {}

  /// True for operators that run() knows.
  static bool knows(NodeOp node);
  std::optional<Quantities> run();

private:
  using Maybe = std::optional<Quantities>;

  Maybe in(unsigned i) {
    Value input = node.getInputOrNull(i);
    return input && getFollowedType(input) ? cache.getElements(input)
                                           : std::nullopt;
  }
  /// Input `i` if every element has a value.
  std::optional<SmallVector<int64_t>> values(unsigned i) {
    Maybe elements = in(i);
    if (!elements ||
        llvm::any_of(*elements, [](const Quantity &q) { return !q.value; }))
      return std::nullopt;
    return llvm::map_to_vector(*elements,
                               [](const Quantity &q) { return *q.value; });
  }
  int64_t intAttr(StringRef name, int64_t otherwise) {
    auto attr = dyn_cast_or_null<IntegerAttr>(node.getNodeAttr(name));
    return attr ? attr.getInt() : otherwise;
  }
  unsigned rankOf(unsigned i) {
    Value input = node.getInputOrNull(i);
    return cast<RankedTensorType>(input.getType()).getRank();
  }
  /// `quantity` as an element of the result: unknown where it does not fit.
  Quantity fit(std::optional<int64_t> value) {
    unsigned bits = type.getElementTypeBitWidth();
    if (!value || (bits == 32 && !llvm::isInt<32>(*value)))
      return {};
    return Quantity::of(*value);
  }

  Maybe sameElements();
  Maybe cast_();
  Maybe elementwise(
      llvm::function_ref<Quantity(ArrayRef<Quantity> operands)> compute);
  Maybe arithmetic(StringRef op);
  Quantity compute(StringRef op, const Quantity &a, const Quantity &b);
  Maybe shape();
  Maybe size();
  Maybe gather();
  Maybe concat();
  Maybe slice();
  Maybe split();
  Maybe where();
  Maybe fill();
  Maybe range();
  Maybe reduce(StringRef op);

  InferenceCache::Impl &cache;
  NodeOp node;
  OpResult result;
  RankedTensorType type;
  int64_t count;
};
} // namespace

static bool isArithmetic(StringRef op) {
  return llvm::is_contained({"Add", "Sub", "Mul", "Div", "Mod", "Min", "Max",
                             "Equal", "Less", "Greater", "LessOrEqual",
                             "GreaterOrEqual", "And", "Or"},
                            op);
}

static bool isReduction(StringRef op) {
  return llvm::is_contained(
      {"ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"}, op);
}

bool Evaluator::knows(NodeOp node) {
  StringRef op = node.getOpType();
  if (!node.getDomain().empty())
    return false;
  return isArithmetic(op) || isReduction(op) ||
         llvm::is_contained({"Shape", "Size", "Gather", "Concat", "Slice",
                             "Split", "Squeeze", "Unsqueeze", "Reshape",
                             "Identity", "Cast", "Neg", "Not", "Where",
                             "ConstantOfShape", "Expand", "Range"},
                            op);
}

std::optional<Quantities> Evaluator::run() {
  StringRef op = node.getOpType();
  if (isArithmetic(op))
    return arithmetic(op);
  if (isReduction(op))
    return reduce(op);
  using Method = Maybe (Evaluator::*)();
  Method method = llvm::StringSwitch<Method>(op)
                      .Case("Shape", &Evaluator::shape)
                      .Case("Size", &Evaluator::size)
                      .Case("Gather", &Evaluator::gather)
                      .Case("Concat", &Evaluator::concat)
                      .Case("Slice", &Evaluator::slice)
                      .Case("Split", &Evaluator::split)
                      .Case("Where", &Evaluator::where)
                      .Case("ConstantOfShape", &Evaluator::fill)
                      .Case("Range", &Evaluator::range)
                      .Case("Cast", &Evaluator::cast_)
                      .Cases({"Squeeze", "Unsqueeze", "Reshape", "Identity"},
                             &Evaluator::sameElements)
                      .Default(nullptr);
  if (method)
    return (this->*method)();
  if (op == "Expand") {
    Maybe elements = in(0);
    if (!elements || elements->size() != 1)
      return sameElements();
    return Quantities(count, elements->front());
  }
  if (op == "Neg" || op == "Not")
    return elementwise([&](ArrayRef<Quantity> a) -> Quantity {
      if (!a[0].value)
        return {};
      if (op == "Not")
        return Quantity::of(!*a[0].value);
      int64_t negated;
      bool overflow = llvm::SubOverflow<int64_t>(0, *a[0].value, negated);
      return overflow ? Quantity() : fit(negated);
    });
  return std::nullopt;
}

Evaluator::Maybe Evaluator::sameElements() {
  Maybe elements = in(0);
  if (elements && static_cast<int64_t>(elements->size()) != count)
    return std::nullopt;
  return elements;
}

Evaluator::Maybe Evaluator::cast_() {
  Value input = node.getInputOrNull(0);
  RankedTensorType from = input ? getFollowedType(input) : nullptr;
  Maybe elements = sameElements();
  if (!elements || !from)
    return std::nullopt;
  if (from.getElementType() == type.getElementType())
    return elements;
  if (type.getElementTypeBitWidth() == 1)
    return elementwise([&](ArrayRef<Quantity> a) {
      return a[0].value ? Quantity::of(*a[0].value != 0) : Quantity();
    });
  // A name survives where every dimension fits.
  bool wide = type.getElementTypeBitWidth() == 64;
  return elementwise([&](ArrayRef<Quantity> a) {
    return a[0].value || !wide ? fit(a[0].value) : a[0];
  });
}

Evaluator::Maybe Evaluator::elementwise(
    llvm::function_ref<Quantity(ArrayRef<Quantity>)> compute) {
  SmallVector<Quantities> operands;
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    Maybe elements = in(i);
    if (!elements || (elements->size() != 1 &&
                      static_cast<int64_t>(elements->size()) != count))
      return std::nullopt;
    operands.push_back(std::move(*elements));
  }
  Quantities out;
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Quantity> row;
    for (const Quantities &operand : operands)
      row.push_back(operand[operand.size() == 1 ? 0 : i]);
    out.push_back(compute(row));
  }
  return out;
}

/// Truth of `op` on two quantities, where it is certain.
static std::optional<bool> compare(StringRef op, const Quantity &a,
                                   const Quantity &b) {
  if (a.isKnownEqual(b))
    return op == "Equal" || op.ends_with("OrEqual");
  // Names are dimensions, never negative.
  if (op == "Equal" && ((a.name && b.value && *b.value < 0) ||
                        (b.name && a.value && *a.value < 0)))
    return false;
  if (!a.value || !b.value)
    return std::nullopt;
  return llvm::StringSwitch<bool>(op)
      .Case("Less", *a.value < *b.value)
      .Case("LessOrEqual", *a.value <= *b.value)
      .Case("Greater", *a.value > *b.value)
      .Case("GreaterOrEqual", *a.value >= *b.value)
      .Default(false);
}

/// `a op b` of integers; nothing where it overflows or is undefined.
static std::optional<int64_t> fold(StringRef op, int64_t a, int64_t b,
                                   bool truncate) {
  int64_t value;
  if (op == "Add")
    return llvm::AddOverflow(a, b, value) ? std::nullopt : std::optional(value);
  if (op == "Sub")
    return llvm::SubOverflow(a, b, value) ? std::nullopt : std::optional(value);
  if (op == "Mul")
    return llvm::MulOverflow(a, b, value) ? std::nullopt : std::optional(value);
  if (op == "Min" || op == "Max")
    return op == "Min" ? std::min(a, b) : std::max(a, b);
  if (op == "And" || op == "Or")
    return op == "And" ? a && b : a || b;
  // Division by zero is an error at run time.
  if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min()))
    return std::nullopt;
  if (op == "Div")
    return a / b;
  int64_t remainder = a % b;
  if (!truncate && remainder != 0 && (remainder < 0) != (b < 0))
    remainder += b;
  return remainder;
}

Quantity Evaluator::compute(StringRef op, const Quantity &a,
                            const Quantity &b) {
  if (type.getElementTypeBitWidth() == 1 && op != "And" && op != "Or") {
    std::optional<bool> truth = compare(op, a, b);
    return truth ? Quantity::of(*truth) : Quantity();
  }
  if (a.value && b.value)
    return fit(fold(op, *a.value, *b.value, intAttr("fmod", 0) != 0));
  // Neutral elements keep a name.
  auto is = [](const Quantity &q, int64_t value) { return q.value == value; };
  if ((op == "Add" || op == "Sub") && is(b, 0))
    return a;
  if ((op == "Mul" || op == "Div") && is(b, 1))
    return a;
  if ((op == "Add" && is(a, 0)) || (op == "Mul" && is(a, 1)))
    return b;
  if (op == "Mul" && (is(a, 0) || is(b, 0)))
    return Quantity::of(0);
  if (op == "Sub" && a.isKnownEqual(b))
    return Quantity::of(0);
  if ((op == "Min" || op == "Max") && a.isKnownEqual(b))
    return a;
  return {};
}

Evaluator::Maybe Evaluator::arithmetic(StringRef op) {
  return elementwise([&](ArrayRef<Quantity> operands) {
    Quantity result = operands.front();
    for (const Quantity &operand : operands.drop_front())
      result = compute(op, result, operand);
    return result;
  });
}

Evaluator::Maybe Evaluator::shape() {
  Maybe dims = cache.getShape(node.getInputOrNull(0));
  if (!dims)
    return std::nullopt;
  int64_t rank = dims->size();
  auto bound = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  int64_t start = bound(intAttr("start", 0)), end = bound(intAttr("end", rank));
  if (std::max<int64_t>(end - start, 0) != count)
    return std::nullopt;
  return Quantities(ArrayRef<Quantity>(*dims).slice(start, count));
}

Evaluator::Maybe Evaluator::size() {
  Maybe dims = cache.getShape(node.getInputOrNull(0));
  if (!dims)
    return std::nullopt;
  Quantity product = Quantity::of(1);
  for (const Quantity &dim : *dims)
    product = compute("Mul", product, dim);
  return Quantities{product};
}

Evaluator::Maybe Evaluator::gather() {
  Maybe data = in(0);
  std::optional<SmallVector<int64_t>> indices = values(1);
  if (!data || !indices || rankOf(0) != 1)
    return std::nullopt;
  Quantities out;
  int64_t size = data->size();
  for (int64_t index : *indices) {
    if (index < -size || index >= size)
      return std::nullopt;
    out.push_back((*data)[index < 0 ? index + size : index]);
  }
  return out;
}

Evaluator::Maybe Evaluator::concat() {
  Quantities out;
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    Maybe elements = in(i);
    if (!elements)
      return std::nullopt;
    out.append(*elements);
  }
  return out;
}

Evaluator::Maybe Evaluator::slice() {
  Maybe data = in(0);
  if (!data || rankOf(0) != 1)
    return std::nullopt;
  // One number of a bound: an input from version 10 on, an attribute before.
  bool inputs = node.getSinceVersion() >= 10;
  auto bound = [&](unsigned i, StringRef name,
                   std::optional<int64_t> otherwise) -> std::optional<int64_t> {
    std::optional<SmallVector<int64_t>> list;
    if (inputs) {
      if (!node.getInputOrNull(i))
        return otherwise;
      list = values(i);
    } else if (auto attr = dyn_cast_or_null<DenseI64ArrayAttr>(
                   node.getNodeAttr(name))) {
      list = SmallVector<int64_t>(attr.asArrayRef());
    } else {
      return otherwise;
    }
    return list && list->size() == 1 ? std::optional(list->front())
                                     : std::nullopt;
  };
  std::optional<int64_t> start = bound(1, "starts", std::nullopt),
                         end = bound(2, "ends", std::nullopt),
                         axis = bound(3, "axes", 0), step = bound(4, "", 1);
  if (!start || !end || !axis || (*axis != 0 && *axis != -1) || !step ||
      *step == 0)
    return std::nullopt;
  int64_t size = data->size(), low = *step > 0 ? 0 : -1,
          high = *step > 0 ? size : size - 1;
  auto clamp = [&](int64_t at, int64_t low) {
    return std::clamp<int64_t>(at < 0 ? at + size : at, low,
                               std::max(low, high));
  };
  int64_t from = clamp(*start, 0), to = clamp(*end, low);
  Quantities out;
  while (from >= 0 && from < size && (*step > 0 ? from < to : from > to)) {
    out.push_back((*data)[from]);
    if (llvm::AddOverflow(from, *step, from))
      break;
  }
  if (static_cast<int64_t>(out.size()) != count)
    return std::nullopt;
  return out;
}

Evaluator::Maybe Evaluator::split() {
  Maybe data = in(0);
  if (!data || rankOf(0) != 1)
    return std::nullopt;
  int64_t offset = 0;
  for (OpResult before :
       node->getResults().take_front(result.getResultNumber())) {
    RankedTensorType part = getFollowedType(before);
    if (!part)
      return std::nullopt;
    offset += part.getNumElements();
  }
  if (offset + count > static_cast<int64_t>(data->size()))
    return std::nullopt;
  return Quantities(ArrayRef<Quantity>(*data).slice(offset, count));
}

Evaluator::Maybe Evaluator::where() {
  return elementwise([](ArrayRef<Quantity> a) -> Quantity {
    if (a.size() != 3)
      return {};
    if (a[0].value)
      return a[*a[0].value ? 1 : 2];
    return a[1].isKnownEqual(a[2]) ? a[1] : Quantity();
  });
}

Evaluator::Maybe Evaluator::fill() {
  auto value = dyn_cast_or_null<ElementsAttr>(node.getNodeAttr("value"));
  if (!value || value.getElementType() != type.getElementType() ||
      value.getNumElements() != 1)
    return std::nullopt;
  Maybe element = readConstant(value);
  if (!element)
    return std::nullopt;
  return Quantities(count, element->front());
}

Evaluator::Maybe Evaluator::range() {
  auto start = values(0), delta = values(2);
  if (!start || !delta || start->size() != 1 || delta->size() != 1)
    return std::nullopt;
  Quantities out;
  for (int64_t i = 0; i < count; ++i) {
    std::optional<int64_t> step = fold("Mul", i, delta->front(), false);
    out.push_back(
        fit(step ? fold("Add", start->front(), *step, false) : std::nullopt));
  }
  return out;
}

Evaluator::Maybe Evaluator::reduce(StringRef op) {
  Maybe data = in(0);
  if (!data || data->empty() || count != 1)
    return std::nullopt;
  Quantity total = data->front();
  for (const Quantity &element : ArrayRef<Quantity>(*data).drop_front())
    total = compute(op == "ReduceProd"  ? "Mul"
                    : op == "ReduceSum" ? "Add"
                                        : op.drop_front(strlen("Reduce")),
                    total, element);
  return Quantities{total};
}

//===----------------------------------------------------------------------===//
// InferenceCache
//===----------------------------------------------------------------------===//

std::optional<Quantities> InferenceCache::Impl::getShape(Value value) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : nullptr;
  if (!type)
    return std::nullopt;
  auto known = shapes.find(value);
  if (known == shapes.end() ||
      static_cast<int64_t>(known->second.size()) != type.getRank()) {
    // A cast changes nothing but the type: the names are its source's.
    Quantities names(type.getRank());
    if (auto cast = value.getDefiningOp<tensor::CastOp>())
      if (std::optional<Quantities> source = getShape(cast.getSource()))
        if (source->size() == names.size())
          names = *source;
    setShape(value, names);
    known = shapes.find(value);
  }
  Quantities result = known->second;
  for (auto [quantity, size] : llvm::zip_equal(result, type.getShape()))
    if (ShapedType::isStatic(size))
      quantity = Quantity::of(size);
    else if (quantity.value)
      quantity = Quantity();
  return result;
}

void InferenceCache::Impl::setShape(Value value, Quantities shape) {
  for (Quantity &quantity : shape)
    if (!quantity.value && !quantity.name)
      quantity = Quantity::named(++lastName);
  shapes[value] = std::move(shape);
}

void InferenceCache::Impl::forget(Value value) {
  shapes.erase(value);
  elements.erase(value);
}

std::optional<Quantities> InferenceCache::Impl::computeElements(Value value) {
  RankedTensorType type = getFollowedType(value);
  if (!type)
    return std::nullopt;
  if (ElementsAttr constant = getSmallConstant(value))
    return readConstant(constant);
  if (auto cast = value.getDefiningOp<tensor::CastOp>())
    return getFollowedType(cast.getSource()) ? getElements(cast.getSource())
                                             : std::nullopt;
  auto node = value.getDefiningOp<NodeOp>();
  if (!node || !Evaluator::knows(node))
    return std::nullopt;
  std::optional<Quantities> result =
      Evaluator(*this, node, cast<OpResult>(value), type).run();
  if (result && static_cast<int64_t>(result->size()) != type.getNumElements())
    return std::nullopt;
  return result;
}

std::optional<Quantities> InferenceCache::Impl::getElements(Value root) {
  if (auto known = elements.find(root); known != elements.end())
    return known->second;
  // Operands first, on a stack of our own: shape computations are long chains.
  // What is being computed counts as unknown, so that cycles end.
  SmallVector<std::pair<Value, bool>> stack{{root, false}};
  while (!stack.empty()) {
    auto [value, visited] = stack.back();
    if (visited) {
      std::optional<Quantities> computed = computeElements(value);
      elements[value] = std::move(computed);
      stack.pop_back();
      continue;
    }
    stack.back().second = true;
    if (!elements.try_emplace(value, std::nullopt).second) {
      stack.pop_back();
      continue;
    }
    Operation *op = value.getDefiningOp();
    auto node = dyn_cast_or_null<NodeOp>(op);
    if (isa_and_nonnull<tensor::CastOp>(op) || (node && Evaluator::knows(node)))
      for (Value operand : op->getOperands())
        if (getFollowedType(operand) && !elements.contains(operand))
          stack.push_back({operand, false});
  }
  return elements[root];
}

InferenceCache::InferenceCache() : impl(std::make_unique<Impl>()) {}
InferenceCache::~InferenceCache() = default;
InferenceCache::InferenceCache(InferenceCache &&) = default;

void InferenceCache::forget(Value value) { impl->forget(value); }

std::optional<int64_t> InferenceCache::getInteger(Value value) {
  APInt constant;
  if (value.getType().isIntOrIndex() &&
      matchPattern(value, m_ConstantInt(&constant)) &&
      constant.getSignificantBits() <= 64)
    return constant.getSExtValue();
  // An element of a tensor: the only one, or one of a list.
  if (auto extract = value.getDefiningOp<tensor::ExtractOp>()) {
    if (!getFollowedType(extract.getTensor()))
      return std::nullopt;
    std::optional<Quantities> list = impl->getElements(extract.getTensor());
    std::optional<int64_t> at = 0;
    if (!extract.getIndices().empty())
      at = getInteger(extract.getIndices().front());
    if (!list || !at || *at < 0 || *at >= static_cast<int64_t>(list->size()))
      return std::nullopt;
    return (*list)[*at].value;
  }
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType());
      !tensor || tensor.getRank() > 1)
    return std::nullopt;
  std::optional<Quantities> elements = impl->getElements(value);
  if (!elements || elements->size() != 1)
    return std::nullopt;
  return elements->front().value;
}
