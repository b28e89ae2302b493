"""Mistakes in the healing of forced tokens: made with the tokenizer, they are policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.studies.selftest.catalog import Mutant
from impls.forced.heuristics import HealedBack, first_tokens, ids_of
from impls.forced.interface import Healed

if TYPE_CHECKING:
    from collections.abc import Sequence

on = Mutant(
    "canonicality", "tekken_240911", HealedBack, "text",
    at="range(max(0, len(forced) - window), len(forced))",
)  # fmt: skip


def one_more(steps: Sequence[tuple[int, bytes]], most: int, forced: bytes) -> Healed:
    """The first tokens that have at most so many bytes, and another one."""
    kept = steps[: len(first_tokens(steps, most, forced).ids) + 1]
    return Healed(ids_of(kept), forced[sum(len(step) for _, step in kept) :])


MUTANTS = (
    on("heals-nothing", "All tokens of the forced bytes are forced.", (), "()"),
    on(
        "last-byte-only", "Only a token that begins with the last forced byte is thought of.",
        (), "range(max(0, len(forced) - 1), len(forced))",
    ),
    on(
        "one-token-more", "One token too many is kept: off by one.",
        (), "first_tokens(steps, place, forced)", "one_more(steps, place, forced)",
    ),
    on(
        "no-context", "The forced bytes are encoded by themselves, whatever stands before them.",
        (), "steps_after(context, forced)", "steps(forced)",
    ),
    on(
        "overlooks-one-byte", "A token that goes on by a single byte is overlooked.",
        (), "next(self.tokenizer.extensions(forced[place:], viable), None) is not None",
        "any(len(more) > 1 for _, more in self.tokenizer.extensions(forced[place:], viable))",
    ),
    on(
        "starts-late", "The window begins at its second token: off by one.",
        (),
        "range(max(0, len(forced) - sum(len(step) for _, step in steps[-1:])) + 1, len(forced))",
    ),
)  # fmt: skip
