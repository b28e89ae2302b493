"""A run in units is the run itself, whoever performs them and in whatever order."""

import random
import subprocess
import sys
import zlib
from dataclasses import replace

import pytest

from harness.cluster import addresses
from harness.cluster.executor import ClusterError, Unit, UnitError
from harness.cluster.local import LocalExecutor
from harness.engine.journal import FOLDER, Journal
from harness.engine.portable import write_files
from harness.engine.units import UnitResult
from harness.events import ClusterUsed, UnitDone, UnitResumed
from harness.studies.campaigns.state import Round
from harness.studies.campaigns.units import Came
from tests.cluster.plans import claiming_plan, equal, finished, record_of, small_plan, usual
from tests.harness.command import here
from tests.harness.leaving import PLUGIN, mark

__all__ = ["mark", "usual"]  # fixtures


class Shuffled(LocalExecutor):
    """Hands results back late and in another order."""

    def __init__(self):
        super().__init__(8)
        self._kept = []
        self._asked = 0

    def submit(self, unit):
        self._asked += 1
        super().submit(unit)

    def next(self, seconds):
        while len(self._kept) < self._asked:
            done = super().next(600)  # for a hang: a busy machine takes its time
            assert done is not None
            self._kept.append(done)
        if not self._kept:
            return None
        self._asked -= 1
        self._kept.sort(key=lambda one: one.name)
        return self._kept.pop(random.Random(3).randrange(len(self._kept)))


def test_a_run_in_units_is_the_run_itself(usual, tmp_path):
    there = finished(usual.plan, tmp_path, Shuffled())
    equal(there, usual.result, tmp_path, usual.out)


@pytest.mark.thorough
def test_what_workers_leave_behind_is_told_once(tmp_path, mark):
    """Each unit has workers of its own, and each of them leaves something."""
    path = tmp_path / "leaving.py"
    path.write_text(PLUGIN.format(mark=mark))
    plan = small_plan(f"{path}:Leaving", cases=20)
    finished(plan, tmp_path / "here")
    there = finished(plan, tmp_path / "there", LocalExecutor(2))
    told = [
        [one["id"] for one in record_of(out) if one.get("stage") == "left-processes"]
        for out in (tmp_path / "here", tmp_path / "there")
    ]
    assert told[0] == told[1]
    assert len(told[0]) == 1
    assert (tmp_path / "there" / "findings" / told[0][0] / "outcomes.json").is_file()
    assert told[0][0] in [one.id for one in there.findings]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "cases", "times"), [("Never", 100, 1), ("Once", 600, 0)])
def test_a_claim_is_judged_over_all_units(name, cases, times, tmp_path):
    """With few cases each unit alone would know too little of it."""
    plan = claiming_plan(tmp_path, name, cases=cases)
    told = []
    for out, executor in ((tmp_path / "here", None), (tmp_path / "there", LocalExecutor(2))):
        finished(plan, out, executor)
        told.append([one for one in record_of(out) if one.get("stage") == "false-claim"])
    assert told[0] == told[1]
    assert len(told[0]) == times
    for one in told[0]:
        assert (tmp_path / "there" / "findings" / one["id"] / "input.bin").is_file()


def test_a_unit_whose_claim_others_keep_ends_no_run(tmp_path):
    plan = claiming_plan(tmp_path, "Once", cases=600, fail_fast=True)
    first, second, *_ = plan.visited
    declining = {name: plan.vocabularies[name] for name in (second, first)}
    finished(replace(plan, vocabularies=declining), tmp_path / "out", LocalExecutor(1))
    loaded = [one for one in record_of(tmp_path / "out") if one["event"] == "VocabularyLoaded"]
    assert len(loaded) == 2


class Failing(LocalExecutor):
    """Breaks off after so many results."""

    def __init__(self, left):
        super().__init__(1)
        self._left = left

    def next(self, seconds):
        if not self._left:
            raise KeyboardInterrupt
        done = super().next(seconds)
        self._left -= done is not None
        return done


@pytest.mark.thorough
def test_what_was_done_before_an_interruption_is_in_the_record(usual, tmp_path):
    whole = record_of(usual.out)
    # With the vocabulary that has the first finding.
    first = next(one["vocabulary"] for one in whole if one["event"] == "Found")
    loaded = [one["id"] for one in whole if one["event"] == "VocabularyLoaded"]
    count = loaded.index(first) + 1
    cut_off = finished(usual.plan, tmp_path, Failing(count))
    seen = record_of(tmp_path)
    assert not cut_off.finished.complete
    assert "interrupted" in cut_off.finished.reasons[0]
    assert [one for one in seen if one["event"] == "Found"]
    assert seen == whole[: len(seen)]
    assert sum(one["event"] == "VocabularyLoaded" for one in seen) == count


class Interrupting:
    """Raises at one of the commits, as Ctrl-C does in whichever thread it comes."""

    def __init__(self, at):
        self.events = []
        self._at = at

    def __call__(self, event):
        self.events.append(event)
        if isinstance(event, UnitDone) and self.count(UnitDone) == self._at:
            raise KeyboardInterrupt

    def count(self, kind):
        return sum(isinstance(one, kind) for one in self.events)


def test_a_driver_that_ends_is_gone_on_with(usual, tmp_path):
    first, second = Interrupting(3), Interrupting(0)
    with Journal(tmp_path, usual.plan) as journal:
        cut_off = finished(usual.plan, tmp_path, LocalExecutor(1), first, journal)
    assert not cut_off.finished.complete
    with Journal(tmp_path, usual.plan) as journal:
        there = finished(usual.plan, tmp_path, LocalExecutor(1), second, journal)
        journal.remove()
    equal(there, usual.result, tmp_path, usual.out)
    assert second.count(UnitResumed) == 2
    assert second.count(UnitDone) == len(usual.plan.visited) - 2
    (told,) = [one for one in second.events if isinstance(one, ClusterUsed)]
    assert (told.resumed, told.units) == (2, len(usual.plan.visited) - 2)
    assert not (tmp_path / FOLDER).exists()


def test_a_driver_of_another_run_takes_nothing_up(usual, tmp_path):
    with Journal(tmp_path, usual.plan) as journal:
        journal.keep("toy_bytes", b"result\nof it")
    with Journal(tmp_path, usual.plan) as journal:
        assert journal.kept(usual.plan.visited) == {"toy_bytes": b"result\nof it"}
    with Journal(tmp_path, small_plan(cases=151)) as journal:
        assert journal.kept(usual.plan.visited) == {}
    with Journal(tmp_path, usual.plan) as journal:
        assert journal.kept(usual.plan.visited) == {}, "what was another's is gone"


@pytest.mark.thorough
def test_a_result_that_was_damaged_is_performed_again(usual, tmp_path):
    with Journal(tmp_path, usual.plan) as journal:
        journal.keep("toy_bytes", b"no result")
        there = finished(usual.plan, tmp_path, LocalExecutor(1), journal=journal)
    equal(there, usual.result, tmp_path, usual.out)


@pytest.mark.parametrize(
    "name", ["../x", "/findings/f-1/x", "findings/../../x", "run.jsonl", "findings/x", ""]
)
def test_a_node_writes_nothing_but_findings(name, tmp_path):
    with pytest.raises(UnitError, match="which is no file of a finding"):
        write_files({name: b""}, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "result", [b"", b"no result", zlib.compress(b"{}"), zlib.compress(b"\x80")]
)
def test_what_is_no_result_is_said_in_one_line(result):
    with pytest.raises(UnitError, match="cannot be read") as said:
        UnitResult.of("toy", result)
    assert "\n" not in str(said.value)
    with pytest.raises(UnitError, match="cannot be read"):
        Came.unpacked(result)


def test_a_result_travels_with_the_texts_of_others_and_its_files():
    """A message with a lone surrogate has no UTF-8."""
    sent = UnitResult(
        ["{}"], {"hung": []}, ["mine", "toy", "no \ud800"], True, files={"findings/f/x": b"\xff"}
    )
    assert UnitResult.of("toy", sent.packed()) == sent
    done = Round("toy#0", 1, {"corpus": 1}, {}, [], [], ["no \ud800"])
    came = Came("mark", done=done, files={"findings/f/x": b"\xff"})
    assert Came.unpacked(came.packed()) == came


def raising(keep, word):
    """A unit that fails."""
    raise ValueError(f"no {word}\nand more")


@pytest.fixture
def alone():
    """An executor with one place."""
    made = LocalExecutor(1)
    yield made
    made.close()


def test_a_unit_that_fails_is_named(alone):
    alone.submit(Unit("one", raising, arguments=("luck",)))
    with pytest.raises(UnitError, match=r"^one: ValueError: no luck$"):
        alone.next(60)


class Counter:
    """Something that is kept."""

    def __init__(self):
        self.count, self.closed = 0, False

    def close(self):
        self.closed = True


def counting(keep, kept):
    """A unit that counts those of its place."""
    one = keep.setdefault("counter", Counter())
    one.count += 1
    kept.append(one)
    return bytes([one.count])


def test_a_place_keeps_what_is_dear_and_closes_it():
    made = LocalExecutor(2)
    kept = []
    made.submit(Unit("0", counting, arguments=(kept,)))
    first = made.next(60)
    assert first is not None
    for name in "12":
        made.submit(Unit(name, counting, arguments=(kept,), prefers=first.place))
    done = [made.next(60), made.next(60)]
    assert [one.result for one in done if one] == [b"\2", b"\3"]
    assert not kept[0].closed
    made.close()
    assert kept[0].closed


def test_without_a_cluster_nothing_of_ray_is_imported():
    code = (
        "import sys, harness.cli.application, harness.engine.units, harness.cluster.addresses;"
        "import harness.engine.journal;"
        "sys.exit('ray' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("address", ["", "local", "local:0", "ray://host", "http://host:1", "x y"])
def test_what_is_no_cluster_is_one_line(address):
    with pytest.raises(ClusterError, match="not a cluster address: use auto, ray:") as said:
        addresses.check(address)
    assert "\n" not in str(said.value)


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(addresses.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ClusterError, match=r"Ray is not installed; pip install 'tokgate\[ray\]'"):
        addresses.check("local:2")


def test_a_mistake_in_the_option_ends_with_status_2():
    ended = here("run", "--cluster", "nowhere")
    assert ended.returncode == 2
    assert "--cluster 'nowhere': not a cluster address" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("command", ["bench", "minimize"])
def test_a_command_that_runs_on_no_cluster_says_so(command):
    ended = here(command, "--cluster=auto")
    assert ended.returncode == 2
    assert f"--cluster: tokgate {command} runs on this machine only" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("option", [("--input", "x.txt"), ("--database", "shared")])
def test_what_stays_on_this_machine_is_refused(option, monkeypatch):
    monkeypatch.setattr(addresses.importlib.util, "find_spec", lambda name: object())
    for command in ("run", "fuzz"):
        if (command, option[0]) != ("run", "--database"):
            ended = here(command, "--cluster=auto", *option)
            assert ended.returncode == 2
            assert "tokgate: --cluster" in ended.stderr
