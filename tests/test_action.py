"""The GitHub Action and the workflows to copy: they parse, and each script does what it says.

What GitHub does with a step (expressions, outputs, conditions) is stood in for by a few lines;
the scripts themselves run in bash, with a stand-in for ``tokgate`` where a run would take minutes.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

from tests.doubles.workflow import ACTION, EXPRESSION, ROOT, bash  # noqa: E402

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on PATH")

WORKFLOWS = [*(ROOT / ".github" / "workflows").glob("*.yml"),
             *(ROOT / ".github" / "examples").glob("*.yml")]  # fmt: skip
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}

FAKE = """#!{python}
import json, os, pathlib, sys
args = sys.argv[1:]
if args == ["--help"]:
    sys.exit(0)
with open(os.environ["FAKE_LOG"], "a") as log:
    print(json.dumps(args), file=log)
if args[0] == "report":
    print("## report", *args[4:])
    sys.exit(0)
if args[0] == "diff":
    print("## diff of", args[1])
    sys.exit(int(os.environ.get("FAKE_DIFF", "0")))
given = dict(word.split("=", 1) for word in args if "=" in word)
out = pathlib.Path(given.get("--out", os.environ.get("FAKE_OUT", "tokgate-out")))
status = int(os.environ.get("FAKE_STATUS", "0"))
if status < 2:
    out.mkdir(exist_ok=True)
    (out / "run.jsonl").write_text("")
    (out / "summary.md").write_text("## summary\\n")
    buckets = [{{"expected": True}}, {{"expected": False}}]
    verdict = "fail" if status else "pass"
    (out / "summary.json").write_text(json.dumps({{"verdict": verdict, "buckets": buckets}}))
sys.exit(status)
"""


def run(script, folder, **environment):
    """Run a script in a folder whose ``bin`` has programs for it."""
    given = {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "FAKE_LOG": str(folder / "log"),
        **environment,
    }
    return bash(script, folder, **given)


@dataclass
class Runner:
    """A runner of the action's scripts in a folder of its own."""

    folder: Path
    inputs: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self):
        defaults = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
        unknown = self.inputs.keys() - defaults.keys()
        assert not unknown
        self.inputs = {**defaults, "package": "none", **self.inputs}
        tools = self.folder / "bin"
        tools.mkdir()
        python = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n'
        for name, text in (("tokgate", FAKE.format(python=sys.executable)), ("python", python)):
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
        for name in ("summary", "output", "log"):
            (self.folder / name).touch()

    def value(self, match):
        """What GitHub puts for an expression: only those that the action's scripts use."""
        parts = match[1].split(".")
        if parts[0] == "inputs":
            return self.inputs[parts[1]]
        if parts[0] == "steps":
            return self.outputs.get(parts[1], {}).get(parts[3], "")
        assert match[1] == "github.action_path"
        return str(ROOT)

    def step(self, name):
        """Run a step as the runner does."""
        step = STEPS[name]
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "an input inside a script can become a command"
        given = {key: EXPRESSION.sub(self.value, text) for key, text in step["env"].items()}
        (self.folder / "output").write_text("")
        done = run(step["run"], self.folder, **self.environment, **given)
        lines = filter(None, (self.folder / "output").read_text().splitlines())
        self.outputs[step.get("id", name)] = dict(line.split("=", 1) for line in lines)
        return done

    def whole(self):
        """All scripts in their order; the exit status of the verdict, or of what broke before."""
        for name in ("Install tokgate", "Run tokgate"):
            done = self.step(name)
            if done.returncode:
                return done.returncode
        assert self.step("Summarise").returncode == 0
        return self.step("Verdict").returncode

    @property
    def called(self):
        every = map(json.loads, (self.folder / "log").read_text().splitlines())
        return [one for one in every if one[0] != "report"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_parse_and_run_with_little_permission(path):
    flow = yaml.safe_load(path.read_text(encoding="utf-8"))
    # YAML 1.1 reads the key `on` as true.
    assert set(flow) >= {"name", True, "permissions", "jobs"}
    assert flow["permissions"]["contents"] == "read"
    for job in flow["jobs"].values():
        assert job["timeout-minutes"] <= 360
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert "${{ github.event." not in step.get("run", "")
            subprocess.run(["bash", "-n", "-c", step.get("run", "")], check=True)
            if "uses" in step:
                assert "@" in step["uses"] or step["uses"] == "./"
            if step.get("uses", "").startswith(("OWNER/tokgate@", "./")):
                assert step["with"].keys() <= ACTION["inputs"].keys()


def test_the_action_says_all_that_it_uses():
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    used = set(re.findall(r"inputs\.([\w-]+)", text))
    assert used == ACTION["inputs"].keys()
    assert all(one["description"] for one in [*ACTION["inputs"].values(),
                                              *ACTION["outputs"].values()])  # fmt: skip
    ids = {step.get("id") for step in ACTION["runs"]["steps"]}
    assert set(re.findall(r"steps\.([\w-]+)\.outputs", text)) <= ids


def test_options_reach_tokgate_as_they_were_written(tmp_path):
    runner = Runner(
        tmp_path,
        {
            "vocab": "my model.model\n  t.json#pattern=x  \n\n",
            "impl": "cmd:./serve --fast \"a b\"\n$(touch hacked); `touch hacked`",
            "reference": "sentencepiece", "expect": "expected.toml", "budget": "2m", "seed": "7",
            "args": "--timeout=20\n", "input": "a b.jsonl#field=text\nc/**/*.txt",
            "only-input": "true",
        },
    )  # fmt: skip
    assert runner.whole() == 0
    assert runner.called == [
        ["run", "--vocab=my model.model",
         "--vocab=t.json#pattern=x", '--impl=cmd:./serve --fast "a b"',
         "--impl=$(touch hacked); `touch hacked`", "--reference=sentencepiece",
         "--input=a b.jsonl#field=text", "--input=c/**/*.txt", "--budget=2m",
         "--expect=expected.toml", "--seed=7", "--suite=ci", "--only-input", "--timeout=20"],
    ]  # fmt: skip
    assert not (tmp_path / "hacked").exists()
    assert (tmp_path / "summary").read_text() == "## report\n"
    assert runner.outputs["summary"] == {"verdict": "pass", "findings": "1"}
    assert runner.outputs["run"] == {"exit-status": "0", "out": "tokgate-out"}


@pytest.mark.parametrize(
    ("file", "inputs", "options", "out"),
    [
        ("", {}, ["--suite=ci"], "tokgate-out"),
        ('suite = "smoke"\nseed = 3\nout = "my reports"\n', {}, [], "my reports"),
        ('suite = "smoke"\n', {"suite": "nightly", "out": "here"},
         ["--suite=nightly", "--out=here"], "here"),
        ("no toml", {}, ["--suite=ci"], "tokgate-out"),
    ],
)  # fmt: skip
def test_what_is_not_given_is_left_to_the_file_of_options(tmp_path, file, inputs, options, out):
    (tmp_path / "tokgate.toml").write_text(file)
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "__init__.py").write_text("raise SystemExit('not this one')")
    runner = Runner(tmp_path, inputs, {"FAKE_OUT": out})
    assert runner.whole() == 0
    assert runner.called == [["run", *options]]
    assert runner.outputs["run"]["out"] == out
    assert runner.outputs["summary"]["verdict"] == "pass"


def test_a_campaign_needs_a_budget_and_has_no_suite(tmp_path):
    inputs = {"command": "fuzz", "budget": "5h", "out": "night", "only-input": "true"}
    runner = Runner(tmp_path, inputs)
    assert runner.whole() == 0
    assert runner.called == [["fuzz", "--budget=5h", "--out=night"]]
    runner.inputs["budget"] = ""
    endless = runner.step("Run tokgate")
    assert (endless.returncode, "::error::" in endless.stdout) == (2, True)
    runner.inputs["command"] = "rm"
    assert runner.step("Run tokgate").returncode == 2


@pytest.mark.parametrize(
    ("fail_on", "status", "new", "expected"),
    [
        ("gate", 0, None, 0), ("gate", 1, 0, 1), ("gate", 3, None, 3),
        ("new", 1, 0, 0), ("new", 1, 1, 1), ("new", 1, None, 1), ("new", 0, 1, 1), ("new", 0, 0, 0),
        ("new", 2, 0, 2), ("never", 1, 1, 0), ("never", 3, None, 0), ("sometimes", 0, None, 2),
    ],
)  # fmt: skip
def test_what_fails_the_job(tmp_path, fail_on, status, new, expected):
    inputs = {"fail-on": fail_on}
    environment = {"FAKE_STATUS": str(status)}
    if new is not None:
        (tmp_path / "base").mkdir()
        (tmp_path / "base" / "run.jsonl").touch()
        inputs["baseline"], environment["FAKE_DIFF"] = "base", str(new)
    runner = Runner(tmp_path, inputs, environment)
    assert runner.whole() == expected
    told = "## report --baseline base" in (tmp_path / "summary").read_text()
    assert told is (new is not None and status < 2)


def test_a_missing_baseline_is_no_fault_and_a_broken_diff_says_nothing(tmp_path):
    runner = Runner(tmp_path, {"baseline": "none", "fail-on": "new"})
    assert runner.whole() == 0
    assert "new" not in runner.outputs["summary"]
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "run.jsonl").touch()
    runner.environment["FAKE_DIFF"] = "2"
    assert runner.whole() == 0
    assert "new" not in runner.outputs["summary"]
    assert "--baseline" not in (tmp_path / "summary").read_text()


def scripts(name):
    flow = yaml.safe_load((ROOT / ".github" / "examples" / name).read_text(encoding="utf-8"))
    [job] = flow["jobs"].values()
    return {step["name"]: step for step in job["steps"] if "run" in step and "name" in step}


def test_the_scripts_of_the_examples(tmp_path):
    keep = scripts("pull-request.yml")["The next baseline"]["run"]
    assert run(keep, tmp_path).returncode == 0
    assert not list((tmp_path / "tokgate-baseline").iterdir())
    (tmp_path / "tokgate-out").mkdir()
    (tmp_path / "tokgate-out" / "run.jsonl").write_text("x")
    assert run(keep, tmp_path).returncode == 0
    assert (tmp_path / "tokgate-baseline" / "run.jsonl").read_text() == "x"
