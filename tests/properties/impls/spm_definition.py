"""llama.cpp's SPM by its definition, in plain Python, and random vocabularies of SentencePiece BPE.

Nothing is shared with the implementations: merging rescans the whole list each time.
"""

import math

from hypothesis import strategies as st

from corpora.vocabularies.model import Algorithm, Normalizer, Piece, PieceType
from corpora.vocabularies.sentencepiece_model import from_pieces
from tests.doubles.merging import merged

UNKNOWN = Piece("<unk>", 0.0, PieceType.UNKNOWN)
BYTES = tuple(Piece(f"<0x{byte:02X}>", 0.0, PieceType.BYTE) for byte in range(256))


def spm(pieces, normalizer=None, byte_fallback=False, unknown=UNKNOWN, algorithm=Algorithm.BPE):
    """A vocabulary of an unknown piece, the byte pieces if wanted, and ``pieces``."""
    return from_pieces(
        "test",
        [unknown, *(BYTES if byte_fallback else ()), *pieces],
        algorithm=algorithm,
        normalizer=normalizer or Normalizer(),
        byte_fallback=byte_fallback,
        file_format="test",
        source_path=None,
    )


def by_llama_cpp(vocabulary, data):
    """The ids that llama.cpp's SPM defines, for texts in UTF-8."""
    ids_of = {piece.text: i for i, piece in enumerate(vocabulary.pieces)}
    parts = [data.decode()] if data else []
    users = [(i, p.text) for i, p in enumerate(vocabulary.pieces) if p.type == 4]
    for user_id, user in sorted(users, key=lambda one: -len(one[1].encode())):
        cut = []
        for part in parts:
            if isinstance(part, int):
                cut.append(part)
                continue
            for k, text in enumerate(part.split(user)):
                cut += [user_id] * (k > 0) + [text] * bool(text)
        parts = cut
    scores = {piece.text: piece.score for piece in vocabulary.pieces}

    def rank_of(left, right):
        return -scores[left + right] if left + right in scores else None

    ids = []
    spaced = vocabulary.normalizer.add_dummy_prefix
    for part in parts:
        if isinstance(part, int):
            ids.append(part)
            continue
        text = (" " if spaced else "") + part  # texts are at the beginning, or after a symbol
        for symbol in merged(text.replace(" ", "▁"), rank_of, str.__add__):
            found = ids_of.get(symbol)
            spelled = [ids_of[f"<0x{byte:02X}>"] for byte in symbol.encode()]
            ids += spelled if found is None else [found]
    return ids


SCORES = [-1.0, -2.0, -3.5, 0.0, -0.0, 1.0, math.inf, -math.inf]
LETTERS = ["ab", "abc", "ab▁", "aé😀▁", "ab ", "ab?"]


@st.composite
def vocabularies(draw, types=(1, 1, 1, 4, 5, 3), plain=False):
    """Few letters and few scores, so that pairs compete and tie all the time."""
    letters = draw(st.sampled_from(LETTERS))
    texts = draw(
        st.lists(st.text(letters, min_size=1, max_size=5), min_size=1, max_size=20, unique=True)
    )
    # SentencePiece orders scores by their bits, those that are no numbers among them.
    known = SCORES if plain else [*SCORES, math.nan, -math.nan]
    scores = draw(st.lists(st.sampled_from(known), min_size=1, max_size=4))
    kinds = draw(st.lists(st.sampled_from(types), min_size=1, max_size=4))
    pieces = [
        Piece(text, draw(st.sampled_from(scores)), PieceType(draw(st.sampled_from(kinds))))
        for text in texts
        if text != "?"
    ]
    flags = [draw(st.booleans()), False, True, False] if plain else draw_flags(draw)
    unknown = draw(st.sampled_from([UNKNOWN, Piece("?", 0.0, PieceType.UNKNOWN)]))
    fallback = plain or draw(st.booleans())
    vocabulary = spm(pieces, Normalizer(None, None, *flags), fallback, unknown)
    text = st.text(letters.replace("▁", "▁ ") + "d\0?", max_size=30).map(str.encode)
    inputs = draw(st.lists(text if plain else text | st.binary(max_size=8), min_size=3, max_size=8))
    return vocabulary, inputs


def draw_flags(draw):
    return [draw(st.booleans()) for _ in range(4)]
