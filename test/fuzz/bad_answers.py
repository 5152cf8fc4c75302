# ===- bad_answers.py - Gives loopc bad input, in a process that may die -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What the processes do that bad input is tried in."""

from __future__ import annotations

import functools
import os
import pathlib
import random
import traceback
from typing import Any

import numpy as np
from bad_outcomes import Ending, Verdict, limit_memory, of_errors
from engines import Outcome

#: More than any of these models may take in a run, by its own account.
RUN_MEMORY = 1 << 30
#: Inputs that are copied to be changed.
MOST_BYTES = 1 << 28
RUN_SECONDS = 4.0


@functools.cache
def _prepare(log: str) -> None:
    limit_memory()
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)


def compile_and_run(log: str, data: bytes | str, feeds: dict[str, Any], level: int) -> Outcome:
    """A model, compiled and run: on its own inputs, or random ones where they no longer fit."""
    _prepare(log)
    import loopc

    source = pathlib.Path(data) if isinstance(data, str) else data
    try:
        session = loopc.InferenceSession(source, loopc.SessionOptions(opt_level=level))
    except loopc.CompileError as error:
        errors = [d for d in error.diagnostics if d.severity == loopc.Severity.ERROR]
        told = [(d.location, d.code, d.message) for d in errors]
        return Outcome(values=[of_errors(told)])
    except Exception:
        return Outcome(values=[Verdict(Ending.BAD_ERROR, traceback.format_exc())])
    try:
        return Outcome(values=[_run(session, feeds)])
    except Exception:
        return Outcome(values=[Verdict(Ending.BAD_ERROR, traceback.format_exc())])


def _run(session: Any, feeds: dict[str, Any]) -> Verdict:
    import loopc

    options = loopc.RunOptions(timeout=RUN_SECONDS, memory_limit=RUN_MEMORY)
    names = [port.name for port in session.get_inputs()]
    given = {name: feeds[name] for name in names if name in feeds}
    said = ""
    for values in (given, _made(session)):
        try:
            session.run(None, values, options)
        except loopc.Error as error:
            said = str(error)
            if not said.strip():
                return Verdict(Ending.BAD_ERROR, "a run failed without a message")
            if isinstance(error, loopc.CompileError):
                return Verdict(Ending.BAD_ERROR, f"a run compiles: {said}")
        else:
            return Verdict(Ending.FINE)
    return Verdict(Ending.REFUSED, said)


def _made(session: Any) -> dict[str, Any]:
    """Values of the declared types."""
    dtypes: dict[str, Any] = {"float": "float32", "double": "float64", "string": object}
    values: dict[str, Any] = {}
    for port in session.get_inputs():
        kind = port.type.removeprefix("tensor(").removesuffix(")")
        shape = [n if isinstance(n, int) else 2 for n in port.shape or []]
        if int(np.prod([float(n) for n in shape])) > 1 << 24:
            continue
        try:
            dtype = np.dtype(dtypes.get(kind, kind))
        except TypeError:
            continue
        values[port.name] = np.ones(shape, dtype)
    return values


def run_badly(log: str, data: bytes, feeds: dict[str, Any], seed: int) -> Outcome:
    """A valid model with inputs that are changed: an error of loopc's, or right results."""
    _prepare(log)
    try:
        session = _session(data)
    except Exception as error:
        return Outcome(values=[Verdict(Ending.REFUSED, str(error))])
    try:
        return Outcome(values=[_with_changes(session, feeds, random.Random(seed))])
    except Exception:
        return Outcome(values=[Verdict(Ending.BAD_ERROR, traceback.format_exc())])


@functools.lru_cache(maxsize=4)
def _session(data: bytes) -> Any:
    import loopc

    return loopc.InferenceSession(data)


def _with_changes(session: Any, feeds: dict[str, Any], dice: random.Random) -> Verdict:
    import loopc

    given: dict[Any, Any] = dict(feeds)
    for _ in range(dice.choice((1, 1, 2))):
        name = dice.choice(list(given) or ["x"])
        change = dice.randrange(12)
        if change == 0:
            given.pop(name, None)
        elif change == 1:
            given[dice.choice((3, None, "", "zzz", "x\0", "\ud800", b"x"))] = given.get(name)
        else:
            given[name] = _changed(given.get(name), dice)
    options = loopc.RunOptions(
        timeout=dice.choice((RUN_SECONDS, 0.01)), memory_limit=dice.choice((RUN_MEMORY, 1, 4096))
    )
    try:
        got = session.run(None, given, options)
    except loopc.Error as error:
        said = str(error)
        return Verdict(Ending.REFUSED if said.strip() else Ending.BAD_ERROR, said)
    except MemoryError as error:  # NumPy's, for a copy of an input: Python's own way to say so.
        return Verdict(Ending.REFUSED, str(error))
    # However the elements lie, they are the same.
    plain = {name: _plain(value) for name, value in given.items()}
    want = session.run(None, plain, loopc.RunOptions(timeout=2 * RUN_SECONDS))
    for one, other in zip(got, want, strict=True):
        if isinstance(one, np.ndarray) and one.dtype.kind in "fiub":
            np.testing.assert_array_equal(one, other)
    return Verdict(Ending.FINE)


def _plain(value: Any) -> Any:
    return np.array(value, order="C") if isinstance(value, np.ndarray) else value


def _changed(value: Any, dice: random.Random) -> Any:
    """Another value than what the model wants, or the same otherwise laid out."""
    others: tuple[Any, ...] = (
        None,
        3,
        3.5,
        True,
        "text",
        b"bytes",
        [],
        [[]],
        [1, "a"],
        {},
        object(),
        2**70,
        1j,
    )
    if not isinstance(value, np.ndarray) or dice.random() < 0.15:
        return dice.choice(others)
    if value.nbytes > MOST_BYTES:  # A change before this one: one element, many times.
        return value
    match dice.randrange(11):
        case 0:
            return value.astype(dice.choice(("f2", "f4", "f8", "i1", "i4", "i8", "u8", "?", "c8", "S3", "U2", "O", "M8[s]", ">f4", ">i8")))  # fmt: skip
        case 1:
            return value[None]
        case 2:
            return value.reshape(-1)
        case 3:
            return value[:0] if value.ndim else value[None][:0]
        case 4:
            return np.concatenate([value, value]) if value.ndim else value
        case 5:
            wide = np.zeros([2 * n for n in value.shape], value.dtype)
            wide[tuple(slice(None, None, 2) for _ in value.shape)] = value
            return wide[tuple(slice(None, None, 2) for _ in value.shape)]
        case 6:
            return np.flip(np.array(np.flip(value)))
        case 7:
            raw = np.zeros(value.nbytes + 1, np.uint8)
            raw[1:] = np.frombuffer(value.tobytes(), np.uint8)
            return raw[1:].view(value.dtype).reshape(value.shape)
        case 8:
            huge = (*(1 << 20 for _ in value.shape[:2]), *value.shape[2:])
            return np.broadcast_to(value.reshape(-1)[:1].reshape([1] * value.ndim), huge) if value.size else value  # fmt: skip
        case 9:
            odd = (np.nan, np.inf, -1, 0, 2**62, -(2**62), 2**63 - 1)
            filled = value.copy()
            try:
                filled[...] = dice.choice(odd)
            except (ValueError, OverflowError, TypeError):
                pass
            return filled
        case _:
            return np.asfortranarray(value)
