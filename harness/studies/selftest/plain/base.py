"""What the plain implementations share: who they are, and which contracts they join."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, Any, ClassVar, Self

from impls import registry
from impls.interface import About, Capability, Law, Mode, Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary

LONGEST = 8192
"""Bytes: in plain Python a text of this length takes some hundredths of a second."""


class Plain:
    """An implementation that makes encoders of its own class; ``prepare`` makes their tables."""

    name: ClassVar[str] = "plain"
    right: ClassVar[type[Plain] | None] = None
    """The class that rides beside mutants of this one as right, where it is another one."""
    modes: ClassVar[tuple[str, ...]] = ("text", "raw", "special")
    """Labels of the modes in which it takes part."""
    capabilities: ClassVar[frozenset[Capability]] = frozenset()
    max_input: ClassVar[int | None] = LONGEST
    linear: ClassVar[bool] = False
    law: ClassVar[Law] = Law.EXACT

    vocabulary: Vocabulary

    def __init__(self) -> None:
        """Nothing is there before ``load``."""

    @property
    def about(self) -> About:
        """Who it is; its version is tokgate's."""
        return About(
            self.name,
            metadata.version("tokgate"),
            capabilities=self.capabilities,
            max_input=self.max_input,
            linear=self.linear,
            law=self.law,
        )

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """Whether the mode is one of its own, and ``runs`` has nothing against it."""
        return self.runs(vocabulary) if mode.label in self.modes else f"not in mode {mode.label}"

    def runs(self, vocabulary: Vocabulary) -> str | None:
        """None, or why the vocabulary is none for it."""
        return None

    def load(self, vocabulary: Vocabulary) -> Self:
        """An encoder."""
        encoder = type(self)()
        encoder.vocabulary = encoder.read(vocabulary)
        encoder.prepare()
        return encoder

    def read(self, vocabulary: Vocabulary) -> Vocabulary:
        """What it takes the vocabulary to be."""
        return vocabulary

    def prepare(self) -> None:
        """Make the tables of ``self.vocabulary``."""

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        """The ids."""
        raise NotImplementedError


class Compiled(Plain):
    """One that leaves the ids to one of our compiled encoders; ``engine`` is its name."""

    engine: ClassVar[str]
    modes = ("raw",)

    def runs(self, vocabulary: Vocabulary) -> str | None:
        """What the encoder runs."""
        return registry.resolve(self.engine).supports(vocabulary, Mode("text" in self.modes))

    def prepare(self) -> None:
        """Compile, or find what was compiled."""
        self.compiled = registry.resolve(self.engine).load(self.vocabulary)

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids."""
        return list(self.compiled.encode(data, mode))


def text_of(data: bytes) -> str:
    """The text. Raises Unsupported for what is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Unsupported("takes text only, and this is not UTF-8") from None


def longest_first(text: Any, known: Any, longest: int) -> list[Any]:
    """From the left the longest part that is known, again and again; else a single one."""
    parts = []
    while text:
        ends = range(min(len(text), longest), 1, -1)
        end = next((end for end in ends if text[:end] in known), 1)
        parts.append(text[:end])
        text = text[end:]
    return parts
