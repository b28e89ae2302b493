"""Counterexamples: grammars of few sentences on which a policy forces tokens that are wrong for
one.

They go to JSON and back, and can be asked again of any policy: so they are regression cases.
"""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from corpora.generators.material import is_text
from corpora.grammars.base import alike
from corpora.grammars.finite import FiniteLanguage
from corpora.vocabularies import sources
from harness.core import stored
from harness.engine.selection import SelectionError
from harness.engine.trust import fetched
from harness.studies.forced.jobs import Task
from harness.studies.forced.policies import EXACT, named
from harness.studies.forced.pool import results
from impls.errors import ImplementationError
from impls.forced.engines import LlguidanceMatcher
from impls.forced.interface import Context
from impls.interface import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.studies.forced.policies import Policies

SHIPPED = "shipped"
"""The name of the counterexamples that come with tokgate."""

LLGUIDANCE = "llguidance"

Place = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A grammar on which a policy errs.

    kind: the way in which it was found. The text is context + forced, and one of the sentences:
    which part at their first byte. depth: how many of the forced tokens, counted from the first
    that is wrong, are not those of the canonical encoding.
    """

    vocabulary: str
    policy: str
    kind: str
    context: bytes
    forced: bytes
    sentences: tuple[bytes, ...]
    depth: int

    @property
    def worth(self) -> tuple[int, int]:
        """The deepest first, of these the shortest."""
        return (self.depth, -len(self.context + self.forced + b"".join(self.sentences)))

    @property
    def place(self) -> Place:
        """Of the counterexamples of one vocabulary, policy and kind one is kept."""
        return self.vocabulary, self.policy, self.kind


def _written(value: Any) -> Any:
    """Bytes as text, or as ``{"hex": ..}`` where they are none."""
    if isinstance(value, tuple):
        return list(map(_written, value))
    if isinstance(value, bytes):
        return value.decode() if is_text(value) else {"hex": value.hex()}
    return value


class _Hex(msgspec.Struct, forbid_unknown_fields=True):
    """Bytes that are no text."""

    hex: str


class _Trophy(msgspec.Struct):
    """A counterexample as it is written, by the name that files have had from the beginning."""

    vocabulary: str
    policy: str
    kind: str
    context: str | _Hex
    forced: str | _Hex
    sentences: tuple[str | _Hex, ...]
    depth: int


def _read(raw: str | _Hex) -> bytes:
    """Bytes as they were written. Raises ValueError."""
    return raw.encode() if isinstance(raw, str) else bytes.fromhex(raw.hex)


def read(source: str | Path) -> list[Counterexample]:
    """The counterexamples of a file, or those shipped. Raises SelectionError with one line."""
    try:
        if source == SHIPPED:
            file = importlib.resources.files("corpora.grammars") / "trophies.json"
            content = file.read_bytes()
        else:
            content = stored.read(Path(source))
        return [
            Counterexample(
                one.vocabulary, one.policy, one.kind, _read(one.context), _read(one.forced),
                tuple(map(_read, one.sentences)), one.depth,
            )
            for one in stored.typed(stored.parsed(content), list[_Trophy])
        ]  # fmt: skip
    except OSError as error:
        raise SelectionError(
            f"counterexamples {source}: {error.strerror}; name a trophies.json, or {SHIPPED}"
        ) from error
    except ValueError as error:
        raise SelectionError(
            f"counterexamples {source}: not a list of counterexamples ({error}); mend or remove it"
        ) from error


def to_json(counterexamples: Iterable[Counterexample]) -> str:
    """The file's text, in an order of its own."""
    ordered = sorted(counterexamples, key=lambda one: one.place)
    written = [{key: _written(one) for key, one in asdict(each).items()} for each in ordered]
    return json.dumps(written, indent=1) + "\n"


def merged(counterexamples: Iterable[Counterexample]) -> dict[Place, Counterexample]:
    """The worthiest of each place."""
    best: dict[Place, Counterexample] = {}
    for one in counterexamples:
        if one.place not in best or one.worth > best[one.place].worth:
            best[one.place] = one
    return best


class Opponent:
    """A policy by name, asked about grammars of few sentences. Raises Unsupported."""

    def __init__(self, policies: Policies, name: str) -> None:
        self.name, self.tokenizer, self._policies = name, policies.tokenizer, policies
        # Policies that know their grammar by the states alone serve any grammar.
        self._policy = policies.of_schema([name], True, "flexible")[name]

    def ids(self, context: Context, forced: bytes, sentences: Sequence[bytes]) -> tuple[int, ...]:
        """The tokens that it forces. ValueError or Unsupported where it gives up."""
        policy = self._policy
        if self.name == LLGUIDANCE:
            grammar = lark([context.text + forced + rest for rest in sentences])
            policy = LlguidanceMatcher(self.tokenizer, self._policies.llguidance, grammar)
        return policy.heal(context, forced, FiniteLanguage(sentences)).ids


def lark(sentences: Iterable[bytes]) -> str:
    """A grammar of these sentences as llguidance reads it. ValueError where one is no text."""
    ways = " | ".join(json.dumps(way.decode(), ensure_ascii=False) for way in sentences)
    return f"start: {ways}"


def judged(
    opponent: Opponent, kind: str, context: bytes, forced: bytes, sentences: Sequence[bytes]
) -> Counterexample | None:
    """The counterexample on a grammar of few sentences; None where the policy does not err, or
    gives up.

    What the sentences have in common is forced, too. One that changes the context's own tokens is
    a seam, and no fault of the policy.
    """
    tokenizer, start = opponent.tokenizer, FiniteLanguage(sentences)
    common = start.forced()
    forced, ways = forced + common, start.after(common).rests
    if len(ways) < 2 or not forced:
        return None
    before = tokenizer.encode(context)
    encoded = tokenizer.encode_many(context + forced + rest for rest in ways)
    if any(canonical[: len(before)] != before for canonical in encoded):
        return None
    try:
        ids = opponent.ids(Context(context, before), forced, ways)
    except (ValueError, Unsupported):  # as in the walk of a corpus
        return None
    depth = max(len(ids) - alike(ids, canonical[len(before) :]) for canonical in encoded)
    if not depth:
        return None
    vocabulary = tokenizer.vocabulary.id
    return Counterexample(vocabulary, opponent.name, kind, context, forced, ways, depth)


def again(opponent: Opponent, one: Counterexample) -> Counterexample | None:
    """The counterexample of a policy on another one's grammar."""
    return judged(opponent, one.kind, one.context, one.forced, one.sentences)


Depths = dict[str, int | None]
"""By policy, how deep it errs; None where it does not."""


@dataclass(frozen=True, slots=True)
class Replay:
    """A job for a worker: one counterexample's grammar against policies."""

    counterexample: Counterexample
    policies: tuple[str, ...]
    answer: ClassVar[Any] = list[int | None]

    def run(self, policies: Policies, task: Task, beat: Callable[[], None]) -> list[int | None]:
        """See :class:`harness.studies.forced.jobs.Job`."""
        found = []
        for name in self.policies:
            beat()
            opponent = Opponent(policies, name)
            errs = again(opponent, self.counterexample)
            found.append(None if errs is None else errs.depth)
        return found


def replayed(
    source: str, vocab: str | None, policies: Sequence[str], seconds: float, memory: int
) -> Iterator[tuple[Counterexample, Depths]]:
    """Ask policies about the counterexamples of a file again.

    vocab: of those of this vocabulary only. policies: those to ask; of none, each counterexample's
    own and exact. Raises SelectionError, VocabularyError, ImplementationError.
    """
    found = read(source)
    known = None if vocab is None else sources.resolve(vocab)
    if known is not None:
        found = [one for one in found if one.vocabulary == known.id]
        if not found:
            raise SelectionError(f"counterexamples {source}: none of them is for {known.id}")
    elif any(fetched(one.vocabulary) for one in found):
        raise SelectionError(
            f"counterexamples {source}: they name vocabularies to download; give --vocab"
        )
    asked = named(policies) if policies else None
    for name, group in groupby(
        sorted(found, key=lambda one: one.place), lambda one: one.vocabulary
    ):
        own = list(group)
        names = asked or list(dict.fromkeys([*(one.policy for one in own), EXACT]))
        task = Task(known or sources.resolve(name), names, "flexible", 0, seconds, memory)
        jobs = [Replay(one, tuple(asked or dict.fromkeys((one.policy, EXACT)))) for one in own]
        for job, answer in results(task, jobs, 1):
            if isinstance(answer, str) or len(answer) != len(job.policies):
                raise ImplementationError(f"adversary: {name}: {answer}")
            yield job.counterexample, dict(zip(job.policies, answer, strict=True))
