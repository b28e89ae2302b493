"""Matches of a survey as units of work: each is a whole run, whose folder travels back.

A match that is there is not played again, so that a survey that was cut off goes on with those that
are missing, wherever they are played. Its record comes last: a folder without one is no match.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.vocabularies import scratch
from harness.cluster.executor import Unit, UnitError
from harness.core import stored
from harness.core.output import write_whole, writing
from harness.engine.flow import execute
from harness.engine.portable import SENT, Portable, packed, packed_files, unpacked, write_files
from harness.events import UnitDone
from harness.findings.folder import RECORD, RunFolder
from harness.studies.default import studies

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from corpora.vocabularies.model import Vocabulary
    from harness.cluster.executor import Done, Executor
    from harness.engine.plan import Plan
    from harness.events import Event

MAX_BYTES = 1 << 30
"""The greatest size of a match, unpacked."""

POLL_SECONDS = 0.5


def perform(
    keep: dict[str, Any],
    shared: Portable,
    load: Callable[[], Vocabulary],
    source: str,
    command: str,
) -> bytes:
    """Play a match. keep: nothing is."""
    plan = shared.here({source: load})
    with scratch.temporary("match-") as path:
        folder = Path(path, "run")
        result = execute(plan, RunFolder(folder), [], command, studies)
        if not result.finished.complete:
            raise UnitError(f"the match is not whole: {'; '.join(result.finished.reasons)}")
        files = {RECORD: (folder / RECORD).read_bytes(), **packed_files(folder, SENT)}
    return packed(result.finished.cases, files)


def play(
    matches: Mapping[Path, Plan],
    executor: Executor,
    command: str,
    tell: Callable[[Event], None],
    written: Callable[[Path], object],
) -> None:
    """Have matches played, and write the folder of each. Closes the executor.

    matches: by folder. written: called with each folder when it is whole. Raises ClusterError,
    UnitError, OutputError, SelectionError, KeyboardInterrupt; those that were written by then are
    whole.
    """
    folders = {f"{path.parent.name} on {path.name}": path for path in matches}
    try:
        executor.listen(tell)
        for name, path in folders.items():
            (source,) = matches[path].vocabularies
            shared = executor.share(name, Portable.of(matches[path]))
            given = partial(same, matches[path].vocabularies[source]())
            load = executor.share(f"vocabulary {source}", given)
            executor.submit(Unit(name, perform, (shared, load), (source, command)))
        left = len(folders)
        while left:
            done = executor.next(POLL_SECONDS)
            if done is not None:
                cases, size = _write(folders[done.name], done), len(done.result)
                written(folders[done.name])
                tell(UnitDone(done.name, done.node, done.tries, done.seconds, size, cases))
                left -= 1
    finally:
        executor.close()


def same(vocabulary: Vocabulary) -> Vocabulary:
    """Return a vocabulary: a loader that travels."""
    return vocabulary


def _write(folder: Path, done: Done) -> int:
    """Write the folder of a match, and return how many cases it had."""
    try:
        told, files = unpacked(done.result, MAX_BYTES)
        cases, record = stored.typed(told, int), files.pop(RECORD)
    except (ValueError, KeyError) as error:
        raise UnitError(f"{done.name}: its result cannot be read: {error}") from error
    RunFolder(folder).close()
    write_files(files, folder)
    with writing(folder):
        write_whole(folder / RECORD, record)
    return cases
