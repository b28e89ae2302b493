"""Healing policies by name; of plug-ins too: ``path.py:Mine``, ``module:attr``, ``cmd:PROGRAM``."""

from __future__ import annotations

import re
from functools import cache, cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.model import Algorithm
from harness.engine.selection import SelectionError
from harness.verdict.gate import EXACT_METHOD
from impls import registry
from impls.adapters.llguidance import tokenizer_of
from impls.constrained import Constrains
from impls.forced.drop_pretoken import DropPretoken
from impls.forced.engines import (
    EnginePolicy,
    LlguidanceMatcher,
    LlguidancePartial,
    LmFormatEnforcer,
    OutlinesCore,
    XgrammarJump,
)
from impls.forced.exact import Exact
from impls.forced.healed import HealedBack
from impls.forced.interface import Healed
from impls.forced.none import NoHealing
from impls.forced.printed import Printed
from impls.interface import Capability, Heals, Mode, Unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from corpora.grammars.json_schema import Whitespace
    from corpora.vocabularies.model import Vocabulary
    from impls.forced.interface import Context, GrammarState, Policy
    from impls.forced.tokenizer import AnyTokenizer
    from impls.interface import Encoder

NAMES = (
    "none", "printed", "healed[:tokens=4|:bytes=7][:conservative]", "drop-pretoken", "exact",
    "llguidance", "llguidance.partial", "xgrammar", "outlines-core", "lm-format-enforcer",
    "path.py:Mine", "module:attr", "cmd:PROGRAM",
)  # fmt: skip

DEFAULT = (
    "none", "printed", "healed:tokens=1", "healed:tokens=2", "healed:tokens=4",
    "healed:tokens=4:conservative", "healed:bytes=7", "drop-pretoken", "llguidance",
    "llguidance.partial", "exact",
)  # fmt: skip
"""These policies are compared where none is named."""

EXACT = EXACT_METHOD
"""The policy that decides: its proofs judge the others, and the gate holds it to no error."""

ENGINES = {
    "outlines-core": ("outlines_core", OutlinesCore),
    "lm-format-enforcer": ("lmformatenforcer", LmFormatEnforcer),
}
"""Whole engines: their modules, and what makes each of a tokenizer."""

SIMPLE = {EXACT: Exact, "none": NoHealing, "printed": Printed, "drop-pretoken": DropPretoken}
"""Policies that are made of the tokenizer alone."""

_HEALED = re.compile(r"healed(?::(?:(tokens|bytes)=)?(\d{1,4}))?(:conservative)?", re.ASCII)

SPEC = re.compile(r"cmd:.+|(?!healed:)[^:]*[^:\s]:[A-Za-z_][\w.]*", re.DOTALL)
"""A name that matches is that of a plug-in, and not of a policy of ours."""

LISTED = 64
"""A grammar with more continuations is not told: the healer is asked to be right for any text."""

TEXT, RAW = Mode(), Mode(pretokenize=False)


def named(specs: Sequence[str], vocabulary: Vocabulary | None = None) -> list[str]:
    """The names in their full form, each once; the usual ones where none is given.

    vocabulary: what does not take it is left out of the usual ones. Raises SelectionError for no
    policy, and for one that does not take the vocabulary.
    """
    names = list(dict.fromkeys(_full(spec) for spec in specs or DEFAULT))
    troubles = {name: trouble(name, vocabulary) for name in names} if vocabulary else {}
    for name, line in troubles.items():
        if line and specs:
            raise SelectionError(f"--policy {name}: {line}; leave it out")
    return [name for name in names if not troubles.get(name)]


def of_libraries(names: Sequence[str]) -> list[str]:
    """Return the policies among these that run code which is not of this repository."""
    engines = ("llguidance", "xgrammar", *ENGINES)
    return sorted(name for name in names if name.startswith(engines) or is_plugged(name))


def trouble(name: str, vocabulary: Vocabulary) -> str | None:
    """Why a policy does not take a vocabulary, or None."""
    if vocabulary.unexpressed:
        return f"the plain model cannot express {vocabulary.unexpressed[0]}"
    if name == "drop-pretoken" and vocabulary.pieces:
        return "SentencePiece has no pre-tokens"
    if name == "xgrammar" and find_spec("xgrammar") is None:
        return "it is not installed; pip install 'tokgate[xgrammar]' (with torch, gigabytes)"
    if name in ENGINES and find_spec(ENGINES[name][0]) is None:
        return "it is not installed; pip install 'tokgate[engines]'"
    if name in ENGINES and (vocabulary.pieces or vocabulary.normalizes):
        return "byte-level vocabularies without a normalizer only"
    if name.startswith("llguidance") and vocabulary.algorithm is not Algorithm.BPE:
        return "llguidance takes byte-pair encoding only"
    return None


def _full(spec: str) -> str:
    if spec in NAMES and ":" not in spec:
        return spec
    if match := _HEALED.fullmatch(spec):
        return f"healed:{match[1] or 'tokens'}={match[2] or 4}{match[3] or ''}"
    if is_plugged(spec):
        return checked(spec)
    raise SelectionError(f"--policy {spec!r}: no such policy; use one of {', '.join(NAMES)}")


def is_plugged(name: str) -> bool:
    """Whether a policy's name leads to a plug-in."""
    return SPEC.fullmatch(name) is not None


def checked(spec: str) -> str:
    """The spec itself.

    Raises ImplementationError for what cannot be had, SelectionError for what does not heal.
    """
    about = registry.resolve(spec).about
    if not {Capability.HEAL, Capability.CONSTRAIN} & about.capabilities:
        raise SelectionError(
            f"--policy {spec}: claims neither the capability 'heal' nor 'constrain'; add one"
        )
    return spec


def plugged(spec: str, vocabulary: Vocabulary) -> PluggedHealer | Constrains:
    """What a plug-in makes of a vocabulary: a healer, or a whole engine.

    Raises Unsupported where it does not run it, TypeError where it lacks the method for what it
    claims.
    """
    implementation = registry.resolve(spec)
    trouble = implementation.supports(vocabulary, TEXT)
    if trouble is not None:
        raise Unsupported(f"{spec} on {vocabulary.id}: {trouble}")
    loaded: Encoder | Constrains = implementation.load(vocabulary)
    if Capability.CONSTRAIN not in implementation.about.capabilities:
        if isinstance(loaded, Heals):
            return PluggedHealer(spec, vocabulary, loaded)
        claim, method = "heal", "heal"
    elif isinstance(loaded, Constrains):
        return loaded
    else:
        claim, method = "constrain", "start"
    raise TypeError(f"{spec} claims the capability '{claim}' but has no method {method}")


class PluggedHealer:
    """The healer of a plug-in, asked with the vocabulary's pre-tokenization if it has any."""

    def __init__(self, spec: str, vocabulary: Vocabulary, encoder: Heals) -> None:
        # A program that heals without pre-tokenization only says so now, not amid a walk.
        mode = TEXT if vocabulary.splits or vocabulary.normalizes or vocabulary.pieces else RAW
        encoder.heal(b"", [], [b""], mode)
        self.name, self._encoder, self._mode = spec, encoder, mode
        self._longest = vocabulary.max_token_bytes

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`~impls.forced.interface.Policy`. Raises ValueError for a wrong leftover."""
        ways = grammar.sentences(LISTED)
        if ways is not None:
            ways = list(dict.fromkeys(way[: self._longest] for way in ways))
        ids, leftover = self._encoder.heal(forced, context.ids, ways, self._mode)
        if not forced.endswith(leftover):
            message = f"{self.name} leaves over what is not the end of the forced bytes"
            raise ValueError(message)
        return Healed(tuple(map(int, ids)), leftover)


class Policies:
    """The policies of a vocabulary. Raises Unsupported where the vocabulary is none for them."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        from impls.forced.piece_tokenizer import PieceTokenizer  # noqa: PLC0415 (Numba takes a
        from impls.forced.tokenizer import Tokenizer  # noqa: PLC0415 second)

        kind = PieceTokenizer if vocabulary.pieces else Tokenizer
        self.tokenizer: AnyTokenizer = kind(vocabulary)
        self._lasting = cache(self._new)

    def of_schema(
        self,
        names: Sequence[str],
        schema: Mapping[str, Any] | bool,
        whitespace: Whitespace,
    ) -> dict[str, Policy]:
        """The named ones, for one schema: engines stand in a grammar of their own."""
        return {name: self._made(name, schema, whitespace) for name in names}

    def _made(self, name: str, schema: Mapping[str, Any] | bool, whitespace: Whitespace) -> Policy:
        line = trouble(name, self.tokenizer.vocabulary)
        if line is not None:
            raise Unsupported(f"{name} on {self.tokenizer.vocabulary.id}: {line}")
        if name == "llguidance":
            from corpora.grammars.json_schema import llguidance_grammar  # noqa: PLC0415

            grammar = llguidance_grammar(schema, whitespace)
            return LlguidanceMatcher(self.tokenizer, self.llguidance, grammar)
        if name == "xgrammar":
            return XgrammarJump(self.tokenizer, schema, whitespace)
        made: Policy | Constrains = self._lasting(name)
        if isinstance(made, Constrains):
            return EnginePolicy(name, self.tokenizer, made, schema, whitespace)
        return made

    @cached_property
    def llguidance(self) -> Any:
        """llguidance's tokenizer of the vocabulary."""
        return tokenizer_of(self.tokenizer.vocabulary)

    def _new(self, name: str) -> Any:
        """A policy that serves any grammar, or a whole engine."""
        if name in ENGINES:
            return ENGINES[name][1](self.tokenizer)
        if name in SIMPLE:
            return SIMPLE[name](self.tokenizer)
        if name == "llguidance.partial":
            return LlguidancePartial(self.llguidance)
        match = _HEALED.fullmatch(name)
        if match is None:
            return plugged(name, self.tokenizer.vocabulary)
        return HealedBack(self.tokenizer, int(match[2]), match[1] == "bytes", match[3] is not None)
