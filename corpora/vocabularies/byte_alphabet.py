"""GPT-2's byte alphabet: one printable character for each byte, as tokenizer.json and GGUF spell.

Bytes that are printable Latin-1 characters other than the spaces and the soft hyphen stand for
themselves; the others, in order, are U+0100 and following.
"""

from __future__ import annotations

_PLAIN = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_OTHERS = [byte for byte in range(256) if byte not in _PLAIN]

CHARACTERS = tuple(
    chr(byte) if byte in _PLAIN else chr(0x100 + _OTHERS.index(byte)) for byte in range(256)
)
"""The character of each byte."""

_TO_CHARACTER = dict(enumerate(CHARACTERS))
_TO_BYTE = {ord(character): byte for byte, character in enumerate(CHARACTERS)}


def spell(token: bytes) -> str:
    """The bytes in the alphabet: ``b" a"`` is ``"Ġa"``."""
    return token.decode("latin-1").translate(_TO_CHARACTER)


def unspell(text: str) -> bytes | None:
    """The bytes that ``text`` spells, or None if a character is not of the alphabet."""
    try:
        return text.translate(_TO_BYTE).encode("latin-1") if _within(text) else None
    except UnicodeEncodeError:
        return None


def _within(text: str) -> bool:
    return all(ord(character) in _TO_BYTE for character in text)
