"""Recipes as they come from implementations, and what of them may enter a ``repro.py``.

A recipe is written by the author of an adapter or a plug-in, and a user who trusts tokgate runs
what it becomes. Its code is meant to run, in a function of its own; nothing else of it is. What
could break out of its place in the script, of the line with its requirements, or of the folder for
its file, is refused, or reduced to what cannot.
"""

import re
import textwrap
import unicodedata
import warnings
from dataclasses import dataclass
from functools import lru_cache

from packaging.requirements import Requirement

from corpora.plain_text import printable_line
from corpora.vocabularies.model import Vocabulary
from harness.core.comparisons import Contract
from harness.core.messages import packed
from harness.core.participants import Participant
from harness.core.writing import NO_ROOM
from impls.interface import Recipe, Reproducible
from impls.specs import from_anywhere

CONTROLS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of characters that make source read otherwise than it runs (CVE-2021-42574), or end a
line or an indentation where an editor shows none: an author writes them as escapes."""

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


class Unsound(Exception):
    """A recipe that cannot be used, with the reason in words."""


@dataclass(frozen=True, slots=True)
class Library:
    """How a script runs an implementation.

    left_out: the reason why it is not the implementation's own recipe, if it has one. path: of the
    recipe's artifact, relative to the finding's folder; empty for none.
    """

    recipe: Recipe
    left_out: str = ""
    path: str = ""


NONE = Recipe((), "", "", b"")


def own(participant: Participant, contract: Contract) -> Library:
    """Return an implementation's own recipe, or :data:`NONE` with why it cannot be used.

    Raises OSError where the disk has no room.
    """
    implementation = participant.implementation
    if not isinstance(implementation, Reproducible):
        return Library(NONE)
    try:
        return Library(sound(implementation.recipe(contract.vocabulary, contract.mode)))
    except Unsound as error:
        return Library(NONE, f"its recipe is not sound: {error}")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plug-in's SystemExit, or a panic, ends no run
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            raise  # that is no fault of the implementation
        return Library(NONE, f"it failed to give a recipe: {printable_line(type(error).__name__)}")


def by_tokgate(participant: Participant, contract: Contract) -> Library:
    """Return how tokgate runs an implementation that has no recipe: on the vocabulary as it was."""
    spec = participant.origin or from_anywhere(participant.spec)
    code = BY_TOKGATE.format(spec=spec, mode=contract.mode)
    return Library(sound(Recipe(("tokgate",), code, VOCABULARY, _pickled(contract.vocabulary))))


@lru_cache(maxsize=2)
def _pickled(vocabulary: Vocabulary) -> bytes:
    """A vocabulary as workers get it, the same for all who load it."""
    return packed(vocabulary)


def sound(recipe: object) -> Recipe:
    """Return a recipe that can be put into a script, made from what an implementation gave.

    Requirements are as PEP 508 writes them, the artifact's name is a plain file name (empty where
    there is none), and the code is the body of one function that hides nothing. Raises Unsound.
    """
    if not isinstance(recipe, Recipe) or not isinstance(recipe.artifact, bytes):
        raise Unsound("it is no impls.interface.Recipe with an artifact of bytes")
    if not isinstance(recipe.requirements, tuple | list):
        raise Unsound("its requirements are no tuple")
    try:
        requirements = tuple(str(Requirement(one)) for one in recipe.requirements)
        name = plain_name(recipe.artifact_name)
        with warnings.catch_warnings(action="ignore"):
            compiled = compile(function(recipe.code, "load"), "recipe", "exec", dont_inherit=True)
    except Exception as error:
        raise Unsound(f"it cannot be used ({type(error).__name__})") from error
    # Nothing but the function: neither a second one nor a statement beside it.
    functions = [one.co_name for one in compiled.co_consts if hasattr(one, "co_name")]
    if not recipe.code.strip() or (functions, compiled.co_names) != (["load"], ("load",)):
        raise Unsound("its code is empty, or leaves the function that it is put into")
    lines = [*requirements, *recipe.code.expandtabs().split("\n")]
    if any(CONTROLS & set(map(unicodedata.category, line)) for line in lines):
        raise Unsound("it has characters that are not shown")
    return Recipe(requirements, recipe.code, name, recipe.artifact)


def plain_name(name: str) -> str:
    """Return the last part of a path as a name that is a file's in the folder where it is put."""
    last = re.split(r"[/\\]", name)[-1]
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", last)[-LONGEST_NAME:].lstrip(".-")
    return plain or ("vocabulary" if name else "")


def function(code: str, name: str) -> str:
    """Return the source of a function that runs the code and returns what it defined."""
    body = textwrap.indent(code.strip(), "    ")
    return f"def {name}(VOCABULARY):\n{body}\n    return locals()\n"
