"""A record that came from elsewhere runs nothing of its own unless the user says so."""

from dataclasses import replace

import pytest

from harness.engine.trust import instructions
from harness.events import Found, Started, VocabularyLoaded, read_events
from impls import registry
from tests.doubles.command import here, tokgate
from tests.doubles.made import write_record

PLUGIN = """
from pathlib import Path
Path({mark!r}).write_text("ran")
from tests.mutants.in_process import AlwaysWrong as Mine
"""


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A run with findings, of registered implementations on an embedded vocabulary."""
    folder = tmp_path_factory.mktemp("plain")
    done = tokgate(
        "run", "--vocab=toy_runs", "--impl=tiktoken",
        "--impl=harness.studies.selftest.catalog:merging.rightmost-tie",
        "--budget=300cases", "--check=equivalence", folder=folder,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    return folder / "tokgate-out"


def changed(plain, to, spec, source=None):
    """The same record, where the second implementation or the vocabulary is another."""
    to.mkdir(exist_ok=True)
    events = []
    for event in read_events(plain / "run.jsonl"):
        if isinstance(event, Started):
            event = replace(event, specs=dict.fromkeys(event.specs, spec))
        elif isinstance(event, VocabularyLoaded) and source is not None:
            event = replace(event, source=source)
        events.append(event)
    write_record(to / "run.jsonl", *events)
    return to


@pytest.mark.parametrize("kind", ["cmd", "file", "module", "pip"])
def test_what_is_not_registered_does_not_run(kind, plain, tmp_path, monkeypatch):
    mark = tmp_path / "mark"
    (tmp_path / "sly_plugin.py").write_text(PLUGIN.format(mark=str(mark)))
    monkeypatch.syspath_prepend(str(tmp_path))
    spec = {
        "cmd": f"cmd:touch {mark}",
        "file": f"{tmp_path}/sly_plugin.py:Mine",
        "module": "sly_plugin:Mine",
        "pip": "pip:tiktoken==0.0.0.1",
    }[kind]
    folder = changed(plain, tmp_path / "run", spec)
    out = tmp_path / "again"
    done = here("replay", str(folder), "--out", str(out))
    assert done.returncode == 2
    (said,) = done.stderr.splitlines()
    assert f"run {spec!r}" in said and "--trust" in said
    # By the id of a finding it is no other.
    name = next(e.id for e in read_events(folder / "run.jsonl") if isinstance(e, Found))
    assert here("replay", name, "--run", str(folder), "--out", str(out)).returncode == 2
    here("report", str(folder), "--format", "markdown")  # nor by commands that only read
    here("diff", str(folder), str(folder))
    assert not mark.exists()
    assert not out.exists()
    if kind == "cmd":  # it is no encoder, but it does run now
        done = tokgate("replay", str(folder), "--out", str(out), "--trust")
        assert done.returncode == 3, done.stderr
        assert mark.exists()


def test_a_vocabulary_that_the_record_has_fetched(plain, tmp_path):
    folder = changed(plain, tmp_path / "run", "tiktoken", "hf:somebody/something")
    done = here("replay", str(folder), "--out", str(tmp_path / "again"))
    assert done.returncode == 2
    assert "fetch 'hf:somebody/something'" in done.stderr


def test_what_needs_no_word():
    paths = [
        "toy_bytes",
        "random:bpe:1",
        "tiktoken:o200k_base",
        "a/b.model",
        "x#pattern=o200k_base",
    ]
    assert instructions(registry.names(), paths) == []
    assert instructions(["tiktokn"], ["hf:a/b"]) == ["run 'tiktokn'", "fetch 'hf:a/b'"]


def test_counterexamples_do_not_choose_what_is_fetched(tmp_path):
    from harness.studies.forced import counterexamples

    one = replace(counterexamples.read("shipped")[0], vocabulary="hf:somebody/something")
    (tmp_path / "trophies.json").write_text(counterexamples.to_json([one]))
    done = here("adversary", "--replay", str(tmp_path / "trophies.json"))
    assert done.returncode == 2
    assert "give --vocab" in done.stderr
