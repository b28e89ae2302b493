"""Forced tokens: the table by method, failures with both segmentations aligned, counterexamples."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.events import Forced, ForcedCorpus, ForcedWitness
from harness.studies.forced.counterexamples import Counterexample
from reports.blocks import (
    Aligned,
    Block,
    Cell,
    Cells,
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
)
from reports.blocks.units import plural
from reports.record import RunRecord
from reports.studies import bad, grouped
from reports.text import literal, surface, visible

CONTEXT_SHOWN = 60
"""Bytes before the forced ones: what decides is at their end."""
TEXT_SHOWN = 200
"""Bytes of what is forced, and of what follows."""
SENTENCE_SHOWN = 32
"""Characters of a text of a counterexample."""
EACH = 8
"""Failures of one method on the page."""
ALIKE_SHOWN = 3
"""Tokens before the first difference that are shown: the rest are only counted."""
CELLS = 24
"""Tokens of a row that are shown: what follows a difference soon tells nothing more."""

INTRODUCTION = (
    "Tokens that a grammar forces, healed by each method. Not canonical: other tokens than those "
    "of the tokenizer at this place of the text. Unsafe: wrong for some sentence of the grammar. "
    "Seam: forced after a beginning that has other tokens by itself than in the whole text; this "
    "is no fault of the method."
)


def sections(record: RunRecord) -> list[Section]:
    """What is known of forced tokens, the failures for the page alone; nothing where none were."""
    table = Table(
        "Table of forced tokens",
        "Method | Vocabulary | Forced / Tokens: | Forced / Share: | Forced / Sequences: | "
        "Not canonical / Sequences: | Not canonical / Instances: | Not canonical / Schemas: | "
        "Unsafe: | Seam:",
        list(map(_row, record.forced)),
        "Canonicality of forced tokens by healing method",
        "dense",
    )
    remarks = [
        Span(f"{one.method}: {what} {plural(number, 'time')}", style)
        for one in record.forced
        for number, style, what in (
            (one.gave_up, "quiet", "gave up"),
            (one.not_admitted, "warn", "its masks lacked the text's token"),
            (one.outside_mask, "bad", "forced a token outside its own mask"),
        )
        if number
    ]
    blocks = [
        Paragraph(INTRODUCTION, "quiet"),
        table,
        Items(remarks, "remarks"),
        *(block for one in record.of(ForcedCorpus) for block in _corpus(one)),
        Group(list(failures(record.of(ForcedWitness))), page=True),
    ]
    return [Section("Forced tokens", blocks, "forced")] if record.forced else []


def _row(one: Forced) -> Cells:
    wrong, undecided = one.non_canonical, one.undecided
    share = f"{100 * wrong / one.sequences:.2f} %" if wrong else ""
    return [
        one.method, one.vocabulary, one.forced_tokens,
        f"{100 * one.forced_tokens / one.tokens:.2f} %" if one.tokens else "", one.sequences,
        bad(wrong, share), one.non_canonical_instances, one.non_canonical_schemas,
        bad(one.unsafe, f"{undecided:,} undecided" * bool(undecided)), one.seam,
    ]  # fmt: skip


def _corpus(one: ForcedCorpus) -> Iterator[Block]:
    proved = (
        f", and of {plural(one.listed_tokens, 'token')} that these prove it forces all but "
        f"{one.listed_short:,}"
    )
    differing = "".join(
        f" {pair} should agree, but differ at {plural(number, 'boundary')}."
        for pair, number in one.differing.items()
    )
    text = (
        f"{one.corpus}, {one.whitespace} white space, {one.vocabulary}: "
        f"{plural(one.schemas, 'schema')}, {plural(one.instances, 'instance')}, "
        f"{plural(one.tokens, 'token')}; llguidance refuses "
        f"{plural(one.refused_schemas, 'schema')} and "
        f"{plural(one.refused_instances, 'instance')}. Exact was checked by "
        f"{plural(one.sampled, 'sampled continuation')}, and at {plural(one.listed, 'place')} by "
        f"all sentences: {one.misjudged:,} contradict it{proved if one.listed else ''}.{differing}"
    )
    yield Paragraph(text, "quiet corpus")
    if one.failed:
        broken = Items([f"{name}: {how}" for name, how in one.failed.items()])
        yield Details(f"{plural(len(one.failed), 'schema')} broke off", [broken])


def failures(witnesses: Sequence[ForcedWitness]) -> Iterator[Block]:
    """The first failures of each method; those made small before the others."""
    methods = grouped(witnesses, lambda one: (one.policy, one.vocabulary))
    for (policy, vocabulary), found in methods.items():
        number = plural(len(found), "failure")
        yield Heading((f"{policy} errs ", Span(f"{vocabulary}, {number}", "quiet")))
        found.sort(key=lambda one: one.minimal is None)
        for one in found[:EACH]:
            blocks = _shown(one)
            if one.minimal:
                small = [Heading("The smallest schema and text found", 4), *_shown(one.minimal)]
                pair = [Group(small), Group([Heading("As found", 4), *blocks])]
                blocks = [Group(pair, "beside")]
            yield Details(one.schema, blocks, open=bool(one.minimal) and one is found[0])


def _shown(witness: ForcedWitness) -> list[Block]:
    context, forced, after = map(
        base64.b64decode, (witness.context, witness.forced, witness.continuation)
    )
    whose = "a text of the corpus" if witness.of == "instance" else "a sentence of the grammar"
    text = (
        Span("after ", "quiet"), visible(context[-CONTEXT_SHOWN:], TEXT_SHOWN),
        Span(" forced ", "quiet"), visible(forced, TEXT_SHOWN),
        Span(f" followed, in {whose}, by ", "quiet"),
        visible(after, TEXT_SHOWN) if after else Span("the end", "quiet"),
    )  # fmt: skip
    grammar = [Code(witness.grammar, style="log")] * bool(witness.grammar)
    return [*grammar, Paragraph(text), aligned(witness)]


def aligned(witness: ForcedWitness) -> Aligned:
    """The tokens of a witness, each over the bytes that it spells."""
    pairs = zip(witness.ids, witness.canonical, strict=False)
    parted = (at for at, (a, b) in enumerate(pairs) if a != b or witness.before)
    alike = next(parted, len(witness.ids))
    skipped = max(0, alike - ALIKE_SHOWN)
    rows = []
    for name, ids, surfaces, before in (
        ("forced", witness.ids, witness.surfaces, witness.before),
        ("canonical", witness.canonical, witness.canonical_surfaces, 0),
    ):
        row = [Token(f"{plural(skipped, 'token')} alike", state="gap")] * bool(skipped)
        row += [Token("", state="gap", span=before)] * bool(before)
        spelled = zip(ids, map(base64.b64decode, surfaces), strict=True)
        tokens = [
            Token(
                surface(one),
                [str(token)],
                "" if at < alike else "first" if at == alike else "other",
                len(one),
            )
            for at, (token, one) in enumerate(spelled)
        ][skipped:]
        more = len(tokens) - CELLS
        last = [Token(plural(more, "more token"), state="gap")] * (more > 0)
        rows.append((name, [*row, *tokens[:CELLS], *last]))
    return Aligned(rows, "Forced and canonical tokens, aligned")


def found(
    examples: Sequence[Counterexample], tried: Mapping[str, int], remarks: Sequence[str]
) -> list[Block]:
    """What a search has found, by policy, the worst first.

    tried: grammars by policy. remarks: what failed, and what workers left behind.
    """
    rows: list[Cells] = []
    for policy, count in tried.items():
        own = [one for one in examples if one.policy == policy]
        for one in sorted(own, key=lambda one: one.worth, reverse=True):
            texts = [one.context + one.forced, *one.sentences, b"", b""]
            shown = [str(literal(text, SENTENCE_SHOWN)) for text in texts[:3]]
            rows.append([policy, one.kind, Cell(str(one.depth), "bad"), *shown])
        none = Cell(f"no error in {plural(count, 'grammar')}", "ok")
        rows += [[policy, none, *[""] * 4]] * (not own)
    every = ", ".join(f"{count:,} against {policy}" for policy, count in tried.items())
    columns = "Policy | Kind | Depth | Forced | And then | Or"
    line = f"grammars tried, including earlier runs: {every}"
    return [Table("Counterexamples", columns, rows), Items([line, *remarks], "quiet")]


def replayed(asked: Iterable[tuple[Counterexample, Mapping[str, int | None]]]) -> list[Block]:
    """What asking again has shown. asked: each with how deep policies err on it now."""
    rows = [
        (
            one.vocabulary, one.kind, name, str(one.depth) if name == one.policy else "",
            Cell(f"{depth} wrong tokens", "bad") if depth else Cell("no error", "ok"),
        )
        for one, depths in asked
        for name, depth in depths.items()
    ]  # fmt: skip
    return [Table("Counterexamples", "Vocabulary | Kind | Policy | Then | Now", rows)]
