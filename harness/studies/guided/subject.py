"""Implementations of one vocabulary in this process, asked input by input.

A target of libFuzzer has one process, and asks a thousand times a second what a worker would be
asked in batches. So what is seen here is a suspicion alone: the harness looks into it, with
workers, confirmation and expectations (:mod:`harness.studies.guided.looking`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies import embedded, sources
from harness.checks import CHECKS
from harness.checks.base import Observation
from harness.core.comparisons import contracts_of
from harness.core.outcomes import Encoded, Inputs, Results
from harness.workers.answers import clean_ids, outcome_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.checks.base import Probe
    from harness.core.comparisons import Contract
    from harness.core.outcomes import Outcome
    from harness.core.participants import Participant
    from impls.interface import Encoder

ALGORITHMS = ("bpe", "spm", "unigram", "wordpiece")
"""There is one target for each of these."""

CHECKED = ("survival", "equivalence")
"""What a target is after."""

LARGE = ("mistral", "tekken")
"""What the names of embedded vocabularies begin with that take minutes to load, interpreted."""


def small(algorithm: str) -> list[str]:
    """The embedded vocabularies of an algorithm that are soon loaded."""
    return [
        name
        for name in embedded.embedded()
        if embedded.algorithm(name) == algorithm
        and name not in embedded.ALIKE
        and not name.startswith(LARGE)
    ]


Suspicion = tuple[str | None, ...]
"""Answers that the harness is to look into: what is wrong with whom on which vocabulary, so that
what came to nothing is known again."""


class Subject:
    """A vocabulary in all implementations that take it. Who cannot load it takes no part."""

    def __init__(self, source: str, participants: Sequence[Participant]) -> None:
        self.source = source
        self.vocabulary: Vocabulary = sources.resolve(source)
        self._contracts = contracts_of(self.vocabulary, participants, frozenset(), proper=True)
        self._encoders: dict[str, Encoder] = {}
        self.left_out: dict[str, str] = {}
        for contract in self._contracts:
            for one in contract.participants:
                self._load(one)

    def _load(self, one: Participant) -> None:
        if one.name in self._encoders or one.name in self.left_out:
            return
        try:
            self._encoders[one.name] = one.implementation.load(self.vocabulary)
        except Exception as error:
            line = str(error).split("\n", 1)[0]
            self.left_out[one.name] = f"{type(error).__name__}: {line}"

    @property
    def names(self) -> list[str]:
        """Who was loaded."""
        return list(self._encoders)

    def suspicion(self, data: bytes) -> Suspicion | None:
        """Ask everybody; None where all is well, or the vocabulary cannot spell the input."""
        for contract in self._contracts if self.vocabulary.can_encode(data) else ():
            results = {
                name: Results.of([self._answer(contract, name, data)])
                for name in contract.names
                if name in self._encoders
            }
            seen = Observation(contract, Inputs.of([data]), results)
            for check in (CHECKS[name] for name in CHECKED):
                for one in check.judge(seen, nothing).violations if check.applies(contract) else ():
                    return (self.source, one.check, one.stage, *one.culprits)
        return None

    def _answer(self, contract: Contract, name: str, data: bytes) -> Outcome:
        encoder, mode = self._encoders[name], contract.mode
        return outcome_of(lambda: Encoded(clean_ids(encoder.encode(data, mode))))


def nothing(probes: Sequence[Probe]) -> list[Results]:
    """What is answered to further questions, of which these checks have none."""
    raise NotImplementedError
