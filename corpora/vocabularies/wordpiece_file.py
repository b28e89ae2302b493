"""WordPiece vocabularies, and how GGUF files spell them.

Hugging Face marks tokens that continue a word (``##ing``). llama.cpp marks those that begin one
(U+2581), as ``convert_hf_to_gguf.py`` rewrites them; tokens in brackets (``[unused0]``), which no
word can contain, and control tokens stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from corpora.vocabularies.limits import check_tokens
from corpora.vocabularies.model import (
    AddedToken,
    Algorithm,
    Alphabet,
    PieceType,
    RankOrder,
    Vocabulary,
    VocabularyError,
    WordPieceRules,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Json = dict[str, Any]

WORD_START = "▁"
"""llama.cpp has this before each word, and before each token that begins one."""

_BERT_IDS = {
    "cls_token_id": 101,
    "seperator_token_id": 102,
    "padding_token_id": 0,
    "mask_token_id": 103,
}
"""llama.cpp's own ids of the special tokens that it knows for the model ``bert``."""


def make(
    vocabulary_id: str,
    texts: Sequence[str | None],
    specials: Mapping[str, int],
    rules: WordPieceRules,
    *,
    unk_id: int,
    added: Iterable[AddedToken] = (),
    file_format: str,
    source_path: str | None = None,
) -> Vocabulary:
    """A vocabulary from the text of each id, None for holes; special tokens are no tokens.

    An empty text is a hole, too: no engine ever matches it.
    """
    aside = set(specials.values())
    tokens = tuple(
        text.encode() if text and token_id not in aside else None
        for token_id, text in enumerate(texts)
    )
    check_tokens(tokens, source_path or vocabulary_id)
    return Vocabulary(
        id=vocabulary_id,
        algorithm=Algorithm.WORDPIECE,
        format=file_format,
        tokens=tokens,
        alphabet=Alphabet.CHARACTERS,
        rank_order=RankOrder.IDS,
        special_tokens=dict(specials),
        added_tokens=tuple(added),
        unk_id=unk_id,
        source_path=source_path,
        wordpiece=rules,
    )


def rules_of(vocabulary: Vocabulary) -> WordPieceRules:
    """The rules of a WordPiece vocabulary. Raises VocabularyError where it has none."""
    if vocabulary.wordpiece is None:
        raise VocabularyError(
            vocabulary.id, "has no rules of WordPiece", "set Vocabulary.wordpiece"
        )
    return vocabulary.wordpiece


def texts_of(vocabulary: Vocabulary) -> dict[int, str]:
    """The text of each id, special tokens included: both engines match these, too."""
    texts = {i: t.decode() for i, t in enumerate(vocabulary.tokens) if t is not None}
    texts.update({token_id: text for text, token_id in vocabulary.special_tokens.items()})
    return texts


# --- GGUF -----------------------------------------------------------------------------------------


def from_gguf(
    vocabulary_id: str,
    texts: Sequence[str],
    types: Sequence[PieceType],
    *,
    unk_id: int,
    lowercase: bool,
    strip_accents: bool,
    source: str,
) -> Vocabulary:
    """The vocabulary of a GGUF file of the model ``bert``; llama.cpp knows no longest word."""
    if not 0 <= unk_id < len(texts) or not texts[unk_id]:
        raise VocabularyError(
            source, f"tokenizer.ggml.unknown_token_id is {unk_id}", "it must be a token's id"
        )
    rules = WordPieceRules(lowercase=lowercase, strip_accents=strip_accents)
    aside = (PieceType.CONTROL, PieceType.UNKNOWN)
    specials = {
        text: i for i, text in enumerate(texts) if text and (types[i] in aside or i == unk_id)
    }
    user_defined = [
        i for i, kind in enumerate(types) if texts[i] and kind is PieceType.USER_DEFINED
    ]
    as_they_are = {*specials.values(), *user_defined}
    return make(
        vocabulary_id,
        [
            text if i in as_they_are else _from_phantom(text, rules.prefix)
            for i, text in enumerate(texts)
        ],
        specials,
        rules,
        unk_id=unk_id,
        added=[
            *(AddedToken(text, i, special=True) for text, i in specials.items()),
            *(AddedToken(texts[i], i) for i in user_defined),
        ],
        file_format="gguf",
        source_path=source,
    )


def _bracketed(text: str) -> bool:
    return len(text) > 1 and text[0] == "[" and text[-1] == "]"


def _from_phantom(text: str, prefix: str) -> str:
    if text.startswith(WORD_START):
        return text.removeprefix(WORD_START)
    return text if _bracketed(text) else prefix + text


def gguf_texts(vocabulary: Vocabulary) -> dict[int, str]:
    """The text of each id in a GGUF file: what llama.cpp matches. Two ids may come out alike."""
    rules = rules_of(vocabulary)
    aside = {*vocabulary.special_tokens.values(), *(t.id for t in vocabulary.added_tokens)}
    return {
        token_id: text
        if token_id in aside or _bracketed(text)
        else text.removeprefix(rules.prefix)
        if rules.prefix and text.startswith(rules.prefix)
        else WORD_START + text
        for token_id, text in texts_of(vocabulary).items()
    }


def gguf_trouble(vocabulary: Vocabulary) -> str | None:
    """Why llama.cpp cannot run the vocabulary, in one line; None if it can."""
    rules = rules_of(vocabulary)
    if vocabulary.unk_id is None:
        return "GGUF needs an unknown token"
    if not (rules.clean_text and rules.handle_chinese_chars):
        return "GGUF's WordPiece always cleans the text and separates Chinese characters"
    if any(not token.special for token in vocabulary.added_tokens):
        return "has added tokens that are not special"
    texts = gguf_texts(vocabulary).values()
    if len(set(texts)) < len(texts):
        return "two tokens have one text, and GGUF's must be distinct"
    return None


def to_gguf_fields(vocabulary: Vocabulary) -> Json:
    """The ``tokenizer.ggml.*`` fields of a GGUF file; holes are named as its converter does."""
    rules, texts = rules_of(vocabulary), gguf_texts(vocabulary)
    size = max([len(vocabulary.tokens) - 1, *texts]) + 1
    types = [PieceType.NORMAL if i in texts else PieceType.UNUSED for i in range(size)]
    for token_id in vocabulary.special_tokens.values():
        types[token_id] = PieceType.CONTROL
    fields: Json = {
        "tokens": [texts.get(token_id, f"[PAD{token_id}]") for token_id in range(size)],
        "token_type": [int(kind) for kind in types],
        "unknown_token_id": vocabulary.unk_id,
        "normalizer.lowercase": rules.lowercase,
        "normalizer.strip_accents": rules.strip_accents,
    }
    for name, own in _BERT_IDS.items():  # llama.cpp looks its own up unless told
        if own >= size:
            fields[name] = vocabulary.unk_id
    return fields
