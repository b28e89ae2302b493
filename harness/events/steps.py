"""Events of studies that are made of steps, such as `tokgate bench`."""

from __future__ import annotations

from typing import Any

from harness.events.base import Event, event


@event
class StudyStarted(Event):
    """A study of steps begins; this is the first line of its record.

    study: its name, such as ``bench``. identity: what must be the same for a record to go on.
    """

    study: str
    identity: dict[str, Any]


@event
class StepDone(Event):
    """A step was done whole, so that whoever goes on with the record does not do it again.

    seconds: how long it took.
    """

    step: str
    seconds: float


@event
class Searched(Event):
    """What a search for the worst input came to.

    report: the whole of ``worst.json``; see ``harness/studies/worst/results.py``.
    """

    report: dict[str, Any]


@event
class Compared(Event):
    """What a comparison of two vocabularies came to.

    report: the whole of ``compare.json``; see ``harness/studies/compare/results.py``.
    """

    report: dict[str, Any]


@event
class MatchPlayed(Event):
    """A library was compared with the reference on one vocabulary, in a run of its own.

    folder: of that run, below the folder of this record. refusal: why the library does not run the
    vocabulary, so that there is no run; empty where there is one.
    """

    library: str
    version: str
    homepage: str
    vocabulary: str
    reference: str
    folder: str
    refusal: str = ""
    cases: int = 0
