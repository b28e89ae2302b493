"""Which parameters of a test are quick, and which are breadth that only ``make test-all`` needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable


def thorough_from(quick: int, values: Iterable[Any]) -> list[Any]:
    """All of these parameters, those after the first ``quick`` marked as ``thorough``.

    values: what ``pytest.mark.parametrize`` takes, tuples for several arguments.
    """
    every = list(values)
    return [*every[:quick], *map(thorough, every[quick:])]


def thorough(value: Any) -> Any:
    """One parameter, marked as ``thorough``."""
    given = value if isinstance(value, tuple) else (value,)
    return pytest.param(*given, marks=pytest.mark.thorough)
