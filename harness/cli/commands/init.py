"""``tokgate init``: what a repository needs for the gate."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tomllib
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from corpora.errors import UserError
from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.reading import toml_document
from harness.cli import options, repository, settings
from harness.cli.commands import expect
from harness.cli.deferred import COMMANDS
from harness.cli.display import Display
from harness.core.exit_statuses import FAILS, HOLDS, NOT_EXAMINED
from harness.core.output import write_whole
from harness.engine import selection
from impls import registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.core.participants import Participant

EPILOG = """
Exit status: 0 if the files are written, also if the run found differences; otherwise that of
`tokgate run`, and nothing is written.
"""

WORKFLOWS = {"github": Path(".github/workflows/tokgate.yml"), "gitlab": Path(".gitlab-ci.yml")}
"""Where each CI system looks for its file."""

TEMPLATES = Path(__file__).parents[1] / "workflows"

EXPECTED = "expected.toml"

HEADER = """\
# Known differences: `tokgate run` does not fail for them. Each entry has a reason. After a run,
# `tokgate expect` adds an entry for each new finding.
"""

MOST = 8
"""Vocabularies that a first run takes of those that it finds: each takes some seconds at least."""

OWN_TABLE = re.compile(r"^\[tool\.tokgate\][^\n]*\n(?:(?!\[)[^\n]*(?:\n|\Z))*", re.MULTILINE)


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The repository; paths begin there.")
    ] = Path(),
    vocab: options.Vocabs = [],
    impl: options.Impls = [],
    ci: Annotated[
        Literal["github", "gitlab"], options.option("The CI system to write a workflow for.")
    ] = "github",
    budget: options.Amount = None,
    force: Annotated[
        bool,
        options.option("Replace the workflow and the options that are there.", None, "--force"),
    ] = False,
) -> int:
    """Set up a repository: a CI workflow, options, and known differences.

    The command finds vocabulary files and implementations in DIR, runs them once, and writes the
    CI workflow, the options of `tokgate run` (to pyproject.toml, or tokgate.toml where there is
    none) and an expectations file with the findings of the run. Files that are there are kept. A
    repository without vocabulary files is tested on built-in ones.
    """

    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; name the folder of a repository")
    os.chdir(folder)
    console = Display(stderr=True)
    shared = Path(settings.SHARED)
    own = Path(settings.OWN)
    file = own if own.exists() or not shared.exists() else shared
    table = settings.table_of(file) if file.exists() else None
    kept = table is not None and not force
    if table is None or force:
        table = {**found(console, vocab, impl), "expect": EXPECTED}
    elif vocab or impl:
        raise UserError(f"{file}: has options of tokgate already; --force replaces them")
    options_text = "" if kept else with_table(file, table)
    expected = Path(table.get("expect", EXPECTED))

    words = [] if kept else [f"--{k}={one}" for k in ("vocab", "impl") for one in table[k]]
    words += [f"--expect={expected}"] * (expected.exists() and not kept)
    words += [f"--budget={budget}"] * (budget is not None)
    os.environ[settings.VARIABLE] = str(file) * kept
    status = first_run(words)
    if status not in (HOLDS, FAILS, NOT_EXAMINED):
        return status

    written = []
    if not expected.exists():
        write_whole(expected, HEADER)
        written.append(expected)
    out = Path(table.get("out", "tokgate-out"))
    expect.command(out, expected)
    if not kept:
        write_whole(file, options_text)
        written.append(file)
    workflow = WORKFLOWS[ci]
    if force or not workflow.exists():
        text = (TEMPLATES / f"{ci}.yml").read_text("utf-8").replace("SETTINGS", str(file))
        package = ". " * any(Path(name).exists() for name in ("pyproject.toml", "setup.py"))
        workflow.parent.mkdir(parents=True, exist_ok=True)
        write_whole(workflow, text.replace("PACKAGES", f"{package}'tokgate[engines]'"))
        written.append(workflow)
    for one in {expected, file, workflow} - {*written}:
        console.print(f"kept {one}, which was there")
    console.print(f"wrote {', '.join(map(str, written)) or 'nothing'}")
    if "expect" not in table:
        console.print(f'next: add expect = "{expected}" to {file}')
    if re.search(r'^reason = "TODO', expected.read_text("utf-8"), re.MULTILINE):
        console.print(f"next: write in {expected} why each difference is known, in place of TODO")
    console.print(f"next: commit these files (not {out}); `tokgate run` here does what CI will do")
    return HOLDS


def found(console: Display, vocab: list[str], impl: list[str]) -> dict[str, list[str]]:
    """The vocabularies and implementations to run: those given, or those of the repository.

    Raises UserError where there are none.
    """
    paths = repository.files()
    shared = Path(settings.SHARED)
    project: Any = toml_document(shared, UserError) if shared.exists() else {}
    for key in ("project", "entry-points", registry.GROUP):
        project = project.get(key, {})
    present = (
        options.participants(impl, vocab) if impl else repository.implementations(paths, [*project])
    )
    if not present:
        raise UserError("no implementation is found here; name one with --impl (docs/plugins.md)")
    names = [one.spec for one in present]
    console.print(f"implementations: {', '.join(names)}")
    if not vocab:
        for name, why in judged(repository.vocabularies(paths), present):
            if len(vocab) == MOST:
                why = why or f"{MOST} are enough to begin with"
            if why is None:
                vocab = [*vocab, name]
            else:
                console.print(f"{name} is left out: {why}", style="dim")
    if not vocab:
        loaded = ((name, load()) for name, load in selection.vocabularies(()).items())
        # Nobody expects bytes without a token, which some of the toys have.
        built_in = ((name, one) for name, one in loaded if one.byte_alphabet is None)
        vocab = [*islice((name for name, why in judged(built_in, present) if why is None), MOST)]
        if not vocab:
            raise UserError(f"no vocabulary is found that {names[0]} runs; name one with --vocab")
        console.print("no vocabulary file is found here, so that built-in vocabularies are taken")
    console.print(f"vocabularies: {', '.join(vocab)}")
    return {"vocab": vocab, "impl": names}


def judged(
    read: Iterable[tuple[str, Vocabulary | VocabularyError]], present: Sequence[Participant]
) -> Iterator[tuple[str, str | None]]:
    """Each vocabulary with why no implementation runs it; None where one does."""
    for name, one in read:
        if isinstance(one, VocabularyError):
            yield name, str(one)
            continue
        refusals = [repository.refusal(each, one) for each in present]
        said = f"{present[0].spec} does not run it: {refusals[0]}"
        yield name, None if None in refusals else said


def first_run(words: list[str]) -> int:
    """The exit status of ``tokgate run`` with these options."""
    sys.argv = ["tokgate", "run", *words]  # the record has the command that repeats it
    program = COMMANDS["run"].loaded()
    try:
        with program.make_context("tokgate run", words) as context:
            program.invoke(context)
    except typer.Exit as ended:
        return ended.exit_code
    return HOLDS


def with_table(file: Path, table: dict[str, Any]) -> str:
    """The text of a file with options in place of those that it has. Raises UserError."""
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in table.items()]
    if file.name == settings.OWN:
        return "".join(lines)
    before = file.read_text("utf-8")
    own = "".join(["[tool.tokgate]\n", *lines])
    rest = OWN_TABLE.sub("", before).rstrip("\n")
    text = f"{rest}\n\n{own}"
    wanted = tomllib.loads(before)
    wanted.setdefault("tool", {})["tokgate"] = table
    with contextlib.suppress(tomllib.TOMLDecodeError):
        if tomllib.loads(text) == wanted:
            return text
    raise UserError(f"{file}: cannot replace [tool.tokgate] there; remove it yourself")
