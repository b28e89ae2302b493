"""A pattern: prefix, pumps, suffix. What a search can vary, write to a file, and show in a line.

A family is any function of a size; a pattern is one that is data. Its pumps share the room between
the ends; each says its units over and over, or draws them at random without end.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from corpora.families.recipes import MENDED, SEED, VARIANTS, seed_of, whole
from corpora.generators.material import is_text
from corpora.vocabularies.reading import fault_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST_UNITS = 256
"""The largest number of units of a pump: each draw is a byte."""

WIDEST = 4
"""Bytes of the longest character."""


@dataclass(frozen=True, slots=True)
class Pump:
    """What fills the room. units: none of them empty. drawn: at random, else in turn."""

    units: tuple[bytes, ...]
    drawn: bool = False

    def __post_init__(self) -> None:
        if not 0 < len(self.units) <= MOST_UNITS or not all(self.units):
            message = f"a pump needs up to {MOST_UNITS} units, none of them empty"
            raise ValueError(message)

    @property
    def varies(self) -> bool:
        """Whether another seed gives another filling."""
        return self.drawn and len(set(self.units)) > 1

    @property
    def ascii(self) -> bool:
        """Whether any cut leaves whole characters."""
        return all(map(bytes.isascii, self.units))

    def fill(self, room: int, seed: int) -> bytes:
        """``room`` bytes, the last unit cut where it does not fit."""
        joined, count = b"".join(self.units), len(self.units)
        if not self.drawn:
            return (joined * (max(0, room) // len(joined) + 1))[: max(0, room)]
        rng, data = random.Random(seed), b""
        table = [self.units[byte % count] for byte in range(256)]
        while len(data) < room:
            # In steps of four, as a generator's bytes come: a draw more changes none before it.
            more = rng.randbytes(4 + (room - len(data)) * count // len(joined) // 4 * 4)
            if len(joined) == count:
                data += more.translate(b"".join(table))
            else:
                data += b"".join(map(table.__getitem__, more))
        return data[: max(0, room)]

    def expression(self, share: str, *, text: bool) -> str:
        """One line of Python for :meth:`fill`; text: cut characters are dropped."""
        joined, count = b"".join(self.units), len(self.units)
        draws = f"for i in random.Random({SEED}).randbytes(4 * n)"
        if not self.drawn:
            filled = f"({joined!r} * n)"
        elif len(joined) == count:
            filled = f"bytes({joined!r}[i % {count}] {draws})"
        else:
            filled = f"b''.join({[*self.units]!r}[i % {count}] {draws})"
        return f"{filled}[:{share}]{MENDED if text and not self.ascii else ''}"


class _Hex(msgspec.Struct, forbid_unknown_fields=True):
    """Bytes that are no text."""

    hex: str


class _Pump(msgspec.Struct, forbid_unknown_fields=True):
    units: list[str | _Hex]
    drawn: bool = False


class _Pattern(msgspec.Struct, forbid_unknown_fields=True):
    pumps: Annotated[list[_Pump], msgspec.Meta(min_length=1)]
    prefix: str | _Hex = ""
    suffix: str | _Hex = ""


@dataclass(frozen=True, slots=True)
class Pattern:
    """``prefix + pump + .. + suffix`` at any size: the pumps have equal shares of the room."""

    pumps: tuple[Pump, ...]
    prefix: bytes = b""
    suffix: bytes = b""

    def __post_init__(self) -> None:
        if not self.pumps:
            message = "a pattern needs a pump"
            raise ValueError(message)

    @property
    def text(self) -> bool:
        """Whether every part is valid UTF-8, so that the inputs are as well."""
        units = (unit for pump in self.pumps for unit in pump.units)
        return all(map(is_text, (self.prefix, self.suffix, *units)))

    @property
    def weight(self) -> int:
        """Bytes that describe it: what minimising makes smaller."""
        return len(self.prefix) + sum(len(b"".join(p.units)) for p in self.pumps) + len(self.suffix)

    def make(self, size: int, variant: int = 0) -> bytes:
        """The input of ``size`` bytes, less what a whole character or a variant takes.

        Another variant is a fresh input of the same cost, so that what is kept of earlier inputs
        does not help: other draws, or a few bytes less.
        """
        text, count = self.text, len(self.pumps)
        room = size - len(self.prefix) - len(self.suffix)
        if not all(pump.varies for pump in self.pumps):
            ascii_only = all(pump.ascii for pump in self.pumps)
            step = 1 if ascii_only else WIDEST * count  # of each, a character less
            room -= variant % VARIANTS * step
        room = max(0, room)
        shares = [room // count] * (count - 1) + [room - room // count * (count - 1)]
        seed = seed_of(size, variant)
        parts = [pump.fill(share, seed) for pump, share in zip(self.pumps, shares, strict=True)]
        data = self.prefix + b"".join(map(whole, parts) if text else parts) + self.suffix
        # Too small for its ends: they are cut as well.
        return whole(data[:size]) if text and len(data) > size else data[:size]

    def expression(self) -> str:
        """One line of Python with ``n`` free (and ``random`` imported): ``make(n)``.

        For any n with room for both ends.
        """
        fixed, count, text = len(self.prefix) + len(self.suffix), len(self.pumps), self.text
        room = f"(n - {fixed})" if fixed else "n"
        share = f"{room} // {count}"
        shares = [share] * (count - 1)
        shares.append(room if count == 1 else f"{room} - {count - 1} * ({share})")
        pumps = [p.expression(s, text=text) for p, s in zip(self.pumps, shares, strict=True)]
        ends = [repr(end) if end else "" for end in (self.prefix, self.suffix)]
        return " + ".join(filter(None, (ends[0], *pumps, ends[1])))

    def to_dict(self) -> dict[str, Any]:
        """For JSON and TOML: bytes that are text as such, others as ``{"hex": ..}``."""
        ends = {"prefix": self.prefix, "suffix": self.suffix}
        pumps = [{"units": [*map(_said, p.units)], "drawn": p.drawn} for p in self.pumps]
        return {"pumps": pumps} | {key: _said(end) for key, end in ends.items() if end}

    @classmethod
    def from_dict(cls, data: Mapping[Any, Any]) -> Pattern:
        """The pattern of :meth:`to_dict`. Raises ValueError with what is wrong."""
        try:
            read = msgspec.convert(data, _Pattern)
        except msgspec.ValidationError as error:
            raise ValueError(fault_of(error)) from error
        pumps = (Pump(tuple(map(_meant, pump.units)), pump.drawn) for pump in read.pumps)
        return cls(tuple(pumps), _meant(read.prefix), _meant(read.suffix))


def repeated(*units: bytes, prefix: bytes = b"", suffix: bytes = b"") -> Pattern:
    """These units in turn, between the ends."""
    return Pattern((Pump(units),), prefix, suffix)


def drawn(units: Iterable[bytes]) -> Pattern:
    """These units at random, without ends."""
    return Pattern((Pump(tuple(units), drawn=True),))


def _said(data: bytes) -> str | dict[str, str]:
    return data.decode() if is_text(data) else {"hex": data.hex()}


def _meant(value: str | _Hex) -> bytes:
    return value.encode() if isinstance(value, str) else bytes.fromhex(value.hex)
