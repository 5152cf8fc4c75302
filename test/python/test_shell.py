# ===- test_shell.py - Man pages and completion of the commands ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What utils/gen_shell.py writes, tried as the shells try it."""

import shutil
import subprocess
import sys
from pathlib import Path

import loopc
import pytest

ROOT = Path(__file__).parents[2]
TOOLS = Path(loopc.get_library_dirs()[0]).parent / "bin"
sys.path.insert(0, str(ROOT / "utils"))
import gen_shell  # noqa: E402


@pytest.fixture(scope="module")
def share(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("share")
    command = [sys.executable, ROOT / "utils/gen_shell.py", "--tools", TOOLS, "--output", folder]
    subprocess.run(command, check=True)
    return folder


def complete(share: Path, folder: Path, *words: str) -> list[str]:
    """What bash offers for the last of `words`, which it has split at '='."""
    script = f"""
source {share}/bash-completion/completions/{words[0]}
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
"_${{1//-/_}}"
((${{#COMPREPLY[@]}})) && printf '%s\\n' "${{COMPREPLY[@]}}"
:
"""
    command = ["bash", "--norc", "-c", script, "bash", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert not done.stderr
    return done.stdout.splitlines()


def test_bash_completes_options_values_and_models(share, tmp_path):
    for name in ("model.onnx", "model.so", "notes.txt", "network.xml"):
        (tmp_path / name).touch()
    (tmp_path / "models").mkdir()
    assert complete(share, tmp_path, "loopc", "--em") == ["--emit="]
    assert complete(share, tmp_path, "loopc", "--emit", "=", "ll") == ["llvm", "llvm-ir"]
    assert "obj" in complete(share, tmp_path, "loopc", "--emit", "=")
    assert complete(share, tmp_path, "loopc", "--device-loops", "=", "k") == ["kernel"]
    assert complete(share, tmp_path, "loopc", "--input-format", "=", "") == [
        "auto",
        "onnx",
        "openvino",
        "mlir",
    ]
    assert complete(share, tmp_path, "loopc", "-O") == ["-O0", "-O1", "-O2", "-O3"]
    assert complete(share, tmp_path, "loopc", "-o", "no") == ["notes.txt"]
    assert complete(share, tmp_path, "loopc", "--name", "=", "m") == []
    assert complete(share, tmp_path, "loopc", "--external-data", "=", "m") == ["models"]
    assert complete(share, tmp_path, "loopc", "m") == ["models", "model.onnx"]
    assert complete(share, tmp_path, "loopc", "e") == ["explain"]
    assert complete(share, tmp_path, "loopc", "explain", "n") == ["network.xml"]
    assert complete(share, tmp_path, "loopc", "cache", "c") == ["clear"]
    # A value that may be left out, and an option that takes none.
    assert complete(share, tmp_path, "loopc-run", "--prof") == ["--profile", "--profile="]
    assert complete(share, tmp_path, "loopc-run", "--qui") == ["--quiet"]
    assert complete(share, tmp_path, "loopc-run", "m") == ["models", "model.onnx", "model.so"]


@pytest.mark.parametrize("name", ["loopc", "loopc-run"])
def test_man_pages_have_all_options(share, name):
    page = share / f"man/man1/{name}.1"
    if shutil.which("groff"):
        command = ["groff", "-man", "-Tascii", "-ww", "-z", page]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert not done.stderr
    text = page.read_text()
    options = gen_shell.help_of(TOOLS / name).options()
    assert len(options) > 20
    for option in options:
        assert f"\\fB{gen_shell.roff(option.flag)}\\fR" in text
        assert gen_shell.roff(option.text) in text
    assert '"loopc 0.1.0"' in text and "success" in text


@pytest.mark.parametrize("name", ["loopc", "loopc-run"])
def test_zsh_and_fish_have_all_options(share, name):
    zsh = share / f"zsh/site-functions/_{name}"
    fish = share / f"fish/vendor_completions.d/{name}.fish"
    # The shells' own word on the files, where this machine has them.
    for shell, file in (("zsh", zsh), ("fish", fish)):
        if shutil.which(shell):
            subprocess.run([shell, "-n", file], check=True)
    for option in gen_shell.help_of(TOOLS / name).options():
        assert f"'*{option.flag}" in zsh.read_text()
        kind = "-l" if option.long else "-s"
        assert f"complete -c {name} {kind} {option.name} " in fish.read_text()


def test_values_are_those_that_the_program_takes():
    emit = next(one for one in gen_shell.help_of(TOOLS / "loopc").options() if one.name == "emit")
    for value, _ in emit.values:
        command = [TOOLS / "loopc", f"--emit={value}", "-o", "x", "none.onnx"]
        said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
        assert "LC0102: cannot read" in said, value


def test_help_that_nobody_knows_is_an_error():
    text = "OVERVIEW: does it\n\nUSAGE: it [options]\n\nOPTIONS:\n\n  what is this\n"
    with pytest.raises(ValueError, match="not a line of an option"):
        gen_shell.read_help(text)
