"""Counterexamples on a terminal: those that a search found, and those that were asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from rich.table import Table
from rich.text import Text

from reports.text import literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import RenderableType

TEXT_SHOWN = 32
"""Characters of a text in the table."""

BROKEN_SHOWN = 8
"""Rounds that failed of which a line tells."""


class Counterexample(Protocol):
    """What is asked of :class:`harness.studies.forced.counterexamples.Counterexample`."""

    @property
    def vocabulary(self) -> str:
        """On which it was found."""

    @property
    def policy(self) -> str:
        """The policy that errs."""

    @property
    def kind(self) -> str:
        """The way in which it was found."""

    @property
    def context(self) -> bytes:
        """The text before what is forced."""

    @property
    def forced(self) -> bytes:
        """The text that is forced."""

    @property
    def sentences(self) -> Sequence[bytes]:
        """What may follow."""

    @property
    def depth(self) -> int:
        """How many tokens are wrong."""

    @property
    def worth(self) -> tuple[int, int]:
        """The greatest is shown first."""


class Bag(Protocol):
    """What is asked of :class:`harness.studies.forced.hunt.Bag`."""

    @property
    def tried(self) -> Mapping[str, int]:
        """Grammars by policy."""

    @property
    def broke(self) -> Mapping[str, str]:
        """Rounds that failed, and how."""

    @property
    def left(self) -> Sequence[str]:
        """What workers left behind."""


def render(
    found: Sequence[Counterexample], policies: Sequence[str], bag: Bag
) -> Iterator[RenderableType]:
    """What a search prints: the counterexamples by policy, and how much was tried."""
    made = table("policy", "kind", "depth", "forced", "and then", "or")
    for policy in policies:
        own = sorted((one for one in found if one.policy == policy), key=lambda one: one.worth)
        if not own:
            count = bag.tried.get(policy, 0)
            nowhere = Text(f"no error in {count:,} grammars", style="green")
            made.add_row(policy, nowhere if count else "no grammar was tried")
        for one in reversed(own):
            texts = (one.context + one.forced, *one.sentences[:2])
            made.add_row(policy, one.kind, Text(str(one.depth), "red"), *map(shortened, texts))
    yield made
    tried = ", ".join(f"{bag.tried.get(policy, 0):,} against {policy}" for policy in policies)
    yield Text(f"grammars tried, including earlier runs: {tried}", "dim")
    for where, how in list(bag.broke.items())[:BROKEN_SHOWN]:
        yield Text(f"failed: {where}: {how}", "dim")
    for line in bag.left:
        yield Text(f"a worker {line}", "dim")


def replayed(
    asked: Iterable[tuple[Counterexample, Mapping[str, int | None]]],
) -> Iterator[RenderableType]:
    """What asking again prints. asked: each with how deep policies err on it now."""
    made = table("vocabulary", "kind", "policy", "then", "now")
    for one, depths in asked:
        for name, depth in depths.items():
            then = str(one.depth) if name == one.policy else ""
            now = f"{depth} wrong tokens" if depth else "no error"
            style = "red" if depth else "green"
            made.add_row(one.vocabulary, one.kind, name, then, Text(now, style))
    yield made


def table(*headings: str) -> Table:
    """A table without lines."""
    made = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for heading in headings:
        made.add_column(heading, no_wrap=True)
    return made


def shortened(data: bytes) -> str:
    """A text as Python would write it, its end left out where it is long."""
    shown = literal(data, limit=TEXT_SHOWN)
    return shown.code + ("…" if shown.missing else "")
