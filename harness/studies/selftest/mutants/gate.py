"""Whole plug-ins that the gate must not pass: each has a fault that a gate may overlook.

They are run by ``tokgate run`` beside the references (:mod:`harness.studies.selftest.gate`): what
matters is the verdict, whatever the checks found. They are given to the gate by the path of this
file, as those of a user are, so that nothing is known of their inside.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.studies.selftest.catalog import Mutant, mistakes
from harness.studies.selftest.plain.bpe import PlainBpe, PlainServices
from harness.studies.selftest.program import PROGRAM
from impls.interface import Capability, Unsupported

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

FILE = Path(__file__).resolve()

ODD = "\u2581".encode()
"""A character that some treat otherwise, as is known and expected. It has a token in ``toy_bytes``,
which U+FEFF and unassigned code points have not."""

WRONG_ANSWERS = 60

LONGEST = 512
"""Bytes of a run from which on ``cubic-on-runs`` becomes no slower."""

CONTRACTIONS = "'s|'t|'re|'ve|'m|'ll|'d|"
"""With what the pattern of ``toy_bytes`` begins."""

# As ``tokgate expect`` used to write it: all kinds of input, one example.
EXPECTED = """
[[expected]]
bucket = "equivalence/bpe/*/ids/*/gate.*"
vocabulary = "toy_bytes"
examples = ["\u2581"]
implementations = {}
reason = "encodes this character byte by byte"
"""


class Right(PlainBpe):
    """Right: what the others are without their faults."""

    name = "gate.right"


class Unmerged(PlainBpe):
    """Encodes a character byte by byte: a known difference."""

    name = "gate.unmerged"

    def segment(self, piece: bytes) -> list[int]:
        first, *rest = (PlainBpe.segment(self, part) for part in piece.split(ODD))
        return [*first, *(i for part in rest for i in (*self.symbols(ODD), *part))]


def refuse(*_: Any) -> Any:
    """What does not do it, whatever was asked."""
    raise Unsupported("not yet")


def wrong_once(encoder: PlainBpe, data: bytes, mode: Mode) -> list[int]:
    """A wrong answer, and Unsupported where it is asked again."""
    asked, wrong = (data, mode.label), encoder.__dict__.setdefault("wrong", set())
    if asked in wrong:
        raise Unsupported("not again")
    ids = encoder.coded(data, mode)
    if len(ids) > 2 and len(wrong) < WRONG_ANSWERS:
        wrong.add(asked)
        return ids[:-1]
    return ids


def cubic(encoder: PlainBpe, data: bytes, mode: Mode) -> list[int]:
    """The cube of the longest run of one byte: no listed family of prose brings it out."""
    longest = max((len(list(run)) for _, run in groupby(data)), default=0)
    sum(range(min(longest, LONGEST) ** 3 // 8))
    return encoder.coded(data, mode)


def without_contractions(_: PlainBpe, vocabulary: Vocabulary) -> Vocabulary:
    """Contractions are not split off words."""
    splits = tuple(split.removeprefix(CONTRACTIONS) for split in vocabulary.splits)
    return replace(vocabulary, splits=splits)


def swapped(encoder: PlainBpe) -> None:
    """Two merges in the wrong order."""
    PlainBpe.prepare(encoder)
    # An e with an accent is C3 A9: of two in a row, the bytes in the middle merge first now.
    first, second = encoder.symbols(b"\xc3\xa9")
    one, other = (first, second), (second, first)
    low, high = encoder._merges[one], encoder._merges[other]
    encoder._merges |= {one: (high[0], low[1]), other: (low[0], high[1])}


def plugged(place: str, summary: str, /, **changes: Any) -> Mutant:
    """A class, given by the path of this file."""
    like = Mutant("gate", "toy_bytes", Right, right=f"{FILE}:Right")
    return like(place, summary, wrong=f"{FILE}:{place}", **changes)


def program(kind: str, summary: str, right: str = "right") -> Mutant:
    """A program, and the one that it is without its fault."""
    row = Mutant("gate", "toy_bytes", right=f"{PROGRAM} {right}")
    return row(kind, summary, wrong=f"{PROGRAM} {kind}")


MUTANTS = (
    plugged(
        "answers-nothing", "Raises Unsupported for every input: nothing was compared.",
        encode=refuse,
    ),
    plugged(
        "wrong-once",
        "Sixty answers are wrong, and Unsupported when asked again: they were wrong.",
        encode=wrong_once,
    ),
    plugged(
        "lacks-services", "Claims services that its encoder lacks: users will call them.",
        capabilities=PlainServices.capabilities,
    ),
    plugged(
        "declines-services",
        "Claims services, and raises Unsupported for each: users will call them.",
        capabilities=PlainServices.capabilities,
        **dict.fromkeys(map(str, PlainServices.capabilities), refuse),
    ),
    plugged(
        "masks-contractions", "Wrong on contractions, beside a difference that is expected.",
        base=Unmerged, right=f"{FILE}:Unmerged", expect=EXPECTED, read=without_contractions,
    ),
    plugged(
        "masks-swapped-merges", "Swaps two merges, beside a difference that is expected.",
        base=Unmerged, right=f"{FILE}:Unmerged", expect=EXPECTED, prepare=swapped,
    ),
    plugged(
        "cubic-on-runs", "Slow on runs of one byte, where growth is measured on prose alone.",
        encode=cubic,
    ),
    plugged(
        "streams-wrong", 'Takes text only, and streams "WRONG" for each id.',
        text_only=True, modes=("text",), capabilities=frozenset({Capability.DECODE}),
        encode=lambda self, text, mode: self.coded(text.encode(), mode),
        decode=lambda self, ids: PlainBpe.decode(self, ids).decode(errors="replace"),
        decode_stream=lambda _, ids: ["WRONG" for _ in ids],
    ),
    program(
        "every-fourth", "Leaves out a result of every fourth batch: a breach of the protocol.",
    ),
    program(
        "whole-batch", "Rejects a whole batch because of one invalid input: the others are valid.",
    ),
    program(
        "false-times",
        "Says of each input that it took a microsecond: its growth is seen by it.", "true-times",
    ),
    program(
        "claims-all", "Claims operations, and answers unsupported to each: users will call them.",
    ),
)  # fmt: skip


def __getattr__(place: str) -> type[PlainBpe]:
    """The class of a row, as ``--impl`` takes it by the path of this file."""
    if place not in {one.place for one in MUTANTS}:
        raise AttributeError(place)
    return mistakes()[f"gate.{place}"].changed()
