"""The results of the benchmark of false alarms on disk, a line of JSON a run."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tests.benchmarks.alarms.judging import Accusation, Judged
from tests.benchmarks.alarms.plan import Run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Result:
    """A run of the plan, what became of it, and how busy the machine was beside it.

    folder: where its output is, and its reports where anything was wrong. queue: the load average
    of the last minute when it ended, which tells whether others used the machine, too.
    """

    run: Run
    judged: Judged
    folder: str
    queue: float

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(line: str) -> Result:
        """The result of a line."""
        raw: dict[str, Any] = json.loads(line)
        fields = dict(raw["judged"])
        fields["accusations"] = tuple(
            Accusation(**{**one, "blamed": tuple(one["blamed"])}) for one in fields["accusations"]
        )
        fields["reasons"], fields["notes"] = tuple(fields["reasons"]), tuple(fields["notes"])
        return Result(Run(**raw["run"]), Judged(**fields), raw["folder"], raw["queue"])


def read(path: Path) -> Iterator[Result]:
    """Read the results so far; a last line cut short by a kill is passed over."""
    if not path.exists():
        return
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.endswith("\n"):
                yield Result.from_json(line)


def append(path: Path, result: Result) -> None:
    """Add a result, on a line of its own even after a line cut short."""
    whole = not path.exists() or path.read_bytes()[-1:] in (b"", b"\n")
    if not whole:
        text = path.read_bytes()
        path.write_bytes(text[: text.rfind(b"\n") + 1])
    with path.open("a", encoding="utf-8") as lines:
        lines.write(result.to_json() + "\n")
