"""What a measurement of speed is made of, from the options that a user gave."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from corpora.texts import benchmarks as texts
from harness.core.quiet import aside
from harness.engine import selection
from harness.engine.selection import SelectionError
from harness.events.bench import THREADS
from impls import registry, roster
from impls.interface import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.texts.benchmarks import Text
    from corpora.vocabularies.model import Vocabulary
    from harness.core.participants import Participant

VOCABULARY = "tekken_240911"
"""Measured where none is named: the embedded one that most libraries can run."""

SIZES = ("1KiB", "64KiB", "1MiB")
DOCUMENT = 200
"""Bytes of a text of a batch: of a message in a chat."""


class Way(NamedTuple):
    """How encoders are called. batched: with many texts at once. threaded: on several threads."""

    mode: Mode
    batched: bool = False
    threaded: bool = False


WAYS = {
    "text": Way(Mode()),
    "raw": Way(Mode(pretokenize=False)),
    "batch": Way(Mode(), batched=True),
    THREADS: Way(Mode(), batched=True, threaded=True),
}
"""What may be measured, by the name that ``--mode`` has for it."""

OPENING = "load"
"""What is measured under this name of ``--mode`` is what it takes to open a vocabulary."""

USUAL = ("text", "raw")
"""What is measured where nothing is named."""

_PRETOKENIZED = ("tiktoken", "sentencepiece", "tokenizers")
BASE = dict.fromkeys(WAYS, _PRETOKENIZED) | {"raw": ("rs-bpe", "tiktoken")}
"""Ratios refer, by mode, to the first of these that was measured. Without pre-tokenization tiktoken
has no documented way to encode, so that it only stands in."""

TRUSTED = ("tiktoken", "sentencepiece", "tokenizers")
"""The ids of the first of these that runs the vocabulary are taken to be right."""

LEAST_SIZE, MOST_SIZE = 16, 1 << 30

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SIZE = re.compile(r"(\d+)\s*([KMG]?)(?:i?B)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """All that decides a measurement.

    judges: implementations that are asked for the right ids only. rounds: of each cell, or None
    for as many as ``seconds`` hold. cold: first calls in a freshly loaded encoder; cold_sizes: at
    all sizes, not only the largest. document: bytes of each text of a batch. threads: of the mode
    that has several. call_seconds: a cell whose call would take longer is skipped.
    """

    vocabularies: dict[str, Callable[[], Vocabulary]]
    participants: Sequence[Participant]
    judges: Sequence[Participant]
    texts: Sequence[Text]
    sizes: Sequence[int]
    modes: Sequence[str]
    rounds: int | None = None
    cold: int = 1
    cold_sizes: bool = False
    document: int = DOCUMENT
    threads: int = 1
    seed: int = 0
    seconds: float = 100.0
    call_seconds: float = 2.0


def parse_size(text: str, option: str = "--size") -> int:
    """Bytes of ``1KB``, ``64KiB``, ``1M``, ``5000``; units are of 1024. Raises SelectionError."""
    found = _SIZE.fullmatch(text.strip())
    size = int(found[1]) * _UNITS[found[2].upper()] if found else 0
    if not LEAST_SIZE <= size <= MOST_SIZE:
        raise SelectionError(
            f"{option} {text!r}: give {LEAST_SIZE} bytes to 1 GiB, such as 64KB or 1MB"
        )
    return size


def chosen_texts(names: Sequence[str]) -> list[Text]:
    """The kinds of text named, or all that can be made; a name that is none of them is a file."""
    found = []
    for name in dict.fromkeys(names) or [one for one in texts.TEXTS if not texts.trouble(one)]:
        why = texts.trouble(name) if name in texts.TEXTS else None
        try:
            found.append(texts.TEXTS[name] if name in texts.TEXTS else texts.of_file(Path(name)))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            why = f"{reason}; name a UTF-8 file or one of {', '.join(texts.TEXTS)}"
        if why is not None:
            raise SelectionError(f"--input {name!r}: {why}")
    return found


def participants(
    specs: Sequence[str],
) -> tuple[list[Participant], dict[str, str], list[Participant]]:
    """Those named, or all registered ones and the peers that are installed.

    Second: those that are not installed, and why. Third: the trusted ones that are not among them.
    Raises ImplementationError for a named one that cannot be had.
    """
    peers = []
    for name in roster.joining(roster.Joins.BENCH, roster.Joins.FAST):
        with contextlib.suppress(ImportError), aside():
            _ = registry.resolve(name).about
            peers.append(name)
    present, missing = selection.participants(specs, peers)
    absent = [name for name in TRUSTED if name not in {one.name for one in present}]
    judges = selection.participants(absent)[0] if absent else []  # none named would be all
    return present, missing, judges


def make_plan(
    vocab: Sequence[str],
    impl: Sequence[str],
    inputs: Sequence[str],
    sizes: Sequence[str],
    modes: Sequence[str],
    document: str,
    threads: int | None,
    **rest: Any,
) -> tuple[BenchPlan, dict[str, str]]:
    """The plan, and who takes no part and why. rest: fields of the plan as they are.

    Raises SelectionError, VocabularyError, ImplementationError, each with one line.
    """
    # What is cheap to look at comes first, so that a slip of the pen is answered at once.
    wanted = sorted({parse_size(size) for size in sizes or SIZES})
    chosen, way = chosen_texts(inputs), selection.chosen("mode", modes or USUAL, (*WAYS, OPENING))
    each = parse_size(document, "--document")
    vocabularies = selection.vocabularies(vocab or [VOCABULARY])
    present, missing, judges = participants(impl)
    # Several threads are compared to one.
    alone = THREADS in way and "batch" not in way
    plan = BenchPlan(
        vocabularies=vocabularies,
        participants=present,
        judges=judges,
        texts=chosen,
        sizes=wanted,
        modes=["batch", *way] if alone else way,
        document=each,
        threads=threads or len(os.sched_getaffinity(0)),
        **rest,
    )
    return plan, missing
