"""What makes a vocabulary improper for an algorithm, found before anything runs on it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from corpora.vocabularies.improper import encodings_by_merges, encodings_by_valid_splits
from corpora.vocabularies.merges import NO_RANK, Spellings
from corpora.vocabularies.model import Algorithm, Alphabet, PieceType, RankOrder
from corpora.vocabularies.remarks import remarks
from corpora.vocabularies.tables_on_disk import kept_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from corpora.vocabularies.model import Vocabulary

_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Problem:
    """One way in which a vocabulary is improper.

    kind: ``not-self-encoding``, ``no-valid-split``, ``not-self-encoding-by-rank``,
    ``missing-bytes``, ``ids-not-merge-order``, ``duplicate-merges``, ``several-merges``,
    ``duplicate-tokens``, ``odd-scores``, ``no-unknown``, ``missing-byte-pieces``,
        ``limits-comparison``.
    count: of the tokens (bytes, merges, pieces) concerned. examples: up to three of them, spelled.
    message: one line for a report.
    """

    kind: str
    count: int
    examples: tuple[str, ...]
    message: str


def preflight(vocabulary: Vocabulary) -> list[Problem]:
    """The problems of ``vocabulary``; none for one that every algorithm can run."""
    if vocabulary.unexpressed:
        return _remarks(vocabulary)
    # Remarks are about the file, too, which the fingerprint does not cover.
    content = kept_bytes(vocabulary, "preflight", lambda: msgspec.json.encode(_found(vocabulary)))
    return _remarks(vocabulary) + msgspec.json.decode(content, type=list[Problem])


def _found(vocabulary: Vocabulary) -> list[Problem]:
    checks: list[Callable[[Vocabulary], list[Problem]]] = [_duplicate_tokens]
    if vocabulary.algorithm is Algorithm.BPE:
        checks += [_self_encoding, _merge_order, _merge_duplicates]
    if vocabulary.alphabet is Alphabet.BYTES and not vocabulary.pieces:
        checks.append(_missing_bytes)
    if vocabulary.pieces:
        checks += [_scores, _unknown, _byte_pieces]
    if vocabulary.algorithm is Algorithm.WORDPIECE:
        checks.append(_unknown)
    return [problem for check in checks for problem in check(vocabulary)]


def _remarks(vocabulary: Vocabulary) -> list[Problem]:
    return [Problem("limits-comparison", 1, (), line) for line in remarks(vocabulary)]


def _self_encoding(vocabulary: Vocabulary) -> list[Problem]:
    """Tokens that encode to other tokens, each rank order by its own meaning."""
    added = {token.id for token in vocabulary.added_tokens}
    tokens = [None if i in added else token for i, token in enumerate(vocabulary.tokens)]
    if vocabulary.rank_order is RankOrder.IDS:
        return _self_encoding_by_rank(tokens)
    ids = vocabulary.ids
    symbols: list[list[int]] = []
    owners: list[int] = []
    characters = vocabulary.alphabet is Alphabet.CHARACTERS
    pieces = vocabulary.pieces
    texts = {p.text: i for i, p in enumerate(pieces) if p.type is not PieceType.BYTE}
    for token_id, token in enumerate(tokens):
        if token is None or ids[token] != token_id:
            continue  # of equal tokens the first is meant; _duplicate_tokens tells of the others
        if characters:
            if pieces and pieces[token_id].type not in (PieceType.NORMAL, PieceType.UNUSED):
                continue  # frozen symbols and byte pieces are not made by merging
            parts = [texts.get(character, -1) for character in token.decode()]
        else:
            parts = [_byte(vocabulary, byte) for byte in token]
        if len(parts) > 1:
            owners.append(token_id)
            symbols.append(parts)
    encoded = encodings_by_merges(vocabulary.merges, symbols)
    lost = [
        owner for owner, result in zip(owners, encoded.tolist(), strict=True) if owner != result
    ]
    return _problem(
        "not-self-encoding",
        _spelled(vocabulary.tokens, lost),
        len(lost),
        "tokens do not encode to themselves",
    )


def _self_encoding_by_rank(tokens: list[bytes | None]) -> list[Problem]:
    spellings = Spellings.of(tokens)
    counts, _, _ = spellings.reduce(np.full(len(tokens), NO_RANK, dtype=np.int64))
    by_rank = np.nonzero(counts > 1)[0].tolist()
    without, lost = encodings_by_valid_splits(spellings)
    lost_ids, without_ids = np.nonzero(lost)[0].tolist(), np.nonzero(without)[0].tolist()
    return [
        *_problem(
            "not-self-encoding",
            _spelled(tokens, lost_ids),
            len(lost_ids),
            "tokens do not encode to themselves with one valid split a token",
        ),
        *_problem(
            "no-valid-split",
            _spelled(tokens, without_ids),
            len(without_ids),
            "tokens of several bytes have no valid split into two earlier tokens",
        ),
        *_problem(
            "not-self-encoding-by-rank",
            _spelled(tokens, by_rank),
            len(by_rank),
            "tokens do not encode to themselves where any neighbours may merge (tiktoken)",
        ),
    ]


def _byte(vocabulary: Vocabulary, byte: int) -> int:
    token_id = vocabulary.byte_ids[byte]
    return -1 if token_id is None else token_id


def _merge_order(vocabulary: Vocabulary) -> list[Problem]:
    """Merges whose result has a lower id than that of a merge before it."""
    if vocabulary.rank_order is not RankOrder.MERGES:
        return []  # the ids are the order, or scores are
    merged = vocabulary.merges.merged
    behind = np.nonzero(merged < np.maximum.accumulate(merged))[0] if len(merged) else merged
    return _problem(
        "ids-not-merge-order",
        _spelled(vocabulary.tokens, merged[behind][:_EXAMPLES].tolist()),
        len(behind),
        "merges come after one of a higher id: ranks are not ids",
    )


def _merge_duplicates(vocabulary: Vocabulary) -> list[Problem]:
    """Pairs that stand twice, and tokens with several merges."""
    merges = vocabulary.merges
    pairs = merges.left.astype(np.int64) << 32 | merges.right
    unique, times = np.unique(pairs, return_counts=True)
    twice = unique[times > 1]
    examples = [
        f"{_show(vocabulary.tokens[pair >> 32])} {_show(vocabulary.tokens[pair & 0xFFFFFFFF])}"
        for pair in twice[:_EXAMPLES].tolist()
    ]
    problems = _problem("duplicate-merges", examples, len(twice), "merges stand more than once")
    if vocabulary.rank_order is RankOrder.SCORES:
        return problems  # every split of a piece is a merge there, by definition
    results, ways = np.unique(merges.merged, return_counts=True)
    several = results[ways > 1].tolist()
    return problems + _problem(
        "several-merges",
        _spelled(vocabulary.tokens, several),
        len(several),
        "tokens have several merges",
    )


def _duplicate_tokens(vocabulary: Vocabulary) -> list[Problem]:
    """Tokens (pieces) of the same spelling. A byte piece is not the character that it spells."""
    spellings: Iterable[bytes | str | None]
    if vocabulary.pieces:
        spellings = (piece.text or None for piece in vocabulary.pieces)
    else:
        spellings = vocabulary.tokens
    times = Counter(spelling for spelling in spellings if spelling is not None)
    twice = [spelling for spelling, count in times.items() if count > 1]
    shown = [_show(s) if isinstance(s, bytes) else repr(s) for s in twice[:_EXAMPLES]]
    kind = "pieces" if vocabulary.pieces else "tokens"
    return _problem("duplicate-tokens", shown, len(twice), f"{kind} have more than one id")


def _missing_bytes(vocabulary: Vocabulary) -> list[Problem]:
    missing = [byte for byte, token_id in enumerate(vocabulary.byte_ids) if token_id is None]
    shown = [f"0x{byte:02X}" for byte in missing[:_EXAMPLES]]
    return _problem("missing-bytes", shown, len(missing), "bytes have no token")


def _scores(vocabulary: Vocabulary) -> list[Problem]:
    odd = [piece for piece in vocabulary.pieces if not math.isfinite(piece.score)]
    shown = [f"{piece.text!r} {piece.score}" for piece in odd[:_EXAMPLES]]
    return _problem("odd-scores", shown, len(odd), "pieces have a score that is NaN or infinite")


def _unknown(vocabulary: Vocabulary) -> list[Problem]:
    if vocabulary.unk_id is not None:
        return []
    return _problem("no-unknown", [], 1, "piece is missing: the unknown token")


def _byte_pieces(vocabulary: Vocabulary) -> list[Problem]:
    if not vocabulary.byte_fallback:
        return []
    there = {
        token
        for piece, token in zip(vocabulary.pieces, vocabulary.tokens, strict=True)
        if piece.type is PieceType.BYTE
    }
    missing = [byte for byte in range(256) if bytes([byte]) not in there]
    shown = [f"<0x{byte:02X}>" for byte in missing[:_EXAMPLES]]
    return _problem(
        "missing-byte-pieces", shown, len(missing), "byte pieces are missing under byte fallback"
    )


def _problem(kind: str, examples: Sequence[str], count: int, what: str) -> list[Problem]:
    """A list of one problem, or none for a count of zero."""
    if not count:
        return []
    shown = f" ({', '.join(examples)}{', ..' if count > len(examples) else ''})" if examples else ""
    return [Problem(kind, count, tuple(examples), f"{count:,} {what}{shown}")]


def _spelled(tokens: Sequence[bytes | None], ids: Sequence[int]) -> list[str]:
    return [_show(tokens[token_id]) for token_id in ids[:_EXAMPLES]]


def _show(token: bytes | None) -> str:
    """The text as a Python literal, or the bytes where they are not UTF-8."""
    if token is None:
        return "(none)"
    try:
        return ascii(token.decode())
    except UnicodeDecodeError:
        return repr(token)
