"""The study that proves two vocabularies equal, stage by stage, or shows where they differ.

What is proved different is confirmed by the libraries of both files, and what is proved equal is
attacked with texts for the time of the budget, as ``tokgate compare`` does it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from harness.core import exit_statuses
from harness.engine.steps import ended
from harness.events import Compared, Finished, Phase
from harness.studies.compare.results import Comparison, comparison_of
from harness.studies.compare.run import CompareStudy
from harness.studies.prove import patterns
from harness.studies.prove.results import Proof, Stage
from harness.studies.prove.stages import judged
from impls.explanations import literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.engine.ending import Ending
    from harness.events import Event
    from harness.studies.compare.run import Comparing
    from harness.studies.prove.stages import Judged


@dataclass(slots=True)
class ProveStudy(CompareStudy):
    """The study: one step, which proves and then compares."""

    name: ClassVar[str] = "prove"
    made: ClassVar[type[Comparison]] = Proof

    def first(
        self, comparing: Comparing, report: Comparison, tell: Callable[[Event], None]
    ) -> Sequence[bytes]:
        """Prove, and confirm what is different: the texts that show it, as the libraries say."""
        assert isinstance(report, Proof)
        shown: list[bytes] = []
        tell(Phase("proving"))
        for stage in judged(*self.vocabularies):
            texts = confirmed(comparing, stage)
            shortest = literal(stage.texts[0]) if stage.texts else ""
            found = literal(texts[0]) if texts else ""
            report.stages.append(Stage(stage.name, stage.verdict, stage.words, shortest, found))
            shown += texts
        return shown

    def fold(self, events: Sequence[Event], ending: Ending) -> Finished:
        """The end: the verdict decides the exit status."""
        for event in events:
            if isinstance(event, Compared):
                report = comparison_of(event.report, Proof)
                status = {"equal": exit_statuses.HOLDS, "different": exit_statuses.FAILS}
                fine = status.get(report.verdict, exit_statuses.NOT_EXAMINED)
                return ended(ending, report.compared, fine)
        return ended(ending)


def confirmed(comparing: Comparing, stage: Judged) -> list[bytes]:
    """Texts that show the difference of a stage, of which both libraries give other tokens."""
    texts = dict.fromkeys(text for data in stage.texts for text in around(data))
    for mode in comparing.modes:
        if found := comparing.differing([*texts], mode):
            return sorted(found, key=len)
    return []


def around(data: bytes) -> Sequence[bytes]:
    """Texts with these bytes in them, where there are any: alone, and with spaces around."""
    inside = patterns.completed(data)
    if inside is None:
        return ()
    text = inside.encode()
    return text, b" " + text, text + b" ", b"a " + text
