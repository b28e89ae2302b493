"""A user's tokenizer.json as it is: whether the plain model says all of it, and what libraries get.

The plain model is read from a file step by step, and a file can be written from the model
(:mod:`tokenizer_json_out`). Where the steps of the two are not alike but for their spelling, the
model has understood the file by half, and only those may run it who are given the file.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.model import Algorithm, Unexpressed
from corpora.vocabularies.pattern_spellings import plain_spelling
from corpora.vocabularies.patterns import PATTERNS
from corpora.vocabularies.reading import shown_json
from corpora.vocabularies.tokenizer_json_added import kept
from corpora.vocabularies.tokenizer_json_out import steps_of
from corpora.vocabularies.tokenizer_json_steps import PUNCTUATION, flat, named

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from corpora.vocabularies.model import AddedToken, Vocabulary

Json = dict[str, Any]
Step = tuple[object, ...]
"""A step without its spelling: equal ones do the same."""

_MARK = "▁"

_WORDPIECE_FIELDS = {"unk_token", "continuing_subword_prefix", "max_input_chars_per_word"}
"""Without any of these the library takes no model for WordPiece."""


def unlike(normalizer: object, pre_tokenizer: object, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The steps of a file that the plain model read from it would write in another way.

    vocabulary: what was read from the file. Empty if it says the same.
    """
    if vocabulary.algorithm is Algorithm.WORDPIECE:
        return ()  # its reader knows one pipeline alone, and all its flags
    parts = steps_of(vocabulary)
    normalizers = [*_normalizers(normalizer)]
    splits = [*_splits(pre_tokenizer)]
    if ("Replace", ("String", " "), _MARK) in normalizers:
        # Gemma's: no space is left to split at.
        splits = [step for step in splits if step[:2] != ("Split", " ")]
    steps: list[str] = []
    if normalizers != [*_normalizers(parts.get("normalizer"))]:
        steps.append(f"normalizer {_names(normalizers)}")
    if splits != [*_splits(parts.get("pre_tokenizer"))]:
        steps.append(f"pre_tokenizer {_names(splits)}")
    return tuple(steps)


def kind_of(kind: str | None, fields: Collection[str], *, mapping: bool) -> str:
    """The type of a model. Files of before 2021 name none, and the library goes by its fields.

    fields: those that it has. mapping: whether ``vocab`` is an object, and no list of pairs.
    """
    if kind:
        return kind
    if "merges" in fields:
        return "BPE"
    if not mapping:
        return "Unigram"
    return "WordPiece" if _WORDPIECE_FIELDS.issubset(fields) else "WordLevel"


@lru_cache(maxsize=4)
def made_by_model(vocabulary: Vocabulary) -> frozenset[str]:
    """The texts of the added tokens that the file's model makes by itself, of ordinary text.

    Empty for other formats. Byte-pair encoding makes what a merge gives, single characters, byte
    pieces, and with ``ignore_merges`` any token; the other models whatever their vocabulary has.
    """
    from corpora.vocabularies.sentencepiece_model import byte_of  # noqa: PLC0415 (loads protobuf)

    if vocabulary.native is None or vocabulary.format != "tokenizer.json":
        return frozenset()
    model: Json = json.loads(vocabulary.native.content)["model"]
    vocab, added = model["vocab"], {token.text for token in vocabulary.added_tokens}
    if isinstance(vocab, list):
        return frozenset(added.intersection(text for text, _ in vocab))
    known = added.intersection(vocab)
    if vocabulary.algorithm is not Algorithm.BPE or model.get("ignore_merges"):
        return frozenset(known)
    merges = (one.split(" ") if isinstance(one, str) else one for one in model.get("merges") or ())
    prefix = len(model.get("continuing_subword_prefix") or "")
    merged = {left + right[prefix:] for left, right in merges}
    bytes_too = bool(model.get("byte_fallback"))
    return frozenset(
        text
        for text in known
        if text in merged or len(text) == 1 or (bytes_too and byte_of(text) is not None)
    )


def byte_level(normalizer: object, pre_tokenizer: object, where: str) -> bool:
    """Whether the model's symbols are bytes in GPT-2's alphabet."""
    steps = [*_normalizers(normalizer, where), *_splits(pre_tokenizer, where)]
    return any(step[0] == "ByteLevel" for step in steps)


def marks_spaces(normalizer: object, pre_tokenizer: object, where: str) -> bool:
    """Whether some step makes U+2581 of spaces, so that tokens have it for them."""
    replaced = any(s[0] == "Replace" and s[2] == _MARK for s in _normalizers(normalizer, where))
    return replaced or any(step[0] == "Metaspace" for step in _splits(pre_tokenizer, where))


def check_added(
    vocab: Mapping[str, int], added: Sequence[AddedToken], where: str, size: int | None = None
) -> None:
    """That each added token has an id of its own, which tokenizers keeps. Raises Unexpressed.

    The library takes the next id past the vocabulary's size, which may be another token's where
    ids of the vocabulary have holes. size: how many tokens the model has, if not that of ``vocab``.
    """
    found = kept(vocab, len(vocab) if size is None else size, added)
    if found.remark:
        raise Unexpressed(where, (found.remark,))
    taken, texts = set(vocab.values()), set[str]()
    for token in added:
        shown = f"the added token {shown_json(token.text)}"
        if token.text in texts:
            raise Unexpressed(where, (f"{shown}, which is there twice, with other flags",))
        if token.text not in vocab and token.id in taken:
            raise Unexpressed(
                where, (f"the id {token.id} of {shown}, which is another token's, too",)
            )
        texts.add(token.text)


def given(vocabulary: Vocabulary, *, specials: bool = True, post_processor: bool = True) -> bytes:
    """The vocabulary's own file for a library that reads it.

    Truncation and padding are left out, which are no part of encoding a text, and a decoder that
    the plain model does not have, where it has all the rest: then decoders are compared by that
    which it has. specials: with the special tokens, for who can leave them unread or is to read
    them. post_processor: with it, for who leaves it aside when asked for the tokens of the text.
    Where there is nothing to leave out, it is the user's bytes.
    """
    native = vocabulary.native
    assert native is not None
    document: Json = json.loads(native.content)
    changes: Json = {
        field: None for field in ("truncation", "padding") if document.get(field) is not None
    }
    if not post_processor and document.get("post_processor") is not None:
        changes["post_processor"] = None
    if not specials:
        ordinary = [one for one in document.get("added_tokens") or [] if not one.get("special")]
        if ordinary != (document.get("added_tokens") or []):
            changes["added_tokens"] = ordinary
    if not native.unexpressed:
        ours = steps_of(vocabulary)["decoder"]
        if _decoding(document.get("decoder")) != _decoding(ours):
            changes["decoder"] = ours
    if not changes:
        return native.content
    return json.dumps({**document, **changes}, ensure_ascii=False).encode("utf-8", "surrogatepass")


def with_dropout(content: bytes, dropout: float | None) -> bytes:
    """A file with its dropout taken out, or put back."""
    document: Json = json.loads(content)
    document["model"] = {**document["model"], "dropout": dropout}
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _normalizers(part: object, where: str = "") -> Iterator[Step]:
    """The steps of a normalizer, without those that do nothing."""
    for _, step in flat(part, "normalizer", "normalizers", where):
        if step["type"] != "Precompiled" or step.get("precompiled_charsmap"):
            yield _step(step)


def _splits(part: object, where: str = "") -> Iterator[Step]:
    """The steps of a pre-tokenizer, the split inside ByteLevel as one before it."""
    for _, step in flat(part, "pre_tokenizer", "pretokenizers", where):
        if step["type"] == "ByteLevel":
            if step.get("use_regex", True):
                yield "Split", plain_spelling(PATTERNS["gpt2"][0]), "isolated", False
            yield "ByteLevel", bool(step.get("add_prefix_space", True))
        else:
            yield _step(step)


def _step(step: Json) -> Step:
    kind = step["type"]
    if kind == "Strip":
        return kind, step.get("strip_left", True), step.get("strip_right", True)
    if kind == "Replace":
        return kind, _pattern(step.get("pattern")), step.get("content")
    if kind == "Metaspace":
        scheme = step.get("prepend_scheme")
        if scheme is None:
            scheme = "never" if step.get("add_prefix_space") is False else "always"
        return kind, step.get("replacement", _MARK), scheme, step.get("split") is not False
    if kind == "Digits":
        return "Split", r"\p{N}" if step.get("individual_digits") else r"\p{N}+", "isolated", False
    if kind == "Punctuation":
        many = "+" if str(step.get("behavior")).lower() == "contiguous" else ""
        return "Split", plain_spelling(PUNCTUATION + many), "isolated", False
    if kind == "Split":
        how = str(step.get("behavior")).lower()
        pattern = _pattern(step.get("pattern"))
        split = plain_spelling(re.escape(str(pattern[1]))) if pattern[0] == "String" else pattern[1]
        return kind, split, how, bool(step.get("invert"))
    if kind == "Precompiled":
        return kind, step.get("precompiled_charsmap")
    rest = {name: value for name, value in step.items() if name != "type"}
    return kind, shown_json(rest)  # cut short, as no such step is ever written


def _pattern(pattern: object) -> tuple[str, object]:
    if isinstance(pattern, dict) and isinstance(pattern.get("Regex"), str):
        return "Regex", plain_spelling(pattern["Regex"])
    if isinstance(pattern, dict) and isinstance(pattern.get("String"), str):
        return "String", pattern["String"]
    return "?", shown_json(pattern)


def _names(steps: Iterable[Step]) -> str:
    names = [named({"type": step[0]}) for step in steps]
    return ", ".join(names) or "none"


def _decoding(decoder: object) -> list[Step]:
    """The decoder's steps; a ByteLevel one has no flags that matter."""
    found: list[Step] = []
    for _, step in flat(decoder, "decoder", "decoders", ""):
        found.append(("ByteLevel",) if step["type"] == "ByteLevel" else _step(step))
    return found
