"""The pieces of a SentencePiece vocabulary in columns, which take a fifth of the memory.

A quarter of a million objects take as long to make as all the rest of reading a file. Whoever asks
for a piece is given one that is made of the columns then.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, overload

import numpy as np

from corpora.vocabularies.model import Piece, PieceType

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_TYPES = {int(one): one for one in PieceType}

_CODING = ("utf-8", "surrogatepass")
"""A tokenizer.json may have halves of surrogate pairs in its texts."""


class Pieces(Sequence[Piece]):
    """Pieces by id, as a tuple of them has it.

    text: of all pieces, one behind another, in UTF-8. bounds: where each begins in it, and last its
    end (``array("i")``). scores: ``array("d")``. types: a byte each.
    """

    __slots__ = ("_made", "bounds", "scores", "text", "types")

    def __init__(self, text: bytes, bounds: array[int], scores: array[float], types: bytes) -> None:
        self.text = text
        self.bounds = bounds
        self.scores = scores
        self.types = types
        self._made: tuple[Piece, ...] | None = None

    @classmethod
    def of(cls, pieces: Iterable[Piece]) -> Pieces:
        """The same pieces in columns."""
        if isinstance(pieces, cls):
            return pieces
        listed = list(pieces)
        return cls.of_columns(
            [piece.text for piece in listed],
            [piece.score for piece in listed],
            bytes([piece.type for piece in listed]),
        )

    @classmethod
    def of_columns(cls, texts: Sequence[str], scores: Iterable[float], types: bytes) -> Pieces:
        """The pieces with these texts, scores and types."""
        spelled = [text.encode(*_CODING) for text in texts]
        bounds = array("i", [0])
        bounds.frombytes(np.cumsum(list(map(len, spelled)), dtype=np.int32).tobytes())
        return cls(b"".join(spelled), bounds, array("d", scores), types)

    @property
    def sizes(self) -> NDArray[np.int32]:
        """The bytes of each piece."""
        return np.diff(np.frombuffer(self.bounds, dtype=np.int32))

    @property
    def score_column(self) -> NDArray[np.float64]:
        """The scores, as an array."""
        return np.array(self.scores)

    @property
    def spelled(self) -> list[bytes]:
        """The text of each piece in UTF-8."""
        text, bounds = self.text, self.bounds
        return [text[start:end] for start, end in pairwise(bounds)]

    @property
    def texts(self) -> list[str]:
        """The text of each piece."""
        return [text.decode(*_CODING) for text in self.spelled]

    @property
    def holes(self) -> list[int]:
        """The ids that stand for removed pieces, which SentencePiece passes over: UNUSED NULs."""
        return [i for i in self.of_types(PieceType.UNUSED) if self[i].text == "\0"]

    def of_types(self, *types: PieceType) -> list[int]:
        """The ids of the pieces of these types, in order."""
        wanted = np.isin(np.frombuffer(self.types, dtype=np.uint8), types)
        found: list[int] = np.flatnonzero(wanted).tolist()
        return found

    def find(self, text: str) -> list[int]:
        """The ids of the pieces with this text, in order; it is not empty."""
        sought, found, at = text.encode(*_CODING), [], -1
        while (at := self.text.find(sought, at + 1)) >= 0:
            place = bisect_right(self.bounds, at) - 1  # behind the empty pieces there
            if self.bounds[place] == at and self.bounds[place + 1] == at + len(sought):
                found.append(place)
        return found

    def update(self, digest: Callable[[bytes | memoryview], object]) -> None:
        """Hand all that the pieces are to a digest's ``update``, each column with its length."""
        for column in (self.text, memoryview(self.bounds), memoryview(self.scores), self.types):
            data = memoryview(column).cast("B")
            digest(b"%d:" % len(data))
            digest(data)

    def bare(self) -> Pieces:
        """The same columns, without the pieces that were made of them for others."""
        return Pieces(self.text, self.bounds, self.scores, self.types)

    def __len__(self) -> int:
        return len(self.types)

    @overload
    def __getitem__(self, index: int) -> Piece: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Piece, ...]: ...
    def __getitem__(self, index: int | slice) -> Piece | tuple[Piece, ...]:
        if isinstance(index, slice) or self._made is not None:
            return self._all()[index]
        kind = _TYPES[self.types[index]]
        place = index if index >= 0 else len(self.types) + index
        text = self.text[self.bounds[place] : self.bounds[place + 1]].decode(*_CODING)
        return Piece(text, self.scores[index], kind)

    def __iter__(self) -> Iterator[Piece]:
        return iter(self._all())

    def _all(self) -> tuple[Piece, ...]:
        """All of them, made once: whoever looks at all of them does so again."""
        if self._made is None:
            kinds = [_TYPES[kind] for kind in self.types]
            self._made = tuple(map(Piece, self.texts, self.scores, kinds))
        return self._made

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Pieces | tuple):
            return tuple(self) == tuple(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._all())

    def __reduce__(self) -> tuple[type[Pieces], tuple[bytes, array[int], array[float], bytes]]:
        return Pieces, (self.text, self.bounds, self.scores, self.types)
