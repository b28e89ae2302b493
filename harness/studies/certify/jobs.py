"""Deciding parts of files: in this process, or in one of several that are asked for parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.texts.documents import TextsError
from harness.checks.certifier import Certifier
from harness.confinement.plan import OFF, Held
from harness.studies.certify.inputs import FilePart, batches
from harness.studies.certify.results import Example, Tally
from harness.workers.inside import serve
from impls.bpe.certificate import CODE, RIGHT
from impls.explanations import literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.checks.certifier import Verdict
    from harness.core.rows import Rows
    from harness.studies.certify.inputs import Layout
    from impls.interface import Mode


SHOWN = 8
"""Right ids that are shown, from the first wrong one on."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be decided of every part."""

    vocabulary: Vocabulary
    mode: Mode
    skipped: Sequence[int]
    layout: Layout


@dataclass(slots=True)
class Auditor:
    """Decides parts of files."""

    task: Task
    certifier: Certifier

    @classmethod
    def of(cls, task: Task) -> Auditor:
        """With the tables of the vocabulary."""
        return cls(task, Certifier(task.vocabulary, task.mode, task.skipped))

    def tally(self, part: FilePart) -> Tally:
        """Decide a part. Raises TextsError for a file that cannot be read."""
        tally = Tally()

        def unreadable(number: int, why: str) -> None:
            tally.rows += 1
            tally.unreadable += 1
            self._keep(tally, part, number, "undecided", why)

        for rows in batches(part, self.task.layout, unreadable):
            tally.rows += len(rows)
            tally.tokens += len(rows.ids)
            tally.bytes += len(rows.data)
            found = self.certifier.found(rows)
            for index in np.flatnonzero(found[:, CODE] != RIGHT).tolist():
                row = rows.row(index)
                self._note(tally, part, row, self.certifier.explain(row, found[index]))
        return tally

    def _note(self, tally: Tally, part: FilePart, row: Rows, verdict: Verdict) -> None:
        if verdict.status != "right":
            spelled = self.task.vocabulary.spelling
            some = (verdict.right or ())[verdict.same :][:SHOWN]
            right = [f"{one} ({literal(spelled(one))})" for one in some]
            self._keep(
                tally, part, row.numbers[0], verdict.status, verdict.reason, verdict.token, right
            )

    def _keep(
        self,
        tally: Tally,
        part: FilePart,
        number: int,
        status: str,
        reason: str,
        token: int = -1,
        right: Sequence[str] = (),
    ) -> None:
        # Counting the lines before a place takes a while, and most places are not shown.
        place = part.place(number) if tally.room(status) else ""
        tally.keep(Example(status, place, token, reason, [*right]))


class Server:
    """Takes a task, and then parts."""

    def answer(self, request: Task | FilePart, beat: Callable[[], None]) -> Any:
        """The tally of a part, or the line that says why its file cannot be read."""
        if isinstance(request, Task):
            self._auditor = Auditor.of(request)
            return ""
        try:
            return self._auditor.tally(request)
        except TextsError as error:
            return str(error)


def main(arguments: Sequence[str], held: Held = OFF) -> None:
    """Serve until the harness closes the pipe. held: what confines this process."""
    serve(arguments, lambda progress: Server().answer)
