"""What makes ids of a piece: the ``model`` of a tokenizer.json."""

from __future__ import annotations

import heapq
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from corpora.vocabularies.tokenizer_json import kind_of
from impls.pipeline.errors import Undefined

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]

PENALTY = 10.0
"""By this an unknown character's score is below the lowest of all pieces."""

LONGEST_PIECE = 1000
"""Characters of a piece: all its beginnings are kept."""


class Model(Protocol):
    """A model: the ids of a piece, and of each token its id."""

    vocab: dict[str, int]

    def ids(self, piece: str) -> list[int]:
        """The ids of a piece that is not empty."""
        ...


def model_of(model: Json) -> Model:
    """The model of a file. Raises Undefined."""
    kind = kind_of(model.get("type"), model, mapping=isinstance(model.get("vocab"), dict))
    makers: dict[str, Callable[[Json], Model]] = {
        "BPE": Bpe,
        "Unigram": Unigram,
        "WordPiece": WordPiece,
        "WordLevel": WordLevel,
    }
    if kind not in makers:
        raise Undefined(f"the model {kind}")
    return makers[kind](model)


class Bpe:
    """Byte-pair encoding over the characters of a piece."""

    def __init__(self, model: Json) -> None:
        self.vocab: dict[str, int] = model["vocab"]
        self._prefix = model.get("continuing_subword_prefix") or ""
        self._suffix = model.get("end_of_word_suffix") or ""
        self._fuse, self._fallback = bool(model.get("fuse_unk")), bool(model.get("byte_fallback"))
        self._whole = bool(model.get("ignore_merges"))
        unknown = model.get("unk_token")
        if unknown is not None and unknown not in self.vocab:
            raise Undefined("an unknown token that is none")
        self._unknown = None if unknown is None else self.vocab[unknown]
        # Of merges that stand twice the last one counts, as in the library's map.
        self._merges: dict[tuple[int, int], tuple[int, int]] = {}
        for rank, entry in enumerate(model.get("merges") or []):
            left, right = entry.split(" ") if isinstance(entry, str) else entry
            merged = left + right.encode()[len(self._prefix.encode()) :].decode(errors="replace")
            if merged not in self.vocab:
                raise Undefined("a merge whose result is no token")
            self._merges[self.vocab[left], self.vocab[right]] = rank, self.vocab[merged]

    def ids(self, piece: str) -> list[int]:
        """The characters' tokens, merged by rank from the left."""
        if self._whole and piece in self.vocab:
            return [self.vocab[piece]]
        return self._merged(self._characters(piece))

    def _characters(self, piece: str) -> list[int]:
        """A token for each character, or for each of its bytes, or the unknown one.

        An unknown one is written when another token follows, but not where that is of bytes.
        """
        ids: list[int] = []
        waiting = False
        for at, character in enumerate(piece):
            text = (self._prefix if at else "") + character
            text += self._suffix if at == len(piece) - 1 else ""
            known = self.vocab.get(text)
            if known is not None:
                ids += self._unknowns(waiting)
                waiting = False
                ids.append(known)
                continue
            spelled = [self.vocab.get(f"<0x{byte:02X}>") for byte in text.encode()]
            if self._fallback and None not in spelled:
                ids += [one for one in spelled if one is not None]
                continue
            if not self._fuse:
                ids += self._unknowns(waiting)
            waiting = True
        return ids + self._unknowns(waiting)

    def _unknowns(self, waiting: bool) -> list[int]:
        return [self._unknown] if waiting and self._unknown is not None else []

    def _merged(self, ids: list[int]) -> list[int]:
        """The lowest rank first, and of equal ones the leftmost, until no neighbours merge."""
        after = [*range(1, len(ids)), -1]
        before = [*range(-1, len(ids) - 1)]
        dead = [False] * len(ids)
        queue: list[tuple[int, int, int]] = []

        def offer(left: int) -> None:
            if left >= 0 and after[left] >= 0:
                merge = self._merges.get((ids[left], ids[after[left]]))
                if merge is not None:
                    heapq.heappush(queue, (merge[0], left, merge[1]))

        for place in range(len(ids)):
            offer(place)
        while queue:
            _, left, merged = heapq.heappop(queue)
            right = after[left]
            if dead[left] or right < 0:
                continue
            # An entry whose pair is gone stands for another pair that makes the same token.
            now = self._merges.get((ids[left], ids[right]))
            if now is None or now[1] != merged:
                continue
            ids[left] = merged
            dead[right] = True
            after[left] = after[right]
            if after[left] >= 0:
                before[after[left]] = left
            offer(before[left])
            offer(left)
        return [token_id for token_id, gone in zip(ids, dead, strict=True) if not gone]


class Unigram:
    """The pieces of highest score in sum, found from the left."""

    def __init__(self, model: Json) -> None:
        pieces = [(str(text), float(score)) for text, score in model["vocab"]]
        unknown = model.get("unk_id")
        if not isinstance(unknown, int) or not 0 <= unknown < len(pieces):
            raise Undefined("a Unigram model without an unknown token")
        self._unknown = unknown
        self._fallback = bool(model.get("byte_fallback"))
        self.vocab = {text: place for place, (text, _) in enumerate(pieces)}
        if max(map(len, self.vocab)) > LONGEST_PIECE:
            raise Undefined(f"a piece of more than {LONGEST_PIECE} characters")
        self._scores = [score for _, score in pieces]
        self._lowest = min(self._scores) - PENALTY

    @cached_property
    def _beginnings(self) -> set[str]:
        return {text[:end] for text in self.vocab for end in range(1, len(text) + 1)}

    def ids(self, piece: str) -> list[int]:
        """The ids of the best path; unknown parts in a row are looked up as one."""
        texts: list[str] = []
        joined = False  # the last part is of unknown ones
        for start, end, token_id in self._path(piece):
            unknown = token_id == self._unknown
            if unknown and joined:
                texts[-1] += piece[start:end]
            else:
                texts.append(piece[start:end])
            joined = unknown
        return [token_id for text in texts for token_id in self._ids_of(text)]

    def _ids_of(self, text: str) -> list[int]:
        known = self.vocab.get(text)
        if known is not None:
            return [known]
        spelled = [self.vocab.get(f"<0x{byte:02X}>") for byte in text.encode()]
        if self._fallback and None not in spelled:
            return [one for one in spelled if one is not None]
        return [self._unknown]

    def _path(self, piece: str) -> list[tuple[int, int, int]]:
        """Start, end and id of the best path's parts. Of equal sums the first one found stays."""
        best: list[tuple[float, int, int] | None] = [None] * (len(piece) + 1)
        best[0] = (0.0, 0, 0)

        def offer(score: float, start: int, end: int, token_id: int) -> None:
            held = best[end]
            if held is None or self._better(score, held[0]):
                best[end] = (score, start, token_id)

        for start in range(len(piece)):
            reached = best[start]
            assert reached is not None, "each character can be passed"
            alone = False
            end = start + 1
            while end <= len(piece) and piece[start:end] in self._beginnings:
                token_id = self.vocab.get(piece[start:end])
                if token_id is not None:
                    offer(self._scores[token_id] + reached[0], start, end, token_id)
                    alone = alone or end == start + 1
                end += 1
            if not alone:
                offer(self._lowest + reached[0], start, start + 1, self._unknown)
        path, end = [], len(piece)
        while end > 0:
            node = best[end]
            assert node is not None, "each character can be passed"
            path.append((node[1], end, node[2]))
            end = node[1]
        return path[::-1]

    def _better(self, score: float, held: float) -> bool:
        return score > held


class WordPiece:
    """The longest token that matches, again and again; a word without one somewhere is unknown."""

    def __init__(self, model: Json) -> None:
        self.vocab: dict[str, int] = model["vocab"]
        unknown = model.get("unk_token", "[UNK]")
        if unknown not in self.vocab:
            raise Undefined("a WordPiece model without its unknown token")
        self._unknown = [self.vocab[unknown]]
        self._prefix = str(model.get("continuing_subword_prefix", "##"))
        self._longest = int(model.get("max_input_chars_per_word", 100))
        self._longest_token = max(map(len, self.vocab))

    def ids(self, piece: str) -> list[int]:
        """The ids of a word."""
        if len(piece) > self._longest:
            return self._unknown
        ids, start = [], 0
        while start < len(piece):
            end = min(len(piece), start + self._longest_token)
            prefix = self._prefix if start else ""
            while end > start and prefix + piece[start:end] not in self.vocab:
                end -= 1
            if end == start:
                return self._unknown
            ids.append(self.vocab[prefix + piece[start:end]])
            start = end
        return ids


class WordLevel:
    """A token a word."""

    def __init__(self, model: Json) -> None:
        self.vocab: dict[str, int] = model["vocab"]
        unknown = model.get("unk_token")
        if unknown not in self.vocab:
            raise Undefined("a WordLevel model without its unknown token")
        self._unknown = self.vocab[unknown]

    def ids(self, piece: str) -> list[int]:
        """The token that is the word, or the unknown one."""
        return [self.vocab.get(piece, self._unknown)]
