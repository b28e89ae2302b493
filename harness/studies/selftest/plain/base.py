"""What the plain implementations share: who they are, and which contracts they join."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, ClassVar

from impls.interface import About, Capability, Law, Mode, Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary

LONGEST = 8192
"""Bytes: in plain Python a text of this length takes some hundredths of a second."""


class Plain:
    """An implementation that is its own encoder; ``prepare`` makes its tables."""

    name: ClassVar[str] = "plain"
    modes: ClassVar[tuple[str, ...]] = ("text", "raw", "special")
    """Labels of the modes in which it takes part."""
    capabilities: ClassVar[frozenset[Capability]] = frozenset()
    max_input: ClassVar[int | None] = LONGEST
    linear: ClassVar[bool] = False
    law: ClassVar[Law] = Law.EXACT

    vocabulary: Vocabulary

    @property
    def about(self) -> About:
        """Who it is; its version is tokgate's."""
        return About(
            name=self.name,
            version=metadata.version("tokgate"),
            capabilities=self.capabilities,
            max_input=self.max_input,
            linear=self.linear,
            law=self.law,
        )

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """Whether the mode is one of its own, and ``runs`` has nothing against it."""
        if mode.label not in self.modes:
            return f"not in mode {mode.label}"
        return self.runs(vocabulary)

    def runs(self, vocabulary: Vocabulary) -> str | None:
        """None, or why the vocabulary is none for it."""
        raise NotImplementedError

    def load(self, vocabulary: Vocabulary) -> Plain:
        """Make the tables."""
        self.vocabulary = vocabulary
        self.prepare()
        return self

    def prepare(self) -> None:
        """The tables of ``self.vocabulary``."""

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        """The ids."""
        raise NotImplementedError


def text_of(data: bytes) -> str:
    """The text. Raises Unsupported for what is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Unsupported("takes text only, and this is not UTF-8") from None


def characters(data: bytes) -> list[str]:
    """The characters of bytes, U+FFFD for each byte that begins none."""
    try:
        return list(data.decode())
    except UnicodeDecodeError:
        pass
    found = []
    place = 0
    while place < len(data):
        for size in range(1, 5):
            try:
                found.append(data[place : place + size].decode())
            except UnicodeDecodeError:
                continue
            break
        else:
            found.append("\ufffd")
            size = 1
        place += size
    return found
