"""Other ways to what byte-pair encoding gives: a class for each method that a check may ask for.

Each is right. Their control is who has none of them, so that a hunt has one process more, not ten.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from corpora.grammars.finite import FiniteLanguage, Unrestricted
from harness.studies.selftest.plain.base import text_of
from harness.studies.selftest.plain.bpe import PlainBpe
from impls.forced.interface import Context
from impls.interface import Capability, Mode, Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.forced.interface import GrammarState, Policy
    from impls.interface import Json


class Way(PlainBpe):
    """One that has another way."""

    right = PlainBpe


class Batches(Way):
    """See ``EncodesBatches``."""

    def encode_batch(self, data: bytes, ends: Any, mode: Mode) -> Any:
        """All inputs, one by one."""
        import numpy as np  # noqa: PLC0415 - the only one of these that needs it

        texts = [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        every = [self.encode(text, mode) for text in texts]
        return np.concatenate(every).astype(np.int32), np.cumsum([len(ids) for ids in every])


class Many(Way):
    """See ``EncodesMany``."""

    def encode_many(self, inputs: Sequence[bytes], mode: Mode) -> list[list[int]]:
        """The ids of each input."""
        return [self.encode(data, mode) for data in inputs]


class Reloaded(Way):
    """See ``Reloads``."""

    def reloaded(self) -> PlainBpe:
        """What is loaded from the vocabulary that this one has."""
        return PlainBpe().load(self.vocabulary)


class Streams(Way):
    """See ``DecodesStreams``."""

    def decode_stream(self, ids: Sequence[int]) -> list[bytes]:
        """What each id adds."""
        return [self.decode([token_id]) for token_id in ids]

    def decode_stream_after(self, prompt: Sequence[int], ids: Sequence[int]) -> list[bytes]:
        """See ``ContinuesStreams``: the same, whatever came before."""
        return self.decode_stream([*ids])


class Truncating(Way):
    """See ``Truncates``."""

    def truncated(
        self, data: bytes, length: int, overlap: int, left: bool, mode: Mode
    ) -> list[list[int]]:
        """The windows, from the end that is kept on."""
        turn = -1 if left else 1
        ids = self.encode(data, mode)[::turn]
        starts = range(0, max(1, len(ids) - overlap), length - overlap)
        return [ids[start : start + length][::turn] for start in starts]


class Framing(Way):
    """See ``AddsSpecials``; the first and the last id stand for special tokens."""

    def encode_with_added(self, data: bytes, pair: bytes | None, mode: Mode) -> list[int]:
        """A token before the first text, and one after each."""
        last = [len(self.vocabulary) - 1]
        second = [] if pair is None else last + self.encode(pair, mode)
        return [0, *self.encode(data, mode), *second, *last]


class Chatting(Way):
    """See ``EncodesChats``; special tokens stand before and after each message."""

    def encode_chat(self, messages: Sequence[Json], tools: Sequence[Json], mode: Mode) -> list[int]:
        """Tools, then messages in their order, each as it is encoded by itself, as text."""
        marks = sorted(self.specials.values())
        if not marks:
            raise Unsupported("no special tokens")
        ids = [marks[0]]
        for turn, one in enumerate(messages):
            if tools and turn == 0:
                ids += [marks[1], *self.encode(json.dumps(tools).encode(), Mode())]
            content = one["content"] or json.dumps(one.get("tool_calls", ""))
            data = content.encode()
            ids += [marks[turn % 2], *self.encode(data, Mode()), marks[-1]]
        return ids


class Strings(Way):
    """See ``EncodesStr``."""

    def encode_str(self, text: str, mode: Mode) -> list[int]:
        """A lone surrogate is no character."""
        return self.encode(text.encode(errors="replace"), mode)


class Padding(Way):
    """See ``Pads``."""

    def padded(
        self, inputs: Sequence[bytes], multiple: int, left: bool, mode: Mode
    ) -> list[tuple[list[int], list[int]]]:
        """Rows of one length, with zeros on one side."""
        rows = [self.encode(data, mode) for data in inputs]
        length = -(-max(map(len, rows)) // multiple) * multiple
        found = []
        for row in rows:
            gap, kept = [0] * (length - len(row)), [1] * len(row)
            found.append((gap + row, gap + kept) if left else (row + gap, kept + gap))
        return found


class Skipping(Way):
    """See ``SkipsSpecials``."""

    def decode_without_specials(self, ids: Sequence[int]) -> bytes:
        """The text of the other ids."""
        return self.decode([one for one in ids if one not in self.specials.values()])


class Cleaning(Way):
    """See ``CleansSpaces``."""

    def decode_cleaned(self, ids: Sequence[int]) -> bytes:
        """The text: one of byte-pair encoding has the spaces that are its own."""
        return self.decode(ids)


class Naming(Way):
    """See ``NamesTokens``."""

    def token_strings(self, data: bytes, mode: Mode) -> list[str]:
        """Their texts."""
        ids = self.encode(data, mode)
        return [self.vocabulary.spelling(one).decode(errors="replace") for one in ids]


class Unstable(Way):
    """See ``EncodesUnstable``."""

    def encode_with_unstable(self, data: bytes, mode: Mode) -> tuple[list[int], list[list[int]]]:
        """No id is sure; what there is may come."""
        return [], [self.encode(data, mode)]


class PlainDropout(PlainBpe):
    """Right with dropout, too: all merges are left out, which is a draw like any other."""

    name = "plain.dropout"
    modes = ("text",)

    def encode_with_dropout(self, data: bytes, mode: Mode) -> list[int]:
        """See ``DropsMerges``."""
        pieces = [piece.encode() for piece in self.pieces(text_of(data))]
        return [token_id for piece in pieces for token_id in self.symbols(piece)]


class PlainHealer(PlainBpe):
    """A healer as a plug-in is one: asked over ``heal``, decided by the exact policy."""

    name = "plain.healer"
    modes = ("text", "raw")
    capabilities = frozenset({Capability.HEAL})

    def prepare(self) -> None:
        """Those of an encoder; a policy is made for each mode that is asked for."""
        PlainBpe.prepare(self)
        self.policies: dict[Mode, Policy] = {}

    def heal(
        self, forced: bytes, recent: Sequence[int], allowed: Sequence[bytes] | None, mode: Mode
    ) -> tuple[Sequence[int], bytes]:
        """The longest safely canonical tokens, and the rest of the forced bytes."""
        context = Context(self.decode(recent), tuple(recent))
        healed = self.policy(mode).heal(context, forced, self.grammar(allowed))
        return healed.ids, healed.leftover

    def grammar(self, allowed: Sequence[bytes] | None) -> GrammarState:
        """What may follow: these, or anything where they are not told, or were cut maybe."""
        longest = self.vocabulary.max_token_bytes
        if allowed is None or max(map(len, allowed), default=0) >= longest:
            return Unrestricted()
        return FiniteLanguage(allowed)

    def policy(self, mode: Mode) -> Policy:
        """The policy that decides, of a mode."""
        from impls.forced.exact import Exact  # noqa: PLC0415 (Numba takes a second)
        from impls.forced.tokenizer import Tokenizer  # noqa: PLC0415 (as above)

        if mode not in self.policies:
            self.policies[mode] = Exact(Tokenizer(self.vocabulary, pretokenize=mode.pretokenize))
        return self.policies[mode]
