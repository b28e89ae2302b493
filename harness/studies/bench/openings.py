"""What it takes to open a vocabulary: CPU time and memory, of ours beside the libraries'.

Each measurement is made in a process of its own, in which nothing else was done: from a file to the
ids of a first text. A library reads its own kind of file, by the lines that ``repro.py`` of a
finding has; who has no such lines is given the plain model, which is read of the user's file as a
part of the measurement. In each round everybody comes twice: with a folder for tables that is
empty, and with what it has then left there. What is compiled is there both times.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from corpora.vocabularies import embedded, scratch
from corpora.vocabularies.caches import TABLES
from corpora.vocabularies.model import PieceType, VocabularyError
from harness.core.comparisons import SupportsFailed, answer_of
from harness.core.messages import Open, Opened
from harness.core.outcomes import Results, Status
from harness.events import Opening, VocabularyOpened
from harness.studies.bench.measure import LIMITS, environment
from harness.workers.calls import characters_apart
from harness.workers.process import Process, WorkerDied
from impls import registry
from impls.interface import Mode, Reproducible, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.vocabularies.model import Vocabulary
    from harness.core.participants import Participant
    from harness.studies.bench.plan import BenchPlan

ROUNDS = 3
"""Rounds where the user names no number."""

TRYING = -1
"""The round before the first, which compiles what is not compiled yet, and is not counted."""

FIRST_BYTES = 100
"""Bytes of the text after which an encoder counts as ready."""

MODE = Mode()

READERS = {
    "gguf": "corpora.vocabularies.gguf_file",
    "sentencepiece": "corpora.vocabularies.sentencepiece_model",
    "tekken": "corpora.vocabularies.tekken",
    "tiktoken": "corpora.vocabularies.tiktoken_file",
    "tokenizer.json": "corpora.vocabularies.tokenizer_json",
}
"""The module that reads each format."""

PROGRAMS = ("cmd:", "npm:", "pip:")
"""Implementations that begin so run in a process of their own, into which nobody here looks."""


class Openings:
    """The measurement of one vocabulary. watch: as of :class:`harness.studies.bench.measure.Bench`.

    found: what is known of each implementation by its name, whatever happens.
    """

    def __init__(
        self,
        plan: BenchPlan,
        source: str,
        vocabulary: Vocabulary,
        watch: Callable[[float, str], None],
    ) -> None:
        self.found: dict[str, VocabularyOpened] = {}
        self._plan, self._source, self._vocabulary, self._watch = plan, source, vocabulary, watch

    def measure(self) -> None:
        """Measure everybody in turn, round by round."""
        text, vocabulary = self._plan.texts[0], self._vocabulary
        data = text.of(vocabulary, self._plan.sizes[-1], self._plan.seed)
        asked: list[tuple[Participant, Open]] = []
        with scratch.temporary("opening-") as folder:
            for place, one in enumerate(self._plan.participants):
                own = Path(folder, str(place))
                own.mkdir()
                status, note, file = "measured", "", ""
                try:
                    request, file = _request(one, self._source, vocabulary, data, own)
                    asked.append((one, request))
                except (Unsupported, VocabularyError) as reason:
                    status, note = "unsupported", str(reason)
                self.found[one.name] = VocabularyOpened(
                    vocabulary.id, one.name, file, text.name, len(data), status, note, []
                )
            rounds = self._plan.rounds or ROUNDS
            for number in range(TRYING, rounds):
                for place, (one, request) in enumerate(asked):
                    done = (number - TRYING + place / len(asked)) / (rounds - TRYING)
                    what = "trying" if number == TRYING else f"round {number + 1} of {rounds},"
                    self._watch(done, f"opening {vocabulary.id}: {what} {one.name}")
                    self._round(one, request, number)

    def _round(self, one: Participant, request: Open, number: int) -> None:
        with scratch.temporary("tables-") as tables:
            for kind in ("cold", "warm") if number != TRYING else ("cold",):
                event = self.found[one.name]
                if event.status != "measured":
                    return
                status, note, costs = _opened(one, request, tables)
                if costs and number != TRYING:
                    event.openings.append(_opening(kind, number, Opened(*costs)))
                self.found[one.name] = replace(event, status=status, note=note)


def _request(
    one: Participant, source: str, vocabulary: Vocabulary, data: bytes, folder: Path
) -> tuple[Open, str]:
    """What is asked of an implementation, and what file it reads. Raises Unsupported."""
    try:
        reason = answer_of(one, vocabulary, MODE)
    except SupportsFailed as error:
        reason = str(error)
    if one.spec.startswith(PROGRAMS):
        reason = reason or "runs in a process of its own"
    if reason is not None:
        raise Unsupported(reason)
    first = next(iter(characters_apart(data, FIRST_BYTES)), b"")
    symbols = any(piece.type is PieceType.USER_DEFINED for piece in vocabulary.pieces)
    asked = Open(one.spec, source, "", "", "", vocabulary.splits, first, data, MODE, symbols)
    if isinstance(one.implementation, Reproducible):
        recipe = one.implementation.recipe(vocabulary, MODE)
        path = folder / recipe.artifact_name
        path.write_bytes(recipe.artifact)
        return replace(asked, path=str(path), recipe=recipe.code), recipe.artifact_name
    if source not in embedded.embedded() and vocabulary.source_path is None:
        raise Unsupported("its vocabulary is of no file")
    reader = READERS.get(vocabulary.format, "")
    return replace(asked, reader=reader, small=_small(one, vocabulary)), vocabulary.format


def _small(one: Participant, vocabulary: Vocabulary) -> str:
    """A toy of the kind that an implementation runs, with the vocabulary's pre-tokenizer."""
    for name in embedded.embedded():
        toy = embedded.load(name) if name.startswith("toy") else vocabulary
        alike = (toy.algorithm, toy.alphabet) == (vocabulary.algorithm, vocabulary.alphabet)
        if toy is vocabulary or not alike or not toy.can_encode(b"a"):
            continue
        with contextlib.suppress(SupportsFailed):
            if answer_of(one, replace(toy, splits=vocabulary.splits), MODE) is None:
                return name
    return ""


def _opened(one: Participant, request: Open, tables: str) -> tuple[str, str, list[int]]:
    """What became of one opening: the status, a note, and what it took."""
    process = Process(
        "harness.workers.server",
        LIMITS.memory,
        {**environment(1), TABLES: tables},
        others=None if registry.our_own(one.spec) else one.spec,
        needs=one.about.needs,
    )
    try:
        answer = process.ask(request, LIMITS.load_seconds, Results, len(request))
    except WorkerDied as death:
        failure = death.outcome
        line = failure.message.split("\n", 1)[0]
        return "failed", f"{failure.status.label}: {line}", []
    except BaseException:
        process.kill()
        raise
    finally:
        process.close()
    if answer.costs is None:
        unsupported = int(answer.status[0]) in (Status.UNSUPPORTED, Status.REJECTED)
        line = answer.messages.get(0, "").split("\n", 1)[0]
        return "unsupported" if unsupported else "failed", line, []
    return "measured", "", answer.costs[0].tolist()


def _opening(kind: str, number: int, took: Opened) -> Opening:
    """The event's part: seconds and bytes."""
    numbers = {name: getattr(took, name) for name in Opened.__slots__}
    numbers |= {name: numbers[name] / 1e9 for name in ("code", "cpu", "wall")}
    return cast("Opening", {"kind": kind, "round": number, **numbers})
