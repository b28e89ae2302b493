"""Entries of an expectations file, written from the findings of a run. Pure functions."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Protocol

from packaging.version import InvalidVersion, Version

from harness.events import by_cause, cause_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from harness.events import Found

REASON = "TODO: say why this is known"
"""This stands in place of the reason, which nobody but the user knows."""

EXAMPLES = 3
"""Inputs of a cause that an entry gets: one of each of its first variants."""

PATTERN_SIGNS = str.maketrans({"[": "[[]", "?": "[?]"})
"""Signs of a bucket that a shell pattern would read as more than themselves."""


class Covering(Protocol):
    """An entry that there is already (:class:`harness.verdict.expectations.Expectation`)."""

    def covers(self, bucket: str, vocabulary: str) -> bool:
        """Whether it is about a bucket on a vocabulary."""
        ...


def entries(
    findings: Iterable[Found], known: Sequence[Covering], versions: Mapping[str, str]
) -> list[str]:
    """Return an entry, as text, for each cause that no expectation covers, by vocabulary.

    known: the entries that there are already. versions: of the implementations, as recorded.
    """
    uncovered = [
        one
        for one in findings
        if one.expected is None and not any(e.covers(one.bucket, one.vocabulary) for e in known)
    ]
    return [
        entry(alike, vocabulary, versions)
        for alike in by_cause(uncovered).values()
        for vocabulary in dict.fromkeys(one.vocabulary for one in alike)
    ]


def entry(alike: Sequence[Found], vocabulary: str, versions: Mapping[str, str]) -> str:
    """Return the entry, as text, for the findings of one cause on a vocabulary."""
    here = [one for one in alike if one.vocabulary == vocabulary]
    inputs = dict.fromkeys(base64.b64decode(one.input_b64) for one in here)
    examples = ", ".join(_example(data) for data in [*inputs][:EXAMPLES])
    ranges = ", ".join(
        f"{json.dumps(name)} = {json.dumps(_range(versions.get(name, '')))}"
        for name in dict.fromkeys(name for one in here for name in one.culprits)
    )
    lines = [
        "[[expected]]",
        f"bucket = {_pattern(cause_of(here[0].bucket))}",
        f"vocabulary = {_pattern(vocabulary)}",
        f"examples = [{examples}]",
        f"implementations = {{ {ranges} }}",
        f"reason = {json.dumps(REASON)}  # {here[0].id}: {_comment(here[0].difference)}",
    ]
    return "\n".join(lines) + "\n"


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
