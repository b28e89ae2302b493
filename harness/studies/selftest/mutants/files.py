"""Changes of what a tokenizer.json says, or of the parts that are made of it."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.tokenizer_json_steps import flat
from harness.studies.selftest.mutant import Mutant, edited
from harness.studies.selftest.plain.pipeline import PlainPipeline
from impls.pipeline.encoder import parts_of

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
    """The file is taken to say something else."""
    return {"made": lambda _, document: parts_of(told(document))}


def reordered(part: str, order: Sequence[str]) -> Change:
    """The file has its steps of these types, one of each, first and in this order."""

    def told(document: Json) -> Json:
        every = steps(document, part)
        first = [one for kind in order for one in every if one["type"] == kind]
        others = [one for one in every if one["type"] not in order]
        return {**document, part: {"type": "Sequence", CHILDREN[part]: [*first, *others]}}

    return read_as(told)


def misread(part: str, kind: str, /, where: str = "", **fields: object) -> Change:
    """The file has other fields in all steps of a type, or of a type and a behaviour."""

    def told(document: Json) -> Json:
        changed = copy.deepcopy(document)
        for step in steps(changed, part):
            if step["type"] == kind and where in ("", step.get("behavior")):
                step.update(fields)
        return changed

    return read_as(told)


def without(part: str, kind: str) -> Change:
    """The file does not have the steps of a type."""

    def told(document: Json) -> Json:
        left = [one for one in steps(document, part) if one["type"] != kind]
        return {**document, part: {"type": "Sequence", CHILDREN[part]: left}}

    return read_as(told)


def unflagged(flag: str) -> Change:
    """The added tokens of the file do not have a flag."""
    return read_as(
        lambda document: {
            **document,
            "added_tokens": [{**one, flag: False} for one in document["added_tokens"]],
        }
    )


def modelled(**fields: object) -> Change:
    """The file has other fields of its model."""
    return read_as(lambda document: {**document, "model": {**document["model"], **fields}})


def put(**parts: Any) -> Change:
    """Some parts are others, whatever the file says."""
    return {"made": lambda _, document: replace(parts_of(document), **parts)}


def running(model: type[Any], *edits: str) -> Change:
    """The model has another method: a class of :mod:`impls.pipeline.models` with edits."""
    changed = type(model.__name__, (model,), edited(model, edits, {}))
    return {
        "made": lambda _, document: replace(parts_of(document), model=changed(document["model"]))
    }


def normalizing(kind: str, normalize: Callable[[str], str]) -> Change:
    """The first normalizer of a type does something else."""

    def made(_: PlainPipeline, document: Json) -> Parts:
        parts = parts_of(document)
        every = [*parts.normalizers]
        at = [step["type"] for step in steps(document, "normalizer")].index(kind)
        every[at] = replace(every[at], normalize=normalize)
        return replace(parts, normalizers=every)

    return {"made": made}


def splitting(at: int, change: Callable[[Sequence[str]], Sequence[str]]) -> Change:
    """What one of the pre-tokenizers gives is split in another way."""

    def made(_: PlainPipeline, document: Json) -> Parts:
        parts = parts_of(document)
        right = parts.splitters[at]
        every = [*parts.splitters]
        every[at] = lambda text, at_start: [*change(right(text, at_start))]
        return replace(parts, splitters=every)

    return {"made": made}
