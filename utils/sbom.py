# ===- sbom.py - What a release is made of ---------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The software bill of materials of a release, in SPDX 2.3.

The parts are not listed by hand. They are the libraries of other projects that the link
commands of the build name, with the Debian packages that these files come from, and the
libraries that lie in the wheel. What the build compiles from the sources of a Python package
(onnx, nanobind), and what is only a header (xxhash), is added by name.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import pathlib
import re
import subprocess
from collections.abc import Iterable
from typing import Any

from standalone import BUILT, BUILT_API, link_command, version

#: Licences by what a Debian source package is called, in SPDX's words.
LICENCES = {
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libjpeg-turbo": "IJG AND BSD-3-Clause AND Zlib",
    "libpng1.6": "libpng-2.0",
    "libwebp": "BSD-3-Clause",
    "libxml2": "MIT",
    "libzstd": "BSD-3-Clause",
    "llvm-toolchain-22": "Apache-2.0 WITH LLVM-exception",
    "nanobind": "BSD-3-Clause",
    "onnx": "Apache-2.0",
    "openjpeg2": "BSD-2-Clause",
    "protobuf": "BSD-3-Clause",
    "pugixml": "MIT",
    "re2": "BSD-3-Clause",
    "xxhash": "BSD-2-Clause",
    "zlib": "Zlib",
}
#: Debian packages whose headers are compiled into loopc, or that are linked by a name alone.
BY_NAME = ("libxxhash-dev", "libzstd1", "zlib1g-dev")
#: Libraries that the build links and a wheel does not have (utils/standalone.py).
LEFT_OUT = ("libtiff",)
#: Python packages whose sources are compiled into loopc.
SOURCES = ("onnx", "nanobind")
#: What the wheel wants beside it, and pip installs.
WANTED = ("numpy", "ml_dtypes")


def _debian(files: Iterable[str], packages: Iterable[str]) -> dict[str, dict[str, str]]:
    """The Debian source packages of files and packages: name, version, and a package."""
    paths = {path for file in files for path in (file, os.path.realpath(file))}
    owners = _asked("-S", *sorted(paths))
    known = {line.partition(": ")[0].split(",")[0] for line in owners if ": " in line}
    form = "${source:Package} ${Version} ${binary:Package}\\n"
    found: dict[str, dict[str, str]] = {}
    for line in _asked("-W", f"-f={form}", *sorted({*known, *packages})):
        name, number, binary = line.split()
        found[name] = {"name": name, "version": number, "package": binary}
    return found


def _asked(*arguments: str) -> list[str]:
    """What dpkg-query prints; it leaves out what it does not know."""
    command = ["dpkg-query", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def linked_files(build: pathlib.Path) -> list[str]:
    """Libraries of other projects that link commands of the build name, by their paths."""
    found = set()
    for target in (BUILT, BUILT_API, "lib/libloopc_images.so", "lib/libloopc_text.so"):
        if (build / target).exists():
            found |= {
                argument
                for argument in link_command(build, target)
                if re.search(r"^/.*\.(a|so[.\d]*)$", argument)
                and not pathlib.Path(argument).is_relative_to(build)
                and not pathlib.Path(argument).name.startswith(LEFT_OUT)
            }
    return sorted(found)


def _package(name: str, number: str, purl: str, comment: str) -> dict[str, Any]:
    """One package of the document."""
    licence = LICENCES.get(name, "NOASSERTION")
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name),
        "name": name,
        "versionInfo": number,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        "externalRefs": [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": purl,
            }
        ],
        "comment": comment,
    }


def make_sbom(build: pathlib.Path, created: datetime.datetime) -> dict[str, Any]:
    """The document of a release that this build makes, which `json.dump` takes.

    Args:
        build: the build tree.
        created: when the release was made, with a time zone.
    """
    whole = _package(
        "loopc", version(), f"pkg:pypi/loopc@{version()}", "wheels, and the archive of tools"
    )
    whole["licenseConcluded"] = whole["licenseDeclared"] = "Apache-2.0 WITH LLVM-exception"
    whole["primaryPackagePurpose"] = "APPLICATION"
    static_cxx = subprocess.run(
        ["c++", "-print-file-name=libstdc++.a"], capture_output=True, text=True, check=True
    ).stdout.strip()
    parts = []
    debian = _debian([*linked_files(build), static_cxx], BY_NAME)
    for row in sorted(debian.values(), key=lambda row: row["name"]):
        purl = f"pkg:deb/debian/{row['name']}@{row['version']}?arch=source"
        said = f"the Debian package {row['package']} and others of this source"
        parts.append((_package(row["name"], row["version"], purl, said), "CONTAINS"))
    for names, how, kind in (
        (SOURCES, "its sources are compiled into loopc", "CONTAINS"),
        (WANTED, "installed beside the wheel, not a part of it", "DEPENDS_ON"),
    ):
        for name in names:
            number = importlib.metadata.version(name)
            purl = f"pkg:pypi/{name.replace('_', '-')}@{number}"
            parts.append((_package(name, number, purl, how), kind))
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"loopc-{version()}",
        "documentNamespace": f"https://spdx.org/spdxdocs/loopc-{version()}-{created:%Y%m%d%H%M%S}",
        "creationInfo": {
            "created": f"{created:%Y-%m-%dT%H:%M:%SZ}",
            "creators": ["Tool: loopc-utils-sbom"],
        },
        "packages": [whole, *(part for part, _ in parts)],
        "relationships": [
            _relation("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-loopc"),
            *(_relation("SPDXRef-loopc", kind, part["SPDXID"]) for part, kind in parts),
        ],
    }


def _relation(one: str, kind: str, other: str) -> dict[str, str]:
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
