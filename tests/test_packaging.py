"""What is built has all files that are needed, and changes are told as configured."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
MADE = {"__pycache__"}
"""Folders that running makes."""
COMPILED = {".nbi", ".nbc", ".pyc"}
"""Endings of what running makes."""


def shipped():
    """All files of the packages: sources, templates, vocabularies, schemas, tables."""
    return {
        str(path.relative_to(ROOT))
        for package in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
        for path in (ROOT / package).rglob("*")
        if path.is_file() and not MADE & set(path.parts) and path.suffix not in COMPILED
    }


def test_a_wheel_of_the_source_distribution_has_every_file(tmp_path):
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    # With neither --sdist nor --wheel, the wheel is built from the source distribution.
    line = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = shipped()
    assert {Path(name).suffix for name in expected} > {".py", ".toml", ".css", ".gz"}
    assert expected - names == set()
    # And nothing else: tests and documents stay out.
    beside = {name for name in names - expected if ".dist-info/" not in name}
    assert beside == set()


def kinds():
    """The kinds of changes."""
    return {kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"]}


def misnamed(folder):
    """Fragments that towncrier would pass over, because their names say no kind."""
    pattern = re.compile(rf"(\d+|\+[\w-]+)(\.({'|'.join(kinds())}))(\.\d+)?\.md")
    names = (path.name for path in folder.iterdir() if path.name != "README.md")
    return [name for name in names if not pattern.fullmatch(name)]


def test_fragments_are_named_as_towncrier_reads_them(tmp_path):
    assert misnamed(ROOT / PROJECT["tool"]["towncrier"]["directory"]) == []
    for name in ("12.added.md", "+word.fixed.md", "13.new.md", "notes.txt"):
        (tmp_path / name).write_text("x", "utf-8")
    assert sorted(misnamed(tmp_path)) == ["13.new.md", "notes.txt"]


def test_fragments_become_the_change_log(tmp_path):
    pytest.importorskip("towncrier")
    settings = PROJECT["tool"]["towncrier"]
    log = (ROOT / settings["filename"]).read_text("utf-8")
    assert log.count(settings["start_string"]) == 1
    (tmp_path / settings["filename"]).write_text(log, "utf-8")
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text("utf-8"), "utf-8")
    (tmp_path / settings["directory"]).mkdir()
    fragment = tmp_path / settings["directory"] / "+planted.fixed.md"
    fragment.write_text("A planted change.\n", "utf-8")
    line = [sys.executable, "-m", "towncrier", "build", "--version", "9.9.9", "--keep"]
    line += ["--date", "2030-01-01", "--dir", str(tmp_path)]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    written = (tmp_path / settings["filename"]).read_text("utf-8")
    assert "## 9.9.9 (2030-01-01)" in written
    assert written.index("A planted change.") < written.index("## 0.1.0")
