"""The studies of a run: checks, a sample of forced tokens beside them, and costs at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.studies.checks import Checks
from harness.studies.forced.study import ForcedSample
from harness.studies.growth.study import Growth

if TYPE_CHECKING:
    from harness.engine.examiner import Study
    from harness.engine.state import RunState


def studies(run: RunState) -> list[Study]:
    """Return what a run does with each vocabulary; its plan says on which each has something."""
    return [Checks(run), ForcedSample(run), Growth(run)]
