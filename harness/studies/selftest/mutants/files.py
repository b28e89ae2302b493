"""Changes of what a tokenizer.json says, or of the parts that are made of it."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.tokenizer_json_steps import flat
from harness.studies.selftest.catalog import Mutant, edited
from harness.studies.selftest.plain.pipeline import PlainPipeline
from impls.pipeline.encoder import parts_of
from impls.pipeline.normalizers import Step

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from impls.pipeline.encoder import Parts

    Json = dict[str, Any]
    Change = dict[str, Any]

CHILDREN = {
    "normalizer": "normalizers",
    "pre_tokenizer": "pretokenizers",
    "post_processor": "processors",
    "decoder": "decoders",
}
"""The field of a Sequence that has its steps, by the part of a file."""

words = Mutant("equivalence", "toy_file_words", PlainPipeline, "text")
subwords = replace(words, vocabulary="toy_file_subwords")
characters = replace(words, vocabulary="toy_file_characters")
scores = replace(words, vocabulary="toy_file_scores")
affixes = replace(words, vocabulary="toy_file_affixes")


def steps(document: Json, part: str) -> list[Json]:
    """The steps of a part of a file, in order."""
    return [step for _, step in flat(document.get(part), part, CHILDREN[part], "")]


def read_as(told: Callable[[Json], Json]) -> Change:
    """Some entries of the file are taken to say something else."""
    return {"made": lambda _, document: parts_of({**document, **told(document)})}


def stepped(part: str, change: Callable[[list[Json]], list[Json]]) -> Change:
    """A part of the file has other steps."""

    def told(document: Json) -> Json:
        return {part: {"type": "Sequence", CHILDREN[part]: change(steps(document, part))}}

    return read_as(told)


def reordered(part: str, *order: str) -> Change:
    """The file has its steps of these types, one of each, first and in this order."""
    places = dict(zip(order, range(len(order)), strict=True))
    return stepped(
        part, lambda every: sorted(every, key=lambda one: places.get(one["type"], len(places)))
    )


def without(part: str, kind: str) -> Change:
    """The file does not have the steps of a type."""
    return stepped(part, lambda every: [one for one in every if one["type"] != kind])


def misread(part: str, kind: str, /, where: str = "", **fields: object) -> Change:
    """The file has other fields in all steps of a type, or of a type and a behaviour."""

    def told(document: Json) -> Json:
        changed = copy.deepcopy(document)
        for step in steps(changed, part):
            if step["type"] == kind and where in ("", step.get("behavior")):
                step.update(fields)
        return changed

    return read_as(told)


def unflagged(flag: str) -> Change:
    """The added tokens of the file do not have a flag."""
    return read_as(
        lambda file: {"added_tokens": [one | {flag: False} for one in file["added_tokens"]]}
    )


def modelled(**fields: object) -> Change:
    """The file has other fields of its model."""
    return read_as(lambda document: {"model": {**document["model"], **fields}})


def running(model: type[Any], *edits: str) -> Change:
    """The model has another method: a class of :mod:`impls.pipeline.models` with edits."""
    changed = type(model.__name__, (model,), edited(model, edits))
    return {
        "made": lambda _, document: replace(parts_of(document), model=changed(document["model"]))
    }


def remade(change: Callable[[Parts], Json]) -> Change:
    """Some parts are others than those that are made of the file."""

    def made(_: PlainPipeline, document: Json) -> Parts:
        parts = parts_of(document)
        return replace(parts, **change(parts))

    return {"made": made}


def put(**parts: Any) -> Change:
    """Some parts are others, whatever the file says."""
    return remade(lambda _: parts)


def first(normalize: Callable[[str], str]) -> Change:
    """The text is changed before it is normalized."""
    return remade(lambda parts: {"normalizers": [Step(normalize, bool), *parts.normalizers]})


def normalizing(at: int, normalize: Callable[[str], str]) -> Change:
    """One of the normalizers does something else."""

    def other(parts: Parts) -> Json:
        every = [*parts.normalizers]
        every[at] = replace(every[at], normalize=normalize)
        return {"normalizers": every}

    return remade(other)


def splitting(at: int, change: Callable[[Sequence[str]], Sequence[str]]) -> Change:
    """What one of the pre-tokenizers gives is split in another way."""

    def other(parts: Parts) -> Json:
        every, right = [*parts.splitters], parts.splitters[at]
        every[at] = lambda text, at_start: [*change(right(text, at_start))]
        return {"splitters": every}

    return remade(other)
