//===- LoopcDialect.td - Attributes of all stages ---------*- tablegen -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_LOOPC_IR_LOOPCDIALECT_TD
#define LOOPC_DIALECT_LOOPC_IR_LOOPCDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Loopc_Dialect : Dialect {
  let name = "loopc";
  let cppNamespace = "::loopc";
  let summary = "Attributes that more than one stage reads";
  let description = [{
    The `loopc` dialect holds the attributes that stand at operations of other
    dialects: names of ports and dimensions, what one pass leaves for another,
    and the target. An attribute `loopc.NAME` that nobody reads is an error. Its
    one operation is the call of a section of a function, which is there while
    passes work on sections in parallel.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

def Loopc_TargetAttr : AttrDef<Loopc_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "The vector registers and the GPU that code is made for";
  let description = [{
    Stands at a module as `loopc.target`; `loopc-set-target` sets it. Every pass
    whose code depends on the target reads it there, so that operands that one
    pass packs have the widths that another one reads. A module without it is
    compiled for vectors of 128 bits without masks, which every target has, and
    kernels in it for an sm_80.

    ```mlir
    // AVX-512 with VNNI
    module attributes {loopc.target = #loopc.target<vector_bits = 512,
        registers = 32, mask_bits = 8, dot_bits = 8, scales = true>} {
    }
    ```

    | parameter | meaning |
    |---|---|
    | `vector_bits` | bits of a vector register, a power of two, 64 at least |
    | `registers` | number of vector registers |
    | `mask_bits` | bits of the narrowest element that masked loads and stores take: 8, 16, 32 or 64; 0 where there are none |
    | `dot_bits` | bits of the integers that an instruction multiplies and sums up, as many as fit into the 32 bits of a sum: 8 (unsigned by signed), 16 (signed), or 0 where there is none |
    | `scales` | there is an instruction for x 2^n (n an integer) of vectors of f32 |
    | `chip` | NVIDIA's name of the GPU that kernels are made for, as "sm_90". The rest goes with it |
    | `min_work` | operations up to which a nest stays on the host, where it can |
    | `tf32` | tensor cores may round what products of f32 multiply |
    | `libdevice` | functions of CUDA's libdevice may be called |
    | `loops` | what loops become: "kernel", "cluster" (kernels of one cluster each, where the chip has them), "graph", "host" (the host drives the loops around nests), or "auto", by cost |
    | `cublas` | products of matrices that cuBLAS may compute: "auto" (large ones), "on" (all that it can) or "off" |
  }];
  let parameters = (ins
    "unsigned":$vector_bits,
    "unsigned":$registers,
    DefaultValuedParameter<"unsigned", "0">:$mask_bits,
    DefaultValuedParameter<"unsigned", "0">:$dot_bits,
    DefaultValuedParameter<"bool", "false">:$scales,
    StringRefParameter<"", "\"\"">:$chip,
    DefaultValuedParameter<"unsigned", "::loopc::GPUTarget().minWork">:$min_work,
    DefaultValuedParameter<"bool", "false">:$tf32,
    DefaultValuedParameter<"bool", "false">:$libdevice,
    StringRefParameter<"", "\"auto\"">:$loops,
    StringRefParameter<"", "\"off\"">:$cublas);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // LOOPC_DIALECT_LOOPC_IR_LOOPCDIALECT_TD
