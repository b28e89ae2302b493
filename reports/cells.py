"""The cells of a report's matrix: what is known of a check of one implementation somewhere."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.verdict.coverage import State

NOBODY = "it differs from another that is trusted equally, and nobody is blamed"
"""The reason for which a cell is violated of which no finding blames its implementation."""


class Status(StrEnum):
    """What is known of one check of one implementation under one contract."""

    OK = "ok"
    VIOLATED = "violated"
    EXPECTED = "expected"
    UNSETTLED = "not settled"
    NO_ANSWER = "no answer"
    NOT_EXERCISED = "not tested"
    UNSUPPORTED = "unsupported"
    FAILED = "failed to start"


OF_STATE = {
    State.JUDGED: Status.OK,
    State.UNSETTLED: Status.UNSETTLED,
    State.UNANSWERED: Status.NO_ANSWER,
    State.DECLINED: Status.UNSUPPORTED,
    State.FAILED: Status.FAILED,
    State.NOT_ASKED: Status.NOT_EXERCISED,
}
"""What is said of a cell in which there is no finding."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One field of the matrix implementation x contract x check.

    exercised: outcomes judged. violations: cases at fault. reason: why there is nothing to show,
    or why a violation is expected. buckets: the signatures behind the violations.
    """

    implementation: str
    contract: str
    check: str
    status: Status
    exercised: int = 0
    violations: int = 0
    reason: str = ""
    buckets: tuple[str, ...] = ()
