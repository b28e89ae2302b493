"""A healer as a plug-in is one: asked over ``heal``, decided by the exact policy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from corpora.grammars.base import Grammar
from corpora.grammars.unrestricted import Unrestricted
from harness.studies.selftest.plain.bpe import PlainBpe
from impls.forced.context import Context
from impls.interface import Capability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.forced.context import GrammarState
    from impls.forced.interface import Policy
    from impls.forced.tokenizer import Tokenizer
    from impls.interface import Mode

ANY_BYTE = tuple(range(256))


@dataclass(frozen=True, slots=True)
class KnownSentences(Grammar):
    """What a healer knows of a grammar: its sentences, cut at ``longest`` bytes.

    A sentence of that length was cut, maybe, so that anything may follow it. rests: what is left
    of them; depth: bytes that lie behind. free: one that was cut lies behind.
    """

    rests: frozenset[bytes]
    longest: int
    depth: int = 0
    free: bool = False

    @property
    def complete(self) -> bool:
        """Whether a sentence ends here."""
        return self.free or b"" in self.rests

    def forced(self) -> bytes:
        """Nothing is said to be forced; who asks finds out by ``next_bytes``."""
        return b""

    def viable(self, data: bytes) -> bool:
        """Whether a sentence goes on with ``data``, or one that was cut does."""
        if self.free:
            return True
        return any(
            one.startswith(data) or (self._cut(one) and data.startswith(one)) for one in self.rests
        )

    def after(self, data: bytes) -> KnownSentences:
        """What is left after ``data``."""
        left = frozenset(one[len(data) :] for one in self.rests if one.startswith(data))
        free = self.free or any(self._cut(one) and data.startswith(one) for one in self.rests)
        return KnownSentences(left, self.longest, self.depth + len(data), free)

    def next_bytes(self) -> Sequence[int]:
        """The bytes that may come next."""
        return ANY_BYTE if self.free else sorted({one[0] for one in self.rests if one})

    def sentences(self, most: int) -> Sequence[bytes] | None:
        """All of them, unless one was cut or they are more than ``most``."""
        cut = self.free or any(self._cut(one) for one in self.rests)
        return None if cut or len(self.rests) > most else sorted(self.rests)

    def _cut(self, rest: bytes) -> bool:
        return self.depth + len(rest) >= self.longest


class PlainHealer(PlainBpe):
    """No error, whatever follows. Every method is a rule that a mistake may change."""

    name = "plain.healer"
    modes = ("text", "raw")
    capabilities: ClassVar[frozenset[Capability]] = frozenset({Capability.HEAL})

    def heal(
        self, forced: bytes, recent: Sequence[int], allowed: Sequence[bytes] | None, mode: Mode
    ) -> tuple[Sequence[int], bytes]:
        """The longest safely canonical tokens, and the rest of the forced bytes."""
        context = Context(self.vocabulary.spell(list(recent)), tuple(recent))
        healed = self.policy(mode).heal(context, forced, self.grammar(allowed))
        return healed.ids, healed.leftover

    def grammar(self, allowed: Sequence[bytes] | None) -> GrammarState:
        """What is known of the grammar after the forced bytes."""
        if allowed is None:
            return Unrestricted()
        return KnownSentences(frozenset(allowed), self.vocabulary.max_token_bytes)

    def policy(self, mode: Mode) -> Policy:
        """The policy that decides."""
        from impls.forced.exact import Exact  # noqa: PLC0415 (Numba takes a second)

        return self._policies.setdefault(mode.label, Exact(self.tokenizer(mode)))

    def tokenizer(self, mode: Mode) -> Tokenizer:
        """The vocabulary as policies see it."""
        from impls.forced.tokenizer import Tokenizer  # noqa: PLC0415 (Numba takes a second)

        if mode.label not in self._tokenizers:
            made = Tokenizer(self.vocabulary, pretokenize=mode.pretokenize)
            self._tokenizers[mode.label] = made
        return self._tokenizers[mode.label]

    @cached_property
    def _policies(self) -> dict[str, Policy]:
        return {}

    @cached_property
    def _tokenizers(self) -> dict[str, Tokenizer]:
        return {}
