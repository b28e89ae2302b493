"""The questions about one violation: whether it comes back, what of it is known, how small it gets.

Only what comes back when it is asked again, alone, is believed. An input that is known explains a
violation if the difference goes when it is taken out of the input, or when neutral text stands in
its place; or if all tokens that differ are those in which it differs itself. Whatever else differs
is another violation.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from harness.checks import CHECKS, inputless
from harness.checks.base import Judgement, Violation
from harness.checks.questions import examine, judge
from harness.core.comparisons import Contract, Observation
from harness.core.excused import TOGETHER
from harness.core.outcomes import Failed, Inputs, Outcome, Status, Unsupported
from harness.core.partition import Part, comparable, standing_of
from harness.core.standing import Standing
from harness.findings.causes import Causes
from harness.findings.diagnosis import BYTES, Pair, categories, differences, signature
from harness.findings.entries import EXAMPLES, Entry, Group
from harness.findings.expected import NO_EXAMPLE, ExpectedFindings
from harness.findings.patience import FEW, NO_TIME, TOOK_LONG, TRIES_HANG, WITHDRAWN
from harness.findings.shrink import ROUND_CASES, shrink, subsequence
from harness.workers.pool import OutOfTime, WorkerPool
from harness.workers.reasons import kept_from_answering
from harness.workers.requests import doubtful

AGAIN = 4
"""A violation must come back so many times before it is believed to be the input's: one that shows
once in a hundred calls, or only after certain others, would pass for that otherwise."""

UNSTABLE_AGAIN = 16
"""The same of who is known to answer one question in two ways: what one such answer breaks is the
same finding, unless it is broken every time."""

ERRORED = Status.ERRORED.label

Unconfirmed = Literal["gone", "machine", "unsure"]

TIMED_OUT = Status.TIMED_OUT.label

NEUTRAL = (b"", b"a", b" ")
"""What is put in place of what is known; nothing comes first. To cut alone may join two parts of a
text that mean something together."""


class TryHangs(Exception):
    """A smaller input hangs. One is enough: it takes three times the limit of a request, as it is
    asked again alone, and counts towards the withdrawal of who hangs."""


def witnesses(violation: Violation, contract: Contract) -> Contract:
    """The contract with those alone who decide whether a violation is still there.

    A dozen implementations may agree on an input, and whoever parts from the most trusted is blamed
    all the same. What the witnesses say holds of the culprits; who else parts from the trusted on
    another input, only the whole contract says. Checks that are no comparison have the whole one.
    """
    if violation.check != "equivalence":
        return contract
    standing, culprits = contract.standing, {*violation.culprits}
    highest = standing_of(violation.parts[0], standing)
    engines = {c.about.engine for c in contract.participants if c.name in culprits}
    # Who is trusted as much, and gave no answer here, may answer another input.
    trusted = {n for n in contract.names if standing.get(n, Standing.CANDIDATE) >= highest}
    return contract.among(culprits | engines | trusted)


@dataclass(frozen=True, slots=True)
class Asking:
    """A violation, the pool that is asked about it, and what is known and expected already.

    All methods that ask raise Stopped and OutOfTime.
    """

    pool: WorkerPool
    entry: Entry
    causes: Mapping[Group, Causes] = field(default_factory=lambda: defaultdict(Causes))
    expected: ExpectedFindings = field(default_factory=lambda: ExpectedFindings((), {}))

    @property
    def known(self) -> Mapping[bytes, str]:
        """The minimal inputs of what is known of its signature, each with its bucket.

        As of now: another judge may add one at any moment.
        """
        return dict(self.causes[self.entry.group].minimal)

    def about(self, violation: Violation) -> Asking:
        """Questions about another violation of the same case."""
        return replace(self, entry=replace(self.entry, violation=violation))

    def ask(self, inputs: Sequence[bytes], contract: Contract | None = None) -> Judgement:
        """Put inputs to the check of the violation."""
        check = CHECKS[self.entry.violation.check]
        return examine(self.pool, contract or self.entry.contract, check, inputs)

    def same(self, violation: Violation) -> bool:
        """Whether a violation is of the same signature."""
        return signature(violation, self.entry.contract) == self.entry.signature

    def unexplained(self) -> str | Violation:
        """The bucket of a known finding that explains it, else the violation that is left."""
        violation, known, expected = self.entry.violation, self.known, self.expected
        if violation.data in known:
            return known[violation.data]
        if inside := parts_in(violation.data, known):
            rest = self.left(inside)
            if rest is None:
                return known[inside[0]]
            violation = rest
        # Nearly all input of some generators is ill-formed, each in a way of its own.
        ill = {one: name for one, name in known.items() if categories(one) == BYTES}
        well_formed = violation.data.decode(errors="ignore").encode()
        if not ill or well_formed == violation.data:
            return violation
        asking = self.about(violation)
        rest = asking.in_place([well_formed])
        if rest is not None:
            return rest
        vocabulary = self.entry.contract.vocabulary.id
        # What is expected by its examples alone explains no other ill-formed input.
        wide = [
            name
            for one, name in ill.items()
            if expected.entry(name, vocabulary, NO_EXAMPLE)
            or not expected.entry(name, vocabulary, one)
        ]
        return (wide or [*ill.values()])[0] if wide or asking.like(ill) else violation

    def left(self, parts: Collection[bytes]) -> Violation | None:
        """What is still wrong with the input when these parts of it are explained, if anything.

        The violation itself where that cannot be told.
        """
        violation = self.entry.violation
        rest: Violation | None = violation
        inside = parts_in(violation.data, parts)
        if inside:
            if violation.check == "determinism" or violation.stage == TIMED_OUT:
                return None  # it does not depend on the input, or costs too much to be asked
            longest_first = sorted(inside, key=len, reverse=True)
            any_of = re.compile(b"|".join(map(re.escape, longest_first)))
            rests = [any_of.sub(neutral, violation.data) for neutral in NEUTRAL]
            # A part again and again may be another token, and another mistake.
            if rests[0] or not self.entry.differences:
                rest = self.in_place(rests) if rests[0] else None
        return None if rest is not None and self.like(parts) else rest

    def in_place(self, rests: Sequence[bytes]) -> Violation | None:
        """What is wrong with all of these inputs, asked in place of its own, if anything is.

        It is what witnesses show of the first of them (who else is wrong there shows when it is
        asked again), or the violation itself where that cannot be told.
        """
        contract, violation = self.entry.contract, self.entry.violation
        asked = [rest for rest in dict.fromkeys(rests) if contract.vocabulary.can_encode(rest)]
        if not asked:
            return violation
        judged = self.ask(asked, witnesses(violation, contract))
        wrong = [one for one in judged.violations if {*violation.culprits} & {*one.culprits}]
        answered = all(judged.exercised[name] >= len(asked) for name in violation.culprits)
        if answered and len({one.data for one in wrong}) < len(asked):
            return None
        first = [one for one in wrong if one.data == rests[0]]
        return min(first, key=lambda one: not self.same(one), default=violation)

    def like(self, inputs: Collection[bytes]) -> bool:
        """Whether the violation differs in no other tokens than these inputs do."""
        # Or there is nothing to ask.
        return bool(self.entry.differences) and within(self.entry, self.pairs(inputs))

    def pairs(self, inputs: Collection[bytes]) -> frozenset[Pair]:
        """The tokens in which these inputs differ in the same way as the violation does."""
        shown = filter(self.same, self.ask(sorted(inputs)).violations)
        return frozenset().union(*(differences(one, self.entry.contract) for one in shown))

    def confirm(self, times: int = AGAIN) -> Violation | Unconfirmed:
        """Ask again, alone: the violation itself, one of determinism, or a worse one of survival.

        ``gone`` is what does not come back, and was seen all the same: a death, a breach of the
        protocol, a wrong answer that was drawn. ``machine`` is a failure that the machine may have
        brought about, as it does not come back. ``unsure`` is a violation of which nobody can tell
        what it is, as somebody was kept from answering.
        Between the empty input and itself, so that what an earlier call left behind shows.
        """
        violation, contract = self.entry.violation, self.entry.contract
        check, data, culprits = CHECKS[violation.check], violation.data, {*violation.culprits}
        survival = violation.check == "survival"
        outcomes = [part.outcome for part in violation.parts]
        if violation.check == "determinism":
            # Two different answers to one input are proof, however often it answers alike, and so
            # is an answer beside a failure of its own. A failure that may be the machine's has to
            # come back.
            sure = all(comparable(one) or own_failure(one) for one in outcomes)
            again = () if sure else self.ask([b"", data]).violations
            return violation if sure or any(culprits & {*x.culprits} for x in again) else "machine"
        # A death is not asked for over and over in one batch: the rest would go unanswered.
        once = survival or any(
            isinstance(one, Failed) and one.status is not Status.ERRORED for one in outcomes
        )
        inputs = [data] if once else [b"", data, data] * (times // 2)
        answers = self.pool.again(contract, Inputs.of(inputs))
        judged = judge(self.pool, check, answers)
        now = [one for one in judged.violations if one.data == data]
        # By place: a check may find more than one thing wrong with an input. Of answers that are
        # drawn at random one that is wrong is proof, and comes back now and then; one that does not
        # is no finding of determinism.
        back = {one.index for one in now if self.same(one)}
        if len(back) == inputs.count(data) or (back and check.by_chance):
            return violation
        if check.by_chance:
            return "gone"
        answered = all(judged.exercised[name] >= inputs.count(data) for name in culprits)
        if survival:
            # A time-out may be the machine's, and an exception ends nothing: both yield to what is
            # worse. The worker has asked again already before it said so. Only an answer speaks
            # against it: who is withdrawn by now, for other time-outs, gives none.
            worse = (
                one
                for one in now
                if one.culprits == violation.culprits
                and violation.stage in {TIMED_OUT, ERRORED}
                and one.stage not in {TIMED_OUT, violation.stage}
            )
            gone: Unconfirmed = "machine" if violation.stage == TIMED_OUT and answered else "gone"
            return next(worse, gone)
        if not all(map(comparable, outcomes)):
            # Who failed a further question and answers it now has given no two answers.
            return "gone" if any(map(own_failure, outcomes)) else "machine"
        if (changed := self._changed(answers)) is not None:
            return changed
        if violation.check == "equivalence":
            # All answer as before, and so does somebody who was not asked then: it is theirs, too.
            return next((one for one in now if culprits & {*one.culprits}), "unsure")
        # What a check found out by further questions comes out otherwise today.
        return replace(violation, check="determinism", stage="order") if answered else "unsure"

    def _changed(self, seen: Observation) -> Violation | Unconfirmed | None:
        """Who answers otherwise, as a violation of determinism; unsure if none can be told.

        Who crashes where outputs were compared is a violation of survival. Who says that it does
        not support what it has answered before, who raises, and who is withdrawn for its deaths has
        given two answers. Who is kept from answering has not changed its answer: it may be slow.
        """
        violation, withdrawn, silent = self.entry.violation, self.pool.withdrawn(), False
        compared = violation.check == "equivalence"
        for death in judge(self.pool, CHECKS["survival"], seen).violations if compared else ():
            mine = death.data == violation.data and death.stage != ERRORED
            if mine and own_failure(death.parts[-1].outcome):
                return death
        rows = [row for row, data in enumerate(seen.inputs) if data == violation.data]
        # Who is missing stands for what the check compares with.
        for name, before, now in [
            (name, part.outcome, seen.results[name].outcome(row))
            for part in violation.parts
            for name in part.names
            if name in seen.results
            for row in rows
        ]:
            if comparable(now):
                changed = compared and now != before
            else:
                silent = True
                why = withdrawn.get(name, getattr(now, "message", ""))
                refuses = isinstance(now, Unsupported) and not kept_from_answering(why)
                changed = refuses or own_failure(now)
            if changed:
                parts = Part((f"{name} (alone)",), now), Part((f"{name} (in a batch)",), before)
                return Violation("determinism", 0, violation.data, parts, (name,), "order")
        return "unsure" if silent else None

    def minimise(self, seconds: float) -> tuple[Entry, str | None]:
        """The entry with the smallest input found, and why the search did not end by itself.

        Nothing is taken that would hide the violation from the gate.
        """
        deadline = time.monotonic() + seconds
        smallest = entry = self.entry
        contract, violation, expected = entry.contract, entry.violation, self.expected
        check, few, known = CHECKS[violation.check], witnesses(violation, contract), self.known
        covered = not expected.entries or expected.covers(entry)
        shared = frozenset[Pair]()

        def hidden(one: Entry) -> bool:
            data = one.violation.data
            # Shrinking into an expected finding would hide this one from the gate.
            if data in known and expected.entry(known[data], contract.vocabulary.id, data):
                return True
            # What is known of a part of the input is no smaller case of what else is wrong with it.
            if within(one, shared):
                return True
            # A part of the input that is expected was in it, and the rest is looked at afterwards.
            # What is put in its place may be another mistake, which is expected when this is not.
            return not (covered or subsequence(data, violation.data) or not expected.covers(one))

        def failing(candidates: Sequence[bytes]) -> list[bool]:
            shown = self.ask([*filter(contract.vocabulary.can_encode, candidates)], few).violations
            ends = {part.outcome.status for one in shown for part in one.parts}
            # The first one is taken: of the others neither the signature has to be known, which
            # takes longer than an answer, nor whether they hide anything.
            first = next((data for data in candidates if taken(data, shown)), None)
            if Status.TIMED_OUT in ends:
                raise TryHangs
            return [data == first for data in candidates]

        def taken(data: bytes, shown: Sequence[Violation]) -> bool:
            nonlocal smallest
            same = [one for one in shown if one.data == data and self.same(one)]
            if same and few.names != contract.names:
                # Somebody else may part from the trusted on it, too.
                same = [*filter(self.same, self.ask([data]).violations)]
            if not same or hidden(smaller := replace(entry, violation=same[-1])):
                return False
            smallest = smaller
            return True

        most = FEW if check.alone and violation.stage != ERRORED else ROUND_CASES
        try:
            if inside := parts_in(violation.data, known):
                shared = self.pairs(inside)
                if within(entry, shared):
                    shared = frozenset()
            left = deadline - time.monotonic()
            if not shrink(violation.data, failing, left, most=most)[1]:
                return smallest, TOOK_LONG
        except TryHangs:
            return smallest, TRIES_HANG
        except OutOfTime:
            return smallest, NO_TIME
        gone = {*violation.culprits} & self.pool.withdrawn().keys()
        return smallest, WITHDRAWN if gone else None

    def learn(self, kind: str) -> None:
        """Take note of a minimal input that entries explain whose buckets match.

        It is what an example of theirs came to, or has nothing wrong with it but what the examples
        show. Where there is no time left to ask, it is not, as far as anybody knows.
        """
        entry, data, name = self.entry, self.entry.violation.data, self.entry.bucket(kind)
        for place, one in self.expected.matching(name, entry.contract.vocabulary.id):
            if one.explains(name, data, inputless=inputless(name)):
                continue
            own = (entry.case.generator, entry.case.index) == (EXAMPLES, place)
            minimal = self.expected.minimal[place]
            with contextlib.suppress(OutOfTime):
                if own or self.left({*one.examples, *minimal}) is None:
                    minimal.add(data)


def within(entry: Entry, shared: Collection[Pair]) -> bool:
    """Whether a violation differs in these tokens alone.

    So it is with inputs that a known mistake shows on in another place, or without any input: what
    is wrong is the same, and only what stands beside it is another. A text that is changed as often
    as it is repeated is changed in the same way.
    """
    spell = entry.contract.vocabulary.spell

    def changed(pair: Pair) -> tuple[bytes, bytes]:
        return spell([*pair[0]]), spell([*pair[1]])

    texts = {both for both in map(changed, shared) if both[0] != both[1]}

    def repeats(pair: Pair) -> bool:
        both = changed(pair)
        size = len(b"".join(both))
        return any(
            (one * times, other * times) == both
            for one, other in texts
            for times in [size // len(one + other)]
        )

    mine = entry.differences
    return bool(mine) and all(pair in shared or repeats(pair) for pair in mine)


def parts_in(data: bytes, inputs: Iterable[bytes]) -> list[bytes]:
    """The inputs that are a part of another one."""
    return [one for one in inputs if one and one in data]


def own_failure(outcome: Outcome) -> bool:
    """Whether a failure of a single input is its implementation's own, even if it comes once."""
    return (
        isinstance(outcome, Failed)
        and outcome.status in {Status.CRASHED, Status.PROTOCOL, Status.ERRORED}
        and not doubtful(outcome)
        and not outcome.message.endswith(TOGETHER)
    )
