"""Making the vectors of a vocabulary: expected ids by our definition, chosen by greedy set cover.

A candidate covers the mutants that fail on it, and what :mod:`harness.studies.vectors.candidates`
names. Again and again the candidate is taken that covers most of what is not covered yet (Chvatal,
"A greedy heuristic for the set-covering problem", 1979: at most 1 + ln n times the smallest set).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.model import VocabularyError
from harness.checks.certifier import defined
from harness.core.comparisons import algorithm_of, modes_of
from harness.studies.vectors.candidates import covered, texts
from harness.studies.vectors.mutants import REJECTED, applicable, encoded
from impls.explanations import literal
from impls.interface import Decodes, Mode
from impls.pretokenize.unicode_version import UNICODE_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Encoder

VERSION = 1
"""Of the format, which docs/vectors/schema.json describes."""

MOST = 2000
"""Vectors of a vocabulary."""

MODES = {
    "text": "the pattern or normalizer of the vocabulary first; special tokens are plain text",
    "raw": "the whole input as one piece, without a pattern",
    "special": "as text, and special tokens in the input become their ids",
}
FLAGS = {
    "not-utf8": "the input is not UTF-8: skip it if your tokenizer takes strings",
    "encode-only": "decoding the ids gives another text",
    "decode-only": "the ids are not the encoding of the input, but decoding them gives it",
    "rejected": "encoding must fail: a byte has no token",
    "bad-ids": "decoding must fail: an id does not exist",
}


@dataclass(slots=True)
class Candidate:
    """A text in a mode with its ids (None: rejected), and what it covers.

    lossless: whether its ids are decoded to it.
    """

    text: bytes
    mode: Mode
    ids: tuple[int, ...] | None
    lossless: bool = True
    covers: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class VectorsFile:
    """The file of a vocabulary: how many vectors it has, and how many of the planted mistakes that
    apply they find."""

    content: str
    vectors: int
    mistakes: int
    found: int


def vectors_of(vocabulary: Vocabulary, tell: Callable[[str], None] = lambda _: None) -> VectorsFile:
    """The file of a vocabulary. Raises VocabularyError where nothing defines its encodings."""
    encoders = {}
    for mode in modes_of(vocabulary):
        found = defined(vocabulary, mode)
        if not isinstance(found, str):
            encoders[mode] = found[1]
    if not encoders:
        why = "no plain implementation of tokgate defines its encodings"
        raise VocabularyError(vocabulary.id, why, "give another vocabulary")
    subjects = applicable(vocabulary, [*encoders])
    candidates = [one for mode, by in encoders.items() for one in _candidates(vocabulary, mode, by)]
    declared, shown = set(), set()
    for subject in subjects:
        name = subject.mutant.name
        tell(f"{vocabulary.id}: {name}")
        own = subject.mutant.vocabulary == vocabulary.id
        more = _with_ids(subject.mutant.inputs * own, subject.mode, encoders[subject.mode])
        for one in [*candidates, *more]:
            expected = REJECTED if one.ids is None else one.ids
            if one.mode == subject.mode and subject.fails(one.text, expected, one.lossless):
                one.covers.add(f"mutant {name}")
                shown.add(name)
        candidates += [one for one in more if one.covers]
        declared |= {name} if own and subject.mutant.mode == subject.mode.label else set()
    rows = [_row(one, new) for one, new in _chosen(candidates)]
    rows += _decoding(vocabulary, [*encoders][-1], candidates)
    rows, mistakes = rows[:MOST], shown | declared
    content = _content(vocabulary, encoders, rows, mistakes, shown)
    return VectorsFile(content, len(rows), len(mistakes), len(shown))


def _candidates(vocabulary: Vocabulary, mode: Mode, encoder: Encoder) -> Iterator[Candidate]:
    for one in _with_ids(texts(vocabulary), mode, encoder):
        one.covers |= {*covered(vocabulary, one.text, one.ids or (), mode)}
        yield one


def _with_ids(given: Iterable[bytes], mode: Mode, encoder: Encoder) -> list[Candidate]:
    found = []
    for text in given:
        ids = encoded(encoder, text, mode)
        if ids == REJECTED:
            found.append(Candidate(text, mode, None))
        elif isinstance(ids, tuple):
            lossless = isinstance(encoder, Decodes) and encoder.decode(ids) == text
            found.append(Candidate(text, mode, ids, lossless))
    return found


def _chosen(candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, list[str]]]:
    """The candidates that cover everything together, each with what is new in it."""
    numbers: dict[str, int] = {}
    for one in candidates:
        for name in sorted(one.covers):
            numbers.setdefault(name, len(numbers))
    names = [*numbers]
    left = [(sum(1 << numbers[name] for name in one.covers), one) for one in candidates]
    order = [*MODES]  # of two that cover as much the one that most users test, and the shorter one
    left.sort(key=lambda pair: (order.index(pair[1].mode.label), len(pair[1].text), pair[1].text))
    open_ = (1 << len(numbers)) - 1
    while open_:
        mask, best = max(left, key=lambda pair: (pair[0] & open_).bit_count())
        new = mask & open_
        yield best, [name for place, name in enumerate(names) if new >> place & 1]
        open_ &= ~new
        left = [pair for pair in left if pair[0] & open_]


def _row(one: Candidate, new: Sequence[str]) -> dict[str, Any]:
    mutants = [name.removeprefix("mutant ") for name in new if name.startswith("mutant ")]
    others = [name for name in new if not name.startswith("mutant ")]
    why = [f"finds {', '.join(mutants)}"] * bool(mutants)
    if others:
        more = f" and {len(others) - 3} more" * (len(others) > 3)
        why.append(f"covers {', '.join(others[:3])}{more}")
    flags = ["rejected"] if one.ids is None else ["encode-only"] * (not one.lossless)
    return _vector(one.text, one.ids or (), one.mode, flags, "; ".join(why))


def _vector(
    text: bytes, ids: Sequence[int], mode: Mode, flags: Sequence[str], why: str
) -> dict[str, Any]:
    try:
        text.decode()
        odd = []
    except UnicodeDecodeError:
        odd = ["not-utf8"]
    why = f"{literal(text)}: {why}" if text else why
    flags = [*flags, *odd]
    return {"input": text.hex(), "ids": [*ids], "mode": mode.label, "flags": flags, "why": why}


def _decoding(
    vocabulary: Vocabulary, mode: Mode, candidates: Sequence[Candidate]
) -> Iterator[dict[str, Any]]:
    """Parts of encodings that end inside a character, where tokens are bytes; bad ids."""
    size = max(len(vocabulary.tokens), max(vocabulary.special_spellings, default=-1) + 1)
    holes = (i for i in range(size) if not _spelled(vocabulary, i))
    for bad, why in ((size, "an id past the last one"), (2**31 - 1, "a large id"),
                     (next(holes, None), "an id without a token")):  # fmt: skip
        if bad is not None:
            yield _vector(b"", [bad], mode, ["bad-ids"], why)
    kept = 0
    bytes_alone = algorithm_of(vocabulary) == "bpe" and not vocabulary.normalizes
    for one in candidates if bytes_alone else ():
        for end in range(1, len(one.ids or ())):
            part = (one.ids or ())[:end]
            if any(not _spelled(vocabulary, i) for i in part):
                break
            text = vocabulary.spell([*part])
            if kept < 20 and _cut(text) and one.lossless:
                kept += 1
                yield _vector(text, part, one.mode, ["decode-only"], "ends inside a character")
                break


def _spelled(vocabulary: Vocabulary, token_id: int) -> bool:
    known = token_id < len(vocabulary.tokens) and vocabulary.tokens[token_id] is not None
    return known or token_id in vocabulary.special_spellings


def _cut(text: bytes) -> bool:
    """Whether a text is UTF-8 but for its last character, which lacks bytes."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return False


def _content(
    vocabulary: Vocabulary,
    modes: Iterable[Mode],
    rows: Sequence[dict[str, Any]],
    mutants: set[str],
    found: set[str],
) -> str:
    """The file: its head, and each vector on a line of its own, in ASCII."""
    path = vocabulary.source_path
    head = {
        "tokgate_vectors": VERSION,
        "made_by": f"tokgate {metadata.version('tokgate')}",
        "vocabulary": {
            "name": vocabulary.id,
            "algorithm": algorithm_of(vocabulary),
            "file_sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest() if path else "",
            "fingerprint": vocabulary.fingerprint,
        },
        "unicode": UNICODE_VERSION,
        "modes": {mode.label: MODES[mode.label] for mode in modes},
        "flags": FLAGS,
        "mutants": {"applicable": len(mutants), "missed": sorted(mutants - found)},
    }
    start = json.dumps(head, indent=1).removesuffix("\n}")
    lines = ",\n".join(json.dumps(row) for row in rows)
    return f'{start},\n "vectors": [\n{lines}\n ]\n}}\n'
