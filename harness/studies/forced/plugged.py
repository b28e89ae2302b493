"""Healers of plug-ins as policies: ``path.py:Mine``, ``module:attr``, ``cmd:PROGRAM``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.engine.selection import SelectionError
from impls import registry
from impls.constrained import Constrains
from impls.forced.interface import Healed
from impls.interface import Capability, Heals, Mode, Unsupported

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.forced.context import Context, GrammarState
    from impls.interface import Encoder

SPEC = re.compile(r"cmd:.+|(?!healed:)[^:]*[^:\s]:[A-Za-z_][\w.]*", re.DOTALL)
"""A name that matches is that of a plug-in, and not of a policy of ours."""

LISTED = 64
"""A grammar with more continuations is not told: the healer is asked to be right for any text."""

TEXT, RAW = Mode(), Mode(pretokenize=False)


def is_plugged(name: str) -> bool:
    """Whether a policy's name leads to a plug-in."""
    return SPEC.fullmatch(name) is not None


def checked(spec: str) -> None:
    """Raise ImplementationError for what cannot be had, SelectionError for what does not heal."""
    about = registry.resolve(spec).about
    if not {Capability.HEAL, Capability.CONSTRAIN} & about.capabilities:
        raise SelectionError(
            f"--policy {spec}: claims neither the capability 'heal' nor 'constrain'; add one"
        )


def _loaded(spec: str, vocabulary: Vocabulary) -> Encoder:
    """What a plug-in makes of a vocabulary. Raises Unsupported where it does not run it."""
    implementation = registry.resolve(spec)
    trouble = implementation.supports(vocabulary, TEXT)
    if trouble is not None:
        raise Unsupported(f"{spec} on {vocabulary.id}: {trouble}")
    return implementation.load(vocabulary)


def is_engine(spec: str) -> bool:
    """Whether a plug-in is a whole engine (:mod:`impls.constrained`)."""
    return Capability.CONSTRAIN in registry.resolve(spec).about.capabilities


def engine_of(spec: str, vocabulary: Vocabulary) -> Constrains:
    """The engine of a plug-in. Raises Unsupported where it does not run the vocabulary, TypeError
    where it has no ``start``."""
    engine = _loaded(spec, vocabulary)
    if not isinstance(engine, Constrains):
        message = f"{spec} claims the capability 'constrain' but has no method start"
        raise TypeError(message)
    return engine


class PluggedHealer:
    """The healer of a plug-in, asked with the vocabulary's pre-tokenization if it has any.

    Raises Unsupported where it does not run the vocabulary, TypeError where it has no ``heal``.
    """

    def __init__(self, spec: str, vocabulary: Vocabulary) -> None:
        encoder = _loaded(spec, vocabulary)
        if not isinstance(encoder, Heals):
            message = f"{spec} claims the capability 'heal' but has no method heal"
            raise TypeError(message)
        # A program that heals without pre-tokenization only says so now, not amid a walk.
        mode = TEXT if vocabulary.splits or vocabulary.normalizes or vocabulary.pieces else RAW
        encoder.heal(b"", [], [b""], mode)
        self.name = spec
        self._encoder = encoder
        self._mode = mode
        self._longest = vocabulary.max_token_bytes

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`~impls.forced.interface.Policy`. Raises ValueError for a wrong leftover."""
        ways = grammar.sentences(LISTED)
        continuations = (
            None if ways is None else list(dict.fromkeys(way[: self._longest] for way in ways))
        )
        ids, leftover = self._encoder.heal(forced, context.ids, continuations, self._mode)
        if not forced.endswith(leftover):
            message = f"{self.name} leaves over what is not the end of the forced bytes"
            raise ValueError(message)
        return Healed(tuple(map(int, ids)), leftover)
