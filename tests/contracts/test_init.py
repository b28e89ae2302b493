"""``tokgate init`` gives a repository a gate that passes, and fails when a merge is broken."""

import json
import os
import subprocess
import sys
import tomllib

import pytest

from corpora.vocabularies import embedded
from harness.cli.commands import init, run
from harness.core.exit_statuses import CANNOT_START, FAILS, HOLDS
from tests.doubles import sample_repository
from tests.doubles.command import here, summary

yaml = pytest.importorskip("yaml")

STEPS = {
    ".github/workflows/tokgate.yml": lambda read: [
        step["run"] for step in read["jobs"]["gate"]["steps"] if "run" in step
    ],
    ".gitlab-ci.yml": lambda read: read["tokgate"]["script"],
}
"""The scripts of a workflow, by its file."""

TABLE = {
    "vocab": ["data/mini.tiktoken"],
    "impl": ["minitok.gate:Minitok"],
    "expect": "expected.toml",
}


@pytest.fixture
def sample(tmp_path, monkeypatch):
    """The sample repository, in which ``init`` finds no other options."""
    sample_repository.write(tmp_path / "sample")
    for name in [one for one in sys.modules if one.partition(".")[0] == "minitok"]:
        monkeypatch.delitem(sys.modules, name)  # that of another test
    monkeypatch.setenv("TOKGATE_CONFIG", "")  # restored in the end, as `init` sets it
    monkeypatch.chdir(tmp_path)
    return tmp_path / "sample"


@pytest.fixture
def quick(sample, monkeypatch):
    """The sample with its package installed, whose first run ends at once: what it was asked."""
    asked = []
    monkeypatch.syspath_prepend(str(sample))
    monkeypatch.setattr(init, "first_run", lambda words: asked.append(words) or HOLDS)
    monkeypatch.setattr(init.expect, "command", lambda *_: None)
    return asked


def options(folder):
    """The options in the pyproject.toml of a folder."""
    return tomllib.loads((folder / "pyproject.toml").read_text())["tool"]["tokgate"]


@pytest.mark.parametrize(("ci", "file"), [*zip(("github", "gitlab"), STEPS, strict=True)])
def test_what_init_writes(ci, file, sample, quick):
    done = here("init", "sample", "--ci", ci)
    assert done.returncode == HOLDS, done.stderr
    assert quick == [["--vocab=data/mini.tiktoken", "--impl=minitok.gate:Minitok"]]
    assert "weights.model is left out" in done.stderr
    assert options(sample) == TABLE
    project = (sample / "pyproject.toml").read_text()
    assert project.startswith(sample_repository.PROJECT)
    steps = STEPS[file](yaml.safe_load((sample / file).read_text()))
    assert steps[:2] == ["pip install . 'tokgate[engines]'", "tokgate run --out tokgate-out"]


def test_what_is_there_is_kept_unless_it_is_to_be_replaced(sample, quick):
    files = [sample / name for name in ("pyproject.toml", "expected.toml", next(iter(STEPS)))]
    here("init", "sample", "--impl", "tiktoken", "--vocab", "toy_bytes")
    files[1].write_text("# mine\n")
    files[2].write_text("# mine\n")
    before = [one.read_bytes() for one in files]
    here("init", "sample")
    assert [one.read_bytes() for one in files] == before
    assert (quick.pop(), os.environ["TOKGATE_CONFIG"]) == ([], "pyproject.toml")
    refused = here("init", "sample", "--impl", "minitok.gate:Minitok")
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    here("init", "sample", "--force")
    assert options(sample) == TABLE
    assert files[1].read_text() == "# mine\n"  # reasons that somebody wrote stay, whatever is said
    assert quick.pop()[-1] == "--expect=expected.toml"
    assert files[2].read_text() != "# mine\n"


def test_options_that_cannot_be_replaced_are_left(sample, quick):
    text = f"{sample_repository.PROJECT}[tool]\ntokgate = {{ seed = 1 }}\n"
    text = text.replace("[tool.ruff]\nline-length = 100\n", "")
    (sample / "pyproject.toml").write_text(text)
    refused = here("init", "sample", "--force")
    assert refused.returncode == 2
    assert "remove it yourself" in refused.stderr
    assert (quick, (sample / "pyproject.toml").read_text()) == ([], text)
    kept = here("init", "sample")
    assert kept.returncode == HOLDS
    assert 'next: add expect = "expected.toml" to pyproject.toml' in kept.stderr


def test_without_a_pyproject_the_options_have_a_file_of_their_own(sample, quick):
    (sample / "pyproject.toml").unlink()
    here("init", "sample")
    assert tomllib.loads((sample / "tokgate.toml").read_text()) == TABLE
    workflow = (sample / next(iter(STEPS))).read_text()
    assert "pip install 'tokgate[engines]'" in workflow
    assert "cache-dependency-path: tokgate.toml" in workflow


def test_nothing_is_written_where_the_run_did_not_begin(sample, quick, monkeypatch):
    monkeypatch.setattr(init, "first_run", lambda _: CANNOT_START)
    before = sorted(sample.rglob("*"))
    assert here("init", "sample").returncode == CANNOT_START
    assert [one for one in sorted(sample.rglob("*")) if "__pycache__" not in str(one)] == before


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        (lambda sample: None, 3, "No module named 'minitok'"),
        (lambda sample: (sample / "minitok" / "gate.py").unlink(), 2, "name one with --impl"),
        (lambda sample: (sample / "minitok" / "gate.py").write_text("class M(:"), 2, "--impl"),
        (lambda sample: (sample / "pyproject.toml").write_text(
            '[project.entry-points."tokgate.implementations"]\nminitok_absent = "minitok:Mini"\n'
        ), 2, "pip install -e ."),
        (lambda sample: (sample / "pyproject.toml").write_text("[tool"), 2, "pyproject.toml"),
    ],
)  # fmt: skip
def test_what_init_cannot_find_is_one_line(change, status, words, sample):
    change(sample)
    done = here("init", "sample")
    assert done.returncode == status
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_without_a_file_init_takes_vocabularies_that_are_built_in(sample, quick):
    (sample / "data" / "mini.tiktoken").unlink()
    assert here("init", "sample").returncode == HOLDS
    vocabularies = options(sample)["vocab"]
    assert "toy_bytes" in vocabularies
    assert all(embedded.algorithm(one) == "bpe" for one in vocabularies)


def test_init_needs_a_vocabulary_that_somebody_runs(sample, quick):
    (sample / "data" / "mini.tiktoken").unlink()
    refusing = sample_repository.ADAPTER.replace(
        'if vocabulary.algorithm != "bpe" or', "if True or"
    )
    (sample / "minitok" / "gate.py").write_text(refusing)
    done = here("init", "sample", "--impl", "minitok/gate.py:Minitok")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("name one with --vocab")


def test_check_is_a_short_run(monkeypatch):
    asked = {}
    monkeypatch.setattr(run, "command", lambda **given: asked.update(given) or FAILS)
    assert here("check", "toy_bytes", "tiktoken", "--reference", "bpe.naive").returncode == FAILS
    assert (asked["vocab"], asked["impl"]) == (["toy_bytes"], ["tiktoken", "bpe.naive"])
    assert (asked["reference"], asked["budget"]) == (["bpe.naive"], "30s")
    assert "check" not in asked  # all of them


def in_a_shell(script, folder):
    """A script of a workflow as CI runs it, in a checkout whose package is installed."""
    environment = {**os.environ, **sample_repository.installed(folder)}
    environment.pop("TOKGATE_CONFIG", None)
    environment["GITHUB_STEP_SUMMARY"] = str(folder / "step-summary")
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script], cwd=folder, env=environment,
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


@pytest.mark.first
@pytest.mark.thorough  # three runs with growth
def test_the_gate_passes_and_a_broken_merge_fails(sample):
    made = in_a_shell("tokgate init --budget 5s", sample)
    assert made.returncode == HOLDS, made.stderr
    assert "wrote expected.toml, pyproject.toml, .github/workflows/tokgate.yml" in made.stderr
    with (sample / "pyproject.toml").open("a") as options_file:
        options_file.write('budget = "5s"\n')
    file = next(iter(STEPS))
    steps = STEPS[file](yaml.safe_load((sample / file).read_text()))
    ours = [step for step in steps if not step.startswith("pip")]
    assert len(ours) == 2
    for step in ours:
        done = in_a_shell(step, sample)
        assert done.returncode == HOLDS, done.stderr
    assert "minitok" in (sample / "step-summary").read_text()
    assert summary(sample / "tokgate-out")["verdict"] == "pass"

    sample_repository.break_a_merge(sample)
    with (sample / "pyproject.toml").open("a") as options_file:
        options_file.write('check = ["equivalence"]\n')  # the ids are wrong, and not the times
    broken = in_a_shell(ours[0], sample)
    assert broken.returncode == FAILS, broken.stderr
    assert "options from pyproject.toml: vocab, impl, expect, budget, check" in broken.stderr
    found = summary(sample / "tokgate-out")["findings"]
    assert {one["bucket"].rpartition("/")[2] for one in found} == {"minitok"}  # who is to blame

    line = "tokgate check data/mini.tiktoken minitok.gate:Minitok --budget 5s --out checked"
    checked = in_a_shell(line, sample)
    assert checked.returncode == FAILS, checked.stderr
    assert "tiktoken joins this run" in checked.stderr
    assert "/minitok" in checked.stderr
    assert len(checked.stderr[checked.stderr.index("FAILED") :].splitlines()) <= 12, checked.stderr
    assert json.loads((sample / "checked" / "summary.json").read_text())["verdict"] == "fail"
