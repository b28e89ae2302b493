"""The generators by name, in the order in which a campaign meets them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.generators import (
    boundaries,
    codepoints,
    edge,
    json_text,
    mutations,
    prose,
    raw,
    repeats,
    runs,
    scripts,
    source,
    special,
    tokens,
    whitespace,
)

if TYPE_CHECKING:
    from corpora.generators.base import Generator


def generators() -> dict[str, Generator]:
    """All generators by name, in a stable order: the cheap and most revealing first.

    ``edge``, ``tokens``, ``codepoints`` and ``runs`` end; the others go on for ever, unless the
    vocabulary's byte alphabet cannot spell what they make.
    """
    every: tuple[Generator, ...] = (
        edge.GENERATOR,
        *tokens.GENERATORS,
        repeats.GENERATOR,
        codepoints.GENERATOR,
        whitespace.GENERATOR,
        boundaries.GENERATOR,
        special.GENERATOR,
        scripts.GENERATOR,
        raw.GENERATOR,
        mutations.GENERATOR,
        prose.GENERATOR,
        source.GENERATOR,
        json_text.GENERATOR,
        runs.GENERATOR,
    )
    return {generator.name: generator for generator in every}
