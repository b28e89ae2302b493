"""Counterexamples: grammars of few sentences on which a policy forces tokens that are wrong for
one.

They go to JSON and back, and can be asked again of any policy: so they are regression cases.
"""

from __future__ import annotations

import importlib.resources
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from corpora.generators.material import is_text
from corpora.grammars.finite import FiniteLanguage
from harness.core import stored
from harness.engine.selection import SelectionError
from impls.forced.context import Context
from impls.interface import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from harness.studies.forced.policies import Policies
    from impls.forced.interface import Policy

SHIPPED = "shipped"
"""The name of the counterexamples that come with tokgate."""

LLGUIDANCE = "llguidance"


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
    def place(self) -> tuple[str, str, str]:
        """Of the counterexamples of one vocabulary, policy and kind one is kept."""
        return self.vocabulary, self.policy, self.kind

    def to_dict(self) -> dict[str, Any]:
        """For JSON: bytes as text, or as ``{"hex": ..}`` where they are none."""
        return {
            "vocabulary": self.vocabulary,
            "policy": self.policy,
            "kind": self.kind,
            "context": _written(self.context),
            "forced": _written(self.forced),
            "sentences": [_written(one) for one in self.sentences],
            "depth": self.depth,
        }


class _Hex(msgspec.Struct, forbid_unknown_fields=True):
    """Bytes that are no text."""

    hex: str


class Written(msgspec.Struct):
    """A counterexample as it is written; see :meth:`Counterexample.to_dict`."""

    vocabulary: str
    policy: str
    kind: str
    context: str | _Hex
    forced: str | _Hex
    sentences: tuple[str | _Hex, ...]
    depth: int


def typed(raw: Written, at: str) -> Counterexample:
    """The counterexample that was written.

    Raises ValueError, with the field, for what is no bytes.
    """
    names = (f"{at}.sentences[{number}]" for number in range(len(raw.sentences)))
    return Counterexample(
        raw.vocabulary,
        raw.policy,
        raw.kind,
        _read(raw.context, f"{at}.context"),
        _read(raw.forced, f"{at}.forced"),
        tuple(map(_read, raw.sentences, names)),
        raw.depth,
    )


def _written(data: bytes) -> str | dict[str, str]:
    return data.decode() if is_text(data) else {"hex": data.hex()}


def _read(raw: str | _Hex, at: str) -> bytes:
    try:
        return raw.encode() if isinstance(raw, str) else bytes.fromhex(raw.hex)
    except ValueError:  # a lone surrogate, too
        raise ValueError(f"{at}: is neither text nor hexadecimal digits") from None


def read(source: str | Path) -> list[Counterexample]:
    """The counterexamples of a file, or those shipped. Raises SelectionError with one line."""
    try:
        if source == SHIPPED:
            file = importlib.resources.files("corpora.grammars") / "trophies.json"
            content = file.read_bytes()
        else:
            content = stored.read(Path(source))
        found = stored.typed(stored.parsed(content), list[Written])
        return [typed(one, f"[{number}]") for number, one in enumerate(found)]
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
    return json.dumps([one.to_dict() for one in ordered], indent=1) + "\n"


def merged(counterexamples: Iterable[Counterexample]) -> dict[tuple[str, str, str], Counterexample]:
    """The worthiest of each place."""
    best: dict[tuple[str, str, str], Counterexample] = {}
    for one in counterexamples:
        if one.place not in best or one.worth > best[one.place].worth:
            best[one.place] = one
    return best


class Opponent:
    """A policy by name, asked about grammars of few sentences. Raises Unsupported."""

    def __init__(self, policies: Policies, name: str) -> None:
        self.name = name
        self.tokenizer = policies.tokenizer
        self._policies = policies
        if name != LLGUIDANCE:
            # Policies that know their grammar by the states alone serve any grammar.
            self._policy: Policy = policies.of_schema([name], True, "flexible")[name]

    def ids(self, context: Context, forced: bytes, sentences: Sequence[bytes]) -> tuple[int, ...]:
        """The tokens that it forces. ValueError or Unsupported where it gives up."""
        after = FiniteLanguage(sentences)
        policy = self._policy if self.name != LLGUIDANCE else self._matcher(context, forced, after)
        return policy.heal(context, forced, after).ids

    def _matcher(self, context: Context, forced: bytes, after: FiniteLanguage) -> Policy:
        from impls.adapters.llguidance import tokenizer_of  # noqa: PLC0415
        from impls.forced.engines import LlguidanceMatcher  # noqa: PLC0415

        ways = [context.text + forced + rest for rest in after.sentences(1 << 16) or ()]
        if not all(map(is_text, ways)):
            raise ValueError("llguidance's grammars are texts")
        engine = tokenizer_of(self._policies.tokenizer.vocabulary)
        return LlguidanceMatcher(self.tokenizer, engine, lark(ways))


def lark(sentences: Iterable[bytes]) -> str:
    """A grammar of these sentences, all texts, as llguidance reads it."""
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
    tokenizer = opponent.tokenizer
    start = FiniteLanguage(sentences)
    common = start.forced()
    forced += common
    ways = start.after(common).sentences(len(sentences)) or ()
    if len(ways) < 2 or not forced:
        return None
    before = tokenizer.encode(context)
    encoded = tokenizer.encode_many([context + forced + rest for rest in ways])
    if any(canonical[: len(before)] != before for canonical in encoded):
        return None
    try:
        ids = opponent.ids(Context(context, before), forced, ways)
    except (ValueError, Unsupported):  # as in the walk of a corpus
        return None
    depth = 0
    for canonical in encoded:
        own = canonical[len(before) :]
        same = 0
        while same < min(len(ids), len(own)) and ids[same] == own[same]:
            same += 1
        depth = max(depth, len(ids) - same)
    if not depth:
        return None
    vocabulary = tokenizer.vocabulary.id
    return Counterexample(vocabulary, opponent.name, kind, context, forced, ways, depth)


def again(opponent: Opponent, counterexample: Counterexample) -> Counterexample | None:
    """The counterexample of a policy on another one's grammar."""
    return judged(
        opponent,
        counterexample.kind,
        counterexample.context,
        counterexample.forced,
        counterexample.sentences,
    )
