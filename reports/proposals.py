"""Entries of an expectations file, written from the record of a run. Pure functions."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from packaging.version import InvalidVersion, Version

from harness.checks import inputless
from harness.events import ExpectationJudged, Found, GrowthJudged, Measured, any_kind, by_cause
from harness.verdict import bounds
from harness.verdict.expectations import Expectation
from reports.studies import grouped

REASON = "TODO: say why this is known"
"""This stands in place of the reason, which nobody but the user knows."""

EXAMPLES = 8
"""Inputs that an entry gets at the most."""

PATTERN_SIGNS = str.maketrans({"[": "[[]", "?": "[?]"})
"""Signs of a bucket that a shell pattern would read as more than themselves."""

EXPECTED, SCALING = "[[expected]]", "[[scaling]]"


@dataclass(frozen=True)
class Proposal:
    """An entry as text, and a line that says what it covers."""

    text: str
    covers: str


def entries(
    findings: Iterable[Found],
    known: Sequence[Expectation],
    versions: Mapping[str, str],
    *,
    broad: bool = False,
) -> list[Proposal]:
    """Return an entry for each bucket that no expectation covers, by vocabulary.

    known: the entries that there are already. versions: of the implementations, as recorded.
    broad: one entry for each cause, which covers inputs of all kinds.
    """

    def covered(one: Found) -> bool:
        # By the run, or by what the file has by now.
        name, data = one.bucket, one.input
        return one.expected is not None or any(
            e.covers(name, one.vocabulary) and e.explains(name, data, inputless=inputless(name))
            for e in known
        )

    causes = by_cause(one for one in findings if not covered(one)).values()

    def place(one: Found) -> tuple[str, str]:
        # What is wrong without any input shows in the same tokens on inputs of every kind.
        every = broad or not one.input_b64
        return any_kind(one.bucket) if every else one.bucket, one.vocabulary

    what = "all inputs that differ at this stage, such as" if broad else "what is explained by"
    made = []
    for (bucket, vocabulary), alike in grouped(chain(*causes), place).items():
        inputs = ", ".join(map(_example, [*dict.fromkeys(one.input for one in alike)][:EXAMPLES]))
        ranges = ", ".join(
            f"{json.dumps(name)} = {json.dumps(_range(versions.get(name, '')))}"
            for name in dict.fromkeys(name for one in alike for name in one.culprits)
        )
        lines = [
            EXPECTED,
            f"bucket = {_pattern(bucket)}",
            f"vocabulary = {_pattern(vocabulary)}",
            f"examples = [{inputs}]",
            *["broad = true"] * broad,
            f"implementations = {{ {ranges} }}",
            f"reason = {json.dumps(REASON)}  # {alike[0].id}: {_comment(alike[0].difference)}",
        ]
        says = f"{bucket} on {vocabulary}: {what} {inputs}"
        made.append(Proposal("\n".join(lines) + "\n", says))
    return made


def scaling(judged: Iterable[GrowthJudged], measured: Iterable[Measured]) -> list[Proposal]:
    """Return an entry for each broken bound: the narrowest that all measurements of a cell keep."""

    def place(one: Measured | GrowthJudged) -> tuple[str, str, str]:
        return one.implementation, one.vocabulary, one.family

    cells = grouped(measured, place)
    broken = grouped((one for one in judged if one.outcome == "fail"), place)
    found = []
    for where in filter(cells.__contains__, broken):
        implementation, vocabulary, family = where
        bound, lines = bounds.narrowest(cells[where]), broken[where]
        # Who takes too many bytes a byte, and no more of them the longer the input, is given them.
        hungry = any(one.measure == "memory" for one in lines)
        text = [
            SCALING,
            f"implementation = {_pattern(implementation)}",
            f"vocabulary = {_pattern(vocabulary)}",
            f"family = {_pattern(family)}",
            f"bound = {json.dumps(bound)}",
            *(
                # What a cell keeps of memory, in bytes a byte, and half as many again.
                f"memory = {math.ceil(1.5 * max(peak / size for size, peak in one.points))}"
                for one in cells[where]
                if hungry and one.measure == "memory" and one.verdict == "linear"
            ),
            f"reason = {json.dumps(REASON)}  # {_comment(lines[0].line)}",
        ]
        says = f"{implementation} on {vocabulary}, {family}: growth up to {bound}"
        found.append(Proposal("\n".join(text) + "\n", says))
    return found


def added(text: str, expected: Sequence[Proposal], limits: Sequence[Proposal]) -> str:
    """Return a file's text with further entries.

    Bounds come before those that are there, as the first one that matches counts.
    """
    # A comment on the entry stays with it.
    found = re.search(rf"^(#.*\n)*{re.escape(SCALING)}", text, re.MULTILINE)
    first = found.start() if found else len(text)
    before, after = text[:first].rstrip("\n"), text[first:].strip("\n")
    parts = [before, *(one.text for one in limits), after, *(one.text for one in expected)]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def pruned(text: str, places: Sequence[int]) -> str:
    """Return a file's text without the entries under ``[[expected]]`` at these places.

    Comments that stand before the next entry are kept.
    """
    parts = re.split(r"^(?=\[\[)", text, flags=re.MULTILINE)
    mine = [at for at, part in enumerate(parts) if part.startswith(EXPECTED)]
    for place in places:
        comments = re.search(r"(?m)(?:^(?:#.*|[ \t]*)\n)*\Z", parts[mine[place]])
        parts[mine[place]] = comments[0].lstrip("\n") if comments else ""
    return "".join(parts).strip("\n") + "\n"


def stale(judged: Iterable[ExpectationJudged], tables: Sequence[Mapping[str, object]]) -> list[int]:
    """Return the places of a file's entries that a run found stale."""
    gone = [one for one in judged if one.status == "stale"]
    return [
        place
        for place, table in enumerate(tables)
        if any(
            (one.bucket, one.vocabulary, one.reason)
            == (table.get("bucket"), table.get("vocabulary", "*"), table.get("reason"))
            for one in gone
        )
    ]


def _pattern(name: str) -> str:
    """A name as a shell pattern that fits it alone, but for ``*``."""
    return json.dumps(name.translate(PATTERN_SIGNS), ensure_ascii=False)


def _example(data: bytes) -> str:
    """An input as an entry has it: as text where every reader sees what it is."""
    text = data.decode("ascii", "replace")
    return (
        json.dumps(text) if text.isascii() and text.isprintable() else f'{{ hex = "{data.hex()}" }}'
    )


def _range(version: str) -> str:
    """From this version on, so that a release that mends it leaves the entry stale."""
    try:
        return f">={Version(version).public}"
    except InvalidVersion:
        return "*"


def _comment(text: str) -> str:
    """A text that stays in the comment of one line."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)
