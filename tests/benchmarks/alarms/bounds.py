"""What a share of so many runs says about the share that it is drawn from."""

from __future__ import annotations

import math

LEVEL = 0.95
"""How sure the upper bounds are."""


def at_most(successes: int, trials: int, share: float) -> float:
    """Return the probability of at most so many successes in so many trials of that share."""
    if share <= 0.0:
        return 1.0
    if share >= 1.0:
        return 1.0 if successes >= trials else 0.0
    logs = (
        math.lgamma(trials + 1)
        - math.lgamma(k + 1)
        - math.lgamma(trials - k + 1)
        + k * math.log(share)
        + (trials - k) * math.log1p(-share)
        for k in range(successes + 1)
    )
    return min(1.0, math.fsum(map(math.exp, logs)))


def upper_bound(successes: int, trials: int, level: float = LEVEL) -> float:
    """Return the one-sided upper bound of Clopper and Pearson on a share.

    It is the largest share under which so few successes are not rarer than ``1 - level``. Without
    any success it is ``1 - (1 - level) ** (1 / trials)``, about ``3 / trials`` at 95 % (the rule
    of three). Without any trial nothing is known, and the bound is 1.

    C. J. Clopper, E. S. Pearson: The use of confidence or fiducial limits illustrated in the case
    of the binomial, Biometrika 26 (1934).
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} of {trials}")
    if successes == trials:
        return 1.0
    low, high = successes / trials, 1.0
    for _ in range(60):  # The interval is halved each time: far below what a float can tell.
        middle = (low + high) / 2
        if at_most(successes, trials, middle) > 1 - level:
            low = middle
        else:
            high = middle
    return high
