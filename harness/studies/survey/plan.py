"""Who meets whom: a match is one library and the reference of one vocabulary."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corpora.families import user
from corpora.generators.catalog import generators
from corpora.vocabularies import embedded
from corpora.vocabularies.model import Algorithm, VocabularyError
from harness.checks import CHECKS
from harness.core.comparisons import modes_of
from harness.engine import selection
from harness.engine.plan import Plan
from harness.engine.suites import SUITES
from harness.engine.texts import mutated
from harness.verdict import expectations
from impls import registry, roster
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from corpora.texts.corpus import Corpus
    from corpora.vocabularies.model import Vocabulary
    from harness.core.participants import Participant
    from harness.engine.suites import Budget

VOCABULARIES = ("tekken_240911", "mistral_v1", "unigram_nfkc", "toy_wordpiece")
"""Embedded ones: byte-level BPE, SentencePiece BPE, unigram, WordPiece."""

FETCHED = ("tiktoken:cl100k_base", "tiktoken:o200k_base")
"""Taken where they can be had without a word: some libraries know no others."""


REFERENCES = ("tiktoken", "sentencepiece")
"""Registered libraries that others are compared with, and that have no row of their own unless the
user names them."""


@dataclass(frozen=True, slots=True)
class Match:
    """One library against the reference on one vocabulary.

    refusal: why the library does not run the vocabulary in any mode; then there is no run.
    """

    library: Participant
    reference: Participant
    source: str
    vocabulary: Vocabulary
    refusal: str | None

    @property
    def folder(self) -> str:
        """Where its run is, below the folder of all."""
        return f"{_slug(self.library.name)}/{_slug(self.vocabulary.id)}"


def libraries(specs: Sequence[str]) -> tuple[list[Participant], dict[str, str]]:
    """Those named, or all of the field and the registered libraries; with the absent, and why."""
    if specs:
        return selection.participants(specs)
    present: list[Participant] = []
    missing: dict[str, str] = {}
    for spec in (*roster.field(), *registry.registered()):
        try:
            ((one,), _) = selection.participants([spec])
        except ImplementationError as error:
            missing[spec] = str(error)
            continue
        if one.about.library and spec not in REFERENCES:
            present.append(one)
    return present, missing


def vocabularies(names: Sequence[str], seed: int) -> dict[str, Callable[[], Vocabulary]]:
    """Those named, or one of each algorithm, with OpenAI's where they can be had."""
    if names:
        return selection.vocabularies(names, seed)
    chosen = [name for name in VOCABULARIES if name not in embedded.left_out()]
    loaded = selection.vocabularies(chosen, seed)
    for name in FETCHED:
        try:
            loaded |= selection.vocabularies([name], seed)
        except VocabularyError:
            continue
    return loaded


def reference_of(vocabulary: Vocabulary, library: Participant) -> str:
    """Whose ids are the right ones: the library that defines the format, else tokenizers.

    A library that is given pieces in a tokenizer.json has to agree with tokenizers, which reads
    that file otherwise than SentencePiece its own.
    """
    modes = modes_of(vocabulary)
    if vocabulary.pieces:
        reads = getattr(library.implementation, "reads", None)
        read = {reads(vocabulary, mode) for mode in modes} if reads else set()
        other = library.name != "tokenizers" and "tokenizer.json" in read
        return "tokenizers" if other else "sentencepiece"
    tiktoken = registry.resolve("tiktoken")
    runs = any(tiktoken.supports(vocabulary, mode) is None for mode in modes)
    return "tiktoken" if vocabulary.algorithm is Algorithm.BPE and runs else "tokenizers"


def matches(
    participants: Sequence[Participant], loaders: Mapping[str, Callable[[], Vocabulary]]
) -> list[Match]:
    """Every library on every vocabulary, but a reference against itself."""
    found = []
    for source, load in loaders.items():
        vocabulary = load()
        for library in participants:
            reference = selection.participants([reference_of(vocabulary, library)])[0][0]
            if library.name == reference.name:
                continue
            reasons = [
                library.implementation.supports(vocabulary, mode) for mode in modes_of(vocabulary)
            ]
            refusal = None if None in reasons else reasons[0]
            found.append(Match(library, reference, source, vocabulary, refusal))
    return found


def plan_of(
    match: Match,
    checks: Sequence[str],
    budget: Budget,
    seed: int,
    suite: str,
    texts: Corpus | None = None,
) -> Plan:
    """The run of one match, growth included: a plan like any other. texts: the user's own."""
    known = [name for name in checks if name in CHECKS]
    own = [mutated(texts, seed)] if texts is not None else []
    return Plan(
        vocabularies={match.source: lambda: match.vocabulary},
        participants=[match.reference, match.library],
        references=frozenset({match.reference.name}),
        generators=[*own, *generators().values()],
        texts=texts,
        checks=[CHECKS[name] for name in known],
        scaled=(match.source,) if "scaling" in checks else (),
        families=user.chosen(None),
        expectations=expectations.load(expectations.SHIPPED),
        suite=SUITES[suite],
        budget=budget,
        seed=seed,
        jobs=1,
        fail_fast=False,
        named=[match.library.name],
        asked={"vocabularies": [match.source]},
    )


def done(folder: Path, plan: Plan) -> bool:
    """Whether a folder has the whole run of this very plan, so that it need not be run again."""
    from harness.engine.flow import versions  # noqa: PLC0415
    from harness.engine.plan import budget_text  # noqa: PLC0415
    from harness.events import Finished, Started, TextsGiven, read_events  # noqa: PLC0415

    try:
        events = list(read_events(folder / "run.jsonl"))
    except (OSError, ValueError, TypeError, KeyError):
        return False
    started = next((one for one in events if isinstance(one, Started)), None)
    given = next((one.inputs for one in events if isinstance(one, TextsGiven)), [])
    finished = next((one for one in events if isinstance(one, Finished)), None)
    return (
        started is not None
        and finished is not None
        and finished.complete
        and given == (list(plan.texts.given) if plan.texts is not None else [])
        and (started.seed, started.suite, started.budget, started.versions)
        == (plan.seed, plan.suite.name, budget_text(plan), versions(plan))
    )


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)
