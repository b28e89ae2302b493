"""Whether forced tokens are safely canonical, and the sentence that shows that they are not."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from corpora.grammars.base import alike
from harness.events import ForcedWitness
from impls.forced.states import completion

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from impls.forced.interface import Context, Future, GrammarState, Healed
    from impls.forced.tokenizer import AnyTokenizer

LISTED = 64
"""So many sentences are few enough to be listed in milliseconds, and all encoded."""

TRIED = 64
"""Places at which a continuation is tried to be cut."""

STRAY = 12
"""Steps that a sampled continuation takes at random, before the shortest way to an end."""

END_HERE = 0.3
"""A sampled continuation ends with this probability wherever it may end."""


@dataclass
class Point:
    """A boundary at which bytes are forced.

    after: the grammar after them. exact: what the policy of that name forces, once it was asked.
    In what follows ``ids`` are tokens forced here, and ways are continuations to the end of a
    sentence.
    """

    tokenizer: AnyTokenizer
    context: Context
    forced: bytes
    after: GrammarState
    exact: Healed | None = None

    @cached_property
    def sentences(self) -> Sequence[bytes] | None:
        """All that may follow the forced bytes, if these are few."""
        return self.after.sentences(LISTED)

    @cached_property
    def seam(self) -> bool:
        """Whether the text before, by itself, encodes otherwise than in the whole."""
        return not self.tokenizer.stands_alone(self.context)

    def refuted(self, ids: Sequence[int], ways: Sequence[bytes]) -> bytes | None:
        """The first of these ways after which ``ids`` are not canonical; None: all keep them."""
        own, text = (*self.context.ids, *ids), self.context.text + self.forced
        encoded = self.tokenizer.encode_many(text + way for way in ways)
        kept = zip(ways, encoded, strict=True)
        return next((way for way, found in kept if found[: len(own)] != own), None)

    def oracle(self, ways: Sequence[bytes]) -> tuple[int, ...]:
        """The longest safely canonical tokens by the definition: what all sentences begin with.

        ways: all continuations. Nothing where one changes the context's own tokens.
        """
        texts = [self.context.text + self.forced + way for way in ways]
        encoded = self.tokenizer.encode_many(texts)
        # What the first and the last in order share, all between them share.
        first, last = min(encoded), max(encoded)
        start, same = len(self.context.ids), alike(first, last)
        if first[: min(start, same)] != self.context.ids:
            return ()
        found: list[int] = []
        left = len(self.forced)
        for one, step in self.tokenizer.steps(texts[encoded.index(first)])[start:same]:
            left -= len(step)
            # The unknown token spells nothing that is forced.
            if left < 0 or one == self.tokenizer.vocabulary.unk_id:
                break
            found.append(one)
        return tuple(found)

    def contradiction(self, ids: Sequence[int], futures: Sequence[Future]) -> bytes | None:
        """A way that contradicts ``ids``, out of the futures of a proof, each completed."""
        for future in futures:
            way = future.continuation
            if future.kept >= len(ids) or not self.after.viable(way):
                continue
            rest = completion(self.after.after(way) if way else self.after)
            if rest is not None and self.refuted(ids, [way + rest]) is not None:
                return way + rest
        return None

    def sampled(self, rng: random.Random) -> bytes | None:
        """Some way; None where no end is easily found."""
        found, after = b"", self.after
        for _ in range(STRAY):
            if after.complete and rng.random() < END_HERE:
                return found
            following = after.next_bytes()
            if not following:
                break
            step = bytes((rng.choice(following),))
            after = after.after(step)
            sure = after.forced()
            found += step + sure
            after = after.after(sure) if sure else after
        rest = completion(after)
        return None if rest is None else found + rest

    def minimised(self, ids: Sequence[int], way: bytes) -> bytes:
        """The shortest beginning of ``way`` from which on every one contradicts ``ids``."""
        best = way
        for end in range(min(len(way), TRIED), -1, -1):
            if self.refuted(ids, [way[:end]]) is None:
                break
            best = way[:end]
        return best

    def witness(
        self, policy: str, schema: str, ids: Sequence[int], way: bytes, of: str
    ) -> ForcedWitness:
        """The record of a failure, its continuation cut after what shows it."""
        way, tokenizer, context = self.minimised(ids, way), self.tokenizer, self.context.text
        spelled = list(map(tokenizer.spelling, ids))
        start, stop = len(context), len(context) + sum(map(len, spelled))
        canonical, size, before = [], 0, 0
        for token_id, step in tokenizer.steps(context + self.forced + way):
            end = size + len(step)
            # Whatever touches the forced tokens' bytes, a token from before their start included.
            if end > start and size < stop:
                canonical.append(token_id)
                before = max(before, start - size)
            size = end
        context_, forced, continuation = map(_text, (context, self.forced, way))
        return ForcedWitness(
            tokenizer.vocabulary.id, policy, schema, context_, forced, continuation,
            list(ids), list(map(_text, spelled)),
            canonical, [_text(tokenizer.spelling(one)) for one in canonical], of,
            before=before,
        )  # fmt: skip


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
