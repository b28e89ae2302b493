"""``tokgate forced`` as a user runs it: the table, resuming, rubbish, exit statuses."""

import json
from dataclasses import replace

import psutil
import pytest

from corpora.grammars.corpus import SchemaCase
from corpora.vocabularies import sources
from corpora.vocabularies.model import VocabularyError
from harness.cli.commands.forced import command
from harness.core import exit_statuses
from harness.engine.selection import SelectionError
from harness.events import Forced
from harness.studies.forced.jobs import Task, WalkSchema
from harness.studies.forced.policies import Policies
from harness.studies.forced.pool import Worker, results
from harness.studies.forced.results import Tally, Walked, total
from harness.studies.forced.run import chosen, judged
from harness.studies.forced.study import SCHEMAS, walk_sample
from impls.interface import Unsupported
from tests.harness.command import tokgate

KEYS = {
    "type": "object",
    "properties": {"orderId": {"type": "integer"}, "orderName": {"type": "string"}},
    "required": ["orderId"],
    "additionalProperties": False,
}


def write(folder, count):
    """A corpus of so many schemas."""
    folder.mkdir()
    for number in range(count):
        tests = [{"valid": True, "data": {"orderId": number, "orderName": "a"}}]
        text = json.dumps({"schema": KEYS, "tests": tests})
        (folder / f"schema-{number:02}.json").write_text(text)
    return folder


def walk(corpus, out, *more):
    plain = ["--vocab=toy_bytes", "--policy=none", "--policy=exact", "--jobs=1"]
    return tokgate("forced", str(corpus), f"--out={out}", *plain, *more)


def summary(out):
    return json.loads((out / "summary.json").read_text())


@pytest.mark.thorough  # five whole walks
def test_walk_and_go_on(tmp_path):
    corpus, out = write(tmp_path / "corpus", 6), tmp_path / "out"
    (corpus / "z-refused.json").write_text(json.dumps({"schema": False, "tests": []}))
    first = walk(corpus, out, "--limit=2")
    assert first.returncode == 0, first.stderr
    # Two of the seven are done: their lines are not touched, the others are added.
    record = out / "forced.jsonl"
    lines = record.read_text().splitlines()
    assert len(lines) == 2
    # A line that was cut off, as by a kill, is walked again.
    record.write_text("\n".join([lines[0], lines[1][:50]]))
    whole = walk(corpus, out)
    assert whole.returncode == 0, whole.stderr
    after = record.read_text().splitlines()
    assert after[0] == lines[0]
    assert len(after) == 7
    assert summary(out)["canonicality"][0]["instances"] == 6
    # Nothing is left to do: no process is started, and the same table comes.
    again = walk(corpus, out)
    assert again.stdout == whole.stdout
    assert record.read_text().splitlines() == after
    # Another walk does not go on with it, and does not destroy it.
    other = walk(corpus, out, "--whitespace=compact")
    assert other.returncode == 0
    assert record.read_text().splitlines()[:7] == after


@pytest.mark.parametrize(
    ("corpus", "vocab", "policies", "said"),
    [
        ("nowhere", "toy_bytes", [], "corpus nowhere"),
        ("{empty}", "toy_bytes", [], "holds no .json"),
        ("{rubbish}", "toy_bytes", [], "is not JSON"),
        ("own", "toy_bytes", ["best"], "--policy 'best'"),
        ("own", "no_such", [], "no_such"),
        ("own", "toy_wordpiece", ["none"], "forced tokens of"),
        ("own", "toy_merges", ["none"], "no tokens for JSON"),
    ],
)
def test_each_mistake_is_named(corpus, vocab, policies, said, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "rubbish").mkdir()
    (tmp_path / "rubbish" / "a.json").write_text("{")
    corpus = corpus.format(empty=tmp_path / "empty", rubbish=tmp_path / "rubbish")
    with pytest.raises((SelectionError, VocabularyError)) as raised:
        command(corpus, vocab, policy=policies, limit=1, jobs=1, out=tmp_path / "out")
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "out").exists() or said == "forced tokens of"


WRONG = Tally(sequences=3, non_canonical=1)


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (Walked(1, 1, 2, tallies={"exact": Tally(), "none": WRONG}), ""),
        (Walked(1, 1, 2, tallies={"exact": WRONG}), "exact forced 1 non-canonical"),
        (Walked(1, 1, 2, misjudged=1, tallies={"exact": Tally()}), "contradicted by a sentence"),
        (Walked(tallies={"exact": Tally()}), "nothing was walked"),
        (Walked(failed={"a": "it hung"}, tallies={"exact": Tally()}), "a broke off: it hung"),
    ],
)
def test_the_verdict_is_on_exact_alone(result, reason):
    reasons, status = judged(total([result], ["exact"]), ["exact"])
    assert status == (exit_statuses.FAILS if reason else exit_statuses.HOLDS)
    assert [reason in one for one in reasons] == [True] * bool(reason)


def test_a_limit_is_spread():
    names = [f"{number:02}" for number in range(10)]
    assert chosen(names, None) == chosen(names, 99) == names
    assert chosen(names, 3) == ["00", "03", "06"]


@pytest.fixture(scope="module")
def task():
    return Task(sources.resolve("toy_bytes"), ["none"], "flexible", seconds=60.0)


@pytest.mark.thorough  # it waits for a time-out
def test_a_schema_that_hangs_costs_itself_only(task):
    good = SchemaCase("good", KEYS, (b'{"orderId":1}',))
    # llguidance's state grows with the depth, and is copied at each token.
    deep = SchemaCase("deep", {"type": "array"}, (b"[" * 400_000,))
    hasty = replace(task, seconds=1.0)
    jobs = map(WalkSchema, [deep, good])
    found = {job.case.name: answer for job, answer in results(hasty, jobs, 1)}
    assert "no answer within 1.0 s" in found["deep"]
    assert found["good"].instances == 1


def test_how_a_worker_died_is_told_and_another_takes_over(task):
    def kill():
        if not killed:
            [process] = psutil.Process(worker._process._kept.pid).children()
            process.kill()
            killed.append(process)

    killed = []
    worker = Worker(task, lambda line: None, kill)
    good = WalkSchema(SchemaCase("good", KEYS, (b'{"orderId":1}',)))
    try:
        assert worker.answer(good) == "killed by SIGKILL"
        assert worker.answer(good).instances == 1
    finally:
        worker.close()


def test_unfit_vocabularies_are_told_apart(task):
    unfit = replace(task, vocabulary=sources.resolve("toy_wordpiece"))
    with pytest.raises(Unsupported):
        Policies(unfit.vocabulary)
    with pytest.raises(SelectionError, match="forced tokens of toy_wordpiece"):
        list(results(unfit, [WalkSchema(SchemaCase("a", {}, ()))], 1))


def test_what_llguidance_refuses_is_said(task):
    policies = Policies(task.vocabulary)
    refused = WalkSchema(SchemaCase("a", {"not": {}}, (b"1",))).run(policies, task, lambda: None)
    assert "llguidance refuses" in refused.refused["a"]
    assert refused.instances == 0


@pytest.mark.thorough  # whole processes beside those of the test of walking and going on
def test_a_run_walks_a_sample():
    events = []
    vocabulary = sources.resolve("toy_bytes")
    assert walk_sample(vocabulary, 0, events.append) is None
    rows = {event.method: event for event in events if isinstance(event, Forced)}
    assert list(rows) == ["exact", "healed:tokens=4", "llguidance"]
    assert {row.schemas for row in rows.values()} == {SCHEMAS}
    assert rows["exact"].sequences
    assert (rows["exact"].non_canonical, rows["exact"].unsafe) == (0, 0)
    again = []
    walk_sample(vocabulary, 0, again.append)
    timeless = [replace(event, seconds=0.0) for event in again if isinstance(event, Forced)]
    assert timeless == [replace(row, seconds=0.0) for row in rows.values()]


def test_a_sample_is_passed_over_where_the_vocabulary_is_none_for_it_or_the_run_ends():
    events = []
    unfit = sources.resolve("toy_wordpiece")
    assert walk_sample(unfit, 0, events.append) is None
    fit = sources.resolve("toy_bytes")
    assert walk_sample(fit, 0, events.append, stopped=lambda: True) is None
    assert events == []
