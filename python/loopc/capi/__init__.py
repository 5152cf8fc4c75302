# ===- __init__.py - What onnxruntime keeps in capi ------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Modules that programs import from ``onnxruntime.capi``: errors and classes.

They work under both names, ``loopc.capi`` and, where ``sys.modules["onnxruntime"]`` is
loopc, ``onnxruntime.capi``.
"""
