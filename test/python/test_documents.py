# ===- test_documents.py - Commands of the documents ------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs the commands of pages of docs/ as a reader would, and compares what they print.

A block whose first line is ```LANGUAGE title="FILE" is a file, a block of `console` has commands
behind `$` and what each prints. They run in a folder that has the parts of the repository that
the page names, with the tools and this Python in PATH.
"""

import os
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

import loopc
import pytest

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)


def commands(block: str) -> list[tuple[str, str]]:
    """The commands of a block, each with what it prints."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    assert not parts[0], "a block of commands begins with $"
    return [(command, said) for command, _, said in (part.partition("\n") for part in parts[1:])]


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """The folder of a reader who has built loopc."""
    for name in ("examples", "include", "lib", "utils"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "build").mkdir()
    for name in ("lib", "share", "test"):
        built = Path(loopc.get_library_dirs()[0]).parent / name
        (tmp_path / "build" / name).symlink_to(built)
    tools = Path(loopc.get_library_dirs()[0]).parent / "bin"
    monkeypatch.setenv(
        "PATH", os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    return tmp_path


def without_times(text: str) -> str:
    """Numbers with a point are times: no two runs have the same, or the same order of lines."""
    return "\n".join(sorted(re.sub(r" *\d+\.\d+", " 0", text).splitlines()))


def as_printed(text: str) -> str:
    return text


@pytest.mark.parametrize(
    ("page", "seen"),
    [
        ("Start.md", as_printed),
        ("HowTo.md", as_printed),
        ("Gallery.md", as_printed),
        ("CustomOperators.md", as_printed),
        pytest.param(
            "AArch64.md",
            as_printed,
            marks=pytest.mark.skipif(
                not (shutil.which("aarch64-linux-gnu-g++") and shutil.which("qemu-aarch64")),
                reason="the page wants Debian's cross compiler and qemu",
            ),
        ),
        ("Profile.md", without_times),
        ("Walks.md", without_times),
    ],
)
def test_commands_print_what_the_page_says(page, seen, reader):
    ran = 0
    for language, title, block in FENCE.findall((ROOT / "docs" / page).read_text()):
        if title:
            (reader / title).write_text(block)
        for command, said in commands(block) if language == "console" else []:
            done = subprocess.run(
                ["bash", "-c", command], cwd=reader, capture_output=True, text=True, timeout=300
            )
            assert (seen(done.stdout), done.returncode) == (seen(said), 0), (
                f"{command}\n{done.stderr}"
            )
            ran += 1
    assert ran, f"{page} has no commands"


def test_the_page_about_the_compiler_names_what_is_there():
    text = re.sub(
        r"^```.*?^```$", "", (ROOT / "docs/Architecture.md").read_text(), flags=re.M | re.S
    )
    quoted = set(re.findall(r"`([^`\n]+)`", text))
    first = {name.split()[0] for name in quoted if name.strip()}
    paths = {
        name for name in first if re.match(r"(lib|include|test|unittests|utils|python)/", name)
    }
    missing = {path for path in paths if not list(ROOT.glob(path))}
    # Rows of kernels give files below the folder that the text before them names.
    below = {name for name in quoted if re.match(r"(Regions|Kernels)/\w+\.cpp$", name)}
    missing |= {name for name in below if not (ROOT / "lib/Codegen/GPU" / name).exists()}
    prefix = r"(onnx|loop|tensor|buffer|nest|cpu|loopc|convert)-[a-z-]+"
    stages = (ROOT / "docs/Stages.md").read_text()
    passes = {name for name in quoted if re.fullmatch(prefix, name)}
    programs = {"loopc-opt", "loopc-run", "loopc-print-plans"}
    missing |= {name for name in passes - programs if f"| `{name}` |" not in stages}
    # The third column of tables of passes is the phase, with its level.
    rows = re.findall(r"^\| (?:`[a-z-]+`(?:, )?)+ \| [^|]* \| ([^|]*) \|", text, re.M)
    phases = {name for row in rows for name in re.sub(r", -O\d", "", row).split(", ") if name}
    missing |= {name for name in phases if f"`populate{name}`" not in stages}
    assert not missing
    assert paths and below and passes and phases


def test_the_site_has_every_page():
    listed = re.findall(r"[\w/]+\.md", (ROOT / "mkdocs.yml").read_text())
    pages = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(listed) == sorted([*pages, "index.md"])


def test_links_of_the_site_stay_within_it():
    sys.path.insert(0, str(ROOT / "utils"))
    from site_hooks import relink

    text = "[docs/ABI.md](docs/ABI.md#Run), [the test](test/x.py), `a`\n```c\n[x](y)\n```\n"
    assert relink(text, "README.md") == (
        "[ABI](ABI.md#Run), the test (`test/x.py`), `a`\n```c\n[x](y)\n```\n"
    )
    assert relink("[main.c](../examples/main.c)", "docs/ABI.md") == "`examples/main.c`"
    assert relink("[why](../Rationale/Loop.md)", "docs/Dialects/Loop.md") == (
        "[why](../Rationale/Loop.md)"
    )


def test_a_page_of_the_site_has_its_heading_first():
    sys.path.insert(0, str(ROOT / "utils"))
    from site_hooks import on_page_markdown

    # mkdocs takes a page's title from what the page begins with, and else from its file.
    for page in sorted((ROOT / "docs").rglob("*.md")):
        source = types.SimpleNamespace(src_uri=str(page.relative_to(ROOT / "docs")))
        text = on_page_markdown(page.read_text(), types.SimpleNamespace(file=source))
        assert text.startswith("# "), page
