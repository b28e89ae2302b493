"""How the stages of a pipeline are shown (:class:`impls.interface.Step`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

NORMALIZATION = "normalization"
SEGMENTATION = "segmentation"
"""The stage at which the same text is cut otherwise."""
IDS = "ids"
"""The last stage; its value is what the implementation returns."""


def literal(data: bytes) -> str:
    """Bytes as a Python literal: a text's where they are UTF-8, with what is invisible escaped."""
    try:
        return repr(data.decode())
    except UnicodeDecodeError:
        return repr(data)


def shown_parts(parts: Iterable[bytes]) -> str:
    """Parts of a text, each as a literal."""
    return " ".join(literal(part) for part in parts)


def shown_ids(ids: Iterable[int]) -> str:
    """Ids, spaced."""
    return " ".join(map(str, ids))
