"""What happens to a text before it is parted: the ``normalizer`` of a tokenizer.json."""

from __future__ import annotations

import base64
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.byte_alphabet import spell
from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.tokenizer_json_steps import flat
from impls.interface import Unsupported
from impls.pipeline import characters
from impls.pipeline.errors import Undefined, field_of
from impls.pipeline.expressions import spans_of
from impls.pretokenize.unicode_version import in_form
from impls.wordpiece.variants import CJK

if TYPE_CHECKING:
    from impls.unigram.charsmap import Charsmap

Normalizer = Callable[[str], str]
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """One step. keeps: whether it leaves the beginning of a text (not empty) where it was.

    That is what a Metaspace of the scheme "first" goes by. Unsupported where it is hard to say.
    """

    normalize: Normalizer
    keeps: Callable[[str], bool]


def normalizers_of(part: object) -> list[Step]:
    """The steps in order. Raises Undefined."""
    steps = [step for _, step in flat(part, "normalizer", "normalizers", "")]
    made = [normalizer_of(step) for step in steps]
    return [Step(one, _keeper(step, one)) for step, one in zip(steps, made, strict=True)]


def _keeper(step: Json, normalizer: Normalizer) -> Callable[[str], bool]:
    kind = step["type"]
    if kind == "Strip":
        left = bool(step.get("strip_left"))
        return lambda text: not (left and text[0] in characters.WHITE_SPACE)
    if kind in ("Nmt", "StripAccents"):
        return lambda text: normalizer(text[0]) != ""
    if kind in ("NFC", "NFD", "NFKC", "NFKD", "BertNormalizer"):
        return lambda text: normalizer(_ordered(text)[0]) != ""
    if kind == "Replace":
        spans, content = spans_of(step), field_of(step, "content")
        return lambda text: _beginning_stays(spans(text), content)
    return lambda _: True


def _ordered(text: str) -> str:
    """The text, whose first character stays the first one in canonical order."""
    if unicodedata.combining(text[0]):
        raise Unsupported("a mark at the beginning, which another may come before")
    return text


def _beginning_stays(spans: list[tuple[int, int]], content: str) -> bool:
    if not spans or spans[0][0] > 0 or (spans[0] == (0, 1) and content):
        return True
    raise Unsupported("the beginning of this text is replaced")


def normalizer_of(step: Json) -> Normalizer:
    """One step. Raises Undefined."""
    kind = step["type"]
    if kind in ("NFC", "NFD", "NFKC", "NFKD"):
        return lambda text: in_form(text, kind)
    if kind == "Replace":
        return _replace(step)
    if kind == "Strip":
        return _strip(bool(step.get("strip_left")), bool(step.get("strip_right")))
    if kind == "Prepend":
        prefix = field_of(step, "prepend")
        return lambda text: prefix + text if text else text
    if kind == "BertNormalizer":
        return _bert(step)
    if kind == "Precompiled":
        return _precompiled(step.get("precompiled_charsmap"))
    plain: dict[str, Normalizer] = {
        "Lowercase": characters.lowered,
        "StripAccents": characters.without_marks,
        "Nmt": _nmt,
        "ByteLevel": lambda text: spell(text.encode()),
    }
    if kind not in plain:
        raise Undefined(f"the normalizer {kind}")
    return plain[kind]


def _replace(step: Json) -> Normalizer:
    spans, content = spans_of(step), field_of(step, "content")
    if "$" in content and (step.get("pattern") or {}).get("String") is None:
        raise Undefined("a Replace that refers to groups")
    return lambda text: _replaced(text, spans(text), content)


def _replaced(text: str, spans: list[tuple[int, int]], content: str) -> str:
    parts, position = [], 0
    for start, end in spans:
        parts += [text[position:start], content]
        position = end
    return "".join([*parts, text[position:]])


def _strip(left: bool, right: bool) -> Normalizer:
    space = "".join(characters.WHITE_SPACE)

    def strip(text: str) -> str:
        text = text.lstrip(space) if left else text
        return text.rstrip(space) if right else text

    return strip


_DROPPED = frozenset(map(chr, (*range(1, 9), 0xB, *range(0xE, 0x20), 0x7F, 0x8F, 0x9F)))
_SPACED = frozenset(
    map(chr, (9, 0xA, 0xC, 0xD, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF))
) | {"\ufffd"}


def _nmt(text: str) -> str:
    """SentencePiece's rules for machine translation that are no charsmap."""
    return "".join(" " if c in _SPACED else c for c in text if c not in _DROPPED)


def _bert(step: Json) -> Normalizer:
    """BERT's ``BasicTokenizer``, without its parting."""
    lowercase = step.get("lowercase", True)
    accents = step.get("strip_accents")
    strip_accents = lowercase if accents is None else accents

    def normalize(text: str) -> str:
        if step.get("clean_text", True):
            text = characters.without_controls(text)
            text = "".join(" " if c in characters.WHITE_SPACE else c for c in text)
        if step.get("handle_chinese_chars", True):
            text = "".join(f" {c} " if c in _CHINESE else c for c in text)
        if strip_accents:
            text = characters.without_nonspacing_marks(in_form(text, "NFD"))
        return characters.lowered(text) if lowercase else text

    return normalize


_CHINESE = characters.ranged(CJK)


def _precompiled(packed: object) -> Normalizer:
    """SentencePiece's charsmap in tokenizers' way: by grapheme clusters, and by shortest rules.

    Of a cluster a rule is applied that takes but its beginning, and the rest is lost.
    """
    # Here and not above: Numba takes a second to import, and listing names needs none of it.
    from impls.unigram.charsmap import load_charsmap  # noqa: PLC0415

    if not packed:
        return lambda text: text
    try:
        charsmap = load_charsmap(
            "precompiled_charsmap", base64.b64decode(str(packed), validate=True)
        )
    except (ValueError, VocabularyError):
        raise Undefined("a charsmap that is damaged") from None
    return partial(_mapped, charsmap)


def _mapped(charsmap: Charsmap, text: str) -> str:
    import numpy as np  # noqa: PLC0415 - as above

    from impls.unigram.graphemes import cluster_ends  # noqa: PLC0415
    from impls.unigram.normalizer import precompiled  # noqa: PLC0415

    data = np.frombuffer(text.encode(), dtype=np.uint8)
    out = np.empty(len(data) * charsmap.growth, dtype=np.uint8)
    clusters = cluster_ends(text.encode(), np.array([len(data)]))
    size = precompiled(charsmap.units, charsmap.replacements, clusters, data, 0, len(data), out)
    try:
        return out[:size].tobytes().decode()
    except UnicodeDecodeError:
        raise Unsupported("a rule of the charsmap gives what is no text") from None
