"""The output folder: all there as soon as it is known, and nothing of an earlier run."""

import json
import sys
from pathlib import Path

import pytest

from harness.core.outcomes import Encoded
from harness.core.output import OutputError, write_whole
from harness.events import Phase, read_events
from harness.findings.folder import RunFolder
from tests.doubles.samples import contract, violation


def test_events_are_on_disk_at_once_also_those_that_are_no_text(tmp_path):
    folder = RunFolder(tmp_path / "new" / "out")
    told = [Phase("one"), Phase("bad \ud800 é \U0001f600")]
    for count, event in enumerate(told, 1):
        folder.consume(event)
        assert list(read_events(folder.record)) == told[:count]
    write_whole(tmp_path / "file", "bad \ud800")
    assert (tmp_path / "file").read_text() == "bad \\ud800"
    folder.close()


@pytest.mark.parametrize("left", ["", '{"event": "Sta', '{"event": "Started"}\n'])
def test_what_an_earlier_run_left_goes_and_what_is_not_ours_stays(left, tmp_path):
    (tmp_path / "findings" / "f-old").mkdir(parents=True)
    (tmp_path / "findings" / "f-old" / "repro.py").write_text("")
    for name in ("run.jsonl", "summary.json", "report.html", "junit.xml", "summary.md"):
        (tmp_path / name).write_text("old")
    (tmp_path / "run.jsonl").write_text(left)  # a kill may have cut it off
    (tmp_path / "notes.txt").write_text("mine")
    folder = RunFolder(tmp_path)
    folder.close()
    assert {path.name for path in tmp_path.iterdir()} == {"run.jsonl", "notes.txt"}
    assert folder.record.read_text() == ""


def test_reports_go_before_the_record_and_that_before_the_findings(tmp_path, monkeypatch):
    """So a kill in between leaves no report, nor a record, of what is gone."""
    (tmp_path / "findings").mkdir()
    (tmp_path / "summary.json").write_text("{}")
    (tmp_path / "run.jsonl").write_text('{"event": "Started"}\n')
    order = []
    for module, name in (("os", "unlink"), ("os", "replace"), ("shutil", "rmtree")):
        real = getattr(sys.modules[module], name)

        def noted(path, *given, real=real, **named):
            order.append(Path(given[0] if given else path).name)
            return real(path, *given, **named)

        monkeypatch.setattr(f"{module}.{name}", noted)
    RunFolder(tmp_path).close()
    there = [name for name in order if name in {"summary.json", "run.jsonl", "findings"}]
    assert there == ["summary.json", "run.jsonl", "findings"]


TERMS = contract("toy_bytes", "tiktoken", "bpe.naive")
ENCODED = (("tiktoken", Encoded((1,))), ("bpe.naive", Encoded((2,))))
ONE = violation("equivalence", b"a", *ENCODED)


@pytest.fixture
def folder(tmp_path):
    made = RunFolder(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("name", ["findings", "vocabularies", "run.jsonl"])
def test_what_no_run_left_is_not_removed(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "mine.txt").write_text("precious")
    with pytest.raises(OutputError, match=f"has a {name} that is no run's"):
        RunFolder(tmp_path)
    assert (tmp_path / name / "mine.txt").read_text() == "precious"


def test_a_finding_is_written_at_once_with_all_outcomes_and_its_input_last(
    folder, tmp_path, monkeypatch
):
    """Where the input is, the rest is: a folder which a kill left in part is known by that."""
    written = []

    def noted(path, content):
        written.append(path.name)
        write_whole(path, content)

    monkeypatch.setattr("harness.findings.folder.write_whole", noted)
    many = tuple(range(100, 200)) * 30
    one = violation(
        "equivalence", b"\xff\x00", ("tiktoken", Encoded((255, 0))), ("bpe.naive", Encoded(many))
    )
    assert folder.save_finding("f-1", one, TERMS) == "findings/f-1/repro.py"
    place = tmp_path / "findings" / "f-1"
    assert (place / "input.bin").read_bytes() == b"\xff\x00"
    assert written[-1] == "input.bin"
    outcomes = json.loads((place / "outcomes.json").read_text())
    known = [outcomes[name] for name in ("check", "contract", "culprits")]
    assert known == ["equivalence", "toy_bytes/raw", ["bpe.naive"]]
    assert outcomes["partition"][0]["ids"] == [255, 0]
    assert outcomes["partition"][1]["total"] == len(many)
    assert compile((place / "repro.py").read_text(), "repro.py", "exec")
    assert not list(place.glob("*.part"))


def test_a_vocabulary_is_written_once_for_many_findings_also_without_recipes(folder, tmp_path):
    for name in ("f-1", "f-2"):
        folder.save_finding(name, ONE, TERMS)
    written = tmp_path / "vocabularies"
    assert len([path for path in written.rglob("*") if path.is_file()]) == 2
    one = violation("equivalence", b"a", ("bpe.heap", Encoded((1,))), *ENCODED[1:])
    made = folder.save_finding("f-3", one, contract("toy_bytes", "bpe.heap", "bpe.naive"))
    assert made == "findings/f-3/repro.py"
    assert (written / "toy_bytes" / "vocabulary.pickle").is_file()


def test_a_finding_that_is_replaced_loses_its_folder(folder, tmp_path):
    for name in ("f-any", "f-small"):
        (tmp_path / "findings" / name).mkdir(parents=True)
    folder.drop("f-any")
    folder.drop("f-gone")  # it may be there no more
    assert [path.name for path in (tmp_path / "findings").iterdir()] == ["f-small"]
