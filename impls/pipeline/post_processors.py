"""What is added to a text or a pair: the ``post_processor`` of a tokenizer.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from corpora.vocabularies.tokenizer_json_steps import flat
from impls.pipeline.errors import Undefined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Json = dict[str, Any]
Part = int | str
"""An id that is added, or the name of a text: A or B."""

SINGLE: tuple[Part, ...] = ("A",)
PAIR: tuple[Part, ...] = ("A", "B")


class Template:
    """What stands around the ids of a text, and of a pair. Raises Undefined."""

    def __init__(self, part: object) -> None:
        self._single, self._pair = SINGLE, PAIR
        steps = [step for _, step in flat(part, "post_processor", "processors", "")]
        adding = [step for step in steps if step["type"] != "ByteLevel"]
        if len(adding) > 1:
            raise Undefined("several post-processors that add tokens")
        for step in adding:
            self._single, self._pair = _parts(step)

    def framed(self, first: Sequence[int], second: Sequence[int] | None) -> list[int]:
        """The ids of a text, or of two, with those that are added."""
        texts: Mapping[Part, Sequence[int]] = {"A": first, "B": second or ()}
        found: list[int] = []
        for part in self._single if second is None else self._pair:
            found += [part] if isinstance(part, int) else texts[part]
        return found


def _parts(step: Json) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    kind = step["type"]
    if kind in ("BertProcessing", "RobertaProcessing"):
        begin, end = int(step["cls"][1]), int(step["sep"][1])
        between = (end, end) if kind == "RobertaProcessing" else (end,)
        return (begin, "A", end), (begin, "A", *between, "B", end)
    if kind == "TemplateProcessing":
        specials = step.get("special_tokens") or {}
        single, pair = (_template(step.get(name) or [], specials) for name in ("single", "pair"))
        if [part for part in single if isinstance(part, str)] != [*SINGLE]:
            raise Undefined("a template without its text")
        if sorted(part for part in pair if isinstance(part, str)) != [*PAIR]:
            raise Undefined("a template without its texts")
        return single, pair
    raise Undefined(f"the post-processor {kind}")


def _template(pieces: list[Json], specials: Json) -> tuple[Part, ...]:
    parts: list[Part] = []
    for piece in pieces:
        if "Sequence" in piece:
            parts.append(str(piece["Sequence"]["id"]))
        else:
            parts += map(int, specials[piece["SpecialToken"]["id"]]["ids"])
    return tuple(parts)
