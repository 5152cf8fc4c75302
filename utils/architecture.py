# ===- architecture.py - The stages of a compilation, in tables ------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""docs/Stages.md, the generated part of docs/Architecture.md, and docs/architecture.svg.

They are made from what the compiler says of its pipeline (``loopc-opt
--print-pipelines`` and ``--print-passes``) and from the invariants in the
description of loopc-verify-stage.
"""

import json
import re
import subprocess
from dataclasses import dataclass
from html import escape
from pathlib import Path

from repo import read

PAGE = Path("docs/Architecture.md")
STAGES = Path("docs/Stages.md")
PICTURE = Path("docs/architecture.svg")
_VERIFIER = Path("include/loopc/Pipelines/Passes.td")


class ArchitectureError(Exception):
    """A part that cannot be made, with the reason."""


@dataclass(frozen=True)
class Placed:
    """A pass at its place."""

    name: str
    anchor: str
    summary: str
    reason: str


@dataclass(frozen=True)
class Phase:
    """A part of the pipeline: a populate function."""

    name: str
    summary: str
    stage: str
    target: str  # "any", "cpu" or "gpu"
    level: int
    passes: tuple[Placed, ...]

    @property
    def title(self) -> str:
        """The name without the verb."""
        return self.name.removeprefix("populate")

    @property
    def is_end(self) -> bool:
        """Whether it is the verifier of its stage."""
        return self.title.endswith("End")


@dataclass(frozen=True)
class Pipeline:
    """What the compiler says."""

    phases: tuple[Phase, ...]
    uses: dict[str, str]  # of passes: "needed", "same bits", "rounding"
    invariants: dict[str, str]  # of stages

    @property
    def stages(self) -> list[str]:
        """In their order."""
        return list(dict.fromkeys(phase.stage for phase in self.phases))


def _ask(compiler: Path, flag: str) -> list[dict[str, object]]:
    try:
        done = subprocess.run([compiler, flag], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ArchitectureError(f"{compiler} {flag}: {error}") from error
    rows: list[dict[str, object]] = json.loads(done.stdout)
    return rows


def _invariants() -> dict[str, str]:
    """What holds at the ends of stages, from the description of the pass that checks it."""
    rows = re.findall(r"^    \| `(\w+)` \| (.+) \|$", read(_VERIFIER), re.MULTILINE)
    if not rows:
        raise ArchitectureError(f"{_VERIFIER}: no table of the invariants of stages")
    return dict(rows)


def read_pipeline(compiler: Path) -> Pipeline:
    """Asks a loopc-opt."""
    phases = []
    for row in _ask(compiler, "--print-pipelines"):
        passes = tuple(Placed(**one) for one in row.pop("passes"))  # type: ignore[attr-defined]
        phases.append(Phase(**row, passes=passes))  # type: ignore[arg-type]
    uses = {str(row["name"]): str(row["use"]) for row in _ask(compiler, "--print-passes")}
    return Pipeline(tuple(phases), uses, _invariants())


# ---------------------------------------------------------------- the page

_SOURCES = {"linalg": "Linalg", "memref": "MemRef", "scf": "SCF", "llvm": "LLVM"}
_TARGETS = {"any": "", "cpu": "CPU", "gpu": "GPU"}
_USES = {"needed": "needed", "same bits": "optional", "rounding": "optional, may round"}


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _where(phase: Phase) -> str:
    """The target and the level of optimisation that a phase is for, if not all."""
    level = f"-O{phase.level}" if phase.level else ""
    return ", ".join(filter(None, (_TARGETS[phase.target], level)))


def _phase_rows(phase: Phase, uses: dict[str, str]) -> list[str]:
    rows = []
    for at, one in enumerate(phase.passes):
        same = at > 0 and phase.passes[at - 1].reason == one.reason
        reason = "the same" if same else _cell(one.reason)
        use = _USES[uses[one.name]]
        rows.append(f"| `{one.name}` | {_cell(one.summary)} | {reason} | {use} |")
    return rows


def _invariants_of(pipeline: Pipeline, stage: str) -> list[str]:
    """What holds at the end of a stage, as a list."""
    end = pipeline.invariants.get(stage)
    if end is None:
        return ["No invariants of its own: operations verify themselves.", ""]
    source = f"lib/Pipelines/Stages/{_SOURCES[stage]}Stage.cpp"
    read(Path(source))
    lines = [f"Invariants at the end of `{stage}`, verified in every compilation (`{source}`):", ""]
    return [*lines, *(f"- {one}" for one in end.split("; ")), ""]


_HEAD = """# Stages and passes

Generated from the output of `loopc-opt --print-pipelines` and `--print-passes`. This page lists
each pass in its place; [Architecture.md](Architecture.md) explains the stages, the words used
here, and what holds at the end of each stage. A table is a phase: a C++ function of
`lib/Pipelines/To*.cpp` that adds the passes in this order. A phase is for all targets and levels
unless the line under its heading names some: (CPU, -O1) is for CPUs, from -O1 on. The third column
gives the reason for the place of a pass.

The column *use*: *needed* passes are a part of the lowering. *Optional* passes can be left out by
`--disable-pass`, and the results have the same bits. Without those that *may round*, the last bits
of floating-point results may be different, since sums are then computed in another order or with
other instructions ([Numerics.md](Numerics.md)). `canonicalize` is one of them: it makes more
extents static, and later passes choose other tiles.

![The stages of a compilation](architecture.svg)

"""


def stages_page(pipeline: Pipeline) -> str:
    """The page of all passes in their order."""
    lines: list[str] = []
    for stage in pipeline.stages:
        phases = [phase for phase in pipeline.phases if phase.stage == stage]
        lines += [f"## The stage `{stage}`", ""]
        for phase in phases:
            where = _where(phase)
            only = f" ({where})" if where else ""
            lines += [f"### {phase.title}", "", f"`{phase.name}`{only}: {phase.summary}"]
            lines += ["", "| pass | what it does | why it stands here | use |", "|---|---|---|---|"]
            lines += [*_phase_rows(phase, pipeline.uses), ""]
        if stage in pipeline.invariants:
            link = f"Architecture.md#the-stage-{stage}"
            lines += [f"What holds at the end of `{stage}`: [Architecture.md]({link}).", ""]
    return _HEAD + "\n".join(lines).rstrip() + "\n"


def _stages(pipeline: Pipeline) -> str:
    """The phases of each stage, with links to their passes, and what holds at its end."""
    lines: list[str] = []
    for stage in pipeline.stages:
        phases = [phase for phase in pipeline.phases if phase.stage == stage]
        lines += [f"### The stage `{stage}`", "", "| phase | for | what it does | passes |"]
        lines += ["|---|---|---|---|"]
        for phase in phases:
            link = f"[{phase.title}](Stages.md#{phase.title.lower()})"
            where = _where(phase) or "all"
            lines += [f"| {link} | {where} | {_cell(phase.summary)} | {len(phase.passes)} |"]
        lines += ["", *_invariants_of(pipeline, stage)]
    return "\n".join(lines)


def architecture_page(pipeline: Pipeline, page: str) -> str:
    """`page` with its generated part made anew."""
    begin, end = "<!-- begin generated: stages -->\n", "<!-- end generated -->\n"
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ArchitectureError(f"{PAGE}: one '{begin.strip()}' and one '{end.strip()}' expected")
    before, rest = page.split(begin)
    _, after = rest.split(end)
    return before + begin + "\n" + _stages(pipeline) + end + after


# ---------------------------------------------------------------- the picture

_FORMATS = (
    ("ONNX", ".onnx, .onnxtxt"),
    ("OpenVINO IR", ".xml, .bin"),
    ("network API", "C++, C, Python"),
    ("MLIR", ".mlir, of any stage"),
)
_OUTPUTS = (
    ("in process", "JIT, C and Python API"),
    ("object", ".o and .h, for any CPU"),
    ("shared library", "the runtime in it"),
    ("PTX", "in object and library"),
)
_DIALECTS = {
    "onnx": "onnx, loop, scf.if",
    "loop": "onnx, loop, scf.if",
    "linalg": "linalg, tensor, arith, loop",
    "memref": "linalg, memref, vector, loop",
    "scf": "scf, memref, vector, arith",
    "llvm": "llvm; gpu.module with nvvm",
}
_WIDTH, _MARGIN, _LABEL = 980, 16, 236
_LANES = {"cpu": 0, "any": 1, "gpu": 2}
_ROW, _BOX, _GAP = 27, 21, 10

_STYLE = """
text{font:12px system-ui,sans-serif;fill:#1f2328}
.s{font-size:10.5px;fill:#59636e}.h{font-weight:600;font-size:14px}.m{text-anchor:middle}
.band{fill:#f6f8fa;stroke:#d1d9e0}.any{fill:#ddf4ff;stroke:#54aeff}
.cpu{fill:#dafbe1;stroke:#4ac26b}.gpu{fill:#fff1e5;stroke:#fb8f44}.io{fill:#fff;stroke:#818b98}
.a{stroke:#818b98;fill:none;marker-end:url(#p)}.p{fill:#818b98}
@media(prefers-color-scheme:dark){
text{fill:#e6edf3}.s{fill:#9198a1}.band{fill:#161b22;stroke:#30363d}
.any{fill:#0c2d6b;stroke:#388bfd}.cpu{fill:#04260f;stroke:#2ea043}.gpu{fill:#3d1300;stroke:#bd561d}
.io{fill:#0d1117;stroke:#6e7681}.a{stroke:#6e7681}.p{fill:#6e7681}}
"""


def _passes(count: int) -> str:
    return f"{count} pass{'es' if count > 1 else ''}"


class _Picture:
    """Collects shapes from the top down."""

    def __init__(self) -> None:
        self.shapes: list[str] = []
        self.y = float(_MARGIN)

    def text(self, x: float, y: float, text: str, style: str = "") -> None:
        of = f' class="{style}"' if style else ""
        self.shapes.append(f'<text x="{x:g}" y="{y:g}"{of}>{escape(text)}</text>')

    def box(self, x: float, y: float, width: float, height: float, style: str) -> None:
        self.shapes.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
            f'rx="4" class="{style}"/>'
        )

    def arrow(self, x: float, y: float, to: float) -> None:
        self.shapes.append(f'<path d="M{x:g} {y:g}V{to:g}" class="a"/>')

    def ends(self, rows: tuple[tuple[str, str], ...], is_below: bool) -> None:
        """A row of what goes in or comes out, with an arrow each."""
        width = (_WIDTH - 2 * _MARGIN - (len(rows) - 1) * _GAP) / len(rows)
        top = self.y + (24 if is_below else 0)
        for at, (title, detail) in enumerate(rows):
            x = _MARGIN + at * (width + _GAP)
            self.box(x, top, width, 40, "io")
            self.text(x + width / 2, top + 17, title, "m")
            self.text(x + width / 2, top + 32, detail, "s m")
            above = top - 24 if is_below else top + 40
            self.arrow(x + width / 2, above, above + 20)
        self.y = top + (40 if is_below else 64)

    def stage(self, name: str, all_phases: list[Phase], invariant: bool) -> None:
        """A band with the phases of a stage in their lanes, but for the one that verifies it."""
        phases = [phase for phase in all_phases if not phase.is_end]
        height = max(len(phases) * _ROW + 12, 84)
        self.box(_MARGIN, self.y, _WIDTH - 2 * _MARGIN, height, "band")
        x = _MARGIN + 12
        self.text(x, self.y + 22, name, "h")
        self.text(x, self.y + 40, _DIALECTS[name], "s")
        count = sum(len(phase.passes) for phase in all_phases)
        self.text(x, self.y + 56, f"{_passes(count)}; --emit={name}", "s")
        self.text(x, self.y + 72, "verified at its end" if invariant else "", "s")
        left = _MARGIN + _LABEL
        width = (_WIDTH - left - _MARGIN - 3 * _GAP) / 3
        for at, phase in enumerate(phases):
            at_x = left + _LANES[phase.target] * (width + _GAP)
            top = self.y + 8 + at * _ROW
            self.box(at_x, top, width, _BOX, phase.target)
            level = f", -O{phase.level}" if phase.level else ""
            self.text(at_x + 8, top + 15, phase.title)
            self.shapes.append(
                f'<text x="{at_x + width - 8:g}" y="{top + 15:g}" class="s" text-anchor="end">'
                f"{_passes(len(phase.passes))}{level}</text>"
            )
        self.y += height + 8


def architecture_picture(pipeline: Pipeline) -> str:
    """The stages of a compilation, from the formats of models to the kinds of output."""
    picture = _Picture()
    picture.ends(_FORMATS, is_below=False)
    left = _MARGIN + _LABEL
    lane = (_WIDTH - left - _MARGIN - 3 * _GAP) / 3 + _GAP
    for at, title in enumerate(("for CPUs", "for both", "for GPUs")):
        picture.text(left + at * lane, picture.y + 10, title, "s")
    picture.y += 18
    for stage in pipeline.stages:
        phases = [phase for phase in pipeline.phases if phase.stage == stage]
        picture.stage(stage, phases, stage in pipeline.invariants)
    picture.y -= 8
    picture.ends(_OUTPUTS, is_below=True)
    height = picture.y + _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:g}" '
        f'width="{_WIDTH}" height="{height:g}" role="img" '
        'aria-label="The stages of a compilation">\n'
        f"<style>{_STYLE}</style>\n"
        '<defs><marker id="p" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8Z" class="p"/></marker></defs>\n'
        + "\n".join(picture.shapes)
        + "\n</svg>\n"
    )


def architecture_pages(compiler: Path) -> dict[Path, str]:
    """The pages and their picture."""
    pipeline = read_pipeline(compiler)
    return {
        PAGE: architecture_page(pipeline, read(PAGE)),
        STAGES: stages_page(pipeline),
        PICTURE: architecture_picture(pipeline),
    }
