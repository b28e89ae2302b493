"""One deliberate mistake a class, apart from how the encoder is plugged in.

A mutant is asked in place of a right encoder, which it is given, and is right in everything but one
thing. ``mutants`` plug mutants in in process, ``program.py`` over the stdio protocol. The mutants
of the protocol itself (a wrong ``seq``, ..) are in ``program.py``.
"""

from __future__ import annotations

import heapq
import os
import random
import signal
import time
from collections.abc import Callable

Right = Callable[[bytes], list[int]]
Merges = dict[tuple[int, int], tuple[int, int]]

TRIGGER = "\u00e9".encode()
"""The mutants that end a process wait for this character, which is frequent enough to be met within
seconds."""

TURN = 500
"""Bytes up to which ``Above500`` is right."""


class Correct:
    """No mutant: a canary on which nothing may be found."""

    def __init__(self, tokens: list[bytes | None], merges: Merges) -> None:
        self.tokens = tokens
        self.merges = merges

    def encode(self, data: bytes, right: Right) -> list[int]:
        """The ids of ``data``; ``right`` gives the right ones."""
        return right(data)


class AlwaysWrong(Correct):
    """Appends a token to everything, even to the empty text."""

    def encode(self, data: bytes, right: Right) -> list[int]:
        return [*right(data), 0]


class OneToken(Correct):
    """One id of the vocabulary, in its middle, comes out as the one before it."""

    def encode(self, data: bytes, right: Right) -> list[int]:
        wrong = wrong_id(self.tokens)
        return [wrong - 1 if token_id == wrong else token_id for token_id in right(data)]


def wrong_id(tokens: list[bytes | None]) -> int:
    """The id that ``OneToken`` gets wrong."""
    return len(tokens) // 2


class Ties(Correct):
    """Among equal ranks the rightmost pair is merged first, not the leftmost."""

    def __init__(self, tokens: list[bytes | None], merges: Merges) -> None:
        super().__init__(tokens, merges)
        self.single = {token: i for i, token in enumerate(tokens) if token and len(token) == 1}

    def encode(self, data: bytes, right: Right) -> list[int]:
        ids = [self.single[data[i : i + 1]] for i in range(len(data))]
        size = len(ids)
        after, before = list(range(1, size + 1)), list(range(-1, size - 1))
        heap: list[tuple[int, int, tuple[int, int]]] = []

        def offer(place: int) -> None:
            pair = (ids[place], ids[after[place]])
            if pair in self.merges:
                heapq.heappush(heap, (self.merges[pair][0], -place, pair))

        for place in range(size - 1):
            offer(place)
        while heap:
            _, place, pair = heapq.heappop(heap)
            place = -place
            gone = after[place]
            if gone == size or (ids[place], ids[gone]) != pair:
                continue
            ids[place], ids[gone], after[place] = self.merges[pair][1], -1, after[gone]
            if after[place] < size:
                before[after[place]] = place
                offer(place)
            if before[place] >= 0:
                offer(before[place])
        return [token_id for token_id in ids if token_id >= 0]


class Above500(Correct):
    """Works on a buffer of 500 bytes: what is beyond it is encoded by itself."""

    def encode(self, data: bytes, right: Right) -> list[int]:
        return right(data) if len(data) <= TURN else right(data[:TURN]) + right(data[TURN:])


class Leak(Correct):
    """Forgets to clear its buffer after a long input: the next one begins with what is left."""

    left: tuple[int, ...] = ()

    def encode(self, data: bytes, right: Right) -> list[int]:
        ids = right(data)
        given = [*self.left, *ids]
        self.left = tuple(ids[-1:]) if len(data) > 40 else ()
        return given


class Flaky(Correct):
    """One answer in a hundred lacks its last token."""

    def __init__(self, tokens: list[bytes | None], merges: Merges) -> None:
        super().__init__(tokens, merges)
        self.dice = random.Random(1)

    def encode(self, data: bytes, right: Right) -> list[int]:
        ids = right(data)
        return ids[:-1] if self.dice.random() < 0.01 else ids


class Floats(Correct):
    """Ids as floats."""

    def encode(self, data: bytes, right: Right) -> list[int]:
        return [float(token_id) for token_id in right(data)]  # type: ignore[misc]


class Claims(Correct):
    """Claims to decode and to give offsets, and does neither; see who plugs it in."""


class AtTrigger(Correct):
    """Base of those that do something on one kind of input."""

    def encode(self, data: bytes, right: Right) -> list[int]:
        if TRIGGER in data:
            self.go_wrong()
        return right(data)

    def go_wrong(self) -> None:
        """What it does."""


class Exit(AtTrigger):
    """Ends the process, saying why on standard error."""

    def go_wrong(self) -> None:
        os.write(2, b"cannot go on\n")
        os._exit(3)


class Segfault(AtTrigger):
    """Reads where there is nothing."""

    def go_wrong(self) -> None:
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGSEGV)
        time.sleep(10)


class Abort(AtTrigger):
    """Gives up as C++ does on an exception that nobody catches."""

    def go_wrong(self) -> None:
        os.abort()


class Hang(AtTrigger):
    """Never answers."""

    def go_wrong(self) -> None:
        while True:
            time.sleep(60)


class Hog(AtTrigger):
    """Asks for 64 GiB at once."""

    def go_wrong(self) -> None:
        bytearray(64 << 30)


class Grow(AtTrigger):
    """Takes ever more memory, in small pieces."""

    def go_wrong(self) -> None:
        taken = []
        while True:
            taken.append(bytearray(1 << 20))


MUTANTS: dict[str, type[Correct]] = {
    "correct": Correct,
    "always-wrong": AlwaysWrong,
    "one-token": OneToken,
    "ties": Ties,
    "above-500": Above500,
    "leak": Leak,
    "flaky": Flaky,
    "floats": Floats,
    "claims": Claims,
    "exit": Exit,
    "segfault": Segfault,
    "abort": Abort,
    "hang": Hang,
    "hog": Hog,
    "grow": Grow,
}
