"""A finding in words, as every report tells it: how bad it is, what happened, on which input."""

from __future__ import annotations

from collections.abc import Sequence

from harness.checks import CHECKS
from harness.checks.base import Severity
from harness.events import Found, Group
from harness.events.causes import KIND, STAGE, slots_of
from reports.text import literal

SEVERITIES = tuple(Severity)
"""The worst first."""

INPUT_SHOWN = 60
"""Characters of an input in a line of a list."""

DIED = {
    "crashed": "crashed",
    "out-of-memory": "ran out of memory",
    "timed-out": "timed out",
    "protocol": "broke the stdio protocol",
    "errored": "failed with an error of its own",
    "left-processes": "left processes behind",
    "false-claim": "claims what it does not do",
}
"""Kinds of :class:`harness.events.Group` in which an implementation gave no answer at all, or left
processes behind."""

_DOES = {
    "pre-tokens": "splits the text differently from",
    "words": "splits words differently from",
    "merges": "merges differently from",
    "pieces": "cuts words into other pieces than",
    "tie": "breaks ties differently from",
    "scores": "adds scores differently from",
    "text": "gives tokens of a different text than",
    "white-space": "treats white space differently from",
    "normalization": "normalizes differently from",
    "special-tokens": "treats special tokens differently from",
    "user-defined": "treats user-defined pieces differently from",
    "unknown": "treats unknown characters differently from",
    "unknown-merging": "joins unknown characters differently from",
    "byte-fallback": "falls back to bytes differently from",
    "rejection": "rejects other inputs than",
}
"""What an implementation does that disagrees, by the stage at which outcomes part."""

NAMES_SHOWN = 3
"""Names of implementations in a headline; of more the first stand for all."""


def listed(names: Sequence[str], most: int = 0) -> str:
    """``a``, ``a and b``, ``a, b and c``; of more than ``most``, the first: ``a and 4 others``."""
    if 0 < most < len(names) - 1:
        names = [*names[:most], f"{len(names) - most} others"]
    *first, last = names or [""]
    return f"{', '.join(first)} and {last}" if first else last


def dead(finding: Found) -> Group | None:
    """The first outcome that is no answer, of somebody who is blamed."""
    blamed = set(finding.culprits)
    groups = (g for g in finding.partition if g.kind in DIED and blamed & set(g.implementations))
    return next(groups, None)


def severity(finding: Found) -> Severity:
    """How bad a finding is: a crash where somebody blamed gave no answer, else by its check."""
    if dead(finding):
        return Severity.CRASH
    # A check may be one of another version of tokgate.
    check = CHECKS.get(finding.check)
    return check.severity if check else Severity.SERVICE


def title(finding: Found, *, kind: bool = True) -> str:
    """What happened, and where: ``mine merges differently from tiktoken (merges: Mn)``.

    kind: whether the kind of the input is told.
    """
    said, stage, slots = spoken(finding), finding.stage, slots_of(finding.bucket)
    if dead(finding) or not stage:
        return said
    told = kind and slots and slots[STAGE] == stage and slots[KIND]
    return f"{said} ({stage}: {slots[KIND]})" if told else f"{said} ({stage})"


def spoken(finding: Found) -> str:
    """What happened, in the words of a maintainer: ``mine merges differently from tiktoken``.

    If the finding blames nobody, the words say so.
    """
    check, died, parts = CHECKS.get(finding.check), dead(finding), finding.partition
    who = listed(finding.culprits, NAMES_SHOWN) or "An implementation"
    if finding.undecided:
        # Who differs from whom, where none of them is blamed: ``a and b = c differ``.
        sides = [[n for n in one.implementations if n in finding.culprits] for one in parts]
        parties = [" = ".join(names) for names in sides if names] or finding.culprits
        why = f": {finding.mistake}" if finding.mistake else ""
        return f"{listed(parties)} differ, and nobody is blamed{why}"
    if died:
        return f"{listed(died.implementations)} {DIED[died.kind]}"
    if check and check.said:
        return f"{who} {check.said}"
    if not (check and parts):
        return f"{who}: {finding.check}"
    does = finding.mistake or _DOES.get(finding.stage, "gives other ids than")
    if len(finding.culprits) > 1:
        verb, _, rest = does.partition(" ")
        does = f"{verb.removesuffix('s').replace('doe', 'do')} {rest}"
    return f"{who} {does}" + ("" if finding.mistake else f" {listed(parts[0].implementations, 1)}")


def smallest(finding: Found, limit: int = INPUT_SHOWN) -> str:
    """Its input as a Python literal of about so many characters, and what is left out of it."""
    return str(literal(finding.input, limit))
