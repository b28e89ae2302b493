"""Sentences about a record: the reason for its verdict, and each bucket's title."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.plain_text import printable_line
from reports.record import FAILING_EXPECTATIONS, Verdict
from reports.severity import DEATHS, check_of, severity

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


def plural(number: int, noun: str, many: str = "") -> str:
    """``1 case``, ``1,204 cases``."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def headline(bucket: Bucket) -> str:
    """What happened in a cause, in words; the kind of the input where it shows on one kind only."""
    return title(bucket.example, kind=len(bucket.variants) < 2)


def spoken(finding: Found) -> str:
    """What happened, in the words of a maintainer: ``mine merges otherwise than tiktoken``."""
    plain = heading(finding)
    disagrees = not said_of(finding) and not finding.undecided and " disagree" in plain
    if not disagrees:
        return plain.replace(listed(finding.culprits), some(finding.culprits))
    trusted = "" if finding.mistake else f" {some(finding.groups[0].implementations, 1)}"
    return f"{some(finding.culprits)} {_does(finding)}{trusted}"


def _does(finding: Found) -> str:
    """What the culprits do: the mistake that they make, or at which stage they part."""
    does = finding.mistake or _DOES.get(finding.stage, _GIVES)
    if len(finding.culprits) < 2:
        return does
    verb, _, rest = does.partition(" ")
    return f"{verb.removesuffix('s').replace('doe', 'do')} {rest}"


def some(names: Sequence[str], most: int = NAMES_SHOWN) -> str:
    """As :func:`listed`, of many the first alone: ``a and 4 others``."""
    if len(names) <= most + 1:
        return listed(names)
    return f"{', '.join(names[:most])} and {len(names) - most} others"


def also(bucket: Bucket) -> str:
    """The other kinds of input on which a cause shows: ``, also on inputs of the kinds L, Mn``."""
    kinds = [one.kind + (" (expected)" if one.reason else "") for one in bucket.variants[1:]]
    if not kinds:
        return ""
    shown = ", ".join(kinds[:KINDS_SHOWN])
    more = len(kinds) - KINDS_SHOWN
    rest = f" and {more} more" if more > 0 else ""
    return f", also in the variant{'s' if len(kinds) > 1 else ''} {shown}{rest}"


def title(finding: Found, *, kind: bool = True) -> str:
    """What happened, in words: ``tokenizers disagrees with tiktoken (pre-tokens: Mn)``.

    kind: whether the kind of the input is told. Where the finding blames nobody, so it says.
    """
    dead = any(
        group.kind in DEATHS and set(group.implementations) & set(finding.culprits)
        for group in finding.groups
    )
    stage_name = _stage(finding) if kind else finding.stage
    stage = "" if dead or not finding.stage else f" ({stage_name})"
    said = f"{listed(finding.culprits)} {_does(finding)}" if finding.mistake else heading(finding)
    return f"{said}{stage}"


def heading(finding: Found) -> str:
    """The same without the stage: what is alike in it belongs together."""
    groups = finding.groups
    if finding.undecided:
        return _quarrel(finding)
    who = listed(finding.culprits) or "An implementation"
    for group in groups:
        if group.kind in DEATHS and set(group.implementations) & set(finding.culprits):
            return f"{listed(group.implementations)} {_DIED[group.kind]}"
    said = said_of(finding)
    if said:
        return f"{who} {said}"
    if check_of(finding) and groups:
        verb = "disagrees" if len(finding.culprits) == 1 else "disagree"
        return f"{who} {verb} with {listed(groups[0].implementations)}"
    return f"{who}: {finding.check}"


def said_of(finding: Found) -> str:
    """What the culprits did by the finding's check; nothing where they disagree with others."""
    check = check_of(finding)
    return check.said if check else ""


def _quarrel(finding: Found) -> str:
    """Who differs from whom, where none of them is blamed: ``a and b = c differ``."""
    culprits = set(finding.culprits)
    sides = [[n for n in group.implementations if n in culprits] for group in finding.groups]
    who = [" = ".join(names) for names in sides if names] or finding.culprits
    said = said_of(finding)
    if said:
        return f"{' or '.join(who)} {said}: nobody is blamed"
    return f"{listed(who)} differ, and nobody is blamed"


def _stage(finding: Found) -> str:
    """The stage, with the kind of input that the bucket names after it: ``unknown: Mn``."""
    parts = finding.bucket.split("/")
    kind = parts[4] if len(parts) > 5 and parts[3] == finding.stage else ""
    return f"{finding.stage}: {kind}" if kind else finding.stage


def reason(record: RunRecord) -> str:
    """Why the verdict is what it is, in one sentence."""
    unexpected = len(record.unexpected)
    counted = plural(unexpected, "unexpected finding")
    if record.verdict is Verdict.INCOMPLETE:
        so_far = f"{counted} so far" if unexpected else "nothing unexpected so far"
        return (
            f"The run did not come to its end, so nothing can be concluded: "
            f"{plural(record.cases, 'case')} run, {so_far}."
        )
    if record.verdict is Verdict.PASS and record.forced_corpora and not record.implementations:
        return f"Exact forced no wrong token in {plural(record.cases, 'text')} of the corpus."
    if record.verdict is Verdict.PASS:
        expected = len(record.buckets) - unexpected
        shown = f"; {plural(expected, 'expected divergence')} shown" if expected else ""
        return f"No unexpected finding in {_judged(record)}{shown}."
    if record.verdict is Verdict.NOT_EXAMINED:
        gaps = record.finished.reasons if record.finished else []
        if len(gaps) == 1:
            return gaps[0]
        return f"Nothing that was examined is wrong, but {len(gaps)} things were not examined."
    faults = [counted] if unexpected else []
    failing = sum(e.status in FAILING_EXPECTATIONS for e in record.expectations)
    if failing:
        faults.append(plural(failing, "stale or expired expectation"))
    if record.failures:
        faults.append(
            plural(
                len(record.failures),
                "implementation that failed to start",
                "implementations that failed to start",
            )
        )
    if faults:
        return f"{listed(faults)}{_worst(record)}."
    return (
        record.finished.reasons[0]
        if record.finished and record.finished.reasons
        else ("The gate does not hold.")
    )


def _worst(record: RunRecord) -> str:
    """The worst of the unexpected findings with its severity, if there is any."""
    if not record.unexpected:
        return ""
    worst = record.unexpected[0].example
    return f"; the worst is {severity(worst)}: {spoken(worst)}"


def _judged(record: RunRecord) -> str:
    """What the absence of findings is a statement about: those that were compared, or judged."""
    if record.comparisons:
        what, who = plural(record.comparisons, "comparison"), record.compared
    else:
        what, who = plural(record.cases, "case"), record.judged
    idle = len(record.implementations) - len(record.judged)
    rest = f" ({idle:,} more took no part)" if idle else ""
    vocabularies = plural(len(record.vocabularies_judged), "vocabulary", "vocabularies")
    return f"{what} of {plural(len(who), 'implementation')}{rest} on {vocabularies}"


def growth_left_out(record: RunRecord) -> list[str]:
    """A line for each vocabulary on which there was no time to measure growth on all families."""
    return [
        f"On {one.vocabulary} there was no time for growth on {len(one.left_out)} of "
        f"{plural(len(one.chosen), 'chosen family', 'chosen families')} (of {one.known} known): "
        f"{', '.join(one.left_out)}."
        for one in record.families
        if one.left_out
    ]


def safe_link(link: str | None) -> str | None:
    """Return a link that a report may make clickable, else None.

    It is of http or https, and has no character that a reader would not see.
    """
    if link is None or not link.lower().startswith(("https://", "http://")):
        return None
    return link if printable_line(link) == link else None
