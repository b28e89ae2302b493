"""What a healing policy is given, and what it gives.

A grammar often forces the next bytes of a text. A policy turns them into tokens, and leaves those
bytes over that a token may span whose end nobody knows yet. Forced tokens are *canonical* for a
continuation w if encode(context + forced + w) begins with encode(context) and then them; *safely*
canonical if that holds for every continuation that the grammar admits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.forced.context import Context, GrammarState


@dataclass(frozen=True, slots=True)
class Future:
    """One way in which a text can go on, and what it leaves of the forced tokens.

    continuation: bytes after the forced ones that lead there (a beginning of them, or a stand-in
    for any of their kind). kept: how many tokens of encode(context + forced) it keeps. kind:
    ``sentence`` (a whole one) and ``settled`` (nothing after it changes a thing) are real;
    ``end``, ``extension`` and ``stand-in`` are bounds that a sentence may or may not reach.
    """

    continuation: bytes
    kept: int
    kind: str


@dataclass(frozen=True, slots=True)
class Healed:
    """Forced tokens. leftover: the bytes at the end of the forced ones that none of them spells.

    proof: the futures that bound the tokens, for policies that decide rather than guess.
    """

    ids: tuple[int, ...]
    leftover: bytes
    proof: tuple[Future, ...] = field(default=(), compare=False)


class AnyTokenizer(Protocol):
    """A vocabulary as the policies see it; see :mod:`impls.forced.tokenizer`.

    A token's *bytes* are those of the text that it stands for: its own spelling in byte-level BPE,
    else those that the normalizer made it from.
    """

    @property
    def vocabulary(self) -> Vocabulary:
        """Whose tokens these are."""
        ...

    def spelling(self, token_id: int) -> bytes:
        """The bytes of a token inside a text."""
        ...

    def encode(self, data: bytes) -> tuple[int, ...]:
        """The ids of a text."""
        ...

    def encode_many(self, texts: Sequence[bytes]) -> list[tuple[int, ...]]:
        """The ids of many texts."""
        ...

    def stands_alone(self, context: Context) -> bool:
        """Whether a text, of which an encoding begins with the context, encodes to it by itself."""
        ...

    def steps(self, text: bytes) -> list[tuple[int, bytes]]:
        """The ids of a text, each with its bytes; together they are the text."""
        ...

    def steps_after(self, context: Context, data: bytes) -> list[tuple[int, bytes]]:
        """The ids of ``data`` after a context as an engine finds them, each with its bytes."""
        ...

    def extensions(
        self, suffix: bytes, viable: Callable[[bytes], bool] = ...
    ) -> Iterator[tuple[int, bytes]]:
        """The tokens whose bytes begin with ``suffix`` and go on with a viable e: (id, e)."""
        ...


class Policy(Protocol):
    """A way to turn forced bytes into tokens."""

    @property
    def name(self) -> str:
        """As in tables: ``healed, grammar, 4 tokens``."""
        ...

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """The tokens of ``forced`` after ``context``. grammar: the state after the forced bytes."""
        ...
