"""Inputs that showed something new, and the mutants made of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from corpora.generators.characters import CLASS_BYTES, CLASS_CHARACTERS
from corpora.generators.drawing import picker, sizes
from corpora.generators.material import material
from corpora.generators.mutations import KINDS, mutated

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary

LONGEST = 4096
"""Bytes of an input that may join, and of a mutant: what a longer one shows, a part of it mostly
shows, too, and long inputs are other generators' job."""

_OPERATIONS = sizes(2, 12, spread=0.8)
_SPANS = sizes(3, 256)


@dataclass(frozen=True, slots=True)
class Entry:
    """An input of the corpus: by whom it was made, and how many behaviours it was first to show."""

    data: bytes
    origin: str
    fresh: int


class Corpus:
    """The entries in the order in which they joined, and how often each was a parent."""

    def __init__(self, entries: Sequence[Entry] = (), picks: Sequence[int] = ()) -> None:
        self.entries = list(entries)
        self.picks = [*picks, *[0] * (len(self.entries) - len(picks))]
        self._known = {entry.data for entry in self.entries}

    def __len__(self) -> int:
        return len(self.entries)

    def join(self, entry: Entry) -> bool:
        """Take an entry in, unless it is too long, empty, or there."""
        if not 0 < len(entry.data) <= LONGEST or entry.data in self._known:
            return False
        self._known.add(entry.data)
        self.entries.append(entry)
        self.picks.append(0)
        return True

    def _check_invariants(self) -> None:
        """Hold what is so between any two calls. Raises AssertionError; tests call it."""
        assert len(self.entries) == len(self.picks) == len(self._known)
        assert self._known == {entry.data for entry in self.entries}
        assert all(0 < len(entry.data) <= LONGEST for entry in self.entries)
        assert all(picks >= 0 for picks in self.picks)

    def parents(self, rng: random.Random, count: int) -> list[bytes]:
        """Entries to mutate; those that were parents often are drawn less.

        The chance is as 1 / (1 + picks): each gets its turn early, and none is left out for ever.
        """
        if not self.entries:
            return []
        weights = list(accumulate(1 / (1 + picks) for picks in self.picks))
        chosen = rng.choices(range(len(self.entries)), cum_weights=weights, k=count)
        for place in chosen:
            self.picks[place] += 1
        return [self.entries[place].data for place in chosen]


def mutants(corpus: Corpus, vocabulary: Vocabulary, rng: random.Random, count: int) -> list[bytes]:
    """Inputs made of the corpus: cut, doubled, spliced, tokens and telling characters put in.

    A mutant that the vocabulary cannot spell is left out, so that there may be fewer.
    """
    parents = corpus.parents(rng, count)
    if not parents:
        return []
    change = _changer(corpus, vocabulary, rng)
    operations = picker(rng, _OPERATIONS)
    made = []
    for mutant in parents:
        for _ in range(operations()):
            mutant = change(mutant)[:LONGEST]
        if vocabulary.byte_alphabet is None or vocabulary.can_encode(mutant):
            made.append(mutant)
    return made


def _changer(
    corpus: Corpus, vocabulary: Vocabulary, rng: random.Random
) -> Callable[[bytes], bytes]:
    """One change to a text, by bytes at any place: what is no character any more is a case, too."""
    draw, found = rng.random, material(vocabulary)
    alphabet = vocabulary.byte_alphabet or CLASS_BYTES
    byte = picker(rng, [alphabet[i : i + 1] for i in range(len(alphabet))])
    inserted: list[Callable[[], bytes]] = [byte]
    if found.surfaces:
        inserted.append(picker(rng, found.surfaces))
    if vocabulary.byte_alphabet is None:
        inserted.append(picker(rng, [character.encode() for character in CLASS_CHARACTERS]))
    insert, span = picker(rng, inserted), picker(rng, _SPANS)
    other = picker(rng, corpus.entries)

    def change(text: bytes) -> bytes:
        kind, at = int(draw() * KINDS), int(draw() * (len(text) + 1))
        if draw() < 0.5:  # most texts are UTF-8: keep half of the changes between characters
            while 0 < at < len(text) and text[at] & 0xC0 == 0x80:
                at -= 1
        return mutated(text, kind, at, span(), other().data if kind == KINDS - 1 else insert()())

    return change
