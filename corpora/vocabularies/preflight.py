"""What makes a vocabulary improper for an algorithm, found before anything runs on it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from corpora.vocabularies.merges import NO_RANK, cuts_by_rank, encode_by_pairs, pair_table
from corpora.vocabularies.model import Algorithm, Alphabet, PieceType, RankOrder
from corpora.vocabularies.remarks import remarks
from corpora.vocabularies.tables_on_disk import kept_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from corpora.vocabularies.merges import PairTable
    from corpora.vocabularies.model import Vocabulary

IMPROPER = frozenset({"not-self-encoding", "no-valid-split", "not-self-encoding-by-rank"})
"""Kinds of problems that take away what the validity of byte pairs rests on."""

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


def is_proper(problems: Iterable[Problem]) -> bool:
    """Whether the validity of byte pairs holds of a vocabulary with these problems."""
    return not any(problem.kind in IMPROPER for problem in problems)


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
    table = pair_table(vocabulary.merges)
    lost: list[int] = []
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
        if len(parts) > 1 and encode_by_pairs(parts, table) != [token_id]:
            lost.append(token_id)
    what = "tokens do not encode to themselves"
    return _of_tokens("not-self-encoding", vocabulary.tokens, lost, what)


def _self_encoding_by_rank(tokens: list[bytes | None]) -> list[Problem]:
    ids: dict[bytes, int] = {}
    for token_id, token in enumerate(tokens):
        if token:
            ids.setdefault(token, token_id)
    long = [(i, token) for i, token in enumerate(tokens) if token is not None and len(token) > 1]
    table, without = _valid_splits(long, ids)
    lost = [
        i
        for i, token in long
        if encode_by_pairs((ids.get(token[k : k + 1], -1) for k in range(len(token))), table) != [i]
    ]
    by_rank = [i for i, token in long if len(cuts_by_rank(token, ids)) > 2]
    what = "tokens do not encode to themselves"
    return [
        *_of_tokens("not-self-encoding", tokens, lost, f"{what} with one valid split a token"),
        *_of_tokens(
            "no-valid-split",
            tokens,
            without,
            "tokens of several bytes have no valid split into two earlier tokens",
        ),
        *_of_tokens(
            "not-self-encoding-by-rank",
            tokens,
            by_rank,
            f"{what} where any neighbours may merge (tiktoken)",
        ),
    ]


def _valid_splits(
    tokens: Iterable[tuple[int, bytes]], ids: Mapping[bytes, int]
) -> tuple[PairTable, list[int]]:
    """One split a token, as linear encoders derive it; and the tokens that have none.

    It is the one with the longest left part whose two parts are earlier tokens and a valid pair
    (docs/algorithms.md, pair validity). A pair's rank is the id of its result.
    """
    table: PairTable = {}
    halves: dict[int, tuple[int, int]] = {}
    without: list[int] = []
    for token_id, token in tokens:
        for cut in range(len(token) - 1, 0, -1):
            left, right = ids.get(token[:cut], token_id), ids.get(token[cut:], token_id)
            if max(left, right) < token_id and _valid(left, right, table, halves):
                table[left, right] = (token_id, token_id)
                halves[token_id] = (left, right)
                break
        else:
            without.append(token_id)
    return table, without


def _valid(left: int, right: int, table: PairTable, halves: Mapping[int, tuple[int, int]]) -> bool:
    """Whether encoding keeps two tokens apart: undo the newer one until single bytes meet."""
    limit = NO_RANK
    while True:
        if table.get((left, right), (limit,))[0] < limit:
            return False
        undo_left = left > right
        limit = left if undo_left else right + 1
        if (left if undo_left else right) not in halves:  # a byte: the other one is undone
            undo_left = not undo_left
            limit = left if undo_left else right + 1
            if (left if undo_left else right) not in halves:
                return True
        if undo_left:
            left = halves[left][1]
        else:
            right = halves[right][0]


def _byte(vocabulary: Vocabulary, byte: int) -> int:
    token_id = vocabulary.byte_ids[byte]
    return -1 if token_id is None else token_id


def _merge_order(vocabulary: Vocabulary) -> list[Problem]:
    """Merges whose result has a lower id than that of a merge before it."""
    if vocabulary.rank_order is not RankOrder.MERGES:
        return []  # the ids are the order, or scores are
    merged = vocabulary.merges.merged
    behind = np.nonzero(merged < np.maximum.accumulate(merged))[0] if len(merged) else merged
    what = "merges come after one of a higher id: ranks are not ids"
    return _of_tokens("ids-not-merge-order", vocabulary.tokens, merged[behind].tolist(), what)


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
    problems = _problem("duplicate-merges", examples, len(twice), "merges appear more than once")
    if vocabulary.rank_order is RankOrder.SCORES:
        return problems  # every split of a piece is a merge there, by definition
    results, ways = np.unique(merges.merged, return_counts=True)
    several = results[ways > 1].tolist()
    return problems + _of_tokens(
        "several-merges", vocabulary.tokens, several, "tokens have several merges"
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


def _of_tokens(
    kind: str, tokens: Sequence[bytes | None], ids: Sequence[int], what: str
) -> list[Problem]:
    """A problem of these tokens, or none without any."""
    return _problem(kind, [_show(tokens[i]) for i in ids[:_EXAMPLES]], len(ids), what)


def _show(token: bytes | None) -> str:
    """The text as a Python literal, or the bytes where they are not UTF-8."""
    if token is None:
        return "(none)"
    try:
        return ascii(token.decode())
    except UnicodeDecodeError:
        return repr(token)
