"""What a family is: a hostile input as a function of its size."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.vocabularies.model import Vocabulary

SAMPLE_BYTES = 256
"""Length of the samples by which :meth:`Family.suits` judges: room for what a family is made of."""


@dataclass(frozen=True, slots=True)
class Shape:
    """``prefix + pump x k + suffix``: what an input of any size is cut from."""

    prefix: bytes
    pump: bytes
    suffix: bytes = b""

    def cut(self, size: int, *, text: bool = True) -> bytes:
        """The input of ``size`` bytes: as many pumps as fit between prefix and suffix.

        With ``text`` no character is cut in two, so that up to three bytes may be missing.
        """
        room = max(0, size - len(self.prefix) - len(self.suffix))
        pumps = self.pump * (room // len(self.pump) + 1)
        middle = pumps[:room]
        if text:
            middle = whole_characters(middle, pumps[room : room + 1])
        data = self.prefix + middle + self.suffix
        if len(data) <= size:
            return data
        # Too small for its ends: they are cut as well.
        return whole_characters(data[:size], data[size : size + 1]) if text else data[:size]


def whole_characters(data: bytes, following: bytes) -> bytes:
    """``data`` without the beginning of a character that ``following`` would continue."""
    if not following or following[0] & 0xC0 != 0x80:
        return data
    end = len(data)
    while end and data[end - 1] & 0xC0 == 0x80:
        end -= 1
    return data[: max(0, end - 1)]


@dataclass(frozen=True, slots=True)
class Family:
    """Inputs of one kind at any size.

    name: as in options and reports, ``letter-run``. reason: one line that says which cost it
    brings out. shape: ``(vocabulary, rng, size, variant)`` to the parts. The random state is for
    what differs from input to input without changing its cost; what changes the cost (the letter
    of a run, say) goes by the variant alone, or growth would compare letters and not sizes. The
    size is for pumps that must not repeat within the input. text: all inputs are valid UTF-8.
    """

    name: str
    reason: str
    shape: Callable[[Vocabulary, random.Random, int, int], Shape]
    text: bool = True

    def make(self, vocabulary: Vocabulary, size: int, variant: int) -> bytes:
        """The input of ``size`` bytes, a pure function of its arguments.

        Another variant is a fresh input of the same cost, so that an implementation that keeps
        what it encoded before (a cache of pieces) has to do the work again.
        """
        rng = random.Random(f"{self.name}/{size}/{variant}/{vocabulary.fingerprint}")
        return self.shape(vocabulary, rng, max(size, 1), variant).cut(size, text=self.text)

    def suits(self, vocabulary: Vocabulary) -> bool:
        """Whether the vocabulary can spell it: toy vocabularies have a few letters only."""
        return vocabulary.can_encode(self.make(vocabulary, SAMPLE_BYTES, 0))
