"""Chunks: a text cut between pre-tokens gives the ids of its two halves."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from corpora.vocabularies.model import Algorithm, PieceType, Vocabulary
from harness.checks.another_way import AsksAgain, Look, Subject
from harness.checks.base import Judgement, Observation, draw, without_specials
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded
from harness.core.pretokens import piece_ends

LONGEST = 2048
"""Bytes: the pre-tokens of longer ones take too long to find here."""

TRIED = 4
"""Places at which a lawful cut is looked for."""

OVER = re.compile("[^\u2581]\u2581| ")
"""Text of a piece that reaches over a space."""

PLAIN = re.compile(rb"(?:^|(?<= ))([0-9A-Za-z]+) (?=([0-9A-Za-z]+)(?: |\Z))")
"""Two words that no normalizer changes, nor joins with what stands beside them, and one space."""

SPACES = b" \n"
"""The white space before which a text for WordPiece may always be cut, since words end there."""


class Chunks(AsksAgain):
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
    summary = "a text cut between pre-tokens gives the ids of its two halves"
    said = "encoded a text differently in two chunks"
    every = 6

    def applies(self, contract: Contract) -> bool:
        """With pre-tokenization and nothing before it."""
        vocabulary = contract.vocabulary
        # Of a file that the plain model cannot express nobody here knows where its pre-tokens part.
        if not (without_specials(contract) and contract.mode.pretokenize) or vocabulary.unexpressed:
            return False
        if vocabulary.algorithm is Algorithm.WORDPIECE:
            return all(token.special for token in vocabulary.added_tokens)
        if vocabulary.pieces:
            return words_apart(vocabulary)
        return bool(vocabulary.splits) and not vocabulary.normalizes and not vocabulary.added_tokens

    def look(self, one: Subject) -> Look:
        """Ask for both halves, and put them together."""
        at = lawful_cut(one.vocabulary, one.data) if one.name in one.contract.exact else None
        if at is None:
            return
        dummy = bool(one.vocabulary.pieces) and one.vocabulary.normalizer.add_dummy_prefix
        left, right = yield [one.encode(one.data[:at]), one.encode(one.data[at + dummy :])]
        # One that was refused, or died, is not a matter of cutting.
        if isinstance(left, Encoded) and isinstance(right, Encoded):
            parted, whole = Encoded(left.ids + right.ids), one.says(one.outcome, "whole")
            one.expect(self.name, whole, parted, f"cut at byte {at}")

    def compare(self, seen: Observation, judgement: Judgement, told: Mapping[Subject, Any]) -> None:
        """Drop whoever does as a reference does, and is right to follow it."""
        trusted = seen.contract.references
        told_of: dict[object, str] = {}
        kept = []
        # The references first.
        for one in sorted(judgement.violations, key=lambda one: one.culprits[0] not in trusted):
            (name,) = one.culprits
            known = told_of.setdefault((one.index, *(part.outcome for part in one.parts)), name)
            if known == name or known not in trusted:
                kept.append(one)
        judgement.violations = kept


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


@lru_cache(maxsize=256)
def lawful_cut(vocabulary: Vocabulary, data: bytes) -> int | None:
    """Where a text may be cut so that its pre-tokens stay what they are; None if nowhere is found.

    Drawn from the text's checksum, the same for the same text.
    """
    ends: set[int] | None = None
    if vocabulary.pieces:
        places = spaces_between(data, symbols(vocabulary))
    elif len(data) > LONGEST:
        return None
    elif vocabulary.algorithm is Algorithm.WORDPIECE:
        places = [at for at in range(1, len(data)) if data[at] in SPACES]
    else:
        ends = piece_ends(vocabulary, data)
        inside = ends - {len(data)}
        places = sorted(at for at in inside if data[at - 1] < 0x80 and data[at] < 0x80)
    for at in draw(data).sample(places, min(TRIED, len(places))):
        right = {at + end for end in piece_ends(vocabulary, data[at:])} if ends else set()
        if ends is None or piece_ends(vocabulary, data[:at]) | right == ends:
            return at
    return None


def spaces_between(data: bytes, cut_out: Sequence[bytes]) -> list[int]:
    """The single spaces between plain words in which no user-defined symbol stands."""
    return [
        two.end() - 1
        for two in PLAIN.finditer(data)
        if not any(one in word for word in two.groups() for one in cut_out)
    ]


@lru_cache(maxsize=4)
def symbols(vocabulary: Vocabulary) -> list[bytes]:
    """User-defined symbols: some cut them out of a text before they put a dummy space in front."""
    defined = (one.text for one in vocabulary.pieces if one.type is PieceType.USER_DEFINED)
    return [text.strip("\u2581").encode() for text in defined]
