"""A finding, and a part of its partition, as the events and folders of findings have them."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from harness.core.outcomes import Encoded
from harness.events import Found, Group
from harness.findings.diagnosis import bucket, difference

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from harness.core.partition import Part
    from harness.events.running import Explained
    from harness.findings.entries import Entry

IDS_SHOWN = 2000
"""Ids of one outcome that a record keeps; the folder of the finding has all."""

MESSAGE_SHOWN = 8 * 1024


def finding(entry: Entry, kind: str, identity: str) -> Found:
    """A finding of this id that is neither minimal nor expected, without its folder."""
    contract, violation, case = entry.contract, entry.violation, entry.case
    vocabulary = contract.vocabulary
    place, sentence = difference(violation, vocabulary)
    return Found(
        id=identity,
        check=violation.check,
        stage=entry.label.stage,
        bucket=bucket(entry.label, contract, kind),
        contract=contract.id,
        vocabulary=vocabulary.id,
        mode=contract.mode.label,
        culprits=list(violation.culprits),
        partition=[Group(**described(part, vocabulary)) for part in violation.parts],
        input_b64=base64.b64encode(violation.data).decode("ascii"),
        difference=sentence,
        first_difference=place,
        **case.provenance(),
        original_bytes=len(case.data),
        minimal=False,
        expected=None,
        link=None,
        reproducer=None,
        explanation=cast("Explained", asdict(entry.explanation)) if entry.explanation else None,
        undecided=violation.undecided,
        mistake=entry.mistake,
    )


def input_of(found: Found) -> bytes:
    """The input of a finding."""
    return base64.b64decode(found.input_b64)


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
        group["ids"] = list(ids)
        group["total"] = len(outcome.ids)
        group["surfaces"] = [surface(vocabulary, token_id) for token_id in ids]
        if outcome.text is not None:
            group["decoded"] = base64.b64encode(outcome.text).decode("ascii")
        if outcome.offsets is not None:
            group["offsets"] = [list(span) for span in outcome.offsets[:IDS_SHOWN]]
    return group


def surface(vocabulary: Vocabulary, token_id: int) -> str | None:
    """The bytes of an id in base64, None for one that the vocabulary does not have."""
    try:
        return base64.b64encode(vocabulary.spelling(token_id)).decode("ascii")
    except KeyError:
        return None
