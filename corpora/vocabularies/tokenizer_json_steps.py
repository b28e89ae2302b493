"""The normalizer and pre-tokenizer of a tokenizer.json, read into the plain model's terms."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from corpora.vocabularies.limits import COPY, LARGER, MAX_STEPS
from corpora.vocabularies.model import Normalizer, Unexpressed, VocabularyError
from corpora.vocabularies.patterns import PATTERNS, checked_split
from corpora.vocabularies.reading import convert, shown_json

Json = dict[str, Any]

_SPACE = "▁"

PUNCTUATION = r"[!-/:-@\[-`{-~\p{P}]"
"""Rust's ``is_punctuation`` of the tokenizers library: ASCII punctuation and symbols, and P."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What comes before the model.

    byte_level: the model's symbols are bytes in GPT-2's alphabet. words: a Metaspace parts the
    text at white space, so that no token spans two words.
    """

    normalizer: Normalizer
    splits: tuple[str, ...]
    byte_level: bool
    words: bool


class _Strip(msgspec.Struct):
    strip_right: bool = True


class _Precompiled(msgspec.Struct):
    precompiled_charsmap: str


class _Metaspace(msgspec.Struct):
    replacement: str = _SPACE
    prepend_scheme: str | None = None
    add_prefix_space: bool | None = None
    split: bool | None = None


class _ByteLevel(msgspec.Struct):
    add_prefix_space: bool = True
    use_regex: bool = True


class _Pattern(msgspec.Struct):
    Regex: str | None = None
    String: str | None = None


class _Split(msgspec.Struct):
    """Also Digits and Punctuation: each has some of the fields."""

    pattern: _Pattern | None = None
    behavior: str = ""
    individual_digits: bool = False


def read(normalizers: object, pre_tokenizers: object, where: str) -> Pipeline:
    """The pipeline of a tokenizer.json, from its ``normalizer`` and its ``pre_tokenizer``.

    Raises Unexpressed naming the steps that cannot be said.
    """
    unsaid: list[str] = []
    normalizer = _Normalizing(where)
    for field, step in flat(normalizers, "normalizer", "normalizers", where):
        try:
            normalizer.take(step, field)
        except Unexpressed as error:
            unsaid.extend(error.steps)
    splitting = _Splitting(where, normalizer.result)
    for field, step in flat(pre_tokenizers, "pre_tokenizer", "pretokenizers", where):
        try:
            splitting.take(step, field)
        except Unexpressed as error:
            unsaid.extend(error.steps)
    if unsaid:
        raise Unexpressed(where, tuple(unsaid))
    return Pipeline(
        normalizer=splitting.normalizer,
        splits=tuple(splitting.splits),
        byte_level=splitting.byte_level,
        words=splitting.words,
    )


def flat(
    step: Any, field: str, children: str, where: str, depth: int = 0
) -> list[tuple[str, Json]]:
    """The steps in order, each with the path of its field."""
    if step is None:
        return []
    if depth > MAX_STEPS:
        raise VocabularyError(where, f"{field} is nested deeper than {MAX_STEPS}", LARGER)
    if not isinstance(step, dict) or not isinstance(step.get("type"), str):
        raise VocabularyError(where, f"{field} has no type", COPY)
    if step["type"] != "Sequence":
        return [(field, step)]
    nested = step.get(children)
    if not isinstance(nested, list):
        raise VocabularyError(where, f"{field}.{children} is no list", COPY)
    return [
        found
        for index, child in enumerate(nested)
        for found in flat(child, f"{field}.{children}[{index}]", children, where, depth + 1)
    ]


class _Normalizing:
    """Gathers the normalizer's steps."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.result = Normalizer()

    def take(self, step: Json, field: str) -> None:
        """Add one step, which must come in the order that the plain model has."""
        now, kind = self.result, step["type"]
        if kind in ("NFC", "NFD", "NFKC", "NFKD") and now == Normalizer():
            self.result = replace(now, form=kind)
        elif kind == "Precompiled" and now == Normalizer():
            charsmap = self._charsmap(step, field)
            self.result = replace(now, charsmap=charsmap)
        elif kind == "Strip" and convert(step, _Strip, self.where, field).strip_right:
            self.result = replace(now, remove_extra_whitespaces=True)
        elif kind == "Replace":
            self._replace(step, field)
        elif kind == "Prepend" and step.get("prepend") in (_SPACE, " "):
            self.result = replace(now, add_dummy_prefix=True)
        else:
            raise _unsaid(self.where, field, step)

    def _replace(self, step: Json, field: str) -> None:
        pattern, content = step.get("pattern") or {}, step.get("content")
        if pattern == {"String": " "} and content == _SPACE:
            self.result = replace(self.result, escape_whitespaces=True)
        elif pattern == {"Regex": " {2,}"} and content in (_SPACE, " "):
            self.result = replace(self.result, remove_extra_whitespaces=True)
        else:
            raise _unsaid(self.where, field, step)

    def _charsmap(self, step: Json, field: str) -> bytes | None:
        try:
            packed = convert(step, _Precompiled, self.where, field).precompiled_charsmap
            return base64.b64decode(packed, validate=True) or None
        except ValueError as error:  # binascii.Error, or characters that are not ASCII
            raise VocabularyError(
                self.where, f"{field}.precompiled_charsmap is not base64 ({error})", COPY
            ) from None


class _Splitting:
    """Gathers the pre-tokenizer's steps."""

    def __init__(self, where: str, normalizer: Normalizer) -> None:
        self.where = where
        self.normalizer = normalizer
        self.splits: list[str] = []
        self.byte_level = False
        self.words = False

    def take(self, step: Json, field: str) -> None:
        """Add one step."""
        kind = step["type"]
        if kind == "Metaspace":
            self._metaspace(step, field)
        elif kind == "WhitespaceSplit":
            # As in XLM-R's and old T5's files, before Metaspace: white space only parts words.
            self.normalizer = replace(self.normalizer, remove_extra_whitespaces=True)
            self.words = True
        elif kind == "ByteLevel":
            self._byte_level(step, field)
        elif kind == "Split" and self._merely_escaped(step):
            return
        else:
            pattern = self._pattern(step, field)
            if self.byte_level and not re.fullmatch(r"(\[0-9\][+*]?)+", pattern):
                raise Unexpressed(self.where, (f"{field} {kind} after ByteLevel",))
            self.splits.append(pattern)

    def _merely_escaped(self, step: Json) -> bool:
        """Gemma's split at spaces, which its normalizer has replaced before."""
        return step.get("pattern") == {"String": " "} and self.normalizer.escape_whitespaces

    def _metaspace(self, step: Json, field: str) -> None:
        typed = convert(step, _Metaspace, self.where, field)
        if typed.replacement != _SPACE:
            raise _unsaid(self.where, field, step)
        scheme = typed.prepend_scheme
        if scheme is None:
            scheme = "never" if typed.add_prefix_space is False else "always"
        prefix = self.normalizer.add_dummy_prefix or scheme != "never"
        self.normalizer = replace(self.normalizer, add_dummy_prefix=prefix, escape_whitespaces=True)
        self.words = self.words or typed.split is not False

    def _byte_level(self, step: Json, field: str) -> None:
        typed = convert(step, _ByteLevel, self.where, field)
        if typed.add_prefix_space:
            raise Unexpressed(self.where, (f"{field} ByteLevel with add_prefix_space",))
        if typed.use_regex:
            self.splits.extend(PATTERNS["gpt2"])
        self.byte_level = True

    def _pattern(self, step: Json, field: str) -> str:
        """The regular expression whose matches and gaps are the pieces that the step makes."""
        kind = step["type"]
        if kind not in ("Digits", "Punctuation", "Split"):
            raise _unsaid(self.where, field, step)
        typed = convert(step, _Split, self.where, field)
        behavior = typed.behavior.lower()
        if kind == "Digits":
            return r"\p{N}" if typed.individual_digits else r"\p{N}+"
        if kind == "Punctuation" and behavior in ("isolated", "contiguous"):
            return PUNCTUATION + ("+" if behavior == "contiguous" else "")
        if kind == "Split" and behavior == "isolated" and typed.pattern is not None:
            if typed.pattern.Regex is not None:
                return checked_split(typed.pattern.Regex, self.where, f"{field}.pattern")
            if typed.pattern.String is not None:
                return re.escape(typed.pattern.String)
        raise _unsaid(self.where, field, step)


def named(step: Json) -> str:
    """A step by its type, and what the file says of it."""
    rest = {name: value for name, value in step.items() if name != "type"}
    kind = shown_json(step["type"])[1:-1]
    return f"{kind} {shown_json(rest)}" if rest else kind


def _unsaid(where: str, field: str, step: Json) -> Unexpressed:
    return Unexpressed(where, (f"{field} {named(step)}",))
