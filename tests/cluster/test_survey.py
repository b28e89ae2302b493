"""A survey whose matches are units is the survey itself, and goes on where it was cut off."""

import pytest
from typer.testing import CliRunner

from harness.cli.application import app
from harness.cluster import addresses
from harness.cluster.local import LocalExecutor
from harness.studies.survey import cluster as matches_on_cluster
from tests.cluster.plans import files_of, plug_in, record_of

pytestmark = pytest.mark.thorough  # whole surveys


def surveyed(out, spec, *options):
    """What a survey of two matches says, whose budget is a number of cases."""
    arguments = ["field", "--impl", "tokenizers", "--impl", spec, "--vocab", "toy_bytes"]
    arguments += ["--budget", "400cases", "--check", "equivalence", "--no-bench", "--out", str(out)]
    result = CliRunner().invoke(app, [*arguments, *options])
    assert result.exit_code == 0, result.output
    return result.output


def matches_in(out):
    return sorted(path.parent for path in out.glob("*/*/run.jsonl"))


def equal(there, here):
    """Hold the matches of one survey to those of another."""
    assert len(matches_in(here)) == 2
    for one in matches_in(here):
        other = there / one.relative_to(here)
        assert record_of(other) == record_of(one)
        assert files_of(other) == files_of(one)
        assert (other / "report.html").is_file()
    assert any(files_of(one) for one in matches_in(here)), "else there are no findings"


@pytest.fixture
def places(monkeypatch):
    """Two places of this machine in place of a cluster."""
    made = []

    def opened(address, workers):
        made.append(LocalExecutor(2))
        return made[-1]

    monkeypatch.setattr(addresses, "check", lambda address: None)
    monkeypatch.setattr(addresses, "opened", opened)
    return made


def test_a_survey_in_units_is_the_survey_itself(tmp_path, places, monkeypatch):
    spec = plug_in(tmp_path)
    surveyed(tmp_path / "here", spec)
    assert not places
    said = surveyed(tmp_path / "there", spec, "--cluster", "auto")
    assert "tokenizers on toy_bytes: 800 cases" in said, "400 of each contract"
    equal(tmp_path / "there", tmp_path / "here")
    # What is there is not played again, and what is not whole is.
    missing, kept = matches_in(tmp_path / "there")
    lines = (missing / "run.jsonl").read_text().splitlines(keepends=True)
    (missing / "run.jsonl").write_text("".join(lines[:-1]))
    before = (kept / "run.jsonl").stat().st_mtime_ns
    played = []
    play = matches_on_cluster.play

    def watched(matches, *rest):
        played.extend(map(str, matches))
        play(matches, *rest)

    monkeypatch.setattr(matches_on_cluster, "play", watched)
    surveyed(tmp_path / "there", spec, "--cluster", "auto")
    assert played == [str(missing)]
    assert (kept / "run.jsonl").stat().st_mtime_ns == before
    equal(tmp_path / "there", tmp_path / "here")
