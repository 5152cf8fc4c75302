//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CODEGEN_GPU_KERNELOPTIONS_TD
#define LOOPC_CODEGEN_GPU_KERNELOPTIONS_TD

include "mlir/Pass/PassBase.td"

// What several passes are told of what the user asked for. The chip is in the
// module's #loopc.target.

def Kernel_MinWorkOption
    : Option<"minWork", "min-work", "unsigned", /*default=*/"2048",
             "operations up to which a nest stays on the host, where it can">;
def Kernel_AllowTf32Option
    : Option<"allowTf32", "allow-tf32", "bool", /*default=*/"false",
             "tensor cores may round what products of f32 multiply">;
def Kernel_HostLoopsOption
    : Option<"hostLoops", "host-loops", "bool", /*default=*/"false",
             "the host drives the loops around nests">;
def Kernel_LoopsOption
    : Option<"loops", "loops", "::loopc::DeviceLoops",
             /*default=*/"::loopc::DeviceLoops::Auto", "what loops become",
             [{::llvm::cl::values(
                 clEnumValN(::loopc::DeviceLoops::Auto, "auto", "by cost"),
                 clEnumValN(::loopc::DeviceLoops::Kernel, "kernel", "kernels"),
                 clEnumValN(::loopc::DeviceLoops::Cluster, "cluster",
                            "kernels of one cluster each, where the chip has "
                            "them"),
                 clEnumValN(::loopc::DeviceLoops::Graph, "graph", "graphs"),
                 clEnumValN(::loopc::DeviceLoops::Host, "host",
                            "the host's")) }]>;
def Kernel_CublasOption
    : Option<"cublas", "cublas", "::loopc::Cublas",
             /*default=*/"::loopc::Cublas::Off",
             "products of matrices that cuBLAS may compute",
             [{::llvm::cl::values(
                 clEnumValN(::loopc::Cublas::Auto, "auto", "large ones"),
                 clEnumValN(::loopc::Cublas::On, "on", "all that it can"),
                 clEnumValN(::loopc::Cublas::Off, "off", "none")) }]>;
def Kernel_LibdeviceOption
    : Option<"hasLibdevice", "libdevice", "bool", /*default=*/"false",
             "functions of CUDA's libdevice may be called">;

#endif // LOOPC_CODEGEN_GPU_KERNELOPTIONS_TD
