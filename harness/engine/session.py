"""One vocabulary in the implementations of a run: who has loaded it, and who could not."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from corpora.vocabularies.embedded import RANDOM
from corpora.vocabularies.preflight import is_proper, preflight
from harness.core.comparisons import contracts_of, faulty, modes_of
from harness.core.messages import Loaded
from harness.core.outcomes import Status
from harness.core.standing import references_of
from harness.engine.state import NamedFailed, RunState
from harness.events import (
    ContractOpened,
    ImplementationFailed,
    Preparing,
    VocabularyLoaded,
    VocabularyRefused,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.workers.pool import WorkerPool

TELL_SECONDS = 1.0
"""Seconds between two events about who is still loading."""

LOOK_SECONDS = 0.02
"""Seconds between two looks at who has loaded, while nothing else can be done."""


@dataclass(slots=True, eq=False)
class Session:
    """One vocabulary in the workers of a pool. Loading is for one thread.

    end: when its time for cases is over, on the monotonic clock; infinite where time is no limit.
    """

    pool: WorkerPool
    source: str
    vocabulary: Vocabulary
    run: RunState
    end: float = math.inf
    _contracts: list[Contract] = field(default_factory=list)
    _last_shown: float = 0.0
    _failed: dict[str, str] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        """Whether its time for cases is over."""
        return time.monotonic() > self.end

    def load(self, stopped: Callable[[], bool], meanwhile: Iterable[object] = ()) -> bool:
        """Have all load who say that they can; whether all have loaded or failed by the end.

        stopped: says when to end early. meanwhile: what is done beside, step by step. Then the
        contracts are told. Raises NamedFailed.
        """
        steps = iter(meanwhile)
        self._begin()
        while not stopped():
            if next(steps, None) is None:
                if not self.pool.loading:
                    break
                time.sleep(LOOK_SECONDS)
            self._look()
        self._look()
        if stopped():
            return False
        self._announce()
        return True

    def _begin(self) -> None:
        vocabulary, plan = self.vocabulary, self.run.plan
        faults = faulty(vocabulary, plan.participants)
        able = [c for c in plan.participants if c.name not in faults]
        possible = contracts_of(vocabulary, able, plan.references, proper=True)
        if plan.only_texts:  # they are asked as they are tokenized in use, and in no other way
            possible = possible[:1]
        names = list(dict.fromkeys(name for one in possible for name in one.names))
        # The workers load while this process looks at the vocabulary.
        self.pool.begin_loading(vocabulary, names, modes_of(vocabulary))
        problems = preflight(vocabulary)
        proper = is_proper(problems)
        messages = (problem.message for problem in problems)
        self.run.emit(VocabularyLoaded.of(vocabulary, self.source, messages))
        self._contracts = [replace(one, proper=proper) for one in possible]
        self._take({name: Loaded(line, Status.ERRORED.label) for name, line in faults.items()})

    def _look(self) -> None:
        """Take note of who has loaded by now, and tell now and then who has not."""
        self._take(self.pool.settle())
        loading = list(self.pool.loading)
        now = time.monotonic()
        if loading and now - self._last_shown > TELL_SECONDS:
            self._last_shown = now
            waiting = dict.fromkeys(loading, "")
            self.run.emit(Preparing(self.vocabulary.id, list(self.pool.loaded), waiting))

    def contracts(self) -> list[Contract]:
        """The contracts of the vocabulary, with those who have loaded it."""
        found = [self._loaded(one) for one in self._contracts]
        found = [one for one in found if one.participants]
        compared = [one for one in found if len(one.participants) > 1]
        return compared or found

    def _loaded(self, contract: Contract) -> Contract:
        """A contract without those who failed to load; another may be its reference then."""
        left, declared = contract.among(self.pool.loaded), self.run.plan.references
        members = left.participants
        references = references_of(self.vocabulary, contract.algorithm, members, declared)
        return replace(left, references=references)

    def _take(self, failed: dict[str, Loaded]) -> None:
        """Tell those who could not load, or would not.

        Raises NamedFailed: who was asked for by name and cannot run makes the run worthless.
        """
        if self.pool.stopped.is_set():
            return
        drawn = self.source.startswith(RANDOM)  # it may be at fault: a refusal is an answer
        for name, answer in failed.items():
            message = answer.error or ""
            line = message.split("\n", 1)[0]
            if answer.unsupported:  # its own word: no failure
                self._failed[name] = line
            elif answer.refused and drawn:
                self._failed[name] = f"refused: {line}"
                self.run.emit(VocabularyRefused(name, self.vocabulary.id, message))
            else:
                self._failed[name] = f"could not load: {line}"
                self.run.emit(ImplementationFailed(name, self.vocabulary.id, message))
                if name in self.run.plan.named:
                    raise NamedFailed(name, self.vocabulary.id, message)

    def _announce(self) -> None:
        """Tell the contracts; where nobody has loaded, the reasons of all."""
        for contract in self.contracts() or [one.among(()) for one in self._contracts]:
            self.run.emit(
                ContractOpened(
                    id=contract.id,
                    algorithm=contract.algorithm,
                    vocabulary=self.vocabulary.id,
                    mode=contract.mode.label,
                    implementations=contract.names,
                    references=sorted(contract.references & set(contract.names)),
                    excluded={**contract.excluded, **self._failed},
                    checks=[one.name for one in self.run.plan.checks if one.applies(contract)],
                    exact=contract.exact,
                )
            )
