"""Counterexamples on a terminal: those that a search found, and those that were asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.blocks import Cell, Items, Table
from reports.blocks.units import plural
from reports.text import literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from harness.studies.forced.counterexamples import Counterexample
    from reports.blocks import Block, Inline

TEXT_SHOWN = 32
"""Characters of a text in the table."""


def found(
    examples: Sequence[Counterexample], tried: Mapping[str, int], remarks: Sequence[str]
) -> list[Block]:
    """What a search has found, by policy, the worst first.

    tried: grammars by policy. remarks: what failed, and what workers left behind.
    """
    rows: list[list[Inline | Cell]] = []
    for policy, count in tried.items():
        own = sorted((one for one in examples if one.policy == policy), key=lambda one: one.worth)
        nothing = Cell(f"no error in {plural(count, 'grammar')}", "ok")
        if not own:
            rows.append([policy, nothing if count else "no grammar was tried", *([""] * 4)])
        for one in reversed(own):
            texts = [
                literal(text, TEXT_SHOWN) for text in (one.context + one.forced, *one.sentences)
            ]
            shown = [text.code + ("…" if text.missing else "") for text in texts[:3]]
            rows.append([policy, one.kind, Cell(str(one.depth), "bad"), *shown])
    every = ", ".join(f"{count:,} against {policy}" for policy, count in tried.items())
    columns = ("Policy", "Kind", "Depth", "Forced", "And then", "Or")
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
    return [Table("Counterexamples", ("Vocabulary", "Kind", "Policy", "Then", "Now"), rows)]
