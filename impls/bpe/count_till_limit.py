"""Counting that stops at a limit: never more is read than ``limit`` tokens can be long.

As one piece, the text is read in growing parts until every place where a token may end has the
limit before it. With one of the known pre-tokenizers, growing windows of the text are cut and
encoded. Any other pattern, and special tokens without pre-tokenization, may look anywhere: then all
of the text is encoded. (After ``count_till_limit`` of the `bpe` crate by GitHub, which gives up 10
tokens beyond the limit without a proof that backtracking never takes back as many.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.pattern_spellings import plain_spelling
from corpora.vocabularies.patterns import PATTERNS

if TYPE_CHECKING:
    from impls.bpe.append import Appender
    from impls.bpe.encoder import BpeEncoder
    from impls.interface import Mode

LOCAL = {plain_spelling(PATTERNS[name][0]) for name in ("gpt2", "cl100k_base", "o200k_base")} | {
    plain_spelling(PATTERNS[name][0]) for name in ("qwen2", "tekken")
}
"""The patterns that are known to need no more than a few characters of context."""

WINDOW = 4096
"""Bytes of a text that are cut into pre-tokens at first."""

UNCERTAIN = 4
"""Last pre-tokens of a window that are not yet believed: with text after them they may come out
otherwise. The known patterns change two at most: a contraction joins the word before it, a run of
white space gives its last character away."""


def is_local(splits: tuple[str, ...]) -> bool:
    """Whether a pre-tokenizer is known to need no more than a few characters of context."""
    return len(splits) == 1 and plain_spelling(splits[0]) in LOCAL


def piece_till_limit(growing: Appender, data: bytes, limit: int, longest: int) -> int | None:
    """The tokens of a text that is one piece, None above the limit.

    growing: an empty text. longest: bytes of the longest token.
    """
    while len(growing) < len(data):
        size = max(4 * limit + longest, len(growing))
        counts = growing.extend(data[len(growing) : len(growing) + size])
        # A token ends in every run of ``longest`` places, and one more is to come.
        if len(growing) < len(data) and counts[-longest:].min() >= limit:
            return None
    return growing.count if growing.count <= limit else None


def windows_till_limit(
    encoder: BpeEncoder, data: bytes, limit: int, mode: Mode, longest: int, size: int
) -> int | None:
    """The tokens of a text that is cut by a local pattern, None above the limit.

    size: bytes of the first window.
    """
    count = 0
    start = 0
    while True:
        end = min(len(data), start + size)
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        window = data[start:end]
        pieces = encoder.cut(window, np.array([len(window)], dtype=np.int64), mode)
        ids, id_ends = encoder.encode_pieces(pieces)
        if end == len(data):
            count += len(ids)
            return count if count <= limit else None
        # A special token that the window's end cuts in two may begin so far before it.
        certain = int(np.searchsorted(pieces.ends, len(window) - longest, "right"))
        certain -= UNCERTAIN
        if certain > 0:
            count += int(id_ends[certain - 1])
            start += int(pieces.ends[certain - 1])
            if count >= limit:  # at least one more is to come
                return None
        size *= 2
