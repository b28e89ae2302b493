"""The small part of a default run: a sample of our own schemas on one vocabulary."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from harness.studies.forced.jobs import Task, WalkSchema
from harness.studies.forced.policies import EXACT, named
from harness.studies.forced.pool import WorkersFailed, results
from harness.studies.forced.results import total
from harness.studies.forced.run import JSON_SIGNS, OWN, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.vocabularies.model import Vocabulary
    from harness.events import Event

POLICIES = (EXACT, "healed:tokens=4", "llguidance")

SCHEMAS = 16
"""A second or two, besides the time to load the vocabulary."""

SECONDS = 12.0
"""After so many seconds the rest of a sample is left out where the run is limited by time."""

WITNESSES = 5


def walk_sample(
    vocabulary: Vocabulary,
    seed: int,
    emit: Callable[[Event], None],
    *,
    hurried: bool,
    stopped: Callable[[], bool] = lambda: False,
    over: Callable[[], bool] = lambda: False,
) -> str | None:
    """Walk the sample and tell a row for each policy; why it could not be started, if so,
    or what it left behind.

    A vocabulary that the policies do not take is passed over. Nothing is told once ``stopped``;
    what was walked until then is told once time is ``over``.
    """
    from corpora.grammars.own_schemas import own_cases  # noqa: PLC0415 (imports llguidance)

    if not vocabulary.can_encode(JSON_SIGNS):
        return None
    policies = named(POLICIES)
    task = Task(vocabulary, policies, "flexible", seed, seconds=30.0)
    cases = random.Random(f"forced/{seed}").sample(own_cases("flexible"), SCHEMAS)
    found, began = [], None
    left: list[str] = []
    walked = results(task, map(WalkSchema, cases), 1, lambda: stopped() or over(), left=left.append)
    try:
        for result in walked:
            found.append(result)
            began = began or time.monotonic()
            if hurried and time.monotonic() - began > SECONDS:
                break
    except WorkersFailed as error:
        return str(error) if error.supported else None
    finally:
        walked.close()
    if stopped() or not found:
        return None
    sums = total(sorted(found, key=lambda result: result.name), policies)
    for row in rows(sums, vocabulary.id, OWN, "flexible"):
        emit(row)
    for one in sums.witnesses[:WITNESSES]:
        emit(one)
    return left[0] if left else None
