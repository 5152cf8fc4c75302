# ===- repo.py - The repository's files ------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The files of the repository, for the scripts of utils/."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_SKIPPED = {".git", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"}


def _listed_by_git() -> list[Path] | None:
    """Tracked files and new ones that git does not ignore; None without git."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return [Path(name) for name in done.stdout.decode().split("\0") if name]


def files(suffixes: set[str], under: tuple[str, ...] = ("",)) -> list[Path]:
    """Files with one of the suffixes below the given folders, sorted.

    Args:
        suffixes: with the dot, as in ``{".td", ".cpp"}``.
        under: folders relative to the repository.

    Returns:
        Paths relative to the repository.
    """
    found = _listed_by_git()
    if found is None:
        found = [
            path.relative_to(ROOT)
            for path in ROOT.rglob("*")
            if path.is_file()
            and not any(
                part in _SKIPPED or part == "build" or part.startswith("build-")
                for part in path.relative_to(ROOT).parts
            )
        ]
    return sorted(
        {
            path
            for path in found
            if path.suffix in suffixes
            and any(path.is_relative_to(folder) for folder in under)
            and (ROOT / path).is_file()
        }
    )


def read(path: Path) -> str:
    """The text of a file named relative to the repository."""
    return (ROOT / path).read_text(encoding="utf-8")


def cell(text: str) -> str:
    """Text as it may stand in a table of Markdown."""
    return text.replace("|", "\\|")
