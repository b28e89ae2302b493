"""``search.json``: a search as it stands, so that it goes on where it was left."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, TypeVar

import msgspec

from harness.core import stored
from harness.core.writing import OutputError, write_whole, writing
from harness.studies.worst.candidates import Aim, Candidate
from harness.studies.worst.deaths import Death
from harness.studies.worst.search import Progress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from harness.studies.worst.guide import Guide
    from harness.studies.worst.search import Search

T = TypeVar("T")

STATE = "search.json"


Count = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]


class _Any(msgspec.Struct):
    """What every state has: of what search it is."""

    search: dict[str, Any]


class _Candidate(TypedDict):
    """See :meth:`Candidate.to_dict`; a sample is size, length, nanoseconds, count and memory."""

    pattern: dict[str, Any]
    origin: str
    samples: list[tuple[Count, Count, Count, Count, Count | None]]


class _Death(TypedDict):
    """See :meth:`Death.to_dict`."""

    pattern: dict[str, Any]
    length: Count
    size: Count
    status: str
    message: str


class _Guide(TypedDict):
    """See :meth:`Guide.to_dict`."""

    readings: Count
    most: list[tuple[Count, float, dict[str, Any]]]


class _Stored(msgspec.Struct):
    """All of a state, as :meth:`State.save` writes it."""

    seconds: Seconds
    progress: Progress
    candidates: list[_Candidate]
    places: list[tuple[Aim, Count]]
    deaths: list[_Death]
    died: Count
    guide: _Guide | None


def _at(place: str, read: Callable[[Any], T], value: object) -> T:
    """What a function makes of a value; a ValueError of it is told with the place."""
    try:
        return read(value)
    except KeyError as error:
        raise ValueError(f"{place}: there is no {error}") from error
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


class State:
    """The state of one search in a folder.

    identity: what decides the search. A state of another one is kept beside it as ``.old``.
    seconds: how long was searched, in all sittings.
    """

    def __init__(self, folder: Path, identity: dict[str, Any]) -> None:
        self.path = folder / STATE
        self.seconds = 0.0
        self._identity = identity
        with writing(f"--out {folder}"):
            folder.mkdir(parents=True, exist_ok=True)

    def restore(self, search: Search, guide: Guide | None) -> bool:
        """Give a search what is on disk; whether there was a state of the same search.

        Raises OutputError, with the field at fault, for what is no state of a search.
        """
        try:
            content = stored.read(self.path)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise OutputError(f"{self.path}: {error.strerror}; name another --out") from error
        try:
            raw = stored.parsed(content)
            if stored.typed(raw, _Any).search != self._identity:
                self._put_aside()
                return False
            self._take(stored.typed(raw, _Stored), search, guide)
        except ValueError as error:
            raise stored.damaged(self.path, str(error)) from error
        return True

    def _put_aside(self) -> None:
        try:
            self.path.replace(self.path.with_name(STATE + ".old"))
        except OSError as error:
            raise OutputError(f"{self.path}: {error.strerror}; name another --out") from error

    def _take(self, data: _Stored, search: Search, guide: Guide | None) -> None:
        """Give a search what was stored: all of it, or, where a part is wrong, nothing."""
        candidates = [
            _at(f"candidates[{i}]", Candidate.from_dict, one)
            for i, one in enumerate(data.candidates)
        ]
        deaths = [_at(f"deaths[{i}]", Death.from_dict, one) for i, one in enumerate(data.deaths)]
        for number, (_, index) in enumerate(data.places):
            if index >= len(candidates):
                raise ValueError(f"places[{number}][1]: there is no candidate {index}")
        if guide is not None:
            if data.guide is None:
                raise ValueError("guide: is missing")
            _at("guide", guide.restore, data.guide)
        for aim, index in data.places:
            search.archive.put(aim, candidates[index])
        for death in deaths:
            search.deaths.add(death)
        search.deaths.count = data.died
        search.progress = data.progress
        self.seconds = data.seconds

    def save(self, search: Search, guide: Guide | None, seconds: float) -> None:
        """Write all of it; the file is whole at any time. Raises OutputError."""
        indices: dict[int, int] = {}
        candidates: list[dict[str, Any]] = []
        places = []
        for aim, candidate in search.archive:
            if id(candidate) not in indices:
                indices[id(candidate)] = len(candidates)
                candidates.append(candidate.to_dict())
            places.append([aim.value, indices[id(candidate)]])
        self.seconds = seconds
        data = {
            "search": self._identity,
            "seconds": seconds,
            "progress": asdict(search.progress),
            "candidates": candidates,
            "places": places,
            "deaths": [death.to_dict() for death in search.deaths.all()],
            "died": search.deaths.count,
            "guide": None if guide is None else guide.to_dict(),
        }
        write_whole(self.path, json.dumps(data))
