# ===- model_packages.py - Models that lie in Python packages ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The models that user_models.toml names, taken out of archives, and their variants."""

from __future__ import annotations

import fnmatch
import gzip
import logging
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import exported_models
import onnx

LIST = Path(__file__).resolve().with_name("user_models.toml")
#: Seconds that a wheel may take.
PATIENCE = 600


@dataclass(frozen=True)
class Entry:
    """A model, what its open extents and its inputs are, and how it is varied."""

    origin: str
    path: Path
    given: Mapping[str, str]
    variant: str = ""

    @property
    def name(self) -> str:
        """What a table calls it."""
        return f"{self.path.name}, {self.variant}" if self.variant else self.path.name


Wanted = Callable[[Entry], bool]


def _archive(requirement: str, source: bool, cache: Path) -> Path:
    """The wheel or the sources of a package, downloaded once; raises RuntimeError where pip fails.

    Nothing of it is installed, so the Python that it is for does not matter.
    """
    folder = cache / requirement.replace("==", "-")
    pattern = "*.tar.gz" if source else "*.whl"
    if not any(folder.glob(pattern)):
        print(f"{requirement}: downloading", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--no-binary" if source else "--only-binary", requirement.split("==")[0]]
        command += ["--ignore-requires-python", "--dest", str(folder), requirement]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"{requirement}: {done.stderr.strip()[-300:]}")
    return next(folder.glob(pattern))


def _contents(path: Path, pattern: str) -> dict[str, bytes]:
    """The files of an archive that match."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return {name: wheel.read(name) for name in fnmatch.filter(wheel.namelist(), pattern)}
    with tarfile.open(path) as sources:
        files = [(one.name, sources.extractfile(one)) for one in sources if one.isfile()]
        return {
            name: file.read() for name, file in files if file and fnmatch.fnmatch(name, pattern)
        }


def _take_out(path: Path, pattern: str, folder: Path) -> list[Path]:
    """The files of an archive that match, in `folder`; raises RuntimeError where none does."""
    contents = _contents(path, pattern)
    if not contents:
        raise RuntimeError(f"{path.name} has no {pattern}")
    for name, data in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return [_unpacked(folder / name) for name in sorted(contents)]


def _unpacked(path: Path) -> Path:
    """The file itself, or what is in it where it was compressed by gzip."""
    if path.suffix != ".gz":
        return path
    made = path.with_suffix("")
    made.write_bytes(gzip.decompress(path.read_bytes()))
    return made


def _fix(entry: Entry) -> onnx.ModelProto:
    """The model with the extents of its inputs in their types."""
    from user_models import make_shape

    model = onnx.load(entry.path)
    stored = {one.name for one in model.graph.initializer}
    for value in model.graph.input:
        if value.name in stored or not value.type.HasField("tensor_type"):
            continue
        dims = value.type.tensor_type.shape.dim
        extents = [
            one.dim_value if one.HasField("dim_value") else one.dim_param or None for one in dims
        ]
        for one, extent in zip(dims, make_shape(value.name, extents, entry.given), strict=True):
            one.dim_value = extent
    del model.graph.value_info[:]  # they name extents that are known now
    return model


def _write_variant(entry: Entry, variant: str, path: Path) -> None:
    """Writes a variant of a model."""
    if variant == "fixed":
        onnx.save(_fix(entry), path)
    elif variant == "int8":
        from onnxruntime.quantization import quantize_dynamic

        logging.disable(logging.WARNING)  # it recommends another tool of its own
        quantize_dynamic(entry.path, path)
    elif variant == "float16":
        from onnxruntime.transformers.float16 import convert_float_to_float16

        onnx.save(convert_float_to_float16(onnx.load(entry.path)), path)
    else:
        raise RuntimeError(f"there is no variant '{variant}'")


def _may_be_wanted(table: Mapping[str, Any], wanted: Wanted) -> bool:
    """Whether any of a package's models may be, as far as the list says their names."""
    origin = table["package"].replace("==", " ")
    named = (
        Entry(origin, Path(pattern), {}, variant)
        for pattern in table["files"]
        for variant in ["", *table.get("variants", [])]
    )
    return any("*" in entry.name or wanted(entry) for entry in named)


def _entries_of(table: Mapping[str, Any], cache: Path, wanted: Wanted) -> Iterator[Entry]:
    given = {name: str(value) for name, value in table.get("set", {}).items()}
    folder = cache / table["package"].replace("==", "-")
    archive = _archive(table["package"], table.get("source", False), cache)
    for pattern in table.get("beside", []):
        _take_out(archive, pattern, folder)
    for pattern in table["files"]:
        for path in _take_out(archive, pattern, folder):
            entry = Entry(table["package"].replace("==", " "), path, given)
            if wanted(entry):
                yield entry
            for variant in table.get("variants", []):
                made = folder / variant / path.name
                varied = Entry(entry.origin, made, given, variant)
                if wanted(varied):
                    made.parent.mkdir(parents=True, exist_ok=True)
                    _write_variant(entry, variant, made)
                    yield varied


def find(cache: Path, wanted: Wanted) -> Iterator[Entry]:
    """Those that are wanted, of packages in the order of the list, then exported ones."""
    for table in tomllib.loads(LIST.read_text())["entries"]:
        if not _may_be_wanted(table, wanted):
            continue
        yield from _entries_of(table, cache, wanted)
    for origin, path in exported_models.write(cache / "exported"):
        entry = Entry(origin, path, {"X.0": "64"})
        if wanted(entry):
            yield entry
