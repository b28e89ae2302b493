"""What the documents say can be done: links exist, commands are understood, snippets run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import typer.main

from harness.checks import CHECKS, MEASURES
from harness.cli.application import app

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)

GIVEN_ANYWHERE = {"--debug", "--no-confinement"}
"""Options that the entry point takes out of a command line before Typer sees it."""


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    return [code for found, code in BLOCK.findall(page.read_text()) if found == language]


def broken_links(page: Path) -> list[str]:
    """The links of a page to files that do not exist."""
    text = BLOCK.sub("", page.read_text())
    found = [target.replace("\\", "") for target in LINK.findall(text)]
    return [target for target in found if not (page.parent / target).exists()]


def test_links_lead_somewhere() -> None:
    assert {page.name: broken for page in PAGES if (broken := broken_links(page))} == {}


def test_a_broken_link_would_be_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[there](page.md#part), [gone](gone.md), [web](https://example.org/x)\n")
    assert broken_links(page) == ["gone.md"]


def commands() -> Iterator[tuple[str, str]]:
    """Each command line of ``tokgate`` in a shell block, with the name of its page."""
    for page in PAGES:
        for code in blocks(page, "sh"):
            for line in code.replace("\\\n", " ").splitlines():
                if line.strip().startswith("tokgate "):
                    yield page.name, line.strip()


def misunderstood(line: str) -> str | None:
    """Why the command line is refused before anything runs; None where it is understood."""
    words = [word for word in shlex.split(line, comments=True)[1:] if word not in GIVEN_ANYWHERE]
    group = typer.main.get_command(app)
    try:
        context = group.make_context("tokgate", words, resilient_parsing=False)
        with context:
            assert isinstance(group, click.Group) or hasattr(group, "resolve_command")
            _, command, rest = group.resolve_command(context, [*words])  # type: ignore[attr-defined]
            command.make_context(words[0], rest, parent=context)
    except SystemExit as ended:
        return None if ended.code in (0, None) else f"ends with {ended.code}"
    except Exception as error:
        return f"{type(error).__name__}: {getattr(error, 'message', error)}"
    return None


def test_commands_are_understood() -> None:
    found = list(commands())
    assert len(found) > 20
    assert {line: why for _, line in found if (why := misunderstood(line)) is not None} == {}


def test_a_wrong_command_would_be_seen() -> None:
    assert misunderstood("tokgate run --vocabulary x") is not None
    assert misunderstood("tokgate runs") is not None
    assert misunderstood("tokgate run --vocab toy_bytes  # a comment") is None


def test_every_check_is_on_its_page() -> None:
    page = (ROOT / "docs" / "checks.md").read_text()
    assert [name for name in [*CHECKS, *MEASURES] if f"`{name}`" not in page] == []


def python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a snippet in a process of its own, in ``folder``."""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )


def test_the_plug_in_of_the_readme_runs_as_it_stands(tmp_path: Path) -> None:
    plugin, test = blocks(ROOT / "README.md", "python")
    (tmp_path / "mine.py").write_text(plugin)
    (tmp_path / "test_mine.py").write_text(test)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_the_study_of_the_docs_runs_as_it_stands(tmp_path: Path) -> None:
    study, run = blocks(ROOT / "docs" / "contributing" / "study.md", "python")
    assert len(study.splitlines()) < 100
    (tmp_path / "letters.py").write_text(f"{study}\n{run}")
    done = python("import letters", tmp_path)
    assert done.returncode == 0, done.stderr
    counts = eval(done.stdout)  # a dictionary that our own snippet has printed
    assert {name for name, _ in counts} == {"bpe.naive", "tiktoken"}
    assert len(set(counts.values())) == 1


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=str)
def test_snippets_are_python(page: Path) -> None:
    for code in blocks(page, "python"):
        compile(code, str(page), "exec")
