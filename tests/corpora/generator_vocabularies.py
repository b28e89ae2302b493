"""Small handmade vocabularies for the tests of generators and strategies."""

from corpora.vocabularies.model import (
    AddedToken,
    Algorithm,
    Alphabet,
    Normalizer,
    Piece,
    PieceType,
    RankOrder,
    Vocabulary,
)

_MERGED = [
    *("th", "he", "the", " the", "in", "ing", "an", "and", "aa", "aaaa", "ab", "aba", "na", "nan"),
    *("  ", "    ", "\n\n", "--", "----", "é", "中", "stat", "station", "ation", "ions"),
]


def byte_level():
    """All bytes, some words, and special tokens of which one is the prefix of another."""
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [text.encode() for text in _MERGED]
    tokens += [b"\xe4\xb8", b"\x80\x94"]
    return Vocabulary(
        id="byte-level",
        algorithm=Algorithm.BPE,
        format="tiktoken",
        tokens=(*tokens, None, None),
        special_tokens={"<|end|>": len(tokens), "<|end|><|end|>": len(tokens) + 1},
        added_tokens=(AddedToken("<tool call>", len(tokens) + 2, lstrip=True),),
    )


def toy():
    """Three letters: nothing else can be encoded."""
    tokens = (b"a", b"b", b"c", b"ac", b"bb", b"ab", b"acbb")
    return Vocabulary(id="toy", algorithm=Algorithm.BPE, format="toy", tokens=tokens)


def unigram():
    """SentencePiece pieces of every type."""
    normal = ["▁", "▁the", "t", "h", "e", "a", "n", "ing", "an", "aa", "s", "é", "▁中"]
    pieces = [
        Piece("<unk>", 0.0, PieceType.UNKNOWN),
        Piece("<s>", 0.0, PieceType.CONTROL),
        Piece("<sep>", 0.0, PieceType.USER_DEFINED),
        Piece("zz", -9.0, PieceType.UNUSED),
        Piece("<0x0A>", 0.0, PieceType.BYTE),
        *(Piece(text, -1.0 - rank, PieceType.NORMAL) for rank, text in enumerate(normal)),
    ]
    tokens = [piece.text.encode() for piece in pieces]
    tokens[0] = tokens[1] = None
    tokens[4] = b"\n"
    return Vocabulary(
        id="unigram",
        algorithm=Algorithm.UNIGRAM,
        format="sentencepiece",
        tokens=tuple(tokens),
        pieces=tuple(pieces),
        alphabet=Alphabet.CHARACTERS,
        rank_order=RankOrder.SCORES,
        normalizer=Normalizer(add_dummy_prefix=True, escape_whitespaces=True),
        unk_id=0,
    )


def empty():
    """No tokens at all: the least that a loader can hand over."""
    return Vocabulary(id="empty", algorithm=Algorithm.BPE, format="toy", tokens=())


VOCABULARIES = {v.id: v for v in (byte_level(), toy(), unigram(), empty())}
