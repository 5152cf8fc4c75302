# ===- intel_cpu.py - Properties of CPUs -------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Properties of OpenVINO's CPU runtime."""

from loopc.openvino._properties import Property

denormals_optimization = Property("CPU_DENORMALS_OPTIMIZATION")
