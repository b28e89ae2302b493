"""What a user must know of a vocabulary to read a verdict on it rightly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.tiktoken_file import NO_PATTERN

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

SHOWN = 8
"""Steps that are named: a file may have hundreds."""


def remarks(vocabulary: Vocabulary) -> list[str]:
    """A line each; none for a vocabulary of which everything can be compared."""
    remarks = []
    if vocabulary.unexpressed:
        steps = vocabulary.unexpressed
        more = f"; and {len(steps) - SHOWN} more" if len(steps) > SHOWN else ""
        remarks.append(
            f"compared only among implementations that read {vocabulary.format} files themselves, "
            f"because the plain model cannot express {'; '.join(steps[:SHOWN])}{more}"
        )
    if vocabulary.native is not None and vocabulary.native.understood:
        remarks.append(vocabulary.native.understood)
    if vocabulary.native is not None:
        remarks += vocabulary.native.remarks
    if vocabulary.dropout:
        held = "the check reachability does not apply to this file"
        if not vocabulary.unexpressed:
            held = "the check reachability tests libraries that encode with it"
        remarks.append(
            f"model.dropout {vocabulary.dropout:g} is not used in comparisons, because it is only "
            f"for training; {held}"
        )
    if vocabulary.format == "tiktoken" and not vocabulary.splits and vocabulary.source_path:
        remarks.append(NO_PATTERN)
    return remarks
