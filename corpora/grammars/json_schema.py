"""JSON Schemas as grammars, through llguidance's matcher."""

from __future__ import annotations

import json
from contextlib import contextmanager
from functools import cache
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal

from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

from corpora.grammars.base import Grammar, GrammarError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Whitespace = Literal["flexible", "compact"]


class JsonSchemaGrammar(Grammar):
    """The JSON texts of a schema, as llguidance admits them: keys in the schema's order.

    schema: a JSON Schema as ``json.loads`` gives it: an object, or true or false.
    whitespace: "flexible" admits white space between tokens (not before or after the text),
        "compact" none.

    A state is what is forced, and a matcher that stands behind that. States share a matcher that
    none of them moves, and copy it to go on. Rolling one matcher back would be cheaper, but
    llguidance 1.9.1 remembers the mask of a place through a rollback, and gives it again on another
    branch that has come as far.

    Raises GrammarError where llguidance refuses the schema, and from any method where it gives up.
    """

    __slots__ = ("_forced", "_matcher")

    def __init__(
        self, schema: Mapping[str, Any] | bool, whitespace: Whitespace = "flexible"
    ) -> None:
        grammar = llguidance_grammar(schema, whitespace)
        with _refusals():
            matcher = LLMatcher(_byte_tokenizer(), grammar, log_level=0)
            if matcher.is_error():
                raise ValueError(matcher.get_error())
        self._stand(matcher, _go_on(matcher))

    def _stand(self, matcher: LLMatcher, forced: bytes) -> None:
        self._matcher, self._forced = matcher, forced

    def forced(self) -> bytes:
        """The longest bytes with which every sentence goes on; empty if it may end or branches."""
        return self._forced

    def viable(self, data: bytes) -> bool:
        """Whether some sentence begins with ``data``."""
        rest = data[len(self._forced) :]
        if not (data if rest else self._forced).startswith(self._forced if rest else data):
            return False
        taken = self._matcher.validate_tokens(list(rest))
        if taken < len(rest):
            _check(self._matcher)
        return bool(taken == len(rest))

    def after(self, data: bytes) -> JsonSchemaGrammar:
        """The state after ``data``. Raises ValueError where it is not viable."""
        if not data:
            return self
        state = JsonSchemaGrammar.__new__(JsonSchemaGrammar)
        if self._forced.startswith(data):
            state._stand(self._matcher, self._forced[len(data) :])
            return state
        rest = list(data[len(self._forced) :])
        matcher = self._matcher.deep_copy()
        if not data.startswith(self._forced) or matcher.try_consume_tokens(rest) < len(rest):
            _check(matcher)
            raise ValueError(f"the schema's grammar does not go on with {data!r}")
        state._stand(matcher, _go_on(matcher))
        return state

    @property
    def complete(self) -> bool:
        """Whether a sentence may end here."""
        return not self._forced and bool(self._matcher.is_accepting())

    def next_bytes(self) -> tuple[int, ...]:
        """The bytes with which some sentence goes on, ascending."""
        if self._forced:
            return (self._forced[0],)
        mask = self._matcher.compute_logit_bias()
        _check(self._matcher)
        return tuple(compress(range(256), mask))


def _go_on(matcher: LLMatcher) -> bytes:
    """Move a matcher behind what is forced, and return that."""
    forced = bytes(matcher.compute_ff_bytes())
    if forced:
        matcher.try_consume_tokens(list(forced))
    _check(matcher)
    return forced


def _check(matcher: LLMatcher) -> None:
    """Raise GrammarError if a matcher is in its error state, which it never leaves."""
    if matcher.is_error():
        raise GrammarError(f"llguidance gave up: {_line(matcher.get_error())}")


def llguidance_grammar(schema: Mapping[str, Any] | bool, whitespace: Whitespace) -> str:
    """The grammar as llguidance's matcher takes it; GrammarError where it refuses the schema."""
    options = {"whitespace_flexible": whitespace == "flexible", "coerce_one_of": False}
    with _refusals():
        if schema is False:
            raise ValueError("false admits nothing")
        # llguidance takes options with objects only.
        text = json.dumps({} if schema is True else schema)
        return str(LLMatcher.grammar_from_json_schema(text, overrides=options))


@contextmanager
def _refusals() -> Iterator[None]:
    """What llguidance raises at a schema, as GrammarError."""
    try:
        yield
    except (ValueError, RecursionError) as error:
        raise GrammarError(f"llguidance refuses the schema: {_line(error)}") from None
    except BaseException as error:
        # A panic in Rust is no Exception, and its class cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        raise GrammarError(f"llguidance panics at the schema: {_line(error)}") from None


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
