"""Campaigns as users have them: their memory, their arms, their canary, their rounds and time."""

import re
import threading
from dataclasses import replace

import pytest

from corpora.vocabularies import embedded, sources
from harness.cli.commands.fuzz import resumed
from harness.cli.progress import CampaignProgress
from harness.core.output import OutputError
from harness.engine.selection import SelectionError, participants
from harness.engine.suites import Budget
from harness.events import BatchDone
from harness.ledger import trends
from harness.ledger.engine import open_database
from harness.ledger.store import history
from harness.studies.campaigns import session
from harness.studies.campaigns.session import TURN_SECONDS, turn
from harness.studies.campaigns.state import Round
from harness.studies.campaigns.store import CampaignStore, difference
from harness.studies.fuzz import run as campaign
from harness.studies.fuzz import run as fuzzing
from harness.studies.fuzz.arms import CORPUS, STRUCTURED, structured
from harness.studies.fuzz.coverage import COVERAGE, covered, interpreted, targets
from harness.studies.fuzz.examples import inputs, key, open_examples
from harness.studies.fuzz.folder import CampaignFolder, save_corpus
from harness.studies.fuzz.plan import RANDOM_VOCABULARIES, fuzzed
from harness.studies.selftest import canary as planted
from harness.verdict.expectations import Example, Expectation
from impls.interface import Mode
from tests.breadth import thorough
from tests.doubles.fuzz_campaign import WRONG, everything, no_processes, run, small_plan

__all__ = ["no_processes"]

TOY = sources.resolve("toy_bytes")
HERE = ("--vocab=toy_bytes", "--impl=bpe.naive", f"--impl={WRONG}:OneToken")
PAIR = ("tests.faults.durability.inside:Errs",)
PLAIN = (*HERE, "--no-structured", "--no-coverage", "--no-canary")


def test_where_none_is_named_vocabularies_are_drawn_too():
    named, drawn, others = (fuzzed(*one) for one in ((["toy_bytes"], 0), ([], 0), ([], 1)))
    assert [*named] == ["toy_bytes"]
    assert "tekken_240911" in drawn
    random = [name for name in drawn if name.startswith(embedded.RANDOM)]
    assert len(random) == RANDOM_VOCABULARIES
    assert random != [name for name in others if name.startswith(embedded.RANDOM)]


def test_a_campaign_is_held_by_one_process(tmp_path, monkeypatch):
    """Whose hold may outlive it for a moment where it was killed."""
    where = str(tmp_path / "x.db")
    held = CampaignStore(where, "a").held()
    held.__enter__()
    with monkeypatch.context() as patch:
        patch.setattr("harness.studies.campaigns.store.RELEASE_SECONDS", 0.1)
        with (
            CampaignStore(where, "b").held(),
            pytest.raises(SelectionError, match="another process is at the campaign"),
            CampaignStore(where, "a").held(),
        ):
            pass
    threading.Timer(0.3, held.__exit__, (None, None, None)).start()
    with CampaignStore(where, "a").held():
        pass


def test_a_campaign_of_other_options_is_refused_or_restarts(tmp_path):
    where = str(tmp_path / "x.db")

    def begun(seed, anew=False, **more):
        store = CampaignStore(where, "a", **more)
        store.begin({"seed": seed}, anew=anew)
        return store

    first = begun(1)
    first.commit([Round("toy", 1, {}, {"corpus": b"x"})])
    first.tell(["f-1"])
    assert begun(1, restarts=True).parts("toy") == {"corpus": b"x"}
    with pytest.raises(SelectionError, match="--restart-if-changed"):
        begun(2)
    second = begun(2, restarts=True)
    assert (second.mark != first.mark, second.known()) == (True, {"f-1"})
    assert first.parts("toy") == second.parts("toy") == {}
    assert begun(3, anew=True).known() == {"f-1"}


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "summary.json").write_text("mine")
    with pytest.raises(OutputError, match=r"has a summary.json that is no campaign's"):
        run(small_plan(100), str(tmp_path / "x.db"), tmp_path)
    assert (tmp_path / "summary.json").read_text() == "mine"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"seed": 1}, "seed 0, not 1"),
        ({"implementation": {"a": "1", "b": "3"}}, "implementation b 2, not 3"),
        ({"implementation": {"a": "1"}}, "implementation b 2"),
        ({"implementation": {"a": "1", "b": "2", "c": "1"}}, "no implementation c 1"),
        ({"checks": ["x"]}, "checks x, y, not x"),
    ],
)
def test_differences_of_identities_are_named(change, told):
    one = {"seed": 0, "implementation": {"a": "1", "b": "2"}, "checks": ["x", "y"]}
    assert difference(one, one | change) == told


@pytest.mark.usefixtures("no_processes")
def test_each_session_is_a_run_of_the_ledger_and_has_its_expectations(tmp_path):
    where, plan = str(tmp_path / "x.db"), small_plan(600, PAIR)
    assert run(plan, where, tmp_path / "out").finished.verdict == "fail"
    known = Expectation("equivalence/*/mini-errs", {}, "planted", examples=(Example(b"\x87"),))
    triaged = replace(plan, plan=replace(plan.plan, expectations=[known]))
    second = run(triaged, where, tmp_path / "out")
    assert second.finished.verdict == "pass", second.finished.reasons
    assert [found.expected for found in second.findings] == ["planted"]
    unexpected, _ = trends.findings(history(open_database(where)))
    assert [value for *_, value in unexpected.points] == [1, 0]
    (found,) = history(open_database(where)).runs[0].coverage.findings.values()
    assert found.bucket == "equivalence/bpe/raw/text/bytes/mini-errs"


@pytest.mark.usefixtures("no_processes")
def test_a_session_says_where_it_goes_on_and_one_that_is_killed_is_a_run(tmp_path, monkeypatch):
    class Killed(BaseException):
        """As nothing catches it, nothing is written after it."""

    def killed(self, each):
        raise Killed

    where, plan = str(tmp_path / "x.db"), small_plan(600, PAIR)
    made = run(plan, where, tmp_path / "out")
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(session.Session, "run", killed)
        run(plan, where, tmp_path / "out")
    runs = history(open_database(where)).runs
    assert [one.ended.complete for one in runs] == [True, False]
    assert [len(one.coverage.findings) for one in runs] == [len(made.findings)] * 2
    store, told = CampaignStore(where, "test"), []

    def progress(known, states):
        told.append(resumed(store, states))
        return CampaignProgress("", None, known)

    fuzzing.execute(plan, store, tmp_path / "out", "test", progress, lambda made: None, 3600)
    line = r"session 3, round \d+ of campaign test, 600 cases so far; 1 known finding asked again"
    assert re.search(line, told[0])


@pytest.mark.usefixtures("no_processes")
def test_mutants_of_the_corpus_are_asked_and_another_seed_is_another_campaign(tmp_path):
    def asked(seed):
        where = str(tmp_path / f"{seed}.db")
        made = run(small_plan(600, ("bpe.heap",), seed=seed), where, tmp_path / "out")
        (target,) = made.about["targets"].values()
        assert target["arms"][CORPUS]["cases"] > 0
        assert target["corpus"] > 50
        return everything(where)["inputs"]

    assert asked(0) != asked(1)


@pytest.mark.usefixtures("no_processes")
def test_inputs_to_begin_with_come_first(tmp_path):
    plan = small_plan(10, PAIR)
    one = replace(plan.plan, generators=[g for g in plan.plan.generators if g.name == "repeats"])
    plan = replace(plan, plan=one, seeds=[b"first \x87", b"second"])
    made = run(plan, str(tmp_path / "x.db"), tmp_path / "out")
    (found,) = made.findings
    assert (found.generator, found.index) == ("seeds", 0)
    saved = tmp_path / "saved"
    assert save_corpus(plan, CampaignStore(str(tmp_path / "x.db"), "test"), saved) == 0
    store = CampaignStore(str(tmp_path / "x.db"), "test")
    store.begin(plan.identity(), anew=False)
    assert save_corpus(plan, store, saved) > 2
    assert save_corpus(plan, store, saved) == 0
    assert b"second" in {path.read_bytes() for path in saved.iterdir()}


# What a killed session leaves.


def test_a_folder_that_was_half_cleared_for_a_campaign_is_cleared(tmp_path):
    CampaignFolder(tmp_path, "one").write([], {})
    (tmp_path / "vocabularies" / "old").mkdir(parents=True)
    CampaignFolder(tmp_path, "one")
    assert (tmp_path / "vocabularies" / "old").is_dir()
    # The campaign two was begun, its folder not yet cleared, when the session was killed.
    CampaignFolder(tmp_path, "two")
    assert not (tmp_path / "vocabularies").exists()


def test_of_several_targets_the_least_input_stays(tmp_path):
    """Whichever is first: the record takes the same."""
    folder = CampaignFolder(tmp_path, "one", shared=True)
    for data in (b"b", b"a", b"c", b"aa"):
        files = {"input.bin": data, "outcomes.json": b"{}", "repro.py": b"of " + data}
        folder.place({f"findings/f-1/{name}": content for name, content in files.items()})
    assert (tmp_path / "findings" / "f-1" / "repro.py").read_bytes() == b"of a"
    assert (tmp_path / "findings" / "f-1" / "input.bin").read_bytes() == b"a"


# Hypothesis.


def test_hypothesis_makes_the_same_whatever_was_made_before():
    one = structured(TOY, lambda place: place)
    first, second = one(0, 0), one(1, 1)
    assert first is not None and second is not None
    assert first.generator == STRUCTURED
    assert len(first.inputs) > 50
    assert first.inputs != second.inputs
    assert structured(TOY, lambda place: place)(7, 1) == second


@pytest.mark.thorough  # two whole campaigns
def test_findings_are_shared_and_those_of_others_taken_up(tmp_path):
    where = str(tmp_path / "examples")
    wrong = small_plan(400, PAIR)
    run(replace(wrong, database=where), str(tmp_path / "1.db"), tmp_path / "1")
    examples = open_examples(where)
    assert inputs(TOY, examples) == [b"\x87"]
    examples.save(key(TOY), b"\x87 from afar")
    edge = [g for g in wrong.plan.generators if g.name == "repeats"]
    other = replace(wrong, database=where, plan=replace(wrong.plan, generators=edge))
    made = run(other, str(tmp_path / "2.db"), tmp_path / "2")
    assert {found.generator for found in made.findings} == {"shared"}
    # What it shared itself is not taken up again, so that going on is as if it had never stopped.
    again = everything(str(tmp_path / "2.db"))
    run(other, str(tmp_path / "2.db"), tmp_path / "2")
    assert everything(str(tmp_path / "2.db")) == again


@pytest.mark.parametrize(
    ("where", "kind"),
    [("github:owner/repository", "GitHub"), ("redis://localhost:1/0", "Redis"), ("x", "Directory")],
)
def test_databases_have_names(tmp_path, monkeypatch, where, kind):
    monkeypatch.chdir(tmp_path)
    if kind == "Redis":
        pytest.importorskip("redis")
    assert kind in repr(open_examples(where))
    with pytest.raises(SelectionError, match="github:OWNER/REPO"):
        open_examples("github:nobody")


# Atheris.


@pytest.mark.thorough  # whole campaigns, several of them
def test_atheris_finds_the_same_and_goes_on_from_its_corpus():
    pytest.importorskip("atheris")

    def batches():
        kept = []
        mode = Mode(pretokenize=False)
        arm = covered([("bpe.heap", mode)], TOY, lambda place: place, kept, lambda: False)
        made = [arm(0, 0), arm(1, 1)]
        return [*made, list(kept)]

    first = batches()
    assert first[0] is not None
    assert first[0].generator == COVERAGE
    assert len(first[0].inputs) >= 10
    assert batches() == first


def test_what_atheris_can_instrument():
    present, _ = participants(["bpe.heap", "tiktoken", f"{WRONG}:OneToken"])
    assert [c.name for c in present if interpreted(c)] == ["bpe.heap"]
    assert targets(sources.resolve("tekken_240911"), []) == []


# Cost.


@pytest.mark.thorough  # a whole campaign
@pytest.mark.usefixtures("no_processes")
def test_cost_guides_where_it_is_asked_to(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.studies.fuzz.target.EVERY", 1)
    plan = replace(small_plan(800, ("bpe.heap",)), costly=True)
    made = run(plan, str(tmp_path / "x.db"), tmp_path / "out")
    (target,) = made.about["targets"].values()
    assert any(name.startswith("bpe.naive ") for name in target["nanoseconds a byte"])


# The canary.


@pytest.mark.parametrize("found", [True, thorough(False)])
def test_a_campaign_has_to_find_the_canary(tmp_path, monkeypatch, found):
    if not found:
        monkeypatch.setattr(planted, "is_caught", lambda findings: False)
        monkeypatch.setattr("harness.studies.fuzz.canary.ENOUGH_CASES", 200)
    # It errs on the words of some scripts, of which this generator is full.
    plan = replace(small_plan(100, ("bpe.heap",), drawn=("scripts",)), canary=True)
    made = run(plan, str(tmp_path / "x.db"), tmp_path / "out")
    assert made.findings == []
    assert made.campaign.canary is found
    assert made.finished.exit_status == (0 if found else 1)
    assert found or "the canary was not found" in made.finished.reasons[0]


# Rounds and time.


def test_in_a_short_session_each_target_has_its_turn():
    assert turn(None, 1, 24) == TURN_SECONDS
    assert turn(3600.0, 2, 24) == TURN_SECONDS
    assert turn(60.0, 1, 6) == 10.0
    assert turn(60.0, 2, 6) == 20.0


def test_what_a_campaign_needs_is_made_before_its_time_begins(monkeypatch, tmp_path):
    told = []
    monkeypatch.setattr(campaign, "prepare", lambda *given: told.append("prepared"))
    monkeypatch.setattr(campaign.Session, "run", lambda *given: told.append("begun"))
    made = small_plan(60, ("bpe.heap",))
    run(made, str(tmp_path / "x.db"), tmp_path / "out")
    assert told == ["prepared", "begun"]


@pytest.mark.parametrize("named", [True, False])
def test_what_was_named_has_a_round_though_the_time_is_over(no_processes, tmp_path, named):
    made = small_plan(60, ("bpe.heap",), ("toy_bytes", "toy_ties", "toy_acbb"))
    asked = {"vocabularies": list(made.plan.vocabularies)} if named else {}
    plan = replace(made.plan, budget=Budget(seconds=1e-3), asked=asked, jobs=1)
    record = run(replace(made, plan=plan), str(tmp_path / "x.db"), tmp_path / "out")
    done = {event.contract for event in record.events if isinstance(event, BatchDone)}
    reached = {one.split("/")[0] for one in done}
    if named:
        assert reached == {"toy_bytes", "toy_ties", "toy_acbb"}
        assert record.finished.exit_status == 0, record.finished.reasons
        assert "to test what you named on" in " ".join(record.finished.notes)
    else:
        assert len(reached) < 3
