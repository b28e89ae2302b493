"""A run that was interrupted goes on with the vocabularies that are left, and comes to the same."""

from dataclasses import replace

import pytest

from harness.core.output import OutputError
from harness.engine.journal import FOLDER, Journal
from harness.events import Phase, VocabularyLoaded
from tests.cluster.plans import claiming_plan, equal, finished, usual

__all__ = ["usual"]  # a fixture


def sat(
    plan,
    out,
    consume=lambda event: None,
    *,
    resume=False,
):
    """One sitting of a run."""
    with Journal(out, plan) as journal:
        result = finished(plan, out, None, consume, journal, resume=resume)
        if result.finished.complete:
            journal.remove()
    return result


def interrupting(after):
    """Interrupts when so many vocabularies were begun, as Ctrl-C does."""
    seen = set()

    def consume(event):
        if isinstance(event, VocabularyLoaded):
            seen.add(event.id)
            if len(seen) > after:
                raise KeyboardInterrupt

    return consume


def test_a_run_in_sittings_is_the_run_itself(usual, tmp_path):
    whole = usual.plan.visited
    for done in (1, 3):
        cut_off = sat(usual.plan, tmp_path, interrupting(done), resume=done > 1)
        assert not cut_off.finished.complete
        assert "the same command with --resume goes on" in cut_off.finished.reasons[0]
        assert any(tmp_path.glob(f"{FOLDER}/*.unit"))
    phases = []
    last = sat(
        usual.plan,
        tmp_path,
        lambda event: phases.append(event.text) if isinstance(event, Phase) else None,
        resume=True,
    )
    assert phases[0] == f"3 of {len(whole)} vocabularies were done before"
    assert not any("loading" in text and whole[0] in text for text in phases)
    equal(last, usual.result, tmp_path, usual.out)
    assert f"3 of {len(whole)} vocabularies were done in an earlier run" in last.finished.notes
    assert not (tmp_path / FOLDER).exists()


@pytest.mark.thorough
def test_without_resume_a_run_begins_anew(usual, tmp_path):
    sat(usual.plan, tmp_path, interrupting(2))
    again = sat(usual.plan, tmp_path)
    equal(again, usual.result, tmp_path, usual.out)
    assert not any("earlier run" in note for note in again.finished.notes)


@pytest.mark.thorough
def test_a_vocabulary_that_has_changed_is_done_again(usual, tmp_path):
    sat(usual.plan, tmp_path, interrupting(1))
    first, other = usual.plan.visited[:2]
    loaders = {**usual.plan.vocabularies, first: usual.plan.vocabularies[other]}
    changed = sat(replace(usual.plan, vocabularies=loaders), tmp_path, resume=True)
    assert not any("earlier run" in note for note in changed.finished.notes)


def test_a_claim_is_told_by_the_sitting_that_ends_a_run_though_another_one_asked(
    tmp_path,
):
    plan = claiming_plan(tmp_path, "Here", cases=600)
    out = tmp_path / "out"
    assert not sat(plan, out, interrupting(1)).finished.complete
    last = sat(plan, out, resume=True)
    assert [found.stage for found in last.findings] == ["false-claim"]
    assert last.finished.verdict == "fail"


def test_two_runs_do_not_write_into_one_folder(usual, tmp_path):
    with (
        Journal(tmp_path, usual.plan),
        pytest.raises(OutputError, match="another run is writing there"),
        Journal(tmp_path, usual.plan),
    ):
        pass
