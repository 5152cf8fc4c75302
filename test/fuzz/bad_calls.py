# ===- bad_calls.py - Wrong calls of the C API -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Calls each function of loopc-c/ with null pointers, odd numbers, and objects that fit.

What a caller cannot be protected from is left out: pointers to nothing, lengths that lie and
objects that are gone.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import random
import re
import tempfile

from bad_outcomes import limit_memory

_ROOT = pathlib.Path(__file__).parents[2]
_MODEL = b"""<ir_version: 10, opset_import: ["" : 21]>
m (float[N] x, int64 n) => (float[N] y) {
  y = Loop (n, "", x) <body = b (int64 i, bool c, float[N] a) => (bool c, float[N] d) {
    d = Add (a, x)
  }>
}"""
#: Objects by their type's name: how they are made, and the function that frees them.
_OBJECTS = ("profile", "session", "diagnostics", "compile_options", "network")

#: What the library may call while it compiles, which goes on.
_GO_ON = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda *_: 0)

Function = tuple[str, str, list[str]]


def functions() -> list[Function]:
    """Name, result and parameter types of what the headers declare."""
    found = []
    for header in sorted((_ROOT / "include/loopc-c").glob("*.h")):
        text = re.sub(r"//[^\n]*", "", header.read_text())
        declared = re.finditer(r"LOOPC_API\s+([^;(]*?)(\w+)\(([^)]*)\)\s*;", text)
        for result, name, parameters in (match.groups() for match in declared):
            types = [] if parameters.strip() == "void" else parameters.split(",")
            found.append((name, result.strip(), [_type(one) for one in types]))
    return found


def _type(parameter: str) -> str:
    """The type of "const char *name"."""
    text = " ".join(parameter.split())
    # What callbacks are given as their context.
    if text == "void *profile":
        return "loopc_profile *"
    return re.sub(r"\w+$", "", text).strip() if not text.endswith("*") else text


class Caller:
    """Makes calls in this process, which may die of them."""

    def __init__(self, seed: int) -> None:
        limit_memory()
        self._dice = random.Random(seed)
        self._library = ctypes.CDLL(str(_ROOT / "build/lib/libloopc.so"))
        self._folder = tempfile.mkdtemp()
        os.chdir(self._folder)
        self._buffer = ctypes.create_string_buffer(1 << 16)
        self._objects = self._made()
        self.calls: list[str] = []

    def _made(self) -> dict[str, int]:
        library = self._library
        made = {}
        for name in ("compile_options_create", "network_create"):
            function = library[f"loopc_{name}"]
            function.restype = ctypes.c_void_p
            arguments = (b"net",) if name == "network_create" else ()
            made[name.removesuffix("_create")] = function(*arguments)
        library.loopc_profile_create.restype = ctypes.c_void_p
        made["profile"] = library.loopc_profile_create()
        session, diagnostics = ctypes.c_void_p(), ctypes.c_void_p()
        library.loopc_session_create_from_bytes(
            _MODEL, len(_MODEL), None, ctypes.byref(session), ctypes.byref(diagnostics)
        )
        made |= {"session": session.value, "diagnostics": diagnostics.value}
        return {name: value for name, value in made.items() if value}

    def call(self, function: Function) -> None:
        """Calls it once with arguments that the dice choose."""
        name, result, types = function
        # A structure that is returned is more than ctypes knows of here.
        if name.endswith("_destroy") or result == "loopc_diagnostic":
            return
        called = self._library[name]
        called.restype = {"void": None}.get(
            result, ctypes.c_void_p if "*" in result else ctypes.c_int64
        )
        arguments = [self._argument(one, function) for one in types]
        self.calls.append(f"{name}({', '.join(str(a) for a in arguments)})")
        print(self.calls[-1], flush=True)
        called(*arguments)

    def _argument(self, kind: str, function: Function) -> object:
        dice = self._dice
        if kind.endswith("_function"):
            return dice.choice((ctypes.c_void_p(None), ctypes.cast(_GO_ON, ctypes.c_void_p)))
        if "*" not in kind:
            if "double" in kind or "float" in kind:
                return ctypes.c_double(dice.choice((0.0, -1.0, 1e308, float("nan"))))
            # Lengths of what is given: the buffer has room for these.
            if "size_t" in kind:
                return ctypes.c_size_t(dice.choice((0, 1, 2)))
            numbers = (0, 1, -1, 2, 7, 2**31 - 1, -(2**31))
            return ctypes.c_int64(dice.choice(numbers))
        if dice.random() < 0.3:
            return ctypes.c_void_p(None)
        for name in _OBJECTS:
            if re.fullmatch(rf"(const )?loopc_{name} \*", kind):
                return ctypes.c_void_p(self._objects.get(name))
        if kind.endswith("char *"):
            texts = (b"", b"x", b"Unary", b"a" * 3000, b"\xff\xfe", b"m.onnx", b"/", b"%s%n")
            return ctypes.c_char_p(dice.choice(texts))
        # Zeros are a value, options and extents of every type.
        ctypes.memset(self._buffer, 0, len(self._buffer))
        return ctypes.c_void_p(ctypes.addressof(self._buffer))


def run(seed: int, count: int) -> None:
    """Calls `count` functions; the calls are printed before they are made."""
    caller = Caller(seed)
    dice = random.Random(seed)
    declared = functions()
    for _ in range(count):
        caller.call(dice.choice(declared))


if __name__ == "__main__":
    import sys

    run(int(sys.argv[1]), int(sys.argv[2]))
