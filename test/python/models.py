# ===- models.py - The small loop models, for any test -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""``from models import all_models``: every registered model of loop_models/."""

from loop_models.registry import LoopModel, OrtDiffers, Run, all_models

__all__ = ["LoopModel", "OrtDiffers", "Run", "all_models"]
