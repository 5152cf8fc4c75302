# ===- report.py - Tables, the chart and the page of the benchmarks ---------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What bench.py prints and writes: text, JSON, SVG and docs/Benchmarks.md.

A document is what ``--json`` writes: rows of one benchmark and number of threads
each, with a median for every engine that computed the right thing, and the
reason for each that has none.
"""

from __future__ import annotations

import json
import math
import pathlib
from collections.abc import Sequence
from html import escape
from typing import Any

from peers import TITLES

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
PEERS = ("onnxruntime", "openvino", "jax")
#: Seconds that compiling a model may take.
MOST_TO_COMPILE = 2.0

Document = dict[str, Any]
Row = dict[str, Any]


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    # What rounds to 1,000 of a unit is 1 of the next.
    for scale, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= 0.9995 * scale:
            return f"{_digits(seconds / scale)} {unit}"
    return f"{_digits(seconds * 1e9)} ns"


def ratio(value: float) -> str:
    """Three digits and a cross."""
    return f"{_digits(value)}x"


def _digits(value: float) -> str:
    if value >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def median(row: Row, engine: str) -> float | None:
    """Seconds; None where the engine has no time."""
    entry = row["engines"].get(engine)
    return None if entry is None else float(entry["median"])


def best_peer(row: Row) -> tuple[str, float] | None:
    """The fastest of the other runtimes."""
    times = [(median(row, peer), peer) for peer in PEERS]
    known = [(time, peer) for time, peer in times if time is not None]
    return min(known)[::-1] if known else None


def _ratio_to(row: Row, other: float | None, inverse: bool = False) -> str:
    own = median(row, "loopc")
    if own is None or other is None:
        return "-"
    return ratio(own / other if inverse else other / own)


# ---------------------------------------------------------------- text


class Table:
    """The table, line by line: each is printed when its row is there."""

    def __init__(self, document: Document, engines: Sequence[str]) -> None:
        self._document = document
        self._engines = engines

    def heading(self) -> str:
        """What stands above the rows."""
        versions = ", ".join(f"{TITLES[n]} {v}" for n, v in self._document["versions"].items())
        lines = [f"{self._document['processor']}; {versions}"]
        if self._document["absent"]:
            lines.append(f"not installed: {', '.join(self._document['absent'])}")
        titles = [TITLES[engine] for engine in self._engines]
        lines.append(self._cells("", "thr", [*titles, "to C++", "to peer", "/iter", "compile"]))
        return "\n".join(lines)

    def line(self, row: Row) -> str:
        """One row."""
        times = [median(row, engine) for engine in self._engines]
        own = median(row, "loopc")
        peer = best_peer(row)
        compiled = row["engines"].get("loopc")
        return self._cells(
            row["title"],
            str(row["threads"]),
            [
                *("-" if time is None else duration(time) for time in times),
                _ratio_to(row, median(row, "limit"), inverse=True),
                _ratio_to(row, peer[1] if peer else None),
                "-" if own is None else duration(own / row["iterations"]),
                "-" if compiled is None else duration(compiled["compile"]),
            ],
        )

    def _cells(self, first: str, second: str, rest: Sequence[str]) -> str:
        return f"{first:<31}{second:>3}  " + " ".join(f"{cell:>11}" for cell in rest)


def footnotes(document: Document) -> str:
    """What the columns mean, and why times are missing."""
    lines = [
        "",
        "to C++: loopc's time in times of the hand-written code's. to peer: the best other",
        "runtime's time in times of loopc's.",
    ]
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in document["rows"]:
        for engine, reason in row["missing"].items():
            reasons.setdefault((engine, reason), []).append(f"{row['key']}/{row['threads']}")
    for title, how, why in behind(document):
        lines.append(f"misses: {title}: {how}: {why}")
    for (engine, reason), rows in reasons.items():
        lines.append(f"no time of {TITLES[engine]} for {', '.join(rows)}: {reason}")
    return "\n".join(lines)


def comparison(document: Document, base: Document) -> str:
    """loopc's times beside those of another run."""
    before = {(row["key"], row["threads"]): row for row in base["rows"]}
    lines = ["", f"{'loopc beside ' + base['processor']:<46}{'before':>12}{'now':>12}{'ratio':>10}"]
    changes = []
    for row in document["rows"]:
        old = before.get((row["key"], row["threads"]))
        was = median(old, "loopc") if old else None
        now = median(row, "loopc")
        cells = ["-" if value is None else duration(value) for value in (was, now)]
        change = "-"
        if was is not None and now is not None:
            changes.append(now / was)
            change = ratio(now / was)
        name = f"{row['title']}, {row['threads']} thr"
        lines.append(f"{name:<46}{cells[0]:>12}{cells[1]:>12}{change:>10}")
    if changes:
        mean = math.exp(sum(map(math.log, changes)) / len(changes))
        lines.append(f"{'geometric mean':<70}{ratio(mean):>10}")
    return "\n".join(lines)


# ---------------------------------------------------------------- chart

COLORS = {
    "loopc": "#0b6e4f",
    "limit": "#8a8a8a",
    "jax": "#3b6fb6",
    "onnxruntime": "#d1732b",
    "openvino": "#8d5bb0",
}
_BAR, _GAP, _LEFT, _WIDTH = 11, 14, 240, 960


def chart(document: Document) -> str:
    """Horizontal bars on a logarithmic axis: times of one thread, shorter is better."""
    rows = [row for row in document["rows"] if row["threads"] == 1 and row["engines"]]
    engines = [engine for engine in COLORS if any(engine in row["engines"] for row in rows)]
    times = [entry["median"] for row in rows for entry in row["engines"].values()] or [1e-3, 1]
    low = math.floor(math.log10(min(times)))
    high = max(math.ceil(math.log10(max(times))), low + 1)

    def x(seconds: float) -> float:
        return _LEFT + (math.log10(seconds) - low) / (high - low) * (_WIDTH - _LEFT - 90)

    parts: list[str] = []
    y = 60
    for row in rows:
        top = y
        for engine in engines:
            time = median(row, engine)
            if time is None:
                continue
            end = max(x(time), _LEFT + 1)
            parts.append(
                f'<rect x="{_LEFT}" y="{y}" width="{end - _LEFT:.1f}" height="{_BAR - 1}" '
                f'fill="{COLORS[engine]}"><title>{escape(TITLES[engine])}: '
                f"{duration(time)}</title></rect>"
                f'<text x="{end + 4:.1f}" y="{y + 9}" class="t">{duration(time)}</text>'
            )
            y += _BAR
        parts.append(
            f'<text x="{_LEFT - 8}" y="{(top + y) / 2 + 4:.1f}" text-anchor="end">'
            f"{escape(row['title'])}</text>"
        )
        y += _GAP
    axis = "".join(
        f'<line x1="{x(10.0**power):.1f}" y1="50" x2="{x(10.0**power):.1f}" y2="{y}" class="g"/>'
        f'<text x="{x(10.0**power):.1f}" y="44" text-anchor="middle" class="t">'
        f"{duration(10.0**power)}</text>"
        for power in range(low, high + 1)
    )
    legend = "".join(
        f'<rect x="{_LEFT + 130 * number}" y="10" width="10" height="10" '
        f'fill="{COLORS[engine]}"/><text x="{_LEFT + 130 * number + 15}" y="19">'
        f"{escape(TITLES[engine])}</text>"
        for number, engine in enumerate(engines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}" '
        f'width="{_WIDTH}" height="{y}" role="img" '
        'aria-label="Times of one run, one thread, logarithmic axis">\n'
        "<style>text{font:12px sans-serif;fill:#333}.t{font-size:9px;fill:#666}"
        ".g{stroke:#ddd}</style>\n"
        f'<rect width="100%" height="100%" fill="#fff"/>\n{legend}\n{axis}\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


# ---------------------------------------------------------------- page


def _page_table(document: Document, threads: int) -> list[str]:
    engines = [engine for engine in TITLES if engine in document["versions"]]
    titles = [TITLES[engine] for engine in engines]
    lines = [
        f"| model | {' | '.join(titles)} | loopc / C++ | best peer / loopc |",
        "|---" * (len(engines) + 3) + "|",
    ]
    for row in document["rows"]:
        if row["threads"] != threads:
            continue
        times = [median(row, engine) for engine in engines]
        peer = best_peer(row)
        cells = [
            row["title"],
            *("-" if time is None else duration(time) for time in times),
            _ratio_to(row, median(row, "limit"), inverse=True),
            _ratio_to(row, peer[1] if peer else None),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def behind(document: Document) -> list[tuple[str, str, str]]:
    """Rows that miss what they are held to, how far, and why where that is known."""
    rows = []
    for row in document["rows"]:
        own, limit, peer = median(row, "loopc"), median(row, "limit"), best_peer(row)
        title = f"{row['title']}, {row['threads']} thr"
        bound, why = row.get("bound"), row.get("beyond") or "not known"
        if own and limit and bound and row["threads"] == 1 and own > bound * limit:
            rows.append((title, f"{ratio(own / limit)} of C++, bound {ratio(bound)}", why))
        if own and peer and own > peer[1]:
            rows.append((title, f"{ratio(peer[1] / own)} of {TITLES[peer[0]]}", why))
        compiled = row["engines"].get("loopc", {}).get("compile") or 0
        if compiled > MOST_TO_COMPILE:
            how = f"compiled in {duration(compiled)}, bound {duration(MOST_TO_COMPILE)}"
            rows.append((title, how, "by the clock, with all else that the machine did"))
    return rows


def _page_behind(document: Document) -> list[str]:
    lines = ["", "## Rows that miss", ""]
    lines.append(
        "loopc is to be ahead of every runtime, and within 1.2 times of C++ by hand with one "
        "thread (1.3 where elements of tensors are computed), and to compile each in two seconds."
    )
    rows = behind(document)
    if not rows:
        return [*lines, "All rows are."]
    lines += ["", "| model | how far | why |", "|---|---|---|"]
    lines += [f"| {title} | {how} | {why} |" for title, how, why in rows]
    return lines


def _page_missing(document: Document) -> list[str]:
    reasons: dict[tuple[str, str], set[str]] = {}
    for row in document["rows"]:
        for engine, reason in row["missing"].items():
            if reason != "written for one thread":
                reasons.setdefault((engine, reason), set()).add(row["title"])
    if not reasons:
        return []
    lines = ["", "## Times that are missing", "", "| engine | model | why |", "|---|---|---|"]
    for (engine, reason), titles in reasons.items():
        text = reason.replace("|", "\\|")
        lines.append(f"| {TITLES[engine]} | {', '.join(sorted(titles))} | {text} |")
    return lines


def page(document: Document) -> str:
    """docs/Benchmarks.md."""
    versions = ", ".join(f"{TITLES[name]} {text}" for name, text in document["versions"].items())
    lines = [
        "<!-- Written by ./dev bench --docs; do not edit. -->",
        "# Benchmarks",
        "",
        "`./dev bench` runs each model with loopc, with other runtimes, and with C++ that was "
        "written for it by hand",
        "([benchmarks/limits](../benchmarks/limits)): the least of Clang's and GCC's code, each "
        "for vectors of 256 and of 512 bits. The engines take turns in one run, each in a process "
        "of its own with as many processors as",
        "threads; times are medians. With two threads there is a pause of 60 ms before each turn, "
        "because onnxruntime's threads keep a core busy for 40 ms after a run. In the same run "
        "every engine's outputs are checked against NumPy's: a wrong one is no time. Nothing in a "
        "model",
        "is constant that a user's model would get at run time: trip counts, limits and weights "
        "are inputs ([benchmarks/models_basic.py](../benchmarks/models_basic.py)).",
        "",
        f"{document['processor']}; {document['measured']}; {versions}.",
        "",
        "![Times of one thread](benchmarks.svg)",
    ]
    for threads in sorted({row["threads"] for row in document["rows"]}):
        plural = "" if threads == 1 else "s"
        lines += ["", f"## {threads} thread{plural}", "", *_page_table(document, threads)]
    lines += _page_behind(document)
    lines += _page_missing(document)
    return "\n".join(lines) + "\n"


def write(
    document: Document, json_file: pathlib.Path | None, svg: pathlib.Path | None, docs: bool
) -> None:
    """Writes what was asked for."""
    if json_file:
        json_file.write_text(json.dumps(document, indent=1) + "\n")
    if svg:
        svg.write_text(chart(document))
    if docs:
        (DOCS / "benchmarks.svg").write_text(chart(document))
        (DOCS / "Benchmarks.md").write_text(page(document))
