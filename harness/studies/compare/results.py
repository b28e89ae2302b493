"""``compare.json``: what a comparison of two vocabularies found."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

import msgspec

ENGINES = "engines"
"""The kind of a difference that is not in the files."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one vocabulary makes of a text: its ids and what each spells; or why there are none."""

    ids: list[int]
    tokens: list[str]
    message: str = ""


@dataclass(slots=True)
class Cause:
    """A cause of differences, with the smallest text that shows it.

    kind: a setting's name, ``tokens``, ``merges``, ``scores``, ``engines`` or ``elsewhere``. words:
    what is different. texts: how many of those that were looked into show it. text: as a literal;
    mode: in which it was encoded. minimal: whether it gets no smaller.
    """

    kind: str
    words: str
    texts: int
    text: str
    input_b64: str
    mode: str
    a: Row
    b: Row
    minimal: bool = True


@dataclass(slots=True)
class Comparison:
    """What came of a comparison.

    a, b: the vocabularies as they were given. readers: who encoded each, with the version. texts:
    that were compared, by their origin; differing: of them. looked_into: of those, for their
    cause. further_causes: that are not told. notes: what differs whatever texts show; not_shown:
    what no text showed. unanswered: texts without an answer, by their reader. not_compared: what
    there was no way to compare, in sentences. complete: whether it was not interrupted.
    """

    a: str
    b: str
    readers: list[str]
    seed: int
    command: str
    texts: dict[str, int] = field(default_factory=dict)
    differing: int = 0
    looked_into: int = 0
    causes: list[Cause] = field(default_factory=list)
    further_causes: int = 0
    notes: list[str] = field(default_factory=list)
    not_shown: list[str] = field(default_factory=list)
    unanswered: dict[str, int] = field(default_factory=dict)
    not_compared: list[str] = field(default_factory=list)
    seconds: float = 0.0
    complete: bool = False

    @property
    def compared(self) -> int:
        """How many texts were compared."""
        return sum(self.texts.values())

    @property
    def verdict(self) -> str:
        """``same``, ``different``, or ``not-examined`` where some text was not answered."""
        if self.differing:
            return "different"
        return "same" if self.compared and not self.unanswered else "not-examined"

    def to_json(self) -> str:
        """The file."""
        return json.dumps({"verdict": self.verdict, **asdict(self)}, indent=1) + "\n"


_Made = TypeVar("_Made", bound=Comparison)


def comparison_of(told: dict[str, Any], made: type[_Made]) -> _Made:
    """A comparison from its event. made: of which kind."""
    return msgspec.convert(told, made)
