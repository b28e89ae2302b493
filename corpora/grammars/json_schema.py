"""JSON Schemas as grammars, through llguidance's matcher."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

from corpora.grammars.base import Grammar, GrammarError, enumerate_sentences

if TYPE_CHECKING:
    from collections.abc import Mapping

Whitespace = Literal["flexible", "compact"]


class JsonSchemaGrammar(Grammar):
    """The JSON texts of a schema, as llguidance admits them: keys in the schema's order.

    schema: a JSON Schema as ``json.loads`` gives it: an object, or true or false.
    whitespace: "flexible" admits white space between tokens (not before or after the text),
        "compact" none.
    coerce_one_of: ``oneOf`` is read as ``anyOf``; without it a schema with ``oneOf`` is refused
        unless the alternatives are evidently disjoint.

    All states that come from one start share one matcher, which is rolled back and fed to stand
    where it is asked about: near states are cheap one after another, far ones cost their distance,
    and two threads may not use them at once. A deep copy a state costs five times as much.

    Raises GrammarError where llguidance refuses the schema, and from any method where it gives up.
    """

    __slots__ = ("_complete", "_cursor", "_data", "_depth", "_forced", "_next", "_parent")
    _complete: bool | None
    _cursor: _Cursor
    _data: bytes
    _depth: int
    _forced: bytes | None
    _next: tuple[int, ...] | None
    _parent: JsonSchemaGrammar | None

    def __init__(
        self,
        schema: Mapping[str, Any] | bool,
        whitespace: Whitespace = "flexible",
        *,
        coerce_one_of: bool = False,
    ) -> None:
        self._place(None, b"", 0)
        matcher = _matcher(schema, whitespace, coerce_one_of)
        self._cursor = _Cursor(matcher, self)

    def forced(self) -> bytes:
        """The longest bytes with which every sentence goes on; empty if it may end or branches."""
        if self._forced is None:
            self._forced = bytes(self._cursor.at(self).compute_ff_bytes())
            self._cursor.check()
        return self._forced

    def viable(self, data: bytes) -> bool:
        """Whether some sentence begins with ``data``."""
        taken = self._cursor.at(self).validate_tokens(list(data))
        self._cursor.check()
        return bool(taken == len(data))

    def after(self, data: bytes) -> JsonSchemaGrammar:
        """The state after ``data``. Raises ValueError where it is not viable."""
        if not data:
            return self
        state = JsonSchemaGrammar.__new__(JsonSchemaGrammar)
        state._place(self, data, self._depth + len(data))
        state._cursor = self._cursor
        self._cursor.advance(state)
        return state

    @property
    def complete(self) -> bool:
        """Whether a sentence may end here."""
        if self._complete is None:
            self._complete = bool(self._cursor.at(self).is_accepting())
            self._cursor.check()
        return self._complete

    def next_bytes(self) -> tuple[int, ...]:
        """The bytes with which some sentence goes on, ascending."""
        if self._next is None:
            mask = self._cursor.at(self).compute_logit_bias()
            self._cursor.check()
            self._next = tuple(byte for byte in range(256) if mask[byte])
        return self._next

    def sentences(self, most: int) -> list[bytes] | None:
        """All sentences, sorted, or None if there are more than ``most``."""
        return enumerate_sentences(self, most)

    def _place(self, parent: JsonSchemaGrammar | None, data: bytes, depth: int) -> None:
        self._parent = parent
        self._data = data
        self._depth = depth
        self._forced = None
        self._complete = None
        self._next = None


class _Cursor:
    """The matcher that the states of one grammar share, and the state at which it stands."""

    __slots__ = ("_matcher", "_state")

    def __init__(self, matcher: LLMatcher, state: JsonSchemaGrammar) -> None:
        self._matcher = matcher
        self._state = state

    def at(self, state: JsonSchemaGrammar) -> LLMatcher:
        """The matcher, standing at ``state``."""
        if self._state is not state:
            # Up from both to the state that both come from, then down again.
            here, there = self._state, state
            way = []
            while here is not there:
                if there._depth >= here._depth and there._parent is not None:
                    way.append(there._data)
                    there = there._parent
                else:
                    assert here._parent is not None  # only the start has none
                    here = here._parent
            self._roll_back(self._state._depth - there._depth)
            if way:
                self._matcher.consume_tokens(list(b"".join(reversed(way))))
            self.check()
            self._state = state
        return self._matcher

    def advance(self, state: JsonSchemaGrammar) -> None:
        """Go to a new state from its parent. Raises ValueError where its data is not viable."""
        assert state._parent is not None
        taken = self.at(state._parent).try_consume_tokens(list(state._data))
        self.check()
        if taken < len(state._data):
            self._roll_back(taken)
            raise ValueError(f"the schema's grammar does not go on with {state._data!r}")
        self._state = state

    def check(self) -> None:
        """Raise GrammarError if the matcher is in its error state, which it never leaves."""
        if self._matcher.is_error():
            raise GrammarError(f"llguidance gave up: {_line(self._matcher.get_error())}")

    def _roll_back(self, count: int) -> None:
        if count:
            self._matcher.rollback(count)


def _matcher(schema: Mapping[str, Any] | bool, whitespace: Whitespace, coerce: bool) -> LLMatcher:
    if schema is False:
        raise GrammarError("llguidance refuses the schema: false admits nothing")
    if schema is True:
        schema = {}  # llguidance takes options with objects only
    options = {"whitespace_flexible": whitespace == "flexible", "coerce_one_of": coerce}
    try:
        grammar = LLMatcher.grammar_from_json_schema(json.dumps(schema), overrides=options)
        matcher = LLMatcher(_byte_tokenizer(), grammar, log_level=0)
    except (ValueError, RecursionError) as error:
        raise GrammarError(f"llguidance refuses the schema: {_line(error)}") from None
    except BaseException as error:
        # A panic in Rust is no Exception, and its class cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        raise GrammarError(f"llguidance panics at the schema: {_line(error)}") from None
    if matcher.is_error():
        raise GrammarError(f"llguidance refuses the schema: {_line(matcher.get_error())}")
    return matcher


def _line(error: object) -> str:
    """A message as one line, shortened: llguidance may append its state."""
    return " ".join(str(error).split())[:200]


class _ByteTokens:
    """The tokenizer whose tokens are the single bytes, in the form that llguidance asks for."""

    eos_token_id = 256
    bos_token_id = None
    tokens = (*(bytes([byte]) for byte in range(256)), b"<eos>")
    special_token_ids = (256,)

    def __call__(self, data: bytes) -> list[int]:
        return list(data)


@cache
def _byte_tokenizer() -> LLTokenizer:
    # Slices are for masks over large vocabularies.
    return LLTokenizer(TokenizerWrapper(_ByteTokens()), slices=[])
