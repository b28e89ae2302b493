"""Causes: findings that differ in nothing but what their minimal inputs are like.

A bucket is ``check/algorithm/mode/stage/kind/culprits``. Its kind says what the minimal input is
like, or how many tokens are wrong, and one mistake shows on inputs of many kinds. Buckets that are
alike in all else are one cause: reports show it once, with a variant for each kind. Expectations
go on to match buckets, so that one that was written for a kind covers that variant alone.

Where nobody knows more of a stage than that ids or texts differ, kinds that stand out are causes of
their own: U+FEFF that is treated wrongly and ``What's`` that is split wrongly are two mistakes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from harness.events.run import Found

SLOTS = 6
"""Slots of a bucket. The last one may have slashes of its own: names of programs and files."""

KIND = 4
"""The place of the kind among the slots."""

STAGE = 3
"""The place of the stage among the slots."""

OUTSIDE = frozenset({"ids", "text"})
"""Stages that say no more than that the outcomes differ, be the mistake what it may."""

UNICODE = "unicode"
"""The kind of a character that two versions of Unicode class or normalize differently."""

ANY_KIND = "*"
"""Stands for the kind in the name of a cause, which is therefore a pattern for an expectation that
covers all of its variants."""


def cause_of(bucket: str) -> str:
    """The bucket with ``*`` in place of its kind: the same for all variants of a cause."""
    slots = slots_of(bucket)
    if not slots or (slots[STAGE] in OUTSIDE and stands_out(slots[KIND])):
        return bucket
    return any_kind(bucket)


def any_kind(bucket: str) -> str:
    """The pattern for a bucket's inputs of all kinds."""
    slots = slots_of(bucket)
    return "/".join([*slots[:KIND], ANY_KIND, *slots[KIND + 1 :]]) if slots else bucket


def kind_in(bucket: str) -> str:
    """The kind that a bucket names, or nothing."""
    slots = slots_of(bucket)
    return slots[KIND] if slots else ""


def slots_of(bucket: str) -> list[str]:
    """The slots of a bucket; none of what has not all of them."""
    slots = bucket.split("/", SLOTS - 1)
    return slots if len(slots) == SLOTS else []


def stands_out(kind: str) -> bool:
    """Whether a kind of input says something of a cause: ``Cn`` does, ``L+P`` is in any text."""
    return kind in {"bytes", UNICODE} or all(len(part) == len("Cn") for part in kind.split("+"))


def by_cause(findings: Iterable[Found]) -> dict[str, list[Found]]:
    """Findings by their causes, the one to show first of each: unexpected, minimal, readable.

    The causes are in the order of their first findings.
    """
    found: dict[str, list[Found]] = {}
    for one in findings:
        found.setdefault(cause_of(one.bucket), []).append(one)
    for alike in found.values():
        alike.sort(key=_rank)
    return found


def _rank(one: Found) -> tuple[bool, bool, tuple[int, int], str]:
    data = readability(one.input)
    return one.expected is not None, not one.minimal, data, one.id


def readability(data: bytes) -> tuple[int, int]:
    """By which inputs are ordered, the one that a reader understands best first.

    ASCII comes before other text, that before text with characters that are unassigned or cannot
    be seen, and that before bytes that are no text. Of one sort the shortest comes first.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return 3, len(data)
    if text.isascii():
        return 0, len(data)
    hidden = any(unicodedata.category(character)[0] == "C" for character in text)
    return 2 if hidden else 1, len(data)


def named(alike: Iterable[Found]) -> str:
    """The name of a cause: its bucket where it has one variant, else with ``*`` for the kind."""
    buckets = dict.fromkeys(one.bucket for one in alike)
    return next(iter(buckets)) if len(buckets) == 1 else cause_of(next(iter(buckets)))
