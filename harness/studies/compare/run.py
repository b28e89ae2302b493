"""The studies that compare two vocabularies which should mean the same, or prove that they do.

First, each stage of an encoding is proved equal or different, where it can be
(:mod:`harness.studies.prove.stages`). What is proved different is confirmed by the libraries of
both files, and what is proved equal is attacked with texts, for the time of the budget.

Each vocabulary is encoded by whoever decides what its format means. Where the two differ, the plain
implementation of the algorithm encodes both, too: if it gives both the same tokens, it is the
engines that differ. If not, settings of the first vocabulary are put in place of the second one's,
one at a time; the one after which both are alike is the cause. What is left is in the tokens, the
merges or the scores.
"""

from __future__ import annotations

import base64
import contextlib
from collections import Counter
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from harness.core import exit_statuses
from harness.core.comparisons import modes_of
from harness.core.countdown import Countdown
from harness.core.outcomes import Encoded, Failed, Outcome, Rejected
from harness.engine.steps import SteppedStudy, ended
from harness.events import Compared, Finished, Phase
from harness.findings.shrink import shrink
from harness.studies.compare import differences
from harness.studies.compare.inputs import GENERATED, GIVEN, SHOWING, batches, texts
from harness.studies.compare.results import (
    ENGINES,
    Cause,
    Comparison,
    Proof,
    Row,
    Stage,
    comparison_of,
)
from harness.studies.compare.sides import SPECIAL, TEXT, opened, plain, runs
from harness.studies.prove.patterns import completed
from harness.studies.prove.stages import judged
from impls.explanations import literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from corpora.texts.corpus import Corpus
    from corpora.vocabularies.model import Vocabulary
    from harness.core.participants import Participant
    from harness.engine.ending import Ending
    from harness.events import Event
    from harness.studies.compare.sides import Side
    from harness.workers import Limits
    from impls.interface import Mode

LOOKED_INTO = 2000
"""Differing texts whose cause is looked for; the others are counted."""

CAUSES = 8
"""Causes that are told."""

MINIMISING = 20.0
"""Seconds for making the texts of all causes small, after the budget."""

SPACE = "\u2581".encode()

STATUSES = {
    "same": exit_statuses.HOLDS,
    "equal": exit_statuses.HOLDS,
    "different": exit_statuses.FAILS,
}

Key = tuple[str, str]
"""A cause: its kind, and its words."""

Answer: TypeAlias = "tuple[int | tuple[int], ...] | str"
"""What an outcome is compared by: its ids, in the numbering of the second vocabulary; or words."""


@dataclass(slots=True)
class Found:
    """The differing texts of one cause: how many, and the smallest one, with its mode."""

    texts: int
    mode: Mode
    smallest: bytes


@dataclass(slots=True)
class CompareStudy(SteppedStudy):
    """The study: one step. readers: who encodes each of the two vocabularies."""

    sources: tuple[str, str]
    vocabularies: tuple[Vocabulary, Vocabulary]
    readers: tuple[Participant, Participant]
    corpus: Corpus | None
    budget: float
    seed: int
    limits: Limits
    command: str
    watch: Callable[[float, str], None]
    name: ClassVar[str] = "compare"
    made: ClassVar[type[Comparison]] = Comparison

    def identity(self) -> dict[str, Any]:
        """What was compared."""
        return {"sources": self.sources, "seed": self.seed}

    def plan(self, past: Sequence[Event]) -> Sequence[str]:
        """One step."""
        return [self.name]

    def step(self, name: str, tell: Callable[[Event], None]) -> None:
        """Compare, and tell what came of it, even of a comparison that is interrupted.

        Raises ImplementationError where a vocabulary cannot be loaded.
        """
        told = [one.title for one in self.readers]
        report = self.made(*self.sources, told, self.seed, self.command)
        try:
            with contextlib.ExitStack() as stack:
                comparing = Comparing(self, report, stack)
                tell(Phase("proving"))
                comparing.run(tell, comparing.prove())
            report.complete = True
        finally:
            tell(Compared(asdict(report)))

    def fold(self, events: Sequence[Event], ending: Ending) -> Finished:
        """The end: the verdict decides the exit status."""
        told = [one.report for one in events if isinstance(one, Compared)]
        report = comparison_of(told[0], self.made) if told else None
        if report is None:
            return ended(ending)
        fine = STATUSES.get(report.verdict, exit_statuses.NOT_EXAMINED)
        return ended(ending, report.compared, fine)


class ProveStudy(CompareStudy):
    """The same study, which asks for a proof."""

    name: ClassVar[str] = "prove"
    made: ClassVar[type[Comparison]] = Proof


class Comparing:
    """One comparison at work: what is open, and what was found."""

    def __init__(
        self, study: CompareStudy, report: Comparison, stack: contextlib.ExitStack
    ) -> None:
        self._study, self._report, self._stack = study, report, stack
        self.a, self.b = study.vocabularies
        self.numbers = differences.numbering(self.a, self.b)
        self.apart = differences.apart(self.a, self.b)
        self.model, self._differing = differences.ModelDifferences({}, {}, {}), []
        if not self.apart:
            self.model = differences.model_differences(self.a, self.b)
            self._differing = differences.settings(self.a, self.b)
        self.found: dict[Key, Found] = {}
        self.clock = Countdown(study.budget)
        self.sides = [
            self._opened(who, what)
            for who, what in zip(study.readers, study.vocabularies, strict=True)
        ]

    def _opened(self, who: Participant, vocabulary: Vocabulary) -> Side:
        return self._stack.enter_context(opened(who, vocabulary, self._study.limits))

    @property
    def modes(self) -> list[Mode]:
        """As plain text; and with special tokens, where both vocabularies have any to be found."""
        if not all(SPECIAL in modes_of(one) for one in (self.a, self.b)):
            return [TEXT]
        if all(runs(side.participant, side.vocabulary, SPECIAL) for side in self.sides):
            return [TEXT, SPECIAL]
        self._report.not_compared.append("texts with special tokens in them")
        return [TEXT]

    def prove(self) -> list[bytes]:
        """Prove stage by stage. Returns the texts that show what is different."""
        shown: list[bytes] = []
        for stage in judged(self.a, self.b):
            texts = self._confirmed(stage.texts)
            shortest, found = (literal(some[0]) if some else "" for some in (stage.texts, texts))
            told = Stage(stage.name, stage.verdict, stage.words, shortest, found)
            self._report.stages.append(told)
            shown += texts
        return shown

    def _confirmed(self, texts: Iterable[bytes]) -> list[bytes]:
        """Those of some texts with these bytes in them of which both libraries give other tokens,
        the shortest first."""
        inside = dict.fromkeys(text for data in texts for text in around(data))
        for mode in self.modes:
            rows = self._rows([*inside], mode) if inside else []
            found = [data for data, row in zip(inside, rows, strict=True) if self.differ(row)]
            if found:
                return sorted(found, key=len)
        return []

    def run(self, tell: Callable[[Event], None], first: Sequence[bytes]) -> None:
        """Compare all texts, then make small what differs, and put it into the report.

        first: texts that come before all others.
        """
        study, report = self._study, self._report
        report.notes = differences.token_lines(self.a, self.b)
        report.not_compared = differences.not_encoded(self.a, self.b)
        modes, origins, unanswered = self.modes, Counter[str](), Counter[str]()
        tell(Phase("comparing"))
        seconds = 0.0
        try:
            others = texts(self.a, self.b, study.corpus, study.seed, self.model.keys)
            for batch in batches(chain(((SHOWING, one) for one in first), others)):
                # However little time there is, some tokens and some generated texts are compared.
                if (
                    self.clock.start().over
                    and origins[GENERATED]
                    and batch[0][0] not in (SHOWING, GIVEN)
                ):
                    break
                differing = dict.fromkeys(
                    data for mode in modes for data in self._batch(batch, mode, unanswered)
                )
                origins.update(origin for origin, _ in batch)
                report.differing += len(differing)
                report.texts, report.unanswered = {**origins}, {**unanswered}
                report.seconds = self.clock.spent
                study.watch(min(1.0, self.clock.spent / study.budget), "comparing")
            seconds = MINIMISING
        finally:  # who interrupts it is told at once what was found
            self._told(tell, seconds)

    def _batch(
        self, batch: Sequence[tuple[str, bytes]], mode: Mode, unanswered: Counter[str]
    ) -> list[bytes]:
        """The texts of a batch that the two encode differently; their causes are noted."""
        datas = [data for _, data in batch]
        rows = self._rows(datas, mode)
        for reader, outcomes in zip(self._report.readers, zip(*rows, strict=True), strict=True):
            if lost := sum(isinstance(one, Failed) for one in outcomes):
                unanswered[reader] += lost
        differing = [data for data, row in zip(datas, rows, strict=True) if self.differ(row)]
        if differing and self._report.looked_into < LOOKED_INTO:
            for data, key in zip(differing, self.causes(differing, mode), strict=True):
                one = self.found.setdefault(key, Found(0, mode, data))
                one.texts += 1
                if len(data) < len(one.smallest):
                    one.mode, one.smallest = mode, data
            self._report.looked_into += len(differing)
        return differing

    def _rows(self, datas: Sequence[bytes], mode: Mode) -> list[tuple[Outcome, Outcome]]:
        return [*zip(*(side.encode(datas, mode) for side in self.sides), strict=True)]

    def differ(self, row: tuple[Outcome, Outcome]) -> bool:
        """Whether both answered, and not the same."""
        mine, theirs = row
        answered = not any(isinstance(one, Failed) for one in row)
        return answered and self.answer(mine) != self.answer(theirs, own=False)

    def answer(self, outcome: Outcome, *, own: bool = True) -> Answer:
        """What an outcome is compared by. own: whether its ids are the first vocabulary's."""
        if isinstance(outcome, Encoded):
            if not own:
                return outcome.ids
            return tuple(self.numbers.get(one, (one,)) for one in outcome.ids)
        return "rejected" if isinstance(outcome, Rejected) else str(outcome)

    # Causes.

    @cached_property
    def _plain(self) -> tuple[Side, Side] | None:
        """Both vocabularies in our plain implementation, if there is one that runs both."""
        one = plain(self.a, self.b)
        return None if one is None else (self._opened(one, self.a), self._opened(one, self.b))

    @cached_property
    def _settings(self) -> list[tuple[Key, Side]]:
        """The second vocabulary with each setting of the first one, in the plain implementation."""
        known = self._plain
        one = known[0].participant if known is not None else None
        made = (
            (setting, replace(self.b, native=None, **setting.part)) for setting in self._differing
        )
        return [
            ((setting.name, setting.words), self._opened(one, vocabulary))
            for setting, vocabulary in made
            if one is not None and runs(one, vocabulary)
        ]

    def causes(self, datas: Sequence[bytes], mode: Mode) -> list[Key]:
        """The cause of each of these texts, which differ."""
        if self.apart or self._plain is None:
            words = (
                self.apart or "no plain implementation runs both files, so that no cause is known"
            )
            return [(differences.ELSEWHERE, words)] * len(datas)
        both = [side.encode(datas, mode) for side in self._plain]
        wanted = [self.answer(one) for one in both[0]]
        found: dict[int, Key] = {}
        names = " and ".join(dict.fromkeys(self._report.readers))
        who = self._plain[0].participant.name
        words = f"the files give the same tokens in {who}; {names} do not treat this text alike"
        for at, (one, other) in enumerate(zip(wanted, both[1], strict=True)):
            if one == self.answer(other, own=False):
                found[at] = (ENGINES, words)
        for key, side in self._settings if len(found) < len(datas) else ():
            left = [at for at in range(len(datas)) if at not in found]
            tried = side.encode([datas[at] for at in left], mode) if left else []
            for at, outcome in zip(left, tried, strict=True):
                if self.answer(outcome, own=False) == wanted[at]:
                    found[at] = key
        for at, (data, *rows) in enumerate(zip(datas, *both, strict=True)):
            if at not in found:
                found[at] = self._in_the_model(data, rows)
        return [found[at] for at in range(len(datas))]

    def _in_the_model(self, data: bytes, rows: Sequence[Outcome]) -> Key:
        used = [
            spelled[one][0]
            for spelled, row in zip(map(differences.spelled, (self.a, self.b)), rows, strict=True)
            for one in (row.ids if isinstance(row, Encoded) else ())
            if one in spelled
        ]
        spaced = data.replace(b" ", SPACE)
        return self.model.cause(used, [data, b" " + data, spaced, SPACE + spaced])

    # What is told.

    def _told(self, tell: Callable[[Event], None], seconds: float) -> None:
        """Make the smallest text of each cause smaller, and put all causes into the report."""
        chosen = sorted(self.found.items(), key=lambda item: -item[1].texts)[:CAUSES]
        self._report.further_causes = len(self.found) - len(chosen)
        shown = {words for _, words in self.found}
        single = (one.words for one in self._differing if one.name not in differences.TOGETHER)
        static = [*single, *self.model.words]
        self._report.not_shown = [words for words in static if words not in shown]
        if chosen:
            tell(Phase("making the differing texts small"))
        for (kind, words), one in chosen:
            self._report.causes.append(self._cause(kind, words, one, seconds / len(chosen)))

    def _cause(self, kind: str, words: str, found: Found, seconds: float) -> Cause:
        def failing(candidates: Sequence[bytes]) -> Iterable[bool]:
            rows = self._rows(candidates, found.mode)
            some = [data for data, row in zip(candidates, rows, strict=True) if self.differ(row)]
            same = {d for d, key in zip(some, self.causes(some, found.mode), strict=True)
                    if key == (kind, words)} if some else set()  # fmt: skip
            return [data in same for data in candidates]

        text, minimal = shrink(found.smallest, failing, seconds)
        [row] = self._rows([text], found.mode)
        a, b = map(row_of, row, (self.a, self.b))
        coded, label = base64.b64encode(text).decode(), found.mode.label
        return Cause(kind, words, found.texts, literal(text), coded, label, a, b, minimal)


def around(data: bytes) -> Sequence[bytes]:
    """Texts with these bytes in them, where there are any: alone, and with spaces around."""
    inside = completed(data)
    if inside is None:
        return ()
    text = inside.encode()
    return text, b" " + text, text + b" ", b"a " + text


def row_of(outcome: Outcome, vocabulary: Vocabulary) -> Row:
    """What a vocabulary makes of a text, as it is told."""
    if not isinstance(outcome, Encoded):
        return Row([], [], str(outcome))
    spelled = differences.spelled(vocabulary)
    tokens = [literal(spelled[one][0]) if one in spelled else "?" for one in outcome.ids]
    return Row([*outcome.ids], tokens)
