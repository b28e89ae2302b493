"""What a run needs is made before its time begins, once, and nothing of it is in the record."""

import threading
from dataclasses import replace

import pytest

from corpora.vocabularies import embedded, sources
from harness.core.comparisons import algorithm_of
from harness.engine.suites import Budget
from harness.events import ContractOpened, Phase, Preparing, VocabularyLoaded
from harness.studies import preparation
from harness.studies.preparation import Progress, prepare, unprepared
from tests.doubles.toy_plans import any_plan


@pytest.fixture
def markers(tmp_path, monkeypatch):
    """The folder of the markers: nothing is prepared yet."""
    monkeypatch.setattr(preparation, "marker", lambda name: tmp_path / name)
    return tmp_path


def plan(vocabularies, *impls):
    made = any_plan(impls, vocabularies, scaled=vocabularies, budget=Budget(seconds=1.0))
    return replace(made, named=[one.name for one in made.participants])


def test_what_is_made_is_made_once(markers, monkeypatch):
    made = []
    monkeypatch.setattr(preparation, "compile_modules", lambda: made.append("modules"))
    monkeypatch.setattr(preparation, "compile_models", lambda one, stopped: made.append(one.id))
    wanted = plan(["toy_bytes"], "bpe.heap", "tiktoken")
    events = []
    assert prepare(wanted, events.append, threading.Event()) == 1
    assert made == ["modules", "toy_bytes"]
    # The record of the run knows nothing of it but how far it is.
    assert {type(event) for event in events} == {Preparing}
    assert [event.share for event in events if isinstance(event, Preparing)][-1] == 1.0
    assert prepare(wanted, events.append, threading.Event()) == 0
    assert made == ["modules", "toy_bytes"]


def test_only_what_a_run_needs_is_made(markers):
    wanted = plan(["toy_bytes", "toy_ties"], "bpe.heap", "tiktoken")
    missing = unprepared(wanted)
    assert set(missing) == {"toy_bytes", "toy_ties"}
    for marker in missing["toy_bytes"]:
        marker.touch()
    assert set(unprepared(wanted)) == {"toy_ties"}
    # Another one of ours has its code to be compiled, a library of others has not.
    assert set(unprepared(plan(["toy_bytes"], "bpe.heap", "tokenizers"))) == set()
    assert set(unprepared(plan(["toy_bytes"], "bpe.naive"))) == {"toy_bytes"}


def test_of_random_vocabularies_one_of_each_kind_is_made(markers):
    wanted = plan(["random:4"], "bpe.heap")
    kinds = {source.rpartition(":")[0] for source in wanted.vocabularies}
    everything = plan(list(wanted.vocabularies), "bpe.heap")
    assert {one.rpartition(":")[0] for one in unprepared(everything)} == kinds
    assert len(unprepared(everything)) == len(kinds)


def test_a_file_that_has_changed_is_made_anew(markers):
    one, other = (sources.resolve(name) for name in ("toy_bytes", "toy_ties"))
    mine = plan(["toy_bytes"], "bpe.heap")

    def with_file(vocabulary):
        return replace(mine, vocabularies={"my.model": lambda: vocabulary}, scaled=["my.model"])

    for marker in unprepared(with_file(one))["my.model"]:
        marker.touch()
    assert unprepared(with_file(one)) == {}
    assert set(unprepared(with_file(other))) == {"my.model"}


def test_nothing_is_made_before_each_run_where_no_marker_can_be_kept(markers, monkeypatch):
    monkeypatch.setattr(preparation, "compiled_folder", lambda: markers / "file" / "below")
    (markers / "file").write_text("")
    wanted = plan(["toy_bytes"], "bpe.heap")
    assert prepare(wanted, lambda event: None, threading.Event()) == 0


def test_the_bar_tells_how_much_of_all_is_done():
    told = []
    progress = Progress(told.append, 2)
    progress.consume(VocabularyLoaded("a", "toy", "bpe", 3, "", None, []))
    progress.consume(Phase("loading a"))
    progress.consume(ContractOpened("a/text", "bpe", "a", "text", [], [], {}, []))
    progress.consume(Preparing("a", ["x"], {"y": ""}))
    progress.done("a")
    progress.done("b")
    assert {type(event) for event in told} == {Preparing}
    assert [event.share for event in told] == [0.0, pytest.approx(1 / 6), 0.5, 1.0]


@pytest.mark.parametrize("name", sorted(set(embedded.embedded()) - {"tekken_240718"}))
def test_algorithms_of_embedded_vocabularies_are_known_before_they_are_loaded(name):
    assert embedded.algorithm(name) == algorithm_of(embedded.load(name))
    assert embedded.algorithm(f"./{name}") is None
