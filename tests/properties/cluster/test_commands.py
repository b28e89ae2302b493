"""A command whose work is done in units comes to what it comes to by itself."""

import shlex

import pytest

from harness.cluster import addresses
from harness.cluster.local import LocalExecutor
from tests.doubles.command import here, record
from tests.properties.cluster.plans import files_of, plug_in, record_of

FORCED = ("ForcedCorpus", "Forced", "ForcedWitness", "Finished")


def forced(out):
    """What a walk found and says, without times."""
    found = [{k: v for k, v in one.items() if k != "seconds"} for one in record(out, *FORCED)]
    assert sum(one.get("non_canonical", 0) for one in found) > 0
    return found


def selftest(out):
    """What became of each mistake: its check, and whether it was caught.

    Which of its findings were made small by then, and so its sightings, is the clock's affair.
    """
    rows = record(out, "MistakeJudged")
    assert len({one["name"] for one in rows if one.get("check")}) > 5
    told = ("check", "rightly", "caught", "trouble")
    found = {(one["name"], one["vocabulary"]): [one.get(key) for key in told] for one in rows}
    (ended,) = record(out, "Finished")
    return found, ended["verdict"], ended["reasons"]


def field(out):
    """The record and the findings of each match."""
    found = {
        str(path.parent.relative_to(out)): (record_of(path.parent), files_of(path.parent))
        for path in out.glob("*/*/run.jsonl")
    }
    assert len(found) == len(list(out.glob("*/*/report.html"))) == 2
    assert any(files for _, files in found.values())
    return found


COMMANDS = {
    "forced": (
        "forced own --vocab tekken_240911 --policy none --policy exact --limit 12 --jobs 1"
        " --minimize 0", forced,
    ),
    "selftest": (
        "selftest --mutant merging.refuses --mutant merging.stale-kept --mutant wordpiece.*"
        " --budget 1200s --seed 3 --jobs 2", selftest,
    ),
    "field": (
        "field --impl tokenizers --impl {wrong} --vocab toy_bytes --budget 400cases"
        " --check equivalence --no-bench", field,
    ),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["forced", "selftest", "field"])
def test_a_command_in_units_comes_to_the_same(name, tmp_path, monkeypatch):
    submitted = []

    class Places(LocalExecutor):
        def submit(self, unit):
            submitted.append(unit.name)
            super().submit(unit)

    monkeypatch.setattr(addresses, "check", lambda address: None)
    monkeypatch.setattr(addresses, "opened", lambda *_: Places(2))
    line, read = COMMANDS[name]
    words = shlex.split(line.format(wrong=plug_in(tmp_path)))

    def done(out, *options):
        ended = here(*words, "--out", out, *options, folder=tmp_path)
        assert ended.returncode in (0, 1), ended.stderr
        return read(tmp_path / out)

    expected = done("here")
    assert not submitted
    assert done("there", "--cluster", "auto") == expected
    assert len(submitted) == len(set(submitted)) > 1
    if name == "field":  # what is there is not played again, and what is not whole is
        cut = next((tmp_path / "there").glob("*/*/run.jsonl"))
        cut.write_text("".join(cut.read_text().splitlines(keepends=True)[:-1]))
        del submitted[:]
        assert done("there", "--cluster", "auto") == expected
        assert len(submitted) == 1
