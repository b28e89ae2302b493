"""The questions about one violation: what of it is known already, and what is left to explain.

An input that is known explains a violation if the difference goes when it is taken out of the
input, or when neutral text stands in its place; or if all tokens that differ are those in which it
differs itself. Whatever else differs is another violation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.checks import CHECKS
from harness.core.outcomes import Status
from harness.core.partition import standing_of
from harness.core.standing import Standing
from harness.findings.diagnosis import BYTES, Pair, categories, differences, signature

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from harness.checks.base import Judgement, Violation
    from harness.core.comparisons import Contract
    from harness.findings.entries import Entry
    from harness.workers.pool import WorkerPool

    Known = Mapping[bytes, str]
    """The minimal inputs of what is known of one signature, each with its bucket."""

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
        return self.pool.examine(contract or self.entry.contract, check, inputs)

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
