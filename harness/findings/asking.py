"""Questions about one violation: of those alone who decide, with those that will be asked next.

An input is asked about dozens of times until it is minimal, and a dozen implementations may agree
on it all that time. Their answers decide nothing: whoever parts from the most trusted is blamed.
An answer to one input takes a worker some ten milliseconds, nearly all of them waiting for its
turn, and an answer to forty takes hardly more. Where thousands of violations are known and each has
to be asked about in turn, that decides how many can be looked into.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from harness.checks import CHECKS
from harness.checks.base import Judgement
from harness.core.partition import standing_of
from harness.core.standing import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.findings.entries import Entry
    from harness.workers.pool import WorkerPool

    Known = dict[bytes, list[Violation]]
    """What is wrong with each input that was asked about."""

    Examine = Callable[[Contract, Sequence[bytes]], Judgement]
    """Puts inputs to the check of a violation. Raises Stopped and OutOfTime."""

MOST_KEPT = 2000
"""Inputs of one kind of violation whose answers are kept."""


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
        self, pool: WorkerPool, entry: Entry, upcoming: Callable[[], Iterable[bytes]]
    ) -> Examine:
        """How to ask about a violation: together with what is likely to be asked next.

        upcoming: the inputs that will be asked about next. Answers of witnesses are remembered,
        where all culprits have answered; a question to others is put alone, and so are those of
        checks that end processes or depend on the call.
        """
        plainly = asked_of(pool, entry)
        if CHECKS[entry.violation.check].alone:
            return plainly
        culprits, names = entry.violation.culprits, witnesses(entry.violation, entry.contract).names
        known = self._by_kind[entry.contract.id, entry.violation.check, *names]

        def examine(contract: Contract, inputs: Sequence[bytes]) -> Judgement:
            if contract.names != names:
                return plainly(contract, inputs)
            if not known.keys() >= set(inputs):
                if len(known) > MOST_KEPT:
                    known.clear()
                asked = [i for i in dict.fromkeys([*inputs, *upcoming()]) if i not in known]
                judged = plainly(contract, asked)
                if any(judged.exercised[name] < len(asked) for name in culprits):
                    return plainly(contract, inputs)
                known.update((one, []) for one in asked)
                for violation in judged.violations:
                    known[violation.data].append(violation)
            violations = [one for data in dict.fromkeys(inputs) for one in known[data]]
            return Judgement(violations, Counter(dict.fromkeys(culprits, len(inputs))))

        return examine

    def forget(self) -> None:
        """Ask everything anew from now on."""
        self._by_kind.clear()


def asked_of(pool: WorkerPool, entry: Entry) -> Examine:
    """How to ask about a violation without looking ahead."""
    check = CHECKS[entry.violation.check]
    return lambda contract, inputs: pool.examine(contract, check, inputs)
