"""A run in units, or in sittings, is the run itself, whoever performs them in whatever order."""

import random
import re
import zlib
from dataclasses import replace

import pytest

from harness.cluster import addresses
from harness.cluster.executor import ClusterError, Unit, UnitError
from harness.cluster.local import LocalExecutor
from harness.core.output import OutputError
from harness.engine.ending import words_of
from harness.engine.journal import FOLDER, Journal
from harness.engine.portable import write_files
from harness.engine.units import UnitResult
from harness.events import ClusterUsed, Phase, VocabularyLoaded
from harness.studies.campaigns.state import Round
from harness.studies.campaigns.units import Came
from tests.breadth import thorough
from tests.doubles.command import here, python
from tests.doubles.leaving import PLUGIN, mark
from tests.properties.cluster.plans import (
    claiming_plan,
    equal,
    finished,
    record_of,
    sat,
    small_plan,
    usual,
)

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
            self._kept.append(super().next(600))  # for a hang: a busy machine takes its time
        if not self._kept:
            return None
        self._asked -= 1
        self._kept.sort(key=lambda one: one.name)
        return self._kept.pop(random.Random(3).randrange(len(self._kept)))


def test_a_run_in_units_is_the_run_itself(usual, tmp_path):
    there = finished(usual.plan, tmp_path, Shuffled())
    equal(there, usual.result, tmp_path, usual.out)


def told(out, stage):
    """The findings of a record at a stage, which have their folders."""
    found = [one for one in record_of(out) if one.get("stage") == stage]
    assert all((out / "findings" / one["id"] / "outcomes.json").is_file() for one in found)
    return found


@pytest.mark.thorough
def test_what_workers_leave_behind_is_told_once(tmp_path, mark):
    """Each unit has workers of its own, and each of them leaves something."""
    path = tmp_path / "leaving.py"
    path.write_text(PLUGIN.format(mark=mark))
    plan = small_plan(f"{path}:Leaving", cases=20)
    for out, executor in ((tmp_path / "here", None), (tmp_path / "there", LocalExecutor(2))):
        made = finished(plan, out, executor)
        (one,) = told(out, "left-processes")
        assert one["id"] in [found.id for found in made.findings]
        assert one["id"] == told(tmp_path / "here", "left-processes")[0]["id"]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "cases", "times"), [("Never", 100, 1), ("Once", 600, 0)])
def test_a_claim_is_judged_over_all_units(name, cases, times, tmp_path):
    """With few cases each unit alone would know too little of it, and none of them ends the run."""
    plan = claiming_plan(tmp_path, name, cases=cases, fail_fast=True)
    declining = dict(reversed(plan.vocabularies.items()))
    outs = tmp_path / "here", tmp_path / "there"
    for out, executor in zip(outs, (None, LocalExecutor(2)), strict=True):
        finished(replace(plan, vocabularies=declining), out, executor)
        loaded = [one for one in record_of(out) if one["event"] == "VocabularyLoaded"]
        assert len(loaded) == len(declining)
    here, there = (told(out, "false-claim") for out in outs)
    assert here == there
    assert len(here) == times


# Sittings.


def interrupting(after):
    """Interrupts when so many vocabularies were begun, as Ctrl-C does."""
    seen = set()

    def consume(event):
        if isinstance(event, VocabularyLoaded):
            seen.add(event.id)
            if len(seen) > after:
                raise KeyboardInterrupt

    return consume


@pytest.mark.parametrize("places", [0, thorough(1)])
def test_a_run_in_sittings_is_the_run_itself(usual, tmp_path, places):
    def sitting(consume):
        return sat(usual.plan, tmp_path, consume, executor=LocalExecutor(1) if places else None)

    for done in (1, 3):
        cut_off = sitting(interrupting(done))
        assert not cut_off.finished.complete
        how = "" if places else " with --resume"
        assert f"the same command{how} continues" in cut_off.finished.reasons[0]
        seen = record_of(tmp_path)
        assert not places or seen == record_of(usual.out)[: len(seen)]
    # On a cluster a vocabulary is kept before it is told.
    kept = 3 + places
    assert len(list(tmp_path.glob(f"{FOLDER}/*.unit"))) == kept
    with Journal(tmp_path, usual.plan) as journal:
        journal.keep(usual.plan.visited[kept - 1], b"what was damaged is done again")
    events = []
    last = sitting(events.append)
    equal(last, usual.result, tmp_path, usual.out)
    every = len(usual.plan.visited)
    assert f"{kept - 1} of {every} vocabularies were done before" in [
        one.text for one in events if isinstance(one, Phase)
    ]
    assert f"{kept - 1} of {every} vocabularies were done in an earlier run" in last.finished.notes
    used = [(one.resumed, one.units) for one in events if isinstance(one, ClusterUsed)]
    assert used == [(kept - 1, every - kept + 1)] * places
    assert not (tmp_path / FOLDER).exists()


@pytest.mark.thorough
def test_what_another_run_has_kept_is_not_taken_up(usual, tmp_path):
    first, other = usual.plan.visited[:2]
    loaders = {**usual.plan.vocabularies, first: usual.plan.vocabularies[other]}
    changed = replace(usual.plan, vocabularies=loaders)
    for plan, resume in ((usual.plan, False), (changed, True)):
        sat(usual.plan, tmp_path, interrupting(1))
        again = sat(plan, tmp_path, resume=resume)
        assert again.finished.complete
        assert not any("earlier run" in note for note in again.finished.notes)


def test_a_claim_is_told_by_the_sitting_that_ends_a_run_though_another_one_asked(tmp_path):
    plan = claiming_plan(tmp_path, "Here", cases=600)
    out = tmp_path / "out"
    assert not sat(plan, out, interrupting(1)).finished.complete
    last = sat(plan, out)
    assert [found.stage for found in last.findings] == ["false-claim"]
    assert last.finished.verdict == "fail"


def test_a_journal_is_of_one_run(usual, tmp_path):
    with Journal(tmp_path, usual.plan) as journal:
        journal.keep("toy_bytes", b"result\nof it")
        with pytest.raises(OutputError, match="another run is writing there"):
            Journal(tmp_path, usual.plan)
    for plan, kept in (
        (usual.plan, {"toy_bytes": b"result\nof it"}),
        (small_plan(cases=151), {}),
        (usual.plan, {}),  # what was another's is gone
    ):
        with Journal(tmp_path, plan) as journal:
            assert journal.kept(usual.plan.visited) == kept


# What travels.


@pytest.mark.parametrize(
    "name", ["../x", "/findings/f-1/x", "findings/../../x", "run.jsonl", "findings/x", ""]
)
def test_a_node_writes_nothing_but_findings(name, tmp_path):
    with pytest.raises(UnitError, match="which is not a file of a finding"):
        write_files({name: b""}, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "result", [b"", b"no result", zlib.compress(b"{}"), zlib.compress(b"\x80")]
)
def test_what_is_no_result_is_said_in_one_line(result):
    for read in (lambda: UnitResult.of("toy", result), lambda: Came.unpacked(result)):
        with pytest.raises(UnitError, match=r"^[^\n]*cannot be read[^\n]*$"):
            read()


def test_a_result_travels_with_the_texts_of_others_and_its_files():
    """A message with a lone surrogate has no UTF-8."""
    files = {"findings/f/x": b"\xff"}
    sent = UnitResult(["{}"], {"hung": []}, ["mine", "toy", "no \ud800"], True, files=files)
    assert UnitResult.of("toy", sent.packed()) == sent
    done = Round("toy#0", 1, {"corpus": 1}, {}, [], [], ["no \ud800"])
    came = Came("mark", done=done, files=files)
    assert Came.unpacked(came.packed()) == came


# The executor of this machine.


def raising(keep, word):
    """A unit that fails."""
    raise ValueError(f"no {word}\nand more")


def test_a_unit_that_fails_is_named_with_its_own_line():
    alone = LocalExecutor(1)
    alone.submit(Unit("one", raising, arguments=("luck",)))
    with pytest.raises(UnitError, match=r"^one: ValueError: no luck$") as raised:
        alone.next(60)
    alone.close()
    assert re.search(r"one: ValueError: no luck, at test_units.py:\d+", words_of(raised.value))


class Counter:
    """Something that is kept."""

    count, closed = 0, False

    def close(self):
        self.closed = True


def counting(keep, kept):
    """A unit that counts those of its place."""
    one = keep.setdefault("counter", Counter())
    one.count += 1
    kept.append(one)
    return bytes([one.count])


def test_a_place_keeps_what_is_dear_and_closes_it():
    made, kept, place = LocalExecutor(2), [], ""
    for number in range(3):
        made.submit(Unit(str(number), counting, arguments=(kept,), prefers=place))
        done = made.next(60)
        assert done.result == bytes([number + 1])
        place = done.place
    assert not kept[0].closed
    made.close()
    assert kept[0].closed


# The option.


def test_without_a_cluster_nothing_of_ray_is_imported():
    code = (
        "import sys, harness.cli.application, harness.engine.units, harness.cluster.addresses;"
        "import harness.engine.journal;"
        "sys.exit('ray' in sys.modules)"
    )
    assert python("-c", code).returncode == 0


NO_ADDRESS = "not a cluster address: use auto, ray:"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        *(
            (["run", "--cluster", address], f"--cluster {address!r}: {NO_ADDRESS}")
            for address in ("", "local", "local:0", "ray://host", "http://host:1", "x y")
        ),
        (["bench", "--cluster=auto"], "--cluster: tokgate bench runs on this machine only"),
        (["minimize", "--cluster=auto"], "--cluster: tokgate minimize runs on this machine only"),
        (["run", "--cluster=auto", "--input=x.txt"], "--cluster: texts of --input stay"),
        (["fuzz", "--cluster=auto", "--input=x.txt"], "--cluster: texts of --input stay"),
        (["fuzz", "--cluster=auto", "--database=shared"], "--cluster"),
    ],
)
def test_a_mistake_in_the_option_is_one_line(line, said, monkeypatch):
    monkeypatch.setattr(addresses.importlib.util, "find_spec", lambda name: object())
    ended = here(*line)
    assert ended.returncode == 2
    (one,) = ended.stderr.splitlines()
    assert one.startswith(f"tokgate: {said}")


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(addresses.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ClusterError, match=r"Ray is not installed; pip install 'tokgate\[ray\]'"):
        addresses.check("local:2")
