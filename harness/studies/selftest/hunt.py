"""The hunt of one group: a campaign like any other, with the mistakes as its candidates."""

from __future__ import annotations

import base64
import threading
import time
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

from corpora.generators.catalog import generators
from corpora.vocabularies import sources
from harness.checks import CHECKS
from harness.core.participants import Participant
from harness.engine.planning import Plan
from harness.engine.sessions import Sessions
from harness.engine.state import RunState
from harness.engine.suites import Budget
from harness.events import BatchDone, ImplementationFailed, Measured, Phase
from harness.studies.default import studies
from harness.studies.selftest.events import HuntDone, MistakeJudged
from harness.studies.selftest.groups import REFERENCES, Kind
from harness.studies.selftest.ledger import Ledger
from harness.workers import Limits
from impls import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.engine.suites import Suite
    from harness.events import Event
    from harness.studies.selftest.groups import Group
    from harness.studies.selftest.ledger import Suspect
    from impls.interface import About, Encoder, Implementation, Mode

PATIENCE = 4.0
"""Seconds for a batch where mistakes hang, as ``--timeout`` gives them: each is waited for three
times before it is withdrawn. Elsewhere the default holds."""

UNDECIDED = "there was no time to decide how it grows on any family"
"""The trouble of a mistake whose growth was measured nowhere, or not enough to tell."""

DEATHS = 6
"""A mistake that ends its process has so many deaths: it takes three to be named, and each costs a
second."""


class Hunt:
    """The hunt of one group. suite: its settings are those of the campaign.

    began: called when everything is loaded and the first case is about to be asked.
    """

    def __init__(
        self, group: Group, suite: Suite, seed: int, began: Callable[[], None] = lambda: None
    ) -> None:
        self.group = group
        self._began = began
        self._cut = threading.Event()
        self._seed = seed
        self._vocabulary = sources.resolve(group.vocabulary)
        self._participants = participants(group, self._vocabulary)
        self._controls = [registry.resolve(spec).about.name for spec in group.controls]
        checks = {one.name: one.check for one in group.mistakes}
        self._ledger = Ledger(checks | dict.fromkeys(self._controls, ""))
        self._troubles: dict[str, str] = {}
        self._decided: set[str] = set()
        self._suite = suite
        self._sessions: Sessions | None = None

    def run(self, seconds: float) -> list[Event]:
        """Hunt for at most ``seconds`` besides the loading; HuntDone is the last event.

        What was caught before :meth:`stop` is told; what was not has the trouble that it was cut.
        """
        started = time.monotonic()
        run = RunState(self._plan(seconds), self._consume, self._ledger)
        self._sessions = Sessions(run, studies(run))
        if self._cut.is_set():
            self._sessions.stop()
        self._sessions.run(seconds)
        if self._cut.is_set():
            trouble = cut_off(sum(self._ledger.cases.values()), "cases")
            for name, suspect in self._ledger.suspects.items():
                if not suspect.named:
                    self._troubles.setdefault(name, trouble)
        if self.group.kind is Kind.GROWTH:
            for name, suspect in self._ledger.suspects.items():
                if not suspect.named and name not in self._decided:
                    self._troubles.setdefault(name, UNDECIDED)
        events: list[Event] = [self._judged(name) for name in self._ledger.suspects]
        events.append(
            HuntDone(
                vocabulary=self.group.vocabulary,
                kind=str(self.group.kind),
                mistakes=[one.name for one in self.group.mistakes],
                references=sorted(references(self._vocabulary)),
                seconds=time.monotonic() - started,
                cases=dict(self._ledger.cases),
            )
        )
        return events

    def stop(self) -> None:
        """End it, from any thread."""
        self._cut.set()
        if self._sessions is not None:
            self._sessions.stop()

    def _plan(self, seconds: float) -> Plan:
        growing = self.group.kind is Kind.GROWTH
        limits = Limits()
        if self.group.kind is Kind.APART:
            limits = Limits(seconds=PATIENCE, deaths=DEATHS)
        source = self.group.vocabulary
        return Plan(
            vocabularies={source: partial(loaded, self._vocabulary)},
            participants=self._participants,
            references=references(self._vocabulary),
            generators=list(generators().values()),
            checks=[] if growing else list(CHECKS.values()),
            scaled=[source] if growing else [],
            # What they cost besides time is measured of those that are named, and only of them.
            named=[one.name for one in self.group.mistakes] if growing else (),
            expectations=(),
            suite=self._suite,
            budget=Budget(seconds=seconds),
            seed=self._seed,
            jobs=1,
            # The tracker says when enough is known.
            fail_fast=True,
            limits=limits,
        )

    def _consume(self, event: Event) -> None:
        if isinstance(event, BatchDone | Measured) or (
            isinstance(event, Phase) and event.text.startswith(("checking", "measuring"))
        ):
            self._began()
        if isinstance(event, Measured) and event.verdict in {"linear", "superlinear"}:
            self._decided.add(event.implementation)
        self._ledger.consume(event)
        if isinstance(event, ImplementationFailed):
            self._troubles[event.implementation] = event.message.split("\n", 1)[0]

    def _judged(self, name: str) -> MistakeJudged:
        suspect = self._ledger.suspects[name]
        found = best(suspect)
        mutant = next((one for one in self.group.mistakes if one.name == name), None)
        return MistakeJudged(
            name=name,
            family=mutant.family if mutant else "",
            summary=mutant.summary if mutant else "",
            spec=mutant.spec if mutant else name,
            vocabulary=self.group.vocabulary,
            mode=mutant.mode if mutant else "",
            check=suspect.check,
            stages=list(mutant.stages) if mutant else [],
            named=suspect.named,
            bucket=found[0],
            input_b64=found[1],
            sightings=[asdict(one) for one in suspect.sightings.values()],
            trouble=self._troubles.get(name, ""),
        )


def cut_off(count: int, what: str) -> str:
    """Why a mistake was not hunted to the end: the trouble of one that was not caught by then."""
    return f"the hunt was cut off after {count:,} {what}"


def best(suspect: Suspect) -> tuple[str, str]:
    """Bucket and input of the finding to show: of the right name, if there is one."""
    if not suspect.findings:
        return "", base64.b64encode(b"").decode()
    found = max(suspect.findings, key=lambda one: one.check == suspect.check)
    return found.bucket, found.input_b64


def references(vocabulary: Vocabulary) -> frozenset[str]:
    """Names of the trusted ones."""
    return frozenset(REFERENCES[algorithm_of(vocabulary)])


def algorithm_of(vocabulary: Vocabulary) -> str:
    """``bpe``, ``spm``, ``unigram``, ``wordpiece``, or ``pipeline`` for what is run by its file."""
    if vocabulary.unexpressed:
        return "pipeline"
    if vocabulary.algorithm.value != "bpe":
        return vocabulary.algorithm.value
    return "spm" if vocabulary.pieces else "bpe"


def participants(group: Group, vocabulary: Vocabulary) -> list[Participant]:
    """References, controls and mistakes."""
    specs: Sequence[str] = (
        *(() if group.kind is Kind.GROWTH else REFERENCES[algorithm_of(vocabulary)]),
        *group.controls,
        *(one.spec for one in group.mistakes),
    )
    made = [(spec, registry.resolve(spec)) for spec in specs]
    return [
        Participant(one.about.name, spec, one.about, Within(one, group.modes)) for spec, one in made
    ]


@dataclass(frozen=True)
class Within:
    """An implementation in some of its modes: others would take the time of those that matter."""

    whole: Implementation
    modes: frozenset[str]

    @property
    def about(self) -> About:
        """Who it is."""
        return self.whole.about

    @property
    def native_formats(self) -> Collection[str]:
        """The formats of files that it reads."""
        return getattr(self.whole, "native_formats", ())

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """What the whole says of these modes."""
        if mode.label not in self.modes:
            return f"not asked in mode {mode.label}"
        return self.whole.supports(vocabulary, mode)

    def load(self, vocabulary: Vocabulary) -> Encoder:
        """As the whole."""
        return self.whole.load(vocabulary)


def loaded(vocabulary: Vocabulary) -> Vocabulary:
    """A loader of what is there."""
    return vocabulary
