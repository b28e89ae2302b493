"""What report.html shows of forced tokens: the table by method, and the failures aligned."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from corpora.plain_text import printable
from reports.text import Literal, literal, surface

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.events import Forced, ForcedWitness

CONTEXT_SHOWN = 60
"""Bytes before the forced ones: what decides is at their end."""
TEXT_SHOWN = 200
"""Bytes of what is forced, and of what follows."""
MAX_FAILURES = 60
"""Failures on the page."""
EACH = 8
"""Failures of one method on the page."""
ALIKE_SHOWN = 3
"""Tokens before the first difference that are shown: the rest are only counted."""
CELLS = 24
"""Tokens of a row that are shown: what follows a difference soon tells nothing more."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A token over the columns of an alignment. state: ``same``, ``other``, ``first`` difference.

    An empty surface is a gap: bytes that the row has no token for.
    """

    surface: str
    id: int
    span: int
    state: str


@dataclass(frozen=True, slots=True)
class Alignment:
    """Forced and canonical tokens above each other, by the bytes that they spell.

    alike: tokens before those shown, the same in both rows; more: those after them, by row.
    """

    columns: int
    alike: int
    forced: tuple[Cell, ...]
    canonical: tuple[Cell, ...]
    more: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Shown:
    """A text on which a method errs. of: whose it is; grammar: its schema, as JSON.

    context, continuation: None where there is none.
    """

    context: Literal | None
    cut: bool
    forced: Literal
    continuation: Literal | None
    of: str
    grammar: str
    aligned: Alignment


@dataclass(frozen=True, slots=True)
class Failure:
    """One witness, ready to print, and the smallest like it."""

    policy: str
    schema: str
    vocabulary: str
    shown: Shown
    smallest: Shown | None


@dataclass(frozen=True, slots=True)
class Group:
    """The failures of one method on one vocabulary. recorded: how many the record has."""

    policy: str
    vocabulary: str
    recorded: int
    failures: tuple[Failure, ...]


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


def failures(witnesses: Sequence[ForcedWitness]) -> list[Group]:
    """The first failures of each method; those made small before the others."""
    by_method: dict[tuple[str, str], list[ForcedWitness]] = {}
    for witness in witnesses:
        by_method.setdefault((witness.policy, witness.vocabulary), []).append(witness)
    groups = []
    left = MAX_FAILURES
    for (policy, vocabulary), of_method in by_method.items():
        ordered = sorted(of_method, key=lambda one: one.minimal is None)
        taken = tuple(_failure(one) for one in ordered[: min(EACH, left)])
        left -= len(taken)
        if taken:
            groups.append(Group(policy, vocabulary, len(of_method), taken))
    return groups


def _failure(witness: ForcedWitness) -> Failure:
    smallest = witness.minimal
    return Failure(
        policy=witness.policy,
        schema=witness.schema,
        vocabulary=witness.vocabulary,
        shown=_shown(witness),
        smallest=None if smallest is None else _shown(smallest),
    )


def _shown(witness: ForcedWitness) -> Shown:
    context, continuation = map(base64.b64decode, (witness.context, witness.continuation))
    return Shown(
        context=literal(context[-CONTEXT_SHOWN:]) if context else None,
        cut=len(context) > CONTEXT_SHOWN,
        forced=literal(base64.b64decode(witness.forced), TEXT_SHOWN),
        continuation=literal(continuation, TEXT_SHOWN) if continuation else None,
        of="a text of the corpus" if witness.of == "instance" else "a sentence of the grammar",
        grammar=printable(witness.grammar),
        aligned=aligned(witness),
    )


def aligned(witness: ForcedWitness) -> Alignment:
    """The tokens of a witness, each over the bytes that it spells."""
    forced = [base64.b64decode(data) for data in witness.surfaces]
    canonical = [base64.b64decode(data) for data in witness.canonical_surfaces]
    start = _start(base64.b64decode(witness.context), b"".join(forced), canonical)
    alike = 0
    if not start:
        pairs = zip(witness.ids, witness.canonical, strict=False)
        alike = next((at for at, (a, b) in enumerate(pairs) if a != b), len(witness.ids))
    left_out = max(0, alike - ALIKE_SHOWN)
    stop = left_out + CELLS
    rows = (
        _placed(witness.ids[left_out:stop], forced[left_out:stop], start),
        _placed(witness.canonical[left_out:stop], canonical[left_out:stop], 0),
    )
    bounds = sorted(
        {0, *(edge for row in rows for *_, first, last in row for edge in (first, last))}
    )
    column = {edge: index for index, edge in enumerate(bounds)}
    columns = len(bounds) - 1
    return Alignment(
        columns,
        left_out,
        _cells(rows[0], column, columns, alike - left_out),
        _cells(rows[1], column, columns, alike - left_out),
        (max(0, len(forced) - stop), max(0, len(canonical) - stop)),
    )


_Placed = list[tuple[int, bytes, int, int]]
"""Tokens: id, bytes, and where they begin and end."""


def _start(context: bytes, forced: bytes, canonical: Sequence[bytes]) -> int:
    """How many bytes of the canonical tokens stand before the forced ones: 0, but for a seam."""
    whole = b"".join(canonical)
    for start in range(len(canonical[0]) if canonical else 0):
        if whole.startswith(forced, start) and context.endswith(whole[:start]):
            return start
    return 0


def _placed(ids: Sequence[int], surfaces: Sequence[bytes], start: int) -> _Placed:
    ends = list(accumulate(map(len, surfaces), initial=start))
    return list(zip(ids, surfaces, ends, ends[1:], strict=False))


def _cells(row: _Placed, column: dict[int, int], columns: int, alike: int) -> tuple[Cell, ...]:
    cells = []
    at = 0
    for index, (token_id, data, first, last) in enumerate(row):
        if column[first] > at:
            cells.append(Cell("", -1, column[first] - at, "gap"))
        state = "same" if index < alike else "first" if index == alike else "other"
        span = column[last] - column[first]
        cells.append(Cell(surface(data), token_id, span, state))
        at = column[last]
    if at < columns:
        cells.append(Cell("", -1, columns - at, "gap"))
    return tuple(cells)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %" if whole else ""
