//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/RT/RuntimeFunctions.h"
#include "loopc-rt/cuda.h"
#include "loopc-rt/runtime.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace loopc;

/// The type that a parameter or result of type T of a C function has. A string
/// comes back as the pair of registers that a struct of two words is returned
/// in.
template <typename T> static Type convertType(MLIRContext *context) {
  if constexpr (std::is_void_v<T>) {
    return LLVM::LLVMVoidType::get(context);
  } else if constexpr (std::is_pointer_v<T>) {
    return LLVM::LLVMPointerType::get(context);
  } else if constexpr (std::is_same_v<T, loopc_string>) {
    Type word = IntegerType::get(context, 64);
    return LLVM::LLVMStructType::getLiteral(context, {word, word});
  } else if constexpr (std::is_same_v<T, double>) {
    return Float64Type::get(context);
  } else {
    static_assert(std::is_integral_v<T>);
    return IntegerType::get(context, 8 * sizeof(T));
  }
}

namespace {
template <typename T> struct Prototype;

template <typename Result, typename... Parameters>
struct Prototype<Result(Parameters...)> {
  static LLVM::LLVMFunctionType convert(MLIRContext *context) {
    return LLVM::LLVMFunctionType::get(convertType<Result>(context),
                                       {convertType<Parameters>(context)...});
  }
};

struct RuntimeFunction {
  StringLiteral name;
  LLVM::LLVMFunctionType (*getType)(MLIRContext *);
  RuntimeEffects effects;
};
} // namespace

#define LOOPC_FUNCTION(name, ...)                                              \
  {                                                                            \
    #name, &Prototype<decltype(name)>::convert, { __VA_ARGS__ }                \
  }
static constexpr RuntimeFunction kFunctions[] = {
    LOOPC_FUNCTION(loopc_rt_alloc, .memory = RuntimeEffects::Inner,
                   .allocates = true),
    LOOPC_FUNCTION(loopc_rt_alloc_output, .memory = RuntimeEffects::Arguments,
                   .allocates = true),
    LOOPC_FUNCTION(loopc_rt_alloc_scratch, .memory = RuntimeEffects::Inner,
                   .allocates = true),
    LOOPC_FUNCTION(loopc_rt_cuda_alloc),
    LOOPC_FUNCTION(loopc_rt_cuda_begin),
    LOOPC_FUNCTION(loopc_rt_cuda_copy),
    LOOPC_FUNCTION(loopc_rt_cuda_free),
    LOOPC_FUNCTION(loopc_rt_cuda_graph),
    LOOPC_FUNCTION(loopc_rt_cuda_input),
    LOOPC_FUNCTION(loopc_rt_cuda_launch),
    LOOPC_FUNCTION(loopc_rt_cuda_output),
    LOOPC_FUNCTION(loopc_rt_cuda_product),
    LOOPC_FUNCTION(loopc_rt_cuda_sync),
    LOOPC_FUNCTION(loopc_rt_custom),
    LOOPC_FUNCTION(loopc_rt_fail, .memory = RuntimeEffects::Arguments),
    LOOPC_FUNCTION(loopc_rt_fail_at, .memory = RuntimeEffects::Arguments),
    LOOPC_FUNCTION(loopc_rt_fourier),
    LOOPC_FUNCTION(loopc_rt_free, .memory = RuntimeEffects::Arguments),
    LOOPC_FUNCTION(loopc_rt_list_at),
    LOOPC_FUNCTION(loopc_rt_list_at_list),
    LOOPC_FUNCTION(loopc_rt_list_erase),
    LOOPC_FUNCTION(loopc_rt_list_insert),
    LOOPC_FUNCTION(loopc_rt_list_insert_list),
    LOOPC_FUNCTION(loopc_rt_list_length),
    LOOPC_FUNCTION(loopc_rt_list_release),
    LOOPC_FUNCTION(loopc_rt_list_retain),
    LOOPC_FUNCTION(loopc_rt_locate, .memory = RuntimeEffects::Arguments),
    LOOPC_FUNCTION(loopc_rt_num_threads),
    LOOPC_FUNCTION(loopc_rt_parallel_for, .sharesWork = true),
    LOOPC_FUNCTION(loopc_rt_poll, .memory = RuntimeEffects::Inner),
    LOOPC_FUNCTION(loopc_rt_profile_begin, .memory = RuntimeEffects::Arguments),
    LOOPC_FUNCTION(loopc_rt_profile_enter, .memory = RuntimeEffects::Inner),
    LOOPC_FUNCTION(loopc_rt_profile_iteration, .memory = RuntimeEffects::Inner),
    LOOPC_FUNCTION(loopc_rt_profile_leave, .memory = RuntimeEffects::Inner),
    LOOPC_FUNCTION(loopc_rt_profile_mark, .memory = RuntimeEffects::Inner),
    LOOPC_FUNCTION(loopc_rt_profile_next, .memory = RuntimeEffects::Inner),
    LOOPC_FUNCTION(loopc_rt_random_stream),
    LOOPC_FUNCTION(loopc_rt_regex_full_match),
    LOOPC_FUNCTION(loopc_rt_retain),
    LOOPC_FUNCTION(loopc_rt_string_compare),
    LOOPC_FUNCTION(loopc_rt_string_concat),
    LOOPC_FUNCTION(loopc_rt_string_find),
    LOOPC_FUNCTION(loopc_rt_string_from_float),
    LOOPC_FUNCTION(loopc_rt_string_from_int),
    LOOPC_FUNCTION(loopc_rt_string_from_uint),
    LOOPC_FUNCTION(loopc_rt_string_lower),
    LOOPC_FUNCTION(loopc_rt_string_split_count),
    LOOPC_FUNCTION(loopc_rt_string_split_first),
    LOOPC_FUNCTION(loopc_rt_string_split_rest),
    LOOPC_FUNCTION(loopc_rt_string_to_float),
    LOOPC_FUNCTION(loopc_rt_string_to_int),
    LOOPC_FUNCTION(loopc_rt_string_to_uint),
    LOOPC_FUNCTION(loopc_rt_string_upper),
    LOOPC_FUNCTION(loopc_rt_try_parallel_for, .sharesWork = true),
};
#undef LOOPC_FUNCTION

/// The row of `name`; null where the table has none.
static const RuntimeFunction *findFunction(StringRef name) {
  const auto *found =
      llvm::find_if(kFunctions, [&](const RuntimeFunction &function) {
        return function.name == name;
      });
  return found == std::end(kFunctions) ? nullptr : found;
}

LLVM::LLVMFunctionType loopc::getRuntimeFunctionType(MLIRContext *context,
                                                     StringRef name) {
  const RuntimeFunction *found = findFunction(name);
  return found ? found->getType(context) : LLVM::LLVMFunctionType();
}

RuntimeEffects loopc::getRuntimeEffects(StringRef name) {
  const RuntimeFunction *found = findFunction(name);
  return found ? found->effects : RuntimeEffects();
}

LLVM::LLVMFuncOp loopc::declareRuntimeFunction(ModuleOp module,
                                               StringRef name) {
  LLVM::LLVMFunctionType type =
      getRuntimeFunctionType(module.getContext(), name);
  assert(type && "the table of the runtime's functions lacks it");
  OpBuilder builder(module.getBodyRegion());
  return *LLVM::lookupOrCreateFn(builder, module, name, type.getParams(),
                                 type.getReturnType());
}

bool loopc::isMathFunction(StringRef name) {
  auto isDouble = [](StringRef text) {
    return llvm::StringSwitch<bool>(text)
        .Cases({"acos", "acosh", "asin", "asinh", "atan", "atan2"}, true)
        .Cases({"atanh", "cbrt", "ceil", "cos", "cosh", "erf"}, true)
        .Cases({"erfc", "exp", "exp2", "expm1", "fabs", "floor"}, true)
        .Cases({"fma", "fmod", "log", "log10", "log1p", "log2"}, true)
        .Cases({"pow", "round", "roundeven", "sin", "sinh", "sqrt"}, true)
        .Cases({"tan", "tanh", "trunc"}, true)
        .Default(false);
  };
  return isDouble(name) || (name.consume_back("f") && isDouble(name));
}
