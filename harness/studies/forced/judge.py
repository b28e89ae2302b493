"""Whether forced tokens are safely canonical, and the sentence that shows that they are not."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from harness.events import ForcedWitness
from impls.forced.states import completion

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Sequence

    from impls.forced.context import Context, GrammarState
    from impls.forced.interface import Future
    from impls.forced.tokenizer import AnyTokenizer

TRIED = 64
"""Places at which a continuation is tried to be cut."""

STRAY = 12
"""Steps that a sampled continuation takes at random, before the shortest way to an end."""

END_HERE = 0.3
"""A sampled continuation ends with this probability wherever it may end."""


def keeps(tokenizer: AnyTokenizer, text: bytes, ids: Sequence[int]) -> bool:
    """Whether the encoding of ``text`` begins with ``ids``."""
    return tokenizer.encode(text)[: len(ids)] == tuple(ids)


def refuted(
    tokenizer: AnyTokenizer,
    context: Context,
    forced: bytes,
    ids: Sequence[int],
    ways: Sequence[bytes],
) -> bytes | None:
    """The first of these sentences after which ``ids`` are not canonical; None: all keep them."""
    own = (*context.ids, *ids)
    encoded = tokenizer.encode_many([context.text + forced + way for way in ways])
    return next(
        (way for way, found in zip(ways, encoded, strict=True) if found[: len(own)] != own), None
    )


def oracle(
    tokenizer: AnyTokenizer, context: Context, forced: bytes, ways: Sequence[bytes]
) -> tuple[int, ...]:
    """The longest safely canonical tokens by the definition: what all sentences begin with.

    ways: all continuations. Nothing where one changes the context's own tokens.
    """
    texts = [context.text + forced + way for way in ways]
    encoded = tokenizer.encode_many(texts)
    # What the first and the last in order share, all between them share.
    first, last = min(encoded), max(encoded)
    start = len(context.ids)
    if first[:start] != context.ids or last[:start] != context.ids:
        return ()
    found: list[int] = []
    left = len(forced)
    steps = tokenizer.steps(texts[encoded.index(first)])
    for (one, step), other in zip(steps[start:], last[start:], strict=False):
        left -= len(step)
        # The unknown token spells nothing that is forced.
        if one != other or left < 0 or one == tokenizer.vocabulary.unk_id:
            break
        found.append(one)
    return tuple(found)


def contradiction(
    tokenizer: AnyTokenizer,
    context: Context,
    forced: bytes,
    ids: tuple[int, ...],
    futures: Iterable[Future],
    after: GrammarState,
) -> bytes | None:
    """A continuation, to the end of a sentence, after which ``ids`` are not canonical.

    Out of the futures of a proof, each completed. after: the grammar after the forced bytes.
    """
    own = (*context.ids, *ids)
    for future in futures:
        way = future.continuation
        if future.kept >= len(ids) or not after.viable(way):
            continue
        rest = completion(after.after(way) if way else after)
        if rest is not None and not keeps(tokenizer, context.text + forced + way + rest, own):
            return way + rest
    return None


def sampled(after: GrammarState, rng: random.Random) -> bytes | None:
    """Some continuation to the end of a sentence; None where no end is easily found."""
    found = b""
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


def minimised(
    tokenizer: AnyTokenizer, context: Context, forced: bytes, ids: tuple[int, ...], way: bytes
) -> bytes:
    """The shortest beginning of ``way`` from which on every one contradicts ``ids``."""
    text, own = context.text + forced, (*context.ids, *ids)
    ends = range(min(len(way), TRIED), -1, -1)
    best = way
    for end in ends:
        if keeps(tokenizer, text + way[:end], own):
            break
        best = way[:end]
    return best


def witness(
    tokenizer: AnyTokenizer,
    policy: str,
    schema: str,
    context: Context,
    forced: bytes,
    ids: tuple[int, ...],
    way: bytes,
    of: str,
) -> ForcedWitness:
    """The record of a failure, its continuation cut after what shows it."""
    way = minimised(tokenizer, context, forced, ids, way)
    start = len(context.text)
    stop = start + sum(len(tokenizer.spelling(token_id)) for token_id in ids)
    canonical, size = [], 0
    for token_id, step in tokenizer.steps(context.text + forced + way):
        end = size + len(step)
        # Whatever touches the forced tokens' bytes, a token from before their start included.
        if end > start and size < stop:
            canonical.append(token_id)
        size = end
    return ForcedWitness(
        vocabulary=tokenizer.vocabulary.id,
        policy=policy,
        schema=schema,
        context=_text(context.text),
        forced=_text(forced),
        continuation=_text(way),
        ids=list(ids),
        surfaces=[_text(tokenizer.spelling(token_id)) for token_id in ids],
        canonical=canonical,
        canonical_surfaces=[_text(tokenizer.spelling(token_id)) for token_id in canonical],
        of=of,
    )


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
