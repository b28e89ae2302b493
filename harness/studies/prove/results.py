"""``prove.json``: what was proved of two vocabularies, and what texts said to it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from harness.studies.compare.results import ENGINES, Comparison

DEFECT = (
    "a text differs although it was proved that none does: this is a defect of tokgate, "
    "please report it with both files"
)


@dataclass(slots=True)
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
class Proof(Comparison):
    """A comparison with what was proved before."""

    stages: list[Stage] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """``equal``, ``different`` where a text showed it, or ``undecided``."""
        if self.differing or any(one.shown for one in self.stages):
            return "different"
        return "equal" if self.proved and self.compared else "undecided"

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
