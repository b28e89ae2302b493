"""SentencePiece BPE as byte-pair encoding over bytes, by the fast backtracking encoder.

The bytes of a character are put together first, from the left: every beginning of a character that
the pieces have is a token, older than all pieces. A byte that begins a character stands nowhere
else in UTF-8, so that nothing but characters is put together by that. What follows are the merges
of the pieces, by score. The ids of a token that is no piece are those of its bytes, or the unknown
one.

What is asked of a vocabulary (:func:`over_bytes`):

- No two pieces of the same score can get in each other's way. SentencePiece merges the leftmost of
  equals, whichever piece it makes; over bytes each piece has a rank of its own. So no symbol is the
  right part of one piece and the left part of another of the same score, and neither is a part
  of the other. The runs of spaces of Llama and Mistral, all of one score that is the worst, are
  left out and merged at the end: by then nothing else takes a space (:func:`_runs`).
- Every piece is worse than both of its parts, so that the linear encoder takes all of it.
- No piece is split again (UNUSED), as that depends on what was offered anywhere in the text.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corpora.vocabularies.merges import merges_from_ranks
from corpora.vocabularies.model import Algorithm, Vocabulary, VocabularyError
from corpora.vocabularies.pieces import Pieces
from impls.bpe.encoder import SPARE
from impls.bpe.tokens import tokens_of
from impls.compiled.jit import njit
from impls.fast.bpe.backtracking_kernel import ROOMS as FAST_ROOMS
from impls.fast.bpe.backtracking_kernel import block_of, encode_pieces
from impls.fast.kernels.intrinsics import lacking
from impls.kernels.layout import EMPTY, Bytes, Flags, Ints, Longs
from impls.kernels.table_cache import arrays_of
from impls.spm.merging import frozen_symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from impls.spm.encoder import EncodeTexts
    from impls.spm.lexicon import Lexicon
    from impls.spm.reading import Reading
    from impls.spm.variants import Variant

ROOMS = (*FAST_ROOMS, "impls/spm", "impls/fast/spm.py")
"""The folders of all modules that have a part in the making of the tables."""

_NONE = np.empty(0, dtype=np.int64)


class Emission(NamedTuple):
    """What tokens over bytes become.

    ids: the id of each token, EMPTY for what is no piece (int32). spellings: the bytes of what is
    none, as one big-endian number behind a 1 (int64). run: the token of which runs are merged at
    the end, EMPTY for none. runs: the id of a run of each length, EMPTY for none (int32); that of
    length 1 is the token's own. byte_ids, unknown_id: as in ``Lexicon``.
    """

    ids: Ints
    spellings: Longs
    run: int
    runs: Ints
    byte_ids: Ints
    unknown_id: int


def over_bytes(
    vocabulary: Vocabulary,
    variant: Variant,
    lexicon: Lexicon,
    reading: Callable[[], Reading],
) -> EncodeTexts | None:
    """An encoder with the arguments of :func:`impls.spm.merging.encode_texts`, of UTF-8 alone.

    None where the vocabulary is not one that bytes can stand for, or where the fast kernel cannot
    be compiled. What it needs of a large vocabulary is kept on disk. reading: reads its pieces,
    where that is wanted elsewhere, too.
    """
    joins = lexicon.joins_unknown or len(lexicon.byte_ids) > 0
    if lacking() is not None or len(lexicon.unused) or not joins:
        return None
    tables = arrays_of(
        (Pieces.of(vocabulary.pieces), variant, vocabulary.byte_fallback),
        "spm-over-bytes",
        lambda: _tables(vocabulary, reading(), lexicon.emitted) or (),
        *ROOMS,
    )
    if not tables:
        return None
    block, ids, spellings, runs, run, begins = tables
    emission = Emission(ids, spellings, int(run[0]), runs, lexicon.byte_ids, lexicon.unknown_id)
    return _encoder(block, emission, begins)


def _tables(
    vocabulary: Vocabulary, read: Reading, emitted: Ints
) -> tuple[NDArray[np.generic], ...] | None:
    """The block of the byte-pair encoder; of :class:`Emission` the ids, the spellings, the runs,
    and the run as the one entry of an array; and whether a user-defined symbol begins with a byte.

    None for a vocabulary that bytes cannot stand for.
    """
    character, runs = _runs(read)
    rows = read.rows[~np.isin(read.rows[:, 2], runs)]
    if _in_the_way(read, rows):
        return None
    built = _built(rows)
    built = built[np.argsort(read.ranks[built], kind="stable")]
    if np.any(emitted[[*built.tolist(), *runs]] == EMPTY):
        return None
    symbols = {text.encode(): symbol for text, symbol in read.symbols.items()}
    base = [bytes([byte]) for byte in range(256)] + _beginnings(symbols)
    tokens = [*base, *(read.texts[piece].encode() for piece in built.tolist())]
    as_bytes = Vocabulary(
        id=f"{vocabulary.id} over bytes",
        algorithm=Algorithm.BPE,
        format=vocabulary.format,
        tokens=tuple(tokens),
        merges=merges_from_ranks(tokens),
        splits=(),
        special_tokens={},
    )
    try:
        block = block_of(as_bytes)
    except VocabularyError:  # it has more tokens than the tables have room for
        return None
    if len(tokens_of(as_bytes).out_of_order):
        return None
    ids = np.full(len(tokens), EMPTY, dtype=np.int32)
    ids[len(base) :] = emitted[built]
    spellings = np.zeros(len(tokens), dtype=np.int64)
    for place, token in enumerate(base):
        if token in symbols:
            ids[place] = emitted[symbols[token]]
        if ids[place] == EMPTY:
            spellings[place] = int.from_bytes(b"\1" + token, "big")
    run = base.index(character.encode()) if runs else EMPTY
    if runs and ids[run] == EMPTY:
        return None
    lengths = {len(read.texts[piece]): piece for piece in runs}
    by_length = np.full(max(lengths, default=0) + 1, EMPTY, dtype=np.int32)
    by_length[list(lengths)] = list(lengths.values())
    by_length[1:2] = ids[run]
    begins = np.zeros(256, dtype=np.bool_)
    for text in read.frozen:
        begins[text.encode()[0]] = True
    return block, ids, spellings, by_length, np.array([run], dtype=np.int32), begins


def _built(rows: Ints) -> Longs:
    """The pieces that merges build, by id."""
    return np.flatnonzero(np.bincount(rows[:, 2]))


def _runs(read: Reading) -> tuple[str, list[int]]:
    """The pieces that are runs of one character and may be merged at the end; it and these.

    All runs of the character have one score. What else takes the character, alone or as a run, is
    of a better one, and nothing takes a run.
    """
    runs: dict[str, list[int]] = defaultdict(list)
    for piece in _built(read.rows).tolist():
        text = read.texts[piece]
        if text[0] == text[-1] and text == text[0] * len(text):
            runs[text[0]].append(piece)
    character_of = np.full(int(read.rows.max(initial=0)) + 1, EMPTY, dtype=np.int64)
    for character, pieces in runs.items():
        character_of[pieces] = read.symbols[character]
    others = read.rows[character_of[read.rows[:, 2]] == EMPTY]
    halves = others[:, :2]
    taken = np.zeros(len(character_of) + 1, dtype=np.bool_)  # the last one is of EMPTY
    taken[character_of[halves]] = True
    # The worst rank of what takes a symbol and is no run.
    worst = np.full(len(character_of), EMPTY, dtype=np.int64)
    np.maximum.at(worst, halves, read.ranks[others[:, 2:]])
    for character, pieces in runs.items():
        symbol, ranks = read.symbols[character], set(read.ranks[pieces].tolist())
        last = not taken[symbol] and worst[symbol] < min(ranks)
        if len(pieces) > 1 and len(ranks) == 1 and last:
            return character, pieces
    return "", []


def _in_the_way(read: Reading, rows: Ints) -> bool:
    """Whether two pieces of the same score may want the same symbol, or are part of each other."""
    left, right, merged = rows.T.astype(np.int64)
    if not len(merged):
        return False
    rank = read.ranks[merged]
    ranks = np.full(int(rows.max()) + 1, EMPTY, dtype=np.int64)
    ranks[merged] = rank  # those of what rows build
    if np.any(ranks[left] == rank) or np.any(ranks[right] == rank):
        return True
    # Of each score, whose left part a symbol is, and whose right part: one piece's alone at most.
    sides, least, most = [], [], []
    for symbol in (left, right):
        keys, place = np.unique(rank << 32 | symbol, return_inverse=True)
        low, high = np.full(len(keys), np.iinfo(np.int64).max), np.full(len(keys), EMPTY)
        np.minimum.at(low, place, merged)
        np.maximum.at(high, place, merged)
        sides.append(keys)
        least.append(low)
        most.append(high)
    _, one, other = np.intersect1d(sides[0], sides[1], assume_unique=True, return_indices=True)
    return bool(np.any(least[0][one] != most[1][other]) or np.any(most[0][one] != least[1][other]))


def _beginnings(characters: Iterable[bytes]) -> list[bytes]:
    """The characters of several bytes and their beginnings of two and more, the shorter first."""
    found = {
        character[:length] for character in characters for length in range(2, len(character) + 1)
    }
    return sorted(found, key=lambda token: (len(token), token))


def _encoder(block: Ints, emission: Emission, begins: Flags) -> EncodeTexts:
    """The encoder. begins: whether a user-defined symbol begins with a byte."""
    tokens = len(emission.ids)
    cuts = bool(begins.any())

    def encode_texts(
        lexicon: Lexicon,
        text: Bytes,
        ends: Longs,
        given: Longs,
        id_ends: Longs,
    ) -> tuple[Ints, int]:
        counts = None
        piece_ends, known = ends, given
        if len(given):
            known = np.where(given == EMPTY, EMPTY, given + tokens)
        if cuts:
            piece_ends, known, counts = cut(
                lexicon.frozen, lexicon.frozen_ids, lexicon.longest_frozen, begins, text, ends,
                known, tokens,
            )  # fmt: skip
        found = np.empty(len(text) + len(known) + SPARE, dtype=np.int32)
        found_ends = np.empty(len(piece_ends), dtype=np.int64)
        count = encode_pieces(block, text, piece_ends, known, found, found_ends)
        if counts is not None:
            found_ends = np.concatenate((_NONE[:1], np.zeros(1, np.int64), found_ends))[counts]
        return emit_all(emission, found[:count], found_ends, id_ends)

    return encode_texts


@njit
def cut(
    frozen: Ints,
    frozen_ids: Longs,
    longest_frozen: int,
    begins: Flags,
    text: Bytes,
    ends: Longs,
    given: Longs,
    tokens: int,
) -> tuple[Longs, Longs, Longs]:
    """The texts in pieces: user-defined symbols, which merge with nothing, and what is between.

    begins: whether a symbol begins with a byte. given: as in :func:`emit_all`, what texts become
    instead. Returns where the pieces end, what each becomes (EMPTY for what is to be encoded), and
    how many pieces there are up to the end of each text.
    """
    # A symbol and what is before it, for each place where one may begin, and the end of each text.
    # Room for a piece a byte would be given back to the system after each call, which takes longer.
    room = len(ends)
    for byte in text:
        room += 2 * begins[byte]
    piece_ends = np.empty(room, dtype=np.int64)
    known = np.empty(len(piece_ends), dtype=np.int64)
    counts = np.empty(len(ends), dtype=np.int64)
    count = 0
    position = 0
    for index in range(len(ends)):
        end = int(ends[index])
        if len(given) > 0 and given[index] != EMPTY:
            piece_ends[count], known[count] = end, given[index]
            count += 1
            position = end
        while position < end:
            at, found, length = _next_symbol(
                frozen, frozen_ids, longest_frozen, begins, text, position, end
            )
            if at > position:
                piece_ends[count], known[count] = at, EMPTY
                count += 1
            if found != EMPTY:
                piece_ends[count], known[count] = at + length, tokens + found
                count += 1
            position = at + length
        counts[index] = count
    return piece_ends[:count], known[:count], counts


@njit
def _next_symbol(
    frozen: Ints,
    frozen_ids: Longs,
    longest_frozen: int,
    begins: Flags,
    text: Bytes,
    position: int,
    end: int,
) -> tuple[int, int, int]:
    """Where the next user-defined symbol begins, which it is, and its length.

    The end, EMPTY and 0 where there is none.
    """
    for at in range(position, end):
        if begins[text[at]]:
            found, length = frozen_symbol(frozen, frozen_ids, longest_frozen, text, at, end)
            if found != EMPTY:
                return at, found, length
    return end, EMPTY, 0


@njit
def emit_all(
    emission: Emission,
    tokens: Ints,
    token_ends: Longs,
    id_ends: Longs,
) -> tuple[Ints, int]:
    """The ids of tokens over bytes, text by text.

    tokens: those that are none are ids, as many more as there are tokens. token_ends: of each text.
    Writes where the ids of each text end to ``id_ends``; returns all ids, and EMPTY, or the first
    byte that has no id (there are no ids then).
    """
    ids_of, spellings, byte_ids = emission.ids, emission.spellings, emission.byte_ids
    run, runs = emission.run, emission.runs
    by_bytes = len(byte_ids) > 0
    # A token has at most one id for each of its up to four bytes.
    ids = np.empty(4 * len(tokens) if by_bytes else len(tokens), dtype=np.int32)
    at = 0
    place = 0
    for index in range(len(token_ends)):
        joining = False
        while place < token_ends[index]:
            token = int(tokens[place])
            place += 1
            if token == run:
                begin = at
                while True:
                    # The leftmost pair of a run that merges is always the last one that has come.
                    ids[at] = 1
                    at += 1
                    while at > begin + 1:
                        length = int(ids[at - 2]) + int(ids[at - 1])
                        if length >= len(runs) or runs[length] == EMPTY:
                            break
                        at -= 1
                        ids[at - 1] = length
                    if place == token_ends[index] or tokens[place] != run:
                        break
                    place += 1
                for one in range(begin, at):
                    ids[one] = runs[ids[one]]
                joining = False
                continue
            known = int(ids_of[token]) if token < len(ids_of) else token - len(ids_of)
            if known != EMPTY:
                ids[at] = known
                at += 1
                joining = False
                continue
            if not by_bytes:
                if not joining:
                    ids[at] = emission.unknown_id
                    at += 1
                joining = True
                continue
            spelling = int(spellings[token])
            shift = 24
            while spelling >> shift <= 1:
                shift -= 8
            while shift >= 0:
                byte = (spelling >> shift) & 0xFF
                if byte_ids[byte] == EMPTY:
                    return ids[:0], byte
                ids[at] = byte_ids[byte]
                at += 1
                shift -= 8
        id_ends[index] = at
    return ids[:at], EMPTY
