"""The tables of a vocabulary on disk: see :mod:`corpora.vocabularies.tables_on_disk`.

A file is named by the subject and a digest of all that its arrays are made of.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.model import Vocabulary
from corpora.vocabularies.pieces import Pieces
from corpora.vocabularies.tables_on_disk import SMALLEST, kept_arrays

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

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


def arrays_of(
    made_of: Sequence[Any],
    subject: str,
    make: Callable[[], Sequence[NDArray[np.generic]]],
    *places: str,
) -> list[NDArray[Any]]:
    """The arrays of one subject (``"spm"``), kept on disk where there is much to make them of.

    made_of: all that they are made of: pieces or a vocabulary first, then numbers, texts, and
    dataclasses of these and of sets. places: the source by which they are made, as of
    :func:`source_of`.
    """
    name = f"{digest_of(made_of)}-{subject}" if len(made_of[0]) >= SMALLEST else ""
    return kept_arrays(name, make, source_of(*places, *READING))


def digest_of(made_of: Sequence[Any]) -> str:
    """What the name of a file begins with; see :func:`arrays_of` for what arrays are made of."""
    return hashlib.sha256(repr([*map(_told_apart, made_of)]).encode()).hexdigest()[:40]


def _told_apart(value: Any) -> object:
    """What is told apart by its ``repr``, which that of a set is not: its order is any."""
    if isinstance(value, Pieces):
        digest = hashlib.sha256()
        value.update(digest.update)
        return digest.hexdigest()
    if isinstance(value, Vocabulary):
        return value.fingerprint
    if is_dataclass(value):
        return [(field.name, _told_apart(getattr(value, field.name))) for field in fields(value)]
    return sorted(value) if isinstance(value, frozenset) else value
