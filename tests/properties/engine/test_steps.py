"""Studies of steps: what is recorded, what is gone on with, what an interruption leaves."""

import pytest

from harness.core import exit_statuses
from harness.core.interruption import Terminated
from harness.core.output import OutputError
from harness.engine.selection import SelectionError
from harness.engine.steps import SteppedStudy, conduct, ended
from harness.events import Finished, Phase, StepDone, StudyStarted, read_events


class Counting(SteppedStudy):
    """Tells a phase before and after each of three steps; the second may raise in between."""

    name = "counting"

    def __init__(self, error=None, option=0):
        self.error, self.option = error, option
        self.asked, self.closed = [], 0

    def identity(self):
        return {"option": self.option, "pair": (1, 2)}

    def opening(self):
        return [Phase("opening")]

    def kept(self, unfinished):
        return [one for one in unfinished if one in {Phase("opening"), Phase("kept")}]

    def plan(self, past):
        return ["0", "1", "2"]

    def step(self, name, tell):
        self.asked.append(name)
        tell(Phase(f"before {name}"))
        if self.error is not None and name == "1":
            tell(Phase("kept"))
            raise self.error
        tell(Phase(f"after {name}"))

    def close(self):
        self.closed += 1

    def fold(self, events, ending):
        return ended(ending, sum(isinstance(event, StepDone) for event in events))


def done(folder, study, steps="012", seen=None):
    """Conduct a study that does these steps; the closing event."""
    finished = conduct(study, folder, [[].append if seen is None else seen.append])
    assert (study.asked, study.closed) == ([*steps], 1)
    assert not finished.complete or finished.cases == 3
    took = [one.seconds for one in read_events(folder / "run.jsonl") if isinstance(one, StepDone)]
    assert sum(took) <= finished.seconds < 600
    return finished


def phases(folder):
    return [one.text for one in read_events(folder / "run.jsonl") if isinstance(one, Phase)]


WHOLE = ["opening", "before 0", "after 0", "before 1", "after 1", "before 2", "after 2"]


def test_a_study_writes_all_and_begins_anew_once_it_came_to_its_end(tmp_path):
    for _ in range(2):
        seen = []
        finished = done(tmp_path, Counting(), seen=seen)
        first, *events = read_events(tmp_path / "run.jsonl")
        assert first == StudyStarted("counting", {"option": 0, "pair": [1, 2]})
        assert events == seen
        assert events[-1] == finished
        assert (finished.complete, finished.exit_status, finished.verdict) == (True, 0, "pass")
        assert phases(tmp_path) == WHOLE
        assert [path.name for path in tmp_path.iterdir()] == ["run.jsonl"]


@pytest.mark.parametrize(
    ("error", "status", "how"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (Terminated(), 143, "interrupted"),
        (
            ZeroDivisionError("no\nmore"),
            exit_statuses.CANNOT_START,
            "internal error (ZeroDivisionError: no, at test_steps.py:",
        ),
    ],
)
def test_what_is_cut_off_goes_on_where_it_was(tmp_path, error, status, how):
    cut_off = done(tmp_path, Counting(error), "01")
    assert (cut_off.complete, cut_off.exit_status, cut_off.verdict) == (False, status, "fail")
    assert cut_off.reasons[0].startswith(how)

    seen = []
    done(tmp_path, Counting(), "12", seen)
    before = "1 of 3 steps were done before"
    assert phases(tmp_path) == [*WHOLE[:3], "kept", before, *WHOLE[3:]]
    _, *recorded = read_events(tmp_path / "run.jsonl")
    assert recorded == seen
    assert sum(isinstance(one, Finished) for one in recorded) == 1


def test_a_kill_loses_the_step_that_was_not_done_and_no_other(tmp_path):
    done(tmp_path, Counting())
    lines = (tmp_path / "run.jsonl").read_bytes().splitlines(keepends=True)
    for count in range(len(lines)):
        for torn in (b"", lines[count][:-3]):
            folder = tmp_path / f"{count}-{len(torn)}"
            folder.mkdir()
            (folder / "run.jsonl").write_bytes(b"".join(lines[:count]) + torn)
            done(folder, Counting(), "012"[sum(b'"StepDone"' in line for line in lines[:count]) :])
            assert [one for one in phases(folder) if "steps" not in one] == WHOLE


def test_another_study_that_was_cut_off_is_kept_beside(tmp_path):
    done(tmp_path, Counting(KeyboardInterrupt()), "01")
    before = (tmp_path / "run.jsonl").read_bytes()
    done(tmp_path, Counting(option=1))
    assert (tmp_path / "run.jsonl.old").read_bytes() == before


@pytest.mark.parametrize(
    ("line", "at", "told"),
    [
        ('{"event": "Phase", "text": "of a run"}', 0, r"its run\.jsonl is not of counting"),
        ("{", 2, r"damaged \(line 3: .*remove it to start again"),
    ],
)
def test_the_record_of_something_else_is_left_alone(line, at, told, tmp_path):
    done(tmp_path, Counting(KeyboardInterrupt()), "01")
    path = tmp_path / "run.jsonl"
    lines = path.read_text().splitlines()
    lines.insert(at, line)
    path.write_text("\n".join(lines) + "\n")
    before = path.read_bytes()
    with pytest.raises(OutputError, match=told):
        conduct(Counting(), tmp_path, [])
    assert path.read_bytes() == before


def test_a_mistake_of_the_user_ends_it_in_one_line_and_keeps_what_was_done(tmp_path):
    study = Counting(SelectionError("no such thing"))
    with pytest.raises(SelectionError):
        conduct(study, tmp_path, [], (SelectionError,))
    assert study.closed == 1
    done(tmp_path, Counting(), "12")
