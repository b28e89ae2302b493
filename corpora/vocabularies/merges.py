"""Deriving merges where a format has none: from ids (tiktoken), from scores (SentencePiece).

The split of a token is what byte-pair encoding of its bytes with only lower-ranked tokens leaves
as exactly two tokens. As in tiktoken, any two neighbours whose concatenation is a token may merge,
whatever that token's own split is.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from corpora.vocabularies.limits import MAX_MERGES, MAX_PIECE_CHARACTERS, check_count
from corpora.vocabularies.model import Merges, PieceType
from corpora.vocabularies.pieces import Pieces
from corpora.vocabularies.tables_on_disk import SMALLEST, kept

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Piece

# Rabin-Karp over bytes: with this modulus (2^31 - 1) and multiplier every product stays below 2^62,
# so nothing overflows, compiled or interpreted. Hits are compared byte for byte.
_MODULUS = 2147483647
_BASE = 1000003

_MODULES = ("merges.py", "pieces.py")

NO_RANK = 1 << 40
"""A rank above all ranks: no limit, no pair."""

MERGEABLE = frozenset({PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.UNUSED})
"""Pieces that SentencePiece's BPE may build or use: those of its ``pieces_`` map. The others
(control, unknown, bytes) live in its reserved map, which merging never asks. UNUSED pieces are
built, and taken apart again at the end."""


@dataclass(frozen=True, slots=True, eq=False)
class Spellings:
    """The tokens' bytes end to end, with a hash table from bytes to id (for compiled code).

    blob: uint8, all tokens' bytes; starts: int64, n + 1 offsets (a None token is empty);
    ranks: int64 of n; slots: int32, open addressing with -1 for free, a power of two long;
    powers: int64, ``_BASE ** k`` for k up to the longest token.
    """

    blob: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ranks: NDArray[np.int64]
    slots: NDArray[np.int32]
    powers: NDArray[np.int64]

    @classmethod
    def of(cls, tokens: Sequence[bytes | None], ranks: Sequence[int] | None = None) -> Spellings:
        """Tables of ``tokens``; ``ranks[i]`` is the rank of token i (its id if not given).

        Where several tokens have the same bytes, the first is found.
        """
        texts = [token or b"" for token in tokens]
        blob = np.frombuffer(b"".join(texts), dtype=np.uint8)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        starts = np.zeros(len(tokens) + 1, dtype=np.int64)
        np.cumsum(lengths, out=starts[1:])
        of_rank = np.arange(len(tokens)) if ranks is None else np.array(ranks)
        powers = np.ones(int(lengths.max(initial=0)) + 1, dtype=np.int64)
        for k in range(1, len(powers)):
            powers[k] = int(powers[k - 1]) * _BASE % _MODULUS
        slots = np.full(1 << max(4, (2 * len(tokens)).bit_length()), -1, dtype=np.int32)
        _fill(blob, starts, slots)
        return cls(blob, starts, of_rank.astype(np.int64), slots, powers)

    def reduce(
        self, limits: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Encode every token's bytes with only the tokens ranked below ``limits`` (int64 of n).

        Returns int32 arrays of n: how many parts are left, and the ids of the first and of the
        last of them (-1 where a part is no token: a byte that the vocabulary lacks).
        """
        count = np.zeros(len(self.ranks), dtype=np.int32)
        first = np.full(len(self.ranks), -1, dtype=np.int32)
        last = np.full(len(self.ranks), -1, dtype=np.int32)
        _reduce(
            self.blob, self.starts, self.ranks, self.slots, self.powers, limits, count, first, last
        )
        return count, first, last

    def halves(self, *, characters: bool, most: int) -> tuple[int, NDArray[np.int32]]:
        """How many ways there are to part tokens, between characters, into two tokens, and these.

        The spellings are UTF-8. characters: a half of one character need be no token, and is -1
        then. Each way is a row: token, left, right, and the characters of both halves. If there are
        more than ``most`` the rows are not all of them.
        """
        rows = np.empty((4 * len(self.ranks), 5), dtype=np.int32)
        count = _halves(self.blob, self.starts, self.slots, self.powers, characters, rows)
        if len(rows) < count <= most:
            rows = np.empty((count, 5), dtype=np.int32)
            _halves(self.blob, self.starts, self.slots, self.powers, characters, rows)
        return count, rows[:count]


def merges_from_ranks(tokens: Sequence[bytes | None], ranks: Sequence[int] | None = None) -> Merges:
    """The merge of each multi-byte token, by rank (``ranks[i]`` of token i, by default its id).

    A token whose bytes lower-ranked tokens leave in more than two parts has no merge: encoding
    does not reach it from its own bytes alone. Of tokens with the same bytes the first counts.
    Those of a large vocabulary are kept on disk.
    """
    if len(tokens) < SMALLEST:
        return _derived(Spellings.of(tokens, ranks))
    texts = [token or b"" for token in tokens]
    lengths = np.fromiter(map(len, texts), np.int32, len(texts))
    digest = hashlib.sha256()
    for part in (
        b"".join(texts),
        lengths.tobytes(),
        b"" if ranks is None else repr(ranks).encode(),
    ):
        digest.update(hashlib.sha256(part).digest())

    def derive() -> NDArray[np.int32]:
        merges = _derived(Spellings.of(tokens, ranks))
        return np.concatenate((merges.left, merges.right, merges.merged))

    return _merges(kept(f"{digest.hexdigest()[:40]}-merges", derive, _source()))


@cache
def _source() -> bytes:
    """The source of the modules by which merges are derived."""
    return b"".join(Path(__file__).with_name(name).read_bytes() for name in _MODULES)


def _derived(spellings: Spellings) -> Merges:
    """The merges of :func:`merges_from_ranks`."""
    count, left, right = spellings.reduce(spellings.ranks)
    merged = np.nonzero((count == 2) & (left >= 0) & (right >= 0))[0]
    merged = merged[np.argsort(spellings.ranks[merged], kind="stable")]
    return Merges(
        np.ascontiguousarray(left[merged]),
        np.ascontiguousarray(right[merged]),
        merged.astype(np.int32),
    )


def merges_from_scores(pieces: Sequence[Piece], source: str = "pieces") -> Merges:
    """Every split of a piece into two pieces, best score first, as Hugging Face's converter.

    Equal scores: the longer left part first, then the longer right part (in characters), then the
    lower id of the result (``generate_merges`` in transformers, which sorts stably). Unlike there,
    only :data:`MERGEABLE` pieces take part, so that text spelling ``</s>`` is not merged into the
    control token. Pieces whose score is not a number stand last. Raises VocabularyError, which
    names ``source``, for more of them than :mod:`corpora.vocabularies.limits` allows. Those of a
    large vocabulary are kept on disk.
    """
    columns = Pieces.of(pieces)
    if len(columns) < SMALLEST:
        return _merges(_by_score(columns, source))
    digest = hashlib.sha256()
    columns.update(digest.update)
    name = f"{digest.hexdigest()[:40]}-score-merges"
    return _merges(kept(name, lambda: _by_score(columns, source), _source()))


def _by_score(pieces: Pieces, source: str) -> NDArray[np.int32]:
    """The columns of :func:`merges_from_scores`, one behind another."""
    tokens: list[bytes | None] = [None] * len(pieces)
    spelled = pieces.spelled
    for piece_id in pieces.of_types(*MERGEABLE):
        tokens[piece_id] = spelled[piece_id]
    spellings = Spellings.of(tokens)
    characters = int(np.count_nonzero((spellings.blob & 0xC0) != 0x80))
    check_count(characters, MAX_PIECE_CHARACTERS, "characters in its pieces", source)
    count, rows = spellings.halves(characters=False, most=MAX_MERGES)
    check_count(count, MAX_MERGES, "merges", source)
    merged, left, right, left_lengths, right_lengths = rows.T
    scores = pieces.score_column[merged]
    keys = np.where(np.isnan(scores), np.inf, -scores)
    order = np.lexsort([merged, -right_lengths, -left_lengths, keys])
    return np.concatenate((left[order], right[order], merged[order]))


def _merges(columns: NDArray[np.int32]) -> Merges:
    """The merges of three columns, one behind another."""
    # Compiled code is another one for arrays that nobody may write to.
    return Merges(*columns.reshape(3, -1).copy())


@njit
def _fill(blob: NDArray[np.uint8], starts: NDArray[np.int64], slots: NDArray[np.int32]) -> None:
    """Enter every non-empty token into ``slots``; the first of equal ones stays."""
    mask = len(slots) - 1
    for token in range(len(starts) - 1):
        start, length = starts[token], starts[token + 1] - starts[token]
        if length == 0:
            continue
        key = np.int64(0)
        for k in range(length):
            key = (key * _BASE + np.int64(blob[start + k]) + 1) % _MODULUS
        slot = key & mask
        while slots[slot] >= 0 and not _same(blob, starts, slots[slot], start, length):
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = token


@njit
def _same(
    blob: NDArray[np.uint8], starts: NDArray[np.int64], token: int, at: int, length: int
) -> bool:
    """Whether ``token`` spells ``blob[at:at + length]``."""
    start = starts[token]
    if starts[token + 1] - start != length:
        return False
    for k in range(length):  # noqa: SIM110 (any() over a generator does not compile)
        if blob[start + k] != blob[at + k]:
            return False
    return True


@njit
def _find(
    blob: NDArray[np.uint8],
    starts: NDArray[np.int64],
    slots: NDArray[np.int32],
    key: int,
    at: int,
    length: int,
) -> int:
    """The id of the token that spells ``blob[at:at + length]``, whose hash is ``key``, or -1."""
    mask = len(slots) - 1
    slot = key & mask
    while slots[slot] >= 0:
        if _same(blob, starts, slots[slot], at, length):
            return int(slots[slot])
        slot = (slot + 1) & mask
    return -1


@njit
def _halves(
    blob: NDArray[np.uint8],
    starts: NDArray[np.int64],
    slots: NDArray[np.int32],
    powers: NDArray[np.int64],
    characters: bool,
    rows: NDArray[np.int32],
) -> int:
    """See :meth:`Spellings.halves`."""
    hashes = np.zeros(len(powers) + 1, dtype=np.int64)
    count = 0
    for token in range(len(starts) - 1):
        base = starts[token]
        size = int(starts[token + 1] - base)
        length = 0
        for k in range(size):
            hashes[k + 1] = (hashes[k] * _BASE + np.int64(blob[base + k]) + 1) % _MODULUS
            length += (blob[base + k] & 0xC0) != 0x80
        if length < 2 or _find(blob, starts, slots, hashes[size], base, size) != token:
            continue  # of namesakes the first has its halves
        before = 0
        for cut in range(1, size):
            if (blob[base + cut] & 0xC0) == 0x80:
                continue
            before += 1
            after = length - before
            left = _find(blob, starts, slots, hashes[cut], base, cut)
            if left < 0 and not (characters and before == 1):
                continue
            key = (hashes[size] - hashes[cut] * powers[size - cut]) % _MODULUS
            right = _find(blob, starts, slots, key, base + cut, size - cut)
            if right < 0 and not (characters and after == 1):
                continue
            if count < len(rows):
                rows[count, 0], rows[count, 1], rows[count, 2] = token, left, right
                rows[count, 3], rows[count, 4] = before, after
            count += 1
    return count


@njit
def _reduce(
    blob: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ranks: NDArray[np.int64],
    slots: NDArray[np.int32],
    powers: NDArray[np.int64],
    limits: NDArray[np.int64],
    count: NDArray[np.int32],
    first: NDArray[np.int32],
    last: NDArray[np.int32],
) -> None:
    """See :meth:`Spellings.reduce`; the definition of byte-pair encoding, token by token."""
    longest = len(powers)
    hashes = np.zeros(longest + 1, dtype=np.int64)
    cuts = np.zeros(longest + 1, dtype=np.int64)
    pairs = np.zeros(longest + 1, dtype=np.int64)
    for token in range(len(starts) - 1):
        base = starts[token]
        size = starts[token + 1] - base
        if size == 0:
            continue
        limit = limits[token]
        for k in range(size):
            hashes[k + 1] = (hashes[k] * _BASE + np.int64(blob[base + k]) + 1) % _MODULUS
            cuts[k] = k
        cuts[size] = size
        parts = size
        # pairs[k]: rank of the token that parts k and k + 1 form, or NO_RANK
        for k in range(parts - 1):
            pairs[k] = _rank(
                blob, starts, ranks, slots, powers, hashes, base, cuts[k], cuts[k + 2], limit
            )
        while True:
            best = NO_RANK
            at = -1
            for k in range(parts - 1):
                if pairs[k] < best:
                    best = pairs[k]
                    at = k
            if at < 0:
                break
            for k in range(at + 1, parts):
                cuts[k] = cuts[k + 1]
            for k in range(at, parts - 1):
                pairs[k] = pairs[k + 1]
            parts -= 1
            for k in (at - 1, at):
                if 0 <= k < parts - 1:
                    pairs[k] = _rank(
                        blob,
                        starts,
                        ranks,
                        slots,
                        powers,
                        hashes,
                        base,
                        cuts[k],
                        cuts[k + 2],
                        limit,
                    )
        count[token] = parts
        first[token] = _find(blob, starts, slots, hashes[cuts[1]], base, cuts[1])
        cut = cuts[parts - 1]
        key = (hashes[size] - hashes[cut] * powers[size - cut]) % _MODULUS
        last[token] = _find(blob, starts, slots, key, base + cut, size - cut)


@njit
def _rank(
    blob: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ranks: NDArray[np.int64],
    slots: NDArray[np.int32],
    powers: NDArray[np.int64],
    hashes: NDArray[np.int64],
    base: int,
    begin: int,
    end: int,
    limit: int,
) -> int:
    """Rank of the token that spells bytes ``begin`` to ``end``, if below ``limit``: or NO_RANK."""
    key = (hashes[end] - hashes[begin] * powers[end - begin]) % _MODULUS
    token = _find(blob, starts, slots, key, base + begin, end - begin)
    if token < 0 or ranks[token] >= limit:
        return NO_RANK
    return int(ranks[token])
