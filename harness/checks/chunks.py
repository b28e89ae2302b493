"""Chunks: a text cut where its pre-tokens part is encoded as its two halves are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Algorithm, PieceType
from harness.checks.base import (
    Check,
    Judgement,
    Observation,
    Probe,
    Severity,
    Violation,
    encoded_indices,
)
from harness.checks.serving import draw
from harness.core.comparisons import Contract
from harness.core.messages import Encode
from harness.core.outcomes import Encoded, Inputs, Outcome, Results
from harness.core.partition import Part
from harness.core.pretokens import piece_ends

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

LONGEST = 2048
"""Bytes: the pre-tokens of longer ones take too long to find here."""

TRIED = 4
"""Places at which a lawful cut is looked for."""

OVER = re.compile("[^\u2581]\u2581| ")
"""Text of a piece that reaches over a space."""

PLAIN = re.compile(rb"[0-9A-Za-z]+")
"""A word that no normalizer changes, nor joins with what stands beside it."""

SPACES = b" \n"
"""The white space before which a text for WordPiece may always be cut, since words end there."""


class Chunks(Check):
    """For uv with pieces(uv) = pieces(u) pieces(v): encode(uv) = encode(u) encode(v).

    pieces are the pre-tokens by the vocabulary's own patterns, so that whatever looks ahead over
    the cut is seen; for WordPiece, v begins with white space, and no added token that is found in
    texts reaches over it. It is cut between characters of ASCII, which are the same in every
    version of Unicode, at a place drawn from the input's own checksum. Not without
    pre-tokenization, nor where a normalizer sees the whole text, nor of a file that the plain model
    cannot express. Of SentencePiece's vocabularies in which a piece has U+2581 at its beginning
    alone: u ends and v begins with a word of ASCII letters and digits without a user-defined
    symbol, around one space, which is v's, as the dummy space if it has one. Sums of scores that
    are rounded from the text's beginning break it there; who answers as a reference does is not
    blamed besides it.
    """

    name = "chunks"
    summary = "a text cut where its pre-tokens part is encoded as its two halves are"
    severity = Severity.IDS
    said = "encoded a text differently in two chunks"
    every = 6

    def applies(self, contract: Contract) -> bool:
        """With pre-tokenization and nothing before it."""
        vocabulary = contract.vocabulary
        if contract.mode.special != "none" or not contract.mode.pretokenize:
            return False
        if vocabulary.unexpressed:
            return False  # of such a file nobody here knows where its pre-tokens part
        if vocabulary.algorithm is Algorithm.WORDPIECE:
            return all(token.special for token in vocabulary.added_tokens)
        if vocabulary.pieces:
            return words_apart(vocabulary)
        return bool(vocabulary.splits) and not vocabulary.normalizes and not vocabulary.added_tokens

    def probes(self, seen: Observation) -> list[Probe]:
        """Both halves of each input, to everybody who encodes it."""
        cuts = self._cuts(seen)
        return [
            Probe(name, Encode(Inputs.of(halves(seen, rows, cuts)), seen.contract.mode))
            for name, rows in self._rows(seen, cuts).items()
        ]

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Put the halves together."""
        judgement = Judgement()
        cuts = self._cuts(seen)
        trusted = seen.contract.references
        first: dict[tuple[int, Outcome, Outcome], str] = {}
        asked = zip(self._rows(seen, cuts).items(), answers, strict=True)
        # The references first: others who do as one of them does are right to follow it.
        for (name, rows), answer in sorted(asked, key=lambda one: one[0][0] not in trusted):
            for row, index in enumerate(rows):
                left, right = answer.outcome(2 * row), answer.outcome(2 * row + 1)
                whole = seen.results[name].outcome(index)
                parted = joined(left, right)
                if parted is None:
                    continue  # refused, or dead: not a matter of cutting
                judgement.exercised[name] += 1
                if parted != whole:
                    known = first.setdefault((index, whole, parted), name)
                    if known != name and known in trusted:
                        continue
                    parts = (
                        Part((f"{name} (whole)",), whole),
                        Part((f"{name} (cut at byte {cuts[index]})",), parted),
                    )
                    data = seen.inputs[index]
                    judgement.violations.append(
                        Violation(self.name, index, data, parts, (name,), "chunks")
                    )
        return judgement

    def _cuts(self, seen: Observation) -> dict[int, int]:
        """The inputs that can be cut, and where."""
        found = {}
        for index, data in enumerate(seen.inputs):
            place = lawful_cut(seen.contract, data)
            if place is not None:
                found[index] = place
        return found

    def _rows(self, seen: Observation, cuts: dict[int, int]) -> dict[str, list[int]]:
        return {
            name: [index for index in encoded_indices(results) if index in cuts]
            for name, results in seen.results.items()
            if name in seen.contract.exact
        }


def halves(seen: Observation, rows: Sequence[int], cuts: dict[int, int]) -> list[bytes]:
    """The halves of inputs, one after another."""
    vocabulary = seen.contract.vocabulary
    dummy = bool(vocabulary.pieces) and vocabulary.normalizer.add_dummy_prefix
    return [
        part
        for index in rows
        for data, at in ((seen.inputs[index], cuts[index]),)
        for part in (data[:at], data[at + dummy :])
    ]


@lru_cache(maxsize=4)
def words_apart(vocabulary: Vocabulary) -> bool:
    """Whether no piece reaches over a space between two words, and each word keeps its own."""
    rules = vocabulary.normalizer
    kept = rules.add_dummy_prefix or not rules.remove_extra_whitespaces
    if not rules.escape_whitespaces or rules.treat_whitespace_as_suffix or not kept:
        return False
    normal = {piece.text for piece in vocabulary.pieces if piece.type is PieceType.NORMAL}
    over = any(OVER.search(piece.text) for piece in vocabulary.pieces)
    return "\u2581" in normal and not over and not vocabulary.added_tokens


def lawful_cut(contract: Contract, data: bytes) -> int | None:
    """Where a text may be cut so that its pre-tokens stay what they are; None if nowhere is found.

    Drawn from the text's checksum, the same for the same text.
    """
    if contract.vocabulary.pieces:
        between = list(spaces_between(data, symbols(contract.vocabulary)))
        return draw(data).choice(between) if between else None
    if len(data) > LONGEST:
        return None
    wordy = contract.vocabulary.algorithm is Algorithm.WORDPIECE
    if wordy:
        places = [at for at in range(1, len(data)) if data[at] in SPACES]
    else:
        ends = piece_ends(contract.vocabulary, data) - {len(data)}
        places = sorted(at for at in ends if data[at - 1] < 0x80 and data[at] < 0x80)
    dice = draw(data)
    for at in dice.sample(places, min(TRIED, len(places))):
        if wordy or parts_there(contract, data, at, ends):
            return at
    return None


def spaces_between(data: bytes, cut_out: Sequence[bytes]) -> Iterator[int]:
    """The single spaces between plain words in which no user-defined symbol stands."""
    at = -1
    before = False
    for word in data.split(b" "):
        plain = PLAIN.fullmatch(word) is not None and not any(one in word for one in cut_out)
        if before and plain:
            yield at
        at += len(word) + 1
        before = plain


@lru_cache(maxsize=4)
def symbols(vocabulary: Vocabulary) -> list[bytes]:
    """User-defined symbols: some cut them out of a text before they put a dummy space in front."""
    defined = (one.text for one in vocabulary.pieces if one.type is PieceType.USER_DEFINED)
    return [text.strip("\u2581").encode() for text in defined]


def parts_there(contract: Contract, data: bytes, at: int, ends: set[int]) -> bool:
    """Whether the halves have the pre-tokens of the whole. ends: those of the whole."""
    left = piece_ends(contract.vocabulary, data[:at])
    right = {at + end for end in piece_ends(contract.vocabulary, data[at:])}
    return left | right == ends | {len(data)}


def joined(left: Outcome, right: Outcome) -> Encoded | None:
    """The ids of both, None if either was not encoded."""
    if isinstance(left, Encoded) and isinstance(right, Encoded):
        return Encoded(left.ids + right.ids)
    return None
