"""The import rule of ARCHITECTURE.md, the size of files, and what importing costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("corpora", "impls", "harness", "reports")
SOURCES = [path for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))]
ALLOWED = {
    "corpora": {"corpora"},
    "impls": {"impls", "corpora.vocabularies"},
    "harness": {"harness", "impls", "corpora"},
    "reports": {"reports", "harness.events", "impls", "corpora"},
}
LONGEST = 520
"""Lines: about 500, so that a file is read in one sitting."""


def imported(path: Path) -> Iterator[str]:
    """Full names of what a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def breaches(path: Path) -> list[str]:
    """Imports of our own packages that the rule forbids to this file."""
    name = path.relative_to(ROOT)
    allowed = set(ALLOWED[name.parts[0]])
    if name == Path("harness/cli.py") or name.parent == Path("harness/commands"):
        allowed.add("reports")
    found = []
    for module in imported(path):
        parts = module.split(".")
        prefixes = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
        # `from corpora import vocabularies` names the package on the way to what is allowed.
        on_the_way = any(rule.startswith(f"{module}.") for rule in allowed)
        if parts[0] in PACKAGES and not prefixes & allowed and not on_the_way:
            found.append(module)
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_one_way(path: Path) -> None:
    assert breaches(path) == []


def test_the_rule_can_be_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = tmp_path / "impls" / "wrong.py"
    wrong.parent.mkdir()
    wrong.write_text("import json\nfrom harness import cli\nimport corpora.generators.base\n")
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    assert breaches(wrong) == ["harness", "harness.cli", "corpora.generators.base"]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_is_read_in_one_sitting(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST


def test_importing_compiles_nothing() -> None:
    code = (
        "import sys, harness.cli, harness.campaign, impls.registry as r;"
        "[r.resolve(name).about for name in r.BUILT_IN];"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
