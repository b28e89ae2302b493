"""Plug-ins whose mistake is how long they take, or how much memory: what a gate must name.

They are given to ``tokgate run`` by the path of this file: see ``false_alarms.py``.
"""

import time

from harness.studies.selftest.program import TRIGGER
from tests.mutants.in_process import Plain

SLEEP_SECONDS = 30.0

SLOW_CALL_SECONDS, SLOW_BYTE_SECONDS = 1e-3, 3e-6
"""CPU seconds of the slow plug-in for a call, and for a byte more: tiktoken takes 10 microseconds
for a call, and encodes some 30 MB a second."""

LEAKED_BYTES = 4 << 20
"""Memory that the leaking plug-in keeps after each call: the limit of 1 GiB is reached after some
two hundred inputs, at none that is special."""


class Busy(Plain):
    """Computes for ever on some inputs."""

    kind = "busy"

    def wrong(self, data, right):
        while TRIGGER in data:
            pass
        return right.encode(data)


class Late(Plain):
    """Answers rightly, on some inputs after half a minute of sleep."""

    kind = "late"

    def wrong(self, data, right):
        if TRIGGER in data:
            time.sleep(SLEEP_SECONDS)
        return right.encode(data)


class Leaks(Plain):
    """Keeps some memory after each call, so that it dies sooner or later, on any input."""

    kind = "leaks"

    def __init__(self):
        self.leaked = []

    def wrong(self, data, right):
        # Not zeros: pages of zeros that nobody has written to take no memory.
        self.leaked.append(b"x" * LEAKED_BYTES)
        return right.encode(data)


class Slow(Plain):
    """Right, and a hundred times slower than tiktoken on every input."""

    kind = "slow"

    def wrong(self, data, right):
        # By the clock of this thread, so that busy processes beside it make it no slower still.
        end = time.thread_time() + SLOW_CALL_SECONDS + SLOW_BYTE_SECONDS * len(data)
        ids = right.encode(data)
        while time.thread_time() < end:
            pass
        return ids
