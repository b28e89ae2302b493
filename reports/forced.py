"""What report.html shows of forced tokens: the table by method, and the failures aligned."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.text import Literal, literal, surface

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.events import Forced, ForcedWitness

CONTEXT_SHOWN = 60
"""Bytes before the forced ones: what decides is at their end."""
MAX_FAILURES = 60
"""Failures on the page."""
EACH = 8
"""Failures of one method on the page."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its surface escaped, its id. first: here forced and canonical tokens part."""

    surface: str
    id: int
    first: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """One witness, ready to print. of: whose text it is."""

    policy: str
    schema: str
    vocabulary: str
    context: Literal
    cut: bool
    forced: Literal
    continuation: Literal
    tokens: tuple[Token, ...]
    canonical: tuple[Token, ...]
    of: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table. share: of all tokens, in percent, if those are known; wrong: likewise."""

    event: Forced
    share: str
    wrong: str


def forced_rows(events: Sequence[Forced]) -> list[Row]:
    """The rows of the table."""
    return [
        Row(
            event,
            _percent(event.forced_tokens, event.tokens),
            _percent(event.non_canonical, event.sequences),
        )
        for event in events
    ]


def failures(witnesses: Sequence[ForcedWitness]) -> list[Failure]:
    """The first failures of each method."""
    shown: dict[str, int] = {}
    found: list[Failure] = []
    for witness in witnesses:
        shown[witness.policy] = shown.get(witness.policy, 0) + 1
        if shown[witness.policy] <= EACH and len(found) < MAX_FAILURES:
            found.append(_failure(witness))
    return found


def _failure(witness: ForcedWitness) -> Failure:
    context = base64.b64decode(witness.context)
    return Failure(
        policy=witness.policy,
        schema=witness.schema,
        vocabulary=witness.vocabulary,
        context=literal(context[-CONTEXT_SHOWN:]),
        cut=len(context) > CONTEXT_SHOWN,
        forced=literal(base64.b64decode(witness.forced), 200),
        continuation=literal(base64.b64decode(witness.continuation), 200),
        tokens=_tokens(witness.ids, witness.surfaces, witness.canonical),
        canonical=_tokens(witness.canonical, witness.canonical_surfaces, witness.ids),
        of="a text of the corpus" if witness.of == "instance" else "a sentence of the grammar",
    )


def _tokens(
    ids: Sequence[int], surfaces: Sequence[str], others: Sequence[int]
) -> tuple[Token, ...]:
    pairs = enumerate(zip(ids, others, strict=False))
    first = next((at for at, (a, b) in pairs if a != b), min(len(ids), len(others)))
    return tuple(
        Token(surface(base64.b64decode(data)), token_id, index == first)
        for index, (token_id, data) in enumerate(zip(ids, surfaces, strict=True))
    )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %" if whole else ""
