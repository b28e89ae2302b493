"""``search.json``: a search as it stands, so that it goes on where it was left."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from harness.worst.candidates import Aim, Candidate
from harness.worst.deaths import Death
from harness.worst.search import Progress
from harness.writing import OutputError, write_whole, writing

if TYPE_CHECKING:
    from pathlib import Path

    from harness.worst.guide import Guide
    from harness.worst.search import Search

STATE = "search.json"


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
        """Give a search what is on disk; whether there was a state of the same search."""
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return False
        except (OSError, ValueError):
            data = None
        if isinstance(data, dict) and data.get("search") == self._identity:
            try:
                self._take(data, search, guide)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise OutputError(
                    f"{self.path}: damaged ({error}); remove it to begin anew"
                ) from error
            return True
        try:
            self.path.replace(self.path.with_name(STATE + ".old"))
        except OSError as error:
            raise OutputError(f"{self.path}: {error.strerror}; name another --out") from error
        return False

    def _take(self, data: dict[str, Any], search: Search, guide: Guide | None) -> None:
        candidates = [Candidate.from_dict(one) for one in data["candidates"]]
        places = [(Aim(aim), candidates[index]) for aim, index in data["places"]]
        deaths = [Death.from_dict(one) for one in data["deaths"]]
        progress = Progress(**data["progress"])
        if guide is not None:
            guide.restore(data["guide"])
        for aim, candidate in places:
            search.archive.put(aim, candidate)
        for death in deaths:
            search.deaths.add(death)
        search.deaths.count = data["died"]
        search.progress = progress
        self.seconds = data["seconds"]

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
