# ===- site_hooks.py - What the site of the documents changes ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Hooks of mkdocs (mkdocs.yml): the front page, and links that leave docs/.

The front page is README.md. Pages link to sources beside docs/, which the site does not have: such
a link becomes the path of the file, in the style of code.
"""

from __future__ import annotations

import pathlib
import posixpath
import re
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Not images; not links to other sites or within the page.
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!\w+:|#)([^)\s#]+)(#[^)\s]*)?\)")
#: What generated pages begin with. A page's title is its heading only where that comes first.
_COMMENT = re.compile(r"\A<!--.*?-->\s*", re.DOTALL)
_FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)


def relink(text: str, page: str) -> str:
    """`text` with the links of `page`, a path from the root, as the site has them."""
    folder = posixpath.dirname(page)

    def replace(match: re.Match[str]) -> str:
        label, target, anchor = match[1], match[2], match[3] or ""
        path = posixpath.normpath(posixpath.join(folder, target))
        if path.startswith("docs/") and path.endswith((".md", ".svg")):
            here = folder if folder.startswith("docs") else "docs"
            label = (
                posixpath.basename(label).removesuffix(".md") if label.endswith(".md") else label
            )
            return f"[{label}]({posixpath.relpath(path, here)}{anchor})"
        return f"`{path}`" if label.strip("`") in path else f"{label} (`{path}`)"

    parts = _FENCED.split(text)
    return "".join(p if p.startswith("```") else _LINK.sub(replace, p) for p in parts)


def on_files(files: Any, config: Any) -> Any:
    """Adds the front page."""
    from mkdocs.structure.files import File  # type: ignore[import-not-found]

    text = relink((ROOT / "README.md").read_text(), "README.md")
    files.append(File.generated(config, "index.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The text of a page as the site has it: its heading first, and links that lead somewhere."""
    markdown = _COMMENT.sub("", markdown)
    if page.file.src_uri == "index.md":
        return markdown
    return relink(markdown, "docs/" + page.file.src_uri)
