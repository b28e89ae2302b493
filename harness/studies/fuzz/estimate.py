"""How likely it is that a campaign finds something new if it goes on.

Fuzzing is the discovery of species (Böhme, STADS: Software Testing as Species Discovery, ACM TOSEM
27(2), 2018): inputs are sampling units, and what an input shows (a behaviour, a bucket of findings)
are the species found in it. From how many species were seen once only, and how many twice, follows
what has not been seen yet.

These laws hold for samples from one distribution. A campaign changes its own as it learns, so that
its estimates are biased (Böhme, Liyanage and Wüstholz, Estimating Residual Risk in Greybox Fuzzing,
ESEC/FSE 2021): take them for orders of magnitude.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

SOURCE = "Good-Turing (Good 1953), as in STADS (Böhme 2018); Laplace where nothing was seen once"


@dataclass(frozen=True, slots=True)
class Abundance:
    """How often species were seen: in ``samples`` inputs, ``species`` kinds, of which
    ``once`` in one input only and ``twice`` in two."""

    samples: int
    species: int
    once: int
    twice: int


def discovery(seen: Abundance) -> float:
    """The probability that the next input shows a species not seen before.

    Good-Turing: once / samples. Where no species was seen only once, that would be zero, which no
    finite sample can tell: then Laplace's rule of succession, 1 / (samples + 2).
    """
    if seen.samples == 0:
        return 1.0
    if seen.once == 0:
        return 1 / (seen.samples + 2)
    return min(1.0, seen.once / seen.samples)


def unseen(seen: Abundance) -> float:
    """A lower bound of how many species are yet to be found: Chao2 (Chao 1987), bias-corrected
    where none was seen twice."""
    if seen.samples == 0:
        return 0.0
    factor = (seen.samples - 1) / seen.samples
    if seen.twice > 0:
        return factor * seen.once**2 / (2 * seen.twice)
    return factor * seen.once * (seen.once - 1) / 2


def expected(seen: Abundance, more: float) -> float:
    """How many new species ``more`` further inputs are expected to show.

    Extrapolation of Colwell et al. (Journal of Plant Ecology 5(1), 2012), f1 those seen once:
    f0 (1 - (1 - f1 / (n f0 + f1)) ^ more), with f0 from :func:`unseen`; where that is zero, the
    rate of today for as long as it is asked for. Where none was seen only once, the sum of
    Laplace's probabilities, as each input lowers the next one's: ln(1 + more / (n + 1)).
    """
    if seen.once == 0:
        return math.log1p(more / (seen.samples + 1))
    missing = unseen(seen)
    if missing == 0:
        return discovery(seen) * more
    rate = seen.once / (seen.samples * missing + seen.once)
    return missing * -math.expm1(more * math.log1p(-rate)) if rate < 1 else missing


def chance(seen: Abundance, more: float) -> float:
    """The probability that ``more`` further inputs show at least one new species.

    1 - exp(-expected), as if discoveries came independently. Where none was seen only once that is
    more / (samples + 1 + more), Laplace's rule for a run of ``more`` inputs.
    """
    return -math.expm1(-expected(seen, more))
