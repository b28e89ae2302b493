"""The tables of a vocabulary on disk: see :mod:`corpora.vocabularies.tables_on_disk`.

A file is named by the vocabulary's fingerprint, the subject and :data:`FORMAT`; that of pieces by
a digest of these, as a fingerprint takes longer, and the subject.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from corpora.vocabularies.tables_on_disk import SMALLEST, kept, kept_arrays
from impls.kernels.layout import pack, unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from corpora.vocabularies.pieces import Pieces

FORMAT = 8
"""The version of the tables, of all subjects together: raise it with every change of what they
mean."""


class Fingerprinted(Protocol):
    """What tells the tables of a vocabulary from all others: the vocabulary itself, for one."""

    @property
    def fingerprint(self) -> str:
        """See :attr:`corpora.vocabularies.model.Vocabulary.fingerprint`."""
        ...

    def __len__(self) -> int: ...


def tables(
    vocabulary: Fingerprinted, subject: str, build: Callable[[], Mapping[int, NDArray[np.int32]]]
) -> dict[int, NDArray[np.int32]]:
    """The sections of one subject (``"tokens"``), from the cache or from ``build``."""
    if len(vocabulary) < SMALLEST:
        return dict(build())
    name = f"{vocabulary.fingerprint[:40]}-{subject}-{FORMAT}"
    return unpack(kept(name, lambda: pack(build())))


_ROOT = Path(__file__).parents[2]

READING = (
    "corpora/vocabularies/merges.py",
    "corpora/vocabularies/pieces.py",
    "corpora/vocabularies/sentencepiece_model.py",
)
"""What has a part in the making of all tables of pieces, besides the folder of the algorithm."""


@cache
def source_of(*places: str) -> bytes:
    """A digest of the source by which tables are made: of modules, or of all in a folder."""
    digest = hashlib.sha256()
    for place in places:
        path = _ROOT / place
        for one in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(hashlib.sha256(one.read_bytes()).digest())
    return digest.digest()


def piece_tables(
    pieces: Pieces,
    subject: str,
    made_of: Sequence[object],
    make: Callable[[], Sequence[NDArray[np.generic]]],
    *places: str,
) -> list[NDArray[Any]]:
    """The arrays of one subject (``"spm"``) that are made of pieces; on disk if these are many.

    made_of: what else they are made of: numbers, texts, and dataclasses of these and of sets.
    places: the source by which they are made, as of :func:`source_of`.
    """
    name = ""
    if len(pieces) >= SMALLEST:
        digest = hashlib.sha256(repr([*map(_stable, made_of)]).encode())
        pieces.update(digest.update)
        name = f"{digest.hexdigest()[:40]}-{subject}"
    return kept_arrays(name, make, source_of(*places, *READING))


def _stable(value: object) -> object:
    """What is told apart by its ``repr``, which that of a set is not: its order is any."""
    if hasattr(value, "__dataclass_fields__"):
        return [(field.name, _stable(getattr(value, field.name))) for field in fields(value)]  # type: ignore[arg-type]
    return sorted(value) if isinstance(value, frozenset) else value
