"""The tables of a vocabulary on disk: see :mod:`corpora.vocabularies.tables_on_disk`.

A file is named by the vocabulary's fingerprint, the subject and :data:`FORMAT`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from corpora.vocabularies.tables_on_disk import SMALLEST, kept
from impls.kernels.layout import pack, unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

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
