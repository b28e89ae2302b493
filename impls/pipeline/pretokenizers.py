"""What parts a text: the ``pre_tokenizer`` of a tokenizer.json.

Each step takes the pieces that the one before has made, and sees each of them as if it were a text.
Pieces without a character are dropped after each step.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.byte_alphabet import spell
from corpora.vocabularies.patterns import PATTERNS
from corpora.vocabularies.tokenizer_json_steps import flat
from impls.pipeline import characters
from impls.pipeline.errors import Undefined, field_of
from impls.pipeline.expressions import compiled, matches, occurrences, spans_of
from impls.pipeline.scripts import parted_by_script

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Spans = list[tuple[int, int]]
    Splitter = Callable[[str, bool], Sequence[str]]
    """The pieces of a piece; the flag says that it is all of the text up to an added token."""

Json = dict[str, Any]

FIRST = "first"
"""The scheme of a Metaspace that puts its mark before the beginning of the text alone."""


def splitters_of(part: object) -> list[Splitter]:
    """The steps in order. Raises Undefined."""
    steps = [step for _, step in flat(part, "pre_tokenizer", "pretokenizers", "")]
    if any(_scheme(step) == FIRST for step in steps[1:]):
        raise Undefined('a Metaspace with the scheme "first" that is not the first step')
    return [splitter_of(step) for step in steps]


def marks_beginning(part: object) -> bool:
    """Whether a Metaspace treats the beginning of the text in a way of its own."""
    return any(_scheme(step) == FIRST for _, step in flat(part, "", "pretokenizers", ""))


def _scheme(step: Json) -> str | None:
    if step["type"] != "Metaspace":
        return None
    scheme = step.get("prepend_scheme")
    if scheme is None:
        return "never" if step.get("add_prefix_space") is False else "always"
    return str(scheme)


def split(splitters: list[Splitter], text: str, at_start: bool) -> list[str]:
    """The pieces of a text; ``at_start`` says that it is the beginning of the whole text."""
    pieces = [text] if text else []
    for step in splitters:
        pieces = [one for piece in pieces for one in step(piece, at_start) if one]
    return pieces


def splitter_of(step: Json) -> Splitter:
    """One step. Raises Undefined."""
    kind = step["type"]
    if kind == "Metaspace":
        return _metaspace(step)
    if kind == "ByteLevel":
        return _byte_level(step)
    if kind == "FixedLength":
        length = int(step.get("length", 5))
        if length < 1:
            raise Undefined("a FixedLength of no characters")
        return lambda text, _: [text[at : at + length] for at in range(0, len(text), length)]
    if kind == "UnicodeScripts":
        return lambda text, _: parted_by_script(text)
    spans, behavior, inverted = _cutting(step)
    behave = _BEHAVIORS.get(behavior)
    if behave is None:
        raise Undefined(f"the behaviour {behavior!r}")
    return lambda text, _: behave(_parts(text, spans(text), inverted))


def _cutting(step: Json) -> tuple[Callable[[str], Spans], str, bool]:
    """Where a step finds its matches, what becomes of them, and whether of the rest instead."""
    kind = step["type"]
    behavior = str(step.get("behavior", "")).lower()
    if kind == "Split":
        return spans_of(step), behavior, bool(step.get("invert"))
    if kind == "CharDelimiterSplit":
        delimiter = field_of(step, "delimiter")
        if len(delimiter) != 1:
            raise Undefined("a delimiter that is no character")
        return partial(occurrences, delimiter), "removed", False
    if kind == "Digits":
        behavior = "isolated" if step.get("individual_digits") else "contiguous"
        return characters.numbers, behavior, False
    if kind == "Punctuation":
        return characters.punctuation, behavior or "isolated", False
    if kind == "Whitespace":
        return characters.words, "removed", True
    if kind == "WhitespaceSplit":
        return characters.white_space, "removed", False
    if kind == "BertPreTokenizer":
        return _bert_words, "removed", True
    raise Undefined(f"the pre-tokenizer {kind}")


def _bert_words(text: str) -> Spans:
    """Runs between white space and punctuation, and each mark of punctuation by itself."""
    alone = characters.punctuation(text)
    dividing = sorted([*alone, *characters.white_space(text)])
    found, position = [], 0
    for start, end in [*dividing, (len(text), len(text))]:
        if position < start:
            found.append((position, start))
        position = end
    return sorted([*found, *alone])


def _parts(text: str, spans: Spans, inverted: bool) -> list[tuple[str, bool]]:
    """The matches and the gaps between them in order, each with whether it counts as a match."""
    found, position = [], 0
    for start, end in spans:
        if position < start:
            found.append((text[position:start], inverted))
        found.append((text[start:end], not inverted))
        position = end
    if position < len(text):
        found.append((text[position:], inverted))
    return found


def _removed(parts: list[tuple[str, bool]]) -> list[str]:
    return [part for part, matched in parts if not matched]


def _isolated(parts: list[tuple[str, bool]]) -> list[str]:
    return [part for part, _ in parts]


def _merged_with_previous(parts: list[tuple[str, bool]]) -> list[str]:
    """A match joins what stands before it, unless that is a match."""
    pieces: list[str] = []
    before = False
    for part, matched in parts:
        if matched and not before and pieces:
            pieces[-1] += part
        else:
            pieces.append(part)
        before = matched
    return pieces


def _merged_with_next(parts: list[tuple[str, bool]]) -> list[str]:
    """A match joins what stands after it, unless that is a match."""
    mirrored = [(part[::-1], matched) for part, matched in reversed(parts)]
    return [piece[::-1] for piece in reversed(_merged_with_previous(mirrored))]


def _contiguous(parts: list[tuple[str, bool]]) -> list[str]:
    """Matches in a row are one piece, and so are gaps."""
    pieces: list[str] = []
    before = False
    for part, matched in parts:
        if matched == before and pieces:
            pieces[-1] += part
        else:
            pieces.append(part)
        before = matched
    return pieces


_BEHAVIORS: dict[str, Callable[[list[tuple[str, bool]]], list[str]]] = {
    "removed": _removed,
    "isolated": _isolated,
    "mergedwithprevious": _merged_with_previous,
    "mergedwithnext": _merged_with_next,
    "contiguous": _contiguous,
}


def _metaspace(step: Json) -> Splitter:
    mark, scheme = str(step.get("replacement", "▁")), _scheme(step)
    if len(mark) != 1 or scheme not in ("always", "never", FIRST):
        raise Undefined("a Metaspace of another kind")
    parted = step.get("split") is not False

    def split_words(text: str, at_start: bool) -> list[str]:
        text = text.replace(" ", mark)
        wanted = scheme == "always" or (scheme == FIRST and at_start)
        if wanted and not text.startswith(mark):
            text = mark + text
        if not parted:
            return [text]
        return _merged_with_next(_parts(text, occurrences(mark, text), inverted=False))

    return split_words


def _byte_level(step: Json) -> Splitter:
    prefixed, parted = step.get("add_prefix_space", True), step.get("use_regex", True)
    expression = compiled(PATTERNS["gpt2"][0])

    def split_bytes(text: str, _: bool) -> list[str]:
        if prefixed and not text.startswith(" "):
            text = " " + text
        pieces = [text]
        if parted:
            pieces = _isolated(_parts(text, matches(expression, text), inverted=False))
        return [spell(piece.encode()) for piece in pieces]

    return split_bytes
