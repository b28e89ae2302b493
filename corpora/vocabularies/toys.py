"""Toy vocabularies: dictionaries small enough to work through by hand, each there for a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.merges import merges_from_ranks
from corpora.vocabularies.model import (
    Algorithm,
    Merges,
    Normalizer,
    Piece,
    PieceType,
    RankOrder,
    Vocabulary,
    WordPieceRules,
)
from corpora.vocabularies.patterns import PATTERNS
from corpora.vocabularies.sentencepiece_model import from_pieces
from corpora.vocabularies.wordpiece_file import make as make_wordpiece

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _by_ids(
    name: str, tokens: Sequence[bytes], splits: tuple[str, ...] = (), ignore_merges: bool = False
) -> Vocabulary:
    return Vocabulary(
        id=name,
        algorithm=Algorithm.BPE,
        format="toy",
        tokens=tuple(tokens),
        merges=merges_from_ranks(tokens),
        splits=splits,
        ignore_merges=ignore_merges,
    )


def _acbb() -> Vocabulary:
    return _by_ids("toy_acbb", [b"a", b"b", b"c", b"ac", b"bb", b"ab", b"acbb"])


def _runs() -> Vocabulary:
    return _by_ids("toy_runs", [b"a", b"b", b"aa", b"aaa", b"aaaa", b"aaaaaaaa", b"baa"])


def _ties() -> Vocabulary:
    return _by_ids("toy_ties", [b"a", b"b", b"ab", b"ba", b"aba", b"bab", b"abab", b"bb"])


def _merges() -> Vocabulary:
    tokens = [b"c", b"abc", b"a", b"bcbc", b"ab", b"bc", b"b", b"ca"]
    ids = {token: i for i, token in enumerate(tokens)}
    order = [(b"b", b"c"), (b"a", b"b"), (b"c", b"a"), (b"a", b"bc"), (b"bc", b"bc"), (b"ab", b"c")]
    return Vocabulary(
        id="toy_merges",
        algorithm=Algorithm.BPE,
        format="toy",
        tokens=tuple(tokens),
        merges=Merges.of([(ids[left], ids[right], ids[left + right]) for left, right in order]),
        rank_order=RankOrder.MERGES,
    )


def _improper() -> Vocabulary:
    tokens = [b"a", b"b", b"c", b"d", b" ", b"bc", b"ab", b"cd", b"abcd", b" a"]
    return _by_ids("toy_improper", tokens, splits=(" ?[a-d]+| +",), ignore_merges=True)


def _bytes() -> Vocabulary:
    longer = [
        b"\x00\x00",
        b"\xc3\xa9",
        b"\xa9\xc3",
        b"\xe2\x96",
        b"\xe2\x96\x81",
        b"  ",
        b"    ",
        b"\r\n",
        b"th",
        b"the",
        b" the",
        b"\xff\xfe",
        b"12",
        b"123",
    ]
    tokens = [*(bytes([byte]) for byte in range(256)), *longer]
    return _by_ids("toy_bytes", tokens, splits=PATTERNS["gpt2"])


_RESERVED = (
    Piece("<unk>", 0.0, PieceType.UNKNOWN),
    Piece("<s>", 0.0, PieceType.CONTROL),
    Piece("</s>", 0.0, PieceType.CONTROL),
)


def _unigram() -> Vocabulary:
    scored = {
        "▁": -2.0,
        "a": -1.5,
        "b": -1.5,
        "c": -2.5,
        "ab": -3.0,
        "ba": -2.75,
        "aba": -4.25,
        "bab": -4.5,
        "▁a": -3.5,
        "é": -3.0,
        "日": -4.0,
        "日本": -6.0,
    }
    pieces = [*_RESERVED, *(Piece(text, score, PieceType.NORMAL) for text, score in scored.items())]
    pieces.append(Piece("cab", 0.0, PieceType.USER_DEFINED))
    return from_pieces(
        "toy_unigram",
        pieces,
        algorithm=Algorithm.UNIGRAM,
        normalizer=Normalizer(escape_whitespaces=True),
        file_format="toy",
    )


def _characters() -> Vocabulary:
    merged = ["ab", "▁a", "ba", "bab", "▁ab", "日本"]
    single = ["▁", "a", "b", "c", "é", "日", "本"]
    pieces = [
        *_RESERVED,
        *(Piece(f"<0x{byte:02X}>", 0.0, PieceType.BYTE) for byte in range(256)),
        *(Piece(text, -float(rank), PieceType.NORMAL) for rank, text in enumerate(merged)),
        *(Piece(text, -float(100 + rank), PieceType.NORMAL) for rank, text in enumerate(single)),
    ]
    return from_pieces(
        "toy_characters",
        pieces,
        algorithm=Algorithm.BPE,
        normalizer=Normalizer(add_dummy_prefix=True, escape_whitespaces=True),
        byte_fallback=True,
        file_format="toy",
    )


def _wordpiece() -> Vocabulary:
    words = ["a", "b", "ab", "aba", "é", "e", "日", "!", ",", "σ", "i", "un", "the"]
    later = ["##a", "##b", "##ab", "##ba", "##ac", "##e", "##s", "##σ", "##i", "##aff", "##able"]
    texts = ["[PAD]", "[UNK]", "[CLS]", *words, *later]
    return make_wordpiece(
        "toy_wordpiece",
        texts,
        {text: texts.index(text) for text in ("[PAD]", "[UNK]", "[CLS]")},
        WordPieceRules(max_word=12),
        unk_id=texts.index("[UNK]"),
        file_format="toy",
    )


TOYS: dict[str, tuple[str, Callable[[], Vocabulary]]] = {
    "toy_acbb": (
        "the worked example of byte-pair encoding: a b c ac bb ab acbb, where abacbb is ab acbb",
        _acbb,
    ),
    "toy_runs": (
        "runs of one letter (aa aaa aaaa aaaaaaaa): every pair overlaps its neighbour, so the "
        "leftmost-first rule decides",
        _runs,
    ),
    "toy_ties": (
        "ab and ba compete for every letter of abab..: ties and stale heap entries show at once",
        _ties,
    ),
    "toy_merges": (
        "ids in another order than merges, and one token with two merges: ranks are not ids",
        _merges,
    ),
    "toy_improper": (
        "improper on purpose: abcd does not encode to itself and is reached only whole, as a "
        "pre-token (ignore_merges)",
        _improper,
    ),
    "toy_bytes": (
        "all 256 bytes and tokens of NUL, broken and straddling UTF-8: encodes any input",
        _bytes,
    ),
    "toy_unigram": (
        "unigram where two segmentations tie (a b against ab), greedy loses, a user-defined "
        "symbol overlaps, and most characters are unknown",
        _unigram,
    ),
    "toy_characters": (
        "SentencePiece BPE over characters, with byte fallback and a dummy prefix",
        _characters,
    ),
    "toy_wordpiece": (
        "WordPiece where the longest match first leaves a word unknown (abac), with a short "
        "limit on words, and letters that casing and accents turn into others",
        _wordpiece,
    ),
}
"""Name to (why it is there, how it is made)."""
