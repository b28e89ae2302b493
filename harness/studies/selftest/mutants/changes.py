"""What the texts of mutants may use besides what the changed method itself knows.

The standard library's modules; and functions, where a text alone would be long.
"""

from __future__ import annotations

import copy
import random
import re
import sys
import time
import unicodedata
import zlib
from dataclasses import replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import regex

from corpora.vocabularies.model import Merges
from corpora.vocabularies.tokenizer_json_steps import flat
from harness.studies.selftest.plain.base import longest_first
from harness.studies.selftest.plain.growing import passed
from harness.studies.selftest.program import TRIGGER, wrong
from impls.forced.interface import Healed, first_tokens
from impls.interface import Mode, Unsupported
from impls.pipeline.normalizers import Step
from impls.unigram.encoder import Implementation
from impls.unigram.variants import SENTENCEPIECE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.studies.selftest.plain.bpe import Pair, PlainBpe
    from harness.studies.selftest.plain.growing import PlainBytes
    from harness.studies.selftest.plain.pieces import PlainUnigram
    from impls.pipeline.encoder import Parts

    Json = dict[str, Any]

# Of byte-pair encoding.


def one_each(ranked: dict[Pair, Pair]) -> dict[Pair, Pair]:
    """The last merge to each token."""
    made = {merged: pair for pair, (_, merged) in ranked.items()}
    return {pair: ranked[pair] for pair in made.values()}


def rescanned(encoder: PlainBpe, symbols: list[int]) -> list[int]:
    """As merged by the heap, each merge by a scan of the whole piece."""
    merges = encoder._merges
    while found := [
        (merges[pair], place) for place, pair in enumerate(pairwise(symbols)) if pair in merges
    ]:
        (_, merged), place = min(found)
        symbols[place : place + 2] = [merged]
    return symbols


def patterned(vocabulary: Vocabulary, there: str, instead: str = "") -> Vocabulary:
    """A vocabulary with another pattern. Raises ValueError where there is nothing to change."""
    splits = tuple(split.replace(there, instead) for split in vocabulary.splits)
    if splits == vocabulary.splits:
        raise ValueError(f"nothing to change in the pattern: {there}")
    return replace(vocabulary, splits=splits)


def as_of_unicode_3(text: str) -> str:
    """The text with an unassigned character for each that Unicode 3.2 did not have."""
    old = unicodedata.ucd_3_2_0.category
    return "".join("\uffff" if old(one) == "Cn" and ord(one) > 0x21F else one for one in text)


def gathered(parts: Iterable[bytes], most: int = 3) -> list[bytes]:
    """Parts of a text, each once it is UTF-8 with those that wait, of which some are dropped.

    most: bytes that may wait.
    """
    found, left = [], b""
    for part in parts:
        left += part
        if left.decode(errors="ignore").encode() == left:
            found.append(left)
            left = b""
        elif len(left) > most:
            left = part
    return found


# Of unigram.


def normalized(vocabulary: Vocabulary, **fields: Any) -> Vocabulary:
    """A vocabulary with another normalizer."""
    return replace(vocabulary, normalizer=replace(vocabulary.normalizer, **fields))


def first_by_characters(encoder: PlainUnigram, text: str) -> list[str]:
    """The parts, but for a first word with others after it, which is cut into characters."""
    first, space, rest = text[1:].partition("\u2581")
    if not space or text[:1] != "\u2581":
        return encoder.parts(text)
    return ["\u2581", *first, *encoder.parts(space + rest)]


# Of processes, and of costs.


class PanicException(BaseException):
    """As PyO3 raises it."""


def panic(piece: bytes) -> None:
    """Raise it on some inputs."""
    if TRIGGER in piece:
        raise PanicException("byte index 1 is not a char boundary")


def deeper(left: int) -> None:
    """Go one call deeper for each."""
    if left:
        deeper(left - 1)


def kept(encoder: PlainBytes, data: bytes, make: Callable[[], list[int]]) -> list[int]:
    """The answer to a text, which is made once."""
    known: dict[bytes, list[int]] = encoder.__dict__.setdefault("kept", {})
    if data not in known:
        known[data] = make()
    return known[data]


def search(encoder: PlainBytes) -> None:
    """Go over all tokens once for four of them: a second for 30,000 tokens."""
    passed(
        b"".join(token or b"" for token in encoder.vocabulary.tokens), len(encoder.vocabulary) // 4
    )


# Of forced tokens.


def one_more(steps: Sequence[tuple[int, bytes]], most: int, forced: bytes) -> Healed:
    """The first tokens that have at most so many bytes, and another one."""
    kept = steps[: len(first_tokens(steps, most, forced).ids) + 1]
    return Healed(tuple(one for one, _ in kept), forced[sum(len(step) for _, step in kept) :])


# Of a tokenizer.json: what it says, and the parts that are made of it.

CHILDREN = {
    "normalizer": "normalizers",
    "pre_tokenizer": "pretokenizers",
    "post_processor": "processors",
    "decoder": "decoders",
}
"""The field of a Sequence that has its steps, by the part of a file."""


def steps(document: Json, part: str) -> list[Json]:
    """The steps of a part of a file, in order."""
    return [step for _, step in flat(document.get(part), part, CHILDREN[part], "")]


def misread(document: Json, part: str, kind: str, where: str = "", **fields: object) -> Json:
    """A file with other fields in all steps of a type, or of a type and a behaviour."""
    changed = copy.deepcopy(document)
    for step in steps(changed, part):
        if step["type"] == kind and where in ("", step.get("behavior")):
            step.update(fields)
    return changed


def without(document: Json, part: str, kind: str) -> Json:
    """A file without the steps of a type."""
    left = [one for one in steps(document, part) if one["type"] != kind]
    return document | {part: {"type": "Sequence", CHILDREN[part]: left}}


def reordered(document: Json, part: str, *order: str) -> Json:
    """A file with its steps of these types, one of each, first and in this order."""
    every = sorted(steps(document, part), key=lambda one: (*order, one["type"]).index(one["type"]))
    return document | {part: {"type": "Sequence", CHILDREN[part]: every}}


def from_its_end(template: dict[str, list[Any]]) -> dict[str, Any]:
    """A template whose first and last tokens have changed places."""
    first, *texts, last = template["pair"]
    return template | {"single": template["single"][::-1], "pair": [last, *texts, first]}


def first(parts: Parts, normalize: Callable[[str], str]) -> Parts:
    """The parts with a normalizer more, before the others."""
    return replace(parts, normalizers=[Step(normalize, bool), *parts.normalizers])


def normalizing(parts: Parts, at: int, normalize: Callable[[str], str]) -> Parts:
    """The parts with another one of the normalizers."""
    every = [*parts.normalizers]
    every[at] = replace(every[at], normalize=normalize)
    return replace(parts, normalizers=every)


def splitting(parts: Parts, at: int, change: Callable[[Sequence[str]], Sequence[str]]) -> Parts:
    """The parts with another pre-tokenizer, which changes what the right one gives."""
    every, right = [*parts.splitters], parts.splitters[at]
    every[at] = lambda text, at_start: [*change(right(text, at_start))]
    return replace(parts, splitters=every)


def of_bytes(piece: str, length: int) -> list[str]:
    """A piece in parts of so many bytes, each of which ends where a character does."""
    parts = [""]
    for one in piece:
        if parts[-1] and len((parts[-1] + one).encode()) > length:
            parts.append("")
        parts[-1] += one
    return parts


# Of plug-ins for the gate.


def wrong_once(encoder: PlainBpe, data: bytes, mode: Mode, most: int = 60) -> list[int]:
    """A wrong answer, at most so many of them, and Unsupported where it is asked again."""
    asked, answered = (data, mode.label), encoder.__dict__.setdefault("answered", set())
    if asked in answered:
        raise Unsupported("not again")
    ids = encoder.coded(data, mode)
    if len(ids) > 2 and len(answered) < most:
        answered.add(asked)
        return ids[:-1]
    return ids


def cube(data: bytes, most: int = 512) -> None:
    """Take the cube of the longest run of one byte: no listed family of prose brings it out."""
    longest = max((len(list(run)) for _, run in groupby(data)), default=0)
    sum(range(min(longest, most) ** 3 // 8))


def swap(encoder: PlainBpe) -> None:
    """Two merges of an encoder change their order.

    An e with an accent is C3 A9: of two in a row, the bytes in the middle merge first then.
    """
    first, second = encoder.symbols(b"\xc3\xa9")
    one, other = (first, second), (second, first)
    low, high = encoder._merges[one], encoder._merges[other]
    encoder._merges |= {one: (high[0], low[1]), other: (low[0], high[1])}
