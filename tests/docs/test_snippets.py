"""Snippets of README and docs run as they stand: Python, expectations, and steps of workflows."""

import ast
import os
import re
import subprocess
import sys

import pytest

from harness.cli import settings
from harness.cli.deferred import COMMANDS
from harness.verdict.expectations import ExpectationsError, load
from tests.breadth import thorough_from
from tests.docs.pages import ROOT, blocks, pages

BLOCKS = [block for page, text in pages().items() for block in blocks(page, text)]
"""All fenced blocks of all pages."""

STUDIES = ROOT / "docs" / "examples"
"""The whole programs to which the page about studies leads."""

WITH_PYTHON = sorted({one.page for one in BLOCKS if one.language == "python"})
"""The pages that have Python, each snippet a file."""


def written(found, folder):
    """Blocks as files: by the last name in the paragraph before, or by the line they stand on."""
    paths = []
    for block in found:
        named = re.findall(r"`(\w+\.py)`", block.before)
        is_test = re.search(r"^def test_", block.text, re.MULTILINE)
        name = named[-1] if named else f"{'test_' if is_test else ''}line_{block.line}.py"
        paths.append(folder / name)
        paths[-1].write_text(block.text, "utf-8")
    return paths


def run_all(paths):
    """Run these in order: files with tests by pytest, others by themselves. What went wrong."""
    environment = {**os.environ, "PYTHONPATH": f"{paths[0].parent}{os.pathsep}{ROOT}"}
    environment.pop("PYTEST_ADDOPTS", None)
    for path in paths:
        line = [sys.executable, str(path)]
        if re.search(r"^def test_", path.read_text("utf-8"), re.MULTILINE):
            line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)]
        done = subprocess.run(
            line, cwd=path.parent, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            return f"{path.name}: {done.stdout}{done.stderr}"
    return None


def last_line(program, folder):
    """The last line that a program prints which is run in a folder."""
    done = subprocess.run(
        [sys.executable, str(STUDIES / program)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_the_study_of_steps_of_the_docs_goes_on(tmp_path):
    said = "2 ['bpe.naive: 4 tokens', 'bpe.heap: 4 tokens']"
    assert last_line("word_study.py", tmp_path) == said
    record = tmp_path / "word-study" / "run.jsonl"
    whole = record.read_text("utf-8").splitlines(keepends=True)
    record.write_text("".join(whole[:3]), "utf-8")  # as if killed after the first step
    assert last_line("word_study.py", tmp_path).startswith(
        "3 ['bpe.naive: 4 tokens', '1 of 2 steps"
    )


def test_the_study_of_the_docs_counts_alike_for_all(tmp_path):
    counts = ast.literal_eval(last_line("letters_study.py", tmp_path))
    assert {name for name, _ in counts} == {"bpe.naive", "tiktoken"}
    assert len(set(counts.values())) == 1


@pytest.mark.parametrize("page", thorough_from(1, WITH_PYTHON))
def test_python_runs_as_it_stands(page, tmp_path):
    found = [block for block in BLOCKS if block.page == page and block.language == "python"]
    assert run_all(written(found, tmp_path)) is None


@pytest.mark.parametrize(
    "block", [one for one in BLOCKS if one.language == "toml"], ids=lambda one: one.place
)
def test_expectations_are_read(block, tmp_path):
    path = tmp_path / "expected.toml"
    path.write_text(block.text, "utf-8")
    if "[[expected]]" in block.text:
        assert load(path)
        path.write_text(block.text.replace("bucket", "buckets", 1), "utf-8")
        with pytest.raises(ExpectationsError):
            load(path)
    elif "[tool.tokgate]" in block.text:
        project = path.rename(tmp_path / settings.SHARED)
        table = settings.table_of(project)
        assert settings.values_of(project, table, COMMANDS["run"].loaded().params)
    else:
        from harness.verdict.bounds import load as load_bounds

        assert load_bounds(path)


def test_steps_of_workflows_give_what_the_action_takes():
    yaml = pytest.importorskip("yaml")
    inputs = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["inputs"]
    steps = [
        step
        for block in BLOCKS
        if block.language == "yaml"
        for step in yaml.safe_load(block.text)
        if "tokgate@" in step.get("uses", "")
    ]
    assert steps
    assert [name for step in steps for name in step["with"] if name not in inputs] == []
