"""The forced tokens of engines, asked at the same state of the same grammar.

``llguidance``: ``LLMatcher.compute_ff_tokens``, which takes back up to four tokens where a token
goes on that the grammar admits. ``llguidance.partial``: ``LLTokenizer.tokenize_partial``, which
knows the recent tokens but no grammar. ``xgrammar``: the jump-forward string of XGrammar's matcher,
as SGLang used it: the string that certainly comes next is encoded and appended, and nothing is
taken back at its end. XGrammar reads the schema itself, and is asked over single bytes: its tokens
are not compared, only what it forces. It needs torch, gigabytes of it: an extra, never a default.
And any whole engine (:mod:`impls.constrained`), with its masks watched.

Two of these come with the extra ``engines``. ``outlines-core``: an index of a regular expression
over the vocabulary's tokens, which takes seconds and more where the vocabulary is large.
``lm-format-enforcer``: a character-level parser over a tree of the tokens, which are text to it:
those that are no UTF-8 by themselves are left out, as it is used with Hugging Face's. Neither
forces anything by itself, so that the tokens without an alternative count.
"""

from __future__ import annotations

import json
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from impls.adapters.common import Library
from impls.adapters.llguidance import LIBRARY as LLGUIDANCE
from impls.constrained import NotAdmitted, OutsideMask, only_ways
from impls.forced.interface import Healed, first_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from impls.constrained import Constrains, Matcher
    from impls.forced.interface import Context, GrammarState
    from impls.forced.tokenizer import AnyTokenizer
    from impls.kernels.layout import Flags


Schema: TypeAlias = "Mapping[str, Any] | bool"
Whitespace: TypeAlias = Literal["flexible", "compact"]

XGRAMMAR = Library(
    name="xgrammar",
    homepage="https://github.com/mlc-ai/xgrammar",
    capabilities=frozenset(),
    language="c++",
    extra="xgrammar",
)

OUTLINES = Library(
    name="outlines-core",
    homepage="https://github.com/dottxt-ai/outlines-core",
    capabilities=frozenset(),
    language="rust",
    extra="engines",
)

ENFORCER = Library(
    name="lm-format-enforcer",
    module="lmformatenforcer",
    homepage="https://github.com/noamgat/lm-format-enforcer",
    capabilities=frozenset(),
    language="python",
    extra="engines",
)

RECENT = 16
"""Tokens before the forced bytes that are shown to ``tokenize_partial``."""


class Follower:
    """An engine that is led through contexts: those that go on from one another are cheap."""

    def __init__(self, tokenizer: AnyTokenizer) -> None:
        self._tokenizer = tokenizer
        self._taken: Any = None

    def restart(self) -> None:
        """Begin the text anew."""
        raise NotImplementedError

    def go_on(self, more: Any) -> None:
        """Take ids or bytes that are valid. Raises ValueError where the engine does not."""
        raise NotImplementedError

    def follow(self, context: Any) -> None:
        """Come to the end of ids, or of bytes. Raises ValueError, and begins anew after that."""
        known, self._taken = self._taken, None
        if known is None or context[: len(known)] != known:
            self.restart()
            known = context[:0]
        self.go_on(context[len(known) :])
        self._taken = context

    def healed(self, ids: tuple[int, ...], forced: bytes) -> Healed:
        """Tokens from the front of ``forced``, with the bytes that they leave over."""
        return Healed(ids, forced[sum(len(self._tokenizer.spelling(one)) for one in ids) :])


class LlguidanceMatcher(Follower):
    """``compute_ff_tokens`` of a matcher that follows the context.

    engine: the ``LLTokenizer`` of the vocabulary. grammar: as ``LLMatcher`` takes it; it must be
    that of the states with which :meth:`heal` is asked.
    """

    def __init__(self, tokenizer: AnyTokenizer, engine: Any, grammar: str) -> None:
        super().__init__(tokenizer)
        self._engine = engine
        self._matcher = LLGUIDANCE.load().LLMatcher(self._engine, grammar, log_level=0)
        self._check()

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`. ValueError where the engine gives up."""
        ids = context.ids
        if ids and self._tokenizer.vocabulary.normalizer.add_dummy_prefix:
            # The context as the engine would have it: it knows no space before a text.
            first = self._tokenizer.spelling(ids[0]).removeprefix(b" ")
            ids = (*self._engine.tokenize_bytes(first), *ids[1:])
        self.follow(ids)
        found = tuple(self._matcher.compute_ff_tokens())
        self._check()
        return self.healed(found, forced)

    def restart(self) -> None:
        """Not rolled back: llguidance 1.9.1 keeps what it knew of the place it was at."""
        self._matcher.reset()

    def go_on(self, more: tuple[int, ...]) -> None:
        """See :class:`Follower`."""
        if more and not self._matcher.consume_tokens(list(more)):
            self._check()
            raise ValueError("llguidance does not take the context's tokens")

    def _check(self) -> None:
        if self._matcher.is_error():
            line = " ".join(str(self._matcher.get_error()).split())[:200]
            raise ValueError(f"llguidance gave up: {line}")


class LlguidancePartial:
    """``tokenize_partial`` of the forced bytes after the context's last tokens."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`."""
        recent = list(context.ids[-RECENT:])
        ids, leftover = self._engine.tokenize_partial(forced, recent_tokens=recent)
        return Healed(tuple(ids), bytes(leftover))


class XgrammarJump(Follower):
    """XGrammar's jump-forward string, encoded after the last token of the context.

    schema, whitespace: those of the states with which :meth:`heal` is asked.
    """

    def __init__(self, tokenizer: AnyTokenizer, schema: Schema, whitespace: Whitespace) -> None:
        super().__init__(tokenizer)
        self._schema, self._flexible = json.dumps(schema), whitespace == "flexible"

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`.

        ValueError where XGrammar refuses the schema or the text, or jumps elsewhere. ImportError
        where it is not installed.
        """
        self.follow(context.text)
        jump = self._matcher.find_jump_forward_string().encode()
        if not (jump.startswith(forced) or forced.startswith(jump)):
            raise ValueError(f"xgrammar jumps to {jump[:40]!r} where {forced[:40]!r} is forced")
        return first_tokens(self._tokenizer.steps_after(context, jump), len(forced), forced)

    @cached_property
    def _matcher(self) -> Any:
        library = XGRAMMAR.load()
        try:
            compiled = _compiler().compile_json_schema(
                self._schema,
                any_whitespace=self._flexible,
                separators=None if self._flexible else (",", ":"),
            )
        except Exception as error:  # its C++ raises classes of its own
            line = " ".join(str(error).split())[:200]
            raise ValueError(f"xgrammar refuses the schema: {line}") from None
        return library.GrammarMatcher(compiled)

    def restart(self) -> None:
        """See :class:`Follower`."""
        self._matcher.reset()

    def go_on(self, more: bytes) -> None:
        """See :class:`Follower`. What it took of what it does not take whole is not known."""
        if more and not self._matcher.accept_string(more):
            raise ValueError("xgrammar does not take the context's text")


@cache
def _compiler() -> Any:
    """For a vocabulary of the single bytes, and an end."""
    library = XGRAMMAR.load()
    info = library.TokenizerInfo(
        [*(bytes((byte,)) for byte in range(256)), b"<eos>"],
        vocab_type=library.VocabType.RAW,
        stop_token_ids=[256],
    )
    return library.GrammarCompiler(info, max_threads=1)


class EnginePolicy(Follower):
    """The forced tokens of a whole engine on one schema, with its masks watched."""

    def __init__(
        self,
        name: str,
        tokenizer: AnyTokenizer,
        engine: Constrains,
        schema: Schema,
        whitespace: Whitespace,
    ) -> None:
        super().__init__(tokenizer)
        self.name = name
        self._engine, self._schema, self._whitespace = engine, json.dumps(schema), whitespace
        self._matcher: Matcher

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`.

        Raises NotAdmitted where a mask lacks a token of the context, OutsideMask where the first
        forced token is not in the mask, ValueError where the engine gives up.
        """
        self.follow(context.ids)
        ids = tuple(map(int, self._matcher.forced()))
        if ids and not self._admits(ids[0]):
            raise OutsideMask(f"{self.name} forces {ids[0]}, which its mask does not admit")
        return self.healed(ids, forced)

    def restart(self) -> None:
        """See :class:`Follower`."""
        self._matcher = self._engine.start(self._schema, self._whitespace)

    def go_on(self, more: tuple[int, ...]) -> None:
        """See :class:`Follower`."""
        for token_id in more:
            if not (self._admits(token_id) and self._matcher.consume(token_id)):
                raise NotAdmitted(f"{self.name} does not admit {token_id}, which is valid here")

    def _admits(self, token_id: int) -> bool:
        mask = self._matcher.allowed()
        return token_id < len(mask) and bool(mask[token_id])


WHITESPACE = {"flexible": r"[ \n\r\t]*", "compact": ""}


class ByWays:
    """A matcher of an engine that says which ids a state admits.

    size: of the vocabulary; the end of a text has an id from there on, as no text has it. ways: the
    ids that a state admits. after: the state behind one of them.
    """

    def __init__(
        self, size: int, state: Any, ways: Callable[[Any], list[int]], after: Callable[..., Any]
    ) -> None:
        self._size, self._state, self._ways, self._after = size, state, ways, after

    def allowed(self) -> Flags:
        """See :class:`impls.constrained.Matcher`."""
        mask = np.zeros(self._size + 1, dtype=np.bool_)
        mask[self._ways(self._state)] = True
        return mask[: self._size]

    def consume(self, token_id: int) -> bool:
        """See :class:`impls.constrained.Matcher`."""
        if token_id not in self._ways(self._state):
            return False
        self._state = self._after(self._state, token_id)
        return True

    def forced(self) -> list[int]:
        """See :class:`impls.constrained.Matcher`."""
        ids = only_ways(self._state, self._ways, self._after)
        return [one for one in ids if one < self._size]


class OutlinesCore:
    """The engine of one vocabulary, whose tokens are bytes of a text."""

    def __init__(self, tokenizer: AnyTokenizer) -> None:
        self._library, tokens = OUTLINES.load(), tokenizer.vocabulary.tokens
        self._size = len(tokens)
        ids: dict[bytes, list[int]] = {}
        for token_id, token in enumerate(tokens):
            if token:
                ids.setdefault(token, []).append(token_id)
        self._vocabulary = self._library.Vocabulary(self._size, ids)

    def start(self, schema: str, whitespace: Whitespace) -> ByWays:
        """See :class:`impls.constrained.Constrains`."""
        build = OUTLINES.load("json_schema").build_regex_from_schema
        index = self._library.Index(build(schema, WHITESPACE[whitespace]), self._vocabulary)

        def ways(state: Any) -> list[int]:
            # Behind the end of a text there is no state.
            return [] if state is None else index.get_allowed_tokens(state) or []

        return ByWays(self._size, index.get_initial_state(), ways, index.get_next_state)


class LmFormatEnforcer:
    """The engine of one vocabulary, whose tokens are bytes of a text."""

    def __init__(self, tokenizer: AnyTokenizer) -> None:
        self._library, tokens = ENFORCER.load(), tokenizer.vocabulary.tokens
        self._size = size = len(tokens)
        texts = []
        for token_id, token in enumerate(tokens):
            text = (token or b"").decode("utf-8", "replace")
            if text and text.encode() == token:
                texts.append((token_id, text, text.startswith(" ")))

        def decoded(ids: Sequence[int]) -> str:
            spelled = tokenizer.vocabulary.spell([one for one in ids if one < size])
            return spelled.decode("utf-8", "replace")

        self._data = self._library.TokenEnforcerTokenizerData(texts, decoded, size, False, size + 1)

    def start(self, schema: str, whitespace: Whitespace) -> ByWays:
        """See :class:`impls.constrained.Constrains`. White space is always admitted by it."""
        parser = self._library.JsonSchemaParser(json.loads(schema))
        enforcer = self._library.TokenEnforcer(self._data, parser)

        def ways(taken: tuple[int, ...]) -> list[int]:
            found = enforcer.get_allowed_tokens(list(taken))
            return list(getattr(found, "allowed_tokens", found))

        return ByWays(self._size, (), ways, lambda taken, one: (*taken, one))
