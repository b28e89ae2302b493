"""The steps of a tokenizer.json: the definition itself, whose parts a mistake may make otherwise.

It is no second writing of the steps, as a file has dozens of them. A mistake misreads what the file
says, or puts one wrong part in place of a right one.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar

from corpora.vocabularies.tokenizer_json_steps import flat
from harness.studies.selftest.plain.base import Plain
from impls.interface import Capability, Mode
from impls.pipeline.encoder import IMPLEMENTATION, Encoder, parts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.pipeline.encoder import Parts

Json = dict[str, Any]

CHILDREN = {
    "normalizer": "normalizers",
    "pre_tokenizer": "pretokenizers",
    "post_processor": "processors",
    "decoder": "decoders",
}
"""The field of a Sequence that has its steps, by the part of a file."""


class PlainPipeline(Plain):
    """Right for what ``pipeline.huggingface`` defines."""

    name = "plain.pipeline"
    modes = ("text",)
    capabilities = frozenset({Capability.DECODE})
    native_formats: ClassVar[frozenset[str]] = IMPLEMENTATION.native_formats

    def runs(self, vocabulary: Vocabulary) -> str | None:
        """What the definition runs."""
        return IMPLEMENTATION.supports(vocabulary, Mode())

    def prepare(self) -> None:
        """Read the file."""
        assert self.vocabulary.native is not None
        self.encoder = Encoder(self.vocabulary.native.content, self.made)

    def made(self, document: Json) -> Parts:
        """The parts of a file, as it is read."""
        return self.replaced(parts_of(self.read(document)), document)

    def read(self, document: Json) -> Json:
        """What it takes the file to say."""
        return document

    def replaced(self, parts: Parts, document: Json) -> Parts:
        """The parts, one of which a mistake may make otherwise."""
        return parts

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids."""
        return self.encoder.encode(data, mode)

    def decode(self, ids: Sequence[int]) -> bytes:
        """The text of tokens."""
        return self.encoder.decode(ids)

    def encode_with_added(self, data: bytes, pair: bytes | None, mode: Mode) -> list[int]:
        """See ``AddsSpecials``."""
        return self.encoder.encode_with_added(data, pair, mode)


def steps(document: Json, part: str) -> list[Json]:
    """The steps of a part of a file, in order."""
    return [step for _, step in flat(document.get(part), part, CHILDREN[part], "")]


def reordered(document: Json, part: str, order: Sequence[str]) -> Json:
    """The file with its steps of these types, one of each, first and in this order."""
    first = sorted(
        (one for one in steps(document, part) if one["type"] in order),
        key=lambda one: order.index(one["type"]),
    )
    others = [one for one in steps(document, part) if one["type"] not in order]
    return {**document, part: {"type": "Sequence", CHILDREN[part]: [*first, *others]}}


def misread(document: Json, part: str, kind: str, **fields: object) -> Json:
    """The file with other fields in all steps of a type."""
    told = copy.deepcopy(document)
    for step in steps(told, part):
        if step["type"] == kind:
            step.update(fields)
    return told


def without(document: Json, part: str, kind: str) -> Json:
    """The file without the steps of a type."""
    left = [one for one in steps(document, part) if one["type"] != kind]
    return {**document, part: {"type": "Sequence", CHILDREN[part]: left}}


def unflagged(document: Json, flag: str) -> Json:
    """The file whose added tokens do not have a flag."""
    added = [{**one, flag: False} for one in document.get("added_tokens") or []]
    return {**document, "added_tokens": added}


def modelled(document: Json, **fields: object) -> Json:
    """The file with other fields of its model."""
    return {**document, "model": {**document["model"], **fields}}
