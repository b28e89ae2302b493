"""What is not defined here."""

from __future__ import annotations

from typing import Any


class Undefined(Exception):
    """A file has something that has no definition here; the message names it."""


def field_of(step: dict[str, Any], field: str) -> str:
    """What a step says in a field. Raises Undefined where that is no text."""
    value = step.get(field)
    if not isinstance(value, str):
        raise Undefined(f"a step {step['type']} without its {field}")
    return value
