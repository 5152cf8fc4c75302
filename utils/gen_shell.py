# ===- gen_shell.py - Man pages and completion of the commands ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Writes man pages, and completion for bash, zsh and fish, of loopc and loopc-run.

    gen_shell.py --tools build/bin --output build/share

All of it comes from what the programs say of themselves: their --help, which LLVM prints from
the tables of their options, and the messages that list the values of an option.
"""

import argparse
import dataclasses
import re
import subprocess
import sys
from pathlib import Path

# What a command does besides compiling, or running, a model.
COMMANDS = {
    "loopc": {
        "explain": "say what becomes of each loop, or what an error means",
        "cache": "show and change the cache of compiled models",
    },
    "loopc-run": {},
}
CACHE_COMMANDS = ("list", "size", "clear", "warm")
# The files that a command takes.
MODELS = {
    "loopc": ("onnx", "onnxtxt", "xml", "mlir"),
    "loopc-run": ("onnx", "onnxtxt", "xml", "mlir", "so"),
}
# Options whose values a wrong one makes the program list.
LISTED = {"loopc": ("emit", "input-format"), "loopc-run": ()}
FILES = ("file", "path")


@dataclasses.dataclass
class Option:
    """An option as --help has it."""

    name: str
    value: str  # what its value is, "" where it takes none
    text: str
    joined: bool  # -O3, and not -O 3
    optional: bool = False  # the value may be missing
    values: list[tuple[str, str]] = dataclasses.field(default_factory=list)

    @property
    def flag(self) -> str:
        """The option as it is written, without a value."""
        return f"-{self.name}" if len(self.name) == 1 else f"--{self.name}"

    @property
    def long(self) -> bool:
        """Whether a value comes behind '='."""
        return len(self.name) > 1


@dataclasses.dataclass
class Help:
    """What --help says."""

    overview: str
    usage: str
    groups: dict[str, list[Option]]
    end: str  # what comes behind the options

    def options(self) -> list[Option]:
        """Those of all groups."""
        return [option for group in self.groups.values() for option in group]


OPTION = re.compile(r"^  (--?)([\w-]+)(?:(\[?=| )<(.*)>\]?)? +- (.*)$")
VALUE = re.compile(r"^    =(\S+) +- +(.*)$")


def find(pattern: str, text: str) -> str:
    """What the group of `pattern` is in `text`.

    Raises:
        ValueError: it is not there.
    """
    found = re.search(pattern, text)
    if not found:
        raise ValueError(f"no {pattern!r} in {text!r}")
    return found[1]


def read_help(text: str) -> Help:
    """Takes apart what a program prints.

    Raises:
        ValueError: a line is none of those that LLVM prints.
    """
    made = Help("", "", {}, "")
    group: list[Option] = []
    head, _, body = text.partition("OPTIONS:\n")
    made.overview = find(r"OVERVIEW: (.*)", head)
    made.usage = find(r"USAGE: \S+ (.*)", head)
    lines = body.splitlines()
    for k, line in enumerate(lines):
        if not line:
            continue
        if re.fullmatch(r"\S.*:", line) and k + 2 < len(lines) and OPTION.match(lines[k + 2]):
            group = made.groups.setdefault(line.removesuffix(":"), [])
        elif found := OPTION.match(line):
            _, name, mark, value, said = found.groups()
            group.append(Option(name, value or "", said, mark == " " and name == "O", mark == "[="))
        elif (found := VALUE.match(line)) and group:
            group[-1].values.append((found[1], found[2]))
        elif not line.startswith(" ") and made.groups:
            made.end = "\n".join(lines[k:]).strip()
            break
        else:
            raise ValueError(f"not a line of an option: {line!r}")
    return made


def listed_values(tool: Path, option: str) -> list[tuple[str, str]]:
    """The values of an option, from the error that names them."""
    said = subprocess.run(
        [tool, f"--{option}=?", "model.onnx"], capture_output=True, text=True, check=False
    ).stderr
    return [(value, "") for value in re.split(r", | or ", find(r": it is (.*)", said))]


def help_of(tool: Path) -> Help:
    """The help of a program, with values."""
    done = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True)
    made = read_help(done.stdout)
    for option in made.options():
        if option.name in LISTED[tool.name]:
            option.values = listed_values(tool, option.name)
        if option.joined:
            option.values = [(str(level), "") for level in range(4)]
    return made


def takes_file(option: Option) -> bool:
    """Whether its value is the name of a file."""
    return option.value.split(" ")[0] in FILES


# ===------------------------------------------------------------------------===#
# Man pages
# ===------------------------------------------------------------------------===#


def roff(text: str) -> str:
    """Text for troff."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def written(option: Option) -> str:
    """The option with its value, for troff."""
    flag = rf"\fB{roff(option.flag)}\fR"
    if not option.value:
        return flag
    value = rf"\fI{roff(option.value)}\fR"
    if option.optional:
        return f"{flag}[={value}]"
    return flag + ("" if option.joined else "=" if option.long else " ") + value


def man_page(name: str, made: Help, version: str) -> str:
    """A page of section 1."""
    lines = [
        f'.TH {name.upper()} 1 "" "loopc {version}" "User Commands"',
        ".SH NAME",
        roff(f"{name} - {made.overview[0].lower()}{made.overview[1:].rstrip('.')}"),
        ".SH SYNOPSIS",
        rf".B {roff(name)}",
        roff(made.usage),
    ]
    for command, text in COMMANDS[name].items():
        lines += [".br", rf"\fB{roff(name)} {command}\fR ... ({roff(text)})"]
    lines.append(".SH OPTIONS")
    for group, options in made.groups.items():
        lines.append(f'.SS "{roff(group)}"')
        for option in options:
            lines += [".TP", written(option), roff(option.text)]
            for value, text in option.values if option.values and option.values[0][1] else []:
                lines += [".br", rf"\fB{roff(value)}\fR: {roff(text)}"]
    lines += [".SH NOTES", ".nf", roff(made.end), ".fi"]
    others = ", ".join(rf"\fB{roff(other)}\fR(1)" for other in COMMANDS if other != name)
    lines += [".SH SEE ALSO", others]
    return "\n".join(lines) + "\n"


# ===------------------------------------------------------------------------===#
# bash
# ===------------------------------------------------------------------------===#

BASH = """\
# Completion of {name} for bash. Written by utils/gen_shell.py.
_{function}() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="" option=""
  ((COMP_CWORD > 0)) && before="${{COMP_WORDS[COMP_CWORD - 1]}}"
  COMPREPLY=()
  # bash takes --emit=obj for three words.
  if [[ "$current" == "=" ]]; then
    option="$before" current=""
  elif [[ "$before" == "=" ]]; then
    option="${{COMP_WORDS[COMP_CWORD - 2]}}"
  fi
  case "$option" in
{values}
    -*) return ;;
  esac
  if [[ "$before" == -o ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
  fi
{commands}  case "$current" in
    -O*) mapfile -t COMPREPLY < <(compgen -W "-O0 -O1 -O2 -O3" -- "$current") ;;
    -*)
      mapfile -t COMPREPLY < <(compgen -W "{flags}" -- "$current")
      [[ "${{COMPREPLY[0]-}}" == *= ]] && compopt -o nospace 2>/dev/null
      ;;
    *)
      mapfile -t COMPREPLY < <(
        {words}compgen -d -- "$current"
        for ending in {models}; do compgen -f -X "!*.$ending" -- "$current"; done
      )
      compopt -o filenames 2>/dev/null
      ;;
  esac
  return 0
}}
complete -F _{function} {name}
"""


def bash(name: str, made: Help) -> str:
    """A file for bash-completion's folder."""
    values, flags = [], []
    for option in made.options():
        if option.optional:
            flags.append(option.flag)
        flags.append(option.flag + ("=" if option.value and option.long else ""))
        if not option.value or not option.long:
            continue
        if option.values:
            words = " ".join(value for value, _ in option.values)
            what = f'-W "{words}"'
        elif takes_file(option):
            what = "-f"
        elif option.value == "folder":
            what = "-d"
        else:
            continue
        reply = f'mapfile -t COMPREPLY < <(compgen {what} -- "$current")'
        values.append(f"    {option.flag}) {reply}; return ;;")
    commands, words = "", ""
    if COMMANDS[name]:
        text = " ".join(CACHE_COMMANDS)
        commands = (
            '  if [[ "$before" == cache && $COMP_CWORD == 2 ]]; then\n'
            f'    mapfile -t COMPREPLY < <(compgen -W "{text}" -- "$current")\n'
            "    return\n  fi\n"
        )
        names = " ".join(COMMANDS[name])
        words = f'((COMP_CWORD == 1)) && compgen -W "{names}" -- "$current"\n        '
    return BASH.format(
        name=name,
        function=name.replace("-", "_"),
        values="\n".join(values),
        commands=commands,
        words=words,
        flags=" ".join(flags),
        models=" ".join(MODELS[name]),
    )


# ===------------------------------------------------------------------------===#
# zsh and fish
# ===------------------------------------------------------------------------===#


def zsh_text(text: str) -> str:
    """Text within the brackets of a specification."""
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh(name: str, made: Help) -> str:
    """A file for a folder of zsh's fpath."""
    models = "|".join(MODELS[name])
    lines = [
        f"#compdef {name}",
        f"# Completion of {name} for zsh. Written by utils/gen_shell.py.",
        f"_{name}_first() {{",
        "  local -a commands",
        "  commands=(",
        *(f"    '{command}:{zsh_text(text)}'" for command, text in COMMANDS[name].items()),
        "  )",
        "  (( $#commands )) && _describe command commands",
        f'  _files -g "*.({models})"',
        "}",
        "_arguments \\",
    ]
    for option in made.options():
        # Repeatable ones do not say so in one way: all are offered again.
        mark = "-" if option.joined else "=" if option.value and option.long else ""
        kind = ""
        if option.value:
            action = ""
            if option.values:
                action = f"({' '.join(value for value, _ in option.values)})"
            elif takes_file(option):
                action = "_files"
            elif option.value == "folder":
                action = "_files -/"
            kind = (":" if option.optional else "") + f":{zsh_text(option.value)}:{action}"
        lines.append(f"  '*{option.flag}{mark}[{zsh_text(option.text)}]{kind}' \\")
    lines.append(f"  '1: :_{name}_first' \\")
    lines.append(f"  '*:model:_files -g \"*.({models})\"'")
    return "\n".join(lines) + "\n"


def fish_text(text: str) -> str:
    """Text in single quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(name: str, made: Help) -> str:
    """A file for fish's folder of completions."""
    lines = [f"# Completion of {name} for fish. Written by utils/gen_shell.py."]
    if COMMANDS[name]:
        for command, text in COMMANDS[name].items():
            lines.append(
                f"complete -c {name} -n __fish_use_subcommand -a {command} -d {fish_text(text)}"
            )
        words = fish_text(" ".join(CACHE_COMMANDS))
        lines.append(f"complete -c {name} -n '__fish_seen_subcommand_from cache' -x -a {words}")
    for option in made.options():
        line = f"complete -c {name} " + ("-l " if option.long else "-s ") + option.name
        if option.values:
            line += " -x -a " + fish_text(" ".join(value for value, _ in option.values))
        elif option.value and not option.optional:
            line += " -r" if takes_file(option) or option.value == "folder" else " -x"
        lines.append(f"{line} -d {fish_text(option.text)}")
    return "\n".join(lines) + "\n"


# ===------------------------------------------------------------------------===#
# Files
# ===------------------------------------------------------------------------===#


def files_of(tool: Path) -> dict[str, str]:
    """What is installed below share/ for a program, by its path there."""
    name, made = tool.name, help_of(tool)
    said = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    version = find(r"(\d+\.\d+\.\d+)", said)
    return {
        f"man/man1/{name}.1": man_page(name, made, version),
        f"bash-completion/completions/{name}": bash(name, made),
        f"zsh/site-functions/_{name}": zsh(name, made),
        f"fish/vendor_completions.d/{name}.fish": fish(name, made),
    }


def main() -> int:
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tools", type=Path, required=True, help="the folder of the programs")
    parser.add_argument("--output", type=Path, required=True, help="the folder to write to")
    options = parser.parse_args()
    for name in COMMANDS:
        for path, text in files_of(options.tools / name).items():
            file = options.output / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
