"""JSON Schemas as grammars, through llguidance's matcher."""

from __future__ import annotations

import json
from contextlib import contextmanager
from functools import cache
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal

from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

from corpora.grammars.base import Grammar, GrammarError, enumerate_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Whitespace = Literal["flexible", "compact"]


class JsonSchemaGrammar(Grammar):
    """The JSON texts of a schema, as llguidance admits them: keys in the schema's order.

    schema: a JSON Schema as ``json.loads`` gives it: an object, or true or false.
    whitespace: "flexible" admits white space between tokens (not before or after the text),
        "compact" none.
    coerce_one_of: ``oneOf`` is read as ``anyOf``; without it llguidance refuses a schema with
        ``oneOf`` unless the alternatives are evidently disjoint.

    Each state has a matcher of its own, a deep copy of the one before. Rolling one matcher back
    would be cheaper, but llguidance 1.9.1 remembers the mask of a place through a rollback, and
    gives it again on another branch that has come as far. Only behind bytes that are forced is no
    copy made: the state after them takes the matcher over, as all that the one before them can be
    asked follows from them.

    Raises GrammarError where llguidance refuses the schema, and from any method where it gives up.
    """

    __slots__ = ("_forced", "_matcher", "_next", "_then")
    _forced: bytes | None
    _matcher: LLMatcher
    _next: tuple[int, ...] | None
    _then: JsonSchemaGrammar | None

    def __init__(
        self,
        schema: Mapping[str, Any] | bool,
        whitespace: Whitespace = "flexible",
        *,
        coerce_one_of: bool = False,
    ) -> None:
        self._stand_at(_matcher(schema, whitespace, coerce_one_of))

    def forced(self) -> bytes:
        """The longest bytes with which every sentence goes on; empty if it may end or branches."""
        if self._forced is None:
            self._forced = bytes(self._matcher.compute_ff_bytes())
            self._check()
        return self._forced

    def viable(self, data: bytes) -> bool:
        """Whether some sentence begins with ``data``."""
        if self._then is not None:
            sure = self._sure
            if len(data) <= len(sure):
                return sure.startswith(data)
            return data.startswith(sure) and self._then.viable(data[len(sure) :])
        taken = self._matcher.validate_tokens(list(data))
        if taken < len(data):
            self._check()
        return bool(taken == len(data))

    def after(self, data: bytes) -> JsonSchemaGrammar:
        """The state after ``data``. Raises ValueError where it is not viable."""
        if not data:
            return self
        sure = self._sure
        if not sure:
            return _behind(self._matcher.deep_copy(), data)
        if len(data) < len(sure) and sure.startswith(data):
            state = JsonSchemaGrammar.__new__(JsonSchemaGrammar)
            state._stand_at(self._matcher)
            state._forced, state._then = sure[len(data) :], self._behind_sure()
            return state
        if data.startswith(sure):
            return self._behind_sure().after(data[len(sure) :])
        raise _not_viable(data)

    @property
    def complete(self) -> bool:
        """Whether a sentence may end here."""
        return not self._sure and bool(self._matcher.is_accepting())

    def next_bytes(self) -> tuple[int, ...]:
        """The bytes with which some sentence goes on, ascending."""
        if self._next is None and self._sure:
            self._next = (self._sure[0],)
        if self._next is None:
            mask = self._matcher.compute_logit_bias()
            self._check()
            self._next = tuple(compress(range(256), mask))
        return self._next

    def sentences(self, most: int) -> list[bytes] | None:
        """All sentences, sorted, or None if there are more than ``most``."""
        return enumerate_sentences(self, most)

    def _stand_at(self, matcher: LLMatcher) -> None:
        self._matcher = matcher
        self._forced = None
        self._next = None
        self._then = None

    @property
    def _sure(self) -> bytes:
        """What is forced, as far as that was asked."""
        return self._forced or b""

    def _behind_sure(self) -> JsonSchemaGrammar:
        """The state behind what is forced, to which the matcher belongs from now on."""
        if self._then is None:
            self._then = _behind(self._matcher, self._sure)
        return self._then

    def _check(self) -> None:
        """Raise GrammarError if the matcher is in its error state, which it never leaves."""
        if self._matcher.is_error():
            raise GrammarError(f"llguidance gave up: {_line(self._matcher.get_error())}")


def _behind(matcher: LLMatcher, data: bytes) -> JsonSchemaGrammar:
    """The state that a matcher, which is its own, comes to by ``data``; ValueError if to none."""
    taken = matcher.try_consume_tokens(list(data))
    state = JsonSchemaGrammar.__new__(JsonSchemaGrammar)
    state._stand_at(matcher)
    state._check()
    if taken < len(data):
        raise _not_viable(data)
    return state


def _not_viable(data: bytes) -> ValueError:
    return ValueError(f"the schema's grammar does not go on with {data!r}")


def llguidance_grammar(
    schema: Mapping[str, Any] | bool, whitespace: Whitespace, *, coerce_one_of: bool = False
) -> str:
    """The grammar as llguidance's matcher takes it; GrammarError where it refuses the schema."""
    if schema is False:
        raise GrammarError("llguidance refuses the schema: false admits nothing")
    if schema is True:
        schema = {}  # llguidance takes options with objects only
    options = {"whitespace_flexible": whitespace == "flexible", "coerce_one_of": coerce_one_of}
    with _refusals():
        return str(LLMatcher.grammar_from_json_schema(json.dumps(schema), overrides=options))


def _matcher(schema: Mapping[str, Any] | bool, whitespace: Whitespace, coerce: bool) -> LLMatcher:
    grammar = llguidance_grammar(schema, whitespace, coerce_one_of=coerce)
    with _refusals():
        matcher = LLMatcher(_byte_tokenizer(), grammar, log_level=0)
    if matcher.is_error():
        raise GrammarError(f"llguidance refuses the schema: {_line(matcher.get_error())}")
    return matcher


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
