"""Names of files for what others have named: safe in every file system and every address."""

from __future__ import annotations

import hashlib
import re

PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
"""Names that are their own file names. Capital letters are not, as some file systems drop the
difference."""
OTHER = re.compile(r"[^a-z0-9_-]+")
RANDOM = "random:"
"""The names and sources of random vocabularies begin so."""


def slug(name: str) -> str:
    """The name itself where it is plain, else its plain letters and a hash of all of it."""
    if PLAIN.fullmatch(name) and not name.endswith("."):
        return name
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    letters = OTHER.sub("-", name.lower()).strip("-")[:60]
    return f"{letters}--{mark}" if letters else f"n--{mark}"


def family_of(name: str, source: str = "") -> str:
    """The vocabulary that a page is about: all random ones of a kind are one.

    ``random:bpe:17`` is one of the ``random bpe`` vocabularies; every other stands for itself.
    """
    for text in (source, name):
        if text.startswith(RANDOM):
            kind = text.removeprefix(RANDOM).partition(":")[0]
            return f"random {kind}" if kind else "random"
    return name
