"""The user's texts in a run: as batches before all generators, and what was compared on them."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from dataclasses import asdict, replace
from itertools import islice
from typing import TYPE_CHECKING

from corpora.generators import runs
from corpora.generators.base import FunctionGenerator
from corpora.generators.drawing import encodable
from corpora.generators.mutations import mutants
from corpora.texts.corpus import Reading
from harness.core.comparisons import modes_of
from harness.engine.samples import TEXTS
from harness.engine.streams import BATCH_CASES, Batch, batches
from harness.events.texts import (
    FirstDifference,
    TextsCompared,
    TextsGiven,
    TextsRead,
    TokenCounts,
)
from harness.verdict.token_counts import Differing, counted, digest, pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from corpora.generators.base import Generator
    from corpora.texts.corpus import Corpus
    from corpora.texts.documents import Document
    from corpora.vocabularies.model import Vocabulary
    from harness.checks.base import Observation
    from harness.core.comparisons import Contract
    from harness.engine.plan import Plan
    from harness.events import Event
    from impls.interface import Mode

MUTATED = "input-mutated"

BATCH_BYTES = 256 << 10
"""Texts are sent in larger batches than cases of generators are: there are many of them, and the
fastest encoders are through a smaller one before the next is packed."""

FIRST_BATCH_BYTES = 16 << 10
"""The first batch is small, so that it tells soon who is slow."""

FIRST_SHOWN = 20
"""Differing documents of an implementation under a contract that are named; all are counted."""

DRAWN_FROM = 4096
"""Documents from which those to be mutated are drawn."""

DRAWN_BYTES = 8 << 20
"""Bytes of these, at the most."""

DRAWN = 256
"""Documents that are mutated."""

WINDOW = 1000
"""Bytes of a document that are mutated at once."""


def given(plan: Plan, corpus: Corpus) -> TextsGiven:
    """The event that says which texts a user gave."""
    return TextsGiven(
        inputs=list(corpus.given),
        files=len(corpus.sources),
        bytes=corpus.size,
        sampled=sampled(plan),
        only=plan.only_texts,
    )


def sampled(plan: Plan) -> bool:
    """Whether texts are a sample of all: they are read in order where nothing limits them."""
    return plan.budget.seconds is not None or plan.budget.cases is not None


class Texts:
    """The texts of one run, for all of its vocabularies."""

    def __init__(self, plan: Plan, emit: Callable[[Event], None]) -> None:
        self._plan, self._emit = plan, emit
        self._shown: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def first(
        self, vocabulary: Vocabulary, contracts: Sequence[Contract], late: Callable[[], bool]
    ) -> Iterator[Batch]:
        """The batches of the texts, and then those that the run's generators make.

        contracts: of the vocabulary. Texts are asked under the first one: with its pre-tokenizer
        and without special tokens, unless there are not two implementations that do that.
        late: whether the others are due, although there are texts left; from then on both come in
        turn. Nothing is due before the texts of a run that has only these.
        """
        plan = self._plan
        # Where cases are counted, all take turns: a million bytes are one case like any other.
        timed = plan.budget.seconds is not None
        longest, long = plan.suite.max_input, timed and runs.GENERATOR in plan.generators
        others = batches(plan.generators, vocabulary, plan.seed, longest, long=long, timed=timed)
        if plan.texts is None:
            yield from others
            return
        mode = contracts[0].mode if contracts else modes_of(vocabulary)[0]
        own = self.batches(vocabulary, mode)
        for batch in own:
            yield batch
            if not plan.only_texts and late():
                break
        for pair in _in_turn(others, own):
            yield from pair

    def batches(self, vocabulary: Vocabulary, mode: Mode) -> Iterator[Batch]:
        """All documents that the vocabulary can encode, in batches."""
        plan, corpus = self._plan, self._plan.texts
        assert corpus is not None
        reading, unfit, number, start = Reading(), 0, 0, 0
        seed = plan.seed if sampled(plan) else None
        restricted = vocabulary.byte_alphabet is not None
        began = time.monotonic()
        documents: list[Document] = []
        size, most = 0, FIRST_BATCH_BYTES

        def note() -> None:
            seconds = time.monotonic() - began
            self._emit(TextsRead(vocabulary.id, **asdict(reading), unfit=unfit, seconds=seconds))

        for document in corpus.documents(seed, reading):
            if restricted and not vocabulary.can_encode(document.data):
                unfit += 1
                continue
            documents.append(document)
            size += len(document.data)
            if size >= most or len(documents) >= BATCH_CASES:
                note()
                yield _batch(documents, plan.seed, number, start, mode)
                number, start = number + 1, start + len(documents)
                documents, size, most = [], 0, BATCH_BYTES
        note()
        if documents:
            yield _batch(documents, plan.seed, number, start, mode)
        note()

    def compared(self, seen: Observation, batch: Batch) -> None:
        """Tell the token counts of a batch of texts that was answered."""
        if batch.generator != TEXTS:
            return
        contract, against = seen.contract.id, pairs(seen.contract, seen.results)
        token_counts: dict[str, TokenCounts] = {}
        first: list[FirstDifference] = []
        for name, results in seen.results.items():
            # Who has nobody to be compared with may be compared with itself in another run.
            documents = 0 if name in against.values() else len(batch.inputs)
            counts = TokenCounts("", documents, tokens=len(results.ids))
            differing: list[Differing] = []
            if other := against.get(name, ""):
                counts, differing = counted(results, seen.results[other], other)
            token_counts[name] = replace(counts, digest=digest(results))
            with self._lock:
                room = FIRST_SHOWN - self._shown[contract, name]
                shown = differing[:room]
                self._shown[contract, name] += len(shown)
            first += [
                FirstDifference(
                    name, other, batch.place(one.index), one.first, one.tokens, one.against
                )
                for one in shown
            ]
        self._emit(TextsCompared(contract, token_counts, first))


def _batch(documents: list[Document], seed: int, number: int, start: int, mode: Mode) -> Batch:
    inputs = [document.data for document in documents]

    def place(index: int) -> str:
        return documents[index - start].place()

    return Batch(TEXTS, seed, number, start, inputs, place, mode)


def _in_turn(*streams: Iterator[Batch]) -> Iterator[tuple[Batch, ...]]:
    """The first of each, the second of each, and so on; streams that have ended are left out."""
    left = list(streams)
    while left:
        heads = [(stream, next(stream, None)) for stream in left]
        left = [stream for stream, head in heads if head is not None]
        yield tuple(head for _, head in heads if head is not None)


def mutated(corpus: Corpus, seed: int) -> Generator:
    """The generator that mutates documents of a corpus, as others mutate generated texts."""

    def make(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
        texts = [document.data for document in drawn(corpus, seed)]
        if not texts:
            return iter(())
        return mutants(vocabulary, rng, _windows(texts, rng))

    return FunctionGenerator(
        MUTATED,
        "documents of your texts with units inserted, deleted, swapped, spliced",
        encodable(make),
    )


def _windows(texts: list[bytes], rng: random.Random) -> Iterator[bytes]:
    """Parts of the texts, for ever."""
    while True:
        for text in texts:
            at = rng.randrange(max(1, len(text) - WINDOW // 2)) if len(text) > WINDOW else 0
            yield text[at : at + WINDOW]


def drawn(corpus: Corpus, seed: int, count: int = DRAWN) -> list[Document]:
    """At most ``count`` documents that stand for a corpus: the same ones for the same seed."""
    found: list[Document] = []
    size = 0
    for document in islice(corpus.documents(seed), DRAWN_FROM):
        found.append(document)
        size += len(document.data)
        if size > DRAWN_BYTES:
            break
    rng = random.Random(f"texts to mutate/{seed}")
    return rng.sample(found, min(count, len(found)))
