"""Sentences about a record: the reason for its verdict, and each bucket's title."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from harness.events.causes import SLOTS, slots_of
from reports.blocks.units import plural
from reports.record import FAILING_EXPECTATIONS, Verdict
from reports.severity import check_of, dead, severity
from reports.text import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.events import Found
    from reports.record import Bucket, RunRecord

KINDS_SHOWN = 8
"""Variants of a cause that a line names."""

_DIED = {
    "crashed": "crashed",
    "out-of-memory": "ran out of memory",
    "timed-out": "timed out",
    "protocol": "broke the stdio protocol",
    "errored": "failed with an error of its own",
    "left-processes": "left processes behind",
    "false-claim": "claims what it does not do",
}

_DOES = {
    "pre-tokens": "splits the text otherwise than",
    "words": "splits words otherwise than",
    "merges": "merges otherwise than",
    "pieces": "cuts words into other pieces than",
    "tie": "breaks ties otherwise than",
    "scores": "adds scores otherwise than",
    "text": "gives tokens of another text than",
    "white-space": "treats white space otherwise than",
    "normalization": "normalizes otherwise than",
    "special-tokens": "treats special tokens otherwise than",
    "user-defined": "treats user-defined pieces otherwise than",
    "unknown": "treats unknown characters otherwise than",
    "unknown-merging": "joins unknown characters otherwise than",
    "byte-fallback": "falls back to bytes otherwise than",
    "rejection": "rejects other inputs than",
}
"""What an implementation does that disagrees, by the stage at which outcomes part; what is said of
any other stage, :data:`_GIVES` has."""

_GIVES = "gives other ids than"

NAMES_SHOWN = 3
"""Names of implementations in a headline; of more the first stand for all."""


def listed(names: Sequence[str], most: int = 0) -> str:
    """``a``, ``a and b``, ``a, b and c``; of more than ``most``, the first: ``a and 4 others``."""
    if 0 < most < len(names) - 1:
        names = [*names[:most], f"{len(names) - most} others"]
    *first, last = names or [""]
    return f"{', '.join(first)} and {last}" if first else last


def headline(bucket: Bucket) -> str:
    """What happened in a cause; the kind of the input where it shows on one kind only."""
    return title(bucket.example, kind=len(bucket.variants) < 2)


def title(finding: Found, *, kind: bool = True) -> str:
    """What happened, and where: ``mine merges otherwise than tiktoken (merges: Mn)``.

    kind: whether the kind of the input is told.
    """
    said, stage = spoken(finding), finding.stage
    if dead(finding) or not stage:
        return said
    _, _, _, at, sort, *_ = [*slots_of(finding.bucket), *[""] * SLOTS]
    return f"{said} ({stage}: {sort})" if kind and at == stage and sort else f"{said} ({stage})"


def spoken(finding: Found) -> str:
    """What happened, in the words of a maintainer: ``mine merges otherwise than tiktoken``.

    Where the finding blames nobody, so it says.
    """
    check, died = check_of(finding), dead(finding)
    who, parts = listed(finding.culprits, NAMES_SHOWN) or "An implementation", finding.partition
    said = check.said if check else ""
    if finding.undecided:
        # Who differs from whom, where none of them is blamed: ``a and b = c differ``.
        sides = [[n for n in one.implementations if n in finding.culprits] for one in parts]
        parties = [" = ".join(names) for names in sides if names] or finding.culprits
        if said:
            return f"{' or '.join(parties)} {said}: nobody is blamed"
        return f"{listed(parties)} differ, and nobody is blamed"
    if died is not None:
        return f"{listed(died.implementations)} {_DIED[died.kind]}"
    if said or not (check and parts):
        return f"{who} {said}" if said else f"{who}: {finding.check}"
    does = finding.mistake or _DOES.get(finding.stage, _GIVES)
    if len(finding.culprits) > 1:
        verb, _, rest = does.partition(" ")
        does = f"{verb.removesuffix('s').replace('doe', 'do')} {rest}"
    return f"{who} {does}" + ("" if finding.mistake else f" {listed(parts[0].implementations, 1)}")


def also(bucket: Bucket) -> str:
    """The other kinds of input on which a cause shows: ``, also in the variants L, Mn``."""
    kinds = [one.kind + (" (expected)" if one.reason else "") for one in bucket.variants[1:]]
    if not kinds:
        return ""
    more = len(kinds) - KINDS_SHOWN
    rest = f" and {more} more" if more > 0 else ""
    return f", also in the variant{'s' * (len(kinds) > 1)} {', '.join(kinds[:KINDS_SHOWN])}{rest}"


def smallest(finding: Found, limit: int) -> str:
    """Its input as a Python literal of about so many characters, and what is left out of it."""
    shown = literal(base64.b64decode(finding.input_b64), limit)
    return shown.code + (f" and {plural(shown.missing, 'more byte')}" if shown.missing else "")


def reason(record: RunRecord) -> str:
    """Why the verdict is what it is, in one sentence."""
    counted = plural(len(record.unexpected), "unexpected finding")
    match record.verdict:
        case Verdict.INCOMPLETE:
            so_far = f"{counted} so far" if record.unexpected else "nothing unexpected so far"
            return (
                f"The run did not come to its end, so nothing can be concluded: "
                f"{plural(record.cases, 'case')} run, {so_far}."
            )
        case Verdict.PASS if record.forced_corpora and not record.implementations:
            return f"Exact forced no wrong token in {plural(record.cases, 'text')} of the corpus."
        case Verdict.PASS:
            expected = len(record.buckets) - len(record.unexpected)
            shown = f"; {plural(expected, 'expected divergence')} shown" if expected else ""
            return f"No unexpected finding in {_judged(record)}{shown}."
        case Verdict.NOT_EXAMINED if len(record.reasons) == 1:
            return record.reasons[0]
        case Verdict.NOT_EXAMINED:
            number = len(record.reasons)
            return f"Nothing that was examined is wrong, but {number} things were not examined."
    failing = sum(e.status in FAILING_EXPECTATIONS for e in record.expectations)
    start = "implementation that failed to start", "implementations that failed to start"
    faults = (
        (len(record.unexpected), "unexpected finding"),
        (failing, "stale or expired expectation"),
        (len(record.failures), *start),
    )
    said = [plural(number, *nouns) for number, *nouns in faults if number]
    if not said:
        return record.reasons[0] if record.reasons else "The gate does not hold."
    worst = ""
    if record.unexpected:
        example = record.unexpected[0].example
        worst = f"; the worst is {severity(example)}: {spoken(example)}"
    return f"{listed(said)}{worst}."


def _judged(record: RunRecord) -> str:
    """What the absence of findings is a statement about: those that were compared, or judged."""
    if record.comparisons:
        what, who = plural(record.comparisons, "comparison"), record.compared
    else:
        what, who = plural(record.cases, "case"), record.judged
    idle = len(record.implementations) - len(record.judged)
    rest = f" ({idle:,} more took no part)" if idle else ""
    contracts = {contract for (contract, _, _), n in record.coverage.judged.items() if n}
    places = {one.vocabulary for one in record.contracts if one.id in contracts}
    vocabularies = plural(len(places), "vocabulary", "vocabularies")
    return f"{what} of {plural(len(who), 'implementation')}{rest} on {vocabularies}"
