"""A vocabulary in the implementations of a run: who has loaded it, and who could not."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from corpora.vocabularies.embedded import RANDOM
from corpora.vocabularies.preflight import preflight
from harness.core.comparisons import contracts_of, faulty, modes_of
from harness.core.messages import Loaded
from harness.core.outcomes import Status
from harness.core.standing import references_of
from harness.events import (
    ContractOpened,
    ImplementationFailed,
    Preparing,
    VocabularyLoaded,
    VocabularyRefused,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Protocol

    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.engine.planning import Plan
    from harness.events import Event
    from harness.workers.pool import WorkerPool

    class Failing(Protocol):
        """Takes note of an implementation that could not load, or, refused, would not."""

        def __call__(self, name: str, vocabulary: str, message: str, *, refused: bool) -> None:
            """Take note of one of them."""
            ...


IMPROPER = frozenset({"not-self-encoding", "no-valid-split", "not-self-encoding-by-rank"})
"""Kinds of preflight problems that take away what the validity check rests on."""

TELL_SECONDS = 1.0
"""Seconds between two events about who is still loading."""

LOOK_SECONDS = 0.02
"""Seconds between two looks at who has loaded, while nothing else can be done."""


class NamedFailed(Exception):
    """An implementation that the user named cannot load a vocabulary, which ends the run."""

    def __init__(self, name: str, vocabulary: str, message: str) -> None:
        self.name = name
        self.vocabulary = vocabulary
        self.trace = message
        line = message.split("\n", 1)[0]
        super().__init__(f"{name} cannot load {vocabulary}: {line}")


@dataclass(slots=True)
class Opened:
    """One vocabulary in the workers of a pool. Not thread-safe."""

    pool: WorkerPool
    source: str
    vocabulary: Vocabulary
    plan: Plan
    emit: Callable[[Event], None]
    failing: Failing
    _contracts: list[Contract] = field(default_factory=list)
    _last_shown: float = 0.0
    _failed: dict[str, str] = field(default_factory=dict)

    def begin(self) -> None:
        """Have everybody load who says that it can."""
        vocabulary, plan = self.vocabulary, self.plan
        faults = faulty(vocabulary, plan.participants)
        able = [c for c in plan.participants if c.name not in faults]
        possible = contracts_of(vocabulary, able, plan.references, proper=True)
        if plan.only_texts:  # they are asked as they are tokenized in use, and in no other way
            possible = possible[:1]
        names = list(dict.fromkeys(name for one in possible for name in one.names))
        # The workers load while this process looks at the vocabulary.
        self.pool.begin_loading(vocabulary, names, modes_of(vocabulary))
        problems = preflight(vocabulary)
        proper = not any(problem.kind in IMPROPER for problem in problems)
        self.emit(VocabularyLoaded.of(vocabulary, self.source, (one.message for one in problems)))
        self._contracts = [replace(one, proper=proper) for one in possible]
        self._take({name: Loaded(line, Status.ERRORED.label) for name, line in faults.items()})

    def wait(self, stopped: Callable[[], bool], meanwhile: Iterator[object] | None = None) -> None:
        """Wait until all have loaded or failed, or ``stopped`` turns true.

        meanwhile: what is done, step by step, while there is nothing else to do.
        """
        while self.pool.loading() and not stopped():
            if meanwhile is None or next(meanwhile, None) is None:
                time.sleep(LOOK_SECONDS)
            self._look()
        self._look()

    def _look(self) -> None:
        """Take note of who has loaded by now, and tell now and then who has not."""
        self._take(self.pool.settle())
        loading = self.pool.loading()
        now = time.monotonic()
        if loading and now - self._last_shown > TELL_SECONDS:
            self._last_shown = now
            waiting = dict.fromkeys(loading, "")
            self.emit(Preparing(self.vocabulary.id, list(self.pool.loaded()), waiting))

    def contracts(self) -> list[Contract]:
        """The contracts of the vocabulary, with those who have loaded it."""
        found = [self._loaded(one) for one in self._contracts]
        found = [one for one in found if one.participants]
        compared = [one for one in found if len(one.participants) > 1]
        return compared or found

    def _loaded(self, contract: Contract) -> Contract:
        """A contract without those who failed to load; another may be its reference then."""
        left = contract.among(set(self.pool.loaded()))
        if len(left.participants) == len(contract.participants):
            return contract
        references = references_of(
            self.vocabulary, contract.algorithm, left.participants, self.plan.references
        )
        return replace(left, references=references)

    def _take(self, failed: dict[str, Loaded]) -> None:
        """Tell those who could not load, or would not."""
        if self.pool.stopped:
            return
        drawn = self.source.startswith(RANDOM)  # it may be at fault: a refusal is an answer
        for name, answer in failed.items():
            message = answer.error or ""
            self._failed[name] = message.split("\n", 1)[0]
            if answer.unsupported:  # its own word: no failure
                continue
            if answer.refused and drawn:
                self._failed[name] = f"refused: {self._failed[name]}"
                self.emit(VocabularyRefused(name, self.vocabulary.id, message))
                self.failing(name, self.vocabulary.id, message, refused=True)
                continue
            self._failed[name] = f"could not load: {self._failed[name]}"
            self.emit(ImplementationFailed(name, self.vocabulary.id, message))
            self.failing(name, self.vocabulary.id, message, refused=False)

    def announce(self) -> None:
        """Tell the contracts, once all have loaded; where nobody has, the reasons of all."""
        for contract in self.contracts() or [one.among(()) for one in self._contracts]:
            self.emit(
                ContractOpened(
                    id=contract.id,
                    algorithm=contract.algorithm,
                    vocabulary=self.vocabulary.id,
                    mode=contract.mode.label,
                    implementations=contract.names,
                    references=sorted(contract.references & set(contract.names)),
                    excluded={**contract.excluded, **self._failed},
                    checks=[one.name for one in self.plan.checks if one.applies(contract)],
                    exact=contract.exact,
                )
            )
