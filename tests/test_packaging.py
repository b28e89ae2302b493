"""What is built has all files and runs alone; what is missing is named with the extra that has it;
changes are told as configured."""

import compileall
import importlib
import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from impls.adapters.common import Library
from impls.roster import ROWS

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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel that is made of the source distribution."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    # With neither --sdist nor --wheel, the wheel is built from the source distribution.
    line = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_a_wheel_of_the_source_distribution_has_every_file(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = shipped()
    assert {Path(name).suffix for name in expected} > {".py", ".toml", ".css", ".gz"}
    assert expected - names == set()
    # And nothing else: tests and documents stay out.
    beside = {name for name in names - expected if ".dist-info/" not in name}
    assert beside == set()


def required(requirements, extra=""):
    """The distributions that these requirements bring, each of a version that they take."""
    found = {}
    for one in map(Requirement, requirements):
        if one.marker is None or one.marker.evaluate({"extra": extra}):
            distribution = metadata.distribution(one.name)
            assert one.specifier.contains(distribution.version, prereleases=True), one
            found[one.name] = distribution
            for each in ("", *one.extras):
                found |= required(distribution.requires or (), each)
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The Python of an environment that has the wheel, what it requires, and no extra.

    What is required is linked from the environment of the tests: no network is needed.
    """
    folder = tmp_path_factory.mktemp("alone")
    venv.create(folder, with_pip=False)
    (packages,) = folder.glob("lib/python*/site-packages")
    zipfile.ZipFile(wheel).extractall(packages)
    compileall.compile_dir(packages, quiet=2)
    (info,) = packages.glob("tokgate-*.dist-info")
    for distribution in required(metadata.PathDistribution(info).requires).values():
        for name in {file.parts[0] for file in distribution.files} - {"..", "__pycache__"}:
            if not (packages / name).exists():
                (packages / name).symlink_to(distribution.locate_file(name))
    return folder / "bin" / "python"


ENTRY = """
from importlib.metadata import entry_points

(tokgate,) = entry_points(group="console_scripts", name="tokgate")
tokgate.load()()
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        # Packages of our names in the user's folder are not taken for ours.
        (
            "run --vocab toy_bytes --impl tiktoken --impl bpe.naive --budget 60cases "
            "--check equivalence --check canonicality",
            0,
            "PASSED",
        ),
        (
            "run --check survival --budget 9cases",
            0,
            "skipped: mistral-common, rs-bpe, llama.cpp, tekken_240718, tekken_240911, "
            "mistral_v1, mistral_v2, mistral_v3, mistral_v7, mistral_v7m1 "
            "(not installed; pip install 'tokgate[engines]')",
        ),
        ("run --vocab mistral_v1", 2, "'tokgate[engines]'"),
        ("run --impl llama.cpp", 3, "'tokgate[engines]'"),
        ("forced own --vocab toy_bytes --policy outlines-core", 2, "'tokgate[engines]'"),
        ("bench", 2, "'tokgate[engines]'"),
        ("bench --vocab toy_bytes --impl gigatoken", 3, "'tokgate[bench]'"),
        ("field --impl kitoken", 3, "'tokgate[field]'"),
        ("selftest --mutant merging.long-words", 2, "'tokgate[engines]'"),
        ("fuzz --vocab toy_bytes --budget 60cases", 0, "canary"),
        ("run --vocab toy_bytes --input hf:org/name", 2, "'tokgate[datasets]'"),
        ("run --vocab toy_bytes --input a.parquet", 2, "'tokgate[texts]'"),
        ("run --vocab toy_bytes --cluster auto", 2, "'tokgate[ray]'"),
        ("fuzz --vocab toy_bytes --ledger postgresql://a/b", 2, "'tokgate[postgres]'"),
    ],
)
def test_an_installed_wheel_runs_alone_and_names_what_is_missing(
    line, status, words, installed, tmp_path
):
    home = tmp_path / "home"
    for name in ("home", "harness", "impls", "corpora", "reports"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('not this one')")
    (tmp_path / "a.parquet").touch()
    # Without compiling: with a home of its own, it would take a minute.
    given = {"PATH": os.environ["PATH"], "HOME": str(home), "NUMBA_DISABLE_JIT": "1"}
    command = [installed, "-P", "-c", ENTRY, *line.split()]
    run = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=given, check=False
    )
    said = " ".join((run.stdout + run.stderr).split())
    assert run.returncode == status, said
    assert words in said
    assert "Traceback" not in said


def brought(extra):
    """The names of the distributions that an extra names, those of extras in it included."""
    named = list(map(Requirement, PROJECT["project"]["optional-dependencies"][extra]))
    inner = {one for each in named if each.name == "tokgate" for one in each.extras}
    return {one.name for one in named}.union(*map(brought, inner))


@pytest.mark.parametrize("module", sorted({row.module for row in ROWS.values()}))
def test_a_library_is_brought_by_the_extra_that_its_messages_name(module):
    library = getattr(importlib.import_module(module), "LIBRARY", None)
    if isinstance(library, Library):
        core = {Requirement(one).name for one in PROJECT["project"]["dependencies"]}
        assert library.distribution in (brought(library.extra) if library.extra else core)


def test_extras_that_are_named_exist_and_users_read_of_each():
    extras = set(PROJECT["project"]["optional-dependencies"])
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    named = set()
    for file in listed.stdout.split():
        if not file.startswith(("tests/", "changes/")) and (ROOT / file).is_file():
            text = (ROOT / file).read_bytes().decode("utf-8", "replace")
            for some in re.findall(r"tokgate\[([a-z,-]+)\]", text):
                named |= set(some.split(","))
    assert named <= extras
    page = (ROOT / "docs" / "install.md").read_text("utf-8")
    told = set(re.findall(r"^\| `([a-z-]+)` ", page, re.MULTILINE))
    assert told == extras - {"dev", "docs", "mutation"}


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
