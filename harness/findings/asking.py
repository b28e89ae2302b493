"""Questions about one violation: of those alone who decide, with those that will be asked next.

An input is asked about dozens of times until it is minimal, and a dozen implementations may agree
on it all that time. Their answers decide nothing: whoever parts from the most trusted is blamed.
An answer to one input takes a worker some ten milliseconds, nearly all of them waiting for its
turn, and an answer to forty takes hardly more. Where thousands of violations are known and each has
to be asked about in turn, that decides how many can be looked into.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from harness.checks import CHECKS
from harness.checks.base import Judgement
from harness.core.partition import standing_of
from harness.core.standing import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from harness.checks.base import Check, Violation
    from harness.core.comparisons import Contract
    from harness.findings.entries import Entry

    Known = dict[bytes, list[Violation]]

MOST_KEPT = 2000
"""Inputs of one kind of violation whose answers are kept."""


class Examines(Protocol):
    """Whoever puts inputs to a check: a worker pool, or :class:`Together`."""

    def examine(self, contract: Contract, check: Check, inputs: Sequence[bytes]) -> Judgement:
        """One check on these inputs, from the encoding up. Raises Stopped and OutOfTime."""
        ...


def witnesses(violation: Violation, contract: Contract) -> Contract:
    """The contract with those alone who decide whether a violation is still there.

    What these say holds of the culprits. Who else parts from the trusted on another input, only
    the whole contract says. Checks that are no comparison have the whole contract.
    """
    if violation.check != "equivalence":
        return contract
    standing = contract.standing
    highest = standing_of(violation.parts[0], standing)
    engines = {c.about.engine for c in contract.participants if c.name in violation.culprits}
    # Who is trusted as much, and gave no answer here, may answer another input.
    trusted = {n for n in contract.names if standing.get(n, Standing.CANDIDATE) >= highest}
    return contract.among({*violation.culprits, *engines, *trusted})


class Answers:
    """What was answered about violations so far, by their kind."""

    def __init__(self) -> None:
        self._by_kind: defaultdict[tuple[str, ...], Known] = defaultdict(dict)

    def asking(
        self, pool: Examines, entry: Entry, upcoming: Callable[[], Iterable[bytes]]
    ) -> Examines:
        """Whom to ask about a violation, and what that will ask with it.

        upcoming: the inputs that will be asked about next.
        """
        contract, violation = entry.contract, entry.violation
        if CHECKS[violation.check].alone:
            return pool
        names = witnesses(violation, contract).names
        known = self._by_kind[contract.id, violation.check, *names]
        return Together(pool, names, violation.culprits, upcoming, known)

    def forget(self) -> None:
        """Ask everything anew from now on."""
        self._by_kind.clear()


@dataclass(slots=True)
class Together:
    """Asks, with each question, what is likely to be asked next, and remembers the answers.

    asked: the names of those who are asked; a question to others is put alone. culprits: those who
    must have answered an input before its answer is remembered. known: what is wrong with each
    input that was asked about.
    """

    pool: Examines
    asked: Sequence[str]
    culprits: Sequence[str]
    upcoming: Callable[[], Iterable[bytes]]
    known: Known

    def examine(self, contract: Contract, check: Check, inputs: Sequence[bytes]) -> Judgement:
        """As of a pool, of which it is asked unless it was asked before."""
        known = self.known
        if contract.names != self.asked:
            return self.pool.examine(contract, check, inputs)
        if not known.keys() >= set(inputs):
            if len(known) > MOST_KEPT:
                known.clear()
            asked = [one for one in dict.fromkeys([*inputs, *self.upcoming()]) if one not in known]
            judged = self.pool.examine(contract, check, asked)
            if any(judged.exercised[name] < len(asked) for name in self.culprits):
                return self.pool.examine(contract, check, inputs)
            known.update((one, []) for one in asked)
            for violation in judged.violations:
                known[violation.data].append(violation)
        violations = [one for data in dict.fromkeys(inputs) for one in known[data]]
        return Judgement(violations, Counter(dict.fromkeys(self.culprits, len(inputs))))
