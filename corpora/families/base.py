"""What a family is: a hostile input as a function of its size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from corpora.families.recipes import Recipe
    from corpora.vocabularies.model import Vocabulary

SAMPLE_BYTES = 256
"""Length of the samples by which :meth:`Family.suits` judges: room for what a family is made of."""


@dataclass(frozen=True, slots=True)
class Family:
    """Inputs of one kind at any size.

    name: as in options and reports, ``letter-run``. reason: one line that says which cost it
    brings out. recipe: what makes its inputs for a vocabulary; None where that vocabulary has
    nothing to make them of. A recipe keeps what changes the cost (the letter of a run, say) the
    same at all sizes and variants, or growth would compare letters and not sizes.
    """

    name: str
    reason: str
    recipe: Callable[[Vocabulary], Recipe | None]

    def make(self, vocabulary: Vocabulary, size: int, variant: int) -> bytes:
        """The input of ``size`` bytes (some fewer in most variants), pure in its arguments.

        Another variant is a fresh input of the same cost, so that an implementation that keeps
        what it encoded before (a cache of pieces) has to do the work again. Raises ValueError
        for a vocabulary that it does not suit.
        """
        return self._made_for(vocabulary).make(size, variant)

    def expression(self, vocabulary: Vocabulary) -> str:
        """One line of Python for variant 0 of ``n`` bytes, with ``random`` imported."""
        return self._made_for(vocabulary).expression()

    def suits(self, vocabulary: Vocabulary) -> bool:
        """Whether the vocabulary can spell it: toy vocabularies have a few letters only."""
        recipe = _made(self.recipe, vocabulary)
        return recipe is not None and vocabulary.can_encode(recipe.make(SAMPLE_BYTES, 0))

    def _made_for(self, vocabulary: Vocabulary) -> Recipe:
        recipe = _made(self.recipe, vocabulary)
        if recipe is None:
            message = f"{vocabulary.id} has nothing to make {self.name} of"
            raise ValueError(message)
        return recipe


@lru_cache(maxsize=1024)  # all families of the vocabularies of a run
def _made(recipe: Callable[[Vocabulary], Recipe | None], vocabulary: Vocabulary) -> Recipe | None:
    return recipe(vocabulary)
