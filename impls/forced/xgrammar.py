"""``xgrammar``: the jump-forward string of XGrammar's matcher, tokenized as it is.

As SGLang used it: the string that certainly comes next is encoded and appended, and nothing is
taken back at its end. XGrammar reads the schema itself, and is asked over single bytes: its tokens
are not compared, only what it forces. It needs torch, gigabytes of it: an extra, never a default.
"""

from __future__ import annotations

import json
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal

from impls.adapters.common import Library
from impls.forced.heuristics import first_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from impls.forced.context import Context, GrammarState
    from impls.forced.interface import Healed
    from impls.forced.tokenizer import AnyTokenizer

LIBRARY = Library(
    name="xgrammar",
    distribution="xgrammar",
    module="xgrammar",
    homepage="https://github.com/mlc-ai/xgrammar",
    capabilities=frozenset(),
    language="c++",
    extra="xgrammar",
)


class XgrammarJump:
    """XGrammar's jump-forward string, encoded after the last token of the context.

    schema, whitespace: those of the states with which :meth:`heal` is asked. Contexts that go on
    from one another are cheap.
    """

    name = "xgrammar"

    def __init__(
        self,
        tokenizer: AnyTokenizer,
        schema: Mapping[str, Any] | bool,
        whitespace: Literal["flexible", "compact"],
    ) -> None:
        self._tokenizer = tokenizer
        self._schema = json.dumps(schema)
        self._whitespace = whitespace
        self._taken = b""

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """See :class:`impls.forced.interface.Policy`.

        ValueError where XGrammar refuses the schema or the text, or jumps elsewhere. ImportError
        where it is not installed.
        """
        self._follow(context.text)
        jump = self._matcher.find_jump_forward_string().encode()
        if not (jump.startswith(forced) or forced.startswith(jump)):
            raise ValueError(f"xgrammar jumps to {jump[:40]!r} where {forced[:40]!r} is forced")
        return first_tokens(self._tokenizer.steps_after(context, jump), len(forced), forced)

    @cached_property
    def _matcher(self) -> Any:
        library = LIBRARY.load()
        try:
            compiled = _compiler().compile_json_schema(
                self._schema,
                any_whitespace=self._whitespace == "flexible",
                separators=None if self._whitespace == "flexible" else (",", ":"),
            )
        except Exception as error:  # its C++ raises classes of its own
            line = " ".join(str(error).split())[:200]
            raise ValueError(f"xgrammar refuses the schema: {line}") from None
        return library.GrammarMatcher(compiled)

    def _follow(self, text: bytes) -> None:
        if not text.startswith(self._taken):
            self._matcher.reset()
            self._taken = b""
        more = text[len(self._taken) :]
        if more and not self._matcher.accept_string(more):
            # What it took of it is not known.
            self._matcher.reset()
            self._taken = b""
            raise ValueError("xgrammar does not take the context's text")
        self._taken = text


@cache
def _compiler() -> Any:
    """For a vocabulary of the single bytes, and an end."""
    library = LIBRARY.load()
    info = library.TokenizerInfo(
        [*(bytes((byte,)) for byte in range(256)), b"<eos>"],
        vocab_type=library.VocabType.RAW,
        stop_token_ids=[256],
    )
    return library.GrammarCompiler(info, max_threads=1)
