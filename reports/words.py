"""Sentences about a record: the reason for its verdict, and each bucket's title."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.record import DEATHS, FAILING_EXPECTATIONS, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.events import Found
    from reports.record import RunRecord

_DIED = {
    "crashed": "crashed",
    "out-of-memory": "ran out of memory",
    "timed-out": "timed out",
    "protocol": "broke the stdio protocol",
    "errored": "failed with an error of its own",
}

_LAWS = {
    "determinism": "answered differently when asked again",
    "round-trip": "did not decode back to the input",
    "validity": "gave an encoding that is not valid",
    "offsets": "gave offsets that do not fit the input",
    "release-offsets": "gave other offsets than another release",
    "release-decode": "decoded ids otherwise than another release",
    "incremental": "counted a growing text wrongly",
    "interval": "counted a part of the input wrongly",
    "count-till-limit": "counted wrongly",
    "split": "split the input against the rules",
    "batch": "answered differently in a batch",
    "reload": "answered differently when saved and loaded again",
    "specials": "treated ordinary text differently with special tokens on",
    "streaming": "decoded differently token by token",
    "chunks": "encoded a text differently in two chunks",
}


def plural(number: int, noun: str, many: str = "") -> str:
    """``1 case``, ``1,204 cases``."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def title(finding: Found) -> str:
    """What happened, in words: ``tokenizers disagrees with tiktoken (pre-tokens)``."""
    dead = any(
        group.kind in DEATHS and set(group.implementations) & set(finding.culprits)
        for group in finding.groups
    )
    stage = "" if dead or not finding.stage else f" ({_stage(finding)})"
    return f"{heading(finding)}{stage}"


def heading(finding: Found) -> str:
    """The same without the stage: what is alike in it belongs together."""
    who = listed(finding.culprits) or "An implementation"
    groups = finding.groups
    for group in groups:
        if group.kind in DEATHS and set(group.implementations) & set(finding.culprits):
            return f"{listed(group.implementations)} {_DIED[group.kind]}"
    check = finding.check.replace("_", "-").replace(" ", "-")
    if check in _LAWS:
        return f"{who} {_LAWS[check]}"
    if check == "equivalence" and groups:
        verb = "disagrees" if len(finding.culprits) == 1 else "disagree"
        return f"{who} {verb} with {listed(groups[0].implementations)}"
    return f"{who}: {finding.check}"


def _stage(finding: Found) -> str:
    """The stage, with the kind of input that the bucket names after it: ``unknown: Mn``."""
    parts = finding.bucket.split("/")
    kind = parts[4] if len(parts) > 5 and parts[3] == finding.stage else ""
    return f"{finding.stage}: {kind}" if kind else finding.stage


def reason(record: RunRecord) -> str:
    """Why the verdict is what it is, in one sentence."""
    unexpected = len(record.unexpected)
    counted = plural(unexpected, "unexpected bucket of findings", "unexpected buckets of findings")
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
        return (
            f"No unexpected finding in {plural(record.comparisons, 'comparison')} of "
            f"{plural(len(record.implementations), 'implementation')} on "
            f"{plural(len(record.vocabularies), 'vocabulary', 'vocabularies')}{shown}."
        )
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
        return f"{listed(faults)}."
    return (
        record.finished.reasons[0]
        if record.finished and record.finished.reasons
        else ("The gate does not hold.")
    )


def safe_link(link: str | None) -> str | None:
    """A link that a report may make clickable: http or https, else None."""
    if link is None or not link.lower().startswith(("https://", "http://")):
        return None
    return link
