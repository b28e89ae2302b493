"""Healing policies by name."""

from __future__ import annotations

import re
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.model import Algorithm
from harness.engine.selection import SelectionError
from harness.studies.forced.plugged import (
    PluggedHealer,
    checked,
    engine_of,
    is_engine,
    is_plugged,
)
from harness.verdict.gate import EXACT_METHOD
from impls.interface import Unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from corpora.grammars.json_schema import Whitespace
    from corpora.vocabularies.model import Vocabulary
    from impls.constrained import Constrains
    from impls.forced.interface import Policy

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

ENGINES = {"outlines-core": "outlines_core", "lm-format-enforcer": "lmformatenforcer"}
"""Whole engines by their modules: what each is in ``impls.forced`` of the name with underscores."""

PLAIN = frozenset(
    {"none", "printed", "drop-pretoken", EXACT, "llguidance", "llguidance.partial", "xgrammar"}
) | frozenset(ENGINES)
_HEALED = re.compile(r"healed(?::(?:(tokens|bytes)=)?(\d{1,4}))?(:conservative)?", re.ASCII)


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
    if name in ENGINES and find_spec(ENGINES[name]) is None:
        return "it is not installed; pip install 'tokgate[engines]'"
    if name in ENGINES and (vocabulary.pieces or vocabulary.normalizes):
        return "byte-level vocabularies without a normalizer only"
    if name.startswith("llguidance") and vocabulary.algorithm is not Algorithm.BPE:
        return "llguidance takes byte-pair encoding only"
    return None


def _full(spec: str) -> str:
    if spec in PLAIN:
        return spec
    match = _HEALED.fullmatch(spec)
    if match is None and is_plugged(spec):
        checked(spec)
        return spec
    if match is None:
        raise SelectionError(f"--policy {spec!r}: no such policy; use one of {', '.join(NAMES)}")
    return f"healed:{match[1] or 'tokens'}={match[2] or 4}{match[3] or ''}"


class Policies:
    """The policies of a vocabulary. Raises Unsupported where the vocabulary is none for them."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        from impls.forced.tokenizers import tokenizer_of  # noqa: PLC0415 (Numba takes a second)

        self.tokenizer = tokenizer_of(vocabulary)
        self._lasting: dict[str, Policy] = {}
        self._engines: dict[str, Constrains] = {}

    def of_schema(
        self,
        names: Sequence[str],
        schema: Mapping[str, Any] | bool,
        whitespace: Whitespace,
    ) -> dict[str, Policy]:
        """The named ones, for one schema: engines stand in a grammar of their own."""
        return {name: self._make(name, schema, whitespace) for name in names}

    def _make(self, name: str, schema: Mapping[str, Any] | bool, whitespace: Whitespace) -> Policy:
        line = trouble(name, self.tokenizer.vocabulary)
        if line is not None:
            raise Unsupported(f"{name} on {self.tokenizer.vocabulary.id}: {line}")
        if name == "llguidance":
            from corpora.grammars.json_schema import llguidance_grammar  # noqa: PLC0415
            from impls.forced.engines import LlguidanceMatcher  # noqa: PLC0415

            grammar = llguidance_grammar(schema, whitespace)
            return LlguidanceMatcher(self.tokenizer, self._engine, grammar)
        if name == "xgrammar":
            from impls.forced.xgrammar import XgrammarJump  # noqa: PLC0415

            return XgrammarJump(self.tokenizer, schema, whitespace)
        if name in ENGINES or (
            is_plugged(name) and not _HEALED.fullmatch(name) and is_engine(name)
        ):
            from impls.forced.engine_policy import EnginePolicy  # noqa: PLC0415

            if name not in self._engines:
                self._engines[name] = self._new_engine(name)
            return EnginePolicy(name, self.tokenizer, self._engines[name], schema, whitespace)
        if name not in self._lasting:
            self._lasting[name] = self._new(name)
        return self._lasting[name]

    def _new_engine(self, name: str) -> Constrains:
        vocabulary = self.tokenizer.vocabulary
        if name == "outlines-core":
            from impls.forced.outlines_core import OutlinesCore  # noqa: PLC0415 (an extra)

            return OutlinesCore(vocabulary)
        if name == "lm-format-enforcer":
            from impls.forced.lm_format_enforcer import LmFormatEnforcer  # noqa: PLC0415 (an extra)

            return LmFormatEnforcer(vocabulary)
        return engine_of(name, vocabulary)

    def _new(self, name: str) -> Policy:
        from impls.forced import heuristics  # noqa: PLC0415
        from impls.forced.tokenizer import Tokenizer  # noqa: PLC0415

        tokenizer = self.tokenizer
        if is_plugged(name) and not _HEALED.fullmatch(name):
            return PluggedHealer(name, tokenizer.vocabulary)
        if name == EXACT:
            from impls.forced.exact import Exact  # noqa: PLC0415 (Numba)

            return Exact(tokenizer)
        if name == "llguidance.partial":
            from impls.forced.engines import LlguidancePartial  # noqa: PLC0415

            return LlguidancePartial(tokenizer, self._engine)
        if name == "none":
            return heuristics.NoHealing(tokenizer)
        if name == "printed":
            return heuristics.Printed(tokenizer)
        if name == "drop-pretoken" and isinstance(tokenizer, Tokenizer):
            return heuristics.DropPretoken(tokenizer)
        match = _HEALED.fullmatch(name)
        if match is None:
            raise SelectionError(f"--policy {name!r}: no such policy")
        size, conservative = int(match[2] or 4), match[3] is not None
        if match[1] == "bytes":
            return heuristics.HealedBack(tokenizer, None, size, conservative)
        return heuristics.HealedBack(tokenizer, size, None, conservative)

    @cached_property
    def _engine(self) -> Any:
        from impls.adapters.llguidance import tokenizer_of  # noqa: PLC0415

        return tokenizer_of(self.tokenizer.vocabulary)
