"""The plain model of a vocabulary: what a tokenizer is, apart from who runs it.

Every loader of this package makes a :class:`Vocabulary`, and every implementation is built from
one, so that two libraries which read different file formats can still be given the same data.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
from dataclasses import dataclass, field, fields
from enum import IntEnum, StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.errors import UserError
from corpora.plain_text import printable_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


class VocabularyError(UserError):
    """A vocabulary cannot be had: names the source, the field at fault, and the mend.

    ``str(error)`` is one line that can be shown to a user as it is.
    """

    def __init__(self, source: str, fault: str, mend: str) -> None:
        self.source = source
        self.fault = fault
        self.mend = mend
        super().__init__(printable_line(f"{source}: {fault}; {mend}"))

    def __reduce__(self) -> tuple[type[VocabularyError], tuple[str, str, str]]:
        # The default rebuilds from the joined message, which is not what __init__ takes.
        return VocabularyError, (self.source, self.fault, self.mend)


class Unexpressed(VocabularyError):
    """The plain model cannot express a file that is sound: who reads its format can still run it.

    steps: what it cannot express, each as a reader of the file would call it.
    """

    def __init__(self, source: str, steps: tuple[str, ...]) -> None:
        self.steps = steps
        fault = f"the plain model cannot express {'; '.join(steps)}"
        super().__init__(source, fault, "give a file without it")

    def __reduce__(self) -> tuple[type[Unexpressed], tuple[str, tuple[str, ...]]]:  # type: ignore[override]
        return Unexpressed, (self.source, self.steps)


class Algorithm(StrEnum):
    """How a text becomes tokens."""

    BPE = "bpe"
    UNIGRAM = "unigram"
    WORDPIECE = "wordpiece"
    WORDLEVEL = "wordlevel"
    """A token a word, without any inside words. Run by those alone who read a file of it."""


class Alphabet(StrEnum):
    """What byte-pair encoding starts from."""

    BYTES = "bytes"
    """Byte-level BPE: GPT-2, tiktoken, tekken."""
    CHARACTERS = "characters"
    """Characters of the normalized text, unknown ones by byte fallback: SentencePiece BPE.
    Unigram and WordPiece, whose alphabet is characters too, have the same."""


class RankOrder(StrEnum):
    """Where the priority of merges comes from."""

    IDS = "ids"
    """The rank of a merge is the id of its result (tiktoken, tekken)."""
    MERGES = "merges"
    """The rank of a merge is its place in an explicit list (Hugging Face, GGUF)."""
    SCORES = "scores"
    """The piece of the highest score is merged first (SentencePiece BPE)."""


class PieceType(IntEnum):
    """Types of a SentencePiece piece, as in ``sentencepiece_model.proto``."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


_TYPES_SHOWN = {kind: repr(kind) for kind in PieceType}


@dataclass(frozen=True, slots=True, repr=False)
class Piece:
    """One entry of a SentencePiece vocabulary: its text (escaped spaces as U+2581) and score."""

    text: str
    score: float
    type: PieceType

    def __repr__(self) -> str:
        """As every dataclass has it, but quicker: fingerprints are made of those of all pieces."""
        return f"Piece(text={self.text!r}, score={self.score!r}, type={_TYPES_SHOWN[self.type]})"


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token that Hugging Face's pipeline splits off before the model sees the text."""

    text: str
    id: int
    special: bool = False
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


@dataclass(frozen=True, slots=True)
class Normalizer:
    """What happens to a text before it is split: SentencePiece's normalizer spec, and NFC etc.

    charsmap: SentencePiece's ``precompiled_charsmap`` (XOR-compressed double array, then
        NUL-terminated replacements), or None.
    form: a Unicode normalization form ("NFC", ..) applied first, or None.
    add_dummy_prefix: a space is put before the text (after it in suffix mode), if non-empty.
    remove_extra_whitespaces: leading, trailing and doubled spaces are removed.
    escape_whitespaces: spaces become U+2581.
    treat_whitespace_as_suffix: the dummy space stands after the word.
    """

    charsmap: bytes | None = None
    form: str | None = None
    add_dummy_prefix: bool = False
    remove_extra_whitespaces: bool = False
    escape_whitespaces: bool = False
    treat_whitespace_as_suffix: bool = False


@dataclass(frozen=True, slots=True)
class WordPieceRules:
    """What WordPiece does besides matching: BERT's ``BasicTokenizer``, and limits of its words.

    clean_text: control characters are dropped, white space becomes the space.
    handle_chinese_chars: each CJK ideograph is a word of its own.
    strip_accents: the text is decomposed (NFD) and loses its nonspacing marks.
    lowercase: character by character, without context.
    prefix: what the text of a token that continues a word begins with.
    max_word: a word of more characters is unknown.
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool = True
    lowercase: bool = True
    prefix: str = "##"
    max_word: int = 100


@dataclass(frozen=True, slots=True, eq=False)
class Merges:
    """Merges in order of priority: three int32 arrays of one length, ``left + right = merged``."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    merged: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.merged)

    @classmethod
    def none(cls) -> Merges:
        """No merges at all: a vocabulary of single symbols, or a unigram one."""
        empty = np.empty(0, dtype=np.int32)
        return cls(empty, empty, empty)

    @classmethod
    def of(cls, triples: list[tuple[int, int, int]]) -> Merges:
        """Merges from ``(left id, right id, merged id)`` in order of priority."""
        table = np.array(triples, dtype=np.int32).reshape(-1, 3)
        return cls(*(np.ascontiguousarray(table[:, column]) for column in range(3)))

    def triples(self) -> list[tuple[int, int, int]]:
        """The merges as :meth:`of` takes them."""
        columns = (self.left.tolist(), self.right.tolist(), self.merged.tolist())
        return list(zip(*columns, strict=True))


@dataclass(frozen=True, slots=True)
class NativeFile:
    """The user's own file, which those are given as it is who read its format.

    content: unpacked, where the file was compressed. pattern: the pre-tokenizer's expression as it
    is spelled at its origin, for ranks; None where the plain model's is all that there is.
    unexpressed: steps of the file that the plain model cannot express. If there are any, only those
    take part who read the file.
    dropout: with this probability the file leaves a merge out; ``content`` is without, as encoding
    outside training wants none. sha256: that of the user's own file, where ``content`` is another.
    understood: in what ``content`` was changed to what its reference makes of it, as a sentence.
    beside: the files of a model's folder that stand beside it, or that it was made of, by name.
    remarks: what a user must know of the file besides.
    shared: ids that two tokens have. What they spell nobody can say, and what the file means only
    its reference.
    """

    content: bytes = field(repr=False)
    pattern: str | None = None
    unexpressed: tuple[str, ...] = ()
    dropout: float = 0.0
    sha256: str = ""
    understood: str = ""
    shared: frozenset[int] = frozenset()
    beside: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The data of one tokenizer.

    id: the name that the user gave (``tekken_240911``, ``o200k.tiktoken.gz``).
    tokens: the bytes of each id that ordinary text can yield; None for holes, for special and
        for control tokens. SentencePiece pieces keep U+2581 for the space; byte pieces
        (``<0xE2>``) are their one byte; WordPiece's that continue a word keep their prefix.
    merges: in order of priority; empty for unigram and WordPiece.
    pieces: for SentencePiece vocabularies (BPE and unigram), by id; else empty. Readers of files
        give them in columns (:class:`corpora.vocabularies.pieces.Pieces`).
    splits: regular expressions (``regex`` syntax) of the pre-tokenizer, applied one after
        another, each match and each gap between matches becoming a piece; empty for none.
    special_tokens: text to id of the tokens that only a special-token policy yields.
    added_tokens: those of Hugging Face's pipeline with their flags (special ones included).
    ignore_merges: a pre-token that is itself a token is emitted whole (Llama 3, tiktoken).
    wordpiece: the rules of a WordPiece vocabulary, None for the others.
    source_path: the original file, or None for a vocabulary that has none.
    native: what was read from that file, as it is; whoever changes a vocabulary drops it.
    """

    id: str
    algorithm: Algorithm
    format: str
    tokens: tuple[bytes | None, ...]
    merges: Merges = field(default_factory=Merges.none)
    pieces: Sequence[Piece] = ()
    alphabet: Alphabet = Alphabet.BYTES
    rank_order: RankOrder = RankOrder.IDS
    splits: tuple[str, ...] = ()
    normalizer: Normalizer = field(default_factory=Normalizer)
    special_tokens: Mapping[str, int] = field(default_factory=dict)
    added_tokens: tuple[AddedToken, ...] = ()
    unk_id: int | None = None
    byte_fallback: bool = False
    ignore_merges: bool = False
    source_path: str | None = None
    wordpiece: WordPieceRules | None = None
    native: NativeFile | None = None

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def pattern(self) -> str | None:
        """The pre-tokenizer's regular expression where there is exactly one, else None."""
        return self.splits[0] if len(self.splits) == 1 else None

    @property
    def unexpressed(self) -> tuple[str, ...]:
        """Steps of the file that this model cannot express; empty if it says all of it.

        Then tokens are their texts as well as they are known, and the rest serves generators.
        """
        return self.native.unexpressed if self.native is not None else ()

    @property
    def dropout(self) -> float:
        """The probability with which the vocabulary's file leaves a merge out."""
        return self.native.dropout if self.native is not None else 0.0

    @property
    def own_pattern(self) -> str | None:
        """:attr:`pattern` as it is spelled at its origin."""
        if self.native is not None and self.native.pattern is not None:
            return self.native.pattern
        return self.pattern

    @property
    def normalizes(self) -> bool:
        """Whether the tokens may spell another text than the input."""
        plain = self.normalizer == Normalizer() and self.wordpiece is None
        return not plain or bool(self.unexpressed)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the fields and the fingerprint, which whoever gets it asks for.

        Nothing else of what was computed so far: so what a process gets doesn't depend on what was
        asked of the vocabulary before, and another thread may ask for more meanwhile.
        """
        found = {each.name: self.__dict__[each.name] for each in fields(self)}
        return found | {"fingerprint": self.fingerprint}

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id of each token's bytes; the lowest where several ids share them."""
        found: dict[bytes, int] = {}
        for token_id, token in enumerate(self.tokens):
            if token is not None:
                found.setdefault(token, token_id)
        return found

    @cached_property
    def byte_ids(self) -> tuple[int | None, ...]:
        """The id of each single byte, None where the vocabulary lacks it (256 entries)."""
        return tuple(self.ids.get(bytes([byte])) for byte in range(256))

    @cached_property
    def byte_alphabet(self) -> bytes | None:
        """The bytes that can be encoded, or None where all can.

        Characters outside SentencePiece and WordPiece vocabularies become the unknown token, so
        those vocabularies encode anything.
        """
        if self.pieces or self.alphabet is Alphabet.CHARACTERS or self.unexpressed:
            return None
        if None not in self.byte_ids:
            return None
        return bytes(b for b, token_id in enumerate(self.byte_ids) if token_id is not None)

    def can_encode(self, data: bytes) -> bool:
        """Whether every byte of ``data`` has a token (see :attr:`byte_alphabet`)."""
        return self.byte_alphabet is None or not data.translate(None, self.byte_alphabet)

    @cached_property
    def max_token_bytes(self) -> int:
        """Length of the longest token, in bytes."""
        return max(map(len, filter(None, self.tokens)), default=0)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all that decides an encoding: equal fingerprints encode alike."""
        heads = [b"+%d:" % length for length in range(self.max_token_bytes + 1)]
        spelled = [b"-" if token is None else heads[len(token)] + token for token in self.tokens]
        digest = hashlib.sha256(b"".join(spelled))
        for column in (self.merges.left, self.merges.right, self.merges.merged):
            digest.update(column.tobytes())
        plain = (
            self.algorithm,
            self.alphabet,
            self.rank_order,
            self.pieces,
            self.splits,
            self.normalizer,
            sorted(self.special_tokens.items()),
            self.added_tokens,
            self.unk_id,
            self.byte_fallback,
            self.ignore_merges,
        )
        digest.update(repr(plain).encode())
        if self.wordpiece is not None:
            digest.update(repr(self.wordpiece).encode())
        if self.native is not None and self.native.unexpressed:
            digest.update(hashlib.sha256(self.native.content).digest())
            digest.update(repr(self.native.unexpressed).encode())
        return digest.hexdigest()

    def as_tokenizer_json(self, *, pretokenize: bool = True) -> bytes:
        """A tokenizer.json: the user's own, if it is one, else one that says the same.

        pretokenize: with the splits; without, the whole text is one piece. Raises VocabularyError
        for what the format cannot say.
        """
        if pretokenize and self.native is not None and self.format == "tokenizer.json":
            return self.native.content
        written: str = _writer("tokenizer_json_out").to_tokenizer_json(self, pretokenize)
        return written.encode()

    def as_sentencepiece(self) -> bytes:
        """A SentencePiece ``.model`` file, likewise. Raises VocabularyError."""
        if self.native is not None and self.format == "sentencepiece":
            return self.native.content
        content: bytes = _writer("sentencepiece_model").to_model_proto(self)
        return content

    def as_tiktoken(self) -> bytes:
        """A rank file: a line with base64 bytes and id for each token. Raises VocabularyError.

        An engine of ranks knows ids only: see :attr:`rank_order` for whether they decide alone.
        """
        if self.algorithm is not Algorithm.BPE or self.alphabet is not Alphabet.BYTES:
            raise VocabularyError(self.id, "is not byte-level BPE", "it has no ranks")
        lines = (b"%s %d\n" % (base64.b64encode(text), i) for text, i in self.ids.items())
        return b"".join(lines)

    def spell(self, ids: list[int]) -> bytes:
        """The concatenated bytes of ``ids``; special and added tokens as their text.

        Raises KeyError for an id that is none of these.
        """
        return b"".join(map(self.spelling, ids))

    def spelling(self, token_id: int) -> bytes:
        """The bytes of one id; a special or added token's text. KeyError for an id of none."""
        if 0 <= token_id < len(self.tokens):
            token = self.tokens[token_id]
            if token is not None:
                return token
        return self.special_spellings[token_id]

    @cached_property
    def special_spellings(self) -> dict[int, bytes]:
        """The texts of pieces and of special and added tokens, by id."""
        spellings = {i: p.text.encode() for i, p in enumerate(self.pieces)}
        spellings.update({i: text.encode() for text, i in self.special_tokens.items()})
        spellings.update({token.id: token.text.encode() for token in self.added_tokens})
        return spellings


def _writer(name: str) -> Any:
    """A module that writes a format. By its name: all of them import this one."""
    return importlib.import_module(f"corpora.vocabularies.{name}")
