"""SentencePiece BPE by its definition, in plain Python, and random vocabularies for it.

Nothing is shared with the implementations: merging rescans the whole list each time.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field

from hypothesis import strategies as st

from corpora.vocabularies.model import Algorithm, Normalizer, Piece, PieceType, Vocabulary
from corpora.vocabularies.sentencepiece_model import from_pieces

UNKNOWN = Piece("<unk>", 0.0, PieceType.UNKNOWN)
BYTES = tuple(Piece(f"<0x{byte:02X}>", 0.0, PieceType.BYTE) for byte in range(256))


def spm(pieces, normalizer=None, byte_fallback=False, unknown=UNKNOWN) -> Vocabulary:
    """A vocabulary of an unknown piece, the byte pieces if wanted, and ``pieces``."""
    return from_pieces(
        "test",
        [unknown, *(BYTES if byte_fallback else ()), *pieces],
        algorithm=Algorithm.BPE,
        normalizer=normalizer or Normalizer(),
        byte_fallback=byte_fallback,
        file_format="test",
        source_path=None,
    )


@dataclass
class Symbol:
    """A part of the text, and whether it must stay as it is."""

    text: str
    frozen: bool = False


def normalized(vocabulary: Vocabulary, data: bytes) -> str:
    """SentencePiece's white space, without a charsmap; invalid bytes as U+FFFD one by one."""
    spec = vocabulary.normalizer
    chunks = []
    rest = data
    users = user_defined(vocabulary)
    while rest:
        user = longest_prefix(users, rest)
        if user is not None:
            chunk, length = user.decode(), len(user)
        else:
            chunk, length = first_character(rest)
        chunks.append(chunk)
        rest = rest[length:]
    if spec.remove_extra_whitespaces:
        while chunks and chunks[0] == " ":
            chunks.pop(0)
        if not chunks:
            return ""
        kept = ""
        spaced = True
        for chunk in chunks:
            if spaced:
                chunk = chunk.lstrip(" ")
            if chunk:
                kept += chunk
                spaced = chunk.endswith(" ")
        text = kept
    else:
        text = "".join(chunks)
    if not data:
        return ""
    if spec.add_dummy_prefix and not spec.treat_whitespace_as_suffix:
        text = " " + text
    if spec.escape_whitespaces:
        text = text.replace(" ", "▁")
    space = "▁" if spec.escape_whitespaces else " "
    if spec.remove_extra_whitespaces:
        text = text.rstrip(space)
    if spec.add_dummy_prefix and spec.treat_whitespace_as_suffix:
        text += space
    return text


def first_character(data: bytes) -> tuple[str, int]:
    for length in range(1, 5):
        try:
            return data[:length].decode(), min(length, len(data))
        except UnicodeDecodeError:
            continue
    return "\ufffd", 1


def user_defined(vocabulary: Vocabulary) -> list[bytes]:
    return [p.text.encode() for p in vocabulary.pieces if p.type is PieceType.USER_DEFINED]


def longest_prefix(texts: list[bytes], data: bytes) -> bytes | None:
    return max((t for t in texts if data.startswith(t)), key=len, default=None)


def bits(score: float) -> int:
    """A number that orders float32 scores as their bits do."""
    (number,) = struct.unpack("<i", struct.pack("<f", score))
    return number if number >= 0 else -(number & 0x7FFFFFFF) - 1


@dataclass
class Definition:
    """Merging over symbols. ``order`` makes scores comparable; ``types`` may be merged to."""

    vocabulary: Vocabulary
    types: frozenset[PieceType]
    order: object
    offers: dict[str, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ids = {piece.text: i for i, piece in enumerate(self.vocabulary.pieces)}

    def mergeable(self, left: Symbol, right: Symbol) -> int | None:
        if left.frozen or right.frozen:
            return None
        found = self.ids.get(left.text + right.text)
        if found is None or self.vocabulary.pieces[found].type not in self.types:
            return None
        return found

    def offered(self, symbols: list[Symbol], index: int) -> None:
        if not 0 <= index < len(symbols) - 1:
            return
        left, right = symbols[index], symbols[index + 1]
        found = self.mergeable(left, right)
        if found is not None and self.vocabulary.pieces[found].type is PieceType.UNUSED:
            self.offers[left.text + right.text] = (left.text, right.text)

    def merged(self, symbols: list[Symbol]) -> list[Symbol]:
        """Repeat: merge the best-scoring pair, the leftmost of equals."""
        self.offers.clear()
        for index in range(len(symbols) - 1):
            self.offered(symbols, index)
        while True:
            best = None
            for index in range(len(symbols) - 1):
                found = self.mergeable(symbols[index], symbols[index + 1])
                if found is None:
                    continue
                score = self.order(self.vocabulary.pieces[found].score)
                if best is None or score > best[0]:
                    best = score, index
            if best is None:
                return symbols
            index = best[1]
            joined = Symbol(symbols[index].text + symbols[index + 1].text)
            symbols = [*symbols[:index], joined, *symbols[index + 2 :]]
            self.offered(symbols, index - 1)
            self.offered(symbols, index)

    def split(self, text: str, depth: int = 0) -> list[tuple[str, bool]]:
        """The parts of an UNUSED piece, as they were last offered; True where it got too deep."""
        found = self.ids.get(text)
        if depth > 100:
            return [(text, True)]
        if found is None or self.vocabulary.pieces[found].type is not PieceType.UNUSED:
            return [(text, False)]
        if text not in self.offers:
            return [(text, False)]
        left, right = self.offers[text]
        return self.split(left, depth + 1) + self.split(right, depth + 1)


def by_sentencepiece(vocabulary: Vocabulary, data: bytes) -> list[int]:
    """The ids that SentencePiece 0.2.3 defines."""
    known = {PieceType.NORMAL, PieceType.USER_DEFINED}
    definition = Definition(vocabulary, frozenset(known | {PieceType.UNUSED}), bits)
    rest = normalized(vocabulary, data).encode()
    users = user_defined(vocabulary)
    symbols = []
    while rest:
        user = longest_prefix(users, rest)
        text = user or first_character(rest)[0].encode()
        symbols.append(Symbol(text.decode(), user is not None))
        rest = rest[len(text) :]
    ids: list[int] = []
    unknown = False
    for symbol in definition.merged(symbols):
        for text, deep in definition.split(symbol.text):
            found = definition.ids.get(text)
            usable = found is not None and (deep or vocabulary.pieces[found].type in known)
            if usable:
                ids.append(found)
            elif vocabulary.byte_fallback:
                ids += [definition.ids[f"<0x{byte:02X}>"] for byte in text.encode()]
            elif not unknown:
                ids.append(vocabulary.unk_id)
            unknown = not usable
    return ids


def by_llama_cpp(vocabulary: Vocabulary, data: bytes) -> list[int]:
    """The ids that llama.cpp's SPM defines, for texts in UTF-8."""
    definition = Definition(vocabulary, frozenset(PieceType), lambda score: score)
    parts: list[str | int] = [data.decode()] if data else []
    users = [(i, p.text) for i, p in enumerate(vocabulary.pieces) if p.type == 4]
    for user_id, user in sorted(users, key=lambda one: -len(one[1].encode())):
        cut: list[str | int] = []
        for part in parts:
            if isinstance(part, int):
                cut.append(part)
                continue
            for k, text in enumerate(part.split(user)):
                cut += [user_id] * (k > 0) + [text] * bool(text)
        parts = cut
    ids: list[int] = []
    spaced = vocabulary.normalizer.add_dummy_prefix
    after_symbol = True
    for part in parts:
        if isinstance(part, int):
            ids.append(part)
            after_symbol = True
            continue
        text = (" " if spaced and after_symbol else "") + part
        after_symbol = False
        for symbol in definition.merged([Symbol(c) for c in text.replace(" ", "▁")]):
            found = definition.ids.get(symbol.text)
            if found is None:
                ids += [definition.ids[f"<0x{byte:02X}>"] for byte in symbol.text.encode()]
            else:
                ids.append(found)
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
    scores = draw(st.lists(st.sampled_from(SCORES), min_size=1, max_size=4))
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
