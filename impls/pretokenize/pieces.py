"""What comes before merging: special tokens are cut out, the rest is split into pre-tokens.

:class:`PlainCutter` leaves the splitting to the `regex` package, which defines it; what judges
other implementations rests on that one. :class:`Cutter` splits by a compiled scanner where one is
known for the pattern, which is about ten times as fast.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, cast

import numpy as np
import regex

from impls.interface import Unsupported
from impls.kernels.merge_tables import EMPTY
from impls.pretokenize.special_tokens import SpecialTexts
from impls.pretokenize.unicode_version import as_of_unicode_16, in_form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode
    from impls.kernels.layout import Bytes, Longs

    Split = Callable[
        [Bytes, Longs, Longs],
        tuple[Longs, Longs] | None,
    ]
    """A function of this type takes the parts' data, where each part ends, and what is given (as in
    :class:`Pieces`). It gives where each piece ends, and how many pieces there are up to and with
    each part, or None if a part is not UTF-8."""


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The pieces of a batch of inputs.

    data: all pieces, concatenated. ends: where each one ends in ``data``.
    given: the id of each piece that is a special token, EMPTY for the others; no entries at all
        where no piece can be special.
    counts: number of pieces of all inputs up to and including each one.
    """

    data: bytes
    ends: Longs
    given: Longs
    counts: Longs


NONE_GIVEN = np.empty(0, dtype=np.int64)


class PlainCutter:
    """Cuts inputs as a vocabulary's pre-tokenizer and its special tokens ask for."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._splits = vocabulary.splits
        self._scanner = self._scanner_of(vocabulary.splits)
        unknown = () if self._scanner is not None else vocabulary.splits
        self._expressions = [regex.compile(split) for split in unknown]
        always = {t.text: t.id for t in vocabulary.added_tokens if not t.special}
        self._always = _special_texts(always)
        self._special = _special_texts({**always, **vocabulary.special_tokens})
        self._form = vocabulary.normalizer.form

    def _scanner_of(self, splits: tuple[str, ...]) -> Split | None:
        """Return what splits in place of the `regex` package, None if nothing does."""
        del splits
        return None

    def takes_whole(self, mode: Mode) -> bool:
        """Whether each input is one piece as it is, so that nothing has to be cut."""
        splits = mode.pretokenize and self._splits
        return not (splits or self._form or self._texts(mode))

    def cut(self, data: bytes, ends: Longs, mode: Mode) -> Pieces:
        """Cut a batch (as in ``EncodesBatches``). Raises Unsupported for invalid UTF-8."""
        if self.takes_whole(mode):
            return Pieces(data, ends, NONE_GIVEN, np.arange(1, len(ends) + 1, dtype=np.int64))
        if self._form is not None:
            data, ends = _normalized(data, ends, self._form)
        scanner = self._scanner if mode.pretokenize else None
        codes = np.frombuffer(data, dtype=np.uint8)
        if scanner is None:
            _check(data, ends)

        texts = self._texts(mode)
        if texts:
            part_ends, given, part_counts = texts.cut_out(codes, ends)
        else:
            part_ends, given, part_counts = ends, NONE_GIVEN, None

        if scanner is not None:
            split = scanner(codes, part_ends, given)
            if split is None:
                _check(data, ends)
                raise AssertionError("the parts are UTF-8 if the inputs are")
            piece_ends, counts = split
        elif mode.pretokenize and self._splits:
            piece_ends, counts = self._split(data, part_ends, given)
        else:
            piece_ends, counts = part_ends, np.arange(1, len(part_ends) + 1, dtype=np.int64)
        if part_counts is None:
            return Pieces(data, piece_ends, NONE_GIVEN, counts)
        padded = np.concatenate((np.zeros(1, dtype=np.int64), counts))
        return Pieces(data, piece_ends, np.repeat(given, np.diff(padded)), padded[part_counts])

    def _split(self, data: bytes, part_ends: Longs, given: Longs) -> tuple[Longs, Longs]:
        """What a scanner does, by the `regex` package."""
        lengths: list[int] = []
        counts: list[int] = []
        start = 0
        for part, end in enumerate(part_ends.tolist()):
            if len(given) and given[part] != EMPTY:
                lengths.append(end - start)
            else:
                text = data[start:end].decode()
                pieces = _split(text, self._expressions)
                lengths.extend(byte_lengths(pieces, of_ascii=len(text) == end - start))
            counts.append(len(lengths))
            start = end
        piece_ends = np.array(list(accumulate(lengths)), dtype=np.int64)
        return piece_ends, np.array(counts, dtype=np.int64)

    def changes(self, data: bytes) -> bool:
        """Whether normalization makes another text of ``data``."""
        if self._form is None:
            return False
        return in_form(_decode(data), self._form).encode() != data

    def _texts(self, mode: Mode) -> SpecialTexts:
        return self._special if mode.special == "all" else self._always


class Cutter(PlainCutter):
    """Cuts by a compiled scanner the patterns that have one; the others as its base does."""

    def _scanner_of(self, splits: tuple[str, ...]) -> Split | None:
        # Only here, so that nothing of the scanners is needed where PlainCutter is used.
        from impls.pretokenize.scanners import scanner_of, split_parts  # noqa: PLC0415

        rules = scanner_of(splits)
        return None if rules is None else partial(split_parts, rules)


def _special_texts(ids: Mapping[str, int]) -> SpecialTexts:
    """What is found of them: a text with a surrogate is in no UTF-8."""
    found = {text: i for text, i in ids.items() if not _SURROGATE.search(text)}
    return SpecialTexts({text.encode(): i for text, i in found.items()})


_SURROGATE = re.compile("[\ud800-\udfff]")


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Unsupported(f"the pre-tokenizer needs UTF-8: {error.reason}") from None


def _check(data: bytes, ends: Longs) -> None:
    """Raise Unsupported if an input is not UTF-8."""
    start = 0
    for end in ends.tolist():
        _decode(data[start:end])
        start = end


def _normalized(data: bytes, ends: Longs, form: str) -> tuple[bytes, Longs]:
    """All inputs in a Unicode normalization form, and where they end now."""
    texts: list[bytes] = []
    start = 0
    for end in ends.tolist():
        text = _decode(data[start:end])
        texts.append(in_form(text, form).encode())
        start = end
    return b"".join(texts), np.cumsum([len(text) for text in texts], dtype=np.int64)


def byte_lengths(pieces: Iterable[str], *, of_ascii: bool) -> Iterable[int]:
    """The bytes of each piece in UTF-8."""
    if of_ascii:
        return map(len, pieces)
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
