"""A hook of mkdocs: links from pages to files beside docs lead to the repository on the web."""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path

REPOSITORY = os.environ.get("GITHUB_REPOSITORY", "OWNER/tokgate")
TOP = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(((?:\.\./)+[^)#\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, page, **_: object) -> str:  # type: ignore[no-untyped-def]
    """The page with those links made absolute; links between pages stay as they are."""
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_uri))

    def absolute(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, found[1].replace("\\", "")))
        if path.startswith("docs/"):
            return found[0]
        kind = "tree" if (TOP / path).is_dir() else "blob"
        return f"](https://github.com/{REPOSITORY}/{kind}/main/{path}{found[2] or ''})"

    return LINK.sub(absolute, markdown)
