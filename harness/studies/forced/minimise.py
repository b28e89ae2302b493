"""The smallest schema and the shortest text on which a healing policy still errs.

Schema and text are cut down together (``corpora.grammars.smaller``), the strings in them by the
delta debugging that inputs of tokenizers are minimised with (``harness.findings.shrinking``). What
is tried counts if the grammar admits the text and the policy forces tokens, at some boundary of the
text's own tokens, which that text or another sentence contradicts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from corpora.grammars.base import GrammarError
from corpora.grammars.corpus import compact_json
from corpora.grammars.json_schema import JsonSchemaGrammar
from corpora.grammars.smaller import PASSES, Pair, kindred, renamed, size, strings
from harness.findings.shrinking import shrink
from harness.studies.forced.policies import EXACT
from harness.studies.forced.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from corpora.grammars.corpus import SchemaCase
    from corpora.grammars.json_schema import Whitespace
    from harness.events import ForcedWitness
    from harness.studies.forced.policies import Policies

NAME = "minimal"
"""The schema's name in the witness that is left."""

FORMATS: tuple[dict[str, Any], ...] = (
    {"separators": (",", ":")}, {}, {"indent": 2}, {"indent": "\t"},
)  # fmt: skip
"""The formats in which a value may be written. The shortest comes first, as an error may not need
the white space."""

Write = Callable[[Any], bytes]


def written(value: object, style: Mapping[str, Any]) -> bytes:
    """A value as JSON text."""
    text = json.dumps(value, ensure_ascii=False, **style)
    return text.encode("utf-8", "backslashreplace")


TRIED = 1 << 16
"""Bytes of a text on which errors are still looked for: a longer one is walked for seconds."""


class Minimiser:
    """Makes witnesses of one policy small.

    beat: called before each trial, to show that there is life.
    """

    def __init__(
        self,
        policies: Policies,
        policy: str,
        whitespace: Whitespace,
        beat: Callable[[], None] = lambda: None,
    ) -> None:
        self._policies = policies
        self._policy = policy
        self._whitespace = whitespace
        self._beat = beat
        self._sentences = policy == EXACT

    def minimal(
        self, witness: ForcedWitness, case: SchemaCase, seconds: float
    ) -> ForcedWitness | None:
        """The smallest witness found in so many seconds; None where the policy errs no more.

        case: the schema of ``witness``, with its texts.
        """
        deadline = time.monotonic() + seconds
        # A text of the corpus needs no other sentence: and so no proof, which takes time.
        self._sentences = self._policy == EXACT or witness.of == "sentence"
        found = self._start(case, deadline)
        if found is None:
            return None
        write, pair = found
        errs = partial(self._errs, write)
        while time.monotonic() < deadline:
            before = pair
            for tried in PASSES:
                pair = _swept(tried, pair, errs, deadline)
            pair = self._shorter_strings(pair, errs, deadline)
            if pair == before:
                break
        schema, value = pair
        ending = self._witness(schema, write(value))
        return ending and replace(ending, grammar=compact_json(schema).decode())

    def _start(self, case: SchemaCase, deadline: float) -> tuple[Write, Pair] | None:
        """A way to write, and the schema with the value of a text on which the policy errs."""
        for text in sorted(case.instances, key=len):
            for style in FORMATS:
                write = partial(written, style=style)
                if time.monotonic() > deadline or len(text) > TRIED:
                    return None
                pair = case.schema, json.loads(text)
                if self._errs(write, pair):
                    return write, pair
        return None

    def _errs(self, write: Write, pair: Pair) -> bool:
        try:
            return self._witness(pair[0], write(pair[1])) is not None
        except (GrammarError, ValueError, RecursionError):
            return False  # no schema any more, or none that llguidance takes

    def _witness(self, schema: Any, text: bytes) -> ForcedWitness | None:
        """The witness of the shortest beginning, if the policy errs somewhere in the text."""
        if not isinstance(schema, dict | bool):
            return None
        self._beat()
        grammar = JsonSchemaGrammar(schema, self._whitespace)
        names = [self._policy, EXACT] if self._sentences else [self._policy]
        named = self._policies.of_schema(list(dict.fromkeys(names)), schema, self._whitespace)
        walk = Walk(self._policies.tokenizer, grammar, named, NAME, sampled_every=1)
        walk.instance(text)
        own = [one for one in walk.finished().witnesses if one.policy == self._policy]
        return min(own, key=lambda one: len(one.context) + len(one.forced), default=None)

    def _shorter_strings(self, pair: Pair, errs: Callable[[Pair], bool], deadline: float) -> Pair:
        """The names and strings made shorter, one after the other."""
        for string in strings(pair):
            left = deadline - time.monotonic()
            if left <= 0:
                break
            if not string or string not in strings(pair):
                continue  # it has changed together with another
            speller = _Speller(pair, string, errs)
            shrink(as_bytes(string), speller.failing, left)
            pair = speller.pair
        return pair


def as_bytes(string: str) -> bytes:
    """UTF-8; lone surrogates, which JSON can spell, as what they would be."""
    return string.encode("utf-8", "surrogatepass")


class _Speller:
    """Tries other spellings of one string: of it alone, or of all that begin like it.

    pair: what errs with the last spelling that was taken.
    """

    def __init__(self, pair: Pair, string: str, errs: Callable[[Pair], bool]) -> None:
        self.pair = pair
        self._string = string
        self._errs = errs

    def failing(self, candidates: Sequence[bytes]) -> list[bool]:
        """Whether the policy errs, up to the first with which it does: that one is taken."""
        answers = [False] * len(candidates)
        for index, candidate in enumerate(candidates):
            if self._taken(candidate):
                answers[index] = True
                break
        return answers

    def _taken(self, candidate: bytes) -> bool:
        try:
            new = candidate.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return False
        if len(new) >= len(self._string):
            return False  # simpler letters tell less than the words of which they are left
        alone = {self._string: new}
        together = kindred(self.pair, self._string, new)
        for names in (alone, together) if together != alone else (alone,):
            changed = renamed(self.pair[0], names), renamed(self.pair[1], names)
            if self._errs(changed):
                self.pair, self._string = changed, new
                return True
        return False


def _swept(
    tried: Callable[[Pair], Iterator[Pair]],
    pair: Pair,
    errs: Callable[[Pair], bool],
    deadline: float,
) -> Pair:
    """The pair after one pass. What has failed is not tried again before the pass ends."""
    place = 0
    while True:
        for index, candidate in enumerate(tried(pair)):
            if time.monotonic() > deadline:
                return pair
            if index < place or size(candidate) >= size(pair):
                continue
            if errs(candidate):
                pair, place = candidate, index
                break
        else:
            return pair
