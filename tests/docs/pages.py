"""The pages that users read, cut into blocks of code, commands, links and names of files."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOP = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^    (tokgate .*)$", re.MULTILINE)
CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
OURS = re.compile(r"(?:corpora|docs|harness|impls|reports|tests|\.github)/[\w./-]*\w/?")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: the page, the line it begins on, its language, text, and what stands before.

    before: the paragraph in front of it, where a page names the file that the block is.
    """

    page: str
    line: int
    language: str
    text: str
    before: str

    @property
    def place(self):
        """The page and the line, for messages and names of tests."""
        return f"{self.page}:{self.line}"


@dataclass(frozen=True, slots=True)
class Command:
    """A ``tokgate`` command of a page. whole: it stands in a block, to be copied as it is."""

    place: str
    words: tuple[str, ...]
    whole: bool


def pages():
    """The text of each page, by its path from the top of the repository."""
    paths = [*(ROOT / name for name in TOP), *sorted((ROOT / "docs").rglob("*.md"))]
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in paths}


def blocks(page, text):
    """The fenced blocks of a page, in order."""
    for found in FENCE.finditer(text):
        before = text[: found.start()].rstrip().rpartition("\n\n")[2]
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page, line, found[1], found[2], before)


def prose(text):
    """A page without its fenced blocks, each line where it was."""
    return FENCE.sub(lambda found: "\n" * found[0].count("\n"), text)


def split(line):
    """The words of a command; as in a shell, a comment begins with a word that begins with #."""
    return shlex.split(re.sub(r"(^|\s)#.*$", "", line))


def commands(page, text):
    """The ``tokgate`` commands of a page: of its shell blocks, and of the code in its sentences."""
    for block in blocks(page, text):
        if block.language in ("sh", "bash", "console"):
            for line in block.text.replace("\\\n", " ").splitlines():
                words = split(line)
                if words[:1] == ["tokgate"]:
                    yield Command(block.place, tuple(words[1:]), True)
    plain = prose(text)
    for found in INDENTED.finditer(plain):
        line = plain.count("\n", 0, found.start()) + 1
        words = split(found[1])
        yield Command(f"{page}:{line}", tuple(words[1:]), True)
    for found in CODE.finditer(plain):
        if found[1].startswith("tokgate "):
            line = plain.count("\n", 0, found.start()) + 1
            yield Command(f"{page}:{line}", tuple(shlex.split(found[1])[1:]), False)


def links(text):
    """Targets of links to files and headings of this repository."""
    for found in LINK.finditer(prose(text)):
        if not re.match(r"[a-z]+:", found[1]):
            yield found[1]


def files(text):
    """Paths of ours that stand as code in the sentences of a page, patterns left out."""
    for found in CODE.finditer(prose(text)):
        if OURS.fullmatch(found[1]):
            yield found[1]


def anchors(text):
    """The anchors of the headings of a page, as GitHub and mkdocs name them."""
    plain = (re.sub(r"[^\w\s-]", "", heading.lower()) for heading in HEADING.findall(prose(text)))
    return {re.sub(r"\s", "-", heading.strip()) for heading in plain}
