"""``tokgate forced``: rubbish, the verdict, workers that die, the sample of a run."""

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
from harness.studies.forced.pool import Worker, results
from harness.studies.forced.results import Tally, Walked, total
from harness.studies.forced.run import ForcedPlan, chosen, judged
from harness.studies.forced.study import SCHEMAS, walk_sample
from tests.doubles.tables import rows

KEYS = {
    "type": "object",
    "properties": {"orderId": {"type": "integer"}, "orderName": {"type": "string"}},
    "required": ["orderId"],
    "additionalProperties": False,
}
GOOD = SchemaCase("good", KEYS, (b'{"orderId":1}',))


MISTAKES = """
nowhere    | toy_bytes     |      | corpus nowhere
{}/empty   | toy_bytes     |      | holds no .json
{}/rubbish | toy_bytes     |      | is not JSON
own        | toy_bytes     | best | --policy 'best'
own        | no_such       |      | no_such
own        | toy_wordpiece | none | forced tokens of
own        | toy_merges    | none | no tokens for JSON
"""
"""A corpus, a vocabulary, a policy, if one is named, and what is said."""


@pytest.mark.parametrize(("corpus", "vocab", "policies", "said"), rows(MISTAKES))
def test_each_mistake_is_named(corpus, vocab, policies, said, tmp_path):
    for name in ("empty", "rubbish"):
        (tmp_path / name).mkdir()
    (tmp_path / "rubbish" / "a.json").write_text("{")
    with pytest.raises((SelectionError, VocabularyError)) as raised:
        command(
            corpus.format(tmp_path),
            vocab,
            policy=policies.split(),
            limit=1,
            jobs=1,
            out=tmp_path / "o",
        )
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "o").exists() or said == "forced tokens of"


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


TASK = Task(sources.resolve("toy_bytes"), ["none"], "flexible", seconds=60.0)


def test_what_decides_the_results_tells_a_walk_from_others():
    plan = ForcedPlan("own", "toy_bytes", TASK)
    assert replace(plan, limit=2, jobs=3, minimised=0).identity() == plan.identity()
    changes = (
        {"whitespace": "compact"}, {"seed": 1}, {"policies": ["exact"]},
        {"vocabulary": sources.resolve("toy_acbb")},
    )  # fmt: skip
    others = [replace(plan, task=replace(TASK, **one)).identity() for one in changes]
    assert all(one not in (plan.identity(), *others[:at]) for at, one in enumerate(others))


@pytest.mark.thorough  # it waits for a time-out
def test_a_schema_that_hangs_costs_itself_only():
    # llguidance's state grows with the depth, and is copied at each token.
    deep = SchemaCase("deep", {"type": "array"}, (b"[" * 400_000,))
    # What llguidance refuses is not walked.
    refused = SchemaCase("refused", {"not": {}}, (b"1",))
    jobs = map(WalkSchema, [deep, refused, GOOD])
    found = {job.case.name: answer for job, answer in results(replace(TASK, seconds=1.0), jobs, 1)}
    assert "no answer within 1.0 s" in found["deep"]
    assert "llguidance refuses" in found["refused"].refused["refused"]
    assert (found["refused"].instances, found["good"].instances) == (0, 1)


def test_how_a_worker_died_is_told_and_another_takes_over():
    def kill():
        if not killed:
            [process] = psutil.Process(worker._process._kept.pid).children()
            process.kill()
            killed.append(process)

    killed = []
    worker = Worker(TASK, lambda line: None, kill)
    try:
        assert worker.answer(WalkSchema(GOOD)) == "killed by SIGKILL"
        assert worker.answer(WalkSchema(GOOD)).instances == 1
    finally:
        worker.close()


@pytest.mark.thorough  # a vocabulary and its policies in a process of its own
def test_a_run_walks_a_sample():
    vocabulary, events = sources.resolve("toy_bytes"), []
    for _ in range(2):
        assert walk_sample(vocabulary, 0, events.append) is None
    rows = [replace(event, seconds=0.0) for event in events if isinstance(event, Forced)]
    assert [row.method for row in rows[:3]] == ["exact", "healed:tokens=4", "llguidance"]
    assert rows[:3] == rows[3:]
    assert {row.schemas for row in rows} == {SCHEMAS}
    assert rows[0].sequences
    assert (rows[0].non_canonical, rows[0].unsafe) == (0, 0)


@pytest.mark.parametrize(("name", "stopped"), [("toy_wordpiece", False), ("toy_bytes", True)])
def test_a_sample_is_passed_over_where_the_vocabulary_is_none_for_it_or_the_run_ends(name, stopped):
    events = []
    vocabulary = sources.resolve(name)
    assert walk_sample(vocabulary, 0, events.append, stopped=lambda: stopped) is None
    assert events == []
