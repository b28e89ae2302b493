"""A finding, and a part of its partition, as the events and folders of findings have them."""

import base64
from collections.abc import Sequence
from typing import Any

from corpora.vocabularies.model import Vocabulary
from harness.checks.base import Violation, spellings
from harness.core.outcomes import Encoded, Outcome
from harness.core.partition import Part, first_difference
from harness.events import Found, Group
from harness.findings.entries import Entry
from harness.verdict.expectations import UNMINIMISED, Expectation
from impls.explanations import literal

IDS_SHOWN = 2000
"""Ids of one outcome that a record keeps; the folder of the finding has all."""

MESSAGE_SHOWN = 8 * 1024

TEXT_SHOWN = 24
"""Characters of texts that differ, from the first difference on, in a sentence."""

OFFSETS_SHOWN = 8
"""Spans in a sentence about offsets."""


def finding(
    entry: Entry,
    kind: str,
    identity: str,
    unminimised: str | None,
    expectation: Expectation | None,
    reproducer: str | None,
) -> Found:
    """A finding of this id. expectation: the entry that covers it."""
    contract, violation, case = entry.contract, entry.violation, entry.case
    vocabulary = contract.vocabulary
    place, sentence = difference(violation, vocabulary)
    return Found(
        id=identity,
        check=violation.check,
        stage=entry.label.stage,
        bucket=entry.bucket(kind),
        contract=contract.id,
        vocabulary=vocabulary.id,
        mode=contract.mode.label,
        culprits=list(violation.culprits),
        partition=[Group(**described(part, vocabulary)) for part in violation.parts],
        input_b64=in_base64(violation.data),
        difference=sentence,
        first_difference=place,
        **case.provenance(),
        original_bytes=len(case.data),
        minimal=is_minimal(kind, unminimised),
        unminimised=unminimised,
        expected=expectation.reason if expectation else None,
        link=expectation.link if expectation else None,
        reproducer=reproducer,
        explanation=entry.explanation,
        undecided=violation.undecided,
        mistake=entry.mistake,
    )


def is_minimal(kind: str, why: str | None) -> bool:
    """Whether the input of a finding is minimal. why: it was not made smaller."""
    return why is None and kind != UNMINIMISED


def in_base64(data: bytes) -> str:
    """Bytes as a record has them."""
    return base64.b64encode(data).decode("ascii")


def described(part: Part, vocabulary: Vocabulary) -> dict[str, Any]:
    """A part of a partition as :class:`harness.events.Group` has it."""
    outcome = part.outcome
    group: dict[str, Any] = {
        "implementations": list(part.names),
        "kind": outcome.status.label,
        "message": getattr(outcome, "message", "")[:MESSAGE_SHOWN],
    }
    if isinstance(outcome, Encoded):
        ids = outcome.ids[:IDS_SHOWN]
        known = [spellings(vocabulary, (token_id,)) for token_id in ids]
        group["ids"] = list(ids)
        group["total"] = len(outcome.ids)
        group["surfaces"] = [None if one is None else in_base64(one[0]) for one in known]
        if outcome.text is not None:
            group["decoded"] = in_base64(outcome.text)
        if outcome.offsets is not None:
            group["offsets"] = [list(span) for span in outcome.offsets[:IDS_SHOWN]]
    return group


def difference(violation: Violation, vocabulary: Vocabulary) -> tuple[int | None, str]:
    """The token at which the trusted outcome and the first culprit's differ first, and a sentence.

    The token is None where it is not tokens that differ.
    """
    if not violation.parts:
        return None, "no outcome to compare with"
    trusted, *others = violation.parts
    # Where one has died, others may differ from the trusted one, too.
    others.sort(key=lambda part: {*violation.culprits}.isdisjoint(part.names))
    parts = [trusted, *others[:1]]
    encodings = [part.outcome for part in parts if isinstance(part.outcome, Encoded)]
    if len(encodings) < 2:
        return None, "; ".join(f"{' = '.join(one.names)}: {_answer(one.outcome)}" for one in parts)
    ours, theirs = (" = ".join(part.names) for part in parts)
    one, other = encodings
    first = ""
    texts = [(encoding.text or b"").decode(errors="replace") for encoding in encodings]
    if violation.check == "chat" and (at := first_difference(*texts)) is not None:
        near = [literal(text[at : at + TEXT_SHOWN].encode()) for text in texts]
        told = (f"{text} in {names}" for text, names in zip(near, (ours, theirs), strict=True))
        first = f"text from character {at}: {', '.join(told)}; "
    compared: list[tuple[Sequence[Any], Sequence[Any]]] = [(one.ids, other.ids)]
    if one.text == other.text and violation.check == "release-offsets":
        compared.append((one.offsets or (), other.offsets or ()))
    for both in compared:
        if (at := first_difference(*both)) is not None:
            left, right = (_token(at, some, vocabulary) for some in both)
            return at, f"{first}token {at}: {left} in {ours}, {right} in {theirs}"
    if one.text != other.text:
        left, right = literal(one.text or b""), literal(other.text or b"")
        return None, f"{theirs} decodes {right} where {ours} has {left}"
    spans = list(other.offsets or ())[:OFFSETS_SHOWN]
    return None, f"{theirs}: offsets {spans} do not fit the text"


def _answer(outcome: Outcome) -> str:
    """An outcome in a sentence."""
    if isinstance(outcome, Encoded):
        return f"{len(outcome.ids)} token{'' if len(outcome.ids) == 1 else 's'}"
    line = outcome.message.split("\n", 1)[0]
    return f"{outcome.status.label} ({line})" if line else outcome.status.label


def _token(at: int, some: Sequence[Any], vocabulary: Vocabulary) -> str:
    """A token in a sentence: its id and text, or where it is; nothing stands behind the last."""
    if at == len(some):
        return "the end"
    value = some[at]
    if not isinstance(value, int):
        return f"at {value}"
    spelled = spellings(vocabulary, (value,))
    return f"{value} ({literal(spelled[0]) if spelled else 'not in the vocabulary'})"
