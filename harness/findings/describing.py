"""A part of a partition as the events and folders of findings have it."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from harness.core.outcomes import Encoded

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from harness.core.partition import Part

IDS_SHOWN = 2000
"""Ids of one outcome that a record keeps; the folder of the finding has all."""

MESSAGE_SHOWN = 8 * 1024


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
