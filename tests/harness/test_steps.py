"""Studies of steps: what is recorded, what is gone on with, what an interruption leaves."""

import json

import pytest

from harness.core import exit_statuses
from harness.core.interruption import Terminated
from harness.core.output import OutputError
from harness.engine.selection import SelectionError
from harness.engine.steps import SteppedStudy, conduct
from harness.events import Finished, Phase, StepDone, StudyStarted, read_events


class Counting(SteppedStudy):
    """Tells a phase before and after each step; one of them raises an error in between."""

    name = "counting"

    def __init__(self, steps=3, error=None, at="1", option=0):
        self.steps, self.error, self.at, self.option = steps, error, at, option
        self.asked = []
        self.closed = 0

    def identity(self):
        return {"option": self.option, "pair": (1, 2)}

    def opening(self):
        return [Phase("opening")]

    def kept(self, unfinished):
        return [one for one in unfinished if one in {Phase("opening"), Phase("kept")}]

    def plan(self, past):
        return [str(number) for number in range(self.steps)]

    def step(self, name, tell):
        self.asked.append(name)
        tell(Phase(f"before {name}"))
        if self.error is not None and name == self.at:
            tell(Phase("kept"))
            raise self.error
        tell(Phase(f"after {name}"))

    def close(self):
        self.closed += 1

    def fold(self, events, ending):
        steps = sum(isinstance(event, StepDone) for event in events)
        reasons = [] if ending.how is None else [ending.how]
        verdict = "pass" if ending.complete else "fail"
        return Finished(ending.complete, verdict, reasons, 0.0, steps, 0, ending.status)


def phases(folder):
    return [one.text for one in read_events(folder / "run.jsonl") if isinstance(one, Phase)]


def test_a_study_writes_all_and_ends_with_the_closing_event(tmp_path):
    study = Counting()
    seen = []
    finished = conduct(study, tmp_path, [seen.append])
    events = list(read_events(tmp_path / "run.jsonl"))
    assert events[0] == StudyStarted("counting", {"option": 0, "pair": [1, 2]})
    assert events[1:] == seen
    assert events[-1] == finished
    assert (finished.complete, finished.cases, finished.exit_status) == (True, 3, 0)
    assert study.closed == 1


@pytest.mark.parametrize(
    ("error", "status", "how"),
    [
        (KeyboardInterrupt(), 130, "interrupted before its end"),
        (Terminated(), 143, "interrupted before its end"),
        (
            ZeroDivisionError("no\nmore"),
            exit_statuses.CANNOT_START,
            "broke off (ZeroDivisionError: no, at test_steps.py:",
        ),
    ],
)
def test_what_is_cut_off_goes_on_where_it_was(tmp_path, error, status, how):
    first = Counting(error=error)
    finished = conduct(first, tmp_path, [])
    assert not finished.complete
    assert finished.exit_status == status
    assert finished.reasons[0].startswith(how)
    assert first.closed == 1

    second = Counting()
    seen = []
    assert conduct(second, tmp_path, [seen.append]).cases == 3
    assert second.asked == ["1", "2"]
    assert phases(tmp_path) == [
        "opening", "before 0", "after 0", "kept", "1 of 3 steps were done before",
        "before 1", "after 1", "before 2", "after 2",
    ]  # fmt: skip
    recorded = list(read_events(tmp_path / "run.jsonl"))
    assert recorded[1:] == seen
    assert sum(isinstance(one, Finished) for one in recorded) == 1


def test_a_kill_loses_the_step_that_was_not_done_and_no_other(tmp_path):
    conduct(Counting(), tmp_path / "whole", [])
    lines = (tmp_path / "whole" / "run.jsonl").read_bytes().splitlines(keepends=True)
    for count in range(len(lines)):
        for torn in (b"", lines[count][:-3]):
            folder = tmp_path / f"{count}-{len(torn)}"
            folder.mkdir()
            (folder / "run.jsonl").write_bytes(b"".join(lines[:count]) + torn)
            study = Counting()
            assert conduct(study, folder, []).cases == 3
            told = [one for one in phases(folder) if "steps" not in one]
            assert told == phases(tmp_path / "whole")
            done = sum(b'"StepDone"' in line for line in lines[:count])
            assert study.asked == ["0", "1", "2"][done:]


def test_what_came_to_its_end_begins_anew(tmp_path):
    conduct(Counting(), tmp_path, [])
    again = Counting()
    conduct(again, tmp_path, [])
    assert again.asked == ["0", "1", "2"]
    assert [path.name for path in tmp_path.iterdir()] == ["run.jsonl"]


def test_another_study_that_was_cut_off_is_kept_beside(tmp_path):
    conduct(Counting(error=KeyboardInterrupt()), tmp_path, [])
    before = (tmp_path / "run.jsonl").read_bytes()
    other = Counting(option=1)
    conduct(other, tmp_path, [])
    assert other.asked == ["0", "1", "2"]
    assert (tmp_path / "run.jsonl.old").read_bytes() == before


def test_the_record_of_something_else_is_left_alone(tmp_path):
    content = json.dumps({"event": "Phase", "text": "of a run"}) + "\n"
    (tmp_path / "run.jsonl").write_text(content)
    with pytest.raises(OutputError, match=r"has a run\.jsonl that is not of counting"):
        conduct(Counting(), tmp_path, [])
    assert (tmp_path / "run.jsonl").read_text() == content


def test_a_damaged_record_is_one_line_with_its_number(tmp_path):
    conduct(Counting(error=KeyboardInterrupt()), tmp_path, [])
    path = tmp_path / "run.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], "{", *lines[2:]]) + "\n")
    with pytest.raises(OutputError, match=r"damaged \(line 3: .*remove it to begin anew"):
        conduct(Counting(), tmp_path, [])


def test_a_mistake_of_the_user_ends_it_in_one_line_and_keeps_what_was_done(tmp_path):
    study = Counting(error=SelectionError("no such thing"))
    with pytest.raises(SelectionError):
        conduct(study, tmp_path, [], (SelectionError,))
    assert study.closed == 1
    again = Counting()
    conduct(again, tmp_path, [])
    assert again.asked == ["1", "2"]
