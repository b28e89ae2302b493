"""GGUF files (llama.cpp), read to the plain model and written from it; also gzipped.

Vocabulary models ``gpt2`` (byte-level BPE), ``llama`` (SentencePiece BPE, llama.cpp's SPM),
``t5`` (unigram, llama.cpp's UGM) and ``bert`` (WordPiece, llama.cpp's WPM). Of any other model
the tokens alone are read, and llama.cpp runs it. What is written is a file of metadata alone, as
llama.cpp reads it with ``vocab_only``; the same vocabulary gives the same bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from corpora.vocabularies import gguf_metadata, wordpiece_file
from corpora.vocabularies.byte_alphabet import spell, unspell
from corpora.vocabularies.gguf_controls import ROLES, controls_of
from corpora.vocabularies.limits import COPY, MAX_IDS, MAX_MERGES, check_count, check_tokens
from corpora.vocabularies.model import (
    AddedToken,
    Algorithm,
    Alphabet,
    Merges,
    NativeFile,
    Normalizer,
    Piece,
    PieceType,
    RankOrder,
    Vocabulary,
    VocabularyError,
)
from corpora.vocabularies.patterns import GGUF_IGNORE_MERGES, GGUF_PRE, PATTERNS, splits_of
from corpora.vocabularies.reading import shown, shown_json
from corpora.vocabularies.sentencepiece_model import from_pieces
from corpora.vocabularies.tokenizer_json_out import merge_list

if TYPE_CHECKING:
    from collections.abc import Mapping

_T = TypeVar("_T")

_NAMES: dict[type, str] = {
    str: "a string",
    bool: "true or false",
    int: "an integer",
    list: "an array of strings",
    np.ndarray: "an array of numbers",
}

_T5_UNKNOWN = 2
_BERT_UNKNOWN = 100
"""llama.cpp's own id of WordPiece's unknown token, for files that name none."""

_TYPES = {int(kind): kind for kind in PieceType}

STEPS_SHOWN = 3
"""Tokens beyond the byte alphabet that are named: a file may be full of them."""

_DEFAULT_BOS = 11
"""llama.cpp's own id of a byte-level vocabulary's BOS and EOS, which it looks up unless told."""

_SPM_RESERVED = 3
"""The number of ids of SentencePiece pieces that llama.cpp looks up unless told: the first three
are the unknown piece, BOS and EOS."""


# --- reading --------------------------------------------------------------------------------------


def from_bytes(
    content: bytes, vocabulary_id: str, source: str, *, pattern: str | None = None
) -> Vocabulary:
    """The vocabulary of a GGUF file's content; ``source`` names the file in errors."""
    fields = _Fields(gguf_metadata.read(content, source), source)
    kind = fields.get("model", str)
    if kind is None:
        raise VocabularyError(
            source, "has no tokenizer.ggml.model", "give a GGUF file with a vocabulary"
        )
    if kind == "gpt2":
        return _read_bytes(fields, vocabulary_id, pattern)
    if pattern is not None:
        raise VocabularyError(
            source, f"#pattern={pattern} does not apply", "drop it: only BPE over bytes has one"
        )
    if kind == "bert":
        return _read_wordpiece(fields, vocabulary_id)
    if kind in ("llama", "t5"):
        return _read_pieces(fields, vocabulary_id, unigram=kind == "t5")
    return _of_another_model(fields, vocabulary_id, kind)


class _Fields:
    """The ``tokenizer.ggml.*`` fields of a file, the type of each checked when it is asked for."""

    def __init__(self, values: Mapping[str, gguf_metadata.Value], source: str) -> None:
        self.source = source
        self._values = values

    def get(self, name: str, kind: type[_T]) -> _T | None:
        """A field, None where the file has none."""
        value = self._values.get(f"tokenizer.ggml.{name}")
        if value is not None and type(value) is not kind:
            had = "an array" if isinstance(value, list | np.ndarray) else f"{shown(value)}"
            raise self.fault(name, f"is {had}, not {_NAMES[kind]}")
        return value

    def fault(self, name: str, what: str, mend: str = COPY) -> VocabularyError:
        """The error that a field is wrong."""
        return VocabularyError(self.source, f"tokenizer.ggml.{name} {what}", mend)

    def flag(self, name: str, default: bool) -> bool:
        """A truth value."""
        value = self.get(name, bool)
        return default if value is None else value

    def token_id(self, name: str, default: int | None, count: int) -> int | None:
        """The id of one of ``count`` tokens."""
        value = self.get(name, int)
        value = default if value is None else value
        if value is not None and not 0 <= value < count:
            raise self.fault(name, f"is {value}", "it must be a token's id")
        return value

    def strings(self, name: str, most: int) -> list[str]:
        """A list of strings that must be there, with no more than ``most`` of them."""
        texts = self.get(name, list)
        if not texts:
            raise VocabularyError(self.source, f"has no tokenizer.ggml.{name}", COPY)
        check_count(len(texts), most, f"tokenizer.ggml.{name}", self.source)
        return texts

    def numbers(self, name: str, kinds: str, count: int) -> list[Any] | None:
        """A number for each of ``count`` tokens; None where the file has none."""
        array = self.get(name, np.ndarray)
        if array is None:
            return None
        if array.dtype.kind not in kinds:
            raise self.fault(name, f"is an array of {array.dtype.name}")
        if len(array) < count:
            raise self.fault(name, f"has {len(array)} entries for {count} tokens")
        numbers: list[Any] = array.tolist()
        return numbers[:count]  # llama.cpp looks at no more either

    def types(self, count: int) -> tuple[list[PieceType], tuple[str, ...]]:
        """The type of each token as the file has it, UNUSED for what is none; NORMAL without any.

        And a line for a type that is none, of which llama.cpp alone knows what it makes.
        """
        numbers = self.numbers("token_type", "iu", count)
        if numbers is None:
            return [PieceType.NORMAL] * count, ()
        odd = next((at for at, number in enumerate(numbers) if number not in _TYPES), None)
        types = [_TYPES.get(number, PieceType.UNUSED) for number in numbers]
        if odd is None:
            return types, ()
        return types, (f"tokenizer.ggml.token_type[{odd}] {numbers[odd]}, which is not a type",)

    def types_of(self, texts: list[str]) -> tuple[list[PieceType], tuple[str, ...]]:
        """The type of each token as llama.cpp has it, who overrides what the file says of some.

        And a line for what only llama.cpp can tell.
        """
        types, odd = self.types(len(texts))
        named = [role for role in ROLES if self.get(f"{role}_token_id", int) is not None]
        controls = controls_of(texts, named)
        for at, text in enumerate(texts):
            if text in controls.texts:
                types[at] = PieceType.CONTROL
        if not controls.unknown:
            return types, odd
        some = ", ".join(map(shown_json, controls.unknown[:STEPS_SHOWN]))
        return types, (*odd, f"several tokens for one part of filling a gap ({some})")

    def raw(self, name: str) -> bytes | None:
        """The bytes of an array of bytes."""
        array = self.get(name, np.ndarray)
        if array is not None and array.dtype.itemsize != 1:
            raise self.fault(name, "is not an array of bytes")
        return None if array is None else array.tobytes() or None


def _with_steps(vocabulary: Vocabulary, steps: tuple[str, ...]) -> Vocabulary:
    """The vocabulary, for llama.cpp alone where there are steps that the plain model lacks.

    The content is read again by who needs it: a file may be large with weights.
    """
    return replace(vocabulary, native=NativeFile(b"", unexpressed=steps)) if steps else vocabulary


def _of_another_model(fields: _Fields, name: str, kind: str) -> Vocabulary:
    """What is known of a vocabulary that llama.cpp alone can run: tokens, by their texts."""
    texts = fields.strings("tokens", MAX_IDS)
    types, _ = fields.types_of(texts)
    tokens: list[bytes | None] = []
    specials: dict[str, int] = {}
    for token_id, (text, type_) in enumerate(zip(texts, types, strict=True)):
        if type_ is PieceType.BYTE and re.fullmatch("<0x[0-9A-Fa-f]{2}>", text):
            tokens.append(bytes([int(text[3:5], 16)]))
        else:
            ordinary = type_ in (PieceType.NORMAL, PieceType.USER_DEFINED)
            tokens.append(text.encode() or None if ordinary else None)
        if text and type_ in (PieceType.CONTROL, PieceType.UNKNOWN):
            specials[text] = token_id
    check_tokens(tokens, fields.source)
    made = Vocabulary(
        id=name,
        algorithm=Algorithm.BPE,
        format="gguf",
        tokens=tuple(tokens),
        alphabet=Alphabet.CHARACTERS,
        rank_order=RankOrder.MERGES,
        normalizer=Normalizer(escape_whitespaces=any("\u2581" in text for text in texts)),
        special_tokens=specials,
        unk_id=fields.token_id("unknown_token_id", None, len(texts)),
        source_path=fields.source,
    )
    step = f"tokenizer.ggml.model {shown_json(kind)}, which tokgate does not know"
    return _with_steps(made, (step,))


def _read_bytes(fields: _Fields, name: str, pattern: str | None) -> Vocabulary:
    texts = fields.strings("tokens", MAX_IDS)
    tokens: list[bytes | None] = []
    ids: dict[str, int] = {}
    added: list[AddedToken] = []
    beyond: list[str] = []
    types, steps_of_types = fields.types_of(texts)
    said, _ = fields.types(len(texts))
    for token_id, (text, kind) in enumerate(zip(texts, types, strict=True)):
        if not text:  # a hole: nothing ever yields it
            tokens.append(None)
            continue
        if kind is PieceType.NORMAL:
            token = unspell(text)
            if token is None:
                # Such as Command R's U+200D, which llama.cpp takes for no bytes at all.
                token = text.encode()
                beyond.append(f"the token {shown_json(text)} beyond the byte alphabet")
            if ids.setdefault(text, token_id) != token_id:
                what = f"{shown(text)} repeats token {ids[text]}"
                raise fields.fault(f"tokens[{token_id}]", what, "remove one of them")
            tokens.append(token)
            continue
        tokens.append(text.encode() if kind is PieceType.USER_DEFINED else None)
        if kind in (PieceType.CONTROL, PieceType.USER_DEFINED, PieceType.UNKNOWN):
            special = kind is not PieceType.USER_DEFINED
            added.append(AddedToken(text, token_id, special=special))
        if kind is PieceType.USER_DEFINED or said[token_id] is PieceType.NORMAL:
            ids.setdefault(text, token_id)
    check_tokens(tokens, fields.source)
    pre = fields.get("pre", str) or "default"
    splits = splits_of(pattern, fields.source) if pattern else PATTERNS[GGUF_PRE.get(pre, "none")]
    steps = [*beyond[:STEPS_SHOWN], *steps_of_types]
    if pattern is None and pre not in GGUF_PRE:
        steps.append(f"tokenizer.ggml.pre {shown_json(pre)}, whose pattern tokgate does not know")
    merges, lacking = _merges(fields, ids)
    # A control token by its text alone that merges build (qwen2's) is what text yields, too.
    for token_id in set(merges.merged.tolist()):
        if tokens[token_id] is None:
            tokens[token_id] = unspell(texts[token_id])
    made = Vocabulary(
        id=name,
        algorithm=Algorithm.BPE,
        format="gguf",
        tokens=tuple(tokens),
        merges=merges,
        rank_order=RankOrder.MERGES,
        splits=splits,
        special_tokens={token.text: token.id for token in added if token.special},
        added_tokens=tuple(added),
        ignore_merges=pre in GGUF_IGNORE_MERGES,
        source_path=fields.source,
    )
    return _with_steps(made, (*steps, *lacking))


def _merges(fields: _Fields, ids: dict[str, int]) -> tuple[Merges, list[str]]:
    """The merges, and a line for those of tokens that are not there.

    llama.cpp merges texts, and looks for their tokens in the end; no other engine does.
    """
    triples: list[tuple[int, int, int]] = []
    lacking: list[str] = []
    for rank, line in enumerate(fields.strings("merges", MAX_MERGES)):
        # The first space separates: the alphabet has none, though a token may not be of it.
        left, _, right = line.partition(" ")
        if not left or not right:
            raise fields.fault(f"merges[{rank}]", f"{shown(line)} is not a pair")
        try:
            triples.append((ids[left], ids[right], ids[left + right]))
        except KeyError:
            needs = "which needs a missing token"
            lacking.append(f"tokenizer.ggml.merges[{rank}] {shown_json(line)}, {needs}")
    return Merges.of(triples), lacking[:STEPS_SHOWN]


def _read_pieces(fields: _Fields, name: str, *, unigram: bool) -> Vocabulary:
    texts = fields.strings("tokens", MAX_IDS)
    scores = fields.numbers("scores", "iuf", len(texts))
    types, steps = fields.types_of(texts)
    if not scores:
        scores, steps = [0.0] * len(texts), (*steps, "pieces without tokenizer.ggml.scores")
    normalizer = Normalizer(
        add_dummy_prefix=fields.flag("add_space_prefix", not unigram), escape_whitespaces=True
    )
    if unigram:
        normalizer = replace(
            normalizer,
            charsmap=fields.raw("precompiled_charsmap"),
            remove_extra_whitespaces=fields.flag("remove_extra_whitespaces", False),
            escape_whitespaces=fields.flag("escape_whitespaces", True),
            treat_whitespace_as_suffix=fields.flag("treat_whitespace_as_suffix", False),
        )
    # For T5 llama.cpp takes the id that its models have, where a file does not say any.
    default = _T5_UNKNOWN if unigram and len(texts) > _T5_UNKNOWN else None
    made = from_pieces(
        name,
        tuple(map(Piece, texts, scores, types)),
        algorithm=Algorithm.UNIGRAM if unigram else Algorithm.BPE,
        normalizer=normalizer,
        byte_fallback=not unigram,
        file_format="gguf",
        source_path=fields.source,
        unk_id=fields.token_id("unknown_token_id", default, len(texts)),
    )
    return _with_steps(made, steps)


def _read_wordpiece(fields: _Fields, name: str) -> Vocabulary:
    texts = fields.strings("tokens", MAX_IDS)
    lowercase = fields.flag("normalizer.lowercase", True)
    made = wordpiece_file.from_gguf(
        name,
        texts,
        fields.types_of(texts)[0],
        unk_id=fields.token_id("unknown_token_id", _BERT_UNKNOWN, len(texts)) or 0,
        lowercase=lowercase,
        strip_accents=fields.flag("normalizer.strip_accents", lowercase),
        source=fields.source,
    )
    return _with_steps(made, fields.types(len(texts))[1])


# --- writing --------------------------------------------------------------------------------------


def to_gguf(vocabulary: Vocabulary) -> bytes:
    """The content of a GGUF file with which llama.cpp encodes as ``vocabulary``.

    VocabularyError for what the format cannot say (:func:`trouble`).
    """
    fault = trouble(vocabulary)
    if fault is not None:
        raise VocabularyError(vocabulary.id, fault, "GGUF cannot express it")
    return gguf_metadata.write(*written(vocabulary))


def written(vocabulary: Vocabulary) -> tuple[str, dict[str, Any]]:
    """The name of the model, and the fields of the file."""
    normalizer = vocabulary.normalizer
    if vocabulary.algorithm is Algorithm.WORDPIECE:
        return "bert", wordpiece_file.to_gguf_fields(vocabulary)
    if vocabulary.alphabet is Alphabet.BYTES:
        return "gpt2", _bytes(vocabulary)
    fields = _pieces(vocabulary) | {"add_space_prefix": normalizer.add_dummy_prefix}
    if vocabulary.algorithm is Algorithm.BPE:
        return "llama", fields
    fields["remove_extra_whitespaces"] = normalizer.remove_extra_whitespaces
    if normalizer.charsmap:
        fields["precompiled_charsmap"] = normalizer.charsmap
    return "t5", fields


def trouble(vocabulary: Vocabulary) -> str | None:
    """Why the vocabulary cannot be written for llama.cpp, in one line; None if it can."""
    if vocabulary.normalizer.form is not None:
        return f"GGUF has no normalization to {vocabulary.normalizer.form}"
    if vocabulary.algorithm is Algorithm.WORDPIECE:
        return wordpiece_file.gguf_trouble(vocabulary)
    if vocabulary.pieces:
        return _pieces_trouble(vocabulary)
    if vocabulary.algorithm is not Algorithm.BPE or vocabulary.alphabet is not Alphabet.BYTES:
        return "neither byte-level BPE, nor WordPiece, nor of SentencePiece pieces"
    return _bytes_trouble(vocabulary)


def pre_name(vocabulary: Vocabulary) -> str | None:
    """The ``tokenizer.ggml.pre`` with the vocabulary's splits; None where llama.cpp has none.

    One that handles whole pre-tokens alike (``ignore_merges``), if there is one.
    """
    names = [name for name, pattern in GGUF_PRE.items() if PATTERNS[pattern] == vocabulary.splits]
    alike = [n for n in names if (n in GGUF_IGNORE_MERGES) == vocabulary.ignore_merges]
    return next(iter([*alike, *names]), None)


def _pieces_trouble(vocabulary: Vocabulary) -> str | None:
    normalizer = vocabulary.normalizer
    if vocabulary.added_tokens:
        return "GGUF has no added tokens in addition to SentencePiece pieces"
    if any(text_count > 1 for text_count in Counter(p.text for p in vocabulary.pieces).values()):
        return "two pieces have one text, and GGUF's must be distinct"
    if not normalizer.escape_whitespaces or normalizer.treat_whitespace_as_suffix:
        return "GGUF has white space escaped, and the dummy space before the text, always"
    if vocabulary.algorithm is Algorithm.UNIGRAM:
        if vocabulary.byte_fallback:
            return "GGUF's unigram model has no byte fallback"
        return None if vocabulary.unk_id is not None else "GGUF needs an unknown piece"
    if vocabulary.rank_order is not RankOrder.SCORES:
        return "its merges have no scores"
    plain = Normalizer(add_dummy_prefix=normalizer.add_dummy_prefix, escape_whitespaces=True)
    if normalizer != plain:
        return "GGUF's SentencePiece BPE has no normalization but the dummy space"
    return None if vocabulary.byte_fallback else "GGUF's SentencePiece BPE always has byte fallback"


def _bytes_trouble(vocabulary: Vocabulary) -> str | None:
    if pre_name(vocabulary) is None:
        return "GGUF has no name for its pre-tokenizer"
    if not len(vocabulary.merges):
        return "GGUF's byte-level BPE needs merges"
    for token in vocabulary.added_tokens:
        if token.single_word or token.lstrip or token.rstrip:
            return f"added token {token.text!r} asks for stripping or whole words"
    named = _named(vocabulary)
    specials = vocabulary.special_tokens.items()
    aside = [*specials, *((token.text, token.id) for token in vocabulary.added_tokens)]
    if any(named[token_id] != text for text, token_id in aside):
        return "two special tokens share an id"
    texts = _texts(vocabulary)
    if len(set(texts)) < len(texts):
        return "two tokens have one text, and GGUF's must be distinct"
    return None


def _named(vocabulary: Vocabulary) -> dict[int, str]:
    """The texts of special and added tokens by id."""
    named = {token_id: text for text, token_id in vocabulary.special_tokens.items()}
    return named | {token.id: token.text for token in vocabulary.added_tokens}


def _texts(vocabulary: Vocabulary) -> list[str]:
    """The text of each id: the bytes spelled in the byte alphabet, added tokens as they are."""
    named = _named(vocabulary)
    size = max([len(vocabulary.tokens) - 1, *named]) + 1
    tokens = [*vocabulary.tokens, *[None] * (size - len(vocabulary.tokens))]
    # Holes are named as convert_hf_to_gguf.py names them.
    spelled = [f"[PAD{i}]" if token is None else spell(token) for i, token in enumerate(tokens)]
    return [named.get(token_id, text) for token_id, text in enumerate(spelled)]


def _bytes(vocabulary: Vocabulary) -> dict[str, Any]:
    texts = _texts(vocabulary)
    types = [PieceType.UNUSED] * len(texts)
    for token_id, token in enumerate(vocabulary.tokens):
        if token is not None:
            types[token_id] = PieceType.NORMAL
    for token_id in vocabulary.special_tokens.values():
        types[token_id] = PieceType.CONTROL
    for added in vocabulary.added_tokens:
        types[added.id] = PieceType.CONTROL if added.special else PieceType.USER_DEFINED
    fields: dict[str, Any] = {
        "pre": pre_name(vocabulary),
        "tokens": texts,
        "token_type": [int(kind) for kind in types],
        "merges": [f"{texts[left]} {texts[right]}" for left, right, _ in merge_list(vocabulary)],
    }
    if len(texts) <= _DEFAULT_BOS:
        fields |= {"bos_token_id": 0, "eos_token_id": 0}
    return fields


def _pieces(vocabulary: Vocabulary) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "tokens": [piece.text for piece in vocabulary.pieces],
        "scores": [float(piece.score) for piece in vocabulary.pieces],
        "token_type": [int(piece.type) for piece in vocabulary.pieces],
    }
    if len(vocabulary.pieces) < _SPM_RESERVED:
        fields |= {"bos_token_id": 0, "eos_token_id": 0}
    if vocabulary.unk_id is not None:
        fields["unknown_token_id"] = vocabulary.unk_id
    return fields
