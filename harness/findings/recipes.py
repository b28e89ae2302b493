"""Recipes: how a ``repro.py`` runs an implementation, by its own recipe or by tokgate.

A recipe is written by the author of an adapter or a plug-in, whose code a run has run already. It
runs in a function of its own; where it cannot be used, tokgate runs the implementation.
"""

import re
import textwrap
import warnings
from functools import lru_cache

from corpora.vocabularies.model import Vocabulary
from harness.core.comparisons import Contract
from harness.core.messages import packed
from harness.core.output import NO_ROOM
from harness.core.participants import Participant
from impls.interface import Recipe, Reproducible
from impls.specs import from_anywhere

LONGEST_NAME = 100
"""Characters of a file's name: file systems take 255 bytes, and a part of a name is put before."""

VOCABULARY = "vocabulary.pickle"
"""The file with the vocabulary as workers get it, for those whom tokgate runs."""

BY_TOKGATE = """\
import pickle

from impls import registry
from impls.interface import Mode

with open(VOCABULARY, "rb") as file:
    encoder = registry.resolve({spec!a}).load(pickle.load(file))


def encode(data):
    return encoder.encode(data, {mode!r})


def encode_with_offsets(data):
    return encoder.encode_with_offsets(data, {mode!r})


def decode(ids):
    return encoder.decode(ids)
"""


def recipe_of(participant: Participant, contract: Contract, asks: str) -> Recipe:
    """Return an implementation's own recipe if it has the function ``asks``, else tokgate's.

    A comment in that says why it is not the implementation's own, if this failed to give one.
    Raises OSError where the disk has no room.
    """
    implementation, comment = participant.implementation, ""
    if isinstance(implementation, Reproducible):
        try:
            recipe = implementation.recipe(contract.vocabulary, contract.mode)
            with warnings.catch_warnings(action="ignore"):
                compile(function(recipe.code, "load"), "recipe", "exec", dont_inherit=True)
            if f"def {asks}(" in recipe.code:
                return recipe
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a plug-in's SystemExit, or a panic, ends no run
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                raise  # that is no fault of the implementation
            reason = f"it failed to give a recipe: {type(error).__name__}"
            comment = f"# Not by its own recipe: {reason!a}\n"
    # On the vocabulary as it was.
    spec = participant.origin or from_anywhere(participant.spec)
    code = comment + BY_TOKGATE.format(spec=spec, mode=contract.mode)
    return Recipe(("tokgate",), code, VOCABULARY, _pickled(contract.vocabulary))


@lru_cache(maxsize=2)
def _pickled(vocabulary: Vocabulary) -> bytes:
    """A vocabulary as workers get it, the same for all who load it."""
    return packed(vocabulary)


def plain_name(name: str) -> str:
    """Return a name that is a file's in the folder where it is put, whatever it was."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)[-LONGEST_NAME:]
    return plain.lstrip(".-") or "vocabulary"


def function(code: str, name: str) -> str:
    """Return the source of a function that runs the code and returns what it defined."""
    body = textwrap.indent(code.strip(), "    ")
    return f"def {name}(VOCABULARY):\n{body}\n    return locals()\n"
