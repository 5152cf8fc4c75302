# ===- text_mutants.py - MLIR and XML with something wrong -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Changes texts by their tokens, lines and bytes, and XML by its elements."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET

from onnx_mutants import FLOATS, INTEGERS, STRINGS, bytes_mutant

#: Words of MLIR: names, types with angle brackets, numbers, strings, punctuation.
_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|[%@#!^][\w.$-]*|(?:tensor|memref|vector|array)<[^<>]*(?:<[^<>]*>)?[^<>]*>'
    r"|-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+|[A-Za-z_][\w.]*|->|\S"
)
_TYPES = (
    *("tensor<f32>", "tensor<?xf32>", "tensor<*xf32>", "tensor<2x3xf32>", "tensor<0xf32>", "i64"),
    *("tensor<4611686018427387904x4xf32>", "tensor<9223372036854775807xi64>", "i1", "index", "f32"),
    *("tensor<?xi64>", "tensor<i64>", "tensor<i1>", "memref<?xf32>", "memref<f32>", "none"),
    *("tensor<?x?xf64>", "!onnx.string", "!onnx.seq<tensor<f32>>", "tensor<1x1x1x1x1x1x1x1x1xi8>"),
    *("complex<f32>", "vector<4xf32>", "tensor<3xcomplex<f64>>", "memref<*xf32>", "!loop.none"),
)


def text_mutant(text: str, seed: int) -> bytes:
    """A text of MLIR with one to three changes."""
    dice = random.Random(seed)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        text = dice.choices((_token, _line, _swap), (6, 2, 2))[0](text, dice)
    data = text.encode()
    return bytes_mutant(data, dice) if dice.random() < 0.05 else data


def _token(text: str, dice: random.Random) -> str:
    tokens = list(_TOKEN.finditer(text))
    if not tokens:
        return text
    chosen = dice.choice(tokens)
    word = chosen[0]
    if re.fullmatch(r"-?\d+", word):
        new = str(dice.choice(INTEGERS))
    elif re.fullmatch(r"-?\d+\.\d+.*", word):
        new = str(dice.choice(FLOATS))
    elif word.startswith('"') and dice.random() < 0.5:
        new = '"' + dice.choice(STRINGS).replace("\\", "\\\\").replace('"', '\\"') + '"'
    elif "<" in word or word in ("i64", "i1", "f32", "index", "i32", "f64"):
        new = dice.choice(_TYPES)
    elif dice.random() < 0.3:
        new = ""
    else:
        # Another of its kind: a value for a value, an operation for an operation.
        alike = [
            t[0] for t in tokens if t[0][0] == word[0] or t[0][0].isalpha() == word[0].isalpha()
        ]
        new = dice.choice(alike)
    return text[: chosen.start()] + new + text[chosen.end() :]


def _line(text: str, dice: random.Random) -> str:
    lines = text.split("\n")
    place = dice.randrange(len(lines))
    match dice.randrange(3):
        case 0:
            del lines[place]
        case 1:
            lines.insert(place, lines[place])
        case _:
            other = dice.randrange(len(lines))
            lines[place], lines[other] = lines[other], lines[place]
    return "\n".join(lines)


def _swap(text: str, dice: random.Random) -> str:
    """All of one type, or of one value, become another."""
    tokens = [t[0] for t in _TOKEN.finditer(text) if "<" in t[0] or t[0][0] == "%"]
    if not tokens:
        return text
    old = dice.choice(tokens)
    new = dice.choice(_TYPES) if "<" in old and dice.random() < 0.5 else dice.choice(tokens)
    return text.replace(old, new)


#: What elements of every type and extents of every axis may be as well.
_NUMBERS = (
    *("f16", "bf16", "f32", "f64", "f8E4M3FN", "i1", "i2", "i4", "i8", "i16", "i32", "i64", "i7"),
    *("i128", "f80"),
)
_ELEMENTS = (
    *(*_NUMBERS, "ui8", "ui64", "index", "complex<f32>", "complex<f64>", "none", "!onnx.string"),
)
_EXTENTS = ("?", "0", "1", "2", "3", "17", "4096", "2147483648", "4611686018427387904")


def retyped(text: str, seed: int) -> bytes:
    """A text of MLIR whose types are others, all alike: what was verified mostly still is.

    All elements of one type become elements of another, or all extents of one number another
    number or an open one; now and then both.
    """
    dice = random.Random(seed)
    for _ in range(dice.choice((1, 1, 2))):
        elements = sorted(set(re.findall(r"(?<=[x<])(?:f|bf|i|ui)\d+\w*(?=[>,])", text)))
        extents = sorted(set(re.findall(r"(?<=[<x])(?:\?|\d+)(?=x)", text)))
        if elements and (not extents or dice.random() < 0.5):
            old, new = re.escape(dice.choice(elements)), dice.choice(_ELEMENTS)
            # Constants of numbers have the type alone.
            text = re.sub(rf"(?<=[x<]){old}(?=[>,])|(?<=[ :(]){old}(?![\w.])", new, text)
        elif extents:
            old, new = re.escape(dice.choice(extents)), dice.choice(_EXTENTS)
            text = re.sub(rf"(?<=[<x]){old}(?=x)", new, text)
    return text.encode()


def extended(text: str, seed: int) -> bytes:
    """A text of MLIR with an operation or a type that has more than it had.

    One linalg.generic in two has an operand more, a number that its body may not read; or buffers
    of one type lie in parts of others.
    """
    dice = random.Random(seed)
    memrefs = sorted(set(re.findall(r"memref<[\w?]+x[a-z]\w*>", text)))
    if memrefs and dice.random() < 0.5:
        old = dice.choice(memrefs)
        rank = old.count("x") - old.count("index")
        strides = [dice.choice(("?", "?", "0", "1", "2")) for _ in range(rank - 1)]
        strides.append(dice.choice(("1", "1", "1", "?", "0", "2", "-1")))
        offset = dice.choice(("0", "?", "3"))
        layout = f", strided<[{', '.join(strides)}], offset: {offset}>"
        return text.replace(old, f"{old[:-1]}{layout}>").encode()
    return re.sub(_GENERIC, lambda found: _with_number(found, dice), text).encode()


#: A linalg.generic with inputs, to the first argument of its body.
_GENERIC = re.compile(
    r"^(?P<begin>(?P<indent> *)(?:%[\w:, %]+ = )?linalg\.generic \{[^{}]*?indexing_maps = \[)"
    r"(?P<maps>[^{}]*?)(?P<kinds>iterator_types = \[)(?P<types>[^\]]*)(?P<between>\][^{}]*\}\s*)"
    r"ins\((?P<values>[^:()]*):(?P<rest>[^{}]*\{\s*\^\w+\()",
    re.M,
)


def _with_number(found: re.Match[str], dice: random.Random) -> str:
    if dice.random() < 0.5:
        return found[0]
    kind = dice.choice(("index", "complex<f32>", "complex<f64>", *_NUMBERS))
    name = f"%more_{found.start()}"
    made = f"{name} = arith.constant {'1' if kind[0] in 'i' else '1.0'} : {kind}"
    if kind == "i1":
        made = f"{name} = arith.constant true"
    elif kind[0] == "c":
        part = f"0.0 : {kind[8:-1]}"
        made = f"{name} = complex.constant [{part}, {part}] : {kind}"
    axes = ", ".join(f"q{k}" for k in range(found["types"].count('"') // 2))
    return (
        f"{found['indent']}{made}\n{found['begin']}affine_map<({axes}) -> ()>, {found['maps']}"
        f"{found['kinds']}{found['types']}{found['between']}ins({name}, {found['values']}: {kind}, "
        f"{found['rest'].lstrip()}%{name[1:]}_b: {kind}, "
    )


def xml_mutant(text: str, seed: int) -> bytes:
    """OpenVINO IR with one to three changes of its elements, or of bytes."""
    dice = random.Random(seed)
    if dice.random() < 0.1:
        return bytes_mutant(text.encode(), dice)
    root = ET.fromstring(text)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        _element(root, dice)
    data: bytes = ET.tostring(root)
    return data


def _element(root: ET.Element, dice: random.Random) -> None:
    parents = {child: parent for parent in root.iter() for child in parent}
    element = dice.choice(list(root.iter()))
    choice = dice.randrange(10)
    if choice == 0 and element in parents:
        parents[element].remove(element)
    elif choice == 1 and element in parents:
        parents[element].append(element)
    elif choice == 2 and len(element) > 1:
        children = list(element)
        dice.shuffle(children)
        element[:] = children
    elif choice == 3 and element.text and element.text.strip():
        element.text = dice.choice((str(dice.choice(INTEGERS)), dice.choice(_PRINTABLE), "-1", ""))
    elif element.attrib:
        name = dice.choice(list(element.attrib))
        match dice.randrange(5):
            case 0:
                del element.attrib[name]
            case 1:
                element.attrib[name] = str(dice.choice(INTEGERS))
            case 2:
                element.attrib[name] = dice.choice(_PRINTABLE)
            case 3:
                # What the same attribute is elsewhere: an edge, a type, an operation.
                elsewhere = [e.attrib[name] for e in root.iter() if name in e.attrib]
                element.attrib[name] = dice.choice(elsewhere)
            case _:
                element.attrib[name] = ",".join(
                    str(dice.choice(INTEGERS)) for _ in range(dice.choice((1, 2, 4)))
                )


#: XML holds no zeros.
_PRINTABLE = tuple(
    text for text in (*STRINGS, "f16", "boolean", "string", "?", "nan") if "\0" not in text
)
