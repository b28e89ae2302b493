"""Bounds on growth: who is held to what, from the expectations file, and whether it was kept.

Exponents alone are judged, never times, so that a bound holds on any machine. The first entry that
matches counts, the user's file before the shipped one::

    [[scaling]]
    implementation = "mine"        # a shell pattern; default "*", as of the two below
    vocabulary = "tekken_*"
    family = "*-run"
    bound = "n log n"              # linear, n log n, n^1.5, quadratic, cubic, none
    memory = 64                    # at the most so many bytes a byte; default: no bound
    reason = "a heap of merges"

An implementation that no entry matches is held to ``linear`` where it claims that itself, and the
user's own candidates to :data:`DEFAULT`. A library that tokgate knows by name is held to nothing by
default, as its growth is its author's matter, and known. The memory of a candidate is held to
:data:`harness.verdict.memory.LIMIT` bytes a byte and to not growing with the square, by default or
where an entry's bound is below ``n^1.5``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from corpora.vocabularies.reading import shown
from harness.core.participants import Participant
from harness.events import GrowthJudged, Measured
from harness.verdict import memory
from harness.verdict.expectations import SHIPPED, ExpectationsError, entries
from harness.verdict.exponents import HIERARCHY, LEAST_POINTS, THRESHOLD, Verdict
from impls.roster import ROWS

LINEAR, NO_BOUND = "linear", "none"

DEFAULT = "n log n"
"""The user's own candidates are held to this bound: every algorithm of tokenization can keep it,
and, in time, it is all that ``linear`` would say, too."""

UNSAID = "the default; to change it, add a [[scaling]] entry to the expectations file"
"""The reason that is given for :data:`DEFAULT`."""

IN_TIME = {LINEAR: THRESHOLD, DEFAULT: THRESHOLD, "n^1.5": 1.75, "quadratic": 2.3, "cubic": 3.3}
"""The exponent that a bound allows in time: its own, and 0.25 to 0.3 for caches. Between ``n`` and
``n log n`` no time decides, as the difference is less than what caches make. ``n^1.5`` is told from
both, but only over a range where it is more than caches make (:data:`judgement.ACCUSED`)."""

IN_STEPS = {LINEAR: 1.1, DEFAULT: 1.25, "n^1.5": 1.6, "quadratic": 2.1, "cubic": 3.1}
"""The greatest exponent of each bound in steps, which are exact: ``n log n`` reads as 1.15 from 256
bytes to 4 KiB."""

SAID = {"left": "leaving nothing behind", "claim": "times that are true"}
"""Measures that have a bound of their own, whatever the entry: memory after many inputs, and what a
program says of its own time."""

BESIDE_TIME = ("memory", *SAID)
"""Measures that no claim of linear cost is about."""

LEAN = (LINEAR, DEFAULT)
"""Bounds that say that memory does not grow with the square either."""

POWERS = {"n^1.5": 1.5, "quadratic": 2.0, "cubic": 3.0}
"""The bounds that are more than the judgement calls linear, as powers of the size."""

CLAIMED = "it claims linear cost"


@dataclass(frozen=True)
class Bound:
    """One entry; see the module's example for the fields."""

    bound: str
    reason: str
    implementation: str = "*"
    vocabulary: str = "*"
    family: str = "*"
    memory: float | None = None

    def covers(self, cell: Measured) -> bool:
        """Whether it is on this cell."""
        return (
            fnmatchcase(cell.implementation, self.implementation)
            and fnmatchcase(cell.vocabulary, self.vocabulary)
            and fnmatchcase(cell.family, self.family)
        )


def load(path: Path, *, drafts: bool = False) -> list[Bound]:
    """The entries under ``[[scaling]]`` of an expectations file. Raises ExpectationsError.

    drafts: a reason that is still to be written is no fault.
    """
    allowed, found = [*IN_TIME, NO_BOUND], []
    for place, one in entries(path, "scaling", Bound, drafts=drafts):
        if one.bound not in allowed:
            known = ", ".join(allowed)
            raise ExpectationsError(f"{place}: invalid bound {shown(one.bound)}; write {known}")
        found.append(one)
    return found


def with_shipped(path: Path | None) -> list[Bound]:
    """The entries of the user's file, if there is one, and the shipped ones after them."""
    return [*(load(path) if path is not None else ()), *load(SHIPPED)]


def judge_growth(
    measured: Iterable[Measured],
    bounds: Sequence[Bound],
    claiming: Collection[str],
    own: Collection[str] = (),
    in_python: Collection[str] = (),
) -> list[GrowthJudged]:
    """What became of each cell that a bound is on.

    claiming: who claims linear cost. own: the user's own candidates (:func:`own_candidates`).
    in_python: who is written in Python, and may take more memory.
    """
    judged = []
    for cell in measured:
        name = cell.implementation
        mine, claims, plain = name in own, name in claiming, cell.measure not in BESIDE_TIME
        bound = bound_of(cell, bounds)
        if bound is None and (mine or claims):
            # Nobody claims anything of memory, or of what is said of one's own time.
            bound = Bound(LINEAR if claims else DEFAULT, CLAIMED if claims and plain else UNSAID)
        if bound is None:
            continue
        allowed, most = bound.bound, bound.memory
        if cell.measure == "memory":
            if most is None and mine and allowed in LEAN:
                most = memory.LIMIT_IN_PYTHON if name in in_python else memory.LIMIT
            if most is None:
                continue
            allowed, (outcome, line) = f"{most:g} bytes per byte", memory.outcome_of(cell, most)
        elif allowed == NO_BOUND:
            continue
        elif cell.measure in SAID:  # it was judged when it was measured, by no exponent
            allowed, line = SAID[cell.measure], cell.note
            outcome = {"linear": "pass", "superlinear": "fail"}.get(cell.verdict, "inconclusive")
        else:
            outcome, line = outcome_of(cell, allowed)
        place = name, cell.vocabulary, cell.family, cell.measure
        timed = mine and cell.axis == "bytes" and plain
        judged.append(GrowthJudged(*place, allowed, outcome, bound.reason, line, timed))
    return judged


def bound_of(cell: Measured, bounds: Sequence[Bound]) -> Bound | None:
    """The first entry that is on a cell, if any."""
    return next((one for one in bounds if one.covers(cell)), None)


def own_candidates(
    participants: Iterable[Participant], named: Collection[str], references: Collection[str]
) -> set[str]:
    """Names of those that the user named and that are nobody else's: plug-ins and programs.

    named: the implementations that the user asked for by name. Not the references, and none of
    those that tokgate brings or knows by name: these are named to be compared with. A release of a
    library (``pip:``) is one as well, as to change to it is what is gated.
    """
    known = {*ROWS, *(row.target for row in ROWS.values())}
    mine = {one.name for one in participants if one.spec not in known}
    return mine.intersection(named).difference(references)


def outcome_of(cell: Measured, bound: str) -> tuple[str, str]:
    """``pass``, ``fail`` or ``inconclusive``, and a line on it.

    A cell that failed breaks any bound: it has no cost that could be within it. Of the rest the
    whole interval has to be on one side; what is linear keeps every bound.
    """
    if cell.verdict == Verdict.FAILED:
        return "fail", cell.note
    if cell.exponent is None or cell.low is None or cell.high is None:
        return "inconclusive", cell.note
    limit = (IN_TIME if cell.measure == "time" else IN_STEPS)[bound]
    line = f"{cell.measure} grew like n^{cell.exponent:.2f} ({cell.low:.2f} to {cell.high:.2f})"
    if cell.axis != "bytes":
        line = f"{line}, where n is the number of {cell.axis}"
    if cell.measure != "time":
        if cell.exponent <= limit:
            return "pass", ""
        # Inputs drawn at random differ, so that one pair of sizes alone breaks nothing.
        return ("fail" if cell.low > limit else "inconclusive"), line
    if cell.verdict == Verdict.LINEAR or cell.high <= limit:
        return "pass", ""
    if cell.verdict == Verdict.SUPERLINEAR and cell.low > limit and beyond(cell, bound):
        return "fail", line
    return "inconclusive", f"{line}; {cell.note}" if cell.note else line


def beyond(cell: Measured, bound: str) -> bool:
    """Whether its cost is beyond a bound by more than the caches make.

    Bounds up to ``n log n`` are the judgement's own, which has looked at that.
    """
    if bound not in POWERS:
        return True
    overhead = cell.overhead or 0.0
    spent = [(size, cost - overhead) for size, cost in sorted(cell.points) if cost > overhead]
    if len(spent) < LEAST_POINTS:
        return False
    (small, least), (large, most) = spent[0], spent[-1]
    return bool(most > HIERARCHY * (large / small) ** POWERS[bound] * least)


def held(cell: Measured, limits: Sequence[Bound]) -> bool:
    """Whether one of the entries is on a cell, and the cell keeps it as a candidate's own."""
    judged = judge_growth([cell], limits, (), {cell.implementation})
    return bound_of(cell, limits) is not None and all(one.outcome == "pass" for one in judged)


def narrowest(cells: Sequence[Measured]) -> str:
    """The narrowest bound that all measurements of one cell keep."""
    return next((one for one in IN_TIME if all(keeps(c, one) for c in cells)), NO_BOUND)


def keeps(cell: Measured, bound: str) -> bool:
    """Whether a measurement keeps a bound; memory for each byte is written down by itself."""
    if cell.measure == "memory":
        soars = cell.memory_verdict == memory.SUPERLINEAR or cell.verdict == "failed"
        return not (soars and bound in LEAN)
    return outcome_of(cell, bound)[0] == "pass"
