"""A healer as a plug-in is one: asked over ``heal``, decided by the exact policy."""

from __future__ import annotations

from dataclasses import dataclass
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
    """No error, whatever follows."""

    name = "plain.healer"
    modes = ("text", "raw")
    capabilities: ClassVar[frozenset[Capability]] = frozenset({Capability.HEAL})

    def prepare(self) -> None:
        """Those of an encoder; a policy is made for each mode that is asked for."""
        PlainBpe.prepare(self)
        self.policies: dict[Mode, Policy] = {}

    def heal(
        self, forced: bytes, recent: Sequence[int], allowed: Sequence[bytes] | None, mode: Mode
    ) -> tuple[Sequence[int], bytes]:
        """The longest safely canonical tokens, and the rest of the forced bytes."""
        context = Context(self.vocabulary.spell(list(recent)), tuple(recent))
        grammar: GrammarState = Unrestricted()
        if allowed is not None:
            grammar = KnownSentences(frozenset(allowed), self.vocabulary.max_token_bytes)
        if mode not in self.policies:
            self.policies[mode] = self.policy(mode)
        healed = self.policies[mode].heal(context, forced, grammar)
        return healed.ids, healed.leftover

    def policy(self, mode: Mode) -> Policy:
        """The policy that decides."""
        from impls.forced.exact import Exact  # noqa: PLC0415 (Numba takes a second)
        from impls.forced.tokenizer import Tokenizer  # noqa: PLC0415 (as above)

        return Exact(Tokenizer(self.vocabulary, pretokenize=mode.pretokenize))
