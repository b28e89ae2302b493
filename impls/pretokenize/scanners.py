"""Choosing the rules by the spelling of the pattern, and running them over a batch.

Patterns reach us in several spellings that match alike: with possessive quantifiers or without,
with the contractions as a list or factored. A spelling that is not listed here is run by the
`regex` package; it would be a guess that it means the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.patterns import PATTERNS
from impls.pretokenize.character_classes import class_table
from impls.pretokenize.scanner_kernel import NO_UTF8, scan_parts
from impls.pretokenize.scanner_rules import Rules, automaton

if TYPE_CHECKING:
    from collections.abc import Iterator

    from impls.kernels.layout import Bytes, Longs


def split_parts(
    rules: Rules,
    data: Bytes,
    part_ends: Longs,
    given: Longs,
) -> tuple[Longs, Longs] | None:
    """The ends of all pieces, and their number up to each part; None if a part is not UTF-8.

    See :func:`scan_parts`.
    """
    part_counts = np.empty(len(part_ends), dtype=np.int64)
    piece_ends = np.empty(len(data) + 2, dtype=np.int64)
    noted = np.empty(len(data), dtype=np.uint8)
    count = scan_parts(
        data, class_table(), noted, part_ends, given, automaton(rules), rules.fold,
        rules.white_to_end, piece_ends, part_counts,
    )  # fmt: skip
    return None if count == NO_UTF8 else (piece_ends[:count], part_counts)


_GPT2 = Rules(cased=False, digits=0, contraction="own", prefix="space", fold=False, line_ends=False)
_CL100K = Rules(cased=False, digits=3, contraction="own")
_CL100K_WHITE_TO_END = Rules(cased=False, digits=3, contraction="own", white_to_end=True)
_QWEN2 = Rules(cased=False, digits=1, contraction="own")
_O200K = Rules(cased=True, digits=3, contraction="word", slash=True)
_TEKKEN = Rules(cased=True, digits=1, contraction="none", slash=True)

_LISTED = r"(?:'s|'t|'re|'ve|'m|'ll|'d)"
_FACTORED = r"'(?:[sdmt]|ll|ve|re)"
_FOLDED = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)", r"'(?i:[sdmt]|ll|ve|re)")


def _spellings() -> Iterator[tuple[str, Rules]]:
    """Every spelling that is known to match like the one of PATTERNS, with its rules.

    The tests run each one by the `regex` package and compare.
    """
    yield PATTERNS["gpt2"][0], _GPT2
    for contractions in (_LISTED, _FACTORED):
        words = r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+"
        yield rf"{contractions}|{words}|\s+(?!\S)|\s+", _GPT2
        possessive = r" ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++"
        # tiktoken 0.7 and later; where the text ends, so does the look-ahead.
        yield rf"{contractions}|{possessive}|\s++$|\s+(?!\S)|\s", _GPT2
    for digits, rules in ((r"\p{N}{1,3}", _CL100K), (r"\p{N}", _QWEN2)):
        for contractions in _FOLDED:
            yield (
                (
                    rf"{contractions}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{digits}"
                    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
                ),
                rules,
            )
    for contractions in _FOLDED:
        # tiktoken 0.6, and transformers' cl100k.
        yield (
            (
                rf"{contractions}|[^\r\n\p{{L}}\p{{N}}]?+\p{{L}}+|\p{{N}}{{1,3}}"
                r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
            ),
            _CL100K,
        )
        # tiktoken 0.8 and later.
        yield (
            (
                rf"{contractions}|[^\r\n\p{{L}}\p{{N}}]?+\p{{L}}++|\p{{N}}{{1,3}}+"
                r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
            ),
            _CL100K_WHITE_TO_END,
        )
    yield PATTERNS["o200k_base"][0], _O200K
    yield PATTERNS["o200k_base"][0].replace(_FOLDED[0], f"(?:{_FOLDED[1]})"), _O200K
    yield PATTERNS["tekken"][0], _TEKKEN


SCANNERS: dict[str, Rules] = dict(_spellings())
"""The scanners by the exact spelling of their pattern."""


def scanner_of(splits: tuple[str, ...]) -> Rules | None:
    """The rules of a vocabulary's splits, None where the `regex` package must run them."""
    return SCANNERS.get(splits[0]) if len(splits) == 1 else None
