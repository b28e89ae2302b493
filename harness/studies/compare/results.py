"""``compare.json`` and ``prove.json``: what is proved of two vocabularies, and what texts show."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

import msgspec

ENGINES = "engines"
"""The kind of a difference that is not in the files."""

DEFECT = (
    "a text differs although it was proved that none does: this is a defect of tokgate, "
    "please report it with both files"
)


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


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of an encoding. verdict: ``equal``, ``different`` or ``undecided``; words: why.

    shortest: the shortest text that shows a difference in the stage, as a literal; it may be bytes
    that no text has. shown: a text that both libraries encode differently because of it.
    """

    name: str
    verdict: str
    words: str
    shortest: str = ""
    shown: str = ""


@dataclass(slots=True)
class Comparison:
    """What came of a comparison.

    a, b: the vocabularies as they were given. readers: who encoded each, with the version. stages:
    of an encoding, with what is proved of each. texts: that were compared, by their origin;
    differing: of them. looked_into: of those, for their cause. further_causes: that are not told.
    notes: what differs whatever texts show; not_shown: what no text showed. unanswered: texts
    without an answer, by their reader. not_compared: what there was no way to compare, in
    sentences. complete: whether it was not interrupted.
    """

    a: str
    b: str
    readers: list[str]
    seed: int
    command: str
    stages: list[Stage] = field(default_factory=list)
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
        """``different`` where a text showed it; else what :attr:`without_difference` says."""
        shown = self.differing or any(one.shown for one in self.stages)
        return "different" if shown else self.without_difference

    @property
    def without_difference(self) -> str:
        """``same``, or ``not-examined`` where some text was not answered."""
        return "same" if self.compared and not self.unanswered else "not-examined"

    @property
    def proved(self) -> bool:
        """Whether each stage is proved equal."""
        return bool(self.stages) and all(one.verdict == "equal" for one in self.stages)

    @property
    def defect(self) -> str:
        """What speaks against a proof: a difference that is not one of the libraries'."""
        return DEFECT if self.proved and any(one.kind != ENGINES for one in self.causes) else ""

    def to_json(self) -> str:
        """The file."""
        told = {"verdict": self.verdict, "defect": self.defect, **asdict(self)}
        return json.dumps(told, indent=1) + "\n"


@dataclass(slots=True)
class Proof(Comparison):
    """A comparison that asks whether every text has the same tokens."""

    @property
    def without_difference(self) -> str:
        """``equal`` where each stage is proved so, or ``undecided``."""
        return "equal" if self.proved and self.compared else "undecided"


_Made = TypeVar("_Made", bound=Comparison)


def comparison_of(told: dict[str, Any], made: type[_Made]) -> _Made:
    """A comparison from its event. made: of which kind."""
    return msgspec.convert(told, made)
