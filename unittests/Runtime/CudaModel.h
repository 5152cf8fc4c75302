//===- CudaModel.h - Models for GPUs, made by hand --------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX and what describes it, as the compiler would make it.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_UNITTESTS_RUNTIME_CUDAMODEL_H
#define LOOPC_UNITTESTS_RUNTIME_CUDAMODEL_H

#include "TestModel.h"
#include "fake-cuda.h"
#include "loopc-rt/cuda.h"

namespace loopc::test {

/// Kernels of kCode, by number.
enum KernelNumber : int32_t {
  kAddOne,      ///< (control, x, y, n): y[i] = x[i] + 1, floats
  kFailCheck,   ///< (control): the second check fails in iteration 3 with 7
  kIllegal,     ///< (control): writes to an address that nobody has
  kCountBlocks, ///< (control, n): cooperative; *n = blocks that met
  kMissing      ///< is not in the code
};

inline constexpr char kCode[] = R"(
.version 8.0
.target sm_80
.address_size 64

.visible .entry add_one(.param .u64 control, .param .u64 x, .param .u64 y,
                        .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<3>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [y];
  ld.param.u32 %r5, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p1, %r4, %r5;
  @%p1 bra done;
  mul.wide.u32 %d3, %r4, 4;
  add.s64 %d4, %d1, %d3;
  add.s64 %d5, %d2, %d3;
  ld.global.f32 %f1, [%d4];
  add.f32 %f2, %f1, 0f3F800000;
  st.global.f32 [%d5], %f2;
done:
  ret;
}

.visible .entry fail_check(.param .u64 control)
{
  .reg .b64 %d<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %d1, [control];
  mov.u64 %d2, 3;
  st.global.u64 [%d1+8], %d2;
  mov.u64 %d2, 1;
  st.global.u64 [%d1+16], %d2;
  mov.u64 %d2, 7;
  st.global.u64 [%d1+24], %d2;
  mov.u32 %r1, 1;
  st.global.u32 [%d1+4], %r1;
  st.global.u32 [%d1], %r1;
  ret;
}

.visible .entry illegal(.param .u64 control)
{
  .reg .b64 %d<2>;
  mov.u64 %d1, 64;
  st.global.u64 [%d1], %d1;
  ret;
}

.visible .entry count_blocks(.param .u64 control, .param .u64 n)
{
  .reg .pred %p<3>;
  .reg .b32 %r<4>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [control];
  ld.param.u64 %d2, [n];
  mov.u32 %r1, %nctaid.x;
  cvt.u64.u32 %d3, %r1;
  atom.global.add.u64 %d4, [%d1+280], 1;
wait:
  ld.volatile.global.u64 %d5, [%d1+280];
  setp.lt.u64 %p1, %d5, %d3;
  @%p1 bra wait;
  mov.u32 %r2, %ctaid.x;
  setp.ne.u32 %p2, %r2, 0;
  @%p2 bra done;
  st.global.u64 [%d2], %d5;
done:
  ret;
}
)";

/// A loopc_cuda_program of some PTX; unloaded in the end.
struct Program {
  template <size_t Size>
  Program(const char (&code)[Size], std::vector<const char *> names)
      : kernels(std::move(names)) {
    program.version = LOOPC_CUDA_VERSION;
    program.num_kernels = static_cast<uint32_t>(kernels.size());
    program.kernels = kernels.data();
    program.ptx = code;
    program.ptx_bytes = Size;
    program.chip = "sm_80";
  }
  ~Program() { loopc_rt_cuda_unload(&program); }
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  std::vector<const char *> kernels;
  loopc_cuda_program program = {};
};

/// The one with the code above.
struct TestProgram : Program {
  TestProgram()
      : Program(kCode, {"add_one", "fail_check", "illegal", "count_blocks",
                        "missing"}) {
    program.num_messages = 2;
    program.messages = messages;
  }

  const char *messages[2] = {"the first check", "{} is out of range"};
};

/// Calls of compiled code; each returns the status, or null, of the function.
struct Calls {
  Calls(void *run, loopc_cuda_program &program)
      : run(static_cast<loopc_run *>(run)), program(program) {}

  int32_t launch(int32_t kernel, int64_t blocks, int32_t threads, int32_t flags,
                 std::vector<void *> arguments) {
    arguments.insert(arguments.begin(), nullptr);
    return loopc_rt_cuda_launch(run, &program, kernel, blocks, threads, flags,
                                arguments.data());
  }
  int32_t addOne(void *x, void *y, int32_t count) {
    return launch(kAddOne, (count + 127) / 128, 128, 0, {&x, &y, &count});
  }
  void *input(const void *host, int64_t bytes,
              int32_t space = LOOPC_CUDA_DEVICE, bool isConstant = false) {
    return loopc_rt_cuda_input(run, &program, host, bytes, space, isConstant);
  }

  loopc_run *run;
  loopc_cuda_program &program;
};

extern "C" {
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuCtxSynchronize();
}

/// Memory that was freed in the order of a stream is alive until the driver
/// comes to it: lets it come.
inline void settle() {
  void *context;
  if (cuDevicePrimaryCtxRetain(&context, 0))
    return;
  cuCtxPushCurrent_v2(context);
  cuCtxSynchronize();
  cuCtxPopCurrent_v2(&context);
  cuDevicePrimaryCtxRelease_v2(0);
}

/// What the fake driver counts.
inline fake_cuda_statistics_t getCounts() {
  fake_cuda_statistics_t counts;
  fake_cuda_statistics(&counts);
  return counts;
}

/// A setting of the fake driver while it lives.
struct Setting {
  Setting(const char *name, const std::string &value) : name(name) {
    fake_cuda_set(name, value.c_str());
  }
  ~Setting() { fake_cuda_set(name, nullptr); }
  Setting(const Setting &) = delete;
  Setting &operator=(const Setting &) = delete;

  const char *name;
};

} // namespace loopc::test

#endif // LOOPC_UNITTESTS_RUNTIME_CUDAMODEL_H
