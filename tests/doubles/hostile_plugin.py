"""Implementations whose every text is hostile: ``--impl tests/doubles/hostile_plugin.py:Wrong``."""

from impls.interface import About, Rejected

HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07\x9b31m\b\r\nforged: PASS\n\x7f\x00\t\v\f"
    "\u202e\u2066\u200e\u200f\u061c\u200b\u2060\ufeff\u2028\x85\ud800[bold]:boom:[/bold]"
)
"""Escape sequences, line breaks, bidirectional controls, characters of no width, half a surrogate
pair, NUL, and markup of Rich."""


class Wrong:
    """Gives wrong ids, fails with a hostile message, and rejects with one."""

    about = About(
        name=f"wrong{HOSTILE}",
        version=f"1.0{HOSTILE}",
        language=HOSTILE,
        homepage=f"https://example.org/{HOSTILE}",
        issues=f"https://example.org/{HOSTILE}",
    )

    def supports(self, vocabulary, mode):
        return None if vocabulary.algorithm == "bpe" else HOSTILE

    def load(self, vocabulary):
        return self

    def encode(self, data, mode):
        if data.startswith(b"a"):
            raise RuntimeError(HOSTILE)
        if data.startswith(b"b"):
            raise Rejected(HOSTILE)
        return [0] * len(data)


class Unloadable(Wrong):
    """Fails to load with a hostile message."""

    about = About(name=f"unloadable{HOSTILE}", version=HOSTILE)

    def load(self, vocabulary):
        raise RuntimeError(HOSTILE)


class Unimportable:
    """Fails to say what it is, with a hostile message."""

    def __init__(self):
        raise RuntimeError(HOSTILE.replace("\n", "\r"))
