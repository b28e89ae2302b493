"""Byte-pair encoding over characters as the tokenizers library runs it, by its plain definition.

What a Llama-2 or Gemma ``tokenizer.json`` means: added tokens part the text, each part is
normalized by itself, its characters become tokens (those without one bytes, or the unknown token),
and as long as two neighbours have a merge, the first of the merges of lowest rank is done. No
tables and no compiled code: it is there to be read, not to be fast.
"""

from __future__ import annotations

import heapq
import re
from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Algorithm, Alphabet, Normalizer, RankOrder
from impls.interface import About, Mode, Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary

SPACE = "\u2581"

MAX_INPUT = 1 << 16
"""Bytes that it is asked to encode: a second of Python."""


class Encoder:
    """The definition, with what it needs of a vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._normalizer = vocabulary.normalizer
        self._ids = {piece.text: i for i, piece in enumerate(vocabulary.pieces)}
        self._unknown = vocabulary.unk_id
        self._fallback = vocabulary.byte_fallback
        merges = vocabulary.merges
        columns = (merges.left.tolist(), merges.right.tolist(), merges.merged.tolist())
        # Of merges that stand twice the last one counts, as in the library's map.
        self._merges = {
            (left, right): (rank, merged)
            for rank, (left, right, merged) in enumerate(zip(*columns, strict=True))
        }
        # The text of a special token stays, but hides an ordinary one that begins in it.
        self._added = {
            token.text: None if token.special else token.id
            for token in vocabulary.added_tokens
            if not token.normalized
        }
        longest_first = sorted(self._added, key=len, reverse=True)
        self._found = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids; Unsupported for what is not UTF-8."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise Unsupported("takes text only, and this is not UTF-8") from None
        ids: list[int] = []
        for part, given in self._parts(text):
            if given is not None:
                ids.append(given)
            else:
                ids += self._merged(self._characters(self._normalized(part)))
        return ids

    def _parts(self, text: str) -> Iterator[tuple[str, int | None]]:
        """The text around added tokens, and these with their ids."""
        start = 0
        for match in self._found.finditer(text):
            given = self._added[match.group()]
            if given is None:
                continue
            yield text[start : match.start()], None
            yield match.group(), given
            start = match.end()
        yield text[start:], None

    def _normalized(self, part: str) -> str:
        if part and self._normalizer.add_dummy_prefix:
            part = (SPACE if self._normalizer.escape_whitespaces else " ") + part
        return part.replace(" ", SPACE) if self._normalizer.escape_whitespaces else part

    def _characters(self, part: str) -> list[int]:
        """A token for each character, or for each of its bytes; unknown ones in a row are one.

        An unknown one is written when another token follows, but not where that is of bytes.
        """
        ids: list[int] = []
        waiting = False
        for character in part:
            known = self._ids.get(character)
            if known is not None:
                if waiting and self._unknown is not None:
                    ids.append(self._unknown)
                waiting = False
                ids.append(known)
                continue
            spelled = [self._ids.get(f"<0x{byte:02X}>") for byte in character.encode()]
            if self._fallback and None not in spelled:
                ids += [one for one in spelled if one is not None]
            else:
                waiting = self._unknown is not None
        if waiting and self._unknown is not None:
            ids.append(self._unknown)
        return ids

    def _merged(self, ids: list[int]) -> list[int]:
        """The lowest rank first, and of equal ones the leftmost, until no neighbours merge."""
        after = [*range(1, len(ids)), -1]
        before = [*range(-1, len(ids) - 1)]
        dead = [False] * len(ids)
        queue: list[tuple[int, int, int, int]] = []

        def offer(left: int) -> None:
            right = after[left]
            if right >= 0:
                merge = self._merges.get((ids[left], ids[right]))
                if merge is not None:
                    heapq.heappush(queue, (merge[0], left, ids[left], ids[right]))

        for place in range(len(ids)):
            offer(place)
        while queue:
            _, left, left_id, right_id = heapq.heappop(queue)
            right = after[left]
            if dead[left] or right < 0 or (ids[left], ids[right]) != (left_id, right_id):
                continue  # one of the two has been merged since
            ids[left] = self._merges[left_id, right_id][1]
            dead[right] = True
            after[left] = after[right]
            if after[left] >= 0:
                before[after[left]] = left
            offer(left)
            if before[left] >= 0:
                offer(before[left])
        return [token_id for token_id, gone in zip(ids, dead, strict=True) if not gone]


class Implementation:
    """The tokenizers library's byte-pair encoding over characters, by its definition."""

    @cached_property
    def about(self) -> About:
        """Who it is; its version is tokgate's."""
        return About(
            name="spm.huggingface",
            version=metadata.version("tokgate"),
            max_input=MAX_INPUT,
            engine="tokenizers",
        )

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """Merges in a list, over characters, as text."""
        if vocabulary.algorithm is not Algorithm.BPE:
            return "byte-pair encoding only"
        if vocabulary.alphabet is not Alphabet.CHARACTERS:
            return "byte-pair encoding over characters only"
        if vocabulary.rank_order is not RankOrder.MERGES:
            return "needs a list of merges: scores are SentencePiece's"
        normalizer = vocabulary.normalizer
        plain = Normalizer(
            add_dummy_prefix=normalizer.add_dummy_prefix,
            escape_whitespaces=normalizer.escape_whitespaces,
        )
        if normalizer != plain:
            return "no normalization but the dummy space and U+2581"
        if mode != Mode():
            return "reads no special tokens, and normalizes always"
        for token in vocabulary.added_tokens:
            if token.special and len(token.text) == 1:
                return f"cannot tell whether {token.text!r} is a token of the model, too"
            if not token.special and (
                token.single_word or token.lstrip or token.rstrip or token.normalized
            ):
                return "an added token is matched with conditions (single_word, lstrip, normalized)"
        return None

    def load(self, vocabulary: Vocabulary) -> Encoder:
        """Build the maps: a fraction of a second for 32,000 pieces."""
        return Encoder(vocabulary)


IMPLEMENTATION = Implementation()
