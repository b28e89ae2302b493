"""Forced tokens: the table by method, and the failures with both segmentations aligned."""

from __future__ import annotations

import base64
from itertools import accumulate
from typing import TYPE_CHECKING

from reports.blocks import (
    Aligned,
    Cell,
    Code,
    Details,
    Group,
    Heading,
    Items,
    Paragraph,
    Section,
    Span,
    Table,
    Token,
    numbers,
)
from reports.blocks.units import plural
from reports.text import literal, surface

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.events import Forced, ForcedCorpus, ForcedWitness
    from reports.blocks import Block, Inline
    from reports.record import RunRecord

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

INTRODUCTION = (
    "Tokens that a grammar forces, healed by each method. Not canonical: other tokens than the "
    "tokenizer has there in the text itself. Unsafe: contradicted by some sentence of the grammar, "
    "be it the text or another. Seam: forced after a text that, by itself, encodes otherwise than "
    "in the whole; no fault of the method."
)


def sections(record: RunRecord) -> list[Section]:
    """What is known of forced tokens, the failures for the page alone; nothing where none were."""
    if not record.forced:
        return []
    table = Table(
        "Table of forced tokens",
        (
            "Method", "Vocabulary",
            *numbers("Tokens", "Share", "Sequences", group="Forced"),
            *numbers("Sequences", "Instances", "Schemas", group="Not canonical"),
            *numbers("Unsafe", "Seam"),
        ),
        [_row(one) for one in record.forced],
        "Canonicality of forced tokens by healing method",
        "dense",
    )  # fmt: skip
    corpora = (block for one in record.forced_corpora for block in _corpus(one))
    errs = Group(list(failures(record.forced_witnesses)), page=True)
    remarks = Items([line for one in record.forced for line in _remarks(one)], "remarks")
    blocks = [Paragraph(INTRODUCTION, "quiet"), table, remarks, *corpora, errs]
    return [Section("Forced tokens", blocks, "forced")]


def _row(one: Forced) -> list[Inline | Cell]:
    wrong = percent(one.non_canonical, one.sequences) if one.non_canonical else ""
    unknown = f"{one.undecided:,} undecided" if one.undecided else ""
    return [
        one.method, one.vocabulary, one.forced_tokens,
        percent(one.forced_tokens, one.tokens), one.sequences,
        _noted(one.non_canonical, wrong), one.non_canonical_instances, one.non_canonical_schemas,
        _noted(one.unsafe, unknown), one.seam,
    ]  # fmt: skip


def _remarks(one: Forced) -> Iterator[Span]:
    """What else is to be known of a method, a line each."""
    for number, style, what in (
        (one.gave_up, "quiet", "gave up"),
        (one.not_admitted, "warn", "its masks lacked the text's token"),
        (one.outside_mask, "bad", "forced a token outside its own mask"),
    ):
        if number:
            yield Span(f"{one.method}: {what} {plural(number, 'time')}", style)


def _noted(number: int, note: str) -> Cell:
    """A number that ought to be 0, with a note below it."""
    return Cell((number, Span(f" {note}", "count") if note else None), "bad" if number else "")


def percent(part: int, whole: int) -> str:
    """A share in per cent; nothing where the whole is not known."""
    return f"{100 * part / whole:.2f} %" if whole else ""


def _corpus(one: ForcedCorpus) -> Iterator[Block]:
    proved = (
        f", and of {plural(one.listed_tokens, 'token')} that these prove it forces all but "
        f"{one.listed_short:,}"
        if one.listed
        else ""
    )
    differing = "".join(
        f" {pair} ought to agree, and differ at {plural(number, 'boundary', 'boundaries')}."
        for pair, number in one.differing.items()
    )
    text = (
        f"{one.corpus}, {one.whitespace} white space, {one.vocabulary}: "
        f"{plural(one.schemas, 'schema')}, {plural(one.instances, 'instance')}, "
        f"{plural(one.tokens, 'token')}; llguidance refuses "
        f"{plural(one.refused_schemas, 'schema')} and "
        f"{plural(one.refused_instances, 'instance')}. Exact was checked by "
        f"{plural(one.sampled, 'sampled continuation')}, and at {plural(one.listed, 'place')} by "
        f"all sentences: {one.misjudged:,} contradict it{proved}.{differing}"
    )
    yield Paragraph(text, "quiet corpus")
    if one.failed:
        broken = Items([f"{name}: {how}" for name, how in one.failed.items()])
        yield Details(f"{plural(len(one.failed), 'schema')} broke off", [broken])


def failures(witnesses: Sequence[ForcedWitness]) -> Iterator[Block]:
    """The first failures of each method; those made small before the others."""
    by_method: dict[tuple[str, str], list[ForcedWitness]] = {}
    for witness in witnesses:
        by_method.setdefault((witness.policy, witness.vocabulary), []).append(witness)
    left = MAX_FAILURES
    for (policy, vocabulary), found in by_method.items():
        taken = sorted(found, key=lambda one: one.minimal is None)[: min(EACH, left)]
        left -= len(taken)
        if not taken:
            return
        number = plural(len(found), "failure")
        more = f", {len(taken)} of {number} shown" if len(found) > len(taken) else ""
        yield Heading((f"{policy} errs ", Span(f"{vocabulary}{more}", "quiet")))
        yield from (_failure(one, first=one is taken[0]) for one in taken)


def _failure(witness: ForcedWitness, *, first: bool) -> Details:
    """A failure, with the smallest like it beside it."""
    small = witness.minimal
    if small is None:
        return Details(witness.schema, _shown(witness))
    pair = [
        Group([Heading("The smallest schema and text found", 4), *_shown(small)]),
        Group([Heading("As found", 4), *_shown(witness)]),
    ]
    return Details(witness.schema, [Group(pair, "beside")], open=first)


def _shown(witness: ForcedWitness) -> list[Block]:
    context, forced, after = (
        base64.b64decode(one) for one in (witness.context, witness.forced, witness.continuation)
    )
    whose = "a text of the corpus" if witness.of == "instance" else "a sentence of the grammar"
    before: Inline = None
    if context:
        cut = "… " if len(context) > CONTEXT_SHOWN else ""
        before = (Span("after ", "quiet"), cut, _literal(context[-CONTEXT_SHOWN:]), " ")
    text = (
        before, Span("forced ", "quiet"), _literal(forced),
        Span(f" followed, in {whose}, by ", "quiet"),
        _literal(after) if after else Span("the end", "quiet"),
    )  # fmt: skip
    grammar = [Code(witness.grammar, style="log")] if witness.grammar else []
    return [*grammar, Paragraph(text), aligned(witness)]


def _literal(data: bytes) -> Inline:
    shown = literal(data, TEXT_SHOWN)
    more = f" and {plural(shown.missing, 'more byte')}" if shown.missing else ""
    return (Span(shown.code, "literal"), Span(more, "quiet"))


Placed = list[tuple[int, bytes, int, int]]
"""Tokens: id, bytes, and where they begin and end."""


def aligned(witness: ForcedWitness) -> Aligned:
    """The tokens of a witness, each over the bytes that it spells."""
    forced = [base64.b64decode(data) for data in witness.surfaces]
    canonical = [base64.b64decode(data) for data in witness.canonical_surfaces]
    start = _start(base64.b64decode(witness.context), b"".join(forced), canonical)
    alike = 0
    if not start:
        pairs = zip(witness.ids, witness.canonical, strict=False)
        alike = next((at for at, (a, b) in enumerate(pairs) if a != b), len(witness.ids))
    skipped = max(0, alike - ALIKE_SHOWN)
    shown = slice(skipped, skipped + CELLS)
    rows = {
        "forced": _placed(witness.ids[shown], forced[shown], start),
        "canonical": _placed(witness.canonical[shown], canonical[shown], 0),
    }
    more = [max(0, len(every) - shown.stop) for every in (forced, canonical)]
    edges = sorted({0, *(edge for row in rows.values() for one in row for edge in one[2:])})
    before = [Token(f"{plural(skipped, 'token')} alike", state="gap")] if skipped else []
    return Aligned(
        [
            (
                name,
                [
                    *before,
                    *_tokens(row, edges, alike - skipped),
                    *([Token(plural(n, "more token"), state="gap")] if n else []),
                ],
            )
            for (name, row), n in zip(rows.items(), more, strict=True)
        ],
        "Forced and canonical tokens, aligned",
    )


def _start(context: bytes, forced: bytes, canonical: Sequence[bytes]) -> int:
    """How many bytes of the canonical tokens stand before the forced ones: 0, but for a seam."""
    whole = b"".join(canonical)
    for start in range(len(canonical[0]) if canonical else 0):
        if whole.startswith(forced, start) and context.endswith(whole[:start]):
            return start
    return 0


def _placed(ids: Sequence[int], surfaces: Sequence[bytes], start: int) -> Placed:
    ends = list(accumulate(map(len, surfaces), initial=start))
    return list(zip(ids, surfaces, ends, ends[1:], strict=False))


def _tokens(row: Placed, edges: Sequence[int], alike: int) -> Iterator[Token]:
    """A row's tokens over the columns between the edges; gaps where it has none."""
    column = {edge: index for index, edge in enumerate(edges)}
    at = 0
    for index, (token, data, first, last) in enumerate(row):
        if column[first] > at:
            yield Token("", state="gap", span=column[first] - at)
        state = "" if index < alike else "first" if index == alike else "other"
        yield Token(surface(data), [str(token)], state, column[last] - column[first])
        at = column[last]
    if at < len(edges) - 1:
        yield Token("", state="gap", span=len(edges) - 1 - at)
