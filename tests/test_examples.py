"""The workflows to copy, gone through step by step as GitHub does, and the comment they post."""

import json
import os
import subprocess
import sys
import sysconfig

import pytest

yaml = pytest.importorskip("yaml")

from tests.doubles.github_api import api  # noqa: E402
from tests.doubles.workflow import ROOT, Runner  # noqa: E402

SCRIPT = ROOT / ".github" / "comment.py"
PACKAGE = """
from impls.interface import About
from impls.registry import resolve

RIGHT = resolve("sentencepiece")


class Tokenizer:
    about = About(name="mine", version="VERSION")

    def supports(self, vocabulary, mode):
        return RIGHT.supports(vocabulary, mode)

    def load(self, vocabulary):
        return Encoder(RIGHT.load(vocabulary))


class Encoder:
    def __init__(self, right):
        self.right = right

    def encode(self, data, mode):
        ids = list(self.right.encode(data, mode))
        return ids[::-1] if WRONG and b"e" in data else ids
"""
FAST = "--check=equivalence\n"
"""Growth and canonicality would take minutes, and are tested elsewhere."""
QUICK = "--no-structured\n--no-coverage\n--no-canary\n"


# --- the comment ----------------------------------------------------------------------------------


def post(folder, server, text, key="w gate", event=None, **environment):
    """Run the script as the action does; what it printed."""
    pull = {"pull_request": {"number": 7, "head": {"sha": "0123456789abcdef"}}}
    (folder / "event.json").write_text(json.dumps(pull if event is None else event))
    if text is not None:
        (folder / "comment.md").write_text(text, "utf-8")
    given = {
        "GITHUB_TOKEN": "secret", "GITHUB_API_URL": server, "GITHUB_REPOSITORY": "o/r",
        "GITHUB_EVENT_PATH": str(folder / "event.json"), "GITHUB_RUN_ID": "55", "STATUS": "2",
        "GITHUB_SERVER_URL": "https://github.com", "KEY": key, **environment,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder / "comment.md")],
        env=given, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_one_comment_is_posted_and_then_edited(tmp_path):
    with api() as server:
        others = [server.comment("hello", "User") for _ in range(4)]
        server.comments += others
        post(tmp_path, server.address, "## first\n")
        ours = server.comments[-1]["body"]
        assert ours.startswith("<!-- tokgate ")
        assert "## first\n" in ours
        assert "Commit 0123456789 · [log and artifacts](" in ours
        assert "](https://github.com/o/r/actions/runs/55)" in ours
        # Somebody answers with a copy of it; another job of the same pull request has its own.
        server.comments.insert(0, {**server.comment(ours, "User"), "id": 1})
        post(tmp_path, server.address, "## other job\n", key="w other")
        post(tmp_path, server.address, "## second\n")
        assert len(server.comments) == 7
        assert "## second\n" in server.comments[5]["body"]
        assert server.comments[0]["body"] == ours
        assert server.asked[-1] == "PATCH /repos/o/r/issues/comments/104"


def test_a_comment_is_as_long_as_github_takes(tmp_path):
    with api() as server:
        post(tmp_path, server.address, "é" * 70_000)
        assert len(server.comments[0]["body"]) == 65_536
        assert server.comments[0]["body"].endswith("</sub>\n")


def test_a_run_without_a_report_is_told(tmp_path):
    with api() as server:
        post(tmp_path, server.address, "## passed\n")
        (tmp_path / "comment.md").unlink()
        post(tmp_path, server.address, None)
        assert "exit status 2" in server.comments[0]["body"]


def test_what_cannot_be_posted_is_a_warning(tmp_path):
    with api() as server:
        server.refuses = True
        said = post(tmp_path, server.address, "text")
        assert said.startswith("::warning::")
        assert "`pull-requests: write`" in said
        assert "::notice::" in post(tmp_path, server.address, "text", event={"ref": "x"})
    assert post(tmp_path, server.address, "text").startswith("::warning::")  # nobody answers


# --- the examples ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """An environment into which pip installs without a network: the libraries are ours."""
    folder = tmp_path_factory.mktemp("python")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    [site] = folder.glob("lib/python*/site-packages")
    (site / "parent.pth").write_text(sysconfig.get_path("purelib"))
    return folder


@pytest.fixture
def runner(tmp_path, python):
    """A machine with a repository: a vocabulary and a package with a tokenizer."""
    workspace = tmp_path / "workspace"
    (workspace / "src" / "my_package").mkdir(parents=True)
    model = ROOT / "corpora" / "vocabularies" / "data" / "unigram_bytes.model"
    (workspace / "my.model").write_bytes(model.read_bytes())
    (workspace / "expected.toml").touch()
    (workspace / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "my-package"\nversion = "1.0"\n'
    )
    environment = {
        "PATH": f"{python / 'bin'}:{os.environ['PATH']}", "HOME": os.environ["HOME"],
        "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "GITHUB_ACTIONS": "true",
    }  # fmt: skip
    github = {
        "github.ref": "refs/heads/main", "github.event_name": "push", "github.run_attempt": "1",
        "github.repository": "o/r", "github.job": "gate", "github.action_path": str(ROOT),
        "github.server_url": "https://github.com", "github.token": "secret",
        "github.event_path": str(tmp_path / "event.json"),
    }  # fmt: skip
    (tmp_path / "event.json").write_text("{}")
    return Runner(tmp_path, github, environment)


def commit(runner, *, wrong, version="1.0"):
    """Change the tokenizer. wrong: whether it reverses the tokens of texts with an e."""
    path = runner.workspace / "src" / "my_package" / "__init__.py"
    path.write_text(PACKAGE.replace("WRONG", str(wrong)).replace("VERSION", version))
    runner.github["github.run_id"] = str(int(runner.github.get("github.run_id", "0")) + 1)


@pytest.mark.thorough
@pytest.mark.first
def test_the_gate_of_a_pull_request(runner):
    gate = {"budget": "3s", "args": FAST}
    commit(runner, wrong=False)
    assert runner.job("pull-request.yml", **gate), runner.log
    assert any("::notice::tokgate: no comment" in one for one in runner.log)
    assert list((runner.folder / "caches").iterdir())

    pull = {"number": 7, "head": {"sha": "0123456789abcdef", "repo": {"full_name": "o/r"}}}
    (runner.folder / "event.json").write_text(json.dumps({"pull_request": pull}))
    runner.github |= {
        "github.ref": "refs/pull/7/merge", "github.event_name": "pull_request",
        "github.event.pull_request.head.repo.full_name": "o/r",
    }  # fmt: skip
    with api() as server:
        runner.github["github.api_url"] = server.address
        commit(runner, wrong=True)
        assert not runner.job("pull-request.yml", **gate), runner.log
        [comment] = server.comments
        assert "tokgate: FAILED" in comment["body"]
        assert "### New\n" in comment["body"]
        assert "`'e'`" in comment["body"]
        assert "in sentencepiece" in comment["body"]
        assert runner.summary in comment["body"]
        [places] = {
            (one["artifactLocation"]["uri"], one["region"]["startLine"])
            for result in json.loads(runner.sarif[-1])["runs"][0]["results"]
            for one in [result["locations"][0]["physicalLocation"]]
        }
        assert places == ("src/my_package/__init__.py", 8)
        commit(runner, wrong=False)
        assert runner.job("pull-request.yml", **gate), runner.log
        [comment] = server.comments
        assert "tokgate: PASSED" in comment["body"]
    assert "comment.md" in runner.artifacts[-1]
    assert len(list((runner.folder / "caches").iterdir())) == 1


@pytest.mark.thorough
@pytest.mark.first
def test_a_bug_that_was_fixed_is_green_in_the_next_night(runner):
    night = {"budget": "3s", "args": FAST + QUICK + "--database=.hypothesis/examples\n"
             "--restart-if-changed"}  # fmt: skip
    campaigns = []

    def passes():
        passed = runner.job("nightly.yml", **night)
        about = json.loads((runner.workspace / "tokgate-nightly" / "campaign.json").read_text())
        campaigns.append(about["campaign"].split()[1])
        return passed

    commit(runner, wrong=True)
    assert not passes()
    assert "'e'" in runner.summary
    commit(runner, wrong=False)  # fixed, and the campaign goes on
    assert passes(), runner.log
    commit(runner, wrong=True, version="1.1")  # another version: the campaign starts again
    assert not passes()
    commit(runner, wrong=False, version="1.1")
    assert passes(), runner.log
    assert campaigns == ["1", "1", "2", "2"]
