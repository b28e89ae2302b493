"""The smallest schema and the shortest text on which a healing policy still errs.

Schema and text are cut down together (``corpora.grammars.smaller``), the strings in them by the
delta debugging that inputs of tokenizers are minimised with (``harness.findings.shrink``). What
is tried counts if the grammar admits the text and the policy forces tokens, at some boundary of the
text's own tokens, which that text or another sentence contradicts.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from corpora.grammars.corpus import compact_json
from corpora.grammars.json_schema import JsonSchemaGrammar
from corpora.grammars.smaller import PASSES, Pair, kindred, renamed, size, strings
from harness.findings.shrink import shrink
from harness.studies.forced.policies import EXACT
from harness.studies.forced.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

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
        self._policies, self._policy, self._whitespace = policies, policy, whitespace
        self._beat = beat
        self._style: Mapping[str, Any] = FORMATS[0]
        self._asked = [policy]
        self._deadline = 0.0

    def minimal(
        self, witness: ForcedWitness, case: SchemaCase, seconds: float
    ) -> ForcedWitness | None:
        """The smallest witness found in so many seconds; None where the policy errs no more.

        case: the schema of ``witness``, with its texts.
        """
        self._deadline = time.monotonic() + seconds
        # A text of the corpus needs no other sentence: and so no proof, which takes time.
        proved = self._policy == EXACT or witness.of == "sentence"
        self._asked = list(dict.fromkeys([self._policy, EXACT] if proved else [self._policy]))
        pair = next(self._starts(case), None)
        if pair is None:
            return None
        before = None
        while pair != before and self._left > 0:
            before = pair
            for tried in PASSES:
                pair = self._swept(tried, pair)
            for string in strings(pair):
                pair = self._shorter(pair, string)
        found = self._witness(pair)
        return found and replace(found, grammar=compact_json(pair[0]).decode())

    @property
    def _left(self) -> float:
        return self._deadline - time.monotonic()

    def _starts(self, case: SchemaCase) -> Iterator[Pair]:
        """The schema with the value of a text on which the policy errs, in some format."""
        for text in sorted(case.instances, key=len):
            for self._style in FORMATS:
                if self._left < 0 or len(text) > TRIED:
                    return
                pair = case.schema, json.loads(text)
                if self._errs(pair):
                    yield pair

    def _errs(self, pair: Pair) -> bool:
        try:
            return self._witness(pair) is not None
        except (ValueError, RecursionError):
            return False  # no schema any more, or none that llguidance takes

    def _witness(self, pair: Pair) -> ForcedWitness | None:
        """The witness of the shortest beginning, if the policy errs somewhere in the text."""
        schema, value = pair
        if not isinstance(schema, dict | bool):
            return None
        self._beat()
        grammar = JsonSchemaGrammar(schema, self._whitespace)
        named = self._policies.of_schema(self._asked, schema, self._whitespace)
        walk = Walk(self._policies.tokenizer, grammar, named, NAME, sampled_every=1)
        text = json.dumps(value, ensure_ascii=False, **self._style)
        walk.instance(text.encode("utf-8", "backslashreplace"))
        own = [one for one in walk.finished().witnesses if one.policy == self._policy]
        return min(own, key=lambda one: len(one.context) + len(one.forced), default=None)

    def _swept(self, tried: Callable[[Pair], Iterator[Pair]], pair: Pair) -> Pair:
        """The pair after one pass. What has failed is not tried again before the pass ends."""
        place, found = 0, True
        while found:
            found = False
            for index, candidate in enumerate(tried(pair)):
                if self._left < 0:
                    return pair
                if index >= place and size(candidate) < size(pair) and self._errs(candidate):
                    pair, place, found = candidate, index, True
                    break
        return pair

    def _shorter(self, pair: Pair, string: str) -> Pair:
        """The pair with a string made shorter: it alone, or all that begin like it."""
        if not string or string not in strings(pair) or self._left <= 0:
            return pair  # it may have changed together with another

        def taken(candidate: bytes) -> bool:
            nonlocal pair, string
            try:
                new = candidate.decode("utf-8", "surrogatepass")
            except UnicodeDecodeError:
                return False
            if len(new) >= len(string):
                return False  # simpler letters tell less than the words of which they are left
            for names in ({string: new}, kindred(pair, string, new)):
                changed = renamed(pair[0], names), renamed(pair[1], names)
                if self._errs(changed):
                    pair, string = changed, new
                    return True
            return False

        def failing(candidates: Sequence[bytes]) -> list[bool]:
            """Whether the policy errs, up to the first with which it does: that one is taken."""
            first = next((at for at, one in enumerate(candidates) if taken(one)), None)
            return [at == first for at in range(len(candidates))]

        shrink(string.encode("utf-8", "surrogatepass"), failing, self._left)
        return pair
