"""What comes before merging: special tokens are cut out, the rest is split into pre-tokens."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
import regex

from impls.bpe.tables import EMPTY
from impls.bpe.unicode_version import as_of_unicode_16
from impls.interface import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The pieces of a batch of inputs.

    data: all pieces, concatenated. ends: where each one ends in ``data``.
    given: the id of each piece that is a special token, EMPTY for the others; no entries at all
        where no piece can be special.
    counts: number of pieces of all inputs up to and including each one.
    """

    data: bytes
    ends: NDArray[np.int64]
    given: NDArray[np.int64]
    counts: NDArray[np.int64]


NONE_GIVEN = np.empty(0, dtype=np.int64)


class Cutter:
    """Cuts inputs as a vocabulary's pre-tokenizer and its special tokens ask for."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._splits = [regex.compile(split) for split in vocabulary.splits]
        always = {t.text: t.id for t in vocabulary.added_tokens if not t.special}
        self._always = SpecialTexts(always)
        self._special = SpecialTexts({**always, **vocabulary.special_tokens})
        self._form = vocabulary.normalizer.form

    def takes_whole(self, mode: Mode) -> bool:
        """Whether each input is one piece as it is, so that nothing has to be cut."""
        splits = mode.pretokenize and self._splits
        return not (splits or self._form or self._texts(mode))

    def cut(self, data: bytes, ends: NDArray[np.int64], mode: Mode) -> Pieces:
        """Cut a batch (as in ``EncodesBatches``). Raises Unsupported for invalid UTF-8."""
        if self.takes_whole(mode):
            return Pieces(data, ends, NONE_GIVEN, np.arange(1, len(ends) + 1, dtype=np.int64))
        texts = self._texts(mode)
        splits = self._splits if mode.pretokenize else []
        lengths: list[int] = []
        counts: list[int] = []
        given: list[int] = []
        normalized: list[str] = []
        start = 0
        for end in ends.tolist():
            text = _decode(data[start:end])
            start = end
            if self._form is not None:
                text = unicodedata.normalize(cast("_Form", self._form), text)
                normalized.append(text)
            if texts:
                for part, token_id in texts.cut_out(text):
                    pieces = [part] if token_id != EMPTY else _split(part, splits)
                    lengths.extend(_byte_lengths(pieces))
                    given.extend([token_id] * len(pieces))
            else:
                lengths.extend(_byte_lengths(_split(text, splits)))
            counts.append(len(lengths))
        return Pieces(
            "".join(normalized).encode() if self._form is not None else data,
            np.cumsum(lengths, dtype=np.int64),
            np.array(given, dtype=np.int64),
            np.array(counts, dtype=np.int64),
        )

    def changes(self, data: bytes) -> bool:
        """Whether normalization makes another text of ``data``."""
        if self._form is None:
            return False
        return unicodedata.normalize(cast("_Form", self._form), _decode(data)).encode() != data

    def _texts(self, mode: Mode) -> SpecialTexts:
        return self._special if mode.special == "all" else self._always


_Form = Literal["NFC", "NFD", "NFKC", "NFKD"]


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Unsupported(f"the pre-tokenizer needs UTF-8: {error.reason}") from None


def _byte_lengths(pieces: list[str]) -> list[int]:
    return [len(piece) if piece.isascii() else len(piece.encode()) for piece in pieces]


def _split(text: str, splits: list[regex.Pattern[str]]) -> list[str]:
    """Apply the splits one after another; a later one sees a piece as if it were the text."""
    dated = as_of_unicode_16(text) if splits else text
    pieces = [dated] if dated else []
    for split in splits:
        pieces = [part for piece in pieces for part in _matches_and_gaps(piece, split)]
    if dated is text:
        return pieces
    ends = accumulate(map(len, pieces))
    return [text[end - len(piece) : end] for piece, end in zip(pieces, ends, strict=True)]


def _matches_and_gaps(text: str, split: regex.Pattern[str]) -> list[str]:
    if not split.groups:
        matches = cast("list[str]", split.findall(text))
        # Matches do not overlap, so they leave no gap if their lengths add up; the usual case.
        if sum(map(len, matches)) == len(text) and "" not in matches:
            return matches
    pieces = []
    position = 0
    for match in split.finditer(text):
        start, end = match.span()
        pieces += [text[position:start], text[start:end]]
        position = end
    pieces.append(text[position:])
    return [piece for piece in pieces if piece]


class SpecialTexts:
    """Texts that stand for one token each, found leftmost and longest first."""

    def __init__(self, ids: dict[str, int]) -> None:
        self._ids = ids
        longest_first = sorted(ids, key=lambda text: (-len(text), text))
        either = "|".join(regex.escape(text) for text in longest_first)
        # A vocabulary may have a thousand of them; looking at the first character comes first,
        # as it rules nearly every place out.
        first = "".join(sorted({regex.escape(text[0]) for text in ids if text}))
        self._pattern = regex.compile(f"(?=[{first}])(?:{either})") if first else None

    def __bool__(self) -> bool:
        return self._pattern is not None

    def cut_out(self, text: str) -> Iterator[tuple[str, int]]:
        """Parts of ``text`` with their id, EMPTY for ordinary text."""
        position = 0
        for match in self._pattern.finditer(text) if self._pattern is not None else ():
            start, end = match.span()
            if position < start:
                yield text[position:start], EMPTY
            yield match[0], self._ids[match[0]]
            position = end
        if position < len(text):
            yield text[position:], EMPTY
