"""The normalizer, pre-tokenizer and decoder of a tokenizer.json, from the plain model and to it.

What is read from a file is only a first guess at what the plain model can say of it. The guess is
written again, and where the steps of the two are not alike but for their spelling, the plain model
cannot express the file (:func:`unlike`).

The steps are written as transformers' converters write them: byte-level BPE as GPT-2's and
tiktoken's, character BPE as ``LlamaConverter`` (legacy), unigram as ``SpmConverter``, WordPiece as
``BertConverter``; the normalizer's flags are honoured where the converters assume them.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec

from corpora.vocabularies.limits import COPY, LARGER, MAX_STEPS
from corpora.vocabularies.model import (
    Algorithm,
    Alphabet,
    Normalizer,
    VocabularyError,
    WordPieceRules,
)
from corpora.vocabularies.pattern_spellings import plain_spelling
from corpora.vocabularies.patterns import PATTERNS, checked_split
from corpora.vocabularies.reading import convert, shown_json
from corpora.vocabularies.wordpiece_file import rules_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from corpora.vocabularies.model import Vocabulary

Json = dict[str, Any]

SPACE = "▁"

PUNCTUATION = r"[!-/:-@\[-`{-~\p{P}]"
"""Rust's ``is_punctuation`` of the tokenizers library: ASCII punctuation and symbols, and P."""

FLAGS = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
"""Flags of a BertNormalizer, which the plain model has under the same names."""

_FORMS = ("NFC", "NFD", "NFKC", "NFKD")

_CHILDREN = {
    "normalizer": "normalizers",
    "pre_tokenizer": "pretokenizers",
    "decoder": "decoders",
}
"""The list of a Sequence, by the field of the file."""


# --- steps as the file has them -------------------------------------------------------------------


class _Pattern(msgspec.Struct, frozen=True):
    Regex: str | None = None
    String: str | None = None


class _Strip(msgspec.Struct, frozen=True):
    strip_left: bool = True
    strip_right: bool = True


class _Prepend(msgspec.Struct, frozen=True):
    prepend: str


class _Precompiled(msgspec.Struct, frozen=True):
    precompiled_charsmap: str


class _Replace(msgspec.Struct, frozen=True):
    pattern: _Pattern
    content: str


class _BertNormalizer(msgspec.Struct, frozen=True):
    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True


class _Metaspace(msgspec.Struct, frozen=True):
    replacement: str = SPACE
    prepend_scheme: str | None = None
    add_prefix_space: bool | None = None
    split: bool | None = None


class _ByteLevel(msgspec.Struct, frozen=True):
    add_prefix_space: bool = True
    use_regex: bool = True


class _Split(msgspec.Struct):
    pattern: _Pattern
    behavior: str = ""
    invert: bool = False


class _Digits(msgspec.Struct):
    individual_digits: bool = False


class _Punctuation(msgspec.Struct):
    behavior: str = "Isolated"


_KNOWN: dict[str, type] = {
    "Strip": _Strip,
    "Prepend": _Prepend,
    "Precompiled": _Precompiled,
    "Replace": _Replace,
    "BertNormalizer": _BertNormalizer,
    "Metaspace": _Metaspace,
    "ByteLevel": _ByteLevel,
    "Split": _Split,
    "Digits": _Digits,
    "Punctuation": _Punctuation,
}


@dataclass(frozen=True, slots=True)
class _Cut:
    """A split by an expression; of Split, Digits and Punctuation alike.

    expression: in its plain spelling. written: as the file has it.
    """

    expression: str
    how: str
    invert: bool = False
    written: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class _Other:
    """A step of a type without parameters, or of one that is not known here."""

    kind: str
    rest: str


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
        raise VocabularyError(where, f"{field}.{children} is not a list", COPY)
    return [
        found
        for index, child in enumerate(nested)
        for found in flat(child, f"{field}.{children}[{index}]", children, where, depth + 1)
    ]


def _steps(part: object, field: str, where: str = "") -> Iterator[tuple[str, object]]:
    """Each step with its name for messages, without its spelling: equal ones do the same."""
    for path, step in flat(part, field, _CHILDREN[field], where):
        rest = {name: value for name, value in step.items() if name != "type"}
        kind = shown_json(step["type"])[1:-1]
        shown = shown_json(rest)
        name = f"{path} {kind} {shown}" if rest else f"{path} {kind}"
        known = _KNOWN.get(step["type"])
        if field == "decoder" and known not in (_Metaspace, _Replace):
            yield name, _Other(kind, "" if known is _ByteLevel else shown)  # no flag of it matters
        elif known is None:
            yield name, _Other(kind, shown)
        else:
            for one in _plainly(convert(step, known, where, path), path, where):
                yield name, one


def _plainly(step: Any, path: str, where: str) -> Iterator[object]:
    """The same in fewer words: no step for one that does nothing, two for one that does two."""
    match step:
        case _Precompiled(charsmap):
            if charsmap:
                yield step
        case _BertNormalizer():
            accents = step.lowercase if step.strip_accents is None else step.strip_accents
            step = msgspec.structs.replace(step, strip_accents=accents)
            if any(getattr(step, flag) for flag in FLAGS):
                yield step
        case _Metaspace():
            scheme = "never" if step.add_prefix_space is False else "always"
            scheme = step.prepend_scheme or scheme
            yield _Metaspace(step.replacement, scheme, None, step.split is not False)
        case _ByteLevel():
            if step.use_regex:
                yield _cut(PATTERNS["gpt2"][0])
            yield _ByteLevel(step.add_prefix_space, use_regex=False)
        case _Digits():
            yield _cut(r"\p{N}" if step.individual_digits else r"\p{N}+")
        case _Punctuation() if step.behavior.lower() in ("isolated", "contiguous"):
            yield _cut(PUNCTUATION + ("+" if step.behavior.lower() == "contiguous" else ""))
        case _Punctuation():
            yield _Cut(PUNCTUATION, step.behavior)
        case _Split(pattern):
            written = re.escape(pattern.String or "")
            if pattern.Regex is not None:
                written = checked_split(pattern.Regex, where, f"{path}.pattern")
            yield _Cut(plain_spelling(written), step.behavior.lower(), step.invert, written)
        case _Replace(_Pattern(str(regex))):
            yield _Replace(_Pattern(plain_spelling(regex)), step.content)
        case _:
            yield step


def _cut(expression: str) -> _Cut:
    return _Cut(plain_spelling(expression), "isolated", written=expression)


# --- reading --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What comes before the model, as far as the plain model has words for it.

    byte_level: the model's symbols are bytes in GPT-2's alphabet. marks_spaces: some step makes
    U+2581 of spaces, so that tokens have it for them. flags: of a BertNormalizer, all off without
    one. normalizing, splitting: the steps with their names, for :func:`unlike`.
    """

    normalizer: Normalizer
    splits: tuple[str, ...]
    flags: dict[str, bool]
    byte_level: bool
    marks_spaces: bool
    normalizing: list[tuple[str, object]]
    splitting: list[tuple[str, object]]


_ESCAPE = _Replace(_Pattern(String=" "), SPACE)


def read(normalizer: object, pre_tokenizer: object, where: str) -> Pipeline:
    """The pipeline of a tokenizer.json; VocabularyError names a field that cannot be read."""
    normalizing = [*_steps(normalizer, "normalizer", where)]
    splitting = [*_steps(pre_tokenizer, "pre_tokenizer", where)]
    steps = [step for _, step in normalizing]
    if _ESCAPE in steps:  # Gemma's: no space is left to split at
        space = plain_spelling(re.escape(" "))
        splitting = [
            (name, step)
            for name, step in splitting
            if not (isinstance(step, _Cut) and step.expression == space)
        ]
    steps += [step for _, step in splitting]
    made, splits, flags = Normalizer(), list[str](), dict.fromkeys(FLAGS, False)
    for step in steps:
        match step:
            case _Other(kind) if kind in _FORMS:
                made = replace(made, form=kind)
            case _Precompiled(charsmap):
                made = replace(made, charsmap=_decoded(charsmap, where))
            case _Strip(_, True) | _Replace(_Pattern(" {2,}")):
                made = replace(made, remove_extra_whitespaces=True)
            case _Replace(_Pattern(None, " ")):
                made = replace(made, escape_whitespaces=True)
            case _Prepend():
                made = replace(made, add_dummy_prefix=True)
            case _BertNormalizer():
                flags = {flag: getattr(step, flag) for flag in FLAGS}
            case _Metaspace(_, scheme):
                prefix = made.add_dummy_prefix or scheme != "never"
                made = replace(made, add_dummy_prefix=prefix, escape_whitespaces=True)
            case _Cut():
                splits.append(step.written)
    return Pipeline(
        made,
        tuple(splits),
        flags,
        any(isinstance(step, _ByteLevel) for step in steps),
        any(isinstance(s, _Metaspace) or getattr(s, "content", "") == SPACE for s in steps),
        normalizing,
        splitting,
    )


def _decoded(charsmap: str, where: str) -> bytes | None:
    try:
        return base64.b64decode(charsmap, validate=True) or None
    except ValueError as error:  # binascii.Error, or characters that are not ASCII
        fault = f"normalizer: a precompiled_charsmap is not base64 ({error})"
        raise VocabularyError(where, fault, COPY) from None


def unlike(pipeline: Pipeline, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The steps of a file that the plain model read from it would write in another way.

    vocabulary: what was read from the file. Empty if it says the same.
    """
    written, unlike = steps_of(vocabulary), dict[str, str]()
    lacking: list[str] = []
    for part, theirs in (
        ("normalizer", pipeline.normalizing),
        ("pre_tokenizer", pipeline.splitting),
    ):
        ours = [step for _, step in _steps(written.get(part), part)]
        if [step for _, step in theirs] != ours:
            lacking += dict.fromkeys(name for name, step in theirs if step not in ours)
            unlike[part] = ", then ".join(name for name, _ in theirs) or f"{part} null"
    # Where the plain model has every step, it has them in another order.
    return tuple(lacking or unlike.values())


def decodes_alike(decoder: object, other: object) -> bool:
    """Whether two decoders are the same but for their spelling."""
    one, another = ([step for _, step in _steps(d, "decoder")] for d in (decoder, other))
    return one == another


# --- writing --------------------------------------------------------------------------------------


def steps_of(vocabulary: Vocabulary, *, pretokenize: bool = True) -> Json:
    """The ``normalizer``, ``pre_tokenizer`` and ``decoder`` that are written for a vocabulary.

    pretokenize: with the splits of byte-level BPE.
    """
    if vocabulary.algorithm is Algorithm.WORDPIECE:
        return _wordpiece(rules_of(vocabulary))
    if vocabulary.algorithm is Algorithm.UNIGRAM:
        return _unigram(vocabulary)
    if vocabulary.alphabet is Alphabet.CHARACTERS:
        return _characters(vocabulary)
    return _bytes(vocabulary, vocabulary.splits if pretokenize else ())


def _wordpiece(rules: WordPieceRules) -> Json:
    return {
        "normalizer": {"type": "BertNormalizer"} | {flag: getattr(rules, flag) for flag in FLAGS},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": rules.prefix, "cleanup": True},
    }


def _bytes(vocabulary: Vocabulary, splits: tuple[str, ...]) -> Json:
    form = vocabulary.normalizer.form
    return {
        "normalizer": {"type": form} if form else None,
        "pre_tokenizer": byte_level(splits),
        "decoder": byte_level(),
    }


def byte_level(
    splits: Iterable[str] = (), *, prefix: bool = False, use_regex: bool = False
) -> Json | None:
    """The pre-tokenizer of byte-level BPE. use_regex: by GPT-2's own pattern."""
    steps: list[Json] = [
        {"type": "Split", "pattern": {"Regex": split}, "behavior": "Isolated", "invert": False}
        for split in splits
    ]
    flags = {"add_prefix_space": prefix, "trim_offsets": True, "use_regex": use_regex}
    return _sequence([*steps, {"type": "ByteLevel", **flags}], "pre_tokenizer")


def _characters(vocabulary: Vocabulary) -> Json:
    steps = _normal_form(vocabulary)
    if vocabulary.normalizer.remove_extra_whitespaces:
        steps += _stripped(left=True, joined=" ")
    steps += _prefix_and_escape(vocabulary)
    return {
        "normalizer": _sequence(steps, "normalizer"),
        "decoder": _sequence(_unescaping(vocabulary), "decoder"),
    }


def _unigram(vocabulary: Vocabulary) -> Json:
    normalizer = vocabulary.normalizer
    steps = _normal_form(vocabulary)
    if normalizer.remove_extra_whitespaces:
        steps += _stripped(left=False, joined=SPACE)
    metaspace: Json | None = None
    decoders: list[Json]
    if normalizer.escape_whitespaces and normalizer.remove_extra_whitespaces:
        metaspace = {
            "type": "Metaspace",
            "replacement": SPACE,
            "prepend_scheme": "always" if normalizer.add_dummy_prefix else "never",
            "split": True,
        }
        decoders = [{"type": "ByteFallback"}] if vocabulary.byte_fallback else []
        decoders.append(metaspace)
    else:
        # Where runs of spaces are kept, Metaspace would part them and miss the prefix before one.
        steps += _prefix_and_escape(vocabulary)
        decoders = _unescaping(vocabulary)
    return {
        "normalizer": _sequence(steps, "normalizer"),
        "pre_tokenizer": metaspace,
        "decoder": _sequence(decoders, "decoder"),
    }


def _normal_form(vocabulary: Vocabulary) -> list[Json]:
    steps: list[Json] = []
    if vocabulary.normalizer.form:
        steps.append({"type": vocabulary.normalizer.form})
    if vocabulary.normalizer.charsmap:
        charsmap = base64.b64encode(vocabulary.normalizer.charsmap).decode("ascii")
        steps.append({"type": "Precompiled", "precompiled_charsmap": charsmap})
    return steps


def _stripped(*, left: bool, joined: str) -> list[Json]:
    return [
        {"type": "Strip", "strip_left": left, "strip_right": True},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": joined},
    ]


def _prefix_and_escape(vocabulary: Vocabulary) -> list[Json]:
    """Normalizer steps for the dummy prefix and U+2581, as in Llama 2's file."""
    escape = vocabulary.normalizer.escape_whitespaces
    steps: list[Json] = []
    if vocabulary.normalizer.add_dummy_prefix:
        steps.append({"type": "Prepend", "prepend": SPACE if escape else " "})
    if escape:
        steps.append({"type": "Replace", "pattern": {"String": " "}, "content": SPACE})
    return steps


def _unescaping(vocabulary: Vocabulary) -> list[Json]:
    """Decoder steps, as in Llama 2's file."""
    decoders: list[Json] = [
        {"type": "Replace", "pattern": {"String": SPACE}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if vocabulary.normalizer.add_dummy_prefix:
        decoders.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return decoders


def _sequence(steps: list[Json], part: str) -> Json | None:
    if not steps:
        return None
    return steps[0] if len(steps) == 1 else {"type": "Sequence", _CHILDREN[part]: steps}
