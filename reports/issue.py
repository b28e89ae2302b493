"""A finding as an issue for a library's tracker: Markdown for somebody who has never seen tokgate.

It has what a maintainer asks for first: the smallest input, what each implementation gives for it,
their versions, and how to see it again.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from corpora.vocabularies.embedded import embedded
from corpora.vocabularies.sources import PACKAGED
from harness.events import Found, Group
from impls.pip_release import adapters
from reports.blocks import Block, Code, Heading, Inline, Paragraph, Span, Table, markdown
from reports.blocks.units import plural
from reports.text import literal, tokens_near
from reports.words import DIED, smallest, spoken

if TYPE_CHECKING:
    from impls.adapters.common import Library
    from reports.record import RunRecord

ANYWHERE = ("random:", "tiktoken:", "hf:", *PACKAGED)
"""How vocabularies are named that every machine can get."""
MOST_HEX = 500
"""Bytes of an input that a command has room for."""
TITLE_INPUT = 24
"""Characters of an input in a title."""
MAX_MESSAGE = 2_000
"""Characters of a message of a failure: its end counts."""
ITSELF = ("tokgate", "python")
"""What versions are told besides those of the libraries."""


@cache
def _libraries() -> dict[str, Library]:
    """The libraries that have an adapter, by their names in runs."""
    return {one.LIBRARY.name: one.LIBRARY for one in adapters().values()}


def tracker(name: str) -> str:
    """Where defects of an implementation are reported; nothing where tokgate does not know."""
    library = _libraries().get(name)
    return f"{library.homepage}/issues" if library and library.homepage else ""


def again(found: Found, record: RunRecord, source: str) -> str:
    """The command that asks for this input again; nothing where no single command can.

    source: the text by which the vocabulary was given. Libraries are named with their versions,
    what the user brought as the user named it.
    """
    if found.check != "equivalence" or len(found.partition) < 2 or len(found.input) > MOST_HEX:
        return ""
    names = dict.fromkeys([found.partition[0].implementations[0], *found.culprits[:1]])
    chosen = [word for name in names for word in ("--impl", _spec(name, record))]
    data = found.input.hex()
    return shlex.join(["tokgate", "minimize", "--vocab", source, *chosen, "--hex", data])


def anywhere(found: Found, record: RunRecord, source: str) -> bool:
    """Whether :func:`again` needs no file of the run's machine."""
    specs = (_spec(name, record) for name in {*found.partition[0].implementations[:1],
                                              *found.culprits[:1]})  # fmt: skip
    own = any(":" in one and not one.startswith(("pip:", "npm:")) for one in specs)
    return not own and (source in embedded() or source.startswith(ANYWHERE))


def _spec(name: str, record: RunRecord) -> str:
    """How a user names an implementation in the version of the run.

    Files below the folder in which the run was started are named from there.
    """
    spec, version = record.specs.get(name, name), record.versions.get(name)
    library = _libraries().get(spec)
    if library and version:
        return f"pip:{library.distribution}=={version}"
    folder = record.started.folder.rstrip("/") if record.started else ""
    return re.sub(rf"(?<![^:=\s'\"]){re.escape(folder)}/", "./", spec) if folder else spec


def render(found: Found, record: RunRecord, script: str = "") -> str:
    """The issue as Markdown. script: the text of the reproducer, where there is one."""
    return markdown.render(_blocks(found, record, script))


def _blocks(found: Found, record: RunRecord, script: str) -> Iterator[Block]:
    shown, size = literal(found.input), plural(len(found.input), "byte")
    names = [*(name for one in found.partition for name in one.implementations), *found.culprits]
    loaded = record.coverage.vocabularies.get(found.vocabulary)
    source = loaded.source if loaded else found.vocabulary
    yield Heading((f"{spoken(found)}: ", Span(smallest(found, TITLE_INPUT), "literal")), 1)
    yield Paragraph((
        "On the input below, with the vocabulary ", Span(source, "code"),
        f" ({found.mode}): ", Span(found.difference, "code"),
    ))  # fmt: skip
    yield Heading(f"Smallest input ({size})", 2)
    yield Code(str(shown), style="expect")
    if len(found.input) <= MOST_HEX:
        yield Paragraph(("As hexadecimal bytes: ", Span(found.input.hex(" ") or "none", "code")))
    yield Heading("What each gives", 2)
    rows = [
        [", ".join(one.implementations), *_gives(one, found.first_difference)]
        for one in found.partition
    ]
    yield Table("Outcomes", "Implementation | Tokens | Ids", rows, header=-1)
    for one in found.partition:
        if one.message:
            yield Paragraph(f"Message of {', '.join(one.implementations)}:")
            yield Code(one.message[-MAX_MESSAGE:], style="log")
    yield Heading("Versions", 2)
    have = {one: record.versions[one] for one in (*names, *ITSELF) if one in record.versions}
    machine = {"machine": record.started.machine} if record.started else {}
    yield Table("Versions", "What | Version", [*have.items(), *machine.items()], header=-1)
    command = again(found, record, source)
    if command or script:
        yield Heading("How to see it again", 2)
    if command:
        yield Code(command)
    if script:
        yield Paragraph(
            "This script calls each library as its users do. It reads the vocabulary from a file "
            "in the run's folder vocabularies; attach that file if it is not public."
        )
        yield Code(script, style="expect")
    yield Paragraph("Found and minimised by tokgate, which compares tokenizers on generated texts.")


def _gives(one: Group, first: int | None) -> tuple[Inline, Inline]:
    """The tokens and the ids of one outcome, around the first difference, which is marked."""
    if one.kind != "encoded":
        return DIED.get(one.kind, one.kind), ""
    tokens, ids = list[Inline](), list[Inline]()
    for token in tokens_near(one, first, max(one.total, len(one.ids))):
        style = "literal strong" if token.state.endswith("first") else "literal"
        tokens.append((Span(token.surface, "" if token.state == "rest" else style), " "))
        ids += [(Span(note, "strong" * token.state.endswith("first")), " ") for note in
                token.notes[:1]]  # fmt: skip
    return tuple(tokens), tuple(ids)
