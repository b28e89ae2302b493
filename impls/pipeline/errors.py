"""What is not defined here."""

from __future__ import annotations


class Undefined(Exception):
    """A file has something that has no definition here; the message names it."""
