//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LookupTable.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

template <typename Key>
SmallVector<Key> LookupTable::sortKeys(ArrayRef<Key> keys) {
  SmallVector<int64_t> order(llvm::to_vector(llvm::seq<int64_t>(keys.size())));
  // Equal keys stay in their order.
  llvm::sort(order, [&](int64_t x, int64_t y) {
    return std::tie(keys[x], x) < std::tie(keys[y], y);
  });
  SmallVector<Key> distinct;
  places.resize(keys.size());
  for (int64_t k : order) {
    if (distinct.empty() || distinct.back() != keys[k]) {
      distinct.push_back(keys[k]);
      given.push_back(k);
    }
    given.back() = k;
    places[k] = distinct.size() - 1;
  }
  numKeys = distinct.size();
  return distinct;
}

LookupTable::LookupTable(NodeLowering &l, ArrayRef<int64_t> keys) {
  SmallVector<int64_t> distinct = sortKeys(keys);
  // There is something to read even where there are no keys.
  if (distinct.empty())
    distinct.push_back(0);
  auto type = RankedTensorType::get({static_cast<int64_t>(distinct.size())},
                                    l.b.getI64Type());
  sorted = arith::ConstantOp::create(
      l.b, DenseElementsAttr::get(type, ArrayRef(distinct)));
}

LookupTable::LookupTable(NodeLowering &l, ArrayRef<StringRef> keys) {
  stringTable = loopc::stringTable(l.b, sortKeys(keys));
}

/// Halves what is left in a fixed number of steps without branches.
Value LookupTable::find(ScalarBuilder &s, Value key) const {
  Type i64 = s.b.getI64Type();
  Value size = s.integer(i64, numKeys);
  if (!sorted) {
    SmallVector<Value> arguments = {key};
    arguments.append(stringTable);
    Value found =
        callRuntime(s.b, s.loc, "loopc_rt_string_find", arguments, i64);
    Value isThere = s.make<arith::CmpIOp>(IP::sge, found, s.integer(i64, 0));
    return s.select(isThere, found, size);
  }
  auto read = [&](Value place) -> Value {
    Value index = s.make<arith::IndexCastOp>(s.b.getIndexType(), place);
    return tensor::ExtractOp::create(s.b, s.loc, sorted, index);
  };
  // `place` keys are known to be smaller than `key`.
  Value place = s.integer(i64, 0);
  for (int64_t step = llvm::bit_floor<uint64_t>(numKeys); step > 0; step /= 2) {
    Value next = s.add(place, s.integer(i64, step));
    Value last = s.sub(s.make<arith::MinSIOp>(next, size), s.integer(i64, 1));
    Value isSmaller = s.make<arith::CmpIOp>(IP::slt, read(last), key);
    Value fits = s.make<arith::CmpIOp>(IP::sle, next, size);
    place = s.select(s.both(fits, isSmaller), next, place);
  }
  Value safe = s.make<arith::MinSIOp>(
      place, s.integer(i64, std::max<int64_t>(numKeys - 1, 0)));
  Value same = s.make<arith::CmpIOp>(IP::eq, read(safe), key);
  Value inside = s.make<arith::CmpIOp>(IP::slt, place, size);
  return s.select(s.both(inside, same), place, size);
}
