# ===- _no_effect.py - Methods of onnxruntime's sessions that do nothing -----===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What programs of onnxruntime call, and what has no effect on compiled models."""

from collections.abc import Mapping
from typing import Any

from loopc._errors import InvalidType
from loopc._options import type_name


class NoEffect:
    """The base of `InferenceSession` that has these methods."""

    def enable_fallback(self) -> None:
        """Nothing: there is nothing to fall back to."""

    def disable_fallback(self) -> None:
        """Nothing: there is nothing to fall back to."""

    def set_ep_dynamic_options(self, options: Mapping[str, str]) -> None:
        """Makes no difference: what runs is compiled, and has no provider to tell."""
        if not isinstance(options, Mapping):
            raise InvalidType(f"options: expected a dict, got {type_name(options)}")

    def release_captured_graph(self, graph_annotation_id: int = 0) -> None:
        """Nothing: what a GPU runs is a part of the compiled model."""

    def get_tuning_results(self) -> list[Any]:
        """None: kernels are chosen when a model is compiled."""
        return []

    def set_tuning_results(self, results: Any, error_on_invalid: bool = False) -> None:
        """Nothing, as `get_tuning_results`."""
