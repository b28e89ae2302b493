"""Growth of the user's own candidates that was not decided: never passed, and counted."""

from __future__ import annotations

from dataclasses import replace

from corpora.families.catalog import TELLING
from harness.core.exit_statuses import FAILS, NOT_EXAMINED
from harness.events import UNEXAMINED, FamiliesMeasured, GrowthJudged
from harness.verdict import gaps, gate
from harness.verdict.coverage import Coverage

OPEN = GrowthJudged(
    "mine", "v", "prose", "time", "n log n", "inconclusive", "unsaid", "exponent 1.50", own=True
)
KEPT = replace(OPEN, family="digits", outcome="pass", line="")


def test_what_is_undecided_is_not_examined() -> None:
    verdict = gate.judge([], [], [OPEN, KEPT], Coverage())
    assert (verdict.value, verdict.exit_status) == (UNEXAMINED, NOT_EXAMINED)
    assert verdict.reasons[-1] == (
        "growth of mine on v is unclear on prose (exponent 1.50): give a larger --budget, or a "
        "[[scaling]] entry with the limit that it must keep"
    )
    assert "growth of mine on v by family: 1 clear, 1 unclear, 0 not measured" in verdict.notes


def test_a_broken_bound_fails_beside_it() -> None:
    broken = replace(KEPT, outcome="fail", line="exponent 2.00")
    verdict = gate.judge([], [], [OPEN, broken], Coverage())
    assert verdict.exit_status == FAILS
    assert any("is unclear on prose" in line for line in verdict.notes)


def test_what_others_leave_undecided_is_a_note() -> None:
    others, nobody = [replace(OPEN, own=False)], Coverage()
    assert gaps.undecided(nobody, others) == []
    line = "growth is unclear in 1 of 1 measurements that have a limit: mine (1)"
    assert gaps.notes(nobody, others) == [line]
    assert not any("growth is unclear" in one for one in gaps.notes(nobody, [OPEN]))


def test_steps_and_memory_leave_nothing_open() -> None:
    for measure in ("steps", "memory"):
        assert gaps.undecided(Coverage(), [replace(OPEN, measure=measure)]) == []


def test_several_families_are_one_line() -> None:
    (line,) = gaps.undecided(Coverage(), [replace(OPEN, family=f"f{i}") for i in range(5)])
    assert "unclear on f0, and 4 more" in line


def test_the_telling_families_are_owed_and_the_others_counted() -> None:
    coverage = Coverage.of([FamiliesMeasured("v", 9, [], [], {"mine": ["base64"]})])
    assert gaps.undecided(coverage, [KEPT]) == []
    assert gaps.notes(coverage, [KEPT]) == [
        "growth of mine on v by family: 1 clear, 0 unclear, 1 not measured"
    ]
    telling = [family.name for family in TELLING]
    coverage = Coverage.of([FamiliesMeasured("v", 9, [], [], {"mine": telling})])
    (line,) = gaps.undecided(coverage, [])
    assert line.startswith(f"growth of mine on v was not measured on {telling[0]}, {telling[1]}")
    assert f"and {len(telling) - 3} more: no time was left" in line
