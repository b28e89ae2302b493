"""The questions about one violation: whether it comes back, what of it is known, how small it gets.

Only what comes back when it is asked again, alone, is believed. An input that is known explains a
violation if the difference goes when it is taken out of the input, or when neutral text stands in
its place; or if all tokens that differ are those in which it differs itself. Whatever else differs
is another violation.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from harness.checks import CHECKS
from harness.checks.base import Violation
from harness.checks.questions import examine, judge
from harness.core.excused import TOGETHER
from harness.core.outcomes import Failed, Inputs, Status, Unsupported
from harness.core.partition import Part, comparable, standing_of
from harness.core.standing import Standing
from harness.findings.diagnosis import BYTES, Pair, categories, differences, signature
from harness.findings.minimising import FEW, NO_TIME, TOOK_LONG, TRIES_HANG, WITHDRAWN
from harness.findings.shrinking import ROUND_CASES, shrink
from harness.workers.pool import OutOfTime
from harness.workers.reasons import kept_from_answering
from harness.workers.requests import doubtful

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from harness.checks.base import Judgement, Observation
    from harness.core.comparisons import Contract
    from harness.core.outcomes import Outcome
    from harness.findings.entries import Entry
    from harness.workers.pool import WorkerPool

    Known = Mapping[bytes, str]
    """The minimal inputs of what is known of one signature, each with its bucket."""

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


def witnesses(violation: Violation, contract: Contract) -> Contract:
    """The contract with those alone who decide whether a violation is still there.

    A dozen implementations may agree on an input, and whoever parts from the most trusted is blamed
    all the same. What the witnesses say holds of the culprits; who else parts from the trusted on
    another input, only the whole contract says. Checks that are no comparison have the whole one.
    """
    if violation.check != "equivalence":
        return contract
    standing = contract.standing
    highest = standing_of(violation.parts[0], standing)
    engines = {c.about.engine for c in contract.participants if c.name in violation.culprits}
    # Who is trusted as much, and gave no answer here, may answer another input.
    trusted = {n for n in contract.names if standing.get(n, Standing.CANDIDATE) >= highest}
    few = contract.among({*violation.culprits, *engines, *trusted})
    return few if len(few.participants) < len(contract.participants) else contract


@dataclass(frozen=True, slots=True)
class Asking:
    """A violation, and the pool that is asked about it.

    All methods that ask raise Stopped and OutOfTime.
    """

    pool: WorkerPool
    entry: Entry

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

    def unexplained(
        self, known: Known, narrow: Callable[[str, Contract, bytes], bool]
    ) -> str | Violation:
        """The bucket of a known finding that explains the violation, else what is left to explain.

        narrow: whether a finding, by its bucket and input, is expected and nothing else of its
        kind is.
        """
        violation = self.entry.violation
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
        wide = [name for one, name in ill.items() if not narrow(name, self.entry.contract, one)]
        same = wide or ([*ill.values()] if asking.like(violation, ill) else [])
        return same[0] if same else violation

    def left(self, parts: Collection[bytes]) -> Violation | None:
        """What is still wrong with the input when these parts of it are explained, if anything.

        The violation itself where that cannot be told.
        """
        violation = self.entry.violation
        inside = parts_in(violation.data, parts)
        if inside and (violation.check == "determinism" or violation.stage == TIMED_OUT):
            return None  # it does not depend on the input, or costs too much to be asked
        rests = without(violation.data, inside)
        if not rests[0]:
            # A part again and again may be another token, and another mistake.
            rest = violation if self.entry.differences else None
        else:
            rest = self.in_place(rests) if inside else violation
        return None if rest is not None and self.like(violation, parts) else rest

    def in_place(self, rests: Sequence[bytes]) -> Violation | None:
        """What is wrong with all of these inputs, asked in place of its own, if anything is.

        It is what witnesses show of the first of them (who else is wrong there shows when it is
        asked again), or the violation itself where that cannot be told.
        """
        contract, violation = self.entry.contract, self.entry.violation
        culprits = set(violation.culprits)
        asked = [rest for rest in dict.fromkeys(rests) if contract.vocabulary.can_encode(rest)]
        if not asked:
            return violation
        judged = self.ask(asked, witnesses(violation, contract))
        wrong = [one for one in judged.violations if culprits & set(one.culprits)]
        answered = all(judged.exercised[name] >= len(asked) for name in culprits)
        if answered and len({one.data for one in wrong}) < len(asked):
            return None
        first = [one for one in wrong if one.data == rests[0]]
        return next(filter(self.same, first), first[0] if first else violation)

    def like(self, violation: Violation, inputs: Collection[bytes]) -> bool:
        """Whether a violation differs in no other tokens than these inputs do."""
        contract = self.entry.contract
        some = differences(violation, contract)  # or there is nothing to ask
        return bool(some) and within(violation, self.pairs(inputs), contract)

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
        pool, contract, violation = self.pool, self.entry.contract, self.entry.violation
        check, data, culprits = CHECKS[violation.check], violation.data, set(violation.culprits)
        outcomes = [part.outcome for part in violation.parts]
        if violation.check == "determinism":
            # Two different answers to one input are proof, however often it answers alike, and so
            # is an answer beside a failure of its own. A failure that may be the machine's has to
            # come back.
            if all(comparable(one) or _own_failure(one) for one in outcomes):
                return violation
            shown = self.ask([b"", data]).violations
            return violation if any(culprits & set(one.culprits) for one in shown) else "machine"
        # A death is not asked for over and over in one batch: the rest would go unanswered.
        once = violation.check == "survival" or any(
            isinstance(one, Failed) and one.status is not Status.ERRORED for one in outcomes
        )
        inputs = [data] if once else [b"", data, data] * (times // 2)
        answers = pool.again(contract, Inputs.of(inputs))
        judged = judge(pool, check, answers)
        now = [one for one in judged.violations if one.data == data]
        # By place: a check may find more than one thing wrong with an input.
        seen = {one.index for one in now if self.same(one)}
        if len(seen) == inputs.count(data):
            return violation
        if check.by_chance:
            # Of answers that are drawn at random one that is wrong is proof, and comes back now and
            # then; one that does not is no finding of determinism.
            return violation if seen else "gone"
        answered = all(judged.exercised[name] >= inputs.count(data) for name in culprits)
        if violation.check == "survival":
            # A time-out may be the machine's, and an exception ends nothing: both yield to what is
            # worse. The worker has asked again already before it said so. Only an answer speaks
            # against it: who is withdrawn by now, for other time-outs, gives none.
            milder = {TIMED_OUT, violation.stage}
            worse = (
                one
                for one in now
                if violation.stage in {TIMED_OUT, ERRORED}
                and one.culprits == violation.culprits
                and one.stage not in milder
            )
            in_time = violation.stage == TIMED_OUT and answered
            return next(worse, "machine" if in_time else "gone")
        if not all(map(comparable, outcomes)):
            # Who failed a further question and answers it now has given no two answers.
            return "gone" if any(map(_own_failure, outcomes)) else "machine"
        changed = self._changed(answers)
        if changed is not None:
            return changed
        if violation.check == "equivalence":
            # All answer as before, and so does somebody who was not asked then: it is theirs, too.
            return next((one for one in now if culprits & set(one.culprits)), "unsure")
        # What a check found out by further questions comes out otherwise today.
        return replace(violation, check="determinism", stage="order") if answered else "unsure"

    def _changed(self, seen: Observation) -> Violation | Unconfirmed | None:
        """Who answers otherwise, as a violation of determinism; unsure if none can be told.

        Who crashes where outputs were compared is a violation of survival. Who says that it does
        not support what it has answered before, who raises, and who is withdrawn for its deaths has
        given two answers. Who is kept from answering has not changed its answer: it may be slow.
        """
        pool, violation = self.pool, self.entry.violation
        compared = violation.check == "equivalence"
        for death in judge(pool, CHECKS["survival"], seen).violations if compared else ():
            if death.data == violation.data and _crashed(death.parts[-1].outcome):
                return death
        withdrawn, silent = pool.withdrawn(), False
        rows = [row for row, data in enumerate(seen.inputs) if data == violation.data]
        # Who is missing stands for what the check compares with.
        asked = [(part, name) for part in violation.parts for name in part.names]
        for part, name in (one for one in asked if one[1] in seen.results):
            for outcome in map(seen.results[name].outcome, rows):
                if comparable(outcome):
                    changed = compared and outcome != part.outcome
                else:
                    silent = True
                    why = withdrawn.get(name, getattr(outcome, "message", ""))
                    refuses = isinstance(outcome, Unsupported) and not kept_from_answering(why)
                    changed = refuses or _own_failure(outcome)
                if changed:
                    told = ((f"{name} (alone)", outcome), (f"{name} (in a batch)", part.outcome))
                    parts = tuple(Part((who,), what) for who, what in told)
                    return Violation("determinism", 0, violation.data, parts, (name,), "order")
        return "unsure" if silent else None

    def minimise(
        self, seconds: float, hides: Callable[[Violation], bool]
    ) -> tuple[Entry, str | None]:
        """The entry with the smallest input found, and why the search did not end by itself.

        hides: whether a violation would hide this one.
        """
        deadline = time.monotonic() + seconds
        entry, contract = self.entry, self.entry.contract
        few = witnesses(entry.violation, contract)
        smallest, why = self._search(few, hides, deadline)
        if smallest is not entry.violation and few is not contract:
            try:
                judged = self.ask([smallest.data])
            except OutOfTime:
                return replace(entry, violation=smallest), NO_TIME
            same = next(filter(self.same, judged.violations), None)
            # Else somebody else parts from the trusted on it, too: all are asked from the start.
            smallest, why = (same, why) if same else self._search(contract, hides, deadline)
        return replace(entry, violation=smallest), why

    def _search(
        self, contract: Contract, hides: Callable[[Violation], bool], deadline: float
    ) -> tuple[Violation, str | None]:
        """The smallest violation as these participants see it; why it did not end by itself."""
        violation = smallest = self.entry.violation
        hung = cut_off = False

        def failing(candidates: Sequence[bytes]) -> list[bool]:
            nonlocal smallest, hung, cut_off
            lawful = [one for one in candidates if contract.vocabulary.can_encode(one)]
            try:
                shown = self.ask(lawful, contract).violations
                ends = {part.outcome.status for one in shown for part in one.parts}
                # One is enough: it takes three times the limit of a request, as it is asked again
                # alone, and counts towards the withdrawal of who hangs.
                hung |= Status.TIMED_OUT in ends
                # The first one is taken: of the others neither the signature has to be known, which
                # takes longer than an answer, nor whether they hide anything.
                for place, one in enumerate(candidates):
                    same = [found for found in shown if found.data == one and self.same(found)]
                    if same and not hides(same[-1]):
                        smallest = same[-1]
                        return [other == place for other in range(len(candidates))]
            except OutOfTime:
                cut_off = True
            return [False] * len(candidates)

        dies = CHECKS[violation.check].alone and violation.stage != ERRORED
        left, most = deadline - time.monotonic(), FEW if dies else ROUND_CASES
        _, ended = shrink(violation.data, failing, left, lambda: cut_off or hung, most)
        if hung:
            return smallest, TRIES_HANG
        if not ended:
            return smallest, NO_TIME if cut_off else TOOK_LONG
        gone = set(violation.culprits) & self.pool.withdrawn().keys()
        return smallest, WITHDRAWN if gone else None


def within(violation: Violation, shared: Collection[Pair], contract: Contract) -> bool:
    """Whether a violation differs in these tokens alone.

    So it is with inputs that a known mistake shows on in another place, or without any input: what
    is wrong is the same, and only what stands beside it is another. A text that is changed as often
    as it is repeated is changed in the same way.
    """
    changed = [texts for pair in shared if len(set(texts := spelled(pair, contract))) > 1]

    def repeated(pair: Pair) -> bool:
        one, other = spelled(pair, contract)
        times = [(a, b, len(one + other) // len(a + b)) for a, b in changed]
        return any((a * n, b * n) == (one, other) for a, b, n in times)

    mine = differences(violation, contract)
    return bool(mine) and all(pair in shared or repeated(pair) for pair in mine)


def parts_in(data: bytes, inputs: Iterable[bytes]) -> list[bytes]:
    """The inputs that are a part of another one."""
    return [one for one in inputs if one and one in data]


def without(data: bytes, parts: Collection[bytes]) -> list[bytes]:
    """An input from which these parts are taken out, once for each neutral text in their place."""
    any_of = b"|".join(map(re.escape, sorted(parts, key=len, reverse=True))) or b"(?!)"
    return [re.sub(any_of, neutral, data) for neutral in NEUTRAL]


def spelled(pair: Pair, contract: Contract) -> tuple[bytes, bytes]:
    """What two sequences of tokens spell."""
    one, other = pair
    return contract.vocabulary.spell(list(one)), contract.vocabulary.spell(list(other))


def _crashed(outcome: Outcome) -> bool:
    """Whether it is a crash, or a breach of the protocol, of a single input."""
    if not isinstance(outcome, Failed) or outcome.status not in {Status.CRASHED, Status.PROTOCOL}:
        return False
    return not doubtful(outcome) and not outcome.message.endswith(TOGETHER)


def _own_failure(outcome: Outcome) -> bool:
    """Whether a failure is the implementation's own doing, whether it comes back or not."""
    if not isinstance(outcome, Failed):
        return False
    return _crashed(outcome) or (outcome.status is Status.ERRORED and not doubtful(outcome))
