"""The campaign: cases to workers to checks to findings, vocabulary by vocabulary.

A lane is one set of workers that goes through vocabularies one after another; ``jobs`` lanes run
side by side. Within a lane a batch is being encoded while the one before it is judged.
"""

from __future__ import annotations

import queue
import threading
import time
import zlib
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from corpora.families.catalog import families
from corpora.generators.base import Case
from corpora.vocabularies.sources import RANDOM
from corpora.vocabularies.toys import TOYS
from harness.arena import Arena, Pending, Stopped
from harness.checks import CHECKS
from harness.contracts import Contestant, Contract, contracts_of, faulty
from harness.events import (
    BatchDone,
    ContractOpened,
    ImplementationFailed,
    Phase,
    VocabularyLoaded,
    VocabularyRefused,
    Withdrawn,
)
from harness.messages import Loaded
from harness.outcomes import Inputs, Status
from harness.scaling.exact import count_instructions
from harness.scaling.instructions import wrapper
from harness.scaling.measurement import Measurement, chosen, counts_steps, taking_part
from harness.streams import Batch, batches
from harness.suites import parse_budget
from harness.workers import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from corpora.families.base import Family
    from corpora.generators.base import Generator
    from corpora.vocabularies.model import Vocabulary
    from harness.checks.base import Check, Observation
    from harness.events import Event
    from harness.expectations import Expectation
    from harness.findings import Book
    from harness.scaling.bounds import Bound
    from harness.suites import Budget, Suite

SPECIAL_GENERATORS = frozenset({"special", "edge", "expectations", "given"})
"""What is worth asking with special tokens on: elsewhere their texts hardly ever occur."""

IMPROPER = frozenset({"not-self-encoding", "no-valid-split", "not-self-encoding-by-rank"})
"""Kinds of preflight problems that take away what the validity check rests on."""

TOY_WEIGHT = 0.25

LEAST_SECONDS = 0.5
"""Every vocabulary gets so much, however long those before it took to minimise."""

INSTRUCTIONS_SHARE = 0.25
"""Of the time for growth, where instructions are counted besides."""

IN_FLIGHT = 2
"""Batches asked ahead of the one being judged, so that no worker waits for the harness."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run does.

    vocabularies: sources with their loaders, in order. scaled: those of them on which growth is
    measured, too; walked: those on which forced tokens are. Without checks, that is all. sampled:
    checks that cost further calls take a part of the batches only. named: implementations that the
    user asked for by name.
    expect: the file of the user's own expectations. bounds: on growth, the user's first. families:
    the user's own, besides those of the catalog. measured: names of those to measure; none: as
    many as there is time for.
    """

    vocabularies: Mapping[str, Callable[[], Vocabulary]]
    contestants: Sequence[Contestant]
    references: frozenset[str]
    generators: Sequence[Generator]
    checks: Sequence[Check]
    expectations: Sequence[Expectation]
    suite: Suite
    budget: Budget
    seed: int
    jobs: int
    fail_fast: bool
    sampled: bool = True
    named: Sequence[str] = ()
    expect: str | None = None
    scaled: Sequence[str] = ()
    walked: Sequence[str] = ()
    families: Sequence[Family] = ()
    measured: Sequence[str] = ()
    bounds: Sequence[Bound] = ()
    limits: Limits = field(default_factory=Limits)

    @property
    def versions(self) -> dict[str, str]:
        """Version of each contestant."""
        return {contestant.name: contestant.about.version for contestant in self.contestants}

    @property
    def visited(self) -> list[str]:
        """The vocabularies on which there is something to do."""
        measured = {*self.scaled, *self.walked}
        return [source for source in self.vocabularies if self.checks or source in measured]

    def weight(self, source: str) -> float:
        """The part of the time that a vocabulary gets, beside the others: toys are soon done."""
        return TOY_WEIGHT if source in TOYS or source.startswith(RANDOM) else 1.0

    def scaling_seconds(self, seconds: float | None) -> float:
        """The time for growth on one vocabulary, of a run that may take ``seconds`` in all.

        A run that is limited by its cases measures as long as its suite would: times have no part
        in what such a run is compared for.
        """
        if not self.scaled:
            return 0.0
        whole = parse_budget(self.suite.budget).seconds or 0.0 if seconds is None else seconds
        share = self.suite.scaling if self.checks else 1.0
        return share * whole / len(self.scaled)


@dataclass(slots=True)
class Tally:
    """What the campaign has done so far, over all lanes.

    exercised: examples of expectations that were run, by place in the plan; shown: those of
    them that failed as expected. judged: implementations of which any outcome was judged. refused:
    how many random vocabularies each would not load.
    """

    cases: int = 0
    comparisons: int = 0
    exercised: set[int] = field(default_factory=set)
    shown: set[int] = field(default_factory=set)
    judged: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    failed_to_load: list[tuple[str, str, str]] = field(default_factory=list)


class Campaign:
    """One run of a plan. ``emit`` is called from several threads, one call at a time."""

    def __init__(self, plan: Plan, emit: Callable[[Event], None], book: Book) -> None:
        self._plan = plan
        self._emit = emit
        self._book = book
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._arenas: list[Arena] = []
        self._unmeasured = set(plan.scaled)
        self._scaling_seconds = 0.0
        self._weight = sum(map(plan.weight, plan.visited))
        self.tally = Tally()

    def run(self, seconds: float | None) -> None:
        """All vocabularies, checked for ``seconds`` (None: no limit but the budget's cases).

        Loading comes on top: a machine that loads slowly would check nothing otherwise.

        An exception of a lane, KeyboardInterrupt included, stops all and is raised again.
        """
        waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        for source in self._plan.visited:
            waiting.put(source)
        self._scaling_seconds = self._plan.scaling_seconds(seconds)
        jobs = max(1, min(self._plan.jobs, len(self._plan.visited)))
        with ThreadPoolExecutor(jobs, thread_name_prefix="lane") as lanes:
            futures = [lanes.submit(self._lane, waiting, seconds, jobs) for _ in range(jobs)]
            try:
                # Wake up now and then: a thread that only waits is deaf to Ctrl-C.
                while wait(futures, timeout=0.2).not_done:
                    if any(f.done() and f.exception() for f in futures):
                        break
                for future in futures:
                    future.result()
            except BaseException:
                self.stop()
                raise

    def stop(self) -> None:
        """End all lanes and kill all workers, from any thread."""
        self._stop.set()
        with self._lock:
            for arena in self._arenas:
                arena.kill()

    def _lane(self, waiting: queue.SimpleQueue[str], seconds: float | None, jobs: int) -> None:
        arena = Arena(self._plan.contestants, self._plan.limits)
        with self._lock:
            self._arenas.append(arena)
        spent = 0.0
        try:
            while not self._stop.is_set():
                try:
                    source = waiting.get_nowait()
                except queue.Empty:
                    return
                with self._lock:
                    ahead = self._weight
                    self._weight -= self._plan.weight(source)
                reserved = self._scaling_seconds * len(self._unmeasured) / jobs
                share: float | None = None
                if seconds is not None:
                    part = min(1.0, jobs * self._plan.weight(source) / ahead)
                    share = max(LEAST_SECONDS, (seconds - spent - reserved) * part)
                spent += self._vocabulary(arena, source, share)
        except Stopped:
            return
        finally:
            arena.close()

    def _vocabulary(self, arena: Arena, source: str, share: float | None) -> float:
        """Load, check for ``share`` seconds, measure; gives the seconds without the loading.

        The examples of the expectations come with the loading: their number is given, too, and
        they would use up all the time of a short run.
        """
        self._emit(Phase(f"loading {source}"))
        vocabulary = self._plan.vocabularies[source]()
        contracts = self._open(arena, source, vocabulary)
        self._warm_up(arena, vocabulary, contracts)
        for contract in contracts:
            self._examples(arena, contract)
        started = time.monotonic()
        if self._plan.checks:
            self._check(arena, vocabulary, contracts, None if share is None else started + share)
        if source in self._plan.walked and not self._stop.is_set():
            self._walk(vocabulary)
        if source in self._plan.scaled and not self._stop.is_set():
            self._measure(arena, vocabulary, contracts)
        self._unmeasured.discard(source)
        if not self._stop.is_set():
            for name, reason in arena.withdrawn().items():
                self._emit(Withdrawn(name, vocabulary.id, reason))
        return time.monotonic() - started

    def _warm_up(self, arena: Arena, vocabulary: Vocabulary, contracts: Sequence[Contract]) -> None:
        """What is made on first use, by libraries and generators, belongs to the loading."""
        for contract in contracts:
            arena.ask(contract, Inputs.of([b""])).wait()
        for generator in self._plan.generators:
            next(generator.cases(vocabulary, self._plan.seed), None)

    def _check(
        self,
        arena: Arena,
        vocabulary: Vocabulary,
        contracts: Sequence[Contract],
        end: float | None,
    ) -> None:
        """Cases, until ``end`` or as many as the budget has."""
        self._emit(Phase(f"checking {vocabulary.id}"))
        for pending, batch in self._asked(arena, vocabulary, contracts, end):
            if self._stop.is_set():
                return
            self._judge(arena, pending.wait(), batch)
            if self._plan.fail_fast and self._book.unexpected:
                self._stop.set()

    def _walk(self, vocabulary: Vocabulary) -> None:
        """Forced tokens on a sample of our own schemas."""
        from harness.forced.sample import walk_sample  # noqa: PLC0415 (imports llguidance)

        self._emit(Phase(f"forcing tokens of {vocabulary.id}"))
        hurried = self._plan.budget.seconds is not None
        trouble = walk_sample(
            vocabulary, self._plan.seed, self._emit, hurried=hurried, stopped=self._stop.is_set
        )
        if trouble is not None:
            self._emit(ImplementationFailed("forced tokens", vocabulary.id, trouble))
            with self._lock:
                self.tally.failed_to_load.append(("forced tokens", vocabulary.id, trouble))

    def _measure(self, arena: Arena, vocabulary: Vocabulary, contracts: Sequence[Contract]) -> None:
        """Growth on one vocabulary, while its workers are loaded: that takes longest."""
        self._emit(Phase(f"measuring growth on {vocabulary.id}"))
        suite, names = self._plan.suite, {name for one in contracts for name in one.names}
        known = families(self._plan.families)
        taken = [known[name] for name in self._plan.measured] or chosen(
            known, len(names), self._scaling_seconds, self._plan.seed
        )
        counting = wrapper() if suite.scaling_instructions else ()
        seconds = self._scaling_seconds * (1 - INSTRUCTIONS_SHARE if counting else 1)
        measurement = Measurement(
            arena, contracts, taken, suite.scaling_bytes, steps=suite.scaling_steps
        )
        measurement.run(seconds, self._emit, self._stop.is_set)
        if measurement.left_out:
            count = f"{len(measurement.left_out)} of {len(taken)} families"
            self._emit(Phase(f"growth on {vocabulary.id}: no time was left for {count}"))
        if counting and not self._stop.is_set():
            self._emit(Phase(f"counting instructions on {vocabulary.id}"))
            others = [c for c, _ in taking_part(contracts) if not counts_steps(c)]
            rest = self._scaling_seconds * INSTRUCTIONS_SHARE
            count_instructions(
                others,
                vocabulary,
                taken,
                counting,
                self._plan.limits,
                rest,
                self._emit,
                self._stop.is_set,
            )

    def _open(self, arena: Arena, source: str, vocabulary: Vocabulary) -> list[Contract]:
        """Load the vocabulary into all that can run it, and open its contracts."""
        from corpora.vocabularies.preflight import preflight  # noqa: PLC0415 (imports Numba)

        # What is drawn may be at fault, so that a refusal is an answer.
        drawn = source.startswith(RANDOM)
        problems = preflight(vocabulary)
        self._emit(
            VocabularyLoaded.of(vocabulary, source, (problem.message for problem in problems))
        )
        plan = self._plan
        proper = not any(problem.kind in IMPROPER for problem in problems)
        faults = faulty(vocabulary, plan.contestants)
        able = [c for c in plan.contestants if c.name not in faults]
        contracts = contracts_of(vocabulary, able, plan.references, proper=proper)
        names = list(dict.fromkeys(name for contract in contracts for name in contract.names))
        missing = arena.load(vocabulary, names)
        missing |= {name: Loaded(line, Status.ERRORED.label) for name, line in faults.items()}
        reasons = {name: answer.error or "" for name, answer in missing.items()}
        if missing and not self._stop.is_set():
            for name, answer in missing.items():
                if answer.unsupported:  # its own word: no failure
                    continue
                message = reasons[name]
                if answer.refused and drawn:
                    reasons[name] = f"refused: {message}"
                    self._emit(VocabularyRefused(name, vocabulary.id, message))
                    with self._lock:
                        self.tally.refused[name] += 1
                    continue
                reasons[name] = f"could not load: {message}"
                self._emit(ImplementationFailed(name, vocabulary.id, message))
                with self._lock:
                    self.tally.failed_to_load.append((name, vocabulary.id, message))
            left = [c for c in plan.contestants if c.name not in missing]
            contracts = contracts_of(vocabulary, left, plan.references, proper=proper)
        for contract in contracts:
            excluded = {**contract.excluded, **reasons}
            self._emit(
                ContractOpened(
                    id=contract.id,
                    algorithm=contract.algorithm,
                    vocabulary=vocabulary.id,
                    mode=contract.mode.label,
                    implementations=contract.names,
                    references=sorted(contract.references & set(contract.names)),
                    excluded=excluded,
                    checks=[check.name for check in plan.checks if check.applies(contract)],
                )
            )
        return contracts

    def _asked(
        self,
        arena: Arena,
        vocabulary: Vocabulary,
        contracts: Sequence[Contract],
        end: float | None,
    ) -> Iterator[tuple[Pending, Batch]]:
        """Batches with their answers on the way, a few asked ahead."""
        plan = self._plan
        ahead: deque[tuple[Pending, Batch]] = deque()
        done: Counter[str] = Counter()
        # Those with special tokens get few of the cases, so that they never use a budget up.
        ordinary = [contract for contract in contracts if contract.mode.special == "none"]
        decisive = ordinary or contracts
        for batch in batches(plan.generators, vocabulary, plan.seed, plan.suite.max_input):
            if self._stop.is_set() or (end is not None and time.monotonic() > end):
                break
            if plan.budget.cases is not None and all(
                done[contract.id] >= plan.budget.cases for contract in decisive
            ):
                break
            for contract in contracts:
                if contract.mode.special == "all" and batch.generator not in SPECIAL_GENERATORS:
                    continue
                inputs = batch.inputs
                if plan.budget.cases is not None:
                    inputs = inputs[: max(0, plan.budget.cases - done[contract.id])]
                if inputs:
                    done[contract.id] += len(inputs)
                    asked = replace(batch, inputs=inputs)
                    ahead.append((arena.ask(contract, Inputs.of(inputs)), asked))
            while len(ahead) > IN_FLIGHT:
                yield ahead.popleft()
        yield from ahead

    def _judge(self, arena: Arena, seen: Observation, batch: Batch) -> None:
        contract = seen.contract
        exercised: dict[str, dict[str, int]] = {}
        violations: dict[str, dict[str, int]] = {}
        for check in self._plan.checks:
            if not check.applies(contract):
                continue
            if self._plan.sampled and not due(check, batch, contract):
                continue
            judgement = arena.judge(check, seen)
            exercised[check.name] = dict(judgement.exercised)
            blamed: Counter[str] = Counter()
            for violation in judgement.violations:
                blamed.update(violation.culprits)
                if self._stop.is_set():
                    return
                self._book.consider(arena, contract, violation, batch.case(violation.index))
            if blamed:
                violations[check.name] = dict(blamed)
        compared = comparisons(seen) if "equivalence" in exercised else 0
        with self._lock:
            for judged in exercised.values():
                self.tally.judged.update(name for name, count in judged.items() if count)
            self.tally.cases += len(batch.inputs)
            self.tally.comparisons += compared
        self._emit(
            BatchDone(
                contract=contract.id,
                generator=batch.generator,
                cases=len(batch.inputs),
                bytes=len(seen.inputs.data),
                comparisons=compared,
                exercised=exercised,
                violations=violations,
            )
        )

    def _examples(self, arena: Arena, contract: Contract) -> None:
        """Run the examples of the expectations that concern a contract."""
        for place, expectation in enumerate(self._plan.expectations):
            if not expectation.examples or not expectation.concerns(contract, self._plan.versions):
                continue
            check = CHECKS.get(expectation.bucket.split("/")[0])
            if check is None or not check.applies(contract) or check not in self._plan.checks:
                continue
            judgement = arena.examine(contract, check, expectation.examples)
            if all(judgement.exercised[name] for name in expectation.implementations):
                with self._lock:
                    self.tally.exercised.add(place)
            for violation in judgement.violations:
                case = Case(violation.data, "expectations", self._plan.seed, place)
                name = self._book.consider(arena, contract, violation, case)
                if expectation.shows_in(name, contract.vocabulary.id):
                    with self._lock:
                        self.tally.shown.add(place)


def due(check: Check, batch: Batch, contract: Contract) -> bool:
    """Whether a check that samples takes this batch.

    Each generator starts at another place under each contract, so that a run too short for more
    than first batches still spreads its checks; decided by names and numbers alone.
    """
    start = zlib.crc32(
        f"{check.name} {batch.generator} {contract.id}".encode("utf-8", "surrogatepass")
    )
    return (start + batch.number) % check.every == 0


def comparisons(seen: Observation) -> int:
    """Pairs of a case and an implementation beyond the first that was compared with others."""
    judged = [
        int((results.status <= Status.REJECTED).sum())
        for name, results in seen.results.items()
        if name in seen.contract.exact
    ]
    return max(0, sum(judged) - max(judged, default=0))
