"""Who has to be asked about a violation again: those it is about, and those who decide.

An input is asked about dozens of times until it is minimal, and a dozen implementations may agree
on it all that time. Their answers decide nothing: whoever parts from the most trusted is blamed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.core.standing import Standing

if TYPE_CHECKING:
    from harness.checks.base import Violation
    from harness.core.comparisons import Contract


def witnesses(violation: Violation, contract: Contract) -> Contract:
    """The contract with those alone who decide whether a violation is still there.

    What these say holds of the culprits. Who else parts from the trusted on another input, only
    the whole contract says. Checks that are no comparison have the whole contract.
    """
    if violation.check != "equivalence":
        return contract
    standing = contract.standing

    def trust(name: str) -> Standing:
        return standing.get(name, Standing.CANDIDATE)

    asked = set(violation.culprits)
    trusted = violation.parts[0].names
    highest = max(map(trust, trusted))
    asked.update(name for name in trusted if trust(name) == highest)
    # Who is trusted as much, and gave no answer here, may answer another input.
    asked.update(name for name in contract.names if trust(name) >= highest)
    engines = {one.name: one.about.engine for one in contract.participants}
    asked.update(engine for name in violation.culprits if (engine := engines.get(name)))
    return contract.among(asked)
