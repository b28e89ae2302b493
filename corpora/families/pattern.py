"""A pattern: prefix, pumps, suffix. What a search can vary, write to a file, and show in a line.

A family is any function of a size; a pattern is one that is data. Its pumps share the room between
the ends; each says its units over and over, or draws them at random without end.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from corpora.families.recipes import MENDED, SEED, VARIANTS, WIDEST, is_text, seed_of, whole
from corpora.vocabularies.reading import shown

if TYPE_CHECKING:
    from collections.abc import Mapping


MOST_UNITS = 256
"""A pump has so many units at the most, as each draw is a byte."""


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

    def fill(self, room: int, seed: int) -> bytes:
        """``room`` bytes, the last unit cut where it does not fit."""
        if room <= 0:
            return b""
        if not self.drawn:
            once = b"".join(self.units)
            return (once * (room // len(once) + 1))[:room]
        count = len(self.units)
        table = [self.units[byte % count] for byte in range(MOST_UNITS)]
        # In steps of four, as a generator's bytes come: then a draw more changes none before it.
        rng, drawn, length = random.Random(seed), b"", 0
        while length < room:
            more = rng.randbytes(4 + (room - length) * count // sum(map(len, self.units)) // 4 * 4)
            drawn += b"".join(map(table.__getitem__, more))
            length = len(drawn)
        return drawn[:room]


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
        return is_text(self.prefix, self.suffix, *units)

    @property
    def weight(self) -> int:
        """Bytes that describe it: what minimising makes smaller."""
        units = sum(len(unit) for pump in self.pumps for unit in pump.units)
        return len(self.prefix) + units + len(self.suffix)

    def make(self, size: int, variant: int = 0) -> bytes:
        """The input of ``size`` bytes, less what a whole character or a variant takes.

        Another variant is a fresh input of the same cost, so that what is kept of earlier inputs
        does not help: other draws, or a few bytes less.
        """
        text = self.text
        room = max(0, size - len(self.prefix) - len(self.suffix))
        if not all(pump.varies for pump in self.pumps):
            ascii_only = all(unit.isascii() for pump in self.pumps for unit in pump.units)
            step = 1 if ascii_only else WIDEST * len(self.pumps)  # of each, a character less
            room = max(0, room - variant % VARIANTS * step)
        share = room // len(self.pumps)
        shares = [share] * (len(self.pumps) - 1) + [room - share * (len(self.pumps) - 1)]
        parts = [
            pump.fill(part, seed_of(size, variant))
            for pump, part in zip(self.pumps, shares, strict=True)
        ]
        if text:
            parts = [whole(part) for part in parts]
        data = self.prefix + b"".join(parts) + self.suffix
        if len(data) <= size:
            return data
        return whole(data[:size]) if text else data[:size]

    def expression(self) -> str:
        """One line of Python with ``n`` free (and ``random`` imported): ``make(n)``.

        For any n with room for both ends.
        """
        fixed = len(self.prefix) + len(self.suffix)
        room = f"(n - {fixed})" if fixed else "n"
        text = self.text
        parts = [repr(self.prefix)] if self.prefix else []
        for index, pump in enumerate(self.pumps):
            count = len(self.pumps)
            share = room if count == 1 else f"{room} // {count}"
            if index == count - 1 and count > 1:
                share = f"{room} - {count - 1} * ({room} // {count})"
            parts.append(_filled(pump, share, text))
        if self.suffix:
            parts.append(repr(self.suffix))
        return " + ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """For JSON and TOML: bytes that are text as such, others as ``{"hex": ..}``."""
        found: dict[str, Any] = {"prefix": _said(self.prefix)} if self.prefix else {}
        found["pumps"] = [
            {"units": [_said(unit) for unit in pump.units], "drawn": pump.drawn}
            for pump in self.pumps
        ]
        return found | ({"suffix": _said(self.suffix)} if self.suffix else {})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Pattern:
        """The pattern of :meth:`to_dict`. Raises ValueError with what is wrong."""
        unknown = set(data) - {"prefix", "pumps", "suffix"}
        if unknown:
            message = f"unknown key {shown(min(unknown))}"
            raise ValueError(message)
        pumps = data.get("pumps")
        if not isinstance(pumps, list) or not pumps:
            message = "'pumps' is no list with a pump"
            raise ValueError(message)
        return cls(
            tuple(_pump(pump) for pump in pumps),
            _meant(data.get("prefix", ""), "prefix"),
            _meant(data.get("suffix", ""), "suffix"),
        )


def repeated(*units: bytes) -> Pattern:
    """These units in turn, without ends."""
    return Pattern((Pump(units),))


def _filled(pump: Pump, share: str, text: bool) -> str:
    if pump.drawn:
        units = ", ".join(map(repr, pump.units))
        drawn = f"random.Random({SEED}).randbytes(4 * n)"
        whole = f"b''.join([{units}][i % {len(pump.units)}] for i in {drawn})"
    else:
        whole = f"({b''.join(pump.units)!r} * n)"
    cut = f"{whole}[:{share}]"
    needs_mending = text and not all(unit.isascii() for unit in pump.units)
    return f"{cut}{MENDED}" if needs_mending else cut


def _said(data: bytes) -> str | dict[str, str]:
    return data.decode() if is_text(data) else {"hex": data.hex()}


def _pump(data: Any) -> Pump:
    if not isinstance(data, dict) or not isinstance(data.get("units"), list):
        message = "a pump has no list 'units'"
        raise ValueError(message)
    drawn = data.get("drawn", False)
    if not isinstance(drawn, bool):
        message = f"'drawn' is {shown(drawn)}, not true or false"
        raise ValueError(message)
    return Pump(tuple(_meant(unit, "units") for unit in data["units"]), drawn)


def _meant(value: Any, key: str) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict) and isinstance(value.get("hex"), str):
        return bytes.fromhex(value["hex"])
    message = f"{key!r} is {shown(value)}, neither text nor {{hex = ..}}"
    raise ValueError(message)
