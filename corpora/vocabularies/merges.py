"""Deriving merges where a format has none: from ids (tiktoken), from scores (SentencePiece).

The split of a token is what byte-pair encoding of its bytes with only lower-ranked tokens leaves
as exactly two tokens. As in tiktoken, any two neighbours whose concatenation is a token may merge,
whatever that token's own split is.

All of it is plain Python, which takes about a second for 100,000 tokens. What it gives for a large
vocabulary is therefore kept on disk.
"""

from __future__ import annotations

import hashlib
from functools import cache, partial
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from corpora.vocabularies.limits import MAX_MERGES, MAX_PIECE_CHARACTERS, check_count
from corpora.vocabularies.model import Merges, PieceType
from corpora.vocabularies.pieces import Pieces
from corpora.vocabularies.tables_on_disk import SMALLEST, kept

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Piece, Vocabulary

    Digest = Callable[[bytes | memoryview], object]

Text = TypeVar("Text", str, bytes)

NO_RANK = 1 << 40
"""A rank above all ranks: no limit, no pair."""

MERGEABLE = frozenset({PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.UNUSED})
"""Pieces that SentencePiece's BPE may build or use: those of its ``pieces_`` map. The others
(control, unknown, bytes) live in its reserved map, which merging never asks. UNUSED pieces are
built, and taken apart again at the end."""


# --- byte-pair encoding of a token's own bytes, by its definition ---------------------------------


def cuts_by_rank(text: bytes, rank_of: Mapping[bytes, int], limit: int = NO_RANK) -> list[int]:
    """Where byte-pair encoding with the tokens ranked below ``limit`` parts a text; with its ends.

    rank_of: the rank of each token. Of two pairs with one rank the left one is merged first.
    """
    cuts = list(range(len(text) + 1))
    ranks = [rank_of.get(text[at : at + 2], limit) for at in range(len(text) - 1)]
    while ranks and (best := min(ranks)) < limit:
        at = ranks.index(best)
        del cuts[at + 1], ranks[at]
        for pair in (at - 1, at):
            if 0 <= pair < len(ranks):
                ranks[pair] = rank_of.get(text[cuts[pair] : cuts[pair + 2]], limit)
    return cuts


PairTable = dict[tuple[int, int], tuple[int, int]]
"""The rank and the result of each pair of tokens that merges."""


def pair_table(merges: Merges) -> PairTable:
    """The table of a list of merges; of a pair that stands twice, the first counts."""
    table: PairTable = {}
    for rank, (left, right, merged) in enumerate(merges.triples()):
        table.setdefault((left, right), (rank, merged))
    return table


def encode_by_pairs(symbols: Iterable[int], table: PairTable) -> list[int]:
    """Merge ids, the lowest rank first, leftmost among equals. An id of -1 never merges."""
    parts = list(symbols)
    none = (NO_RANK, -1)
    pairs = [table.get(pair, none) for pair in pairwise(parts)]
    while pairs and (best := min(pairs)) != none:
        at = pairs.index(best)
        parts[at : at + 2] = [best[1]]
        del pairs[at]
        for pair in (at - 1, at):
            if 0 <= pair < len(pairs):
                pairs[pair] = table.get((parts[pair], parts[pair + 1]), none)
    return parts


def halves(
    texts: Iterable[Text | None], *, but: Collection[int] = (), characters: bool = False
) -> Iterator[tuple[int, int, int, int, int]]:
    """Each way to part a text into two of them: its id, both halves' ids and their lengths.

    Of equal texts the first counts. but: ids of texts that are not to be parted. characters: a half
    of one character need be none of the texts, and is -1 then.
    """
    ids: dict[Text, int] = {}
    for text_id, text in enumerate(texts):
        if text:
            ids.setdefault(text, text_id)
    for text, merged in ids.items():
        for cut in range(1, len(text) if merged not in but else 1):
            left = ids.get(text[:cut], -1)
            if left < 0 and not (characters and cut == 1):
                continue
            rest = len(text) - cut
            right = ids.get(text[cut:], -1)
            if right >= 0 or (characters and rest == 1):
                yield merged, left, right, cut, rest


def rows_of(ways: Iterable[tuple[int, int, int, int, int]]) -> NDArray[np.int32]:
    """What :func:`halves` gives, in rows."""
    return np.fromiter(chain.from_iterable(ways), np.int32).reshape(-1, 5)


def splits_of_unbuilt(vocabulary: Vocabulary) -> list[tuple[int, int, int]]:
    """The merges of tokens that no merge of the vocabulary makes: every split into two tokens.

    Where ids are ranks, two neighbours that spell a token merge whatever built them, even if one of
    them has the higher rank: so Llama 3 reaches its token 111954 from a neighbour that is token
    119706, and 706 others. A token with a merge needs no other split: before any token above it can
    be built, it is.
    """
    ways = halves(vocabulary.tokens, but={*vocabulary.merges.merged.tolist()})
    return [(left, right, merged) for merged, left, right, *_ in ways]


# --- merges ---------------------------------------------------------------------------------------


def merges_from_ranks(tokens: Sequence[bytes | None]) -> Merges:
    """The merge of each multi-byte token, by rank: its id.

    A token whose bytes lower-ranked tokens leave in more than two parts has no merge: encoding
    does not reach it from its own bytes alone. Of tokens with the same bytes the first counts.
    """

    def tell(digest: Digest) -> None:
        digest(repr(tuple(tokens)).encode())

    return _kept("merges", len(tokens), tell, lambda: _by_rank(tokens))


def _by_rank(tokens: Sequence[bytes | None]) -> list[tuple[int, int, int]]:
    ids: dict[bytes, int] = {}
    for token_id, token in enumerate(tokens):
        if token:
            ids.setdefault(token, token_id)
    found = []
    for token_id, token in enumerate(tokens):
        if token is not None and len(token) > 1:
            cuts = cuts_by_rank(token, ids, token_id)
            if len(cuts) == 3:
                left, right = ids.get(token[: cuts[1]]), ids.get(token[cuts[1] :])
                if left is not None and right is not None:
                    found.append((left, right, token_id))
    return found


def merges_from_scores(pieces: Sequence[Piece], source: str = "pieces") -> Merges:
    """Every split of a piece into two pieces, best score first, as Hugging Face's converter.

    Equal scores: the longer left part first, then the longer right part (in characters), then the
    lower id of the result (``generate_merges`` in transformers, which sorts stably). Unlike there,
    only :data:`MERGEABLE` pieces take part, so that text spelling ``</s>`` is not merged into the
    control token. Pieces whose score is not a number stand last. Raises VocabularyError, which
    names ``source``, for more of them than :mod:`corpora.vocabularies.limits` allows.
    """
    columns = Pieces.of(pieces)
    derive = partial(_by_score, columns, source)
    return _kept("score-merges", len(columns), columns.update, derive)


def _by_score(pieces: Pieces, source: str) -> NDArray[np.int32]:
    mergeable = set(pieces.of_types(*MERGEABLE))
    texts = [text if i in mergeable else None for i, text in enumerate(pieces.texts)]
    characters = sum(map(len, filter(None, texts)))
    check_count(characters, MAX_PIECE_CHARACTERS, "characters in its pieces", source)
    rows = rows_of(islice(halves(texts), MAX_MERGES + 1))
    check_count(len(rows), MAX_MERGES, "merges", source)
    merged, left, right, left_lengths, right_lengths = rows.T
    scores = pieces.score_column[merged]
    keys = np.where(np.isnan(scores), np.inf, -scores)
    order = np.lexsort([merged, -right_lengths, -left_lengths, keys])
    table: NDArray[np.int32] = np.stack((left, right, merged), axis=1)[order]
    return table


def _kept(
    kind: str, size: int, tell: Callable[[Digest], None], derive: Callable[[], object]
) -> Merges:
    """What ``derive`` gives, as rows (left, right, merged); of a large vocabulary from disk.

    size: the number of its tokens. tell: hands all on which the merges depend to a digest.
    """

    def columns() -> NDArray[np.int32]:
        table = np.array(derive(), dtype=np.int32).reshape(-1, 3)
        return np.ascontiguousarray(table.T).reshape(-1)

    if size < SMALLEST:
        return Merges(*columns().reshape(3, -1))
    digest = hashlib.sha256()
    tell(digest.update)
    found = kept(f"{digest.hexdigest()[:40]}-{kind}", columns, _source())
    # Compiled code is another one for arrays that nobody may write to.
    return Merges(*found.reshape(3, -1).copy())


@cache
def _source() -> bytes:
    """The source of the modules by which merges are derived."""
    modules = ("merges.py", "pieces.py")
    return b"".join(Path(__file__).with_name(name).read_bytes() for name in modules)
