"""A question to a healer as a worker asks it: :func:`~harness.core.messages.healing_numbers`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.interface import Heals, Mode


def healed(
    encoder: Heals, data: bytes, numbers: tuple[int, ...], mode: Mode
) -> tuple[Sequence[int], bytes]:
    """What ``heal`` gives: the ids as they came, and what is left over."""
    size = numbers[0]
    recent, length, strings = numbers[1 : size + 1], numbers[size + 1], numbers[size + 2]
    forced, place = data[:length], length
    allowed: list[bytes] = []
    for one in numbers[size + 3 :]:
        allowed.append(data[place : place + one])
        place += one
    answer = encoder.heal(forced, list(recent), None if strings < 0 else allowed, mode)
    if not isinstance(answer, tuple) or len(answer) != 2:
        message = "heal must return the ids and the bytes left over"
        raise TypeError(message)
    ids, leftover = answer
    if not isinstance(leftover, bytes):
        message = f"heal left over a {type(leftover).__name__}, not bytes"
        raise TypeError(message)
    return ids, leftover
