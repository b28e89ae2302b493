"""Events of `tokgate bench`."""

from __future__ import annotations

from typing import TypedDict

from harness.events.base import Event, event

MEBIBYTE = 1 << 20

THREADS = "threads"
"""The mode in which a call may use several threads."""


@event
class BenchStarted(Event):
    """A measurement of speed begins.

    texts: name to what it is made of. sizes: bytes asked for. modes: labels. cold, rounds: how
    often each was to be measured; rounds 0: as many as the time holds. base: by mode, the
    implementations that ratios refer to, the first that was measured. document: bytes of each text
    of a batch, 0 where no mode has any. threads: of the mode that has several.
    """

    time: str
    command: str
    seed: int
    rounds: int
    cold: int
    sizes: list[int]
    texts: dict[str, str]
    modes: list[str]
    base: dict[str, list[str]]
    versions: dict[str, str]
    homepages: dict[str, str]
    cpu: str
    machine: str
    confinement: str = ""
    document: int = 0
    threads: int = 1


@event
class Benched(Event):
    """One cell: an implementation on one kind of text at one size, in one mode.

    row: the implementation's name, with `` count`` where it only counts ids. bytes: of the text,
    which may end up to three bytes below ``size``. status: ``measured``, ``skipped``, ``failed``,
    ``unsupported``; note: why, or what to know. answer: ``equal`` to the ids of ``trusted``,
    ``different``, ``by-law`` (its ids are others by design) or ``unchecked``. timings: one
    :class:`Timing` each, in the order of measuring.
    """

    vocabulary: str
    text: str
    mode: str
    row: str
    implementation: str
    size: int
    bytes: int
    status: str
    note: str
    answer: str
    trusted: str
    tokens: int | None
    timings: list[Timing]

    def speeds(self, kind: str, *, waiting: bool = False) -> dict[int, float]:
        """MiB a second of a kind, by round; empty where it was not measured.

        Of CPU time, so that a busy machine does not count; of the time by the clock on the wall
        for several threads, which do not save the processors any time, and where ``waiting``.
        """
        wall = waiting or self.mode == THREADS
        return {
            one["round"]: one["bytes"] / MEBIBYTE / max(one["wall"] if wall else one["cpu"], 1e-9)
            for one in self.timings
            if one["kind"] == kind
        }


class Timing(TypedDict):
    """One look at the clock. kind: ``cold``, ``warm`` or ``fresh``; round: from 0.

    cpu, wall: seconds that ``bytes`` bytes took; cpu is the time of the whole process. passes: how
    often those bytes were encoded between the two looks.
    """

    kind: str
    round: int
    bytes: int
    passes: int
    cpu: float
    wall: float


@event
class VocabularyOpened(Event):
    """What it took an implementation to open a vocabulary.

    file: the name or the kind of the file that it was given. text, bytes: what was encoded at the
    end. status, note: as in :class:`Benched`. openings: one :class:`Opening` each, in the order of
    measuring.
    """

    vocabulary: str
    implementation: str
    file: str
    text: str
    bytes: int
    status: str
    note: str
    openings: list[Opening]


class Opening(TypedDict):
    """One process that opened a vocabulary. kind: ``cold`` where no tables were on disk, ``warm``.

    code, cpu, wall: seconds; the others are bytes. What each is, ``harness.core.messages.Opened``
    says.
    """

    kind: str
    round: int
    code: float
    cpu: float
    wall: float
    before: int
    own_before: int
    after: int
    own_after: int
    worked: int
    own_worked: int
